"""``relift-highs``: called as the executable ``highs`` is, for tools that start a solver as a program.

``relift-highs model.mps --solution_file x.sol`` reads the model with HiGHS's own reader, solves it through relift and
writes HiGHS's files. Every option of HiGHS is taken, on the command line or in an ``--options_file``; those of relift
come beside them. The last lines of the log are those that tools look for: ``Model status`` and ``Objective value``.

Exit codes are HiGHS's: 0 when it ran to the end (also for infeasible and unbounded models), 1 when a limit stopped it
or no answer passed its check, 255 for a wrong option or a file that cannot be read or written.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, final

from relift.cli.closed_pipes import flush_or_drop, survive_closed_pipes
from relift.errors import FileFormatError, OptionError, ReliftError, UnsupportedError
from relift.redaction import redacted

if TYPE_CHECKING:
    from highspy import Highs

    from relift.bridges.highs.solve import Outcome

EXIT_WARNING, EXIT_ERROR, EXIT_INTERRUPTED = 1, 255, 130

USAGE = """\
usage: relift-highs [options] MODEL

Solve a linear or convex quadratic model through relift, called as HiGHS is.

  MODEL                       an .mps, .lp (also .gz) or other file that HiGHS reads; also --model_file FILE
  --solution_file FILE        write the solution as HiGHS does (--write_solution_style 0: raw, 1: table)
  --options_file FILE         lines of the form name = value
  --time_limit SECONDS        and every other option of HiGHS, as --name value or --name=value
  --write_basis_file FILE     write the basis of a vertex; --write_model_file FILE: the model

Options of relift:
  --integers refuse|pass      integer models: an error, or a run of HiGHS on the whole model, without lifting
  --lift METHOD               equitable, counting, orbits or none
  --backend NAME              the solver of the small model; see `relift backends`
  --digits K, --values decimal|bits, --tolerance TOL, --vertex true|false

  --version, --help
"""

_OWN_TYPES = {"lift": str, "backend": str, "values": str, "digits": int, "tolerance": float}
_UNUSED = ("read_solution_file", "read_basis_file", "write_presolved_model_file", "write_iis_model_file")


@final
@dataclass
class Words:
    """What a command line asks for.

    Parameters
    ----------
    model
        The file.
    options
        Options of HiGHS by name, as text.
    own
        Keywords of :func:`relift.highs.solve`.
    """

    model: str = ""
    options: dict[str, str] = field(default_factory=dict)
    own: dict[str, Any] = field(default_factory=dict)


def words_of(given: Sequence[str]) -> Words:
    """Read the words of a command line, and the options file that they name.

    Parameters
    ----------
    given
        The arguments after ``relift-highs``.

    Raises
    ------
    OptionError
        If a value is missing or wrong, or there is no model or more than one.

    Examples
    --------
    >>> words_of(["m.mps", "--presolve=off", "--time_limit", "5", "--lift", "none"])
    Words(model='m.mps', options={'presolve': 'off', 'time_limit': '5'}, own={'lift': 'none'})
    """
    words, pairs, rest = Words(), list[tuple[str, str]](), list(given)
    while rest:
        word = rest.pop(0)
        if word.startswith("-") and not word.startswith("--"):
            raise OptionError(f"{word!r} is not an option.", "Options are written --name VALUE or --name=VALUE.")
        if not word.startswith("--"):
            pairs.append(("model_file", word))
            continue
        name, sign, value = word[2:].partition("=")
        if not sign:
            if not rest:
                raise OptionError(f"--{name} has no value.", f"Write --{name} VALUE or --{name}=VALUE.")
            value = rest.pop(0)
        pairs.append((name.replace("-", "_"), value))
    files = [value for name, value in pairs if name == "options_file"]
    for name, value in [*(pair for path in files for pair in _pairs_in_file(path)), *pairs]:
        if name != "options_file":
            _take(words, name, value)
    if not words.model:
        raise OptionError("the model is missing.", "Write: relift-highs MODEL [--solution_file FILE].")
    return words


def _pairs_in_file(path: str) -> list[tuple[str, str]]:
    pairs = []
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise FileFormatError(f"{path} is not UTF-8 text.", "Save it as UTF-8.") from None
    for number, line in enumerate(lines, start=1):
        text = line.partition("#")[0].strip()
        if text:
            name, sign, value = text.partition("=")
            if not sign:
                raise OptionError(f"{path}, line {number}: {text[:60]!r} is not of the form name = value.")
            pairs.append((name.strip(), value.strip().strip("\"'")))
    return pairs


def _take(words: Words, name: str, value: str) -> None:
    if name == "model_file":
        if words.model and words.model != value:
            raise OptionError(f"two models are given, {words.model!r} and {value!r}.", "Give one.")
        words.model = value
    elif name in _OWN_TYPES:
        try:
            words.own[name] = _OWN_TYPES[name](value)
        except ValueError:
            raise OptionError(f"--{name} {value!r} is not a number.") from None
    elif name == "vertex":
        words.own[name] = _truth(name, value)
    elif name == "integers":
        words.own[name] = value
    else:
        words.options[name] = value
        if name == "solution_file":
            words.options.setdefault("write_solution_to_file", "true")


def _truth(name: str, value: str) -> bool:
    meanings = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}
    if value.lower() not in meanings:
        raise OptionError(f"--{name} {value!r} is neither true nor false.")
    return meanings[value.lower()]


def run(given: Sequence[str]) -> int:
    """Run a command line and return its exit code.

    Parameters
    ----------
    given
        The arguments after ``relift-highs``.
    """
    import highspy

    from relift.bridges.highs import solve
    from relift.bridges.highs.files import check_files
    from relift.bridges.highs.options import option
    from relift.cli.options import check_not_read

    words, start = words_of(given), perf_counter()
    highs = highspy.Highs()
    _set_options(highs, words)
    check_files(highs)
    names = ("solution_file", "write_basis_file", "write_model_file", "log_file")
    files = {f"--{name}": str(option(highs, name)) for name in names}
    check_not_read({name: Path(path) if path else None for name, path in files.items()}, [Path(words.model)])
    _read(highs, words.model)
    # The log of the solver of the small model would read as that of this one.
    try:
        outcome = solve(highs, **{"verbose": False, **words.own})
    except UnsupportedError as error:
        raise UnsupportedError(error.message, error.hint.replace('integers="pass"', "--integers pass")) from None
    if outcome.result is None:
        _write_files_of_highs(highs)
    _tell(highs, outcome, perf_counter() - start)
    ended = outcome.status in {"optimal", "infeasible", "unbounded", "optimal_within_gap"}
    return 0 if ended else EXIT_WARNING


def _set_options(highs: Highs, words: Words) -> None:
    import highspy

    from relift.bridges.highs.options import is_option, unknown_to_both

    for name, value in words.options.items():
        if not is_option(highs, name):
            raise unknown_to_both(name)
        if highs.setOptionValue(name, value) == highspy.HighsStatus.kError:
            raise OptionError(f"HiGHS does not take {name} = {value!r}.")
        if name in _UNUSED and value:
            print(f"relift-highs: note: {name} is not used.", file=sys.stderr)


def _read(highs: Highs, path: str) -> None:
    import highspy

    Path(path).open("rb").close()  # the operating system says best why a file cannot be read
    if highs.readModel(path) == highspy.HighsStatus.kError:
        raise FileFormatError(f"HiGHS cannot read {path} as a model.", _second_opinion(path))


def _second_opinion(path: str) -> str:
    """What relift's own reader says of a file that HiGHS does not read: it names the line, and takes more."""
    from relift.formats.program_files import read_program

    try:
        read_program(path)
    except ReliftError as error:
        return f"relift's reader says: {error}"
    return f"relift's reader takes it: relift solve {path}."


def _write_files_of_highs(highs: Highs) -> None:
    """Write those of a run of HiGHS itself, which some versions of it leave to the caller."""
    from relift.bridges.highs.files import wants_solution
    from relift.bridges.highs.options import option

    if path := option(highs, "write_basis_file"):
        highs.writeBasis(path)
    if wants_solution(highs):
        highs.writeSolution(option(highs, "solution_file"), int(option(highs, "write_solution_style")))


def _tell(highs: Highs, outcome: Outcome, seconds: float) -> None:
    """End the log as HiGHS does; its own run has done that for a model that was not lifted."""
    from relift.bridges.highs.options import option

    if outcome.result is None:
        return
    lines = [
        f"Model status        : {highs.modelStatusToString(highs.getModelStatus())}",
        f"Objective value     : {highs.getObjectiveValue():17.10e}",
        f"Certificate         : {outcome.result.certificate}",
        f"relift run time     : {seconds:13.2f}",
    ]
    if outcome.reason:
        lines.append(f"relift              : {outcome.reason}")
    text = "\n".join(lines) + "\n"
    if option(highs, "output_flag") and option(highs, "log_to_console"):
        print(text, end="", flush=True)
    if path := option(highs, "log_file"):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)


def main() -> None:
    """Run the command line of this process."""
    survive_closed_pipes()
    given = sys.argv[1:]
    if not given or not {"--help", "-h"}.isdisjoint(given):
        print(USAGE, end="")
        sys.exit(0 if given else EXIT_ERROR)
    if given[0] in {"--version", "-v"}:
        _print_version()
        sys.exit(0)
    try:
        code = run(given)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = _say("interrupted.", EXIT_INTERRUPTED)
    except ReliftError as error:
        code = _say(str(error), EXIT_ERROR)
    except OSError as error:
        code = _say(f"{error.filename or 'output'}: {error.strerror or error}.", EXIT_ERROR)
    except MemoryError:
        code = _say("there is not enough memory for this model.", EXIT_ERROR)
    except Exception as error:  # noqa: BLE001 - the last resort: a sentence, no traceback
        what = f"something unexpected went wrong ({type(error).__name__}: {error})."
        code = _say(f"{what} This is a bug in relift: please report it.", EXIT_ERROR)
    flush_or_drop()
    sys.exit(code)


def _print_version() -> None:
    import highspy

    from relift import __version__

    print(f"relift {__version__}, with HiGHS {highspy.Highs().version()}")


def _say(message: str, code: int) -> int:
    print(f"relift-highs: {redacted(' '.join(message.split()))}", file=sys.stderr, flush=True)
    return code
