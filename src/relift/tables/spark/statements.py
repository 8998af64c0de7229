"""Everything that asks Spark: jobs carry a tag by which they are cancelled, and errors of Spark become relift's."""

from __future__ import annotations

import threading
import time
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, final

from relift.errors import DataError, EngineError, OptionError
from relift.tables.spark.errors import is_cancelled, translated
from relift.tables.spark.session import OpenSession

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


@final
class Statements:
    """The statements of one engine, one after the other.

    Parameters
    ----------
    opened
        The session; None once the engine is closed.
    """

    def __init__(self, opened: OpenSession) -> None:
        self.opened: OpenSession | None = opened
        self.tag = f"relift-{uuid.uuid4().hex}"
        self._is_running = self._is_interrupted = False

    @property
    def session(self) -> OpenSession:
        """The open session.

        Raises
        ------
        EngineError
            If the engine is closed.
        """
        if self.opened is None:
            raise EngineError("the engine is closed.", "Ground the model again, or keep what it returned open.")
        return self.opened

    @contextmanager
    def statement(self, label: str = "") -> Iterator[None]:
        """Run what is inside as one statement; one inside of another belongs to it.

        Parameters
        ----------
        label
            The user's table that is read, for messages.
        """
        opened = self.session
        if self._is_running:
            yield
            return
        self._is_running, self._is_interrupted = True, False
        try:
            opened.mark(self.tag)
            yield
        except (DataError, EngineError, OptionError):
            raise
        except KeyboardInterrupt:
            with suppress(Exception):  # what runs on must not; if it cannot be reached, it does not run
                opened.cancel(self.tag)
            raise
        except Exception as error:  # pyspark raises its own errors, py4j's, OSError and AttributeError
            is_stopped = opened.is_stopped()
            if self._is_interrupted and is_cancelled(error) and not is_stopped:
                raise KeyboardInterrupt from error
            raise translated(error, label, is_stopped) from error
        finally:
            self._is_running = False
            with suppress(Exception):  # if the session is gone, so is its tag
                opened.unmark(self.tag)

    def query(self, text: str) -> DataFrame:
        """The rows of a query, which nothing has calculated yet."""
        return self.session.session.sql(text)

    def arrow(self, frame: DataFrame) -> pa.Table:
        """Rows, here, as an Arrow table."""
        self.refuse_interrupted()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            return frame.toArrow()

    def interrupt(self) -> None:
        """Cancel the jobs of the running statement; may be called from another thread."""
        if self.opened is not None and self._is_running and not self._is_interrupted:
            self._is_interrupted = True
            threading.Thread(target=self._cancel_until_over, args=(self.opened,), daemon=True).start()

    def _cancel_until_over(self, opened: OpenSession) -> None:
        """Cancel jobs until the statement ends: one that is being planned has no jobs yet."""
        while self._is_running and self._is_interrupted:
            with suppress(Exception):  # the session may be gone; then there is nothing to stop
                opened.cancel(self.tag)
            time.sleep(0.1)

    def refuse_interrupted(self) -> None:
        """Notice an interrupt between two jobs of a statement, where nothing can be cancelled."""
        if self._is_interrupted:
            raise KeyboardInterrupt
