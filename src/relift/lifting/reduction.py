r"""What presolve leaves of a program, and the way back from an answer for it to one for the original program.

Each step of presolve keeps its inverse. Expansion of dual values: with :math:`\rho = Px + q + A^\top y + w`, a dual
value of a bound that came from row i (entry a) belongs to that row, :math:`y_i = w_j / a`; a substituted variable gets
the w that makes its own :math:`\rho_j` vanish; steps are undone last first.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import final

import numpy as np

from relift.arrays import Indices, Vector
from relift.lifting.cuts import Cuts
from relift.lifting.presolve_scan import Scan
from relift.lifting.tightest_bounds import NO_ROW
from relift.program.index_sets import all_of, constant
from relift.program.magnitudes import FEW_ENTRIES, transposed_product
from relift.program.passes import product
from relift.program.program import Program
from relift.program.solution import Solution, SolutionParts
from relift.records import quick
from relift.symmetry.exact_vectors import VectorImages


@final
@dataclass(frozen=True, eq=False)
class FixedVariables:
    """Variables that one pass replaced by their values, with the rows that their two bounds came from."""

    indices: Indices
    values: Vector
    lower_source: Indices
    upper_source: Indices


@final
@quick
@dataclass(frozen=True, eq=False)
class Reduction:
    """A smaller program, its exact vectors, with the expansion to the original program.

    Parameters
    ----------
    ground
        The program before.
    program
        The program after; the very same object when nothing was found.
    images
        Exact images of the vectors of ``program``.
    variables, rows
        Which variables and rows of the original program were kept, in order.
    lower_source, upper_source
        Ground length: the row that the last bound of a variable came from, or ``NO_ROW``.
    source_row, source_entry
        The rows that bound a variable, ascending, and the entry by which each does.
    fixed
        The substituted variables, pass by pass.
    duplicate_lower, duplicate_upper
        For each kept row, the original row that its lower and its upper bound came from.
    duplicate_factor
        For each original row, its multiple of the kept row that stands for it.
    scan
        What was found out about the original program, for the next one of the same matrix.
    cuts
        Parts of the matrices, for the next program with the same ones.
    has_own_costs
        Whether substituted values have changed the costs of other variables.
    curvature
        The quadratic part of the objective at the substituted values.
    rows_are_apart
        Whether no row of ``program`` can be a multiple of another with its bounds, and at most one is 0.
    rows_have_entries
        Whether it is known that none is 0.
    vectors_are_given
        Whether each float of the vectors stands for its exact number but for the rounding of a quotient: it was given,
        was divided, or nothing cancelled where values were substituted.
    """

    ground: Program
    program: Program
    images: VectorImages
    variables: Indices
    rows: Indices
    lower_source: Indices
    upper_source: Indices
    source_row: Indices
    source_entry: Vector
    fixed: tuple[FixedVariables, ...] = ()
    duplicate_lower: Indices = field(default_factory=lambda: np.empty(0, np.int64))
    duplicate_upper: Indices = field(default_factory=lambda: np.empty(0, np.int64))
    duplicate_factor: Vector = field(default_factory=lambda: np.empty(0))
    scan: Scan | None = None
    cuts: Cuts | None = None
    has_own_costs: bool = False
    curvature: float = 0.0
    rows_are_apart: bool = False
    rows_have_entries: bool = False
    vectors_are_given: bool = True

    @property
    def is_trivial(self) -> bool:
        """Whether nothing was substituted."""
        return self.program is self.ground

    @property
    def values(self) -> Vector:
        """Ground length: the value of each substituted variable, 0 elsewhere; made when it is asked for."""
        values = np.zeros(self.ground.n_variables)
        for step in self.fixed:
            values[step.indices] = step.values
        return values

    def expand(self, solution: Solution) -> Solution:
        """From an answer for the reduced program to one for the original program."""
        if self.is_trivial:
            return solution
        restored: SolutionParts = {}
        x, ray_x = solution.x, solution.ray_x
        if x is not None:
            restored["x"] = self._restore_point(x, self.values)
        if ray_x is not None:
            restored["ray_x"] = self._restore_point(ray_x, np.zeros(self.ground.n_variables))
        if solution.y is not None and solution.w is not None and restored.get("x") is not None:
            gradient = _gradient(self.ground, restored["x"]) + self._of_cones(solution.v)
            restored["y"], restored["w"] = self._restore_duals(solution.y, solution.w, gradient)
        if solution.ray_y is not None and solution.ray_w is not None:
            restored["ray_y"], restored["ray_w"] = self._restore_duals(
                solution.ray_y, solution.ray_w, self._of_cones(solution.ray_v)
            )
        return solution.but(**restored)

    def restrict(self, solution: Solution) -> Solution:
        """From a point of the original program to one of the reduced program, for a warm start."""
        if self.is_trivial:
            return solution
        return solution.but(
            x=None if solution.x is None else solution.x[self.variables],
            y=None if solution.y is None else solution.y[self.rows],
            w=None if solution.w is None else solution.w[self.variables],
        )

    def _of_cones(self, v: Vector | None) -> Vector:
        """What dual values of conic rows add to the gradient."""
        if v is None or not len(self.ground.conic):
            return np.zeros(self.ground.n_variables)
        return transposed_product(self.ground.conic.A, v)

    def _restore_point(self, point: Vector, full: Vector) -> Vector:
        """Write a point of what is left into one of all, where what was substituted stands already."""
        full[self.variables] = point
        return full

    def _restore_duals(self, y: Vector, w: Vector, gradient: Vector) -> tuple[Vector, Vector]:
        full_y, full_w = np.zeros(self.ground.n_rows), np.zeros(self.ground.n_variables)
        source = np.where(y > 0, self.duplicate_upper, self.duplicate_lower)
        full_y[source] = y / self.duplicate_factor[source]
        full_w[self.variables] = w
        kept = self.variables
        self._hand_to_rows(full_y, full_w, kept, self.lower_source[kept], self.upper_source[kept])
        for step in reversed(self.fixed):
            j = step.indices
            full_w[j] = -(gradient[j] + self._of_rows(full_y, j))
            self._hand_to_rows(full_y, full_w, j, step.lower_source, step.upper_source)
        return full_y, full_w

    def _of_rows(self, y: Vector, columns: Indices) -> Vector:
        """What dual values of rows add to the gradient in some columns."""
        A = self.ground.A
        if A.format == "csr" or A.nnz <= FEW_ENTRIES:  # all columns together cost less than to pick some
            return transposed_product(A, y)[columns]
        return np.asarray(A[:, columns].T @ y, np.float64)

    def _hand_to_rows(self, y: Vector, w: Vector, j: Indices, lower_source: Indices, upper_source: Indices) -> None:
        """Give the dual value of each bound that a row implied to that row."""
        row = np.where(w[j] > 0, upper_source, lower_source)
        implied = (row != NO_ROW) & (w[j] != 0)
        row, j = row[implied], j[implied]
        y[row] += w[j] / self.source_entry[self.source_row.searchsorted(row)]
        w[j] = 0.0


def trivial_reduction(
    program: Program,
    images: VectorImages,
    scan: Scan | None = None,
    cuts: Cuts | None = None,
    earlier: Reduction | None = None,
    *,
    rows_are_apart: bool = False,
    rows_have_entries: bool = False,
) -> Reduction:
    """A reduction that changes nothing: all variables and rows are kept, and bounds are their own."""
    n, m = program.n_variables, program.n_rows
    if earlier is not None and earlier.is_trivial and (earlier.variables.size, earlier.rows.size) == (n, m):
        return replace(
            earlier, ground=program, program=program, images=images, scan=scan, cuts=cuts,
            rows_are_apart=rows_are_apart, rows_have_entries=rows_have_entries,
        )  # fmt: skip
    own = constant(NO_ROW, n)
    return Reduction(
        program, program, images, all_of(n), all_of(m), own, own, all_of(0), constant(0.0, 0), scan=scan, cuts=cuts,
        rows_are_apart=rows_are_apart, rows_have_entries=rows_have_entries,
    )  # fmt: skip


def _gradient(program: Program, x: Vector | None) -> Vector:
    assert x is not None
    return program.q if program.P is None else product(program.P, x) + program.q
