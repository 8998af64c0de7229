r"""What is already known is substituted before symmetry is looked for; symmetry hides behind it.

- a variable with lb = ub is replaced by its value;
- a row with one remaining entry is a bound of that variable;
- a row with no remaining entry is dropped, if 0 satisfies it;
- of rows that are multiples of each other one stays, with the tightest bounds.

Conic rows stay; values are substituted into their right-hand sides.

Each step keeps its inverse. Values shift in floats *and* in exact field elements, since the refinement that
follows must not see rounding. A step that would leave no value (crossing bounds, ``0 >= 1``) is not taken: the row
stays and the solver gives the proof of infeasibility.

Expansion of dual values: with :math:`\rho = Px + q + A^\top y + w`, a dual value of a bound that came from row i
(entry a) belongs to that row, :math:`y_i = w_j / a`; a substituted variable gets the w that makes its own
:math:`\rho_j` vanish; steps are undone last first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import FieldElements, Indices, Integers, ScalarT, SparseMatrix, Vector
from relift.lifting.cuts import Cuts
from relift.lifting.duplicate_rows import ROUNDING, Duplicates, find_duplicates
from relift.program.index_sets import all_of, constant, where
from relift.program.magnitudes import transposed_product
from relift.program.passes import Entries, entries_of, scan_rows, submatrix
from relift.program.program import Program
from relift.program.solution import Solution, SolutionParts
from relift.settings import Reading
from relift.symmetry import finite_field as exact
from relift.symmetry.exact_vectors import VectorImages

MAX_PASSES = 16
"""Chains of substitutions longer than this are left to the backend's presolve."""

NO_ROW = -1
"""The bound is the variable's own."""

SLACK = 1e-9
"""A row without entries whose bounds miss 0 by no more than this, relatively, is rounding of a satisfied one."""


@final
@dataclass(frozen=True, eq=False)
class FixedVariables:
    """Variables that one pass replaced by their values, with the rows that their two bounds came from."""

    indices: Indices
    lower_source: Indices
    upper_source: Indices


@final
@dataclass(frozen=True, eq=False)
class Shift:
    """What values of variables add to the rows of a matrix.

    Parameters
    ----------
    floats, images
        The sums, in floats and exactly.
    sizes
        The sums of the sizes of their terms.
    touched
        Rows that have an entry of one of these variables, ascending.
    entries
        The entries of these variables.
    """

    floats: Vector
    images: FieldElements
    sizes: Vector
    touched: Indices
    entries: Entries

    @classmethod
    def of(
        cls, columns: Entries, images: FieldElements, value: Vector, value_image: FieldElements, n_rows: int
    ) -> Shift:
        """Add up some columns times their values."""
        rows, column = columns.row, columns.column
        product = columns.value * value[column]
        floats = np.asarray(np.bincount(rows, weights=product, minlength=n_rows), np.float64)
        sizes = np.asarray(np.bincount(rows, weights=np.abs(product), minlength=n_rows), np.float64)
        terms = exact.multiply(images, value_image[column])
        return cls(floats, exact.grouped_sums(rows, terms, n_rows), sizes, _distinct(rows, n_rows), columns)

    @cached_property
    def counts(self) -> Indices:
        """How many entries that are not 0 each row has."""
        return np.bincount(self.entries.row[self.entries.value != 0], minlength=self.floats.size)


@final
@dataclass(frozen=True, eq=False)
class Scan:
    """What presolve reads of a program first: exact vectors, entries of each row, rows that may be multiples."""

    reading: Reading
    images: VectorImages
    counts: Indices
    alike: Indices

    @classmethod
    def of(cls, program: Program, reading: Reading, earlier: Reduction | None = None) -> Scan:
        """Read a program, but not what the earlier one has in common with it."""
        old = None if earlier is None else earlier.scan
        if old is None or earlier is None or old.reading != reading:
            # Singletons become bounds.
            return cls(reading, VectorImages.of(program, reading), *scan_rows(program.A, least=2))
        images = VectorImages.of(program, reading, (earlier.ground, old.images))
        if _is_same_matrix(program.A, earlier.ground.A):
            return cls(reading, images, old.counts, old.alike)
        return cls(reading, images, *scan_rows(program.A, least=2))


def _is_same_matrix(A: SparseMatrix, B: SparseMatrix) -> bool:
    pairs = ((A.indptr, B.indptr), (A.indices, B.indices), (A.data, B.data))
    return A.format == B.format and all(one is other or np.array_equal(one, other) for one, other in pairs)


@final
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
    values
        Ground length: the value of each substituted variable, 0 elsewhere.
    lower_source, upper_source
        Ground length: the row that the bound of a kept variable came from, or ``NO_ROW``.
    source_entry
        Ground rows: the entry by which a row bounds its variable.
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
    """

    ground: Program
    program: Program
    images: VectorImages
    variables: Indices
    rows: Indices
    values: Vector
    lower_source: Indices
    upper_source: Indices
    source_entry: Vector
    fixed: tuple[FixedVariables, ...] = ()
    duplicate_lower: Indices = field(default_factory=lambda: np.empty(0, np.int64))
    duplicate_upper: Indices = field(default_factory=lambda: np.empty(0, np.int64))
    duplicate_factor: Vector = field(default_factory=lambda: np.empty(0))
    scan: Scan | None = None
    cuts: Cuts | None = None
    has_own_costs: bool = False
    curvature: float = 0.0

    @property
    def is_trivial(self) -> bool:
        """Whether nothing was substituted."""
        return self.program is self.ground

    def expand(self, solution: Solution) -> Solution:
        """From an answer for the reduced program to one for the original program."""
        if self.is_trivial:
            return solution
        restored: SolutionParts = {}
        x, ray_x = solution.x, solution.ray_x
        if x is not None:
            restored["x"] = self._restore_point(x, self.values)
        if ray_x is not None:
            restored["ray_x"] = self._restore_point(ray_x, np.zeros_like(self.values))
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

    def _restore_point(self, point: Vector, substituted: Vector) -> Vector:
        full = substituted.copy()
        full[self.variables] = point
        return full

    def _restore_duals(self, y: Vector, w: Vector, gradient: Vector) -> tuple[Vector, Vector]:
        full_y, full_w = np.zeros(self.ground.n_rows), np.zeros(self.ground.n_variables)
        source = np.where(y > 0, self.duplicate_upper, self.duplicate_lower)
        full_y[source] = y / self.duplicate_factor[source]
        full_w[self.variables] = w
        self._hand_to_rows(full_y, full_w, self.variables, self.lower_source, self.upper_source)
        columns = self.ground.A.tocsc() if self.fixed else self.ground.A
        for step in reversed(self.fixed):
            j = step.indices
            full_w[j] = -(gradient[j] + columns[:, j].T @ full_y)
            self._hand_to_rows(full_y, full_w, j, step.lower_source, step.upper_source)
        return full_y, full_w

    def _hand_to_rows(self, y: Vector, w: Vector, j: Indices, lower_source: Indices, upper_source: Indices) -> None:
        """Give the dual value of each bound that a row implied to that row."""
        row = np.where(w[j] > 0, upper_source, lower_source)
        implied = (row != NO_ROW) & (w[j] != 0)
        row, j = row[implied], j[implied]
        y[row] += w[j] / self.source_entry[row]
        w[j] = 0.0


def reduce(program: Program, reading: Reading = "decimal", earlier: Reduction | None = None) -> Reduction:
    """Substitute fixed variables, singleton rows, empty rows and duplicate rows, in O(nnz) a pass.

    Parameters
    ----------
    program
        A minimisation.
    reading
        How floats are read, see :mod:`relift.symmetry.finite_field`.
    earlier
        A reduction of a program with the same matrix, or the same vectors: what is equal is not read again.

    Examples
    --------
    The first row fixes x[0] = 2, so the second one bounds x[1] by 3:

    >>> program = Program(q=[1, -1], A=[[2, 0], [1, 1]], l=[4, 0], u=[4, 5], lb=0)
    >>> reduction = reduce(program)
    >>> reduction.program, reduction.program.ub.tolist(), reduction.values.tolist()
    (Program(LP, min, 1 variables, 0 rows, 0 nonzeros), [3.0], [2.0, 0.0])
    """
    scan = Scan.of(program, reading, earlier)
    if earlier is not None and _has_same_constraints(scan, program, earlier):
        return _with_costs(program, scan, earlier)
    if not _has_anything(program, scan):
        return _trivial(program, scan.images, scan, Cuts(), earlier)
    work = _Work(program, scan, Cuts(None if earlier is None else earlier.cuts))
    work.substitute()
    return work.finish()


def _has_anything(program: Program, scan: Scan) -> bool:
    """Whether there is anything to substitute: short rows, rows that may be multiples, or fixed variables."""
    if scan.alike.size or (scan.counts.size and scan.counts.min() < 2):
        return True
    return bool((program.lb == program.ub).any())


def _has_same_constraints(scan: Scan, program: Program, earlier: Reduction) -> bool:
    """Whether presolve would do the same as before: matrix and bounds are the same, and costs play no part."""
    old = earlier.scan
    if old is None or scan.counts is not old.counts or len(program.quadratic):
        return False
    new, known = scan.images, old.images
    if not (new.l is known.l and new.u is known.u and new.lb is known.lb and new.ub is known.ub):
        return False
    return not earlier.fixed or _has_same_costs_beside(program, earlier)


def _has_same_costs_beside(program: Program, earlier: Reduction) -> bool:
    """Whether values that were substituted leave the costs of other variables as they are."""
    P, before = program.P, earlier.ground.P
    if len(program.conic) or (P is None) != (before is None) or earlier.has_own_costs:
        return False
    return P is None or before is None or _is_same_matrix(P, before)


def _with_costs(program: Program, scan: Scan, earlier: Reduction) -> Reduction:
    """The same steps with other costs, and, where no variable was substituted, other right-hand sides of cones."""
    if earlier.is_trivial:
        return _trivial(program, scan.images, scan, earlier.cuts, earlier)
    old, kept = earlier.program, _taker(earlier.variables, program.n_variables)
    reduced = Program.trusted(
        old.P if earlier.fixed else program.P, kept(program.q), old.A, old.l, old.u, old.lb, old.ub,
        program.r + float(program.q @ earlier.values) + earlier.curvature if earlier.fixed else program.r,
        quadratic=old.quadratic, conic=old.conic if earlier.fixed else program.conic,
    )  # fmt: skip
    images = replace(earlier.images, q=kept(scan.images.q), b=scan.images.b)
    return replace(earlier, ground=program, program=reduced, images=images, scan=scan)


def unreduced(program: Program, reading: Reading = "decimal", earlier: Reduction | None = None) -> Reduction:
    """A reduction that changes nothing; nothing of an earlier one is of use to it."""
    return _trivial(program, VectorImages.of(program, reading))


def _trivial(
    program: Program,
    images: VectorImages,
    scan: Scan | None = None,
    cuts: Cuts | None = None,
    earlier: Reduction | None = None,
) -> Reduction:
    n, m = program.n_variables, program.n_rows
    if earlier is not None and earlier.is_trivial and (earlier.variables.size, earlier.rows.size) == (n, m):
        return replace(earlier, ground=program, program=program, images=images, scan=scan, cuts=cuts)
    own = constant(NO_ROW, n)
    nothing = constant(0.0, n), constant(0.0, m)
    return Reduction(
        program, program, images, all_of(n), all_of(m), nothing[0], own, own, nothing[1], scan=scan, cuts=cuts
    )


class _Work:
    """The bounds while passes tighten them; matrices are not touched until the end."""

    def __init__(self, program: Program, scan: Scan, cuts: Cuts) -> None:
        self.program, self.scan, self.reading, self.cuts = program, scan, scan.reading, cuts
        self.images = images = scan.images
        self.q, self.l, self.u, self.lb, self.ub = program.q, program.l, program.u, program.lb, program.ub
        self.q_image, self.l_image, self.u_image = images.q, images.l, images.u
        self.lb_image, self.ub_image = images.lb, images.ub
        self.b, self.b_image = program.conic.b, images.b
        n, m = program.n_variables, program.n_rows
        self.has_changed = False
        self.own: set[str] = set()
        self.variable_alive, self.row_alive = np.ones(n, bool), np.ones(m, bool)
        self.lower_source: Indices | None = None  # until a row gives a bound
        self.upper_source: Indices | None = None
        self.values_of_passes: list[Vector] = []
        self.fixed: list[FixedVariables] = []
        self.shifts: list[Shift] = []
        self.counts, self.alike = scan.counts, scan.alike
        self.left_alone = np.zeros(m, bool)

    def change(self) -> None:
        """Make what is needed as soon as something is about to change."""
        if self.has_changed:
            return
        self.has_changed = True
        self.source_entry = np.zeros(self.program.n_rows)
        self.row_terms = np.zeros(self.program.n_rows)
        self.variable_terms: Vector | None = None
        self.conic_terms = np.zeros(self.program.conic.n_rows)

    def make_own(self, *names: str) -> None:
        """Make copies of vectors that are about to change; large ones cost more than what is done to them."""
        for name in names:
            if name not in self.own:
                self.own.add(name)
                setattr(self, name, getattr(self, name).copy())
                setattr(self, f"{name}_image", getattr(self, f"{name}_image").copy())

    def substitute(self) -> None:
        bounds_are_new = True
        for _ in range(MAX_PASSES):
            open_rows = self.row_alive & ~self.left_alone
            singletons = np.flatnonzero((self.counts == 1) & open_rows)
            empty = np.flatnonzero((self.counts == 0) & open_rows)
            fixed = self.fixed_now() if bounds_are_new else np.empty(0, np.int64)
            if singletons.size + empty.size + fixed.size == 0:
                return
            self.change()
            if empty.size:
                self.drop_empty(empty)
            bounds_are_new = bool(singletons.size)
            if bounds_are_new:
                self.rows_to_bounds(singletons)
                fixed = self.fixed_now()
            if fixed.size:
                self.fix(fixed)

    def fixed_now(self) -> Indices:
        """Variables whose bounds are equal, and that were not substituted yet."""
        is_fixed = self.lb == self.ub
        if self.fixed:
            is_fixed &= self.variable_alive
        # A value put into a quadratic constraint would round its coefficients: variables there stay.
        is_fixed[self.program.quadratic.variables] = False
        return np.flatnonzero(is_fixed)

    def drop_empty(self, rows: Indices) -> None:
        size = 1.0 + np.maximum(np.abs(_finite(self.program.l[rows])), np.abs(_finite(self.program.u[rows])))
        holds = (self.l[rows] <= SLACK * size) & (self.u[rows] >= -SLACK * size)
        self.row_alive[rows[holds]] = False
        self.left_alone[rows[~holds]] = True

    def rows_to_bounds(self, rows: Indices) -> None:
        columns, entries, entry_images = self.remaining_entry(rows)
        bounds = _Scaled.of(
            self.l[rows],
            self.u[rows],
            self.l_image[rows],
            self.u_image[rows],
            entries,
            exact.inverse(entry_images),
        )
        j = _distinct(columns, self.program.n_variables)
        position = np.empty(self.program.n_variables, np.int64)
        position[j] = np.arange(j.size)
        at = position[columns]
        # Several rows may bound one variable: the tightest wins. Where they leave no value, all stay rows.
        lower = _tightest(self.lb[j], self.lb_image[j], bounds.low, bounds.low_image, at, np.maximum)
        upper = _tightest(self.ub[j], self.ub_image[j], bounds.high, bounds.high_image, at, np.minimum)
        crossed = _leave_no_value(lower, upper)
        crossed[at[bounds.is_lost]] = True
        self.make_own("lb", "ub")
        if self.lower_source is None or self.upper_source is None:
            self.lower_source = np.full(self.program.n_variables, NO_ROW, np.int64)
            self.upper_source = self.lower_source.copy()
        keep = ~crossed[at]
        self.left_alone[rows[~keep]] = True
        bounded = _distinct(at[keep], j.size)
        for tight, values, images, sources in (
            (lower, self.lb, self.lb_image, self.lower_source),
            (upper, self.ub, self.ub_image, self.upper_source),
        ):
            values[j[bounded]], images[j[bounded]] = tight.values[bounded], tight.images[bounded]
            won = bounded[tight.winner[bounded] >= 0]
            sources[j[won]] = rows[tight.winner[won]]
        self.source_entry[rows[keep]] = entries[keep]
        self.row_alive[rows[keep]] = False

    def remaining_entry(self, rows: Indices) -> tuple[Indices, Vector, FieldElements]:
        """Column, value and image of the one entry that each of these rows still has."""
        part = entries_of(self.program.A, rows, None)
        alive = self.variable_alive[part.column] & (part.value != 0)
        row, column, entry = part.row[alive], part.column[alive], part.value[alive]
        order = np.argsort(row, kind="stable")
        column, entry = column[order], entry[order]
        return column, entry, exact.images(entry, self.reading)

    def fix(self, variables: Indices) -> None:
        """Replace variables by their values in l, u, q, r and the right-hand sides of cones."""
        program, value, value_image = self.program, self.lb[variables], self.lb_image[variables]
        lower, upper = (_places(source, variables) for source in (self.lower_source, self.upper_source))
        self.fixed.append(FixedVariables(variables, lower, upper))
        self.values_of_passes.append(value)
        self.variable_alive[variables] = False
        shift = self.shift("A", program.A, variables, value, value_image)
        self.shifts.append(shift)
        self.row_terms = self.row_terms + shift.sizes
        for name, bound in (("l", self.l), ("u", self.u)):
            self.move(name, shift, shift.touched[np.isfinite(bound[shift.touched])], self.row_terms, exact.subtract)
        self.counts = self.counts - shift.counts
        # A row that was left alone because it crossed a bound by rounding may hold now that nothing is left of it.
        self.left_alone[shift.touched[self.counts[shift.touched] == 0]] = False
        if len(program.conic):
            shift = self.shift("cones", program.conic.A, variables, value, value_image)
            self.conic_terms = self.conic_terms + shift.sizes
            self.move("b", shift, shift.touched, self.conic_terms, exact.subtract)
        # The costs of substituted variables are read from the original.
        if program.P is None:
            return
        columns = self.columns("P", program.P, variables)
        if not self.variable_alive[columns[0].row].any():
            return
        shift = self.shift("P", program.P, variables, value, value_image, columns)
        self.variable_terms = shift.sizes if self.variable_terms is None else self.variable_terms + shift.sizes
        self.move("q", shift, shift.touched[self.variable_alive[shift.touched]], self.variable_terms, exact.add)

    def move(
        self,
        name: str,
        shift: Shift,
        moved: Indices,
        terms: Vector,
        put: Callable[[FieldElements, FieldElements], FieldElements],
    ) -> None:
        """Put what values add to some entries into one of the vectors, floats and exact.

        What the vectors are tells which passes there were before: each makes new ones.
        """
        if not terms.any() and not shift.images.any():
            return  # zeros, in this pass and before
        before, before_image = getattr(self, name), getattr(self, f"{name}_image")

        def make() -> tuple[Vector, FieldElements]:
            vector, image = before.copy(), before_image.copy()
            vector[moved] += shift.floats[moved] if put is exact.add else -shift.floats[moved]
            image[moved] = put(image[moved], shift.images[moved])
            self.settle(vector, image, moved, terms)
            return vector, image

        after = self.cuts.made(
            f"{name}, {len(self.fixed)}", self.program.A, moved, None, make, objects=(before, before_image, shift)
        )
        setattr(self, name, after[0])
        setattr(self, f"{name}_image", after[1])
        self.own.discard(name)

    def shift(
        self,
        name: str,
        matrix: SparseMatrix,
        variables: Indices,
        value: Vector,
        value_image: FieldElements,
        columns: tuple[Entries, FieldElements] | None = None,
    ) -> Shift:
        """What the values of these variables add to the rows of a matrix."""
        entries = self.columns(name, matrix, variables) if columns is None else columns
        return self.cuts.made(
            f"shift of {name}, {len(self.fixed)}, {self.reading}", matrix, None, variables,
            lambda: Shift.of(*entries, value, value_image, matrix.shape[0]), numbers=(value, value_image),
        )  # fmt: skip

    def columns(self, name: str, matrix: SparseMatrix, variables: Indices) -> tuple[Entries, FieldElements]:
        """The columns that a pass substitutes, and their entries exactly."""

        def make() -> tuple[Entries, FieldElements]:
            part = entries_of(matrix, None, variables)
            return part, exact.images(part.value, self.reading)

        return self.cuts.made(f"{name}, {len(self.fixed)}, {self.reading}", matrix, None, variables, make)

    def settle(self, values: Vector, images: FieldElements, moved: Integers, terms: Vector) -> None:
        """Make floats equal that stand for one exact number: .3 - .1 - .1 - .1 and .3 - .3 are both 0.

        Where terms cancel, what rounding left is large against the rest, and classes that are right in exact numbers
        would fail their check in floats. Of equal numbers, the float that reads as the exact one is taken, if any.
        """
        if moved.size == 0:
            return
        floats, words = values[moved], images[moved]
        is_read = exact.images(floats, self.reading) == words
        if is_read.all():  # what is equal exactly is equal in floats
            values[moved] = floats + 0.0  # -0.0 is 0.0
            return
        order = np.lexsort((~is_read, words))
        in_order, first = words[order], np.ones(moved.size, bool)
        np.not_equal(in_order[1:], in_order[:-1], out=first[1:])
        chosen = np.empty(moved.size)
        chosen[order] = floats[order][first][np.cumsum(first) - 1]
        chosen[words == 0] = 0.0
        is_rounding = np.abs(chosen - floats) <= ROUNDING * (np.abs(floats) + terms[moved])
        values[moved] = np.where(is_rounding, chosen, floats)

    def finish(self) -> Reduction:
        program, A = self.program, self.program.A
        variables, rows = where(self.variable_alive), where(self.row_alive)
        # Those of the earlier program if they are equal: then all that is made of them is found without comparing.
        variables = self.cuts.made("variables", A, None, variables, lambda: variables)
        rows = self.cuts.made("rows", A, rows, None, lambda: rows)
        duplicates, cut = self.duplicates(rows, variables)
        if not self.has_changed and duplicates is None:
            self.cuts.close()
            return _trivial(program, self.images, self.scan, self.cuts)
        self.change()
        factor = constant(1.0, program.n_rows)
        lower_row = upper_row = rows
        if duplicates is not None:
            factor, cut = np.ones(program.n_rows), None
            rows, lower_row, upper_row = self.merge(rows, duplicates, factor)
        if rows.size < program.n_rows or variables.size < program.n_variables:
            made = cut
            A = self.cuts.made(
                "A", A, *self.some(rows, variables),
                lambda: submatrix(program.A, rows, variables) if made is None else made,
            )  # fmt: skip
        P = program.P
        if P is not None and variables.size < program.n_variables:
            whole = P
            P = self.cuts.made("P", whole, variables, variables, lambda: submatrix(whole, variables, variables))
            P = None if P.nnz == 0 else P
        values = self.cuts.made("values", program.A, None, variables, self.values, objects=tuple(self.shifts))
        linear, quadratic = self.constant(variables, values) if self.fixed else (0.0, 0.0)
        q, lb, ub = (self.part(name, variables, program.n_variables) for name in ("q", "lb", "ub"))
        l, u = (self.part(name, rows, program.n_rows) for name in ("l", "u"))
        lower, upper = (
            self.sources(name, source, variables)
            for name, source in (("lower", self.lower_source), ("upper", self.upper_source))
        )
        self.cuts.close()
        reduced = Program.trusted(
            P, q[0], A, l[0], u[0], lb[0], ub[0], program.r + linear + quadratic,
            quadratic=program.quadratic.on_variables(variables), conic=program.conic.on_variables(variables, self.b),
        )  # fmt: skip
        images = VectorImages(q[1], l[1], u[1], lb[1], ub[1], self.b_image)
        return Reduction(
            program, reduced, images, variables, rows, values, lower, upper, self.source_entry,
            tuple(self.fixed), lower_row, upper_row, factor, self.scan, self.cuts, self.q is not program.q, quadratic,
        )  # fmt: skip

    def part(self, name: str, kept: Indices, size: int) -> tuple[Vector, FieldElements]:
        """What is left of one of the vectors, floats and exact; the vector itself where all is kept."""
        vector, image = getattr(self, name), getattr(self, f"{name}_image")
        if kept.size == size:
            return vector, image
        make = lambda: (vector.take(kept), image.take(kept))  # noqa: E731
        return self.cuts.made(f"part of {name}", self.program.A, None, kept, make, objects=(vector, image))

    def values(self) -> Vector:
        """The value of each substituted variable, 0 elsewhere."""
        values = np.zeros(self.program.n_variables)
        for step, value in zip(self.fixed, self.values_of_passes, strict=True):
            values[step.indices] = value
        return values

    def constant(self, variables: Indices, values: Vector) -> tuple[float, float]:
        """The linear and the quadratic part of the objective where others than substituted variables are 0."""
        program = self.program

        def make() -> tuple[float, float]:
            curvature = 0.0 if program.P is None else 0.5 * float(values @ (program.P @ values))
            return float(program.q @ values), curvature

        objects = (program.q, program.P, *self.shifts)
        return self.cuts.made("constant", program.A, None, variables, make, objects=objects)

    def sources(self, name: str, source: Indices | None, variables: Indices) -> Indices:
        """The rows that bounds of what is left came from."""
        if source is not None:
            return source.take(variables)
        return self.cuts.made(f"{name} source", self.program.A, None, variables, lambda: _places(None, variables))

    def some(self, rows: Indices, variables: Indices) -> tuple[Indices | None, Indices | None]:
        """The same rows and variables; None where they are all."""
        program = self.program
        return (
            None if rows.size == program.n_rows else rows,
            None if variables.size == program.n_variables else variables,
        )

    def duplicates(self, rows: Indices, variables: Indices) -> tuple[Duplicates | None, SparseMatrix | None]:
        """Multiples among the rows that are left, by their places there, and the matrix that is left if it was made."""
        A, cut = self.program.A, None
        # Where variables were substituted, or rows of one entry stay, others than those of the scan may be multiples.
        is_scanned = variables.size == self.program.n_variables and not np.any(self.row_alive & (self.counts == 1))

        def look() -> Duplicates | None:
            nonlocal cut
            if is_scanned:
                found = find_duplicates(A, self.reading, self.alike[self.row_alive[self.alike]])
                return found if found is None or rows.size == A.shape[0] else found.among(self.row_alive)
            cut = submatrix(A, rows, variables)
            return find_duplicates(cut, self.reading)

        name = f"duplicates, {self.reading}, {'of the scan' if is_scanned else 'of the rest'}"
        return self.cuts.made(name, A, *self.some(rows, variables), look), cut

    def merge(self, rows: Indices, duplicates: Duplicates, factor: Vector) -> tuple[Indices, Indices, Indices]:
        """Give the first of each group of multiples the tightest bounds of the group.

        Returns the rows that stay, and those that their lower and their upper bounds came from.
        """
        member, leader, ratio = duplicates.member, duplicates.leader, duplicates.ratio
        i = rows[member]
        bounds = _Scaled.of(
            self.l[i],
            self.u[i],
            self.l_image[i],
            self.u_image[i],
            ratio,
            exact.inverse(duplicates.ratio_image),
        )
        heads = _distinct(leader, rows.size)
        position = np.empty(rows.size, np.int64)
        position[heads] = np.arange(heads.size)
        at, h = position[leader], rows[heads]
        lower = _tightest(self.l[h], self.l_image[h], bounds.low, bounds.low_image, at, np.maximum)
        upper = _tightest(self.u[h], self.u_image[h], bounds.high, bounds.high_image, at, np.minimum)
        apart = _leave_no_value(lower, upper)  # such a group is kept as it is, the solver will prove it
        apart[at[bounds.is_lost]] = True
        merged = ~apart[at]
        gone = member[merged]
        stays = np.delete(rows, gone)
        together = _distinct(at[merged], heads.size)
        sources = [stays, stays]
        for side, (name, tight) in enumerate((("l", lower), ("u", upper))):
            new, new_images = tight.values[together], tight.images[together]
            of_head = h[together]
            if not np.array_equal(getattr(self, name)[of_head], new):
                self.make_own(name)
                getattr(self, name)[of_head], getattr(self, f"{name}_image")[of_head] = new, new_images
            won = np.flatnonzero(tight.winner[together] >= 0)
            if won.size:
                led = heads[together[won]]
                sources[side] = stays.copy()
                sources[side][led - np.searchsorted(gone, led)] = i[tight.winner[together[won]]]
        factor[i[merged]] = ratio[merged]
        return stays, sources[0], sources[1]


def _gradient(program: Program, x: Vector | None) -> Vector:
    assert x is not None
    return program.q if program.P is None else program.P @ x + program.q


def _taker(kept: Indices, size: int) -> Callable[[NDArray[ScalarT]], NDArray[ScalarT]]:
    """What takes the kept entries of a vector: the vector itself where all are kept."""
    return (lambda vector: vector) if kept.size == size else (lambda vector: vector.take(kept))


def _places(source: Indices | None, variables: Indices) -> Indices:
    """The rows that bounds of these variables came from; none where no row gave any."""
    return np.full(variables.size, NO_ROW, np.int64) if source is None else source.take(variables)


def _mask(places: Integers, size: int) -> NDArray[np.bool_]:
    mask = np.zeros(size, bool)
    mask[places] = True
    return mask


def _distinct(places: Integers, size: int) -> Indices:
    """Distinct numbers below a size, ascending, without sorting them."""
    return np.flatnonzero(_mask(places, size))


@dataclass(frozen=True, eq=False)
class _Scaled:
    """Bounds of rows divided by a factor each, floats and exact; exchanged where it is negative."""

    low: Vector
    high: Vector
    low_image: FieldElements
    high_image: FieldElements
    is_lost: NDArray[np.bool_]
    """Whether a finite bound became too large for a float."""

    @classmethod
    def of(
        cls,
        l: Vector,
        u: Vector,
        l_image: FieldElements,
        u_image: FieldElements,
        divisor: Vector,
        inverse: FieldElements,
    ) -> _Scaled:
        with np.errstate(over="ignore"):
            low, high = l / divisor, u / divisor
        is_lost = (np.isinf(low) & np.isfinite(l)) | (np.isinf(high) & np.isfinite(u))
        low_image, high_image = (
            _scaled_image(l_image, inverse, divisor),
            _scaled_image(u_image, inverse, divisor),
        )
        negative = divisor < 0
        return cls(
            np.where(negative, high, low), np.where(negative, low, high),
            np.where(negative, high_image, low_image), np.where(negative, low_image, high_image), is_lost,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Tightest:
    """Bounds after all candidates, exact too, and the candidate that each came from; -1 where the old one stays."""

    values: Vector
    images: FieldElements
    winner: Indices


def _tightest(
    bounds: Vector,
    images: FieldElements,
    candidates: Vector,
    candidate_images: FieldElements,
    target: Indices,
    better: np.ufunc,
) -> _Tightest:
    """The tightest of each target's own bound and its candidates; the first of equal candidates."""
    tight = bounds.copy()
    better.at(tight, target, candidates)
    winner = np.full(bounds.size, -1, np.int64)
    attains = np.flatnonzero((candidates == tight[target]) & (candidates != bounds[target]))[::-1]
    winner[target[attains]] = attains
    tight_images = images.copy()
    won = np.flatnonzero(winner >= 0)
    tight_images[won] = candidate_images[winner[won]]
    return _Tightest(tight, tight_images, winner)


def _leave_no_value(lower: _Tightest, upper: _Tightest) -> NDArray[np.bool_]:
    """Where lower bounds lie above upper ones; those that are equal exactly, and parted by rounding, are joined."""
    crossed = lower.values > upper.values
    k = np.flatnonzero(crossed & (lower.images == upper.images))
    k = k[lower.values[k] - upper.values[k] <= ROUNDING * np.abs(lower.values[k])]
    upper.values[k] = lower.values[k]
    crossed[k] = False
    return crossed


def _scaled_image(image: FieldElements, inverse: FieldElements, divisor: Vector) -> FieldElements:
    """Image of bound / divisor; infinities keep their words, exchanged by a negative divisor."""
    infinite = image >= exact.MODULUS
    scaled = exact.multiply(np.where(infinite, np.uint64(0), image), inverse)
    flipped = np.where(divisor < 0, exact.negate(image), image)
    return np.where(infinite, flipped, scaled)


def _finite(bounds: Vector) -> Vector:
    return np.where(np.isfinite(bounds), bounds, 0.0)
