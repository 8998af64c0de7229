"""Which column of a table is which argument: by the names that the model uses, where the columns carry them.

A relation or param has no names for its arguments, but the model calls them by logic variables: ``cap(X,Y)``. A table
with the columns ``Y, X, cap`` is therefore read as ``X, Y, cap``. Names are compared as they are written first, and
without regard to capitals if that finds nothing. The value of a param may be called ``value`` or like the param.

- Columns that carry no name of the model are taken in their order.
- Columns that carry some are taken in their order if no other order explains more of the names.
- Otherwise they are taken by name if that settles all of them (one column may have a name that the model does not
  know), else refused: `relift.Table` says which is which.
- What may be a dense or wide table (a cell for each row and column) and not a list of tuples is refused if the
  predicate has two arguments: `relift.matrix` or `relift.Table` says which it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from relift.errors import DataError

if TYPE_CHECKING:
    from relift.tables.sources.contents import Shape

_NUMBER = re.compile(r"\s*[+-]?[0-9]+(\.[0-9]*)?\s*")


@final
@dataclass(frozen=True)
class Wanted:
    """What a predicate needs from its table.

    Parameters
    ----------
    arity
        How many columns are arguments.
    has_value
        Whether one more column holds a number for each tuple.
    uses
        How the model calls its arguments, once for each atom of the predicate; None for constants, ``_`` and
        calculated ones. The first one counts most.
    value_names
        What the column of the values may be called.
    """

    arity: int
    has_value: bool
    uses: tuple[tuple[str | None, ...], ...] = ()
    value_names: frozenset[str] = frozenset()

    @property
    def width(self) -> int:
        """How many columns there must be."""
        return self.arity + self.has_value

    def places(self, name: str) -> set[int]:
        """The positions that a column of that name may belong to; empty if the model does not know the name."""
        found = {k for use in self.uses for k, known in enumerate(use) if known == name}
        if not found:
            lower = name.casefold()
            found = {k for use in self.uses for k, known in enumerate(use) if known and known.casefold() == lower}
        if self.has_value and name.casefold() in {known.casefold() for known in self.value_names}:
            found.add(self.arity)
        return found

    def is_known(self, name: str) -> bool:
        """Whether the model knows a name."""
        return bool(self.places(name))


def order_of_columns(label: str, found: Sequence[str], shape: Shape, wanted: Wanted) -> list[int]:
    """The positions of the columns in the order of the arguments.

    Parameters
    ----------
    label
        The table, for messages.
    found
        Names of its columns.
    shape
        What else is known of it: whether the names are the user's, and whether it looks like a matrix.
    wanted
        What the predicate needs.

    Raises
    ------
    DataError
        If names contradict the order and do not settle another one, or the table may be a matrix.

    Examples
    --------
    >>> from relift.tables.sources.contents import Shape
    >>> cap = Wanted(2, True, (("X", "Y"), ("X", None)), frozenset({"cap", "value"}))
    >>> [order_of_columns("t", names, Shape(), cap) for names in (["from", "to", "mw"], ["y", "x", "mw"])]
    [[0, 1, 2], [1, 0, 2]]
    """
    given = list(range(len(found)))
    if len(found) != wanted.width:
        return given
    if not shape.is_named:
        _refuse_matrix(label, shape, wanted)
        return given
    if (order := _primary(found, wanted)) is not None:
        return order
    places = [wanted.places(name) for name in found]
    _refuse_wide(label, found, places, shape, wanted)
    if sum(position in where for position, where in enumerate(places)) >= _most_explained(places):
        return given
    if sum(not where for where in places) < 2:
        orders = list(_orders([where or set(given) for where in places], wanted.width))
        if len(orders) == 1:
            return orders[0]
    raise _contradiction(label, found, wanted)


def _primary(found: Sequence[str], wanted: Wanted) -> list[int] | None:
    """By the first atom that names all arguments, if there is a column for each: it may be that others swap them."""
    for use in wanted.uses:
        names = [name for name in use if name is not None]
        if len(set(names)) < wanted.arity:
            continue
        for fold in (str, str.casefold):
            columns = [fold(name) for name in found]
            if len(set(columns)) == len(columns) and all(fold(name) in columns for name in names):
                order = [columns.index(fold(name)) for name in names]
                return order + [k for k in range(len(columns)) if k not in order]
        return None
    return None


def _most_explained(places: Sequence[set[int]]) -> int:
    """How many columns can stand where their names belong, each in a place of its own."""
    column_at: dict[int, int] = {}

    def is_placed(column: int, seen: set[int]) -> bool:
        for place in places[column] - seen:
            seen.add(place)
            if place not in column_at or is_placed(column_at[place], seen):
                column_at[place] = column
                return True
        return False

    return sum(is_placed(column, set()) for column in range(len(places)))


def _orders(places: Sequence[set[int]], width: int) -> Iterator[list[int]]:
    """At most two ways to give every position a column that may belong to it."""
    count = 0
    stack: list[tuple[int, ...]] = [()]
    while stack and count < 2:
        taken = stack.pop()
        if len(taken) == width:
            count += 1
            yield [taken.index(position) for position in range(width)]
        else:
            stack.extend((*taken, place) for place in sorted(places[len(taken)] - set(taken)))


def _example(found: Sequence[str], wanted: Wanted) -> str:
    """A call that says which column is which, with the names in an order that the model suggests."""
    names = list(found)
    names.sort(key=lambda name: min(wanted.places(name) or {wanted.width}))
    return f"relift.Table(data, {names!r})"


def _contradiction(label: str, found: Sequence[str], wanted: Wanted) -> DataError:
    names = ", ".join(next((use[k] for use in wanted.uses if use[k]), None) or "_" for k in range(wanted.arity))
    value = " and a value" if wanted.has_value else ""
    known = [repr(name) for name in found if wanted.is_known(name)]
    return DataError(
        f"{label} has the columns {', '.join(map(repr, found))}, and the model calls its arguments ({names}){value}: "
        f"{' and '.join(known)} {'stand' if len(known) > 1 else 'stands'} elsewhere, "
        "and the other names do not tell what they are.",
        f"Say which column is which, in the order of the arguments: {_example(found, wanted)}.",
    )


def _refuse_matrix(label: str, shape: Shape, wanted: Wanted) -> None:
    if not shape.is_array or wanted.arity != 2 or (not wanted.has_value and not shape.is_zeros_and_ones):
        return
    what = "a row, a column and a value" if wanted.has_value else "a pair"
    raise DataError(
        f"{label} is an array with {wanted.width} columns without names: "
        f"each row may be {what}, or the array a matrix with an entry for each row and column.",
        "Say which: relift.Table(data, [0, 1"
        + (", 2" if wanted.has_value else "")
        + "]) for tuples, relift.matrix(data) for a matrix.",
    )


def _refuse_wide(label: str, found: Sequence[str], places: Sequence[set[int]], shape: Shape, wanted: Wanted) -> None:
    """Refuse a table whose columns are called by numbers or stand beside an index, if it is not known by its names."""
    if wanted.arity < 2 or all(places):
        return
    numbers = [name for name in found if _NUMBER.fullmatch(name)]
    if numbers:
        what = f"has columns that are called by numbers ({', '.join(numbers[:3])})"
    elif shape.label_of_columns:
        what = f"has columns that are labels of {shape.label_of_columns!r}"
    elif shape.n_levels == 1 and wanted.arity == 2 and wanted.has_value and shape.is_numeric and not any(places[1:]):
        what = (
            f"has the index {found[0]!r} and {wanted.width - 1} columns of numbers, whose names the model does not use"
        )
    else:
        return
    raise DataError(
        f"{label} {what}: it may be wide, with a cell for each row and column, and not a list of tuples.",
        f"Give relift.matrix(data) if it is wide; else say which column is which: relift.Table(data, {list(found)!r}).",
    )
