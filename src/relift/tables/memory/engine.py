"""Tables as NumPy columns and plans evaluated on them: the quick engine for what fits into memory.

A query costs microseconds and not milliseconds here, texts are compared as numbers, and columns of the user are read
where they are. A query that would pass through more rows than `most_rows` is passed on, with the tables that it reads,
to a DuckDB of its own, which streams and spills; so are files, which DuckDB reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar, final

import numpy as np

from relift.arrays import Cells, Tuples
from relift.errors import DataError, EngineError, SizeLimitError
from relift.settings import ProgressCallback
from relift.tables.algebra import Plan, Scan, Type, nodes
from relift.tables.engine import ARRAY_TYPES, Arrays, Engine, refuse_rows
from relift.tables.memory.columns import ARRAY_OF, Relation, Vector
from relift.tables.memory.evaluate import Evaluator
from relift.tables.memory.growing import GrowingTable, numbers_of, vector_of
from relift.tables.memory.scalars import NotInMemoryError
from relift.tables.memory.string_ids import Texts
from relift.tables.recursion import MOST_TUPLES, RecursiveRules, close_rules
from relift.tables.sources.canonical import refuse_key
from relift.tables.sources.contents import Columns, File, Frame
from relift.tables.sources.small_csv import small_table
from relift.tables.sources.table import Source

if TYPE_CHECKING:
    from relift.tables.duckdb.engine import DuckDBEngine

MOST_ROWS = 32_000_000
Answer = TypeVar("Answer")


@final
class MemoryEngine(Engine):
    """Holds tables as NumPy columns.

    Parameters
    ----------
    most_rows
        How many rows any step of a query may give before it is passed to DuckDB.
    progress
        Progress callback.

    Examples
    --------
    >>> from relift.tables.sources.table import source_from_data
    >>> with MemoryEngine() as engine:
    ...     columns = engine.attach("edge", source_from_data("edge", [(1, 2), (2, 3)]))
    ...     engine.count(Scan("edge", {"X": ("c0", columns["c0"])}), cap=10)
    2
    """

    name = "memory"

    def __init__(self, *, most_rows: int = MOST_ROWS, progress: ProgressCallback | None = None) -> None:
        super().__init__(progress)
        self.most_rows = most_rows
        self._tables: dict[str, Relation] | None = {}
        self._texts = Texts()
        self._other: DuckDBEngine | None = None
        self._reader: DuckDBEngine | None = None
        self._copied: set[str] = set()
        self._growing: dict[str, GrowingTable] = {}
        self._borrowed: list[Cells] = []
        self._is_interrupted = False

    # --- the five methods -------------------------------------------------------------------------------------------

    def attach(self, name: str, source: Source) -> dict[str, Type]:
        """Read a source; columns of numbers are not copied."""
        content = source.content
        arrays: Mapping[str, Cells | Vector] | None = None
        if isinstance(content, Frame):
            try:
                arrays = _arrays_from_frame(content, self._texts)
            except ValueError as error:
                if "utf" in str(error).lower():
                    raise DataError(f"{source.label} is not UTF-8 text.", "Save it as UTF-8.") from error
                raise DataError(f"{source.label} cannot be read: {error}") from error
        elif isinstance(content, Columns):
            arrays = content.arrays
        elif isinstance(content, File) and (small := small_table(source, content)) is not None:
            source, arrays = Source(source.label, small), small.arrays
        if arrays is None:
            return self._attach_by_duckdb(name, source)
        names = list(arrays)
        order = source.choose(names)
        chosen = [arrays[names[k]] for k in order]
        if not chosen:
            return {}
        vectors = {f"c{k}": self._vector(source, k, names[order[k]], array) for k, array in enumerate(chosen)}
        size = len(chosen[0]) if not isinstance(chosen[0], Vector) else chosen[0].data.size
        self._borrowed += [vector.data for vector in vectors.values()]
        if size == 0:
            vectors = {column: Vector(Type.NOTHING, np.empty(0, np.int64)) for column in vectors}
        self._known()[name] = Relation(vectors, size)
        return {column: vector.type for column, vector in vectors.items()}

    def create(
        self, name: str, plan: Plan, *, number: tuple[str, tuple[str, ...]] | None = None, budget: int | None = None
    ) -> int:
        """Evaluate a plan and keep its rows."""

        def found(evaluator: Evaluator) -> Relation:
            rows = evaluator.run(plan)
            return rows if number is None else evaluator.numbered(rows, *number)

        def elsewhere(other: DuckDBEngine) -> Relation:
            # Fetched without an order and numbered here: both engines order equally, and this way there is one.
            arrays = other.fetch(plan, budget=budget)
            size = next(iter(arrays.values())).size if arrays else other.count(plan, 2**31)
            vectors = {c: self._vector_of(kind, arrays[c]) for c, kind in plan.columns.items()}
            rows = Relation(vectors, size)
            return rows if number is None else self._evaluator().numbered(rows, *number)

        rows = self._answer(plan, found, elsewhere)
        if budget is not None and rows.size > budget:
            raise refuse_rows("a result", rows.size, budget)
        for vector in rows.columns.values():
            _ = vector.data  # gathered now: later the tables that it comes from may be gone
        self._known()[name] = Relation(dict(rows.columns), rows.size)
        return rows.size

    def append(self, name: str, plan: Plan) -> int:
        """Add rows to a table."""
        self._growing.pop(name, None)
        old = self._known()[name]
        new = self._answer(plan, lambda evaluator: evaluator.run(plan), self._relation_from(plan))
        columns = {}
        for (column, vector), more in zip(old.columns.items(), new.columns.values(), strict=True):
            kind = vector.type if old.size else more.type
            parts = [v.cast(kind) for v, size in ((vector, old.size), (more, new.size)) if size]
            data = np.concatenate([part.data for part in parts]) if parts else np.empty(0, ARRAY_OF[kind])
            columns[column] = Vector(kind, data)
        self._forget_copy(name)
        self._known()[name] = Relation(columns, old.size + new.size)
        return new.size

    def add_new(self, name: str, plan: Plan, known: Scan) -> int:
        """Look up the rows in a hash of the table, which is kept, instead of passing through all of it."""
        if not plan.columns:
            return super().add_new(name, plan, known)
        found = self._answer(plan, lambda evaluator: evaluator.run(plan), self._relation_from(plan))
        table = self._growing.get(known.table)
        if table is None:
            kinds = dict(known.source.values())
            table = self._growing[known.table] = GrowingTable(kinds, self._known()[known.table])
        new = table.add(found)
        self._forget_copy(known.table)
        self._known()[known.table] = table.relation()
        self._known()[name] = new
        return new.size

    def close_rules(self, rules: RecursiveRules, names: Mapping[str, str], most: int) -> list[int] | None:
        """Follow tuples of whole numbers one by one."""

        def numbered(plan: Plan, columns: tuple[tuple[str, Type], ...]) -> Tuples:
            rows = self._answer(plan, lambda evaluator: evaluator.run(plan), self._relation_from(plan))
            return numbers_of(rows, columns)

        closed = close_rules(rules, numbered, min(most, MOST_TUPLES))
        if closed is None:
            return None
        tuples, matches = closed
        for predicate, found in tuples.items():
            columns = {f"c{k}": vector_of(kind, found[:, k]) for k, kind in enumerate(rules.types[predicate])}
            self._known()[names[predicate]] = Relation(columns, found.shape[0])
        return matches

    def count(self, plan: Plan, cap: int) -> int:
        """How many rows there are."""
        return self._answer(
            plan, lambda evaluator: min(evaluator.run(plan).size, cap), lambda other: other.count(plan, cap)
        )

    def fetch(self, plan: Plan, *, budget: int | None = None) -> Arrays:
        """The columns of a plan."""

        def found(evaluator: Evaluator) -> Arrays:
            rows = evaluator.run(plan)
            if budget is not None and rows.size > budget:
                raise refuse_rows("a result", rows.size, budget)
            return {name: self._array(vector) for name, vector in rows.columns.items()}

        return self._answer(plan, found, lambda other: other.fetch(plan, budget=budget))

    def is_set(self, plan: Plan) -> bool:
        """Whether no row comes twice."""
        return self._answer(
            plan,
            lambda evaluator: evaluator.is_set(evaluator.run(plan), list(plan.columns)),
            lambda other: other.is_set(plan),
        )

    def drop(self, name: str) -> None:
        """Forget a table."""
        self._growing.pop(name, None)
        self._known().pop(name, None)
        self._forget_copy(name)

    def explain(self, plan: Plan) -> str:
        """The plan as SQL."""
        from relift.tables.sql.write import select_from_plan

        return select_from_plan(plan, "duckdb")

    def seal(self) -> None:
        """Nothing is there that a query could reach but the tables; what read files and servers is closed."""
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()

    def let_go(self) -> None:
        """Copy the columns that are the user's own and still in use: a later change of theirs changes nothing here."""
        copies: dict[int, Vector] = {}
        for name, table in self._known().items():
            columns = {}
            for column, vector in table.columns.items():
                if id(vector) not in copies:
                    is_own = not any(np.may_share_memory(vector.data, array) for array in self._borrowed)
                    copies[id(vector)] = vector if is_own else Vector(vector.type, vector.data.copy(), vector.missing)
                columns[column] = copies[id(vector)]
            self._known()[name] = Relation(columns, table.size)
        self._borrowed = []

    def interrupt(self) -> None:
        """Stop what is running, at its next step."""
        self._is_interrupted = True
        if self._reader is not None:
            self._reader.interrupt()
        if self._other is not None:
            self._other.interrupt()

    def close(self) -> None:
        """Give the tables back."""
        self._tables = None
        self._growing = {}
        self._borrowed = []
        self._texts = Texts()
        self.seal()
        if self._other is not None:
            self._other.close()
            self._other = None

    # --- answers ----------------------------------------------------------------------------------------------------

    def _known(self) -> dict[str, Relation]:
        if self._tables is None:
            raise EngineError("the engine is closed.", "Ground the model again, or keep what it returned open.")
        return self._tables

    def _evaluator(self) -> Evaluator:
        return Evaluator(self._known(), self._texts, self.most_rows, self._pause)

    def _pause(self) -> None:
        if self._is_interrupted:
            self._is_interrupted = False
            raise KeyboardInterrupt

    def _answer(
        self, plan: Plan, here: Callable[[Evaluator], Answer], elsewhere: Callable[[DuckDBEngine], Answer]
    ) -> Answer:
        evaluator = self._evaluator()
        self._is_interrupted = False
        try:
            return here(evaluator)
        except NotInMemoryError as error:
            rows = error.rows  # the rest is outside of the handler: the traceback would keep what was found so far
        except MemoryError as error:
            raise EngineError(
                "there is not enough memory for a query.",
                "Narrow the queries, or ground in an engine that spills to disk: DuckDBEngine(memory_limit=...).",
            ) from error
        del evaluator
        if self.most_work is not None and rows > self.most_work:
            raise SizeLimitError(
                f"a query would pass through {rows:,} combinations; the limit is {self.most_work:,}.",
                "Narrow it: too many tuples agree on what links its parts; or raise the limit.",
                rows=rows,
                limit=self.most_work,
            )
        return elsewhere(self._duckdb_with(plan))

    def _relation_from(self, plan: Plan) -> Callable[[DuckDBEngine], Relation]:
        def relation(other: DuckDBEngine) -> Relation:
            arrays = other.fetch(plan)
            size = next(iter(arrays.values())).size if arrays else other.count(plan, 2**31)
            return Relation({c: self._vector_of(kind, arrays[c]) for c, kind in plan.columns.items()}, size)

        return relation

    def _duckdb_with(self, plan: Plan) -> DuckDBEngine:
        """A DuckDB that has the tables of a plan."""
        if self._other is None:
            from relift.tables.duckdb.engine import DuckDBEngine

            self._other = DuckDBEngine()
            self._other.seal()
        for node in nodes(plan):
            if isinstance(node, Scan) and node.table not in self._copied:
                table = self._known()[node.table]
                arrays = {name: self._array(vector, None) for name, vector in table.columns.items()}
                self._other.put(node.table, arrays, {n: v.type for n, v in table.columns.items()}, table.size)
                self._copied.add(node.table)
        return self._other

    def _forget_copy(self, name: str) -> None:
        if name in self._copied and self._other is not None:
            self._other.drop(name)
            self._copied.discard(name)

    # --- columns ----------------------------------------------------------------------------------------------------

    def _attach_by_duckdb(self, name: str, source: Source) -> dict[str, Type]:
        from relift.tables.duckdb.engine import DuckDBEngine

        if self._reader is None:  # kept until all is loaded: it reads the tables of a server as of one moment
            self._reader = DuckDBEngine()
        types = self._reader.attach(name, source)
        arrays: Mapping[str, Cells | Vector] | None = None
        if types and find_spec("pyarrow") is not None:  # texts become numbers without being Python strings first
            scan = Scan(name, {column: (column, kind) for column, kind in types.items()})
            arrays = _arrays_from_frame(Frame(self._reader.arrow(scan), tuple(types)), self._texts)
        arrays = self._reader.stored_columns(name) if arrays is None else arrays
        self._reader.drop(name)
        vectors = {
            column: array if isinstance(array := arrays[column], Vector) else self._vector_of(kind, array)
            for column, kind in types.items()
        }
        size = next(iter(vectors.values())).data.size if vectors else 0
        self._known()[name] = Relation(vectors, size)
        return types

    def _vector(self, source: Source, position: int, column: str, array: Cells | Vector) -> Vector:
        if isinstance(array, Vector):
            return array
        if array.dtype.kind == "f":
            return Vector(Type.REAL, np.ascontiguousarray(array, np.float64))
        if array.dtype.kind in "iub":
            if array.dtype == np.uint64 and array.size and array.max() >= 2**63:
                if source.is_key(position):
                    raise refuse_key(source.label, column, array.max())
                return Vector(Type.REAL, array.astype(np.float64))
            return Vector(Type.INTEGER, np.ascontiguousarray(array, np.int64))
        return self._vector_of(Type.TEXT, array, source.label)

    def _vector_of(self, kind: Type, array: Cells, label: str = "") -> Vector:
        """A fetched column, where None stands for what is missing."""
        if kind == Type.TEXT:
            texts = array.tolist()
            try:
                numbers = self._texts.numbers(texts)
            except UnicodeEncodeError as error:
                raise DataError(f"{label or 'a table'} holds a text that is no valid Unicode.") from error
            return Vector(kind, numbers, numbers < 0 if len(numbers) and numbers.min() < 0 else None)
        if array.dtype == object:
            missing = np.fromiter((v is None for v in array.tolist()), np.bool_, array.size)
            return Vector(kind, np.where(missing, 0, array).astype(ARRAY_OF[kind]), missing)
        return Vector(kind, np.ascontiguousarray(array, ARRAY_OF[kind]))

    def _array(self, vector: Vector, missing_whole: int | None = 0) -> Cells:
        data, missing, kind = vector.data, vector.missing, vector.type
        if kind == Type.TEXT:
            known = self._texts.array()
            if missing is None:
                return known[data]
            found = np.full(data.size, None)
            found[~missing] = known[data[~missing]]
            return found
        data = data if data.dtype == ARRAY_TYPES[kind] else data.astype(ARRAY_TYPES[kind])
        if missing is None:
            data = data.view()  # perhaps the user's own column: nobody may write into it
            data.flags.writeable = False
            return data
        if missing_whole is None:
            found = data.astype(object)
            found[missing] = None
            return found
        fill = np.nan if kind == Type.REAL else -1 if kind == Type.NUMBER_OF_ROW else missing_whole
        return np.where(missing, np.asarray(fill, data.dtype), data)


def _arrays_from_frame(frame: Frame, texts: Texts) -> dict[str, Cells | Vector] | None:
    """The columns of an Arrow table, texts as numbers; None if another engine must read it."""
    try:
        import pyarrow as pa
    except ImportError:  # pragma: no cover - depends on the install
        return None
    table = frame.table if isinstance(frame.table, pa.Table) else pa.table(frame.table)
    found: dict[str, Cells | Vector] = {}
    for name, column in zip(frame.names, table.columns, strict=True):
        kind = column.type
        if pa.types.is_string_view(kind):
            column = column.cast(pa.large_string())
            kind = column.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            parts = [texts.numbers_of_arrow(chunk) for chunk in column.chunks] or [np.empty(0, np.int32)]
            numbers = parts[0] if len(parts) == 1 else np.concatenate(parts)
            found[name] = Vector(Type.TEXT, numbers, numbers < 0 if column.null_count else None)
        elif (pa.types.is_integer(kind) or pa.types.is_floating(kind)) and not column.null_count:
            found[name] = column.to_numpy()
        else:
            return None
    return found
