"""A small relational algebra: what grounding asks of an engine, free of any dialect.

A `Plan` is a tree (or a graph with shared parts) of frozen nodes; a `Scalar` is an expression over the columns of
one plan. Joins are natural: columns of equal name are the same thing. Rows are bags; whether a plan is a set is
known from its keys:

``columns``
    name to type, in order;
``keys``
    sets of columns no two rows agree on, as far as the algebra can prove it. The empty set is the key of a plan with at
    most one row.

No column of a table holds NULL; NULL comes up only where a left join finds nothing and where arithmetic has no
answer (``x / 0``, ``log(-1)``), and spreads from there.

>>> edges = Scan("edge", {"X": ("c0", Type.INTEGER), "Y": ("c1", Type.INTEGER)})
>>> starts = distinct(project(edges, "X"))
>>> dict(starts.columns), [sorted(key) for key in starts.keys]
({'X': <Type.INTEGER: 'integer'>}, [['X']])
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal as Choice
from typing import TypeAlias, final

from relift.records import record


class Type(StrEnum):
    """What a column holds. ``NOTHING`` is the type of a column without rows; it fits every other."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    BOOLEAN = "boolean"
    NUMBER_OF_ROW = "number of row"
    """A 32-bit integer, for the numbers that a matrix is addressed by."""
    WIDE = "wide integer"
    """An integer of up to 37 decimal digits, for exact sums; stored and compared, but never fetched."""
    NOTHING = "nothing"

    @property
    def is_number(self) -> bool:
        """Whether one can calculate with it."""
        return self in _NUMBERS


_NUMBERS = (Type.NOTHING, Type.NUMBER_OF_ROW, Type.INTEGER, Type.WIDE, Type.REAL)


class TypeClashError(Exception):
    """Two columns that must be comparable hold text and numbers; internal, translated by whoever builds the plan.

    Parameters
    ----------
    first, second
        The two types.
    column
        The column at which they meet, if it has a name.
    """

    def __init__(self, first: Type, second: Type, column: str = "") -> None:
        super().__init__(first, second, column)
        self.first, self.second, self.column = first, second, column


def common_type(first: Type, second: Type, column: str = "") -> Type:
    """The type that both fit into.

    Examples
    --------
    >>> common_type(Type.INTEGER, Type.REAL), common_type(Type.NOTHING, Type.TEXT)
    (<Type.REAL: 'real'>, <Type.TEXT: 'text'>)
    """
    if first == second or second == Type.NOTHING:
        return first
    if first == Type.NOTHING:
        return second
    if first.is_number and second.is_number:
        return max(first, second, key=_NUMBERS.index)
    raise TypeClashError(first, second, column)


# --- scalars ---------------------------------------------------------------------------------------------------------

Operation: TypeAlias = Choice[
    "+", "-", "*", "/", "**", "negative", "abs", "exp", "sqrt", "log", "least", "greatest",
    "=", "!=", "<", "<=", ">", ">=", "and", "or", "not", "is null", "is finite", "is whole",
    "coalesce", "if", "real", "integer", "text", "number of row", "wide integer", "round", "remainder", "hash",
    "floor", "mod", "length", "lower", "upper", "substring", "concat", "shift", "year", "month", "day", "weekday",
    "hour", "minute",
]  # fmt: skip
"""``if`` is (condition, then, otherwise); ``real`` to ``wide integer`` are casts. ``/``, ``**``, ``log`` and ``sqrt``
are real, and NULL where they have no value; ``is finite`` is false for NULL and NaN. ``round`` is to the nearest whole
number, ``remainder`` has the sign of what is divided. ``hash`` is (integer, seed, bits): a whole number below 2**bits
that looks random; the same for the same integer and seed in one engine, but not in two. ``floor`` is a whole number,
and NULL beyond 9e15; ``mod`` has the sign of the divisor. ``substring`` is (text, first from 1, count), ``concat``
joins texts and whole numbers, ``shift`` is (date or timestamp as text, seconds); these and the parts of dates,
from ``year`` to ``minute``, are NULL for what is no date."""

TEXT_OPERATIONS = frozenset(
    {"length", "lower", "upper", "substring", "concat", "shift", "year", "month", "day", "weekday", "hour", "minute"}
)
"""Operations whose first argument is a text."""


@final
@record
class Column:
    """A column of the plan that the scalar stands over."""

    name: str


@final
@record
class Literal:
    """A constant; None is the NULL of its type."""

    value: str | int | float | bool | None
    type: Type


@final
@record
class Call:
    """An operation on scalars."""

    operation: Operation
    arguments: tuple[Scalar, ...]


Scalar: TypeAlias = Column | Literal | Call

TRUE = Literal(True, Type.BOOLEAN)


def literal(value: str | float | bool) -> Literal:
    """A constant with the type that it has in Python.

    Examples
    --------
    >>> literal(3), literal(0.5)
    (Literal(value=3, type=<Type.INTEGER: 'integer'>), Literal(value=0.5, type=<Type.REAL: 'real'>))
    """
    if isinstance(value, bool):
        return Literal(value, Type.BOOLEAN)
    if isinstance(value, str):
        return Literal(value, Type.TEXT)
    return Literal(value, Type.INTEGER if isinstance(value, int) else Type.REAL)


def call(operation: Operation, *arguments: Scalar) -> Call:
    """An operation on scalars."""
    return Call(operation, arguments)


def all_of(conditions: Sequence[Scalar]) -> Scalar:
    """The conjunction of conditions; true if there are none."""
    if not conditions:
        return TRUE
    return conditions[0] if len(conditions) == 1 else Call("and", tuple(conditions))


def any_of(conditions: Sequence[Scalar]) -> Scalar:
    """The disjunction of at least one condition."""
    return conditions[0] if len(conditions) == 1 else Call("or", tuple(conditions))


def type_of(scalar: Scalar, columns: Mapping[str, Type]) -> Type:
    """The type of a scalar over columns.

    Raises
    ------
    TypeClashError
        If text meets a number.
    """
    if isinstance(scalar, Column):
        return columns[scalar.name]
    if isinstance(scalar, Literal):
        return scalar.type
    types = [type_of(argument, columns) for argument in scalar.arguments]
    match scalar.operation:
        case "=" | "!=" | "<" | "<=" | ">" | ">=":
            common_type(types[0], types[1])
            return Type.BOOLEAN
        case "and" | "or" | "not" | "is null" | "is finite" | "is whole":
            return Type.BOOLEAN
        case "+" | "-" | "*" | "negative" | "abs" | "least" | "greatest":
            return _widest([_number(kind) for kind in types])
        case "/" | "**" | "exp" | "sqrt" | "log":
            _widest([_number(kind) for kind in types])
            return Type.REAL
        case "real":
            return _number(types[0], Type.REAL)
        case "integer":
            return _number(types[0], Type.INTEGER)
        case "number of row":
            return _number(types[0], Type.NUMBER_OF_ROW)
        case "wide integer":
            return _number(types[0], Type.WIDE)
        case "round":
            return _number(types[0], Type.REAL)
        case "remainder":
            return _widest([_number(kind) for kind in types])
        case "hash":
            return _number(types[0], Type.INTEGER)
        case "floor":
            return _number(types[0], Type.INTEGER)
        case "mod":
            return _widest([_number(kind) for kind in types])
        case "concat":
            for kind in types:
                if kind not in _JOINED:
                    raise TypeClashError(kind, Type.TEXT)
            return Type.TEXT
        case (
            "lower"
            | "upper"
            | "substring"
            | "shift"
            | "length"
            | "year"
            | "month"
            | "day"
            | "weekday"
            | "hour"
            | "minute"
        ):
            _text(types[0])
            for kind in types[1:]:
                _number(kind)
            return Type.TEXT if scalar.operation in {"lower", "upper", "substring", "shift"} else Type.INTEGER
        case "text":
            return Type.TEXT
        case "if":
            return common_type(types[1], types[2])
        case "coalesce":
            return _widest(types)


def _number(kind: Type, result: Type | None = None) -> Type:
    if not kind.is_number:
        raise TypeClashError(kind, Type.REAL)
    if result is not None:
        return result
    return kind if kind in {Type.REAL, Type.WIDE} else Type.INTEGER


_JOINED = (Type.TEXT, Type.NOTHING, Type.INTEGER, Type.NUMBER_OF_ROW)


def _text(kind: Type) -> None:
    if kind not in {Type.TEXT, Type.NOTHING}:
        raise TypeClashError(kind, Type.TEXT)


def _widest(types: Iterable[Type]) -> Type:
    widest = Type.NOTHING
    for kind in types:
        widest = common_type(widest, kind)
    return widest


# --- plans -----------------------------------------------------------------------------------------------------------

Columns: TypeAlias = dict[str, Type]
Keys: TypeAlias = frozenset[frozenset[str]]
NO_KEYS: Keys = frozenset()


@dataclass(frozen=True, eq=False)
class Plan:
    """A relational expression; every node knows its columns and keys when it is made."""

    columns: Columns = field(init=False, repr=False)
    keys: Keys = field(init=False, repr=False)

    def _set(self, columns: Columns, keys: Iterable[frozenset[str]]) -> None:
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "keys", _smallest(keys))

    @property
    def is_set(self) -> bool:
        """Whether no row can occur twice."""
        return bool(self.keys)

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """The plans that this one is made of."""
        return ()


@final
@dataclass(frozen=True, eq=False)
class Scan(Plan):
    """Columns of a stored table.

    Parameters
    ----------
    table
        Its name in the engine.
    source
        For each column of the plan the column of the table and its type.
    table_keys
        Keys of the table, by the columns of the plan; a key that is not scanned whole must not be given.
    """

    table: str
    source: Mapping[str, tuple[str, Type]]
    table_keys: Keys = NO_KEYS

    def __post_init__(self) -> None:
        self._set({name: kind for name, (_, kind) in self.source.items()}, self.table_keys)


@final
@dataclass(frozen=True, eq=False)
class Unit(Plan):
    """One row without columns."""

    def __post_init__(self) -> None:
        self._set({}, [frozenset()])


@final
@dataclass(frozen=True, eq=False)
class Filter(Plan):
    """The rows for which a condition is true."""

    input: Plan
    condition: Scalar

    def __post_init__(self) -> None:
        type_of(self.condition, self.input.columns)
        keys = self.input.keys
        for condition in _conjuncts(self.condition):
            if isinstance(condition, Call) and condition.operation == "=":
                keys |= {_without_known(key, *condition.arguments) for key in keys}
        self._set(self.input.columns, keys)

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """The plan underneath."""
        return (self.input,)


def _conjuncts(condition: Scalar) -> tuple[Scalar, ...]:
    is_and = isinstance(condition, Call) and condition.operation == "and"
    return condition.arguments if is_and and isinstance(condition, Call) else (condition,)


def _without_known(key: frozenset[str], left: Scalar, right: Scalar) -> frozenset[str]:
    """A key without a column that an equality fixes: to a constant, or to another column of the key."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Column) and one.name in key:
            known = isinstance(other, Literal) or (isinstance(other, Column) and other.name in key - {one.name})
            if known:
                return key - {one.name}
    return key


@final
@dataclass(frozen=True, eq=False)
class Project(Plan):
    """New columns, computed from those of the input; rows are not made distinct."""

    input: Plan
    outputs: Mapping[str, Scalar]

    def __post_init__(self) -> None:
        types = self.input.columns
        kept: dict[str, str] = {}
        for name, scalar in self.outputs.items():
            if isinstance(scalar, Column):
                kept.setdefault(scalar.name, name)
        keys = [frozenset(kept[c] for c in key) for key in self.input.keys if key <= kept.keys()]
        self._set({name: type_of(scalar, types) for name, scalar in self.outputs.items()}, keys)

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """The plan underneath."""
        return (self.input,)


@final
@dataclass(frozen=True, eq=False)
class Join(Plan):
    """Natural join on all columns that both sides have. A left join fills the columns of the right with NULL.

    A semi join keeps the rows of the left that find a partner, an anti join those that find none.
    """

    left: Plan
    right: Plan
    kind: Choice["inner", "left", "semi", "anti"] = "inner"

    def __post_init__(self) -> None:
        left, right = self.left, self.right
        for name in self.on:
            common_type(left.columns[name], right.columns[name], name)
        if self.kind in {"semi", "anti"}:
            self._set(left.columns, left.keys)
            return
        on = frozenset(self.on)
        keys = {a | b for a in left.keys for b in right.keys}
        if any(key <= on for key in right.keys):
            keys |= left.keys
        if self.kind == "inner" and any(key <= on for key in left.keys):
            keys |= right.keys
        new = {name: kind for name, kind in right.columns.items() if name not in left.columns}
        self._set(left.columns | new, keys)

    @property
    def on(self) -> tuple[str, ...]:
        """The columns that both sides have."""
        return tuple(name for name in self.left.columns if name in self.right.columns)

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """The two plans that are joined."""
        return (self.left, self.right)


@final
@dataclass(frozen=True, eq=False)
class Union(Plan):
    """The rows of all parts, which have the same columns."""

    parts: tuple[Plan, ...]

    def __post_init__(self) -> None:
        columns = dict(self.parts[0].columns)
        for part in self.parts[1:]:
            columns = {name: common_type(kind, part.columns[name], name) for name, kind in columns.items()}
        self._set(columns, [])

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """The plans whose rows are put together."""
        return self.parts


@final
@dataclass(frozen=True, eq=False)
class Distinct(Plan):
    """The rows of a plan without duplicates."""

    input: Plan

    def __post_init__(self) -> None:
        self._set(self.input.columns, [*self.input.keys, frozenset(self.input.columns)])

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """The plan underneath."""
        return (self.input,)


AggregateFunction: TypeAlias = Choice["sum", "min", "max", "count", "wide sum", "quick sum"]
"""``wide sum`` adds up integers exactly, however many; ``quick sum`` adds up reals in any order, so that its last
digits may differ from run to run."""


@final
@dataclass(frozen=True, eq=False)
class Aggregate(Plan):
    """One row for each value of the key columns (one row in all, if there are none).

    A ``sum`` does not depend on the order of the rows: equal multisets have equal sums, to the last bit.
    """

    input: Plan
    by: tuple[str, ...]
    outputs: Mapping[str, tuple[AggregateFunction, Scalar]]

    def __post_init__(self) -> None:
        types = self.input.columns
        columns = {name: types[name] for name in self.by}
        for name, (function, scalar) in self.outputs.items():
            kind = type_of(scalar, types)
            columns[name] = {"count": Type.INTEGER, "wide sum": Type.WIDE}.get(function, kind)
        self._set(columns, [frozenset(self.by)])

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """The plan underneath."""
        return (self.input,)


@final
@dataclass(frozen=True, eq=False)
class Number(Plan):
    """The input with a further column that numbers the rows from 0, in the order of some columns.

    Without order columns the numbers follow the stored order, which only messages should rely on.
    """

    input: Plan
    name: str
    order: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        columns = self.input.columns | {self.name: Type.INTEGER}
        self._set(columns, [*self.input.keys, frozenset([self.name])])

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """The plan underneath."""
        return (self.input,)


@final
@dataclass(frozen=True, eq=False)
class Series(Plan):
    """Every row of the input, continued by all whole numbers from one scalar to another; none if the second is less."""

    input: Plan
    name: str
    first: Scalar
    last: Scalar

    def __post_init__(self) -> None:
        columns = self.input.columns | {self.name: Type.INTEGER}
        self._set(columns, [key | {self.name} for key in self.input.keys])

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """The plan underneath."""
        return (self.input,)


@final
@dataclass(frozen=True, eq=False)
class Limit(Plan):
    """Some rows, at most so many; the first ones in the order of some columns, if these are given."""

    input: Plan
    rows: int
    order: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._set(self.input.columns, self.input.keys)

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """The plan underneath."""
        return (self.input,)


def _smallest(keys: Iterable[frozenset[str]], at_most: int = 12) -> Keys:
    """Keys that contain no other key; only a few of them, since joins multiply them."""
    found: list[frozenset[str]] = []
    for key in sorted(set(keys), key=lambda key: (len(key), sorted(key))):
        if not any(other <= key for other in found):
            found.append(key)
    return frozenset(found[:at_most])


# --- short forms -----------------------------------------------------------------------------------------------------


def project(plan: Plan, *names: str, **computed: Scalar) -> Plan:
    """Keep some columns, and add computed ones."""
    if not computed and tuple(plan.columns) == names:
        return plan
    return Project(plan, {name: Column(name) for name in names} | computed)


def extend(plan: Plan, computed: Mapping[str, Scalar]) -> Plan:
    """All columns, and computed ones."""
    return Project(plan, {name: Column(name) for name in plan.columns} | dict(computed)) if computed else plan


def distinct(plan: Plan) -> Plan:
    """Each row once; nothing is done where the keys prove it already."""
    return plan if plan.is_set else Distinct(plan)


@final
@dataclass
class Component:
    """Parts of a plan that equalities link, directly or through others.

    Parameters
    ----------
    columns
        The columns of all parts, and those computed from them.
    parts
        Plans to be joined naturally.
    is_product
        Whether some computed column needs all combinations of parts that nothing links.
    """

    columns: set[str]
    parts: list[Plan]
    is_product: bool = False


def passes_columns(plan: Plan) -> bool:
    """Whether a node is a filter, or a projection that drops or adds columns but renames none."""
    if not isinstance(plan, Project):
        return isinstance(plan, Filter)
    return all(
        (isinstance(s, Column) and s.name == name) or name not in plan.input.columns for name, s in plan.outputs.items()
    )


def components(plan: Plan) -> list[Component]:
    """What inner joins bring together, grouped by shared columns and equalities.

    More than one component means that the plan passes through the product of them, whatever the order of the joins.
    """
    if isinstance(plan, Join) and plan.kind == "inner":
        return _linked([*components(plan.left), *components(plan.right)])
    if isinstance(plan, Filter):
        found = components(plan.input)
        for condition in _conjuncts(plan.condition):
            if isinstance(condition, Call) and condition.operation == "=":
                sides = [_touching(found, _columns_of(side)) for side in condition.arguments]
                if all(len(side) == 1 for side in sides):
                    found = _merged(found, [*sides[0], *sides[1]], set())
        return found
    if isinstance(plan, Project) and passes_columns(plan):
        found = components(plan.input)
        for name, scalar in plan.outputs.items():
            if not (isinstance(scalar, Column) and scalar.name == name):  # a copy of a column links as much as it
                touched = _touching(found, _columns_of(scalar))
                found = _merged(found, touched or found[:1], {name}, len(touched) > 1)
        return found
    return [] if isinstance(plan, Unit) else [Component(set(plan.columns), [plan])]


def _touching(found: list[Component], columns: set[str]) -> list[Component]:
    return [component for component in found if component.columns & columns]


def _merged(
    found: list[Component], some: list[Component], columns: set[str], is_product: bool = False
) -> list[Component]:
    chosen = [component for component in found if any(component is one for one in some)]
    others = [component for component in found if not any(component is one for one in some)]
    if not chosen:
        return others
    parts = [part for component in chosen for part in component.parts]
    is_product = is_product or any(component.is_product for component in chosen)
    return [*others, Component(columns.union(*(c.columns for c in chosen)), parts, is_product)]


def _linked(found: list[Component]) -> list[Component]:
    """Components merged where they share a column."""
    merged: list[Component] = []
    for component in found:
        merged = _merged([*merged, component], [component, *_touching(merged, component.columns)], set())
    return merged


def _columns_of(scalar: Scalar) -> set[str]:
    if isinstance(scalar, Column):
        return {scalar.name}
    return set().union(*map(_columns_of, scalar.arguments)) if isinstance(scalar, Call) else set()


def nodes(plan: Plan) -> list[Plan]:
    """Every node of a plan once, inputs before what is made of them."""
    seen: set[int] = set()
    ordered: list[Plan] = []
    stack: list[tuple[Plan, bool]] = [(plan, False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            ordered.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((part, False) for part in reversed(node.inputs))
    return ordered
