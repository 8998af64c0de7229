"""The compiled steps of a pass of presolve do what whole arrays do, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from relift import Program
from relift.arrays import FieldElements, Vector
from relift.lifting.presolve import reduce
from relift.lifting.substituted_values import Moved, RowsLeft, Shift, moved_slowly, shift_slowly
from relift.lifting.tightest_bounds import BoundingRows, BoundsOfRows, ExactSides, bounds_of_rows_slowly
from relift.program import passes, passes_reference
from relift.program.passes import Entries
from relift.settings import Reading
from relift.symmetry import finite_field as exact

seeds = st.integers(0, 2**32 - 1)
readings = st.sampled_from(["decimal", "bits"])
DIGITS = np.array([0.0, 0.1, 0.2, 0.3, -0.3, 1.0, -1.0, 2.5, 1 / 3, 1e300])

needs_core = pytest.mark.skipif(passes.core is None, reason="there is nothing to compare")


def _exactly(values: Vector, reading: Reading) -> FieldElements:
    return exact.images(values, reading)


def _sides(random: np.random.Generator, size: int, reading: Reading) -> ExactSides:
    low, high = random.choice(DIGITS[:-1], size), random.choice(DIGITS[:-1], size)
    low[random.random(size) < 0.3], high[random.random(size) < 0.3] = -np.inf, np.inf
    if random.random() < 0.3:
        low[:] = 0.0
    return ExactSides(low, high, _exactly(low, reading), _exactly(high, reading))


@needs_core
@given(seeds, readings)
def test_bounds_of_rows_are_those_of_whole_arrays(seed: int, reading: Reading) -> None:
    random = np.random.default_rng(seed)
    n, m = int(random.integers(1, 12)), int(random.integers(1, 20))
    rows = np.flatnonzero(random.random(m) < 0.7)
    divisors = random.choice(DIGITS[1:], rows.size) * random.choice([1.0, 1e-300], rows.size, p=[0.9, 0.1])
    by = BoundingRows(rows, random.integers(n, size=rows.size), divisors, _exactly(divisors, reading))
    of_rows, own = _sides(random, m, reading), _sides(random, n, reading)
    found, expected = BoundsOfRows.of(by, of_rows, own), bounds_of_rows_slowly(by, of_rows, own)
    np.testing.assert_array_equal(found.targets, expected.targets)
    np.testing.assert_array_equal(found.is_kept, expected.is_kept)
    for side, other in ((found.lower, expected.lower), (found.upper, expected.upper)):
        np.testing.assert_array_equal(side.values, other.values)
        np.testing.assert_array_equal(side.images, other.images)
        np.testing.assert_array_equal(side.sources, other.sources)
        assert side.are_own == other.are_own


@needs_core
@given(seeds, readings, st.booleans())
def test_what_values_add_and_where_it_moves_vectors_to_is_that_of_whole_arrays(
    seed: int, reading: Reading, is_taken: bool
) -> None:
    random = np.random.default_rng(seed)
    m, n, count = int(random.integers(1, 200)), int(random.integers(1, 9)), int(random.integers(0, 30))
    entries = Entries(random.integers(m, size=count), random.integers(n, size=count), random.choice(DIGITS, count))
    value = random.choice(DIGITS[:-1], n) * float(random.integers(2))
    image = _exactly(value, reading)
    shift = Shift.of(entries, value, image, m, reading)
    expected = shift_slowly(entries, (value, image), m, reading)
    assert shift.is_zero == expected.is_zero
    for name in ("touched", "floats", "images", "sizes", "counts"):
        np.testing.assert_array_equal(getattr(shift, name), getattr(expected, name))

    rows, others = (
        RowsLeft(np.full(m, 3, np.int32), np.ones(m), np.arange(m) % 3 > 0, np.arange(m) % 4 == 0) for _ in range(2)
    )
    np.testing.assert_array_equal(rows.touch(shift), others.touch_slowly(shift))
    for name in ("counts", "terms", "is_left_alone"):
        np.testing.assert_array_equal(getattr(rows, name), getattr(others, name))

    vector = random.choice([*DIGITS, np.inf], m)
    words, terms = _exactly(vector, reading), random.choice([0.0, 0.1, 5.0], m)
    terms[shift.touched] += shift.sizes
    words[random.random(m) < 0.2] = 0  # a float that rounding has parted from its exact number
    some = None if random.random() < 0.5 else random.random(m) < 0.7
    moved = Moved.of(shift, vector, words, some, terms, reading, is_taken=is_taken)
    slowly = moved_slowly(shift, vector, words, some, terms, reading, is_taken=is_taken)
    for name in ("places", "values", "images", "cancelled"):
        np.testing.assert_array_equal(getattr(moved, name), getattr(slowly, name))


@needs_core
@given(seeds, st.sampled_from(["csr", "csc"]))
def test_the_entry_that_a_row_has_left_is_found_in_both_orders(seed: int, order: str) -> None:
    random = np.random.default_rng(seed)
    m, n = int(random.integers(1, 300)), int(random.integers(1, 20))
    dense = random.choice([0.0, 1.0, -2.0], (m, n), p=[0.8, 0.1, 0.1])
    A, is_left = sparse.csr_array(dense).asformat(order), random.random(n) < 0.5
    rows = np.flatnonzero(np.count_nonzero(dense[:, is_left], axis=1) == 1)
    found, expected = (part.remaining_entries(A, rows, is_left) for part in (passes, passes_reference))
    np.testing.assert_array_equal(found, expected)


@needs_core
def test_steps_refuse_what_lies_outside() -> None:
    core, one, none = passes.core, np.zeros(1), np.zeros(1, np.uint64)
    assert core is not None
    place, outside = np.zeros(1, np.int64), np.array([7])
    sides, is_kept = (one, one, none, none), np.empty(1, bool)
    with pytest.raises(ValueError, match="targets lie outside"):
        core.bounds_of_rows((place, outside, one, none), sides, 1, sides, 1, 0.0, is_kept)
    with pytest.raises(ValueError, match="rows lie outside"):
        core.bounds_of_rows((outside, place, one, none), sides, 1, sides, 1, 0.0, is_kept)
    with pytest.raises(ValueError, match="rows lie outside"):
        core.add_columns((outside, place, one), one, none, True, 1)
    with pytest.raises(ValueError, match="places lie outside"):
        core.add_columns((place, outside, one), one, none, True, 1)
    with pytest.raises(ValueError, match="places lie outside"):
        core.moved_entries(one, none, (outside, one, none), True, one, None, True, 0.0)
    matrix = sparse.csc_array([[0.0], [1.0]])
    with pytest.raises(ValueError, match="a row has no entry left"):
        passes.remaining_entries(matrix, place, np.ones(1, bool))
    with pytest.raises(ValueError, match="rows lie outside"):
        passes.remaining_entries(matrix, outside, np.ones(1, bool))


def test_a_large_program_of_equations_alone_keeps_both_sides_as_one() -> None:
    n = 3000
    step = sparse.eye_array(n) - sparse.eye_array(n, k=-1)
    pairs = sparse.block_diag([step, sparse.kron(sparse.eye_array(n), np.ones((1, 3)))], format="csc")
    b = np.r_[np.tile([1.0, -1.0], n // 2), np.full(n, 5.0)]
    reduction = reduce(Program(q=np.arange(4.0 * n), A=pairs, l=b, u=b, lb=0))
    assert len(reduction.fixed) == 16  # the chain goes on
    assert reduction.images.l is reduction.images.u
    assert reduction.program.l.tolist() == reduction.program.u.tolist()
    assert reduction.values[:16].tolist() == [1.0, 0.0] * 8
