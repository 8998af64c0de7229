"""A schema of relift's own on a PostgreSQL server, that is found again if the process which made it has died.

Its name is random. As long as its session lives, it holds a lock that belongs to the name; the server lets the
lock go with the session, whatever ends it. A schema of this form without its lock is what a dead process left behind,
and the next session of the same user removes it.

A schema that the user names is kept. It must be new, or made here before; no other one is ever worked in.
"""

from __future__ import annotations

import re
import secrets
from contextlib import suppress
from hashlib import sha256
from typing import final

from relift.errors import EngineError
from relift.tables.postgres.session import DIALECT, PostgresSession
from relift.tables.sql.write import name_in, text_in

_NAME = re.compile(r"relift_[0-9a-f]{14}")
_MARK = "Work of relift in progress; without its lock it is a leftover and may be dropped."
_KEPT = "Work of relift that can go on; drop it when it is no longer needed."


@final
class OwnSchema:
    """A schema that lives as long as a session.

    Parameters
    ----------
    session
        Where to make it.
    name
        A name, for a schema that is kept; None for one of its own.

    Raises
    ------
    EngineError
        If the schema is not relift's, or another session works in it.
    """

    def __init__(self, session: PostgresSession, name: str | None = None) -> None:
        self.session = session
        if name is None:
            drop_leftovers(session)
            self.name = f"relift_{secrets.token_hex(7)}"
        else:
            self.name = name
        if not session.rows(f"SELECT pg_try_advisory_lock({_key(self.name)})::int")[0][0]:
            raise EngineError(f"another session works in the schema {self.name!r}.", "Wait for it, or choose another.")
        mark = _MARK if name is None else _KEPT  # the lock comes first, or it would look like a leftover
        found = session.rows(
            "SELECT pg_catalog.obj_description(n.oid, 'pg_namespace') FROM pg_catalog.pg_namespace AS n "
            f"WHERE n.nspname = {text_in(DIALECT, self.name)}"
        )
        if found and found[0][0] != _KEPT:
            raise EngineError(f"the schema {self.name!r} was not made by relift.", "Choose a name that is not in use.")
        if not found:
            session.run(f"CREATE SCHEMA {name_in(DIALECT, self.name)}")
            session.run(f"COMMENT ON SCHEMA {name_in(DIALECT, self.name)} IS {text_in(DIALECT, mark)}")
        session.set({"search_path": f"pg_catalog, {name_in(DIALECT, self.name)}, pg_temp"})

    def remove(self) -> None:
        """Drop it with everything in it; if the server is gone, the next session does."""
        with suppress(EngineError):
            self.session.run(f"DROP SCHEMA IF EXISTS {name_in(DIALECT, self.name)} CASCADE")


def leftovers(session: PostgresSession) -> list[str]:
    """Schemas that processes of this user have left behind when they died."""
    found = session.rows(
        "SELECT n.nspname::text FROM pg_catalog.pg_namespace AS n "
        "WHERE n.nspname LIKE 'relift\\_%' AND pg_catalog.pg_has_role(n.nspowner, 'USAGE') "
        f"AND pg_catalog.obj_description(n.oid, 'pg_namespace') = {text_in(DIALECT, _MARK)}"
    )
    return [name for (name,) in found if _NAME.fullmatch(name) and not _is_alive(session, name)]


def drop_leftovers(session: PostgresSession) -> None:
    """Remove schemas that processes which are gone have left behind."""
    for name in leftovers(session):
        session.run(f"DROP SCHEMA IF EXISTS {name_in(DIALECT, name)} CASCADE")


def _is_alive(session: PostgresSession, name: str) -> bool:
    free = session.rows(f"SELECT pg_try_advisory_lock({_key(name)})::int")[0][0]
    if free:
        session.run(f"SELECT pg_advisory_unlock({_key(name)})")
    return not free


def _key(name: str) -> int:
    """The number of the lock of a schema."""
    return int(sha256(f"relift {name}".encode()).hexdigest()[:15], 16)
