"""Intervals enclose exact optima: a fixed part of the fuzzed programs, and those that once were missed."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import relift
from relift.program.program import Program
from relift.testing.exact_optimum import Optimum, exact_optimum
from relift.testing.fuzz_bounds import fuzz, fuzz_case


@pytest.mark.parametrize("part", range(5))
def test_no_interval_misses_the_exact_optimum(part: int) -> None:
    counts, faults = fuzz(80, seed=1_000_000 + 80 * part)
    assert [(case.seed, case.fault) for case in faults] == []
    assert counts["exact optimum"] > 40
    assert counts["finite interval"] > 40
    assert counts["finite interval, both ends proved"] > 20


# Objectives without a price for the violation, a feasibility tolerance of 1e-6 and bounds that were not rounded missed
# the optimum here: by 1e-16 to 1e-4 relative, or because there is none.
@pytest.mark.parametrize("seed", [55, 184, 227, 233, 290, 392, 406, 410, 457, 491, 501, 513, 586])
def test_programs_that_were_missed_are_enclosed(seed: int) -> None:
    assert fuzz_case(seed).fault == ""


def test_a_row_of_small_numbers_is_kept() -> None:
    random = np.random.default_rng(0)
    for scale in (1e-4, 1e-6, 1e-8):
        A = scale * (1 + 1e-3 * random.uniform(-1, 1, (2, 8)))
        program = Program(q=1 + 1e-3 * random.uniform(-1, 1, 8), A=A, l=4 * scale * np.ones(2), lb=0, ub=1)
        result = relift.solve(program, approximate=relift.Approximation(gap=1e-2, budget=math.inf))
        optimum = exact_optimum(program).exact
        assert optimum is not None
        assert Fraction(result.lower_bound) <= optimum <= Fraction(result.upper_bound)
        assert result.gap <= 1e-2


def test_the_check_can_fail() -> None:
    from relift.testing.fuzz_bounds import _fault

    case = fuzz_case(1)
    report = case.result.approximation
    assert report is not None
    assert case.optimum.exact is not None
    assert _fault(case.result, case.optimum, case.options) == ""
    below = Optimum(report.lower_bound - 1e-9, Fraction(report.lower_bound) - Fraction(1, 10**9))
    assert "misses" in _fault(case.result, below, case.options)
    assert "misses" in _fault(case.result, Optimum(math.inf), case.options)


def test_exact_optima_are_rational_numbers() -> None:
    assert exact_optimum(Program(q=[1.0, 2.0], A=[[3.0, 1.0]], l=[1.0], lb=0)).exact == Fraction(1, 3)
    quadratic = Program(P=[[2.0, 0.0], [0.0, 2.0]], q=[-2.0, -4.0], A=[[1.0, 1.0]], u=[1.0], lb=0)
    assert exact_optimum(quadratic).exact == Fraction(-3)
    most = Program(q=[1.0], A=[[3.0]], u=[1.0], sense="max")
    assert exact_optimum(most).exact == Fraction(1, 3)
    assert exact_optimum(Program(q=[1.0])).value == -math.inf
    assert exact_optimum(Program(q=[1.0], A=[[1.0], [1.0]], l=[1.0, 3.0], u=[2.0, 4.0])).value == math.inf
