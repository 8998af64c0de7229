"""Tables of an answer: sizes before and after, where the time went, how good the answer is.

Everything fits 80 columns. Colours are left out when the output is not a terminal or ``NO_COLOR`` is set.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from relift.pipeline import STAGES
from relift.program.solution import Status
from relift.report.drawing import Drawing, Piece, table

if TYPE_CHECKING:
    from rich.table import Table

    from relift.approximate.report import ApproximationReport
    from relift.lifting.certificate import Certificate
    from relift.lifting.lifting import Lifting
    from relift.program.program import Program
    from relift.result import Result

ORDER = ("read", "ground", *(stage.name for stage in STAGES), "vertex", "write")
"""Stages in the order of the data; others follow them."""

_STYLES = {
    Status.OPTIMAL: "bold green",
    Status.OPTIMAL_WITHIN_GAP: "bold green",
    Status.OPTIMAL_INACCURATE: "bold yellow",
    Status.FAILURE: "bold red",
}


@final
@dataclass(frozen=True)
class Comparison:
    """The same program solved without lifting.

    Parameters
    ----------
    status
        How that ended.
    objective
        Its objective.
    backend
        Who solved it; not always who solved the small program.
    ground_seconds, lifted_seconds
        What each took, all stages but reading and writing of files.
    """

    status: Status
    objective: float
    backend: str
    ground_seconds: float
    lifted_seconds: float

    @property
    def speed_up(self) -> float:
        """How many times quicker the lifted solve was; NaN unless the other one ended with a proved answer too."""
        is_proved = self.status in {Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED}
        return self.ground_seconds / self.lifted_seconds if is_proved and self.lifted_seconds > 0 else math.nan


def summary(
    result: Result, timings: Mapping[str, float] | None = None, comparison: Comparison | None = None
) -> Drawing:
    """Draw the table of an answer.

    Parameters
    ----------
    result
        What :func:`relift.solve` returned.
    timings
        Further seconds by stage, such as those for reading the file.
    comparison
        The solve without lifting, if there was one; a speed-up is only shown with it.

    Examples
    --------
    >>> import relift
    >>> result = relift.solve(relift.Program(q=[1, 1, 1], A=[[1, 1, 1]], l=[3], lb=0))
    >>> print_plain(summary(result))
    optimal  objective 3  by highs...
    variables          3         1    33.3 %
    rows               1         1   100.0 %
    nonzeros           3         1    33.3 %
    ...
    """
    parts: list[Drawing | str] = [headline(result), "", sizes_table(result.program, result.lifting), ""]
    parts += [times_table({**(timings or {}), **result.timings}), ""]
    if len(result.attempts) > 1:
        parts += [attempts_table(result), ""]
    parts.append(certificate_line(result.certificate, result.status))
    if result.approximation is not None:
        parts.append(proved_gap(result.approximation))
    if comparison is not None:
        parts.append(comparison_line(comparison, result.objective))
    notes = [
        *result.lifting.notes,
        *([result.message] if result.message and result.status != Status.OPTIMAL else []),
    ]
    parts += [f"note: {note}" for note in notes]
    return Drawing(*parts)


def proved_gap(approximation: ApproximationReport) -> str:
    """Say which gap approximate lifting has proved, in one line."""
    return f"proved: {approximation} (asked {approximation.asked:.0e})"


def headline(result: Result) -> Drawing:
    """Say how it ended, in one line."""
    words = ""
    if not math.isnan(result.objective):
        words += f"  objective {result.objective:.10g}"
    if result.backend:
        words += f"  by {result.backend}"
    if result.iterations is not None:
        words += f", {result.iterations} iterations"
    status = str(result.status).replace("_", " ")
    return Drawing([(status, _STYLES.get(result.status, "bold magenta")), (words, "")])


def sizes_table(program: Program, lifting: Lifting) -> Drawing:
    """Draw the sizes before and after lifting."""
    small, rows = lifting.small, list[tuple[str, ...]]()
    for name in ("variables", "rows", "nonzeros"):
        before, after = getattr(program, f"n_{name}"), getattr(small, f"n_{name}")
        left = f"{100 * after / before:.1f} %" if before else "-"
        rows.append((name, f"{before:,}", f"{after:,}", left))
    if len(program.conic):
        rows.append(("cones", f"{len(program.conic):,}", f"{len(small.conic):,}", ""))  # blocks may be more cones
        before, after = program.conic.n_rows, small.conic.n_rows
        rows.append(("rows of cones", f"{before:,}", f"{after:,}", f"{100 * after / before:.1f} %"))
    return table(("", "original", "lifted", "left"), rows)


def times_table(timings: Mapping[str, float]) -> Drawing:
    """Draw where the time went, stage by stage, and the total."""
    known = [stage for stage in ORDER if stage in timings]
    others = [stage for stage in timings if stage not in ORDER]
    total, rows = sum(timings.values()), list[tuple[str, ...]]()
    for stage in known + others:
        share = f"{100 * timings[stage] / total:.0f} %" if total > 0 else "-"
        rows.append((stage, seconds_text(timings[stage]), share))
    rows.append(("total", seconds_text(total), ""))
    return table(("stage", "seconds", "share"), rows, frozenset({"total"}))


def certificate_line(certificate: Certificate, status: Status) -> Drawing:
    """Say how good the answer is on the original program."""
    if status in {Status.INFEASIBLE, Status.UNBOUNDED}:
        words = [("proof residual", certificate.ray_residual)]
        passed = certificate.is_proved
    else:
        words = [
            ("primal", certificate.primal_residual),
            ("dual", certificate.dual_residual),
            ("gap", certificate.duality_gap),
        ]
        passed = certificate.is_optimal
    figures = ", ".join(f"{name} {'-' if math.isnan(value) else f'{value:.1e}'}" for name, value in words)
    said = ("passed", "green") if passed else ("not passed", "yellow")
    return Drawing([(f"check: {figures} (at most {certificate.tolerance:.0e}): ", ""), said])


def attempts_table(result: Result) -> Drawing:
    """Draw every call of a backend."""
    rows = list[tuple[str, ...]]()
    for attempt in result.attempts:
        residual = "-" if math.isnan(attempt.residual) else f"{attempt.residual:.1e}"
        status = str(attempt.status).replace("_", " ")
        rows.append((attempt.backend, status, seconds_text(attempt.seconds), residual))
    return table(("attempt", "status", "seconds", "residual"), rows)


def comparison_line(comparison: Comparison, objective: float) -> Drawing:
    """Say how the solve without lifting compares."""
    line = f"without lifting: {str(comparison.status).replace('_', ' ')}"
    if math.isfinite(comparison.objective):
        line += f", objective {comparison.objective:.10g}"
        if math.isfinite(objective):
            difference = abs(comparison.objective - objective) / max(1.0, abs(objective))
            line += f" (relative difference {difference:.1e})"
    by = f" by {comparison.backend}" if comparison.backend else ""
    times: list[Piece] = [(f"seconds: {seconds_text(comparison.ground_seconds)} without lifting{by}", "")]
    if not math.isnan(comparison.speed_up):
        times.append((f", {seconds_text(comparison.lifted_seconds)} with it: ", ""))
        times.append((f"{comparison.speed_up:.3g} times as fast", "bold"))
    return Drawing(line, times)


def seconds_text(seconds: float) -> str:
    """Write a number of seconds so that columns of them can be compared at a glance.

    Examples
    --------
    >>> seconds_text(0.01234), seconds_text(12.34), seconds_text(1234.5)
    ('0.0123', '12.34', '1,234')
    """
    return f"{seconds:.4f}" if seconds < 10 else f"{seconds:.2f}" if seconds < 1000 else f"{seconds:,.0f}"


def key_value_table(rows: Sequence[tuple[str, str]]) -> Table:
    """Draw names with their values, by rich, which folds long values."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(Text(name), Text(value))
    return table


def print_plain(drawing: Drawing) -> None:
    """Print without colours, 80 columns wide, without blanks at the ends of lines."""
    print("\n".join(line.rstrip() for line in str(drawing).splitlines()))
