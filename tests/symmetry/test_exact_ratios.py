"""Ratios that are simple, or that pairs of different numbers share, are read exactly; others are not read at all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import relift
from relift.program.program import Program
from relift.symmetry.exact_ratios import DIFFERENT, ROUNDING, SharedRatios, exact_ratios

FACTORS = [0.6, 0.7234982347, 1 / np.pi, 0.123987123987]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(FACTORS), st.integers(2, 40))
def test_products_with_one_factor_have_one_ratio(seed: int, factor: float, n: int) -> None:
    sizes = np.random.default_rng(seed).uniform(1, 90, n)
    ratios = exact_ratios(factor * sizes, sizes)
    assert ratios.exist.all()
    assert np.unique(ratios.images).size == 1


def test_unrelated_numbers_have_no_ratio() -> None:
    random = np.random.default_rng(0)
    assert not exact_ratios(random.uniform(1, 90, 20_000), random.uniform(1, 90, 20_000)).is_shared.any()
    assert not exact_ratios(np.array([0.0, np.inf, 1.0, 1e-300]), np.array([1.0, 1.0, 0.0, 1e300])).exist.any()


@pytest.mark.parametrize(("apart", "is_shared"), [(0.5 * DIFFERENT, False), (2 * DIFFERENT, True)])
def test_numbers_that_are_nearly_equal_do_not_share_a_ratio(apart: float, is_shared: bool) -> None:
    sizes = np.array([37.13, 37.13 * (1 + apart)])
    assert exact_ratios(sizes / np.pi, sizes).is_shared.tolist() == [is_shared] * 2
    seen = SharedRatios()
    assert [seen.is_shared(0, size / np.pi, size) for size in sizes] == [False, is_shared]


@pytest.mark.parametrize(("apart", "is_shared"), [(0.5 * ROUNDING, True), (3 * ROUNDING, False)])
def test_ratios_that_differ_by_more_than_rounding_are_not_shared(apart: float, is_shared: bool) -> None:
    sizes = np.array([37.13, 41.29])
    assert exact_ratios(sizes * [1, 1 + apart] / np.pi, sizes).is_shared.tolist() == [is_shared] * 2


def fleet(sizes: np.ndarray, need: float, lowest: float, order: np.ndarray) -> Program:
    """Cars that charge, and may feed back, in six slots under one feeder."""
    n, n_slots = len(sizes), 6
    needs, feeder = sparse.kron(sparse.eye(n), np.ones((1, 6))), sparse.kron(np.ones((1, n)), sparse.eye(6))
    return Program(
        q=np.tile([0.3, 0.1, 0.7, 0.2, 0.5, 0.4], n)[order], A=sparse.vstack([needs, feeder]).tocsr()[:, order],
        l=np.concatenate([need * sizes, np.full(6, -np.inf)]),
        u=np.concatenate([np.full(n, np.inf), np.full(6, np.round(0.8 * sizes.sum(), 2))]),
        lb=np.repeat(-lowest * sizes, n_slots)[order], ub=np.repeat(sizes, n_slots)[order],
    )  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(FACTORS), st.sampled_from([0.0, 0.1, 1 / 3, 0.4823984]), st.booleans())
def test_a_fleet_has_a_class_for_each_slot_whatever_the_factors(
    seed: int, need: float, lowest: float, is_measured: bool
) -> None:
    random = np.random.default_rng(seed)
    sizes = random.uniform(20, 90, 12)
    program = fleet(sizes.round(2) if is_measured else sizes, need, lowest, random.permutation(72))
    result = relift.solve(program)
    assert result.certificate.is_optimal
    assert result.objective == pytest.approx(relift.solve(program, lift="none").objective, rel=1e-7, abs=1e-9)
    assert result.lifting.small.n_variables <= 6


@pytest.mark.parametrize("sizes", [np.arange(10.0, 30.0), np.random.default_rng(0).uniform(9, 90, 20).round(2)])
@pytest.mark.parametrize("power", [0.25, 0.123987123])
def test_batteries_that_may_not_be_empty_are_one_battery(sizes: np.ndarray, power: float) -> None:
    # Only the lower bounds, the shorter sides, are computed where sizes are typed: 0.1 * 3 is not 0.3 in floats.
    n, n_slots = len(sizes), 8
    eye = sparse.eye(n_slots)
    round_trip = sparse.csr_array(np.eye(n_slots) - np.roll(np.eye(n_slots), -1, axis=1))
    one = sparse.hstack([round_trip, -0.95 * eye, eye / 0.9])
    net = sparse.hstack([sparse.hstack([0 * eye, eye, -eye])] * n)
    price = np.cos(np.arange(n_slots)).round(3)
    program = Program(
        q=np.tile(np.concatenate([np.zeros(n_slots), price, 0.01 - price]), n),
        A=sparse.vstack([sparse.block_diag([one] * n), net]).tocsr(),
        l=np.concatenate([np.zeros(n * n_slots), np.full(n_slots, -0.1 * sizes.sum())]),
        u=np.concatenate([np.zeros(n * n_slots), np.full(n_slots, 0.1 * sizes.sum())]),
        lb=np.concatenate([np.repeat([0.1 * s, 0.0, 0.0], n_slots) for s in sizes]),
        ub=np.concatenate([np.repeat([s, power * s, power * s], n_slots) for s in sizes]),
    )
    result = relift.solve(program)
    assert result.certificate.is_optimal
    assert result.objective == pytest.approx(relift.solve(program, lift="none").objective, rel=1e-7, abs=1e-9)
    assert result.lifting.small.n_variables <= 3 * n_slots


@pytest.mark.parametrize("factor", [0.6, 1 / 7, 1.0])
@pytest.mark.parametrize("is_typed", [True, False])
def test_costs_are_prices_times_sizes_whatever_the_prices(factor: float, is_typed: bool) -> None:
    # Products of computed numbers may have few digits by chance, and are multiples of their entries all the same.
    random = np.random.default_rng(0)
    sizes, price = factor * np.arange(10.0, 60.0), random.uniform(5, 40, 6)
    n, price = sizes.size, price.round(2) if is_typed else price
    needs, feeder = sparse.kron(sparse.eye(n), np.ones((1, 6))), sparse.kron(sizes[None, :], sparse.eye(6))
    program = Program(
        q=np.outer(sizes, price).ravel(), A=sparse.vstack([needs, feeder]).tocsr(), lb=0, ub=0.25,
        l=np.concatenate([np.full(n, 0.6), np.full(6, -np.inf)]),
        u=np.concatenate([np.full(n, np.inf), np.full(6, 0.2 * sizes.sum())]),
    )  # fmt: skip
    result = relift.solve(program)
    assert result.certificate.is_optimal
    assert result.objective == pytest.approx(relift.solve(program, lift="none").objective, rel=1e-7, abs=1e-9)
    assert result.lifting.small.n_variables <= 6


@pytest.mark.parametrize("seed", range(6))
def test_units_in_which_bounds_are_no_decimals_tell_nothing_apart_whatever_the_order(seed: int) -> None:
    # Copies of: minimise x^2 - x y + y^2 + x, x - 2 y = 1, x, y >= -1, each variable in a unit from 1 to 9.
    random, n = np.random.default_rng(seed), 9
    unit, order = random.integers(1, 10, 2 * n).astype(float), random.permutation(2 * n)
    P = sparse.kron(sparse.eye(n), [[2.0, -1.0], [-1.0, 2.0]])
    A = sparse.kron(sparse.eye(n), [[1.0, -2.0]])
    own = sparse.diags_array(unit)
    program = Program(
        P=(own @ P @ own).tocsr()[order][:, order], q=(np.tile([1.0, 0.0], n) * unit)[order],
        A=(A @ own).tocsr()[random.permutation(n)][:, order], l=1, u=1, lb=(-1 / unit)[order],
    )  # fmt: skip
    result = relift.solve(program)
    assert result.certificate.is_optimal
    assert result.lifting.small.n_variables == 2
    assert result.objective == pytest.approx(relift.solve(program, lift="none").objective, rel=1e-6)


def test_the_two_sides_of_bounds_are_compared_where_no_row_has_their_size() -> None:
    sizes = np.array([46.29, 67.55, 47.51, 23.25, 11.94, 71.88, 72.1, 72.77, 56.95])
    program = Program(q=np.ones(9), A=np.ones((1, 9)), l=[0.1 * np.pi], lb=-sizes, ub=5 * sizes)
    assert np.any(5 * sizes != (5 * sizes).round(2))  # 5 * 47.51 is not 237.55 in floats
    result = relift.solve(program)
    assert result.certificate.is_optimal
    assert result.lifting.small.n_variables == 1
