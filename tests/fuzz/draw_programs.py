"""Random programs with planted symmetry: small ones blown up, then made awkward, all from one random generator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from tests.fuzz.draft import Array, Draft
from tests.fuzz.draw_cones import with_cones, with_quadratic_rows
from tests.fuzz.number_styles import SCALES, STYLES

Random = np.random.Generator
KINDS = ("LP", "QP", "QCQP", "SOCP", "conic")
_SHARES = (0.5, 0.24, 0.09, 0.09, 0.08)


def drawn_program(random: Random) -> Draft:
    """A program of any kind, often with classes of equivalent variables, seldom a comfortable one."""
    kind = str(random.choice(KINDS, p=_SHARES))
    style = str(random.choice(list(STYLES)))
    if kind in ("SOCP", "conic") and style == "wide":
        style = "decimals"  # no solver of cones can be a judge there
    draft = _blown_up_program(random, kind == "QP" or (kind != "LP" and random.random() < 0.3), style)
    if kind == "QCQP":
        draft = with_quadratic_rows(draft, random)
    if kind in ("SOCP", "conic"):
        draft = with_cones(draft, random, kind)
    for change, chance in (
        (_with_duplicates, 0.2), (_with_fixed, 0.15), (_with_free, 0.15), (_with_cancelling, 0.2),
        (_with_huge_bounds, 0.1), (_with_scaled_rows, 0.3), (_with_contradiction, 0.12), (_with_escape, 0.1),
        (_with_empty_parts, 0.1),
    ):  # fmt: skip
        if random.random() < chance:
            draft = change(draft, random)
    if not draft.cones and not draft.quadratic and random.random() < 0.15:
        draft = _with_scaled_columns(draft, random)
    draft = _shuffled(draft, random)
    if random.random() < 0.25:
        draft = replace(draft, sense="max", q=-draft.q, P=None if draft.P is None else -draft.P, r=-draft.r)
    return draft


def _did(draft: Draft, word: str) -> dict[str, Any]:
    return draft.words | {"changes": [*draft.words.get("changes", ()), word]}


def _blown_up_program(random: Random, quadratic: bool, style: str) -> Draft:
    copies, n_classes, m_classes = int(random.integers(1, 5)), int(random.integers(1, 5)), int(random.integers(0, 4))
    number = STYLES[style]
    base = np.array([[number(random) for _ in range(n_classes)] for _ in range(m_classes)])
    base = base.reshape(m_classes, n_classes) * (random.random((m_classes, n_classes)) < 0.7)
    A = _blown_up(base, copies, random)
    of_variable, of_row = np.repeat(np.arange(n_classes), copies), np.repeat(np.arange(m_classes), copies)
    centre = random.choice([-1.0, 0.0, 0.5, 1.0, 2.0], n_classes)
    lb = (centre - random.choice([0.0, 0.5, 1.0, 3.0, np.inf], n_classes, p=[0.3, 0.2, 0.2, 0.2, 0.1]))[of_variable]
    ub = (centre + random.choice([0.5, 1.0, 3.0, np.inf], n_classes, p=[0.25, 0.2, 0.25, 0.3]))[of_variable]
    activity = np.array([float(base[i] @ centre) for i in range(m_classes)])
    slack = random.choice([0.25, 0.5, 1.0], m_classes) * np.maximum(np.abs(activity), np.abs(base).max(1, initial=0.0))
    sides = random.integers(0, 4, m_classes)
    l = np.where(sides == 1, -np.inf, np.where(sides == 3, activity, activity - slack))[of_row]
    u = np.where(sides == 2, np.inf, np.where(sides == 3, activity, activity + slack))[of_row]
    costs = STYLES[style if random.random() < 0.5 else "whole"]
    q = np.array([costs(random) if random.random() < 0.85 else 0.0 for _ in range(n_classes)])[of_variable]
    P = _convex_part(random, n_classes, copies, of_variable) if quadratic else None
    words = {"style": style, "copies": copies, "changes": []}
    return Draft(q, A, l, u, lb, ub, P, float(random.choice([0.0, 3.5, -1e6], p=[0.7, 0.2, 0.1])), words=words)


def _convex_part(random: Random, n_classes: int, copies: int, of_variable: Any) -> Array | None:
    rank = int(random.integers(1, n_classes + 1))
    factor = _blown_up(random.integers(-1, 2, (rank, n_classes)).astype(float), copies, random)
    weights = random.choice([0.0, 0.5, 1.0, 0.1], n_classes)[of_variable]
    P = (factor.T @ factor).round(9) * float(random.choice([1.0, 1.0, 0.3, 1e-3, 1e3]))
    P = (P + P.T) / 2 + np.diag(weights)
    return P if P.any() else None


def _blown_up(base: Array, copies: int, random: Random) -> Array:
    """Each entry becomes a block of constant row and column sums, in one part or in two that add up as decimals."""
    m, n = base.shape
    A = np.zeros((m * copies, n * copies))
    for i, j in zip(*np.nonzero(base), strict=True):
        parts = [float(base[i, j])]
        if copies > 1 and random.random() < 0.5:
            part = float(random.choice([0.1, 0.2, 0.3, 0.7, 1.0]))
            parts = [part, float(np.round(parts[0] - part, 9))]
        order = random.permutation(copies)
        for part, shift in zip(parts, order, strict=False):
            for k in range(copies):
                A[i * copies + k, j * copies + (k + shift) % copies] = part
    return A


def _with_duplicates(draft: Draft, random: Random) -> Draft:
    """Rows again, with a factor, and columns again."""
    if draft.m and random.random() < 0.7:
        i, factor = int(random.integers(draft.m)), float(random.choice([1.0, -1.0, 2.0, 0.1, 3.0]))
        sides = sorted([draft.l[i] * factor, draft.u[i] * factor])
        draft = replace(
            draft, A=np.vstack([draft.A, draft.A[i] * factor]), l=np.append(draft.l, sides[0]),
            u=np.append(draft.u, sides[1]),
        )  # fmt: skip
    if not draft.cones and not draft.quadratic and draft.P is None:
        j = int(random.integers(draft.n))
        columns = np.append(np.arange(draft.n), j)
        draft = draft.with_columns(columns)
    return replace(draft, words=_did(draft, "duplicates"))


def _with_fixed(draft: Draft, random: Random) -> Draft:
    value = np.array([float(random.choice([0.1, 1.0, -0.7, 0.0, 1 / 3]))])
    touch = random.choice([0.0, 0.1, 0.2, 1.0], draft.m)
    shift = touch * value
    return _with_column(
        replace(draft, l=draft.l + shift, u=draft.u + shift), touch, 1.0, value, value, _did(draft, "fixed")
    )


def _with_free(draft: Draft, random: Random) -> Draft:
    """A free variable, held by a row of its own."""
    draft = _with_column(draft, np.zeros(draft.m), float(random.choice([0.0, 1.0])), -np.inf, np.inf, {})
    row = np.zeros((1, draft.n))
    row[0, -1], row[0, 0] = 1.0, float(random.choice([0.0, -1.0, 0.5]))
    return replace(
        draft, A=np.vstack([draft.A, row]), l=np.append(draft.l, -4.0), u=np.append(draft.u, 6.0),
        words=_did(draft, "free"),
    )  # fmt: skip


def _with_column(draft: Draft, column: Array, cost: float, lb: Any, ub: Any, words: dict[str, Any]) -> Draft:
    n = draft.n
    P = None if draft.P is None else np.block([[draft.P, np.zeros((n, 1))], [np.zeros((1, n)), np.zeros((1, 1))]])
    quadratic = tuple((np.pad(P_k, ((0, 1), (0, 1))), np.append(q_k, 0.0), r_k) for P_k, q_k, r_k in draft.quadratic)
    cones = tuple((cone, np.pad(C, ((0, 0), (0, 1))), b) for cone, C, b in draft.cones)
    return replace(
        draft, q=np.append(draft.q, cost), A=np.hstack([draft.A, column[:, None]]), lb=np.append(draft.lb, lb),
        ub=np.append(draft.ub, ub), P=P, quadratic=quadratic, cones=cones, words=words or draft.words,
    )  # fmt: skip


def _with_cancelling(draft: Draft, random: Random) -> Draft:
    """Entries whose sum over a class is exactly zero as decimals: 0.1 + 0.2 - 0.3."""
    if draft.n < 3:
        return draft
    row = np.zeros((1, draft.n))
    row[0, random.permutation(draft.n)[:3]] = random.choice([1.0, 10.0, 1 / 3]) * np.array([0.1, 0.2, -0.3])
    return replace(
        draft, A=np.vstack([draft.A, row]), l=np.append(draft.l, -2.0), u=np.append(draft.u, 2.0),
        words=_did(draft, "cancelling"),
    )  # fmt: skip


def _with_huge_bounds(draft: Draft, random: Random) -> Draft:
    size = float(random.choice([1e6, 1e9, 1e15, 1e20, 1e30]))
    lb = np.where(np.isinf(draft.lb) & (random.random(draft.n) < 0.5), -size, draft.lb)
    ub = np.where(np.isinf(draft.ub) & (random.random(draft.n) < 0.5), size, draft.ub)
    u = np.where(np.isinf(draft.u) & (random.random(draft.m) < 0.5), size, draft.u)
    return replace(draft, lb=lb, ub=ub, u=u, words=_did(draft, f"huge bounds {size:g}"))


def _with_scaled_rows(draft: Draft, random: Random) -> Draft:
    factors = random.choice(SCALES, draft.m) * random.choice([1.0, -1.0], draft.m, p=[0.8, 0.2])
    if random.random() < 0.5:
        factors = np.where(random.random(draft.m) < 0.7, 1.0, factors)
    with np.errstate(invalid="ignore"):
        ends = draft.l * factors, draft.u * factors
    l, u = np.where(factors > 0, *ends), np.where(factors > 0, ends[1], ends[0])
    return replace(draft, A=draft.A * factors[:, None], l=l, u=u, words=_did(draft, "scaled rows"))


def _with_scaled_columns(draft: Draft, random: Random) -> Draft:
    """Other units: x = factor * x'."""
    factors = np.where(random.random(draft.n) < 0.5, 1.0, random.choice(SCALES, draft.n))
    P = None if draft.P is None else draft.P * factors[:, None] * factors
    return replace(
        draft, q=draft.q * factors, A=draft.A * factors, lb=draft.lb / factors, ub=draft.ub / factors,
        P=None if P is None else (P + P.T) / 2, words=_did(draft, "scaled columns"),
    )  # fmt: skip


def _with_contradiction(draft: Draft, random: Random) -> Draft:
    """Rows that cannot hold together, often by a combination of several."""
    if draft.m == 0:
        return draft
    weights = random.choice([0.0, 1.0, 1.0, 0.5], draft.m) * np.isfinite(draft.u)
    if not weights.any():
        return draft
    row, bound = weights @ draft.A, float(weights @ np.where(np.isfinite(draft.u), draft.u, 0.0))
    beyond = bound + float(random.choice([0.5, 1.0, 1e-2])) * max(1.0, abs(bound))
    return replace(
        draft, A=np.vstack([draft.A, row]), l=np.append(draft.l, beyond), u=np.append(draft.u, np.inf),
        words=_did(draft, "contradiction"),
    )  # fmt: skip


def _with_escape(draft: Draft, random: Random) -> Draft:
    """A variable that may run off, and improves the objective; often other rows hold it back."""
    touch = np.zeros(draft.m) if random.random() < 0.6 else random.choice([0.0, 1.0, -1.0], draft.m)
    touch = np.where(np.isfinite(draft.u), -np.abs(touch), np.abs(touch)) * (random.random(draft.m) < 0.5)
    cost = float(random.choice([-1.0, -1e-3, -0.1, 0.0]))
    return _with_column(draft, touch, cost, float(random.choice([0.0, -np.inf, -1.0])), np.inf, _did(draft, "escape"))


def _with_empty_parts(draft: Draft, random: Random) -> Draft:
    if random.random() < 0.5:
        free = bool(random.integers(2))
        sides = (-np.inf, np.inf) if free else (-1.0, 0.0)
        return replace(
            draft, A=np.vstack([draft.A, np.zeros((1, draft.n))]), l=np.append(draft.l, sides[0]),
            u=np.append(draft.u, sides[1]), words=_did(draft, "empty row"),
        )  # fmt: skip
    return _with_column(draft, np.zeros(draft.m), 0.0, -1.0, 1.0, _did(draft, "empty column"))


def _shuffled(draft: Draft, random: Random) -> Draft:
    cones = tuple(draft.cones[k] for k in random.permutation(len(draft.cones)))
    quadratic = tuple(draft.quadratic[k] for k in random.permutation(len(draft.quadratic)))
    draft = replace(draft, cones=cones, quadratic=quadratic)
    return draft.with_columns(random.permutation(draft.n)).with_rows(random.permutation(draft.m))
