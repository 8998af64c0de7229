"""From the arrays that CVXPY compiles a problem into to a program, and from an answer back to CVXPY's dual values.

CVXPY's form is minimise ½x'Px + c'x with b - Ax in a product of cones: zero rows first, then nonnegative ones, second
order, semidefinite, exponential, power cones of three rows, power cones of more. Its dual values obey Px + c + A'z = 0,
z in the dual cones: relift's signs, so that none is turned.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NotRequired, TypedDict, final

import numpy as np
from scipy import sparse

from relift.arrays import Indices, Integers, SparseMatrix, Vector
from relift.program.cones import Cone, Exponential, Power, PowerND, SecondOrder, Semidefinite
from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.program.sparse_structure import unchecked

if TYPE_CHECKING:
    from cvxpy.reductions.dcp2cone.cone_matrix_stuffing import ConeDims


class ConicData(TypedDict):
    """What the conic interfaces of CVXPY hand to their solvers, as far as it is read."""

    A: SparseMatrix
    b: Vector
    c: Vector
    dims: ConeDims
    P: NotRequired[SparseMatrix | None]


@final
@dataclass(frozen=True, eq=False)
class Compiled:
    """A problem as CVXPY compiled it.

    Parameters
    ----------
    program
        The same as a program: zero and nonnegative rows are its rows, the others its conic rows.
    layout
        Where the numbers of the program stand in CVXPY's arrays; None if that is not known.
    """

    program: Program
    layout: Layout | None = None

    @classmethod
    def from_data(cls, data: ConicData, layout: Layout | None = None, *, again: bool = False) -> Compiled:
        """Read the dictionary that the conic interfaces of CVXPY hand to their solvers.

        Parameters
        ----------
        data
            With A, b, c, dims and, for a quadratic objective, P.
        layout
            That of the last solve of the same problem, if there was one.
        again
            Whether the problem was solved before, so that a layout is worth while.
        """
        if layout is None:
            return cls(_program(data), Layout.of(data) if again else None)
        made = layout.program_of(data) if layout.fits(data) else None
        return cls(_program(data)) if made is None else cls(*made)

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


def _program(data: ConicData) -> Program:
    dims, A, b = data["dims"], sparse.csr_array(data["A"]), np.asarray(data["b"], dtype=np.float64).ravel()
    zero, linear = int(dims.zero), int(dims.zero) + int(dims.nonneg)
    lower = np.concatenate([b[:zero], np.full(linear - zero, -np.inf)])
    cones = _cones(dims)
    P = data.get("P")
    return Program(
        None if P is None else sparse.triu(P, format="csc"),
        np.asarray(data["c"], dtype=np.float64).ravel(),
        A[:linear] if cones else A,
        lower,
        b[:linear],
        triangle=None if P is None else "upper",
        conic=ConicRows(A[linear:], b[linear:], cones) if cones else None,
        assume_convex=True,  # CVXPY has proved it from the rules of disciplined programming
    )


@final
@dataclass(frozen=True, eq=False)
class Layout:
    """Where each number of a program stands in the arrays of CVXPY, for problems that are solved again and again.

    Only numbers change from one solve of a parametrised problem to the next; the program is then put together by
    gathers, without converting and checking the matrices anew.

    Parameters
    ----------
    key
        Shapes and cones.
    A, P
        Offsets and indices of CVXPY's matrices.
    template
        A program of the same structure.
    places
        Where the numbers of its A, of its P and of its conic rows stand.
    last
        The numbers of A and P that were read last, and the program that was made of them: matrices and bounds that have
        not changed are handed on as they are, and whoever compares them need not look at their entries.
    """

    key: tuple[object, ...]
    A: tuple[Integers, Integers]
    P: tuple[Integers, Integers] | None
    template: Program
    places: tuple[Indices, Indices | None, Indices]
    last: tuple[Vector, Vector | None, Program] | None = None

    @classmethod
    def of(cls, data: ConicData) -> Layout | None:
        """Follow the positions through the slow way; None where entries were added up."""
        A, P = data["A"], data.get("P")
        if not _is_plain(A) or not (P is None or _is_plain(P)):
            return None
        marked: ConicData = {**data, "A": _positions(A), "b": np.zeros(A.shape[0]), "c": np.zeros(A.shape[1])}
        marked["P"] = None if P is None else _positions(P)
        structure = None if P is None else (P.indptr.copy(), P.indices.copy())
        template = _program(marked)
        places = _places(template.A), None if template.P is None else _places(template.P), _places(template.conic.A)
        return cls(_key(data), (A.indptr.copy(), A.indices.copy()), structure, template, places)

    def fits(self, data: ConicData) -> bool:
        """Whether the arrays have the same structure, so that only numbers differ."""
        A, P = data["A"], data.get("P")
        if _key(data) != self.key or not _is_plain(A) or not (P is None or _is_plain(P)):
            return False
        if not _has_structure(A, self.A):
            return False
        return P is None or (self.P is not None and _has_structure(P, self.P))

    def program_of(self, data: ConicData) -> tuple[Program, Layout] | None:
        """The program, and the layout for the next one; None where a number is not finite.

        The slow way tells in words what is wrong with a number.
        """
        dims, template = data["dims"], self.template
        zero, linear = int(dims.zero), int(dims.zero) + int(dims.nonneg)
        values, b = np.asarray(data["A"].data, np.float64), np.asarray(data["b"], np.float64).ravel()
        q = np.array(data["c"], np.float64).ravel()
        P = data.get("P")
        curvature = None if P is None else np.asarray(P.data, np.float64)
        last = self._if_same(values, curvature)
        numbers = (b, q) if last is not None else (values, b, q) if curvature is None else (values, b, q, curvature)
        if not all(np.isfinite(array).all() for array in numbers):
            return None
        lower = np.concatenate([b[:zero], np.full(linear - zero, -np.inf)])
        conic = template.conic
        if len(conic):
            rows = _gathered(conic.A, self.places[2], values) if last is None else last.conic.A
            conic = conic.with_values(rows, b[linear:].copy())
        upper = b[:linear].copy()
        if last is not None:
            lower = last.l if np.array_equal(lower, last.l) else lower
            upper = last.u if np.array_equal(upper, last.u) else upper
            program = Program.trusted(last.P, q, last.A, lower, upper, template.lb, template.ub, conic=conic)
            return program, self
        P = None
        if curvature is not None and template.P is not None and self.places[1] is not None:
            P = _gathered(template.P, self.places[1], curvature)
        A = _gathered(template.A, self.places[0], values)
        program = Program.trusted(P, q, A, lower, upper, template.lb, template.ub, conic=conic)
        # CVXPY may write into its arrays again.
        seen = (values.copy(), None if curvature is None else curvature.copy(), program)
        return program, replace(self, last=seen)

    def _if_same(self, values: Vector, curvature: Vector | None) -> Program | None:
        """The last program, if the matrices have the same numbers as then."""
        if self.last is None:
            return None
        old_values, old_curvature, program = self.last
        if not np.array_equal(values, old_values) or (curvature is None) != (old_curvature is None):
            return None
        is_same = curvature is None or old_curvature is None or np.array_equal(curvature, old_curvature)
        return program if is_same else None


def _key(data: ConicData) -> tuple[object, ...]:
    dims, P = data["dims"], data.get("P")
    sizes = (tuple(dims.soc), tuple(dims.psd), tuple(dims.p3d), tuple(tuple(np.ravel(each)) for each in dims.pnd))
    return (data["A"].shape, P is None, int(dims.zero), int(dims.nonneg), int(dims.exp), sizes)


def _is_plain(matrix: SparseMatrix) -> bool:
    """Whether it is stored by columns with sorted indices, each place once."""
    return matrix.format == "csc" and bool(matrix.has_canonical_format)


def _has_structure(matrix: SparseMatrix, structure: tuple[Integers, Integers]) -> bool:
    return np.array_equal(matrix.indptr, structure[0]) and np.array_equal(matrix.indices, structure[1])


def _positions(matrix: SparseMatrix) -> SparseMatrix:
    """The same structure with the numbers 1, 2, 3, ..., in the order in which they are stored."""
    numbers = np.arange(1.0, matrix.nnz + 1.0)
    found: SparseMatrix = sparse.csc_array((numbers, matrix.indices, matrix.indptr), shape=matrix.shape)
    return found


def _places(marked: SparseMatrix) -> Indices:
    """Where numbers stand that are marked by 1, 2, 3, ..."""
    return np.asarray(marked.data, np.int64) - 1


def _gathered(template: SparseMatrix, places: Indices, values: Vector) -> SparseMatrix:
    """The matrix of this structure whose entries stand at these places."""
    make = sparse.csr_array if template.format == "csr" else sparse.csc_array
    return unchecked(make, values[places], template.indices, template.indptr, template.shape, is_canonical=True)


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
