"""Every error of relift, in one tree.

::

    ReliftError
    ├── ProgramError (ValueError)        the numbers of a program are wrong
    │   ├── ShapeError                   an argument has another size than the rest
    │   ├── NotANumberError              a NaN, or an infinity where a number is needed
    │   ├── BoundsError                  a lower bound above its upper bound
    │   ├── AsymmetricError              P is not symmetric
    │   └── NonConvexError               P has a direction of negative curvature
    ├── PartitionError (ValueError)      classes that do not fit the program, or are not equitable
    ├── OptionError (ValueError)         an option has a value that it cannot have
    ├── FileFormatError (ValueError)     a file cannot be read or written as what it claims to be
    ├── MissingPackageError (ImportError) an optional package is needed and not installed
    └── BackendError (RuntimeError)      a solver failed in a way that is not a status

Each says what is wrong, where, what was found and what to do. Fields are kept for programs to read; the
text is made from them in ``__str__``, so that errors survive pickling.
"""

from __future__ import annotations

from typing import final


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
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


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
class BoundsError(ProgramError):
    """A lower bound lies above its upper bound."""


@final
class AsymmetricError(ProgramError):
    """P differs from its transpose."""


@final
class NonConvexError(ProgramError):
    """P has a direction of negative curvature (positive, when maximising)."""


@final
class PartitionError(ReliftError, ValueError):
    """Classes that do not fit the program, or that are not equitable."""


@final
class OptionError(ReliftError, ValueError):
    """An option has a value that it cannot have."""


@final
class FileFormatError(ReliftError, ValueError):
    """A file cannot be read or written as what it claims to be."""


@final
class MissingPackageError(ReliftError, ImportError):
    """An optional package is needed and not installed."""


@final
class BackendError(ReliftError, RuntimeError):
    """A solver failed in a way that is not a status."""
