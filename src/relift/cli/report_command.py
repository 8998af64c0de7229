"""``relift report``: one page of HTML that says what was merged, what was not and why, and how good the answer is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from relift.cli.options import (
    DigitsOption,
    LiftChoice,
    LiftOption,
    MaxBytesOption,
    ModelArgument,
    NoReduceOption,
    NoScaleRowsOption,
    NoSignsOption,
    NoSizesOption,
    QuietOption,
    RelaxOption,
    ToleranceOption,
    ValuesChoice,
    ValuesOption,
    check_output,
    lift_options,
)
from relift.cli.words import Option
from relift.cli.work import lift_model, prints_on_stderr, read_model, run_beside


def report_command(
    model: ModelArgument,
    output: Annotated[Path, Option("--output", "-o", help="Write the page here (.html).", metavar="FILE")] = Path(
        "report.html"
    ),
    lift: LiftOption = LiftChoice.equitable,
    values: ValuesOption = ValuesChoice.decimal,
    digits: DigitsOption = None,
    no_reduce: NoReduceOption = False,
    no_scale_rows: NoScaleRowsOption = False,
    no_sizes: NoSizesOption = False,
    no_signs: NoSignsOption = False,
    no_solve: Annotated[bool, Option("--no-solve", help="Only look for classes; do not solve.")] = False,
    backend: Annotated[str, Option("--backend", help="Solver; see `relift backends`.", metavar="NAME")] = "auto",
    tol: ToleranceOption = 1e-6,
    relax: RelaxOption = False,
    max_bytes: MaxBytesOption = None,
    quiet: QuietOption = False,
) -> None:
    """Write a page of HTML: what was merged, what was not and why, and how good the answer is."""
    from relift.pipeline import solve
    from relift.report.page import write_report

    check_output(output, (".html", ".htm"))
    program, _ = read_model(model, relax, quiet, max_bytes)
    lifting = lift_model(
        program, lift_options(lift, values, digits, no_reduce, no_scale_rows, no_sizes, no_signs), quiet
    )
    with prints_on_stderr():
        found = (
            lifting
            if no_solve
            else run_beside(lambda progress: solve(lifting, backend=backend, tolerance=tol, progress=progress), quiet)
        )
    command = f"relift report {model} -o {output}"
    run_beside(lambda _: write_report(found, output, title=model.name, command=command), quiet, "writing")
    if not quiet:
        print(f"report written to {output}")
