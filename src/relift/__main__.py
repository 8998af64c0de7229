"""``python -m relift`` and the command ``relift``: Ctrl-C is quiet even during the imports."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line of this process."""
    try:
        from relift.cli import main as run

        run()
    except KeyboardInterrupt:
        print("relift: interrupted.", file=sys.stderr, flush=True)
        os._exit(130)


if __name__ == "__main__":
    main()
