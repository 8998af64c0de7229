"""The answer for the original program, with its certificate and how it was reached."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import final

from relift.approximate.report import ApproximationReport, Round
from relift.arrays import Vector
from relift.certified_solve import Attempt
from relift.lifting.certificate import Certificate
from relift.lifting.lifting import Lifting
from relift.lifting.second_look import RoundingHint
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.records import quick
from relift.versions import versions_for


@final
@quick
@dataclass(frozen=True, eq=False)
class Result:
    """The answer for the original program, with its certificate and how it was reached.

    Parameters
    ----------
    program
        The original program.
    solution
        Point, dual values and rays; see :class:`~relift.program.solution.Solution` for their signs.
    certificate
        Residuals on the original program.
    lifting
        Classes, small program, and the expansion of answers.
    timings
        Seconds of each stage.
    attempts
        Every call of a backend, in order.
    approximation
        What approximate lifting proved, round by round; None after exact lifting.
    """

    program: Program
    solution: Solution
    certificate: Certificate
    lifting: Lifting
    timings: dict[str, float] = field(default_factory=dict)
    attempts: tuple[Attempt, ...] = ()
    approximation: ApproximationReport | None = None

    @property
    def lower_bound(self) -> float:
        """Lower bound on the optimum, of approximate lifting; NaN otherwise."""
        return float("nan") if self.approximation is None else self.approximation.lower_bound

    @property
    def upper_bound(self) -> float:
        """Upper bound on the optimum, of approximate lifting; NaN otherwise."""
        return float("nan") if self.approximation is None else self.approximation.upper_bound

    @property
    def gap(self) -> float:
        """The distance of the two bounds, relative to ``max(1, |objective|)``; NaN otherwise."""
        return float("nan") if self.approximation is None else self.approximation.gap

    @property
    def rounds(self) -> tuple[Round, ...]:
        """What each round of approximate lifting reached."""
        return () if self.approximation is None else self.approximation.rounds

    @property
    def versions(self) -> dict[str, str]:
        """Versions of relift, Python, NumPy, SciPy and the solver that answered."""
        return dict(versions_for(self.backend))

    @property
    def status(self) -> Status:
        """How the solve ended; ``optimal`` only with a certificate that passes."""
        return self.solution.status

    @property
    def hint(self) -> RoundingHint | None:
        """What ``digits`` would find, where numbers that differ by rounding alone keep much apart; None otherwise."""
        return self.lifting.hint

    @property
    def x(self) -> Vector | None:
        """The point, or None."""
        return self.solution.x

    @property
    def y(self) -> Vector | None:
        """Dual values of the rows, or None."""
        return self.solution.y

    @property
    def w(self) -> Vector | None:
        """Dual values of the variable bounds, or None."""
        return self.solution.w

    @property
    def z(self) -> Vector | None:
        """Dual values of the quadratic constraints, or None."""
        return self.solution.z

    @property
    def v(self) -> Vector | None:
        """Dual values of the conic rows, in the dual cones, or None."""
        return self.solution.v

    @property
    def objective(self) -> float:
        """The objective at x, in the sense of the program; an infinity for infeasible and unbounded programs."""
        return self.solution.objective

    @property
    def ray_x(self) -> Vector | None:
        """Direction that proves unboundedness, or None."""
        return self.solution.ray_x

    @property
    def ray_y(self) -> Vector | None:
        """Dual values of the rows that prove infeasibility, or None."""
        return self.solution.ray_y

    @property
    def ray_w(self) -> Vector | None:
        """Dual values of the variable bounds that prove infeasibility, or None."""
        return self.solution.ray_w

    @property
    def ray_v(self) -> Vector | None:
        """Dual values of the conic rows that prove infeasibility, or None."""
        return self.solution.ray_v

    @property
    def backend(self) -> str:
        """Name of the backend that gave the answer."""
        return self.solution.backend

    @property
    def iterations(self) -> int | None:
        """Iterations of that backend, if it tells them."""
        return self.solution.iterations

    @property
    def message(self) -> str:
        """Anything worth telling."""
        return self.solution.message

    def report(self, path: str | Path, title: str = "") -> None:
        """Write a page of HTML that says what was merged, what was not and why, and how good the answer is.

        Parameters
        ----------
        path
            Where to.
        title
            Name of the model.
        """
        # The report reads results and so stands above them.
        import_module("relift.report.page").write_report(self, path, title=title)

    def _repr_html_(self) -> str:
        return str(import_module("relift.report.page").short_page(self))

    def __repr__(self) -> str:
        ground, small = self.program, self.lifting.small
        sizes = f"{ground.n_variables} -> {small.n_variables} variables, {ground.n_rows} -> {small.n_rows} rows"
        return f"Result({self.status}, objective={self.objective:.9g}, {sizes}, backend={self.backend})"
