"""Text files in DuckDB: read as text, every line of them, then turned into numbers where every entry is one.

A reader that guesses would skip lines that it does not understand, drop those that begin with ``#``, and make 7 of the
key 007; so it is told everything, and finds an error where the file is otherwise.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, final

from relift.errors import DataError
from relift.tables.algebra import Type
from relift.tables.duckdb.errors import UnclearLinesError
from relift.tables.engine import Row
from relift.tables.sources.canonical import refuse_key, rounded_text
from relift.tables.sources.contents import File
from relift.tables.sources.csv_layout import NUMBER, Layout, has_header, layout_of, write_plainly
from relift.tables.sources.file_patterns import other_columns
from relift.tables.sources.table import Source
from relift.tables.sql.write import name_in, text_in

DIALECT = "duckdb"
_WHOLE = r"[+-]?(0|[1-9][0-9]*)(\.0*)?"
_DAY, _CLOCK = r"[0-9]{4}-[0-9]{2}-[0-9]{2}", r"[0-9]{2}:[0-9]{2}:[0-9]{2}"
_SAMPLE = 200


@final
@dataclass(frozen=True)
class _Look:
    """Something that all texts of a column may look like.

    Parameters
    ----------
    name
        What it is.
    pattern
        How it looks.
    type
        What it is read as.
    sql
        How; ``{}`` stands for the column.
    test
        What must be true beside the pattern.
    """

    name: str
    pattern: str
    type: Type
    sql: str
    test: str = "true"


_TRIMMED = r"regexp_replace(regexp_replace({0}, '(\.[0-9]*[1-9])0+$', '\1'), '\.0+$', '')"
_MOMENT = _TRIMMED.replace("{0}", "replace({}, 'T', ' ')")
_LOOKS = (
    _Look("truth value", "(?i)true|false", Type.INTEGER, "CAST(CAST({} AS BOOLEAN) AS BIGINT)"),
    _Look("date", _DAY, Type.TEXT, "{}", "TRY_CAST({} AS DATE) IS NOT NULL"),
    _Look(
        "timestamp", rf"{_DAY}([T ]{_CLOCK}(\.[0-9]{{1,9}})?)?", Type.TEXT,
        f"regexp_replace({_MOMENT}, ' 00:00:00$', '')",
        "TRY_CAST(replace(regexp_replace({}, '\\.[0-9]+$', ''), 'T', ' ') AS TIMESTAMP) IS NOT NULL",
    ),
    _Look(
        "timestamp with a zone", rf"{_DAY}[T ]{_CLOCK}(\.[0-9]{{1,6}})?(Z|[+-][0-9]{{2}}(:?[0-9]{{2}})?)", Type.TEXT,
        _TRIMMED.replace("{0}", "CAST(make_timestamp(epoch_us(CAST({} AS TIMESTAMPTZ))) AS VARCHAR)") + " || '+00:00'",
        "TRY_CAST({} AS TIMESTAMPTZ) IS NOT NULL",
    ),
    _Look("time", rf"{_CLOCK}(\.[0-9]{{1,9}})?", Type.TEXT, _TRIMMED.replace("{0}", "{}"),
          "TRY_CAST(regexp_replace({}, '\\.[0-9]+$', '') AS TIME) IS NOT NULL"),
    _Look("UUID", "(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", Type.TEXT, "lower({})"),
)  # fmt: skip
_TEXT = _Look("text", ".*", Type.TEXT, "{}")
_NUMBERS = {
    Type.INTEGER: _Look("number", _WHOLE, Type.INTEGER, "CAST(split_part(trim({}), '.', 1) AS BIGINT)"),
    Type.REAL: _Look("number", NUMBER, Type.REAL, "CAST(trim({}) AS DOUBLE)"),
}


class Run(Protocol):
    """Runs a statement, or a call of DuckDB, with a label for errors; returns the rows of a statement."""

    def __call__(self, statement: str | Callable[[], object], label: str = "") -> list[Row]:
        """Run a statement of SQL, or a call of DuckDB, and return its rows."""


@final
class CsvReader:
    """Reads text files into tables.

    Parameters
    ----------
    run
        Runs statements.
    literally
        A pattern for exactly one file, while it is open.
    """

    def __init__(self, run: Run, literally: Callable[[Path], AbstractContextManager[str]]) -> None:
        self._run = run
        self._literally = literally

    def attach(self, name: str, source: Source, content: File) -> dict[str, Type]:
        """Read the chosen columns of all files into one table."""
        raw = name_in(DIALECT, f"{name}_text")
        names: list[str] | None = None
        width = 0
        try:
            for position, path in enumerate(content.paths):
                part = source if len(content.paths) == 1 else replace(source, label=f"{source.label}, {path.name}")
                found = self._read(raw, part, content, path, is_first=not position, before=names)
                if position and found != names:
                    raise other_columns(source.label, content.paths[0], names or ["no names"], path, found or ["none"])
                names = found
            width = len(self._run(f"DESCRIBE {raw}"))
            shown = names or [f"column {k}" for k in range(1, width + 1)]
            order = source.choose(shown, is_named=names is not None)
            return self._typed(name, source, raw, order, shown)
        finally:
            self._run(f"DROP TABLE IF EXISTS {raw}")

    # --- reading ----------------------------------------------------------------------------------------------------

    def _read(
        self, raw: str, source: Source, content: File, path: Path, *, is_first: bool, before: list[str] | None
    ) -> list[str] | None:
        """Add the lines of a file to the table of texts; the names of its columns, if it has a header."""
        expected = source.wanted.width if source.wanted is not None and source.chosen is None else None
        layout = layout_of(source.label, path, content.delimiter, expected)
        if layout is None and content.header is not False:
            raise DataError(
                f"{source.label}: the file is empty.", "Write a line with the names of its columns, or header=False."
            )
        width = (expected or len(source.chosen or ()) or 1) if layout is None else layout.width
        columns = [f"c{k}" for k in range(width)]
        if is_first:
            self._run(f"CREATE TABLE {raw}({', '.join(f'{c} VARCHAR' for c in columns)})")
        elif width != len(self._run(f"DESCRIBE {raw}")):
            raise DataError(f"{source.label} has {width} columns, and the files before it have another number.")
        if layout is None:
            return None
        start = int(self._run(f"SELECT coalesce(max(rowid) + 1, 0) FROM {raw}")[0][0])
        self._insert(raw, source.label, path, layout, columns)
        if width == 1:  # empty lines
            self._run(f"DELETE FROM {raw} WHERE c0 IS NULL AND rowid >= {start}")
        rows = self._run(f"SELECT min(rowid) FROM {raw} WHERE rowid >= {start}")
        if rows[0][0] is None:
            return None
        first = int(rows[0][0])
        entries = list(self._run(f"SELECT * FROM {raw} WHERE rowid = {first}")[0])
        is_header = content.header
        if is_header is None:
            is_header = self._has_header(raw, source, first, entries)
        if not is_header:
            return None
        self._run(f"DELETE FROM {raw} WHERE rowid = {first}")
        return _names(source, entries)

    def _insert(self, raw: str, label: str, path: Path, layout: Layout, columns: Sequence[str]) -> None:
        """Add all lines of a file; one whose line ends DuckDB does not understand is written anew for it."""
        if not layout.is_odd:
            try:
                self._read_by_duckdb(raw, label, path, layout, columns)
                return
            except UnclearLinesError:
                pass
        with tempfile.TemporaryDirectory(prefix="relift-") as folder:
            again = Path(folder) / "again.csv"
            write_plainly(label, path, layout.delimiter, again)
            self._read_by_duckdb(raw, label, again, replace(layout, delimiter=","), columns)

    def _read_by_duckdb(self, raw: str, label: str, path: Path, layout: Layout, columns: Sequence[str]) -> None:
        with self._literally(path) as pattern:
            self._run(f"INSERT INTO {raw} SELECT * FROM {_reader(pattern, layout, columns)}", label)

    def _has_header(self, raw: str, source: Source, first: int, entries: Sequence[str | None]) -> bool:
        below = f"(SELECT * FROM {raw} WHERE rowid > {first})"
        columns = [f"c{k}" for k in range(len(entries))]
        count = self._run(f"SELECT count(*) FROM {below}")[0][0]
        kinds = [look.name if count else "" for look in self._looks(below, columns)]
        same = " OR ".join(
            f"{c} = {text_in(DIALECT, entry)}" for c, entry in zip(columns, entries, strict=True) if entry is not None
        )
        is_repeated = bool(self._run(f"SELECT 1 FROM {below} WHERE {same} LIMIT 1")) if same else False
        return has_header(source.label, entries, kinds, is_repeated, source.wanted, source.chosen)

    # --- types ------------------------------------------------------------------------------------------------------

    def _looks(self, rows: str, columns: Sequence[str]) -> list[_Look]:
        """What all entries of each column look like; whole numbers may be too long for 64 bits."""
        tests = [
            f"coalesce(bool_and(regexp_full_match(trim({column}), {text_in(DIALECT, look.pattern)})), true)"
            for column in columns
            for look in _NUMBERS.values()
        ]
        found = self._run(f"SELECT {', '.join(tests)} FROM {rows}")[0]
        looks = []
        for column, is_whole, is_number in zip(columns, found[::2], found[1::2], strict=True):
            if is_whole or is_number:
                looks.append(_NUMBERS[Type.INTEGER if is_whole else Type.REAL])
            else:
                looks.append(self._look_of_text(rows, column))
        return looks

    def _look_of_text(self, rows: str, column: str) -> _Look:
        """What texts look like: a few of them are looked at first, since most columns are plain text."""
        for look in _LOOKS:
            test = (
                f"coalesce(bool_and(regexp_full_match({column}, {text_in(DIALECT, look.pattern)}) "
                f"AND {look.test.replace('{}', column)}), true)"
            )
            few = f"(SELECT {column} FROM {rows} WHERE {column} IS NOT NULL LIMIT {_SAMPLE})"
            if all(self._run(f"SELECT {test} FROM {part} AS t")[0][0] for part in (few, rows)):
                return look
        return _TEXT

    def _typed(
        self, name: str, source: Source, raw: str, order: Sequence[int], shown: Sequence[str]
    ) -> dict[str, Type]:
        columns = [f"c{k}" for k in order]
        count = self._run(f"SELECT count(*) FROM {raw}")[0][0]
        looks = self._looks(raw, columns) if columns else []
        for position, column in enumerate(columns):
            looks[position] = self._exact(source, raw, position, column, shown[order[position]], looks[position])
        outputs = ", ".join(
            f"CAST({look.sql.replace('{}', column)} AS {_SQL[look.type]}) AS c{k}"
            for k, (column, look) in enumerate(zip(columns, looks, strict=True))
        )
        if not outputs:
            return {}
        self._run(f"CREATE TABLE {name_in(DIALECT, name)} AS SELECT {outputs} FROM {raw} ORDER BY rowid", source.label)
        return {f"c{k}": look.type if count else Type.NOTHING for k, look in enumerate(looks)}

    def _exact(self, source: Source, raw: str, position: int, column: str, shown: str, look: _Look) -> _Look:
        """Numbers that would be rounded: whole keys stay text, other keys are refused, values are rounded."""
        if look.name != "number":
            return look
        if look.type == Type.INTEGER:
            is_long = f"TRY_CAST(split_part(trim({column}), '.', 1) AS BIGINT) IS NULL AND {column} IS NOT NULL"
            if not self._run(f"SELECT 1 FROM {raw} WHERE {is_long} LIMIT 1"):
                return look
            return _TEXT if source.is_key(position) else _NUMBERS[Type.REAL]
        if source.is_key(position):
            digits = f"length(regexp_replace(split_part(lower({column}), 'e', 1), '[^0-9]', '', 'g'))"
            long = self._run(f"SELECT DISTINCT trim({column}) FROM {raw} WHERE {digits} > 15")
            if (text := rounded_text([text for (text,) in long])) is not None:
                raise refuse_key(source.label, shown, text)
        return look


_SQL = {Type.INTEGER: "BIGINT", Type.REAL: "DOUBLE", Type.TEXT: "VARCHAR"}


def _reader(pattern: str, layout: Layout, columns: Sequence[str]) -> str:
    types = ", ".join(f"{text_in(DIALECT, c)}: 'VARCHAR'" for c in columns)
    return (
        f"read_csv({text_in(DIALECT, pattern)}, auto_detect = false, header = false, delim = "
        f"{text_in(DIALECT, layout.delimiter)}, quote = '\"', escape = '\"', comment = '', nullstr = '', "
        "null_padding = false, strict_mode = true, ignore_errors = false, hive_partitioning = false, "
        f"filename = false, columns = {{{types}}})"
    )


def _names(source: Source, entries: Sequence[str | None]) -> list[str]:
    names = [(entry or "").strip() for entry in entries]
    if source.chosen is not None:
        return names
    if "" in names:
        raise DataError(
            f"{source.label}: column {names.index('') + 1} has no name in the first line; it may be the index of a "
            "data frame, or the corner of a wide table.",
            f"Choose the columns: relift.Table(data, {[name for name in names if name]!r}).",
        )
    if len(set(names)) < len(names):
        raise DataError(f"{source.label} has two columns of the same name.", "Rename one of them.")
    return names
