"""Lifted answers are answers of the ground program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import relift
from relift.lifting.certificate import certify
from relift.lifting.lifting import lift
from relift.program.cones import SecondOrder
from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.settings import LiftSettings
from relift.symmetry.equitable import distance_from_equitable
from relift.symmetry.partition import Partition
from relift.testing.random_programs import random_program, symmetric_program

SEEDS = st.integers(0, 10**6)


@settings(max_examples=150, deadline=None)
@given(
    seed=SEEDS,
    quadratic=st.booleans(),
    scaled=st.booleans(),
    disguised=st.booleans(),
    copies=st.integers(1, 5),
)
def test_lifted_and_ground_optimum_agree(
    seed: int, quadratic: bool, scaled: bool, disguised: bool, copies: int
) -> None:
    case = symmetric_program(seed, quadratic=quadratic, scaled_rows=scaled, disguised=disguised, copies=copies)
    lifted = relift.solve(case.program)
    ground = relift.solve(case.program, lift="none")
    assert lifted.status == ground.status == Status.OPTIMAL
    assert lifted.certificate.is_optimal
    assert abs(lifted.objective - ground.objective) <= 2e-6 * max(1.0, abs(ground.objective))


@settings(max_examples=150, deadline=None)
@given(seed=SEEDS, quadratic=st.booleans(), scaled=st.booleans(), copies=st.integers(2, 5))
def test_the_symmetry_that_was_built_in_is_found(seed: int, quadratic: bool, scaled: bool, copies: int) -> None:
    case = symmetric_program(seed, quadratic=quadratic, scaled_rows=scaled, copies=copies)
    lifting = lift(case.program, LiftSettings(reduce=False))
    assert Partition.from_labels(case.variable_labels).refines(Partition.from_labels(lifting.class_of_variable))
    assert Partition.from_labels(case.row_labels).refines(Partition.from_labels(lifting.class_of_row))
    assert lifting.small.n_variables <= case.program.n_variables // copies


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, quadratic=st.booleans(), disguised=st.booleans())
def test_expanded_dual_values_are_stationary_on_the_ground_program(seed: int, quadratic: bool, disguised: bool) -> None:
    case = symmetric_program(seed, quadratic=quadratic, disguised=disguised, scaled_rows=True)
    result = relift.solve(case.program, tolerance=1e-7)
    program, x, y, w = case.program, result.x, result.y, result.w
    assert x is not None
    assert y is not None
    assert w is not None
    gradient = program.q if program.P is None else program.P @ x + program.q
    np.testing.assert_allclose(gradient + program.A.T @ y + w, 0, atol=1e-5)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, quadratic=st.booleans())
def test_programs_without_symmetry_come_back_as_they_are(seed: int, quadratic: bool) -> None:
    program = random_program(seed, quadratic=quadratic)
    lifting = lift(program, LiftSettings(reduce=False))
    if lifting.is_trivial:
        assert lifting.small is lifting.reduction.program
    result, ground = relift.solve(program), relift.solve(program, lift="none")
    assert result.status == Status.OPTIMAL
    assert abs(result.objective - ground.objective) <= 2e-6 * max(1.0, abs(ground.objective))


@pytest.mark.parametrize("method", ["equitable", "counting", "orbits", "none"])
@pytest.mark.parametrize("quadratic", [False, True])
def test_every_method_gives_the_same_optimum(method: str, quadratic: bool) -> None:
    if method == "orbits":
        pytest.importorskip("igraph", reason="orbits need igraph")
    case = symmetric_program(7, quadratic=quadratic, disguised=True, scaled_rows=True)
    result = relift.solve(case.program, lift=method)  # type: ignore[arg-type]
    assert result.status == Status.OPTIMAL
    reference = relift.solve(case.program, lift="none", reduce=False)
    assert result.objective == pytest.approx(reference.objective, abs=1e-5)


@settings(max_examples=80, deadline=None)
@given(seed=SEEDS, quadratic=st.booleans(), scaled=st.booleans())
def test_orbits_refine_counting_refine_equitable(seed: int, quadratic: bool, scaled: bool) -> None:
    pytest.importorskip("igraph", reason="orbits need igraph")
    program = symmetric_program(seed, quadratic=quadratic, scaled_rows=scaled, copies=3).program
    orbits, counting, equitable = (lift(program, LiftSettings(lift=m)) for m in ("orbits", "counting", "equitable"))
    assert orbits.variables.refines(counting.variables)
    assert orbits.rows.refines(counting.rows)
    assert counting.variables.refines(equitable.variables)
    assert counting.rows.refines(equitable.rows)
    for lifting in (orbits, counting, equitable):
        reduced, classes = lifting.reduction.program, lifting.symmetry
        assert distance_from_equitable(reduced, classes.variables, classes.rows, classes.row_scales) < 1e-10


def test_a_partition_that_is_not_equitable_is_seen() -> None:
    program = Program(q=[1, 1, 1], A=[[1, 2, 0], [0, 1, 2], [2, 0, 1.0001]], l=1, lb=0)
    assert distance_from_equitable(program, Partition.one_class(3), Partition.one_class(3), np.ones(3)) > 1e-6
    exact = program.replace(A=[[1, 2, 0], [0, 1, 2], [2, 0, 1]])
    assert distance_from_equitable(exact, Partition.one_class(3), Partition.one_class(3), np.ones(3)) < 1e-15


def test_numbers_that_collide_in_the_field_are_not_merged() -> None:
    # 2^61 has the image of 1 in the field mod 2^61 - 1 when floats are read as bits: the independent check must see it.
    program = Program(
        q=[1, 1],
        A=sparse.csc_array(np.array([[1.0, 0.0], [0.0, 2.0**61]])),
        l=[-1, -1],
        u=[1, 1],
        lb=-5,
        ub=5,
    )
    result = relift.solve(program, values="bits", reduce=False, scale_rows=False)
    assert result.lifting.variables.n_classes == 2
    assert result.objective == pytest.approx(-1.0, abs=1e-6)


@pytest.mark.parametrize("quadratic", [False, True])
def test_infeasible_programs_come_with_a_ray_that_is_checked_on_the_ground(quadratic: bool) -> None:
    n = 12
    A = sparse.vstack([sparse.eye_array(n), np.ones((1, n)), np.ones((1, n))]).tocsc()
    program = Program(
        P=sparse.eye_array(n) if quadratic else None,
        q=np.ones(n),
        A=A,
        l=np.r_[np.zeros(n), 5, -1],
        u=np.r_[np.full(n, np.inf), np.inf, 4],
        lb=0,
    )
    result = relift.solve(program)
    assert result.status == Status.INFEASIBLE
    assert result.objective == np.inf
    assert result.certificate.is_proved
    assert result.ray_y is not None
    assert result.ray_w is not None
    np.testing.assert_allclose(program.A.T @ result.ray_y + result.ray_w, 0, atol=1e-7)
    support = (
        program.u[result.ray_y > 0] @ result.ray_y[result.ray_y > 0]
        + program.l[result.ray_y < 0] @ result.ray_y[result.ray_y < 0]
    )
    assert support + 0.0 < 0


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("quadratic", [False, True])
def test_unbounded_programs_come_with_a_direction(sense: str, quadratic: bool) -> None:
    n = 10
    sign = 1.0 if sense == "min" else -1.0
    P = None
    if quadratic:
        P = np.ones((n, n)) * sign  # flat along differences
    q = np.r_[np.full(n // 2, 1.0), np.full(n // 2, -1.0)]
    program = Program(P=P, q=q, A=np.ones((1, n)), l=[-3], u=[3], sense=sense)  # type: ignore[arg-type]
    result = relift.solve(program)
    assert result.status == Status.UNBOUNDED
    assert result.objective == (-np.inf if sense == "min" else np.inf)
    assert result.ray_x is not None
    assert sign * (program.q @ result.ray_x) < 0
    assert result.certificate.is_proved


def test_maximisation_keeps_the_sense_of_the_objective() -> None:
    result = relift.solve(Program(q=[1, 2], A=[[1, 1]], u=[4], lb=0, ub=3, sense="max"))
    assert result.status == Status.OPTIMAL
    assert result.objective == pytest.approx(7)
    assert result.y is not None
    assert result.y[0] > 0  # the row presses from above


def test_a_false_answer_is_never_certified() -> None:
    program = Program(q=[1.0, 1.0], A=[[1.0, 1.0]], l=[1.0], lb=0)
    right = relift.solve(program).solution
    assert right.x is not None
    for wrong_x in (right.x + 1e-3, right.x - 1e-3):
        wrong = Solution(Status.OPTIMAL, x=wrong_x, y=right.y, w=right.w)
        assert not certify(program, wrong).is_optimal
    without_duals = Solution(Status.OPTIMAL, x=right.x)
    assert not certify(program, without_duals).is_optimal
    assert certify(program, without_duals).is_feasible


@settings(max_examples=60, deadline=None)
@given(
    seed=SEEDS,
    quadratic=st.booleans(),
    disguised=st.booleans(),
    change=st.sampled_from(["q", "q one", "l u", "bounds"]),
)
def test_update_gives_what_a_fresh_solve_gives(seed: int, quadratic: bool, disguised: bool, change: str) -> None:
    case = symmetric_program(seed, quadratic=quadratic, disguised=disguised, copies=3)
    program = case.program
    lifting = lift(program)
    first = relift.solve(lifting)
    vectors: dict[str, Any]
    if change == "q":
        vectors = {"q": program.q * 2.0}
    elif change == "q one":
        vectors = {"q": program.q + np.eye(program.n_variables)[0]}
    elif change == "l u":
        vectors = {"l": program.l - 0.5, "u": program.u + 0.5}
    else:
        vectors = {"lb": program.lb - 0.25, "ub": program.ub + 0.5}
    updated = relift.solve(lifting.update(**vectors), warm_start=first)
    fresh = relift.solve(program.replace(**vectors), lift="none")
    assert updated.status == fresh.status == Status.OPTIMAL
    assert abs(updated.objective - fresh.objective) <= 2e-6 * max(1.0, abs(fresh.objective))


@pytest.mark.parametrize("backend", ["osqp", "scs", "highs"])
def test_an_answer_with_a_ray_is_a_warm_start_too(backend: str) -> None:
    pytest.importorskip(backend if backend != "highs" else "highspy")
    program = Program(q=[1.0, 5.0, 5.0], lb=[-np.inf, 0.5, 0.5])  # two classes: the ray has three entries, not two
    first = relift.solve(program, backend=backend)
    assert (first.status, first.ray_x.size) == (Status.UNBOUNDED, 3)
    assert relift.solve(program, backend=backend, warm_start=first).status == Status.UNBOUNDED


def test_what_is_restricted_has_the_sizes_of_the_small_program() -> None:
    square = np.eye(2) * 2.0
    program = Program(
        q=[-1.0, -1.0], lb=0, A=np.eye(2), u=[5.0, 5.0],
        quadratic=[(np.diag([2.0, 0.0]), [0.0, 0.0], 1.0), (np.diag([0.0, 2.0]), [0.0, 0.0], 1.0), (square, [0, 0], 9)],
    )  # fmt: skip
    lifting = relift.lift(program, reduce=False)
    small = lifting.restrict(relift.solve(program).solution)
    assert (small.x.size, small.y.size, small.w.size) == (1, 1, 1)
    assert (small.z, small.ray_x, small.ray_y, small.ray_w, small.ray_z) == (None,) * 5


def test_update_keeps_classes_where_it_can_and_refines_where_it_must() -> None:
    program = Program(q=np.ones(6), A=np.ones((1, 6)), l=[6], lb=0)
    lifting = lift(program)
    assert lifting.small.n_variables == 1
    assert lifting.update(l=[12]).symmetry is lifting.symmetry
    finer = lifting.update(q=[1, 1, 1, 1, 1, 2])
    assert finer.small.n_variables == 2
    assert finer.variables.refines(lifting.variables)


def test_digits_merges_what_rounding_parted_and_says_so() -> None:
    n = 8
    noise = 1e-13 * np.arange(n)
    program = Program(P=sparse.diags_array(1 + noise), q=-np.ones(n), A=np.ones((1, n)), u=[4.0], lb=0)
    assert lift(program).small.n_variables == n
    result = relift.solve(program, digits=9)
    assert result.lifting.small.n_variables == 1
    assert result.status == Status.OPTIMAL
    report = result.lifting.snapped
    assert report is not None
    assert report.n_values_merged == n - 1
    assert 0 < report.largest_change < 1e-12


def test_digits_refuses_chains_that_are_too_wide() -> None:
    values = 1.0 + 0.6e-3 * np.arange(5)
    result = relift.lift(Program(q=values, A=np.ones((1, 5)), l=[1], lb=0), digits=3)
    assert result.snapped is not None
    assert result.snapped.n_chains_refused == 1
    assert result.small.n_variables == 5


def test_a_lifting_says_its_sizes_in_one_line() -> None:
    program = Program(q=np.ones(6), A=np.ones((2, 6)), l=[3.0, 1.0], lb=0)
    assert repr(lift(program)) == "Lifting(LP, 6 -> 1 variables, 2 -> 1 rows, equitable)"
    assert "approximate" not in repr(relift.lift(program, lift="none"))


def test_variables_at_rest_are_named_and_have_no_class() -> None:
    # The first two can be reflected; the others are one class.
    program = Program(
        P=np.eye(4), q=[0, 0, -1, -1], A=[[1, -1, 0, 0], [0, 0, 1, 1]], u=[3, 1.5], lb=[-1, -1, 0, 0], ub=[1, 1, 5, 5]
    )
    lifting = relift.lift(program)
    assert lifting.at_rest.tolist() == [True, True, False, False]
    assert lifting.kept_variables.tolist() == [2, 3]
    assert np.allclose(relift.solve(lifting).x, [0, 0, 0.75, 0.75], atol=1e-6)
    assert not relift.lift(program, lift="none").at_rest.any()


def test_a_lifting_of_cones_tells_their_number_and_the_classes_of_their_rows() -> None:
    ball = ConicRows(np.vstack([np.zeros(4), -np.eye(4)]), [1.0, 0, 0, 0, 0], [SecondOrder(5)])
    lifting = relift.lift(Program(q=np.ones(4), conic=ball))
    assert repr(lifting) == "Lifting(conic, 4 -> 1 variables, 0 -> 0 rows, 1 -> 1 cones, equitable)"
    assert lifting.conic_rows == Partition.from_labels([0, 1, 1, 1, 1])
