"""From nodes to queries, formulas and data expressions: everything that has no unknowns.

Names are resolved, kinds checked, definitions inlined with fresh names for their variables, and every query is checked
for safety and put into evaluation order. Errors are collected; something harmless takes the place of what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import cast, final

from relift.errors import KindError, LanguageError, SafetyError, StratificationError
from relift.language import checked_model as c
from relift.language.checks.data_functions import data_function, data_function_over_query
from relift.language.checks.names import ErrorList, Names, Symbol, domain_of, find, shown
from relift.language.checks.safety import UnsafeError, in_order
from relift.language.checks.walk import variables_of
from relift.language.functions import DATA_FUNCTIONS, FUNCTIONS, NEIGHBOURS, RESERVED_FUNCTIONS, SECONDS_OF
from relift.language.messages import listed
from relift.language.syntax import nodes as n
from relift.language.syntax.source import Span

_NOTHING = c.Constant(0)
_MOST_TERMS = 100_000

Bound = dict[str, c.DataExpression]
"""What the logic variables of the text stand for, where they are bound."""


@final
@dataclass(frozen=True)
class Query:
    """A checked query.

    Parameters
    ----------
    variables
        The listed variables, under their unique names.
    formula
        In evaluation order.
    outer, existential
        The other variables of the formula: bound outside, or not.
    inside
        What the variables stand for where the query is used: as before, and the listed ones.
    """

    variables: tuple[str, ...]
    formula: c.Formula
    outer: tuple[str, ...]
    existential: tuple[str, ...]
    inside: Bound = field(compare=False)


@final
class Translator:
    """Translates the queries, formulas and data of one statement.

    Parameters
    ----------
    names
        What is declared.
    errors
        Takes the errors.
    """

    def __init__(self, names: Names, errors: ErrorList) -> None:
        self.names = names
        self.errors = errors
        self.reads = set[str]()
        self._taken = set[str]()
        self._inlining = list[str]()
        self._n_terms = 0
        self._n_stars = 0
        self._unknown_in_definition = dict[str, bool]()

    def error(self, kind: type[LanguageError], node: n.Node | n.Index, message: str, hint: str = "") -> None:
        """Note an error at a node."""
        self.errors.add(kind, node.span, message, hint)

    # --- queries -----------------------------------------------------------------------------------------------------

    def fresh(self, name: str) -> str:
        """A name for a variable that no other variable of the statement has."""
        found, k = name, 1
        while found in self._taken:
            k += 1
            found = f"{name}_{k}"
        self._taken.add(found)
        return found

    def query(self, variables: tuple[n.LogicName, ...], formula: n.Node, bound: Bound, what: str = "query") -> Query:
        """Translate ``{variables in formula}`` where `bound` variables have a value already."""
        n_errors = self.errors.n_added
        formula = n.with_range(variables, formula) if variables else formula
        inside = dict(bound)
        for variable in variables:
            if variable.name in bound:
                self.error(
                    SafetyError, variable, f"{variable.name} has a value already where this {what} stands",
                    "Take another name: a query lists new variables, and sees those bound outside.",
                )  # fmt: skip
            elif variable.name in inside:
                self.error(SafetyError, variable, f"{variable.name} is listed twice")
            else:
                inside[variable.name] = c.LogicVariable(self.fresh(variable.name), variable.span)
        everywhere = dict(inside)
        for name in logic_names(formula):
            if name not in everywhere:
                everywhere[name] = c.LogicVariable(self.fresh(name))
        raw = self.formula(formula, everywhere)
        is_sound = self.errors.n_added == n_errors
        names = tuple(cast("c.LogicVariable", inside[v.name]).name for v in variables if v.name not in bound)
        outer_names = variables_of(*bound.values())
        if is_sound:
            raw = self._safe(raw, variables, names, set(outer_names), what)
        used = variables_of(raw)
        outer = tuple(v for v in used if v in outer_names)
        existential = tuple(v for v in used if v not in outer_names and v not in names)
        return Query(names, raw, outer, existential, inside)

    def _safe(
        self,
        formula: c.Formula,
        listed_names: tuple[n.LogicName, ...],
        names: tuple[str, ...],
        outer: set[str],
        what: str,
    ) -> c.Formula:
        try:
            ordered, bound = in_order(formula, outer, set(names))
        except UnsafeError as unsafe:
            self.report(unsafe)
            return formula
        used = variables_of(formula)
        for variable, name in zip(listed_names, names, strict=True):
            if name not in used:
                self.error(SafetyError, variable, f"{variable.name} is listed, but does not occur in the {what}")
            elif name not in bound:
                self.error(SafetyError, variable, f"{variable.name} is listed, but nothing in the {what} binds it")
        return ordered

    def report(self, unsafe: UnsafeError) -> None:
        """Note the variables of a formula that nothing binds."""
        hint = "A positive atom must bind it, or an equality whose other side is known; _ stands for any value."
        for problem in unsafe.unbound:
            name = problem.variable.name
            written = "_" if name.startswith("_") else self._as_written(name)
            self.errors.add(SafetyError, problem.variable.span, f"{written} {problem.reason}", hint)

    def _as_written(self, name: str) -> str:
        stem, _, number = name.rpartition("_")
        return stem if stem and number.isdigit() and stem in self._taken else name

    # --- formulas ----------------------------------------------------------------------------------------------------

    def formula(self, node: n.Node, bound: Bound) -> c.Formula:
        """Translate a formula all of whose variables are in `bound`."""
        match node:
            case n.Both():
                return _conjunction([self.formula(part, bound) for part in node.parts])
            case n.Either():
                parts = [self.formula(part, bound) for part in node.parts]
                return c.Or(tuple(q for p in parts for q in (p.parts if isinstance(p, c.Or) else (p,))))
            case n.Negated():
                return c.Not(self.formula(node.part, bound))
            case n.Truth():
                return c.TrueFormula()
            case n.Compare():
                pairs = zip(node.parts, node.signs, node.parts[1:], strict=False)
                return _conjunction([self._test(left, sign, right, bound, node.span) for left, sign, right in pairs])
            case n.Atom():
                return self._holds(node, bound)
            case n.Range(variable=n.LogicName() as variable):
                value = self.data(variable, bound)
                return c.InRange(value, self.data(node.first, bound), self.data(node.last, bound), node.span)
            case n.Range():
                hint = "Write: I in 1..n"
                self.error(KindError, node, "this range says of no variable that it lies in it", hint)
            case n.Text():
                self.error(KindError, node, "a formula is needed here, not a constant")
            case _:
                self.error(
                    KindError, node, "a formula is needed here, not a number",
                    "Compare it with something, as in: cap(X, Y) > 0",
                )  # fmt: skip
        return c.TrueFormula()

    def _holds(self, atom: n.Atom, bound: Bound) -> c.Formula:
        hint = f"Declare it, or add a rule: {shown(atom)} if ..;" if atom.arguments else ""
        symbol = find(self.names, atom, self.errors, lambda s: s.kind not in ("variable", "definition"), hint)
        if symbol is None:
            return c.TrueFormula()
        if symbol.kind == "variable":
            return self._in_domain(atom, bound)
        if symbol.kind == "definition":
            self.error(
                KindError, atom, f"{atom.name} is a number, and a formula is needed here",
                f"Compare it, as in: {shown(atom)} > 0; a rule is written: {shown(atom)} if ..",
            )  # fmt: skip
            return c.TrueFormula()
        self.reads.add(atom.name)
        return c.Holds(atom.name, tuple(self._argument(a, bound) for a in atom.arguments), atom.span)

    def _in_domain(self, atom: n.Atom, bound: Bound) -> c.Formula:
        """A variable in a query: it has this tuple."""
        item = self.names.variables[atom.name]
        if item.domain is None:
            self.error(
                KindError, atom, f"{atom.name} has no domain that a query could ask for",
                f"Declare it with one: var {atom.name}(..) in ..;" if item.arity else
                "Its value is known only after solving.",
            )  # fmt: skip
            return c.TrueFormula()
        self.names.asked_domains.add(atom.name)
        name = domain_of(atom.name)
        self.reads.add(name)
        return c.Holds(name, tuple(self._argument(a, bound) for a in atom.arguments), atom.span)

    def _argument(self, node: n.Node, bound: Bound) -> c.Argument:
        if isinstance(node, n.Star):
            self.error(KindError, node, "* is a sum, and a formula is needed here", "Write _ for any value.")
            return c.Anonymous()
        return c.Anonymous() if isinstance(node, n.Wildcard) else self.data(node, bound, may_be_text=True)

    def _test(self, left: n.Node, sign: str, right: n.Node, bound: Bound, span: Span) -> c.Formula:
        sides = [self._side(side, bound) for side in (left, right)]
        guards = [guard for side in sides for guard in self._guards(side)]
        test = c.Comparison(cast("c.ComparisonSign", sign), sides[0], sides[1], None, span)
        return _conjunction([*guards, test])

    def _side(self, node: n.Node, bound: Bound) -> c.DataExpression:
        """One side of a test; ``_`` as an argument of a param there is a variable of its own."""
        if isinstance(node, n.Wildcard):
            self.error(KindError, node, "_ cannot be compared", "Remove the comparison, or name the variable.")
            return _NOTHING
        return self.data(node, bound, may_be_text=True, wildcards=True)

    def _guards(self, part: c.Argument) -> Iterator[c.Holds]:
        """For each param without default in one side of a test: that it has a value."""
        match part:
            case c.ParameterValue():
                if part.arguments and not self.names.symbols[part.name].has_default:
                    yield c.Holds(part.name, part.arguments, part.span)
                for argument in part.arguments:
                    yield from self._guards(argument)
            case c.Arithmetic():
                yield from self._guards(part.left)
                yield from self._guards(part.right)
            case c.Negative():
                yield from self._guards(part.part)
            case c.Function():
                for argument in part.arguments:
                    yield from self._guards(argument)
            case _:
                pass

    # --- data --------------------------------------------------------------------------------------------------------

    def data(
        self, node: n.Node, bound: Bound, may_be_text: bool = False, wildcards: bool = False, what: str = ""
    ) -> c.DataExpression:
        """Translate an expression without unknowns.

        Parameters
        ----------
        node, bound
            The expression, and what its variables stand for.
        may_be_text
            Whether a constant that is not a number is fine here.
        wildcards
            Whether ``_`` may be an argument of a param: in tests it may.
        what
            What the expression is needed for, for the message if it has an unknown.
        """
        match node:
            case n.Number():
                return c.Constant(node.value)
            case n.Text():
                if not may_be_text:
                    self.error(KindError, node, f'"{node.value}" is not a number')
                return c.Constant(node.value)
            case n.LogicName():
                return self._value_of(node, bound, may_be_text)
            case n.Wildcard():
                self.error(KindError, node, "_ has no value here", "It stands for any value in the atoms of a query.")
            case n.Atom() if (call := self.as_call(node)) is not None:
                return self.data(call, bound, wildcards=wildcards, what=what)
            case n.Atom() if (total := self.sum_over_stars(node)) is not None:
                return self.data(total, bound, what=what)
            case n.Star():
                self.error(KindError, node, "* has no value here", "It sums over an argument: ship(P, *)")
            case n.Piecewise():
                return self._piecewise(node, bound, what)
            case n.Atom():
                return self._data_atom(node, bound, may_be_text, wildcards, what)
            case n.Minus():
                return negative(self.data(node.part, bound, wildcards=wildcards, what=what))
            case n.Sum():
                is_moment = any(self._duration(part) is not None for part in node.parts[1:])
                result = self.data(node.parts[0], bound, is_moment, wildcards, what)
                for sign, operand in zip(node.signs, node.parts[1:], strict=True):
                    if (duration := self._duration(operand)) is not None:
                        result = self._shifted(result, sign, *duration, bound, node.span)
                        continue
                    right = self.data(operand, bound, wildcards=wildcards, what=what)
                    result = c.Arithmetic(cast("c.ArithmeticSign", sign), result, right, node.span)
                return result
            case n.Binary():
                left = self.data(node.left, bound, wildcards=wildcards, what=what)
                right = self.data(node.right, bound, wildcards=wildcards, what=what)
                return c.Arithmetic(node.op, left, right, node.span)
            case n.Call():
                if not self.check_call(node):
                    return _NOTHING
                if node.function in NEIGHBOURS:
                    return self._neighbour(node, bound)
                if node.function in SECONDS_OF:
                    hint = f"Write T + {node.function}(1) or T - {node.function}(1)."
                    message = f"{node.function}(..) is added to a date or timestamp, or taken from one"
                    self.error(KindError, node, message, hint)
                    return _NOTHING
                is_text = node.function in DATA_FUNCTIONS and DATA_FUNCTIONS[node.function].takes_text
                arguments = tuple(self.data(a, bound, is_text, wildcards, what) for a in node.arguments)
                return data_function(node.function, arguments, node.span)
            case n.Bracket():
                query = self.query((), node.formula, bound, "formula")
                return c.Indicator(query.formula, query.existential)
            case n.Indexed():
                others = tuple(self.data(other, bound, what=what) for other in node.others)
                return data_function_over_query(node.kind, lambda: self._aggregated(node, bound, what), others)
            case n.Compare() | n.Both() | n.Either() | n.Negated() | n.Truth() | n.Range():
                hint = "Write [formula] for 1 where it holds and 0 elsewhere."
                self.error(KindError, node, "a number is needed here, not a formula", hint)
        return _NOTHING

    def _duration(self, node: n.Node) -> tuple[int, n.Node] | None:
        """The seconds of the unit of ``days(a)`` and the like, and how many of it; None for anything else."""
        if isinstance(node, n.Atom) and node.name in SECONDS_OF and (call := self.as_call(node)) is not None:
            return (SECONDS_OF[node.name], call.arguments[0]) if self.check_call(call) else None
        return None

    def _shifted(
        self, moment: c.DataExpression, sign: str, seconds: int, amount: n.Node, bound: Bound, span: Span
    ) -> c.DataExpression:
        """A date or timestamp so much later, or earlier."""
        number = c.Arithmetic("*", c.Constant(seconds if sign == "+" else -seconds), self.data(amount, bound), span)
        return c.Function("shift", (moment, number), span)

    def _neighbour(self, node: n.Call, bound: Bound) -> c.DataExpression:
        """``prev(T)`` or ``prev(T, relation)``."""
        ordered, function = self.names.ordered, str(node.function)
        if len(node.arguments) == 2:
            named = node.arguments[1]
            relation = getattr(named, "value", getattr(named, "name", ""))
            if relation not in ordered:
                hint = f"Declare it: relation {relation or 'p'}/1 ordered;"
                self.error(KindError, named, f"{function}(T, p) needs the name of an ordered relation", hint)
                return _NOTHING
        elif len(ordered) == 1:
            relation = ordered[0]
        else:
            several = f"{function}(T, {ordered[0]})" if ordered else ""
            hint = f"Say which is meant: {several}" if ordered else "Declare one: relation time/1 ordered;"
            what = "there are several ordered relations" if ordered else "no relation is declared as ordered"
            self.error(KindError, node, f"{function}(..) looks into an ordered relation, and {what}", hint)
            return _NOTHING
        self.reads.add(relation)
        argument = self.data(node.arguments[0], bound, may_be_text=True)
        return c.Neighbour(relation, argument, NEIGHBOURS[function], node.span)

    def _piecewise(self, node: n.Piecewise, bound: Bound, what: str) -> c.DataExpression:
        """The line through the points at a number, as its first part and what each bend adds."""
        (x0, y0), *_ = points = [(x.value, y.value) for x, y in node.points]
        slopes = slopes_of(node)
        value = self.data(node.body, bound, what=what)
        total: c.DataExpression = c.Arithmetic("-", value, c.Constant(x0))
        total = c.Arithmetic("+", c.Arithmetic("*", c.Constant(slopes[0]), total), c.Constant(y0))
        for (x, _), before, after in zip(points[1:], slopes, slopes[1:], strict=False):
            beyond = c.Function("max", (c.Constant(0), c.Arithmetic("-", value, c.Constant(x))))
            total = c.Arithmetic("+", total, c.Arithmetic("*", c.Constant(after - before), beyond))
        return total

    def sum_over_stars(self, atom: n.Atom) -> n.Node | None:
        """``ship(P, *)`` as the sum that it stands for; None for an atom without ``*``."""
        if not any(isinstance(argument, n.Star) for argument in atom.arguments):
            return None
        symbol = self.names.symbols.get(atom.name)
        arguments, listed_names = list[n.Node](), list[n.LogicName]()
        for argument in atom.arguments:
            if isinstance(argument, n.Star):
                self._n_stars += 1
                argument = n.LogicName(f"*{self._n_stars}", span=argument.span)
                listed_names.append(argument)
            arguments.append(argument)
        if symbol is not None and symbol.kind not in ("variable", "param"):
            message = f"{atom.name} is neither a variable nor a param, so * has nothing to sum over"
            self.error(KindError, atom, message, "Write the sum with its query: sum{I in ..} ..")
            return n.Number("0", atom.span)
        term = n.Atom(atom.name, tuple(arguments), atom.name_span, atom.span)
        return n.Indexed("sum", n.Index(tuple(listed_names), term, atom.span), term, span=atom.span)

    def _aggregated(self, node: n.Indexed, bound: Bound, what: str) -> c.DataAggregate:
        """The query and the body of an aggregate, as a sum (or a count); with other names each time."""
        query = self.query(node.index.variables, node.index.formula, bound)
        body = None if node.body is None else self.data(node.body, query.inside, what=what)
        within = dict.fromkeys(query.outer)
        if body is not None:
            within.update(dict.fromkeys(v for v in variables_of(body) if v not in query.variables))
        kind: c.AggregateKind = "count" if body is None else "sum"
        return c.DataAggregate(kind, query.variables, query.formula, body, tuple(within), query.existential, node.span)

    def _value_of(self, node: n.LogicName, bound: Bound, may_be_text: bool) -> c.DataExpression:
        if node.name not in bound:
            known = [name for name in bound if not name.startswith("_")]
            example = f"sum{{{node.name} in ..}} or forall {{{node.name} in ..}}"
            hint = f"Bound here: {listed(known)}." if known else f"A query must list it: {example}."
            self.error(SafetyError, node, f"{node.name} is not bound here", hint)
            return _NOTHING
        value = bound[node.name]
        if isinstance(value, c.LogicVariable):
            return c.LogicVariable(value.name, node.span)
        if isinstance(value, c.Constant) and isinstance(value.value, str) and not may_be_text:
            self.error(KindError, node, f'"{value.value}" is given for {node.name}, but a number is needed here')
        return value

    def _data_atom(self, atom: n.Atom, bound: Bound, may_be_text: bool, wildcards: bool, what: str) -> c.DataExpression:
        symbol = find(self.names, atom, self.errors, lambda s: s.kind not in ("relation", "derived"))
        if symbol is None:
            return _NOTHING
        if symbol.kind in ("relation", "derived"):
            self._not_a_number(atom)
        elif symbol.kind == "variable":
            reason = f": {what}" if what else ""
            self.error(KindError, atom, f"{atom.name} is a variable, and only data can stand here{reason}")
        elif symbol.kind == "definition":
            inside = self.enter(atom, symbol, bound)
            if inside is not None:
                result = self.data(self.names.definitions[atom.name].body, inside, may_be_text, wildcards, what)
                self.leave()
                return result
        else:
            self.reads.add(atom.name)
            arguments = list[c.Argument]()
            for argument in atom.arguments:
                if isinstance(argument, n.Wildcard) and wildcards:
                    arguments.append(c.LogicVariable(self.fresh("_1"), argument.span))
                elif isinstance(argument, n.Wildcard):
                    self.error(KindError, argument, f"which value of {atom.name} is meant is not clear with _")
                else:
                    arguments.append(self.data(argument, bound, may_be_text=True, wildcards=wildcards))
            return c.ParameterValue(atom.name, tuple(arguments), None, atom.span)
        return _NOTHING

    def _not_a_number(self, atom: n.Atom) -> None:
        self.error(
            KindError, atom, f"{atom.name} is true or false, and a number is needed here",
            "Write [..] around it for 1 where it holds and 0 elsewhere.",
        )  # fmt: skip

    def as_call(self, atom: n.Atom) -> n.Call | None:
        """The function that an atom is: one of the table whose name is not reserved, and that no predicate has."""
        is_function = atom.name in FUNCTIONS or atom.name in DATA_FUNCTIONS
        is_free = atom.name not in RESERVED_FUNCTIONS and atom.name not in self.names.symbols
        if not (is_function and is_free and atom.arguments):
            return None
        takes_text = atom.name in NEIGHBOURS or (atom.name in DATA_FUNCTIONS and DATA_FUNCTIONS[atom.name].takes_text)
        arguments = atom.arguments if takes_text else tuple(map(self._number, atom.arguments))
        return n.Call(cast("c.FunctionName", atom.name), arguments, atom.span)

    def _number(self, node: n.Node) -> n.Node:
        """An argument of a function: a bare name, which is a constant elsewhere, is a number here."""
        if not isinstance(node, n.Text) or self.errors.source.text[node.span.start : node.span.start + 1] in ('"', "'"):
            return node
        return n.Atom(node.value, (), node.span, node.span)

    def check_call(self, node: n.Call) -> bool:
        """Whether a function has a right number of arguments; if not, that is noted."""
        function, given = FUNCTIONS.get(node.function) or DATA_FUNCTIONS[node.function], len(node.arguments)
        if function.fewest <= given and (function.most is None or given <= function.most):
            return True
        is_over_query = node.function in FUNCTIONS and FUNCTIONS[node.function].is_over_query
        hint = f"Over a query it is written: {node.function}{{X in ..}} ..." if is_over_query else ""
        if function.most is None:
            self.error(KindError, node, f"{node.function}(..) has {function.fewest} or more arguments", hint)
        else:
            wanted = "1 argument" if function.most == 1 else f"{function.most} arguments"
            hint = f"It is written: {function.written}" if function.most > 1 else ""
            self.error(KindError, node, f"{node.function} has {wanted}, not {given}", hint)
        return False

    # --- definitions -------------------------------------------------------------------------------------------------

    def enter(self, atom: n.Atom, symbol: Symbol, bound: Bound) -> Bound | None:
        """What the variables of a definition stand for in this use, or None if it uses itself.

        To be followed by `leave`.
        """
        if atom.name in self._inlining:
            cycle = [*self._inlining[self._inlining.index(atom.name) :], atom.name]
            self.errors.add(
                StratificationError, atom.name_span, f"the definition {atom.name} uses itself: {' -> '.join(cycle)}",
                "Only rules may be recursive.",
            )  # fmt: skip
            return None
        self.count(atom)
        if atom.name in self.names.too_large:
            raise TooLargeError(atom.span)
        head = self.names.definitions[atom.name].head
        inside: Bound = {}
        for parameter, argument in zip(head.arguments, atom.arguments, strict=True):
            value = self.data(argument, bound, may_be_text=True)
            if isinstance(parameter, n.LogicName):
                inside[parameter.name] = value
        self._inlining.append(atom.name)
        return inside

    def leave(self) -> None:
        """Say that the body of the definition that was entered last is done."""
        self._inlining.pop()

    def enter_body_of(self, name: str) -> None:
        """Say that what follows is the body of a definition, so that a use of itself is noticed."""
        self._inlining.append(name)

    def count(self, node: n.Node) -> None:
        """Count what the statement grows to, and stop it when it is too much."""
        self._n_terms += 1
        if self._n_terms == _MOST_TERMS:
            raise TooLargeError(node.span)

    def has_unknown(self, node: n.Node | None) -> bool:
        """Whether an expression has a variable in it, through definitions too; queries are not looked at."""
        match node:
            case n.Atom() if (call := self.as_call(node)) is not None:
                return self.has_unknown(call)
            case n.Atom():
                symbol = self.names.symbols.get(node.name)
                if symbol is None or symbol.kind != "definition":
                    return symbol is not None and symbol.kind == "variable"
                if node.name not in self._unknown_in_definition:
                    self._unknown_in_definition[node.name] = False  # for definitions that use themselves
                    body = self.names.definitions[node.name].body
                    self._unknown_in_definition[node.name] = self.has_unknown(body)
                return self._unknown_in_definition[node.name]
            case n.Minus():
                return self.has_unknown(node.part)
            case n.Sum():
                return any(self.has_unknown(part) for part in node.parts)
            case n.Binary():
                return self.has_unknown(node.left) or self.has_unknown(node.right)
            case n.Call():
                return any(self.has_unknown(argument) for argument in node.arguments)
            case n.Indexed():
                return any(self.has_unknown(part) for part in (node.body, *node.others))
            case n.Piecewise():
                return self.has_unknown(node.body)
            case _:
                return False


@final
class TooLargeError(Exception):
    """A statement has too many terms; internal to the checker.

    Parameters
    ----------
    span
        Where the limit was reached.
    """

    def __init__(self, span: Span) -> None:
        super().__init__(span)
        self.span = span


def logic_names(node: n.Node) -> dict[str, None]:
    """The logic variables of a formula in order, without those that occur only in its aggregates and brackets."""
    match node:
        case n.LogicName():
            return {node.name: None}
        case n.Atom() | n.Call():
            parts = node.arguments
        case n.Sum() | n.Compare() | n.Both() | n.Either():
            parts = node.parts
        case n.Binary():
            parts = (node.left, node.right)
        case n.Minus() | n.Negated():
            parts = (node.part,)
        case n.Range():
            parts = (node.first, node.last) if node.variable is None else (node.variable, node.first, node.last)
        case n.Piecewise():
            parts = (node.body,)
        case _:
            return {}
    return {name: None for part in parts for name in logic_names(part)}


def slopes_of(node: n.Piecewise) -> list[float]:
    """The slopes between the points of a piecewise linear function.

    Examples
    --------
    >>> zero, ten, five = map(n.Number, ("0", "10", "5"))
    >>> slopes_of(n.Piecewise(n.LogicName("X"), ((zero, zero), (ten, five))))
    [0.5]
    """
    pairs = pairwise((x.value, y.value) for x, y in node.points)
    exact = [
        (Fraction(str(y2)) - Fraction(str(y1))) / (Fraction(str(x2)) - Fraction(str(x1)))
        for (x1, y1), (x2, y2) in pairs
    ]
    return [float(slope) for slope in exact]


def _conjunction(parts: list[c.Formula]) -> c.Formula:
    flat = dict.fromkeys(q for p in parts for q in (p.parts if isinstance(p, c.And) else (p,)))
    flat.pop(c.TrueFormula(), None)
    if not flat:
        return c.TrueFormula()
    return next(iter(flat)) if len(flat) == 1 else c.And(tuple(flat))


def negative(part: c.DataExpression) -> c.DataExpression:
    """The data expression with the other sign.

    Examples
    --------
    >>> negative(c.Constant(2)), negative(c.Negative(c.LogicVariable("X")))
    (Constant(value=-2), LogicVariable(name='X'))
    """
    match part:
        case c.Constant(value=int() | float()):
            return c.Constant(-part.value)  # type: ignore[operator]
        case c.Negative():
            return part.part
        case _:
            return c.Negative(part)
