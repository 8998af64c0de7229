"""Walking through checked formulas and data: which variables and predicates they use."""

from __future__ import annotations

from collections.abc import Iterator

from relift.language import checked_model as c

Part = c.Formula | c.DataExpression | c.Anonymous


def children(part: Part) -> tuple[Part, ...]:
    """The parts of which a formula or a data expression is made."""
    match part:
        case c.ParameterValue() | c.Holds() | c.Function():
            return part.arguments
        case c.Arithmetic() | c.Comparison():
            return (part.left, part.right)
        case c.Negative() | c.Not():
            return (part.part,)
        case c.InRange():
            return (part.value, part.first, part.last)
        case c.Neighbour():
            return (part.argument,)
        case c.Indicator():
            return (part.formula,)
        case c.DataAggregate():
            return (part.formula,) if part.body is None else (part.formula, part.body)
        case c.And() | c.Or():
            return part.parts
        case _:
            return ()


def occurrences(part: Part) -> Iterator[c.LogicVariable]:
    """Every occurrence of a logic variable that is not bound inside, from left to right."""
    match part:
        case c.LogicVariable():
            yield part
        case c.DataAggregate():
            bound = {*part.variables, *part.existential}
            yield from (v for child in children(part) for v in occurrences(child) if v.name not in bound)
        case c.Indicator():
            yield from (v for v in occurrences(part.formula) if v.name not in part.existential)
        case _:
            for child in children(part):
                yield from occurrences(child)


def variables_of(*parts: Part) -> dict[str, None]:
    """The names of the variables that are not bound inside, in order of occurrence; a dict serves as an ordered set."""
    return {v.name: None for part in parts for v in occurrences(part)}


def predicates_of(part: Part, inside: bool = False) -> Iterator[tuple[c.Holds, bool]]:
    """Every `Holds`, with whether it stands inside of a negation, an aggregate or brackets."""
    if isinstance(part, c.Holds):
        yield part, inside
    if isinstance(part, c.Neighbour):  # which is next is known only when all are known, as in an aggregate
        yield c.Holds(part.relation, (c.Anonymous(),), part.span), True
    inside = inside or isinstance(part, (c.Not, c.Indicator, c.DataAggregate))
    for child in children(part):
        yield from predicates_of(child, inside)
