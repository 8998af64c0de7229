"""Families from control and physics."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from benchmarks.families.family import Family
from relift.program.program import Program


def fleet_control(systems: int) -> Program:
    """Predictive control of identical subsystems that share the power of each step; 10 kinds of initial states."""
    random = np.random.default_rng(17)
    states, inputs, horizon = 4, 2, 20
    F = np.eye(states) + 0.1 * random.standard_normal((states, states))
    F /= max(1.0, np.abs(np.linalg.eigvals(F)).max())
    G = random.standard_normal((states, inputs))
    weight = np.concatenate([np.tile(random.uniform(0.5, 2, states), horizon), np.full(horizon * inputs, 0.1)])
    goal = np.concatenate([np.tile(0.2 * random.standard_normal(states), horizon), np.zeros(horizon * inputs)])
    starts = (random.standard_normal((10, states)).round(1) @ F.T)[random.integers(0, 10, systems)]
    dynamics = sparse.hstack(
        [
            sparse.eye_array(horizon * states) - sparse.kron(sparse.eye_array(horizon, k=-1), F),
            -sparse.kron(sparse.eye_array(horizon), G),
        ]
    )
    # In each step the inputs of all subsystems together stay within the power there is.
    inputs_of_step = sparse.kron(sparse.eye_array(horizon), np.ones((1, inputs)))
    power_used = sparse.hstack([sparse.csr_array((horizon, horizon * states)), inputs_of_step])
    power = np.full(horizon, 0.3 * systems)
    A = sparse.vstack([sparse.kron(sparse.eye_array(systems), dynamics), sparse.hstack([power_used] * systems)]).tocsc()
    start = np.concatenate([starts, np.zeros((systems, (horizon - 1) * states))], axis=1).ravel()
    lb = np.tile(np.concatenate([np.full(horizon * states, -np.inf), np.full(horizon * inputs, -1.0)]), systems)
    return Program(
        P=sparse.diags_array(np.tile(weight, systems)),
        q=-np.tile(weight * goal, systems),
        A=A,
        l=np.concatenate([start, -power]),
        u=np.concatenate([start, power]),
        lb=lb,
        ub=-lb,
    )


def model_predictive_control(horizon: int) -> Program:
    """Tracking control of one linear system with random dynamics."""
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


FAMILIES = (
    Family("fleet control", "control", "QP", fleet_control, (300,), True),
    Family("model predictive control", "control", "QP", model_predictive_control, (500,), False),
    Family("obstacle 3-D", "control", "QP", obstacle, (20, 21), True),
)
