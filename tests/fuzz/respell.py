"""Other spellings of the same file: comments, empty lines, spacing, line ends, numbers. Its reading must not change."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

Random = np.random.Generator
_NUMBER = re.compile(r"^[+-]?\d+(\.\d*)?([eE][+-]?\d+)?$")
_COMMENTS = ("* a comment", "*", "* RHS", "*    x  y  1.0", "  ", "", "\t", "* ENDATA", "***** é *****")


def respelled_mps(text: str, random: Random) -> tuple[str, str]:
    """The text, and what was done to it."""
    return _changed(text, random, {
        "comments": _with_comments, "empty lines": _with_empty_lines, "spacing": _with_spacing, "tabs": _with_tabs,
        "line ends": _with_line_ends, "D exponents": _with_d_exponents, "plus signs": _with_plus_signs,
        "more zeros": _with_zeros, "pairs apart": _with_pairs_apart, "end": _after_the_end,
    })  # fmt: skip


def respelled_lp(text: str, random: Random) -> tuple[str, str]:
    return _changed(text, random, {
        "comments": _with_lp_comments, "empty lines": _with_empty_lp_lines, "line ends": _with_line_ends,
        "spaces": _with_lp_spaces, "capitals": _with_lp_capitals,
    })  # fmt: skip


def respelled_csv(text: str, random: Random) -> tuple[str, str]:
    return _changed(text, random, {
        "line ends": _with_line_ends, "quotes": _with_quotes, "no last line end": lambda t, r: t.rstrip("\n"),
        "byte order mark": lambda t, r: "\ufeff" + t.removeprefix("\ufeff"),
    })  # fmt: skip


def _changed(text: str, random: Random, changes: dict[str, Callable[[str, Random], str]]) -> tuple[str, str]:
    names = [str(name) for name in random.permutation(list(changes))]
    chosen = names[: int(random.choice([1, 1, 2, 3]))]
    if "line ends" in chosen:  # at last: the others work on lines
        chosen = [name for name in chosen if name != "line ends"] + ["line ends"]
    for name in chosen:
        text = changes[name](text, random)
    return text, " + ".join(sorted(chosen))


def _with_inserted(text: str, random: Random, new: tuple[str, ...], begin: int = 0) -> str:
    lines = text.split("\n")
    for _ in range(int(random.integers(1, 5))):
        lines.insert(int(random.integers(begin, len(lines))), str(random.choice(new)))
    return "\n".join(lines)


def _with_comments(text: str, random: Random) -> str:
    return _with_inserted(text, random, _COMMENTS)


def _with_empty_lines(text: str, random: Random) -> str:
    return _with_inserted(text, random, ("", " ", "   "))


def _on_data_lines(text: str, change: Callable[[str], str]) -> str:
    """Lines that begin with a blank hold data; all others are headings or comments."""
    return "\n".join(change(line) if line[:1] in (" ", "\t") and line.strip() else line for line in text.split("\n"))


def _with_spacing(text: str, random: Random) -> str:
    def spaced(line: str) -> str:
        gaps = [" " * int(random.integers(1, 7)) for _ in line.split()]
        return "".join(gap + word for gap, word in zip(gaps, line.split(), strict=True)) + " " * int(random.integers(3))

    return _on_data_lines(text, spaced)


def _with_tabs(text: str, random: Random) -> str:
    return _on_data_lines(text, lambda line: "\t" + "\t".join(line.split()) if random.random() < 0.5 else line)


def _with_line_ends(text: str, random: Random) -> str:
    return text.replace("\n", "\r\n")


def _on_numbers(text: str, change: Callable[[str], str]) -> str:
    def changed(line: str) -> str:
        words = line.split()
        # A name may look like a number: only every second word after the first can be one.
        return "    " + "  ".join(
            change(word) if k >= 2 and k % 2 == len(words) % 2 ^ 1 and _NUMBER.match(word) else word
            for k, word in enumerate(words)
        )

    return _on_data_lines(text, changed)


def _with_d_exponents(text: str, random: Random) -> str:
    def changed(word: str) -> str:
        return f"{word}D0" if "e" not in word.lower() else word.replace("e", "D").replace("E", "D")

    return _on_numbers(text, changed)


def _with_plus_signs(text: str, random: Random) -> str:
    return _on_numbers(text, lambda word: word if word[0] in "+-" else f"+{word}")


def _with_zeros(text: str, random: Random) -> str:
    return _on_numbers(text, lambda word: f"{word}.000" if re.match(r"^[+-]?\d+$", word) else word)


def _with_pairs_apart(text: str, random: Random) -> str:
    """One entry on each line of COLUMNS, RHS and RANGES instead of two."""
    lines, section = [], ""
    for line in text.split("\n"):
        words = line.split()
        if line[:1] not in (" ", "\t", "*", ""):
            section = words[0] if words else ""
        if section in ("COLUMNS", "RHS", "RANGES") and line[:1] == " " and len(words) == 5:
            lines += [f"    {words[0]}  {words[1]}  {words[2]}", f"    {words[0]}  {words[3]}  {words[4]}"]
        else:
            lines.append(line)
    return "\n".join(lines)


def _after_the_end(text: str, random: Random) -> str:
    return text + str(random.choice(["\n", "\n\n", "* the end\n", "   \n"]))


def _with_lp_comments(text: str, random: Random) -> str:
    return _with_inserted(text, random, ("\\ a comment", "\\", "\\ subject to", "\\ x + y >= 1"))


def _with_empty_lp_lines(text: str, random: Random) -> str:
    return _with_inserted(text, random, ("", "  "))


def _with_lp_spaces(text: str, random: Random) -> str:
    return "\n".join(f"{' ' * int(random.integers(1, 4))}{line}{' ' * int(random.integers(3))}"
                     if line[:1] == " " else line for line in text.split("\n"))  # fmt: skip


def _with_lp_capitals(text: str, random: Random) -> str:
    return re.sub(r"(?im)^(minimi[sz]e|maximi[sz]e|subject to|bounds|end)$", lambda found: found[0].upper(), text)


def _with_quotes(text: str, random: Random) -> str:
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if line and '"' not in line and random.random() < 0.5:
            words = line.split(",")
            # A quoted number is still a number in a table; a quoted header is still a header.
            lines[i] = ",".join(f'"{word}"' if i == 0 else word for word in words)
    return "\n".join(lines)
