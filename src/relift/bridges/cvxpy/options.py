"""The options of a lifted solve: checked when they are given, equal when they mean the same."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, final

from relift.approximate.options import Approximation, approximation_from
from relift.errors import OptionError
from relift.settings import LiftMethod, LiftSettings, Reading, SolverSettings, check_choice
from relift.symmetry.partition import Partition

TOLERANCE = 1e-6
"""The largest relative residual that is called optimal, unless the caller says otherwise."""

_TOLERANCES_OF_SOLVERS = {
    "eps", "eps_abs", "eps_rel", "abstol", "reltol", "feastol", "tol_gap_abs", "tol_gap_rel", "tol_feas",
    "primal_feasibility_tolerance", "dual_feasibility_tolerance",
}  # fmt: skip


@final
@dataclass(frozen=True)
class LiftedOptions:
    """How a problem is lifted, and what solves the small one.

    Parameters
    ----------
    lift, values, digits, scale_rows, reduce, sizes, signs
        How classes are looked for; see :func:`relift.lift`.
    approximate
        Merge what is nearly equal and stop at a proved gap; see :func:`relift.solve`.
    backend
        ``"auto"``, a backend of relift, or the name of any solver that CVXPY has installed.
    tolerance
        The largest relative residual on the problem as CVXPY compiled it that may be called optimal. None: 1e-6, or ten
        times the tolerances that are passed to the backend, where those are looser.
    time_limit, iteration_limit, threads
        Told to the backend; see :func:`relift.solve`.
    recover
        Look for quadratic constraints and geometric means in the cones that CVXPY has made of them.
    backend_options
        Handed to the backend as they are, by its own names.
    """

    lift: LiftMethod = "equitable"
    values: Reading = "decimal"
    digits: int | None = None
    scale_rows: bool = True
    reduce: bool = True
    sizes: bool = True
    signs: bool = True
    backend: str = "auto"
    tolerance: float | None = None
    time_limit: float | None = None
    iteration_limit: int | None = None
    threads: int | None = None
    recover: bool = True
    approximate: Approximation | Partition | float | None = None
    backend_options: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "backend_options", dict(self.backend_options))
        if not isinstance(self.backend, str):
            raise OptionError(f"backend={self.backend!r} is not a name.", "Give 'auto' or the name of a solver.")
        for name in ("scale_rows", "reduce", "sizes", "signs", "recover"):
            check_choice(name, getattr(self, name), (True, False))  # type: ignore[arg-type]
        self.lift_settings()
        if self.approximate is not None:
            approximation_from(self.approximate)
        SolverSettings(self.certificate_tolerance, self.time_limit, self.iteration_limit, self.threads)

    def __hash__(self) -> int:
        words = tuple(_hashable(getattr(self, item.name)) for item in fields(self) if item.name != "backend_options")
        own = {name: _hashable(value) for name, value in self.backend_options.items()}
        return hash((words, tuple(sorted(own))))

    @property
    def certificate_tolerance(self) -> float:
        """The tolerance of the certificate: whoever asks the backend for less asks the certificate for less, too."""
        if self.tolerance is not None:
            return self.tolerance
        asked = [
            10.0 * float(value)
            for name, value in self.backend_options.items()
            if name in _TOLERANCES_OF_SOLVERS and isinstance(value, (int, float)) and 0 < value < 0.1
        ]
        return max([TOLERANCE, *asked])

    def lift_settings(self) -> LiftSettings:
        """How classes are looked for, as the lower layers take it."""
        return LiftSettings(
            self.lift, self.values, self.digits, self.scale_rows, self.reduce, self.sizes, self.signs
        )  # fmt: skip

    def with_solve_options(self, given: Mapping[str, Any]) -> LiftedOptions:
        """These options for one solve: relift's own options replace, all others are the backend's.

        Parameters
        ----------
        given
            The keywords of ``problem.solve``.
        """
        if given.keys() <= _NOT_OURS:
            return self
        own = {name: value for name, value in given.items() if name in OWN_WORDS}
        for_backend = {name: value for name, value in given.items() if name not in OWN_WORDS | _NOT_OURS}
        for_backend = {**self.backend_options, **own.pop("backend_options", {}), **for_backend}
        return replace(self, **own, backend_options=for_backend)


def _hashable(value: Any) -> Any:
    return value if isinstance(value, Hashable) else repr(value)


OWN_WORDS = frozenset(item.name for item in fields(LiftedOptions))
"""The keywords that are relift's; all others are passed to the backend."""

_NOT_OURS = frozenset({"use_quad_obj"})
"""A keyword that CVXPY itself reads."""
