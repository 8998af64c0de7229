"""Different numbers that are one element of the field of 2^61 - 1."""

from __future__ import annotations

import numpy as np
import pytest

from relift import Program, Status, solve
from relift.settings import Reading
from relift.symmetry import finite_field as field

PAIRS: list[tuple[float, float, Reading]] = [
    (1.0, 2.0**61, "bits"),
    (1.0, 2.0**122, "bits"),
    (3453.0, 9.37024933083775e-05, "decimal"),
]


@pytest.mark.parametrize(("one", "other", "values"), PAIRS)
def test_the_pairs_collide(one: float, other: float, values: Reading) -> None:
    assert one != other
    assert field.images(one, values) == field.images(other, values)


@pytest.mark.parametrize(("one", "other", "values"), PAIRS)
def test_rows_that_agree_in_the_field_alone_are_not_merged(one: float, other: float, values: Reading) -> None:
    program = Program(q=[-1, -1], A=[[one, one], [one, other]], u=[1, 1], lb=0)
    result = solve(program, values=values)
    assert result.lifting.small.n_rows == 2
    assert result.status == Status.OPTIMAL


@pytest.mark.parametrize(("one", "other", "values"), PAIRS)
def test_variables_that_agree_in_the_field_alone_are_not_merged(one: float, other: float, values: Reading) -> None:
    result = solve(Program(q=[one, other], A=[[1, 1]], l=[1], lb=0), values=values)
    assert result.lifting.small.n_variables == 2


def test_a_row_left_without_variables_is_judged_by_its_floats() -> None:
    program = Program(q=[1, 1, 1], A=[[1, 1, 0]], l=[2.0**61], lb=[0.5, 0.5, 0], ub=[0.5, 0.5, np.inf])
    assert solve(program, values="bits").status == Status.INFEASIBLE
