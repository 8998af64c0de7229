"""Dense and wide data: an entry for each row and column, as a param or relation with two arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeGuard, final, get_args

import numpy as np

from relift.arrays import Cells, CoordinateMatrix, Integers, is_sparse
from relift.errors import DataError
from relift.settings import check_choice
from relift.tables.sources.columns_from_objects import content_of_object
from relift.tables.sources.contents import Columns

if TYPE_CHECKING:
    import polars as pl

Missing: TypeAlias = Literal["refuse", "skip"]


@final
@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix with labels; made by :func:`matrix`."""

    data: object
    rows: Sequence[object] | None = None
    columns: Sequence[object] | None = None
    missing: Missing = "refuse"

    def content(self, label: str, has_value: bool) -> Columns:
        """Its entries as tuples: row, column and, for a param, the value.

        Parameters
        ----------
        label
            The table, for messages.
        has_value
            Whether it is for a param; a relation has the pairs whose entry is 1.

        Raises
        ------
        DataError
            If it is not a matrix, labels do not fit or come twice, or a relation is given other entries than 0 and 1.
        """
        entries, own_rows, own_columns = _entries(label, self.data)
        rows = _labels(label, "rows", self.rows, own_rows, entries.shape[0])
        columns = _labels(label, "columns", self.columns, own_columns, entries.shape[1])
        places: tuple[Integers, ...]
        values: Cells
        if isinstance(entries, np.ndarray):
            places, values = tuple(axis.ravel() for axis in np.indices(entries.shape)), entries.ravel()
        else:
            places, values = entries.coords, entries.data
        if self.missing == "skip":
            is_there = np.fromiter((v is not None and v == v for v in values.tolist()), np.bool_, values.size)
            places, values = tuple(place[is_there] for place in places), values[is_there]
        if not has_value:
            if not np.all((values == 0) | (values == 1)):
                raise DataError(f"{label} is a matrix with other entries than 0 and 1.", "A relation has pairs only.")
            places = tuple(place[values == 1] for place in places)
        pairs = {"row": rows[places[0]], "column": columns[places[1]]}
        found = content_of_object(label, pairs | {"value": values} if has_value else pairs)
        assert isinstance(found, Columns)
        return Columns(found.arrays, rounded=found.rounded)


def matrix(
    data: object,
    rows: Sequence[object] | None = None,
    columns: Sequence[object] | None = None,
    *,
    missing: Missing = "refuse",
) -> Matrix:
    """Dense or wide data as the table of a param (or relation) with two arguments: row and column.

    Parameters
    ----------
    data
        A NumPy array, a nested list, a SciPy sparse matrix (whose stored entries count), or a pandas or Polars data
        frame.
    rows, columns
        Labels, which are the keys. By default those of a pandas frame, the names of the columns of a Polars frame
        (whose first column holds the labels of the rows if it is text), else 0, 1, 2, ...
    missing
        What becomes of entries that are missing (None, NaN): ``"refuse"``, or ``"skip"`` to leave these pairs out.

    Examples
    --------
    >>> import relift
    >>> text = "param d/2; var x >= 0; minimize: x; subject to c forall {I,J in d(I,J)}: x >= d(I,J);"
    >>> distances = relift.matrix([[0, 5], [7, 0]], rows=["a", "b"], columns=["u", "v"])
    >>> result = relift.solve_model(text, {"d": distances})
    >>> result.objective, sorted(result.duals("c").to_dict())
    (7.0, [('a', 'u'), ('a', 'v'), ('b', 'u'), ('b', 'v')])
    """
    check_choice("missing", missing, get_args(Missing))
    return Matrix(data, rows, columns, missing)


def _entries(
    label: str, data: object
) -> tuple[Cells | CoordinateMatrix, Sequence[object] | None, Sequence[object] | None]:
    """The entries, and the labels that come with them."""
    if is_sparse(data):
        return data.tocoo(), None, None
    home = type(data).__module__.partition(".")[0]
    if home == "pandas" and hasattr(data, "columns") and hasattr(data, "index") and hasattr(data, "to_numpy"):
        if data.index.nlevels > 1 or data.columns.nlevels > 1:
            raise DataError(f"{label}: the labels of a matrix have one level.", "Give a Series, or tuples.")
        return _two(label, data.to_numpy(dtype=object)), data.index, data.columns
    if _is_polars(data):
        rows = None
        if data.width and not data.dtypes[0].is_numeric():
            rows, data = data.to_series(0).to_list(), data[:, 1:]
        return _two(label, data.to_numpy().astype(object)), rows, data.columns
    try:
        entries = np.asarray(data)
    except ValueError as error:  # rows of different length
        raise DataError(f"{label}: the rows of a matrix must have one length.") from error
    return _two(label, entries), None, None


def _is_polars(data: object) -> TypeGuard[pl.DataFrame]:
    return type(data).__module__.partition(".")[0] == "polars"


def _two(label: str, entries: Cells) -> Cells:
    if entries.ndim != 2:
        raise DataError(f"{label} is an array of {entries.ndim} dimensions.", "A matrix has two.")
    return entries


def _labels(label: str, what: str, given: Sequence[object] | None, own: Sequence[object] | None, size: int) -> Cells:
    labels = own if given is None else given
    if labels is None:
        return np.arange(size)
    if hasattr(labels, "dtype") and getattr(labels.dtype, "kind", "O") in "iufM" and not hasattr(labels, "tz"):
        found = np.asarray(labels)
    else:
        found = np.empty(len(labels), dtype=object)
        found[:] = list(labels)
    if found.size != size:
        raise DataError(f"{label} has {size} {what} and {found.size} labels for them.", f"Give {what}= one for each.")
    names = list(map(str, found.tolist()))
    if len(set(names)) < size:
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{label} has two {what} with the label {twice}.", "Each needs its own.")
    return found
