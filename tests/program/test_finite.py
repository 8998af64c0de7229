"""Whether vectors are finite, with and without the compiled core."""

from __future__ import annotations

import numpy as np
import pytest

from relift.program import passes
from relift.program.passes import are_finite


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
