"""linopy knows relift by name after ``import relift.linopy``, and reads its answers as those of HiGHS."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bridges.highs.models import has_unique_duals, random_model

from relift import Program
from relift.errors import OptionError, ReliftWarning, UnsupportedError

linopy = pytest.importorskip("linopy")
bridge = pytest.importorskip("relift.linopy")
xarray = pytest.importorskip("xarray")

QUIET = {"output_flag": False}


def model_of(program: Any) -> Any:
    """The program as a linopy model: one block of variables, one of rows for each sign."""
    model = linopy.Model()
    names = [f"v{j}" for j in range(program.n_variables)]
    lower, upper = (xarray.DataArray(bound, [("i", names)]) for bound in (program.lb, program.ub))
    x = model.add_variables(lower, upper, name="x")
    rows = program.A.toarray()
    for sign, side in ((">=", program.l), ("<=", program.u)):
        is_there = np.isfinite(side) & (np.abs(rows).sum(axis=1) > 0)
        is_equality = program.l == program.u
        for kind, chosen in ((sign, is_there & ~is_equality), ("=", is_there & is_equality & (sign == ">="))):
            if chosen.any():
                matrix = xarray.DataArray(rows[chosen], [("r", np.flatnonzero(chosen)), ("i", names)])
                right = xarray.DataArray(side[chosen], [("r", np.flatnonzero(chosen))])
                model.add_constraints((matrix * x).sum("i"), kind, right, name=f"{kind}{sign}")
    objective = (xarray.DataArray(program.q, [("i", names)]) * x).sum()
    if program.P is not None:
        P = xarray.DataArray(0.5 * program.P.toarray(), [("i", names), ("k", names)])
        objective += (P * (x * x.rename({"i": "k"}))).sum()
    model.add_objective(objective, sense=program.sense)
    return model


def solved(program: Any, name: str, **options: Any) -> Any:
    model = model_of(program)
    model.solve(solver_name=name, **QUIET, **options)
    return model


@settings(max_examples=40)
@given(seed=st.integers(0, 10**9), io_api=st.sampled_from([None, "direct", "lp"]))
def test_status_objective_values_and_duals_are_those_of_highs(seed: int, io_api: str | None) -> None:
    program = random_model(seed)
    if program.P is not None:
        program = program.replace(P=None)  # HiGHS is too often wrong on these; quadratic models below
    theirs, ours = solved(program, "highs", io_api="direct"), solved(program, "relift", io_api=io_api)
    if theirs.termination_condition != ours.termination_condition:
        # HiGHS 1.15 calls some unbounded models infeasible in its presolve.
        theirs = solved(program, "highs", io_api="direct", presolve="off")
    if theirs.termination_condition == "infeasible_or_unbounded":
        assert ours.termination_condition in {"infeasible", "unbounded"}
        return
    assert (ours.status, ours.termination_condition) == (theirs.status, theirs.termination_condition)
    if theirs.status != "ok":
        return
    assert ours.objective.value == pytest.approx(theirs.objective.value, rel=1e-6, abs=1e-6)
    assert np.allclose(ours.solution["x"], theirs.solution["x"], rtol=1e-5, atol=1e-5)
    if has_unique_duals(program, theirs.solution["x"].values):
        for name in theirs.constraints:
            assert np.allclose(ours.constraints[name].dual, theirs.constraints[name].dual, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("io_api", ["direct", "lp"])
def test_quadratic_models_agree_with_highs_and_their_duals_have_its_signs(sense: str, io_api: str) -> None:
    sign = 1 if sense == "min" else -1
    found = []
    for name in ("highs", "relift"):
        model = linopy.Model()
        x = model.add_variables(lower=0, upper=3, coords=[range(8)], name="x")
        model.add_constraints(x.sum() >= 10, name="demand")
        model.add_constraints(x.loc[0] + x.loc[1] <= 2, name="limit")
        model.add_objective(sign * (x * x + 2 * x).sum(), sense=sense)
        assert model.solve(solver_name=name, io_api=io_api, **QUIET) == ("ok", "optimal")
        duals = [float(model.constraints[c].dual) for c in ("demand", "limit")]
        found.append((model.objective.value, *model.solution["x"].values, *duals))
    assert found[1] == pytest.approx(found[0], rel=1e-5, abs=1e-5)


def planted_duals(seed: int) -> tuple[Program, Any]:
    """A QP whose dual values are known and unique: its active rows are independent; some nearly depend on others."""
    random = np.random.default_rng(seed)
    n, equal, active = 8, 2, 6
    A = random.standard_normal((active, n))
    A[1] = A[0] + (1.0 if seed % 2 else 1e-3) * random.standard_normal(n)
    factor, x = random.standard_normal((4, n)), random.uniform(-1, 1, n)
    duals = np.concatenate([random.standard_normal(equal), -random.uniform(0.5, 2, active - equal)])
    P = factor.T @ factor
    l = np.where(np.arange(active) < equal, A @ x, -np.inf)
    return Program(P, A.T @ duals - P @ x, A, l, A @ x, -10, 10), duals


@pytest.mark.parametrize("seed", range(6))
def test_unique_duals_of_quadratic_models_are_found_to_more_digits_than_by_highs(seed: int) -> None:
    # HiGHS adds 1e-7 to the diagonal of the Hessian, which where rows nearly depend changes its dual values by 1e-4;
    # without that it finds those that are known, as relift does. At a tolerance of 1e-6 the last bits of the data say
    # where Clarabel stops, and so how many digits are found.
    program, duals = planted_duals(seed)
    for name, options in (("highs", {"qp_regularization_value": 0.0}), ("relift", {"tolerance": 1e-9})):
        model = solved(program, name, io_api="direct", **options)
        found = np.concatenate([model.constraints[kind].dual.values for kind in ("=>=", "<=<=")])
        assert np.allclose(found, duals, rtol=1e-5, atol=1e-5), name


def test_symmetric_models_are_lifted_and_the_outcome_is_kept() -> None:
    model = linopy.Model()
    x = model.add_variables(lower=0, upper=5, coords=[range(300)], name="x")
    model.add_constraints(x.sum() >= 200, name="demand")
    model.add_objective((2 * x).sum())
    assert model.solve(solver_name="relift", **QUIET) == ("ok", "optimal")
    outcome = model.solver.outcome
    assert (outcome.is_lifted, outcome.result.lifting.small.n_variables) == (True, 1)
    assert outcome.result.certificate.is_optimal
    assert model.solver.report.runtime == pytest.approx(sum(outcome.result.timings.values()))
    assert model.solver_name == "relift"


@pytest.mark.parametrize("io_api", [None, "direct", "lp"])
def test_no_file_is_left_for_temporary_files(io_api: str | None, tmp_path: Path) -> None:
    model = linopy.Model(solver_dir=tmp_path)
    x = model.add_variables(lower=0, upper=5, coords=[range(3)], name="x")
    model.add_constraints(x.sum() >= 2, name="demand")
    model.add_objective((2 * x).sum())
    assert model.solve(solver_name="relift", io_api=io_api, **QUIET) == ("ok", "optimal")
    assert list(tmp_path.iterdir()) == []


def test_integer_models_are_refused_or_passed_whole() -> None:
    model = linopy.Model()
    x = model.add_variables(integer=True, lower=0, upper=9, coords=[range(3)], name="x")
    model.add_constraints(x.sum() >= 4.5, name="demand")
    model.add_objective((1.0 * x).sum())
    with pytest.raises(UnsupportedError) as caught:
        model.solve(solver_name="relift", **QUIET)
    assert str(caught.value) == (
        "integer or semi-continuous: 'x'; relift solves continuous programs. "
        'model.solve(..., integers="pass") passes the whole model to HiGHS, without lifting.'
    )
    assert model.solve(solver_name="relift", integers="pass", **QUIET) == ("ok", "optimal")
    assert (model.objective.value, model.solver.outcome.is_lifted) == (5.0, False)


def test_linopy_knows_that_relift_solves_continuous_models() -> None:
    from linopy.solver_capabilities import SolverFeature, get_available_solvers_with_feature

    def able(feature: str) -> list[str]:
        return get_available_solvers_with_feature(SolverFeature[feature], list(linopy.available_solvers))

    assert "relift" in able("QUADRATIC_OBJECTIVE")
    assert "relift" in able("DIRECT_API")
    for feature in ("INTEGER_VARIABLES", "SEMI_CONTINUOUS_VARIABLES", "MIP_DUAL_BOUND_REPORT", "SOS_CONSTRAINTS"):
        assert "relift" not in able(feature)
    assert "highs" in able("INTEGER_VARIABLES")


def test_semi_continuous_models_are_refused_by_linopy_or_passed_whole() -> None:
    model = linopy.Model()
    x = model.add_variables(lower=2, upper=9, coords=[range(3)], name="x", semi_continuous=True)
    model.add_constraints(x.sum() >= 1, name="demand")
    model.add_objective((1.0 * x).sum())
    with pytest.raises(ValueError, match="Solver relift does not support semi-continuous variables"):
        model.solve(solver_name="relift", **QUIET)
    assert model.solve(solver_name="relift", integers="pass", **QUIET) == ("ok", "optimal")
    assert model.objective.value == pytest.approx(2.0, abs=1e-5)
    assert not model.solver.outcome.is_lifted


def test_options_of_relift_and_of_highs_are_taken_and_others_refused() -> None:
    program = random_model(3).replace(P=None)
    model = solved(program, "relift", lift="none", presolve="off", time_limit=60)
    assert model.solver.outcome.result.lifting.settings.lift == "none"
    with pytest.raises(OptionError, match="neither relift nor HiGHS has an option 'presolv'"):
        solved(program, "relift", presolv="off")


def test_a_basis_file_is_written_from_a_vertex(tmp_path: Path) -> None:
    model = linopy.Model()
    x = model.add_variables(lower=0, upper=1, coords=[range(6)], name="x")
    model.add_constraints(x.sum() >= 2.5, name="demand")
    model.add_objective((1.0 * x).sum())
    model.solve(solver_name="relift", basis_fn=tmp_path / "x.bas", **QUIET)
    assert "Valid" in (tmp_path / "x.bas").read_text() or "valid" in (tmp_path / "x.bas").read_text()
    assert sorted(model.solution["x"].values.round(6)) == [0, 0, 0, 0.5, 1, 1]


def test_a_solution_file_is_that_of_highs(tmp_path: Path) -> None:
    model = linopy.Model()
    x = model.add_variables(lower=0, upper=1, coords=[range(4)], name="x")
    model.add_constraints(x.sum() >= 2, name="demand")
    model.add_objective((x * x).sum())
    model.solve(solver_name="relift", solution_fn=tmp_path / "x.sol", keep_files=True, **QUIET)
    lines = (tmp_path / "x.sol").read_text().splitlines()
    assert lines[:2] == ["Model status", "Optimal"]
    assert [float(line.split()[1]) for line in lines[7:11]] == pytest.approx([0.5] * 4, abs=1e-6)


def test_an_answer_is_not_lost_for_a_folder_that_is_missing(tmp_path: Path) -> None:
    program = random_model(4).replace(P=None)
    with pytest.warns(ReliftWarning, match=r"x\.sol was not written: No such file or directory\."):
        model = solved(program, "relift", solution_fn=tmp_path / "none" / "x.sol", keep_files=True)
    assert model.solver.outcome.is_lifted


def test_a_warm_start_is_not_used_and_that_is_said(tmp_path: Path) -> None:
    program = random_model(3).replace(P=None)
    with pytest.warns(ReliftWarning, match="warmstart_fn is not used: relift does not read a basis or a solution file"):
        solved(program, "relift", warmstart_fn=tmp_path / "none.bas")


@pytest.mark.skipif(not hasattr(linopy.Model, "_compute_infeasibilities_highs"), reason="this linopy asks Gurobi only")
def test_an_infeasible_model_can_be_asked_why() -> None:
    model = linopy.Model()
    x = model.add_variables(lower=0, upper=1, coords=[range(3)], name="x")
    model.add_constraints(x >= 2, name="much")
    model.add_objective((1.0 * x).sum())
    assert model.solve(solver_name="relift", **QUIET) == ("warning", "infeasible")
    assert set(model.compute_infeasibilities()) <= {0, 1, 2}


def test_registering_twice_lists_the_name_once_and_last_and_unregistering_takes_it_out() -> None:
    bridge.register()
    bridge.register()
    names = list(linopy.available_solvers)
    assert names.count("relift") == 1
    assert names[-1] == "relift"
    assert [name.value for name in linopy.solvers.SolverName].count("relift") == 1
    bridge.unregister()
    try:
        assert "relift" not in linopy.available_solvers
        assert "relift" not in [name.value for name in linopy.solvers.SolverName]
        with pytest.raises(AssertionError, match="relift not installed"):
            solved(random_model(3).replace(P=None), "relift")
    finally:
        bridge.register()
    assert solved(random_model(3).replace(P=None), "relift").solver_name == "relift"


def test_without_the_import_linopy_does_not_know_the_name() -> None:
    code = "import linopy; assert 'relift' not in linopy.available_solvers; import relift.linopy; "
    code += "assert 'relift' in linopy.available_solvers; print('ok')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "ok\n"
