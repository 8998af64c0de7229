"""What is substituted before symmetry is looked for comes back, points, duals and rays alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

import relift
from relift.arrays import SparseMatrix
from relift.lifting import substitution
from relift.lifting.certificate import certify
from relift.lifting.presolve import reduce, unreduced
from relift.lifting.substitution import MAX_PASSES, MOST_LOOKS
from relift.lifting.tightest_bounds import NO_ROW
from relift.program.cones import SecondOrder
from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.settings import SolverSettings
from relift.solvers.registry import get_backend
from relift.symmetry import finite_field as field
from relift.testing.random_programs import random_program

SEEDS = st.integers(0, 10**6)
INF = np.inf


def solved(program: Program) -> Solution:
    """The backend's own answer; no lifting, no reduction of ours."""
    backend = get_backend("highs" if program.is_linear else "clarabel")
    return backend.solve(program, SolverSettings(tolerance=1e-8))


def reducible_program(seed: int, quadratic: bool, n: int = 6, m: int = 3) -> tuple[Program, NDArray[np.float64]]:
    """A feasible, bounded program full of things to substitute, with a feasible point; rows are shuffled."""
    random = np.random.default_rng(seed)
    point = random.choice([-1.0, 0.0, 0.5, 1.0, 2.0], n)
    lb, ub = point - random.choice([0.0, 1.0, 2.0], n), point + random.choice([0.0, 1.0, 2.0], n)
    rows, lower, upper = [], [], []

    def add(row: NDArray[np.float64], below: float, above: float) -> None:
        rows.append(row)
        lower.append(row @ point - below)
        upper.append(row @ point + above)

    for _ in range(m):  # ordinary rows, then multiples of them whose tight side is now here, now there
        row = random.choice([-2.0, -1.0, 0.0, 0.0, 1.0, 3.0], n)
        add(row, random.choice([0.5, 1.0, INF]), random.choice([0.5, 1.0, INF]))
        for _ in range(int(random.integers(0, 3))):
            add(row * random.choice([-2.0, -1.0, 0.25, 1.0, 3.0]), *random.choice([0.0, 0.25, 2.0, INF], 2))
    for j in random.choice(n, 3):  # rows with one entry, several on one variable
        add(random.choice([-2.0, -0.5, 1.0, 4.0]) * np.eye(n)[j], *random.choice([0.0, 0.5, INF], 2))
    chain = random.permutation(n)[: int(random.integers(2, 5))]  # fixed by a row, by a row, by a row
    add(random.choice([-3.0, 2.0]) * np.eye(n)[chain[0]], 0.0, 0.0)
    for before, after in pairwise(chain):
        add(
            random.choice([-1.0, 2.0]) * np.eye(n)[before] + random.choice([-2.0, 1.0]) * np.eye(n)[after],
            0.0,
            0.0,
        )
    add(np.zeros(n), random.choice([0.0, 1.0, INF]), 0.0)
    P = None
    if quadratic:
        factor = random.integers(-1, 3, (int(random.integers(1, n + 1)), n)).astype(float)
        P = factor.T @ factor
    order = random.permutation(len(rows))
    matrix = random.choice([sparse.csc_array, sparse.csr_array])(np.array(rows)[order])
    program = Program(
        P,
        random.choice([-1.0, 0.1, 1.0, 2.5], n),
        matrix,
        np.array(lower)[order],
        np.array(upper)[order],
        lb,
        ub,
        r=1.5,
    )
    return program, point


@settings(max_examples=120, deadline=None)
@given(seed=SEEDS, quadratic=st.booleans())
def test_the_reduced_program_has_the_optimum_of_the_ground_program(seed: int, quadratic: bool) -> None:
    program, _ = reducible_program(seed, quadratic)
    reduction = reduce(program)
    assert reduction.program.n_variables < program.n_variables
    assert reduction.program.n_rows < program.n_rows
    small, ground = solved(reduction.program), solved(program)
    assert small.status == ground.status == Status.OPTIMAL
    assert small.objective == pytest.approx(ground.objective, rel=1e-6, abs=1e-6)
    restored = reduction.expand(small)
    assert restored.x is not None
    assert program.objective(restored.x) == pytest.approx(ground.objective, rel=1e-6, abs=1e-6)


@settings(max_examples=150, deadline=None)
@given(seed=SEEDS, quadratic=st.booleans())
def test_restored_points_and_dual_values_are_optimal_on_the_ground_program(seed: int, quadratic: bool) -> None:
    program, _ = reducible_program(seed, quadratic)
    reduction = reduce(program)
    restored = reduction.expand(solved(reduction.program))
    certificate = certify(program, restored, tolerance=2e-6)
    assert certificate.is_optimal, certificate
    assert restored.y is not None
    assert restored.y.shape == (program.n_rows,)
    assert restored.w is not None
    assert restored.w.shape == (program.n_variables,)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, quadratic=st.booleans())
def test_every_feasible_point_of_the_ground_program_stays_feasible(seed: int, quadratic: bool) -> None:
    program, point = reducible_program(seed, quadratic)
    reduction = reduce(program)
    kept = point[reduction.variables]
    small = reduction.program
    assert np.all(small.lb <= kept + 1e-12)
    assert np.all(kept <= small.ub + 1e-12)
    assert np.all(small.l <= small.A @ kept + 1e-12)
    assert np.all(small.A @ kept <= small.u + 1e-12)
    assert small.objective(kept) == pytest.approx(program.objective(point), abs=1e-9)
    np.testing.assert_allclose(reduction.expand(Solution(Status.OPTIMAL, x=kept)).x, point, atol=1e-12)


@settings(max_examples=80, deadline=None)
@given(seed=SEEDS, quadratic=st.booleans())
def test_proofs_of_infeasibility_are_restored(seed: int, quadratic: bool) -> None:
    program, point = reducible_program(seed, quadratic)
    random = np.random.default_rng(seed)
    row = np.where(random.random(point.size) < 0.7, random.choice([-1.0, 1.0, 2.0], point.size), 0.0)
    most = np.where(row > 0, program.ub, program.lb) @ row  # the row cannot be larger inside the bounds
    impossible = Program(
        program.P,
        program.q,
        sparse.vstack([program.A, sparse.csr_array(row[None])]).tocsc(),
        np.r_[program.l, most + 1.0],
        np.r_[program.u, INF],
        program.lb,
        program.ub,
    )
    result = relift.solve(impossible, lift="equitable")
    assert result.status == Status.INFEASIBLE
    assert result.certificate.is_proved
    assert result.ray_y is not None
    assert result.ray_w is not None
    np.testing.assert_allclose(
        impossible.A.T @ result.ray_y + result.ray_w, 0, atol=1e-5 * np.abs(result.ray_y).max(initial=1)
    )


def test_a_direction_without_end_is_restored_with_zeros_for_what_was_fixed() -> None:
    program = Program(
        q=[0, -1, 0], A=[[2, 0, 0], [1, 1, -1], [2, 2, -2]], l=[2, -INF, -INF], u=[2, 3, 8], lb=[-5, 0, 0]
    )
    reduction = reduce(program)
    assert reduction.variables.tolist() == [1, 2]
    assert reduction.program.u.tolist() == [2.0]
    restored = reduction.expand(Solution(Status.UNBOUNDED, ray_x=np.array([1.0, 1.0]), x=np.zeros(2)))
    assert restored.ray_x is not None
    assert restored.ray_x.tolist() == [0.0, 1.0, 1.0]
    assert certify(program, restored).is_proved
    assert relift.solve(program).status == Status.UNBOUNDED


def test_a_chain_of_rows_that_fix_each_other_is_followed_to_its_end() -> None:
    n = MAX_PASSES - 1
    A = sparse.diags_array([np.ones(n), -2.0 * np.ones(n - 1)], offsets=[0, -1]).tocsr()  # x[0] = 1, x[k+1] = 2 x[k]
    program = Program(q=np.ones(n), A=A, l=np.eye(n)[0], u=np.eye(n)[0])
    reduction = reduce(program)
    assert reduction.program.n_variables == reduction.program.n_rows == 0
    assert reduction.values.tolist() == (2.0 ** np.arange(n)).tolist()
    assert reduction.program.r == 2.0**n - 1
    restored = reduction.expand(Solution(Status.OPTIMAL, x=np.zeros(0), y=np.zeros(0), w=np.zeros(0)))
    assert certify(program, restored).worst_residual == 0.0
    assert restored.w is not None
    assert restored.w.tolist() == [0.0] * n  # the rows fix the variables, so the rows carry the duals


@pytest.mark.parametrize("wanted", ["csr", "csc"])
def test_a_chain_is_followed_in_the_order_that_is_quick_from_the_third_pass_on(
    wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    turned: list[str] = []

    def counted(turn: Callable[[SparseMatrix], SparseMatrix], name: str) -> Callable[[SparseMatrix], SparseMatrix]:
        def call(matrix: SparseMatrix) -> SparseMatrix:
            turned.append(name)
            return turn(matrix)

        return call

    for name in ("by_rows", "by_columns"):
        monkeypatch.setattr(substitution, name, counted(getattr(substitution, name), name))
    n_passes = []
    for n in (MOST_LOOKS, MAX_PASSES - 1):
        entries = [np.ones(n), np.arange(1.0, n)]
        A = sparse.diags_array(entries, offsets=[0, -1]).asformat(wanted)  # x[0] = 1, x[k+1] = 3 - (k + 1) x[k]
        reduction = reduce(Program(q=np.ones(n), A=A, l=1 + 2.0 * (np.arange(n) > 0), u=1 + 2.0 * (np.arange(n) > 0)))
        value, values = 1.0, []
        for k in range(n):
            values.append(value)
            value = 3 - (k + 1) * value
        assert reduction.values.tolist() == values
        n_passes.append(len(reduction.fixed))
        assert turned == ([] if n == MOST_LOOKS else ["by_rows" if wanted == "csc" else "by_columns"])
    assert n_passes == [MOST_LOOKS, MAX_PASSES - 1]


def test_what_a_chain_has_moved_is_taken_over_by_an_update_that_moves_the_same() -> None:
    n = 6
    A = sparse.vstack([sparse.diags_array([np.ones(n), -np.ones(n - 1)], offsets=[0, -1]), np.ones((1, n))])
    A = sparse.csr_array(sparse.hstack([A, np.r_[np.zeros((n, 2)), [[1, 2]]]]))
    bounds = np.r_[np.ones(n), 40.0]
    first = relift.lift(Program(q=np.arange(1.0, n + 3), A=A, l=bounds, u=bounds, lb=0))
    again = first.update(q=np.ones(n + 2))
    assert again.reduction.program.l.tolist() == [40 - n * (n + 1) / 2]
    assert again.reduction.images.l is first.reduction.images.l
    other = first.update(l=bounds + np.eye(n + 1)[0], u=bounds + np.eye(n + 1)[0])
    assert other.reduction.program.l.tolist() == [40 - n * (n + 1) / 2 - n]


def test_a_chain_that_is_too_long_is_left_to_the_solver_and_still_right() -> None:
    n = 3 * MAX_PASSES
    A = sparse.diags_array([np.ones(n), -1.0 * np.ones(n - 1)], offsets=[0, -1]).tocsr()
    program = Program(q=np.ones(n), A=A, l=np.ones(n), u=np.ones(n))
    reduction = reduce(program)
    assert 0 < reduction.program.n_variables < n
    result = relift.solve(program)
    assert result.status == Status.OPTIMAL
    assert result.objective == pytest.approx(n * (n + 1) / 2)


@pytest.mark.parametrize(
    ("entry", "l", "u", "lb", "ub"),
    [
        (2, 2, 4, 1, 2),
        (-2, 2, 4, -2, -1),
        (-1, -INF, 3, -3, INF),
        (-4, 2, INF, -INF, -0.5),
        (0.5, -INF, INF, -INF, INF),
    ],
)
def test_a_row_with_one_entry_is_a_bound_whatever_its_sign(
    entry: float, l: float, u: float, lb: float, ub: float
) -> None:
    reduction = reduce(Program(q=[1], A=[[entry]], l=[l], u=[u]))
    assert reduction.program.n_rows == 0
    assert (reduction.program.lb[0], reduction.program.ub[0]) == (lb, ub)
    assert reduction.images.lb.tolist() == field.images([lb]).tolist()
    assert reduction.images.ub.tolist() == field.images([ub]).tolist()


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_of_several_rows_on_one_variable_the_tight_one_carries_the_dual_value(direction: float) -> None:
    # x <= 4, x <= 2, x <= 3; x >= -6, x >= -1 (twice, by a negative entry too), own bounds -10, 10
    program = Program(
        q=[direction],
        A=[[1], [2], [-1], [3], [-2], [1]],
        l=[-INF, -INF, -3, -18, -INF, -1],
        u=[4, 4, INF, INF, 2, INF],
        lb=-10,
        ub=10,
    )
    reduction = reduce(program)
    assert (reduction.program.n_rows, reduction.program.lb[0], reduction.program.ub[0]) == (0, -1.0, 2.0)
    assert (reduction.lower_source[0], reduction.upper_source[0]) == (4, 1)
    restored = reduction.expand(solved(reduction.program))
    assert certify(program, restored).is_optimal
    assert restored.y is not None
    assert np.flatnonzero(restored.y).tolist() == ([4] if direction > 0 else [1])


def test_a_bound_that_is_as_tight_as_a_row_keeps_its_dual_value() -> None:
    reduction = reduce(Program(q=[1], A=[[2]], l=[6], lb=[3]))
    assert reduction.lower_source.tolist() == [NO_ROW]
    restored = reduction.expand(solved(reduction.program))
    assert restored.y is not None
    assert restored.w is not None
    assert (restored.y[0], restored.w[0]) == (0.0, -1.0)


def test_bounds_that_cross_are_left_for_the_solver_to_prove() -> None:
    program = Program(q=[1, 1], A=[[1, 0], [2, 0], [1, 1]], l=[3, -INF, 0], u=[INF, 4, 9], lb=0)
    reduction = reduce(program)
    assert reduction.rows.tolist() == [0, 1, 2]
    assert (reduction.program.lb[0], reduction.program.ub[0]) == (0.0, INF)
    result = relift.solve(program)
    assert result.status == Status.INFEASIBLE
    assert result.certificate.is_proved


@pytest.mark.parametrize("factor", [2.0, -2.0, 0.5])
def test_multiples_of_a_row_that_contradict_each_other_are_left_for_the_solver_to_prove(
    factor: float,
) -> None:
    bounds = sorted([4.0 * factor, 5.0 * factor])
    program = Program(q=[1, 1], A=np.array([[1, 1], [factor, factor]]), l=[-INF, bounds[0]], u=[1, bounds[1]], lb=0)
    assert reduce(program).program.n_rows == 2
    result = relift.solve(program)
    assert result.status == Status.INFEASIBLE
    assert result.certificate.is_proved


@pytest.mark.parametrize("upside", [True, False])
@pytest.mark.parametrize("factor", [-4.0, -1.0, 0.25, 1.0, 3.0])
def test_of_equal_rows_the_one_that_is_tight_gets_the_dual_value(factor: float, upside: bool) -> None:
    # Row 0: 1 <= x + 2y <= 6; row 1, a multiple of it, says 2 <= x + 2y <= 5 on one side only.
    sides = (2.0, INF) if upside else (-INF, 5.0)
    l, u = sorted([sides[0] * factor, sides[1] * factor])
    q = [1.0, 2.0] if upside else [-1.0, -2.0]
    program = Program(q=q, A=np.array([[1, 2], [factor, 2 * factor]]), l=[1, l], u=[6, u], lb=-20, ub=20)
    reduction = reduce(program)
    assert reduction.rows.tolist() == [0]
    assert (reduction.program.l[0], reduction.program.u[0]) == ((2.0, 6.0) if upside else (1.0, 5.0))
    assert reduction.images.l.tolist() == field.images(reduction.program.l).tolist()
    restored = reduction.expand(solved(reduction.program))
    assert certify(program, restored).is_optimal
    assert restored.y is not None
    assert restored.y[0] == 0.0
    assert restored.y[1] == pytest.approx((-1.0 if upside else 1.0) / factor)


def test_equalities_that_rounding_parts_are_still_one_row() -> None:
    # 3 (x + y) = .3 says x + y = .1, though .3 / 3 is not .1 in floats; and 7 z = .7 is z = .1.
    program = Program(
        q=[1, 2, 1], A=[[1, 1, 0], [3, 3, 0], [0, 0, 7]], l=[0.1, 0.3, 0.7], u=[0.1, 0.3, 0.7], lb=[0, 0, 0.1]
    )
    assert 0.3 / 3 < 0.1
    assert 0.7 / 7 < 0.1
    reduction = reduce(program)
    assert (reduction.program.n_variables, reduction.program.n_rows) == (2, 1)
    assert reduction.images.l.tolist() == reduction.images.u.tolist() == field.images([0.1]).tolist()
    assert reduce(program, "bits").program.n_rows > 1
    result = relift.solve(program)
    assert result.status == Status.OPTIMAL
    assert result.objective == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("l", "u", "feasible"), [(-1, 0, True), (0, 0, True), (-INF, INF, True), (1, 2, False), (-3, -1, False)]
)
def test_a_row_without_entries_is_dropped_only_if_zero_satisfies_it(l: float, u: float, feasible: bool) -> None:
    A = sparse.csr_array((np.zeros(1), ([0], [1])), shape=(1, 2))  # a stored zero is no entry
    program = Program(q=[1, 1], A=A, l=[l], u=[u], lb=0)
    assert reduce(program).program.n_rows == (0 if feasible else 1)
    result = relift.solve(program)
    assert result.status == (Status.OPTIMAL if feasible else Status.INFEASIBLE)
    assert feasible or result.certificate.is_proved


@pytest.mark.parametrize(("value", "status"), [(2.0, Status.OPTIMAL), (2.5, Status.INFEASIBLE)])
def test_a_row_all_of_whose_variables_are_fixed_is_checked(value: float, status: Status) -> None:
    program = Program(q=[1, 1, 1], A=[[1, 1, 0]], l=[2], u=[2], lb=[1, value - 1, 0], ub=[1, value - 1, INF])
    assert reduce(program).program.n_rows == (0 if status == Status.OPTIMAL else 1)
    assert relift.solve(program).status == status


def test_a_fixed_variable_moves_into_the_linear_part_and_the_constant() -> None:
    P = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.0, -1.0, 4.0]])
    program = Program(P, q=[1, 1, 1], lb=[0, 2, -1], ub=[5, 2, 5], r=1.0)
    reduction = reduce(program)
    small = reduction.program
    assert small.P.toarray().tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert small.q.tolist() == [3.0, -1.0]
    assert small.r == 1.0 + 2.0 + 6.0
    for x, z in np.random.default_rng(0).standard_normal((5, 2)):
        assert small.objective([x, z]) == pytest.approx(program.objective([x, 2.0, z]))


def test_the_quadratic_part_is_gone_when_all_its_variables_are() -> None:
    program = Program(P=np.diag([2.0, 0.0]), q=[1, 1], lb=[3, 0], ub=[3, 7])
    assert reduce(program).program.is_linear
    assert relift.solve(program).objective == pytest.approx(12.0)


def test_sums_that_floats_round_apart_stay_equal_under_substitution() -> None:
    # Label propagation: each free vertex sees labelled ones with weights .1 .2 .3 .7 in another order or split
    # otherwise, so that the float sums of what is substituted differ, and the exact ones do not.
    weights = np.array([0.1, 0.2, 0.3, 0.7])
    n_free, n_labelled = 24, 8
    random = np.random.default_rng(5)
    A = np.zeros((n_free, n_free + n_labelled))
    A[np.arange(n_free), np.arange(n_free)] = 3.0
    A[np.arange(n_free), (np.arange(n_free) + 1) % n_free] = -1.0
    for i in range(n_free):
        A[i, n_free + random.permutation(n_labelled)[:4]] = -random.permutation(weights)
    labels = np.ones(n_labelled)
    program = Program(
        q=np.r_[np.ones(n_free), np.zeros(n_labelled)],
        A=A,
        l=0,
        u=0,
        lb=np.r_[np.full(n_free, -INF), labels],
        ub=np.r_[np.full(n_free, INF), labels],
    )
    sums = {[*accumulate(A[i, n_free:].tolist())][-1] for i in range(n_free)}  # sum() compensates since Python 3.12
    assert len(sums) > 1
    lifting = relift.lift(program)
    assert (lifting.small.n_variables, lifting.small.n_rows) == (1, 1)
    assert len(set(lifting.reduction.images.l.tolist())) == 1
    assert not lifting.notes
    assert relift.lift(program, reduce=False).small.n_variables > 1
    result = relift.solve(program)
    assert result.status == Status.OPTIMAL
    assert result.objective == pytest.approx(n_free * 1.3 / 2)


@pytest.mark.parametrize("free", [True, False])
def test_what_cancels_exactly_is_zero_whatever_rounding_left(free: bool) -> None:
    # .3 - .1 - .1 - .1 is -5.6e-17 in floats and .3 - .3 is 0: the two rows are alike, and must pass their check.
    A = [[1, 1, 0, 0, 0.1, 0.1, 0.1, 0], [0, 0, 1, 1, 0, 0, 0, 0.3]]
    lb = [-INF] * 4 if free else [0] * 4
    program = Program(q=[1] * 4 + [0] * 4, A=A, l=[0.3, 0.3], lb=lb + [1] * 4, ub=[5] * 4 + [1] * 4)
    lifting = relift.lift(program)
    assert not lifting.notes
    assert (lifting.small.n_variables, lifting.small.n_rows) == (1, 1)
    assert lifting.reduction.program.l.tolist() == [0.0, 0.0]


def test_bounds_that_rows_with_cancelling_sums_imply_are_equal_too() -> None:
    A = [[1, 0, 0.1, 0.1, 0.1, 0], [0, 1, 0, 0, 0, 0.3]]
    program = Program(q=[1, 1, 0, 0, 0, 0], A=A, l=[0.3, 0.3], lb=[-INF] * 2 + [1] * 4, ub=[5] * 2 + [1] * 4)
    lifting = relift.lift(program)
    assert not lifting.notes
    assert lifting.small.n_variables == 1
    assert lifting.reduction.program.lb.tolist() == [0.0, 0.0]


def test_costs_that_cancel_through_the_quadratic_part_are_equal_too() -> None:
    # Variables 0 and 1 get costs .3 - .1 - .1 - .1 and .3 - .3 from fixed ones.
    P = np.diag([1.0, 1, 4, 4, 4, 4])
    for i, j, value in [(0, 2, -0.1), (0, 3, -0.1), (0, 4, -0.1), (1, 5, -0.3)]:
        P[i, j] = P[j, i] = value
    program = Program(P, q=[0.3, 0.3, 0, 0, 0, 0], lb=[-5] * 2 + [1] * 4, ub=[5] * 2 + [1] * 4)
    lifting = relift.lift(program, sizes=False, signs=False)
    assert not lifting.notes
    assert lifting.small.n_variables == 1
    assert relift.lift(program).small.n_variables == 0  # without a cost and without rows they rest at 0
    assert lifting.reduction.program.q.tolist() == [0.0, 0.0]


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, quadratic=st.booleans())
def test_images_follow_the_floats(seed: int, quadratic: bool) -> None:
    # All numbers here are dyadic or short, so no float operation rounds and images can be read off the floats.
    program, _ = reducible_program(seed, quadratic)
    program = program.replace(q=np.round(program.q * 4) / 4)
    reduction = reduce(program, "bits")
    for name in ("q", "l", "u", "lb", "ub"):
        floats, images = getattr(reduction.program, name), getattr(reduction.images, name)
        thirds = ~np.isin(floats * 4096, np.round(floats[np.isfinite(floats)] * 4096)) & np.isfinite(floats)
        assert images[~thirds].tolist() == field.images(floats, "bits")[~thirds].tolist()


@pytest.mark.parametrize("quadratic", [False, True])
def test_a_program_with_nothing_to_substitute_is_returned_itself(quadratic: bool) -> None:
    program = random_program(3, quadratic=quadratic)
    reduction = reduce(program)
    assert reduction.is_trivial
    assert reduction.program is program
    answer = Solution(Status.OPTIMAL, x=np.zeros(program.n_variables))
    assert reduction.expand(answer) is answer
    assert reduction.restrict(answer) is answer
    assert unreduced(program).is_trivial


def test_the_program_that_was_given_is_not_changed() -> None:
    program, _ = reducible_program(11, quadratic=True)
    copy = Program(
        program.P.copy(),
        program.q.copy(),
        program.A.copy(),
        program.l.copy(),
        program.u.copy(),
        program.lb.copy(),
        program.ub.copy(),
        program.r,
    )
    reduce(program)
    assert program == copy


def test_a_warm_start_is_restricted_to_what_is_left() -> None:
    program = Program(q=[1, -1], A=[[2, 0], [1, 1]], l=[4, 0], u=[4, 5], lb=0)
    reduction = reduce(program)
    point = Solution(Status.OPTIMAL, x=np.array([2.0, 3.0]), y=np.array([0.5, 1.0]), w=np.array([0.0, 7.0]))
    small = reduction.restrict(point)
    assert small.x is not None
    assert small.y is not None
    assert small.w is not None
    assert (small.x.tolist(), small.y.tolist(), small.w.tolist()) == ([3.0], [], [7.0])
    assert reduction.restrict(replace(point, x=None, y=None, w=None)).x is None


def test_a_bound_too_large_for_a_float_stays_a_row() -> None:
    program = Program(q=[1, 1], A=sparse.csc_array(np.diag([1e-310, 2.0])), l=[1, 2], lb=0)
    reduction = reduce(program)
    assert reduction.rows.tolist() == [0]
    assert np.all(np.isfinite(reduction.program.lb))


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_an_empty_program_reduces_to_itself(format: str) -> None:
    program = Program(q=[], A=sparse.csr_array((0, 0)).asformat(format))
    assert reduce(program).is_trivial


@given(SEEDS)
def test_what_an_earlier_reduction_knows_changes_nothing(seed: int) -> None:
    random = np.random.default_rng(seed)
    first, _ = reducible_program(seed, quadratic=bool(seed % 2))
    changes: dict[str, object] = {}
    if random.random() < 0.5:
        changes["q"] = random.integers(-2, 3, first.n_variables).astype(float)
    if random.random() < 0.5:
        changes["lb"] = np.where(random.random(first.n_variables) < 0.3, first.ub, first.lb)
    if random.random() < 0.3:
        changes["A"] = first.A * 2.0
    second = first.replace(**changes)  # type: ignore[arg-type]
    again, anew = reduce(second, "decimal", reduce(first)), reduce(second)
    assert again.program == anew.program
    for part in ("q", "l", "u", "lb", "ub", "b"):
        np.testing.assert_array_equal(getattr(again.images, part), getattr(anew.images, part))
    np.testing.assert_array_equal(again.rows, anew.rows)
    np.testing.assert_array_equal(again.variables, anew.variables)
    np.testing.assert_array_equal(again.values, anew.values)


@given(SEEDS)
def test_an_update_of_the_costs_gives_the_optimum_of_the_new_program(seed: int) -> None:
    random = np.random.default_rng(seed)
    program, _ = reducible_program(seed, quadratic=bool(seed % 2))
    q = random.integers(-2, 3, program.n_variables).astype(float)
    updated = relift.lift(program).update(q=q, r=1.5)
    found, expected = relift.solve(updated), relift.solve(program.replace(q=q, r=1.5), lift="none", reduce=False)
    assert found.status == expected.status
    assert found.objective == pytest.approx(expected.objective, rel=1e-5, abs=1e-5)


def test_presolve_is_replayed_where_only_costs_change() -> None:
    program = Program(q=[1, 2, 3], A=[[1, 0, 0], [0, 1, 1]], l=[2, 4], u=[2, 9], lb=0, P=np.diag([1.0, 2.0, 2.0]))
    first = reduce(program)
    assert first.fixed
    again = reduce(program.replace(q=[5, 4, 4]), "decimal", first)
    assert again.program.A is first.program.A
    assert again.program.q.tolist() == [4.0, 4.0]
    assert again.program.r == 5 * 2 + 0.5 * 1 * 2**2
    other = reduce(program.replace(l=[2, 3]), "decimal", first)
    assert other.program.l.tolist() == [3.0]
    coupled = program.replace(P=[[1.0, 0.5, 0], [0.5, 2, 0], [0, 0, 2]])
    moved = reduce(coupled.replace(q=[5, 4, 4]), "decimal", reduce(coupled))
    assert moved.program.q.tolist() == [5.0, 4.0]


@given(seed=st.integers(0, 2**16))
def test_presolve_of_other_vectors_does_the_same_with_and_without_an_earlier_one(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, m = 7, 6
    A = random.integers(-2, 3, (m, n)) * (random.random((m, n)) < 0.5)
    A[-1] = 2 * A[0]  # duplicate rows
    root = random.integers(-1, 2, (n, n)) * (random.random() < 0.5)
    program = Program(P=root @ root.T, q=random.integers(-2, 3, n), A=A, l=-5, u=5, lb=-3, ub=3)
    earlier = reduce(program)
    for _ in range(4):
        lb, u = random.integers(-3, 1, n).astype(float), random.integers(1, 6, m).astype(float)
        ub = np.where(random.random(n) < 0.3, lb, 3.0)
        program = program.replace(lb=lb, ub=ub, u=u)
        found, expected = reduce(program, earlier=earlier), reduce(program)
        assert found.program == expected.program
        for name in ("variables", "rows", "values", "lower_source", "upper_source", "source_row", "source_entry"):
            assert np.array_equal(getattr(found, name), getattr(expected, name)), name
        for name in ("q", "l", "u", "lb", "ub", "b"):
            assert np.array_equal(getattr(found.images, name), getattr(expected.images, name)), name
        assert np.array_equal(found.duplicate_factor, expected.duplicate_factor)
        earlier = found


@given(seed=st.integers(0, 2**16))
def test_parts_of_the_program_before_are_taken_over_only_where_nothing_they_are_made_of_has_changed(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, m = 8, 5
    A = random.integers(-2, 3, (m, n)) * (random.random((m, n)) < 0.6)
    root = random.integers(-1, 2, (n, n)) * (random.random((n, n)) < 0.3)
    lb = random.integers(-1, 2, n) * 0.1
    ub = np.where(random.random(n) < 0.5, lb, lb + 1)
    cone = ConicRows(random.integers(-1, 2, (3, n)), random.integers(0, 3, 3), [SecondOrder(3)])
    conic = cone if random.random() < 0.3 else None
    program = Program(P=root @ root.T, q=random.normal(size=n).round(1), A=A, l=-3, u=3, lb=lb, ub=ub, conic=conic)
    earlier = reduce(program)
    for _ in range(6):
        name = str(random.choice(["q", "l", "u", "lb and ub", "lb", "nothing"]))
        if name == "lb and ub":  # other variables are fixed, or the same ones at other values
            shift = random.integers(-1, 2) * 0.1 * (random.random(n) < random.choice([0.3, 1.0]))
            program = program.replace(lb=program.lb + shift, ub=program.ub + shift)
        elif name == "lb":
            program = program.replace(lb=np.where(random.random(n) < 0.2, program.ub, program.lb))
        elif name != "nothing":
            old = getattr(program, name)
            program = program.replace(**{name: old + 0.1 * random.integers(0, 2, old.size)})
        found, expected = reduce(program, earlier=earlier), reduce(program)
        assert found.program == expected.program
        for part in (
            "variables",
            "rows",
            "values",
            "lower_source",
            "upper_source",
            "source_row",
            "source_entry",
            "duplicate_lower",
        ):
            np.testing.assert_array_equal(getattr(found, part), getattr(expected, part), part)
        for part in ("q", "l", "u", "lb", "ub", "b"):
            np.testing.assert_array_equal(getattr(found.images, part), getattr(expected.images, part), part)
        for one, other in zip(found.fixed, expected.fixed, strict=True):
            np.testing.assert_array_equal(one.indices, other.indices)
            np.testing.assert_array_equal(one.lower_source, other.lower_source)
        earlier = found


def test_bounds_of_free_variables_leave_what_fixed_ones_add_as_it_was() -> None:
    program = Program(q=[1, 1, 1], A=[[1, 1, 1], [0, 1, 2]], l=[3, 1], u=[9, 8], lb=[2, 0, 0], ub=[2, 5, 5])
    first = reduce(program)
    again = reduce(program.replace(ub=[2, 6, 6]), earlier=first)
    assert again.images.l is first.images.l
    assert again.program.A is first.program.A
    assert again.program.ub.tolist() == [6.0, 6.0]
    other = reduce(program.replace(lb=[1, 0, 0], ub=[1, 6, 6]), earlier=again)
    assert other.program.l.tolist() == [2.0, 1.0]
    assert again.program.l.tolist() == [1.0, 1.0]
