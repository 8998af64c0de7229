"""CVXPY problems, lifted: ``problem.solve(solver=relift.cvxpy.Lifted())``.

Importing this package also makes ``problem.solve(solver="RELIFT")`` and ``problem.solve(method="relift")`` work;
:func:`unregister` undoes that. CVXPY itself is ``import cvxpy``, here as everywhere.

The way of a problem: CVXPY compiles it; :mod:`~relift.cvxpy.compiled` reads its arrays as a program;
:mod:`~relift.cvxpy.reuse` lifts it, or re-uses the classes of the last solve; :mod:`~relift.cvxpy.solve` solves the
small program and checks the answer on the compiled problem; :mod:`~relift.cvxpy.solver` gives it back to CVXPY.
"""

from importlib.metadata import version

from relift.errors import MissingPackageError

try:
    import cvxpy as _cvxpy  # noqa: F401
except ImportError as error:
    raise MissingPackageError(
        "relift.cvxpy needs the package cvxpy.", 'Install it: pip install "relift[cvxpy]".'
    ) from error

_version = version("cvxpy")
if tuple(int(part) for part in _version.split(".")[:2]) < (1, 9):
    # Before 1.9 CVXPY keeps the last instance of a solver under its name, options and all.
    raise MissingPackageError(
        f"relift.cvxpy needs CVXPY 1.9 or newer; this is {_version}.",
        'Install it: pip install --upgrade "relift[cvxpy]".',
    )

from relift.cvxpy.registration import is_registered, register, unregister
from relift.cvxpy.solver import NAME, Lifted

register()

__all__ = ["NAME", "Lifted", "is_registered", "register", "unregister"]
