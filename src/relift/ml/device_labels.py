r"""Labels of points by signature on a PyTorch device: cells are decided at once, as on the CPU, but level by level.

The points travel once. They are put in the order of a grid whose cells halve in every direction from level to level
(Morton order). At each level, one signature in the middle of each cell that is still open decides the cell if every
bisector of centres is farther than its radius (:mod:`relift.ml.point_signatures` says why that is a proof). Points of
small cells are decided one by one.

**Nothing is sorted.** With distances rounded to ``N_STEPS`` steps h and :math:`c_b` anchors in the steps up to b, the
inner product of the rounded signature and a vector u with prefix sums U is :math:`h\sum_b (U_m - U[c_b]) / \sqrt m`:
a histogram, its running sums, and a sum of rows of a table. Rounding is monotone, so the signature moves by no more
than h / 2, which the decision allows for. What single precision and rounding leave open is decided in double precision
with sorted distances, and what rounding could decide even there by NumPy on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Double, Single
from relift.ml.torch_device import import_torch

if TYPE_CHECKING:
    from torch import Tensor

N_STEPS = 2048
"""Steps to which distances are rounded."""
FEW = 3
"""Cells of so few points are decided point by point."""
MOST_FEATURES = 8
"""With more features, cells hold too few points for their size to be worth a signature."""
BLOCK_BYTES = 512 << 20
"""Memory on the device for signatures that are taken together."""
SINGLE, EXACT = 2.0**-24, 2.0**-53
"""Unit roundoffs."""


def anchor_signatures(anchors: Double, distances: Callable[[Double, Double], Double], device: str) -> Single:
    """The signatures of the anchors in single precision, to the last bit those of the CPU.

    Parameters
    ----------
    anchors
        The anchors, one in each row.
    distances
        Distances between two sets of points on the CPU; taken where their order of summation is not plain.
    device
        The device that sorts them.

    Returns
    -------
    numpy.ndarray
        Sorted distances over the root of their number, one row for each anchor.
    """
    torch = import_torch(device)
    if anchors.shape[1] <= 3:  # up to three squares are added one after the other everywhere
        there = torch.as_tensor(anchors, device=device)
        rows = _distances_by_feature(there, there)
    else:
        rows = torch.as_tensor(distances(anchors, anchors), device=device)
    # Divided by a tensor: a number would be turned into a factor, which rounds otherwise.
    rows /= torch.tensor(len(anchors), dtype=torch.float64, device=device).sqrt()
    sorted_rows: NDArray[np.float32] = rows.to(torch.float32).sort(dim=1).values.cpu().numpy()
    return sorted_rows


def label_on_device(points: Double, anchors: Double, centres: Double, device: str) -> tuple[NDArray[np.int64], int]:
    """The nearest centre of each point's signature, -1 where rounding could decide; and how many signatures were taken.

    Parameters
    ----------
    points, anchors
        One in each row.
    centres
        The centres, each ascending, in the units of the signatures.
    device
        A PyTorch device, such as ``"cuda"``.

    Returns
    -------
    labels
        Numbers of centres.
    n_signatures
        Of cells and of points, those in double precision included.
    """
    torch = import_torch(device)
    # Of unit size around zero, so that single precision loses nothing to the place and scale of the points.
    middle = anchors.mean(axis=0)
    points_there = torch.as_tensor(points, device=device) - torch.as_tensor(middle, device=device)
    scale = max(float(points_there.abs().max()), float(np.finfo(np.float64).tiny))
    unit = torch.tensor(scale, dtype=torch.float64, device=device)
    points_there /= unit
    anchors_there = (torch.as_tensor(anchors, device=device) - torch.as_tensor(middle, device=device)) / unit
    labels = _Labelling(points_there, anchors_there, torch.as_tensor(centres / scale, device=device))
    labels.by_cells()
    return labels.labels.cpu().numpy(), labels.n_signatures


@final
class _Labelling:
    """Points on a device, and the labels that are known so far (-1: open)."""

    def __init__(self, points: Tensor, anchors: Tensor, centres: Tensor) -> None:
        import torch

        self.torch = torch
        self.points, self.anchors, self.centres = points, anchors, centres
        self.single_anchors = anchors.to(torch.float32)
        self.low, self.high = points.amin(dim=0), points.amax(dim=0)
        self.extent = float((self.high - self.low).max())
        corners = torch.cat([self.low[None], self.high[None], anchors])
        # If all points are one, any unit will do.
        self.farthest = max(float((corners.amax(dim=0) - corners.amin(dim=0)).norm()), 1e-30)
        self.labels = torch.full((len(points),), -1, dtype=torch.int64, device=points.device)
        self.n_signatures = 0
        self.side = 0.0  # of the smallest cells
        self._prepare_bisectors()

    def _prepare_bisectors(self) -> None:
        """Distances between centres, and what the inner products with signatures need."""
        torch, centres = self.torch, self.centres
        mean = centres.mean(dim=0)
        shifted = centres - mean
        self.norms = shifted.norm(dim=1)
        # |s - c|^2 = offset - 2 <s, c - mean> + terms without c
        self.offsets = shifted.square().sum(dim=1) + 2.0 * (shifted @ mean)
        self.apart = (centres[:, None, :] - centres[None, :, :]).norm(dim=2)
        self.first_equal = (self.apart == 0.0).to(torch.int64).argmax(dim=1)
        prefix = torch.zeros((centres.shape[1] + 1, len(centres)), dtype=torch.float64, device=centres.device)
        prefix[1:] = shifted.cumsum(dim=1).T
        self.prefix = prefix

    def by_cells(self) -> None:
        """Decide cells from coarse to fine, then points."""
        torch = self.torch
        n_features = self.points.shape[1]
        if n_features > MOST_FEATURES or not self.extent > 0.0:
            self._by_points(torch.arange(len(self.points), device=self.points.device))
            return
        n_levels = min(16, 62 // n_features)
        self.side = self.extent * 2.0**-n_levels
        grid = ((self.points - self.low) / self.side).to(torch.int64).clamp_(0, 2**n_levels - 1)
        codes, order = _morton_codes(grid, n_levels).sort()
        points_for_themselves: list[Tensor] = []
        for rest in range(n_levels - min(n_levels, -(-9 // n_features)), 0, -1):
            is_single, is_open = self._settle_cells(codes >> (rest * n_features), order, grid, rest)
            points_for_themselves.append(order[is_single])
            codes, order = codes[is_open], order[is_open]
            if len(order) <= self._block_size(bytes_of_anchor=24):  # not worth another level
                break
        self._by_points(torch.cat([*points_for_themselves, order]))

    def _settle_cells(self, cells: Tensor, order: Tensor, grid: Tensor, rest: int) -> tuple[Tensor, Tensor]:
        """Label the cells that can be decided; say which points are to be decided by themselves, and which are open.

        ``cells`` has the cell of each point in ``order``, ``rest`` says how often cells can still be halved.
        """
        torch, n_features = self.torch, self.points.shape[1]
        cells, inverse, counts = torch.unique_consecutive(cells, return_inverse=True, return_counts=True)
        is_few = counts <= FEW
        first = (counts.cumsum(dim=0) - counts)[~is_few]
        size = self.side * 2.0**rest
        middles = self.low + ((grid[order[first]] >> rest) + 0.5) * size
        # A point may be rounded into the neighbouring cell: by far less than what is added.
        radius = 0.5 * size * n_features**0.5 + 1e-9 * self.extent
        labels = torch.full_like(cells, -1)
        labels[~is_few] = self._decided(middles.minimum(self.high), radius)  # inside the box: nearer to all points
        of_points, is_single = labels[inverse], is_few[inverse]
        self.labels[order] = of_points
        return is_single, (of_points < 0) & ~is_single

    def _by_points(self, index: Tensor) -> None:
        """Label these points by their own signatures; leave open what rounding could decide."""
        self.labels[index] = self._decided(self.points[index], 0.0)
        index = index[self.labels[index] < 0]
        self.n_signatures += len(index)
        size = self._block_size(bytes_of_anchor=64)
        for begin in range(0, len(index), size):
            block = index[begin : begin + size]
            self.labels[block] = self._decided_exactly(self.points[block])

    def _decided(self, middles: Tensor, radius: float) -> Tensor:
        """Labels of everything within the radius of these points; -1 where it may have several."""
        self.n_signatures += len(middles)
        slack = 0.5 * self.farthest / N_STEPS + self._distance_error(SINGLE)
        rounding = (N_STEPS + 4 * len(self.anchors) + 10) * EXACT
        parts = [self.labels[:0]]
        size = self._block_size(bytes_of_anchor=24)
        for begin in range(0, len(middles), size):
            scores = self._rounded_scores(middles[begin : begin + size])
            parts.append(self._best_of(scores, radius + slack, rounding))
        return self.torch.cat(parts)

    def _rounded_scores(self, middles: Tensor) -> Tensor:
        """Squared distances from rounded signatures to centres, up to a number that all centres share."""
        torch, n_anchors = self.torch, len(self.anchors)
        distances = _distances(middles.to(torch.float32), self.single_anchors)
        numbers = distances.mul_(N_STEPS / self.farthest).add_(0.5).to(torch.int64).clamp_(0, N_STEPS)
        counts = torch.zeros((len(middles), N_STEPS + 1), dtype=torch.int32, device=middles.device)
        one = torch.ones((1, 1), dtype=torch.int32, device=middles.device)
        counts.scatter_add_(1, numbers, one.expand_as(numbers))
        upto = counts.cumsum(dim=1, dtype=torch.int32)[:, :N_STEPS].contiguous()
        sums = torch.nn.functional.embedding_bag(upto, self.prefix, mode="sum")
        unit = self.farthest / N_STEPS / n_anchors**0.5
        scores: Tensor = self.offsets - 2.0 * unit * (N_STEPS * self.prefix[-1] - sums)
        return scores

    def _decided_exactly(self, points: Tensor) -> Tensor:
        """In double precision, with sorted distances."""
        signatures = _distances(points, self.anchors).sort(dim=1).values / len(self.anchors) ** 0.5
        scores = self.offsets - 2.0 * (signatures @ (self.centres - self.centres.mean(dim=0)).T)
        # NumPy's own rounding is as large: twice.
        return self._best_of(scores, 2.0 * self._distance_error(EXACT), 8 * (len(self.anchors) + 10) * EXACT)

    def _best_of(self, scores: Tensor, radius: float, rounding: float) -> Tensor:
        """The best centre of each row if every bisector is farther than the radius, else -1.

        ``rounding`` is the error of an inner product, relative to the sizes of its vectors.
        """
        torch = self.torch
        best = scores.argmin(dim=1)
        apart = self.apart[best]
        errors = rounding * self.farthest * (self.norms[best][:, None] + self.norms + self.farthest) / apart
        margins = (scores - scores.gather(1, best[:, None])) / (2.0 * apart) - errors
        margins[apart == 0.0] = torch.inf  # the centre itself and its equals
        found: Tensor = torch.where(margins.amin(dim=1) > radius, self.first_equal[best], -1)
        return found

    def _block_size(self, bytes_of_anchor: int) -> int:
        return max(1, BLOCK_BYTES // (bytes_of_anchor * len(self.anchors) + 12 * N_STEPS))

    def _distance_error(self, roundoff: float) -> float:
        """How far a distance may be off, rounded coordinates included."""
        n_features = int(self.points.shape[1])
        if n_features <= LOOPED_FEATURES:
            return (n_features + 16) * roundoff * self.farthest
        # The square is off by 8 n (n + 4) roundoffs of double precision; the root of a small number suffers most.
        return float(np.sqrt(8.0 * n_features * (n_features + 4) * EXACT)) + 16 * roundoff * self.farthest


LOOPED_FEATURES = 16
"""Up to so many features, distances are summed feature by feature."""


def _distances(X: Tensor, anchors: Tensor) -> Tensor:
    """Distances between two sets of points of unit size."""
    if X.shape[1] <= LOOPED_FEATURES:
        return _distances_by_feature(X, anchors)
    X, anchors = X.double(), anchors.double()  # single precision would lose half its digits to the difference
    squares = X.square().sum(dim=1)[:, None] + anchors.square().sum(dim=1)
    return squares.addmm_(X, anchors.T, alpha=-2.0).clamp_(min=0.0).sqrt_()


def _distances_by_feature(X: Tensor, anchors: Tensor) -> Tensor:
    """Distances with the squares added one feature after the other, each sum rounded."""
    squares = (X[:, :1] - anchors[:, 0]).square_()
    for feature in range(1, X.shape[1]):
        squares += (X[:, feature, None] - anchors[:, feature]).square_()
    return squares.sqrt_()


def _morton_codes(grid: Tensor, n_levels: int) -> Tensor:
    """Whole coordinates as one number whose leading bits are those of all coordinates."""
    codes = grid[:, 0].new_zeros(len(grid))
    n_features = grid.shape[1]
    for bit in range(n_levels):
        for feature in range(n_features):
            codes |= ((grid[:, feature] >> bit) & 1) << (bit * n_features + feature)
    return codes
