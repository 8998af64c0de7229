r"""The coarsest equitable partition of a program or of a graph, by colour refinement.

Vertices start with a colour; two of one colour are parted when their neighbours differ, until nothing
changes. "Differ" is meant in one of two ways:

``"equitable"``
    the *sums* of entries into some class differ. The result is the coarsest partition with
    :math:`XP = PX` and :math:`YA = AX` (X, Y average over classes): what lifting needs.
``"counting"``
    the *multisets* of entries into some class differ, or the diagonal entries of P. Finer in general, and the
    classical colour refinement (1-dimensional Weisfeiler-Leman) of weighted graphs.

All sums are exact, in the field of :mod:`relift.symmetry.finite_field`. Cost: O((nnz + n) log n) in the compiled
core (``core/include/relift``); without it the NumPy twin
:mod:`relift.symmetry.colour_refinement_reference` gives the same answer in more time.

References
----------
Grohe, Kersting, Mladenov, Selman: Dimension Reduction via Colour Refinement, 2014.
Berkholz, Bonsma, Grohe: Tight lower and upper bounds for the complexity of canonical colour refinement, 2017.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from time import perf_counter
from typing import Protocol, TypeAlias, TypeGuard, final, get_args, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.arrays import (
    CoordinateMatrix,
    FieldElements,
    Integers,
    MatrixLike,
    SparseLike,
    SparseMatrix,
    Vector,
    is_compressed,
    is_sparse,
)
from relift.errors import NotANumberError, OptionError, ShapeError, SlowReferenceWarning
from relift.program.equal_numbers import is_constant
from relift.program.index_sets import constant, constant_words
from relift.program.sparse_structure import checked_sparse
from relift.records import quick
from relift.settings import Reading, check_choice
from relift.symmetry import finite_field as field
from relift.symmetry.colour_refinement_reference import Mode, refine_slowly
from relift.symmetry.exact_vectors import GivenVector
from relift.symmetry.partition import Partition
from relift.threads import threads_for

if field.CORE_IS_COMPILED:
    from relift import _core

Progress = Callable[[str, int, int], object]
"""Called with (phase, rounds or splitters so far, classes so far)."""


MOST_NARROW = 2**31 - 1
"""The largest number that an index of 32 bits holds."""

MANY = 4096
"""From so many on, equal scales are stored as one number."""


@final
@quick
@dataclass(frozen=True)
class RefinementStatistics:
    """What a refinement cost.

    Parameters
    ----------
    engine
        ``"compiled"`` or ``"numpy"``.
    rounds
        Rounds over all entries of A and P; half of one looks at the rows alone, or at the variables.
    splitters
        Classes that were taken from the worklist after the rounds.
    extra_bytes
        The most memory that the compiled core held at a time, the given and returned arrays not counted;
        0 when not measured.
    seconds
        Wall-clock time.
    rows_without_scale
        Rows whose weighted sum vanishes, or is lost in cancellation, so that a bound, or 1, is their scale; up to scale
        the variables and rows of which the scale was lost in cancellation.
    """

    engine: str
    rounds: float
    splitters: int
    extra_bytes: int
    seconds: float
    rows_without_scale: int = 0


@final
@quick
@dataclass(frozen=True, eq=False)
class Refinement:
    """Classes of variables and of rows, and what each row was divided by before it was compared.

    Parameters
    ----------
    variables, rows
        The classes.
    row_scales
        Row i, with its bounds, was compared after division by ``row_scales[i]``; 1.0 where unscaled, and where all
        was told apart before rows had to be divided. A negative scale exchanges the two bounds.
    row_scale_images
        The same scales, exactly: field elements (:mod:`relift.symmetry.finite_field`).
    statistics
        What it cost.
    """

    variables: Partition
    rows: Partition
    row_scales: NDArray[np.float64]
    row_scale_images: FieldElements
    statistics: RefinementStatistics


class NetworkxGraph(Protocol):
    """What is read of a networkx graph."""

    def __iter__(self) -> Iterator[Hashable]: ...
    def is_directed(self) -> bool:
        """Whether edges have a direction."""

    def edges(self, *, data: str, default: float) -> Iterable[tuple[Hashable, Hashable, float]]:
        """Source, target and attribute of each edge."""


class IgraphGraph(Protocol):
    """What is read of an igraph graph."""

    @property
    def es(self) -> Mapping[str, Sequence[float]]:
        """Attributes of the edges."""

    def is_directed(self) -> bool:
        """Whether edges have a direction."""

    def is_weighted(self) -> bool:
        """Whether edges have the attribute ``weight``."""

    def vcount(self) -> int:
        """Number of vertices."""

    def get_edgelist(self) -> Sequence[tuple[int, int]]:
        """Source and target of each edge."""


Graph: TypeAlias = NetworkxGraph | IgraphGraph


@final
class KeptValues:
    """A place where refinements of one program keep the values of its matrices as they were read.

    Parameters
    ----------
    P, A
        The matrices: for others nothing is kept.
    rows_are_apart
        Whether it is known that no row of A is empty or a multiple of another.
    """

    def __init__(self, P: SparseLike | None, A: SparseLike, *, rows_are_apart: bool = False) -> None:
        self.P, self.A = P, A  # held, so that no other matrices can come to stand in their place
        self.rows_are_apart = rows_are_apart
        self.capsule = _core.kept_weights() if field.CORE_IS_COMPILED else None


def capsule_of(kept: KeptValues | None, P: SparseLike | None, A: SparseLike) -> object:
    """What the core is given to keep values in; None if nothing is kept, or not of these matrices."""
    if kept is None or kept.A is not A or (P is not None and kept.P is not P):
        return None
    return kept.capsule


def core_is_compiled() -> bool:
    """Whether the compiled core is installed; if not, NumPy does its work."""
    return field.CORE_IS_COMPILED


def refine(
    P: SparseLike | None,
    A: SparseLike,
    variable_images: Sequence[FieldElements],
    row_lower_image: FieldElements,
    row_upper_image: FieldElements,
    l: NDArray[np.float64],
    u: NDArray[np.float64],
    *,
    mode: Mode = "equitable",
    reading: Reading = "decimal",
    scale_rows: bool = True,
    row_extra: Sequence[FieldElements] = (),
    seed: int = 0,
    progress: Progress | None = None,
    kept: KeptValues | None = None,
    needs_scales: bool = False,
    rows_are_apart: bool = False,
    most_classes: int | None = None,
    some_start_alike: bool = False,
) -> Refinement:
    r"""Find the coarsest partition of variables and rows that no sum (or multiset) of entries tells apart.

    Parameters
    ----------
    P
        The symmetric n x n matrix of the objective as ``scipy.sparse`` (both triangles), or None.
    A
        The m x n matrix of the rows; CSC and CSR are used as they are, other formats are converted. Double
        entries count as so many entries: they add up in equitable mode.
    variable_images
        FieldElements of length n; the initial colour of a variable is the tuple of its words (images of q, lb, ub).
    row_lower_image, row_upper_image
        Images of l and u, see :func:`relift.symmetry.finite_field.images`.
    l, u
        The same bounds as floats; used for the scales alone.
    mode
        ``"equitable"`` compares sums, ``"counting"`` multisets.
    reading
        How the floats in P and A are read, see :mod:`relift.symmetry.finite_field`.
    scale_rows
        Compare rows up to a factor: row i is divided by :math:`T_i = \sum_j a_{ij}\omega_j`, with small
        integers :math:`\omega_j` that depend on the initial colour of j, or are 1 where no two entries of A have
        different signs; where T vanishes or is lost in cancellation, by the finite bound of the row of largest size
        (the upper one of equals), or 1.
    row_extra
        Further words of length m that tell rows apart; they are not scaled.
    seed
        Seed of the random words. The classes do not depend on it, unless two words collide (1 in 2^61 for
        each pair compared): check the result and take another seed then.
    progress
        Called now and then with (phase, rounds or splitters so far, classes so far); what it raises ends the
        refinement.
    kept
        Values of P and A that an earlier refinement has read, and where this one leaves them; None if nowhere.
    needs_scales
        The classes are of no use where some row has no :math:`T_i`: the compiled core then compares nothing, and
        leaves everything alone; ``statistics`` tells how many such rows there are.
    rows_are_apart
        It is known that no row is a multiple of another with its bounds, and at most one is 0: the core does not look
        for such rows where all variables differ from the start.
    most_classes
        More classes, of variables and rows together, are of no use: where rounds have found clearly more, the compiled
        core leaves everything alone. None: all are of use.
    some_start_alike
        It is known that not all variables have different images: the core does not look whether they have.

    Raises
    ------
    ShapeError
        If the arguments do not fit together.
    OptionError
        If ``mode`` or ``reading`` is not known.

    Examples
    --------
    The rows 2x <= 2 and y <= 1 say the same of variables that nothing else tells apart:

    >>> A = sparse.csr_array([[2.0, 0.0], [0.0, 1.0]])
    >>> l, u = np.full(2, -np.inf), np.array([2.0, 1.0])
    >>> found = refine(None, A, [], field.images(l), field.images(u), l, u)
    >>> found.variables.labels.tolist(), found.rows.labels.tolist(), found.row_scales[0] / found.row_scales[1]
    ([0, 0], [0, 0], np.float64(2.0))
    """
    check_choice("mode", mode, get_args(Mode))
    check_choice("values", reading, get_args(Reading))
    A = _compressed("A", A)
    P = None if P is None or P.nnz == 0 else _compressed("P", P)
    n_rows, n_variables = A.shape
    if P is not None and P.shape != (n_variables, n_variables):
        raise ShapeError(f"P has shape {P.shape} beside A of shape {A.shape}.", argument="P")
    colours = [_checked_words("variable_images", words, n_variables) for words in variable_images]
    lower = _checked_words("row_lower_image", row_lower_image, n_rows)
    upper = _checked_words("row_upper_image", row_upper_image, n_rows)
    extra = [_checked_words("row_extra", words, n_rows) for words in row_extra]
    l, u = _checked_bounds("l", l, n_rows), _checked_bounds("u", u, n_rows)

    start = perf_counter()
    if not field.CORE_IS_COMPILED:
        _warn_once()
        slow = refine_slowly(
            P, A, colours, lower, upper, l, u,
            mode=mode, reading=reading, scale_rows=scale_rows, row_extra=extra, seed=seed, progress=progress,
        )  # fmt: skip
        variables, rows, scales, scale_images = (
            slow.variable_labels, slow.row_labels, slow.row_scales, slow.row_scale_images,
        )  # fmt: skip
        statistics = RefinementStatistics("numpy", slow.rounds, 0, 0, perf_counter() - start, slow.rows_without_scale)
    else:
        variables, rows = np.empty(n_variables, dtype=np.int64), np.empty(n_rows, dtype=np.int64)
        scales, scale_images = np.empty(n_rows), np.empty(n_rows, dtype=np.uint64)
        index_type, n_entries = index_type_of(A, P), A.indices.size + (0 if P is None else P.indices.size)
        n_passes, n_splitters, extra_bytes, n_unscaled, all_are_apart, shared_scale, shared_image = _core.refine(
            None if P is None else core_arrays(P, index_type), core_arrays(A, index_type),
            A.format == "csr", n_variables, n_rows,
            tuple(colours), (lower, upper, *extra), (l, u),
            mode == "counting", reading == "decimal", scale_rows, seed & 0xFFFFFFFFFFFFFFFF, threads_for(n_entries),
            progress, variables, rows, scales, scale_images, capsule_of(kept, P, A), needs_scales,
            rows_are_apart, sys.maxsize if most_classes is None else most_classes, some_start_alike,
        )  # fmt: skip
        statistics = RefinementStatistics(
            "compiled", n_passes / (2 if n_rows else 1), n_splitters, extra_bytes, perf_counter() - start, n_unscaled
        )
        if all_are_apart:  # nothing was written
            return _all_alone(n_variables, n_rows, statistics)
        if shared_scale is not None:  # the others were not written
            scales, scale_images = constant(shared_scale, n_rows), constant_words(shared_image, n_rows)
    scales, scale_images = _scales(scales, scale_images)
    return Refinement(Partition.trusted(variables), Partition.trusted(rows), scales, scale_images, statistics)


def _all_alone(n_variables: int, n_rows: int, statistics: RefinementStatistics) -> Refinement:
    alone = Partition.discrete(n_variables), Partition.discrete(n_rows)
    return Refinement(*alone, constant(1.0, n_rows), constant_words(1, n_rows), statistics)


@final
class Start(Enum):
    """What numbers of variables tell before any sum, as in ``core/include/relift/start_apart.hpp``."""

    ALIKE = 0
    """Two variables have the same numbers."""
    OPEN = 1
    """All differ; rows may not."""
    APART = 2
    """All differ, and rows with them."""


def start_in_floats(
    P: SparseMatrix | None, A: SparseMatrix, numbers: Sequence[tuple[Vector, GivenVector]]
) -> tuple[Start, Refinement | None]:
    """Whether floats tell all variables apart; if so, and rows with them, the classes too.

    Parameters
    ----------
    P, A
        The matrices, CSC or CSR. No row of A is a multiple of another with its bounds, and at most one is 0.
    numbers
        Costs and bounds of the variables, whose images are those of the floats.

    Examples
    --------
    >>> A, costs = sparse.csr_array([[1.0, 2.0]]), np.array([1.0, 3.0])
    >>> start_in_floats(None, A, [(costs, GivenVector(costs, "decimal"))])[0]
    <Start.APART: 2>
    """
    if not field.CORE_IS_COMPILED:
        return Start.OPEN, None
    start = perf_counter()
    n_rows, n_variables = A.shape
    P = None if P is None or P.indices.size == 0 else P
    index_type, n_entries = index_type_of(A, P), A.indices.size + (0 if P is None else P.indices.size)
    found = Start(_core.starts_apart(
        None if P is None else core_arrays(P, index_type), core_arrays(A, index_type), A.format == "csr",
        n_variables, n_rows,
        tuple(constant(float(floats[0]), floats.size) if given.is_one else floats for floats, given in numbers),
        threads_for(n_entries),
    ))  # fmt: skip
    if found != Start.APART:
        return found, None
    return found, _all_alone(n_variables, n_rows, RefinementStatistics("compiled", 0, 0, 0, perf_counter() - start))


def _scales(floats: Vector, images: FieldElements) -> tuple[Vector, FieldElements]:
    """Scales of rows, read-only; where all are equal, and many, they take no memory."""
    if floats.strides == (0,):  # they were found so
        return floats, images
    if floats.size > MANY and is_constant(floats) and (images == images[0]).all():
        return constant(float(floats[0]), floats.size), constant_words(int(images[0]), images.size)
    floats.flags.writeable = images.flags.writeable = False
    return floats, images


@lru_cache(maxsize=1)
def _warn_once() -> None:
    """Say that the slow reference runs; once in a process, since every solve would say the same."""
    warnings.warn(
        "relift was installed without its compiled core: the NumPy reference runs, which gives the same answers and is "
        "many times slower. Install a wheel for this platform, or install again with a C++17 compiler.",
        SlowReferenceWarning,
        stacklevel=2,
    )


@overload
def colour_refinement(
    graph: Graph,
    colours: Iterable[Hashable] | Mapping[Hashable, Hashable] | None = None,
    *,
    row_colours: None = None,
    mode: Mode = "equitable",
    values: Reading = "decimal",
    scale_rows: bool = False,
) -> Partition: ...
@overload
def colour_refinement(
    graph: MatrixLike,
    colours: Iterable[Hashable] | None = None,
    *,
    row_colours: Iterable[Hashable],
    mode: Mode = "equitable",
    values: Reading = "decimal",
    scale_rows: bool = False,
) -> tuple[Partition, Partition]: ...
@overload
def colour_refinement(
    graph: MatrixLike,
    colours: Iterable[Hashable] | None = None,
    *,
    row_colours: None = None,
    mode: Mode = "equitable",
    values: Reading = "decimal",
    scale_rows: bool = False,
) -> Partition | tuple[Partition, Partition]: ...
def colour_refinement(
    graph: Graph | MatrixLike,
    colours: Iterable[Hashable] | Mapping[Hashable, Hashable] | None = None,
    *,
    row_colours: Iterable[Hashable] | None = None,
    mode: Mode = "equitable",
    values: Reading = "decimal",
    scale_rows: bool = False,
) -> Partition | tuple[Partition, Partition]:
    """Find the coarsest equitable partition of a graph or matrix.

    Parameters
    ----------
    graph
        A matrix (dense or ``scipy.sparse``), a networkx graph (edge attribute ``weight``, 1 where missing) or
        an igraph graph (edge attribute ``weight``, 1 where there is none). Parallel edges add up exactly in
        equitable mode; counting compares them one by one, and adds up loops.
    colours
        The initial colour of each vertex (of each column, for a rectangular matrix): numbers, strings or
        other hashable things; for a networkx graph also a mapping from nodes. None: all are equal.
    row_colours
        The same for the rows of a matrix. Giving it makes a square matrix be treated as a rectangular one.
    mode
        ``"equitable"`` compares sums of entries; ``"counting"`` compares multisets of entries and the
        diagonal, the classical colour refinement of weighted graphs. They agree where all entries are equal.
    values
        ``"decimal"`` reads .1 as one tenth, ``"bits"`` as the binary number nearest to it.
    scale_rows
        Compare the rows of a rectangular matrix up to a factor.

    Returns
    -------
    Partition or (Partition, Partition)
        For a graph or a square matrix the classes of its vertices; those of an asymmetric matrix or a
        directed graph agree in what goes in and what comes out. For a rectangular matrix the classes of its
        rows and those of its columns.

    Raises
    ------
    ShapeError
        If the colours do not fit the graph.
    NotANumberError
        If an entry or weight is not a finite real number.
    OptionError
        If ``scale_rows`` is asked for vertices of a graph, or an option is not known.

    Examples
    --------
    A path of five vertices is its own mirror image, and a cycle looks the same everywhere:

    >>> path = sparse.diags_array([1, 1], offsets=[-1, 1], shape=(5, 5), dtype=float)
    >>> colour_refinement(path).labels.tolist()
    [0, 1, 2, 1, 0]
    >>> cycle = path + sparse.coo_array(([1, 1], ([0, 4], [4, 0])), shape=(5, 5))
    >>> colour_refinement(cycle).n_classes
    1
    >>> colour_refinement(cycle, colours=["red", "blue", "blue", "blue", "blue"]).labels.tolist()
    [0, 1, 2, 2, 1]

    Weights are added, so .1 + .2 is as good as .3; counting sees the difference:

    >>> weighted = [[0.1, 0.2], [0.2, 0.1], [0.3, 0.0], [0.0, 0.3]]
    >>> rows, columns = colour_refinement(weighted)
    >>> rows.labels.tolist(), columns.labels.tolist()
    ([0, 0, 0, 0], [0, 0])
    >>> rows, columns = colour_refinement(weighted, mode="counting")
    >>> rows.labels.tolist(), columns.labels.tolist()
    ([0, 0, 1, 1], [0, 0])
    """
    check_choice("mode", mode, get_args(Mode))
    check_choice("values", values, get_args(Reading))
    is_matrix = not _is_networkx(graph) and not _is_igraph(graph)
    matrix = _matrix_of(graph)
    if isinstance(colours, Mapping):
        if not _is_networkx(graph):
            raise ShapeError("colours are a mapping.", "Give a sequence, one colour for each vertex.")
        missing = [node for node in graph if node not in colours]
        if missing:
            raise ShapeError(f"colours have no entry for the node {missing[0]!r}.", "Give one for each.", "colours")
        colours = [colours[node] for node in graph]
    n_rows, n_columns = matrix.shape
    column_words = [] if colours is None else [_colour_words("colours", colours, n_columns)]
    if is_matrix and (n_rows != n_columns or row_colours is not None):
        row_words = [] if row_colours is None else [_colour_words("row_colours", row_colours, n_rows)]
        found = _refine_pattern(None, matrix, column_words, row_words, mode, values, scale_rows)
        return found.rows, found.variables
    if row_colours is not None:
        raise OptionError("row_colours do not apply to a graph.", "Give colours, one for each vertex.")
    if scale_rows:
        raise OptionError("scale_rows=True does not apply to the vertices of a graph.")
    is_known_symmetric = (_is_networkx(graph) or _is_igraph(graph)) and not graph.is_directed()
    if is_known_symmetric or (matrix != matrix.T).nnz == 0:
        no_rows = sparse.csr_array((0, n_columns))
        return _refine_pattern(matrix, no_rows, column_words, [], mode, values, False).variables
    return _refine_directed(matrix, column_words, mode, values)


def _refine_directed(matrix: SparseMatrix, colours: list[FieldElements], mode: Mode, values: Reading) -> Partition:
    """Vertex i is row i (what goes out) and column i (what comes in): refine, join the two, until stable."""
    n_vertices, n_before, vertices = matrix.shape[0], -1, Partition.one_class(matrix.shape[0])
    if mode == "counting":
        listed = matrix.tocoo()
        is_loop = listed.row == listed.col
        loops = field.images(listed.data[is_loop], values)
        colours = [*colours, field.grouped_sums(listed.row[is_loop], loops, n_vertices)]
        others = (listed.data[~is_loop], (listed.row[~is_loop], listed.col[~is_loop]))
        matrix = _stacked(sparse.coo_array(others, shape=matrix.shape))
    while vertices.n_classes != n_before:
        n_before = vertices.n_classes
        found = _refine_pattern(None, matrix, colours, colours, mode, values, False)
        vertices = Partition.from_labels(found.rows.labels * n_vertices + found.variables.labels)
        colours = [vertices.labels.astype(np.uint64)]
    return vertices


def _refine_pattern(
    P: SparseMatrix | None,
    A: SparseMatrix,
    variable_words: list[FieldElements],
    row_words: list[FieldElements],
    mode: Mode,
    values: Reading,
    scale_rows: bool,
) -> Refinement:
    """Refine a matrix that has no bounds."""
    zeros = np.zeros(A.shape[0])
    words = zeros.astype(np.uint64)
    return refine(
        P, A, variable_words, words, words, zeros, zeros,
        mode=mode, reading=values, scale_rows=scale_rows, row_extra=row_words,
    )  # fmt: skip


def _library_of(graph: object) -> str:
    """Name the library of a graph object, without importing any."""
    roots = {cls.__module__.split(".")[0] for cls in type(graph).__mro__}
    return next(iter(roots & {"networkx", "igraph"}), "")


def _is_networkx(graph: object) -> TypeGuard[NetworkxGraph]:
    return _library_of(graph) == "networkx"


def _is_igraph(graph: object) -> TypeGuard[IgraphGraph]:
    return _library_of(graph) == "igraph"


def _matrix_of(graph: object) -> SparseMatrix:
    """Take the matrix of a graph, or a matrix as it is; double entries stay apart, so that none is rounded."""
    if _is_networkx(graph):
        number = {node: k for k, node in enumerate(graph)}
        edges = graph.edges(data="weight", default=1.0)
        listed = [(number[source], number[target], weight) for source, target, weight in edges]
        pairs, numbers = [edge[:2] for edge in listed], [edge[2] for edge in listed]
        return _matrix_of_edges(len(number), pairs, numbers, graph.is_directed())
    if _is_igraph(graph):
        ends = graph.get_edgelist()
        weights = graph.es["weight"] if graph.is_weighted() else [1.0] * len(ends)
        return _matrix_of_edges(graph.vcount(), ends, weights, graph.is_directed())
    if is_sparse(graph):
        matrix = checked_sparse("the matrix", graph)
        _real_numbers("the matrix", matrix.data)
        return matrix
    dense = _real_numbers("the matrix", graph)
    if dense.ndim != 2:
        raise ShapeError(f"the matrix has {dense.ndim} dimensions.", "Give one of two.")
    compressed: SparseMatrix = sparse.csr_array(dense)
    return compressed


def _real_numbers(what: str, given: object) -> NDArray[np.float64]:
    """Take numbers as floats; anything else, and what is not finite, is refused."""
    if np.ma.is_masked(given):
        raise NotANumberError(f"{what} has masked entries.", "Give numbers only.")
    array = np.asarray(given)
    try:
        floats = np.asarray(array, dtype=np.float64) if array.dtype.kind in "fiubO" else None
    except (TypeError, ValueError):
        floats = None
    if floats is None or not np.isfinite(floats).all():
        raise NotANumberError(f"{what} has an entry that is not a finite real number.", "Give numbers only.")
    return floats


def _matrix_of_edges(
    n_vertices: int, ends: Sequence[tuple[int, int]], weights: Sequence[float], is_directed: bool
) -> SparseMatrix:
    source, target = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    weight = _real_numbers("the attribute 'weight' of the edges", weights)
    if not is_directed:
        others = source != target
        source, target = np.append(source, target[others]), np.append(target, source[others])
        weight = np.append(weight, weight[others])
    return _stacked(sparse.coo_array((weight, (source, target)), shape=(n_vertices, n_vertices)))


def _stacked(listed: CoordinateMatrix) -> SparseMatrix:
    """Compress by rows without adding double entries."""
    order = np.argsort(listed.row, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(listed.row, minlength=listed.shape[0]))])
    matrix: SparseMatrix = sparse.csr_array((listed.data[order], listed.col[order], offsets), shape=listed.shape)
    return matrix


def _colour_words(name: str, colours: Iterable[Hashable], size: int) -> FieldElements:
    """Equal colours get equal words: numbers in order of first appearance."""
    if isinstance(colours, np.ndarray) and colours.ndim == 1 and colours.dtype.kind in "iub":
        words = Partition.from_labels(colours).labels.astype(np.uint64)
    else:
        number: dict[Hashable, int] = {}
        words = np.array([number.setdefault(colour, len(number)) for colour in colours], dtype=np.uint64)
    if words.size != size:
        raise ShapeError(f"{name} has {words.size} elements for {size} vertices.", "Give one for each.", argument=name)
    return words


def _compressed(name: str, matrix: SparseLike) -> SparseMatrix:
    """CSC and CSR arrays as they are, since the core checks them; other formats are checked here."""
    return matrix if field.CORE_IS_COMPILED and is_compressed(matrix) else checked_sparse(name, matrix)


def index_type_of(*matrices: SparseMatrix | None) -> type[np.int32] | type[np.int64]:
    """The type of indices in which the core is given some matrices: the one that most entries have."""
    wide = narrow = 0
    for matrix in matrices:
        if matrix is None:
            continue
        n_entries = matrix.indices.size  # SciPy takes long to say how many there are
        if matrix.indices.dtype == matrix.indptr.dtype == np.int32:
            narrow += n_entries
        elif max(n_entries, *matrix.shape) > MOST_NARROW:
            return np.int64
        else:
            wide += n_entries
    return np.int64 if wide > narrow else np.int32


def core_arrays(matrix: SparseMatrix, index_type: type[np.int32] | type[np.int64]) -> tuple[Integers, Integers, Vector]:
    """Offsets, indices and values as the core takes them: no copies unless the types are unusual."""
    return (
        np.ascontiguousarray(matrix.indptr, dtype=index_type),
        np.ascontiguousarray(matrix.indices, dtype=index_type),
        np.ascontiguousarray(matrix.data, dtype=np.float64),
    )


def _checked_words(name: str, words: FieldElements, size: int) -> FieldElements:
    # Those of one word are read as they are.
    is_one = words.ndim == 1 and words.strides == (0,) and words.dtype == np.uint64
    checked = words if is_one else np.ascontiguousarray(words, dtype=np.uint64)
    if checked.shape != (size,):
        raise ShapeError(f"{name} has shape {checked.shape}, not ({size},).", argument=name)
    return checked


def _checked_bounds(name: str, bounds: Vector, size: int) -> Vector:
    checked = np.ascontiguousarray(bounds, dtype=np.float64)
    if checked.shape != (size,):
        raise ShapeError(f"{name} has shape {checked.shape}, not ({size},).", argument=name)
    return checked
