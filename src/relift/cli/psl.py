"""PSL projects on the command line: ``relift project.json``, ``relift rules.psl --data project.data``."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from relift.errors import OptionError

if TYPE_CHECKING:
    from relift.bridges.psl.evaluate import Evaluation
    from relift.bridges.psl.model import PslProject
    from relift.json_types import JsonObject
    from relift.modelling.model_result import ModelResult

SUFFIXES = (".psl", ".json")


def is_psl(path: Path) -> bool:
    """Whether a file is a PSL project by its name."""
    return path.suffix.lower() in SUFFIXES


@cache
def project_at(path: Path, data: str | None) -> PslProject:
    """Read a project, once."""
    from relift.bridges.psl.model import read_psl

    if data is not None and path.suffix.lower() == ".json":
        raise OptionError("--data applies to .psl files; a .json project names its data itself.", "Remove it.")
    return read_psl(path, data)


@cache
def _evaluations(project: PslProject, answer: ModelResult) -> tuple[Evaluation, ...]:
    """Evaluate an answer, once for the screen and the file."""
    return () if answer.result.x is None else project.evaluate(answer)


def print_evaluations(project: PslProject, answer: ModelResult) -> None:
    """Print notes, and how far the answer is from the truth, where the project knows it."""
    for note in project.notes:
        print(f"note: {note}")
    found = _evaluations(project, answer)
    if found:
        print()
    for evaluation in found:
        print(evaluation)


def evaluations_for_json(project: PslProject, answer: ModelResult) -> list[JsonObject]:
    """The evaluations as JSON."""
    return [
        {"predicate": e.predicate, "evaluator": e.evaluator, "figures": dict(e.figures)}
        for e in _evaluations(project, answer)
    ]


def write_inferred(project: PslProject, answer: ModelResult, folder: Path) -> list[Path]:
    """Write the inferred atoms as PSL does: a file for each open predicate, tabs between columns, no header.

    ``solution.json`` beside them holds status, objective, certificate and evaluations.
    """
    from relift.atomic import write_atomically
    from relift.formats.model_results import json_from_model_result

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    inferred = {} if answer.result.x is None else project.inferred(answer)
    for name, atoms in inferred.items():
        path = folder / f"{name.upper()}.txt"
        lines = ("\t".join([*map(str, key), repr(min(max(value, 0.0), 1.0))]) for key, value in atoms.items())
        with write_atomically(path) as file:
            file.write("".join(f"{line}\n" for line in lines).encode())
        written.append(path)
    document = json_from_model_result(answer, tables=False)
    document |= {"evaluations": evaluations_for_json(project, answer), "files": [path.name for path in written]}
    with write_atomically(folder / "solution.json") as file:
        file.write(json.dumps(document, allow_nan=False, indent=1).encode())
    return [*written, folder / "solution.json"]
