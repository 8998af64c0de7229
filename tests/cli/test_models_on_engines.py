"""The command line with engines: --engine, --data postgresql://…, --schema; what is told, and what Ctrl-C leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.postgres_server import Server
from tests.waiting import wait_until

from relift.cli.run import run

psycopg = pytest.importorskip("psycopg")
pytest.importorskip("adbc_driver_postgresql")

MODEL = """param need/1, price/1, budget = 100;
var buy(I) in need(I) >= 0;
minimize cost: sum{I in need(I)} price(I)*buy(I);
subject to met forall {I in need(I)}: buy(I) >= need(I);
subject to paid: sum{I in need(I)} price(I)*buy(I) <= budget;
"""


@pytest.fixture
def shop(postgres_server: Server, tmp_path: Path) -> Iterator[tuple[str, str]]:
    (tmp_path / "shop.rlp").write_text(MODEL)
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute("""
            DROP SCHEMA IF EXISTS market CASCADE;
            CREATE SCHEMA market;
            CREATE TABLE market.need(item text, amount integer);
            CREATE TABLE market.price(item text, euro numeric);
            INSERT INTO market.need VALUES ('tea', 3), ('New York bagel', 2);
            INSERT INTO market.price VALUES ('tea', 2), ('New York bagel', 1);
        """)
        yield str(tmp_path / "shop.rlp"), postgres_server.url()
        connection.execute("DROP SCHEMA market CASCADE")


@pytest.mark.parametrize("way", ["push", "pull", "pull into DuckDB", "both"])
def test_solve_over_tables_of_a_server(way: str, shop: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    model, url = shop
    words = {
        "push": ["--engine", url],
        "pull": ["--data", url],
        "pull into DuckDB": ["--data", url, "--engine", "duckdb"],
        "both": ["--data", url, "--engine", url],
    }[way]
    assert run(["solve", model, *words, "--schema", "market", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["objective"] == pytest.approx(8)
    assert document["variables"]["buy"]["I"] == ["New York bagel", "tea"]
    assert run(["solve", model, *words, "--schema", "market", "--param", "budget=7", "--quiet"]) == 3


def test_ground_check_and_show(shop: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, url = shop
    there = ["--engine", url, "--schema", "market"]
    assert run(["ground", model, *there, "-o", str(tmp_path / "there.mps"), "--quiet"]) == 0
    data = ["--data", url, "--schema", "market"]
    assert run(["ground", model, *data, "-o", str(tmp_path / "here.mps"), "--quiet"]) == 0
    assert (tmp_path / "there.mps").read_bytes() == (tmp_path / "here.mps").read_bytes()
    assert run(["check", model, *there]) == 0
    assert "Program(LP, min, 2 variables" in capsys.readouterr().out
    assert run(["show", model, *there, "--sql"]) == 0
    output = capsys.readouterr().out
    assert "-- the constraint 'met', query 1\nSELECT" in output
    assert "DOUBLE PRECISION" in output


def test_tables_by_the_search_path_and_in_the_model(shop: tuple[str, str], tmp_path: Path) -> None:
    _, url = shop
    text = MODEL.replace("price/1", 'price/1 from "market.price"')
    (tmp_path / "from.rlp").write_text(text)
    address = f"{url}&options=-csearch_path%3Dmarket"
    assert run(["solve", str(tmp_path / "from.rlp"), "--engine", address, "--quiet"]) == 0


def test_lifting_on_the_server_keeps_its_state_in_a_schema(
    shop: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    model, url = shop
    words = ["solve", model, "--engine", url, "--schema", "market", "--lift-in-engine", "--json"]
    assert run(words) == 0
    assert json.loads(capsys.readouterr().out)["objective"] == pytest.approx(8)
    with psycopg.connect(url, autocommit=True) as connection:
        schemas = "SELECT count(*) FROM pg_namespace WHERE nspname = 'my run'"
        assert connection.execute(schemas).fetchone() == (0,)
        for _ in range(2):  # the second one finds what the first one left
            assert run([*words, "--database", "my run", "--resume"]) == 0
            assert json.loads(capsys.readouterr().out)["objective"] == pytest.approx(8)
            assert connection.execute(schemas).fetchone() == (1,)
        connection.execute('DROP SCHEMA "my run" CASCADE')
    assert run([*words, "--database", "market"]) == 6
    assert "the schema 'market' was not made by relift" in capsys.readouterr().err
    assert run([*words, "--memory-limit", "1GB"]) == 2
    assert "memory_limit is for DuckDB" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ["solve", "MODEL", "--engine", "postgers"],
            2,
            "engine='postgers' is not valid. Expected one of: memory, duckdb",
        ),
        (["solve", "MODEL", "--engine", "URL"], 2, "there is no table or view for the param 'need' in the server."),
        (["solve", "MODEL", "--data", "URL", "--schema", "x"], 2, "in the schema 'x' of the server."),
        (["solve", "MODEL", "--schema", "market"], 2, "--schema needs a server."),
        (["solve", "MODEL", "--data", "DIR", "--schema", "x"], 2, "--schema applies to tables on a server."),
        (["solve", "x.mps", "--engine", "duckdb"], 2, "--engine applies to .rlp models, and x.mps is not one."),
        (["check", "x.mps", "--schema", "s"], 2, "--schema applies to .rlp models, and x.mps is not one."),
        (["ground", "MODEL", "--engine", "postgresql://x@/y?host=/nowhere"], 6, "cannot be reached: no server answers"),
    ],
)
def test_errors_are_told_without_a_traceback(
    words: list[str], code: int, message: str, shop: tuple[str, str], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    real = {"MODEL": shop[0], "URL": shop[1], "DIR": str(tmp_path)}
    assert run([real.get(word, word) for word in words]) == code
    output, errors = capsys.readouterr()
    assert output == ""
    assert errors.startswith("relift: ")
    assert "Traceback" not in errors
    assert message in errors.replace("\n", " ")


def cpu_seconds(pid: int) -> float:
    """How long a process has been at work, however busy the machine is."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the time of a process is read from /proc")
@pytest.mark.parametrize("engine", ["duckdb", "memory"])
def test_ctrl_c_in_the_middle_of_grounding_leaves_no_files(engine: str, tmp_path: Path) -> None:
    model = tmp_path / "endless.rlp"
    model.write_text("""relation node/1;  node := {1..2500};
        close(X,Y,Z) if node(X) & node(Y) & node(Z) & (X*X + Y*Y - 3*Z*Z) * (X - Y + 2*Z) = 1234567;
        var v(X) in node(X) >= 0;  minimize: sum{X in node(X)} v(X);
        subject to far forall {X,Y,Z in close(X,Y,Z)}: v(X) >= 1;""")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    words = [sys.executable, "-m", "relift", "ground", str(model), "--engine", engine, "--limit", "1000000000"]
    environment: dict[str, Any] = {**os.environ, "TMPDIR": str(temporary)}
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert wait_until(lambda: process.poll() is not None or any(temporary.iterdir()))  # its folder for spilling
        begun = cpu_seconds(process.pid)
        assert wait_until(lambda: cpu_seconds(process.pid) > begun + 1.0)  # far into the join
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=300)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, errors) == (130, "relift: interrupted.\n")
    assert list(temporary.iterdir()) == []
