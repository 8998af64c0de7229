"""Whatever a user calls a table, brought into one of four forms that engines read.

========================================  ==============================================================
given                                     read as
========================================  ==============================================================
pandas DataFrame, Series with an index    `Columns`; levels of a named or multiple index come first
Polars, Arrow, ``__arrow_c_stream__``     `Frame`, read by the engine without Python in between
dict of arrays or lists                   `Columns`
dict of key to value                      `Columns`: the keys, then the value
NumPy structured array                    `Columns` by its fields
NumPy array of one or two dimensions      `Columns`, one tuple in each row
list or set of tuples, or of constants    `Columns`
one number                                `Columns` with one value, for a param without arguments
SciPy sparse matrix                       `Columns`: row, column, value of each stored entry
path of a .csv, .tsv or .parquet file     `File`
``(connection, "schema.table")``          `Stored`, a table or view behind an open connection (DuckDB, psycopg, ADBC for
                                          PostgreSQL), the address of a server (``postgresql://…``), or an engine;
                                          it is only read
Spark DataFrame, ``(session, "table")``   `Distributed`: read by Spark where it lives, by other engines through Arrow
``"schema.table"``                        `Stored`, on the server of the engine that grounds the model, if it is one
`Table(data, columns)`                    any of these, with columns chosen by name
========================================  ==============================================================

Columns are matched with arguments **by position**, the value of a param comes last; `Table` chooses columns by name.

A key is a whole number, a text or a real number. Reals that are all whole numbers count as whole numbers (a column
with ``1.0`` matches one with ``1``), other reals are compared exactly. Truth values are read as 0 and 1, dates as their
ISO text, categories as their labels. A column must not mix text and numbers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.errors import DataError
from relift.program.sparse_structure import checked_sparse
from relift.tables.server_address import is_address

FILE_KINDS = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet"}


@final
@dataclass(frozen=True, eq=False)
class Columns:
    """Equally long NumPy columns by name; numbers, or objects that are text or None."""

    arrays: Mapping[str, NDArray[Any]]


@final
@dataclass(frozen=True, eq=False)
class Frame:
    """A table object that exports an Arrow stream."""

    table: Any
    names: tuple[str, ...]


@final
@dataclass(frozen=True, eq=False)
class File:
    """A file with a table; ``kind`` is ``"csv"`` (with a line of column names) or ``"parquet"``."""

    path: Path
    kind: str


@final
@dataclass(frozen=True, eq=False)
class Stored:
    """A table or view behind an open connection, by the parts of its name."""

    connection: Any
    name: tuple[str, ...]


@final
@dataclass(frozen=True, eq=False)
class Distributed:
    """A Spark DataFrame, whose rows need not be in one place."""

    frame: Any

    def here(self, label: str) -> Frame:
        """Its rows, brought into this process.

        Raises
        ------
        DataError
            If Spark does not hand them over.
        """
        try:
            table = self.frame.toArrow()
        except Exception as error:
            reason = str(error).partition("\n")[0]
            raise DataError(f"{label}: Spark does not hand its rows over: {reason}") from error
        return Frame(table, tuple(table.column_names))


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
        Names of columns, or None for all of them.
    """

    label: str
    content: Columns | Frame | File | Stored | Distributed
    chosen: tuple[str, ...] | None = None

    def choose(self, found: Sequence[str]) -> list[int]:
        """Positions of the chosen columns among those found.

        Raises
        ------
        DataError
            If one is not there.
        """
        if self.chosen is None:
            return list(range(len(found)))
        for name in self.chosen:
            if name not in found:
                raise DataError(
                    f"{self.label} has no column {name!r}.",
                    f"Its columns are {', '.join(map(repr, found)) or 'none'}.",
                )
        return [list(found).index(name) for name in self.chosen]


@final
@dataclass(frozen=True, eq=False)
class Table:
    """Data with columns chosen by name, in the order of the arguments (the value of a param last).

    Parameters
    ----------
    data
        Anything that can be given as a table.
    columns
        Names of its columns.
    """

    data: Any
    columns: Sequence[str]


TableLike: TypeAlias = Any
"""Anything of the list in the header of this module."""


def source_from_data(name: str, data: TableLike, folder: Path | None = None, engine: Any = None) -> Source:
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
    if isinstance(data, Table):
        inner = source_from_data(name, data.data, folder, engine)
        return Source(inner.label, inner.content, tuple(data.columns))
    if isinstance(data, str) and getattr(engine, "knows_tables", False) and Path(data).suffix not in FILE_KINDS:
        return Source(f"{label} ({data})", Stored(engine, name_parts(data)))
    if isinstance(data, str | os.PathLike):
        return _file(label, Path(data), folder)
    if _home(data) == "pyspark":
        return Source(label, Distributed(data.to_spark() if hasattr(data, "to_spark") else data))
    if isinstance(data, tuple) and len(data) == 2 and isinstance(data[1], str) and _home(data[0]) == "pyspark":
        return Source(f"{label} ({data[1]})", _table_of_session(label, *data))
    if isinstance(data, tuple) and len(data) == 2 and isinstance(data[1], str) and _is_connection(data[0]):
        return Source(f"{label} ({data[1]})", Stored(data[0], name_parts(data[1])))
    return Source(label, _content(label, data))


def _home(value: Any) -> str:
    """The package that a value comes from."""
    return type(value).__module__.partition(".")[0]


def _table_of_session(label: str, session: Any, name: str) -> Distributed:
    try:
        return Distributed(session.table(name))
    except Exception as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"{label}: the Spark session has no table {name!r} ({reason}).") from error


def _is_connection(value: Any) -> bool:
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
        raise DataError(f"{label}: there is no file {str(path)!r}.")
    kind = FILE_KINDS.get(path.suffix.lower())
    if kind is None:
        raise DataError(
            f"{label}: {path.name!r} is no kind of file that is known here.", f"Known are {', '.join(FILE_KINDS)}."
        )
    return Source(f"{label} ({path.name})", File(path.resolve(), kind))


def _content(label: str, data: Any) -> Columns | Frame:
    if isinstance(data, np.generic):
        data = data.item()
    if isinstance(data, Real):
        return Columns({"value": np.asarray([data])})
    if sparse.issparse(data):
        checked_sparse(label, data)  # before SciPy's compiled routines see its indices
        entries = data.tocoo()
        return Columns({"row": entries.coords[0], "column": entries.coords[1], "value": entries.data})
    if isinstance(data, np.ndarray):
        return _from_array(label, data)
    home = _home(data)
    if home == "pandas":
        return _from_pandas(label, data)
    if home == "polars":
        frame = data.collect() if hasattr(data, "collect") else data
        frame = frame.to_frame() if hasattr(frame, "to_frame") else frame
        return Frame(frame, tuple(frame.columns))
    if hasattr(data, "__arrow_c_stream__") and hasattr(data, "schema"):
        names = tuple(data.schema.names)
        if len(set(names)) < len(names):
            raise DataError(f"{label} has two columns of the same name.", "Rename one of them.")
        return Frame(data, names)
    if isinstance(data, Mapping):
        return _from_mapping(label, data)
    if isinstance(data, str | bytes) or not isinstance(data, Iterable):
        raise DataError(
            f"{label} was given as {type(data).__name__}, which cannot be read as a table.",
            "Give a data frame, an Arrow table, a dict, an array, a list of tuples or the path of a file.",
        )
    return _from_rows(label, data)


def _from_array(label: str, data: NDArray[Any]) -> Columns:
    if data.dtype.names is not None:
        return Columns({name: _column(label, name, data[name]) for name in data.dtype.names})
    if data.ndim == 0:
        return Columns({"value": _column(label, "value", data.reshape(1))})
    if data.ndim > 2:
        raise DataError(f"{label} is an array of {data.ndim} dimensions.", "Give one with a tuple in each row.")
    columns = [data] if data.ndim == 1 else list(data.T)
    return Columns({f"column {k}": _column(label, f"column {k}", column) for k, column in enumerate(columns, 1)})


def _from_pandas(label: str, data: Any) -> Columns | Frame:
    if hasattr(data, "to_frame"):
        data = data.to_frame("value" if data.name is None else data.name).reset_index()
    elif data.index.nlevels > 1 or data.index.name is not None:
        data = data.reset_index()
    if not data.columns.is_unique:
        raise DataError(f"{label} has two columns of the same name.", "Rename one of them.")
    if (frame := _texts_in_arrow(data)) is not None:
        return frame
    arrays = {}
    for name in data.columns:
        series = data[name]
        if isinstance(series.dtype, np.dtype) and series.dtype.kind in "iufb":
            arrays[str(name)] = _machine_numbers(series.to_numpy())
        elif str(series.dtype) == "category":
            labels = np.append(np.asarray(series.cat.categories, dtype=object), [None])  # what is missing has code -1
            arrays[str(name)] = _column(label, str(name), labels[series.cat.codes.to_numpy()])
        elif str(series.dtype).startswith(("datetime", "period", "timedelta")):
            text = series.astype(object).where(series.notna(), None)
            arrays[str(name)] = np.array([None if v is None else _date_text(v) for v in text], dtype=object)
        elif isinstance(series.dtype, np.dtype) or str(series.dtype) in {"str", "string"}:
            arrays[str(name)] = _column(label, str(name), series.to_numpy())
        else:
            arrays[str(name)] = _column(label, str(name), series.to_numpy(dtype=object, na_value=None))
    return Columns(arrays)


def _texts_in_arrow(data: Any) -> Frame | None:
    """Columns of pandas as an Arrow table, if all are plain numbers or texts that PyArrow holds: nothing is copied."""
    columns = {}
    for name, kind in data.dtypes.items():
        if getattr(kind, "storage", "") == "pyarrow":
            columns[str(name)] = data[name].array.__arrow_array__()
        elif not (isinstance(kind, np.dtype) and kind.kind in "iuf" and kind.itemsize <= 8 and kind != np.float16):
            return None
        else:
            columns[str(name)] = None
    if all(column is None for column in columns.values()) or len(columns) < len(data.columns):
        return None
    import pyarrow as pa

    for name in data.columns:
        if columns[str(name)] is None:
            columns[str(name)] = pa.array(_machine_numbers(data[name].to_numpy()))
    return Frame(pa.table(columns), tuple(columns))


def _date_text(value: Any) -> str:
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


def _from_mapping(label: str, data: Mapping[Any, Any]) -> Columns:
    if data and all(isinstance(name, str) and _is_column(values) for name, values in data.items()):
        arrays = {name: _column(label, name, _as_array(values)) for name, values in data.items()}
        lengths = {name: array.size for name, array in arrays.items()}
        if len(set(lengths.values())) > 1:
            found = ", ".join(f"{name!r} has {size}" for name, size in lengths.items())
            raise DataError(f"{label} has columns of different length: {found}.")
        return Columns(arrays)
    rows = [(*(key if isinstance(key, tuple) else (key,)), value) for key, value in data.items()]
    return _from_rows(label, rows, "value")


def _is_column(values: Any) -> bool:
    return (isinstance(values, Sequence | np.ndarray) and not isinstance(values, str | bytes | tuple)) or hasattr(
        values, "to_numpy"
    )


def _as_array(values: Any) -> NDArray[Any]:
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, np.ndarray):
        return values
    return _array_of(list(values))


def _from_rows(label: str, data: Iterable[Any], last: str = "") -> Columns:
    rows = sorted(data, key=repr) if isinstance(data, AbstractSet) else list(data)
    rows = [tuple(row) if isinstance(row, tuple | list) else (row,) for row in rows]
    if not rows:
        return Columns({})
    width = len(rows[0])
    for position, row in enumerate(rows):
        if len(row) != width:
            raise DataError(
                f"{label}: row {position} has {len(row)} entries and row 0 has {width}.",
                "Give tuples of one length.",
            )
    names = [f"argument {k}" for k in range(1, width + 1)]
    if last and names:
        names[-1] = last
    return Columns(
        {
            name: _column(label, name, _array_of(values))
            for name, values in zip(names, zip(*rows, strict=True), strict=True)
        }
    )


def _array_of(values: Sequence[Any]) -> NDArray[Any]:
    """Python objects as a column; numbers where all are numbers."""
    kinds = {type(value) for value in values}
    if kinds <= {int, float, bool, np.bool_} and not (int in kinds and any(abs(v) >= 2**63 for v in values)):
        return np.asarray(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _column(label: str, name: str, column: NDArray[Any]) -> NDArray[Any]:
    """A column that engines can read: numbers, or an object array of text and None."""
    if np.ma.isMaskedArray(column):
        column = none_where_masked(column)
    if column.ndim != 1:
        raise DataError(f"{label}: {name!r} has {column.ndim} dimensions.", "A column has one.")
    if column.dtype.kind in "iufb":
        return _machine_numbers(column)
    if column.dtype.kind == "U":
        return column.astype(object)
    if column.dtype.kind in "mM":
        text = np.datetime_as_string(column) if column.dtype.kind == "M" else column.astype(str)
        return _with_none(text.astype(object), np.isnat(column))
    if column.dtype.kind == "O":
        return _from_objects(label, name, column)
    raise DataError(
        f"{label}: {name!r} holds entries of type {column.dtype}.",
        "Keys are whole numbers or text, values are numbers.",
    )


def none_where_masked(column: Any) -> NDArray[Any]:
    """A masked array as objects with None in the gaps (``filled(None)`` would write a question mark there)."""
    return _with_none(np.asarray(column.data, dtype=object), np.ma.getmaskarray(column))


def _with_none(column: NDArray[Any], is_missing: NDArray[np.bool_]) -> NDArray[Any]:
    column = column.copy()
    column[is_missing] = None
    return column


def _machine_numbers(column: NDArray[Any]) -> NDArray[Any]:
    if column.dtype.kind == "b":
        return column.astype(np.int64)
    if column.dtype.itemsize > 8 or column.dtype == np.float16:
        column = column.astype(np.float64)
    return np.ascontiguousarray(column.astype(column.dtype.newbyteorder("="), copy=False))


def _from_objects(label: str, name: str, column: NDArray[Any]) -> NDArray[Any]:
    kinds = set(map(type, column.tolist()))
    if kinds <= {str}:
        return column
    has_float_nan = float in kinds and all(v != v for v in column.tolist() if type(v) is float)
    missing = {kind for kind in kinds if kind.__name__ in {"NoneType", "NAType", "NaTType"}}
    if has_float_nan:
        missing.add(float)
    rest = kinds - missing
    is_missing = np.fromiter((type(v) in missing for v in column.tolist()), np.bool_, column.size)
    if rest and all(issubclass(kind, str) for kind in rest):
        return _with_none(column, is_missing)
    if all(issubclass(kind, Real) or kind.__name__ == "Decimal" for kind in rest):
        if not missing and all(issubclass(kind, int | np.integer) for kind in rest):
            if all(-(2**63) <= v < 2**63 for v in column.tolist()):
                return column.astype(np.int64)
            raise DataError(f"{label}: {name!r} holds a whole number of more than 64 bits.")
        return np.where(is_missing, np.nan, column).astype(np.float64)
    if all(hasattr(kind, "isoformat") for kind in rest):
        return np.array([None if m else _date_text(v) for v, m in zip(column, is_missing, strict=True)], dtype=object)
    first = {kind.__name__ for kind in rest}
    raise DataError(
        f"{label}: {name!r} mixes entries of different kinds ({', '.join(sorted(first))}).",
        "A column holds numbers or text, not both.",
    )
