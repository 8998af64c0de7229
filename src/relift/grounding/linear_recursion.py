"""Recursions whose rules have one recursive atom each: what an engine needs to close them without rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast, final

from relift.grounding.queries_from_model import Queries, requirements, variables_of
from relift.grounding.term_tools import conjunction, names_in
from relift.grounding.workspace import Workspace
from relift.language.checked_model import (
    And,
    Anonymous,
    Comparison,
    Constant,
    Formula,
    Holds,
    LogicVariable,
    Rule,
    Stratum,
    TrueFormula,
)
from relift.tables.algebra import Plan, Type, extend, literal
from relift.tables.recursion import Place, RecursiveRule, RecursiveRules, Sign


def linear_rules(
    work: Workspace, stratum: Stratum, later: list[Rule], types: Mapping[str, tuple[Type, ...]]
) -> tuple[RecursiveRules, Queries] | None:
    """The rules of a stratum, if each has one recursive atom and a rest that stands alone; None if not.

    Parameters
    ----------
    work
        The tables; those of the recursive predicates hold what they begin with.
    stratum
        The recursive predicates.
    later
        Their recursive rules.
    types
        Types of the arguments of the predicates.
    """
    if not all(stratum.predicates.values()):
        return None
    queries = work.queries()
    rules = []
    for rule in later:
        found = _linear(queries, rule, stratum.predicates, types)
        if found is None:
            return None
        rules.append(found)
    start = {
        name: work.tables[name].scan([f"c{k}" for k in range(arity)]) for name, arity in stratum.predicates.items()
    }
    return RecursiveRules(start, types, tuple(rules)), queries


@final
@dataclass
class _Places:
    """Where the logic variables of a rule come from."""

    positions: dict[str, int] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    constants: dict[str, str | int | float] = field(default_factory=dict)

    def of(self, part: object) -> Place | None:
        """The place of a variable or constant; a variable of the rest is taken from there."""
        if isinstance(part, Constant):
            name = f"#constant{len(self.constants)}"
            self.constants[name] = part.value
            return name
        if isinstance(part, LogicVariable):
            return self.columns.get(part.name, self.positions.get(part.name))
        return None


def _linear(
    queries: Queries, rule: Rule, names: Mapping[str, int], types: Mapping[str, tuple[Type, ...]]
) -> RecursiveRule | None:
    parts = list(rule.body.parts) if isinstance(rule.body, And) else [rule.body]
    recursive = [part for part in parts if isinstance(part, Holds) and part.predicate in names]
    others = [part for part in parts if part not in recursive]
    if len(recursive) != 1 or any(names_in(part) & names.keys() for part in others):
        return None
    atom = recursive[0]
    rest, tests = _parted(others, {a.name for a in atom.arguments if isinstance(a, LogicVariable)})
    formula = conjunction(rest)
    binds, needs = requirements(formula)
    if needs - binds:
        return None
    head = {a.name for a in rule.arguments if isinstance(a, LogicVariable)}
    wanted = {a.name for a in atom.arguments if isinstance(a, LogicVariable)} | head
    wanted |= {name for test in tests for name in variables_of(test)}
    listed = sorted(binds & wanted)
    places = _Places(columns=dict(zip(listed, queries.columns(listed), strict=True)))
    on, equal = _joined(atom, places)
    outputs = [places.of(argument) for argument in rule.arguments]
    checked = [_test(test, places) for test in tests]
    if on is None or None in outputs or any(None in test for test in checked):
        return None
    plan: Plan = queries.answers(listed, None if isinstance(formula, TrueFormula) else formula)
    plan = extend(plan, {name: literal(value) for name, value in places.constants.items()})
    found = RecursiveRule(atom.predicate, rule.head, plan, on, tuple(outputs), (*equal, *checked))  # type: ignore[arg-type]
    return found if _types_fit(found, types) else None


def _test(test: Comparison, places: _Places) -> tuple[Sign, Place | None, Place | None]:
    sides = places.of(test.left), places.of(test.right)
    turned: dict[str, Sign] = {">": "<", ">=": "<="}
    if test.op in turned:
        return turned[test.op], sides[1], sides[0]
    return cast("Sign", test.op), sides[0], sides[1]


def _parted(parts: list[Formula], recursive: set[str]) -> tuple[list[Formula], list[Comparison]]:
    """What is evaluated once, and comparisons of single values that each tuple is tested for."""
    rest, tests = list[Formula](), list[Comparison]()
    for part in parts:
        if isinstance(part, Comparison) and part.binds is None and variables_of(part) & recursive:
            tests.append(part)
        else:
            rest.append(part)
    return rest, tests


def _joined(atom: Holds, places: _Places) -> tuple[tuple[tuple[int, str], ...] | None, list[tuple[Sign, Place, Place]]]:
    """Which positions of the recursive atom agree with the rest, and which with each other."""
    on, equal = list[tuple[int, str]](), list[tuple[Sign, Place, Place]]()
    for position, argument in enumerate(atom.arguments):
        if isinstance(argument, Anonymous):
            continue
        if isinstance(argument, Constant):
            on.append((position, str(places.of(argument))))
        elif not isinstance(argument, LogicVariable):
            return None, []
        elif argument.name in places.columns:
            on.append((position, places.columns[argument.name]))
        elif argument.name in places.positions:
            equal.append(("=", places.positions[argument.name], position))
        else:
            places.positions[argument.name] = position
    return tuple(on), equal


def _types_fit(rule: RecursiveRule, types: Mapping[str, tuple[Type, ...]]) -> bool:
    """Whether values need not be converted where a tuple is taken over or tested."""
    source, target = types[rule.source], types[rule.target]
    for where, kind in zip(rule.outputs, target, strict=True):
        if isinstance(where, int) and source[where] != kind:
            return False
    for sign, left, right in rule.tests:
        kinds = {source[p] if isinstance(p, int) else rule.rest.columns[p] for p in (left, right)}
        if len(kinds) > 1 or (sign in ("<", "<=") and kinds != {Type.INTEGER}):
            return False
    return not any(Type.NOTHING in kinds for kinds in types.values())
