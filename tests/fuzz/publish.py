"""What docs/reliability.json keeps of a run: counts, and how often each failure was met; examples stay with the run."""

from __future__ import annotations

import json
from pathlib import Path

from tests.fuzz.known import KNOWN, is_known
from tests.fuzz.totals import Totals

from relift.atomic import write_atomically


def publish(totals: Totals, path: Path) -> None:
    """Write the counts for the page; ``python docs/generate.py`` puts them into docs/reliability.md."""
    kinds = {
        kind: {
            "cases": mine["cases"],
            "counts": mine["counts"],
            "failures": {
                signature: {
                    "count": failed["count"],
                    "case": failed["examples"][0]["index"],
                    "is_known": is_known(signature),
                }
                for signature, failed in mine["failures"].items()
            },
        }
        for kind, mine in sorted(totals.kinds.items())
    }
    document = {"seed": totals.seed, "kinds": kinds, "known": sorted(KNOWN.values())}
    with write_atomically(path) as file:
        file.write((json.dumps(document, indent=1, sort_keys=True) + "\n").encode())
