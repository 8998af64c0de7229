"""What a declaration behind ``var`` says: which part of it is the name, which is the query, and which are bounds.

``x(I) in p(I) >= 0 <= c(I)`` and ``0 <= x(I) <= c(I) in p(I)`` mean the same. Bounds may follow the query, and so may
comparisons that belong to it; what could be either is refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from relift.language.syntax import nodes as n
from relift.language.syntax.source import Span

_TURNED = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}
_DIRECTION = {"<": "<", "<=": "<", ">": ">", ">=": ">"}
_FORMULAS = (n.Truth, n.Range, n.Compare, n.Both, n.Either, n.Negated)


class MisreadError(Exception):
    """What follows the grammar and is wrong all the same; internal to the parser.

    Parameters
    ----------
    message, span, hint
        What is wrong, where, and what to do.
    """

    def __init__(self, message: str, span: Span, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.span, self.hint = message, span, hint


def arity_of(digits: str, span: Span) -> int:
    """A number of arguments.

    Raises
    ------
    MisreadError
        If it is not a whole number.
    """
    if not digits.isdigit() or len(digits) > 4:
        raise MisreadError("the number of arguments is a whole number", span, "For example: relation edge/2;")
    return int(digits)


def variable_item(first: n.Node, before: list[n.Bound], domain: n.Node | None, given: str | None) -> n.VariableItem:
    """A declaration from its parts, in the order of the text.

    Parameters
    ----------
    first, before
        What stands before the query: ``first sign limit sign limit``.
    domain
        The query, with everything that follows it.
    given
        The param that gives values.

    Raises
    ------
    MisreadError
        If it is not clear what is what.
    """
    target, bounds = _told_apart(first, before)
    name, arity, parameters = _shape(target, domain is not None)
    if domain is None:
        return n.VariableItem(name, arity, (), None, tuple(bounds), given, _name_span(target))
    formula, behind = _query_and_bounds(domain)
    return n.VariableItem(name, arity, parameters, formula, (*bounds, *behind), given, _name_span(target))


def _told_apart(first: n.Node, bounds: list[n.Bound]) -> tuple[n.Node, list[n.Bound]]:
    """The declared atom, and its bounds."""
    signs = [bound.sign for bound in bounds]
    is_framed = len(bounds) == 2 and signs[0] in _TURNED and signs[0] == signs[1]
    is_behind = len(bounds) == 1 and not isinstance(first, n.Atom) and not _has_arity(first)
    if (is_framed or is_behind) and _is_bare_atom(bounds[0].limit):
        turned = n.Bound(_TURNED.get(signs[0], signs[0]), first, first.span)
        return bounds[0].limit, [turned, *bounds[1:]]
    return first, bounds


def _has_arity(node: n.Node) -> bool:
    """Whether something is written as ``name/2``."""
    match node:
        case n.Binary(op="/", left=n.Atom(arguments=()), right=n.Number()):
            return True
        case _:
            return False


def _is_bare_atom(node: n.Node) -> bool:
    """Whether something is an atom without parentheses around it."""
    return isinstance(node, n.Atom) and node.span.start == node.name_span.start


def _name_span(target: n.Node) -> Span:
    return target.name_span if isinstance(target, n.Atom) else target.span


def _shape(target: n.Node, has_domain: bool) -> tuple[str, int, tuple[n.LogicName, ...]]:
    """The name, the number of arguments, and the arguments."""
    match target:
        case n.Binary(op="/", left=n.Atom(arguments=()) as atom, right=n.Number() as number) if not has_domain:
            return atom.name, arity_of(number.text, number.span), ()
    if isinstance(target, n.LogicName):
        hint = "Names begin with a lower-case letter."
        raise MisreadError(f"a name was expected, not the logic variable {target.name}", target.span, hint)
    if not isinstance(target, n.Atom):
        hint = "Write: var x(I) in p(I) >= 0;   or   var 0 <= x(I) <= 1 in p(I);"
        raise MisreadError("the name of a variable was expected", target.span, hint)
    for argument in target.arguments:
        if not isinstance(argument, n.LogicName) or argument.is_summed:
            shown = f", not {argument.value}" if isinstance(argument, n.Text) else ""
            hint = "Logic variables begin with an upper-case letter."
            raise MisreadError(f"a logic variable was expected{shown}", argument.span, hint)
    if target.arguments and not has_domain:
        hint = f"Say for which tuples it exists: var {target.name}(..) in query; join conditions with &, not a comma."
        raise MisreadError(f"{target.name} has no query behind its arguments", target.span, hint)
    if has_domain and not target.arguments:
        raise MisreadError(f"{target.name} has a query, but no arguments", target.span, "Write: var x(I) in p(I);")
    return target.name, len(target.arguments), cast("tuple[n.LogicName, ...]", target.arguments)


def _query_and_bounds(node: n.Node) -> tuple[n.Node, list[n.Bound]]:
    """A query without the bounds behind it, and these."""
    if isinstance(node, (n.Either, n.Both)) and not _is_closed(node, node.parts[-1]):
        last, bounds = _query_and_bounds(node.parts[-1])
        return replace(node, parts=(*node.parts[:-1], last)), bounds
    if isinstance(node, n.Negated) and not _is_closed(node, node.part):
        part, bounds = _query_and_bounds(node.part)
        return replace(node, part=part), bounds
    if not isinstance(node, n.Compare) or _is_closed(node, node.parts[-1]):
        return node, []
    n_tests = _tests_of_query(node)
    formula: n.Node = node.parts[0]
    if n_tests:
        formula = n.Compare(node.parts[: n_tests + 1], node.signs[:n_tests], node.span)
    rest = zip(node.signs[n_tests:], node.parts[n_tests + 1 :], strict=True)
    return formula, [n.Bound(sign, limit, limit.span) for sign, limit in rest]


def _tests_of_query(node: n.Compare) -> int:
    """How many comparisons of a chain belong to the query; the others are bounds."""
    first = node.parts[0]
    if isinstance(first, _FORMULAS):
        return 0
    if isinstance(first, n.Atom) and node.signs[0] not in ("<", ">", "!="):
        return 0
    directions = [_DIRECTION.get(sign) for sign in node.signs[:2]]
    if len(directions) == 2 and directions[0] == directions[1] is not None:
        raise MisreadError(
            "it is not clear where the query of the variable ends and its bounds begin", node.span,
            "Put the comparison into parentheses, or the bounds in front: var 0 <= x(I) <= 1 in ..;",
        )  # fmt: skip
    return 1


def _is_closed(node: Any, last: n.Node) -> bool:
    """Whether parentheses stand around a node."""
    return bool(node.span.stop > last.span.stop)
