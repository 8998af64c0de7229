"""From the arguments of a command line to an exit code; every error becomes one sentence on stderr."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn, TextIO

from relift.cli.closed_pipes import flush_or_drop, survive_closed_pipes
from relift.cli.exit_codes import EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_USAGE, CommandExit
from relift.cli.options_file import with_options_files
from relift.cli.screen import escaped_output
from relift.cli.words import COMMANDS, plain_call
from relift.errors import (
    BackendError,
    EmptyJoinWarning,
    EngineError,
    FileWarning,
    LanguageError,
    OptionError,
    ReliftError,
    SlowReferenceWarning,
)
from relift.redaction import redacted

_NO_MEMORY = "there is not enough memory for this model."
_MEMORY_WORDS = ("failed to map segment from shared object", "can't start new thread")

_terminated: list[int] = []
"""The signals that asked this process to end, SIGTERM or SIGHUP."""

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
        import difflib

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
    if error.filename == "-" and isinstance(error, FileNotFoundError):
        return "a model is read from a file, not from standard input. Write it to a file first, such as model.mps."
    reason = reasons.get(type(error), error.strerror or str(error))
    return f"{error.filename}: {reason}." if error.filename else f"{reason}."


def run(given: Sequence[str]) -> int:
    """Run a command line and return its exit code; every error becomes one sentence on stderr.

    Parameters
    ----------
    given
        The arguments after ``relift``.
    """
    with escaped_output(), warnings.catch_warnings():
        _print_warnings()
        return _run(given)


def _print_warnings() -> None:
    """Print what a file holds and is not used as a note; commands print empty joins themselves, with the answer."""
    show = warnings.showwarning

    def say(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, FileWarning | SlowReferenceWarning):
            _say(f"note: {message}")
        else:
            show(message, category, filename, lineno, file, line)

    warnings.simplefilter("ignore", EmptyJoinWarning)
    warnings.simplefilter("always", FileWarning)
    warnings.showwarning = say


def _run(given: Sequence[str]) -> int:
    try:
        if not given:
            _code_by_typer(["--help"])
            return EXIT_USAGE
        code = _code_of(with_options_files(_arguments(given), COMMANDS))
        sys.stdout.flush()
        return _interrupted() if code == EXIT_INTERRUPTED else code  # the parser of the words has caught Ctrl-C
    except KeyboardInterrupt:
        return _interrupted()
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
        _say(_NO_MEMORY)
        return EXIT_FAILURE
    except Exception as error:  # noqa: BLE001 - the last resort: a sentence, no traceback
        return _other_error(error, "--debug" in given)


def _code_of(words: Sequence[str]) -> int:
    """Run a command and return its exit code."""
    try:
        call = plain_call(words, os.environ)
        if call is None:
            return _code_by_typer(words)
        call()
    except CommandExit as end:
        return end.code
    return 0


def _code_by_typer(words: Sequence[str]) -> int:
    from relift.cli.commands import app

    return int(app(words, standalone_mode=False, prog_name="relift") or 0)


def _interrupted() -> int:
    _say("terminated." if _terminated else "interrupted.")
    return 128 + _terminated[0] if _terminated else EXIT_INTERRUPTED


def _end_like_control_c() -> None:
    """Let SIGTERM and SIGHUP end the work as Ctrl-C does: statements are stopped, temporary files removed.

    A signal that the caller ignores (``nohup``) stays ignored.
    """

    def handle(number: int, _: object) -> None:
        _terminated.append(number)
        raise KeyboardInterrupt

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, handle)


def _other_error(error: Exception, debug: bool) -> int:
    format_message = getattr(error, "format_message", None)
    if callable(format_message):  # a wrong option, found by the parser of the command line
        message = str(format_message())
        if message:
            _say(f"{_explained(message).rstrip('.')}. Try '{_name_of_command(error)} --help'.")
        return int(getattr(error, "exit_code", EXIT_USAGE))
    if type(error).__name__ == "Abort":
        return _interrupted()
    if isinstance(getattr(error, "exit_code", None), int):
        return int(error.exit_code)  # type: ignore[attr-defined]
    # Memory can also be missing for the code of a library and for the stack of a thread.
    if isinstance(error, ImportError | RuntimeError) and str(error).endswith(_MEMORY_WORDS):
        _say(_NO_MEMORY)
        return EXIT_FAILURE
    if debug:
        import traceback

        print(redacted("".join(traceback.format_exception(error))), file=sys.stderr, end="", flush=True)
    _say(
        f"something unexpected went wrong ({type(error).__name__}: {error})."
        " This is a bug in relift: please report it, with what --debug shows."
    )
    return EXIT_FAILURE


def _name_of_command(error: Exception) -> str:
    """The command whose words were not understood."""
    path = getattr(getattr(error, "ctx", None), "command_path", "")
    return path if isinstance(path, str) and path.startswith("relift") else "relift"


def _explained(message: str) -> str:
    """What the parser of the command line says, with what to do where that is not plain.

    Examples
    --------
    >>> _explained("Got unexpected extra argument(s) (b.mps)")
    'there is an argument too many: b.mps. One model is taken at a time'
    """
    beginning, _, rest = message.partition(" (")
    if beginning.startswith("Got unexpected extra argument"):
        return f"there is an argument too many: {rest.rstrip(').')}. One model is taken at a time"
    return message


def main() -> NoReturn:
    """Run the command line of this process."""
    survive_closed_pipes()
    _end_like_control_c()
    temporary = _own_temporary_folder()
    code = run(sys.argv[1:])
    flush_or_drop()
    _remove(temporary)
    # A solver may still be at work in the other thread after Ctrl-C: do not wait for it.
    if code == EXIT_INTERRUPTED or _terminated:
        os._exit(code)
    sys.exit(code)


def _own_temporary_folder() -> str | None:
    """Make one folder for all temporary files of this process.

    The thread that is left behind after Ctrl-C cannot tidy up any more: what it has made, and what it still makes, is
    removed from here.
    """
    try:
        tempfile.tempdir = tempfile.mkdtemp(prefix="relift-")
    except OSError:  # most commands need none; the others will say so
        return None
    return tempfile.tempdir


def _remove(folder: str | None) -> None:
    for _ in range(3):  # a thread may write into it meanwhile
        if folder is not None and os.path.isdir(folder):
            shutil.rmtree(folder, ignore_errors=True)
