"""Approximate orbits of three-dimensional point sets under a budget of 4 and of 5 orbits.

Points whose sorted distances to 2500 anchors are similar fall into one class (:func:`relift.approximate_orbits`). The
paper does so with 327,323 points of a scan in less than 5 seconds; here any PLY, OBJ, NPY or NPZ file does, and without
one a knot with as many points is made up.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Matrix, Single
from relift.errors import OptionError
from relift.formats.points import SUFFIXES, read_points
from relift.ml.point_signatures import PointClasses, approximate_orbits
from relift.paper.figures import new_figure
from relift.paper.framework import Comparison, Experiment, Figure, Part, Report, Request, Row, Setup, Table
from relift.paper.shaded_points import shaded_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

PAPER_POINTS, PAPER_ANCHORS, PAPER_SECONDS = 327_323, 2500, 5.0


def trefoil_knot(n_points: int, seed: int = 0) -> Matrix:
    """Points on a tube around a trefoil knot, which has a threefold symmetry.

    Parameters
    ----------
    n_points
        How many.
    seed
        Of their places on the tube.
    """
    random = np.random.default_rng(seed)
    along, around = random.uniform(0, 2 * np.pi, (2, n_points))
    middle = np.column_stack(
        [np.sin(along) + 2 * np.sin(2 * along), np.cos(along) - 2 * np.cos(2 * along), -np.sin(3 * along)]
    )
    outwards = middle / np.linalg.norm(middle, axis=1, keepdims=True)
    tube = outwards * np.cos(around)[:, None] + np.array([0, 0, 1.0]) * np.sin(around)[:, None]
    return np.asarray(middle + 0.4 * tube)


def direct_orbits(points: Matrix, n_classes: int, n_anchors: int, block: int = 4096) -> NDArray[np.int64]:
    """The straightforward way with NumPy and scikit-learn, in single precision and bounded memory.

    Parameters
    ----------
    points
        One in each row.
    n_classes, n_anchors
        Budget, and how many points are anchors.
    block
        Points whose signatures are held at a time.
    """
    from sklearn.cluster import MiniBatchKMeans

    X = (points - points.mean(axis=0)).astype(np.float32)
    anchors = X[np.sort(np.random.default_rng(0).permutation(len(X))[:n_anchors])]
    squares = (anchors**2).sum(axis=1)

    def signatures(part: Single) -> Single:
        distances: Single = (part**2).sum(axis=1)[:, None] + squares - 2 * part @ anchors.T
        np.sqrt(np.maximum(distances, 0, out=distances), out=distances)
        distances.sort(axis=1)
        scaled: Single = distances / np.float32(np.sqrt(n_anchors))
        return scaled

    clusterer = MiniBatchKMeans(n_classes, random_state=0).fit(signatures(anchors))
    labels = np.empty(len(X), dtype=np.int64)
    for begin in range(0, len(X), block):
        labels[begin : begin + block] = clusterer.predict(signatures(X[begin : begin + block]))
    return labels


def is_point_set(path: Path) -> bool:
    """Whether a path is a point set, or a folder with some, itself or under ``scans``."""
    return bool(_files_of(path))


def _files_of(path: Path) -> list[Path]:
    if path.is_dir():
        folder = path / "scans" if (path / "scans").is_dir() else path
        return sorted(file for file in folder.iterdir() if file.is_file() and file.name.lower().endswith(SUFFIXES))
    return [path] if path.is_file() and path.name.lower().endswith(SUFFIXES) else []


def settings(request: Request) -> Row:
    """Budgets, anchors, and which shapes, by the checksums of their files."""
    files = list(dict.fromkeys(file for path in request.data for file in _files_of(path)))
    names = [file.name.split(".")[0] for file in files]
    same = {name: sum(_file_name(name) == _file_name(other) for other in names) for name in names}
    shapes = [
        {
            "name": name if same[name] == 1 else f"{name} ({k + 1})",
            "file": k,
            "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        }
        for k, (file, name) in enumerate(zip(files, names, strict=True))
    ]
    return {
        "budgets": [4, 5],
        "anchors": PAPER_ANCHORS,
        "shapes": shapes or [{"name": "knot", "points": PAPER_POINTS}],
        "repeats": 1 if request.quick else 3,
        "compared_points": 2000 if request.quick else None,
    }


@lru_cache(maxsize=2)
def _read(path: Path) -> Matrix:
    return read_points(path)


def points_of(setup: Setup, shape: Row) -> Matrix:
    """The points of a shape, read or made."""
    if "points" in shape:
        return trefoil_knot(shape["points"], setup.seed)
    files = list(dict.fromkeys(file for path in setup.request.data for file in _files_of(path)))
    return _read(files[shape["file"]])


def parts(setup: Setup) -> list[Part]:
    """One for each shape and budget."""
    seconds = 4.0 if setup["compared_points"] else 50.0
    return [
        Part(
            f"{_file_name(shape['name'])}-{budget}",
            f"{shape['name']}, {budget} orbits",
            {"shape": k, "budget": budget},
            seconds,
        )
        for k, shape in enumerate(setup["shapes"])
        for budget in setup["budgets"]
    ]


def _file_name(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in name)


def _orbits(setup: Setup, points: Matrix, budget: int) -> PointClasses:
    if len(points) < budget:
        raise OptionError(f"{budget} orbits of {len(points)} points.", "Give a larger point set.")
    return approximate_orbits(points, budget, setup["anchors"], random_state=setup.seed)


def run(setup: Setup, part: Part) -> list[Row]:
    """Label all points, and compare with direct evaluation of all of them, or of a sample in a quick run."""
    shape = setup["shapes"][part["shape"]]
    points = points_of(setup, shape)
    approximate_orbits(points[:3000], min(2, len(points)), 300)  # imports and first calls
    times, walls = [], []
    for _ in range(setup["repeats"]):
        start, wall = process_time(), perf_counter()
        found = _orbits(setup, points, part["budget"])
        times.append(process_time() - start)
        walls.append(perf_counter() - wall)
    sample = np.arange(len(points))
    if setup["compared_points"] is not None:
        sample = np.random.default_rng(setup.seed).permutation(len(points))[: setup["compared_points"]]
    different = int((found.labels[sample] != found.direct_labels(points[sample])).sum())
    direct_seconds = None
    if setup["compared_points"] is None:
        start = process_time()
        direct_orbits(points, part["budget"], setup["anchors"])
        direct_seconds = process_time() - start
    return [
        {
            "shape": shape["name"],
            "budget": part["budget"],
            "points": len(points),
            "anchors": min(setup["anchors"], len(points)),
            "seconds": min(times),
            "wall_seconds": min(walls),
            "signatures": int(found.n_signatures),
            "sizes": np.bincount(found.labels, minlength=part["budget"]).tolist(),
            "compared": len(sample),
            "different": different,
            "direct_seconds": direct_seconds,
        }
    ]


def report(setup: Setup, rows: list[Row]) -> Report:
    """Seconds beside the paper's, and a picture of each shape."""
    lines = []
    for row in rows:
        name = f"{row['shape']}, {row['budget']} orbits"
        note = f"{row['points']:,} points; the paper has {PAPER_POINTS:,} in less than 5 s"
        lines.append(Comparison(f"{name}: seconds", PAPER_SECONDS, row["seconds"], "s", note=note))
        each = 1e6 * PAPER_SECONDS / PAPER_POINTS, 1e6 * row["seconds"] / row["points"]
        lines.append(Comparison(f"{name}: µs for each point", *each))
    table = Table(
        "Approximate orbits",
        ("shape", "orbits", "points", "anchors", "CPU s", "signatures", "labels unlike direct", "direct CPU s"),
        [
            (
                row["shape"],
                str(row["budget"]),
                f"{row['points']:,}",
                f"{row['anchors']:,}",
                f"{row['seconds']:.2f}",
                f"{row['signatures']:,}",
                f"{row['different']} of {row['compared']:,}",
                "–"
                if row["direct_seconds"] is None
                else f"{row['direct_seconds']:.1f} ({row['direct_seconds'] / row['seconds']:.0f}×)",
            )
            for row in rows
        ],
        f"CPU seconds: smallest of {setup['repeats']}, one thread. Labels are compared with those of each point's own "
        "signature against the same centres, in double precision. Direct: NumPy and scikit-learn, single precision, "
        "every point.",
    )
    text = [
        "The signature of a point is the sorted list of its distances to the anchors; k-means groups signatures into "
        "as many classes as the budget allows. A signature changes no faster than its point moves, so one signature in "
        "the middle of a cell labels the whole cell when no border between two classes is near: the labels are those "
        "of direct evaluation, at the price of a signature for every few points. Clustering the signatures of the "
        "anchors takes the same time for every shape, which shows in the microseconds for each point of a small one.",
        "Equal signatures do not prove a symmetry (see the experiment `theorems`): the classes are a proposal, and "
        "what is solved with them needs a gap.",
    ]
    if any("points" in shape for shape in setup["shapes"]):
        text.append(
            f"No file was given, so the shape is made up: a trefoil knot of {setup['shapes'][0]['points']:,} points. "
            "Give your own by `--data FILE` (PLY, OBJ, NPY or NPZ), or a folder of them."
        )
    return Report(lines, text, [table], [_figure(setup, shape) for shape in setup["shapes"]])


def _figure(setup: Setup, shape: Row) -> Figure:
    budgets = " and ".join(str(budget) for budget in setup["budgets"])
    return Figure(
        f"orbits_{_file_name(shape['name'])}",
        f"{shape['name']}: at most {budgets} approximate orbits. One colour is one class; colours go from the "
        "middle of the shape outwards.",
        lambda: _draw(setup, shape),
    )


def _draw(setup: Setup, shape: Row) -> Picture:
    points = points_of(setup, shape)
    figure, panels = new_figure(len(setup["budgets"]), size=(5.0, 4.2), dpi=130)
    for axes, budget in zip(panels, setup["budgets"], strict=True):
        found = _orbits(setup, points, budget)
        rank = np.argsort(np.argsort(found.centres.mean(axis=1)))
        axes.imshow(shaded_picture(points, rank[found.labels]), interpolation="bilinear")
        axes.set_title(f"{budget} orbits")
        axes.set_axis_off()
    return figure


EXPERIMENT = Experiment(
    name="shapes",
    title="Approximate orbits of shapes",
    shows="Points of a shape that look alike by their distances, in a budget of 4 and 5 orbits.",
    full_seconds=100,
    quick_seconds=12,
    settings=settings,
    parts=parts,
    run=run,
    report=report,
    takes=is_point_set,
    data_help="point sets (.ply, .obj, .npy, .npz) or a folder with some",
)
