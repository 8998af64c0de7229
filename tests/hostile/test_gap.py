"""Points that were certified although the objective can still fall."""

from __future__ import annotations

import numpy as np
import pytest

from relift import Program, Solution, Status, certify, solve


@pytest.mark.parametrize("sense", ["min", "max"])
def test_a_gradient_that_is_small_beside_another_one_still_counts_up_to_its_bound(sense: str) -> None:
    sign = 1.0 if sense == "min" else -1.0
    program = Program(q=[sign * 1e9, sign], lb=[0, -1], ub=[np.inf, 0], sense=sense)  # type: ignore[arg-type]
    wrong = Solution(Status.OPTIMAL, x=np.zeros(2), y=np.zeros(0), w=np.array([-1e9, 0.0]))
    assert not certify(program, wrong).is_optimal
    right = Solution(Status.OPTIMAL, x=np.array([0.0, -1.0]), y=np.zeros(0), w=np.array([-1e9, -1.0]))
    assert certify(program, right).is_optimal


def test_the_gap_bounds_what_is_left_to_gain() -> None:
    random = np.random.default_rng(0)
    for _ in range(200):
        n = 4
        program = Program(
            q=random.normal(size=n) * 10.0 ** random.integers(-3, 4, n), lb=-1, ub=random.integers(0, 9, n)
        )
        optimum = float(np.minimum(program.q * program.lb, program.q * program.ub).sum())
        x, w = random.uniform(program.lb, program.ub), random.normal(size=n)
        found = certify(program, Solution(Status.OPTIMAL, x=x, y=np.zeros(0), w=w))
        assert found.objective - optimum <= found.duality_gap * (1 + abs(found.objective)) * (1 + 1e-12)


@pytest.mark.parametrize("backend", ["clarabel", "osqp", "piqp"])
@pytest.mark.parametrize("seed", range(5))
def test_least_squares_that_fit_are_optimal_though_their_optimum_is_nothing(backend: str, seed: int) -> None:
    pytest.importorskip(backend)
    # min |z|^2 with z = Bx - b and b in the range of B: every gradient, every dual value and the optimum are 0.
    random = np.random.default_rng(seed)
    B = random.standard_normal((8, 5))
    b = B @ random.standard_normal(5)
    program = Program(
        P=np.diag([0.0] * 5 + [2.0] * 8), q=np.zeros(13), A=np.hstack([B, -np.eye(8)]), l=b, u=b
    )  # fmt: skip
    result = solve(program, backend=backend)
    assert result.status == "optimal"
    assert abs(result.objective) < 1e-5


FALLING = {
    "nothing in any row": Program(q=[-0.1, 1e8], lb=[-np.inf, -1], ub=[np.inf, 0]),
    "rows without an end on that side": Program(
        q=[-0.1, 1e8], A=[[1, 0.002], [-3, 0]], l=[1, -np.inf], u=[np.inf, 1], lb=[0, -1], ub=[np.inf, 0]
    ),
    "downwards": Program(q=[0.1, 1e8], A=[[1, 0.002]], u=[1], lb=[-np.inf, -1], ub=[0, 0]),
    "maximisation": Program(q=[0.1, -1e8], lb=[0, -1], ub=[np.inf, 0], sense="max"),
    "curvature elsewhere": Program(P=np.diag([0.0, 2.0]), q=[-1e-3, 1e8], lb=[0, -1]),
    "quadratic constraint elsewhere": Program(
        q=[-1e-3, 1e8], lb=[0, -1], quadratic=[(np.diag([0.0, 2.0]), [-1, 0], 9)]
    ),
}


@pytest.mark.parametrize("program", FALLING.values(), ids=FALLING.keys())
def test_a_variable_that_nothing_holds_is_never_optimal_however_small_its_cost(program: Program) -> None:
    x = np.array([2.0, -1.0]) * (1.0 if program.lb[0] == 0 else -1.0 if program.ub[0] == 0 else 0.0)
    x[1] = -1.0
    gradient = (program.q if program.P is None else program.P @ x + program.q) * (-1 if program.sense == "max" else 1)
    answer = Solution(
        Status.OPTIMAL, x=x, y=np.zeros(program.n_rows), w=-gradient * [0, 1], z=np.zeros(len(program.quadratic))
    )
    found = certify(program, answer)
    assert found.is_feasible
    assert found.duality_gap == np.inf


@pytest.mark.parametrize("backend", ["highs", "clarabel", "osqp", "piqp", "scs"])
@pytest.mark.parametrize("program", list(FALLING.values())[:5], ids=list(FALLING)[:5])
def test_a_solver_that_does_not_see_a_small_cost_is_not_believed(program: Program, backend: str) -> None:
    pytest.importorskip({"highs": "highspy"}.get(backend, backend))
    result = solve(program, backend=backend, reduce=False)
    assert result.status == Status.UNBOUNDED
    assert result.certificate.is_proved


@pytest.mark.parametrize(
    "program",
    [
        Program(q=[-0.1, 1e8], A=[[1, 0.002]], u=[1], lb=[0, -1], ub=[np.inf, 0]),
        Program(q=[-0.1, 1e8], A=[[-1, 0.002]], l=[-1], lb=[0, -1], ub=[np.inf, 0]),
        Program(P=[[1e-3, 0], [0, 0]], q=[-0.1, 1e8], lb=[0, -1], ub=[np.inf, 0]),
        Program(q=[-0.1, 1e8], lb=[0, -1], ub=[np.inf, 0], quadratic=[([[1, 0], [0, 0]], [0, 0], 50)]),
        Program(q=[-0.1, 1e8], lb=[0, -1], ub=[np.inf, 0], quadratic=[([[0, 0], [0, 1]], [1, 0], 50)]),
    ],
    ids=["row", "row from below", "curvature", "ball", "half-space"],
)
def test_what_holds_a_variable_with_a_small_cost_makes_it_optimal(program: Program) -> None:
    assert solve(program).status == Status.OPTIMAL


def test_rounding_does_not_press_on_a_bound_that_is_far_away() -> None:
    program = Program(q=[1.0, 1.0], A=[[1.0, 1.0]], l=[1.0], lb=0, ub=1e19)  # from 1e20 on it need not count
    x, y = np.array([1.0, 0.0]), np.array([-1.0])
    assert certify(program, Solution(Status.OPTIMAL, x=x, y=y, w=np.array([1e-15, 1e-15]))).is_optimal
    assert not certify(program, Solution(Status.OPTIMAL, x=x, y=y, w=np.array([1e-12, 0.0]))).is_optimal
