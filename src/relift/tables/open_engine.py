"""Which engine grounds a model: by a word, by the address of a server, or by something the user has open already.

====================================  ================================================================================
given                                 engine
====================================  ================================================================================
None, ``"memory"``                    NumPy columns in this process; what is too large goes to an embedded DuckDB
``"duckdb"``                          an embedded DuckDB of its own
``"postgresql://…"``                  a session of its own on that PostgreSQL server; what the address leaves open is
                                      found as by every client of it (``PGHOST``, ``PGPASSWORD``, service and password
                                      files)
a psycopg or ADBC connection          a session of its own on the same server; the connection stays the user's
``"spark"``                           Apache Spark, with the session that is active or one on this machine
a ``SparkSession``                    Apache Spark, with that session
an `Engine`                           itself
====================================  ================================================================================
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol, TypeAlias

from relift.errors import OptionError
from relift.settings import ProgressCallback
from relift.tables.engine import Engine
from relift.tables.postgres.address import is_address

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Connection(Protocol):
    """A connection of psycopg or ADBC."""

    def cursor(self) -> object:
        """What runs statements."""


EngineLike: TypeAlias = "Engine | str | Connection | SparkSession | None"
"""Anything of the list in the header of this module."""

CHOICES = "memory, duckdb, postgresql://…, spark, an Engine, a psycopg or ADBC connection, or a SparkSession"


def open_engine(engine: EngineLike = None, progress: ProgressCallback | None = None) -> Engine:
    """The engine that a word, an address or an object stands for.

    Parameters
    ----------
    engine
        What was given.
    progress
        Progress callback.

    Raises
    ------
    OptionError
        If it stands for none.
    EngineError
        If the server cannot be reached.
    MissingPackageError
        If a package is needed that is not installed.

    Examples
    --------
    >>> with open_engine("duckdb") as engine:
    ...     engine.name
    'duckdb'
    >>> open_engine("duckbd")
    Traceback (most recent call last):
    relift.errors.OptionError: engine='duckbd' is not valid. Expected one of: memory, duckdb, postgresql://…, spark, ...
    """
    if isinstance(engine, Engine):
        if progress is not None:
            engine.progress = progress
        return engine
    if engine is None or engine == "memory":
        from relift.tables.memory.engine import MemoryEngine

        return MemoryEngine(progress=progress)
    if engine == "duckdb":
        from relift.tables.duckdb.engine import DuckDBEngine

        return DuckDBEngine(progress=progress)
    if is_postgres(engine):
        from relift.tables.postgres.engine import PostgresEngine

        return PostgresEngine(engine, progress=progress)
    if engine == "spark" or type(engine).__module__.partition(".")[0] == "pyspark":
        from relift.tables.spark.engine import SparkEngine

        return SparkEngine(None if engine == "spark" else engine, progress=progress)
    shown = f"a {type(engine).__name__}"
    if isinstance(engine, str):  # only words are shown: anything longer may be a misspelt address with a password
        shown = repr(engine) if re.fullmatch(r"[\w.\-]{0,40}", engine) else "a text that is not an address"
    raise OptionError(f"engine={shown} is not valid.", f"Expected one of: {CHOICES}.")


def is_postgres(engine: EngineLike) -> bool:
    """Whether something leads to a PostgreSQL server: an address, or a connection of psycopg or ADBC."""
    home = type(engine).__module__.partition(".")[0]
    return is_address(engine) or home.startswith(("psycopg", "adbc_driver"))
