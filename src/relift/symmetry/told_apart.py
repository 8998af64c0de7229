"""Whether nothing can be equivalent up to size, unit and sign, found out in floats.

Most programs have no symmetry, and to say so by an exact refinement costs as much as to find some: every value is read
as an exact number first. Rounds in floats are cheaper. Their colours depend continuously on the numbers, so that
members of one class agree but for rounding, and where no two variables agree so, all are alone
(``docs/mathematics.md``). Then no search is made. Where they tell less, exact searches follow; how many kinds they tell
says which of these are worth it.

The compiled core does the work (``core/include/relift/told_apart.hpp``); without it nothing is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as field_of_record
from typing import final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import FieldElements, Indices
from relift.program.program import Program
from relift.settings import LiftSettings
from relift.symmetry import finite_field as field
from relift.symmetry.colour_refinement import core_arrays, index_type_of
from relift.symmetry.exact_vectors import VectorImages
from relift.threads import threads_for

if field.CORE_IS_COMPILED:
    from relift import _core


@final
@dataclass(frozen=True)
class FloatKinds:
    """How much rounds in floats tell apart.

    Parameters
    ----------
    are_all_apart
        Whether every variable is alone. Every row is then alone too, if no ordinary one is a multiple of another.
    variables, rows
        About how many kinds there are: at most so many classes more than these can be merged.
    masses_are_idle
        Whether kinds were not counted, since a look at masses said that these gain little.
    are_counted
        Whether rounding left enough to count kinds.
    left
        The variables and the rows, ascending, that may be equivalent to another one, where a proof was asked for and
        they are few: all others are alone, if no ordinary row is empty or a multiple of another. None where nothing is
        told.
    """

    are_all_apart: bool
    variables: int
    rows: int
    masses_are_idle: bool = False
    are_counted: bool = field_of_record(default=True, repr=False)
    left: tuple[Indices, Indices] | None = field_of_record(default=None, repr=False, compare=False)


def kinds_in_floats(
    program: Program,
    vectors: VectorImages,
    settings: LiftSettings,
    *,
    masses: bool,
    may_stay: float = 0.0,
    looks: bool = False,
    conic: tuple[Indices, FieldElements, NDArray[np.uint8]] | None = None,
) -> FloatKinds | None:
    """How much floats tell apart; None where rounding leaves too little of them, and without the compiled core.

    Parameters
    ----------
    program
        A linear or quadratic program, with vectors as they were given: those that were computed may have cancelled. Its
        cones are stacked (:class:`~relift.symmetry.cone_refinement.StackedCones`).
    vectors
        Exact images of its vectors.
    settings
        Which sizes and signs may differ.
    masses
        Whether members count by size and price; equally much otherwise.
    may_stay
        The share of the variables and rows that need not be apart; if it is 0, it is proved that all are, or not.
    looks
        Whether some rows are looked at first: where those of one kind do not have different masses, a search with
        masses finds next to nothing that one with equal masses does not, and all are said to be of different kinds.
    conic
        Of each conic row, which are the last, its cone, its kind, and whether the cone does not see its sign. They are
        apart too where all are.

    Examples
    --------
    >>> from relift.symmetry.exact_vectors import VectorImages
    >>> def are_apart(*costs: float) -> bool:
    ...     program = Program(q=costs, A=[[1, 1, 1], [1, 2, 4]], l=[1, 2], lb=0, ub=[1, 2, 2])
    ...     kinds = kinds_in_floats(program, VectorImages.of(program, "decimal"), LiftSettings(), masses=False)
    ...     return kinds is not None and kinds.are_all_apart
    >>> are_apart(1, 3, 2), are_apart(3, 3, 3)
    (True, True)
    >>> twice = Program(q=[1, 1], A=[[1, 1]], l=[1], lb=0, ub=1)
    >>> kinds_in_floats(twice, VectorImages.of(twice, "decimal"), LiftSettings(), masses=False)
    FloatKinds(are_all_apart=False, variables=1, rows=1, masses_are_idle=False)
    """
    if not field.CORE_IS_COMPILED:
        return None
    P, A = program.P, program.A
    P = None if P is None or P.indices.size == 0 else P
    index_type, n_entries = index_type_of(A, P), A.indices.size + (0 if P is None else P.indices.size)
    are_apart, n_variables, n_rows, are_idle, left = _core.kinds_in_floats(
        None if P is None else core_arrays(P, index_type), core_arrays(A, index_type), A.format == "csr",
        program.n_variables, program.n_rows,
        *vectors.numbers_of(program),
        settings.sizes, settings.signs, settings.scale_rows, masses, may_stay, looks,
        threads_for(n_entries), conic,
    )  # fmt: skip
    if n_variables == 0 and left is None:
        return None
    numbers = None if left is None else tuple(np.frombuffer(some, np.uint32).astype(np.int64) for some in left)
    few = None if numbers is None else (numbers[0], numbers[1])
    return FloatKinds(are_apart, n_variables, n_rows, are_idle, n_variables > 0, few)
