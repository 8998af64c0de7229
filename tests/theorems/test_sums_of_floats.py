"""Sums of floats destroy symmetry; sums of what was written do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import relift
from relift.program.program import Program

WEIGHTS = (0.1, 0.2, 0.3, 0.7)


def mixture(n: int, seed: int = 0) -> sparse.csr_array:
    """.1 P1 + .2 P2 + .3 P3 + .7 P4 for random permutations; where two meet stands .3, as one writes it."""
    random = np.random.default_rng(seed)
    A = sum(w * sparse.eye_array(n, format="csr")[random.permutation(n)] for w in WEIGHTS)
    A = sparse.csr_array(A)
    A.data = A.data.round(1)
    return A


def test_a_mixture_of_permutations_has_one_class_of_rows_and_one_of_columns() -> None:
    A = mixture(1000)
    assert len({float(np.sum(A.data[A.indptr[i] : A.indptr[i + 1]])) for i in range(1000)}) > 1  # floats part them
    rows, columns = relift.colour_refinement(A, row_colours=[0] * 1000, values="decimal")
    assert (rows.n_classes, columns.n_classes) == (1, 1)


@pytest.mark.parametrize("options", [{"values": "bits"}, {"mode": "counting"}])
def test_exact_bits_and_multisets_tell_its_rows_apart(options: dict[str, Any]) -> None:
    rows, columns = relift.colour_refinement(mixture(1000), row_colours=[0] * 1000, **options)
    assert rows.n_classes > 500
    assert columns.n_classes > 500


def test_a_program_over_it_falls_to_one_variable() -> None:
    n = 1000
    program = Program(q=np.ones(n), A=mixture(n), l=np.full(n, 2.6), lb=0)
    result = relift.solve(program)
    assert (result.lifting.small.n_variables, result.lifting.small.n_rows) == (1, 1)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(2.0 * n)
    assert relift.lift(program, values="bits").small.n_variables > 500


def test_the_order_of_rows_and_columns_does_not_matter() -> None:
    random = np.random.default_rng(3)
    A = mixture(60, seed=5)
    A.data[::7] += 0.5
    i, j = random.permutation(60), random.permutation(60)
    rows, columns = relift.colour_refinement(A, row_colours=[0] * 60)
    moved_rows, moved_columns = relift.colour_refinement(A[i][:, j], row_colours=[0] * 60)
    assert moved_rows == relift.Partition.from_labels(rows.labels[i])
    assert moved_columns == relift.Partition.from_labels(columns.labels[j])
