"""The answer for a model in files: a CSV table for each variable and constraint, and everything as JSON.

JSON, version 1; keys are only ever added::

    format        "relift-model-solution"
    version       1
    ...           status, objective, sense, message, backend, iterations, sizes, certificate, timings and attempts as in
                  :mod:`relift.formats.solutions`
    statements    [{"name", "kind", "rows", "nonzeros", "classes", "substituted", "active", "largest_dual", "seconds",
                  "is_reused"}]
    notes         [text]: anything out of the ordinary, such as tables without a common key
    conflict      for an infeasible model, what cannot hold together: [{"name", "kind", "rows", "weight", "examples"}]
    variables     {name: {key columns..., "value", "lower", "upper", "dual"}}, columns as lists
    constraints   {name: {key columns..., "activity", "lower", "upper", "slack", "dual"}}
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from relift.atomic import write_atomically
from relift.formats.solutions import json_from_result, number_for_json
from relift.json_types import Json, JsonObject
from relift.modelling.model_result import ModelResult
from relift.modelling.result_table import ResultTable

VERSION = 1
"""Version of the layout."""


def json_from_model_result(
    answer: ModelResult, timings: Mapping[str, float] | None = None, tables: bool = True
) -> JsonObject:
    """Put an answer into the layout of this module.

    Parameters
    ----------
    answer
        What :func:`relift.solve_model` returned.
    timings
        Further seconds by stage.
    tables
        Whether values and dual values are part of it.
    """
    document = json_from_result(answer.result, vectors=False, timings={**(timings or {}), "ground": answer.seconds})
    document |= {"format": "relift-model-solution", "version": VERSION}
    report = answer.explain()
    document["statements"] = [
        asdict(line) | {"largest_dual": number_for_json(line.largest_dual)} for line in report.statements
    ]
    document["notes"] = list(answer.notes)
    document["conflict"] = [asdict(found) for found in report.conflict]
    if tables:
        has_point = answer.result.x is not None
        document["variables"] = {n: _columns(answer.bounds(n)) for n in answer.variables} if has_point else {}
        document["constraints"] = {name: _columns(answer.constraint(name)) for name in answer.constraints}
    return document


def _columns(table: ResultTable) -> dict[str, list[Json]]:
    return {
        name: [number_for_json(v) for v in column.tolist()] if column.dtype.kind == "f" else column.tolist()
        for name, column in table.items()
    }


def write_model_result(
    answer: ModelResult, folder: str | Path, timings: Mapping[str, float] | None = None
) -> list[Path]:
    """Write an answer into a folder, which is made if it is not there.

    ``solution.json`` holds all but the tables, ``<variable>.csv`` keys and values of each variable, and
    ``duals/<constraint>.csv`` keys, activity, bounds, slack and dual value of each row. Without a point (an infeasible
    model) there are no tables.

    Parameters
    ----------
    answer
        What :func:`relift.solve_model` returned.
    folder
        Where to.
    timings
        Further seconds by stage.

    Returns
    -------
    list of Path
        The files written.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    if answer.result.x is not None:
        (folder / "duals").mkdir(exist_ok=True)
        for name in answer.variables:
            written.append(_write_csv(answer[name], folder / f"{name}.csv"))
        for name in answer.constraints:
            written.append(_write_csv(answer.constraint(name), folder / "duals" / f"{name}.csv"))
    document = json_from_model_result(answer, timings, tables=False)
    document["files"] = [str(path.relative_to(folder)) for path in written]
    with write_atomically(folder / "solution.json") as file:
        file.write(json.dumps(document, allow_nan=False, indent=1).encode())
    return [folder / "solution.json", *written]


def _write_csv(table: ResultTable, path: Path) -> Path:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(table.rows())
    with write_atomically(path) as file:
        file.write(text.getvalue().encode())
    return path
