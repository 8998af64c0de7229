"""The running example: sums see one class of four where counting and automorphisms see two of two."""

from __future__ import annotations

import numpy as np
import pytest
from tests.theorems.helpers import RUNNING_Q, commutes, is_counting, partition_matrix

import relift
from relift.symmetry.partition import Partition
from relift.testing.examples import running_example

PAIRS = Partition.from_labels([0, 1, 0, 1])
ONE = Partition.one_class(4)


def test_the_program_holds_twice_the_matrix_of_the_paper() -> None:
    program = running_example()
    assert np.array_equal(program.P.toarray(), 2 * RUNNING_Q)
    for x in np.random.default_rng(0).standard_normal((5, 4)):
        assert program.objective(x) == pytest.approx(x @ RUNNING_Q @ x)


def test_the_average_of_a_point_with_value_3_has_value_0() -> None:
    program, x = running_example(), np.array([2.0, 1.0, 1.0, 2.0])
    assert program.objective(x) == 3.0
    for partition in (PAIRS, ONE):
        average = partition_matrix(partition) @ x
        assert average.tolist() == [1.5] * 4
        assert program.objective(average) == 0.0


def test_counting_gives_two_classes_and_sums_give_one() -> None:
    program = running_example()
    assert relift.lift(program, lift="counting").variables == PAIRS
    assert relift.lift(program, lift="equitable").variables == ONE
    assert is_counting(RUNNING_Q, PAIRS)
    assert not is_counting(RUNNING_Q, ONE)
    assert commutes(partition_matrix(PAIRS), RUNNING_Q, 0.0)
    assert commutes(partition_matrix(ONE), RUNNING_Q, 0.0)


def test_orbits_are_the_two_classes_of_counting() -> None:
    pytest.importorskip("igraph", reason="orbits need igraph")
    assert relift.lift(running_example(), lift="orbits").variables == PAIRS


@pytest.mark.parametrize("method", ["equitable", "counting", "none"])
def test_the_optimum_is_0_however_it_is_lifted(method: str) -> None:
    result = relift.solve(running_example(), lift=method)  # type: ignore[arg-type]
    assert result.status == "optimal"
    assert result.objective == pytest.approx(0.0, abs=1e-6)
    assert result.x is not None
    assert np.all(result.x >= 1 - 1e-6)
