"""A look at a large program, whether anything speaks for classes up to size, unit and sign.

The search for them costs more than that for equitable classes. In large programs some rows are looked at first, by the
compiled core (``core/include/relift/likeness.hpp``): rows that are equal up to factors, units and signs, though not as
they are given. Without the core the search is always made.
"""

from __future__ import annotations

from relift.program.program import Program
from relift.symmetry import finite_field as field
from relift.symmetry.colour_refinement import core_arrays, index_type_of
from relift.symmetry.exact_vectors import VectorImages

if field.CORE_IS_COMPILED:
    from relift import _core


def looks_alike_up_to_scale(program: Program, vectors: VectorImages) -> bool:
    """Whether some rows are equal up to scale, though not as they are given; a sample of rows is looked at.

    Parameters
    ----------
    program
        A linear or quadratic program.
    vectors
        Exact images of its vectors.

    Examples
    --------
    >>> def looks_so(q: list[float], ub: list[float]) -> bool:
    ...     program = Program(q=q, A=[[1, 1]], l=[1], lb=0, ub=ub)
    ...     return looks_alike_up_to_scale(program, VectorImages.of(program, "decimal"))
    >>> looks_so([2, 2], [1, 3]), looks_so([2, 2], [1, 1])
    (True, False)
    """
    if not field.CORE_IS_COMPILED:
        return True
    return _core.likeness(
        core_arrays(program.A, index_type_of(program.A)), program.A.format == "csr",
        program.n_variables, program.n_rows,
        (program.lb, program.ub, program.q, vectors.lb, vectors.ub, vectors.q),
        (program.l, program.u, None, vectors.l, vectors.u, None),
    )[-1]  # fmt: skip
