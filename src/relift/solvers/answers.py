"""What a backend answered, made safe: whatever it says or raises becomes a Solution that can be judged.

A backend may be broken, or written by others. An exception, a claim without a point, NaN and vectors
of another length are failures of that backend, told in its message; then the next one is asked.
"""

from __future__ import annotations

from operator import attrgetter

import numpy as np

from relift.errors import MissingPackageError, OptionError
from relift.kept_solvers import KeptSolvers
from relift.program.passes import are_finite, fit
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.settings import SolverSettings
from relift.solvers.backend import Backend

_POINTS = ("x", "y", "w", "z", "v")
_RAYS = ("ray_x", "ray_y", "ray_w", "ray_z", "ray_v")
_vectors = attrgetter(*_POINTS, *_RAYS)


def ask(
    backend: Backend,
    program: Program,
    settings: SolverSettings,
    warm_start: Solution | None = None,
    kept: KeptSolvers | None = None,
) -> Solution:
    """Call a backend; what cannot be an answer to the program comes back as a failure with the reason.

    Parameters
    ----------
    backend
        Which one.
    program, settings, warm_start
        As for :meth:`~relift.solvers.backend.Backend.solve`.
    kept
        Solver objects of earlier solves; None for a fresh one.

    Raises
    ------
    OptionError
        If the backend does not take an option: that is the caller's mistake, not the backend's.
    MissingPackageError
        If it is not installed.
    """
    try:
        is_kept = kept is not None and kept.is_wanted and backend.keeps_solver
        answer: object = (
            backend.solve_by_kept(program, settings, warm_start, kept)
            if is_kept
            else backend.solve(program, settings, warm_start)
        )
    except (OptionError, MissingPackageError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001 - whatever it is, even a panic in Rust, it is the backend's failure
        return Solution(Status.FAILURE, backend=backend.name, message=words_of(error))
    if not isinstance(answer, Solution):
        message = f"{backend.name} returned {type(answer).__name__} instead of a Solution"
        return Solution(Status.FAILURE, backend=backend.name, message=message)
    wrong = _what_is_wrong(program, answer)
    if wrong:
        said = f"{answer.message}: " if answer.message else ""
        message = f"{said}{backend.name} said {answer.status}, but {wrong}"
        return Solution(Status.FAILURE, iterations=answer.iterations, backend=backend.name, message=message)
    return answer if answer.backend else answer.but(backend=backend.name)


def words_of(error: BaseException) -> str:
    """What an exception says, with its type unless it is one of relift's own."""
    text = " ".join(str(error).split())
    return text if type(error).__module__ == "relift.errors" else f"{type(error).__name__}: {text}".rstrip(": ")


def _what_is_wrong(program: Program, answer: Solution) -> str:
    """Why this cannot be an answer to the program; empty if it can be one."""
    status: object = answer.status
    if not isinstance(status, Status):
        return f"{status!r} is not a status"
    sizes = (
        program.n_variables,
        program.n_rows,
        program.n_variables,
        len(program.quadratic),
        program.conic.n_rows,
    )
    if fit(_vectors(answer), (*sizes, *sizes), are_finite=True):  # as nearly always
        return "gave no point" if answer.x is None and answer.status.has_point else ""
    given = []
    for names in (_POINTS, _RAYS):
        for name, size in zip(names, sizes, strict=True):
            vector = getattr(answer, name)
            if vector is None:
                continue
            given.append((name, vector))
            if not isinstance(vector, np.ndarray) or vector.dtype.kind not in "fiu":
                return f"{name} is not an array of real numbers"
            if vector.shape != (size,):
                shape = " x ".join(map(str, vector.shape))
                return f"{name} has {shape or 'no'} entries, and {size} are needed"
    if answer.status.has_point and answer.x is None:
        return "gave no point"
    if are_finite(*(vector for _, vector in given)):
        return ""
    for name, vector in given:
        if not are_finite(vector):
            return f"{name} has an entry that is not a finite number"
    return ""
