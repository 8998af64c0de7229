"""What a PostgreSQL server or its client library says, in our words: whose fault it is, and what to do."""

from __future__ import annotations

import re

from relift.errors import DataError, EngineError, ReliftError
from relift.tables.postgres.address import holds_secret

REASONS = (
    ("password authentication failed", "the password is wrong, or the user is.", "Look at the user and the password."),
    (
        "no password supplied|fe_sendauth",
        "the server asks for a password, and none was given.",
        "Set PGPASSWORD, or write it into the password file (~/.pgpass).",
    ),
    ("role .* does not exist", "the server does not know the user.", "Look at the user."),
    ("database .* does not exist", "there is no such database on the server.", "Look at the name of the database."),
    ("no pg_hba.conf entry", "the server lets nobody in that way.", "Its pg_hba.conf decides; ask who runs it."),
    (
        "translate host name|Name or service not known",
        "its host is not known.",
        # Without a sign that an address has before its host: what is printed is searched for those.
        "Look at the name of the host; special signs in a password must be percent-encoded (urllib.parse.quote).",
    ),
    (
        "Connection refused|No such file or directory|Is the server running",
        "no server answers there.",
        "Is it running, and are host and port right?",
    ),
    ("timeout expired|timed out", "it did not answer in time.", "Is the host right, and is it reachable from here?"),
    ("too many clients|remaining connection slots", "it has no connection left.", "Try later."),
    ("starting up|shutting down|in recovery mode", "it is starting or stopping.", "Try again in a moment."),
    ("definition of service .* not found", "there is no such service.", "Look into ~/.pg_service.conf."),
    ("SSL|certificate", "no encrypted connection came about.", "Look at sslmode= and the certificates."),
    (
        "invalid|missing|unexpected",
        "the address cannot be read.",
        "Write postgresql://host:5432/database?user=name; special signs in a password must be percent-encoded "
        "(urllib.parse.quote).",
    ),
)
"""What libpq says, as a pattern; what that means; what to do."""


def cannot_connect(error: Exception, address: str, shown: str) -> EngineError:
    """Why no session came about; no word of a password, nor of what may be a piece of one."""
    text = str(error)
    for pattern, reason, hint in REASONS:
        if re.search(pattern, text):
            detail = "" if holds_secret(address) or not address else f" ({_sentence(text)})"
            return EngineError(f"{shown} cannot be reached: {reason}{detail}", hint)
    detail = "" if holds_secret(address) or not address else f": {_sentence(text)}"
    return EngineError(f"{shown} cannot be reached{detail}.")


def in_our_words(error: Exception, shown: str, label: str, seconds: float) -> ReliftError:
    """The error of a statement.

    Parameters
    ----------
    error
        What ADBC raised.
    shown
        The server, for messages.
    label
        The table that was being read, if one was.
    seconds
        How long the statement had been running.
    """
    state = getattr(error, "sqlstate", None) or ""
    what = _sentence(str(error))
    where = f"{label}: " if label else ""
    if not state and re.search(r"\bERROR:", str(error)):  # batches that break off: the code of the error is lost
        return DataError(f"{label} cannot be read: {what}.") if label else EngineError(f"PostgreSQL: {what}.")
    if not state or state.startswith("08") or state in {"57P01", "57P02", "57P03", "57P05"}:
        return EngineError(
            f"{where}the connection to {shown} was lost ({what}).",
            "Nothing of this work is left there; run it again when the server is up.",
        )
    if state == "57014":
        return EngineError(
            f"{where}the server stopped the statement after {seconds:.0f} s ({what}).",
            "Allow it more time (statement_timeout), or narrow the queries.",
        )
    if state.startswith("22"):
        return DataError(f"{where}{what}.")
    if state in {"53100", "53400"}:
        return EngineError(
            f"{where}{shown} has no room for the intermediate results ({what}).",
            "Raise temp_file_limit or free disk space there, narrow the queries, or ground with engine='duckdb'.",
        )
    if state == "53200":
        return EngineError(f"{where}{shown} ran out of memory ({what}).", "Lower work_memory, or narrow the queries.")
    if state == "42501":
        hint = "Reading needs GRANT SELECT." if label else "Temporary tables need GRANT TEMPORARY ON DATABASE."
        return (DataError if label else EngineError)(f"{where}{what}.", hint)
    if state == "25006":
        return EngineError(
            f"{shown} allows no temporary tables ({what}).",
            "It may be a standby: read the tables from there and ground with engine='duckdb'.",
        )
    if label:
        return DataError(f"{label} cannot be read: {what}.")
    return EngineError(f"PostgreSQL: {what}.")


def _sentence(text: str) -> str:
    """The message itself, without what ADBC puts around it."""
    found = re.search(r"(?:ERROR|FATAL|PANIC):\s*(.+)", text)
    if found is None:
        found = re.search(r"(?:Failed to connect|\[libpq\][^:]*): *(.+)", text)
    line = found[1] if found else text.strip().partition("\n")[0]
    line = re.sub(r"\s*SQLSTATE: \w+$", "", line)
    return line.strip().rstrip(".")
