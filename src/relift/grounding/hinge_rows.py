"""Hinge terms of an objective: presolved together, then one slack unknown and one row for each that is left.

A term ``w * max(0, e)**p`` becomes ``w * s**p`` with ``s >= e``, ``s >= 0``. Slacks are numbered behind all other
unknowns, and called after their term: ``loss.max1(i)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from scipy import sparse

from relift.arrays import Indices, Integers, Vector
from relift.grounding import exact
from relift.grounding.atoms import AtomIndex, Block
from relift.grounding.fill_constraints import ConstraintRows, Rows
from relift.grounding.fill_objective import HingeFactors, ObjectiveParts
from relift.grounding.hinges import Hinges, Presolved, presolve
from relift.grounding.row_blocks import RowBlock
from relift.tables.algebra import Unit


@final
@dataclass(frozen=True, eq=False)
class HingeGroup:
    """The hinges of one term that presolve has left.

    Parameters
    ----------
    name
        Of the slacks and of their rows.
    rows
        The tuples of all ground terms.
    picked
        Which of them are left.
    hinges
        Their sums, over all other unknowns, and weights.
    """

    name: str
    rows: Rows
    picked: Indices
    hinges: Hinges

    @property
    def size(self) -> int:
        """How many slacks there are."""
        return len(self.hinges)

    def block(self, start: int) -> Block:
        """Their numbers, from a first one on."""
        return Block(self.name, start, self.size, self.rows.variables, self.rows.table, "", self.picked)

    def constraint(self, atoms: AtomIndex) -> ConstraintRows:
        """The rows ``s - Bx >= d``; `atoms` are the other unknowns."""
        blocks: dict[str, RowBlock] = {}
        for block in atoms.blocks:
            part = self.hinges.B[:, block.start : block.stop]
            if part.nnz:
                part.data = -part.data
                blocks[block.name] = RowBlock.of(part)
        blocks[self.name] = RowBlock.of(sparse.eye_array(self.size, format="csr"))
        rows = Rows(Unit(), self.size, self.rows.variables, self.rows.table)
        return ConstraintRows(rows, blocks, self.hinges.d, np.full(self.size, np.inf))


@final
@dataclass(frozen=True, eq=False)
class GroundHinges:
    """All hinges of an objective.

    Parameters
    ----------
    groups
        One for each term of which something is left.
    presolved
        What presolve has found.
    """

    groups: tuple[HingeGroup, ...]
    presolved: Presolved

    def __str__(self) -> str:
        return str(self.presolved)


def ground_hinges(
    name: str, parts: ObjectiveParts, atoms: AtomIndex, lower: Vector, upper: Vector, sense: Literal["min", "max"]
) -> GroundHinges:
    """Presolve the hinges of an objective; lines, squares, constants and the costs of slacks are added to its parts.

    Parameters
    ----------
    name
        Of the objective.
    parts
        The objective so far.
    atoms, lower, upper
        The unknowns besides the slacks, and their bounds.
    sense
        Whether it is minimised; when it is maximised, weights are negative.
    """
    sign = 1.0 if sense == "min" else -1.0
    starts = np.cumsum([0, *(factors.rows.size for factors in parts.hinges)])
    together = [_hinges(f, atoms, int(s), sign) for f, s in zip(parts.hinges, starts, strict=False)]
    found = presolve(_below(together), lower, upper)
    parts.constants.append(sign * found.constant)
    _add_lines(parts, atoms, found.lines, sign)
    _add_squares(parts, atoms, found.squares, sign)
    counts = {"max": 0, "abs": 0}
    groups = []
    for factors, start in zip(parts.hinges, starts, strict=False):
        counts[factors.kind] += 1
        mine = np.flatnonzero((found.hinges.origin >= start) & (found.hinges.origin < start + factors.rows.size))
        own = found.hinges.take(mine)
        # Two hinges may have come from one term: those of e and -e that are too long to be squared.
        _, first = np.unique(own.origin, return_index=True)
        label = f"{name}.{factors.kind}{counts[factors.kind]}"
        for suffix, chosen in (("", first), ("_", np.setdiff1d(np.arange(mine.size), first))):
            if chosen.size:
                picked = own.take(chosen)
                group = HingeGroup(label + suffix, factors.rows, picked.origin - start, picked)
                groups.append(group)
                _add_costs(parts, group, sign)
    return GroundHinges(tuple(groups), found)


def _hinges(factors: HingeFactors, atoms: AtomIndex, start: int, sign: float) -> Hinges:
    """The hinges of one term over all unknowns; those of weight 0 are left out."""
    entries = [(atoms.block(name).start, block.tocoo()) for name, block in factors.blocks.items()]
    rows = np.concatenate([np.empty(0, np.int64), *(e.coords[0] for _, e in entries)])
    columns = np.concatenate([np.empty(0, np.int64), *(e.coords[1] + first for first, e in entries)])
    values = np.concatenate([np.empty(0), *(e.data for _, e in entries)])
    size = factors.rows.size
    B = exact.matrix_from_triplets(rows, columns, values, (size, len(atoms)), is_key=True)
    weights, d = sign * factors.weights + 0.0, factors.constants + 0.0
    origin, power = start + np.arange(size), np.full(size, factors.power, np.int8)
    found = Hinges(B, d, weights, power, origin)
    if factors.kind == "abs":
        found = _below([found, Hinges(-B, -d + 0.0, weights, power, origin)])
    return found.take(np.flatnonzero(found.weights > 0))


def _below(parts: list[Hinges]) -> Hinges:
    return Hinges(
        sparse.vstack([part.B for part in parts], format="csr"),
        np.concatenate([part.d for part in parts]),
        np.concatenate([part.weights for part in parts]),
        np.concatenate([part.power for part in parts]),
        np.concatenate([part.origin for part in parts]),
    )


def _add_lines(parts: ObjectiveParts, atoms: AtomIndex, lines: Hinges, sign: float) -> None:
    if not len(lines):
        return
    lengths = np.diff(lines.B.indptr)
    values = sign * exact.multiply(lines.B.data, np.repeat(lines.weights, lengths))
    _add_by_predicate(parts, atoms, lines.B.indices, values)
    constants = sign * exact.multiply(lines.weights, lines.d)
    parts.constants.append(float(exact.grouped_sums(np.zeros(constants.size, np.int64), constants, 1)[0]))


def _add_by_predicate(parts: ObjectiveParts, atoms: AtomIndex, columns: Integers, values: Vector) -> None:
    for block in atoms.blocks:
        mine = (columns >= block.start) & (columns < block.stop)
        if mine.any():
            parts.add_linear(block.name, columns[mine] - block.start, values[mine])


def _add_squares(parts: ObjectiveParts, atoms: AtomIndex, squares: Hinges, sign: float) -> None:
    """Add w (Bx + d)² to P, q and r."""
    if not len(squares):
        return
    weights = sign * squares.weights
    product = exact.gram(squares.B, squares.B, 2.0 * weights)
    upper = sparse.triu(product, k=1)
    whole = (sparse.triu(product) + upper.T).tocsr()
    for one in atoms.blocks:
        rows = whole[one.start : one.stop]
        if not rows.nnz:
            continue
        for other in atoms.blocks:
            part = rows[:, other.start : other.stop]
            if part.nnz:
                parts.add_quadratic(one.name, other.name, part)
    if squares.d.any():
        d = sparse.csr_array(squares.d.reshape(-1, 1))
        slope = exact.gram(squares.B, d, 2.0 * weights).tocoo()
        _add_by_predicate(parts, atoms, slope.coords[0], slope.data)
        parts.constants.append(float(exact.gram(d, d, weights).toarray()[0, 0]))


def _add_costs(parts: ObjectiveParts, group: HingeGroup, sign: float) -> None:
    for power in (1, 2):
        mine = np.flatnonzero(group.hinges.power == power)
        if not mine.size:
            continue
        weights = sign * group.hinges.weights[mine]
        if power == 1:
            parts.add_linear(group.name, mine, weights)
        else:
            parts.quadratic.setdefault((group.name, group.name), []).append((mine, mine, 2.0 * weights))
