"""Passes of presolve: fixed variables, singleton rows and empty rows, until none is left.

Values shift in floats *and* in exact field elements, since the refinement that follows must not see rounding. A step
that would leave no value (crossing bounds, ``0 >= 1``) is not taken: the row stays and the solver gives the proof of
infeasibility.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, final

import numpy as np

from relift.arrays import FieldElements, Flags, Indices, SparseMatrix, Vector
from relift.lifting.cuts import Cuts
from relift.lifting.presolve_scan import Scan
from relift.lifting.reduction import NO_ROW, FixedVariables
from relift.lifting.substituted_values import Moved, Shift, cancelled, settle_floats
from relift.lifting.tightest_bounds import ScaledBounds, leave_no_value, tightest
from relift.program.index_sets import all_of, constant, distinct, numbered_among
from relift.program.other_order import by_columns, by_rows
from relift.program.passes import Entries, entries_of
from relift.program.program import Program
from relift.symmetry import finite_field as exact

MAX_PASSES = 16
"""Chains of substitutions longer than this are left to the backend's presolve."""

MOST_LOOKS = 2
"""So often some rows of a matrix by columns, or columns of one by rows, are looked for by going through all of it."""

SLACK = 1e-9
"""A row without entries whose bounds miss 0 by no more than this, relatively, is rounding of a satisfied one."""


@final
class Substitution:
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
        self.source_entry: Vector = constant(0.0, m)  # until a row gives a bound
        self.fixed: list[FixedVariables] = []
        self.shifts: list[Shift] = []
        self.counts = scan.counts
        self.left_alone = np.zeros(m, bool)
        self.terms: dict[str, Vector] = {}  # of each matrix: sizes of what passes have added to its rows
        self.moves: dict[str, list[Moved]] = {}  # of each vector
        self.in_other_order: dict[str, SparseMatrix] = {}
        self.n_looks: dict[str, int] = {}
        self.are_given = True  # all numbers but for the rounding of quotients: nothing has cancelled

    def change(self) -> None:
        """Make what is needed as soon as something is about to change."""
        if self.has_changed:
            return
        self.has_changed = True
        self.counts = self.counts.copy()

    def make_own(self, *names: str) -> None:
        """Make copies of vectors that are about to change; large ones cost more than what is done to them."""
        for name in names:
            if name not in self.own:
                self.own.add(name)
                setattr(self, name, getattr(self, name).copy())
                setattr(self, f"{name}_image", getattr(self, f"{name}_image").copy())

    def substitute(self) -> None:
        """Take passes until nothing more is found; after the first one only what the one before has changed is seen."""
        rows, fixed = self.short_rows(None), self.fixed_now(None)
        for _ in range(MAX_PASSES):
            counts = self.counts[rows]
            empty, singletons = rows[counts == 0], rows[counts == 1]
            if singletons.size + empty.size + fixed.size == 0:
                break
            self.change()
            if empty.size:
                self.drop_empty(empty)
            if singletons.size:
                bounded = self.rows_to_bounds(singletons)
                fixed = self.fixed_now(bounded if self.fixed else None)
            rows = self.short_rows(self.fix(fixed)) if fixed.size else np.empty(0, np.int64)
            fixed = np.empty(0, np.int64)
        self.let_go()

    def short_rows(self, some: Indices | None) -> Indices:
        """Rows of one entry or none that are to be substituted, of some rows, or of all."""
        if some is None:
            return np.flatnonzero(self.counts < 2)
        return some[(self.counts[some] < 2) & self.row_alive[some] & ~self.left_alone[some]]

    def fixed_now(self, some: Indices | None) -> Indices:
        """Variables whose bounds are equal, of some that were not substituted yet, or of all."""
        if some is None:
            is_fixed = self.lb == self.ub
            # A value put into a quadratic constraint would round its coefficients: variables there stay.
            is_fixed[self.program.quadratic.variables] = False
            return np.flatnonzero(is_fixed)
        some = some[(self.lb[some] == self.ub[some]) & self.variable_alive[some]]
        return some if len(self.program.quadratic) == 0 else np.setdiff1d(some, self.program.quadratic.variables)

    def let_go(self) -> None:
        """Take over vectors of the earlier program that were moved in the same way, and let go of what passes need."""
        for name, moves in self.moves.items():
            vector, image = self.moved(name, moves)
            setattr(self, name, vector)
            setattr(self, f"{name}_image", image)
            self.own.discard(name)
        self.terms.clear()
        self.in_other_order.clear()

    def moved(self, name: str, moves: list[Moved]) -> tuple[Vector, FieldElements]:
        """One of the vectors as it is now, or that of the earlier program if the same was done to the same."""
        after: tuple[Vector, FieldElements] = getattr(self, name), getattr(self, f"{name}_image")
        of = self.program.conic if name == "b" else self.program
        objects = (getattr(of, name), getattr(self.scan.images, name), *moves)
        return self.cuts.made(f"{name} at the end", self.program.A, None, None, lambda: after, objects=objects)

    def drop_empty(self, rows: Indices) -> None:
        """Drop rows without entries that 0 satisfies."""
        # Each side by its own size: l = 4 beside u = 1e15 is no rounding of 0.
        terms = self.terms["A"][rows] if "A" in self.terms else np.zeros(rows.size)
        below, above = (
            1.0 + np.maximum(np.abs(_finite(side[rows])), terms) for side in (self.program.l, self.program.u)
        )
        holds = (self.l[rows] <= SLACK * below) & (self.u[rows] >= -SLACK * above)
        self.row_alive[rows[holds]] = False
        self.left_alone[rows[~holds]] = True

    def rows_to_bounds(self, rows: Indices) -> Indices:
        """Make bounds of rows that have one entry left; returns the variables that have these, ascending."""
        columns, entries, entry_images = self.remaining_entry(rows)
        bounds = ScaledBounds.of(
            self.l[rows],
            self.u[rows],
            self.l_image[rows],
            self.u_image[rows],
            entries,
            exact.inverse(entry_images),
        )
        j, at = numbered_among(columns, self.program.n_variables)
        # Several rows may bound one variable: the tightest wins. Where they leave no value, all stay rows.
        lower = tightest(self.lb[j], self.lb_image[j], bounds.low, bounds.low_image, at, np.maximum)
        upper = tightest(self.ub[j], self.ub_image[j], bounds.high, bounds.high_image, at, np.minimum)
        crossed = leave_no_value(lower, upper)
        crossed[at[bounds.is_lost]] = True
        keep = ~crossed[at]
        self.left_alone[rows[~keep]] = True
        bounded = distinct(at[keep], j.size)
        of = j[bounded]
        for name, tight in (("lb", lower), ("ub", upper)):
            values, images = tight.values[bounded], tight.images[bounded]
            if self.has_already(name, of, values, images):  # most rows of one entry say less than the bounds
                continue
            self.make_own(name)
            getattr(self, name)[of], getattr(self, f"{name}_image")[of] = values, images
            won = bounded[tight.winner[bounded] >= 0]
            if won.size:
                self.sources_of(name)[j[won]] = rows[tight.winner[won]]
        if not self.source_entry.flags.writeable:
            self.source_entry = np.zeros(self.program.n_rows)
        self.source_entry[rows[keep]] = entries[keep]
        self.row_alive[rows[keep]] = False
        return of

    def has_already(self, name: str, places: Indices, values: Vector, images: FieldElements) -> bool:
        """Whether these numbers stand there already, floats to the last bit."""
        before = getattr(self, name)[places]
        is_same = np.array_equal(before.view(np.uint64), values.view(np.uint64))
        return is_same and np.array_equal(getattr(self, f"{name}_image")[places], images)

    def sources_of(self, name: str) -> Indices:
        """The rows that bounds came from, to be written to."""
        field = "lower_source" if name == "lb" else "upper_source"
        sources: Indices | None = getattr(self, field)
        if sources is None:
            sources = np.full(self.program.n_variables, NO_ROW, np.int64)
            setattr(self, field, sources)
        return sources

    def remaining_entry(self, rows: Indices) -> tuple[Indices, Vector, FieldElements]:
        """Column, value and image of the one entry that each of these rows still has."""
        part = entries_of(self.by("csr", "A", self.program.A), rows, None)
        alive = self.variable_alive[part.column] & (part.value != 0)
        row, column, entry = part.row[alive], part.column[alive], part.value[alive]
        order = np.argsort(row, kind="stable")
        column, entry = column[order], entry[order]
        return column, entry, exact.images(entry, self.reading)

    def fix(self, variables: Indices) -> Indices:
        """Replace variables by their values in l, u, q, r and right-hand sides of cones; returns the rows touched."""
        program = self.program
        # The array of the earlier program if it is equal: what is made of it is then found without comparing.
        variables = self.cuts.made(f"fixed, {len(self.fixed)}", program.A, None, variables, lambda: variables)
        value, value_image = self.lb.take(variables), self.lb_image.take(variables)
        lower, upper = (places(source, variables) for source in (self.lower_source, self.upper_source))
        self.fixed.append(FixedVariables(variables, value, lower, upper))
        self.variable_alive[variables] = False
        shift = self.shift("A", program.A, variables, value, value_image)
        self.shifts.append(shift)
        touched = shift.touched
        terms = self.terms_with("A", shift, program.n_rows)
        self.counts[touched] -= shift.counts
        for name in ("l", "u"):
            self.move(name, shift, np.isfinite(getattr(self, name)[touched]), terms, exact.subtract)
        # A row that was left alone because it crossed a bound by rounding may hold now that nothing is left of it.
        self.left_alone[touched[self.counts[touched] == 0]] = False
        if len(program.conic):
            of_cones = self.shift("cones", program.conic.A, variables, value, value_image)
            every = np.ones(of_cones.touched.size, bool)
            terms = self.terms_with("cones", of_cones, program.conic.n_rows)
            self.move("b", of_cones, every, terms, exact.subtract)
        # The costs of substituted variables are read from the original.
        if program.P is None:
            return touched
        columns = self.columns("P", program.P, variables)
        reaches_others = self.cuts.made(
            f"P beside, {len(self.fixed)}", program.P, None, variables,
            lambda: bool(self.variable_alive[columns[0].row].any()), objects=tuple(self.shifts),
        )  # fmt: skip
        if reaches_others:
            of_P = self.shift("P", program.P, variables, value, value_image, columns)
            terms = self.terms_with("P", of_P, program.n_variables)
            self.move("q", of_P, self.variable_alive[of_P.touched], terms, exact.add)
        return touched

    def terms_with(self, name: str, shift: Shift, size: int) -> Vector:
        """Sizes of all terms that passes have added to the rows that the last one has touched."""
        if name not in self.terms:
            self.terms[name] = np.zeros(size)
        terms = self.terms[name]
        terms[shift.touched] += shift.sizes
        return terms[shift.touched]

    def move(
        self,
        name: str,
        shift: Shift,
        some: Flags,
        terms: Vector,
        put: Callable[[FieldElements, FieldElements], FieldElements],
    ) -> None:
        """Put what values add to some of the touched entries into one of the vectors, floats and exact."""
        if not terms.any() and not shift.images.any():
            return  # zeros, in this pass and before
        where, terms = shift.touched[some], terms[some]
        before, before_image = getattr(self, name)[where], getattr(self, f"{name}_image")[where]

        def make() -> Moved:
            floats = shift.floats[some]
            values = before + (floats if put is exact.add else -floats)
            images = put(before_image, shift.images[some])
            every = all_of(where.size)
            settle_floats(values, images, every, terms, self.reading)
            return Moved(values, images, where[cancelled(values, images, every, terms, self.reading)])

        after = self.cuts.made(
            f"{name}, {len(self.fixed)}", self.program.A, where, None, make,
            objects=(shift,), numbers=(before, before_image, terms),
        )  # fmt: skip
        self.make_own(name)
        getattr(self, name)[where], getattr(self, f"{name}_image")[where] = after.values, after.images
        self.moves.setdefault(name, []).append(after)
        lost = after.cancelled
        if name in ("l", "u"):  # of the bounds of a row without entries nothing is made
            lost = lost[self.counts[lost] > 0]
        self.are_given = self.are_given and lost.size == 0

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
            part = entries_of(self.by("csc", name, matrix), None, variables)
            return part, exact.images(part.value, self.reading)

        return self.cuts.made(f"{name}, {len(self.fixed)}, {self.reading}", matrix, None, variables, make)

    def by(self, wanted: Literal["csr", "csc"], name: str, matrix: SparseMatrix) -> SparseMatrix:
        """A matrix by rows, or by columns, from the third look on: to turn it costs as much as a look or two."""
        if matrix.format == wanted:
            return matrix
        self.n_looks[name] = self.n_looks.get(name, 0) + 1
        if self.n_looks[name] > MOST_LOOKS and name not in self.in_other_order:
            self.in_other_order[name] = (by_rows if wanted == "csr" else by_columns)(matrix)
        return self.in_other_order.get(name, matrix)


def places(source: Indices | None, variables: Indices) -> Indices:
    """The rows that bounds of these variables came from; none where no row gave any."""
    return constant(NO_ROW, variables.size) if source is None else source.take(variables)


def _finite(bounds: Vector) -> Vector:
    return np.where(np.isfinite(bounds), bounds, 0.0)
