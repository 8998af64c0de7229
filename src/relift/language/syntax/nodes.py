"""The model as it is written: one class for each form of the grammar.

Nodes are equal if they say the same; where they stand in the text (`span`), comments and blank lines do not count.
A bare name as an argument is a constant, so ``p(a)`` and ``p("a")`` are the same node.
"""

from __future__ import annotations

import math
from dataclasses import field, replace
from typing import Literal, TypeAlias, final

from relift.language.checked_model import FileSource, FunctionName
from relift.language.syntax.source import NOWHERE, Source, Span
from relift.records import record

Sense: TypeAlias = Literal["min", "max"]

# --- expressions: formulas and numbers -------------------------------------------------------------------------------


@final
@record
class Number:
    """A number, as it was written; `text` may begin with a minus sign in tables and declarations only.

    Examples
    --------
    >>> Number("0.50").value, Number("-7").value, Number("1e3").value
    (0.5, -7, 1000.0)
    """

    text: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def value(self) -> int | float:
        """An int if the text has only digits, else a float."""
        return int(self.text) if self.text.lstrip("+-").isdigit() else float(self.text)

    @property
    def is_finite(self) -> bool:
        """Whether the number fits into a double."""
        try:
            return math.isfinite(float(self.text))
        except OverflowError:
            return False


@final
@record
class Text:
    """A constant that is not a number: a string, or a bare name as an argument or in a table."""

    value: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class LogicName:
    """A logic variable, upper-case first; with a ``+`` before it, as in ``cat(A, +C)`` of a rule, it is summed over."""

    name: str
    is_summed: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Wildcard:
    """``_``."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Star:
    """``*`` as an argument, as in ``ship(P, *)``: the sum over all values there."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Range:
    """``variable in first .. last``; without a variable, ``first .. last`` stands for those that the query lists."""

    variable: LogicName | None
    first: Node
    last: Node
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Piecewise:
    """``piecewise(body; x0: y0, x1: y1, ...)``: the line through these points, which goes on at both ends."""

    body: Node
    points: tuple[tuple[Number, Number], ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Truth:
    """``true``."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Atom:
    """``name`` or ``name(arguments)``."""

    name: str
    arguments: tuple[Node, ...] = ()
    name_span: Span = field(default=NOWHERE, compare=False, repr=False)
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Minus:
    """``-part``."""

    part: Node
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Sum:
    """``parts[0] signs[0] parts[1] signs[1] ...`` with signs ``+`` and ``-``."""

    parts: tuple[Node, ...]
    signs: tuple[str, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Binary:
    """``left op right`` for ``*``, ``/`` and ``**``."""

    op: Literal["*", "/", "**"]
    left: Node
    right: Node
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Compare:
    """``parts[0] signs[0] parts[1] ...``; ``==`` is kept as ``=``."""

    parts: tuple[Node, ...]
    signs: tuple[str, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Both:
    """``parts[0] & parts[1] & ...``."""

    parts: tuple[Node, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Either:
    """``parts[0] | parts[1] | ...``."""

    parts: tuple[Node, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Negated:
    """``!part``."""

    part: Node
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Bracket:
    """``[formula]``: 1 or 0."""

    formula: Node
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Call:
    """``abs(e)``, ``max(0, e)`` and the like; functions whose names are not reserved are read as an `Atom`."""

    function: FunctionName
    arguments: tuple[Node, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Index:
    """``{variables in formula}``."""

    variables: tuple[LogicName, ...]
    formula: Node
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Indexed:
    """``sum{..} body``, ``max{..} body``, ``norm{..} body``, ``count{..}``, ``quad_over_lin{..} (body, others[0])``."""

    kind: str
    index: Index
    body: Node | None
    others: tuple[Node, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Cardinality:
    """``|B|`` of an arithmetic rule: how many values the summed variable takes."""

    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Implies:
    """``body -> head`` of a rule."""

    body: Node
    head: Node
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Node: TypeAlias = (
    Number
    | Text
    | LogicName
    | Wildcard
    | Star
    | Range
    | Piecewise
    | Truth
    | Atom
    | Minus
    | Sum
    | Binary
    | Compare
    | Both
    | Either
    | Negated
    | Bracket
    | Call
    | Indexed
    | Cardinality
    | Implies
)
"""An expression: a formula or a number, which of the two the checker finds out."""


def with_range(variables: tuple[LogicName, ...], formula: Node) -> Node:
    """A query in which ``first .. last`` is said of each of the variables that it lists."""
    parts = formula.parts if isinstance(formula, Both) else (formula,)
    found = [
        replace(part, variable=variable) if isinstance(part, Range) and part.variable is None else part
        for part in parts
        for variable in (variables if isinstance(part, Range) and part.variable is None else variables[:1])
    ]
    return found[0] if len(found) == 1 else Both(tuple(found), formula.span)


# --- statements ------------------------------------------------------------------------------------------------------


@final
@record
class RelationItem:
    """``name/arity [ordered] [from "file"]``."""

    name: str
    arity: int
    source: str | FileSource | None = None
    is_ordered: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class ParamItem:
    """``name[/arity] [from "file"] [= value] [default value]``, or ``name(parameters) = formula``."""

    name: str
    arity: int = 0
    source: str | FileSource | None = None
    value: Number | None = None
    default: Number | None = None
    parameters: tuple[LogicName, ...] = ()
    formula: Node | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Bound:
    """``sign limit`` behind a variable; the sign is ``<=``, ``>=`` or ``=`` (others are refused by the checker)."""

    sign: str
    limit: Node
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class VariableItem:
    """``name``, ``name/arity`` or ``name(parameters) in domain``, with bounds, and the param that ``given`` names."""

    name: str
    arity: int = 0
    parameters: tuple[LogicName, ...] = ()
    domain: Node | None = None
    bounds: tuple[Bound, ...] = ()
    given: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Relations:
    """``relation item, item``."""

    items: tuple[RelationItem, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Params:
    """``param item, item``."""

    items: tuple[ParamItem, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Variables:
    """``var item, item``."""

    items: tuple[VariableItem, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Entry:
    """One entry of a table: a tuple of constants, or ``first .. last``; with or without a value.

    The ends of a range that are not written numbers (``1..n``) are in `computed`, first and last.
    """

    key: tuple[Number | Text, ...]
    value: Number | None = None
    last: Number | None = None
    computed: tuple[Node, Node] | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Table:
    """``name := {entry, entry}``."""

    name: str
    entries: tuple[Entry, ...]
    name_span: Span = field(default=NOWHERE, compare=False, repr=False)
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Fact:
    """``p(a, 3)``."""

    atom: Atom
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class RuleStatement:
    """``head if body``."""

    head: Atom
    body: Node
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Definition:
    """``[def] head = body``: a macro, a rule in the style of the paper, or the value of a param."""

    head: Atom
    body: Node
    is_marked: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class ObjectiveStatement:
    """``minimize [name]: body`` or ``maximize [name]: body``."""

    sense: Sense
    body: Node
    name: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class ConstraintStatement:
    """``subject to [name] [forall index]: body``."""

    body: Node
    name: str | None = None
    index: Index | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class Filter:
    """``{variable: formula}`` behind an arithmetic rule: which values of a summed variable count."""

    variable: LogicName
    formula: Node
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@final
@record
class SoftRule:
    """``rule weight: body -> head ^2``, ``rule a <= b .`` and so on: a rule of probabilistic soft logic.

    Parameters
    ----------
    weight
        The weight, or None.
    body
        An `Implies`, a clause, or a `Compare` of numbers.
    power
        1, or 2 for a squared hinge.
    is_hard
        Whether it ends with a full stop.
    filters
        Behind an arithmetic rule.
    """

    weight: Node | None
    body: Node
    power: Literal[1, 2] = 1
    is_hard: bool = False
    filters: tuple[Filter, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Statement: TypeAlias = (
    Relations
    | Params
    | Variables
    | Table
    | Fact
    | RuleStatement
    | Definition
    | ObjectiveStatement
    | ConstraintStatement
    | SoftRule
)


@final
@record
class Comments:
    """What a formatter keeps besides the statements: comments and blank lines around one of them.

    Parameters
    ----------
    before
        Comment lines before (and inside of) the statement, each beginning with ``#``; ``""`` is a blank line.
    behind
        The comment on its last line, or empty.
    """

    before: tuple[str, ...] = ()
    behind: str = ""


@final
@record
class ModelText:
    """A whole model as it is written.

    Parameters
    ----------
    statements
        In the order of the text.
    comments
        For each statement the comments around it, then one more for what follows the last; or empty.
    source
        The text that the spans point into.
    """

    statements: tuple[Statement, ...]
    comments: tuple[Comments, ...] = field(default=(), compare=False, repr=False)
    source: Source = field(default=Source(""), compare=False, repr=False)
