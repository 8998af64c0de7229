"""What quadratic constraints and cones add to the residuals of a point (:mod:`relift.lifting.certificate`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from relift.arrays import Vector
from relift.program.cone_distance import pushed_into
from relift.program.conic_passes import slack_and_rooms, terms_of_second_order
from relift.program.magnitudes import largest_of_columns, transposed_product
from relift.program.passes import are_finite
from relift.program.program import Program
from relift.program.quadratic_passes import excess_of_constraints, sums_of_variables
from relift.records import cached_property, quick


@final
@quick
@dataclass(frozen=True, eq=False)
class Duals:
    """Dual values of rows, bounds, quadratic constraints and conic rows."""

    y: Vector
    w: Vector
    z: Vector
    v: Vector

    @property
    def are_finite(self) -> bool:
        """Whether all of them are."""
        return are_finite(self.y, self.w, self.z, self.v)


@final
@quick
@dataclass(frozen=True, eq=False)
class ScaledPoint:
    """A point of a minimisation, with what its residuals are relative to.

    Parameters
    ----------
    program
        The minimisation.
    x
        The point.
    sizes
        How large each variable is.
    scale
        S of the objective.
    common
        The unit of what has none of its own.
    """

    program: Program
    x: Vector
    sizes: Vector
    scale: float
    common: float

    def or_common(self, largest_products: Vector) -> Vector:
        """The largest product of each row; the common unit for rows without entries."""
        return np.where(largest_products > 0, largest_products, self.common)

    @cached_property
    def _excess_and_over(self) -> tuple[float, Vector]:
        """How far quadratic constraints are broken, and by how much each is above its right-hand side."""
        return excess_of_constraints(self.program.quadratic.parts, self.x, self.sizes, self.common)

    def excess_of_quadratic_rows(self) -> float:
        """How far quadratic constraints are broken."""
        return _or_infinite(self._excess_and_over[0]) if len(self.program.quadratic) else 0.0

    def terms_of_cones(self, v: Vector | None) -> tuple[float, float, float]:
        """How far slack and dual values must be pushed, and what cones add to the gap; without v the first alone."""
        rows = self.program.conic
        if not len(rows):
            return 0.0, 0.0, 0.0
        layout = rows.layout
        if v is not None and layout.second_order.size == len(rows):
            found = terms_of_second_order(layout.heads, rows.sizes, self.slack, self.rooms_of_slack, v, self.scale)
            if found is not None:
                pushed, off_cones, gap = found
                return _or_infinite(pushed), _or_infinite(off_cones), gap
        return (self.push_of_slack(), *((0.0, 0.0) if v is None else self.dual_residual_and_gap_of_cones(v)))

    def push_of_slack(self) -> float:
        """How far the slack must be pushed into the cones."""
        rows = self.program.conic
        if not len(rows):
            return 0.0
        return worst(self.pushed_slack[0])

    @cached_property
    def _slack_and_rooms(self) -> tuple[Vector, Vector]:
        return slack_and_rooms(self.program.conic, self.x, self.sizes, self.common)

    @property
    def slack(self) -> Vector:
        """What must lie in the cones."""
        return self._slack_and_rooms[0]

    @cached_property
    def pushed_slack(self) -> tuple[Vector, Vector]:
        """How far the slack of each cone must be pushed, and the slack after that."""
        return pushed_into(self.program.conic, self.slack, self.rooms_of_slack)

    @property
    def rooms_of_slack(self) -> Vector:
        """The largest product or right-hand side of each conic row; of its cone where the row has none."""
        return self._slack_and_rooms[1]

    def dual_residual_and_gap_of_cones(self, v: Vector) -> tuple[float, float]:
        """How far v is from the dual cones; what cones add to the gap."""
        rows = self.program.conic
        if not len(rows):
            return 0.0, 0.0
        slack, kept, rooms = self.slack, self.pushed_slack[1], self.rooms_of_slack
        push, paid = pushed_into(rows, v, np.maximum(np.abs(v), self.scale / rooms), dual=True)
        products = np.bincount(rows.cone_of_row, v * slack, len(rows))
        gap = np.abs(products).sum() + (np.abs(v) * np.abs(kept - slack) + np.abs(slack) * np.abs(paid - v)).sum()
        return worst(push), float(gap)

    def gap_of_quadratic_rows(self, z: Vector) -> float:
        """What quadratic constraints add to the gap, for dual values that are not negative."""
        rows = self.program.quadratic
        return total(np.abs(z * self._excess_and_over[1])) if len(rows) else 0.0


def terms_and_gradient_of_constraints(program: Program, x: Vector, z: Vector, v: Vector) -> tuple[Vector, Vector]:
    """The largest product of quadratic constraints and cones in each entry of the gradient, and what they add to it."""
    rows, cones = program.quadratic, program.conic
    terms = largest_of_columns(cones.A, np.abs(v))
    gradient = transposed_product(cones.A, v) if len(cones) else np.zeros(x.size)
    if len(rows):
        sums, largest = sums_of_variables(rows.entries, x, z)
        terms = np.maximum(np.maximum(terms, largest_of_columns(rows.q, z)), largest)
        gradient = sums + transposed_product(rows.q, z) + gradient
    return terms, gradient


def worst(residuals: Vector) -> float:
    """The largest; infinite if one is not a number."""
    return _or_infinite(float(residuals.max(initial=0.0)))  # NaN if one is


def _or_infinite(number: float) -> float:
    return number if number == number else float("inf")


def total(terms: Vector) -> float:
    """The sum; infinite if one is not a number."""
    return _or_infinite(float(terms.sum()))  # NaN if one is
