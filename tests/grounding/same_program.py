"""The programs that every engine must ground to the same numbers, and what "the same" is: every bit of every array."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from tests.data import ROOT
from tests.grounding import programs as p

from relift.grounding.ground import GroundProgram

MODELS = ROOT / "examples" / "models"
_EDGES = [(i, (i + 1) % 5) for i in range(5)]
PROGRAMS: dict[str, tuple[str, dict[str, Any]]] = {
    "tc_qp_svm": (p.TC_QP_SVM + p.TC_QP_SVM_FACTS, {"c2": 5}),
    "max_flow": (p.MAX_FLOW + p.MAX_FLOW_FACTS, {}),
    "sudoku": (
        p.SUDOKU,
        {"initial": [(i, j, int(d)) for i, row in enumerate(p.CLUES, 1) for j, d in enumerate(row, 1) if d != "."]},
    ),
    "map_lp": (
        p.MAP_LP,
        {"edge": _EDGES, "theta2": {(x, y, v, 1 - v): 1 for x, y in _EDGES for v in (0, 1)}},
    ),
    "lasso": (p.LASSO + p.REGRESSION_FACTS, {}),
    "ridge": (p.RIDGE + p.REGRESSION_FACTS, {}),
    "mdp": (p.MDP, {}),
    "lp_svm": (p.LP_SVM + p.POINTS, {}),
    "texts that no tuple has beside numbers": (
        """relation word/2, id/1;
        long(W) if word(_,W) & W = "zzz";  both(X) if id(X) & long(X);  either(X) if id(X) | long(X);
        pair(X,W) if id(X) & long(W);
        var v(X) in either(X) >= 0, w(X) in both(X) >= 0, u(X,W) in pair(X,W);
        minimize: sum{X in either(X)} v(X) + sum{X in both(X)} w(X) + sum{X,W in pair(X,W)} u(X,W);
        subject to c forall {X in id(X) & !long(X)}: v(X) >= 1;""",
        {"word": [("a", "b")], "id": [1, 2]},
    ),
    "qp_svm": (p.QP_SVM + p.POINTS, {}),
}
GALLERY = sorted(path for path in MODELS.glob("*.rlp") if path.stem not in {"tc_qp_svm_cora", "dc_opf"})
"""Models of the gallery that come with their data."""


def assert_same_program(one: GroundProgram, other: GroundProgram) -> None:
    """Same unknowns and rows under the same numbers, same matrices, to the last bit."""
    first, second = one.program, other.program
    assert first.sense == second.sense
    assert first.r == second.r
    for name in ("q", "l", "u", "lb", "ub"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)
    _assert_same_matrix(first.A, second.A)
    _assert_same_matrix(first.P, second.P)
    assert first.quadratic == second.quadratic
    assert list(first.variable_names) == list(second.variable_names)
    assert list(first.row_names) == list(second.row_names)


def _assert_same_matrix(one: Any, other: Any) -> None:
    assert (one is None) == (other is None)
    if one is not None:
        assert one.shape == other.shape
        for part in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(one, part), getattr(other, part), err_msg=part)


def folder_of(path: Path) -> Path:
    """Where the file names of a model of the gallery begin."""
    return path.parent
