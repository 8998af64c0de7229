r"""Classes up to scale where numbers are in proportion only up to rounding, for ``digits``.

Sizes that were multiplied in floats, 0.6 s beside 0.25 s, are in proportion to 15 digits, not exactly. So the sums of
:mod:`relift.symmetry.scaled_refinement_reference` are taken in floats, and members of a class stay together while their
sums, divided by their scales, differ by less than 10^-digits of what was added. Closeness is not transitive; whether
classes hold is for the check of :mod:`relift.symmetry.equitable` to say, and the answer is certified on the numbers as
given.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from relift.arrays import Array, Flags, Labels, SparseMatrix, Vector
from relift.symmetry.own_scales import OPEN_SIGN, OPEN_SIZE, RESTS, Intervals, Masses, OwnScales

MOST_ROUNDS = 100
"""A search that takes longer is given up."""

ROUNDS_OF_A_LOOK = 16
"""The same where classes are only looked at: things of one kind and many sizes are told apart in a few rounds, along a
grid or a chain it takes as many as that is long."""

_CANCELLED, _MOST_CANCELLED = 100.0, 0.01
"""A sum of so many times 10^-digits of its terms counts as 0: cancellation costs digits. With few digits, a hundredth:
with two of them every sum would be 0, and everything alike."""


def width_of_zero(digits: int) -> float:
    """Up to which share of its terms a sum of numbers of so many digits counts as 0.

    Parameters
    ----------
    digits
        How many count.

    Examples
    --------
    >>> [width_of_zero(digits) for digits in (1, 2, 3, 4, 5)]
    [0.1, 0.01, 0.01, 0.01, 0.001]
    """
    width = 10.0**-digits
    return max(width, min(_CANCELLED * width, _MOST_CANCELLED))


class RoundedClasses(NamedTuple):
    """Labels of variables and rows, and the scales of their members; 0 at rest."""

    variables: Labels
    rows: Labels
    variable_scales: Vector
    row_scales: Vector


def refine_up_to_rounding(
    P: SparseMatrix | None,
    A: SparseMatrix,
    q: Vector,
    bounds: Intervals,
    sides: Intervals,
    variables: OwnScales,
    rows: OwnScales,
    masses: Masses | None,
    digits: int,
    most_classes: float = np.inf,
    most_rounds: int = MOST_ROUNDS,
) -> RoundedClasses | None:
    """Find classes up to scale in floats; None if that takes too many rounds, or if there are too many.

    Parameters
    ----------
    P, A
        The matrices.
    q
        Costs.
    bounds, sides
        Bounds of variables and of rows.
    variables, rows
        What is known of their scales.
    masses
        How much members count; None if equally much.
    digits
        What differs by less than 10^-digits counts as equal.
    most_classes
        More than so many classes, of what is not at rest, are of no use.
    most_rounds
        After so many rounds the search is given up.

    Examples
    --------
    >>> from relift.program.program import Program
    >>> from relift.symmetry import finite_field as field
    >>> from relift.symmetry.own_scales import scales_of_rows, scales_of_variables
    >>> size = np.array([0.7, 1.3, 2.9])
    >>> p = Program(q=1 / size, A=np.diag(1 / size), l=np.full(3, 0.1), u=np.full(3, 0.3), lb=0, ub=3.1 * size)
    >>> x = Intervals(p.lb, p.ub, field.images(p.lb), field.images(p.ub))
    >>> b = Intervals(p.l, p.u, field.images(p.l), field.images(p.u))
    >>> own = scales_of_variables(x, p.q, field.images(p.q))
    >>> refine_up_to_rounding(None, p.A, p.q, x, b, own, scales_of_rows(b), None, 11).variables.tolist()
    [0, 0, 0]
    """
    m, n = A.shape
    width = 10.0**-digits
    ones = np.ones(n + m)
    row_mass = ones if masses is None else np.append(np.ones(n), masses.rows)
    variable_mass = ones if masses is None else np.append(masses.variables, np.ones(m))
    multipliers = np.append(variables.floats, 1.0 / rows.floats)
    states = np.append(variables.states, rows.states)
    labels = _first_labels(q, bounds, sides, variables, rows, variable_mass[:n], width)
    graph = _graph(P, A)
    sizes = abs(graph)
    random = np.random.default_rng(20160613)
    for _ in range(most_rounds):
        awake = (states & RESTS) == 0
        weight = random.uniform(1.0, 2.0, labels.max(initial=0) + 1)[labels] * multipliers * row_mass
        weight = np.where(awake, weight, 0.0)
        sums, terms = graph @ weight, sizes @ np.abs(weight)
        is_zero = np.abs(sums) <= width_of_zero(digits) * terms
        woken = np.flatnonzero(~awake & ~is_zero)
        _wake(woken, sums, multipliers, states, variable_mass)
        awake = (states & RESTS) == 0
        share = np.where(awake, multipliers / variable_mass, 0.0)
        values = np.where(is_zero, 0.0, sums * share)
        finer = _split(labels, states, values, terms * np.abs(share), width)
        is_stable = finer.max(initial=0) == labels.max(initial=0) and woken.size == 0
        labels = finer
        if np.count_nonzero(np.bincount(labels[awake])) > most_classes:  # what is awake stays so, and only splits
            return None
        if is_stable:
            scales = np.where(awake, multipliers, 0.0)
            of_rows = np.divide(1.0, scales[n:], out=np.zeros(m), where=awake[n:])
            return RoundedClasses(labels[:n], labels[n:], scales[:n], of_rows)
    return None


def _graph(P: SparseMatrix | None, A: SparseMatrix) -> SparseMatrix:
    """Variables and rows, joined by entries of P and of A."""
    joined: SparseMatrix = sparse.block_array([[P, A.T], [A, None]], format="csr")
    return joined


def _wake(woken: Labels, sums: Vector, multipliers: Vector, states: Array, masses: Vector) -> None:
    """Decide what is open by the sums; one power of two for all keeps sizes from drifting away."""
    total, state = sums[woken], states[woken].astype(np.int64)
    opens_size, opens_sign = (state & OPEN_SIZE) != 0, (state & OPEN_SIGN) != 0
    sign = np.where(opens_sign, np.sign(total), 1.0) * np.sign(multipliers[woken])
    size = np.where(opens_size, masses[woken] / np.abs(total), np.abs(multipliers[woken]))
    if opens_size.any():
        shift = -np.round(np.log2(size[opens_size]).mean())
        size[opens_size] *= 2.0**shift
    multipliers[woken] = sign * size
    states[woken] = 0


def _first_labels(
    q: Vector, bounds: Intervals, sides: Intervals, variables: OwnScales, rows: OwnScales, masses: Vector, width: float
) -> Labels:
    """Classes of bounds and costs, divided by the scales."""
    n, m = q.size, sides.low.size
    of_variables = np.stack([*_divided(bounds, variables.floats), q * variables.floats / masses])
    of_rows = np.stack([*_divided(sides, rows.floats), np.zeros(m)])
    labels = np.append(np.zeros(n, np.int64), np.ones(m, np.int64))
    states = np.append(variables.states, rows.states)
    for values in np.concatenate([of_variables, of_rows], axis=1):
        infinite = np.isinf(values)
        finite = np.where(infinite, 0.0, values)
        kind = 3 * labels + np.where(infinite, np.sign(values), 0.0).astype(np.int64) + 1
        labels = _split(np.unique(kind, return_inverse=True)[1], states, finite, np.abs(finite), width)
    return labels


def _divided(interval: Intervals, scales: Vector) -> tuple[Vector, Vector]:
    low, high = interval.low / scales, interval.high / scales
    return np.where(scales < 0, high, low), np.where(scales < 0, low, high)


def _split(labels: Labels, states: Array, values: Vector, sizes: Vector, width: float) -> Labels:
    """Finer labels: members whose states differ, or between whose sorted values there is a gap, are told apart."""
    together = np.flatnonzero(np.bincount(labels)[labels] > 1)
    if 2 * together.size > labels.size:
        return _split_sorted(labels, states, values, sizes, width)
    # Who is alone stays alone, and need not be sorted.
    finer = labels.copy()
    parts = _split_sorted(labels[together], states[together], values[together], sizes[together], width)
    finer[together] = parts + labels.max(initial=0) + 1
    is_used = np.bincount(finer) > 0
    renumbered: Labels = (np.cumsum(is_used) - 1)[finer]
    return renumbered


def _split_sorted(labels: Labels, states: Array, values: Vector, sizes: Vector, width: float) -> Labels:
    rests: Flags = (states.astype(np.int64) & RESTS) != 0
    order = np.lexsort((values, rests, labels))
    value, size = values[order], sizes[order]
    apart = np.ones(order.size, bool)
    gap = value[1:] - value[:-1] > width * np.maximum(size[1:], size[:-1])
    apart[1:] = gap | (np.diff(labels[order]) != 0) | (rests[order][1:] != rests[order][:-1])
    # A chain of near neighbours whose ends are too far apart is refused whole: where to cut it would be arbitrary.
    chain, starts = np.cumsum(apart) - 1, np.flatnonzero(apart)
    ends = np.append(starts[1:], order.size) - 1
    is_wide = value[ends] - value[starts] > width * np.maximum.reduceat(size, starts) if starts.size else starts > 0
    apart[1:] |= is_wide[chain][1:] & (np.diff(value) != 0)
    finer = np.empty(order.size, np.int64)
    finer[order] = np.cumsum(apart) - 1
    return finer
