"""The models of the gallery with functions, rules and time have the optima that CVXPY finds for the same problems.

Each problem is written a second time here, by hand and in matrices; rules of soft logic are grounded by nested loops.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.gallery.test_gallery import solved

cp = pytest.importorskip("cvxpy")
Problem = tuple[Any, list[Any]]


def geometric_median() -> Problem:
    points, weights = np.array([[0, 0], [4, 1], [5, 6], [1, 5]]), [1, 2, 1, 3]
    z = cp.Variable(2)
    return cp.Minimize(sum(w * cp.norm(z - p) for w, p in zip(weights, points, strict=True))), []


def chebyshev_centre() -> Problem:
    rows, b = np.array([[1, 2], [-1, 0], [0, -1], [3, -1]]), np.array([8, 0, 0, 6])
    centre, radius = cp.Variable(2), cp.Variable()
    return cp.Maximize(radius), [rows @ centre + radius * np.linalg.norm(rows, axis=1) <= b]


def fair_rates() -> Problem:
    rate = cp.Variable(4)  # long, first, second, third
    return cp.Maximize(cp.sum(cp.log(rate))), [rate[0] + rate[1:] <= np.array([4, 1, 3])]


def loaded_die() -> Problem:
    p = cp.Variable(6)
    return cp.Maximize(cp.sum(cp.entr(p))), [cp.sum(p) == 1, np.arange(1, 7) @ p == 4.5]


def logistic() -> Problem:
    points = np.array([[1, 2], [2, 0.5], [-1, 1], [-2, -1], [0.5, -2]])
    label, w, b = np.array([1, 1, -1, -1, 1]), cp.Variable(2), cp.Variable()
    return cp.Minimize(cp.sum(cp.logistic(-cp.multiply(label, points @ w + b))) + 0.5 * cp.sum_squares(w)), []


def robust_line() -> Problem:
    y, line = np.array([0.1, 1.2, 1.9, 9, 4.1, 5]), cp.Variable(2)
    return cp.Minimize(cp.sum(cp.huber(y - line[0] * np.arange(6) - line[1], 1))), []


def minimax_line() -> Problem:
    y, line = np.array([0.1, 1.2, 1.9, 3.5, 4.1, 5]), cp.Variable(2)
    return cp.Minimize(cp.norm(y - line[0] * np.arange(6) - line[1], "inf") + 0.1 * cp.abs(line[0])), []


def bargaining() -> Problem:
    worth, alone = np.array([[6, 2], [4, 5], [3, 3]]), np.array([1, 0.5, 0])
    share = cp.Variable((3, 2), nonneg=True)
    gain = cp.sum(cp.multiply(worth, share), axis=1) - alone
    return cp.Maximize(cp.geo_mean(gain)), [share <= 1, cp.sum(share, axis=0) <= 1]


def delays() -> Problem:
    cap, flow = np.array([6, 3, 1.5]), cp.Variable(3, nonneg=True)
    return cp.Minimize(cap @ cp.inv_pos(cap - flow) - 3), [cp.sum(flow) == 6, flow <= 0.95 * cap]


def survey() -> Problem:
    people, spread, ask = np.array([600, 300, 50]), np.array([2, 4, 6]), cp.Variable(3)
    return cp.Minimize((people * spread) ** 2 @ cp.inv_pos(ask)), [ask >= 1, ask <= people, cp.sum(ask) <= 300]


def fitted_table() -> Problem:
    old, new = np.array([[4, 1], [2, 2], [1, 5]]), cp.Variable((3, 2))
    totals = [cp.sum(new, axis=1) == np.array([6, 5, 7]), cp.sum(new, axis=0) == np.array([8, 10])]
    return cp.Minimize(cp.sum(cp.kl_div(new, old))), totals


def traffic() -> Problem:
    free, cap = np.array([4, 5, 1, 2]), np.array([4, 6, 3, 2])
    path = cp.Variable(3, nonneg=True)
    flow = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]) @ path
    return cp.Minimize(free @ (flow + 0.03 * cp.multiply(cap, cp.power(flow / cap, 5)))), [cp.sum(path) == 10]


def dispatch() -> Problem:
    demand, make = np.array([30, 85, 100, 120, 45]), cp.Variable((2, 5), nonneg=True)
    coal, gas = make[0], make[1]
    cost = cp.maximum(10 * coal, 400 + 15 * (coal - 40)), cp.maximum(25 * gas, 750 + 30 * (gas - 30))
    changes = [cp.abs(make[k, 1:] - make[k, :-1]) <= most for k, most in ((0, 30), (1, 50))]
    limits = [coal <= 80, gas <= 60, cp.sum(make, axis=0) == demand]
    return cp.Minimize(cp.sum(cost[0]) + cp.sum(cost[1])), [*changes, *limits]


def shifts() -> Problem:
    dates = [dt.date(2026, 1, 1) + dt.timedelta(days=k) for k in range(12)]
    begin = cp.Variable(12, nonneg=True)
    needs = [2 if date.isoweekday() >= 6 else 5 for date in dates]
    return cp.Minimize(cp.sum(begin)), [cp.sum(begin[k - 4 : k + 1]) >= needs[k] for k in range(4, 12)]


def friends() -> Problem:
    people, parties = ["ann", "bob", "cyd", "dan"], ["left", "right"]
    links = [("ann", "bob"), ("bob", "cyd"), ("cyd", "dan"), ("dan", "bob"), ("bob", "ann")]
    known = {("ann", "left"): 0.9, ("ann", "right"): 0.1, ("dan", "right"): 0.8, ("dan", "left"): 0.2}
    votes = {key: known.get(key, cp.Variable()) for key in product(people, parties)}
    unknown = [votes[key] for key in votes if key not in known]
    terms = [0.1 * cp.square(cp.pos(votes[key])) for key in votes]
    for (a, b), party in product(links, parties):
        distance = cp.pos(votes[a, party] - votes[b, party])
        terms += [2 * cp.square(distance), 0.5 * distance]
    sums = [sum(votes[person, party] for party in parties) == 1 for person in ("bob", "cyd")]
    return cp.Minimize(sum(terms)), [*sums, *(v >= 0 for v in unknown), *(v <= 1 for v in unknown)]


def acquaintances() -> Problem:
    people = ["ann", "bob", "cyd", "dan"]
    lived = [("ann", "rome"), ("bob", "rome"), ("bob", "oslo"), ("cyd", "oslo"), ("dan", "bonn")]
    says = {("dan", "ann"): 0.7, ("cyd", "dan"): 0.2}
    knows = {(a, b): cp.Variable() for a, b in product(people, people) if a != b}
    terms = [0.2 * cp.square(cp.pos(v)) for v in knows.values()]
    for (a, p), (b, q) in product(lived, lived):
        if p == q and a != b:
            terms.append(3 * cp.square(cp.pos(1 - knows[a, b])))
    for a, b, c in product(people, people, people):
        if len({a, b, c}) == 3:
            terms.append(1 * cp.square(cp.pos(knows[a, b] + knows[b, c] - 1 - knows[a, c])))
    for (a, b), value in says.items():
        terms.append(2 * cp.square(cp.pos(value - 0.5 * knows[a, b] - 0.5 * knows[b, a])))
    same = [knows[a, b] == knows[b, a] for a, b in knows]
    return cp.Minimize(sum(terms)), [*same, *(v >= 0 for v in knows.values()), *(v <= 1 for v in knows.values())]


PROBLEMS: list[Callable[[], Problem]] = [
    geometric_median, chebyshev_centre, fair_rates, loaded_die, logistic, robust_line, minimax_line, bargaining, delays,
    survey, fitted_table, traffic, dispatch, shifts, friends, acquaintances,
]  # fmt: skip


@pytest.mark.parametrize("build", PROBLEMS, ids=lambda build: build.__name__)
def test_the_optimum_is_that_of_the_problem_written_by_hand(build: Callable[[], Problem]) -> None:
    problem = cp.Problem(*build())
    problem.solve(solver="CLARABEL")
    assert solved(build.__name__).objective == pytest.approx(problem.value, rel=2e-6, abs=1e-6)
