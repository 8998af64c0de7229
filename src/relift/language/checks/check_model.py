"""The checks before grounding, in order: names, rules, facts, variables, objective, constraints.

Everything that can be wrong without looking at data is found here, and as much of it as possible at once.

>>> from relift.language.syntax.parser import parse_text
>>> model = check_model(parse_text("var x >= 1; minimize: x**2;"))
>>> model.objective.expression.terms[0].coefficient
Constant(value=1)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import final

from relift.errors import DuplicateNameError, KindError, LanguageError, SafetyError, UnknownNameError
from relift.language import checked_model as c
from relift.language.checks.convexity import Composition
from relift.language.checks.facts import facts_from_statements
from relift.language.checks.flatten import flatten
from relift.language.checks.names import ErrorList, Names, collect_names, domain_of, has_right_arity
from relift.language.checks.normal_form import rows_from_comparison
from relift.language.checks.safety import UnsafeError, in_order
from relift.language.checks.soft_rules import SoftRules
from relift.language.checks.strata import strata_from_rules
from relift.language.checks.translate import Bound, TooLargeError, Translator, logic_names
from relift.language.checks.walk import variables_of
from relift.language.functions import Curvature
from relift.language.messages import raise_all
from relift.language.syntax import nodes as n
from relift.language.syntax.parser import read
from relift.language.syntax.source import Source, Span


def check_text(text: str, name: str = "<model>") -> c.CheckedModel:
    """Read and check a model text.

    Parameters
    ----------
    text
        The model.
    name
        How messages call it, mostly a file name.

    Raises
    ------
    LanguageError
        If anything is wrong; `SeveralErrors` if at several places.

    Examples
    --------
    >>> check_text("var weight; minimize: wieght;")
    Traceback (most recent call last):
    relift.errors.UnknownNameError: wieght is not declared
      <model>:1:23
        1 | var weight; minimize: wieght;
          |                       ^^^^^^
    Did you mean 'weight'?
    """
    model, errors, is_whole = read(Source(text, name))
    if errors and not is_whole:
        raise_all(errors)
    checked, more = _checked(model)
    raise_all(sorted(errors + more, key=lambda error: (error.line, error.column)))
    return checked


def check_model(model: n.ModelText) -> c.CheckedModel:
    """Check a model that was read.

    Raises
    ------
    LanguageError
        If anything is wrong; `SeveralErrors` if at several places.
    """
    checked, errors = _checked(model)
    raise_all(errors)
    return checked


def _checked(model: n.ModelText) -> tuple[c.CheckedModel, list[LanguageError]]:
    try:
        return _checked_parts(model)
    except RecursionError:
        hint = "Split the longest statement by definitions."
        raise LanguageError("the model is nested too deeply", hint, model.source.name) from None


def _checked_parts(model: n.ModelText) -> tuple[c.CheckedModel, list[LanguageError]]:
    errors = ErrorList(model.source)
    names = collect_names(model, errors)
    work = _Work(model, names, errors)
    for definition in names.definitions.values():
        work.check_definition(definition)
    rules = tuple(
        replace(rule, is_data=k in names.ranges)
        for k, (head, body, span) in enumerate(names.rules)
        if (rule := work.rule(head, body, span))
    )
    for statement in model.statements:
        work.statement(statement)
    work.take_rules()
    rules = (*rules, *work.domain_rules())
    arities = {rule.head: len(rule.arguments) for rule in rules}
    strata = () if errors.found else strata_from_rules(rules, arities, errors)
    facts = facts_from_statements(model, names, errors)
    rests_on = _Foundations(rules, work.variables, {*work.relations, *work.parameters})
    variables = {v.name: replace(v, rests_on=rests_on.of(v.reads)) for v in work.variables.values()}
    objective = work.objective and replace(work.objective, rests_on=rests_on.of(work.objective.reads))
    constraints = tuple(replace(k, rests_on=rests_on.of(k.reads)) for k in work.constraints)
    checked = c.CheckedModel(
        work.relations, work.parameters, variables, strata, facts, objective, constraints, model.source,
        unit_params=frozenset(work.soft.unit_params), written=model,
    )  # fmt: skip
    return checked, errors.in_order()


@final
class _Foundations:
    """Which names with data a set of names rests on, through rules and domains."""

    def __init__(self, rules: tuple[c.Rule, ...], variables: dict[str, c.Variable], base: set[str]) -> None:
        self._base = base
        self._direct = dict[str, set[str]]()
        for rule in rules:
            self._direct.setdefault(rule.head, set()).update(rule.reads)
        for variable in variables.values():
            self._direct.setdefault(variable.name, set()).update(variable.reads)

    def of(self, names: Iterable[str]) -> frozenset[str]:
        seen, waiting = set[str](), list(names)
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting.extend(self._direct.get(name, ()))
        return frozenset(seen & self._base)


@final
@dataclass
class _Work:
    """Statements checked so far."""

    model: n.ModelText
    names: Names
    errors: ErrorList
    relations: dict[str, c.Relation] = field(default_factory=dict)
    parameters: dict[str, c.Parameter] = field(default_factory=dict)
    variables: dict[str, c.Variable] = field(default_factory=dict)
    objective: c.Objective | None = None
    constraints: list[c.Constraint] = field(default_factory=list)
    constraint_spans: dict[str, Span] = field(default_factory=dict)
    n_constraints: int = 0

    def __post_init__(self) -> None:
        self.soft = SoftRules(self.names, self.errors)

    def statement(self, s: n.Statement) -> None:
        try:
            match s:
                case n.Relations():
                    for r in s.items:
                        self.relations.setdefault(r.name, c.Relation(r.name, r.arity, r.source, r.span))
                case n.Params():
                    for p in s.items:
                        self._param(p)
                case n.Variables():
                    for item in s.items:
                        self._variable(item)
                case n.ObjectiveStatement():
                    self._objective(s)
                case n.ConstraintStatement():
                    self._constraint(s)
                case n.SoftRule():
                    self.soft.add(s)
                case _:
                    pass
        except TooLargeError as problem:
            self._too_large(problem.span)
        except RecursionError:
            self._too_deep(s.span)

    def _too_large(self, span: Span) -> None:
        hint = "Definitions that use each other multiply; split the statement."
        self.errors.add(LanguageError, span, "this statement has too many terms", hint)

    def _too_deep(self, span: Span) -> None:
        self.errors.add(LanguageError, span, "this statement is nested too deeply", "Split it by definitions.")

    def check_definition(self, definition: n.Definition) -> None:
        """Translate a definition on its own, so that its errors are found once and where they are."""
        self.names.too_large.add(definition.head.name)  # until the opposite is known
        try:
            translator = Translator(self.names, self.errors)
            arguments = [a for a in definition.head.arguments if isinstance(a, n.LogicName)]
            bound: Bound = {a.name: c.LogicVariable(translator.fresh(a.name)) for a in arguments}
            translator.enter_body_of(definition.head.name)
            if definition.head.name in self.names.formula_params and translator.has_unknown(definition.body):
                hint = f"Write def {definition.head.name}(..) = ..;   for an expression in the unknowns."
                message = f"the param {definition.head.name} is data, and this formula has unknowns"
                self.errors.add(KindError, definition.body.span, message, hint)
            flatten(translator, definition.body, bound)
            self.names.too_large.discard(definition.head.name)
        except TooLargeError as problem:
            self._too_large(problem.span)
        except RecursionError:
            self._too_deep(definition.span)

    def rule(self, head: n.Atom, body: n.Node, span: Span) -> c.Rule | None:
        try:
            return self._rule(head, body, span)
        except TooLargeError as problem:
            self._too_large(problem.span)
        except RecursionError:
            self._too_deep(span)
        return None

    def _rule(self, head: n.Atom, body: n.Node, span: Span) -> c.Rule | None:
        if not has_right_arity(self.names.symbols[head.name], head, self.errors, self.names):
            return None
        translator, n_errors = Translator(self.names, self.errors), self.errors.n_added
        in_head = {name: None for a in head.arguments for name in logic_names(a)}
        bound: Bound = {}
        for name in {**in_head, **logic_names(body)}:
            bound[name] = c.LogicVariable(translator.fresh(name))
        formula = translator.formula(body, bound)
        arguments = list[c.DataExpression]()
        for argument in head.arguments:
            if isinstance(argument, n.Wildcard):
                hint = "Name the variable, and bind it in the body."
                self.errors.add(SafetyError, argument.span, "_ cannot stand in the head of a rule", hint)
            else:
                arguments.append(translator.data(argument, bound, may_be_text=True))
        if self.errors.n_added > n_errors:
            return None
        head_names = variables_of(*arguments)
        try:
            ordered, known = in_order(formula, set(), set(head_names))
        except UnsafeError as unsafe:
            translator.report(unsafe)
            return None
        for argument in head.arguments:
            for name, where in _places(argument):
                if name not in known:
                    self.errors.add(
                        SafetyError, where, f"{name} stands in the head of the rule, but its body does not bind it"
                    )
        existential = tuple(v for v in variables_of(ordered) if v not in head_names)
        return c.Rule(head.name, tuple(arguments), ordered, existential, frozenset(translator.reads), span)

    def _param(self, p: n.ParamItem) -> None:
        if p.formula is not None:
            return
        if p.value is not None and p.arity > 0:
            self.errors.add(
                KindError,
                p.value.span,
                f"{p.name} has {p.arity} argument{'s' if p.arity > 1 else ''}, so it needs a table, not one value",
                f"Write: default {p.value.text}   for the value of all tuples that have no other.",
            )
        value, default = (None if number is None else number.value for number in (p.value, p.default))
        self.parameters.setdefault(p.name, c.Parameter(p.name, p.arity, p.source, value, default, p.span))

    def _variable(self, item: n.VariableItem) -> None:
        if item.name in self.variables:
            return
        translator = Translator(self.names, self.errors)
        query = None if item.domain is None else translator.query(item.parameters, item.domain, {}, "domain")
        bound = {} if query is None else query.inside
        lower, upper = list[c.DataExpression](), list[c.DataExpression]()
        for limit in item.bounds:
            if limit.sign not in ("<=", ">=", "="):
                self.errors.add(KindError, limit.span, f"a bound is written with <=, >= or =, not {limit.sign}")
                continue
            value = translator.data(limit.limit, bound, what="the bounds of a variable are known before solving")
            if limit.sign != "<=":
                lower.append(value)
            if limit.sign != ">=":
                upper.append(value)
        if item.given is not None:
            self._check_given(item)
            translator.reads.add(item.given)
        variable = c.Variable(
            item.name, item.arity, (), None, tuple(lower), tuple(upper), item.given,
            reads=frozenset(translator.reads), span=item.span,
        )  # fmt: skip
        if query is not None:
            variable = replace(
                variable, parameters=query.variables, domain=query.formula, existential=query.existential
            )
        self.variables[item.name] = variable

    def _check_given(self, item: n.VariableItem) -> None:
        symbol = self.names.symbols.get(item.given or "")
        if symbol is None:
            hint = f"Declare it: param {item.given}/{item.arity};"
            self.errors.add(
                UnknownNameError, item.span, f"{item.given}, which gives values of {item.name}, is not declared", hint
            )
        elif symbol.kind != "param" or symbol.arity != item.arity:
            message = f"values of {item.name} are given by a param with as many arguments, and {item.given} is not one"
            self.errors.add(KindError, item.span, message, f"Declare: param {item.given}/{item.arity};")

    def take_rules(self) -> None:
        """Add the rules of soft logic to the objective and to the constraints."""
        self.constraints.extend(self.soft.constraints)
        if not self.soft.terms:
            return
        if self.objective is None:
            nothing = c.Expression(())
            self.objective = c.Objective("min", "rules", nothing, span=self.soft.span or Span(0, 0))
        if self.objective.sense == "max":
            self.errors.add(
                KindError, self.objective.span, "weighted rules are minimised, and this objective is maximised",
                "Write minimize: and the negated expression.",
            )  # fmt: skip
            return
        terms = (*self.objective.expression.terms, *self.soft.terms)
        reads = self.objective.reads | self.soft.reads
        self.objective = replace(self.objective, expression=c.Expression(terms), reads=reads)

    def domain_rules(self) -> list[c.Rule]:
        """Rules for the tuples of variables that queries ask for."""
        rules = []
        for name in sorted(self.names.asked_domains & self.variables.keys()):
            v = self.variables[name]
            if v.domain is None:
                continue
            keys, head = tuple(map(c.LogicVariable, v.parameters)), domain_of(name)
            rules.append(c.Rule(head, keys, v.domain, v.existential, v.reads, v.span))
            if v.given is not None:
                rules.append(c.Rule(head, keys, c.Holds(v.given, keys), (), frozenset([v.given]), v.span))
        return rules

    def _objective(self, s: n.ObjectiveStatement) -> None:
        translator, n_errors = Translator(self.names, self.errors), self.errors.n_added
        terms = flatten(translator, s.body, {})
        if self.objective is not None:
            self.errors.add(
                DuplicateNameError,
                s.span,
                "a model has one objective",
                f"The first is in line {self.errors.line(self.objective.span)}; add them up with weights.",
            )
            return
        checked = tuple(terms)
        if self.errors.n_added == n_errors:
            wanted: Curvature = "convex" if s.sense == "min" else "concave"

            def words(curvature: Curvature) -> tuple[str, str]:
                wrong = "negative" if curvature == wanted else "positive"
                message = f"this {curvature} term has a {wrong} coefficient, and the objective is {s.sense}imised"
                return message, "The problem would not be convex."

            checked = Composition(self.names.signs, self.errors).bent(terms, wanted, words)
        name, reads = s.name or "objective", frozenset(translator.reads)
        self.objective = c.Objective(s.sense, name, c.Expression(checked), reads, span=s.span)

    def _constraint(self, s: n.ConstraintStatement) -> None:
        self.n_constraints += 1
        name = s.name or f"constraint_{self.n_constraints}"
        if name in self.constraint_spans:
            line = self.errors.line(self.constraint_spans[name])
            self.errors.add(
                DuplicateNameError, s.span, f"two constraints are called {name}", f"The first is in line {line}."
            )
            return
        self.constraint_spans[name] = s.span
        if not isinstance(s.body, n.Compare):
            hint = "Write <=, >= or = between two numbers"
            hint += "; a constraint for each part of the &." if isinstance(s.body, n.Both) else "."
            self.errors.add(KindError, s.body.span, "a constraint compares two numbers", hint)
            return
        translator = Translator(self.names, self.errors)
        frame, bound = c.Constraint(name, (), None, c.Expression(()), None, None, span=s.span), Bound()
        if s.index is not None:
            query = translator.query(s.index.variables, s.index.formula, {})
            frame = replace(frame, variables=query.variables, formula=query.formula, existential=query.existential)
            bound = query.inside
        for row in rows_from_comparison(s.body, translator, bound, frame):
            self.constraints.append(replace(row, reads=frozenset(translator.reads)))


def _places(node: n.Node) -> list[tuple[str, Span]]:
    match node:
        case n.LogicName():
            return [(node.name, node.span)]
        case n.Sum():
            return [place for part in node.parts for place in _places(part)]
        case n.Binary():
            return _places(node.left) + _places(node.right)
        case n.Minus():
            return _places(node.part)
        case n.Atom() | n.Call():
            return [place for part in node.arguments for place in _places(part)]
        case _:
            return []
