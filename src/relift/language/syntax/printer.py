"""From nodes back to text, in one style: the formatter.

Reading the printed text gives the same nodes, and printing twice changes nothing. Comments are kept: those on lines
of their own stay before the statement that follows, those behind a statement stay behind it, and those inside of a
statement move before it. Single blank lines are kept. Lines have at most 100 columns where a break is possible.

>>> print(format_text("var x>=0 ; minimize:2*x+sum{I in p(I)}y(I)**2 ;# cost"))
var x >= 0;
minimize: 2*x + sum{I in p(I)} y(I)**2;  # cost
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from relift.errors import LanguageError
from relift.language.checked_model import FileSource
from relift.language.syntax import nodes as n
from relift.language.syntax.parser import parse_text
from relift.language.syntax.syntax_errors import RESERVED

_WIDTH = 100
# Blanks at which a line may be broken, best first: behind the head of a statement, at commas of lists, at | and &, at
# comparisons, at + and -, and last anywhere inside of parentheses, brackets and braces. They are never inside of a
# string, where control characters are written as escapes.
_HEAD, _ITEM, _OR, _AND, _SIGN, _PLUS, _DEEP = _BREAKS = "\x19\x1a\x1b\x1c\x1d\x1e\x1f"
_NAME = re.compile(r"[a-z]\w*")

# How tightly the forms of the grammar bind, loosest first.
_EITHER, _BOTH, _NEGATED, _COMPARE, _SUM, _PRODUCT, _FACTOR, _PRIMARY = range(8)


def format_text(text: str, name: str = "<model>") -> str:
    """Read a model text and print it in the one style, without a newline at the end.

    Raises
    ------
    LanguageError
        If it does not follow the grammar.
    """
    return print_model(parse_text(text, name))


def print_model(model: n.ModelText) -> str:
    """The text of a model, with its comments, without a newline at the end."""
    comments = model.comments or (n.Comments(),) * (len(model.statements) + 1)
    lines = list[str]()
    for statement, comment in zip(model.statements, comments, strict=False):
        lines.extend(comment.before)
        lines.append(print_statement(statement) + (f"  {comment.behind}" if comment.behind else ""))
    lines.extend(comments[-1].before)
    return "\n".join(lines).strip("\n")


def print_statement(statement: n.Statement) -> str:
    """The text of a statement with its semicolon, broken into lines.

    Raises
    ------
    LanguageError
        If it is nested more deeply than Python can follow.
    """
    try:
        return _filled(_statement(statement) + ";")
    except RecursionError:
        raise LanguageError("a statement is nested too deeply to be printed", "Split it by definitions.") from None


def print_expression(node: n.Node) -> str:
    """The text of an expression, in one line.

    Examples
    --------
    >>> print_expression(n.Binary("*", n.Sum((n.Number("1"), n.Atom("c")), ("+",)), n.LogicName("X")))
    '(1 + c)*X'
    """
    return _flat(_expression(node))


def _flat(text: str) -> str:
    return re.sub(f"[{_BREAKS}]", " ", text)


def _deep(text: str) -> str:
    return re.sub(f"[{_BREAKS}]", _DEEP, text)


def _filled(text: str, breaks: str = _BREAKS, indent: str = "") -> str:
    """The text in as few lines as fit, broken at the best places."""
    if len(indent + _flat(text)) <= _WIDTH or not breaks:
        return indent + _flat(text)
    lines, line = list[str](), ""
    for piece in text.split(breaks[0]):
        flat = _flat(piece)
        if line and len(line) + 1 + len(flat) <= _WIDTH:
            line = f"{line} {flat}"
            continue
        if line:
            lines.append(line)
        *full, line = _filled(piece, breaks[1:], "    " if lines else indent).split("\n")
        lines.extend(full)
    return "\n".join([*lines, line])


def _statement(s: n.Statement) -> str:
    match s:
        case n.Relations():
            return f"relation {_joined(map(_relation, s.items))}"
        case n.Params():
            return f"param {_joined(map(_param, s.items))}"
        case n.Variables():
            return f"var {_joined(map(_variable, s.items))}"
        case n.Table():
            return f"{s.name} := {{{_joined(map(_entry, s.entries))}}}"
        case n.Fact():
            return _expression(s.atom)
        case n.RuleStatement():
            return f"{_expression(s.head)} if{_HEAD}{_expression(s.body)}"
        case n.Definition():
            return f"{'def ' if s.is_marked else ''}{_expression(s.head)} ={_HEAD}{_expression(s.body)}"
        case n.ObjectiveStatement():
            name = f" {s.name}" if s.name else ""
            return f"{s.sense}imize{name}:{_HEAD}{_expression(s.body)}"
        case n.ConstraintStatement():
            name = f" {s.name}" if s.name else ""
            index = f" forall {_index(s.index)}" if s.index else ""
            return f"subject to{name}{index}:{_HEAD}{_expression(s.body)}"
        case n.SoftRule():
            weight = f" {_within(s.weight, _SUM)}:" if s.weight is not None else ""
            end = (" ^2" if s.power == 2 else "") + (" ." if s.is_hard else "")
            filters = "".join(f" {{{f.variable.name}: {_deep(_expression(f.formula))}}}" for f in s.filters)
            return f"rule{weight}{_HEAD}{_expression(s.body)}{end}{filters}"


def _joined(parts: Iterable[str]) -> str:
    return f",{_ITEM}".join(parts)


def _source(file: str | FileSource | None) -> str:
    if file is None:
        return ""
    if isinstance(file, str):
        return f" from {_quoted(file)}"
    words = [] if file.header is None else [f"header = {str(file.header).lower()}"]
    words += ["pattern = true"] if file.is_pattern else []
    about = f" ({', '.join(words)})" if words else ""
    return f" from {_quoted(file.path)}{about}"


def _relation(item: n.RelationItem) -> str:
    ordered = " ordered" if item.is_ordered else ""
    return f"{item.name}/{item.arity}{ordered}{_source(item.source)}"


def _param(item: n.ParamItem) -> str:
    if item.formula is not None:
        arguments = f"({', '.join(p.name for p in item.parameters)})" if item.parameters else ""
        return f"{item.name}{arguments} = {_within(item.formula, _SUM, may_be_open=True)}"
    arity = f"/{item.arity}" if item.arity else ""
    value = f" = {item.value.text}" if item.value else ""
    default = f" default {item.default.text}" if item.default else ""
    return f"{item.name}{arity}{_source(item.source)}{value}{default}"


def _variable(item: n.VariableItem) -> str:
    if item.domain is not None:
        shape = f"({', '.join(p.name for p in item.parameters)}) in {_domain(item.domain)}"
    else:
        shape = f"/{item.arity}" if item.arity else ""
    given = f" given {item.given}" if item.given else ""
    limits = [_within(b.limit, _SUM) for b in item.bounds]
    if item.domain is None and len(limits) > 1 and isinstance(item.bounds[0].limit, n.Atom):
        limits[0] = f"({limits[0]})"  # or it would be read as the variable between its bounds
    bounds = "".join(f" {b.sign} {limit}" for b, limit in zip(item.bounds, limits, strict=True))
    return f"{item.name}{shape}{bounds}{given}"


def _entry(entry: n.Entry) -> str:
    if entry.computed is not None:
        key = f"{_within(entry.computed[0], _SUM)}..{_within(entry.computed[1], _SUM)}"
    elif entry.last is not None:
        key = f"{_constant(entry.key[0])}..{_constant(entry.last)}"
    elif len(entry.key) == 1:
        key = _constant(entry.key[0])
    else:
        key = f"({', '.join(map(_constant, entry.key))})"
    return f"{key}: {entry.value.text}" if entry.value else key


def _constant(constant: n.Number | n.Text) -> str:
    return constant.text if isinstance(constant, n.Number) else _bare(constant.value)


def _bare(value: str) -> str:
    return value if _NAME.fullmatch(value) and value not in RESERVED else _quoted(value)


def _quoted(value: str) -> str:
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(escapes.get(c) or (f"\\u{ord(c):04x}" if ord(c) < 32 else c) for c in value) + '"'


def _index(index: n.Index) -> str:
    return f"{{{', '.join(v.name for v in index.variables)} in {_deep(_expression(index.formula))}}}"


def _argument(node: n.Node) -> str:
    match node:
        case n.Text():
            return _bare(node.value)
        case n.Atom(arguments=()):
            return f"{node.name}()"
        case _:
            return _expression(node)


def _expression(node: n.Node) -> str:
    match node:
        case n.Number():
            return node.text
        case n.Text():
            return _quoted(node.value)
        case n.LogicName():
            return f"+{node.name}" if node.is_summed else node.name
        case n.Cardinality():
            return f"|{node.name}|"
        case n.Implies():
            return f"{_within(node.body, _BOTH)}{_OR}-> {_within(node.head, _EITHER)}"
        case n.Wildcard():
            return "_"
        case n.Star():
            return "*"
        case n.Range():
            variable = f"{node.variable.name} in " if node.variable is not None else ""
            return f"{variable}{_within(node.first, _SUM)}..{_within(node.last, _SUM)}"
        case n.Piecewise():
            points = ", ".join(f"{x.text}: {y.text}" for x, y in node.points)
            return f"piecewise({_deep(_expression(node.body))}; {points})"
        case n.Truth():
            return "true"
        case n.Atom():
            return f"{node.name}({_deep(', '.join(map(_argument, node.arguments)))})" if node.arguments else node.name
        case n.Minus():
            return f"-{_within(node.part, _FACTOR, may_be_open=True)}"
        case n.Sum():
            first, *others = (_within(part, _PRODUCT, may_be_open=True) for part in node.parts)
            return first + "".join(f"{_PLUS}{s} {p}" for s, p in zip(node.signs, others, strict=True))
        case n.Binary(op="**"):
            return f"{_within(node.left, _PRIMARY)}**{_within(node.right, _FACTOR)}"
        case n.Binary():
            right = _within(node.right, _FACTOR, may_be_open=True)
            return f"{_within(node.left, _PRODUCT)}{node.op}{right}"
        case n.Compare():
            first, *others = (_within(part, _SUM, may_be_open=True) for part in node.parts)
            return first + "".join(f"{_SIGN}{s} {p}" for s, p in zip(node.signs, others, strict=True))
        case n.Both():
            return f"{_AND}& ".join(_within(part, _NEGATED, may_be_open=True) for part in node.parts)
        case n.Either():
            return f"{_OR}| ".join(_within(part, _BOTH, may_be_open=True) for part in node.parts)
        case n.Negated():
            return f"!{_within(node.part, _SUM, may_be_open=True)}"
        case n.Bracket():
            return f"[{_deep(_expression(node.formula))}]"
        case n.Call():
            return f"{node.function}({_deep(', '.join(map(_expression, node.arguments)))})"
        case n.Indexed(body=None):
            return f"{node.kind}{_index(node.index)}"
        case n.Indexed():
            assert node.body is not None
            if node.others:
                parts = _deep(", ".join(map(_expression, (node.body, *node.others))))
                return f"{node.kind}{_index(node.index)} ({parts})"
            return f"{node.kind}{_index(node.index)} {_within(node.body, _PRODUCT, may_be_open=True)}"


def _within(node: n.Node, level: int, may_be_open: bool = False) -> str:
    """The node, in parentheses if it binds more loosely than its place allows, or if it would swallow what follows."""
    text = _expression(node)
    return text if _level(node) >= level and (may_be_open or not _is_open(node)) else f"({_deep(text)})"


def _level(node: n.Node) -> int:
    match node:
        case n.Either():
            return _EITHER
        case n.Both():
            return _BOTH
        case n.Negated():
            return _NEGATED
        case n.Compare() | n.Range():
            return _COMPARE
        case n.Sum():
            return _SUM
        case n.Binary(op="**") | n.Minus():
            return _FACTOR
        case n.Binary():
            return _PRODUCT
        case n.Indexed() if node.body is not None:
            return _FACTOR
        case _:
            return _PRIMARY


def _is_open(node: n.Node) -> bool:
    """Whether the text ends in the body of a sum, which would take every factor behind it."""
    match node:
        case n.Indexed():
            return node.body is not None
        case n.Minus():
            return _is_open(node.part)
        case n.Binary(op="*" | "/"):
            return _is_open(node.right)
        case _:
            return False


def _domain(node: n.Node) -> str:
    """A formula that does not have a comparison outside of parentheses."""
    match node:
        case n.Either():
            return " | ".join(_domain(p) if not isinstance(p, n.Either) else f"({_domain(p)})" for p in node.parts)
        case n.Both():
            loose = (n.Either, n.Both)
            return " & ".join(_domain(p) if not isinstance(p, loose) else f"({_domain(p)})" for p in node.parts)
        case n.Negated():
            loose = (n.Either, n.Both)
            return f"!{_domain(node.part)}" if not isinstance(node.part, loose) else f"!({_domain(node.part)})"
        case n.Atom() | n.Truth() | n.Range(variable=None):
            return _flat(_expression(node))
        case _:
            return f"({_flat(_expression(node))})"
