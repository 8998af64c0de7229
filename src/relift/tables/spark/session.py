"""Sessions of Spark: one that relift starts on this machine, or one that the user has.

Either way the engine works in a session of its own inside the same application (``newSession``): it has its own
settings and temporary views, so nothing of the user's session changes, and shares the cluster and its tables.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, final

from relift.errors import EngineError, MissingPackageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.sql.session.timeZone": "UTC",  # timestamps are moments: as keys they are shown in one zone
    # What plans mean: the same as in the other engines.
    "spark.sql.ansi.enabled": "true",  # overflow is an error
    "spark.sql.caseSensitive": "true",
    "spark.sql.variable.substitute": "false",  # ${x} in a text is a text
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.crossJoin.enabled": "true",
    # How they travel.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
}
"""Settings of the engine's own session; those of the user's session stay as they are."""
SMALL_SETTINGS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.leafNodeDefaultParallelism": "1",
}
"""For queries over a few thousand rows, whose time is all planning and scheduling."""
ATTEMPTS = 4
"""How often a task is tried in a session on this machine, as on a cluster."""


@final
@dataclass
class OpenSession:
    """A session for one engine.

    Parameters
    ----------
    session
        The engine's own session.
    parent
        The session that it belongs to.
    is_own
        Whether relift started the application.
    usual
        What the settings for small queries are otherwise; None if they are not set.
    """

    session: SparkSession
    parent: SparkSession
    is_own: bool
    usual: dict[str, str | None]
    _is_small: bool = False

    @property
    def is_remote(self) -> bool:
        """Whether it is reached by Spark Connect, and so has no JVM here."""
        return not hasattr(self.session, "_jsparkSession")

    def tune(self, is_small: bool) -> None:
        """Settings for a small query, or the usual ones."""
        if is_small != self._is_small:
            for key, usual in self.usual.items():
                if is_small or usual is not None:
                    self.session.conf.set(key, SMALL_SETTINGS[key] if is_small else usual)
                else:
                    self.session.conf.unset(key)
            self._is_small = is_small

    def mark(self, tag: str) -> None:
        """Jobs that this thread starts from now on carry a tag."""
        (self.session.addTag if self.is_remote else self.session._sc.addJobTag)(tag)

    def unmark(self, tag: str) -> None:
        """No tag from now on."""
        (self.session.removeTag if self.is_remote else self.session._sc.removeJobTag)(tag)

    def cancel(self, tag: str) -> None:
        """End the jobs with a tag; from any thread (tags of a session are known to its threads only)."""
        (self.session.interruptTag if self.is_remote else self.session._sc.cancelJobsWithTag)(tag)

    @contextmanager
    def without_trace(self) -> Iterator[None]:
        """For calls that make a session the active one of the thread: the one before is active again afterwards."""
        if self.is_remote:
            yield
            return
        from pyspark.sql import SparkSession

        java = self.session._jvm.org.apache.spark.sql.classic.SparkSession
        before, java_before = SparkSession._activeSession, java.getActiveSession()
        try:
            yield
        finally:
            SparkSession._activeSession = before
            if java_before.isDefined():
                java.setActiveSession(java_before.get())
            else:
                java.clearActiveSession()

    def is_stopped(self) -> bool:
        """Whether the application is gone."""
        if self.is_remote:
            return bool(self.session.is_stopped)
        context = self.session._sc
        if context._jsc is None:
            return True
        try:
            return bool(context._jsc.sc().isStopped())
        except Exception:  # noqa: BLE001 - whatever the gateway raises, nobody is there
            return True

    def close(self) -> None:
        """Give the session back; the application ends if relift started it and no other engine uses it."""
        if self.is_own:
            _release()


@dataclass
class _Own:
    """The application that relift started in this process, with the number of engines that use it."""

    session: SparkSession | None = None
    users: int = 0
    log: IO[bytes] | None = None
    folder: str | None = None
    """Where Spark may make a folder for databases: by default it makes one wherever the process stands."""


_own = _Own()
_lock = threading.RLock()


def open_session(given: SparkSession | None, cores: int, memory: str) -> OpenSession:
    """A session for an engine: inside the given one, the active one, or one that is started.

    Parameters
    ----------
    given
        A ``SparkSession``, or None.
    cores, memory
        Of a session that is started: its threads, and the memory of its JVM.

    Raises
    ------
    MissingPackageError
        If there is no PySpark or no Java.
    EngineError
        If Spark does not start, or the session has been stopped.
    """
    for package in ("pyspark", "pyarrow"):
        if importlib.util.find_spec(package) is None:
            raise MissingPackageError(
                f"the Spark engine needs {package}, which is not installed.", "pip install 'relift[spark]'"
            )
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # PySpark's, about versions of pandas that are not used here
        parent, is_own = (given, False) if given is not None else _active_or_own(cores, memory)
        try:
            session = _inside(parent)
            known = dict(session.conf.getAll)
            return OpenSession(session, parent, is_own, {key: known.get(key) for key in SMALL_SETTINGS})
        except Exception as error:  # pyspark raises its own, py4j's and plain AttributeErrors here
            if is_own:
                _release()
            from relift.tables.spark.errors import first_line

            raise EngineError(
                f"the Spark session cannot be used: {first_line(error)}", "Has it been stopped? Give one that runs."
            ) from error


def _inside(parent: SparkSession) -> SparkSession:
    """A session of our own in the application of another, with the settings of that one, then ours."""
    session = parent.newSession()
    known = dict(session.conf.getAll)
    for key, value in dict(parent.conf.getAll).items():
        if key.startswith("spark.sql.") and known.get(key) != value and session.conf.isModifiable(key):
            session.conf.set(key, value)
    for key, value in SETTINGS.items():
        session.conf.set(key, value)
    return session


def _active_or_own(cores: int, memory: str) -> tuple[SparkSession, bool]:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if _own.session is not None and _own.session._sc._jsc is None:  # somebody stopped it
        _own.session, _own.users = None, 0
        _leave_nothing()
    if _own.session is None:
        active = SparkSession.getActiveSession()
        if active is None and SparkContext._active_spark_context is not None:
            active = SparkSession(SparkContext._active_spark_context)
        if active is not None:
            return active, False
        _own.session = _start(cores, memory)
    _own.users += 1
    return _own.session, True


def _start(cores: int, memory: str) -> SparkSession:
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    _refuse_without_java()
    _own.folder = tempfile.mkdtemp(prefix="relift-spark-")
    settings = {
        "spark.master": f"local[{cores},{ATTEMPTS}]",
        "spark.app.name": "relift",
        "spark.driver.memory": memory,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.maxResultSize": "0",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": _own.folder,
        "spark.sql.shuffle.partitions": str(cores),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    _own.log = tempfile.TemporaryFile()  # noqa: SIM115 - the JVM writes into it as long as it lives
    try:
        if SparkContext._gateway is None:
            # Its messages go into a file: what matters among them is said by errors.
            gateway = launch_gateway(conf, {"stdout": _own.log, "stderr": _own.log})
            context = SparkContext(conf=conf, gateway=gateway)
        else:
            context = SparkContext(conf=conf)
    except (PySparkException, OSError, ValueError) as error:
        said = _last_words(_own.log)
        _leave_nothing()
        raise EngineError(f"Spark does not start: {said or error}", "Spark needs Java 17 or newer.") from error
    context.setLogLevel("ERROR")
    return SparkSession(context)


def _refuse_without_java() -> None:
    home = os.environ.get("JAVA_HOME")
    found = Path(home, "bin", "java").is_file() if home else shutil.which("java") is not None
    if not found:
        where = f"in JAVA_HOME={home!r}" if home else "on the PATH"
        raise MissingPackageError(
            f"Spark needs Java, and there is none {where}.",
            "Install a Java runtime of version 17 or newer (for example openjdk-17-jre-headless), or set JAVA_HOME.",
        )


def _last_words(log: IO[bytes]) -> str:
    log.seek(0)
    lines = [line.strip() for line in log.read().decode(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower() or "exception" in line.lower()]
    return (telling or lines or [""])[-1]


def _release() -> None:
    with _lock:
        _own.users -= 1
        if _own.users <= 0 and _own.session is not None:
            session, _own.session, _own.users = _own.session, None, 0
            with suppress(Exception):  # it may be gone already
                session.stop()
            _leave_nothing()


def _leave_nothing() -> None:
    """Close the log and remove the folder of an application that has ended, or that did not start."""
    if _own.log is not None:
        _own.log.close()
    if _own.folder is not None:
        shutil.rmtree(_own.folder, ignore_errors=True)  # of Spark's making, and of no use to anyone now
    _own.log = _own.folder = None
