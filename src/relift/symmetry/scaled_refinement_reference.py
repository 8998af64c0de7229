r"""Colour refinement up to scale, slow and obvious: the twin of the compiled kernel, and what runs where there is none.

A vertex t with the multiplier :math:`g_t` (w for variables, 1/v for rows) has the signature

.. math:: \sigma_t = g_t \sum_s h(c_s)\, g_s a_{ts} \pmod p,

over its neighbours s that are awake, with a random field element h for each colour; sums that reach a variable are
divided by its mass, and what a row adds is multiplied by its own. A resting vertex whose sum
:math:`S = \sum_s h(c_s) g_s a_{ts}` is not 0 wakes: an open size becomes 1/\|S\|, an open sign that of S. Signs and
sizes are taken from the same sum in floats, with a random real for each colour. Members of a class have sums in
proportion to their scales, for any h; so their multipliers are in proportion too, as field elements and as floats.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relift.arrays import FieldElements, Labels, SparseMatrix, Vector
from relift.settings import Reading
from relift.symmetry import finite_field as field
from relift.symmetry.colour_refinement_reference import SMALLEST_SHARE, classes_of, entries_of, n_classes_of
from relift.symmetry.own_scales import OPEN_SIGN, OPEN_SIZE, RESTS


class SlowRefinement(NamedTuple):
    """Labels of variables and rows, the multipliers of all, their states, rounds, and how many scales were lost."""

    variable_labels: Labels
    row_labels: Labels
    floats: Vector
    images: FieldElements
    states: NDArray[np.uint8]
    rounds: int
    n_lost: int


class _Edges(NamedTuple):
    """Entries from a source to a target, variables first, then rows; both directions of each."""

    target: Labels
    source: Labels
    word: FieldElements
    value: Vector


def refine_up_to_scale_slowly(
    P: SparseMatrix | None,
    A: SparseMatrix,
    variable_words: Sequence[FieldElements],
    row_words: Sequence[FieldElements],
    floats: Vector,
    images: FieldElements,
    states: NDArray[np.uint8],
    mass_floats: Vector | None,
    mass_images: FieldElements | None,
    links: Labels | None = None,
    *,
    reading: Reading,
    seed: int = 0,
    progress: Callable[[str, int, int], object] | None = None,
) -> SlowRefinement:
    """Refine by naive rounds, each O(nnz log n).

    The arguments are those of :func:`relift.symmetry.scaled_refinement.refine_up_to_scale`; multipliers, states and
    masses are those of the variables first, then those of the rows.
    """
    m, n = A.shape
    joined, column = _linked(A, links)
    edges = _edges(P, _without(A, links), reading)
    floats, images, states = floats.copy(), images.copy(), states.copy()
    ones = np.ones(n + m, np.uint64)
    of_rows = ones if mass_images is None else np.r_[ones[:n], mass_images[n:]]
    of_variables = ones if mass_images is None else np.r_[mass_images[:n], ones[n:]]
    row_floats = np.ones(n + m) if mass_floats is None else np.r_[np.ones(n), mass_floats[n:]]
    variable_floats = np.ones(n + m) if mass_floats is None else np.r_[mass_floats[:n], np.ones(m)]
    random = np.random.default_rng(seed)
    # Variables and rows never meet in a class.
    both = [np.r_[classes_of(n, list(variable_words)), n + classes_of(m, list(row_words))]]
    labels = classes_of(n + m, both)
    rounds = n_lost = 0
    while True:
        rounds += 1
        size = n_classes_of(labels)
        awake = (states & RESTS) == 0
        h = random.integers(1, field.MODULUS, size=size, dtype=np.uint64)[labels]
        word = np.where(awake, field.multiply(field.multiply(h, images), of_rows), np.uint64(0))
        sums = field.grouped_sums(edges.target, field.multiply(word[edges.source], edges.word), n + m)
        # Links count from when their row is awake, with its sign.
        live = (states[n + joined] & RESTS) == 0
        row, to = n + joined[live], column[live]
        turned = [np.where(floats[row] < 0, field.negate(word[end]), word[end]) for end in (to, row)]
        sums = field.add(sums, field.grouped_sums(np.r_[row, to], np.concatenate(turned), n + m))
        woken = np.flatnonzero(~awake & (sums != 0))
        if woken.size:
            weight = np.where(awake, random.uniform(1.0, 2.0, size)[labels] * floats * row_floats, 0.0)
            terms = edges.value.astype(np.longdouble) * weight[edges.source]
            terms, target = np.r_[terms, np.abs(weight[row])], np.r_[edges.target, to]
            n_lost += _wake(
                woken, sums, _added(target, terms, n + m), floats, images, states, of_variables, variable_floats
            )
        share = field.multiply(images, field.inverse(of_variables))
        awake = (states & RESTS) == 0
        signature = np.where(awake, field.multiply(sums, share), np.uint64(0))
        finer = classes_of(n + m, [labels, states & RESTS, signature])
        if progress is not None:
            progress("rounds", rounds, n_classes_of(finer))
        is_stable = n_classes_of(finer) == size and woken.size == 0
        labels = finer
        if is_stable:
            return SlowRefinement(
                classes_of(n, [labels[:n]]), classes_of(m, [labels[n:]]), floats, images, states, rounds, n_lost
            )


def _wake(
    woken: Labels,
    sums: FieldElements,
    added: tuple[Vector, Vector],
    floats: Vector,
    images: FieldElements,
    states: NDArray[np.uint8],
    mass_images: FieldElements,
    mass_floats: Vector,
) -> int:
    total, size = added
    n_lost = 0
    sized: list[int] = []
    for t in woken.tolist():
        state, is_lost = int(states[t]), not abs(total[t]) >= SMALLEST_SHARE * size[t]
        sign = -1.0 if total[t] < 0 else 1.0
        n_lost += bool(state & (OPEN_SIZE | OPEN_SIGN)) and is_lost
        if state & OPEN_SIZE and is_lost:
            floats[t], images[t] = 1.0, 1
        elif state & OPEN_SIZE:
            kept = floats[t] * sign if not state & OPEN_SIGN else 1.0  # the sign of the multiplier times that of S
            divisor = field.negate(sums[t]) if kept < 0 else sums[t]
            floats[t] = kept * mass_floats[t] / float(total[t])
            images[t] = field.multiply(field.inverse(divisor), mass_images[t])
            sized.append(t)
        elif state & OPEN_SIGN and not is_lost:
            floats[t] *= sign
            images[t] = field.negate(images[t]) if sign < 0 else images[t]
        states[t] = 0
    if sized:  # one power of two for all that wake together keeps sizes from drifting away along a wave
        shift = -round(float(np.log2(np.abs(floats[sized])).mean()))
        power = pow(2, shift, field.MODULUS)
        floats[sized] = np.ldexp(floats[sized], shift)
        images[sized] = field.multiply(images[sized], np.uint64(power))
    return n_lost


def _linked(A: SparseMatrix, links: Labels | None) -> tuple[Labels, Labels]:
    """The rows that have links, and the columns that these lead to."""
    if links is None:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    rows = np.flatnonzero(links >= 0)
    return rows, A.indices[links[rows]].astype(np.int64)


def _without(A: SparseMatrix, links: Labels | None) -> Any:
    if links is None:
        return A
    left = A.copy()
    left.data[links[links >= 0]] = 0.0
    return left


def _edges(P: SparseMatrix | None, A: SparseMatrix, reading: Reading) -> _Edges:
    n = A.shape[1]
    of_A = entries_of(A, reading)
    target, source, words = [of_A.row + n, of_A.column], [of_A.column, of_A.row + n], [of_A.word, of_A.word]
    values = [of_A.value, of_A.value]
    if P is not None:
        of_P = entries_of(P, reading)
        target, source = [*target, of_P.row], [*source, of_P.column]
        words, values = [*words, of_P.word], [*values, of_P.value]
    return _Edges(np.concatenate(target), np.concatenate(source), np.concatenate(words), np.concatenate(values))


def _added(target: Labels, terms: NDArray[Any], size: int) -> tuple[Vector, Vector]:
    """The sums of terms by target, and of their absolute values."""
    total, absolute = np.zeros(size, np.longdouble), np.zeros(size, np.longdouble)
    np.add.at(total, target, terms)
    np.add.at(absolute, target, np.abs(terms))
    return total.astype(np.float64), absolute.astype(np.float64)


def sharpened_slowly(ratios: Vector, images: FieldElements, reading: Reading) -> Vector:
    """Each rounded to twelve digits, and kept where that has its image.

    Parameters
    ----------
    ratios
        Floats that came out of a computation.
    images
        What they are exactly.
    reading
        How floats are read.

    Raises
    ------
    NotANumberError
        If a ratio that is neither 0 nor 1 is NaN.
    """
    odd = np.flatnonzero(images > 1)
    if odd.size == 0:
        return ratios
    some = ratios[odd]
    digits = 11 - np.floor(np.log10(np.abs(some)))
    usual = np.abs(digits) < 200
    power = np.power(10.0, np.where(usual, digits, 0.0))
    rounded = np.where(usual, np.round(some * power) / power, some)
    ratios = ratios.copy()
    ratios[odd] = np.where(field.images(rounded, reading) == images[odd], rounded, some)
    return ratios
