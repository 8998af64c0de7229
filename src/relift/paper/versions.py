"""What a result was made with."""

from __future__ import annotations

import platform
from functools import cache
from importlib import metadata

from relift import __version__

COMPUTING = ("numpy", "scipy", "scikit-learn", "highspy", "clarabel", "osqp", "piqp", "scs", "duckdb")
"""Packages whose version may decide a number."""


def deciding_versions() -> dict[str, str | None]:
    """Versions of relift, of Python and of the packages that compute; None for those that are not installed."""
    packages = {package: _version(package) for package in COMPUTING}
    return {"relift": __version__, "python": platform.python_version(), **packages}


def all_versions() -> dict[str, str | None]:
    """As :func:`deciding_versions`, with the machine and the package that draws."""
    drawing = {"matplotlib": _version("matplotlib")}
    return {**deciding_versions(), **drawing, "platform": platform.platform(), "machine": _processor()}


@cache
def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    """Name the processor where the system tells it: seconds mean little without."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
