"""Text files with tables: what stands between their entries, and whether their first line holds names.

Nothing is guessed. The separator is the only one of comma, semicolon and tab that cuts every line into the same number
of entries (or the bar, if none of these does). The first line holds names if these are the names that the model or
the caller uses, or if it has a name where all other lines have numbers, dates or the like; it is data if it holds
nothing but numbers. Everything else is refused, with the ways to say what it is.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from relift.errors import DataError
from relift.tables.sources.match_columns import Wanted

_HEAD = 1 << 20
_SAMPLE = 1000
_SEPARATORS = (",", ";", "\t")
_LAST_RESORT = "|"
_LINE_END = re.compile(r'(?:[^"\r\n]|"[^"]*")*(\r\n|\n|\r)')
_NAMELIKE = re.compile(r"\s*[^\W\d]")
_NO_NAMES = {"", "na", "n/a", "nan", "null", "none", "nil", "inf", "infinity", "missing", "unknown", "true", "false"}
"""What stands for a missing value or a truth value rather than for a name."""
NUMBER = r"[+-]?(inf|((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?)"
"""Numbers in text files; with leading zeros it is a text, since 007 and 7 may be two keys."""
_NUMBER = re.compile(NUMBER)


@final
@dataclass(frozen=True)
class Layout:
    """How a text file is to be read.

    Parameters
    ----------
    delimiter
        What stands between two entries.
    width
        How many entries the first line has.
    is_odd
        Whether a text in quotation marks has another line end in it than the lines have, and comes before these.
    """

    delimiter: str
    width: int
    is_odd: bool = False


def layout_of(label: str, path: Path, delimiter: str | None, width: int | None) -> Layout | None:
    """How a file is to be read, from its beginning; None if there is nothing in it.

    Parameters
    ----------
    label
        The table, for messages.
    path
        The file.
    delimiter
        What stands between two entries, if the caller knows it.
    width
        How many columns are expected, if that is known.

    Raises
    ------
    DataError
        If it is not UTF-8 text, or more than one separator would do.
    """
    text = _head(label, path)
    is_odd = _is_odd(text)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip("\n"):
        return None
    if delimiter is None and path.suffix.lower() == ".tsv":
        delimiter = "\t"
    if delimiter is not None:
        return Layout(delimiter, _widths(label, path, text, delimiter)[0], is_odd)
    widths = {sign: _widths(label, path, text, sign) for sign in (*_SEPARATORS, _LAST_RESORT)}
    even = [sign for sign in _SEPARATORS if widths[sign][0] > 1 and len(set(widths[sign])) == 1]
    fitting = [sign for sign in even if widths[sign][0] == width]
    if len(fitting) == 1:
        even = fitting
    if len(even) > 1:
        raise DataError(
            f"{label}: the lines of {path.name!r} may be cut at {' or at '.join(map(repr, even))}.",
            f"Say which: relift.Table({path.name!r}, delimiter={even[-1]!r}).",
        )
    if not even and widths[_LAST_RESORT][0] > 1 and len(set(widths[_LAST_RESORT])) == 1:
        even = [_LAST_RESORT]
    if not even:  # one column; or a line has an entry too many, which reading finds where it looks for the likeliest
        even = [max(_SEPARATORS, key=lambda sign: sum(widths[sign]))]
    return Layout(even[0], widths[even[0]][0], is_odd)


def _is_odd(text: str) -> bool:
    """Whether the first end of a line is another one than the first that is not inside of quotation marks."""
    found, any_end = _LINE_END.match(text), re.search("\r\n|\n|\r", text)
    return found is not None and any_end is not None and found[1] != any_end[0]


def write_plainly(label: str, path: Path, delimiter: str, out: Path) -> None:
    """Write a file anew with commas, all entries quoted, and one kind of line ends.

    Parameters
    ----------
    label
        The table, for messages.
    path, delimiter
        The file, and what stands between its entries.
    out
        Where to.

    Raises
    ------
    DataError
        If a quotation mark is not closed or stands in the middle of an entry.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as old, out.open("w", encoding="utf-8", newline="") as new:
            writer = csv.writer(new, quoting=csv.QUOTE_ALL, lineterminator="\n")
            writer.writerows(row for row in csv.reader(old, delimiter=delimiter, strict=True) if row)
    except UnicodeDecodeError as error:
        raise _not_utf8(label) from error
    except csv.Error as error:
        raise DataError(
            f"{label} cannot be read: a quotation mark is not closed, or stands in the middle of an entry ({error}).",
            'Quote entries as in "say ""hi""".',
        ) from error


def _head(label: str, path: Path) -> str:
    with path.open("rb") as file:
        content = file.read(_HEAD)
        is_cut = bool(file.read(1))
    if is_cut:
        end = max(content.rfind(b"\n"), content.rfind(b"\r"))
        content = content[: end + 1] if end > 0 else content
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise _not_utf8(label)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if not is_cut or error.start < len(content) - 4:
            raise _not_utf8(label) from error
        text = content[: error.start].decode("utf-8-sig")
    return text


def _not_utf8(label: str) -> DataError:
    return DataError(f"{label} is not UTF-8 text.", "Save it as UTF-8.")


def _widths(label: str, path: Path, text: str, delimiter: str) -> list[int]:
    """Entries of the first lines, empty ones left out."""
    found: list[int] = []
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    try:
        for row in rows:
            if row:
                found.append(len(row))
            if len(found) == _SAMPLE:
                break
    except csv.Error as error:
        if not found:
            raise DataError(f"{label} cannot be read: line 1 of {path.name!r}: {error}.") from error
    return found or [1]


# --- headers ---------------------------------------------------------------------------------------------------------


def has_header(
    label: str,
    first: Sequence[str | None],
    kinds: Sequence[str],
    is_repeated: bool,
    wanted: Wanted | None,
    chosen: Sequence[str | int] | None,
) -> bool:
    """Whether the first line of a file holds names.

    Parameters
    ----------
    label
        The table, for messages.
    first
        The entries of the first line.
    kinds
        For each column what all other lines hold: ``"number"``, ``"text"`` or another word for what text can look
        like (``"date"``); ``""`` if there are no other lines.
    is_repeated
        Whether an entry of the first line comes again below it, in the same column.
    wanted
        What the predicate needs.
    chosen
        Names of columns that the caller has chosen.

    Raises
    ------
    DataError
        If it is not clear.

    Examples
    --------
    >>> has_header("t", ["item", "amount"], ["text", "number"], False, None, None)
    True
    >>> has_header("t", ["4", "2.5"], ["number", "number"], False, None, None)
    False
    >>> has_header("the table of 'edge' (edge.csv)", ["a", "b"], ["text", "text"], False, None, None)
    Traceback (most recent call last):
    relift.errors.DataError: the table of 'edge' (edge.csv): its first line (a, b) may hold names of columns, or data...
    """
    entries = [(entry or "").strip() for entry in first]
    names = [name for name in chosen or () if isinstance(name, str)]
    if names and all(name in entries for name in names):
        return True
    is_number = [_NUMBER.fullmatch(entry) is not None for entry in entries]
    if all(is_number):
        if _may_be_numbered(entries) or (wanted is not None and wanted.arity == 2 and wanted.has_value):
            raise _unclear(label, first)
        return False
    is_data = any(number and kind in {"number", ""} for number, kind in zip(is_number, kinds, strict=True))
    if not is_data and not is_repeated and wanted is not None and all(_is_name(entry, wanted) for entry in entries):
        return True
    if not is_data and any(
        _is_name_above(entry, kind, wanted is not None and wanted.has_value and position == wanted.arity)
        for position, (entry, kind) in enumerate(zip(entries, kinds, strict=True))
    ):
        return True
    raise _unclear(label, first)


def _may_be_numbered(entries: Sequence[str]) -> bool:
    """Whether the entries are 0, 1, 2, ...: what data frames without names write as names."""
    return list(entries) == [str(k) for k in range(len(entries))]


def _is_name(entry: str, wanted: Wanted) -> bool:
    """Whether the model uses exactly that name; in other capitals it may be a key (a, b for A, B)."""
    return entry in wanted.value_names or any(entry in use for use in wanted.uses)


def _is_name_above(entry: str, kind: str, is_value: bool) -> bool:
    """Whether an entry is a name, since what stands below it is of another kind."""
    if entry.casefold() in _NO_NAMES or not _NAMELIKE.match(entry):
        return False
    return is_value if kind in {"", "text"} else True


def _unclear(label: str, first: Sequence[str | None]) -> DataError:
    shown = ", ".join(entry or "" for entry in first)
    shown = f"{shown[:80]}..." if len(shown) > 80 else shown
    return DataError(
        f"{label}: its first line ({shown}) may hold names of columns, or data.",
        "Say which, with header=True or header=False in relift.Table(data, header=...), "
        'with from "file" (header = true) in a model, or with --header yes or --header no on the command line.',
    )
