"""From the words of a command line to an exit code; every error becomes one sentence on stderr."""

from __future__ import annotations

import contextlib
import difflib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from relift.cli.screen import escaped_output
from relift.errors import BackendError, EngineError, LanguageError, OptionError, ReliftError
from relift.tables.server_address import redacted

EXIT_USAGE, EXIT_INFEASIBLE, EXIT_UNBOUNDED, EXIT_LIMIT, EXIT_FAILURE = 2, 3, 4, 5, 6
EXIT_INTERRUPTED, EXIT_BROKEN_PIPE = 130, 141

COMMANDS = ("solve", "lift", "expand", "inspect", "check", "ground", "fmt", "show", "reproduce", "backends", "info")
"""The first word; any other is a model to solve."""

_OWN_OPTIONS = ("--help", "-h", "--version", "--install-completion", "--show-completion")


def _arguments(given: Sequence[str]) -> list[str]:
    """Put ``solve`` in front when the first word is a model.

    Examples
    --------
    >>> _arguments(["model.mps", "--json"]), _arguments(["--json", "model.mps"]), _arguments(["info"])
    (['solve', 'model.mps', '--json'], ['solve', '--json', 'model.mps'], ['info'])
    """
    words = [word for word in given if word != "--debug"]
    if not words or words[0] in COMMANDS or words[0].split("=")[0] in _OWN_OPTIONS:
        return words
    first = words[0]
    if not first.startswith("-") and not Path(first).suffix and os.sep not in first and not Path(first).exists():
        near = difflib.get_close_matches(first, COMMANDS, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Commands are {', '.join(COMMANDS)}."
        raise OptionError(f"there is neither a command nor a file {first!r}.", hint)
    return ["solve", *words]


def _say(message: str) -> None:
    with contextlib.suppress(OSError):
        print(f"relift: {redacted(' '.join(message.split()))}", file=sys.stderr, flush=True)


def _say_error(error: ReliftError) -> None:
    """Errors that point at a place keep their lines; all others are one sentence."""
    if not isinstance(error, LanguageError) and not getattr(error, "excerpt", ""):
        _say(str(error))
        return
    with contextlib.suppress(OSError):
        print(f"relift: {redacted(str(error))}", file=sys.stderr, flush=True)


def _sentence(error: OSError) -> str:
    reasons = {
        FileNotFoundError: "no such file or folder",
        IsADirectoryError: "it is a folder, not a file",
        PermissionError: "permission denied",
    }
    reason = reasons.get(type(error), error.strerror or str(error))
    return f"{error.filename}: {reason}." if error.filename else f"{reason}."


def run(given: Sequence[str]) -> int:
    """Run a command line and return its exit code; every error becomes one sentence on stderr.

    Parameters
    ----------
    given
        The words after ``relift``.
    """
    with escaped_output():
        return _run(given)


def _run(given: Sequence[str]) -> int:
    from relift.cli.commands import app

    try:
        if not given:
            app(["--help"], standalone_mode=False, prog_name="relift")
            return EXIT_USAGE
        code = int(app(_arguments(given), standalone_mode=False, prog_name="relift") or 0)
        sys.stdout.flush()
        if code == EXIT_INTERRUPTED:  # the parser of the command line has caught Ctrl-C
            _say("interrupted.")
        return code
    except KeyboardInterrupt:
        _say("interrupted.")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader has gone (`| head`). Point stdout elsewhere, or Python complains when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return EXIT_BROKEN_PIPE
    except (BackendError, EngineError) as error:
        _say(str(error))
        return EXIT_FAILURE
    except ReliftError as error:
        _say_error(error)
        return EXIT_USAGE
    except OSError as error:
        _say(_sentence(error))
        return EXIT_USAGE
    except MemoryError:
        _say("there is not enough memory for this model.")
        return EXIT_FAILURE
    except Exception as error:  # noqa: BLE001 - the last resort: a sentence, no traceback
        return _other_error(error, "--debug" in given)


def _other_error(error: Exception, debug: bool) -> int:
    format_message = getattr(error, "format_message", None)
    if callable(format_message):  # a wrong option, found by the parser of the command line
        message = str(format_message())
        if message:
            _say(f"{message.rstrip('.')}. Try 'relift --help'.")
        return int(getattr(error, "exit_code", EXIT_USAGE))
    if type(error).__name__ == "Abort":
        _say("interrupted.")
        return EXIT_INTERRUPTED
    if isinstance(getattr(error, "exit_code", None), int):
        return int(error.exit_code)  # type: ignore[attr-defined]
    if debug:
        import traceback

        traceback.print_exception(error)
    _say(
        f"something unexpected went wrong ({type(error).__name__}: {error})."
        " This is a fault of relift: please report it, with what --debug shows."
    )
    return EXIT_FAILURE


def main() -> NoReturn:
    """Run the command line of this process."""
    if sys.stdout is None:  # closed by the caller (`>&-`): results go nowhere
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for as long as the process lives
    code = run(sys.argv[1:])
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    if sys.stderr is not None:
        sys.stderr.flush()
    # A solver may still be at work in the other thread after Ctrl-C: do not wait for it.
    if code == EXIT_INTERRUPTED:
        os._exit(code)
    sys.exit(code)
