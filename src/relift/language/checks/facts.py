"""Data that are written in the model: facts, tables and values of params."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import pairwise
from typing import final

from relift.errors import ArityError, FactError, KindError
from relift.language import checked_model as c
from relift.language.checks.names import ErrorList, Names, Symbol, find
from relift.language.syntax import nodes as n
from relift.language.syntax.source import Span


@final
@dataclass
class _Rows:
    """What is known of one name while the text is read."""

    symbol: Symbol
    rows: list[tuple[c.Value, ...]] = field(default_factory=list)
    values: list[int | float] = field(default_factory=list)
    ranges: list[tuple[c.FactRange, Span]] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)


def facts_from_statements(model: n.ModelText, names: Names, errors: ErrorList) -> dict[str, c.Facts]:
    """All data of the text by name; what contradicts itself or the declarations goes to `errors`."""
    found, values = dict[str, _Rows](), {id(definition) for definition in names.values}

    def rows_of(atom: n.Atom, declaration: str, check_arity: bool = True) -> _Rows | None:
        symbol = names.symbols.get(atom.name)
        if symbol is None or check_arity:
            fits = ("relation", "derived", "param")
            symbol = find(names, atom, errors, lambda s: s.kind in fits, f"Declare it: {declaration};")
        if symbol is None:
            return None
        if symbol.kind in ("variable", "definition"):
            errors.add(KindError, atom.name_span, f"{atom.name} is a {symbol.kind}, so it has no data")
            return None
        return found.setdefault(symbol.name, _Rows(symbol))

    for statement in model.statements:
        match statement:
            case n.Fact():
                declaration = f"relation {statement.atom.name}/{len(statement.atom.arguments)}"
                row, rows = _constants(statement.atom, errors), rows_of(statement.atom, declaration)
                if row is not None and rows is not None:
                    if rows.symbol.kind == "param":
                        errors.add(
                            FactError,
                            statement.span,
                            f"{rows.symbol.name} is a param, and this fact has no value",
                            "Write the value behind it, as in: cap(a, b) = 50;",
                        )
                    else:
                        rows.rows.append(row)
                        rows.spans.append(statement.span)
            case n.Table():
                atom = n.Atom(statement.name, (), statement.name_span, statement.name_span)
                first = statement.entries[0] if statement.entries else n.Entry(())
                kind = "relation" if first.value is None else "param"
                rows = rows_of(atom, f"{kind} {statement.name}/{len(first.key) or 1}", check_arity=False)
                if rows is not None:
                    for entry in statement.entries:
                        _add_entry(rows, entry, errors)
            case n.Definition() if id(statement) in values:
                row, rows = _constants(statement.head, errors), rows_of(statement.head, "")
                value = _number(statement.body)
                if value is None:
                    errors.add(
                        FactError,
                        statement.body.span,
                        f"the value of a param is a number, and {statement.head.name} is declared as a param",
                        "To compute values, define another name: def name(..) = ...;",
                    )
                elif row is not None and rows is not None:
                    rows.rows.append(row)
                    rows.values.append(value)
                    rows.spans.append(statement.span)
            case _:
                pass
    declared = {item.name for s in model.statements if isinstance(s, n.Params) for item in s.items if item.value}
    for name, rows in found.items():
        if rows.symbol.kind == "param":
            _check_doubles(rows, errors)
        if name in declared and rows.spans:
            line = errors.line(rows.symbol.span)
            errors.add(FactError, rows.spans[0], f"{name} has two values", f"The first is in line {line}.")
    return {name: _frozen(rows) for name, rows in found.items()}


def _frozen(rows: _Rows) -> c.Facts:
    ranges = tuple(r for r, _ in rows.ranges)
    return c.Facts(rows.symbol.name, rows.symbol.arity, tuple(rows.rows), tuple(rows.values), ranges, tuple(rows.spans))


def _number(node: n.Node) -> int | float | None:
    if isinstance(node, n.Minus) and isinstance(node.part, n.Number):
        return -node.part.value
    return node.value if isinstance(node, n.Number) else None


def _constants(atom: n.Atom, errors: ErrorList) -> tuple[c.Value, ...] | None:
    row = list[c.Value]()
    for argument in atom.arguments:
        value = argument.value if isinstance(argument, n.Text) else _number(argument)
        if value is None:
            errors.add(
                FactError,
                argument.span,
                "a fact has only constants as arguments",
                "Upper-case names are logic variables; a rule is written: head if body",
            )
            return None
        row.append(value)
    return tuple(row)


def _add_entry(rows: _Rows, entry: n.Entry, errors: ErrorList) -> None:
    symbol = rows.symbol
    if len(entry.key) != symbol.arity:
        errors.add(
            ArityError,
            entry.span,
            f"this entry has {len(entry.key)} constant{'s' if len(entry.key) != 1 else ''}, but {symbol.name} has "
            f"{symbol.arity} argument{'s' if symbol.arity != 1 else ''}",
            f"It is declared in line {errors.line(symbol.span)} as {symbol.name}/{symbol.arity}.",
        )
        return
    if entry.computed is not None and symbol.kind == "param":
        message = f"a range of the param {symbol.name} goes from one written number to another"
        errors.add(FactError, entry.span, message, f"Write a formula: param {symbol.name}(I) = ...;")
        return
    if symbol.kind == "param" and entry.value is None:
        message = f"{symbol.name} is a param, and this entry has no value"
        errors.add(FactError, entry.span, message, "Write it behind a colon: (a, b): 50")
        return
    if symbol.kind != "param" and entry.value is not None:
        errors.add(
            FactError,
            entry.value.span,
            f"{symbol.name} is true or false, so its entries have no value",
            f"Declare it as a param to give numbers: param {symbol.name}/{symbol.arity};",
        )
        return
    if entry.computed is not None:
        return  # a rule, see collect_names
    value = None if entry.value is None else entry.value.value
    if entry.last is not None:
        first, last = entry.key[0].value, entry.last.value
        assert isinstance(first, int)
        assert isinstance(last, int)
        if last < first:
            errors.add(FactError, entry.span, f"this range is empty: {last} is less than {first}")
        else:
            rows.ranges.append((c.FactRange(first, last, value), entry.span))
        return
    rows.rows.append(tuple(constant.value for constant in entry.key))
    rows.spans.append(entry.span)
    if value is not None:
        rows.values.append(value)


def _check_doubles(rows: _Rows, errors: ErrorList) -> None:
    """Two values for one tuple, even equal ones, are a mistake."""
    seen = dict[tuple[c.Value, ...], Span]()

    def complain(row: tuple[c.Value, ...], span: Span, first: Span) -> None:
        shown = f"({', '.join(map(str, row))})" if row else ""
        line = errors.line(first)
        errors.add(FactError, span, f"{rows.symbol.name}{shown} has two values", f"The first is in line {line}.")

    for row, span in zip(rows.rows, rows.spans, strict=True):
        if row in seen:
            complain(row, span, seen[row])
        seen.setdefault(row, span)
    ranges = sorted(rows.ranges, key=lambda item: item[0].first)
    for (before, first), (after, span) in pairwise(ranges):
        if after.first <= before.last:
            complain((after.first,), max(first, span), min(first, span))
    firsts = [inside.first for inside, _ in ranges]
    for row, span in seen.items():
        if len(row) != 1 or isinstance(row[0], str):
            continue
        k = bisect_right(firsts, row[0]) - 1
        if k >= 0 and row[0] <= ranges[k][0].last and row[0] == int(row[0]):
            complain(row, max(span, ranges[k][1]), min(span, ranges[k][1]))
