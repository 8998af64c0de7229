r"""The convex program, checked once when it is made and never changed afterwards.

.. math:: \min\; \tfrac12 x^\top P x + q^\top x + r \quad\text{s.t.}\quad l \le A x \le u,\; lb \le x \le ub,\;
   \tfrac12 x^\top P_k x + q_k^\top x \le r_k,\; b - C x \in K_1 \times K_2 \times \dots

This is the convention of the solvers. Mladenov, Kleinhans and Kersting (2016) write the objective
:math:`x^\top Q x + c^\top x`; here :math:`P = 2Q` and :math:`q = c`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, TypedDict, Unpack, final, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from relift.arrays import Array, MatrixLike, SparseMatrix, Vector, is_sparse
from relift.errors import AsymmetricError, BoundsError, NotANumberError, ShapeError
from relift.program.arrays import as_floats, as_matrix, as_vector, freeze_matrix, frozen
from relift.program.conic_rows import ConicRows
from relift.program.convexity import check_convex
from relift.program.labels import check_labels
from relift.program.passes import extremes, is_symmetric, product
from relift.program.quadratic_rows import QuadraticConstraint, QuadraticRows
from relift.program.sparse_structure import csc_from_triples, no_rows
from relift.settings import check_choice, suggests_options

Sense = Literal["min", "max"]
Triangle = Literal["upper", "lower"]

Names: TypeAlias = Sequence[str] | Array
"""A name for each variable or row: a list, or an array of strings."""


class ProgramParts(TypedDict, total=False):
    """The arguments of :class:`Program` by name, as :meth:`Program.replace` takes them."""

    P: MatrixLike | None
    q: ArrayLike | None
    A: MatrixLike | None
    l: ArrayLike | None
    u: ArrayLike | None
    lb: ArrayLike | None
    ub: ArrayLike | None
    r: float
    sense: Sense
    variable_names: Names | None
    row_names: Names | None
    triangle: Triangle | None
    quadratic: QuadraticRows | Sequence[QuadraticConstraint]
    conic: ConicRows | None
    assume_convex: bool


_VECTORS = frozenset({"q", "l", "u", "lb", "ub", "r"})
"""What can change while matrices stay as they were checked."""


_DEFAULTS = {"q": 0.0, "l": -np.inf, "u": np.inf, "lb": -np.inf, "ub": np.inf}
"""What vectors that are not given are made of."""


NO_NUMBER = 1e31
"""Bounds of this size mean that there is none: C, COIN-OR and NumPy write the largest float for infinity. HiGHS crashes
on some of 1e36, and products of larger ones need not be numbers."""


class _Parts(TypedDict):
    P: SparseMatrix | None
    q: Vector
    A: SparseMatrix
    l: Vector
    u: Vector
    lb: Vector
    ub: Vector
    r: float
    sense: Sense
    quadratic: QuadraticRows
    conic: ConicRows
    variable_names: Sequence[str] | None
    row_names: Sequence[str] | None


@final
class Program:
    """A linear, convex quadratic or conic program; immutable, with read-only arrays.

    Nothing that the caller does to an array or matrix afterwards changes the program: vectors and matrices are copied
    (8 bytes for each number, 12 or 16 for each entry of a CSC or CSR matrix; far less than a solve reads), unless they
    are read-only and own their data, as those of another program do. Lists, integers and other sparse formats are
    converted, which copies once. The structure of sparse matrices is checked before anything is done with it.

    Parameters
    ----------
    P
        Symmetric n x n matrix of the quadratic part, or None for a linear program.
    q
        Linear part, length n; None for zeros.
    A
        Matrix of the rows, m x n; None for no rows.
    l, u
        Bounds of the rows, length m, or one number for all; None for unbounded. Equal entries make an equality.
    lb, ub
        Bounds of the variables, length n, or one number for all; None for unbounded. Bounds from 1e31 on, of rows
        too, are read as infinite: many programs write the largest float for infinity.
    r
        Constant of the objective.
    sense
        ``"min"``, or ``"max"`` to maximise the same objective (P must then be negative semidefinite).
    variable_names, row_names
        Optional names, one for each variable or row.
    triangle
        Set to ``"upper"`` or ``"lower"`` if P holds only that triangle; the other is then filled in. Never guessed.
    quadratic
        Convex quadratic constraints ½x'P_kx + q_k'x <= r_k, as triples (P_k, q_k, r_k) or
        :class:`~relift.program.quadratic_rows.QuadraticRows`.
    conic
        Conic constraints b - Cx in K, as :class:`~relift.program.conic_rows.ConicRows`; None for none.
    assume_convex
        Skip the convexity check of P and of the quadratic constraints, at your own risk.

    Examples
    --------
    >>> program = Program(q=[1, 1], A=[[1, 2], [2, 1]], l=[2, 2], lb=0)
    >>> program
    Program(LP, min, 2 variables, 2 rows, 4 nonzeros)
    >>> Program(P=[[0, 1], [1, 0]])
    Traceback (most recent call last):
    relift.errors.NonConvexError: P is not positive semidefinite: along x[0] = 0.707, x[1] = -0.707 the curvature is
    -1. ...
    """

    __slots__ = (
        "A", "P", "conic", "l", "lb", "q", "quadratic", "r", "row_names", "sense", "u", "ub", "variable_names",
    )  # fmt: skip

    P: SparseMatrix | None
    """CSC array, or None for a linear program."""
    q: Vector
    A: SparseMatrix
    """CSC or CSR array, as it was given."""
    l: Vector
    u: Vector
    lb: Vector
    ub: Vector
    r: float
    sense: Sense
    quadratic: QuadraticRows
    """Quadratic constraints; empty for most programs."""
    conic: ConicRows
    """Conic constraints; empty for most programs."""
    variable_names: Sequence[str] | None
    row_names: Sequence[str] | None

    @suggests_options
    def __init__(
        self,
        P: MatrixLike | None = None,
        q: ArrayLike | None = None,
        A: MatrixLike | None = None,
        l: ArrayLike | None = None,
        u: ArrayLike | None = None,
        lb: ArrayLike | None = None,
        ub: ArrayLike | None = None,
        r: float = 0.0,
        *,
        sense: Sense = "min",
        variable_names: Names | None = None,
        row_names: Names | None = None,
        triangle: Triangle | None = None,
        quadratic: QuadraticRows | Sequence[QuadraticConstraint] = (),
        conic: ConicRows | None = None,
        assume_convex: bool = False,
    ) -> None:
        check_choice("sense", sense, get_args(Sense))
        if triangle is not None:
            check_choice("triangle", triangle, get_args(Triangle))
        check_labels({"q": q, "l": l, "u": u, "lb": lb, "ub": ub}, {"P": P, "A": A})
        curvature = None if P is None else as_matrix("P", P)
        given = None if A is None else as_matrix("A", A)
        n = _number_of_variables(curvature, q, given, lb, ub, variable_names, conic)
        m = 0 if given is None else given.shape[0]
        rows: SparseMatrix = no_rows(n) if given is None else given
        if given is None:
            for name, bound in (("l", l), ("u", u)):
                if bound is not None and np.size(bound) != 0:
                    raise ShapeError(
                        f"{name} is given, but there are no rows: A is None.", "Give A too.", argument=name
                    )
        if rows.shape[1] != n:
            raise ShapeError(
                f"A has {rows.shape[1]} columns, but there are {n} variables.",
                "Each column of A is a variable.",
                "A",
            )
        if curvature is not None:
            if curvature.shape != (n, n):
                raise ShapeError(
                    f"P is {curvature.shape[0]} x {curvature.shape[1]}, but there are {n} variables.",
                    f"P must be {n} x {n}.",
                    "P",
                )
            curvature = _symmetric(curvature, triangle)
            curvature = None if curvature.nnz == 0 else curvature
        # A damaged shape can ask for all the memory: vectors that are given must fit before the others are made.
        sides = (("q", q, n), ("l", l, m), ("u", u, m), ("lb", lb, n), ("ub", ub, n))
        vectors = {
            name: as_vector(name, _DEFAULTS[name] if given_vector is None else given_vector, size, finite=name == "q")
            for name, given_vector, size in sorted(sides, key=lambda side: side[1] is None)
        }
        values: _Parts = {
            "P": curvature,
            "q": vectors["q"],
            "A": rows,
            "l": vectors["l"],
            "u": vectors["u"],
            "lb": vectors["lb"],
            "ub": vectors["ub"],
            "r": as_constant(r),
            "sense": sense,
            "quadratic": _as_quadratic_rows(quadratic, n, assume_convex),
            "conic": _as_conic_rows(conic, n),
            "variable_names": _as_names("variable_names", variable_names, n),
            "row_names": _as_names("row_names", row_names, m),
        }
        _leave_out_huge_bounds(values)
        _check_bounds("l", "u", values["l"], values["u"], "row", values["row_names"])
        _check_bounds("lb", "ub", values["lb"], values["ub"], "variable", values["variable_names"])
        if curvature is not None and not assume_convex:
            check_convex(curvature, sense, values["variable_names"])
        self._fill(values)

    @classmethod
    def trusted(
        cls,
        P: SparseMatrix | None,
        q: Vector,
        A: SparseMatrix,
        l: Vector,
        u: Vector,
        lb: Vector,
        ub: Vector,
        r: float = 0.0,
        sense: Sense = "min",
        quadratic: QuadraticRows | None = None,
        conic: ConicRows | None = None,
    ) -> Program:
        """A program from parts known to be right: no check, no copy. For programs derived from a checked one."""
        program = object.__new__(cls)
        parts: _Parts = {
            "P": P, "q": q, "A": A, "l": l, "u": u, "lb": lb, "ub": ub, "r": r, "sense": sense,
            "quadratic": QuadraticRows.none(q.size) if quadratic is None else quadratic,
            "conic": ConicRows.none(q.size) if conic is None else conic,
            "variable_names": None, "row_names": None,
        }  # fmt: skip
        program._fill(parts)
        return program

    def _fill(self, values: _Parts) -> None:
        for matrix in (values["P"], values["A"]):
            if matrix is not None:
                freeze_matrix(matrix)
        put = object.__setattr__
        for name, value in values.items():
            put(self, name, frozen(value) if isinstance(value, np.ndarray) and value.flags.writeable else value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Program does not change: make a new one with replace({name}=...)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a Program does not change")

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, ({name: getattr(self, name) for name in self.__slots__},)

    @property
    def n_variables(self) -> int:
        """Number of variables, n."""
        return int(self.q.size)

    @property
    def n_rows(self) -> int:
        """Number of rows, m; bounds of variables, quadratic and conic constraints are not counted."""
        return int(self.l.size)

    @property
    def n_nonzeros(self) -> int:
        """Stored entries of A, P, the quadratic and the conic constraints together."""
        in_objective = 0 if self.P is None else int(self.P.nnz)
        return int(self.A.nnz) + in_objective + self.quadratic.n_nonzeros + self.conic.n_nonzeros

    @property
    def is_linear(self) -> bool:
        """Whether nothing in it is quadratic or conic."""
        return self.P is None and len(self.quadratic) == 0 and len(self.conic) == 0

    @property
    def kind(self) -> str:
        """``"LP"``, ``"QP"``, ``"QCQP"`` if there are quadratic constraints, ``"conic"`` if there are cones."""
        if len(self.conic):
            return "conic"
        return "QCQP" if len(self.quadratic) else "QP" if self.P is not None else "LP"

    def objective(self, x: ArrayLike) -> float:
        """Value of ½x'Px + q'x + r.

        Examples
        --------
        >>> Program(P=[[2]], q=[1], r=3).objective([2])
        9.0
        """
        point = np.asarray(x, dtype=np.float64)
        quadratic = 0.0 if self.P is None else 0.5 * float(point @ product(self.P, point))
        return quadratic + float(self.q @ point) + self.r

    def minimisation(self) -> Program:
        """The same program as a minimisation: itself, or with the objective negated."""
        if self.sense == "min":
            return self
        P = None if self.P is None else -self.P
        return Program.trusted(
            P, -self.q, self.A, self.l, self.u, self.lb, self.ub, -self.r, quadratic=self.quadratic, conic=self.conic
        )

    def replace(self, **changes: Unpack[ProgramParts]) -> Program:
        """A new, checked program with some parts changed.

        Examples
        --------
        >>> Program(q=[1.0], lb=0).replace(ub=[3.0]).ub.tolist()
        [3.0]
        """
        parts: ProgramParts = {
            "P": self.P, "q": self.q, "A": self.A, "l": self.l, "u": self.u, "lb": self.lb, "ub": self.ub, "r": self.r,
            "sense": self.sense, "quadratic": self.quadratic, "conic": self.conic,
            "variable_names": self.variable_names, "row_names": self.row_names,
        }  # fmt: skip
        parts.update(changes)
        if changes.keys() <= _VECTORS:
            return self._with_vectors(parts)
        if "quadratic" in changes:  # these are new, whether or not P is
            is_sure = bool(changes.get("assume_convex", False))
            parts["quadratic"] = _as_quadratic_rows(changes["quadratic"], self.n_variables, is_sure)
        if "P" not in changes and "sense" not in changes:
            parts["assume_convex"] = True
        return Program(**parts)

    def _with_vectors(self, given: ProgramParts) -> Program:
        """The same matrices, which were checked, with vectors that are checked here."""
        n, m = self.n_variables, self.n_rows
        q, l, u, lb, ub = given["q"], given["l"], given["u"], given["lb"], given["ub"]
        # Vectors of this program were checked when it was made.
        values: _Parts = {
            "P": self.P,
            "q": self.q if q is self.q else as_vector("q", 0.0 if q is None else q, n, finite=True),
            "A": self.A,
            "l": self.l if l is self.l else as_vector("l", -np.inf if l is None else l, m),
            "u": self.u if u is self.u else as_vector("u", np.inf if u is None else u, m),
            "lb": self.lb if lb is self.lb else as_vector("lb", -np.inf if lb is None else lb, n),
            "ub": self.ub if ub is self.ub else as_vector("ub", np.inf if ub is None else ub, n),
            "r": as_constant(given["r"]),
            "sense": self.sense,
            "quadratic": self.quadratic,
            "conic": self.conic,
            "variable_names": self.variable_names,
            "row_names": self.row_names,
        }
        if any(values[name] is not getattr(self, name) for name in ("l", "u", "lb", "ub")):
            _leave_out_huge_bounds(values)
        if values["l"] is not self.l or values["u"] is not self.u:
            _check_bounds("l", "u", values["l"], values["u"], "row", self.row_names)
        if values["lb"] is not self.lb or values["ub"] is not self.ub:
            _check_bounds("lb", "ub", values["lb"], values["ub"], "variable", self.variable_names)
        program = object.__new__(Program)
        program._fill(values)
        return program

    def name_of_variable(self, j: int) -> str:
        """The name of variable j, ``x[j]`` if it has none."""
        return f"x[{j}]" if self.variable_names is None else self.variable_names[j]

    def name_of_row(self, i: int) -> str:
        """The name of row i, ``row[i]`` if it has none."""
        return f"row[{i}]" if self.row_names is None else self.row_names[i]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Program) or (self.n_variables, self.n_rows) != (
            other.n_variables,
            other.n_rows,
        ):
            return False
        vectors = ((getattr(self, k), getattr(other, k)) for k in ("q", "l", "u", "lb", "ub"))
        if not all(one is two or np.array_equal(one, two) for one, two in vectors):
            return False
        if self.r != other.r or self.sense != other.sense:
            return False
        if not all(_names_equal(getattr(self, k), getattr(other, k)) for k in ("variable_names", "row_names")):
            return False
        same_matrices = _same(self.P, other.P) and _same(self.A, other.A) and self.quadratic == other.quadratic
        return same_matrices and self.conic == other.conic

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        cones = f"{len(self.conic)} cones, " if len(self.conic) else ""
        sizes = f"{self.n_variables} variables, {self.n_rows} rows, {cones}{self.n_nonzeros} nonzeros"
        return f"Program({self.kind}, {self.sense}, {sizes})"


def _restore(values: _Parts) -> Program:
    program = object.__new__(Program)
    program._fill(values)
    return program


def _equal(one: Array, other: Array) -> bool:
    return one is other or np.array_equal(one, other)


def _same(M: SparseMatrix | None, N: SparseMatrix | None) -> bool:
    if M is None or N is None:
        return M is N
    if M.shape == N.shape and M.format == N.format and _equal(M.indptr, N.indptr) and _equal(M.indices, N.indices):
        return _equal(M.data, N.data)
    return bool(M.shape == N.shape and (M.tocsc() != N.tocsc()).nnz == 0)


def _names_equal(names: Sequence[str] | None, others: Sequence[str] | None) -> bool:
    if names is None or others is None:
        return names is others
    return list(names) == list(others)


def _number_of_variables(
    P: SparseMatrix | None,
    q: object,
    A: SparseMatrix | None,
    lb: object,
    ub: object,
    names: Names | None,
    conic: ConicRows | None,
) -> int:
    if P is not None:
        return int(P.shape[1])
    if A is not None:
        return int(A.shape[1])
    for name, vector in (("q", q), ("lb", lb), ("ub", ub)):
        shape = () if vector is None else vector.shape if is_sparse(vector) else as_floats(name, vector).shape
        if len(shape) == 1 or (len(shape) == 2 and 1 in shape):
            return int(np.prod(shape))
    if names is not None:
        return len(names)
    if isinstance(conic, ConicRows):
        return conic.n_variables
    raise ShapeError("the number of variables is not known.", "Give at least one of P, q, A, lb and ub as an array.")


def _as_quadratic_rows(
    given: QuadraticRows | Sequence[QuadraticConstraint], n: int, assume_convex: bool
) -> QuadraticRows:
    if not isinstance(given, QuadraticRows):
        return QuadraticRows.from_matrices(given, n, assume_convex=assume_convex)
    if given.q.shape[1] != n:
        raise ShapeError(
            f"the quadratic constraints are of {given.q.shape[1]} variables, but there are {n}.", "", "quadratic"
        )
    given.check(assume_convex=assume_convex)
    return given


def _as_conic_rows(given: ConicRows | None, n: int) -> ConicRows:
    if given is None:
        return ConicRows.none(n)
    if not isinstance(given, ConicRows):
        raise ShapeError(f"conic is a {type(given).__name__}.", "Give relift.ConicRows(A, b, cones).", "conic")
    if given.n_variables != n:
        raise ShapeError(
            f"the conic rows are of {given.n_variables} variables, but there are {n}.",
            "Each column of their A is a variable.",
            "conic",
        )
    return given


def as_constant(r: object) -> float:
    """The constant of an objective: one finite number."""
    constant = as_floats("r", r)
    if constant.ndim != 0 or not np.isfinite(constant):
        raise NotANumberError(f"r is {r!r}.", "The constant of the objective must be one finite number.", "r")
    return float(constant)


def _as_names(name: str, names: Names | None, size: int) -> Sequence[str] | None:
    if names is None:
        return None
    if isinstance(names, str):
        raise ShapeError(f"{name} is one string, {names!r}.", "Give a list of names, one for each.", name)
    if len(names) != size:
        raise ShapeError(f"{name} has {len(names)} names, but {size} are needed.", "", name)
    # The caller may go on changing these; other sequences make names when they are asked, and are kept.
    return list(names) if isinstance(names, (list, np.ndarray)) else names


def _leave_out_huge_bounds(values: _Parts) -> None:
    """Make bounds infinite that no solver can hold."""
    l, u, lb, ub = values["l"], values["u"], values["lb"], values["ub"]
    if extremes(l, u, lb, ub)[1] >= NO_NUMBER:
        values["l"], values["u"], values["lb"], values["ub"] = map(without_huge, (l, u, lb, ub))


def without_huge(bounds: Vector) -> Vector:
    """Bounds, those from :data:`NO_NUMBER` on made infinite."""
    is_huge = np.isfinite(bounds) & (np.abs(bounds) >= NO_NUMBER)
    return np.where(is_huge, np.copysign(np.inf, bounds), bounds) if is_huge.any() else bounds


def _check_bounds(
    lower_name: str, upper_name: str, lower: Vector, upper: Vector, thing: str, names: Sequence[str] | None
) -> None:
    if (lower <= upper).all() and lower.max(initial=-np.inf) < np.inf and upper.min(initial=np.inf) > -np.inf:
        return
    crossed = lower > upper
    wrong_side = (lower == np.inf) | (upper == -np.inf)
    bad = np.flatnonzero(crossed | wrong_side)
    if bad.size:
        i = int(bad[0])
        label = "" if names is None else f" ({thing} {names[i]!r})"
        raise BoundsError(
            f"{lower_name}[{i}] = {lower[i]:.17g} and {upper_name}[{i}] = {upper[i]:.17g}{label} are "
            "infeasible bounds.",
            f"{bad.size} of {lower.size} {thing}s are bounded so." if bad.size > 1 else "",
            lower_name,
            (i,),
        )


def _symmetric(P: SparseMatrix, triangle: Triangle | None) -> SparseMatrix:
    """P as a full symmetric CSC array; a triangle is completed only when the caller says that it is one."""
    P = (
        sparse.csc_array((P.data, P.indices, P.indptr), shape=P.shape).T.tocsc()
        if P.format == "csr" and triangle
        else P
    )
    if triangle is not None:
        if (completed := _completed(P, triangle)) is not None:
            return completed
        P = sparse.csc_array(P)
        other = sparse.tril(P, k=-1) if triangle == "upper" else sparse.triu(P, k=1)
        if other.nnz and np.any(other.data != 0):
            first = int(np.flatnonzero(other.data)[0])
            row, column = (int(c[first]) for c in other.coords)
            raise AsymmetricError(
                f"P[{row}, {column}] = {other.data[first]:.17g} lies outside the {triangle} triangle.",
                "Give that triangle only, or the full matrix without triangle=.",
                "P",
                (row, column),
            )
    # Rows and columns of a symmetric matrix hold the same, so CSR arrays serve as CSC ones once symmetry is known.
    as_csc = sparse.csc_array((P.data, P.indices, P.indptr), shape=P.shape) if P.format == "csr" else P
    if _is_diagonal(as_csc):
        return as_csc
    if not is_symmetric(as_csc):
        transposed = as_csc.T.tocsc()
        difference = abs(as_csc - transposed).tocoo()
        if difference.nnz and difference.data.max() > 0:
            worst = int(np.argmax(difference.data))
            i, j = int(difference.coords[0][worst]), int(difference.coords[1][worst])
            i, j = (j, i) if P.format == "csr" else (i, j)
            raise AsymmetricError(
                f"P is not symmetric: P[{i}, {j}] = {P[i, j]:.17g} but P[{j}, {i}] = {P[j, i]:.17g}.",
                "Pass (P + P.T) / 2 if that is what you mean, or triangle='upper' or 'lower' if P holds one triangle.",
                "P",
                (i, j),
            )
    return as_csc


def _completed(P: SparseMatrix, triangle: Triangle) -> SparseMatrix | None:
    """P with the other triangle, without zeros; None where it has entries outside of its own."""
    column = np.arange(P.shape[1]).repeat(np.diff(P.indptr))
    is_there = P.data != 0
    row, column, values = P.indices[is_there].astype(np.int64), column[is_there], P.data[is_there]
    if (row > column).any() if triangle == "upper" else (row < column).any():
        return None
    off = row != column
    rows, columns = np.concatenate([row, column[off]]), np.concatenate([column, row[off]])
    return csc_from_triples(np.concatenate([values, values[off]]), rows, columns, (P.shape[0], P.shape[1]))


def _is_diagonal(P: SparseMatrix) -> bool:
    counts = np.diff(P.indptr)
    return bool(counts.size == 0 or counts.max() <= 1) and np.array_equal(P.indices, np.flatnonzero(counts))
