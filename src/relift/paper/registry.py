"""Which experiments there are. A module is imported when its experiment is asked for."""

from __future__ import annotations

import difflib
from importlib import import_module
from importlib.util import find_spec

from relift.errors import MissingPackageError, OptionError
from relift.paper.framework import Experiment

NAMES = ("example", "gaussians", "cora", "moons", "shapes", "theorems")
"""In the order of the paper; each is ``EXPERIMENT`` in the module of its name. ``all`` means all of them."""

FURTHER = ("network",)
"""Experiments of the paper on data of the user's own, which ``all`` leaves out."""


def get_experiment(name: str) -> Experiment:
    """Find an experiment by its name.

    Parameters
    ----------
    name
        One of NAMES or FURTHER.

    Raises
    ------
    OptionError
        If there is none of that name; the nearest one is suggested.
    """
    if name not in (*NAMES, *FURTHER):
        near = difflib.get_close_matches(name.lower(), [*NAMES, *FURTHER, "all"], n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join((*NAMES, *FURTHER))}, and all."
        raise OptionError(f"there is no experiment {name!r}.", hint)
    experiment: Experiment = import_module(f"relift.paper.{name}").EXPERIMENT
    return experiment


def check_packages() -> None:
    """Say at once, not after an hour, that a package for measuring or drawing is missing.

    Raises
    ------
    MissingPackageError
        If scikit-learn or matplotlib is not installed.
    """
    wanted = {"scikit-learn": "sklearn", "matplotlib": "matplotlib"}
    missing = [name for name, module in wanted.items() if find_spec(module) is None]
    if missing:
        raise MissingPackageError(
            f"reproducing the paper needs {' and '.join(missing)}.", 'Install with: pip install "relift[ml,plot]"'
        )
