r"""A number that no feasible point can beat, from any point v and any dual values y: proved, not estimated.

With :math:`P \succeq \mathrm{diag}(\mu)`, dual values y of finite bounds only, and
:math:`g = Pv + q + A^\top y`, every feasible x has

.. math:: f(x) \;\ge\; r - \tfrac12 v^\top P v - \big(u^\top y^+ - l^\top y^-\big)
   + \sum_j \inf_{lo_j \le x_j \le hi_j} \Big[\, g_j x_j + \tfrac12 \mu_j (x_j - v_j)^2 \Big].

The infimum of each term is known in closed form. Boxes make it finite whatever g is; curvature does where there are no
boxes; for a variable with neither, g must vanish. The box of a variable is its own bounds, tightened by

- the rows: what the other variables of a row leave for this one (:func:`tighten`);
- the objective, given a value U that is reached: only points with :math:`f(x) \le U` matter, for which
  :math:`q^\top x \le U - r` and :math:`\tfrac12\mu_j x_j^2 \le U - r - \inf q^\top x`. The bound is then min(bound, U).

**Rounding.** g, the boxes and the sums are computed in floats; their errors are bounded by the usual
:math:`\gamma_k = k\varepsilon / (1 - k\varepsilon)` times sums of magnitudes, and taken off. What is assumed: P is
positive semidefinite (it was checked when the program was made) and the numbers of the program are the program.

**Variables without box and curvature.** There g must be *exactly* zero, which floats cannot say. With a finite
``radius`` such a variable is taken to lie in [-radius, radius] if g is zero up to :data:`NEGLIGIBLE`, or in any case if
the caller knows the radius (``radius_is_known``). :attr:`LowerBound.radius` tells so: the bound then holds for all
points within it. Otherwise there is no bound: -inf.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import sparse

from relift.approximate.boxes import PASSES, tighten
from relift.approximate.curvature import curvature, curvature_by_factorisation
from relift.approximate.rounding import EPSILON, gamma
from relift.arrays import Indices, Vector
from relift.program.program import Program

STEPS = 9
"""How often the search for the best multiple of the dual values changes its step."""

NEGLIGIBLE = 1e-8
"""A gradient this small counts as zero where only a radius holds a variable: against the terms that it is the sum of,
or, for a variable without a cost, against the largest term of all variables."""


@final
@dataclass(frozen=True, eq=False)
class LowerBound:
    """A proved lower bound on a minimisation.

    Parameters
    ----------
    value
        The bound; -inf if these dual values prove nothing.
    v, y
        The point and the dual values that prove it.
    gradient
        Pv + q + A'y: what is left to the boxes.
    variable_gap, row_gap
        By how much each variable and each row parts the bound from the objective at v, if v is feasible.
    loose
        Variables that no box and no curvature hold, though g is not zero.
    radius
        Infinite if the bound holds for every feasible point; else it holds for those whose loose variables lie in
        [-radius, radius].
    """

    value: float
    v: Vector
    y: Vector
    gradient: Vector
    variable_gap: Vector
    row_gap: Vector
    loose: Indices
    radius: float = math.inf

    @property
    def is_unconditional(self) -> bool:
        """Whether it holds for every feasible point."""
        return math.isinf(self.radius)


@final
@dataclass(frozen=True, eq=False)
class _Parts:
    """Products that the bounds of all multiples of y share."""

    v: Vector
    Pv: Vector
    curved: Vector
    Av: Vector
    y: Vector
    Aty: Vector
    magnitude: Vector
    box: tuple[Vector, Vector]


@final
class BoundProver:
    """What can be prepared once for all bounds on one program: curvature, boxes, magnitudes.

    Parameters
    ----------
    program
        A minimisation.
    known_curvature
        A vector μ, known to the caller, with P ⪰ diag(μ) on all directions between two feasible points.
    known_box
        Bounds of the variables, known to the caller, of all points that matter.
    passes
        How often rows may tighten the bounds of variables; :meth:`sharpen` does more of it.
    flops
        How many operations may be spent on the curvature of P.

    Examples
    --------
    The optimum of this program is 2 (x = 1, 1); no dual value proves 0, half of the right one 1, the right one 2:

    >>> program = Program(q=[1.0, 1.0], A=[[1.0, 1.0]], l=[2.0], lb=0, ub=3)
    >>> prover = BoundProver(program)
    >>> v = np.ones(2)
    >>> [round(prover.prove(v, np.array([y])).value, 9) for y in (0.0, -0.5, -1.0)]
    [0.0, 1.0, 2.0]
    """

    def __init__(
        self,
        program: Program,
        known_curvature: Vector | None = None,
        known_box: tuple[Vector, Vector] | None = None,
        *,
        passes: int = PASSES,
        flops: float = math.inf,
    ) -> None:
        self.program = program
        self.magnitude_A = abs(program.A)
        self.magnitude_P = None if program.P is None else abs(program.P)
        entries = int(np.diff(program.A.tocsc().indptr).max(initial=0))
        if program.P is not None:
            entries += int(np.diff(program.P.indptr).max(initial=0))
        self.gamma = gamma(entries + 8)
        found = curvature(program.P, program.n_variables, flops)
        if known_curvature is not None and known_curvature.sum() > found.sum():
            found = known_curvature  # one or the other: the larger of two such vectors need not be one
        self.curvature = found
        self._is_sharp = program.P is None
        self._passes = passes
        self._rows = program.A.tocsr()
        lower, upper = program.lb, program.ub
        if known_box is not None:
            lower, upper = np.maximum(lower, known_box[0]), np.minimum(upper, known_box[1])
        self.lower, self.upper = tighten(self._rows, program.l, program.u, lower, upper, passes)
        self._cutoff, self._cut_box = math.inf, (self.lower, self.upper)

    def sharpen(self, flops: float = math.inf) -> bool:
        """Spend what was saved before, on boxes and on the curvature of P; whether more is known now."""
        before = self.curvature
        if self.program.P is not None and not self._is_sharp:
            self._is_sharp = True
            self.curvature = before + curvature_by_factorisation(self.program.P, before, flops)
        more, self._passes = PASSES - self._passes, PASSES
        lower, upper = self.lower, self.upper
        if more > 0:
            self.lower, self.upper = tighten(self._rows, self.program.l, self.program.u, lower, upper, more)
        changed = bool(np.any(self.curvature > before) or np.any(self.lower > lower) or np.any(self.upper < upper))
        if changed:
            self._cutoff, self._cut_box = math.inf, (self.lower, self.upper)
        return changed

    def box(self, cutoff: float = math.inf) -> tuple[Vector, Vector]:
        """Bounds that every feasible point with objective at most ``cutoff`` keeps."""
        if cutoff < self._cutoff:
            self._cutoff, self._cut_box = cutoff, self._cut(cutoff)
        return self._cut_box

    def _cut(self, cutoff: float) -> tuple[Vector, Vector]:
        program, mu = self.program, self.curvature
        lower, upper = self._cut_box
        left = cutoff - program.r + 1e-12 * (1.0 + abs(cutoff) + abs(program.r))
        if program.q.any():
            objective = sparse.csr_array(program.q[None, :])
            lower, upper = tighten(objective, np.array([-np.inf]), np.array([left]), lower, upper, passes=1)
        if mu.any():
            least = np.where(program.q > 0, lower, np.where(program.q < 0, upper, 0.0)) * program.q
            least[program.q == 0] = 0.0
            energy = left - math.fsum(least) if np.isfinite(least).all() else math.inf
            if math.isfinite(energy):
                energy = max(0.0, energy + 1e-12 * (1.0 + float(np.abs(least).sum())))
                with np.errstate(divide="ignore"):
                    reach = np.where(mu > 0, np.sqrt(2.0 * energy / np.where(mu > 0, mu, 1.0)) * (1 + 1e-12), np.inf)
                # Boxes that would be empty stay: then the cutoff is below the optimum, and min(bound, cutoff) is right.
                keep = (-reach > upper) | (reach < lower)
                lower = np.where(keep, lower, np.maximum(lower, -reach))
                upper = np.where(keep, upper, np.minimum(upper, reach))
        return tighten(self._rows, program.l, program.u, lower, upper, passes=min(3, self._passes))

    def prove(
        self,
        v: Vector,
        y: Vector,
        cutoff: float = math.inf,
        radius: float = math.inf,
        *,
        radius_is_known: bool = False,
        search_multiple: bool = False,
    ) -> LowerBound:
        """The lower bound that a point and dual values of the rows prove.

        Parameters
        ----------
        v
            Any point; the optimum gives the best bound. Not used by linear programs but for the parts of the gap.
        y
            Any dual values of the rows; those of infinite bounds count as 0.
        cutoff
            A value of the objective that is known to be reached; the bound never exceeds it.
        radius
            Where only rounding parts g from zero, variables that nothing else holds are taken to lie within it;
            infinite for no such assumption.
        radius_is_known
            The radius is a fact about every point that matters: use it whatever g is.
        search_multiple
            Return the best of the bounds of t·y for t around 1: the bound is concave in t, so few steps find it.
        """
        program = self.program
        if not (np.isfinite(v).all() and np.isfinite(y).all()):
            return self._nothing()
        y = payable(y, program.l, program.u)
        box = self.box(cutoff)
        if math.isfinite(cutoff):
            cutoff = self._cutoff  # the box may come from an earlier, lower one
        Pv = np.zeros_like(v) if program.P is None else program.P @ v
        curved = np.zeros_like(v) if self.magnitude_P is None else self.magnitude_P @ np.abs(v)
        parts = _Parts(
            v=v,
            Pv=Pv,
            curved=curved,
            Av=program.A @ v,
            y=y,
            Aty=program.A.T @ y,
            magnitude=self.magnitude_A.T @ np.abs(y),
            box=box,
        )
        negligible = math.inf if radius_is_known else NEGLIGIBLE
        best = self._assemble(parts, 1.0, cutoff, radius, negligible)
        if search_multiple and y.any() and best.value < cutoff:
            t = self._best_multiple(parts)
            best = max(best, self._assemble(parts, t, cutoff, radius, negligible), key=lambda bound: bound.value)
        return best

    def _best_multiple(self, parts: _Parts) -> float:
        """The t near 1 for which t·y proves most, by a pattern search without regard to rounding."""
        y, (lower, upper) = parts.y, parts.box
        support = float(np.where(y > 0, self.program.u, np.where(y < 0, self.program.l, 0.0))[y != 0] @ y[y != 0])
        nothing = np.zeros_like(parts.v)

        def value(t: float) -> float:
            g = parts.Pv + self.program.q + t * parts.Aty
            return float(smallest_terms(g, nothing, self.curvature, parts.v, lower, upper).sum()) - t * support

        centre, width, best = 1.0, 0.5, value(1.0)
        for _ in range(STEPS):
            found, t = max((value(t), t) for t in (centre - width, centre + width) if t >= 0)
            if found > best:
                best, centre = found, t
            else:
                width *= 0.3
        return centre

    def _assemble(self, parts: _Parts, t: float, cutoff: float, radius: float, negligible: float) -> LowerBound:
        """The bound of v and t·y."""
        program, v, y = self.program, parts.v, t * parts.y
        lower, upper = parts.box
        g = parts.Pv + program.q + t * parts.Aty
        size = np.abs(program.q) + t * parts.magnitude + parts.curved
        error = self.gamma * size
        terms = smallest_terms(g, error, self.curvature, v, lower, upper)
        loose = np.flatnonzero(np.isneginf(terms))
        used = math.inf
        # Against its own terms where it has a cost: 1e-9 is not zero for a variable whose cost is 1e-9.
        scale = np.where(program.q != 0, size, float(size.max(initial=0.0)))
        if loose.size and math.isfinite(radius) and np.all(np.abs(g[loose]) <= negligible * scale[loose]):
            used = radius
            near_lower, near_upper = np.maximum(lower[loose], -radius), np.minimum(upper[loose], radius)
            terms[loose] = smallest_terms(
                g[loose], error[loose], self.curvature[loose], v[loose], near_lower, near_upper
            )
        with np.errstate(invalid="ignore"):
            support = np.where(y > 0, y * program.u, np.where(y < 0, y * program.l, 0.0))
            variable_gap = np.maximum(g * v - terms, 0.0)
        row_gap = np.maximum(support - t * parts.y * parts.Av, 0.0)
        value = -math.inf
        if np.isfinite(terms).all():
            half = 0.5 * v * parts.Pv
            spent = 0.5 * self.gamma * float(np.abs(v) @ parts.curved)
            spent += 4 * EPSILON * float(np.abs(half).sum() + np.abs(support).sum())
            value = math.fsum([program.r, -spent, *(-half), *(-support), *terms])
            value -= 2 * EPSILON * abs(value)
        return LowerBound(min(value, cutoff), v, y, g, variable_gap, row_gap, loose, used)

    def _nothing(self) -> LowerBound:
        n, m = self.program.n_variables, self.program.n_rows
        return LowerBound(-np.inf, np.zeros(n), np.zeros(m), np.zeros(n), np.zeros(n), np.zeros(m), np.arange(n))


def payable(y: Vector, lower: Vector, upper: Vector) -> Vector:
    """Dual values, with those of infinite bounds set to 0.

    Examples
    --------
    >>> payable(np.array([1.0, -1.0]), np.array([0.0, 0.0]), np.array([np.inf, 1.0])).tolist()
    [0.0, -1.0]
    """
    return np.where(((y > 0) & np.isinf(upper)) | ((y < 0) & np.isinf(lower)), 0.0, y)


def smallest_terms(g: Vector, error: Vector, mu: Vector, v: Vector, lower: Vector, upper: Vector) -> Vector:
    r"""For each j a number below :math:`(g_j \pm error_j)\, x + \tfrac12\mu_j(x - v_j)^2` for lower ≤ x ≤ upper.

    Examples
    --------
    >>> zero, endless = np.zeros(1), np.full(1, np.inf)
    >>> smallest_terms(np.array([2.0]), zero, zero, zero, np.array([-1.0]), endless).round(9).tolist()
    [-2.0]
    >>> smallest_terms(np.array([2.0]), zero, np.ones(1), zero, -endless, endless).round(9).tolist()
    [-2.0]
    """
    result = np.full(g.shape, np.inf)
    curved = mu > 0
    safe = np.where(curved, mu, 1.0)
    for c in (g - error, g + error) if error.any() else (g,):
        with np.errstate(invalid="ignore", over="ignore"):
            flat = np.where(c > 0, c * lower, np.where(c < 0, c * upper, 0.0))
            unconstrained = v - c / safe
            end = np.clip(unconstrained, lower, upper)
            inside = (unconstrained > lower) & (unconstrained < upper)
            bowl = 0.5 * safe * np.square(end - v)
            curved_value = np.where(inside, c * v - 0.5 * c * c / safe, c * end + bowl)
            size = np.where(curved, np.abs(c * v) + np.abs(c * end) + c * c / safe + bowl, np.abs(flat))
        value = np.where(curved, curved_value, flat)
        result = np.minimum(result, value - np.where(np.isfinite(size), 8 * EPSILON * size, 0.0))
    return np.where(np.isnan(result), -np.inf, result)
