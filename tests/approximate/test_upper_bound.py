"""Upper bounds: proved where they say so, in exact arithmetic; never finite for a point that breaks a row for good."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from relift.approximate.upper_bound import (
    FEASIBLE,
    PRICE_FACTOR,
    objective_above,
    possible_violations,
    prices,
    relative_violation,
    upper_bound,
)
from relift.arrays import Vector
from relift.program.program import Program
from relift.testing.exact_optimum import exact_optimum
from relift.testing.fuzz_bounds import fuzzed_program


def exact_value(program: Program, x: np.ndarray) -> Fraction:
    point = [Fraction(float(v)) for v in x]
    value = Fraction(float(program.r)) + sum(Fraction(float(q)) * v for q, v in zip(program.q, point, strict=True))
    if program.P is not None:
        P = program.P.toarray()
        size = range(len(point))
        value += sum((Fraction(float(P[i, j])) * point[i] * point[j] for i in size for j in size), Fraction(0)) / 2
    return value


def exact_violations(program: Program, x: np.ndarray) -> list[Fraction]:
    result = []
    for row, lower, upper in zip(program.A.toarray(), program.l, program.u, strict=True):
        value = sum((Fraction(float(a)) * Fraction(float(v)) for a, v in zip(row, x, strict=True)), Fraction(0))
        below = Fraction(float(lower)) - value if math.isfinite(lower) else Fraction(-1)
        above = value - Fraction(float(upper)) if math.isfinite(upper) else Fraction(-1)
        result.append(max(below, above, Fraction(0)))
    return result


@pytest.mark.parametrize("part", range(4))
def test_violations_and_objectives_are_rounded_away_from_the_truth(part: int) -> None:
    for seed in range(part * 100, (part + 1) * 100):
        program = fuzzed_program(seed)[0].minimisation()
        random = np.random.default_rng(seed)
        x = np.clip(random.standard_normal(program.n_variables), program.lb, program.ub)
        broken, sizes = possible_violations(program, x)
        assert np.all(sizes > 0)
        for mine, truth in zip(broken, exact_violations(program, x), strict=True):
            assert Fraction(float(mine)) >= truth
        assert Fraction(objective_above(program, x)) >= exact_value(program, x)


@pytest.mark.parametrize("part", range(4))
def test_a_proved_bound_is_above_the_exact_optimum(part: int) -> None:
    n_proved = n_nearby = 0
    for seed in range(part * 80, (part + 1) * 80):
        program = fuzzed_program(seed)[0].minimisation()
        optimum = exact_optimum(program)
        if optimum.exact is None:
            continue
        random = np.random.default_rng(seed)
        middle = np.clip(random.uniform(-1, 1, program.n_variables), program.lb, program.ub)
        # A point of the affine set of the equalities, as near as floats get.
        same = program.l == program.u
        A = program.A.toarray()[same]
        step = np.linalg.lstsq(A, program.l[same] - A @ middle, rcond=None)[0] if same.any() else 0.0
        bound = upper_bound(program, middle + step, search=True)
        if bound.is_proved:
            n_proved += 1
            n_nearby += bound.violation > 0
            assert Fraction(bound.value) >= optimum.exact
        else:
            assert bound.value == math.inf  # nothing is known of prices
    assert n_proved > 5


def test_a_feasible_point_is_proved_near_one_that_floats_cannot_make_feasible() -> None:
    program = Program(q=[1.0, 1.0, 0.0], A=[[0.1, 0.2, 0.3], [0.7, -0.1, 0.3]], l=[0.1, 0.1], u=[0.1, 0.1], lb=0, ub=1)
    x: Vector = np.linalg.lstsq(program.A.toarray(), program.l, rcond=None)[0].astype(np.float64)
    assert np.all((x > 0) & (x < 1))
    plain = upper_bound(program, x)
    assert not plain.is_proved
    assert plain.value == math.inf
    found = upper_bound(program, x, search=True)
    assert found.is_proved
    assert found.value == pytest.approx(program.objective(x), abs=1e-12)
    assert found.value > program.objective(x)


def test_rows_that_contradict_each_other_prove_nothing() -> None:
    # x + y = 1 and x + y = 1 + 1e-9: no point is feasible, though one is within every usual tolerance.
    program = Program(q=[1.0, 1.0], A=[[1.0, 1.0], [1.0, 1.0]], l=[1.0, 1 + 1e-9], u=[1.0, 1 + 1e-9], lb=0, ub=1)
    bound = upper_bound(program, np.array([0.5, 0.5]), np.array([1.0, 1.0]), search=True)
    assert not bound.is_proved
    assert bound.value == math.inf


def test_a_point_at_its_bounds_has_no_room_to_move_to() -> None:
    program = Program(q=[1.0, 1.0], A=[[0.1, 0.1]], l=[0.2], u=[0.2], lb=0, ub=1)
    x = np.ones(2)
    bound = upper_bound(program, x, np.array([-10.0]), search=True)
    exact = sum((Fraction(0.1) for _ in range(2)), Fraction(0))
    assert bound.is_proved == (exact == Fraction(0.2))


def test_a_small_row_must_hold_like_any_other() -> None:
    program = Program(q=[1.0, 1.5], A=[[1e-8, 2e-8], [2e-8, 1e-8]], l=[1e-8, 1e-8], lb=0)
    bound = upper_bound(program, np.zeros(2), np.zeros(2), search=True)
    assert bound.value == math.inf
    assert bound.violation == pytest.approx(1.0)


def test_what_is_left_of_a_violation_is_paid_for() -> None:
    program = Program(q=[3.0], A=[[0.3]], l=[0.1], u=[0.1])
    x = np.array([0.1 / 0.3 * (1 - 4e-16)])
    y = np.array([-10.0])
    bound = upper_bound(program, x, y)
    assert not bound.is_proved
    broken = 0.1 - 0.3 * x[0]
    assert bound.value >= 3.0 * x[0] + PRICE_FACTOR * 10.0 * abs(broken)
    assert bound.value <= 1.0 + 1e-12
    assert relative_violation(program, x) <= FEASIBLE


def test_prices_are_levelled_up_to_the_largest_relative_to_the_row() -> None:
    assert prices(np.array([0.0, -3.0]), np.array([1e-6, 2.0])).tolist() == [6e7, 30.0]
    assert prices(np.zeros(2), np.ones(2)).tolist() == [0.0, 0.0]


def test_a_point_that_is_not_finite_bounds_nothing() -> None:
    program = Program(q=[1.0], lb=0)
    assert upper_bound(program, np.array([math.nan])).value == math.inf
    assert upper_bound(program, np.array([math.inf])).value == math.inf
