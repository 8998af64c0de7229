"""Wrong proofs: programs with an optimum that were called infeasible or unbounded, with a ray that passed."""

from __future__ import annotations

import numpy as np
import pytest

from relift import Program, Solution, Status, certify, solve


def test_an_optimum_far_away_is_not_called_unbounded() -> None:
    result = solve(Program(q=[-1, -1], A=[[1e-10, 2e-10]], u=[1], lb=0))
    assert result.status == Status.OPTIMAL
    assert result.objective == pytest.approx(-1e10)


@pytest.mark.parametrize("size", [1e-10, 1e-13, 1e-30])
def test_rows_of_small_entries_do_not_prove_that_a_direction_is_free(size: float) -> None:
    program = Program(q=[-1, -1], A=[[size, 2 * size]], u=[1], lb=0)
    claim = Solution(Status.UNBOUNDED, x=np.zeros(2), ray_x=np.array([1.0, 0.0]))
    assert not certify(program, claim).is_proved
    assert solve(program).status != Status.UNBOUNDED


@pytest.mark.parametrize("size", [1e-10, 1e-13, 1e-30])
def test_columns_of_small_entries_do_not_prove_infeasibility(size: float) -> None:
    program = Program(q=[1, 1], A=[[size, 2 * size]], l=[1], lb=0)
    claim = Solution(Status.INFEASIBLE, ray_y=np.array([-1.0]), ray_w=np.zeros(2))
    assert not certify(program, claim).is_proved
    assert solve(program).status != Status.INFEASIBLE


def test_small_curvature_is_curvature() -> None:
    program = Program(P=1e-12 * np.eye(2), q=[-1, -2], lb=0)
    claim = Solution(Status.UNBOUNDED, x=np.zeros(2), ray_x=np.array([0.5, 1.0]))
    assert not certify(program, claim).is_proved
    assert solve(program).status != Status.UNBOUNDED


def test_what_rounding_leaves_of_the_bounds_proves_nothing() -> None:
    program = Program(A=[[0.1], [0.3]], l=[0.1 + 0.2, -np.inf], u=[np.inf, 0.9])
    claim = Solution(Status.INFEASIBLE, ray_y=np.array([-3.0, 1.0]), ray_w=np.zeros(1))
    assert not certify(program, claim).is_proved


def test_a_row_that_is_broken_by_rounding_alone_is_no_proof_of_infeasibility() -> None:
    # The second row leaves x[1] no value, by 4e-16, before the first one fixes it.
    program = Program(q=[1, 1], A=[[1, 1], [0, 3]], l=[3, 6.000000000000001], u=[3, np.inf], lb=[1, -np.inf], ub=[1, 2])
    result = solve(program)
    assert result.status == Status.OPTIMAL
    assert result.objective == pytest.approx(3)
    assert solve(program.replace(l=[3, 6.01])).status == Status.INFEASIBLE


def test_backends_grant_a_row_without_variables_what_they_grant_the_others() -> None:
    program = Program(A=np.zeros((1, 0)), l=[1e-16], u=[1])
    assert solve(program, reduce=False).status == Status.OPTIMAL
    assert solve(program.replace(l=[1e-3]), reduce=False).status == Status.INFEASIBLE


@pytest.mark.parametrize("backend", ["highs", "clarabel", "osqp", "piqp", "scs"])
def test_the_ray_of_an_infeasible_program_can_be_checked_by_hand(backend: str) -> None:
    pytest.importorskip({"highs": "highspy"}.get(backend, backend))
    program = Program(
        P=[[2, 0, -2], [0, 0, 0], [-2, 0, 2]], q=[1000, 0, 1000],
        A=[[0, -0.003, 0], [1, 1, 0]], l=[-np.inf, -9], u=[-9.003, np.inf], lb=[-1, -np.inf, -np.inf], ub=[1, 5, 2],
    )  # fmt: skip
    result = solve(program, backend=backend)
    assert result.status == Status.INFEASIBLE
    y, w = result.ray_y, result.ray_w
    assert y is not None
    assert w is not None
    assert np.abs(program.A.T @ y + w).max() <= 1e-8
    assert np.isfinite(np.where(y > 0, program.u, program.l)[y != 0]).all()
    assert np.isfinite(np.where(w > 0, program.ub, program.lb)[w != 0]).all()
    value = sum(
        float(m * (upper if m > 0 else lower))
        for ray, lows, ups in ((y, program.l, program.u), (w, program.lb, program.ub))
        for m, lower, upper in zip(ray, lows, ups, strict=True)
        if m != 0
    )
    assert value < 0
