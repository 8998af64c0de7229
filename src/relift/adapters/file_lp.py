r"""LP-format text to a program and back (stage 0).

Reading goes through HiGHS, whose reader is silent about some repairs; what its log admits to have dropped
is refused here, and so is an objective that names a variable twice (HiGHS keeps one of the two terms).
HiGHS does not read rows with two sides, ``1 <= x + y <= 2``; such a row is therefore written as two rows,
``name.lower`` and ``name.upper``.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from relift.adapters.file_mps import INFINITE_BOUND
from relift.adapters.names import FileNames
from relift.adapters.write_mps import decimal
from relift.errors import FileFormatError
from relift.program.program import Program, Vector

_OBJECTIVE = re.compile(
    r"^\s*(?:min|max)(?:imi[sz]e|imum)?\b(.*?)^\s*(?:subject\s+to|such\s+that|st\.?|s\.t\.)\s*$",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_TERM = re.compile(r"(?<![\w.\]])([A-Za-z_!\"#$%&(),;?@{}~'`][^\s+\-*^<>=\[\]:]*)")


def program_from_lp(text: str, source: str, relax_integers: bool = False) -> Program:
    r"""Read the text of a file in LP format.

    Parameters
    ----------
    text
        All of the file.
    source
        How to call the file in messages.
    relax_integers
        Read integer variables as continuous ones instead of refusing them.

    Raises
    ------
    FileFormatError
        If HiGHS cannot read it, would change it, or it holds more than a linear or quadratic program.

    Examples
    --------
    >>> text = "minimise\n cost: x + [ 2 x ^ 2 + 2 x * y ] / 2\nsubject to\n c: x + y >= 1\nend\n"
    >>> program_from_lp(text.replace("[ 2 x ^ 2 + 2 x * y ] / 2", "3 y"), "tiny.lp")
    Program(LP, min, 2 variables, 1 rows, 2 nonzeros)
    """
    if not text.strip():
        raise FileFormatError(f"{source} is empty.")
    _refuse_repeated_terms(text, source)
    import highspy

    with tempfile.TemporaryDirectory(prefix="relift-") as folder:
        model, log_file = Path(folder, "model.lp"), Path(folder, "log.txt")
        model.write_text(text, encoding="utf-8")
        highs = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in (
            ("log_to_console", False),
            ("log_file", str(log_file)),
            ("small_matrix_value", 1e-12),
            ("large_matrix_value", 1e300),
        ):
            highs.setOptionValue(option, value)
        status = highs.readModel(str(model))
        highs.setOptionValue("log_file", "")
        log = log_file.read_text(encoding="utf-8", errors="replace") if log_file.exists() else ""
    reasons = [line.split(":", 1)[1].strip() for line in log.splitlines() if line.startswith("ERROR")]
    reasons = [reason for reason in reasons if not reason.startswith("Parser error")]
    if status == highspy.HighsStatus.kError:
        reason = (
            f": HiGHS says {'; '.join(reasons)!r}" if reasons else ", and HiGHS, which reads it, does not say where"
        )
        raise FileFormatError(
            f"{source} cannot be read as LP format{reason}.",
            "Known limits: no rows with two sides, no special ordered sets, no quadratic constraints.",
        )
    changes = [
        line for line in log.splitlines() if "ignored" in line or ("cancellations" in line and " 0 canc" not in line)
    ]
    if changes and not all("no columns or no rows" in line for line in changes):
        raise FileFormatError(
            f"{source} has coefficients that HiGHS, which reads LP format, would drop"
            f" ({changes[0].removeprefix('WARNING:').strip()}).",
            "Write the model as MPS, which relift reads itself.",
        )
    return _program_from_highs(highspy, highs.getModel(), source, relax_integers)


def _refuse_repeated_terms(text: str, source: str) -> None:
    text = re.sub(r"\\.*", "", text)
    found = _OBJECTIVE.search(text)
    if not found:
        return
    linear = re.sub(r"\[.*?\]\s*(/\s*2)?", " ", found[1], flags=re.DOTALL)
    linear = re.sub(r"^\s*[^\s:]+\s*:", " ", linear)
    name, count = max(Counter(_TERM.findall(linear)).items(), key=lambda pair: pair[1], default=("", 0))
    if count > 1:
        raise FileFormatError(
            f"{source} names {name!r} {count} times in the linear part of the objective.", "Add the terms up."
        )


def _program_from_highs(highspy: Any, model: Any, source: str, relax_integers: bool) -> Program:
    lp, hessian = model.lp_, model.hessian_
    n, m = lp.num_col_, lp.num_row_
    if n == 0:
        raise FileFormatError(f"{source} has no variables.")
    kinds = list(lp.integrality_)
    continuous, semi = highspy.HighsVarType.kContinuous, highspy.HighsVarType.kSemiContinuous
    if any(kind in (semi, highspy.HighsVarType.kSemiInteger) for kind in kinds):
        raise FileFormatError(f"{source} has semi-continuous variables, which relift does not take.")
    integer = [j for j, kind in enumerate(kinds) if kind != continuous]
    names = list(lp.col_names_)
    if integer and not relax_integers:
        raise FileFormatError(
            f"{source} has {len(integer)} integer variables, the first is {names[integer[0]]!r};"
            " relift solves continuous programs.",
            "Ask for the relaxation with relax_integers=True (on the command line: --relax).",
        )
    parts = (
        np.array(lp.a_matrix_.value_),
        np.array(lp.a_matrix_.index_, dtype=np.int64),
        np.array(lp.a_matrix_.start_, dtype=np.int64),
    )
    if lp.a_matrix_.format_ == highspy.MatrixFormat.kColwise:
        A: Any = sparse.csc_array(parts, shape=(m, n))
    else:
        A = sparse.csr_array(parts, shape=(m, n))
    P = None
    if hessian.dim_:
        values = np.array(hessian.value_)
        lower = sparse.csc_array((values, np.array(hessian.index_), np.array(hessian.start_)), shape=(n, n))
        # HiGHS stores the lower triangle, with a zero for each empty column.
        lower.eliminate_zeros()
        P = lower if hessian.format_ == highspy.HessianFormat.kSquare else lower + sparse.tril(lower, k=-1).T
    return Program(
        P,
        np.array(lp.col_cost_),
        A,
        _bounds(lp.row_lower_),
        _bounds(lp.row_upper_),
        _bounds(lp.col_lower_),
        _bounds(lp.col_upper_),
        float(lp.offset_),
        sense="max" if lp.sense_ == highspy.ObjSense.kMaximize else "min",
        variable_names=names,
        row_names=list(lp.row_names_),
    )


def _bounds(values: Any) -> Vector:
    bounds = np.array(values, dtype=np.float64)
    bounds[bounds >= INFINITE_BOUND] = np.inf
    bounds[bounds <= -INFINITE_BOUND] = -np.inf
    return bounds


def lp_lines(program: Program, names: FileNames) -> Iterator[str]:
    r"""Write the lines of a file in LP format.

    Examples
    --------
    >>> from relift.adapters.names import names_for_lp
    >>> program = Program(P=[[2, 1], [1, 2]], q=[1, 0], A=[[1, -3]], u=[2], lb=[0, -1], r=5)
    >>> print(*lp_lines(program, names_for_lp(program)), sep="")
    minimize
     objective: + 1 x0 + 0 x1
     + [ + 2 x0 ^ 2 + 2 x0 * x1 + 2 x1 ^ 2 ] / 2
     + 5
    subject to
     c0: + 1 x0 - 3 x1 <= 2
    bounds
     -1 <= x1 <= inf
    end
    """
    yield from (f"\\ {note}\n" for note in names.comments)
    yield "maximize\n" if program.sense == "max" else "minimize\n"
    yield f" {names.objective}: " + _terms(program.q.tolist(), names.variables) + "\n"
    if program.P is not None:
        yield " + [ " + _quadratic_terms(program, names) + " ] / 2\n"
    if program.r != 0:
        yield f" {_signed(program.r)}\n"
    yield "subject to\n"
    A = program.A.tocsr()
    for i, name in enumerate(names.rows):
        part = slice(A.indptr[i], A.indptr[i + 1])
        values, columns = A.data[part].tolist(), A.indices[part].tolist()
        # A row without entries still needs a term.
        left = _terms(values, [names.variables[j] for j in columns]) if columns else f"+ 0 {names.variables[0]}"
        l, u = float(program.l[i]), float(program.u[i])
        if l == u:
            yield f" {name}: {left} = {decimal(l)}\n"
        elif np.isfinite(l) and np.isfinite(u):
            yield f" {name}.lower: {left} >= {decimal(l)}\n"
            yield f" {name}.upper: {left} <= {decimal(u)}\n"
        elif np.isfinite(u):
            yield f" {name}: {left} <= {decimal(u)}\n"
        else:
            yield f" {name}: {left} >= {decimal(l) if np.isfinite(l) else '-1e30'}\n"
    yield "bounds\n"
    for name, low, high in zip(names.variables, program.lb.tolist(), program.ub.tolist(), strict=True):
        if low == high:
            yield f" {name} = {decimal(low)}\n"
        elif np.isinf(low) and np.isinf(high):
            yield f" {name} free\n"
        elif low != 0 or np.isfinite(high):
            yield f" {decimal(low)} <= {name} <= {decimal(high)}\n"
    yield "end\n"


def _signed(value: float) -> str:
    return f"- {decimal(-value)}" if value < 0 else f"+ {decimal(value + 0.0)}"


def _terms(values: list[float], names: Any) -> str:
    terms = [f"{_signed(value)} {name}" for value, name in zip(values, names, strict=True)]
    return "\n  ".join(" ".join(terms[k : k + 8]) for k in range(0, len(terms), 8))


def _quadratic_terms(program: Program, names: FileNames) -> str:
    P = sparse.tril(program.P).tocoo()
    terms = []
    for i, j, value in zip(P.coords[0].tolist(), P.coords[1].tolist(), P.data.tolist(), strict=True):
        first, second = names.variables[j], names.variables[i]
        terms.append(f"{_signed(value)} {first} ^ 2" if i == j else f"{_signed(2 * value)} {first} * {second}")
    return "\n  ".join(" ".join(terms[k : k + 6]) for k in range(0, len(terms), 6))
