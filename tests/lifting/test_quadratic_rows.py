"""Quadratic constraints: checked, lifted by their own conditions, solved as cones, certified as they were given."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import relift
from relift.errors import AsymmetricError, NonConvexError, OptionError, ShapeError
from relift.program.program import Program
from relift.program.quadratic_rows import QuadraticRows
from relift.program.solution import Status
from relift.settings import LiftSettings


def ball(n: int, radius: float = 1.0) -> tuple[np.ndarray, None, float]:
    return 2 * np.eye(n), None, radius**2


def test_a_linear_objective_over_a_ball_has_its_known_optimum() -> None:
    n = 9
    result = relift.solve(Program(q=np.ones(n), quadratic=[ball(n)]))
    assert result.status == Status.OPTIMAL
    assert result.objective == pytest.approx(-np.sqrt(n), abs=1e-7)
    assert result.lifting.small.n_variables == 1
    assert result.z is not None
    np.testing.assert_allclose(1 + 2 * result.z[0] * result.x, 0, atol=1e-6)


def test_constraints_of_one_class_share_their_dual_value() -> None:
    # x_i² + s <= 1 for each i: all constraints are alike, and so are the x.
    n = 6
    constraints = []
    for i in range(n):
        P, q = np.zeros((n + 1, n + 1)), np.zeros(n + 1)
        P[i, i], q[n] = 2.0, 1.0
        constraints.append((P, q, 1.0))
    program = Program(q=np.r_[-np.ones(n), -0.1], quadratic=constraints)
    lifted, ground = relift.solve(program), relift.solve(program, lift="none")
    assert lifted.status == ground.status == Status.OPTIMAL
    assert lifted.lifting.small.n_variables == 2
    assert len(lifted.lifting.small.quadratic) == 1
    assert lifted.objective == pytest.approx(ground.objective, rel=1e-6)
    np.testing.assert_allclose(lifted.z, ground.z, atol=1e-4)


def test_leaving_the_constraints_out_of_the_refinement_would_give_a_wrong_optimum() -> None:
    # Two variables that only the quadratic constraints tell apart.
    constraints = [(np.diag([2.0, 0.0]), None, 1.0), (np.diag([0.0, 2.0]), None, 4.0)]
    result = relift.solve(Program(q=[-1, -1], quadratic=constraints))
    assert result.lifting.small.n_variables == 2
    assert result.objective == pytest.approx(-3.0, abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), copies=st.integers(1, 4))
def test_lifted_and_ground_agree(seed: int, copies: int) -> None:
    random = np.random.default_rng(seed)
    n, K = 3, 2
    constraints = []
    base = [random.integers(-1, 2, (2, n)).astype(float) for _ in range(K)]
    linear = [random.choice([-0.5, 0.0, 1.0], n) for _ in range(K)]
    for c in range(copies):
        for F, q in zip(base, linear, strict=True):
            P = np.zeros((n * copies, n * copies))
            P[c * n : (c + 1) * n, c * n : (c + 1) * n] = F.T @ F + np.eye(n)
            wide = np.zeros(n * copies)
            wide[c * n : (c + 1) * n] = q
            constraints.append((P, wide, 2.0))
    order = random.permutation(n * copies)
    constraints = [(P[np.ix_(order, order)], q[order], r) for P, q, r in constraints]
    objective = np.tile(random.choice([-1.0, 0.5, 2.0], n), copies)[order]
    program = Program(q=objective, A=np.ones((1, n * copies)), u=[3.0], quadratic=constraints)
    lifted, ground = relift.solve(program), relift.solve(program, lift="none", reduce=False)
    assert lifted.status == ground.status == Status.OPTIMAL
    assert lifted.objective == pytest.approx(ground.objective, rel=1e-5, abs=1e-5)
    assert lifted.lifting.small.n_variables <= n
    assert len(lifted.lifting.small.quadratic) <= K


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), copies=st.integers(2, 4))
def test_the_isometric_form_has_the_same_quadratic_constraints(seed: int, copies: int) -> None:
    random = np.random.default_rng(seed)
    F = random.integers(-2, 3, (2, 2)).astype(float)
    P, q = np.kron(np.eye(copies), F.T @ F + np.eye(2)), np.tile(random.choice([-0.5, 0.0, 1.0], 2), copies)
    lifting = relift.lift(Program(q=np.tile([1.0, 2.0], copies), quadratic=[(P, q, 2.0), ball(2 * copies)]))
    form = lifting.isometric()
    plain, scaled = lifting.small.quadratic, form.program.quadratic
    assert len(scaled) == len(plain) == 2
    x = random.standard_normal(lifting.small.n_variables)
    np.testing.assert_allclose(scaled.values_at(form.variable_length * x), plain.values_at(x), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(scaled.r, plain.r)


@pytest.mark.parametrize("bounds", [-np.inf, -5.0])
def test_first_order_solvers_of_cvxpy_keep_quadratic_constraints(bounds: float) -> None:
    pytest.importorskip("cvxpy")
    pytest.importorskip("scs")
    n = 4
    result = relift.solve(Program(q=np.ones(n), lb=bounds, quadratic=[ball(n)]), backend="cvxpy:SCS")
    assert result.status == Status.OPTIMAL
    assert result.lifting.small.n_variables == 1
    np.testing.assert_allclose(result.x, -np.ones(n) / 2, atol=1e-5)
    np.testing.assert_allclose(1 + 2 * result.z[0] * result.x, 0, atol=1e-5)  # z is that of the plain form


def test_infeasible_quadratic_constraints_come_with_a_proof() -> None:
    n = 4
    program = Program(q=np.ones(n), A=np.ones((1, n)), l=[3 * n], quadratic=[ball(n)])
    result = relift.solve(program)
    assert result.status == Status.INFEASIBLE
    assert result.certificate.is_proved
    assert result.solution.ray_z is not None


def test_unbounded_along_a_direction_that_no_constraint_curves() -> None:
    program = Program(q=[-1.0, 1.0, 0.0], quadratic=[(np.diag([0.0, 2.0, 2.0]), None, 1.0)])
    result = relift.solve(program)
    assert result.status == Status.UNBOUNDED
    assert result.certificate.is_proved


def test_fixed_variables_in_a_constraint_stay() -> None:
    program = Program(q=[1.0, 1.0], lb=[-5, 0.6], ub=[5, 0.6], quadratic=[ball(2)])
    result = relift.solve(program)
    assert result.status == Status.OPTIMAL
    np.testing.assert_allclose(result.x, [-0.8, 0.6], atol=1e-6)


def test_maximisation_with_a_quadratic_constraint() -> None:
    result = relift.solve(Program(q=[3.0, 4.0], quadratic=[ball(2)], sense="max"))
    assert result.objective == pytest.approx(5.0, abs=1e-6)


def test_counting_and_equitable_give_the_same_optimum() -> None:
    n = 5
    ring = 2 * np.eye(n) - np.roll(np.eye(n), 1, 0) - np.roll(np.eye(n), -1, 0)
    program = Program(q=-np.ones(n), lb=0, ub=4, quadratic=[(ring + np.eye(n), None, 3.0)])
    values = [relift.solve(program, lift=m).objective for m in ("equitable", "counting", "none")]
    np.testing.assert_allclose(values, values[0], rtol=1e-6)


def test_bad_constraints_are_named() -> None:
    with pytest.raises(NonConvexError, match=r"P of quadratic\[1\] is not positive semidefinite"):
        Program(q=[1, 1], quadratic=[ball(2), (-np.eye(2), None, 1.0)])
    with pytest.raises(AsymmetricError, match=r"P of quadratic\[0\] is not symmetric at \(1, 0\)"):
        Program(q=[1, 1], quadratic=[(np.array([[1.0, 2.0], [0.0, 1.0]]), None, 1.0)])
    with pytest.raises(ShapeError, match=r"P of quadratic\[0\] is 3 x 3"):
        Program(q=[1, 1], quadratic=[ball(3)])
    with pytest.raises(OptionError, match="highs does not take quadratic constraints"):
        relift.solve(Program(q=[1, 1], quadratic=[ball(2)]), backend="highs")
    with pytest.raises(OptionError, match="orbits are not offered"):
        relift.solve(Program(q=[1, 1], quadratic=[ball(2)]), lift="orbits")


def test_sparse_matrices_and_equality() -> None:
    dense = Program(q=[1, 1], quadratic=[ball(2)])
    thin = Program(q=[1, 1], quadratic=[(sparse.eye_array(2) * 2, sparse.csr_array((1, 2)), 1.0)])
    assert dense == thin
    assert dense != Program(q=[1, 1], quadratic=[ball(2, 2.0)])
    assert dense.kind == "QCQP"
    assert isinstance(dense.quadratic, QuadraticRows)
    assert relift.lift(dense, lift="counting").small.n_variables == 1
    assert LiftSettings().lift == "equitable"
