"""A pytest plugin that writes down the outcome of every test and, if asked to, routes solves through relift.

``RELIFT_SUITE_OUTCOMES`` names the file to write; ``RELIFT_SUITE_ROUTE=1`` routes.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

ROUTE = os.environ.get("RELIFT_SUITE_ROUTE") == "1"

_outcomes: dict[str, str] = {}
_reasons: dict[str, str] = {}


def pytest_configure(config: pytest.Config) -> None:
    # The same examples in both runs, and no outcome that depends on how busy the machine is.
    settings.register_profile("suite", deadline=None, derandomize=True)
    settings.load_profile("suite")
    if ROUTE:
        from tests.cvxpy_suite import routing

        routing.install()


def pytest_runtest_setup(item: pytest.Item) -> None:
    # Many of CVXPY's tests draw random data without a seed: both runs must see the same.
    np.random.seed(0)
    random.seed(0)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or report.outcome != "passed":
        before = _outcomes.get(report.nodeid)
        if before != "failed":  # subtests report under the name of their test
            _outcomes[report.nodeid] = report.outcome
        if report.failed:
            text = str(report.longreprtext).strip().splitlines()
            _reasons[report.nodeid] = next((line for line in reversed(text) if line.startswith("E ")), text[-1])[:300]


def pytest_sessionfinish(session: pytest.Session) -> None:
    counts: dict[str, int] = {}
    if ROUTE:
        from tests.cvxpy_suite import routing

        counts = dict(routing.COUNTS)
    found = {"outcomes": _outcomes, "reasons": _reasons, "counts": counts}
    Path(os.environ["RELIFT_SUITE_OUTCOMES"]).write_text(json.dumps(found))
