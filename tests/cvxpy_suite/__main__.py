"""``python -m tests.cvxpy_suite [names]``: CVXPY's own tests, as they are and routed through relift.

Without names, all of them (``cvxpy.tests``). The exit code is 1 if a test has another outcome,
unless ``known.py`` says why.
"""

from __future__ import annotations

import sys

from tests.cvxpy_suite.compare import compare


def main(arguments: list[str]) -> int:
    """Compare, print, and return the exit code."""
    targets = [name for name in arguments if not name.startswith("-")]
    options = [name for name in arguments if name.startswith("-")]
    found = compare(targets or ["cvxpy.tests"], options)
    print(found.text())
    return 1 if found.unexpected else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
