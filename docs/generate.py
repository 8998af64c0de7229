"""Fill the generated tables of README.md and the docs: ``python docs/generate.py``, or ``--check`` that they are fresh.

Tables come from the registry of backends and from docs/benchmarks.json, which ``python -m benchmarks --out docs``
writes; those of docs/paper.md from docs/paper, which ``python docs/paper_page.py results`` renews; those of
docs/reliability.md from docs/reliability.json, which ``python -m tests.fuzz --publish`` renews.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from pathlib import Path
from statistics import median
from typing import Any

from grounding_page import GROUNDING_BLOCKS
from paper_page import PAPER_BLOCKS
from reference_page import REFERENCE_BLOCKS
from reliability_page import RELIABILITY_BLOCKS
from svm_page import SVM_BLOCKS

from relift.language.functions import DATA_FUNCTIONS, FUNCTIONS
from relift.solvers.registry import backend_lines

ROOT = Path(__file__).parent.parent


def backends() -> str:
    """The table of backends."""
    lines = ["| backend | what it is | install |", "|---|---|---|"]
    placeholder = {"qpsolvers:": "<name>", "cvxpy:": "<NAME>"}
    for line in backend_lines():
        install = f'`pip install "relift[{line.extra}]"`' if line.extra else "always there"
        lines.append(f"| `{line.name}{placeholder.get(line.name, '')}` | {line.description} | {install} |")
    return "\n".join(lines)


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}×" if ratio >= 100 else f"{ratio:.3g}×"


def _faster(ratio: float) -> str:
    return f"{_times(ratio)} faster" if ratio >= 1 else f"{_times(1 / ratio)} slower"


def _measurements() -> list[dict[str, Any]]:
    found = json.loads((ROOT / "docs" / "benchmarks.json").read_text(encoding="utf-8"))
    return list(found["measurements"])


DEFAULT_SOLVER = {"LP": "highs", "QP": "clarabel", "SOCP": "clarabel"}
"""What relift chooses for most programs; where its own choice was measured, that counts."""


def against_the_quickest() -> list[dict[str, Any]]:
    """For each program: relift with its own choice of solver, against the quickest of all direct ways.

    ``rival`` names that way; ``speed_up`` is None where no direct way, or not relift, has a certified answer.
    """
    by_program: dict[str, list[dict[str, Any]]] = {}
    for m in _measurements():
        by_program.setdefault(m["program"], []).append(m)
    found = []
    for measured in by_program.values():
        chosen = [m for m in measured if m["backend"] == "auto"]
        own = (chosen or [m for m in measured if m["backend"] == DEFAULT_SOLVER[m["kind"]]])[0]
        ways = {
            f"{m['backend']} {way}".strip(): seconds
            for m in measured
            if m["backend"] != "auto"
            for way, seconds in (m["ways"] or {"": m["ground_seconds"]}).items()
            if seconds is not None
        }
        rival = min(ways, key=lambda way: ways[way], default=None)
        is_answered = rival is not None and own["lifted_seconds"] is not None
        ratio = ways[rival] / own["lifted_seconds"] if is_answered else None
        seconds = None if rival is None else ways[rival]
        found.append(own | {"rival": rival, "ground_seconds": seconds, "speed_up": ratio})
    return found


def benchmarks() -> str:
    """What docs/benchmarks.json comes to, for each kind of program, with and without symmetry."""
    lines = [
        "| programs | measured | worst | median | best |",
        "|---|---|---|---|---|",
    ]
    for kind in ("LP", "QP", "SOCP"):
        for is_symmetric, words in ((True, "with symmetry"), (False, "without")):
            chosen = [m for m in against_the_quickest() if (m["kind"], m["is_symmetric"]) == (kind, is_symmetric)]
            ratios = sorted(m["speed_up"] for m in chosen if m["speed_up"] is not None)
            cells = " | ".join(map(_faster, (ratios[0], median(ratios), ratios[-1])))
            missing = len(chosen) - len(ratios)
            count = f"{len(ratios)}" + (f" (and {missing} without certified answers)" if missing else "")
            lines.append(f"| {kind} {words} | {count} | {cells} |")
    return "\n".join(lines)


def layers() -> str:
    """The import contract of pyproject.toml, each layer above those it may import."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        contract = tomllib.load(file)["tool"]["importlinter"]["contracts"][0]
    return "\n".join(["```", *(layer.replace("relift.", "") for layer in contract["layers"]), "```"])


FIRST = ("charging fleet 1000", "repeated scenarios 1000")
"""What the first screen of the README shows, beside the program on which relift loses most."""


def first_figures() -> str:
    """Two programs with symmetry, and the worst of all, each against the quickest direct way."""
    measured = [m for m in against_the_quickest() if m["speed_up"] is not None]
    chosen = [next(m for m in measured if m["program"] == name) for name in FIRST]
    chosen.append(min(measured, key=lambda m: m["speed_up"]))
    lines = ["| | quickest direct way | through relift |", "|---|---|---|"]
    for m in chosen:
        what = f"{m['program']} ({m['kind']}, {m['n_variables']:,} variables → {m['small_variables']:,})"
        direct = f"{m['ground_seconds']:.3g} s ({_named(m['rival'])})"
        lines.append(f"| {what} | {direct} | {m['lifted_seconds']:.3g} s ({_named(m.get('chosen', m['backend']))}) |")
    return "\n".join(lines)


def _named(way: str) -> str:
    """A solver, and its method if one is chosen, as people write them."""
    solver, _, method = way.partition(" ")
    name = {"highs": "HiGHS", "clarabel": "Clarabel", "osqp": "OSQP", "piqp": "PIQP"}.get(solver, solver)
    return f"{name}, {method}" if method else name


def all_benchmarks() -> str:
    """Every measurement of docs/benchmarks.json."""
    lines = [
        "| program | kind | solver | variables | rows | simplex / interior point s | ground s | lifted s | speed-up |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for m in sorted(_measurements(), key=lambda m: not m["is_symmetric"]):
        ground = f"({m['ground_status']})" if m["ground_seconds"] is None else f"{m['ground_seconds']:.3f}"
        lifted = f"({m['lifted_status']})" if m["lifted_seconds"] is None else f"{m['lifted_seconds']:.3f}"
        if m["ways"] and m["lifted_seconds"] is not None and m["lifted_caller_seconds"] < 0.9 * m["lifted_seconds"]:
            lifted += f" ({m['lifted_caller_seconds']:.3f})"  # both methods ran at the same time
        ways = " / ".join("–" if seconds is None else f"{seconds:.3f}" for seconds in m["ways"].values())
        ratio = "–" if m["speed_up"] is None else _times(m["speed_up"])
        solver = f"auto: {m['chosen']}" if m["backend"] == "auto" else m["backend"]
        lines.append(
            f"| {m['program']} | {m['kind']} | {solver} | {m['n_variables']:,} → {m['small_variables']:,} "
            f"| {m['n_rows']:,} → {m['small_rows']:,} | {ways} | {ground} | {lifted} | {ratio} |"
        )
    return "\n".join(lines)


def _approximate_measurements() -> list[dict[str, Any]]:
    found = json.loads((ROOT / "docs" / "approximate.json").read_text(encoding="utf-8"))
    return [m for m in found if m["ratio"] is not None]


def approximate_summary() -> str:
    """What docs/approximate.json comes to, for each collection of programs and each noise."""
    lines = [
        "| programs | noise | measured | gap reached | speed-up: median | most | elsewhere, ratio: median | worst |",
        "|---|---|---|---|---|---|---|---|",
    ]
    found = _approximate_measurements()
    for collection, words in (
        ("families", "families of `benchmarks`"),
        ("lp_symmetric", "symmetric LPs"),
        ("maros_meszaros", "Maros-Mészáros QPs"),
    ):
        for noise in sorted({m["noise"] for m in found}, reverse=True):
            chosen = [m for m in found if (m["collection"], m["noise"]) == (collection, noise)]
            if not chosen:
                continue
            won = sorted(1 / m["ratio"] for m in chosen if m["status"] == "optimal_within_gap")
            lost = sorted(m["ratio"] for m in chosen if m["status"] != "optimal_within_gap")
            gains = f"{median(won):.2g}× | {won[-1]:.2g}×" if won else "– | –"
            losses = f"{median(lost):.2f} | {lost[-1]:.2f}" if lost else "– | –"
            lines.append(f"| {words} | {noise:.0e} | {len(chosen)} | {len(won)} | {gains} | {losses} |")
    return "\n".join(lines)


def approximate() -> str:
    """The programs of docs/approximate.json on which the gap was reached, and those on which most was lost."""
    lines = [
        "| program | noise | variables | classes | gap | true error | plain s | approximate s | ratio | no budget s |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    found = _approximate_measurements()
    won = sorted((m for m in found if m["status"] == "optimal_within_gap"), key=lambda m: m["ratio"])
    lost = sorted((m for m in found if m["status"] != "optimal_within_gap"), key=lambda m: -m["ratio"])[:10]
    for m in [*won, *lost]:
        classes = f"{m['classes']:,}" if m["classes"] else "–"
        error = "–" if m["true_error"] is None else f"{m['true_error']:.0e}"
        unhurried = "–" if m["unhurried_seconds"] is None else f"{m['unhurried_seconds']:.3f}"
        lines.append(
            f"| {m['program']} | {m['noise']:.0e} | {m['n_variables']:,} | {classes} | {m['gap']:.0e} | {error} "
            f"| {m['plain_seconds']:.3f} | {m['approximate_seconds']:.3f} | {m['ratio']:.2f} | {unhurried} |"
        )
    return "\n".join(lines)


def dense_rows() -> str:
    """The table of docs/dense_rows.json, which ``python -m benchmarks.dense_rows --out`` writes."""
    sys.path.insert(0, str(ROOT))
    from benchmarks.dense_rows import table

    return table(json.loads((ROOT / "docs" / "dense_rows.json").read_text(encoding="utf-8")))


def repeated_rows() -> str:
    """The table of docs/repeated_rows.json, which ``python -m benchmarks.repeated_rows --out`` writes."""
    sys.path.insert(0, str(ROOT))
    from benchmarks.repeated_rows import table

    return table(json.loads((ROOT / "docs" / "repeated_rows.json").read_text(encoding="utf-8")))


def fixed_costs() -> str:
    """The table of docs/fixed_costs.json, which ``python -m benchmarks.fixed_costs --out`` renews."""
    found = json.loads((ROOT / "docs" / "fixed_costs.json").read_text(encoding="utf-8"))
    before = {m["case"]: m for m in found["before"]}
    lines = ["| problem | direct ms | relift ms | more ms | more ms before |", "|---|---|---|---|---|"]
    for m in found["measurements"]:
        old = before.get(m["case"])
        was = "–" if old is None else f"{old['over_ms']:+.2f}"
        lines.append(f"| {m['case']} | {m['direct_ms']:.2f} | {m['relift_ms']:.2f} | {m['over_ms']:+.2f} | {was} |")
    return "\n".join(lines)


def shortcuts() -> str:
    """The table of docs/shortcuts.json, which ``python -m benchmarks.shortcuts --out`` renews."""
    lines = [
        "| shortcut | problem | small variables (without it) | CPU s | without it | ratio |",
        "|---|---|---|---|---|---|",
    ]
    for m in json.loads((ROOT / "docs" / "shortcuts.json").read_text(encoding="utf-8")):
        sizes = f"{m['with_size']:,} ({m['without_size']:,})"
        times = f"{m['with_seconds']:.3f} | {m['without_seconds']:.3f} | {m['without_seconds'] / m['with_seconds']:.2g}"
        lines.append(f"| {m['shortcut']} | {m['problem']} | {sizes} | {times} |")
    return "\n".join(lines)


def pairs() -> str:
    """The table of docs/pairs.json, which ``python -m benchmarks.pairs --out`` renews; figures before in brackets."""
    found = json.loads((ROOT / "docs" / "pairs.json").read_text(encoding="utf-8"))
    before = {(m["family"], m["n_nonzeros"]): m for m in found["before"]}
    parts = list(found["measurements"][0]["pairs"])
    lines = [f"| family | nonzeros | variables | {' | '.join(parts)} |", "|---|---|---|" + "---|" * len(parts)]
    for m in found["measurements"]:
        old = before.get((m["family"], m["n_nonzeros"]))
        cells = [f"{m['pairs'][p]:.1f}" + (f" ({old['pairs'][p]:.1f})" if old else "") for p in parts]
        variables = f"{m['n_variables']:,} → {m['small_variables']:,}"
        lines.append(f"| {m['family']} | {m['n_nonzeros']:,} | {variables} | {' | '.join(cells)} |")
    return "\n".join(lines)


def lp_methods() -> str:
    """The table of docs/lp_methods.json, which ``python -m benchmarks.lp_methods --out`` writes: from 0.1 s on."""
    sys.path.insert(0, str(ROOT))
    from benchmarks.lp_methods import WAYS, ratios

    found = json.loads((ROOT / "docs" / "lp_methods.json").read_text(encoding="utf-8"))
    lines = [
        "| program | nonzeros | HiGHS by default | simplex | interior point | turns | race | race, thread that calls |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for m in found["measurements"]:
        seconds = [*(m["cpu"][way] for way in WAYS), m["caller"]["race"]]
        if any(each is None or each >= 0.1 for each in seconds):
            cells = ["–" if each is None else f"{each:.2f}" for each in seconds]
            lines.append(f"| {m['program']} | {m['n_nonzeros']:,} | {' | '.join(cells)} |")
    summary = ratios(found["measurements"], found["facts"]["limit"]).values()
    total, worst = ([f"{each[0]:.1f}" for each in summary], [f"{each[1]:.0f}" for each in summary])
    lines.append(f"| all {len(found['measurements'])}, to the better of both | | {' | '.join(total)} |")
    lines.append(f"| worst, to the better of both | | {' | '.join(worst)} |")
    return "\n".join(lines)


def gpu() -> str:
    """The table of docs/gpu.json, which ``python -m benchmarks.gpu_orbits --out`` writes on a machine with a GPU."""
    found = json.loads((ROOT / "docs" / "gpu.json").read_text(encoding="utf-8"))
    orbits = found["orbits"]
    lines = [
        f"| {found['device']}, PyTorch {found['torch']} | GPU s | CPU s (one thread) | ratio |",
        "|---|---|---|---|",
        f"| orbits of {orbits['points']}, {orbits['n_points']:,} points, {orbits['anchors']:,} anchors "
        f"(first call {orbits['gpu_cold']:.1f} s) | {orbits['gpu_warm']:.3f} | {orbits['cpu_warm']:.3f} "
        f"| {orbits['cpu_warm'] / orbits['gpu_warm']:.2g} |",
    ]
    for m in found["machines"]:
        what = f"{m['task']}, {m['points']:,} examples, {m['features']} features"
        what += f", {m['support']:,} support vectors" if "support" in m else ""
        lines.append(f"| {what} | {m['gpu']:.4f} | {m['cpu']:.4f} | {m['cpu'] / m['gpu']:.2g} |")
    return "\n".join(lines)


def functions() -> str:
    """The convex and concave functions of the language, from their table."""
    lines = ["| written | means | curvature | sign | becomes |", "|---|---|---|---|---|"]
    for function in FUNCTIONS.values():
        sign = "≥ 0" if function.sign == "nonnegative" else ""
        lines.append(
            f"| `{function.written}` | {function.meaning} | {function.curvature} | {sign} | {function.becomes} |"
        )
    return "\n".join(lines)


def data_functions() -> str:
    """The functions of data, from their table."""
    lines = [f"| `{function.written}` | {function.meaning} |" for function in DATA_FUNCTIONS.values()]
    return "\n".join(["| written | means |", "|---|---|", *lines])


TABLES = {
    "all_benchmarks": all_benchmarks,
    "approximate": approximate,
    "approximate_summary": approximate_summary,
    "backends": backends,
    "benchmarks": benchmarks,
    "first_figures": first_figures,
    "fixed_costs": fixed_costs,
    "functions": functions,
    "data_functions": data_functions,
    "gpu": gpu,
    "layers": layers,
    "lp_methods": lp_methods,
    "pairs": pairs,
    "dense_rows": dense_rows,
    "repeated_rows": repeated_rows,
    "shortcuts": shortcuts,
    **GROUNDING_BLOCKS,
    **PAPER_BLOCKS,
    **REFERENCE_BLOCKS,
    **RELIABILITY_BLOCKS,
    **SVM_BLOCKS,
}


def filled(text: str) -> str:
    """The text with every marked block made anew."""

    def block(match: re.Match[str]) -> str:
        return f"<!-- generated: {match[1]} -->\n{TABLES[match[1]]()}\n<!-- end -->"

    return re.sub(r"<!-- generated: (\w+) -->\n.*?<!-- end -->", block, text, flags=re.DOTALL)


def main() -> None:
    """Write the tables, or check them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a table is not fresh")
    is_check = parser.parse_args().check
    stale = []
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = path.read_text(encoding="utf-8")
        fresh = filled(text)
        if fresh != text:
            stale.append(path.name)
            if not is_check:
                path.write_text(fresh, encoding="utf-8")
    if stale and is_check:
        sys.exit(f"generated tables are not fresh in {', '.join(stale)}: run `make docs`")
    print(f"generated tables: {'written in ' + ', '.join(stale) if stale else 'fresh'}")


if __name__ == "__main__":
    main()
