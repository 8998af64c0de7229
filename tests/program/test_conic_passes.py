"""The compiled passes over conic rows do the same as NumPy, step by step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from relift.arrays import SparseMatrix, Vector
from relift.lifting.cone_residuals import ScaledPoint
from relift.program import conic_passes, conic_passes_reference, other_order
from relift.program.cones import Cone, Exponential, SecondOrder
from relift.program.conic_rows import KEPT_ROWS, ConeLayout, ConicRows
from relift.program.passes import core
from relift.program.program import Program

pytestmark = pytest.mark.skipif(core is None, reason="there is no compiled core to compare with")


def some_matrix(random: np.random.Generator, m: int, n: int, order: str) -> SparseMatrix:
    dense = random.choice([0.0, 0.0, 1.0, -2.5, 1e-3, 7e8], (m, n))
    matrix: SparseMatrix = sparse.csr_array(dense) if order == "csr" else sparse.csc_array(dense)
    if matrix.nnz:  # a stored zero
        matrix.data[random.integers(matrix.nnz)] = 0.0
    return matrix


def some_rows(seed: int, odd: bool = False) -> tuple[ConicRows, np.random.Generator]:
    random = np.random.default_rng(seed)
    cones: list[Cone] = [
        Exponential() if random.random() < 0.2 else SecondOrder(int(random.integers(1, 5)))
        for _ in range(random.integers(1, 6))
    ]
    k, n = sum(cone.n_rows for cone in cones), int(random.integers(1, 6))
    b = random.choice([0.0, 1.0, -3.0, 1e-8], k)
    return ConicRows.trusted(some_matrix(random, k, n, "csr"), b, cones), random


def numbers(random: np.random.Generator, size: int, odd: bool) -> Vector:
    values = [0.0, 1.0, -4.0, 1e200, -1e-200]
    return random.choice([*values, np.inf, -np.inf, np.nan] if odd else values, size)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_a_matrix_in_the_other_order_is_what_scipy_makes_of_it(seed: int) -> None:
    random = np.random.default_rng(seed)
    m, n = random.integers(0, 6, 2)
    for order in ("csr", "csc"):
        matrix = some_matrix(random, m, n, order)
        if random.random() < 0.3:
            matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
        columns, rows = other_order.by_columns(matrix), other_order.by_rows(matrix)
        for made, expected in ((columns, matrix.tocsc()), (rows, matrix.tocsr())):
            assert made.format == expected.format
            assert made.shape == expected.shape
            for name in ("indptr", "indices", "data"):
                np.testing.assert_array_equal(getattr(made, name), getattr(expected, name))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["csr", "csc"]))
def test_stacked_rows_are_those_of_both_matrices_with_a_column_for_each_cone(seed: int, order: str) -> None:
    rows, random = some_rows(seed)
    A = some_matrix(random, int(random.integers(0, 4)), rows.n_variables, order)
    made = conic_passes.stacked(A, rows)
    expected = conic_passes_reference.stacked(A.tocsr(), rows.A, rows.cone_of_row, len(rows))
    assert made.shape == expected.shape
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(made, name), getattr(expected, name))
    owners = np.zeros((rows.n_rows, len(rows)))
    owners[np.arange(rows.n_rows), rows.cone_of_row] = 1.0
    whole = np.block([[A.toarray(), np.zeros((A.shape[0], len(rows)))], [rows.A.toarray(), owners]])
    np.testing.assert_array_equal(made.toarray(), whole)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_sums_of_columns_are_those_of_numpy_even_of_numbers_that_are_none(seed: int, odd: bool) -> None:
    rows, random = some_rows(seed)
    for v in (None, numbers(random, rows.n_rows, odd)):
        with np.errstate(all="ignore"):
            expected = conic_passes_reference.column_sums(rows, v)
        found = conic_passes.column_sums(rows, v)
        for made, wanted in zip((found.natural, found.terms, found.sums, found.marks), expected, strict=True):
            np.testing.assert_array_equal(made, wanted)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_slack_and_rooms_are_those_of_numpy(seed: int, odd: bool) -> None:
    rows, random = some_rows(seed)
    x, sizes = numbers(random, rows.n_variables, odd), np.abs(numbers(random, rows.n_variables, odd))
    with np.errstate(all="ignore"):
        expected = conic_passes_reference.slack_and_rooms(rows, x, sizes, 0.5)
    for made, wanted in zip(conic_passes.slack_and_rooms(rows, x, sizes, 0.5), expected, strict=True):
        np.testing.assert_array_equal(made, wanted)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_pushed_heads_are_those_of_numpy(seed: int, odd: bool) -> None:
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 5, random.integers(1, 6))
    heads = np.cumsum(lengths) - lengths + 1  # the first row belongs to nobody
    k = int(lengths.sum()) + 2
    s, room = numbers(random, k, odd), np.abs(numbers(random, k, odd)) + 1e-3
    one, other = s.copy(), s.copy()
    with np.errstate(all="ignore"):
        expected = conic_passes_reference.push_heads(heads, lengths, room, one)
    found = conic_passes.push_heads(heads, lengths, room, other)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(other, one, rtol=1e-12)


def test_pushed_cones_hold_their_vectors() -> None:
    random = np.random.default_rng(0)
    s, lengths = random.normal(size=9), np.array([1, 3, 5])
    heads = np.array([0, 1, 4])
    push = conic_passes.push_heads(heads, lengths, np.ones(9), s)
    norms = [np.linalg.norm(s[first + 1 : first + length]) for first, length in zip(heads, lengths, strict=True)]
    assert np.all(s[heads] >= np.array(norms) - 1e-12)
    assert np.all(push >= 0)


def test_cones_that_lie_outside_are_refused() -> None:
    assert core is not None
    s, push = np.zeros(3), np.zeros(1)
    for head, length in ((-1, 2), (2, 2), (0, 0), (3, 1)):
        with pytest.raises(ValueError, match="a cone lies outside the vector"):
            core.push_heads(np.array([head]), np.array([length]), np.ones(3), s, push)
    for row in (-1, 3):
        with pytest.raises(ValueError, match="a cone lies outside the vector"):
            core.push_exponential(np.array([0, 1, row]), s, np.ones(3), False, push, s.copy())
        cones = (np.array([0, 1]), np.array([2]), np.full(2, 0.5), np.array([row]))
        with pytest.raises(ValueError, match="a cone lies outside the vector"):
            core.push_power(cones, s, np.ones(3), False, push, s.copy())
    for count in (-1, 3):
        cones = (np.array([0, 1]), np.array([count]), np.full(2, 0.5), np.array([2]))
        with pytest.raises(ValueError, match="there are fewer arguments"):
            core.push_power(cones, s, np.ones(3), False, push, s.copy())
    matrix = (np.array([0, 1], np.int32), np.array([0], np.int32), np.ones(1))
    with pytest.raises(ValueError, match="a cone does not exist"):
        core.stack(matrix, matrix, 1, np.array([1]), 1)
    with pytest.raises(ValueError, match="the cones do not fit the rows"):
        core.slack_and_rooms(matrix, (np.ones(1), np.ones(1), np.ones(1), np.array([1])), 1.0, (np.ones(1), np.ones(1)))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6))
def test_terms_of_second_order_cones_are_those_of_whole_arrays(seed: int) -> None:
    random = np.random.default_rng(seed)
    cones = [SecondOrder(int(random.integers(1, 5))) for _ in range(random.integers(1, 6))]
    k, n = sum(cone.n_rows for cone in cones), int(random.integers(1, 4))
    rows = ConicRows.trusted(some_matrix(random, k, n, "csr"), random.choice([0.0, 1.0, -3.0], k), tuple(cones))
    program = Program(q=np.ones(n), conic=rows)
    x, sizes = random.normal(size=n), random.lognormal(size=n)
    at = ScaledPoint(program, x, sizes, float(random.lognormal()), 1.0)
    v = random.choice([0.0, 1.0, -4.0, 1e-9], k)
    found = at.terms_of_cones(v)
    expected = (at.push_of_slack(), *at.dual_residual_and_gap_of_cones(v))
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-300)
    assert at.terms_of_cones(None) == (at.push_of_slack(), 0.0, 0.0)


def test_a_slack_that_is_no_number_is_infinitely_far_from_its_cone() -> None:
    rows = ConicRows([[1.0], [0.0]], [0.0, 1.0], [SecondOrder(2)])
    at = ScaledPoint(Program(q=[1.0], conic=rows), np.array([np.nan]), np.ones(1), 1.0, 1.0)
    assert at.terms_of_cones(np.ones(2))[0] == np.inf
    assert at.push_of_slack() == np.inf


@pytest.mark.parametrize("n_rows", [KEPT_ROWS, KEPT_ROWS + 1])
def test_layouts_of_small_cones_are_kept_for_other_rows(n_rows: int) -> None:
    cones = (Exponential(), SecondOrder(n_rows - 3))
    one, other = (ConicRows.trusted(sparse.csr_array((n_rows, 2)), np.zeros(n_rows), cones) for _ in range(2))
    assert (one.layout is other.layout) == (n_rows <= KEPT_ROWS)
    for name, array in vars(ConeLayout.of(one)).items():
        np.testing.assert_array_equal(getattr(one.layout, name), array)
        assert getattr(one.layout, name).flags.writeable == (n_rows > KEPT_ROWS)
