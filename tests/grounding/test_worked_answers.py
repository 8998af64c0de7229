from __future__ import annotations

import numpy as np
import pytest
from tests.grounding import programs as p

import relift
from relift.grounding.ground import GroundProgram, ground
from relift.language.checks.check_model import check_text


def sizes(grounded: GroundProgram) -> tuple[int, int, int]:
    program = grounded.program
    return program.n_variables, program.n_rows, int(program.A.nnz)


def classes(grounded: GroundProgram) -> tuple[int, int]:
    lifting = relift.lift(grounded.program, lift="counting", reduce=False, scale_rows=False)
    return lifting.variables.n_classes, lifting.rows.n_classes


def values(grounded: GroundProgram, x: np.ndarray, name: str) -> np.ndarray:
    block = grounded.atoms.block(name)
    return x[block.start : block.stop]


@pytest.mark.parametrize(
    ("c2", "optimum", "weights"),
    [(0.5, 3.5, [0.5, 0.5, 0.5, -0.5, -0.5, -0.5]), (5, 14, [0, 1, 1, 0, -1, -1])],
)
def test_tc_qp_svm(c2: float, optimum: float, weights: list[float]) -> None:
    grounded = ground(check_text(p.TC_QP_SVM + p.TC_QP_SVM_FACTS), {"c2": c2})
    assert sizes(grounded) == (17, 10, 36)
    assert classes(grounded) == (11, 6)
    result = relift.solve(grounded.program)
    assert result.objective == pytest.approx(optimum, abs=1e-6)
    np.testing.assert_allclose(values(grounded, result.x, "weight"), weights, atol=1e-4)
    np.testing.assert_allclose(values(grounded, result.x, "bias"), 0, atol=1e-4)


def test_max_flow() -> None:
    grounded = ground(check_text(p.MAX_FLOW + p.MAX_FLOW_FACTS))
    assert sizes(grounded) == (10, 5, 16)
    assert classes(grounded) == (10, 5)
    assert relift.solve(grounded.program).objective == pytest.approx(130)
    assert grounded.atoms.name(0) == "flow(a,b)"
    assert list(grounded.program.row_names) == [f"balance({z})" for z in "bcdef"]


def test_sudoku() -> None:
    clues = [(i, j, int(digit)) for i, row in enumerate(p.CLUES, 1) for j, digit in enumerate(row, 1) if digit != "."]
    grounded = ground(check_text(p.SUDOKU), {"initial": clues})
    assert sizes(grounded) == (729, 354, 2946)
    result = relift.solve(grounded.program)
    assert result.objective == pytest.approx(1)
    table = grounded.atoms.table("fill")
    chosen = result.x > 0.5
    answer = np.zeros((9, 9), int)
    answer[table["I"][chosen] - 1, table["J"][chosen] - 1] = table["X"][chosen]
    assert ["".join(map(str, row)) for row in answer] == p.SUDOKU_ANSWER


def test_map_lp_of_a_cycle() -> None:
    edges = [(i, (i + 1) % 5) for i in range(5)]
    theta = {(x, y, v, 1 - v): 1 for x, y in edges for v in (0, 1)}
    grounded = ground(check_text(p.MAP_LP), {"edge": edges, "theta2": theta})
    assert sizes(grounded) == (30, 25, 70)
    assert classes(grounded) == (3, 2)
    result = relift.solve(grounded.program)
    assert result.objective == pytest.approx(5)
    np.testing.assert_allclose(values(grounded, result.x, "mu"), 0.5, atol=1e-6)


def test_ridge() -> None:
    grounded = ground(check_text(p.RIDGE + p.REGRESSION_FACTS))
    assert sizes(grounded) == (2, 0, 0)
    assert classes(grounded) == (2, 0)
    result = relift.solve(grounded.program)
    assert result.objective == pytest.approx(3.0185185, abs=1e-6)
    np.testing.assert_allclose(result.x, [0.8148148, 1.2037037], atol=1e-6)


def test_lasso() -> None:
    grounded = ground(check_text(p.LASSO + p.REGRESSION_FACTS))
    assert sizes(grounded) == (4, 4, 8)
    assert classes(grounded) == (4, 4)
    result = relift.solve(grounded.program)
    assert result.objective == pytest.approx(8.3970588, abs=1e-6)
    np.testing.assert_allclose(values(grounded, result.x, "w"), [0.5588235, 0.8529412], atol=1e-5)


def test_mdp() -> None:
    grounded = ground(check_text(p.MDP))
    assert sizes(grounded) == (16, 61, 107)
    assert classes(grounded) == (10, 30)
    result = relift.solve(grounded.program)
    assert result.objective == pytest.approx(-41.73279, abs=1e-5)
    table = grounded.atoms.table("v")
    by_distance = [0, -1, -1.9, -2.71, -3.439, -4.0951, -4.68559]
    np.testing.assert_allclose(
        result.x, [by_distance[8 - x - y] for x, y in zip(table["X"], table["Y"], strict=True)], atol=1e-5
    )


def test_lp_svm() -> None:
    grounded = ground(check_text(p.LP_SVM + p.POINTS))
    assert sizes(grounded) == (8, 4, 20)
    assert classes(grounded) == (8, 4)
    assert relift.solve(grounded.program).objective == pytest.approx(-1.5)


def test_qp_svm() -> None:
    grounded = ground(check_text(p.QP_SVM + p.POINTS))
    assert sizes(grounded) == (7, 4, 16)
    assert classes(grounded) == (7, 4)
    result = relift.solve(grounded.program)
    assert result.objective == pytest.approx(8 / 9)
    np.testing.assert_allclose(values(grounded, result.x, "w"), [2 / 3, 2 / 3], atol=1e-5)
    np.testing.assert_allclose(values(grounded, result.x, "b"), -11 / 3, atol=1e-4)


def test_running_example_of_the_paper() -> None:
    text = """
    param entry/2;  index(I) if entry(I,_);  var x(I) in index(I) >= 1;
    minimize: sum{I,J in entry(I,J)} entry(I,J)*x(I)*x(J);
    entry := {(1,1):1,(1,3):-1,(2,2):2,(2,4):-2,(3,1):-1,(3,3):1,(4,2):-2,(4,4):2};
    """
    grounded = ground(check_text(text))
    expected = 2 * np.array([[1, 0, -1, 0], [0, 2, 0, -2], [-1, 0, 1, 0], [0, -2, 0, 2]])
    np.testing.assert_array_equal(grounded.program.P.toarray(), expected)
    assert grounded.program.objective([2, 1, 1, 2]) == 3
    assert classes(grounded) == (2, 0)
    assert relift.lift(grounded.program, lift="equitable", reduce=False).variables.n_classes == 1
    assert relift.solve(grounded.program).objective == pytest.approx(0, abs=1e-6)
