"""A search among a few variables and rows finds what the search among all does, where the others are alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import relift
from relift.program.program import Program
from relift.settings import LiftSettings
from relift.symmetry import scaled_search
from relift.symmetry.colour_refinement import core_is_compiled
from relift.symmetry.exact_vectors import VectorImages
from relift.symmetry.few_left import refine_what_is_left
from relift.symmetry.own_scales import scales_of_rows, scales_of_variables
from relift.symmetry.scaled_cones import intervals_of
from relift.symmetry.scaled_refinement import ClassScales, refine_up_to_scale
from relift.symmetry.told_apart import kinds_in_floats

SEEDS = st.integers(0, 2**32 - 1)


def with_twins(seed: int) -> Program:
    """A random program, some parts of which are there twice: in other units, turned, with rows times a factor."""
    random = np.random.default_rng(seed)
    n, m, some = int(random.integers(4, 30)), int(random.integers(2, 15)), int(random.integers(1, 4))
    A = np.where(random.random((m, n)) < 0.4, random.choice([1.0, -1, 2, 0.5, 0.3, 7], (m, n)), 0)
    q, ub = random.choice([0.0, 1, -1, 2, 3], n), random.choice([np.inf, 1.0, 2, 3, 4], n)
    lb = random.choice([0.0, -np.inf, -1], n)
    u = random.choice([0.0, 1, 2, 5], m)
    l = np.where(random.random(m) < 0.5, u, -np.inf)
    twins, factor = random.choice(n, some, replace=False), random.choice([1.0, 2, 0.5, -1, 10], some)
    rows = random.choice(m, int(random.integers(0, 2)), replace=False)  # of these the twins have their own
    new = A[:, twins] * factor
    again = np.zeros((rows.size, n + some))
    again[:, :n] = A[rows]
    again[:, twins], again[:, n:] = 0, A[np.ix_(rows, twins)] * factor
    new[rows] = 0
    A = np.vstack([np.hstack([A, new]), 2 * again])
    ends = np.sort([lb[twins] / factor, ub[twins] / factor], axis=0)
    q, lb, ub = np.r_[q, q[twins] * factor], np.r_[lb, ends[0]], np.r_[ub, ends[1]]
    l, u = np.r_[l, 2 * l[rows]], np.r_[u, 2 * u[rows]]
    P = None
    if random.random() < 0.4:
        sizes = np.r_[np.ones(n), factor]
        P = np.diag(random.choice([0.0, 1, 2], n)[np.r_[np.arange(n), twins]] * sizes**2)
        P[0, 1] = P[1, 0] = 0.25
    order, kind = random.permutation(q.size), sparse.csr_array if random.random() < 0.5 else sparse.csc_array
    P = None if P is None else P[np.ix_(order, order)]
    return Program(P, q[order], kind(A[:, order]), l, u, lb[order], ub[order], assume_convex=True)


@settings(max_examples=300, deadline=None)
@given(seed=SEEDS, more=st.sampled_from([0.0, 0.2, 0.8]))
def test_classes_and_scales_are_those_of_the_search_among_all(seed: int, more: float) -> None:
    program, random = with_twins(seed), np.random.default_rng(seed)
    vectors = VectorImages.of(program, "decimal")
    bounds, rows = intervals_of(program, vectors)
    scales = scales_of_variables(bounds, program.q, vectors.q), scales_of_rows(rows)
    expected = refine_up_to_scale(program.P, program.A, *scales)

    def not_alone(of: ClassScales) -> np.ndarray:
        is_left = (of.classes.class_sizes[of.classes.labels] > 1) | (of.floats == 0)
        return np.flatnonzero(is_left | (random.random(is_left.size) < more))

    left = not_alone(expected.variables), not_alone(expected.rows)
    found = refine_what_is_left(program, left, scales)
    for one, other in ((found.variables, expected.variables), (found.rows, expected.rows)):
        np.testing.assert_array_equal(one.classes.labels, other.classes.labels)
        np.testing.assert_array_equal(one.images, other.images)
        np.testing.assert_allclose(one.floats, other.floats, rtol=1e-14)


@pytest.mark.skipif(not core_is_compiled(), reason="floats are asked by the compiled core only")
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_a_large_program_with_a_few_twins_is_searched_among_these(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random, n, m = np.random.default_rng(5), 3000, 800
    A = sparse.random_array((m, n), density=0.005, rng=random, format="csc")
    A = sparse.hstack([A, 3.0 * A[:, :20]], format=form)
    q = random.uniform(1, 2, n) * (random.random(n) < 0.5)
    ub = random.uniform(1, 2, n).round(3)
    program = Program(q=np.r_[q, 3 * q[:20]], A=A, l=random.uniform(0, 1, m), lb=0, ub=np.r_[ub, ub[:20] / 3])
    vectors = VectorImages.of(program, "decimal")
    kinds = kinds_in_floats(program, vectors, LiftSettings(), masses=False)
    assert kinds is not None
    assert kinds.left is not None
    twins = np.r_[np.arange(20), np.arange(n, n + 20)]
    used = np.diff(sparse.csc_array(A).indptr) > 0
    np.testing.assert_array_equal(np.intersect1d(kinds.left[0], twins[used[twins]]), np.sort(twins[used[twins]]))

    searched = []

    def counted(*given: Any, **options: Any) -> Any:
        searched.append(given[1][0].size)
        return refine_what_is_left(*given, **options)

    monkeypatch.setattr(scaled_search, "refine_what_is_left", counted)
    small = relift.lift(program).small
    assert searched
    monkeypatch.setattr(scaled_search, "kinds_in_floats", lambda *_, **__: None)
    there = relift.lift(program).small
    assert (small.n_variables, small.n_rows) == (there.n_variables, there.n_rows)
    assert small.n_variables < n


def flows(n_commodities: int, n_twins: int, form: str) -> Program:
    """Flows of commodities through a grid with measured costs, whose balances cancel; twins have the same ends."""
    random, place = np.random.default_rng(3), np.arange(25).reshape(5, 5)
    steps = [(place[:, :-1], place[:, 1:]), (place[:-1], place[1:])]
    arcs = np.concatenate([np.stack([one.ravel(), other.ravel()]) for one, other in steps], axis=1)
    arcs = np.concatenate([arcs, arcs[::-1]], axis=1)
    n_arcs = arcs.shape[1]
    of_arcs = np.repeat([-1.0, 1.0], n_arcs), (arcs.ravel(), np.tile(np.arange(n_arcs), 2))
    incidence = sparse.coo_array(of_arcs, shape=(25, n_arcs))
    balance = np.zeros((n_commodities, 25))
    for of_one in balance:
        of_one[random.choice(25, 2, replace=False)] = np.array([-1, 1]) * random.uniform(1, 3)
    balance[:n_twins] = balance[n_commodities - n_twins :]
    own = sparse.kron(sparse.eye_array(n_commodities), incidence)
    shared = sparse.kron(np.ones((1, n_commodities)), sparse.eye_array(n_arcs))
    l = np.r_[balance.ravel(), np.full(n_arcs, -np.inf)]
    u = np.r_[balance.ravel(), random.uniform(8, 14, n_arcs)]
    costs = np.tile(random.uniform(1, 5, n_arcs), n_commodities)
    return Program(q=costs, A=sparse.vstack([own, shared], format=form), l=l, u=u, lb=0)


@pytest.mark.skipif(not core_is_compiled(), reason="floats are asked by the compiled core only")
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("n_twins", [0, 1])
def test_where_errors_overtake_floats_a_few_are_left(n_twins: int, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = flows(60, n_twins, form)
    kinds = kinds_in_floats(program, VectorImages.of(program, "decimal"), LiftSettings(), masses=False)
    assert kinds is not None
    assert not kinds.are_counted
    assert not kinds.are_all_apart
    assert kinds.left is not None
    if n_twins:
        commodities, balances = np.arange(program.n_variables) // 80, np.arange(program.n_rows) // 25
        for of, left in ((commodities, kinds.left[0]), (balances, kinds.left[1])):
            assert np.isin(np.flatnonzero((of == 0) | (of == 59)), left).all()

    searched = []

    def counted(*given: Any, **options: Any) -> Any:
        searched.append(given[1][0].size)
        return refine_what_is_left(*given, **options)

    monkeypatch.setattr(scaled_search, "refine_what_is_left", counted)
    small = relift.lift(program).small
    assert searched == [kinds.left[0].size]
    monkeypatch.setattr(scaled_search, "kinds_in_floats", lambda *_, **__: None)
    there = relift.lift(program).small
    assert small.n_variables == program.n_variables - 80 * n_twins
    assert small.A.shape == there.A.shape
    np.testing.assert_array_equal(small.A.toarray(), there.A.toarray())
    np.testing.assert_array_equal(small.q, there.q)
