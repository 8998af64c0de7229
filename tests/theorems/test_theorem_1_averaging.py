"""Theorem 1: averaging over the classes of an equitable pair keeps feasibility and does not raise the objective."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.theorems.helpers import commutes, partition_matrix, row_violation

import relift
from relift.program.program import Program
from relift.program.solution import Status
from relift.symmetry.partition import Partition
from relift.testing.random_programs import symmetric_program

SEEDS = st.integers(0, 10**6)


def some_feasible_point(program: Program, seed: int) -> np.ndarray:
    """An optimum for a random objective: feasible, and in general different on every variable."""
    objective = np.random.default_rng(seed).standard_normal(program.n_variables)
    result = relift.solve(program.replace(P=None, q=objective), lift="none")
    assert result.x is not None
    return result.x


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, quadratic=st.booleans())
def test_the_average_of_a_feasible_point_is_feasible_and_not_worse(seed: int, quadratic: bool) -> None:
    case = symmetric_program(seed, quadratic=quadratic, copies=3)
    program = case.program
    X = partition_matrix(Partition.from_labels(case.variable_labels))
    x = some_feasible_point(program, seed)
    average = X @ x
    assert row_violation(program, average) <= row_violation(program, x) + 1e-9
    assert program.objective(average) <= program.objective(x) + 1e-7 * max(1.0, abs(program.objective(x)))


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, quadratic=st.booleans())
def test_an_optimum_that_is_constant_on_classes_exists(seed: int, quadratic: bool) -> None:
    case = symmetric_program(seed, quadratic=quadratic, copies=3)
    ground = relift.solve(case.program, lift="none", reduce=False)
    assert ground.x is not None
    average = partition_matrix(Partition.from_labels(case.variable_labels)) @ ground.x
    assert row_violation(case.program, average) <= 1e-6
    assert case.program.objective(average) == pytest.approx(ground.objective, rel=1e-5, abs=1e-5)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, quadratic=st.booleans())
def test_the_classes_found_satisfy_the_definition(seed: int, quadratic: bool) -> None:
    program = symmetric_program(seed, quadratic=quadratic, copies=3).program
    lifting = relift.lift(program, reduce=False, scale_rows=False, sizes=False, signs=False)
    X, Y, A = partition_matrix(lifting.variables), partition_matrix(lifting.rows), program.A.toarray()
    np.testing.assert_allclose(Y @ A, A @ X, atol=1e-12)
    assert program.P is None or commutes(X, program.P.toarray())
    for vector in (program.q, program.lb, program.ub):
        assert np.array_equal(vector, vector[lifting.variables.representatives][lifting.variables.labels])
    for vector in (program.l, program.u):
        assert np.array_equal(vector, vector[lifting.rows.representatives][lifting.rows.labels])


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS)
def test_equal_sums_into_classes_are_the_same_as_commuting(seed: int) -> None:
    # YA = AX iff row sums of A into each variable class, and column sums from each row class, are equal in a class.
    random = np.random.default_rng(seed)
    A = random.integers(0, 2, (4, 6)).astype(float)
    variables = Partition.from_labels(random.integers(0, 3, 6))
    rows = Partition.from_labels(random.integers(0, 2, 4))
    into = A @ variables.indicator.toarray()
    out = A.T @ rows.indicator.toarray()
    sums_agree = all(
        np.array_equal(sums, sums[classes.representatives][classes.labels])
        for sums, classes in ((into, rows), (out, variables))
    )
    X, Y = partition_matrix(variables), partition_matrix(rows)
    assert sums_agree == np.allclose(Y @ A, A @ X, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(labels=st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_partition_matrices_are_doubly_stochastic_symmetric_and_idempotent(labels: list[int]) -> None:
    X = partition_matrix(Partition.from_labels(labels))
    assert np.all(X >= 0)
    np.testing.assert_allclose(X.sum(axis=0), 1.0)
    np.testing.assert_allclose(X.sum(axis=1), 1.0)
    assert np.array_equal(X, X.T)
    np.testing.assert_allclose(X @ X, X, atol=1e-15)


def test_without_convexity_the_average_may_be_worse() -> None:
    program = Program(P=-np.eye(2), lb=-1, ub=1, assume_convex=True)
    assert program.objective([0, 0]) > program.objective([1, -1])


@settings(max_examples=50, deadline=None)
@given(seed=SEEDS, quadratic=st.booleans(), kind=st.sampled_from(["infeasible", "unbounded", "neither"]))
def test_the_quotient_is_infeasible_or_unbounded_iff_the_ground_program_is(
    seed: int, quadratic: bool, kind: str
) -> None:
    case = symmetric_program(seed, quadratic=quadratic, copies=3, scaled_rows=True)
    program = case.program
    if kind == "infeasible":  # one class of rows asks for more than the bounds allow
        i = Partition.from_labels(case.row_labels).members(0)
        A, l = program.A.toarray(), program.l.copy()
        most = np.maximum(A * program.lb, A * program.ub).sum(axis=1)
        l[i] = most[i] + 1.0
        program = program.replace(l=l, u=np.full(program.n_rows, np.inf))
    elif kind == "unbounded":  # a class of variables that nothing holds
        A, lb = program.A.toarray(), program.lb.copy()
        j = Partition.from_labels(case.variable_labels).members(0)
        A[:, j], lb[j] = 0.0, -np.inf
        P = None if program.P is None else program.P.toarray()
        if P is not None:
            P[j, :] = P[:, j] = 0.0
        q = program.q.copy()
        q[j] = 1.0
        activity = A @ case.point
        program = program.replace(
            P=P, A=A, q=q, lb=lb, l=np.minimum(program.l, activity), u=np.maximum(program.u, activity)
        )
    lifted = relift.solve(program, reduce=False)
    ground = relift.solve(program, lift="none", reduce=False)
    wanted = {"infeasible": Status.INFEASIBLE, "unbounded": Status.UNBOUNDED, "neither": Status.OPTIMAL}[kind]
    assert lifted.status == ground.status == wanted
    assert lifted.certificate.is_optimal or lifted.certificate.is_proved
