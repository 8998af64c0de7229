"""Plans evaluated in memory, node by node.

Inner joins are the one place with a choice. Joins, filters and projections above each other are taken apart into
relations that share columns, conditions and computed columns (:class:`_Puzzle`), and put together again by always
taking the join that promises the fewest rows. A step that would pass through more rows than allowed raises
`NotInMemoryError`: another engine then answers the whole plan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Cells, Flags, Indices, Integers, RowKeys
from relift.errors import DataError
from relift.tables import compiled
from relift.tables.algebra import (
    Aggregate,
    Call,
    Column,
    Distinct,
    Filter,
    Join,
    Keys,
    Limit,
    Literal,
    Number,
    Plan,
    Project,
    Scalar,
    Scan,
    Series,
    Type,
    Union,
    Unit,
    call,
    common_type,
    nodes,
)
from relift.tables.memory.columns import ARRAY_OF, Relation, Vector
from relift.tables.memory.scalars import NotInMemoryError, evaluate, missing_in
from relift.tables.memory.string_ids import Texts


@final
class Evaluator:
    """Evaluates one plan.

    Parameters
    ----------
    tables
        The stored relations.
    texts
        The dictionary of their texts.
    most
        How many rows any step may give.
    pause
        Called between steps; may raise.
    """

    def __init__(
        self, tables: Mapping[str, Relation], texts: Texts, most: int, pause: Callable[[], None] = lambda: None
    ) -> None:
        self.tables, self.texts, self.most, self.pause = tables, texts, most, pause
        self.hidden = (f"\0{k}" for k in count())
        self._shared: dict[int, Relation | None] = {}

    def run(self, plan: Plan) -> Relation:
        """The rows of a plan, with its columns in their order."""
        uses = Counter(id(part) for node in nodes(plan) for part in node.inputs)
        self._shared = {key: None for key, n in uses.items() if n > 1}
        return self.relation(plan)

    def is_shared(self, plan: Plan) -> bool:
        """Whether several nodes read this one."""
        return id(plan) in self._shared

    def relation(self, plan: Plan) -> Relation:
        """The rows of a node; those of a node with several readers are kept."""
        found = self._shared.get(id(plan))
        if found is None:
            self.pause()
            found = self._conform(self._evaluated(plan), plan)
            if id(plan) in self._shared:
                self._shared[id(plan)] = found
        return found

    def _conform(self, found: Relation, plan: Plan) -> Relation:
        columns = {name: found.columns[name].cast(kind) for name, kind in plan.columns.items()}
        return Relation(columns, found.size, plan.keys)

    def _evaluated(self, plan: Plan) -> Relation:
        if isinstance(plan, Scan):
            stored = self.tables[plan.table]
            return Relation({name: stored.columns[source] for name, (source, _) in plan.source.items()}, stored.size)
        if isinstance(plan, Unit):
            return Relation({}, 1)
        if isinstance(plan, Filter | Project) or (isinstance(plan, Join) and plan.kind == "inner"):
            return _Puzzle(self).solved(plan)
        if isinstance(plan, Join):
            return self._join(plan)
        if isinstance(plan, Union):
            return self._union(plan)
        if isinstance(plan, Distinct):
            return self.distinct(self.relation(plan.input))
        if isinstance(plan, Aggregate):
            return self._aggregate(plan)
        if isinstance(plan, Number):
            return self.numbered(self.relation(plan.input), plan.name, plan.order)
        if isinstance(plan, Series):
            return self._series(plan)
        assert isinstance(plan, Limit)
        found = self.relation(plan.input)
        if plan.order:
            return found.take(self.order(found, plan.order)[: plan.rows])
        return found.take(np.arange(plan.rows)) if found.size > plan.rows else found

    def _series(self, plan: Series) -> Relation:
        found = self.relation(plan.input)
        ends = [
            evaluate(end, found.columns, self.texts).cast(Type.INTEGER).full(found.size)
            for end in (plan.first, plan.last)
        ]
        first, last = ends
        sizes = np.maximum(last.data - first.data + 1, 0)
        gaps = missing_in(first, last)
        if gaps is not None:
            sizes = np.where(gaps, 0, sizes)
        total = int(sizes.sum())
        if total > self.most:
            raise NotInMemoryError(total)
        rows = np.repeat(np.arange(found.size, dtype=np.int32), sizes)
        starts = np.cumsum(sizes) - sizes
        values = first.data[rows] + np.arange(total) - starts[rows]
        columns = {name: vector.take(rows) for name, vector in found.columns.items()}
        return Relation({**columns, plan.name: Vector(Type.INTEGER, values)}, total)

    # --- joins ------------------------------------------------------------------------------------------------------

    def _join(self, plan: Join) -> Relation:
        left, right = self.relation(plan.left), self.relation(plan.right)
        if plan.kind != "left":
            if not plan.on:
                is_kept = (right.size > 0) == (plan.kind == "semi")
                return left if is_kept else left.take(np.empty(0, np.int32))
            keys = self.keys_of_pair(left, right, plan.on)
            found = compiled.contains(*keys)
            return left.take(np.flatnonzero(found if plan.kind == "semi" else ~found))
        keys = self.keys_of_pair(left, right, plan.on)
        pairs = compiled.join(*keys, True, self.most)
        if isinstance(pairs, int):
            raise NotInMemoryError(pairs)
        return self.paired(left, right, *pairs, has_gaps=True)

    def paired(
        self, left: Relation, right: Relation, first: Integers | None, second: Integers, has_gaps: bool = False
    ) -> Relation:
        """Rows of two relations beside each other."""
        columns = {name: v if first is None else v.take(first) for name, v in left.columns.items()}
        for name, vector in right.columns.items():
            if name not in columns:
                columns[name] = vector.take(second, has_gaps)
        return Relation(columns, int(second.size))

    def keys_of_pair(self, left: Relation, right: Relation, on: Sequence[str]) -> tuple[RowKeys, RowKeys]:
        """Integers that are equal exactly where two rows agree; rows with something missing agree with none."""
        halves: list[tuple[RowKeys, RowKeys]] = []
        for name in on:
            one, other = left.columns[name], right.columns[name]
            kind = common_type(one.type, other.type)
            halves.append((_key(one, kind), _key(other, kind)))
        gaps = [_gaps(side, on) for side in (left, right)]
        if gaps[0] is not None or gaps[1] is not None:
            flags = [
                np.zeros(side.size, np.int64) if gap is None else gap * np.int64(sign)
                for side, gap, sign in zip((left, right), gaps, (1, 2), strict=True)
            ]
            halves.append((flags[0], flags[1]))
        if len(halves) == 1:
            return halves[0]
        if not halves:
            return np.zeros(left.size, np.int64), np.zeros(right.size, np.int64)
        limits = [_limits(one, other) for one, other in halves]
        if _product(limits) < 2**62:
            return _mixed([h[0] for h in halves], limits), _mixed([h[1] for h in halves], limits)
        both = [np.concatenate(half) for half in halves]
        keys = _folded(both)
        return keys[: left.size], keys[left.size :]

    # --- sets -------------------------------------------------------------------------------------------------------

    def keys_of(self, relation: Relation, names: Sequence[str]) -> RowKeys:
        """Integers that are equal exactly where two rows agree; missing values agree with each other."""
        parts = []
        for name in names:
            vector = relation.columns[name]
            key = _key(vector, vector.type)
            if vector.missing is not None:
                key = np.where(vector.missing, 0, key)
                parts.append(vector.missing.astype(np.int64))
            parts.append(key)
        if not parts:
            return np.zeros(relation.size, np.int64)
        if len(parts) == 1:
            return parts[0]
        limits = [_limits(part) for part in parts]
        return _mixed(parts, limits) if _product(limits) < 2**62 else _folded(parts)

    def distinct(self, found: Relation) -> Relation:
        """The rows of a relation without duplicates."""
        if not found.columns:
            return Relation({}, min(found.size, 1))
        _, first = compiled.group(self.keys_of(found, list(found.columns)))
        return found if first.size == found.size else found.take(first)

    def is_set(self, found: Relation, names: Sequence[str]) -> bool:
        """Whether no two rows agree on some columns."""
        return found.size < 2 or (bool(names) and compiled.all_distinct(self.keys_of(found, names)))

    def _union(self, plan: Union) -> Relation:
        parts = [self.relation(part) for part in plan.parts]
        size = sum(part.size for part in parts)
        columns = {}
        for name, kind in plan.columns.items():
            vectors = [part.columns[name].cast(kind).full(part.size) for part in parts if part.size]
            missing = None
            if any(v.missing is not None for v in vectors):
                flags = [np.zeros(v.data.size, np.bool_) if v.missing is None else v.missing for v in vectors]
                missing = np.concatenate(flags)
            data = [v.data for v in vectors] or [np.empty(0, ARRAY_OF[kind])]
            columns[name] = Vector(kind, np.concatenate(data) if len(data) > 1 else data[0], missing)
        return Relation(columns, size)

    # --- order ------------------------------------------------------------------------------------------------------

    def order(self, found: Relation, names: Sequence[str]) -> NDArray[np.int32]:
        """The rows in the order of some columns; what is missing comes last."""
        parts = [part for name in names for part in self._sortable(found.columns[name])]
        if not parts:
            return np.arange(found.size, dtype=np.int32)
        limits = [_limits(part) for part in parts]
        if _product(limits) < 2**62:
            return compiled.sorted_rows(_mixed(parts, limits) if len(parts) > 1 else parts[0])
        rows = compiled.sorted_rows(parts[-1])
        for part in reversed(parts[:-1]):
            rows = rows[compiled.sorted_rows(part[rows])]
        return rows

    def _sortable(self, vector: Vector) -> list[RowKeys]:
        if vector.type == Type.TEXT:
            key = np.append(self.texts.ranks(), np.int32(-1))[vector.data].astype(np.int64)
        elif vector.type == Type.REAL:
            bits = (vector.data + 0.0).view(np.int64)
            key = np.where(bits < 0, np.int64(-(2**63)) - bits, bits)
        else:
            key = vector.data.astype(np.int64, copy=False)
        return [key] if vector.missing is None else [vector.missing.astype(np.int64), np.where(vector.missing, 0, key)]

    def numbered(self, found: Relation, name: str, order: Sequence[str]) -> Relation:
        """The rows in an order, with their places."""
        if order and found.size:
            rows = self.order(found, order)
            if (rows[1:] < rows[:-1]).any():
                found = found.take(rows)
        return Relation({**found.columns, name: Vector.count(found.size)}, found.size)

    # --- aggregates -------------------------------------------------------------------------------------------------

    def _aggregate(self, plan: Aggregate) -> Relation:
        found = self._input_of(plan)
        if plan.by:
            numbers, first = compiled.group(self.keys_of(found, plan.by))
            size = int(first.size)
        else:
            numbers, first, size = np.zeros(found.size, np.int32), np.zeros(1, np.int32), 1
        columns = {name: found.columns[name].take(first) for name in plan.by}
        for name, (function, scalar) in plan.outputs.items():
            if function == "count":
                counts = np.bincount(numbers, minlength=size) if plan.by else np.array([found.size])
                columns[name] = Vector(Type.INTEGER, counts.astype(np.int64))
            else:
                values = evaluate(scalar, found.columns, self.texts)
                columns[name] = self._aggregated(function, values, numbers, size, bool(plan.by))
        return Relation(columns, size)

    def _input_of(self, plan: Aggregate) -> Relation:
        """What is aggregated; in an aggregate of everything, constant columns stay one value."""
        inner = plan.input
        if plan.by or not isinstance(inner, Project) or self.is_shared(inner):
            return self.relation(inner)
        base = self.relation(inner.input)
        columns = {name: evaluate(scalar, base.columns, self.texts) for name, scalar in inner.outputs.items()}
        return Relation(columns, base.size)

    def _aggregated(self, function: str, values: Vector, numbers: Integers, size: int, is_grouped: bool) -> Vector:
        is_one_value = not is_grouped and values.data.ndim == 0 and values.missing is None and numbers.size > 0
        if is_one_value and function == "sum" and values.type == Type.INTEGER and abs(int(values.data)) < 2**31:
            return Vector(Type.INTEGER, values.data.reshape(1) * numbers.size)
        values = values.full(numbers.size)
        data, kind = values.data, values.type
        if values.missing is not None:
            data, numbers = data[~values.missing], numbers[~values.missing]
        missing = None
        if values.missing is not None or not data.size:
            missing = np.bincount(numbers, minlength=size) == 0
            missing = missing if missing.any() else None
        if function == "sum":
            return Vector(kind, _sums(data, numbers, size, kind, is_grouped), missing)
        if kind == Type.TEXT:
            ranks = self.texts.ranks()
            by_rank = np.argsort(ranks)
            data = ranks[data]
        extreme = np.minimum if function == "min" else np.maximum
        order = compiled.sorted_rows(numbers.astype(np.int64))
        out = np.zeros(size, data.dtype)
        if data.size:
            starts = np.flatnonzero(np.r_[True, np.diff(numbers[order]) != 0])
            out[numbers[order][starts]] = extreme.reduceat(data[order], starts)
        if kind == Type.TEXT:
            out = by_rank[out].astype(np.int32) if by_rank.size else out
        return Vector(kind, out, missing)


def _sums(data: Cells, numbers: Integers, size: int, kind: Type, is_grouped: bool) -> Cells:
    if kind == Type.REAL:
        # In the order of size, so that equal multisets have equal sums; v and -v give sums of opposite sign.
        order = np.lexsort((data, np.abs(data), numbers)) if is_grouped else np.lexsort((data, np.abs(data)))
        return np.bincount(numbers[order], data[order], size)
    if float(np.abs(data.astype(np.float64)).max(initial=0)) * data.size >= 2.0**62:
        return _long_sums(data, numbers, size)
    if not is_grouped:
        return np.array([data.sum()], np.int64)
    total = np.zeros(size, np.int64)
    np.add.at(total, numbers, data)
    return total


def _long_sums(data: Cells, numbers: Integers, size: int) -> Indices:
    """Sums of whole numbers that may pass 64 bits on the way: halves of 32 bits are added up, which cannot overflow."""
    low, high = np.zeros(size, np.int64), np.zeros(size, np.int64)
    np.add.at(low, numbers, data & 0xFFFFFFFF)
    np.add.at(high, numbers, data >> 32)
    high += low >> 32
    if ((high < -(2**31)) | (high >= 2**31)).any():
        raise DataError("a whole number of more than 64 bits was calculated.", "Use reals: write 1.0 * x.")
    return (high << 32) + (low & 0xFFFFFFFF)


# --- keys ------------------------------------------------------------------------------------------------------------


def _key(vector: Vector, kind: Type) -> RowKeys:
    data = vector.data
    if kind == Type.REAL:
        return (data.astype(np.float64) + 0.0).view(np.int64)  # -0.0 and 0.0 are equal
    return np.ascontiguousarray(data, np.int64)


def _gaps(side: Relation, on: Sequence[str]) -> Flags | None:
    found = None
    for name in on:
        missing = side.columns[name].missing
        if missing is not None:
            found = missing if found is None else found | missing
    return found


def _limits(*parts: RowKeys) -> tuple[int, int]:
    some = [part for part in parts if part.size]
    if not some:
        return 0, 0
    return min(int(part.min()) for part in some), max(int(part.max()) for part in some)


def _product(limits: Sequence[tuple[int, int]]) -> int:
    product = 1
    for low, high in limits:
        product *= high - low + 1
    return product


def _mixed(parts: Sequence[RowKeys], limits: Sequence[tuple[int, int]]) -> RowKeys:
    """Several keys as one, in lexicographic order."""
    key = parts[0] - limits[0][0] if limits[0][0] else parts[0].copy()
    for part, (low, high) in zip(parts[1:], limits[1:], strict=True):
        key *= high - low + 1
        key += part
        if low:
            key -= low
    return key


def _folded(parts: Sequence[RowKeys]) -> RowKeys:
    """Several keys as one whose order means nothing, when their ranges are too wide to be mixed."""
    key = compiled.group(parts[0])[0].astype(np.int64)
    for part in parts[1:]:
        numbers = compiled.group(part)[0].astype(np.int64)
        key = compiled.group(key * (int(numbers.max(initial=0)) + 1) + numbers)[0].astype(np.int64)
    return key


# --- inner joins -----------------------------------------------------------------------------------------------------


class _Puzzle:
    """Relations that share columns, and conditions and computed columns that wait until theirs are in one relation."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.pieces: list[Relation] = []
        self.conditions: list[tuple[Scalar, set[str]]] = []
        self.computed: list[tuple[str, Scalar, set[str]]] = []

    def solved(self, plan: Plan) -> Relation:
        names = {name: name for name in plan.columns}
        self.take_apart(plan, names, is_top=True)
        if any(piece.size == 0 for piece in self.pieces):
            return self.nothing(plan)
        while True:
            while self.settle():
                pass
            if len(self.pieces) <= 1 and not self.conditions and not self.computed:
                break
            self.join_two()
        found = self.pieces[0] if self.pieces else Relation({}, 1)
        full = {name: vector.full(found.size) for name, vector in found.columns.items() if name in names}
        return Relation(full, found.size)

    def nothing(self, plan: Plan) -> Relation:
        return Relation({name: Vector(kind, np.empty(0, ARRAY_OF[kind])) for name, kind in plan.columns.items()}, 0)

    def take_apart(self, plan: Plan, names: dict[str, str], is_top: bool = False) -> None:
        """Note the parts of a plan, whose columns are called by other names here."""
        if not is_top and self.evaluator.is_shared(plan):
            self.piece(plan, names)
        elif isinstance(plan, Join) and plan.kind == "inner":
            for side in (plan.left, plan.right):
                self.take_apart(side, {name: names[name] for name in side.columns})
        elif isinstance(plan, Filter):
            self.take_apart(plan.input, names)
            for condition in _conjuncts(plan.condition):
                self.condition(_renamed(condition, names))
        elif isinstance(plan, Project):
            inner: dict[str, str] = {}
            for name, scalar in plan.outputs.items():
                if isinstance(scalar, Column) and scalar.name not in inner:
                    inner[scalar.name] = names[name]
            for name in plan.input.columns:
                if name not in inner:
                    inner[name] = next(self.evaluator.hidden)
            self.take_apart(plan.input, inner)
            for name, scalar in plan.outputs.items():
                if not (isinstance(scalar, Column) and inner[scalar.name] == names[name]):
                    renamed = _renamed(scalar, inner)
                    self.computed.append((names[name], renamed, _columns_of(renamed)))
        elif not isinstance(plan, Unit):
            self.piece(plan, names)

    def piece(self, plan: Plan, names: dict[str, str]) -> None:
        found = self.evaluator.relation(plan)
        keys = frozenset(frozenset(names[c] for c in key) for key in found.keys)
        self.pieces.append(Relation({names[c]: v for c, v in found.columns.items()}, found.size, keys))

    def condition(self, scalar: Scalar) -> None:
        self.conditions.append((scalar, _columns_of(scalar)))

    # --- one step -----------------------------------------------------------------------------------------------------

    def settle(self) -> bool:
        """Do what can be done without a join; whether something was."""
        for position, (name, scalar, needed) in enumerate(self.computed):
            home = self.home(needed)
            if home is None:
                continue
            del self.computed[position]
            if home < 0:
                self.pieces.append(Relation({}, 1, frozenset([frozenset()])))
            piece = self.pieces[home]
            vector = evaluate(scalar, piece.columns, self.evaluator.texts)
            if name in piece.columns:  # another part has it already: both must agree
                twin = next(self.evaluator.hidden)
                self.condition(call("=", Column(name), Column(twin)))
                name = twin
            self.pieces[home] = Relation({**piece.columns, name: vector.full(piece.size)}, piece.size, piece.keys)
            return True
        for position, (scalar, needed) in enumerate(self.conditions):
            home = self.home(needed)
            if home is not None:
                del self.conditions[position]
                if home < 0:
                    self.pieces.append(Relation({}, 1, frozenset([frozenset()])))
                piece = self.pieces[home]
                self.pieces[home] = piece.where(evaluate(scalar, piece.columns, self.evaluator.texts))
                return True
            if self.link(position, scalar):
                return True
        return False

    def home(self, needed: set[str]) -> int | None:
        """The relation that has all the columns; -1 if none are needed and there is no relation yet."""
        if not needed:
            return 0 if self.pieces else -1
        for position, piece in enumerate(self.pieces):
            if needed <= piece.columns.keys():
                return position
        return None

    def link(self, position: int, scalar: Scalar) -> bool:
        """An equality between two relations becomes a column that both have."""
        if not (isinstance(scalar, Call) and scalar.operation == "="):
            return False
        sides = [_columns_of(side) for side in scalar.arguments]
        homes = [self.home(side) if side else None for side in sides]
        if None in homes or homes[0] == homes[1]:
            return False
        del self.conditions[position]
        name = next(self.evaluator.hidden)
        for home, side in zip(homes, scalar.arguments, strict=True):
            assert home is not None
            piece = self.pieces[home]
            vector = evaluate(side, piece.columns, self.evaluator.texts).full(piece.size)
            self.pieces[home] = Relation({**piece.columns, name: vector}, piece.size, piece.keys)
        return True

    def join_two(self) -> None:
        """Join the two relations that promise the fewest rows; others, if there turn out to be too many."""
        guesses: list[tuple[float, int, int]] = []
        for i, one in enumerate(self.pieces):
            for j in range(i + 1, len(self.pieces)):
                other = self.pieces[j]
                on = one.columns.keys() & other.columns.keys()
                guesses.append((_guess(one, other, frozenset(on)), i, j))
        fewest = 0
        for _, i, j in sorted(guesses):
            self.evaluator.pause()
            try:
                found = self.joined(self.pieces[i], self.pieces[j])
            except NotInMemoryError as error:
                fewest = min(fewest or error.rows, error.rows)
                continue
            del self.pieces[j], self.pieces[i]
            self.pieces.append(found)
            return
        raise NotInMemoryError(fewest)

    def joined(self, left: Relation, right: Relation) -> Relation:
        on = [name for name in left.columns if name in right.columns]
        keys = {a | b for a in left.keys for b in right.keys}
        left_is_unique = any(key <= frozenset(on) for key in left.keys)
        right_is_unique = any(key <= frozenset(on) for key in right.keys)
        keys |= left.keys if right_is_unique else set()
        keys |= right.keys if left_is_unique else set()
        if left_is_unique and not (right_is_unique and right.size < left.size):
            left, right = right, left  # rows are looked up on the right
        if not on:
            return self.product(left, right, frozenset(keys))
        pairs = compiled.join(*self.evaluator.keys_of_pair(left, right, on), False, self.evaluator.most)
        if isinstance(pairs, int):
            raise NotInMemoryError(pairs)
        found = self.evaluator.paired(left, right, *pairs)
        return Relation(found.columns, found.size, _few(keys))

    def product(self, left: Relation, right: Relation, keys: Keys) -> Relation:
        if right.size == 1 and not right.columns:
            return Relation(left.columns, left.size, keys)
        if left.size == 1 and not left.columns:
            return Relation(right.columns, right.size, keys)
        size = left.size * right.size
        if size > self.evaluator.most:
            raise NotInMemoryError(size)
        first = np.repeat(np.arange(left.size, dtype=np.int32), right.size)
        second = np.tile(np.arange(right.size, dtype=np.int32), left.size)
        found = self.evaluator.paired(left, right, first, second)
        return Relation(found.columns, size, _few(keys))


def _guess(one: Relation, other: Relation, on: frozenset[str]) -> float:
    if not on:
        return float("inf") if one.size * other.size > 10**6 else one.size * other.size + 10.0**12
    most = 4.0 * max(one.size, other.size)
    if any(key <= on for key in other.keys):
        most = min(most, one.size)
    if any(key <= on for key in one.keys):
        most = min(most, other.size)
    return most + 1e-6 * (one.size + other.size)


def _few(keys: Iterable[frozenset[str]]) -> Keys:
    return frozenset(sorted(keys, key=lambda key: (len(key), sorted(key)))[:8])


def _conjuncts(condition: Scalar) -> tuple[Scalar, ...]:
    if isinstance(condition, Call) and condition.operation == "and":
        return tuple(part for argument in condition.arguments for part in _conjuncts(argument))
    return (condition,)


def _renamed(scalar: Scalar, names: Mapping[str, str]) -> Scalar:
    if isinstance(scalar, Column):
        return Column(names[scalar.name])
    if isinstance(scalar, Literal):
        return scalar
    return Call(scalar.operation, tuple(_renamed(argument, names) for argument in scalar.arguments))


def _columns_of(scalar: Scalar) -> set[str]:
    if isinstance(scalar, Column):
        return {scalar.name}
    return set().union(*map(_columns_of, scalar.arguments)) if isinstance(scalar, Call) else set()
