"""``relift lift`` writes the small model; ``relift expand`` carries its solution back to the original one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from relift.cli.check import verdict
from relift.cli.exit_codes import exit_code, leave
from relift.cli.options import (
    DigitsOption,
    JsonOption,
    LiftChoice,
    LiftOption,
    MaxBytesOption,
    ModelArgument,
    NoApproximateOption,
    NoReduceOption,
    NoScaleRowsOption,
    NoSignsOption,
    NoSizesOption,
    OutputOption,
    QuietOption,
    RelaxOption,
    StyleChoice,
    StyleOption,
    ToleranceOption,
    ValuesChoice,
    ValuesOption,
    check_not_read,
    check_output,
    check_style,
    lift_options,
    refuse_approximate,
    words_of,
)
from relift.cli.screen import show
from relift.cli.words import Argument, Option
from relift.cli.work import lift_model, print_json, read_model
from relift.errors import FileFormatError


def lift_command(
    model: ModelArgument,
    output: Annotated[
        Path | None,
        Option("--output", "-o", help="Write the small model (.mps, .lp, .npz, .gz).", metavar="FILE"),
    ] = None,
    map_file: Annotated[
        Path | None,
        Option(
            "--map", help="Write the mapping between original and small variables and rows as JSON.", metavar="FILE"
        ),
    ] = None,
    lift: LiftOption = LiftChoice.equitable,
    values: ValuesOption = ValuesChoice.decimal,
    digits: DigitsOption = None,
    no_reduce: NoReduceOption = False,
    no_scale_rows: NoScaleRowsOption = False,
    no_sizes: NoSizesOption = False,
    no_signs: NoSignsOption = False,
    relax: RelaxOption = False,
    max_bytes: MaxBytesOption = None,
    approximate: NoApproximateOption = None,
    threads: Annotated[int | None, Option("--threads", help="Threads of relift.", metavar="N")] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write the small model, a minimisation, to solve it elsewhere; `expand` takes its solution back."""
    from relift.formats.lifting_map import named_small_program, write_lifting_map
    from relift.formats.program_files import SUFFIXES, write_program
    from relift.formats.solutions import sizes_of
    from relift.settings import check_positive

    refuse_approximate("lift", approximate)
    check_positive("threads", threads)
    if output is not None:
        check_output(output, SUFFIXES)
    if map_file is not None:
        check_output(map_file, (".json",))
    check_not_read({"--output": output, "--map": map_file}, [model])
    program, read_seconds = read_model(model, relax, quiet, max_bytes)
    words = lift_options(lift, values, digits, no_reduce, no_scale_rows, no_sizes, no_signs)
    lifting = lift_model(program, words, quiet, threads)
    notes = list(lifting.notes)
    if output is not None:
        notes += write_program(named_small_program(lifting), output)
    if map_file is not None:
        write_lifting_map(lifting, map_file, model, relax)
    timings = {"read": read_seconds, **lifting.timings}
    if as_json:
        print_json(
            {
                "format": "relift-lift",
                "version": 1,
                "sizes": {"ground": sizes_of(program), "lifted": sizes_of(lifting.small)},
                "timings": timings,
                "notes": notes,
            }
        )
    elif not quiet:
        from relift.report.summary import sizes_table, times_table

        show(sizes_table(program, lifting), "", times_table(timings), "")
        for path, what in ((output, "small model"), (map_file, "map")):
            if path is not None:
                print(f"{what} written to {path}")
        show(*(f"note: {note}" for note in notes))


def expand_command(
    model: Annotated[
        Path,
        Argument(metavar="MAP", help="What `relift lift --map` wrote; or the model itself."),
    ],
    small_solution: Annotated[
        Path,
        Argument(
            metavar="SMALL_SOLUTION",
            help="Solution of the small model: .json, .txt, or .sol of HiGHS or Gurobi.",
        ),
    ],
    output: OutputOption = None,
    solution_style: StyleOption = StyleChoice.relift,
    lift: LiftOption = LiftChoice.equitable,
    values: ValuesOption = ValuesChoice.decimal,
    digits: DigitsOption = None,
    no_reduce: NoReduceOption = False,
    no_scale_rows: NoScaleRowsOption = False,
    no_sizes: NoSizesOption = False,
    no_signs: NoSignsOption = False,
    tol: ToleranceOption = 1e-6,
    relax: RelaxOption = False,
    max_bytes: MaxBytesOption = None,
    approximate: NoApproximateOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Expand a solution of the small model to the full model, and check it there.

    With the map, the model and the options of lifting are known; with the model, give the same options as to
    `relift lift`.
    """
    from dataclasses import replace

    from relift.formats.lifting_map import read_lifting_map, read_small_solution
    from relift.formats.solutions import json_from_result, write_solution
    from relift.lifting.certificate import certify
    from relift.program.solution import Status
    from relift.result import Result

    refuse_approximate("expand", approximate)
    check_style(solution_style, output)
    if output is not None:
        check_output(output, (".json", ".txt", ".sol"))
    check_not_read({"--output": output}, [model, small_solution])
    words = lift_options(lift, values, digits, no_reduce, no_scale_rows, no_sizes, no_signs)
    lifting_map = read_lifting_map(model) if model.suffix.lower() == ".json" else None
    if lifting_map is not None:
        if lifting_map.model is None:
            raise FileFormatError(f"{model} does not say which model it belongs to.", "Give the model instead.")
        words = words_of(lifting_map.settings)
        program, read_seconds = read_model(lifting_map.model, lifting_map.relax_integers, quiet, max_bytes)
    else:
        program, read_seconds = read_model(model, relax, quiet, max_bytes)
    lifting = lift_model(program, words, quiet)
    if lifting_map is not None:
        lifting_map.check(lifting, str(model))
    expanded = lifting.expand(read_small_solution(small_solution, lifting))
    certificate = certify(program, expanded, tol)
    if expanded.x is not None and expanded.status not in {Status.INFEASIBLE, Status.UNBOUNDED}:
        status = Status.OPTIMAL if certificate.is_optimal else Status.OPTIMAL_INACCURATE
        expanded = replace(expanded, status=status, objective=program.objective(expanded.x))
    elif not verdict(expanded, certificate)[0]:
        expanded = replace(expanded, status=Status.FAILURE, message="the ray in the file proves nothing")
    result = Result(program, expanded, certificate, lifting, dict(lifting.timings))
    timings = {"read": read_seconds}
    if output is not None:
        write_solution(result, output, timings, solution_style.value)
    if as_json:
        print_json(json_from_result(result, timings=timings))
    elif not quiet:
        from relift.report.summary import summary

        show(summary(result, timings))
    leave(exit_code(result.status))
