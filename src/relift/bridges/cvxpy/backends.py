"""Which backend of relift a name means: one of relift's own, or a solver of CVXPY."""

from __future__ import annotations

import difflib

import cvxpy

from relift.errors import OptionError
from relift.solvers.registry import backend_names


def backend_for(name: str) -> str:
    """The backend of relift that a name stands for.

    Names of relift are taken first (they are in lower case), then those of CVXPY's installed solvers, in lower or upper
    case.

    Parameters
    ----------
    name
        As the user wrote it.

    Raises
    ------
    OptionError
        If there is no such solver, or it is relift itself.

    Examples
    --------
    >>> backend_for("clarabel"), backend_for("CLARABEL"), backend_for("auto")
    ('clarabel', 'cvxpy:CLARABEL', 'auto')
    >>> backend_for("clarable")
    Traceback (most recent call last):
    relift.errors.OptionError: there is no backend 'clarable'. Did you mean 'clarabel'? Installed: highs, clarabel, ...
    """
    if name == "auto":
        return name
    own = backend_names(installed=True)
    if name in own or ":" in name:
        return name
    theirs = [solver for solver in cvxpy.installed_solvers() if solver != "RELIFT"]
    if name.upper() in theirs:
        return f"cvxpy:{name.upper()}"
    if name.upper() == "RELIFT":
        raise OptionError("relift cannot be its own backend.", "Name the solver that the small problem is given to.")
    near = difflib.get_close_matches(name.lower(), [*own, *(solver.lower() for solver in theirs)], n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise OptionError(f"there is no backend {name!r}.", f"{hint}Installed: {', '.join([*own, *theirs])}.")
