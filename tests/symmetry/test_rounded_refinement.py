"""Classes up to rounding: what is given up, and what is not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import relift
from relift.program.program import Program
from relift.symmetry.exact_vectors import VectorImages
from relift.symmetry.own_scales import Intervals, scales_of_rows, scales_of_variables
from relift.symmetry.partition import Partition
from relift.symmetry.rounded_refinement import ROUNDS_OF_A_LOOK, RoundedClasses, refine_up_to_rounding


def rounded_classes(program: Program, most_classes: float, most_rounds: int = 100) -> RoundedClasses | None:
    images = VectorImages.of(program, "decimal")
    bounds = Intervals(program.lb, program.ub, images.lb, images.ub)
    sides = Intervals(program.l, program.u, images.l, images.u)
    own = scales_of_variables(bounds, program.q, images.q)
    return refine_up_to_rounding(
        program.P,
        program.A,
        program.q,
        bounds,
        sides,
        own,
        scales_of_rows(sides),
        None,
        11,
        most_classes,
        most_rounds,
    )


def path(n: int) -> Program:
    """A chain in which ends are told from the middle step by step."""
    A = sparse.csr_array(sparse.eye_array(n - 1, n) + sparse.eye_array(n - 1, n, k=1))
    return Program(q=np.ones(n), A=A, l=np.ones(n - 1), lb=0, ub=1)


@pytest.mark.parametrize("most", [np.inf, 6.0])
def test_classes_that_are_not_too_many_are_found(most: float) -> None:
    found = rounded_classes(path(6), most)
    assert found is not None
    assert Partition.from_labels(found.variables).labels.tolist() == [0, 1, 2, 2, 1, 0]
    assert Partition.from_labels(found.rows).labels.tolist() == [0, 1, 2, 1, 0]


def test_classes_that_are_too_many_are_given_up() -> None:
    assert rounded_classes(path(6), 5.0) is None


def test_a_search_of_too_many_rounds_is_given_up() -> None:
    long = path(4 * ROUNDS_OF_A_LOOK)
    assert rounded_classes(long, np.inf) is not None
    assert rounded_classes(long, np.inf, ROUNDS_OF_A_LOOK) is None


@pytest.mark.parametrize("digits", [1, 2, 3, 4])
def test_few_digits_do_not_make_everything_alike(digits: int) -> None:
    A = [[1.0, 2.0, 4.0], [1.004, 3.0, -1.0], [2.0, 5.0, 7.0]]
    sides = [7.0, 3.004, 14.0]
    small = relift.lift(Program(q=[1, 5, 2], A=A, l=sides, u=sides, lb=0), digits=digits, reduce=False).small
    assert (small.n_variables, small.n_rows) == (3, 3)


@pytest.mark.parametrize("digits", [1, 2, 3])
def test_few_digits_merge_what_differs_by_less(digits: int) -> None:
    random = np.random.default_rng(digits)
    noise = 1 + 0.1 * 10.0**-digits * random.uniform(-1, 1, 30)
    size = random.uniform(1, 9, 30)
    program = Program(q=np.ones(30), A=np.diag(noise), l=3 * size, lb=0, ub=7 * size)
    result = relift.solve(program, digits=digits, reduce=False, tolerance=0.3)
    assert result.lifting.small.n_variables == 1
    assert result.x == pytest.approx(3 * size, rel=2 * 10.0**-digits)
