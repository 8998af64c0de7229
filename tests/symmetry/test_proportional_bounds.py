"""Bounds that are in proportion but for rounding are read so, whatever the factors, and nothing else is."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import relift
from relift.program.program import Program
from relift.symmetry import proportional_bounds
from relift.symmetry.exact_ratios import LARGEST, simple_fractions
from relift.symmetry.exact_vectors import NAMES, VectorImages
from relift.symmetry.proportional_bounds import proportional_images


def fleet(sizes: np.ndarray, n_slots: int, need: float, limit: float, order: np.ndarray | None = None) -> Program:
    """Cars that charge in slots under one feeder; needs and limits are computed from the sizes."""
    n = len(sizes)
    energy, feeder = (
        sparse.kron(sparse.eye(n), np.ones((1, n_slots))),
        sparse.kron(np.ones((1, n)), sparse.eye(n_slots)),
    )
    A = sparse.vstack([energy, feeder]).tocsr()
    price = np.tile(0.1 + 0.01 * np.arange(n_slots), n)
    u = np.concatenate([need * sizes, np.full(n_slots, np.round(1.3 * need * sizes.sum() / n_slots, 3))])
    l = np.concatenate([need * sizes, np.full(n_slots, -np.inf)])
    ub = np.repeat(limit * sizes, n_slots)
    order = np.arange(n * n_slots) if order is None else order
    return Program(q=price[order], A=A[:, order], l=l, u=u, lb=0, ub=ub[order])


def storage(sizes: np.ndarray, n_slots: int) -> Program:
    """Batteries with a state of charge: its rows have no size of their own."""
    blocks, n = [], len(sizes)
    step = sparse.eye(n_slots) - sparse.eye(n_slots, k=-1)
    for _ in sizes:
        blocks.append(sparse.hstack([step, -0.95 * sparse.eye(n_slots), (1 / 0.9) * sparse.eye(n_slots)]))
    own = sparse.block_diag(blocks)
    net = sparse.hstack([sparse.hstack([0 * sparse.eye(n_slots), -sparse.eye(n_slots), sparse.eye(n_slots)])] * n)
    price = np.concatenate([np.zeros(n_slots), *[np.cos(np.arange(n_slots)).round(3)] * 2])
    q = np.tile(price * np.repeat([0, 1, -1], n_slots), n)
    ub = np.concatenate([np.repeat([1.0 * s, 0.3 * s, 0.7 * s], n_slots) for s in sizes])
    A = sparse.vstack([own, net]).tocsr()
    zeros, room = np.zeros(own.shape[0]), np.full(n_slots, 0.11 * sizes.sum())
    return Program(q=q, A=A, l=np.concatenate([zeros, -room]), u=np.concatenate([zeros, room]), lb=0, ub=ub)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([(0.6, 0.2), (1 / 3, 1 / 7), (0.731, 0.2153), (2.4, 0.8)]),
    st.sampled_from([None, 0, 2]),
    st.booleans(),
)
def test_a_fleet_of_computed_sizes_has_a_class_for_each_slot(
    seed: int, factors: tuple[float, float], decimals: int | None, shuffled: bool
) -> None:
    random = np.random.default_rng(seed)
    sizes = random.uniform(20, 90, 12)
    sizes = sizes if decimals is None else sizes.round(decimals)
    order = random.permutation(12 * 6) if shuffled else None
    program = fleet(sizes, 6, *factors, order=order)
    result = relift.solve(program)
    assert result.lifting.small.n_variables == 6
    assert result.certificate.is_optimal
    assert result.objective == pytest.approx(relift.solve(program, lift="none").objective, rel=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_batteries_of_computed_sizes_are_one_battery(seed: int) -> None:
    sizes = np.random.default_rng(seed).uniform(1, 9, 15)
    program = storage(sizes, 8)
    result = relift.solve(program)
    assert result.lifting.small.n_variables <= 3 * 8
    assert result.certificate.is_optimal
    assert result.objective == pytest.approx(relift.solve(program, lift="none").objective, rel=1e-7, abs=1e-9)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, LARGEST), st.integers(1, LARGEST), st.floats(1e-3, 1e3))
def test_quotients_of_computed_multiples_are_their_fractions(p: int, q: int, size: float) -> None:
    found = simple_fractions(np.array([(p * size) / (q * size)]))
    assert Fraction(int(found.numerators[0]), int(found.denominators[0])) == Fraction(p, q)


def test_other_numbers_have_no_simple_fraction() -> None:
    values = np.random.default_rng(0).uniform(0.01, 100, 20_000)
    assert np.count_nonzero(simple_fractions(values).exist) == 0
    assert not simple_fractions(np.array([0.0, np.inf, 1e9, 1e-9, 1.0 + 1e-12])).exist.any()


def test_typed_and_unrelated_numbers_are_read_as_ever() -> None:
    random = np.random.default_rng(0)
    typed = fleet(random.integers(20, 90, 10).astype(float), 4, 0.5, 0.25)
    unrelated = typed.replace(ub=random.uniform(1, 2, 40), l=-np.inf, u=random.uniform(50, 60, typed.n_rows))
    for program in (typed, unrelated):
        assert proportional_images(program, VectorImages.of(program, "decimal")) is None


def test_without_sizes_nothing_is_compared() -> None:
    program = fleet(np.random.default_rng(1).uniform(20, 90, 10), 4, 0.6, 0.2)
    assert relift.lift(program, sizes=False).small.n_variables == 40


@pytest.mark.parametrize("factors", [(0.6, 0.2), (1.0, 1.0), (3.0, 0.5), (2.0, 0.25)])
@pytest.mark.parametrize("has_states", [False, True])
def test_sizes_in_exact_ratios_are_read_as_along_their_links(
    factors: tuple[float, float], has_states: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = np.random.default_rng(3).uniform(20, 90, 9)
    program = storage(sizes, 4) if has_states else fleet(sizes, 4, *factors)
    images = VectorImages.of(program, "decimal")
    quickly = proportional_images(program, images)
    monkeypatch.setattr(proportional_bounds, "_are_exact", lambda *_: False)
    along_links = proportional_images(program, images)
    assert (quickly is None) == (along_links is None)
    assert (factors == (1.0, 1.0) and not has_states) <= (quickly is None)
    if quickly is not None and along_links is not None:
        for name in NAMES:
            np.testing.assert_array_equal(getattr(quickly, name), getattr(along_links, name))
