"""Quadratic constraints are stacked into the same arrays in each of the ways in which that is done."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from relift.program import quadratic_rows
from relift.program.program import Program
from relift.program.quadratic_rows import QuadraticRows


def drawn(seed: int) -> list[tuple[np.ndarray | None, np.ndarray | None, float]]:
    """Triples of which matrices or slopes are missing now and then."""
    random = np.random.default_rng(seed)
    listed: list[tuple[np.ndarray | None, np.ndarray | None, float]] = []
    for k in range(4):
        root = random.normal(size=(3, 6)) * (random.uniform(size=6) < 0.6)
        q = (random.normal(size=6), np.ones(6), None, np.zeros(6))[(k + seed) % 4]
        listed.append((None if (k + seed) % 5 == 0 else root.T @ root, q, float(k)))
    return listed


def stacked(seed: int) -> QuadraticRows:
    """Those in one form, of matrices in several formats and slopes that are dense or sparse."""
    kinds = (sparse.csr_array, sparse.coo_array, np.asarray, sparse.csc_matrix)
    return QuadraticRows.from_matrices(
        [
            (None if P is None else kind(P), sparse.csr_array(q[None]) if q is not None and r > 1 else q, r)
            for (P, q, r), kind in zip(drawn(seed), kinds, strict=True)
        ],
        6,
    )


@pytest.mark.parametrize("seed", range(8))
def test_matrices_and_slopes_come_back_as_they_were_given(seed: int) -> None:
    rows = stacked(seed)
    for k, (P, q, r) in enumerate(drawn(seed)):
        np.testing.assert_array_equal(rows.matrix(k).toarray(), np.zeros((6, 6)) if P is None else P)
        np.testing.assert_array_equal(rows.q.toarray()[k], np.zeros(6) if q is None else q)
        assert rows.r[k] == r


@pytest.mark.parametrize("seed", range(8))
def test_blocks_are_the_same_whether_variables_are_marked_or_sorted(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    marked = stacked(seed)._blocks
    monkeypatch.setattr(quadratic_rows, "FEW_PLACES", 23)  # of four constraints of six variables
    found = stacked(seed)._blocks
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(marked[0], part), getattr(found[0], part))
    for one, other in zip(marked[1:], found[1:], strict=True):
        np.testing.assert_array_equal(one, other)


def test_entries_in_any_order_and_twice_in_one_place_are_added_in_blocks() -> None:
    places = np.array([1, 0, 0]), np.array([1, 0, 0])
    rows = QuadraticRows(
        np.zeros(3, np.int64), *places, np.array([4.0, 1.0, 2.0]), sparse.csr_array((1, 2)), np.ones(1)
    )
    assert rows._blocks[0].toarray().tolist() == [[3.0, 0.0], [0.0, 4.0]]


@pytest.mark.parametrize("triangle", ["upper", "lower"])
@pytest.mark.parametrize("order", [sparse.csr_array, sparse.csc_array, sparse.coo_array, np.asarray])
def test_a_triangle_is_completed_to_the_matrix_that_it_is_of(triangle: str, order: type) -> None:
    root = np.random.default_rng(0).normal(size=(5, 5)) * (np.arange(5) != 3)
    P = root.T @ root
    half = np.triu(P) if triangle == "upper" else np.tril(P)
    program = Program(order(half), triangle=triangle)  # type: ignore[arg-type]
    assert program.P is not None
    assert program.P.has_sorted_indices
    np.testing.assert_array_equal(program.P.toarray(), P if triangle == "upper" else np.tril(P) + np.tril(P, -1).T)


def test_a_diagonal_of_scipy_is_read_without_its_zeros() -> None:
    program = Program(sparse.diags_array([1.0, 0.0, 2.0]))
    assert program.P is not None
    assert (program.P.data.tolist(), program.P.indices.tolist()) == ([1.0, 2.0], [0, 2])
    assert program.P.indptr.tolist() == [0, 1, 1, 2]
