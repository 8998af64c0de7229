"""One form for each key, wherever it comes from, so that tables of different sources join.

=============================  =====================================================================================
a key that is                  is compared as
=============================  =====================================================================================
a whole number, a truth value  a whole number of 64 bits
a real number, a decimal       a double; a column of reals that are all whole counts as whole numbers
a date                         text, ``2026-01-02``
a timestamp without a zone     text, ``2026-01-02 03:04:05.5``; at midnight the date alone, since pandas and NumPy
                               have no other dates
a timestamp with a zone        text, the same moment in UTC: ``2026-01-02 02:04:05.5+00:00``
a time of the day              text, ``03:04:05.5``
an enumeration, a category     its label
a UUID                         text in lower case, ``0d9f8a9e-...``
=============================  =====================================================================================

Fractions of seconds have no zeros at their end. Texts in this form sort as the moments do. What has no such form (years
before 1 or after 9999, infinite dates, times of the day with a zone, durations, bytes) is refused, and so is a key that
would be rounded: whole numbers of more than 64 bits, decimals that no double stands for.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import SupportsFloat

import numpy as np

from relift.arrays import Cells
from relift.errors import DataError

SMALLEST, LARGEST = -(2**63), 2**63 - 1
ZONE = "+00:00"
MOMENT = r"([0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]*[1-9])?(\+00:00)?)?)"
TIME = r"([0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]*[1-9])?)"
TEMPORAL = f"({MOMENT}|{TIME})"
"""What dates, timestamps and times look like; anything else that a source gives for one has no canonical form."""
_CANONICAL = re.compile(TEMPORAL)
_ONLY_KEYS = "Keys are numbers or text, values are numbers."


def refuse_key(label: str, column: str, value: object) -> DataError:
    """The error of a key that would be rounded."""
    is_long = re.fullmatch(r"[+-]?[0-9]+", str(value)) is not None and not SMALLEST <= int(str(value)) <= LARGEST
    what = "a whole number of more than 64 bits" if is_long else "which no double holds exactly"
    return DataError(f"{label}: the column {column!r} holds the key {value}, {what}.", "Give the column as text.")


def refuse_moment(label: str, column: str, value: object) -> DataError:
    """The error of a date or time that has no canonical form."""
    return DataError(
        f"{label}: the column {column!r} holds {value}, which is not a date or time of the years 1 to 9999.",
        "Remove it, or give the column as text.",
    )


def refuse_kind(label: str, column: str, kind: str) -> DataError:
    """The error of a column of a type that is neither number nor text."""
    hint = _ONLY_KEYS
    if re.match(r"time(tz| with| of .* zone)", kind, re.IGNORECASE):
        hint = "Give times without a zone, or timestamps."
    elif re.match("interval|duration|timedelta", kind, re.IGNORECASE):
        hint = "Give durations as numbers."
    return DataError(f"{label}: the column {column!r} holds {kind}.", hint)


# --- dates and times -------------------------------------------------------------------------------------------------


def text_of_moment(label: str, column: str, value: dt.date | dt.time) -> str:
    """The canonical text of a date, a datetime, a pandas Timestamp or a time.

    Examples
    --------
    >>> zone = dt.timezone(dt.timedelta(hours=1))
    >>> moments = [dt.datetime(2026, 1, 2), dt.datetime(2026, 1, 2, 3, 4, 5, 500000)]
    >>> moments += [dt.datetime(2026, 1, 2, tzinfo=zone), dt.time(3, 4)]
    >>> [text_of_moment("t", "c", moment) for moment in moments]
    ['2026-01-02', '2026-01-02 03:04:05.5', '2026-01-01 23:00:00+00:00', '03:04:00']
    """
    if isinstance(value, dt.datetime):
        if value.tzinfo is None:
            return _checked(label, column, trimmed(value.isoformat(sep=" ")), value)
        moment = value.astimezone(dt.UTC).replace(tzinfo=None)
        return _checked(label, column, trimmed(moment.isoformat(sep=" "), ZONE), value)
    if isinstance(value, dt.time):
        if value.tzinfo is not None:
            raise refuse_kind(label, column, "time of the day with a zone")
        return trimmed(value.isoformat())
    return _checked(label, column, value.isoformat(), value)


def texts_of_datetime64(label: str, column: str, moments: Cells, zone: str = "") -> Cells:
    """The canonical texts of a NumPy column of dates or timestamps; None for what is missing."""
    if np.datetime_data(moments.dtype)[0] in {"Y", "M", "W"}:
        moments = moments.astype("datetime64[D]")
    found, places = np.unique(moments, return_inverse=True)
    texts = np.empty(found.size, dtype=object)
    for position, (text, is_missing) in enumerate(
        zip(np.datetime_as_string(found).tolist(), np.isnat(found).tolist(), strict=True)
    ):
        text = None if is_missing else trimmed(text.replace("T", " "), zone)
        texts[position] = None if text is None else _checked(label, column, text, text)
    return texts[places]


def trimmed(text: str, zone: str = "") -> str:
    """A moment without zeros at the end of its fraction, and without its time at midnight unless there is a zone."""
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    if zone:
        return (text if ":" in text else f"{text} 00:00:00") + zone
    return text.removesuffix(" 00:00:00")


def _checked(label: str, column: str, text: str, value: object) -> str:
    if not _CANONICAL.fullmatch(text) or text.startswith("0000"):
        raise refuse_moment(label, column, value)
    return text


# --- numbers ---------------------------------------------------------------------------------------------------------


def numbers_of_objects(values: Iterable[SupportsFloat]) -> tuple[Cells, object]:
    """Python numbers of any kind as a column, and the first one that was rounded (None if none was).

    Examples
    --------
    >>> numbers_of_objects([Decimal("2.0"), 3, True])
    (array([2, 3, 1]), None)
    >>> numbers_of_objects([2**63, 1])
    (array([9.22337204e+18, 1.00000000e+00]), 9223372036854775808)
    >>> numbers_of_objects([Decimal("0.1"), 0.5])
    (array([0.1, 0.5]), None)
    """
    given = [_whole_if_whole(value) for value in values]
    if all(isinstance(value, int) and SMALLEST <= value <= LARGEST for value in given):
        return np.array(given, dtype=np.int64), None
    return np.array([_nearest(v) for v in given], dtype=np.float64), next((v for v in given if _is_rounded(v)), None)


def _whole_if_whole(value: SupportsFloat) -> SupportsFloat:
    if isinstance(value, int | np.integer | np.bool_):
        return int(value)
    if isinstance(value, Decimal):
        is_whole = value.is_finite() and value == value.to_integral_value()
        return int(value) if is_whole and abs(value.adjusted()) < 400 else value
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else value
    return value


def _nearest(value: SupportsFloat) -> float:
    try:
        return float(value)
    except OverflowError:
        assert isinstance(value, int | Decimal | Fraction)  # other numbers have no such size
        return float("inf") if value > 0 else float("-inf")
    except ValueError:  # a signalling NaN
        return float("nan")


def _is_rounded(value: SupportsFloat) -> bool:
    near = _nearest(value)
    if isinstance(value, int):
        return not SMALLEST <= value <= LARGEST or int(near) != value
    if isinstance(value, Decimal):
        return value.is_finite() and (not np.isfinite(near) or not is_decimal_of(near, value))
    if isinstance(value, Fraction):
        return value != Fraction(repr(near)) if np.isfinite(near) else True
    if isinstance(value, np.longdouble):
        return bool(value != np.longdouble(near) and not np.isnan(value))
    return False


def is_decimal_of(number: float, decimal: Decimal) -> bool:
    """Whether a double is what one writes as that decimal number, such as 0.1."""
    return Decimal(repr(number)) == decimal


def rounded_text(texts: Sequence[str]) -> str | None:
    """The first of some decimal numbers that is not what the nearest double is written as; None if there is none."""
    for text in texts:
        if not is_decimal_of(float(text), Decimal(text)) and np.isfinite(float(text)):
            return text
    return None


def is_number(value: object) -> bool:
    """Whether something is a real number of any kind."""
    return isinstance(value, Real | Decimal | np.bool_)
