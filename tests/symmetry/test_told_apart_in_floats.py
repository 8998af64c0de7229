"""Rounds in floats tell all variables apart only where exact searches do, and nothing else changes by them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import relift
from relift.arrays import SparseMatrix, Vector
from relift.lifting.presolve import reduce
from relift.program.cones import Cone, Exponential, Power, PowerND, SecondOrder
from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.settings import LiftSettings
from relift.symmetry import few_left, finite_field, scaled_search, told_apart
from relift.symmetry.colour_refinement import core_is_compiled
from relift.symmetry.exact_vectors import VectorImages
from relift.symmetry.masses import masses_of
from relift.symmetry.scaled_refinement import refine_up_to_scale
from relift.symmetry.told_apart import FloatKinds
from relift.threads import LEAST_ENTRIES, using_threads

needs_core = pytest.mark.skipif(not core_is_compiled(), reason="the compiled core is not installed")
FORMATS = ("csr", "csc")


def is_told(program: Program, *, masses: bool = False) -> bool:
    vectors = VectorImages.of(program, "decimal")
    kinds = told_apart.kinds_in_floats(program, vectors, LiftSettings(), masses=masses)
    return kinds is not None and kinds.are_all_apart


def of_few_numbers(seed: int) -> Program:
    """A small program in which much may be equal: few values, bounds and costs, some columns again in other units."""
    random = np.random.default_rng(seed)
    n, m = int(random.integers(2, 9)), int(random.integers(1, 7))
    A = random.choice([0.0, 0, 1, -1, 2, 0.5, 0.3], (m, n))
    q = random.choice([0.0, 0, 1, -1, 2], n)
    lb, ub = random.choice([0.0, -np.inf, -1, -2], n), random.choice([np.inf, 1.0, 2, 3], n)
    l = random.choice([-np.inf, -1.0, 0, 1], m)
    u = np.where(np.isfinite(l), l, 0) + random.choice([0.0, 1, np.inf], m)
    for _ in range(int(random.integers(0, 3))):  # the same variable once more: as it is, in other units, turned
        j, factor = int(random.integers(n)), float(random.choice([1.0, 2.0, 0.1, -1.0]))
        A, q = np.c_[A, A[:, j] * factor], np.r_[q, q[j] * factor]
        ends = np.sort([lb[j] / factor, ub[j] / factor])
        lb, ub = np.r_[lb, ends[0]], np.r_[ub, ends[1]]
    P = np.diag(random.choice([0.0, 0, 1, 2], q.size)) if random.random() < 0.4 else None
    kind = sparse.csr_array if random.random() < 0.5 else sparse.csc_array
    return Program(P, q, kind(A), l, u, lb, ub)


def of_measured_numbers(seed: int, n: int = 300, kind: str = "csr") -> Program:
    """A program without symmetry, of which costs and bounds tell little."""
    random = np.random.default_rng(seed)
    A = sparse.random_array((n // 2, n), density=6 / n, rng=random, format="lil")
    A[:, 0], A[0, :] = 0.37, random.uniform(1, 2, n)
    P = sparse.diags_array(random.uniform(1, 2, n)) if seed % 2 else None
    return Program(P, np.ones(n), A.asformat(kind), l=1.0, lb=0, ub=4.0)


def with_a_twin(program: Program, factor: float) -> Program:
    """The program with its third variable once more, in other units."""
    A = sparse.csc_array(program.A)
    column = A[:, [2]] * factor
    wide = sparse.hstack([A, column]).asformat(program.A.format)

    def once_more(vector: Vector, last: float) -> Vector:
        return np.r_[vector, last]

    P: SparseMatrix | None = None
    if program.P is not None:
        P = sparse.block_diag([program.P, [[float(program.P[2, 2]) * factor**2]]], format="csc")
    ends = sorted((float(program.lb[2]) / factor, float(program.ub[2]) / factor))
    return Program(
        P, once_more(program.q, float(program.q[2]) * factor), wide, program.l, program.u,
        once_more(program.lb, ends[0]), once_more(program.ub, ends[1]),
    )  # fmt: skip


def sizes_of(program: Program) -> tuple[int, ...]:
    lifting = relift.lift(program)
    return lifting.small.n_variables, lifting.small.n_rows


def tells_nothing(*given: object, **options: object) -> None:
    """What floats say where errors are too large, and without the compiled core."""


@needs_core
def test_nothing_is_told_apart_that_an_exact_search_merges(monkeypatch: pytest.MonkeyPatch) -> None:
    n_told = 0
    for seed in range(400):
        program = of_few_numbers(seed)
        reduction = reduce(program)
        if not reduction.is_trivial or not reduction.rows_are_apart or program.n_rows == 0:
            continue
        with monkeypatch.context() as without:
            without.setattr(scaled_search, "kinds_in_floats", tells_nothing)
            exact = sizes_of(program)
        assert sizes_of(program) == exact, seed
        n_told += is_told(program)
    assert n_told > 40


def without_rows(seed: int) -> Program:
    """A quadratic program without rows, of few or measured numbers; some variables once more, in other units."""
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 7))
    F = random.choice([0.0, 0, 1, -1, 2, 0.3], (n, n)) if seed % 3 else random.normal(size=(n, n))
    q = random.choice([0.0, 0, 1, -1, 2], n)
    lb, ub = random.choice([0.0, -np.inf, -1, -2], n), random.choice([np.inf, 1.0, 2, 3], n)
    if random.random() < 0.3:
        lb, ub = np.full(n, -1.0), np.full(n, 1.0)
    for _ in range(int(random.integers(0, 3))):
        j, factor = int(random.integers(n)), float(random.choice([1.0, 2.0, 0.1, -1.0]))
        F, q = np.c_[F, F[:, j] * factor], np.r_[q, q[j] * factor]
        ends = np.sort([lb[j] / factor, ub[j] / factor])
        lb, ub = np.r_[lb, ends[0]], np.r_[ub, ends[1]]
    P = F.T @ F
    return Program((P + P.T) / 2, q, lb=lb, ub=ub, assume_convex=True)


@needs_core
def test_without_rows_nothing_is_told_apart_that_an_exact_search_merges(monkeypatch: pytest.MonkeyPatch) -> None:
    n_told = n_merged = 0
    for seed in range(400):
        program = without_rows(seed)
        with monkeypatch.context() as without:
            without.setattr(scaled_search, "kinds_in_floats", tells_nothing)
            exact = sizes_of(program)
        assert sizes_of(program) == exact, seed
        n_told += is_told(program)
        n_merged += exact[0] < program.n_variables
    assert n_told > 100
    assert n_merged > 60


def fleet_in_proportion(seed: int) -> Program:
    """A fleet with lower limits that are a computed share of sizes, beside two variables that differ in rows alone."""
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 9))
    size, share = random.uniform(1, 9, n).round(3), float(random.choice([0.7234982347, 0.6, 0.3]))
    P = np.diag(np.r_[0.3 / size, 1.0, 2.0]) if seed % 3 == 0 else None
    q, lb, ub = np.r_[np.ones(n), 1.0, 2.0], np.r_[share * size, 0.0, 0.0], np.r_[size, 5.0, 2.5]
    return Program(P, q, np.r_[np.ones(n), 1.0, 1.7][None], [0.8 * size.sum()], lb=lb, ub=ub)


@needs_core
def test_fleets_in_proportion_but_for_rounding_are_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    n_merged = 0
    for seed in range(90):
        program = fleet_in_proportion(seed)
        with monkeypatch.context() as without:
            without.setattr(scaled_search, "kinds_in_floats", tells_nothing)
            exact = sizes_of(program)
        assert sizes_of(program) == exact, seed
        n_merged += exact[0] < program.n_variables
    assert n_merged > 60


@needs_core
@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("masses", [False, True])
def test_measured_entries_tell_all_apart(kind: str, masses: bool) -> None:
    for seed in range(10):
        assert is_told(of_measured_numbers(seed, kind=kind), masses=masses), seed


@needs_core
@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("factor", [1.0, -1.0, 0.3, 1e-3, 7e5])
def test_one_twin_among_hundreds_is_not_told_apart(kind: str, factor: float) -> None:
    for seed in range(10):
        program = with_a_twin(of_measured_numbers(seed, kind=kind), factor)
        assert not is_told(program), seed
        assert not is_told(program, masses=True), seed


@needs_core
@pytest.mark.parametrize("kind", FORMATS)
def test_rows_that_are_apart_tell_variables_apart_by_where_these_stand(kind: str) -> None:
    random = np.random.default_rng(6)
    plants, customers = 5, 40
    A = sparse.vstack([
        sparse.kron(sparse.eye_array(plants), np.ones((1, customers))),
        sparse.kron(np.ones((1, plants)), sparse.eye_array(customers)),
    ])  # fmt: skip
    prices = random.uniform(1, 9, plants * customers).round(1)  # of which many are equal
    transport = Program(q=prices, A=A.asformat(kind), l=1.0, lb=0)
    assert np.unique(prices).size < 100
    assert is_told(transport)
    again = sparse.csc_array(sparse.hstack([transport.A, transport.A[:, [7]]]))
    twin = Program(q=np.r_[prices, prices[7]], A=again.asformat(kind), l=1.0, lb=0)
    assert not is_told(twin)
    # An entry that is stored and 0 is none.
    rows, columns = sparse.coo_array(again).coords
    stored = sparse.coo_array((np.r_[again.tocoo().data, 0.0], (np.r_[rows, 3], np.r_[columns, 7])), shape=again.shape)
    stored = Program(q=twin.q, A=stored.asformat(kind), l=1.0, lb=0)
    assert stored.A.nnz == twin.A.nnz + 1
    assert not is_told(stored)


@needs_core
@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("masses", [False, True])
def test_threads_tell_the_same(kind: str, masses: bool) -> None:
    random = np.random.default_rng(8)
    n, m = 300_000, 280_000
    A = sparse.random_array((m, n), density=3 / n, rng=random).asformat(kind)
    free = np.where(random.random(n) < 0.1, -np.inf, 0.0)  # some of which rest until sums wake them
    programs = (
        Program(sparse.diags_array(random.uniform(1, 2, n)), np.ones(n), A, l=1.0, lb=free),
        Program(None, np.where(np.isinf(free), 0.0, 1.0), A, l=random.choice([0.0, 1.0], m), lb=free, ub=4.0),
    )
    for program in programs:
        assert program.A.nnz > LEAST_ENTRIES
        found = []
        for threads in (1, 2, 3):
            with using_threads(threads):
                vectors = VectorImages.of(program, "decimal")
                found.append(
                    told_apart.kinds_in_floats(program, vectors, LiftSettings(), masses=masses, may_stay=0.02 * masses)
                )
        assert found[0] is not None
        assert found[0].variables > 1
        assert found[0] == found[1] == found[2]


@needs_core
def test_fleets_of_unequal_sizes_are_told_apart_only_with_equal_masses() -> None:
    random = np.random.default_rng(3)
    size = random.uniform(1, 9, 40).round(3)
    A = np.vstack([np.ones((1, 40)), np.eye(40)])
    program = Program(q=np.full(40, 2.0), A=A, l=np.r_[60.0, 0.1 * size], lb=0, ub=size)
    assert is_told(program)
    assert not is_told(program, masses=True)
    assert relift.lift(program).small.n_variables == 1


@needs_core
def test_numbers_in_proportion_but_for_rounding_are_not_told_apart() -> None:
    size = np.random.default_rng(4).uniform(1, 9, 40)
    need = 0.7234982347 * size  # not the decimals that were meant
    A = np.vstack([np.ones((1, 40)), np.eye(40)])
    program = Program(q=np.full(40, 2.0), A=A, l=np.r_[70.0, need], lb=0, ub=3.1 * size)
    assert not is_told(program, masses=True)


@needs_core
def test_sums_in_another_order_are_not_told_apart() -> None:
    """Two variables whose columns hold the same entries, for rows in the opposite order."""
    random = np.random.default_rng(5)
    values, n = random.uniform(0.1, 1, (150, 10)), 10
    half = sparse.csr_array(np.hstack([values, np.zeros((150, 10))]))
    other = sparse.csr_array(np.hstack([np.zeros((150, 10)), values[::-1]]))
    A = sparse.vstack([half, other, sparse.csr_array(np.ones((1, 2 * n)))]).tocsr()
    program = Program(q=np.ones(2 * n), A=A, l=1.0, lb=0)
    assert not is_told(program)
    assert relift.lift(program).small.n_variables == n


@needs_core
def test_what_rests_is_not_told_apart() -> None:
    """Free variables without costs of which the only row has 0 on both sides stay at 0."""
    random = np.random.default_rng(6)
    A = sparse.csr_array(random.uniform(1, 2, (1, 3)))
    assert not is_told(Program(q=np.zeros(3), A=A, l=0, u=0))


@needs_core
def test_extreme_numbers_are_refused_or_told_apart_without_an_error() -> None:
    random = np.random.default_rng(7)
    for scale in (1e308, 1e-308, 5e-324):
        A = sparse.csr_array(random.uniform(0.1, 1, (4, 5)) * scale)
        size = min(scale, 1e30)  # larger bounds are infinite
        assert is_told(Program(q=random.uniform(-1, 1, 5) * scale, A=A, l=size, lb=-size, ub=size)) in (True, False)


def with_chains(program: Program, n_chains: int, length: int = 12) -> Program:
    """The program beside chains x_0 <= x_1 <= ..., each of which begins at the first variable with the same entries."""
    A = sparse.csr_array(program.A)
    n = A.shape[1]
    steps = sparse.eye_array(length, length) - sparse.eye_array(length, length, k=-1)
    first = sparse.csr_array(([-3.0], ([0], [0])), shape=(length, n))
    blocks: list[list[SparseMatrix | None]] = [[A, *([None] * n_chains)]]
    for k in range(n_chains):
        blocks.append([first, *(steps if k == other else None for other in range(n_chains))])
    wide = sparse.block_array(blocks, format=program.A.format)
    n_new = n_chains * length
    l = np.r_[program.l, np.zeros(n_new)]
    return Program(
        None, np.r_[program.q, np.ones(n_new)], wide, l, lb=np.r_[program.lb, np.zeros(n_new)],
        ub=np.r_[program.ub, np.ones(n_new)],
    )  # fmt: skip


@needs_core
@pytest.mark.parametrize("kind", FORMATS)
def test_a_chain_that_few_rounds_leave_is_told_apart_by_rounds_of_its_own(kind: str) -> None:
    for seed in (0, 2, 4):
        program = of_measured_numbers(seed, n=1500, kind=kind)
        assert is_told(with_chains(program, 1)), seed
        twice = with_chains(program, 2)
        assert not is_told(twice), seed
        assert relift.lift(twice).small.n_variables == 1512


def of_copies(seed: int) -> Program:
    """A few copies of one program of measured numbers, with variables in any order: sums cancel in every round."""
    random = np.random.default_rng(seed)
    n, m, n_copies = (int(random.integers(*ends)) for ends in ((5, 60), (5, 90), (2, 8)))
    one = sparse.random_array(
        (m, n), density=min(1.0, random.uniform(2, 8) / n), rng=random,
        data_sampler=lambda size: np.round(random.normal(size=size), 4),
    )  # fmt: skip
    order = random.permutation(n * n_copies)
    A = sparse.csc_array(sparse.kron(sparse.eye_array(n_copies), one))[:, order].asformat(FORMATS[seed % 2])
    q, lb = (
        np.tile(random.choice([0.0, 1, 2, -1], n), n_copies),
        np.tile(random.choice([0.0, -1, -np.inf], n), n_copies),
    )
    return Program(q=q[order], A=A, l=np.tile(random.choice([1.0, 0, -1, 2], m), n_copies), lb=lb[order])


@needs_core
@pytest.mark.parametrize("masses", [False, True])
def test_copies_are_not_told_apart_by_what_cancellation_leaves(masses: bool) -> None:
    told = [seed for seed in range(600) if is_told(of_copies(seed), masses=masses)]
    assert told == []


@needs_core
@pytest.mark.parametrize("n_copies", [1, 20_000, 80_000])
def test_kinds_are_about_as_many_as_there_are(n_copies: int) -> None:
    random = np.random.default_rng(8)
    A = sparse.csr_array(random.uniform(1, 2, (3, 5)))
    copies = sparse.kron(sparse.eye_array(n_copies), A, format="csr")
    program = Program(q=np.ones(5 * n_copies), A=copies, l=1.0, lb=0)
    for may_stay in (0.0, 0.02):
        vectors = VectorImages.of(program, "decimal")
        kinds = told_apart.kinds_in_floats(program, vectors, LiftSettings(), masses=False, may_stay=may_stay)
        assert kinds is not None
        assert kinds.are_all_apart == (n_copies == 1 and may_stay == 0.0)
        assert kinds.variables <= max(5, 0.01 * program.n_variables)
        assert kinds.rows <= max(3, 0.01 * program.n_rows)


@needs_core
def test_masses_for_next_to_nothing_are_tried_in_small_programs_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(9)
    n = 600
    size, price = np.r_[random.uniform(1, 9, n - 2).round(3), 2.0, 4.0], 1.0 + 0.001 * random.permutation(n)
    price[-2:] = 3.0  # two of one kind, the second twice as large
    steps = sparse.diags_array([random.uniform(1, 2, n).round(4), -np.ones(n - 1)], offsets=[0, 1], format="csr")[:-3]
    A = sparse.vstack([np.ones((1, n)), steps], format="csr")
    program = Program(q=price, A=A, l=np.r_[900.0, np.full(n - 3, -1.0)], lb=0, ub=size)
    assert relift.lift(program).small.n_variables == n - 1
    monkeypatch.setattr(scaled_search, "SMALL", 0)
    assert relift.lift(program).small.n_variables == n


def of_cones(seed: int) -> Program:
    """A few copies of cones of few or measured numbers, some once more in other units, with other signs and orders."""
    random = np.random.default_rng(seed)
    n, n_copies = int(random.integers(2, 9)), int(random.integers(1, 4))

    def drawn(*shape: int) -> Vector:
        if seed % 3 == 0:
            return np.round(random.normal(size=shape), 3)
        return random.choice([0.0, 0, 1, -1, 2, 0.5], shape)

    blocks: list[tuple[Vector, Vector, Cone]] = []
    for _ in range(int(random.integers(1, 5))):
        kinds = (SecondOrder(int(random.integers(2, 6))), Exponential(), Power(0.3), PowerND((0.2, 0.3, 0.5)))
        cone = kinds[int(random.integers(4))]
        rows = drawn(cone.n_rows, n) * (random.random((cone.n_rows, n)) < 0.6)
        side = drawn(cone.n_rows) * (random.random(cone.n_rows) < 0.8)
        blocks.append((rows, side, cone))
        if isinstance(cone, SecondOrder) and random.random() < 0.5:
            factor = float(random.choice([1.0, 2.0, 0.1]))
            signs = factor * np.r_[1.0, random.choice([-1.0, 1.0], cone.n_rows - 1)]
            order = np.r_[0, 1 + random.permutation(cone.n_rows - 1)]
            blocks.append(((rows * signs[:, None])[order], (side * signs)[order], cone))
    q, lb, ub = drawn(n), random.choice([0.0, -np.inf, -1], n), random.choice([np.inf, 1.0, 2], n)
    parts, sides, costs, lows, highs = [], [], [], [], []
    for _ in range(n_copies):
        unit, size = random.choice([1.0, 1, 2, 0.5, -1], n), float(random.choice([1.0, 1, 3]))
        parts.append(np.vstack([rows for rows, _, _ in blocks]) * unit * size)
        sides.append(np.concatenate([side for _, side, _ in blocks]) * size)
        ends = np.sort(np.vstack([lb / unit, ub / unit]), axis=0)
        costs.append(q * unit)
        lows.append(ends[0])
        highs.append(ends[1])
    order = random.permutation(n * n_copies)
    C = sparse.block_diag(parts, format="csr")[:, order]
    A = np.ones((1, n * n_copies)) if random.random() < 0.5 else None
    conic = ConicRows(C, np.concatenate(sides), [cone for _, _, cone in blocks] * n_copies)
    return Program(
        None, np.concatenate(costs)[order], A, None if A is None else -50.0, None, np.concatenate(lows)[order],
        np.concatenate(highs)[order], conic=conic,
    )  # fmt: skip


@needs_core
def test_no_cone_is_told_apart_that_an_exact_search_merges(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[bool] = []
    ask = told_apart.kinds_in_floats

    def asked(*given: Any, **options: Any) -> FloatKinds | None:
        kinds = ask(*given, **options)
        told.append(kinds is not None and kinds.are_all_apart)
        return kinds

    n_symmetric = 0
    for seed in range(200):
        program = of_cones(seed)
        smalls = []
        for how in (tells_nothing, asked):
            monkeypatch.setattr(scaled_search, "kinds_in_floats", how)
            small = relift.lift(program).small
            smalls.append((small.n_variables, small.n_rows, small.conic.n_rows, len(small.conic)))
        assert smalls[0] == smalls[1], seed
        n_symmetric += smalls[0][2] < program.conic.n_rows
    assert n_symmetric > 60
    assert sum(told) > 40


def of_norms(n_norms: int) -> Program:
    """A sum of norms of measured residuals, the last of which is once more, turned and twice as large."""
    random = np.random.default_rng(10)
    F, b = random.normal(size=(n_norms, 4, 30)).round(3), random.normal(size=(n_norms, 4)).round(3)
    F[:, 0], b[:, 0] = 0.0, 0.0
    heads = np.zeros((n_norms, 4, n_norms))
    heads[np.arange(n_norms), 0, np.arange(n_norms)] = -1.0
    C = np.concatenate([F, heads], axis=2).reshape(4 * n_norms, -1)
    conic = ConicRows(C, b.ravel(), [SecondOrder(4)] * n_norms)
    return Program(q=np.r_[np.zeros(30), np.ones(n_norms)], conic=conic)


@needs_core
def test_measured_norms_are_told_apart_without_an_exact_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("an exact search was made")

    program = of_norms(40)
    monkeypatch.setattr(scaled_search, "refine_up_to_scale", refused)
    assert relift.lift(program).small.conic.n_rows == 160


@needs_core
def test_two_conic_rows_that_are_one_are_not_told_apart() -> None:
    program = of_norms(40)
    conic = program.conic
    twice = sparse.vstack([conic.A, -2.0 * conic.A[[159]], conic.A[[156]] * 0.0]).tocsr()
    order = np.r_[np.arange(160), 160]  # one more tail of the last cone: twice the one before, turned
    rows = ConicRows(twice[order], np.r_[conic.b, -2.0 * conic.b[159]], [*conic.cones[:-1], SecondOrder(5)])
    assert relift.lift(program.replace(conic=rows)).small.conic.n_rows == 161  # rows of one cone must have one size
    turned = sparse.vstack([conic.A, -1.0 * conic.A[[159]]]).tocsr()
    rows = ConicRows(turned, np.r_[conic.b, -conic.b[159]], [*conic.cones[:-1], SecondOrder(5)])
    assert relift.lift(program.replace(conic=rows)).small.conic.n_rows == 160


def of_pixels(side: int) -> Program:
    """A picture of measured grey values, made smooth by absolute differences: |x - y| <= t by two rows each."""
    random = np.random.default_rng(11)
    line = sparse.eye_array(side - 1, side, k=1) - sparse.eye_array(side - 1, side)
    D = sparse.vstack([sparse.kron(sparse.eye_array(side), line), sparse.kron(line, sparse.eye_array(side))])
    n, m = side * side, D.shape[0]
    eye, t, r = sparse.eye_array(n), sparse.eye_array(m), sparse.eye_array(n)
    A = sparse.block_array([[D, -t, None], [D, t, None], [eye, None, -r], [eye, None, r]], format="csr")
    grey, free = random.integers(0, 256, n).astype(float), np.full(m, np.inf)
    l = np.r_[-free, np.zeros(m), np.full(n, -np.inf), grey]
    u = np.r_[np.zeros(m), free, grey, np.full(n, np.inf)]
    q = np.r_[np.zeros(n), np.full(m, 2.0), np.ones(n)]
    return Program(q=q, A=A, l=l, u=u, lb=np.r_[np.full(n, -np.inf), np.zeros(m + n)])


@needs_core
def test_absolute_differences_are_told_apart_though_one_row_rises_where_the_other_falls() -> None:
    program = of_pixels(120)
    kinds = told_apart.kinds_in_floats(
        program, VectorImages.of(program, "decimal"), LiftSettings(), masses=True, may_stay=0.02
    )
    assert kinds is not None
    assert kinds.variables >= 0.98 * program.n_variables
    assert kinds.rows >= 0.98 * program.n_rows


@needs_core
def test_floats_are_asked_about_masses_of_large_programs_where_they_could_not_tell_of_equal_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program, asked = of_pixels(70), []
    ask = told_apart.kinds_in_floats

    def counted(*given: Any, **options: Any) -> FloatKinds | None:
        asked.append(options["masses"])
        return ask(*given, **options)

    monkeypatch.setattr(scaled_search, "kinds_in_floats", counted)
    assert relift.lift(program).small.n_variables == program.n_variables
    assert asked == [False]
    monkeypatch.setattr(scaled_search, "ASKING_AGAIN", 0)
    asked.clear()
    assert relift.lift(program).small.n_variables == program.n_variables
    assert asked == [False]  # a look at masses says that they gain little
    monkeypatch.setattr(scaled_search, "masses_of", lambda *given, looks, **options: masses_of(*given, **options))
    asked.clear()
    assert relift.lift(program).small.n_variables == program.n_variables
    assert asked == [False, True]


def of_flows(n_arcs: int, twins: int) -> Program:
    """Flows through a random network at few costs and capacities; some arcs stand there twice."""
    random = np.random.default_rng(5)
    n = n_arcs // 5
    tail = random.integers(n, size=n_arcs)
    head = (tail + random.integers(1, n, n_arcs)) % n
    tail[:twins], head[:twins] = tail[twins : 2 * twins], head[twins : 2 * twins]
    cost, most = random.integers(1, 6, n_arcs).astype(float), random.choice([5.0, 10, 20], n_arcs)
    cost[:twins], most[:twins] = cost[twins : 2 * twins], most[twins : 2 * twins]
    ends, arcs = np.r_[tail, head], np.tile(np.arange(n_arcs), 2)
    A = sparse.csr_array((np.repeat([1.0, -1.0], n_arcs), (ends, arcs)), shape=(n, n_arcs))
    need = random.integers(-3, 4, n).astype(float)
    return Program(q=cost, A=A, l=need, u=need, lb=0, ub=most)


@needs_core
def test_few_equivalent_variables_do_not_make_other_searches_worth_while(monkeypatch: pytest.MonkeyPatch) -> None:
    program, made = of_flows(3000, 5), []
    refine = refine_up_to_scale

    def counted(*given: Any, **options: Any) -> object:
        made.append(options.get("masses") is not None)
        return refine(*given, **options)

    for searching in (scaled_search, few_left):
        monkeypatch.setattr(searching, "refine_up_to_scale", counted)
    n_classes = relift.lift(program).small.n_variables
    assert made == [False, True]
    made.clear()
    monkeypatch.setattr(scaled_search, "ASKING_AGAIN", 0)
    assert n_classes <= relift.lift(program).small.n_variables <= 1.002 * n_classes
    assert made == [False]
    assert n_classes <= program.n_variables - 5


@needs_core
def test_floats_are_asked_what_centres_can_find(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(6)
    n, m = 400, 300
    A = sparse.csr_array(sparse.random_array((m, n), density=6 / n, rng=random))
    A.data[:] = random.choice([-2.0, -1.0, 1.0, 2.0], A.nnz)
    q = np.where(np.arange(n) % 2 == 0, 0.0, random.integers(1, 9, n))
    ub = np.where(np.arange(n) % 3 == 0, 1.0, np.inf)
    program = Program(q=q, A=A, u=random.integers(1, 4, m).astype(float), lb=0, ub=ub)
    made = []
    refine = refine_up_to_scale

    def counted(*given: Any, **options: Any) -> object:
        made.append(options.get("masses") is not None)
        return refine(*given, **options)

    for searching in (scaled_search, few_left):
        monkeypatch.setattr(searching, "refine_up_to_scale", counted)
    monkeypatch.setattr(scaled_search, "may_be_equal_up_to_reflection", lambda *_: True)
    without = relift.lift(program).class_of_variable
    n_made = len(made)
    monkeypatch.setattr(scaled_search, "ASKING_AGAIN", 0)
    made.clear()
    assert relift.lift(program).class_of_variable.tolist() == without.tolist()
    assert 2 * len(made) <= n_made
    assert n_made >= 4


def test_nothing_is_told_without_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finite_field, "CORE_IS_COMPILED", False)
    assert not is_told(of_measured_numbers(0))
