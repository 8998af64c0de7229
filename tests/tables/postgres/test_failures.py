"""What goes wrong between relift and a server: a clear error, no password in it, nothing left, no table touched."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from tests.postgres_server import PASSWORD, Server
from tests.waiting import wait_until

import relift
from relift.cli.run import run
from relift.errors import DataError, EngineError, ReliftError
from relift.tables.algebra import Column, Join, Project, Scan, call
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.memory.engine import MemoryEngine
from relift.tables.open_engine import open_engine
from relift.tables.postgres.engine import PostgresEngine
from relift.tables.postgres.session import PostgresSession
from relift.tables.sources.table import source_from_data

psycopg = pytest.importorskip("psycopg")
pytest.importorskip("adbc_driver_postgresql")

ENDLESS = """relation node/1;
close(X,Y,Z) if node(X) & node(Y) & node(Z) & (X*X + Y*Y - 3*Z*Z) * (X - Y + 2*Z) = 1234567;
var v(X) in node(X) >= 0;
minimize: sum{X in node(X)} v(X);
subject to far forall {X,Y,Z in close(X,Y,Z)}: v(X) >= 1;
"""
"""A join of all triples, which nothing but patience ends."""


@pytest.fixture
def nodes(postgres_server: Server) -> Iterator[Any]:
    """A connection of the user's, with a table of nodes whose contents must stay."""
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute("CREATE TABLE node AS SELECT generate_series(1, 2000) AS x")
        before = checksum(connection)
        yield connection
        assert checksum(connection) == before
        connection.execute("DROP TABLE node")


def checksum(connection: Any) -> tuple[Any, ...]:
    """What a user could have lost: rows of tables, and which tables and schemas there are; and relift's sessions."""
    query = """SELECT md5(string_agg(x::text || xmin::text || ctid::text, ',' ORDER BY x)),
        (SELECT string_agg(relname, ',' ORDER BY oid) FROM pg_class WHERE oid > 16384 AND relpersistence <> 't'),
        (SELECT string_agg(nspname, ',' ORDER BY oid) FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp')
        FROM node"""
    return tuple(connection.execute(query).fetchone())


def sessions(connection: Any) -> int:
    return int(
        connection.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'relift'").fetchone()[0]
    )


def is_joining(connection: Any) -> bool:
    """Whether relift's long statement is running."""
    query = """SELECT count(*) FROM pg_stat_activity WHERE application_name = 'relift' AND state = 'active'
        AND clock_timestamp() - query_start > '0.3 s'"""
    return bool(connection.execute(query).fetchone()[0])


def assert_nothing_is_left(connection: Any) -> None:
    assert wait_until(lambda: sessions(connection) == 0)
    left = "SELECT count(*) FROM pg_class WHERE relpersistence = 't' OR relname LIKE 't1\\_%'"
    assert wait_until(lambda: connection.execute(left).fetchone()[0] == 0)


# --- passwords ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("secret", ["topsecret", "to%2Fpsec%40ret", "to/psec@ret", "x:y@topsecret", "topsecret?x=1"])
def test_a_wrong_password_is_never_shown(
    secret: str, postgres_server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    caplog.set_level(logging.DEBUG)
    url = f"postgresql://guest:{secret}@/postgres?host={quote(str(postgres_server.folder))}"
    (tmp_path / "m.rlp").write_text("relation p/1; var x(I) in p(I); minimize: sum{I in p(I)} x(I);")
    told = []
    attempts: list[Callable[[], Any]] = [
        lambda: open_engine(url),
        lambda: relift.solve_model(tmp_path / "m.rlp", engine=url),
        lambda: relift.solve_model(tmp_path / "m.rlp", url),
        lambda: relift.solve_model(tmp_path / "m.rlp", {"p": (url, "node")}),
        lambda: relift.ServerTables(url).names(),
    ]
    for attempt in attempts:
        with pytest.raises(EngineError, match="cannot be reached") as caught:
            attempt()
        error = caught.value
        told += [str(error), repr(error), "".join(traceback.format_exception(error))]
    model = str(tmp_path / "m.rlp")
    for words in (["--engine", url], ["--data", url], ["--engine", url, "--data", url], ["--debug", "--engine", url]):
        assert run(["solve", model, *words]) == 6
    for words in (["solve", url], [url], ["solve", model, "--engine", url.replace("postgresql", "postgres", 1)]):
        assert run(words) in {2, 6}
    assert run(["solve", model, "--data", "nowhere", "--engine", f"x{url}"]) == 2
    output = capsys.readouterr()
    assert "Traceback" not in output.err
    told += [repr(relift.ServerTables(url)), output.out, output.err, caplog.text]
    for text in told:
        for piece in ("topsecret", "to/psec", "to%2Fpsec", "psec", "%40ret", "x:y"):
            assert piece not in text


def test_why_a_server_cannot_be_reached_is_told(postgres_server: Server, tmp_path: Path) -> None:
    folder = postgres_server.folder
    for url, message in (
        (postgres_server.url("guest", "wrong"), "the password is wrong, or the user is"),
        (postgres_server.url("guest"), "the server asks for a password, and none was given.*PGPASSWORD"),
        (postgres_server.url(database="nowhere"), "there is no such database on the server"),
        (f"postgresql://tester@/postgres?host={quote(str(tmp_path))}", "no server answers there"),
        (f"postgresql://tester@/postgres?host={quote(str(folder))}&port=1", "no server answers there"),
        ("postgresql://tester@no-such-host.invalid/x", "its host is not known"),
        ("postgresql://tester@/x?colour=red", "the address cannot be read"),
        ("postgresql://?service=nowhere", "there is no such service"),
    ):
        with pytest.raises(EngineError, match=message):
            open_engine(url)


def test_the_right_password_opens_by_address_environment_and_connection(
    postgres_server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    address = postgres_server.url("guest", PASSWORD)
    with open_engine(address) as engine, psycopg.connect(address) as connection, open_engine(connection) as other:
        assert PASSWORD not in repr(engine)
        assert repr(other) == "PostgresEngine(postgresql://guest@/postgres)"
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with open_engine(postgres_server.url("guest")):
        pass
    monkeypatch.delenv("PGPASSWORD")
    password_file = tmp_path / "pass"
    escaped = PASSWORD.replace("\\", "\\\\").replace(":", "\\:")
    password_file.write_text(f"*:*:*:guest:{escaped}\n")
    password_file.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(password_file))
    monkeypatch.setenv("PGHOST", str(postgres_server.folder))
    monkeypatch.setenv("PGUSER", "guest")
    with open_engine("postgresql:///postgres") as engine:
        assert engine.name == "postgresql"
    service_file = tmp_path / "services"
    service_file.write_text(f"[shop]\nhost={postgres_server.folder}\ndbname=postgres\nuser=guest\n")
    monkeypatch.setenv("PGSERVICEFILE", str(service_file))
    monkeypatch.delenv("PGHOST")
    with open_engine("postgresql://?service=shop") as engine:
        assert engine.name == "postgresql"


# --- in the middle of the work --------------------------------------------------------------------------------------


def grounding(url: str, **options: Any) -> tuple[threading.Thread, list[BaseException]]:
    """Ground the endless model in a thread."""
    failures: list[BaseException] = []

    def work() -> None:
        try:
            relift.ground_model(ENDLESS, engine=PostgresEngine(url, **options), limit=10**9)
        except BaseException as error:  # noqa: BLE001 - looked at by the test
            failures.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread, failures


def test_the_server_goes_away_in_the_middle(mortal_server: Server) -> None:
    with psycopg.connect(mortal_server.url(), autocommit=True) as connection:
        connection.execute("CREATE TABLE node AS SELECT generate_series(1, 2000) AS x")
        before = connection.execute("SELECT md5(string_agg(x::text, ',' ORDER BY x)) FROM node").fetchone()
        connection.execute("CHECKPOINT")
        threads = [grounding(mortal_server.url()), grounding(mortal_server.url(), workspace="schema")]
        assert wait_until(lambda: is_joining(connection))
    mortal_server.stop()
    for thread, failures in threads:
        thread.join(300)
        assert not thread.is_alive()
        assert isinstance(failures[0], EngineError)
        assert "the connection to postgresql://tester@/postgres" in str(failures[0])
        assert "was lost" in str(failures[0])
        assert "run it again when the server is up" in str(failures[0])
    mortal_server.start()
    with psycopg.connect(mortal_server.url(), autocommit=True) as connection:
        assert connection.execute("SELECT md5(string_agg(x::text, ',' ORDER BY x)) FROM node").fetchone() == before
        with PostgresEngine(mortal_server.url(), workspace="schema"):  # which removes what the dead one left
            pass
        schemas = connection.execute("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'relift%'").fetchone()
        assert schemas == (0,)
        left = "SELECT count(*) FROM pg_class WHERE relname LIKE 't1\\_%'"
        assert wait_until(lambda: connection.execute(left).fetchone()[0] == 0)


def test_the_server_goes_away_during_a_command(
    mortal_server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.rlp").write_text(ENDLESS)

    def stop_in_the_middle() -> None:
        with psycopg.connect(mortal_server.url(), autocommit=True) as connection:
            wait_until(lambda: is_joining(connection))
        mortal_server.stop()

    with psycopg.connect(mortal_server.url(), autocommit=True) as connection:
        connection.execute("CREATE TABLE node AS SELECT generate_series(1, 2000) AS x")
    thread = threading.Thread(target=stop_in_the_middle)
    thread.start()
    code = run(["solve", str(tmp_path / "m.rlp"), "--engine", mortal_server.url(), "--limit", "1000000000"])
    thread.join()
    output = capsys.readouterr()
    assert (code, output.out) == (6, "")
    assert output.err.startswith("relift: the connection to postgresql://tester@/postgres")
    assert output.err.count("\n") == 1


def test_a_session_that_is_ended_by_the_server(postgres_server: Server, nodes: Any) -> None:
    thread, failures = grounding(postgres_server.url())
    assert wait_until(lambda: is_joining(nodes))
    nodes.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'relift'")
    thread.join(300)
    assert isinstance(failures[0], EngineError)
    assert "was lost (terminating connection due to administrator command)" in str(failures[0])
    assert_nothing_is_left(nodes)


def test_interruption_from_another_thread(postgres_server: Server, nodes: Any) -> None:
    engine = PostgresEngine(postgres_server.url())
    failures: list[BaseException] = []

    def work() -> None:
        try:
            relift.ground_model(ENDLESS, engine=engine, limit=10**9)
        except BaseException as error:  # noqa: BLE001 - looked at by the test
            failures.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert wait_until(lambda: is_joining(nodes))
    engine.interrupt()
    thread.join(300)
    assert isinstance(failures[0], KeyboardInterrupt)
    assert_nothing_is_left(nodes)


@pytest.mark.parametrize("how", ["Ctrl-C in Python", "Ctrl-C on the command line", "kill -9"])
def test_a_process_is_ended_in_the_middle(how: str, postgres_server: Server, nodes: Any, tmp_path: Path) -> None:
    url, temporary = postgres_server.url(), tmp_path / "temporary"
    temporary.mkdir()
    (tmp_path / "m.rlp").write_text(ENDLESS)
    if how == "Ctrl-C on the command line":
        words = ["-m", "relift", "solve", str(tmp_path / "m.rlp"), "--engine", url, "--limit", "1000000000"]
    else:
        words = ["-c", f"import relift; relift.ground_model({ENDLESS!r}, engine={url!r}, limit=10**9)"]
    process = subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    )  # fmt: skip
    try:
        assert wait_until(lambda: is_joining(nodes))
        process.send_signal(signal.SIGKILL if how == "kill -9" else signal.SIGINT)
        _, errors = process.communicate(timeout=300)
    finally:
        process.kill()
        process.wait()
    if how == "Ctrl-C on the command line":
        assert (process.returncode, errors) == (130, "relift: interrupted.\n")
    elif how == "Ctrl-C in Python":
        assert errors.rstrip().endswith("KeyboardInterrupt"), (process.returncode, errors)
    assert_nothing_is_left(nodes)
    assert list(temporary.iterdir()) == []


def test_ctrl_c_waits_until_the_statement_has_ended(postgres_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who closes a connection on which a statement runs ends the process."""
    is_cancelled, ended = threading.Event(), list[str]()

    def work() -> None:
        assert wait_until(lambda: is_waiting(threading.main_thread()))
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        is_cancelled.wait()
        time.sleep(0.5)  # the server takes its time
        ended.append("the statement")

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with PostgresSession(postgres_server.url()) as session:
            monkeypatch.setattr(session, "cancel", is_cancelled.set)
            with pytest.raises(KeyboardInterrupt):
                session._call(work)
            assert ended == ["the statement"]
    finally:
        signal.signal(signal.SIGINT, before)


def is_waiting(thread: threading.Thread) -> bool:
    """Whether a thread waits for a statement."""
    code = sys._current_frames()[thread.ident].f_code
    return code is PostgresSession._call.__code__


@pytest.mark.parametrize("n_lost", [1, 3])
def test_a_request_to_cancel_that_is_lost_is_made_again(n_lost: int, postgres_server: Server, nodes: Any) -> None:
    failures: list[BaseException] = []
    with PostgresSession(postgres_server.url()) as session:
        cancel, requests = session.cancel, list[None]()

        def cancel_at_last() -> None:
            requests.append(None)
            if len(requests) > n_lost:
                cancel()

        def sleep() -> None:
            try:
                session.rows("SELECT pg_sleep(600)::text AS t")
            except BaseException as error:  # noqa: BLE001 - looked at by the test
                failures.append(error)

        session.cancel = cancel_at_last  # type: ignore[method-assign]
        thread = threading.Thread(target=sleep)
        thread.start()
        assert wait_until(
            lambda: nodes.execute("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' "
                                  "AND state = 'active' AND pid <> pg_backend_pid()").fetchone()[0] == 1
        )  # fmt: skip

        def has_ended() -> bool:
            thread.join(0.1)
            return not thread.is_alive()

        session._stop(has_ended)
        thread.join(60)
        assert len(requests) > n_lost
        assert isinstance(failures[0], KeyboardInterrupt)


def test_a_schema_of_a_dead_process_is_removed_and_one_of_a_living_is_not(postgres_server: Server, nodes: Any) -> None:
    url = postgres_server.url()
    code = f"import sys\nfrom relift.tables.postgres.engine import PostgresEngine\n\
e = PostgresEngine({url!r}, workspace='schema')\nprint(e._schema.name, flush=True)\nsys.stdin.read()"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        schemas = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'relift%' ORDER BY 1"
        nodes.execute("CREATE SCHEMA relift_00000000000000")  # one that only looks like ours
        with PostgresEngine(url, workspace="schema"):
            assert (name,) in nodes.execute(schemas).fetchall()
        process.kill()
        process.wait()
        assert (name,) in nodes.execute(schemas).fetchall()
        assert wait_until(lambda: sessions(nodes) == 0)
        with PostgresEngine(url, workspace="schema"):
            assert (name,) not in nodes.execute(schemas).fetchall()
        assert nodes.execute(schemas).fetchall() == [("relift_00000000000000",)]
    finally:
        process.kill()
        process.wait()
        nodes.execute("DROP SCHEMA IF EXISTS relift_00000000000000")


def test_two_models_at_once_on_one_server(postgres_server: Server, nodes: Any) -> None:
    text = """relation node/1;  var v(X) in node(X) >= 0;  minimize: sum{X in node(X)} X*v(X);
        subject to some: sum{X in node(X)} v(X) >= 1;  subject to least forall {X in node(X)}: v(X) >= {least};"""
    answers: dict[int, float] = {}

    def work(least: int) -> None:
        engine = PostgresEngine(postgres_server.url(), workspace="schema" if least % 2 else "temporary")
        answer = relift.solve_model(text.replace("{least}", str(least)), engine=engine)
        answers[least] = answer.objective
        answer.grounded.close()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert answers == pytest.approx({k: k * 2000 * 2001 / 2 for k in range(1, 5)})
    assert_nothing_is_left(nodes)


# --- limits ---------------------------------------------------------------------------------------------------------


def test_no_room_for_spilling_on_the_server(postgres_server: Server, nodes: Any, tmp_path: Path,
                                            capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    nodes.execute("CREATE ROLE small LOGIN PASSWORD 'small'; ALTER ROLE small SET temp_file_limit = '1MB'")
    nodes.execute("GRANT SELECT ON node TO small")
    url = postgres_server.url("small", "small")
    text = """relation node/1;  pair(X,Y) if node(X) & node(Y) & Y <= 400;  var v(X,Y) in pair(X,Y) >= 0;
        minimize: sum{X,Y in pair(X,Y)} v(X,Y);"""
    with pytest.raises(EngineError, match=r"has no room for the intermediate results .*temp_file_limit"):
        relift.ground_model(text, engine=PostgresEngine(url, work_memory="1MB"))
    (tmp_path / "m.rlp").write_text(text)
    assert run(["ground", str(tmp_path / "m.rlp"), "--engine", f"{url}&options=-cwork_mem%3D64kB"]) == 6
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("relift: postgresql://small@/postgres")
    assert "temp_file_limit" in output.err
    assert output.err.count("\n") == 1
    assert_nothing_is_left(nodes)
    nodes.execute("REVOKE SELECT ON node FROM small; DROP ROLE small")


def test_no_room_for_spilling_in_duckdb(tmp_path: Path) -> None:
    with DuckDBEngine(memory_limit="40MB", spill_limit="1MB", threads=1, temporary_folder=str(tmp_path)) as engine:
        columns = engine.attach("t", source_from_data("t", np.arange(2500)))
        table = Scan("t", {"X": ("c0", columns["c0"])})
        pairs = Join(table, Project(table, {"Y": Column("X")}))
        texts = Project(pairs, {"X": Column("X"), "T": call("text", call("*", Column("X"), Column("Y")))})
        with pytest.raises(EngineError, match="DuckDB ran out of memory"):
            engine.create("u", texts, number=("n", ("T",)))
        assert engine.count(table, 10_000) == 2500
    assert list(tmp_path.iterdir()) == []


def test_rows_beyond_the_limit_are_not_stored(
    postgres_server: Server, nodes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """relation node/1;  pair(X,Y) if node(X) & node(Y);  var v(X,Y) in pair(X,Y) >= 0;
        minimize: sum{X,Y in pair(X,Y)} v(X,Y);"""
    rows: list[int] = []
    with PostgresEngine(postgres_server.url()) as engine:
        create = engine.create

        def counted(*given: Any, **options: Any) -> int:
            rows.append(create(*given, **options))
            return rows[-1]

        monkeypatch.setattr(engine, "create", counted)
        with pytest.raises(ReliftError, match=r"the rules? of 'pair'"):
            relift.ground_model(text, engine=engine, limit=1000)
    assert max(rows, default=0) <= 1001
    assert_nothing_is_left(nodes)


def test_a_user_who_may_not_make_temporary_tables(postgres_server: Server, nodes: Any) -> None:
    nodes.execute("REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC; GRANT SELECT ON node TO guest")
    url = postgres_server.url("guest", PASSWORD)
    try:
        with pytest.raises(EngineError, match=r"permission denied .*GRANT TEMPORARY ON DATABASE"):
            relift.ground_model("relation node/1; var v(X) in node(X); minimize: 0;", engine=url)
        text = "relation node/1; var v(X) in node(X); minimize: sum{X in node(X)} v(X);"
        with relift.ground_model(text, url, engine="duckdb") as pulled:  # pulling needs no more than SELECT
            assert pulled.program.n_variables == 2000
    finally:
        nodes.execute("GRANT TEMPORARY ON DATABASE postgres TO PUBLIC; REVOKE SELECT ON node FROM guest")


def test_pulling_ends_with_an_error_too_when_the_server_goes_away(mortal_server: Server) -> None:
    with psycopg.connect(mortal_server.url(), autocommit=True) as connection:
        connection.execute(
            "CREATE VIEW slow AS SELECT x, pg_sleep(0.001)::text AS t FROM generate_series(1, 100000) AS x"
        )
        failures: list[BaseException] = []

        def work() -> None:
            try:
                relift.ground_model("relation slow/2; var v; minimize: v;", mortal_server.url(), engine="duckdb")
            except BaseException as error:  # noqa: BLE001 - looked at by the test
                failures.append(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        running = """SELECT count(*) FROM pg_stat_progress_copy JOIN pg_stat_activity USING (pid)
            WHERE application_name = 'relift' AND query LIKE 'COPY%slow%' AND tuples_processed > 0"""
        assert wait_until(lambda: bool(connection.execute(running).fetchone()[0]))
    mortal_server.stop()
    thread.join(300)
    assert isinstance(failures[0], EngineError | DataError)
    assert "was lost" in str(failures[0])


@pytest.mark.parametrize("make", [DuckDBEngine, MemoryEngine], ids=lambda make: make.name)
def test_pulling_can_be_interrupted(make: Any, postgres_server: Server, nodes: Any) -> None:
    nodes.execute("CREATE VIEW slow AS SELECT x, pg_sleep(0.01)::text AS t FROM node")
    failures: list[BaseException] = []
    engine = make()

    def work() -> None:
        try:
            relift.ground_model("relation slow/2; var v; minimize: v;", postgres_server.url(), engine=engine)
        except BaseException as error:  # noqa: BLE001 - looked at by the test
            failures.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert wait_until(lambda: is_joining(nodes))
    engine.interrupt()
    thread.join(300)
    assert isinstance(failures[0], KeyboardInterrupt)
    nodes.execute("DROP VIEW slow")
    assert_nothing_is_left(nodes)


def test_a_closed_session_says_so(postgres_server: Server) -> None:
    session = PostgresSession(postgres_server.url())
    session.close()
    session.close()
    session.cancel()
    with pytest.raises(EngineError, match="the engine is closed"):
        session.rows("SELECT 1")
