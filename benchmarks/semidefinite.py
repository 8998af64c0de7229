"""``python -m benchmarks.semidefinite``: semidefinite programs, solved directly by Clarabel and through relift.

Theta numbers and relaxations of maximum cuts, of graphs with much, little and no symmetry. CPU seconds of one process,
search and check included; direct solves of large matrices, which take minutes or hours, are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import combinations, product
from time import process_time

import numpy as np
from rich.console import Console
from rich.table import Table

import relift
from relift.arrays import Matrix
from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.program.symmetric_matrices import upper_triangle


def theta(adjacency: Matrix) -> Program:
    """The largest sum of a semidefinite matrix of trace 1 that is 0 on edges."""
    row, column = upper_triangle(adjacency.shape[0])
    off = row != column
    fixed = off & (adjacency[row, column] > 0)
    bound = np.where(fixed, 0.0, np.inf)
    trace = (~off).astype(np.float64)[None, :]
    costs = -np.where(off, 2.0, 1.0)
    return Program(q=costs, A=trace, l=[1.0], u=[1.0], lb=-bound, ub=bound, conic=_entries(adjacency.shape[0]))


def maximum_cut(adjacency: Matrix) -> Program:
    """Goemans and Williamson's relaxation: the largest <L, X>/4 with ones on the diagonal of X."""
    row, column = upper_triangle(adjacency.shape[0])
    off = row != column
    laplacian = np.diag(adjacency.sum(axis=0)) - adjacency
    costs = -np.where(off, 2.0, 1.0) * laplacian[row, column] / 4.0
    low, high = np.where(off, -np.inf, 1.0), np.where(off, np.inf, 1.0)
    return Program(q=costs, lb=low, ub=high, conic=_entries(adjacency.shape[0]))


def _entries(n: int) -> ConicRows:
    from scipy import sparse

    row, column = upper_triangle(n)
    root = np.where(row == column, 1.0, 2.0**0.5)
    return ConicRows(-sparse.diags_array(root), np.zeros(row.size), [relift.Semidefinite(n)])


def hamming(length: int, distance: int) -> Matrix:
    """Words of 0 and 1, joined where they differ in fewer than ``distance`` places."""
    words = np.array(list(product((0, 1), repeat=length)))
    apart = (words[:, None] != words[None]).sum(axis=2)
    return ((apart > 0) & (apart < distance)).astype(np.float64)


def kneser(n: int, k: int) -> Matrix:
    """Subsets, joined where they have nothing in common."""
    subsets = [set(each) for each in combinations(range(n), k)]
    return np.array([[float(not one & other) for other in subsets] for one in subsets])


def grid(side: int, *, is_torus: bool) -> Matrix:
    """A square grid, with or without its ends joined."""
    places = np.arange(side * side).reshape(side, side)
    adjacency = np.zeros((side * side, side * side))
    for axis in (0, 1):
        others = np.roll(places, -1, axis)
        pairs = np.stack([places, others])
        if not is_torus:
            pairs = np.delete(pairs, -1, axis + 1)
        adjacency[pairs[0].ravel(), pairs[1].ravel()] = adjacency[pairs[1].ravel(), pairs[0].ravel()] = 1.0
    return adjacency


def random_graph(n: int, density: float) -> Matrix:
    """A graph without symmetry."""
    upper = np.triu(np.random.default_rng(n).random((n, n)) < density, 1).astype(np.float64)
    return np.asarray(upper + upper.T, np.float64)


def graphs() -> Iterator[tuple[str, Matrix]]:
    """Graphs with much, with little and without symmetry."""
    yield "Hamming(5, 3)", hamming(5, 3)
    yield "Hamming(6, 3)", hamming(6, 3)
    yield "Hamming(8, 3)", hamming(8, 3)
    yield "Hamming(10, 3)", hamming(10, 3)
    yield "Kneser(7, 3)", kneser(7, 3)
    yield "Kneser(9, 3)", kneser(9, 3)
    yield "torus 6 x 6", grid(6, is_torus=True)
    yield "torus 16 x 16", grid(16, is_torus=True)
    yield "grid 6 x 6", grid(6, is_torus=False)
    yield "grid 8 x 8", grid(8, is_torus=False)
    yield "random, 30 vertices", random_graph(30, 0.3)
    yield "random, 50 vertices", random_graph(50, 0.2)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.semidefinite", description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=64, help="the largest side of a matrix that is solved directly")
    arguments = parser.parse_args()
    table = Table(title="semidefinite programs, CPU seconds")
    for column in ("program", "side", "blocks", "direct", "relift", "search", "optimum"):
        table.add_column(column, justify="left" if column == "program" else "right")
    relift.solve(theta(hamming(2, 2)))  # imports are not counted
    for name, adjacency in graphs():
        for kind, made in (("theta", theta), ("cut", maximum_cut)):
            program = made(adjacency)
            start = process_time()
            result = relift.solve(program)
            lifted = process_time() - start
            start = process_time()
            relift.lift(program)
            search = process_time() - start
            direct = "-"
            if adjacency.shape[0] <= arguments.most:
                start = process_time()
                other = relift.solve(program, lift="none", backend="clarabel")
                direct = f"{process_time() - start:.3g}"
                if not (result.certificate.is_optimal and other.certificate.is_optimal):
                    direct += f" ({result.status}, {other.status})"
                elif abs(result.objective - other.objective) > 1e-4 * (1.0 + abs(other.objective)):
                    direct += " (answers differ)"
            sides = [getattr(cone, "n", 1) for cone in result.lifting.small.conic.cones]
            shown = f"{len(sides)} up to {max(sides)}"
            table.add_row(
                f"{kind}, {name}", str(adjacency.shape[0]), shown, direct, f"{lifted:.3g}", f"{search:.3g}",
                f"{-result.objective:.6g}",
            )  # fmt: skip
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
