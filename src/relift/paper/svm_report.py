"""Tables and figures of the experiments with the four learners; Cora and moons share them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from relift.paper.figures import COLOURS, MARKERS, new_figure
from relift.paper.framework import Comparison, Figure, Row, Table
from relift.paper.svm_learners import LEARNERS, LP_SVM, QP_SVM, TC_QP_SVM

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

NAMES = tuple(learner.name for learner in LEARNERS)
QUADRATIC = (QP_SVM.name, TC_QP_SVM.name)


def shares_of(rows: Sequence[Row]) -> list[float]:
    """The shares of labelled examples, in order."""
    return sorted({row["share"] for row in rows})


def values_of(rows: Sequence[Row], learner: str, share: float, value: Callable[[Row], float]) -> list[float]:
    """A value of each split, for one learner and one share."""
    return [value(row) for row in rows if row["learner"] == learner and row["share"] == share]


def variables_left(row: Row) -> float:
    """Share of the variables that lifting leaves."""
    return float(row["lifted_variables"] / row["ground_variables"])


def rows_left(row: Row) -> float:
    """Share of the constraints that lifting leaves."""
    return float(row["lifted_rows"] / row["ground_rows"])


def accuracy(row: Row) -> float:
    """Accuracy of the lifted fit on the test set."""
    return float(row["lifted_accuracy"])


def ground_total(row: Row) -> float:
    """CPU seconds of search and final fit, ground."""
    return float(row["search_ground_seconds"] + row["ground_seconds"])


def lifted_total(row: Row) -> float:
    """CPU seconds of search and final fit, lifted."""
    return float(row["search_lifted_seconds"] + row["lifted_seconds"])


def order_comparisons(rows: Sequence[Row], *, is_papers: bool) -> list[Comparison]:
    """The labels that lifting changes, and two statements about accuracies, by the means of the splits.

    Parameters
    ----------
    rows
        Of all parts.
    is_papers
        Whether the paper says these things of the same data.
    """
    means = {
        (name, share): float(np.mean(values_of(rows, name, share, accuracy)))
        for name in NAMES
        for share in shares_of(rows)
    }
    above = [means[QP_SVM.name, share] > means[LP_SVM.name, share] for share in shares_of(rows)]
    best = [means[TC_QP_SVM.name, share] == max(means[name, share] for name in NAMES) for share in shares_of(rows)]
    changes = sum(row["label_changes"] for row in rows)
    return [
        Comparison("labels that lifting changes, all learners", 0.0 if is_papers else None, float(changes)),
        Comparison("QP-SVM more accurate than LP-SVM", "yes" if is_papers else None, _truth(above)),
        Comparison("TC-QP-SVM the most accurate", "yes" if is_papers else None, _truth(best)),
    ]


def _truth(cases: Sequence[bool]) -> str:
    return "yes" if all(cases) else f"in {sum(cases)} of {len(cases)} cases"


def time_comparisons(rows: Sequence[Row], share: float) -> list[Comparison]:
    """Ground against lifted for TC-QP-SVM; the paper gives no times."""
    chosen = [row for row in rows if row["learner"] == TC_QP_SVM.name and row["share"] == share]
    if not chosen:
        return []
    where = f"{TC_QP_SVM.name}, {share:.0%} labelled"
    ground, lifted = (sum(map(total, chosen)) for total in (_fit_ground, _fit_lifted))
    found = [Comparison(f"{where}: final fit, ground / lifted seconds", None, ground / lifted, "×")]
    if all(row["search_ground_seconds"] is not None for row in chosen):
        ground, lifted = (sum(map(total, chosen)) for total in (ground_total, lifted_total))
        found.append(Comparison(f"{where}: search and fit, ground / lifted seconds", None, ground / lifted, "×"))
    return found


def _fit_ground(row: Row) -> float:
    return float(row["ground_seconds"])


def _fit_lifted(row: Row) -> float:
    return float(row["lifted_seconds"])


def accuracy_table(rows: Sequence[Row]) -> Table:
    """Mean accuracy and its standard deviation over the splits."""
    lines = []
    for share in shares_of(rows):
        cells = [f"{share:.0%}"]
        for name in NAMES:
            found = values_of(rows, name, share, accuracy)
            cells.append(f"{np.mean(found):.3f} ± {np.std(found):.3f}")
        lines.append(cells)
    return Table(
        "Accuracy on the test set",
        ("labelled", *NAMES),
        lines,
        "Mean and standard deviation over the splits; ground and lifted are the same wherever no label changes.",
    )


def fold_table(rows: Sequence[Row]) -> Table:
    """Accuracy of the fits of the search at the chosen prices, one without each part of the validation set."""
    lines = []
    for share in shares_of(rows):
        cells = [f"{share:.0%}"]
        for name in NAMES:
            chosen = [row for row in rows if row["learner"] == name and row["share"] == share]
            found = [accuracy for row in chosen for accuracy in row["fold_accuracies"]]
            cells.append(f"{np.mean(found):.3f} ± {np.std(found):.3f}")
        lines.append(cells)
    return Table(
        "Accuracy on the test set, one fit for each part of the validation set",
        ("labelled", *NAMES),
        lines,
        "At the chosen prices, given the labels of A and of C without one of its five parts. Linear programs: as HiGHS "
        "returns them, ties not broken.",
    )


def size_table(rows: Sequence[Row]) -> Table:
    """Shares of variables and constraints that are left."""
    lines = []
    for share in shares_of(rows):
        for name in NAMES:
            some = [row for row in rows if row["learner"] == name and row["share"] == share]
            lines.append(
                [
                    f"{share:.0%}",
                    name,
                    f"{np.mean([row['ground_variables'] for row in some]):,.0f}",
                    f"{np.mean([variables_left(row) for row in some]):.1%}",
                    f"{np.mean([row['ground_rows'] for row in some]):,.0f}",
                    f"{np.mean([rows_left(row) for row in some]):.1%}",
                ]
            )
    return Table(
        "What lifting leaves", ("labelled", "learner", "variables", "left", "constraints", "left "), lines,
        "Final fits with all of L labelled; means over the splits.",
    )  # fmt: skip


def time_table(rows: Sequence[Row]) -> Table:
    """CPU seconds, ground and lifted."""
    lines = []
    for share in shares_of(rows):
        for name in NAMES:
            some = [row for row in rows if row["learner"] == name and row["share"] == share]
            ground, lifted = np.mean([_fit_ground(row) for row in some]), np.mean([_fit_lifted(row) for row in some])
            cells = [
                f"{share:.0%}", name, f"{ground:.3f}", f"{lifted:.3f}",
                f"{np.mean([row['lift_seconds'] for row in some]):.3f}", f"{ground / lifted:.2f}",
            ]  # fmt: skip
            if all(row["search_ground_seconds"] is not None for row in some):
                whole_ground, whole = np.mean([ground_total(r) for r in some]), np.mean([lifted_total(r) for r in some])
                cells += [f"{whole_ground:.2f}", f"{whole:.2f}", f"{whole_ground / whole:.2f}"]
            else:
                cells += ["–", f"{np.mean([lifted_total(row) for row in some]):.2f}", "–"]
            lines.append(cells)
    return Table(
        "CPU seconds of one thread",
        (
            "labelled",
            "learner",
            "ground",
            "lifted",
            "of it lifting",
            "ratio",
            "search + fit, ground",
            "lifted ",
            "ratio ",
        ),
        lines,
        "Means over the splits. Grounding, which both need, and the check of the answers are not counted. The searches "
        "of the linear programs were run lifted only.",
    )


def check_table(rows: Sequence[Row]) -> Table:
    """Labels that change, and the worst residuals."""
    lines = []
    for name in NAMES:
        some = [row for row in rows if row["learner"] == name]
        searched = [row["search_label_changes"] for row in some if row["search_label_changes"] is not None]
        ties = [row["changes_with_ties"] for row in some if "changes_with_ties" in row]
        losses = [
            abs(row[f"{side}_tie_loss"]) for row in some for side in ("ground", "lifted") if "changes_with_ties" in row
        ]
        residuals = [
            row[key] for row in some for side in ("ground", "lifted")
            for key in (f"{side}_residual", f"{side}_tie_residual") if key in row
        ]  # fmt: skip
        lines.append(
            [
                name,
                f"{sum(row['label_changes'] for row in some)} of {sum(row['n_test'] for row in some):,}",
                f"{sum(searched)} in {sum(row['search_fits'] for row in some):,} fits" if searched else "–",
                f"{sum(ties)}" if ties else "–",
                f"{max(losses):.1e}" if losses else "–",
                f"{max(row['score_difference'] for row in some):.1e}",
                f"{max(residuals):.1e}",
            ]
        )
    return Table(
        "Ground and lifted agree",
        (
            "learner", "labels changed", "in the search", "if ties were not broken", "cost of breaking ties",
            "largest difference of scores", "largest residual",
        ),
        lines,
        "Scores are w·x + b, with margins of about 1. Residuals are relative, on the ground program. The optimum of a "
        "linear program need not be unique: the final fits add a price of 1e-6 on the squared weights, which prefers "
        "small weights, is the same for ground and lifted, and changes the objective by the cost shown.",
    )  # fmt: skip


def learner_figures(rows: Sequence[Row], paper: tuple[float, float] | None = None) -> list[Figure]:
    """Compression and accuracy over the share of labelled examples, and seconds of TC-QP-SVM.

    Parameters
    ----------
    rows
        Of all parts.
    paper
        Shares of variables and constraints that the paper gives, drawn as lines.
    """
    dotted = " The dotted line is the paper's figure for TC-QP-SVM." if paper else ""
    changes = sum(row["label_changes"] for row in rows)
    same = "the lifted learners give the same labels." if not changes else f"lifting changes {changes:,} labels."
    figures = [
        Figure(
            "compression",
            "Share of the variables (left) and of the constraints (right) that lifting leaves, mean and range over the "
            f"splits. {_merged_words(rows)}" + dotted,
            lambda: _draw_compression(rows, paper),
        ),
        Figure(
            "accuracy",
            f"Accuracy on the test set over the share of labelled examples, mean and range over the splits; {same}",
            lambda: _draw_accuracy(rows),
        ),
    ]
    if all(row["search_ground_seconds"] is not None for row in rows if row["learner"] == TC_QP_SVM.name):
        figures.append(
            Figure(
                "seconds",
                "TC-QP-SVM: CPU seconds of the whole search and the final fit, and of the final fit alone, ground and "
                "lifted; lifting included, means over the splits.",
                lambda: _draw_seconds(rows),
            )
        )
    return figures


def _merged_words(rows: Sequence[Row]) -> str:
    """What the figure of sizes shows, by its numbers."""
    collective = [rows_left(row) for row in rows if row["learner"].startswith("TC-")]
    others = [rows_left(row) for row in rows if not row["learner"].startswith("TC-")]
    return (
        f"Without links {min(others):.0%} to {max(others):.0%} of the constraints are left; with them "
        f"{min(collective):.0%} to {max(collective):.0%}, since links from examples of one label to the same example "
        "say the same."
    )


def _draw_lines(axes: Axes, rows: Sequence[Row], value: Callable[[Row], float]) -> None:
    shares = shares_of(rows)
    for k, name in enumerate(NAMES):
        found = [values_of(rows, name, share, value) for share in shares]
        means = np.array([np.mean(each) for each in found])
        reach = np.abs(np.array([[min(each), max(each)] for each in found]).T - means)
        x = 100 * np.array(shares) + (k - 1.5) * 0.6
        # The lines of a QP and its LP often coincide: dashes and hollow markers let both be seen.
        style: dict[str, Any] = {"linestyle": "--", "markerfacecolor": "white"} if "LP" in name else {}
        axes.errorbar(x, 100 * means, 100 * reach, color=COLOURS[k], marker=MARKERS[k], capsize=3, label=name, **style)
    axes.set_xticks([100 * share for share in shares])
    axes.set_xlabel("labelled examples (%)")


def _draw_compression(rows: Sequence[Row], paper: tuple[float, float] | None) -> Picture:
    figure, panels = new_figure(2, sharey=True)
    for number, (axes, value, title) in enumerate(
        zip(panels, (variables_left, rows_left), ("variables", "constraints"), strict=True)
    ):
        _draw_lines(axes, rows, value)
        axes.set_title(title)
        if paper is not None:
            axes.axhline(100 * paper[number], color="#555555", ls=":", lw=1.4)
    panels[0].set_ylabel("left by lifting (%)")
    panels[1].legend(loc="center")
    return figure


def _draw_accuracy(rows: Sequence[Row]) -> Picture:
    figure, (axes,) = new_figure(1, size=(5.4, 4.0))
    _draw_lines(axes, rows, accuracy)
    axes.set_ylabel("accuracy (%)")
    axes.legend()
    return figure


def _draw_seconds(rows: Sequence[Row]) -> Picture:
    figure, panels = new_figure(2, size=(4.2, 3.6))
    shares = shares_of(rows)
    places = np.arange(len(shares))
    sides: tuple[tuple[str, tuple[Callable[[Row], float], Callable[[Row], float]]], ...] = (
        ("search and fit", (ground_total, lifted_total)),
        ("final fit", (_fit_ground, _fit_lifted)),
    )
    for axes, (title, values) in zip(panels, sides, strict=True):
        for k, (value, label) in enumerate(zip(values, ("ground", "lifted"), strict=True)):
            means = [np.mean(values_of(rows, TC_QP_SVM.name, share, value)) for share in shares]
            axes.bar(places + (k - 0.5) * 0.38, means, 0.36, color=COLOURS[k], label=label)
        axes.set_xticks(places, [f"{share:.0%}" for share in shares])
        axes.set_xlabel("labelled examples")
        axes.set_title(title)
    panels[0].set_ylabel("CPU seconds")
    panels[0].legend()
    return figure
