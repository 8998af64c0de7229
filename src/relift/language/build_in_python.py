"""The same model in Python: objects and operators that build the nodes which text is read into.

>>> m = Model()
>>> I, J = m.indices("I J")
>>> word, label, c = m.relation("word", 2), m.param("label", 1), m.param("c", value=1)
>>> feature = m.derive("feature", J, where=word(..., J))
>>> weight = m.var("weight", J, where=feature(J))
>>> slack = m.var("slack", I, where=label(I), lower=0)
>>> predict = m.define("predict", I, body=sum_(weight(J), over=J, where=word(I, J)))
>>> m.minimise(sum_(weight(J) ** 2, over=J, where=feature(J)) + c * sum_(slack(I), over=I, where=label(I)))
>>> m.subject_to(label(I) * predict(I) >= 1 - slack(I), forall=I, where=label(I), name="margin")
>>> print(m)
relation word/2;
param label/1;
param c = 1;
feature(J) if word(_, J);
var weight(J) in feature(J);
var slack(I) in label(I) >= 0;
def predict(I) = sum{J in word(I, J)} weight(J);
minimize: sum{J in feature(J)} weight(J)**2 + c*sum{I in label(I)} slack(I);
subject to margin forall {I in label(I)}: label(I)*predict(I) >= 1 - slack(I);

Formulas are joined with ``&``, ``|`` and ``~`` (Python's ``and``, ``or`` and ``not`` cannot be redefined), comparisons
inside of them are put into parentheses, ``...`` stands for any value, strings and numbers are constants.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias, cast, final, overload

from relift.errors import ArityError, DuplicateNameError, ModelBuildingError, UnknownNameError
from relift.language import nodes as n
from relift.language.check_model import check_model
from relift.language.checked_model import AggregateKind, CheckedModel, FunctionName
from relift.language.messages import did_you_mean
from relift.language.parse_text import decode, parse_text
from relift.language.print_model import print_expression, print_model
from relift.language.syntax_errors import RESERVED

_Kind: TypeAlias = Literal["formula", "number", "either"]
_ANY = type(...)


@final
class Expression:
    """A formula or a number of the language; made by calling predicates and combining the results.

    Numbers have ``+ - * / **``, ``abs()`` and comparisons; formulas have ``& | ~``. The value of a param is both: in a
    formula it means "has a value here".
    """

    __slots__ = ("_kind", "_node")
    __hash__ = object.__hash__
    __array_ufunc__ = None  # so that NumPy numbers leave the operators to this class

    def __init__(self, node: n.Node, kind: _Kind) -> None:
        self._node = node
        self._kind = kind

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        return print_expression(self._node)

    def __bool__(self) -> NoReturn:
        raise ModelBuildingError(
            f"{self} has no truth value in Python.",
            "Join formulas with &, | and ~ instead of and, or and not; write between(a, e, b) for a <= e <= b.",
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
        return Expression(n.Minus(_number(self, "-")), "number")

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
        left, right = _formula(self, "&"), _formula(other, "&")
        parts = left.parts if isinstance(left, n.Both) else (left,)
        return Expression(n.Both((*parts, right)), "formula")

    def __or__(self, other: Expression) -> Expression:
        left, right = _formula(self, "|"), _formula(other, "|")
        parts = left.parts if isinstance(left, n.Either) else (left,)
        return Expression(n.Either((*parts, right)), "formula")

    def __invert__(self) -> Expression:
        return Expression(n.Negated(_formula(self, "~")), "formula")

    def __rand__(self, other: object) -> NoReturn:
        _formula(other, "&")
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

    __slots__ = ("_kind", "arity", "name")

    def __init__(self, name: str, arity: int, kind: _Kind) -> None:
        self.name = name
        self.arity = arity
        self._kind: _Kind = kind

    def __call__(self, *arguments: Term | Any) -> Expression:
        """The atom with these arguments: logic variables, constants, data expressions, or ``...`` for any value."""
        if len(arguments) != self.arity:
            raise ArityError(f"{self.name} has {_counted(self.arity)}, not {len(arguments)}.")
        return Expression(n.Atom(self.name, tuple(map(_argument, arguments))), self._kind)

    def __repr__(self) -> str:
        return f"<{self.name}/{self.arity}>"

    def __bool__(self) -> NoReturn:
        hint = "Use &, | and ~ instead of and, or and not."
        raise ModelBuildingError(f"{self.name} has no truth value in Python.", hint)

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{self.name} is a name of the model and has no {name!r}; call it with its arguments")

    def _unused(self, *_: object) -> NoReturn:
        raise ModelBuildingError(
            f"{self.name} has {_counted(self.arity)} and cannot be used without.",
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
    >>> m = Model()
    >>> cost = m.param("cost", 1)
    >>> sum_(2 * cost(I), over=I, where=cost(I) & (I != "a"))
    <sum{I in cost(I) & I != "a"} 2*cost(I)>
    """
    return _indexed("sum", body, over, where)


def min_(body: Term, *, over: Indices, where: Expression) -> Expression:
    """``min{over in where} body``, over data."""
    return _indexed("min", body, over, where)


def max_(body: Term, *, over: Indices, where: Expression) -> Expression:
    """``max{over in where} body``, over data."""
    return _indexed("max", body, over, where)


def count_(*, over: Indices, where: Expression) -> Expression:
    """``count{over in where}``."""
    return Expression(n.Indexed("count", _index(over, where), None), "number")


def maximum(first: Term, *others: Term) -> Expression:
    """``max(first, ...)``; with unknowns only as ``maximum(0, e)``.

    Examples
    --------
    >>> x = Model().var("x")
    >>> maximum(0, 1 - x) ** 2
    <max(0, 1 - x)**2>
    """
    return _call("max", first, *others)


def minimum(first: Term, *others: Term) -> Expression:
    """``min(first, ...)``, of data."""
    return _call("min", first, *others)


def exp(value: Term) -> Expression:
    """``exp(value)``, of data."""
    return _call("exp", value)


def sqrt(value: Term) -> Expression:
    """``sqrt(value)``, of data."""
    return _call("sqrt", value)


def log(value: Term) -> Expression:
    """``log(value)``, of data."""
    return _call("log", value)


def indicator(formula: Expression) -> Expression:
    """``[formula]``: 1 where it holds, 0 elsewhere."""
    return Expression(n.Bracket(_formula(formula, "indicator(..)")), "number")


def between(lower: Term, middle: Term, upper: Term) -> Expression:
    """``lower <= middle <= upper``, which Python cannot write with operators.

    Examples
    --------
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

Rows: TypeAlias = Iterable[Any] | Mapping[Any, float]
"""Facts: tuples (or single constants) for a relation, a mapping from them to numbers for a param."""


@final
class Model:
    """A relational model, built in Python, read from text, or both.

    Statements are kept in the order in which they were added; as in text, it has no meaning. ``str(model)`` is the
    model as text.

    Attributes
    ----------
    tables
        Data objects by name, as given to `data`, untouched.

    Examples
    --------
    >>> model = Model.from_text("relation item/1; var x(I) in item(I) >= 0;")
    >>> (I,) = model.indices("I")
    >>> x, item = model["x"], model["item"]
    >>> model.minimise(sum_(x(I), over=I, where=item(I)))
    >>> print(model)
    relation item/1;
    var x(I) in item(I) >= 0;
    minimize: sum{I in item(I)} x(I);
    """

    def __init__(self) -> None:
        self._statements = list[n.Statement]()
        self._predicates = dict[str, Predicate]()
        self._read: n.ModelText | None = None
        self.tables: dict[str, Any] = {}

    # --- text

    @classmethod
    def from_text(cls, text: str, name: str = "<model>") -> Model:
        """A model from its text.

        Raises
        ------
        LanguageError
            If the text does not follow the grammar; all else is found by `check`.
        """
        model = cls()
        model._read = parse_text(text, name)
        model._take(model._read.statements)
        return model

    @classmethod
    def from_file(cls, path: str | Path) -> Model:
        """A model from a file of UTF-8 text.

        Raises
        ------
        LanguageError
            If it is not UTF-8 or does not follow the grammar.
        """
        return cls.from_text(decode(Path(path).read_bytes(), str(path)), str(path))

    def add_text(self, text: str) -> None:
        """Add statements that are written as text."""
        self._take(parse_text(text).statements)

    def _take(self, statements: tuple[n.Statement, ...]) -> None:
        self._statements.extend(statements)
        for s in statements:
            match s:
                case n.Relations():
                    known = [Predicate(i.name, i.arity, "formula") for i in s.items]
                case n.Params():
                    known = [Predicate(i.name, i.arity, "either") for i in s.items]
                case n.Variables():
                    known = [Predicate(i.name, i.arity, "number") for i in s.items]
                case n.RuleStatement():
                    known = [Predicate(s.head.name, len(s.head.arguments), "formula")]
                case n.Definition():
                    is_rule = isinstance(s.body, (n.Both, n.Either, n.Negated, n.Compare, n.Truth))
                    known = [Predicate(s.head.name, len(s.head.arguments), "formula" if is_rule else "either")]
                case _:
                    continue
            for predicate in known:
                self._predicates.setdefault(predicate.name, predicate)

    def __str__(self) -> str:
        return print_model(self.text_nodes)

    def __repr__(self) -> str:
        return f"Model({len(self._statements)} statements)"

    @property
    def text_nodes(self) -> n.ModelText:
        """The model as it is written: all statements, with comments if it was read and not added to."""
        if self._read is not None and len(self._read.statements) == len(self._statements):
            return self._read
        return n.ModelText(tuple(self._statements))

    def check(self) -> CheckedModel:
        """Everything that can be checked before data are looked at.

        Raises
        ------
        LanguageError
            If anything is wrong, with the place in the text (for a model built in Python: in the printed text).
        """
        nodes = self.text_nodes
        return check_model(nodes if nodes is self._read else parse_text(print_model(nodes)))

    def __getitem__(self, name: str) -> Any:
        """The predicate of this name, for use in Python; one without arguments as an expression."""
        if name not in self._predicates:
            raise UnknownNameError(f"{name} is not declared.", did_you_mean(name, self._predicates))
        return _usable(self._predicates[name])

    # --- declarations

    def indices(self, names: str) -> tuple[Expression, ...]:
        """Logic variables, from names with blanks between them; the same as the function `indices`."""
        return indices(names)

    def _declare(self, name: str, arity: int, kind: _Kind, what: str) -> Predicate | Expression:
        if not isinstance(name, str) or not re.fullmatch(r"[a-z]\w*", name):
            hint = "Names begin with a lower-case letter."
            raise ModelBuildingError(f"{name!r} cannot be the name of a {what}.", hint)
        if name in RESERVED:
            raise ModelBuildingError(f"{name!r} is a reserved word.", "Choose another name.")
        if name in self._predicates:
            raise DuplicateNameError(f"{name} is declared twice.", "A predicate is its name.")
        if not isinstance(arity, int) or arity < 0:
            raise ModelBuildingError(f"arity={arity!r} is not possible.", "Give a whole number of arguments.")
        self._predicates[name] = Predicate(name, arity, kind)
        return _usable(self._predicates[name])

    def relation(self, name: str, arity: int, *, source: str | None = None) -> Predicate:
        """Declare a relation, given by data; `source` names a file."""
        self._declare(name, arity, "formula", "relation")
        self._statements.append(n.Relations((n.RelationItem(name, arity, source),)))
        return self._predicates[name]

    @overload
    def param(self, name: str, arity: int, *, default: float | None = None, source: str | None = None) -> Predicate: ...
    @overload
    def param(self, name: str, *, value: float | None = None, source: str | None = None) -> Expression: ...
    def param(
        self,
        name: str,
        arity: int = 0,
        *,
        value: float | None = None,
        default: float | None = None,
        source: str | None = None,
    ) -> Predicate | Expression:
        """Declare a param: a number for each tuple, given by data.

        Parameters
        ----------
        name, arity
            What it is called and how many arguments it has.
        value
            Its value, for arity 0; data given later replace it.
        default
            The value of tuples that have none; without it they are an error.
        source
            The name of a file.
        """
        if value is not None and arity:
            hint = "Give default= instead of value=."
            raise ModelBuildingError(f"{name} has {_counted(arity)}, so it needs a table.", hint)
        predicate = self._declare(name, arity, "either", "param")
        value_node, default_node = (None if x is None else _signed(x) for x in (value, default))
        self._statements.append(n.Params((n.ParamItem(name, arity, source, value_node, default_node),)))
        return predicate

    @overload
    def var(
        self, name: str, *, lower: Bounds = None, upper: Bounds = None, equal: Term | None = None
    ) -> Expression: ...
    @overload
    def var(
        self,
        name: str,
        *over: Expression,
        where: Expression | None = None,
        lower: Bounds = None,
        upper: Bounds = None,
        equal: Term | None = None,
        arity: int | None = None,
    ) -> Predicate: ...
    def var(
        self,
        name: str,
        *over: Expression,
        where: Expression | None = None,
        lower: Bounds = None,
        upper: Bounds = None,
        equal: Term | None = None,
        arity: int | None = None,
    ) -> Predicate | Expression:
        """Declare a variable: one real unknown for each answer of the query.

        Parameters
        ----------
        name
            What it is called.
        over, where
            The logic variables and the query over them; none for a single unknown.
        lower, upper, equal
            Bounds: data over the logic variables; of several the tightest counts.
        arity
            Instead of `over` and `where`: the unknowns are those that the other statements use.
        """
        if over and where is None:
            hint = "Give where=, or arity= if its tuples are those that are used."
            raise ModelBuildingError(f"{name} has no query that says for which tuples it exists.", hint)
        if (where is not None or arity is not None) and bool(over) == (arity is not None):
            raise ModelBuildingError(f"{name} needs either logic variables with where=, or arity=.")
        bounds = [n.Bound(">=", _number(b, "lower")) for b in _several(lower)]
        bounds += [n.Bound("<=", _number(b, "upper")) for b in _several(upper)]
        bounds += [n.Bound("=", _number(b, "equal")) for b in _several(equal)]
        domain = None if where is None else _formula(where, "where")
        predicate = self._declare(name, arity or len(over), "number", "variable")
        item = n.VariableItem(name, arity or len(over), _names(over), domain, tuple(bounds))
        self._statements.append(n.Variables((item,)))
        return predicate

    def predicate(self, name: str, arity: int) -> Predicate:
        """A derived predicate whose rules follow: needed only where rules are recursive."""
        self._declare(name, arity, "formula", "predicate")
        return self._predicates[name]

    def derive(self, head: str | Predicate, *arguments: Term, where: Expression) -> Predicate:
        """Add a rule ``head(arguments) if where``; several rules for one head are a union.

        Examples
        --------
        >>> m = Model()
        >>> X, Y, Z = m.indices("X Y Z")
        >>> edge, reach = m.relation("edge", 2), m.predicate("reach", 2)
        >>> _ = m.derive(reach, X, Y, where=edge(X, Y))
        >>> _ = m.derive(reach, X, Z, where=reach(X, Y) & edge(Y, Z))
        >>> print(m)
        relation edge/2;
        reach(X, Y) if edge(X, Y);
        reach(X, Z) if reach(X, Y) & edge(Y, Z);
        """
        if isinstance(head, str):
            if head not in self._predicates:
                self._declare(head, len(arguments), "formula", "predicate")
            head = self._predicates[head]
        body = _formula(where, "where")
        atom = cast("n.Atom", head(*arguments)._node)
        self._statements.append(n.RuleStatement(atom, body))
        return head

    @overload
    def define(self, name: str, *, body: Term) -> Expression: ...
    @overload
    def define(self, name: str, *over: Expression, body: Term) -> Predicate: ...
    def define(self, name: str, *over: Expression, body: Term) -> Predicate | Expression:
        """A name for an expression: ``def name(over) = body``."""
        atom = n.Atom(name, _names(over))
        value = _number(body, "body")
        predicate = self._declare(name, len(over), "number", "definition")
        self._statements.append(n.Definition(atom, value, is_marked=True))
        return predicate

    def facts(self, predicate: Predicate | Expression, rows: Rows | float) -> None:
        """Data written into the model.

        Parameters
        ----------
        predicate
            A relation, a derived predicate or a param.
        rows
            For a relation tuples, or single constants; for a param a mapping from these to numbers. A range is kept as
            a range.

        Examples
        --------
        >>> m = Model()
        >>> m.facts(m.relation("num", 1), range(1, 10))
        >>> m.facts(m.param("cap", 2), {("a", "b"): 50, ("b", "New York"): -1.5})
        >>> print(m)
        relation num/1;
        num := {1..9};
        param cap/2;
        cap := {(a, b): 50, (b, "New York"): -1.5};
        """
        if isinstance(predicate, Expression):
            name = cast("n.Atom", predicate._node).name
            if not isinstance(rows, (int, float)):
                raise ModelBuildingError(f"{name} has no arguments, so its fact is one number.")
            self._statements.append(n.Definition(n.Atom(name), _number(rows, "facts")))
            return
        if isinstance(rows, range) and rows.step == 1 and len(rows) > 1:
            entries = [n.Entry((_signed(rows[0]),), None, _signed(rows[-1]))]
        elif isinstance(rows, Mapping):
            entries = [n.Entry(_key(row), _signed(value)) for row, value in rows.items()]
        else:
            entries = [n.Entry(_key(row)) for row in cast("Iterable[Any]", rows)]
        for entry in entries:
            if len(entry.key) != predicate.arity:
                shown = ", ".join(str(k.value) for k in entry.key)
                raise ArityError(f"{predicate.name} has {_counted(predicate.arity)}, but not the row ({shown}).")
        if predicate.arity:
            self._statements.append(n.Table(predicate.name, tuple(entries)))
        elif entries:
            self._statements.append(n.Fact(n.Atom(predicate.name)))

    # --- objective, constraints, data

    def minimise(self, body: Term, name: str | None = None) -> None:
        """Set the objective: ``minimize name: body``."""
        self._statements.append(n.ObjectiveStatement("min", _number(body, "minimise"), _checked_name(name)))

    def maximise(self, body: Term, name: str | None = None) -> None:
        """Set the objective: ``maximize name: body``."""
        self._statements.append(n.ObjectiveStatement("max", _number(body, "maximise"), _checked_name(name)))

    minimize, maximize = minimise, maximise

    def subject_to(
        self,
        constraint: Expression | bool,
        *,
        forall: Indices | None = None,
        where: Expression | None = None,
        name: str | None = None,
    ) -> None:
        """Add ``subject to name forall {forall in where}: constraint``.

        Parameters
        ----------
        constraint
            A comparison of numbers with ``<=``, ``>=`` or ``==``, or `between`.
        forall, where
            The logic variables and the query over them: one constraint for each answer.
        name
            For reports.
        """
        if isinstance(constraint, bool):
            hint = "A comparison of two Python numbers is made by Python before the model sees it."
            raise ModelBuildingError(f"the constraint is {constraint}, not a comparison.", hint)
        if not isinstance(constraint, Expression) or not isinstance(constraint._node, n.Compare):
            hint = "Write e <= b, e >= b, e == b or between(a, e, b)."
            raise ModelBuildingError(f"{constraint} is not a comparison.", hint)
        if (forall is None) != (where is None):
            raise ModelBuildingError("forall= and where= belong together.", "Give both, or none of them.")
        index = None if forall is None or where is None else _index(forall, where)
        self._statements.append(n.ConstraintStatement(constraint._node, _checked_name(name), index))

    def data(self, **tables: Any) -> Model:
        """Attach data objects by name; they are kept in `tables` as they are and read when the model is grounded.

        Returns
        -------
        Model
            The model itself, so that calls can be chained.

        Raises
        ------
        UnknownNameError
            If there is no relation or param of a name.
        """
        for name in tables:
            if name not in self._predicates:
                raise UnknownNameError(f"{name} is not declared.", did_you_mean(name, self._predicates))
        self.tables.update(tables)
        return self


# --- from Python values to nodes -------------------------------------------------------------------------------------


def _counted(arity: int) -> str:
    return "1 argument" if arity == 1 else f"{arity} arguments"


def _usable(predicate: Predicate) -> Predicate | Expression:
    return predicate if predicate.arity else predicate()


def _signed(value: Any) -> n.Number:
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


def _constant(value: Any) -> n.Number | n.Text:
    return n.Text(value) if isinstance(value, str) else _signed(value)


def _key(row: Any) -> tuple[n.Number | n.Text, ...]:
    return tuple(map(_constant, row)) if isinstance(row, (tuple, list)) else (_constant(row),)


def _node(value: Any) -> n.Node:
    """A Python value inside of an expression."""
    if isinstance(value, Expression):
        return value._node
    if isinstance(value, Predicate):
        return value._unused()
    if isinstance(value, str):
        return n.Text(value)
    number = _signed(value)
    return n.Minus(n.Number(number.text[1:])) if number.text.startswith("-") else number


def _argument(value: Any) -> n.Node:
    return n.Wildcard() if isinstance(value, _ANY) else _node(value)


def _number(value: Any, where: str) -> n.Node:
    if isinstance(value, Expression) and value._kind == "formula":
        hint = "Write indicator(..) for 1 or 0."
        raise ModelBuildingError(f"{value} is a formula, and {where} needs a number.", hint)
    if isinstance(value, str):
        raise ModelBuildingError(f"{value!r} is not a number, and {where} needs one.")
    return _node(value)


def _comparable(value: Any) -> n.Node:
    return _node(value) if isinstance(value, str) else _number(value, "a comparison")


def _formula(value: Any, where: str) -> n.Node:
    if isinstance(value, Expression) and value._kind != "number":
        return value._node
    if isinstance(value, Predicate):
        return value._unused()
    raise ModelBuildingError(
        f"{value} is not a formula, and {where} needs one.",
        "Comparisons between & and | need parentheses: p(X) & (X < 3).",
    )


def _sum(left: Any, sign: str, right: Any) -> Expression:
    first, second = _number(left, sign), _number(right, sign)
    if isinstance(first, n.Sum):
        return Expression(n.Sum((*first.parts, second), (*first.signs, sign)), "number")
    return Expression(n.Sum((first, second), (sign,)), "number")


def _binary(op: Literal["*", "/", "**"], left: Any, right: Any) -> Expression:
    return Expression(n.Binary(op, _number(left, op), _number(right, op)), "number")


def _compare(left: Any, sign: str, right: Any) -> Expression:
    return Expression(n.Compare((_comparable(left), _comparable(right)), (sign,)), "formula")


def _call(function: FunctionName, *arguments: Any) -> Expression:
    return Expression(n.Call(function, tuple(_number(a, function) for a in arguments)), "number")


def _names(over: Iterable[Any]) -> tuple[n.LogicName, ...]:
    names = list[n.LogicName]()
    for index in over:
        if not isinstance(index, Expression) or not isinstance(index._node, n.LogicName):
            raise ModelBuildingError(f"{index} is not a logic variable.", 'Make some with indices("I J").')
        names.append(index._node)
    return tuple(names)


def _index(over: Indices, where: Expression) -> n.Index:
    names = _names((over,) if isinstance(over, Expression) else over)
    if not names:
        raise ModelBuildingError("a query needs at least one logic variable.")
    return n.Index(names, _formula(where, "where"))


def _indexed(kind: AggregateKind, body: Any, over: Indices, where: Expression) -> Expression:
    return Expression(n.Indexed(kind, _index(over, where), _number(body, f"{kind}_")), "number")


def _several(bound: Any) -> tuple[Any, ...]:
    return () if bound is None else tuple(bound) if isinstance(bound, (tuple, list)) else (bound,)


def _checked_name(name: str | None) -> str | None:
    if name is not None and (not re.fullmatch(r"[a-z]\w*", name) or name in RESERVED):
        raise ModelBuildingError(f"{name!r} cannot be a name.", "Names begin with a lower-case letter.")
    return name


__all__ = [
    "Expression",
    "Model",
    "Predicate",
    "between",
    "count_",
    "exp",
    "indicator",
    "indices",
    "log",
    "max_",
    "maximum",
    "min_",
    "minimum",
    "sqrt",
    "sum_",
    "true",
]
