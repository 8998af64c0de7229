r"""Random programs with cones and known symmetry, for property-based tests; seeded, so that a failure can be repeated.

A small program is drawn over *hub* variables and *leaf* variables. The symmetric program has the hub once and the
leaves in several copies; each cone is either repeated in each copy, or *shared*: one cone that takes rows from all
copies, as tails of a second-order cone or as arguments of a power cone. Variables, cones and, where the order is free,
rows within cones are shuffled. A known point lies inside all cones and bounds, and all variables are bounded: an
optimum exists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Vector
from relift.program.cones import Cone, Exponential, Power, PowerND, SecondOrder, Semidefinite
from relift.program.conic_rows import ConicRows
from relift.program.program import Program

KINDS = ("second order", "exponential", "power", "power nd", "semidefinite")
NUMBERS = np.array([-2.0, -1.0, -0.5, 0.0, 0.0, 0.1, 0.3, 0.5, 1.0, 1.0, 2.0])


@final
@dataclass(frozen=True, eq=False)
class SymmetricConicProgram:
    """A program with cones whose leaf variables come in copies.

    Parameters
    ----------
    program
        The program.
    variable_labels
        Classes of variables that lifting may merge: at least these.
    point
        A point inside all cones and bounds.
    """

    program: Program
    variable_labels: NDArray[np.int64]
    point: NDArray[np.float64]


def symmetric_conic_program(
    seed: int,
    *,
    copies: int = 3,
    n_cones: int = 3,
    kinds: tuple[str, ...] = KINDS,
    quadratic_objective: bool = False,
    is_shuffled: bool = True,
) -> SymmetricConicProgram:
    """Draw a feasible, bounded program with cones.

    Parameters
    ----------
    seed
        Of the random numbers.
    copies
        How often the leaves occur.
    n_cones
        Cones of the small program.
    kinds
        The kinds of cones to draw from.
    quadratic_objective
        Whether the objective is quadratic.
    is_shuffled
        Whether variables, cones and rows are shuffled.
    """
    random = np.random.default_rng(seed)
    n_hub, n_leaf = int(random.integers(1, 3)), int(random.integers(1, 4))
    n = n_hub + copies * n_leaf
    hub_point, leaf_point = (random.integers(-2, 3, size).astype(float) / 2 for size in (n_hub, n_leaf))
    point = np.concatenate([hub_point, np.tile(leaf_point, copies)])

    def placed(hub: Vector, leaf: Vector | float, copy: int) -> NDArray[np.float64]:
        row = np.zeros(n)
        row[:n_hub] = hub
        row[n_hub + copy * n_leaf : n_hub + (copy + 1) * n_leaf] = leaf
        return row

    matrices: list[tuple[Cone, NDArray[np.float64], NDArray[np.float64]]] = []
    for _ in range(n_cones):
        kind = str(random.choice(kinds))
        is_shared = kind in ("second order", "power nd") and bool(random.integers(0, 2))
        rows = _drawn(random, kind, n_hub, n_leaf)
        if not is_shared:
            for c in range(copies):
                A = np.array([placed(hub, leaf, c) for hub, leaf in zip(rows.hub, rows.leaf, strict=True)])
                matrices.append((rows.cone, A, rows.slack))
        elif kind == "second order":
            head = placed(rows.hub[0], 0.0, 0)
            tails = [placed(rows.hub[i], rows.leaf[i], c) for c in range(copies) for i in range(1, len(rows.slack))]
            slack = np.concatenate([[2.0 * copies * rows.slack[0]], np.tile(rows.slack[1:], copies)])
            matrices.append((SecondOrder(len(tails) + 1), np.array([head, *tails]), slack))
        else:
            assert isinstance(rows.cone, PowerND)
            k = len(rows.slack) - 1
            arguments = [placed(rows.hub[i], rows.leaf[i], c) for c in range(copies) for i in range(k)]
            alphas = tuple(alpha / copies for alpha in rows.cone.alphas * copies)
            slack = np.concatenate([np.tile(rows.slack[:-1], copies), rows.slack[-1:]])
            matrices.append((PowerND(alphas), np.array([*arguments, placed(rows.hub[-1], 0.0, 0)]), slack))
    q = np.concatenate([random.choice(NUMBERS, n_hub), np.tile(random.choice(NUMBERS, n_leaf), copies)])
    P = None
    if quadratic_objective:
        F = random.choice(NUMBERS, (2, n_leaf))
        P = np.zeros((n, n))
        for c in range(copies):
            mine = slice(n_hub + c * n_leaf, n_hub + (c + 1) * n_leaf)
            P[mine, mine] = F.T @ F
    total = np.concatenate([np.zeros(n_hub), np.tile(random.choice(NUMBERS, n_leaf), copies)])
    labels = np.concatenate([np.arange(n_hub), n_hub + np.tile(np.arange(n_leaf), copies)])
    order = random.permutation(n) if is_shuffled else np.arange(n)
    if is_shuffled:
        matrices = [_shuffled(random, *matrices[k]) for k in random.permutation(len(matrices))]
    A = np.vstack([matrix for _, matrix, _ in matrices])
    # Copies that are equal must be equal in floats too: sums over hub and leaves are exact in these short numbers.
    b = np.round(A @ point + np.concatenate([slack for _, _, slack in matrices]), 12)
    conic = ConicRows(A[:, order], b, [cone for cone, _, _ in matrices])
    program = Program(
        P=None if P is None else P[np.ix_(order, order)],
        q=q[order], A=total[None, order], u=[float(total @ point) + 1.0], lb=-4.0, ub=4.0, conic=conic,
    )  # fmt: skip
    return SymmetricConicProgram(program, labels[order], point[order])


@dataclass
class _Drawn:
    cone: Cone
    hub: NDArray[np.float64]
    leaf: NDArray[np.float64]
    slack: NDArray[np.float64]


def _drawn(random: np.random.Generator, kind: str, n_hub: int, n_leaf: int) -> _Drawn:
    """One cone: entries of its rows, and a slack inside it."""
    match kind:
        case "second order":
            size = int(random.integers(1, 4))
            tails = random.choice(NUMBERS, size - 1)
            cone: Cone = SecondOrder(size)
            slack = np.concatenate([[1.0 + float(np.abs(tails).sum())], tails])
        case "exponential":
            cone, slack = Exponential(), np.array([float(random.choice([-1.0, 0.0, 0.5])), 1.0, 2.0])
        case "power":
            cone, slack = Power(float(random.choice([0.2, 0.5, 0.7]))), np.array([1.0, 2.0, 0.5])
        case "power nd":
            alphas = (0.25, 0.25, 0.5) if random.integers(0, 2) else (0.2, 0.3, 0.5)
            cone, slack = PowerND(alphas), np.array([1.0, 1.0, 2.0, -0.5])
        case _:
            cone, slack = Semidefinite(2), np.array([1.0, 0.5, 2.0])
    k = slack.size
    return _Drawn(cone, random.choice(NUMBERS, (k, n_hub)), random.choice(NUMBERS, (k, n_leaf)), slack)


def _shuffled(
    random: np.random.Generator, cone: Cone, A: NDArray[np.float64], slack: NDArray[np.float64]
) -> tuple[Cone, NDArray[np.float64], NDArray[np.float64]]:
    """Shuffle the rows of a cone whose order is free."""
    if isinstance(cone, SecondOrder):
        order = np.r_[0, 1 + random.permutation(cone.size - 1)]
    elif isinstance(cone, PowerND):
        free = random.permutation(len(cone.alphas))
        order = np.r_[free, len(cone.alphas)]
        cone = PowerND(tuple(cone.alphas[i] for i in free))
    else:
        return cone, A, slack
    return cone, A[order], slack[order]
