"""The commands: each reads its files, does its work beside the main thread, and prints a table or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relift import __version__
from relift.cli import models, psl
from relift.cli.lift_in_engine import (
    DatabaseOption,
    EngineWords,
    LiftInEngineOption,
    MemoryLimitOption,
    ResumeOption,
    SpillLimitOption,
    VerifyOption,
    solve_in_engine,
)
from relift.cli.models import (
    DataOption,
    EngineOption,
    HeaderOption,
    LimitOption,
    ModelWords,
    ParamOption,
    SchemaOption,
)
from relift.cli.options import (
    DigitsOption,
    JsonOption,
    LiftChoice,
    LiftOption,
    MaxBytesOption,
    ModelArgument,
    NoReduceOption,
    NoScaleRowsOption,
    OutputOption,
    QuietOption,
    RelaxOption,
    StyleChoice,
    StyleOption,
    ToleranceOption,
    ValuesChoice,
    ValuesOption,
    backend_options,
    check_output,
    check_style,
    lift_words,
    words_of,
)
from relift.cli.reproduce import reproduce_command
from relift.cli.run import EXIT_FAILURE, EXIT_INFEASIBLE, EXIT_LIMIT, EXIT_UNBOUNDED
from relift.cli.work import console, lift_model, print_json, prints_on_stderr, read_model, run_beside
from relift.errors import FileFormatError, OptionError

if TYPE_CHECKING:
    from relift.json_types import JsonObject
    from relift.lifting.certificate import Certificate
    from relift.pipeline import SolveOptions
    from relift.program.program import Program
    from relift.program.solution import Solution, Status
    from relift.report.summary import Comparison

app = typer.Typer(
    name="relift",
    add_completion=True,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help=(
        "Find the symmetry of a linear or convex quadratic program, solve the small quotient with any"
        " solver, and return the full answer with a certificate.\n\n`relift MODEL` means `relift solve MODEL`."
    ),
    epilog=(
        "Exit codes: 0 solved, 2 wrong usage or unreadable file, 3 infeasible, 4 unbounded, 5 limit,"
        " 6 failure. --debug shows the traceback of a fault."
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


@app.command(name="solve")
def solve_command(
    model: ModelArgument,
    output: OutputOption = None,
    solution_style: StyleOption = StyleChoice.relift,
    data: DataOption = None,
    param: ParamOption = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write tables of values and duals, and solution.json (.rlp, PSL).", metavar="DIR"),
    ] = None,
    limit: LimitOption = None,
    engine: EngineOption = None,
    schema: SchemaOption = None,
    header: HeaderOption = None,
    lift_in_engine: LiftInEngineOption = False,
    memory_limit: MemoryLimitOption = None,
    spill_limit: SpillLimitOption = None,
    database: DatabaseOption = None,
    resume: ResumeOption = False,
    verify: VerifyOption = "exact",
    lift: LiftOption = LiftChoice.equitable,
    values: ValuesOption = ValuesChoice.decimal,
    digits: DigitsOption = None,
    no_reduce: NoReduceOption = False,
    no_scale_rows: NoScaleRowsOption = False,
    backend: Annotated[str, typer.Option("--backend", help="Solver; see `relift backends`.", metavar="NAME")] = "auto",
    backend_option: Annotated[
        list[str] | None,
        typer.Option("--backend-option", help="Handed to the solver; repeatable.", metavar="KEY=VALUE"),
    ] = None,
    tol: ToleranceOption = 1e-6,
    time_limit: Annotated[
        float | None,
        typer.Option("--time-limit", help="Seconds for everything but reading.", metavar="SECONDS"),
    ] = None,
    iteration_limit: Annotated[
        int | None, typer.Option("--iteration-limit", help="Iterations of the solver.", metavar="N")
    ] = None,
    threads: Annotated[int | None, typer.Option("--threads", help="Threads of the solver.", metavar="N")] = None,
    vertex: Annotated[bool, typer.Option("--vertex", help="Move the point of an LP to a vertex.")] = False,
    approximate: Annotated[
        float | None,
        typer.Option("--approximate", help="Merge what is nearly alike, to a proved relative gap.", metavar="GAP"),
    ] = None,
    relax: RelaxOption = False,
    max_bytes: MaxBytesOption = None,
    compare: Annotated[bool, typer.Option("--compare", help="Also solve without lifting, and compare.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Let the solver print its log.")] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Solve a model and print sizes, times and the certificate."""
    from relift.formats.solutions import json_from_result, write_solution
    from relift.settings import SolverSettings

    words: SolveOptions = {
        "backend": backend,
        "tolerance": tol,
        "time_limit": time_limit,
        "iteration_limit": iteration_limit,
        "threads": threads,
        "backend_options": backend_options(backend_option),
        "vertex": vertex,
    }
    check_style(solution_style, output)
    SolverSettings(tol, time_limit, iteration_limit, threads)  # wrong options are told before a large file is read
    if output is not None:
        check_output(output, (".json", ".txt", ".sol"))
    how = lift_words(lift, values, digits, no_reduce, no_scale_rows)
    in_engine = EngineWords(lift_in_engine, memory_limit, spill_limit, database, resume, verify)
    if models.is_relational(model):
        if relax or compare or approximate is not None:
            raise OptionError(
                "--relax, --compare and --approximate are for files of numbers.", "Use `relift ground` first."
            )
        words = {**words, **how, "verbose": verbose}
        given = ModelWords(model, data, param or (), limit, engine, schema, header or ())
        if in_engine.is_wanted:
            with solve_in_engine(given, in_engine, words, output, out, as_json, quiet) as answer:
                status = answer.status
            _leave(_exit_code(status))
            return
        _solve_model(given, words, output, solution_style, out, as_json, quiet)
        return
    if lift_in_engine:
        raise OptionError(f"--lift-in-engine is for .rlp models, and {model.name} is none.", "Leave it out.")
    models.refuse_for_programs(
        model, data=data, param=param, out=out, limit=limit, engine=engine, schema=schema, header=header
    )
    with prints_on_stderr():
        program, read_seconds = read_model(model, relax, quiet, max_bytes)
        from relift.pipeline import solve

        if compare:
            _warm_up(program, backend)
        options: SolveOptions = {**words, **how, "verbose": verbose, "approximate": approximate}
        result = run_beside(lambda progress: solve(program, progress=progress, **options), quiet)
        if any("interrupted" in attempt.message.lower() for attempt in result.attempts):
            raise KeyboardInterrupt  # some solvers catch Ctrl-C themselves and only tell
        comparison = None
        if compare:
            comparison = _compared(program, words, sum(result.timings.values()), quiet)
    timings = {"read": read_seconds}
    if output is not None:
        write_solution(result, output, timings, solution_style.value)
    if as_json:
        document = json_from_result(result, timings=timings)
        if comparison is not None:
            document["comparison"] = _comparison_for_json(comparison)
        print_json(document)
    elif not quiet:
        from relift.report.summary import summary

        console().print(summary(result, timings, comparison))
        if output is not None:
            console().print(f"solution written to {output}", soft_wrap=True)  # a broken path is no path
    _leave(_exit_code(result.status))


def _solve_model(
    words: ModelWords,
    options: SolveOptions,
    output: Path | None,
    style: StyleChoice,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    from relift.formats.model_results import json_from_model_result, write_model_result
    from relift.formats.solutions import write_solution

    if out is not None and out.exists() and not out.is_dir():
        raise NotADirectoryError(20, "it is a file, not a folder", str(out))
    with prints_on_stderr():
        answer = models.solve_words(words, quiet or as_json, options)
    project = psl.project_at(words.model, words.data) if psl.is_psl(words.model) else None
    if output is not None:
        write_solution(answer.result, output, {"ground": answer.seconds}, style.value)
    if out is not None and project is not None:
        psl.write_inferred(project, answer, out)
    elif out is not None:
        write_model_result(answer, out)
    if as_json:
        document = json_from_model_result(answer)
        if project is not None:
            document["evaluations"] = psl.evaluations_for_json(project, answer)
        print_json(document)
    elif not quiet:
        models.print_answer(answer)
        if project is not None:
            psl.print_evaluations(project, answer)
        for path in (output, out):
            if path is not None:
                print(f"written to {path}")
    _leave(_exit_code(answer.status))


def _warm_up(program: Program, backend: str) -> None:
    """Load the solver before two solves are compared, so that the first one does not pay for it."""
    from relift.pipeline import solve
    from relift.program.program import Program

    solve(Program(None if program.is_linear else [[1.0]], [1.0], lb=0), backend=backend)


def _compared(program: Program, words: SolveOptions, lifted_seconds: float, quiet: bool) -> Comparison:
    from relift.pipeline import solve
    from relift.report.summary import Comparison

    options: SolveOptions = {**words, "lift": "none", "reduce": False}
    ground = run_beside(lambda progress: solve(program, progress=progress, **options), quiet)
    return Comparison(ground.status, ground.objective, sum(ground.timings.values()), lifted_seconds)


def _comparison_for_json(comparison: Comparison) -> JsonObject:
    from relift.formats.solutions import number_for_json

    return {
        "status": str(comparison.status),
        "objective": number_for_json(comparison.objective),
        "ground_seconds": comparison.ground_seconds,
        "lifted_seconds": comparison.lifted_seconds,
        "speed_up": number_for_json(comparison.speed_up),
    }


@app.command(name="lift")
def lift_command(
    model: ModelArgument,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the small model (.mps, .lp, .npz, .gz).", metavar="FILE"),
    ] = None,
    map_file: Annotated[
        Path | None,
        typer.Option("--map", help="Write how both models hang together, as JSON.", metavar="FILE"),
    ] = None,
    lift: LiftOption = LiftChoice.equitable,
    values: ValuesOption = ValuesChoice.decimal,
    digits: DigitsOption = None,
    no_reduce: NoReduceOption = False,
    no_scale_rows: NoScaleRowsOption = False,
    relax: RelaxOption = False,
    max_bytes: MaxBytesOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write the small model, a minimisation, to solve it elsewhere; `expand` takes its solution back."""
    from relift.formats.lifting_map import named_small_program, write_lifting_map
    from relift.formats.program_files import SUFFIXES, write_program
    from relift.formats.solutions import sizes_of

    if output is not None:
        check_output(output, SUFFIXES)
    program, read_seconds = read_model(model, relax, quiet, max_bytes)
    lifting = lift_model(program, lift_words(lift, values, digits, no_reduce, no_scale_rows), quiet)
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

        screen = console()
        screen.print(sizes_table(program, lifting), "", times_table(timings), "", sep="\n")
        for path, what in ((output, "small model"), (map_file, "map")):
            if path is not None:
                screen.print(f"{what} written to {path}", soft_wrap=True)
        for note in notes:
            screen.print(f"note: {note}")


@app.command(name="expand")
def expand_command(
    model: Annotated[
        Path,
        typer.Argument(metavar="MAP", help="What `relift lift --map` wrote; or the model itself.", show_default=False),
    ],
    small_solution: Annotated[
        Path,
        typer.Argument(
            metavar="SMALL_SOLUTION",
            help="Solution of the small model: .json, .txt, or .sol of HiGHS or Gurobi.",
            show_default=False,
        ),
    ],
    output: OutputOption = None,
    solution_style: StyleOption = StyleChoice.relift,
    lift: LiftOption = LiftChoice.equitable,
    values: ValuesOption = ValuesChoice.decimal,
    digits: DigitsOption = None,
    no_reduce: NoReduceOption = False,
    no_scale_rows: NoScaleRowsOption = False,
    tol: ToleranceOption = 1e-6,
    relax: RelaxOption = False,
    max_bytes: MaxBytesOption = None,
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

    check_style(solution_style, output)
    if output is not None:
        check_output(output, (".json", ".txt", ".sol"))
    words = lift_words(lift, values, digits, no_reduce, no_scale_rows)
    lifting_map = read_lifting_map(model) if model.suffix.lower() == ".json" else None
    if lifting_map is not None:
        if lifting_map.model is None:
            raise FileFormatError(f"{model} does not tell which model it belongs to.", "Give the model instead.")
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
    elif not _verdict(expanded, certificate)[0]:
        expanded = replace(expanded, status=Status.FAILURE, message="the ray in the file proves nothing")
    result = Result(program, expanded, certificate, lifting, dict(lifting.timings))
    timings = {"read": read_seconds}
    if output is not None:
        write_solution(result, output, timings, solution_style.value)
    if as_json:
        print_json(json_from_result(result, timings=timings))
    elif not quiet:
        from relift.report.summary import summary

        console().print(summary(result, timings))
    _leave(_exit_code(result.status))


@app.command(name="check")
def check_command(
    model: ModelArgument,
    solution: Annotated[
        Path | None,
        typer.Argument(
            metavar="SOLUTION", help="What `relift solve -o` wrote: .json, .txt or .sol.", show_default=False
        ),
    ] = None,
    data: DataOption = None,
    param: ParamOption = None,
    engine: EngineOption = None,
    schema: SchemaOption = None,
    header: HeaderOption = None,
    tol: ToleranceOption = 1e-6,
    relax: RelaxOption = False,
    max_bytes: MaxBytesOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Recompute the residuals of a solution; or check a .rlp model (with --data its tables too).

    Exit code 0 only if all is right.
    """
    if models.is_relational(model):
        if solution is not None:
            raise OptionError(
                "a .rlp model is checked by itself.", "Write it with `relift ground` to check a solution."
            )
        words = ModelWords(model, data, param or (), engine=engine, schema=schema, header=header or ())
        models.check_model_command(words, as_json, quiet)
        return
    models.refuse_for_programs(model, data=data, param=param, engine=engine, schema=schema, header=header)
    if solution is None:
        raise OptionError("the solution to check is missing.", "Write: relift check MODEL SOLUTION.")
    from relift.formats.solutions import (
        certificate_for_json,
        number_for_json,
        read_solution,
        with_bound_multipliers,
    )
    from relift.lifting.certificate import certify
    from relift.settings import SolverSettings

    SolverSettings(tol)
    program, _ = read_model(model, relax, quiet, max_bytes)
    answer = with_bound_multipliers(program, read_solution(solution, program))
    certificate = certify(program, answer, tol)
    passed, what = _verdict(answer, certificate)
    if as_json:
        print_json(
            {
                "format": "relift-check",
                "version": 1,
                "status": str(answer.status),
                "passed": passed,
                "objective": number_for_json(certificate.objective),
                "certificate": certificate_for_json(certificate),
                "message": what,
            }
        )
    elif not quiet:
        from relift.report.summary import certificate_line

        console().print(certificate_line(certificate, answer.status))
        console().print(what)
    _leave(0 if passed else EXIT_FAILURE)


def _verdict(answer: Solution, certificate: Certificate) -> tuple[bool, str]:
    from relift.program.solution import Status

    if answer.status == Status.INFEASIBLE:
        passed = certificate.is_proved
        return (
            passed,
            "the model is infeasible: the ray proves it" if passed else "the ray does not prove infeasibility",
        )
    if answer.status == Status.UNBOUNDED:
        passed = certificate.is_proved and certificate.is_feasible
        return passed, (
            "the model is unbounded: point and ray prove it" if passed else "point and ray do not prove unboundedness"
        )
    if certificate.is_optimal:
        return True, f"optimal within the tolerance, objective {certificate.objective:.10g}"
    if not certificate.is_feasible:
        return False, "the point breaks rows or bounds"
    if answer.y is None or answer.w is None:
        return False, "the point is feasible; optimality needs multipliers, and the file has none"
    return False, "the point is feasible, but the multipliers do not prove it optimal"


@app.command(name="inspect")
def inspect_command(
    model: ModelArgument,
    values: ValuesOption = ValuesChoice.decimal,
    digits: DigitsOption = None,
    no_reduce: NoReduceOption = False,
    no_scale_rows: NoScaleRowsOption = False,
    relax: RelaxOption = False,
    max_bytes: MaxBytesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show sizes, ranges of numbers, classes by each method, and the largest classes of a model."""
    from relift.cli.inspection import inspection, show_inspection

    program, read_seconds = read_model(model, relax, as_json, max_bytes)
    document = inspection(program, values, digits, no_reduce, no_scale_rows, as_json)
    document["timings"]["read"] = read_seconds
    if as_json:
        print_json(document)
    else:
        show_inspection(console(), program, document)


app.command(name="ground")(models.ground_command)
app.command(name="fmt")(models.fmt_command)
app.command(name="show")(models.show_command)
app.command(name="reproduce")(reproduce_command)


@app.command(name="backends")
def backends_command(as_json: JsonOption = False) -> None:
    """List the solvers, their versions, and how to install those that are missing."""
    from relift.solvers.registry import backend_table

    lines = backend_table()
    if as_json:
        print_json(
            {
                "format": "relift-backends",
                "version": 1,
                "backends": [
                    {
                        "name": line.name,
                        "installed": line.is_installed,
                        "solver_version": line.version,
                        "description": line.description,
                        "install": line.install,
                    }
                    for line in lines
                ],
            }
        )
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("backend", "version", "what it is"):
        table.add_column(heading, header_style="cyan", no_wrap=heading != "what it is", overflow="fold")
    for line in lines:
        what = line.description if line.is_installed else f"{line.description}; to install: {line.install}"
        table.add_row(Text(line.name), line.version or "-", Text(what))
    console().print(table)


@app.command(name="info")
def info_command(as_json: JsonOption = False) -> None:
    """Show versions, whether the compiled core is in use, and which optional packages are there."""
    import platform
    from importlib import metadata, util

    def version(package: str) -> str:
        try:
            return metadata.version(package)
        except metadata.PackageNotFoundError:
            return ""

    needed = ("numpy", "scipy", "highspy", "clarabel", "lark", "duckdb", "sqlglot")
    optional = (
        "osqp",
        "piqp",
        "scs",
        "qpsolvers",
        "cvxpy",
        "networkx",
        "igraph",
        "pandas",
        "polars",
        "pyarrow",
        "adbc-driver-postgresql",
        "pyspark",
    )
    parts = {"_core": "symmetry", "_tables_core": "grounding", "_ml_core": "machine learning"}
    is_built = {part: util.find_spec(f"relift.{part}") is not None for part in parts}
    document = {
        "format": "relift-info",
        "version": 1,
        "relift": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "compiled_core": all(is_built.values()),
        "compiled_parts": is_built,
        "packages": {name: version(name) or None for name in needed + optional},
    }
    if as_json:
        print_json(document)
        return
    from relift.report.summary import key_value_table

    lines = [("relift", __version__)]
    for part, purpose in parts.items():
        state = "in use" if is_built[part] else "not built; the slower NumPy reference is used"
        lines.append((f"compiled: {purpose}", state))
    lines += [("Python", platform.python_version()), ("platform", platform.platform())]
    lines += [(name, version(name) or "not installed") for name in needed + optional]
    console().print(key_value_table(lines))


def _exit_code(status: Status) -> int:
    from relift.program.solution import Status

    codes = {
        Status.OPTIMAL: 0,
        Status.INFEASIBLE: EXIT_INFEASIBLE,
        Status.UNBOUNDED: EXIT_UNBOUNDED,
        Status.TIME_LIMIT: EXIT_LIMIT,
        Status.ITERATION_LIMIT: EXIT_LIMIT,
    }
    if status == "optimal_within_gap":  # what was asked for, and proved
        return 0
    return codes.get(status, EXIT_FAILURE)


def _leave(code: int) -> None:
    if code:
        raise typer.Exit(code)
