"""Tables that outlive the driver: ``<folder>/<table>/<version>``, with a file ``_SUCCESS`` in complete versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject
    from pyspark.sql import SparkSession


def kept_tables(session: SparkSession, folder: str) -> dict[str, str]:
    """The folder of the newest complete version of each table."""
    found: dict[str, str] = {}
    for table in _folders_in(session, folder):
        complete = [version for version in _folders_in(session, table) if _exists(session, f"{version}/_SUCCESS")]
        if complete:
            newest = max(complete, key=lambda version: _changed(session, f"{version}/_SUCCESS"))
            found[table.rstrip("/").rpartition("/")[2]] = newest
    return found


def _files(session: SparkSession, place: str) -> tuple[JavaObject, JavaObject]:
    context = session._sc
    path = context._jvm.org.apache.hadoop.fs.Path(place)
    return path.getFileSystem(context._jsc.hadoopConfiguration()), path


def _folders_in(session: SparkSession, place: str) -> list[str]:
    files, path = _files(session, place)
    if not files.exists(path):
        return []
    return [
        f"{place.rstrip('/')}/{entry.getPath().getName()}" for entry in files.listStatus(path) if entry.isDirectory()
    ]


def _exists(session: SparkSession, place: str) -> bool:
    files, path = _files(session, place)
    return bool(files.exists(path))


def _changed(session: SparkSession, place: str) -> int:
    files, path = _files(session, place)
    return int(files.getFileStatus(path).getModificationTime())
