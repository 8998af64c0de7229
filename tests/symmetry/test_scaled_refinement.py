"""Classes up to size, unit and sign: against fractions, against the NumPy twin, and what must not change them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relift.arrays import FieldElements
from relift.errors import NotANumberError
from relift.program.program import Program
from relift.settings import Reading
from relift.symmetry import finite_field as field
from relift.symmetry.colour_refinement import Refinement, refine
from relift.symmetry.exact_vectors import VectorImages
from relift.symmetry.own_scales import Intervals, Masses, scales_of_rows, scales_of_variables
from relift.symmetry.partition import Partition
from relift.symmetry.scaled_refinement import ScaledRefinement, refine_up_to_scale, sharpened
from relift.symmetry.scaled_refinement_reference import sharpened_slowly
from relift.testing.scaled_classes import classes_up_to_scale
from relift.testing.scaled_programs import open_program, rescaled

SEEDS = st.integers(0, 2**31)
SIZES = {"n": st.integers(1, 7), "m": st.integers(1, 7), "copies": st.integers(1, 3)}


def scaled_classes(
    program: Program,
    *,
    sizes: bool = True,
    signs: bool = True,
    masses: Masses | None = None,
    others: Masses | None = None,
    reading: Reading = "decimal",
    seed: int = 0,
) -> ScaledRefinement:
    images = VectorImages.of(program, reading)
    bounds = Intervals(program.lb, program.ub, images.lb, images.ub)
    rows = Intervals(program.l, program.u, images.l, images.u)
    return refine_up_to_scale(
        program.P, program.A, scales_of_variables(bounds, program.q, images.q, sizes=sizes, signs=signs, masses=masses),
        scales_of_rows(rows, sizes=sizes, signs=signs), masses=masses, reading=reading, seed=seed,
        relative_masses=None if masses is None or others is None else over(masses, others),
    )  # fmt: skip


def over(masses: Masses, others: Masses) -> tuple[FieldElements, FieldElements]:
    return (
        field.multiply(masses.variable_images, field.inverse(others.variable_images)),
        field.multiply(masses.row_images, field.inverse(others.row_images)),
    )


def equal_masses(program: Program) -> Masses:
    variables, rows = np.ones(program.n_variables), np.ones(program.n_rows)
    return Masses(variables, field.images(variables), rows, field.images(rows))


def plain_classes(program: Program, reading: Reading = "decimal") -> Refinement:
    images = VectorImages.of(program, reading)
    words = [images.q, images.lb, images.ub]
    return refine(program.P, program.A, words, images.l, images.u, program.l, program.u, reading=reading)


def random_masses(random: np.random.Generator, program: Program) -> Masses:
    variables, rows = (random.choice([1.0, 2.0, 3.0], size) for size in (program.n_variables, program.n_rows))
    return Masses(variables, field.images(variables), rows, field.images(rows))


def assert_same(found: ScaledRefinement, other: ScaledRefinement) -> None:
    for ours, theirs in ((found.variables, other.variables), (found.rows, other.rows)):
        assert ours.classes == theirs.classes
        np.testing.assert_array_equal(ours.images, theirs.images)
        np.testing.assert_allclose(ours.floats, theirs.floats, rtol=1e-9)


@settings(max_examples=250, deadline=None)
@given(seed=SEEDS, sizes=st.booleans(), signs=st.booleans(), has_masses=st.booleans(), **SIZES)
def test_classes_and_scales_are_those_of_the_definition_in_fractions(
    seed: int, n: int, m: int, copies: int, sizes: bool, signs: bool, has_masses: bool
) -> None:
    random = np.random.default_rng(seed)
    program = open_program(random, n, m, copies)
    masses = random_masses(random, program) if has_masses else None
    given_masses = None if masses is None else (masses.variables.tolist(), masses.rows.tolist())
    found = scaled_classes(program, sizes=sizes, signs=signs, masses=masses, seed=seed)
    slow = classes_up_to_scale(program, sizes=sizes, signs=signs, masses=given_masses)
    for ours, labels, scales in (
        (found.variables, slow.variables, slow.variable_scales),
        (found.rows, slow.rows, slow.row_scales),
    ):
        assert ours.classes == Partition.from_labels(labels)
        np.testing.assert_allclose(ours.floats, [float(scale) for scale in scales], rtol=1e-9)
        exact = [scale.numerator * pow(scale.denominator, -1, field.MODULUS) % field.MODULUS for scale in scales]
        np.testing.assert_array_equal(ours.images, np.array(exact, np.uint64))


@settings(max_examples=150, deadline=None)
@given(seed=SEEDS, has_masses=st.booleans(), **SIZES)
def test_the_compiled_kernel_and_its_twin_agree(seed: int, n: int, m: int, copies: int, has_masses: bool) -> None:
    random = np.random.default_rng(seed)
    program = open_program(random, n, m, copies)
    masses = random_masses(random, program) if has_masses else None
    compiled = scaled_classes(program, masses=masses, seed=seed)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(field, "CORE_IS_COMPILED", False)
        slow = scaled_classes(program, masses=masses, seed=seed + 1)
    assert slow.statistics.engine == "numpy"
    assert_same(compiled, slow)


@settings(max_examples=150, deadline=None)
@given(seed=SEEDS, reading=st.sampled_from(["decimal", "bits"]), **SIZES)
def test_classes_are_never_more_than_the_equitable_ones(
    seed: int, n: int, m: int, copies: int, reading: Reading
) -> None:
    program = open_program(np.random.default_rng(seed), n, m, copies)
    found, plain = scaled_classes(program, reading=reading), plain_classes(program, reading)
    assert plain.variables.refines(found.variables.classes)
    assert plain.rows.refines(found.rows.classes)


@settings(max_examples=200, deadline=None)
@given(seed=SEEDS, signs=st.booleans(), **SIZES)
def test_classes_are_the_same_in_other_units_signs_and_orders(
    seed: int, n: int, m: int, copies: int, signs: bool
) -> None:
    random = np.random.default_rng(seed)
    program = open_program(random, n, m, copies)
    other = rescaled(random, program, signs=signs)
    here, there = (scaled_classes(p, signs=signs, reading="bits") for p in (program, other.program))
    for ours, theirs, order, factors in (
        (here.variables, there.variables, other.columns, 1.0 / other.column_factors),
        (here.rows, there.rows, other.rows, other.row_factors),
    ):
        assert Partition.from_labels(ours.classes.labels[order]) == theirs.classes
        expected = ours.floats[order] * factors
        expected = (
            expected / np.where(expected == 0, 1.0, expected)[theirs.classes.representatives][theirs.classes.labels]
        )
        np.testing.assert_allclose(theirs.floats, expected, rtol=1e-9)


@settings(max_examples=250, deadline=None)
@given(seed=SEEDS, **SIZES)
def test_a_search_that_ends_since_masses_are_equal_in_classes_would_not_have_found_fewer(
    seed: int, n: int, m: int, copies: int
) -> None:
    random = np.random.default_rng(seed)
    program = open_program(random, n, m, copies)
    known = scaled_classes(program)
    masses, equal = random_masses(random, program), equal_masses(program)
    if random.random() < 0.5:  # equal inside the classes that are known, as masses of sizes and prices are
        variables, rows = known.variables.classes, known.rows.classes
        first, first_row = variables.representatives[variables.labels], rows.representatives[rows.labels]
        masses = Masses(
            masses.variables[first], masses.variable_images[first], masses.rows[first_row], masses.row_images[first_row]
        )
    whole, ended = scaled_classes(program, masses=masses), scaled_classes(program, masses=masses, others=equal)
    classes = [whole.variables.classes, whole.rows.classes]
    if not ended.variables.classes.is_discrete or not ended.rows.classes.is_discrete:
        assert_same(ended, whole)
    elif not all(each.is_discrete for each in classes):  # it ended
        n_known = known.variables.classes.n_classes + known.rows.classes.n_classes
        assert sum(each.n_classes for each in classes) >= n_known


def copies_of_a_pair(*sizes: float) -> Program:
    """Two variables of costs 1 and 2 on a row of their own, and a row for all."""
    n = len(sizes)
    A = np.vstack([np.kron(np.eye(n), [[1.0, 1.0]]), np.ones(2 * n)])
    size = np.array(sizes)
    return Program(q=np.tile([1.0, 2.0], n), A=A, l=np.r_[np.ones(n), n], lb=0, ub=np.repeat(size, 2))


def masses_by_variable(program: Program, variables: np.ndarray) -> Masses:
    rows = np.ones(program.n_rows)
    return Masses(variables, field.images(variables), rows, field.images(rows))


def test_a_search_ends_where_masses_are_equal_in_every_class() -> None:
    program = copies_of_a_pair(1.0, 1.0, 1.0)
    masses = masses_by_variable(program, np.tile([3.0, 7.0], 3))  # costs tell the two apart
    whole = scaled_classes(program, masses=masses)
    ended = scaled_classes(program, masses=masses, others=equal_masses(program))
    assert whole.variables.classes.labels.tolist() == [0, 1] * 3
    if field.CORE_IS_COMPILED:
        assert ended.variables.classes.is_discrete
        assert ended.rows.classes.is_discrete


def test_a_search_goes_on_where_two_masses_come_together() -> None:
    program = copies_of_a_pair(1.0, 2.0, 3.0)
    masses = masses_by_variable(program, np.repeat([1.0, 2.0, 3.0], 2))
    whole = scaled_classes(program, masses=masses)
    ended = scaled_classes(program, masses=masses, others=equal_masses(program))
    assert_same(ended, whole)
    others = masses_by_variable(program, np.repeat([2.0, 4.0, 6.0], 2))  # in proportion to these they are equal
    ended = scaled_classes(program, masses=masses, others=others)
    assert ended.variables.classes.is_discrete or not field.CORE_IS_COMPILED


@given(SEEDS, st.sampled_from(["decimal", "bits"]))
def test_scales_are_sharpened_as_numpy_does_it(seed: int, reading: Reading) -> None:
    random = np.random.default_rng(seed)
    least, most = random.choice([[-3, 4], [-15, 16], [-322, 308]]).tolist()
    exponents = random.integers(least, most, 40)
    meant = np.array([float(f"{random.integers(1, 10 ** random.integers(1, 14))}e{k}") for k in exponents])
    meant[random.random(40) < 0.2] = np.nextafter(10.0 ** exponents[0], random.choice([0.0, np.inf]))
    meant *= random.choice([-1.0, 1.0], 40)
    images = field.images(meant, reading)
    images[random.random(40) < 0.2] = random.integers(0, 3)
    computed = meant * (1.0 + random.choice([0.0, 1e-15, 1e-9]) * random.normal(size=40))
    computed[random.random(40) < 0.1] = random.choice([0.0, np.inf, -np.inf])
    expected = sharpened_slowly(computed, images, reading)
    np.testing.assert_array_equal(sharpened(computed.copy(), images, reading), expected)


def test_a_scale_that_is_no_number_is_refused_unless_nobody_reads_it() -> None:
    ratios, images = np.array([np.nan, 0.5]), np.array([1, 5], np.uint64)
    np.testing.assert_array_equal(sharpened(ratios, images, "decimal"), ratios)
    with pytest.raises(NotANumberError):
        sharpened(ratios, images[::-1].copy(), "decimal")
