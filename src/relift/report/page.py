"""The report: one page of HTML that says what was merged, what was not and why, and how good the answer is.

Everything is in the file: no script, no font and no picture is fetched. It follows the light or dark scheme of the
reader, and fits a phone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

import numpy as np

from relift.atomic import write_atomically
from relift.lifting.lifting import Lifting
from relift.program.program import Program
from relift.program.solution import Status
from relift.report.families import Families, row_families, variable_families
from relift.report.nearest_misses import Nearest, nearest_misses
from relift.report.pictures import bars, graph, histogram, pattern
from relift.report.summary import seconds_text
from relift.result import Result
from relift.versions import versions_for

LARGEST = 12
"""How many classes are listed."""
MEMBERS = 8
"""How many members of each are named."""

_STYLE = """
:root{color-scheme:light dark;--paper:#fcfcfa;--ink:#1c2024;--soft:#5b6570;--line:#d8dde1;--bar:#2f6f8f;--rail:#e6eaed;
--warn:#a33b20;--good:#2b7a3f}
@media(prefers-color-scheme:dark){:root{--paper:#14181c;--ink:#e6e9ec;--soft:#9aa5b0;--line:#2d353d;--bar:#6db3d6;
--rail:#232a31;--warn:#f0947a;--good:#7fce93}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.2rem;max-width:62rem;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
h1,p,figcaption{overflow-wrap:anywhere}
h1{font-size:1.5rem;margin:.2rem 0}h2{font-size:1.15rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line)}
p.lead{font-size:1.1rem}.soft{color:var(--soft)}.good{color:var(--good)}.warn{color:var(--warn)}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.3rem .8rem .3rem 0;border-bottom:1px solid var(--line);vertical-align:top}
td{overflow-wrap:anywhere}td.n{overflow-wrap:normal}th{font-weight:600;color:var(--soft)}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td code{white-space:nowrap}
code,pre{font:.9em ui-monospace,SFMono-Regular,Menlo,monospace}pre{overflow-x:auto;padding:.7rem;background:var(--rail)}
svg{width:100%;height:auto}
.bars{display:grid;grid-template-columns:max-content 1fr max-content;gap:.35rem .8rem;align-items:center}
.bars{max-width:46rem}
.rail{position:relative;height:.9rem;background:var(--rail);border-radius:3px}
.rail i{display:block;height:100%;background:var(--bar);border-radius:3px}
.rail b{position:absolute;top:-.2rem;bottom:-.2rem;width:2px;background:var(--warn)}
.pattern rect{fill:var(--bar)}.pattern .frame{fill:none;stroke:var(--line)}
.graph{max-width:26rem}.graph line{stroke:var(--line)}figure{margin:0;flex:1 1 16rem}
figcaption{color:var(--soft);font-size:.9rem}.pair{display:flex;flex-wrap:wrap;gap:1rem;margin-top:1rem}
.stack td:not(.n){min-width:8rem}
@media(max-width:40rem){.stack th{display:none}.stack tr,.stack td{display:block}.stack td,.stack td.n{border:0;
text-align:left;white-space:normal;padding:.1rem 0}.stack tr{border-bottom:1px solid var(--line);padding:.4rem 0}
.stack td::before{content:attr(data-head) ": ";color:var(--soft)}}
"""


def write_report(
    found: Result | Lifting, path: str | Path, *, title: str = "", command: str = "", nearest: Nearest | None = None
) -> None:
    """Write the report of an answer, or of a lifting that was not solved; the file appears all at once.

    Parameters
    ----------
    found
        What :func:`relift.solve` or :func:`relift.lift` returned.
    path
        Where to.
    title
        Name of the model.
    command
        How to make the report again.
    nearest
        What keeps variables apart, if it is known already; looked for otherwise.
    """
    with write_atomically(Path(path)) as file:
        file.write(report_page(found, title=title, command=command, nearest=nearest).encode("utf-8"))


def report_page(found: Result | Lifting, *, title: str = "", command: str = "", nearest: Nearest | None = None) -> str:
    """Make the page; see :func:`write_report`.

    Examples
    --------
    >>> import relift
    >>> page = report_page(relift.solve(relift.Program(q=[1, 1, 1], A=[[1, 1, 1]], l=[3], lb=0)), title="three")
    >>> page.startswith("<!doctype html>"), "3 variables became 1" in page
    (True, True)
    """
    lifting = found.lifting if isinstance(found, Result) else found
    result = found if isinstance(found, Result) else None
    program, small = lifting.program, lifting.small
    if nearest is None:
        nearest = nearest_misses(program, lifting.settings, lifting=lifting)
    name = escape(title or f"{program.kind} of {program.n_variables:,} variables")
    parts = [
        f"<h1>{name}</h1>",
        f'<p class="lead">{_what_became(program, small)}</p>',
        *([] if result is None else _answer(result)),
        *_sizes(lifting),
        *_nearest(nearest),
        *_classes(lifting),
        *_pictures(lifting),
        *([] if result is None else _times(result)),
        *_again(lifting, result, command),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{name}</title><style>{_STYLE}</style></head><body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def _what_became(program: Program, small: Program) -> str:
    """What became of variables and rows, in a sentence."""
    if (program.n_variables, program.n_rows) == (small.n_variables, small.n_rows):
        return f"Nothing is merged: there are {program.n_variables:,} variables and {program.n_rows:,} rows."
    return (
        f"{program.n_variables:,} variables became {small.n_variables:,}; "
        f"{program.n_rows:,} rows became {small.n_rows:,}."
    )


def _table(head: Sequence[str], lines: Iterable[Sequence[str]], numbers: int, *, is_stacked: bool = False) -> str:
    """A table whose last columns are numbers; on a phone, the lines of a stacked one become paragraphs."""
    kinds = [' class="n"' if k >= len(head) - numbers else "" for k in range(len(head))]
    heads = [f' data-head="{escape(name)}"' if is_stacked else "" for name in head]
    top = "".join(f"<th{kind}>{escape(name)}</th>" for kind, name in zip(kinds, head, strict=True))
    body = "".join(
        "<tr>"
        + "".join(f"<td{k}{h}>{_unbroken(escape(text))}</td>" for k, h, text in zip(kinds, heads, line, strict=True))
        + "</tr>"
        for line in lines
    )
    return f'<div class="wide"><table{" class=stack" if is_stacked else ""}><tr>{top}</tr>{body}</table></div>'


def _unbroken(text: str) -> str:
    """Options to type, in one line each.

    Examples
    --------
    >>> _unbroken("digits=3 (--digits 3) merges them.")
    '<code>digits=3</code> (<code>--digits 3</code>) merges them.'
    """
    return re.sub(r"--(?:digits|approximate) [0-9e-]+|\b(?:digits|approximate)=[0-9e-]+", r"<code>\g<0></code>", text)


def _answer(result: Result) -> list[str]:
    kind = "good" if result.status in {Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED} else "warn"
    certificate, tolerance = result.certificate, result.certificate.tolerance
    lines = []
    for label, residual in (
        ("primal residual", certificate.primal_residual),
        ("dual residual", certificate.dual_residual),
        ("duality gap", certificate.duality_gap),
        ("ray residual", certificate.ray_residual),
    ):
        if not math.isnan(residual):
            # From 1e-16 (empty) over the tolerance (three quarters) to a hundred thousand times as much.
            span = math.log10(max(residual, 1e-16) / 1e-16) / math.log10(tolerance / 1e-16)
            lines.append((label, 0.75 * span, f"{residual:.1e}"))
    objective = "" if math.isnan(result.objective) else f", objective {result.objective:.10g}"
    return [
        "<h2>Answer</h2>",
        f'<p><span class="{kind}">{escape(str(result.status).replace("_", " "))}</span>{objective}'
        f", by {escape(result.backend or 'no solver')}. Residuals on the original model; the line is the tolerance, "
        f"{tolerance:.0e}.</p>",
        bars(lines, 0.75) if lines else '<p class="soft">There is nothing to check.</p>',
        *([f'<p class="soft">{escape(result.message)}</p>'] if result.message and kind == "warn" else []),
    ]


def _sizes(lifting: Lifting) -> list[str]:
    program = lifting.program
    lines: list[tuple[str, ...]] = []
    head: tuple[str, ...]
    for thing, families, labels in (
        ("variables", variable_families(program), lifting.class_of_variable),
        ("rows", row_families(program), lifting.class_of_row),
    ):
        for k, name in enumerate(families.names):
            mine = labels[families.of == k]
            classes = int(np.unique(mine[mine >= 0]).size)
            gone = int(np.count_nonzero(mine < 0))
            lines.append((name, thing, f"{mine.size:,}", f"{gone:,}" if gone else "", f"{classes:,}"))
    head = ("block", "of", "before", "by presolve", "classes")
    if not any(line[3] for line in lines):  # a column that says nothing
        head, lines = (*head[:3], head[4]), [(*line[:3], line[4]) for line in lines]
    return ["<h2>Sizes by block</h2>", _table(head, lines, len(head) - 2)]


def _nearest(nearest: Nearest) -> list[str]:
    parts = ["<h2>Why not smaller?</h2>", f"<p>{escape(nearest.verdict)}</p>"]
    if nearest.misses:
        lines = [
            (miss.cause, miss.advice, miss.example, f"{miss.variables:,}", f"{miss.rows:,}")
            for miss in nearest.misses[:LARGEST]
        ]
        head = ("if these were equal", "what to do", "for example", "variables", "rows")
        parts.append(_table(head, lines, 2, is_stacked=True))
    if nearest.rounded:
        sizes = [
            (f"digits={digits}", f"--digits {digits}", f"{size[0]:,}", f"{size[1]:,}")
            for digits, size in nearest.rounded.items()
        ]
        parts += ["<p>Rounding all numbers:</p>", _table(("in Python", "command line", "variables", "rows"), sizes, 2)]
    if nearest.n_tried < nearest.n_groups and nearest.misses:
        parts.append(
            f'<p class="soft">{nearest.n_tried} of {nearest.n_groups} groups of numbers were tried; '
            "there was no time for the others.</p>"
        )
    return parts


def _classes(lifting: Lifting) -> list[str]:
    program = lifting.program
    lines = []
    for thing, partition, kept, name_of, families in (
        (
            "variables",
            lifting.variables,
            lifting.reduction.variables,
            program.name_of_variable,
            variable_families(program),
        ),
        ("rows", lifting.rows, lifting.reduction.rows, program.name_of_row, row_families(program)),
    ):
        sizes = partition.class_sizes
        for c in np.argsort(-sizes, kind="stable")[: LARGEST // 2].tolist():
            if sizes[c] > 1:
                members = kept[partition.members(c)]
                names = ", ".join(name_of(int(k)) for k in members[:MEMBERS])
                more = ", …" if members.size > MEMBERS else ""
                alike = _alike(lifting, thing, members, families)
                lines.append((f"{thing}: {names}{more}", alike, f"{members.size:,}"))
    if not lines:
        return ["<h2>Largest classes</h2>", "<p>No two variables or rows are equivalent.</p>"]
    return ["<h2>Largest classes</h2>", _table(("members", "what they share", "size"), lines, 1, is_stacked=True)]


def _alike(
    lifting: Lifting, thing: str, members: np.ndarray[tuple[int], np.dtype[np.int64]], families: Families
) -> str:
    """What the members of a class have in common, and whether they differ by a factor."""
    program = lifting.program
    blocks = np.unique(families.of[members])
    where = f"block {families.names[int(blocks[0])]}" if blocks.size == 1 else f"{blocks.size} blocks"
    first = int(members[0])
    if thing == "variables":
        numbers = np.stack([program.q[members], program.lb[members], program.ub[members]])
        if (numbers != numbers[:, :1]).any():
            return f"{where}; equal up to size, unit or sign"
        bounds = f"[{program.lb[first]:.6g}, {program.ub[first]:.6g}]"
        return f"{where}; cost {program.q[first]:.6g}, bounds {bounds}, equal columns"
    sides = np.stack([program.l[members], program.u[members]])
    if (sides == sides[:, :1]).all():
        return f"{where}; sides [{program.l[first]:.6g}, {program.u[first]:.6g}], equal sums over each class"
    return f"{where}; equal up to a factor"


def _pictures(lifting: Lifting) -> list[str]:
    program, small = lifting.program, lifting.small
    parts = ["<h2>Pictures</h2>", "<p>Classes of variables by their size:</p>"]
    parts += [histogram(lifting.variables.class_sizes), "<p>Classes of rows by their size:</p>"]
    parts += [histogram(lifting.rows.class_sizes)]
    before = pattern(program.A, lifting.class_of_row, lifting.class_of_variable, "rows before, ordered by class")
    after = pattern(small.A, np.arange(small.n_rows), np.arange(small.n_variables), "rows after")
    parts.append(f'<div class="pair">{before}{after}</div>')
    drawn = graph(program.A, lifting.class_of_row, lifting.class_of_variable)
    if drawn:
        parts += ["<p>Variables (circles) and rows (squares); equal colours are one class:</p>", drawn]
    return parts


def _times(result: Result) -> list[str]:
    total = sum(result.timings.values()) or 1.0
    lines = [(name, seconds / total, f"{seconds_text(seconds)} s") for name, seconds in result.timings.items()]
    return ["<h2>Time</h2>", bars(lines)]


def _again(lifting: Lifting, result: Result | None, command: str) -> list[str]:
    settings = lifting.settings
    words = f"relift.solve(program, lift={settings.lift!r}, values={settings.values!r}, digits={settings.digits!r})"
    versions = versions_for(result.backend if result is not None else "")
    lines = [*([f"$ {command}"] if command else []), f">>> {words}"]
    told = ", ".join(f"{name} {version}" for name, version in versions.items())
    return ["<h2>Again</h2>", f"<pre>{escape(chr(10).join(lines))}</pre>", f'<p class="soft">{escape(told)}</p>']


def short_page(result: Result) -> str:
    """What a notebook shows of an answer: how it ended, sizes and residuals, without a search for causes."""
    program, small = result.program, result.lifting.small
    kind = f"{'maximisation' if program.sense == 'max' else 'minimisation'} ({program.kind})"
    sizes = f"{program.n_variables:,} variables and {program.n_rows:,} rows"
    head = f"<p>A {kind} of {sizes}, solved as one of {small.n_variables:,} and {small.n_rows:,}.</p>"
    return f'<div class="relift"><style>{_SHORT_STYLE}</style>{head}{"".join(_answer(result)[1:])}</div>'


_SHORT_STYLE = (
    ".relift .bars{display:grid;grid-template-columns:max-content 1fr max-content;gap:.3rem .8rem;max-width:40rem}"
    ".relift .rail{position:relative;height:.9rem;background:#8883}"
    ".relift .rail i{display:block;height:100%;background:#2f6f8f}"
    ".relift .rail b{position:absolute;top:0;bottom:0;width:2px;background:#a33b20}"
)
