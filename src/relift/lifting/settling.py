r"""Variables that stay where they are by symmetry, and rows that hold then whatever the others do.

Refinement up to scale (:mod:`relift.symmetry.scaled_refinement`) leaves some variables and rows at rest: a variable at
rest has no cost and sums 0 of entries into every class of the others, and so has a row at rest, which 0 satisfies. Then
some optimum has 0 for these variables, and these rows add nothing: they are left out, with dual values 0.

A variable may also be *centred*: :math:`x_j = c_j + x'_j` with :math:`c_j` the middle of its bounds, so that
:math:`x \mapsto lb + ub - x` is a change of sign. Right-hand sides shift by A c, costs by P c, in floats and exactly.
At rest means :math:`x_j = c_j`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from relift.arrays import Flags, Indices, Vector
from relift.program.cones import SecondOrder
from relift.program.conic_rows import ConicRows
from relift.program.index_sets import all_of, constant, where
from relift.program.passes import submatrix
from relift.program.program import Program
from relift.program.solution import Solution
from relift.records import quick
from relift.settings import Reading
from relift.symmetry.centres import Centres, centred_program
from relift.symmetry.exact_vectors import VectorImages


@final
@quick
@dataclass(frozen=True, eq=False)
class Settled:
    """A program without what is at rest, and with the rest measured from their centres.

    Parameters
    ----------
    before
        The program before.
    centred
        The same with all variables measured from their centres; the very same object if all centres are 0.
    program
        The program after: ``centred`` without what is at rest.
    images
        Exact images of the vectors of ``program``.
    centre
        The centre of each variable of the program before.
    kept
        Which variables, rows, conic rows and cones were kept, in order; None for all.
    """

    before: Program
    centred: Program
    program: Program
    images: VectorImages
    centre: Vector
    kept: tuple[Indices, Indices, Indices, Indices] | None = None

    @property
    def variables(self) -> Indices:
        """Which variables were kept, in order."""
        return all_of(self.before.n_variables) if self.kept is None else self.kept[0]

    @property
    def rows(self) -> Indices:
        """Which rows were kept, in order."""
        return all_of(self.before.n_rows) if self.kept is None else self.kept[1]

    @property
    def conic_rows(self) -> Indices:
        """Which conic rows were kept, in order."""
        return all_of(self.before.conic.n_rows) if self.kept is None else self.kept[2]

    @property
    def cones(self) -> Indices:
        """Which cones were kept, in order."""
        return all_of(len(self.before.conic)) if self.kept is None else self.kept[3]

    @property
    def is_trivial(self) -> bool:
        """Whether nothing is at rest, and nothing was centred."""
        return self.program is self.before

    def expand(self, solution: Solution) -> Solution:
        """From an answer for what is left to one for the program before."""
        if self.is_trivial:
            return solution
        n, m, k = self.before.n_variables, self.before.n_rows, self.before.conic.n_rows
        return solution.but(
            x=_placed(solution.x, self.variables, self.centre),
            y=_placed(solution.y, self.rows, np.zeros(m)),
            w=_placed(solution.w, self.variables, np.zeros(n)),
            v=_placed(solution.v, self.conic_rows, np.zeros(k)),
            ray_x=_placed(solution.ray_x, self.variables, np.zeros(n)),
            ray_y=_placed(solution.ray_y, self.rows, np.zeros(m)),
            ray_w=_placed(solution.ray_w, self.variables, np.zeros(n)),
            ray_v=_placed(solution.ray_v, self.conic_rows, np.zeros(k)),
        )

    def restrict(self, solution: Solution) -> Solution:
        """From a point of the program before to one of what is left, for a warm start."""
        if self.is_trivial:
            return solution
        return solution.but(
            x=None if solution.x is None else (solution.x - self.centre)[self.variables],
            y=None if solution.y is None else solution.y[self.rows],
            w=None if solution.w is None else solution.w[self.variables],
            v=None if solution.v is None else solution.v[self.conic_rows],
        )


@final
@quick
@dataclass(frozen=True, eq=False)
class AtRest:
    """Which variables, rows, conic rows and cones are at rest, and from where variables are measured.

    Parameters
    ----------
    variables, rows, conic_rows, cones
        Masks; None for none. All rows of a cone at rest are.
    centres
        The centres of the variables; None if all are 0.
    """

    variables: Flags | None = None
    rows: Flags | None = None
    conic_rows: Flags | None = None
    cones: Flags | None = None
    centres: Centres | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is at rest, and all variables are measured from 0."""
        return self.variables is self.rows is self.conic_rows is self.cones is None and self.centres is None


def settle(program: Program, images: VectorImages, rest: AtRest, reading: Reading = "decimal") -> Settled:
    """Leave out what is at rest.

    Parameters
    ----------
    program
        The program, a minimisation.
    images
        Exact images of its vectors.
    rest
        What is at rest.
    reading
        How floats are read.

    Examples
    --------
    >>> program = Program(q=[1, 0], A=[[1, 0], [0, 1]], l=[1, -2], u=[3, 2], lb=0, ub=4)
    >>> last = np.array([False, True])
    >>> settled = settle(program, VectorImages.of(program, "decimal"), AtRest(last, last))
    >>> settled.program, settled.variables.tolist(), settled.rows.tolist()
    (Program(LP, min, 1 variables, 1 rows, 1 nonzeros), [0], [0])
    """
    n, m = program.n_variables, program.n_rows
    centred, origin = program, constant(0.0, n)
    if rest.is_empty:
        return Settled(program, program, program, images, origin)
    if rest.centres is not None:
        origin = rest.centres.floats
        centred, images = centred_program(program, images, rest.centres, reading)
    kept, left = _others(rest.variables, n), _others(rest.rows, m)
    conic_rows, cones = _others(rest.conic_rows, program.conic.n_rows), _others(rest.cones, len(program.conic))
    if kept.size == n and left.size == m and conic_rows.size == program.conic.n_rows:
        return Settled(program, centred, centred, images, origin)
    A, P = submatrix(centred.A, left, kept), centred.P
    if P is not None and kept.size < n:
        P = submatrix(P, kept, kept)
        P = None if P.nnz == 0 else P
    conic = _conic_without(centred.conic, conic_rows)
    small = Program.trusted(
        P, centred.q[kept], A, centred.l[left], centred.u[left], centred.lb[kept], centred.ub[kept], centred.r,
        quadratic=centred.quadratic.on_variables(kept), conic=conic.on_variables(kept, conic.b),
    )  # fmt: skip
    left_images = VectorImages(
        images.q[kept], images.l[left], images.u[left], images.lb[kept], images.ub[kept], images.b[conic_rows]
    )
    return Settled(program, centred, small, left_images, origin, (kept, left, conic_rows, cones))


def _conic_without(conic: ConicRows, kept: Indices) -> ConicRows:
    """Without cones at rest, and without tails at rest."""
    if kept.size == conic.n_rows:
        return conic
    sizes = np.bincount(conic.cone_of_row[kept], minlength=len(conic))
    left = [
        SecondOrder(int(size)) if isinstance(cone, SecondOrder) else cone
        for cone, size in zip(conic.cones, sizes.tolist(), strict=True)
        if size
    ]
    return ConicRows.trusted(submatrix(conic.A, kept, None), conic.b[kept], left)


def _others(mask: Flags | None, size: int) -> Indices:
    return all_of(size) if mask is None else where(~mask)


def _placed(vector: Vector | None, where: Indices, origin: Vector) -> Vector | None:
    if vector is None:
        return None
    full = origin.copy()
    full[where] += vector
    return full
