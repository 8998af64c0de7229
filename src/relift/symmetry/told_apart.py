"""Whether nothing can be equivalent up to size, unit and sign, found out in floats.

Most programs have no symmetry, and to say so by an exact refinement costs as much as to find some: every value is read
as an exact number first. Rounds in floats are cheaper. Their colours depend continuously on the numbers, so that
members of one class agree but for rounding, and where no two variables agree so, all are alone
(``docs/mathematics.md``). Then no search is made. Where they tell less, nothing is said, and exact searches follow.

The compiled core does the work (``core/include/relift/told_apart.hpp``); without it nothing is told.
"""

from __future__ import annotations

from relift.program.program import Program
from relift.settings import LiftSettings
from relift.symmetry import finite_field as field
from relift.symmetry.colour_refinement import core_arrays, index_type_of
from relift.symmetry.exact_vectors import VectorImages

if field.CORE_IS_COMPILED:
    from relift import _core


def variables_are_told_apart(program: Program, vectors: VectorImages, settings: LiftSettings, *, masses: bool) -> bool:
    """Whether floats tell all variables apart; False also where they do not decide.

    Every row is then alone too, if none is a multiple of another.

    Parameters
    ----------
    program
        A linear or quadratic program, with vectors as they were given: those that were computed may have cancelled.
    vectors
        Exact images of its vectors.
    settings
        Which sizes and signs may differ.
    masses
        Whether members count by size and price; equally much otherwise.

    Examples
    --------
    >>> from relift.symmetry.exact_vectors import VectorImages
    >>> def told_apart(*costs: float) -> bool:
    ...     program = Program(q=costs, A=[[1, 1, 1], [1, 2, 4]], l=[1, 2], lb=0, ub=[1, 2, 2])
    ...     vectors = VectorImages.of(program, "decimal")
    ...     return variables_are_told_apart(program, vectors, LiftSettings(), masses=False)
    >>> told_apart(1, 3, 2), told_apart(3, 3, 3)
    (True, True)
    >>> twice = Program(q=[1, 1], A=[[1, 1]], l=[1], lb=0, ub=1)
    >>> variables_are_told_apart(twice, VectorImages.of(twice, "decimal"), LiftSettings(), masses=False)
    False
    """
    if not field.CORE_IS_COMPILED:
        return False
    P, A = program.P, program.A
    P = None if P is None or P.nnz == 0 else P
    index_type = index_type_of(A, P)
    return _core.told_apart(
        None if P is None else core_arrays(P, index_type), core_arrays(A, index_type), A.format == "csr",
        program.n_variables, program.n_rows,
        (program.lb, program.ub, program.q, vectors.lb, vectors.ub, vectors.q),
        (program.l, program.u, None, vectors.l, vectors.u, None),
        settings.sizes, settings.signs, settings.scale_rows, masses,
    )  # fmt: skip
