"""The versions that an answer was made with."""

from __future__ import annotations

import platform
from functools import cache
from importlib import metadata

_PACKAGES = {
    "highs": "highspy", "clarabel": "clarabel", "osqp": "osqp", "piqp": "piqp", "scs": "scs",
    "cvxpy": "cvxpy", "qpsolvers": "qpsolvers",
}  # fmt: skip
"""The package of each backend, by its name or by what stands before the colon."""


@cache
def versions_for(backend: str) -> dict[str, str]:
    """Versions of relift, Python, NumPy, SciPy and the package of a backend.

    Parameters
    ----------
    backend
        Its name, such as ``"highs"`` or ``"cvxpy:SCS"``; empty for none.

    Examples
    --------
    >>> sorted(versions_for("highs"))
    ['highspy', 'numpy', 'python', 'relift', 'scipy']
    """
    from relift import __version__

    found = {"relift": __version__, "python": platform.python_version()}
    package = _PACKAGES.get(backend.partition(":")[0])
    for name in ("numpy", "scipy", *([package] if package else [])):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # a copy that was not installed by a package manager
            found[name] = "unknown"
    return found
