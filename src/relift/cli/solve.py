"""``relift solve``: a file, or a model over tables, solved and certified."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from relift.cli import models, psl
from relift.cli.exit_codes import exit_code, leave
from relift.cli.lift_in_engine import (
    DatabaseOption,
    EngineArguments,
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
    ModelArguments,
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
    backend_options,
    check_not_read,
    check_output,
    check_style,
    lift_options,
)
from relift.cli.screen import show
from relift.cli.words import Option
from relift.cli.work import print_json, prints_on_stderr, read_model, run_beside
from relift.errors import OptionError

if TYPE_CHECKING:
    from relift.json_types import JsonObject
    from relift.pipeline import SolveOptions
    from relift.program.program import Program
    from relift.report.summary import Comparison


def solve_command(
    model: ModelArgument,
    output: OutputOption = None,
    solution_style: StyleOption = StyleChoice.relift,
    data: DataOption = None,
    param: ParamOption = None,
    out: Annotated[
        Path | None,
        Option("--out", help="Write tables of values and duals, and solution.json (.rlp, PSL).", metavar="DIR"),
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
    no_sizes: NoSizesOption = False,
    no_signs: NoSignsOption = False,
    backend: Annotated[str, Option("--backend", help="Solver; see `relift backends`.", metavar="NAME")] = "auto",
    backend_option: Annotated[
        list[str] | None,
        Option("--backend-option", help="Option of the solver, by its own name; repeatable.", metavar="KEY=VALUE"),
    ] = None,
    tol: ToleranceOption = 1e-6,
    time_limit: Annotated[
        float | None,
        Option("--time-limit", help="Time limit in seconds (excludes reading files).", metavar="SECONDS"),
    ] = None,
    iteration_limit: Annotated[
        int | None, Option("--iteration-limit", help="Iterations of the solver.", metavar="N")
    ] = None,
    threads: Annotated[int | None, Option("--threads", help="Threads of relift and the solver.", metavar="N")] = None,
    vertex: Annotated[bool, Option("--vertex", help="Move the solution of an LP to a vertex (crossover).")] = False,
    approximate: Annotated[
        float | None,
        Option("--approximate", help="Merge nearly equal data, up to a proved relative gap.", metavar="GAP"),
    ] = None,
    relax: RelaxOption = False,
    max_bytes: MaxBytesOption = None,
    compare: Annotated[bool, Option("--compare", help="Also solve directly, without lifting, and compare.")] = False,
    verbose: Annotated[bool, Option("--verbose", "-v", help="Let the solver print its log.")] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Solve a model and print sizes, times and the certificate."""
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
    check_not_read({"--output": output}, [model])
    how = lift_options(lift, values, digits, no_reduce, no_scale_rows, no_sizes, no_signs)
    in_engine = EngineArguments(lift_in_engine, memory_limit, spill_limit, database, resume, verify)
    if models.is_relational(model):
        if relax or compare:
            raise OptionError(
                f"{'--relax' if relax else '--compare'} does not apply to models in the modelling language (.rlp).",
                "Write the program with `relift ground` and solve that file.",
            )
        words = {**words, **how, "verbose": verbose, "approximate": approximate}
        given = ModelArguments(model, data, param or (), limit, engine, schema, header or ())
        if in_engine.is_wanted:
            with solve_in_engine(given, in_engine, words, output, out, as_json, quiet) as answer:
                status = answer.status
            leave(exit_code(status))
            return
        _solve_model(given, words, output, solution_style, out, as_json, quiet)
        return
    if lift_in_engine:
        raise OptionError(
            f"--lift-in-engine applies to .rlp models, and {model.name} is not one.", "Remove the option."
        )
    models.refuse_for_programs(
        model, data=data, param=param, out=out, limit=limit, engine=engine, schema=schema, header=header
    )
    with prints_on_stderr():
        program, read_seconds = read_model(model, relax, quiet, max_bytes)
        from relift.pipeline import solve
        from relift.solvers.registry import import_solver

        import_solver(program, backend)
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
        from relift.formats.solutions import write_solution

        write_solution(result, output, timings, solution_style.value)
    if as_json:
        from relift.formats.solutions import json_from_result

        document = json_from_result(result, timings=timings)
        if comparison is not None:
            document["comparison"] = _comparison_for_json(comparison)
        print_json(document)
    elif not quiet:
        from relift.report.summary import summary

        show(summary(result, timings, comparison))
        if output is not None:
            print(f"solution written to {output}")
    leave(exit_code(result.status))


def _solve_model(
    words: ModelArguments,
    options: SolveOptions,
    output: Path | None,
    style: StyleChoice,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    if out is not None and out.exists() and not out.is_dir():
        raise NotADirectoryError(20, "it is a file, not a folder", str(out))
    with prints_on_stderr():
        answer = models.solve_given(words, quiet or as_json, options)
    project = psl.project_at(words.model, words.data) if psl.is_psl(words.model) else None
    if output is not None:
        from relift.formats.solutions import write_solution

        write_solution(answer.result, output, {"ground": answer.seconds}, style.value)
    if out is not None and project is not None:
        psl.write_inferred(project, answer, out)
    elif out is not None:
        from relift.formats.model_results import write_model_result

        write_model_result(answer, out)
    if as_json:
        from relift.formats.model_results import json_from_model_result

        document = json_from_model_result(answer)
        if project is not None:
            document["evaluations"] = psl.evaluations_for_json(project, answer)
        print_json(document)
    elif not quiet:
        models.print_answer(answer, out is not None)
        if project is not None:
            psl.print_evaluations(project, answer)
        for path in (output, out):
            if path is not None:
                print(f"written to {path}")
    leave(exit_code(answer.status))


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
    return Comparison(ground.status, ground.objective, ground.backend, sum(ground.timings.values()), lifted_seconds)


def _comparison_for_json(comparison: Comparison) -> JsonObject:
    from relift.formats.solutions import number_for_json

    return {
        "status": str(comparison.status),
        "objective": number_for_json(comparison.objective),
        "backend": comparison.backend,
        "ground_seconds": comparison.ground_seconds,
        "lifted_seconds": comparison.lifted_seconds,
        "speed_up": number_for_json(comparison.speed_up),
    }
