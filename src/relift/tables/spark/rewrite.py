"""Plans as Spark can run them: numbers of rows stored, and so what would be calculated over and over.

Spark writes out shared parts in every place where they are used, and parts of parts more often still.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from relift.tables.algebra import Aggregate, Distinct, Join, Number, Plan, Union, nodes
from relift.tables.join_order import linked_first

MUCH_LARGER = 5
"""Shared parts are stored where a plan, written out, has more than so many times its nodes."""


def rewritten(plan: Plan, store: Callable[[Plan], Plan]) -> Plan:
    """A plan that Spark can run.

    Parameters
    ----------
    plan
        The plan.
    store
        Stores a part for the time of a statement and returns a scan of it.
    """
    order = nodes(plan)
    sizes: dict[int, int] = {}
    uses: dict[int, int] = {}
    for node in order:
        sizes[id(node)] = 1 + sum(sizes[id(part)] for part in node.inputs)
        for part in node.inputs:
            uses[id(part)] = uses.get(id(part), 0) + 1
    is_large = sizes[id(plan)] > MUCH_LARGER * len(order)
    inside = {id(part) for node in order if _is_inner(node) for part in node.inputs if _is_inner(part)}
    new: dict[int, Plan] = {}
    for node in order:
        made = _rebuilt(node, new)
        if id(node) not in inside:
            made = linked_first(made)
        is_shared = is_large and uses.get(id(node), 0) > 1 and _is_expensive(made)
        new[id(node)] = store(made) if isinstance(node, Number) or is_shared else made
    return new[id(plan)]


def _is_inner(plan: Plan) -> bool:
    return isinstance(plan, Join) and plan.kind == "inner"


def _is_expensive(plan: Plan) -> bool:
    """Whether a plan is more than a look at a stored table."""
    return any(isinstance(node, Join | Union | Distinct | Aggregate) for node in nodes(plan))


def _rebuilt(node: Plan, new: dict[int, Plan]) -> Plan:
    """A node over what has taken the place of its inputs."""
    if all(new[id(part)] is part for part in node.inputs):
        return node
    if isinstance(node, Join):
        return replace(node, left=new[id(node.left)], right=new[id(node.right)])
    if isinstance(node, Union):
        return replace(node, parts=tuple(new[id(part)] for part in node.parts))
    return replace(node, input=new[id(node.inputs[0])])  # type: ignore[call-arg]
