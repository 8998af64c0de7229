"""Passes of presolve: fixed variables, singleton rows and empty rows, until none is left.

Values shift in floats *and* in exact field elements, since the refinement that follows must not see rounding. A step
that would leave no value (crossing bounds, ``0 >= 1``) is not taken: the row stays and the solver gives the proof of
infeasibility.
"""

from __future__ import annotations

from typing import Literal, final

import numpy as np

from relift.arrays import FieldElements, Flags, Indices, SparseMatrix, Vector
from relift.lifting.cuts import Cuts
from relift.lifting.presolve_scan import Scan
from relift.lifting.reduction import FixedVariables
from relift.lifting.substituted_values import Moved, RowsLeft, Shift
from relift.lifting.tightest_bounds import NO_ROW, BoundingRows, BoundsOfRows, ExactSides
from relift.program.index_sets import constant
from relift.program.other_order import by_columns, by_rows
from relift.program.passes import Entries, entries_of, remaining_entries
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
        self.source_entries: list[tuple[Indices, Vector]] = []  # of the rows that give bounds
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
        rows = np.flatnonzero(self.counts < 2)
        fixed = self.fixed_now(None) if self.scan.has_fixed else np.empty(0, np.int64)
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
                fixed = self.fixed_now(None if self.scan.has_fixed and not self.fixed else bounded)
            rows = self.fix(fixed) if fixed.size else np.empty(0, np.int64)
            fixed = np.empty(0, np.int64)
        self.let_go()

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
        columns, entries = self.remaining_entry(rows)
        found = BoundsOfRows.of(
            BoundingRows(rows, columns, entries, exact.images(entries, self.reading)),
            ExactSides(self.l, self.u, self.l_image, self.u_image),
            ExactSides(self.lb, self.ub, self.lb_image, self.ub_image),
        )
        keep, of = found.is_kept, found.targets
        for name, side in (("lb", found.lower), ("ub", found.upper)):
            if side.are_own:  # most rows of one entry say less than the bounds
                continue
            self.make_own(name)
            getattr(self, name)[of], getattr(self, f"{name}_image")[of] = side.values, side.images
            won = side.sources != NO_ROW
            if won.all():
                self.sources_of(name)[of] = side.sources
            elif won.any():
                self.sources_of(name)[of[won]] = side.sources[won]
        if not keep.all():
            self.left_alone[rows[~keep]] = True
            rows, entries = rows[keep], entries[keep]
        self.source_entries.append((rows, entries))
        self.row_alive[rows] = False
        return of

    def sources_of(self, name: str) -> Indices:
        """The rows that bounds came from, to be written to."""
        field = "lower_source" if name == "lb" else "upper_source"
        sources: Indices | None = getattr(self, field)
        if sources is None:
            sources = np.full(self.program.n_variables, NO_ROW, np.int64)
            setattr(self, field, sources)
        return sources

    def entries_of_sources(self) -> tuple[Indices, Vector]:
        """The rows that gave bounds, ascending, and the entry of each; a row does so once."""
        if len(self.source_entries) < 2:
            return self.source_entries[0] if self.source_entries else (np.empty(0, np.int64), np.empty(0))
        rows, entries = (np.concatenate(parts) for parts in zip(*self.source_entries, strict=True))
        order = rows.argsort()
        return rows[order], entries[order]

    def remaining_entry(self, rows: Indices) -> tuple[Indices, Vector]:
        """Column and value of the one entry that each of these rows still has."""
        return remaining_entries(self.by("csr", "A", self.program.A), rows, self.variable_alive)

    def fix(self, variables: Indices) -> Indices:
        """Replace variables by their values in l, u, q, r and right-hand sides of cones; returns the next rows."""
        program = self.program
        # The array of the earlier program if it is equal: what is made of it is then found without comparing.
        variables = self.cuts.made(f"fixed, {len(self.fixed)}", program.A, None, variables, lambda: variables)
        value, value_image = self.lb.take(variables), self.lb_image.take(variables)
        lower, upper = (places(source, variables) for source in (self.lower_source, self.upper_source))
        self.fixed.append(FixedVariables(variables, value, lower, upper))
        self.variable_alive[variables] = False
        shift = self.shift("A", program.A, variables, value, value_image)
        self.shifts.append(shift)
        terms = self.terms_of("A", program.n_rows)
        rows = RowsLeft(self.counts, terms, self.row_alive, self.left_alone).touch(shift)
        self.move("l", shift, None, terms, is_taken=True)
        if self.images.l is not self.images.u:
            self.move("u", shift, None, terms, is_taken=True)
        elif "l" in self.own:  # equations alone: both sides are one vector, and stay so
            self.u, self.u_image, self.moves["u"] = self.l, self.l_image, self.moves["l"]
        if len(program.conic):
            of_cones = self.shift("cones", program.conic.A, variables, value, value_image)
            terms = self.terms_with("cones", of_cones, program.conic.n_rows)
            self.move("b", of_cones, None, terms, is_taken=True)
        # The costs of substituted variables are read from the original.
        if program.P is None:
            return rows
        columns = self.columns("P", program.P, variables)
        reaches_others = self.cuts.made(
            f"P beside, {len(self.fixed)}", program.P, None, variables,
            lambda: bool(self.variable_alive[columns.row].any()), objects=tuple(self.shifts),
        )  # fmt: skip
        if reaches_others:
            of_P = self.shift("P", program.P, variables, value, value_image)
            terms = self.terms_with("P", of_P, program.n_variables)
            self.move("q", of_P, self.variable_alive, terms, is_taken=False)
        return rows

    def terms_of(self, name: str, size: int) -> Vector:
        """Sizes of all terms that passes have added to the rows of a matrix."""
        if name not in self.terms:
            self.terms[name] = np.zeros(size)
        return self.terms[name]

    def terms_with(self, name: str, shift: Shift, size: int) -> Vector:
        """The same with those of one more shift."""
        terms = self.terms_of(name, size)
        if shift.own_sizes is not None:
            terms[shift.touched] += shift.own_sizes
        return terms

    def move(self, name: str, shift: Shift, some: Flags | None, terms: Vector, *, is_taken: bool) -> None:
        """Put what values add to entries into one of the vectors, floats and exact, or take it from them.

        Parameters
        ----------
        name
            Which vector.
        shift
            What they add.
        some
            Which entries are moved at all; None for all that are finite.
        terms
            Sizes of all that was added so far to each entry.
        is_taken
            Whether it is taken from them.
        """
        if shift.is_zero and not terms[shift.touched].any():
            return  # zeros, in this pass and before
        after = self.cuts.made(
            f"{name}, {len(self.fixed)}", self.program.A, None, None,
            lambda: Moved.of(
                shift, getattr(self, name), getattr(self, f"{name}_image"), some, terms, self.reading, is_taken=is_taken
            ),
            objects=(getattr(self.images, name), shift, *self.shifts),  # all that was done to it so far
        )  # fmt: skip
        self.make_own(name)
        getattr(self, name)[after.places], getattr(self, f"{name}_image")[after.places] = after.values, after.images
        self.moves.setdefault(name, []).append(after)
        lost = after.cancelled
        if name in ("l", "u"):  # of the bounds of a row without entries nothing is made
            lost = lost[self.counts[lost] > 0]
        self.are_given = self.are_given and lost.size == 0

    def shift(
        self, name: str, matrix: SparseMatrix, variables: Indices, value: Vector, value_image: FieldElements
    ) -> Shift:
        """What the values of these variables add to the rows of a matrix."""
        entries = self.columns(name, matrix, variables)
        return self.cuts.made(
            f"shift of {name}, {len(self.fixed)}, {self.reading}", matrix, None, variables,
            lambda: Shift.of(entries, value, value_image, matrix.shape[0], self.reading), numbers=(value, value_image),
        )  # fmt: skip

    def columns(self, name: str, matrix: SparseMatrix, variables: Indices) -> Entries:
        """The columns that a pass substitutes."""
        return self.cuts.made(
            f"{name}, {len(self.fixed)}", matrix, None, variables,
            lambda: entries_of(self.by("csc", name, matrix), None, variables),
        )  # fmt: skip

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
