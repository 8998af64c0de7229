"""Vectors of one number are shared, and what is shared keeps its type and its sign."""

from __future__ import annotations

import numpy as np

from relift.program.index_sets import constant


def test_vectors_of_one_number_are_made_once() -> None:
    assert constant(0.0, 5) is constant(0.0, 5)
    assert constant(-1, 5) is constant(-1, 5)
    assert not constant(1, 5).flags.writeable


def test_whole_numbers_and_floats_are_told_apart() -> None:
    for value in (0, 1, -1):
        assert constant(value, 4).dtype == np.int64
        assert constant(float(value), 4).dtype == np.float64


def test_zero_keeps_its_sign() -> None:
    assert not np.signbit(constant(0.0, 3)).any()
    assert np.signbit(constant(-0.0, 3)).all()
    assert not np.signbit(constant(0.0, 3)).any()
