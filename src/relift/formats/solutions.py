r"""Answers in files, as JSON or plain text.

Solution as JSON, version 1. Keys are only ever added; a version with other meanings gets another number::

    format           "relift-solution"
    version          1
    relift           version of relift that wrote it
    status           "optimal", "optimal_inaccurate", "infeasible", "unbounded", "time_limit",
                     "iteration_limit" or "failure"
    objective        value of the objective in the sense of the model, with its constant, or null
    sense            "min" or "max"
    message          anything worth telling
    backend          name of the solver that answered; iterations: its iterations or null
    sizes            {"ground": {"variables", "rows", "nonzeros"}, "lifted": {the same}}
    certificate      {"tolerance", "primal_residual", "dual_residual", "duality_gap", "ray_residual",
                     "is_optimal", "is_proved"}
    timings          seconds by stage
    versions         {"relift", "python", "numpy", "scipy", and the package of the solver}
    attempts         [{"backend", "status", "seconds", "residual", "message"}]
    hint             {"digits", "text"}: only where numbers that differ by rounding keep much apart
    variable_names, row_names   lists of names, or null
    x, y, w          point, dual values of the rows, dual values of the variable bounds: lists of numbers,
    or null ray_x, ray_y, ray_w         the proof of unboundedness or of infeasibility, or null
    z, ray_z, v, ray_v   the same of quadratic constraints and of conic rows; only where the model has them

Numbers that JSON has no word for are the strings "inf" and "-inf", and null for NaN. Signs of dual values
are those of :class:`relift.program.solution.Solution`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from relift.arrays import Vector
from relift.atomic import write_atomically
from relift.errors import FileFormatError
from relift.formats.gurobi_solutions import gurobi_text
from relift.formats.highs_solutions import FIRST_LINE as HIGHS_FIRST_LINE
from relift.formats.highs_solutions import highs_table, highs_text, solution_from_highs
from relift.formats.mps_writer import decimal
from relift.json_types import JsonObject
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.read_bytes import brief, read_bytes
from relift.settings import check_choice

if TYPE_CHECKING:
    from relift.lifting.certificate import Certificate
    from relift.result import Result

VERSION = 1
"""Version of the layout of solutions."""

SolutionStyle = Literal["relift", "highs", "highs-table", "gurobi"]
"""Layouts of text files."""

_VECTORS = {
    "x": "variable",
    "y": "row",
    "w": "variable",
    "ray_x": "variable",
    "ray_y": "row",
    "ray_w": "variable",
    "z": "quadratic constraint",
    "ray_z": "quadratic constraint",
    "v": "conic row",
    "ray_v": "conic row",
}


def number_for_json(value: float | None) -> float | str | None:
    """Turn a number into what JSON can hold.

    Examples
    --------
    >>> number_for_json(1.5), number_for_json(float("-inf")), number_for_json(float("nan"))
    (1.5, '-inf', None)
    """
    if value is None or math.isnan(value):
        return None
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return float(value)


def sizes_of(program: Program) -> dict[str, int]:
    """Count variables, rows and nonzeros."""
    return {"variables": program.n_variables, "rows": program.n_rows, "nonzeros": program.n_nonzeros}


def certificate_for_json(certificate: Certificate) -> JsonObject:
    """Turn a certificate into what JSON can hold."""
    names = ("tolerance", "primal_residual", "dual_residual", "duality_gap", "ray_residual")
    values: JsonObject = {name: number_for_json(getattr(certificate, name)) for name in names}
    return values | {"is_optimal": bool(certificate.is_optimal), "is_proved": bool(certificate.is_proved)}


def json_from_result(result: Result, vectors: bool = True, timings: Mapping[str, float] | None = None) -> JsonObject:
    """Put an answer into the layout of this module.

    Parameters
    ----------
    result
        What :func:`relift.solve` returned.
    vectors
        Whether names, points, dual values and rays are part of it.
    timings
        Further seconds by stage, such as those for reading the file.
    """
    import relift

    program, lifting = result.program, result.lifting
    document: JsonObject = {
        "format": "relift-solution",
        "version": VERSION,
        "relift": relift.__version__,
        "status": str(result.status),
        "objective": number_for_json(result.objective),
        "sense": program.sense,
        "message": result.message,
        "backend": result.backend,
        "iterations": result.iterations,
        "sizes": {"ground": sizes_of(program), "lifted": sizes_of(lifting.small)},
        "certificate": certificate_for_json(result.certificate),
        "timings": {name: float(seconds) for name, seconds in {**(timings or {}), **result.timings}.items()},
        "versions": result.versions,
        "attempts": [
            {
                "backend": attempt.backend,
                "status": str(attempt.status),
                "seconds": float(attempt.seconds),
                "residual": number_for_json(attempt.residual),
                "message": attempt.message,
            }
            for attempt in result.attempts
        ],
    }
    if result.hint is not None:
        document["hint"] = {"digits": result.hint.digits, "text": str(result.hint)}
    if vectors:
        document["variable_names"] = names_for_json(program.variable_names)
        document["row_names"] = names_for_json(program.row_names)
        document |= {
            name: _list(getattr(result.solution, name))
            for name, kind in _VECTORS.items()
            if kind in {"variable", "row"} or _count(program, kind)
        }
    return document


def _count(program: Program, kind: str) -> int:
    """How many things of a kind the program has."""
    match kind:
        case "variable":
            return program.n_variables
        case "row":
            return program.n_rows
        case "conic row":
            return program.conic.n_rows
    return len(program.quadratic)


def names_for_json(names: Sequence[str] | None) -> list[str] | None:
    """Names as a list of plain strings, or None."""
    return None if names is None else [str(name) for name in names]


def _list(vector: Vector | None) -> Sequence[float | str | None] | None:
    if vector is None:
        return None
    values: list[float] = vector.tolist()
    return values if bool(np.isfinite(vector).all()) else [number_for_json(value) for value in values]


def write_solution(
    result: Result, path: str | Path, timings: Mapping[str, float] | None = None, style: SolutionStyle = "relift"
) -> None:
    """Write an answer, as JSON or as text (``.txt``, ``.sol``); the file appears all at once.

    Parameters
    ----------
    result
        What :func:`relift.solve` returned.
    path
        Where to.
    timings
        Further seconds by stage, such as those for reading the file.
    style
        Layout of a text file: relift's own, ``"highs"`` (raw), ``"highs-table"`` or ``"gurobi"``, as those solvers
        write and read it.
    """
    path = Path(path)
    check_choice("style", style, get_args(SolutionStyle))
    if path.suffix.lower() in {".txt", ".sol"}:
        if len(result.program.conic):
            raise FileFormatError(f"{path}: a text file cannot hold the dual values of cones.", "Write .json.")
        text = _text_in_style(result, style)
    elif style != "relift":
        raise FileFormatError(f"{path}: the style {style!r} is one of text files.", "Write .sol or .txt.")
    elif path.suffix.lower() == ".json":
        text = json.dumps(json_from_result(result, timings=timings), allow_nan=False) + "\n"
    else:
        raise FileFormatError(
            f"{path}: the file extension is unknown.",
            "Write .json, .txt or .sol.",
        )
    with write_atomically(path) as file:
        file.write(text.encode("utf-8"))


def _text_in_style(result: Result, style: SolutionStyle) -> str:
    match style:
        case "highs":
            return highs_text(result.program, result.solution)
        case "highs-table":
            return highs_table(result.program, result.solution)
        case "gurobi":
            return gurobi_text(result.program, result.solution)
    return text_from_result(result)


def text_from_result(result: Result) -> str:
    """Put an answer into text: ``# key value``, then ``name value dual`` for each variable and row.

    For an infeasible program the dual values are those of the proof and there are no values (``-``); for an
    unbounded one the value of a variable is a feasible point and what follows is the direction.
    """
    program = result.program
    lines = [
        f"# relift solution {VERSION}",
        f"# status {result.status}",
        f"# objective {decimal(result.objective)}",
    ]
    x, w, y = result.x, result.w, result.y
    if result.status == Status.INFEASIBLE:
        x, w, y = None, result.ray_w, result.ray_y
    elif result.status == Status.UNBOUNDED:
        x, w, y = result.x, result.ray_x, None
    if x is not None or w is not None:
        lines.append(f"# variables: name value {'direction' if result.status == Status.UNBOUNDED else 'dual'}")
        columns = (_words(x, program.n_variables), _words(w, program.n_variables))
        lines += [
            f"{_quoted(program.name_of_variable(j))} {a} {b}" for j, (a, b) in enumerate(zip(*columns, strict=True))
        ]
    if y is not None:
        lines.append("# rows: name value dual")
        values = None if x is None else np.asarray(program.A @ x)
        columns = (_words(values, program.n_rows), _words(y, program.n_rows))
        lines += [f"{_quoted(program.name_of_row(i))} {a} {b}" for i, (a, b) in enumerate(zip(*columns, strict=True))]
    return "\n".join(lines) + "\n"


def _words(vector: Vector | None, size: int) -> list[str]:
    return ["-"] * size if vector is None else [decimal(value) for value in vector.tolist()]


def _quoted(name: str) -> str:
    """Keep a name that is one word; make any other a JSON string."""
    is_plain = name and not name.startswith(("#", '"')) and not any(c.isspace() or not c.isprintable() for c in name)
    return name if is_plain else json.dumps(name)


def read_solution(path: str | Path, program: Program, max_bytes: int | None = None) -> Solution:
    """Read an answer for a program, written by :func:`write_solution`, HiGHS (raw), Gurobi, or another tool.

    JSON needs the key ``x``: a list in the order of the program, or an object from names to numbers; ``y``
    and ``w`` are read in the same way. Where the file and the program both have names, values are matched
    by name.

    Parameters
    ----------
    path
        A ``.json``, ``.txt`` or ``.sol`` file.
    program
        The program it answers.
    max_bytes
        How large the file may be; None for 2 GiB.

    Raises
    ------
    FileFormatError
        If the file is not a solution, is one of another program, is too large, or is not a regular file.
    OSError
        If there is no such file, or it may not be read.
    """
    path = Path(path)
    data = read_bytes(path, max_bytes)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileFormatError(f"{path} is not a text file, so it is not a solution.") from None
    if not text.strip():
        raise FileFormatError(f"{path} is empty.")
    if text.lstrip().startswith(("{", "[")):
        return _solution_from_json(text, str(path), program)
    if text.startswith(HIGHS_FIRST_LINE):
        return solution_from_highs(text, str(path), program)
    return _solution_from_text(text, str(path), program)


def _solution_from_json(text: str, source: str, program: Program) -> Solution:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:  # also a whole number of more digits than Python reads
        raise FileFormatError(f"{source} is not valid JSON ({brief(error)}).") from None
    if not isinstance(document, dict):
        raise FileFormatError(f"{source} holds no JSON object.", "A solution is an object with at least the key 'x'.")
    if document.get("format", "relift-solution") != "relift-solution":
        raise FileFormatError(f"{source} is a {str(document['format'])[:40]!r} file, not a solution.")
    if document.get("version", VERSION) != VERSION:
        found = str(document["version"])[:40]
        raise FileFormatError(f"{source} has version {found}, but {VERSION} is read.", "Update relift.")
    status = _status(document.get("status", "optimal"), source)
    vectors: dict[str, Any] = {
        name: _vector(document.get(name), document.get(f"{kind}_names"), name, kind, source, program)
        for name, kind in _VECTORS.items()
    }
    if all(vector is None for vector in vectors.values()):
        raise FileFormatError(f"{source} holds neither a point nor a ray.", "A solution has at least the key 'x'.")
    objective = document.get("objective")
    return Solution(
        status,
        objective=_float(objective, "objective", source) if objective is not None else math.nan,
        **vectors,
    )


def _status(word: object, source: str) -> Status:
    try:
        return Status(str(word))
    except ValueError:
        raise FileFormatError(
            f"{source}: the status {str(word)[:40]!r} is not known.", f"Expected one of: {', '.join(Status)}."
        ) from None


def _float(value: object, name: str, source: str) -> float:
    if value is None:
        return math.nan
    if isinstance(value, str) and value in {"inf", "-inf"}:
        return float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise FileFormatError(f"{source}: {name} holds {str(value)[:40]!r}, which is not a number.")
    try:
        return float(value)
    except OverflowError:  # a whole number beyond all floats
        raise FileFormatError(f"{source}: {name} holds a number that is too large.") from None


def _vector(given: object, names: object, key: str, kind: str, source: str, program: Program) -> Vector | None:
    if given is None:
        return None
    size = _count(program, kind)
    if isinstance(given, dict):
        names, given = list(given), list(given.values())
    if not isinstance(given, list):
        raise FileFormatError(f"{source}: {key} is not a list of numbers.")
    values = np.array([_float(value, key, source) for value in given], dtype=np.float64)
    if values.size != size:
        raise FileFormatError(
            f"{source}: {key} has {values.size} entries, but the model has {size} {kind}s.",
            "Is it a solution of this model?",
        )
    if names is None:
        return values
    if not isinstance(names, list) or len(names) != size:
        raise FileFormatError(f"{source}: {kind}_names does not name the {size} {kind}s.")
    return _in_order(values, names, kind, source, program)


def _in_order(values: Vector, names: list[str], kind: str, source: str, program: Program) -> Vector:
    known = program.variable_names if kind == "variable" else program.row_names
    name_of = program.name_of_variable if kind == "variable" else program.name_of_row
    expected = [name_of(k) for k in range(values.size)] if known is None else list(known)
    if list(names) == expected:
        return values
    position = {str(name): k for k, name in enumerate(names)}
    if len(position) != len(names):
        return values
    missing = next((name for name in expected if name not in position), None)
    if missing is not None:
        if known is None:
            return values  # the model has no names, so only the order can be meant
        raise FileFormatError(f"{source} has no value for the {kind} {missing!r}.", "Is it a solution of this model?")
    return values[[position[name] for name in expected]]


def _solution_from_text(text: str, source: str, program: Program) -> Solution:
    status, part, objective = Status.OPTIMAL, "variables", math.nan
    names: dict[str, list[str]] = {"variables": [], "rows": []}
    columns: dict[str, list[list[str]]] = {"variables": [], "rows": []}
    for i, line in enumerate(text.splitlines(), start=1):
        if line.startswith("#"):
            words = line[1:].split()
            if words[:1] == ["status"]:
                status = _status(" ".join(words[1:]), source)
            elif words[:1] == ["objective"] and len(words) == 2:
                objective = _word_value(words[1], source, i)
            elif words and words[0].rstrip(":") in columns:
                part = words[0].rstrip(":")
        elif line.strip():
            name, words = _name_and_words(line, source, i)
            names[part].append(name)
            columns[part].append(words)
    if not any(columns.values()):
        raise FileFormatError(f"{source} holds neither a point nor a ray.", "A line reads: name value dual.")
    vectors: dict[str, Any] = {
        "x": _text_vector(names["variables"], columns["variables"], 0, "variable", source, program),
        "w": _text_vector(names["variables"], columns["variables"], 1, "variable", source, program),
        "y": _text_vector(names["rows"], columns["rows"], 1, "row", source, program),
    }
    if vectors["y"] is None and vectors["x"] is not None and vectors["w"] is not None and program.n_rows == 0:
        vectors["y"] = np.zeros(0)
    if status == Status.INFEASIBLE:
        vectors = {"ray_w": vectors["w"], "ray_y": vectors["y"]}
    elif status == Status.UNBOUNDED:
        vectors = {"x": vectors["x"], "ray_x": vectors["w"]}
    return Solution(status, objective=objective, **vectors)


def _name_and_words(line: str, source: str, i: int) -> tuple[str, list[str]]:
    line = line.strip()
    if line.startswith('"'):
        try:
            name, end = json.JSONDecoder().raw_decode(line)
        except json.JSONDecodeError:
            raise FileFormatError(f"{source}, line {i}: the name in quotes has no end.") from None
        words = line[end:].split()
    else:
        name, *words = line.split()
    if len(words) not in (1, 2):
        raise FileFormatError(f"{source}, line {i}: a line reads 'name value' or 'name value dual'.")
    for word in words:
        _word_value(word, source, i)
    return str(name), words


def _word_value(word: str, source: str, i: int) -> float:
    if word == "-":
        return math.nan
    try:
        return float(word)
    except ValueError:
        raise FileFormatError(f"{source}, line {i}: {word!r} is not a number.") from None


def _text_vector(
    names: list[str], columns: list[list[str]], k: int, kind: str, source: str, program: Program
) -> Vector | None:
    if not columns or any(len(words) <= k or words[k] == "-" for words in columns):
        return None
    size = program.n_variables if kind == "variable" else program.n_rows
    if len(columns) != size:
        raise FileFormatError(
            f"{source} has {len(columns)} {kind}s, but the model has {size}.",
            "Is it a solution of this model?",
        )
    return _in_order(np.array([float(words[k]) for words in columns]), names, kind, source, program)


def with_bound_duals(program: Program, solution: Solution) -> Solution:
    """Add the dual values of the bounds that stationarity asks for, w = -(Px + q + A'y), where a file has none.

    Parameters
    ----------
    program
        The program it answers.
    solution
        With x and y; returned as it is if one of them is missing, or w is there.

    Examples
    --------
    >>> program = Program(q=[1.0, 2.0], A=[[1, 1]], l=[1], lb=0)
    >>> answer = Solution(Status.OPTIMAL, x=np.array([1.0, 0.0]), y=np.array([-1.0]))
    >>> with_bound_duals(program, answer).w.tolist()
    [0.0, -1.0]
    """
    if solution.x is None or solution.y is None or solution.w is not None:
        return solution
    minimisation = program.minimisation()
    gradient = minimisation.q + minimisation.A.T @ solution.y
    if minimisation.P is not None:
        gradient = gradient + minimisation.P @ solution.x
    if solution.z is not None:
        gradient = gradient + minimisation.quadratic.gradient(solution.x, solution.z)
    if solution.v is not None:
        gradient = gradient + minimisation.conic.A.T @ solution.v
    return replace(solution, w=0.0 - gradient)
