"""A program that lives in an engine: tables of columns, rows and entries, and nothing of them here.

=============  ==========================================  ==================================================
table          columns                                     one row for each
=============  ==========================================  ==================================================
columns        ``column``, ``q``, ``lb``, ``ub``           variable, numbered from 0
rows           ``row``, ``l``, ``u``                       row of A, numbered from 0
entries        ``row``, ``column``, ``value``              nonzero of A
quadratic      ``first``, ``second``, ``value``            nonzero of P, both triangles
=============  ==========================================  ==================================================

The objective is minimised: half of x'Px + q'x + r.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict, final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Cells
from relift.errors import AsymmetricError, BoundsError, DataError, NonConvexError, OptionError
from relift.in_database.temporary_tables import check_engine, drop_surely, own_prefix
from relift.program.program import Program, Sense
from relift.settings import check_choice
from relift.tables.algebra import (
    Aggregate,
    Column,
    Distinct,
    Filter,
    Join,
    Limit,
    Plan,
    Project,
    Scalar,
    Scan,
    Type,
    any_of,
    call,
    literal,
    project,
)
from relift.tables.engine import Arrays, Engine
from relift.tables.sources.table import Columns, Source, TableLike, source_from_data

LARGEST_NUMBER = 2**31 - 1
"""Rows and columns are numbered by 32-bit integers."""


@final
@dataclass(frozen=True, eq=False)
class EngineProgram:
    """A minimisation whose numbers are tables of an engine.

    Parameters
    ----------
    engine
        Where they are.
    n_variables, n_rows
        Its size.
    columns, rows, entries, quadratic
        Plans with the columns that the header of this module lists; ``quadratic`` is None for a linear program.
    r
        Constant of the objective, of the minimisation.
    sense
        ``"max"`` if the user's objective is the negative of this one.
    tables
        Names of stored tables that belong to it and go with it.
    """

    engine: Engine
    n_variables: int
    n_rows: int
    columns: Plan
    rows: Plan
    entries: Plan
    quadratic: Plan | None = None
    r: float = 0.0
    sense: Sense = "min"
    tables: tuple[str, ...] = ()

    @property
    def nonzeros(self) -> Plan:
        """The entries that are not 0."""
        return _nonzero(self.entries)

    @property
    def quadratic_nonzeros(self) -> Plan | None:
        """The entries of P that are not 0."""
        return None if self.quadratic is None else _nonzero(self.quadratic)

    def drop(self) -> None:
        """Remove its tables from the engine."""
        drop_surely(self.engine, self.tables)


def _nonzero(entries: Plan) -> Plan:
    return Filter(entries, call("!=", Column("value"), literal(0.0)))


def program_from_tables(
    engine: Engine,
    *,
    columns: TableLike,
    rows: TableLike | None = None,
    entries: TableLike | None = None,
    quadratic: TableLike | None = None,
    r: float = 0.0,
    sense: Sense = "min",
    is_convex: bool = False,
    prefix: str | None = None,
) -> EngineProgram:
    """Take a program that is given as coordinate tables into an engine, and check it there.

    Parameters
    ----------
    engine
        Where to work.
    columns, rows, entries, quadratic
        Tables with the columns of the header of this module, matched by position: anything that
        :mod:`relift.tables.sources.table` reads. Numbers run from 0 without gaps; missing bounds are infinities, not
        NULL; no entry is given twice; ``quadratic`` holds both triangles.
    r, sense
        Constant and sense of the objective.
    is_convex
        The caller knows that P is positive semidefinite. Without this word only a P with a dominant diagonal, which
        proves it, is taken.
    prefix
        Names of the stored tables begin so; None for a name of its own.

    Raises
    ------
    DataError
        If a number is missing, doubled or out of range, or a value is not a number.
    BoundsError
        If a lower bound lies above its upper bound.
    AsymmetricError, NonConvexError
        If P is not symmetric, or not known to be convex.

    Examples
    --------
    >>> from relift.tables.duckdb.engine import DuckDBEngine
    >>> with DuckDBEngine() as engine:
    ...     program = program_from_tables(
    ...         engine, columns=[(0, 1.0, 0.0, 9.0), (1, 1.0, 0.0, 9.0)], rows=[(0, 1.0, 2.0)],
    ...         entries=[(0, 0, 1.0), (0, 1, 1.0)],
    ...     )
    ...     program.n_variables, program.n_rows, engine.count(program.nonzeros, 10)
    (2, 1, 2)
    """
    check_engine(engine)
    check_choice("sense", sense, ("min", "max"))
    prefix = prefix or own_prefix(engine, "relift_given")
    tables: list[str] = []
    try:
        stored = {
            name: _attached(engine, tables, f"{prefix}_{name}", name, names, data)
            for name, names, data in (
                ("columns", ("column", "q", "lb", "ub"), columns),
                ("rows", ("row", "l", "u"), rows),
                ("entries", ("row", "column", "value"), entries),
                ("quadratic", ("first", "second", "value"), quadratic),
            )
        }
        n, m = _checked_numbers(engine, stored["columns"], "column"), _checked_numbers(engine, stored["rows"], "row")
        _check_vectors(engine, stored["columns"], "columns", "column", "q", "lb", "ub")
        _check_vectors(engine, stored["rows"], "rows", "row", None, "l", "u")
        _check_entries(engine, stored["entries"], "entries", {"row": m, "column": n})
        P: Plan | None = None
        if engine.count(stored["quadratic"], 1):
            P = stored["quadratic"]
            _check_entries(engine, P, "quadratic", {"first": n, "second": n})
            _check_symmetric(engine, P)
        stored = {name: _narrow(plan) for name, plan in stored.items()}
        P = None if P is None else stored["quadratic"]
        c: Plan = stored["columns"]
        if sense == "max":
            c = Project(c, {k: call("negative", Column(k)) if k == "q" else Column(k) for k in c.columns})
            if P is not None:
                negative = {k: call("negative", Column(k)) if k == "value" else Column(k) for k in P.columns}
                P = Project(P, negative)
        if P is not None and not is_convex:
            check_dominant_diagonal(engine, P)
    except BaseException:
        drop_surely(engine, tables)
        raise
    sign = 1.0 if sense == "min" else -1.0
    return EngineProgram(engine, n, m, c, stored["rows"], stored["entries"], P, sign * r, sense, tuple(tables))


class ProgramTables(TypedDict):
    """The arguments of :func:`program_from_tables`, without the engine."""

    columns: Arrays
    rows: Arrays
    entries: Arrays
    quadratic: Arrays | None
    r: float
    sense: Sense
    is_convex: bool


def tables_from_program(program: Program) -> ProgramTables:
    """A program of this memory as the tables that :func:`program_from_tables` takes.

    Examples
    --------
    >>> sorted(tables_from_program(Program(q=[1.0], lb=0)))
    ['columns', 'entries', 'is_convex', 'quadratic', 'r', 'rows', 'sense']
    """
    if len(program.quadratic) or len(getattr(program, "conic", ())):
        raise OptionError("quadratic and conic constraints are not lifted inside an engine.", "Lift them locally.")
    A = program.A.tocoo()
    tables: ProgramTables = {
        "columns": _numbered(q=program.q, lb=program.lb, ub=program.ub),
        "rows": _numbered(l=program.l, u=program.u),
        "entries": {"row": A.coords[0].astype(np.int64), "column": A.coords[1].astype(np.int64), "value": A.data},
        "quadratic": None,
        "r": program.r,
        "sense": program.sense,
        "is_convex": True,
    }
    if program.P is not None:
        P = program.P.tocoo()
        tables["quadratic"] = {
            "first": P.coords[0].astype(np.int64), "second": P.coords[1].astype(np.int64), "value": P.data,
        }  # fmt: skip
    return tables


def _numbered(**vectors: NDArray[np.float64]) -> dict[str, Cells]:
    size = next(iter(vectors.values())).size
    return {"number": np.arange(size), **vectors}


def _attached(
    engine: Engine, tables: list[str], stored: str, label: str, names: tuple[str, ...], data: TableLike | None
) -> Plan:
    whole = [name for name in names if name in {"column", "row", "first", "second"}]
    types = {name: Type.INTEGER if name in whole else Type.REAL for name in names}
    source = None if data is None else source_from_data(label, data)
    if source is None or (isinstance(source.content, Columns) and not source.content.arrays):
        empty: dict[str, Cells] = {name: np.zeros(0, np.int64 if name in whole else np.float64) for name in names}
        source = Source(f"the table {label!r}", Columns(empty))
    tables.append(stored)
    engine.drop(stored)  # of a run that was cut off, in an engine that keeps its tables
    found = engine.attach(stored, source)
    if len(found) != len(names):
        raise DataError(
            f"the table {label!r} has {len(found)} columns, and {len(names)} are needed.",
            f"Give {', '.join(names)}, in this order.",
        )
    for name, kind in zip(names, found.values(), strict=True):
        if kind not in {Type.INTEGER, Type.REAL, Type.NOTHING} or (name in whole and kind == Type.REAL):
            wanted = "whole numbers" if name in whole else "numbers"
            raise DataError(f"the column {name!r} of the table {label!r} holds {kind.value}.", f"Give {wanted}.")
    scan = Scan(stored, {name: (c, kind) for name, (c, kind) in zip(names, found.items(), strict=True)})
    cast: dict[str, Scalar] = {
        name: Column(name) if scan.columns[name] == kind else call("integer" if name in whole else "real", Column(name))
        for name, kind in types.items()
    }
    return Project(scan, cast)


def _narrow(table: Plan) -> Plan:
    """The same with its whole numbers, which are known to be small, as numbers of rows."""
    narrow = {c: call("number of row", Column(c)) if k == Type.INTEGER else Column(c) for c, k in table.columns.items()}
    return Project(table, narrow)


def _checked_numbers(engine: Engine, table: Plan, key: str) -> int:
    """How many there are, if they are numbered 0, 1, ... without a gap."""
    summary = Aggregate(table, (), {
        "n": ("count", literal(1)), "low": ("min", Column(key)), "high": ("max", Column(key)),
    })  # fmt: skip
    filled = {"n": Column("n")} | {c: call("coalesce", Column(c), literal(-1)) for c in ("low", "high")}
    found = engine.fetch(Project(summary, filled))
    n, low, high = (int(found[c][0]) for c in ("n", "low", "high"))
    if n == 0:
        return 0
    is_whole = engine.count(Filter(table, call("is null", Column(key))), 1) == 0
    if not is_whole or low != 0 or high != n - 1 or engine.count(Distinct(project(table, key)), n) != n:
        raise DataError(
            f"the {n:,} numbers in {key!r} run from {low:,} to {high:,}, with gaps, doubles or missing ones.",
            f"Number them from 0 to {n - 1:,}.",
        )
    if n > LARGEST_NUMBER:
        raise DataError(f"{n:,} are too many: rows and columns are numbered by 32 bits.")
    return n


def _first(engine: Engine, plan: Plan, key: tuple[str, ...]) -> dict[str, Any]:
    found = engine.fetch(Limit(plan, 1, key))
    return {name: column[0].item() for name, column in found.items()} if next(iter(found.values())).size else {}


def _check_vectors(engine: Engine, table: Plan, label: str, key: str, cost: str | None, lower: str, upper: str) -> None:
    def is_missing(name: str) -> Scalar:
        return any_of([call("is null", Column(name)), _is_nan(Column(name))])

    wrong = any_of([is_missing(name) for name in (cost, lower, upper) if name is not None])
    if row := _first(engine, Filter(table, wrong), (key,)):
        raise DataError(f"the table {label!r} misses a number at {key} {row[key]}.", "Unbounded is ±infinity.")
    if cost and (row := _first(engine, Filter(table, call("not", call("is finite", Column(cost)))), (key,))):
        raise DataError(f"the table {label!r} has the {cost} {row[cost]} at {key} {row[key]}.", "Give finite numbers.")
    crossed = any_of([
        call(">", Column(lower), Column(upper)),
        call("=", Column(lower), literal(np.inf)),
        call("=", Column(upper), literal(-np.inf)),
    ])  # fmt: skip
    if row := _first(engine, Filter(table, crossed), (key,)):
        raise BoundsError(
            f"the table {label!r} has the bounds {row[lower]} and {row[upper]} at {key} {row[key]}.",
            "No number lies between them.", lower, (row[key],),
        )  # fmt: skip


def _is_nan(value: Scalar) -> Scalar:
    """NaN is neither finite nor an infinity; comparing it with itself would be true in some engines."""
    is_infinite = any_of([call("=", value, literal(s)) for s in (np.inf, -np.inf)])
    return call("not", any_of([call("is finite", value), is_infinite]))


def _check_entries(engine: Engine, table: Plan, label: str, sizes: dict[str, int]) -> None:
    places = tuple(sizes)
    for key, size in sizes.items():
        outside = any_of([
            call("is null", Column(key)), call("<", Column(key), literal(0)), call(">=", Column(key), literal(size)),
        ])  # fmt: skip
        if row := _first(engine, Filter(table, outside), places):
            raise DataError(f"the table {label!r} has an entry in {key} {row[key]}, and there are {size:,} of them.")
    if row := _first(engine, Filter(table, call("not", call("is finite", Column("value")))), places):
        where = ", ".join(f"{key} {row[key]}" for key in places)
        raise DataError(f"the table {label!r} has the value {row['value']} in {where}.", "Give finite numbers.")
    doubled = Filter(Aggregate(table, places, {"n": ("count", literal(1))}), call(">", Column("n"), literal(1)))
    if row := _first(engine, doubled, places):
        where = ", ".join(f"{key} {row[key]}" for key in places)
        raise DataError(f"the table {label!r} has {row['n']} entries in {where}.", "Add them up first.")


def _check_symmetric(engine: Engine, P: Plan) -> None:
    mirrored = Project(P, {"first": Column("second"), "second": Column("first"), "value": Column("value")})
    if row := _first(engine, Join(P, mirrored, "anti"), ("first", "second")):
        raise AsymmetricError(
            f"the entry ({row['first']}, {row['second']}) of 'quadratic' is {row['value']}, its mirror image is not.",
            "Give both triangles.", "P", (row["first"], row["second"]),
        )  # fmt: skip


def check_dominant_diagonal(engine: Engine, P: Plan) -> None:
    """Refuse a P that is not proved convex by its diagonal: each entry at least the others of its row together.

    Raises
    ------
    NonConvexError
        If it is not.
    """
    on_diagonal = call("=", Column("first"), Column("second"))
    signed = call("if", on_diagonal, Column("value"), call("negative", call("abs", Column("value"))))
    sums = Aggregate(Project(P, {"first": Column("first"), "part": signed}), ("first",), {
        "margin": ("quick sum", Column("part")), "size": ("max", call("abs", Column("part"))),
    })  # fmt: skip
    wrong = call("<", Column("margin"), call("*", literal(-1e-12), Column("size")))
    if row := _first(engine, Filter(sums, wrong), ("first",)):
        raise NonConvexError(
            f"the diagonal does not dominate in row {row['first']} of 'quadratic', so convexity is not proved.",
            "Say is_convex=True if you know it, or write the objective as squares.", "P", (row["first"],),
        )  # fmt: skip
