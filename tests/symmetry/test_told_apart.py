"""Where costs and bounds tell all variables apart, rows are compared without their values being read, or not at all."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from relift.lifting.presolve import reduce
from relift.program.index_sets import constant_words
from relift.program.program import Program
from relift.symmetry import finite_field as field
from relift.symmetry.colour_refinement import KeptValues, core_is_compiled, refine
from relift.symmetry.colour_refinement_reference import Mode, refine_slowly
from relift.symmetry.exact_vectors import VectorImages
from relift.symmetry.own_scales import scales_of_rows, scales_of_variables
from relift.symmetry.scaled_cones import intervals_of
from relift.symmetry.scaled_refinement import ScaledRefinement, refine_up_to_scale

needs_core = pytest.mark.skipif(not core_is_compiled(), reason="the compiled core is not installed")
VALUES = [0.0, 0.0, 0.0, 1.0, -1.0, 2.0, 0.1, 0.3, 1e300, 5e-324]


def arguments(A: sparse.csr_array | sparse.csc_array, costs: np.ndarray, l: np.ndarray) -> tuple[Any, ...]:
    u = np.full(l.size, np.inf)
    return None, A, [field.images(costs)], field.images(l), field.images(u), l, u


@st.composite
def rows_with_multiples(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Rows of which some are drawn again, times a factor; and left sides."""
    n = draw(st.integers(1, 6))
    rows = [draw(st.lists(st.sampled_from(VALUES), min_size=n, max_size=n)) for _ in range(draw(st.integers(1, 5)))]
    for _ in range(draw(st.integers(0, 3))):
        row, factor = draw(st.sampled_from(rows)), draw(st.sampled_from([1.0, -2.0, 0.5]))
        rows.append([factor * value for value in row])
    sides = [draw(st.sampled_from([0.0, 1.0, -2.0, 0.5])) for _ in rows]
    return np.array(rows), np.array(sides)


@pytest.mark.parametrize("by_rows", [False, True])
@pytest.mark.parametrize("mode", ["equitable", "counting"])
@given(case=rows_with_multiples(), scale_rows=st.booleans(), has_P=st.booleans(), seed=st.integers(0, 2**32))
@settings(deadline=None, max_examples=80)
def test_rows_are_parted_as_by_the_reference_where_costs_are_distinct(
    mode: Mode, by_rows: bool, case: tuple[np.ndarray, np.ndarray], scale_rows: bool, has_P: bool, seed: int
) -> None:
    rows, sides = case
    n = rows.shape[1]
    A = (sparse.csr_array if by_rows else sparse.csc_array)(rows)
    _, *rest = arguments(A, np.arange(n) + 0.5, sides)
    P = sparse.csc_array(np.ones((n, n))) if has_P else None
    found = refine(P, *rest, mode=mode, scale_rows=scale_rows, seed=seed)
    slow = refine_slowly(P, *rest, mode=mode, reading="decimal", scale_rows=scale_rows, seed=seed)
    assert found.variables.labels.tolist() == slow.variable_labels.tolist() == list(range(n))
    assert found.rows.labels.tolist() == slow.row_labels.tolist()


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array])
def test_entries_that_stand_twice_are_added_up_where_costs_are_distinct(make: Any) -> None:
    listed = sparse.coo_array(([1.0, 1.0, 3.0, 2.0, 3.0], ([0, 0, 0, 1, 1], [0, 0, 1, 0, 1])), shape=(2, 2))
    order = np.lexsort((listed.row, listed.col) if make is sparse.csc_array else (listed.col, listed.row))
    major, minor = (listed.col, listed.row) if make is sparse.csc_array else (listed.row, listed.col)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(major, minlength=2))])
    A = make((listed.data[order], minor[order], offsets), shape=(2, 2))
    assert A.nnz == 5  # the first row has its entry of 2 in two parts
    found = refine(*arguments(A, np.array([1.0, 2.0]), np.zeros(2)), scale_rows=True)
    assert found.rows.labels.tolist() == [0, 0]


def test_indices_may_stand_in_any_order_where_costs_are_distinct() -> None:
    A = sparse.csr_array((np.array([1.0, 2.0, 4.0, 2.0]), np.array([0, 1, 1, 0]), np.array([0, 2, 4])), shape=(2, 2))
    found = refine(*arguments(A, np.array([1.0, 2.0]), np.zeros(2)), scale_rows=True)
    assert found.rows.labels.tolist() == [0, 0]


def test_several_rows_without_entries_are_compared_by_their_bounds() -> None:
    A = sparse.csr_array((4, 2))
    found = refine(*arguments(A, np.array([1.0, 2.0]), np.array([1.0, 2.0, 1.0, 3.0])), scale_rows=False)
    assert found.rows.labels.tolist() == [0, 1, 0, 2]


@needs_core
@pytest.mark.parametrize("wrong", [np.inf, -np.inf, np.nan])
def test_entries_that_are_not_finite_are_refused_where_costs_are_distinct(wrong: float) -> None:
    A = sparse.csr_array(np.array([[1.0, wrong], [2.0, 1.0]]))
    with pytest.raises(ValueError, match=r"an entry of a matrix is infinite|a value is NaN"):
        refine(*arguments(A, np.array([1.0, 2.0]), np.zeros(2)))


@needs_core
def test_no_value_is_read_where_costs_are_distinct_and_rows_have_different_columns() -> None:
    n = 5000
    values = np.random.default_rng(7).uniform(1, 2, n)
    A = sparse.csc_array(sparse.diags_array([values, values[1:]], offsets=[0, 1], shape=(n, n)))
    found = refine(*arguments(A, np.arange(n) + 1.0, np.zeros(n)))
    assert found.variables.is_discrete
    assert found.rows.is_discrete
    assert found.statistics.rounds == 0
    assert np.all(found.row_scales == 1.0)


@pytest.mark.parametrize("mode", ["equitable", "counting"])
@pytest.mark.parametrize("scale_rows", [False, True])
def test_one_word_for_all_is_as_good_as_one_for_each(mode: Mode, scale_rows: bool) -> None:
    random = np.random.default_rng(3)
    A = sparse.csr_array(random.integers(0, 3, (30, 20)).astype(float))
    l, u = np.full(30, 2.0), np.full(30, np.inf)
    costs = field.images(random.integers(0, 4, 20).astype(float))
    one, two, infinite = (int(field.images(value)) for value in (1.0, 2.0, np.inf))
    full: list[Any] = [
        [costs, np.full(20, one, np.uint64)],
        np.full(30, two, np.uint64),
        np.full(30, infinite, np.uint64),
    ]
    short: list[Any] = [[costs, constant_words(one, 20)], constant_words(two, 30), constant_words(infinite, 30)]
    extra = constant_words(5, 30)
    found = refine(None, A, short[0], short[1], short[2], l, u, mode=mode, scale_rows=scale_rows, row_extra=[extra])
    every = np.full(30, 5, np.uint64)
    other = refine(None, A, full[0], full[1], full[2], l, u, mode=mode, scale_rows=scale_rows, row_extra=[every])
    assert found.variables == other.variables
    assert found.rows == other.rows
    assert np.array_equal(found.row_scales, other.row_scales)
    assert np.array_equal(found.row_scale_images, other.row_scale_images)


def are_multiples(one: list[Fraction], other: list[Fraction]) -> bool:
    """Whether one row is a factor, not 0, times the other."""
    if [value == 0 for value in one] != [value == 0 for value in other]:
        return False
    return all(a * d == b * c for (a, b), (c, d) in combinations(list(zip(one, other, strict=True)), 2))


def have_equal_bounds(program: Program, *rows: int) -> bool:
    """Whether two rows have the same bounds, divided by their first entries."""
    bounds = list[list[float]]()
    for row in rows:
        entries = program.A.toarray()[row]
        first = np.append(entries[entries != 0], 1.0)[0]
        with np.errstate(over="ignore"):
            bounds.append(sorted((program.l[row] / first, program.u[row] / first)))
    return bool(np.allclose(bounds[0], bounds[1], atol=0.0))


@given(case=rows_with_multiples(), by_rows=st.booleans(), data=st.data())
@settings(deadline=None, max_examples=150)
def test_presolve_says_that_rows_are_apart_only_where_none_is_a_multiple_with_its_bounds(
    case: tuple[np.ndarray, np.ndarray], by_rows: bool, data: st.DataObject
) -> None:
    rows, sides = case
    n = rows.shape[1]
    upper = np.array([data.draw(st.sampled_from([1.0, 2.0, 0.0])) for _ in range(n)])  # fixed ones shorten rows
    A = (sparse.csr_array if by_rows else sparse.csc_array)(rows)
    program = Program(q=np.arange(n) + 0.5, A=A, l=sides, lb=0, ub=upper)
    reduction = reduce(program)
    left = reduction.program.A.toarray()
    exact = [[Fraction(repr(float(value))) for value in row] for row in left]
    left_program = reduction.program
    pairs = [pair for pair in combinations(range(len(exact)), 2) if are_multiples(exact[pair[0]], exact[pair[1]])]
    multiples = [pair for pair in pairs if have_equal_bounds(left_program, *pair)]
    assert not (reduction.rows_are_apart and multiples)
    of_left = reduction.images
    given_words = [of_left.q, of_left.lb, of_left.ub]
    rest = (of_left.l, of_left.u, left_program.l, left_program.u)
    known = refine(None, left_program.A, given_words, *rest, rows_are_apart=reduction.rows_are_apart)
    unknown = refine(None, left_program.A, given_words, *rest)
    assert known.variables == unknown.variables
    assert known.rows == unknown.rows


def test_rows_of_a_large_program_are_known_to_be_apart() -> None:
    n = 5000
    A = sparse.csc_array(sparse.eye_array(n - 1, n) - sparse.eye_array(n - 1, n, k=1))
    program = Program(q=np.arange(n) + 0.25, A=A, l=0.0, u=0.0, lb=0, ub=3)
    reduction = reduce(program)
    assert reduction.rows_are_apart
    assert reduction.images.l is reduction.images.u  # equations are read once
    fixed = reduce(program.replace(ub=np.where(np.arange(n) == 7, 0.0, 3.0)))
    assert fixed.rows_are_apart
    twice = reduce(program.replace(A=sparse.csc_array(sparse.vstack([A, 2.0 * A[:1]])), l=np.zeros(n), u=np.zeros(n)))
    assert twice.program.n_rows == n - 1
    assert twice.rows_are_apart  # once multiples are merged


def told_apart(rows: np.ndarray, *, by_rows: bool, are_variables: bool) -> Program:
    """A program whose variables, or whose rows, are told apart by their own numbers, up to scale too."""
    m, n = rows.shape
    A = (sparse.csr_array if by_rows else sparse.csc_array)(rows)
    if are_variables:
        return Program(q=np.arange(1.0, n + 1), A=A, l=0, lb=0, ub=1)
    return Program(q=np.zeros(n), A=A, l=np.arange(1.0, m + 1) / (m + 1), u=1)


def refined(program: Program, kept: KeptValues | None = None) -> ScaledRefinement:
    images = VectorImages.of(program, "decimal")
    bounds, rows = intervals_of(program, images)
    own = scales_of_variables(bounds, program.q, images.q)
    return refine_up_to_scale(program.P, program.A, own, scales_of_rows(rows), kept=kept)


@pytest.mark.parametrize("by_rows", [False, True])
@pytest.mark.parametrize("are_variables", [False, True])
@given(case=rows_with_multiples())
@settings(deadline=None, max_examples=80)
def test_what_is_told_apart_up_to_scale_parts_the_rest_as_by_the_reference(
    by_rows: bool, are_variables: bool, case: tuple[np.ndarray, np.ndarray]
) -> None:
    rows = np.where(np.abs(case[0]) == 5e-324, 3.0, case[0])
    program = told_apart(rows if are_variables else rows.T, by_rows=by_rows, are_variables=are_variables)
    kept = KeptValues(program.P, program.A)
    found, again = refined(program, kept), refined(program, kept)  # what the first has found out is kept
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(field, "CORE_IS_COMPILED", False)
        slow = refined(program)
    for each in (found, again):
        for ours, theirs in ((each.variables, slow.variables), (each.rows, slow.rows)):
            assert ours.classes == theirs.classes
            np.testing.assert_array_equal(ours.images, theirs.images)


@needs_core
def test_rows_that_are_known_to_be_apart_are_not_compared() -> None:
    program = told_apart(np.array([[1.0, 2], [1, 3], [2, 5]]), by_rows=False, are_variables=True)
    known = KeptValues(program.P, program.A, rows_are_apart=True)
    found, other = refined(program, known), refined(program)
    assert found.rows.classes == other.rows.classes
    assert found.statistics.rounds < 1
