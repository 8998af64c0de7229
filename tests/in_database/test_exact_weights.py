"""Exact sums, remainders and hashes: what lifting asks of an engine beyond what grounding does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.postgres_server import Server

import relift
from relift.errors import AsymmetricError, BoundsError, DataError, EngineError, NonConvexError, OptionError
from relift.in_database import lift_tables, program_from_tables, tables_from_program
from relift.in_database.exact_weights import residue
from relift.in_database.temporary_tables import TemporaryTables
from relift.symmetry import finite_field as field
from relift.tables.algebra import Aggregate, Column, Project, call, literal
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.engine import Engine


@pytest.fixture(params=["duckdb", "postgresql"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    if request.param == "duckdb":
        with DuckDBEngine(threads=1) as opened:
            yield opened
        return
    from relift.tables.postgres.engine import PostgresEngine

    server: Server = request.getfixturevalue("postgres_server")
    with PostgresEngine(server.url()) as opened:
        yield opened


def test_sums_are_exact_beyond_64_bits(engine: Engine) -> None:
    numbers = np.array([2**62 - 1, 2**62 - 3, -5, 2**62 - 7, 11], np.int64)
    scan = TemporaryTables(engine, "words").attach("numbers", {"n": numbers})
    sums = Aggregate(scan, (), {"s": ("wide sum", Column("n"))})
    found = engine.fetch(Project(sums, {"r": residue([Column("s")])}))
    assert int(found["r"][0]) == sum(map(int, numbers)) % field.MODULUS


def test_parts_of_residues_join_to_the_residue(engine: Engine) -> None:
    random = np.random.default_rng(3)
    words = random.integers(0, field.MODULUS, 50, dtype=np.uint64)
    factors = random.integers(-(2**41), 2**41, 50)
    parts = {f"w{k}": ((words >> np.uint64(21 * k)) & np.uint64(2**21 - 1)).astype(np.int64) for k in range(3)}
    scan = TemporaryTables(engine, "parts").attach("words", {"f": factors, **parts})
    terms = Project(scan, {w: call("*", Column("f"), Column(w)) for w in parts})
    sums = Aggregate(terms, (), {w: ("wide sum", Column(w)) for w in parts})
    found = engine.fetch(Project(sums, {"r": residue([Column(w) for w in parts])}))
    expected = sum(int(f) * int(w) for f, w in zip(factors, words, strict=True)) % field.MODULUS
    assert int(found["r"][0]) == expected


def test_hashes_have_their_bits_and_depend_on_their_seed(engine: Engine) -> None:
    scan = TemporaryTables(engine, "hashes").attach("numbers", {"n": np.arange(4000)})
    words = {f"h{s}": call("hash", Column("n"), literal(s), literal(41)) for s in (1, 2**60 + 5)}
    first, second = engine.fetch(Project(scan, words)).values()
    for found in (first, second):
        assert found.min() >= 0
        assert found.max() < 2**41
        assert np.unique(found).size == 4000
        assert abs(found.mean() / 2**40 - 1) < 0.1
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.1
    assert np.unique(first ^ second).size > 3990  # not the same words up to a constant


def test_wrong_tables_are_refused_in_words() -> None:
    good: dict[str, Any] = {
        "columns": [(0, 1.0, 0.0, 1.0), (1, 1.0, 0.0, 1.0)],
        "rows": [(0, 0.0, 1.0)],
        "entries": [(0, 0, 1.0), (0, 1, 1.0)],
    }
    wrong: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"columns": [(0, 1.0, 0.0, 1.0), (2, 1.0, 0.0, 1.0)]}, DataError, "Number them from 0 to 1"),
        ({"columns": [(0, 1.0, 2.0, 1.0), (1, 1.0, 0.0, 1.0)]}, BoundsError, "bounds 2.0 and 1.0 at column 0"),
        ({"columns": [(0, np.nan, 0.0, 1.0), (1, 1.0, 0.0, 1.0)]}, DataError, "misses a number at column 0"),
        ({"columns": [(0, np.inf, 0.0, 1.0), (1, 1.0, 0.0, 1.0)]}, DataError, "has the q inf at column 0"),
        ({"entries": [(0, 2, 1.0)]}, DataError, "an entry in column 2, and there are 2 of them"),
        ({"entries": [(0, 1, np.inf)]}, DataError, "the value inf in row 0, column 1"),
        ({"entries": [(0, 1, 1.0), (0, 1, 2.0)]}, DataError, "2 entries in row 0, column 1"),
        ({"entries": [("a", 1, 1.0)]}, DataError, "Give whole numbers"),
        ({"rows": [(0, 1.0)]}, DataError, "has 2 columns, and 3 are needed"),
        ({"quadratic": [(0, 1, 1.0)]}, AsymmetricError, "Give both triangles"),
        ({"quadratic": [(0, 1, 1.0), (1, 0, 1.0)]}, NonConvexError, "the diagonal does not dominate in row 0"),
    ]
    with DuckDBEngine(threads=1) as engine:
        for change, error, message in wrong:
            with pytest.raises(error, match=message):
                program_from_tables(engine, **(good | change))
        assert engine.tables() == []


def test_spilling_beyond_the_quota_ends_in_a_clear_error_and_leaves_nothing() -> None:
    random = np.random.default_rng(0)
    n = 300_000
    program = relift.Program(q=random.random(n), A=np.ones((1, n)), u=[1.0], lb=0)
    with DuckDBEngine(threads=1, memory_limit="60MB", spill_limit="1MB") as engine:
        with pytest.raises(EngineError, match=r"DuckDB ran out of memory.*Raise memory_limit"):
            lift_tables(engine, **tables_from_program(program))
        assert engine.tables() == []


def test_numpy_columns_are_no_engine_to_lift_in() -> None:
    from relift.tables.open_engine import open_engine

    with open_engine("memory") as engine, pytest.raises(OptionError, match="Choose duckdb, or lift locally"):
        program_from_tables(engine, columns=[(0, 1.0, 0.0, 1.0)])
