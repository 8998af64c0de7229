"""Errors of Spark, PySpark and py4j in our words; a stack trace of the JVM helps nobody who wrote a model."""

from __future__ import annotations

import re

from relift.errors import DataError, EngineError, ReliftError

_DATA = (
    "OVERFLOW",
    "OUT_OF_RANGE",
    "CAST_INVALID_INPUT",
    "DIVIDE_BY_ZERO",
    "INVALID_ARRAY_INDEX",
    "CANNOT_PARSE",
    "MALFORMED",
)
_STOPPED = (
    "stopped SparkContext",
    "SparkContext was shut down",
    "SparkContext has been shutdown",
    "SparkContext was stopped",
    "Connection refused",
    "Answer from Java side is empty",
    "Error while sending or receiving",
    "SESSION_CLOSED",
    "SESSION_NOT_FOUND",
)
_CANCELLED = ("cancelled", "OPERATION_CANCELED", "OPERATION_CANCELLED", "InterruptedException")


def is_cancelled(error: BaseException) -> bool:
    """Whether a query ended because it was told to."""
    text = full_text(error)
    return any(word in text for word in _CANCELLED) and not any(word in text for word in _STOPPED)


def translated(error: BaseException, label: str, is_stopped: bool) -> ReliftError:
    """The error that a user should see.

    Parameters
    ----------
    error
        What was raised.
    label
        The table that was read, or empty.
    is_stopped
        Whether the session is gone.
    """
    text = full_text(error)
    where = f"{label}: " if label else ""
    if is_stopped or any(word in text for word in _STOPPED):
        return EngineError(
            f"{where}the Spark session was stopped, or its JVM ended, while relift was using it.",
            "Start a session and ground the model again.",
        )
    condition = getattr(error, "getCondition", lambda: None)() or ""
    named = _named_condition(text)
    if any(word in condition or word in named for word in _DATA):
        return DataError(f"{where}Spark: {_message(text, named or condition)}")
    if "Checkpoint block" in text or "checkpoint block" in text:
        return EngineError(f"{where}Spark lost stored rows together with an executor.", "Ground the model again.")
    if "OutOfMemoryError" in text or "CANNOT_ACQUIRE_MEMORY" in text:
        return EngineError(
            f"{where}Spark ran out of memory.", "Give it more (driver_memory=, executor memory), or narrow the queries."
        )
    if "No space left on device" in text:
        return EngineError(f"{where}Spark ran out of disk space.", "Free some, or move spark.local.dir.")
    aborted = re.search(r"failed (\d+) times", text)
    if aborted:
        times = int(aborted[1])
        tries = f"after {times} attempts" if times > 1 else "after 1 attempt"
        return EngineError(f"{where}Spark gave up a task {tries}: {_cause(text)}")
    if "Python worker" in text and (said := _python_error(text)):
        return DataError(f"{where}Python code that Spark ran raised {said}")
    if label:
        return DataError(f"{where}it cannot be read: {first_line(error)}")
    return EngineError(f"Spark: {first_line(error)}")


def full_text(error: BaseException) -> str:
    """What an error says, with what the JVM said behind it."""
    parts = [str(error)]
    java = getattr(error, "java_exception", None)
    if java is not None:
        try:
            parts.append(str(java.toString()))
        except Exception:  # noqa: BLE001 - the JVM is gone; its words went with it
            parts.append("Connection refused")
    if error.__cause__ is not None:
        parts.append(str(error.__cause__))
    return "\n".join(parts)


def first_line(error: BaseException) -> str:
    """The first line that says something, without the stack behind it."""
    lines = [line.strip() for line in full_text(error).splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith(("at ", "An error occurred while calling", ":"))]
    line = (told or lines or [type(error).__name__])[0]
    return re.sub(r"^(java|scala|org|py4j)\.[\w.$]+(Exception|Error): ", "", line)


def _named_condition(text: str) -> str:
    found = re.search(r"\[([A-Z][A-Z0-9_]+)(?:\.[A-Z0-9_]+)?\]", text)
    return found[1] if found else ""


def _message(text: str, condition: str) -> str:
    """The sentence behind a named condition, without the advice to switch the check off."""
    found = re.search(rf"\[{condition}[.A-Z0-9_]*\]\s*(.*)", text)
    sentence = found[1] if found else text.splitlines()[0]
    return (
        re.split(r" Use `try| Use 'try|\. If necessary|\. To return NULL|SQLSTATE", sentence)[0].strip().rstrip(".")
        + "."
    )


def _cause(text: str) -> str:
    """Why the last attempt failed."""
    lost = re.search(r"Lost task [^:]*: (.*)", text)
    said = lost[1] if lost else ""
    said = re.sub(r"^\(?TID \d+\)?[^:]*: ", "", said)
    if "Traceback (most recent call last)" in text and (python := _python_error(text)):
        return python
    return re.sub(r"^(java|scala|org|py4j)\.[\w.$]+(Exception|Error): ", "", said) or first_line(Exception(text))


def _python_error(text: str) -> str:
    """The last line of a Python traceback in a text, or nothing."""
    lines = [line.strip() for line in text.splitlines()]
    told = [line for line in lines if re.match(r"^[A-Za-z_.]*(Error|Exception|Interrupt|Exit)\b.*", line)]
    return told[-1] if told else ""
