"""Costs and curvatures that are proportional but for the rounding of floats, read as exactly proportional.

What :mod:`~relift.symmetry.proportional_bounds` does for bounds. Losses 0.3 / size and costs price * size were written
by a program, and hardly any of these floats is the decimal that was meant.

- *Costs*: a cost of many digits that is a simple fraction of an entry of its column is read as that multiple of it.
- *Curvatures*: where :math:`P_{jj}` is alone in its row and column of P, classes ask that :math:`P_{jj} w_j^2 / m_j` be
  equal inside them, and nothing else. So these numbers are computed in floats, those that agree but for rounding are
  made one word, and the entries are left out of P.

Nothing is changed but the reading: classes found by it are compared with those of the usual reading, and the answer is
checked on the original program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import sparse

from relift.arrays import FieldElements, Flags, Indices, SparseMatrix, Vector
from relift.program import passes
from relift.program.index_sets import lengths
from relift.program.program import Program
from relift.program.sparse_structure import places_of
from relift.symmetry import finite_field as field
from relift.symmetry.exact_ratios import (
    DIFFERENT,
    LARGEST,
    ROUNDING,
    SharedRatios,
    are_nearly_equal,
    exact_ratios,
    nearly_equal,
    quotients,
    simple_fractions,
)
from relift.symmetry.own_scales import OPEN_SIZE, Intervals, Masses, OwnScales
from relift.symmetry.proportional_bounds import (
    DIGITS_TYPED,
    SAMPLE,
    are_computed,
    some_entries,
)

MOST_RATIOS = 0.5
"""Prices must repeat: the share of variables that may have one of their own."""

FEWEST_LINKS = 0.05
"""The share of computed costs, of those looked at first, that must be simple fractions of entries."""


def proportional_costs(program: Program, q_image: FieldElements) -> FieldElements | None:
    """Read costs as exact multiples of entries of their columns; None if none is read otherwise than before.

    Parameters
    ----------
    program
        A minimisation.
    q_image
        Its costs as they are read otherwise.

    Examples
    --------
    >>> size = np.array([37.13, 41.29])
    >>> program = Program(q=0.3 * size, A=[size], l=[1], lb=0)
    >>> images = [field.images(program.q), proportional_costs(program, field.images(program.q))]
    >>> ratios = [field.multiply(one, field.inverse(field.images(size))) for one in images]
    >>> [bool(one[0] == one[1]) for one in ratios]
    [False, True]
    """
    q, A = program.q, program.A
    n_entries = A.data.size
    if n_entries == 0 or not passes.has_longer(q[:: max(1, q.size // SAMPLE)], DIGITS_TYPED):
        return None
    step = max(1, n_entries // SAMPLE)
    if -(-n_entries // step) > SAMPLE // 2 and simple_costs(program, 5 * step)[1:] == (0, 0):
        return None  # a fifth of them would show some
    n_told, n_simple, n_shared = simple_costs(program, step)
    if max(n_simple, n_shared) <= FEWEST_LINKS * n_told:
        return None
    every_row, column = places_of(A)
    used = (q_image != 0)[column] & _tell_sizes(A.data)
    used &= are_computed(q)[column] | are_computed(A.data)  # products with computed numbers may have few digits
    row, column, entry = every_row[used], column[used], np.abs(A.data[used])
    ratios = exact_ratios(np.abs(q[column]), entry)
    known = np.flatnonzero(ratios.exist)
    # Of several entries a simple fraction, then that in the longest row: rows that many variables share matter.
    n_entries_of = np.bincount(every_row, minlength=program.n_rows)
    order = known[np.lexsort((entry[known], n_entries_of[row[known]], ratios.is_simple[known], column[known]))]
    chosen = order[np.diff(column[order], append=-1) != 0]
    if np.unique(ratios.images[chosen]).size > MOST_RATIOS * chosen.size:
        return None
    image = field.multiply(ratios.images[chosen], field.images(entry[chosen]))
    new = q_image.copy()
    new[column[chosen]] = np.where(q[column[chosen]] < 0, field.negate(image), image)
    return None if np.array_equal(new, q_image) else new


def simple_costs(program: Program, step: int) -> tuple[int, int, int]:
    """How many of some entries tell a size and have a computed cost; how many costs are simple, or shared, multiples.

    Parameters
    ----------
    program
        A minimisation.
    step
        One of so many entries is looked at.

    Examples
    --------
    >>> program = Program(q=[0.6 * 37.13, np.sqrt(2), 1], A=[[37.13, 1.5, 2]], l=[1])
    >>> simple_costs(program, 1)
    (2, 1, 0)
    """
    A = program.A
    core = passes.core_for(A)
    if core is None:
        return simple_costs_slowly(program, step)
    is_by_rows, m, q = A.format == "csr", program.n_rows, np.ascontiguousarray(program.q)
    counts: tuple[int, int, int] = core.count_simple_costs(
        passes.parts_of(A), is_by_rows, m, q, step, DIGITS_TYPED, DIFFERENT, LARGEST, ROUNDING
    )
    return counts


def simple_costs_slowly(program: Program, step: int) -> tuple[int, int, int]:
    """The same as :func:`simple_costs` in NumPy: the twin of the compiled look."""
    q, (_, column, entry) = program.q, some_entries(program, step)
    tells = _tell_sizes(entry) & are_computed(q[column])
    cost, entry = np.abs(q[column[tells]]), entry[tells]
    is_simple, seen = simple_fractions(quotients(cost, entry)).exist, SharedRatios()
    n_shared = sum(seen.is_shared(0, cost[k], entry[k]) for k in np.flatnonzero(~is_simple))
    return int(is_simple.size), int(np.count_nonzero(is_simple)), n_shared


def _tell_sizes(entries: Vector) -> Flags:
    """Whether entries may be the sizes of their variables: 0, 1 and -1 are nobody's."""
    size = np.abs(entries)
    return np.asarray((size != 0) & (size != 1))


@final
@dataclass(frozen=True, eq=False)
class Curvatures:
    """Entries of P that are alone in their rows and columns.

    Parameters
    ----------
    variables
        Whose they are.
    values
        The entries.
    """

    variables: Indices
    values: Vector

    @classmethod
    def of(cls, P: SparseMatrix) -> Curvatures:
        """Find them.

        Parameters
        ----------
        P
            Symmetric, compressed.
        """
        alone = np.flatnonzero(lengths(P.indptr) == 1)
        if alone.size == 0:
            return cls(alone, P.data[:0])
        first = P.indptr[alone]
        alone = alone[(P.indices[first] == alone) & (P.data[first] != 0)]
        return cls(alone, P.data[P.indptr[alone]])

    def seem_proportional(self, program: Program, bounds: Intervals, q_image: FieldElements) -> bool:
        """Whether some of them, relative to sizes and costs, are equal but for rounding, and not as they are read.

        Parameters
        ----------
        program, bounds
            The program, and the bounds of its variables.
        q_image
            Its costs as they are read.

        Examples
        --------
        >>> size, q, low = np.array([37.13, 41.29, 3.7]), np.ones(3), np.zeros(3)
        >>> bounds = Intervals(low, size, field.images(low), field.images(size))
        >>> for curvature in (0.3 / size, np.ones(3)):
        ...     program = Program(P=np.diag(curvature), q=q, lb=low, ub=size)
        ...     print(Curvatures.of(program.P).seem_proportional(program, bounds, field.images(q)))
        True
        False
        """
        if self.variables.size == 0:
            return False
        step = max(1, self.variables.size // SAMPLE)
        variables, values = self.variables[::step], np.abs(self.values[::step])
        if not passes.has_longer(values, DIGITS_TYPED):
            return False
        size = bounds.sizes(variables)
        is_open = size == 0
        if is_open.any():
            size[is_open] = sizes_by_rows(program, variables[is_open])
        price = np.abs(program.q[variables])
        with np.errstate(over="ignore", under="ignore"):
            relative = values * size / np.where(price > 0, price, 1.0)  # as with masses of size and price
        tells = (size > 0) & np.isfinite(relative) & (relative > 0)
        if not np.any(are_nearly_equal(np.sort(relative[tells]))):
            return False
        exact = field.multiply(field.images(values), bounds.of(variables).largest()[1])  # 1 where it is open
        cost = np.where(q_image[variables] == 0, np.uint64(1), q_image[variables])
        exact = field.multiply(exact, field.inverse(np.where(program.q[variables] < 0, field.negate(cost), cost)))
        return bool(np.unique(exact[tells]).size > nearly_equal(relative[tells])[1].size)

    def parted(
        self, P: SparseMatrix, own: OwnScales, masses: Masses | None
    ) -> tuple[SparseMatrix | None, FieldElements]:
        """P without the entries of variables whose size is known, and a word for each variable in place of them.

        Parameters
        ----------
        P
            The matrix that they are of.
        own
            What is known of scales of variables.
        masses
            How much members count; None if equally much.
        """
        scale = own.floats[self.variables]
        mass = 1.0 if masses is None else masses.variables[self.variables]
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            relative = self.values * scale * scale / mass
        some = (own.states[self.variables] & OPEN_SIZE == 0) & np.isfinite(relative) & (relative != 0)
        variables = self.variables[some]
        words = np.zeros(own.floats.size, np.uint64)
        words[variables] = nearly_equal(relative[some])[0].astype(np.uint64) + np.uint64(1)
        return _without(P, variables), words

    def as_costs(
        self, bounds: Intervals, q: Vector, q_image: FieldElements
    ) -> tuple[Vector, FieldElements]:  # fmt: skip
        """Costs, and in place of those that are 0 the curvatures times sizes, equal where they are but for rounding.

        Masses take prices from them; what the two are multiplied with does not matter.

        Parameters
        ----------
        bounds
            Bounds of the variables.
        q, q_image
            Their costs.
        """
        size, _, known = bounds.largest()
        with np.errstate(over="ignore", under="ignore"):
            price = np.abs(self.values) * size[self.variables]
        takes = (q_image[self.variables] == 0) & known[self.variables] & np.isfinite(price) & (price > 0)
        variables = self.variables[takes]
        if variables.size == 0:
            return q, q_image
        label, first = nearly_equal(price[takes])
        price = price[takes][first][label]
        q, q_image = q.copy(), q_image.copy()
        q[variables], q_image[variables] = price, field.images(price)
        return q, q_image


def sizes_by_rows(program: Program, variables: Indices) -> Vector:
    """The least that a right-hand side admits of some variables, |b| / |a|; 0 where none does.

    Parameters
    ----------
    program
        A minimisation.
    variables
        Which ones, ascending.

    Examples
    --------
    >>> program = Program(q=[1, 1, 1], A=[[2, 1, 0], [4, 0, 0]], u=[6, 8])
    >>> sizes_by_rows(program, np.arange(3)).tolist()
    [2.0, 6.0, 0.0]
    """
    A = program.A
    core = passes.core_for(A)
    if core is None:
        return sizes_by_rows_slowly(program, variables)
    sizes, (m, n) = np.empty(variables.size), A.shape
    rows = np.ascontiguousarray(program.l), np.ascontiguousarray(program.u)
    some = np.ascontiguousarray(variables, np.int64)
    core.admitted_sizes(passes.parts_of(A), A.format == "csr", n, rows, m, some, sizes)
    return sizes


def sizes_by_rows_slowly(program: Program, variables: Indices) -> Vector:
    """The same as :func:`sizes_by_rows` in NumPy: the twin of the compiled pass."""
    sides = np.maximum(_finite(program.l), _finite(program.u))
    part = passes.entries_of(program.A, None, variables)
    row, column = part.row, part.column
    tells = (sides[row] > 0) & (part.value != 0)
    size = np.full(variables.size, np.inf)
    with np.errstate(over="ignore"):
        np.minimum.at(size, column[tells], sides[row[tells]] / np.abs(part.value[tells]))
    return np.where(np.isfinite(size), size, 0.0)


def _finite(values: Vector) -> Vector:
    return np.where(np.isfinite(values), np.abs(values), 0.0)


def _without(P: SparseMatrix, variables: Indices) -> SparseMatrix | None:
    """P without the only entries of the rows and columns of some variables."""
    if variables.size == P.nnz:
        return None
    keeps: Flags = np.ones(P.nnz, bool)
    keeps[P.indptr[variables]] = False
    lengths = np.diff(P.indptr).copy()
    lengths[variables] = 0
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(P.indptr.dtype)
    kind = sparse.csr_array if P.format == "csr" else sparse.csc_array
    rest: SparseMatrix = kind((P.data[keeps], P.indices[keeps], offsets), shape=P.shape)
    return rest
