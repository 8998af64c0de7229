"""Install each wheel in a clean environment without a compiler, and run the README's examples in it.

``python -m release.try_wheels [--python PYTHON ...] [WHEEL ...]``; wheels of ``dist`` that fit this machine, if none is
given. Run it after ``python -m release.wheels``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODEL = """\
Minimize
 cost: x1 + x2 + x3
Subject To
 demand: x1 + x2 + x3 >= 6
Bounds
 0 <= x1 <= 4
 0 <= x2 <= 4
 0 <= x3 <= 4
End
"""


def try_wheel(wheel: Path, python: str) -> str:
    """Install and run; a sentence on what was seen.

    Parameters
    ----------
    wheel
        The wheel.
    python
        The interpreter.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _run([python, "-m", "venv", str(folder / "env")], folder)
        programs = folder / "env" / "bin"
        _run([str(programs / "pip"), "install", "--quiet", "--only-binary=:all:", str(wheel)], folder)
        here = {"PATH": str(programs), "HOME": name}  # no compiler, no repository
        info = json.loads(_run([str(programs / "relift"), "info", "--json"], folder, here))
        is_pure = wheel.name.endswith("-none-any.whl")
        if info["compiled_core"] is is_pure:
            raise SystemExit(f"{wheel.name}: the compiled core is {'there' if is_pure else 'missing'}.")
        (folder / "README.md").write_text((ROOT / "README.md").read_text(encoding="utf-8"), encoding="utf-8")
        flags = ["-o", "NORMALIZE_WHITESPACE", "-o", "ELLIPSIS"]
        _run([str(programs / "python"), "-m", "doctest", *flags, "README.md"], folder, here)
        (folder / "model.lp").write_text(MODEL, encoding="utf-8")
        answer = subprocess.run(
            [str(programs / "relift"), "solve", "model.lp", "--json"],
            cwd=folder,
            env=here,
            capture_output=True,
            text=True,
            check=True,
        )
        found = json.loads(answer.stdout)
        if found["status"] != "optimal" or abs(found["objective"] - 6) > 1e-6:
            raise SystemExit(f"{wheel.name}: {answer.stdout}")
        notes = answer.stderr.count("without its compiled core")
        if notes != is_pure:
            raise SystemExit(f"{wheel.name}: the slow reference was told of {notes} times.")
    return f"{wheel.name}, Python {info['python']}: installed, README and command line run"


def main(given: Sequence[str]) -> None:
    """Try all.

    Parameters
    ----------
    given
        Arguments of the command.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("wheels", nargs="*", type=Path)
    parser.add_argument("--python", nargs="*", default=[sys.executable], help="interpreters to install for")
    options = parser.parse_args(given)
    wheels = options.wheels or sorted((ROOT / "dist").glob("relift-*manylinux*x86_64.whl"))
    wheels += [] if options.wheels else sorted((ROOT / "dist").glob("relift-*-none-any.whl"))
    if not wheels:
        parser.error("there is no wheel; run make wheels first")
    for python in options.python:
        for wheel in wheels:
            print(try_wheel(wheel.resolve(), python))


def _run(command: Sequence[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr)[-4000:]}")
    return done.stdout


if __name__ == "__main__":
    main(sys.argv[1:])
