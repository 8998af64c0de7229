"""Functions of texts and of dates in memory: each different combination of arguments is calculated once, in Python."""

from __future__ import annotations

import datetime as dt
import re
import string
from collections.abc import Callable
from typing import cast

import numpy as np

from relift.arrays import Cells
from relift.tables.algebra import Type
from relift.tables.memory.columns import ARRAY_OF, Vector
from relift.tables.memory.string_ids import Texts
from relift.tables.sources.canonical import MOMENT, ZONE, trimmed

_MOMENT = re.compile(MOMENT)
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_UPPER = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)


def calculated_from_texts(operation: str, arguments: list[Vector], texts: Texts) -> Vector:
    """The values of a function over columns, of which some are texts."""
    kind = Type.INTEGER if operation in _PARTS or operation == "length" else Type.TEXT
    function = FUNCTIONS[operation]
    shape = np.broadcast_shapes(*(argument.data.shape for argument in arguments))
    known = texts.array()
    columns = []
    for argument in arguments:
        values = np.broadcast_to(argument.data, shape).ravel().tolist()
        if argument.type == Type.TEXT:
            values = [None if k < 0 else known[k] for k in values]
        if argument.missing is not None:
            gaps = np.broadcast_to(argument.missing, shape).ravel().tolist()
            values = [None if gap else value for value, gap in zip(values, gaps, strict=True)]
        elif argument.type == Type.NOTHING:
            values = [None] * len(values)
        columns.append(values)
    rows = list(zip(*columns, strict=True))
    found = {row: None if None in row else function(*row) for row in set(rows)}
    results = [found[row] for row in rows]
    missing = np.array([result is None for result in results], np.bool_).reshape(shape)
    if kind == Type.TEXT:
        data: Cells = texts.numbers(cast("list[str | None]", results)).reshape(shape)
    else:
        data = np.array([result or 0 for result in results], ARRAY_OF[kind]).reshape(shape)
    return Vector(kind, data, missing if missing.any() else None)


def moment_of(text: str) -> tuple[dt.datetime, str] | None:
    """A date or timestamp in canonical form and its zone; None for any other text.

    Examples
    --------
    >>> moment_of("2026-01-02"), moment_of("2026-02-30"), moment_of("tomorrow")
    ((datetime.datetime(2026, 1, 2, 0, 0), ''), None, None)
    """
    if _MOMENT.fullmatch(text) is None:
        return None
    plain = text.removesuffix(ZONE)
    try:
        return dt.datetime.fromisoformat(plain), text[len(plain) :]
    except ValueError:
        return None


def _shifted(text: str, seconds: float) -> str | None:
    found = moment_of(text)
    if found is None:
        return None
    try:
        moment = found[0] + dt.timedelta(microseconds=round(seconds * 1_000_000))
    except OverflowError:
        return None
    return trimmed(moment.isoformat(sep=" "), found[1])


def _part(of: Callable[[dt.datetime], int]) -> Callable[[str], int | None]:
    def part(text: str) -> int | None:
        found = moment_of(text)
        return None if found is None else of(found[0])

    return part


def _substring(text: str, first: float, count: float) -> str | None:
    return text[int(first) - 1 : int(first) - 1 + int(count)] if first >= 1 and count >= 0 else None


_PARTS: dict[str, Callable[[str], int | None]] = {
    "year": _part(lambda moment: moment.year),
    "month": _part(lambda moment: moment.month),
    "day": _part(lambda moment: moment.day),
    "weekday": _part(lambda moment: moment.isoweekday()),
    "hour": _part(lambda moment: moment.hour),
    "minute": _part(lambda moment: moment.minute),
}
FUNCTIONS: dict[str, Callable[..., str | int | None]] = {
    **_PARTS,
    "length": len,
    "lower": lambda text: text.translate(_LOWER),
    "upper": lambda text: text.translate(_UPPER),
    "substring": _substring,
    "concat": lambda *parts: "".join(map(str, parts)),
    "shift": _shifted,
}
