r"""The words of a file in LP format: numbers, names, signs; comments (``\`` to the end of the line) are gone here.

Lines mean nothing in this format but for comments, so words are one long list; where a word stands is looked up only
when something is wrong with it.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, final

from relift.errors import FileFormatError

Section = Literal["min", "max", "rows", "bounds", "integers", "binaries", "semicontinuous", "sos", "refused", "end"]

# A name may hold what is no sign of the grammar; an index in square brackets right behind it is part of it. Each
# alternative begins with another sign and none can match in two ways, so that the time is linear in the text.
_NAME_SIGN = r"[^\s+\-*/^<>=:\[\]\\]"
_WORD = re.compile(
    r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
    rf"|(?![0-9.]){_NAME_SIGN}+(?:(?:/(?={_NAME_SIGN})|\[[^\s\[\]]*\]){_NAME_SIGN}*)*"
    r"|<=|=<|>=|=>|->|::|[^\s]"
)
_COMMENT = re.compile(r"\\[^\n]*")
_UNSEEN = re.compile("[^\\S \t\n\f\v]|[\u200b-\u200d\u2060\ufeff]")
"""Looks like a space or like nothing, but is part of a name for some readers and a space for others."""

_KEYWORDS: dict[str, Section] = {
    "min": "min", "minimize": "min", "minimise": "min", "minimum": "min",
    "max": "max", "maximize": "max", "maximise": "max", "maximum": "max",
    "st": "rows", "st.": "rows", "s.t": "rows", "s.t.": "rows",
    "bound": "bounds", "bounds": "bounds",
    "gen": "integers", "general": "integers", "generals": "integers",
    "int": "integers", "integer": "integers", "integers": "integers",
    "bin": "binaries", "binary": "binaries", "binaries": "binaries",
    "semi": "semicontinuous", "semis": "semicontinuous",
    "sos": "sos", "sos1": "sos", "sos2": "sos",
    "pwlobj": "refused",
    "end": "end",
}  # fmt: skip
_PAIRS: dict[tuple[str, ...], Section] = {
    ("subject", "to"): "rows", ("such", "that"): "rows",
    ("lazy", "constraints"): "refused", ("user", "cuts"): "refused",
    ("general", "constraint"): "refused", ("general", "constraints"): "refused",
}  # fmt: skip
_TRIPLES: dict[tuple[str, ...], Section] = {
    ("semi", "-", "continuous"): "semicontinuous",
    ("multi", "-", "objectives"): "refused",
    ("multi", "-", "objective"): "refused",
}
_FIRST_WORDS = {*_KEYWORDS, *(words[0] for words in (*_PAIRS, *_TRIPLES))}

HEADING_WORDS = frozenset({*_KEYWORDS, *(word for words in (*_PAIRS, *_TRIPLES) for word in words)})
"""Lower-case words of which headings are made: no names in files that are written."""


@final
class LpWords:
    r"""All words of a text, with an end that never runs out.

    Parameters
    ----------
    text
        All of the file.
    source
        How to call the file in messages.

    Examples
    --------
    >>> LpWords("min 3x[1]+.5y \\ all\nst", "m.lp").words[:-3]
    ['min', '3', 'x[1]', '+', '.5', 'y', 'st']
    """

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        self._text = text
        if "\\" in text:
            last_end = text.rfind("*\\")
            for comment in _COMMENT.finditer(text):
                is_open = comment[0].startswith("\\*") and "*\\" not in comment[0][2:]
                if is_open and comment.end() < last_end:
                    line = text.count("\n", 0, comment.start()) + 1
                    raise FileFormatError(
                        f"{source}, line {line}: a comment \\* ... *\\ of several lines: begin each of them with \\."
                    )
            text = self._text = _COMMENT.sub("", text)
        if (unseen := _UNSEEN.search(text)) is not None:
            line = text.count("\n", 0, unseen.start()) + 1
            name = unicodedata.name(unseen[0], "a control character").lower()
            raise FileFormatError(
                f"{source}, line {line}: {name} (U+{ord(unseen[0]):04X}) between words or in a name.",
                "Replace it with a space, or remove it.",
            )
        self.words: list[str] = _WORD.findall(text)
        self.n_words = len(self.words)
        self.words += ["", "", ""]  # whoever looks ahead needs no check

    def section_at(self, k: int) -> tuple[Section, int] | None:
        """The section that begins with word k, and how many words its heading has; None if that is no heading."""
        words = self.words
        first = words[k].lower()
        if first not in _FIRST_WORDS:
            return None
        second = words[k + 1].lower()
        for table, size in ((_TRIPLES, 3), (_PAIRS, 2)):
            found = table.get((first, second, words[k + 2].lower())[:size])
            if found is not None:
                return found, size
        found = _KEYWORDS.get(first)
        return None if found is None else (found, 1)

    def fail(self, k: int, reason: str) -> FileFormatError:
        """The error for what is wrong with word k, with its line."""
        if k >= self.n_words:
            return FileFormatError(f"{self.source} ends too early: {reason}")
        start = next(match.start() for number, match in enumerate(_WORD.finditer(self._text)) if number == k)
        return FileFormatError(f"{self.source}, line {self._text.count(chr(10), 0, start) + 1}: {reason}")


def quoted(word: str) -> str:
    """A word as messages quote it: what cannot be printed is escaped, and it is never endless."""
    return repr(word if len(word) <= 60 else word[:57] + "...")
