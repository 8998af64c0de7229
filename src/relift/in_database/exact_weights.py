r"""Entries as exact numbers that an engine can multiply and add: whole numbers, or residues in three parts.

Two rows belong together if the *exact* sums of their entries into each class agree. An engine adds 64-bit integers
exactly and quickly, so entries are brought into such a form, by the values that occur and not entry by entry:

*whole numbers*
    where all values are short decimals, :math:`a = k \cdot 10^{-s}`, the entry is k (a common factor changes no class);
*residues*
    otherwise the entry is its image mod :math:`p = 2^{61} - 1` (:mod:`relift.symmetry.finite_field`), in three parts of
    21 bits, :math:`w_0 + 2^{21} w_1 + 2^{42} w_2`. Sums of the parts are exact, and joined mod p afterwards. For
    counting, the image is a random residue for each distinct value, so that multisets are compared.

Rows are compared up to a factor, as the compiled core does: the scale of row i is :math:`T_i = \sum_j a_{ij}\omega_j`
with weights of the initial colours of the variables. Here a row is not divided by T, which would leave short decimals
only by luck; rows whose bounds and whose second such sum :math:`\sum_j a_{ij}\omega'_j` agree *after* division are
put into one kind, and multiplied by small whole numbers inside of it: 1, wherever scaling has nothing to do. Rows of
two kinds cannot fall into one class, so the classes are those of the core.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from math import gcd, lcm
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import FieldElements, Indices
from relift.in_database.program_tables import EngineProgram
from relift.in_database.temporary_tables import TemporaryTables
from relift.settings import Reading
from relift.symmetry import finite_field as field
from relift.symmetry.colour_refinement_reference import (
    SMALLEST_SHARE,
    Scales,
    scaled_bounds,
    variable_weights,
)
from relift.tables.algebra import (
    Aggregate,
    AggregateFunction,
    Column,
    Distinct,
    Filter,
    Join,
    Plan,
    Project,
    Scalar,
    call,
    literal,
    project,
)
from relift.tables.engine import Arrays

Method = Literal["equitable", "counting"]

WHOLE_BITS = 24
"""Whole numbers below 2^24 are used as they are; words of classes then have 38 bits, and there are two of them."""
PART_BITS = 21
N_PARTS = 3
PRODUCT_BITS = 62
MOST_DECIMALS = 9
SMALL = 1 << 20
"""Numerator and denominator of a factor between rows that still counts as a small fraction."""


@final
@dataclass(frozen=True, eq=False)
class ExactWeights:
    """Entries in the form that rounds of refinement add up, and the kinds of rows and columns to start from.

    Parameters
    ----------
    entries
        Plan with ``row``, ``column`` and one or three columns ``w0, ...``; beside three, also the scaled ``float``.
    quadratic
        Plan with ``first``, ``second`` and the same columns, or None.
    n_parts
        1 for whole numbers, 3 for residues.
    word_bits
        How many bits the words of classes may have.
    column_kinds
        Stored table (``id``, ``class``): classes 0, 1, ... of the variables to start from.
    row_kinds
        Stored table (``id``, ``class``, ``factor``): the row, times this factor, is what is compared.
    n_column_kinds, n_row_kinds
        How many there are of each.
    is_scaled
        Whether some factor is not 1.
    digest
        A hash of the values, costs and bounds that occur.
    """

    entries: Plan
    quadratic: Plan | None
    n_parts: int
    word_bits: int
    column_kinds: Plan
    row_kinds: Plan
    n_column_kinds: int
    n_row_kinds: int
    is_scaled: bool
    digest: bytes

    @property
    def parts(self) -> list[str]:
        """Names of the columns of an entry."""
        return [f"w{k}" for k in range(self.n_parts)]


def residue(sums: list[Scalar]) -> Scalar:
    """The residue mod p of sums of parts, as an integer 0 .. p-1."""
    modulus = literal(field.MODULUS)
    total: Scalar | None = None
    for position, part in enumerate(sums):
        term: Scalar = call("remainder", call("wide integer", part), modulus)
        if position:
            term = call("*", term, call("wide integer", literal(1 << PART_BITS * position)))
        total = term if total is None else call("+", total, term)
    assert total is not None
    centred = call("remainder", total, modulus)
    return call("integer", call("remainder", call("+", centred, modulus), modulus))


def exact_weights(
    program: EngineProgram, temporary: TemporaryTables, *, method: Method, reading: Reading, scale_rows: bool, seed: int
) -> ExactWeights:
    """Bring the entries of a program into a form that an engine adds up exactly.

    Parameters
    ----------
    program
        The program.
    temporary
        Where to keep tables.
    method
        ``"equitable"`` compares sums, ``"counting"`` multisets.
    reading
        How floats are read.
    scale_rows
        Compare rows up to a factor.
    seed
        Seed of the random residues of counting.
    """
    return _Making(program, temporary, method, reading, scale_rows, seed).run()


@dataclass(frozen=True, eq=False)
class _RowKinds:
    table: Plan
    size: int
    multipliers: Indices
    """Distinct multipliers of rows, as whole numbers; empty if some are too large for that."""
    is_scaled: bool


class _Making:
    def __init__(
        self,
        program: EngineProgram,
        temporary: TemporaryTables,
        method: Method,
        reading: Reading,
        scale_rows: bool,
        seed: int,
    ) -> None:
        self.program, self.temporary, self.engine = program, temporary, program.engine
        self.method, self.reading, self.scale_rows, self.seed = method, reading, scale_rows, seed
        self.values = self.distinct_values(program.nonzeros)
        self.P = program.quadratic_nonzeros
        if self.P is not None and method == "counting":
            self.P = Filter(self.P, call("!=", Column("first"), Column("second")))
        self.P_values = np.zeros(0) if self.P is None else self.distinct_values(self.P)
        self.factor = _whole_factor(self.values, reading)
        self.P_factor = _whole_factor(self.P_values, reading)

    def distinct_values(self, entries: Plan) -> NDArray[np.float64]:
        return np.sort(self.engine.fetch(Distinct(project(entries, "value")))["value"])

    def run(self) -> ExactWeights:
        columns, n_columns = self.column_kinds()
        rows = self.row_kinds(columns) if self.scale_rows else self.unscaled_row_kinds()
        largest = max(np.abs(rows.multipliers).max(initial=1), 1)
        is_whole = self.factor is not None and self.P_factor is not None and rows.multipliers.size > 0
        if self.method == "counting":
            is_whole = self.values.size <= 1 and self.P_values.size <= 1 and not rows.is_scaled
        elif is_whole:
            assert self.factor is not None
            sizes = np.abs(self.values * self.factor).max(initial=0.0) * largest
            is_whole = sizes < 1 << WHOLE_BITS
        if is_whole:
            entries, quadratic, bits = self.whole_entries(rows)
        else:
            entries, quadratic, bits = *self.residue_entries(rows), PRODUCT_BITS - PART_BITS
        kinds = project(rows.table, "id", "class", "factor")
        parts = 1 if is_whole else N_PARTS
        return ExactWeights(
            entries, quadratic, parts, bits, columns, kinds, n_columns, rows.size, rows.is_scaled, self.digest()
        )

    def digest(self) -> bytes:
        digest = sha256(self.values.tobytes() + self.P_values.tobytes())
        for table in (self.colours, self.bounds):
            found = self.engine.fetch(table)
            order = np.lexsort(list(found.values()))
            for column in found.values():
                digest.update(column[order].tobytes())
        return digest.digest()

    # --- kinds of columns -------------------------------------------------------------------------------------------

    def column_kinds(self) -> tuple[Plan, int]:
        colours = _without_minus_zero(self.program.columns, "column", "q", "lb", "ub")
        if self.method == "counting" and self.program.quadratic is not None:
            diagonal = Filter(self.program.quadratic, call("=", Column("first"), Column("second")))
            loops = Project(diagonal, {"column": Column("first"), "loop": Column("value")})
            joined = Join(colours, loops, "left")
            colours = Project(
                joined,
                {c: Column(c) for c in colours.columns} | {"loop": call("coalesce", Column("loop"), literal(0.0))},
            )
            colours = _without_minus_zero(colours, "column", *(c for c in colours.columns if c != "column"))
        words = tuple(c for c in colours.columns if c != "column")
        kinds, n_kinds = self.temporary.numbered("column_kinds", Distinct(project(colours, *words)), "class", words)
        found = Project(Join(colours, kinds), {"id": Column("column"), "class": Column("class")})
        stored = self.temporary.store("column_classes", found)
        self.colours, self.colour_words = kinds, words
        return stored, n_kinds

    # --- kinds of rows ----------------------------------------------------------------------------------------------

    def unscaled_row_kinds(self) -> _RowKinds:
        bounds = _without_minus_zero(self.program.rows, "row", "l", "u")
        self.bounds: Plan = Distinct(project(bounds, "l", "u"))
        kinds, n_kinds = self.temporary.numbered("row_kinds", Distinct(project(bounds, "l", "u")), "class", ("l", "u"))
        outputs: dict[str, Scalar] = {"id": Column("row"), "class": Column("class")}
        outputs |= {"factor": literal(1.0), "multiplier": literal(1)}
        table = self.temporary.store("row_classes", Project(Join(bounds, kinds), outputs))
        return _RowKinds(table, n_kinds, np.ones(1, np.int64), False)

    def row_kinds(self, columns: Plan) -> _RowKinds:
        self.bounds = Distinct(project(_without_minus_zero(self.program.rows, "row", "l", "u"), "l", "u"))
        sums = self.temporary.store("row_sums", self.row_sums(columns))
        key = ("l", "u", "t1", "t2", "by_total", "is_negative")
        grouped = Aggregate(sums, key, {"total": ("min", Column("total"))})
        found = self.engine.fetch(Project(grouped, {c: Column(c) for c in (*key, "total")}))
        kinds, multiplier, factor = self.scaled_kinds(found)
        wholes = _whole_multipliers(kinds, multiplier)
        stored = multiplier.astype(np.int64) if wholes is None else wholes
        given = {c: found[c] for c in key} | {"class": kinds, "multiplier": stored, "factor": factor}
        table = Join(sums, self.temporary.attach("row_keys", given))
        outputs = {"id": Column("row"), "class": Column("class")}
        outputs |= {c: Column(c) for c in ("factor", "multiplier")}
        rows = self.temporary.store("row_classes", Project(table, outputs))
        self.temporary.drop("row_sums")
        self.temporary.drop("row_keys")
        is_scaled = bool(np.any(multiplier != 1))
        distinct = np.unique(stored) if wholes is not None else np.zeros(0, np.int64)
        return _RowKinds(rows, int(kinds.max(initial=-1)) + 1, distinct, is_scaled)

    def row_sums(self, columns: Plan) -> Plan:
        """For each row both weighted sums as residues, and what decides whether the first can be divided by."""
        found = self.engine.fetch(self.colours)
        images = [field.images(found[word], self.reading) for word in self.colour_words if word != "loop"]
        first = variable_weights(found["class"].size, images)
        second = variable_weights(found["class"].size, [*images, *(image ^ np.uint64(0x5DEECE66D) for image in images)])
        weights = self.temporary.attach("colour_weights", {"class": found["class"], "o1": first, "o2": second})
        of_column = Project(Join(columns, weights), {"column": Column("id"), "o1": Column("o1"), "o2": Column("o2")})
        parts, entries = self.unscaled_entries()
        joined = Join(entries, of_column)
        terms: dict[str, Scalar] = {"row": Column("row")}
        sums: dict[str, tuple[AggregateFunction, Scalar]] = {}
        for omega in ("o1", "o2"):
            for part in parts:
                terms[f"{omega}{part}"] = call("*", Column(part), Column(omega))
                sums[f"{omega}{part}"] = ("wide sum", Column(f"{omega}{part}"))
        terms["term"] = call("*", Column("value"), call("real", Column("o1")))
        terms["size"] = call("abs", terms["term"])
        sums |= {"total": ("quick sum", Column("term")), "size": ("quick sum", Column("size"))}
        added = Aggregate(Project(joined, terms), ("row",), sums)
        outputs: dict[str, Scalar] = {
            "row": Column("row"),
            "t1": residue([Column(f"o1{part}") for part in parts]),
            "t2": residue([Column(f"o2{part}") for part in parts]),
            "total": Column("total"),
            "size": Column("size"),
        }
        bounds = _without_minus_zero(self.program.rows, "row", "l", "u")
        whole = Join(bounds, Project(added, outputs), "left")
        zero, none = literal(0), literal(0.0)
        total, size = call("coalesce", Column("total"), none), call("coalesce", Column("size"), none)
        t1 = call("coalesce", Column("t1"), zero)
        enough = call(">=", call("abs", total), call("*", literal(SMALLEST_SHARE), size))
        by_total = call("and", call("!=", t1, zero), enough)
        one = literal(1)
        return Project(whole, {
            "row": Column("row"), "l": Column("l"), "u": Column("u"), "t1": t1,
            "t2": call("coalesce", Column("t2"), zero), "by_total": call("if", by_total, one, zero),
            "is_negative": call("if", call("<", total, none), one, zero), "total": total,
        })  # fmt: skip

    def unscaled_entries(self) -> tuple[list[str], Plan]:
        nonzeros = self.program.nonzeros
        if self.factor is not None:
            whole = _whole(self.factor)
            return ["w0"], Project(nonzeros, {c: Column(c) for c in ("row", "column", "value")} | {"w0": whole})
        table = {"value": self.values} | _parts_of(field.images(self.values, self.reading))
        return [f"w{k}" for k in range(N_PARTS)], Join(nonzeros, self.temporary.attach("value_parts", table))

    def scaled_kinds(self, found: Arrays) -> tuple[Indices, FieldElements, NDArray[np.float64]]:
        """For each distinct row: its kind, its multiplier inside of it (a residue), and that as a float."""
        t1, t2 = (found[c].astype(np.uint64) for c in ("t1", "t2"))
        if self.factor is not None:  # sums of whole numbers: back to the values
            back = field.inverse(field.images([self.factor], self.reading))
            t1, t2 = field.multiply(t1, back[0]), field.multiply(t2, back[0])
        l, u, by_total = found["l"], found["u"], found["by_total"].astype(bool)
        lower, upper = field.images(l, self.reading), field.images(u, self.reading)
        floats, images, largest = np.ones(l.size), np.ones(l.size, np.uint64), np.zeros(l.size)
        for bound, image in ((u, upper), (l, lower)):
            usable = np.isfinite(bound) & (image != 0) & (np.abs(bound) > largest)
            floats, images = np.where(usable, bound, floats), np.where(usable, image, images)
            largest = np.where(usable, np.abs(bound), largest)
        scales = Scales(np.where(by_total, found["total"], floats), np.where(by_total, t1, images))
        low, high = scaled_bounds(lower, upper, scales)
        second = field.multiply(t2, field.inverse(scales.images))
        keys = np.stack([low, high, second], axis=1)
        _, kinds = np.unique(keys, axis=0, return_inverse=True)
        kinds = kinds.reshape(-1).astype(np.int64)
        leader = np.zeros(int(kinds.max(initial=-1)) + 1, np.int64)
        leader[kinds[::-1]] = np.arange(kinds.size)[::-1]
        multiplier = field.multiply(scales.images[leader][kinds], field.inverse(scales.images))
        is_same = multiplier == 1
        return kinds, multiplier, np.where(is_same, 1.0, scales.floats[leader][kinds] / scales.floats)

    # --- entries ----------------------------------------------------------------------------------------------------

    def whole_entries(self, rows: _RowKinds) -> tuple[Plan, Plan | None, int]:
        """Entries as whole numbers; calculated on the way past, unless rows have multipliers."""
        scalar: Scalar = literal(1)
        P_scalar: Scalar = literal(1)
        largest = 1.0
        if self.method == "equitable":
            assert self.factor is not None
            assert self.P_factor is not None
            scalar, P_scalar = _whole(self.factor), _whole(self.P_factor)
            multiplier = np.abs(rows.multipliers).max(initial=1)
            largest = max(
                np.abs(self.values * self.factor).max(initial=1.0) * multiplier,
                np.abs(self.P_values * self.P_factor).max(initial=1.0),
            )
        places: dict[str, Scalar] = {c: Column(c) for c in ("row", "column")}
        entries: Plan = Project(self.program.nonzeros, places | {"w0": scalar})
        if rows.is_scaled:
            multipliers = Project(rows.table, {"row": Column("id"), "multiplier": Column("multiplier")})
            joined = Join(entries, multipliers)
            product = call("*", Column("w0"), Column("multiplier"))
            entries = self.temporary.store("entries", Project(joined, places | {"w0": product}))
        quadratic = None
        if self.P is not None:
            quadratic = Project(self.P, {c: Column(c) for c in ("first", "second")} | {"w0": P_scalar})
        return entries, quadratic, PRODUCT_BITS - int(largest).bit_length()

    def residue_entries(self, rows: _RowKinds) -> tuple[Plan, Plan | None]:
        """Entries as residues in three parts; stored."""
        nonzeros = self.program.nonzeros
        outputs: dict[str, Scalar] = {c: Column(c) for c in ("row", "column", *(f"w{k}" for k in range(N_PARTS)))}
        outputs["float"] = Column("value")
        random = np.random.default_rng(self.seed)
        if rows.is_scaled:
            scales = {c: Column(c) for c in ("multiplier", "factor")}
            nonzeros = Join(nonzeros, Project(rows.table, {"row": Column("id")} | scales))
            outputs["float"] = call("*", Column("value"), Column("factor"))
            found = self.engine.fetch(Distinct(project(nonzeros, "value", "multiplier")))
        else:
            found = {"value": self.values}
        images = field.images(found["value"], self.reading)
        if rows.is_scaled:
            whole = found["multiplier"]
            residues = np.where(whole < 0, whole + field.MODULUS, whole).astype(np.uint64)
            images = field.multiply(images, residues)
        table = self.temporary.attach("entry_parts", found | _parts_of(self.words(images, random)))
        entries = self.temporary.store("entries", Project(Join(nonzeros, table), outputs))
        quadratic = None
        if self.P is not None:
            images = self.words(field.images(self.P_values, self.reading), random)
            table = self.temporary.attach("quadratic_parts", {"value": self.P_values} | _parts_of(images))
            outputs = {c: Column(c) for c in ("first", "second", *(f"w{k}" for k in range(N_PARTS)))}
            outputs["float"] = Column("value")
            quadratic = self.temporary.store("quadratic", Project(Join(self.P, table), outputs))
        return entries, quadratic

    def words(self, images: FieldElements, random: np.random.Generator) -> FieldElements:
        """The images themselves for sums; for multisets a random residue, another one for each value."""
        if self.method == "equitable":
            return images
        distinct, which = np.unique(images, return_inverse=True)
        while True:
            words = random.integers(1, field.MODULUS, distinct.size, dtype=np.uint64)
            if np.unique(words).size == words.size:
                return words[which]


def _without_minus_zero(table: Plan, key: str, *names: str) -> Plan:
    def settled(name: str) -> Scalar:
        return call("if", call("=", Column(name), literal(0.0)), literal(0.0), Column(name))

    return Project(table, {key: Column(key)} | {name: settled(name) for name in names})


def _whole(factor: float) -> Scalar:
    """The whole number that a value stands for, after multiplication by the factor."""
    if factor == 1:
        return call("integer", Column("value"))
    return call("integer", call("round", call("*", Column("value"), literal(factor))))


def _whole_factor(values: NDArray[np.float64], reading: Reading) -> float | None:
    """A power of ten (of two, for bits) that makes whole numbers of all values, or None.

    A double that equals k / 10^s with at most 15 digits of k has k / 10^s as its shortest decimal.
    """
    base = 10.0 if reading == "decimal" else 2.0
    for exponent in range(MOST_DECIMALS + 1 if reading == "decimal" else WHOLE_BITS):
        factor = base**exponent
        whole = np.rint(values * factor)
        if np.abs(whole).max(initial=0.0) >= 1 << WHOLE_BITS:
            return None
        if np.array_equal(whole / factor, values):
            return factor
    return None


def _parts_of(words: FieldElements) -> dict[str, Indices]:
    mask = np.uint64((1 << PART_BITS) - 1)
    return {f"w{k}": ((words >> np.uint64(PART_BITS * k)) & mask).astype(np.int64) for k in range(N_PARTS)}


def _whole_multipliers(kinds: Indices, residues: FieldElements) -> Indices | None:
    """Multipliers of the rows of each kind as whole numbers without a common factor, or None if some are too large."""
    if np.all(residues == 1):
        return np.ones(residues.size, np.int64)
    distinct, which = np.unique(residues, return_inverse=True)
    fractions = [_small_fraction(int(word)) for word in distinct]
    if any(fraction is None for fraction in fractions):
        return None
    numerators = np.array([f[0] for f in fractions if f is not None])[which]
    denominators = np.array([f[1] for f in fractions if f is not None])[which]
    whole = np.empty(residues.size, np.int64)
    order = np.argsort(kinds, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(kinds[order])) + 1):
        common = lcm(*(int(d) for d in set(denominators[members].tolist())))
        scaled = [int(n) * (common // int(d)) for n, d in zip(numerators[members], denominators[members], strict=True)]
        shared = gcd(*scaled)
        if max(map(abs, scaled)) // shared >= SMALL:
            return None
        whole[members] = [value // shared for value in scaled]
    return whole


def _small_fraction(word: int) -> tuple[int, int] | None:
    """The fraction n/d with small n and d that a residue stands for, by Euclid's algorithm; None if there is none.

    Two different such fractions have different residues, since n d' - n' d is smaller than p.

    Examples
    --------
    >>> _small_fraction(int(field.multiply(field.inverse(3), 2)))
    (2, 3)
    """
    before, now = (field.MODULUS, 0), (word, 1)
    while abs(now[0]) >= SMALL:
        quotient = before[0] // now[0]
        before, now = now, (before[0] - quotient * now[0], before[1] - quotient * now[1])
    numerator, denominator = now
    if denominator < 0:
        numerator, denominator = -numerator, -denominator
    if numerator == 0 or denominator >= SMALL or gcd(numerator, denominator) != 1:
        return None
    return numerator, denominator
