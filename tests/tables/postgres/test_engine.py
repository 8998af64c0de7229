"""PostgreSQL as an engine, and as a source of data: what arrives, what is refused, what is left behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.postgres_server import PASSWORD, Server

import relift
from relift.errors import DataError, EngineError, OptionError
from relift.tables.algebra import Column, Join, Plan, Project, Scan, Type, Union, Unit, call, literal
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.engine import Engine
from relift.tables.load import load_table
from relift.tables.memory.engine import MemoryEngine
from relift.tables.open_engine import open_engine
from relift.tables.postgres.engine import PostgresEngine
from relift.tables.sources.table import Table, source_from_data
from relift.testing.conformance import Case
from relift.testing.conformance_engine import CASES

adbc = pytest.importorskip("adbc_driver_postgresql.dbapi")
psycopg = pytest.importorskip("psycopg")

ODD = 'We"ird; DROP TABLE s.plain; --'
SET_UP = f"""
    DROP SCHEMA IF EXISTS s CASCADE;
    CREATE SCHEMA s;
    CREATE DOMAIN s.positive AS integer CHECK (value > 0);
    CREATE TYPE s.mood AS ENUM ('sad', 'ok');
    CREATE TABLE s.plain(name text, size integer, price double precision);
    INSERT INTO s.plain VALUES ('a', 1, 0.5), ('b', 2, 2.0);
    CREATE VIEW s.cheap AS SELECT name FROM s.plain WHERE price < 1;
    CREATE TABLE s.parted(k integer) PARTITION BY RANGE (k);
    CREATE TABLE s.parted_1 PARTITION OF s.parted FOR VALUES FROM (0) TO (10);
    INSERT INTO s.parted VALUES (3), (4);
    CREATE TABLE s."{ODD.replace('"', '""')}"(
        "a b" varchar(9), domain s.positive, enum s.mood, day date, moment timestamp, id uuid,
        single real, "Dec" numeric(10, 2), yes boolean, document json
    );
    INSERT INTO s."{ODD.replace('"', '""')}" VALUES
        ('é', 1, 'ok', '2024-01-02', '2024-01-02 03:04:05', '00000000-0000-0000-0000-00000000000a', 0.1, 1.25, true,
         '1'),
        ('B', 2, 'sad', '2023-01-02', '2023-01-02 03:04:05.5', '00000000-0000-0000-0000-00000000000b', 0.5, 3, false,
         '2');
"""
ODD_NAME = 's."We""ird; DROP TABLE s.plain; --"'


@pytest.fixture(scope="module")
def url(postgres_server: Server) -> Iterator[str]:
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute(SET_UP)
        yield postgres_server.url()
        connection.execute("DROP SCHEMA s CASCADE")


@pytest.fixture
def user(url: str) -> Iterator[Any]:
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def rows_of(engine: Engine, data: Any, arity: int, has_value: bool = False) -> list[tuple[Any, ...]]:
    table = load_table(engine, "t", source_from_data("t", data, engine=engine), arity, has_value)
    names = [f"k{k}" for k in range(len(table.types))]
    columns = engine.fetch(table.scan(names, "v" if table.value else None))
    engine.drop(table.name)
    return sorted(zip(*(column.tolist() for column in columns.values()), strict=True))


def value(engine: Engine, scalar: Any) -> Any:
    return engine.fetch(Project(Unit(), {"v": scalar}))["v"][0]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_postgresql_conforms(case: Case[Engine], postgres_server: Server) -> None:
    with PostgresEngine(postgres_server.url()) as engine:
        case.check(engine)


STORING = {"numbers are dense and in order", "budgets and bounded counts", "tables grow by append", "closing"}
"""Cases in which it matters what kind of tables there are."""


@pytest.mark.parametrize("case", [case for case in CASES if case.name in STORING], ids=str)
def test_postgresql_conforms_in_a_schema_of_its_own(case: Case[Engine], postgres_server: Server) -> None:
    with PostgresEngine(postgres_server.url(), workspace="schema") as engine:
        case.check(engine)


# --- the user's tables ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "found"),
    [
        ("a b", ["B", "é"]),
        ("domain", [1, 2]),
        ("enum", ["ok", "sad"]),
        ("day", ["2023-01-02", "2024-01-02"]),
        ("moment", ["2023-01-02 03:04:05.5", "2024-01-02 03:04:05"]),
        ("id", ["00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000b"]),
        ("single", [float(np.float32(0.1)), 0.5]),
        ("Dec", [1.25, 3.0]),
        ("yes", [0, 1]),
    ],
)
def test_columns_of_every_type_are_read_the_same_by_both_engines(column: str, found: list[Any], url: str) -> None:
    with DuckDBEngine() as here, PostgresEngine(url) as there:
        assert rows_of(here, Table((url, ODD_NAME), [column]), 1) == [(entry,) for entry in found]
        assert rows_of(there, Table(ODD_NAME, [column]), 1) == [(entry,) for entry in found]


def test_tables_views_and_partitions_can_be_named(url: str) -> None:
    with PostgresEngine(url) as engine:
        for given in (
            "s.plain",
            (engine, "s.plain"),
            (url, "s.plain"),
            (url, '"s"."plain"'),
            (url, "postgres.s.plain"),
        ):
            assert rows_of(engine, given, 2, True) == [("a", 1, 0.5), ("b", 2, 2.0)]
        assert rows_of(engine, "s.cheap", 1) == [("a",)]
        assert rows_of(engine, "s.parted", 1) == [(3,), (4,)]
        assert rows_of(engine, Table("s.plain", ["price", "name"]), 2) == [(0.5, "a"), (2.0, "b")]
        with DuckDBEngine() as other:
            assert rows_of(other, (engine, "s.cheap"), 1) == [("a",)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("s.plane", "there is no table or view 's.plane' on postgresql://tester@/postgres"),
        ("s.plane", "Did you mean 'plain'?"),
        ("nowhere", "there is no table or view 'nowhere'"),
        ("s.Plain", "Did you mean 'plain'?"),
        ("a.b.c.d", "'a.b.c.d' is not the name of a table"),
        ("other.s.plain", "'other' is another database"),
        (Table("s.plain", ["name", "prize"]), "has no column 'prize'. Its columns are 'name', 'size', 'price'."),
        (Table(ODD_NAME, ["document"]), "the column 'document' holds json."),
        ("s.plain'; DROP TABLE plain; --", "there is no table or view"),
        ("pg_catalog.pg_class", "holds "),
    ],
)
def test_wrong_names_are_refused_with_a_reason(given: Any, message: str, url: str) -> None:
    pair = Table((url, given.data), given.columns) if isinstance(given, Table) else (url, given)
    with DuckDBEngine() as here, PostgresEngine(url) as there:
        for engine, data in ((here, pair), (there, given), (there, pair)):
            with pytest.raises(DataError) as caught:
                rows_of(engine, data, 1)
            assert message in str(caught.value)
        assert rows_of(there, "s.cheap", 1) == [("a",)]  # a refusal breaks nothing


def test_what_may_not_be_read_is_told(postgres_server: Server, url: str) -> None:
    guest = postgres_server.url("guest", PASSWORD)
    with PostgresEngine(guest) as engine, pytest.raises(DataError, match=r"permission denied .*GRANT SELECT"):
        rows_of(engine, "s.plain", 1)


def test_an_empty_table_fits_every_type(url: str, user: Any) -> None:
    user.execute("CREATE TABLE s.nobody(name text, day date)")
    with DuckDBEngine() as here, PostgresEngine(url) as there:
        for engine in (here, there):
            empty = load_table(engine, "e", source_from_data("e", (url, "s.nobody")), 2, False)
            assert empty.types == (Type.NOTHING, Type.NOTHING)
            full = load_table(engine, "f", source_from_data("f", [(1, 2.5)]), 2, False)
            assert engine.count(Join(full.scan(["X", "Y"]), empty.scan(["X", "Y"])), 9) == 0
            assert engine.count(Union((full.scan(["X", "Y"]), empty.scan(["X", "Y"]))), 9) == 1
            assert engine.count(Join(full.scan(["X", "Y"]), empty.scan(["X", "Y"]), "anti"), 9) == 1
    user.execute("DROP TABLE s.nobody")


def test_a_view_cannot_write_while_it_is_read(url: str, user: Any) -> None:
    user.execute("""
        CREATE TABLE s.log(k integer);
        CREATE FUNCTION s.writes() RETURNS integer LANGUAGE sql AS 'INSERT INTO s.log VALUES (1) RETURNING k';
        CREATE VIEW s.sly AS SELECT s.writes() AS k;
    """)
    with DuckDBEngine() as here, PostgresEngine(url) as there:
        for engine in (here, there):
            with pytest.raises((DataError, EngineError), match="read-only transaction"):
                rows_of(engine, (url, "s.sly"), 1)
    assert user.execute("SELECT count(*) FROM s.log").fetchone() == (0,)


def test_all_tables_are_read_as_of_one_moment(url: str, user: Any) -> None:
    user.execute("CREATE TABLE s.first AS SELECT 1 AS k; CREATE TABLE s.second AS SELECT 1 AS k")
    with MemoryEngine() as memory, DuckDBEngine() as here, PostgresEngine(url) as there:
        for engine in (memory, here, there):
            assert rows_of(engine, (url, "s.first"), 1) == [(1,)]
        user.execute("INSERT INTO s.second VALUES (2)")
        for engine in (memory, here, there):
            assert rows_of(engine, (url, "s.second"), 1) == [(1,)]
            engine.seal()
            assert rows_of(engine, (url, "s.second"), 1) == [(1,), (2,)]
            engine.seal()
    user.execute("DROP TABLE s.first, s.second")


def test_a_database_of_another_encoding_is_pulled_from_but_not_worked_in(postgres_server: Server, user: Any) -> None:
    provider = "LOCALE_PROVIDER libc" if user.info.server_version >= 150000 else ""
    user.execute(f"CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0 {provider}")
    latin = postgres_server.url(database="latin")
    with psycopg.connect(latin, autocommit=True) as connection:
        connection.execute("CREATE TABLE t AS SELECT 'é' AS name")
    with pytest.raises(EngineError, match="stores text as LATIN1"):
        PostgresEngine(latin)
    with DuckDBEngine() as engine:
        assert rows_of(engine, (latin, "t"), 1) == [("é",)]
    user.execute("DROP DATABASE latin")


# --- connections of the user's --------------------------------------------------------------------------------------


def psycopg_states(url: str) -> Iterator[tuple[Any, list[str]]]:
    """Connections in several states, and what a table holds for them."""
    for before, found in (
        ([], ["old"]),
        (["SELECT 1"], ["old"]),
        (["INSERT INTO s.mine VALUES ('new')"], ["new", "old"]),
        (["CREATE TEMP TABLE mine(name text)", "INSERT INTO mine VALUES ('temp')"], ["temp"]),
        (["SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SELECT 1 FROM s.mine", "LATER"], ["old"]),
    ):
        connection = psycopg.connect(url, row_factory=psycopg.rows.dict_row)
        connection.execute("SET search_path = s")
        connection.commit()
        for statement in before:
            if statement == "LATER":
                with psycopg.connect(url) as other:
                    other.execute("INSERT INTO s.mine VALUES ('later')")
            else:
                connection.execute(statement)
        yield connection, found
        connection.rollback()
        connection.close()


@pytest.mark.parametrize("way", ["pull", "push"])
def test_a_psycopg_connection_shows_what_it_sees_and_stays_as_it_was(way: str, url: str, user: Any) -> None:
    user.execute("DROP TABLE IF EXISTS s.mine; CREATE TABLE s.mine AS SELECT 'old' AS name")
    for connection, found in psycopg_states(url):
        status = connection.info.transaction_status
        with DuckDBEngine() if way == "pull" else PostgresEngine(connection) as engine:
            assert rows_of(engine, (connection, "mine"), 1) == [(name,) for name in found]
            with pytest.raises(DataError, match="there is no table or view 'none'"):
                rows_of(engine, (connection, "none"), 1)
        assert connection.info.transaction_status == status
        assert not connection.closed
        assert connection.execute("SHOW DateStyle").fetchone() == {"DateStyle": "ISO, MDY"}
        assert [row["name"] for row in connection.execute("SELECT name FROM mine ORDER BY 1")] == found
    user.execute("DROP TABLE s.mine")


@pytest.mark.parametrize("way", ["pull", "push"])
@pytest.mark.parametrize("name", ["s.tenants", "s.seen"])
def test_row_security_of_a_connection_holds(name: str, way: str, postgres_server: Server, user: Any) -> None:
    user.execute("""
        CREATE TABLE s.tenants AS SELECT k AS tenant FROM generate_series(1, 3) AS k;
        CREATE VIEW s.seen AS SELECT tenant FROM s.tenants;
        ALTER VIEW s.seen OWNER TO guest;
        ALTER TABLE s.tenants ENABLE ROW LEVEL SECURITY;
        CREATE POLICY own ON s.tenants USING (tenant = coalesce(current_setting('shop.tenant', true), '3')::int);
        GRANT USAGE ON SCHEMA s TO guest;
        GRANT SELECT ON s.tenants TO guest;
    """)
    try:
        with psycopg.connect(postgres_server.url("guest", PASSWORD)) as connection:
            connection.execute("SET shop.tenant = 2")
            connection.commit()
            with DuckDBEngine() if way == "pull" else PostgresEngine(connection) as engine:
                assert rows_of(engine, (connection, name), 1) == [(2,)]
        with psycopg.connect(postgres_server.url()) as connection, DuckDBEngine() as engine:
            connection.execute("SET ROLE guest")
            assert rows_of(engine, (connection, name), 1) == [(3,)]
    finally:
        user.execute("DROP VIEW s.seen; DROP TABLE s.tenants; REVOKE USAGE ON SCHEMA s FROM guest")


def test_connections_that_cannot_answer_are_refused(url: str) -> None:
    connection = psycopg.connect(url)
    with pytest.raises(psycopg.Error):
        connection.execute("SELECT * FROM nothing")
    with DuckDBEngine() as engine:
        with pytest.raises(EngineError, match="its transaction has failed"):
            rows_of(engine, (connection, "s.plain"), 2, True)
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.INERROR
        connection.close()
        with pytest.raises(EngineError, match="the connection is closed"):
            rows_of(engine, (connection, "s.plain"), 2, True)
    with pytest.raises(EngineError, match="closed"):
        open_engine(connection)


@pytest.mark.parametrize("way", ["pull", "push"])
@pytest.mark.parametrize("autocommit", [False, True])
def test_an_adbc_connection_shows_what_it_sees_and_stays_as_it_was(autocommit: bool, way: str, url: str) -> None:
    with adbc.connect(url, autocommit=autocommit) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE kept(name text, day date)")
        cursor.execute("INSERT INTO kept VALUES ('temp', '2024-01-02')")
        with DuckDBEngine() if way == "pull" else PostgresEngine(connection) as engine:
            assert rows_of(engine, (connection, "kept"), 2) == [("temp", "2024-01-02")]
            assert rows_of(engine, (connection, "s.cheap"), 1) == [("a",)]
            with pytest.raises(DataError, match="there is no table or view 'none'"):
                rows_of(engine, (connection, "none"), 1)
        cursor.execute("SELECT count(*) FROM kept")
        assert cursor.fetchone() == (1,)
        if not autocommit:
            connection.rollback()
            cursor.execute("SELECT count(*) FROM pg_class WHERE relname = 'kept'")
            assert cursor.fetchone() == (0,)


TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=5)
ROWS = st.lists(
    st.tuples(st.none() | st.integers(-(2**63), 2**63 - 1), st.none() | st.floats(allow_nan=False), st.none() | TEXTS),
    max_size=20,
)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=ROWS)
def test_rows_that_only_the_connection_sees_arrive_unchanged(rows: list[tuple[Any, ...]], url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TEMP TABLE t(i bigint, x double precision, s text)")
        connection.cursor().executemany("INSERT INTO t VALUES (%s, %s, %s)", rows)
        with DuckDBEngine() as engine:
            engine.attach("t", source_from_data("t", (connection, "t")))
            found = engine._run("SELECT * FROM t")
        connection.rollback()
    assert sorted(map(repr, found)) == sorted(map(repr, rows))


# --- semantics ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "scalar",
    [
        *(call("exp", literal(x)) for x in (-1000, -745.13, -745.135, 0.5, 709.78, 709.79, 1000)),
        *(
            call("**", literal(a), literal(b))
            for a, b in ((0.5, 2000), (0.5, 1075), (-0.5, 1001), (0, 0), (0, 3), (-3, 3))
        ),
        call("least", literal(float("nan")), literal(1.0)),
        call("greatest", literal(float("nan")), literal(1.0)),
        call("integer", literal(-3.0)),
        call("text", literal(12)),
    ],
)
def test_the_same_numbers_as_in_duckdb(scalar: Any, postgres_server: Server) -> None:
    with DuckDBEngine() as here, PostgresEngine(postgres_server.url()) as there:
        np.testing.assert_array_equal(value(there, scalar), value(here, scalar))


def test_overflow_and_nul_are_errors_of_the_data(postgres_server: Server) -> None:
    with PostgresEngine(postgres_server.url()) as engine:
        with pytest.raises(DataError, match="bigint out of range"):
            value(engine, call("*", literal(2**62), literal(4)))
        with pytest.raises(DataError, match="NUL"):
            value(engine, literal("a\0b"))
        with pytest.raises(DataError, match="0x00"):
            rows_of(engine, ["a\0b"], 1)
        assert rows_of(engine, ["ab"], 1) == [("ab",)]


def test_names_longer_than_63_bytes_stay_apart(postgres_server: Server) -> None:
    first, second = "x" * 80 + "1", "x" * 80 + "2"
    with PostgresEngine(postgres_server.url()) as engine:
        columns = engine.attach("t", source_from_data("t", [(1, 2)]))
        plan: Plan = Scan("t", {first: ("c0", columns["c0"]), second: ("c1", columns["c1"])})
        engine.create("u", plan, number=("n" * 90, (first,)))
        found = engine.fetch(Scan("u", {"A": (first, Type.INTEGER), "B": (second, Type.INTEGER)}))
        assert (found["A"].tolist(), found["B"].tolist()) == ([1], [2])
        assert list(engine.fetch(Project(plan, {second: Column(first)}))) == [second]


def test_a_statement_may_only_take_so_long(postgres_server: Server) -> None:
    with PostgresEngine(postgres_server.url(), timeout=2) as engine:
        session = engine._now()
        with pytest.raises(EngineError, match=r"the server stopped the statement after 2 s .*statement_timeout"):
            session.rows("SELECT pg_sleep(1000)")
        assert rows_of(engine, ["still here"], 1) == [("still here",)]


def test_a_second_statement_in_a_text_is_refused(postgres_server: Server) -> None:
    with PostgresEngine(postgres_server.url()) as engine, pytest.raises(EngineError, match="multiple commands"):
        engine._now().run("SELECT 1; SELECT 2")


# --- opening and closing --------------------------------------------------------------------------------------------


def test_engines_are_chosen_by_word_address_and_object(url: str, user: Any) -> None:
    with open_engine(url) as engine, adbc.connect(url) as connection:
        assert repr(engine).startswith("PostgresEngine(postgresql://tester@/postgres")
        assert open_engine(engine) is engine
        for given in (user, connection):
            with open_engine(given) as other:
                assert other.name == "postgresql"
                assert rows_of(other, "s.cheap", 1) == [("a",)]
    assert repr(engine) == "PostgresEngine(closed)"
    for wrong in ("postgres", 7, object()):
        with pytest.raises(OptionError, match=r"is not valid. Expected one of: memory, duckdb, postgresql://…, spark"):
            open_engine(wrong)
    with pytest.raises(OptionError, match="workspace='temp' is not valid"):
        PostgresEngine(url, workspace="temp")  # type: ignore[arg-type]


def tables_there(user: Any) -> list[tuple[str, str]]:
    query = """SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname !~ '^pg_toast|information_schema|^pg_catalog' ORDER BY 1, 2"""
    return list(user.execute(query).fetchall())


def schemas_there(user: Any) -> list[str]:
    return [name for (name,) in user.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'relift%'")]


@pytest.mark.parametrize("workspace", ["temporary", "schema"])
def test_nothing_is_left_on_the_server(workspace: Any, url: str, user: Any) -> None:
    before = tables_there(user)
    with PostgresEngine(url, workspace=workspace) as engine:
        rows_of(engine, "s.plain", 2, True)
        engine.create("u", Unit())
        assert len(tables_there(user)) > len(before)
        assert len(schemas_there(user)) == (workspace == "schema")
    for _ in range(3000):  # the session ends a moment after it was closed
        if tables_there(user) == before:
            break
        user.execute("SELECT pg_sleep(0.1)")
    assert tables_there(user) == before
    assert schemas_there(user) == []


@pytest.mark.parametrize("make", [DuckDBEngine, MemoryEngine, PostgresEngine], ids=lambda make: make.name)
def test_one_engine_serves_several_models(make: Any, url: str) -> None:
    text = """param need/1;  var buy(I) in need(I) >= 0;  minimize: sum{I in need(I)} buy(I);
        subject to met forall {I in need(I)}: buy(I) >= need(I);"""
    with make(url) if make is PostgresEngine else make() as engine:
        first = relift.solve_model(text, {"need": {"tea": 3}}, engine=engine)
        second = relift.solve_model(text, {"need": {"tea": 3, "milk": 2}}, engine=engine)
        assert (first.objective, second.objective) == pytest.approx((3, 5))
        assert first["buy"].to_dict() == pytest.approx({"tea": 3})


def test_a_named_schema_is_kept_and_nobody_elses_is_worked_in(url: str, user: Any) -> None:
    with PostgresEngine(url, schema="my run; --") as engine:
        assert engine.is_persistent
        engine.create("u", Unit())
        assert rows_of(engine, "s.cheap", 1) == [("a",)]
        with pytest.raises(EngineError, match="another session works in the schema"):
            PostgresEngine(url, schema="my run; --")
    with PostgresEngine(url, schema="my run; --") as engine:
        assert engine.tables() == ["u"]
        assert engine.count(Scan("u", {}), 5) == 1
    with pytest.raises(EngineError, match="the schema 's' was not made by relift"):
        PostgresEngine(url, schema="s")
    user.execute('DROP SCHEMA "my run; --" CASCADE')


def test_models_use_tables_of_the_server(url: str, user: Any) -> None:
    user.execute("CREATE TABLE s.need AS SELECT 'tea' AS item, 3 AS amount UNION ALL SELECT 'milk', 2")
    user.execute("CREATE TABLE s.price AS SELECT 'tea' AS item, 2.0 AS euro UNION ALL SELECT 'milk', 1")
    text = """param need/1, price/1;  var buy(I) in need(I) >= 0;
        minimize cost: sum{I in need(I)} price(I)*buy(I);
        subject to met forall {I in need(I)}: buy(I) >= need(I);"""
    tables = relift.ServerTables(url, "s")
    assert repr(tables).endswith(", schema='s')")
    with_path = f"{url}&options=-csearch_path%3Ds"
    for data, engine in (
        (tables, "duckdb"),
        (with_path, "duckdb"),
        (tables, url),
        (None, with_path),
        ({"need": "s.need", "price": Table("s.price", ["item", "euro"])}, url),
        ({"need": (user, "s.need"), "price": {"tea": 2, "milk": 1}}, user),
        ({"need": (user, "s.need"), "price": {"tea": 2, "milk": 1}}, "duckdb"),
    ):
        answer = relift.solve_model(text, data, engine=engine)
        assert answer.objective == pytest.approx(8)
        assert answer["buy"].to_dict() == pytest.approx({"milk": 2, "tea": 3})
        answer.grounded.close()
    user.execute("ALTER TABLE s.price RENAME TO prices")
    model = relift.Model.from_text(text).data(price={"tea": 2, "milk": 1})
    for data, engine in ((tables, "duckdb"), (None, with_path)):  # what the model has need not be on the server
        assert model.solve(data, engine=engine).objective == pytest.approx(8)
    for data, engine in ((tables, "duckdb"), (None, with_path)):
        with pytest.raises(DataError, match=r"(?s)no table or view for the param 'price'.*Did you mean it by 'prices'"):
            relift.solve_model(text, data, engine=engine)
    user.execute("DROP TABLE s.need, s.prices")
