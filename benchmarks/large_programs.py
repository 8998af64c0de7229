"""Large programs as users write them, for :mod:`benchmarks.pairs`: no constant was chosen by what they take."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from relift.arrays import Vector
from relift.program.cones import Power, SecondOrder
from relift.program.conic_rows import ConicRows
from relift.program.program import Program


def time_expanded(size: int) -> Program:
    """Flows through a random network over 24 periods, with storage from each period to the next; real numbers."""
    random, periods = np.random.default_rng(1), 24
    arcs = max(size // (3 * periods), 4)
    nodes = max(arcs // 4, 2)
    tail, head = random.integers(nodes, size=arcs), random.integers(nodes, size=arcs)
    columns = np.arange(arcs)
    incidence = sparse.coo_array(
        (np.r_[-np.ones(arcs), random.uniform(0.9, 1.0, arcs)], (np.r_[tail, head], np.r_[columns, columns])),
        shape=(nodes, arcs),
    )
    flow = sparse.kron(sparse.eye_array(periods), incidence)
    keep = sparse.kron(sparse.eye_array(periods, k=-1) - sparse.eye_array(periods), sparse.eye_array(nodes))
    A = sparse.csc_array(sparse.hstack([flow, keep]))
    n, need = A.shape[1], random.uniform(0, 1, A.shape[0])
    return Program(q=random.uniform(1, 2, n), A=A, l=-need, u=need, lb=0, ub=random.uniform(5, 9, n))


def grid_copies(size: int) -> Program:
    """Copies of one power grid with 373 values that share a limit."""
    random, copies = np.random.default_rng(2), max(size // 4000, 2)
    values = random.uniform(0.1, 2, 373).round(4)
    block = sparse.random_array(
        (400, 600), density=0.015, rng=random, data_sampler=lambda size: random.choice(values, size)
    )
    A = sparse.vstack([sparse.kron(sparse.eye_array(copies), block), np.ones((1, 600 * copies))])
    n = A.shape[1]
    cost = np.tile(random.choice(values, 600), copies)
    return Program(None, cost, sparse.csc_array(A), np.r_[np.ones(A.shape[0] - 1), 1.0], None, 0, np.full(n, 9.0))


def r_mat(size: int) -> Program:
    """A cover of the edges of an R-MAT graph: few vertices have most of them."""
    random = np.random.default_rng(3)
    edges, bits = max(size // 2, 4), max(int(np.log2(size)) - 3, 2)
    ends = np.zeros((2, edges), np.int64)
    for bit in range(bits):
        quarter = random.choice(4, edges, p=[0.57, 0.19, 0.19, 0.05])
        ends += np.stack([quarter >> 1, quarter & 1]) << bit
    rows = np.r_[np.arange(edges), np.arange(edges)]
    A = sparse.csr_array((np.ones(2 * edges), (rows, ends.ravel())), shape=(edges, 1 << bits))
    return Program(q=np.ones(1 << bits), A=A, l=np.ones(edges), lb=0, ub=1)


def heavy_rows(size: int) -> Program:
    """A few rows of tens of thousands of entries over many short ones."""
    random = np.random.default_rng(4)
    n, heavy = max(size // 6, 10), 4
    long = sparse.csr_array(random.uniform(1, 2, (heavy, n)).round(3))
    short = sparse.eye_array(n - 1, n) - sparse.eye_array(n - 1, n, k=1)
    A = sparse.csr_array(sparse.vstack([long, short]))
    return Program(q=random.uniform(0, 1, n), A=A, l=np.r_[np.ones(heavy), np.full(n - 1, -1.0)], lb=0, ub=3)


def dense_portfolio(size: int) -> Program:
    """A dense covariance matrix, a budget and bounds."""
    random = np.random.default_rng(5)
    n = max(int(np.sqrt(size)), 3)
    F = random.normal(size=(n, 8))
    return Program(F @ F.T + np.diag(random.uniform(1, 2, n)), random.normal(size=n), np.ones((1, n)), 1.0, 1.0, 0, 1)


def fixed_and_single(size: int) -> Program:
    """A sparse program of which a hundredth of the variables is fixed and a hundredth of the rows are bounds."""
    random = np.random.default_rng(6)
    n = max(size // 4, 20)
    m = n // 2
    A = sparse.random_array((m, n), density=min(8 / n, 1.0), rng=random, format="csc")
    single = sparse.csr_array(
        (np.ones(m // 100 + 1), (np.arange(m // 100 + 1), np.arange(m // 100 + 1))), shape=(m // 100 + 1, n)
    )
    A = sparse.csc_array(sparse.vstack([A, single]))
    ub = np.where(random.random(n) < 0.01, 0.0, 4.0)
    return Program(q=random.uniform(0, 1, n), A=A, l=-1.0, u=np.full(A.shape[0], 9.0), lb=0, ub=ub)


def staircase(size: int) -> Program:
    """Periods that hand their stock to the next: the same small random program in each, and the same costs."""
    random = np.random.default_rng(11)
    n, m, per_column = 20, 20, 4
    periods = max(size // (2 * n * per_column), 2)

    def block(values: Vector) -> sparse.csr_array:
        rows = np.concatenate([random.permutation(m)[:per_column] for _ in range(n)])
        return sparse.csr_array((values, (rows, np.repeat(np.arange(n), per_column))), shape=(m, n))

    own, coming = block(random.choice([1.0, 2, 3, 5, 8], n * per_column)), block(np.full(n * per_column, -1.0))
    A = sparse.kron(sparse.eye_array(periods), own) + sparse.kron(sparse.eye_array(periods, k=-1), coming)
    cost = np.tile(random.integers(1, 9, n), periods)
    return Program(q=cost, A=sparse.csr_array(A), l=1.0, lb=0, ub=10)


def scenarios(size: int, n_kinds: int | None) -> Program:
    """One plan for today, and for each scenario one that answers it."""
    random = np.random.default_rng(12)
    n_first, n_second, m = 30, 40, 30
    T = sparse.random_array((m, n_first), density=0.1, rng=random).toarray().round(2)
    W = sparse.random_array((m, n_second), density=0.15, rng=random).toarray().round(2) + np.eye(m, n_second)
    per_scenario = int(np.count_nonzero(T) + np.count_nonzero(W))
    count = max(size // per_scenario, 2)
    kinds = np.arange(count) if n_kinds is None else random.integers(n_kinds, size=count)
    needs = random.uniform(1, 5, (kinds.max() + 1, m)).round(3)
    prices = random.uniform(1, 2, n_second).round(2)
    first = sparse.kron(np.ones((count, 1)), sparse.csr_array(T))
    A = sparse.hstack([first, sparse.kron(sparse.eye_array(count), sparse.csr_array(W))])
    q = np.r_[random.uniform(1, 2, n_first).round(2), np.tile(prices / count, count)]
    return Program(q=q, A=sparse.csr_array(A), l=needs[kinds].ravel(), lb=0)


def inventory(size: int) -> Program:
    """What to make and to keep of many goods in 52 weeks, with shared machines."""
    random, weeks, machines = np.random.default_rng(13), 52, 5
    goods = max(size // (weeks * 5), 2)
    make, keep = sparse.eye_array(weeks), sparse.eye_array(weeks, k=-1) - sparse.eye_array(weeks)
    balance = sparse.kron(sparse.eye_array(goods), sparse.hstack([make, keep]))
    machine, hours = random.integers(machines, size=goods), random.uniform(0.1, 2, goods).round(2)
    use = sparse.csr_array((hours, (machine, np.arange(goods))), shape=(machines, goods))
    capacity = sparse.kron(use, sparse.hstack([sparse.eye_array(weeks), sparse.csr_array((weeks, weeks))]))
    A = sparse.csr_array(sparse.vstack([balance, capacity]))
    need = random.integers(0, 20, goods * weeks).astype(float)
    price = np.repeat(random.uniform(1, 9, (goods, 2)).round(2), weeks, axis=1).ravel()
    room = np.full(machines * weeks, 12.0 * goods)
    return Program(
        q=price, A=A, l=np.r_[need, np.full(room.size, -np.inf)], u=np.r_[np.full(need.size, np.inf), room], lb=0
    )


def linear_svm(size: int) -> Program:
    """The primal of a linear support vector machine on sparse texts."""
    random, words = np.random.default_rng(14), 2000
    n = max(size // 42, 4)
    X = sparse.random_array((n, words), density=40 / words, rng=random, format="csr")
    X.data = X.data.round(4)
    y = random.choice([-1.0, 1.0], n)
    A = sparse.hstack([sparse.diags_array(y) @ X, y[:, None], sparse.eye_array(n)])
    P = sparse.diags_array(np.r_[np.ones(words), np.zeros(n + 1)])
    q = np.r_[np.zeros(words + 1), np.ones(n)]
    lb = np.r_[np.full(words + 1, -np.inf), np.zeros(n)]
    return Program(P, q, sparse.csr_array(A), np.ones(n), None, lb)


def norms(size: int) -> Program:
    """The sum of many norms of five measured residuals each, of sparse unknowns."""
    random = np.random.default_rng(15)
    groups = max(size // 26, 2)
    n = max(groups // 2, 8)
    F = sparse.random_array((5 * groups, n), density=min(5 / n, 1.0), rng=random, format="csr")
    b = random.normal(size=5 * groups)
    places = np.arange(6 * groups).reshape(groups, 6)
    heads = sparse.csr_array((-np.ones(groups), (places[:, 0], np.arange(groups))), shape=(6 * groups, groups))
    tails = sparse.csr_array((np.ones(5 * groups), (places[:, 1:].ravel(), np.arange(5 * groups))),
                             shape=(6 * groups, 5 * groups))  # fmt: skip
    G = sparse.hstack([tails @ F, heads])
    h = np.zeros(6 * groups)
    h[places[:, 1:].ravel()] = b
    q = np.r_[np.zeros(n), np.ones(groups)]
    return Program(q=q, conic=ConicRows(sparse.csr_array(G), h, [SecondOrder(6)] * groups))


def sparse_quadratic(size: int) -> Program:
    """A quadratic program with a sparse matrix P, free variables and measured numbers."""
    random = np.random.default_rng(16)
    n = max(size // 12, 8)
    R = sparse.random_array((n, n), density=min(2 / n, 1.0), rng=random, format="csr")
    P = sparse.csc_array(R.T @ R + sparse.eye_array(n))
    A = sparse.random_array((n // 2, n), density=min(8 / n, 1.0), rng=random, format="csr")
    return Program(P, random.normal(size=n), A, -1.0, 1.0)


def transport(size: int) -> Program:
    """Goods from plants to customers at rounded prices of the distance."""
    random = np.random.default_rng(17)
    plants = 50
    customers = max(size // (2 * plants), 2)
    A = sparse.vstack([
        sparse.kron(sparse.eye_array(plants), np.ones((1, customers))),
        sparse.kron(np.ones((1, plants)), sparse.eye_array(customers)),
    ])  # fmt: skip
    place, other = random.uniform(0, 1, (plants, 1, 2)), random.uniform(0, 1, (1, customers, 2))
    price = np.linalg.norm(place - other, axis=2).ravel().round(2)
    need = random.integers(1, 50, customers).astype(float)
    most = np.full(plants, np.ceil(2 * need.sum() / plants))
    l, u = np.r_[np.full(plants, -np.inf), need], np.r_[most, np.full(customers, np.inf)]
    return Program(q=price, A=sparse.csr_array(A), l=l, u=u, lb=0)


def unit_commitment(size: int) -> Program:
    """Plants of some kinds, measured limits and ramps, over 168 hours of one load."""
    random, hours = np.random.default_rng(18), 168
    plants = max(size // (hours * 7), 2)
    kind = random.integers(12, size=plants)
    most = random.uniform(50, 400, 12).round(1)[kind]
    ramp, price = (0.3 * most).round(1), random.uniform(10, 60, 12).round(2)[kind]
    eye, step = sparse.eye_array(hours), sparse.eye_array(hours - 1, hours, k=1) - sparse.eye_array(hours - 1, hours)
    none = sparse.csr_array((hours - 1, hours))
    of_plant = [sparse.vstack([sparse.hstack([eye, -each * eye]), sparse.hstack([step, none])]) for each in most]
    load = sparse.kron(np.ones((1, plants)), sparse.hstack([eye, sparse.csr_array((hours, hours))]))
    A = sparse.csr_array(sparse.vstack([sparse.block_diag(of_plant), load]))
    need = random.uniform(0.4, 0.8, hours).round(3) * most.sum()
    free = np.full(hours, -np.inf)
    l = np.concatenate([*(np.r_[free, np.full(hours - 1, -each)] for each in ramp), need])
    u = np.concatenate([*(np.r_[np.zeros(hours), np.full(hours - 1, each)] for each in ramp), np.full(hours, np.inf)])
    q = np.concatenate([np.r_[np.full(hours, each), np.full(hours, 100.0)] for each in price])
    ub = np.concatenate([np.r_[np.full(hours, each), np.ones(hours)] for each in most])
    return Program(q=q, A=A, l=l, u=u, lb=0, ub=ub)


def noisy_image(size: int) -> Program:
    """An image with measured grey values, made smooth by absolute differences."""
    random = np.random.default_rng(19)
    side = max(int(np.sqrt(size / 9)), 3)
    line = sparse.eye_array(side - 1, side, k=1) - sparse.eye_array(side - 1, side)
    D = sparse.vstack([sparse.kron(sparse.eye_array(side), line), sparse.kron(line, sparse.eye_array(side))])
    n, m = side * side, D.shape[0]
    A = sparse.vstack([
        sparse.hstack([D, -sparse.eye_array(m), sparse.csr_array((m, n))]),
        sparse.hstack([D, sparse.eye_array(m), sparse.csr_array((m, n))]),
        sparse.hstack([sparse.eye_array(n), sparse.csr_array((n, m)), -sparse.eye_array(n)]),
        sparse.hstack([sparse.eye_array(n), sparse.csr_array((n, m)), sparse.eye_array(n)]),
    ])  # fmt: skip
    grey = random.integers(0, 256, n).astype(float)
    none = np.full(m, np.inf)
    l = np.r_[-none, np.zeros(m), np.full(n, -np.inf), grey]
    u = np.r_[np.zeros(m), none, grey, np.full(n, np.inf)]
    q = np.r_[np.zeros(n), np.full(m, 2.0), np.ones(n)]
    return Program(q=q, A=sparse.csr_array(A), l=l, u=u, lb=np.r_[np.full(n, -np.inf), np.zeros(m + n)])


def power_flow(size: int) -> Program:
    """Direct-current power flow in a measured network over 24 hours of one load: flows, angles and plants."""
    random, hours = np.random.default_rng(21), 24
    lines = max(size // (9 * hours), 6)
    buses = max(2 * lines // 3, 4)
    plants = max(buses // 4, 2)
    tail, head = random.integers(buses, size=lines), random.integers(buses, size=lines)
    head = np.where(head == tail, (head + 1) % buses, head)
    ends, every = np.r_[tail, head], np.tile(np.arange(lines), 2)
    incidence = sparse.csr_array((np.repeat([1.0, -1.0], lines), (ends, every)), shape=(buses, lines))
    place = random.integers(buses, size=plants)
    made = sparse.csr_array((np.ones(plants), (place, np.arange(plants))), shape=(buses, plants))
    reactance = sparse.diags_array(random.uniform(0.01, 0.2, lines).round(4))
    A = sparse.kron(
        sparse.eye_array(hours), sparse.block_array([[-incidence, None, made], [reactance, -incidence.T, None]])
    )
    load, shape = random.uniform(0, 50, buses).round(1), random.uniform(0.6, 1.0, hours).round(3)
    l = np.concatenate([np.r_[load * part, np.zeros(lines)] for part in shape])
    most, of_plants = random.uniform(50, 400, lines).round(), random.uniform(100, 900, plants).round(1)
    free = np.full(buses, np.inf)
    lb, ub = np.r_[-most, -free, np.zeros(plants)], np.r_[most, free, of_plants]
    q = np.r_[np.zeros(lines + buses), random.uniform(10, 80, plants).round(2)]
    return Program(q=np.tile(q, hours), A=sparse.csr_array(A), l=l, u=l, lb=np.tile(lb, hours), ub=np.tile(ub, hours))


def storages(size: int) -> Program:
    """Batteries of measured sizes at one price over 96 quarters of an hour, behind one connection."""
    random, steps = np.random.default_rng(22), 96
    count = max(size // (6 * steps), 2)
    eye, nothing = sparse.eye_array(steps), sparse.csr_array((steps, steps))
    own = sparse.hstack([0.95 * eye, -eye / 0.95, sparse.eye_array(steps, k=-1) - eye])
    shared = sparse.kron(np.ones((1, count)), sparse.hstack([-eye, eye, nothing]))
    A = sparse.csr_array(sparse.vstack([sparse.kron(sparse.eye_array(count), own), shared]))
    energy = random.uniform(5, 50, count).round(2)
    power, price = (energy / 4).round(3), random.normal(40, 10, steps).round(2)
    most = np.r_[np.zeros(count * steps), np.full(steps, 0.5 * power.sum())]
    ub = np.concatenate([np.repeat([p, p, e], steps) for p, e in zip(power, energy, strict=True)])
    return Program(q=np.tile(np.r_[price, -price, 0 * price], count), A=A, l=-most, u=most, lb=0, ub=ub)


def routing(size: int) -> Program:
    """The relaxation of a tour through measured places, with the order of the places (Miller, Tucker, Zemlin)."""
    random = np.random.default_rng(23)
    n = max(int(np.sqrt(size / 5)), 4)
    tail, head = np.nonzero(~np.eye(n, dtype=bool))
    arcs, ones = np.arange(tail.size), np.ones(tail.size)
    out, into = (sparse.csr_array((ones, (ends, arcs)), shape=(n, tail.size)) for ends in (tail, head))
    A = sparse.block_array([[out, None], [into, None], [n * sparse.eye_array(tail.size), (out - into).T]], format="csr")
    places = random.uniform(0, 100, (n, 2))
    distance = np.linalg.norm(places[tail] - places[head], axis=1).round(3)
    l, u = np.r_[np.ones(2 * n), np.full(tail.size, -np.inf)], np.r_[np.ones(2 * n), np.full(tail.size, n - 1.0)]
    return Program(q=np.r_[distance, np.zeros(n)], A=A, l=l, u=u, lb=0, ub=np.r_[ones, np.full(n, n - 1.0)])


def tree_flows(size: int) -> Program:
    """Flows from the root of a random tree to demands of one unit: presolve follows chains of leaves."""
    random = np.random.default_rng(24)
    n = max(size // 2, 7)
    parent = (random.random(n - 1) * np.arange(1, n)).astype(np.int64)
    ends, arcs = np.r_[np.arange(1, n), parent], np.tile(np.arange(n - 1), 2)
    A = sparse.csc_array((np.repeat([1.0, -1.0], n - 1), (ends, arcs)), shape=(n, n - 1))
    need = np.r_[1.0 - n, np.ones(n - 1)]
    return Program(q=np.ones(n - 1), A=A, l=need, u=need, lb=0, ub=10.0 * n)


def grid_flow(size: int) -> Program:
    """The largest flow through a grid of whole capacities, from one corner to the other."""
    random = np.random.default_rng(25)
    side = max(int(np.sqrt(size / 4)), 3)
    at = np.arange(side * side).reshape(side, side)
    tail, head = np.r_[at[:, :-1].ravel(), at[:-1].ravel()], np.r_[at[:, 1:].ravel(), at[1:].ravel()]
    ends, arcs = np.r_[tail, head, at[-1, -1], 0], np.r_[np.tile(np.arange(tail.size), 2), tail.size, tail.size]
    values = np.r_[np.repeat([1.0, -1.0], tail.size), 1.0, -1.0]
    A = sparse.csc_array((values, (ends, arcs)), shape=(at.size, tail.size + 1))
    most = np.r_[random.integers(1, 10, tail.size), np.inf]
    return Program(q=np.r_[np.zeros(tail.size), -1.0], A=A, l=0, u=0, lb=0, ub=most)


def random_flow(size: int) -> Program:
    """Flows through a random network at five costs and three capacities: a few arcs are equivalent by chance."""
    random = np.random.default_rng(26)
    n_arcs = max(size // 2, 6)
    nodes = max(n_arcs // 5, 4)
    tail = random.integers(nodes, size=n_arcs)
    head = (tail + random.integers(1, nodes, n_arcs)) % nodes
    ends, arcs = np.r_[tail, head], np.tile(np.arange(n_arcs), 2)
    A = sparse.csc_array((np.repeat([1.0, -1.0], n_arcs), (ends, arcs)), shape=(nodes, n_arcs))
    need = np.zeros(nodes)
    pairs = random.permutation(nodes)[: nodes // 20 * 2].reshape(-1, 2)
    need[pairs[:, 0]], need[pairs[:, 1]] = 5.0, -5.0
    cost, most = random.integers(1, 6, n_arcs).astype(float), random.choice([5.0, 10.0, 20.0], n_arcs)
    return Program(q=cost, A=A, l=need, u=need, lb=0, ub=most)


def predictive_control(size: int) -> Program:
    """The same plant controlled over 30 steps from many measured states: numbers wake along the horizon."""
    random, n_states, n_inputs, steps = np.random.default_rng(27), 6, 2, 30
    own = (np.eye(n_states) + 0.1 * random.normal(size=(n_states, n_states))).round(3)
    moved = random.normal(size=(n_states, n_inputs)).round(3)
    eye, before = sparse.eye_array(steps), sparse.eye_array(steps, k=-1)
    block = sparse.hstack([sparse.eye_array(n_states * steps) - sparse.kron(before, own), -sparse.kron(eye, moved)])
    count = max(size // block.nnz, 2)
    start = np.zeros((count, n_states * steps))
    start[:, :n_states] = random.normal(size=(count, n_states)).round(3)
    weights = np.tile(np.repeat([1.0, 0.1], [n_states * steps, n_inputs * steps]), count)
    limit = np.tile(np.repeat([5.0, 1.0], [n_states * steps, n_inputs * steps]), count)
    A, l = sparse.csr_array(sparse.kron(sparse.eye_array(count), block)), start.ravel()
    return Program(sparse.diags_array(weights), np.zeros(weights.size), A, l, l, -limit, limit)


def power_cones(size: int) -> Program:
    """Geometric means of two under a random budget."""
    random = np.random.default_rng(28)
    count = max(size // 10, 3)
    n, m = 3 * count, count // 2
    A = sparse.random_array((m, n), density=min(14 / n, 1.0), rng=random, format="csr")
    cones = ConicRows(-sparse.eye_array(n, format="csr"), np.zeros(n), [Power(0.5)] * count)
    return Program(q=np.tile([1.0, 1.0, -1.0], count), A=A, u=random.uniform(1, 2, m), lb=0, conic=cones)


FAMILIES: dict[str, Callable[[int], Program]] = {
    "time-expanded network": time_expanded,
    "copies of a power grid": grid_copies,
    "R-MAT cover": r_mat,
    "heavy rows": heavy_rows,
    "dense portfolio": dense_portfolio,
    "fixed variables and single rows": fixed_and_single,
}
"""Those that the figures of earlier versions are of."""

MORE_FAMILIES: dict[str, Callable[[int], Program]] = {
    "staircase of equal periods": staircase,
    "scenarios of fifty kinds": lambda size: scenarios(size, 50),
    "scenarios that all differ": lambda size: scenarios(size, None),
    "inventory over 52 weeks": inventory,
    "linear SVM": linear_svm,
    "norms of residuals": norms,
    "sparse quadratic": sparse_quadratic,
    "transport": transport,
    "unit commitment": unit_commitment,
    "noisy image": noisy_image,
}

TELLING_FAMILIES: dict[str, Callable[[int], Program]] = {
    "power flow over 24 hours": power_flow,
    "batteries at one price": storages,
    "routing relaxation": routing,
    "flows through a tree": tree_flows,
    "largest flow in a grid": grid_flow,
    "flow at five costs": random_flow,
    "predictive control": predictive_control,
    "power cones": power_cones,
}
"""Those that tell most of ninety others: what they take is far from the aims."""
