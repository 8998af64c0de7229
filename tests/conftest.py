"""Lets tests import each other's helpers (``tests.data``) however pytest is started."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.postgres_server import mortal_server, postgres_server  # noqa: F401 - fixtures
