"""Rows of a predicate: words and perhaps a value become tuples with their values, many at once where all is as usual.

Data of PSL come in hundreds of thousands of short rows. Rows of one length, without repetition and with values between
0 and 1, are taken column by column; all others one by one, which says what is wrong with which.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import TypeAlias

from relift.errors import DataError

Key: TypeAlias = tuple[str | int, ...]
"""The constants of an atom."""

Rows: TypeAlias = dict[Key, float]
"""Atoms with their values."""

_WHOLE_NUMBER = re.compile(r"[+-]?\d+")
_NUMBERS = {str, float, int}


@contextmanager
def no_collection() -> Iterator[None]:
    """Pause the garbage collector: rows by the hundred thousand make it look through everything again and again.

    Rows hold texts and numbers, which make no cycles.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def add_rows(
    rows: Rows, name: str, types: Sequence[str], given: Sequence[Sequence[object]], place: Callable[[int], str]
) -> None:
    """Add rows to those that are there.

    Parameters
    ----------
    rows
        What is there, by constants.
    name
        Of the predicate.
    types
        ``"int"`` or ``"text"`` for each argument.
    given
        The rows: constants, and perhaps a value.
    place
        Where the row of a number stands, for messages.

    Raises
    ------
    DataError
        If a row has another number of columns, a wrong constant or value, or another value than before.

    Examples
    --------
    >>> rows: Rows = {}
    >>> add_rows(rows, "Knows", ["text", "text"], [["a", "b"], ["b", "c"]], str)
    >>> add_rows(rows, "Knows", ["text", "text"], [["c", "a", 0.5]], str)
    >>> rows
    {('a', 'b'): 1.0, ('b', 'c'): 1.0, ('c', 'a'): 0.5}
    """
    many = _all_at_once(types, given)
    if many is not None and rows.keys().isdisjoint(many):
        rows.update(many)
        return
    for k, row in enumerate(given):
        add_row(rows, name, types, [str(word) for word in row], lambda k=k: place(k))  # type: ignore[misc]


def _all_at_once(types: Sequence[str], given: Sequence[Sequence[object]]) -> Rows | None:
    """The rows by their constants; None if there is anything unusual about one of them."""
    arity = len(types)
    lengths = set(map(len, given))
    if lengths not in ({arity}, {arity + 1}) or not arity:
        return None
    columns: list[tuple[object, ...]] = list(zip(*given, strict=True))
    constants = [_constants(column, kind) for column, kind in zip(columns, types, strict=False)]
    values = _values(columns[arity]) if len(columns) > arity else repeat(1.0)
    if values is None or any(column is None for column in constants):
        return None
    found = dict(zip(zip(*constants, strict=True), values, strict=False))
    return found if len(found) == len(given) else None


def _constants(column: tuple[object, ...], kind: str) -> Sequence[object] | None:
    if set(map(type, column)) != {str}:
        return None
    if kind == "text":
        return column
    return list(map(int, column)) if all(map(_WHOLE_NUMBER.fullmatch, column)) else None  # type: ignore[arg-type]


def _values(column: tuple[object, ...]) -> list[float] | None:
    if not set(map(type, column)) <= _NUMBERS:
        return None
    try:
        values: list[float] = list(map(float, column))  # type: ignore[arg-type]
    except ValueError:
        return None
    is_valid = min(values) >= 0 and max(values) <= 1 and not any(value != value for value in set(values))
    return values if is_valid else None


def add_row(rows: Rows, name: str, types: Sequence[str], words: list[str], place: Callable[[], str]) -> None:
    """Add one row, like :func:`add_rows`, which is compared with this.

    Parameters
    ----------
    rows, name, types
        As for :func:`add_rows`.
    words
        The row.
    place
        Where it stands.

    Raises
    ------
    DataError
        If it is wrong.
    """
    arity = len(types)
    if len(words) not in (arity, arity + 1):
        hint = f"{name}/{arity} has {arity} columns with tabs between them, and perhaps a value."
        raise DataError(f"{place()}: this row has {len(words)} columns.", hint)
    value = 1.0
    if len(words) > arity:
        try:
            value = float(words[-1])
        except ValueError:
            raise DataError(f"{place()}: the value {words[-1]!r} is not a number.") from None
        if not 0 <= value <= 1:
            raise DataError(f"{place()}: the value {words[-1]} does not lie between 0 and 1.")
    key = tuple(_constant(w, kind, place) for w, kind in zip(words[:arity], types, strict=True))
    if rows.get(key, value) != value:
        shown = ", ".join(map(str, key))
        raise DataError(f"{place()}: {name}({shown}) has the values {rows[key]:g} and {value:g}.")
    rows[key] = value


def _constant(word: str, kind: str, place: Callable[[], str]) -> str | int:
    if kind == "text":
        return word
    if not _WHOLE_NUMBER.fullmatch(word):
        raise DataError(f"{place()}: {word!r} is not a whole number, as its type says.")
    return int(word)
