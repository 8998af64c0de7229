"""Points that were certified although the objective can still fall."""

from __future__ import annotations

import numpy as np
import pytest

import relift
from relift import Program, Solution, Status, certify


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
    # min |z|^2 with z = Bx - b and b in the range of B: every gradient, every dual value and the optimum are 0.
    random = np.random.default_rng(seed)
    B = random.standard_normal((8, 5))
    b = B @ random.standard_normal(5)
    program = Program(
        P=np.diag([0.0] * 5 + [2.0] * 8), q=np.zeros(13), A=np.hstack([B, -np.eye(8)]), l=b, u=b
    )  # fmt: skip
    result = relift.solve(program, backend=backend)
    assert result.status == "optimal"
    assert abs(result.objective) < 1e-5
