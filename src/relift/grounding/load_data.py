"""The tables of a model: facts written in it, files that it names, and what the user gives.

What the user gives for a name takes the place of what the model says about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from relift.arrays import Cells
from relift.errors import DataError
from relift.grounding.argument_names import uses_of
from relift.grounding.workspace import Workspace
from relift.language.checked_model import CheckedModel, Facts, FileSource, Relation, Value
from relift.language.syntax.source import NOWHERE, Span
from relift.tables.load import StoredTable, load_table, store_truth
from relift.tables.sources.contents import Columns
from relift.tables.sources.file_patterns import files
from relift.tables.sources.match_columns import Wanted
from relift.tables.sources.table import Source, Table, TableLike, source_from_data


def known_names(model: CheckedModel) -> dict[str, int]:
    """Names that data can be given for, with their arities."""
    names = {name: facts.arity for name, facts in model.facts.items()}  # also facts of derived predicates
    names |= {name: relation.arity for name, relation in model.relations.items()}
    return names | {name: parameter.arity for name, parameter in model.parameters.items()}


def check_names(model: CheckedModel, data: Mapping[str, TableLike]) -> None:
    """Refuse data for names that the model does not declare.

    Raises
    ------
    DataError
        If there is such a name.
    """
    names = known_names(model)
    for name in data:
        if name in names:
            continue
        what = "a variable" if name in model.variables else "derived by rules" if _is_derived(model, name) else ""
        if what:
            raise DataError(f"data are given for {name!r}, which is {what}.", "Give data for relations and params.")
        close = get_close_matches(name, names, 1)
        hint = f"Did you mean {close[0]!r}? " if close else ""
        known = ", ".join(f"{name}/{arity}" for name, arity in names.items()) or "none"
        raise DataError(f"data are given for {name!r}, which the model does not declare.", f"{hint}Declared: {known}.")


def _is_derived(model: CheckedModel, name: str) -> bool:
    return any(name in stratum.predicates for stratum in model.strata)


def load(work: Workspace, name: str, data: Mapping[str, TableLike], folder: Path | None) -> None:
    """Load one relation or param into the engine.

    Raises
    ------
    DataError
        If there are no data for it, or they are wrong.
    """
    model = work.model
    parameter = model.parameters.get(name)
    declared = parameter or model.relations.get(name) or Relation(name, model.facts[name].arity)
    given = _given(work, name, data, folder, declared.source, declared.span)
    if given is None:
        if parameter is not None:
            if parameter.value is not None:
                work.scalars[name] = parameter.value
                return
            if parameter.default is not None:
                given = Source(f"the table of {name!r}", Columns({}))
            elif parameter.arity == 0:
                return  # an error only where it is used
        elif _is_derived(model, name):
            given = Source(f"the table of {name!r}", Columns({}))
    if given is None:
        raise _no_table(model, name, declared.span)
    if parameter is not None and parameter.arity == 0:
        work.scalars.pop(name, None)
        if (number := _number(name, given)) is not None:
            work.scalars[name] = number
        return
    work.tables[name] = work.store(
        _truth(work, name, given)
        if declared.arity == 0
        else load_table(work.engine, work.fresh_name(name), given, declared.arity, parameter is not None)
    )


def _given(
    work: Workspace,
    name: str,
    data: Mapping[str, TableLike],
    folder: Path | None,
    file: str | FileSource | None,
    span: Span,
) -> Source | None:
    model = work.model
    wanted = _wanted(model, name)
    if name in data:
        return source_from_data(name, data[name], engine=work.engine, wanted=wanted)
    if name in model.facts:
        return Source(f"the table of {name!r}", Columns(arrays_from_facts(model, model.facts[name])))
    if file is not None:
        try:
            return source_from_data(name, _table_of_file(file), folder, work.engine, wanted)
        except DataError as error:
            raise DataError(error.message, error.hint, _excerpt(model, span), name) from error
    return None


def _wanted(model: CheckedModel, name: str) -> Wanted | None:
    """What a relation or param with arguments needs; its arguments are called as the atoms of the model call them."""
    arity = known_names(model)[name]
    if not arity:
        return None
    is_param = name in model.parameters
    names = frozenset({name, "value"} if is_param else {name})
    return Wanted(arity, is_param, uses_of(model, name), names)


def _table_of_file(file: str | FileSource) -> str | Table:
    """What the words behind ``from`` stand for."""
    if isinstance(file, str):
        return file
    return Table(files(file.path) if file.is_pattern else file.path, header=file.header)


def arrays_from_facts(model: CheckedModel, facts: Facts) -> dict[str, Cells]:
    """Facts of a model as columns.

    Raises
    ------
    DataError
        If a column mixes text and numbers.
    """
    columns = []
    for position in range(facts.arity):
        values: list[Value] = [row[position] for row in facts.rows]
        columns.append(_column_from_constants(model, facts, position, values))
    if facts.arity == 0 and (facts.rows or facts.values):
        columns.append(np.asarray(facts.values or (1,)))
        return {"value": columns[0]}
    if facts.values or any(r.value is not None for r in facts.ranges):
        columns.append(np.asarray(facts.values, dtype=np.float64))
    if facts.ranges:
        _append_ranges(model, facts, columns)
    if columns and columns[0].size == 0:
        return {}
    return {f"argument {k}": column for k, column in enumerate(columns, 1)}


def _append_ranges(model: CheckedModel, facts: Facts, columns: list[Cells]) -> None:
    whole = [np.arange(r.first, r.last + 1, dtype=np.int64) for r in facts.ranges]
    if columns[0].size and columns[0].dtype == object:
        raise _mixed(model, facts, 0)
    columns[0] = np.concatenate([columns[0] if columns[0].size else np.empty(0, np.int64), *whole])
    if len(columns) > 1:
        values = [np.full(part.size, float(r.value or 0)) for part, r in zip(whole, facts.ranges, strict=True)]
        columns[1] = np.concatenate([columns[1], *values])


def _column_from_constants(model: CheckedModel, facts: Facts, position: int, values: list[Value]) -> Cells:
    kinds = {isinstance(value, str) for value in values}
    if len(kinds) == 2:
        raise _mixed(model, facts, position)
    if kinds == {True}:
        column = np.empty(len(values), dtype=object)
        column[:] = values
        return column
    return np.asarray(values, dtype=np.int64 if all(isinstance(v, int) for v in values) else np.float64)


def _mixed(model: CheckedModel, facts: Facts, position: int) -> DataError:
    span = facts.spans[0] if facts.spans else NOWHERE
    return DataError(
        f"argument {position + 1} of {facts.name!r} is text in some facts and a number in others.",
        "Write it as text everywhere, with quotation marks around the numbers.",
        _excerpt(model, span),
        facts.name,
    )


def _number(name: str, source: Source) -> float | int | None:
    """The value of a param without arguments."""
    if not isinstance(source.content, Columns):
        raise DataError(f"the param {name!r} has no arguments.", "Give one number.", table=name)
    arrays = list(source.content.arrays.values())
    if not arrays:
        return None
    if len(arrays) != 1 or arrays[0].size != 1:
        raise DataError(f"the param {name!r} has no arguments.", "Give one number.", table=name)
    value = arrays[0][0]
    if isinstance(value, str) or value is None or value != value:
        raise DataError(f"the param {name!r} was given as {value!r}.", "Give one number.", table=name)
    return int(value) if arrays[0].dtype.kind in "iub" else float(value)


def _truth(work: Workspace, name: str, source: Source) -> StoredTable:
    if not isinstance(source.content, Columns):
        raise DataError(f"the relation {name!r} has no arguments.", "Give True or False.", table=name)
    arrays = list(source.content.arrays.values())
    is_true = bool(arrays and arrays[0].size and arrays[0][0])
    return store_truth(work.engine, work.fresh_name(name), is_true)


def _no_table(model: CheckedModel, name: str, span: Span) -> DataError:
    is_param = name in model.parameters
    kind = "param" if is_param else "relation"
    written = f"{name} := {{}}"
    return DataError(
        f"no table is loaded for the {kind} {name!r}.",
        f"Give data={{{name!r}: ...}}, or write {written} if it is empty.",
        _excerpt(model, span),
        name,
    )


def _excerpt(model: CheckedModel, span: Span) -> str:
    return model.source.excerpt(span) if span != NOWHERE and model.source.text else ""
