"""What a dialect needs to have said in another way, as changes of a finished sqlglot tree.

PostgreSQL
    compares texts by the rules of a language unless it is told not to: every text constant and every cast to text gets
    the collation ``"C"``, which orders by code points as DuckDB does (columns of stored tables have it already);

    cuts names after 63 bytes: longer ones are replaced by a beginning and a hash;

    raises an error where a result is so small that it is 0, or so large that it is infinite: for ``exp`` and powers
    the answer is given without asking, for products and quotients the error stays;

    reads ``0.1e0`` as a decimal, so that the sign of ``-0.0`` is lost.

Spark
    has no order inside of a sum: the values are collected, sorted and added up one after the other;

    writes common table expressions out wherever they are used, and does not know the word ``MATERIALIZED``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256

from sqlglot import exp

LONGEST_NAME = 63
"""Bytes of a name in PostgreSQL."""
_SMALLEST_EXPONENT, _LARGEST_EXPONENT = "-745.1332191019411", "709.782712893384"
"""Beyond these exp(x) is 0 and infinite in doubles."""
_SMALLEST_POWER = "-745.1332191"
"""Logarithm of a power that is 0, with fewer digits, since it is rounded itself."""


def short_name(name: str) -> str:
    """A name of at most 63 bytes; others are replaced by a beginning and a hash.

    Examples
    --------
    >>> short_name("flow"), len(short_name("x" * 100))
    ('flow', 63)
    """
    data = name.encode()
    if len(data) <= LONGEST_NAME:
        return name
    digest = sha256(data).hexdigest()[:24]
    return f"{data[: LONGEST_NAME - 25].decode(errors='ignore')}_{digest}"


def _for_postgres(tree: exp.Expr) -> exp.Expr:
    found = list(tree.find_all(exp.Identifier, exp.Literal, exp.Cast, exp.ColumnDef, exp.Exp, exp.Pow))
    for node in reversed(found):  # inner ones first
        if isinstance(node, exp.Identifier):
            node.set("this", short_name(node.this))
        elif isinstance(node, exp.Literal) and node.is_string and not isinstance(node.parent, exp.Cast):
            node.replace(_by_code_points(node.copy()))
        elif isinstance(node, exp.Cast) and node.is_type("VARCHAR"):
            node.replace(_by_code_points(node.this.copy()))
        elif isinstance(node, exp.ColumnDef) and node.kind is not None and node.kind.is_type("VARCHAR"):
            node.set("kind", exp.DataType.build("TEXT"))
            node.set("constraints", [exp.ColumnConstraint(kind=exp.CollateColumnConstraint(this=_code_points()))])
        elif isinstance(node, exp.Exp):
            node.replace(_exponential(node.copy()))
        elif isinstance(node, exp.Pow):
            node.replace(_power(node.copy()))
    return tree


def _code_points() -> exp.Identifier:
    return exp.to_identifier("C", quoted=True)


def _by_code_points(value: exp.Expr) -> exp.Expr:
    """A value as text that is compared by code points."""
    text = exp.Cast(this=value, to=exp.DataType.build("TEXT"))
    return exp.Paren(this=exp.Collate(this=text, expression=_code_points()))


def _exponential(node: exp.Expr) -> exp.Expr:
    """``exp`` without the errors of underflow and overflow."""
    large = exp.GT(this=node.this.copy(), expression=_real(_LARGEST_EXPONENT))
    return exp.Case(
        ifs=[_zero_below(node.this.copy(), _SMALLEST_EXPONENT), exp.If(this=large, true=_real("inf"))], default=node
    )


def _power(node: exp.Expr) -> exp.Expr:
    """A power without the error of underflow."""
    base, exponent = node.this, node.expression
    is_zero = exp.EQ(this=base.copy(), expression=_real("0"))
    logarithm = exp.Mul(this=exp.Paren(this=exponent.copy()), expression=exp.Ln(this=exp.Abs(this=base.copy())))
    size = exp.Case(ifs=[exp.If(this=is_zero, true=_real("0"))], default=logarithm)
    return exp.Case(ifs=[_zero_below(size, _SMALLEST_POWER)], default=node)


def _zero_below(value: exp.Expr, smallest: str) -> exp.If:
    return exp.If(this=exp.LT(this=value, expression=_real(smallest)), true=_real("0"))


def _real(text: str) -> exp.Expr:
    return exp.Cast(this=exp.Literal.string(text), to=exp.DataType.build("DOUBLE"))


def _for_spark(tree: exp.Expr) -> exp.Expr:
    for part in tree.find_all(exp.CTE):
        part.set("materialized", None)
    for node in reversed(list(tree.find_all(exp.Sum))):
        if isinstance(node.this, exp.Order):
            node.replace(_sum_in_order(node.this.this))
    return tree


def _sum_in_order(value: exp.Expr) -> exp.Expr:
    """Add up in the order of size, then of sign, as ``SUM(v ORDER BY ABS(v), v)`` does; NULL if there is no value."""

    def call(name: str, *arguments: exp.Expr) -> exp.Expr:
        return exp.Anonymous(this=name, expressions=list(arguments))

    names = [exp.Literal.string(name) for name in ("size", "value")]
    pair = call("NAMED_STRUCT", names[0], exp.Abs(this=value.copy()), names[1], value.copy())
    is_value = exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null()))
    pairs = call("COLLECT_LIST", exp.Case(ifs=[exp.If(this=is_value, true=pair)]))
    second = exp.Dot(this=exp.to_identifier("p"), expression=exp.to_identifier("value"))
    step = exp.Lambda(
        this=exp.Add(this=exp.to_identifier("s"), expression=second),
        expressions=[exp.to_identifier("s"), exp.to_identifier("p")],
    )
    zero = exp.Cast(this=exp.Literal.number(0), to=exp.DataType.build("DOUBLE"))
    total = call("AGGREGATE", call("ARRAY_SORT", pairs), zero, step)
    is_any = exp.GT(this=exp.Count(this=value.copy()), expression=exp.Literal.number(0))
    return exp.Case(ifs=[exp.If(this=is_any, true=total)])


ADAPTED: Mapping[str, Callable[[exp.Expr], exp.Expr]] = {"postgres": _for_postgres, "spark": _for_spark}
"""Changes of trees, by the name of the dialect."""
