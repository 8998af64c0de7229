"""Natural joins in an order in which each part shares a column with those before it, where there is one.

For engines that join in the order in which a query is written: ``label(I) & query(J) & cite(I,J)`` must not pass
through all pairs of I and J.
"""

from __future__ import annotations

from relift.tables.algebra import Column, Join, Plan, Project


def linked_first(plan: Plan) -> Plan:
    """The same rows and columns, with inner joins at the top reordered if that avoids a product.

    Examples
    --------
    >>> from relift.tables.algebra import Scan, Type
    >>> def table(name, *columns):
    ...     return Scan(name, {c: (c, Type.INTEGER) for c in columns})
    >>> plan = Join(Join(table("label", "I"), table("query", "J")), table("cite", "I", "J"))
    >>> ordered = linked_first(plan).input
    >>> ordered.left.left.table, ordered.left.right.table, ordered.right.table
    ('label', 'cite', 'query')
    """
    parts = _parts(plan)
    if len(parts) < 3 or not _has_product(plan) or not _types_agree(parts):
        return plan
    joined, rest = parts[0], parts[1:]
    while rest:
        linked = next((part for part in rest if part.columns.keys() & joined.columns.keys()), rest[0])
        rest = [part for part in rest if part is not linked]
        joined = Join(joined, linked)
    return Project(joined, {name: Column(name) for name in plan.columns})


def _parts(plan: Plan) -> list[Plan]:
    if isinstance(plan, Join) and plan.kind == "inner":
        return [*_parts(plan.left), *_parts(plan.right)]
    return [plan]


def _has_product(plan: Plan) -> bool:
    if not isinstance(plan, Join) or plan.kind != "inner":
        return False
    return not plan.on or _has_product(plan.left) or _has_product(plan.right)


def _types_agree(parts: list[Plan]) -> bool:
    """Whether a column has one type in all parts; else its type would depend on the order."""
    found: dict[str, object] = {}
    return all(found.setdefault(name, kind) == kind for part in parts for name, kind in part.columns.items())
