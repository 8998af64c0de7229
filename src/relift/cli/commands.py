"""The commands, in the order in which ``relift --help`` lists them; each stands in a file of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from relift import __version__
from relift.cli.check import check_command
from relift.cli.inspect_command import inspect_command
from relift.cli.installation import backends_command, info_command
from relift.cli.lift_and_expand import expand_command, lift_command
from relift.cli.models import fmt_command, ground_command, show_command
from relift.cli.report_command import report_command
from relift.cli.reproduce import reproduce_command
from relift.cli.solve import solve_command

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


for name, command in (
    ("solve", solve_command),
    ("lift", lift_command),
    ("expand", expand_command),
    ("check", check_command),
    ("inspect", inspect_command),
    ("report", report_command),
    ("ground", ground_command),
    ("fmt", fmt_command),
    ("show", show_command),
    ("reproduce", reproduce_command),
    ("backends", backends_command),
    ("info", info_command),
):
    app.command(name=name)(command)
