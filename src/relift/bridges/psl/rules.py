"""The rules of PSL, read into rules of the language: logical and arithmetic, weighted and hard, with filters.

PSL has no end of a rule but the beginning of the next one, identifiers that are variables whatever their case,
quoted constants, and names of predicates in which case does not count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, final

from relift.errors import LanguageError, ModelSyntaxError
from relift.language.messages import at
from relift.language.syntax import nodes as n
from relift.language.syntax.source import Source, Span

_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|\#[^\n]*|/\*.*?\*/)
      | (?P<number>\d+(\.\d+)?([eE][+-]?\d+)?)
      | (?P<name>[A-Za-z_$][\w$]*)
      | (?P<text>'[^'\n]*'|"[^"\n]*")
      | (?P<word>@[A-Za-z]+)
      | (?P<sign>>>|->|<<|<-|<=|>=|!=|==|&&|\|\||[-=&|~!(){}\[\],:.^%+*/])""",
    re.VERBOSE | re.DOTALL,
)
_SIGNS = {"==": "=", "!=": "!=", "-": "!=", "%": "<", "^": "<"}
"""Comparisons of terms; ``%`` and ``^`` keep one of each pair."""


@final
@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    span: Span


PredicateNames = Callable[[str, int], "tuple[str, tuple[str, ...]] | str"]
"""From a name in PSL and a number of arguments to the name in the language and the types of its arguments, or to a
sentence that says what is wrong with it."""


def rules_from_text(source: Source, resolve: PredicateNames, starts: Sequence[int] = ()) -> list[n.SoftRule]:
    r"""Read all rules of a text.

    Parameters
    ----------
    source
        The text.
    resolve
        What predicates are called in the language; types are ``"int"`` or ``"text"``.
    starts
        Where in the text each rule begins; without them a rule ends where the next one must have begun.

    Raises
    ------
    ModelSyntaxError
        If the text does not follow PSL's grammar.

    Examples
    --------
    >>> from relift.language.syntax.printer import print_statement
    >>> names = lambda name, arity: (name.lower(), ("text",) * arity)
    >>> for rule in rules_from_text(Source("2: Near(a, B) & (a - B) >> Good(B) ^2\nGood(+A) <= 3 ."), names):
    ...     print(print_statement(rule))
    rule 2: near(Va, B) & Va != B -> good(B) ^2;
    rule good(+A) <= 3 .;
    """
    if not starts:
        return list(_Reader(source, resolve, 0, len(source.text)).rules())
    rules = []
    for start, stop in zip(starts, [*starts[1:], len(source.text)], strict=True):
        reader = _Reader(source, resolve, start, stop)
        if reader.now.kind != "end":
            rules.append(reader.rule())
            if reader.now.kind != "end":
                raise reader.unexpected("The rule is complete before it.")
    return rules


class _Reader:
    """Reads rules from left to right, with a step back where a rule turns out to be arithmetic."""

    def __init__(self, source: Source, resolve: PredicateNames, start: int, stop: int) -> None:
        self.source, self.resolve, self.start, self.stop = source, resolve, start, stop
        self.tokens = list(self._tokens())
        self.place = 0
        self.types: dict[str, str] = {}

    def _tokens(self) -> Iterator[_Token]:
        text, position = self.source.text, self.start
        while position < self.stop:
            match = _TOKEN.match(text, position, self.stop)
            if match is None:
                raise self.error(Span(position, position + 1), f"the character {text[position]} has no meaning here")
            position = match.end()
            if match.lastgroup != "skip":
                kind = "name" if match["name"] else "number" if match["number"] else "text" if match["text"] else "sign"
                yield _Token(kind, match[0], Span(match.start(), match.end()))
        yield _Token("end", "the end", Span(self.stop, self.stop + 1))

    def error(self, span: Span, message: str, hint: str = "") -> LanguageError:
        return at(ModelSyntaxError, self.source, span, message, hint)

    # --- tokens -----------------------------------------------------------------------------------------------------

    @property
    def now(self) -> _Token:
        return self.tokens[self.place]

    def after(self, steps: int = 1) -> _Token:
        return self.tokens[min(self.place + steps, len(self.tokens) - 1)]

    def take(self) -> _Token:
        token = self.now
        self.place = min(self.place + 1, len(self.tokens) - 1)
        return token

    def has(self, *texts: str) -> bool:
        return self.now.kind == "sign" and self.now.text in texts

    def skip(self, *texts: str) -> bool:
        if self.has(*texts):
            self.take()
            return True
        return False

    def need(self, text: str, what: str) -> _Token:
        if not self.has(text):
            raise self.unexpected(f"Expected '{text}' {what}.")
        return self.take()

    def unexpected(self, hint: str) -> LanguageError:
        shown = self.now.text if self.now.kind == "end" else f"'{self.now.text}'"
        return self.error(self.now.span, f"unexpected {shown}", hint)

    # --- rules ------------------------------------------------------------------------------------------------------

    def rules(self) -> Iterator[n.SoftRule]:
        while self.now.kind != "end":
            yield self.rule()

    def rule(self) -> n.SoftRule:
        start, self.types = self.now.span, {}
        weight: n.Node | None = None
        if self.now.kind == "number" and self.after().text == ":":
            number = self.take()
            weight = n.Number(number.text, number.span)
            self.take()
        place = self.place
        self.body()
        self.place = place  # again, now that the types of all variables are known
        body = self.body()
        power = self.exponent()
        is_hard = self.skip(".")
        filters = []
        while self.has("{"):
            filters.append(self.filter())
        rule = n.SoftRule(weight, body, power, is_hard, tuple(filters), start.to(self.tokens[self.place - 1].span))
        if weight is None and not is_hard:
            raise self.error(rule.span, "this rule has neither a weight nor a full stop at its end")
        return rule

    def exponent(self) -> Literal[1, 2]:
        if not self.skip("^"):
            return 1
        number = self.take()
        if number.text not in ("1", "2"):
            raise self.error(number.span, "the exponent of a rule is 1 or 2")
        return 2 if number.text == "2" else 1

    def filter(self) -> n.Filter:
        start = self.need("{", "before a filter").span
        name = self.take()
        if name.kind != "name":
            raise self.error(name.span, "a filter begins with a variable", "As in: {B: Person(B)}")
        self.need(":", "behind the variable of a filter")
        formula = self.formula()
        end = self.need("}", "at the end of a filter").span
        return n.Filter(n.LogicName(_variable(name.text), span=name.span), formula, start.to(end))

    def body(self) -> n.Node:
        """A clause or implication, or, if that leads to nothing, a comparison of sums."""
        place = self.place
        try:
            found = self.logical()
            if not self.has("<=", ">=", "=", "+", "-", "*", "/"):
                return found
        except LanguageError:
            if not self._has_comparison(place):
                raise
        self.place = place
        return self.arithmetic()

    def _has_comparison(self, place: int) -> bool:
        """Whether a comparison of numbers comes before the rule ends, so that it is meant as an arithmetic one."""
        for token in self.tokens[place:]:
            if token.text in ("<=", ">=", "=") and token.kind == "sign":
                return True
            if token.text in ("->", ">>", "<<", "<-", ".") or token.kind == "end":
                return False
        return False

    # --- logical ----------------------------------------------------------------------------------------------------

    def logical(self) -> n.Node:
        first = self.formula()
        if self.skip("->", ">>"):
            second = self.formula()
            return n.Implies(first, second, first.span.to(second.span))
        if self.skip("<-", "<<"):
            second = self.formula()
            return n.Implies(second, first, first.span.to(second.span))
        return first

    def formula(self) -> n.Node:
        """``a & b``, ``a | b``: and binds tighter than or, as in filters."""
        parts = [self.conjunction()]
        while self.skip("|", "||"):
            parts.append(self.conjunction())
        return parts[0] if len(parts) == 1 else n.Either(tuple(parts), parts[0].span.to(parts[-1].span))

    def conjunction(self) -> n.Node:
        parts = [self.literal()]
        while self.skip("&", "&&"):
            parts.append(self.literal())
        return parts[0] if len(parts) == 1 else n.Both(tuple(parts), parts[0].span.to(parts[-1].span))

    def literal(self) -> n.Node:
        if self.has("~", "!"):
            start = self.take().span
            part = self.literal()
            return n.Negated(part, start.to(part.span))
        if self.has("("):
            start = self.take().span
            inside = self.formula()
            end = self.need(")", "to close the parenthesis").span
            return replace(inside, span=start.to(end))
        if self.now.kind == "name" and self.after().text == "(":
            return self.atom()
        if self.now.kind in ("name", "text", "number"):
            return self.comparison()
        raise self.unexpected("Expected an atom, as in: Knows(A, B)")

    def comparison(self) -> n.Compare:
        left = self.take()
        if not self.has(*_SIGNS):
            raise self.unexpected("Expected an atom, as in: Knows(A, B), or a comparison of variables, as in: A != B")
        sign = _SIGNS[self.take().text]
        right = self.take()
        if right.kind not in ("name", "text", "number"):
            raise self.error(right.span, "a variable or a quoted constant is expected here")
        kinds = {self.types.get(t.text, "") for t in (left, right) if t.kind == "name"}
        parts = tuple(self.term(t, "int" if "int" in kinds else "text") for t in (left, right))
        return n.Compare(parts, (sign,), left.span.to(right.span))

    def atom(self) -> n.Atom:
        name = self.take()
        self.take()
        arguments: list[tuple[_Token, bool]] = []
        while not self.has(")"):
            if arguments:
                self.need(",", "between arguments")
            is_summed = self.skip("+")
            token = self.take()
            if token.kind not in ("name", "text", "number"):
                raise self.error(token.span, "a variable or a quoted constant is expected here")
            arguments.append((token, is_summed))
        end = self.take().span
        found = self.resolve(name.text, len(arguments))
        if isinstance(found, str):
            raise self.error(name.span, found)
        own, types = found
        for (token, _), kind in zip(arguments, types, strict=True):
            if token.kind == "name":
                self.types.setdefault(token.text, kind)
        terms = [self.term(t, kind, summed) for (t, summed), kind in zip(arguments, types, strict=True)]
        return n.Atom(own, tuple(terms), name.span, name.span.to(end))

    def term(self, token: _Token, kind: str, is_summed: bool = False) -> n.Node:
        if token.kind == "name":
            return n.LogicName(_variable(token.text), is_summed, token.span)
        text = token.text[1:-1] if token.kind == "text" else token.text
        if kind == "int":
            if not re.fullmatch(r"[+-]?\d+", text):
                raise self.error(token.span, f"{text} is not a whole number, and this argument is one")
            return n.Number(str(int(text)), token.span)
        return n.Text(text, token.span)

    # --- arithmetic -------------------------------------------------------------------------------------------------

    def arithmetic(self) -> n.Node:
        left = self.sum()
        if not self.has("<=", ">=", "="):
            raise self.unexpected("Expected <=, >= or = in an arithmetic rule, or an arrow in a logical one.")
        sign = self.take().text
        right = self.sum()
        return n.Compare((left, right), (sign,), left.span.to(right.span))

    def sum(self) -> n.Node:
        parts, signs = [self.product()], []
        while self.has("+", "-"):
            signs.append(self.take().text)
            parts.append(self.product())
        return parts[0] if len(parts) == 1 else n.Sum(tuple(parts), tuple(signs), parts[0].span.to(parts[-1].span))

    def product(self) -> n.Node:
        left = self.factor()
        while True:
            if self.has("*", "/"):
                sign = self.take().text
            elif self._follows_in_its_line() and not _has_atom(left):
                sign = "*"  # 2 Friends(A, B)
            else:
                return left
            right = self.factor()
            left = n.Binary(sign, left, right, left.span.to(right.span))  # type: ignore[arg-type]

    def _follows_in_its_line(self) -> bool:
        """Whether an atom follows that is not the beginning of the next rule."""
        between = self.source.text[self.tokens[self.place - 1].span.stop : self.now.span.start]
        return self.now.kind == "name" and self.after().text == "(" and "\n" not in between

    def factor(self) -> n.Node:
        token = self.now
        if self.has("-"):
            start = self.take().span
            part = self.factor()
            return n.Minus(part, start.to(part.span))
        if token.kind == "number":
            self.take()
            return n.Number(token.text, token.span)
        if self.has("("):
            start = self.take().span
            inside = self.sum()
            return replace(inside, span=start.to(self.need(")", "to close the parenthesis").span))
        if self.has("|"):
            self.take()
            name = self.take()
            end = self.need("|", "to close the count of a variable").span
            return n.Cardinality(_variable(name.text), token.span.to(end))
        if token.text.lower() in ("@max", "@min"):
            return self.extreme()
        if token.kind == "name" and self.after().text == "(":
            return self.atom()
        raise self.unexpected("Expected a number, |A| or an atom.")

    def extreme(self) -> n.Node:
        start = self.take()
        closing = "]" if self.skip("[") else ")"
        if closing == ")":
            self.need("(", f"behind {start.text}")
        first = self.sum()
        self.need(",", "between the two arguments")
        second = self.sum()
        end = self.need(closing, "at the end").span
        return n.Call("max" if start.text.lower() == "@max" else "min", (first, second), start.span.to(end))


def _has_atom(node: n.Node) -> bool:
    match node:
        case n.Atom():
            return True
        case n.Binary():
            return _has_atom(node.left) or _has_atom(node.right)
        case n.Minus():
            return _has_atom(node.part)
        case n.Sum():
            return any(map(_has_atom, node.parts))
        case _:
            return False


def _variable(name: str) -> str:
    """The name of a variable, which begins with an upper-case letter in the language."""
    plain = name.replace("$", "_")
    return plain if re.match(r"[A-Z]", plain) else f"V{plain}"
