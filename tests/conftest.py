"""Lets tests import each other's helpers (``tests.data``) however pytest is started; says how properties are tried.

Two profiles of Hypothesis: ``same`` (used unless another is asked for) tries the same examples every time, so that two
runs say the same; ``random`` tries others each time. No example has a deadline: a busy machine is no failure.
Hypothesis also draws numbers and words from modules of ours that happen to be imported, which depends on the tests that
a worker had before: with ``same`` it does not.

Tests send signals to processes that they start. In the background of a script, or under ``nohup``, signals are ignored,
and processes inherit that; a handler that does nothing is not inherited.

Spark keeps one Java machine per worker, whichever test comes first: what it is told is told here. Its tests are short,
and the second compiler of Java would take longer than it saves.
"""

import os
import signal
import sys
from pathlib import Path

from hypothesis import settings
from hypothesis.internal.conjecture import providers

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.postgres_server import mortal_server, postgres_server  # noqa: F401 - fixtures

settings.register_profile("same", derandomize=True, deadline=None, database=None)
settings.register_profile("random", derandomize=False, deadline=None, database=None, print_blob=True)
settings.load_profile("same")

if hasattr(providers, "_get_local_constants"):  # in versions that draw them
    _none, _those_of_modules = providers._local_constants, providers._get_local_constants
    providers._get_local_constants = lambda: _none if settings.default.derandomize else _those_of_modules()

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, lambda *_: None)
