"""CVXPY problems through relift: the public name of :mod:`relift.bridges.cvxpy`."""

from relift.bridges.cvxpy import NAME, Lifted, is_registered, register, unregister

__all__ = ["NAME", "Lifted", "is_registered", "register", "unregister"]
