"""What the options of a ``highspy.Highs`` mean to relift.

Those that were changed are passed to HiGHS as the backend of the small program, except for those that relift has itself
(time limit, threads, log), those of integer programs, and those that name files, which belong to the whole model.
"""

from __future__ import annotations

import contextlib
import math
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsInt, TypeAlias

from relift.errors import OptionError, UnknownOptionError
from relift.settings import OWN_OPTIONS
from relift.solvers.forms import nearest_option

if TYPE_CHECKING:
    from highspy import Highs

OptionValue: TypeAlias = bool | int | float | str | SupportsInt
"""What HiGHS takes as the value of an option."""

_OWN = {"time_limit", "threads", "output_flag", "log_to_console", "solve_relaxation"}
_FILES = {
    "log_file", "solution_file", "write_solution_to_file", "write_solution_style", "write_model_file",
    "write_model_to_file", "write_presolved_model_file", "write_presolved_model_to_file", "write_basis_file",
    "write_iis_model_file", "read_solution_file", "read_basis_file", "glpsol_cost_row_location",
}  # fmt: skip


def set_options(highs: Highs, options: Mapping[str, object]) -> dict[str, object]:
    """Set the options of HiGHS among these on the object, and return the others, which are keywords of relift.

    Parameters
    ----------
    highs
        A ``highspy.Highs``.
    options
        Keywords of :func:`relift.solve`, and options of HiGHS by their own names.

    Raises
    ------
    OptionError
        If neither relift nor HiGHS knows an option, or HiGHS refuses its value.

    Examples
    --------
    >>> import highspy
    >>> h = highspy.Highs()
    >>> h.silent()
    >>> set_options(h, {"presolve": "off", "lift": "counting"})
    {'lift': 'counting'}
    >>> h.getOptionValue("presolve")[1]
    'off'
    >>> set_options(h, {"presolv": "off"})
    Traceback (most recent call last):
    relift.errors.UnknownOptionError: neither relift nor HiGHS has an option 'presolv'. Did you mean 'presolve'?
    """
    import highspy

    own = {}
    for name, value in options.items():
        if name in OWN_OPTIONS and name not in _OWN:
            own[name] = value
            continue
        if not is_option(highs, name):
            raise unknown_to_both(name)
        if not isinstance(value, str | SupportsInt) or (
            highs.setOptionValue(name, _as_type_of(highs, name, value)) == highspy.HighsStatus.kError
        ):
            raise OptionError(f"HiGHS does not take {name}={value!r}.")
    return own


def is_option(highs: Highs, name: str) -> bool:
    """Whether HiGHS has an option; it prints an error of its own when asked for one that it does not have."""
    if name in _defaults():
        return True
    with changed_for_a_while(highs, output_flag=False):
        return bool(highs.getOptionType(name)[0].name != "kError")


def unknown_to_both(name: str) -> UnknownOptionError:
    """The error for an option that neither relift nor HiGHS has, with the one that is probably meant."""
    return UnknownOptionError(
        f"neither relift nor HiGHS has an option {name!r}.", nearest_option("HiGHS", name, sorted(_defaults()))
    )


def _as_type_of(highs: Highs, name: str, value: OptionValue) -> OptionValue:
    """A whole number where HiGHS wants a real one."""
    is_real = highs.getOptionType(name)[1].name == "kDouble"
    return float(value) if is_real and isinstance(value, int) and not isinstance(value, bool) else value


def changed_options(highs: Highs) -> dict[str, object]:
    """The options of a ``highspy.Highs`` that differ from their defaults."""
    found: dict[str, object] = {}
    for name, default in _defaults().items():
        value = highs.getOptionValue(name)[1]
        if value != default:
            found[name] = value
    return found


def settings_from(highs: Highs, given: Mapping[str, object]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Turn the options of a ``highspy.Highs`` into keywords of :func:`relift.solve`; what is given comes first.

    Returns
    -------
    tuple
        The keywords, and the names of the options that the solver of the small program will not see.
    """
    changed = changed_options(highs)
    words: dict[str, Any] = {"verbose": bool(option(highs, "output_flag") and option(highs, "log_to_console"))}
    if math.isfinite(limit := float(option(highs, "time_limit"))):
        words["time_limit"] = limit
    if threads := int(option(highs, "threads")):
        words["threads"] = threads
    for_backend = {
        name: value
        for name, value in changed.items()
        if name not in _OWN | _FILES and not name.startswith("mip_") and not name.startswith("log_")
    }
    words |= given
    backend = words.get("backend", "auto")
    is_for_highs = backend == "highs" or (backend == "auto" and highs.getHessianNumNz() == 0)
    if not is_for_highs:
        return words, tuple(for_backend)
    if for_backend:
        words["backend_options"] = {**for_backend, **(words.get("backend_options") or {})}
    return words, ()


def option(highs: Highs, name: str) -> Any:
    """The value of an option."""
    return highs.getOptionValue(name)[1]


@contextlib.contextmanager
def changed_for_a_while(highs: Highs, **values: OptionValue) -> Iterator[None]:
    """Set options, and set them back at the end."""
    before = {name: option(highs, name) for name in values}
    try:
        for name, value in values.items():
            highs.setOptionValue(name, value)
        yield
    finally:
        for name, value in before.items():
            highs.setOptionValue(name, value)


@cache
def _defaults() -> dict[str, OptionValue]:
    """Every option with its default; highspy lists some of the names, and HiGHS writes the others into a file."""
    import highspy

    fresh = highspy.Highs()
    fresh.setOptionValue("output_flag", False)
    names = [name for name in dir(fresh.getOptions()) if not name.startswith("_")]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "highs.options")
        fresh.writeOptions(str(path))
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    names += [line.partition("=")[0].strip() for line in lines if "=" in line and not line.startswith("#")]
    fresh.resetOptions()
    asked = {name: fresh.getOptionValue(name) for name in dict.fromkeys(names)}
    return {name: value for name, (status, value) in asked.items() if status != highspy.HighsStatus.kError}
