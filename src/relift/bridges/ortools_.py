"""Models of OR-Tools through relift: MathOpt's ``Model`` and the older ``pywraplp.Solver``.

Both tell their model as a protocol buffer, and take an answer as one. The solve runs in a process of its own
(:mod:`relift.bridges.apart`), since OR-Tools and highspy cannot be loaded into one. OR-Tools counts dual values and
reduced costs as derivatives of the objective in the sense of the model, as HiGHS does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from scipy import sparse

from relift.bridges.apart import ApartAnswer, solve_apart
from relift.errors import NotAProgramError, UnsupportedError
from relift.program.other_models import with_article
from relift.program.program import Program
from relift.program.solution import Status
from relift.settings import check_choice

if TYPE_CHECKING:
    from numpy.typing import NDArray

Integers = Literal["refuse", "pass"]
"""What becomes of a model with integer variables: an error, or a solve of the whole model, without lifting."""


def solve(model: Any, *, integers: Integers = "refuse", **options: Any) -> Any:
    """Solve a model of OR-Tools after merging what is symmetric.

    Parameters
    ----------
    model
        A ``mathopt.Model`` with linear constraints and a linear or convex quadratic objective, or a
        ``pywraplp.Solver``.
    integers
        What to do with a model that has integer variables: ``"refuse"`` it with an error, or ``"pass"`` it to OR-Tools'
        own HiGHS (MathOpt), or to the solver that it was made for (``pywraplp``), without lifting.
    **options
        Keywords of :func:`relift.solve`, of values that can be passed to another process.

    Returns
    -------
    mathopt.SolveResult or int
        For MathOpt what ``mathopt.solve`` returns; ``termination.detail`` tells the sizes before and after. For
        ``pywraplp`` what ``solver.Solve()`` returns, and the answer is set in place.

    Raises
    ------
    UnsupportedError
        If there are integer variables and they are not to be passed, or constraints that relift does not take.
    NotAProgramError
        If it is neither of the two.
    """
    check_choice("integers", integers, get_args(Integers))
    kind = type(model)
    if kind.__module__.startswith("ortools.math_opt") and hasattr(model, "export_model"):
        return _solve_mathopt(model, integers, options)
    if kind.__module__.startswith("ortools.linear_solver") and hasattr(model, "ExportModelToProto"):
        return _solve_pywraplp(model, integers, options)
    raise NotAProgramError(
        f"relift.ortools.solve takes a mathopt.Model or a pywraplp.Solver; got {with_article(kind.__name__)}.",
        "Other models of OR-Tools can be written as MPS and read: relift.read_program('model.mps').",
    )


# --- MathOpt ----------------------------------------------------------------------------------------------------------

_OTHER_CONSTRAINTS = (
    "quadratic_constraints", "second_order_cone_constraints", "sos1_constraints", "sos2_constraints",
    "indicator_constraints", "auxiliary_objectives",
)  # fmt: skip


def program_from_mathopt(model: Any) -> Program:
    """Make the program of a ``mathopt.Model``; integer variables are read as continuous ones.

    Parameters
    ----------
    model
        With linear constraints, and a linear or quadratic objective.

    Raises
    ------
    UnsupportedError
        If it has other constraints, or several objectives.
    """
    proto = model.export_model()
    for name in _OTHER_CONSTRAINTS:
        if len(getattr(proto, name, ())):
            raise UnsupportedError(
                f"the model has {name.replace('_', ' ')}.", "relift takes linear constraints from MathOpt."
            )
    variables, rows, entries = proto.variables, proto.linear_constraints, proto.linear_constraint_matrix
    n, m = len(variables.ids), len(rows.ids)
    column, row = _numbers_of(variables.ids), _numbers_of(rows.ids)
    costs = np.zeros(n)
    linear, curved = proto.objective.linear_coefficients, proto.objective.quadratic_coefficients
    costs[column(linear.ids)] = np.array(linear.values)
    A = sparse.csc_array(
        (np.array(entries.coefficients), (row(entries.row_ids), column(entries.column_ids))), shape=(m, n)
    )
    P = None
    if len(curved.row_ids):
        places = (column(curved.row_ids), column(curved.column_ids))
        half = sparse.csc_array((np.array(curved.coefficients), places), shape=(n, n))
        P = sparse.csc_array(half + half.T)
    return Program(
        P, costs, A, np.array(rows.lower_bounds, float), np.array(rows.upper_bounds, float),
        np.array(variables.lower_bounds, float), np.array(variables.upper_bounds, float), proto.objective.offset,
        sense="max" if proto.objective.maximize else "min",
    )  # fmt: skip


def _numbers_of(ids: Any) -> Any:
    """How ids, which have gaps after a deletion, become positions."""
    known = np.array(ids, dtype=np.int64)
    return lambda given: np.searchsorted(known, np.array(given, dtype=np.int64))


def _solve_mathopt(model: Any, integers: Integers, options: dict[str, Any]) -> Any:
    from ortools.math_opt.python import mathopt

    names = [variable.name for variable in model.variables() if variable.integer]
    if names:
        _refuse_integers(names, integers)
        return mathopt.solve(model, mathopt.SolverType.HIGHS)
    program = program_from_mathopt(model)
    answer = solve_apart(program, options)
    return mathopt.parse_solve_result(_result_proto(model, program, answer), model)


def _result_proto(model: Any, program: Program, answer: ApartAnswer) -> Any:
    from ortools.math_opt import result_pb2, solution_pb2

    status, solution = answer.solution.status, answer.solution
    result = result_pb2.SolveResultProto()
    reason, primal, dual = {
        Status.OPTIMAL: ("OPTIMAL", "FEASIBLE", "FEASIBLE"),
        Status.OPTIMAL_WITHIN_GAP: ("OPTIMAL", "FEASIBLE", "FEASIBLE"),
        Status.OPTIMAL_INACCURATE: ("IMPRECISE", "UNDETERMINED", "UNDETERMINED"),
        Status.INFEASIBLE: ("INFEASIBLE", "INFEASIBLE", "UNDETERMINED"),
        Status.UNBOUNDED: ("UNBOUNDED", "FEASIBLE", "INFEASIBLE"),
        Status.TIME_LIMIT: ("NO_SOLUTION_FOUND", "UNDETERMINED", "UNDETERMINED"),
        Status.ITERATION_LIMIT: ("NO_SOLUTION_FOUND", "UNDETERMINED", "UNDETERMINED"),
    }.get(status, ("NUMERICAL_ERROR", "UNDETERMINED", "UNDETERMINED"))
    end = result.termination
    end.reason = getattr(result_pb2, f"TERMINATION_REASON_{reason}")
    end.detail = f"{answer}; {solution.message}" if solution.message else str(answer)
    if reason == "NO_SOLUTION_FOUND":
        end.limit = getattr(result_pb2, f"LIMIT_{'TIME' if status == Status.TIME_LIMIT else 'ITERATION'}")
    end.problem_status.primal_status = getattr(result_pb2, f"FEASIBILITY_STATUS_{primal}")
    end.problem_status.dual_status = getattr(result_pb2, f"FEASIBILITY_STATUS_{dual}")
    worst = np.inf if program.sense == "min" else -np.inf
    end.objective_bounds.primal_bound, end.objective_bounds.dual_bound = worst, -worst
    result.solve_stats.solve_time.FromNanoseconds(int(1e9 * sum(answer.report["timings"].values())))
    if not status.has_point or solution.x is None:
        return result
    feasible = (
        solution_pb2.SOLUTION_STATUS_FEASIBLE if status == Status.OPTIMAL else solution_pb2.SOLUTION_STATUS_UNDETERMINED
    )
    found = result.solutions.add()
    objective = program.objective(solution.x)
    columns = [variable.id for variable in model.variables()]
    _fill(found.primal_solution.variable_values, columns, solution.x)
    found.primal_solution.objective_value = end.objective_bounds.primal_bound = objective
    found.primal_solution.feasibility_status = feasible
    if solution.y is not None and solution.w is not None:
        sign = -1.0 if program.sense == "min" else 1.0
        _fill(found.dual_solution.dual_values, [row.id for row in model.linear_constraints()], sign * solution.y)
        _fill(found.dual_solution.reduced_costs, columns, sign * solution.w)
        found.dual_solution.objective_value = end.objective_bounds.dual_bound = objective
        found.dual_solution.feasibility_status = feasible
    return result


def _fill(vector: Any, ids: list[int], values: NDArray[np.float64]) -> None:
    vector.ids.extend(ids)
    vector.values.extend((0.0 + values).tolist())


# --- pywraplp ---------------------------------------------------------------------------------------------------------


def program_from_pywraplp(solver: Any) -> Program:
    """Make the program of a ``pywraplp.Solver``; integer variables are read as continuous ones.

    Parameters
    ----------
    solver
        With its model.
    """
    proto = _proto_of(solver)
    n, m = len(proto.variable), len(proto.constraint)
    starts = np.cumsum([0, *(len(row.var_index) for row in proto.constraint)])
    columns = np.array([j for row in proto.constraint for j in row.var_index], dtype=np.int32)
    values = np.array([value for row in proto.constraint for value in row.coefficient], dtype=np.float64)
    return Program(
        None, np.array([v.objective_coefficient for v in proto.variable], float),
        sparse.csr_array((values, columns, starts.astype(np.int32)), shape=(m, n)),
        np.array([row.lower_bound for row in proto.constraint], float),
        np.array([row.upper_bound for row in proto.constraint], float),
        np.array([v.lower_bound for v in proto.variable], float),
        np.array([v.upper_bound for v in proto.variable], float),
        proto.objective_offset, sense="max" if proto.maximize else "min",
    )  # fmt: skip


def _proto_of(solver: Any) -> Any:
    from ortools.linear_solver import linear_solver_pb2

    proto = linear_solver_pb2.MPModelProto()
    solver.ExportModelToProto(proto)
    return proto


def _solve_pywraplp(solver: Any, integers: Integers, options: dict[str, Any]) -> int:
    from ortools.linear_solver import linear_solver_pb2

    names = [variable.name for variable in _proto_of(solver).variable if variable.is_integer]
    if names:
        _refuse_integers(names, integers)
        return int(solver.Solve())
    program = program_from_pywraplp(solver)
    solution = solve_apart(program, options).solution
    word = {
        Status.OPTIMAL: "OPTIMAL",
        Status.OPTIMAL_WITHIN_GAP: "FEASIBLE",
        Status.INFEASIBLE: "INFEASIBLE",
        Status.UNBOUNDED: "UNBOUNDED",
        Status.TIME_LIMIT: "NOT_SOLVED",
        Status.ITERATION_LIMIT: "NOT_SOLVED",
    }.get(solution.status, "ABNORMAL")
    response = linear_solver_pb2.MPSolutionResponse()
    response.status = getattr(linear_solver_pb2, f"MPSOLVER_{word}")
    if word in {"OPTIMAL", "FEASIBLE"} and solution.x is not None:
        response.objective_value = program.objective(solution.x)
        response.variable_value.extend(solution.x.tolist())
        sign = -1.0 if program.sense == "min" else 1.0
        if solution.y is not None and solution.w is not None:
            response.dual_value.extend((0.0 + sign * solution.y).tolist())
            response.reduced_cost.extend((0.0 + sign * solution.w).tolist())
        solver.LoadSolutionFromProto(response)
    return int(getattr(solver, word, solver.ABNORMAL))


def _refuse_integers(names: list[str], integers: Integers) -> None:
    if integers == "refuse":
        first = f", the first is {names[0]!r}" if names[0] else ""
        raise UnsupportedError(
            f"the model has {len(names)} integer variables{first}; relift solves continuous programs.",
            'integers="pass" passes the whole model to OR-Tools, without lifting.',
        )
