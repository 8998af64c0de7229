"""relift as a solver of linopy, and so of PyPSA: ``import relift.linopy``, then ``solver_name="relift"``.

linopy's list of solvers is an enumeration with one class for each name. Importing this module adds the name
``relift``, last, so that linopy's default solver stays what it was; :func:`unregister` takes it out again. The class is
linopy's own of HiGHS with another way to run: the model that linopy has built is solved by :func:`relift.highs.solve`,
and linopy reads the answer as it reads that of HiGHS. Signs of dual values are therefore those of linopy with HiGHS.

>>> import linopy, relift.linopy
>>> model = linopy.Model()
>>> x = model.add_variables(lower=0, upper=5, coords=[range(100)], name="x")
>>> _ = model.add_constraints(x.sum() >= 200, name="demand")
>>> model.add_objective((2 * x).sum())
>>> model.solve(solver_name="relift", log_to_console=False)
('ok', 'optimal')
>>> float(model.constraints["demand"].dual), model.solver.outcome.result.lifting.small.n_variables
(2.0, 1)
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from copy import copy
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from relift.atomic import write_atomically
from relift.bridges.highs import Outcome, solve
from relift.bridges.highs.options import set_options
from relift.errors import MissingPackageError, ReliftWarning, UnsupportedError
from relift.formats.highs_solutions import highs_text

try:
    from linopy import solvers as _solvers
except ImportError:
    raise MissingPackageError("relift.linopy needs linopy 0.8.", "Install it: pip install 'relift[linopy]'.") from None

NAME = "relift"
"""What linopy calls the solver."""
_MEMBER = "Relift"
_OF_INTEGERS = ("INTEGER_VARIABLES", "SEMI_CONTINUOUS_VARIABLES", "MIP_DUAL_BOUND_REPORT")
"""Features of HiGHS, by linopy's names, that relift does not have: what asks linopy for them chooses another solver."""


class Relift(_solvers.Highs):  # type: ignore[misc]
    """relift as a solver class of linopy; what ``solver_name="relift"`` makes.

    Options are keywords of :func:`relift.solve`, ``integers`` of :func:`relift.highs.solve`, and options of HiGHS.
    Models are passed in memory (``io_api="direct"``) unless another ``io_api`` is asked for; ``warmstart_fn`` is
    not used.
    """

    display_name: ClassVar[str] = "relift"
    features: ClassVar[frozenset[Any]] = frozenset(f for f in _solvers.Highs.features if f.name not in _OF_INTEGERS)
    io_api: str | None
    outcome: Outcome | None = None
    """What relift did with the model: its result, with classes and certificate, or why it was not lifted."""

    def _validate_model(self) -> None:
        if self.solver_options.get("integers") == "pass":  # all that HiGHS takes can be passed whole
            as_highs = copy(self)
            as_highs.__class__ = _solvers.Highs
            as_highs._validate_model()
        else:
            super()._validate_model()

    def _build(self, **build_words: Any) -> None:
        is_unsaid = self.io_api is None
        if is_unsaid:
            self.io_api = "direct"
        super()._build(**build_words)
        if is_unsaid:  # linopy has made an empty file for the model, and removes what it finds under this name
            self._problem_fn = build_words.get("problem_fn")

    def _set_solver_params(self, highs_solver: Any, log_fn: Any = None) -> None:
        if log_fn is not None:
            self.solver_options["log_file"] = str(log_fn)
        options = dict(self.solver_options)
        self._words = {name: options.pop(name) for name in ("integers",) if name in options}
        self._words |= set_options(highs_solver, options)

    def _solve(
        self, h: Any, solution_fn: Any = None, warmstart_fn: Any = None, basis_fn: Any = None, *rest: Any, **more: Any
    ) -> Any:
        if warmstart_fn is not None:
            _warn("warmstart_fn is not used: relift does not read a basis or a solution file.")
        words = dict(self._words)
        if basis_fn is not None:
            words.setdefault("vertex", True)  # another point has no basis
        try:
            self.outcome = solve(h, **words)
        except UnsupportedError as error:
            raise self._in_words_of_linopy(error) from None
        result = self.outcome.result
        if result is not None and solution_fn is not None:
            _write(Path(solution_fn), highs_text(result.program, result.solution))
            solution_fn = None  # HiGHS itself does not know every answer
        h.run = lambda: None  # it has run
        try:
            answer = super()._solve(h, solution_fn, None, basis_fn, *rest, **more)
        finally:
            del h.run
        return self._with_seconds(answer)

    def _in_words_of_linopy(self, error: UnsupportedError) -> UnsupportedError:
        """Name the blocks of variables, which is what a model of linopy consists of."""
        kinds = (getattr(self.model, kind, ()) for kind in ("integers", "binaries", "semi_continuous"))
        blocks = [repr(name) for kind in kinds for name in kind]
        message = error.message
        if blocks:
            more = f" and {len(blocks) - 5} more" if len(blocks) > 5 else ""
            message = f"integer or semi-continuous: {', '.join(blocks[:5])}{more}; relift solves continuous programs."
        return UnsupportedError(
            message, 'model.solve(..., integers="pass") passes the whole model to HiGHS, without lifting.'
        )

    def _with_seconds(self, answer: Any) -> Any:
        """HiGHS counts its own seconds only."""
        result = None if self.outcome is None else self.outcome.result
        if result is not None and is_dataclass(getattr(answer, "report", None)):
            answer.report = self.report = replace(answer.report, runtime=sum(result.timings.values()))
        return answer


def _write(path: Path, text: str) -> None:
    """Write a file; an answer that was found is not lost for a folder that is missing."""
    try:
        with write_atomically(path) as file:
            file.write(text.encode())
    except OSError as error:
        _warn(f"the solution file {path} was not written: {error.strerror}.")


def _warn(message: str) -> None:
    warnings.warn(message, ReliftWarning, stacklevel=5)


def register() -> None:
    """Add ``"relift"`` to the solvers of linopy; once more changes nothing."""
    names = _solvers.SolverName
    if NAME not in names._value2member_map_:
        member = object.__new__(names)
        member._name_, member._value_, member._sort_order_ = _MEMBER, NAME, len(names._member_names_)
        type.__setattr__(names, _MEMBER, member)
        names._member_names_.append(_MEMBER)
        names._member_map_[_MEMBER] = names._value2member_map_[NAME] = member
    setattr(_solvers, _MEMBER, Relift)
    _list(_with_name)


def unregister() -> None:
    """Take ``"relift"`` out of the solvers of linopy again."""
    names = _solvers.SolverName
    if NAME in names._value2member_map_:
        type.__delattr__(names, _MEMBER)
        names._member_names_.remove(_MEMBER)
        del names._member_map_[_MEMBER], names._value2member_map_[NAME]
    if hasattr(_solvers, _MEMBER):
        delattr(_solvers, _MEMBER)
    _list(_without_name)


def _list(changed: Any) -> None:
    """Change the lists of names, which are plain lists in some versions of linopy and made when asked in others."""
    if hasattr(_solvers, "_SOLVER_PROBE_ORDER"):
        _solvers._SOLVER_PROBE_ORDER = tuple(changed(_solvers._SOLVER_PROBE_ORDER))
        _solvers._QuadraticSolvers._filter = frozenset(changed(sorted(_solvers._QuadraticSolvers._filter)))
        for made_when_asked in (_solvers.available_solvers, _solvers.quadratic_solvers, _solvers.licensed_solvers):
            made_when_asked.__dict__.pop("_names", None)
    for name in ("available_solvers", "quadratic_solvers", "QUADRATIC_SOLVERS", "NO_SOLUTION_FILE_SOLVERS"):
        held = getattr(_solvers, name, None)
        if isinstance(held, list):
            held[:] = changed(held)


def _with_name(names: Iterable[str]) -> list[str]:
    return [*(name for name in names if name != NAME), NAME]


def _without_name(names: Iterable[str]) -> list[str]:
    return [name for name in names if name != NAME]


register()
