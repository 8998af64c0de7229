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

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self, TypeAlias, cast, overload

from relift.errors import ArityError, DuplicateNameError, ModelBuildingError, UnknownNameError
from relift.language.checked_model import CheckedModel, FileSource
from relift.language.checks.check_model import check_model
from relift.language.expressions_in_python import (
    Bounds,
    Expression,
    Indices,
    Kind,
    Predicate,
    Term,
    between,
    count_,
    counted,
    entropy,
    exp,
    formula_node,
    geo_mean,
    geo_mean_,
    huber,
    index_node,
    indicator,
    indices,
    inv,
    key_from_row,
    kl,
    log,
    log_sum_exp,
    log_sum_exp_,
    logic_names,
    max_,
    maximum,
    min_,
    minimum,
    norm,
    norm1,
    norm1_,
    norm_,
    norminf,
    norminf_,
    number_node,
    quad_over_lin,
    quad_over_lin_,
    signed_number,
    sqrt,
    sum_,
    true,
)
from relift.language.messages import did_you_mean
from relift.language.syntax import nodes as n
from relift.language.syntax.parser import decode, parse_text
from relift.language.syntax.printer import print_model
from relift.language.syntax.syntax_errors import RESERVED
from relift.read_bytes import read_bytes

Rows: TypeAlias = Iterable[object] | Mapping[Any, float] | Expression
"""Facts: tuples (or single constants) for a relation, a mapping from them to numbers for a param."""


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
        self.tables: dict[str, object] = {}

    # --- text

    @classmethod
    def from_text(cls, text: str, name: str = "<model>") -> Self:
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
    def from_file(cls, path: str | Path) -> Self:
        """A model from a file of UTF-8 text.

        Raises
        ------
        LanguageError
            If it is not UTF-8 or does not follow the grammar.
        """
        return cls.from_text(decode(read_bytes(path), str(path)), str(path))

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

    def _declare(self, name: str, arity: int, kind: Kind, what: str) -> Predicate | Expression:
        if not isinstance(name, str) or not re.fullmatch(r"[a-z]\w*", name):
            hint = "Names begin with a lower-case letter."
            if isinstance(name, str) and re.fullmatch(r"[a-z]\w*\(.*\)", name):
                plain = name.partition("(")[0]
                hint = f"Give the arguments apart: {_DECLARED[what].format(plain)}."
            raise ModelBuildingError(f"{name!r} cannot be the name of a {what}.", hint)
        if name in RESERVED:
            raise ModelBuildingError(f"{name!r} is a reserved word.", "Choose another name.")
        if name in self._predicates:
            raise DuplicateNameError(f"{name} is declared twice.", "A predicate is its name.")
        if not isinstance(arity, int) or arity < 0:
            raise ModelBuildingError(f"arity={arity!r} is not possible.", "Give a whole number of arguments.")
        self._predicates[name] = Predicate(name, arity, kind)
        return _usable(self._predicates[name])

    def relation(
        self,
        name: str,
        arity: int,
        *,
        source: str | None = None,
        header: bool | None = None,
        ordered: bool = False,
    ) -> Predicate:
        """Declare a relation, given by data.

        Parameters
        ----------
        name, arity
            What it is called and how many arguments it has.
        source
            The name of a file.
        header
            Whether a CSV file begins with a line of column names; None to find out.
        ordered
            Whether :func:`relift.prev` and :func:`relift.next_` may look into it.
        """
        if ordered and arity != 1:
            raise ModelBuildingError(f"{name} has {counted(arity)}, and only a relation of 1 argument can be ordered.")
        self._declare(name, arity, "formula", "relation")
        self._statements.append(n.Relations((n.RelationItem(name, arity, _file_source(source, header), ordered),)))
        return self._predicates[name]

    @overload
    def param(
        self,
        name: str,
        arity: int,
        *,
        default: float | None = None,
        source: str | None = None,
        header: bool | None = None,
    ) -> Predicate: ...
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
        header: bool | None = None,
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
        header
            Whether a CSV file begins with a line of column names; None to find out.
        """
        if value is not None and arity:
            hint = "Give default= instead of value=."
            raise ModelBuildingError(f"{name} has {counted(arity)}, so it needs a table.", hint)
        predicate = self._declare(name, arity, "either", "param")
        value_node, default_node = (None if x is None else signed_number(x) for x in (value, default))
        self._statements.append(
            n.Params((n.ParamItem(name, arity, _file_source(source, header), value_node, default_node),))
        )
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
        given: Predicate | None = None,
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
        given: Predicate | None = None,
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
        given
            A param with as many arguments: where it has a value, the variable is that number and no unknown.
        """
        if over and where is None:
            hint = "Give where=, or arity= if its tuples are those that are used."
            raise ModelBuildingError(f"{name} has no query that says for which tuples it exists.", hint)
        if (where is not None or arity is not None) and bool(over) == (arity is not None):
            raise ModelBuildingError(f"{name} needs either logic variables with where=, or arity=.")
        bounds = [n.Bound(">=", number_node(b, "lower")) for b in _several(lower)]
        bounds += [n.Bound("<=", number_node(b, "upper")) for b in _several(upper)]
        bounds += [n.Bound("=", number_node(b, "equal")) for b in _several(equal)]
        domain = None if where is None else formula_node(where, "where")
        predicate = self._declare(name, arity or len(over), "number", "variable")
        if given is not None and not isinstance(given, Predicate):
            raise ModelBuildingError(f"given={given!r} is not a param.", "Give what param(name, arity) returned.")
        observed = None if given is None else given.name
        item = n.VariableItem(name, arity or len(over), logic_names(over), domain, tuple(bounds), observed)
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
        body = formula_node(where, "where")
        atom = cast("n.Atom", head(*arguments).node)
        self._statements.append(n.RuleStatement(atom, body))
        return head

    @overload
    def define(self, name: str, *, body: Term) -> Expression: ...
    @overload
    def define(self, name: str, *over: Expression, body: Term) -> Predicate: ...
    def define(self, name: str, *over: Expression, body: Term) -> Predicate | Expression:
        """A name for an expression: ``def name(over) = body``."""
        atom = n.Atom(name, logic_names(over))
        value = number_node(body, "body")
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
            a range, and ``in_range(I, 1, n)`` may have params as its ends.

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
            name = cast("n.Atom", predicate.node).name
            if not isinstance(rows, (int, float)):
                raise ModelBuildingError(f"{name} has no arguments, so its fact is one number.")
            self._statements.append(n.Definition(n.Atom(name), number_node(rows, "facts")))
            return
        if isinstance(rows, Expression):
            if not isinstance(rows.node, n.Range) or predicate.arity != 1:
                raise ModelBuildingError(
                    f"{rows} is not a range.", "Give in_range(I, 1, n) to a relation of 1 argument."
                )
            body = Expression(rows.node, "formula")
            self._statements.append(
                n.RuleStatement(n.Atom(predicate.name, (cast("n.Node", rows.node.variable),)), body.node)
            )
            return
        if isinstance(rows, range) and rows.step == 1 and len(rows) > 1:
            entries = [n.Entry((signed_number(rows[0]),), None, signed_number(rows[-1]))]
        elif isinstance(rows, Mapping):
            entries = [n.Entry(key_from_row(row), signed_number(value)) for row, value in rows.items()]
        else:
            entries = [n.Entry(key_from_row(row)) for row in cast("Iterable[object]", rows)]
        for entry in entries:
            if len(entry.key) != predicate.arity:
                shown = ", ".join(str(k.value) for k in entry.key)
                raise ArityError(f"{predicate.name} has {counted(predicate.arity)}, but not the row ({shown}).")
        if predicate.arity:
            self._statements.append(n.Table(predicate.name, tuple(entries)))
        elif entries:
            self._statements.append(n.Fact(n.Atom(predicate.name)))

    # --- objective, constraints, data

    def minimise(self, body: Term, name: str | None = None) -> None:
        """Set the objective: ``minimize name: body``."""
        self._statements.append(n.ObjectiveStatement("min", number_node(body, "minimise"), _checked_name(name)))

    def maximise(self, body: Term, name: str | None = None) -> None:
        """Set the objective: ``maximize name: body``."""
        self._statements.append(n.ObjectiveStatement("max", number_node(body, "maximise"), _checked_name(name)))

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
        if not isinstance(constraint, Expression) or not isinstance(constraint.node, n.Compare):
            hint = "Write e <= b, e >= b, e == b or between(a, e, b)."
            raise ModelBuildingError(f"{constraint} is not a comparison.", hint)
        if (forall is None) != (where is None):
            raise ModelBuildingError("forall= and where= belong together.", "Give both, or none of them.")
        index = None if forall is None or where is None else index_node(forall, where)
        self._statements.append(n.ConstraintStatement(constraint.node, _checked_name(name), index))

    def rule(self, text: str) -> None:
        """Add a rule of probabilistic soft logic, written as in text.

        Parameters
        ----------
        text
            What follows the word ``rule``.

        Raises
        ------
        LanguageError
            If it does not follow the grammar.

        Examples
        --------
        >>> m = Model()
        >>> A, B = m.indices("A B")
        >>> link, truth = m.relation("link", 2), m.param("truth", 1)
        >>> good = m.var("good", A, where=link(A, ...) | link(..., A), lower=0, upper=1, given=truth)
        >>> m.rule("5: link(A, B) & good(A) -> good(B) ^2")
        >>> print(m)
        relation link/2;
        param truth/1;
        var good(A) in link(A, _) | link(_, A) >= 0 <= 1 given truth;
        rule 5: link(A, B) & good(A) -> good(B) ^2;
        """
        statements = parse_text(f"rule {text.strip().removesuffix(';')};").statements
        if len(statements) != 1:
            raise ModelBuildingError("this is more than one rule.", "Call rule() for each.")
        self._take(statements)

    def data(self, **tables: object) -> Self:
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


_DECLARED = {
    "variable": "var({!r}, I, where=p(I))",
    "param": "param({!r}, 1)",
    "relation": "relation({!r}, 1)",
    "predicate": "derive({!r}, I, where=p(I))",
    "definition": "define({!r}, I, body=...)",
}


def _file_source(source: str | None, header: bool | None) -> str | FileSource | None:
    if header is None:
        return source
    if source is None:
        raise ModelBuildingError("header= applies to files.", "Give source= too.")
    return FileSource(source, header)


def _usable(predicate: Predicate) -> Predicate | Expression:
    return predicate if predicate.arity else predicate()


def _several(bound: object) -> tuple[object, ...]:
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
    "entropy",
    "exp",
    "geo_mean",
    "geo_mean_",
    "huber",
    "indicator",
    "indices",
    "inv",
    "kl",
    "log",
    "log_sum_exp",
    "log_sum_exp_",
    "max_",
    "maximum",
    "min_",
    "minimum",
    "norm",
    "norm1",
    "norm1_",
    "norm_",
    "norminf",
    "norminf_",
    "quad_over_lin",
    "quad_over_lin_",
    "sqrt",
    "sum_",
    "true",
]
