"""The most rows that the parts of a plan can have, by the sizes of stored tables and by keys."""

from __future__ import annotations

from collections.abc import Mapping

from relift.tables.algebra import Call, Join, Limit, Literal, Plan, Scalar, Scan, Series, Union, nodes

UNKNOWN = 9.0e15
"""Rows of a table that nothing is known about."""


def row_bounds(plan: Plan, sizes: Mapping[str, int]) -> dict[int, float]:
    """For each node of a plan, by its ``id``, the most rows that it can have.

    Parameters
    ----------
    plan
        The plan.
    sizes
        Rows of stored tables by name; a table that is missing may have any number.

    Examples
    --------
    >>> from relift.tables.algebra import Type
    >>> key = frozenset([frozenset(["X"])])
    >>> edges, nodes_ = Scan("edge", {"X": ("c0", Type.INTEGER)}), Scan("node", {"X": ("c0", Type.INTEGER)}, key)
    >>> plan = Join(edges, nodes_)
    >>> row_bounds(plan, {"edge": 100, "node": 10})[id(plan)]
    100
    """
    bounds: dict[int, float] = {}
    for node in nodes(plan):
        bounds[id(node)] = _bound(node, bounds, sizes)
    return bounds


def _bound(plan: Plan, known: dict[int, float], sizes: Mapping[str, int]) -> float:
    if isinstance(plan, Scan):
        return sizes.get(plan.table, UNKNOWN)
    inputs = [known[id(part)] for part in plan.inputs]
    if isinstance(plan, Union):
        return sum(inputs)
    if isinstance(plan, Limit):
        return min(inputs[0], plan.rows)
    if isinstance(plan, Series):
        first, last = (_written(end) for end in (plan.first, plan.last))
        return inputs[0] * (UNKNOWN if first is None or last is None else max(last - first + 1, 0))
    if not isinstance(plan, Join):
        return max(inputs[0], 1) if inputs else 1  # an aggregate without groups has one row of nothing
    left, right = inputs
    if plan.kind in {"semi", "anti"}:
        return left
    on = frozenset(plan.on)
    bound = left * max(right, 1 if plan.kind == "left" else 0)
    if any(key <= on for key in plan.right.keys):
        bound = min(bound, left)
    if plan.kind == "inner" and any(key <= on for key in plan.left.keys):
        bound = min(bound, right)
    return bound


def _written(scalar: Scalar) -> float | None:
    """The number that a scalar is, if it is one."""
    if isinstance(scalar, Call) and scalar.operation == "integer":
        return _written(scalar.arguments[0])
    is_number = isinstance(scalar, Literal) and isinstance(scalar.value, int | float)
    return float(scalar.value) if is_number else None  # type: ignore[union-attr, arg-type]
