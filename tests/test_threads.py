"""Threads of the compiled passes: results do not depend on their number, and ``threads=`` is kept to."""

from __future__ import annotations

import os
from multiprocessing import get_all_start_methods, get_context
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import relift
from relift.lifting.cone_residuals import Duals
from relift.lifting.point_residuals import point_residuals
from relift.lifting.summed_entries import with_merged_columns, with_merged_columns_slowly
from relift.program import passes
from relift.program.program import Program
from relift.symmetry import finite_field as field
from relift.symmetry.colour_refinement import core_is_compiled, refine
from relift.symmetry.scaled_refinement import sharpened
from relift.symmetry.scaled_refinement_reference import sharpened_slowly
from relift.threads import LEAST_ENTRIES, available_cores, threads_for, threads_in_use, using_threads

needs_core = pytest.mark.skipif(not core_is_compiled(), reason="the compiled core is not installed")
NUMBERS = (1, 2, 3, 8)


def large_matrix(kind: str, *, by_rows: bool, seed: int = 3) -> Any:
    """A matrix with enough entries for three threads."""
    random = np.random.default_rng(seed)
    m, n, size = 30_000, 50_000, 450_000
    values = {"ones": np.ones(1), "few": np.array([1.0, 2.5, -3.0]), "many": random.normal(size=9000)}[kind]
    at = random.integers(m, size=size), random.integers(n, size=size)
    block = sparse.coo_array((random.choice(values, size=size), at), shape=(m, n))
    matrix = block.tocsr() if by_rows else block.tocsc()
    matrix.sort_indices()
    assert matrix.nnz > LEAST_ENTRIES
    return matrix


@needs_core
@pytest.mark.parametrize("mode", ["equitable", "counting"])
@pytest.mark.parametrize("by_rows", [False, True])
@pytest.mark.parametrize("kind", ["ones", "few", "many"])
def test_classes_and_scales_are_the_same_whatever_the_number_of_threads(kind: str, by_rows: bool, mode: Any) -> None:
    A = large_matrix(kind, by_rows=by_rows)
    A = sparse.block_diag([A, A], format=A.format)
    l, u = np.full(A.shape[0], -np.inf), np.ones(A.shape[0])
    arguments: tuple[Any, ...] = (None, A, [], field.images(l), field.images(u), l, u)
    for scale_rows in (False, True):
        found = []
        for number in NUMBERS:
            with using_threads(number):
                found.append(refine(*arguments, mode=mode, scale_rows=scale_rows))
        for other in found[1:]:
            assert np.array_equal(found[0].variables.labels, other.variables.labels)
            assert np.array_equal(found[0].rows.labels, other.rows.labels)
            assert np.array_equal(found[0].row_scales, other.row_scales)
            assert np.array_equal(found[0].row_scale_images, other.row_scale_images)
            assert found[0].statistics.rounds == other.statistics.rounds
        assert found[0].variables.n_classes <= A.shape[1] // 2


@needs_core
@pytest.mark.parametrize("by_rows", [False, True])
def test_passes_give_the_same_bits_whatever_the_number_of_threads(by_rows: bool) -> None:
    random = np.random.default_rng(1)
    A = large_matrix("many", by_rows=by_rows)
    x, y = random.normal(size=A.shape[1]), random.normal(size=A.shape[0])
    rows, columns = np.flatnonzero(random.random(A.shape[0]) < 0.7), np.flatnonzero(random.random(A.shape[1]) < 0.7)
    labels = random.integers(1000, size=600_000)
    firsts = np.unique(labels, return_index=True)[1]
    numbers = random.normal(size=labels.size)

    def everything(number: int) -> list[Any]:
        with using_threads(number):
            part = passes.submatrix(A, rows, columns)
            found: list[Any] = [*passes.products_and_sizes(A, x, y), *passes.scan_rows(A)]
            found += [part.indptr, part.indices, part.data]
            found += [passes.products_and_sizes(A, x, None)[0], passes.products_and_sizes(A, None, y)[2]]
            found += [passes.spread(numbers, np.ones(labels.size), firsts, labels)]
            listed = passes.entries_of(A, None if by_rows else rows, columns if by_rows else None)
            found += [listed.row, listed.column, listed.value]
            found += [passes.numbers_of_classes(labels), passes.class_sizes(labels, 1000)]
            found += [passes.are_one_number(numbers), passes.are_one_number(np.ones(labels.size), by_bits=True)]
            if not by_rows:
                form = passes.conic_form(A, (-np.abs(y), np.abs(y), -np.abs(x), np.abs(x)))
                found += [form.offsets, form.indices, form.values, form.b]
        return found

    expected = everything(1)
    for number in NUMBERS[1:]:
        for one, other in zip(expected, everything(number), strict=True):
            assert np.array_equal(one, other)


@needs_core
@pytest.mark.parametrize("n_classes", [20, 20_000])
@pytest.mark.parametrize("kind", ["ones", "few", "many"])
def test_columns_are_merged_to_the_same_bits_whatever_the_number_of_threads(kind: str, n_classes: int) -> None:
    random = np.random.default_rng(4)
    A = large_matrix(kind, by_rows=True)
    rows, labels = np.flatnonzero(random.random(A.shape[0]) < 0.9), random.integers(n_classes, size=A.shape[1])
    for w in (None, random.choice([1.0, -1.0, 0.1], A.shape[1])):
        expected = with_merged_columns_slowly(A, rows, labels, n_classes, w, 1e-14)
        for number in NUMBERS:
            with using_threads(number):
                found = with_merged_columns(A, rows, labels, n_classes, w, 1e-14)
            for part in ("indptr", "indices", "data"):
                assert np.array_equal(getattr(found, part), getattr(expected, part))


@needs_core
def test_scales_are_sharpened_to_the_same_bits_whatever_the_number_of_threads() -> None:
    random = np.random.default_rng(5)
    meant = random.choice([1.0, 0.7, -2.5, 1e-3, 3.25, 1e9], size=2 * LEAST_ENTRIES)
    computed, images = meant * (1.0 + 1e-15 * random.normal(size=meant.size)), field.images(meant)
    expected = sharpened_slowly(computed, images, "decimal")
    assert np.array_equal(expected[meant != 1], meant[meant != 1])
    for number in NUMBERS:
        with using_threads(number):
            assert np.array_equal(sharpened(computed.copy(), images, "decimal"), expected)


@needs_core
def test_residuals_have_the_same_bits_whatever_the_number_of_threads() -> None:
    random = np.random.default_rng(2)
    for by_rows in (False, True):
        A = large_matrix("few", by_rows=by_rows)
        m, n = A.shape
        P = sparse.diags_array(random.random(n)).tocsc()
        program = Program(P=P, q=random.normal(size=n), A=A, l=-np.ones(m), u=np.ones(m), lb=-1, ub=2)
        duals = Duals(random.normal(size=m), random.normal(size=n), np.zeros(0), np.zeros(0))
        x = random.normal(size=n)
        found = set()
        for number in NUMBERS:
            with using_threads(number):
                found.add(point_residuals(program, x, duals))
        assert len(found) == 1


@needs_core
@pytest.mark.parametrize("n_rows", [1 << 19, (1 << 19) + 1])
def test_bounds_that_rows_imply_are_the_same_whatever_the_number_of_threads(n_rows: int) -> None:
    random = np.random.default_rng(3)
    n = 4 * LEAST_ENTRIES  # two entries in a column; variables have one bound, and rows tell the other
    at = np.sort(random.integers(n_rows, size=(n, 2)), axis=1)
    entries = (random.uniform(-1, 1, 2 * n), at.ravel(), np.arange(0, 2 * n + 1, 2))
    A = sparse.csc_array(entries, shape=(n_rows, n))
    program = Program(
        q=random.normal(size=n),
        A=A,
        l=-np.ones(n_rows),
        u=np.ones(n_rows),
        lb=np.where(random.random(n) < 0.5, 0, -3.0),
    )
    program = program.replace(ub=np.where(random.random(n) < 0.9, 2.0, np.inf))
    duals = Duals(random.normal(size=n_rows), random.normal(size=n), np.zeros(0), np.zeros(0))
    found = set()
    for number in NUMBERS:
        with using_threads(number):
            found.add(point_residuals(program, np.arange(n) / n, duals))
    assert len(found) == 1


def large_program(kind: str, *, by_rows: bool) -> Program:
    """A program of a few kinds of variables, twice, some of which tell others their sizes and prices."""
    random = np.random.default_rng(5)
    m, n, size = 8_000, 60_000, 420_000
    if by_rows:
        m, n = n, m
    values = {"ones": np.ones(1), "few": np.array([1.0, 2.5, -3.0]), "many": random.normal(size=9000)}[kind]
    at = random.integers(m, size=size), random.integers(n, size=size)
    block = sparse.coo_array((random.choice(values, size=size), at), shape=(m, n))
    A = sparse.block_diag([block, block], format="csr" if by_rows else "csc")
    ub = np.tile(random.choice([np.inf, 1.0, 3.0], size=n), 2)
    u = np.tile(random.choice([np.inf, 10.0, 20.0], size=m), 2)
    return Program(q=np.tile(random.integers(-2, 3, n), 2).astype(float), A=A, l=-1.0, u=u, lb=0, ub=ub)


@needs_core
@pytest.mark.parametrize("by_rows", [False, True])
@pytest.mark.parametrize("kind", ["ones", "few", "many"])
def test_liftings_have_the_same_bits_whatever_the_number_of_threads(kind: str, by_rows: bool) -> None:
    program = large_program(kind, by_rows=by_rows)
    found: list[list[Any]] = []
    for number in (1, 2, 3, 4):
        lifting = relift.lift(program, threads=number)
        small, symmetry = lifting.small, lifting.quotient.symmetry
        found.append([
            symmetry.variables.labels, symmetry.rows.labels, symmetry.variable_scales, symmetry.row_scales,
            symmetry.variable_masses, symmetry.row_masses,
            small.q, small.l, small.u, small.lb, small.ub, small.A.indptr, small.A.indices, small.A.data,
        ])  # fmt: skip
    for other in found[1:]:
        for one, another in zip(found[0], other, strict=True):
            assert np.array_equal(one, another)
    assert found[0][0].max() < program.n_variables // 2


def test_threads_of_solve_hold_inside_the_call_and_not_after_it() -> None:
    program = Program(q=np.ones(3), A=np.ones((1, 3)), l=[1], lb=0)
    seen: list[int] = []
    before = threads_in_use()
    relift.solve(program, threads=before + 2, progress=lambda _: seen.append(threads_in_use()))
    assert set(seen) == {before + 2}
    assert threads_in_use() == before


@pytest.mark.parametrize("approximate", [None, 0.1])
def test_threads_of_lift_hold_inside_the_call_and_not_after_it(approximate: float | None) -> None:
    program = Program(q=np.ones(3), A=np.ones((1, 3)), l=[1], lb=0)
    seen: list[int] = []
    before = threads_in_use()
    relift.lift(program, threads=before + 2, approximate=approximate, progress=lambda _: seen.append(threads_in_use()))
    assert set(seen) == {before + 2}
    assert threads_in_use() == before


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "2"])
def test_lift_refuses_a_number_of_threads_that_is_not_positive_and_whole(number: Any) -> None:
    program = Program(q=np.ones(3), A=np.ones((1, 3)), l=[1], lb=0)
    with pytest.raises(relift.errors.OptionError) as error:
        relift.lift(program, threads=number)
    assert str(error.value) == f"threads={number!r} is out of range. Give a positive whole number, or None."


def test_without_a_choice_all_cores_of_the_process_are_used_for_what_is_large() -> None:
    assert threads_in_use() == available_cores() >= 1
    assert threads_for(LEAST_ENTRIES) == available_cores()
    assert threads_for(LEAST_ENTRIES - 1) == 1
    with using_threads(5), using_threads(None):
        assert threads_in_use() == 5
    if hasattr(os, "sched_getaffinity"):
        assert available_cores() == len(os.sched_getaffinity(0))


def _n_classes(number: int) -> int:
    A = large_matrix("few", by_rows=False)
    l, u = np.full(A.shape[0], -np.inf), np.ones(A.shape[0])
    with using_threads(number):
        return refine(None, A, [], field.images(l), field.images(u), l, u).variables.n_classes


@needs_core
@pytest.mark.skipif("fork" not in get_all_start_methods(), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
def test_a_process_that_has_used_threads_may_fork() -> None:
    expected = _n_classes(2)
    with get_context("fork").Pool(1) as pool:
        assert pool.apply(_n_classes, (2,)) == expected
