"""The files that options of a ``highspy.Highs`` name, which ``h.run()`` writes: model, solution and basis.

HiGHS itself writes them where it runs; where relift has solved the model, they are written here.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

from relift.atomic import write_atomically
from relift.bridges.highs.options import changed_for_a_while, option
from relift.errors import OptionError
from relift.formats.highs_solutions import highs_table, highs_text

if TYPE_CHECKING:
    from highspy import Highs

    from relift.result import Result

_WRITTEN = ("write_model_file", "solution_file", "write_basis_file")


def check_files(highs: Highs) -> None:
    """Refuse what could not be written before anything is solved.

    Parameters
    ----------
    highs
        A ``highspy.Highs``.

    Raises
    ------
    FileNotFoundError
        If the folder of a file does not exist.
    OptionError
        If the solution is wanted in a style that is not written.
    """
    for name in _WRITTEN:
        path = str(option(highs, name))
        if path and not Path(path).parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    if wants_solution(highs) and _style(highs) not in {0, 1}:
        raise OptionError(f"write_solution_style {_style(highs)} is not written.", "Choose 0 (raw) or 1 (table).")


def wants_solution(highs: Highs) -> bool:
    """Whether the options of a ``highspy.Highs`` ask for the solution, in a file or printed."""
    return bool(option(highs, "write_solution_to_file") or option(highs, "solution_file"))


def write_model_file(highs: Highs) -> None:
    """Write the model, if the options ask for it.

    Parameters
    ----------
    highs
        A ``highspy.Highs`` with a model.

    Raises
    ------
    OptionError
        If HiGHS cannot write it.
    """
    import highspy

    if path := str(option(highs, "write_model_file")):
        with changed_for_a_while(highs, output_flag=False):
            if highs.writeModel(path) == highspy.HighsStatus.kError:
                raise OptionError(f"HiGHS cannot write the model to {path}.", "Name a file that ends in .mps or .lp.")


def write_answer_files(highs: Highs, result: Result, *, is_vertex: bool) -> None:
    """Write basis and solution, if the options ask for them.

    Parameters
    ----------
    highs
        A ``highspy.Highs`` with its answer set.
    result
        The answer of relift.
    is_vertex
        Whether HiGHS has confirmed it as a vertex, so that it knows all of it; other points have no basis.
    """
    if is_vertex:
        with changed_for_a_while(highs, output_flag=False):
            if path := str(option(highs, "write_basis_file")):
                highs.writeBasis(path)
            if path := str(option(highs, "solution_file")):
                highs.writeSolution(path, _style(highs))
                return
    if wants_solution(highs):
        text = (highs_table if _style(highs) else highs_text)(result.program, result.solution)
        _write(str(option(highs, "solution_file")), text)


def _write(path: str, text: str) -> None:
    if not path:
        print(text, end="", flush=True)
        return
    with write_atomically(Path(path)) as file:
        file.write(text.encode("utf-8"))


def _style(highs: Highs) -> int:
    return int(option(highs, "write_solution_style"))
