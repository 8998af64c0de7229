r"""The forms in which solvers want a program, and the expansion of their dual values.

Three forms cover every solver here:

- as it is, rows and variable bounds apart (HiGHS, PIQP, qpsolvers);
- *stacked*, the bounds of variables as further rows, :math:`l \le Gx \le u` with :math:`G = [A; I]` (OSQP);
- *conic*, :math:`Kx + s = b` with s zero for equalities and nonnegative otherwise (Clarabel, SCS, CVXPY).

Variables are the same in all of them, so that only dual values travel, under the names of
:class:`~relift.program.step.Step`: ``expand`` from the form to the program, ``restrict`` from the program to the form.
They have the signs of :class:`~relift.program.solution.Solution`: :math:`Px + q + A^\top y + w = 0`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict, Unpack, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from relift.arrays import CoordinateMatrix, Integers, SparseMatrix, Vector
from relift.errors import BackendError, MissingPackageError, OptionError, UnknownOptionError
from relift.program.cone_distance import largest_of_cones, pushed_into
from relift.program.magnitudes import largest_of_columns, largest_of_rows, transposed_product
from relift.program.passes import are_finite, conic_form, expand_duals, largest, triangle
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.program.sparse_structure import unchecked
from relift.records import quick
from relift.settings import OWN_OPTIONS, near_own_option

MOST_LISTED = 30
"""Options of a solver are listed in an error where there are no more of them."""

NOTHING = 1e-9
"""Bounds of a row without variables that miss 0 by no more than this are met: what solvers grant all rows, and more."""


class Facts(TypedDict, total=False):
    """What else a solver tells, as :class:`~relift.program.solution.Solution` keeps it."""

    iterations: int | None
    message: str
    statistics: dict[str, object]


def csc(
    matrix: SparseMatrix | CoordinateMatrix, index_type: type[np.int32] | type[np.int64] = np.int32
) -> SparseMatrix:
    """Convert to a CSC matrix with sorted indices of the wanted type, in arrays the solver may write to.

    PIQP returns wrong points for unsorted indices, and several solvers read 64-bit indices as 32-bit ones.
    """
    columns = matrix.tocsc()
    if not columns.has_sorted_indices:
        columns = columns.sorted_indices()
    if index_type is np.int32 and columns.nnz > np.iinfo(np.int32).max:
        raise BackendError(f"the matrix has {columns.nnz} nonzeros, more than 32-bit indices can count.")
    indices: Integers = np.array(columns.indices, dtype=index_type)
    offsets: Integers = np.array(columns.indptr, dtype=index_type)
    return unchecked(sparse.csc_matrix, np.array(columns.data, dtype=np.float64), indices, offsets, columns.shape)


def quadratic_part(program: Program) -> SparseMatrix:
    """P, or an empty matrix of its size for a linear program."""
    n = program.n_variables
    P: SparseMatrix = sparse.csc_array((n, n)) if program.P is None else program.P
    return P


def triangle_of_P(program: Program, *, upper: bool) -> SparseMatrix:
    """One triangle of P, the diagonal included, as a CSC matrix; empty for a linear program."""
    n = program.n_variables
    if program.P is None:
        nothing, zeros = np.empty(0, np.int32), np.zeros(n + 1, np.int32)
        return unchecked(sparse.csc_matrix, np.empty(0), nothing, zeros, (n, n), is_canonical=True)
    P = program.P if program.P.has_sorted_indices else program.P.sorted_indices()
    try:
        offsets, indices, values = triangle(P, upper=upper)
    except ValueError as error:
        raise BackendError(f"P cannot be written with 32-bit indices: {error}.") from error
    is_canonical = program.P.has_canonical_format
    return unchecked(sparse.csc_matrix, values, indices, offsets, (n, n), is_canonical=is_canonical)


@final
@dataclass(frozen=True, eq=False)
class Stacked:
    """Rows of A, then one row for each variable that has a bound: ``l <= Gx <= u``.

    Parameters
    ----------
    G
        CSC matrix of m + len(bounded) rows.
    l, u
        Bounds of these rows.
    bounded
        The variables whose bounds follow the rows of A, ascending.
    """

    G: SparseMatrix
    l: Vector
    u: Vector
    bounded: NDArray[np.int64]

    @classmethod
    def from_program(cls, program: Program) -> Stacked:
        """Append the finite bounds of the variables to the rows."""
        n = program.n_variables
        bounded = np.flatnonzero(np.isfinite(program.lb) | np.isfinite(program.ub))
        identity = sparse.csr_array(
            (np.ones(bounded.size), (np.arange(bounded.size), bounded)), shape=(bounded.size, n)
        )
        G = csc(sparse.vstack([program.A, identity], format="csc") if bounded.size else program.A)
        l, u = (
            np.concatenate([program.l, program.lb[bounded]]),
            np.concatenate([program.u, program.ub[bounded]]),
        )
        return cls(G, l, u, bounded)

    def expand(self, duals: ArrayLike, n: int) -> tuple[Vector, Vector]:
        """Carry dual values of all rows of G back to the program: (y, w)."""
        values = np.asarray(duals, dtype=np.float64).ravel()
        m = self.l.size - self.bounded.size
        w = np.zeros(n)
        w[self.bounded] = values[m:]
        return values[:m].copy(), w

    def restrict(self, y: Vector | None, w: Vector | None) -> Vector | None:
        """Carry dual values (y, w) of the program forward to the rows of G; None if either is missing."""
        return None if y is None or w is None else np.concatenate([y, w[self.bounded]])


@final
@quick
@dataclass(frozen=True, eq=False)
class Conic:
    """``Kx + s = b``, s zero in the first ``n_equalities`` rows and nonnegative in the rest.

    Parameters
    ----------
    K, b
        Equalities first, then upper bounds as ``g'x + s = u``, then lower ones as ``-g'x + s = -l``; in each part rows,
        then variables. K may have further rows, whose right-hand sides are not in b.
    n_equalities, n_upper
        How many rows are equalities, and upper bounds.
    owner
        The row of the program that each stands for, or the number of rows + the variable.
    n_rows
        How many rows the program has.
    """

    K: SparseMatrix
    b: Vector
    n_equalities: int
    n_upper: int
    owner: NDArray[np.int32]
    n_rows: int

    @classmethod
    def from_program(cls, program: Program, following: SparseMatrix | None = None) -> Conic:
        """Sort the finite bounds of rows and variables into cones; infinite ones disappear.

        Parameters
        ----------
        program
            Its rows and bounds are read.
        following
            CSC array of further rows, which follow in K as they are.
        """
        A = program.A
        if A.format == "csc" and not A.has_sorted_indices:
            A = A.sorted_indices()
        try:
            form = conic_form(A, (program.l, program.u, program.lb, program.ub), following)
        except ValueError as error:
            raise BackendError(f"the program cannot be written with 32-bit indices: {error}.") from error
        n_more = 0 if following is None else following.shape[0]
        shape = (form.b.size + n_more, program.n_variables)
        K = unchecked(sparse.csc_matrix, form.values, form.indices, form.offsets, shape)
        return cls(K, form.b, form.n_equal, form.n_upper, form.owner, program.n_rows)

    @property
    def n_inequalities(self) -> int:
        """How many rows are inequalities."""
        return int(self.b.size) - self.n_equalities

    def expand(self, duals: ArrayLike, n: int) -> tuple[Vector, Vector]:
        """Carry dual values of the conic rows, nonnegative for inequalities, back to the program: (y, w)."""
        full = expand_duals(np.asarray(duals, dtype=np.float64).ravel(), self.owner, self._n_first, self.n_rows + n)
        return full[: self.n_rows], full[self.n_rows :]

    @property
    def _n_first(self) -> int:
        """How many rows come before those of lower bounds."""
        return self.n_equalities + self.n_upper

    def restrict(self, y: Vector | None, w: Vector | None) -> Vector | None:
        """Carry dual values (y, w) of the program forward to the conic rows; None if either is missing."""
        if y is None or w is None:
            return None
        values = np.concatenate([y, w])[self.owner]
        second = self.n_equalities + self.n_upper
        values[second:] *= -1.0
        values[self.n_equalities :] = np.maximum(values[self.n_equalities :], 0.0)
        return values


def solution_without_variables(program: Program, backend: str) -> Solution | None:
    """Answer a program with no variables, so that no solver meets one; None if it has variables, or cones.

    Examples
    --------
    >>> solution_without_variables(Program(A=[[], []], l=[-1, 0], u=[1, 2], r=3), "highs").objective
    3.0
    >>> solution_without_variables(Program(A=[[], []], l=[-1, 1], u=[1, 2]), "highs").ray_y.tolist()
    [0.0, -1.0]
    """
    if program.n_variables or len(program.conic):
        return None
    empty = np.zeros(0)
    zeros = np.zeros(program.n_rows)
    wrong = np.flatnonzero((program.l > NOTHING) | (program.u < -NOTHING))
    ray_z = np.where(program.quadratic.r < -NOTHING, 1.0, 0.0)
    message = "no variables: answered without the solver"
    if wrong.size or ray_z.any():
        ray_y = zeros.copy()
        if wrong.size:
            ray_y[wrong[0]] = -1.0 if program.l[wrong[0]] > 0 else 1.0
        return Solution(
            Status.INFEASIBLE,
            objective=float("inf"),
            ray_y=ray_y,
            ray_w=empty,
            ray_z=ray_z,
            ray_v=np.zeros(program.conic.n_rows),
            iterations=0,
            backend=backend,
            message=message,
        )
    return Solution(
        Status.OPTIMAL,
        empty,
        zeros,
        empty,
        objective=program.r,
        z=np.zeros(len(program.quadratic)),
        v=np.zeros(program.conic.n_rows),
        iterations=0,
        backend=backend,
        message=message,
    )


def farkas_value(program: Program, ray_y: Vector, ray_w: Vector, ray_v: Vector | None = None) -> float:
    """``u'y⁺ - l'y⁻ + ub'w⁺ - lb'w⁻ + b'v``: negative proves infeasibility, infinite if a missing bound is used."""
    bounds = ((ray_y, program.l, program.u), (ray_w, program.lb, program.ub))
    total = 0.0 if ray_v is None else float(program.conic.b @ ray_v)
    for ray, lower, upper in bounds:
        up, down = ray > 0, ray < 0
        total += float(upper[up] @ ray[up]) + float(lower[down] @ ray[down])
    return total


def without_dust(ray: Vector, lower: Vector, upper: Vector) -> Vector:
    """Clear a ray of the dust that rounding leaves on bounds that do not exist."""
    dust = 1e-9 * float(np.max(np.abs(ray), initial=0.0))
    missing = ((ray > 0) & ~np.isfinite(upper)) | ((ray < 0) & ~np.isfinite(lower))
    return np.where(missing & (np.abs(ray) <= dust), 0.0, ray)


def _on_bounds(ray: Vector, lower: Vector, upper: Vector) -> Vector:
    """The dual values of a ray that belong to a finite bound, 0 elsewhere."""
    return np.where((ray > 0) & np.isfinite(upper) | (ray < 0) & np.isfinite(lower), ray, 0.0)


def is_proof(program: Program, ray_y: Vector, ray_w: Vector, tolerance: float, ray_v: Vector | None = None) -> bool:
    """Whether a ray of largest entry 1 proves infeasibility: ``A'y + w + C'v = 0`` and a negative Farkas value."""
    v = np.zeros(program.conic.n_rows) if ray_v is None else ray_v
    remainder = np.abs(_slope(program, ray_y, v) + ray_w)
    sizes = np.maximum(largest_of_columns(program.A), largest_of_columns(program.conic.A))
    if not np.all(remainder <= tolerance * sizes) or _distance(program, v, dual=True) > tolerance:
        return False
    return farkas_value(program, ray_y, ray_w, v) < -100 * tolerance


def is_recession_direction(program: Program, d: Vector, tolerance: float) -> bool:
    """Whether a direction of largest entry 1 is a proof of unboundedness."""
    rows = program.quadratic
    if max(rows.bend(d), float((rows.q @ d).max(initial=0.0))) > tolerance:
        return False
    if program.P is not None and np.any(np.abs(program.P @ d) > tolerance * largest_of_rows(program.P)):
        return False
    for along, lower, upper, size in (
        (program.A @ d, program.l, program.u, largest_of_rows(program.A)),
        (d, program.lb, program.ub, np.ones(d.size)),
    ):
        if np.any((along > tolerance * size) & np.isfinite(upper) | (along < -tolerance * size) & np.isfinite(lower)):
            return False
    along = -(program.conic.A @ d)
    if _distance(program, along, largest_of_rows(program.conic.A)) > tolerance:
        return False
    return float(program.q @ d) < -100 * tolerance


def _distance(program: Program, s: Vector, room: Vector | None = None, *, dual: bool = False) -> float:
    """How far a vector is from the cones of a program, relative to the largest entries that made it."""
    rows = program.conic
    sizes = np.ones(rows.n_rows) if room is None else room
    of_cones = largest_of_cones(rows, sizes)
    sizes = np.where(of_cones > 0, of_cones, 1.0)[rows.cone_of_row]
    return float(pushed_into(rows, s, sizes, dual=dual)[0].max(initial=0.0))


def ray_of_divergence(program: Program, y: Vector, w: Vector) -> tuple[Vector, Vector] | None:
    """Dual values that have grown without bound, as a ray, if they point along a proof of infeasibility."""
    size = max(np.max(np.abs(y), initial=0.0), np.max(np.abs(w), initial=0.0))
    if not (np.isfinite(size) and size > 1e6):
        return None
    ray_y = without_dust(y / size, program.l, program.u)
    ray_w = without_dust(w / size, program.lb, program.ub)
    return (ray_y, ray_w) if is_proof(program, ray_y, ray_w, 1e-8) else None


def direction_of_divergence(program: Program, x: ArrayLike) -> Vector | None:
    """Where a point runs off to, if that direction is a proof of unboundedness.

    At a true optimum, however far away, the slope along the way there is zero; here it must still be that of q.
    """
    point = np.asarray(x, dtype=np.float64).ravel()
    size = largest(point)
    if point.size != program.n_variables or not 1e6 < size < np.inf:
        return None
    direction: Vector = point / size
    slope = float(program.q @ direction)
    bend = 0.0 if program.P is None else float(direction @ (program.P @ point))
    is_ray = slope + bend < 0.5 * slope and is_recession_direction(program, direction, 1e-8)
    return direction if is_ray else None


def infeasible(
    program: Program,
    backend: str,
    ray: tuple[Vector, Vector] | None,
    ray_v: Vector | None = None,
    **facts: Unpack[Facts],
) -> Solution:
    """Answer infeasible, with its ray (scaled to largest entry 1) where there is one.

    Dual values of bounds that do not exist are no part of a proof and are cleared; how much that leaves of A'y + w is
    for the certificate to say. Interior-point and first-order methods leave more than rounding there, so w is taken
    from y (quadratic constraints have a part in w, and then the solver's own one stays).
    """
    ray_y, ray_w = (None, None) if ray is None else ray
    if ray_y is not None and ray_w is not None:
        v = np.zeros(program.conic.n_rows) if ray_v is None else ray_v
        size = largest(ray_y, ray_w, v)
        if not (np.isfinite(size) and size > 0):
            ray_y = ray_w = ray_v = None
        else:
            ray_y, ray_v = _on_bounds(ray_y / size, program.l, program.u), _without_small_cones(program, v / size)
            ray_w = ray_w / size if len(program.quadratic) else -_slope(program, ray_y, ray_v)
            ray_w = _on_bounds(ray_w, program.lb, program.ub)
    return Solution(
        Status.INFEASIBLE, objective=float("inf"), ray_y=ray_y, ray_w=ray_w, ray_v=ray_v, backend=backend, **facts
    )


def _slope(program: Program, y: Vector, v: Vector) -> Vector:
    """A'y + C'v."""
    of_rows = transposed_product(program.A, y)
    return of_rows + transposed_product(program.conic.A, v) if len(program.conic) else of_rows


def _without_small_cones(program: Program, ray_v: Vector) -> Vector:
    """A ray of largest entry 1, cleared of the dust that interior-point methods leave on cones that prove nothing."""
    rows = program.conic
    if not len(rows):
        return ray_v
    return np.where(largest_of_cones(rows, np.abs(ray_v))[rows.cone_of_row] <= 1e-9, 0.0, ray_v)


def unbounded(backend: str, ray: ArrayLike | None, **facts: Unpack[Facts]) -> Solution:
    """Answer unbounded, with its ray (scaled to largest entry 1) where there is one."""
    ray_x = None
    if ray is not None:
        ray_x = np.asarray(ray, dtype=np.float64).ravel()
        size = largest(ray_x)
        ray_x = ray_x / size if np.isfinite(size) and size > 0 else None
    return Solution(Status.UNBOUNDED, objective=float("-inf"), ray_x=ray_x, backend=backend, **facts)


def _is_held_by(program: Program, y: Vector | None, w: Vector | None) -> bool:
    """Whether dual values prove that a linear program is bounded: then a point far away may well be optimal."""
    if y is None or w is None or not program.is_linear or len(program.conic) or len(program.quadratic):
        return False
    if y.size != program.n_rows or w.size != program.n_variables or not np.all(np.isfinite(np.r_[y, w])):
        return False
    y, w = _pressing(y, program.l, program.u), _pressing(w, program.lb, program.ub)
    rest = np.abs(program.q + program.A.T @ y + w)
    largest = np.maximum(np.abs(program.q), abs(program.A).T @ np.abs(y))
    return bool(np.all(rest <= 1e-9 * largest))


def _pressing(dual_values: Vector, lower: Vector, upper: Vector) -> Vector:
    """Dual values without those of sides that do not exist."""
    is_wrong = ((dual_values > 0) & ~np.isfinite(upper)) | ((dual_values < 0) & ~np.isfinite(lower))
    return np.where(is_wrong, 0.0, dual_values)


def with_point(
    program: Program,
    backend: str,
    status: Status,
    x: ArrayLike,
    y: Vector | None,
    w: Vector | None,
    z: Vector | None = None,
    v: Vector | None = None,
    **facts: Unpack[Facts],
) -> Solution:
    """Answer with a point; NaN, infinity and running off to infinity are not called optimal."""
    point = np.asarray(x, dtype=np.float64).ravel()
    if not are_finite(point):
        return Solution(Status.FAILURE if status.has_point else status, backend=backend, **facts)
    direction = direction_of_divergence(program, point) if status.has_point else None
    if direction is not None and not _is_held_by(program, y, w):
        return unbounded(backend, direction, **facts)
    if y is not None and w is not None and not are_finite(y, w):
        y = w = None
    return Solution(status, point, y, w, program.objective(point), z, v, backend=backend, **facts)


def check_option_names(backend: str, options: Mapping[str, object], known: Iterable[str]) -> None:
    """Refuse an option that the solver does not have, and name the nearest: relift's own ones first.

    Examples
    --------
    >>> check_option_names("clarabel", {"max_iters": 3}, ["max_iter", "verbose"])
    Traceback (most recent call last):
    relift.errors.UnknownOptionError: clarabel has no option 'max_iters'. Did you mean 'max_iter'?
    >>> check_option_names("clarabel", {"tolerence": 1e-3}, ["tol_feas", "verbose"])
    Traceback (most recent call last):
    relift.errors.UnknownOptionError: clarabel has no option 'tolerence'. Did you mean relift's own option 'tolerance'?
    """
    names = sorted(known)
    for option in options:
        if option not in names:
            raise UnknownOptionError(f"{backend} has no option {option!r}.", nearest_option(backend, option, names))


def nearest_option(backend: str, option: str, names: Sequence[str]) -> str:
    """Say which option of relift or of a solver is probably meant."""
    if option in OWN_OPTIONS:
        return "It is an option of relift itself: give it to relift, not to the backend."
    if own := near_own_option(option):
        return f"Did you mean relift's own option {own!r}?"
    import difflib

    if near := difflib.get_close_matches(option, names, n=1):
        return f"Did you mean {near[0]!r}?"
    of_backend = ", ".join(names) if len(names) <= MOST_LISTED else f"{len(names)} options; see its documentation"
    return f"relift has the options {', '.join(OWN_OPTIONS)}; {backend} has {of_backend}."


def option_refused(backend: str, option: str, value: object, reason: object = "") -> OptionError:
    """Make the error for an option that exists but does not take the value."""
    detail = f" ({reason})" if str(reason) else ""
    return OptionError(f"{backend} refuses {option}={value!r}{detail}.", "See the documentation of the solver.")


def missing_package(backend: str, package: str, extra: str) -> MissingPackageError:
    """Make the error for a solver that is not installed.

    Examples
    --------
    >>> print(missing_package("osqp", "osqp", "backends"))
    the backend 'osqp' needs the package osqp, which is not installed.
    Install it: pip install "relift[backends]"
    """
    return MissingPackageError(
        f"the backend {backend!r} needs the package {package}, which is not installed.",
        f'Install it: pip install "relift[{extra}]"' if extra else f"Install it: pip install {package}",
    )
