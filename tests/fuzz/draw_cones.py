"""Quadratic constraints and cones for random programs, the same for every copy of a class or shared by all copies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from tests.fuzz.draft import Draft

from relift.program.cones import Cone, Exponential, Power, PowerND, SecondOrder

NUMBERS = np.array([-2.0, -1.0, -0.5, 0.0, 0.1, 0.3, 0.5, 1.0, 1.0, 2.0, 1 / 3])


def _bounded(draft: Draft) -> Draft:
    """Bounds on all variables: programs with cones need not attain their optimum otherwise."""
    lb, ub = np.where(np.isfinite(draft.lb), draft.lb, -5.0), np.where(np.isfinite(draft.ub), draft.ub, 5.0)
    return replace(draft, lb=lb, ub=ub)


def _point(draft: Draft) -> Any:
    return np.clip(0.0, np.maximum(draft.lb, -5.0), np.minimum(draft.ub, 5.0))


def with_quadratic_rows(draft: Draft, random: np.random.Generator) -> Draft:
    """Constraints ½x'Px + q'x <= r around the members of each copy, or around all."""
    draft = _bounded(draft)
    copies, point = draft.words["copies"], _point(draft)
    n_classes = draft.n // copies
    rows = []
    for _ in range(int(random.integers(1, 3))):
        slope, weight = random.choice(NUMBERS, n_classes), float(random.choice([0.5, 1.0, 2.0]))
        room, together = float(random.choice([0.0, 0.25, 1.0, 4.0])), bool(random.integers(2))
        groups = [np.arange(draft.n)] if together else [np.arange(n_classes) * copies + c for c in range(copies)]
        for members in groups:
            P, q = np.zeros((draft.n, draft.n)), np.zeros(draft.n)
            P[members, members] = weight
            q[members] = slope[members // copies]
            rows.append((P, q, round(float(0.5 * point @ P @ point + q @ point), 9) + room))
    return replace(draft, quadratic=tuple(rows))


def with_cones(draft: Draft, random: np.random.Generator, kind: str) -> Draft:
    """Cones over the members of each copy, or second-order cones over all copies."""
    draft = _bounded(draft)
    copies, point = draft.words["copies"], _point(draft)
    n_classes = draft.n // copies
    cones: list[tuple[Cone, Any, Any]] = []
    for _ in range(int(random.integers(1, 3))):
        cone, slack = _drawn(random, "SOCP" if kind == "SOCP" else str(random.choice(["SOCP", "exp", "pow", "nd"])))
        entries = random.choice(NUMBERS, (slack.size, n_classes))
        if isinstance(cone, SecondOrder) and random.random() < 0.4:
            head, tails = entries[:1].repeat(copies, 1), entries[1:]
            blocks = [np.zeros((tails.shape[0], draft.n)) for _ in range(copies)]
            for c, block in enumerate(blocks):
                block[:, np.arange(n_classes) * copies + c] = tails
            C = np.vstack([head / copies, *blocks])
            slack = np.concatenate([[copies * slack[0]], np.tile(slack[1:], copies)])
            cones.append((SecondOrder(C.shape[0]), C, (C @ point + slack).round(9)))
            continue
        for c in range(copies):
            C = np.zeros((slack.size, draft.n))
            C[:, np.arange(n_classes) * copies + c] = entries
            cones.append((cone, C, (C @ point + slack).round(9)))
    return replace(draft, cones=tuple(cones))


def _drawn(random: np.random.Generator, kind: str) -> tuple[Cone, Any]:
    """A cone and a slack inside of it."""
    if kind == "exp":
        return Exponential(), np.array([float(random.choice([-1.0, 0.0, 0.5])), 1.0, 2.0])
    if kind == "pow":
        return Power(float(random.choice([0.2, 0.5, 1 / 3]))), np.array([1.0, 2.0, 0.5])
    if kind == "nd":
        alphas = (0.25, 0.25, 0.5) if random.integers(2) else (0.2, 0.3, 0.5)
        return PowerND(alphas), np.array([1.0, 1.0, 2.0, -0.5])
    tails = random.choice(NUMBERS, int(random.integers(0, 4)))
    return SecondOrder(tails.size + 1), np.concatenate([[float(np.abs(tails).sum()) + 0.5], tails])
