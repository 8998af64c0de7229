"""From a plan to SQL: a sqlglot tree first, then the text of a dialect.

Trees are built, never text: names become quoted identifiers and constants become literals of the tree, so that no
name and no value of a user can end up as SQL. Parts of a plan that are used more than once become common table
expressions, so the text grows with the number of nodes and not with the number of paths.

>>> from relift.tables.algebra import Column, Filter, Scan, Type, call, literal
>>> edges = Scan("edge", {"X": ("c0", Type.INTEGER)})
>>> select_from_plan(Filter(edges, call(">", Column("X"), literal(2))), "duckdb")
'SELECT t."X" AS "X" FROM (SELECT t."c0" AS "X" FROM "edge" AS t) AS t WHERE (t."X" > CAST(2 AS BIGINT))'
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

from sqlglot import exp

from relift.tables.algebra import (
    TEXT_OPERATIONS,
    Aggregate,
    Call,
    Column,
    Distinct,
    Filter,
    Join,
    Limit,
    Literal,
    Number,
    Plan,
    Project,
    Scalar,
    Scan,
    Series,
    Type,
    Union,
    Unit,
    common_type,
    nodes,
    type_of,
)
from relift.tables.sql.dialects import ADAPTED
from relift.tables.sql.hashes import hash_word, in_words_of, wide_term
from relift.tables.sql.text_functions import series, text_function, with_text_functions

_SQL_TYPES = {
    Type.INTEGER: exp.DataType.Type.BIGINT,
    Type.REAL: exp.DataType.Type.DOUBLE,
    Type.TEXT: exp.DataType.Type.VARCHAR,
    Type.BOOLEAN: exp.DataType.Type.BOOLEAN,
    Type.NUMBER_OF_ROW: exp.DataType.Type.INT,
    Type.WIDE: exp.DataType.Type.INT128,
    Type.NOTHING: exp.DataType.Type.BIGINT,
}
_BINARY: dict[str, type[exp.Expr]] = {
    "+": exp.Add,
    "-": exp.Sub,
    "*": exp.Mul,
    "=": exp.EQ,
    "!=": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}
_DEAR = (Join, Union, Distinct, Aggregate, Number, Series, Limit)
"""What is not calculated twice."""
LARGEST_WHOLE = 9.0e15
"""Reals up to this size are whole numbers exactly if they equal their floor, and fit into integers."""


def select_from_plan(plan: Plan, dialect: str) -> str:
    """The query of a plan, as text of a dialect."""
    return text_of(PlanWriter(plan).query(), dialect)


def count_from_plan(plan: Plan, cap: int, dialect: str) -> str:
    """A query of one number: how many rows the plan has, at most ``cap``."""
    writer = PlanWriter(plan)
    ctes = writer.shared_parts()
    some = exp.Select(expressions=[aliased(exp.Literal.number(1), "one")])
    some = some.from_(writer.source(plan, "t"), copy=False).limit(cap, copy=False)
    query = exp.Select(expressions=[exp.Count(this=exp.Star())]).from_(
        from_source(exp.Subquery(this=some), "n"), copy=False
    )
    return text_of(_with(query, ctes), dialect)


def name_in(dialect: str, *parts: str) -> str:
    """A quoted, possibly qualified name."""
    return ".".join(exp.to_identifier(part, quoted=True).sql(dialect=dialect, copy=False) for part in parts)


def text_in(dialect: str, value: str) -> str:
    """A quoted text constant."""
    return exp.Literal.string(value).sql(dialect=dialect, copy=False)


def text_of(tree: exp.Expr, dialect: str) -> str:
    """The text of a tree, after what a dialect needs to have said in another way."""
    tree = with_text_functions(in_words_of(tree, dialect), dialect)
    adapt = ADAPTED.get(dialect)
    return (tree if adapt is None else adapt(tree)).sql(dialect=dialect, copy=False)


class PlanWriter:
    """Writes one plan; parts used twice become common table expressions."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        uses: Counter[int] = Counter()
        self.order = nodes(plan)
        for node in self.order:
            uses.update(id(part) for part in node.inputs)
        self.shared = {
            id(node): f"shared_{position}"
            for position, node in enumerate(self.order)
            if uses[id(node)] > 1 and any(isinstance(n, _DEAR) for n in nodes(node))
        }

    def query(self) -> exp.Select:
        """The query of the plan."""
        ctes = self.shared_parts()
        return _with(self.select(self.plan), ctes)

    def shared_parts(self) -> list[tuple[str, exp.Select]]:
        """Names and queries of the parts that are used twice, inner ones first."""
        return [(self.shared[id(n)], self.select(n)) for n in self.order if id(n) in self.shared]

    def source(self, plan: Plan, alias: str) -> exp.Expr:
        """A part of the plan, to select from."""
        if id(plan) in self.shared:
            return from_source(_table(self.shared[id(plan)]), alias)
        return from_source(exp.Subquery(this=self.select(plan)), alias)

    def select(self, plan: Plan) -> exp.Select:
        """The query of a part of the plan."""
        if isinstance(plan, Scan):
            columns = [aliased(_stored("t", source, kind), name) for name, (source, kind) in plan.source.items()]
            return select_of(columns).from_(from_source(_table(plan.table), "t"), copy=False)
        if isinstance(plan, Unit):
            return select_of([])
        if isinstance(plan, Filter):
            inner = plan.input
            return (
                _all_columns(inner)
                .from_(self.source(inner, "t"), copy=False)
                .where(_scalar(plan.condition, inner.columns), copy=False)
            )
        if isinstance(plan, Project):
            types = plan.input.columns
            outputs = [aliased(_scalar(s, types), name) for name, s in plan.outputs.items()]
            return select_of(outputs).from_(self.source(plan.input, "t"), copy=False)
        if isinstance(plan, Join):
            return self._join(plan)
        if isinstance(plan, Union):
            return self._union(plan)
        if isinstance(plan, Distinct):
            return _all_columns(plan.input).from_(self.source(plan.input, "t"), copy=False).distinct(copy=False)
        if isinstance(plan, Aggregate):
            return self._aggregate(plan)
        if isinstance(plan, Number):
            order = exp.Order(expressions=[exp.Ordered(this=column_of("t", name)) for name in plan.order])
            window = exp.Window(this=exp.RowNumber(), order=order if plan.order else None)
            number = whole_from_0(window)
            return (
                _all_columns(plan.input)
                .select(aliased(number, plan.name), copy=False)
                .from_(self.source(plan.input, "t"), copy=False)
            )
        if isinstance(plan, Series):
            return self._series(plan)
        assert isinstance(plan, Limit)
        limited = _all_columns(plan.input).from_(self.source(plan.input, "t"), copy=False).limit(plan.rows, copy=False)
        if not plan.order:
            return limited
        return limited.order_by(*(exp.Ordered(this=column_of("t", name)) for name in plan.order), copy=False)

    def _series(self, plan: Series) -> exp.Select:
        types = plan.input.columns
        first, last = (_scalar(end, types) for end in (plan.first, plan.last))
        return (
            _all_columns(plan.input)
            .select(aliased(series(first, last), plan.name), copy=False)
            .from_(self.source(plan.input, "t"), copy=False)
            .where(exp.LTE(this=first.copy(), expression=last.copy()), copy=False)
        )

    def _join(self, plan: Join) -> exp.Select:
        left, right = plan.left, plan.right
        pairs = [_equal(name, left.columns[name], right.columns[name]) for name in plan.on]
        condition = exp.and_(*pairs, copy=False) if pairs else exp.true()
        if plan.kind in {"semi", "anti"}:
            partner = select_of([]).from_(self.source(right, "r"), copy=False).where(condition, copy=False)
            exists: exp.Expr = exp.Exists(this=partner)
            if plan.kind == "anti":
                exists = exp.Not(this=exists)
            return _all_columns(left, "l").from_(self.source(left, "l"), copy=False).where(exists, copy=False)
        columns = [aliased(column_of("l" if name in left.columns else "r", name), name) for name in plan.columns]
        joined = exp.Join(this=self.source(right, "r"), side="LEFT" if plan.kind == "left" else None)
        if pairs or plan.kind == "left":
            joined.set("on", condition)
        else:
            joined.set("kind", "CROSS")
        query = select_of(columns).from_(self.source(left, "l"), copy=False)
        query.append("joins", joined)
        return query

    def _union(self, plan: Union) -> exp.Select:
        parts: list[exp.Expr] = []
        for part in plan.parts:
            columns = [
                aliased(_cast(column_of("t", name), part.columns[name], kind), name)
                for name, kind in plan.columns.items()
            ]
            parts.append(select_of(columns).from_(self.source(part, "t"), copy=False))
        if len(parts) == 1:
            return parts[0]  # type: ignore[return-value]
        return _all_columns(plan).from_(from_source(exp.Subquery(this=union_of(parts)), "t"), copy=False)

    def _aggregate(self, plan: Aggregate) -> exp.Select:
        types = plan.input.columns
        outputs = [aliased(column_of("t", name), name) for name in plan.by]
        for name, (function, scalar) in plan.outputs.items():
            outputs.append(aliased(_function(function, scalar, types), name))
        query = select_of(outputs).from_(self.source(plan.input, "t"), copy=False)
        return query.group_by(*(column_of("t", name) for name in plan.by), copy=False) if plan.by else query


def union_of(parts: list[exp.Expr]) -> exp.Expr:
    """All rows of several queries."""
    union = parts[0]
    for select in parts[1:]:
        union = exp.Union(this=union, expression=select, distinct=False)
    return union


def _with(query: exp.Select, parts: list[tuple[str, exp.Select]]) -> exp.Select:
    for name, select in parts:
        # Without the word engines may write the part out in every place, and parts of parts more often still.
        query = query.with_(exp.to_identifier(name, quoted=True), as_=select, materialized=True, copy=False)
    return query


def select_of(columns: list[exp.Expr]) -> exp.Select:
    """A select; a relation without columns is shown by a constant one."""
    return exp.Select(expressions=columns or [aliased(exp.Literal.number(1), "unit")])


def _all_columns(plan: Plan, alias: str = "t") -> exp.Select:
    return select_of([aliased(column_of(alias, name), name) for name in plan.columns])


def aliased(value: exp.Expr, name: str) -> exp.Expr:
    """A value under a name."""
    return exp.Alias(this=value, alias=exp.to_identifier(name, quoted=True))


def from_source(source: exp.Expr, alias: str) -> exp.Expr:
    """A table or subquery under an alias."""
    source.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
    return source


def _table(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True))


def column_of(table: str, name: str) -> exp.Column:
    """A column of a table that has an alias."""
    return exp.Column(this=exp.to_identifier(name, quoted=True), table=exp.to_identifier(table))


def _stored(table: str, name: str, kind: Type) -> exp.Expr:
    """A column of a stored table. One without rows may be stored as text, and is compared as a number."""
    column = column_of(table, name)
    return exp.Cast(this=column, to=sql_type(kind)) if kind == Type.NOTHING else column


def whole_from_0(number: exp.Expr) -> exp.Expr:
    """A number that counts from 1, as an integer that counts from 0."""
    return exp.Cast(this=exp.Sub(this=number, expression=exp.Literal.number(1)), to=sql_type(Type.INTEGER))


def sql_type(kind: Type) -> exp.DataType:
    """The type of a column."""
    return exp.DataType(this=_SQL_TYPES[kind])  # built from the word of a type, it would be parsed each time


def _cast(value: exp.Expr, found: Type, wanted: Type) -> exp.Expr:
    if _SQL_TYPES[found] == _SQL_TYPES[wanted]:
        return value
    return exp.Cast(this=value, to=sql_type(wanted))


def _equal(name: str, left: Type, right: Type) -> exp.Expr:
    common = common_type(left, right)
    return exp.EQ(this=_cast(column_of("l", name), left, common), expression=_cast(column_of("r", name), right, common))


def _function(function: str, scalar: Scalar, types: dict[str, Type]) -> exp.Expr:
    value = _scalar(scalar, types)
    if function == "count":
        return exp.Count(this=exp.Star())
    kind = type_of(scalar, types)
    if function == "sum" and kind == Type.REAL:
        # Added up in the order of size, so that equal multisets give equal sums; v and -v give sums of opposite sign.
        order = [exp.Ordered(this=exp.Abs(this=value.copy())), exp.Ordered(this=value.copy())]
        return exp.Sum(this=exp.Order(this=value, expressions=order))
    if function == "wide sum":
        return exp.Cast(this=exp.Sum(this=value if kind == Type.WIDE else wide_term(value)), to=sql_type(Type.WIDE))
    if function == "quick sum":
        return exp.Sum(this=_cast(value, kind, Type.REAL))
    if function == "sum":
        return exp.Cast(this=exp.Sum(this=value), to=sql_type(kind))
    return {"min": exp.Min, "max": exp.Max}[function](this=value)


def _scalar(scalar: Scalar, types: dict[str, Type], table: str = "t") -> exp.Expr:
    if isinstance(scalar, Column):
        return column_of(table, scalar.name)
    if isinstance(scalar, Literal):
        return _literal(scalar)
    return _call(scalar, types, table)


def _literal(constant: Literal) -> exp.Expr:
    value = constant.value
    if value is None:
        return exp.Cast(this=exp.Null(), to=sql_type(constant.type))
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, str):
        return exp.Literal.string(value)
    if constant.type == Type.REAL:
        number = float(value)
        if not math.isfinite(number):
            return exp.Cast(this=exp.Literal.string(str(number)), to=sql_type(Type.REAL))
        digits = repr(number)  # with an exponent, or some engines read a decimal and round a second time
        return exp.Cast(this=_signed(digits if "e" in digits else f"{digits}e0"), to=sql_type(Type.REAL))
    return exp.Cast(this=_signed(str(int(value))), to=sql_type(constant.type))


def _signed(digits: str) -> exp.Expr:
    if digits.startswith("-"):
        return exp.Neg(this=exp.Literal.number(digits[1:]))
    return exp.Literal.number(digits)


def _call(scalar: Call, types: dict[str, Type], table: str) -> exp.Expr:
    operation = scalar.operation
    kinds = [type_of(argument, types) for argument in scalar.arguments]
    parts = [_scalar(argument, types, table) for argument in scalar.arguments]
    if operation == "hash":
        return _hash(parts[0], scalar.arguments[1:])
    if operation == "remainder":
        wanted = common_type(kinds[0], kinds[1])
        left, right = (_bracketed(_cast(part, kind, wanted)) for part, kind in zip(parts, kinds, strict=True))
        return _bracketed(exp.Mod(this=left, expression=right))
    if operation in _BINARY:
        if kinds[0] != kinds[1]:
            wanted = common_type(kinds[0], kinds[1])
            parts = [_cast(part, kind, wanted) for part, kind in zip(parts, kinds, strict=True)]
        return _bracketed(_BINARY[operation](this=_bracketed(parts[0]), expression=_bracketed(parts[1])))
    if operation in TEXT_OPERATIONS:
        return text_function(operation, parts)
    if operation == "floor":
        return parts[0] if kinds[0] != Type.REAL else _floor(parts[0])
    if operation == "mod":
        wanted = type_of(scalar, types)
        left, right = (_cast(part, kind, wanted) for part, kind in zip(parts, kinds, strict=True))
        return _modulo(left, right, is_real=wanted == Type.REAL)
    if operation in {"and", "or"}:
        return _bracketed((exp.and_ if operation == "and" else exp.or_)(*parts, copy=False))
    if operation in {"/", "**", "exp", "sqrt", "log", "real", "round"}:
        parts = [_cast(part, kind, Type.REAL) for part, kind in zip(parts, kinds, strict=True)]
    return _SPECIAL[operation](parts)


def _bracketed(value: exp.Expr) -> exp.Expr:
    is_simple = isinstance(value, exp.Column | exp.Literal | exp.Paren | exp.Func | exp.Cast)
    return value if is_simple and not isinstance(value, exp.Connector) else exp.Paren(this=value)


def _when(condition: exp.Expr, value: exp.Expr, otherwise: exp.Expr | None = None) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=condition, true=value)], default=otherwise)


def _half() -> exp.Expr:
    return exp.Cast(this=exp.Literal.number("0.5e0"), to=sql_type(Type.REAL))


def _zero() -> exp.Expr:
    return exp.Cast(this=exp.Literal.number(0), to=sql_type(Type.REAL))


def _divide(parts: list[exp.Expr]) -> exp.Expr:
    over = exp.Nullif(this=parts[1], expression=_zero())
    return exp.Div(this=_bracketed(parts[0]), expression=over, typed=False, safe=False)


def _power(parts: list[exp.Expr]) -> exp.Expr:
    base, exponent = parts
    has_none = exp.or_(
        exp.and_(exp.EQ(this=base.copy(), expression=_zero()), exp.LT(this=exponent.copy(), expression=_zero())),
        exp.and_(
            exp.LT(this=base.copy(), expression=_zero()),
            exp.NEQ(this=exp.Floor(this=exponent.copy()), expression=exponent.copy()),
        ),
    )
    null = exp.Cast(this=exp.Null(), to=sql_type(Type.REAL))
    return _when(has_none, null, exp.Pow(this=base, expression=exponent))


def _floor(value: exp.Expr) -> exp.Expr:
    is_near = exp.LTE(this=exp.Abs(this=value.copy()), expression=_signed(repr(LARGEST_WHOLE)))
    return _when(is_near, exp.Cast(this=exp.Floor(this=value), to=sql_type(Type.INTEGER)))


def _modulo(left: exp.Expr, right: exp.Expr, is_real: bool) -> exp.Expr:
    """The remainder with the sign of the divisor; NULL for a divisor of 0."""
    left, right = _bracketed(left), _bracketed(right)
    if is_real:
        times = exp.Floor(this=_divide([left.copy(), right.copy()]))
        return exp.Paren(this=exp.Sub(this=left, expression=exp.Mul(this=right, expression=times)))
    over = exp.Nullif(this=right.copy(), expression=exp.Literal.number(0))
    inner = exp.Paren(this=exp.Add(this=exp.Paren(this=exp.Mod(this=left, expression=over)), expression=right))
    return exp.Paren(this=exp.Mod(this=inner, expression=over.copy()))


def _hash(value: exp.Expr, options: tuple[Scalar, ...]) -> exp.Expr:
    seed, bits = (int(option.value or 0) for option in options if isinstance(option, Literal))
    shifted = exp.Add(this=_bracketed(value), expression=_literal(Literal(seed, Type.INTEGER)))
    return hash_word(shifted, _literal(Literal((1 << bits) - 1, Type.INTEGER)))


def _is_finite(parts: list[exp.Expr]) -> exp.Expr:
    largest = exp.Cast(this=exp.Literal.number(repr(1.7976931348623157e308)), to=sql_type(Type.REAL))
    test = exp.LTE(this=exp.Abs(this=parts[0]), expression=largest)
    return exp.Coalesce(this=_bracketed(test), expressions=[exp.false()])


def _is_whole(parts: list[exp.Expr]) -> exp.Expr:
    """Looked at only where it is small: Spark's floor is a whole number of 64 bits."""
    is_large = exp.GT(this=exp.Abs(this=parts[0].copy()), expression=_signed(repr(LARGEST_WHOLE)))
    is_floor = exp.EQ(this=exp.Floor(this=parts[0].copy()), expression=parts[0].copy())
    return exp.Case(ifs=[exp.If(this=is_large, true=exp.false())], default=is_floor)


def _cast_to(kind: Type) -> Callable[[list[exp.Expr]], exp.Expr]:
    return lambda parts: exp.Cast(this=parts[0], to=sql_type(kind))


_SPECIAL: dict[str, Callable[[list[exp.Expr]], exp.Expr]] = {
    "/": lambda parts: exp.Paren(this=_divide(parts)),
    "**": _power,
    "negative": lambda parts: exp.Paren(this=exp.Neg(this=_bracketed(parts[0]))),
    "abs": lambda parts: exp.Abs(this=parts[0]),
    "exp": lambda parts: exp.Exp(this=parts[0]),
    "sqrt": lambda parts: _when(exp.GTE(this=parts[0].copy(), expression=_zero()), exp.Sqrt(this=parts[0])),
    "log": lambda parts: _when(exp.GT(this=parts[0].copy(), expression=_zero()), exp.Ln(this=parts[0])),
    "least": lambda parts: exp.Least(this=parts[0], expressions=parts[1:]),
    "greatest": lambda parts: exp.Greatest(this=parts[0], expressions=parts[1:]),
    "not": lambda parts: exp.Not(this=_bracketed(parts[0])),
    "is null": lambda parts: exp.Paren(this=exp.Is(this=_bracketed(parts[0]), expression=exp.Null())),
    "is finite": _is_finite,
    "is whole": lambda parts: exp.Paren(this=_is_whole(parts)),
    "coalesce": lambda parts: exp.Coalesce(this=parts[0], expressions=parts[1:]),
    "if": lambda parts: _when(parts[0], parts[1], parts[2]),
    "real": lambda parts: parts[0],
    "integer": _cast_to(Type.INTEGER),
    "text": _cast_to(Type.TEXT),
    "number of row": _cast_to(Type.NUMBER_OF_ROW),
    "wide integer": _cast_to(Type.WIDE),
    "round": lambda parts: exp.Floor(this=exp.Add(this=parts[0], expression=_half())),
}
