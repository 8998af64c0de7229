"""Rules with one recursive atom each, as an engine may close them: joins over whole numbers, each tuple found once.

Rounds over tables (:mod:`relift.grounding.derive`) cost something each; a chain of 2,000 edges needs 2,000 of them.
Where every rule of a recursion has one recursive atom, and the rest of its body can be evaluated without it, an engine
in this process fetches the rest once, as whole numbers, and follows tuples one by one (:func:`close_rules`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, final

import numpy as np

from relift.arrays import Tuples
from relift.tables import compiled as kernels
from relift.tables.algebra import Plan, Type

Place: TypeAlias = int | str
"""A position in the recursive tuple, or a column of the rest."""
Sign: TypeAlias = Literal["!=", "=", "<", "<="]
_SIGNS: tuple[Sign, ...] = ("!=", "=", "<", "<=")

MOST_TUPLES = 64_000_000
"""More tuples of one predicate than this are left to rounds, which may spill to disk."""


@final
@dataclass(frozen=True, eq=False)
class RecursiveRule:
    """``target(outputs) if source(..) & rest``.

    Parameters
    ----------
    source, target
        Predicates of the recursive atom and of the head.
    rest
        The distinct answers of what stands besides the recursive atom.
    on
        Positions of the recursive tuple and columns of the rest that must agree.
    outputs
        Where each argument of the head comes from.
    tests
        Comparisons of two places that must hold; those of order are of whole numbers.
    """

    source: str
    target: str
    rest: Plan
    on: tuple[tuple[int, str], ...]
    outputs: tuple[Place, ...]
    tests: tuple[tuple[Sign, Place, Place], ...] = ()


@final
@dataclass(frozen=True, eq=False)
class RecursiveRules:
    """All rules of a recursion.

    Parameters
    ----------
    start
        For each predicate the tuples that it begins with, as columns ``c0, c1, ...``.
    types
        The types of its arguments.
    rules
        The rules.
    """

    start: Mapping[str, Plan]
    types: Mapping[str, tuple[Type, ...]]
    rules: tuple[RecursiveRule, ...]


Numbered: TypeAlias = Callable[[Plan, tuple[tuple[str, Type], ...]], Tuples]
"""From a plan and columns of it with types to whole numbers that are equal exactly where values of that type are."""


def close_rules(rules: RecursiveRules, numbered: Numbered, most: int) -> tuple[dict[str, Tuples], list[int]] | None:
    """All tuples of each predicate, and how often each rule applied; None if there are more than `most`.

    Parameters
    ----------
    rules
        The recursion.
    numbered
        Fetches plans as whole numbers.
    most
        The most tuples of a predicate.
    """
    names = list(rules.start)
    sets = [numbered(rules.start[name], _start_columns(rules.types[name])) for name in names]
    steps = [_step(rule, rules.types, names, numbered) for rule in rules.rules]
    found = kernels.closure(sets, steps, most)
    if found is None:
        return None
    tuples, matches = found
    return dict(zip(names, tuples, strict=True)), matches


def _start_columns(types: tuple[Type, ...]) -> tuple[tuple[str, Type], ...]:
    return tuple((f"c{k}", kind) for k, kind in enumerate(types))


def _step(
    rule: RecursiveRule, types: Mapping[str, tuple[Type, ...]], names: list[str], numbered: Numbered
) -> kernels.Step:
    source, target = types[rule.source], types[rule.target]
    columns: dict[tuple[str, Type], int] = {}

    def place(where: Place, kind: Type) -> int:
        return where if isinstance(where, int) else -1 - columns.setdefault((where, kind), len(columns))

    on = [(position, columns.setdefault((c, source[position]), len(columns))) for position, c in rule.on]
    outputs = [place(where, kind) for where, kind in zip(rule.outputs, target, strict=True)]
    tests = []
    for sign, left, right in rule.tests:
        kind = next((source[p] for p in (left, right) if isinstance(p, int)), None)
        if kind is None:
            kind = rule.rest.columns[str(left)]
        tests.append((_SIGNS.index(sign), place(left, kind), place(right, kind)))
    rest = numbered(rule.rest, tuple(columns))
    arrays = (np.array(part, np.int32).reshape(-1) for part in (on, outputs, tests))
    return kernels.Step(names.index(rule.source), names.index(rule.target), rest, *arrays)
