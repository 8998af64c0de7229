"""A picture of a point set as a surface: near points hide far ones, and slopes are shaded."""

from __future__ import annotations

import numpy as np
from scipy import ndimage
from scipy.spatial import cKDTree

from relift.arrays import Flags, Integers, Matrix
from relift.report.plot_points import COLOURS


def shaded_picture(
    points: Matrix, labels: Integers, *, width: int = 620, turn: float = 20.0, tilt: float = 10.0
) -> Matrix:
    """Draw points, coloured by class, as seen from the front (along -z, y upwards).

    Parameters
    ----------
    points
        One in each row, two or three coordinates.
    labels
        Their classes, small whole numbers.
    width
        Of the picture, in pixels.
    turn, tilt
        Degrees by which the set is turned about its vertical axis and tilted towards the eye.

    Returns
    -------
    numpy.ndarray
        Rows of pixels from the top, with red, green and blue from 0 to 1; white where no point is.
    """
    seen = _turned(np.asarray(points, dtype=np.float64), turn, tilt)
    low, high = seen.min(axis=0), seen.max(axis=0)
    scale = (width - 20) / max(high[0] - low[0], 0.75 * (high[1] - low[1]), 1e-300)
    place = (seen[:, :2] - low[:2]) * scale + 10
    height = int(np.ceil((high[1] - low[1]) * scale)) + 20
    columns = int(np.ceil((high[0] - low[0]) * scale)) + 20
    depth = seen[:, 2] * scale
    # A point is a disc that reaches its neighbours, so that a closed surface has no holes.
    some = np.random.default_rng(0).permutation(len(seen))[:3000]
    reach = cKDTree(seen).query(seen[some], k=min(5, len(seen)))[0][:, -1] * scale
    radius = int(np.clip(np.ceil(np.quantile(reach, 0.98)), 1, 8))
    front = np.full((height, columns), -np.inf)
    owner = np.full((height, columns), -1)
    order = np.argsort(depth, kind="stable")
    i, j = place[order, 1].astype(np.int64), place[order, 0].astype(np.int64)
    for di in range(-radius, radius + 1):
        for dj in range(-radius, radius + 1):
            if di * di + dj * dj > radius * radius + 0.5:
                continue
            # Later assignments win, and points come from far to near.
            layer = np.full((height, columns), -1)
            layer[np.clip(i + di, 0, height - 1), np.clip(j + dj, 0, columns - 1)] = order
            nearer = (layer >= 0) & (np.where(layer >= 0, depth[layer], -np.inf) > front)
            front[nearer], owner[nearer] = depth[layer[nearer]], layer[nearer]
    is_drawn = owner >= 0
    colours = np.array([[int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)] for c in COLOURS])
    picture = np.ones((height, columns, 3))
    chosen = colours[np.asarray(labels)[owner[is_drawn]] % len(COLOURS)]
    picture[is_drawn] = chosen * _shade(front, is_drawn)[is_drawn][:, None]
    return np.clip(picture[::-1], 0, 1)


def _turned(points: Matrix, turn: float, tilt: float) -> Matrix:
    if points.shape[1] == 2:
        return np.column_stack([points, np.zeros(len(points))])
    a, b = np.deg2rad(turn), np.deg2rad(tilt)
    about_y = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
    about_x = np.array([[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]])
    turned: Matrix = points @ (about_x @ about_y).T
    return turned


def _shade(front: Matrix, is_drawn: Flags) -> Matrix:
    """Light from the upper left; slopes are those of the smoothed depth."""
    filled, weight = np.where(is_drawn, front, 0.0), is_drawn.astype(float)
    blur = 2.2
    smooth = ndimage.gaussian_filter(filled, blur) / np.maximum(ndimage.gaussian_filter(weight, blur), 1e-6)
    down, right = np.gradient(smooth)
    length = np.sqrt(1 + down**2 + right**2)
    light = (-right * -0.45 - down * 0.5 + 0.74) / length
    return np.asarray(0.35 + 0.75 * np.clip(light, 0, 1))
