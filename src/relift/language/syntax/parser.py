"""From text to nodes, by the LALR table of the grammar in ``grammar.lark``.

>>> model = parse_text("param c = 2; minimize: c*x; var x >= 1;")
>>> [type(statement).__name__ for statement in model.statements]
['Params', 'ObjectiveStatement', 'Variables']
"""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, cast

from relift.errors import EncodingError, LanguageError, ModelSyntaxError
from relift.language.checked_model import FileSource
from relift.language.functions import OVER_QUERIES
from relift.language.messages import at, listed, raise_all
from relift.language.syntax import nodes as n
from relift.language.syntax.comments import comments_from_text
from relift.language.syntax.grammar_table import grammar_table
from relift.language.syntax.lalr import Children, Table, Token, UnexpectedCharacterError, UnexpectedTokenError
from relift.language.syntax.source import Source, Span
from relift.language.syntax.syntax_errors import SKIPPED, bad_character, bad_token, word_of_wrong_case
from relift.language.syntax.variable_items import MisreadError, arity_of, variable_item
from relift.read_bytes import read_bytes

_MOST_ERRORS = 20


def parse_text(text: str, name: str = "<model>") -> n.ModelText:
    """Read a model text.

    Parameters
    ----------
    text
        The model.
    name
        How messages call it, mostly a file name.

    Raises
    ------
    LanguageError
        If it does not follow the grammar; `SeveralErrors` if at several places.

    Examples
    --------
    >>> parse_text("query := {q1, q2")
    Traceback (most recent call last):
    relift.errors.ModelSyntaxError: the text ends in the middle of a statement
      <model>:1:17
        1 | query := {q1, q2
          |                 ^
    Expected ':', ',' or '}'.
    """
    model, errors, _ = read(Source(text, name))
    raise_all(errors)
    return model


def parse_file(path: str | Path) -> n.ModelText:
    """Read a model file, which is UTF-8 text.

    Raises
    ------
    LanguageError
        If it is not UTF-8 or does not follow the grammar.
    """
    return parse_text(decode(read_bytes(path), str(path)), str(path))


def decode(content: bytes, name: str = "<model>") -> str:
    r"""The text of a file; a byte order mark is dropped, and lines end in ``\n``.

    Examples
    --------
    >>> decode(b"var x;\n# caf\xe9", "old.rlp")
    Traceback (most recent call last):
    relift.errors.EncodingError: old.rlp is not UTF-8 text: byte 0xe9 at offset 12, in line 2
    Save it as UTF-8, for example with: iconv -f latin1 -t utf-8 old.rlp
    """
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise EncodingError(f"{name} is not UTF-8 text: it begins like UTF-16", "Save it as UTF-8.", name, 1, 1)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        offset = error.start + (3 if content.startswith(b"\xef\xbb\xbf") else 0)
        line = content.count(b"\n", 0, offset) + 1
        column = offset - (content.rfind(b"\n", 0, offset) + 1) + 1
        raise EncodingError(
            f"{name} is not UTF-8 text: byte 0x{content[offset]:02x} at offset {offset}, in line {line}",
            f"Save it as UTF-8, for example with: iconv -f latin1 -t utf-8 {name}",
            name,
            line,
            column,
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read(source: Source) -> tuple[n.ModelText, list[LanguageError], bool]:
    """Read a text as far as possible.

    Returns
    -------
    model
        The statements, if all could be read.
    errors
        What is wrong, in the order of the text.
    is_whole
        Whether every statement was read all the same: nothing but semicolons was missing.
    """
    text, errors, is_whole = source.text, list[LanguageError](), True
    table, makers = _table(), _ToNodes()
    told = set[str]()  # words that begin with a letter of the wrong size: each is told once
    while True:
        try:
            children = cast("Children", table.parse(text, makers))
            break
        except UnexpectedCharacterError as problem:
            place, is_missing_end = problem.place, False
            errors.append(bad_character(source, place))
        except UnexpectedTokenError as problem:
            kind, span = problem.token.kind, _span(problem.token)
            error, place, is_missing_end = bad_token(source, text, kind, span, problem.accepted, table.patterns)
            word = word_of_wrong_case(text, span, error.message)
            if word not in told:
                errors.append(error)
            told |= {word} - {""}
        except MisreadError as problem:
            word = word_of_wrong_case(text, problem.span, problem.message)
            if word not in told:
                errors.append(at(ModelSyntaxError, source, problem.span, problem.message, problem.hint))
            told |= {word} - {""}
            place, is_missing_end = problem.span.stop, False  # behind a ';' that is part of it
        if is_missing_end:
            text = f"{text[:place]};{text[place + 1 :]}"  # in place of a blank
        else:
            text, is_whole = _behind_statement(text, place), False
        if len(errors) == _MOST_ERRORS:
            return n.ModelText((), (), source), errors, False
    if not is_whole:
        return n.ModelText((), (), source), errors, False
    statements, ends = tuple(children[0::2]), [token.end_pos for token in children[1::2]]
    comments = comments_from_text(source.text, [s.span for s in statements], ends)
    return n.ModelText(statements, comments, source), errors, True


# --- from the rules of the grammar to nodes --------------------------------------------------------------------------


def _span(child: Token | n.Node) -> Span:
    if isinstance(child, Token):
        return Span(child.start_pos, child.end_pos)
    return child.span


def _over(children: Children) -> Span:
    present = [c for c in children if c is not None]
    return _span(present[0]).to(_span(present[-1]))


def _number(token: Token, sign: Token | None = None) -> n.Number:
    span = _over([sign, token])
    number = n.Number(("-" if sign == "-" else "") + str(token), span)
    if not number.is_finite:
        raise MisreadError(f"the number {token} is too large", span, "Numbers are doubles, up to about 1.8e308.")
    return number


def _arity(token: Token | None) -> int:
    return 0 if token is None else arity_of(str(token), _span(token))


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'"}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")


def _string(token: Token) -> str:
    def plain(match: re.Match[str]) -> str:
        code = match[1]
        if len(code) == 5:
            character = chr(int(code[1:], 16))
            if not "\ud800" <= character <= "\udfff":
                return character
        elif code in _ESCAPES:
            return _ESCAPES[code]
        start = token.start_pos
        place = Span(start + 1 + match.start(), start + 1 + match.end())
        raise MisreadError(
            f"the string has an unknown escape {match[0]}", place, r"Known: \n \t \r \\ \" \' and \u with four digits."
        )

    return _ESCAPE.sub(plain, str(token)[1:-1])


def _argument(node: n.Node) -> n.Node:
    if isinstance(node, n.Atom) and not node.arguments and node.span == node.name_span:
        return n.Text(node.name, node.span)
    return node


Listed: TypeAlias = tuple[tuple[n.LogicName, ...], n.Node]
"""The variables of an index, and where they are from."""

Point: TypeAlias = tuple[n.Number, n.Number]
"""Where a piecewise linear function has a kink, and its value there."""


class _ToNodes:
    """One method for each rule; children are nodes and the tokens that the grammar names."""

    def program(self, c: Children) -> Children:
        return c

    def relations(self, c: Children) -> n.Relations:
        return n.Relations(tuple(c[1:]), _over(c))

    def relation(self, c: Children) -> n.RelationItem:
        name, arity, ordered, source = c
        if ordered is not None and arity != "1":
            hint = "Order a relation of one argument, and join it with the others."
            raise MisreadError("only a relation with one argument can be ordered", _span(name), hint)
        return n.RelationItem(str(name), _arity(arity), source, ordered is not None, _span(name))

    def source(self, c: Children) -> str | FileSource:
        options = dict(option for option in c[1:] if option is not None)
        if not options:
            return _string(c[0])
        return FileSource(_string(c[0]), options.get("header"), options.get("pattern", False))

    def option(self, c: Children) -> tuple[str, bool]:
        name, value = c
        if name not in {"header", "pattern"}:
            raise MisreadError(f"{name} is not a word about a file", _span(name), "Expected header or pattern.")
        if value not in {"true", "false"}:
            raise MisreadError(f"{name} is true or false, not {value}", _span(value))
        return str(name), value == "true"

    def params(self, c: Children) -> n.Params:
        return n.Params(tuple(c[1:]), _over(c))

    def param(self, c: Children) -> n.ParamItem:
        name, arity, source, value, default = c
        number = None if value is None else _written_number(value)
        if value is None or number is not None:
            return n.ParamItem(str(name), _arity(arity), source, number, default, span=_span(name))
        if arity is not None or source is not None or default is not None:
            hint = f"Write it with its arguments and nothing else: param {name}(I) = ...;"
            raise MisreadError("a param that is given by a formula has no table and no default", value.span, hint)
        return n.ParamItem(str(name), 0, formula=value, span=_span(name))

    def formula_param(self, c: Children) -> n.ParamItem:
        name, *parameters, formula = c
        names = tuple(n.LogicName(str(p), span=_span(p)) for p in parameters)
        return n.ParamItem(str(name), len(names), parameters=names, formula=formula, span=_span(name))

    def variables(self, c: Children) -> n.Variables:
        return n.Variables(tuple(c[1:]), _over(c))

    def variable(self, c: Children) -> n.VariableItem:
        first, *bounds, domain, given = c
        return variable_item(first, bounds, domain, given)

    def given(self, c: Children) -> str:
        return str(c[1])

    def domain(self, c: Children) -> n.Node:
        node: n.Node = c[0]
        return node

    def bound(self, c: Children) -> n.Bound:
        return n.Bound(_sign(c[0]), c[1], _over(c))

    def table(self, c: Children) -> n.Table:
        return n.Table(str(c[0]), tuple(e for e in c[1:-1] if e is not None), _span(c[0]), _over(c))

    def entry(self, c: Children) -> n.Entry:
        key, value = c
        if isinstance(key, n.Entry):
            return replace(key, value=value, span=_over([key, value]))
        return n.Entry((key,), value, span=_over([key, value]))

    def tuple(self, c: Children) -> n.Entry:
        return n.Entry(tuple(c[1:-1]), span=_over(c))

    def range(self, c: Children) -> n.Entry:
        first, _, last = c
        number = _written_number(last)
        hint = "For example: num := {1..9};   or with a param: num := {1..n};"
        for end in (first, last if number is None else number):
            if isinstance(end, n.Number) and not isinstance(end.value, int):
                raise MisreadError("a range goes from one whole number to another", end.span, hint)
        if isinstance(first, n.Number) and number is not None:
            return n.Entry((first,), None, number, span=_over(c))
        start = n.Atom(first.value, (), first.span, first.span) if isinstance(first, n.Text) else first
        return n.Entry((n.Text(""),), computed=(_unsigned(start), last), span=_over(c))

    def name_constant(self, c: Children) -> n.Text:
        return n.Text(str(c[0]), _span(c[0]))

    def signed(self, c: Children) -> n.Number:
        return _number(c[1], c[0])

    def fact(self, c: Children) -> n.Fact:
        return n.Fact(c[0], c[0].span)

    def rule(self, c: Children) -> n.RuleStatement:
        return n.RuleStatement(c[0], c[1], _over(c))

    def definition(self, c: Children) -> n.Definition:
        # The "=" of a definition is a token of its own in the grammar, so it is not part of c.
        mark, head, body = c[0], c[1], c[-1]
        return n.Definition(head, body, mark is not None, _over(c))

    def objective(self, c: Children) -> n.ObjectiveStatement:
        word, name, body = c
        return n.ObjectiveStatement("min" if word.startswith("min") else "max", body, name and str(name), _over(c))

    def constraint(self, c: Children) -> n.ConstraintStatement:
        _, name, index, body = c
        return n.ConstraintStatement(body, name and str(name), index, _over(c))

    def soft_rule(self, c: Children) -> n.SoftRule:
        word, weight, body, dot, *filters = c
        plain, power = _without_exponent(body)
        return n.SoftRule(weight, plain, power, dot is not None, tuple(filters), _over([word, body, dot, *filters]))

    def weight(self, c: Children) -> n.Node:
        node: n.Node = c[0]
        return node

    def implication(self, c: Children) -> n.Implies:
        return n.Implies(c[0], c[2], _over(c))

    def filter(self, c: Children) -> n.Filter:
        return n.Filter(n.LogicName(str(c[1]), span=_span(c[1])), c[2], _over(c))

    def cardinality(self, c: Children) -> n.Cardinality:
        return n.Cardinality(str(c[1]), _over(c))

    def index(self, c: Children) -> n.Index:
        parts = c[1:-1]
        if len(parts) == 1:
            names, formula = parts[0]
            return n.Index(names, formula, _over(c))
        names = tuple(name for names, _ in parts for name in names)
        formulas = [part for names, formula in parts for part in _conjuncts(n.with_range(names, formula))]
        return n.Index(names, n.Both(tuple(formulas), formulas[0].span.to(formulas[-1].span)), _over(c))

    def listed(self, c: Children) -> Listed:
        return tuple(n.LogicName(str(v), span=_span(v)) for v in c[:-1]), c[-1]

    def member(self, c: Children) -> n.Range:
        variable, first, _, last = c
        return n.Range(n.LogicName(str(variable), span=_span(variable)), first, last, _over(c))

    def bare_range(self, c: Children) -> n.Range:
        return n.Range(None, c[0], c[2], _over(c))

    def disjunction(self, c: Children) -> n.Node:
        return n.Either(tuple(c[0::2]), _over(c)) if len(c) > 1 else c[0]

    def conjunction(self, c: Children) -> n.Node:
        return n.Both(tuple(c), _over(c)) if len(c) > 1 else c[0]

    def negated(self, c: Children) -> n.Negated:
        return n.Negated(c[1], _over(c))

    def comparison(self, c: Children) -> n.Node:
        return n.Compare(tuple(c[0::2]), tuple(map(_sign, c[1::2])), _over(c)) if len(c) > 1 else c[0]

    def sum(self, c: Children) -> n.Sum:
        return n.Sum(tuple(c[0::2]), tuple(map(str, c[1::2])), _over(c))

    def binary(self, c: Children) -> n.Binary:
        sign = "**" if c[1] == "^" else str(c[1])
        return n.Binary(cast("Any", sign), c[0], c[2], _over(c))

    def signed_term(self, c: Children) -> n.Node:
        if c[0] == "-":
            return n.Minus(c[1], _over(c))
        part: n.Node = c[1]
        if isinstance(part, n.LogicName):
            return replace(part, span=_over(c), is_summed=True)
        return replace(part, span=_over(c))

    def indexed(self, c: Children) -> n.Indexed:
        kind, index, *rest = c
        if kind not in ("sum", "count", *OVER_QUERIES):
            known = listed(["sum", "count", *OVER_QUERIES])
            raise MisreadError(f"{kind} cannot stand before a query", _span(kind), f"These can: {known}.")
        if len(rest) > 1:  # (body, others)
            if kind != "quad_over_lin":
                hint = f"Write {kind}{{..}} e, or {kind}(a, b) without a query."
                raise MisreadError(f"{kind}{{..}} has one expression behind it", _over(rest), hint)
            rest = rest[1:-1]
        elif kind == "quad_over_lin":
            hint = "Write quad_over_lin{I in ..} (e, t), for the sum of e**2 divided by t."
            raise MisreadError("quad_over_lin{..} has two expressions behind it", _over(c), hint)
        return n.Indexed(str(kind), index, rest[0] if rest else None, tuple(rest[1:]), _over(c))

    def number(self, c: Children) -> n.Number:
        return _number(c[0])

    def text(self, c: Children) -> n.Text:
        return n.Text(_string(c[0]), _span(c[0]))

    def logic_variable(self, c: Children) -> n.LogicName:
        return n.LogicName(str(c[0]), span=_span(c[0]))

    def anonymous(self, c: Children) -> n.Wildcard:
        return n.Wildcard(_span(c[0]))

    def truth(self, c: Children) -> n.Truth:
        return n.Truth(_span(c[0]))

    def call(self, c: Children) -> n.Call:
        return n.Call(cast("Any", str(c[0])), tuple(c[1:-1]), _over(c))

    def parenthesised(self, c: Children) -> n.Node:
        inside: n.Node = c[1]
        return replace(inside, span=_over(c))

    def bracket(self, c: Children) -> n.Bracket:
        return n.Bracket(c[1], _over(c))

    def piecewise(self, c: Children) -> n.Piecewise:
        name, body, _, *points, end = c
        if name != "piecewise":
            raise MisreadError(f"{name}(..) has no ';' in it", _span(name), "piecewise(e; x0: y0, x1: y1) has one.")
        if len(points) < 2:
            raise MisreadError(
                "piecewise needs at least two points", _over([name, end]), "For example: piecewise(x; 0:0, 10:5)"
            )
        for (before, _), (x, _) in itertools.pairwise(points):
            if x.value <= before.value:
                raise MisreadError("the points of piecewise go from left to right", x.span, "Sort them.")
        return n.Piecewise(body, tuple(points), _over([name, end]))

    def point(self, c: Children) -> Point:
        return c[0], c[1]

    def star(self, c: Children) -> n.Star:
        return n.Star(_span(c[0]))

    def atom(self, c: Children) -> n.Atom:
        name, arguments = c
        if arguments is None:
            return n.Atom(str(name), (), _span(name), _span(name))
        values, end = arguments
        return n.Atom(str(name), values, _span(name), _over([name, end]))

    def arguments(self, c: Children) -> Any:
        return tuple(_argument(e) for e in c[:-1] if e is not None), c[-1]


def _conjuncts(node: n.Node) -> tuple[n.Node, ...]:
    return node.parts if isinstance(node, n.Both) else (node,)


def _written_number(node: n.Node) -> n.Number | None:
    """The number that an expression is, with its sign; None if it is none."""
    if isinstance(node, n.Minus) and isinstance(node.part, n.Number) and not node.part.text.startswith("-"):
        return n.Number(f"-{node.part.text}", node.span)
    return node if isinstance(node, n.Number) else None


def _unsigned(node: n.Node) -> n.Node:
    """A number as it stands in expressions: its sign is a node of its own."""
    if isinstance(node, n.Number) and node.text.startswith("-"):
        return n.Minus(n.Number(node.text[1:], node.span), node.span)
    return node


def _without_exponent(node: Any) -> tuple[Any, Any]:
    """A rule without the exponent that its last atom was read with, and that exponent.

    Nothing in a rule can have a power, so ``p(X) -> q(X) ^2`` is read as if q(X) had one.
    """
    match node:
        case n.Binary(op="**", left=left, right=right):
            if not (isinstance(right, n.Number) and right.text in ("1", "2")):
                raise MisreadError("the exponent of a rule is 1 or 2", right.span, "Write ^2 at its end.")
            return left, right.value
        case n.Implies():
            part, power = _without_exponent(node.head)
            return replace(node, head=part), power
        case n.Negated() | n.Minus():
            part, power = _without_exponent(node.part)
            return replace(node, part=part), power
        case n.Both() | n.Either() | n.Compare() | n.Sum():
            part, power = _without_exponent(node.parts[-1])
            return replace(node, parts=(*node.parts[:-1], part)), power
        case n.Binary():
            part, power = _without_exponent(node.right)
            return replace(node, right=part), power
        case _:
            return node, 1


def _sign(token: Token) -> str:
    return "=" if token == "==" else str(token)


@cache
def _table() -> Table:
    """The table of the grammar, in which words of other languages for kinds of variables are terminals of their own."""
    table = grammar_table()
    names = {**table.reserved["NAME"], "integer": "REFUSED", "binary": "REFUSED"}
    return replace(table, reserved={**table.reserved, "NAME": names})


def _behind_statement(text: str, place: int) -> str:
    """The text with all blanked out up to the end of the statement at a place: the rest may have more errors."""
    stop = next((m.end() for m in SKIPPED.finditer(text) if m[2] and m.start() >= place), len(text))
    return " " * stop + text[stop:]
