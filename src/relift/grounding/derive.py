"""Derived predicates, stratum by stratum; recursive ones tuple by tuple, or by rounds that look only at what is new.

A rule becomes the plan of its body, projected on its head. Where each rule of a recursion has one recursive atom, an
engine in this process follows tuples one by one (:mod:`relift.tables.recursion`): the time is linear in what is
derived. Elsewhere there are rounds: every rule is taken once for each of its recursive atoms, which then reads what is
new while the others read everything (semi-naive evaluation). Databases also know recursive queries, but accept some
that they answer wrongly; rounds are the same in every engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from relift.errors import SizeLimitError
from relift.grounding.linear_recursion import linear_rules
from relift.grounding.queries_from_model import Queries, variables_of
from relift.grounding.workspace import Workspace
from relift.language.checked_model import And, Formula, Holds, Not, Or, Rule, Stratum
from relift.language.syntax.source import Span
from relift.tables.algebra import (
    Filter,
    Literal,
    Plan,
    Project,
    Scalar,
    Scan,
    Type,
    Union,
    Unit,
    distinct,
    literal,
)
from relift.tables.load import StoredTable

MOST_ROUNDS = 10_000
"""Rounds of a recursion that computes new constants; without new constants it ends by itself."""
NEW = " (new)"


def derive(work: Workspace, stratum: Stratum) -> None:
    """Compute and store the predicates of one stratum."""
    if not stratum.is_recursive:
        for name, arity in stratum.predicates.items():
            rules = [rule for rule in stratum.rules if rule.head == name and not _is_replaced(work, rule)]
            queries = work.queries()
            parts = [_head(queries, rule, rule.body) for rule in rules]
            _store(work, name, arity, parts, queries)
        return
    _derive_recursively(work, stratum)


def _is_replaced(work: Workspace, rule: Rule) -> bool:
    """Whether a rule is a range of the model whose place other data have taken."""
    return rule.is_data and rule.head in work.replaced


def _head(queries: Queries, rule: Rule, body: Formula) -> Plan:
    plan = queries.answers(sorted(_head_variables(rule)), body)
    outputs: dict[str, Scalar] = {}
    for position, argument in enumerate(rule.arguments):
        plan, outputs[f"c{position}"] = queries.value(plan, argument)
    queries.before.extend(queries.afterwards)
    queries.afterwards.clear()
    return Project(plan, outputs)


def _head_variables(rule: Rule) -> set[str]:
    return set().union(*map(variables_of, rule.arguments))


def _store(work: Workspace, name: str, arity: int, parts: list[Plan], queries: Queries) -> StoredTable:
    """Store the union of rules, and of the data that the predicate has itself."""
    given = work.tables.get(name)
    if given is not None:
        parts = [given.scan([f"c{k}" for k in range(arity)]), *parts]
    with queries.blame(name, _span_of(work, name)):
        plan = distinct(Union(tuple(parts)) if len(parts) > 1 else parts[0])
    engine_name = work.fresh_name(name)
    statement = f"the rule of {name!r}"
    work.joins.forget(statement)
    rows = work.create(engine_name, plan, queries, statement, is_last=False)
    types = tuple(plan.columns[f"c{k}"] if rows else Type.NOTHING for k in range(arity))
    work.tables[name] = work.store(StoredTable(engine_name, types, rows))  # what is given stays, for grounding again
    work.engine.tell("ground", f"{name}: {rows:,} tuples")
    for part in parts:
        work.joins.look(work, part, statement, work.joins.is_worth_a_look(part) and not work.engine.count(part, 1))
    return work.tables[name]


def _span_of(work: Workspace, name: str) -> Span:
    """Where the first rule of a predicate stands."""
    return next(rule.span for stratum in work.model.strata for rule in stratum.rules if rule.head == name)


def _derive_recursively(work: Workspace, stratum: Stratum) -> None:
    names = stratum.predicates
    first = [rule for rule in stratum.rules if not _recursive_atoms(rule.body, names) and not _is_replaced(work, rule)]
    later = [rule for rule in stratum.rules if _recursive_atoms(rule.body, names)]
    types = _types(work, stratum)
    for name, arity in names.items():
        queries = work.queries()
        parts = [_head(queries, rule, rule.body) for rule in first if rule.head == name]
        _store(work, name, arity, [_nothing(types[name]), *parts], queries)
        work.tables[name] = replace(work.tables[name], types=types[name])
    if not _close(work, stratum, later, types):
        _derive_by_rounds(work, stratum, later, types)


def _close(work: Workspace, stratum: Stratum, later: list[Rule], types: Mapping[str, tuple[Type, ...]]) -> bool:
    """Let the engine derive all at once, if the rules are simple and it can."""
    found = linear_rules(work, stratum, later, types)
    if found is None:
        return False
    rules, queries = found
    statement = f"the rules of {', '.join(map(repr, stratum.predicates))}"
    work.check(queries, statement)
    tables = {name: work.fresh_name(name) for name in stratum.predicates}
    matches = work.engine.close_rules(rules, tables, work.limit)
    if matches is None:
        return False
    for rule, count in zip(later, matches, strict=True):
        if not count:
            work.joins.look(work, _head(work.queries(), rule, rule.body), f"the rule of {rule.head!r}", True)
    for name, table in tables.items():
        columns = {f"c{k}": (f"c{k}", kind) for k, kind in enumerate(types[name])}
        rows = work.engine.count(Scan(table, columns), 2**62)
        work.drop(work.tables[name])
        work.tables[name] = work.store(StoredTable(table, types[name], rows))
        work.engine.tell("ground", f"{name}: {rows:,} tuples")
    return True


def _derive_by_rounds(
    work: Workspace, stratum: Stratum, later: list[Rule], types: Mapping[str, tuple[Type, ...]]
) -> None:
    names, empty = stratum.predicates, work.queries()
    for name, arity in names.items():
        new = work.fresh_name(f"{name}new")
        columns = [f"c{k}" for k in range(arity)]
        rows = work.create(new, work.tables[name].scan(columns), empty, name, is_last=False)
        work.tables[name + NEW] = StoredTable(new, types[name], rows)
    rounds = 0
    while any(work.tables[name + NEW].rows for name in names):
        rounds += 1
        _round(work, stratum, later, types)
        if stratum.creates_values and rounds > MOST_ROUNDS:
            raise SizeLimitError(
                f"the recursion of {', '.join(map(repr, names))} computes new constants "
                f"and did not end after {MOST_ROUNDS:,} rounds.",
                "Bound the constants, for example by a relation that holds all of them.",
                f"the rules of {', '.join(names)}",
                rounds,
                MOST_ROUNDS,
            )
    for rule in later:
        plan = _head(work.queries(), rule, rule.body)
        work.joins.look(work, plan, f"the rule of {rule.head!r}", not work.engine.count(plan, 1))
    for name in names:
        work.drop(work.tables.pop(name + NEW))
        work.engine.tell("ground", f"{name}: {work.tables[name].rows:,} tuples after {rounds} rounds")


def _round(work: Workspace, stratum: Stratum, rules: list[Rule], types: Mapping[str, tuple[Type, ...]]) -> None:
    """One round: what the new tuples give together with all; only what is not known yet is added."""
    found: dict[str, StoredTable] = {}
    for name, arity in stratum.predicates.items():
        queries = work.queries()
        total = work.tables[name]
        known = total.scan([f"c{k}" for k in range(arity)])
        parts: list[Plan] = [_nothing(types[name])]
        for rule in rules:
            if rule.head == name:
                for occurrence in range(_recursive_atoms(rule.body, stratum.predicates)):
                    body, _ = _with_new(rule.body, stratum.predicates, occurrence)
                    parts.append(_head(queries, rule, body))
        statement = f"the rule of {name!r}"
        plan = Union(tuple(parts))
        work.check(queries, statement)
        work.forecast(plan, statement)
        engine_name = work.fresh_name(f"{name}new")
        found[name] = StoredTable(engine_name, types[name], work.engine.add_new(engine_name, plan, known))
        rows = total.rows + found[name].rows
        if rows > work.limit:
            raise SizeLimitError(
                f"{statement} has {rows:,} rows and goes on; the limit is {work.limit:,}.",
                "Raise the limit.",
                statement,
                rows,
                work.limit,
            )
        work.tables[name] = work.store(replace(total, rows=rows))
    for name, table in found.items():
        work.store(table)
        work.drop(work.tables[name + NEW])
        work.tables[name + NEW] = table


def _types(work: Workspace, stratum: Stratum) -> dict[str, tuple[Type, ...]]:
    """Types of recursive predicates: start from the data, widen by the rules until nothing changes."""
    kept = dict(work.tables)
    types = {
        name: kept[name].types if name in kept else (Type.NOTHING,) * arity
        for name, arity in stratum.predicates.items()
    }
    for _ in range(4):
        for name, found in types.items():
            work.tables[name] = StoredTable("", found, 0)
        wider: dict[str, tuple[Type, ...]] = {}
        for name, found in types.items():
            queries = work.queries()
            parts = [_nothing(found)] + [_head(queries, r, r.body) for r in stratum.rules if r.head == name]
            with queries.blame(name, _span_of(work, name)):
                wider[name] = tuple(Union(tuple(parts)).columns.values())
        if wider == types:
            break
        types = wider
    work.tables.clear()
    work.tables.update(kept)
    return types


def _nothing(types: tuple[Type, ...]) -> Plan:
    outputs: dict[str, Scalar] = {f"c{k}": Literal(None, kind) for k, kind in enumerate(types)}
    return Filter(Project(Unit(), outputs), literal(False))


def _recursive_atoms(formula: Formula, names: Mapping[str, int]) -> int:
    if isinstance(formula, Holds):
        return int(formula.predicate in names)
    if isinstance(formula, And | Or):
        return sum(_recursive_atoms(part, names) for part in formula.parts)
    return _recursive_atoms(formula.part, names) if isinstance(formula, Not) else 0


def _with_new(formula: Formula, names: Mapping[str, int], occurrence: int) -> tuple[Formula, int]:
    """The formula whose recursive atom of that number reads what is new; and the number left to count down."""
    if isinstance(formula, Holds) and formula.predicate in names:
        if occurrence == 0:
            return replace(formula, predicate=formula.predicate + NEW), -1
        return formula, occurrence - 1
    if isinstance(formula, And | Or):
        parts = []
        for part in formula.parts:
            changed, occurrence = _with_new(part, names, occurrence) if occurrence >= 0 else (part, occurrence)
            parts.append(changed)
        return replace(formula, parts=tuple(parts)), occurrence
    return formula, occurrence
