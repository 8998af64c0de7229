"""Masses by the compiled kernel are those of its slow twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.symmetry.test_looks import random_program

from relift.arrays import FieldElements, Vector
from relift.program.program import Program
from relift.symmetry import finite_field as field
from relift.symmetry.colour_refinement import KeptValues
from relift.symmetry.masses import masses_of, masses_slowly
from relift.symmetry.own_scales import Intervals, scales_of_rows, scales_of_variables
from relift.symmetry.partition import Partition
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


def test_sizes_spread_over_rows_and_a_price_over_columns() -> None:
    # Row 0 links a variable of size 6 to one without bounds: 2x + 3y >= 1 tells y the size 2 * 6 / 3.
    program = Program(q=[5, 7], A=[[2, 3]], l=[-np.inf], u=[np.inf], lb=[0, 0], ub=[6, np.inf])
    found = masses_slowly(*parts(program), Partition.discrete(2), Partition.discrete(1))
    assert found.variables.tolist() == pytest.approx([5 * 6, 7 * 4])
    assert found.variable_images.tolist() == field.images(np.array([30.0, 28.0])).tolist()
