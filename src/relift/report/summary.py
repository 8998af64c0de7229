"""Tables of an answer: sizes before and after, where the time went, how good the answer is.

Everything fits 80 columns. rich leaves colours out when the output is not a terminal or ``NO_COLOR`` is set.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from relift.pipeline import STAGES
from relift.program.solution import Status

if TYPE_CHECKING:
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
    ground_seconds, lifted_seconds
        What each took, all stages but reading and writing of files.
    """

    status: Status
    objective: float
    ground_seconds: float
    lifted_seconds: float

    @property
    def speed_up(self) -> float:
        """How many times quicker the lifted solve was; NaN unless the other one ended with a proved answer too."""
        is_proved = self.status in {Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED}
        return self.ground_seconds / self.lifted_seconds if is_proved and self.lifted_seconds > 0 else math.nan


def summary(
    result: Result, timings: Mapping[str, float] | None = None, comparison: Comparison | None = None
) -> RenderableType:
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
    parts: list[RenderableType] = [headline(result), "", sizes_table(result.program, result.lifting), ""]
    parts += [times_table({**(timings or {}), **result.timings}), ""]
    if len(result.attempts) > 1:
        parts += [attempts_table(result), ""]
    parts.append(certificate_line(result.certificate, result.status))
    if result.approximation is not None:
        parts.append(Text(proved_gap(result.approximation)))
    if comparison is not None:
        parts.append(comparison_line(comparison, result.objective))
    notes = [
        *result.lifting.notes,
        *([result.message] if result.message and result.status != Status.OPTIMAL else []),
    ]
    parts += [Text(f"note: {note}") for note in notes]
    return Group(*parts)


def proved_gap(approximation: ApproximationReport) -> str:
    """Say which gap approximate lifting has proved, in one line."""
    return f"proved: {approximation} (asked {approximation.asked:.0e})"


def headline(result: Result) -> Text:
    """Say how it ended, in one line."""
    line = Text(str(result.status).replace("_", " "), style=_STYLES.get(result.status, "bold magenta"))
    if not math.isnan(result.objective):
        line.append(f"  objective {result.objective:.10g}", style="default not bold")
    if result.backend:
        line.append(f"  by {result.backend}", style="default not bold")
    if result.iterations is not None:
        line.append(f", {result.iterations} iterations", style="default not bold")
    return line


def sizes_table(program: Program, lifting: Lifting) -> Table:
    """Draw the sizes before and after lifting."""
    table = _table("", "original", "lifted", "left")
    small = lifting.small
    for name in ("variables", "rows", "nonzeros"):
        before, after = getattr(program, f"n_{name}"), getattr(small, f"n_{name}")
        left = f"{100 * after / before:.1f} %" if before else "-"
        table.add_row(name, f"{before:,}", f"{after:,}", left)
    if len(program.conic):
        before, after = len(program.conic), len(small.conic)
        table.add_row("cones", f"{before:,}", f"{after:,}", f"{100 * after / before:.1f} %")
    return table


def times_table(timings: Mapping[str, float]) -> Table:
    """Draw where the time went, stage by stage, and the total."""
    known = [stage for stage in ORDER if stage in timings]
    others = [stage for stage in timings if stage not in ORDER]
    total = sum(timings.values())
    table = _table("stage", "seconds", "share")
    for stage in known + others:
        share = f"{100 * timings[stage] / total:.0f} %" if total > 0 else "-"
        table.add_row(stage, seconds_text(timings[stage]), share)
    table.add_row("total", seconds_text(total), "", style="bold")
    return table


def certificate_line(certificate: Certificate, status: Status) -> Text:
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
    line = Text(f"check: {figures} (at most {certificate.tolerance:.0e}): ")
    return line.append("passed" if passed else "not passed", style="green" if passed else "yellow")


def attempts_table(result: Result) -> Table:
    """Draw every call of a backend."""
    table = _table("attempt", "status", "seconds", "residual")
    for attempt in result.attempts:
        residual = "-" if math.isnan(attempt.residual) else f"{attempt.residual:.1e}"
        table.add_row(attempt.backend, str(attempt.status).replace("_", " "), seconds_text(attempt.seconds), residual)
    return table


def comparison_line(comparison: Comparison, objective: float) -> Text:
    """Say how the solve without lifting compares."""
    line = Text(f"without lifting: {str(comparison.status).replace('_', ' ')}")
    if math.isfinite(comparison.objective):
        line.append(f", objective {comparison.objective:.10g}")
        if math.isfinite(objective):
            difference = abs(comparison.objective - objective) / max(1.0, abs(objective))
            line.append(f" (relative difference {difference:.1e})")
    line.append(f"\nseconds: {seconds_text(comparison.ground_seconds)} without lifting")
    if not math.isnan(comparison.speed_up):
        line.append(f", {seconds_text(comparison.lifted_seconds)} with it: ")
        line.append(f"{comparison.speed_up:.3g} times as fast", style="bold")
    return line


def seconds_text(seconds: float) -> str:
    """Write a number of seconds so that columns of them can be compared at a glance.

    Examples
    --------
    >>> seconds_text(0.01234), seconds_text(12.34), seconds_text(1234.5)
    ('0.0123', '12.34', '1,234')
    """
    return f"{seconds:.4f}" if seconds < 10 else f"{seconds:.2f}" if seconds < 1000 else f"{seconds:,.0f}"


def key_value_table(rows: Sequence[tuple[str, str]]) -> Table:
    """Draw names with their values."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(Text(name), Text(value))
    return table


def _table(first: str, *headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(first, style="cyan", no_wrap=True, min_width=9)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True, min_width=8)
    return table


def print_plain(renderable: RenderableType) -> None:
    """Print without colours, 80 columns wide, without blanks at the ends of lines."""
    console = Console(width=80, color_system=None, force_terminal=False, highlight=False, markup=False)
    with console.capture() as capture:
        console.print(renderable)
    print("\n".join(line.rstrip() for line in capture.get().splitlines()))
