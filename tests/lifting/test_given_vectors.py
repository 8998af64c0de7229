"""What presolve says about the program that it leaves: numbers that nothing cancelled in, and rows that stand apart."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from relift.lifting.presolve import reduce, unreduced
from relift.program.program import Program
from relift.symmetry import finite_field as field

SEEDS = st.integers(0, 10**6)
FEW_ROUNDINGS = 1e-11


def of_tenths(seed: int) -> Program:
    """A program of tenths that is full of short rows, multiples and fixed variables."""
    random = np.random.default_rng(seed)
    n, m = int(random.integers(2, 8)), int(random.integers(1, 9))
    A = random.choice([0.0, 0, 0, 1, -1, 0.3, 0.7, 2], (m, n))
    for i in range(1, m):
        if random.random() < 0.3:
            A[i] = A[random.integers(i)] * random.choice([1.0, -1.0, 2.0])
    middle = random.choice([0.0, 0.1, 0.3, -0.7], n)
    lb = middle - random.choice([0.0, 0.5, 1.0], n)
    ub = middle + random.choice([0.0, 0.5, 1.0], n)
    sides = (A @ middle).round(1)
    kind = sparse.csr_array if random.random() < 0.5 else sparse.csc_array
    l, u = sides - random.choice([0.0, 0.2, np.inf], m), sides + random.choice([0.0, 0.2, np.inf], m)
    P = np.diag(random.choice([0.0, 1, 0.3], n)) + 0.1 if random.random() < 0.3 else None
    return Program(P, random.choice([0.0, 0.1, 1, -0.3], n), kind(A), l, u, lb.round(1), ub.round(1))


def is_nearly_exact(value: float, word: int) -> bool:
    """Whether the exact number of a word is the float up to few roundings; as far as that can be told."""
    if not np.isfinite(value):
        return True
    for limit in (10, 1000, 10**5):
        near = Fraction(value).limit_denominator(limit)
        image = near.numerator * pow(near.denominator, -1, field.MODULUS) % field.MODULUS
        if image == word:
            return abs(Fraction(value) - near) <= FEW_ROUNDINGS * abs(near)
    return True


@given(SEEDS)
@settings(deadline=None, max_examples=300)
def test_floats_of_given_vectors_are_their_exact_numbers_but_for_few_roundings(seed: int) -> None:
    reduction = reduce(of_tenths(seed))
    if not reduction.vectors_are_given:
        return
    left, images = reduction.program, reduction.images
    vectors = (left.q, images.q), (left.l, images.l), (left.u, images.u), (left.lb, images.lb), (left.ub, images.ub)
    for floats, words in vectors:
        for value, word in zip(floats.tolist(), np.broadcast_to(words, floats.shape).tolist(), strict=True):
            assert is_nearly_exact(value, word), (value, word)


def with_row(row: list[float], side: float, ub: list[float], lb: list[float]) -> bool:
    """Whether the vectors are still given where this row stands beside two that stay."""
    A = np.array([[1.0, 1, 1], [1, 2, 4], row])
    program = Program(q=[1, 2, 3], A=A, l=[1, 2, side], lb=lb, ub=ub)
    reduction = reduce(program)
    assert not reduction.is_trivial
    return reduction.vectors_are_given


def test_what_is_dropped_or_divided_leaves_the_vectors_given() -> None:
    free, none = [9.0, 9.0, 9.0], [0.0, 0.0, 0.0]
    assert with_row([0, 0, 0], -1.0, free, none)  # an empty row
    assert with_row([2, 4, 8], 0.7, free, none)  # a multiple
    assert with_row([0, 0.3, 0], 0.7, free, none)  # a bound
    assert with_row([1, 2, 3], 0.7, [9.0, 0.0, 9.0], none)  # a variable that is 0


def test_what_is_subtracted_leaves_them_given_where_nothing_cancels() -> None:
    fixed = [9.0, 0.2, 9.0], [0.0, 0.2, 0.0]
    assert with_row([1, 1, 3], 0.7, *fixed)  # larger than what was taken away
    assert with_row([1, 1, 3], 0.2, *fixed)  # 0, exactly
    assert with_row([1, 5, 3], 1.5, *fixed)  # .5, exactly
    assert not with_row([1, 1, 3], 0.3, *fixed)  # 0.09999999999999998
    assert with_row([0, 1, 0], 0.1, *fixed)  # nothing is left of this row


def test_costs_that_cancel_are_not_given() -> None:
    P = np.array([[1.0, -1.0], [-1.0, 2.0]])
    for cost, is_given in ((0.3, False), (0.4, True), (0.7, True)):
        program = Program(P, [cost, 1.0], A=[[1.0, 1.0]], l=0, lb=[0, 0.2], ub=[1, 0.2])
        assert reduce(program).vectors_are_given is is_given


def test_a_chain_hands_on_what_has_cancelled() -> None:
    """The first row fixes x[1] at a number that has cancelled; the second one is as large as what is subtracted."""
    A = np.array([[1.0, 1, 0, 0], [0, 1, 1, 1], [0, 0, 1, 2]])
    program = Program(q=[1, 2, 3, 4], A=A, l=[0.3, 9.0, 1.0], u=[0.3, 9.0, 9.0], lb=[0.2, 0, 0, 0], ub=[0.2, 5, 5, 5])
    reduction = reduce(program)
    assert reduction.variables.tolist() == [2, 3]
    assert not reduction.vectors_are_given


def are_multiples(one: list[Fraction], other: list[Fraction]) -> bool:
    """Whether one row is a factor, not 0, times the other."""
    if [value == 0 for value in one] != [value == 0 for value in other]:
        return False
    return all(a * d == b * c for (a, b), (c, d) in combinations(list(zip(one, other, strict=True)), 2))


def bounds_per_entry(program: Program, row: int) -> list[float]:
    """The bounds of a row divided by its first entry, ascending."""
    entries = program.A.toarray()[row]
    first = entries[entries != 0][:1]
    return sorted(side / float(first[0]) if first.size else 0.0 for side in (program.l[row], program.u[row]))


@given(SEEDS)
@settings(deadline=None, max_examples=300)
def test_presolve_knows_of_the_rows_that_it_leaves_if_they_are_apart_and_have_entries(seed: int) -> None:
    reduction = reduce(of_tenths(seed))
    program = reduction.program
    left = [[Fraction(repr(float(value))) for value in row] for row in program.A.toarray()]
    assert reduction.rows_have_entries == all(map(any, left))
    are_equal = [
        are_multiples(left[i], left[k])
        and np.allclose(bounds_per_entry(program, i), bounds_per_entry(program, k), atol=0.0)
        for i, k in combinations(range(len(left)), 2)
    ]
    assert reduction.rows_are_apart == (not any(are_equal))


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_rows_that_agree_but_for_signs_are_apart(format: str) -> None:
    """As those of absolute values: ``-t <= x - y <= t`` in two rows."""
    line = np.eye(4, 5) - np.eye(4, 5, k=1)
    A = np.block([[line, -np.eye(4)], [line, np.eye(4)]])
    reduction = reduce(Program(q=np.ones(9), A=sparse.csr_array(A).asformat(format), l=0.0))
    assert reduction.is_trivial
    assert reduction.rows_are_apart
    assert reduction.rows_have_entries


@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize("factor", [5e-324, 1e308])
def test_multiples_are_found_where_floats_have_no_room_for_sums(format: str, factor: float) -> None:
    random = np.random.default_rng(0)
    A = np.vstack([random.choice([1.0, 2, 3, 4], (30, 3)), [[1.0, 1, 1], [factor, factor, factor]]])
    A = A[np.r_[0, 1 + np.flatnonzero(~(A[1:] == A[0]).all(axis=1))]]
    program = Program(q=np.ones(3), A=sparse.csr_array(A).asformat(format), l=np.r_[np.ones(A.shape[0] - 1), -np.inf])
    reduction = reduce(program)
    assert reduction.rows_are_apart
    assert A.shape[0] - 1 not in reduction.rows


def test_multiples_that_contradict_each_other_stay_and_are_apart_by_their_bounds() -> None:
    A, l, u = [[1.0, 3.0], [2.0, 6.0], [1.0, 1.0]], [4.0, 0.0, 0.0], [9.0, 2.0, 9.0]
    reduction = reduce(Program(q=[1, 2], A=A, l=l, u=u, lb=0))
    assert reduction.is_trivial
    assert reduction.rows_are_apart
    again = reduce(Program(q=[1, 2], A=[*A, [-1.0, -3.0]], l=[*l, -9.0], u=[*u, -4.0], lb=0))  # the first row, turned
    assert again.program.n_rows == 4
    assert not again.rows_are_apart


def test_multiples_that_contradict_each_other_by_rounding_alone_are_not_apart() -> None:
    """Read as proportional, their bounds are equal."""
    program = Program(
        q=[1, 2], A=[[1.0, 2.0], [3.0, 6.0]], l=[0.7, np.nextafter(2.1, 9)], u=[0.7, np.nextafter(2.1, 9)]
    )
    assert np.nextafter(2.1, 9) / 3 != 0.7
    reduction = reduce(program)
    assert reduction.is_trivial
    assert not reduction.rows_are_apart


def test_nothing_is_known_of_rows_that_were_not_looked_at() -> None:
    reduction = unreduced(Program(q=[1, 2], A=[[1.0, 3.0]], l=[1], lb=0))
    assert not reduction.rows_are_apart
    assert not reduction.rows_have_entries
    assert reduction.vectors_are_given
