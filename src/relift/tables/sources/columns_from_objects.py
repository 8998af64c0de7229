"""Python objects that hold tables (pandas, NumPy, Arrow, Polars, dicts, lists), as columns with canonical keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from decimal import Decimal
from enum import Enum
from numbers import Real
from typing import TYPE_CHECKING, SupportsFloat, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Cells, is_sparse
from relift.errors import DataError
from relift.program.sparse_structure import checked_sparse
from relift.tables.sources import canonical
from relift.tables.sources.contents import UNNAMED, Columns, Frame, Shape

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

_ROUND = 2**53
"""Whole numbers beyond it may be rounded by a double."""


def content_of_object(label: str, data: object) -> Columns | Frame:
    """The columns of a Python object.

    Raises
    ------
    DataError
        If it is not a table.
    """
    if isinstance(data, np.generic):
        data = data.item()
    if isinstance(data, Real) or canonical.is_number(data):
        return _columns(label, {"value": _array_of([data])}, UNNAMED)
    if is_sparse(data):
        checked_sparse(label, data)  # before SciPy's compiled routines see its indices
        entries = data.tocoo()
        arrays = {"row": entries.coords[0], "column": entries.coords[1], "value": entries.data}
        return _columns(label, arrays, UNNAMED)
    if isinstance(data, np.ndarray):
        return _from_array(label, data)
    home = type(data).__module__.partition(".")[0]
    if home == "pandas":
        return _from_pandas(label, data)
    if _is_polars(data):
        return _from_polars(label, data)
    if hasattr(data, "__arrow_c_stream__") and hasattr(data, "schema"):
        return _from_arrow(label, data)
    if isinstance(data, Mapping):
        return _from_mapping(label, data)
    if isinstance(data, str | bytes) or not isinstance(data, Iterable):
        raise DataError(
            f"{label} was given as {type(data).__name__}, which cannot be read as a table.",
            "Give a data frame, an Arrow table, a dict, an array, a list of tuples or the path of a file.",
        )
    return _from_rows(label, data)


def _columns(label: str, arrays: Mapping[str, Cells], shape: Shape) -> Columns:
    """Columns in the form that engines read; what had to be rounded is noted."""
    found: dict[str, Cells] = {}
    rounded: dict[str, object] = {}
    for name, array in arrays.items():
        found[name], value = _column(label, name, array)
        if value is not None:
            rounded[name] = value
    return Columns(found, shape, rounded)


# --- NumPy -----------------------------------------------------------------------------------------------------------


def _from_array(label: str, data: Cells) -> Columns:
    if data.dtype.names is not None:
        return _columns(label, {name: data[name] for name in data.dtype.names}, Shape())
    if data.ndim == 0:
        return _columns(label, {"value": data.reshape(1)}, UNNAMED)
    if data.ndim > 2:
        raise DataError(f"{label} is an array of {data.ndim} dimensions.", "Give one with a tuple in each row.")
    columns = [data] if data.ndim == 1 else list(data.T)
    shape = _shape_of_array(data) if data.ndim == 2 else UNNAMED
    return _columns(label, {f"column {k}": column for k, column in enumerate(columns, 1)}, shape)


def _shape_of_array(data: Cells) -> Shape:
    """A matrix is an array of numbers."""
    if data.dtype.kind == "O" and not all(canonical.is_number(v) for v in data.ravel().tolist()):
        return UNNAMED
    if data.dtype.kind not in "iufbO":
        return UNNAMED
    return replace(UNNAMED, is_array=True, is_zeros_and_ones=bool(np.all((data == 0) | (data == 1))))


# --- data frames -----------------------------------------------------------------------------------------------------


def _from_pandas(label: str, data: pd.DataFrame | pd.Series) -> Columns | Frame:
    shape = Shape()
    if hasattr(data, "to_frame"):
        if data.name is None and all(name is None for name in data.index.names):
            shape = UNNAMED
        data = data.to_frame("value" if data.name is None else data.name).reset_index()
    else:
        shape = _shape_of_pandas(label, data)
        if shape.n_levels:
            data = data.reset_index()
    if not data.columns.is_unique:
        raise DataError(f"{label} has two columns of the same name.", "Rename one of them.")
    if (frame := _texts_in_arrow(data)) is not None:
        return replace(frame, shape=shape)
    return _columns(label, {str(name): _array_of_series(label, str(name), data[name]) for name in data.columns}, shape)


def _shape_of_pandas(label: str, data: pd.DataFrame) -> Shape:
    """What the labels of a data frame tell; labels of rows that would be lost are refused."""
    index, columns = data.index, data.columns
    is_used = index.nlevels > 1 or index.name is not None
    if not is_used and len(index) and index.dtype.kind not in "iu":
        raise DataError(
            f"{label} is a data frame whose index has labels ({index[0]!r}, ...) but no name.",
            "Give relift.matrix(frame) if it has a cell for each row and column; frame.rename_axis('name') if the "
            "index is a column; frame.reset_index(drop=True) if it means nothing.",
        )
    if not is_used and list(columns) == list(range(len(columns))):
        return _shape_of_array(data.to_numpy())
    is_numeric = all(getattr(kind, "kind", "O") in "iuf" for kind in data.dtypes)
    return Shape(
        n_levels=index.nlevels if is_used else 0,
        label_of_columns="" if columns.name is None else str(columns.name),
        is_numeric=is_numeric,
    )


def _array_of_series(label: str, name: str, series: pd.Series) -> Cells:
    kind = str(series.dtype)
    if kind == "category":
        labels = np.append(np.asarray(series.cat.categories, dtype=object), [None])  # what is missing has code -1
        return np.asarray(labels[series.cat.codes.to_numpy()])
    if kind.startswith("datetime"):
        zone = ""
        if getattr(series.dt, "tz", None) is not None:
            series, zone = series.dt.tz_convert("UTC").dt.tz_localize(None), canonical.ZONE
        return canonical.texts_of_datetime64(label, name, series.to_numpy(), zone)
    if kind.startswith("timedelta"):
        raise canonical.refuse_kind(label, name, kind)
    if kind.startswith("period"):
        return np.array([None if m else str(v) for v, m in zip(series, series.isna(), strict=True)], dtype=object)
    if isinstance(series.dtype, np.dtype) or kind in {"str", "string"}:
        return series.to_numpy()  # type: ignore[no-any-return]
    return series.to_numpy(dtype=object, na_value=None)  # type: ignore[no-any-return]


def _texts_in_arrow(data: pd.DataFrame) -> Frame | None:
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


def _is_polars(data: object) -> TypeGuard[pl.DataFrame | pl.LazyFrame | pl.Series]:
    return type(data).__module__.partition(".")[0] == "polars"


def _from_polars(label: str, data: pl.DataFrame | pl.LazyFrame | pl.Series) -> Frame | Columns:
    frame = data.collect() if hasattr(data, "collect") else data
    frame = frame.to_frame() if hasattr(frame, "to_frame") else frame
    names = tuple(frame.columns)
    if len(set(names)) < len(names):
        raise DataError(f"{label} has two columns of the same name.", "Rename one of them.")
    if names == tuple(f"column_{k}" for k in range(len(names))) and all(kind.is_numeric() for kind in frame.dtypes):
        return Frame(frame, names, _shape_of_array(frame.to_numpy()))
    if any(str(kind) in {"Int128", "UInt128"} for kind in frame.dtypes):  # whole numbers that Arrow does not know
        columns: dict[object, object] = {name: frame[name].to_list() for name in names}
        return _from_mapping(label, columns)
    return Frame(frame, names)


def _from_arrow(label: str, data: pa.Table) -> Frame:
    names = tuple(data.schema.names)
    if len(set(names)) < len(names):
        raise DataError(f"{label} has two columns of the same name.", "Rename one of them.")
    if "halffloat" in {str(kind) for kind in getattr(data.schema, "types", ())}:  # DuckDB does not know it
        import pyarrow as pa

        table = pa.table(data)
        for position, kind in enumerate(table.schema.types):
            if str(kind) == "halffloat":
                table = table.set_column(position, names[position], table.column(position).cast(pa.float32()))
        data = table
    return Frame(data, names)


# --- dicts and lists -------------------------------------------------------------------------------------------------


def _from_mapping(label: str, data: Mapping[object, object]) -> Columns:
    if data and all(isinstance(name, str) and _is_column(values) for name, values in data.items()):
        arrays = {str(name): _as_array(values) for name, values in data.items()}
        lengths = {name: array.size for name, array in arrays.items()}
        if len(set(lengths.values())) > 1:
            found = ", ".join(f"{name!r} has {size}" for name, size in lengths.items())
            raise DataError(f"{label} has columns of different length: {found}.")
        return _columns(label, arrays, Shape())
    if data and all(isinstance(value, Mapping) for value in data.values()):
        data = dict(_flat_pairs(label, data))
    rows = [(*(key if isinstance(key, tuple) else (key,)), value) for key, value in data.items()]
    return _from_rows(label, rows, "value")


def _flat_pairs(label: str, data: Mapping[object, object]) -> Iterator[tuple[tuple[object, ...], object]]:
    """The keys of nested dicts as tuples, and what they lead to."""
    for key, value in data.items():
        own = key if isinstance(key, tuple) else (key,)
        if isinstance(value, Mapping):
            yield from ((own + rest, found) for rest, found in _flat_pairs(label, value))
        elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
            raise DataError(f"{label}: {key!r} leads to a list inside of dicts.", "Nested dicts lead to numbers.")
        else:
            yield own, value


def _from_records(label: str, rows: list[Mapping[object, object]]) -> Columns:
    """Dicts with the same keys, one for each row: the keys are the names of the columns."""
    names = list(rows[0])
    for position, row in enumerate(rows):
        if row.keys() != rows[0].keys():
            lacking = next((str(name) for name in names if name not in row), "")
            more = next((str(name) for name in row if name not in rows[0]), "")
            what = f"has no {lacking!r}" if lacking else f"has {more!r}, which row 0 has not"
            raise DataError(f"{label}: row {position} {what}.", "Give dicts with the same keys.")
    arrays = {str(name): _array_of([row[name] for row in rows]) for name in names}
    return _columns(label, arrays, Shape())


def _is_column(values: object) -> bool:
    return (isinstance(values, Sequence | np.ndarray) and not isinstance(values, str | bytes | tuple)) or hasattr(
        values, "to_numpy"
    )


def _as_array(values: object) -> Cells:
    if hasattr(values, "to_numpy"):
        if type(values).__module__.partition(".")[0] == "pandas" and hasattr(values, "dtype"):
            return _array_of_series("a column", str(getattr(values, "name", None)), values)
        values = values.to_numpy()
    if isinstance(values, np.ndarray):
        return values
    assert isinstance(values, Iterable)
    return _array_of(list(values))


def _from_rows(label: str, data: Iterable[object], last: str = "") -> Columns:
    given = sorted(data, key=repr) if isinstance(data, AbstractSet) else list(data)
    if given and all(isinstance(row, Mapping) for row in given):
        return _from_records(label, cast("list[Mapping[object, object]]", given))
    is_nested = bool(given) and all(isinstance(row, list) for row in given)
    rows = [tuple(row) if isinstance(row, tuple | list) else (row,) for row in given]
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
    shape = UNNAMED
    if is_nested and all(canonical.is_number(entry) for row in rows for entry in row):
        is_flags = all(entry in (0, 1) for row in rows for entry in row)
        shape = replace(UNNAMED, is_array=True, is_zeros_and_ones=is_flags)
    columns = (_array_of(values) for values in zip(*rows, strict=True))
    return _columns(label, dict(zip(names, columns, strict=True)), shape)


def _array_of(values: Sequence[object]) -> Cells:
    """Python objects as a column; numbers where all are numbers and none is rounded."""
    kinds = {type(value) for value in values}
    if kinds <= {int, float, bool, np.bool_}:
        most = _ROUND if float in kinds else 2**63 - 1
        if int not in kinds or all(not isinstance(v, int | float) or -most <= v <= most for v in values):
            return np.asarray(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


# --- columns ---------------------------------------------------------------------------------------------------------


def _column(label: str, name: str, column: Cells) -> tuple[Cells, object]:
    """A column that engines can read: numbers, or an object array of text and None; and a value that was rounded."""
    if np.ma.isMaskedArray(column):
        column = none_where_masked(column)
    if column.ndim != 1:
        raise DataError(f"{label}: {name!r} has {column.ndim} dimensions.", "A column has one.")
    kind = column.dtype.kind
    if kind in "iufb":
        return _machine_numbers(column), _rounded_number(column)
    if kind == "U" or (kind == "T" and column.dtype.char == "T"):  # texts of NumPy, of fixed and of any length
        return column.astype(object), None
    if kind == "M":
        return canonical.texts_of_datetime64(label, name, column), None
    if kind == "m":
        raise canonical.refuse_kind(label, name, str(column.dtype))
    if kind == "O":
        return _from_objects(label, name, column)
    raise DataError(
        f"{label}: {name!r} holds entries of type {column.dtype}.",
        "Keys are whole numbers or text, values are numbers.",
    )


def none_where_masked(column: Cells) -> Cells:
    """A masked array as objects with None in the gaps (``filled(None)`` would write a question mark there)."""
    return _with_none(np.asarray(column.data, dtype=object), np.ma.getmaskarray(column))


def _with_none(column: Cells, is_missing: NDArray[np.bool_]) -> Cells:
    column = column.copy()
    column[is_missing] = None
    return column


def _machine_numbers(column: Cells) -> Cells:
    if column.dtype.kind == "b":
        return column.astype(np.int64)
    if column.dtype.itemsize > 8 or column.dtype == np.float16 or _rounded_number(column) is not None:
        column = column.astype(np.float64)
    return np.ascontiguousarray(column.astype(column.dtype.newbyteorder("="), copy=False))


def _rounded_number(column: Cells) -> object:
    """A number of a NumPy column that neither 64 bits nor a double hold."""
    if column.dtype.kind == "u" and column.dtype.itemsize == 8 and column.size and column.max() >= 2**63:
        return int(column.max())
    if column.dtype.kind == "f" and column.dtype.itemsize > 8:
        is_rounded = (column != column.astype(np.float64)) & ~np.isnan(column)
        return column[is_rounded][0] if is_rounded.any() else None
    return None


def _from_objects(label: str, name: str, column: Cells) -> tuple[Cells, object]:
    values = column.tolist()
    kinds = set(map(type, values))
    if kinds <= {str}:
        return column, None
    missing = {kind for kind in kinds if kind.__name__ in {"NoneType", "NAType", "NaTType"}}
    if float in kinds and all(v != v for v in values if type(v) is float):
        missing.add(float)
    rest = kinds - missing
    is_missing = np.fromiter((type(v) in missing for v in values), np.bool_, column.size)
    if rest and all(issubclass(kind, str) for kind in rest):
        plain = [None if m else str.__str__(v) for v, m in zip(values, is_missing.tolist(), strict=True)]
        return _objects(plain), None
    if all(issubclass(kind, Real | Decimal | np.bool_) for kind in rest):
        return _numbers(values, is_missing)
    if all(issubclass(kind, np.datetime64) for kind in rest):
        return canonical.texts_of_datetime64(label, name, np.array(values, dtype="datetime64[ns]")), None
    import uuid

    if all(issubclass(kind, uuid.UUID) for kind in rest):
        return _objects([None if m else str(v) for v, m in zip(values, is_missing.tolist(), strict=True)]), None
    if all(hasattr(kind, "isoformat") for kind in rest):
        texts = [
            None if m else canonical.text_of_moment(label, name, v)
            for v, m in zip(values, is_missing.tolist(), strict=True)
        ]
        return _objects(texts), None
    names = ", ".join(sorted(kind.__name__ for kind in rest))
    if len(rest) == 1:
        hint = "Give its .name or .value." if issubclass(next(iter(rest)), Enum) else "Keys are numbers or text."
        raise DataError(f"{label}: {name!r} holds entries of type {names}.", hint)
    samples = [next(v for v in values if type(v) is kind) for kind in sorted(rest, key=lambda kind: kind.__name__)]
    raise DataError(
        f"{label}: {name!r} mixes entries of different kinds ({names}), such as {_shown_pair(samples)}.",
        "A column holds numbers or text, not both.",
    )


def _shown_pair(samples: list[object]) -> str:
    return " and ".join(f"{sample!r:.40}" for sample in samples[:2])


def _numbers(values: list[SupportsFloat], is_missing: NDArray[np.bool_]) -> tuple[Cells, object]:
    if not is_missing.any():
        return canonical.numbers_of_objects(values)
    found, rounded = canonical.numbers_of_objects(
        [v for v, m in zip(values, is_missing.tolist(), strict=True) if not m]
    )
    whole = np.full(len(values), np.nan)
    whole[~is_missing] = found
    return whole, rounded


def _objects(values: Sequence[object]) -> Cells:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
