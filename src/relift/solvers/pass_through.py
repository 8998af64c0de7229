"""What the pass-throughs to qpsolvers and CVXPY share: option names of the solvers behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from relift.errors import OptionError
from relift.program.solution import Status
from relift.settings import SolverSettings


@final
@dataclass(frozen=True)
class OwnWords:
    """The names by which a solver calls what every backend is told.

    Parameters
    ----------
    tolerances
        Options that take a tolerance.
    smallest
        The smallest tolerance worth asking for.
    time_limit, iteration_limit
        Options that limit a solve; empty if there is none.
    is_first_order
        Whether the solver is a first-order method.
    always
        Further options: OSQP's polishing prints even when it is told to be silent, HiGHS regularises QPs by 1e-7.
    """

    tolerances: tuple[str, ...] = ()
    smallest: float = 1e-10
    time_limit: str = ""
    iteration_limit: str = ""
    is_first_order: bool = False
    always: tuple[tuple[str, object], ...] = ()


_WORDS = {
    "clarabel": OwnWords(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10, "time_limit", "max_iter"),
    "highs": OwnWords(
        ("primal_feasibility_tolerance", "dual_feasibility_tolerance"),
        1e-10,
        "time_limit",
        "qp_iteration_limit",
        always=(("qp_regularization_value", 1e-11),),
    ),
    "osqp": OwnWords(("eps_abs", "eps_rel"), 1e-9, "time_limit", "max_iter", True, (("polishing", False),)),
    "piqp": OwnWords(("eps_abs", "eps_rel"), 1e-10, "", "max_iter"),
    "scs": OwnWords(("eps_abs", "eps_rel"), 1e-9, "time_limit_secs", "max_iters", is_first_order=True),
}


def own_words(solver: str) -> OwnWords:
    """Look up what is known of a solver; nothing, for one that is not in the table."""
    return _WORDS.get(solver.lower(), OwnWords())


def options_in_own_words(backend: str, solver: str, settings: SolverSettings) -> dict[str, object]:
    """Translate the settings into a solver's options; what it cannot obey is refused, not dropped."""
    words = own_words(solver)
    tolerance = max(words.smallest, min(1e-8, settings.tolerance * 1e-2))
    values: dict[str, object] = {**dict.fromkeys(words.tolerances, tolerance), **dict(words.always)}
    if words.is_first_order:
        values[words.iteration_limit] = 200_000
    for word, value, option in (
        ("time_limit", settings.time_limit, words.time_limit),
        ("iteration_limit", settings.iteration_limit, words.iteration_limit),
    ):
        if value is None:
            continue
        if not option:
            raise OptionError(
                f"{backend} has no {word} that relift knows of.",
                f"Remove {word}, and pass the solver's own option in options.",
            )
        values[option] = value
    return {**values, **settings.options}


def status_from_words(text: str) -> Status:
    """Read a solver's own word for a failure.

    Examples
    --------
    >>> status_from_words("PrimalInfeasible"), status_from_words("maximum iterations reached")
    (<Status.INFEASIBLE: 'infeasible'>, <Status.ITERATION_LIMIT: 'iteration_limit'>)
    """
    words = text.lower().replace("_", " ").replace(" ", "")
    if "time" in words:
        return Status.TIME_LIMIT
    if "iter" in words:
        return Status.ITERATION_LIMIT
    if "inaccurate" in words or "almost" in words:
        return Status.FAILURE
    if "dualinfeasible" in words or "unbounded" in words:
        return Status.FAILURE if "unboundedorinfeasible" in words else Status.UNBOUNDED
    if "infeasible" in words:
        return Status.INFEASIBLE
    return Status.FAILURE
