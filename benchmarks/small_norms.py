"""CVXPY problems with a hundred, or thousands of, small norms and no symmetry: what looking for it costs.

``python -m benchmarks.small_norms``. CPU seconds of one process for problems that were never solved before, compiling
included, and for one that is solved again with other costs; answers are compared. Pixels: the total variation of a
noisy picture, a norm for each pixel.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import cvxpy as cp
import numpy as np

import relift.cvxpy  # noqa: F401 - makes the name RELIFT known


def problem(seed: int, norms: int = 100, n: int = 20) -> Any:
    """Sums of norms of random affine functions, in a box."""
    random = np.random.default_rng(seed)
    x = cp.Variable(n)
    terms = [cp.norm(random.standard_normal((4, n)) @ x - random.standard_normal(4)) for _ in range(norms)]
    return cp.Problem(cp.Minimize(sum(terms) + 0.1 * cp.sum_squares(x)), [x >= -1, x <= 1])


def picture(seed: int, side: int = 60) -> Any:
    """Noise is taken out of squares of equal brightness."""
    random = np.random.default_rng(seed)
    noisy = np.kron(random.random((side // 10, side // 10)), np.ones((10, 10))) + 0.1 * random.normal(size=(side, side))
    pixels = cp.Variable(noisy.shape)
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(pixels - noisy) + 0.3 * cp.tv(pixels)))


def seconds(make: Callable[[int], Any], seed: int, solver: str) -> tuple[float, float]:
    """CPU seconds and objective of a problem that is made anew."""
    model = make(seed)
    start = process_time()
    value = model.solve(solver=solver)
    return process_time() - start, float(value)


def again(solver: str, norms: int = 100, n: int = 20) -> Callable[[], float]:
    """Solves a problem once more, with other costs each time."""
    random, days = np.random.default_rng(3), np.random.default_rng(0)
    x, costs = cp.Variable(n), cp.Parameter(n)
    terms = [cp.norm(random.standard_normal((4, n)) @ x - random.standard_normal(4)) for _ in range(norms)]
    model = cp.Problem(cp.Minimize(sum(terms) + 0.1 * cp.sum_squares(x) + costs @ x), [x >= -1, x <= 1])

    def once() -> float:
        costs.value = days.standard_normal(n)
        return float(model.solve(solver=solver))

    return once


def in_turns(count: int = 30) -> None:
    """Both ways in turns, after three solves that do not count."""
    calls = again("CLARABEL"), again("RELIFT")
    times = np.empty((count, 2))
    worst = 0.0
    for k in range(-3, count):
        values = []
        for way, call in enumerate(calls):
            start = process_time()
            values.append(call())
            times[max(k, 0), way] = process_time() - start
        worst = max(worst, abs(values[0] - values[1]))
    least, median = 1e3 * times.min(axis=0), 1e3 * np.median(times, axis=0)
    plain, lifted = (f"{least[way]:.2f} ({median[way]:.2f}) ms" for way in (0, 1))
    ratios = f"{least[1] / least[0]:.2f} ({median[1] / median[0]:.2f}) times as long"
    print(f"again: plain {plain}, relift {lifted}, least (median) of {count}: {ratios}; answers differ by {worst:.1g}")


def compare(name: str, make: Callable[[int], Any], count: int) -> None:
    """Both ways on problems that were never solved before."""
    solvers = ("CLARABEL", "RELIFT")
    for solver in solvers:
        seconds(make, 0, solver)  # load what it needs
    found = np.array([[seconds(make, seed, solver) for solver in solvers] for seed in range(count)])  # in turns
    plain, lifted = found[:, 0], found[:, 1]
    ratio, worst = float(np.median(lifted[:, 0] / plain[:, 0])), float(np.max(np.abs(lifted[:, 1] - plain[:, 1])))
    plain_seconds, lifted_seconds = np.median(plain[:, 0]), np.median(lifted[:, 0])
    print(
        f"{name}: plain {plain_seconds:.3f} s, relift {lifted_seconds:.3f} s, medians of {count}: {ratio:.2f} times as "
        f"long; answers differ by {worst:.1g}"
    )


def main() -> None:
    compare("norms", problem, 8)
    compare("pixels", picture, 5)
    in_turns()


if __name__ == "__main__":
    main()
