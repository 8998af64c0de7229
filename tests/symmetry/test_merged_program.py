"""A search up to scale with equitable classes merged finds what the search in the program itself finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from relift.program.program import Program
from relift.settings import LiftSettings
from relift.symmetry import scaled_search
from relift.symmetry.exact_vectors import VectorImages
from relift.symmetry.find import Images
from relift.symmetry.likeness import Colours, looks_repeated
from relift.symmetry.own_scales import Intervals
from relift.symmetry.scaled_candidate import Found
from relift.symmetry.scaled_search import find_up_to_scale
from relift.testing.scaled_programs import open_program, rescaled
from relift.testing.sized_programs import sized_program

SEEDS = st.integers(0, 2**31)


def found_in(program: Program, settings: LiftSettings, *, merged: bool) -> Found:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(scaled_search, "SMALL", 0)
        patched.setattr(scaled_search, "WORTH_MERGING", 1.0 if merged else -1.0)
        patched.setattr(scaled_search, "looks_repeated", lambda *_: True)
        patched.setattr(scaled_search._Search, "speaks_for_masses", lambda *_: True)
        images = Images(VectorImages.of(program, settings.values))
        return find_up_to_scale(program, images, settings)


def assert_same(one: Found, other: Found) -> None:
    for here, there in ((one.variables, other.variables), (one.rows, other.rows)):
        assert (here is None) == (there is None)
        if here is not None:
            np.testing.assert_array_equal(here, there)
    ours, theirs = one.symmetry, other.symmetry
    assert ours.variables == theirs.variables
    assert ours.rows == theirs.rows
    np.testing.assert_allclose(ours.w, theirs.w, rtol=1e-9)
    np.testing.assert_allclose(ours.v, theirs.v, rtol=1e-9)
    assert (one.centres is None) == (other.centres is None)
    if one.centres is not None and other.centres is not None:
        np.testing.assert_array_equal(one.centres.images, other.centres.images)
    if ours.scale_images is not None and theirs.scale_images is not None:
        np.testing.assert_array_equal(ours.scale_images.variables, theirs.scale_images.variables)
        np.testing.assert_array_equal(ours.scale_images.rows, theirs.scale_images.rows)
    np.testing.assert_allclose(ours.class_masses, theirs.class_masses, rtol=1e-9)


@settings(max_examples=250, deadline=None)
@given(seed=SEEDS, n=st.integers(1, 6), m=st.integers(0, 6), copies=st.integers(2, 4), turned=st.booleans())
def test_merging_equitable_classes_first_changes_no_class_of_programs_with_much_that_is_open(
    seed: int, n: int, m: int, copies: int, turned: bool
) -> None:
    random = np.random.default_rng(seed)
    program = open_program(random, n, m, copies)
    if turned:
        program = rescaled(random, program, columns=False).program
    how = LiftSettings(values="bits")
    assert_same(found_in(program, how, merged=True), found_in(program, how, merged=False))


@settings(max_examples=150, deadline=None)
@given(
    seed=SEEDS, kinds=st.integers(1, 3), members=st.integers(2, 4), parts=st.integers(1, 3), quadratic=st.booleans(),
    copies=st.integers(1, 3), sizes=st.booleans(),
)  # fmt: skip
def test_merging_equitable_classes_first_changes_no_class_of_programs_with_sizes(
    seed: int, kinds: int, members: int, parts: int, quadratic: bool, copies: int, sizes: bool
) -> None:
    one = sized_program(seed, kinds=kinds, members=members, parts=parts, quadratic=quadratic).program
    P = None if one.P is None else sparse.block_diag([one.P] * copies, format="csc")
    vectors = (np.tile(vector, copies) for vector in (one.q, one.l, one.u, one.lb, one.ub))
    q, l, u, lb, ub = vectors
    program = Program(P, q, sparse.block_diag([one.A] * copies, format="csr"), l, u, lb, ub)
    how = LiftSettings(sizes=sizes)
    assert_same(found_in(program, how, merged=True), found_in(program, how, merged=False))


@settings(max_examples=100, deadline=None)
@given(seed=SEEDS, n=st.integers(1, 6), m=st.integers(1, 6), copies=st.integers(2, 4))
def test_without_signs_merging_first_leaves_no_more_classes(seed: int, n: int, m: int, copies: int) -> None:
    """Equitable classes have rows that are negatives of each other, which a search without signs keeps apart."""
    random = np.random.default_rng(seed)
    program = rescaled(random, open_program(random, n, m, copies), columns=False).program
    how = LiftSettings(values="bits", signs=False)
    merged, other = (found_in(program, how, merged=merged).symmetry for merged in (True, False))
    assert merged.variables.n_classes + merged.rows.n_classes <= other.variables.n_classes + other.rows.n_classes


def test_entries_whose_multiples_are_no_floats_are_added_exactly_when_classes_are_merged() -> None:
    sign = np.repeat([1.0, -1.0], [7, 3])  # the two groups differ in sign and in number
    program = Program(
        0.12345678901234568 * np.eye(10), -sign, np.vstack([sign, 3 * sign]), u=[3.0, 8.0],
        lb=np.minimum(sign, 0), ub=np.maximum(sign, 0),
    )  # fmt: skip
    how = LiftSettings()
    merged = found_in(program, how, merged=True)
    assert merged.symmetry.variables.n_classes == 1
    assert_same(merged, found_in(program, how, merged=False))


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_a_program_looks_repeated_where_its_variables_and_rows_are(kind: str) -> None:
    random = np.random.default_rng(0)
    block = random.integers(1, 5, (20, 30)) * (random.random((20, 30)) < 0.3)
    A = sparse.kron(sparse.eye_array(400), sparse.coo_array(block), format=kind)
    q, l = np.tile(random.random(30), 400), np.tile(random.random(20), 400)

    def looks(q: np.ndarray, l: np.ndarray) -> bool:
        program = Program(q=q, A=A, l=l, lb=0)
        images = VectorImages.of(program, "decimal")
        bounds = Intervals(program.lb, program.ub, images.lb, images.ub)
        colours = Colours.of(bounds, program.q, images.q, sizes=True, signs=True)
        return looks_repeated(program, colours)

    assert looks(q, l)
    assert not looks(random.random(q.size), l)
    assert not looks(np.ones(q.size), random.random(l.size))
