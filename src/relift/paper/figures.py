"""One style for all figures: readable when printed small, colours that most eyes tell apart, PNG and SVG.

>>> figure, axes = new_figure(1)
>>> _ = axes[0].plot([1, 2, 3], color=COLOURS[0], marker=MARKERS[0])
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from relift.report.plot_points import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture
    from matplotlib.typing import RcKeyType

MARKERS = ("o", "s", "^", "D", "v", "P")
"""To go with the colours, so that no colour carries a meaning alone."""

STYLE: dict[RcKeyType, object] = {
    "font.family": "DejaVu Sans",
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.labelsize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 10,
    "lines.linewidth": 2.0,
    "lines.markersize": 6.5,
    "svg.fonttype": "path",
    "svg.hashsalt": "relift",
    "figure.facecolor": "white",
}

__all__ = ["COLOURS", "MARKERS", "STYLE", "new_figure", "picture_bytes"]


def new_figure(
    n_columns: int = 1, n_rows: int = 1, *, size: tuple[float, float] = (4.6, 3.6), dpi: int = 200, **subplots: Any
) -> tuple[Picture, list[Axes]]:
    """Make a figure with axes side by side, in the common style, without touching the global state of matplotlib.

    Parameters
    ----------
    n_columns, n_rows
        How many axes.
    size
        Width and height of each, in inches.
    dpi
        Pixels for each inch of the PNG.
    subplots
        Handed to ``Figure.subplots``, such as ``sharey=True`` or ``subplot_kw``.

    Returns
    -------
    tuple
        The figure, and its axes row by row.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(size[0] * n_columns, size[1] * n_rows), dpi=dpi, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(n_rows, n_columns, squeeze=False, **subplots)
    return figure, list(axes.ravel())


def picture_bytes(figure: Picture, ending: str) -> bytes:
    """Render a figure; the same figure gives the same bytes.

    Parameters
    ----------
    figure
        From :func:`new_figure`.
    ending
        ``"png"`` or ``"svg"``.
    """
    import matplotlib as mpl

    file = io.BytesIO()
    metadata = {"Date": None} if ending == "svg" else {"Software": None}
    with mpl.rc_context(STYLE):
        figure.savefig(file, format=ending, metadata=metadata)
    return file.getvalue()
