"""CVXPY's tests of its QP and conic solvers have the same outcomes when every solve goes through relift.

``python -m tests.cvxpy_suite`` does the same with all tests of CVXPY, in some minutes.
"""

from __future__ import annotations

import importlib.util

import pytest
from tests.cvxpy_suite.compare import Comparison, Run, compare
from tests.cvxpy_suite.known import KNOWN

MODULES = ("test_qp_solvers", "test_conic_solvers")

needs_cvxpy_tests = pytest.mark.skipif(
    importlib.util.find_spec("cvxpy") is None or importlib.util.find_spec("cvxpy.tests.test_qp_solvers") is None,
    reason="CVXPY, or its tests, are not installed",
)


@needs_cvxpy_tests
def test_solver_modules_of_cvxpy_have_the_same_outcomes_behind_relift() -> None:
    found = compare([f"cvxpy.tests.{name}" for name in MODULES])
    here = {name: reason for name, reason in KNOWN.items() if any(module in name for module in MODULES)}
    assert found.unexpected == {}, found.text()
    assert {name for name in here if name in found.plain.outcomes} == found.differences.keys(), found.text()
    assert found.routed.counts["routed"] > 100
    assert found.routed.counts["smaller"] > 50
    assert sum(outcome == "passed" for outcome in found.plain.outcomes.values()) > 100


def test_differences_are_noticed() -> None:
    plain = Run({"a": "passed", "b": "passed", "c": "skipped"}, {})
    routed = Run({"a": "passed", "b": "failed", "d": "passed"}, {"b": "E  no"}, {"routed": 3, "smaller": 2})
    found = Comparison(plain, routed)
    assert found.differences == {"b": ("passed", "failed"), "c": ("skipped", "missing"), "d": ("missing", "passed")}
    assert found.unexpected == found.differences
    assert "3 solves routed" in found.text()
    assert "b: passed -> failed  E  no" in found.text()
