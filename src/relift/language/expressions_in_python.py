"""Formulas and numbers in Python: operators and functions that build nodes.

>>> from relift.language.build_in_python import Model
>>> m = Model()
>>> (I,) = indices("I")
>>> cost = m.param("cost", 1)
>>> cost(I) & (I != "a")
<cost(I) & I != "a">
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from types import EllipsisType
from typing import Literal, NoReturn, TypeAlias, final

from relift.errors import ArityError, ModelBuildingError
from relift.language.checked_model import FunctionName
from relift.language.syntax import nodes as n
from relift.language.syntax.printer import print_expression

Kind: TypeAlias = Literal["formula", "number", "either"]
_ANY = type(...)


@final
class Expression:
    """A formula or a number of the language; made by calling predicates and combining the results.

    Numbers have ``+ - * / **``, ``abs()`` and comparisons; formulas have ``& | ~``. The value of a param is both: in a
    formula it means "has a value here".

    Parameters
    ----------
    node
        What it is in the language.
    kind
        Whether it is a formula, a number or, for the value of a param, either.
    """

    __slots__ = ("kind", "node")
    __hash__ = object.__hash__
    __array_ufunc__ = None  # so that NumPy numbers leave the operators to this class

    def __init__(self, node: n.Node, kind: Kind) -> None:
        self.node = node
        self.kind = kind

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        return print_expression(self.node)

    def __bool__(self) -> NoReturn:
        raise ModelBuildingError(
            f"{self} has no truth value in Python.",
            "Join formulas with &, | and ~ instead of and, or and not; write between(a, e, b) for a <= e <= b, "
            "maximum(a, b) and minimum(a, b) for max and min, and indicator(..)*a for a if ..",
        )

    def __iter__(self) -> NoReturn:
        raise ModelBuildingError(f"{self} cannot be iterated over.", "Sum over it with sum_(..., over=..., where=...).")

    def __len__(self) -> NoReturn:
        hint = "Count with count_(over=..., where=...)."
        raise ModelBuildingError(f"{self} has no length before it is grounded.", hint)

    # --- numbers

    def __add__(self, other: Term) -> Expression:
        return _sum(self, "+", other)

    def __radd__(self, other: Term) -> Expression:
        if isinstance(other, int) and other == 0:  # the built-in sum() starts with 0
            return self
        return _sum(other, "+", self)

    def __sub__(self, other: Term) -> Expression:
        return _sum(self, "-", other)

    def __rsub__(self, other: Term) -> Expression:
        return _sum(other, "-", self)

    def __mul__(self, other: Term) -> Expression:
        return _binary("*", self, other)

    def __rmul__(self, other: Term) -> Expression:
        return _binary("*", other, self)

    def __truediv__(self, other: Term) -> Expression:
        return _binary("/", self, other)

    def __rtruediv__(self, other: Term) -> Expression:
        return _binary("/", other, self)

    def __pow__(self, other: Term) -> Expression:
        return _binary("**", self, other)

    def __rpow__(self, other: Term) -> Expression:
        return _binary("**", other, self)

    def __neg__(self) -> Expression:
        return Expression(n.Minus(number_node(self, "-")), "number")

    def __pos__(self) -> Expression:
        return self

    def __abs__(self) -> Expression:
        return _call("abs", self)

    def __eq__(self, other: Term) -> Expression:  # type: ignore[override]
        return _compare(self, "=", other)

    def __ne__(self, other: Term) -> Expression:  # type: ignore[override]
        return _compare(self, "!=", other)

    def __le__(self, other: Term) -> Expression:
        return _compare(self, "<=", other)

    def __ge__(self, other: Term) -> Expression:
        return _compare(self, ">=", other)

    def __lt__(self, other: Term) -> Expression:
        return _compare(self, "<", other)

    def __gt__(self, other: Term) -> Expression:
        return _compare(self, ">", other)

    # --- formulas

    def __and__(self, other: Expression) -> Expression:
        left, right = formula_node(self, "&"), formula_node(other, "&")
        parts = left.parts if isinstance(left, n.Both) else (left,)
        return Expression(n.Both((*parts, right)), "formula")

    def __or__(self, other: Expression) -> Expression:
        left, right = formula_node(self, "|"), formula_node(other, "|")
        parts = left.parts if isinstance(left, n.Either) else (left,)
        return Expression(n.Either((*parts, right)), "formula")

    def __invert__(self) -> Expression:
        return Expression(n.Negated(formula_node(self, "~")), "formula")

    def __rand__(self, other: object) -> NoReturn:
        formula_node(other, "&")
        raise AssertionError  # pragma: no cover - only what is no Expression comes here

    __ror__ = __rand__


Term: TypeAlias = Expression | str | int | float
"""What can stand in an expression: an `Expression`, or a constant."""


@final
class Predicate:
    """A name of a model: call it with its arguments. Without arguments it may also be used as it is.

    Parameters
    ----------
    name, arity
        What it is called and how many arguments it has.
    kind
        Whether it is true or false (``"formula"``), a number, or a param, which is both.
    """

    __slots__ = ("arity", "kind", "name")

    def __init__(self, name: str, arity: int, kind: Kind) -> None:
        self.name = name
        self.arity = arity
        self.kind: Kind = kind

    def __call__(self, *arguments: Term | EllipsisType) -> Expression:
        """The atom with these arguments: logic variables, constants, data expressions, or ``...`` for any value."""
        if len(arguments) != self.arity:
            raise ArityError(f"{self.name} has {counted(self.arity)}, not {len(arguments)}.")
        return Expression(n.Atom(self.name, tuple(map(_argument, arguments))), self.kind)

    def __repr__(self) -> str:
        return f"<{self.name}/{self.arity}>"

    def __bool__(self) -> NoReturn:
        hint = "Use &, | and ~ instead of and, or and not."
        raise ModelBuildingError(f"{self.name} has no truth value in Python.", hint)

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{self.name} is a name of the model and has no {name!r}; call it with its arguments")

    def _unused(self, *_: object) -> NoReturn:
        raise ModelBuildingError(
            f"{self.name} has {counted(self.arity)} and cannot be used without.",
            f"Write {self.name}({', '.join('IJKLMN'[: self.arity])}).",
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _unused
    __pow__ = __rpow__ = __neg__ = __abs__ = __and__ = __rand__ = __or__ = __ror__ = __invert__ = _unused
    __le__ = __ge__ = __lt__ = __gt__ = _unused


def indices(names: str | Iterable[str]) -> tuple[Expression, ...]:
    """Logic variables, from their names; each begins with an upper-case letter.

    Parameters
    ----------
    names
        Names with blanks or commas between them, or several names.

    Examples
    --------
    >>> indices("I, J")
    (<I>, <J>)
    """
    split = re.split(r"[\s,]+", names.strip()) if isinstance(names, str) else [*names]
    for name in split:
        if not re.fullmatch(r"[A-Z]\w*", name):
            hint = "A logic variable begins with an upper-case letter."
            raise ModelBuildingError(f"{name!r} cannot be the name of a logic variable.", hint)
    return tuple(Expression(n.LogicName(name), "number") for name in split)


def sum_(body: Term, *, over: Indices, where: Expression) -> Expression:
    """``sum{over in where} body``.

    Parameters
    ----------
    body
        What is added up, once for each answer.
    over
        The logic variables whose distinct values are the answers.
    where
        The query; variables that are neither listed nor bound outside are existential.

    Examples
    --------
    >>> I, = indices("I")
    >>> from relift.language.build_in_python import Model
    >>> m = Model()
    >>> cost = m.param("cost", 1)
    >>> sum_(2 * cost(I), over=I, where=cost(I) & (I != "a"))
    <sum{I in cost(I) & I != "a"} 2*cost(I)>
    """
    return _indexed("sum", body, over, where)


def min_(body: Term, *, over: Indices, where: Expression) -> Expression:
    """``min{over in where} body``: the smallest; of unknowns it is concave."""
    return _indexed("min", body, over, where)


def max_(body: Term, *, over: Indices, where: Expression) -> Expression:
    """``max{over in where} body``: the largest; of unknowns it is convex."""
    return _indexed("max", body, over, where)


def norm_(body: Term, *, over: Indices, where: Expression) -> Expression:
    """``norm{over in where} body``: the Euclidean norm.

    Examples
    --------
    >>> I, = indices("I")
    >>> from relift.language.build_in_python import Model
    >>> m = Model()
    >>> item = m.relation("item", 1)
    >>> x = m.var("x", I, where=item(I))
    >>> norm_(2 * x(I), over=I, where=item(I)) <= 3
    <norm{I in item(I)} 2*x(I) <= 3>
    """
    return _indexed("norm", body, over, where)


def norm1_(body: Term, *, over: Indices, where: Expression) -> Expression:
    """``norm1{over in where} body``: the sum of absolute values."""
    return _indexed("norm1", body, over, where)


def norminf_(body: Term, *, over: Indices, where: Expression) -> Expression:
    """``norminf{over in where} body``: the largest absolute value."""
    return _indexed("norminf", body, over, where)


def log_sum_exp_(body: Term, *, over: Indices, where: Expression) -> Expression:
    """``log_sum_exp{over in where} body``: the logarithm of a sum of exponentials."""
    return _indexed("log_sum_exp", body, over, where)


def geo_mean_(body: Term, *, over: Indices, where: Expression) -> Expression:
    """``geo_mean{over in where} body``: the geometric mean; of unknowns it is concave."""
    return _indexed("geo_mean", body, over, where)


def quad_over_lin_(body: Term, divisor: Term, *, over: Indices, where: Expression) -> Expression:
    """``quad_over_lin{over in where} (body, divisor)``: the sum of squares, divided by a positive number."""
    return _indexed("quad_over_lin", body, over, where, divisor)


def count_(*, over: Indices, where: Expression) -> Expression:
    """``count{over in where}``."""
    return Expression(n.Indexed("count", index_node(over, where), None), "number")


def maximum(first: Term, *others: Term) -> Expression:
    """``max(first, ...)``: the largest; of unknowns it is convex.

    Examples
    --------
    >>> from relift.language.build_in_python import Model
    >>> x = Model().var("x")
    >>> maximum(0, 1 - x) ** 2
    <max(0, 1 - x)**2>
    """
    return _call("max", first, *others)


def minimum(first: Term, *others: Term) -> Expression:
    """``min(first, ...)``: the smallest; of unknowns it is concave."""
    return _call("min", first, *others)


def exp(value: Term) -> Expression:
    """``exp(value)``; of unknowns it is convex."""
    return _call("exp", value)


def sqrt(value: Term) -> Expression:
    """``sqrt(value)``; of unknowns it is concave."""
    return _call("sqrt", value)


def log(value: Term) -> Expression:
    """``log(value)``; of unknowns it is concave."""
    return _call("log", value)


def norm(*values: Term) -> Expression:
    """``norm(a, b, ...)``: the Euclidean norm of some numbers.

    Examples
    --------
    >>> from relift.language.build_in_python import Model
    >>> m = Model()
    >>> norm(m.var("x"), m.var("y") - 1)
    <norm(x, y - 1)>
    """
    return function("norm", *values)


def norm1(*values: Term) -> Expression:
    """``norm1(a, b, ...)``: the sum of absolute values."""
    return function("norm1", *values)


def norminf(*values: Term) -> Expression:
    """``norminf(a, b, ...)``: the largest absolute value."""
    return function("norminf", *values)


def log_sum_exp(*values: Term) -> Expression:
    """``log_sum_exp(a, b, ...)``: the logarithm of a sum of exponentials."""
    return function("log_sum_exp", *values)


def geo_mean(*values: Term) -> Expression:
    """``geo_mean(a, b, ...)``: the geometric mean; of unknowns it is concave."""
    return function("geo_mean", *values)


def quad_over_lin(*values_and_divisor: Term) -> Expression:
    """``quad_over_lin(a, b, ..., t)``: the sum of squares of all but the last, divided by the last."""
    return function("quad_over_lin", *values_and_divisor)


def huber(value: Term, threshold: Term) -> Expression:
    r"""``huber(e, d)``: e² up to \|e\| = d, a line from there on."""
    return function("huber", value, threshold)


def inv(value: Term) -> Expression:
    """``inv(e)``: 1/e of a positive number; of unknowns it is convex."""
    return function("inv", value)


def entropy(value: Term) -> Expression:
    """``entropy(e)``: -e log e; of unknowns it is concave."""
    return function("entropy", value)


def kl(first: Term, second: Term) -> Expression:
    """``kl(e, f)``: e log(e/f) - e + f, the relative entropy; of unknowns it is convex."""
    return function("kl", first, second)


def indicator(formula: Expression) -> Expression:
    """``[formula]``: 1 where it holds, 0 elsewhere."""
    return Expression(n.Bracket(formula_node(formula, "indicator(..)")), "number")


def between(lower: Term, middle: Term, upper: Term) -> Expression:
    """``lower <= middle <= upper``, which Python cannot write with operators.

    Examples
    --------
    >>> from relift.language.build_in_python import Model
    >>> between(0, Model().var("x"), 1)
    <0 <= x <= 1>
    """
    parts = tuple(_comparable(part) for part in (lower, middle, upper))
    return Expression(n.Compare(parts, ("<=", "<=")), "formula")


true = Expression(n.Truth(), "formula")
"""The formula that always holds."""

Indices: TypeAlias = Expression | Sequence[Expression]
"""One logic variable or several."""

Bounds: TypeAlias = Term | Sequence[Term] | None
"""No bound, one, or several."""

# --- from Python values to nodes -------------------------------------------------------------------------------------


def counted(arity: int) -> str:
    """The number of arguments, in words."""
    return "1 argument" if arity == 1 else f"{arity} arguments"


def signed_number(value: object) -> n.Number:
    """A Python number as the number of a table or a declaration."""
    if isinstance(value, bool):
        hint = "A comparison of Python values is made before the model sees it."
        raise ModelBuildingError(f"{value} is not a number.", hint)
    if isinstance(value, Integral):
        return n.Number(str(int(value)))
    if isinstance(value, Real):
        if not math.isfinite(value):
            raise ModelBuildingError(f"{value} is not a finite number.")
        return n.Number(repr(float(value)))
    raise ModelBuildingError(f"{value!r} is not a number.")


def _constant(value: object) -> n.Number | n.Text:
    return n.Text(value) if isinstance(value, str) else signed_number(value)


def key_from_row(row: object) -> tuple[n.Number | n.Text, ...]:
    """A row of facts: a tuple or a list of constants, or one constant."""
    return tuple(map(_constant, row)) if isinstance(row, (tuple, list)) else (_constant(row),)


def _node(value: object) -> n.Node:
    """A Python value inside of an expression."""
    if isinstance(value, Expression):
        return value.node
    if isinstance(value, Predicate):
        return value._unused()
    if isinstance(value, str):
        return n.Text(value)
    number = signed_number(value)
    return n.Minus(n.Number(number.text[1:])) if number.text.startswith("-") else number


def _argument(value: object) -> n.Node:
    return n.Wildcard() if isinstance(value, _ANY) else _node(value)


def number_node(value: object, where: str) -> n.Node:
    """The node of a number; `where` says for the message what needs one."""
    if isinstance(value, Expression) and value.kind == "formula":
        hint = "Write indicator(..) for 1 or 0."
        raise ModelBuildingError(f"{value} is a formula, and {where} needs a number.", hint)
    if isinstance(value, str):
        raise ModelBuildingError(f"{value!r} is not a number, and {where} needs one.")
    return _node(value)


def _comparable(value: object) -> n.Node:
    return _node(value) if isinstance(value, str) else number_node(value, "a comparison")


def formula_node(value: object, where: str) -> n.Node:
    """The node of a formula; `where` says for the message what needs one."""
    if isinstance(value, Expression) and value.kind != "number":
        return value.node
    if isinstance(value, Predicate):
        return value._unused()
    raise ModelBuildingError(
        f"{value} is not a formula, and {where} needs one.",
        "Comparisons between & and | need parentheses: p(X) & (X < 3).",
    )


def _sum(left: object, sign: str, right: object) -> Expression:
    first, second = number_node(left, sign), number_node(right, sign)
    if isinstance(first, n.Sum):
        return Expression(n.Sum((*first.parts, second), (*first.signs, sign)), "number")
    return Expression(n.Sum((first, second), (sign,)), "number")


def _binary(op: Literal["*", "/", "**"], left: object, right: object) -> Expression:
    return Expression(n.Binary(op, number_node(left, op), number_node(right, op)), "number")


def _compare(left: object, sign: str, right: object) -> Expression:
    return Expression(n.Compare((_comparable(left), _comparable(right)), (sign,)), "formula")


def _call(function: FunctionName, *arguments: object) -> Expression:
    return Expression(n.Call(function, tuple(number_node(a, function) for a in arguments)), "number")


def logic_names(over: Iterable[object]) -> tuple[n.LogicName, ...]:
    """The nodes of logic variables."""
    names = list[n.LogicName]()
    for index in over:
        if not isinstance(index, Expression) or not isinstance(index.node, n.LogicName):
            raise ModelBuildingError(f"{index} is not a logic variable.", 'Make some with indices("I J").')
        names.append(index.node)
    return tuple(names)


def index_node(over: Indices, where: Expression) -> n.Index:
    """The node of ``{over in where}``."""
    names = logic_names((over,) if isinstance(over, Expression) else over)
    if not names:
        raise ModelBuildingError("a query needs at least one logic variable.")
    return n.Index(names, formula_node(where, "where"))


def _indexed(kind: str, body: object, over: Indices, where: Expression, *others: object) -> Expression:
    more = tuple(number_node(other, f"{kind}_") for other in others)
    return Expression(n.Indexed(kind, index_node(over, where), number_node(body, f"{kind}_"), more), "number")


def function(name: str, *arguments: object) -> Expression:
    """A function whose name is not reserved, as the text is read: an atom, in which a bare name is a constant."""
    if not arguments:
        raise ModelBuildingError(f"{name}() has no arguments.", "Give at least one number.")
    nodes = [n.Text(a) if isinstance(a, str) else number_node(a, name) for a in arguments]
    plain = (n.Text(node.name) if isinstance(node, n.Atom) and not node.arguments else node for node in nodes)
    return Expression(n.Atom(name, tuple(plain)), "number")
