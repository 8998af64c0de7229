"""How far a vector is from exponential cones: guesses by Newton's method and bisection agree."""

from __future__ import annotations

import numpy as np
import pytest

from relift.program import cone_distance
from relift.program.cone_distance import pushed_into
from relift.program.cones import Exponential
from relift.program.conic_rows import ConicRows


def exponential(n: int) -> ConicRows:
    return ConicRows(np.zeros((3 * n, 1)), np.zeros(3 * n), [Exponential()] * n)


@pytest.mark.parametrize("dual", [False, True])
@pytest.mark.parametrize("off", [1.0, 1e-3, 1e-9, 1e-14])
def test_guesses_and_bisection_find_the_same_push(off: float, dual: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    n = 200
    y, z = random.lognormal(0, 2, n), random.lognormal(0, 2, n)
    s = np.column_stack([y * np.log(z / y), y, z])
    if dual:  # u < 0 with -u e^(v/u) <= e w
        s = np.column_stack([-y, s[:, 0] - y, z])
    vector = (s + off * random.normal(size=s.shape)).ravel()
    vector[:9] = [0, 0, -1, 2, 0, 0, -1, -1, -1]  # flat sides and what lies behind them
    room = random.lognormal(0, 1, vector.size)
    push, moved = pushed_into(exponential(n), vector, room, dual=dual)
    monkeypatch.setattr(cone_distance, "NEWTON_STEPS", 0)
    expected, expected_moved = pushed_into(exponential(n), vector, room, dual=dual)
    # Where rounding decides whether a vector lies inside, so do pushes of its size.
    rounding = 1e-13 * (1 + np.abs(vector.reshape(n, 3)).max(axis=1)) / room.reshape(n, 3).min(axis=1)
    assert np.all(np.abs(push - expected) <= 3e-6 * expected + rounding)
    assert np.all(np.abs(moved - expected_moved) <= 3e-6 * expected.repeat(3) * room + 1e-12 * (1 + np.abs(vector)))
    assert expected.max() > 0


def test_a_guess_that_is_too_small_or_too_large_is_not_taken() -> None:
    wanted = np.array([0.5, 0.25, 0.75])

    def is_inside(delta: np.ndarray, k: np.ndarray) -> np.ndarray:
        return delta >= wanted[k]

    found = cone_distance._smallest(is_inside, np.ones(3), np.array([0.4, 0.9, 0.75]))
    assert found == pytest.approx(wanted, rel=2e-6)
    assert np.all(found >= wanted)
    assert found[2] == 0.75
