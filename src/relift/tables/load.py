"""From a user's table to a stored one that can be trusted: no missing entries, no doubled keys, known types."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from relift.errors import DataError
from relift.tables.algebra import (
    Aggregate,
    Call,
    Column,
    Distinct,
    Filter,
    Limit,
    Literal,
    Number,
    Plan,
    Project,
    Scalar,
    Scan,
    Type,
    Unit,
    call,
    literal,
    project,
)
from relift.tables.engine import Engine
from relift.tables.sources.contents import Columns
from relift.tables.sources.match_columns import Wanted
from relift.tables.sources.table import Source

_NUMBER = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")


@final
@dataclass(frozen=True)
class StoredTable:
    """A table in an engine: columns ``c0, c1, ...`` for the arguments, which are its key, and perhaps a value.

    Parameters
    ----------
    name
        Its name in the engine.
    types
        Types of the arguments.
    rows
        How many rows it has.
    value
        Name of the column that holds a number for each tuple (the value of a param, or the number of an unknown),
        or empty.
    value_type
        Its type.
    value_is_key
        Whether no two rows have the same value, as for numbers of unknowns.
    """

    name: str
    types: tuple[Type, ...]
    rows: int
    value: str = ""
    value_type: Type = Type.NOTHING
    value_is_key: bool = False

    def scan(self, names: Sequence[str | None], value: str | None = None) -> Scan:
        """The table with columns of the given names; arguments named None are left out."""
        source = {name: (f"c{k}", self.types[k]) for k, name in enumerate(names) if name is not None}
        keys = frozenset() if None in names else frozenset([frozenset(n for n in names if n is not None)])
        if value is not None:
            source[value] = (self.value, self.value_type)
            if self.value_is_key:
                keys |= {frozenset([value])}
        return Scan(self.name, source, keys)

    def renamed(self, name: str) -> StoredTable:
        """The same contents under another name."""
        return replace(self, name=name)


def load_table(engine: Engine, name: str, source: Source, arity: int, has_value: bool) -> StoredTable:
    """Attach a source, check every entry, and store what is needed.

    Parameters
    ----------
    engine
        Where to.
    name
        Name of the table there.
    source
        What to read.
    arity
        How many columns are arguments.
    has_value
        Whether one more column follows, with a number for each tuple.

    Raises
    ------
    DataError
        If columns are missing or of the wrong type, or an entry is missing, not a number, or given twice.
    """
    width = arity + has_value
    if source.wanted is None:
        source = replace(source, wanted=Wanted(arity, has_value))
    if isinstance(source.content, Columns) and not source.content.arrays and source.chosen is None:
        return _store_empty(engine, name, arity, has_value)
    types = list(engine.attach(name, source).values())
    if len(types) != width:
        engine.drop(name)
        raise _wrong_width(source, len(types), arity, has_value)
    columns = [f"c{k}" for k in range(width)]
    table = Scan(name, {c: (c, kind) for c, kind in zip(columns, types, strict=True)})
    rows, types = _check_entries(engine, source, table, columns, types, has_value)
    final = Project(table, {c: _cast(c, table.columns[c], kind) for c, kind in zip(columns, types, strict=True)})
    keys = columns[:arity]
    if has_value:
        _refuse_doubles(engine, source, table, keys)
    is_cast = any(not isinstance(scalar, Column) for scalar in final.outputs.values())
    is_set = has_value or rows < 2 or engine.is_set(final)
    if is_cast or not is_set:
        rows = engine.create(f"{name}_set", final if is_set else Distinct(final))
        engine.drop(name)
        name = f"{name}_set"
    return _stored(name, types, rows, has_value)


def _stored(name: str, types: Sequence[Type], rows: int, has_value: bool) -> StoredTable:
    if not has_value:
        return StoredTable(name, tuple(types), rows)
    return StoredTable(name, tuple(types[:-1]), rows, f"c{len(types) - 1}", types[-1])


def _store_empty(engine: Engine, name: str, arity: int, has_value: bool) -> StoredTable:
    types = (Type.NOTHING,) * (arity + has_value)
    outputs: dict[str, Scalar] = {f"c{k}": Literal(None, kind) for k, kind in enumerate(types)}
    engine.create(name, Filter(Project(Unit(), outputs), literal(False)))
    return _stored(name, types, 0, has_value)


def store_truth(engine: Engine, name: str, is_true: bool) -> StoredTable:
    """Store a relation without arguments: one row if it holds, else none."""
    rows = engine.create(name, Unit() if is_true else Filter(Unit(), literal(False)))
    return StoredTable(name, (), rows)


def _wrong_width(source: Source, found: int, arity: int, has_value: bool) -> DataError:
    needs = f"{arity} for its arguments" + (" and 1 for its value" if has_value else "")
    hint = "Choose them with relift.Table(data, columns=[...])."
    if arity == 2:
        hint += " If it has a cell for each row and column, give relift.matrix(data)."
    return DataError(f"{source.label} has {found} columns, but {arity + has_value} are needed: {needs}.", hint)


def _check_entries(
    engine: Engine, source: Source, table: Scan, columns: list[str], types: list[Type], has_value: bool
) -> tuple[int, list[Type]]:
    """One pass over all columns: refuse what is missing or no number, and find reals that are all whole."""
    bad: dict[str, Scalar] = {}
    outputs: dict[str, Scalar] = {}
    for position, (column, kind) in enumerate(zip(columns, types, strict=True)):
        is_value = has_value and position == len(columns) - 1
        bad[column] = _is_bad(column, kind, is_value)
        outputs[f"bad {column}"] = call("if", bad[column], literal(1), literal(0))
        if kind == Type.REAL and not is_value:
            outputs[f"broken {column}"] = call("if", call("is whole", Column(column)), literal(0), literal(1))
    sums = Aggregate(
        Project(table, outputs), (), {name: ("sum", Column(name)) for name in outputs} | {"rows": ("count", literal(1))}
    )
    found = {name: int(values[0]) for name, values in engine.fetch(sums).items()}
    for position, column in enumerate(columns):
        if found[f"bad {column}"]:
            raise _bad_entry(engine, source, table, column, bad[column], has_value and position == len(columns) - 1)
    final = list(types)
    for position, column in enumerate(columns):
        if found.get(f"broken {column}") == 0 and found["rows"]:
            final[position] = Type.INTEGER
    if has_value and not types[-1].is_number:
        raise _text_as_value(engine, source, table, columns[-1])
    return found["rows"], final


def _text_as_value(engine: Engine, source: Source, table: Plan, column: str) -> DataError:
    """The error for texts where values should be, with the first of them."""
    some = [str(text) for text in engine.fetch(Limit(project(table, column), 1000))[column]]
    first = next((text for text in some if _NUMBER.fullmatch(text) is None), some[0] if some else "")
    shown = f": {first!r}" if some else ""
    hint = "Values are numbers."
    if re.fullmatch(r"\s*[+-]?[0-9.]*,[0-9]+\s*", first):
        hint += " Decimals are written with a point."
    elif some:
        hint += " Which column is which can be said by relift.Table(data, columns)."
    return DataError(f"{source.label} has text in the column of its values, the last one{shown}.", hint)


def _is_bad(column: str, kind: Type, is_value: bool) -> Scalar:
    value = Column(column)
    if kind != Type.REAL:
        return call("is null", value)
    if not is_value:
        return call("not", call("is finite", value))
    infinite = [call("=", value, literal(float(sign))) for sign in ("inf", "-inf")]
    return call("not", call("or", call("is finite", value), *(call("coalesce", t, literal(False)) for t in infinite)))


def _bad_entry(engine: Engine, source: Source, table: Scan, column: str, is_bad: Scalar, is_value: bool) -> DataError:
    numbered = Number(table, "row")
    row = engine.fetch(Limit(Filter(numbered, is_bad), 1, ("row",)))
    where = "its value" if is_value else f"column {int(column[1:]) + 1}"
    others = ", ".join(str(row[c][0]) for c in table.columns if c != column)
    found = row[column][0]
    what = "is missing" if found is None or found != found or table.columns[column] != Type.REAL else f"is {found}"
    beside = f", beside ({others})" if others else ""
    return DataError(
        f"{source.label}: {where} {what} in row {int(row['row'][0])} (counted from 0){beside}.",
        "Remove the row, or fill it in.",
    )


def _refuse_doubles(engine: Engine, source: Source, table: Plan, keys: list[str]) -> None:
    if not engine.is_set(project(table, *keys)):
        counted = Aggregate(table, tuple(keys), {"n": ("count", literal(1))})
        double = Filter(counted, call(">", Column("n"), literal(1)))
        row = engine.fetch(Limit(double, 1, tuple(keys)))
        entry = tuple(_plain(row[key][0]) for key in keys)
        shown = f"({', '.join(map(str, entry))})" if entry else ""
        raise DataError(
            f"{source.label} gives {int(row['n'][0])} values for the tuple {shown or '()'}.",
            "A param has one value for each tuple; use a further argument, or add them up first.",
            entry=entry,
        )


def _plain(value: object) -> str | int | float:
    return value.item() if hasattr(value, "item") else value  # type: ignore[return-value]


def _cast(column: str, found: Type, wanted: Type) -> Scalar:
    return Column(column) if found == wanted else Call("integer", (Column(column),))
