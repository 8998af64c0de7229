"""The checked model: what the front end hands to grounding. Data only, no behaviour.

A `CheckedModel` is a model in which every name is known, every kind fits, every logic variable is bound,
negation is stratified, definitions are inlined and every expression in the unknowns is a flat sum of terms: of degree
at most two, or convex and concave functions of such sums. What only data can tell (missing or doubled values, signs of
data coefficients, sizes) is left to grounding and is marked.

Conventions that hold throughout
--------------------------------
**Names of logic variables are unique where they meet.** A variable that is bound by a scope, an aggregate,
or existentially has another name than every variable bound around it; inlined definitions are renamed
(``J``, ``J_2``), so a name means the same thing everywhere inside one statement's nest of scopes, and
formulas may be joined by variable name.

**Queries.** `Scope` and `DataAggregate` evaluate their formula for given values of the variables bound
outside (`outer`), project on ``outer + variables`` and remove duplicates. Every other variable of the
formula is listed in `existential`.

**Conjunctions are in evaluation order.** The parts of an `And` can be evaluated from left to right: a
positive `Holds` binds its plain variable arguments; a `Comparison` with `binds` set gives that variable its
value; every other part (tests, negations, computed arguments) sees only variables that are bound by parts
to its left or outside; a computed argument may also use plain arguments of its own atom. All parts of an
`Or` bind the same variables, as far as these are used outside of the `Or`; the others are existential in
each part.

**Values of params.** A `ParameterValue` in a coefficient, bound or aggregate body that has no value is an
error of the data, unless the param has a `default`. In a *formula* it cannot be missing: where the param
has no default, the comparison stands in an `And` behind the matching `Holds` ("it has a value, and the
value passes the test").

**Normal form of constraints.** ``lower <= body <= upper``, where a missing side is None. `lower` and
`upper` are data over the `variables` of the constraint; constants inside sums stay in the body as
`ConstantTerm`. An equality has ``lower == upper``. If neither side of the comparison is free of unknowns,
everything is moved to the left and the bounds are the constant 0. ``a <= e <= b`` is one row when a and b
are data; otherwise it becomes two constraints that share their name and have `part` ``"lower"`` and
``"upper"``. A body that is not affine (`is_convex`) always has ``lower is None`` and is convex: ``body <=
upper``. A constraint without unknowns stays: ``0 = 1`` is a row without entries that cannot hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, TypeAlias, final

from relift.language.functions import ConvexFunction
from relift.language.syntax.source import NOWHERE, Source, Span
from relift.records import record

Value: TypeAlias = str | int | float
"""A constant of the language: a name or string (both are str), a whole number, or a decimal number."""

ComparisonSign: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">="]
ArithmeticSign: TypeAlias = Literal["+", "-", "*", "/", "**"]
FunctionName: TypeAlias = Literal[
    "abs", "exp", "sqrt", "log", "min", "max", "floor", "mod", "length", "lower", "upper", "substring", "concat",
    "shift", "year", "month", "day", "weekday", "hour", "minute",
]  # fmt: skip
"""Functions of data; all others are made of these. ``shift`` is (date or timestamp, seconds)."""
AggregateKind: TypeAlias = Literal["sum", "min", "max", "count"]
Sign: TypeAlias = Literal["nonnegative", "nonpositive"]
Bend: TypeAlias = Literal["affine", "convex", "concave"]
AFFINE: Bend = "affine"

# --- data expressions ------------------------------------------------------------------------------------------------


@final
@record
class Constant:
    """A value written in the model. As an argument it may be a string; in arithmetic it is a number."""

    value: Value


@final
@record
class LogicVariable:
    """The value that a logic variable has: as an argument any constant, in arithmetic a number."""

    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Anonymous:
    """``_`` as an argument of `Holds`: some value. Each occurrence is its own existential variable, innermost scope."""


@final
@record
class ParameterValue:
    """The value of a param at a tuple. If there is none: `default`, or that of the param, else an error naming it."""

    name: str
    arguments: tuple[Argument, ...]
    default: int | float | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Arithmetic:
    """``left op right``; ``/`` is real division, ``**`` a power. Division by zero is an error of the data."""

    op: ArithmeticSign
    left: DataExpression
    right: DataExpression
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Negative:
    """``-part``."""

    part: DataExpression


@final
@record
class Function:
    """A function of data; see :mod:`relift.language.functions` for their arguments."""

    name: FunctionName
    arguments: tuple[DataExpression, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Indicator:
    """``[formula]``: 1 where the formula holds, else 0. Variables in `existential` are not bound outside."""

    formula: Formula
    existential: tuple[str, ...] = ()


@final
@record
class DataAggregate:
    """``kind{variables in formula} body`` over data: one summand for each answer, duplicates removed.

    Parameters
    ----------
    kind
        ``"sum"`` and ``"count"`` of nothing are 0; ``"min"`` and ``"max"`` of nothing are an error of the data.
    variables
        The listed variables.
    formula
        The query.
    body
        What is aggregated; None for ``"count"``.
    outer
        Variables of `formula` and `body` that are bound outside.
    existential
        All other variables of `formula`.
    """

    kind: AggregateKind
    variables: tuple[str, ...]
    formula: Formula
    body: DataExpression | None
    outer: tuple[str, ...] = ()
    existential: tuple[str, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Neighbour:
    """The value before (step -1) or after (1) another in an ordered relation of one argument.

    At the border there is none: in a formula no atom holds for it, elsewhere it is an error of the data.
    """

    relation: str
    argument: DataExpression
    step: Literal[-1, 1]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


DataExpression: TypeAlias = (
    Constant | LogicVariable | ParameterValue | Arithmetic | Negative | Function | Indicator | DataAggregate | Neighbour
)
"""An expression whose value the data decide, for given values of its logic variables."""

Argument: TypeAlias = DataExpression | Anonymous
"""An argument of an atom: mostly a `LogicVariable` or `Constant`; a computed one has only bound variables."""

# --- formulas --------------------------------------------------------------------------------------------------------


@final
@record
class TrueFormula:
    """Holds always."""


@final
@record
class Holds:
    """The tuple is in the relation, follows from the rules, or (param) has a value *in the data*.

    The default of a param plays no part in this.
    """

    predicate: str
    arguments: tuple[Argument, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Comparison:
    """``left op right`` between data. If `binds` is set, op is ``=`` and it gives that variable its value.

    The bound variable is the whole of `left`, and does not occur in `right`. ``=`` and ``!=`` compare any constants,
    the others numbers (or strings by code point).
    """

    op: ComparisonSign
    left: DataExpression
    right: DataExpression
    binds: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class InRange:
    """``value in first .. last``: a whole number from first to last; it binds a logic variable that has no value."""

    value: DataExpression
    first: DataExpression
    last: DataExpression
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Not:
    """Negation as failure. All variables of `part` are bound outside; ``_`` in it means "for no value"."""

    part: Formula


@final
@record
class And:
    """All parts hold; at least two, in evaluation order."""

    parts: tuple[Formula, ...]


@final
@record
class Or:
    """Some part holds; at least two."""

    parts: tuple[Formula, ...]


Formula: TypeAlias = TrueFormula | Holds | Comparison | InRange | Not | And | Or

# --- expressions in the unknowns -------------------------------------------------------------------------------------


@final
@record
class Scope:
    """One level ``sum{variables in formula}``.

    Parameters
    ----------
    variables
        The listed variables: the sum has one summand for each of their distinct values, given `outer`.
    formula
        The query.
    outer
        Those variables of `formula` that are bound by enclosing scopes or by the constraint's ``forall``.
    existential
        All other variables of `formula`.
    """

    variables: tuple[str, ...]
    formula: Formula
    outer: tuple[str, ...] = ()
    existential: tuple[str, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class UnknownAtom:
    """One unknown: a variable predicate at a tuple. A tuple outside of its domain is an error of the data."""

    name: str
    arguments: tuple[DataExpression, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class ConstantTerm:
    """``sum{scopes[0]} sum{scopes[1]} ... coefficient``, without unknowns."""

    scopes: tuple[Scope, ...]
    coefficient: DataExpression


@final
@record
class LinearTerm:
    """``sum{scopes...} coefficient * unknown``; scopes from the outside in, each sees the variables of those before."""

    scopes: tuple[Scope, ...]
    coefficient: DataExpression
    unknown: UnknownAtom


@final
@record
class Affine:
    """A sum of constant and linear terms; their scopes lie inside the scopes of the term that holds this."""

    terms: tuple[LinearTerm | ConstantTerm, ...]


@final
@record
class ProductTerm:
    """``sum{scopes...} coefficient * first * second``; convexity is decided on the matrix."""

    scopes: tuple[Scope, ...]
    coefficient: DataExpression
    first: UnknownAtom
    second: UnknownAtom
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class SquareTerm:
    """``sum{scopes...} coefficient * inner**2``, kept as a factor.

    `needs` is the sign of every ground coefficient that convexity asks for and that the text alone does not show;
    None when it is certain. Grounding checks it and names the first offending tuple and `span`.
    """

    scopes: tuple[Scope, ...]
    coefficient: DataExpression
    inner: Affine
    needs: Sign | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class HingeTerm:
    """``sum{scopes...} coefficient * max(0, inner)**power``; `needs` as in `SquareTerm`."""

    scopes: tuple[Scope, ...]
    coefficient: DataExpression
    inner: Affine
    power: Literal[1, 2]
    needs: Sign | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class AbsoluteTerm:
    """``sum{scopes...} coefficient * abs(inner)``; `needs` as in `SquareTerm`."""

    scopes: tuple[Scope, ...]
    coefficient: DataExpression
    inner: Affine
    needs: Sign | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class FunctionTerm:
    """``sum{scopes...} coefficient * function(arguments)`` of unknowns, convex or concave by its line in the table.

    Parameters
    ----------
    scopes, coefficient
        As in the other terms.
    function
        Its line: curvature, slopes, sign.
    arguments
        What it is applied to; of a function over a query the first argument stands inside of that query.
    index
        The query, or None.
    number
        The exponent of a power, the threshold of ``huber``, or None.
    bends
        What composition asks of each argument: affine, or convex, or concave. Empty until that is checked.
    needs
        As in `SquareTerm`.
    """

    scopes: tuple[Scope, ...]
    coefficient: DataExpression
    function: ConvexFunction
    arguments: tuple[Expression, ...]
    index: Scope | None = None
    number: DataExpression | None = None
    bends: tuple[Bend, ...] = ()
    needs: Sign | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Term: TypeAlias = ConstantTerm | LinearTerm | ProductTerm | SquareTerm | HingeTerm | AbsoluteTerm | FunctionTerm


@final
@record
class Expression:
    """A sum of terms; no terms mean 0. A term may occur twice, terms of equal unknowns are not collected."""

    terms: tuple[Term, ...]


# --- statements ------------------------------------------------------------------------------------------------------


@final
@record
class FileSource:
    """A file of data with words about it: ``from "path" (header = false, pattern = true)``.

    Parameters
    ----------
    path
        The file, or a pattern of files.
    header
        Whether it begins with a line of column names; None if nothing is said.
    is_pattern
        Whether it stands for all files that match it.
    """

    path: str
    header: bool | None = None
    is_pattern: bool = False


@final
@record
class Relation:
    """A declared relation, given by data: `facts`, the file `source`, or a table attached from Python.

    A relation may also be the head of rules; it then holds its data and what the rules add.
    """

    name: str
    arity: int
    source: str | FileSource | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Parameter:
    """A declared param: a number for each tuple.

    Parameters
    ----------
    name, arity
        What it is called and how many arguments it has.
    source
        The file of ``from "..."``, whose last column is the value, or None.
    value
        ``= number`` of the declaration, only for arity 0, or None. Data given from outside replace it.
    default
        The value of tuples that have none, or None.
    """

    name: str
    arity: int
    source: str | FileSource | None = None
    value: int | float | None = None
    default: int | float | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Variable:
    """A declared variable predicate: one unknown for each tuple of its domain.

    Parameters
    ----------
    name, arity
        What it is called and how many arguments it has.
    parameters
        The logic variables of the declaration, all different; empty if it was declared as ``name/arity``.
    domain
        The query whose answers are the tuples; None for arity 0, and for ``name/arity``: then the tuples are those at
        which the objective and the constraints use it.
    lower, upper
        Bounds over `parameters`; the tightest counts. None at all: free.
    existential
        Variables of the domain other than `parameters`.
    given
        A param: where it has a value the variable is that number, and no unknown. None if all are unknowns.
    reads
        Relations, derived predicates and params that the domain and the bounds name.
    rests_on
        Relations and params with data on which `reads` rest, through all rules.
    """

    name: str
    arity: int
    parameters: tuple[str, ...] = ()
    domain: Formula | None = None
    lower: tuple[DataExpression, ...] = ()
    upper: tuple[DataExpression, ...] = ()
    given: str | None = None
    existential: tuple[str, ...] = ()
    reads: frozenset[str] = frozenset()
    rests_on: frozenset[str] = frozenset()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Rule:
    """``head(arguments) if body``. Arguments are variables, constants, or computed from variables of the body.

    `is_data` marks the range ``1..n`` of a table: data that are given for the predicate take its place.
    """

    head: str
    arguments: tuple[DataExpression, ...]
    body: Formula
    existential: tuple[str, ...] = ()
    reads: frozenset[str] = frozenset()
    span: Span = field(default=NOWHERE, compare=False, repr=False)
    is_data: bool = False


@final
@record
class Stratum:
    """Predicates that are computed together, after all earlier strata.

    Parameters
    ----------
    predicates
        Names and arities; more than one only if they depend on each other.
    rules
        All rules of these predicates; the predicate is the union of what they give (and of its data, if declared).
    is_recursive
        Whether a rule uses a predicate of the same stratum. Never under negation, nor inside an aggregate or ``[..]``.
    creates_values
        Whether a recursive rule computes new constants by arithmetic, so that the rounds may never end by themselves.
    """

    predicates: Mapping[str, int]
    rules: tuple[Rule, ...]
    is_recursive: bool = False
    creates_values: bool = False


@final
@record
class FactRange:
    """``first .. last`` in a table of arity 1: all whole numbers from first to last, each with the same value."""

    first: int
    last: int
    value: int | float | None = None


@final
@record
class Facts:
    """All data written in the model for one name, in the order of the text.

    Parameters
    ----------
    name
        A relation, a derived predicate or a param (also of arity 0: one row ``()``).
    arity
        Its arity.
    rows
        Tuples of constants. A relation may repeat them; for a param they are all different.
    values
        For a param one number for each row; for a relation empty.
    ranges
        Ranges, kept unexpanded. For a param they overlap neither each other nor the rows.
    spans
        Where each row stands.
    """

    name: str
    arity: int
    rows: tuple[tuple[Value, ...], ...]
    values: tuple[int | float, ...] = ()
    ranges: tuple[FactRange, ...] = ()
    spans: tuple[Span, ...] = field(default=(), compare=False, repr=False)


@final
@record
class Objective:
    """``minimize`` (sense ``"min"``) or ``maximize`` (``"max"``); without a name in the text it is ``"objective"``."""

    sense: Literal["min", "max"]
    name: str
    expression: Expression
    reads: frozenset[str] = frozenset()
    rests_on: frozenset[str] = frozenset()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Constraint:
    """``lower <= body <= upper`` for each answer of the query; see the normal form in the header of this module.

    Parameters
    ----------
    name
        Unique but for the two halves of a split range; unnamed ones are ``constraint_1``, ``constraint_2``, ...
        by their place among all constraints.
    variables, formula
        The ``forall`` query: one row for each distinct answer; None means one row.
    body
        The terms with unknowns, and constants inside sums.
    lower, upper
        Data over `variables`, or None. Equal for an equality.
    is_convex
        Whether the body has terms that are not linear. Then `lower` is None and the body is convex, up to signs marked
        by `needs` and to products, whose matrix must be checked.
    existential
        Variables of the formula that are not listed.
    part
        ``"lower"`` or ``"upper"`` for the halves of ``a <= e <= b`` with unknowns in a or b, else empty.
    negated
        Whether the sides were multiplied by -1 to reach the normal form, so that the sign of a dual can be told.
    reads
        Relations, derived predicates, params *and variables* that the constraint names, definitions inlined.
    rests_on
        Relations and params with data on which it rests, through all rules and the domains of its variables.
    """

    name: str
    variables: tuple[str, ...]
    formula: Formula | None
    body: Expression
    lower: DataExpression | None
    upper: DataExpression | None
    is_convex: bool = False
    existential: tuple[str, ...] = ()
    part: Literal["", "lower", "upper"] = ""
    negated: bool = False
    reads: frozenset[str] = frozenset()
    rests_on: frozenset[str] = frozenset()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class ConePart:
    """Consecutive rows of a cone: one, or one for each answer of `scopes`, each an affine expression."""

    scopes: tuple[Scope, ...]
    body: Affine


@final
@record
class ConeConstraint:
    """A cone for each answer of a query. No text says this: grounding makes it of `FunctionTerm`.

    Parameters
    ----------
    name
        The helper variable that the cone bounds.
    variables, formula
        The query: one cone for each distinct answer; None means one cone.
    cone
        ``"second-order"`` (head first), ``"exponential"``, ``"power"`` or ``"geometric"`` (the mean last); the order of
        rows is that of :mod:`relift.program.cones`.
    parts
        The rows, in order.
    exponent
        The exponent of a power cone.
    reads, rests_on
        As in `Constraint`.
    """

    name: str
    variables: tuple[str, ...]
    formula: Formula | None
    cone: Literal["second-order", "exponential", "power", "geometric"]
    parts: tuple[ConePart, ...]
    exponent: float = 0.0
    reads: frozenset[str] = frozenset()
    rests_on: frozenset[str] = frozenset()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class CheckedModel:
    """Everything that grounding needs besides the tables.

    Parameters
    ----------
    relations, parameters, variables
        The declarations by name, in the order of the text. Each name is of one kind only.
    strata
        The rules, in an order in which they can be evaluated.
    facts
        Data written in the model, by name.
    objective
        None for a model that only asks for a feasible point.
    constraints
        In the order of the text.
    source
        The text that all spans point into.
    cones
        Empty until grounding has put cones in place of functions.
    unit_params
        Params that are truth values of rules: their values lie between 0 and 1.
    written
        The nodes of the text (`relift.language.syntax.nodes.ModelText`), for expressions that are read back.
    """

    relations: Mapping[str, Relation]
    parameters: Mapping[str, Parameter]
    variables: Mapping[str, Variable]
    strata: tuple[Stratum, ...]
    facts: Mapping[str, Facts]
    objective: Objective | None
    constraints: tuple[Constraint, ...]
    source: Source = field(compare=False, repr=False)
    cones: tuple[ConeConstraint, ...] = ()
    unit_params: frozenset[str] = frozenset()
    written: object = field(default=None, compare=False, repr=False)
