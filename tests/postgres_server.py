"""A PostgreSQL server of the tests' own: made by initdb, on a private socket, by a user without rights, then removed.

Its texts are ordered as in a dictionary, not by code points, so that tests see whether relift relies on that.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

OWNER, PASSWORD = "tester", "se:cr/et@%41"
"""The owner needs no password; the user ``guest`` has this one, full of signs that mean something in an address."""
_SETTINGS = (
    "listen_addresses=''",
    "fsync=off",
    "full_page_writes=off",
    "autovacuum_naptime=1s",  # it removes temporary tables that a crash has left
    "shared_buffers=32MB",
    "max_connections=30",
    "log_statement=all",
)
_ACCESS = "local all tester trust\nlocal all all scram-sha-256\n"


def _program(name: str) -> Path:
    places = [
        os.environ.get("RELIFT_POSTGRES_BIN", ""),
        *sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True),
    ]
    for place in places:
        if place and (Path(place) / name).exists():
            return Path(place) / name
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} of PostgreSQL is not installed; set RELIFT_POSTGRES_BIN to the folder that holds it")
    return Path(found)


def _unprivileged() -> dict[str, Any]:
    """The server refuses to be run by root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    pytest.skip("PostgreSQL does not run as root, and there is neither a user postgres nor nobody")


@dataclass
class Server:
    """A running server and how to reach it."""

    folder: Path
    who: dict[str, Any]

    def url(self, user: str = OWNER, password: str = "", database: str = "postgres") -> str:
        secret = f":{quote(password, safe='')}" if password else ""
        return f"postgresql://{user}{secret}@/{database}?host={quote(str(self.folder), safe='')}"

    def _run(self, program: str, *words: str) -> None:
        done = subprocess.run(
            [str(_program(program)), *words], cwd=self.folder, capture_output=True, text=True, check=False, **self.who
        )
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stdout}{done.stderr}")

    def make(self) -> None:
        data = str(self.folder / "data")
        words = ["-D", data, "-U", OWNER, "--auth=trust", "--no-sync", "-E", "UTF8", "--no-instructions"]
        try:
            self._run("initdb", *words, "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en")
        except RuntimeError:  # older, or built without the library of dictionaries
            shutil.rmtree(data, ignore_errors=True)
            self._run("initdb", *words, "--locale=C.UTF-8")
        (self.folder / "data" / "pg_hba.conf").write_text(_ACCESS)
        settings = "\n".join([*_SETTINGS, f"unix_socket_directories='{self.folder}'"])
        with (self.folder / "data" / "postgresql.conf").open("a") as file:
            file.write(settings + "\n")

    def start(self) -> None:
        # Its output must not go to a pipe of ours: the server keeps it open.
        words = ["-D", str(self.folder / "data"), "-w", "-s", "-l", str(self.folder / "log"), "start"]
        subprocess.run(
            [str(_program("pg_ctl")), *words], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, check=True, timeout=60, **self.who,
        )  # fmt: skip

    def stop(self) -> None:
        """At once, as if the machine had lost its power."""
        if (self.folder / "data" / "postmaster.pid").exists():
            self._run("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "-w", "stop")

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")


def start_server() -> Server:
    """A new server; the caller stops it and removes its folder."""
    who = _unprivileged()
    _program("initdb")
    folder = Path(tempfile.mkdtemp(prefix="relift-pg-"))  # a short path: that of a socket must have less than 108 bytes
    if who:
        os.chown(folder, who["user"], who["group"])
    server = Server(folder, who)
    try:
        server.make()
        server.start()
    except BaseException:
        remove(server)
        raise
    return server


def remove(server: Server) -> None:
    try:
        server.stop()
    finally:
        shutil.rmtree(server.folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """One server for all tests of a worker."""
    server = start_server()
    try:
        psycopg = pytest.importorskip("psycopg")
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute(f"CREATE ROLE guest LOGIN PASSWORD '{PASSWORD}'")
        yield server
    finally:
        remove(server)


@pytest.fixture
def mortal_server() -> Iterator[Server]:
    """A server for a test that kills it."""
    server = start_server()
    try:
        yield server
    finally:
        remove(server)
