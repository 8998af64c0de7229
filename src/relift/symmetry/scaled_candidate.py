"""What a search up to scale has found: classes with scales, and what is at rest beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Flags, Indices, Labels, ScalarT, Vector
from relift.program.index_sets import constant, constant_words
from relift.program.program import Program
from relift.records import quick
from relift.settings import LiftMethod
from relift.symmetry.centres import Centres
from relift.symmetry.colour_refinement import Refinement
from relift.symmetry.find import ScaleImages, Symmetry, costs_of
from relift.symmetry.likeness import Likeness
from relift.symmetry.merged_program import relative_row_scales
from relift.symmetry.own_scales import Masses
from relift.symmetry.partition import Partition
from relift.symmetry.scaled_refinement import ClassScales, ScaledRefinement

NONE = Partition.discrete(0)
"""No classes of nothing."""

_ONES, _ONE_IMAGES = np.ones(1 << 14), np.ones(1 << 14, np.uint64)
_ONES.flags.writeable = _ONE_IMAGES.flags.writeable = False


@final
@quick
@dataclass(frozen=True, eq=False)
class Found:
    """Classes, and what is at rest beside them.

    Parameters
    ----------
    symmetry
        The classes of what is not at rest.
    variables, rows, conic_rows, cones
        Which of each are at rest; None if none is.
    centres
        Where variables are measured from, and rest; None if all from 0.
    look
        What some rows told, where no classes were found; None if nobody has looked.
    """

    symmetry: Symmetry
    variables: Flags | None = None
    rows: Flags | None = None
    conic_rows: Flags | None = None
    cones: Flags | None = None
    centres: Centres | None = None
    look: Likeness | None = None

    def seen(self, look: Likeness) -> Found:
        """The same with what some rows told."""
        return Found(self.symmetry, self.variables, self.rows, self.conic_rows, self.cones, self.centres, look)


@final
@quick
@dataclass(frozen=True, eq=False)
class Candidate:
    """What one search found.

    Parameters
    ----------
    program
        The program that was searched.
    found
        Its classes, those of cones after those of variables, and of conic rows after those of rows.
    masses
        How much members count; None if equally much.
    quadratic
        Classes of quadratic constraints.
    is_exact
        Whether scales are known exactly.
    plain
        The equitable classes, if these are what was found: ``found`` has no scales of the rows then.
    """

    program: Program
    found: ScaledRefinement
    masses: Masses | None
    quadratic: Partition
    is_exact: bool = True
    plain: Refinement | None = None

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self.found.variables.classes.n_classes + self.found.rows.classes.n_classes + self.quadratic.n_classes

    def without_rest(self, method: LiftMethod, centres: Centres | None) -> Found:
        """The classes of what is not at rest; where all classes are discrete nothing is scaled, and nothing rests.

        Parameters
        ----------
        method
            Which method is said to have found them.
        centres
            Where variables are measured from; None if all from 0.
        """
        program, found = self.program, self.found
        n, m = program.n_variables, program.n_rows
        statistics = costs_of(found.statistics)
        discrete = (found.variables.classes.is_discrete, found.rows.classes.is_discrete, self.quadratic.is_discrete)
        if all(discrete):
            return Found(
                Symmetry(
                    Partition.discrete(n), Partition.discrete(m), constant(1.0, m), method, self.quadratic,
                    Partition.discrete(program.conic.n_rows), Partition.discrete(len(program.conic)), statistics,
                )
            )  # fmt: skip
        if self.plain is not None and centres is None:
            return Found(
                Symmetry(
                    self.plain.variables, self.plain.rows, self.plain.row_scales, method, self.quadratic,
                    statistics=statistics, row_scale_images=self.plain.row_scale_images,
                )
            )  # fmt: skip
        variables, cones = _parts(found.variables, n)
        rows, conic_rows = _parts(found.rows if self.plain is None else _scales_of_rows(self.plain), m)
        awake, active = _awake(variables), _awake(rows)
        conic_classes, kept, in_use = self._conic_rest(conic_rows, cones)
        masses = self.masses
        symmetry = Symmetry(
            _of_some(variables.classes, awake),
            _of_some(rows.classes, active),
            _some(rows.floats, active),
            method,
            self.quadratic,
            conic_classes,
            _of_some(cones.classes, in_use),
            statistics,
            variable_scales=_unless_ones(_some(variables.floats, awake)),
            variable_masses=None if masses is None else _some(masses.variables[:n], awake),
            row_masses=None if masses is None else _some(masses.rows[:m], active),
            conic_scales=_unless_ones(_some(conic_rows.floats, kept)),
            conic_masses=None if masses is None else _some(masses.rows[m:], kept),
            scale_images=ScaleImages(
                _some(variables.images, awake),
                _some(rows.images, active),
                _some(conic_rows.images, kept),
                None if masses is None else _some(masses.variable_images[:n], awake),
            )
            if self.is_exact
            else None,
        )
        still, held, held_cones, empty = (None if mask is None else ~mask for mask in (awake, active, kept, in_use))
        return Found(symmetry, still, held, held_cones, empty, centres)

    def _conic_rest(self, conic_rows: ClassScales, cones: ClassScales) -> tuple[Partition, Flags | None, Flags | None]:
        """The classes of conic rows that stay, and which rows, and cones, these are: not cones and tails at rest."""
        conic, in_use = self.program.conic, _awake(cones)
        if in_use is None and _awake(conic_rows) is None:
            return conic_rows.classes, None, None
        kept = np.ones(conic.n_rows, bool) if in_use is None else in_use[conic.cone_of_row]
        tails = conic.layout.tails
        kept[tails] &= conic_rows.floats[tails] != 0
        labels = _apart(conic_rows, cones.classes.labels[conic.cone_of_row])
        return Partition.from_labels(labels[kept]), None if kept.all() else kept, in_use


def as_given(classes: Partition) -> ClassScales:
    """Classes of which all members have the scale 1."""
    size = classes.size
    if size <= _ONES.size:
        return ClassScales(classes, _ONES[:size], _ONE_IMAGES[:size])
    return ClassScales(classes, constant(1.0, size), constant_words(1, size))


def _scales_of_rows(found: Refinement) -> ClassScales:
    rows, scales = found.rows, found.row_scales
    return ClassScales(rows, scales / scales[rows.representatives][rows.labels], relative_row_scales(found))


def rounded_scales(labels: Labels, scales: Vector) -> ClassScales:
    """Scales relative to the representatives, without exact ones; all that rests is one class."""
    classes = Partition.from_labels(np.where(scales == 0, -1, labels))
    first = scales[classes.representatives][classes.labels]
    relative = np.divide(scales, first, out=np.zeros(scales.size), where=scales != 0)
    return ClassScales(classes, relative, np.zeros(scales.size, np.uint64))


def _parts(of_all: ClassScales, n: int) -> tuple[ClassScales, ClassScales]:
    """Classes and scales of the first n, and of the others."""
    labels = of_all.classes.labels
    if n == labels.size:
        return of_all, ClassScales(NONE, of_all.floats[n:], of_all.images[n:])
    return (
        ClassScales(Partition.from_labels(labels[:n]), of_all.floats[:n], of_all.images[:n]),
        ClassScales(Partition.from_labels(labels[n:]), of_all.floats[n:], of_all.images[n:]),
    )


def _awake(scales: ClassScales) -> Flags | None:
    """Which members are not at rest; None if none is."""
    awake = scales.floats != 0
    return None if awake.all() else awake


def _of_some(classes: Partition, which: Flags | None) -> Partition:
    return classes if which is None else Partition.from_labels(classes.labels[which])


def _some(numbers: NDArray[ScalarT], which: Flags | None) -> NDArray[ScalarT]:
    return numbers if which is None else numbers[which]


def _apart(rows: ClassScales, cone_class: Indices) -> Indices:
    """Labels in which rows at rest are told apart by the classes of their cones."""
    return np.where(rows.floats != 0, rows.classes.labels, rows.classes.n_classes + cone_class)


def _unless_ones(scales: Vector) -> Vector | None:
    return None if (scales == 1.0).all() else scales
