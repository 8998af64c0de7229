"""Options from a TOML file: ``--options FILE`` stands for what the file says, before the words that follow.

::

    lift = "counting"          # for every command that has the option
    time-limit = 60

    [command.solve]            # for this command only
    backend = "highs"
    vertex = true
    backend-option = ["presolve=off"]

Keys are the long names of options, with dashes or underscores. ``true`` gives a flag, ``false`` leaves it out, a list
repeats the option. What is typed on the command line comes later, and wins. A key outside the tables is passed over by
commands that do not have it; one that no command has is an error.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from relift.cli.words import Option, command_function, slots_of
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
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise FileFormatError(f"{path}: command.{name} is {table!r}.", f"Write a table: [command.{name}].")
    own = tables.get(command, {})
    words = [word for key, value in (document | own).items() for word in _option(path, key, value)]
    if command not in commands:
        return words  # the parser of the command line says what is wrong with it
    known = _options_of(command)
    for key in own:
        if _name(key) not in known:
            raise FileFormatError(f"{path}: relift {command} has no option {key!r}.", _nearest(key, known))
    for key in document:
        if _name(key) not in known and _name(key) not in (every := _options_of(*commands)):
            raise FileFormatError(f"{path}: no command has an option {key!r}.", _nearest(key, every))
    return [word for word in words if word.partition("=")[0] in known]


def _options_of(*commands: str) -> set[str]:
    """The long names of the options of commands."""
    declared = [slot.declared for command in commands for slot in slots_of(command_function(command))]
    names = (name for each in declared if isinstance(each, Option) for name in each.names)
    return {name for name in names if name.startswith("--")}


def _nearest(key: str, known: Collection[str]) -> str:
    found = get_close_matches(_name(key), known, 1)
    return f"Did you mean {found[0].removeprefix('--')!r}?" if found else ""


def _name(key: str) -> str:
    return f"--{key.replace('_', '-')}"


def _option(path: str, key: str, value: Any) -> list[str]:
    name = _name(key)
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
