"""Is what relift says wrong? It is if two independent routes contradict it, and for LPs exact arithmetic does too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from tests.fuzz.calls import Verdict
from tests.fuzz.draft import Draft
from tests.fuzz.exact_simplex import exact_optimum
from tests.fuzz.margins import with_margin, with_other_digits, within_reach
from tests.fuzz.routes import HUGE, Found, Route, routes_for

CLOSE = 2e-5
"""Objectives that differ by less, relative to max(1, |objective without its constant|), agree."""
SLOW = 1.001e-8
"""A fall by this share of the objective for a unit of a variable is none that a tolerance of 1e-6 can see: slopes count
from a hundredth of the objective on (docs/decisions/0004-certificate-norms.md, dual residual)."""
LARGEST_EXACT = 60
"""Rows and columns together up to which the exact simplex method is asked."""


def wrong_verdict(draft: Draft, verdict: Verdict, ask_exactly: bool = False) -> tuple[str, str]:
    """A sentence about what is wrong, or an empty one; and one word: agreed, undecided, borderline or wrong."""
    if verdict.broken:
        return verdict.broken, "wrong"
    claims = _claims(draft, verdict)
    if not claims:
        return "", "no answer"
    if ask_exactly and _is_small_and_linear(draft):
        return _judged_exactly(draft, verdict, claims)
    founds: list[tuple[Route, Found]] = []
    for route in routes_for(draft):
        found = route(draft)
        if not _counts(draft, verdict, found):
            continue
        if not _is_contradicted(claims, found):
            return "", "agreed"
        founds.append((route, found))
        agreeing = [other for other, said in founds[:-1] if _agree(found, said)]
        if agreeing and _is_small_and_linear(draft):
            return _judged_exactly(draft, verdict, claims)
        if agreeing:
            return _at_the_border(draft, verdict, [agreeing[0], route])
    return "", "undecided"


def _judged_exactly(draft: Draft, verdict: Verdict, claims: list[Claim]) -> tuple[str, str]:
    if not _is_contradicted(claims, exact_optimum(draft)):
        return "", "agreed"
    return _at_the_border(draft, verdict, [exact_optimum])


def _is_small_and_linear(draft: Draft) -> bool:
    return draft.is_linear and draft.n + draft.m <= LARGEST_EXACT


def _counts(draft: Draft, verdict: Verdict, found: Found) -> bool:
    """Fractions are right; others leave out huge bounds, and are refuted where fractions can."""
    if found.route == "exact" or not found.is_decided:
        return found.is_decided
    if _has_huge_bounds(draft):
        return False
    if found.status == "infeasible":
        return not _has_exact_point(draft)
    if found.status == "unbounded":  # a ray of the objective alone does not show that there is a point
        return _has_exact_ray(draft) is not False and (verdict.status != "infeasible" or found.route == "highs")
    if verdict.status == "unbounded" and _has_exact_ray(draft) and _has_exact_point(draft):
        return False
    return not _is_beaten(draft, verdict, found)


def _is_beaten(draft: Draft, verdict: Verdict, found: Found) -> bool:
    """Whether the point of the answer is feasible and better: then it is the route that is wrong, whoever found it."""
    x, sign = verdict.x, -1.0 if draft.sense == "max" else 1.0
    if verdict.status != "optimal" or x is None or draft.quadratic or draft.cones:
        return False
    better = sign * (found.objective - (verdict.objective - draft.r)) > CLOSE * max(1.0, abs(found.objective))
    rows, sizes = draft.A @ x, np.abs(draft.A) @ np.abs(x)
    off = max(_violation(rows, draft.l, draft.u, sizes), _violation(x, draft.lb, draft.ub, np.abs(x)))
    return bool(better and off <= 1e-9)


def _violation(values: Any, lower: Any, upper: Any, sizes: Any) -> float:
    """The largest violation, relative to the products in the row or to the bound."""
    beyond = np.maximum(np.maximum(lower - values, values - upper), 0.0)
    bounds = np.where(lower > values, np.abs(lower), np.abs(upper))
    scale = np.where(beyond > 0.0, np.maximum(sizes, bounds), 1.0)
    return float(np.max(np.divide(beyond, scale, out=np.zeros_like(scale), where=scale > 0), initial=0.0))


def _has_exact_point(draft: Draft) -> bool:
    """Whether rational arithmetic finds a point of a small program with linear rows: two solvers can be wrong alike."""
    rows = replace(draft, P=None, q=np.zeros(draft.n))
    return _is_small_and_linear(rows) and exact_optimum(rows).status == "optimal"


def _has_exact_ray(draft: Draft) -> bool | None:
    """Whether a small LP or QP falls along a direction, by fractions: solvers ignore costs of 1e-9; None if unknown."""
    fall = _steepest_fall(draft)
    return None if fall is None else fall > 0.0


def _steepest_fall(draft: Draft) -> float | None:
    """How much a small LP or QP falls, without end, for a unit of the variable that moves most; None if unknown."""
    if draft.quadratic or draft.cones:
        return None
    P = np.zeros((0, draft.n)) if draft.P is None else draft.P
    still = np.zeros(len(P))
    directions = replace(
        draft, P=None, q=-draft.q if draft.sense == "max" else draft.q, sense="min", A=np.vstack([draft.A, P]),
        l=np.append(np.where(np.isfinite(draft.l), 0.0, -np.inf), still),
        u=np.append(np.where(np.isfinite(draft.u), 0.0, np.inf), still),
        lb=np.where(np.isfinite(draft.lb), 0.0, -1.0), ub=np.where(np.isfinite(draft.ub), 0.0, 1.0),
    )  # fmt: skip
    return -exact_optimum(directions).objective if _is_small_and_linear(directions) else None


Claim = Callable[[Found], bool]


def _claims(draft: Draft, verdict: Verdict) -> list[Claim]:
    """What the answer says about the optimum; each is a test that a right route passes."""
    r, status = draft.r, verdict.status
    if status in {"infeasible", "unbounded"}:
        return [lambda found: found.status == status]
    claims: list[Claim] = []
    if status == "optimal":
        value = verdict.objective - r
        claims.append(lambda found: found.status == "optimal" and _close(value, found.objective))
    if np.isfinite(verdict.lower) or np.isfinite(verdict.upper):

        def within(found: Found) -> bool:
            room = CLOSE * max(1.0, abs(found.objective))
            ends = sorted([verdict.lower - r, verdict.upper - r])
            return found.status != "optimal" or ends[0] - room <= found.objective <= ends[1] + room

        claims.append(within)
    return claims


def _is_contradicted(claims: list[Claim], found: Found) -> bool:
    return any(not claim(found) for claim in claims)


def _close(one: float, other: float) -> bool:
    return bool(abs(one - other) <= CLOSE * max(1.0, abs(one), abs(other)))


def _agree(one: Found, other: Found) -> bool:
    return one.status == other.status and (one.status != "optimal" or _close(one.objective, other.objective))


def _has_huge_bounds(draft: Draft) -> bool:
    bounds = np.concatenate([draft.l, draft.u, draft.lb, draft.ub])
    return bool(np.any((np.abs(bounds) >= HUGE) & np.isfinite(bounds)))


def _at_the_border(draft: Draft, verdict: Verdict, routes: list[Route]) -> tuple[str, str]:
    """Wrong only if it is wrong for nearly the same program, too: rows wider by 1e-5, coefficients by 3e-7.

    A program is not called infeasible wrongly if its points are so far away that rounding of coefficients makes them.
    """
    if verdict.status == "infeasible":
        founds = [route(within_reach(with_margin(draft, -1e-6))) for route in routes]
        if not all(found.status in {"optimal", "unbounded"} and _counts(draft, verdict, found) for found in founds):
            return "", "borderline"
        return f"{_text(verdict)}, but narrower by 1e-6 it is {', '.join(map(_said, founds))}", "wrong"
    if verdict.status == "optimal" and 0.0 < (_steepest_fall(draft) or 0.0) <= SLOW * max(1.0, abs(verdict.objective)):
        return "", "borderline"
    claims, founds = _claims(draft, verdict), []
    steep = np.where(np.abs(draft.q) <= SLOW * max(1.0, abs(verdict.objective)), 0.0, draft.q)
    if verdict.status == "optimal" and not np.array_equal(steep, draft.q):
        others = [route(replace(draft, q=steep)) for route in routes]
        if not any(_is_contradicted(claims, found) for found in others):
            return "", "borderline"
    for route in routes:
        tight, loose = route(with_margin(draft, 1e-9)), route(with_margin(draft, 1e-5))
        if not all(_counts(draft, verdict, found) for found in (tight, loose)):
            return "", "undecided"
        between = [tight, loose, *(route(other) for other in with_other_digits(draft))]
        values = [found.objective for found in between if found.status == "optimal"]
        if len(values) > 1:
            value = float(np.clip(verdict.objective - draft.r, min(values), max(values)))
            between.append(Found(tight.route, "optimal", value))
        if any(not _is_contradicted(claims, found) for found in between):
            return "", "borderline"
        founds.append(tight)
    return f"{_text(verdict)}, but {' and '.join(map(_said, founds))}", "wrong"


def _text(verdict: Verdict) -> str:
    bounds = f", bounds [{verdict.lower:.9g}, {verdict.upper:.9g}]" if np.isfinite(verdict.lower) else ""
    return f"relift says {verdict.status} {verdict.objective:.9g}{bounds}"


def _said(found: Found) -> str:
    value = f" {found.objective:.9g} (without the constant)" if found.status == "optimal" else ""
    return f"{found.route}: {found.status}{value}"
