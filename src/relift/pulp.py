"""PuLP problems through relift: the public name of :mod:`relift.bridges.pulp_`."""

from relift.bridges.pulp_ import RELIFT, register, unregister

__all__ = ["RELIFT", "register", "unregister"]
