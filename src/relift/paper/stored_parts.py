"""Finished parts on disk: written all at once, and used again only for the very same work.

The file of a part holds its rows with a checksum, and a fingerprint of all that decides them: experiment, settings,
seed, part, and the versions of relift and of the packages that compute. The fingerprint is also in the file's name, so
that a quick run, or one with another seed, does not throw away the parts of a full one.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import final

from relift.atomic import write_atomically
from relift.paper.framework import Experiment, Part, Row, Setup
from relift.paper.versions import deciding_versions

FORMAT = "relift-part"


@final
@dataclass(frozen=True)
class StoredPart:
    """The rows of a finished part.

    Parameters
    ----------
    rows
        What it gave.
    seconds
        Wall-clock time it took.
    """

    rows: list[Row]
    seconds: float


@final
class DamagedPartError(Exception):
    """A part file that cannot be what it claims to be; the message says why."""


def canonical(document: object) -> bytes:
    """Write JSON in one way only, for checksums; refuses NaN and infinities."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def fingerprint(experiment: Experiment, setup: Setup, part: Part) -> str:
    """Name all that decides the rows of a part, in 64 hexadecimal digits."""
    document = {
        "experiment": [experiment.name, experiment.revision],
        "settings": dict(setup.values),
        "seed": setup.seed,
        "part": [part.key, dict(part.values)],
        "versions": deciding_versions(),
    }
    return hashlib.sha256(canonical(document)).hexdigest()


def part_path(folder: Path, part: Part, mark: str) -> Path:
    """Return where a part of that fingerprint is kept."""
    return folder / f"{part.key}.{mark[:12]}.json"


def read_part(path: Path, mark: str) -> StoredPart | None:
    """Read a finished part; None if there is none for this work.

    Parameters
    ----------
    path
        Its file.
    mark
        The fingerprint it must have.

    Raises
    ------
    DamagedPartError
        If the file is there and damaged.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        document = json.loads(content)
    except ValueError as error:
        raise DamagedPartError("it is not JSON") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DamagedPartError("it is not part of an experiment")
    if document.get("fingerprint") != mark:
        return None
    rows, seconds = document.get("rows"), document.get("seconds")
    if not isinstance(rows, list) or not isinstance(seconds, int | float):
        raise DamagedPartError("rows or seconds are missing")
    if hashlib.sha256(canonical(rows)).hexdigest() != document.get("checksum"):
        raise DamagedPartError("its rows do not fit their checksum")
    return StoredPart(rows, float(seconds))


def write_part(path: Path, mark: str, part: Part, stored: StoredPart) -> None:
    """Write a finished part, all at once.

    Parameters
    ----------
    path
        Its file.
    mark
        Its fingerprint.
    part, stored
        The part and what it gave.
    """
    document = {
        "format": FORMAT,
        "version": 1,
        "fingerprint": mark,
        "checksum": hashlib.sha256(canonical(stored.rows)).hexdigest(),
        "key": part.key,
        "part": dict(part.values),
        "seconds": stored.seconds,
        "rows": stored.rows,
    }
    with write_atomically(path) as file:
        file.write(json.dumps(document, indent=1, allow_nan=False).encode())
