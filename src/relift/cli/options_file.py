"""Options from a TOML file: ``--options FILE`` stands for what the file says, before the words that follow.

::

    lift = "counting"          # for every command that has the option
    time-limit = 60

    [command.solve]            # for this command only
    backend = "highs"
    vertex = true
    backend-option = ["presolve=off"]

Keys are the long names of options, with dashes or underscores. ``true`` gives a flag, ``false`` leaves it out, a list
repeats the option. What is typed on the command line comes later, and wins.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from relift.errors import FileFormatError, OptionError


def with_options_files(words: Sequence[str], commands: Collection[str]) -> list[str]:
    """Replace ``--options FILE`` by the options in the file.

    Parameters
    ----------
    words
        The words of a command line; the first is the command.
    commands
        All commands, which can have tables in the file.

    Raises
    ------
    OptionError
        If the name of the file is missing.
    FileFormatError
        If the file is not TOML, or holds something that no option can be.

    Examples
    --------
    >>> with_options_files(["solve", "model.mps"], ["solve"])
    ['solve', 'model.mps']
    """
    rest, files = list[str](), list[str]()
    given = iter(words)
    for word in given:
        name, sign, value = word.partition("=")
        if name != "--options":
            rest.append(word)
            continue
        path = value if sign else next(given, None)
        if not path:
            raise OptionError("--options has no file.", "Write --options FILE.toml.")
        files.append(path)
    if not files:
        return rest
    command, *others = rest or [""]
    return [command, *(word for path in files for word in _words_in(path, command, commands)), *others]


def _words_in(path: str, command: str, commands: Collection[str]) -> list[str]:
    import tomllib

    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{path} is not a TOML file: {error}.") from None
    tables = document.pop("command", {})
    for name in tables if isinstance(tables, dict) else [tables]:
        if name not in commands:
            raise FileFormatError(f"{path}: {name!r} is not a command.", f"Expected one of: {', '.join(commands)}.")
    chosen = document | tables.get(command, {})
    return [word for key, value in chosen.items() for word in _option(path, key, value)]


def _option(path: str, key: str, value: Any) -> list[str]:
    name = f"--{key.replace('_', '-')}"
    match value:
        case bool():
            return [name] if value else []
        case int() | float() | str():
            return [f"{name}={value}"]
        case list() if all(isinstance(each, int | float | str) and not isinstance(each, bool) for each in value):
            return [f"{name}={each}" for each in value]
    raise FileFormatError(
        f"{path}: {key} is {value!r}.",
        "An option is a number, a string, true, false or a list; options of one command stand in [command.NAME].",
    )
