r"""MPS and QPS text, fixed and free, to a program; :mod:`relift.formats.mps_writer` is the inverse.

The reader is strict: a field that is no number, a row that was never declared, an entry or a bound given twice or a
negative upper bound without a lower one is an error with its line, where common readers go on with a zero,
the first value or a guess.

Conventions: the right-hand side of the objective row is the negated constant; ``QUADOBJ`` and ``QSECTION``
list one triangle of P, ``QMATRIX`` all of it, both without the factor ½; numbers from 1e20 on are infinite
bounds; an integer column between markers without any bound reaches from 0 to 1; the objective is the row of type N
that ``OBJNAME`` names, or else the first, and other rows of that type are left out; of several sets in RHS, RANGES or
BOUNDS the first counts, and a note says so. docs/files.md has the whole dialect.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

from relift.errors import FileFormatError
from relift.formats.mps_columns import Columns
from relift.formats.mps_program import INFINITE_BOUND, MpsModel, program_from_model
from relift.formats.mps_quadratic import SECTION, CurvedRow
from relift.formats.mps_words import LineError, Lines, number, shown, without_comment
from relift.program.program import Program

__all__ = ["INFINITE_BOUND", "program_from_mps", "program_from_mps_with_notes"]

_SENSES = {
    f"{sense}{ending}": sense.lower()
    for sense in ("MAX", "MIN")
    for ending in ("", "IMIZE", "IMISE", "IMUM", "IMIZATION", "IMISATION")
}
_QUADRATIC = ("QUADOBJ", "QMATRIX", "QSECTION")
_REFUSED = {
    "CSECTION": "cones",
    "SOS": "special ordered sets",
    "SOS1": "special ordered sets",
    "SOS2": "special ordered sets",
    "SETS": "special ordered sets",
    "INDICATORS": "indicator constraints",
    "GENCONS": "general constraints",
    "PWLOBJ": "a piecewise linear objective",
    "LAZYCONS": "lazy constraints",
    "USERCUTS": "user cuts",
}
_DATA = ("ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", *_QUADRATIC, SECTION)
_ONE_WORD = ("OBJSENSE", "OBJNAME")
_HEADINGS = {"NAME", "ENDATA", "OBJSENSEMAX", "OBJSENSEMIN", *_DATA, *_ONE_WORD, *_REFUSED}
_NO_END = "the file ends without ENDATA: it is cut off, or it is not an MPS file."
_NEED_NO_NUMBER = {"FR", "MI", "PL", "BV"}
_NEED_NUMBER = {"UP", "LO", "FX", "UI", "LI"}
# What a type of bound says of each side; None is the number in the line.
_LOWER = {"LO": None, "LI": None, "FX": None, "FR": -math.inf, "MI": -math.inf, "BV": 0.0}
_UPPER = {"UP": None, "UI": None, "FX": None, "FR": math.inf, "PL": math.inf, "BV": 1.0}


def program_from_mps(text: str, source: str, relax_integers: bool = False) -> Program:
    """Read the text of an MPS or QPS file.

    Names with spaces are only possible in the fixed format; it is tried when the text is not in free format.

    Parameters
    ----------
    text
        All of the file.
    source
        How to call the file in messages.
    relax_integers
        Read integer variables as continuous ones instead of refusing them.

    Raises
    ------
    FileFormatError
        If the text is not MPS, or holds more than a linear or quadratic program.

    Examples
    --------
    >>> text = '''NAME  TINY
    ... ROWS
    ...  N  COST
    ...  G  DEMAND
    ... COLUMNS
    ...     X  COST  1  DEMAND  2
    ... RHS
    ...     RHS  DEMAND  3
    ... QUADOBJ
    ...     X  X  4
    ... ENDATA
    ... '''
    >>> program = program_from_mps(text, "tiny.qps")
    >>> program.P.toarray().tolist(), program.A.toarray().tolist(), program.l.tolist(), program.row_names
    ([[4.0]], [[2.0]], [3.0], ['DEMAND'])
    >>> program_from_mps(text.replace("DEMAND  2", "DEMAND  two"), "tiny.qps")
    Traceback (most recent call last):
    relift.errors.FileFormatError: tiny.qps, line 6: 'two' is not a number.
    """
    return program_from_mps_with_notes(text, source, relax_integers)[0]


def program_from_mps_with_notes(
    text: str, source: str, relax_integers: bool = False
) -> tuple[Program, tuple[str, ...]]:
    """The same, and what the file holds that was not used: further sets, lines after ENDATA."""
    try:
        lines = Lines.of(text)
        try:
            model = _read(lines, fixed=False)
        except LineError as error:
            try:
                model = _read(lines, fixed=True)
            except LineError:
                last = int(lines.numbers[-1]) if len(lines) else 0
                is_cut = error.line == last > 1 and not _has_end(lines)
                raise (LineError(0, _NO_END) if is_cut else error) from None
        return program_from_model(model, source, relax_integers), tuple(model.notes())
    except LineError as error:
        where = f"{source}, line {error.line}" if error.line else source
        raise FileFormatError(f"{where}: {error.reason}") from None


def _has_end(lines: Lines) -> bool:
    return any(lines.fields(k)[0].upper() == b"ENDATA" for k in (~lines.is_indented).nonzero()[0].tolist())


@final
@dataclass(eq=False)
class _Reader:
    """Where the reader is: the section, and what was read so far."""

    lines: Lines
    fixed: bool
    section: str = ""
    model: MpsModel = field(default_factory=lambda: MpsModel(Columns()))


def _read(lines: Lines, fixed: bool) -> MpsModel:
    reader = _Reader(lines, fixed)
    start = 0
    # Indented lines are data. The others are looked at one by one: headings, or data that are not indented.
    for k in (~lines.is_indented).nonzero()[0].tolist():
        if start <= k and _is_heading(reader, k):
            _read_data(reader, start, k)
            start = k + 1
            _begin_section(reader, k)
            if reader.section == "ENDATA":
                reader.model.n_lines_after_end = len(lines) - start
                return reader.model
    _read_data(reader, start, len(lines))
    raise LineError(0, _NO_END)


def _is_heading(reader: _Reader, k: int) -> bool:
    """Whether a line that is not indented is a heading; one that is neither heading nor data is an error."""
    words, section = reader.lines.fields(k), reader.section
    line, word = int(reader.lines.numbers[k]), words[0].decode("utf-8", "replace").upper()
    if section in _ONE_WORD and word not in _HEADINGS:
        return False
    if word in _SENSES and len(words) == 1 and section in ("", "NAME", *_ONE_WORD):
        return True  # some programs write MAX as a section of its own
    if word not in _HEADINGS:
        if len(words) > 1 and section in _DATA:
            return False
        what = "the section" if section else "this is not an MPS file:"
        raise LineError(line, f"{what} {shown(words[0])} is not known.")
    if section == word and word in ("RHS", "RANGES") and len(words) > 2:
        return False  # the set is called like its section
    if word == "NAME" and section in _DATA:
        raise LineError(line, "NAME comes after other sections. Indent lines of data that begin with this word.")
    if word in _DATA and word not in (*_QUADRATIC, SECTION) and len(words) > 1:
        raise LineError(
            line, f"the heading {word} stands alone in its line. Indent lines of data that begin with this word."
        )
    return True


def _begin_section(reader: _Reader, k: int) -> None:
    model, words, line = reader.model, reader.lines.fields(k), int(reader.lines.numbers[k])
    word = words[0].decode("utf-8", "replace").upper()
    if word in _REFUSED:
        raise LineError(line, f"it has {_REFUSED[word]} ({word}), which relift does not take.")
    if word in _SENSES or word in ("OBJSENSEMAX", "OBJSENSEMIN"):
        _objective_sense(model, word.removeprefix("OBJSENSE").encode(), line)
        word = "NAME"
    elif word in _ONE_WORD and len(words) > 1:
        _one_word(model, word, words[1:], line)
    elif word == SECTION:
        _begin_curved_row(model, words, line)
    elif word in _QUADRATIC:
        if len(words) > 1 and words[1] != model.objective_name():
            raise LineError(
                line,
                f"it has quadratic constraints ({word} {shown(words[1])}), which are written with {SECTION}.",
            )
        if model.quadratic_section and model.quadratic_section != word:
            raise LineError(line, f"both {model.quadratic_section} and {word} are there; only one may be.")
        model.quadratic_section = word
    reader.section = word


def _begin_curved_row(model: MpsModel, words: Sequence[bytes], line: int) -> None:
    if len(words) != 2:
        raise LineError(line, f"{SECTION} is followed by the name of a row.")
    row = model.row_number.get(words[1], -1)
    if row < 0:
        raise LineError(line, f"there is no constraint {shown(words[1])}.")
    if row in model.curved:
        raise LineError(line, f"the row {shown(words[1])} has two sections {SECTION}.")
    if model.row_type[words[1]] == "E" or row in model.ranges:
        raise LineError(line, f"the row {shown(words[1])} has quadratic terms and two sides, which is not convex.")
    model.curved[row] = CurvedRow(line)


def _one_word(model: MpsModel, section: str, words: Sequence[bytes], line: int) -> None:
    if len(words) != 1:
        raise LineError(line, f"{section} is followed by one word, not by {len(words)}.")
    if section == "OBJSENSE":
        _objective_sense(model, words[0], line)
        return
    if model.columns.number_of:
        raise LineError(line, "OBJNAME comes after COLUMNS; it must stand before.")
    if model.wanted_objective is not None and model.wanted_objective[0] != words[0]:
        raise LineError(line, f"OBJNAME is given twice, as {shown(model.wanted_objective[0])} and {shown(words[0])}.")
    model.wanted_objective = (words[0], line)


def _objective_sense(model: MpsModel, word: bytes, line: int) -> None:
    sense = _SENSES.get(word.decode("utf-8", "replace").upper())
    if sense is None:
        raise LineError(line, f"OBJSENSE is {shown(word)}; it must be MIN or MAX.")
    if model.sense not in (None, sense):
        raise LineError(line, "OBJSENSE is given twice, as MIN and as MAX.")
    model.sense = sense


def _read_data(reader: _Reader, start: int, stop: int) -> None:
    """Read some lines of one section."""
    model, lines, section, fixed = reader.model, reader.lines, reader.section, reader.fixed
    if start >= stop:
        return
    if section == "COLUMNS":
        model.columns.read(lines, start, stop, model.row_number, fixed)
        return
    first = int(lines.numbers[start])
    if section not in _DATA and section not in _ONE_WORD:
        raise LineError(
            first, "this is not an MPS file: data before the first section." if not section else f"data in {section}."
        )
    read_line = {"ROWS": _read_row, "BOUNDS": _read_bound}.get(section)

    def is_name(word: bytes) -> bool:
        return word in model.row_number or word in model.columns.number_of

    fields_of = lines.fixed_fields if fixed else lines.fields
    for k, line in enumerate(lines.numbers[start:stop].tolist(), start):
        fields = fields_of(k)
        if lines.has_dollars:
            fields = without_comment(fields, is_name, 2 if section in ("ROWS", "BOUNDS") else 1)
        if read_line is not None:
            read_line(model, fields, line)
        elif section in ("RHS", "RANGES"):
            _read_right_hand_side(model, section, fields, line)
        elif section in _ONE_WORD:
            _one_word(model, section, fields, line)
        else:
            _read_quadratic(model, section, fields, line)


def _read_row(model: MpsModel, fields: list[bytes], line: int) -> None:
    if len(fields) != 2:
        raise LineError(line, f"a line of ROWS has 2 fields, this one has {len(fields)}.")
    kind, name = fields[0].decode("utf-8", "replace").upper(), fields[1]
    if kind not in {"N", "L", "G", "E"}:
        raise LineError(line, f"row type {shown(fields[0])} is not one of N, L, G and E.")
    if name in model.row_type:
        raise LineError(line, f"row {shown(name)} is declared twice.")
    if kind == "N":
        model.free_rows.append(name)
        model.row_number[name] = -len(model.free_rows)
    else:
        model.row_number[name] = model.n_constraints
        model.n_constraints += 1
    model.row_type[name] = kind


def _read_right_hand_side(model: MpsModel, section: str, fields: list[bytes], line: int) -> None:
    if not 2 <= len(fields) <= 5:
        raise LineError(line, f"a line of {section} has 2 to 5 fields, this one has {len(fields)}.")
    if len(fields) % 2:
        if not model.is_first_set(section, fields[0]):
            return
        fields = fields[1:]
    target = model.rhs if section == "RHS" else model.ranges
    for name, word in zip(fields[::2], fields[1::2], strict=True):
        row = model.row_number.get(name)
        if row is None:
            raise LineError(line, f"row {shown(name)} is not declared in ROWS.")
        value = number(word, line)
        if math.isnan(value):
            raise LineError(line, f"{shown(word)} is not a number.")
        if row in target:
            raise LineError(line, f"{section} of row {shown(name)} is given twice.")
        target[row] = (value, line)


def _variable(model: MpsModel, name: bytes, line: int) -> int:
    column = model.columns.number_of.get(name)
    if column is None:
        raise LineError(line, f"variable {shown(name)} does not occur in COLUMNS.")
    return column


def _read_bound(model: MpsModel, fields: list[bytes], line: int) -> None:
    kind, known = fields[0].decode("utf-8", "replace").upper(), model.columns.number_of
    if kind in {"SC", "SI"}:
        raise LineError(line, "it has semi-continuous variables, which relift does not take.")
    if kind in _NEED_NO_NUMBER:
        # TYPE [set] variable [number, which is not used]
        if not 2 <= len(fields) <= 4:
            raise LineError(line, f"a bound of type {kind} has 2 to 4 fields, this one has {len(fields)}.")
        if len(fields) == 4 or (len(fields) == 3 and (fields[2] in known or fields[1] not in known)):
            if not model.is_first_set("BOUNDS", fields[1]):
                return
            fields = [fields[0], fields[2]]
        value = 0.0
    elif kind in _NEED_NUMBER:
        if len(fields) == 4:
            if not model.is_first_set("BOUNDS", fields[1]):
                return
            fields = [fields[0], *fields[2:]]
        if len(fields) != 3:
            raise LineError(line, f"a bound of type {kind} has 3 or 4 fields, this one has {len(fields)}.")
        value = number(fields[2], line)
        if math.isnan(value):
            raise LineError(line, f"{shown(fields[2])} is not a number.")
    else:
        raise LineError(line, f"bound type {shown(fields[0])} is not known.")
    column = _variable(model, fields[1], line)
    if kind in {"BV", "UI", "LI"}:
        model.integer.add(column)
    for bounds, side, meanings in ((model.lower, "lower", _LOWER), (model.upper, "upper", _UPPER)):
        if kind not in meanings:
            continue
        meaning = meanings[kind]
        bound = value if meaning is None else meaning
        before = bounds.get(column)
        if before is not None and before[0] != bound:
            raise LineError(
                line,
                f"the {side} bound of {shown(fields[1])} is given twice: {before[0]:.17g} in line {before[1]}, and now"
                f" {bound:.17g}. Keep one of them (MI and UP together have no lower bound).",
            )
        bounds[column] = (bound, line)


def _read_quadratic(model: MpsModel, section: str, fields: list[bytes], line: int) -> None:
    if section == SECTION:
        if len(fields) != 3:
            raise LineError(line, f"a line of {section} has 3 fields, this one has {len(fields)}.")
        row = next(reversed(model.curved.values()))
        row.first.append(_variable(model, fields[0], line))
        row.second.append(_variable(model, fields[1], line))
        row.values.append(number(fields[2], line))
        row.lines.append(line)
        return
    if len(fields) not in (3, 5):
        raise LineError(line, f"a line of {section} has 3 or 5 fields, this one has {len(fields)}.")
    first = _variable(model, fields[0], line)
    for name, word in zip(fields[1::2], fields[2::2], strict=True):
        firsts, seconds, values, lines = model.quadratic
        firsts.append(first)
        seconds.append(_variable(model, name, line))
        values.append(number(word, line))
        lines.append(line)
