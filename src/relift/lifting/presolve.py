"""What is already known is substituted before symmetry is looked for; symmetry hides behind it.

- a variable with lb = ub is replaced by its value;
- a row with one remaining entry is a bound of that variable;
- a row with no remaining entry is dropped, if 0 satisfies it;
- of rows that are multiples of each other one stays, with the tightest bounds.

Conic rows stay; values are substituted into their right-hand sides. The passes are in
:mod:`~relift.lifting.substitution`, multiples and the cutting of matrices in :mod:`~relift.lifting.remaining_program`,
the way back in :mod:`~relift.lifting.reduction`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from numpy.typing import NDArray

from relift.arrays import Indices, ScalarT
from relift.lifting.cuts import Cuts
from relift.lifting.presolve_scan import Scan, is_same_matrix
from relift.lifting.reduction import Reduction, trivial_reduction
from relift.lifting.remaining_program import finish
from relift.lifting.substitution import Substitution
from relift.program.program import Program
from relift.settings import Reading
from relift.symmetry.exact_vectors import VectorImages


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
    known = None if earlier is None or earlier.scan is None else (earlier.ground, earlier.scan)
    scan = Scan.of(program, reading, known)
    if earlier is not None and _has_same_constraints(scan, program, earlier):
        return _with_costs(program, scan, earlier)
    if not _has_anything(scan):
        return trivial_reduction(
            program, scan.images, scan, Cuts(), earlier, rows_are_apart=True, rows_have_entries=True
        )
    work = Substitution(program, scan, Cuts(None if earlier is None else earlier.cuts))
    work.substitute()
    return finish(work)


def _has_anything(scan: Scan) -> bool:
    """Whether there is anything to substitute: short rows, rows that may be multiples, or fixed variables."""
    if scan.has_fixed or (scan.counts.size and scan.counts.min() < 2):
        return True
    return scan.alike.size > 0


def _has_same_constraints(scan: Scan, program: Program, earlier: Reduction) -> bool:
    """Whether presolve would do the same as before: matrix and bounds are the same, and costs play no part."""
    old = earlier.scan
    if old is None or scan.counts is not old.counts or len(program.quadratic):
        return False
    new, known = scan.images, old.images
    if not new.shares(known, "l", "u", "lb", "ub"):
        return False
    return not earlier.fixed or _has_same_costs_beside(program, earlier)


def _has_same_costs_beside(program: Program, earlier: Reduction) -> bool:
    """Whether values that were substituted leave the costs of other variables as they are."""
    P, before = program.P, earlier.ground.P
    if len(program.conic) or (P is None) != (before is None) or earlier.has_own_costs:
        return False
    return P is None or before is None or is_same_matrix(P, before)


def _with_costs(program: Program, scan: Scan, earlier: Reduction) -> Reduction:
    """The same steps with other costs, and, where no variable was substituted, other right-hand sides of cones."""
    if earlier.is_trivial:
        return trivial_reduction(
            program, scan.images, scan, earlier.cuts, earlier,
            rows_are_apart=earlier.rows_are_apart, rows_have_entries=earlier.rows_have_entries,
        )  # fmt: skip
    old, kept = earlier.program, _taker(earlier.variables, program.n_variables)
    reduced = Program.trusted(
        old.P if earlier.fixed else program.P, kept(program.q), old.A, old.l, old.u, old.lb, old.ub,
        program.r + float(program.q @ earlier.values) + earlier.curvature if earlier.fixed else program.r,
        quadratic=old.quadratic, conic=old.conic if earlier.fixed else program.conic,
    )  # fmt: skip
    q = scan.images.exact("q") if earlier.variables.size == program.n_variables else kept(scan.images.q)
    images = earlier.images.but(q=q, b=scan.images.exact("b"))
    return replace(earlier, ground=program, program=reduced, images=images, scan=scan)


def unreduced(program: Program, reading: Reading = "decimal", earlier: Reduction | None = None) -> Reduction:
    """A reduction that changes nothing; nothing of an earlier one is of use to it."""
    return trivial_reduction(program, VectorImages.of(program, reading))


def _taker(kept: Indices, size: int) -> Callable[[NDArray[ScalarT]], NDArray[ScalarT]]:
    """What takes the kept entries of a vector: the vector itself where all are kept."""
    return (lambda vector: vector) if kept.size == size else (lambda vector: vector.take(kept))
