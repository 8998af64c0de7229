"""Whatever a user calls a table, brought into one of five forms that engines read.

========================================  ==============================================================
given                                     read as
========================================  ==============================================================
pandas DataFrame, Series with an index    `Columns`; levels of a named or multiple index come first
Polars, Arrow, ``__arrow_c_stream__``     `Frame`, read by the engine without Python in between
dict of arrays or lists                   `Columns`
dict of key to value                      `Columns`: the keys, then the value
NumPy structured array                    `Columns` by its fields
NumPy array of one or two dimensions      `Columns`, one tuple in each row
dict of dicts                             `Columns`: the keys of all levels, then the value
list or set of tuples, or of constants    `Columns`
list of dicts with the same keys          `Columns` by these keys
one number                                `Columns` with one value, for a param without arguments
SciPy sparse matrix                       `Columns`: row, column, value of each stored entry
``relift.matrix(data)``                   `Columns`: row, column, value of each entry
path of a .csv, .tsv or .parquet file     `File`; exactly that file, whatever signs are in its name
path of a .json file                      what it holds, as one of the dicts and lists above
``relift.files(pattern)``                 `File`: many files, one after the other
``(connection, "schema.table")``          `Stored`, a table or view behind an open connection (DuckDB, psycopg, ADBC for
                                          PostgreSQL), the address of a server (``postgresql://…``), or an engine;
                                          it is only read
DuckDB relation                           `Stored`
``(connection, "select ...")``            the rows of a query, from DuckDB or any connection of Python's database API
a connection alone                        the table or view that has the name of the predicate
Spark DataFrame, ``(session, "table")``   `Distributed`: read by Spark where it lives, by other engines through Arrow
``"schema.table"``                        `Stored`, on the server of the engine that grounds the model, if it is one
`Table(data, columns)`                    any of these, with columns chosen by name or number
========================================  ==============================================================

Columns are matched with arguments by the names that the model uses for these, where they carry them, else by position
with the value of a param last (:mod:`relift.tables.sources.match_columns`). Keys have one form, wherever they come from
(:mod:`relift.tables.sources.canonical`). A column must not mix text and numbers.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, final

from relift.errors import DataError
from relift.tables.postgres.address import is_address, shown_address
from relift.tables.sources.canonical import refuse_key
from relift.tables.sources.columns_from_objects import content_of_object, none_where_masked
from relift.tables.sources.contents import Columns, Distributed, File, Frame, Shape, Stored
from relift.tables.sources.file_patterns import Files
from relift.tables.sources.match_columns import Wanted, order_of_columns
from relift.tables.sources.matrix import Matrix

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "FILE_KINDS",
    "Columns",
    "Distributed",
    "File",
    "Frame",
    "Source",
    "Stored",
    "Table",
    "TableLike",
    "Wanted",
    "name_parts",
    "none_where_masked",
    "source_from_data",
]

FILE_KINDS = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet", ".json": "json",
}  # fmt: skip
_QUERY = re.compile(r"\s*(select|with|values|from|table)\s", re.IGNORECASE)


@final
@dataclass(frozen=True, eq=False)
class Source:
    """Something to read, and which of its columns, in which order.

    Parameters
    ----------
    label
        What messages call it, for example ``the table of 'cite'``.
    content
        What to read.
    chosen
        Names or positions of columns, or None for all of them.
    wanted
        What the predicate needs; None if that is not known.
    """

    label: str
    content: Columns | Frame | File | Stored | Distributed
    chosen: tuple[str | int, ...] | None = None
    wanted: Wanted | None = None

    def choose(self, found: Sequence[str], is_named: bool = True) -> list[int]:
        """Positions of the columns to read among those found, in the order of the arguments.

        Parameters
        ----------
        found
            Names of all columns.
        is_named
            Whether the names are those of the table, and not made up.

        Raises
        ------
        DataError
            If a chosen one is not there, or it is not clear which is which.
        """
        shape: Shape = getattr(self.content, "shape", Shape())
        is_named = is_named and shape.is_named
        if self.chosen is not None:
            order = self._chosen(found, is_named)
        elif self.wanted is not None:
            order = order_of_columns(self.label, found, replace(shape, is_named=is_named), self.wanted)
        else:
            order = list(range(len(found)))
        rounded = self.content.rounded if isinstance(self.content, Columns) else {}
        for position, column in enumerate(order):
            if self.is_key(position) and found[column] in rounded:
                raise refuse_key(self.label, found[column], rounded[found[column]])
        return order

    def is_key(self, position: int) -> bool:
        """Whether the column that comes at that position is compared with others, and not only calculated with."""
        return self.wanted is None or position < self.wanted.arity

    def _chosen(self, found: Sequence[str], is_named: bool) -> list[int]:
        assert self.chosen is not None
        if not is_named and not any(isinstance(name, int) for name in self.chosen):
            if all(name in found for name in self.chosen):
                return [list(found).index(str(name)) for name in self.chosen]
            if len(self.chosen) != len(found):
                raise DataError(
                    f"{self.label} has {len(found)} columns without names, and {len(self.chosen)} names are given.",
                    "Give a name for each, or their positions, counted from 0.",
                )
            return list(range(len(found)))
        for name in self.chosen:
            if isinstance(name, int) and not isinstance(name, bool):
                if not 0 <= name < len(found):
                    raise DataError(f"{self.label} has no column {name}.", f"Its columns are 0 to {len(found) - 1}.")
            elif name not in found:
                raise DataError(
                    f"{self.label} has no column {name!r}.",
                    f"Its columns are {', '.join(map(repr, found)) or 'none'}.",
                )
        return [name if isinstance(name, int) else list(found).index(name) for name in self.chosen]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Data with columns chosen by name or position, in the order of the arguments (the value of a param last).

    Parameters
    ----------
    data
        Anything that can be given as a table.
    columns
        Names of its columns, or their positions, counted from 0; names for all of them if they have none. None to take
        them as if the data were given without `Table`.
    header
        For CSV files: whether the first line holds the names of the columns; None to find out, or to be told that it
        cannot be found out.
    delimiter
        For CSV files: what stands between two entries, for example ``";"``; None to find out.

    Examples
    --------
    >>> import relift
    >>> relift.Table("roads.csv", ["from", "to", "km"])
    Table('roads.csv', ['from', 'to', 'km'])
    >>> relift.Table("roads.csv", header=False)
    Table('roads.csv', header=False)
    """

    data: object
    columns: Sequence[str | int] | None = None
    header: bool | None = None
    delimiter: str | None = None

    def __repr__(self) -> str:
        shown = repr(str(self.data)) if isinstance(self.data, str | os.PathLike) else type(self.data).__name__
        if is_address(self.data):
            shown = repr(shown_address(self.data))
        words = [shown] if self.columns is None else [shown, repr(list(self.columns))]
        words += [f"{k}={v!r}" for k, v in (("header", self.header), ("delimiter", self.delimiter)) if v is not None]
        return f"Table({', '.join(words)})"


TableLike: TypeAlias = object
"""Anything of the list in the header of this module."""


def source_from_data(
    name: str, data: TableLike, folder: Path | None = None, engine: object = None, wanted: Wanted | None = None
) -> Source:
    """What to read for a predicate.

    Parameters
    ----------
    name
        The predicate, for messages.
    data
        What the user gave.
    folder
        Where relative paths begin; the working directory if it is not given.
    engine
        The engine that grounds the model; if it is a server, texts that are no names of files name its tables.
    wanted
        What the predicate needs; None to take all columns in their order.

    Raises
    ------
    DataError
        If it is nothing that can be read as a table.

    Examples
    --------
    >>> source = source_from_data("cap", {("a", "b"): 50, ("a", "c"): 100})
    >>> {name: column.tolist() for name, column in source.content.arrays.items()}
    {'argument 1': ['a', 'a'], 'argument 2': ['b', 'c'], 'value': [50, 100]}
    """
    label = f"the table of {name!r}"
    if hasattr(data, "cursor") and not hasattr(data, "project"):
        data = (data, f'"{name}"')
    if isinstance(data, Table):
        return _from_table(source_from_data(name, data.data, folder, engine, wanted), data)
    return replace(_source(label, data, folder, engine, wanted), wanted=wanted)


def _source(label: str, data: object, folder: Path | None, engine: object, wanted: Wanted | None) -> Source:
    if isinstance(data, str) and getattr(engine, "knows_tables", False) and Path(data).suffix not in FILE_KINDS:
        return Source(f"{label} ({data})", Stored(engine, name_parts(data)))
    if isinstance(data, str | os.PathLike):
        return _file(label, Path(data), folder)
    if isinstance(data, Files):
        paths = data.paths(label, folder)
        return Source(f"{label} ({data.pattern})", File(paths, _kind_of_files(label, paths)))
    if isinstance(data, Matrix):
        return Source(label, data.content(label, wanted is None or wanted.has_value))
    if _home(data) == "pyspark":
        return Source(label, Distributed(data.to_spark() if hasattr(data, "to_spark") else data))
    if _home(data) in {"duckdb", "_duckdb"} and hasattr(data, "project"):
        return Source(label, Stored(data, ()))
    if isinstance(data, tuple) and len(data) == 2 and isinstance(data[1], str) and _home(data[0]) == "pyspark":
        return Source(f"{label} ({data[1]})", _table_of_session(label, *data))
    if isinstance(data, tuple) and len(data) == 2 and isinstance(data[1], str) and _is_connection(data[0]):
        if _QUERY.match(data[1]) or _home(data[0]) == "sqlite3":
            return _rows_of_query(label, *data)
        return Source(f"{label} ({data[1]})", Stored(data[0], name_parts(data[1])))
    return Source(label, content_of_object(label, data))


def _from_table(source: Source, table: Table) -> Source:
    content = source.content
    if table.header is not None or table.delimiter is not None:
        if not isinstance(content, File) or content.kind != "csv":
            raise DataError(f"{source.label}: header= and delimiter= apply to CSV files.", "Remove them.")
        if table.delimiter is not None and (len(table.delimiter) != 1 or table.delimiter in '"\r\n'):
            raise DataError(f"{source.label}: delimiter={table.delimiter!r} is not one character.", "Give ',' or ';'.")
        header = content.header if table.header is None else table.header
        content = replace(content, header=header, delimiter=table.delimiter or content.delimiter)
    if isinstance(table.columns, str):
        raise DataError(f"{source.label}: columns={table.columns!r} is one text.", f"Give [{table.columns!r}].")
    chosen = source.chosen if table.columns is None else tuple(table.columns)
    return replace(source, content=content, chosen=chosen)


def _rows_of_query(label: str, connection: Any, text: str) -> Source:
    """The rows of a query behind a connection; of a name in SQLite those of its table."""
    if is_address(connection) or hasattr(connection, "knows_tables"):
        hint = "Give a connection, or make a view of the query and give its name."
        raise DataError(f"{label}: a query needs an open connection.", hint)
    try:
        if _home(connection) in {"duckdb", "_duckdb"}:
            return Source(f"{label} (a query)", Stored(connection.cursor().sql(text), ()))
        cursor = connection.cursor()
        cursor.execute(text if _QUERY.match(text) else f"select * from {text}")
        names, rows = [str(column[0]) for column in cursor.description], cursor.fetchall()
    except Exception as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"{label}: the query fails: {reason}", "It is run as it was given.") from error
    columns: dict[str, object] = {name: [row[k] for row in rows] for k, name in enumerate(names)}
    return Source(f"{label} (a query)", content_of_object(label, columns))


def _home(value: object) -> str:
    """The package that a value comes from."""
    return type(value).__module__.partition(".")[0]


def _table_of_session(label: str, session: SparkSession, name: str) -> Distributed:
    try:
        return Distributed(session.table(name))
    except Exception as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"{label}: the Spark session has no table {name!r} ({reason}).") from error


def _is_connection(value: object) -> bool:
    return is_address(value) or any(hasattr(value, method) for method in ("execute", "cursor", "knows_tables"))


def name_parts(name: str) -> tuple[str, ...]:
    """The parts of a name; in double quotation marks a part may hold dots.

    Examples
    --------
    >>> name_parts("sales.orders"), name_parts('"my.schema".orders')
    (('sales', 'orders'), ('my.schema', 'orders'))
    """
    if not re.fullmatch(r'("([^"]|"")+"|[^".]+)(\.("([^"]|"")+"|[^".]+))*', name):
        return tuple(name.split("."))
    found = re.findall(r'"(?:[^"]|"")+"|[^".]+', name)
    return tuple(part[1:-1].replace('""', '"') if part.startswith('"') else part for part in found)


def _file(label: str, path: Path, folder: Path | None) -> Source:
    if folder is not None and not path.is_absolute():
        path = folder / path
    if not path.is_file():
        hint = "For many files give relift.files(pattern)." if re.search(r"[*?\[]", str(path)) else ""
        raise DataError(f"{label}: there is no file {str(path)!r}.", hint)
    kind = _kind_of_files(label, (path,))
    if kind == "json":
        return Source(f"{label} ({path.name})", content_of_object(label, _from_json(label, path)))
    return Source(f"{label} ({path.name})", File((path.resolve(),), kind))


def _from_json(label: str, path: Path) -> object:
    """What a JSON file holds; a key that an object has twice is refused, since one of its values would be lost."""

    def pairs(found: list[tuple[str, object]]) -> dict[str, object]:
        keys = dict(found)
        if len(keys) < len(found):
            names = [key for key, _ in found]
            double = next(key for key in names if names.count(key) > 1)
            raise DataError(f"{label} ({path.name}): an object has the key {double!r} twice.", "Keep one of them.")
        return keys

    try:
        return json.loads(path.read_text("utf-8-sig"), object_pairs_hook=pairs)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DataError(f"{label}: {path.name} is not JSON: {error}.", "Save it as JSON in UTF-8.") from error


def _kind_of_files(label: str, paths: tuple[Path, ...]) -> str:
    kinds = set()
    for path in paths:
        kind = FILE_KINDS.get(path.suffix.lower())
        if kind is None:
            raise DataError(
                f"{label}: {path.name!r} has an unknown file extension.",
                f"Expected one of {', '.join(FILE_KINDS)}.",
            )
        kinds.add(kind)
    if "json" in kinds and len(paths) > 1:
        raise DataError(f"{label}: many JSON files cannot be read as one.", "Give CSV or Parquet files, or one file.")
    if len(kinds) > 1:
        raise DataError(f"{label}: there are text files and Parquet files.", "Give files of one kind.")
    return kinds.pop()
