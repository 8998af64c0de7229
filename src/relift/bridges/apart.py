"""Solve a program in a process of its own, for tools whose libraries cannot share one with highspy.

OR-Tools carries a copy of HiGHS under the same library name as highspy: whichever is imported second fails. The program
therefore travels as a file to a second Python, and its answer comes back as one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from relift.errors import BackendError, OptionError
from relift.formats.program_files import read_program, write_program
from relift.formats.solutions import json_from_result, read_solution
from relift.program.program import Program
from relift.program.solution import Solution, Status

_BOOTSTRAP = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from {module} import main; main(sys.argv[2:])"
"""With ``-P``, so that no module of the current folder takes the place of Python's own."""


@final
@dataclass(frozen=True)
class ApartAnswer:
    """The answer of another process.

    Parameters
    ----------
    solution
        Status, point, dual values, rays.
    report
        What ``relift solve --json`` prints, without the vectors: sizes, certificate, timings, attempts.
    """

    solution: Solution
    report: dict[str, Any]

    def __str__(self) -> str:
        sizes = self.report["sizes"]
        return (
            f"relift: {sizes['ground']['variables']} -> {sizes['lifted']['variables']} variables, "
            f"{sizes['ground']['rows']} -> {sizes['lifted']['rows']} rows, backend={self.report['backend']}"
        )


def solve_apart(program: Program, options: Mapping[str, Any]) -> ApartAnswer:
    """Solve a program in another process.

    Parameters
    ----------
    program
        What to solve.
    options
        Keywords of :func:`relift.solve`, of values that JSON can hold.

    Raises
    ------
    OptionError
        If an option is wrong, or cannot be passed to another process.
    BackendError
        If the other process fails.

    Examples
    --------
    >>> answer = solve_apart(Program(q=[1.0, 1.0], A=[[1, 1]], l=[3], lb=0), {})
    >>> answer.solution.x.tolist(), str(answer)
    ([1.5, 1.5], 'relift: 2 -> 1 variables, 1 -> 1 rows, backend=highs')
    """
    with tempfile.TemporaryDirectory(prefix="relift-") as folder:
        model, words, answer = (Path(folder, name) for name in ("model.npz", "options.json", "answer.json"))
        write_program(program, model)
        try:
            words.write_text(json.dumps(dict(options)), encoding="utf-8")
        except TypeError as error:
            raise OptionError(f"an option cannot be passed to another process: {error}.") from None
        paths = [json.dumps(sys.path), str(model), str(words), str(answer)]
        command = [sys.executable, "-P", "-c", _BOOTSTRAP.format(module=__name__), *paths]
        done = subprocess.run(command, capture_output=not options.get("verbose"), text=True, check=False)
        if done.returncode != 0 or not answer.exists():
            raise BackendError(f"the process that solves the model failed: {(done.stderr or '').strip()[-500:]}")
        document = json.loads(answer.read_text(encoding="utf-8"))
        if "error" in document:
            raise OptionError(document["error"])
        if all(document.get(part) is None for part in ("x", "ray_x", "ray_y")):  # a limit or a failure
            return ApartAnswer(Solution(Status(document["status"]), message=document["message"]), document)
        return ApartAnswer(read_solution(answer, program), document)


def main(arguments: list[str]) -> None:
    """Read a program and options, solve, and write the answer: the other process.

    Parameters
    ----------
    arguments
        Paths of the program, the options and the answer.
    """
    from relift.pipeline import solve

    model, words, answer = map(Path, arguments)
    try:
        result = solve(read_program(model), **json.loads(words.read_text(encoding="utf-8")))
        document = json_from_result(result)
    except (OptionError, TypeError) as error:
        document = {"error": str(error)}
    answer.write_text(json.dumps(document), encoding="utf-8")
