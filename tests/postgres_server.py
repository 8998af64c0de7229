"""A PostgreSQL server of the tests' own: made by initdb, on a private socket, by a user without rights, then removed.

Its texts are ordered as in a dictionary, not by code points, so that tests see whether relift relies on that.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

PREFIX = "relift-pg-"
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
    places: list[str | Path] = [
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


def _end_with_tests() -> None:
    """Called in the new process: it is stopped when the tests die, however they do (Linux only)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGQUIT)


@dataclass
class Server:
    """A running server and how to reach it."""

    folder: Path
    who: dict[str, Any]
    process: subprocess.Popen[bytes] | None = None

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
        words = [str(_program("postgres")), "-D", str(self.folder / "data")]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                words, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=_end_with_tests,
                **self.who,
            )  # fmt: skip
        deadline = time.monotonic() + 600  # on a busy machine
        while True:
            try:
                self._run("pg_isready", "-q", "-h", str(self.folder))
                return
            except RuntimeError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"the server does not start: {self.log}") from None
                time.sleep(0.05)

    def stop(self) -> None:
        """At once, as if the machine had lost its power."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(300)

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")


def start_server() -> Server:
    """A new server; the caller stops it and removes its folder."""
    who = _unprivileged()
    _program("initdb")
    _remove_leftovers()
    # A short path: that of a socket must have less than 108 bytes.
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
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


def _remove_leftovers() -> None:
    """Folders of servers whose tests have been killed: the process that made a folder stands in its name."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        with suppress(OSError, ValueError):
            if not Path(f"/proc/{int(folder.name.removeprefix(PREFIX).partition('-')[0])}").exists():
                shutil.rmtree(folder, ignore_errors=True)


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
