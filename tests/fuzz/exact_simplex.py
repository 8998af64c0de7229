"""The simplex method in fractions, by Bland's rule: slow, exact, and the judge where solvers disagree."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite

import numpy as np
from tests.fuzz.draft import Draft
from tests.fuzz.routes import Found

ZERO, ONE = Fraction(0), Fraction(1)


def exact_optimum(draft: Draft) -> Found:
    """The optimum of a linear program, its numbers read as decimals."""
    columns, rows, cost, sign = _standard_form(draft)
    status, value = _Tableau(rows, columns).optimum(cost)
    if status != "optimal":
        return Found("exact", status)
    return Found("exact", "optimal", float(sign * value))


def _fraction(value: float) -> Fraction:
    return Fraction(repr(float(value)))


def _standard_form(draft: Draft) -> tuple[int, list[dict[int, Fraction]], dict[int, Fraction], int]:
    """Rows of equations in non-negative unknowns; the right-hand side under the key -1, the constant too."""
    sign = -1 if draft.sense == "max" else 1
    terms: list[tuple[Fraction, list[tuple[int, int]]]] = []
    rows: list[dict[int, Fraction]] = []
    n = 0

    def new() -> int:
        nonlocal n
        n += 1
        return n - 1

    for lower, upper in zip(draft.lb.tolist(), draft.ub.tolist(), strict=True):
        has_lower, has_upper = isfinite(lower), isfinite(upper)
        if has_lower:
            low, z = _fraction(lower), new()
            terms.append((low, [(z, 1)]))
            if has_upper:
                rows.append({z: ONE, new(): ONE, -1: _fraction(upper) - low})
        elif has_upper:
            terms.append((_fraction(upper), [(new(), -1)]))
        else:
            terms.append((ZERO, [(new(), 1), (new(), -1)]))
    for a, lower, upper in zip(draft.A, draft.l.tolist(), draft.u.tolist(), strict=True):
        entries: dict[int, Fraction] = {}
        shift = ZERO
        for j in np.flatnonzero(a):
            value = _fraction(a[j])
            shift += value * terms[j][0]
            for z, direction in terms[j][1]:
                entries[z] = entries.get(z, ZERO) + direction * value
        sides = [(side, s) for side, s in ((lower, -1), (upper, 1)) if isfinite(side)]
        if len(sides) == 2 and lower == upper:
            rows.append({**entries, -1: _fraction(lower) - shift})
            continue
        for side, direction in sides:
            rows.append({**entries, new(): Fraction(direction), -1: _fraction(side) - shift})
    cost = {-1: ZERO}
    for i, value in enumerate(draft.q.tolist()):
        cost[-1] += sign * _fraction(value) * terms[i][0]
        for z, direction in terms[i][1]:
            cost[z] = cost.get(z, ZERO) + sign * direction * _fraction(value)
    return n, rows, cost, sign


class _Tableau:
    """Rows in the basis: each is solved for its basic unknown."""

    def __init__(self, rows: list[dict[int, Fraction]], n: int) -> None:
        self.rows = [row if row[-1] >= 0 else {k: -v for k, v in row.items()} for row in rows]
        self.n = n
        self.basis = [n + i for i in range(len(rows))]
        for i, row in enumerate(self.rows):
            row[n + i] = ONE  # an artificial unknown

    def optimum(self, cost: dict[int, Fraction]) -> tuple[str, Fraction]:
        first = {-1: ZERO}
        for row in self.rows:
            for k, v in row.items():
                if k < self.n:
                    first[k] = first.get(k, ZERO) - v
        self._improve(first)
        if first[-1] != 0:
            return "infeasible", ZERO
        self._drive_out_artificials()
        reduced = {**cost, -1: -cost[-1]}
        for i, basic in enumerate(self.basis):
            _subtract(reduced, self.rows[i], reduced.get(basic, ZERO))
        if not self._improve(reduced):
            return "unbounded", ZERO
        return "optimal", -reduced[-1]

    def _improve(self, cost: dict[int, Fraction]) -> bool:
        """Pivot until no reduced cost is negative; False if nothing stops the objective."""
        while True:
            entering = min((k for k, v in cost.items() if 0 <= k < self.n and v < 0), default=None)
            if entering is None:
                return True
            ratios = [(row[-1] / row[entering], self.basis[i], i) for i, row in enumerate(self.rows)
                      if row.get(entering, ZERO) > 0]  # fmt: skip
            if not ratios:
                return False
            self._pivot(min(ratios)[2], entering, cost)

    def _pivot(self, i: int, entering: int, cost: dict[int, Fraction] | None) -> None:
        factor = self.rows[i][entering]
        self.rows[i] = row = {k: v / factor for k, v in self.rows[i].items()}
        for other in self.rows:
            if other is not row:
                _subtract(other, row, other.get(entering, ZERO))
        if cost is not None:
            _subtract(cost, row, cost.get(entering, ZERO))
        self.basis[i] = entering

    def _drive_out_artificials(self) -> None:
        kept = []
        for i in range(len(self.rows)):
            if self.basis[i] >= self.n:
                entering = min((k for k, v in self.rows[i].items() if 0 <= k < self.n and v != 0), default=None)
                if entering is None:
                    continue  # the row says 0 = 0
                self._pivot(i, entering, None)
            kept.append(i)
        self.rows, self.basis = [self.rows[i] for i in kept], [self.basis[i] for i in kept]
        for row in self.rows:
            for k in [k for k in row if k >= self.n]:
                del row[k]


def _subtract(target: dict[int, Fraction], row: dict[int, Fraction], factor: Fraction) -> None:
    if not factor:
        return
    for k, v in row.items():
        value = target.get(k, ZERO) - factor * v
        if value or k == -1:
            target[k] = value
        else:
            target.pop(k, None)
