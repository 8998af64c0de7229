"""Many right-hand sides, costs or bounds of one program: one search for classes, and warm starts from each to the next.

Classes must hold for every scenario. They are found once, on a program whose costs and right-hand sides are *numbers of
what varies*: two variables have the same cost there if all their costs and bounds are equal in every scenario, two rows
the same side if all their sides are. Each scenario then checks these classes on its own numbers in O(nonzeros), as
:meth:`relift.Lifting.update` does, and is certified on its own original program; nothing rests on the search.

Linear programs keep one HiGHS object: the costs and bounds of the small program change in it, and simplex goes on from
the last basis. Where its answer does not pass, and for all other programs, the scenario is solved by
:func:`relift.solve`, from the last answer.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from threading import Event
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from relift.arrays import Matrix, Vector
from relift.certified_solve import Attempt
from relift.errors import BackendError, OptionError, ProgramError
from relift.lifting.certificate import certify
from relift.lifting.lifting import Lifting
from relift.lifting.lifting import lift as lift_with_settings
from relift.pipeline import check_kinds, solve
from relift.program.arrays import as_vector
from relift.program.other_models import other_model_error
from relift.program.program import Program, as_constant, without_huge
from relift.program.solution import Solution, Status
from relift.result import Result
from relift.settings import OWN_OPTIONS, LiftSettings, SolverSettings, unknown_option
from relift.solvers.highs_ import load, run, solution_of
from relift.solvers.separate_process import call_apart
from relift.threads import using_threads

Change = Mapping[str, ArrayLike | float]
"""What differs in a scenario: any of q, l, u, lb, ub, r, b."""

Vectors = dict[str, Any]
"""What differs in a scenario, checked: vectors, and a number for r."""

Options = Mapping[str, Any]
"""Keywords of :func:`relift.solve`."""

_PARTS = ("q", "l", "u", "lb", "ub", "r", "b")
_LIFT_WORDS = ("lift", "values", "digits", "scale_rows", "reduce", "sizes", "signs")


def solve_many(program: Program, scenarios: Iterable[Change], *, jobs: int = 1, **options: Any) -> list[Result]:
    """Solve one program with many costs, right-hand sides or bounds.

    Parameters
    ----------
    program
        The program; what a scenario does not name is as here.
    scenarios
        For each, what differs: a mapping from ``"q"``, ``"l"``, ``"u"``, ``"lb"``, ``"ub"``, ``"r"`` or ``"b"``
        (right-hand sides of conic rows) to the new vector.
    jobs
        In how many processes; scenarios that follow each other stay together, so that each starts near the last. On
        Windows they import the main script: call this under ``if __name__ == "__main__"`` there.
    **options
        Keywords of :func:`relift.solve`, for all of them; a time limit is for each.

    Returns
    -------
    list of Result
        One for each scenario, in order; each is certified on its own program.

    Raises
    ------
    OptionError
        If a scenario names something else, or `jobs` is not a positive whole number.
    ProgramError
        If the vectors of a scenario do not fit.

    Examples
    --------
    >>> program = Program(q=np.ones(100), A=np.ones((1, 100)), l=[1], lb=0, ub=1)
    >>> results = solve_many(program, [{"l": [demand]} for demand in (10, 20, 200)])
    >>> [(str(result.status), round(result.objective, 9)) for result in results]
    [('optimal', 10.0), ('optimal', 20.0), ('infeasible', inf)]
    >>> results[1].lifting.small.n_variables
    1
    """
    if not isinstance(program, Program):
        raise other_model_error("relift.solve_many", program)
    if not isinstance(jobs, int) or isinstance(jobs, bool) or jobs < 1:
        raise OptionError(f"jobs={jobs!r} is out of range.", "Give a positive whole number.")
    for name in options:
        if name not in OWN_OPTIONS:
            raise unknown_option(name)
    check_kinds(*(options.get(name) for name in ("warm_start", "progress", "backend_options")))
    if isinstance(scenarios, Mapping):
        raise OptionError("scenarios is one mapping.", "Give a list of them: [{'l': ...}, {'l': ...}].")
    changes = [_checked(program, number, change) for number, change in enumerate(scenarios)]
    if not changes:
        return []
    if any(options.get(name) is not None for name in ("approximate", "warm_start")):
        raise OptionError("approximate and warm_start do not go with many scenarios.", "Leave them out.")
    if any(options.get(name) is not None for name in ("progress",)) and jobs > 1:
        raise OptionError("progress cannot be called from other processes.", "Leave it out, or jobs.")
    jobs = min(jobs, len(changes), os.cpu_count() or 1)
    with using_threads(options.get("threads")):
        lifting = _joint_lifting(program, changes, _lift_settings(options))
        if jobs == 1:
            return _solve_in_turn(lifting, changes, options)
    parts = np.array_split(np.arange(len(changes)), jobs)
    shares = [[changes[k] for k in part] for part in parts]
    found = (_solve_apart if os.name == "posix" else _solve_in_spawned)(lifting, shares, options)
    return [result for results in found for result in results]


def _checked(program: Program, number: int, change: Change) -> Vectors:
    """The vectors of a scenario; wrong ones are told before the first is solved."""
    if not isinstance(change, Mapping):
        raise OptionError(f"scenario {number} is a {type(change).__name__}.", "Give a mapping such as {'l': ...}.")
    unknown = [name for name in change if name not in _PARTS]
    if unknown:
        raise OptionError(
            f"scenario {number} changes {unknown[0]!r}.", f"Expected any of: {', '.join(_PARTS)}; matrices stay."
        )
    try:
        vectors: dict[str, Any] = {
            name: as_constant(value) if name == "r" else as_vector(name, value, _part(program, name).size)
            for name, value in change.items()
        }
        vectors |= {name: without_huge(vectors[name]) for name in ("l", "u", "lb", "ub") if name in vectors}
        whole = {name: getattr(program, name) for name in ("l", "u", "lb", "ub")} | vectors
        if np.any(whole["l"] > whole["u"]) or np.any(whole["lb"] > whole["ub"]):
            program.replace(**{name: whole[name] for name in ("l", "u", "lb", "ub")})  # raises what is wrong
    except ProgramError as error:
        error.message = f"scenario {number}: {error.message}"
        raise
    return vectors


def _lift_settings(options: Options) -> LiftSettings:
    default = LiftSettings()
    return LiftSettings(*(options.get(name, getattr(default, name)) for name in _LIFT_WORDS))


# --- one partition for all --------------------------------------------------------------------------------------------


def _joint_lifting(program: Program, changes: Sequence[Vectors], settings: LiftSettings) -> Lifting:
    """A lifting of the program whose classes hold in every scenario, as far as costs and sides decide it."""
    varied = {name for change in changes for name in change} - {"r", "b"}
    if not varied or settings.lift == "none":
        return lift_with_settings(program, settings)
    columns = _numbers([_vectors(program, changes, name) for name in ("q", "lb", "ub") if name in varied], program.q)
    weights = _row_weights(program)
    rows = _numbers(
        [stack / weights for name in ("l", "u") if name in varied for stack in [_vectors(program, changes, name)]],
        program.l,
    )
    words: dict[str, Any] = {}
    if columns is not None:
        words["q"] = columns
    if rows is not None:
        # Numbers of sides, in the units of each row; what is missing, and what is an equality, stays so.
        side = rows * weights
        is_equality = program.l == program.u
        words["u"] = np.where(np.isfinite(program.u), side, np.inf)
        words["l"] = np.where(np.isfinite(program.l), np.where(is_equality, side, -side), -np.inf)
    witness = lift_with_settings(program.replace(**words), settings)
    return witness.update(**{name: getattr(program, name) for name in words})


def _vectors(program: Program, changes: Sequence[Vectors], name: str) -> Matrix:
    """What a vector is in each scenario and in the program itself, one in each row."""
    return np.array([getattr(program, name), *(change[name] for change in changes if name in change)])


def _row_weights(program: Program) -> Vector:
    """The largest coefficient of each row: rows that are alike up to a factor have sides that are alike up to it."""
    rows = program.A.tocsr()
    weights = np.ones(program.n_rows)
    starts = rows.indptr[:-1]
    has = np.diff(rows.indptr) > 0
    if has.any():
        weights[has] = np.maximum.reduceat(np.abs(rows.data), starts[has])
    return np.where(weights > 0, weights, 1.0)


def _numbers(stacks: Sequence[Matrix], like: Vector) -> Vector | None:
    """Number the columns of the stacks: equal ones have equal numbers, from 1 on."""
    if not stacks or not like.size:
        return None
    together = np.concatenate(stacks)
    together = np.where(together == 0, 0.0, together)  # no zero with a minus sign
    as_bytes = np.ascontiguousarray(together.T).view(np.dtype((np.void, together.shape[0] * 8))).ravel()
    return np.asarray(np.unique(as_bytes, return_inverse=True)[1].ravel() + 1.0)


# --- side by side -----------------------------------------------------------------------------------------------------


def _solve_apart(lifting: Lifting, shares: Sequence[Sequence[Vectors]], options: Options) -> list[list[Result]]:
    """Each share in a process that does not import the main script, and is kept for the next call."""
    stop = Event()

    def solve_share(share: Sequence[Vectors]) -> list[Result]:
        return call_apart(
            "a process that solves scenarios", _solve_on_one_core, lifting, share, options,
            interrupt=stop.is_set, prints=bool(options.get("verbose")),
        )  # fmt: skip

    with ThreadPoolExecutor(len(shares)) as pool:
        futures = [pool.submit(solve_share, share) for share in shares]
        try:
            return [future.result() for future in futures]
        except BaseException:  # an error in one share, or Ctrl-C: nobody waits for the others
            stop.set()
            raise


def _solve_in_spawned(lifting: Lifting, shares: Sequence[Sequence[Vectors]], options: Options) -> list[list[Result]]:
    n_shares = len(shares)
    with ProcessPoolExecutor(n_shares, mp_context=get_context("spawn")) as pool:
        return list(pool.map(_solve_on_one_core, [lifting] * n_shares, shares, [options] * n_shares))


# --- in turn ----------------------------------------------------------------------------------------------------------


def _solve_on_one_core(lifting: Lifting, changes: Sequence[Vectors], options: Options) -> list[Result]:
    """In a process beside others, which need the other cores."""
    with using_threads(1):
        return _solve_in_turn(lifting, changes, options)


def _solve_in_turn(lifting: Lifting, changes: Sequence[Vectors], options: Options) -> list[Result]:
    options = {name: value for name, value in options.items() if name not in _LIFT_WORDS}
    held = _Held(options) if _goes_by_highs(lifting, options) else None
    results: list[Result] = []
    last: Result | None = None
    varied = {name for change in changes for name in change}
    base = {name: _part(lifting.program, name) for name in varied}
    for change in changes:
        start = perf_counter()
        here = lifting.update(**{**base, **change})
        if here.variables.n_classes > lifting.variables.n_classes:
            lifting = here  # finer classes hold for the scenarios before, too
        result = None if held is None else held.solve(here, perf_counter() - start)
        if result is None:
            result = solve(here, **options, warm_start=last)
        results.append(result)
        last = result if result.status == Status.OPTIMAL else last
    return results


def _part(program: Program, name: str) -> Vector:
    part: Vector = program.conic.b if name == "b" else getattr(program, name)
    return part


def _goes_by_highs(lifting: Lifting, options: Options) -> bool:
    is_default = options.get("backend", "auto") in {"auto", "highs"} and not options.get("vertex")
    return is_default and lifting.small.is_linear and lifting.small.n_variables > 0


class _Held:
    """One HiGHS object that goes from scenario to scenario.

    Parameters
    ----------
    options
        Keywords of :func:`relift.solve`.
    """

    def __init__(self, options: Options) -> None:
        names = ("tolerance", "time_limit", "iteration_limit", "threads", "verbose")
        words = {name: options[name] for name in names if options.get(name) is not None}
        self.settings = SolverSettings(**words, options=dict(options.get("backend_options") or {}))
        self.highs: Any = None
        self.small: Program | None = None

    def solve(self, lifting: Lifting, lift_seconds: float) -> Result | None:
        """Solve the small program of a scenario; None if the answer does not pass, or is not an optimum."""
        small = lifting.small
        start = perf_counter()
        try:
            self._put(small)
        except BackendError:  # HiGHS does not take it; others may, or other units
            self.highs = None
            return None
        status = run(self.highs)
        if status != "kOptimal":
            self.highs = None  # whatever state it is in, the next scenario begins anew
            return None
        answer = solution_of(self.highs, small, "highs", status)
        solve_seconds = perf_counter() - start
        start = perf_counter()
        expanded = lifting.expand(answer)
        expand_seconds = perf_counter() - start
        start = perf_counter()
        certificate = certify(lifting.program, expanded, self.settings.tolerance)
        timings = {"lift": lift_seconds, "solve": solve_seconds, "expand": expand_seconds}
        timings["certify"] = perf_counter() - start
        if not certificate.is_optimal:
            self.highs = None
            return None
        attempt = Attempt("highs", Status.OPTIMAL, solve_seconds, certificate.worst_residual, status)
        return Result(lifting.program, _optimal(expanded), certificate, lifting, timings, (attempt,))

    def _put(self, small: Program) -> None:
        """Put the numbers of a scenario into the object, or make a new one where the matrix has changed."""
        if self.highs is None or self.small is None or not _has_same_matrix(self.small, small):
            self.highs = load(small, self.settings)
        else:
            n, m = small.n_variables, small.n_rows
            columns, rows = np.arange(n, dtype=np.int32), np.arange(m, dtype=np.int32)
            self.highs.changeColsCost(n, columns, small.q.copy())
            self.highs.changeColsBounds(n, columns, small.lb.copy(), small.ub.copy())
            if m:
                self.highs.changeRowsBounds(m, rows, small.l.copy(), small.u.copy())
            self.highs.changeObjectiveOffset(small.r)
        self.small = small


def _has_same_matrix(one: Program, other: Program) -> bool:
    A, B = one.A, other.A
    return A is B or (
        A.shape == B.shape
        and A.format == B.format
        and np.array_equal(A.indptr, B.indptr)
        and np.array_equal(A.indices, B.indices)
        and np.array_equal(A.data, B.data)
    )


def _optimal(solution: Solution) -> Solution:
    from dataclasses import replace

    return replace(solution, status=Status.OPTIMAL)
