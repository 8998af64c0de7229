"""Making error messages: the place, carets, and the nearest known name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TypeVar

from relift.errors import LanguageError, SeveralErrors
from relift.language.syntax.source import Source, Span

_Error = TypeVar("_Error", bound=LanguageError)


def at(kind: type[_Error], source: Source, span: Span, message: str, hint: str = "") -> _Error:
    """An error that points at a place of the text.

    Examples
    --------
    >>> from relift.errors import KindError
    >>> print(at(KindError, Source("x + y;"), Span(4, 5), "y is not a number", "Write [y]."))
    y is not a number
      <model>:1:5
        1 | x + y;
          |     ^
    Write [y].
    """
    line, column = source.place(span.start)
    return kind(message, hint, source.name, line, column, source.excerpt(span))


def raise_all(errors: list[LanguageError]) -> None:
    """Raise what was collected: nothing, the one error, or all of them as `SeveralErrors`."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise SeveralErrors(tuple(errors))


def nearest(name: str, known: Iterable[str]) -> str:
    """A known name that looks like the unknown one, or an empty string.

    Examples
    --------
    >>> nearest("slacks", ["bias", "slack", "coslack"])
    'slack'
    """
    matches = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return matches[0] if matches else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The question, or an empty string if nothing is near."""
    match = nearest(name, known)
    return f"Did you mean '{match}'?" if match else ""


def listed(names: Iterable[str]) -> str:
    """Names in a sentence.

    Examples
    --------
    >>> listed(["X", "Y", "Z"])
    'X, Y and Z'
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
