"""Lifting up to size, unit and sign: planted classes are found, answers are certified on the original program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import relift
from relift.lifting.lifting import Lifting
from relift.program.program import Program
from relift.program.solution import Status
from relift.symmetry.partition import Partition
from relift.testing.random_programs import symmetric_program
from relift.testing.scaled_programs import open_program, rescaled
from relift.testing.sized_programs import SizedProgram, sized_program

SEEDS = st.integers(0, 2**31)
SHAPES = st.fixed_dictionaries(
    {
        "kinds": st.integers(1, 3),
        "members": st.integers(2, 6),
        "parts": st.integers(1, 4),
        "own_rows": st.integers(0, 3),
        "shared_rows": st.integers(0, 3),
        "shared_variables": st.integers(0, 2),
        "quadratic": st.booleans(),
    }
)
POWERS_OF_TWO = (1.0, 2.0, 4.0, 8.0, 0.5, 0.25)


def classes(lifting: Lifting) -> tuple[Partition, Partition]:
    return Partition.from_labels(lifting.class_of_variable), Partition.from_labels(lifting.class_of_row)


def assert_holds(planted: SizedProgram, lifting: Lifting, columns: Any = slice(None), rows: Any = slice(None)) -> None:
    variables, row_classes = classes(lifting)
    assert Partition.from_labels(planted.variable_labels[columns]).refines(variables)
    assert Partition.from_labels(planted.row_labels[rows]).refines(row_classes)
    assert not lifting.notes


def assert_same_optimum(program: Program, **options: Any) -> None:
    """The answer is certified, and as good as that of the program solved directly."""
    lifted, direct = relift.solve(program, **options), relift.solve(program, lift="none", reduce=False)
    assert lifted.status == direct.status
    assert direct.status == Status.OPTIMAL
    assert lifted.certificate.is_optimal
    assert lifted.objective == pytest.approx(direct.objective, rel=1e-5, abs=1e-5)


@settings(max_examples=200, deadline=None)
@given(seed=SEEDS, shape=SHAPES)
def test_planted_sizes_are_found(seed: int, shape: dict[str, Any]) -> None:
    planted = sized_program(seed, **shape)
    assert_holds(planted, relift.lift(planted.program, reduce=False))


@settings(max_examples=200, deadline=None)
@given(seed=SEEDS, shape=SHAPES)
def test_planted_sizes_units_and_signs_are_found_together(seed: int, shape: dict[str, Any]) -> None:
    planted = sized_program(seed, sizes=POWERS_OF_TWO, **shape)
    made = rescaled(np.random.default_rng(seed), planted.program)
    lifting = relift.lift(made.program, reduce=False, values="bits")
    assert_holds(planted, lifting, made.columns, made.rows)
    here = relift.lift(planted.program, reduce=False, values="bits")
    variables, rows = classes(here)
    assert Partition.from_labels(variables.labels[made.columns]) == classes(lifting)[0]
    assert Partition.from_labels(rows.labels[made.rows]) == classes(lifting)[1]


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, shape=SHAPES)
def test_answers_of_planted_programs_are_optimal(seed: int, shape: dict[str, Any]) -> None:
    planted = sized_program(seed, **shape)
    assert_same_optimum(planted.program)
    assert_same_optimum(rescaled(np.random.default_rng(seed), planted.program).program)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, quadratic=st.booleans(), disguised=st.booleans())
def test_answers_in_other_units_and_signs_are_optimal(seed: int, quadratic: bool, disguised: bool) -> None:
    case = symmetric_program(seed, quadratic=quadratic, disguised=disguised, scaled_rows=True)
    assert_same_optimum(rescaled(np.random.default_rng(seed), case.program).program)


@settings(max_examples=100, deadline=None)
@given(seed=SEEDS, n=st.integers(1, 6), m=st.integers(1, 6), copies=st.integers(1, 3))
def test_whatever_a_program_is_the_verdict_is_that_of_the_program_itself(
    seed: int, n: int, m: int, copies: int
) -> None:
    program = open_program(np.random.default_rng(seed), n, m, copies)
    lifted, direct = relift.solve(program), relift.solve(program, lift="none", reduce=False)
    both_have_none = {lifted.status, direct.status} <= {Status.INFEASIBLE, Status.UNBOUNDED}
    assert lifted.status == direct.status or both_have_none
    if direct.status == Status.OPTIMAL:
        assert lifted.objective == pytest.approx(direct.objective, rel=1e-5, abs=1e-5)


@settings(max_examples=100, deadline=None)
@given(seed=SEEDS, quadratic=st.booleans(), disguised=st.booleans(), scaled=st.booleans())
def test_lifting_is_never_finer_than_without_sizes_and_signs(
    seed: int, quadratic: bool, disguised: bool, scaled: bool
) -> None:
    program = symmetric_program(seed, quadratic=quadratic, disguised=disguised, scaled_rows=scaled).program
    plain = classes(relift.lift(program, sizes=False, signs=False))
    for ours, theirs in zip(classes(relift.lift(program)), plain, strict=True):
        assert theirs.refines(ours)


# --- Examples, with the sizes that they must reach -------------------------------------------------------------------


def ring(n: int, factors: np.ndarray, **vectors: Any) -> Program:
    A = sparse.eye_array(n) - sparse.coo_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))
    return Program(q=np.ones(n), A=sparse.diags_array(factors) @ A, lb=0, **vectors)


def test_a_ring_of_differences_is_one_variable_whatever_the_signs_of_its_rows() -> None:
    signs = np.random.default_rng(0).choice([-1.0, 1.0], 100)
    program = ring(100, signs, l=-np.ones(100), u=np.ones(100))
    assert relift.lift(program, sizes=False, signs=False).small.n_variables == 100
    result = relift.solve(program)
    assert result.lifting.small.n_variables == 1
    assert result.certificate.is_optimal


def test_a_cycle_of_differences_is_one_class_whatever_the_factors_of_its_rows() -> None:
    program = ring(6, 2.0 ** np.arange(6), u=np.zeros(6))
    assert relift.lift(program, sizes=False, signs=False).small.n_variables == 6
    assert relift.lift(program).small.n_variables == 1


def grid(k: int) -> tuple[int, np.ndarray]:
    """Number of nodes, and edges to the right and downwards."""
    node = np.arange(k * k).reshape(k, k)
    right = np.stack([node[:, :-1].ravel(), node[:, 1:].ravel()], axis=1)
    down = np.stack([node[:-1].ravel(), node[1:].ravel()], axis=1)
    return k * k, np.concatenate([right, down])


def incidence(n_nodes: int, edges: np.ndarray, signs: np.ndarray) -> Any:
    k = np.arange(len(edges))
    entries = (np.concatenate([signs, -signs]), (edges.T.ravel(), np.concatenate([k, k])))
    return sparse.coo_array(entries, shape=(n_nodes, len(edges))).tocsr()


def corners_to_centre(k: int) -> np.ndarray:
    b = np.zeros((k, k))
    b[k // 2, k // 2] = 4.0
    b[[0, 0, -1, -1], [0, -1, 0, -1]] = -1.0
    return b.ravel()


def test_flows_on_a_grid_have_the_symmetry_of_the_grid_though_edges_have_directions() -> None:
    n, edges = grid(41)
    m, b = len(edges), corners_to_centre(41)
    B, one = incidence(n, edges, np.random.default_rng(0).choice([-1.0, 1.0], m)), sparse.eye_array(m)
    A = sparse.block_array([[B, sparse.csr_array((n, m))], [one, -one], [-one, -one]])
    program = Program(
        q=np.append(np.zeros(m), np.ones(m)), A=A,
        l=np.append(b, np.full(2 * m, -np.inf)), u=np.append(b, np.zeros(2 * m)),
        lb=np.append(np.full(m, -np.inf), np.zeros(m)),
    )  # fmt: skip
    assert program.n_variables == 6560
    assert relift.lift(program, sizes=False, signs=False).small.n_variables > 3000
    result = relift.solve(program)
    assert result.lifting.small.n_variables <= 840
    assert result.certificate.is_optimal


def test_dc_power_flow_has_the_symmetry_of_the_grid_though_lines_have_directions() -> None:
    n, edges = grid(21)
    m = len(edges)
    B = incidence(n, edges, np.ones(m))
    A = sparse.block_array([[B, sparse.csr_array((n, n))], [sparse.eye_array(m), -10.0 * B.T]])
    b = np.append(corners_to_centre(21), np.zeros(m))
    P = sparse.diags_array(np.append(np.ones(m), np.zeros(n)))
    program = Program(P=P, q=np.zeros(m + n), A=A, l=b, u=b)
    plain, lifted = relift.lift(program, sizes=False, signs=False).small, relift.lift(program).small
    assert program.n_variables + program.n_rows == 2562
    assert plain.n_variables + plain.n_rows == 1302
    assert lifted.n_variables + lifted.n_rows <= 352
    assert relift.solve(program).certificate.is_optimal


def test_opposite_rows_that_presolve_joins_hide_no_symmetry() -> None:
    z = np.concatenate([np.arange(1.0, 101), -np.arange(1.0, 101)])
    program = Program(
        q=np.ones(200), A=np.stack([z, -z, np.ones(200)]), l=[-np.inf, -np.inf, 1], u=[0, 0, np.inf], lb=0
    )
    for reduce in (False, True):
        assert relift.lift(program, reduce=reduce).small.n_variables == 1


def cars(sizes: np.ndarray, *, on_import: bool) -> Program:
    """Charging in 24 slots: limits and needs in proportion to the size of a battery, and one feeder."""
    random = np.random.default_rng(1)
    k, slots = sizes.size, 24
    price, capacity = random.permutation(np.arange(slots)) + 1.0, 0.4 * sizes.sum()
    needs, feeder = (
        sparse.kron(sparse.eye_array(k), np.ones((1, slots))),
        sparse.kron(np.ones((1, k)), sparse.eye_array(slots)),
    )
    profile = np.where(np.arange(slots) % 3, 0.5, 1.0)
    if not on_import:
        A = sparse.vstack([needs, feeder])
        return Program(
            q=np.tile(price, k), A=A, l=np.append(4 * sizes, np.full(slots, -np.inf)),
            u=np.append(np.full(k, np.inf), np.full(slots, capacity)), lb=0, ub=np.kron(sizes, profile),
        )  # fmt: skip
    A = sparse.block_array([[needs, None], [feeder, -sparse.eye_array(slots)]])
    return Program(
        q=np.append(np.zeros(k * slots), price), A=A, l=np.append(4 * sizes, np.zeros(slots)),
        u=np.append(np.full(k, np.inf), np.zeros(slots)), lb=0,
        ub=np.append(np.kron(sizes, profile), np.full(slots, capacity)),
    )  # fmt: skip


@pytest.mark.parametrize(("on_import", "most"), [(False, 24), (True, 48)])
def test_300_cars_of_300_sizes_are_24_classes(on_import: bool, most: int) -> None:
    program = cars(np.random.default_rng(0).permutation(np.arange(300)) + 10.0, on_import=on_import)
    assert relift.lift(program, sizes=False).small.n_variables >= 7200
    result = relift.solve(program)
    assert result.lifting.small.n_variables <= most
    assert result.certificate.is_optimal
    direct = relift.solve(program, lift="none", reduce=False)
    assert result.objective == pytest.approx(direct.objective, rel=1e-7)


def test_a_reflection_is_a_change_of_sign_about_the_middle_of_the_bounds() -> None:
    # The cut of a cycle with chords: y <= x_i + x_j and y <= 2 - x_i - x_j, some x replaced by 1 - x.
    n = 12
    pairs = [(i, (i + step) % n) for step in (1, 2) for i in range(n)]
    is_turned = np.random.default_rng(0).random(n) < 0.5
    A, u = np.zeros((2 * len(pairs), n + len(pairs))), np.zeros(2 * len(pairs))
    for k, pair in enumerate(pairs):
        for row, sign in ((2 * k, 1.0), (2 * k + 1, -1.0)):
            A[row, n + k], u[row] = 1.0, 0.0 if sign > 0 else 2.0
            for i in pair:
                A[row, i] = sign if is_turned[i] else -sign
                u[row] += sign if is_turned[i] else 0.0
    program = Program(q=np.append(np.zeros(n), -np.ones(len(pairs))), A=A, u=u, lb=0, ub=1)
    result = relift.solve(program)
    assert result.lifting.small.n_variables == 1
    assert relift.lift(program, signs=False).small.n_variables > 1
    np.testing.assert_allclose(result.x[:n], 0.5)
    assert result.certificate.is_optimal


# --- Updates, warm starts, vertices ----------------------------------------------------------------------------------


def test_an_update_keeps_classes_up_to_scale_where_they_hold() -> None:
    program = Program(q=[1, 2, 4], A=[[1, 2, 4]], l=[8], lb=0, ub=[8, 4, 2])
    lifting = relift.lift(program)
    assert lifting.small.n_variables == 1
    doubled = lifting.update(l=[16], ub=[16, 8, 4])
    assert doubled.variables == lifting.variables
    assert relift.solve(doubled).objective == pytest.approx(16)
    other = lifting.update(q=[1, 2, 5])
    assert other.small.n_variables == 2
    assert relift.solve(other).objective == pytest.approx(8)


def test_an_update_of_the_bounds_moves_the_centres() -> None:
    program = Program(q=[0, 0, -1], A=[[1, 1, -1], [-1, -1, -1]], l=[0, -2], lb=0, ub=1)
    lifting = relift.lift(program)
    assert lifting.small.n_variables == 1
    other = lifting.update(l=[0, -4], ub=[2, 2, 1])
    result = relift.solve(other)
    assert result.certificate.is_optimal
    assert result.objective == pytest.approx(-1)


def test_a_warm_start_and_a_vertex_go_through_scales() -> None:
    program = cars(np.array([1.0, 2.0, 4.0, 5.0]), on_import=False)
    result = relift.solve(program)
    again = relift.solve(program, warm_start=result)
    assert again.objective == pytest.approx(result.objective)
    vertex = relift.solve(program, vertex=True)
    assert vertex.objective == pytest.approx(result.objective)
    assert vertex.certificate.is_optimal


def test_rays_go_through_scales_and_rest() -> None:
    infeasible = Program(q=[1, 1, 0], A=[[1, 2, 1], [3, 6, -1]], l=[5, -np.inf], u=[np.inf, 3], lb=0, ub=[1, 0.5, 0.25])
    assert relift.solve(infeasible).status == Status.INFEASIBLE
    unbounded = Program(q=[-1, -2, 0], A=[[1, -2, 1]], l=[0], u=[0], lb=[0, 0, -1], ub=[np.inf, np.inf, 1])
    result = relift.solve(unbounded)
    assert result.status == Status.UNBOUNDED
    assert result.certificate.ray_residual < 1e-6


@pytest.mark.parametrize("backend", ["osqp", "scs", "clarabel", "piqp", "highs"])
def test_every_backend_answers_up_to_scale(backend: str) -> None:
    pytest.importorskip({"highs": "highspy"}.get(backend, backend))
    planted = sized_program(11, kinds=2, members=4, quadratic=backend != "highs")
    made = rescaled(np.random.default_rng(0), planted.program)
    result = relift.solve(made.program, backend=backend)
    direct = relift.solve(planted.program, lift="none", reduce=False)
    assert result.lifting.small.n_variables < made.program.n_variables // 2
    assert result.objective == pytest.approx(direct.objective, rel=1e-4, abs=1e-4)


# --- Rounding, presolve ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_sizes_and_profiles_of_all_digits_are_found_with_digits(seed: int) -> None:
    random = np.random.default_rng(seed)
    size, profile, price = random.uniform(20, 100, 60), random.uniform(0.2, 1, 24), random.uniform(1, 2, 24)
    needs, feeder = np.kron(np.eye(60), np.ones((1, 24))), np.kron(np.ones((1, 60)), np.eye(24))
    program = Program(
        q=np.tile(price, 60), A=np.vstack([needs, feeder]), lb=0, ub=np.kron(size, profile),
        l=np.append(2.4 * size, np.full(24, -np.inf)), u=np.append(np.full(60, np.inf), np.full(24, 0.4 * size.sum())),
    )  # fmt: skip
    assert relift.lift(program).small.n_variables == 24  # what differs in the last place is in proportion
    program = program.replace(ub=program.ub * (1 + 1e-13 * random.standard_normal(1440)))
    exact = relift.solve(program)
    assert exact.hint is not None
    assert exact.hint.variables == 24
    result = relift.solve(program, digits=exact.hint.digits)
    assert result.lifting.small.n_variables == 24
    assert not result.lifting.notes
    assert result.certificate.is_optimal
    assert result.objective == pytest.approx(exact.objective, rel=1e-9)
    again = relift.solve(result.lifting.update(q=np.tile(price[::-1], 60)))
    assert again.certificate.is_optimal


def test_digits_that_are_too_few_for_the_data_change_no_verdict() -> None:
    random = np.random.default_rng(0)
    size = np.arange(10.0, 22.0) * (1 + 1e-7 * random.standard_normal(12))
    program = Program(
        q=np.ones(12), A=np.vstack([np.eye(12), np.ones((1, 12))]), l=np.append(0.5 * size, 100.0), lb=0, ub=size
    )
    for digits in (4, 6, 9, 12):
        result = relift.solve(program, digits=digits)
        assert result.objective == pytest.approx(100.0, rel=1e-5)


@settings(max_examples=100, deadline=None)
@given(seed=SEEDS, n=st.integers(2, 6), copies=st.integers(2, 3), factor=st.sampled_from([1.0, 2.0, 0.5]))
def test_opposite_rows_are_joined_without_loss_whatever_the_program(
    seed: int, n: int, copies: int, factor: float
) -> None:
    random = np.random.default_rng(seed)
    program = open_program(random, n, 2, copies)
    rows = program.A.toarray()
    z = np.tile(random.choice([-1.0, 0.0, 1.0, 2.0], n), copies)[: program.n_variables]
    both = Program(
        P=program.P, q=program.q, A=np.vstack([rows, z, -factor * z]),
        l=np.append(program.l, [-np.inf, -np.inf]), u=np.append(program.u, [0.0, 0.0]),
        lb=program.lb, ub=program.ub,
    )  # fmt: skip
    with_presolve, without = (relift.lift(both, reduce=reduce).small for reduce in (True, False))
    assert with_presolve.n_variables <= without.n_variables
    assert with_presolve.n_rows <= without.n_rows


def test_maximum_entropy_with_an_antisymmetric_moment_has_the_symmetry_of_the_reflection() -> None:
    cp = pytest.importorskip("cvxpy")
    import relift.cvxpy

    half = np.arange(1, 201) / 200
    z, p = np.concatenate([-half[::-1], half]), cp.Variable(400)
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), [cp.sum(p) == 1, z @ p == 0])
    assert problem.solve(solver=relift.cvxpy.Lifted()) == pytest.approx(np.log(400), rel=1e-6)
    assert problem.solver_stats.extra_stats["small"]["variables"] <= 200
