"""Colour refinement: kernel, NumPy reference and an oracle of fractions agree; faces; failures."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from relift.errors import OptionError, ShapeError
from relift.settings import Reading
from relift.symmetry import finite_field as field
from relift.symmetry.colour_refinement import Refinement, colour_refinement, core_is_compiled, refine
from relift.symmetry.colour_refinement_reference import Mode, refine_slowly, variable_weights
from relift.symmetry.partition import Partition

needs_core = pytest.mark.skipif(not core_is_compiled(), reason="the compiled core is not installed")
MODES: tuple[Mode, ...] = ("equitable", "counting")


# ------------------------------------------------------------------------------------------------ programs
@dataclass(frozen=True, eq=False)
class Case:
    """A program as dense arrays, so that the oracle stays simple; NaN in A marks an explicit zero."""

    P: NDArray[np.float64] | None
    A: NDArray[np.float64]
    q: NDArray[np.float64]
    l: NDArray[np.float64]
    u: NDArray[np.float64]
    as_rows: bool = False
    wide: bool = False

    def sparse_A(self) -> Any:
        row, column = np.nonzero(self.A)
        data = np.nan_to_num(self.A[row, column])
        A = sparse.coo_array((data, (row, column)), shape=self.A.shape)
        A = A.tocsr() if self.as_rows else A.tocsc()
        A.data = np.nan_to_num(A.data)
        kind = np.int64 if self.wide else np.int32
        A.indices, A.indptr = A.indices.astype(kind), A.indptr.astype(kind)
        return A

    def arguments(self, reading: Reading) -> tuple[Any, ...]:
        images = [field.images(array, reading) for array in (self.q, self.l, self.u)]
        P = None if self.P is None else sparse.csc_array(self.P)
        return P, self.sparse_A(), [images[0]], images[1], images[2], self.l, self.u

    def permuted(self, columns: NDArray[np.int64], rows: NDArray[np.int64]) -> Case:
        return replace(
            self,
            P=None if self.P is None else self.P[np.ix_(columns, columns)],
            A=self.A[np.ix_(rows, columns)],
            q=self.q[columns],
            l=self.l[rows],
            u=self.u[rows],
        )


VALUES = st.sampled_from(
    [
        [1.0],
        [1.0, -1.0],
        [0.1, 0.2, 0.3, 0.7],
        [2.0, -1.0, 0.5, -0.25, 1e-3, 12345.678],
        [1 / 3, -2 / 3, 1e22, 1.1],
    ]
)


def one_partition(found: Partition | tuple[Partition, Partition]) -> Partition:
    """That of a graph, not of rows and columns."""
    assert isinstance(found, Partition)
    return found


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Copies of a small random block, rows rescaled, everything shuffled."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = np.array(draw(VALUES))
    n, m, n_copies = draw(st.integers(0, 5)), draw(st.integers(0, 5)), draw(st.integers(1, 4))
    density = draw(st.sampled_from([0.2, 0.5, 0.9]))

    def block(shape: tuple[int, int]) -> NDArray[np.float64]:
        return random.choice(values, size=shape) * (random.random(shape) < density)

    def copied(array: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.kron(np.eye(n_copies), array), dtype=np.float64)

    upper = np.triu(block((n, n)))
    P = copied(upper + np.triu(upper, 1).T) if draw(st.booleans()) else None
    A = copied(block((m, n)))
    factor = np.ones(m * n_copies)
    if draw(st.booleans()):
        factor = random.choice([1.0, 2.0, -1.0, -0.5, 10.0], size=m * n_copies)
    A = A * factor[:, None]
    l = np.tile(random.choice([-np.inf, -1.0, 0.0], size=m), n_copies) * factor
    u = np.tile(random.choice([np.inf, 1.0, 2.0], size=m), n_copies) * factor
    l, u = np.where(factor < 0, u, l), np.where(factor < 0, l, u)
    if A.size and draw(st.booleans()):
        i, j = random.integers(A.shape[0]), random.integers(A.shape[1])
        A[i, j] = A[i, j] or np.nan
    q = np.tile(random.choice([0.0, 1.0], size=n), n_copies)
    case = Case(P, A, q, l, u, as_rows=draw(st.booleans()), wide=draw(st.booleans()))
    return case.permuted(random.permutation(A.shape[1]), random.permutation(A.shape[0]))


# ------------------------------------------------------------------------------------------------ the oracle
def rational(value: float, reading: Reading) -> Fraction:
    value = float(np.nan_to_num(value, posinf=np.inf, neginf=-np.inf))
    return Fraction(repr(value)) if reading == "decimal" else Fraction(value)


def oracle(case: Case, mode: Mode, reading: Reading, scale_rows: bool) -> tuple[list[int], list[int]]:
    """Naive refinement with dictionaries of fractions: no field, no hashing, no arrays."""
    m, n = case.A.shape
    A = {(i, j): rational(case.A[i, j], reading) for i in range(m) for j in range(n) if case.A[i, j] != 0}
    A = {at: value for at, value in A.items() if value}
    P = {} if case.P is None else {at: rational(x, reading) for at, x in np.ndenumerate(case.P) if x != 0}

    def bound(value: float, scale: Fraction) -> Any:
        if np.isinf(value):
            return ("infinite", (value > 0) == (scale > 0))
        return rational(value, reading) / scale

    weights = variable_weights(n, [field.images(case.q, reading)]).tolist()
    if len({value > 0 for value in A.values()}) < 2:  # nothing can cancel
        weights = [1] * n
    rows: list[Any] = []
    for i in range(m):
        scale = Fraction(1)
        if scale_rows:
            terms = [A[i, j] * weights[j] for j in range(n) if (i, j) in A]
            total, size = sum(terms, Fraction(0)), sum(map(abs, terms), Fraction(0))
            finite = [rational(b, reading) for b in (case.u[i], case.l[i]) if np.isfinite(b) and b != 0]
            by_bound = max(finite, key=abs, default=Fraction(1))
            scale = total if total and abs(total) >= size / 10**6 else by_bound
        for j in range(n):
            if (i, j) in A:
                A[i, j] /= scale
        bounds = (bound(case.l[i], scale), bound(case.u[i], scale))
        rows.append(bounds if scale > 0 else bounds[::-1])
    variables: list[Any] = [float(q) for q in case.q]
    if mode == "counting":
        variables = [(colour, P.pop((j, j), Fraction(0))) for j, colour in enumerate(variables)]

    def numbered(colours: list[Any]) -> list[int]:
        number: dict[Any, int] = {}
        return [number.setdefault(colour, len(number)) for colour in colours]

    def signature(entries: Iterator[tuple[int, Fraction]]) -> Any:
        if mode == "counting":
            return frozenset(Counter(entries).items())
        sums: dict[int, Fraction] = {}
        for colour, value in entries:
            sums[colour] = sums.get(colour, Fraction(0)) + value
        return frozenset((colour, total) for colour, total in sums.items() if total)

    variables, rows = numbered(variables), numbered(rows)
    while True:
        next_rows = numbered(
            [(rows[i], signature((variables[j], A[i, j]) for j in range(n) if (i, j) in A)) for i in range(m)]
        )
        next_variables = numbered(
            [
                (
                    variables[j],
                    signature((rows[i], A[i, j]) for i in range(m) if (i, j) in A),
                    signature((variables[k], P[j, k]) for k in range(n) if (j, k) in P),
                )
                for j in range(n)
            ]
        )
        if (next_variables, next_rows) == (variables, rows):
            return variables, rows
        variables, rows = next_variables, next_rows


def labels(found: Refinement) -> tuple[list[int], list[int]]:
    return found.variables.labels.tolist(), found.rows.labels.tolist()


# ------------------------------------------------------------------------------------------------ properties
@pytest.mark.parametrize("scale_rows", [False, True])
@pytest.mark.parametrize("mode", MODES)
@given(case=cases(), reading=st.sampled_from(["decimal", "bits"]), seed=st.integers(0, 2**64 - 1))
@settings(deadline=None, max_examples=120)
def test_kernel_reference_and_oracle_agree(
    mode: Mode, scale_rows: bool, case: Case, reading: Reading, seed: int
) -> None:
    options = {"mode": mode, "reading": reading, "scale_rows": scale_rows, "seed": seed}
    found = refine(*case.arguments(reading), **options)  # type: ignore[arg-type]
    slow = refine_slowly(*case.arguments(reading), **options)  # type: ignore[arg-type]
    assert labels(found) == (slow.variable_labels.tolist(), slow.row_labels.tolist())
    assert labels(found) == oracle(case, mode, reading, scale_rows)
    if found.variables.is_discrete and found.rows.is_discrete and np.all(found.row_scales == 1.0):
        assert np.all(found.row_scale_images == 1)  # told apart before rows had to be divided
        return
    np.testing.assert_allclose(found.row_scales, slow.row_scales, rtol=1e-12)
    np.testing.assert_array_equal(found.row_scale_images, slow.row_scale_images)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("by_rows", [False, True])
def test_distinct_costs_leave_only_rows_to_compare_whatever_P_holds(mode: Mode, by_rows: bool) -> None:
    random = np.random.default_rng(5)
    P = np.ones((12, 12)) + np.diag(random.integers(1, 3, 12))
    A = np.repeat(random.integers(-2, 3, (4, 12)), 2, axis=0) * np.array([1, 2] * 4)[:, None]
    l, u = np.full(8, -np.inf), np.array([1.0, 2.0] * 4)
    matrix = (sparse.csr_array if by_rows else sparse.csc_array)(A.astype(float))
    for costs in (np.arange(12.0), np.r_[0.0, np.arange(11.0)]):
        arguments: tuple[Any, ...] = (
            sparse.csc_array(P), matrix, [field.images(costs)], field.images(l), field.images(u), l, u,
        )  # fmt: skip
        for scale_rows in (False, True):
            found = refine(*arguments, mode=mode, scale_rows=scale_rows)
            slow = refine_slowly(*arguments, mode=mode, reading="decimal", scale_rows=scale_rows)
            assert labels(found) == (slow.variable_labels.tolist(), slow.row_labels.tolist())
            assert found.rows.n_classes == (4 if scale_rows else 8)


@needs_core
@pytest.mark.parametrize("wrong", [np.inf, np.nan])
def test_entries_of_P_that_are_not_finite_are_refused_where_costs_are_distinct_too(wrong: float) -> None:
    P = np.ones((5, 5))
    P[3, 2] = P[2, 3] = wrong
    nothing = np.zeros(0)
    words = field.images(nothing)
    with pytest.raises(ValueError, match=r"an entry of a matrix is infinite|a value is NaN"):
        refine(
            sparse.csc_array(P),
            sparse.csr_array((0, 5)),
            [field.images(np.arange(5.0))],
            words,
            words,
            nothing,
            nothing,
        )


@given(case=cases(), random_seed=st.integers(0, 2**32), mode=st.sampled_from(MODES))
@settings(deadline=None, max_examples=80)
def test_classes_move_with_a_permutation_and_do_not_depend_on_seed_or_orientation(
    case: Case, random_seed: int, mode: Mode
) -> None:
    random = np.random.default_rng(random_seed)
    m, n = case.A.shape
    columns, rows = random.permutation(n), random.permutation(m)
    moved = replace(case.permuted(columns, rows), as_rows=not case.as_rows, wide=not case.wide)
    before = refine(*case.arguments("decimal"), mode=mode, seed=0)
    after = refine(*moved.arguments("decimal"), mode=mode, seed=random_seed)
    assert after.variables == Partition.from_labels(before.variables.labels[columns])
    assert after.rows == Partition.from_labels(before.rows.labels[rows])


@given(case=cases())
@settings(deadline=None, max_examples=80)
def test_counting_refines_equitable_and_scaling_only_merges(case: Case) -> None:
    found = {
        (mode, scaled): refine(*case.arguments("decimal"), mode=mode, scale_rows=scaled)
        for mode in MODES
        for scaled in (False, True)
    }
    for scaled in (False, True):
        assert found["counting", scaled].variables.refines(found["equitable", scaled].variables)
        assert found["counting", scaled].rows.refines(found["equitable", scaled].rows)
    for mode in MODES:
        assert found[mode, False].variables.refines(found[mode, True].variables)
        assert found[mode, False].rows.refines(found[mode, True].rows)


def test_unsorted_indices_change_nothing() -> None:
    random = np.random.default_rng(3)
    A = sparse.csc_array(np.where(random.random((40, 30)) < 0.2, random.random((40, 30)), 0.0))
    shuffled = A.copy()
    for j in range(30):
        part = slice(A.indptr[j], A.indptr[j + 1])
        order = random.permutation(A.indptr[j + 1] - A.indptr[j])
        shuffled.indices[part], shuffled.data[part] = A.indices[part][order], A.data[part][order]
    assert colour_refinement(A.toarray()) == _pattern(shuffled)


def _pattern(A: Any) -> tuple[Partition, Partition]:
    zeros = np.zeros(A.shape[0])
    words = zeros.astype(np.uint64)
    found = refine(None, A, [], words, words, zeros, zeros, scale_rows=False)
    return found.rows, found.variables


# ------------------------------------------------------------------------------------------------ examples
def mixture_of_permutations(n: int = 1000) -> Any:
    random = np.random.default_rng(1)
    A = sparse.csr_array((n, n))
    for weight in (0.1, 0.2, 0.3, 0.7):
        A = A + sparse.csr_array((np.full(n, weight), (np.arange(n), random.permutation(n))), shape=(n, n))
    return A.tocsr()


@pytest.mark.parametrize("scale_rows", [False, True])
def test_mixture_of_permutation_matrices_has_one_class_of_rows_and_one_of_columns(scale_rows: bool) -> None:
    l, u = np.full(1000, -np.inf), np.ones(1000)
    arguments: tuple[Any, ...] = (None, mixture_of_permutations(), [], field.images(l), field.images(u), l, u)
    found = refine(*arguments, scale_rows=scale_rows)
    assert (found.variables.n_classes, found.rows.n_classes) == (1, 1)
    by_bits = refine(*arguments, scale_rows=scale_rows, reading="bits")
    assert by_bits.variables.n_classes + by_bits.rows.n_classes > 2
    counted = refine(*arguments, scale_rows=scale_rows, mode="counting")
    assert (counted.variables.n_classes, counted.rows.n_classes) == (1000, 1000)


def test_rows_are_compared_up_to_a_factor() -> None:
    """2x <= 2, y <= 1 and -z >= -1 say the same."""
    A = sparse.csr_array(np.diag([2.0, 1.0, -1.0]))
    l, u = np.array([-np.inf, -np.inf, -1.0]), np.array([2.0, 1.0, np.inf])
    arguments: tuple[Any, ...] = (None, A, [], field.images(l), field.images(u), l, u)
    for mode in MODES:
        assert labels(refine(*arguments, mode=mode)) == ([0, 0, 0], [0, 0, 0])
        assert labels(refine(*arguments, mode=mode, scale_rows=False)) == ([0, 1, 2], [0, 1, 2])


def test_sums_are_decimal_unless_bits_are_asked_for() -> None:
    """Rows .1 + .2 and .3, and columns that agree as well."""
    A = sparse.csr_array([[0.1, 0.2], [0.2, 0.1], [0.3, 0.0], [0.0, 0.3]])
    assert _pattern(A)[0].n_classes == 1
    rows, _ = colour_refinement(A, values="bits")
    assert rows.labels.tolist() == [0, 0, 1, 1]


def test_running_example_of_the_paper() -> None:
    Q = np.array([[1, 0, -1, 0], [0, 2, 0, -2], [-1, 0, 1, 0], [0, -2, 0, 2]])
    assert one_partition(colour_refinement(Q)).labels.tolist() == [0, 0, 0, 0]
    assert one_partition(colour_refinement(Q, mode="counting")).labels.tolist() == [0, 1, 0, 1]


# ------------------------------------------------------------------------------------------------ large ones
def graph_of(n: int, source: Any, target: Any, seed: int = 0) -> tuple[Any, NDArray[np.int64]]:
    """A shuffled graph and the new name of each vertex."""
    names = np.random.default_rng(seed).permutation(n)
    matrix = sparse.coo_array((np.ones(len(source)), (names[source], names[target])), shape=(n, n))
    return (matrix + matrix.T).tocsc(), names


@needs_core
def test_long_path_is_folded_in_half() -> None:
    n = 200_001
    path, names = graph_of(n, np.arange(n - 1), np.arange(1, n))
    expected = np.empty(n, dtype=np.int64)
    expected[names] = np.minimum(np.arange(n), n - 1 - np.arange(n))
    assert colour_refinement(path) == Partition.from_labels(expected)


@needs_core
def test_full_binary_tree_has_one_class_for_each_depth() -> None:
    child = np.arange(1, 2**16 - 1)
    tree, names = graph_of(2**16 - 1, child, (child - 1) // 2)
    depth = np.empty(2**16 - 1, dtype=np.int64)
    depth[names] = np.floor(np.log2(np.arange(1, 2**16))).astype(np.int64)
    assert colour_refinement(tree) == Partition.from_labels(depth)


def large_cases() -> Iterator[Any]:
    random = np.random.default_rng(5)
    grid = np.arange(120 * 121).reshape(120, 121)
    source = np.concatenate([grid[1:].ravel(), grid[:, 1:].ravel()])
    target = np.concatenate([grid[:-1].ravel(), grid[:, :-1].ravel()])
    yield pytest.param(graph_of(grid.size, source, target)[0], None, id="grid")
    cubic = random.permutation(np.repeat(np.arange(12_000), 3)).reshape(-1, 2)
    yield pytest.param(graph_of(12_001, np.append(cubic[:, 0], 0), np.append(cubic[:, 1], 12_000))[0], None, id="cubic")
    numbers = {"one": np.ones(1), "few": np.array([1.0, -2.0, 0.1]), "many": random.normal(size=5000)}
    for name, values in numbers.items():
        for density in (1.2, 3.0):
            row, column = random.integers(9000, size=(2, int(9000 * density)))
            data = random.choice(values, size=row.size)
            block = sparse.coo_array((data, (row, column)), shape=(9000, 9000)).tocsc()
            A = sparse.block_diag([block, block], format="csr")
            yield pytest.param(None, sparse.csc_array(A), id=f"copies-{name}-{density}")
            yield pytest.param(None, sparse.csr_array(A), id=f"copies-{name}-{density}-by-rows")


@needs_core
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("P", "A"), list(large_cases()))
def test_kernel_and_reference_agree_on_thousands_of_classes(P: Any, A: Any, mode: Mode) -> None:
    A = sparse.csc_array((0, P.shape[0])) if A is None else A
    l, u = np.full(A.shape[0], -np.inf), np.ones(A.shape[0])
    arguments: tuple[Any, ...] = (P, A, [], field.images(l), field.images(u), l, u)
    for scale_rows in (False, True) if P is None else (False,):
        found = refine(*arguments, mode=mode, scale_rows=scale_rows)
        slow = refine_slowly(*arguments, mode=mode, reading="decimal", scale_rows=scale_rows)
        assert found.variables.labels.tolist() == slow.variable_labels.tolist()
        assert found.rows.labels.tolist() == slow.row_labels.tolist()
        assert found.variables.n_classes > 3000
        assert found.statistics.engine == "compiled"
        assert found.statistics.extra_bytes > 0


def cubic_edges_with_pendant(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    ends = np.random.default_rng(11).permutation(np.repeat(np.arange(n), 3)).reshape(-1, 2)
    ends = ends[ends[:, 0] != ends[:, 1]]
    return np.append(ends[:, 0], 0), np.append(ends[:, 1], n)


@needs_core
@pytest.mark.parametrize("scale_rows", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_rounds_come_back_when_the_cells_fall_apart(mode: Mode, scale_rows: bool) -> None:
    """A random cubic graph with one odd vertex, as P and as the incidence matrix of its edges."""
    n = 20_000
    source, target = cubic_edges_with_pendant(n)
    edge, names = np.arange(source.size), np.random.default_rng(2).permutation(n + 1)
    P, _ = graph_of(n + 1, source, target)
    incidence = sparse.coo_array(
        (np.tile([0.1, 0.3], (source.size, 1)).T.ravel(), (names[np.append(source, target)], np.append(edge, edge)))
    ).tocsc()
    none, zeros = np.empty(0), np.zeros(n + 1)
    for graph, A, bounds in ((P, sparse.csc_array((0, n + 1)), none), (None, incidence, zeros)):
        words = bounds.astype(np.uint64)
        arguments: tuple[Any, ...] = (graph, A, [], words, words, bounds, bounds)
        found = refine(*arguments, mode=mode, scale_rows=scale_rows)
        slow = refine_slowly(*arguments, mode=mode, reading="decimal", scale_rows=scale_rows)
        assert found.variables.labels.tolist() == slow.variable_labels.tolist()
        assert found.rows.labels.tolist() == slow.row_labels.tolist()
    found = refine(P, sparse.csc_array((0, n + 1)), [], none.astype(np.uint64), none.astype(np.uint64), none, none)
    assert found.statistics.splitters > 0
    assert found.statistics.rounds > 1


def programs_that_start_apart() -> Iterator[Any]:
    """Programs whose costs or sides tell most vertices apart from the start, or all, and rounds do the rest."""
    random = np.random.default_rng(8)
    n, m = 40_000, 20_000
    row, column = random.integers(m, size=3 * n), np.repeat(np.arange(n), 3)
    few, many = random.choice([1.0, 2.5, -3.0], size=row.size), random.normal(size=row.size)
    for values, data in (("few", few), ("many", many)):
        A = sparse.coo_array((data, (row, column)), shape=(m, n)).tocsc()
        costs = {"all": np.arange(n) / 100, "half": np.arange(n) // 2 / 100, "pairs": random.integers(n, size=n) / 8}
        for name, q in costs.items():
            yield pytest.param(None, A, q, np.ones(m), id=f"{values}-{name}")
        yield pytest.param(None, A.tocsr(), costs["half"], np.arange(m) / 7, id=f"{values}-sides")
        yield pytest.param(sparse.diags_array(np.ones(n)).tocsc(), A, costs["pairs"], np.ones(m), id=f"{values}-curved")
    A = sparse.coo_array((few, (row, column)), shape=(m, n)).tocsc()
    copies = sparse.block_diag([A[:, : n // 2]] * 2, format="csc")
    yield pytest.param(None, copies, np.tile(np.arange(n // 2) / 100, 2), np.ones(2 * m), id="copies")
    empty = sparse.csc_array((m, n))
    yield pytest.param(None, empty, np.arange(n) / 100, np.repeat(np.arange(m // 2), 2), id="empty rows")


@needs_core
@pytest.mark.parametrize("scale_rows", [False, True])
@pytest.mark.parametrize(("P", "A", "q", "u"), list(programs_that_start_apart()))
def test_kernel_and_reference_agree_where_most_are_told_apart_at_once(
    P: Any, A: Any, q: NDArray[np.float64], u: NDArray[np.float64], scale_rows: bool
) -> None:
    l, u = np.full(A.shape[0], -np.inf), np.asarray(u, dtype=float)
    arguments: tuple[Any, ...] = (P, A, [field.images(q)], field.images(l), field.images(u), l, u)
    found = refine(*arguments, scale_rows=scale_rows)
    slow = refine_slowly(*arguments, mode="equitable", reading="decimal", scale_rows=scale_rows)
    assert found.variables.labels.tolist() == slow.variable_labels.tolist()
    assert found.rows.labels.tolist() == slow.row_labels.tolist()


@needs_core
def test_variables_that_are_all_told_apart_from_the_start_need_one_look_at_rows_that_may_be_multiples() -> None:
    n = 30_000
    u = np.ones(n + 1)
    words = field.images(u)
    single = sparse.diags_array(np.ones(n)).tocsr()
    for last, rounds in (([0, 1], 0.0), ([0], 0.5)):  # the last row has columns of its own, or those of the first
        more = sparse.csr_array((np.ones(len(last)), (np.zeros(len(last), int), last)), shape=(1, n))
        A = sparse.vstack([single, more], format="csr")
        found = refine(None, A, [field.images(np.arange(n) / 10)], words, words, u, u, scale_rows=False)
        assert found.variables.n_classes == n
        assert found.rows.n_classes == n + len(last) - 1
        assert (found.statistics.rounds, found.statistics.splitters) == (rounds, 0)


# ------------------------------------------------------------------------------------------------ without the core
def test_reference_takes_over_where_the_core_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(field, "CORE_IS_COMPILED", False)
    assert not core_is_compiled()
    both = colour_refinement([[0.1, 0.2], [0.2, 0.1], [0.3, 0.0], [0.0, 0.3]])
    assert isinstance(both, tuple)
    assert [side.n_classes for side in both] == [1, 1]
    A, none = sparse.csc_array((0, 2)), np.empty(0)
    seen: list[tuple[str, int, int]] = []
    words = none.astype(np.uint64)
    found = refine(None, A, [], words, words, none, none, progress=lambda *event: seen.append(event))
    assert found.statistics.engine == "numpy"
    assert seen == [("rounds", 1, 1)]


# ------------------------------------------------------------------------------------------------ interruption
LARGE_PATH = """
import numpy as np, sys
from scipy import sparse
from relift.symmetry.colour_refinement import colour_refinement, refine
n = 3_000_000
random = np.random.default_rng(0)
names = random.permutation(n).astype(np.int32)
half = sparse.coo_array((np.ones(n - 1), (names[:-1], names[1:])), shape=(n, n))
path = (half + half.T).tocsc()
none = np.empty(0)
words = none.astype(np.uint64)
"""


@needs_core
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_stops_a_refinement() -> None:
    script = LARGE_PATH + textwrap.dedent("""
        told = []
        def progress(*event):
            if not told:
                print("in the core", flush=True)
            told.append(event)
        try:
            while True:
                refine(path, sparse.csc_array((0, n)), [], words, words, none, none, progress=progress)
        except KeyboardInterrupt:
            print("stopped", flush=True)
    """)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "in the core\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopped\n"
        assert process.wait(timeout=300) == 0


@needs_core
@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_exhausted_memory_is_an_error_and_no_crash() -> None:
    script = LARGE_PATH + textwrap.dedent("""
        import resource
        from relift import _core
        labels = np.empty(n, dtype=np.int64)
        pages = int(open("/proc/self/statm").read().split()[0])
        limit = pages * resource.getpagesize() + 30_000_000
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        try:
            _core.refine(
                (path.indptr, path.indices, path.data), (np.zeros(n + 1, dtype=np.int32), path.indices[:0], none),
                False, n, 0, (), (words, words), (none, none), False, True, False, 0, 2, None,
                labels, labels[:0], none, words,
            )
        except MemoryError:
            print("refused")
    """)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "refused\n"), run.stderr


@needs_core
def test_progress_is_told_and_what_it_raises_comes_through() -> None:
    n = 2_000_000
    path = sparse.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1], format="csc")
    none = np.empty(0)
    words = none.astype(np.uint64)
    seen: list[tuple[str, int, int]] = []

    def progress(*event: Any) -> None:
        seen.append(event)
        if len(seen) == 2:
            raise RuntimeError("enough")

    def refine_for_long() -> None:
        for _ in range(1000):
            refine(path, sparse.csc_array((0, n)), [], words, words, none, none, progress=progress)

    with pytest.raises(RuntimeError, match="enough"):
        refine_for_long()
    assert len(seen) == 2
    assert {phase for phase, _, _ in seen} <= {"rounds", "worklist"}


# ------------------------------------------------------------------------------------------------ refusals
@needs_core
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda A: A.indices.__setitem__(0, 7), "an index lies outside the matrix"),
        (lambda A: A.indices.__setitem__(0, -1), "an index lies outside the matrix"),
        (lambda A: A.indptr.__setitem__(1, 99), "indptr decreases"),
        (lambda A: A.indptr.__setitem__(-1, 99), "indptr ends behind the indices or the values"),
        (lambda A: A.indptr.__setitem__(0, 1), "indptr does not start at 0"),
        (lambda A: A.data.__setitem__(0, np.nan), "a value is NaN"),
        (lambda A: A.data.__setitem__(0, np.inf), "an entry of a matrix is infinite"),
    ],
)
@pytest.mark.parametrize("mode", MODES)
def test_malformed_matrices_are_refused(spoil: Callable[[Any], None], message: str, mode: Mode) -> None:
    A = sparse.csc_array(np.arange(1.0, 7.0).reshape(2, 3))
    spoil(A)
    zeros, words = np.zeros(2), np.zeros(2, dtype=np.uint64)
    with pytest.raises(ValueError, match=message):
        refine(None, A, [], words, words, zeros, zeros, mode=mode)


@needs_core
def test_core_checks_types_and_lengths_by_itself() -> None:
    from relift import _core

    with pytest.raises(ValueError, match="out has a wrong type or length"):
        _core.images(np.zeros(3), True, np.zeros(2, dtype=np.uint64))
    with pytest.raises(ValueError, match="values has a wrong type or length"):
        _core.images(np.zeros(3, dtype=np.float32), True, np.zeros(3, dtype=np.uint64))
    words = np.zeros(3, dtype=np.uint64)
    words.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        _core.images(np.zeros(3), True, words)
    matrix = np.zeros(2, dtype=np.int32), np.zeros(1, dtype=np.int32), np.ones(1)
    words, floats, ints = np.zeros(1, dtype=np.uint64), np.zeros(1), np.zeros(1, dtype=np.int64)
    rest = (False, True, False, 0, 1, None, ints, ints, floats, words)
    with pytest.raises(ValueError, match="indptr has a wrong type or length"):
        _core.refine(None, matrix, False, 5, 1, (), (words, words), (floats, floats), *rest)
    with pytest.raises(ValueError, match=r"2\^30"):
        _core.refine(None, matrix, False, 1 << 30, 1, (), (words, words), (floats, floats), *rest)
    with pytest.raises(ValueError, match="bounds of the rows are missing"):
        _core.refine(None, matrix, False, 1, 1, (), (words,), (floats, floats), *rest)


def test_arguments_that_do_not_fit_are_refused() -> None:
    A, words, zeros = sparse.csc_array(np.eye(2)), np.zeros(2, dtype=np.uint64), np.zeros(2)
    with pytest.raises(ShapeError, match=r"P has shape \(3, 3\) beside A of shape \(2, 2\)\."):
        refine(sparse.csc_array(np.eye(3)), A, [], words, words, zeros, zeros)
    with pytest.raises(ShapeError, match=r"variable_images has shape \(3,\), not \(2,\)\."):
        refine(None, A, [np.zeros(3, dtype=np.uint64)], words, words, zeros, zeros)
    with pytest.raises(ShapeError, match=r"u has shape \(3,\), not \(2,\)\."):
        refine(None, A, [], words, words, zeros, np.zeros(3))
    with pytest.raises(OptionError, match="mode='sum' is not valid"):
        refine(None, A, [], words, words, zeros, zeros, mode="sum")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="values='float' is not valid"):
        colour_refinement(A, values="float")  # type: ignore[call-overload]
    with pytest.raises(OptionError, match="scale_rows=True does not apply"):
        colour_refinement(A, scale_rows=True)
    with pytest.raises(ShapeError, match="colours has 3 elements for 2 vertices"):
        colour_refinement(A, [1, 2, 3])
    with pytest.raises(ShapeError, match="the matrix has 1 dimensions"):
        colour_refinement([1.0, 2.0])  # type: ignore[list-item]


# ------------------------------------------------------------------------------------------------ the public face
def test_directed_cycle_and_path() -> None:
    cycle = np.roll(np.eye(5), 1, axis=1)
    assert one_partition(colour_refinement(cycle)).n_classes == 1
    cycle[4, 0] = 0
    assert one_partition(colour_refinement(cycle)).labels.tolist() == [0, 1, 2, 3, 4]


def test_directed_vertices_agree_in_what_goes_in_and_what_comes_out() -> None:
    """Two arcs: 0 -> 1 and 2 -> 3; sources and sinks are told apart, the two arcs are not."""
    matrix = np.zeros((4, 4))
    matrix[0, 1] = matrix[2, 3] = 1.0
    assert one_partition(colour_refinement(matrix)).labels.tolist() == [0, 1, 0, 1]
    assert one_partition(colour_refinement(matrix, mode="counting")).labels.tolist() == [0, 1, 0, 1]
    assert one_partition(colour_refinement(matrix, ["a", "b", "c", "b"])).labels.tolist() == [0, 1, 2, 3]
    matrix[3, 3] = 2.0
    assert one_partition(colour_refinement(matrix, mode="counting")).n_classes == 4


def test_square_matrix_with_row_colours_is_taken_as_rectangular() -> None:
    rows, columns = colour_refinement(np.eye(2), row_colours=["x", "y"])
    assert rows.labels.tolist() == columns.labels.tolist() == [0, 1]


def test_colours_may_be_anything_hashable() -> None:
    edgeless = np.zeros((4, 4))
    assert one_partition(colour_refinement(edgeless, [-1, -2, -1, -2])).labels.tolist() == [0, 1, 0, 1]
    assert one_partition(colour_refinement(edgeless, ["a", (1, 2), None, "a"])).labels.tolist() == [0, 1, 2, 0]
    assert one_partition(colour_refinement(edgeless, np.array([3, 3, 1, 3]))).labels.tolist() == [0, 0, 1, 0]


def test_parallel_entries_are_added() -> None:
    ends = ([0, 0, 1, 1, 1, 2], [1, 1, 0, 0, 2, 1])
    doubled = sparse.coo_array(([0.1, 0.2, 0.1, 0.2, 0.3, 0.3], ends), shape=(3, 3))
    assert one_partition(colour_refinement(doubled)).labels.tolist() == [0, 1, 0]


def test_networkx_graphs() -> None:
    networkx = pytest.importorskip("networkx")
    assert colour_refinement(networkx.petersen_graph()).n_classes == 1
    assert colour_refinement(networkx.path_graph(5)).labels.tolist() == [0, 1, 2, 1, 0]
    assert colour_refinement(networkx.Graph()).size == 0
    graph = networkx.Graph()
    graph.add_weighted_edges_from([("a", "b", 0.3), ("b", "c", 0.1), ("b", "c", 0.2)])
    assert one_partition(colour_refinement(graph)).n_classes == 3
    multigraph = networkx.MultiGraph()
    multigraph.add_weighted_edges_from([("a", "b", 0.3), ("b", "c", 0.1), ("b", "c", 0.2)])
    assert one_partition(colour_refinement(multigraph)).labels.tolist() == [0, 1, 0]
    assert colour_refinement(multigraph, {"a": 1, "b": 1, "c": 2}).n_classes == 3
    assert colour_refinement(networkx.DiGraph([(0, 1), (1, 2), (2, 0)])).n_classes == 1
    assert colour_refinement(networkx.DiGraph([(0, 1), (1, 2)])).n_classes == 3


def test_igraph_graphs() -> None:
    igraph = pytest.importorskip("igraph")
    assert colour_refinement(igraph.Graph.Famous("Petersen")).n_classes == 1
    assert colour_refinement(igraph.Graph.Ring(5, circular=False)).labels.tolist() == [0, 1, 2, 1, 0]
    weighted = igraph.Graph(3, [(0, 1), (1, 2), (1, 2)])
    weighted.es["weight"] = [0.3, 0.1, 0.2]
    assert one_partition(colour_refinement(weighted)).labels.tolist() == [0, 1, 0]
    assert colour_refinement(igraph.Graph(3, [(0, 1), (1, 2)], directed=True)).n_classes == 3
    assert colour_refinement(igraph.Graph(2, [(0, 0)])).n_classes == 2


@needs_core
def test_classes_of_random_graphs_agree_with_naive_rounds() -> None:
    """Sorted neighbour colours, round by round, with Python's own dictionaries."""
    networkx = pytest.importorskip("networkx")
    for seed in range(5):
        graph = networkx.gnp_random_graph(60, 0.05, seed=seed)
        colour = dict.fromkeys(graph, 0)
        for _ in range(60):
            seen: dict[Any, int] = {}
            colour = {
                v: seen.setdefault((colour[v], tuple(sorted(colour[w] for w in graph[v]))), len(seen)) for v in graph
            }
        assert colour_refinement(graph) == Partition.from_labels(list(colour.values()))


@needs_core
def test_refinement_ends_clearly_beyond_the_classes_that_are_of_use_and_not_before() -> None:
    blocks = sparse.csr_array(sparse.kron(sparse.eye_array(50), np.ones((4, 4))))
    bounds, words = np.ones(200), field.images(np.repeat(np.arange(50.0), 4))
    image = field.images(bounds)

    def found(most_classes: int | None) -> tuple[int, int]:
        classes = refine(None, blocks, [words], image, image, bounds, bounds, most_classes=most_classes)
        return classes.variables.n_classes, classes.rows.n_classes

    assert found(None) == found(100) == found(80) == (50, 50)  # a fifth more might be an error of an estimate
    assert found(79) == (200, 200)
