"""Programs with cones: lifted, solved, expanded and certified on the ground program."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relift
from relift.errors import OptionError, PartitionError, ShapeError
from relift.lifting.certificate import certify
from relift.lifting.lifting import lift
from relift.lifting.quotient import quotient
from relift.program import (
    ConicRows,
    Exponential,
    Power,
    PowerND,
    Program,
    SecondOrder,
    Semidefinite,
    Solution,
    Status,
)
from relift.program.cone_distance import pushed_into
from relift.program.cones import Cone
from relift.settings import LiftMethod, LiftSettings
from relift.symmetry.find import Symmetry
from relift.symmetry.partition import Partition
from relift.testing.random_conic_programs import KINDS, symmetric_conic_program


def assert_optimal_with_cones(program: Program, solution: Solution, tolerance: float = 1e-6) -> None:
    """The optimality conditions, written out once more and apart from the certificate."""
    x, y, w, v = solution.x, solution.y, solution.w, solution.v
    assert x is not None
    assert y is not None
    assert w is not None
    assert v is not None
    assert v.shape == (program.conic.n_rows,)
    gradient = program.q + program.A.T @ y + w + program.conic.A.T @ v
    if program.P is not None:
        gradient = gradient + program.P @ x
    assert np.abs(gradient).max(initial=0.0) <= tolerance * (1 + np.abs(v).max(initial=0.0))
    slack = program.conic.slack(x)
    ones = np.ones(slack.size)
    assert pushed_into(program.conic, slack, ones)[0].max(initial=0.0) <= tolerance * (1 + np.abs(slack).max(initial=0))
    assert pushed_into(program.conic, v, ones, dual=True)[0].max(initial=0.0) <= tolerance * (1 + np.abs(v).max())
    assert abs(v @ slack) <= 10 * tolerance * (1 + abs(solution.objective))
    assert np.all(program.A @ x <= program.u + tolerance * (1 + np.abs(program.u)))
    assert np.all((program.lb - tolerance <= x) & (x <= program.ub + tolerance))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), copies=st.integers(1, 4), n_cones=st.integers(1, 4), quadratic=st.booleans())
def test_lifted_and_ground_optimum_agree(seed: int, copies: int, n_cones: int, quadratic: bool) -> None:
    made = symmetric_conic_program(seed, copies=copies, n_cones=n_cones, quadratic_objective=quadratic)
    lifted = relift.solve(made.program)
    ground = relift.solve(made.program, lift="none", reduce=False)
    assert lifted.status == ground.status == Status.OPTIMAL
    assert not lifted.lifting.notes
    assert lifted.objective == pytest.approx(ground.objective, rel=1e-5, abs=1e-5)
    assert lifted.lifting.small.n_variables <= np.unique(made.variable_labels).size
    assert_optimal_with_cones(made.program, lifted.solution)
    assert_optimal_with_cones(made.program, ground.solution)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["counting", "orbits"])
def test_other_methods_find_the_same_optimum(kind: str, method: LiftMethod) -> None:
    if method == "orbits":
        pytest.importorskip("igraph")
    for seed in range(3):
        made = symmetric_conic_program(seed, copies=3, n_cones=2, kinds=(kind,))
        lifted = relift.solve(made.program, lift=method)
        assert lifted.objective == pytest.approx(relift.solve(made.program, lift="none").objective, rel=1e-5, abs=1e-5)
        assert_optimal_with_cones(made.program, lifted.solution)


def test_leaving_the_cones_out_of_the_refinement_would_give_a_wrong_optimum() -> None:
    # maximise x0 + x1 + x2 with |(x0, x1)| <= 3 and |x2| <= 3: 3 √2 + 3. All tails look alike, and so do the heads.
    C = np.zeros((5, 3))
    C[1, 0] = C[2, 1] = C[4, 2] = -1.0
    rows = ConicRows(C, [3, 0, 0, 3, 0], [SecondOrder(3), SecondOrder(2)])
    program = Program(q=[1, 1, 1], sense="max", conic=rows)
    result = relift.solve(program)
    assert result.objective == pytest.approx(3 * np.sqrt(2) + 3, abs=1e-6)
    assert result.objective == pytest.approx(7.243, abs=1e-3)
    # What merging all tails would give: 9 √2 / 2 from the first cone, 9 from the second, but not the optimum.
    wrong = Symmetry(
        Partition.one_class(3), Partition.discrete(0), np.ones(0), "by hand",
        conic_rows=Partition.from_labels([0, 1, 1, 0, 1]), cones=Partition.one_class(2),
    )  # fmt: skip
    small = quotient(program.minimisation(), wrong).program
    assert -relift.solve(small, lift="none").objective != pytest.approx(3 * np.sqrt(2) + 3, abs=0.05)


def test_merged_tails_get_the_root_of_their_count_and_share_their_dual_value() -> None:
    # Two equal cones |x_k| <= 2 with four tails each.
    C = np.zeros((10, 8))
    C[1:5, :4] = C[6:, 4:] = -np.eye(4)
    rows = ConicRows(C, [2, 0, 0, 0, 0, 2, 0, 0, 0, 0], [SecondOrder(5), SecondOrder(5)])
    result = relift.solve(Program(q=-np.ones(8), conic=rows))
    small = result.lifting.small
    assert small.conic.cones == (SecondOrder(2),)
    np.testing.assert_allclose(small.conic.A.toarray(), [[0.0], [-2.0]])
    np.testing.assert_allclose(small.conic.b, [2.0, 0.0])
    np.testing.assert_allclose(result.x, np.ones(8), atol=1e-7)
    np.testing.assert_allclose(result.v, [2, -1, -1, -1, -1, 2, -1, -1, -1, -1], atol=1e-6)


def test_exponents_of_merged_arguments_add() -> None:
    # maximise z with x1^.25 x2^.25 x3^.5 >= z, x1 + x2 <= 2, x3 <= 4.
    rows = ConicRows(-np.eye(4), np.zeros(4), [PowerND((0.25, 0.25, 0.5))])
    program = Program(q=[0, 0, 0, -1], A=[[1, 1, 0, 0]], u=[2], ub=[9, 9, 4, 9], conic=rows)
    result = relift.solve(program, tolerance=1e-8)
    assert result.lifting.small.conic.cones == (Power(0.5),)
    assert result.objective == pytest.approx(-2.0, abs=1e-6)
    np.testing.assert_allclose(result.x, [1, 1, 4, 2], atol=1e-4)
    # v_i / alpha_i times x_i is the same for all arguments, and -v_z = 1.
    np.testing.assert_allclose(result.v, [0.5, 0.5, 0.25, -1.0], atol=1e-5)
    assert_optimal_with_cones(program, result.solution)


def test_a_power_cone_whose_arguments_all_merge_becomes_a_cone_of_two_rows() -> None:
    rows = ConicRows(-np.eye(4), np.zeros(4), [PowerND((1 / 3, 1 / 3, 1 / 3))])
    program = Program(q=[1, 1, 1, -1], ub=[5, 5, 5, 2], conic=rows)
    result = relift.solve(program.replace(q=[0.1, 0.1, 0.1, -1]))
    assert result.lifting.small.conic.cones == (SecondOrder(2),)
    assert result.objective == pytest.approx(-1.4, abs=1e-6)
    assert_optimal_with_cones(result.program, result.solution)
    assert relift.solve(program).objective == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("second", [1.0, 2.0])
def test_equal_semidefinite_cones_merge_and_are_split_where_their_entries_are_equal(second: float) -> None:
    C = np.zeros((6, 6))
    C[:3, :3] = C[3:, 3:] = -np.eye(3)
    rows = ConicRows(C, np.zeros(6), [Semidefinite(2), Semidefinite(2)])
    program = Program(q=[1, 0, second] * 2, A=np.kron(np.eye(2), [[0, 1, 0]]), l=1, u=1, conic=rows)
    result = relift.solve(program)
    assert result.lifting.small.conic.cones == ((SecondOrder(1),) * 2 if second == 1.0 else (Semidefinite(2),))
    assert result.objective == pytest.approx(2 * np.sqrt(2 * second), abs=1e-6)
    assert_optimal_with_cones(program, result.solution)


def test_fixed_variables_are_put_into_the_right_hand_sides_exactly() -> None:
    # .3 - .1 - .1 - .1 and .3 - .3 are both 0: the two cones are alike only in exact numbers.
    C = np.zeros((4, 6))
    C[0, 4] = C[2, 5] = -1.0
    C[1, :4] = [0.1, 0.1, 0.1, 0.0]
    C[3, :4] = [0.0, 0.0, 0.0, 0.3]
    C[1, 5] = C[3, 4] = -1.0
    rows = ConicRows(C, [0, 0.3, 0, 0.3], [SecondOrder(2), SecondOrder(2)])
    program = Program(q=[0, 0, 0, 0, 1, 1], lb=[1, 1, 1, 1, 0.5, 0.5], ub=[1, 1, 1, 1, 9, 9], conic=rows)
    result = relift.solve(program)
    assert result.lifting.small.n_variables == 1
    assert len(result.lifting.small.conic) == 1
    assert result.objective == pytest.approx(1.0, abs=1e-7)
    assert_optimal_with_cones(program, result.solution)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_reductions_beside_cones_keep_the_optimum_and_the_duals(seed: int) -> None:
    made = symmetric_conic_program(seed, copies=3, n_cones=2)
    program, random = made.program, np.random.default_rng(seed)
    fixed = made.variable_labels == random.choice(made.variable_labels)
    lb, ub = np.where(fixed, made.point, program.lb), np.where(fixed, made.point, program.ub)
    A = np.vstack([program.A.toarray(), 2 * program.A.toarray(), np.eye(program.n_variables)])
    u = np.concatenate([program.u, 2 * program.u + 1, np.full(program.n_variables, 3.5)])
    program = program.replace(A=A, l=None, u=u, lb=lb, ub=ub)
    lifted, ground = relift.solve(program), relift.solve(program, lift="none", reduce=False)
    assert lifted.status == ground.status == Status.OPTIMAL
    assert lifted.objective == pytest.approx(ground.objective, rel=1e-5, abs=1e-5)
    assert lifted.lifting.reduction.program.n_variables == np.sum(~fixed)
    assert_optimal_with_cones(program, lifted.solution)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), copies=st.integers(1, 3), shift=st.sampled_from([2.0, 5.0, 20.0]))
def test_infeasible_and_unbounded_programs_are_called_so_lifted_or_not(seed: int, copies: int, shift: float) -> None:
    program = symmetric_conic_program(seed, copies=copies, quadratic_objective=seed % 2 == 0).program
    rows, layout = program.conic, program.conic.layout
    outwards = np.zeros(rows.n_rows)
    for places in (layout.heads, layout.exponential_rows[:, 1:].ravel(), layout.arguments):
        outwards[places] = 1.0
    for k in layout.semidefinite:
        outwards[rows.starts[k] + np.array([0, 2])] = 1.0
    shifted = program.replace(conic=ConicRows(rows.A, rows.b - shift * outwards, rows.cones))
    for changed in (shifted, program.replace(lb=None, ub=None)):
        lifted, ground = relift.solve(changed), relift.solve(changed, lift="none", reduce=False)
        # Without bounds a solution can be so far away that few digits are left: one of 450 programs, on both ways.
        assert lifted.status.has_point == ground.status.has_point
        if lifted.status == ground.status == Status.OPTIMAL:
            assert lifted.objective == pytest.approx(ground.objective, rel=1e-5, abs=1e-5)
        elif not lifted.status.has_point:
            assert lifted.status == ground.status
            assert lifted.status in {Status.INFEASIBLE, Status.UNBOUNDED}
            assert lifted.certificate.is_proved


def unit_discs(k: int) -> ConicRows:
    C = np.zeros((3 * k, 2 * k))
    for i in range(k):
        C[3 * i + 1, 2 * i] = C[3 * i + 2, 2 * i + 1] = -1.0
    return ConicRows(C, np.tile([1.0, 0, 0], k), [SecondOrder(3)] * k)


def test_an_infeasible_program_is_proved_so_on_the_ground() -> None:
    program = Program(q=np.ones(6), A=np.ones((1, 6)), l=[5.0], conic=unit_discs(3))
    result = relift.solve(program)
    assert result.lifting.small.n_variables == 1
    assert result.status == Status.INFEASIBLE
    assert result.ray_v is not None
    assert result.ray_y is not None
    remainder = program.A.T @ result.ray_y + result.ray_w + program.conic.A.T @ result.ray_v
    np.testing.assert_allclose(remainder, 0, atol=1e-7)
    assert pushed_into(program.conic, result.ray_v, np.ones(9), dual=True)[0].max() <= 1e-9
    assert program.conic.b @ result.ray_v + 5.0 * result.ray_y[0] < 0
    # The sum may be 3 √2 = 4.243 at most.
    assert relift.solve(program.replace(l=[4.2])).status == Status.OPTIMAL


@pytest.mark.parametrize(
    ("cone", "b", "free"),
    [
        (Exponential(), [1.0, 1.0, 0.0], 2),  # z >= e
        (Power(0.5), [1.0, 0.0, 1.0], 1),  # y >= 1
        (PowerND((0.25, 0.25, 0.5)), [1.0, 1.0, 0.0, 1.0], 2),
        (Semidefinite(2), [1.0, np.sqrt(2.0), 0.0], 2),
    ],
)
def test_infeasible_programs_of_every_kind_are_proved_so(cone: Cone, b: list[float], free: int) -> None:
    # Two copies, in which one entry is variable and must be at least 1, but is at most 1/4.
    k = len(b)
    C = np.zeros((2 * k, 2))
    C[free, 0] = C[k + free, 1] = -1.0
    program = Program(q=[1, 1], ub=0.25, conic=ConicRows(C, np.tile(b, 2), [cone, cone]))
    result = relift.solve(program)
    assert result.lifting.small.n_variables == 1
    assert result.status == Status.INFEASIBLE, result.message
    assert result.certificate.is_proved
    assert relift.solve(program.replace(ub=4.0)).status == Status.OPTIMAL


@pytest.mark.parametrize("method", ["equitable", "none"])
@pytest.mark.parametrize("weight", [0.0, 1.0])
@pytest.mark.parametrize(
    ("A", "b", "cone"),
    [
        ([[1.0], [0.0], [1.0]], [-1.0, 1.0, 0.0], Exponential()),  # exp(-1 - x) <= -x
        ([[0.0], [-1.0]], [1.0, 0.0], SecondOrder(2)),  # |x| <= 1
    ],
)
def test_a_proof_that_lies_in_the_cones_alone_is_not_lost_in_the_dust_on_the_rows(
    A: list[list[float]], b: list[float], cone: Cone, weight: float, method: str
) -> None:
    # x in [2, 5] breaks the cone. Two free variables stand in an equality with x that has no part in the proof: its
    # dual value is 0 but for rounding.
    rows = ConicRows(np.hstack([A, np.zeros((len(b), 2))]), b, [cone])
    program = Program(
        P=np.diag([0.0, weight, weight]), q=[0, 0.1 * weight, 0.1 * weight], A=[[0.3, 0.5, 0.5]], l=[0], u=[0],
        lb=[2.0, -np.inf, -np.inf], ub=[5.0, np.inf, np.inf], conic=rows,
    )  # fmt: skip
    result = relift.solve(program, lift=method)  # type: ignore[arg-type]
    assert result.status == Status.INFEASIBLE
    assert result.certificate.is_proved


def test_clearing_a_ray_of_its_dust_makes_no_proof_of_none() -> None:
    # x0 <= 1 in a cone, x0 >= 2 - 1e-9 t, and t free: a feasible program, and near a proof only without its t.
    cone = ConicRows([[0.0, 0.0], [-1.0, 0.0]], [1.0, 0.0], [SecondOrder(2)])
    program = Program(q=[0, 1], A=[[1.0, 1e-9], [1.0, 0.0]], l=[2.0, 0.0], conic=cone)
    for dust in (0.0, 1e-16, 1e-9):
        ray = Solution(Status.INFEASIBLE, ray_y=np.array([-1.0, -dust]), ray_v=np.array([1.0, -1.0]))
        assert not certify(program, ray).is_proved


def test_an_unbounded_program_is_proved_so_on_the_ground() -> None:
    # The head may grow for ever: minimise -h - t with |t| <= h.
    C = -np.eye(6)
    rows = ConicRows(C, np.zeros(6), [SecondOrder(3), SecondOrder(3)])
    program = Program(q=-np.ones(6), conic=rows)
    result = relift.solve(program)
    assert result.lifting.small.n_variables == 2
    assert result.status == Status.UNBOUNDED
    assert result.ray_x is not None
    assert program.q @ result.ray_x < 0
    assert pushed_into(rows, -(rows.A @ result.ray_x), np.ones(6))[0].max() <= 1e-9
    exponential = ConicRows(-np.eye(3), np.zeros(3), [Exponential()])
    assert relift.solve(Program(q=[-1, 0, 0], conic=exponential)).status == Status.UNBOUNDED
    assert relift.solve(Program(q=[1, 0, 1], conic=exponential)).status == Status.UNBOUNDED


def test_proofs_that_are_none_are_not_believed() -> None:
    program = Program(q=[1.0, 1.0], A=[[1, 1]], l=[1.0], conic=unit_discs(1))
    outside = np.array([0.5, -1.0, -1.0])  # not in the dual cone
    claim = Solution(Status.INFEASIBLE, ray_y=np.array([-1.0]), ray_w=np.zeros(2), ray_v=outside)
    assert not certify(program, claim).is_proved
    away = Solution(Status.UNBOUNDED, x=np.zeros(2), ray_x=np.array([-1.0, -1.0]))
    assert not certify(Program(q=[1.0, 1.0], conic=unit_discs(1)), away).is_proved


def test_points_and_dual_values_outside_the_cones_are_not_believed() -> None:
    program = Program(q=[-1.0, 0.0], conic=unit_discs(1))
    right = Solution(Status.OPTIMAL, np.array([1.0, 0.0]), np.zeros(0), np.zeros(2), v=np.array([1.0, -1.0, 0.0]))
    assert certify(program, right).is_optimal
    assert not certify(program, replace(right, v=None)).is_optimal
    too_far = replace(right, x=np.array([1.0 + 1e-4, 0.0]))
    assert certify(program, too_far).primal_residual > 1e-6
    not_dual = replace(right, v=np.array([0.5, -1.0, 0.0]))
    assert certify(program, not_dual).dual_residual > 1e-6
    loose = replace(right, x=np.array([0.5, 0.0]))
    assert certify(program, loose).duality_gap > 1e-2


def test_a_slack_outside_its_cone_cannot_hide_the_gap() -> None:
    # v's = 0 though x is not optimal: the slack leaves the cone by so much that the product vanishes.
    program = Program(q=[-1000.0, 0.0], conic=unit_discs(1))
    outside = Solution(
        Status.OPTIMAL, np.array([1.0 + 1e-7, 0.0]), np.zeros(0), np.zeros(2), v=np.array([1000.0 + 1e-4, -1000.0, 0.0])
    )
    assert certify(program, outside).duality_gap > 5e-8


def test_an_update_of_b_keeps_the_classes_and_one_that_breaks_them_splits() -> None:
    program = Program(q=[-1, -1] * 3, conic=unit_discs(3))
    assert lift(program).update(b=np.repeat([2.0, 1.0, 1.0], 3) * np.tile([1.0, 0, 0], 3)).small.n_variables == 1
    lifting = lift(program, LiftSettings(sizes=False))
    assert lifting.small.n_variables == 1
    larger = lifting.update(b=np.tile([2.0, 0, 0], 3))
    assert larger.symmetry is lifting.symmetry
    assert relift.solve(larger).objective == pytest.approx(-6 * np.sqrt(2), abs=1e-6)
    broken = lifting.update(b=np.concatenate([[2.0, 0, 0], np.tile([1.0, 0, 0], 2)]))
    assert broken.small.n_variables == 2
    assert relift.solve(broken).objective == pytest.approx(-4 * np.sqrt(2), abs=1e-6)
    also = lifting.update(q=[-1, -1, -1, -1, -2, -2])
    assert also.small.n_variables == 2
    assert relift.solve(also).objective == pytest.approx(-4 * np.sqrt(2), abs=1e-6)


def test_classes_serve_other_numbers_in_the_same_places_and_only_where_they_hold() -> None:
    program = Program(q=[-1, -1] * 3, conic=unit_discs(3))
    lifting = lift(program)
    rows = program.conic
    wider = ConicRows(0.5 * rows.A, rows.b, rows.cones)
    again = lifting.with_values_of(Program(q=[-2, -2] * 3, conic=wider))
    assert again is not None
    assert again.symmetry is lifting.symmetry
    assert relift.solve(again).objective == pytest.approx(-12 * np.sqrt(2), abs=1e-5)
    uneven = rows.A.toarray()
    uneven[1] *= 2.0
    for other in (
        Program(q=program.q, conic=ConicRows(uneven, rows.b, rows.cones)),
        Program(q=program.q, conic=ConicRows(rows.A, rows.b + np.arange(9) / 10, rows.cones)),
        Program(q=program.q, conic=ConicRows(rows.A, rows.b, [SecondOrder(2), SecondOrder(4), SecondOrder(3)])),
        Program(q=np.arange(6.0), conic=rows),
        Program(q=program.q),
    ):
        assert lifting.with_values_of(other) is None


def test_a_warm_start_of_the_wrong_size_is_refused() -> None:
    program = Program(q=[-1, -1], conic=unit_discs(1))
    with pytest.raises(ShapeError, match="v of the warm start has 2 entries, but 3 are needed"):
        lift(program).restrict(Solution(Status.OPTIMAL, np.zeros(2), v=np.zeros(2)))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_expanding_and_averaging_dual_values_are_inverse(seed: int) -> None:
    made = symmetric_conic_program(seed, copies=3)
    merged = lift(made.program).quotient
    random = np.random.default_rng(seed)
    small = merged.program
    v, w = random.normal(size=small.conic.n_rows), random.normal(size=small.n_variables)
    point = Solution(Status.OPTIMAL, random.normal(size=small.n_variables), random.normal(size=small.n_rows), w, v=v)
    back = merged.restrict(merged.expand(point))
    for name in ("x", "y", "w", "v"):
        np.testing.assert_allclose(getattr(back, name), getattr(point, name), atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), copies=st.integers(1, 3))
def test_quadratic_constraints_and_cones_stand_together(seed: int, copies: int) -> None:
    made = symmetric_conic_program(seed, copies=copies, n_cones=2)
    labels, n = made.variable_labels, made.program.n_variables
    ball = (2 * np.eye(n), None, float(made.point @ made.point) + 1.0)
    single = []
    for j in np.flatnonzero(labels == labels.max()):
        P = np.zeros((n, n))
        P[j, j] = 2.0
        single.append((P, None, float(made.point[j] ** 2) + 0.5))
    program = made.program.replace(quadratic=[ball, *single])
    lifted, ground = relift.solve(program), relift.solve(program, lift="none", reduce=False)
    for result in (lifted, ground):
        assert result.status.has_point
        assert result.certificate.worst_residual <= 1e-5
    assert lifted.objective == pytest.approx(ground.objective, rel=1e-5, abs=1e-5)
    assert lifted.lifting.small.n_variables <= np.unique(labels).size
    assert len(lifted.lifting.small.quadratic) == 2


def test_what_does_not_go_with_cones_is_refused() -> None:
    program = Program(q=[-1, -1], conic=unit_discs(1))
    with pytest.raises(OptionError, match="approximate lifting does not take cones"):
        relift.solve(program, approximate=1e-3)
    with pytest.raises(OptionError, match="vertex=True is for linear programs, and this one is conic"):
        relift.solve(program, vertex=True)
    with pytest.raises(OptionError, match=r"highs does not take cones\. Use clarabel or scs"):
        relift.solve(program, backend="highs")
    wrong = Symmetry(Partition.discrete(2), Partition.discrete(0), np.ones(0), "by hand")
    with pytest.raises(PartitionError, match="classes of 0 conic rows and 0 cones do not fit"):
        quotient(program, wrong)


def test_a_program_whose_variables_are_all_fixed_is_answered() -> None:
    inside = Program(q=[1, 1], lb=[0.6, 0.6], ub=[0.6, 0.6], conic=unit_discs(1))
    result = relift.solve(inside)
    assert result.status == Status.OPTIMAL
    assert result.objective == pytest.approx(1.2)
    outside = inside.replace(lb=[0.8, 0.8], ub=[0.8, 0.8])
    assert relift.solve(outside).status == Status.INFEASIBLE
