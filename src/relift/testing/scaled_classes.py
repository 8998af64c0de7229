"""Classes up to scale in fractions, by the definition: slow, obvious, and sharing nothing with the search.

A vertex is at rest, or has a scale. In each round all sums into all classes are taken; what is at rest and has a sum
that is not 0 wakes, with the scale that its first such sum tells; classes are parted by all sums, divided by the
scales. The end is reached when nothing wakes and nothing is parted (``docs/mathematics.md``, Theorem 2).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, NamedTuple, final

import numpy as np

from relift.program.program import Program

Number = Fraction | float
"""A fraction, or an infinity."""


@final
@dataclass(frozen=True)
class SlowClasses:
    """Labels and scales of variables and rows; at rest the label is -1 and the scale 0."""

    variables: list[int]
    variable_scales: list[Fraction]
    rows: list[int]
    row_scales: list[Fraction]


class _Vertex(NamedTuple):
    scale: Fraction
    is_awake: bool
    has_open_size: bool
    has_open_sign: bool
    colour: Hashable


def classes_up_to_scale(
    program: Program,
    *,
    masses: tuple[Sequence[float], Sequence[float]] | None = None,
    sizes: bool = True,
    signs: bool = True,
    by_bits: bool = False,
) -> SlowClasses:
    """Find the coarsest classes up to scale of a small linear or quadratic program.

    Parameters
    ----------
    program
        A minimisation.
    masses
        Those of variables and of rows; None if all are 1.
    sizes, signs
        Whether sizes, and signs, may differ inside a class.
    by_bits
        Read floats as their binary values, not as the shortest decimals that print them.

    Examples
    --------
    >>> found = classes_up_to_scale(Program(q=[1, 2, 0], A=[[1, 2, 0], [3, -6, 1]], l=[4, 0], u=[4, 0], lb=0))
    >>> found.variables, [float(scale) for scale in found.variable_scales]
    ([0, 0, -1], [1.0, 0.5, 0.0])
    """

    def exact(value: float) -> Number:
        if np.isinf(value):
            return float(value)
        return Fraction(float(value)) if by_bits else Fraction(repr(float(value)))

    n, m = program.n_variables, program.n_rows
    ones = [Fraction(1)] * (n + m)
    mass = ones if masses is None else [Fraction(value) for part in masses for value in part]
    vertices = [
        _variable(exact(program.q[j]), exact(program.lb[j]), exact(program.ub[j]), mass[j], sizes, signs)
        for j in range(n)
    ] + [_row(exact(program.l[i]), exact(program.u[i]), sizes, signs) for i in range(m)]
    edges = _edges(program, exact)
    labels = _numbered([(t < n, vertex.colour) for t, vertex in enumerate(vertices)])
    while True:
        seen = [_sums(t, edges[t], vertices, labels, mass, n) for t in range(n + m)]
        woken = [t for t in range(n + m) if seen[t] and not vertices[t].is_awake]
        for t in woken:
            vertices[t] = _woken(vertices[t], seen[t][min(seen[t])], mass[t], is_row=t >= n)
        keys: list[Hashable] = []
        for t, vertex in enumerate(vertices):
            divisor = vertex.scale if t >= n else mass[t] / vertex.scale
            shares = tuple(sorted((label, total / divisor) for label, total in seen[t].items()))
            keys.append((labels[t], vertex.is_awake, shares))
        finer = _numbered(keys)
        is_done = not woken and max(finer, default=0) == max(labels, default=0)
        labels = finer
        if is_done:
            return _result(labels, vertices, n)


def _variable(q: Number, low: Number, high: Number, mass: Fraction, sizes: bool, signs: bool) -> _Vertex:
    size = _longest(low, high) if sizes else Fraction(1)
    if size is None and q != 0:
        size = mass / abs(Fraction(q))
    is_symmetric = low == -high
    negative = signs and (q < 0 if is_symmetric else high < -low)
    scale = (Fraction(1) if size is None else size) * (-1 if negative else 1)
    is_awake = q != 0 or low > 0 or high < 0
    colour = (*_divided(low, high, scale), Fraction(q) * scale / mass)
    return _Vertex(scale, is_awake, size is None, signs and is_symmetric and q == 0, colour)


def _row(low: Number, high: Number, sizes: bool, signs: bool) -> _Vertex:
    size = _longest(low, high) if sizes else Fraction(1)
    is_symmetric = low == -high
    negative = signs and not is_symmetric and high < -low
    scale = (Fraction(1) if size is None else size) * (-1 if negative else 1)
    is_awake = low > 0 or high < 0
    return _Vertex(scale, is_awake, size is None, signs and is_symmetric, _divided(low, high, scale))


def _longest(low: Number, high: Number) -> Fraction | None:
    found = [abs(Fraction(bound)) for bound in (low, high) if bound not in (0, inf, -inf)]
    return max(found, default=None)


def _divided(low: Number, high: Number, scale: Fraction) -> tuple[Number, Number]:
    parts = [bound * (1 if scale > 0 else -1) if bound in (inf, -inf) else bound / scale for bound in (low, high)]
    return (parts[0], parts[1]) if scale > 0 else (parts[1], parts[0])


def _edges(program: Program, exact: Any) -> list[list[tuple[int, Fraction, bool]]]:
    """For each vertex its neighbours, the entries, and whether they stand in P."""
    n, m = program.n_variables, program.n_rows
    edges: list[list[tuple[int, Fraction, bool]]] = [[] for _ in range(n + m)]
    listed = program.A.tocoo()
    for i, j, value in zip(*listed.coords, listed.data, strict=True):
        if value:
            edges[n + i].append((int(j), exact(value), False))
            edges[j].append((n + int(i), exact(value), False))
    if program.P is not None:
        listed = program.P.tocoo()
        for i, j, value in zip(*listed.coords, listed.data, strict=True):
            if value:
                edges[i].append((int(j), exact(value), True))
    return edges


def _sums(
    t: int,
    edges: Sequence[tuple[int, Fraction, bool]],
    vertices: Sequence[_Vertex],
    labels: Sequence[int],
    mass: Sequence[Fraction],
    n: int,
) -> dict[tuple[bool, int], Fraction]:
    """The sums into each class that are not 0."""
    sums: dict[tuple[bool, int], Fraction] = {}
    for s, value, is_in_P in edges:
        if vertices[s].is_awake:
            weight = vertices[s].scale if s < n else mass[s] / vertices[s].scale
            key = (is_in_P, labels[s])
            sums[key] = sums.get(key, Fraction(0)) + value * weight
    return {key: total for key, total in sums.items() if total}


def _woken(vertex: _Vertex, total: Fraction, mass: Fraction, *, is_row: bool) -> _Vertex:
    size = abs(vertex.scale)
    if vertex.has_open_size:
        size = abs(total) if is_row else mass / abs(total)
    is_negative = total < 0 if vertex.has_open_sign else vertex.scale < 0
    return vertex._replace(scale=-size if is_negative else size, is_awake=True)


def _numbered(keys: Sequence[Hashable]) -> list[int]:
    seen: dict[Hashable, int] = {}
    return [seen.setdefault(key, len(seen)) for key in keys]


def _result(labels: Sequence[int], vertices: Sequence[_Vertex], n: int) -> SlowClasses:
    first = {label: t for t, label in reversed(list(enumerate(labels)))}
    scales = [
        vertex.scale / vertices[first[label]].scale if vertex.is_awake else Fraction(0)
        for label, vertex in zip(labels, vertices, strict=True)
    ]
    found = [label if vertex.is_awake else -1 for label, vertex in zip(labels, vertices, strict=True)]
    variables, rows = (_awake_first(part) for part in (found[:n], found[n:]))
    return SlowClasses(variables, scales[:n], rows, scales[n:])


def _awake_first(labels: Sequence[int]) -> list[int]:
    seen: dict[int, int] = {}
    return [-1 if label < 0 else seen.setdefault(label, len(seen)) for label in labels]
