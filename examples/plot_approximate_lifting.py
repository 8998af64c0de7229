"""Approximate lifting in one picture: bounds that close round by round, and gaps that follow the noise.

Left: a membrane over an obstacle on a grid whose stiffness is known to a thousandth. Exact lifting finds nothing;
approximate lifting starts from six classes and splits until the proved gap is 0.2 %. Right: the gap after the first
round, before any class is split, for noise of several sizes.

    python examples/plot_approximate_lifting.py --out approximate_lifting.png
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

import relift
from relift.testing.noise import with_noise


def membrane(k: int = 24) -> relift.Program:
    """A membrane held at its border and lifted in the middle: a box-constrained QP with the symmetry of the square."""
    second = sparse.diags_array([-np.ones(k - 1), 2 * np.ones(k), -np.ones(k - 1)], offsets=[-1, 0, 1])
    laplacian = sparse.kron(second, sparse.eye_array(k)) + sparse.kron(sparse.eye_array(k), second)
    row, column = np.divmod(np.arange(k * k), k)
    is_middle = (np.abs(row - (k - 1) / 2) < 1) & (np.abs(column - (k - 1) / 2) < 1)
    return relift.Program(
        P=sparse.csc_array(laplacian), q=np.full(k * k, 0.001), lb=np.where(is_middle, 1.0, 0.0), ub=2.0
    )


def cover(n: int = 300, m: int = 60, seed: int = 0) -> relift.Program:
    """Covering: as few goods of five kinds as possible so that every row has its share."""
    random = np.random.default_rng(seed)
    kind, group = np.arange(n) % 5, np.arange(m) % 4
    share = random.integers(1, 6, (4, 5)).astype(float)
    price = random.integers(2, 9, 5).astype(float)
    return relift.Program(q=price[kind], A=share[np.ix_(group, kind)], l=100.0 * (1 + group), lb=0, ub=4)


def transport(k: int = 30) -> relift.Program:
    """Transport with demands that are met exactly: noise makes the equalities contradictory over classes."""
    random = np.random.default_rng(3)
    depot, shop = np.arange(k) % 3, np.arange(k) % 5
    cost = random.integers(1, 30, (3, 5)).astype(float)[np.ix_(depot, shop)]
    eye, ones = sparse.eye_array(k), np.ones((1, k))
    A = sparse.vstack([sparse.kron(eye, ones), sparse.kron(ones, eye)]).tocsc()
    supply, demand = np.full(k, 9.0), random.integers(1, 9, 5).astype(float)[shop]
    return relift.Program(
        q=cost.ravel(), A=A, l=np.r_[np.full(k, -np.inf), demand], u=np.r_[supply, demand], lb=0, ub=9.0
    )


PROGRAMS: dict[str, Callable[[], relift.Program]] = {"membrane": membrane, "cover": cover, "transport": transport}


def main() -> None:
    """Solve, draw and save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("approximate_lifting.png"))
    arguments = parser.parse_args()
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    program = with_noise(membrane(), 1e-3)
    optimum = relift.solve(program, lift="none").objective
    result = relift.solve(program, approximate=relift.Approximation(gap=2e-3, classes=6, budget=np.inf))
    classes = [line.classes for line in result.rounds]
    left.loglog(
        classes, [r.upper - optimum for r in result.rounds], "o-", color="#D55E00", label="upper bound - optimum"
    )
    left.loglog(
        classes, [optimum - r.lower for r in result.rounds], "o-", color="#0072B2", label="optimum - proved lower bound"
    )
    left.axhline(2e-3 * max(1.0, optimum), color="0.6", linewidth=0.8, linestyle="--", label="gap asked")
    left.set_xlabel(f"classes, of {program.n_variables} variables")
    left.set_ylabel("distance from the optimum")
    left.legend(fontsize=8)
    left.set_title("noise 1e-3, gap asked 2e-3: one dot for each round", fontsize=10)
    levels = np.array([1e-6, 1e-5, 1e-4, 1e-3, 1e-2])
    for (name, build), colour in zip(PROGRAMS.items(), ("#0072B2", "#D55E00", "#009E73"), strict=True):
        gaps = []
        for level in levels:
            options = relift.Approximation(gap=1e-9, tolerance=min(0.3, 10 * level), max_rounds=1, budget=np.inf)
            gaps.append(relift.solve(with_noise(build(), level), approximate=options).gap)
        right.loglog(levels, gaps, "o-", color=colour, label=name)
        print(name, " ".join(f"{level:.0e}: {gap:.1e}" for level, gap in zip(levels, gaps, strict=True)))
    right.loglog(levels, levels, color="0.6", linewidth=0.8, linestyle="--", label="gap = noise")
    right.set_xlabel("noise")
    right.set_ylabel("proved gap after one round")
    right.legend(fontsize=8)
    right.set_title("before any class is split", fontsize=10)
    figure.tight_layout()
    figure.savefig(arguments.out, dpi=130, metadata={"Software": None})
    print(f"{arguments.out}: {result.approximation}; ground optimum {optimum:.9g}")


if __name__ == "__main__":
    main()
