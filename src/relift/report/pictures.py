"""Small pictures as SVG text: bars, histograms, patterns of matrices, the coloured graph of a small program.

Colours are CSS variables of the page, so that they follow its light or dark scheme.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from relift.arrays import SparseMatrix, Vector

CELLS = 96
"""A pattern is drawn with at most so many cells along each side."""
GRAPH = 80
"""Graphs of more nodes than this are not drawn."""


def bars(lines: Sequence[tuple[str, float, str]], limit: float | None = None) -> str:
    """Draw horizontal bars with a label, a length between 0 and 1, and a text; a line marks the limit.

    They are boxes and no SVG, so that the text keeps its size on a narrow screen.

    Parameters
    ----------
    lines
        Label, length and text of each bar.
    limit
        Where to draw the line, between 0 and 1; None for none.

    Examples
    --------
    >>> print(bars([("time", 0.5, "1 s")]))
    <div class="bars"><span>time</span><div class="rail"><i style="width:50.0%"></i></div><span>1 s</span></div>
    """
    mark = "" if limit is None else f'<b style="left:{100 * limit:.1f}%"></b>'
    parts = []
    for label, length, text in lines:
        width = f"{100 * min(max(length, 0.004), 1.0):.1f}%" if length > 0 else "0"
        rail = f'<div class="rail"><i style="width:{width}"></i>{mark}</div>'
        parts.append(f"<span>{escape(label)}</span>{rail}<span>{escape(text)}</span>")
    return f'<div class="bars">{"".join(parts)}</div>'


def histogram(sizes: NDArray[np.int64]) -> str:
    """Draw how many classes have how many members, in powers of two; lengths are logarithms.

    Parameters
    ----------
    sizes
        Members of each class.
    """
    if not sizes.size:
        return ""
    powers = np.floor(np.log2(np.maximum(sizes, 1))).astype(np.int64)
    counts = np.bincount(powers)
    most = int(counts.max())
    lines = []
    for k, count in enumerate(counts.tolist()):
        label = "1 member" if k == 0 else f"{2**k:,} to {2 ** (k + 1) - 1:,} members"
        lines.append((label, math.log1p(count) / math.log1p(most), f"{count:,}"))
    return bars(lines)


def pattern(matrix: SparseMatrix, rows: NDArray[np.int64], columns: NDArray[np.int64], title: str) -> str:
    """Draw where a matrix has entries, rows and columns in the order of their classes; darker is denser.

    Parameters
    ----------
    matrix
        The matrix.
    rows, columns
        Classes, by which rows and columns are ordered.
    title
        What it is.
    """
    m, n = matrix.shape
    if not m or not n:
        return ""
    place_of_row, place_of_column = (
        np.argsort(np.argsort(rows, kind="stable")),
        np.argsort(np.argsort(columns, kind="stable")),
    )
    high, wide = min(CELLS, m), min(CELLS, n)
    entries = matrix.tocoo()
    i = place_of_row[entries.coords[0]] * high // m
    j = place_of_column[entries.coords[1]] * wide // n
    counts = np.bincount(i * wide + j, minlength=high * wide)
    full = (m / high) * (n / wide)
    size = int(np.clip(240 // max(high, wide), 4, 16))
    cells = [
        f'<rect x="{k % wide * size}" y="{k // wide * size}" width="{size}" height="{size}" '
        f'opacity="{0.25 + 0.75 * min(1.0, counts[k] / full):.2f}"/>'
        for k in np.flatnonzero(counts).tolist()
    ]
    box = f'<rect class="frame" width="{wide * size}" height="{high * size}"/>'
    return (
        f'<figure><svg class="pattern" viewBox="-1 -1 {wide * size + 2} {high * size + 2}" role="img" '
        f'style="max-width:{wide * size * 1.2:.0f}px">{box}{"".join(cells)}</svg>'
        f"<figcaption>{escape(title)}: {m:,} × {n:,}</figcaption></figure>"
    )


def graph(matrix: SparseMatrix, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> str:
    """Draw variables and rows of a small program, joined where there is an entry, coloured by class.

    Parameters
    ----------
    matrix
        The matrix of the rows.
    rows, columns
        Classes of rows and variables.
    """
    m, n = matrix.shape
    if not m or not n or m + n > GRAPH:
        return ""
    step = 22
    left, right = _column(n, step, max(m, n)), _column(m, step, max(m, n))
    entries = matrix.tocoo()
    parts = [f'<svg class="graph" viewBox="0 0 260 {max(m, n) * step + 10}" role="img">']
    for i, j in zip(entries.coords[0].tolist(), entries.coords[1].tolist(), strict=True):
        parts.append(f'<line x1="40" y1="{left[j]:.0f}" x2="220" y2="{right[i]:.0f}"/>')
    parts += [f'<circle cx="40" cy="{left[j]:.0f}" r="7" fill="{colour(int(columns[j]))}"/>' for j in range(n)]
    parts += [
        f'<rect x="213" y="{right[i] - 7:.0f}" width="14" height="14" fill="{colour(int(rows[i]) + 1000)}"/>'
        for i in range(m)
    ]
    return "".join(parts) + "</svg>"


def _column(count: int, step: int, most: int) -> Vector:
    return np.asarray((np.arange(count) + 0.5) * step * most / count + 5, dtype=np.float64)


def colour(number: int) -> str:
    """A colour for a class: hues far apart for numbers that are near.

    Examples
    --------
    >>> colour(0), colour(1)
    ('hsl(20 65% 52%)', 'hsl(158 65% 52%)')
    """
    return f"hsl({(20 + number * 137.508) % 360:.0f} 65% 52%)"
