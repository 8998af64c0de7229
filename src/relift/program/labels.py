"""Labels of data frames and series: a program goes by places, so labels that contradict the places are refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from relift.errors import ShapeError

_WITHOUT_LABELS = {np.ndarray, list, tuple, int, float, type(None)}
"""What most programs are made of, so that these are not asked for labels."""


def check_labels(given: Mapping[str, object], matrices: Mapping[str, object]) -> None:
    """Refuse vectors and matrices that label the same variables, or rows, in different orders.

    Labels that are not the same set say nothing about each other; those of a matrix are its columns for the variables
    and its index for the rows.

    Parameters
    ----------
    given
        Vectors by name: q, lb, ub of the variables, and l, u of the rows.
    matrices
        P and A.

    Raises
    ------
    ShapeError
        If two orders differ.
    """
    if _WITHOUT_LABELS.issuperset(map(type, (*given.values(), *matrices.values()))):
        return
    A, P = matrices["A"], matrices["P"]
    variables = {"A": _labels(A, "columns"), "P": _labels(P, "columns"), "the index of P": _labels(P, "index")}
    variables |= {name: _labels_of_vector(given[name]) for name in ("q", "lb", "ub")}
    rows = {"A": _labels(A, "index")} | {name: _labels_of_vector(given[name]) for name in ("l", "u")}
    for labels in (variables, rows):
        (first, order), *others = [(name, found) for name, found in labels.items() if found] or [("", [])]
        for name, other in others:
            if other != order and Counter(other) == Counter(order):
                place = next(k for k, label in enumerate(order) if other[k] != label)
                raise ShapeError(
                    f"{name} has the labels of {first} in another order: label {place} is {str(other[place])!r}, and"
                    f" that of {first} is {str(order[place])!r}.",
                    "Bring them into one order by .reindex(...), or give .to_numpy() if places count, not labels.",
                    name.removeprefix("the index of "),
                )


def _labels_of_vector(given: object) -> list[object]:
    shape: tuple[int, ...] = getattr(given, "shape", ())
    return _labels(given, "columns" if len(shape) == 2 and shape[0] == 1 != shape[1] else "index")


def _labels(given: object, axis: str) -> list[object]:
    """The labels of a data frame or series; none of anything else."""
    found = getattr(given, axis, None) if hasattr(given, "iloc") else None
    return [] if found is None else list(found)
