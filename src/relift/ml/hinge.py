r"""Cutting planes and stochastic gradients on the quotient of a program with hinge structure.

:func:`solve_hinge` lifts a program (any :class:`relift.Program` of the form of :mod:`relift.ml.hinge_form`), solves the
quotient by a first-order method, expands the answer and checks it on the program as given:

``"cutting_plane"``
    the sum of hinges is replaced by the largest of a bundle of planes that touch it from below [1]_ [2]_; each plane is
    a dual point, and the best combination of them, a small quadratic program, gives the next weights and a lower bound.
``"sgd"``
    steps 1/t along subgradients of batches of rows [3]_; the average of the subgradients is a dual point.

Both keep a dual point beside the weights, so that after every round the gap is proved. They need products with the rows
only: no kernel, no factorisation but that of the quadratic term of the weights.

.. [1] Joachims: Training Linear SVMs in Linear Time, 2006.
.. [2] Teo, Vishwanathan, Smola, Le: Bundle Methods for Regularized Risk Minimization, 2010.
.. [3] Shalev-Shwartz, Singer, Srebro: Pegasos: Primal Estimated Sub-Gradient Solver for SVM, 2007.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import process_time
from typing import Literal, final

import numpy as np

from relift.arrays import Double
from relift.errors import OptionError
from relift.lifting.certificate import Certificate, certify
from relift.lifting.lifting import Lifting
from relift.ml.hinge_form import HingeForm
from relift.ml.nu_dual import NuDual, solve_nu_dual
from relift.pipeline import lift
from relift.program.program import Program
from relift.program.solution import Solution, Status

Method = Literal["cutting_plane", "sgd"]


@final
@dataclass(eq=False)
class HingeResult:
    """An answer for a program with hinge structure.

    Parameters
    ----------
    solution
        Point and dual values of the program as given.
    gap
        Proved: (objective - lower bound) / max(1, abs(objective)).
    objective, lower_bound
        Both sides.
    certificate
        Residuals on the program as given.
    lifting
        What was merged; None without lifting.
    rounds
        For each round its number, objective, lower bound, gap and CPU seconds since the start.
    """

    solution: Solution
    gap: float
    objective: float
    lower_bound: float
    certificate: Certificate
    lifting: Lifting | None
    rounds: list[dict[str, float]] = field(default_factory=list)

    @property
    def x(self) -> Double:
        """The point that was found."""
        return np.asarray(self.solution.x)


def solve_hinge(
    program: Program,
    *,
    method: Method = "cutting_plane",
    lifted: bool = True,
    tol_gap: float = 1e-4,
    max_rounds: int = 1000,
    seed: int = 0,
) -> HingeResult:
    """Solve a program with hinge structure by a first-order method on its quotient.

    Parameters
    ----------
    program
        See :mod:`relift.ml.hinge_form` for what it must look like.
    method
        ``"cutting_plane"`` or ``"sgd"``.
    lifted
        Whether to merge what is indistinguishable first.
    tol_gap
        The relative gap to reach.
    max_rounds
        Planes, or passes over all rows.
    seed
        Of the order of the rows (``"sgd"``).

    Raises
    ------
    OptionError
        If the program has no hinge structure, or an option is not one.

    Examples
    --------
    A median by absolute errors with a small ridge: each of four numbers twice.

    >>> values = np.repeat([1.0, 2.0, 4.0, 9.0], 2)
    >>> n = len(values)
    >>> rows = np.concatenate([np.ones(n), -np.ones(n)])[:, None]
    >>> P = np.diag(np.concatenate([[1e-3], np.zeros(2 * n)]))
    >>> program = Program(P=P, q=np.concatenate([[0.0], np.ones(2 * n)]), A=np.hstack([rows, np.eye(2 * n)]),
    ...                   l=np.concatenate([values, -values]), lb=np.concatenate([[-np.inf], np.zeros(2 * n)]))
    >>> result = solve_hinge(program)
    >>> result.gap <= 1e-4, bool(2 <= result.x[0] <= 4), result.lifting.small.n_rows
    (True, True, 8)
    """
    if method not in ("cutting_plane", "sgd"):
        raise OptionError(f"method={method!r} is not one.", "Expected one of: cutting_plane, sgd.")
    if not 0 < tol_gap < 1 or max_rounds < 1:
        raise OptionError("tol_gap must be between 0 and 1, and max_rounds at least 1.")
    HingeForm.of(program)  # says what is wrong with the program itself
    lifting = lift(program, reduce=False) if lifted else None
    form = HingeForm.of(program if lifting is None else lifting.small)
    run = _Run(form, tol_gap, max_rounds)
    if method == "cutting_plane":
        run.cutting_planes()
    else:
        run.stochastic_gradients(np.random.default_rng(seed))
    status = Status.OPTIMAL if run.gap <= tol_gap else Status.OPTIMAL_INACCURATE
    small = form.solution(run.w, run.b, run.alpha, run.upper, len(run.rounds), method)
    found = small if lifting is None else lifting.expand(small)
    objective = float(program.objective(np.asarray(found.x)))
    solution = replace(found, status=status, objective=objective, backend=method)
    return HingeResult(solution, run.gap, objective, run.lower, certify(program, solution), lifting, run.rounds)


@final
class _Run:
    """One run: the best weights, the best dual point, and what was seen on the way."""

    def __init__(self, form: HingeForm, tol_gap: float, most: int) -> None:
        self.form, self.tol_gap, self.most = form, tol_gap, most
        self.rounds: list[dict[str, float]] = []
        self.start = process_time()
        self.upper, self.lower = np.inf, -np.inf
        self.w, self.b = np.zeros(len(form.weights)), 0.0
        self.alpha = np.zeros(len(form.price))

    @property
    def gap(self) -> float:
        return max(0.0, self.upper - self.lower) / max(1.0, abs(self.upper)) if np.isfinite(self.upper) else np.inf

    def _see(self, w: Double) -> tuple[float, Double]:
        """Judge weights: the value, and the dual point of the plane that touches there."""
        left = self.form.left(w)
        b, plane = self.form.best_bias(left)
        value = self.form.primal_value(w, left, b)
        if value < self.upper:
            self.upper, self.w, self.b = value, w, b
        return value, plane

    def _prove(self, alpha: Double) -> Double:
        w = self.form.weights_of(alpha)
        value = self.form.dual_value(alpha, w)
        if value > self.lower:
            self.lower, self.alpha = value, alpha
        return w

    def _note(self, number: int) -> bool:
        self.rounds.append(
            {"round": number, "objective": self.upper, "lower_bound": self.lower, "gap": self.gap,
             "seconds": process_time() - self.start}
        )  # fmt: skip
        return self.gap <= self.tol_gap

    def cutting_planes(self) -> None:
        form = self.form
        w = self._prove(self.alpha)
        planes: list[Double] = []
        slopes: list[Double] = []
        weights = np.zeros(0)
        for number in range(1, self.most + 1):
            # Between the best weights so far and the new ones the objective is often lower than at both.
            _, plane = self._see(w)
            for share in (0.1, 0.3, 0.6):
                value, other = self._see((1.0 - share) * self.w + share * w)
                if value <= self.upper:
                    plane = other
            planes.append(plane)
            slopes.append(np.asarray(form.A.T @ plane))
            S = np.stack(slopes)
            inverse = np.stack([form.solve_P(row) for row in S])
            shift = form.solve_P(form.q)
            K = np.ascontiguousarray(S @ inverse.T)
            p = np.array([float(form.bound @ each) for each in planes]) + S @ shift
            size = len(planes)
            dual = NuDual(
                0.5 * (K + K.T), np.arange(size, dtype=np.int32), np.ones(size), np.zeros(size, dtype=np.int32), p,
                np.ones(size), np.ones(1),
            )  # fmt: skip
            tolerance = 1e-3 * self.tol_gap * max(1.0, abs(self.upper))
            weights = solve_nu_dual(dual, tolerance, 200_000).a
            w = self._prove(form.balanced(np.einsum("k,kr->r", weights, np.stack(planes))))
            if self._note(number):
                return
            if size > 150:  # planes that carry nothing are let go
                keep = np.flatnonzero(weights > 1e-12)
                planes, slopes = [planes[k] for k in keep], [slopes[k] for k in keep]

    def stochastic_gradients(self, random: np.random.Generator) -> None:
        form = self.form
        n_rows = len(form.price)
        n_batches = max(1, min(64, n_rows))
        total, kept, t = np.zeros(n_rows), 0, 0
        w = self._prove(self.alpha)
        b, _ = form.best_bias(form.left(w))
        average = np.zeros(n_rows)
        for number in range(1, self.most + 1):
            seen = np.zeros(n_rows)
            for part in np.array_split(random.permutation(n_rows), n_batches):
                t += 1
                rows = form.A[part]
                is_missing = form.bound[part] - rows @ w - form.sides[part] * b > 0
                alpha = np.where(is_missing, form.price[part], 0.0)
                seen[part] = alpha
                step = form.solve_P(n_batches * np.asarray(rows.T @ alpha) - form.q)
                w = (1.0 - 1.0 / t) * w + step / t
            # Whole passes are averaged, later ones with more weight: each is a point of the box.
            kept += number
            total += number * seen
            average = total / kept
            proved = self._prove(form.balanced(average))
            self._see(proved)
            self._see(w)
            b, _ = form.best_bias(form.left(w))
            if self._note(number):
                return
