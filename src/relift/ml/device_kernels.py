"""Sums of kernel values on a PyTorch device, block by block.

Squared distances are made of one matrix product in double precision, where the difference of large numbers does no
harm; what follows is in the precision of the points, and sums are in double precision, as on the CPU
(:mod:`relift.ml.compiled`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from relift.arrays import Double, Reals
from relift.ml.torch_device import import_torch

if TYPE_CHECKING:
    from torch import Tensor

BLOCK_BYTES = 512 << 20
"""Memory on the device for kernel values that are held at a time."""


def kernel_sums(
    X: Reals,
    S: Reals,
    weights: Double,
    kernel: str,
    gamma: float,
    coef0: float,
    degree: int,
    device: str,
) -> Double:
    """Sums over the points of S of weight times kernel value, for each point of X and each column of the weights.

    X and S are of one precision.
    """
    torch = import_torch(device)
    out = torch.empty((len(X), *weights.shape[1:]), dtype=torch.float64, device=device)
    factors = torch.as_tensor(weights, dtype=torch.float64, device=device)
    for rows, values in kernel_blocks(X, S, kernel, gamma, coef0, degree, device):
        out[rows] = values.double() @ factors
    return np.asarray(out.cpu().numpy())


def kernel_blocks(
    X: Reals, S: Reals, kernel: str, gamma: float, coef0: float, degree: int, device: str
) -> Iterator[tuple[slice, Tensor]]:
    """The kernel between points of X and all of S, so many rows at a time, in their precision."""
    torch = import_torch(device)
    points, others = (torch.as_tensor(array, device=device).double() for array in (X, S))
    squares = others.square().sum(dim=1)
    precision = torch.float32 if X.dtype == np.float32 else torch.float64
    size = max(1, BLOCK_BYTES // (24 * max(1, len(S))))
    for begin in range(0, len(X), size):
        rows = slice(begin, begin + size)
        part = points[rows]
        if kernel == "rbf":
            apart = part.square().sum(dim=1)[:, None] + squares
            apart.addmm_(part, others.T, alpha=-2.0).clamp_(min=0.0)
            yield rows, apart.mul_(-gamma).to(precision).exp_()
            continue
        values = part @ others.T
        if kernel in ("poly", "sigmoid"):
            values = values.mul_(gamma).add_(coef0)
            values = values.pow_(degree) if kernel == "poly" else values.tanh_()
        yield rows, values.to(precision)
