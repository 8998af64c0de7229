"""What is wrong with a text that does not follow the grammar, in words that help."""

from __future__ import annotations

import re
from collections.abc import Mapping

from relift.errors import LanguageError, ModelSyntaxError
from relift.language.messages import at
from relift.language.syntax.source import Source, Span

RESERVED = frozenset({
    "relation", "param", "var", "from", "in", "if", "def", "minimize", "minimise", "maximize", "maximise", "subject",
    "to", "forall", "default", "sum", "min", "max", "count", "abs", "exp", "sqrt", "log", "not", "true", "integer",
    "binary", "rule",
})  # fmt: skip
"""Words that cannot be names; in quotes they can be constants."""

SKIPPED = re.compile(r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\#[^\n]*)|(;)""")
"""Strings and comments (group 1), in which a semicolon means nothing, and other semicolons (group 2)."""

_LOOKALIKES = {
    "≤": "<=", "≥": ">=", "≠": "!=", "−": "-", "–": "-", "×": "*", "·": "*", "∧": "&", "∨": "|", "¬": "!", "∑": "sum",
    "“": '"', "”": '"', "‘": "'", "’": "'", "∈": "in", "∀": "forall", "²": "**2",
}  # fmt: skip


def bad_character(source: Source, offset: int) -> LanguageError:
    """The error for a character with which nothing begins."""
    character = source.text[offset]
    span = Span(offset, offset + 1)
    if character in "\"'":
        return at(ModelSyntaxError, source, span, "this string does not end in its line", f"Close it with {character}.")
    if character in _LOOKALIKES:
        hint = f"Write {_LOOKALIKES[character]}"
    elif character == "?":
        hint = "A choice is written with [formula], which is 1 or 0: [T > 2]*a + [T <= 2]*b"
    elif character == "_":
        hint = "A name begins with a lower-case letter, a logic variable with an upper-case one; _ alone is any value."
    elif character.isalpha():
        hint = "A name begins with a letter from a to z; any other text can be a constant in quotes."
    elif character.isdigit():
        word = re.match(r"[\w.]+", source.text[offset:])
        span = Span(offset, offset + len(word[0])) if word else span
        hint = "A name begins with a lower-case letter; text that begins with a digit can be a constant in quotes."
        shown = source.text[span.start : span.stop]
        if (product := re.fullmatch(r"([0-9.]+)([A-Za-z]\w*)", shown)) is not None and "e" not in shown.lower():
            hint += f" A product is written {product[1]}*{product[2]}."
        return at(ModelSyntaxError, source, span, f"{shown} is not a number", hint)
    else:
        hint = ""
    shown = character if character.isprintable() else f"U+{ord(character):04X}"
    return at(ModelSyntaxError, source, span, f"the character {shown} has no meaning here", hint)


_WORDS = {
    "and": "Write & for and.",
    "or": "Write | for or.",
    "where": "Conditions are joined to the query with &.",
    "st": "Constraints begin with: subject to",
    "mod": "The remainder is written mod(a, b).",
    "div": "The quotient is written floor(a/b).",
    "for": "One constraint for each answer of a query: forall {I in p(I)}",
    "then": "A choice is written with [formula], which is 1 or 0: [T > 2]*a + [T <= 2]*b",
    "else": "A choice is written with [formula], which is 1 or 0: [T > 2]*a + [T <= 2]*b",
    "false": "Remove the statement, or write a comparison such as 0 = 1.",
}

_GROUPS: tuple[tuple[str, set[str], set[str]], ...] = (
    ("an expression", {"NUMBER", "LOGVAR", "NAME", "LPAR", "LSQB"},
     {"STRING", "ANONYMOUS", "TRUE", "ABS", "EXP", "SQRT", "LOG", "MIN", "MAX", "COUNT", "SUM", "PLUSMINUS", "BANG",
      "TILDE", "NOT", "VBAR"}),
    ("a formula", {"NAME", "LPAR", "BANG", "TILDE"}, {"NOT", "TRUE"}),
    ("an operator", {"STAR", "SLASH", "PLUSMINUS"}, {"POWER", "COMPARE", "EQUALS", "VBAR", "AMPERSAND"}),
    ("a comparison", {"COMPARE", "EQUALS"}, set()),
    ("& or |", {"VBAR"}, {"AMPERSAND"}),
    ("a constant", {"NAME", "STRING", "NUMBER"}, {"PLUSMINUS"}),
    ("a number", {"NUMBER"}, {"PLUSMINUS"}),
    ("a statement", {"RELATION", "PARAM", "VAR"},
     {"DEF", "RULE", "MINIMIZE", "MINIMISE", "MAXIMIZE", "MAXIMISE", "SUBJECT", "NAME"}),
)  # fmt: skip


def _expected(accepted: set[str], patterns: Mapping[str, str]) -> str:
    left, words = set(accepted) - {"$END"}, list[str]()
    if len(left) > 1:
        left.discard("DOTS")  # a range can stand in many places, and is rarely what was meant
    if "LPAR" in left:
        left.discard("LBRACE")  # behind a name, which only a function such as norm can have there
    if "SEMICOLON" in left:
        words.append("';'")
    for word, needed, more in _GROUPS:
        if needed <= left:
            words.append(word)
            left -= needed | more
    single = {
        "ARROW": "'->'",
        "DOT": "'.'",
        "GIVEN": "'given'",
        "NAME": "a name",
        "LOGVAR": "a logic variable (upper-case first)",
        "STRING": "a string in quotes",
    }
    for terminal in sorted(left - {"SEMICOLON"}):
        words.append(single.get(terminal) or f"'{patterns[terminal]}'".replace("\\", ""))
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


_PSL_RULE = re.compile(
    r"(?P<weight>\d+(\.\d+)?\s*:)?\s*(?P<body>[!~(]*\s*[A-Za-z]\w*\s*\(.*?(->|>>|<-|<<|=).*?|[!~]\s*[A-Za-z]\w*\s*\(.*?)"
    r"(?P<end>\^\s*[12])?\s*(?P<dot>\.)?\s*;?\s*"
)


def _as_rule(line: str) -> str:
    """A line that looks like a rule of PSL, as it is written here; empty if it does not."""
    match = _PSL_RULE.fullmatch(line)
    if match is None or (match["weight"] is None and match["dot"] is None):
        return ""
    body = re.sub(r"[A-Z]\w*(?=\s*\()", lambda name: name[0][0].lower() + name[0][1:], match["body"]).strip()
    if (turned := re.fullmatch(r"(.*?)\s*(?:<-|<<)\s*(.*)", body)) is not None:
        body = f"{turned[2]} -> {turned[1]}"
    weight = f"{match['weight'].rstrip(': ')}: " if match["weight"] else ""
    end = "".join(f" {part}" for part in (match["end"], match["dot"]) if part)
    return f"rule {weight}{body}{end};"


def _other_language(
    word: str, kind: str, text: str, code: str, span: Span, accepted: set[str]
) -> tuple[str, str] | None:
    """What to say about something that other languages write in this way; None if nothing looks like it."""
    behind = text[span.stop : span.stop + 1]
    is_joined = len(code) == span.start
    if kind == "SLASH" and behind and behind in "/*":
        return f"unexpected '{word}{behind}'", "A comment begins with # and ends with its line."
    if kind == "DOT" and re.search(r"\bs$", code) and re.match(r"\.t\b", text[span.start :]):
        return "unexpected 's.t.'", "Constraints begin with: subject to"
    if kind == "LSQB" and is_joined and (name := re.search(r"\b[a-z]\w*$", code)) is not None:
        inside = re.match(r"\[([^\]\n]*)\]", text[span.start :])
        shown = inside[1] if inside is not None else ".."
        return "unexpected '['", f"Arguments stand in parentheses: {name[0]}({shown})"
    if kind == "IF" and "NAME" in accepted and "IF" not in accepted:
        choice = "A choice is written with [formula], which is 1 or 0: [T > 2]*a + [T <= 2]*b"
        return "an expression cannot begin with 'if'", choice
    if kind in ("MIN", "MAX") and (not code or code.endswith(";")):
        return f"unexpected '{word}'", f"An objective begins with: {word}imize"
    if kind == "LOGVAR" and accepted == {"LBRACE"}:
        return f"unexpected '{word}'", "A query stands in braces: {I in p(I)}"
    if kind == "NUMBER" and re.search(r"[0-9],$", code) and is_joined:
        return f"unexpected '{word}'", "Decimals are written with a point: 1.5"
    if kind != "LOGVAR" and re.search(r"\|$", code) and accepted == {"LOGVAR"}:
        return f"unexpected '{word}'", "The absolute value is written abs(e); |I| counts the values of I in a rule."
    if (words := _misplaced_query(word, kind, text, code, span, accepted)) is not None:
        return words
    if (declared := re.search(r"(?:^|;)\s*(set|parameter|variable|table)$", code)) is not None and kind == "NAME":
        ours = {"set": f"relation {word}/1;", "table": f"param {word}/2;"}
        ours |= {"parameter": f"param {word}/1;", "variable": f"var {word};"}
        return f"unexpected '{word}'", f"Here it is written: {ours[declared[1]]}"
    return None


_NAME, _VARIABLES = r"([a-z]\w*)", r"([A-Z]\w*(?:\s*,\s*[A-Z]\w*)*)"
_CONSTRAINT = re.compile(rf"(?:subject\s+to|(?:subject\s+to\s+)?{_NAME})")


def _misplaced_query(
    word: str, kind: str, text: str, code: str, span: Span, accepted: set[str]
) -> tuple[str, str] | None:
    """What to say about a query, or about arguments, that stand where other languages have them."""
    head, rest = code[code.rfind(";") + 1 :].strip(), text[span.start :]
    query = re.match(rf"\{{\s*({_VARIABLES}\s+in\s+[^{{}}\n]*?)\s*\}}", rest)
    indices = re.match(rf"\(\s*{_VARIABLES}\s*\)", rest)
    unexpected = f"unexpected '{word}'"
    one_each = "One constraint for each answer of a query: subject to {}forall {{{}}}: .."
    if (inside := query[2] if query else indices[1] if indices else "") and (
        declared := re.fullmatch(rf"(param|relation)\s(?:.*,)?\s*{_NAME}", head)
    ):
        return unexpected, _by_number(declared[1], declared[2], inside)
    if kind in ("SEMICOLON", "COMMA") and (
        declared := re.fullmatch(rf"(param)\s(?:.*,)?\s*{_NAME}\s*\(\s*{_VARIABLES}\s*\)", head)
    ):
        return unexpected, _by_number(declared[1], declared[2], declared[3])
    if found := re.fullmatch(rf"var\s+{_NAME}\s*\{{\s*{_VARIABLES}\s+in\s+([^{{}}]*?)\s*\}}", head):
        return (
            unexpected,
            f"Unknowns are declared with their arguments first: var {found[1]}({found[2]}) in {found[3]} ..",
        )
    if query and (found := re.fullmatch(rf"def\s+{_NAME}", head)):
        return unexpected, f"Arguments stand in parentheses: def {found[1]}({query[2]}) = .."
    if kind == "LBRACE" and (found := _CONSTRAINT.fullmatch(head)):
        return unexpected, one_each.format(f"{found[1]} " if found[1] else "", query[1] if query else "I in p(I)")
    if indices and (found := re.fullmatch(rf"subject\s+to\s+{_NAME}", head)):
        return unexpected, one_each.format(f"{found[1]} ", f"{indices[1]} in p({indices[1]})")
    if (
        kind == "COLON"
        and not rest.startswith(":-")
        and (found := re.fullmatch(rf"{_NAME}\s*\(\s*{_VARIABLES}\s*\)", head))
    ):
        return unexpected, one_each.format(f"{found[1]} ", f"{found[2]} in p({found[2]})")
    if kind == "FORALL" and (found := re.fullmatch(rf"subject\s+to\s+{_NAME}\s*:", head)):
        return unexpected, f"It stands before the colon: subject to {found[1]} forall {{I in p(I)}}: .."
    if accepted == {"LOGVAR"} and head.endswith("{") and (found := re.match(rf"{_NAME}\(\s*{_VARIABLES}\s*\)", rest)):
        return (
            f"a logic variable was expected, not {word}",
            f"A query begins with its variables: {{{found[2]} in {found[0]}}}",
        )
    return None


def _by_number(kind: str, name: str, variables: str) -> str:
    return f"What data fill is declared by its number of arguments: {kind} {name}/{variables.count(',') + 1};"


def bad_token(
    source: Source, text: str, kind: str, span: Span, accepted: set[str], patterns: Mapping[str, str]
) -> tuple[LanguageError, int, bool]:
    """The error for a token that cannot stand where it does.

    Parameters
    ----------
    source, text
        The source to point into, and its text as far as it is still looked at, with the same offsets.
    kind, span
        The terminal, ``"$END"`` for the end of the text, and where it stands.
    accepted
        The terminals that could stand there.
    patterns
        How the terminals are written.

    Returns
    -------
    error
        What to say.
    place
        Where to go on.
    is_missing_end
        Whether only a semicolon was missing, which can be put in place of the blank there.
    """
    before = text[: span.start] if kind != "$END" else text
    code = SKIPPED.sub(lambda m: m[0] if m[0][0] != "#" else " " * len(m[0]), before).rstrip()
    gap, word = len(code), text[span.start : span.stop]
    expected = f"Expected {_expected(accepted, patterns)}." if accepted else ""
    if kind == "$END":
        message = "the text ends in the middle of a statement"
        return at(ModelSyntaxError, source, Span(gap, gap + 1), message, expected), gap, False

    def error(message: str, hint: str) -> tuple[LanguageError, int, bool]:
        return at(ModelSyntaxError, source, span, message, hint), span.start, False

    if kind == "REFUSED":
        return error(
            f"{word} variables are not supported: every unknown is a real number",
            "relift solves convex programs; remove the word to solve the relaxation.",
        )
    line = text[text.rfind("\n", 0, span.start) + 1 :].split("\n", 1)[0]
    if (not code or code.endswith(";")) and kind in ("NUMBER", "LOGVAR", "BANG", "TILDE") and (rule := _as_rule(line)):
        return error("this looks like a rule of PSL", f"Here it is written: {rule}")
    if word == "(" and (name := re.search(r"\b[A-Z]\w*$", code)) is not None and gap == span.start:
        lower = name[0][0].lower() + name[0][1:]
        return error("unexpected '('", f"Names of predicates begin with a lower-case letter: {lower}(..)")
    if (words := _other_language(word, kind, text, code, span, accepted)) is not None:
        return error(*words)
    starts_line = "\n" in text[gap : span.start]
    begins_statement = kind in {"RELATION", "PARAM", "VAR", "SUBJECT", "DEF"} or word[:4] in ("mini", "maxi")
    if "SEMICOLON" in accepted and gap < span.start and (begins_statement or (starts_line and kind == "NAME")):
        found = at(ModelSyntaxError, source, Span(gap, gap + 1), "a ';' is missing at the end of this statement")
        return found, gap, text[gap].isspace()
    if kind == "NAME" and word in _WORDS and "NAME" not in accepted:
        return error(f"unexpected '{word}'", _WORDS[word])
    if word in RESERVED and "NAME" in accepted:
        return error(f"'{word}' is a reserved word", "Choose another name, or write it in quotes if it is a constant.")
    if word in (":", "<") and text[span.stop : span.stop + 1] == "-":
        return error("unexpected arrow", "A rule is written: head if body")
    if word == ">" and text[span.start - 1 : span.start] == "=":
        return error("unexpected '>' after '='", "Greater or equal is written >=")
    if accepted == {"LBRACE"} and word == "(":
        return error("unexpected '('", "A query stands in braces, as in: sum{I in query(I)} body(I)")
    if accepted >= {"IF", "SEMICOLON", "EQUALS"} and kind in ("COMPARE", "PLUSMINUS", "STAR"):
        return error(f"unexpected '{word}'", "A constraint begins with: subject to")
    if kind == "LOGVAR" and "NAME" in accepted and "LOGVAR" not in accepted:
        lower = word[0].lower() + word[1:]
        hint = "Names begin with a lower-case letter."
        if word.lower() in RESERVED:
            hint = f"Words of the language are in lower case: {word.lower()}"
        elif "IF" not in accepted:
            hint = f"Names begin with a lower-case letter: {lower}"
        return error(f"a name was expected, not the logic variable {word}", hint)
    if kind == "NAME" and accepted == {"LOGVAR"} and code.endswith(","):
        hint = "Conditions are joined with &; behind a comma stands another variable: {I in p(I), J in q(J)}"
        return error(f"a logic variable was expected, not {word}", hint)
    if kind == "NAME" and "LOGVAR" in accepted and "NAME" not in accepted:
        return error(f"a logic variable was expected, not {word}", "Logic variables begin with an upper-case letter.")
    return error(f"unexpected {word!r}" if kind == "STRING" else f"unexpected '{word}'", expected)


def word_of_wrong_case(text: str, span: Span, message: str) -> str:
    """The word at fault, if it begins with a capital letter and should not, or the other way round; else empty."""
    if message == "unexpected '('" and (name := re.search(r"\b[A-Z]\w*$", text[: span.start])) is not None:
        return name[0]
    if message.startswith(("a name was expected, not the logic", "a logic variable was expected, not")):
        return text[span.start : span.stop]
    return ""
