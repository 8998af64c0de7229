"""Families on which the choice of a solver is measured, beside those of the table of ground against lifted.

Nothing in most of them is alike, so that lifting takes no part in what is measured.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from benchmarks.families.family import Family
from relift.program.program import Program


def _second(k: int) -> sparse.sparray:
    return sparse.diags_array([-np.ones(k - 1), 2 * np.ones(k), -np.ones(k - 1)], offsets=[-1, 0, 1])


def _differences(k: int) -> sparse.sparray:
    """Differences of neighbours on a k x k grid."""
    step = sparse.diags_array([-np.ones(k - 1), np.ones(k - 1)], offsets=[0, 1], shape=(k - 1, k))
    eye = sparse.eye_array(k)
    return sparse.vstack([sparse.kron(step, eye), sparse.kron(eye, step)]).tocsr()


def membrane(k: int) -> Program:
    """A loaded membrane over random obstacles on a k x k grid."""
    random, eye = np.random.default_rng(31), sparse.eye_array(k)
    P = sparse.kron(_second(k), eye) + sparse.kron(eye, _second(k))
    return Program(P=sparse.csc_array(P), q=random.uniform(0, 0.01, k * k), lb=random.uniform(-1, 0.2, k * k), ub=2.0)


def heat(k: int) -> Program:
    """A stationary temperature on a k x k x k grid with random sources, between bounds, nearly insulated."""
    random, eye, kron = np.random.default_rng(32), sparse.eye_array(k), sparse.kron
    second = _second(k)
    P = kron(kron(second, eye), eye) + kron(kron(eye, second), eye) + kron(kron(eye, eye), second)
    return Program(P=sparse.csc_array(P), q=random.standard_normal(k**3), lb=-1.0, ub=1.0)


def mass_spring(horizon: int) -> Program:
    """Predictive control of ten masses between springs; forces on each second one, all states bounded."""
    random, masses = np.random.default_rng(33), 10
    n, inputs, dt = 2 * masses, masses // 2, 0.3
    K = _second(masses).toarray()
    F = np.eye(n) + dt * np.block([[np.zeros((masses, masses)), np.eye(masses)], [-K, -0.05 * np.eye(masses)]])
    F[:masses] += dt * dt * np.hstack([-K, np.zeros((masses, masses))])
    G = np.zeros((n, inputs))
    G[masses + 2 * np.arange(inputs), np.arange(inputs)] = dt
    dynamics = sparse.hstack(
        [
            sparse.eye_array(horizon * n) - sparse.kron(sparse.eye_array(horizon, k=-1), F),
            -sparse.kron(sparse.eye_array(horizon), G),
        ]
    ).tocsc()
    start = np.concatenate([F @ random.uniform(-1, 1, n), np.zeros((horizon - 1) * n)])
    bound = np.concatenate([np.full(horizon * n, 4.0), np.full(horizon * inputs, 0.5)])
    weight = np.concatenate([np.ones(horizon * n), np.full(horizon * inputs, 0.1)])
    return Program(
        P=sparse.diags_array(weight), q=np.zeros(weight.size), A=dynamics, l=start, u=start, lb=-bound, ub=bound
    )


def large_control(horizon: int) -> Program:
    """Predictive control of 40 coupled states by 12 inputs: blocks are dense."""
    random, states, inputs = np.random.default_rng(34), 40, 12
    F = np.eye(states) + 0.05 * random.standard_normal((states, states))
    F *= 0.98 / np.abs(np.linalg.eigvals(F)).max()
    G = random.standard_normal((states, inputs))
    dynamics = sparse.hstack(
        [
            sparse.eye_array(horizon * states) - sparse.kron(sparse.eye_array(horizon, k=-1), F),
            -sparse.kron(sparse.eye_array(horizon), G),
        ]
    ).tocsc()
    start = np.concatenate([F @ random.standard_normal(states), np.zeros((horizon - 1) * states)])
    weight = np.concatenate([np.tile(random.uniform(0, 10, states), horizon), np.full(horizon * inputs, 0.1)])
    bound = np.concatenate([np.full(horizon * states, np.inf), np.full(horizon * inputs, 0.2)])
    return Program(
        P=sparse.diags_array(weight), q=np.zeros(weight.size), A=dynamics, l=start, u=start, lb=-bound, ub=bound
    )


def factor_portfolio(n: int) -> Program:
    """Mean-variance portfolio with n / 50 factors, no short sales."""
    random, k = np.random.default_rng(35), n // 50
    F = sparse.random_array((n, k), density=0.5, rng=random, data_sampler=random.standard_normal)
    own = random.uniform(0, 1, n) * np.sqrt(k)
    A = sparse.vstack(
        [
            sparse.hstack([F.T, -sparse.eye_array(k)]),
            sparse.csr_array(np.r_[np.ones(n), np.zeros(k)][None]),
        ]
    ).tocsc()
    b = np.r_[np.zeros(k), 1.0]
    lb = np.r_[np.zeros(n), np.full(k, -np.inf)]
    q = np.r_[-random.standard_normal(n), np.zeros(k)]
    return Program(P=sparse.diags_array(np.r_[own, np.ones(k)]), q=q, A=A, l=b, u=b, lb=lb)


def dense_box(n: int) -> Program:
    """Least squares with a dense matrix between bounds."""
    random = np.random.default_rng(36)
    B = random.standard_normal((2 * n, n))
    return Program(P=B.T @ B / n, q=-B.T @ random.standard_normal(2 * n) / n, lb=-0.1, ub=0.1, assume_convex=True)


def nonnegative_squares(n: int) -> Program:
    """Nonnegative least squares on sparse rows, with the residuals as variables."""
    random, m = np.random.default_rng(37), 2 * n
    B = sparse.random_array((m, n), density=5 / n, rng=random, data_sampler=random.standard_normal)
    y = B @ np.maximum(random.standard_normal(n), 0) + 0.1 * random.standard_normal(m)
    P = sparse.diags_array(np.r_[np.full(n, 1e-3), np.ones(m)])
    A = sparse.hstack([B, -sparse.eye_array(m)]).tocsc()
    return Program(P=P, q=np.zeros(n + m), A=A, l=y, u=y, lb=np.r_[np.zeros(n), np.full(m, -np.inf)])


def network_flow(nodes: int) -> Program:
    """Flows through a random network of six arcs to a node, with quadratic costs and capacities."""
    random, e = np.random.default_rng(38), 6 * nodes
    start, end = random.integers(0, nodes, e), random.integers(0, nodes, e)
    keep = start != end
    start, end = start[keep], end[keep]
    e = start.size
    A = sparse.coo_array(
        (np.repeat([-1.0, 1.0], e), (np.concatenate([start, end]), np.tile(np.arange(e), 2))), shape=(nodes, e)
    ).tocsc()
    capacity = random.uniform(1, 4, e)
    need = A @ (capacity * random.uniform(0, 0.6, e))
    return Program(
        P=sparse.diags_array(random.uniform(0.1, 2, e)), q=random.uniform(0, 2, e), A=A, l=need, u=need, lb=0,
        ub=capacity,
    )  # fmt: skip


def total_variation(k: int) -> Program:
    """An image of k x k noisy pixels made smooth: squares of errors and absolute differences of neighbours."""
    random, D = np.random.default_rng(39), _differences(k)
    place = np.arange(k)
    clean = ((place[:, None] > k / 3) ^ (place[None] > k / 2)).astype(float).ravel()
    y = clean + 0.2 * random.standard_normal(k * k)
    e, eye = D.shape[0], sparse.eye_array(D.shape[0])
    A = sparse.vstack([sparse.hstack([D, -eye]), sparse.hstack([-D, -eye])]).tocsc()
    P = sparse.diags_array(np.r_[np.ones(k * k), np.zeros(e)])
    return Program(P=P, q=np.r_[-y, np.full(e, 0.15)], A=A, u=0.0)


def huber(n: int) -> Program:
    """Huber fitting of n coefficients to 10 n sparse rows with outliers."""
    random, m = np.random.default_rng(40), 10 * n
    X = sparse.random_array((m, n), density=0.15, rng=random, data_sampler=random.standard_normal)
    error = np.where(random.random(m) < 0.05, random.uniform(0, 10, m), 0.25 * random.standard_normal(m))
    y = X @ (random.standard_normal(n) / np.sqrt(n)) + error
    eye = sparse.eye_array(m)
    # Variables: coefficients, the quadratic part of a residual, and what is beyond it on either side.
    A = sparse.hstack([X, -eye, -eye, eye]).tocsc()
    P = sparse.diags_array(np.r_[np.zeros(n), np.full(m, 2.0), np.zeros(2 * m)])
    q = np.r_[np.zeros(n + m), np.full(2 * m, 2.0)]
    lb = np.r_[np.full(n + m, -np.inf), np.zeros(2 * m)]
    return Program(P=P, q=q, A=A, l=y, u=y, lb=lb)


def heat_control(k: int) -> Program:
    """Sources between bounds that bring the temperature of a k x k grid near to a goal."""
    random, n, eye = np.random.default_rng(41), k * k, sparse.eye_array(k)
    L = sparse.kron(_second(k), eye) + sparse.kron(eye, _second(k))
    place = np.linspace(0, 3, k)
    goal = (np.sin(place)[:, None] * np.cos(2 * place)[None]).ravel() + 0.05 * random.standard_normal(n)
    P = sparse.diags_array(np.r_[np.ones(n), np.full(n, 0.01)])
    A = sparse.hstack([L, -sparse.eye_array(n)]).tocsc()
    bound = np.r_[np.full(n, np.inf), np.ones(n)]
    return Program(P=P, q=np.r_[-goal, np.zeros(n)], A=A, l=0, u=0, lb=-bound, ub=bound)


def hinges_on_network(nodes: int) -> Program:
    """Degrees of belief on a random network: squared hinges along links and towards what is observed."""
    random, e = np.random.default_rng(42), 4 * nodes
    link = random.integers(0, nodes, (2, e))
    link = link[:, link[0] != link[1]]
    e = link.shape[1]
    rows = np.arange(e)
    D = sparse.coo_array((np.repeat([1.0, -1.0], e), (np.tile(rows, 2), link.ravel())), shape=(e, nodes))
    A = sparse.hstack([D, -sparse.eye_array(e)]).tocsc()
    seen = random.random(nodes) < 0.2
    P = sparse.diags_array(np.r_[np.where(seen, 4.0, 0.02), random.uniform(0.5, 2, e)])
    q = np.r_[np.where(seen, -4.0 * random.random(nodes), -0.005), np.zeros(e)]
    ub = np.r_[np.ones(nodes), np.full(e, np.inf)]
    return Program(P=P, q=q, A=A, u=np.round(random.uniform(0, 0.1, e), 3), lb=0, ub=ub)


def ramped_dispatch(units: int) -> Program:
    """Plants with own quadratic costs and ramps over two days, one balance an hour."""
    random, hours = np.random.default_rng(43), 48
    largest = random.uniform(50, 200, units)
    step = sparse.diags_array([-np.ones(hours - 1), np.ones(hours - 1)], offsets=[0, 1], shape=(hours - 1, hours))
    balance = sparse.kron(np.ones((1, units)), sparse.eye_array(hours))
    A = sparse.vstack([balance, sparse.kron(sparse.eye_array(units), step)]).tocsc()
    demand = (0.55 + 0.25 * np.sin(np.linspace(0, 4 * np.pi, hours))) * largest.sum()
    ramp = np.repeat(0.08 * largest, hours - 1)
    return Program(
        P=sparse.diags_array(np.repeat(random.uniform(0.01, 0.1, units), hours)),
        q=np.repeat(random.uniform(10, 40, units), hours), A=A, l=np.r_[demand, -ramp], u=np.r_[demand, ramp],
        lb=np.repeat(0.1 * largest, hours), ub=np.repeat(largest, hours),
    )  # fmt: skip


def random_staircase(periods: int) -> Program:
    """Periods of random programs that hand their stock to the next."""
    random, n, m = np.random.default_rng(44), 20, 12
    buy = sparse.eye_array(m * periods)
    blocks, right = [], []
    for t in range(periods):
        own = sparse.random_array((m, n), density=0.3, rng=random)
        earlier = sparse.random_array((m, n), density=0.1, rng=random)
        left = [sparse.csr_array((m, n))] * periods
        left[t] = own
        if t:
            left[t - 1] = -0.5 * earlier
        blocks.append(left)
        right.append(random.uniform(0.5, 2, m))
    A = sparse.hstack([sparse.block_array(blocks), buy]).tocsc()
    q = np.r_[random.uniform(1, 2, n * periods), np.full(m * periods, 50.0)]
    return Program(q=q, A=A, l=np.concatenate(right), lb=0, ub=20)


def dense_lp(n: int) -> Program:
    """A packing of n variables by n / 2 dense rows."""
    random, m = np.random.default_rng(45), n // 2
    A = random.uniform(0, 1, (m, n))
    return Program(q=-random.uniform(0.5, 1, n), A=A, u=A.sum(axis=1) * random.uniform(0.2, 0.4, m), lb=0, ub=1)


def facility_location(n: int) -> Program:
    """The relaxed facility location of n sites and 2 n customers: degenerate."""
    random, customers = np.random.default_rng(46), 2 * n
    site, customer = random.random((n, 2)), random.random((customers, 2))
    cost = np.linalg.norm(site[:, None] - customer[None], axis=2)
    each = sparse.eye_array(n * customers)
    serve = sparse.kron(np.ones((1, n)), sparse.eye_array(customers))
    opened = sparse.kron(sparse.eye_array(n), np.ones((customers, 1)))
    A = sparse.vstack(
        [
            sparse.hstack([serve, sparse.csr_array((customers, n))]),
            sparse.hstack([-each, opened]),
        ]
    ).tocsc()
    l = np.r_[np.ones(customers), np.zeros(n * customers)]
    u = np.r_[np.ones(customers), np.full(n * customers, np.inf)]
    return Program(q=np.r_[cost.ravel(), random.uniform(1, 2, n)], A=A, l=l, u=u, lb=0)


def least_cost_flow(nodes: int) -> Program:
    """The cheapest flow through a random network of eight arcs to a node."""
    random, e = np.random.default_rng(47), 8 * nodes
    start, end = random.integers(0, nodes, (2, e))
    keep = start != end
    start, end = start[keep], end[keep]
    e = start.size
    A = sparse.coo_array(
        (np.repeat([-1.0, 1.0], e), (np.concatenate([start, end]), np.tile(np.arange(e), 2))), shape=(nodes, e)
    ).tocsc()
    capacity = random.integers(1, 9, e).astype(float)
    need = A @ np.floor(capacity * random.uniform(0, 0.6, e))
    return Program(q=random.uniform(1, 10, e), A=A, l=need, u=need, lb=0, ub=capacity)


def time_indexed(jobs: int) -> Program:
    """Jobs on one machine by their starting times, weighted, relaxed."""
    random = np.random.default_rng(48)
    length = random.integers(1, 8, jobs)
    horizon = int(length.sum())
    weight = random.integers(1, 10, jobs).astype(float)
    rows, columns, costs, owner, column = [], [], [], [], 0
    for j in range(jobs):
        for t in range(horizon - int(length[j]) + 1):
            costs.append(weight[j] * (t + length[j]))
            owner.append(j)
            rows.append(np.arange(t, t + length[j]))
            columns.append(np.full(length[j], column))
            column += 1
    busy = sparse.coo_array(
        (np.ones(sum(map(len, rows))), (np.concatenate(rows), np.concatenate(columns))), shape=(horizon, column)
    )
    once = sparse.coo_array((np.ones(column), (owner, np.arange(column))), shape=(jobs, column))
    A = sparse.vstack([once, busy]).tocsc()
    return Program(
        q=np.array(costs), A=A, l=np.r_[np.ones(jobs), np.full(horizon, -np.inf)], u=np.ones(jobs + horizon), lb=0
    )


def least_deviations(n: int) -> Program:
    """The least sum of absolute deviations of 20 n rows with n dense coefficients."""
    random, m = np.random.default_rng(49), 20 * n
    X = random.standard_normal((m, n))
    y = X @ random.standard_normal(n) + random.standard_t(2, m)
    A = sparse.hstack([sparse.csc_array(X), sparse.eye_array(m), -sparse.eye_array(m)]).tocsc()
    q, lb = np.r_[np.zeros(n), np.ones(2 * m)], np.r_[np.full(n, -np.inf), np.zeros(2 * m)]
    return Program(q=q, A=A, l=y, u=y, lb=lb)


def separation(n: int) -> Program:
    """A support vector machine with absolute weights: n examples, n / 10 dense features."""
    random, d = np.random.default_rng(50), n // 10
    X = random.standard_normal((n, d))
    label = np.where(X[:, 0] + 0.5 * random.standard_normal(n) > 0, 1.0, -1.0)
    Y = X * label[:, None]
    A = sparse.hstack([sparse.csc_array(np.hstack([Y, -Y, label[:, None]])), sparse.eye_array(n)]).tocsc()
    q = np.r_[np.ones(2 * d), 0.0, np.ones(n)]
    return Program(q=q, A=A, l=1.0, lb=np.r_[np.zeros(2 * d), -np.inf, np.zeros(n)])


def discounted_decisions(states: int) -> Program:
    """The values of a Markov decision process with four actions and eight random targets for each."""
    random, actions, targets = np.random.default_rng(51), 4, 8
    rows = states * actions
    owner = np.repeat(np.arange(states), actions)
    where = random.integers(0, states, (rows, targets))
    chance = random.dirichlet(np.ones(targets), rows)
    go = sparse.coo_array((chance.ravel(), (np.repeat(np.arange(rows), targets), where.ravel())), shape=(rows, states))
    stay = sparse.coo_array((np.ones(rows), (np.arange(rows), owner)), shape=(rows, states))
    return Program(q=np.ones(states), A=(stay - 0.95 * go).tocsc(), l=random.uniform(0, 1, rows))


def blending(n: int) -> Program:
    """Cheapest mixtures: ten products of n raw materials with bounds on 15 qualities."""
    random, products, qualities = np.random.default_rng(52), 10, 15
    quality = random.uniform(0, 1, (qualities, n)).round(3)
    blocks, l, u = [], [], []
    for _ in range(products):
        middle = random.uniform(0.45, 0.55, qualities)
        blocks.append(np.vstack([quality - middle[:, None] + 0.03, quality - middle[:, None] - 0.03]))
        l.append(np.r_[np.zeros(qualities), np.full(qualities, -np.inf)])
        u.append(np.r_[np.full(qualities, np.inf), np.zeros(qualities)])
    amounts = sparse.kron(sparse.eye_array(products), np.ones((1, n)))
    stock = sparse.kron(np.ones((1, products)), sparse.eye_array(n))
    A = sparse.vstack([sparse.block_diag(blocks), amounts, stock]).tocsc()
    demand = random.uniform(5, 10, products)
    limit = random.uniform(0.5, 2, n) * 4 * demand.sum() / n
    l += [demand, np.full(n, -np.inf)]
    u += [np.full(products, np.inf), limit]
    cost = random.uniform(1, 3, (1, n)) + random.uniform(0, 0.2, (products, n))
    return Program(q=cost.ravel(), A=A, l=np.concatenate(l), u=np.concatenate(u), lb=0)


def power_market(k: int) -> Program:
    """The cheapest generation in a k x k grid by angles and limited lines over four hours with storage."""
    random, hours = np.random.default_rng(53), 4
    D = _differences(k)
    e, n = D.shape
    eye = sparse.eye_array
    susceptance = random.uniform(1, 5, e)
    flow = sparse.diags_array(susceptance) @ D
    # Variables for each hour: generation, angles, stock; rows: balance with what is stored, line limits.
    into = sparse.hstack([eye(n), -(D.T @ flow), -eye(n)])
    line = sparse.hstack([sparse.csr_array((e, n)), flow, sparse.csr_array((e, n))])
    before = sparse.hstack([sparse.csr_array((n, 2 * n)), eye(n)])
    A = sparse.vstack(
        [
            sparse.kron(eye(hours), into) + sparse.kron(eye(hours, k=-1), before),
            sparse.kron(eye(hours), line),
        ]
    ).tocsc()
    demand = random.uniform(0, 1, n)[None] * np.array([0.6, 1.0, 1.3, 0.8])[:, None]
    limit = np.tile(random.uniform(0.4, 1.2, e), hours)
    cost = np.concatenate([random.uniform(1, 5, n), np.zeros(2 * n)])
    largest = np.concatenate([np.where(random.random(n) < 0.5, 4.0, 0.3), np.full(n, np.inf), np.full(n, 0.2)])
    lb = np.tile(np.r_[np.zeros(n), np.full(n, -np.inf), np.zeros(n)], hours)
    lb[n :: 3 * n] = 0.0
    ub = np.tile(largest, hours)
    ub[n :: 3 * n] = 0.0
    l = np.r_[demand.ravel(), -limit]
    return Program(q=np.tile(cost, hours), A=A, l=l, u=np.r_[demand.ravel(), limit], lb=lb, ub=ub)


def optimal_power_flow(buses: int) -> Program:
    """Direct-current power flow over 24 hours: quadratic costs, ramps between hours, and load that may be shed."""
    random, hours, plants = np.random.default_rng(54), 24, buses // 4
    lines = 3 * buses // 2
    tail, head = random.integers(buses, size=lines), random.integers(buses - 1, size=lines)
    tail[: buses - 1] = np.arange(buses - 1)  # a path, so that all buses are connected, and random lines beside it
    head += head >= tail
    head[: buses - 1] = np.arange(1, buses)
    ends, every = np.r_[tail, head], np.tile(np.arange(lines), 2)
    incidence = sparse.csr_array((np.repeat([1.0, -1.0], lines), (ends, every)), shape=(buses, lines))
    flow = sparse.diags_array(random.uniform(5, 50, lines)) @ incidence.T
    place = sparse.csr_array(
        (np.ones(plants), (random.integers(buses, size=plants), np.arange(plants))), (buses, plants)
    )
    eye, kron = sparse.eye_array, sparse.kron
    balance = sparse.hstack([-(incidence @ flow), place, eye(buses)])  # of angles, generation, and load that is shed
    line = sparse.hstack([flow, sparse.csr_array((lines, plants + buses))])
    own = sparse.hstack([sparse.csr_array((plants, buses)), eye(plants), sparse.csr_array((plants, buses))])
    step = eye(hours - 1, hours, k=1) - eye(hours - 1, hours)
    A = sparse.vstack([kron(eye(hours), balance), kron(eye(hours), line), kron(step, own)]).tocsc()
    load = np.outer(random.uniform(0.6, 1, hours), random.uniform(0.2, 1, buses)).ravel()
    most = random.uniform(1, 4, plants) * buses * 0.8 / plants
    limit = np.r_[np.full(lines * hours, 3.0), np.tile(0.4 * most, hours - 1)]
    cost = np.r_[np.zeros(buses), random.uniform(10, 50, plants), np.full(buses, 1000.0)]
    curvature = np.r_[np.zeros(buses), random.uniform(0.1, 2, plants), np.zeros(buses)]
    lb, ub = (
        np.r_[np.full(buses, -np.inf), np.zeros(plants + buses)],
        np.r_[np.full(buses, np.inf), most, np.ones(buses)],
    )
    return Program(
        P=sparse.diags_array(np.tile(curvature, hours)), q=np.tile(cost, hours), A=A, l=np.r_[load, -limit],
        u=np.r_[load, limit], lb=np.tile(lb, hours), ub=np.tile(ub, hours),
    )  # fmt: skip


def different_cars(cars: int) -> Program:
    """Charging of cars that all differ over 96 quarters of an hour, behind one connection, with quadratic wear."""
    random, slots = np.random.default_rng(55), 96
    power, need = random.uniform(3, 11, cars), random.uniform(5, 40, cars)
    arrival, departure = random.integers(0, slots // 3, cars), random.integers(2 * slots // 3, slots, cars)
    slot = np.arange(slots)
    is_there = (slot >= arrival[:, None]) & (slot <= departure[:, None])
    need = np.minimum(need, 0.6 * 0.23 * power * is_there.sum(axis=1))
    A = sparse.vstack([
        sparse.kron(sparse.eye_array(cars), np.full((1, slots), 0.23)),
        sparse.kron(np.ones((1, cars)), sparse.eye_array(slots)),
    ]).tocsc()  # fmt: skip
    price = np.tile(random.uniform(0.1, 0.4, slots), cars)
    return Program(
        P=0.01 * sparse.eye_array(cars * slots), q=price, A=A, l=np.r_[need, np.full(slots, -np.inf)],
        u=np.r_[need, np.full(slots, 0.55 * power.sum())], lb=0.0, ub=(is_there * power[:, None]).ravel(),
    )  # fmt: skip


FAMILIES = (
    Family("membrane", "control", "QP", membrane, (40, 110), False),
    Family("heat", "control", "QP", heat, (10, 16, 22), False),
    Family("mass and spring", "control", "QP", mass_spring, (20, 150), False),
    Family("large control", "control", "QP", large_control, (15, 60), False),
    Family("factor portfolio", "finance", "QP", factor_portfolio, (500, 3000), False),
    Family("dense box", "learning", "QP", dense_box, (150, 500), False),
    Family("nonnegative least squares", "learning", "QP", nonnegative_squares, (300, 1500), False),
    Family("network flow", "operations", "QP", network_flow, (300, 1500), False),
    Family("total variation", "learning", "QP", total_variation, (25, 70), False),
    Family("Huber", "learning", "QP", huber, (30, 100), False),
    Family("heat control", "control", "QP", heat_control, (25, 70), False),
    Family("hinges on a network", "learning", "QP", hinges_on_network, (400, 2000), False),
    Family("ramped dispatch", "operations", "QP", ramped_dispatch, (20, 150), False),
    Family("optimal power flow", "operations", "QP", optimal_power_flow, (60, 250), False),
    Family("different cars", "operations", "QP", different_cars, (100, 500), False),
    Family("random staircase", "operations", "LP", random_staircase, (20, 100), False),
    Family("dense LP", "random", "LP", dense_lp, (150, 500), False),
    Family("facility location", "operations", "LP", facility_location, (15, 40), False),
    Family("least-cost flow", "operations", "LP", least_cost_flow, (400, 3000), False),
    Family("time-indexed jobs", "operations", "LP", time_indexed, (12, 35), False),
    Family("least deviations", "learning", "LP", least_deviations, (8, 30), False),
    Family("separation", "learning", "LP", separation, (150, 400), False),
    Family("discounted decisions", "control", "LP", discounted_decisions, (300, 1500), False),
    Family("blending", "operations", "LP", blending, (60, 300), False),
    Family("power market", "operations", "LP", power_market, (8, 24), False),
)
