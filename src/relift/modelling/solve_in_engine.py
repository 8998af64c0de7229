"""Solve a model without its matrix ever leaving the engine: ground into tables, lift there, solve the quotient here.

::

    text or Python ─ check ─▶ CheckedModel ─ ground into tables ─▶ EngineProgram ─ lift in the engine ─┐
    EngineModelResult ◀─ certify in the engine ◀─ expand in the engine ◀─ solve the quotient here ◀────┘
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from time import perf_counter

from relift.errors import EngineError, OptionError
from relift.in_database.ground_tables import GroundTables, ground_into_tables
from relift.in_database.lift_tables import EngineLiftSettings, lift_in_engine
from relift.language.checked_model import CheckedModel
from relift.modelling.engine_model_result import EngineModelResult
from relift.modelling.options import EngineSolveOptions
from relift.pipeline import SolveOptions
from relift.settings import ProgressCallback
from relift.tables.engine import Engine
from relift.tables.open_engine import EngineLike, is_postgres, open_engine
from relift.tables.sources.table import TableLike


def engine_for_lifting(
    engine: EngineLike,
    progress: ProgressCallback | None,
    *,
    memory_limit: str | None = None,
    spill_limit: str | None = None,
    database: str | Path | None = None,
) -> Engine:
    """The engine to lift in: DuckDB with these limits, or what was given.

    On a PostgreSQL server `database` is the name of a schema that keeps the tables.

    Raises
    ------
    OptionError
        If a limit is given for another engine.
    """
    if engine is None or engine == "duckdb":
        from relift.tables.duckdb.engine import DuckDBEngine

        return DuckDBEngine(memory_limit=memory_limit, spill_limit=spill_limit, database=database, progress=progress)
    given = {"memory_limit": memory_limit, "spill_limit": spill_limit, "database": database}
    if database is not None and is_postgres(engine):
        from relift.tables.postgres.engine import PostgresEngine

        del given["database"]
        _refuse_limits(given)
        return PostgresEngine(engine, schema=str(database), progress=progress)
    _refuse_limits(given)
    return open_engine(engine, progress)


def _refuse_limits(given: Mapping[str, object]) -> None:
    for name, value in given.items():
        if value is not None:
            raise OptionError(f"{name} is for DuckDB.", "Set limits of other engines where they are configured.")


def settings_from(options: EngineSolveOptions) -> EngineLiftSettings:
    """Take what concerns lifting inside an engine out of the options of a solve.

    Raises
    ------
    OptionError
        If an option is given that only local lifting has.
    """
    method = options.pop("lift", "equitable")
    if method != "equitable" and method != "counting":
        raise OptionError(
            f"lift={method!r} is not available with lift_in_engine.", "Expected one of: equitable, counting."
        )
    not_here = {
        "digits": options.pop("digits", None),
        "approximate": options.pop("approximate", None),
        "vertex": options.pop("vertex", False),
    }
    for name, value in not_here.items():
        if value not in (None, False):
            raise OptionError(
                f"{name} cannot be combined with lift_in_engine, which lifts exactly, inside the database.",
                f"Remove lift_in_engine to use {name}: the program is then fetched and lifted here.",
            )
    options.pop("reduce", None)  # these are not done here
    options.pop("sizes", None)
    options.pop("signs", None)
    return EngineLiftSettings(
        method,
        options.pop("values", "decimal"),
        options.pop("scale_rows", True),
        options.pop("verify", "exact"),
        options.pop("seed", 0),
        options.pop("resume", False),
    )


def solve_checked_in_engine(
    model: CheckedModel,
    data: Mapping[str, TableLike],
    engine: Engine,
    *,
    owns_engine: bool,
    folder: str | Path | None,
    limit: int | None,
    progress: ProgressCallback | None,
    settings: EngineLiftSettings,
    options: SolveOptions,
) -> EngineModelResult:
    """Ground a checked model into tables, lift and solve it there; the engine is closed on failure if it is ours."""
    grounded: GroundTables | None = None
    try:
        start = perf_counter()
        grounded = ground_into_tables(model, data, engine=engine, folder=folder, limit=limit, progress=progress)
        seconds = perf_counter() - start
        lifting = lift_in_engine(grounded.program, settings, progress)
        result = lifting.solve(progress=progress, **options)
    except BaseException:
        if grounded is not None:
            with suppress(EngineError):  # if the engine is gone, so is what it held
                grounded.drop()
        if owns_engine:
            engine.close()
        raise
    return EngineModelResult(grounded, result, seconds, owns_engine)
