"""Calling conventions of other libraries: SciPy, qpsolvers, CVXPY."""
