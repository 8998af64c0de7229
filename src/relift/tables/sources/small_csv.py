"""Small plain text files, read in Python: starting DuckDB for eight rows takes longer than all the rest.

Only what needs no second look is read here: no quotation marks, no missing entries, no blanks around entries, and
columns that are numbers or plain text. For everything else, dates and errors among it, the answer is None, and
:mod:`relift.tables.duckdb.csv` reads the file. Both say the same wherever this one says something.
"""

from __future__ import annotations

import re

import numpy as np

from relift.arrays import Cells
from relift.tables.sources.contents import UNNAMED, Columns, File
from relift.tables.sources.csv_layout import NUMBER, has_header, layout_of
from relift.tables.sources.table import Source

MOST_BYTES = 1 << 16
_NUMBER = re.compile(NUMBER)
_WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]*)")
_REAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_LOOKS_OTHERWISE = re.compile(
    r"(?i)true|false|[0-9]{4}-[0-9]{2}-[0-9]{2}.*|[0-9]{2}:[0-9]{2}:[0-9]{2}.*|[0-9a-f]{8}-.*"
)
_MOST_DIGITS = 15


def small_table(source: Source, content: File) -> Columns | None:
    """The chosen columns of a small text file, in the order of the arguments; None if DuckDB should read it.

    Raises
    ------
    DataError
        If it is not clear what is in the file.
    """
    if content.kind != "csv" or len(content.paths) != 1 or content.paths[0].stat().st_size > MOST_BYTES:
        return None
    try:
        text = content.paths[0].read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return None
    if any(sign in text for sign in '"\r\0\ufeff'):
        return None
    expected = source.wanted.width if source.wanted is not None and source.chosen is None else None
    layout = layout_of(source.label, content.paths[0], content.delimiter, expected)
    if layout is None or layout.is_odd:
        return None
    rows = [line.split(layout.delimiter) for line in text.removesuffix("\n").split("\n")]
    if any(len(row) != layout.width for row in rows):
        return None
    if any(not entry or entry != entry.strip() for row in rows for entry in row):
        return None
    first, below = rows[0], rows[1:]
    columns = [list(column) for column in zip(*below, strict=True)] or [[] for _ in first]
    kinds = [_kind(column) for column in columns]
    if None in kinds:
        return None
    is_header = content.header
    if is_header is None:
        is_repeated = any(entry in column for entry, column in zip(first, columns, strict=True))
        is_header = has_header(source.label, first, [k or "" for k in kinds], is_repeated, source.wanted, source.chosen)
    if not is_header:
        columns = [[entry, *column] for entry, column in zip(first, columns, strict=True)]
    elif source.chosen is None and len(set(first)) < len(first):
        return None
    if not columns[0]:
        return None
    names = first if is_header else [f"column {k}" for k in range(1, layout.width + 1)]
    order = source.choose(names, is_named=bool(is_header))
    arrays = [_array(columns[k], source.is_key(position)) for position, k in enumerate(order)]
    if not arrays or any(array is None for array in arrays):
        return None
    return Columns({f"c{k}": array for k, array in enumerate(arrays) if array is not None}, UNNAMED)


def _kind(column: list[str]) -> str | None:
    """What the entries of a column are; None where they may be something else than numbers or plain text."""
    if not column:
        return ""
    if all(_NUMBER.fullmatch(entry) for entry in column):
        return "number"
    return None if any(_LOOKS_OTHERWISE.fullmatch(entry) for entry in column) else "text"


def _array(column: list[str], is_key: bool) -> Cells | None:
    """A column of numbers, or of texts; None where numbers would be rounded, or may be dates."""
    if not all(_NUMBER.fullmatch(entry) for entry in column):
        if any(_LOOKS_OTHERWISE.fullmatch(entry) for entry in column):
            return None
        texts = np.empty(len(column), object)
        texts[:] = column
        return texts
    if all(_WHOLE.fullmatch(entry) for entry in column):
        whole = [int(entry) for entry in column]
        return np.array(whole, np.int64) if all(-(2**63) <= k < 2**63 for k in whole) else None
    if not all(_REAL.fullmatch(entry) for entry in column):
        return None
    is_long = any(sum(c.isdigit() for c in entry.lower().partition("e")[0]) > _MOST_DIGITS for entry in column)
    is_whole = all(re.fullmatch(r"[+-]?(0|[1-9][0-9]*)(\.0*)?", entry) for entry in column)
    return None if is_whole or (is_key and is_long) else np.array([float(entry) for entry in column])
