r"""Approximate orbits of a set of points: points whose sorted distances to the others are nearly the same.

Two points that a symmetry of the set exchanges have equal lists of sorted distances. With m anchors :math:`a_1,
\dots, a_m` drawn from the points, the signature of x is

.. math:: s(x) = \mathrm{sort}(\|x - a_1\|, \dots, \|x - a_m\|) / \sqrt m \in \mathbb{R}^m,

and a clusterer puts similar signatures into one class [1]_. Equal signatures do not prove a symmetry, so the classes
are a proposal: whoever lifts with them must bound the gap (:mod:`relift.ml.dual` does).

**Quick labels, provably those of the slow way.** s is 1-Lipschitz (sorting does not increase distances), and so is
:math:`(\|s-b\|^2 - \|s-a\|^2) / (2\|a-b\|)`, the distance of s from the bisector of two centres. One signature in the
middle of a cell of radius r decides the cell if each bisector is farther than r; undecided cells are halved, down to
single points. Only a few signatures for each hundred points are ever taken
(``core/include/relift/ml/signatures.hpp``).

.. [1] Mladenov, Kleinhans, Kersting: Lifted Convex Quadratic Programming, 2016, section 5.
"""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relift.arrays import Double, Single
from relift.errors import MissingPackageError, NotANumberError, OptionError, ShapeError
from relift.ml import compiled
from relift.ml.device_labels import anchor_signatures, label_on_device
from relift.symmetry.partition import Partition

N_BLOCKS = 64
"""Signatures are shortened to so many block means for the default clusterer."""
BLOCK_BYTES = 64 << 20
"""Memory for signatures that are held at a time."""


@final
@dataclass(frozen=True, eq=False)
class PointClasses:
    """Classes of points by their signatures.

    Parameters
    ----------
    labels
        The class of each point: the number of the centre nearest to its signature, the lowest if several are.
    centres
        The centres, n_classes x anchors, in the units of the signatures.
    anchors
        The anchors, after whitening if that was asked for.
    whitening
        Mean and matrix with which points are whitened; None without whitening.
    n_signatures
        How many signatures were taken to label all points.
    seconds
        Wall-clock time of ``"fit"`` (signatures of the anchors and clustering) and of ``"label"``.
    """

    labels: NDArray[np.int64]
    centres: Double
    anchors: Double
    whitening: tuple[Double, Double] | None
    n_signatures: int
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def partition(self) -> Partition:
        """The classes as a partition, numbered by smallest member; empty clusters vanish."""
        return Partition.from_labels(self.labels)

    def signatures(self, B: ArrayLike) -> Double:
        """Take the signature of each point, one row each."""
        return _signatures(_whitened(np.asarray(B, dtype=np.float64), self.whitening), self.anchors)

    def direct_labels(self, B: ArrayLike) -> NDArray[np.int64]:
        """Label each point by its own signature, in blocks: the slow way, in O(points x anchors log anchors)."""
        return _direct_labels(_whitened(np.asarray(B, dtype=np.float64), self.whitening), self.anchors, self.centres)


def approximate_orbits(
    B: ArrayLike,
    n_classes: int = 5,
    anchors: int = 2500,
    whiten: bool = False,
    clusterer: Any = None,
    random_state: int | None = 0,
    device: str | None = None,
) -> PointClasses:
    """Group points whose sorted distances to the other points are similar, in a budget of classes.

    Parameters
    ----------
    B
        The points, one in each row.
    n_classes
        How many classes at most.
    anchors
        Distances are taken to so many points, drawn at random; to all points if there are fewer.
    whiten
        First turn and scale the points so that their covariance is the identity. A heuristic for points that are
        stretched: it can merge what must not be merged.
    clusterer
        An estimator with ``fit`` and ``cluster_centers_``, such as ``sklearn.cluster.KMeans``; it is fitted to the
        signatures of the anchors. If not given, ``KMeans(n_classes)``, fitted to signatures shortened to 64 block
        means.
    random_state
        Seed of the anchors and of the default clusterer.
    device
        A PyTorch device, such as ``"cuda"``, that takes the signatures and labels the cells. The labels are the same.

    Returns
    -------
    PointClasses
        The labels, and what is needed to label further points.

    Raises
    ------
    OptionError
        If ``n_classes`` or ``anchors`` is out of range, or the clusterer gives no centres.
    ShapeError
        If B is not a matrix with at least one row and column.
    NotANumberError
        If B has a NaN or an infinity.
    MissingPackageError
        If scikit-learn, or PyTorch for a device, is not installed.

    Examples
    --------
    The corners of a square and its middle:

    >>> square = [[1, 1], [1, -1], [0, 0], [-1, 1], [-1, -1]]
    >>> found = approximate_orbits(square, n_classes=2)
    >>> found.partition.labels.tolist()
    [0, 0, 1, 0, 0]
    """
    start = perf_counter()
    points = _checked_points(B)
    n_points = len(points)
    if not 1 <= n_classes <= n_points:
        raise OptionError(f"n_classes={n_classes!r} for {n_points} points.", "Give a number from 1 to the points.")
    if anchors < 1:
        raise OptionError(f"anchors={anchors!r} is out of range.", "Give a positive whole number.")
    random = np.random.default_rng(random_state)
    whitening = _whitening_of(points) if whiten else None
    points = _whitened(points, whitening)
    chosen = np.sort(random.permutation(n_points)[:anchors]) if anchors < n_points else np.arange(n_points)
    anchor_points = points[chosen]
    if device is None:
        signatures = _single_signatures(anchor_points)
    else:
        signatures = anchor_signatures(anchor_points, _distances, device)
    with _one_thread():  # the work is small, and threads that wait for each other are not
        centres = _centres(signatures, n_classes, clusterer, random_state)
    fitted = perf_counter()
    labels, n_signatures = _quick_labels(points, anchor_points, centres, device)
    seconds = {"fit": fitted - start, "label": perf_counter() - fitted}
    return PointClasses(labels, centres, anchor_points, whitening, n_signatures, seconds)


def _one_thread() -> AbstractContextManager[Any]:
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:  # scikit-learn brings it; another clusterer need not
        return nullcontext()
    limited: AbstractContextManager[Any] = threadpool_limits(1)
    return limited


def _checked_points(B: ArrayLike) -> Double:
    points = np.asarray(B, dtype=np.float64)
    if points.ndim != 2 or 0 in points.shape:
        raise ShapeError(f"B has shape {points.shape}.", "Give a matrix, one point in each row.", argument="B")
    if not np.isfinite(points).all():
        row, column = (int(index) for index in np.argwhere(~np.isfinite(points))[0])
        raise NotANumberError(
            f"B[{row}, {column}] is {points[row, column]}.", "Remove such points.", argument="B", entry=(row, column)
        )
    return points


def _centres(signatures: Single, n_classes: int, clusterer: Any, random_state: int | None) -> Double:
    if clusterer is None:
        return _default_centres(signatures, n_classes, random_state)
    clusterer.fit(signatures)
    centres = getattr(clusterer, "cluster_centers_", None)
    if centres is None or np.ndim(centres) != 2 or np.shape(centres)[1] != signatures.shape[1]:
        raise OptionError(
            f"{type(clusterer).__name__} has no fitted cluster_centers_.", "Give a clusterer such as KMeans."
        )
    if len(centres) > n_classes:
        raise OptionError(f"the clusterer gives {len(centres)} centres for n_classes={n_classes}.", "Raise n_classes.")
    # A mean of ascending lists ascends; what a clusterer's rounding disturbs is put in order.
    return np.sort(np.asarray(centres, dtype=np.float64), axis=1)


def _default_centres(signatures: Single, n_classes: int, random_state: int | None) -> Double:
    """Means of the classes that k-means finds in signatures shortened to block means.

    Signatures ascend, so that neighbours in them are close: the projection on blocks of equal entries keeps almost all
    of a distance, and k-means has little to do.
    """
    try:
        from sklearn.cluster import KMeans
    except ImportError as error:
        raise MissingPackageError(
            "approximate_orbits needs scikit-learn, unless a clusterer is given.", "Install it: pip install relift[ml]"
        ) from error
    edges = np.unique(np.linspace(0, signatures.shape[1], N_BLOCKS + 1).astype(np.int64))
    shortened = np.add.reduceat(signatures, edges[:-1], axis=1) / np.sqrt(np.diff(edges)).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer distinct points than classes: so many classes then
        of_anchors = KMeans(n_classes, n_init=1, random_state=random_state).fit(shortened).labels_
    found = np.unique(of_anchors)
    return np.sort(np.stack([signatures[of_anchors == c].mean(axis=0, dtype=np.float64) for c in found]), axis=1)


def _whitening_of(points: Double) -> tuple[Double, Double]:
    mean = points.mean(axis=0)
    _, spread, turn = np.linalg.svd(points - mean, full_matrices=False)
    spread = spread / np.sqrt(len(points))
    is_flat = spread <= 1e-12 * spread.max(initial=0.0)
    return mean, turn.T * np.where(is_flat, 0.0, 1.0 / np.where(is_flat, 1.0, spread))


def _whitened(points: Double, whitening: tuple[Double, Double] | None) -> Double:
    return points if whitening is None else (points - whitening[0]) @ whitening[1]


def _distances(points: Double, anchors: Double) -> Double:
    from scipy.spatial.distance import cdist

    distances: Double = cdist(points, anchors)
    return distances


def _signatures(points: Double, anchors: Double) -> Double:
    distances = _distances(points, anchors)
    distances.sort(axis=1)
    distances /= np.sqrt(len(anchors))
    return distances


def _single_signatures(anchors: Double) -> Single:
    """The signatures of the anchors; rounding is monotone, so that the rounded may be sorted."""
    distances = _distances(anchors, anchors)
    distances /= np.sqrt(len(anchors))
    rounded = distances.astype(np.float32)
    rounded.sort(axis=1)
    return rounded


def _direct_labels(points: Double, anchors: Double, centres: Double) -> NDArray[np.int64]:
    labels = np.empty(len(points), dtype=np.int64)
    size = max(1, BLOCK_BYTES // (16 * len(anchors)))
    for begin in range(0, len(points), size):
        signatures = _signatures(points[begin : begin + size], anchors)
        squares = np.stack([((signatures - centre) ** 2).sum(axis=1) for centre in centres], axis=1)
        labels[begin : begin + size] = squares.argmin(axis=1)
    return labels


def _quick_labels(
    points: Double, anchors: Double, centres: Double, device: str | None
) -> tuple[NDArray[np.int64], int]:
    """By cells; what rounding could decide is labelled directly."""
    if device is None:
        quick, n_signatures = _labels_here(points, anchors, centres)
    else:
        quick, n_signatures = label_on_device(points, anchors, centres, device)
    is_open = np.flatnonzero(quick < 0)
    quick[is_open] = _direct_labels(points[is_open], anchors, centres)
    return quick, n_signatures + len(is_open)


def _labels_here(points: Double, anchors: Double, centres: Double) -> tuple[NDArray[np.int64], int]:
    middle = anchors.mean(axis=0)
    # Of unit size around zero, so that single precision loses nothing to the place and scale of the points.
    scale = max(float(np.abs(points - middle).max()), np.finfo(np.float64).tiny)
    quick, n_signatures = compiled.label_by_signature(
        ((points - middle) / scale).astype(np.float32),
        ((anchors - middle) / scale).astype(np.float32),
        np.ascontiguousarray(centres / scale),
    )
    return quick.astype(np.int64), n_signatures
