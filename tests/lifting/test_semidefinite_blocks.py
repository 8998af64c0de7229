"""Semidefinite programs with symmetry: entries merged, cones split, answers certified on the original cone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relift
from relift.arrays import Labels, Matrix
from relift.lifting.semidefinite_blocks import blocks_of
from relift.program import ConicRows, Program, SecondOrder, Semidefinite, Status
from relift.program.symmetric_matrices import upper_triangle, with_entries
from relift.settings import LiftSettings
from relift.symmetry import semidefinite_classes
from relift.symmetry.equitable import distance_of_conic_rows
from relift.symmetry.exact_vectors import VectorImages
from relift.symmetry.find import Images
from relift.symmetry.partition import Partition
from relift.symmetry.semidefinite_classes import closed_classes, find_with_entries
from relift.testing.semidefinite_programs import GROUPS, invariant_program, permutation_group


def theta_program(adjacency: Matrix, *, sign: float = 1.0) -> Program:
    """Lovász's theta number: the largest sum of a matrix of trace 1 that is 0 on edges."""
    n = adjacency.shape[0]
    row, column = upper_triangle(n)
    off = row != column
    edges = np.flatnonzero(off & (adjacency[row, column] > 0))
    A = np.vstack([(~off).astype(np.float64), np.eye(off.size)[edges]])
    l = np.append(1.0, np.zeros(edges.size))
    conic = ConicRows(-np.diag(np.where(off, 2.0**0.5, 1.0)), np.zeros(off.size), [Semidefinite(n)])
    return Program(q=-sign * np.where(off, 2.0, 1.0), A=A, l=l, u=l, conic=conic)


def cycle(n: int) -> Matrix:
    turned = np.roll(np.eye(n), 1, axis=0)
    return turned + turned.T


def kneser(n: int, k: int) -> Matrix:
    subsets = [set(each) for each in itertools.combinations(range(n), k)]
    return np.array([[float(not one & other) for other in subsets] for one in subsets])


def entry_classes(group: list[np.ndarray]) -> Labels:
    """The orbits of entries, by brute force."""
    n = group[0].size
    images = [(move[i] * n + move[j], move[j] * n + move[i]) for i, j in [upper_triangle(n)] for move in group]
    return np.min([np.minimum(*both) for both in images], axis=0)


@pytest.mark.parametrize(
    ("adjacency", "theta"),
    [(cycle(5), 5**0.5), (cycle(7), 7 / (1 + 1 / np.cos(np.pi / 7))), (kneser(5, 2), 4.0), (kneser(6, 2), 5.0)],
)
def test_theta_numbers_of_transitive_graphs_are_linear_programs(adjacency: Matrix, theta: float) -> None:
    result = relift.solve(theta_program(adjacency))
    assert result.status == Status.OPTIMAL
    assert -result.objective == pytest.approx(theta, abs=1e-6)
    assert set(result.lifting.small.conic.cones) == {SecondOrder(1)}
    X = with_entries(result.x, adjacency.shape[0])
    assert np.linalg.eigvalsh(X)[0] >= -1e-7
    assert np.abs(X[adjacency > 0]).max() <= 1e-9


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(GROUPS), matrix_variable=st.booleans())
def test_optimum_and_dual_values_are_those_of_the_original(seed: int, kind: str, matrix_variable: bool) -> None:
    program, order = invariant_program(seed, kind, matrix_variable=matrix_variable)
    lifted, direct = relift.solve(program), relift.solve(program, lift="none")
    assert lifted.status == direct.status
    assert lifted.lifting.own_notes == ()  # no classes failed their check
    if lifted.status != Status.OPTIMAL:
        assert lifted.status == Status.INFEASIBLE
        assert lifted.certificate.is_proved
        return
    assert lifted.objective == pytest.approx(direct.objective, rel=1e-5, abs=1e-5)
    if order >= 6:
        assert lifted.lifting.small.conic.n_rows < program.conic.n_rows
    # The optimality conditions, apart from the certificate.
    x, y, w, v = lifted.x, lifted.y, lifted.w, lifted.v
    gradient = program.q + program.A.T @ y + w + program.conic.A.T @ v
    scale = 1.0 + np.abs(v).max() + np.abs(y).max(initial=0.0)
    assert np.abs(gradient).max() <= 1e-5 * scale
    side = program.conic.cones[0].n  # type: ignore[attr-defined]
    row, column = upper_triangle(side)
    root = np.where(row == column, 1.0, 2.0**0.5)
    for vector in (program.conic.slack(x), v):
        matrix = with_entries(vector / root, side)
        assert np.linalg.eigvalsh(matrix)[0] >= -1e-5 * (1.0 + np.abs(matrix).max())


@pytest.mark.parametrize("kind", GROUPS)
@pytest.mark.parametrize("orbits", [1, 2, 3])
def test_blocks_have_the_eigenvalues_of_the_matrix(kind: str, orbits: int) -> None:
    group = permutation_group(kind, 4, orbits)
    labels = np.unique(entry_classes(group), return_inverse=True)[1]
    n = group[0].size
    row, column = upper_triangle(n)
    rows = ConicRows(np.zeros((labels.size, 1)), np.zeros(labels.size), [Semidefinite(n)])
    closed = closed_classes(rows, labels, 0)
    assert closed is not None
    assert Partition.from_labels(closed) == Partition.from_labels(labels)  # orbits are closed
    labels = Partition.from_labels(labels).labels
    blocks = blocks_of(labels)
    assert sum(cone.n_rows for cone in blocks.cones) < labels.size
    values = np.random.default_rng(4).standard_normal(int(labels.max()) + 1)
    wanted = np.unique(np.linalg.eigvalsh(with_entries(values[labels], n)).round(8))
    in_rows = np.where(np.isin(np.arange(values.size), labels[row == column]), values, 2.0**0.5 * values)
    made, start = blocks.rows @ in_rows, 0
    found = []
    for cone in blocks.cones:
        side = cone.n if isinstance(cone, Semidefinite) else 1
        own = made[start : start + cone.n_rows]
        i, j = upper_triangle(side)
        found.append(np.linalg.eigvalsh(with_entries(own / np.where(i == j, 1.0, 2.0**0.5), side)))
        start += cone.n_rows
    assert np.unique(np.concatenate(found).round(8)) == pytest.approx(wanted, abs=1e-7)


def test_quaternions_need_four_dimensions_for_each_row_of_a_block() -> None:
    labels = Partition.from_labels(entry_classes(permutation_group("quaternions", 8, 2))).labels
    sides = sorted(cone.n if isinstance(cone, Semidefinite) else 1 for cone in blocks_of(labels).cones)
    assert sides == [2, 2, 2, 2, 8]


def test_classes_that_are_not_closed_under_squaring_are_refused() -> None:
    # A path of three vertices: diagonal, edges, and the pair of its ends; the square tells the middle one apart.
    labels = np.array([0, 1, 0, 2, 1, 0])
    rows = ConicRows(np.zeros((6, 1)), np.zeros(6), [Semidefinite(3)])
    one = Partition.one_class(1)
    assert distance_of_conic_rows(rows, one, Partition(labels), one) > 0.1
    closed = closed_classes(rows, labels, 0)
    assert closed is not None
    assert distance_of_conic_rows(rows, one, Partition.from_labels(closed), one) <= 1e-12
    assert distance_of_conic_rows(rows, one, Partition.one_class(6), one) == np.inf  # the diagonal stays apart


def test_equal_cones_share_their_blocks() -> None:
    single = theta_program(cycle(5))
    n, k = single.n_variables, single.conic.n_rows
    zero = np.zeros((k, n))
    both = Program(
        q=np.tile(single.q, 2), A=np.kron(np.eye(2), single.A.toarray()),
        l=np.tile(single.l, 2), u=np.tile(single.u, 2),
        conic=ConicRows(
            np.block([[single.conic.A.toarray(), zero], [zero, single.conic.A.toarray()]]), np.zeros(2 * k),
            [Semidefinite(5)] * 2,
        ),
    )  # fmt: skip
    result = relift.solve(both)
    assert result.objective == pytest.approx(-2 * 5**0.5, abs=1e-6)
    assert result.lifting.small.conic.n_rows == 3


def test_other_cones_stand_beside_semidefinite_ones() -> None:
    single = theta_program(cycle(5))
    n = single.n_variables
    diagonal = np.flatnonzero(np.equal(*upper_triangle(5)))
    A = np.vstack([single.conic.A.toarray(), np.zeros((6, n))])
    A[single.conic.n_rows + 1 + np.arange(5), diagonal] = -1.0
    b = np.append(single.conic.b, [0.5, 0, 0, 0, 0, 0])  # the diagonal has a length of at most 0.5: 1/sqrt(5) fits
    program = single.replace(conic=ConicRows(A, b, [Semidefinite(5), SecondOrder(6)]))
    result = relift.solve(program)
    assert result.objective == pytest.approx(-(5**0.5), abs=1e-6)
    assert result.lifting.small.n_variables == 2


def test_updates_keep_classes_where_they_hold() -> None:
    program = theta_program(kneser(5, 2))
    lifting = relift.lift(program)
    again = lifting.update(q=3 * program.q)
    assert again.symmetry is lifting.symmetry
    assert relift.solve(again).objective == pytest.approx(-12.0, abs=1e-5)
    q = program.q.copy()
    q[0] *= 2.0
    other = relift.solve(lifting.update(q=q))
    assert other.objective == pytest.approx(relift.solve(program.replace(q=q), lift="none").objective, abs=1e-5)


def test_infeasible_and_unbounded_programs_have_rays_of_the_original() -> None:
    row, column = upper_triangle(4)
    off = row != column
    conic = ConicRows(-np.diag(np.where(off, 2.0**0.5, 1.0)), np.zeros(off.size), [Semidefinite(4)])
    ones = np.where(off, 2.0, 1.0)
    infeasible = relift.solve(Program(q=(~off).astype(float), A=[ones], l=[-1.0], u=[-1.0], conic=conic))
    assert infeasible.status == Status.INFEASIBLE
    assert infeasible.certificate.is_proved
    assert infeasible.lifting.small.conic.n_rows == 2
    unbounded = relift.solve(Program(q=-(~off).astype(float), A=[ones], l=[1.0], u=[1.0], conic=conic))
    assert unbounded.status == Status.UNBOUNDED
    assert unbounded.certificate.is_proved


def test_numbers_off_the_diagonal_are_read_without_the_root_of_two() -> None:
    # In floats 3 root 2 is not root 2 + 2 root 2: rows are equitable all the same.
    root = 2.0**0.5
    n = 4
    row, column = upper_triangle(n)
    off = row != column
    A = np.zeros((row.size, 6))
    A[~off] = -1.0
    A[off, :] = 0.0
    pairs = np.flatnonzero(off)
    A[pairs[0]] = root * np.array([0.1, 0.2, 0.3, 0, 0, 0])
    for k, place in enumerate(pairs[1:], start=1):
        A[place] = root * np.roll([0.1, 0.2, 0.3, 0, 0, 0], k)
    result = relift.lift(Program(q=np.ones(6), lb=-1, ub=5, conic=ConicRows(A, np.zeros(row.size), [Semidefinite(n)])))
    assert result.small.n_variables == 1
    assert result.small.conic.n_rows == 2


@pytest.mark.parametrize("backend", ["clarabel", "scs"])
def test_backends_agree_on_blocks(backend: str) -> None:
    if backend == "scs":
        pytest.importorskip("scs", reason="SCS is optional")
    result = relift.solve(theta_program(kneser(6, 2)), backend=backend)
    assert -result.objective == pytest.approx(5.0, abs=1e-5)


def test_a_cone_whose_bases_fail_their_check_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    from relift.lifting import semidefinite_blocks

    monkeypatch.setattr(semidefinite_blocks, "FITS", -1.0)
    semidefinite_blocks._blocks.cache_clear()
    try:
        result = relift.solve(theta_program(cycle(5)))
    finally:
        semidefinite_blocks._blocks.cache_clear()
    assert result.lifting.small.conic.cones == (Semidefinite(5),)
    assert result.lifting.small.n_variables == 2
    assert -result.objective == pytest.approx(5**0.5, abs=1e-6)


def test_counting_leaves_entries_as_they_are() -> None:
    program = theta_program(cycle(5))
    assert relift.lift(program, lift="counting").small.conic.cones == (Semidefinite(5),)


def test_differences_are_compared_up_to_sign() -> None:
    # Equal distances on a ring, each equation written in one direction: turned round, it is another of them.
    n = 6
    row, column = upper_triangle(n)
    place = {(int(i), int(j)): k for k, (i, j) in enumerate(zip(row, column, strict=True))}
    single = theta_program(np.zeros((n, n)))
    rows = np.zeros((n - 1, single.n_variables))
    for k in range(n - 1):
        rows[k, place[(k, k)]], rows[k, place[(k + 1, k + 1)]] = (1.0, -1.0) if k % 2 else (-3.0, 3.0)
    program = single.replace(A=np.vstack([single.A.toarray(), rows]), l=np.append(1.0, np.zeros(n - 1)),
                             u=np.append(1.0, np.zeros(n - 1)))  # fmt: skip
    result = relift.solve(program)
    assert result.objective == pytest.approx(-6.0, abs=1e-5)
    plain = relift.solve(program, signs=False)
    assert plain.objective == pytest.approx(-6.0, abs=1e-5)
    assert result.lifting.small.n_variables <= plain.lifting.small.n_variables


@pytest.mark.parametrize("turn", [1.0, -1.0])
def test_a_ring_of_differences_is_at_rest(turn: float) -> None:
    n = 5
    row, column = upper_triangle(n)
    place = {(int(i), int(j)): k for k, (i, j) in enumerate(zip(row, column, strict=True))}
    single = theta_program(cycle(n))
    rows = np.zeros((n, single.n_variables))
    for k in range(n):  # X(k, k+2) = X(k+1, k+3)
        first, second = sorted((k, (k + 2) % n)), sorted(((k + 1) % n, (k + 3) % n))
        sign = turn if k == 2 else 1.0
        rows[k, place[first[0], first[1]]] += sign
        rows[k, place[second[0], second[1]]] -= sign
    zeros = np.zeros(n)
    program = single.replace(
        A=np.vstack([single.A.toarray(), rows]), l=np.append(single.l, zeros), u=np.append(single.u, zeros)
    )
    result = relift.solve(program)
    assert result.objective == pytest.approx(-(5**0.5), abs=1e-6)
    assert result.lifting.small.n_variables == 2
    assert result.y is not None
    assert result.y.shape == (program.n_rows,)


@given(seed=st.integers(0, 10**6))
@settings(deadline=None, max_examples=100)
def test_entries_that_costs_tell_apart_are_not_merged_by_a_search_either(seed: int) -> None:
    """Where some variables have costs of their own, and others not."""
    random = np.random.default_rng(seed)
    side = int(random.integers(2, 5))
    size = side * (side + 1) // 2
    costs = random.choice([1.0, -1.0, 2.0, 3.5, 0.0, 7.0, 9.0, 11.0, 13.0, -17.0, 19.0], size + 2)
    C = -np.eye(size, size + 2)
    C[random.integers(0, size), random.integers(0, size)] = 1.0
    program = Program(
        q=costs, A=np.ones((1, size + 2)), l=[1.0], conic=ConicRows(C, np.zeros(size), [Semidefinite(side)])
    )
    images = Images(VectorImages.of(program, "decimal"))
    found = find_with_entries(program, images, LiftSettings())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(semidefinite_classes, "_are_told_apart", lambda *_: False)
        searched = find_with_entries(program, images, LiftSettings())
    assert (found is None) == (searched is None)
