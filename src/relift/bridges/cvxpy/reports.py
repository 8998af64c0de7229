"""What ``problem.solver_stats.extra_stats`` says of a lifted solve.

Plain numbers and texts, but for ``backend_stats``: what CVXPY would have shown in this place of the backend alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from relift.certified_solve import Attempt
from relift.lifting.certificate import Certificate
from relift.program.program import Program
from relift.result import Result


def report(
    ground: Program,
    result: Result,
    certificate: Certificate,
    attempts: Sequence[Attempt],
    *,
    how: str,
    recovered: str = "",
    lift_seconds: float = 0.0,
) -> dict[str, object]:
    """Sizes before and after, classes, seconds, residuals and calls of the backend.

    Parameters
    ----------
    ground
        The problem as CVXPY compiled it.
    result
        The answer of the pipeline.
    certificate
        Residuals on `ground`.
    attempts
        Every call of a backend, those that came to nothing too.
    how
        Whether the classes were found anew, re-used, not used in the end, or approximate.
    recovered
        What was found in the cones before lifting; empty if nothing was used.
    lift_seconds
        Seconds until the small program was ready.
    """
    lifting = result.lifting
    return {
        "backend": result.backend,
        "lift": lifting.settings.lift,
        "classes": how,
        "ground": sizes(ground),
        "reduced": sizes(lifting.reduction.program),
        "small": sizes(lifting.small),
        "recovered": recovered,
        "gap": _number(result.gap),
        "seconds": {"lift": lift_seconds, **result.timings},
        "certificate": {
            "tolerance": certificate.tolerance,
            "is_optimal": certificate.is_optimal,
            "is_proved": certificate.is_proved,
            "primal_residual": _number(certificate.primal_residual),
            "dual_residual": _number(certificate.dual_residual),
            "duality_gap": _number(certificate.duality_gap),
            "ray_residual": _number(certificate.ray_residual),
        },
        "attempts": [
            {"backend": a.backend, "status": str(a.status), "seconds": a.seconds, "residual": _number(a.residual)}
            for a in attempts
        ],
        "message": result.message,
        "backend_stats": result.solution.statistics.get("extra_stats"),
        "hint": None if lifting.hint is None else {"digits": lifting.hint.digits, "text": str(lifting.hint)},
        "notes": list(lifting.notes),
    }


def sizes(program: Program) -> dict[str, int]:
    """How large a program is."""
    return {
        "variables": program.n_variables,
        "rows": program.n_rows,
        "conic_rows": program.conic.n_rows,
        "cones": len(program.conic),
        "quadratic_constraints": len(program.quadratic),
        "nonzeros": program.n_nonzeros,
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
