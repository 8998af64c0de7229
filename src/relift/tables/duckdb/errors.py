"""Errors of DuckDB in our words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import final

import duckdb

from relift.errors import DataError, EngineError


@final
class UnclearLinesError(DataError):
    """DuckDB finds a quotation mark or the end of a line where it expects none; internal."""


_TOO_LONG = "a whole number of more than 64 bits was calculated."


@contextmanager
def in_our_words(label: str = "") -> Iterator[None]:
    """Errors of DuckDB in our words.

    Parameters
    ----------
    label
        The table that is read, or empty.
    """
    where = f"{label}: " if label else ""
    try:
        yield
    except (duckdb.ConversionException, duckdb.OutOfRangeException) as error:
        line = first_line(error)
        if "Overflow in" in line or "Overflow on" in line or ("INT64" in line and "out of range" in line):
            what = "a whole number has more than 64 bits." if label else _TOO_LONG
            raise DataError(f"{where}{what}", "" if label else "Use reals: write 1.0 * x.") from error
        raise DataError(f"{where}{line}") from error
    except duckdb.InterruptException as error:
        raise KeyboardInterrupt from error
    except duckdb.OutOfMemoryException as error:
        raise EngineError(
            f"{where}DuckDB ran out of memory: {first_line(error)}", "Raise memory_limit, or narrow the queries."
        ) from error
    except duckdb.Error as error:
        raise _of_table(error, label) if label else EngineError(f"DuckDB: {first_line(error)}") from error
    except RuntimeError as error:  # what a signal in the main thread makes of a running query
        if str(error) != "Query interrupted":
            raise
        raise KeyboardInterrupt from error


def _of_table(error: Exception, label: str) -> DataError:
    text = str(error)
    if re.search("not utf-?8|unicode", text, re.IGNORECASE):
        return DataError(f"{label} is not UTF-8 text.", "Save it as UTF-8.")
    if widths := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text):
        line = re.search(r"Error on Line: (\d+)", text)
        where = f"line {line[1]}" if line else "a line"
        return DataError(
            f"{label}: {where} has {widths[2]} entries, and the first line has {widths[1]}.",
            "Every line has the same number of entries; text with separators or line breaks in it is quoted.",
        )
    if "CSV" in text and re.search("state machine|quote", text, re.IGNORECASE):
        return UnclearLinesError(f"{label} cannot be read: {first_line(error)}")
    return DataError(f"{label} cannot be read: {first_line(error)}")


def first_line(error: Exception) -> str:
    """The first line that says something."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
