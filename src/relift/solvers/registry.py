"""Which backends there are: one line for each.

To add a backend: write its file, add its line to ``_BACKENDS``, and say so in the changelog. The tables
of the documentation and of ``relift backends`` are made from here.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import final

from relift.errors import MissingPackageError, OptionError
from relift.program.program import Program
from relift.solvers.backend import Backend
from relift.solvers.forms import missing_package


@final
@dataclass(frozen=True)
class BackendLine:
    """What the registry knows of a backend without importing its solver.

    Parameters
    ----------
    name
        How users call it; one that ends in ``:`` is a family, completed by the name of a solver.
    location
        Module and class that implement it.
    package
        The Python package it needs.
    extra
        The extra of relift that installs this package; empty if relift always does.
    description
        One line for tables.
    """

    name: str
    location: str
    package: str
    extra: str
    description: str

    @property
    def is_family(self) -> bool:
        """Whether a solver name must follow."""
        return self.name.endswith(":")

    @property
    def is_installed(self) -> bool:
        """Whether its package can be imported; a package that was found is not looked for again."""
        return is_importable(self.package)


_FOUND: set[str] = set()
"""Packages that were found: looking costs a tenth of a millisecond, more than a small program."""


def is_importable(package: str) -> bool:
    """Whether a package can be imported, by looking and not by importing it.

    Examples
    --------
    >>> is_importable("clarabel"), is_importable("no_such_solver")
    (True, False)
    """
    if package not in _FOUND and importlib.util.find_spec(package) is not None:
        _FOUND.add(package)
    return package in _FOUND


_BACKENDS: tuple[BackendLine, ...] = (
    BackendLine("highs", "highs_.HighsBackend", "highspy", "", "HiGHS: simplex; default for LPs, active set for QPs"),
    BackendLine(
        "clarabel", "clarabel_.ClarabelBackend", "clarabel", "", "Clarabel: interior point; default for QPs and cones"
    ),
    BackendLine("osqp", "osqp_.OsqpBackend", "osqp", "backends", "OSQP: ADMM, first order, warm start"),
    BackendLine("piqp", "piqp_.PiqpBackend", "piqp", "backends", "PIQP: proximal interior point"),
    BackendLine(
        "scs", "scs_.ScsBackend", "scs", "backends", "SCS: ADMM on the homogeneous embedding, first order; takes cones"
    ),
    BackendLine("qpsolvers:", "qpsolvers_.QpsolversBackend", "qpsolvers", "backends", "any solver of qpsolvers"),
    BackendLine("cvxpy:", "cvxpy_.CvxpyBackend", "cvxpy", "cvxpy", "any QP or conic solver of CVXPY"),
)

_LINES = {line.name: line for line in _BACKENDS}

ORDER: dict[str, tuple[str, ...]] = {
    "LP": ("highs", "clarabel"),
    "QP": ("clarabel", "piqp", "highs"),
    "cones": ("clarabel", "scs"),
}
"""Which backends ``"auto"`` asks, in this order, until an answer passes its check."""


@final
@dataclass(frozen=True)
class BackendInfo:
    """One row of the table of backends.

    Parameters
    ----------
    name
        How users call it.
    package
        The Python package it needs.
    version
        Version of the solver; empty if it is not installed.
    description
        What it is.
    install
        The command that installs it; empty if it is installed.
    """

    name: str
    package: str
    version: str
    description: str
    install: str

    @property
    def is_installed(self) -> bool:
        """Whether it can be used now."""
        return not self.install


def get_backend(name: str) -> Backend:
    """Return the backend of that name.

    Parameters
    ----------
    name
        For example ``"highs"``, ``"clarabel"``, ``"qpsolvers:piqp"`` or ``"cvxpy:CLARABEL"``.

    Raises
    ------
    OptionError
        If no backend has that name.
    MissingPackageError
        If it needs a package that is not installed.

    Examples
    --------
    >>> get_backend("clarabel").name
    'clarabel'
    >>> get_backend("clarable")
    Traceback (most recent call last):
    relift.errors.OptionError: there is no backend 'clarable'. Did you mean 'clarabel'? Expected one of: highs,
    clarabel, osqp, piqp, scs, qpsolvers:<name>, cvxpy:<NAME>.
    """
    text = str(name)
    if (known := _LINES.get(text)) is not None and not known.is_family:
        return _made(known)
    for line in _BACKENDS:
        if line.is_family and text.startswith(line.name) and len(text) > len(line.name):
            return _made(line, text[len(line.name) :])
    import difflib

    near = difflib.get_close_matches(text.lower(), [line.name for line in _BACKENDS], n=1)
    suggestion = f"Did you mean {_shown(near[0])!r}? " if near else ""
    names = ", ".join(_shown(line.name) for line in _BACKENDS)
    raise OptionError(f"there is no backend {text!r}.", f"{suggestion}Expected one of: {names}.")


def backend_names(*, installed: bool = False) -> tuple[str, ...]:
    """Names of the backends, families of pass-throughs left out.

    Parameters
    ----------
    installed
        Leave out those whose package is not installed.

    Examples
    --------
    >>> backend_names()
    ('highs', 'clarabel', 'osqp', 'piqp', 'scs')
    """
    return tuple(line.name for line in _BACKENDS if not line.is_family and (line.is_installed or not installed))


def backends_to_try(program: Program) -> Iterator[Backend]:
    """The installed backends of :data:`ORDER` that take a program, the default one first; looked for one by one.

    Examples
    --------
    >>> [next(backends_to_try(program)).name for program in (Program(q=[1.0], lb=0), Program(P=[[1.0]]))]
    ['highs', 'clarabel']
    """
    kind = "cones" if len(program.conic) else "LP" if program.is_linear else "QP"
    for name in ORDER[kind]:
        if _LINES[name].is_installed:
            backend = get_backend(name)
            backend.may_ask_others = True
            if backend.solves_quadratic_rows or not len(program.quadratic):
                yield backend


def import_solver(program: Program, backend: str = "auto") -> None:
    """Import the solver that is asked first, for those who take the time of solving alone.

    Parameters
    ----------
    program
        What is to be solved.
    backend
        The backend by name, or ``"auto"``.

    Raises
    ------
    OptionError
        If no backend has that name.
    """
    first = next(backends_to_try(program), None) if backend == "auto" else get_backend(backend)
    if first is not None and first.name in _LINES:
        importlib.import_module(_LINES[first.name].package)


def backend_lines() -> tuple[BackendLine, ...]:
    """Every backend, whether or not it is installed; for tables in documents."""
    return _BACKENDS


def backend_table() -> tuple[BackendInfo, ...]:
    """Every backend with its version or the command that installs it."""
    return tuple(_info(line) for line in _BACKENDS)


def _info(line: BackendLine) -> BackendInfo:
    version = ""
    install = str(missing_package(line.name, line.package, line.extra).hint).removeprefix("Install it: ")
    if line.is_installed:
        try:
            version = _made(line, "").version()
            install = ""
        except MissingPackageError:
            version = ""
    return BackendInfo(_shown(line.name), line.package, version, line.description, install)


def _made(line: BackendLine, solver: str | None = None) -> Backend:
    if not line.is_installed:
        raise missing_package(line.name + (solver or ""), line.package, line.extra)
    maker = _maker(line.location)
    return maker(solver) if line.is_family else maker()


@cache
def _maker(location: str) -> Callable[..., Backend]:
    """The class that implements a backend."""
    module, _, name = location.partition(".")
    maker: Callable[..., Backend] = getattr(importlib.import_module(f"relift.solvers.{module}"), name)
    return maker


def _shown(name: str) -> str:
    placeholder = {"qpsolvers:": "<name>", "cvxpy:": "<NAME>"}
    return name + placeholder.get(name, "")
