"""Theorem 2: XQ = QX for Q = BB' if and only if X acts on the rows of B as a symmetric matrix acts on its columns.

B of the example has entries 1/√2, which no float is, so everything about it is compared within 1e-14, a few
roundings of numbers of size 1 to 4.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.theorems.helpers import RUNNING_Q, Matrix, commutes

S = 1 / np.sqrt(2)
B = np.array([[S, S], [-1.0, 1.0], [-S, -S], [1.0, -1.0]])
ROUNDING = 1e-14


def turn(degrees: float) -> Matrix:
    """What turns row vectors by an angle: x -> x turn(angle)."""
    cos, sin = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    return np.array([[cos, sin], [-sin, cos]])


M = turn(-45) @ np.diag([np.sqrt(2), S]) @ turn(-45)
"""Turn, stretch, turn again."""


def close(left: Matrix, right: Matrix) -> bool:
    return bool(np.abs(left - right).max() <= ROUNDING)


def acts_on_columns(X: Matrix, B: Matrix) -> bool:
    """Whether XB = B R for the symmetric R = pinv(B) X B."""
    R = np.linalg.pinv(B) @ X @ B
    size = max(1.0, np.abs(X).max())
    return bool(np.abs(X @ B - B @ R).max() <= 1e-8 * size and np.abs(R - R.T).max() <= 1e-8 * size)


@settings(max_examples=120, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 7),
    rank=st.integers(1, 7),
    more=st.integers(0, 3),
    commuting=st.booleans(),
)
def test_commuting_with_Q_is_a_symmetric_action_on_the_columns_of_B(
    seed: int, n: int, rank: int, more: int, commuting: bool
) -> None:
    # Neither full column rank of B (it has `more` columns than its rank) nor an idempotent X is needed.
    random = np.random.default_rng(seed)
    rank = min(rank, n)
    factor = random.integers(-3, 4, (n, rank)) @ random.integers(-2, 3, (rank, rank + more)) * 1.0
    Q = factor @ factor.T
    X = random.standard_normal((n, n))
    X = X + X.T
    if commuting:  # a function of Q, and anything symmetric on its null space
        values, vectors = np.linalg.eigh(Q)
        null = vectors[:, np.abs(values) < 1e-9 * max(1.0, np.abs(values).max())]
        rest = vectors[:, null.shape[1] :]
        spectrum = values[null.shape[1] :] / max(1.0, np.abs(values).max())
        X = rest @ np.diag(np.cos(3 * spectrum)) @ rest.T + null @ (null.T @ X @ null) @ null.T
    is_commuting = commutes(X, Q, 1e-8)
    assert is_commuting or not commuting
    assert is_commuting == acts_on_columns(X, np.asarray(factor, dtype=np.float64))


def test_the_rows_of_B_give_the_running_example() -> None:
    assert close(B @ B.T, RUNNING_Q)


def test_M_moves_each_row_of_B_to_the_place_of_another() -> None:
    assert close(B @ M, B[[3, 0, 1, 2]])


def test_M_is_a_fourth_root_of_the_identity_whose_powers_add_up_to_nothing() -> None:
    powers = [np.linalg.matrix_power(M, k) for k in (1, 2, 3, 4)]
    assert close(powers[3], np.eye(2))
    assert close(np.sum(powers, axis=0), np.zeros((2, 2)))


def test_M_is_no_renaming_of_Q_yet_the_average_over_its_powers_is_a_fractional_symmetry() -> None:
    assert not np.allclose(B @ M @ M.T @ B.T, RUNNING_Q)
    shift = np.eye(4)[[3, 0, 1, 2]]
    assert close(shift @ B, B @ M)
    assert not commutes(shift, RUNNING_Q)
    X = np.sum([np.linalg.matrix_power(shift, k) for k in range(4)], axis=0) / 4
    assert np.array_equal(X, np.full((4, 4), 0.25))
    assert commutes(X, RUNNING_Q, 0.0)
    assert close(X @ B, B @ np.zeros((2, 2)))  # R = 0, the average of the powers of M


def test_half_a_turn_is_a_renaming_of_Q() -> None:
    order = [2, 3, 0, 1]
    assert close(B @ turn(180), B[order])
    assert np.array_equal(RUNNING_Q[np.ix_(order, order)], RUNNING_Q)


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_orthogonal_actions_on_B_are_exactly_the_renamings_of_Q(order: tuple[int, ...]) -> None:
    O = np.linalg.pinv(B) @ B[list(order)]
    moves_B = np.allclose(B @ O, B[list(order)], atol=1e-12) and np.allclose(O @ O.T, np.eye(2), atol=1e-12)
    renames_Q = np.array_equal(RUNNING_Q[np.ix_(order, order)], RUNNING_Q)
    assert moves_B == renames_Q
