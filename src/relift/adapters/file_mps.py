r"""MPS and QPS text, fixed and free, to a program (stage 0); :mod:`relift.adapters.write_mps` is the way back.

The reader is strict: a field that is no number, a row that was never declared, an entry given twice or a
negative upper bound without a lower one is an error with its line, where common readers go on with a zero,
the first value or a guess.

Conventions: the right-hand side of the objective row is the negated constant; ``QUADOBJ`` and ``QSECTION``
list one triangle of P, ``QMATRIX`` all of it, both without the factor ½; numbers from 1e20 on are infinite
bounds; an integer column between markers without any bound reaches from 0 to 1; rows of type N after the
first are left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from scipy import sparse

from relift.adapters.quadratic_in_mps import SECTION, CurvedRow, parted
from relift.errors import FileFormatError
from relift.program.program import Program, Vector

INFINITE_BOUND = 1e20
"""Bounds of this size or more mean that there is no bound, as in every MPS reader."""

_MAXIMISE = {"MAX", "MAXIMIZE", "MAXIMISE", "MAXIMUM"}
_MINIMISE = {"MIN", "MINIMIZE", "MINIMISE", "MINIMUM"}
_QUADRATIC = {"QUADOBJ", "QMATRIX", "QSECTION"}
_REFUSED = {
    "CSECTION": "cones",
    "SOS": "special ordered sets",
    "SOS1": "special ordered sets",
    "SOS2": "special ordered sets",
    "SETS": "special ordered sets",
    "INDICATORS": "indicator constraints",
    "GENCONS": "general constraints",
    "PWLOBJ": "a piecewise linear objective",
}
_NO_END = "the file ends without ENDATA: it is cut off, or it is no MPS file."
_NEED_NO_NUMBER = {"FR", "MI", "PL", "BV"}
_NEED_NUMBER = {"UP", "LO", "FX", "UI", "LI"}


@final
class _LineError(Exception):
    """What is wrong with one line."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(line, reason)
        self.line = line
        self.reason = reason


@final
@dataclass(eq=False)
class _Sections:
    """What was read so far; entries are kept with the line they came from."""

    row_type: dict[str, str] = field(default_factory=dict)
    row_number: dict[str, int] = field(default_factory=dict)
    """Number of each constraint row; -1 for the objective, -2 for further rows of type N."""
    n_constraints: int = 0
    objective_name: str | None = None
    columns: dict[str, int] = field(default_factory=dict)
    integer: set[int] = field(default_factory=set)
    marked_integer: set[int] = field(default_factory=set)
    entries: tuple[list[int], list[int], list[float], list[int]] = field(default_factory=lambda: ([], [], [], []))
    bulk: tuple[Any, Any, Any, Any] | None = None
    """The same as ``entries``, as arrays, where all columns were read at once."""
    costs: dict[int, float] = field(default_factory=dict)
    rhs: dict[int, float] = field(default_factory=dict)
    ranges: dict[int, float] = field(default_factory=dict)
    lower: dict[int, float] = field(default_factory=dict)
    upper: dict[int, tuple[float, int]] = field(default_factory=dict)
    quadratic: tuple[list[int], list[int], list[float], list[int]] = field(default_factory=lambda: ([], [], [], []))
    quadratic_section: str = ""
    curved: dict[int, CurvedRow] = field(default_factory=dict)
    """Rows with a section of their own for quadratic terms, by their numbers; the last one is being read."""
    set_names: dict[str, str] = field(default_factory=dict)
    maximise: bool = False
    is_complete: bool = False


def program_from_mps(text: str, source: str, relax_integers: bool = False) -> Program:
    """Read the text of an MPS or QPS file.

    Names with spaces are only possible in the fixed format; it is tried when the text is no free format.

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
    lines = text.splitlines()
    try:
        try:
            sections = _read_sections(lines, fixed=False)
        except _LineError as error:
            try:
                sections = _read_sections(lines, fixed=True)
            except _LineError:
                is_cut = error.line == len(lines) and not any(line.startswith("ENDATA") for line in lines)
                raise (_LineError(0, _NO_END) if is_cut and error.line > 1 else error) from None
        return _program_from_sections(sections, source, relax_integers)
    except _LineError as error:
        where = f"{source}, line {error.line}" if error.line else source
        raise FileFormatError(f"{where}: {error.reason}") from None


def _number(token: str, line: int) -> float:
    try:
        if "_" in token:
            raise ValueError
        return float(token)
    except ValueError:
        pass
    try:
        if "_" in token:
            raise ValueError
        return float(token.replace("D", "E").replace("d", "e"))  # Fortran writes 1.5D+03
    except ValueError:
        raise _LineError(line, f"{token!r} is not a number.") from None


def _fields(line: str, fixed: bool) -> list[str]:
    if not fixed:
        return line.split()
    line = line.expandtabs(8).rstrip()
    cut = [line[1:3], line[4:12], line[14:22], line[24:36], line[39:47], line[49:61]]
    kept = [part.strip() for part in cut]
    if line[61:].strip() or any(line[i : i + k].strip() for i, k in ((12, 2), (22, 2), (36, 3), (47, 2))):
        return line.split()
    if "'MARKER'" in kept:
        return [part for part in kept if part]
    while kept and not kept[-1]:
        kept.pop()
    return kept if kept and kept[0] else kept[1:]


def _read_sections(lines: Sequence[str], fixed: bool) -> _Sections:
    read = _Sections()
    section = ""
    is_integer = False
    current_column, column_number = "", -1
    entry_rows, entry_columns, entry_values, entry_lines = read.entries
    row_number, costs = read.row_number, read.costs
    skip_to = 0
    for i, line in enumerate(lines, start=1):
        if i < skip_to or not line or line[0] == "*" or line.isspace():
            continue
        if line[0] not in " \t":
            word = line.split()[0].upper()
            if section == "OBJSENSE" and word in _MAXIMISE | _MINIMISE:
                read.maximise = word in _MAXIMISE
                continue
            section = _heading(read, line, i, section)
            if section == "ENDATA":
                read.is_complete = True
                break
            if section == "COLUMNS" and not fixed:
                skip_to = _read_columns_at_once(read, lines, i)
            continue
        fields = _fields(line, fixed)
        if section == "COLUMNS":
            count = len(fields)
            if count not in (3, 5):
                raise _LineError(i, f"a line of COLUMNS has 3 or 5 fields, this one has {count}.")
            if fields[1] == "'MARKER'":
                is_integer = _marker(fields, i, is_integer)
                continue
            name = fields[0]
            if name != current_column:
                current_column = name
                column_number = read.columns.setdefault(name, len(read.columns))
                if is_integer:
                    read.integer.add(column_number)
                    read.marked_integer.add(column_number)
            for k in range(1, count, 2):
                number = row_number.get(fields[k])
                if number is None:
                    raise _LineError(i, f"row {fields[k]!r} is not declared in ROWS.")
                try:
                    value = float(fields[k + 1]) if "_" not in fields[k + 1] else _number(fields[k + 1], i)
                except ValueError:
                    value = _number(fields[k + 1], i)
                if number >= 0:
                    entry_rows.append(number)
                    entry_columns.append(column_number)
                    entry_values.append(value)
                    entry_lines.append(i)
                elif number == -1:
                    if column_number in costs:
                        raise _LineError(i, f"the cost of {name!r} is given twice.")
                    if not math.isfinite(value):
                        raise _LineError(i, f"the cost of {name!r} is {value}.")
                    costs[column_number] = value
        else:
            _read_line(read, section, fields, i)
    if not read.is_complete:
        raise _LineError(0, _NO_END)
    return read


def _read_columns_at_once(read: _Sections, lines: Sequence[str], heading: int) -> int:
    """Read the section COLUMNS if nothing in it is out of the ordinary; return the first line that is left to read.

    Lines of 3 and 5 fields, known rows, plain numbers, one objective entry for each column: then whole columns of
    fields are converted by one call each. Anything else is left to the reader of single lines, which also finds the
    words for errors.
    """
    end = heading
    while end < len(lines) and lines[end][:1] in (" ", "\t"):
        end += 1
    words, first, counts = _words_of_lines(lines[heading:end])
    is_long = counts == 5
    if read.columns or not counts.size or not (is_long | (counts == 3)).all():
        return 0
    names = words[first].tolist()
    columns = {name: j for j, name in enumerate(dict.fromkeys(names))}
    column_numbers = np.array(list(map(columns.__getitem__, names)))
    numbers = np.arange(heading + 1, end + 1)
    found: list[tuple[Any, Any, Any, Any]] = []
    try:
        for k, kept in ((1, np.full(counts.size, True)), (3, is_long)):
            tokens = words[first[kept] + k + 1].tolist()
            if any("_" in token for token in tokens):
                return 0
            rows = np.array(list(map(read.row_number.__getitem__, words[first[kept] + k].tolist())), np.int64)
            found.append((rows, column_numbers[kept], np.array(list(map(float, tokens))), numbers[kept]))
    except (KeyError, ValueError):
        return 0
    rows, places, values, origins = (np.concatenate(parts) for parts in zip(*found, strict=True))
    is_cost = rows == -1
    if np.unique(places[is_cost]).size != np.count_nonzero(is_cost) or not np.isfinite(values).all():
        return 0
    read.columns.update(columns)
    read.costs.update(zip(places[is_cost].tolist(), values[is_cost].tolist(), strict=True))
    is_entry = rows >= 0
    read.bulk = (rows[is_entry], places[is_entry], values[is_entry], origins[is_entry])
    return end + 1


def _words_of_lines(lines: Sequence[str]) -> tuple[Any, Any, Any]:
    """All words of some lines, and for each line where its words begin and how many there are."""
    text = "\n".join(lines)
    words = text.split()
    letters = np.frombuffer(text.encode("utf-8"), np.uint8)
    is_blank = np.isin(letters, np.frombuffer(b" \t\n\r\f\v", np.uint8))
    begins = ~is_blank
    begins[1:] &= is_blank[:-1]
    ends = np.append(np.flatnonzero(letters == ord("\n")), letters.size)
    counts = np.diff(np.searchsorted(np.flatnonzero(begins), ends), prepend=0)
    if counts.sum() != len(words):  # other alphabets have other blanks
        counts = np.zeros(0, np.int64)
    held = np.empty(len(words), dtype=object)
    held[:] = words
    return held, np.cumsum(counts) - counts, counts


def _heading(read: _Sections, line: str, i: int, before: str) -> str:
    words = line.split()
    word = words[0].upper()
    if word in _REFUSED:
        raise _LineError(i, f"it has {_REFUSED[word]} ({word}), which relift does not take.")
    if word in {"NAME", "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "ENDATA", "OBJSENSE"}:
        if word == "OBJSENSE" and len(words) > 1:
            _objective_sense(read, words[1], i)
        return word
    if word == SECTION:
        _begin_curved_row(read, words, i)
        return word
    if word in _QUADRATIC:
        if len(words) > 1 and words[1] != read.objective_name:
            raise _LineError(i, f"it has quadratic constraints ({line.strip()}), which relift does not take.")
        if read.quadratic_section and read.quadratic_section != word:
            raise _LineError(i, f"both {read.quadratic_section} and {word} are there; only one may be.")
        read.quadratic_section = word
        return word
    what = "the section" if before else "this is no MPS file:"
    raise _LineError(i, f"{what} {words[0][:40]!r} is not known.")


def _begin_curved_row(read: _Sections, words: Sequence[str], i: int) -> None:
    if len(words) != 2:
        raise _LineError(i, f"{SECTION} is followed by the name of a row.")
    number = read.row_number.get(words[1], -2)
    if number < 0:
        raise _LineError(i, f"there is no constraint {words[1]!r}.")
    if number in read.curved:
        raise _LineError(i, f"the row {words[1]!r} has two sections {SECTION}.")
    if read.row_type[words[1]] == "E" or number in read.ranges:
        raise _LineError(i, f"the row {words[1]!r} has quadratic terms and two sides, which is not convex.")
    read.curved[number] = CurvedRow(i)


def _objective_sense(read: _Sections, word: str, i: int) -> None:
    if word.upper() not in _MAXIMISE | _MINIMISE:
        raise _LineError(i, f"OBJSENSE is {word!r}; it must be MIN or MAX.")
    read.maximise = word.upper() in _MAXIMISE


def _marker(fields: Sequence[str], i: int, is_integer: bool) -> bool:
    kind = fields[2].strip("'")
    if kind not in {"INTORG", "INTEND"}:
        what = "special ordered sets" if kind.startswith("SOS") else f"a marker {kind!r}"
        raise _LineError(i, f"it has {what}, which relift does not take.")
    if (kind == "INTORG") == is_integer:
        raise _LineError(i, f"the marker {kind} comes twice in a row.")
    return not is_integer


def _read_line(read: _Sections, section: str, fields: list[str], i: int) -> None:
    if section == "ROWS":
        _read_row(read, fields, i)
    elif section in {"RHS", "RANGES"}:
        _read_right_hand_side(read, section, fields, i)
    elif section == "BOUNDS":
        _read_bound(read, fields, i)
    elif section in _QUADRATIC:
        if len(fields) not in (3, 5):
            raise _LineError(i, f"a line of {section} has 3 or 5 fields, this one has {len(fields)}.")
        for k in range(1, len(fields), 2):
            read.quadratic[0].append(_column(read, fields[0], i))
            read.quadratic[1].append(_column(read, fields[k], i))
            read.quadratic[2].append(_number(fields[k + 1], i))
            read.quadratic[3].append(i)
    elif section == SECTION:
        if len(fields) != 3:
            raise _LineError(i, f"a line of {section} has 3 fields, this one has {len(fields)}.")
        row = next(reversed(read.curved.values()))
        row.first.append(_column(read, fields[0], i))
        row.second.append(_column(read, fields[1], i))
        row.values.append(_number(fields[2], i))
        row.lines.append(i)
    elif section == "OBJSENSE":
        _objective_sense(read, fields[0], i)
    else:
        raise _LineError(
            i, "this is no MPS file: data before the first section." if not section else f"data in {section}."
        )


def _read_row(read: _Sections, fields: list[str], i: int) -> None:
    if len(fields) != 2:
        raise _LineError(i, f"a line of ROWS has 2 fields, this one has {len(fields)}.")
    kind, name = fields[0].upper(), fields[1]
    if kind not in {"N", "L", "G", "E"}:
        raise _LineError(i, f"row type {fields[0]!r} is none of N, L, G and E.")
    if name in read.row_type:
        raise _LineError(i, f"row {name!r} is declared twice.")
    if kind == "N":
        read.row_number[name] = -1 if read.objective_name is None else -2
        read.objective_name = name if read.objective_name is None else read.objective_name
    else:
        read.row_number[name] = read.n_constraints
        read.n_constraints += 1
    read.row_type[name] = kind


def _read_right_hand_side(read: _Sections, section: str, fields: list[str], i: int) -> None:
    if not 2 <= len(fields) <= 5:
        raise _LineError(i, f"a line of {section} has 2 to 5 fields, this one has {len(fields)}.")
    if len(fields) % 2:
        _check_set(read, section, fields[0], i)
        fields = fields[1:]
    target = read.rhs if section == "RHS" else read.ranges
    for name, token in zip(fields[::2], fields[1::2], strict=True):
        number = read.row_number.get(name)
        if number is None:
            raise _LineError(i, f"row {name!r} is not declared in ROWS.")
        value = _number(token, i)
        if math.isnan(value):
            raise _LineError(i, f"{token!r} is not a number.")
        if number in target and number != -2:
            raise _LineError(i, f"{section} of row {name!r} is given twice.")
        if number == -1 and (section == "RANGES" or not math.isfinite(value)):
            raise _LineError(i, f"{section} of the objective row {name!r} is {token}.")
        target[number] = value


def _check_set(read: _Sections, section: str, name: str, i: int) -> None:
    if read.set_names.setdefault(section, name) != name:
        first = read.set_names[section]
        raise _LineError(i, f"{section} has two sets, {first!r} and {name!r}; keep one of them.")


def _column(read: _Sections, name: str, i: int) -> int:
    number = read.columns.get(name)
    if number is None:
        raise _LineError(i, f"variable {name!r} does not occur in COLUMNS.")
    return number


def _read_bound(read: _Sections, fields: list[str], i: int) -> None:
    kind = fields[0].upper()
    if kind in {"SC", "SI"}:
        raise _LineError(i, "it has semi-continuous variables, which relift does not take.")
    if kind in _NEED_NO_NUMBER:
        # TYPE [set] variable [number, which is not used]
        if len(fields) == 4 or (len(fields) == 3 and fields[2] in read.columns):
            _check_set(read, "BOUNDS", fields[1], i)
            fields = [kind, fields[2]]
        value = 0.0
    elif kind in _NEED_NUMBER:
        if len(fields) == 4:
            _check_set(read, "BOUNDS", fields[1], i)
            fields = [kind, *fields[2:]]
        if len(fields) != 3:
            raise _LineError(i, f"a bound of type {kind} has 3 or 4 fields, this one has {len(fields)}.")
        value = _number(fields[2], i)
    else:
        raise _LineError(i, f"bound type {fields[0]!r} is not known.")
    if len(fields) < 2:
        raise _LineError(i, f"a bound of type {kind} names no variable.")
    j = _column(read, fields[1], i)
    if math.isnan(value):
        raise _LineError(i, f"{fields[2]!r} is not a number.")
    if kind in {"BV", "UI", "LI"}:
        read.integer.add(j)
    if kind in {"LO", "LI", "FX"}:
        read.lower[j] = value
    if kind in {"UP", "UI", "FX"}:
        read.upper[j] = (value, i)
    if kind in {"FR", "MI"}:
        read.lower[j] = -math.inf
    if kind in {"FR", "PL"}:
        read.upper[j] = (math.inf, i)
    if kind == "BV":
        read.lower[j], read.upper[j] = 0.0, (1.0, i)


def _program_from_sections(read: _Sections, source: str, relax_integers: bool) -> Program:
    if read.integer and not relax_integers:
        first = next(name for name, j in read.columns.items() if j in read.integer)
        raise FileFormatError(
            f"{source} has {len(read.integer)} integer variables, the first is {first!r};"
            " relift solves continuous programs.",
            "Ask for the relaxation with relax_integers=True (on the command line: --relax).",
        )
    names = [name for name, number in read.row_number.items() if number >= 0]
    n, m = len(read.columns), len(names)
    if n == 0:
        raise _LineError(0, "it has no variables: the section COLUMNS is empty or missing.")
    l, u = _row_bounds(read, names)
    lb, ub = _variable_bounds(read, n)
    q = np.zeros(n)
    q[list(read.costs)] = list(read.costs.values())
    for row in read.curved.values():
        if (fault := row.fault()) is not None:
            raise _LineError(*fault)
    A, l, u, curved, left = parted(_matrix(read, m, n, names), l, u, read.curved)
    curved.check()
    names = [names[i] for i in left]
    return Program(
        _quadratic_part(read, n),
        q,
        A,
        l,
        u,
        lb,
        ub,
        -read.rhs.get(-1, 0.0) + 0.0,
        sense="max" if read.maximise else "min",
        variable_names=list(read.columns),
        row_names=names,
        quadratic=curved,
    )


def _matrix(read: _Sections, m: int, n: int, names: Sequence[str]) -> Any:
    bulk = read.bulk or tuple(np.array(part) for part in read.entries)
    rows, columns, values, lines = (np.asarray(part) for part in bulk)
    rows, columns = rows.astype(np.int64), columns.astype(np.int64)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        k = int(bad[0])
        raise _LineError(int(lines[k]), f"the coefficient in row {names[rows[k]]!r} is {values[k]}.")
    _refuse_duplicates(rows + columns * m, lines, "the coefficient is given twice.")
    return sparse.csc_array((values, (rows, columns)), shape=(m, n))


def _refuse_duplicates(keys: Any, lines: Any, what: str) -> None:
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if same.size:
        pairs = np.asarray(lines)[np.stack([order[same], order[same + 1]])]
        raise _LineError(int(pairs.max(axis=0).min()), what)


def _row_bounds(read: _Sections, names: Sequence[str]) -> tuple[Vector, Vector]:
    l, u = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    for i, name in enumerate(names):
        kind, right = read.row_type[name], read.rhs.get(i, 0.0)
        if kind in "GE":
            l[i] = right
        if kind in "LE":
            u[i] = right
        width = read.ranges.get(i)
        if width is not None:
            if kind == "G" or (kind == "E" and width > 0):
                u[i] = right + abs(width)
            elif kind == "L" or width < 0:
                l[i] = right - abs(width)
    return _without_infinite(l), _without_infinite(u)


def _variable_bounds(read: _Sections, n: int) -> tuple[Vector, Vector]:
    lb, ub = np.zeros(n), np.full(n, np.inf)
    for j in read.marked_integer - set(read.lower) - set(read.upper):
        ub[j] = 1.0
    for j, value in read.lower.items():
        lb[j] = value
    for j, (value, line) in read.upper.items():
        if value < 0 and j not in read.lower:
            raise _LineError(
                line,
                f"the upper bound {value:.17g} is negative and there is no lower bound: readers disagree"
                " whether it is then 0 or -inf. Add a bound of type LO or MI.",
            )
        ub[j] = value
    return _without_infinite(lb), _without_infinite(ub)


def _without_infinite(bounds: Vector) -> Vector:
    bounds[bounds >= INFINITE_BOUND] = np.inf
    bounds[bounds <= -INFINITE_BOUND] = -np.inf
    return bounds


def _quadratic_part(read: _Sections, n: int) -> Any:
    rows, columns = (np.array(part, dtype=np.int64) for part in read.quadratic[:2])
    values, lines = np.array(read.quadratic[2]), read.quadratic[3]
    if not values.size:
        return None
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise _LineError(lines[int(bad[0])], f"the coefficient is {values[bad[0]]}.")
    section = read.quadratic_section
    if section == "QMATRIX":
        _refuse_duplicates(rows + columns * n, lines, f"the entry of {section} is given twice.")
        P = sparse.csc_array((values, (rows, columns)), shape=(n, n))
        difference = (P - P.T).tocoo()
        wrong = np.flatnonzero(difference.data)
        if wrong.size:
            names = list(read.columns)
            i, j = (int(part[wrong[0]]) for part in difference.coords)
            i, j = min(i, j), max(i, j)
            raise _LineError(0, f"QMATRIX is not symmetric: the entries of {names[i]!r} and {names[j]!r} differ.")
        return P
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    _refuse_duplicates(low + high * n, lines, f"{section} lists one triangle, but this pair is given twice.")
    off = low != high
    return sparse.csc_array(
        (
            np.concatenate([values, values[off]]),
            (np.concatenate([low, high[off]]), np.concatenate([high, low[off]])),
        ),
        shape=(n, n),
    )
