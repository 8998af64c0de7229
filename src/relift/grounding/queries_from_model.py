"""From formulas and data expressions to relational plans.

A plan here stands for a set of assignments: each logic variable is a column of its name, each row one assignment.
``extend(plan, formula)`` continues every assignment of the plan in all ways that make the formula true:

=====================  ==========================================================================================
``p(X, Y)``            natural join with the table of p; a semi join if all its variables are known already
``X = data``           a computed column, where it binds X
``X in a .. b``        a series of whole numbers, where it binds X
comparison             filter
``f & g``              one after the other (the checker has put them in an order in which that works)
``f | g``              union of what both give, made distinct
``!f``                 anti join with the assignments of the known variables for which f holds
=====================  ==========================================================================================

A query ``{X in f}`` extends, projects on what was known and X, and removes duplicates: the other variables are
existential. Duplicates are only removed where the keys of the plan do not prove that there are none.

``value(plan, expression)`` gives a plan with the same rows and perhaps more columns, and a scalar over it. Where data
may be missing (no value of a param, division by zero) the scalar is NULL and a `Demand` is noted. Demands of values
that end up in coefficients are looked at only when a NULL has arrived; others are checked beforehand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from relift.errors import DataError
from relift.language.checked_model import (
    And,
    Anonymous,
    Argument,
    Arithmetic,
    Comparison,
    Constant,
    DataAggregate,
    DataExpression,
    Formula,
    Function,
    Holds,
    Indicator,
    InRange,
    LogicVariable,
    Negative,
    Neighbour,
    Not,
    Or,
    Parameter,
    ParameterValue,
    Scope,
    TrueFormula,
    UnknownAtom,
)
from relift.language.syntax.source import NOWHERE, Source, Span
from relift.tables.algebra import (
    Aggregate,
    Call,
    Column,
    Distinct,
    Filter,
    Join,
    Literal,
    Number,
    Operation,
    Plan,
    Project,
    Scalar,
    Series,
    Type,
    TypeClashError,
    Union,
    Unit,
    all_of,
    call,
    components,
    distinct,
    extend,
    literal,
    project,
    type_of,
)
from relift.tables.load import StoredTable

ROW = "#row"
COLUMN = "#column"


@final
@dataclass(frozen=True, eq=False)
class Demand:
    """Something that must hold for every row of a plan.

    Parameters
    ----------
    plan
        The rows.
    is_violated
        What must be true of none of them.
    what
        What is missing: a text with ``{}`` for the tuple.
    shown
        The tuple, as scalars over the plan.
    hint
        What to do about it.
    span
        The place in the model.
    table
        The predicate at fault.
    """

    plan: Plan
    is_violated: Scalar
    what: str
    shown: tuple[Scalar, ...]
    hint: str = ""
    span: Span = NOWHERE
    table: str = ""


@final
@dataclass
class Queries:
    """Translates the formulas and data expressions of one statement.

    Parameters
    ----------
    tables
        Relations, derived predicates and params that have arguments.
    parameters
        Declarations of the params.
    scalars
        Values of the params without arguments.
    unknowns
        Tables that number the unknowns of each variable predicate.
    source
        The text of the model, for messages.
    wanted
        Values of params that coefficients will ask for: kept where a query passes by them.
    before
        Demands to check before any plan is run.
    afterwards
        Demands to look at when a value turns out to be missing.
    lookups
        Lookups of params with a default, which may find nothing for any row.
    """

    tables: Mapping[str, StoredTable]
    parameters: Mapping[str, Parameter]
    scalars: Mapping[str, float | int]
    unknowns: Mapping[str, StoredTable]
    source: Source
    wanted: frozenset[tuple[str, tuple[Argument, ...]]] = frozenset()
    before: list[Demand] = field(default_factory=list)
    afterwards: list[Demand] = field(default_factory=list)
    lookups: list[Join] = field(default_factory=list)
    _columns: dict[str, str] = field(default_factory=dict)
    _values: dict[tuple[str, tuple[Argument, ...]], str] = field(default_factory=dict)
    _n_temporary: int = 0
    _depth: int = 0

    # --- names ------------------------------------------------------------------------------------------------------

    def column(self, variable: str) -> str:
        """The column of a logic variable; engines do not tell upper from lower case, so ``Ab`` and ``AB`` differ."""
        if variable not in self._columns:
            taken = {name.casefold() for name in self._columns.values()}
            name = variable
            while name.casefold() in taken:
                name += "'"
            self._columns[variable] = name
        return self._columns[variable]

    def columns(self, variables: Iterable[str]) -> tuple[str, ...]:
        """The columns of logic variables."""
        return tuple(map(self.column, variables))

    def _temporary(self) -> str:
        self._n_temporary += 1
        return f"#{self._n_temporary}"

    # --- queries ----------------------------------------------------------------------------------------------------

    def answers(self, variables: Sequence[str], formula: Formula | None) -> Plan:
        """The distinct answers of ``{variables in formula}`` with nothing bound outside."""
        plan = Unit() if formula is None else self.extend(Unit(), formula)
        return self._only(plan, self.columns(variables))

    def within(self, plan: Plan, scopes: Iterable[Scope]) -> Plan:
        """Continue every row of a plan by the answers of scopes, one inside the other."""
        for scope in scopes:
            new = self.columns(scope.variables)
            noted = len(self.before), len(self.afterwards)
            longer = self._only(self.extend(plan, scope.formula), (*plan.columns, *new))
            if isinstance(longer, Distinct) and not isinstance(plan, Unit):
                # Existential variables: the distinct answers for the outer values first, then joined to the rows.
                del self.before[noted[0] :], self.afterwards[noted[1] :]
                outer = [c for c in self.columns(scope.outer) if c in plan.columns]
                start = distinct(project(plan, *outer)) if outer else Unit()
                longer = _join(plan, self._only(self.extend(start, scope.formula), (*outer, *new)))
            plan = longer
        return plan

    def _only(self, plan: Plan, names: Sequence[str]) -> Plan:
        """Distinct rows of some columns, and of wanted values that these determine."""
        kept = dict.fromkeys(names)
        for (_, arguments), column in self._values.items():
            if column in plan.columns and all(self._is_kept(a, kept) for a in arguments):
                kept.setdefault(column)
        return distinct(project(plan, *kept))

    def _is_kept(self, argument: Argument, kept: Mapping[str, None]) -> bool:
        return isinstance(argument, Constant) or (
            isinstance(argument, LogicVariable) and self.column(argument.name) in kept
        )

    # --- formulas ---------------------------------------------------------------------------------------------------

    def extend(self, plan: Plan, formula: Formula) -> Plan:
        """All ways to continue the rows of a plan that make a formula true."""
        self._depth += 1
        longer = self._extend(plan, formula)
        self._depth -= 1
        return longer

    def _extend(self, plan: Plan, formula: Formula) -> Plan:
        if isinstance(formula, TrueFormula):
            return plan
        if isinstance(formula, And):
            for part in formula.parts:
                plan = self._extend(plan, part)
            return plan
        if isinstance(formula, Holds):
            return self._holds(plan, formula)
        if isinstance(formula, Comparison):
            return self._compare(plan, formula)
        if isinstance(formula, InRange):
            return self._in_range(plan, formula)
        if isinstance(formula, Not):
            return self._not(plan, formula.part)
        return self._or(plan, formula)

    def _holds(self, plan: Plan, atom: Holds, kind: str = "inner") -> Plan:
        table = self.tables[atom.predicate]
        value = None
        key = (atom.predicate, atom.arguments)
        if table.value and key in self.wanted and kind == "inner":
            value = self._values.setdefault(key, self._temporary())
            value = None if value in plan.columns else value
        known = plan.columns.keys()
        with self.blame(atom.predicate, atom.span):
            plan, partner, _ = self._partner(plan, table, atom.arguments, value)
            if kind == "anti":
                joined: Plan = Join(plan, partner, "anti")
            elif partner.columns.keys() <= plan.columns.keys():
                joined = _kept(plan, partner)
            else:
                joined = _join(plan, partner)
        return _without_temporaries(joined, known, value)

    def _partner(
        self,
        plan: Plan,
        table: StoredTable,
        arguments: Sequence[Argument],
        value: str | None,
    ) -> tuple[Plan, Plan, list[Scalar]]:
        """The plan with a column for each computed argument, the table to be joined with it, and the arguments."""
        names: list[str | None] = []
        shown: list[Scalar] = []
        fixed: list[Scalar] = []
        dropped: set[str] = set()
        for argument in arguments:
            name: str | None = None
            if isinstance(argument, LogicVariable):
                name = self.column(argument.name)
                shown.append(Column(name))
                if name in names:
                    dropped.add(again := self._temporary())
                    fixed.append(call("=", Column(again), Column(name)))
                    name = again
            elif isinstance(argument, Constant):
                dropped.add(name := self._temporary())
                shown.append(literal(argument.value))
                fixed.append(call("=", Column(name), literal(argument.value)))
            elif not isinstance(argument, Anonymous):
                plan, scalar = self.value(plan, argument)
                name = self._temporary()
                plan = extend(plan, {name: scalar})
                shown.append(Column(name))
            else:
                shown.append(literal("_"))
            names.append(name)
        partner: Plan = table.scan(names, value)
        if fixed:
            partner = Filter(partner, all_of(fixed))
            partner = project(partner, *(c for c in partner.columns if c not in dropped))
        return plan, partner, shown

    def _compare(self, plan: Plan, formula: Comparison) -> Plan:
        known = plan.columns.keys()
        with self.blame("", formula.span):
            if formula.binds is not None and self.column(formula.binds) not in plan.columns:
                plan, scalar = self.value(plan, formula.right)
                plan = extend(plan, {self.column(formula.binds): scalar})
                return _without_temporaries(plan, {*known, self.column(formula.binds)})
            plan, left = self.value(plan, formula.left)
            plan, right = self.value(plan, formula.right)
            return _without_temporaries(Filter(plan, call(formula.op, left, right)), known)

    def _in_range(self, plan: Plan, formula: InRange) -> Plan:
        known = plan.columns.keys()
        with self.blame("", formula.span):
            plan, first = self.value(plan, formula.first)
            plan, last = self.value(plan, formula.last)
            for end in (first, last):
                if type_of(end, plan.columns) == Type.REAL:
                    what = "an end of a range is {}, which is not a whole number."
                    is_broken = call("not", call("is whole", end))
                    self._demand(plan, is_broken, what, [end], "Write floor(..) or ceil(..).", formula.span)
            value = formula.value
            if isinstance(value, LogicVariable) and self.column(value.name) not in plan.columns:
                name = self.column(value.name)
                plan = Series(plan, name, call("integer", first), call("integer", last))
                return _without_temporaries(plan, {*known, name})
            plan, number = self.value(plan, value)
            tests = [call(">=", number, first), call("<=", number, last)]
            if type_of(number, plan.columns) == Type.REAL:
                tests.append(call("is whole", number))
            return _without_temporaries(Filter(plan, all_of(tests)), known)

    def _not(self, plan: Plan, part: Formula) -> Plan:
        if isinstance(part, Not):
            return self._extend(plan, part.part)
        if isinstance(part, Holds):
            return self._holds(plan, part, "anti")
        if isinstance(part, TrueFormula):
            return Filter(plan, literal(False))
        return Join(plan, self._true_for(plan, part), "anti")

    def _true_for(self, plan: Plan, formula: Formula) -> Plan:
        """The distinct values of the known variables of a formula for which it holds."""
        used = [c for c in self.columns(sorted(variables_of(formula))) if c in plan.columns]
        start = distinct(project(plan, *used)) if used else Unit()
        return distinct(project(self._extend(start, formula), *used))

    def _or(self, plan: Plan, formula: Or) -> Plan:
        mentioned = [set(self.columns(sorted(variables_of(part)))) for part in formula.parts]
        known = [{c for c in names if c in plan.columns} for names in mentioned]
        new = set.intersection(*mentioned) - plan.columns.keys()
        stands_alone = all(not requirements(part)[1] for part in formula.parts)
        if stands_alone and all(names == known[0] for names in known):
            kept = sorted(known[0] | new)
            noted = len(self.before)
            parts = [project(self._extend(Unit(), part), *kept) for part in formula.parts]
            if len(self.before) == noted:
                with self.blame("", NOWHERE):
                    some = distinct(Union(tuple(parts)))
                    return _join(plan, some) if new else _kept(plan, some)
            del self.before[noted:]  # a division by zero counts only for rows that get there
        kept = [*plan.columns, *sorted(new)]
        branches = tuple(project(self._extend(plan, part), *kept) for part in formula.parts)
        with self.blame("", NOWHERE):
            return distinct(Union(branches))

    # --- data expressions -------------------------------------------------------------------------------------------

    def value(self, plan: Plan, expression: DataExpression) -> tuple[Plan, Scalar]:
        """The plan, with further columns where that is needed, and the value of an expression for each row."""
        if isinstance(expression, Constant):
            return plan, literal(expression.value)
        if isinstance(expression, LogicVariable):
            return plan, Column(self.column(expression.name))
        if isinstance(expression, ParameterValue):
            return self._parameter(plan, expression)
        if isinstance(expression, Negative):
            plan, part = self.value(plan, expression.part)
            return plan, self._call("negative", (part,), plan, NOWHERE)
        if isinstance(expression, Arithmetic):
            plan, left = self.value(plan, expression.left)
            plan, right = self.value(plan, expression.right)
            return self._arithmetic(plan, expression, left, right)
        if isinstance(expression, Function):
            return self._function(plan, expression)
        if isinstance(expression, Indicator):
            flag = self._temporary()
            self._depth += 1
            found = self._true_for(plan, expression.formula)
            self._depth -= 1
            plan = Join(plan, extend(found, {flag: literal(1)}), "left")
            return plan, call("coalesce", Column(flag), literal(0))
        if isinstance(expression, Neighbour):
            return self._neighbour(plan, expression)
        return self._aggregate(plan, expression)

    def _neighbour(self, plan: Plan, expression: Neighbour) -> tuple[Plan, Scalar]:
        """What stands before or behind a value in an ordered relation; NULL at the border."""
        plan, value = self.value(plan, expression.argument)
        asked, found, place = self._temporary(), self._temporary(), self._temporary()
        with self.blame(expression.relation, expression.span):
            table = self.tables[expression.relation]
            here = Number(distinct(table.scan([asked])), place, (asked,))
            there = Number(distinct(table.scan([found])), place, (found,))
            moved = Project(there, {found: Column(found), place: call("-", Column(place), literal(expression.step))})
            pairs = project(Join(here, moved), asked, found)
            plan = Join(extend(plan, {asked: value}), pairs, "left")
        if not self._depth:
            side, word = ("first", "prev") if expression.step < 0 else ("last", "next")
            self._demand(
                plan,
                call("is null", Column(found)),
                f"{word}{{}} does not exist: that is the {side} of {expression.relation!r}, or not in it.",
                [Column(asked)],
                f"Leave it out of the query: {expression.relation}({word}(T)) is true for all others.",
                expression.span,
                expression.relation,
            )
        return plan, Column(found)

    def _parameter(self, plan: Plan, expression: ParameterValue) -> tuple[Plan, Scalar]:
        name = expression.name
        declared = self.parameters[name]
        default = declared.default if expression.default is None else expression.default
        if declared.arity == 0:
            if name in self.scalars:
                return plan, literal(self.scalars[name])
            if default is None:
                raise self.error(
                    f"the param {name!r} has no value.",
                    f"Write {name} = a number in the model, or give data={{{name!r}: ...}}.",
                    expression.span,
                    name,
                )
            return plan, literal(default)
        key = (name, expression.arguments)
        if key in self._values and self._values[key] in plan.columns:
            return plan, Column(self._values[key])
        column, known, n_demands = self._temporary(), plan.columns.keys(), len(self.afterwards)
        with self.blame(name, expression.span):
            plan, partner, shown = self._partner(plan, self.tables[name], expression.arguments, column)
            shown_plan = plan = Join(plan, partner, "left")
        if default is not None:
            if shown_plan.on and expression.default is None:
                self.lookups.append(shown_plan)
            value = call("coalesce", Column(column), literal(default))
            if len(self.afterwards) == n_demands:
                return _without_temporaries(plan, known, column), value
            # An argument that has no value, such as prev of the first, has none by default either.
            lost = self._temporary()
            is_lost = [call("is null", argument) for argument in shown]
            plan = extend(plan, {lost: call("or", *is_lost) if len(is_lost) > 1 else is_lost[0]})
            plan = _without_temporaries(plan, {*known, lost}, column)
            return plan, call("if", Column(lost), Column(column), value)
        plan = _without_temporaries(plan, known, column)
        self._demand(
            shown_plan,
            call("is null", Column(column)),
            f"{name}{{}} has no value.",
            shown,
            f"Add the tuple to {name!r}, or declare a default.",
            expression.span,
            name,
        )
        return plan, Column(column)

    def _arithmetic(self, plan: Plan, expression: Arithmetic, left: Scalar, right: Scalar) -> tuple[Plan, Scalar]:
        kinds = [type_of(side, plan.columns) for side in (left, right)]
        if Type.TEXT in kinds and expression.op in {"+", "-"}:
            raise self.error(
                "text meets a number in a sum.",
                "Dates are shifted by T + days(1) or T - hours(3), neighbours of an ordered relation are prev(T) and "
                "next(T); numbers in quotes are text.",
                expression.span,
            )
        scalar = self._call(expression.op, (left, right), plan, expression.span)
        is_safe = expression.op in {"+", "-", "*"} or (
            isinstance(expression.right, Constant)
            and (
                expression.right.value != 0
                if expression.op == "/"
                else isinstance(expression.right.value, int) and expression.right.value >= 0
            )
        )
        if not is_safe:
            what = "division by zero" if expression.op == "/" else "a power that is no real number"
            self._demand(plan, _has_no_value(scalar, left, right), f"{what} at {{}}.", None, "", expression.span)
        return plan, scalar

    def _function(self, plan: Plan, expression: Function) -> tuple[Plan, Scalar]:
        parts = []
        for argument in expression.arguments:
            plan, part = self.value(plan, argument)
            parts.append(part)
        if expression.name == "min" or expression.name == "max":
            name: Operation = "least" if expression.name == "min" else "greatest"
            # NULL must spread, and some engines pass over it in least and greatest.
            missing = [call("is null", part) for part in parts]
            scalar: Scalar = self._call(name, tuple(parts), plan, expression.span)
            if all(isinstance(part, Literal) for part in parts):
                return plan, scalar
            nothing = Literal(None, type_of(scalar, plan.columns))
            some_missing = missing[0] if len(missing) == 1 else Call("or", tuple(missing))
            return plan, call("if", some_missing, nothing, scalar)
        scalar = self._call(expression.name, tuple(parts), plan, expression.span)
        if expression.name in _WITHOUT_VALUE:
            what, hint = _WITHOUT_VALUE[expression.name]
            present = [call("not", call("is null", part)) for part in parts if not isinstance(part, Literal)]
            is_broken = all_of([call("is null", scalar), *present])
            self._demand(plan, is_broken, what, parts[:1], hint, expression.span)
        if expression.name in {"sqrt", "log"}:
            what = (
                "the root of a negative number" if expression.name == "sqrt" else "the logarithm of no positive number"
            )
            self._demand(plan, _has_no_value(scalar, *parts), f"{what} at {{}}.", None, "", expression.span)
        return plan, scalar

    def _aggregate(self, plan: Plan, expression: DataAggregate) -> tuple[Plan, Scalar]:
        outer = [c for c in self.columns(expression.outer) if c in plan.columns]
        start = distinct(project(plan, *outer)) if outer else Unit()
        self._depth += 1
        found = self._only(self._extend(start, expression.formula), (*outer, *self.columns(expression.variables)))
        body: Scalar = literal(1)
        if expression.body is not None:
            found, body = self.value(found, expression.body)
        self._depth -= 1
        result = self._temporary()
        with self.blame("", expression.span):
            totals = Aggregate(found, tuple(outer), {result: (expression.kind, body)})
            plan = Join(plan, totals, "left") if outer else _join(plan, totals)
        if expression.kind in {"sum", "count"}:
            return plan, call("coalesce", Column(result), literal(0))
        self._demand(
            plan,
            call("is null", Column(result)),
            f"{expression.kind}{{{{...}}}} of nothing at {{}}.",
            None,
            "Restrict the query to where there is something.",
            expression.span,
        )
        return plan, Column(result)

    def _call(self, operation: Operation, parts: tuple[Scalar, ...], plan: Plan, span: Span) -> Scalar:
        scalar = Call(operation, parts)
        with self.blame("", span):
            type_of(scalar, plan.columns)
        return scalar

    # --- unknowns ---------------------------------------------------------------------------------------------------

    def numbered(self, plan: Plan, unknown: UnknownAtom) -> tuple[Plan, Scalar]:
        """The number of an unknown for each row; NULL, and a demand, where the tuple is outside of its domain."""
        if not unknown.arguments:
            return plan, Literal(0, Type.INTEGER)
        known = plan.columns.keys()
        column = self._temporary()
        with self.blame(unknown.name, unknown.span):
            plan, partner, shown = self._partner(plan, self.unknowns[unknown.name], unknown.arguments, column)
            plan = shown_plan = Join(plan, partner, "left")
        self._demand(
            shown_plan,
            call("is null", Column(column)),
            f"{unknown.name}{{}} is used, but lies outside of the domain of {unknown.name!r}.",
            shown,
            "Widen the domain of the variable, or restrict the query.",
            unknown.span,
            unknown.name,
        )
        return _without_temporaries(plan, known, column), Column(column)

    def arguments(self, plan: Plan, unknown: UnknownAtom) -> Plan:
        """The tuples ``c0, c1, ...`` at which a plan uses an unknown."""
        outputs: dict[str, Scalar] = {}
        for position, argument in enumerate(unknown.arguments):
            plan, outputs[f"c{position}"] = self.value(plan, argument)
        return Distinct(Project(plan, outputs))

    # --- messages ---------------------------------------------------------------------------------------------------

    def _demand(
        self,
        plan: Plan,
        is_violated: Scalar,
        what: str,
        shown: Sequence[Scalar] | None,
        hint: str,
        span: Span,
        table: str = "",
    ) -> None:
        if shown is None:
            shown = [Column(c) for c in self._columns.values() if c in plan.columns]
        demand = Demand(plan, is_violated, what, tuple(shown), hint, span, table)
        (self.before if self._depth else self.afterwards).append(demand)

    def error(
        self, message: str, hint: str, span: Span, table: str = "", entry: tuple[str | int | float, ...] = ()
    ) -> DataError:
        """An error that points into the model."""
        excerpt = self.source.excerpt(span) if span != NOWHERE and self.source.text else ""
        return DataError(message, hint, excerpt, table, entry)

    def blame(self, name: str, span: Span) -> _Blame:
        """A context in which text that meets a number becomes an error pointing at a place."""
        return _Blame(self, name, span)


@dataclass
class _Blame:
    """Says where text met a number."""

    queries: Queries
    name: str
    span: Span

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, TypeClashError):
            return
        words = {Type.TEXT: "text", Type.BOOLEAN: "a truth value"}
        first, second = (words.get(t, "a number") for t in (error.first, error.second))
        where = f" in {self.name!r}" if self.name else ""
        at = f" ({error.column})" if error.column and not error.column.startswith("#") else ""
        raise self.queries.error(
            f"{first} meets {second}{where}{at}; they can never be equal.",
            "Give both as text or both as numbers; '007' in a file is text, 7 is a number.",
            self.span,
            self.name,
        ) from error


_NO_DATE = ("{} is not a date or a timestamp.", "Dates are written 2026-01-31, timestamps 2026-01-31 18:30:00.")
_WITHOUT_VALUE = {
    "floor": ("floor{} is not a whole number of 64 bits.", ""),
    "mod": ("mod(a, b) of a = {} is a division by zero.", ""),
    "substring": ("substring of {} begins before its first character, or has a negative length.", ""),
    **dict.fromkeys(("shift", "year", "month", "day", "weekday", "hour", "minute"), _NO_DATE),
}
"""What is wrong where a function has no value, and what to do."""


def _join(left: Plan, right: Plan) -> Plan:
    if isinstance(left, Unit):
        return right
    if isinstance(right, Unit):
        return left
    return Join(left, right)


def _kept(plan: Plan, partner: Plan) -> Plan:
    """The rows of a plan that have a partner.

    A semi join does that, but engines do not move it into the joins below it; where the partner links parts of the plan
    that nothing else links, an inner join with its distinct rows spares their product.
    """
    if partner.is_set or sum(not partner.columns.keys().isdisjoint(c.columns) for c in components(plan)) > 1:
        return _join(plan, distinct(partner))
    return Join(plan, partner, "semi")


def _without_temporaries(plan: Plan, known: Iterable[str], value: str | None = None) -> Plan:
    """The plan without helper columns that came up since ``known``."""
    known = set(known)
    kept = [c for c in plan.columns if c in known or not c.startswith("#") or c == value]
    return project(plan, *kept) if len(kept) < len(plan.columns) else plan


def _has_no_value(scalar: Scalar, *parts: Scalar) -> Scalar:
    """An operation has no value, although all its parts have one."""
    present = [call("not", call("is null", part)) for part in parts if not isinstance(part, Literal)]
    return all_of([call("not", call("is finite", call("real", scalar))), *present])


# --- variables -------------------------------------------------------------------------------------------------


def variables_of(item: Formula | Argument) -> set[str]:
    """Names of all logic variables of a formula or expression, but for those that aggregates bind inside."""
    if isinstance(item, LogicVariable):
        return {item.name}
    if isinstance(item, Holds | ParameterValue | Function):
        return set().union(*map(variables_of, item.arguments))
    if isinstance(item, And | Or):
        return set().union(*map(variables_of, item.parts))
    if isinstance(item, Comparison | Arithmetic):
        return variables_of(item.left) | variables_of(item.right)
    if isinstance(item, Not | Negative):
        return variables_of(item.part)
    if isinstance(item, InRange):
        return variables_of(item.value) | variables_of(item.first) | variables_of(item.last)
    if isinstance(item, Neighbour):
        return variables_of(item.argument)
    if isinstance(item, Indicator):
        return variables_of(item.formula) - set(item.existential)
    if isinstance(item, DataAggregate):
        return set(item.outer)
    return set()


def requirements(formula: Formula) -> tuple[set[str], set[str]]:
    """Which variables a formula binds, and which it needs to be bound before."""
    if isinstance(formula, Holds):
        binds = {a.name for a in formula.arguments if isinstance(a, LogicVariable)}
        computed = [a for a in formula.arguments if not isinstance(a, LogicVariable)]
        return binds, set().union(*map(variables_of, computed))
    if isinstance(formula, Comparison):
        if formula.binds is not None:
            return {formula.binds}, variables_of(formula.right)
        return set(), variables_of(formula)
    if isinstance(formula, InRange):
        ends = variables_of(formula.first) | variables_of(formula.last)
        if isinstance(formula.value, LogicVariable):
            return {formula.value.name}, ends
        return set(), ends | variables_of(formula.value)
    if isinstance(formula, Not):
        return set(), variables_of(formula.part)
    if isinstance(formula, And):
        binds, needs = set[str](), set[str]()
        for part in formula.parts:
            part_binds, part_needs = requirements(part)
            needs |= part_needs - binds
            binds |= part_binds
        return binds, needs
    if isinstance(formula, Or):
        found = [requirements(part) for part in formula.parts]
        return set.intersection(*(b for b, _ in found)), set().union(*(n for _, n in found))
    return set(), set()
