"""Pictures of classes of points: a PNG by matplotlib, an interactive page by plotly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from relift.arrays import Array, Matrix
from relift.atomic import write_atomically
from relift.errors import MissingPackageError, OptionError, ShapeError

COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb", "#222255", "#994455", "#44aa99")
"""Told apart by most eyes; repeated when there are more classes."""


def plot_points(
    points: ArrayLike,
    labels: ArrayLike,
    path: str | Path,
    *,
    title: str = "",
    up: int = 1,
    most_points: int = 60_000,
    elevation: float = 15.0,
    turn: float = -60.0,
) -> Path:
    """Draw points in two or three dimensions, coloured by class, and return the path that was written.

    Parameters
    ----------
    points
        One in each row, with two or three coordinates.
    labels
        The class of each point, small whole numbers.
    path
        ``.png`` (or another format of matplotlib), or ``.html`` for an interactive page.
    title
        Above the picture.
    up
        Which coordinate points upwards in three dimensions; scans have 1.
    most_points
        Of more points an even selection is drawn.
    elevation, turn
        Where one looks from, in degrees.

    Raises
    ------
    ShapeError
        If points and labels do not fit, or points are not in two or three dimensions.
    OptionError
        If the path has no ending.
    MissingPackageError
        If matplotlib, or plotly for a page, is not installed.
    """
    where = Path(path)
    coordinates, classes = np.asarray(points, dtype=np.float64), np.asarray(labels, dtype=np.int64)
    if coordinates.ndim != 2 or coordinates.shape[1] not in (2, 3):
        raise ShapeError(f"points have shape {coordinates.shape}.", "Give two or three coordinates.", argument="points")
    if classes.shape != (len(coordinates),):
        raise ShapeError(f"labels have shape {classes.shape}.", "Give one for each point.", argument="labels")
    if not where.suffix:
        raise OptionError(f"the path {str(where)!r} has no ending.", "Let it end in .png or .html.")
    step = -(-len(coordinates) // most_points)
    coordinates, classes = coordinates[::step], classes[::step]
    if coordinates.shape[1] == 3:
        # The vertical axis of a picture is its last one; the turn keeps left and right.
        coordinates = np.roll(coordinates, 2 - up, axis=1)
    colours = np.array(COLOURS)[classes % len(COLOURS)]
    if where.suffix == ".html":
        _write_page(coordinates, colours, title, where)
    else:
        _write_picture(coordinates, colours, title, where, elevation, turn)
    return where


def _write_picture(points: Matrix, colours: Array, title: str, path: Path, elevation: float, turn: float) -> None:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingPackageError("pictures need matplotlib.", "Install it: pip install relift[plot]") from error

    figure = Figure(figsize=(7, 6), dpi=150)
    FigureCanvasAgg(figure)
    size = float(np.clip(6e4 / max(1, len(points)), 0.2, 20.0))
    if points.shape[1] == 3:
        axes: Any = figure.add_subplot(projection="3d")
        axes.scatter(*points.T, c=colours, s=size, linewidths=0, depthshade=True)
        axes.set_box_aspect(np.maximum(np.ptp(points, axis=0), 1e-12))
        axes.view_init(elev=elevation, azim=turn)
    else:
        axes = figure.add_subplot()
        axes.scatter(*points.T, c=colours, s=size, linewidths=0)
        axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title(title)
    with write_atomically(path) as file:
        figure.savefig(file, format=path.suffix[1:], bbox_inches="tight")


def _write_page(points: Matrix, colours: Array, title: str, path: Path) -> None:
    try:
        from plotly import graph_objects as go
    except ImportError as error:
        raise MissingPackageError("interactive pages need plotly.", "Install it: pip install plotly") from error

    marker = {"size": 1.5, "color": colours.tolist()}
    columns = dict(zip("xyz", points.T, strict=False))
    kind = go.Scatter3d if points.shape[1] == 3 else go.Scattergl
    figure = go.Figure(kind(mode="markers", marker=marker, hoverinfo="skip", **columns))
    hidden = {"visible": False}
    figure.update_layout(title=title, showlegend=False)
    if points.shape[1] == 3:
        figure.update_layout(scene={"aspectmode": "data", "xaxis": hidden, "yaxis": hidden, "zaxis": hidden})
    with write_atomically(path) as file:
        file.write(figure.to_html(include_plotlyjs="cdn").encode())
