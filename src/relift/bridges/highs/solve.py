"""Solve the model of a ``highspy.Highs`` through relift, in place of ``h.run()``."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Literal, final, get_args

import numpy as np

from relift.bridges.highs.files import check_files, write_answer_files, write_model_file
from relift.bridges.highs.options import changed_for_a_while, option, settings_from
from relift.bridges.highs.read import check_is_highs, discrete_columns, name_of_column, program_from_highs
from relift.bridges.highs.write import forget_answer, write_answer
from relift.errors import BoundsError, UnsupportedError
from relift.program.solution import Status
from relift.result import Result
from relift.settings import check_choice
from relift.solvers.highs_ import MODEL_STATUSES, set_basis

if TYPE_CHECKING:
    from highspy import Highs

Integers = Literal["refuse", "pass"]
"""What becomes of a model with integer variables: an error, or a run of HiGHS on the whole model, without lifting."""


@final
@dataclass(frozen=True)
class Outcome:
    """What became of the model of a ``highspy.Highs``.

    Parameters
    ----------
    status
        How the solve ended.
    objective
        The objective of the point that the object holds now; NaN if it holds none.
    result
        The answer of relift, with classes and certificate; None if the model was not lifted.
    reason
        Why the model was passed to HiGHS unlifted, or what the solver of the small program was not told; mostly empty.
    """

    status: Status
    objective: float
    result: Result | None = None
    reason: str = ""

    @property
    def is_lifted(self) -> bool:
        """Whether the answer is relift's; otherwise HiGHS has solved the model directly, and nothing was certified."""
        return self.result is not None

    def __repr__(self) -> str:
        if self.result is None:
            return f"Outcome({self.status}, objective={self.objective:.9g}, not lifted: {self.reason})"
        return repr(self.result).replace("Result(", "Outcome(", 1)


def solve(highs: Highs, *, integers: Integers = "refuse", **options: object) -> Outcome:
    """Solve the model that a ``highspy.Highs`` holds, in place of ``h.run()``, and set the answer in place.

    Afterwards ``h.getModelStatus()``, ``h.getSolution()`` (values, dual values, reduced costs, in HiGHS's signs),
    ``h.getInfo()`` and ``h.getObjectiveValue()`` tell what relift found. The options of the object are used: time
    limit, threads and log by relift, all others by HiGHS where it is the solver of the small program. Files that they
    name are written as by ``h.run()``: model, solution, and the basis of a vertex (linear models).

    The point is in general not a vertex, so that the object holds no basis; ``vertex=True`` moves it to one, and lets
    HiGHS confirm it. What relift cannot solve or certify is left to HiGHS: an empty model, crossed bounds, an infinite
    cost, several objectives, and a linear program whose answer does not pass its check.

    Parameters
    ----------
    highs
        A ``highspy.Highs`` with a model.
    integers
        What to do with a model that has integer or semi-continuous variables: ``"refuse"`` it with an error, or
        ``"pass"`` it to HiGHS, without lifting. With HiGHS's option ``solve_relaxation`` they are continuous.
    **options
        Keywords of :func:`relift.solve`.

    Returns
    -------
    Outcome
        Status, objective, and the :class:`relift.Result` with classes and certificate.

    Raises
    ------
    UnsupportedError
        If there are integer variables, and they are not to be passed.
    ProgramError
        If the numbers make no convex program.
    NotAProgramError
        If it is not a ``highspy.Highs``.
    FileNotFoundError
        If the folder of a file that is to be written does not exist; nothing is solved then.
    OptionError
        If an option has a wrong value.

    Examples
    --------
    >>> import highspy
    >>> h = highspy.Highs()
    >>> h.silent()
    >>> shops = [h.addVariable(ub=1) for _ in range(100)]
    >>> for i in range(100):
    ...     _ = h.addConstr(shops[i] + shops[i - 1] >= 1)
    >>> _ = h.setObjective(sum(shops))
    >>> solve(h)
    Outcome(optimal, objective=50, 100 -> 1 variables, 100 -> 1 rows, backend=highs)
    >>> h.getModelStatus().name, h.getSolution().row_dual[:3]
    ('kOptimal', [0.5, 0.5, 0.5])
    """
    check_is_highs(highs)
    check_choice("integers", integers, get_args(Integers))
    start = perf_counter()
    if reason := _why_not_lifted(highs, integers):
        return _run_as_it_is(highs, reason)
    try:
        program = program_from_highs(highs)
    except BoundsError as error:  # to relift wrong input, to HiGHS an infeasible model
        return _run_as_it_is(highs, error.message)
    from relift.pipeline import solve as solve_program

    check_files(highs)
    write_model_file(highs)
    words, unseen = settings_from(highs, options)
    if program.is_linear and option(highs, "write_basis_file"):
        words.setdefault("vertex", True)  # another point has no basis
    _say(highs, f"relift: {program.kind} with {program.n_variables:,} columns and {program.n_rows:,} rows")
    result = solve_program(program, **words)
    _say(highs, f"relift: {result!r}")
    if program.is_linear and result.status in {Status.FAILURE, Status.OPTIMAL_INACCURATE}:
        return _run_as_it_is(highs, result.message or "no answer passed its check", perf_counter() - start)
    is_vertex = bool(words.get("vertex")) and result.status == Status.OPTIMAL
    if is_vertex:
        _confirm_vertex(highs, result)
    else:
        write_answer(highs, program, result.solution)
    write_answer_files(highs, result, is_vertex=is_vertex)
    reason = f"{result.backend} was not told the options of HiGHS: {', '.join(unseen)}" if unseen else ""
    objective = result.objective if result.status.has_point else np.nan
    return Outcome(result.status, objective, result, reason)


def _why_not_lifted(highs: Highs, integers: Integers) -> str:
    """Say why HiGHS should run on the model directly; empty if relift can take it."""
    lp = highs.getLp()
    discrete = discrete_columns(highs)
    if discrete.size and not option(highs, "solve_relaxation"):
        first = name_of_column(highs, int(discrete[0]))
        what = f"the model has {discrete.size} integer or semi-continuous variables, the first is {first!r}"
        if integers == "refuse":
            raise UnsupportedError(
                f"{what}; relift solves continuous programs.",
                'integers="pass" passes the whole model to HiGHS, without lifting.',
            )
        return what
    if int(lp.num_col_) == 0:
        return "the model has no variables"
    if getattr(highs, "getNumLinearObjectives", lambda: 0)() > 0:
        return "the model has several objectives"
    if not np.isfinite(lp.col_cost_).all():
        return "a cost is infinite"
    if option(highs, "time_limit") <= 0:
        return "the time limit is zero"
    return ""


def _run_as_it_is(highs: Highs, reason: str, seconds: float = 0.0) -> Outcome:
    """Let HiGHS solve its model, with what is left of its time."""
    forget_answer(highs)
    _say(highs, f"relift: HiGHS solves the model directly: {reason}")
    left = max(option(highs, "time_limit") - seconds, 1e-3) if seconds else option(highs, "time_limit")
    with changed_for_a_while(highs, time_limit=left):
        run_highs(highs)
    status = MODEL_STATUSES.get(highs.getModelStatus().name, Status.FAILURE)
    objective = float(highs.getInfo().objective_function_value) if highs.getSolution().value_valid else np.nan
    return Outcome(status, objective, None, reason)


def _confirm_vertex(highs: Highs, result: Result) -> None:
    """Give HiGHS the basis of a vertex, from which it needs few iterations, if any."""
    forget_answer(highs)
    highs.clearSolver()
    set_basis(highs, result.program, result.solution)
    run_highs(highs)


def run_highs(highs: Highs) -> None:
    """Run HiGHS itself: the bridges let ``h.run()`` lead to :func:`solve`."""
    type(highs).run(highs)


def _say(highs: Highs, line: str) -> None:
    if option(highs, "output_flag") and option(highs, "log_to_console"):
        print(line, flush=True)
