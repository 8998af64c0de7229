"""The whole command line by Typer: help, completion, and what is wrong with a command line.

Command lines that are right in every word are read by :mod:`relift.cli.words`, without Typer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature
from typing import Annotated, Any

import typer

from relift import __version__
from relift.cli.words import COMMANDS, Argument, Command, Slot, command_function, slots_of

app = typer.Typer(
    name="relift",
    add_completion=True,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help=(
        "Find the symmetry of a linear, quadratic or conic program, solve the smaller equivalent program with any"
        " solver, and return the full solution with a check on the original program."
        "\n\n`relift MODEL` means `relift solve MODEL`."
    ),
    epilog=(
        "Exit codes: 0 solved, 2 wrong usage or unreadable file, 3 infeasible, 4 unbounded, 5 limit,"
        " 6 failure. --debug shows the traceback of a bug."
    ),
)


def _show_version(value: bool) -> None:
    if value:
        print(f"relift {__version__}")
        raise typer.Exit


@app.callback()
def _all(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    del version


def _declared(slot: Slot) -> Any:
    """What a parameter is declared as, in the words of Typer; who opens a file says whether it can be read."""
    declared = slot.declared
    if isinstance(declared, Argument):
        return typer.Argument(metavar=declared.metavar, help=declared.help, show_default=False, readable=False)
    return typer.Option(
        *declared.names,
        help=declared.help or None,
        metavar=declared.metavar,
        hidden=declared.hidden,
        min=declared.min,
        readable=False,
    )


def for_typer(command: Command) -> Callable[..., None]:
    """The same command with the declarations of Typer in its signature.

    Parameters
    ----------
    command
        Its parameters are annotated with :class:`~relift.cli.words.Option` and :class:`~relift.cli.words.Argument`.
    """
    annotations, parameters = dict[str, Any](), list[Parameter]()
    for slot in slots_of(command):
        annotation = annotations[slot.name] = Annotated[slot.annotation, _declared(slot)]
        kind = Parameter.KEYWORD_ONLY
        parameters.append(Parameter(slot.name, kind, default=slot.default, annotation=annotation))

    @wraps(command)
    def run(**words: Any) -> None:
        command(**words)

    del run.__wrapped__  # its annotations are not Typer's
    run.__annotations__ = annotations
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return run


for name in COMMANDS:
    app.command(name=name)(for_typer(command_function(name)))
