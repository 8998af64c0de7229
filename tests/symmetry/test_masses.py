"""Masses by the compiled kernel are those of its slow twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.symmetry.test_looks import random_program

import relift
from relift.arrays import FieldElements, Vector
from relift.program.cones import SecondOrder
from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.settings import LiftSettings
from relift.symmetry import finite_field as field
from relift.symmetry.colour_refinement import KeptValues
from relift.symmetry.exact_vectors import VectorImages
from relift.symmetry.masses import masses_of, masses_slowly
from relift.symmetry.own_scales import Intervals, Masses, scales_of_rows, scales_of_variables
from relift.symmetry.partition import Partition
from relift.symmetry.scaled_cones import ScaledCones
from relift.symmetry.scaled_refinement import refine_up_to_scale


def intervals(low: Vector, high: Vector) -> Intervals:
    return Intervals(low, high, field.images(low), field.images(high))


def parts(program: Program) -> tuple[Program, Intervals, Intervals, FieldElements]:
    bounds, rows = intervals(program.lb, program.ub), intervals(program.l, program.u)
    return program, bounds, rows, field.images(program.q)


@pytest.mark.skipif(not field.CORE_IS_COMPILED, reason="the core is not compiled: both are the slow ones")
@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**31), n_classes=st.integers(1, 40))
def test_masses_are_those_of_the_slow_twin(seed: int, n_classes: int) -> None:
    program, random = random_program(seed), np.random.default_rng(seed)
    variables = Partition.from_labels(random.integers(0, n_classes, program.n_variables))
    rows = Partition.from_labels(random.integers(0, n_classes, program.n_rows))
    slow = masses_slowly(*parts(program), variables, rows)
    kept = KeptValues(program.P, program.A) if seed % 2 else None
    if kept is not None:  # the values are taken from a refinement
        _, bounds, sides, costs = parts(program)
        own = scales_of_variables(bounds, program.q, costs)
        refine_up_to_scale(program.P, program.A, own, scales_of_rows(sides), kept=kept)
    found = masses_of(*parts(program), variables, rows, kept=kept)
    if found is None:  # all are equal
        assert np.unique(slow.variable_images).size == 1
        assert np.unique(slow.row_images).size <= 1
        return
    assert np.array_equal(found.variable_images, slow.variable_images)
    assert np.array_equal(found.row_images, slow.row_images)
    assert np.allclose(found.variables, slow.variables, rtol=1e-12, atol=0)
    assert np.allclose(found.rows, slow.rows, rtol=1e-12, atol=0)


def long_chain(seed: int) -> Program:
    """A grid of differences with few costs and bounds, so that sizes and prices travel far, with ties on their way."""
    random = np.random.default_rng(seed)
    side, width = int(random.integers(8, 60)), int(random.integers(1, 4))
    line = sparse.eye_array(side - 1, side, k=1) - sparse.eye_array(side - 1, side)
    A = sparse.vstack(
        [sparse.kron(line, sparse.eye_array(width)), sparse.kron(sparse.eye_array(side), np.ones((1, width)))]
    )
    A = sparse.csr_array(A)
    A.data = A.data * random.choice([[1.0], [1.0, 2.0], [0.3, 1.0, 1e150], [1e-80, 1.0, 1e80]][seed % 4], A.nnz)
    m, n = A.shape
    q = np.where(random.random(n) < 2 / n, random.choice([1.0, 3.0], n), 0.0)
    q[int(random.integers(n))] = 2.0
    u = np.where(random.random(m) < 2 / m, 7.0, np.inf)
    ub = np.where(random.random(n) < 2 / n, random.choice([2.0, 5.0], n), np.inf)
    ub[int(random.integers(n))] = 4.0
    return Program(q=q, A=A.asformat("csr" if seed % 3 else "csc"), u=u, lb=0, ub=ub)


@pytest.mark.skipif(not field.CORE_IS_COMPILED, reason="the core is not compiled: both are the slow ones")
@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_masses_that_travel_far_are_those_of_the_slow_twin(seed: int) -> None:
    program = long_chain(seed)
    alone = Partition.discrete(program.n_variables), Partition.discrete(program.n_rows)
    with np.errstate(over="ignore", under="ignore"):
        slow, found = masses_slowly(*parts(program), *alone), masses_of(*parts(program), *alone)
    assert found is not None or np.unique(slow.variable_images).size == 1
    if found is not None:
        assert np.array_equal(found.variable_images, slow.variable_images)
        assert np.array_equal(found.row_images, slow.row_images)
        assert np.allclose(found.variables, slow.variables, rtol=1e-12, atol=0)


def test_sizes_spread_over_rows_and_a_price_over_columns() -> None:
    # Row 0 links a variable of size 6 to one without bounds: 2x + 3y >= 1 tells y the size 2 * 6 / 3.
    program = Program(q=[5, 7], A=[[2, 3]], l=[-np.inf], u=[np.inf], lb=[0, 0], ub=[6, np.inf])
    found = masses_slowly(*parts(program), Partition.discrete(2), Partition.discrete(1))
    assert found.variables.tolist() == pytest.approx([5 * 6, 7 * 4])
    assert found.variable_images.tolist() == field.images(np.array([30.0, 28.0])).tolist()


def plants(sizes: Vector, n_hours: int, demand: Vector) -> Program:
    """Output below what is built, which is below a size; outputs and what is missing sum to a demand."""
    n = sizes.size
    output, built = np.eye(n * n_hours), np.kron(np.eye(n), np.ones((n_hours, 1)))
    below = np.hstack([output, -built, np.zeros((n * n_hours, n_hours))])
    met = np.hstack([np.kron(np.ones((1, n)), np.eye(n_hours)), np.zeros((n_hours, n)), np.eye(n_hours)])
    return Program(
        q=np.concatenate([np.full(n * n_hours, 20.0), np.full(n, 5.0), np.full(n_hours, 900.0)]),
        A=np.vstack([below, met]),
        l=np.concatenate([np.full(n * n_hours, -np.inf), demand]),
        u=np.concatenate([np.zeros(n * n_hours), demand]),
        lb=0.0,
        ub=np.concatenate([np.full(n * n_hours, np.inf), sizes, np.full(n_hours, np.inf)]),
    )


@pytest.mark.parametrize("seed", range(5))
def test_plants_whose_capacity_alone_is_limited_are_one_plant(seed: int) -> None:
    random = np.random.default_rng(seed)
    sizes = random.uniform(1, 9, 12) if seed % 2 else random.permutation(np.arange(3.0, 15.0))
    program = plants(sizes, 4, (sizes.sum() * random.uniform(0.4, 0.8, 4)).round(1))
    result = relift.solve(program)
    assert result.certificate.is_optimal
    assert result.lifting.small.n_variables <= 4 + 1 + 4
    assert result.objective == pytest.approx(relift.solve(program, lift="none").objective, rel=1e-7)


def test_the_least_that_a_row_admits_counts_whoever_tells_it() -> None:
    # x <= y <= 7 and x + z = 4: the demand is less than the capacity, and tells the size of x, and of z.
    program = Program(
        q=[1, 1, 1], A=[[1, -1, 0], [1, 0, 1]], l=[-np.inf, 4], u=[0, 4], lb=0, ub=[np.inf, 7, np.inf]
    )  # fmt: skip
    found = masses_slowly(*parts(program), Partition.discrete(3), Partition.discrete(2))
    assert found.variables.tolist() == pytest.approx([4, 7, 4])
    program = program.replace(l=[-np.inf, 9], u=[0, 9])
    found = masses_slowly(*parts(program), Partition.discrete(3), Partition.discrete(2))
    assert found.variables.tolist() == pytest.approx([7, 7, 9])


@pytest.mark.skipif(not field.CORE_IS_COMPILED, reason="the core is not compiled: both are the slow ones")
@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_cones_of_a_class_and_their_rows_have_the_least_of_their_masses(seed: int) -> None:
    random = np.random.default_rng(seed)
    cones = [SecondOrder(int(random.integers(1, 4))) for _ in range(random.integers(1, 6))]
    k, n, m = sum(cone.n_rows for cone in cones), int(random.integers(1, 4)), int(random.integers(0, 3))
    program = Program(
        q=np.ones(n),
        A=random.normal(size=(m, n)),
        l=0.0,
        conic=ConicRows(random.normal(size=(k, n)), np.ones(k), cones),
    )
    scaled = ScaledCones.of(program, VectorImages.of(program, "decimal"), LiftSettings())
    floats, row_floats = (random.integers(1, 5, size).astype(float) for size in (n + len(cones), m + k))
    masses = Masses(floats, field.images(floats), row_floats, field.images(row_floats))
    columns = Partition.from_labels(random.integers(0, 4, n + len(cones)))
    found = scaled.equalised(masses, columns)
    expected = scaled.equalised_slowly(masses, Partition.from_labels(columns.labels[n:]))
    for name in ("variables", "variable_images", "rows", "row_images"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_array_equal(masses.rows, row_floats)  # as they were
    np.testing.assert_array_equal(masses.variables, floats)
