"""Solutions in HiGHS's own files: written raw (style 0) or as a table (style 1), and read raw.

::

    Model status
    Optimal

    # Primal solution values
    Feasible
    Objective 3.5
    # Columns 2
    x 1.5
    y 1.5
    # Rows 1
    demand 3

    # Dual solution values
    Feasible
    # Columns 2
    ...

HiGHS counts dual values and reduced costs in the sense of the model, so that they are derivatives of the objective:
with relift's signs (:class:`~relift.program.solution.Solution`) they are -y and -w when minimising, y and w when
maximising. Numbers are written so that they read back as the same floats.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from relift.arrays import Vector
from relift.errors import FileFormatError
from relift.formats.mps_writer import decimals
from relift.formats.names import names_for_mps
from relift.program.program import Program
from relift.program.solution import Solution, Status

FIRST_LINE = "Model status"
"""How a raw file begins."""

_WORDS = {
    Status.OPTIMAL: "Optimal",
    Status.OPTIMAL_WITHIN_GAP: "Optimal",
    Status.OPTIMAL_INACCURATE: "Unknown",
    Status.INFEASIBLE: "Infeasible",
    Status.UNBOUNDED: "Unbounded",
    Status.TIME_LIMIT: "Time limit reached",
    Status.ITERATION_LIMIT: "Iteration limit reached",
    Status.FAILURE: "Unknown",
}
_STATUSES = {word: status for status, word in reversed(_WORDS.items())} | {
    "Optimal": Status.OPTIMAL,
    "Unknown": Status.OPTIMAL_INACCURATE,
    "Primal infeasible or unbounded": Status.FAILURE,
}


def status_word(status: Status) -> str:
    """HiGHS's word for a status.

    Examples
    --------
    >>> status_word(Status.TIME_LIMIT)
    'Time limit reached'
    """
    return _WORDS[status]


def duals_of_highs(program: Program, solution: Solution) -> tuple[Vector | None, Vector | None]:
    """Dual values of the rows and reduced costs in the signs of HiGHS; the same function turns them back.

    Examples
    --------
    >>> program = Program(q=[2.0], A=[[1.0]], l=[3.0])
    >>> duals_of_highs(program, Solution(Status.OPTIMAL, y=np.array([-2.0]), w=np.array([0.0])))
    (array([2.]), array([0.]))
    """
    sign = -1.0 if program.sense == "min" else 1.0

    def turned(dual: Vector | None) -> Vector | None:
        return None if dual is None else 0.0 + sign * dual  # 0.0 + ...: no zero with a minus sign

    return turned(solution.y), turned(solution.w)


def highs_text(program: Program, solution: Solution) -> str:
    r"""Put an answer into the raw layout.

    Parameters
    ----------
    program
        What it answers; names that MPS cannot hold are replaced as in MPS files.
    solution
        The answer. A point of an infeasible program is not written.

    Examples
    --------
    >>> program = Program(q=[1.0], A=[[2.0]], l=[3.0], variable_names=["x"], row_names=["need"])
    >>> answer = Solution(Status.OPTIMAL, x=np.array([1.5]), y=np.array([-0.5]), w=np.array([0.0]))
    >>> print("\n".join(highs_text(program, answer).splitlines()[3:10]))
    # Primal solution values
    Feasible
    Objective 1.5
    # Columns 1
    x 1.5
    # Rows 1
    need 3
    """
    names = names_for_mps(program)
    x = _point(solution)
    row_dual, col_dual = duals_of_highs(program, solution)
    lines = [FIRST_LINE, status_word(solution.status), "", "# Primal solution values"]
    if x is None:
        lines.append("None")
    else:
        is_sure = solution.status != Status.OPTIMAL_INACCURATE
        lines += ["Feasible" if is_sure else "Infeasible", f"Objective {decimals(_one(program.objective(x)))[0]}"]
        lines += _block("Columns", names.variables, x)
        lines += _block("Rows", names.rows, np.asarray(program.A @ x))
    lines += ["", "# Dual solution values"]
    if x is None or row_dual is None or col_dual is None:
        lines.append("None")
    else:
        lines.append("Feasible" if solution.status == Status.OPTIMAL else "Infeasible")
        lines += _block("Columns", names.variables, col_dual)
        lines += _block("Rows", names.rows, row_dual)
    lines += ["", "# Basis", "HiGHS_basis_file v2", "None"]
    return "\n".join(lines) + "\n"


def _one(value: float) -> Vector:
    return np.array([value])


def _block(title: str, names: Sequence[str], values: Vector) -> Iterator[str]:
    yield f"# {title} {values.size}"
    yield from (f"{name} {word}" for name, word in zip(names, decimals(values), strict=True))


def _point(solution: Solution) -> Vector | None:
    return None if solution.status in {Status.INFEASIBLE, Status.FAILURE} else solution.x


def highs_table(program: Program, solution: Solution) -> str:
    """Put an answer into the layout for people, a table with bounds, values and dual values to six digits.

    Parameters
    ----------
    program
        What it answers.
    solution
        The answer.
    """
    names = names_for_mps(program)
    x = _point(solution)
    row_dual, col_dual = duals_of_highs(program, solution) if x is not None else (None, None)
    activity = None if x is None else np.asarray(program.A @ x)
    head = f"{'Index':>9} Status {'Lower':>12} {'Upper':>12} {'Primal':>12} {'Dual':>12}"
    lines = ["Columns", f"{head}  Type        Name"]
    lines += _rows_of_table(program.lb, program.ub, x, col_dual, [f"Continuous  {name}" for name in names.variables])
    lines += ["Rows", f"{head}  Name"]
    lines += _rows_of_table(program.l, program.u, activity, row_dual, names.rows)
    lines += ["", f"Model status: {status_word(solution.status)}", ""]
    lines.append(f"Objective value: {0.0 if x is None else program.objective(x):.15g}")
    return "\n".join(lines) + "\n"


def _rows_of_table(
    lower: Vector, upper: Vector, value: Vector | None, dual: Vector | None, ends: Sequence[str]
) -> Iterator[str]:
    for i, end in enumerate(ends):
        cells = [f"{column[i]:12.6g}" if column is not None else " " * 12 for column in (lower, upper, value, dual)]
        yield f"{i:9d}        {' '.join(cells)}  {end}"


def solution_from_highs(text: str, source: str, program: Program) -> Solution:
    """Read an answer in the raw layout.

    Parameters
    ----------
    text
        What the file holds.
    source
        Its name, for errors.
    program
        What it answers. Values are matched by name if all names are known, by their order if none is.

    Raises
    ------
    FileFormatError
        If the text is not such a file, or one of another program.
    """
    lines = [line.strip() for line in text.splitlines()]
    try:
        status = _STATUSES[lines[1]]
    except (IndexError, KeyError):
        word = lines[1] if len(lines) > 1 else ""
        raise FileFormatError(
            f"{source}, line 2: the model status {word[:40]!r} is not known.",
            f"Expected one of: {', '.join(sorted(_STATUSES))}.",
        ) from None
    parts = dict(_sections(lines, source))
    vectors = {
        key: _in_order(parts.get((section, title)), names, source, title)
        for key, section, title, names in (
            ("x", "Primal", "Columns", names_for_mps(program).variables),
            ("w", "Dual", "Columns", names_for_mps(program).variables),
            ("y", "Dual", "Rows", names_for_mps(program).rows),
        )
    }
    if vectors["x"] is None:
        raise FileFormatError(f"{source} holds no point.", "Its model status is " + lines[1] + ".")
    y, w = duals_of_highs(program, Solution(status, y=vectors["y"], w=vectors["w"]))
    return Solution(status, x=vectors["x"], y=y, w=w, objective=program.objective(vectors["x"]))


def _sections(lines: Sequence[str], source: str) -> Iterator[tuple[tuple[str, str], list[tuple[str, float]]]]:
    """Find the blocks of names and values: ``("Primal", "Columns")`` and so on."""
    section = ""
    i = 0
    while i < len(lines):
        words = lines[i].split()
        i += 1
        if words[:1] != ["#"]:
            continue
        if words[1] in {"Primal", "Dual", "Basis"}:
            section = words[1]
        elif words[1] in {"Columns", "Rows"} and section != "Basis":
            count = _count(words, source, i)
            block = lines[i : i + count]
            if len(block) < count:
                raise FileFormatError(f"{source} ends before its {count} {words[1].lower()} do.", "It may be cut off.")
            yield (section, words[1]), [_pair(line, source, i + k + 1) for k, line in enumerate(block)]
            i += count


def _count(words: list[str], source: str, i: int) -> int:
    if len(words) != 3 or not words[2].isdigit():
        raise FileFormatError(f"{source}, line {i}: '# {words[1]}' is not followed by a number.")
    return int(words[2])


def _pair(line: str, source: str, i: int) -> tuple[str, float]:
    name, _, word = line.rpartition(" ")
    try:
        return name.strip(), float(word)
    except ValueError:
        raise FileFormatError(f"{source}, line {i}: {line[:60]!r} is not a name and a number.") from None


def _in_order(pairs: list[tuple[str, float]] | None, names: Sequence[str], source: str, title: str) -> Vector | None:
    if pairs is None:
        return None
    if len(pairs) != len(names):
        raise FileFormatError(
            f"{source} has {len(pairs)} {title.lower()}, but the model has {len(names)}.",
            "Is it a solution of this model?",
        )
    values = dict(pairs)
    known = [name for name in names if name in values]
    if len(known) == len(names) and len(values) == len(pairs):
        return np.array([values[name] for name in names])
    if known:
        missing = next((name for name in names if name not in values), "a name that stands there twice")
        raise FileFormatError(f"{source} has no value for {missing!r}.", "Is it a solution of this model?")
    return np.array([value for _, value in pairs])
