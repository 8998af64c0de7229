"""Solve a model: check it, ground it, solve the program, and name the answer (see `relift.pipeline` for the middle).

::

    text or Python ─ check ─▶ CheckedModel ─ ground over tables ─▶ GroundProgram ─ solve ─▶ ModelResult
                                                   ▲                     │ same matrices: Lifting.update
                                                   └──── resolve ────────┘
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias, Unpack

import numpy as np

from relift.arrays import SparseMatrix, Vector
from relift.errors import DataError, OptionError
from relift.grounding.ground import GroundProgram, ground
from relift.language.checked_model import CheckedModel
from relift.language.checks.check_model import check_text
from relift.language.syntax.parser import decode, parse_text
from relift.lifting.lifting import Lifting
from relift.modelling.data_folder import DataFolder, tables_from_folder
from relift.modelling.model_result import ModelResult, ResolveOptions
from relift.modelling.options import EngineSolveOptions
from relift.modelling.server_tables import Connection, ServerTables, tables_of_connection
from relift.pipeline import SolveOptions, solve
from relift.program.program import Program
from relift.program.solution import Solution
from relift.read_bytes import read_bytes
from relift.redaction import redacted
from relift.result import Result
from relift.settings import OWN_OPTIONS, ProgressCallback, unknown_option
from relift.tables.engine import Engine
from relift.tables.open_engine import EngineLike, open_engine
from relift.tables.postgres.address import is_address
from relift.tables.sources.table import TableLike

if TYPE_CHECKING:
    from relift.language.build_in_python import Model
    from relift.modelling.engine_model_result import EngineModelResult

ModelLike: TypeAlias = "Model | CheckedModel | str | Path"
"""A model in Python, a checked one, the text of one, or the path of a file."""
DataLike: TypeAlias = "Mapping[str, TableLike] | ServerTables | DataFolder | str | Path | Connection | None"
"""Tables by name, a folder of them, a server that has them, or a connection of DuckDB or SQLite."""


_SOLVE_OPTIONS = frozenset(OWN_OPTIONS) - {"warm_start", "progress"}
_DATA_OPTIONS = frozenset({"data", "params", "engine", "folder", "limit", "progress", "lift_in_engine"})
_LIFT_OPTIONS = frozenset({"lift", "values", "digits", "scale_rows", "reduce", "sizes", "signs", "approximate"})


def solve_model(
    model: ModelLike,
    data: DataLike = None,
    params: Mapping[str, float] | None = None,
    *,
    engine: EngineLike = None,
    folder: str | Path | None = None,
    limit: int | None = None,
    progress: ProgressCallback | None = None,
    **options: Unpack[SolveOptions],
) -> ModelResult:
    """Ground a model over its data, solve it, and return the answer in the words of the model.

    Parameters
    ----------
    model
        A :class:`relift.Model`, the text of a model, or the path of a file.
    data
        Tables by the names of relations and params (pandas, Polars, Arrow, NumPy, dicts, lists, paths of CSV and
        Parquet files, tables of a DuckDB or PostgreSQL connection; see :mod:`relift.tables.sources.table`), a
        folder with a file for each, or a server with a table for each (``"postgresql://…"``, or ``ServerTables``). If
        nothing is given and the engine is a server, tables are looked for there.
    params
        Numbers for params without arguments.
    engine
        Where to ground: ``"memory"`` (the default, with DuckDB behind it for what is too large), ``"duckdb"``,
        ``"postgresql://…"``, ``"spark"``, or something open already; see :mod:`relift.tables.open_engine`. On a server,
        tables can be given by name.
    folder
        Where file names of the model begin; by default the folder of its file.
    limit
        The most rows of any result and the most nonzeros; 50 million if not given.
    progress
        Progress callback, called for each statement and stage.
    options
        Options of :func:`relift.solve`: ``lift=``, ``backend=``, ``tolerance=``, ``time_limit=``, ...

    Raises
    ------
    LanguageError
        If the model is wrong.
    DataError
        If tables do not fit the model, or values are missing, doubled or not finite.
    SizeLimitError
        If a statement would become larger than the limit.

    Examples
    --------
    >>> text = '''
    ...     param demand/1, price/1;   var buy(I) in demand(I) >= 0;
    ...     minimize cost: sum{I in demand(I)} price(I)*buy(I);
    ...     subject to met forall {I in demand(I)}: buy(I) >= demand(I);
    ... '''
    >>> result = solve_model(text, {"demand": {"tea": 3, "milk": 2}, "price": {"tea": 2, "milk": 1}})
    >>> result.objective, result["buy"].to_dict()
    (8.0, {'milk': 2.0, 'tea': 3.0})
    """
    check_options(options)
    import_what_grounds(engine)
    start = perf_counter()
    grounded = ground_model(model, data, params, engine=engine, folder=folder, limit=limit, progress=progress)
    seconds = perf_counter() - start
    result = solve(grounded.program, progress=progress, **options)
    return ModelResult(grounded, result, {**options, "progress": progress}, seconds)


def import_what_grounds(engine: EngineLike) -> None:
    """Import beforehand what grounding needs, so that the first model of a process is not billed for it."""
    parse_text("")
    if engine is None or engine == "memory":
        import relift.tables.memory.engine  # noqa: F401
        import relift.tables.sources.small_csv  # noqa: F401


def ground_model(
    model: ModelLike,
    data: DataLike = None,
    params: Mapping[str, float] | None = None,
    *,
    engine: EngineLike = None,
    folder: str | Path | None = None,
    limit: int | None = None,
    progress: ProgressCallback | None = None,
) -> GroundProgram:
    """Ground a model over its data; see :func:`solve_model`."""
    checked, tables, opened, home = _opened(model, data, params, engine, folder, progress)
    return ground(checked, tables, engine=opened, folder=home, limit=limit, progress=progress)


def solve_model_in_engine(
    model: ModelLike,
    data: DataLike = None,
    params: Mapping[str, float] | None = None,
    *,
    engine: EngineLike = None,
    folder: str | Path | None = None,
    limit: int | None = None,
    memory_limit: str | None = None,
    spill_limit: str | None = None,
    database: str | Path | None = None,
    progress: ProgressCallback | None = None,
    **options: Unpack[EngineSolveOptions],
) -> EngineModelResult:
    """Ground, lift and certify a model inside an engine; only its quotient comes here, and is solved here.

    Parameters
    ----------
    model, data, params, engine, folder
        As in :func:`solve_model`.
    limit
        The most rows of any result and the most nonzeros; 2^31 - 1 if not given.
    memory_limit, spill_limit
        How much memory DuckDB may use (``"2GB"``), and how much it may spill to disk.
    database
        A file for DuckDB's tables; they need no memory then, and a lifting that was cut off can be resumed. On
        PostgreSQL the name of a schema that keeps them.
    progress
        Progress callback, called for each statement and once per round of refinement.
    options
        ``lift=`` (``"equitable"`` or ``"counting"``), ``values=``, ``scale_rows=``, ``verify=``, ``seed=`` and
        ``resume=`` of :class:`~relift.in_database.EngineLiftSettings`, and options of :func:`relift.solve` for the
        small program.

    Examples
    --------
    >>> text = '''
    ...     param demand/1;   var buy(I) in demand(I) >= 0;
    ...     minimize cost: sum{I in demand(I)} buy(I);
    ...     subject to met forall {I in demand(I)}: buy(I) >= demand(I);
    ... '''
    >>> with solve_model_in_engine(text, {"demand": {"tea": 2, "milk": 2, "salt": 1}}) as result:
    ...     result.objective, result.lifting.small.n_variables, result.value("buy", "tea")
    (5.0, 2, 2.0)
    """
    check_options({name: value for name, value in options.items() if name not in {"verify", "seed", "resume"}})
    from relift.modelling.solve_in_engine import engine_for_lifting, settings_from, solve_checked_in_engine

    settings = settings_from(options)
    is_ours = not isinstance(engine, Engine)
    chosen = engine_for_lifting(engine, progress, memory_limit=memory_limit, spill_limit=spill_limit, database=database)
    checked, tables, opened, home = _opened(model, data, params, chosen, folder, progress)
    return solve_checked_in_engine(
        checked, tables, opened, owns_engine=is_ours, folder=home, limit=limit, progress=progress, settings=settings,
        options=options,
    )  # fmt: skip


def _opened(
    model: ModelLike,
    data: DataLike,
    params: Mapping[str, float] | None,
    engine: EngineLike,
    folder: str | Path | None,
    progress: ProgressCallback | None,
) -> tuple[CheckedModel, dict[str, TableLike], Engine, str | Path | None]:
    """The checked model, its tables, the opened engine, and the folder that file names begin in."""
    checked, tables, home = _checked(model)
    if is_address(data):
        data = ServerTables(data)
    elif isinstance(data, DataFolder):
        tables = {**tables, **tables_from_folder(checked, data.folder, data.headers)}
    elif isinstance(data, str | Path):
        tables = {**tables, **tables_from_folder(checked, data)}
    elif data is not None and not isinstance(data, Mapping | ServerTables):
        tables = {**tables, **tables_of_connection(checked, data)}
    given = _merged(checked, data if isinstance(data, Mapping) else {}, params)
    opened = open_engine(engine, progress)
    try:
        if isinstance(data, ServerTables):
            tables = {**tables, **data.of_model(checked, tables)}
        elif data is None and opened.knows_tables:
            tables = {**ServerTables(opened).of_model(checked, tables, only_needed=True), **tables}
    except BaseException:
        opened.close()
        raise
    return checked, {**tables, **given}, opened, folder or home


def solve_again(
    before: ModelResult,
    data: Mapping[str, TableLike] | None,
    params: Mapping[str, float] | None,
    changes: ResolveOptions,
) -> ModelResult:
    """Solve with other data; what is not touched by them is taken over. See `ModelResult.resolve`."""
    changes, kept = changes.copy(), before.options.copy()
    progress = changes.pop("progress", kept.pop("progress", None))
    limit = changes.pop("limit", None)
    check_options(changes)
    options: SolveOptions = kept
    options.update(changes)
    old = before.grounded
    start = perf_counter()
    given = _merged(old.model, data or {}, params)
    grounded = ground(old.model, given, previous=old, limit=limit, progress=progress)
    seconds = perf_counter() - start
    warm_start = _what_fits(before.result.solution, grounded.program)
    known = None if _LIFT_OPTIONS & changes.keys() else _updated(before.result, grounded.program)
    result = solve(known or grounded.program, warm_start=warm_start, progress=progress, **options)
    return ModelResult(grounded, result, {**options, "progress": progress}, seconds)


def _what_fits(solution: Solution, program: Program) -> Solution | None:
    """The parts of an answer that have the size of another program: rows and cones come and go with the data."""
    if solution.x is None or solution.x.size != program.n_variables:
        return None

    def of_size(vector: Vector | None, size: int) -> Vector | None:
        return vector if vector is not None and vector.size == size else None

    return solution.but(
        y=of_size(solution.y, program.n_rows),
        z=of_size(solution.z, len(program.quadratic)),
        v=of_size(solution.v, program.conic.n_rows),
    )


def check_options(options: Mapping[str, object]) -> None:
    """Refuse options that no stage knows, before anything is grounded.

    Raises
    ------
    OptionError
        If there is one.
    """
    for name in options:
        if name == "lift_in_engine":
            raise OptionError(
                "lift_in_engine is an option of Model.solve.", "Write Model.from_text(text).solve(lift_in_engine=True)."
            )
        if name not in _SOLVE_OPTIONS:
            raise unknown_option(name, _SOLVE_OPTIONS | _DATA_OPTIONS)


def _updated(before: Result, program: Program) -> Lifting | None:
    """The lifting of the program from that of an earlier one, if their matrices are the same."""
    old, lifting = before.program, before.lifting
    same = (
        old.sense == program.sense
        and _same_matrix(old.A, program.A)
        and _same_matrix(old.P, program.P)
        and old.quadratic == program.quadratic
        and old.conic == program.conic
    )
    if not same or lifting.approximation is not None:
        return None
    found = lifting.update(q=program.q, l=program.l, u=program.u, lb=program.lb, ub=program.ub, r=program.r)
    return replace(found, program=program)


def _same_matrix(one: SparseMatrix | None, other: SparseMatrix | None) -> bool:
    if one is None or other is None or one is other:
        return one is other
    if one.shape != other.shape or one.nnz != other.nnz or one.format != other.format:
        return False
    return all(np.array_equal(getattr(one, part), getattr(other, part)) for part in ("indptr", "indices", "data"))


def _checked(model: ModelLike) -> tuple[CheckedModel, dict[str, TableLike], Path | None]:
    """The checked model, tables attached to it, and the folder that its file names begin in."""
    if isinstance(model, CheckedModel):
        return model, {}, None
    if isinstance(model, Path):
        return check_text(decode(read_bytes(model), str(model)), str(model)), {}, model.parent
    if isinstance(model, str):
        if ";" not in model and redacted(model) != model:
            raise OptionError(
                "the model was given as what looks like the address of a server.", "Give that as engine= or data=."
            )
        return check_text(model), {}, None
    from relift.language.build_in_python import Model

    if isinstance(model, Model):
        return model.check(), dict(model.tables), getattr(model, "folder", None)
    raise OptionError(f"a model cannot be given as {type(model).__name__}.", "Give a Model, its text, or a Path.")


def _merged(
    model: CheckedModel, data: Mapping[str, TableLike], params: Mapping[str, float] | None
) -> dict[str, TableLike]:
    for name in params or {}:
        if name in data:
            raise DataError(f"{name!r} is given both in data and in params.", "Keep one of them.")
        if name in model.parameters and model.parameters[name].arity:
            raise DataError(f"the param {name!r} has arguments.", "Give its table in data.")
    return {**data, **(params or {})}
