"""relift as a solver of qpsolvers: the public name of :mod:`relift.bridges.qpsolvers_`."""

from relift.bridges.qpsolvers_ import NAME, register, relift_solve_problem, unregister

__all__ = ["NAME", "register", "relift_solve_problem", "unregister"]
