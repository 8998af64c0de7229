"""Ground against lifted, in turn, in one process, in CPU seconds of all threads, which a busy machine disturbs least.

Finding the symmetry is counted, and a wrong answer gets no time.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from time import process_time

import relift
from relift.program.program import Program


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

    @property
    def speed_up(self) -> float | None:
        if self.ground_seconds is None or self.lifted_seconds is None:
            return None
        return self.ground_seconds / self.lifted_seconds

    def as_dict(self) -> dict[str, object]:
        return asdict(self) | {"speed_up": self.speed_up}


def measure(name: str, program: Program, backend: str, time_limit: float, repeats: int = 3) -> Measurement:
    """The smallest time of several repeats; a side that is not certified optimal gets no time."""
    ground_times: list[float] = []
    lifted_times: list[float] = []
    lift_times: list[float] = []
    ground = lifted = None
    for repeat in range(repeats):
        start = process_time()
        lifting = relift.lift(program)
        lift_times.append(process_time() - start)
        lifted = relift.solve(lifting, backend=backend, time_limit=time_limit)
        lifted_times.append(process_time() - start)
        if repeat == 0 or ground_times[0] < time_limit / 10:
            start = process_time()
            ground = relift.solve(program, backend=backend, time_limit=time_limit, lift="none", reduce=False)
            ground_times.append(process_time() - start)
    assert ground is not None
    assert lifted is not None
    both = ground.status == lifted.status == "optimal"
    difference = abs(ground.objective - lifted.objective) / max(1.0, abs(ground.objective)) if both else None
    agrees = difference is None or difference <= 1e-5
    small = lifted.lifting.small
    return Measurement(
        name, backend, program.n_variables, program.n_rows, program.n_nonzeros, small.n_variables, small.n_rows,
        min(ground_times) if ground.status == "optimal" and agrees else None,
        min(lifted_times) if lifted.status == "optimal" and agrees else None,
        min(lift_times), str(ground.status), str(lifted.status), difference,
    )  # fmt: skip
