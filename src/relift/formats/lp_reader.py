r"""LP-format text to a program; :mod:`relift.formats.lp_writer` is the inverse.

The dialect is that of CPLEX and Gurobi without what is not continuous and convex; docs/files.md describes it. It is
read strictly: what is not part of it (two numbers in a row, variables on both sides, a name used twice for rows, a
bound given twice) is an error with its line. Terms of one variable in a row add up, as decimals: .1 x + .2 x is .3 x.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import final

import numpy as np
from scipy import sparse

from relift.arrays import Indices, SparseMatrix, Vector
from relift.errors import BoundsError, FileFormatError
from relift.formats.lp_words import LpWords, Section, quoted
from relift.formats.mps_program import without_infinite
from relift.formats.mps_quadratic import CurvedRow, parted
from relift.program.program import Program

_NUMBER_STARTS = frozenset("0123456789.")
_SIGNS = {"+": 1.0, "-": -1.0}
_COMPARE = {"<=": "<", "=<": "<", "<": "<", ">=": ">", "=>": ">", ">": ">", "=": "="}
_INFINITIES = {"inf", "infinity"}
_NO_NAMES = {*_INFINITIES, "nan", "free"}
_FLIPPED = {"<": ">", ">": "<", "=": "="}
_LP_SOLVE = (
    "A file in lp_solve's own format is not read: let lp_solve write it as MPS"
    " (lp_solve -S1 -parse -wfmps model.mps model.lp)."
)
_REFUSED = {
    "semicontinuous": "semi-continuous variables",
    "sos": "special ordered sets",
    "refused": "a section of lazy constraints, user cuts, general constraints or further objectives",
}


def program_from_lp(text: str, source: str, relax_integers: bool = False) -> Program:
    r"""Read the text of a file in LP format.

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
        If the text is not LP format, or holds more than a continuous convex program.

    Examples
    --------
    >>> text = "minimise\n cost: x + [ 2 x ^ 2 + 2 x * y + 2 y ^ 2 ] / 2\nsubject to\n c: 1 <= x + y <= 4\nend\n"
    >>> program = program_from_lp(text, "tiny.lp")
    >>> program.P.toarray().tolist(), program.q.tolist(), program.l.tolist(), program.u.tolist()
    ([[2.0, 1.0], [1.0, 2.0]], [1.0, 0.0], [1.0], [4.0])
    >>> program_from_lp(text.replace("<= 4", "<= four"), "tiny.lp")
    Traceback (most recent call last):
    relift.errors.FileFormatError: tiny.lp, line 4: a number is needed here, not 'four'.
    """
    return program_from_lp_with_notes(text, source, relax_integers)[0]


def program_from_lp_with_notes(text: str, source: str, relax_integers: bool = False) -> tuple[Program, tuple[str, ...]]:
    """The same, and what a reader of the file should know: variables that only the bounds name, text after END."""
    if not text.strip():
        raise FileFormatError(f"{source} is empty.")
    reader = _Reader(LpWords(text, source))
    reader.read()
    return _program(reader, source, relax_integers), tuple(reader.notes)


Square = tuple[int, int, float]


@final
@dataclass(eq=False)
class _Terms:
    """Linear terms of many rows, one behind the other."""

    variables: list[int] = field(default_factory=list)
    coefficients: list[float] = field(default_factory=list)


@final
@dataclass(eq=False)
class _Row:
    """A constraint: how many linear terms it has, its quadratic ones, its sides, and the word it begins with."""

    n_terms: int
    squares: Sequence[Square]
    lower: float
    upper: float
    name: str
    word: int


class _Reader:
    """Goes through the words once; ``k`` is the next one."""

    def __init__(self, words: LpWords) -> None:
        self.words, self.k = words, 0
        self.sense = ""
        self.objective = _Terms()
        self.constants: Sequence[float] = ()
        self.squares: Sequence[Square] = ()
        self.terms = _Terms()
        self.rows: list[_Row] = []
        self.number_of: dict[str, int] = {}
        self.lower: dict[int, float] = {}
        self.upper: dict[int, float] = {}
        self.integer: set[int] = set()
        self.binary: dict[int, int] = {}
        """Variables that are 0 or 1, and the word that says so."""
        self.notes: list[str] = []

    def read(self) -> None:
        """Read all sections."""
        words = self.words
        found = words.section_at(0)
        if words.words[:2] in (["/", "*"], ["/", "/"]):
            raise words.fail(0, f"it begins with a comment as C has them. {_LP_SOLVE}")
        if found is None or found[0] not in ("min", "max"):
            raise words.fail(
                0, f"this is not an LP file: it begins with {quoted(words.words[0])}, not with min or max."
            )
        section: Section = found[0]
        self.k = found[1]
        seen: set[Section] = set()
        n_used = 0
        while section != "end":
            if section in seen and section == "rows":
                raise words.fail(self.k - 1, "this section comes a second time.")
            seen.add(section)
            self._section(section)
            if section in ("min", "max", "rows"):
                n_used = len(self.number_of)
            found = words.section_at(self.k)
            if found is None:
                if self.k >= words.n_words:
                    raise FileFormatError(f"{words.source}: the file ends without END: it is cut off.")
                raise words.fail(self.k, f"{quoted(words.words[self.k])} does not fit here.")
            section = found[0]
            self.k += found[1]
        if self.k < words.n_words:
            self.notes.append(f"{words.n_words - self.k} words after END are not read.")
        if n_used < len(self.number_of):
            name = list(self.number_of)[n_used]
            self.notes.append(
                f"{len(self.number_of) - n_used} variables occur neither in the objective nor in a row, the first is"
                f" {quoted(name)}."
            )

    def _section(self, section: Section) -> None:
        words = self.words.words
        if section in ("min", "max"):
            if self.sense:
                raise self.words.fail(self.k - 1, "there are two objectives.")
            self.sense = section
            if words[self.k] == ":":
                raise self.words.fail(
                    self.k,
                    f"after {section} comes the objective, not a colon. {_LP_SOLVE}",
                )
            if words[self.k + 1] == ":":
                self._name(self.k)
                self.k += 2
            self.constants, self.squares = self._expression(self.objective, in_objective=True)
        elif section == "rows":
            while self.k < self.words.n_words and self.words.section_at(self.k) is None:
                self._row()
        elif section == "bounds":
            while self.k < self.words.n_words and self.words.section_at(self.k) is None:
                self._bound()
        elif section in ("integers", "binaries"):
            while self.k < self.words.n_words and self.words.section_at(self.k) is None:
                j = self._variable(self.k)
                if section == "binaries":
                    self.binary.setdefault(j, self.k)
                self.integer.add(j)
                self.k += 1
        elif section in _REFUSED and (self.words.section_at(self.k) is None or section == "refused"):
            raise self.words.fail(self.k - 1, f"it has {_REFUSED[section]}, which relift does not take.")

    def _name(self, k: int) -> str:
        """The name at word k; what is not a name, or means something else, is refused."""
        word = self.words.words[k]
        if word == "->":
            raise self.words.fail(k, "it has indicator constraints, which relift does not take.")
        if not word or word in _COMPARE or word[0] in "+-*/^:[]<>=" or word[0] in _NUMBER_STARTS:
            what = f", not {quoted(word)}" if word else ""
            raise self.words.fail(k, f"a name is needed here{what}.")
        if word[0] == ";":
            raise self.words.fail(
                k, f"a name that begins with a semicolon, {quoted(word)}: for some readers the line ends there."
            )
        if word.count("(") != word.count(")"):
            raise self.words.fail(
                k, f"the parentheses of {quoted(word)} do not match: LP format has none but in names, such as x(1)."
            )
        if word.lower() in _NO_NAMES or self.words.section_at(k) is not None:
            raise self.words.fail(k, f"{quoted(word)} means something else in LP format and cannot be a name.")
        return word

    def _variable(self, k: int) -> int:
        """The number of the variable at word k, which may be new."""
        word = self.words.words[k]
        j = self.number_of.get(word)
        if j is None:
            j = self.number_of[self._name(k)] = len(self.number_of)
        return j

    def _expression(self, terms: _Terms, in_objective: bool = False) -> tuple[Sequence[float], Sequence[Square]]:
        """Read terms until something else comes: a comparison, a section, or a name with a colon.

        Linear terms are appended to those given; constants and quadratic terms are returned.
        """
        words, number_of = self.words.words, self.number_of
        variables, coefficients = terms.variables, terms.coefficients
        constants: list[float] = []
        squares: list[Square] = []
        k, is_first = self.k, True
        while True:
            word = words[k]
            if word in _SIGNS and (j := number_of.get(words[k + 2])) is not None:
                try:  # nearly all terms: a sign, a number, a variable that is known
                    value = float(words[k + 1])
                except ValueError:
                    value = math.nan
                if -math.inf < value < math.inf and words[k + 1][0] in _NUMBER_STARTS and words[k + 3] != ":":
                    variables.append(j)
                    coefficients.append(-value if word == "-" else value)
                    k += 3
                    is_first = False
                    continue
            sign, begin = 1.0, k
            while word in _SIGNS:
                sign *= _SIGNS[word]
                k += 1
                word = words[k]
            has_sign = k > begin
            j = number_of.get(word)
            if j is None:
                is_number = bool(word) and word[0] in _NUMBER_STARTS
                if not (is_number or word == "["):
                    is_over = not word or word in _COMPARE or self._ends_expression(k)
                    if is_over and not has_sign:
                        break
                    j = self._variable(k)  # raises where it cannot be one
            if not has_sign and not is_first:
                if words[k + 1] == ":":
                    break  # the name of the next row
                raise self.words.fail(k, f"a sign is missing before {quoted(word)}.")
            is_first = False
            if j is not None:
                variables.append(j)
                coefficients.append(sign)
                k += 1
                continue
            if word == "[":
                k = self._squares(k, sign, squares, in_objective)
                continue
            value = self._coefficient(k)
            k += 1
            k += words[k] == "*"
            word = words[k]
            j = number_of.get(word)
            if j is None and word and word not in _SIGNS and word not in _COMPARE:
                if word == "[" or word[0] in _NUMBER_STARTS:
                    raise self.words.fail(k, f"a sign is missing before {quoted(word)}.")
                if not self._ends_expression(k):
                    j = self._variable(k)
            if j is None or (words[k + 1] == ":" and words[k - 1] != "*"):
                if words[k - 1] == "*":
                    raise self.words.fail(k, "a variable is needed after *.")
                constants.append(sign * value)
            else:
                variables.append(j)
                coefficients.append(sign * value)
                k += 1
        self.k = k
        return constants, squares

    def _ends_expression(self, k: int) -> bool:
        return self.words.section_at(k) is not None or self.words.words[k + 1] == ":"

    def _number(self, k: int) -> float:
        """The number at word k, which begins like one."""
        try:
            return float(self.words.words[k])
        except ValueError:
            raise self.words.fail(k, f"{quoted(self.words.words[k])} is not a number.") from None

    def _coefficient(self, k: int) -> float:
        value = self._number(k)
        if not math.isfinite(value):
            raise self.words.fail(k, f"the coefficient {quoted(self.words.words[k])} is not a finite number.")
        return value

    def _squares(self, k: int, sign: float, squares: list[Square], in_objective: bool) -> int:
        """Read ``[ 2 x ^ 2 - x * y ]``, in the objective with ``/ 2`` behind it; return the next word."""
        words, begin = self.words.words, k
        k += 1
        is_first = True
        terms: list[Square] = []
        while words[k] != "]":
            value, start = sign, k
            while words[k] in _SIGNS:
                value *= _SIGNS[words[k]]
                k += 1
            if k == start and not is_first:
                raise self.words.fail(
                    k, f"a sign is missing before {quoted(words[k])}." if words[k] else "] is missing."
                )
            is_first = False
            if words[k] and words[k][0] in _NUMBER_STARTS:
                value *= self._coefficient(k)
                k += 1
                k += words[k] == "*"
            first = self._variable(k)
            if words[k + 1] == "^":
                if not words[k + 2] or words[k + 2][0] not in _NUMBER_STARTS or self._number(k + 2) != 2.0:
                    raise self.words.fail(k + 2, "the exponent must be 2.")
                second = first
            elif words[k + 1] == "*":
                second = self._variable(k + 2)
            else:
                raise self.words.fail(k + 1, "between [ and ] stand squares x ^ 2 and products x * y.")
            terms.append((first, second, value))
            k += 3
        k += 1
        is_halved = words[k] == "/" and words[k + 1] == "2"
        if is_halved != in_objective:
            where = "In the objective, [ ... ] is followed by / 2." if in_objective else "Only the objective has / 2."
            raise self.words.fail(begin, f"the quadratic part is not written as LP format does. {where}")
        squares += terms
        return k + 2 if is_halved else k

    def _signed_number(self) -> float:
        """A number with any signs, or an infinity."""
        words = self.words.words
        sign = 1.0
        while words[self.k] in _SIGNS:
            sign *= _SIGNS[words[self.k]]
            self.k += 1
        word = words[self.k]
        if word and word[0] in _NUMBER_STARTS:
            value = self._number(self.k)
        elif word.lower() in _INFINITIES:
            value = math.inf
        else:
            raise self.words.fail(self.k, f"a number is needed here{f', not {quoted(word)}' if word else ''}.")
        self.k += 1
        return sign * value

    def _comparison(self, after_row: bool = False) -> str:
        word = self.words.words[self.k]
        if word not in _COMPARE:
            what = f", not {quoted(word)}" if word else ""
            advice = " If the terms before belong to the row before them: variables stand on the left side." * after_row
            raise self.words.fail(self.k, f"<=, >= or = is needed here{what}.{advice}")
        self.k += 1
        return _COMPARE[word]

    def _is_number_and_comparison(self) -> bool:
        """Whether a number, also an infinite one, and a comparison come next."""
        words, k = self.words.words, self.k
        while words[k] in _SIGNS:
            k += 1
        is_number = bool(words[k]) and (words[k][0] in _NUMBER_STARTS or words[k].lower() in _INFINITIES)
        return is_number and words[k + 1] in _COMPARE

    def _row(self) -> None:
        words, begin = self.words.words, self.k
        name = ""
        if words[self.k + 1] == ":":
            name = self._name(self.k)
            self.k += 2
        sides: dict[str, float] = {}
        n_before = len(self.terms.variables)
        if self._is_number_and_comparison():
            value = self._signed_number()
            sides[_FLIPPED[self._comparison()]] = value
            constants, squares = self._expression(self.terms)
            if words[self.k] in _COMPARE:
                compare, value = self._comparison(), self._signed_number()
                if "=" in (compare, *sides) or compare in sides:
                    raise self.words.fail(begin, "a row with two sides reads a <= expression <= b.")
                sides[compare] = value
        else:
            constants, squares = self._expression(self.terms)
            compare = self._comparison(after_row=not name and words[begin] in _SIGNS and bool(self.rows))
            sides[compare] = self._signed_number()
        n_terms = len(self.terms.variables) - n_before
        if not n_terms and not squares:
            raise self.words.fail(begin, "this row has no variable.")
        equal = sides.get("=")
        lower = sides.get(">", -math.inf) if equal is None else equal
        upper = sides.get("<", math.inf) if equal is None else equal
        if constants:
            shift = _sum(constants)
            lower, upper = _difference(lower, shift), _difference(upper, shift)
        self.rows.append(_Row(n_terms, squares, lower, upper, name, begin))

    def _bound(self) -> None:
        begin = self.k
        if self._is_number_and_comparison():
            value = self._signed_number()
            compare = self._comparison()
            j = self._variable(self.k)
            self.k += 1
            self._set_bound(j, _FLIPPED[compare], value, begin)
            if self.words.words[self.k] in _COMPARE:
                if compare == "=" or self.words.words[self.k] == "=":
                    raise self.words.fail(self.k, "a bound with two sides reads a <= x <= b.")
                self._set_bound(j, self._comparison(), self._signed_number(), begin)
            return
        j = self._variable(self.k)
        self.k += 1
        if self.words.words[self.k].lower() == "free":
            self.k += 1
            self._set_bound(j, ">", -math.inf, begin)
            self._set_bound(j, "<", math.inf, begin)
        else:
            self._set_bound(j, self._comparison(), self._signed_number(), begin)

    def _set_bound(self, j: int, compare: str, value: float, word: int) -> None:
        for bounds, side in ((self.lower, ">"), (self.upper, "<")):
            if compare in (side, "=") and bounds.setdefault(j, value) != value:
                which = "lower" if side == ">" else "upper"
                raise self.words.fail(
                    word,
                    f"the {which} bound of {quoted(list(self.number_of)[j])} is given twice:"
                    f" {bounds[j]:.17g}, and now {value:.17g}. Keep one of them.",
                )


def _sum(numbers: Sequence[float]) -> float:
    """A sum of decimals, exact before it is rounded once."""
    if len(numbers) < 2:
        return numbers[0] if numbers else 0.0
    return float(sum(Fraction(repr(value)) for value in numbers))


def _difference(value: float, shift: float) -> float:
    return value if shift == 0 or math.isinf(value) else _sum([value, -shift])


def _collected(places: Indices, values: Vector) -> tuple[Indices, Vector]:
    """Places in order, each once, with the sums of their values."""
    order = np.argsort(places, kind="stable")
    places, values = places[order], values[order]
    first = np.flatnonzero(np.append(True, places[1:] != places[:-1])) if places.size else np.zeros(0, np.int64)
    ends = np.append(first[1:], places.size)
    sums = values[first]
    for k in np.flatnonzero(ends - first > 1).tolist():
        sums[k] = _sum(values[first[k] : ends[k]].tolist())
    return places[first], sums


def _program(reader: _Reader, source: str, relax_integers: bool) -> Program:
    names = list(reader.number_of)
    n, m = len(names), len(reader.rows)
    if n == 0:
        raise FileFormatError(f"{source} has no variables.")
    if reader.integer and not relax_integers:
        raise FileFormatError(
            f"{source} has {len(reader.integer)} integer variables, the first is {names[min(reader.integer)]!r};"
            " relift solves continuous programs.",
            "Ask for the relaxation with relax_integers=True (on the command line: --relax).",
        )
    q = np.zeros(n)
    objective = reader.objective
    columns, sums = _collected(np.array(objective.variables, np.int64), np.array(objective.coefficients))
    q[columns] = sums
    l, u = (without_infinite(np.array([getattr(row, side) for row in reader.rows])) for side in ("lower", "upper"))
    A, l, u, curved, left = parted(_matrix(reader, m, n), l, u, _curved_rows(reader))
    curved.check()
    row_names = _row_names(reader)
    lb, ub = _variable_bounds(reader, names)
    P = _symmetric(reader.squares, n)
    return Program(
        P, q, A, l, u, lb, ub, _sum(reader.constants),
        sense="max" if reader.sense == "max" else "min",
        variable_names=names, row_names=[row_names[i] for i in left], quadratic=curved,
    )  # fmt: skip


def _matrix(reader: _Reader, m: int, n: int) -> SparseMatrix:
    lengths = [row.n_terms for row in reader.rows]
    columns, values = np.array(reader.terms.variables, np.int64), np.array(reader.terms.coefficients, np.float64)
    places, sums = _collected(np.repeat(np.arange(m), lengths) * n + columns, values)
    matrix: SparseMatrix = sparse.csr_array((sums, (places // n, places % n)), shape=(m, n)).tocsc()
    return matrix


def _symmetric(squares: Sequence[Square], n: int) -> SparseMatrix | None:
    """P of ½x'Px from the terms of [ ... ] / 2: a square keeps its number, a product is shared by two entries."""
    if not squares:
        return None
    first, second, values = _listed(squares, n)
    P: SparseMatrix = sparse.csc_array((values, (first, second)), shape=(n, n))
    return P


def _listed(squares: Sequence[Square], n: int) -> tuple[Indices, Indices, Vector]:
    """Both triangles of the matrix of a quadratic form, terms of one pair added up."""
    first, second = (np.array([term[side] for term in squares], np.int64) for side in (0, 1))
    low, high = np.minimum(first, second), np.maximum(first, second)
    places, values = _collected(low * n + high, np.array([term[2] for term in squares]))
    low, high = places // n, places % n
    off = low != high
    values[off] /= 2.0
    return (
        np.concatenate([low, high[off]]),
        np.concatenate([high, low[off]]),
        np.concatenate([values, values[off]]),
    )


def _curved_rows(reader: _Reader) -> dict[int, CurvedRow]:
    found: dict[int, CurvedRow] = {}
    for i, row in enumerate(reader.rows):
        if row.squares:
            if math.isfinite(row.lower) and math.isfinite(row.upper):
                raise reader.words.fail(row.word, "a row has quadratic terms and two sides, which is not convex.")
            first, second, values = _listed(row.squares, len(reader.number_of))
            found[i] = CurvedRow(0, first.tolist(), second.tolist(), values.tolist())
    return found


def _row_names(reader: _Reader) -> list[str]:
    """The names of the rows; one without a name is called by its place, c1, c2, ... as other readers do."""
    taken: dict[str, int] = {}
    for row in reader.rows:
        if row.name and taken.setdefault(row.name, row.word) != row.word:
            raise reader.words.fail(row.word, f"two rows are called {quoted(row.name)}.")
    names = []
    for i, row in enumerate(reader.rows, 1):
        name = row.name or f"c{i}"
        while not row.name and name in taken:
            name += "_"
        taken.setdefault(name, row.word)
        names.append(name)
    return names


def _variable_bounds(reader: _Reader, names: list[str]) -> tuple[Vector, Vector]:
    lb, ub = np.zeros(len(names)), np.full(len(names), np.inf)
    for bounds, given in ((lb, reader.lower), (ub, reader.upper)):
        bounds[list(given)] = list(given.values())
    for j, value in reader.upper.items():
        if value < 0 and j not in reader.lower:
            raise BoundsError(
                f"the upper bound {value:.17g} of variable {quoted(names[j])} is negative, and the lower bound is 0"
                " where none is given.",
                f"Write -inf <= {names[j]} <= {value:.17g} if there is none.",
                "ub",
                (j,),
            )
    for j, word in reader.binary.items():
        ub[j] = reader.upper.get(j, 1.0)
        if not 0.0 <= lb[j] <= ub[j] <= 1.0:
            raise reader.words.fail(
                word, f"{quoted(names[j])} is 0 or 1, but its bounds are {lb[j]:.17g} and {ub[j]:.17g}."
            )
    return without_infinite(lb), without_infinite(ub)
