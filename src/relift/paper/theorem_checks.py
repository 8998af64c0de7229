"""The propositions of the paper on random instances: each check counts its instances and returns the worst residual.

Instances have equitable classes that are in general no orbits: each block between two classes is a circulant of small
whole numbers whose rows are then mixed, so that sums agree and renamings do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import permutations
from typing import final

import numpy as np

from relift.arrays import Matrix
from relift.errors import MissingPackageError
from relift.paper.example import averaging_matrix
from relift.paper.framework import Row
from relift.pipeline import lift, solve
from relift.program.program import Program
from relift.symmetry.colour_refinement import colour_refinement
from relift.symmetry.partition import Partition

Random = np.random.Generator


@final
@dataclass(frozen=True)
class Check:
    """What was found about one proposition.

    Parameters
    ----------
    instances
        How many were checked.
    worst
        The largest residual, relative to the numbers in it.
    tolerance
        What rounding, or the tolerance of a solver, explains.
    failures
        Instances on which it did not hold.
    """

    instances: int
    worst: float
    tolerance: float
    failures: int = 0

    @property
    def holds(self) -> bool:
        """Whether no instance contradicts the proposition."""
        return self.failures == 0 and self.worst <= self.tolerance


@final
@dataclass(frozen=True)
class Equitable:
    """A program with an equitable pair of partitions."""

    program: Program
    variables: Partition
    rows: Partition


def equitable_program(random: Random, quadratic: bool) -> Equitable:
    """Draw a feasible, bounded, convex program with equitable classes.

    Parameters
    ----------
    random
        Where it is drawn from.
    quadratic
        With a quadratic objective.
    """
    variables = Partition.from_labels(np.repeat(np.arange(3), random.integers(1, 5, 3)))
    rows = Partition.from_labels(np.repeat(np.arange(2), random.integers(1, 5, 2)))
    A = _equitable_matrix(random, rows, variables)
    P = None
    if quadratic:
        F = _equitable_matrix(random, rows, variables)
        P = F.T @ F + np.diag(random.integers(0, 2, 3).astype(float)[variables.labels])
    q = random.integers(-3, 4, 3).astype(float)[variables.labels]
    activity = A @ random.integers(-1, 2, 3).astype(float)[variables.labels]
    slack = random.integers(0, 3, 2).astype(float)[rows.labels]
    return Equitable(Program(P, q, A, activity - slack, activity + slack, lb=-2, ub=3), variables, rows)


def _equitable_matrix(random: Random, rows: Partition, columns: Partition) -> Matrix:
    A = np.zeros((len(rows.labels), len(columns.labels)))
    for r in range(rows.n_classes):
        for c in range(columns.n_classes):
            i, j = rows.members(r), columns.members(c)
            common = int(np.gcd(len(i), len(j)))
            values = random.integers(-2, 3, common)
            block = values[(np.arange(len(i))[:, None] - np.arange(len(j))) % common]
            A[np.ix_(i, j)] = block[random.permutation(len(i))]
    return A


def averages_are_doubly_stochastic(random: Random, n: int) -> Check:
    """X and Y are symmetric, idempotent, with rows and columns that add up to 1."""
    worst = 0.0
    for _ in range(n):
        X = averaging_matrix(Partition.from_labels(random.integers(0, 6, random.integers(1, 14))))
        residuals = [X.sum(axis=0) - 1, X.sum(axis=1) - 1, X - X.T, X @ X - X, np.minimum(X, 0)]
        worst = max(worst, *(float(np.abs(residual).max()) for residual in residuals))
    return Check(n, worst, 1e-14)


def sums_agree_iff_averages_commute(random: Random, n: int) -> Check:
    """Equal sums inside classes are the same as YA = AX; half of the instances are made equitable."""
    worst, failures = 0.0, 0
    for k in range(n):
        variables = Partition.from_labels(random.integers(0, 3, 6))
        rows = Partition.from_labels(random.integers(0, 2, 4))
        A = _equitable_matrix(random, rows, variables) if k % 2 else random.integers(0, 2, (4, 6)).astype(float)
        into, out = A @ variables.indicator.toarray(), A.T @ rows.indicator.toarray()
        sums_agree = all(
            np.array_equal(sums, sums[classes.representatives][classes.labels])
            for sums, classes in ((into, rows), (out, variables))
        )
        residual = float(np.abs(averaging_matrix(rows) @ A - A @ averaging_matrix(variables)).max())
        failures += sums_agree != (residual < 1e-12)
        worst = max(worst, residual if sums_agree else 0.0)
    return Check(n, worst, 1e-12, failures)


def averaging_keeps_feasibility_and_value(random: Random, n: int) -> Check:
    """Theorem 1: at random feasible points, corners of the feasible set."""
    worst = 0.0
    for k in range(n):
        case = equitable_program(random, quadratic=k % 2 == 0)
        program = case.program
        corner = solve(program.replace(P=None, q=random.standard_normal(program.n_variables)), lift="none").x
        if corner is None:
            return Check(k, worst, 1e-7, 1)
        x = np.asarray(corner)
        mean = averaging_matrix(case.variables) @ x
        value = program.objective(x)
        worse = _violation(program, mean) - _violation(program, x)
        worst = max(worst, worse, (program.objective(mean) - value) / max(1.0, abs(value)))
    return Check(n, worst, 1e-9)


def _violation(program: Program, x: Matrix) -> float:
    value = program.A @ x
    gaps = [program.l - value, value - program.u, program.lb - x, x - program.ub]
    return float(max(np.max(gap, initial=0.0) for gap in gaps))


def lifted_optimum_is_the_optimum(random: Random, n: int) -> Check:
    """The quotient has the optimum of the ground program, and the expanded answer is proved there."""
    worst, failures = 0.0, 0
    for k in range(n):
        program = equitable_program(random, quadratic=k % 2 == 0).program
        lifted, ground = solve(program), solve(program, lift="none", reduce=False)
        failures += not (lifted.certificate.is_optimal and ground.certificate.is_optimal)
        worst = max(worst, abs(lifted.objective - ground.objective) / max(1.0, abs(ground.objective)))
    return Check(n, worst, 1e-5, failures)


def orbits_refine_counting_refines_equitable(random: Random, n: int) -> Check:
    """Each partition is at least as fine as the next one."""
    failures, checked = 0, 0
    for k in range(n):
        program = equitable_program(random, quadratic=k % 2 == 0).program
        try:
            fine = lift(program, lift="orbits", reduce=False).variables
        except MissingPackageError:
            fine = Partition.discrete(program.n_variables)  # only the second half can be checked
        counting, coarse = (lift(program, lift=m, reduce=False).variables for m in ("counting", "equitable"))
        failures += not (fine.refines(counting) and counting.refines(coarse))
        checked += 1
    return Check(checked, 0.0, 0.0, failures)


def commuting_is_an_action_on_columns(random: Random, n: int) -> Check:
    """Theorem 2: XQ = QX if and only if XB = BR with R = pinv(B) X B symmetric; B of any rank, X only symmetric."""
    worst, failures = 0.0, 0
    for k in range(n):
        size, rank, more = (int(v) for v in random.integers((2, 1, 0), (8, 5, 4)))
        rank = min(rank, size)
        B = random.integers(-3, 4, (size, rank)) @ random.integers(-2, 3, (rank, rank + more)) * 1.0
        Q = B @ B.T
        X = random.standard_normal((size, size))
        X = X + X.T
        if k % 2:  # make it commute: a function of Q, and anything symmetric on the null space
            values, vectors = np.linalg.eigh(Q)
            is_null = values < 1e-9 * max(1.0, values.max())
            null, rest = vectors[:, is_null], vectors[:, ~is_null]
            spectrum = np.cos(3 * values[~is_null] / max(1.0, values.max()))
            X = (rest * spectrum) @ rest.T + null @ (null.T @ X @ null) @ null.T
        length = max(1.0, float(np.abs(X).max())) * max(1.0, float(np.abs(Q).max()))
        commutator = float(np.abs(X @ Q - Q @ X).max()) / length
        R = np.linalg.pinv(B) @ X @ B
        action = max(float(np.abs(X @ B - B @ R).max()), float(np.abs(R - R.T).max())) / length
        failures += (commutator < 1e-9) != (action < 1e-9)
        if commutator < 1e-9:
            worst = max(worst, action)
    return Check(n, worst, 1e-9, failures)


def orthogonal_actions_are_renamings(random: Random, n: int) -> Check:
    """ΠB = BO with O orthogonal if and only if Π renames Q = BB'; all permutations of four or five points."""
    failures, checked = 0, 0
    while checked < n:
        B = _symmetric_points(random, int(random.integers(4, 6)))
        Q = B @ B.T
        span = np.linalg.pinv(B) @ B
        for order in permutations(range(len(B))):
            O = np.linalg.pinv(B) @ B[list(order)]
            moves = np.allclose(B @ O, B[list(order)], atol=1e-9) and np.allclose(O @ O.T, span, atol=1e-9)
            failures += moves != np.array_equal(Q[np.ix_(order, order)], Q)
            checked += 1
    return Check(checked, 0.0, 0.0, failures)


def _symmetric_points(random: Random, n: int) -> Matrix:
    """Draw whole-numbered points, many of them images of each other."""
    points = random.integers(-2, 3, (n, 2))
    images = [points, -points, points * [1, -1], points[:, ::-1]]
    mixed = np.vstack([images[k] for k in random.integers(0, 4, 3)])
    return mixed[random.permutation(len(mixed))[:n]].astype(float)


def counting_survives_kernels(random: Random, n: int) -> Check:
    """A counting partition of BB' is one of the polynomial and RBF kernel matrices."""
    worst, failures = 0.0, 0
    for _ in range(n):
        points = _symmetric_points(random, int(random.integers(4, 12)))
        Q = points @ points.T
        classes = colour_refinement(Q, mode="counting")
        assert isinstance(classes, Partition)
        X = averaging_matrix(classes)
        for K in (polynomial(Q, int(random.integers(2, 6))), rbf(Q, float(random.choice([0.01, 0.3, 1.0, 2.5])))):
            failures += not is_counting(K, classes)
            worst = max(worst, float(np.abs(X @ K - K @ X).max() / np.abs(K).max()))
    return Check(n, worst, 1e-13, failures)


def polynomial(Q: Matrix, degree: int) -> Matrix:
    """(<x, y> + 1)^degree from the inner products."""
    return np.asarray((Q + 1) ** degree)


def rbf(Q: Matrix, gamma: float) -> Matrix:
    """exp(-gamma |x - y|²) from the inner products."""
    squares = np.diag(Q)
    return np.asarray(np.exp(-gamma * (squares[:, None] + squares[None, :] - 2 * Q)))


def is_counting(K: Matrix, partition: Partition) -> bool:
    """Whether members of a class have equal diagonals and see equal multisets of entries in every class, bit by bit."""
    for members in map(partition.members, range(partition.n_classes)):
        for others in map(partition.members, range(partition.n_classes)):
            if len({(*sorted(K[i, others[others != i]]), K[i, i]) for i in members}) > 1:
                return False
    return True


def rbf_expansion(random: Random, n: int) -> Check:
    """exp(-2γ²|x-y|²) = exp(-2γ²|x|²) exp(-2γ²|y|²) exp(+4γ²<x,y>), the exponent as corrected."""
    worst = 0.0
    for _ in range(n):
        x, y = random.standard_normal((2, 3))
        gamma = random.uniform(0.05, 1.0)
        kernel = np.exp(-2 * gamma**2 * np.sum((x - y) ** 2))
        sizes = np.exp(-2 * gamma**2 * (x @ x)) * np.exp(-2 * gamma**2 * (y @ y))
        worst = max(worst, abs(sizes * np.exp(4 * gamma**2 * (x @ y)) / kernel - 1))
    return Check(n, float(worst), 1e-12)


def orbits_have_equal_sorted_distances(random: Random, n: int) -> Check:
    """Whatever isometries exchange has the same sorted list of distances."""
    failures, checked = 0, 0
    for _ in range(n):
        points = random.integers(0, 2, (5, 3)).astype(float)
        D = squared_distances(points)
        lists = np.sort(D, axis=1)
        for order in permutations(range(5)):
            if np.array_equal(D[np.ix_(order, order)], D):
                failures += not np.array_equal(lists[list(order)], lists)
        checked += 1
    return Check(checked, 0.0, 0.0, failures)


def squared_distances(points: Matrix) -> Matrix:
    """All squared distances, exact for whole numbers."""
    return np.asarray(((points[:, None] - points[None]) ** 2).sum(axis=2))


def conditions_give_a_renaming(random: Random, n: int) -> Check:
    """Conditions (i)-(iv): a renaming of P, q, bounds and rows moves feasible points to feasible points of equal value.

    Programs are made of copies of one block, and the copies are exchanged.
    """
    worst = 0.0
    for k in range(n):
        copies, size = int(random.integers(2, 4)), int(random.integers(1, 4))
        block = random.integers(-2, 3, (2, size)).astype(float)
        A = np.kron(np.eye(copies), block)
        F = random.integers(-2, 3, (size, size)).astype(float)
        P = np.kron(np.eye(copies), F.T @ F) + np.kron(np.ones((copies, copies)), np.ones((size, size)))
        q = np.tile(random.integers(-3, 4, size), copies).astype(float)
        u = np.tile(random.integers(1, 4, 2), copies).astype(float)
        program = Program(P if k % 2 else None, q, A, -u, u, lb=-2, ub=2)
        answer = solve(program.replace(P=None, q=random.standard_normal(copies * size)), lift="none").x
        if answer is None:
            return Check(k, worst, 1e-9, 1)
        x = np.asarray(answer)
        renamed = x.reshape(copies, size)[random.permutation(copies)].ravel()
        value = program.objective(x)
        change = abs(program.objective(renamed) - value) / max(1.0, abs(value))
        worst = max(worst, change, abs(_violation(program, renamed) - _violation(program, x)))
    return Check(n, worst, 1e-12)


@final
@dataclass(frozen=True)
class Proposition:
    """A statement and its check.

    Parameters
    ----------
    short
        Its name in a few words.
    statement
        What it says.
    check
        Takes the source of instances and their number.
    share
        Which share of the instances it gets: those that solve programs get fewer.
    """

    short: str
    statement: str
    check: Callable[[Random, int], Check]
    share: float = 1.0


PROPOSITIONS: dict[str, Proposition] = {
    "stochastic": Proposition(
        "averages over classes",
        "They are doubly stochastic, symmetric and idempotent matrices",
        averages_are_doubly_stochastic,
    ),
    "sums": Proposition(
        "equal sums", "Sums agree inside classes if and only if YA = AX", sums_agree_iff_averages_commute
    ),
    "theorem-1": Proposition(
        "Theorem 1",
        "Averaging over classes keeps feasibility and does not raise the objective",
        averaging_keeps_feasibility_and_value,
        0.3,
    ),
    "optimum": Proposition(
        "lifted optimum",
        "An optimum constant on classes exists; the quotient finds it",
        lifted_optimum_is_the_optimum,
        0.3,
    ),
    "hierarchy": Proposition(
        "three partitions",
        "Orbits refine the counting partition, which refines the equitable one",
        orbits_refine_counting_refines_equitable,
        0.3,
    ),
    "conditions": Proposition(
        "conditions (i)–(iv)",
        "A permutation that satisfies them keeps feasibility and objective",
        conditions_give_a_renaming,
        0.3,
    ),
    "theorem-2": Proposition(
        "Theorem 2",
        "XQ = QX if and only if XB = BR with symmetric R; B of any rank, X any symmetric matrix",
        commuting_is_an_action_on_columns,
    ),
    "rotations": Proposition(
        "rotations",
        "ΠB = BO with orthogonal O if and only if Π renames Q = BB'",
        orthogonal_actions_are_renamings,
        2.0,
    ),
    "kernels": Proposition(
        "kernels",
        "Counting partitions of BB' are counting partitions of polynomial and RBF kernels",
        counting_survives_kernels,
        0.5,
    ),
    "distances": Proposition(
        "sorted distances, 'if'",
        "Points of one orbit have equal sorted distances",
        orbits_have_equal_sorted_distances,
        0.3,
    ),
    "rbf": Proposition(
        "RBF kernel as a product", "With the cross term exp(+4γ²⟨x,y⟩), the exponent as corrected", rbf_expansion
    ),
}


def run_check(name: str, seed: int, n: int) -> Row:
    """Run one check and describe it in a row.

    Parameters
    ----------
    name
        One of PROPOSITIONS.
    seed
        Of its instances.
    n
        Instances of a check whose share is 1.
    """
    chosen = PROPOSITIONS[name]
    number = list(PROPOSITIONS).index(name)
    found = chosen.check(np.random.default_rng([seed, number]), max(2, round(n * chosen.share)))
    return {
        "kind": "proposition",
        "name": name,
        "instances": found.instances,
        "worst": found.worst,
        "tolerance": found.tolerance,
        "failures": int(found.failures),
        "holds": bool(found.holds),
        "remark": "orbits unchecked: igraph is not installed"
        if name == "hierarchy" and find_spec("igraph") is None
        else "",
    }
