"""Program families whose size can be dialled; half of them have no symmetry at all."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from relift.program.program import Program


@dataclass(frozen=True)
class Family:
    """One family: what it is, how it is built, at which sizes it is measured by default."""

    name: str
    build: Callable[[int], Program]
    sizes: tuple[int, ...]
    is_symmetric: bool


def _example(name: str) -> Any:
    """A module of examples/, which is no package."""
    path = Path(__file__).parent.parent / "examples" / f"{name}.py"
    specification = importlib.util.spec_from_file_location(name, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def charging_fleet(n_cars: int) -> Program:
    return _example("charging_fleet").charging_fleet(n_cars)


def one_hot_svm(n: int) -> Program:
    """Linear SVM, primal, on categorical features coded one-hot: many examples coincide."""
    random = np.random.default_rng(0)
    levels = (4, 5, 3)
    codes = np.column_stack([random.integers(0, k, n) for k in levels])
    offsets = np.cumsum((0, *levels[:-1]))
    d = sum(levels)
    X = sparse.csr_array((np.ones(3 * n), (np.repeat(np.arange(n), 3), (codes + offsets).ravel())), shape=(n, d))
    truth = random.standard_normal(d)
    label = np.where(X @ truth + 0.7 * random.standard_normal(n) > 0, 1.0, -1.0)
    rows = sparse.hstack([sparse.diags_array(label) @ X, label[:, None], sparse.eye_array(n)]).tocsc()
    P = sparse.diags_array(np.concatenate([np.ones(d), np.zeros(n + 1)]))
    lb = np.concatenate([np.full(d + 1, -np.inf), np.zeros(n)])
    return Program(P=P, q=np.concatenate([np.zeros(d + 1), np.ones(n)]), A=rows, l=np.ones(n), lb=lb)


def obstacle(k: int) -> Program:
    """A membrane over an obstacle on a k x k x k grid: box-constrained QP with the symmetry of the cube."""
    second = sparse.diags_array([-np.ones(k - 1), 2 * np.ones(k), -np.ones(k - 1)], offsets=[-1, 0, 1])
    eye = sparse.eye_array(k)
    kron = sparse.kron
    laplacian = kron(kron(second, eye), eye) + kron(kron(eye, second), eye) + kron(kron(eye, eye), second)
    n = k**3
    lb = np.zeros(n)
    lb[n // 2] = 1.0
    return Program(P=sparse.csc_array(laplacian), q=np.full(n, 0.001), lb=lb, ub=2.0)


def machine_repair(k: int) -> Program:
    """Linear program of a Markov decision process: k machines, each up or down, one repair at a time."""
    states = np.arange(2**k)
    up = ((states[:, None] >> np.arange(k)) & 1).astype(bool)
    n_up = up.sum(axis=1)
    rows, columns, data, rhs = [], [], [], []
    discount, failure, row = 0.95, 0.1, 0
    for state in states:
        for action in range(-1, k):
            if action >= 0 and up[state, action]:
                continue
            # With probability `failure` one random working machine fails; the repaired machine comes up.
            after = state | (1 << action) if action >= 0 else state
            targets = {int(after): 1.0}
            working = [i for i in range(k) if (after >> i) & 1]
            if working:
                targets = {int(after): 1.0 - failure} | {
                    int(after & ~(1 << i)): failure / len(working) for i in working
                }
            rows.append(row)
            columns.append(int(state))
            data.append(1.0)
            for target, probability in targets.items():
                rows.append(row)
                columns.append(target)
                data.append(-discount * probability)
            rhs.append(float(n_up[state]) - (0.5 if action >= 0 else 0.0))
            row += 1
    A = sparse.coo_array((data, (rows, columns)), shape=(row, states.size)).tocsc()
    A.sum_duplicates()
    return Program(q=np.ones(states.size), A=A, l=np.array(rhs))


def transport(k: int) -> Program:
    """Depots of 8 kinds, k in all, serve k shops of 12 kinds; costs depend on the kinds."""
    random = np.random.default_rng(3)
    depot, shop = random.integers(0, 8, k), random.integers(0, 12, k)
    cost = random.integers(1, 30, (8, 12)).astype(float)[np.ix_(depot, shop)]
    demand = random.integers(1, 9, 12).astype(float)[shop]
    supply = random.integers(5, 15, 8).astype(float)[depot] + 5.0
    eye, ones = sparse.eye_array(k), np.ones((1, k))
    A = sparse.vstack([sparse.kron(eye, ones), sparse.kron(ones, eye)]).tocsc()
    infinite = np.full(k, np.inf)
    return Program(
        q=cost.ravel(), A=A, l=np.concatenate([-infinite, demand]), u=np.concatenate([supply, infinite]), lb=0
    )


def equicorrelated_portfolio(n: int) -> Program:
    """Mean-variance portfolio: assets of one sector share mean, variance and correlations."""
    random = np.random.default_rng(4)
    sectors = 25
    sector = np.arange(n) % sectors
    factor = random.uniform(0.05, 0.3, (sectors, 3)).round(2)
    common = factor @ factor.T
    P = common[np.ix_(sector, sector)].round(4) + np.diag(random.uniform(0.02, 0.1, sectors).round(3)[sector])
    mean = random.uniform(0.01, 0.1, sectors).round(3)[sector]
    return Program(P=P, q=-0.5 * mean, A=np.ones((1, n)), l=[1.0], u=[1.0], lb=0, ub=0.2)


def random_lp(n: int) -> Program:
    """No symmetry: a sparse random linear program, feasible and bounded."""
    random = np.random.default_rng(5)
    m = n // 2
    A = sparse.random_array((m, n), density=8 / m, rng=random, data_sampler=random.standard_normal).tocsc()
    x = random.random(n)
    return Program(q=random.random(n), A=A, l=A @ x - 0.1, u=A @ x + 0.1, lb=0, ub=2)


def random_qp(n: int) -> Program:
    """No symmetry: sparse least squares with random rows."""
    random = np.random.default_rng(6)
    B = sparse.random_array((n, n), density=4 / n, rng=random, data_sampler=random.standard_normal).tocsc()
    A = sparse.random_array((n // 4, n), density=6 / n, rng=random, data_sampler=random.standard_normal).tocsc()
    x = random.standard_normal(n)
    P = (B.T @ B + 0.01 * sparse.eye_array(n)).tocsc()
    return Program(P=(P + P.T) / 2, q=random.standard_normal(n), A=A, l=A @ x - 0.5, u=A @ x + 0.5)


def isotonic(n: int) -> Program:
    """No symmetry: isotonic regression of noisy data."""
    random = np.random.default_rng(7)
    target = np.sort(random.standard_normal(n)) + 0.3 * random.standard_normal(n)
    A = sparse.diags_array([-np.ones(n - 1), np.ones(n - 1)], offsets=[0, 1], shape=(n - 1, n)).tocsc()
    return Program(P=sparse.eye_array(n), q=-target, A=A, l=0)


def model_predictive_control(horizon: int) -> Program:
    """No symmetry: tracking control of one linear system with random dynamics."""
    random = np.random.default_rng(8)
    states, inputs = 8, 3
    F = np.eye(states) + 0.1 * random.standard_normal((states, states))
    F /= max(1.0, np.abs(np.linalg.eigvals(F)).max())
    G = random.standard_normal((states, inputs))
    dynamics = sparse.hstack(
        [
            sparse.eye_array(horizon * states) - sparse.kron(sparse.eye_array(horizon, k=-1), F),
            -sparse.kron(sparse.eye_array(horizon), G),
        ]
    ).tocsc()
    start = np.concatenate([F @ random.standard_normal(states), np.zeros((horizon - 1) * states)])
    weight = np.concatenate([np.tile(random.uniform(0.5, 2, states), horizon), np.full(horizon * inputs, 0.1)])
    reference = np.concatenate([0.2 * random.standard_normal(horizon * states), np.zeros(horizon * inputs)])
    lb = np.concatenate([np.full(horizon * states, -np.inf), np.full(horizon * inputs, -1.0)])
    return Program(P=sparse.diags_array(weight), q=-weight * reference, A=dynamics, l=start, u=start, lb=lb, ub=-lb)


FAMILIES = (
    Family("charging fleet", charging_fleet, (1000, 5000), True),
    Family("one-hot SVM", one_hot_svm, (20_000, 100_000), True),
    Family("obstacle 3-D", obstacle, (20, 21), True),
    Family("machine repair MDP", machine_repair, (10,), True),
    Family("transport", transport, (200,), True),
    Family("sector portfolio", equicorrelated_portfolio, (1500,), True),
    Family("random LP", random_lp, (1500,), False),
    Family("random QP", random_qp, (2000,), False),
    Family("isotonic regression", isotonic, (50_000,), False),
    Family("model predictive control", model_predictive_control, (500,), False),
)
