"""How tables get into DuckDB: Python objects, files, tables of other connections and servers, with canonical keys."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol, TypeVar, final

import duckdb

from relift.arrays import Cells
from relift.errors import DataError
from relift.tables.algebra import Type
from relift.tables.duckdb.csv import CsvReader, Run
from relift.tables.duckdb.errors import first_line
from relift.tables.sources.canonical import TEMPORAL, refuse_key, refuse_moment
from relift.tables.sources.columns_from_objects import none_where_masked
from relift.tables.sources.contents import ArrowStream, Columns, Distributed, File, Frame, Stored
from relift.tables.sources.file_patterns import literal_pattern, other_columns
from relift.tables.sources.table import Source
from relift.tables.sql.canonical import Reading, duckdb_reading
from relift.tables.sql.statements import create_cast, create_empty, drop_table, select_all
from relift.tables.sql.write import name_in, text_in

DIALECT = "duckdb"
T = TypeVar("T")
_PLAIN = {Type.INTEGER: "CAST({} AS BIGINT)", Type.REAL: "CAST({} AS DOUBLE)", Type.TEXT: "CAST({} AS VARCHAR)"}


class Pull(Protocol):
    """Reads a table of a server, and hands its batches to a function."""

    def __call__(self, content: Stored, source: Source, use: Callable[[ArrowStream, dict[str, Type]], T]) -> T:
        """Read a table of a server, and pass its rows to a function."""


@final
class DuckDBReader:
    """Reads sources into tables ``c0, c1, ...`` of a connection.

    Parameters
    ----------
    connection
        Where to.
    run
        Runs statements in it.
    pull
        Reads a table of a server: called with the stored table, the source and what to do with its batches.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, run: Run, pull: Pull) -> None:
        self._connection = connection
        self._run = run
        self._pull = pull

    def attach(self, name: str, source: Source) -> dict[str, Type]:
        """Read a source into a table; the types of its columns."""
        content = source.content
        if isinstance(content, Columns):
            return self._attach_columns(name, source, content)
        if isinstance(content, Distributed):
            content = content.here(source.label)
        if isinstance(content, Frame):
            return self._copy(name, source, content.table, content.names)
        if isinstance(content, Stored):
            return self._attach_stored(name, source, content)
        return self._attach_files(name, source, content)

    # --- objects and connections ------------------------------------------------------------------------------------

    def _attach_columns(self, name: str, source: Source, content: Columns) -> dict[str, Type]:
        names = list(content.arrays)
        arrays = {f"c{k}": content.arrays[names[p]] for k, p in enumerate(source.choose(names))}
        kinds = {"i": Type.INTEGER, "u": Type.INTEGER, "f": Type.REAL}
        types = {column: kinds.get(array.dtype.kind, Type.TEXT) for column, array in arrays.items()}
        return self._put(name, source, arrays, {c: (kind, _PLAIN[kind]) for c, kind in types.items()})

    def _put(
        self, name: str, source: Source, arrays: Mapping[str, Cells], outputs: Mapping[str, tuple[Type, str]]
    ) -> dict[str, Type]:
        if not arrays:
            return {}
        if not next(iter(arrays.values())).size:
            return self._create_empty(name, len(arrays))
        readings = [(c, Reading(kind, sql)) for c, (kind, sql) in outputs.items()]
        return self._registered(name, source, dict(arrays), lambda view: self._store(name, source, view, readings))

    def _copy(self, name: str, source: Source, table: ArrowStream, names: Sequence[str]) -> dict[str, Type]:
        """Store the chosen columns of an object that DuckDB reads."""
        chosen = [names[k] for k in source.choose(names)]
        return self._registered(
            name, source, table, lambda view: self._store(name, source, view, self._readings(source, view, chosen))
        )

    def _registered(
        self, name: str, source: Source, table: ArrowStream | Mapping[str, Cells], use: Callable[[str], dict[str, Type]]
    ) -> dict[str, Type]:
        view = f"{name}_given"
        try:
            self._run(lambda: self._connection.register(view, table), source.label)
            return use(name_in(DIALECT, view))
        finally:
            with suppress(duckdb.Error):
                self._connection.unregister(view)

    def _attach_stored(self, name: str, source: Source, content: Stored) -> dict[str, Type]:
        if isinstance(content.connection, duckdb.DuckDBPyConnection | duckdb.DuckDBPyRelation):
            return self._attach_foreign(name, source, content)

        def use(table: ArrowStream, types: Mapping[str, Type]) -> dict[str, Type]:
            readings = [(column, Reading(kind, _PLAIN[kind])) for column, kind in types.items()]
            return self._registered(name, source, table, lambda view: self._store(name, source, view, readings))

        return self._pull(content, source, use)

    def _attach_foreign(self, name: str, source: Source, content: Stored) -> dict[str, Type]:
        """A table of another DuckDB: cast there, so that what comes over has the three types."""
        try:
            given = content.connection
            if isinstance(given, duckdb.DuckDBPyConnection):
                relation = given.cursor().sql(select_all(content.name, DIALECT))
            else:
                assert isinstance(given, duckdb.DuckDBPyRelation)
                relation = given
            found, kinds = list(relation.columns), [str(kind) for kind in relation.types]
            chosen = [(found[k], kinds[k]) for k in source.choose(found)]
            readings = [
                duckdb_reading(source.label, column, kind, source.is_key(k)) for k, (column, kind) in enumerate(chosen)
            ]
            if not readings:
                return {}
            outputs = [
                (f"CAST({column} AS VARCHAR)" if reading.is_wide else reading.of(column)) + f" AS c{k}"
                for k, (column, reading) in enumerate(
                    zip((name_in(DIALECT, column) for column, _ in chosen), readings, strict=True)
                )
            ]
            arrays = {key: _with_none(v) for key, v in relation.project(", ".join(outputs)).fetchnumpy().items()}
        except duckdb.Error as error:
            raise DataError(f"{source.label} cannot be read from the connection: {first_line(error)}") from error
        if not next(iter(arrays.values())).size:
            return self._create_empty(name, len(arrays))
        columns = ", ".join(
            (f"CAST(c{k} AS {kind})" if reading.is_wide else _PLAIN[reading.type].replace("{}", f"c{k}")) + f" AS c{k}"
            for k, ((_, kind), reading) in enumerate(zip(chosen, readings, strict=True))
        )
        here = [
            (f"c{k}", r if r.is_wide else Reading(r.type, "{}", is_moment=r.is_moment)) for k, r in enumerate(readings)
        ]
        return self._registered(
            name,
            source,
            arrays,
            lambda view: self._store(
                name, source, f"(SELECT {columns} FROM {view})", here, names=[column for column, _ in chosen]
            ),
        )

    # --- files ------------------------------------------------------------------------------------------------------

    def _attach_files(self, name: str, source: Source, content: File) -> dict[str, Type]:
        if content.kind == "csv":
            return CsvReader(self._run, self._literally).attach(name, source, content)
        names: list[str] | None = None
        parts = []
        for position, path in enumerate(content.paths):
            with self._literally(path) as pattern:
                rows = f"read_parquet({text_in(DIALECT, pattern)}, hive_partitioning = false, filename = false)"
                found = [row[0] for row in self._run(f"DESCRIBE SELECT * FROM {rows}", source.label)]
                if names is not None and found != names:
                    raise other_columns(source.label, content.paths[0], names, path, found)
                names = found
                chosen = [found[k] for k in source.choose(found)]
                part = f"{name}_{position}" if len(content.paths) > 1 else name
                parts.append((part, self._store(part, source, rows, self._readings(source, rows, chosen))))
        return parts[0][1] if len(parts) == 1 else self._joined(name, source, parts)

    def _joined(self, name: str, source: Source, parts: Sequence[tuple[str, dict[str, Type]]]) -> dict[str, Type]:
        """Put the tables of several files together."""
        types = joined_types(source.label, [types for _, types in parts])
        filled = [part for part, found in parts if any(kind != Type.NOTHING for kind in found.values())]
        if not filled:
            self._create_empty(name, len(types))
        else:
            self._run(create_cast(name, filled, types, DIALECT), source.label)
        for part, _ in parts:
            self._run(drop_table(part, DIALECT))
        return types

    def _literally(self, path: Path) -> _OneFile:
        """A pattern of DuckDB that stands for one file and no other."""
        return _OneFile(self._run, path)

    # --- storing ----------------------------------------------------------------------------------------------------

    def _readings(self, source: Source, rows: str, chosen: Sequence[str]) -> list[tuple[str, Reading]]:
        kinds = {row[0]: row[1] for row in self._run(f"DESCRIBE SELECT * FROM {rows}", source.label)}
        return [
            (column, duckdb_reading(source.label, column, kinds[column], source.is_key(k)))
            for k, column in enumerate(chosen)
        ]

    def _store(
        self,
        name: str,
        source: Source,
        rows: str,
        readings: Sequence[tuple[str, Reading]],
        names: Sequence[str] | None = None,
    ) -> dict[str, Type]:
        """Store columns of a table, cast to the three types; wide ones as they are first, to look at their values."""
        if not readings:
            return {}
        shown = names or [column for column, _ in readings]
        is_wide = any(reading.is_wide for _, reading in readings)
        stored = f"{name}_raw" if is_wide else name
        outputs = [
            (name_in(DIALECT, column) if reading.is_wide else reading.of(name_in(DIALECT, column))) + f" AS c{k}"
            for k, (column, reading) in enumerate(readings)
        ]
        count = self._run(
            f"CREATE TABLE {name_in(DIALECT, stored)} AS SELECT {', '.join(outputs)} FROM {rows} AS t", source.label
        )[0][0]
        types = {f"c{k}": reading.type for k, (_, reading) in enumerate(readings)}
        if is_wide:
            for k, (_, reading) in enumerate(readings):
                if reading.is_wide:
                    types[f"c{k}"] = self._type_of_wide(source, stored, k, shown[k], reading)
            self._run(create_cast(name, [stored], types, DIALECT))
            self._run(drop_table(stored, DIALECT))
        self._check_moments(source, name, [(k, shown[k]) for k, (_, r) in enumerate(readings) if r.is_moment])
        return types if count else dict.fromkeys(types, Type.NOTHING)

    def _type_of_wide(self, source: Source, stored: str, k: int, shown: str, reading: Reading) -> Type:
        """What a column of decimals or long whole numbers can be read as; keys that would be rounded are refused."""
        column, table = f"c{k}", name_in(DIALECT, stored)
        is_broken = "false" if reading.is_whole else f"{column} <> trunc({column})"
        too_long = f"TRY_CAST({column} AS BIGINT) IS NULL AND {column} IS NOT NULL"
        near = f"TRY_CAST(CAST(CAST({column} AS DOUBLE) AS VARCHAR) AS DECIMAL(38, 12))"
        if not reading.is_whole:
            near = f"TRY_CAST(CAST(CAST({column} AS DOUBLE) AS VARCHAR) AS {self._kind(stored, column)})"
        is_rounded = "false" if reading.is_whole else f"{near} IS DISTINCT FROM {column} AND {column} IS NOT NULL"
        broken, long, rounded = self._run(
            f"SELECT coalesce(bool_or({is_broken}), false), min(CAST({column} AS VARCHAR)) FILTER (WHERE {too_long}), "
            f"min(CAST({column} AS VARCHAR)) FILTER (WHERE {is_rounded}) FROM {table}",
            source.label,
        )[0]
        if not source.is_key(k):
            return Type.REAL if broken or long is not None else Type.INTEGER
        value = rounded if broken else long
        if value is not None:
            raise refuse_key(source.label, shown, value)
        return Type.REAL if broken else Type.INTEGER

    def _kind(self, stored: str, column: str) -> str:
        described = self._run(f"DESCRIBE SELECT {column} FROM {name_in(DIALECT, stored)}")
        return str(described[0][1])

    def _check_moments(self, source: Source, name: str, columns: Sequence[tuple[int, str]]) -> None:
        for k, shown in columns:
            bad = self._run(
                f"SELECT c{k} FROM {name_in(DIALECT, name)} WHERE NOT regexp_full_match(c{k}, "
                f"{text_in(DIALECT, TEMPORAL)}) OR starts_with(c{k}, '0000') LIMIT 1",
                source.label,
            )
            if bad:
                self._run(drop_table(name, DIALECT))
                raise refuse_moment(source.label, shown, bad[0][0])

    def _create_empty(self, name: str, width: int) -> dict[str, Type]:
        columns = {f"c{k}": Type.NOTHING for k in range(width)}
        self._run(create_empty(name, columns, DIALECT))
        return columns


class _OneFile:
    """While it is open: a pattern that DuckDB expands to one file. It is checked that it does.

    Parameters
    ----------
    run
        Runs statements.
    path
        The file.
    """

    def __init__(self, run: Run, path: Path) -> None:
        self._run, self._path = run, path
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> str:
        pattern = literal_pattern(self._path)
        if self._files(pattern) == [str(self._path)]:
            return pattern
        # A name that no pattern can spell, such as one with a backslash: read through a link with a plain name.
        self._folder = tempfile.TemporaryDirectory(prefix="relift-")
        link = Path(self._folder.name) / f"file{self._path.suffix}"
        os.symlink(self._path, link)
        pattern = literal_pattern(link)
        if self._files(pattern) != [str(link)]:
            self._folder.cleanup()
            raise DataError(f"the file {str(self._path)!r} cannot be opened by DuckDB.", "Rename it.")
        return pattern

    def _files(self, pattern: str) -> list[str]:
        return [name for (name,) in self._run(f"SELECT file FROM glob({text_in(DIALECT, pattern)})")]

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()


def joined_types(label: str, parts: Sequence[Mapping[str, Type]]) -> dict[str, Type]:
    """The types of columns whose rows come from several files.

    Raises
    ------
    DataError
        If a column is text in one file and numbers in another.
    """
    types = dict(parts[0])
    for found in parts[1:]:
        if len(found) != len(types):
            raise DataError(f"{label}: its files have different numbers of columns.", "Give files of one table.")
        for column, kind in found.items():
            known = types[column]
            if Type.NOTHING in {known, kind}:
                types[column] = kind if known == Type.NOTHING else known
            elif (known == Type.TEXT) != (kind == Type.TEXT):
                raise DataError(
                    f"{label}: column {int(column[1:]) + 1} is text in one file and numbers in another.",
                    "A column holds numbers or text, not both.",
                )
            elif known != kind:
                types[column] = Type.REAL
    return types


def _with_none(values: Cells) -> Cells:
    import numpy as np

    if not np.ma.isMaskedArray(values):
        return values
    if not values.mask.any():
        return values.data
    if values.dtype.kind == "f":
        return np.ma.filled(values, np.nan)
    return none_where_masked(values)
