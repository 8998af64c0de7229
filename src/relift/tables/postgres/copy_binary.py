"""The rows of PostgreSQL's binary COPY format as Arrow columns, without a loop over rows.

A row is its number of fields (16 bits) and for each field its length (32 bits, -1 for NULL) and its bytes, big-endian.
All rows are laid side by side; the place of each next field is calculated for all rows at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from relift.tables.algebra import Type

if TYPE_CHECKING:
    import pyarrow as pa

HEADER = b"PGCOPY\n\xff\r\n\0"
"""Sixteen bits of flags and extensions follow, all zero."""
_NUMBERS = {Type.INTEGER: ">i8", Type.REAL: ">f8"}


def columns_from_copy(rows: Sequence[bytes], types: Sequence[Type]) -> list[pa.Array]:
    r"""Columns of the rows that a binary COPY sent.

    Parameters
    ----------
    rows
        One piece for each row, as client libraries hand them out; the first one may begin with the header, and the
        last one is the mark of the end.
    types
        Types of the fields: whole numbers and doubles of 8 bytes, or text.

    Examples
    --------
    >>> row = b"\0\1" + b"\0\0\0\x08" + (7).to_bytes(8, "big")
    >>> columns_from_copy([HEADER + bytes(8), row, b"\xff\xff"], [Type.INTEGER])[0].to_pylist()
    [7]
    """
    import pyarrow as pa

    pieces = list(rows)
    if pieces and pieces[0].startswith(HEADER):
        pieces[0] = pieces[0][len(HEADER) + 8 :]
    pieces = [piece for piece in pieces if piece and piece != b"\xff\xff"]
    data = np.frombuffer(b"".join(pieces), dtype=np.uint8)
    sizes = np.fromiter(map(len, pieces), np.int64, len(pieces))
    place = np.cumsum(sizes) - sizes + 2
    columns = []
    for kind in types:
        length = _gathered(data, place, 4).view(">i4").ravel().astype(np.int64)
        place = place + 4
        is_null = length < 0
        length = np.maximum(length, 0)
        if kind == Type.TEXT:
            columns.append(_texts(data, place, length, is_null))
        else:
            safe = np.where(is_null, 0, place)  # any place: what is read there is masked
            numbers = _gathered(data, safe, 8).view(_NUMBERS[kind]).ravel()
            columns.append(pa.array(numbers.astype(_NUMBERS[kind][1:]), mask=is_null))
        place = place + length
    return columns


def _gathered(data: NDArray[np.uint8], place: NDArray[np.int64], width: int) -> NDArray[np.uint8]:
    """So many bytes from each place; beyond the end stand zeros."""
    padded = np.append(data, np.zeros(width, np.uint8))
    return np.ascontiguousarray(padded[place[:, None] + np.arange(width)])


def _texts(
    data: NDArray[np.uint8], place: NDArray[np.int64], length: NDArray[np.int64], is_null: NDArray[np.bool_]
) -> pa.Array:
    import pyarrow as pa

    offsets = np.concatenate([[0], np.cumsum(length)])
    letters = data[np.repeat(place - offsets[:-1], length) + np.arange(offsets[-1])]
    given = pa.array(~is_null).buffers()[1]
    buffers = [given, pa.py_buffer(offsets), pa.py_buffer(letters)]
    return pa.LargeStringArray.from_buffers(place.size, *buffers[1:], buffers[0])
