"""Exit codes of the command line: by the status of an answer, and of what goes wrong before there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relift.program.solution import Status

EXIT_USAGE, EXIT_INFEASIBLE, EXIT_UNBOUNDED, EXIT_LIMIT, EXIT_FAILURE = 2, 3, 4, 5, 6
EXIT_INTERRUPTED = 130


class CommandExit(Exception):  # noqa: N818 - an end, not an error
    """The end of a command with a code other than 0.

    Parameters
    ----------
    code
        The exit code.
    """

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def exit_code(status: Status) -> int:
    """The exit code of an answer."""
    from relift.program.solution import Status

    codes = {
        Status.OPTIMAL: 0,
        Status.INFEASIBLE: EXIT_INFEASIBLE,
        Status.UNBOUNDED: EXIT_UNBOUNDED,
        Status.TIME_LIMIT: EXIT_LIMIT,
        Status.ITERATION_LIMIT: EXIT_LIMIT,
    }
    if status == "optimal_within_gap":  # what was asked for, and proved
        return 0
    return codes.get(status, EXIT_FAILURE)


def leave(code: int) -> None:
    """End the command with a code other than 0."""
    if code:
        raise CommandExit(code)
