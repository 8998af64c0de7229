"""Rows are merged if they are equal, also where their words are equal by accident."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from relift.ml import merging
from relift.ml.merging import merge_equal


@pytest.mark.parametrize("is_sparse", [False, True])
def test_different_rows_of_one_word_stay_apart(is_sparse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "_factors", lambda n_features: np.ones(n_features))
    X = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0], [0.0, 3.0], [2.0, 1.0]])
    merged = merge_equal(sparse.csr_array(X) if is_sparse else X, [np.zeros(5, dtype=int)])
    labels = merged.labels
    assert len(merged.first) == 3
    assert labels[0] == labels[2]
    assert labels[1] == labels[4]
    assert len({int(labels[0]), int(labels[1]), int(labels[3])}) == 3


def test_equal_rows_of_different_colours_stay_apart() -> None:
    merged = merge_equal(np.ones((4, 2)), [np.array([0, 1, 0, 1]), np.array([0, 0, 0, 1])])
    assert len(merged.first) == 3
    np.testing.assert_allclose(np.sort(merged.total(np.ones(4))), [1.0, 1.0, 2.0])
