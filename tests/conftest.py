"""Lets tests import each other's helpers (``tests.data``) however pytest is started; says how properties are tried.

Two profiles of Hypothesis: ``same`` (used unless another is asked for) tries the same examples every time, so that two
runs say the same; ``random`` tries others each time. No example has a deadline: a busy machine is no failure.

Tests send signals to processes that they start. In the background of a script, or under ``nohup``, signals are ignored,
and processes inherit that; a handler that does nothing is not inherited.
"""

import signal
import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.postgres_server import mortal_server, postgres_server  # noqa: F401 - fixtures

settings.register_profile("same", derandomize=True, deadline=None, database=None)
settings.register_profile("random", derandomize=False, deadline=None, database=None, print_blob=True)
settings.load_profile("same")

for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, lambda *_: None)
