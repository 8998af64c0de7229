"""Instructions of the kernel, counted by valgrind: the same on every run, whatever else the machine does."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.refinement.families import Instance
from relift.symmetry import finite_field as field

CORE = Path(__file__).resolve().parents[2] / "core"


def can_count() -> bool:
    return shutil.which("valgrind") is not None and shutil.which("g++") is not None


def write_program(path: Path, instance: Instance, scale_rows: bool) -> None:
    """The file that core/tests/count_instructions.cpp reads."""
    m, n = instance.A.shape
    header = [n, m, 0 if instance.P is None else instance.P.nnz, instance.A.nnz, 0, scale_rows]
    with path.open("wb") as file:
        np.array(header, dtype=np.uint64).tofile(file)
        for matrix in (instance.P, instance.A):
            if matrix is not None:
                matrix.indptr.astype(np.int32).tofile(file)
                matrix.indices.astype(np.int32).tofile(file)
                matrix.data.astype(np.float64).tofile(file)
        field.images(instance.l).tofile(file)
        field.images(instance.u).tofile(file)
        instance.l.tofile(file)
        instance.u.tofile(file)


def instructions_per_entry(instance: Instance, scale_rows: bool = False) -> float:
    """Build the driver with the flags of the extension and run it under callgrind."""
    with tempfile.TemporaryDirectory() as folder:
        driver, program = Path(folder) / "driver", Path(folder) / "program"
        source = CORE / "tests" / "count_instructions.cpp"
        subprocess.run(
            ["g++", "-std=c++17", "-O3", "-pthread", f"-I{CORE / 'include'}", str(source), "-o", str(driver)],
            check=True,
        )
        write_program(program, instance, scale_rows)
        counted = subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                "--toggle-collect=measured",
                f"--callgrind-out-file={folder}/out",
                str(driver),
                str(program),
            ],
            capture_output=True,
            text=True,
            check=True,
        )
    found = re.search(r"Collected : (\d+)", counted.stderr)
    if found is None:
        raise RuntimeError(counted.stderr)
    return int(found[1]) / instance.n_entries
