"""Families from operations research. Most are built twice: with things alike, and of random real numbers."""

from __future__ import annotations

import importlib.util
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.families.family import Family, kinds, values
from relift.program.cones import SecondOrder
from relift.program.conic_rows import ConicRows
from relift.program.program import Program


def _example(name: str) -> Any:
    """A module of examples/, which is no package."""
    path = Path(__file__).parents[2] / "examples" / f"{name}.py"
    specification = importlib.util.spec_from_file_location(name, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def charging_fleet(n_cars: int) -> Program:
    """The demo: cars of 40 types charge overnight."""
    return _example("charging_fleet").charging_fleet(n_cars)


def _bipartite(k: int) -> Any:
    """Sums over the rows, then over the columns, of a k x k table of variables."""
    eye, ones = sparse.eye_array(k), np.ones((1, k))
    return sparse.vstack([sparse.kron(eye, ones), sparse.kron(ones, eye)]).tocsc()


def assignment(k: int, *, alike: bool) -> Program:
    """As many workers as jobs; alike: 6 skills and 9 kinds of jobs."""
    random = np.random.default_rng(10)
    worker, job = kinds(random, k, 6, alike), kinds(random, k, 9, alike)
    cost = random.uniform(1, 30, (int(worker.max()) + 1, int(job.max()) + 1))
    cost = (cost.round(1) if alike else cost)[np.ix_(worker, job)]
    return Program(q=cost.ravel(), A=_bipartite(k), l=1, u=1, lb=0)


def transport(k: int, *, alike: bool) -> Program:
    """Depots serve as many shops; alike: 8 kinds of depots and 12 of shops, and costs depend on the kinds."""
    random = np.random.default_rng(3)
    if alike:
        depot, shop = random.integers(0, 8, k), random.integers(0, 12, k)
        cost = random.integers(1, 30, (8, 12)).astype(float)[np.ix_(depot, shop)]
        demand = random.integers(1, 9, 12).astype(float)[shop]
        supply = random.integers(5, 15, 8).astype(float)[depot] + 5.0
    else:
        cost = random.uniform(1, 30, (k, k))
        demand, supply = random.uniform(1, 9, k), random.uniform(10, 20, k)
    infinite = np.full(k, np.inf)
    l, u = np.concatenate([-infinite, demand]), np.concatenate([supply, infinite])
    return Program(q=cost.ravel(), A=_bipartite(k), l=l, u=u, lb=0)


def covering_design(v: int) -> Program:
    """The fewest 6-subsets of v points that contain every 4-subset, relaxed."""
    if v < 6:
        raise ValueError(f"{v} points have no 6-subsets: a covering design has at least 6 points.")
    four = {subset: i for i, subset in enumerate(combinations(range(v), 4))}
    blocks = list(combinations(range(v), 6))
    rows = [four[subset] for block in blocks for subset in combinations(block, 4)]
    A = sparse.coo_array((np.ones(len(rows)), (rows, np.repeat(np.arange(len(blocks)), 15))))
    return Program(q=np.ones(len(blocks)), A=A.tocsc(), l=1, lb=0, ub=1)


def multi_commodity_flow(commodities: int, *, alike: bool) -> Program:
    """Commodities share the capacities of a 6 x 6 network; alike: they are identical in three groups."""
    random = np.random.default_rng(11)
    k = 6
    n = k * k
    place = np.arange(n).reshape(k, k)
    pairs = [(place[:, :-1], place[:, 1:]), (place[:-1], place[1:])]
    arcs = np.concatenate([np.stack([np.ravel(a), np.ravel(b)]) for a, b in pairs], axis=1)
    arcs = np.concatenate([arcs, arcs[::-1]], axis=1)
    e = arcs.shape[1]
    incidence = sparse.coo_array((np.repeat([-1.0, 1.0], e), (arcs.ravel(), np.tile(np.arange(e), 2))), shape=(n, e))
    group = np.arange(commodities) % 3 if alike else np.arange(commodities)
    ends = np.array([random.choice(n, 2, replace=False) for _ in range(group.max() + 1)])[group]
    demand = (np.array([2.0, 3.0, 1.5])[group] if alike else random.uniform(1, 3, commodities)) * 10 / commodities
    balance = np.zeros((commodities, n))
    balance[np.arange(commodities), ends[:, 0]] = -demand
    balance[np.arange(commodities), ends[:, 1]] = demand
    cost = random.uniform(1, 5, e)
    capacity = random.uniform(8, 14, e)
    A = sparse.vstack(
        [
            sparse.kron(sparse.eye_array(commodities), incidence),
            sparse.kron(np.ones((1, commodities)), sparse.eye_array(e)),
        ]
    ).tocsc()
    l = np.concatenate([balance.ravel(), np.full(e, -np.inf)])
    return Program(q=np.tile(cost, commodities), A=A, l=l, u=np.concatenate([balance.ravel(), capacity]), lb=0)


def unit_commitment(units: int, *, alike: bool) -> Program:
    """Relaxed unit commitment over a day with quadratic fuel costs; alike: units of 5 kinds."""
    random = np.random.default_rng(12)
    hours = 24
    kind = kinds(random, units, 5, alike)
    largest = values(random, kind, 50, 200, alike)
    least = 0.3 * largest
    ramp = 0.35 * largest
    fuel, slope = values(random, kind, 10, 30, alike), values(random, kind, 0.01, 0.05, alike) + 0.01
    idle, start = values(random, kind, 50, 300, alike), values(random, kind, 100, 900, alike)
    demand = (0.5 + 0.2 * np.sin(np.linspace(0, 2 * np.pi, hours))) * largest.sum()
    n = units * hours
    each, zero = sparse.eye_array(n), sparse.csr_array((n, n))
    over_units = sparse.kron(np.ones((1, units)), sparse.eye_array(hours))
    step = sparse.kron(sparse.eye_array(units), sparse.eye_array(hours) - sparse.eye_array(hours, k=-1))
    step = sparse.csr_array(step)[np.arange(n) % hours > 0]  # no step before the first hour
    later = sparse.csr_array(each)[np.arange(n) % hours > 0]

    def per_hour(numbers: np.ndarray) -> np.ndarray:
        return np.repeat(numbers, hours)

    # Variables: power, on, start; a block of rows for each law.
    blocks = [
        (sparse.hstack([each, -sparse.diags_array(per_hour(largest)), zero]), -np.inf, 0.0),
        (sparse.hstack([each, -sparse.diags_array(per_hour(least)), zero]), 0.0, np.inf),
        (sparse.hstack([sparse.csr_array(step.shape), step, -later]), -np.inf, 0.0),
        (sparse.hstack([step, sparse.csr_array((step.shape[0], 2 * n))]), None, None),
        (sparse.hstack([over_units, sparse.csr_array((hours, 2 * n))]), demand, demand),
        (
            sparse.hstack(
                [
                    sparse.csr_array((hours, n)),
                    over_units @ sparse.diags_array(per_hour(largest)),
                    sparse.csr_array((hours, n)),
                ]
            ),
            1.1 * demand,
            np.inf,
        ),
    ]
    steps = np.repeat(ramp, hours - 1)
    l = [np.broadcast_to(-steps if low is None else low, (rows.shape[0],)) for rows, low, _ in blocks]
    u = [np.broadcast_to(steps if high is None else high, (rows.shape[0],)) for rows, _, high in blocks]
    return Program(
        P=sparse.diags_array(np.concatenate([2 * per_hour(slope), np.zeros(2 * n)])),
        q=np.concatenate([per_hour(fuel), per_hour(idle), per_hour(start)]),
        A=sparse.vstack([rows for rows, _, _ in blocks]).tocsc(),
        l=np.concatenate(l),
        u=np.concatenate(u),
        lb=0,
        ub=np.concatenate([np.full(n, np.inf), np.ones(2 * n)]),
    )


def stochastic_lp(scenarios: int, *, alike: bool) -> Program:
    """Capacities now, production when demand is known; alike: scenarios are drawn from 20 observed days."""
    random = np.random.default_rng(13)
    plants, products = 6, 8
    observed = random.uniform(5, 20, (20 if alike else scenarios, products))
    demand = (observed.round(1)[random.integers(0, 20, scenarios)] if alike else observed) / products
    price, cost = random.uniform(4, 8, plants).round(1), random.uniform(1, 3, (plants, products)).round(1)
    # Variables: capacities; then production[p, j] and shortage[j] for each scenario.
    second = plants * products + products
    capacity = np.hstack([np.kron(np.eye(plants), np.ones((1, products))), np.zeros((plants, products))])
    meet = np.hstack([np.kron(np.ones((1, plants)), np.eye(products)), np.eye(products)])
    every = sparse.eye_array(scenarios)
    A = sparse.vstack(
        [
            sparse.hstack([sparse.kron(np.ones((scenarios, 1)), -np.eye(plants)), sparse.kron(every, capacity)]),
            sparse.hstack([sparse.csr_array((scenarios * products, plants)), sparse.kron(every, meet)]),
        ]
    ).tocsc()
    q = np.concatenate([price, np.tile(np.concatenate([cost.ravel(), np.full(products, 25.0)]), scenarios) / scenarios])
    l = np.concatenate([np.full(scenarios * plants, -np.inf), demand.ravel()])
    u = np.concatenate([np.zeros(scenarios * plants), np.full(scenarios * products, np.inf)])
    assert A.shape[1] == plants + scenarios * second
    return Program(q=q, A=A, l=l, u=u, lb=0)


def machine_repair(k: int) -> Program:
    """Linear program of a Markov decision process: k machines, each up or down, one repair at a time."""
    states = np.arange(2**k)
    up = ((states[:, None] >> np.arange(k)) & 1).astype(bool)
    n_up = up.sum(axis=1)
    rows, columns, data, rhs = [], [], [], []
    discount, failure, row = 0.95, 0.1, 0
    for state in states:
        for action in range(-1, k):
            if action >= 0 and up[state, action]:
                continue
            # With probability `failure` one random working machine fails; the repaired machine comes up.
            after = state | (1 << action) if action >= 0 else state
            targets = {int(after): 1.0}
            working = [i for i in range(k) if (after >> i) & 1]
            if working:
                targets = {int(after): 1.0 - failure} | {
                    int(after & ~(1 << i)): failure / len(working) for i in working
                }
            rows.append(row)
            columns.append(int(state))
            data.append(1.0)
            for target, probability in targets.items():
                rows.append(row)
                columns.append(target)
                data.append(-discount * probability)
            rhs.append(float(n_up[state]) - (0.5 if action >= 0 else 0.0))
            row += 1
    A = sparse.coo_array((data, (rows, columns)), shape=(row, states.size)).tocsc()
    A.sum_duplicates()
    return Program(q=np.ones(states.size), A=A, l=np.array(rhs))


def robust_supply(suppliers: int, *, alike: bool) -> Program:
    """Orders that meet the demand for 10 products with high probability, one cone for each; alike: 12 kinds."""
    random = np.random.default_rng(14)
    products = 10
    kind = kinds(random, suppliers, 12, alike)
    many = int(kind.max()) + 1
    share, spread = random.uniform(0.2, 1, (products, many)), random.uniform(0.05, 0.3, (products, many))
    if alike:
        share, spread = share.round(2), spread.round(2)
    share, spread = share[:, kind], spread[:, kind]
    price, limit = values(random, kind, 1, 4, alike), values(random, kind, 1, 3, alike)
    demand = np.full(products, 0.25 * limit.sum() * share.mean())
    blocks, right = [], []
    for k in range(products):
        # share'x - 1.65 |spread x| >= demand
        blocks += [-sparse.csr_array(share[k][None]), -1.65 * sparse.diags_array(spread[k])]
        right += [np.array([-demand[k]]), np.zeros(suppliers)]
    cones = ConicRows(sparse.vstack(blocks).tocsr(), np.concatenate(right), [SecondOrder(suppliers + 1)] * products)
    return Program(q=price, lb=0, ub=limit, conic=cones)


FAMILIES = (
    Family("charging fleet", "operations", "QP", charging_fleet, (1000,), True),
    Family("assignment by skills", "operations", "LP", partial(assignment, alike=True), (200,), True),
    Family("assignment", "operations", "LP", partial(assignment, alike=False), (200,), False),
    Family("transport", "operations", "LP", partial(transport, alike=True), (200,), True),
    Family("transport, all different", "operations", "LP", partial(transport, alike=False), (200,), False),
    Family("covering design", "operations", "LP", covering_design, (13,), True),
    Family("identical commodities", "operations", "LP", partial(multi_commodity_flow, alike=True), (500,), True),
    Family("multi-commodity flow", "operations", "LP", partial(multi_commodity_flow, alike=False), (150,), False),
    Family("identical units", "operations", "QP", partial(unit_commitment, alike=True), (500,), True),
    Family("unit commitment", "operations", "QP", partial(unit_commitment, alike=False), (100,), False),
    Family("repeated scenarios", "operations", "LP", partial(stochastic_lp, alike=True), (1000,), True),
    Family("stochastic LP", "operations", "LP", partial(stochastic_lp, alike=False), (300,), False),
    Family("machine repair MDP", "operations", "LP", machine_repair, (10,), True),
    Family("robust supply by kinds", "operations", "SOCP", partial(robust_supply, alike=True), (2000,), True),
    Family("robust supply", "operations", "SOCP", partial(robust_supply, alike=False), (1000,), False),
)
