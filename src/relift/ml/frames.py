"""Data frames as grouped rows: columns of numbers, and columns of categories that become one 0/1 column for each.

pandas and Polars frames and Arrow tables are read column by column. Numbers (also truth values) stay numbers; texts and
categories become one 0/1 column for each category, in sorted order, as ``OneHotEncoder()`` makes them, but after equal
rows have been grouped: the wide matrix has one row for each distinct row only. Missing values are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy import sparse

from relift.arrays import Cells, Integers, RowNumbers, SparseMatrix
from relift.ml.grouping import codes_of

_SHOWN = 3


@final
@dataclass(frozen=True, eq=False)
class Column:
    """One column, by the numbers of its values.

    Parameters
    ----------
    name
        Of the column.
    codes
        Which of the values each row has.
    values
        The distinct values, sorted.
    is_category
        Whether it is a column of categories, not of numbers.
    """

    name: str
    codes: RowNumbers
    values: Cells
    is_category: bool


def is_frame(data: Any) -> bool:
    """Whether data is a table of pandas, Polars or Arrow that is read column by column.

    A pandas frame of nothing but numbers is left to scikit-learn, which takes it as an array.
    """
    library = _library(data)
    if library == "pandas":
        return any(_pandas_kind(data.dtypes.iloc[k], data.iloc[:, k]) == "category" for k in range(data.shape[1]))
    return library in ("polars", "pyarrow")


def _library(data: Any) -> str:
    kind = type(data)
    home = kind.__module__.partition(".")[0]
    names = {"pandas": ("DataFrame",), "polars": ("DataFrame", "LazyFrame"), "pyarrow": ("Table", "RecordBatch")}
    return home if kind.__name__ in names.get(home, ()) else ""


def names_of(data: Any) -> list[str]:
    """Names of the columns of a frame.

    Raises
    ------
    TypeError
        If one is not a string, or the frame is a lazy one.
    ValueError
        If a name occurs twice.
    """
    if type(data).__name__ == "LazyFrame":
        raise TypeError("a Polars LazyFrame has no rows yet. Call collect() first.")
    names = list(data.column_names if _library(data) == "pyarrow" else data.columns)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"column names must be strings; got {name!r}.")
        if names.count(name) > 1:
            raise ValueError(f"the column {name!r} occurs twice.")
    return names


def read_columns(data: Any, names: Sequence[str] | None = None) -> list[Column]:
    """Read columns of a frame.

    Parameters
    ----------
    data
        A pandas or Polars frame or an Arrow table.
    names
        Which columns; all if None.

    Raises
    ------
    ValueError
        If a column is missing, has missing values, or is of a type that is neither numbers nor texts.
    """
    present = names_of(data)
    wanted = present if names is None else list(names)
    missing = [name for name in wanted if name not in present]
    if missing:
        raise ValueError(f"the table has no column {missing[0]!r}. It has {', '.join(map(repr, present))}.")
    reader = {"pandas": _from_pandas, "polars": _from_polars, "pyarrow": _from_arrow}[_library(data)]
    return [reader(data, name) for name in wanted]


def read_values(data: Any, name: str) -> Cells:
    """One column of a frame as an array of numbers or texts."""
    column = read_columns(data, [name])[0]
    return column.values[column.codes]


def column_of_values(name: str, values: Cells) -> Column:
    """A column from an array of numbers, or of texts.

    Raises
    ------
    ValueError
        If values are missing, or neither numbers nor texts.
    """
    if values.dtype.kind in "biuf":
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise _missing(name, int((~np.isfinite(values)).sum()), len(values), "NaN or infinite values")
        return Column(name, *codes_of(values), is_category=False)
    if values.dtype.kind == "O":
        is_missing = np.array([value is None or value != value for value in values], dtype=bool)
        if is_missing.any():
            raise _missing(name, int(is_missing.sum()), len(values))
        kinds = {type(value) for value in values}
        if all(issubclass(kind, bool | int | float | np.number) or _is_decimal(kind) for kind in kinds):
            return column_of_values(name, values.astype(np.float64))
        if kinds != {str}:
            shown = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise ValueError(f"the column {name!r} must hold numbers or strings; it holds {shown}.")
        return Column(name, *codes_of(values.astype(str)), is_category=True)
    if values.dtype.kind in "US":
        return Column(name, *codes_of(values), is_category=True)
    raise ValueError(f"the column {name!r} must hold numbers or strings; it holds {values.dtype}.")


def _is_decimal(kind: type) -> bool:
    return kind.__module__ == "decimal" and kind.__name__ == "Decimal"


def _missing(name: str, count: int, size: int, what: str = "missing values") -> ValueError:
    return ValueError(f"the column {name!r} has {what} in {count:,} of {size:,} rows. Drop these rows, or fill them.")


def _pandas_kind(dtype: Any, series: Any) -> str:
    if str(dtype) == "category" or str(dtype).startswith(("string", "str")):
        return "category"
    if getattr(dtype, "kind", "") == "O":
        import pandas as pd

        return "category" if pd.api.types.infer_dtype(series, skipna=True) == "string" else "number"
    return "number"


def _from_pandas(data: Any, name: str) -> Column:
    import pandas as pd

    series = data[name]
    count = int(series.isna().sum())
    if count:
        raise _missing(name, count, len(series))
    if str(series.dtype) == "category":
        inner = column_of_values(name, np.asarray(series.cat.categories))
        return _categories(name, np.asarray(series.cat.codes), np.asarray(inner.values)[inner.codes])
    if _pandas_kind(series.dtype, series) == "category":
        codes, values = pd.factorize(series)
        return _categories(name, codes, np.asarray(values, dtype=object).astype(str))
    return column_of_values(name, series.to_numpy())


def _from_polars(data: Any, name: str) -> Column:
    import polars as pl

    series = data[name]
    if series.null_count():
        raise _missing(name, int(series.null_count()), len(series))
    if series.dtype in (pl.String, pl.Categorical) or isinstance(series.dtype, pl.Enum):
        series = series.cast(pl.String)
        codes = series.rank("dense").to_numpy().astype(np.int64) - 1
        return _categories(name, codes, np.asarray(series.unique().sort().to_list(), dtype=object).astype(str))
    if series.dtype == pl.Decimal:
        series = series.cast(pl.Float64)
    return column_of_values(name, series.to_numpy())


def _from_arrow(data: Any, name: str) -> Column:
    import pyarrow as pa

    column = data.column(name)
    if column.null_count:
        raise _missing(name, int(column.null_count), len(column))
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(whole, pa.ChunkedArray):  # several chunks that do not fit into one
        whole = pa.concat_arrays(whole.chunks)
    kind = whole.type
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    if is_text:
        whole, kind = whole.dictionary_encode(), None
    if kind is None or pa.types.is_dictionary(kind):
        values = np.asarray(whole.dictionary.to_pylist(), dtype=object)
        inner = column_of_values(name, values if len(values) else values.astype(str))
        return _categories(name, whole.indices.to_numpy(zero_copy_only=False), inner.values[inner.codes])
    if pa.types.is_decimal(kind):
        whole = whole.cast(pa.float64())
    return column_of_values(name, whole.to_numpy(zero_copy_only=False))


def _categories(name: str, codes: Integers, values: Cells) -> Column:
    """Categories in sorted order, those that occur only."""
    seen = np.unique(codes)
    order = np.argsort(values[seen], kind="stable")
    rank = np.zeros(len(values), dtype=np.int32)
    rank[seen[order]] = np.arange(len(seen), dtype=np.int32)
    return Column(name, rank[codes], values[seen][order], is_category=True)


@final
@dataclass(frozen=True, eq=False)
class Encoder:
    """Which columns a model was fitted on, and the categories of each.

    Parameters
    ----------
    categories
        For each column its sorted categories, or None for a column of numbers.
    """

    categories: Mapping[str, Cells | None]

    @classmethod
    def of(cls, columns: Sequence[Column]) -> Encoder:
        """The encoder of columns that are fitted on."""
        return cls({column.name: column.values if column.is_category else None for column in columns})

    @property
    def names_out(self) -> list[str]:
        """Names of the columns of the matrix."""
        return [
            out
            for name, values in self.categories.items()
            for out in ([name] if values is None else [f"{name}_{value}" for value in values])
        ]

    def matrix(self, columns: Sequence[Column], rows: Cells | None = None) -> SparseMatrix:
        """The numeric matrix of some rows, in compressed rows.

        Parameters
        ----------
        columns
            As in :attr:`categories`, in the same order.
        rows
            Which rows; all if None.

        Raises
        ------
        ValueError
            If a column holds a category that was not seen in fit, or numbers where categories were.
        """
        blocks: list[SparseMatrix] = []
        for column, (name, values) in zip(columns, self.categories.items(), strict=True):
            codes = column.codes if rows is None else column.codes[rows]
            if (values is None) == column.is_category:
                was, now = ("numbers", "categories") if values is None else ("categories", "numbers")
                raise ValueError(f"the column {name!r} held {was} in fit and holds {now} now.")
            if values is None:
                blocks.append(sparse.csr_array(column.values[codes].astype(np.float64)[:, None]))
                continue
            place = np.searchsorted(values, column.values)
            place = np.minimum(place, len(values) - 1)
            is_unknown = values[place] != column.values
            if is_unknown.any():
                shown = ", ".join(map(repr, column.values[is_unknown][:_SHOWN].tolist()))
                raise ValueError(f"the column {name!r} has categories that were not seen in fit: {shown}.")
            size = len(codes)
            blocks.append(
                sparse.csr_array((np.ones(size), place[codes], np.arange(size + 1)), shape=(size, len(values)))
            )
        matrix: SparseMatrix = sparse.csr_array(sparse.hstack(blocks, format="csr"))
        return matrix
