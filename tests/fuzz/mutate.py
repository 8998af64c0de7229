"""Damage to files: bytes, lines, words and numbers that are lost, doubled, exchanged or replaced by strange ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

Random = np.random.Generator
STRANGE_WORDS = (
    "nan", "NaN", "inf", "-inf", "Infinity", "1e400", "-1e400", "1e-400", "1e20", "-1e30", "1D5", "0x10", "1_000",
    "1,5", "--1", "+-3", "1e", "1e+", ".", "", "''", '"', "\\", "$", "*", "RHS", "ROWS", "COLUMNS", "ENDATA", "BOUNDS",
    "RANGES", "MARKER", "N", "UP", "free", ">=", "<=", "=", "[", "]", "/ 2", "^2", "é", "\u2028", "\x00", "\x1b[31m",
    "9" * 400, "x" * 300, "true", "null", "{", "}", ",", ";", "٣", "½", "1/3", "-0", "0", "00012",
    "1.7976931348623157e308",
)  # fmt: skip
STRANGE_VALUES: tuple[Any, ...] = (
    None, True, False, -1, 0, 1.5, 1e308, 10**400, "", "x", "inf", "nan", [], {}, [[]], [None], ["a", 1], {"a": []},
    -(2**63), 2**64, "\x1b[31m", [1.0] * 3,
)  # fmt: skip


def damaged_text(text: str, random: Random) -> str:
    """One or a few small damages, most of them to words and lines."""
    for _ in range(int(random.integers(1, 4))):
        change: Callable[[str, Random], str] = _TEXT[int(random.integers(len(_TEXT)))]
        text = change(text, random)
    return text


def damaged_bytes(data: bytes, random: Random) -> bytes:
    """Bytes flipped, lost, inserted or cut off."""
    content = bytearray(data)
    for _ in range(int(random.integers(1, 5))):
        at = int(random.integers(len(content) + 1)) if content else 0
        match int(random.integers(5)):
            case 0 if at < len(content):
                content[at] ^= 1 << int(random.integers(8))
            case 1:
                del content[at : at + int(random.integers(1, 9))]
            case 2:
                content[at:at] = random.bytes(int(random.integers(1, 9)))
            case 3 if random.random() < 0.3:
                del content[at:]
            case _ if at < len(content):
                content[at] = int(random.integers(256))
    return bytes(content)


def damaged_json(text: str, random: Random) -> str:
    """A value somewhere inside is replaced, lost or renamed; sometimes the text itself is damaged."""
    if random.random() < 0.3:
        return damaged_text(text, random)
    document = json.loads(text)
    for _ in range(int(random.integers(1, 3))):
        _damage_inside(document, random)
    return json.dumps(document, allow_nan=True)


def _damage_inside(document: Any, random: Random) -> None:
    place = document
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = keys[int(random.integers(len(keys)))]
        if isinstance(place[key], dict | list) and len(place[key]) and random.random() < 0.7:
            place = place[key]
            continue
        strange = STRANGE_VALUES[int(random.integers(len(STRANGE_VALUES)))]
        match int(random.integers(4)):
            case 0:
                del place[key]
            case 1 if isinstance(place, list):
                place.insert(key, strange)
            case 1:
                place[f"{key} "] = place.pop(key)
            case _:
                place[key] = strange
        return


def _lines(text: str, random: Random) -> tuple[list[str], int]:
    lines = text.split("\n")
    return lines, int(random.integers(len(lines)))


def _drop_line(text: str, random: Random) -> str:
    lines, i = _lines(text, random)
    return "\n".join(lines[:i] + lines[i + 1 :])


def _double_line(text: str, random: Random) -> str:
    lines, i = _lines(text, random)
    return "\n".join([*lines[: i + 1], *lines[i:]])


def _swap_lines(text: str, random: Random) -> str:
    lines, i = _lines(text, random)
    j = int(random.integers(len(lines)))
    lines[i], lines[j] = lines[j], lines[i]
    return "\n".join(lines)


def _cut_off(text: str, random: Random) -> str:
    return text[: int(random.integers(len(text) + 1))] if random.random() < 0.3 else text


def _replace_word(text: str, random: Random) -> str:
    lines, i = _lines(text, random)
    words = lines[i].split(" ")
    words[int(random.integers(len(words)))] = STRANGE_WORDS[int(random.integers(len(STRANGE_WORDS)))]
    lines[i] = " ".join(words)
    return "\n".join(lines)


def _insert_word(text: str, random: Random) -> str:
    at = int(random.integers(len(text) + 1))
    return f"{text[:at]}{STRANGE_WORDS[int(random.integers(len(STRANGE_WORDS)))]}{text[at:]}"


def _replace_character(text: str, random: Random) -> str:
    at = int(random.integers(len(text) + 1))
    return text[:at] + chr(int(random.integers(1, 256))) + text[at + 1 :]


def _other_word_of_the_text(text: str, random: Random) -> str:
    words = text.split()
    if not words:
        return text
    lines, i = _lines(text, random)
    mine = lines[i].split(" ")
    mine[int(random.integers(len(mine)))] = words[int(random.integers(len(words)))]
    lines[i] = " ".join(mine)
    return "\n".join(lines)


_TEXT = (
    _drop_line, _double_line, _swap_lines, _cut_off, _replace_word, _replace_word, _insert_word, _replace_character,
    _other_word_of_the_text, _other_word_of_the_text,
)  # fmt: skip
