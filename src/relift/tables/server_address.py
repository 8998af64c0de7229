"""Addresses of PostgreSQL servers (``postgresql://user:password@host:port/database?option=value``), without secrets.

A password must not get out, whatever goes wrong. What a client library says about an address that it cannot read may
hold pieces of the password (``postgresql://me:se/cret@host`` is "invalid port se"), so its words are only passed on
where the address holds none.

>>> shown_address("postgresql://me:secret@db.example.org:5433/sales?sslmode=require&sslpassword=x")
'postgresql://me@db.example.org:5433/sales'
>>> redacted("no such file: postgresql:/me:secret@host/db")
'no such file: postgresql:/me:***@host/db'
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote, urlsplit

SCHEMES = ("postgresql://", "postgres://")
_SECRET = re.compile(r"(postgres(?:ql)?:/{1,2}[^\s:@/?]*):\S*@", re.IGNORECASE)
_SECRET_OPTION = re.compile(r"((?:ssl)?password\s*=\s*)[^\s&'\"]+", re.IGNORECASE)


def is_address(value: Any) -> bool:
    """Whether something is the address of a PostgreSQL server."""
    return isinstance(value, str) and value.lower().startswith(SCHEMES)


def redacted(text: str) -> str:
    """A text without the passwords of addresses in it."""
    return _SECRET_OPTION.sub(r"\1***", _SECRET.sub(r"\1:***@", text))


def holds_secret(address: str) -> bool:
    """Whether an address may hold a password (also one that cannot be read)."""
    return redacted(address) != address


def shown_address(address: str) -> str:
    """User, host, port and database of an address, for messages."""
    safe = _SECRET.sub(r"\1@", address)
    try:
        parts = urlsplit(safe)
        place = parts.hostname or ""
        place += f":{parts.port}" if parts.port else ""
    except ValueError:
        return "the PostgreSQL server"
    user = f"{parts.username}@" if parts.username else ""
    found = re.search(r"[?&]host=([^&]*)", safe)
    socket = f"?host={unquote(found[1])}" if found and not place else ""
    return f"postgresql://{user}{place}{parts.path}{socket}"
