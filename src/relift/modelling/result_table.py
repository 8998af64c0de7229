"""Columns of an answer: keys with their own types, then numbers. Reads like a dict, turns into any data frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, final

from relift.arrays import Cells
from relift.errors import MissingPackageError, OptionError
from relift.language.checked_model import Value

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

_SHOWN_ROWS = 10


@final
class ResultTable(Mapping[str, Cells]):
    """A table as NumPy columns by name.

    Parameters
    ----------
    columns
        Equally long arrays by name, key columns first.
    n_keys
        How many of them are keys.

    Examples
    --------
    >>> import numpy as np
    >>> table = ResultTable({"X": np.array(["a", "b"], object), "value": np.array([1.0, 2.5])}, 1)
    >>> table["value"].sum(), table.to_dict()
    (np.float64(3.5), {'a': 1.0, 'b': 2.5})
    >>> table
    X  value
    a      1
    b    2.5
    """

    def __init__(self, columns: Mapping[str, Cells], n_keys: int) -> None:
        self._columns = dict(columns)
        self._n_keys = n_keys

    def __getitem__(self, name: str) -> Cells:
        if name not in self._columns:
            raise KeyError(f"there is no column {name!r}; columns are {', '.join(self._columns)}")
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return next(iter(self._columns.values())).size

    @property
    def key_names(self) -> tuple[str, ...]:
        """Names of the key columns."""
        return tuple(self._columns)[: self._n_keys]

    def __float__(self) -> float:
        numbers = list(self._columns.values())[self._n_keys :]
        if self.n_rows != 1 or len(numbers) != 1:
            raise TypeError(f"a table with {self.n_rows} rows and {len(numbers)} columns of numbers is not one number")
        return float(numbers[0][0])

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """The rows as tuples of Python values."""
        return zip(*(column.tolist() for column in self._columns.values()), strict=True)

    def to_dict(self, column: str | None = None) -> dict[Any, Any]:
        """Keys to the values of one column; a single key stands by itself, several as a tuple.

        Parameters
        ----------
        column
            Which one; the last if not given.
        """
        values = self[column or tuple(self._columns)[-1]].tolist()
        keys = [self._columns[name].tolist() for name in self.key_names]
        return dict(zip(keys[0] if len(keys) == 1 else zip(*keys, strict=True) if keys else [()], values, strict=True))

    def named(self, *names: str) -> ResultTable:
        """The same table with other names of the key columns, such as those of a table to join it with.

        Raises
        ------
        OptionError
            If there is another number of keys, or a name occurs twice.
        """
        others = list(self._columns)[self._n_keys :]
        if len(names) != self._n_keys or len({*names, *others}) != len(names) + len(others):
            raise OptionError(f"{names} do not fit the keys {self.key_names}.", "Give one new name for each of them.")
        return ResultTable(
            dict(zip((*names, *others), self._columns.values(), strict=True)),
            self._n_keys,
        )

    # --- data frames

    def to_pandas(self) -> pd.DataFrame:
        """A pandas DataFrame."""
        return _package("pandas").DataFrame(self._columns)

    def to_polars(self) -> pl.DataFrame:
        """A Polars DataFrame."""
        frame: pl.DataFrame = _package("polars").DataFrame(
            {name: _plain(column) for name, column in self._columns.items()}
        )
        return frame

    def to_arrow(self) -> pa.Table:
        """An Arrow table (pyarrow)."""
        return _package("pyarrow").table({name: _plain(column) for name, column in self._columns.items()})

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        shown = min(self.n_rows, _SHOWN_ROWS)
        head = [column[:shown].tolist() for column in self._columns.values()]
        table = html_table([list(self._columns), *([_shown(v) for v in row] for row in zip(*head, strict=True))])
        return table if shown == self.n_rows else f"{table}<p>{self.n_rows:,} rows</p>"

    def __repr__(self) -> str:
        shown = min(self.n_rows, _SHOWN_ROWS)
        head = [column[:shown].tolist() for column in self._columns.values()]
        text = aligned([list(self._columns), *([_shown(v) for v in row] for row in zip(*head, strict=True))])
        return text if shown == self.n_rows else f"{text}\n... {self.n_rows:,} rows"


def aligned(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Rows of words as lines with columns; the first ones lean to the left, the others to the right.

    Examples
    --------
    >>> print(aligned([["name", "rows"], ["a", "12"]]))
    name  rows
    a       12
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            word.ljust(width) if k < left else word.rjust(width)
            for k, (word, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


def html_table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of words as a table for notebooks; the first row is its head.

    Examples
    --------
    >>> html_table([["name"], ["a < b"]])
    '<table><thead><tr><th>name</th></tr></thead><tbody><tr><td>a &lt; b</td></tr></tbody></table>'
    """

    def line(row: Sequence[str], cell: str) -> str:
        from html import escape

        return f"<tr>{''.join(f'<{cell}>{escape(word)}</{cell}>' for word in row)}</tr>"

    head, *body = rows
    lines = "".join(line(row, "td") for row in body)
    return f"<table><thead>{line(head, 'th')}</thead><tbody>{lines}</tbody></table>"


def _shown(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _plain(column: Cells) -> Cells | list[Value]:
    return column.tolist() if column.dtype == object else column


def _package(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingPackageError(f"{name} is not installed.", f"Install it with: pip install {name}") from error
