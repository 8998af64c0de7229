"""``relift solve MODEL --lift-in-engine``: the program stays in the engine; only the small one comes here."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, final

from relift.cli.models import Held, ModelArguments, checked_model, params_from_pairs, warn_of
from relift.cli.screen import show
from relift.cli.words import Option
from relift.cli.work import print_json, run_beside
from relift.errors import DataError, OptionError

if TYPE_CHECKING:
    from relift.json_types import JsonObject
    from relift.modelling.data_folder import DataFolder
    from relift.modelling.engine_model_result import EngineModelResult
    from relift.pipeline import SolveOptions

LiftInEngineOption = Annotated[
    bool,
    Option("--lift-in-engine", help="Keep the program in the engine (database); fetch only the small program (.rlp)."),
]
MemoryLimitOption = Annotated[
    str | None, Option("--memory-limit", help="Memory of DuckDB, with --lift-in-engine.", metavar="2GB")
]
SpillLimitOption = Annotated[
    str | None, Option("--spill-limit", help="Disk space that DuckDB may spill to.", metavar="50GB")
]
DatabaseOption = Annotated[
    Path | None,
    Option(
        "--database",
        help="File of DuckDB, or schema of PostgreSQL, that keeps the tables; can be resumed.",
        metavar="NAME",
    ),
]
ResumeOption = Annotated[
    bool, Option("--resume", help="Keep the state if interrupted, and continue from there; needs --database.")
]
VerifyOption = Annotated[str, Option("--verify", help="How classes are checked in the engine.", metavar="exact|hash")]


@final
@dataclass(frozen=True)
class EngineArguments:
    """What the command line says about lifting inside an engine."""

    is_wanted: bool = False
    memory_limit: str | None = None
    spill_limit: str | None = None
    database: Path | None = None
    resume: bool = False
    verify: str = "exact"

    def __post_init__(self) -> None:
        if self.is_wanted or self.verify != "exact":
            from relift.in_database.verify import check_verify

            check_verify(self.verify)
        if self.is_wanted:
            return
        for name in ("memory_limit", "spill_limit", "database", "resume"):
            if getattr(self, name):
                word = f"--{name.replace('_', '-')}"
                raise OptionError(f"{word} needs --lift-in-engine.", f"Add it, or remove {word}.")


def solve_in_engine(
    words: ModelArguments,
    how: EngineArguments,
    options: SolveOptions,
    output: Path | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> EngineModelResult:
    """Solve a model inside of an engine, write and print what was asked for; the caller closes the answer."""
    if output is not None:
        raise OptionError("--output cannot be combined with --lift-in-engine.", "Write tables with --out DIR.")
    if out is not None and out.exists() and not out.is_dir():
        raise NotADirectoryError(20, "it is a file, not a folder", str(out))
    answer = _solved(words, how, options, quiet or as_json)
    files = [] if out is None else _written(answer, out)
    document = _document(answer, files)
    if out is not None:
        from relift.atomic import write_atomically

        with write_atomically(out / "solution.json") as file:
            file.write(json.dumps(document, allow_nan=False, indent=1).encode())
    if as_json:
        print_json(document)
    elif not quiet:
        _print(answer)
        if out is not None:
            print(f"written to {out}")
    return answer


def _solved(words: ModelArguments, how: EngineArguments, options: SolveOptions, quiet: bool) -> EngineModelResult:
    from relift.modelling.server_tables import ServerTables
    from relift.modelling.solve_in_engine import engine_for_lifting
    from relift.modelling.solve_model import solve_model_in_engine
    from relift.settings import Progress

    held = Held()
    checked = checked_model(words.model)
    params = params_from_pairs(words.params)
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}

    def job(progress: Callable[..., None]) -> EngineModelResult:
        def told(event: Progress) -> None:
            progress(event)
            if event.round and not quiet:
                print(f"round {event.round}: {event.message}", file=sys.stderr, flush=True)

        engine = held.engine = engine_for_lifting(
            words.engine, told, memory_limit=how.memory_limit, spill_limit=how.spill_limit, database=how.database
        )
        try:
            data: DataFolder | ServerTables | str | None = words.tables
            if words.schema is not None:
                data = ServerTables(engine if data is None else data, words.schema)
            answer = solve_model_in_engine(
                checked, data, params, engine=engine, folder=words.model.parent, limit=words.limit, progress=told,
                resume=how.resume, verify="hash" if how.verify == "hash" else "exact", **given,
            )  # fmt: skip
            warn_of(answer.notes)
            return answer
        except DataError as error:
            if error.hint.startswith("Give data={"):
                error.hint = "Give a folder with its table: --data DIR."
            raise

    try:
        return run_beside(job, quiet, f"reading {words.model.name}", held)
    except BaseException:
        held.close()
        raise


def _written(answer: EngineModelResult, folder: Path) -> list[str]:
    """A table for each variable and the duals of each constraint; batches are fetched one after the other."""
    from relift.atomic import write_atomically

    if not answer.status.has_point:
        folder.mkdir(parents=True, exist_ok=True)
        return []
    (folder / "duals").mkdir(parents=True, exist_ok=True)
    files = []
    tables = [(f"{name}.csv", answer.batches(name)) for name in answer.variables]
    tables += [(f"duals/{name}.csv", iter([answer.duals(name)])) for name in answer.constraints]
    for name, batches in tables:
        with write_atomically(folder / name) as file:
            for position, table in enumerate(batches):
                text = io.StringIO()
                writer = csv.writer(text, lineterminator="\n")
                if not position:
                    writer.writerow(table)
                writer.writerows(table.rows())
                file.write(text.getvalue().encode())
        files.append(name)
    return files


def _document(answer: EngineModelResult, files: list[str]) -> JsonObject:
    from relift.formats.solutions import number_for_json

    program, small = answer.grounded.program, answer.lifting.small
    certificate = {
        name: number_for_json(value) for name, value in asdict(answer.certificate).items() if isinstance(value, float)
    }
    return {
        "format": "relift-engine-solution",
        "version": 1,
        "status": str(answer.status),
        "objective": number_for_json(answer.objective),
        "sense": program.sense,
        "engine": program.engine.name,
        "sizes": {
            "variables": program.n_variables, "rows": program.n_rows, "nonzeros": answer.grounded.n_nonzeros,
            "lifted_variables": small.n_variables, "lifted_rows": small.n_rows,
        },
        "rounds": answer.lifting.rounds,
        "notes": list(answer.notes),
        "certificate": certificate,
        "timings": answer.timings,
        "files": files,
    }  # fmt: skip


def _print(answer: EngineModelResult) -> None:
    from relift.report.summary import certificate_line, times_table

    program, small = answer.grounded.program, answer.lifting.small
    goal = answer.grounded.model.objective.name if answer.grounded.model.objective is not None else "objective"
    print(f"{answer.status}: {goal} = {answer.objective:.9g}")
    print(
        f"in {program.engine.name}: {program.n_variables:,} variables, {program.n_rows:,} rows, "
        f"{answer.grounded.n_nonzeros:,} nonzeros"
    )
    print(f"fetched: {small.n_variables:,} variables, {small.n_rows:,} rows after {answer.lifting.rounds} rounds\n")
    show(times_table(answer.timings), "", certificate_line(answer.certificate, answer.status))
