"""Environments other than the developer's: made anew, with what they are meant to lack, and the tests run in them.

``python -m tests.environments KIND [--python PYTHON] [PYTEST WORDS ...]`` with one of

==============  ====================================================================================
minimal         the required packages alone, newest versions: everything optional must skip, not fail
lowest          the required packages alone, each in the lowest version that pyproject.toml allows
lowest-extras   the optional packages in their lowest versions, the required ones as these allow
lowest-linopy   linopy and PyPSA in their lowest versions, which need newer tables than relift does
full            everything, newest versions: for another Python, such as ``--python python3.13``
==============  ====================================================================================

They are kept in ``build/environments`` and used again while pyproject.toml stays the same.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "environments"
TOOLS = ("pytest>=8", "pytest-xdist>=3.6", "hypothesis>=6.100")
KINDS = ("minimal", "lowest", "lowest-extras", "lowest-linopy", "full")
UNTRIED = ("all", "dev", "ortools", "site")
"""Extras that only collect others, are for developers, or cannot share a process with highspy."""


def lowest(requirement: str) -> str:
    """The lowest version that a requirement allows, as a requirement.

    Examples
    --------
    >>> lowest("duckdb>=1.5,<3"), lowest("psycopg[binary]>=3.2")
    ('duckdb==1.5', 'psycopg[binary]==3.2')
    """
    found = re.fullmatch(r"([A-Za-z0-9_.\-]+(?:\[[^\]]*\])?)>=([0-9.]+)(?:,<[0-9.]+)?", requirement)
    if found is None:
        raise ValueError(f"{requirement!r} has no floor of the form NAME>=VERSION")
    return f"{found[1]}=={found[2]}"


def requirements(kind: str) -> list[str]:
    """What is installed besides relift.

    Parameters
    ----------
    kind
        Of the environment.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required: list[str] = project["dependencies"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    optional = list(dict.fromkeys(each for name, parts in extras.items() if name not in UNTRIED for each in parts))
    drivers = [each for each in extras["dev"] if each.startswith("psycopg")]
    apart = [*extras["linopy"], *extras["pypsa"]]
    return {
        "minimal": required,
        "lowest": [lowest(each) for each in required],
        "lowest-extras": [*required, *(lowest(each) for each in [*optional, *drivers] if each not in apart)],
        "lowest-linopy": [*required, *(lowest(each) for each in dict.fromkeys(apart))],
        "full": [*required, *optional, *drivers],
    }[kind]


def make(kind: str, python: str) -> Path:
    """Make an environment, unless it is there already; returns its interpreter.

    Parameters
    ----------
    kind
        Of the environment.
    python
        The interpreter to make it with.
    """
    wanted = requirements(kind)
    version = subprocess.run([python, "--version"], capture_output=True, text=True, check=True).stdout
    mark = hashlib.sha256("\n".join([version, *wanted, *TOOLS]).encode()).hexdigest()
    place = FOLDER / f"{kind}-{version.split()[1]}"
    if (place / "mark").exists() and (place / "mark").read_text() == mark:
        return place / "bin" / "python"
    shutil.rmtree(place, ignore_errors=True)
    subprocess.run([python, "-m", "venv", str(place)], check=True)
    interpreter = place / "bin" / "python"
    subprocess.run([interpreter, "-m", "pip", "install", "--quiet", *wanted, *TOOLS], check=True)
    subprocess.run([interpreter, "-m", "pip", "install", "--quiet", "--no-deps", "--editable", str(ROOT)], check=True)
    (place / "mark").write_text(mark)
    return interpreter


def main() -> int:
    """Make one environment, and run tests in it."""
    parser = argparse.ArgumentParser(prog="python -m tests.environments", description=__doc__.partition("\n")[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--python", default=sys.executable)
    options, words = parser.parse_known_args()
    interpreter = make(options.kind, options.python)
    return subprocess.run([interpreter, "-m", "pytest", *words], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
