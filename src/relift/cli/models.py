"""The commands for models in the modelling language (``.rlp``): solve, ground, check, fmt, show."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, final

from relift.cli.psl import is_psl, project_at
from relift.cli.screen import print_source, show
from relift.cli.words import Argument, Option
from relift.cli.work import print_json, run_beside
from relift.errors import DataError, NonConvexError, OptionError
from relift.redaction import redacted
from relift.tables.postgres.address import is_address

if TYPE_CHECKING:
    from relift.grounding.ground import GroundProgram
    from relift.language.checked_model import CheckedModel
    from relift.modelling.data_folder import DataFolder
    from relift.modelling.model_result import ModelResult
    from relift.modelling.solve_model import DataLike
    from relift.pipeline import SolveOptions
    from relift.tables.engine import Engine

SUFFIX = ".rlp"
SHOWN_VALUES = 40
"""Values are printed where there are no more of them; otherwise ``--out`` writes them."""

RelationalArgument = Annotated[Path, Argument(metavar="MODEL", help="A model in the modelling language (.rlp).")]
DataOption = Annotated[
    str | None,
    Option(
        "--data",
        "-d",
        help="Folder with a .csv or .parquet file for each relation and param, or server with a table for each.",
        metavar="DIR|postgresql://…",
    ),
]
SchemaOption = Annotated[
    str | None,
    Option("--schema", help="Schema of the server that holds the tables; else its search path.", metavar="NAME"),
]
EngineOption = Annotated[
    str | None,
    Option(
        "--engine",
        help="Engine that evaluates the model's queries. Passwords belong in PGPASSWORD or ~/.pgpass.",
        metavar="memory|duckdb|postgresql://…|spark",
    ),
]
HeaderOption = Annotated[
    list[str] | None,
    Option(
        "--header",
        help="Whether CSV files of --data begin with a line of column names; repeatable, for all or one of them.",
        metavar="yes|no|NAME=yes|no",
    ),
]
ParamOption = Annotated[
    list[str] | None,
    Option("--param", "-p", help="Value of a param without arguments; repeatable.", metavar="NAME=NUMBER"),
]
LimitOption = Annotated[
    int | None, Option("--limit", help="Largest number of rows or nonzeros of the grounded model.", metavar="N")
]


@final
@dataclass(frozen=True, repr=False)
class ModelArguments:
    """What the command line says of a model: its file, its data, its params, the limit, and where to ground it."""

    model: Path
    data: str | None = None
    params: Sequence[str] = ()
    limit: int | None = None
    engine: str | None = None
    schema: str | None = None
    header: Sequence[str] = ()

    def __post_init__(self) -> None:
        if is_psl(self.model) and (self.header or self.schema):
            raise OptionError("--header and --schema apply to .rlp models.", "A PSL project says where its data are.")
        if self.header and (self.data is None or is_address(self.data)):
            raise OptionError("--header applies to folders of CSV files.", "Give --data DIR, or remove it.")
        headers_from_pairs(self.header)
        if self.schema is not None and not is_address(self.data) and self.data is not None:
            raise OptionError("--schema applies to tables on a server.", "Remove it, or give --data postgresql://….")

    @property
    def tables(self) -> DataFolder | str | None:
        """What stands behind --data: a folder, or the address of a server."""
        from relift.modelling.data_folder import DataFolder

        return DataFolder(self.data, headers_from_pairs(self.header)) if self.data and self.header else self.data

    @property
    def names_data(self) -> bool:
        """Whether there is something to ground the model with."""
        return bool(self.data or self.params or self.engine or self.schema)


@final
class Held:
    """The engine of a command, for whoever has to stop it."""

    engine: Engine | None = None

    def stop(self) -> None:
        """Stop what it is doing."""
        if self.engine is not None:
            self.engine.interrupt()

    def close(self) -> None:
        """Give back what it holds."""
        if self.engine is not None:
            self.engine.close()


def is_relational(path: Path) -> bool:
    """Whether a file holds a model in the modelling language, or a PSL project, which becomes one."""
    return path.suffix.lower() == SUFFIX or is_psl(path)


def refuse_for_programs(path: Path, **given: object) -> None:
    """Refuse options that only make sense for models in the modelling language.

    Raises
    ------
    OptionError
        If one is given.
    """
    for name, value in given.items():
        if value:
            raise OptionError(f"--{name} applies to {SUFFIX} models, and {path.name} is not one.", "Remove the option.")


def need_relational(path: Path) -> None:
    """Refuse a file of another kind.

    Raises
    ------
    OptionError
        If it is not one.
    """
    if path.suffix.lower() != SUFFIX:
        raise OptionError(f"{path} is not a model in the modelling language.", f"Its name should end in {SUFFIX}.")


def need_model(path: Path) -> None:
    """Refuse a file that is neither a model in the modelling language nor a PSL project.

    Raises
    ------
    OptionError
        If it is neither.
    """
    if not is_psl(path):
        need_relational(path)


def params_from_pairs(words: Sequence[str] | None) -> dict[str, float]:
    """Turn ``NAME=NUMBER`` words into numbers by name.

    Examples
    --------
    >>> params_from_pairs(["c1=0.5", "n=3"])
    {'c1': 0.5, 'n': 3}
    """
    from relift.modelling.data_folder import number_from_text

    params: dict[str, float] = {}
    for word in words or ():
        name, sign, value = word.partition("=")
        if not sign or not name.strip():
            raise OptionError(f"--param {word!r} is not of the form NAME=NUMBER.")
        if redacted(word) != word:  # an address in the wrong place: nothing of it is repeated
            raise OptionError(f"--param {redacted(word)} is not of the form NAME=NUMBER.")
        if name.strip() in params:
            raise OptionError(f"--param {name.strip()} is given twice.")
        params[name.strip()] = number_from_text(value.strip(), f"--param {name.strip()}")
    return params


def headers_from_pairs(words: Sequence[str] | None) -> dict[str, bool]:
    """Turn ``yes``, ``no`` and ``NAME=yes`` into truths by name, with an empty name for all.

    Examples
    --------
    >>> headers_from_pairs(["no", "price=yes"])
    {'': False, 'price': True}
    """
    headers: dict[str, bool] = {}
    for word in words or ():
        name, _, value = word.rpartition("=")
        if value.lower() not in {"yes", "no", "true", "false"}:
            raise OptionError(f"--header {word!r} is not yes, no, NAME=yes or NAME=no.")
        if name.strip() in headers:
            raise OptionError(f"--header {name.strip() or word} is given twice.")
        headers[name.strip()] = value.lower() in {"yes", "true"}
    return headers


def checked_model(path: Path, data: str | None = None) -> CheckedModel:
    """Read and check a model, or a PSL project."""
    if is_psl(path):
        return project_at(path, data).check()
    from relift.language.checks.check_model import check_text
    from relift.language.syntax.parser import decode
    from relift.read_bytes import read_bytes

    return check_text(decode(read_bytes(path), str(path)), str(path))


def ground_given(
    words: ModelArguments, held: Held, progress: Callable[..., None] | None = None, record: bool = False
) -> GroundProgram:
    """Ground a model over the data that the command line names; `held` gets the engine as soon as there is one."""
    from relift.modelling.server_tables import ServerTables
    from relift.modelling.solve_model import ground_model
    from relift.tables.open_engine import open_engine

    project = project_at(words.model, words.data) if is_psl(words.model) else None
    checked = checked_model(words.model) if project is None else project.check()
    params = params_from_pairs(words.params)
    engine = held.engine = open_engine(words.engine, progress)
    if record:
        from relift.modelling.recording_engine import RecordingEngine

        engine = held.engine = RecordingEngine(engine)
    data: DataLike = words.tables if project is None else project.data()
    if words.schema is not None:
        if data is None and not engine.knows_tables:
            engine.close()
            raise OptionError("--schema needs a server.", "Give --engine postgresql://… or --data postgresql://….")
        data = ServerTables(engine if data is None else data, words.schema)
    try:
        grounded = ground_model(
            checked, data, params, engine=engine, folder=words.model.parent, limit=words.limit, progress=progress
        )
        warn_of(grounded.notes)
        return grounded
    except DataError as error:
        if error.hint.startswith("Give data={"):
            error.hint = "Give a folder with its table: --data DIR."
        raise
    except NonConvexError as error:
        error.message = f"{words.model}: {error.message}"
        raise


def warn_of(notes: Sequence[str]) -> None:
    """Print what is out of the ordinary on stderr; stdout is for the answer."""
    for note in notes:
        print(f"relift: warning: {note}", file=sys.stderr, flush=True)


def solve_given(words: ModelArguments, quiet: bool, options: SolveOptions) -> ModelResult:
    """Ground and solve, with progress per statement."""
    from relift.modelling.model_result import ModelResult
    from relift.modelling.solve_model import import_what_grounds
    from relift.pipeline import solve
    from relift.solvers.registry import import_solver

    held = Held()

    def job(progress: Callable[..., None]) -> ModelResult:
        import_what_grounds(words.engine)
        start = time.perf_counter()
        grounded = ground_given(words, held, progress)
        seconds = time.perf_counter() - start
        import_solver(grounded.program, options.get("backend", "auto"))
        return ModelResult(
            grounded, solve(grounded.program, progress=progress, **options), {**options, "progress": None}, seconds
        )

    params_from_pairs(words.params)
    return run_beside(job, quiet, f"reading {words.model.name}", held)


def print_answer(answer: ModelResult, is_written: bool = False) -> None:
    """Print statements, certificate, and the values where there are few."""
    from relift.report.summary import certificate_line, proved_gap, times_table

    print(answer.explain())
    print()
    show(times_table(answer.timings), "", certificate_line(answer.result.certificate, answer.status))
    if answer.result.approximation is not None:
        print(proved_gap(answer.result.approximation))
    if answer.result.message and str(answer.status) != "optimal":
        print(f"note: {answer.result.message}")
    if answer.result.x is None:
        return
    n_values = sum(answer.grounded.atoms.block(name).size for name in answer.variables)
    if n_values > SHOWN_VALUES:
        print(f"{n_values:,} values{'' if is_written else '; --out DIR writes them'}")
        return
    for name in answer.variables:
        table = answer[name]
        if not table.key_names:
            print(f"\n{name} = {_number(float(table))}")
        elif table.n_rows:
            print(f"\n{name}")
            for *key, value in table.rows():
                print(f"  {', '.join(map(str, key))}: {_number(value)}")


def _number(value: float) -> str:
    """A value to be looked at: noise of solvers is left out."""
    return f"{round(value, 9) + 0.0:.8g}"


def ground_command(
    model: RelationalArgument,
    output: Annotated[
        Path | None,
        Option("--output", "-o", help="Write the program (.mps, .lp, .npz, .gz).", metavar="FILE"),
    ] = None,
    data: DataOption = None,
    param: ParamOption = None,
    limit: LimitOption = None,
    engine: EngineOption = None,
    schema: SchemaOption = None,
    header: HeaderOption = None,
    as_json: Annotated[bool, Option("--json", help="Print JSON, and nothing else, on stdout.")] = False,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print nothing but errors and warnings.")] = False,
) -> None:
    """Ground a model over its tables, and write it as a file that any solver reads; names are kept."""
    from relift.cli.options import check_output
    from relift.formats.program_files import SUFFIXES, write_program
    from relift.formats.solutions import sizes_of
    from relift.modelling.solve_model import import_what_grounds

    need_model(model)
    if output is not None:
        check_output(output, SUFFIXES)
    words = ModelArguments(model, data, param or (), limit, engine, schema, header or ())
    held = Held()
    import_what_grounds(engine)
    start = time.perf_counter()
    grounded = run_beside(lambda told: ground_given(words, held, told), quiet, f"reading {model.name}", held)
    seconds = time.perf_counter() - start
    notes = list(write_program(grounded.program, output)) if output is not None else []
    if as_json:
        statements = [
            {"name": s.name, "kind": s.kind, "rows": s.rows, "nonzeros": s.nonzeros, "seconds": s.seconds}
            for s in grounded.statements
        ]
        document = {"format": "relift-ground", "version": 1, "sizes": sizes_of(grounded.program)}
        print_json(document | {"statements": statements, "timings": {"ground": seconds}, "notes": notes})
    elif not quiet:
        from relift.modelling.show import shown_sizes

        print(shown_sizes(grounded))
        print(f"\n{grounded.program!r} in {seconds:.2f} s")
        if output is not None:
            print(f"program written to {output}")
        for note in notes:
            print(f"note: {note}")


def fmt_command(
    models: Annotated[list[Path], Argument(metavar="MODEL...", help="Models (.rlp).")],
    write: Annotated[bool, Option("--write", "-w", help="Change the files.")] = False,
    check: Annotated[bool, Option("--check", help="Only list files that would change; exit code 6 if any.")] = False,
    diff: Annotated[bool, Option("--diff", help="Print what would change.")] = False,
) -> None:
    """Print models in the one style of the language; comments are kept."""
    from relift.atomic import write_atomically
    from relift.cli.exit_codes import EXIT_FAILURE, CommandExit
    from relift.language.syntax.parser import decode
    from relift.language.syntax.printer import format_text
    from relift.read_bytes import read_bytes

    if write and check:
        raise OptionError("--write and --check contradict each other.", "Remove one of them.")
    changed = []
    for path in models:
        need_relational(path)
        text = decode(read_bytes(path), str(path))
        formatted = format_text(text, str(path)) + "\n"
        if formatted != text:
            changed.append(path)
            if write:
                with write_atomically(path) as file:
                    file.write(formatted.encode())
        if diff:
            import difflib

            lines = difflib.unified_diff(text.splitlines(), formatted.splitlines(), str(path), str(path), lineterm="")
            for line in lines:
                print(line)
        elif not write and not check:
            print_source(formatted)
    for path in changed if write or check else ():
        print(f"{'changed' if write else 'would change'}: {path}")
    if check and changed:
        raise CommandExit(EXIT_FAILURE)


def show_command(
    model: RelationalArgument,
    data: DataOption = None,
    param: ParamOption = None,
    limit: LimitOption = None,
    engine: EngineOption = None,
    schema: SchemaOption = None,
    header: HeaderOption = None,
    sql: Annotated[bool, Option("--sql", help="Also print the SQL queries behind each statement.")] = False,
) -> None:
    """Show the statements of a model, their sizes over the data, and with --sql the queries behind them."""
    from relift.modelling.recording_engine import RecordingEngine
    from relift.modelling.show import shown_queries, shown_sizes, shown_statements

    need_model(model)
    print(shown_statements(checked_model(model, data)))
    words = ModelArguments(model, data, param or (), limit, engine, schema, header or ())
    held = Held()
    try:
        grounded = run_beside(lambda told: ground_given(words, held, told, True), False, f"reading {model.name}", held)
    except DataError as error:
        if data is not None or "no table is loaded" not in error.message:
            raise
        print(f"\nsizes and queries need data: {error.message}")
        return
    print(f"\n{shown_sizes(grounded)}\n\n{grounded.program!r}")
    if sql and isinstance(held.engine, RecordingEngine):
        print(f"\n{shown_queries(held.engine)}")


def check_model_command(words: ModelArguments, as_json: bool, quiet: bool) -> None:
    """Check a model; with data, ground it too."""
    checked = checked_model(words.model, words.data)
    sizes = None
    if words.names_data or is_psl(words.model):
        held = Held()
        grounded = run_beside(lambda told: ground_given(words, held, told), quiet, held=held)
        sizes = repr(grounded.program)
    counts = {
        "relations": len(checked.relations),
        "params": len(checked.parameters),
        "variables": len(checked.variables),
        "rules": sum(len(s.rules) for s in checked.strata),
        "constraints": len(checked.constraints),
    }
    if as_json:
        print_json({"format": "relift-check", "version": 1, "passed": True, "statements": counts, "program": sizes})
    elif not quiet:
        print(f"{words.model}: valid ({', '.join(f'{n} {what}' for what, n in counts.items())})")
        if sizes is not None:
            print(sizes)
