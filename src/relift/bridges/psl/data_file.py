"""The ``.data`` files of PSL: the small part of YAML that they use, maps and lists of words by indentation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import final

from relift.errors import FileFormatError


@final
@dataclass(frozen=True)
class _Line:
    number: int
    indent: int
    text: str


def read_data_file(text: str, name: str) -> dict[str, object]:
    r"""Read a map of maps, lists and words.

    Parameters
    ----------
    text
        The text.
    name
        How messages call it.

    Raises
    ------
    FileFormatError
        If it is not of that form.

    Examples
    --------
    >>> read_data_file("predicates:\n  Knows/2: open\ntargets:\n  Knows:\n    - a.txt\n    - b.txt", "x.data")
    {'predicates': {'Knows/2': 'open'}, 'targets': {'Knows': ['a.txt', 'b.txt']}}
    """
    lines = []
    for number, raw in enumerate(text.splitlines(), 1):
        plain = re.sub(r"(^|\s)#.*$", "", raw).rstrip()
        if plain and plain.strip() != "---":
            if "\t" in plain[: len(plain) - len(plain.lstrip())]:
                raise FileFormatError(f"{name}:{number}: a tab stands where blanks indent.", "Replace it by blanks.")
            lines.append(_Line(number, len(plain) - len(plain.lstrip()), plain.strip()))
    found, rest = _block(lines, 0, name)
    if rest:
        raise FileFormatError(f"{name}:{rest[0].number}: this line is indented less than the first one.")
    if not isinstance(found, dict):
        raise FileFormatError(f"{name} is not a map of sections.", "It begins with: predicates:")
    return found


def _block(lines: list[_Line], indent: int, name: str) -> tuple[object, list[_Line]]:
    """The lines from the first on that are indented at least as far, and those that are left."""
    if not lines:
        return {}, []
    own = lines[0].indent
    if own < indent:
        return None, lines
    if lines[0].text.startswith("- ") or lines[0].text == "-":
        return _list(lines, own, name)
    return _map(lines, own, name)


def _list(lines: list[_Line], own: int, name: str) -> tuple[list[object], list[_Line]]:
    items: list[object] = []
    while lines and lines[0].indent == own and lines[0].text.startswith("-"):
        line = lines[0]
        text = line.text[1:].strip()
        if re.match(r"[^'\"\s][^:]*:(\s|$)", text):  # "- types:" with a list below
            inner = own + line.text.index(text, 1)
            item, lines = _map([_Line(line.number, inner, text), *lines[1:]], inner, name)
            items.append(item)
        else:
            items.append(_word(text, line, name))
            lines = lines[1:]
    return items, lines


def _map(lines: list[_Line], own: int, name: str) -> tuple[dict[str, object], list[_Line]]:
    found: dict[str, object] = {}
    while lines and lines[0].indent == own and not lines[0].text.startswith("- "):
        line = lines[0]
        match = re.match(r"(?P<key>'[^']*'|\"[^\"]*\"|[^:]+?)\s*:(?:\s+(?P<value>.*))?$", line.text)
        if match is None:
            raise FileFormatError(f"{name}:{line.number}: '{line.text}' is not of the form key: value.")
        key = match["key"].strip("'\"")
        if key in found:
            raise FileFormatError(f"{name}:{line.number}: {key} is there twice.")
        lines = lines[1:]
        if match["value"]:
            found[key] = _word(match["value"], line, name)
        elif lines and (lines[0].indent > own or (lines[0].indent == own and lines[0].text.startswith("- "))):
            found[key], lines = _block(lines, own, name)
        else:
            found[key] = None
    if lines and lines[0].indent > own:
        raise FileFormatError(f"{name}:{lines[0].number}: this line is indented further than the one above.")
    return found, lines


def _word(text: str, line: _Line, name: str) -> object:
    """A word, or a list in brackets."""
    if text.startswith("["):
        if not text.endswith("]"):
            raise FileFormatError(f"{name}:{line.number}: the list does not end in its line.")
        return [part.strip().strip("'\"") for part in text[1:-1].split(",") if part.strip()]
    if text.startswith(("{", "&", "*", "|", ">")):
        raise FileFormatError(f"{name}:{line.number}: {text[0]} is YAML that PSL's data files do not need.")
    return text.strip("'\"")
