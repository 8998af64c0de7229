"""A proved lower bound is below every feasible point, whatever the point and the duals it was proved from."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from relift.approximate.boxes import tighten
from relift.approximate.curvature import curvature, curvature_by_factorisation
from relift.approximate.lower_bound import BoundProver
from relift.program.program import Program


def program_around(x0: np.ndarray, random: np.random.Generator) -> Program:
    """A small program in which x0 is feasible: rows and boxes of every kind, free variables too."""
    n, m = x0.size, int(random.integers(0, 5))
    A = np.where(random.random((m, n)) < 0.6, random.choice([1.0, -1.0, 2.0, 0.5, 0.3], (m, n)), 0.0)
    A *= 1 + random.choice([0.0, 1e-3]) * random.uniform(-1, 1, A.shape)
    value = np.array([float(sum(Fraction(a) * Fraction(x) for a, x in zip(row, x0, strict=True))) for row in A])
    exact = np.array([sum(Fraction(a) * Fraction(x) for a, x in zip(row, x0, strict=True)) for row in A], dtype=object)
    below, above = value - random.random(m), value + random.random(m)
    is_equality = np.array([Fraction(v) == e for v, e in zip(value, exact, strict=True)], bool).reshape(m)
    is_equality &= random.random(m) < 0.5  # only where the float is the exact value
    l = np.where(is_equality, value, np.where(random.random(m) < 0.6, below, -np.inf))
    u = np.where(is_equality, value, np.where(random.random(m) < 0.6, above, np.inf))
    lb = np.where(random.random(n) < 0.6, x0 - random.choice([0.0, 0.5], n), -np.inf)
    ub = np.where(random.random(n) < 0.5, x0 + random.choice([0.0, 1.0], n), np.inf)
    P = None
    if random.random() < 0.6:
        factor = random.integers(-2, 3, (int(random.integers(1, n + 1)), n)).astype(float)
        P = factor.T @ factor + np.diag(random.choice([0.0, 0.25, 1.0], n))
    return Program(P, random.choice([-1.0, 0.0, 1.5, 0.1], n), A, l, u, lb, ub, float(random.choice([0.0, 2.5])))


def exact_objective(program: Program, x: np.ndarray) -> Fraction:
    point = [Fraction(value) for value in x]
    total = Fraction(program.r) + sum(Fraction(q) * p for q, p in zip(program.q, point, strict=True))
    if program.P is not None:
        P = program.P.toarray()
        terms = (Fraction(P[i, j]) * point[i] * point[j] for i in range(x.size) for j in range(x.size))
        total += sum(terms, Fraction(0)) / 2
    return total


@pytest.mark.parametrize("part", range(4))
def test_no_feasible_point_is_below_a_proved_bound_in_exact_arithmetic(part: int) -> None:
    n_finite = 0
    for seed in range(part * 400, (part + 1) * 400):
        random = np.random.default_rng(seed)
        x0 = random.integers(-4, 5, int(random.integers(1, 6))) * 0.5
        program = program_around(x0, random)
        prover = BoundProver(program)
        value = exact_objective(program, x0)
        cutoff = float(value) + float(random.random()) if random.random() < 0.5 else np.inf
        for _ in range(2):
            v = x0 + random.standard_normal(x0.size) * random.choice([0.0, 1e-3, 1.0])
            y = random.standard_normal(program.n_rows) * random.choice([0.0, 1.0, 5.0])
            bound = prover.prove(v, y, cutoff, search_multiple=bool(random.random() < 0.5))
            if np.isfinite(bound.value):
                n_finite += 1
                assert Fraction(bound.value) <= value
    assert n_finite > 500


def test_tightened_boxes_keep_every_feasible_point() -> None:
    n_tightened = 0
    for seed in range(1000):
        random = np.random.default_rng(seed)
        x0 = random.integers(-4, 5, int(random.integers(1, 6))) * 0.5
        program = program_around(x0, random)
        lower, upper = tighten(program.A.tocsr(), program.l, program.u, program.lb, program.ub)
        assert np.all(lower <= x0)
        assert np.all(x0 <= upper)
        n_tightened += int(np.isinf(program.lb).sum() - np.isinf(lower).sum())
    assert n_tightened > 100


def test_curvature_is_below_the_matrix() -> None:
    for seed in range(200):
        random = np.random.default_rng(seed)
        n = int(random.integers(1, 8))
        factor = random.standard_normal((int(random.integers(1, n + 1)), n)) * (random.random((1, n)) < 0.8)
        P = factor.T @ factor + np.diag(random.choice([0.0, 1.0], n))
        mu = curvature(sparse.csc_array(P), n)
        assert np.all(mu >= 0)
        assert np.linalg.eigvalsh(P - np.diag(mu)).min() >= -1e-12 * max(1.0, np.abs(P).max())


def test_curvature_of_a_large_connected_matrix_is_found() -> None:
    n = 600
    P = sparse.diags_array([np.full(n - 1, -1.01), np.full(n, 2.5), np.full(n - 1, -1.01)], offsets=[-1, 0, 1])
    P = sparse.csc_array(P + sparse.csc_array((np.full(2, 3.0), ([0, 1], [0, 1])), shape=(n, n)))
    dense = P.copy()
    dense[2, 2] = 2.0  # this row is not diagonally dominant any more
    dense = sparse.csc_array(dense)
    assert not curvature(dense, n).any()  # too large for the cheap ways
    mu = curvature_by_factorisation(dense, np.zeros(n))
    assert np.all(mu > 0)
    assert np.linalg.eigvalsh(dense.toarray() - np.diag(mu)).min() >= 0


def test_a_factorisation_is_not_trusted_where_parts_of_the_matrix_hang_together() -> None:
    # Half of the variables have curvature known already and are coupled with the rest: adding both would be wrong.
    P = sparse.csc_array(np.array([[2.0, 1.0, 0], [1.0, 1.0, 0.4], [0, 0.4, 1.0]]))
    assert not curvature_by_factorisation(P, np.array([0.5, 0.0, 0.0])).any()


def test_an_optimal_pair_proves_its_own_optimum() -> None:
    program = Program(
        P=np.diag([2.0, 0.0]), q=[-2.0, 1.0], A=[[1.0, 1.0]], l=[2.0], lb=[-np.inf, 0.0], ub=[np.inf, 9.0]
    )
    # Minimum of x² - 2x + y over x + y >= 2, y >= 0: x = 1.5, y = 0.5 with dual value -1.
    bound = BoundProver(program).prove(np.array([1.5, 0.5]), np.array([-1.0]), cutoff=-0.25)
    assert bound.value == pytest.approx(-0.25, abs=1e-12)
    assert bound.value <= -0.25
    assert bound.is_unconditional


def test_without_box_and_curvature_nothing_is_proved_unless_the_gradient_vanishes() -> None:
    program = Program(q=[1.0, 1.0], A=[[1.0, 1.0]], l=[2.0])
    prover, v = BoundProver(program), np.ones(2)
    assert prover.prove(v, np.array([-0.9])).value == -np.inf
    assert prover.prove(v, np.array([-0.9]), radius=100.0).value == -np.inf  # far from zero: no assumption helps
    known = prover.prove(v, np.array([-0.9]), radius=100.0, radius_is_known=True)
    assert known.value == pytest.approx(1.8 - 0.1 * 200)
    assert known.radius == 100.0
    nearly = prover.prove(v, np.array([-1.0]), radius=100.0)
    assert nearly.value == pytest.approx(2.0, abs=1e-10)
    assert not nearly.is_unconditional


def test_the_best_multiple_is_at_least_as_good() -> None:
    program = Program(q=[1.0, 1.0], A=[[1.0, 1.02]], l=[2.0], lb=0)
    prover, v = BoundProver(program), np.ones(2)
    plain = prover.prove(v, np.array([-1.0]), cutoff=2.0)
    best = prover.prove(v, np.array([-1.0]), cutoff=2.0, search_multiple=True)
    assert best.value >= plain.value
    assert best.value == pytest.approx(2 / 1.02, rel=1e-4)


def test_parts_of_the_gap_add_up() -> None:
    random = np.random.default_rng(5)
    x0 = np.array([0.5, -1.0, 1.0])
    program = Program(np.diag([1.0, 0, 0]), [1.0, -1, 0.5], random.standard_normal((2, 3)), lb=x0 - 1, ub=x0 + 1)
    bound = BoundProver(program).prove(x0, np.zeros(2))
    gap = program.objective(x0) - bound.value
    assert bound.variable_gap.sum() + bound.row_gap.sum() == pytest.approx(gap, rel=1e-9)


def test_dual_values_that_are_not_finite_prove_nothing() -> None:
    program = Program(q=[1.0], A=[[1.0]], l=[0.0], lb=0, ub=1)
    assert BoundProver(program).prove(np.zeros(1), np.array([np.nan])).value == -np.inf
