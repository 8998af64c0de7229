"""Whitening is a heuristic, and the conditions for renamings are sufficient, not necessary."""

from __future__ import annotations

import numpy as np
import pytest
from tests.theorems.helpers import commutes, partition_matrix

import relift
from relift.program.program import Program
from relift.symmetry.equitable import distance_from_equitable
from relift.symmetry.partition import Partition


def test_whitening_merges_two_variables_that_must_not_merge() -> None:
    Q = np.diag([1.0, 2.0])
    B = np.diag([1.0, np.sqrt(2.0)])
    whitened = B @ np.linalg.inv(np.sqrt(B.T @ B))
    assert np.allclose(whitened, np.eye(2))  # its rows cannot be told apart
    merged = Partition.one_class(2)
    assert not commutes(partition_matrix(merged), Q)
    program = Program(P=2 * Q, A=[[1, 1]], l=[2], u=[2])
    assert distance_from_equitable(program, merged, Partition.one_class(1), np.ones(1)) > 0.1
    right = relift.solve(program)
    assert right.lifting.small.n_variables == 2
    assert right.objective == pytest.approx(8 / 3)
    assert program.objective([1, 1]) == 3.0  # what the merged program would have answered


def test_a_redundant_row_hides_a_renaming() -> None:
    # x and y can be exchanged in the set x, y >= 0, x + y >= 1; the row x >= -1 says nothing, and no row says it of y.
    program = Program(q=[1, 1], A=[[1, 1], [1, 0]], l=[1, -1], lb=0)
    assert relift.lift(program, reduce=False).variables.is_discrete
    assert relift.lift(program).small.n_variables == 1  # singleton rows are bounds, and this one is not tight


def test_a_rescaled_row_hides_a_renaming() -> None:
    program = Program(q=[-1, -1], A=[[2, 1], [3, 6]], u=[2, 6], lb=0)
    assert relift.lift(program, scale_rows=False).variables.is_discrete
    lifting = relift.lift(program)
    assert (lifting.small.n_variables, lifting.small.n_rows) == (1, 1)
    result = relift.solve(program)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(relift.solve(program, lift="none").objective)


def test_a_row_that_says_the_same_twice_hides_a_renaming() -> None:
    program = Program(q=[1, 1, 1], A=[[1, 1, 0], [0, 1, 1], [1, 0, 1], [2, 2, 0]], l=[1, 1, 1, 2], lb=0)
    assert relift.lift(program, reduce=False, scale_rows=False).small.n_variables > 1
    assert relift.lift(program).small.n_variables == 1
