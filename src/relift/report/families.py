"""Families of variables and rows, by their names: ``flow[1,2]`` and ``flow[1,3]`` are two of ``flow``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from relift.arrays import Labels
from relift.program.program import Program

# What follows the family: brackets, or a number after an optional sign, with what comes behind it.
_INDEX = re.compile(r"(?<=\w)\s*[\[({<].*$|[_.\-#@ ]?\d+([_.,\-#@ ]\w*)*$")
MOST = 60
"""More families than this say nothing; the rest is one of its own."""
OTHERS = "(others)"


@final
@dataclass(frozen=True, eq=False)
class Families:
    """Which family each variable (or row) belongs to.

    Parameters
    ----------
    names
        The families, largest first.
    of
        The family of each, by its place in `names`.
    """

    names: tuple[str, ...]
    of: Labels

    def size(self, k: int) -> int:
        """How many belong to family k."""
        return int(np.count_nonzero(self.of == k))


def family_of(name: str) -> str:
    """The family that a name belongs to.

    Examples
    --------
    >>> [family_of(name) for name in ("flow[1,2]", "p_12", "x3", "Generator-p(gas 1)", "total", "c1_2_7", "7")]
    ['flow', 'p', 'x', 'Generator-p', 'total', 'c', '7']
    """
    stem = _INDEX.sub("", name).rstrip("_.-#@ ")
    return stem or name


def variable_families(program: Program) -> Families:
    """Families of the variables; one, called x, where they have no names."""
    return _families(program.variable_names, program.n_variables, "x")


def row_families(program: Program) -> Families:
    """Families of the rows; those without names are told apart by their kind."""
    if program.row_names is not None:
        return _families(program.row_names, program.n_rows, "row")
    kinds = np.where(
        program.l == program.u,
        0,
        np.where(np.isinf(program.l), 1, np.where(np.isinf(program.u), 2, 3)),
    )
    titles = ("equalities", "upper limits", "lower limits", "ranges")
    return _numbered([titles[kind] for kind in kinds.tolist()])


def _families(names: Sequence[str] | None, size: int, default: str) -> Families:
    if names is None:
        return Families((default,), np.zeros(size, dtype=np.int64))
    return _numbered([family_of(str(name)) for name in names])


def _numbered(stems: list[str]) -> Families:
    found, of, counts = np.unique(np.array(stems, dtype=object).astype(str), return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    names, numbers = [str(found[k]) for k in order], place[of]
    if len(names) > MOST:
        names = [*names[: MOST - 1], OTHERS]
        numbers = np.minimum(numbers, MOST - 1)
    return Families(tuple(names), numbers)
