"""Load OSQP's library such that it finds its own functions where PuLP was imported before it.

PuLP (from 3.3 on) makes all functions of HiGHS's library visible to libraries that are loaded later. One has the
name of a function of OSQP, which then calls the wrong one and crashes the process as soon as it is set up, unless it is
told to look at its own first. CVXPY and qpsolvers import OSQP too: whoever imports one of them here calls
:func:`load_quietly` before, and :func:`load` before OSQP itself is run.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys

from relift.errors import BackendError

_EXTENSION = "osqp.ext_builtin"
_loaded_here = False


def load() -> None:
    """Load OSQP's library, if PuLP was imported before; in other processes it is left to whoever imports it.

    Raises
    ------
    BackendError
        If another package has loaded it after PuLP: nothing can be done then but not to use it.
    """
    global _loaded_here
    prefer_own = getattr(os, "RTLD_DEEPBIND", 0)
    if _loaded_here or not prefer_own or "pulp" not in sys.modules:
        return
    if _EXTENSION in sys.modules:
        order = list(sys.modules)
        if order.index("pulp") < order.index(_EXTENSION):
            raise BackendError("OSQP was loaded after PuLP, and would crash.", "Import osqp before pulp.")
        return
    if importlib.util.find_spec("osqp") is None:
        return
    flags = sys.getdlopenflags()
    sys.setdlopenflags(flags | prefer_own)
    try:
        importlib.import_module(_EXTENSION)
        _loaded_here = True
    finally:
        sys.setdlopenflags(flags)


def load_quietly() -> None:
    """Load OSQP's library; that it cannot run, or is broken, is told when it is to be run."""
    with contextlib.suppress(BackendError, ImportError):
        load()
