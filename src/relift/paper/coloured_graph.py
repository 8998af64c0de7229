"""A quadratic program as a coloured graph, and its quotient: the picture of the last step of the paper's section 4.

Variables are circles, constraints are squares; an entry of Q joins two variables, an entry of A a constraint and a
variable, and equal entries have lines of one kind. Colour refinement colours the vertices; those of one colour become
one vertex of the quotient, whose entries are those of the smaller program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from relift.arrays import Labels
from relift.paper.figures import COLOURS, new_figure
from relift.pipeline import lift
from relift.program.program import Program

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

_LINES = ("-", "--", ":", "-.")
_INK = "#444444"


def draw_coloured_graph(program: Program) -> Picture:
    """Draw a program as written, with the colours of counting refinement, and its two quotients.

    Parameters
    ----------
    program
        A small quadratic program whose bounds are rows of their own.
    """
    figure, panels = new_figure(4, size=(3.3, 3.7))
    nothing = np.zeros(program.n_variables, dtype=int), np.zeros(program.n_rows, dtype=int)
    _draw(panels[0], program, *nothing, "as a graph, before refinement")
    counting = lift(program, lift="counting", reduce=False)
    labels = counting.variables.labels, counting.rows.labels
    _draw(panels[1], program, *labels, "counting: two colours each")
    for axes, method, title in (
        (panels[2], "counting", "its quotient"),
        (panels[3], "equitable", "the quotient by sums"),
    ):
        lifting = lift(program, lift=method, reduce=False)  # type: ignore[arg-type]
        small = lifting.small
        _draw(axes, small, np.arange(small.n_variables), np.arange(small.n_rows), title)
    return figure


def _places(n: int, radius: float) -> np.ndarray:
    if n == 1:
        return np.array([[0.0, 0.55 if radius < 1.2 else -0.55]])
    angles = np.pi / 4 + 2 * np.pi * np.arange(n) / n if n > 2 else np.array([np.pi, 0.0])
    return radius * np.column_stack([np.cos(angles), np.sin(angles)]) + (
        np.zeros(2) if n > 2 else np.array([0.0, 0.55 if radius < 1.2 else -0.55])
    )


def _draw(axes: Axes, program: Program, variables: Labels, rows: Labels, title: str) -> None:
    P = np.zeros((program.n_variables,) * 2) if program.P is None else program.P.toarray() / 2
    A = program.A.toarray()
    at, beside = _places(len(P), 0.85), _places(len(A), 1.65)
    kinds = sorted({round(float(P[i, j]), 9) for i in range(len(P)) for j in range(i) if P[i, j]})
    for i in range(len(P)):
        for j in range(i):
            if P[i, j]:
                kind = kinds.index(round(float(P[i, j]), 9))
                axes.plot(*at[[i, j]].T, color=_INK, lw=1.6, ls=_LINES[kind % 4], zorder=1)
                _tell(axes, at[i] + 0.34 * (at[j] - at[i]), f"{P[i, j]:g}")
    for r, i in np.argwhere(A):
        axes.plot(*np.stack([beside[r], at[i]]).T, color="#aaaaaa", lw=1.2, zorder=1)
    n_colours = int(max(variables, default=0)) + 1
    for i, place in enumerate(at):
        axes.plot(*place, "o", ms=23, color=COLOURS[variables[i] % len(COLOURS)], zorder=2)
        axes.annotate(f"x{i + 1}\n{P[i, i]:g}", place, color="white", ha="center", va="center", fontsize=8, zorder=3)
    for r, place in enumerate(beside):
        axes.plot(*place, "s", ms=16, color=COLOURS[(n_colours + rows[r]) % len(COLOURS)], zorder=2)
        axes.annotate(f"≥{program.l[r]:g}", place, color="white", ha="center", va="center", fontsize=8, zorder=3)
    axes.set_title(title, fontsize=11)
    axes.set_xlim(-1.75, 1.75)
    axes.set_ylim(-1.75, 1.75)
    axes.set_aspect("equal")
    axes.set_axis_off()


def _tell(axes: Axes, place: tuple[float, float], text: str) -> None:
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"}
    axes.annotate(text.replace("-", "−"), place, fontsize=8, ha="center", va="center", color=_INK, bbox=box, zorder=2)
