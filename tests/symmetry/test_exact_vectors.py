"""Exact images of vectors: those of a large program are read when they are first asked for, and once."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.fuzz.draw_programs import drawn_program

import relift
from relift import Program
from relift.arrays import FieldElements, Vector
from relift.lifting.lifting import lift
from relift.settings import LiftSettings, Reading
from relift.symmetry import exact_vectors, scaled_search
from relift.symmetry import finite_field as field
from relift.symmetry.colour_refinement import Start, start_in_floats
from relift.symmetry.exact_vectors import NAMES, SMALL, GivenVector, VectorImages
from relift.testing.random_programs import random_program

SEEDS = st.integers(0, 10**9)
NEEDS_CORE = pytest.mark.skipif(not field.CORE_IS_COMPILED, reason="the core is not compiled")
NUMBERS = np.array([0.0, -0.0, 0.1, -2.5, 1e-300, 3.0, np.inf, -np.inf])


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many numbers are read at a time."""
    sizes: list[int] = []
    images = field.images

    def counted(values: Vector, reading: Reading = "decimal") -> FieldElements:
        sizes.append(np.size(values))
        return images(values, reading)

    monkeypatch.setattr(field, "images", counted)
    return sizes


def program_of(size: int, seed: int = 0) -> Program:
    random = np.random.default_rng(seed)
    q, l, lb, ub = (random.choice(NUMBERS[:-2], size) for _ in range(4))
    return Program(q=q, A=sparse.eye_array(size), l=l, u=l + 1.0, lb=np.minimum(lb, ub), ub=np.maximum(lb, ub))


@settings(max_examples=100, deadline=None)
@given(seed=SEEDS, reading=st.sampled_from(["decimal", "bits"]), size=st.sampled_from([1, 5, SMALL + 1]))
def test_vectors_read_later_are_those_read_at_once(seed: int, reading: Reading, size: int) -> None:
    random = np.random.default_rng(seed)
    vector = random.choice(random.choice(NUMBERS, int(random.integers(1, 4))), size)
    words = GivenVector(vector, reading).words
    assert np.array_equal(words, field.images(vector, reading))
    assert (words.strides == (0,)) == (size > SMALL and bool(np.all(vector == vector[0])))


def test_small_programs_are_read_in_one_go_and_vectors_of_others_when_they_are_asked_for(read: list[int]) -> None:
    small = program_of(SMALL // 5)
    VectorImages.of(small, "decimal")
    assert read == [5 * (SMALL // 5)]
    read.clear()
    images = VectorImages.of(program_of(SMALL // 5 + 1), "decimal")
    assert read == []
    assert images.q is images.q
    assert read == [SMALL // 5 + 1]


def test_equal_bounds_of_rows_are_read_once(read: list[int]) -> None:
    program = program_of(SMALL)
    images = VectorImages.of(program.replace(u=program.l.copy()), "decimal")
    assert images.l is images.u
    assert read == [SMALL]


def test_a_vector_that_two_programs_have_in_common_is_read_once_by_whoever_asks_first(read: list[int]) -> None:
    program = program_of(SMALL + 1)
    first = VectorImages.of(program, "decimal")
    other = program.replace(q=program.q + 1.0, lb=program.lb.copy())
    second = VectorImages.of(other, "decimal", (program, first))
    assert second.shares(first, "l", "u", "lb", "ub", "b")
    assert not second.shares(first, "q")
    assert not second.shares(first, "l", "q")
    assert read == []
    assert second.lb is first.lb
    assert read == [SMALL + 1]
    assert np.array_equal(second.q, field.images(other.q))
    third = second.but(q=first.exact("q"))
    assert third.q is first.q
    assert third.lb is first.lb


def test_what_was_read_lets_its_floats_go() -> None:
    vector = GivenVector(np.arange(5.0), "decimal")
    assert np.array_equal(vector.words, field.images(np.arange(5.0)))
    assert vector._vector is None


@pytest.mark.parametrize("asks_before", [False, True])
def test_images_survive_copies_and_pickles(asks_before: bool) -> None:
    program = program_of(SMALL)
    images = VectorImages.of(program, "decimal")
    if asks_before:
        assert images.q.size == SMALL
    for other in (copy.copy(images), copy.deepcopy(images), pickle.loads(pickle.dumps(images))):
        for name in NAMES:
            assert np.array_equal(getattr(other, name), getattr(images, name))


def test_what_images_do_not_have_is_no_attribute() -> None:
    images = VectorImages.of(program_of(3), "decimal")
    assert not hasattr(images, "x")
    with pytest.raises(AttributeError, match="no attribute 'x'"):
        VectorImages.of(program_of(SMALL), "decimal").x  # type: ignore[attr-defined]  # noqa: B018


def test_threads_that_ask_at_the_same_time_get_the_same_images() -> None:
    for _ in range(20):
        vector, together = GivenVector(np.random.default_rng(0).random(20_000), "decimal"), Barrier(2)

        def ask(vector: GivenVector = vector, together: Barrier = together) -> FieldElements:
            together.wait()
            return vector.words

        with ThreadPoolExecutor(2) as pool:
            first, second = (each.result() for each in [pool.submit(ask), pool.submit(ask)])
        assert first is second


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, is_drawn=st.booleans(), searches=st.booleans())
def test_classes_are_the_same_whether_vectors_are_read_later_or_not(seed: int, is_drawn: bool, searches: bool) -> None:
    random = np.random.default_rng(seed)
    program = drawn_program(random).program() if is_drawn else random_program(seed, quadratic=seed % 2 == 0)
    with pytest.MonkeyPatch.context() as patch:
        if searches:  # as in large programs
            patch.setattr(scaled_search, "SMALL", 0)
            patch.setattr(scaled_search, "ASKING_AGAIN", 0)
        at_once = lift(program)
        patch.setattr(exact_vectors, "SMALL", -1)
        later = lift(program)
        assert later.symmetry.variables == at_once.symmetry.variables
        assert later.symmetry.rows == at_once.symmetry.rows
        assert later.symmetry.cones == at_once.symmetry.cones
        for name in NAMES:
            assert np.array_equal(getattr(later.reduction.images, name), getattr(at_once.reduction.images, name))
        again = later.update(q=program.q.copy())
        assert again.symmetry.variables == at_once.update(q=program.q.copy()).symmetry.variables


@NEEDS_CORE
def test_a_large_program_whose_costs_are_all_different_is_lifted_without_reading_them(read: list[int]) -> None:
    random, n = np.random.default_rng(3), 12_000
    A = sparse.eye_array(n - 1, n) + sparse.diags_array([random.uniform(1, 2, n - 1)], offsets=[1], shape=(n - 1, n))
    program = Program(q=random.uniform(1, 2, n), A=A, l=random.uniform(0, 1, n - 1), lb=0, ub=random.uniform(5, 9, n))
    lifting = lift(program)
    assert lifting.is_trivial
    assert read == []
    assert lifting.update(q=2.0 * program.q).is_trivial
    assert read == []


# --- whether numbers as floats tell all apart ---------------------------------------------------------------------


def started(program: Program) -> Start:
    numbers = [(vector, GivenVector(vector, "decimal")) for vector in (program.q, program.lb, program.ub)]
    found, classes = start_in_floats(program.P, program.A, numbers)
    assert (classes is None) == (found != Start.APART)
    if classes is not None:
        assert classes.variables.is_discrete
        assert classes.rows.is_discrete
    return found


@NEEDS_CORE
@settings(max_examples=200, deadline=None)
@given(seed=SEEDS, n=st.integers(1, 60))
def test_numbers_tell_variables_apart_where_no_two_have_the_same(seed: int, n: int) -> None:
    random = np.random.default_rng(seed)
    some = random.choice(NUMBERS[:-2], 3)
    q, lb = (random.permutation(n) * 0.1 if random.random() < 0.4 else random.choice(some, n) for _ in range(2))
    program = Program(q=q, A=np.ones((1, n)), l=1, lb=lb, ub=np.maximum(lb, 0.0) + random.choice([1.0, 2.0]))
    kinds = np.unique(np.stack([program.q, program.lb, program.ub]) + 0.0, axis=1).shape[1]  # -0.0 is 0.0
    assert started(program) == (Start.APART if kinds == n else Start.ALIKE)


@NEEDS_CORE
def test_rows_with_double_entries_or_without_finite_ones_are_left_open() -> None:
    costs = np.array([1.0, 2.0])
    double = sparse.csr_array((np.array([1.0, -1.0]), np.array([0, 0]), np.array([0, 2, 2])), shape=(2, 2))
    infinite = sparse.csr_array(np.array([[np.inf, 1.0], [1.0, 1.0]]))
    for A in (double, infinite):
        assert start_in_floats(None, A, [(costs, GivenVector(costs, "decimal"))])[0] == Start.OPEN
    assert started(Program(q=costs, A=[[1, 1], [1, 2]], l=0, lb=0)) == Start.APART


def test_the_classes_of_a_program_with_two_equal_costs_are_found_as_before() -> None:
    random, n = np.random.default_rng(5), 12_000
    q = random.uniform(1, 2, n)
    q[n // 2] = q[n // 2 + 1]
    A = sparse.csr_array(np.ones((1, n)))
    program = Program(q=q, A=A, l=1.0, lb=0, ub=1.0)
    assert lift(program, LiftSettings(sizes=False, signs=False)).variables.n_classes == n - 1
    assert relift.lift(program).variables.n_classes == n - 1
