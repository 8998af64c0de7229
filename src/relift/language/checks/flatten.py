"""From expressions in the unknowns to flat sums of terms.

Products are distributed over sums, squares of linear expressions are kept as factors, every ``sum{..}`` becomes a scope
of the terms inside of it, and functions keep their arguments. Anything else (a product of three unknowns, a
quotient) is an error at the smallest part that is at fault; whether what is left is convex is checked afterwards.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from relift.errors import ConvexityError, DegreeError, KindError
from relift.language import checked_model as c
from relift.language.checks.convexity import sign_of
from relift.language.checks.names import find
from relift.language.checks.translate import Bound, Translator, negative, slopes_of
from relift.language.functions import DATA_FUNCTIONS, FUNCTIONS, ConvexFunction, power
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
        case n.Atom() if (call := t.as_call(node)) is not None:
            return _call(t, call, bound)
        case n.Atom() if (total := t.sum_over_stars(node)) is not None:
            return flatten(t, total, bound)
        case n.Piecewise():
            return _piecewise(t, node, bound)
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
                t.error(DegreeError, node.right, "the unknowns cannot stand in a divisor", _quotient_hint(t, node))
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
                _product_hint(firsts, seconds),
            )  # fmt: skip
            return []
    result = list[c.Term]()
    for first in firsts:
        for second in seconds:
            t.count(node)
            result.append(_multiplied(first, second, node.span))
    return result


def _quotient_hint(t: Translator, node: n.Binary) -> str:
    """How a quotient with unknowns below may be written."""
    if not t.has_unknown(node.left):
        return "a/e with e > 0 can be written: a*inv(e)"
    if isinstance(node.left, n.Binary) and node.left.op == "**":
        return "e**2/t with t > 0 can be written: quad_over_lin(e, t)"
    return ""


def _product_hint(firsts: list[c.Term], seconds: list[c.Term]) -> str:
    """How a product of unknowns with something that is not linear may be written."""
    match firsts, seconds:
        case ([c.LinearTerm() as one], [c.FunctionTerm() as other]) | (
            [c.FunctionTerm() as other],
            [c.LinearTerm() as one],
        ):
            argument = c.Expression((replace(one, coefficient=_ONE),))
            if other.function.name == "log" and other.arguments == (argument,):
                return "e*log(e) can be written: -entropy(e)"
        case _:
            pass
    return "Products of unknowns have two linear factors at most."


def _power(t: Translator, node: n.Binary, bound: Bound) -> list[c.Term]:
    if t.has_unknown(node.right):
        hint = "" if t.has_unknown(node.left) else "a**e with a > 0 can be written: exp(log(a)*e)"
        t.error(DegreeError, node.right, "the unknowns cannot stand in an exponent", hint)
        return []
    exponent = _number(node.right)
    if exponent is None:
        t.error(
            DegreeError, node.right, "the exponent of an expression in the unknowns is a number written in the model",
            "Whether a power is convex depends on it.",
        )  # fmt: skip
        return []
    base = flatten(t, node.left, bound)
    function = power(exponent)
    if function is None:
        return base if exponent == 1 else [c.ConstantTerm((), _ONE)]
    if exponent == 2:
        if is_affine(base):
            return [c.SquareTerm((), _ONE, _affine(base), None, node.span)]
        match base:
            case [c.HingeTerm(scopes=(), coefficient=c.Constant(value=1), power=1) as hinge]:
                return [replace(hinge, power=2, span=node.span)]
            case [c.AbsoluteTerm(scopes=(), coefficient=c.Constant(value=1)) as absolute]:
                return [c.SquareTerm((), _ONE, absolute.inner, None, node.span)]
    return [_function_term(function, [base], node.span, number=c.Constant(exponent))]


def _number(node: n.Node) -> float | int | None:
    """The value of an expression of written numbers, such as ``-1`` or ``(1/3)``."""
    match node:
        case n.Number():
            return node.value
        case n.Minus():
            part = _number(node.part)
            return None if part is None else -part
        case n.Binary(op="/"):
            left, right = _number(node.left), _number(node.right)
            return left / right if left is not None and right else None
        case _:
            return None


def _function_term(
    function: ConvexFunction,
    arguments: list[list[c.Term]],
    span: Span,
    index: c.Scope | None = None,
    number: c.DataExpression | None = None,
) -> c.FunctionTerm:
    found = tuple(c.Expression(tuple(terms)) for terms in arguments)
    return c.FunctionTerm((), _ONE, function, found, index, number, span=span)


def _call(t: Translator, node: n.Call, bound: Bound) -> list[c.Term]:
    if not t.check_call(node):
        return []
    if node.function in DATA_FUNCTIONS:
        t.error(DegreeError, node, f"{node.function}(..) applies to data only, and there are unknowns in it")
        return []
    function = FUNCTIONS[node.function]
    if function.name == "norm1":
        calls = (n.Call("abs", (argument,), argument.span) for argument in node.arguments)
        return [term for call in calls for term in flatten(t, call, bound)]
    if function.name == "huber":
        what = "huber(e, d) needs to know where it goes from a square to a line"
        threshold = t.data(node.arguments[1], bound, what=what)
        if sign_of(threshold) == "nonpositive":
            t.error(KindError, node.arguments[1], "the threshold d of huber(e, d) is negative")
        return [_function_term(function, [flatten(t, node.arguments[0], bound)], node.span, number=threshold)]
    arguments = [flatten(t, argument, bound) for argument in node.arguments]
    if function.name == "abs" and is_affine(arguments[0]):
        return [c.AbsoluteTerm((), _ONE, _affine(arguments[0]), None, node.span)]
    if function.name == "max" and len(arguments) == 2 and any(map(_is_zero, node.arguments)):
        inner = arguments[1 if _is_zero(node.arguments[0]) else 0]
        if is_affine(inner):
            return [c.HingeTerm((), _ONE, _affine(inner), 1, None, node.span)]
    return [_function_term(function, arguments, node.span)]


def _piecewise(t: Translator, node: n.Piecewise, bound: Bound) -> list[c.Term]:
    """The largest (or smallest) of the lines through its points, if the slopes grow (or fall)."""
    slopes = slopes_of(node)
    grows, falls = ([*slopes] == sorted(slopes, reverse=turned) for turned in (False, True))
    if not (grows or falls):
        shown = ", ".join(f"{slope:g}" for slope in slopes)
        message = f"this piecewise linear function is neither convex nor concave: its slopes are {shown}"
        t.error(ConvexityError, node, message, "Slopes must grow from left to right, or fall.")
        return []
    lines = list[n.Node]()
    for slope, (x, y) in zip(slopes, node.points, strict=False):
        value = n.Sum((node.body, _number_node(x.value)), ("-",), node.span)
        rise = n.Binary("*", _number_node(slope), value, node.span)
        lines.append(n.Sum((rise, _number_node(y.value)), ("+",), node.span))
    distinct = [line for k, line in enumerate(lines) if k == 0 or slopes[k] != slopes[k - 1]]
    if len(distinct) == 1:
        return flatten(t, distinct[0], bound)
    return flatten(t, n.Call("max" if grows else "min", tuple(distinct), node.span), bound)


def _number_node(value: float) -> n.Node:
    number = n.Number(repr(abs(value)))
    return n.Minus(number) if value < 0 else number


def _indexed(t: Translator, node: n.Indexed, bound: Bound) -> list[c.Term]:
    assert node.body is not None
    query = t.query(node.index.variables, node.index.formula, bound)
    scope = c.Scope(query.variables, query.formula, query.outer, query.existential, node.index.span)
    if node.kind in ("sum", "norm1"):
        body = node.body if node.kind == "sum" else n.Call("abs", (node.body,), node.span)
        return [replace(term, scopes=(scope, *term.scopes)) for term in flatten(t, body, query.inside)]
    arguments = [flatten(t, node.body, query.inside), *(flatten(t, other, bound) for other in node.others)]
    return [_function_term(FUNCTIONS[node.kind], arguments, node.span, scope)]


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
