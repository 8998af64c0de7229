"""Looks before a search up to scale say what their slow twins say, and no class is lost by what they let out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from relift.arrays import Vector
from relift.program import passes
from relift.program.index_sets import constant_words
from relift.program.program import Program
from relift.settings import LiftSettings, Reading
from relift.symmetry import centres, likeness, proportional_bounds, proportional_costs, scaled_search
from relift.symmetry import finite_field as field
from relift.symmetry.colour_refinement import KeptValues, refine
from relift.symmetry.exact_vectors import NAMES, Exact, GivenVector, VectorImages, vectors_of, words_of
from relift.symmetry.find import Images
from relift.symmetry.likeness import Colours, Likeness
from relift.symmetry.own_scales import (
    OPEN_SIGN,
    OPEN_SIZE,
    RESTS,
    Intervals,
    Masses,
    OwnScales,
    scales_of_rows,
    scales_of_variables,
)
from relift.symmetry.scaled_candidate import Found
from relift.symmetry.scaled_cones import intervals_of, scales_of_conic_rows, scales_of_conic_rows_slowly
from relift.symmetry.scaled_search import find_up_to_scale
from relift.symmetry.told_apart import kinds_in_floats
from relift.testing.random_conic_programs import symmetric_conic_program
from relift.testing.random_programs import symmetric_program
from relift.testing.scaled_programs import open_program, rescaled
from relift.testing.sized_programs import sized_program

SEEDS = st.integers(0, 2**31)
NEEDS_CORE = pytest.mark.skipif(passes.core is None, reason="the passes are not compiled: both are the slow ones")
VALUES = np.array([-np.inf, -3.0, -1.0, -0.6 * 37.13, 0.0, 0.0, 1.0, 2.0, 0.2 * 37.13, 1e-12, np.sqrt(2), np.inf])
VALUES = np.concatenate([VALUES, [-1 / np.pi, 3 / np.pi]])


def random_program(seed: int) -> Program:
    """Few different bounds and costs of all kinds, short and long, and some curvature."""
    random = np.random.default_rng(seed)
    n, m = random.integers(1, 40, 2)
    A = sparse.random_array((m, n), density=0.2, rng=random, format=random.choice(["csr", "csc"]))
    A.data = random.choice([1.0, -1.0, 2.0, 0.5, 1 / 3], A.nnz)
    few = random.choice(VALUES, random.integers(1, VALUES.size + 1))
    below, above = few[few < np.inf], few[few > -np.inf]
    below, above = np.append(below, -np.inf), np.append(above, np.inf)
    lb, l = random.choice(below, n), random.choice(below, m)
    ub, u = random.choice(above, n), random.choice(above, m)
    P = None
    if random.random() < 0.5:
        F = sparse.random_array((n, n), density=0.2, rng=random, format="csr")
        P = sparse.csc_array(F.T @ F)
    q = random.choice([0.0, 1.0, -1.0, 2.0, 0.3], n) * (random.random() < 0.8)
    return Program(P, q, A, np.minimum(l, u), np.maximum(l, u), np.minimum(lb, ub), np.maximum(lb, ub))


def with_vectors_of_one_number(seed: int) -> tuple[Program, VectorImages]:
    """The same, in which some vectors are one number for all, and some of those are held as one word."""
    program, random = random_program(seed), np.random.default_rng(seed)
    vectors = {name: getattr(program, name) for name in ("q", "l", "u", "lb", "ub")}
    for name in vectors:
        if random.random() < 0.5:
            vectors[name] = np.full(vectors[name].size, vectors[name][0])
    for low, high in (("l", "u"), ("lb", "ub")):
        if np.any(vectors[low] > vectors[high]):
            vectors[low] = np.full(vectors[low].size, -np.inf)
    program = program.replace(**vectors)
    images = VectorImages.of(program, "decimal")
    words = {name: getattr(images, name) for name in vectors}
    for name, vector in vectors.items():
        if random.random() < 0.7 and np.all(vector == vector[0]):
            words[name] = constant_words(int(words[name][0]), vector.size)
    return program, images.but(**words)


def slow_colours(
    bounds: Intervals, q: Vector, q_exact: Exact, *, sizes: bool, signs: bool, reading: Reading
) -> Colours:
    return Colours.slowly(bounds, q, words_of(q_exact), sizes=sizes, signs=signs)


def search(program: Program, settings: LiftSettings) -> Found:
    return find_up_to_scale(program, Images(VectorImages.of(program, settings.values)), settings)


def not_read(program: Program, images: VectorImages) -> VectorImages:
    """The same images, that of a vector of one number as it is held, and none of them read."""
    given = {name: GivenVector(vector, "decimal") for name, vector in zip(NAMES, vectors_of(program), strict=True)}
    for name, vector in given.items():
        vector.is_one = getattr(images, name).strides == (0,)
    return VectorImages._of(given)


@NEEDS_CORE
@settings(max_examples=300, deadline=None)
@given(seed=SEEDS, sizes=st.booleans(), signs=st.booleans(), most=st.sampled_from([2, 7, 4096]), reads=st.booleans())
def test_kinds_of_variables_are_those_of_the_slow_twin(
    seed: int, sizes: bool, signs: bool, most: int, reads: bool
) -> None:
    program, images = with_vectors_of_one_number(seed)
    bounds, _ = intervals_of(program, images)
    options: dict[str, Any] = {"sizes": sizes, "signs": signs}
    given = images if reads else not_read(program, images)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(likeness, "SAMPLE", most)
        fast = Colours.of(intervals_of(program, given)[0], program.q, given.exact("q"), **options)
        assert fast == Colours.slowly(bounds, program.q, images.q, **options)


@NEEDS_CORE
@settings(max_examples=300, deadline=None)
@given(seed=SEEDS, reads=st.booleans())
def test_whether_centres_only_move_is_what_the_slow_twin_says(seed: int, reads: bool) -> None:
    program, images = with_vectors_of_one_number(seed)
    random = np.random.default_rng(seed)
    if random.random() < 0.7:  # else next to none would
        q = random.choice([1.0, 2.0], program.n_variables) * (1 if random.random() < 0.7 else -1)
        high = random.choice([1.0, 2.0, np.inf], program.n_variables)
        lower, upper = (-high, 0.0) if random.random() < 0.3 else (0.0, high)
        program = program.replace(q=q, lb=lower, ub=upper)
        images = VectorImages.of(program, "decimal")
    given = images if reads else not_read(program, images)
    fast = centres.only_moves(program, intervals_of(program, given)[0])
    assert fast == centres.only_moves_slowly(program, intervals_of(program, images)[0])


@NEEDS_CORE
@settings(max_examples=300, deadline=None)
@given(seed=SEEDS, masses=st.booleans(), sizes=st.booleans(), signs=st.booleans())
def test_looks_in_floats_are_the_same_whether_numbers_were_read_or_not(
    seed: int, masses: bool, sizes: bool, signs: bool
) -> None:
    program, images = with_vectors_of_one_number(seed)
    given = not_read(program, images)
    labels = np.arange(program.n_variables), np.arange(program.n_rows)
    assert Likeness.of(program, images, *labels) == Likeness.of(program, given, *labels)
    how = LiftSettings(sizes=sizes, signs=signs)
    found = [kinds_in_floats(program, vectors, how, masses=masses) for vectors in (images, given)]
    assert found[0] == found[1]
    assert not any("_words" in vars(vector) for vector in given.given.values())


@NEEDS_CORE
@settings(max_examples=200, deadline=None)
@given(seed=SEEDS, sample=st.sampled_from([1, 3, 5000]))
def test_digits_and_links_of_bounds_are_those_of_the_slow_twins(seed: int, sample: int) -> None:
    program, images = with_vectors_of_one_number(seed)
    intervals = intervals_of(program, images)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proportional_bounds, "SAMPLE", sample)
        computed = proportional_bounds.looks_computed(program, images)
        assert computed == proportional_bounds.looks_computed_slowly(program)
    step = sample % 7
    links = proportional_bounds.n_links(program, *intervals, step)
    assert links == proportional_bounds.n_links_slowly(program, *intervals, step)
    shared = proportional_bounds.n_shared_ratios(program, *intervals, step)
    assert shared == proportional_bounds.n_shared_ratios_slowly(program, *intervals, step)


@NEEDS_CORE
@settings(max_examples=200, deadline=None)
@given(seed=SEEDS, step=st.integers(1, 4))
def test_simple_costs_are_those_of_the_slow_twin(seed: int, step: int) -> None:
    program, random = random_program(seed), np.random.default_rng(seed)
    entries = program.A.copy()
    entries.data = random.choice([1.0, 0.0, 37.13, -41.29, np.sqrt(3)], entries.nnz)
    values = [0.0, 0.6 * 37.13, -0.7 * 41.29, 1.0, np.sqrt(2), 1e-12, 37.13 / np.pi, 41.29 / np.pi]
    costs = random.choice(values, program.n_variables)
    program = program.replace(q=costs, A=entries)
    assert proportional_costs.simple_costs(program, step) == proportional_costs.simple_costs_slowly(program, step)


@NEEDS_CORE
@settings(max_examples=200, deadline=None)
@given(seed=SEEDS, sizes=st.booleans(), signs=st.booleans(), has_masses=st.booleans())
def test_own_scales_are_those_of_the_slow_twin(seed: int, sizes: bool, signs: bool, has_masses: bool) -> None:
    program, images = with_vectors_of_one_number(seed)
    bounds, rows = intervals_of(program, images)
    mass = np.random.default_rng(seed).choice([1.0, 3.0, 0.5], program.n_variables)
    unit = np.ones(program.n_rows)
    masses = Masses(mass, field.images(mass), unit, field.images(unit)) if has_masses else None

    def find() -> tuple[OwnScales, OwnScales]:
        of_variables = scales_of_variables(bounds, program.q, images.q, sizes=sizes, signs=signs, masses=masses)
        return of_variables, scales_of_rows(rows, sizes=sizes, signs=signs)

    fast = find()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(field, "CORE_IS_COMPILED", False)
        slow = find()
    for found, expected in zip(fast, slow, strict=True):
        np.testing.assert_allclose(found.floats, expected.floats, rtol=1e-15)
        np.testing.assert_array_equal(found.images, expected.images)
        np.testing.assert_array_equal(found.states, expected.states)
        for word, other in zip(found.words, expected.words, strict=True):
            np.testing.assert_array_equal(word, other)


@NEEDS_CORE
@settings(max_examples=100, deadline=None)
@given(seed=SEEDS)
def test_sizes_that_rows_admit_are_those_of_the_slow_twin(seed: int) -> None:
    program, random = random_program(seed), np.random.default_rng(seed)
    entries = program.A.copy()
    entries.data = random.choice([1.0, 0.0, 37.13, -41.29, 1e-300], entries.nnz)
    program = program.replace(A=entries, u=np.where(random.random(program.n_rows) < 0.1, 1e300, program.u))
    some = np.flatnonzero(random.random(program.n_variables) < 0.7)
    fast, slow = (
        find(program, some) for find in (proportional_costs.sizes_by_rows, proportional_costs.sizes_by_rows_slowly)
    )
    np.testing.assert_array_equal(fast, slow)


@NEEDS_CORE
@settings(max_examples=300, deadline=None)
@given(seed=SEEDS, factor=st.sampled_from([1.0, 2.0, 0.6, 0.1]))
def test_links_that_are_said_to_change_nothing_change_nothing(seed: int, factor: float) -> None:
    program, random = random_program(seed), np.random.default_rng(seed)
    size = random.choice([37.13, 41.29, 3.0], program.n_variables)
    program = program.replace(lb=-size, ub=factor * size, P=None)
    images = VectorImages.of(program, "decimal")
    intervals = intervals_of(program, images)
    slow = proportional_bounds.proportional_images_slowly(program, images, *intervals)
    if proportional_bounds.links_change_nothing(program, *intervals):
        assert slow is None or proportional_bounds.share_ratios(program, *intervals)


@NEEDS_CORE
@settings(max_examples=100, deadline=None)
@given(seed=SEEDS)
def test_a_refinement_that_needs_scales_finds_the_classes_or_says_which_rows_have_none(seed: int) -> None:
    program = random_program(seed)
    vectors, kept = VectorImages.of(program, "decimal"), KeptValues(program.P, program.A)
    words = (vectors.q, vectors.lb, vectors.ub)
    sides = (vectors.l, vectors.u, program.l, program.u)
    whole = refine(program.P, program.A, words, *sides)
    short = refine(program.P, program.A, words, *sides, needs_scales=True, kept=kept)
    again = refine(program.P, program.A, words, *sides, kept=kept)
    assert short.statistics.rows_without_scale == whole.statistics.rows_without_scale
    if not whole.statistics.rows_without_scale:
        assert (short.variables, short.rows) == (whole.variables, whole.rows)
    else:
        assert short.variables.is_discrete
        assert short.rows.is_discrete
    assert (again.variables, again.rows) == (whole.variables, whole.rows)


@settings(max_examples=200, deadline=None)
@given(seed=SEEDS, sizes=st.booleans(), signs=st.booleans())
def test_scales_of_conic_rows_are_right_hand_sides_divided_by_what_is_left(seed: int, sizes: bool, signs: bool) -> None:
    random = np.random.default_rng(seed)
    b = random.choice([0.0, -0.0, 1.0, -1.0, 0.3, -2.5, 1e-310, -7e200], random.integers(1, 12))
    image, is_open = field.images(b), (random.random(b.size) < 0.5) & signs
    image[random.random(b.size) < 0.1] = 0  # what cancels exactly may be a little off in floats
    rests = image == 0
    size = np.where(rests, 1.0, np.abs(b)) if sizes else np.ones(b.size)
    size_image = np.where(rests, np.uint64(1), np.where(b < 0, field.negate(image), image))
    size_image = size_image if sizes else np.ones(b.size, np.uint64)
    is_turned = is_open & (b < 0)
    images = np.where(is_turned, field.negate(size_image), size_image)
    word = field.multiply(image, field.inverse(images))
    states = RESTS + OPEN_SIGN * is_open.astype(np.uint8) + (OPEN_SIZE if sizes else 0)
    for scales in (scales_of_conic_rows, scales_of_conic_rows_slowly):
        found = scales(b, image, is_open, sizes=sizes)
        np.testing.assert_array_equal(found.floats, np.where(is_turned, -size, size))
        np.testing.assert_array_equal(found.images, images)
        np.testing.assert_array_equal(found.words, (word, word))
        np.testing.assert_array_equal(found.states, np.where(rests, states, 0))
        assert found.states.dtype == np.uint8


@NEEDS_CORE
@settings(max_examples=200, deadline=None)
@given(seed=SEEDS, sample=st.sampled_from([2, 5, 512]))
def test_a_look_for_reflections_says_what_its_slow_twin_says(seed: int, sample: int) -> None:
    program, images = with_vectors_of_one_number(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(centres, "SAMPLE", sample)
        may = centres.may_be_equal_up_to_reflection(program, images)
        assert may == centres.may_be_equal_up_to_reflection_slowly(program)


@NEEDS_CORE
@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, m=st.sampled_from([1, 7, 511, 513, 2000]))
def test_a_look_at_rows_says_the_same_of_a_matrix_by_rows_and_by_columns(seed: int, m: int) -> None:
    random = np.random.default_rng(seed)
    n, kind = int(random.integers(1, 60)), random.integers(0, 3, m)
    A = sparse.random_array((m, n), density=0.2, rng=random, format="csr")
    A.data = random.choice([1.0, -1.0, 2.0, 0.0], A.nnz) * np.repeat(random.choice([1.0, 3.0], m), np.diff(A.indptr))
    size = random.choice([37.13, 41.29], n)
    program = Program(q=random.choice([1.0, 2.0], n), A=A, l=kind, lb=0, ub=size)
    images, labels = VectorImages.of(program, "decimal"), (random.integers(0, 4, n), random.integers(0, 4, m))
    looks = [Likeness.of(program.replace(A=form), images, *labels) for form in (A, A.tocsc())]
    assert looks[0] == looks[1]


@NEEDS_CORE
@pytest.mark.parametrize("is_by_rows", [True, False])
def test_a_look_at_rows_refuses_indices_that_lie_outside(is_by_rows: bool) -> None:
    from relift import _core

    images, ones = np.ones(2, np.uint64), np.ones(2)
    parts = (np.array([0, 1, 2], np.int32), np.array([0, 9], np.int32), ones)
    numbers = (ones, ones, ones, images, images, images), (ones, ones, None, images, images, None)
    with pytest.raises(ValueError, match="an index lies outside the matrix"):
        _core.likeness(parts, is_by_rows, 2, 2, *numbers, np.arange(2), np.arange(2), False)


def thorough(program: Program, settings: LiftSettings) -> Found:
    """The search in which nothing is let out because a look, or an argument, says so."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scaled_search, "only_moves", lambda *_: False)
        patch.setattr("relift.symmetry.colour_refinement.capsule_of", lambda *_: None)
        patch.setattr("relift.symmetry.scaled_refinement.capsule_of", lambda *_: None)
        slowly = centres.may_be_equal_up_to_reflection_slowly
        patch.setattr(scaled_search, "may_be_equal_up_to_reflection", lambda program, _: slowly(program))
        patch.setattr(Colours, "of", slow_colours)
        patch.setattr(
            proportional_bounds, "looks_computed", lambda program, _: proportional_bounds.looks_computed_slowly(program)
        )
        patch.setattr(proportional_bounds, "n_links", proportional_bounds.n_links_slowly)
        patch.setattr(proportional_bounds, "links_change_nothing", lambda *_: False)
        patch.setattr(proportional_costs, "simple_costs", proportional_costs.simple_costs_slowly)
        patch.setattr(scaled_search, "refine", lambda *args, needs_scales=False, **options: refine(*args, **options))
        return search(program, settings)


def drawn(kind: str, seed: int) -> Program:
    random = np.random.default_rng(seed)
    if kind == "sized":
        return sized_program(seed, quadratic=bool(seed % 2), own_rows=seed % 3, shared_rows=1 + seed % 2).program
    if kind == "open":
        return open_program(random, 1 + seed % 6, 1 + seed // 6 % 6, 1 + seed // 36 % 3)
    if kind == "rescaled":
        return rescaled(random, symmetric_program(seed, quadratic=bool(seed % 2), scaled_rows=True).program).program
    if kind == "conic":
        return symmetric_conic_program(seed, copies=1 + seed % 4, n_cones=1 + seed % 3).program
    return random_program(seed)


@pytest.mark.parametrize("kind", ["sized", "open", "rescaled", "conic", "random"])
@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, is_large=st.booleans())
def test_a_search_that_skips_what_can_find_nothing_finds_what_the_thorough_one_finds(
    kind: str, seed: int, is_large: bool
) -> None:
    program = drawn(kind, seed)
    with pytest.MonkeyPatch.context() as patch:
        if is_large:
            patch.setattr(scaled_search, "SMALL", 0)
        found, other = search(program, LiftSettings()), thorough(program, LiftSettings())
    for name in ("variables", "rows", "quadratic", "conic_rows", "cones"):
        assert getattr(found.symmetry, name) == getattr(other.symmetry, name)
    for name in ("variables", "rows", "conic_rows", "cones"):
        ours, theirs = getattr(found, name), getattr(other, name)
        assert (ours is None) == (theirs is None)
        assert ours is None or np.array_equal(ours, theirs)


@settings(max_examples=150, deadline=None)
@given(seed=SEEDS)
def test_centres_that_only_move_a_program_find_no_classes_whatever_the_masses(seed: int) -> None:
    random = np.random.default_rng(seed)
    kinds, copies, m = int(random.integers(1, 4)), int(random.integers(1, 5)), int(random.integers(1, 4))
    block = random.choice([0.0, 1.0, -1.0, 2.0], (m, kinds))
    A = np.vstack([np.kron(np.eye(copies), block), np.tile(random.choice([0.0, 1.0], kinds), copies)])
    size = random.choice([1.0, 1.0, 2.0, 3.0], kinds * copies)
    program = Program(
        q=random.choice([1.0, 2.0, 3.0], A.shape[1]), A=A, u=random.integers(0, 4, A.shape[0]), lb=0, ub=size
    )
    images = VectorImages.of(program, "decimal")
    bounds, _ = intervals_of(program, images)
    assert centres.only_moves(program, bounds)
    here = scaled_search._Search(program, Images(images), LiftSettings(), 0, None)
    middle = centres.centres_of(program, bounds)
    assert middle is not None
    moved = here.from_centres(middle)
    for masses in (None, moved.masses(moved.refine(None).found)):
        from_centres, from_zero = moved.refine(masses).found, here.refine(masses).found
        assert from_centres.variables.classes.refines(from_zero.variables.classes)
        assert from_centres.rows.classes.refines(from_zero.rows.classes)


@NEEDS_CORE
@settings(max_examples=100, deadline=None)
@given(seed=SEEDS, reading=st.sampled_from(["decimal", "bits"]))
def test_values_that_are_kept_give_the_classes_of_values_that_are_read(seed: int, reading: Any) -> None:
    program = random_program(seed)
    vectors = VectorImages.of(program, reading)
    kept, other = KeptValues(program.P, program.A), KeptValues(None, sparse.csr_array((0, 1)))

    def classes(values: KeptValues | None, mode: Any = "equitable") -> tuple[list[int], list[int]]:
        words = (vectors.q, vectors.lb, vectors.ub)
        found = refine(
            program.P, program.A, words, vectors.l, vectors.u, program.l, program.u,
            mode=mode, reading=reading, kept=values,
        )  # fmt: skip
        return found.variables.labels.tolist(), found.rows.labels.tolist()

    expected, counted = classes(None), classes(None, "counting")
    for values in (kept, kept, other):
        assert classes(values) == expected
        assert classes(values, "counting") == counted


@pytest.mark.skipif(not field.CORE_IS_COMPILED, reason="the look at rows is compiled only")
def test_entries_do_not_look_alike_because_the_cost_of_another_one_is_tiny() -> None:
    random = np.random.default_rng(0)
    q = random.uniform(1, 2, 500)
    long = random.uniform(1, 2, (1, 500)).round(3)

    def look(q: np.ndarray, A: np.ndarray) -> bool:
        program = Program(q=q, A=A, l=1, lb=0, ub=3)
        images = VectorImages.of(program, "decimal")
        return likeness.Likeness.of(program, images, np.arange(q.size), np.arange(A.shape[0])).speaks_for_masses

    tiny = np.append(q[:-1], 1e-12)
    assert not look(tiny, long)
    assert look(tiny, tiny[None, :])  # entries in proportion to the costs, whatever their size
