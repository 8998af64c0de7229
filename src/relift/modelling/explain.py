"""What became of each statement of a model, and which statements make it infeasible."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import SparseMatrix, Vector
from relift.modelling.result_table import aligned, html_table
from relift.program.solution import Status

if TYPE_CHECKING:
    from relift.grounding.atoms import Block
    from relift.modelling.model_result import ModelResult
    from relift.program.program import Program

NEGLIGIBLE = 1e-6
"""A dual value smaller than this part of the largest counts as zero."""


@final
@dataclass(frozen=True)
class StatementLine:
    """One statement.

    Parameters
    ----------
    name, kind
        Which it is: ``"variable"``, ``"constraint"``, ``"cone"`` or ``"objective"``.
    rows, nonzeros
        Ground rows (unknowns, for a variable; cones, for those of a function) and their stored coefficients.
    classes
        Classes that they fall into; rows and unknowns that were substituted before are not among them.
    substituted
        Rows or unknowns whose value or effect was already known.
    active
        Rows, or unknowns at a bound, whose dual value is not zero.
    largest_dual
        The largest of these dual values, without its sign.
    seconds
        How long grounding took.
    is_reused
        Whether it was taken over from the solve before.
    """

    name: str
    kind: str
    rows: int
    nonzeros: int
    classes: int
    substituted: int
    active: int
    largest_dual: float
    seconds: float
    is_reused: bool


@final
@dataclass(frozen=True)
class Conflict:
    """A statement that is part of the proof of infeasibility.

    Parameters
    ----------
    name, kind
        Which it is: ``"constraint"``, or ``"bounds"`` of a variable.
    rows
        How many of its rows (or bounds) the proof needs.
    weight
        Its part of the proof: that of its dual values, each times the size of its row, so that it does not change when
        a row is multiplied by a number.
    examples
        Names of the rows or unknowns with the largest dual values.
    """

    name: str
    kind: str
    rows: int
    weight: float
    examples: tuple[str, ...]

    def __str__(self) -> str:
        which = ", ".join(self.examples) + (", ..." if self.rows > len(self.examples) else "")
        what = "the bounds of" if self.kind == "bounds" else "the constraint"
        return f"{what} {self.name}: {self.rows:,} of its rows, {100 * self.weight:.0f} % of the proof ({which})"


@final
@dataclass(frozen=True)
class Explanation:
    """A report that prints as a table.

    Parameters
    ----------
    headline
        How the solve ended.
    statements
        One line for each statement.
    conflict
        For an infeasible model: what cannot hold together.
    notes
        Anything out of the ordinary.
    presolve
        What became of the hinges of the objective before solving; empty if it has none.
    """

    headline: str
    statements: tuple[StatementLine, ...]
    conflict: tuple[Conflict, ...] = ()
    notes: tuple[str, ...] = ()
    presolve: str = ""

    def __getitem__(self, name: str) -> StatementLine:
        for line in self.statements:
            if line.name == name:
                return line
        raise KeyError(f"there is no statement {name!r}; there are {', '.join(s.name for s in self.statements)}")

    def _lines(self) -> list[list[str]]:
        heads = ["statement", "kind", "rows", "nonzeros", "classes", "known", "active", "largest dual", "seconds"]
        lines = [heads]
        for s in self.statements:
            is_objective = s.kind == "objective"
            dual = "-" if is_objective or np.isnan(s.largest_dual) else f"{s.largest_dual:.4g}"
            numbers = [f"{n:,}" for n in (s.rows, s.nonzeros, s.classes, s.substituted, s.active)]
            if is_objective:
                numbers = ["-", numbers[1], "-", "-", "-"]
            elif s.kind == "variable":
                numbers[1] = "-"
            lines.append([s.name, s.kind, *numbers, dual, "taken over" if s.is_reused else f"{s.seconds:.4f}"])
        return lines

    def _repr_html_(self) -> str:
        rest = [f"presolve: {self.presolve}"] if self.presolve else []
        rest += [*map(str, self.conflict), *(f"note: {note}" for note in self.notes)]
        from html import escape

        below = "".join(f"<p>{escape(line)}</p>" for line in rest)
        return f"<p>{escape(self.headline)}</p>{html_table(self._lines())}{below}"

    def __str__(self) -> str:
        parts = [self.headline, aligned(self._lines(), 2)]
        if self.presolve:
            parts.append(f"presolve: {self.presolve}")
        if self.conflict:
            parts.append("These cannot hold together:\n" + "\n".join(f"  {c}" for c in self.conflict))
        parts.extend(f"note: {note}" for note in self.notes)
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        return str(self)


def explain(answer: ModelResult) -> Explanation:
    """The report of an answer.

    Examples
    --------
    >>> import relift
    >>> model = relift.Model.from_text("relation item/1; item := {1..4}; var x(I) in item(I) >= 0;"
    ...     "minimize: sum{I in item(I)} x(I); subject to enough: sum{I in item(I)} x(I) >= 2;")
    >>> line = model.solve().explain()["enough"]
    >>> line.rows, line.nonzeros, line.classes, line.active, line.largest_dual
    (1, 4, 1, 1, 1.0)
    """
    grounded, result = answer.grounded, answer.result
    lifting = result.lifting
    is_proof = result.status == Status.INFEASIBLE
    row_duals = result.ray_y if is_proof else result.y
    bound_duals = result.ray_w if is_proof else result.w
    curved_duals = result.solution.ray_z if is_proof else result.solution.z
    row_classes, variable_classes = lifting.class_of_row, lifting.class_of_variable
    curved_classes = lifting.symmetry.quadratic.labels
    blocks: dict[tuple[str, str], tuple[Block, NDArray[np.int64], Vector | None]] = {}
    for index, kind, classes, duals in (
        (grounded.atoms, "variable", variable_classes, bound_duals),
        (grounded.rows, "constraint", row_classes, row_duals),
        (grounded.quadratic, "constraint", curved_classes, curved_duals),
        (grounded.cones, "cone", lifting.symmetry.cones.labels, None),
    ):
        blocks |= {(kind, block.label): (block, classes, duals) for block in index.blocks}
    scale = _scale(row_duals, bound_duals, curved_duals)
    lines = []
    for s in grounded.statements:
        n_classes = substituted = active = 0
        largest = float("nan")
        if (s.kind, s.name) in blocks:
            block, classes, duals = blocks[s.kind, s.name]
            mine = classes[block.start : block.stop]
            n_classes, substituted = int(np.unique(mine[mine >= 0]).size), int((mine < 0).sum())
            if duals is not None:
                sizes = np.abs(duals[block.start : block.stop])
                active, largest = int((sizes > NEGLIGIBLE * scale).sum()), float(sizes.max(initial=0.0))
        lines.append(
            StatementLine(
                s.name, s.kind, s.rows, s.nonzeros, n_classes, substituted, active, largest, s.seconds, s.is_reused
            )
        )
    presolve = "" if grounded.hinges is None else str(grounded.hinges)
    return Explanation(_headline(answer), tuple(lines), conflict(answer), answer.notes, presolve)


def _headline(answer: ModelResult) -> str:
    program, small = answer.result.program, answer.result.lifting.small
    goal = "" if not np.isfinite(answer.objective) else f", objective {answer.objective:.10g}"
    before, after = (
        [f"{count:,}" for count in (p.n_variables, p.n_rows + len(p.quadratic), len(p.conic))] for p in (program, small)
    )
    if len(program.conic):
        sizes = f"{before[0]} unknowns, {before[1]} rows and {before[2]} cones, {after[0]}, {after[1]} and {after[2]}"
    else:
        sizes = f"{before[0]} unknowns and {before[1]} rows, {after[0]} and {after[1]}"
    return f"{str(answer.status).replace('_', ' ')}{goal}: {sizes} after lifting"


def conflict(answer: ModelResult) -> tuple[Conflict, ...]:
    """The statements behind a proof of infeasibility, heaviest first."""
    result = answer.result
    if result.status != Status.INFEASIBLE:
        return ()
    program, curved, cones = result.program, result.program.quadratic, result.program.conic
    ray_v = result.solution.ray_v
    in_cones: Vector = np.zeros(0)
    if ray_v is not None:
        in_cones = np.bincount(cones.cone_of_row, np.abs(ray_v), len(cones)).astype(np.float64)
    rays = (
        (answer.grounded.rows, "constraint", _masses(result.ray_y, program.A, _sides(program))),
        (answer.grounded.quadratic, "constraint", _masses(result.solution.ray_z, curved.q, np.abs(curved.r))),
        (answer.grounded.cones, "constraint", in_cones),
        (answer.grounded.atoms, "bounds", np.zeros(0) if result.ray_w is None else np.abs(result.ray_w)),
    )
    scale = _scale(*(mass for *_, mass in rays))
    total = sum(float(mass.sum()) for *_, mass in rays) or 1.0
    found: dict[tuple[str, str], Conflict] = {}
    for index, kind, mass in rays:
        for block in index.blocks:
            sizes = mass[block.start : block.stop]
            used = np.flatnonzero(sizes > NEGLIGIBLE * scale)
            if used.size:
                order = used[np.argsort(-sizes[used], kind="stable")][:3]
                examples = tuple(index.name(block.start + int(i)) for i in order)
                part = Conflict(block.label, kind, int(used.size), float(sizes.sum() / total), examples)
                _add_conflict(found, part)
    return tuple(sorted(found.values(), key=lambda c: (-c.weight, c.name)))


def _add_conflict(found: dict[tuple[str, str], Conflict], part: Conflict) -> None:
    """Count what a helper adds to the proof as that of its statement."""
    is_part = part.name.partition(".")[2] not in ("", "lower", "upper")
    name, kind = (part.name.partition(".")[0], "constraint") if is_part else (part.name, part.kind)
    before = found.get((name, kind))
    if before is None:
        found[name, kind] = replace(part, name=name, kind=kind)
    else:
        found[name, kind] = replace(before, rows=before.rows, weight=before.weight + part.weight)


def _masses(ray: Vector | None, matrix: SparseMatrix, sides: Vector) -> Vector:
    """Dual values without signs, each times the size of its row."""
    if ray is None:
        return np.zeros(0)
    return np.asarray(np.abs(ray) * np.fmax(np.asarray(abs(matrix).sum(axis=1)).ravel(), np.fmax(sides, 1e-300)))


def _sides(program: Program) -> Vector:
    sides = [np.where(np.isfinite(side), np.abs(side), 0.0) for side in (program.l, program.u)]
    return np.fmax(*sides)


def _scale(*vectors: Vector | None) -> float:
    return max([float(np.abs(v).max(initial=0.0)) for v in vectors if v is not None], default=0.0)
