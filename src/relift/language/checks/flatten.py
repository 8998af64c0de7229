"""From expressions in the unknowns to flat sums of terms of degree at most two.

Products are distributed over sums, squares of linear expressions are kept as factors, and every ``sum{..}`` becomes a
scope of the terms inside of it. What has a higher degree, or is neither linear nor one of the convex forms, is an error
at the smallest part that is at fault.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from relift.errors import DegreeError, KindError
from relift.language import checked_model as c
from relift.language.checks.names import find
from relift.language.checks.translate import Bound, Translator, negative
from relift.language.syntax import nodes as n
from relift.language.syntax.source import Span

_ONE = c.Constant(1)


def flatten(t: Translator, node: n.Node, bound: Bound) -> list[c.Term]:
    """Translate an expression into a flat sum of terms.

    Parameters
    ----------
    t
        Translates the queries and data of the statement.
    node, bound
        The expression, and what its logic variables stand for.
    """
    if not t.has_unknown(node):
        return [c.ConstantTerm((), t.data(node, bound))]
    t.count(node)
    match node:
        case n.Atom():
            return _unknown(t, node, bound)
        case n.Minus():
            return [_scaled(term, None) for term in flatten(t, node.part, bound)]
        case n.Sum():
            result = flatten(t, node.parts[0], bound)
            for sign, part in zip(node.signs, node.parts[1:], strict=True):
                more = flatten(t, part, bound)
                result.extend(more if sign == "+" else [_scaled(term, None) for term in more])
            return result
        case n.Binary(op="*"):
            return _product(t, node, bound)
        case n.Binary(op="/"):
            if t.has_unknown(node.right):
                t.error(DegreeError, node.right, "the unknowns cannot stand in a divisor")
                return []
            divisor = t.data(node.right, bound)
            return [_scaled(term, divisor, "/") for term in flatten(t, node.left, bound)]
        case n.Binary():
            return _power(t, node, bound)
        case n.Call():
            return _call(t, node, bound)
        case n.Indexed():
            return _indexed(t, node, bound)
        case _:  # pragma: no cover - nothing else has unknowns
            return []


def _unknown(t: Translator, atom: n.Atom, bound: Bound) -> list[c.Term]:
    symbol = find(t.names, atom, t.errors)
    if symbol is None:
        return []
    if symbol.kind == "definition":
        inside = t.enter(atom, symbol, bound)
        if inside is None:
            return []
        result = flatten(t, t.names.definitions[atom.name].body, inside)
        t.leave()
        return result
    t.reads.add(atom.name)
    for argument in atom.arguments:
        if isinstance(argument, n.Wildcard):
            t.error(KindError, argument, f"which {atom.name} is meant is not clear with _", "Sum over it.")
            return []
    arguments = tuple(t.data(a, bound, may_be_text=True) for a in atom.arguments)
    return [c.LinearTerm((), _ONE, c.UnknownAtom(atom.name, arguments, atom.span))]


def _product(t: Translator, node: n.Binary, bound: Bound) -> list[c.Term]:
    left, right = t.has_unknown(node.left), t.has_unknown(node.right)
    if not (left and right):
        factor = t.data(node.right if left else node.left, bound)
        return [_scaled(term, factor) for term in flatten(t, node.left if left else node.right, bound)]
    firsts, seconds = flatten(t, node.left, bound), flatten(t, node.right, bound)
    for factor_terms, side in ((firsts, node.left), (seconds, node.right)):
        if not is_affine(factor_terms):
            t.error(
                DegreeError, side, "this factor is not linear, and it is multiplied by an unknown",
                "Products of unknowns have two linear factors at most.",
            )  # fmt: skip
            return []
    result = list[c.Term]()
    for first in firsts:
        for second in seconds:
            t.count(node)
            result.append(_multiplied(first, second, node.span))
    return result


def _power(t: Translator, node: n.Binary, bound: Bound) -> list[c.Term]:
    if t.has_unknown(node.right):
        t.error(DegreeError, node.right, "the unknowns cannot stand in an exponent")
        return []
    if not (isinstance(node.right, n.Number) and node.right.value == 2):
        t.error(DegreeError, node.right, "an expression in the unknowns can only have the exponent 2")
        return []
    base = flatten(t, node.left, bound)
    if is_affine(base):
        return [c.SquareTerm((), _ONE, _affine(base), None, node.span)]
    match base:
        case [c.HingeTerm(scopes=(), coefficient=c.Constant(value=1), power=1) as hinge]:
            return [replace(hinge, power=2, span=node.span)]
        case [c.AbsoluteTerm(scopes=(), coefficient=c.Constant(value=1)) as absolute]:
            return [c.SquareTerm((), _ONE, absolute.inner, None, node.span)]
    t.error(
        DegreeError, node.left, "only a linear expression or max(0, linear) can be squared",
        "The degree in the unknowns is two at most.",
    )  # fmt: skip
    return []


def _call(t: Translator, node: n.Call, bound: Bound) -> list[c.Term]:
    t.check_call(node)
    if node.function == "abs":
        inner = node.arguments[0]
    elif node.function == "max" and len(node.arguments) == 2 and any(map(_is_zero, node.arguments)):
        inner = node.arguments[1 if _is_zero(node.arguments[0]) else 0]
    elif node.function == "max":
        t.error(
            DegreeError, node, "max(..) of unknowns has two arguments, one of them 0",
            "max(a, b) can be written: a + max(0, b - a)",
        )  # fmt: skip
        return []
    elif node.function == "min":
        hint = "min(a, b) can be written: a - max(0, a - b)"
        t.error(DegreeError, node, "min(..) applies to data only, not to unknowns", hint)
        return []
    else:
        t.error(DegreeError, node, f"{node.function} applies to data only, not to unknowns")
        return []
    terms = flatten(t, inner, bound)
    if not is_affine(terms):
        t.error(DegreeError, inner, f"{node.function}(..) needs a linear expression here")
        return []
    if node.function == "abs":
        return [c.AbsoluteTerm((), _ONE, _affine(terms), None, node.span)]
    return [c.HingeTerm((), _ONE, _affine(terms), 1, None, node.span)]


def _indexed(t: Translator, node: n.Indexed, bound: Bound) -> list[c.Term]:
    if node.kind != "sum" or node.body is None:
        t.error(
            DegreeError, node, f"{node.kind}{{..}} applies to data only, not to unknowns",
            "Use a variable that bounds all of them: subject to forall {..}: e <= t;",
        )  # fmt: skip
        return []
    query = t.query(node.index.variables, node.index.formula, bound)
    scope = c.Scope(query.variables, query.formula, query.outer, query.existential, node.index.span)
    return [replace(term, scopes=(scope, *term.scopes)) for term in flatten(t, node.body, query.inside)]


def is_affine(terms: list[c.Term]) -> bool:
    """Whether there are only constants and linear terms."""
    return all(isinstance(term, (c.LinearTerm, c.ConstantTerm)) for term in terms)


def _is_zero(node: n.Node) -> bool:
    return isinstance(node, n.Number) and node.value == 0


def _affine(terms: list[c.Term]) -> c.Affine:
    return c.Affine(tuple(cast("list[c.LinearTerm | c.ConstantTerm]", terms)))


def _scaled(term: c.Term, factor: c.DataExpression | None, op: c.ArithmeticSign = "*") -> c.Term:
    """A term times (or divided by) a factor; None is -1."""
    if factor is None:
        return replace(term, coefficient=negative(term.coefficient))
    if op == "*":
        return replace(term, coefficient=_times(factor, term.coefficient))
    return replace(term, coefficient=c.Arithmetic("/", term.coefficient, factor))


def _times(first: c.DataExpression, second: c.DataExpression) -> c.DataExpression:
    if first == _ONE:
        return second
    if second == _ONE:
        return first
    if first == c.Constant(-1):
        return negative(second)
    if second == c.Constant(-1):
        return negative(first)
    return c.Arithmetic("*", first, second)


def _multiplied(first: c.Term, second: c.Term, span: Span) -> c.Term:
    scopes, coefficient = first.scopes + second.scopes, _times(first.coefficient, second.coefficient)
    match first, second:
        case c.LinearTerm(), c.LinearTerm():
            if first.unknown == second.unknown and not second.scopes:
                inner = c.Affine((c.LinearTerm((), _ONE, first.unknown),))
                return c.SquareTerm(scopes, coefficient, inner, None, span)
            return c.ProductTerm(scopes, coefficient, first.unknown, second.unknown, span)
        case c.LinearTerm(), _:
            return c.LinearTerm(scopes, coefficient, first.unknown)
        case _, c.LinearTerm():
            return c.LinearTerm(scopes, coefficient, second.unknown)
        case _:
            return c.ConstantTerm(scopes, coefficient)
