"""Compiled passes over matrices say what the same steps in SciPy say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from relift.lifting.duplicate_rows import find_duplicates
from relift.program import passes, passes_reference
from relift.symmetry.partition import Partition

pytestmark = pytest.mark.skipif(passes.core is None, reason="relift._passes_core is not compiled")

seeds = st.integers(0, 10**9)

ODD = (np.array([1.0, 2.0]), np.zeros(2), np.array([1.0, 3.0]), np.array([1.0, 2.0]), np.array([4.0, 7.0]))
"""Costs and bounds of two variables and two rows, of which no two are alike."""

EVERY = np.ones(2, bool)
IMAGES = (np.array([0, 0], np.uint64), np.array([1, 3], np.uint64))
"""Exact bounds of these variables."""


def _matrix(random: np.random.Generator, m: int, n: int) -> sparse.csc_array | sparse.csr_array:
    """Small numbers, some stored zeros, by rows or columns, with indices of either width."""
    dense = random.integers(-2, 3, (m, n)) * (random.random((m, n)) < 0.6)
    made = (sparse.csr_array if random.random() < 0.5 else sparse.csc_array)(dense.astype(float))
    if made.nnz and random.random() < 0.4:
        made.data[random.integers(made.nnz)] = 0.0
    if random.random() < 0.3:
        made.indices, made.indptr = made.indices.astype(np.int64), made.indptr.astype(np.int64)
    return made


def _sizes(random: np.random.Generator) -> tuple[int, int]:
    return int(random.integers(0, 8)), int(random.integers(1, 8))


@given(seeds)
def test_products_and_sizes_are_those_of_scipy(seed: int) -> None:
    random = np.random.default_rng(seed)
    M = _matrix(random, *_sizes(random))
    g, h = random.integers(-3, 4, M.shape[1]).astype(float), random.integers(-3, 4, M.shape[0]).astype(float)
    found, expected = passes.products_and_sizes(M, g, h), passes_reference.products_and_sizes(M, g, h)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(passes.products_and_sizes(M, g, None)[0], expected[0])
    np.testing.assert_array_equal(passes.products_and_sizes(M, None, h)[3], expected[3])


@given(seeds)
def test_a_product_is_that_of_scipy_to_the_last_bit(seed: int) -> None:
    random = np.random.default_rng(seed)
    M = _matrix(random, *_sizes(random))
    M.data *= random.normal(size=M.nnz) * 10.0 ** random.integers(-9, 9, M.nnz)
    x = random.normal(size=M.shape[1]) * random.choice([0.0, 1.0, 1e150], M.shape[1])
    np.testing.assert_array_equal(passes.product(M, x).view(np.uint64), np.asarray(M @ x).view(np.uint64))


@given(seeds)
def test_the_numbers_of_classes_are_those_of_numpy(seed: int) -> None:
    labels = np.random.default_rng(seed).integers(0, 1 << 40, 50)
    numbers = passes.numbers_of_classes(labels)
    np.testing.assert_array_equal(numbers, passes_reference.numbers_of_classes(labels))
    assert np.abs(numbers).min() >= 1.0
    assert np.abs(numbers).max() < 2.0
    assert np.unique(numbers).size == np.unique(labels).size
    assert (numbers > 0).any()
    assert (numbers < 0).any()


@pytest.mark.skipif(passes.core is None, reason="the compiled core is not installed")
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array])
def test_values_that_are_one_number_are_shared_by_a_submatrix_where_it_may(make: type) -> None:
    M = make(np.array([[2.0, 2.0, 0.0], [0.0, 2.0, 2.0], [2.0, 0.0, 2.0]]))
    some = np.array([0, 2])
    for rows, columns in ((some, None), (None, some), (some, some)):
        plain, shared = passes.submatrix(M, rows, columns), passes.submatrix(M, rows, columns, shares_values=True)
        np.testing.assert_array_equal(shared.toarray(), plain.toarray())
        assert np.shares_memory(shared.data, M.data)
        assert not np.shares_memory(plain.data, M.data)
    for value in (3.0, -2.0):
        M.data[-1] = value
        found = passes.submatrix(M, some, None, shares_values=True)
        np.testing.assert_array_equal(found.toarray(), M.toarray()[some])
        assert not np.shares_memory(found.data, M.data)


@given(seeds)
def test_the_first_members_of_classes_are_those_of_numpy(seed: int) -> None:
    random = np.random.default_rng(seed)
    labels, n_classes = passes.numbered(random.integers(0, 4, int(random.integers(0, 9))))
    found = passes.first_members(labels, n_classes)
    np.testing.assert_array_equal(found, passes_reference.first_members(labels))
    with pytest.raises(ValueError, match=r"more classes|numbered"):
        passes.first_members(labels, n_classes + 1)


@given(seeds)
def test_the_sizes_of_classes_are_those_of_numpy(seed: int) -> None:
    random = np.random.default_rng(seed)
    labels, n_classes = random.integers(0, 4, int(random.integers(0, 9))), 4 + int(random.integers(3))
    found = passes.class_sizes(labels, n_classes)
    np.testing.assert_array_equal(found, passes_reference.class_sizes(labels, n_classes))
    assert found.dtype == np.int64


@pytest.mark.skipif(passes.core is None, reason="NumPy counts")
def test_labels_of_no_class_are_not_counted() -> None:
    for label in (-1, 2, 1 << 40):
        with pytest.raises(ValueError, match="a label is no class"):
            passes.class_sizes(np.array([0, label, 1]), 2)


@given(seeds, st.booleans())
def test_vectors_are_of_one_number_where_numpy_says_so(seed: int, by_bits: bool) -> None:
    random = np.random.default_rng(seed)
    numbers = random.choice([0.0, -0.0, 1.0, np.inf, np.nan], 1 + int(random.integers(2)))
    vector = random.choice(numbers, int(random.choice([0, 1, 2, 5, 3000])))
    expected = passes_reference.are_one_number(vector, by_bits=by_bits)
    assert passes.are_one_number(vector, by_bits=by_bits) == expected


@given(seeds)
def test_the_largest_entry_is_that_of_numpy(seed: int) -> None:
    random = np.random.default_rng(seed)
    odd = random.choice([np.inf, -np.inf, np.nan, 0.0, -7.0])
    vectors = tuple(random.normal(size=int(random.integers(0, 5))) for _ in range(int(random.integers(0, 4))))
    if vectors and vectors[0].size:
        vectors[0][-1] = odd
    np.testing.assert_equal(passes.largest(*vectors), passes_reference.largest(*vectors))
    np.testing.assert_equal(passes.extremes(*vectors), passes_reference.extremes(*vectors))
    apart = tuple(each[::2] for each in vectors)
    np.testing.assert_equal(passes.largest(*apart), passes_reference.largest(*apart))
    np.testing.assert_equal(passes.extremes(*apart), passes_reference.extremes(*apart))


def test_a_product_of_what_does_not_fit_is_refused() -> None:
    M = sparse.csc_array([[1.0, 2.0]])
    with pytest.raises(ValueError, match=r"indptr has a wrong length|do not fit"):
        passes.product(M, np.ones(3))
    M.indices[1] = 7
    with pytest.raises(ValueError, match=r"outside|index"):
        passes.product(M, np.ones(2))


@given(seeds)
def test_the_spread_inside_classes_is_that_of_numpy(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(0, 9))
    classes = Partition.from_labels(random.integers(0, 3, n))
    vector = random.choice([0.0, 1.0, 1.5, np.inf, -np.inf, np.nan], n, p=[0.3, 0.3, 0.3, 0.04, 0.03, 0.03])
    sizes = random.choice([0.0, 1.0, 4.0], n)
    found = passes.spread(vector, sizes, classes.representatives, classes.labels)
    assert found == passes_reference.spread(vector, sizes, classes.representatives, classes.labels)
    own = passes.spread(vector, None, classes.representatives, classes.labels)
    assert own == passes_reference.spread(vector, None, classes.representatives, classes.labels)


@given(seeds)
def test_labels_are_numbered_by_smallest_member_as_by_sorting(seed: int) -> None:
    random = np.random.default_rng(seed)
    most = int(random.choice([1, 3, 1000, 2**62]))
    labels = random.integers(-most, most, int(random.integers(0, 200)))
    (found, n_classes), (expected, number) = passes.numbered(labels), passes_reference.numbered(labels)
    np.testing.assert_array_equal(found, expected)
    assert n_classes == number


@given(seeds)
def test_kinds_are_counted_as_tuples_are(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(0, 60))
    words = [random.integers(0, int(random.choice([1, 2, 9, 2**61])), n).astype(np.uint64) for _ in range(6)]
    assert passes.count_kinds(*words) == passes_reference.count_kinds(*words)


@given(seeds)
def test_fractions_near_numbers_are_those_of_the_slow_twin(seed: int) -> None:
    random = np.random.default_rng(seed)
    exact = random.integers(1, 3000, 40) / random.integers(1, 3000, 40)
    values = np.concatenate([exact, 0.1 * exact, random.random(40), [0.0, -1.0, np.inf, np.nan, 1e-9, 1e9]])
    found, expected = (each.simple_fractions(values, 10_000, 2e-15) for each in (passes, passes_reference))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@given(seeds)
def test_shapes_are_counted_as_by_the_slow_twin(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, unit = int(random.integers(0, 60)), float(random.choice([1.0, 0.1, 1e-12, 3e7]))
    low, high = (unit * random.integers(*ends, n).astype(np.float64) for ends in ((-3, 2), (-1, 4)))
    low[random.random(n) < 0.2], high[random.random(n) < 0.2] = -np.inf, np.inf
    cost = random.choice([0.0, 1.0, -1.0, 0.5, 1e-13], n)
    if seed % 3:
        cost *= 0.0
    assert passes.count_shapes(low, high, cost) == passes_reference.count_shapes(low, high, cost)


@given(seeds)
def test_digits_are_counted_as_python_prints_them(seed: int) -> None:
    random = np.random.default_rng(seed)
    few, exponents = random.integers(1, 18, 40), random.integers(-30, 31, 40)
    typed = [float(f"{random.integers(1, 10**count)}e{power}") for count, power in zip(few, exponents, strict=True)]
    values = np.concatenate([typed, np.nextafter(typed, np.inf), random.random(9), [0.0, -0.0, np.inf, -np.inf]])
    for value in values:
        for digits in (1, 6, 9, 15):
            numbers = np.array([1.0, value, -value])
            assert passes.has_longer(numbers, digits) == passes_reference.has_longer(numbers, digits)


def test_digits_of_a_float_are_at_most_fifteen() -> None:
    assert passes.core is not None
    with pytest.raises(ValueError, match="digits are not between 1 and 15"):
        passes.core.has_longer(np.ones(1), 16)


def test_compiled_counts_refuse_arrays_that_do_not_fit() -> None:
    assert passes.core is not None
    words, short = np.zeros(3, np.uint64), np.zeros(2, np.uint64)
    with pytest.raises(ValueError, match="cost has a wrong type or length"):
        passes.core.count_kinds(words, words, words, words, words, short)
    with pytest.raises(ValueError, match="numbers has a wrong type or length"):
        passes.core.numbered(np.zeros(3, np.int64), np.zeros(2, np.int64))


def _is_multiple(row: np.ndarray, other: np.ndarray) -> bool:
    """Whether the 2 x 2 minors of two rows with the same columns vanish up to rounding."""
    minors = np.outer(row, other) - np.outer(other, row)
    size = np.abs(row).max() * np.abs(other).max()
    return np.array_equal(row != 0, other != 0) and bool(np.abs(minors).max() <= 1e-14 * size)


@given(seeds)
def test_every_row_that_is_a_multiple_of_another_is_a_candidate(seed: int) -> None:
    random = np.random.default_rng(seed)
    m, n = _sizes(random)
    dense = random.integers(-2, 3, (m, n)) * 0.1
    for i in range(1, m):
        if random.random() < 0.5:
            dense[i] = dense[random.integers(i)] * random.choice([-3.0, 0.1, 1.0, 7.0, 1e9])
    A = (sparse.csr_array if random.random() < 0.5 else sparse.csc_array)(dense)
    least = int(random.integers(1, 3))
    counts, candidates = passes.scan_rows(A, least)
    expected_counts, same_columns = passes_reference.scan_rows(A, least)
    np.testing.assert_array_equal(counts, expected_counts)
    np.testing.assert_array_equal(passes.count_entries_of_rows(A), counts)
    np.testing.assert_array_equal(passes_reference.count_entries_of_rows(A), counts)
    assert set(candidates.tolist()) <= set(same_columns.tolist())
    for i in range(m):
        others = [k for k in range(m) if k != i and counts[k]]
        is_multiple = any(_is_multiple(dense[i], dense[k]) for k in others)
        assert not (is_multiple and counts[i] >= least) or i in candidates
    slow = find_duplicates(A, "decimal", same_columns)
    quick = find_duplicates(A, "decimal", candidates)
    assert (slow is None) == (quick is None)
    if slow is not None and quick is not None:
        np.testing.assert_array_equal(slow.member, quick.member)
        np.testing.assert_array_equal(slow.leader, quick.leader)
        np.testing.assert_array_equal(slow.ratio, quick.ratio)


@given(seeds)
def test_a_submatrix_has_the_entries_of_the_whole(seed: int) -> None:
    random = np.random.default_rng(seed)
    M = _matrix(random, *_sizes(random))
    rows = np.flatnonzero(random.random(M.shape[0]) < 0.6) if random.random() < 0.7 else None
    columns = np.flatnonzero(random.random(M.shape[1]) < 0.6) if random.random() < 0.7 else None
    found, expected = passes.submatrix(M, rows, columns), passes_reference.submatrix(M, rows, columns)
    assert found.format == M.format
    assert found.nnz == expected.nnz
    np.testing.assert_array_equal(found.toarray(), expected.toarray())
    assert found.has_canonical_format


def test_the_whole_matrix_is_not_copied() -> None:
    M = sparse.csr_array(np.eye(3))
    assert passes.submatrix(M, np.arange(3), None) is M


@given(seeds)
def test_triangles_are_those_of_scipy(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 8))
    half = _matrix(random, n, n)
    P = sparse.csc_array(half + half.T)
    P.sort_indices()
    for upper in (True, False):
        found, expected = passes.triangle(P, upper=upper), passes_reference.triangle(P, upper=upper)
        made, other = (sparse.csc_array((v, i, o), shape=(n, n)).toarray() for o, i, v in (found, expected))
        np.testing.assert_array_equal(made, other)


@given(seeds)
def test_the_conic_form_is_that_of_stacked_rows(seed: int) -> None:
    random = np.random.default_rng(seed)
    m, n = _sizes(random)
    A = _matrix(random, m, n).asformat("csc" if random.random() < 0.5 else "csr")
    A.sort_indices()
    choices = np.array([-np.inf, -1.0, 0.0, 2.0, np.inf])
    sides = [np.sort(random.choice(choices, (size, 2)), axis=1) for size in (m, n)]
    for pair in sides:  # no bound on the wrong side
        pair[pair[:, 0] == np.inf] = [0.0, np.inf]
        pair[pair[:, 1] == -np.inf] = [-np.inf, 0.0]
    bounds = (*sides[0].T.copy(), *sides[1].T.copy())
    following = None
    if random.random() < 0.5:
        following = _matrix(random, 3, n).tocsc()
        following.sort_indices()
    found = passes.conic_form(A, bounds, following)
    expected = passes.ConicForm(*passes_reference.conic_form(A, bounds, following))
    assert (found.n_equal, found.n_upper) == (expected.n_equal, expected.n_upper)
    np.testing.assert_array_equal(found.owner, expected.owner)
    np.testing.assert_array_equal(found.b, expected.b)
    shape = (found.b.size + (0 if following is None else 3), n)
    made, other = (
        sparse.csc_array((form.values, form.indices, form.offsets), shape=shape) for form in (found, expected)
    )
    np.testing.assert_array_equal(made.toarray(), other.toarray())
    assert made.has_canonical_format


@pytest.mark.skipif(passes.core is None, reason="NumPy allocates")
def test_large_results_of_passes_begin_where_a_large_page_does_and_may_be_written_to() -> None:
    n, large_page = 400_000, 1 << 21
    bounds = (np.zeros(0), np.zeros(0), np.zeros(n), np.arange(1.0, n + 1))
    form = passes.conic_form(sparse.csr_array((0, n)), bounds)
    assert [part.ctypes.data % large_page for part in (form.b, form.indices, form.values)] == [0, 0, 0]
    values = form.values
    del form
    values[-1] = 7.0
    assert values[:2].tolist() == [1.0, -1.0]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("triangle", lambda o, i, v: ((o, i, v), 2, True)),
        ("submatrix", lambda o, i, v: ((o, i, v), 2, np.arange(2), None, 1)),
        ("entries_of_minors", lambda o, i, v: ((o, i, v), 2, np.arange(2), 1)),
        ("entries_of_majors", lambda o, i, v: ((o, i, v), 2, np.arange(2))),
        (
            "remaining_entries",
            lambda o, i, v: ((o, i, v), False, 2, np.arange(2), EVERY, np.empty(2, np.int64), np.empty(2)),
        ),
        (
            "remaining_entries",
            lambda o, i, v: ((o, i, v), True, 2, np.arange(2), EVERY, np.empty(2, np.int64), np.empty(2)),
        ),
        ("count_rows", lambda o, i, v: ((o, i, v), False, 2, np.empty(2, np.int32))),
        ("scan_rows", lambda o, i, v: ((o, i, v), False, 2, 1, np.empty(2, np.int32), 1)),
        ("may_be_reflected", lambda o, i, v: ((o, i, v), False, None, ODD[:3], 2, ODD[3:], 2, None, 9)),
        ("may_be_reflected", lambda o, i, v: ((o, i, v), True, (o, i, v), ODD[:3], 2, ODD[3:], 2, None, 9)),
        ("admitted_sizes", lambda o, i, v: ((o, i, v), False, 2, ODD[3:], 2, np.arange(2), np.empty(2))),
        ("admitted_sizes", lambda o, i, v: ((o, i, v), True, 2, ODD[3:], 2, np.arange(2), np.empty(2))),
        ("count_links", lambda o, i, v: ((o, i, v), False, *(((*ODD[1:3], *IMAGES),) * 2), 1, 9.0, 1e-15)),
    ],
)
def test_damaged_matrices_are_refused_by_every_pass(name: str, arguments: Any) -> None:
    pass_ = getattr(passes.core, name)
    good = (np.array([0, 1, 2], np.int32), np.array([0, 1], np.int32), np.ones(2))
    pass_(*arguments(*good))
    with pytest.raises(ValueError, match="an index lies outside the matrix"):
        pass_(*arguments(good[0], np.array([0, 9], np.int32), good[2]))
    with pytest.raises(ValueError, match="indptr decreases"):
        pass_(*arguments(np.array([0, 2, 1], np.int32), good[1], good[2]))
    with pytest.raises(ValueError, match="values has a wrong type or length"):
        pass_(*arguments(good[0], good[1], np.ones(2, np.float32)))


def test_matrices_too_large_for_the_compiled_passes_are_left_to_scipy() -> None:
    wide = sparse.csr_array((1, passes.MOST_VERTICES))
    assert passes.core_for(wide) is None
    assert passes.core_for(sparse.csr_array((1, 2)), None) is passes.core


@given(seeds, st.integers(1, 40))
def test_nearly_equal_numbers_are_counted_as_by_sets(seed: int, n_slices: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(0, 60))
    values = random.choice([0.0, -0.0, 0.1, 1.0, 3.0, np.inf, random.normal()], n) * random.choice([1.0, -1.0], n)
    values *= 1.0 + random.choice([0.0, 1e-15, 1e-13, 1e-8], n)
    last_bits = int(random.integers(1, 53))
    expected = passes_reference.count_near(values, last_bits, n_slices)
    assert passes.count_near(values, last_bits, n_slices) == expected
    assert passes.count_near(values, last_bits, 1) == passes_reference.count_near(values, last_bits, 1)
    assert expected[1] <= expected[0] <= n


@given(seeds, st.integers(0, 30))
def test_few_of_many_rows_are_taken_as_by_scipy(seed: int, n_wide: int) -> None:
    random = np.random.default_rng(seed)
    M = _matrix(random, int(random.integers(1, 30)), 1 + n_wide)
    rows = np.flatnonzero(random.random(M.shape[0]) < 0.1)
    columns = np.flatnonzero(random.random(M.shape[1]) < 0.9)
    for some, others in ((rows, columns), (rows, None), (None, columns)):
        found, expected = passes.submatrix(M, some, others), passes_reference.submatrix(M, some, others)
        np.testing.assert_array_equal(found.indptr, expected.indptr)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.data, expected.data)


@given(seeds)
def test_entries_of_some_rows_and_columns_are_those_of_the_part(seed: int) -> None:
    random = np.random.default_rng(seed)
    M = _matrix(random, *_sizes(random))
    rows = np.flatnonzero(random.random(M.shape[0]) < 0.6)
    columns = np.flatnonzero(random.random(M.shape[1]) < 0.6)
    for some, others in ((rows, columns), (rows, None), (None, columns), (None, None)):
        found, expected = passes.entries_of(M, some, others), passes_reference.submatrix(M, some, others).tocoo()
        np.testing.assert_array_equal(found.row, expected.coords[0])
        np.testing.assert_array_equal(found.column, expected.coords[1])
        np.testing.assert_array_equal(found.value, expected.data)
