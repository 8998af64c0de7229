"""``python -m tests.fuzz --minutes 5``: random programs, files, models and solutions against independent routes."""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long, in minutes of wall-clock time")
    parser.add_argument(
        "--cases",
        type=int,
        help="stop at so many programs and files, a tenth of answers, a hundredth of batches of models",
    )
    parser.add_argument("--kind", action="append", help="programs, files, models or solutions; repeatable")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other cases")
    parser.add_argument("--jobs", type=int, default=1, help="processes at once")
    parser.add_argument("--totals", type=Path, default=ROOT / "results" / "fuzz.json", help="where counts are kept")
    parser.add_argument("--only", type=int, help="run this one case here, and print what it comes to")
    parser.add_argument("--fresh", action="store_true", help="forget earlier counts")
    parser.add_argument("--publish", action="store_true", help="also write the counts to docs/reliability.json")
    words = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # before NumPy is imported
    from tests.fuzz.runner import KINDS, Runner, run_case
    from tests.fuzz.totals import Totals

    kinds = words.kind or list(KINDS)
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        parser.error(f"--kind {unknown[0]}: expected one of {', '.join(KINDS)}")
    if words.only is not None:
        totals = Totals(None, words.seed)
        with tempfile.TemporaryDirectory(prefix="relift-fuzz-") as folder:
            totals.add(kinds[0], words.only, run_case(words.seed, kinds[0], words.only, Path(folder)))
    else:
        if words.fresh:
            words.totals.unlink(missing_ok=True)
        totals = Totals(words.totals, words.seed)
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was finished is kept
        deadline = time.monotonic() + 60 * words.minutes
        Runner(totals, kinds, words.jobs, deadline, words.cases).run()
        if words.publish:
            from tests.fuzz.publish import publish

            publish(totals, ROOT / "docs" / "reliability.json")
    print(totals.report())
    return 1 if totals.n_failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
