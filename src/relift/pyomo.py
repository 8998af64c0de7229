"""Pyomo models through relift: the public name of :mod:`relift.bridges.pyomo_`."""

from relift.bridges.pyomo_ import NAME, Relift, register, unregister

__all__ = ["NAME", "Relift", "register", "unregister"]
