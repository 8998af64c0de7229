r"""Rules of probabilistic soft logic: each becomes hinges of the objective, or constraints if it is hard.

With the literals of a rule as one clause, those that occur positively I+ and those that occur negated I-,

.. math:: l(x) = 1 - \sum_{I^+} x - \sum_{I^-} (1 - x)

is its distance to satisfaction: ``B1 & ... & Bm -> H`` has l = B1 + ... + Bm - (m - 1) - H. A weighted rule adds
w max(0, l)^p for each grounding, a hard one demands l <= 0. Arithmetic rules state l themselves.

A rule is grounded over the atoms of its body and the negated atoms of its head: all tuples that a relation or a param
has, and all that a variable has, observed ones too. Other atoms are looked up: a variable must have the tuple; a
relation or param that has not counts as 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Literal, final

from relift.errors import KindError, SafetyError
from relift.language import checked_model as c
from relift.language.checks.convexity import sign_of
from relift.language.checks.names import ErrorList, Names, find
from relift.language.checks.translate import Bound, Query, Translator, logic_names
from relift.language.syntax import nodes as n
from relift.language.syntax.source import Span

_ONE = n.Number("1")


@final
@dataclass
class SoftRules:
    """Checks the rules of a model.

    Parameters
    ----------
    names, errors
        What is declared, and what takes the errors.
    terms
        What the rules add to the objective.
    constraints
        The hard rules.
    reads
        Names that the terms use.
    unit_params
        Params that are truth values, so that they must lie between 0 and 1.
    """

    names: Names
    errors: ErrorList
    terms: list[c.Term] = field(default_factory=list)
    constraints: list[c.Constraint] = field(default_factory=list)
    reads: set[str] = field(default_factory=set)
    unit_params: set[str] = field(default_factory=set)
    span: Span | None = None
    n_rules: int = 0

    def add(self, s: n.SoftRule) -> None:
        """Check one rule."""
        self.n_rules += 1
        if not self._has_sound_end(s):
            return
        split = [s] if not s.filters else _split(s)
        for part, rule in enumerate(split, 1):
            name = f"rule_{self.n_rules}" + (f"_{part}" if len(split) > 1 else "")
            one = _Rule(self, rule, name)
            n_errors = self.errors.n_added
            found = one.arithmetic(rule.body) if isinstance(rule.body, n.Compare) else one.logical(rule.body)
            if self.errors.n_added > n_errors:
                return
            if isinstance(found, c.Constraint):
                self.constraints.append(found)
            else:
                self.terms.extend(found)
                self.reads |= one.t.reads
                self.span = self.span or s.span

    def _has_sound_end(self, s: n.SoftRule) -> bool:
        if s.weight is not None and s.is_hard:
            hint = "Remove the weight, or the full stop at its end."
            self.errors.add(KindError, s.span, "a hard rule has no weight", hint)
        elif s.weight is None and not s.is_hard:
            hint = "Write rule 1: ..;   for a weight, or   rule .. .;   for a rule that must hold."
            self.errors.add(KindError, s.span, "a rule has a weight, or ends with a full stop if it is hard", hint)
        elif s.is_hard and s.power == 2:
            self.errors.add(KindError, s.span, "a hard rule has no exponent", "Remove it.")
        else:
            return True
        return False


@final
class _Rule:
    """One rule while it is translated."""

    def __init__(self, rules: SoftRules, s: n.SoftRule, name: str) -> None:
        self.rules, self.s, self.name = rules, s, name
        self.names, self.errors = rules.names, rules.errors
        self.t = Translator(rules.names, rules.errors)
        self.n_unknowns = 0
        self.may_be_unknown: list[c.Formula] | None = []

    # --- logical ----------------------------------------------------------------------------------------------------

    def logical(self, node: n.Node) -> list[c.Term] | c.Constraint:
        n_errors = self.errors.n_added
        body, head = (node.body, node.head) if isinstance(node, n.Implies) else (None, node)
        tests = list[n.Node]()
        in_body = [] if body is None else list(self._literals(body, n.Both, tests))
        in_head = list(self._literals(head, n.Either, None))
        if self.errors.n_added > n_errors:
            return []
        clause = [(not is_negated, atom) for is_negated, atom in in_body] + in_head
        joined = dict.fromkeys(atom for is_negated, atom in clause if is_negated)
        looked_up = dict.fromkeys(atom for is_negated, atom in clause if not is_negated)
        for atom in (*joined, *looked_up):
            self._check_truth_value(atom)
        listed = {name: None for part in (*joined, *looked_up, *tests) for name in logic_names(part)}
        bound = {name for atom in joined for name in logic_names(atom)}
        for name, where in _places(self.s.body):
            if name not in bound:
                message = f"{name} occurs in no atom that the rule is grounded over"
                self.errors.add(
                    SafetyError,
                    where,
                    message,
                    "Each variable is in an atom of the body, or in a negated one of the head.",
                )
                return []
        query = self._query(listed, [*joined, *tests])
        inner = list[c.LinearTerm | c.ConstantTerm]()
        constant = 1 - len(joined)
        for atom in joined:
            if self._kind(atom) in ("relation", "derived"):
                constant += 1
            else:
                inner.extend(self._value(atom, query.inside, 1))
        for atom in looked_up:
            inner.extend(self._value(atom, query.inside, -1, is_closed=True))
        if constant:
            inner.append(c.ConstantTerm((), c.Constant(constant)))
        return self._finished(query, inner, "<=")

    def _literals(
        self, node: n.Node, joint: type[n.Both] | type[n.Either], tests: list[n.Node] | None
    ) -> Iterator[tuple[bool, n.Atom]]:
        """The atoms of one side, each with whether it is negated; comparisons go to `tests`."""
        match node:
            case n.Atom():
                yield False, node
            case n.Negated(part=n.Atom() as atom):
                yield True, atom
            case n.Both() | n.Either() if isinstance(node, joint):
                for part in node.parts:
                    yield from self._literals(part, joint, tests)
            case n.Compare() | n.Negated(part=n.Compare()) if tests is not None:
                tests.append(node)
            case n.Compare():
                self.errors.add(KindError, node.span, "a comparison stands in the body of a rule", "As in: A != B & ..")
            case n.Both() | n.Either():
                hint = "The body joins atoms with &, the head with |; what mixes both is written as several rules."
                self.errors.add(KindError, node.span, "a rule is one clause", hint)
            case _:
                hint = "Write atoms, their negations, and in the body comparisons of constants, as in: A != B"
                self.errors.add(KindError, node.span, "this cannot stand in a logical rule", hint)

    def _check_truth_value(self, atom: n.Atom) -> None:
        """Note a param that must lie between 0 and 1, and a variable that need not."""
        kind = self._kind(atom)
        if kind == "param":
            self.rules.unit_params.add(atom.name)
        elif kind == "variable":
            item = self.names.variables[atom.name]
            if item.given is not None:
                self.rules.unit_params.add(item.given)
            if not (_has_bound(item, ">=", 0) and _has_bound(item, "<=", 1)):
                self.errors.add(
                    KindError, atom.name_span, f"{atom.name} is a truth value here, but not bounded by 0 and 1",
                    f"Write: var {atom.name}(..) in .. >= 0 <= 1;",
                )  # fmt: skip

    # --- arithmetic -------------------------------------------------------------------------------------------------

    def arithmetic(self, node: n.Compare) -> list[c.Term] | c.Constraint:
        if len(node.signs) > 1 or node.signs[0] not in ("<=", ">=", "="):
            hint = "Write one of <=, >= and = between two sums."
            self.errors.add(KindError, node.span, "an arithmetic rule compares two sums", hint)
            return []
        parts = [*_linear(node.parts[0], _ONE), *_linear(n.Minus(node.parts[1], node.parts[1].span), _ONE)]
        atoms = dict.fromkeys(atom for part in node.parts for atom in _atoms(part) if self._is_table(atom))
        summed = self._summed(atoms)
        listed = {name: None for atom in atoms for name in logic_names(atom) if name not in summed}
        query = self._query(listed, [_plain(atom) for atom in atoms])
        inner = list[c.LinearTerm | c.ConstantTerm]()
        for coefficient, atom in parts:
            factor = self._counted(coefficient, summed)
            if atom is None or not self._is_table(atom):
                whole = factor if atom is None else n.Binary("*", factor, atom, atom.span)
                inner.append(c.ConstantTerm((), self.t.data(whole, query.inside, what="no variable stands here")))
            else:
                inner.extend(self._summand(atom, factor, query))
        return self._finished(query, inner, node.signs[0])

    def _is_table(self, atom: n.Atom) -> bool:
        """Whether an atom is one of the rule, and not a number that stands for itself."""
        return bool(atom.arguments) or self._kind(atom) == "variable"

    def _summed(self, atoms: Iterable[n.Atom]) -> dict[str, n.Atom]:
        """Which atom sums over which variable."""
        summed = dict[str, n.Atom]()
        for atom in atoms:
            for name in atom.arguments:
                if isinstance(name, n.LogicName) and name.is_summed:
                    if name.name in summed and summed[name.name] != atom:
                        hint = "Give each sum a variable of its own."
                        self.errors.add(SafetyError, name.span, f"two atoms sum over {name.name}", hint)
                    summed[name.name] = atom
        for filtered in self.s.filters:
            if filtered.variable.name not in summed:
                message = f"no atom of the rule sums over {filtered.variable.name}"
                self.errors.add(SafetyError, filtered.variable.span, message, "Write + before it, as in: cat(A, +C)")
        return summed

    def _counted(self, node: n.Node, summed: dict[str, n.Atom]) -> n.Node:
        """A coefficient with counts in place of ``|B|``."""
        match node:
            case n.Cardinality():
                if node.name not in summed:
                    message = f"no atom of the rule sums over {node.name}"
                    self.errors.add(SafetyError, node.span, message, "Write + before it, as in: cat(A, +C)")
                    return _ONE
                atom = summed[node.name]
                return n.Indexed(
                    "count", n.Index(_sum_names(atom), self._members(atom), node.span), None, (), node.span
                )
            case n.Minus():
                return replace(node, part=self._counted(node.part, summed))
            case n.Sum():
                return replace(node, parts=tuple(self._counted(part, summed) for part in node.parts))
            case n.Binary():
                return replace(node, left=self._counted(node.left, summed), right=self._counted(node.right, summed))
            case n.Call():
                return replace(node, arguments=tuple(self._counted(a, summed) for a in node.arguments))
            case _:
                return node

    def _members(self, atom: n.Atom) -> n.Node:
        """The query over which an atom sums."""
        names = {name.name for name in _sum_names(atom)}
        filters = [self._filter(f.formula) for f in self.s.filters if f.variable.name in names]
        return n.Both((_plain(atom), *filters), atom.span) if filters else _plain(atom)

    def _filter(self, node: n.Node) -> n.Node:
        """A condition, in which a param is true where it is positive."""
        match node:
            case n.Atom() if self._kind(node) == "param":
                return n.Compare((node, n.Number("0", node.span)), (">",), node.span)
            case n.Atom() if self._kind(node) == "variable":
                hint = "A filter asks relations and params."
                self.errors.add(KindError, node.span, f"{node.name} is a variable, so it cannot be in a filter", hint)
                return n.Truth(node.span)
            case n.Both() | n.Either():
                return replace(node, parts=tuple(map(self._filter, node.parts)))
            case n.Negated():
                return replace(node, part=self._filter(node.part))
            case _:
                return node

    def _summand(self, atom: n.Atom, factor: n.Node, query: Query) -> Iterator[c.LinearTerm | c.ConstantTerm]:
        names = _sum_names(atom)
        scopes: tuple[c.Scope, ...] = ()
        bound = query.inside
        if names:
            inner = self.t.query(names, self._members(atom), query.inside)
            scopes = (c.Scope(inner.variables, inner.formula, inner.outer, inner.existential, atom.span),)
            bound = inner.inside
        coefficient = self.t.data(factor, query.inside)
        for term in self._value(_plain(atom), bound, 1, scopes):
            yield replace(term, scopes=scopes, coefficient=_times(coefficient, term.coefficient))

    # --- both -------------------------------------------------------------------------------------------------------

    def _kind(self, atom: n.Atom) -> str:
        symbol = self.names.symbols.get(atom.name)
        return "" if symbol is None else symbol.kind

    def _query(self, listed: Iterable[str], parts: list[n.Node]) -> Query:
        span = self.s.body.span
        formula: n.Node = n.Truth(span) if not parts else parts[0] if len(parts) == 1 else n.Both(tuple(parts), span)
        places = {name: where for part in (self.s.body,) for name, where in _places(part)}
        variables = tuple(n.LogicName(name, span=places.get(name, span)) for name in listed)
        return self.t.query(variables, formula, {}, "body" if isinstance(self.s.body, n.Implies) else "rule")

    def _value(
        self, atom: n.Atom, bound: Bound, sign: int, scopes: tuple[c.Scope, ...] = (), is_closed: bool = False
    ) -> Iterator[c.LinearTerm | c.ConstantTerm]:
        """The value of an atom as a term; `is_closed`: a relation or param that has not got the tuple is 0."""
        symbol = find(self.names, atom, self.errors)
        if symbol is None:
            return
        if any(isinstance(a, n.Wildcard) for a in atom.arguments) and symbol.kind not in ("relation", "derived"):
            self.t.error(KindError, atom, f"which {atom.name} is meant is not clear with _", "Name the variable.")
            return
        if symbol.kind == "variable":
            self.t.reads.add(atom.name)
            self.n_unknowns += 1
            arguments = tuple(self.t.data(a, bound, may_be_text=True) for a in atom.arguments)
            self._note_unknown(atom.name, arguments, scopes)
            yield c.LinearTerm((), c.Constant(sign), c.UnknownAtom(atom.name, arguments, atom.span))
        elif symbol.kind == "param":
            self.t.reads.add(atom.name)
            arguments = tuple(self.t.data(a, bound, may_be_text=True) for a in atom.arguments)
            value = c.ParameterValue(atom.name, arguments, 0 if is_closed else None, atom.span)
            yield c.ConstantTerm((), value if sign > 0 else c.Negative(value))
        elif symbol.kind in ("relation", "derived"):
            one: c.DataExpression = c.Constant(1)
            if is_closed:
                formula = self.t.query((), atom, bound, "formula")
                one = c.Indicator(formula.formula, formula.existential)
            yield c.ConstantTerm((), one if sign > 0 else c.Negative(one))
        else:
            self.t.error(
                KindError, atom, f"{atom.name} is a definition, and a rule has relations, params and variables"
            )

    def _note_unknown(self, name: str, arguments: tuple[c.DataExpression, ...], scopes: tuple[c.Scope, ...]) -> None:
        """Note where a grounding has an unknown that is not observed."""
        given = self.names.variables[name].given
        if given is None or self.may_be_unknown is None:
            self.may_be_unknown = None  # there is one in every grounding
            return
        self.t.reads.add(given)
        test: c.Formula = c.Not(c.Holds(given, arguments))
        self.may_be_unknown.append(c.And((*(scope.formula for scope in scopes), test)) if scopes else test)

    def _finished(
        self, query: Query, inner: list[c.LinearTerm | c.ConstantTerm], sign: str
    ) -> list[c.Term] | c.Constraint:
        if not self.n_unknowns:
            hint = "Rules say something about unknowns: declare a predicate with var."
            self.errors.add(KindError, self.s.body.span, "this rule has no variable in it", hint)
            return []
        if sign == ">=":
            inner = [replace(term, coefficient=_negative(term.coefficient)) for term in inner]
        if self.s.weight is None:
            return self._hard(query, inner, sign)
        weight = self.t.data(self.s.weight, query.inside, what="the weight of a rule is known before solving")
        known = sign_of(weight)
        if known == "nonpositive":
            self.errors.add(KindError, self.s.weight.span, "the weight of a rule is negative")
        needs: c.Sign | None = "nonnegative" if known == "unknown" else None
        scopes: tuple[c.Scope, ...] = (self._scope(query, query.formula),)
        if not query.variables:  # one grounding at most: what is not there adds nothing
            inner, scopes = _within(scopes[0], inner), ()
        body, span = c.Affine(tuple(inner)), self.s.span
        if sign != "=":
            return [c.HingeTerm(scopes, weight, body, self.s.power, needs, span)]
        if self.s.power == 2:
            return [c.SquareTerm(scopes, weight, body, needs, span)]
        return [c.AbsoluteTerm(scopes, weight, body, needs, span)]

    def _hard(self, query: Query, inner: list[c.LinearTerm | c.ConstantTerm], sign: str) -> c.Constraint:
        """A row for each grounding that has an unknown; others say nothing."""
        formula: c.Formula | None = query.formula
        flat: list[c.Formula]
        if self.may_be_unknown:
            some = self.may_be_unknown[0] if len(self.may_be_unknown) == 1 else c.Or(tuple(self.may_be_unknown))
            known = query.formula.parts if isinstance(query.formula, c.And) else (query.formula,)
            flat = [part for part in known if not isinstance(part, c.TrueFormula)]
            formula = c.And((*flat, some)) if flat else some
        if not query.variables and formula is not None:
            inner, formula = _within(self._scope(query, formula), inner), None
        zero = c.Constant(0)
        return c.Constraint(
            self.name, query.variables, formula, c.Expression(tuple(inner)), zero if sign == "=" else None, zero,
            existential=query.existential, reads=frozenset(self.t.reads), span=self.s.span,
        )  # fmt: skip

    def _scope(self, query: Query, formula: c.Formula) -> c.Scope:
        return c.Scope(query.variables, formula, query.outer, query.existential, self.s.body.span)


def _within(scope: c.Scope, terms: list[c.LinearTerm | c.ConstantTerm]) -> list[c.LinearTerm | c.ConstantTerm]:
    """Terms that count where a query has an answer."""
    if isinstance(scope.formula, c.TrueFormula):
        return terms
    return [replace(term, scopes=(scope, *term.scopes)) for term in terms]


def _has_bound(item: n.VariableItem, sign: Literal["<=", ">="], limit: int) -> bool:
    for bound in item.bounds:
        if bound.sign in (sign, "=") and isinstance(bound.limit, n.Number):
            value = bound.limit.value
            if (sign == "<=" and value <= limit) or (sign == ">=" and value >= limit):
                return True
    return False


def _linear(node: n.Node, factor: n.Node) -> Iterator[tuple[n.Node, n.Atom | None]]:
    """The summands of a linear expression: coefficients and atoms; None for constants."""
    match node:
        case n.Atom():
            yield factor, node
        case n.Minus():
            yield from _linear(node.part, n.Minus(factor, node.span))
        case n.Sum():
            yield from _linear(node.parts[0], factor)
            for sign, part in zip(node.signs, node.parts[1:], strict=True):
                yield from _linear(part, factor if sign == "+" else n.Minus(factor, part.span))
        case n.Binary(op="*") if any(_atoms(node.right)):
            yield from _linear(node.right, _product(factor, node.left))
        case n.Binary(op="*"):
            yield from _linear(node.left, _product(factor, node.right))
        case n.Binary(op="/"):
            yield from _linear(node.left, n.Binary("/", factor, node.right, node.span))
        case _:
            yield _product(factor, node), None


def _product(factor: n.Node, other: n.Node) -> n.Node:
    return other if factor == _ONE else n.Binary("*", factor, other, other.span)


def _atoms(node: n.Node) -> Iterator[n.Atom]:
    """The atoms of an arithmetic expression."""
    match node:
        case n.Atom():
            yield node
        case n.Minus():
            yield from _atoms(node.part)
        case n.Sum():
            for part in node.parts:
                yield from _atoms(part)
        case n.Binary():
            yield from _atoms(node.left)
            yield from _atoms(node.right)
        case n.Call():
            for part in node.arguments:
                yield from _atoms(part)
        case _:
            return


def _plain(atom: n.Atom) -> n.Atom:
    """An atom without the marks of summed variables."""
    arguments = (replace(a, is_summed=False) if isinstance(a, n.LogicName) else a for a in atom.arguments)
    return replace(atom, arguments=tuple(arguments))


def _sum_names(atom: n.Atom) -> tuple[n.LogicName, ...]:
    found = (a for a in atom.arguments if isinstance(a, n.LogicName) and a.is_summed)
    return tuple(dict.fromkeys(replace(a, is_summed=False) for a in found))


def _split(s: n.SoftRule) -> list[n.SoftRule]:
    """One rule for each way to choose a part of every filter that is a disjunction, as in PSL."""
    choices = [[replace(f, formula=part) for part in _disjuncts(f.formula)] for f in s.filters]
    return [replace(s, filters=chosen) for chosen in product(*choices)]


def _disjuncts(node: n.Node) -> list[n.Node]:
    """The parts of the disjunctive normal form of a condition."""
    match node:
        case n.Either():
            return [found for part in node.parts for found in _disjuncts(part)]
        case n.Both():
            combined = product(*map(_disjuncts, node.parts))
            return [n.Both(tuple(parts), node.span) for parts in combined]
        case n.Negated(part=n.Negated() as inner):
            return _disjuncts(inner.part)
        case n.Negated(part=n.Both() as inner):
            return [found for part in inner.parts for found in _disjuncts(n.Negated(part, node.span))]
        case n.Negated(part=n.Either() as inner):
            return _disjuncts(n.Both(tuple(n.Negated(part, node.span) for part in inner.parts), node.span))
        case _:
            return [node]


def _times(first: c.DataExpression, second: c.DataExpression) -> c.DataExpression:
    if first == c.Constant(1):
        return second
    return first if second == c.Constant(1) else c.Arithmetic("*", first, second)


def _negative(part: c.DataExpression) -> c.DataExpression:
    return part.part if isinstance(part, c.Negative) else c.Negative(part)


def _places(node: n.Node) -> Iterator[tuple[str, Span]]:
    """Where logic variables stand."""
    match node:
        case n.LogicName():
            yield node.name, node.span
        case n.Atom() | n.Call():
            parts = node.arguments
        case n.Both() | n.Either() | n.Sum() | n.Compare():
            parts = node.parts
        case n.Implies():
            parts = (node.head, node.body)
        case n.Negated() | n.Minus():
            parts = (node.part,)
        case n.Binary():
            parts = (node.left, node.right)
        case _:
            parts = ()
    if not isinstance(node, n.LogicName):
        for part in parts:
            yield from _places(part)
