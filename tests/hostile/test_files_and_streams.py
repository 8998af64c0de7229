"""What a file cannot hold, and a stream that is not there."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

from relift import Program, read_program, write_program


def test_a_side_of_a_row_that_mps_cannot_hold_exactly_is_told(tmp_path: Path) -> None:
    program = Program(q=[1.0], A=[[1.0], [2.0]], l=[-2.7, 0.1], u=[3.3000000000000003, 0.3])
    notes = write_program(program, tmp_path / "ranges.mps")
    assert [note for note in notes if note.startswith("1 rows with two sides have an end")]
    assert read_program(tmp_path / "ranges.mps").l.tolist() == [-2.7, 0.1]
    assert write_program(program.replace(u=[3.3, 0.3]), tmp_path / "ranges.mps") == ()


def test_a_closed_stdout_is_no_fault(tmp_path: Path) -> None:
    write_program(Program(q=[1.0], lb=0), tmp_path / "tiny.mps")
    command = f"exec {shlex.join([sys.executable, '-m', 'relift', str(tmp_path / 'tiny.mps')])} >&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stderr) == (0, "")
