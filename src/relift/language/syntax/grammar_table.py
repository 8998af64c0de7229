"""The LALR table of ``grammar.lark``: stored as ``grammar_table.json``, and made anew by Lark where that is not fresh.

``python -m relift.language.syntax.grammar_table`` writes it after a change of the grammar; a test compares the two.
Until then the table is built at every start, which takes longer but reads the same.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import deque
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from relift.language.syntax.lalr import Kept, Production, Table

if TYPE_CHECKING:
    from lark import Lark

    from relift.json_types import JsonObject

FOLDER = Path(__file__).parent
STORED = FOLDER / "grammar_table.json"
FORMAT = 1
"""Of the stored file; another one is not read."""


@cache
def grammar_table() -> Table:
    """The table of the grammar: as stored if that was made from the grammar as it is, else made by Lark."""
    grammar = (FOLDER / "grammar.lark").read_text("utf-8")
    try:
        stored = json.loads(STORED.read_text("utf-8"))
    except (OSError, ValueError):  # not there, or not JSON: nothing is lost but time
        stored = None
    if isinstance(stored, dict) and stored.get("made_from") == made_from(grammar):
        return table_from_json(stored)
    return table_from_json(json_from_grammar(grammar))


def made_from(grammar: str) -> str:
    """What a stored table says of the grammar that it was made from."""
    return f"{FORMAT} {hashlib.sha256(grammar.encode()).hexdigest()}"


def table_from_json(document: Mapping[str, Any]) -> Table:
    """Turn what is stored into a table."""
    rules = [
        Production(origin, length, name, tuple(Kept(*each) for each in kept), nones, hands_on)
        for origin, length, name, kept, nones, hands_on in document["rules"]
    ]
    return Table(
        document["words"],
        document["skipped"],
        document["reserved"],
        document["patterns"],
        rules,
        document["states"],
        document["end"],
    )


def json_from_grammar(grammar: str) -> JsonObject:
    """Let Lark build the table of a grammar; the same grammar gives the same document."""
    from lark import Lark
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    built = Lark(grammar, start="program", parser="lalr", lexer="basic")
    data, memo = built.memo_serialize([TerminalDef, Rule])
    machine = data["parser"]["parser"]
    tokens, rules = machine["tokens"], dict[str, int]()

    def rule_number(key: int) -> int:
        text = json.dumps(_production(memo[key]))
        return rules.setdefault(text, len(rules))

    # Lark numbers states as they come out of sets: they are numbered anew from the first, by the names of the symbols.
    start, end = machine["start_states"]["program"], machine["end_states"]["program"]
    numbers, waiting, states = {start: 0}, deque([start]), list[dict[str, int]]()
    while waiting:
        row = dict[str, int]()
        actions = {tokens[symbol]: action for symbol, action in machine["states"][waiting.popleft()].items()}
        for symbol, (is_reduced, argument) in sorted(actions.items()):
            if is_reduced:
                row[symbol] = -1 - rule_number(argument["@"])
                continue
            if argument not in numbers:
                numbers[argument] = len(numbers)
                waiting.append(argument)
            row[symbol] = numbers[argument]
        states.append(row)
    return {
        "made_from": made_from(grammar),
        **_words(built, data["parser"]["lexer_conf"]["ignore"]),
        "rules": [json.loads(text) for text in rules],
        "states": states,
        "end": numbers[end],
    }


def _words(built: Lark, skipped: Iterable[str]) -> JsonObject:
    """How Lark tells tokens apart: higher priority first, then longer patterns; reserved words behind the others."""
    terminals = sorted(
        built.terminals, key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name)
    )
    texts = [t for t in terminals if t.pattern.type == "str"]
    reserved = dict[str, dict[str, str]]()
    for terminal in terminals:
        if terminal.pattern.type == "re":
            alike = [t for t in texts if t.priority == terminal.priority and _is_whole(terminal, t.pattern.value)]
            reserved |= {terminal.name: {t.pattern.value: t.name for t in alike}} if alike else {}
    embedded = {name for words in reserved.values() for name in words.values()}
    words = "|".join(f"(?P<{t.name}>{t.pattern.to_regexp()})" for t in terminals if t.name not in embedded)
    return {
        "words": words,
        "skipped": sorted(skipped),
        "reserved": {kind: dict(sorted(words.items())) for kind, words in sorted(reserved.items())},
        "patterns": {t.name: t.pattern.value for t in sorted(built.terminals, key=lambda t: t.name)},
    }


def _is_whole(terminal: Any, text: str) -> bool:
    match = re.match(terminal.pattern.to_regexp(), text)
    return match is not None and match[0] == text


def _production(rule: Mapping[str, Any]) -> list[object]:
    """A rule of Lark, with what it does to its children: words without a name are dropped, repetitions listed."""
    origin, symbols, options = rule["origin"]["name"], rule["expansion"], rule["options"]
    left_out = "".join(str(int(is_empty)) for is_empty in options["empty_indices"]).split("0")
    before = [len(ones) for ones in left_out] if options["empty_indices"] else [0] * (len(symbols) + 1)
    kept, nones = list[list[object]](), 0
    for place, symbol in enumerate(symbols):
        nones += before[place]
        is_terminal = symbol["__type__"] == "Terminal"
        if not (is_terminal and symbol["filter_out"]):
            kept.append([place, not is_terminal and symbol["name"].startswith("_"), nones])
            nones = 0
    name = None if origin.startswith("_") else rule["alias"] or origin
    hands_on = bool(options["expand1"] and not rule["alias"])
    return [origin, len(symbols), name, kept, nones + before[len(symbols)], hands_on]


def stored_text() -> str:
    """What ``grammar_table.json`` should hold."""
    document = json_from_grammar((FOLDER / "grammar.lark").read_text("utf-8"))
    lines = []
    for key, value in document.items():
        if isinstance(value, list):
            rows = ",\n  ".join(json.dumps(row, separators=(",", ":")) for row in value)
            lines.append(f'"{key}": [\n  {rows}\n]')
        else:
            lines.append(f'"{key}": {json.dumps(value)}')
    return "{" + ",\n".join(lines) + "}\n"


if __name__ == "__main__":
    from relift.atomic import write_atomically

    with write_atomically(STORED) as file:
        file.write(stored_text().encode())
