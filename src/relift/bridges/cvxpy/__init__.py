"""CVXPY problems, lifted: ``problem.solve(solver=relift.cvxpy.Lifted())``.

Importing this package also makes ``problem.solve(solver="RELIFT")`` and ``problem.solve(method="relift")`` work;
:func:`unregister` undoes that. CVXPY itself is ``import cvxpy``, here as everywhere.

The way of a problem: CVXPY compiles it; :mod:`~relift.bridges.cvxpy.compiled` reads its arrays as a program;
:mod:`~relift.bridges.cvxpy.reuse` lifts it, or re-uses the classes of the last solve;
:mod:`~relift.bridges.cvxpy.solve` solves the small program and checks the answer on the compiled problem;
:mod:`~relift.bridges.cvxpy.solver` gives it back to CVXPY.
"""

from relift.bridges.cvxpy import _needs  # noqa: F401  (first: it says what is missing)
from relift.bridges.cvxpy.registration import is_registered, register, unregister
from relift.bridges.cvxpy.solver import NAME, Lifted

register()

__all__ = ["NAME", "Lifted", "is_registered", "register", "unregister"]
