"""Families from finance and game theory."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import sparse

from benchmarks.families.family import Family
from relift.program.cones import SecondOrder
from relift.program.conic_rows import ConicRows
from relift.program.program import Program


def portfolio(n: int, *, alike: bool) -> Program:
    """Mean-variance portfolio; alike: assets of one of 25 sectors share mean, variance and correlations."""
    random = np.random.default_rng(4)
    sectors = 25 if alike else n
    sector = np.arange(n) % sectors
    factor = random.uniform(0.05, 0.3, (sectors, 3))
    own, mean = random.uniform(0.02, 0.1, sectors), random.uniform(0.01, 0.1, sectors)
    if alike:
        factor, own, mean = factor.round(2), own.round(3), mean.round(3)
    common = (factor @ factor.T)[np.ix_(sector, sector)]
    P = (common.round(4) if alike else common) + np.diag(own[sector])
    return Program(
        P=(P + P.T) / 2, q=-0.5 * mean[sector], A=np.ones((1, n)), l=[1.0], u=[1.0], lb=0, ub=largest_share(n)
    )


def largest_share(n: int) -> float:
    """A fifth of the money, or what lets half of the assets take all of it if they are few."""
    return max(0.2, 2 / n)


def bounded_risk(n: int, *, alike: bool) -> Program:
    """The best mean at a bounded risk, as one second-order cone over factors and assets; alike: 25 sectors."""
    random = np.random.default_rng(15)
    sectors = 25 if alike else n
    sector = np.arange(n) % sectors
    factor, own = random.uniform(0.05, 0.3, (sectors, 3)), random.uniform(0.02, 0.1, sectors)
    mean = random.uniform(0.01, 0.1, sectors)
    if alike:
        factor, own, mean = factor.round(2), own.round(3), mean.round(3)
    rows = sparse.vstack(
        [sparse.csr_array((1, n)), -sparse.csr_array(factor[sector].T), -sparse.diags_array(own[sector])]
    )
    # A quarter, or what the safest few assets in equal shares need, if there are few to choose from.
    share = largest_share(n)
    safest = np.argsort(np.linalg.norm(factor[sector], axis=1), kind="stable")[: int(np.ceil(1 / share))]
    held = np.zeros(n)
    held[safest] = 1 / safest.size
    risk = max(0.25, 1.1 * float(np.linalg.norm(rows @ held)))
    cone = ConicRows(rows.tocsr(), np.concatenate([[risk], np.zeros(3 + n)]), [SecondOrder(n + 4)])
    return Program(q=-mean[sector], A=np.ones((1, n)), l=[1.0], u=[1.0], lb=0, ub=share, conic=cone)


def security_game(k: int, *, alike: bool) -> Program:
    """Patrols of neighbouring places on a k x k torus against 3 kinds of attackers; alike: 4 kinds of places."""
    random = np.random.default_rng(16)
    n, attackers = k * k, 3
    row, column = np.divmod(np.arange(n), k)
    kind = (row % 2) * 2 + column % 2 if alike else np.arange(n)
    many = int(kind.max()) + 1
    caught, free = random.uniform(1, 5, (attackers, many)), -random.uniform(1, 10, (attackers, many))
    if alike:
        caught, free = caught.round(1), free.round(1)
    caught, free = caught[:, kind], free[:, kind]
    place = np.arange(n)
    right, below = row * k + (column + 1) % k, ((row + 1) % k) * k + column
    patrol = np.concatenate([np.stack([place, right]), np.stack([place, below])], axis=1)
    p = patrol.shape[1]
    covers = sparse.coo_array((np.ones(2 * p), (patrol.ravel(), np.tile(np.arange(p), 2))), shape=(n, p)).tocsr()
    # Variables: how often each patrol goes, then the defender's value against each attacker. An attacker strikes where
    # the defender is worst off: value <= free + coverage (caught - free) at every place.
    strikes = sparse.vstack(
        [
            sparse.hstack(
                [
                    -sparse.diags_array(caught[a] - free[a]) @ covers,
                    sparse.csr_array((np.ones(n), (place, np.full(n, a))), shape=(n, attackers)),
                ]
            )
            for a in range(attackers)
        ]
    )
    nothing = sparse.csr_array((n, attackers))
    A = sparse.vstack(
        [strikes, sparse.hstack([covers, nothing]), np.concatenate([np.ones(p), np.zeros(attackers)])[None]]
    ).tocsc()
    u = np.concatenate([free.ravel(), np.ones(n), [n / 8]])
    lb = np.concatenate([np.zeros(p), np.full(attackers, -np.inf)])
    return Program(q=np.concatenate([np.zeros(p), [0.5, 0.3, 0.2]]), A=A, u=u, lb=lb, sense="max")


FAMILIES = (
    Family("sector portfolio", "finance", "QP", partial(portfolio, alike=True), (1500,), True),
    Family("portfolio", "finance", "QP", partial(portfolio, alike=False), (400,), False),
    Family("bounded risk by sectors", "finance", "SOCP", partial(bounded_risk, alike=True), (20_000,), True),
    Family("bounded risk", "finance", "SOCP", partial(bounded_risk, alike=False), (5000,), False),
    Family("security game by kinds", "games", "LP", partial(security_game, alike=True), (30,), True),
    Family("security game", "games", "LP", partial(security_game, alike=False), (30,), False),
)
