"""Constants with a name and a reason: what each of them lets through, and what it does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import relift
from relift import Program
from relift.lifting.ray_residuals import infeasibility_residual
from relift.program.solution import Solution, Status
from relift.solvers import newton_polish
from relift.solvers.newton_polish import polished
from relift.symmetry.colour_refinement import colour_refinement
from relift.symmetry.partition import Partition

INF = np.inf


def circulant(*first_row: float) -> np.ndarray:
    return np.array([np.roll(first_row, k) for k in range(len(first_row))])


# --- CANCELLED: sums of a quotient that are rounding and nothing else -----------------------------------------------


def quotient_of_a_circle(*first_row: float) -> Program:
    """One class of variables and one of rows: the only entry is the sum of a row."""
    n = len(first_row)
    program = Program(q=np.ones(n), A=circulant(*first_row), l=-1.0, lb=0.0, ub=2.0)
    lifting = relift.lift(program, reduce=False, sizes=False, signs=False)  # else such a row is left out
    assert (lifting.small.n_variables, lifting.small.n_rows) == (1, 1)
    return lifting.small


@pytest.mark.parametrize("row", [(0.1, 0.2, -0.3), (0.3, -0.1, -0.1, -0.1), (1e6 + 0.1, 0.2, -1e6 - 0.3)])
def test_a_sum_that_is_exactly_zero_leaves_no_rounding_in_the_quotient(row: tuple[float, ...]) -> None:
    assert np.cumsum(row)[-1] != 0.0  # in floats something is left
    assert quotient_of_a_circle(*row).A.nnz == 0


@pytest.mark.parametrize("small", [1e-13, 1e-12, 1e-9])
def test_a_small_sum_that_is_not_rounding_stays_in_the_quotient(small: float) -> None:
    quotient = quotient_of_a_circle(1.0, small, -1.0)
    assert quotient.A.toarray() == pytest.approx(np.array([[small]]), rel=1e-3, abs=0)


def test_a_quadratic_part_that_cancels_leaves_no_rounding_in_the_quotient() -> None:
    P = circulant(0.3, -0.1, 0.0, -0.1) + circulant(0.0, 0.0, -0.1, 0.0)  # a ring and its diagonal; rows sum to 0
    lifting = relift.lift(Program(P=P, q=-np.ones(4), A=np.ones((1, 4)), u=[4.0], lb=0.0))
    assert lifting.small.n_variables == 1
    assert lifting.small.P is None or lifting.small.P.nnz == 0


# --- DUST: duals of a proof that are noise --------------------------------------------------------------------


def contradiction(coefficient: float) -> Program:
    """Says x >= 1 and x <= 0, and something else about a free variable that has nothing to do with it."""
    A = [[1.0, 0.0], [1.0, 0.0], [0.0, coefficient]]
    return Program(q=[0.0, 0.0], A=A, l=[1.0, -INF, -5.0], u=[INF, 0.0, 5.0])


def test_noise_in_a_proof_of_infeasibility_is_cleared_away() -> None:
    program = contradiction(1e4)
    assert infeasibility_residual(program, np.array([-1.0, 1.0, 0.0])) == 0.0
    assert infeasibility_residual(program, np.array([-1.0, 1.0, 5e-13])) == 0.0  # times 1e4, the size of its row
    assert infeasibility_residual(program, np.array([-1e6, 1e6, 5e-7])) == 0.0  # relative to the largest


def test_what_is_more_than_noise_is_not_cleared_away() -> None:
    assert infeasibility_residual(contradiction(1e4), np.array([-1.0, 1.0, 1e-10])) == pytest.approx(1e-6, rel=1e-3)


def test_a_proof_whose_parts_differ_in_size_is_judged_as_it_was_given() -> None:
    # 1e9 x >= 1e9 and x <= 0: the small dual value is needed, and clearing it would leave no proof.
    program = Program(q=[0.0], A=[[1e9], [1.0]], l=[1e9, -INF], u=[INF, 0.0])
    assert infeasibility_residual(program, np.array([-1e-9, 1.0])) < 1e-9


# --- infinite bounds in files ---------------------------------------------------------------------------------------

MPS = """NAME
ROWS
 N cost
 L most
 G least
 G both
COLUMNS
 x cost 1 most 1
 x least 1 both 1
RHS
 s most {value} least -{value}
 s both 0
RANGES
 s both {value}
BOUNDS
 UP b x {value}
 LO b x -{value}
ENDATA
"""
LP = """Minimize
 cost: x
Subject To
 most: x <= {value}
 least: x >= -{value}
Bounds
 -{value} <= x <= {value}
End
"""


@pytest.mark.parametrize("value", ["1e20", "1e+20", "2e20", "1e30", "1e300"])
def test_numbers_from_1e20_on_are_no_bounds_in_mps(value: str, tmp_path: Path) -> None:
    (tmp_path / "m.mps").write_text(MPS.format(value=value))
    program = relift.read_program(tmp_path / "m.mps")
    assert (program.l.tolist(), program.u.tolist()) == ([-INF, -INF, 0.0], [INF, INF, INF])
    assert (program.lb.tolist(), program.ub.tolist()) == ([-INF], [INF])


@pytest.mark.parametrize("value", [9.9e19, 1e15, 1e10])
def test_numbers_below_1e20_are_bounds_in_mps(value: float, tmp_path: Path) -> None:
    (tmp_path / "m.mps").write_text(MPS.format(value=value))
    program = relift.read_program(tmp_path / "m.mps")
    assert (program.l.tolist(), program.u.tolist()) == ([-INF, -value, 0.0], [value, INF, value])
    assert (program.lb.tolist(), program.ub.tolist()) == ([-value], [value])


@pytest.mark.parametrize(("value", "bound"), [("1e20", INF), ("1e30", INF), ("9.9e19", 9.9e19), ("1e10", 1e10)])
def test_lp_files_have_the_same_infinity(value: str, bound: float, tmp_path: Path) -> None:
    (tmp_path / "m.lp").write_text(LP.format(value=value))
    program = relift.read_program(tmp_path / "m.lp")
    assert (program.lb.tolist(), program.ub.tolist()) == ([-bound], [bound])
    assert sorted(zip(program.l.tolist(), program.u.tolist(), strict=True)) == [(-INF, bound), (-bound, INF)]


@pytest.mark.parametrize("suffix", ["mps", "lp"])
def test_a_free_row_is_written_and_comes_back_free(suffix: str, tmp_path: Path) -> None:
    program = Program(q=[1.0], A=[[1.0], [2.0]], l=[-INF, 1.0], u=[INF, INF], lb=0.0)
    relift.write_program(program, tmp_path / f"m.{suffix}")
    back = relift.read_program(tmp_path / f"m.{suffix}")
    assert (back.l.tolist(), back.u.tolist()) == ([-INF, 1.0], [INF, INF])


# --- polish: signs of duals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("most_compiled", [0, newton_polish.MOST_COMPILED])
def test_a_step_that_turns_the_sign_of_a_dual_value_is_not_taken(
    most_compiled: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newton_polish, "MOST_COMPILED", most_compiled)
    # min 1/2 (x - 2)^2 with x <= 3, which is taken for active: there y = -1, which no upper bound pays.
    program = Program(P=[[1.0]], q=[-2.0], A=[[1.0]], u=[3.0])
    wrong = Solution(
        Status.OPTIMAL, np.array([2.9]), np.array([0.5]), np.zeros(1), z=np.zeros(0), v=np.zeros(0), objective=0.0
    )
    assert polished(program, wrong) is wrong
    bounds = Program(P=[[1.0]], q=[-2.0], ub=3.0)
    at_bound = replace(wrong, y=np.zeros(0), w=np.array([0.5]))
    assert polished(bounds, at_bound) is at_bound
    # Between bounds that lie close together the step would end at the other one: another guess, not a polish.
    narrow = Program(P=[[1.0]], q=[-2.0], A=[[1.0]], l=[2.999], u=[3.0])
    between = replace(wrong, x=np.array([2.9995]))
    assert polished(narrow, between) is between
    narrow_bounds = Program(P=[[1.0]], q=[-2.0], lb=2.999, ub=3.0)
    between = replace(between, y=np.zeros(0), w=np.array([0.5]))
    assert polished(narrow_bounds, between) is between


@pytest.mark.parametrize("most_compiled", [0, newton_polish.MOST_COMPILED])
@pytest.mark.parametrize("is_upper", [True, False])
def test_a_polished_point_lies_on_the_bound_that_its_dual_value_belongs_to(
    is_upper: bool, most_compiled: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newton_polish, "MOST_COMPILED", most_compiled)
    # min 1/2 x^2 -+ 5x with -1 <= x <= 1: the optimum is 1 with y = 4, or -1 with y = -4.
    side = 1.0 if is_upper else -1.0
    program = Program(P=[[1.0]], q=[-5.0 * side], A=[[1.0]], l=[-1.0], u=[1.0])
    rough = Solution(
        Status.OPTIMAL, np.array([0.999 * side]), np.array([3.99 * side]), np.zeros(1), z=np.zeros(0), v=np.zeros(0),
        objective=0.0,
    )  # fmt: skip
    found = polished(program, rough)
    assert found.x == pytest.approx([side], abs=1e-12)
    assert found.y == pytest.approx([4.0 * side], abs=1e-10)
    assert found.objective == pytest.approx(-4.5, abs=1e-10)


# --- exact lifting of support vector machines -----------------------------------------------------------------------


def test_classes_under_which_the_kernel_is_not_stable_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn", reason="relift.ml needs scikit-learn")
    from relift.ml import exact
    from relift.ml.dual_problem import DualProblem, LiftOptions
    from relift.ml.kernels import FunctionKernel, dense_function

    corners = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    y = np.array([1.0, 1.0, -1.0, -1.0])

    def solved(points: np.ndarray) -> list[int]:
        source = FunctionKernel(points, dense_function("rbf", 1.0, 0.0, 3))
        problem = DualProblem(source, y, np.minimum(y, 0), np.maximum(y, 0), None)
        answer = exact.solve_exact(problem, LiftOptions())
        assert answer.gap < 1e-6
        return [int(label) for label in answer.labels]

    assert solved(corners) == [0, 0, 1, 1]
    # A refinement that errs, by a collision say: its classes hold for the square, and not for the other figure.
    monkeypatch.setattr(exact, "colour_refinement", lambda *_, **__: Partition.from_labels([0, 0, 1, 1]))
    assert solved(corners) == [0, 0, 1, 1]
    corners[2, 1] += 1e-3
    assert solved(corners) == [0, 1, 2, 3]
    monkeypatch.undo()
    assert exact.colour_refinement is colour_refinement  # type: ignore[attr-defined]


# --- WORTH, MANY_MERGED: entries of semidefinite cones -----------------------------------------------------------


def matrix_program(costs: np.ndarray) -> Program:
    """The least <C, X> over semidefinite X of trace 1."""
    n = costs.shape[0]
    column, row = np.tril_indices(n)
    off = row != column
    conic = relift.ConicRows(-np.diag(np.where(off, 2.0**0.5, 1.0)), np.zeros(off.size), [relift.Semidefinite(n)])
    q = np.where(off, 2.0, 1.0) * costs[row, column]
    return Program(q=q, A=[np.where(off, 0.0, 1.0)], l=[1.0], u=[1.0], conic=conic)


@pytest.mark.parametrize(("side", "is_merged"), [(3, True), (9, False)])
def test_entries_are_merged_where_few_classes_are_left(side: int, is_merged: bool) -> None:
    # Two equal points beside others that are all different: 4 classes of 6 entries, and 37 of 45.
    costs = np.diag(np.arange(1.0, side + 1))
    costs[1, 1] = costs[0, 0]
    costs[2:, :2] = costs[:2, 2:] = 1.0
    random = np.arange(9.0, 9.0 + side * side).reshape(side, side)
    costs[2:, 2:] = random[2:, 2:] + random[2:, 2:].T
    costs[:2, 2:] += np.arange(side - 2)
    costs[2:, :2] = costs[:2, 2:].T
    program = matrix_program(costs)
    small = relift.lift(program, sizes=False, signs=False).small
    n_entries = program.conic.n_rows
    n_classes = n_entries - (1 + side - 2)
    assert (n_classes <= 0.8 * n_entries) is is_merged
    assert (small.n_variables < program.n_variables) is is_merged
    assert relift.solve(program).objective == pytest.approx(np.linalg.eigvalsh(costs)[0], abs=1e-5)


@pytest.mark.parametrize("n_cones", [3, 40])
def test_sizes_of_cones_are_found_where_merging_entries_leaves_more(n_cones: int) -> None:
    # 2 x 2 matrices [[a, b], [b, a]] of many sizes: merged entries leave two rows a cone, sizes one cone.
    root, sizes = 2.0**0.5, np.arange(1.0, n_cones + 1)
    A = np.kron(np.eye(n_cones), -np.array([[1.0, 0], [0, root], [1, 0]]))
    b = np.kron(np.zeros(n_cones), np.zeros(3))
    conic = relift.ConicRows(A, b, [relift.Semidefinite(2)] * n_cones)
    program = Program(q=np.tile([0.0, -1.0], n_cones), lb=-INF, ub=np.kron(sizes, [1.0, INF]), conic=conic)
    result = relift.solve(program)
    assert result.lifting.small.n_variables == 2
    assert result.objective == pytest.approx(-sizes.sum(), rel=1e-6)
