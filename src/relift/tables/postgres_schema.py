"""A schema of relift's own on a PostgreSQL server, that is found again if the process which made it has died.

Its name is random. As long as its session lives, it holds a lock that carries the same number; the server lets the
lock go with the session, whatever ends it. A schema of this form without its lock is what a dead process left behind,
and the next session of the same user removes it.
"""

from __future__ import annotations

import re
import secrets
from contextlib import suppress
from typing import final

from relift.errors import EngineError
from relift.tables.postgres_session import DIALECT, PostgresSession
from relift.tables.write_sql import name_in, text_in

_NAME = re.compile(r"relift_[0-9a-f]{14}")
_MARK = "Work of relift in progress; without its lock it is a leftover and may be dropped."


@final
class OwnSchema:
    """A schema that lives as long as a session.

    Parameters
    ----------
    session
        Where to make it.
    """

    def __init__(self, session: PostgresSession) -> None:
        self.session = session
        drop_leftovers(session)
        digits = secrets.token_hex(7)
        self.name = f"relift_{digits}"
        session.run(f"SELECT pg_advisory_lock({int(digits, 16)})")  # first the lock, or it would look like a leftover
        session.run(f"CREATE SCHEMA {name_in(DIALECT, self.name)}")
        session.run(f"COMMENT ON SCHEMA {name_in(DIALECT, self.name)} IS {text_in(DIALECT, _MARK)}")
        session.set("search_path", "pg_catalog", self.name, "pg_temp")

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
    """Remove them."""
    for name in leftovers(session):
        session.run(f"DROP SCHEMA IF EXISTS {name_in(DIALECT, name)} CASCADE")


def _is_alive(session: PostgresSession, name: str) -> bool:
    key = int(name.removeprefix("relift_"), 16)
    free = session.rows(f"SELECT pg_try_advisory_lock({key})::int")[0][0]
    if free:
        session.run(f"SELECT pg_advisory_unlock({key})")
    return not free
