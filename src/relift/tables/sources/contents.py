"""The five forms of tables that engines read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, final

from relift.arrays import Cells
from relift.errors import DataError
from relift.tables.postgres.address import is_address, shown_address

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@final
@dataclass(frozen=True)
class Shape:
    """What is known of a table beside its columns, to tell lists of tuples from matrices.

    Parameters
    ----------
    is_named
        Whether its columns have names that somebody chose.
    is_array
        Whether it is a plain array, so that it may be a matrix.
    is_zeros_and_ones
        Whether the array holds nothing but these, as a matrix of truth values does.
    n_levels
        How many of its first columns come from an index.
    label_of_columns
        What its columns are labels of, as after a pivot.
    is_numeric
        Whether all columns behind the index are numbers.
    """

    is_named: bool = True
    is_array: bool = False
    is_zeros_and_ones: bool = False
    n_levels: int = 0
    label_of_columns: str = ""
    is_numeric: bool = False


UNNAMED = Shape(is_named=False)


@final
@dataclass(frozen=True, eq=False)
class Columns:
    """Equally long NumPy columns by name; numbers, or objects that are text or None.

    Parameters
    ----------
    arrays
        The columns.
    shape
        What is known of the table.
    rounded
        For columns that could not be held exactly: one value that was rounded.
    """

    arrays: Mapping[str, Cells]
    shape: Shape = UNNAMED
    rounded: Mapping[str, object] = field(default_factory=dict)


class ArrowStream(Protocol):
    """A table of PyArrow, Polars, DuckDB, ...: anything that hands its rows over as an Arrow stream."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


@final
@dataclass(frozen=True, eq=False)
class Frame:
    """A table object that exports an Arrow stream."""

    table: ArrowStream
    names: tuple[str, ...]
    shape: Shape = Shape()


@final
@dataclass(frozen=True, eq=False)
class File:
    """Files with one table; ``kind`` is ``"csv"`` or ``"parquet"``.

    Parameters
    ----------
    paths
        Where they are; the rows of the second follow those of the first.
    kind
        What they are.
    header
        Whether text files begin with a line of column names; None to find out.
    delimiter
        What stands between two entries of a text file; None to find out.
    """

    paths: tuple[Path, ...]
    kind: str
    header: bool | None = None
    delimiter: str | None = None


@final
@dataclass(frozen=True, eq=False, repr=False)
class Stored:
    """A table or view behind an open connection, by the parts of its name."""

    connection: object
    name: tuple[str, ...]

    def __repr__(self) -> str:
        where = shown_address(self.connection) if is_address(self.connection) else type(self.connection).__name__
        return f"Stored({where}, {self.name})"


@final
@dataclass(frozen=True, eq=False)
class Distributed:
    """A Spark DataFrame, whose rows need not be in one place."""

    frame: DataFrame

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
            raise DataError(f"{label}: Spark does not return its rows: {reason}") from error
        return Frame(table, tuple(table.column_names))
