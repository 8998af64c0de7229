"""How far a vector is from exponential and power cones: compiled pushes, guesses and bisection agree."""

from __future__ import annotations

import numpy as np
import pytest

from relift.program import conic_passes, conic_passes_reference
from relift.program.cone_distance import pushed_into
from relift.program.cones import Exponential, Power, PowerND
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
    monkeypatch.setattr(conic_passes, "core", None)
    guessed, _ = pushed_into(exponential(n), vector, room, dual=dual)
    monkeypatch.setattr(conic_passes_reference, "NEWTON_STEPS", 0)
    expected, expected_moved = pushed_into(exponential(n), vector, room, dual=dual)
    # Where rounding decides whether a vector lies inside, so do pushes of its size.
    rounding = 1e-13 * (1 + np.abs(vector.reshape(n, 3)).max(axis=1)) / room.reshape(n, 3).min(axis=1)
    assert np.all(np.abs(push - expected) <= 3e-6 * expected + rounding)
    assert np.all(np.abs(guessed - expected) <= 3e-6 * expected + rounding)
    assert np.all(np.abs(moved - expected_moved) <= 3e-6 * expected.repeat(3) * room + 1e-12 * (1 + np.abs(vector)))
    assert expected.max() > 0


def test_a_guess_that_is_too_small_or_too_large_is_not_taken() -> None:
    wanted = np.array([0.5, 0.25, 0.75])

    def is_inside(delta: np.ndarray, k: np.ndarray) -> np.ndarray:
        return delta >= wanted[k]

    found = conic_passes_reference._smallest(is_inside, np.ones(3), np.array([0.4, 0.9, 0.75]))
    assert found == pytest.approx(wanted, rel=2e-6)
    assert np.all(found >= wanted)
    assert found[2] == 0.75


@pytest.mark.parametrize("dual", [False, True])
@pytest.mark.parametrize("off", [1.0, 1e-3, 1e-9, 0.0])
def test_compiled_pushes_into_power_cones_are_those_of_numpy(
    off: float, dual: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(4)
    cones = [Power(0.3), PowerND((0.2, 0.5, 0.3)), Power(0.9)] * 40
    rows = ConicRows(np.zeros((10 * 40, 1)), np.zeros(10 * 40), cones)
    layout, s = rows.layout, random.lognormal(0, 2, rows.n_rows)
    arguments = s[layout.arguments] / layout.exponents if dual else s[layout.arguments]
    products = np.bincount(layout.argument_owner, layout.exponents * np.log(arguments))
    s[layout.products] = np.exp(products) * random.choice([-1.0, 1.0], len(cones))
    s += off * random.normal(size=s.size)
    s[:3], s[3:7] = 0.0, -1.0  # the tip, and what lies behind it
    room = random.lognormal(0, 1, s.size)
    push, moved = pushed_into(rows, s, room, dual=dual)
    monkeypatch.setattr(conic_passes, "core", None)
    expected, expected_moved = pushed_into(rows, s, room, dual=dual)
    rounding = 1e-13 * (1 + np.abs(s).max()) / room.min()
    assert np.all(np.abs(push - expected) <= 3e-6 * expected + rounding)
    assert np.all(np.abs(moved - expected_moved) <= 3e-6 * expected[rows.cone_of_row] * room + 1e-10)
    assert push[0] == 0.0
    assert push[1] > 0.0


@pytest.mark.parametrize("dual", [False, True])
def test_what_is_not_a_number_is_pushed_alike(dual: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = ConicRows(np.zeros((18, 1)), np.zeros(18), [Exponential()] * 3 + [Power(0.4)] * 3)
    s = np.array([np.nan, 1, 1, 1, np.nan, 1, np.inf, 1, 1, np.nan, 1, 1, 1, 1, np.nan, 1, -np.inf, 1])
    push, moved = pushed_into(rows, s, np.ones(18), dual=dual)
    monkeypatch.setattr(conic_passes, "core", None)
    with np.errstate(all="ignore"):
        expected, expected_moved = pushed_into(rows, s, np.ones(18), dual=dual)
    np.testing.assert_array_equal(push, expected)
    np.testing.assert_array_equal(moved, expected_moved)
