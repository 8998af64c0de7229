"""Whether vectors are finite, with and without the compiled core."""

from __future__ import annotations

import numpy as np
import pytest

from relift.program import passes
from relift.program.passes import are_finite, fit


@pytest.mark.parametrize("is_compiled", [True, False])
@pytest.mark.parametrize("odd", [0.0, 1e300, -1e-300, np.inf, -np.inf, np.nan])
@pytest.mark.filterwarnings("error")
def test_one_entry_decides(odd: float, is_compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_compiled:
        monkeypatch.setattr(passes, "core", None)
    vector, other = np.full(7, 2.0), np.ones(3)
    vector[4] = odd
    for given in ((vector,), (vector[::-1],), (other, vector), (vector, other, np.zeros(0))):
        assert are_finite(*given) == np.isfinite(odd)


def test_whole_numbers_and_single_precision_are_looked_at_as_they_are() -> None:
    assert are_finite(np.array([2**62, -(2**62)]), np.ones(2))
    assert not are_finite(np.ones(2), np.array([np.nan], np.float32))


FITTING = {
    "a vector": (np.ones(3), True),
    "no vector": (None, True),
    "an infinity": (np.array([1.0, np.inf, 2.0]), False),
    "one number too many": (np.ones(4), False),
    "a column": (np.ones((3, 1)), False),
    "every second number": (np.ones(6)[::2], False),
    "a masked array": (np.ma.MaskedArray(np.ones(3), mask=[True, False, False]), False),
    "whole numbers": (np.ones(3, np.int64), False),
    "single precision": (np.ones(3, np.float32), False),
    "the other order of bytes": (np.ones(3, ">f8"), False),
    "a list": ([1.0, 1.0, 1.0], False),
}


@pytest.mark.parametrize("is_compiled", [True, False])
@pytest.mark.parametrize("name", FITTING)
def test_what_fits_a_program(name: str, is_compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_compiled:
        monkeypatch.setattr(passes, "core", None)
    vector, fits = FITTING[name]
    assert fit((vector,), (3,), are_finite=True) == fits
    assert fit((None, np.zeros(0), vector), (5, 0, 3), are_finite=True) == fits
    assert fit((vector,), (3,), are_finite=False) == (fits or name == "an infinity")
