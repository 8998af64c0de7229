"""Ground against lifted, in turn, in one process, in CPU seconds of all threads, which a busy machine disturbs least.

Finding the symmetry is counted, and a wrong answer gets no time. Linear programs are given to HiGHS directly by both of
its methods, simplex and interior point without crossover, and the quicker one counts; relift is called as a user calls
it, and runs both methods where simplex takes long.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from time import process_time, thread_time

import relift
from relift.program.program import Program
from relift.result import Result
from relift.solvers.highs_race import INTERIOR_OPTIONS
from relift.solvers.registry import get_backend

SIMPLEX, INTERIOR = "simplex", "interior point"

WAYS: dict[str, Mapping[str, object]] = {SIMPLEX: {"solver": "simplex"}, INTERIOR: INTERIOR_OPTIONS}
"""How HiGHS is asked to solve a linear program directly."""


@dataclass(frozen=True)
class Measurement:
    """One program and one backend."""

    program: str
    backend: str
    n_variables: int
    n_rows: int
    n_nonzeros: int
    small_variables: int
    small_rows: int
    ground_seconds: float | None
    lifted_seconds: float | None
    lift_seconds: float
    ground_status: str
    lifted_status: str
    difference: float | None
    """Relative difference of the two objectives, floor 1."""
    ways: dict[str, float | None]
    """Seconds of each direct way, the least of which are the ground ones; empty where there is one way only."""
    lifted_caller_seconds: float | None
    """CPU seconds of the thread that calls, on the lifted side: what a clock shows where other cores are free."""
    chosen: str
    """The backend that answered on the lifted side."""

    @property
    def speed_up(self) -> float | None:
        if self.ground_seconds is None or self.lifted_seconds is None:
            return None
        return self.ground_seconds / self.lifted_seconds

    def as_dict(self) -> dict[str, object]:
        return asdict(self) | {"speed_up": self.speed_up}


def measure(name: str, program: Program, backend: str, time_limit: float, repeats: int = 3) -> Measurement:
    """The smallest time of several repeats; a side that is not certified optimal gets no time."""
    asked = WAYS if backend == "highs" and program.is_linear else {"": {}}
    limit = time_limit if backend == "auto" or get_backend(backend).has_time_limit else None
    times: dict[str, list[float]] = {way: [] for way in asked}
    answers: dict[str, Result] = {}
    lifted_times: list[tuple[float, float]] = []
    lift_times: list[float] = []
    lifted = None
    for _ in range(repeats):
        start, of_thread = process_time(), thread_time()
        lifting = relift.lift(program)
        lift_times.append(process_time() - start)
        lifted = relift.solve(lifting, backend=backend, time_limit=limit)
        lifted_times.append((process_time() - start, thread_time() - of_thread))
        for way, options in asked.items():
            if times[way] and times[way][0] >= time_limit / 10:
                continue
            start = process_time()
            answers[way] = relift.solve(
                program, backend=backend, time_limit=limit, lift="none", reduce=False, backend_options=options
            )
            times[way].append(process_time() - start)
    assert lifted is not None
    found = {way: _seconds(times[way], answers[way], lifted) for way in asked}
    certified = [way for way, seconds in found.items() if seconds is not None]
    best = min(certified or asked, key=lambda way: min(times[way]))
    ground, small = answers[best], lifted.lifting.small
    whole, of_caller = min(lifted_times)
    is_answered = lifted.status == "optimal" and _agree(ground, lifted)
    return Measurement(
        name, backend, program.n_variables, program.n_rows, program.n_nonzeros, small.n_variables, small.n_rows,
        found[best], whole if is_answered else None, min(lift_times), str(ground.status), str(lifted.status),
        _difference(ground, lifted), found if len(found) > 1 else {}, of_caller if is_answered else None,
        lifted.backend,
    )  # fmt: skip


def _seconds(times: list[float], direct: Result, lifted: Result) -> float | None:
    """The least time of a direct way; None if its answer is not certified, or another one than the lifted."""
    return min(times) if direct.status == "optimal" and _agree(direct, lifted) else None


def _difference(direct: Result, lifted: Result) -> float | None:
    if not direct.status == lifted.status == "optimal":
        return None
    return abs(direct.objective - lifted.objective) / max(1.0, abs(direct.objective))


def _agree(direct: Result, lifted: Result) -> bool:
    difference = _difference(direct, lifted)
    return difference is None or difference <= 1e-5
