"""What README promises under "What you can trust", sentence by sentence, with backends that lie, through every door.

A liar replaces what a real backend answers. Whatever it says, the status is ``optimal`` only for the optimum, and
``infeasible`` and ``unbounded`` only for programs that are: a certificate that let every point pass would make most of
these tests fail, and the last ones check that it would.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relift
from relift import Program, Solution, Status, solve
from relift.cli.run import run
from relift.errors import AsymmetricError, BoundsError, FileFormatError, NonConvexError, NotANumberError
from relift.lifting.certificate import Certificate
from relift.lifting.quotient import Quotient
from relift.program.program import Program as AnyProgram
from relift.solvers.clarabel_ import ClarabelBackend
from relift.solvers.highs_ import HighsBackend
from relift.solvers.osqp_ import OsqpBackend
from relift.solvers.piqp_ import PiqpBackend
from relift.solvers.scs_ import ScsBackend
from relift.symmetry.partition import Partition

BACKENDS = (HighsBackend, ClarabelBackend, OsqpBackend, PiqpBackend, ScsBackend)
ROWS, COSTS, OPTIMUM = [[1.0, 2.0], [2.0, 1.0]], [1.0, 1.5], 5 / 6

# --- liars ------------------------------------------------------------------------------------------------------------

Lie = Callable[[AnyProgram, Solution], Any]


def _no_solution(program: AnyProgram, honest: Solution) -> Any:
    raise RuntimeError("the solver has crashed")


class PanicException(BaseException):
    """What a failed assertion of a solver in Rust raises: no Exception, so that nothing catches it by accident."""


def _panic(program: AnyProgram, honest: Solution) -> Any:
    raise PanicException("assertion failed")


def _zero(program: AnyProgram, honest: Solution) -> Solution:
    """What rows that need not hold would give: no duals on rows, all on bounds."""
    return Solution(
        Status.OPTIMAL, x=np.zeros(program.n_variables), y=np.zeros(program.n_rows), w=-program.q, objective=0.0,
        z=np.zeros(len(program.quadratic)), v=np.zeros(program.conic.n_rows),
    )  # fmt: skip


def _moved(vector: Any, by: float) -> Any:
    return None if vector is None else vector + by


LIES: dict[str, Lie] = {
    "wrong point": lambda program, honest: replace(honest, x=_moved(honest.x, 0.5)),
    "zero": _zero,
    "another optimum, proved by nothing": lambda program, honest: replace(
        honest, x=_moved(honest.x, 1e-2), objective=-1e9
    ),
    "wrong row duals": lambda program, honest: replace(honest, y=_moved(honest.y, 0.5)),
    "wrong bound duals": lambda program, honest: replace(honest, w=_moved(honest.w, -0.5)),
    "no duals": lambda program, honest: replace(honest, y=None, w=None),
    "infeasible": lambda program, honest: Solution(Status.INFEASIBLE),
    "infeasible, wrong ray": lambda program, honest: Solution(
        Status.INFEASIBLE, ray_y=-np.ones(program.n_rows), ray_w=np.zeros(program.n_variables)
    ),
    "unbounded": lambda program, honest: Solution(Status.UNBOUNDED),
    "unbounded, wrong ray": lambda program, honest: Solution(Status.UNBOUNDED, ray_x=-np.ones(program.n_variables)),
    "no point": lambda program, honest: Solution(Status.OPTIMAL),
    "NaN": lambda program, honest: replace(honest, x=np.full(program.n_variables, np.nan)),
    "NaN among duals": lambda program, honest: replace(honest, y=np.full(program.n_rows, np.nan)),
    "infinite": lambda program, honest: replace(honest, x=np.full(program.n_variables, np.inf)),
    "too short": lambda program, honest: replace(honest, x=np.zeros(max(program.n_variables - 1, 0))),
    "too many duals": lambda program, honest: replace(honest, y=np.zeros(program.n_rows + 1)),
    "ray too long": lambda program, honest: Solution(Status.INFEASIBLE, ray_y=np.ones(program.n_rows + 3)),
    "a table": lambda program, honest: replace(honest, x=np.zeros((program.n_variables, 1))),
    "words": lambda program, honest: replace(honest, x=np.array(["a"] * program.n_variables)),
    "nothing": lambda program, honest: None,
    "exception": _no_solution,
    "panic": _panic,
}


def let_lie(monkeypatch: pytest.MonkeyPatch, lie: Lie, *liars: type) -> None:
    for liar in liars:
        honest_solve = liar.solve  # type: ignore[attr-defined]

        def lying_solve(self: Any, program: Any, *rest: Any, honest_solve: Any = honest_solve, **more: Any) -> Any:
            return lie(program, honest_solve(self, program, *rest, **more))

        monkeypatch.setattr(liar, "solve", lying_solve)


# --- doors ------------------------------------------------------------------------------------------------------------

MODEL = """
    param cost/1, need/1, entry/2;
    var x(J) in cost(J) >= 0;
    minimize total: sum{J in cost(J)} cost(J)*x(J);
    subject to met forall {I in need(I)}: sum{J in entry(I,J)} entry(I,J)*x(J) >= need(I);
"""
DATA = {
    "cost": {"a": 1.0, "b": 1.5},
    "need": {"r": 1.0, "s": 1.0},
    "entry": {("r", "a"): 1.0, ("r", "b"): 2.0, ("s", "a"): 2.0, ("s", "b"): 1.0},
}


def by_solve(tmp_path: Path) -> tuple[str, float]:
    result = solve(Program(q=COSTS, A=ROWS, l=[1, 1], lb=0))
    assert result.status != Status.FAILURE or result.x is None
    return str(result.status), result.objective


def by_linprog(tmp_path: Path) -> tuple[str, float]:
    found = relift.linprog(COSTS, A_ub=-np.array(ROWS), b_ub=[-1, -1])
    assert found.success == (found.status == 0)
    names = {0: "optimal", 2: "infeasible", 3: "unbounded"}
    return names.get(found.status, "failure"), np.nan if found.fun is None else found.fun


def by_cvxpy(tmp_path: Path) -> tuple[str, float]:
    cp = pytest.importorskip("cvxpy")
    import relift.cvxpy

    x = cp.Variable(2, nonneg=True)
    problem = cp.Problem(cp.Minimize(np.array(COSTS) @ x), [np.array(ROWS) @ x >= 1])
    try:
        problem.solve(solver=relift.cvxpy.Lifted())
    except cp.error.SolverError:
        return "failure", np.nan
    # CVXPY's words for a claim that is not proved, which docs/cvxpy.md promises for it.
    is_unproved = problem.status in {"infeasible_inaccurate", "unbounded_inaccurate"}
    return "failure" if is_unproved else problem.status, problem.value


def by_model(tmp_path: Path) -> tuple[str, float]:
    result = relift.Model.from_text(MODEL).solve(data=DATA)
    return str(result.status), result.objective


def by_engine(tmp_path: Path) -> tuple[str, float]:
    result = relift.Model.from_text(MODEL).solve(data=DATA, engine="duckdb", lift_in_engine=True)
    return str(result.status), result.objective


def by_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, float]:
    path = tmp_path / "small.mps"
    relift.write_program(Program(q=COSTS, A=ROWS, l=[1, 1], lb=0), path)
    code = run(["solve", str(path), "--json"])
    said = json.loads(capsys.readouterr().out)
    assert code == {"optimal": 0, "infeasible": 3, "unbounded": 4}.get(said["status"], 6)
    return said["status"], np.nan if said["objective"] is None else float(said["objective"])


DOORS = (by_solve, by_linprog, by_cvxpy, by_model, by_engine, by_command_line)


@pytest.fixture(params=DOORS, ids=lambda door: door.__name__)
def door(
    request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[[], tuple[str, float]]:
    if request.param is by_command_line:
        return lambda: by_command_line(tmp_path, capsys)
    return lambda: request.param(tmp_path)


# --- "The status is optimal only if that check passes, whatever the solver said." ------------------------------------


def test_an_honest_backend_is_believed(door: Callable[[], tuple[str, float]]) -> None:
    status, objective = door()
    assert status == "optimal"
    assert objective == pytest.approx(OPTIMUM)


@pytest.mark.parametrize("lie", LIES)
def test_no_lie_is_called_optimal_infeasible_or_unbounded(
    lie: str, door: Callable[[], tuple[str, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    let_lie(monkeypatch, LIES[lie], *BACKENDS)
    status, objective = door()
    if lie == "wrong bound duals" and status == "optimal":
        # CVXPY writes bounds as rows: what was substituted gets its dual values from the gradient, not from the liar.
        assert objective == pytest.approx(OPTIMUM)
        return
    assert status in {"optimal_inaccurate", "failure"}


# --- "If it fails, the solver is asked again with harder settings, then another solver is." --------------------------


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_of_one_backend_is_made_good_by_the_next(
    lie: str, door: Callable[[], tuple[str, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    let_lie(monkeypatch, LIES[lie], HighsBackend)
    status, objective = door()
    assert status == "optimal"
    assert objective == pytest.approx(OPTIMUM)


def test_every_attempt_is_told_with_the_words_of_the_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    let_lie(monkeypatch, LIES["exception"], HighsBackend)
    result = solve(Program(q=COSTS, A=ROWS, l=[1, 1], lb=0))
    assert [attempt.backend for attempt in result.attempts] == ["highs", "highs", "highs", "clarabel"]
    assert result.attempts[0].message == "RuntimeError: the solver has crashed"
    let_lie(monkeypatch, LIES["too short"], ClarabelBackend)
    failed = solve(Program(q=COSTS, A=ROWS, l=[1, 1], lb=0))
    assert failed.status == Status.FAILURE
    assert failed.message.startswith(
        "no answer passed its check: highs said failure (RuntimeError: the solver has crashed); clarabel said failure "
        "(Solved: clarabel said optimal, but x has 1 entries, and 2 are needed)"
    )


@pytest.mark.parametrize(
    ("lie", "words"),
    [
        ("no point", "highs said optimal, but gave no point"),
        ("NaN", "kOptimal: highs said optimal, but x has an entry that is not a finite number"),
        ("nothing", "highs returned NoneType instead of a Solution"),
        ("words", "kOptimal: highs said optimal, but x is not an array of real numbers"),
        ("infeasible", "highs called a program with a feasible point infeasible"),
    ],
)
def test_the_reason_why_a_backend_is_not_believed_is_told(
    lie: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The honest simplex finds the feasible point that contradicts the lie, so that one of both must be honest.
    program = Program(q=COSTS, A=ROWS, l=[1, 1], lb=0)

    def lie_about_it(asked: AnyProgram, honest: Solution) -> Any:
        return LIES[lie](asked, honest) if np.any(asked.q) else honest

    let_lie(monkeypatch, lie_about_it, HighsBackend)
    assert words in solve(program, backend="highs").attempts[0].message


def test_infeasible_is_contradicted_only_by_a_feasible_point_that_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    let_lie(monkeypatch, LIES["infeasible"], *BACKENDS)
    result = solve(Program(q=COSTS, A=ROWS, l=[1, 1], lb=0))
    assert result.status == Status.FAILURE
    assert "feasible point" not in result.message


# --- "What nobody can certify comes back as optimal_inaccurate with its residual", up to 1e-3 ------------------------


@pytest.mark.parametrize(
    ("away", "status"), [(1e-9, "optimal"), (1e-5, "optimal_inaccurate"), (1e-2, "failure"), (10.0, "failure")]
)
def test_what_is_nearly_right_is_called_inaccurate_and_what_is_not_is_a_failure(
    away: float, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_lie(monkeypatch, lambda program, honest: replace(honest, x=_moved(honest.x, away)), *BACKENDS)
    result = solve(Program(q=COSTS, A=ROWS, l=[1, 1], lb=0))
    assert result.status == status
    assert (result.x is None) == (status == "failure")
    if status == "optimal_inaccurate":
        assert result.certificate.worst_residual <= 1e-3
        assert "worst relative residual" in result.message


# --- "infeasible and unbounded come with a ray that is checked in the same way" --------------------------------------

IMPOSSIBLE: dict[str, Any] = {
    "q": [1.0, 1.0],
    "A": [[1.0, 1.0], [1.0, 1.0]],
    "l": [3.0, -np.inf],
    "u": [np.inf, 1.0],
    "lb": 0,
}
ENDLESS = {"q": [-1.0, 1.0], "A": [[1.0, -1.0]], "u": [1.0], "lb": 0, "ub": [np.inf, np.inf]}


def test_infeasible_and_unbounded_are_proved_by_their_rays() -> None:
    impossible, endless = solve(Program(**IMPOSSIBLE)), solve(Program(q=[-1.0, 0.5], A=[[1.0, -1.0]], u=[1.0], lb=0))
    assert impossible.status == Status.INFEASIBLE
    assert impossible.certificate.is_proved
    assert impossible.ray_y is not None
    assert endless.status == Status.UNBOUNDED
    assert endless.certificate.is_proved
    assert endless.ray_x is not None


@pytest.mark.parametrize(
    "lie", ["zero", "no point", "NaN", "unbounded", "unbounded, wrong ray", "exception", "nothing"]
)
def test_an_infeasible_program_is_never_called_anything_else_but_a_failure(
    lie: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_lie(monkeypatch, LIES[lie], *BACKENDS)
    assert solve(Program(**IMPOSSIBLE), reduce=False).status == Status.FAILURE


@pytest.mark.parametrize("lie", ["zero", "no point", "NaN", "infeasible", "infeasible, wrong ray", "exception"])
def test_an_unbounded_program_is_never_called_anything_else_but_a_failure(
    lie: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_lie(monkeypatch, LIES[lie], *BACKENDS)
    assert solve(Program(q=[-1.0, 0.5], A=[[1.0, -1.0]], u=[1.0], lb=0), reduce=False).status == Status.FAILURE


# --- "The answer is checked on your program, not on the small one: primal residual, stationarity, duality gap" --------


def test_an_expansion_that_goes_wrong_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Quotient.expand
    monkeypatch.setattr(
        Quotient, "expand", lambda self, solution: replace(honest(self, solution), x=np.array([9.0, 0.0, 0.0]))
    )
    result = solve(Program(q=[1, 1, 1], A=[[1, 1, 0], [0, 1, 1], [1, 0, 1]], l=[1, 1, 1], lb=0))
    assert result.lifting.small.n_variables == 1
    assert result.status == Status.FAILURE


def test_each_of_the_three_residuals_alone_refuses_an_answer() -> None:
    program = Program(q=[1.0], A=[[1.0]], l=[1.0], lb=0)
    right = Solution(Status.OPTIMAL, x=np.array([1.0]), y=np.array([-1.0]), w=np.zeros(1))
    assert relift.certify(program, right).is_optimal
    broken = relift.certify(program, Solution(Status.OPTIMAL, x=np.zeros(1), y=np.zeros(1), w=np.array([-1.0])))
    assert (broken.primal_residual, broken.dual_residual, broken.duality_gap) == (1.0, 0.0, 0.0)
    slanted = relift.certify(program, replace(right, y=np.array([-0.9])))
    assert slanted.primal_residual == 0.0
    assert slanted.dual_residual > 1e-3
    loose = relift.certify(program, replace(right, x=np.array([2.0])))
    assert (loose.primal_residual, loose.dual_residual) == (0.0, 0.0)
    assert loose.duality_gap > 0.1


def test_a_violated_row_and_a_loose_one_do_not_cancel_in_the_gap() -> None:
    program = Program(q=[1e6, -1e6], A=[[1, 0], [0, 1]], l=[1, -np.inf], u=[np.inf, 1])
    shifted = Solution(Status.OPTIMAL, x=np.array([1 - 5e-7, 1 - 5e-7]), y=np.array([-1e6, 1e6]), w=np.zeros(2))
    assert relift.certify(program, shifted).duality_gap > 0.1


# --- "Equal means equal." ---------------------------------------------------------------------------------------------


def test_coefficients_are_added_as_exact_rationals_and_nothing_is_rounded_unless_asked() -> None:
    program = Program(q=[1, 1, 1, 1], A=[[0.1, 0.2, 0, 0], [0, 0, 0.3, 0]], l=[1, 1], lb=0)
    in_another_order = Program(q=[1] * 6, A=[[0.1, 0.2, 0.7, 0, 0, 0], [0, 0, 0, 0.7, 0.1, 0.2]], l=[1, 1], lb=0)
    assert relift.lift(in_another_order).small.n_rows == 1
    assert 0.1 + 0.2 != 0.3
    merged = relift.lift(Program(q=[1, 1, 1], A=[[0.1, 0.2, 0.3]], l=[1], lb=0), reduce=False)
    assert merged.small.n_variables == 3  # equal sums, but not equal variables
    nearly = Program(q=[1.0, 1.0 + 1e-12], A=[[1, 1]], l=[1], lb=0)
    assert relift.lift(nearly).small.n_variables == 2
    rounded = relift.lift(nearly, digits=9)
    assert rounded.small.n_variables == 1
    assert rounded.snapped is not None
    assert rounded.snapped.n_values_merged == 1
    assert program.n_rows == 2


# --- "The classes are checked independently of the kernel that found them, before they are used." ---------------------


def test_wrong_classes_of_a_broken_kernel_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    from relift.lifting import stages

    honest, honest_up_to_scale = stages.find_symmetry, stages.find_up_to_scale  # type: ignore[attr-defined]

    def everything_is_alike(program: Program, *rest: Any, **more: Any) -> Any:
        more.pop("most_rounded", None)
        found = honest(program, *rest, **more)
        return replace(
            found,
            variables=Partition(np.zeros(program.n_variables, np.int64)),
            rows=Partition(np.zeros(program.n_rows, np.int64)),
        )

    def everything_is_alike_up_to_scale(program: Program, *rest: Any, **more: Any) -> Any:
        return replace(honest_up_to_scale(program, *rest, **more), symmetry=everything_is_alike(program, *rest, **more))

    monkeypatch.setattr(stages, "find_symmetry", everything_is_alike)
    monkeypatch.setattr(stages, "find_up_to_scale", everything_is_alike_up_to_scale)
    result = solve(Program(q=COSTS, A=ROWS, l=[1, 1], lb=0))
    assert result.lifting.is_trivial
    assert "no classes passed their check" in result.lifting.notes[-1]
    assert result.objective == pytest.approx(OPTIMUM)


# --- "Bad input gets an error that names the argument and the entry." -------------------------------------------------


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"q": [1.0, np.nan]}, NotANumberError, r"q\[1\]"),
        ({"q": [1.0], "lb": [2.0], "ub": [1.0]}, BoundsError, r"lb\[0\]"),
        ({"P": [[1.0, 2.0], [0.0, 1.0]]}, AsymmetricError, r"P"),
        ({"P": [[1.0, 0.0], [0.0, -1.0]]}, NonConvexError, r"x\[1\]"),
    ],
)
def test_bad_input_is_named(given: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        Program(**given)


def test_a_broken_file_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "broken.mps").write_text("NAME x\nROWS\n N obj\n G r\nCOLUMNS\n a obj one\nENDATA\n")
    with pytest.raises(FileFormatError, match=r"broken\.mps.*6"):
        relift.read_program(tmp_path / "broken.mps")


# --- Would these tests notice? ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("lie", ["wrong point", "zero", "wrong row duals"])
def test_a_certificate_that_lets_every_point_pass_would_be_noticed(
    lie: str, door: Callable[[], tuple[str, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Certificate, "is_optimal", property(lambda self: True))
    let_lie(monkeypatch, LIES[lie], *BACKENDS)
    assert door()[0] == "optimal"  # so that the test of lies above fails through every door
