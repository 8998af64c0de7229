"""Compiled passes over the entries of quadratic constraints give the very floats of their twins in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from relift.program import passes as compiled
from relift.program import quadratic_passes as passes
from relift.program import quadratic_passes_reference as reference

pytestmark = pytest.mark.skipif(compiled.core is None, reason="there is no compiled core")


def drawn(seed: int, n_entries: int) -> tuple[reference.Entries, np.ndarray, np.ndarray]:
    """Entries in any order, some in one place, with sizes that overflow now and then; a point and dual values."""
    random = np.random.default_rng(seed)
    n, k = int(random.integers(1, 9)), int(random.integers(1, 5))
    places = random.integers(0, k, n_entries), random.integers(0, n, n_entries), random.integers(0, n, n_entries)
    largest = random.choice([1.0, 1e200] if seed % 2 == 0 else [1.0])
    values = random.normal(size=n_entries) * random.choice([0.0, 1.0, 0.1, largest], n_entries)
    x = random.normal(size=n) * random.choice([0.0, 1.0, largest, np.inf, np.nan] if seed % 5 == 0 else [1.0], n)
    return (*places, values), x, np.abs(random.normal(size=k)) * largest


@given(seed=st.integers(0, 2**32 - 1), n_entries=st.integers(0, 60))
@settings(max_examples=200, deadline=None)
def test_compiled_passes_give_the_floats_of_their_twins(seed: int, n_entries: int) -> None:
    entries, x, z = drawn(seed, n_entries)
    with np.errstate(all="ignore"):
        pairs = (
            (passes.sums_of_constraints(entries, x, z.size), reference.sums_of_constraints(entries, x, z.size)),
            (passes.largest_of_constraints(entries, abs(x), z.size),
             reference.largest_of_constraints(entries, abs(x), z.size)),
            *zip(passes.sums_of_variables(entries, x, z), reference.sums_of_variables(entries, x, z), strict=True),
        )  # fmt: skip
    for found, expected in pairs:
        assert found.dtype == expected.dtype == np.float64
        np.testing.assert_array_equal(found, expected)


@given(seed=st.integers(0, 2**32 - 1), n_entries=st.integers(0, 60), has_duals=st.booleans())
@settings(max_examples=200, deadline=None)
def test_compiled_looks_at_whole_constraints_give_the_floats_of_their_twins(
    seed: int, n_entries: int, has_duals: bool
) -> None:
    entries, x, z = drawn(seed, n_entries)
    random = np.random.default_rng(seed)
    slopes = random.normal(size=(z.size, x.size)) * random.choice([0.0, 1.0], (z.size, x.size))
    constraints = entries, sparse.csr_array(slopes), random.choice([0.0, 1.5, -300.0], z.size)
    marks = random.choice([0.0, 1.0], x.size)
    of_cones = (np.abs(random.normal(size=x.size)), *random.uniform(0, 2, (2, x.size)), marks, marks.copy())
    duals, sizes = z if has_duals else None, np.abs(x)
    with np.errstate(all="ignore"):
        expected = (
            *reference.columns_of_constraints(constraints, x, duals, of_cones),
            *reference.excess_of_constraints(constraints, x, sizes, 0.5),
        )
        natural, terms, sums, below, above = map(np.array, of_cones)
        found = (
            *passes.columns_of_constraints(constraints, x, duals, (natural, terms, sums, below, above)),
            *passes.excess_of_constraints(constraints, x, sizes, 0.5),
        )
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_entries_that_are_not_contiguous_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    entries, x, z = drawn(1, 40)
    sliced = tuple(np.repeat(part, 2)[::2] for part in entries)
    np.testing.assert_array_equal(
        passes.sums_of_constraints(sliced, x, z.size),  # type: ignore[arg-type]
        reference.sums_of_constraints(entries, x, z.size),
    )
    monkeypatch.setattr(compiled, "core", None)
    np.testing.assert_array_equal(passes.sums_of_variables(entries, x, z), reference.sums_of_variables(entries, x, z))


@pytest.mark.parametrize("part", [0, 1, 2])
@pytest.mark.parametrize("wrong", [-1, 99])
def test_an_index_outside_is_refused(part: int, wrong: int) -> None:
    entries, x, z = drawn(1, 10)
    entries[part][3] = wrong
    constraints = entries, sparse.csr_array((z.size, x.size)), np.ones(z.size)
    for call in (
        lambda: passes.excess_of_constraints(constraints, x, x, 1.0),
        lambda: passes.sums_of_constraints(entries, x, z.size),
        lambda: passes.largest_of_constraints(entries, x, z.size),
        lambda: passes.sums_of_variables(entries, x, z),
    ):
        with pytest.raises(ValueError, match="outside"):
            call()
