"""``relift.highs.solve(h)`` in place of ``h.run()``: the same status, objective, point and dual values."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import highspy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.bridges.highs.models import has_unique_duals, highs_of, kkt_residual, random_model, repeated_model

import relift.highs
from relift import Program, Status
from relift.bridges.highs.options import changed_options, set_options, settings_from
from relift.bridges.highs.write import MODEL_STATUS
from relift.errors import NonConvexError, NotAProgramError, OptionError, UnsupportedError
from relift.formats.solutions import read_solution

RING = Program(q=np.ones(6), A=np.eye(6) + np.roll(np.eye(6), 1, axis=1), l=np.ones(6), lb=0, ub=1)
SPREAD = Program(P=np.eye(4), q=-np.ones(4), A=np.ones((1, 4)), u=[2.0], lb=0, r=1.5)


def both(program: Program) -> tuple[Any, Any, Any]:
    """The model after ``h.run()``, after ``relift.highs.solve(h)``, and what that returned."""
    theirs, ours = highs_of(program), highs_of(program)
    theirs.run()
    return theirs, ours, relift.highs.solve(ours)


# --- agreement with HiGHS ---------------------------------------------------------------------------------------------


@settings(max_examples=300)
@given(seed=st.integers(0, 10**9))
def test_status_objective_point_and_duals_are_those_of_highs(seed: int) -> None:
    program = random_model(seed)
    theirs, ours, outcome = both(program)
    status = theirs.getModelStatus().name
    if status not in {"kOptimal", "kInfeasible", "kUnbounded", "kUnboundedOrInfeasible"}:
        return  # HiGHS has given up on a QP
    if status == "kUnboundedOrInfeasible":
        assert ours.getModelStatus().name in {"kUnbounded", "kInfeasible"}
        return
    if status == "kOptimal" and kkt_residual(program, theirs.getSolution()) > 1e-5:
        return  # HiGHS's regularisation of QPs has let a wrong answer pass
    assert ours.getModelStatus().name == status
    assert outcome.is_lifted
    if status == "kOptimal":
        assert ours.getObjectiveValue() == pytest.approx(theirs.getObjectiveValue(), rel=1e-5, abs=1e-5)
        assert ours.getInfo().objective_function_value == pytest.approx(outcome.objective, rel=1e-6, abs=1e-6)
        assert kkt_residual(program, ours.getSolution()) <= 1e-5
        duals = ("row_dual", "col_dual") if has_unique_duals(program, np.array(theirs.getSolution().col_value)) else ()
        for part in ("col_value", "row_value", *duals):
            mine, other = getattr(ours.getSolution(), part), getattr(theirs.getSolution(), part)
            assert np.allclose(mine, other, rtol=1e-4, atol=2e-4), part


@settings(max_examples=150)
@given(seed=st.integers(0, 10**9))
def test_where_there_is_symmetry_the_answer_satisfies_the_optimality_conditions_in_the_signs_of_highs(
    seed: int,
) -> None:
    program = repeated_model(seed)
    theirs, ours, outcome = both(program)
    assert outcome.status == Status.OPTIMAL
    assert ours.getModelStatus() == highspy.HighsModelStatus.kOptimal
    assert kkt_residual(program, ours.getSolution()) <= 1e-5
    if program.is_linear:
        assert ours.getObjectiveValue() == pytest.approx(theirs.getObjectiveValue(), rel=1e-6, abs=1e-6)


@settings(max_examples=100)
@given(seed=st.integers(0, 10**9), row_wise=st.booleans())
def test_the_program_of_a_model_is_the_program_it_was_made_from(seed: int, row_wise: bool) -> None:
    program = random_model(seed)
    read = relift.highs.program_from_highs(highs_of(program, row_wise=row_wise))
    assert read == program


# --- what HiGHS solves as it is ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lp", "status", "reason"),
    [
        (([], [], [], [1.0], [2.0]), "kModelEmpty", "the model has no variables"),
        (([1.0], [2.0], [1.0], [0.0], [1.0]), "kInfeasible", r"lb\[0\] = 2 and ub\[0\] = 1 are infeasible bounds"),
        (([1.0], [0.0], [1.0], [1.0], [0.0]), "kInfeasible", r"l\[0\] = 1 and u\[0\] = 0 are infeasible bounds"),
        (([np.inf], [0.0], [1.0], [0.0], [1.0]), "kOptimal", "a cost is infinite"),
    ],
)
def test_what_is_no_program_to_relift_is_left_to_highs(lp: Any, status: str, reason: str) -> None:
    cost, lb, ub, l, u = (np.array(part) for part in lp)
    h = highspy.Highs()
    h.silent()
    A = sparse.csc_array(np.ones((1, cost.size)))
    h.passModel(cost.size, 1, A.nnz, 1, 1, 0.0, cost, lb, ub, l, u, A.indptr, A.indices, A.data, np.zeros(1, np.int32))
    outcome = relift.highs.solve(h)
    assert not outcome.is_lifted
    assert h.getModelStatus().name == status
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(outcome.reason)


def test_a_model_without_rows_is_lifted() -> None:
    theirs, ours, outcome = both(Program(q=[1.0, 1.0, -1.0], lb=[0, 0, 0], ub=[1, 1, 2]))
    assert (outcome.result.lifting.small.n_variables, ours.getObjectiveValue()) == (2, -2.0)
    assert ours.getSolution().col_dual == theirs.getSolution().col_dual == [1.0, 1.0, -1.0]


def test_several_objectives_are_left_to_highs() -> None:
    h = highs_of(RING)
    objective = highspy.HighsLinearObjective()
    objective.coefficients, objective.weight = list(RING.q), 1.0
    h.addLinearObjective(objective)
    outcome = relift.highs.solve(h)
    assert (outcome.is_lifted, outcome.reason) == (False, "the model has several objectives")


# --- integers ---------------------------------------------------------------------------------------------------------


def test_integer_variables_are_refused_with_what_to_do() -> None:
    h = highs_of(RING, integers=[0, 1, 0, 0, 0, 1])
    with pytest.raises(UnsupportedError) as caught:
        relift.highs.solve(h)
    assert str(caught.value) == (
        "the model has 2 integer or semi-continuous variables, the first is 'x[1]'; relift solves continuous programs. "
        'integers="pass" passes the whole model to HiGHS, without lifting.'
    )
    assert h.getModelStatus() == highspy.HighsModelStatus.kNotset


def test_integer_models_are_passed_whole_and_marked_so() -> None:
    knapsack = Program(q=[-3.0, -2.0, -2.0], A=[[2.0, 1.5, 1.5]], u=[3.2], lb=0, ub=1)
    h = highs_of(knapsack, integers=[1, 1, 1])
    outcome = relift.highs.solve(h, integers="pass")
    assert (outcome.status, outcome.objective, outcome.result, outcome.is_lifted) == (Status.OPTIMAL, -4.0, None, False)
    assert repr(outcome) == (
        "Outcome(optimal, objective=-4, not lifted: the model has 3 integer or semi-continuous variables, "
        "the first is 'x[0]')"
    )
    assert h.getSolution().col_value == [0.0, 1.0, 1.0]


def test_the_relaxation_that_highs_is_asked_for_is_lifted() -> None:
    h = highs_of(RING, integers=[1] * 6)
    h.setOptionValue("solve_relaxation", True)
    outcome = relift.highs.solve(h)
    assert outcome.is_lifted
    assert h.getSolution().col_value == pytest.approx([0.5] * 6)


def test_the_choice_for_integers_is_checked() -> None:
    with pytest.raises(OptionError, match=r"integers='relax' is not valid. Expected one of: refuse, pass."):
        relift.highs.solve(highs_of(RING), integers="relax")  # type: ignore[arg-type]


# --- options ----------------------------------------------------------------------------------------------------------


def test_changed_options_become_settings_of_relift_and_options_of_its_backend() -> None:
    h = highs_of(RING)
    changed = {
        "solver": "ipm", "threads": 1, "time_limit": 5.0, "mip_rel_gap": 0.1, "solution_file": "never.sol",
        "primal_feasibility_tolerance": 1e-9, "log_to_console": False,
    }  # fmt: skip
    for name, value in changed.items():
        h.setOptionValue(name, value)
    backend_options = {"solver": "ipm", "primal_feasibility_tolerance": 1e-9}
    expected = {"verbose": False, "threads": 1, "time_limit": 5.0, "backend_options": backend_options}
    assert settings_from(h, {}) == (expected, ())
    given = {"time_limit": 1.0, "backend_options": {"solver": "simplex"}}
    assert settings_from(h, given)[0]["backend_options"]["solver"] == "simplex"
    assert settings_from(h, given)[0]["time_limit"] == 1.0
    assert settings_from(h, {"backend": "clarabel"})[1] == ("primal_feasibility_tolerance", "solver")


def test_options_that_highspy_does_not_list_are_seen_too() -> None:
    h = highs_of(RING)
    h.setOptionValue("mip_allow_restart", False)
    h.setOptionValue("iis_strategy", 3)
    assert changed_options(h) == {"output_flag": False, "mip_allow_restart": False, "iis_strategy": 3}


def test_of_a_wrong_option_highs_does_not_print_an_error_besides(capfd: pytest.CaptureFixture[str]) -> None:
    h = highs_of(RING)
    h.setOptionValue("output_flag", True)
    capfd.readouterr()
    with pytest.raises(OptionError, match="neither relift nor HiGHS has an option 'presolv'"):
        set_options(h, {"presolv": "off"})
    assert capfd.readouterr().out == ""
    assert h.getOptionValue("output_flag")[1] is True


def test_a_solve_leaves_the_options_as_they_were() -> None:
    h = highs_of(RING)
    h.setOptionValue("solver", "ipm")
    before = changed_options(h)
    assert relift.highs.solve(h).status == Status.OPTIMAL
    assert changed_options(h) == before


def test_options_by_name_are_told_apart_and_wrong_ones_refused() -> None:
    h = highs_of(RING)
    assert set_options(h, {"lift": "counting", "time_limit": 3, "presolve": "off"}) == {"lift": "counting"}
    assert (h.getOptionValue("time_limit")[1], h.getOptionValue("presolve")[1]) == (3.0, "off")
    with pytest.raises(OptionError, match="neither relift nor HiGHS has an option 'presolv'"):
        set_options(h, {"presolv": "off"})
    with pytest.raises(OptionError, match="HiGHS does not take presolve='maybe'"):
        set_options(h, {"presolve": "maybe"})
    with pytest.raises(OptionError, match=r"HiGHS does not take presolve=\['off'\]"):
        set_options(h, {"presolve": ["off"]})


def test_a_time_limit_of_zero_ends_as_in_highs() -> None:
    theirs, ours = highs_of(RING), highs_of(RING)
    for h in (theirs, ours):
        h.setOptionValue("time_limit", 0.0)
    theirs.run()
    outcome = relift.highs.solve(ours)
    assert ours.getModelStatus() == theirs.getModelStatus() == highspy.HighsModelStatus.kTimeLimit
    assert outcome.status == Status.TIME_LIMIT


def test_an_iteration_limit_is_told_as_one() -> None:
    h = highs_of(random_model(12).replace(P=None))
    outcome = relift.highs.solve(h, iteration_limit=1, lift="none", reduce=False, backend_options={"presolve": "off"})
    assert outcome.status in {Status.ITERATION_LIMIT, Status.OPTIMAL, Status.UNBOUNDED, Status.INFEASIBLE}
    assert h.getModelStatus().name == MODEL_STATUS[outcome.status]


def test_options_that_the_solver_of_a_quadratic_program_does_not_know_are_named() -> None:
    h = highs_of(SPREAD)
    h.setOptionValue("qp_regularization_value", 1e-9)
    outcome = relift.highs.solve(h)
    assert outcome.reason == "clarabel was not told the options of HiGHS: qp_regularization_value"
    assert relift.highs.solve(h, backend="highs").reason == ""


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("program", [RING, SPREAD, RING.replace(l=np.full(6, 3.0))], ids=["LP", "QP", "infeasible"])
@pytest.mark.parametrize("style", [0, 1], ids=["raw", "table"])
def test_files_that_options_name_are_written_as_by_a_run(program: Program, style: int, tmp_path: Path) -> None:
    h = highs_of(program)
    h.setOptionValue("solution_file", str(tmp_path / "m.sol"))
    h.setOptionValue("write_model_file", str(tmp_path / "m.mps"))
    h.setOptionValue("write_solution_style", style)
    outcome = relift.highs.solve(h)
    assert outcome.is_lifted
    assert relift.read_program(tmp_path / "m.mps").replace(variable_names=None, row_names=None) == program
    text = (tmp_path / "m.sol").read_text()
    status = {"optimal": "Optimal", "infeasible": "Infeasible"}[outcome.status]
    assert text.startswith("Columns\n" if style else f"Model status\n{status}\n")
    assert not style or f"Model status: {status}\n" in text
    if style == 0 and outcome.status == Status.OPTIMAL:
        assert relift.certify(program, read_solution(tmp_path / "m.sol", program)).is_optimal


def test_a_basis_file_asks_for_a_vertex_and_the_solution_file_has_its_basis_too(tmp_path: Path) -> None:
    h = highs_of(RING)
    h.setOptionValue("write_basis_file", str(tmp_path / "m.bas"))
    h.setOptionValue("solution_file", str(tmp_path / "m.sol"))
    assert relift.highs.solve(h).is_lifted
    again = highs_of(RING)
    assert again.readBasis(str(tmp_path / "m.bas")) == highspy.HighsStatus.kOk
    again.run()
    assert again.getInfo().simplex_iteration_count == 0
    assert "# Basis\nHiGHS_basis_file v2\nValid\n" in (tmp_path / "m.sol").read_text()


def test_a_solution_without_a_file_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    h = highs_of(SPREAD)
    h.setOptionValue("write_solution_to_file", True)
    relift.highs.solve(h)
    assert "Model status\nOptimal\n" in capfd.readouterr().out


@pytest.mark.parametrize("name", ["solution_file", "write_model_file", "write_basis_file"])
def test_a_folder_that_is_missing_is_told_before_anything_is_solved(name: str, tmp_path: Path) -> None:
    h = highs_of(RING)
    path = str(tmp_path / "none" / "m.mps")
    h.setOptionValue(name, path)
    with pytest.raises(FileNotFoundError) as caught:
        relift.highs.solve(h)
    assert caught.value.filename == path
    assert h.getModelStatus().name == "kNotset"


# --- the state of the object afterwards -------------------------------------------------------------------------------


def test_an_optimum_of_a_linear_program_is_held_by_highs_itself() -> None:
    h = highs_of(RING)
    relift.highs.solve(h)
    native = highspy.Highs.getModelStatus(h), highspy.Highs.getSolution(h).row_dual
    assert native == (highspy.HighsModelStatus.kOptimal, [0.5] * 6)
    assert not set(vars(h)) - {"callbacks"}


@pytest.mark.parametrize("deletes", [False, True])
def test_a_coefficient_that_is_set_to_zero_does_not_crash_highs(deletes: bool) -> None:
    h = highspy.Highs()
    h.silent()
    x = [h.addVariable(0, 5, cost, name=name) for cost, name in ((1.0, "a"), (-2.0, "b"), (4.0, "c"))]
    if deletes:
        h.addConstr(x[0] + x[1] >= 1)
        h.deleteRows(1, np.array([0], dtype=np.int32))
    row = h.addConstr(x[0] + 2 * x[1] + 3 * x[2] >= 4, name="row")
    h.changeCoeff(0, 1, 0.0)
    for _ in range(2):
        outcome = relift.highs.solve(h)
        assert (outcome.status, h.getModelStatus().name) == (Status.OPTIMAL, "kOptimal")
        assert h.getObjectiveValue() == pytest.approx(-6.0)
        assert list(h.getSolution().col_value) == pytest.approx([4.0, 5.0, 0.0])
        assert h.constrDual(row) == pytest.approx(1.0)
        assert h.getLp().col_names_ == ["a", "b", "c"]
    h.run()
    assert h.getObjectiveValue() == pytest.approx(-6.0)


def test_with_vertex_there_is_a_basis_too() -> None:
    h = highs_of(RING)
    relift.highs.solve(h, vertex=True)
    assert h.getModelStatus() == highspy.HighsModelStatus.kOptimal
    assert h.getBasis().valid
    assert h.getObjectiveValue() == pytest.approx(3.0)


@pytest.mark.parametrize(
    "change",
    [
        lambda h: h.changeColCost(0, -5.0),
        lambda h: h.changeColBounds(0, 0.0, 0.25),
        lambda h: h.changeRowBounds(0, -highspy.kHighsInf, 1.0),
        lambda h: h.changeCoeff(0, 0, 2.0),
        lambda h: h.addVar(0.0, 1.0),
        lambda h: h.clearSolver(),
        lambda h: h.deleteRows(1, np.array([0], dtype=np.int32)),
    ],
)
@pytest.mark.parametrize("program", [SPREAD, RING, RING.replace(l=np.full(6, 3.0))], ids=["QP", "LP", "infeasible"])
def test_a_change_of_the_model_makes_the_answer_void(program: Program, change: Any) -> None:
    h = highs_of(program)
    outcome = relift.highs.solve(h)
    assert h.getModelStatus().name == MODEL_STATUS[outcome.status]
    change(h)
    assert h.getModelStatus() == highspy.HighsModelStatus.kNotset
    assert not set(vars(h)) - {"callbacks"}


def test_a_new_constant_of_the_objective_makes_an_answer_that_is_only_told_void() -> None:
    h = highs_of(SPREAD)
    relift.highs.solve(h)
    h.changeObjectiveOffset(7.0)
    assert h.getModelStatus() == highspy.HighsModelStatus.kNotset


def test_a_later_run_of_highs_is_what_is_told_from_then_on() -> None:
    h = highs_of(SPREAD.replace(A=np.ones((1, 4)), u=[-1.0]))
    relift.highs.solve(h)
    assert h.getModelStatus() == highspy.HighsModelStatus.kInfeasible
    h.changeRowBounds(0, -highspy.kHighsInf, 2.0)
    h.run()
    assert h.getModelStatus() == highspy.HighsModelStatus.kOptimal
    assert h.getSolution().col_value == pytest.approx([0.5] * 4, abs=1e-5)


def test_solving_again_after_a_change_gives_the_new_answer() -> None:
    for program in (SPREAD, RING):
        h = highs_of(program)
        first = relift.highs.solve(h)
        h.changeRowBounds(0, *((-highspy.kHighsInf, 1.0) if program is SPREAD else (1.5, highspy.kHighsInf)))
        second = relift.highs.solve(h)
        assert second.objective > first.objective
        assert h.getObjectiveValue() == pytest.approx(second.objective)
        assert kkt_residual(relift.highs.program_from_highs(h), h.getSolution()) <= 1e-6


def test_a_quadratic_answer_is_read_from_the_object_as_after_a_run() -> None:
    h = highs_of(SPREAD)
    relift.highs.solve(h)
    assert h.getModelStatus() == highspy.HighsModelStatus.kOptimal
    assert h.getInfoValue("objective_function_value")[1] == h.getObjectiveValue() == pytest.approx(0.0, abs=1e-6)
    assert h.getInfo().primal_solution_status == h.getInfo().dual_solution_status == 2
    assert h.getSolution().row_dual == pytest.approx([-0.5], abs=1e-6)
    assert list(h.allVariableValues()) == pytest.approx([0.5] * 4, abs=1e-6)


def test_an_infeasible_model_has_no_point() -> None:
    h = highs_of(RING.replace(l=np.full(6, 3.0)))
    outcome = relift.highs.solve(h)
    solution, info = h.getSolution(), h.getInfo()
    assert (outcome.status, np.isnan(outcome.objective)) == (Status.INFEASIBLE, True)
    assert (solution.value_valid, solution.dual_valid, len(solution.col_value)) == (False, False, 6)
    assert (info.primal_solution_status, info.objective_function_value) == (0, highspy.kHighsInf)
    assert outcome.result.certificate.is_proved


def test_the_object_is_freed_though_it_answers_itself() -> None:
    h = highs_of(SPREAD)
    relift.highs.solve(h)
    gone = weakref.ref(h)
    del h
    gc.collect()
    assert gone() is None


def test_the_log_says_what_was_merged_where_highs_would_print_one(capfd: pytest.CaptureFixture[str]) -> None:
    h = highs_of(RING)
    relift.highs.solve(h)
    assert capfd.readouterr().out == ""
    h.setOptionValue("output_flag", True)
    relift.highs.solve(h)
    lines = capfd.readouterr().out.splitlines()
    assert "relift: LP with 6 columns and 6 rows" in lines
    assert "relift: Result(optimal, objective=3, 6 -> 1 variables, 6 -> 1 rows, backend=highs)" in lines


# --- wrong input ------------------------------------------------------------------------------------------------------


def test_a_quadratic_model_that_is_not_convex_is_refused_and_left_alone() -> None:
    h = highs_of(Program(P=-np.eye(2), q=[1, 1], lb=0, ub=1, assume_convex=True, A=[[1.0, 1.0]]))
    with pytest.raises(NonConvexError, match="P is not positive semidefinite"):
        relift.highs.solve(h)
    assert h.getModelStatus() == highspy.HighsModelStatus.kNotset


@pytest.mark.parametrize("thing", ["model.mps", None, RING], ids=["path", "None", "Program"])
def test_what_is_not_a_highs_object_is_refused_by_its_type(thing: Any) -> None:
    with pytest.raises(NotAProgramError, match=f"takes a highspy.Highs; got a {type(thing).__name__}"):
        relift.highs.solve(thing)


def test_names_of_columns_are_used_in_errors() -> None:
    h = highs_of(RING, integers=[0, 0, 1, 0, 0, 0])
    for j in range(6):
        h.passColName(j, f"shop{j}")
    with pytest.raises(UnsupportedError, match="the first is 'shop2'"):
        relift.highs.solve(h)


def test_the_public_module_has_the_names_of_the_bridge() -> None:
    from relift import highs as public
    from relift.bridges import highs as bridge

    assert [getattr(public, name) for name in public.__all__] == [getattr(bridge, name) for name in bridge.__all__]
