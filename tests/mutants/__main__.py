"""``python -m tests.mutants [WORD ...]``: make each error of the table in a copy of the tree; tests must notice.

With words, only mutants whose file or text contains one of them. Ends with 1 if a mutant survives.
"""

from __future__ import annotations

import os
import queue
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutants.table import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("src", "tests", "core", "pyproject.toml", "conftest.py")
PATIENCE = 1800
"""Seconds after which a run that does not end counts as noticed: some errors make a loop endless."""


def copy_tree(folder: Path) -> Path:
    """Copy what tests need, with the compiled extensions; returns the folder."""
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(ROOT / part, folder / part)
    return folder


def run_tests(folder: Path, tests: tuple[str, ...], is_cpp: bool) -> int:
    """Run tests in a copy of the tree: 0 if all pass, 1 if one does not, something else if they cannot be run."""
    if is_cpp:
        return max(_run_program(folder, name) for name in tests)
    there = [name for name in tests if (folder / name).exists()]
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *there]
    around = {**os.environ, "PYTHONPATH": str(folder / "src"), "RELIFT_DATA": str(folder / "nowhere")}
    around["PYTHONDONTWRITEBYTECODE"] = "1"  # bytecode is told apart by size and second: that of a mutant might stay
    return _returncode(words, folder, around)


def _run_program(folder: Path, name: str) -> int:
    program = folder / name
    source = folder / "core" / "tests" / f"{name}.cpp"
    words = [
        "g++",
        "-std=c++17",
        "-O0",
        "-pthread",
        f"-I{folder / 'core' / 'include'}",
        str(source),
        "-o",
        str(program),
    ]
    if _returncode(words, folder, None):
        return 2
    return 1 if _returncode([str(program)], folder, None) else 0


def _returncode(words: list[str], folder: Path, around: dict[str, str] | None) -> int:
    try:
        done = subprocess.run(
            words, cwd=folder, env=around, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return 1
    return done.returncode


def verdict(folder: Path, mutant: Mutant) -> str:
    """Make the error in a copy of the tree, run its tests, and take it back."""
    path = folder / mutant.file
    text = path.read_text(encoding="utf-8")
    if text.count(mutant.old) != 1:
        return "the old text does not stand there once"
    path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        code = run_tests(folder, mutant.tests, mutant.is_cpp)
    finally:
        path.write_text(text, encoding="utf-8")
    return {0: "SURVIVED", 1: "killed"}.get(code, "does not run")


def main(words: list[str]) -> int:
    """Run the table, tell what each mutant came to, and count survivors."""
    chosen = [m for m in MUTANTS if not words or any(word in m.file or word in m.old for word in words)]
    n_jobs = int(os.environ.get("JOBS", "2"))
    fit: dict[tuple[str, ...], bool] = {}
    with tempfile.TemporaryDirectory(prefix="relift-mutants-") as name, ThreadPoolExecutor(n_jobs) as pool:
        copies: queue.Queue[Path] = queue.Queue()
        for job in range(n_jobs):
            copies.put(copy_tree(Path(name) / str(job)))

        def judge(mutant: Mutant) -> str:
            folder = copies.get()
            try:
                if mutant.tests not in fit:  # tests that fail by themselves can notice nothing
                    fit[mutant.tests] = run_tests(folder, mutant.tests, mutant.is_cpp) == 0
                found = verdict(folder, mutant) if fit[mutant.tests] else "its tests fail without it"
            finally:
                copies.put(folder)
            print(f"{found:9} {mutant.file}: {' '.join(mutant.old.split())[:70]}", flush=True)
            return found

        found = list(pool.map(judge, chosen))
    n_killed = found.count("killed")
    print(f"{len(found)} mutants, {n_killed} killed, {len(found) - n_killed} not")
    return 0 if n_killed == len(found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
