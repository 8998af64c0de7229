"""What HiGHS reads from a model file, to be compared with what relift reads."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from relift import Program

DROPPED = 1e-12
"""HiGHS leaves out smaller entries."""


_TOKENS = re.compile(r"[<>=]+|[-+*/^\[\]:]|\d[\d.]*(?:[eE][-+]?\d+)?|[^\s<>=+*/^\[\]:-]+")
_NUMBER = re.compile(r"\d[\d.]*(?:[eE][-+]?\d+)?\Z")


def has_constant_in_row(text: str) -> bool:
    """Whether a row of an LP file has a constant on its left, which HiGHS drops without a word."""
    rows = re.split(r"subject to|bounds", text, maxsplit=2, flags=re.IGNORECASE)[1:2]
    tokens = ["", *_TOKENS.findall(re.sub(r"\\.*", "", rows[0] if rows else "")), "end"]
    return any(
        _NUMBER.match(token) and re.match(r"[-+<>=]", after) and not re.match(r"[<>=^]", _before_signs(tokens, k))
        for k, (token, after) in enumerate(pairwise(tokens))
    )


def has_repeated_cost(text: str) -> bool:
    """Whether a variable stands twice in the objective of an LP file: relift adds its numbers, HiGHS keeps one."""
    objective = re.split(r"subject to", re.sub(r"\\.*", "", text), maxsplit=1, flags=re.IGNORECASE)[0]
    words = [token for token in _TOKENS.findall(objective) if not _NUMBER.match(token) and re.match(r"[^\W\d]", token)]
    return len(set(words)) < len(words)


def has_words_like_numbers(text: str) -> bool:
    """Whether an LP file has names that begin with what C calls a number: inf, nan, or 0x of ``0x1``."""
    tokens = _TOKENS.findall(re.sub(r"\\.*", "", text))
    return re.search(r"(?<![\w.])0+[xX][0-9a-fA-F.]", text) is not None or any(
        re.match(r"inf(?!(inity)?\Z)|nan", token, re.IGNORECASE) for token in tokens
    )


def has_indented_comment_on_squares(text: str) -> bool:
    """Whether an MPS file has a comment behind a space in a quadratic section: HiGHS adds a variable called ``*``."""
    squares = re.split(r"^(?:QUADOBJ|QMATRIX|QSECTION)", text, maxsplit=1, flags=re.MULTILINE)[1:]
    return bool(squares) and re.search(r"^\s+\*", squares[0], re.MULTILINE) is not None


def _before_signs(tokens: list[str], k: int) -> str:
    """The token before a number and its signs."""
    while tokens[k - 1] in {"+", "-"}:
        k -= 1
    return tokens[k - 1]


def difference_from_highs(path: Path, program: Program) -> str:
    """The first thing that HiGHS reads in another way, or an empty text; also where HiGHS reads nothing, or warns."""
    import highspy

    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".lp" and (has_constant_in_row(text) or has_repeated_cost(text) or has_words_like_numbers(text)):
        return ""
    if path.suffix == ".mps" and has_indented_comment_on_squares(text):
        return ""
    highs = highspy.Highs()
    for name, value in (("output_flag", False), ("small_matrix_value", 1e-12), ("large_matrix_value", 1e300)):
        highs.setOptionValue(name, value)
    if highs.readModel(str(path)) != highspy.HighsStatus.kOk or len(program.quadratic):
        return ""
    model = highs.getModel()
    lp = model.lp_
    if (lp.num_col_, lp.num_row_) != (program.n_variables, program.n_rows):
        return f"HiGHS reads {lp.num_col_} columns and {lp.num_row_} rows, relift {program}"
    sense = "max" if lp.sense_ == highspy.ObjSense.kMaximize else "min"
    # HiGHS forgets "maximize" where nothing is.
    if sense != program.sense and (program.q.any() or program.P is not None):
        return f"HiGHS reads {sense}, relift {program.sense}"
    if lp.offset_ != program.r:
        return f"HiGHS reads the constant {lp.offset_}, relift {program.r}"
    for name, theirs in (("q", lp.col_cost_), ("lb", lp.col_lower_), ("ub", lp.col_upper_),
                         ("l", lp.row_lower_), ("u", lp.row_upper_)):  # fmt: skip
        ours = getattr(program, name)
        theirs, ours = _bounds(theirs), _bounds(ours)  # costs from 1e20 on are infinite to HiGHS too
        if not np.array_equal(ours, theirs):
            at = int(np.flatnonzero(ours != theirs)[0])
            return f"{name}[{at}] is {theirs[at]!r} for HiGHS, {ours[at]!r} for relift"
    A = _matrix(lp.a_matrix_, lp.num_row_, lp.num_col_, lp.a_matrix_.format_ == highspy.MatrixFormat.kColwise)
    if (abs(A - program.A) > DROPPED).nnz:
        return f"A differs: HiGHS {A.toarray().tolist()}, relift {program.A.toarray().tolist()}"
    P = np.zeros((lp.num_col_, lp.num_col_))
    if model.hessian_.dim_:
        L = _matrix(model.hessian_, lp.num_col_, lp.num_col_, True).toarray()
        P = L if model.hessian_.format_ != highspy.HessianFormat.kTriangular else L + np.tril(L, -1).T
    ours_P = np.zeros_like(P) if program.P is None else program.P.toarray()
    if np.abs(P - ours_P).max(initial=0.0) > DROPPED:
        return f"P differs: HiGHS {P.tolist()}, relift {ours_P.tolist()}"
    return ""


def _bounds(values: Any) -> Any:
    bounds = np.asarray(values, dtype=float)
    return np.where(np.abs(bounds) >= 1e20, np.copysign(np.inf, bounds), bounds)


def _matrix(stored: Any, m: int, n: int, is_columnwise: bool) -> Any:
    kind = sparse.csc_array if is_columnwise else sparse.csr_array
    parts = np.asarray(stored.value_), np.asarray(stored.index_), np.asarray(stored.start_)
    return kind(parts, shape=(m, n)).tocsc()
