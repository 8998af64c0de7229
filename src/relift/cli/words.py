"""Options and arguments of commands as they are declared, and the reading of well-formed command lines.

Help, completion and what is wrong with a command line are the business of Typer
(:mod:`relift.cli.commands`), whose import takes longer than a small program needs to be solved. A command line that is
right in every word is read here; all others go there.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, Protocol, Union, cast, final, get_args, get_origin, get_type_hints

COMMANDS = {
    "solve": "relift.cli.solve",
    "lift": "relift.cli.lift_and_expand",
    "expand": "relift.cli.lift_and_expand",
    "check": "relift.cli.check",
    "inspect": "relift.cli.inspect_command",
    "report": "relift.cli.report_command",
    "ground": "relift.cli.models",
    "fmt": "relift.cli.models",
    "show": "relift.cli.models",
    "reproduce": "relift.cli.reproduce",
    "backends": "relift.cli.installation",
    "info": "relift.cli.installation",
}
"""The commands in the order in which ``relift --help`` lists them, with their modules; ``solve_command`` and so on."""

_PLAIN_NUMBER = re.compile(r"[0-9.eE+-]+")


class Command(Protocol):
    """A function whose parameters are annotated with their options."""

    __name__: str

    def __call__(self, **words: Any) -> None:
        """Run the command."""


def command_function(name: str) -> Command:
    """Import the function of a command."""
    return cast("Command", getattr(import_module(COMMANDS[name]), f"{name}_command"))


@final
class Option:
    """An option of a command, in the annotation of a parameter: ``Annotated[bool, Option("--json", help="...")]``.

    Parameters
    ----------
    *names
        How it is written.
    help
        What it does.
    metavar
        What stands for its value in the help.
    hidden
        Whether the help leaves it out.
    min
        The smallest number that it takes.
    """

    def __init__(
        self, *names: str, help: str = "", metavar: str | None = None, hidden: bool = False, min: int | None = None
    ) -> None:
        self.names, self.help, self.metavar, self.hidden, self.min = names, help, metavar, hidden, min


@final
class Argument:
    """A word without an option, in the annotation of a parameter.

    Parameters
    ----------
    metavar
        What stands for it in the help.
    help
        What it is.
    """

    def __init__(self, *, metavar: str, help: str) -> None:
        self.metavar, self.help = metavar, help


@final
class Slot:
    """A parameter of a command: its name, its type, what it is declared as, and its default.

    Parameters
    ----------
    parameter
        The parameter.
    annotation
        Its annotation, with what it is declared as.
    """

    def __init__(self, parameter: Parameter, annotation: object) -> None:
        kind, *declared = get_args(annotation)
        self.name, self.annotation, self.default = parameter.name, kind, parameter.default
        self.is_needed = parameter.default is Parameter.empty
        self.declared: Option | Argument = next(d for d in declared if isinstance(d, Option | Argument))
        if get_origin(kind) in (Union, types.UnionType):
            kind = next(each for each in get_args(kind) if each is not type(None))
        self.is_repeated = get_origin(kind) is list
        self.type: Callable[[str], object] = get_args(kind)[0] if self.is_repeated else kind

    @property
    def is_flag(self) -> bool:
        """Whether it has no value."""
        return self.type is bool


def slots_of(command: Command) -> Iterator[Slot]:
    """The parameters of a command."""
    hints = get_type_hints(command, include_extras=True)
    for parameter in signature(command).parameters.values():
        yield Slot(parameter, hints[parameter.name])


class NotPlainError(Exception):
    """A command line that is not read here."""


def values_from_words(command: Command, words: Sequence[str]) -> dict[str, object]:
    """Read the words behind the name of a command.

    Parameters
    ----------
    command
        The function of the command.
    words
        What follows its name.

    Returns
    -------
    dict[str, object]
        What to call it with.

    Raises
    ------
    NotPlainError
        If anything is wrong or out of the ordinary; the parser of Typer then says what, or does what was asked.
    """
    slots = list(slots_of(command))
    options = {name: slot for slot in slots if isinstance(slot.declared, Option) for name in slot.declared.names}
    found, free = dict[Slot, list[object]](), list[str]()
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            free.append(word)
            continue
        name, sign, value = word.partition("=") if word.startswith("--") else (word, "", "")
        slot = options.get(name)
        if slot is None or (slot.is_flag and sign):
            raise NotPlainError(word)
        if slot.is_flag:
            found[slot] = [True]
            continue
        if not sign:
            value = next(rest, "-")
            if value.startswith("-"):  # missing, or a value that looks like an option
                raise NotPlainError(word)
        found.setdefault(slot, []).append(_converted(slot, value))
    _place(free, [slot for slot in slots if isinstance(slot.declared, Argument)], found)
    if any(slot.is_needed and slot not in found for slot in slots):
        raise NotPlainError("something is missing")
    return {
        slot.name: (values if slot.is_repeated else values[-1]) if (values := found.get(slot)) else slot.default
        for slot in slots
    }


def _place(words: Sequence[str], slots: list[Slot], found: dict[Slot, list[object]]) -> None:
    """Give words without options to the arguments, in their order; a repeated one is the last and takes the rest."""
    places = [*slots, *slots[-1:] * (len(words) - len(slots))] if slots and slots[-1].is_repeated else list(slots)
    if len(words) > len(places):
        raise NotPlainError("too many words")
    for slot, word in zip(places, words, strict=False):
        found.setdefault(slot, []).append(_converted(slot, word))


def _converted(slot: Slot, value: str) -> object:
    kind: Any = slot.type
    if not value or not (isinstance(kind, type) and issubclass(kind, str | int | float | Path)):
        raise NotPlainError(value)
    if issubclass(kind, int | float) and not _PLAIN_NUMBER.fullmatch(value):
        raise NotPlainError(value)
    try:
        converted: Any = kind(value)
    except ValueError:
        raise NotPlainError(value) from None
    least = slot.declared.min if isinstance(slot.declared, Option) else None
    if least is not None and not converted >= least:
        raise NotPlainError(value)
    return converted


def plain_call(words: Sequence[str], environment: Mapping[str, str]) -> Callable[[], None] | None:
    """The call that a command line stands for; None if it is not plain.

    Parameters
    ----------
    words
        The command and what follows it.
    environment
        In which a shell may ask for the completion of the words.
    """
    if not words or words[0] not in COMMANDS or "_RELIFT_COMPLETE" in environment:
        return None
    command = command_function(words[0])
    try:
        values = values_from_words(command, words[1:])
    except NotPlainError:
        return None
    return lambda: command(**values)
