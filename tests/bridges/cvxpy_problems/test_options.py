"""Options: what they mean, that they do not leak, and that equal ones are equal; names in CVXPY's tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from cvxpy import Problem

cp = pytest.importorskip("cvxpy")

from tests.bridges.cvxpy_problems.problems import ring  # noqa: E402

import relift.cvxpy  # noqa: E402
from relift.bridges.cvxpy.hidden_means import HiddenMeans, find_means  # noqa: E402
from relift.cvxpy import Lifted  # noqa: E402
from relift.errors import OptionError  # noqa: E402


def sharing(n: int = 6) -> Problem:
    x = cp.Variable(n, nonneg=True)
    return cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.sum(x) == n])


def n_small(problem: Problem) -> int:
    return int(problem.solver_stats.extra_stats["small"]["variables"])


def test_equal_options_are_equal_and_hash_alike() -> None:
    assert Lifted() == Lifted(lift="equitable", tolerance=None)
    assert Lifted(backend_options={"max_iter": 9}) == Lifted(backend_options={"max_iter": 9})
    assert hash(Lifted(backend_options={"a": [1]})) == hash(Lifted(backend_options={"a": [1]}))
    assert Lifted() != Lifted(backend="clarabel")
    assert Lifted() != "RELIFT"


def test_representation_says_what_is_not_default() -> None:
    assert repr(Lifted(backend="SCS", digits=9)) == "Lifted(digits=9, backend='SCS')"


def test_equal_instances_hit_the_compile_cache_of_cvxpy() -> None:
    parameter = cp.Parameter(value=1.0)
    x = cp.Variable(5)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.sum(x) == parameter])
    problem.solve(solver=Lifted())
    compiled = problem._cache.param_prog
    parameter.value = 2.0
    problem.solve(solver=Lifted())
    assert problem._cache.param_prog is compiled
    assert problem.value == pytest.approx(0.8, abs=1e-6)
    problem.solve(solver=Lifted(lift="none"))
    assert problem._cache.param_prog is not compiled


def test_keywords_of_one_solve_do_not_leak_into_the_next() -> None:
    problem, solver = sharing(), Lifted()
    problem.solve(solver=solver, lift="none")
    assert n_small(problem) == 6
    problem.solve(solver=solver)
    assert n_small(problem) == 1
    problem.solve(solver="RELIFT", backend="CLARABEL", max_iter=77)
    assert problem.solver_stats.extra_stats["backend"] == "cvxpy:CLARABEL"
    problem.solve(solver="RELIFT")
    assert problem.solver_stats.extra_stats["backend"] != "cvxpy:CLARABEL"
    assert solver.options.backend_options == {}


def turning(n: int = 8) -> Problem:
    """A problem whose symmetry is seen only when its cones are read as what they were made of."""
    y = cp.Variable(n)
    return cp.Problem(cp.Maximize(cp.geo_mean(y)), [cp.quad_form(y, ring(n)) <= 4])


@pytest.mark.parametrize(
    "first", [{"recover": False}, {"lift": "none"}, {"backend": "scs"}, {"backend": "SCS"}, {"time_limit": 1e-9}]
)
def test_recovery_is_tried_again_after_a_solve_without(first: dict[str, object]) -> None:
    if str(first.get("backend", "")).lower() == "scs":
        pytest.importorskip("scs")
    problem = turning()
    try:
        problem.solve(solver="RELIFT", **first)
    except cp.error.SolverError:
        assert "time_limit" in first
    for _ in range(2):
        problem.solve(solver="RELIFT")
        assert (n_small(problem), problem.status) == (2, "optimal")
        assert problem.solver_stats.extra_stats["recovered"]


def test_recovery_is_not_started_after_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    import relift.bridges.cvxpy.recovery

    looked_for: list[int] = []

    def counted(program: relift.Program) -> HiddenMeans | None:
        looked_for.append(1)
        return find_means(program)

    monkeypatch.setattr(relift.bridges.cvxpy.recovery, "find_means", counted)
    problem = turning()
    with pytest.warns(UserWarning, match="inaccurate"):
        problem.solve(solver="RELIFT", time_limit=1e-9)
    assert problem.status == "user_limit"
    assert not looked_for
    turning().solve(solver="RELIFT", time_limit=100)
    assert looked_for


def test_orbits_go_without_quadratic_constraints_but_not_without_recovery() -> None:
    problem = turning()
    value = problem.solve(solver=Lifted(lift="orbits"))
    report = problem.solver_stats.extra_stats
    assert value == pytest.approx(problem.solve(solver="CLARABEL"), rel=1e-6)
    assert "geometric means" in report["recovered"]
    assert report["small"]["variables"] < 5
    y = cp.Variable(4)
    only_a_norm = cp.Problem(cp.Minimize(cp.sum(y)), [cp.norm(y @ np.linalg.cholesky(3 * np.eye(4) + 1)) <= 2])
    value = only_a_norm.solve(solver=Lifted(lift="orbits"))
    assert value == pytest.approx(only_a_norm.solve(solver="CLARABEL"), rel=1e-6)


def test_options_given_as_a_dictionary_are_copied() -> None:
    given = {"max_iter": 50}
    solver = Lifted(backend="clarabel", backend_options=given)
    given["max_iter"] = 0
    assert solver.options.backend_options == {"max_iter": 50}


def test_wrong_options_are_refused_by_name() -> None:
    with pytest.raises(OptionError, match="lift='equitble' is not valid"):
        Lifted(lift="equitble")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="time_limit=-1 is out of range"):
        Lifted(time_limit=-1)
    with pytest.raises(OptionError, match=r"there is no backend 'clarabell'. Did you mean 'clarabel'"):
        sharing().solve(solver=Lifted(backend="clarabell"))
    with pytest.raises(OptionError, match=r"clarabel has no option 'max_iters'. Did you mean 'max_iter'"):
        sharing().solve(solver=Lifted(backend="clarabel"), max_iters=3)
    with pytest.raises(OptionError, match="relift cannot be its own backend"):
        sharing().solve(solver=Lifted(backend="RELIFT"))
    with pytest.raises(OptionError, match="relift cannot be its own backend"):
        sharing().solve(solver=Lifted(backend="cvxpy:RELIFT"))
    with pytest.raises(OptionError, match="solver='SCS' and backend='clarabel' name two solvers"):
        sharing().solve(method="relift", solver="SCS", backend="clarabel")
    with pytest.raises(OptionError, match="solver=7 is not a name"):
        sharing().solve(method="relift", solver=7)


def test_looser_tolerances_of_the_backend_loosen_the_certificate() -> None:
    problem = sharing()
    problem.solve(solver=Lifted(backend="SCS"), eps_abs=1e-3, eps_rel=1e-3)
    assert problem.status == "optimal"
    assert problem.solver_stats.extra_stats["certificate"]["tolerance"] == pytest.approx(1e-2)
    problem.solve(solver=Lifted(backend="SCS", tolerance=1e-4))
    assert problem.solver_stats.extra_stats["certificate"]["tolerance"] == 1e-4


def test_report_is_ready_for_json() -> None:
    problem = sharing()
    problem.solve(solver=Lifted())
    report = json.loads(json.dumps(problem.solver_stats.extra_stats))
    assert report["ground"]["variables"] == 6
    assert report["small"] == {
        "variables": 1, "rows": 1, "conic_rows": 0, "cones": 0, "quadratic_constraints": 0, "nonzeros": 2,
    }  # fmt: skip
    assert {"lift", "presolve", "find classes", "quotient", "solve", "expand", "certify"} <= report["seconds"].keys()
    assert report["certificate"]["primal_residual"] <= 1e-6
    assert report["attempts"][0]["status"] == "optimal"
    assert problem.solver_stats.solver_name == "RELIFT"
    assert problem.solver_stats.num_iters >= 0


def test_verbose_tells_of_sizes_and_shows_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    sharing().solve(solver=Lifted(backend="clarabel"), verbose=True)
    printed = capfd.readouterr().out
    assert "relift: 6 variables, 7 rows -> 1 variables, 1 rows" in printed
    assert "Clarabel" in printed
    assert "relift: optimal, worst residual" in printed
    sharing().solve(solver=Lifted(backend="clarabel"))
    assert capfd.readouterr().out == ""


def test_warm_start_is_taken_from_the_last_answer() -> None:
    pytest.importorskip("osqp")
    parameter = cp.Parameter(3, value=np.ones(3))
    x = cp.Variable(3)
    A = np.array([[1.0, 2.0, 0.5], [0.3, 1.0, 2.0]])
    problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ x - 1) + parameter @ x), [x >= 0, cp.sum(x) <= 2])
    problem.solve(solver=Lifted(backend="osqp"))
    cold = problem.solver_stats.num_iters
    problem.solve(solver=Lifted(backend="osqp"), warm_start=True)
    assert problem.solver_stats.num_iters <= cold
    warm = problem.solver_stats.num_iters
    problem.solve(solver=Lifted(backend="osqp"), warm_start=False)
    assert problem.solver_stats.num_iters == cold
    assert warm < cold


class TestNames:
    def test_names_work_in_small_and_capital_letters(self) -> None:
        for name in ("RELIFT", "relift", "Relift"):
            problem = sharing()
            assert problem.solve(solver=name) == pytest.approx(6.0, abs=1e-6)
            assert n_small(problem) == 1
        assert "RELIFT" in cp.installed_solvers()

    def test_method_takes_the_solver_as_backend(self) -> None:
        problem = sharing()
        problem.solve(method="relift", solver="CLARABEL", max_iter=50, lift="counting")
        report = problem.solver_stats.extra_stats
        assert (report["backend"], report["lift"], report["small"]["variables"]) == ("cvxpy:CLARABEL", "counting", 1)
        problem.solve(method="relift")
        assert problem.solver_stats.extra_stats["lift"] == "equitable"

    def test_method_takes_an_instance_and_keywords_beside_it(self) -> None:
        problem = sharing()
        problem.solve(method="relift", solver=Lifted(backend="clarabel"), lift="none", tolerance=1e-5)
        report = problem.solver_stats.extra_stats
        assert (report["backend"], n_small(problem), report["certificate"]["tolerance"]) == ("clarabel", 6, 1e-5)
        problem.solve(Lifted(), method="relift")
        assert n_small(problem) == 1

    def test_registering_twice_changes_nothing_and_can_be_undone(self) -> None:
        from cvxpy.reductions.solvers import defines

        relift.cvxpy.register()
        before = (list(defines.SOLVER_MAP_CONIC), list(defines.INSTALLED_SOLVERS))
        relift.cvxpy.register()
        assert (list(defines.SOLVER_MAP_CONIC), list(defines.INSTALLED_SOLVERS)) == before
        relift.cvxpy.unregister()
        try:
            assert not relift.cvxpy.is_registered()
            assert "RELIFT" not in cp.installed_solvers()
            with pytest.raises(cp.error.SolverError, match="RELIFT is not installed"):
                sharing().solve(solver="RELIFT")
            assert sharing().solve(solver=Lifted()) == pytest.approx(6.0, abs=1e-6)
        finally:
            relift.cvxpy.register()
        assert relift.cvxpy.is_registered()

    def test_default_solver_of_cvxpy_stays_what_it_was(self) -> None:
        problem = sharing()
        problem.solve()
        assert problem.solver_stats.solver_name != "RELIFT"
