r"""Variables measured from the middle of their bounds, so that :math:`x \mapsto lb + ub - x` is a change of sign.

Right-hand sides then shift by A c. Whether that makes more equal or less depends on the program: rows that a reflection
exchanges, such as :math:`y \le x_1 + x_2` and :math:`y \le 2 - x_1 - x_2`, get equal right-hand sides, others lose a 0.
So a cheap look at the floats comes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from relift.arrays import FieldElements, Flags, Indices, SparseMatrix, Vector
from relift.program import passes
from relift.program.conic_rows import ConicRows
from relift.program.index_sets import shortened
from relift.program.passes import count_shapes
from relift.program.program import Program
from relift.settings import Reading
from relift.symmetry import finite_field as field
from relift.symmetry.exact_vectors import VectorImages
from relift.symmetry.own_scales import Intervals, numbers_of_variables
from relift.symmetry.partition import Partition

SAMPLE = 512
"""Variables and rows of which bounds are compared."""

LARGEST_CENTRE = 1e7
"""Up to this, or so many times the smallest centre, variables are measured from their centres: values near 0 lose as
many digits as the centre has, and the certificate asks for six of the rest. Bounds of 1e20 are often no bounds at all.
"""


@final
@dataclass(frozen=True, eq=False)
class Centres:
    """Where variables are measured from: floats, and exactly."""

    floats: Vector
    images: FieldElements

    def only(self, where: Flags) -> Centres:
        """The same for some variables, 0 for the others."""
        return Centres(np.where(where, self.floats, 0.0), np.where(where, self.images, np.uint64(0)))


def centres_of(program: Program, bounds: Intervals) -> Centres | None:
    """The middles of bounds on both sides, 0 where there are none; None if all are 0.

    Examples
    --------
    >>> program = Program(q=[1, 1], lb=[0, 0], ub=[1, np.inf])
    >>> bounds = Intervals(program.lb, program.ub, field.images(program.lb), field.images(program.ub))
    >>> centres_of(program, bounds).floats.tolist()
    [0.5, 0.0]
    """
    is_boxed = (bounds.low_image < field.MODULUS) & (bounds.high_image < field.MODULUS) & ~bounds.is_symmetric
    is_boxed[program.quadratic.variables] = False  # their constraints would change
    if not is_boxed.any():
        return None
    floats, images = np.zeros(is_boxed.size), np.zeros(is_boxed.size, np.uint64)
    floats[is_boxed] = 0.5 * bounds.low[is_boxed] + 0.5 * bounds.high[is_boxed]
    sizes = np.abs(floats)
    smallest = float(sizes[is_boxed].min(initial=np.inf))
    is_boxed &= sizes <= LARGEST_CENTRE * max(1.0, smallest)
    floats[~is_boxed] = 0.0
    both = field.add(bounds.low_image[is_boxed], bounds.high_image[is_boxed])
    images[is_boxed] = field.multiply(both, field.inverse(2))
    return Centres(floats, images)


def may_be_equal_up_to_reflection(program: Program, images: VectorImages) -> bool:
    """Whether right-hand sides, or costs, that differ now would be equal up to sign; a sample of rows is compared.

    Parameters
    ----------
    program
        A linear or quadratic program; its variables would be measured from their centres.
    images
        Its vectors exactly: they show which of them are one number.

    Examples
    --------
    >>> program = Program(q=[0, 0, -1], A=[[1, 1, -1], [-1, -1, -1]], l=[0, -2], lb=0, ub=1)
    >>> may_be_equal_up_to_reflection(program, VectorImages.of(program, "decimal"))
    True
    """
    P, A = program.P, program.A
    core = passes.core_for(P, A)
    if core is None:
        return may_be_equal_up_to_reflection_slowly(program)
    is_rigid = None
    if len(program.quadratic):
        is_rigid = np.zeros(program.n_variables, np.uint8)
        is_rigid[program.quadratic.variables] = 1
    if images.given:
        short = images.short
        variables = short("q", program.q), short("lb", program.lb), short("ub", program.ub)
        rows = short("l", program.l), short("u", program.u)
    else:
        variables = shortened(program.q, images.q), shortened(program.lb, images.lb), shortened(program.ub, images.ub)
        rows = shortened(program.l, images.l), shortened(program.u, images.u)
    parts = None if P is None else passes.parts_of(P, A)
    m, n = A.shape
    return bool(
        core.may_be_reflected(
            passes.parts_of(A, P), A.format == "csr", parts, variables, n, rows, m, is_rigid, SAMPLE
        )
    )  # fmt: skip


def may_be_equal_up_to_reflection_slowly(program: Program) -> bool:
    """The same as :func:`may_be_equal_up_to_reflection` in NumPy: the twin of the compiled look."""
    centre = _middles(program)
    if centre is None:
        return False
    some = _sample(program.n_variables)
    lb, ub, middle, q = program.lb[some], program.ub[some], centre[some], program.q[some]
    slope = 0.0 if program.P is None else _some_products(program.P.T, centre, some)  # symmetric, and by rows then
    if count_shapes(lb - middle, ub - middle, q + slope) < count_shapes(lb, ub, q):
        return True
    some, A = _sample(program.n_rows), program.A
    shift = _some_products(A, centre, some)
    l, u = program.l[some], program.u[some]
    nothing = np.zeros(l.size)
    return count_shapes(l - shift, u - shift, nothing) < count_shapes(l, u, nothing)


def only_moves(program: Program, bounds: Intervals) -> bool:
    """Whether variables measured from their centres have the same classes as before, whatever their masses.

    If scales in every class are in the ratio of the centres, classes that hold from the centres hold from 0 too
    (``docs/mathematics.md``). That is so where each variable with a centre has 0 as one of its bounds and a cost, all
    of these have the same sign relative to it, and no other variable has a bound that is finite and not 0.

    Parameters
    ----------
    program
        A linear program: its costs are the same from the centres.
    bounds
        Bounds of its variables.

    Examples
    --------
    >>> low, high = np.zeros(2), np.array([1.0, 3.0])
    >>> bounds = Intervals(low, high, field.images(low), field.images(high))
    >>> [only_moves(Program(q=q, lb=low, ub=high), bounds) for q in ([1, 2], [1, -2], [1, 0])]
    [True, False, False]
    """
    if passes.core is None or program.n_variables > passes.MOST_VERTICES:
        return only_moves_slowly(program, bounds)
    return bool(passes.core.only_moves(numbers_of_variables(bounds, program.q, None), program.n_variables))


def only_moves_slowly(program: Program, bounds: Intervals) -> bool:
    """The same as :func:`only_moves` in NumPy: the twin of the compiled look."""
    is_boxed = (bounds.low_image < field.MODULUS) & (bounds.high_image < field.MODULUS)
    from_zero = (bounds.low_image == 0) ^ (bounds.high_image == 0)
    if np.any(is_boxed & ~from_zero) or np.any(~is_boxed & bounds.largest()[2]):
        return False
    side = np.where(bounds.low_image == 0, program.q, -program.q)[is_boxed]
    return bool(np.all(side > 0) or np.all(side < 0))


def _middles(program: Program) -> Vector | None:
    """What :func:`centres_of` would find, in floats; None if all are 0."""
    with np.errstate(invalid="ignore"):
        middle = 0.5 * (program.lb + program.ub)
    middle[~np.isfinite(middle)] = 0.0
    middle[program.quadratic.variables] = 0.0
    return middle if middle.any() else None


def _some_products(matrix: SparseMatrix, vector: Vector, rows: Indices) -> Vector:
    """Some entries of a product; taking rows out of a matrix pays where they are few."""
    is_little = matrix.format == "csr" and 4 * rows.size < matrix.shape[0]
    return np.asarray(matrix[rows] @ vector if is_little else (matrix @ vector)[rows])


def _sample(size: int) -> Indices:
    return np.arange(size) if size <= SAMPLE else np.linspace(0, size - 1, SAMPLE).astype(np.int64)


def uncentred(centres: Centres, classes: Partition, scales: FieldElements) -> Centres | None:
    """Centres only where they are needed: members of a class whose centres are in the ratio of their scales move back.

    Parameters
    ----------
    centres
        Where variables were measured from.
    classes, scales
        Classes that were found so, and exact scales of the members, 0 at rest.
    """
    first = centres.images[classes.representatives][classes.labels]
    fits = (scales != 0) & (field.multiply(scales, first) == centres.images)
    is_whole = np.ones(classes.n_classes, bool)
    np.logical_and.at(is_whole, classes.labels, fits)
    stays = ~is_whole[classes.labels] & (centres.images != 0)
    if not stays.any():
        return None
    return centres.only(stays)


def centred_program(
    program: Program, vectors: VectorImages, centres: Centres, reading: Reading
) -> tuple[Program, VectorImages]:
    """The program with variables measured from their centres, and the exact images of its vectors.

    Examples
    --------
    >>> program = Program(q=[1, 1], A=[[1, 1]], u=[1], lb=0, ub=[1, 2])
    >>> centres = Centres(np.array([0.5, 1.0]), field.images([0.5, 1.0]))
    >>> moved, _ = centred_program(program, VectorImages.of(program, "decimal"), centres, "decimal")
    >>> moved.u.tolist(), moved.lb.tolist(), moved.ub.tolist(), moved.r
    ([-0.5], [-0.5, -1.0], [0.5, 1.0], 1.5)
    """
    centre, exact = centres.floats, centres.images
    along_rows, shift = np.asarray(program.A @ centre), field.product(program.A, exact, reading)
    slope, slope_images = np.zeros(program.n_variables), np.zeros(program.n_variables, np.uint64)
    if program.P is not None:
        slope, slope_images = np.asarray(program.P @ centre), field.product(program.P, exact, reading)
    conic, b_images = program.conic, vectors.b
    if len(conic):
        b_images = field.subtract(vectors.b, field.product(conic.A, exact, reading))
        b = np.where(b_images == 0, 0.0, conic.b - conic.A @ centre)
        conic = ConicRows.trusted(conic.A, b, conic.cones)
    l, l_image = _moved(program.l, vectors.l, along_rows, shift)
    u, u_image = _moved(program.u, vectors.u, along_rows, shift)
    lb, lb_image = _moved(program.lb, vectors.lb, centre, exact)
    ub, ub_image = _moved(program.ub, vectors.ub, centre, exact)
    q_image = field.add(vectors.q, slope_images)
    moved = Program.trusted(
        program.P, np.where(q_image == 0, 0.0, program.q + slope), program.A, l, u, lb, ub,
        program.r + float(program.q @ centre) + 0.5 * float(slope @ centre),
        quadratic=program.quadratic, conic=conic,
    )  # fmt: skip
    return moved, VectorImages(q_image, l_image, u_image, lb_image, ub_image, b_images)


def sharpened(program: Program, vectors: VectorImages, reading: Reading) -> Program | None:
    """The program with vectors that are read as what they stand for; None where no digits but those lost tell them.

    Parameters
    ----------
    program, vectors
        A program, some numbers of which were subtracted in floats, and its vectors exactly.
    reading
        How floats are read.

    Examples
    --------
    >>> def exact(number: float) -> VectorImages:
    ...     return VectorImages.of(Program(q=[number]), "decimal")
    >>> sharpened(Program(q=[0.1 - 0.3]), exact(-0.2), "decimal").q.tolist()
    [-0.2]
    >>> sharpened(Program(q=[1e16 + 1.1 - 1e16]), exact(1.1), "decimal") is None
    True
    """
    new = []
    for floats, words in (
        (program.q, vectors.q), (program.l, vectors.l), (program.u, vectors.u), (program.lb, vectors.lb),
        (program.ub, vectors.ub), (program.conic.b, vectors.b),
    ):  # fmt: skip
        odd = np.flatnonzero(field.images(floats, reading) != words)
        sharp = floats
        if odd.size:
            sharp = floats.copy()
            sharp[odd] = to_fifteen_digits(floats[odd])
            if not np.array_equal(field.images(sharp[odd], reading), words[odd]):
                return None
        new.append(sharp)
    q, l, u, lb, ub, b = new
    conic = ConicRows.trusted(program.conic.A, b, program.conic.cones)
    return Program.trusted(program.P, q, program.A, l, u, lb, ub, program.r, quadratic=program.quadratic, conic=conic)


def to_fifteen_digits(values: Vector) -> Vector:
    """Without the rounding of the last place, where few digits are meant.

    Examples
    --------
    >>> to_fifteen_digits(np.array([0.1 + 0.2, 1 / 3, 0.0])).tolist()
    [0.3, 0.333333333333333, 0.0]
    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        power = np.power(10.0, 14.0 - np.floor(np.log10(np.abs(values))))
        rounded = np.rint(values * power) / power
    return np.where(np.isfinite(rounded), rounded, values)


def _moved(bounds: Vector, images: FieldElements, by: Vector, by_images: FieldElements) -> tuple[Vector, FieldElements]:
    """Bounds less something, exactly too: what is exactly 0 is 0."""
    is_finite = images < field.MODULUS
    moved = np.where(is_finite, field.subtract(np.where(is_finite, images, np.uint64(0)), by_images), images)
    return np.where(moved == 0, 0.0, bounds - by), moved
