"""Families of things of one kind and many sizes, and of networks with directions that were chosen at random.

Sizes are whole numbers and profiles have two decimals, so that products are what they are meant to be. Of two families
there is a twin in which every thing has prices, or every line a cost, of its own: there is nothing to find in these.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.families.family import Family
from relift.program.program import Program

Vector = NDArray[np.float64]
SLOTS = 24


def _sizes(random: np.random.Generator, n: int) -> Vector:
    return random.permutation(np.arange(n)) + 10.0


def _clean(values: Any) -> Vector:
    """Products of decimals as decimals."""
    return np.asarray(values, np.float64).round(9)


def fleet(n: int) -> Program:
    """Cars of n sizes charge in 24 slots on one feeder; needs and limits are in proportion to the battery."""
    random = np.random.default_rng(1)
    size, price = _sizes(random, n), random.permutation(SLOTS) + 1.0
    limit = _clean(np.kron(size, np.where(np.arange(SLOTS) % 3, 0.5, 1.0)))
    need = sparse.kron(sparse.eye_array(n), np.ones((1, SLOTS)))
    feeder = sparse.kron(np.ones((1, n)), sparse.eye_array(SLOTS))
    l = np.append(4 * size, np.full(SLOTS, -np.inf))
    u = np.append(np.full(n, np.inf), np.full(SLOTS, _clean(0.4 * size.sum())))
    return Program(q=np.tile(price, n), A=sparse.vstack([need, feeder]).tocsc(), l=l, u=u, lb=0, ub=limit)


def storage(n: int, *, own_prices: bool = False) -> Program:
    """Batteries of n sizes buy and sell over a day at one site, with losses and a limit on what the site takes."""
    random = np.random.default_rng(2)
    size, price = _sizes(random, n), random.integers(20, 90, SLOTS).astype(float)
    eye, shift = sparse.eye_array(SLOTS), sparse.eye_array(SLOTS, k=-1)
    level = sparse.hstack([-0.9 * eye, eye, eye - shift])  # charge, discharge, level
    grid = sparse.hstack([eye, -eye, sparse.csr_array((SLOTS, SLOTS))])
    A = sparse.vstack([sparse.kron(sparse.eye_array(n), level), sparse.kron(np.ones((1, n)), grid)])
    ub = _clean(np.kron(size, np.repeat([0.25, 0.25, 1.0], SLOTS)))
    site = _clean(0.1 * size.sum())
    q = np.tile(np.concatenate([price + 1, 1 - price, np.zeros(SLOTS)]), n)
    if own_prices:
        q = q * np.repeat(random.uniform(0.9, 1.1, n), 3 * SLOTS)
    l = np.append(np.zeros(n * SLOTS), np.full(SLOTS, -site))
    u = np.append(np.zeros(n * SLOTS), np.full(SLOTS, site))
    return Program(q=q, A=A.tocsc(), l=l, u=u, lb=0, ub=ub)


def dispatch(n: int) -> Program:
    """Power plants of 6 kinds, each in vintages of many sizes, with ramps; one balance for each hour."""
    random = np.random.default_rng(3)
    size, kind = _sizes(random, n), np.arange(n) % 6
    cost, ramp = np.array([4.0, 12, 25, 31, 48, 70]), np.array([0.05, 0.1, 0.25, 0.5, 0.8, 1.0])
    difference = (sparse.eye_array(SLOTS) - sparse.eye_array(SLOTS, k=-1)).tocsr()[1:]
    ramps = sparse.kron(sparse.eye_array(n), difference)
    balance = sparse.kron(np.ones((1, n)), sparse.eye_array(SLOTS))
    profile = 0.45 + 0.35 * np.sin(np.arange(SLOTS) * np.pi / 12).round(2)
    demand, step = _clean(profile * size.sum()), np.repeat(_clean(ramp[kind] * size), SLOTS - 1)
    return Program(
        q=np.repeat(cost[kind], SLOTS), A=sparse.vstack([ramps, balance]).tocsc(),
        l=np.append(-step, demand), u=np.append(step, demand), lb=0, ub=np.repeat(size, SLOTS),
    )  # fmt: skip


def customers(n: int) -> Program:
    """Customers of n sizes buy at 40 sellers: prices are those of 4 regions, demands are the sizes."""
    random = np.random.default_rng(4)
    sellers, size = 40, _sizes(random, n)
    price = random.integers(5, 60, (4, sellers)).astype(float)[np.arange(n) % 4]
    demand = sparse.kron(sparse.eye_array(n), np.ones((1, sellers)))
    capacity = sparse.kron(np.ones((1, n)), sparse.eye_array(sellers))
    most = _clean(size.sum() / sellers * 1.5)
    return Program(
        q=price.ravel(), A=sparse.vstack([demand, capacity]).tocsc(), l=np.append(size, np.full(sellers, -np.inf)),
        u=np.append(size, np.full(sellers, most)), lb=0, ub=np.repeat(_clean(0.3 * size), sellers),
    )  # fmt: skip


def warehouses(n: int) -> Program:
    """Warehouses of n sizes are filled in one season and emptied in another, over 12 months."""
    random = np.random.default_rng(5)
    months, size = 12, _sizes(random, n)
    eye, shift = sparse.eye_array(months), sparse.eye_array(months, k=-1)
    stock = sparse.hstack([-eye, eye, eye - shift])  # in, out, stock
    of_all = sparse.block_diag([eye, eye, sparse.csr_array((0, months))])
    A = sparse.vstack([sparse.kron(sparse.eye_array(n), stock), sparse.kron(np.ones((1, n)), of_all)])
    supply = _clean(size.sum() * np.where(np.arange(months) < 6, 0.15, 0.02))
    demand = _clean(size.sum() * np.where(np.arange(months) < 6, 0.03, 0.12))
    q = np.tile(np.concatenate([np.full(months, 2.0), np.full(months, 3.0), np.full(months, 0.5)]), n)
    l = np.concatenate([np.zeros(n * months), np.full(months, -np.inf), demand])
    u = np.concatenate([np.zeros(n * months), supply, np.full(months, np.inf)])
    ub = _clean(np.kron(size, np.repeat([0.4, 0.4, 1.0], months)))
    return Program(q=q, A=A.tocsc(), l=l, u=u, lb=0, ub=ub)


def _grid(k: int, random: np.random.Generator) -> tuple[int, int, Any, Vector]:
    """A k x k grid with lines in random directions; supply in the middle, demand in the corners."""
    node = np.arange(k * k).reshape(k, k)
    pairs = [(node[:, :-1], node[:, 1:]), (node[:-1], node[1:])]
    ends = np.concatenate([np.stack([np.ravel(a), np.ravel(b)]) for a, b in pairs], axis=1)
    m = ends.shape[1]
    sign = random.choice([-1.0, 1.0], m)
    incidence = sparse.coo_array((np.concatenate([sign, -sign]), (ends.ravel(), np.tile(np.arange(m), 2))))
    b = np.zeros((k, k))
    b[k // 2, k // 2], b[[0, 0, -1, -1], [0, -1, 0, -1]] = 4.0, -1.0
    return k * k, m, incidence.tocsr(), b.ravel()


def oriented_flow(k: int, *, own_costs: bool = False) -> Program:
    """The shortest flow on a k x k grid, f with |f| <= t, lines in random directions."""
    random = np.random.default_rng(6)
    n, m, incidence, b = _grid(k, random)
    eye = sparse.eye_array(m)
    A = sparse.block_array([[incidence, sparse.csr_array((n, m))], [eye, -eye], [-eye, -eye]]).tocsc()
    cost = random.uniform(1, 2, m) if own_costs else np.ones(m)
    infinite = np.full(m, np.inf)
    return Program(
        q=np.append(np.zeros(m), cost), A=A, l=np.concatenate([b, -infinite, -infinite]),
        u=np.append(b, np.zeros(2 * m)), lb=np.append(-infinite, np.zeros(m)),
    )  # fmt: skip


def dc_power_flow(k: int) -> Program:
    """Flows and angles of a k x k grid, f = B A'θ, with the least losses that generators in the corners allow."""
    random = np.random.default_rng(7)
    n, m, incidence, b = _grid(k, random)
    A = sparse.block_array([[incidence, None], [sparse.eye_array(m), -10.0 * incidence.T]]).tocsc()
    sides = np.append(b, np.zeros(m))
    P = sparse.diags_array(np.append(np.ones(m), np.zeros(n))).tocsc()
    return Program(P=P, q=np.zeros(m + n), A=A, l=sides, u=sides)


def differences(n: int) -> Program:
    """Levels on a ring whose differences are bounded, half of the rows turned."""
    random = np.random.default_rng(8)
    step = sparse.coo_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n)))
    A = sparse.diags_array(random.choice([-1.0, 1.0], n)) @ (sparse.eye_array(n) - step)
    cost = 1.0 + (np.arange(n) % 10 == 0) * 4.0
    return Program(q=cost, A=A.tocsc(), l=-np.ones(n), u=np.ones(n), lb=np.where(np.arange(n) % 10 == 5, 6.0, 0.0))


FAMILIES: tuple[Family, ...] = (
    Family("fleet of many sizes", "operations", "LP", fleet, (1000,), is_symmetric=True),
    Family("storage of many sizes", "operations", "LP", storage, (300,), is_symmetric=True),
    Family("storage, own prices", "operations", "LP", partial(storage, own_prices=True), (300,), is_symmetric=False),
    Family("dispatch with vintages", "operations", "LP", dispatch, (500,), is_symmetric=True),
    Family("customers of many sizes", "operations", "LP", customers, (800,), is_symmetric=True),
    Family("warehouses of many sizes", "operations", "LP", warehouses, (500,), is_symmetric=True),
    Family("oriented flow", "operations", "LP", oriented_flow, (81,), is_symmetric=True),
    Family("oriented flow, own costs", "operations", "LP", partial(oriented_flow, own_costs=True), (81,), False),
    Family("DC power flow", "operations", "QP", dc_power_flow, (61,), is_symmetric=True),
    Family("differences on a ring", "control", "LP", differences, (20_000,), is_symmetric=True),
)
