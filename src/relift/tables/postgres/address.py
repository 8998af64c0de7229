"""Addresses of PostgreSQL servers (``postgresql://user:password@host:port/database?option=value``), without secrets.

A password must not get out, whatever goes wrong. An address is only shown in parts that are certainly no piece of one:
where it is not written exactly as above, nothing of it is. What a client library says about an address that it cannot
read may hold pieces too (``postgresql://me:se/cret@host`` is "invalid port se"), so its words are only passed on where
the address holds no password.

>>> shown_address("postgresql://me:secret@db.example.org:5433/sales?sslmode=require&sslpassword=x")
'postgresql://me@db.example.org:5433/sales'
>>> shown_address("postgresql:///me:secret@db.example.org/sales")
'the PostgreSQL server'
"""

from __future__ import annotations

import re
from typing import TypeGuard
from urllib.parse import unquote

SCHEMES = ("postgresql://", "postgres://")
_ADDRESS = re.compile(
    r"postgres(?:ql)?://"
    r"(?:(?P<user>[^:@/?#\s]*)(?P<secret>:[^@/?#\s]*)?@)?"
    r"(?P<place>(?:[\w.\-]+|\[[0-9a-f:.]+\])?(?::\d{1,5})?(?:,(?:[\w.\-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?)*)"
    r"(?P<database>/[\w.\-]*)?(?P<options>\?[^@#\s]*)?",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"[\w.\-]+")
_SOCKET = re.compile(r"[?&]host=((?:/|%2F)(?:[\w.\-/]|%2F)*)(?:&|$)", re.IGNORECASE)


def is_address(value: object) -> TypeGuard[str]:
    """Whether something is the address of a PostgreSQL server."""
    return isinstance(value, str) and value.lower().startswith(SCHEMES)


def holds_secret(address: str) -> bool:
    """Whether an address may hold a password (also one that cannot be read)."""
    found = _ADDRESS.fullmatch(address)
    if found is None or found["secret"] is not None or "%" in (found["user"] or ""):
        return True
    return "pass" in unquote(found["options"] or "").lower()


def shown_address(address: str) -> str:
    """User, host, port and database of an address, for messages."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        return "the PostgreSQL server"
    user = f"{found['user']}@" if found["user"] and _PLAIN.fullmatch(found["user"]) else ""
    socket = _SOCKET.search(found["options"] or "") if not found["place"] and not holds_secret(address) else None
    where = f"?host={unquote(socket[1])}" if socket else ""
    return f"postgresql://{user}{found['place']}{found['database'] or ''}{where}"
