"""linopy models, and so PyPSA networks, through relift: the public name of :mod:`relift.bridges.linopy_`."""

from relift.bridges.linopy_ import NAME, Relift, register, unregister

__all__ = ["NAME", "Relift", "register", "unregister"]
