"""Cones up to size and sign: classes do not depend on either, and answers are optimal on the original program."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relift
from relift.program.cones import PowerND, SecondOrder
from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.program.solution import Status
from relift.settings import LiftSettings
from relift.symmetry.exact_vectors import VectorImages
from relift.symmetry.find import Images, find_symmetry
from relift.symmetry.partition import Partition
from relift.symmetry.scaled_search import find_up_to_scale
from relift.testing.random_conic_programs import symmetric_conic_program
from relift.testing.scaled_programs import rescaled

SEEDS = st.integers(0, 2**31)


@settings(max_examples=100, deadline=None)
@given(seed=SEEDS, copies=st.integers(1, 3), n_cones=st.integers(1, 4), signs=st.booleans())
def test_classes_are_the_same_in_other_units_and_signs(seed: int, copies: int, n_cones: int, signs: bool) -> None:
    program = symmetric_conic_program(seed, copies=copies, n_cones=n_cones).program
    other = rescaled(np.random.default_rng(seed), program, signs=signs)
    here, there = (relift.lift(p, values="bits", reduce=False, signs=signs) for p in (program, other.program))
    assert Partition.from_labels(here.class_of_variable[other.columns]) == Partition.from_labels(
        there.class_of_variable
    )
    assert here.small.conic.n_rows == there.small.conic.n_rows
    assert len(here.small.conic) == len(there.small.conic)
    assert not there.notes


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, copies=st.integers(1, 3), n_cones=st.integers(1, 4))
def test_classes_are_never_more_than_the_equitable_ones(seed: int, copies: int, n_cones: int) -> None:
    program = symmetric_conic_program(seed, copies=copies, n_cones=n_cones).program
    plain, found = relift.lift(program, sizes=False, signs=False), relift.lift(program)
    assert Partition.from_labels(plain.class_of_variable).refines(Partition.from_labels(found.class_of_variable))
    assert Partition.from_labels(plain.class_of_row).refines(Partition.from_labels(found.class_of_row))
    assert len(found.small.conic) <= len(plain.small.conic)
    assert found.small.conic.n_rows <= plain.small.conic.n_rows


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, copies=st.integers(1, 3), n_cones=st.integers(1, 4), quadratic=st.booleans())
def test_answers_in_other_units_and_signs_are_optimal(seed: int, copies: int, n_cones: int, quadratic: bool) -> None:
    case = symmetric_conic_program(seed, copies=copies, n_cones=n_cones, quadratic_objective=quadratic)
    program = rescaled(np.random.default_rng(seed), case.program).program
    lifted, direct = relift.solve(program), relift.solve(case.program, lift="none", reduce=False)
    if direct.status == Status.OPTIMAL:
        assert lifted.status == Status.OPTIMAL
        assert lifted.certificate.is_optimal
        assert lifted.objective == pytest.approx(direct.objective, rel=1e-4, abs=1e-4)


def test_rows_a_and_minus_a_inside_a_norm_are_one() -> None:
    # minimise t with |(a'x, -a'x, a'x)| <= t, a'x >= 1
    a = np.array([1.0, 2.0])
    C = np.zeros((4, 3))
    C[0, 2], C[1, :2], C[2, :2], C[3, :2] = -1.0, -a, a, -a
    program = Program(q=[0, 0, 1], A=[[1, 2, 0]], l=[1], conic=ConicRows(C, np.zeros(4), [SecondOrder(4)]))
    result = relift.solve(program)
    assert result.lifting.small.conic.cones == (SecondOrder(2),)
    assert relift.lift(program, signs=False).small.conic.cones == (SecondOrder(3),)
    assert result.objective == pytest.approx(np.sqrt(3), abs=1e-6)
    assert result.certificate.is_optimal


def test_discs_of_different_radii_are_one_class() -> None:
    radii = np.array([1.0, 2.0, 5.0, 0.5])
    C, b = np.zeros((12, 8)), np.zeros(12)
    for k, radius in enumerate(radii):
        C[3 * k + 1, 2 * k], C[3 * k + 2, 2 * k + 1], b[3 * k] = -1.0, 1.0, radius
    program = Program(
        q=np.tile([-1.0, 1.0], 4), A=np.ones((1, 8)), l=[0], u=[0], conic=ConicRows(C, b, [SecondOrder(3)] * 4)
    )
    result = relift.solve(program)
    assert (result.lifting.small.n_variables, len(result.lifting.small.conic)) == (1, 1)
    assert result.objective == pytest.approx(-np.sqrt(2) * radii.sum(), rel=1e-6)
    assert result.certificate.is_optimal


def test_a_head_that_nothing_but_its_cone_reaches_does_not_rest() -> None:
    # t is free, has no cost, and is only in the head: it must be as large as the norm.
    C = np.array([[0.0, -1.0], [-1.0, 0.0]])
    program = Program(q=[1, 0], lb=[2, -np.inf], ub=[np.inf, 10], conic=ConicRows(C, [0, 0], [SecondOrder(2)]))
    result = relift.solve(program)
    assert result.objective == pytest.approx(2)
    assert result.certificate.is_optimal
    assert result.x[1] >= 2 - 1e-6


def test_the_last_row_of_a_power_cone_may_be_turned_or_rest() -> None:
    cone = PowerND((0.5, 0.5))
    C = np.zeros((6, 5))
    for k in range(2):  # sqrt(x y) >= |z|, with z and -z
        C[3 * k, 0], C[3 * k + 1, 1], C[3 * k + 2, 2] = -1.0, -1.0, 1.0 - 2.0 * k
    program = Program(
        q=[1, 1, 0, 0, 0], A=[[0, 0, 1, 0, 0]], l=[2], lb=[0, 0, -9, -1, -1], ub=9,
        conic=ConicRows(C, np.zeros(6), [cone, cone]),
    )  # fmt: skip
    result = relift.solve(program)
    assert len(result.lifting.small.conic) == 1
    assert result.objective == pytest.approx(4, abs=1e-5)
    loose = relift.solve(program.replace(l=[-np.inf]))
    assert loose.objective == pytest.approx(0, abs=1e-6)
    assert loose.certificate.is_optimal


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, copies=st.integers(1, 3))
def test_without_sizes_and_signs_the_search_finds_the_equitable_classes(seed: int, copies: int) -> None:
    program = symmetric_conic_program(seed, copies=copies).program
    images = Images(VectorImages.of(program, "decimal"))
    plain = find_symmetry(program, images, LiftSettings(sizes=False, signs=False, scale_rows=False))
    found = find_up_to_scale(program, images, LiftSettings(sizes=False, signs=False, scale_rows=False))
    if found.variables is None and found.rows is None and found.conic_rows is None:
        assert found.symmetry.variables == plain.variables
        assert found.symmetry.conic_rows == plain.conic_rows
        assert found.symmetry.cones == plain.cones
