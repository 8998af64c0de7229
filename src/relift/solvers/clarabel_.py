"""Clarabel, an interior-point method in conic form: the default backend for quadratic programs.

The program becomes ``Kx + s = b``, s in the zero cone (equalities, fixed variables), the nonnegative one, second-order
cones for quadratic constraints, then the cones of the conic rows, which are Clarabel's own (power cones of more than
two arguments are taken apart, :mod:`~relift.solvers.power_trees`). For infeasible programs its z, for unbounded ones
its x is the ray.

Where Clarabel loses its digits is the static regularisation of its linear systems, 1e-8 on the diagonal unless told
otherwise. Of the Maros-Meszaros programs that leaves LISWET7-12 and YAO up to 90 % from the optimum ("almost solved")
and UBH1 5.6e-4 from it ("solved", with small residuals). A value below the threshold of the dynamic regularisation,
which alone then mends small pivots, is right on all of these but UBH1, and says so there; 1e-10 is right on UBH1.
The value was chosen on those very programs; the certificate, not this setting, is what guards programs unlike them.

Clarabel's own settings first, and these only where the certificate asks, was measured on 47 programs of Maros-Meszaros:
7.6 s of CPU time in place of 4.6 s, and ten answers less that pass. Its own tolerance of 1e-8 with this regularisation
saves two iterations of fifteen where it is enough; of 47 programs, with families of the benchmarks and cones among
them, four more failed, and the second attempts took 5.6 s in all in place of 4.0 s. Exponential and power cones are
another matter: their last digits take many short steps (2,000 entropies 12 iterations to 1e-8, 63 to 1e-10), and so are
semidefinite ones, of which each step is dear. Programs with these are solved with Clarabel's own settings first.
"""

from __future__ import annotations

import dataclasses
from types import ModuleType
from typing import TYPE_CHECKING, final

import numpy as np
from scipy import sparse

from relift.arrays import SparseMatrix, Vector
from relift.errors import BackendError
from relift.program.cones import Cone, Exponential, Power, SecondOrder, Semidefinite
from relift.program.other_order import by_columns
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.records import quick
from relift.settings import SolverSettings
from relift.solvers.backend import Backend
from relift.solvers.forms import (
    Conic,
    Facts,
    check_option_names,
    infeasible,
    is_proof,
    is_recession_direction,
    option_refused,
    triangle_of_P,
    unbounded,
    with_point,
)
from relift.solvers.kept import KeptSolver, has_same_structure, is_same_matrix
from relift.solvers.newton_polish import polished
from relift.solvers.second_order import SecondOrderCones

if TYPE_CHECKING:
    from clarabel import DefaultSettings, DefaultSolution, DefaultSolver

REGULARISATION = 1e-14
"""Static regularisation of the linear systems, in place of Clarabel's own 1e-8."""

DIGITS, MORE_DIGITS = 1e-2, 1e-4
"""What Clarabel is asked for, relative to what the certificate asks for, in programs with cones of dear digits, and in
others."""

_TOLERANCES = ("tol_gap_abs", "tol_gap_rel", "tol_feas")

LARGE_BOUND = 1e20
"""Clarabel leaves rows out from this right-hand side on, and its data can then not be updated."""

_STATUS = {
    "Solved": Status.OPTIMAL,
    "AlmostSolved": Status.OPTIMAL_INACCURATE,
    "PrimalInfeasible": Status.INFEASIBLE,
    "AlmostPrimalInfeasible": Status.INFEASIBLE,
    "DualInfeasible": Status.UNBOUNDED,
    "AlmostDualInfeasible": Status.UNBOUNDED,
    "MaxTime": Status.TIME_LIMIT,
    "MaxIterations": Status.ITERATION_LIMIT,
    # It got stuck on the way to a tighter tolerance than asked for by the user; the certificate decides.
    "InsufficientProgress": Status.OPTIMAL_INACCURATE,
    "NumericalError": Status.FAILURE,
    "CallbackTerminated": Status.TIME_LIMIT,
}


@final
class ClarabelBackend(Backend):
    """The backend that calls Clarabel."""

    name = "clarabel"
    package = "clarabel"
    solves_quadratic = True
    solves_quadratic_rows = True
    solves_cones = True
    leaves_idle_bounds_out = True
    keeps_solver = True

    def solve_form(self, program: Program, settings: SolverSettings, warm_start: Solution | None) -> Solution:
        """Solve a minimisation; a warm start is of no use to an interior-point method."""
        # The last of the harder attempts is unscaled, and so are the cones of quadratic constraints there.
        form = _Form.of(program, in_units=bool(settings.options.get("equilibrate_enable", True)))
        return form.answer(_run(_solver(self.module(), form, settings)), settings.tolerance)

    def solve_and_keep(
        self, program: Program, settings: SolverSettings, warm_start: Solution | None
    ) -> tuple[Solution, KeptSolver | None]:
        """Solve a minimisation, and return the object that did, if its data can be updated."""
        clarabel, form = self.module(), _Form.of(program)
        solver = _solver(clarabel, form, settings)
        answer = form.answer(_run(solver), settings.tolerance)
        can_update = hasattr(solver, "update") and solver.is_data_update_allowed() and form.is_finite
        return answer, _KeptClarabel(settings, answer.iterations, clarabel, solver, form) if can_update else None

    def with_more_digits(self, program: Program, settings: SolverSettings) -> SolverSettings | None:
        """Where the last digits cost much they are asked for in a second try."""
        if not _has_dear_digits(program):
            return None
        few = dict.fromkeys(_TOLERANCES, _tolerance(settings, MORE_DIGITS))
        options = {**few, "static_regularization_constant": REGULARISATION, **settings.options}
        return dataclasses.replace(settings, options=options)

    def harder(self, settings: SolverSettings, attempt: int) -> SolverSettings | None:
        """Tolerances it can just not reach, with a regularisation of 1e-10, its own 1e-8, and 1e-12 unscaled."""
        tight = dict.fromkeys(_TOLERANCES, 1e-12)
        steps: tuple[dict[str, object], ...] = (
            {**tight, "static_regularization_constant": 1e-10},
            {**tight, "static_regularization_constant": 1e-8},
            {**tight, "static_regularization_constant": 1e-12, "equilibrate_enable": False},
        )
        if not 1 <= attempt <= len(steps):
            return None
        return dataclasses.replace(settings, options={**steps[attempt - 1], **settings.options})


@final
@quick
@dataclasses.dataclass(frozen=True, eq=False)
class _Form:
    """A program as Clarabel takes it."""

    program: Program
    curved: SecondOrderCones
    conic: Conic
    P: SparseMatrix
    b: Vector

    @classmethod
    def of(cls, program: Program, old: _Form | None = None, *, in_units: bool = True) -> _Form:
        """Write the program; where only costs and right-hand sides of cones are others than in `old`, take its rows."""
        if old is not None and _has_same_rows(program, old.program):
            b = np.concatenate([old.conic.b, program.conic.b]) if len(program.conic) else old.b
            return cls(program, old.curved, old.conic, old.P, b)
        curved = SecondOrderCones.from_program(program, in_units=in_units)
        conic = Conic.from_program(program, _following(program, curved))
        b = np.concatenate([conic.b, curved.b, program.conic.b])
        return cls(program, curved, conic, triangle_of_P(program, upper=True), b)

    @property
    def is_finite(self) -> bool:
        """Whether no right-hand side is so large that Clarabel leaves its row out."""
        return float(np.max(np.abs(self.b), initial=0.0)) < LARGE_BOUND

    def cones(self, clarabel: ModuleType) -> list[object]:
        """The cones, in the order of the rows."""
        cones: list[object] = []
        if self.conic.n_equalities:
            cones.append(clarabel.ZeroConeT(self.conic.n_equalities))
        if self.conic.n_inequalities:
            cones.append(clarabel.NonnegativeConeT(self.conic.n_inequalities))
        cones += [clarabel.SecondOrderConeT(size) for size in self.curved.sizes]
        return cones + [_own_cone(clarabel, cone) for cone in self.program.conic.cones]

    def is_like(self, other: _Form) -> bool:
        """Whether the other one differs in numbers alone."""
        sizes = (self.conic.n_equalities, self.conic.n_inequalities, self.curved.sizes, self.program.conic.cones)
        others = (other.conic.n_equalities, other.conic.n_inequalities, other.curved.sizes, other.program.conic.cones)
        is_same = has_same_structure(self.P, other.P) and has_same_structure(self.conic.K, other.conic.K)
        return is_same and sizes == others

    def changes(self, old: _Form) -> dict[str, Vector]:
        """What has changed since, by Clarabel's names."""
        new = {"P": self.P.data, "q": self.program.q, "A": self.conic.K.data, "b": self.b}
        held = {"P": old.P.data, "q": old.program.q, "A": old.conic.K.data, "b": old.b}
        return {
            name: array.copy()
            for name, array in new.items()
            if array is not held[name] and not np.array_equal(array, held[name])
        }

    def answer(self, found: DefaultSolution, tolerance: float) -> Solution:
        """What Clarabel found, in the terms of the program."""
        program, conic, curved, name = self.program, self.conic, self.curved, ClarabelBackend.name
        facts: Facts = {"iterations": int(found.iterations), "message": str(found.status)}
        duals, first, second = np.asarray(found.z, np.float64), conic.b.size, conic.b.size + curved.b.size
        linear, of_curved, v = duals[:first], duals[first:second], duals[second:]
        y, w = conic.expand(linear, program.n_variables)
        match _status(found, tolerance):
            case Status.INFEASIBLE:
                if curved.sizes:
                    claim = Solution(Status.INFEASIBLE, objective=float("inf"), backend=name, **facts)
                    return claim.but(ray_y=y, ray_w=w, ray_z=curved.expand(of_curved), ray_v=v)
                return _if_proved(program, infeasible(program, name, (y, w), v, **facts))
            case Status.UNBOUNDED:
                return _if_proved(program, unbounded(name, found.x, **facts))
            case answered:
                z = curved.expand(of_curved)
                answer = with_point(program, name, answered, found.x, y, w, z, v, **facts)
                if answer.x is None:
                    return answer.but(z=z, v=v)
                if not curved.sizes:
                    return answer
                return polished(program, answer, tolerance) if answered.has_point else answer


def _has_same_rows(new: Program, old: Program) -> bool:
    """Whether matrices and bounds are the same, and there are no quadratic constraints; numbers are compared."""
    if len(new.quadratic) or len(old.quadratic) or new.conic.cones != old.conic.cones:
        return False
    matrices = ((new.A, old.A), (new.P, old.P), (new.conic.A, old.conic.A))
    if not all(is_same_matrix(one, other) for one, other in matrices):
        return False
    bounds = ((new.l, old.l), (new.u, old.u), (new.lb, old.lb), (new.ub, old.ub))
    return all(one is other or np.array_equal(one, other) for one, other in bounds)


class _KeptClarabel(KeptSolver):
    """An object of Clarabel, with what it holds: it keeps its ordering and its scaling, and begins from the start."""

    def __init__(
        self,
        settings: SolverSettings,
        iterations: int | None,
        clarabel: ModuleType,
        solver: DefaultSolver,
        form: _Form,
    ) -> None:
        super().__init__(settings, iterations)
        self.clarabel, self.solver, self.form = clarabel, solver, form

    def solve_again(self, program: Program, settings: SolverSettings, warm_start: Solution | None) -> Solution | None:
        """Update what has changed, and solve."""
        form = _Form.of(program, self.form)
        if not form.is_finite or not form.is_like(self.form):
            return None
        changes: dict[str, object] = {**form.changes(self.form)}
        if settings.time_limit != self.settings.time_limit:
            changes["settings"] = _settings(self.clarabel, settings, form.program)
            self.settings = settings
        if changes:
            self.solver.update(**changes)
        self.form = form
        return form.answer(_run(self.solver), settings.tolerance)


def _following(program: Program, curved: SecondOrderCones) -> SparseMatrix | None:
    """The rows behind the linear ones: quadratic constraints as cones, then the cones; None without any."""
    if not curved.sizes and not len(program.conic):
        return None
    if not curved.sizes:
        return by_columns(program.conic.A)
    rows = curved.K if not len(program.conic) else sparse.vstack([curved.K, program.conic.A], format="csc")
    return rows if rows.has_sorted_indices else rows.sorted_indices()


def _status(found: DefaultSolution, tolerance: float) -> Status:
    """What Clarabel says, by what the user wants: it is asked for far more, and cannot always give that."""
    said = _STATUS.get(str(found.status), Status.FAILURE)
    if said is not Status.OPTIMAL_INACCURATE:
        return said
    gap = abs(found.obj_val - found.obj_val_dual) / max(1.0, min(abs(found.obj_val), abs(found.obj_val_dual)))
    is_enough = max(found.r_prim, found.r_dual, gap) <= 0.1 * tolerance
    return Status.OPTIMAL if is_enough else said


def _if_proved(program: Program, claim: Solution) -> Solution:
    """A claim, unless Clarabel is only almost sure of it and its ray proves nothing."""
    if not claim.message.startswith("Almost"):
        return claim
    if claim.ray_x is not None and is_recession_direction(program, claim.ray_x, 1e-6):
        return claim
    y, w = claim.ray_y, claim.ray_w
    if y is not None and w is not None and is_proof(program, y, w, 1e-6, claim.ray_v):
        return claim
    return Solution(Status.FAILURE, iterations=claim.iterations, backend=claim.backend, message=claim.message)


def _own_cone(clarabel: ModuleType, cone: Cone) -> object:
    match cone:
        case SecondOrder(size=1):
            return clarabel.NonnegativeConeT(1)
        case SecondOrder(size=size):
            return clarabel.SecondOrderConeT(size)
        case Exponential():
            return clarabel.ExponentialConeT()
        case Power(alpha=alpha):
            return clarabel.PowerConeT(alpha)
        case Semidefinite(n=n):
            return clarabel.PSDTriangleConeT(n)
    raise BackendError(f"Clarabel does not know the cone {cone!r}.")


def _solver(clarabel: ModuleType, form: _Form, settings: SolverSettings) -> DefaultSolver:
    own, interrupt = _settings(clarabel, settings, form.program), settings.interrupt
    try:
        solver: DefaultSolver = clarabel.DefaultSolver(
            form.P, form.program.q.copy(), form.conic.K, form.b, form.cones(clarabel), own
        )
        if interrupt is not None and hasattr(solver, "set_termination_callback"):
            solver.set_termination_callback(lambda _: interrupt())
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic inside Clarabel reaches Python as an exception that is no Exception
        raise _stopped(error) from error
    return solver


def _run(solver: DefaultSolver) -> DefaultSolution:
    try:
        return solver.solve()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise _stopped(error) from error


def _stopped(error: BaseException) -> BackendError:
    return BackendError(f"Clarabel stopped: {error}.")


def _has_dear_digits(program: Program) -> bool:
    """Whether the last digits cost much: there are exponential, power or semidefinite cones."""
    return not set(map(type, program.conic.cones)) <= {SecondOrder}


def _tolerance(settings: SolverSettings, digits: float) -> float:
    """What Clarabel is asked for, by what the certificate will ask for."""
    return max(1e-11, min(1e-8, settings.tolerance * digits))


def _settings(clarabel: ModuleType, settings: SolverSettings, program: Program) -> DefaultSettings:
    own, is_dear = clarabel.DefaultSettings(), _has_dear_digits(program)
    if not is_dear:
        own.static_regularization_constant = REGULARISATION
    own.tol_gap_abs = own.tol_gap_rel = own.tol_feas = _tolerance(settings, DIGITS if is_dear else MORE_DIGITS)
    own.verbose = bool(settings.verbose)
    if settings.time_limit is not None:
        own.time_limit = float(settings.time_limit)
    if settings.iteration_limit is not None:
        own.max_iter = int(settings.iteration_limit)
    if settings.threads is not None and hasattr(own, "max_threads"):
        own.max_threads = int(settings.threads)
    if settings.options:
        names = [name for name in dir(own) if not name.startswith("_") and not callable(getattr(own, name))]
        check_option_names("clarabel", settings.options, names)
    for option, value in settings.options.items():
        try:
            setattr(own, option, value)
        except (TypeError, ValueError, OverflowError) as error:
            raise option_refused("clarabel", option, value, error) from error
    return own
