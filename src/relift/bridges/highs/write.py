"""An answer put into a ``highspy.Highs``, so that it reads as if HiGHS had found it.

The optimum of a linear program is passed to HiGHS as the answer of its own presolve, with nothing reduced: HiGHS then
checks point and dual values on its model, and holds them with the status ``kOptimal``, as after a run without
crossover. HiGHS has no such way for a quadratic program, nor for a verdict (infeasible, unbounded, a limit): there the
methods that tell the answer are replaced *on this one object*, until its model changes or HiGHS runs on it.

HiGHS writes stationarity as ``Qx + c - A'row_dual - col_dual = 0`` in the sense of the model, so that dual values
change sign when minimising and keep it when maximising (:class:`~relift.program.solution.Solution`).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from relift.bridges.highs.options import changed_for_a_while
from relift.formats.highs_solutions import duals_of_highs
from relift.program.program import Program
from relift.program.solution import Solution, Status

if TYPE_CHECKING:
    from weakref import ReferenceType

    from highspy import Highs, HighsInfo, HighsSolution

MODEL_STATUS = {
    Status.OPTIMAL: "kOptimal",
    Status.OPTIMAL_WITHIN_GAP: "kOptimal",
    Status.OPTIMAL_INACCURATE: "kUnknown",
    Status.INFEASIBLE: "kInfeasible",
    Status.UNBOUNDED: "kUnbounded",
    Status.TIME_LIMIT: "kTimeLimit",
    Status.ITERATION_LIMIT: "kIterationLimit",
    Status.FAILURE: "kUnknown",
}
"""The model status of HiGHS for each status of relift."""

_TOLD = ("getModelStatus", "getSolution", "getInfo", "getInfoValue", "getObjectiveValue")
_FEASIBLE, _INFEASIBLE, _NONE = 2, 1, 0


def write_answer(highs: Highs, program: Program, solution: Solution) -> None:
    """Put an answer into the object that the program was read from.

    Parameters
    ----------
    highs
        The ``highspy.Highs``.
    program
        What it holds, as :func:`~relift.bridges.highs.read.program_from_highs` returned it.
    solution
        The answer for that program.
    """
    forget_answer(highs)
    highs.clearSolver()
    held = highs_solution(program, solution)
    is_linear_optimum = program.is_linear and solution.status.has_point and held.dual_valid
    if not (is_linear_optimum and _postsolved(highs, held)):
        _tell(highs, program, solution, held)


def highs_solution(program: Program, solution: Solution) -> HighsSolution:
    """Make a ``HighsSolution``, with zeros where there is nothing to tell, as HiGHS does."""
    import highspy

    has_point = solution.x is not None and solution.status not in {Status.INFEASIBLE, Status.FAILURE}
    x = solution.x if has_point and solution.x is not None else np.zeros(program.n_variables)
    row_dual, col_dual = duals_of_highs(program, solution)
    held = highspy.HighsSolution()
    held.col_value, held.row_value = x, np.asarray(program.A @ x)
    held.row_dual = np.zeros(program.n_rows) if row_dual is None else row_dual
    held.col_dual = np.zeros(program.n_variables) if col_dual is None else col_dual
    held.value_valid = bool(has_point)
    has_duals = row_dual is not None and col_dual is not None
    # An unbounded model has no feasible dual values: HiGHS then shows some that are not, here zeros.
    held.dual_valid = bool(has_point and (has_duals or solution.status == Status.UNBOUNDED))
    return held


def _postsolved(highs: Highs, held: HighsSolution) -> bool:
    """Hand the answer over as that of a presolved model; whether HiGHS calls it optimal and holds what it was given."""
    import highspy

    with changed_for_a_while(highs, presolve="off", output_flag=False):
        _drop_leftovers(highs)
        if highs.presolve() == highspy.HighsStatus.kError or highs.postsolve(held) == highspy.HighsStatus.kError:
            return False
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return False
    has_now = highs.getSolution()  # HiGHS 1.13 changes the signs of some dual values of maximisations
    return all(
        np.allclose(getattr(has_now, part), getattr(held, part), rtol=1e-9, atol=1e-9)
        for part in ("col_value", "row_value", "row_dual", "col_dual")
    )


def _drop_leftovers(highs: Highs) -> None:
    """Pass the model to the object anew where its matrix is longer than its columns say.

    So ``changeCoeff(i, j, 0.0)`` leaves it, and then ``presolve`` of HiGHS 1.15 ends the process.
    """
    matrix = highs.getLp().a_matrix_
    if len(matrix.start_) and len(matrix.index_) > matrix.start_[-1]:
        highs.passModel(highs.getModel())


def _tell(highs: Highs, program: Program, solution: Solution, held: HighsSolution) -> None:
    """Let the object itself, not its class, answer what the solve has found."""
    import highspy

    highs.clearSolver()
    # A point that HiGHS holds is gone as soon as the model changes: that is how a change is noticed.
    point = highspy.HighsSolution()
    point.col_value = held.col_value
    highs.setSolution(point)
    status = getattr(highspy.HighsModelStatus, MODEL_STATUS[solution.status])
    objective = program.objective(held.col_value) if held.value_valid else _worst(program)
    info = _info(highspy.HighsInfo(), held, objective, solution.status)
    native, highs_ref = type(highs), weakref.ref(highs)

    def info_value(name: str) -> tuple[object, object]:
        told = highs_ref()
        assert told is not None, "this is a method of it"
        return native.getInfoValue(told, name)[0], getattr(info, name)

    answers: dict[str, Callable[..., object]] = {
        "getModelStatus": lambda: status,
        "getSolution": lambda: held,
        "getInfo": lambda: info,
        "getInfoValue": info_value,
        "getObjectiveValue": lambda: objective,
    }
    for name, answer in answers.items():
        setattr(highs, name, _until_changed(highs_ref, name, answer, program.r))


def _until_changed(
    highs_ref: ReferenceType[Highs], name: str, answer: Callable[..., object], offset: float
) -> Callable[..., object]:
    """A method that tells the answer as long as the model is the one that it answers, and then removes itself."""

    def method(*arguments: object) -> object:
        import highspy

        highs = highs_ref()
        assert highs is not None, "this is a method of it"
        native = type(highs)
        is_current = (
            native.getModelStatus(highs) == highspy.HighsModelStatus.kNotset
            and native.getSolution(highs).value_valid
            and highs.getObjectiveOffset()[1] == offset
        )
        if is_current:
            return answer(*arguments)
        forget_answer(highs)
        return getattr(highs, name)(*arguments)

    return method


def forget_answer(highs: Highs) -> None:
    """Let the methods of the class answer again."""
    for name in _TOLD:
        vars(highs).pop(name, None)


def _info(info: HighsInfo, held: HighsSolution, objective: float, status: Status) -> HighsInfo:
    info.valid = True
    info.objective_function_value = objective
    has_duals = held.dual_valid and status != Status.UNBOUNDED
    info.primal_solution_status = _FEASIBLE if held.value_valid else _NONE
    info.dual_solution_status = _FEASIBLE if has_duals else _INFEASIBLE if held.dual_valid else _NONE
    for name, is_feasible in (("primal", held.value_valid), ("dual", has_duals)):
        setattr(info, f"max_{name}_infeasibility", 0.0 if is_feasible else np.inf)
        setattr(info, f"num_{name}_infeasibilities", 0 if is_feasible else -1)
    info.mip_node_count = -1
    return info


def _worst(program: Program) -> float:
    return np.inf if program.sense == "min" else -np.inf
