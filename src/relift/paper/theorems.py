"""All propositions of the paper on random instances, and the places where it says more than is true.

The propositions are in :mod:`relift.paper.theorem_checks`, the slips in :mod:`relift.paper.slips`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from relift.paper.figures import COLOURS, new_figure
from relift.paper.framework import Comparison, Experiment, Figure, Part, Report, Request, Row, Setup, Table
from relift.paper.slips import FIVE_POINTS, SLIPS, run_slip
from relift.paper.theorem_checks import PROPOSITIONS, run_check, squared_distances

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture


def settings(request: Request) -> Row:
    """How many instances."""
    return {"instances": 60 if request.quick else 2000}


def parts(setup: Setup) -> list[Part]:
    """One for each proposition, one for all slips."""
    per_instance = {"theorem-1": 0.006, "optimum": 0.02, "hierarchy": 0.012, "conditions": 0.006, "distances": 0.004}
    propositions = [
        Part(name, each.short, {"name": name}, 0.3 + setup["instances"] * each.share * per_instance.get(name, 0.0005))
        for name, each in PROPOSITIONS.items()
    ]
    return [*propositions, Part("slips", "the counterexamples", {"name": ""}, 0.5)]


def run(setup: Setup, part: Part) -> list[Row]:
    """Check one proposition, or all slips."""
    if part["name"]:
        return [run_check(part["name"], setup.seed, setup["instances"])]
    return [run_slip(name) for name in SLIPS]


def report(setup: Setup, rows: list[Row]) -> Report:
    """Which hold, on how many instances, and the counterexamples."""
    propositions = [row for row in rows if row["kind"] == "proposition"]
    slips = [row for row in rows if row["kind"] == "slip"]
    lines = [_proposition_line(row) for row in propositions]
    lines += [_slip_line(row) for row in slips if SLIPS[row["name"]].kind != "with care"]
    checked = Table(
        "Propositions on random instances",
        ("proposition", "", "instances", "worst residual", "tolerance", "result"),
        [
            (
                PROPOSITIONS[row["name"]].short,
                PROPOSITIONS[row["name"]].statement + (f" ({row['remark']})" if row["remark"] else ""),
                f"{row['instances']:,}",
                f"{row['worst']:.1e}" if row["tolerance"] else "exact",
                f"{row['tolerance']:.0e}" if row["tolerance"] else "0",
                "holds" if row["holds"] else f"**fails** on {row['failures']}",
            )
            for row in propositions
        ],
        "Tolerances allow for rounding, or for the solver's own. Exact: whole numbers or permutations are compared.",
    )
    explained = Table(
        "Where care is needed",
        ("in the paper", "what holds", "example, computed here"),
        [
            (
                SLIPS[row["name"]].statement,
                SLIPS[row["name"]].truth,
                SLIPS[row["name"]].example + ("" if row["confirmed"] else " **Not confirmed by this run.**"),
            )
            for row in slips
        ],
    )
    total = sum(row["instances"] for row in propositions)
    failed = [PROPOSITIONS[row["name"]].short for row in propositions if not row["holds"]]
    text = [
        f"{total:,} random instances of {len(propositions)} propositions: "
        + (f"**{len(failed)} did not hold**: {'; '.join(failed)}." if failed else "every one holds on every instance.")
    ]
    if not failed and all(row["confirmed"] for row in slips):
        text.append(
            "The main results of the paper stand. Two statements at its side are false as they are written (the sign "
            "in the expansion of the RBF kernel; 'only if' for sorted distances), one theorem holds under weaker "
            "conditions than it asks for, and some steps are heuristics or need a word of care. None of it changes "
            "what the paper set out to show, and each example is computed by this command."
        )
    return Report(lines, text, [checked, explained], [_figure()])


def _proposition_line(row: Row) -> Comparison:
    worst = f", worst residual {row['worst']:.0e}" if row["tolerance"] else ", exact"
    stated = None if row["name"] == "rbf" else "holds"  # the paper has the other sign
    ours = "holds" if row["holds"] else "FAILS"
    return Comparison(PROPOSITIONS[row["name"]].short, stated, ours, note=f"{row['instances']:,} instances{worst}")


def _slip_line(row: Row) -> Comparison:
    slip = SLIPS[row["name"]]
    stated, found = ("stated", "false") if slip.kind == "slip" else ("needed", "not needed")
    note = "counterexample" if slip.kind == "slip" else "example"
    return Comparison(slip.short, stated, found if row["confirmed"] else "unclear", note=note)


def _figure() -> Figure:
    return Figure(
        "counterexamples",
        "Left: five points; 3 and 4 have the same squared distances to the others (1, 2, 2, 4), yet no isometry of the "
        "set exchanges them. Middle: the RBF kernel of unit vectors at γ = ½ as a product; only the plus sign gives "
        "the kernel. Right: whitening B of Q = diag(1,2) moves its two points onto a circle (rings), where they "
        "look alike.",
        _draw,
    )


def _draw() -> Picture:
    figure, (left, middle, right) = new_figure(3, size=(4.0, 4.8))
    D = squared_distances(FIVE_POINTS)
    lines = [
        (2, 0, COLOURS[0], "-", 0.5), (2, 1, COLOURS[0], "-", 0.0), (2, 4, COLOURS[0], "-", -0.15),
        (3, 0, COLOURS[1], "--", 0.0), (3, 1, COLOURS[1], "--", 0.0), (3, 4, COLOURS[1], "--", 0.3),
        (2, 3, "#444444", "-", 0.0),
    ]  # fmt: skip
    for point, other, colour, line, bend in lines:
        start, end = FIVE_POINTS[point], FIVE_POINTS[other]
        arrow = {"arrowstyle": "-", "color": colour, "lw": 2, "ls": line, "shrinkA": 11, "shrinkB": 11}
        left.annotate("", end, start, arrowprops={**arrow, "connectionstyle": f"arc3,rad={bend}"})
        way = end - start
        place = (start + end) / 2 + bend / 2 * np.array([way[1], -way[0]])
        box = {"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none"}
        left.text(
            place[0], place[1], f"{D[point, other]:.0f}", color=colour, ha="center", va="center", fontsize=12, bbox=box
        )
    for k, (x, y) in enumerate(FIVE_POINTS):
        left.plot(x, y, "o", ms=18, color={2: COLOURS[0], 3: COLOURS[1]}.get(k, "#666666"))
        left.text(x, y, str(k + 1), color="white", weight="bold", ha="center", va="center")
    left.set_aspect("equal")
    left.set_xlim(-0.9, 1.8)
    left.set_ylim(-0.5, 3.5)
    left.set_title("squared distances")
    inner = np.linspace(-1, 1, 100)  # of two unit vectors
    sizes = np.exp(-4 * 0.25)
    middle.plot(inner, np.exp(-0.5 * (2 - 2 * inner)), color="black", lw=4, alpha=0.35, label="kernel")
    middle.plot(inner, sizes * np.exp(4 * 0.25 * inner), color=COLOURS[0], label="with +")
    middle.plot(inner, sizes * np.exp(-4 * 0.25 * inner), color=COLOURS[1], ls="--", label="with −")
    middle.set_xlabel("⟨x, y⟩ of unit vectors")
    middle.set_title("RBF kernel as a product")
    middle.legend()
    before, after = np.diag([1.0, np.sqrt(2)]), np.eye(2)
    angle = np.linspace(0, 2 * np.pi, 200)
    right.plot(np.cos(angle), np.sin(angle), color="#999999", ls="--", lw=1.2)
    for k in range(2):
        right.annotate(
            "", after[k], before[k], arrowprops={"arrowstyle": "-|>", "color": "#555555", "lw": 1.5, "shrinkB": 9}
        )
        right.plot(*before[k], "o", ms=11, color=COLOURS[k], label=f"row {k + 1} of B")
        right.plot(*after[k], "o", ms=19, mfc="none", mec=COLOURS[k], mew=2)
    right.set_aspect("equal")
    right.set_xlim(-1.6, 1.6)
    right.set_ylim(-1.6, 1.6)
    right.set_title("whitening")
    right.legend(loc="lower left")
    return figure


EXPERIMENT = Experiment(
    name="theorems",
    title="Theorems and slips",
    shows="Every proposition of the paper on random instances, and counterexamples where it says too much.",
    full_seconds=40,
    quick_seconds=5,
    settings=settings,
    parts=parts,
    run=run,
    report=report,
)
