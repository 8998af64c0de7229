"""Which names a model declares, and what kind of thing each of them is.

A predicate is its name: ``edge/2`` and ``edge/3`` cannot both exist, and a name that is not declared is an error.

============  =======================================================  =================
kind          comes from                                               stands for
============  =======================================================  =================
relation      ``relation p/2``                                         true or false
derived       ``p(X) if ..``, or ``p(X) = formula``                    true or false
param         ``param c/1``                                            a number, by data
variable      ``var x(I) in ..``                                       an unknown number
definition    ``def f(I) = number``                                    what it is short for
============  =======================================================  =================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, final

from relift.errors import ArityError, DuplicateNameError, KindError, LanguageError, SafetyError, UnknownNameError
from relift.language.messages import at, did_you_mean
from relift.language.syntax import nodes as n
from relift.language.syntax.source import Source, Span

Kind: TypeAlias = Literal["relation", "derived", "param", "variable", "definition"]
KnownSign: TypeAlias = Literal["zero", "nonnegative", "nonpositive", "unknown"]
"""What the text alone says about the sign of a number."""


@final
@dataclass(frozen=True, slots=True)
class Symbol:
    """What a name stands for."""

    name: str
    kind: Kind
    arity: int
    span: Span
    has_default: bool = False


@final
class ErrorList:
    """Errors collected so far, at most one for each place.

    Parameters
    ----------
    source
        The text that spans point into.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.found: dict[tuple[Span, type], LanguageError] = {}
        self.n_added = 0

    def add(self, kind: type[LanguageError], span: Span, message: str, hint: str = "") -> None:
        """Note an error; one that is known already is only counted."""
        self.n_added += 1
        self.found.setdefault((span, kind), at(kind, self.source, span, message, hint))

    def line(self, span: Span) -> int:
        """The line of a place, for "first declared in line 3"."""
        return self.source.place(span.start)[0]

    def in_order(self) -> list[LanguageError]:
        """All errors in the order of the text."""
        return [error for _, error in sorted(self.found.items(), key=lambda item: item[0][0].start)]


@final
@dataclass
class Names:
    """Everything that a model declares, sorted by kind.

    Parameters
    ----------
    symbols
        What each name stands for.
    rules
        Head and body of every rule, also those written as ``p(X) = formula``, with its span.
    definitions
        The numeric definitions by name.
    values
        ``c(a) = 5`` for a declared param: data.
    too_large
        Definitions that were found to be too large or too deep to be inlined.
    signs
        Signs of variables, where their declared bounds show them.
    variables
        The declarations of the variables.
    ordered
        Relations that are declared as ordered.
    ranges
        Positions in `rules` of those that are ranges of a table.
    formula_params
        Params that are given by a formula: definitions without unknowns.
    asked_domains
        Variables whose tuples some query asks for.
    """

    symbols: dict[str, Symbol] = field(default_factory=dict)
    rules: list[tuple[n.Atom, n.Node, Span]] = field(default_factory=list)
    definitions: dict[str, n.Definition] = field(default_factory=dict)
    values: list[n.Definition] = field(default_factory=list)
    too_large: set[str] = field(default_factory=set)
    signs: dict[str, KnownSign] = field(default_factory=dict)
    variables: dict[str, n.VariableItem] = field(default_factory=dict)
    ordered: list[str] = field(default_factory=list)
    ranges: set[int] = field(default_factory=set)
    formula_params: set[str] = field(default_factory=set)
    asked_domains: set[str] = field(default_factory=set)


def collect_names(model: n.ModelText, errors: ErrorList) -> Names:
    """Read all declarations; what contradicts them goes to `errors`."""
    names = Names()
    for s in model.statements:
        match s:
            case n.Relations():
                for relation in s.items:
                    _declare(names, errors, Symbol(relation.name, "relation", relation.arity, relation.span))
                    names.ordered += [relation.name] if relation.is_ordered else []
            case n.Params():
                for p in s.items:
                    if p.formula is not None:
                        head = n.Atom(p.name, p.parameters, p.span, p.span)
                        _add_definition(names, errors, n.Definition(head, p.formula, True, p.span))
                        names.formula_params.add(p.name)
                        continue
                    _declare(names, errors, Symbol(p.name, "param", p.arity, p.span, p.default is not None))
            case n.Variables():
                for variable in s.items:
                    _declare(names, errors, Symbol(variable.name, "variable", variable.arity, variable.span))
                    names.signs[variable.name] = _sign_by_bounds(variable.bounds)
                    names.variables.setdefault(variable.name, variable)
            case _:
                pass
    definitions = dict[str, list[n.Definition]]()
    for s in model.statements:
        if isinstance(s, n.RuleStatement):
            _add_rule(names, errors, s.head, s.body, s.span)
        elif isinstance(s, n.Table):
            _add_ranges(names, errors, s)
        elif isinstance(s, n.Definition):
            definitions.setdefault(s.head.name, []).append(s)
    _sort_definitions(names, errors, definitions)
    return names


def _add_ranges(names: Names, errors: ErrorList, table: n.Table) -> None:
    """Rules for the entries of a table that are ranges with a param in them."""
    symbol = names.symbols.get(table.name)
    for entry in table.entries:
        if entry.computed is not None and symbol is not None and symbol.kind in ("relation", "derived"):
            variable = n.LogicName("I", span=entry.span)
            head = n.Atom(table.name, (variable,), table.name_span, entry.span)
            names.ranges.add(len(names.rules))
            _add_rule(names, errors, head, n.Range(variable, *entry.computed, entry.span), entry.span)


def _sign_by_bounds(bounds: tuple[n.Bound, ...]) -> KnownSign:
    """The sign of a variable that is bounded by a number."""
    for bound in bounds:
        limit = bound.limit.part if isinstance(bound.limit, n.Minus) else bound.limit
        if isinstance(limit, n.Number):
            value = -limit.value if isinstance(bound.limit, n.Minus) else limit.value
            if bound.sign in (">=", "=") and value >= 0:
                return "nonnegative"
            if bound.sign in ("<=", "=") and value <= 0:
                return "nonpositive"
    return "unknown"


def _declare(names: Names, errors: ErrorList, symbol: Symbol) -> None:
    first = names.symbols.get(symbol.name)
    if first is not None:
        errors.add(
            DuplicateNameError,
            symbol.span,
            f"{symbol.name} is declared twice",
            f"It is declared as a {first.kind} in line {errors.line(first.span)}; a predicate is its name.",
        )
        return
    names.symbols[symbol.name] = symbol


def _add_rule(names: Names, errors: ErrorList, head: n.Atom, body: n.Node, span: Span) -> None:
    symbol = names.symbols.get(head.name)
    if symbol is None:
        names.symbols[head.name] = Symbol(head.name, "derived", len(head.arguments), head.name_span)
    elif symbol.kind in ("param", "variable", "definition"):
        errors.add(
            KindError,
            head.name_span,
            f"{head.name} is a {symbol.kind}, so no rule can define it",
            f"It is declared in line {errors.line(symbol.span)}; a rule defines something that is true or false.",
        )
        return
    elif not has_right_arity(symbol, head, errors, names):
        return
    names.rules.append((head, body, span))


def _sort_definitions(names: Names, errors: ErrorList, definitions: dict[str, list[n.Definition]]) -> None:
    """Tell rules, numeric definitions and values of params apart."""
    being_found = set[str]()
    known = dict[str, bool]()

    def is_formula(node: n.Node) -> bool:
        if isinstance(node, n.Atom):
            symbol = names.symbols.get(node.name)
            return symbol.kind in ("relation", "derived") if symbol else makes_rule(node.name)
        return isinstance(node, (n.Both, n.Either, n.Negated, n.Compare, n.Truth))

    def makes_rule(name: str) -> bool:
        if name not in definitions or name in being_found:
            return False
        if name not in known:
            being_found.add(name)
            known[name] = any(is_formula(d.body) for d in definitions[name])
            being_found.discard(name)
        return known[name]

    sorted_out = {name: makes_rule(name) for name in definitions}
    for name, group in definitions.items():
        symbol = names.symbols.get(name)
        for definition in group:
            if symbol is not None and symbol.kind == "param":
                names.values.append(definition)
            elif symbol is not None and symbol.kind == "variable":
                errors.add(
                    KindError,
                    definition.head.name_span,
                    f"{name} is a variable, so it cannot be defined",
                    f"To fix its value, write: subject to: {shown(definition.head)} = ..;",
                )
            elif sorted_out[name] or (symbol is not None and symbol.kind in ("relation", "derived")):
                _add_rule(names, errors, definition.head, definition.body, definition.span)
            else:
                _add_definition(names, errors, definition)


def _add_definition(names: Names, errors: ErrorList, definition: n.Definition) -> None:
    head = definition.head
    first = names.symbols.get(head.name)
    if first is not None:
        errors.add(
            DuplicateNameError,
            head.name_span,
            f"{head.name} is defined twice",
            f"The first definition is in line {errors.line(first.span)}; only rules may be several.",
        )
        return
    names.symbols[head.name] = Symbol(head.name, "definition", len(head.arguments), head.name_span)
    names.definitions[head.name] = definition
    seen = set[str]()
    for argument in head.arguments:
        if not isinstance(argument, n.LogicName) or argument.name in seen:
            errors.add(
                SafetyError,
                argument.span,
                f"the arguments of the definition {head.name} are different logic variables",
                "Write upper-case letters, as in: def f(I, J) = ...;",
            )
        else:
            seen.add(argument.name)


def domain_of(variable: str) -> str:
    """The predicate of all tuples of a variable, observed ones too; no name of the language has a dot."""
    return f"{variable}.domain"


def shown(atom: n.Atom) -> str:
    """An atom in a hint: its name, and whether it has arguments."""
    return f"{atom.name}(..)" if atom.arguments else atom.name


def has_right_arity(symbol: Symbol, atom: n.Atom, errors: ErrorList, names: Names) -> bool:
    """Whether an atom has as many arguments as its name was declared with; if not, that is noted."""
    if len(atom.arguments) == symbol.arity:
        return True
    wanted = "no arguments" if symbol.arity == 0 else "1 argument" if symbol.arity == 1 else f"{symbol.arity} arguments"
    others = [s.name for s in names.symbols.values() if s.arity == len(atom.arguments) and s.name != atom.name]
    hint = f"It is declared in line {errors.line(symbol.span)} as {symbol.name}/{symbol.arity}."
    hint = f"{hint} {did_you_mean(atom.name, others)}".strip()
    errors.add(ArityError, atom.span, f"{symbol.name} has {wanted}, not {len(atom.arguments)}", hint)
    return False


def find(
    names: Names,
    atom: n.Atom,
    errors: ErrorList,
    fits: Callable[[Symbol], bool] = lambda symbol: True,
    otherwise: str = "",
) -> Symbol | None:
    """What the name of an atom stands for, or None after noting that it is unknown or has a wrong number of arguments.

    Parameters
    ----------
    names, atom, errors
        Where to look, for what, and where to note errors.
    fits
        Which names would make sense here; these are suggested first.
    otherwise
        What to do if no known name is near.
    """
    symbol = names.symbols.get(atom.name)
    if symbol is None:
        known = [s for s in names.symbols.values() if fits(s)]
        same_arity = [s.name for s in known if s.arity == len(atom.arguments)]
        hint = did_you_mean(atom.name, same_arity) or did_you_mean(atom.name, [s.name for s in known])
        hint = hint or did_you_mean(atom.name, names.symbols) or otherwise
        if not hint and atom.arguments:
            hint = f"Declare it, or define it: def {atom.name}(..) = ..;"
        elif not hint and atom.name in {"inf", "infinity"}:
            hint = "Leave a bound out where there is none; numbers are finite."
        elif not hint:
            hint = f'Declare it, or write "{atom.name}" in quotes if it is a constant.'
        errors.add(UnknownNameError, atom.name_span, f"{atom.name} is not declared", hint)
        return None
    return symbol if has_right_arity(symbol, atom, errors, names) else None
