"""Numbers that differ only in their last digits, made equal on request, with a report of what was changed.

Data that passed through a computation often hides symmetry behind differences of 1e-13. ``digits=k`` clusters the
sorted magnitudes of each array; neighbours closer than 10^-k relatively join. A chain of neighbours whose ends are
farther apart than that is refused whole: closeness is not transitive, and where to cut it would be arbitrary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import sparse

from relift.arrays import SparseMatrix, Vector
from relift.program.conic_rows import ConicRows
from relift.program.passes import numbered
from relift.program.program import Program
from relift.program.solution import Solution


@final
@dataclass(frozen=True)
class SnapReport:
    """What ``digits`` changed.

    Parameters
    ----------
    digits
        As given.
    n_values_merged
        How many distinct magnitudes lost their own value.
    n_chains_refused
        How many chains of close values were too wide and left as they were.
    largest_change
        The largest relative change of a number.
    """

    digits: int
    n_values_merged: int = 0
    n_chains_refused: int = 0
    largest_change: float = 0.0

    def __str__(self) -> str:
        refused = f", {self.n_chains_refused} chains refused as too wide" if self.n_chains_refused else ""
        change = f"largest relative change {self.largest_change:.2g}"
        return f"digits={self.digits}: {self.n_values_merged} values merged, {change}{refused}"


@final
@dataclass(frozen=True, eq=False)
class Snapped:
    """A program with close numbers made equal; answers travel unchanged, and are certified on the numbers as given.

    Parameters
    ----------
    program
        The program with equal numbers.
    report
        What was changed.
    """

    program: Program
    report: SnapReport

    def expand(self, solution: Solution) -> Solution:
        """Return the answer as it is."""
        return solution

    def restrict(self, solution: Solution) -> Solution:
        """Return the point as it is."""
        return solution


def snap(program: Program, digits: int) -> Snapped:
    """Make close numbers of a program equal, array by array.

    Parameters
    ----------
    program
        The program.
    digits
        Numbers closer than ``10**-digits`` relatively become the most frequent of them.

    Examples
    --------
    >>> program = Program(q=[1.0, 1.0000000000001, 2.0], lb=0)
    >>> snapped = snap(program, 9)
    >>> snapped.program.q.tolist(), snapped.report.n_values_merged
    ([1.0, 1.0, 2.0], 1)
    """
    reports: list[SnapReport] = []

    def snapped(values: Vector) -> Vector:
        result, report = snap_values(values, digits)
        reports.append(report)
        return result

    def snapped_matrix(M: SparseMatrix) -> SparseMatrix:
        make = sparse.csr_array if M.format == "csr" else sparse.csc_array
        matrix: SparseMatrix = make((snapped(M.data), M.indices, M.indptr), shape=M.shape)
        return matrix

    l, u = np.split(snapped(np.concatenate([program.l, program.u])), 2)
    lb, ub = np.split(snapped(np.concatenate([program.lb, program.ub])), 2)
    P = None if program.P is None else snapped_matrix(program.P)
    q, A, conic = snapped(program.q), snapped_matrix(program.A), program.conic
    if len(conic):
        conic = ConicRows.trusted(snapped_matrix(conic.A), snapped(conic.b), conic.cones)
    changed = Program.trusted(P, q, A, l, u, lb, ub, program.r, program.sense, program.quadratic, conic)
    report = SnapReport(
        digits,
        sum(r.n_values_merged for r in reports),
        sum(r.n_chains_refused for r in reports),
        max(r.largest_change for r in reports),
    )
    return Snapped(changed, report)


def snap_values(values: Vector, digits: int) -> tuple[Vector, SnapReport]:
    """One array with close magnitudes made equal; signs, zeros and infinities stay."""
    width = 10.0**-digits
    number, n_different = numbered((np.abs(values) + 0.0).view(np.int64))  # most arrays repeat few numbers: no sorting
    magnitudes = np.empty(n_different)
    magnitudes[number] = np.abs(values)
    rank = np.argsort(magnitudes)
    magnitudes = magnitudes[rank]
    eligible = np.isfinite(magnitudes) & (magnitudes > 0)
    joins = np.zeros(magnitudes.size, bool)  # whether k joins k - 1
    joins[1:] = eligible[1:] & eligible[:-1]
    with np.errstate(invalid="ignore"):  # infinity has no neighbours
        joins[1:] &= np.diff(magnitudes) <= width * magnitudes[1:]
    if not joins.any():
        return values, SnapReport(digits)
    counts = np.bincount(number, minlength=n_different)[rank]
    chain = np.cumsum(~joins) - 1
    starts = np.flatnonzero(~joins)
    ends = np.r_[starts[1:], magnitudes.size] - 1
    too_wide = ends > starts
    long = np.flatnonzero(too_wide)
    too_wide[long] = magnitudes[ends[long]] - magnitudes[starts[long]] > width * magnitudes[ends[long]]
    # The most frequent member stands for its chain, the smallest among equals.
    joined = np.flatnonzero((ends > starts)[chain] & ~too_wide[chain])
    order = joined[np.lexsort((magnitudes[joined], -counts[joined], chain[joined]))]
    leads = np.r_[True, chain[order][1:] != chain[order][:-1]] if order.size else np.empty(0, bool)
    merged = magnitudes.copy()
    merged[order] = magnitudes[order[leads]][np.cumsum(leads) - 1]
    changed = np.flatnonzero(merged != magnitudes)
    change = np.abs(merged[changed] - magnitudes[changed]) / magnitudes[changed]
    report = SnapReport(digits, changed.size, int(too_wide.sum()), float(change.max(initial=0.0)))
    by_number = np.empty(n_different)
    by_number[rank] = merged
    return np.copysign(by_number[number], values), report
