"""Where the paper says a little more than is true, or asks for more than is needed; each with a checked example.

Nothing here touches the main results: Theorems 1 and 2 hold (:mod:`relift.paper.theorem_checks`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations
from typing import final

import numpy as np

from relift.arrays import Matrix
from relift.paper.example import Q, averaging_matrix
from relift.paper.framework import Row
from relift.paper.theorem_checks import polynomial, rbf, squared_distances
from relift.pipeline import lift, solve
from relift.program.program import Program
from relift.symmetry.colour_refinement import colour_refinement
from relift.symmetry.partition import Partition

FIVE_POINTS: Matrix = np.array([[0.0, 0], [0, 1], [0, 2], [1, 1], [1, 3]])


@final
@dataclass(frozen=True)
class Slip:
    """A statement of the paper, what is true instead, and an example that tells them apart.

    Parameters
    ----------
    short
        Its name in a few words.
    kind
        ``"slip"``: false as it stands; ``"stronger than needed"``; ``"with care"``: right in its place, easily misread.
    statement
        What the paper says or does.
    truth
        What holds.
    example
        The example in words.
    check
        Computes the numbers of the example; whether they are as the words say, and the numbers.
    """

    short: str
    kind: str
    statement: str
    truth: str
    example: str
    check: Callable[[], tuple[bool, dict[str, float]]]


def _commutator(partition: Partition, K: Matrix) -> float:
    X = averaging_matrix(partition)
    return float(np.abs(X @ K - K @ X).max())


def _rbf_cross_term() -> tuple[bool, dict[str, float]]:
    x, y, gamma = np.array([1.0, 0.0]), np.array([1.0, 0.0]), 0.5
    kernel = float(np.exp(-2 * gamma**2 * np.sum((x - y) ** 2)))
    sizes = float(np.exp(-2 * gamma**2 * (x @ x + y @ y)))
    printed, right = (sizes * float(np.exp(factor * gamma**2 * (x @ y))) for factor in (-1, 4))
    is_right = abs(right - kernel) < 1e-15 and abs(printed - 0.2865) < 1e-4
    return is_right, {"kernel": kernel, "as printed": printed, "with exp(+4γ²⟨x,y⟩)": right}


def _sorted_distances() -> tuple[bool, dict[str, float]]:
    D = squared_distances(FIVE_POINTS)
    lists = np.sort(D, axis=1)
    exchanging = sum(
        order[2] == 3 and np.array_equal(D[np.ix_(order, order)], D) for order in permutations(range(len(D)))
    )
    classes = colour_refinement(D, mode="counting")
    assert isinstance(classes, Partition)
    is_right = np.array_equal(lists[2], lists[3]) and exchanging == 0 and classes.labels[2] != classes.labels[3]
    difference = float(np.abs(lists[2] - lists[3]).max())
    return bool(is_right), {"difference of the lists": difference, "isometries that move 3 to 4": float(exchanging)}


def _no_origin() -> tuple[bool, dict[str, float]]:
    points = np.array([[1.0, 0], [3, 0]])
    D, gram = squared_distances(points), points @ points.T
    keeps = np.array_equal(D[::-1, ::-1], D)
    return bool(keeps) and not np.array_equal(gram[::-1, ::-1], gram), {"Q11": gram[0, 0], "Q22": gram[1, 1]}


def _whitening() -> tuple[bool, dict[str, float]]:
    quadratic = np.diag([1.0, 2.0])
    B = np.sqrt(quadratic)
    whitened = B @ np.linalg.inv(np.sqrt(B.T @ B))
    commutator = _commutator(Partition.one_class(2), quadratic)
    program = Program(P=2 * quadratic, A=[[1, 1]], l=[2], u=[2])
    optimum, merged = float(solve(program).objective), float(program.objective([1, 1]))
    is_right = np.allclose(whitened, np.eye(2)) and commutator > 0.4 and merged > optimum + 0.3
    return bool(is_right), {"commutator": commutator, "optimum": optimum, "merged": merged}


def _rank_and_idempotence() -> tuple[bool, dict[str, float]]:
    B = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])  # two equal columns: no full column rank
    X = np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 3]])  # symmetric, not idempotent
    gram = B @ B.T
    R = np.linalg.pinv(B) @ X @ B
    commutator = float(np.abs(X @ gram - gram @ X).max())
    action = max(float(np.abs(X @ B - B @ R).max()), float(np.abs(R - R.T).max()))
    is_right = commutator < 1e-12 and action < 1e-12 and np.linalg.matrix_rank(B) < 3 and not np.allclose(X @ X, X)
    return bool(is_right), {"commutator": commutator, "XB - BR and R - R'": action}


def _sums_and_kernels() -> tuple[bool, dict[str, float]]:
    one, pairs = Partition.one_class(4), Partition.from_labels([0, 1, 0, 1])
    found = {
        "Q, one class": _commutator(one, Q),
        "degree 2, one class": _commutator(one, polynomial(Q, 2)),
        "RBF, one class": _commutator(one, rbf(Q, 0.5)),
        "degree 2, two classes": _commutator(pairs, polynomial(Q, 2)),
        "RBF, two classes": _commutator(pairs, rbf(Q, 0.5)),
    }
    lost = min(found["degree 2, one class"], found["RBF, one class"])
    kept = max(found["Q, one class"], found["degree 2, two classes"], found["RBF, two classes"])
    return lost > 0.01 and kept < 1e-14, found


def _redundant_row() -> tuple[bool, dict[str, float]]:
    program = Program(q=[1, 1], A=[[1, 1], [1, 0]], l=[1, -1], lb=0)
    before, after = (lift(program, reduce=reduce).small.n_variables for reduce in (False, True))
    return (before, after) == (2, 1), {"classes as written": before, "classes without the idle row": after}


def _rescaled_row() -> tuple[bool, dict[str, float]]:
    program = Program(q=[-1, -1], A=[[2, 1], [3, 6]], u=[2, 6], lb=0)
    before, after = (lift(program, scale_rows=scaled).small.n_variables for scaled in (False, True))
    return (before, after) == (2, 1), {"classes as written": before, "classes with rows compared up to a factor": after}


SLIPS: dict[str, Slip] = {
    "rbf-sign": Slip(
        "RBF kernel, exponent of the cross term",
        "slip",
        "The RBF kernel expands with the cross term exp(−γ²⟨x,y⟩).",
        "The cross term of exp(−2γ²‖x−y‖²) is exp(+4γ²⟨x,y⟩): another sign and another factor. What "
        "follows from it, that the kernel is a function of "
        "the inner products, is right.",
        "x = y = (1,0), γ = ½: the kernel is 1; with the term as printed one gets 0.287.",
        _rbf_cross_term,
    ),
    "sorted-distances": Slip(
        "sorted distances, 'only if'",
        "slip",
        "Two points are exchanged by a symmetry of the point set if **and only if** their sorted distances are equal.",
        "Only 'if exchanged, then equal' holds. Sorted lists are the first round of colour refinement; iterated, it "
        "tells the two points of the example apart.",
        "(0,0), (0,1), (0,2), (1,1), (1,3): points 3 and 4 both have squared distances 0, 1, 2, 2, 4 to the others, "
        "and no isometry of the set moves one to the other.",
        _sorted_distances,
    ),
    "origin": Slip(
        "distances and the origin",
        "with care",
        "Symmetries of Q = BB' are looked for through distances between the rows of B.",
        "Distances do not see the origin, inner products do. For RBF kernels distances are what counts; for Q they are "
        "not enough.",
        "(1,0), (3,0): exchanging them keeps all distances, yet Q₁₁ = 1 and Q₂₂ = 9.",
        _no_origin,
    ),
    "whitening": Slip(
        "whitening",
        "with care",
        "Points are whitened before they are compared.",
        "Whitening is a heuristic: it can merge what must not be merged. XQ = QX has to be verified afterwards, as "
        "relift always does.",
        "Q = diag(1,2): the whitened rows are those of the identity and look alike, yet XQ ≠ QX. Under x₁ + x₂ = 2 the "
        "merged program answers 3; the optimum is 8/3.",
        _whitening,
    ),
    "theorem-2-conditions": Slip(
        "Theorem 2, full rank and idempotence",
        "stronger than needed",
        "Theorem 2 asks for B of full column rank and idempotent X.",
        "Neither is needed: with R = pinv(B) X B it holds for every B and every symmetric X. (In its proof, 'if' and "
        "'only if' have changed places.)",
        "B with rows (1,1,0), (1,1,0), (0,0,1) and X = [[0,1,0],[1,0,0],[0,0,3]]: rank 2 of 3, X² ≠ X, and both sides "
        "of the theorem hold.",
        _rank_and_idempotence,
    ),
    "sums-and-kernels": Slip(
        "sums and kernels",
        "with care",
        "Symmetries of Q carry over to kernel matrices.",
        "Counting partitions (equal multisets of entries) are; equitable ones (equal sums) need not be.",
        "The running example: {1,2,3,4} is equitable for Q, and for neither its polynomial kernel of degree 2 nor its "
        "RBF kernel; {1,3} {2,4} is for all of them.",
        _sums_and_kernels,
    ),
    "redundant-rows": Slip(
        "redundant rows",
        "with care",
        "Conditions (i)–(iv) say when a permutation renames a program.",
        "They are sufficient, not necessary: a row that says nothing new hides a renaming of the feasible set.",
        "min x + y, x + y ≥ 1, x ≥ −1, x, y ≥ 0: x and y can be exchanged, though no row says y ≥ −1. relift takes out "
        "such rows first.",
        _redundant_row,
    ),
    "rescaled-rows": Slip(
        "rescaled rows",
        "with care",
        "Conditions (i)–(iv) compare rows number by number.",
        "A row times a positive number says the same. relift compares rows up to a factor.",
        "2x + y ≤ 2 and 3x + 6y ≤ 6: the second is three times the first with x and y exchanged.",
        _rescaled_row,
    ),
}


def run_slip(name: str) -> Row:
    """Compute the example of a slip and describe it in a row.

    Parameters
    ----------
    name
        One of SLIPS.
    """
    slip = SLIPS[name]
    is_right, numbers = slip.check()
    return {
        "kind": "slip",
        "name": name,
        "confirmed": bool(is_right),
        "numbers": {key: float(value) for key, value in numbers.items()},
    }
