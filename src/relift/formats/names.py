"""Names that a file format can carry: those of the program where possible, safe ones elsewhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

from relift.formats.lp_words import HEADING_WORDS
from relift.program.program import Program

_MPS_BAD = re.compile(r"[\s\x00-\x1f\x7f]|^[*$'&]|^$")
_LP_GOOD = re.compile(r"[A-Za-z_][A-Za-z0-9_.#@~]*\Z")
_LP_RESERVED = re.compile(r"((inf|nan).*|e\d*|free|sos\d?|obj)\Z", re.IGNORECASE)


@final
@dataclass(frozen=True)
class FileNames:
    """One name for each variable, each row and the objective, all different within their kind."""

    variables: Sequence[str]
    rows: Sequence[str]
    objective: str
    replaced: tuple[tuple[str, str], ...] = ()
    """Pairs of a name that the format cannot hold and the one written instead."""

    @property
    def comments(self) -> list[str]:
        """What to write at the head of a file about replaced names."""
        return [f"{new} stands for {old!r}" for old, new in self.replaced]


def names_for_mps(program: Program) -> FileNames:
    """Names without white space, for MPS files."""
    return _names(program, lambda name: not _MPS_BAD.search(name))


def names_for_lp(program: Program) -> FileNames:
    """Names of letters, digits and a few signs that are no keyword, for LP files.

    Examples
    --------
    >>> names = names_for_lp(Program(q=[1, 1, 1], variable_names=["x 1", "x_1", "free"]))
    >>> names.variables, names.replaced
    (['x_1_1', 'x_1', 'free_1'], (('x 1', 'x_1_1'), ('free', 'free_1')))
    """
    return _names(program, _is_good_in_lp)


def _is_good_in_lp(name: str) -> bool:
    return bool(_LP_GOOD.match(name)) and not _LP_RESERVED.match(name) and name.lower() not in HEADING_WORDS


def _names(program: Program, is_good: Callable[[str], bool]) -> FileNames:
    replaced: list[tuple[str, str]] = []
    variables = _safe(program.variable_names, "x", program.n_variables, is_good, replaced)
    rows = _safe(program.row_names, "c", program.n_rows, is_good, replaced)
    objective = "objective"
    taken = set(rows)
    while objective in taken:
        objective += "_"
    return FileNames(variables, rows, objective, tuple(replaced))


def _safe(
    names: Sequence[str] | None,
    letter: str,
    size: int,
    is_good: Callable[[str], bool],
    replaced: list[tuple[str, str]],
) -> list[str]:
    if names is None:
        return [f"{letter}{k}" for k in range(size)]
    given = [str(name) for name in names]
    taken: set[str] = set()
    used: Counter[str] = Counter()
    out: list[str | None] = []
    for name in given:
        keep = is_good(name) and name not in taken
        taken.update([name] if keep else [])
        out.append(name if keep else None)
    for k, name in enumerate(given):
        if out[k] is None:
            base = re.sub(r"[^A-Za-z0-9_.]", "_", name) or letter
            base = base if base[0].isalpha() and is_good(f"{base}_1") else f"{letter}_{base}"
            candidate = base
            while candidate in taken or not is_good(candidate):
                used[base] += 1
                candidate = f"{base}_{used[base]}"
            taken.add(candidate)
            out[k] = candidate
            replaced.append((name, candidate))
    return [name for name in out if name is not None]
