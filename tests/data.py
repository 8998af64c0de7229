"""Where the benchmark data is: the folder in RELIFT_DATA, or shared/data beside the repository; else tests skip."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def data_folder(name: str) -> Path:
    """The folder of that name in the benchmark data; skips the test, or the module, where there is none."""
    base = os.environ.get("RELIFT_DATA")
    folder = (Path(base) if base else ROOT.parent / "shared" / "data") / name
    if not folder.is_dir():
        pytest.skip(f"no benchmark data in {folder}; set RELIFT_DATA", allow_module_level=True)
    return folder
