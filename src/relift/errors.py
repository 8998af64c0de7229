"""Every error of relift, in one tree.

::

    ReliftError
    ├── ProgramError (ValueError)        the numbers of a program are wrong
    │   ├── ShapeError                   an argument has another size than the rest
    │   ├── NotANumberError              a NaN, or an infinity where a number is needed
    │   ├── NotNumbersError (TypeError)  text or other things where numbers are needed
    │   ├── BoundsError                  a lower bound above its upper bound
    │   ├── AsymmetricError              P is not symmetric
    │   ├── NonConvexError               P has a direction of negative curvature
    │   └── ConeError                    a cone has a size or an exponent that it cannot have
    ├── NotAProgramError (TypeError)     something else where a program is needed
    ├── LanguageError (ValueError)       a model text is wrong; points at the place
    │   ├── ModelSyntaxError             it does not follow the grammar
    │   ├── EncodingError                the file is not UTF-8
    │   ├── UnknownNameError             a name is not declared
    │   ├── DuplicateNameError           a name is declared twice, or as two kinds of thing
    │   ├── ArityError                   a wrong number of arguments
    │   ├── KindError                    a formula, a number or an unknown where another is needed
    │   ├── SafetyError                  a logic variable is not bound
    │   ├── StratificationError          a predicate depends on its own negation
    │   ├── FactError                    data in the model contradict each other or their declaration
    │   ├── DegreeError                  an expression in the unknowns of too high a degree
    │   ├── ConvexityError               a convex term where convexity forbids it
    │   ├── ModelBuildingError (TypeError)  a model in Python is put together wrongly
    │   └── SeveralErrors                more than one of these
    ├── PartitionError (ValueError)      classes that do not fit the program, or are not equitable
    ├── OptionError (ValueError)         an option has a value that it cannot have
    │   ├── UnknownOptionError (TypeError)  there is no option of that name
    │   └── UnsupportedError (NotImplementedError)  something that relift does not do
    ├── FileFormatError (ValueError)     a file cannot be read or written as what it claims to be
    ├── MissingPackageError (ImportError) an optional package is needed and not installed
    ├── DataError (ValueError)           tables that do not fit the model, or missing, doubled or wrong values
    ├── SizeLimitError (ValueError)      a result is larger than the limit
    ├── EngineError (RuntimeError)       a database engine failed
    └── BackendError (RuntimeError)      a solver failed in a way that is not a status

    ReliftWarning (UserWarning)
    ├── FileWarning                      a file holds something that was not used
    └── EmptyJoinWarning                 two tables with rows have no key in common

Each says what is wrong, where, what was found and what to do. Fields are kept for programs to read; the
text is made from them in ``__str__``, so that errors survive pickling. Names and lines of files are part of many texts:
control characters in them are escaped there, since a terminal would obey them. No text holds a password: what looks
like one is taken out when the error is made (:mod:`relift.redaction`).
"""

from __future__ import annotations

import re
from typing import final

from relift.redaction import HIDDEN, redacted

# Controls but for the line feed and the tab, what changes the direction of writing, other ends of lines, and halves of
# characters, which cannot be written at all.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def printable(text: str) -> str:
    r"""Text that a terminal shows and does not obey: control characters are escaped as Python writes them.

    Examples
    --------
    >>> print(printable("a\x1b[31mred\n\tb"))
    a\x1b[31mred
        b
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


class ReliftError(Exception):
    """Anything that relift raises on purpose.

    Parameters
    ----------
    message
        What is wrong and where, in one sentence.
    hint
        What to do about it.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        message, hint = redacted(message), redacted(hint)
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return printable(f"{self.message} {self.hint}".strip())


class ProgramError(ReliftError, ValueError):
    """The numbers of a program are wrong.

    Parameters
    ----------
    message
        What is wrong and where, in one sentence.
    hint
        What to do about it.
    argument
        The argument at fault, for example ``"A"``.
    entry
        Where in that argument: ``(index,)`` or ``(row, column)``; empty when the whole argument is at fault.
    """

    def __init__(self, message: str, hint: str = "", argument: str = "", entry: tuple[int, ...] = ()) -> None:
        message, hint = redacted(message), redacted(hint)
        Exception.__init__(self, message, hint, argument, entry)
        self.message = message
        self.hint = hint
        self.argument = argument
        self.entry = entry


@final
class ShapeError(ProgramError):
    """An argument has another size than the rest of the program."""


@final
class NotANumberError(ProgramError):
    """A NaN, or an infinity where a finite number is needed."""


@final
class NotNumbersError(ProgramError, TypeError):
    """Text or other things where numbers are needed."""


@final
class BoundsError(ProgramError):
    """A lower bound lies above its upper bound."""


@final
class AsymmetricError(ProgramError):
    """P differs from its transpose."""


@final
class NonConvexError(ProgramError):
    """P has a direction of negative curvature (positive, when maximising)."""


@final
class ConeError(ProgramError):
    """A cone has a size or an exponent that it cannot have."""


@final
class NotAProgramError(ReliftError, TypeError):
    """Something else stands where a program is needed."""


class LanguageError(ReliftError, ValueError):
    """A model text is wrong.

    Parameters
    ----------
    message
        What is wrong, in one sentence.
    hint
        What to do about it: what was expected, or the nearest known name.
    file
        The file, or ``"<model>"``.
    line, column
        The place, counted from 1; 0 if there is none.
    excerpt
        The place, the line and carets under what is meant, ready to print.
    """

    def __init__(
        self, message: str, hint: str = "", file: str = "", line: int = 0, column: int = 0, excerpt: str = ""
    ) -> None:
        if redacted(excerpt) != excerpt:  # the message may quote a piece of the line, and so of the password
            message, hint = re.sub(r"'[^']*'", f"'{HIDDEN}'", message), ""
        message, hint, file, excerpt = redacted(message), redacted(hint), redacted(file), redacted(excerpt)
        Exception.__init__(self, message, hint, file, line, column, excerpt)
        self.message = message
        self.hint = hint
        self.file = file
        self.line = line
        self.column = column
        self.excerpt = excerpt

    def __str__(self) -> str:
        return printable("\n".join(part for part in (self.message, self.excerpt, self.hint) if part))


@final
class ModelSyntaxError(LanguageError):
    """A text does not follow the grammar."""


@final
class EncodingError(LanguageError):
    """A model file is not UTF-8."""


@final
class UnknownNameError(LanguageError):
    """A name is not declared."""


@final
class DuplicateNameError(LanguageError):
    """A name is declared twice, or as two kinds of thing."""


@final
class ArityError(LanguageError):
    """A wrong number of arguments."""


@final
class KindError(LanguageError):
    """A formula, a number or an unknown where another is needed."""


@final
class SafetyError(LanguageError):
    """A logic variable is not bound."""


@final
class StratificationError(LanguageError):
    """A predicate depends on its own negation, or a definition on itself."""


@final
class FactError(LanguageError):
    """Data in the model contradict each other or their declaration."""


@final
class DegreeError(LanguageError):
    """An expression in the unknowns has too high a degree."""


@final
class ConvexityError(LanguageError):
    """A convex term stands where convexity forbids it."""


@final
class ModelBuildingError(LanguageError, TypeError):
    """A model in Python is put together wrongly."""


@final
class SeveralErrors(LanguageError):  # noqa: N818 - it is several
    """More than one error of the language; ``errors`` holds them in the order of the text.

    Parameters
    ----------
    errors
        At least two.
    """

    def __init__(self, errors: tuple[LanguageError, ...]) -> None:
        first = errors[0]
        super().__init__(f"{len(errors)} errors", "", first.file, first.line, first.column)
        self.args = (errors,)
        self.errors = errors

    def __str__(self) -> str:
        where = printable(self.file) or "the model"
        return "\n\n".join([f"{len(self.errors)} errors in {where}", *map(str, self.errors)])


@final
class PartitionError(ReliftError, ValueError):
    """Classes that do not fit the program, or that are not equitable."""


class OptionError(ReliftError, ValueError):
    """An option has a value that it cannot have."""


@final
class UnknownOptionError(OptionError, TypeError):
    """There is no option of that name."""


@final
class UnsupportedError(OptionError, NotImplementedError):
    """Something is asked for that relift does not do."""


@final
class FileFormatError(ReliftError, ValueError):
    """A file cannot be read or written as what it claims to be."""


class ReliftWarning(UserWarning):
    """Anything that relift warns of; :func:`warnings.simplefilter` chooses what becomes of it."""


class FileWarning(ReliftWarning):
    """A file holds something that was not used, such as a second set of right-hand sides."""


@final
class SlowReferenceWarning(ReliftWarning):
    """relift was installed without its compiled core; the NumPy reference runs instead, many times slower."""


@final
class MissingPackageError(ReliftError, ImportError):
    """An optional package is needed and not installed."""


class DataError(ReliftError, ValueError):
    """Tables do not fit the model, or values are missing, doubled or not numbers.

    Parameters
    ----------
    message
        What is wrong, with the table, the column and the row or tuple.
    hint
        What to do about it.
    excerpt
        The place in the model that asks for it, ready to print; empty if there is none.
    table
        The relation, param or variable at fault.
    entry
        The tuple at fault, empty if the whole table is.
    """

    def __init__(
        self,
        message: str,
        hint: str = "",
        excerpt: str = "",
        table: str = "",
        entry: tuple[str | int | float, ...] = (),
    ) -> None:
        message, hint, excerpt = redacted(message), redacted(hint), redacted(excerpt)
        Exception.__init__(self, message, hint, excerpt, table, entry)
        self.message = message
        self.hint = hint
        self.excerpt = excerpt
        self.table = table
        self.entry = entry

    def __str__(self) -> str:
        if not self.excerpt:
            return printable(f"{self.message} {self.hint}".strip())
        return printable("\n".join(part for part in (self.message, self.excerpt, self.hint) if part))


@final
class SizeLimitError(ReliftError, ValueError):
    """A result is larger than the limit.

    Parameters
    ----------
    message
        What is too large.
    hint
        What to do about it.
    statement
        The statement of the model that causes it, if it is known.
    rows
        How many rows there are, at least.
    limit
        How many there may be.
    """

    def __init__(self, message: str, hint: str = "", statement: str = "", rows: int = 0, limit: int = 0) -> None:
        message, hint = redacted(message), redacted(hint)
        Exception.__init__(self, message, hint, statement, rows, limit)
        self.message = message
        self.hint = hint
        self.statement = statement
        self.rows = rows
        self.limit = limit


@final
class EngineError(ReliftError, RuntimeError):
    """A database engine failed in a way that the data do not explain."""


@final
class BackendError(ReliftError, RuntimeError):
    """A solver failed in a way that is not a status."""


@final
class EmptyJoinWarning(ReliftWarning):
    """Two tables that have rows have no key in common, so that a query over both of them finds nothing."""
