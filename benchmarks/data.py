"""Real programs from a folder on this machine, if there is one."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path

from relift.formats.program_files import read_program
from relift.program.program import Program


def data_folder() -> Path | None:
    """The folder named by RELIFT_DATA, or ../shared/data beside the checkout; None if neither exists."""
    folder = Path(os.environ.get("RELIFT_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))
    return folder if folder.is_dir() else None


def real_programs(*collections: str) -> Iterator[tuple[str, Program]]:
    """Name and program of every file that the indexes of these collections list."""
    folder = data_folder()
    if folder is None:
        return
    for collection in collections:
        with (folder / collection / "index.csv").open(encoding="utf-8") as index:
            for line in csv.DictReader(index):
                yield line["name"], read_program(folder / collection / f"{line['name']}.npz")
