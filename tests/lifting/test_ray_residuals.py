"""Compiled residuals of rays that prove infeasibility are the very floats of their twin in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from relift.lifting import ray_residuals
from relift.lifting.ray_residuals import infeasibility_residual, measures_of_rows
from relift.program import passes
from relift.program.program import Program

pytestmark = pytest.mark.skipif(passes.core is None, reason="there is no compiled core")


def drawn(seed: int) -> tuple[Program, np.ndarray]:
    """A program of which some rows are empty, some sides infinite, some bounds huge; and dual values with some dust."""
    random = np.random.default_rng(seed)
    m, n = int(random.integers(0, 14)), int(random.integers(1, 14))
    A = random.normal(size=(m, n)) * (random.uniform(size=(m, n)) < 0.6) * 10.0 ** random.integers(-4, 4, (m, 1))
    middle, width = random.normal(size=(2, max(m, n)))
    sides = [np.where(random.uniform(size=size) < 0.5, middle[:size], np.inf) for size in (m, m, n, n)]
    l, u, lb, ub = (part + sign * np.abs(width[: part.size]) for part, sign in zip(sides, (-1, 1, -1, 1), strict=True))
    l, lb = np.where(np.isfinite(l), l, -np.inf), np.where(np.isfinite(lb), lb, -np.inf)
    matrix = (sparse.csr_array if seed % 2 else sparse.csc_array)(A)
    y = random.normal(size=m) * random.choice([0.0, 1.0, 1e-12, 1e200], m, p=[0.2, 0.6, 0.15, 0.05])
    return Program(q=np.zeros(n), A=matrix, l=l, u=u, lb=lb, ub=ub), y


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=300, deadline=None)
def test_a_compiled_residual_of_a_ray_is_that_of_its_twin(seed: int) -> None:
    program, y = drawn(seed)
    with np.errstate(all="ignore"):
        found, measured = infeasibility_residual(program, y), measures_of_rows(program.A)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ray_residuals, "core_for", lambda *_: None)
            expected, measured_slowly = infeasibility_residual(program, y), measures_of_rows(program.A)
    np.testing.assert_array_equal(found, expected)
    for part, other in zip(measured, measured_slowly, strict=True):
        np.testing.assert_array_equal(part, other)


def test_rays_that_prove_something_are_among_those_that_are_compared() -> None:
    with np.errstate(all="ignore"):
        assert sum(np.isfinite(infeasibility_residual(*drawn(seed))) for seed in range(300)) > 20
