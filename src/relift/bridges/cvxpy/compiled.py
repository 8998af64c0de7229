"""From the arrays that CVXPY compiles a problem into to a program, and from an answer back to CVXPY's dual values.

CVXPY's form is minimise ½x'Px + c'x with b - Ax in a product of cones: zero rows first, then nonnegative ones, second
order, semidefinite, exponential, power cones of three rows, power cones of more. Its dual values obey Px + c + A'z = 0,
z in the dual cones: relift's signs, so that none is turned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NotRequired, TypedDict, final

import numpy as np
from scipy import sparse

from relift.arrays import SparseLike, Vector
from relift.program.cones import Cone, Exponential, Power, PowerND, SecondOrder, Semidefinite
from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.program.solution import Solution, Status

if TYPE_CHECKING:
    from cvxpy.reductions.dcp2cone.cone_matrix_stuffing import ConeDims


class ConicData(TypedDict):
    """What the conic interfaces of CVXPY hand to their solvers, as far as it is read."""

    A: SparseLike
    b: Vector
    c: Vector
    dims: ConeDims
    P: NotRequired[SparseLike | None]


@final
@dataclass(frozen=True, eq=False)
class Compiled:
    """A problem as CVXPY compiled it.

    Parameters
    ----------
    program
        The same as a program: zero and nonnegative rows are its rows, the others its conic rows.
    """

    program: Program

    @classmethod
    def from_data(cls, data: ConicData) -> Compiled:
        """Read the dictionary that the conic interfaces of CVXPY hand to their solvers.

        Parameters
        ----------
        data
            With A, b, c, dims and, for a quadratic objective, P.
        """
        dims, A, b = data["dims"], sparse.csr_array(data["A"]), np.asarray(data["b"], dtype=np.float64).ravel()
        zero, linear = int(dims.zero), int(dims.zero) + int(dims.nonneg)
        lower = np.concatenate([b[:zero], np.full(linear - zero, -np.inf)])
        cones = _cones(dims)
        P = data.get("P")
        program = Program(
            None if P is None else sparse.triu(P, format="csc"),
            np.asarray(data["c"], dtype=np.float64).ravel(),
            A[:linear],
            lower,
            b[:linear],
            triangle=None if P is None else "upper",
            conic=ConicRows(A[linear:], b[linear:], cones) if cones else None,
            assume_convex=True,  # CVXPY has proved it from the rules of disciplined programming
        )
        return cls(program)

    def duals(self, y: Vector | None, v: Vector | None) -> Vector | None:
        """The dual values of all rows in CVXPY's order; None if some are missing.

        Parameters
        ----------
        y, v
            Those of the linear rows and of the conic rows.
        """
        if y is None or (v is None and len(self.program.conic)):
            return None
        return np.concatenate([y, np.zeros(0) if v is None else v])


def duals_of(compiled: Compiled, answer: Solution) -> Vector | None:
    """What CVXPY calls the dual of an answer: dual values of a point, or the proof that there is none.

    To a proof of unboundedness belong dual values of zero, which is what Clarabel and SCS return.
    """
    if answer.status is Status.UNBOUNDED:
        return np.zeros(compiled.program.n_rows + compiled.program.conic.n_rows)
    point = compiled.duals(answer.y, answer.v)
    return compiled.duals(answer.ray_y, answer.ray_v) if point is None else point


def _cones(dims: ConeDims) -> list[Cone]:
    cones: list[Cone] = [SecondOrder(int(size)) for size in dims.soc]
    cones += [Semidefinite(int(side)) for side in dims.psd]
    cones += [Exponential()] * int(dims.exp)
    cones += [Power(float(alpha)) for alpha in dims.p3d]
    # CVXPY lets exponents miss the sum 1 by 1e-6.
    cones += [PowerND(tuple(np.asarray(alphas, float) / np.sum(alphas))) for alphas in dims.pnd]
    return cones
