"""Families from machine learning. Each is built twice: with things alike, and of random real numbers."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import sparse

from benchmarks.families.family import Family
from relift.program.cones import SecondOrder
from relift.program.conic_rows import ConicRows
from relift.program.program import Program


def linear_svm(n: int, *, alike: bool) -> Program:
    """Linear SVM, primal; alike: categorical features coded one-hot, so that many examples coincide."""
    random = np.random.default_rng(0)
    if alike:
        levels = (4, 5, 3)
        codes = np.column_stack([random.integers(0, k, n) for k in levels])
        offsets = np.cumsum((0, *levels[:-1]))
        d = sum(levels)
        X = sparse.csr_array((np.ones(3 * n), (np.repeat(np.arange(n), 3), (codes + offsets).ravel())), shape=(n, d))
    else:
        d = 12
        X = sparse.csr_array(random.standard_normal((n, d)))
    label = np.where(X @ random.standard_normal(d) + 0.7 * random.standard_normal(n) > 0, 1.0, -1.0)
    rows = sparse.hstack([sparse.diags_array(label) @ X, label[:, None], sparse.eye_array(n)]).tocsc()
    P = sparse.diags_array(np.concatenate([np.ones(d), np.zeros(n + 1)]))
    lb = np.concatenate([np.full(d + 1, -np.inf), np.zeros(n)])
    return Program(P=P, q=np.concatenate([np.zeros(d + 1), np.ones(n)]), A=rows, l=np.ones(n), lb=lb)


def svm_dual(n: int, *, alike: bool) -> Program:
    """Kernel SVM, dual; alike: examples repeat, as in data with coarse measurements."""
    random = np.random.default_rng(1)
    which = random.integers(0, 60, n) if alike else np.arange(n)
    points = random.standard_normal((int(which.max()) + 1, 3))
    flip = random.random(n) < 0.1
    label = np.where((points[which, 0] > 0) ^ flip, 1.0, -1.0)
    # The kernel of the distinct points is indexed, so that equal examples have equal rows to the last bit.
    squares = (points**2).sum(axis=1)
    kernel = np.exp(-0.5 * (squares[:, None] + squares[None] - 2 * points @ points.T).clip(0))
    kernel = (kernel + kernel.T) / 2 + 1e-8 * np.eye(len(points))
    P = kernel[np.ix_(which, which)] * np.outer(label, label)
    return Program(P=P, q=-np.ones(n), A=label[None], l=[0.0], u=[0.0], lb=0, ub=1, assume_convex=True)


def lasso(d: int, *, alike: bool) -> Program:
    """Lasso with d features; alike: they are copies of 40 distinct ones, as one-hot or sensor data have them."""
    random = np.random.default_rng(2)
    m = 200
    copies = random.integers(0, 40, d) if alike else np.arange(d)
    distinct = random.standard_normal((m, int(copies.max()) + 1)).round(3)
    X = sparse.csc_array(distinct[:, copies])
    y = distinct[:, :5].sum(axis=1) + 0.1 * random.standard_normal(m)
    A = sparse.hstack([X, -X, -sparse.eye_array(m)]).tocsc()
    P = sparse.diags_array(np.concatenate([np.zeros(2 * d), np.ones(m)]))
    q = np.concatenate([np.full(2 * d, 5.0), np.zeros(m)])
    lb = np.concatenate([np.zeros(2 * d), np.full(m, -np.inf)])
    return Program(P=P, q=q, A=A, l=y, u=y, lb=lb)


def group_lasso(groups: int, *, alike: bool) -> Program:
    """Group lasso, three features to a group, one second-order cone for each; alike: groups are copies of 12."""
    random = np.random.default_rng(3)
    m, size = 120, 3
    copies = random.integers(0, 12, groups) if alike else np.arange(groups)
    distinct = random.standard_normal((m, int(copies.max()) + 1, size)).round(3)
    X = sparse.csc_array(distinct[:, copies].reshape(m, groups * size))
    y = distinct[:, 0].sum(axis=1) + 0.1 * random.standard_normal(m)
    d = groups * size
    # Variables: coefficients, bounds of the norms of the groups, residuals.
    A = sparse.hstack([X, sparse.csc_array((m, groups)), -sparse.eye_array(m)]).tocsc()
    head = sparse.hstack([sparse.csr_array((groups, d)), -sparse.eye_array(groups), sparse.csr_array((groups, m))])
    tail = sparse.hstack([-sparse.eye_array(d), sparse.csr_array((d, groups + m))])
    order = np.concatenate([np.arange(groups)[:, None], groups + np.arange(d).reshape(groups, size)], axis=1).ravel()
    cones = ConicRows(
        sparse.vstack([head, tail]).tocsr()[order], np.zeros(order.size), [SecondOrder(size + 1)] * groups
    )
    P = sparse.diags_array(np.concatenate([np.zeros(d + groups), np.ones(m)]))
    q = np.concatenate([np.zeros(d), np.full(groups, 5.0), np.zeros(m)])
    return Program(P=P, q=q, A=A, l=y, u=y, conic=cones)


def isotonic(n: int, *, alike: bool) -> Program:
    """Isotonic regression; alike: yes-or-no responses at 30 doses, one fitted value for each patient."""
    random = np.random.default_rng(7)
    if not alike:
        target = np.sort(random.standard_normal(n)) + 0.3 * random.standard_normal(n)
        A = sparse.diags_array([-np.ones(n - 1), np.ones(n - 1)], offsets=[0, 1], shape=(n - 1, n)).tocsc()
        return Program(P=sparse.eye_array(n), q=-target, A=A, l=0)
    doses = 30
    dose = random.integers(0, doses, n)
    response = (random.random(n) < (dose + 1) / (doses + 2)).astype(float)
    # Variables: one value for each patient, then the levels that lie between doses.
    patients = np.arange(n)
    above, below = dose < doses - 1, dose > 0
    rows = [(patients[above], dose[above], -1.0), (patients[below], dose[below] - 1, 1.0)]
    blocks = []
    for who, level, sign in rows:
        k = np.arange(who.size)
        entries = np.concatenate([np.full(who.size, sign), np.full(who.size, -sign)])
        columns = np.concatenate([who, n + level])
        blocks.append(sparse.coo_array((entries, (np.concatenate([k, k]), columns)), shape=(who.size, n + doses - 1)))
    P = sparse.diags_array(np.concatenate([np.ones(n), np.zeros(doses - 1)]))
    q = np.concatenate([-response, np.zeros(doses - 1)])
    return Program(P=P, q=q, A=sparse.vstack(blocks).tocsc(), l=0)


def optimal_transport(k: int, *, alike: bool) -> Program:
    """Optimal transport; alike: from a hot spot on a k x k torus to all its places; else between random points."""
    random = np.random.default_rng(5)
    n = k * k
    if alike:
        place = np.stack(np.divmod(np.arange(n), k), axis=1)
        offset = np.abs(place[:, None] - place[None])
        cost = np.minimum(offset, k - offset).sum(axis=2).astype(float)
        supply = np.ones(n)
        supply[0] += n
        demand = np.full(n, 2.0)
    else:
        here, there = random.random((2, n, 2))
        cost = np.linalg.norm(here[:, None] - there[None], axis=2)
        supply = random.random(n)
        demand = random.random(n)
        demand *= supply.sum() / demand.sum()
    eye, ones = sparse.eye_array(n), np.ones((1, n))
    A = sparse.vstack([sparse.kron(eye, ones), sparse.kron(ones, eye)]).tocsc()
    # Supplies may be left over by rounding, demands may not.
    l = np.concatenate([np.full(n, -np.inf), demand * (1 - 1e-9)])
    return Program(q=cost.ravel(), A=A, l=l, u=np.concatenate([supply, np.full(n, np.inf)]), lb=0)


def map_lp(k: int, *, alike: bool) -> Program:
    """LP relaxation of a Potts field with 3 labels; alike: a k x k torus with one observation; else noisy pixels."""
    random = np.random.default_rng(6)
    n, labels = k * k, 3
    place = np.arange(n).reshape(k, k)
    right, down = np.roll(place, -1, axis=1), np.roll(place, -1, axis=0)
    if alike:
        edges = np.concatenate([np.stack([place, right], -1), np.stack([place, down], -1)]).reshape(-1, 2)
        unary = np.tile([0.0, 0.1, 0.2], (n, 1))
        unary[0] = [2.0, 2.0, 0.0]
    else:
        edges = np.concatenate(
            [np.stack([place, right], -1)[:, :-1].reshape(-1, 2), np.stack([place, down], -1)[:-1].reshape(-1, 2)]
        )
        unary = random.standard_normal((n, labels))
    e = len(edges)
    ones = np.ones(e)
    difference = sparse.coo_array(
        (np.concatenate([ones, -ones]), (np.tile(np.arange(e), 2), edges.T.ravel())), shape=(e, n)
    )
    difference = sparse.kron(difference, sparse.eye_array(labels))
    distance = sparse.eye_array(e * labels)
    one_label = sparse.hstack(
        [sparse.kron(sparse.eye_array(n), np.ones((1, labels))), sparse.csr_array((n, e * labels))]
    )
    A = sparse.vstack(
        [one_label, sparse.hstack([-difference, distance]), sparse.hstack([difference, distance])]
    ).tocsc()
    l = np.concatenate([np.ones(n), np.zeros(2 * e * labels)])
    u = np.concatenate([np.ones(n), np.full(2 * e * labels, np.inf)])
    return Program(q=np.concatenate([unary.ravel(), np.full(e * labels, 0.25)]), A=A, l=l, u=u, lb=0)


FAMILIES = (
    Family("one-hot SVM", "learning", "QP", partial(linear_svm, alike=True), (20_000, 100_000), True),
    Family("linear SVM", "learning", "QP", partial(linear_svm, alike=False), (5000,), False),
    Family("SVM dual, repeated examples", "learning", "QP", partial(svm_dual, alike=True), (800,), True),
    Family("SVM dual", "learning", "QP", partial(svm_dual, alike=False), (500,), False),
    Family("lasso, tied features", "learning", "QP", partial(lasso, alike=True), (2000,), True),
    Family("lasso", "learning", "QP", partial(lasso, alike=False), (400,), False),
    Family("group lasso, tied groups", "learning", "SOCP", partial(group_lasso, alike=True), (400,), True),
    Family("group lasso", "learning", "SOCP", partial(group_lasso, alike=False), (200,), False),
    Family("dose response", "learning", "QP", partial(isotonic, alike=True), (20_000,), True),
    Family("isotonic regression", "learning", "QP", partial(isotonic, alike=False), (50_000,), False),
    Family("optimal transport on a torus", "learning", "LP", partial(optimal_transport, alike=True), (16,), True),
    Family("optimal transport", "learning", "LP", partial(optimal_transport, alike=False), (14,), False),
    Family("MAP-LP on a torus", "learning", "LP", partial(map_lp, alike=True), (80,), True),
    Family("MAP-LP of noisy pixels", "learning", "LP", partial(map_lp, alike=False), (30,), False),
)
