"""Why variables do not merge: which numbers keep them apart, and what would become of them otherwise.

The numbers of a program fall into *groups*: the costs of a family of variables, its bounds, the right-hand sides of a
family of rows, the coefficients of one family in another. If all numbers of a group were equal, would the program be
smaller? Each group is made equal in turn and lifted again; where no single group is the cause, the smallest set of
groups is looked for that is. What differs by little can be merged by rounding (``digits``) or approximately: sizes are
given.

Nothing here changes a program that is solved: it only counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.arrays import Labels, SparseMatrix, Vector
from relift.lifting.lifting import Lifting, lift
from relift.program.program import Program
from relift.report.families import Families, row_families, variable_families
from relift.settings import LiftSettings

DIGITS = (9, 6, 5, 4, 3, 2)
"""How many digits are tried."""
SMALLER = 0.95
"""A program of this share of the variables or rows is smaller."""
NEAR = 0.1
"""Numbers that differ by more, relatively, are not meant to be equal."""
SECONDS = 10.0
"""How long is looked, unless more is asked for."""

Kind = str
_WORDS = {
    "q": "costs of {0}",
    "lb": "lower bounds of {0}",
    "ub": "upper bounds of {0}",
    "rhs": "right-hand sides of {0}",
    "A": "coefficients of {0} in {1}",
    "P": "quadratic costs of {0} with {1}",
    "conic": "coefficients of {0} in cones",
    "b": "right-hand sides of cones",
}


@final
@dataclass(frozen=True)
class Group:
    """Numbers of one kind and family.

    Parameters
    ----------
    kind
        ``"q"``, ``"lb"``, ``"ub"``, ``"rhs"``, ``"A"``, ``"P"``, ``"conic"`` or ``"b"``.
    family, other
        Whose they are; for coefficients, of which variables and in which rows.
    places
        Where in the array of its kind.
    n_distinct
        How many distinct numbers there are.
    """

    kind: Kind
    family: str
    other: str
    places: NDArray[np.int64]
    n_distinct: int

    def __str__(self) -> str:
        return _WORDS[self.kind].format(self.family, self.other)


@final
@dataclass(frozen=True)
class Miss:
    """Numbers that keep variables or rows apart.

    Parameters
    ----------
    groups
        What would have to be equal, each where the others are.
    variables, rows
        The size of the small program if they were.
    spread
        The largest relative difference between numbers that would have to be equal; NaN if it is not known.
    example
        Two members that would merge, with their numbers, in a sentence.
    digits
        To how many digits they agree, if to two or more; None otherwise.
    """

    groups: tuple[Group, ...]
    variables: int
    rows: int
    spread: float = math.nan
    example: str = ""
    digits: int | None = None

    @property
    def cause(self) -> str:
        """The groups, in words."""
        return " and ".join(str(group) for group in self.groups)

    @property
    def is_near(self) -> bool:
        """Whether the numbers differ so little that an option can merge them."""
        return self.digits is not None or self.spread <= NEAR

    @property
    def advice(self) -> str:
        """What to do about it."""
        if self.digits is not None:
            return f"They agree to {self.digits} digits: digits={self.digits} (--digits {self.digits}) merges them."
        if self.is_near:
            return f"They differ by up to {self.spread:.2g}: approximate=1e-3 (--approximate 1e-3) can merge them."
        return "They differ by much: merge them only if they are meant to be equal."


@final
@dataclass(frozen=True)
class Nearest:
    """What keeps a program from being smaller.

    Parameters
    ----------
    variables, rows
        The size of the small program as it is.
    n_variables
        How many variables the program has.
    misses
        What would make it smaller: first what an option can merge, then the rest, each with the largest gain first.
    rounded
        The size of the small program for numbers of digits, where it is smaller.
    structure
        The size if only the pattern of the numbers mattered: no change of numbers merges more.
    n_groups, n_tried
        How many groups there are, and how many of them there was time for.
    """

    variables: int
    rows: int
    n_variables: int
    misses: tuple[Miss, ...]
    rounded: dict[int, tuple[int, int]]
    structure: tuple[int, int]
    n_groups: int
    n_tried: int

    @property
    def verdict(self) -> str:
        """Why the program is as large as it is, in a sentence."""
        n_all = self.structure[0]
        if n_all >= SMALLER * self.variables and self.structure[1] >= SMALLER * self.rows:
            if self.variables < self.n_variables:
                return "All that the pattern allows is merged: equal numbers would merge nothing more."
            return "The pattern itself does not repeat: equal numbers would merge nothing."
        if not self.misses:
            return f"No group of numbers alone keeps variables apart; with all numbers equal there would be {n_all:,}."
        first = self.misses[0]
        cause = first.cause[:1].upper() + first.cause[1:]
        if first.variables < self.variables:
            return f"{cause} keep variables apart: {self.variables:,} would be {first.variables:,}."
        return f"{cause} keep rows apart: {self.rows:,} would be {first.rows:,}."


def nearest_misses(
    program: Program, settings: LiftSettings | None = None, *, lifting: Lifting | None = None, seconds: float = SECONDS
) -> Nearest:
    """Find what keeps the variables of a program from merging.

    Parameters
    ----------
    program
        The program.
    settings
        How it is lifted.
    lifting
        Its lifting, if there is one.
    seconds
        How long to look.

    Examples
    --------
    A thousand equal machines, but for their costs, which were measured:

    >>> random = np.random.default_rng(0)
    >>> names = [f"machine[{j}]" for j in range(1000)]
    >>> costs = 5 + 1e-5 * random.standard_normal(1000)
    >>> found = nearest_misses(Program(q=costs, A=np.ones((1, 1000)), l=[30], lb=0, ub=1, variable_names=names))
    >>> found.verdict
    'Costs of machine keep variables apart: 1,000 would be 1.'
    >>> found.misses[0].advice
    'They agree to 4 digits: digits=4 (--digits 4) merges them.'
    """
    return _Search(program, settings or LiftSettings(), lifting, perf_counter() + seconds).run()


class _Search:
    """One search, with its deadline."""

    def __init__(self, program: Program, settings: LiftSettings, lifting: Lifting | None, deadline: float) -> None:
        self.program, self.settings, self.deadline = program.minimisation(), settings, deadline
        self.original = program
        self.lifting = lift(program, settings) if lifting is None else lifting
        self.size = (self.lifting.small.n_variables, self.lifting.small.n_rows)
        self.variables, self.rows = variable_families(program), row_families(program)
        self.groups = [group for group in self._groups() if group.n_distinct > 1]

    def run(self) -> Nearest:
        """Try groups one by one, then together."""
        structure = self._equalised(self.groups)
        whole = _size(structure)
        misses: list[Miss] = []
        n_tried = 0
        if self._is_smaller(whole):
            # Many distinct numbers are the likelier cause.
            for group in sorted(self.groups, key=lambda each: -each.n_distinct):
                if self._is_late():
                    break
                n_tried += 1
                alone = self._equalised([group])
                if self._is_smaller(_size(alone)):
                    misses.append(self._miss((group,), alone))
            best = min((miss.variables + miss.rows for miss in misses), default=sum(self.size))
            if sum(whole) < SMALLER * best and len(self.groups) > 1 and not self._is_late():
                together = self._smallest_set(structure)
                if len(together) > 1:
                    misses.append(self._miss(tuple(together), self._equalised(together)))
        # What an option can merge comes first: demands that differ from hour to hour are meant to.
        misses.sort(key=lambda miss: (not miss.is_near, miss.variables + miss.rows, len(miss.groups)))
        rounded = self._rounded()
        n = self.program.n_variables
        return Nearest(*self.size, n, tuple(misses), rounded, whole, len(self.groups), n_tried)

    def _is_late(self) -> bool:
        return perf_counter() >= self.deadline

    def _is_smaller(self, size: tuple[int, int]) -> bool:
        return size[0] < SMALLER * self.size[0] or size[1] < SMALLER * self.size[1]

    # --- groups ---------------------------------------------------------------------------------------------------

    def _groups(self) -> Iterable[Group]:
        program, variables, rows = self.program, self.variables, self.rows
        for kind, values in (("q", program.q), ("lb", program.lb), ("ub", program.ub)):
            yield from _by_family(kind, values, variables.of, variables)
        for sides in (np.where(np.isfinite(program.u), program.u, program.l),):
            yield from _by_family("rhs", sides, rows.of, rows)
        A = program.A.tocoo()
        yield from _by_pair("A", A.data, variables, variables.of[A.coords[1]], rows, rows.of[A.coords[0]])
        if program.P is not None:
            P = program.P.tocoo()
            yield from _by_pair("P", P.data, variables, variables.of[P.coords[0]], variables, variables.of[P.coords[1]])
        if len(program.conic):
            C = program.conic.A.tocoo()
            yield from _by_family("conic", C.data, variables.of[C.coords[1]], variables)
            everything = np.zeros(program.conic.n_rows, dtype=np.int64)
            yield from _by_family("b", program.conic.b, everything, Families(("cones",), everything))

    def _equalised(self, groups: Sequence[Group]) -> Lifting:
        return lift(_with_equal(self.program, groups), self.settings)

    def _smallest_set(self, structure: Lifting) -> list[Group]:
        """Leave out groups that can stay as they are, the fewest distinct numbers first."""
        chosen = sorted(self.groups, key=lambda each: each.n_distinct)
        goal = sum(_size(structure)) / SMALLER
        for group in list(chosen):
            if self._is_late():
                break
            fewer = [each for each in chosen if each is not group]
            if sum(_size(self._equalised(fewer))) <= goal:
                chosen = fewer
        return chosen

    # --- what is told of a miss -------------------------------------------------------------------------------------

    def _miss(self, groups: tuple[Group, ...], merged: Lifting) -> Miss:
        spread, example = 0.0, ""
        for group in groups:
            apart, found = self._spread(group, merged)
            if apart > spread or math.isnan(apart):
                spread, example = apart, found
            if math.isnan(apart):
                break
        digits = None
        if math.isnan(spread):
            digits = self._enough(DIGITS, merged)
        elif 0 < spread <= 1e-2:
            most = math.floor(-math.log10(spread))
            digits = self._enough(range(most, max(1, most - 3), -1), merged)
        return Miss(groups, *_size(merged), spread if spread > 0 else math.nan, example, digits)

    def _enough(self, digits: Iterable[int], merged: Lifting) -> int | None:
        """The first of some numbers of digits with which rounding alone gets that far."""
        for tried in digits:
            if self._is_late():
                return None
            settings = replace(self.settings, digits=tried)
            if sum(_size(lift(self.original, settings))) <= sum(_size(merged)) / SMALLER:
                return tried
        return None

    def _spread(self, group: Group, merged: Lifting) -> tuple[float, str]:
        """The largest relative difference of numbers of the group within a class, with two that have it."""
        program = self.program
        if group.kind in {"q", "lb", "ub"}:
            values = getattr(self.original, group.kind)[group.places]
            classes = merged.class_of_variable[group.places]
            names: Callable[[int], str] = lambda k: self.original.name_of_variable(int(group.places[k]))  # noqa: E731
        elif group.kind == "rhs":
            sides = np.where(np.isfinite(program.u), program.u, program.l)
            values, classes = sides[group.places], merged.class_of_row[group.places]
            names = lambda k: self.original.name_of_row(int(group.places[k]))  # noqa: E731
        elif group.kind == "A":
            row, column, values = _listed(program.A, group.places)
            classes = _kinds(merged.class_of_variable[column], merged.class_of_row[row], np.sign(values))
            names = lambda k: self._pair(column[k], "in", self.original.name_of_row(int(row[k])))  # noqa: E731
        elif group.kind == "P" and program.P is not None:
            row, column, values = _listed(program.P, group.places)
            of_row, of_column = merged.class_of_variable[row], merged.class_of_variable[column]
            classes = _kinds(of_row, of_column, np.sign(values), row == column)
            names = lambda k: self._pair(column[k], "with", self.original.name_of_variable(int(row[k])))  # noqa: E731
        else:
            return math.nan, ""
        return _largest_spread(values, classes, names)

    def _pair(self, variable: int, word: str, other: str) -> str:
        return f"{self.original.name_of_variable(int(variable))} {word} {other}"

    def _rounded(self) -> dict[int, tuple[int, int]]:
        found: dict[int, tuple[int, int]] = {}
        last = self.size
        for digits in DIGITS:
            if self._is_late() or (self.settings.digits is not None and digits >= self.settings.digits):
                continue
            settings = replace(self.settings, digits=digits)
            size = _size(lift(self.original, settings))
            if size[0] < SMALLER * last[0] or size[1] < SMALLER * last[1]:
                found[digits] = last = size
        return found


def _listed(matrix: SparseMatrix, places: Labels) -> tuple[Labels, Labels, Vector]:
    """Rows, columns and values of some entries."""
    listed = matrix.tocoo()
    row, column = (where[places].astype(np.int64) for where in listed.coords)
    return row, column, listed.data[places]


def _kinds(*words: NDArray[np.generic]) -> Labels:
    """Labels that are equal where all words are."""
    return np.unique(np.stack([word.astype(np.int64) for word in words]), axis=1, return_inverse=True)[1].ravel()


def _size(lifting: Lifting) -> tuple[int, int]:
    return lifting.small.n_variables, lifting.small.n_rows


def _by_family(kind: Kind, values: Vector, of: NDArray[np.int64], families: Families) -> Iterable[Group]:
    for k, name in enumerate(families.names):
        places = np.flatnonzero((of == k) & np.isfinite(values))
        if places.size:
            yield Group(kind, name, "", places, int(np.unique(values[places]).size))


def _by_pair(
    kind: Kind,
    values: Vector,
    first: Families,
    of_first: NDArray[np.int64],
    second: Families,
    of_second: NDArray[np.int64],
) -> Iterable[Group]:
    keys, which = np.unique(of_first * len(second.names) + of_second, return_inverse=True)
    for k, key in enumerate(keys.tolist()):
        places = np.flatnonzero(which == k)
        names = first.names[key // len(second.names)], second.names[key % len(second.names)]
        yield Group(kind, *names, places, int(np.unique(np.abs(values[places])).size))


def _with_equal(program: Program, groups: Sequence[Group]) -> Program:
    """The program with the numbers of each group made equal; signs, zeros and infinities stay.

    The numbers are odd ones, so that presolve finds nothing that was not there.
    """
    parts = {name: np.array(getattr(program, name)) for name in ("q", "l", "u", "lb", "ub")}
    is_fixed, is_equality = parts["lb"] == parts["ub"], parts["l"] == parts["u"]
    conic = program.conic
    held = {"A": program.A.tocoo(), "conic": conic.A.tocoo()} | ({} if program.P is None else {"P": program.P.tocoo()})
    entries = {kind: np.array(matrix.data) for kind, matrix in held.items()}
    cone_sides = np.array(conic.b)
    for number, group in enumerate(groups):
        odd, at = 1.0 + 0.0137 * (number + 1), group.places
        match group.kind:
            case "q":
                parts["q"][at] = np.sign(parts["q"][at]) * odd
            case "lb":
                parts["lb"][at] = np.where(is_fixed[at], odd, -odd)
            case "ub":
                parts["ub"][at] = odd
            case "rhs":
                parts["u"][at] = np.where(np.isfinite(parts["u"][at]), odd, np.inf)
                below = np.where(is_equality[at], odd, -odd)
                parts["l"][at] = np.where(np.isfinite(parts["l"][at]), below, -np.inf)
            case "b":
                cone_sides[at] = np.sign(cone_sides[at]) * odd
            case kind:
                entries[kind][at] = np.sign(entries[kind][at]) * odd
    changed = {
        kind: sparse.csr_array((entries[kind], matrix.coords), shape=matrix.shape) for kind, matrix in held.items()
    }
    return Program.trusted(
        sparse.csc_array(changed["P"]) if "P" in changed else None,
        parts["q"], changed["A"], parts["l"], parts["u"], parts["lb"], np.maximum(parts["ub"], parts["lb"]),
        quadratic=program.quadratic, conic=type(conic).trusted(changed["conic"], cone_sides, conic.cones),
    )  # fmt: skip


def _largest_spread(values: Vector, classes: NDArray[np.int64], name_of: Callable[[int], str]) -> tuple[float, str]:
    order = np.lexsort((values, classes))
    ordered, of = values[order], classes[order]
    starts = np.flatnonzero(np.append(True, of[1:] != of[:-1]))
    ends = np.append(starts[1:], of.size) - 1
    low, high = ordered[starts], ordered[ends]
    size = np.maximum(np.maximum(np.abs(low), np.abs(high)), 1e-300)
    apart = np.where(of[starts] >= 0, (high - low) / size, 0.0)  # negative: substituted by presolve
    k = int(np.argmax(apart))
    if not apart[k] > 0:
        return 0.0, ""
    first, last = int(order[starts[k]]), int(order[ends[k]])
    return float(apart[k]), f"{name_of(first)}: {values[first]:.12g}, {name_of(last)}: {values[last]:.12g}"
