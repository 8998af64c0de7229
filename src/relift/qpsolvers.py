"""relift as a solver of qpsolvers: the public name of :mod:`relift.bridges.qpsolvers_`."""

from relift.bridges.qpsolvers_ import NAME, relift_solve_problem

__all__ = ["NAME", "relift_solve_problem"]
