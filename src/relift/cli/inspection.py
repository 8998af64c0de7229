"""What a model is made of: kinds of rows and variables, ranges of numbers, classes by each method."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from relift.arrays import Flags
from relift.cli.options import LiftChoice, ValuesChoice, lift_options
from relift.cli.work import lift_model, run_beside
from relift.errors import ReliftError
from relift.formats.solutions import number_for_json, sizes_of

if TYPE_CHECKING:
    from rich.console import Console

    from relift.lifting.lifting import Lifting
    from relift.pipeline import LiftOptions
    from relift.program.program import Program
    from relift.settings import LiftMethod

METHODS: dict[LiftChoice, LiftMethod] = {
    LiftChoice.equitable: "equitable", LiftChoice.counting: "counting", LiftChoice.orbits: "orbits",
}  # fmt: skip
"""What is looked for, in this order."""

ORBITS_LIMIT = 20_000
"""Orbits are only looked for unasked up to this many variables and rows."""


class FoundClasses(TypedDict, total=False):
    """What one method finds, or why it finds nothing."""

    variables: int
    rows: int
    seconds: float
    message: str


class LargeClass(TypedDict):
    """A class, and some of its members."""

    size: int
    members: list[str]


class Miss(TypedDict):
    """Numbers that keep variables apart, and the sizes if they were equal."""

    cause: str
    variables: int
    rows: int
    spread: float | str | None
    digits: int | None
    example: str
    advice: str


class Nearest(TypedDict):
    """What keeps variables apart."""

    verdict: str
    misses: list[Miss]
    rounded: dict[str, dict[str, int]]
    groups: int
    tried: int


class Misses(TypedDict, total=False):
    """What is only looked for when it is asked for."""

    nearest: Nearest


class Inspection(Misses):
    """What ``relift inspect --json`` prints."""

    format: str
    version: int
    kind: str
    sense: str
    sizes: dict[str, int]
    rows: dict[str, int]
    variables: dict[str, int]
    convexity: str
    ranges: dict[str, list[float]]
    classes: dict[str, FoundClasses]
    largest_classes: dict[str, list[LargeClass]]
    timings: dict[str, float]


def inspection(
    program: Program,
    values: ValuesChoice,
    digits: int | None,
    no_reduce: bool,
    no_scale_rows: bool,
    no_sizes: bool,
    no_signs: bool,
    quiet: bool,
    nearest: bool = False,
) -> Inspection:
    """Find out what a model is made of, in the layout of ``relift inspect --json``.

    Parameters
    ----------
    program
        The model.
    values, digits, no_reduce, no_scale_rows, no_sizes, no_signs
        How classes are looked for.
    quiet
        Show no progress.
    nearest
        Also look for the numbers that keep variables apart.
    """

    def count(mask: Flags) -> int:
        return int(np.count_nonzero(mask))

    l, u, lb, ub = program.l, program.u, program.lb, program.ub
    ranges: dict[str, list[float]] = {}
    finite = np.concatenate([vector[np.isfinite(vector)] for vector in (l, u, lb, ub)])
    parts = (
        ("A", program.A.data),
        ("P", () if program.P is None else program.P.data),
        ("q", program.q),
        ("bounds", finite),
    )
    for name, data in parts:
        sizes = np.abs(np.asarray(data, dtype=np.float64))
        sizes = sizes[sizes > 0]
        if sizes.size:
            ranges[name] = [float(sizes.min()), float(sizes.max())]
    classes: dict[str, FoundClasses] = {}
    by_default = lift_options(
        LiftChoice.equitable, values, digits, no_reduce, no_scale_rows, no_sizes, no_signs
    )  # fmt: skip
    largest: dict[str, list[LargeClass]] = {"variables": [], "rows": []}
    for method in METHODS:
        if method == LiftChoice.orbits and program.n_variables + program.n_rows > ORBITS_LIMIT:
            classes[method] = {"message": "not looked for: the model is large; try `relift lift --lift orbits`"}
            continue
        words: LiftOptions = {**by_default, "lift": METHODS[method]}
        start = time.perf_counter()
        try:
            lifting = lift_model(program, words, quiet)
        except ReliftError as error:
            classes[method] = {"message": str(error)}
            continue
        seconds = time.perf_counter() - start
        classes[method] = {
            "variables": lifting.variables.n_classes,
            "rows": lifting.rows.n_classes,
            "seconds": seconds,
        }
        if method == LiftChoice.equitable:
            largest = _largest_classes(program, lifting)
    misses: Misses = {}
    if nearest:
        misses["nearest"] = _nearest(program, by_default, quiet)
    return {
        "format": "relift-inspect",
        "version": 1,
        "kind": program.kind,
        "sense": program.sense,
        "sizes": sizes_of(program),
        "rows": {
            "equalities": count(l == u),
            "one_sided": count(np.isfinite(l) != np.isfinite(u)),
            "two_sided": count(np.isfinite(l) & np.isfinite(u) & (l != u)),
            "free": count(np.isinf(l) & np.isinf(u)),
        },
        "variables": {
            "fixed": count(lb == ub),
            "one_sided": count(np.isfinite(lb) != np.isfinite(ub)),
            "boxed": count(np.isfinite(lb) & np.isfinite(ub) & (lb != ub)),
            "free": count(np.isinf(lb) & np.isinf(ub)),
        },
        "convexity": "linear" if program.is_linear else "convex (checked)",
        "ranges": ranges,
        "classes": {str(name): found for name, found in classes.items()},
        "largest_classes": largest,
        **misses,
        "timings": {},
    }


def _nearest(program: Program, words: LiftOptions, quiet: bool) -> Nearest:
    from relift.report.nearest_misses import nearest_misses
    from relift.settings import LiftSettings

    settings = LiftSettings(**words)
    found = run_beside(lambda _: nearest_misses(program, settings), quiet, "looking for what keeps variables apart")
    return {
        "verdict": found.verdict,
        "misses": [
            {
                "cause": miss.cause,
                "variables": miss.variables,
                "rows": miss.rows,
                "spread": number_for_json(miss.spread),
                "digits": miss.digits,
                "example": miss.example,
                "advice": miss.advice,
            }
            for miss in found.misses
        ],
        "rounded": {str(k): {"variables": size[0], "rows": size[1]} for k, size in found.rounded.items()},
        "groups": found.n_groups,
        "tried": found.n_tried,
    }


def _largest_classes(
    program: Program, lifting: Lifting, n_classes: int = 5, n_members: int = 4
) -> dict[str, list[LargeClass]]:
    found: dict[str, list[LargeClass]] = {}
    for thing, partition, kept, name_of in (
        ("variables", lifting.variables, lifting.kept_variables, program.name_of_variable),
        ("rows", lifting.rows, lifting.kept_rows, program.name_of_row),
    ):
        sizes = partition.class_sizes
        order = np.argsort(-sizes, kind="stable")[:n_classes]
        found[thing] = [
            {
                "size": int(sizes[c]),
                "members": [name_of(int(kept[k])) for k in partition.members(int(c))[:n_members]],
            }
            for c in order
            if sizes[c] > 1
        ]
    return found


def show_inspection(console: Console, program: Program, document: Inspection) -> None:
    """Print what :func:`inspection` found.

    Parameters
    ----------
    console
        Where to.
    program
        The model.
    document
        What was found.
    """
    from rich.table import Table
    from rich.text import Text

    from relift.report.summary import key_value_table, seconds_text

    kinds = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in document["rows"].items() if count)
    bounds = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in document["variables"].items() if count)
    lines = [
        ("model", f"{program.kind}, {'minimise' if program.sense == 'min' else 'maximise'}"),
        ("variables", f"{program.n_variables:,}" + (f" ({bounds})" if bounds else "")),
        ("rows", f"{program.n_rows:,}" + (f" ({kinds})" if kinds else "")),
        *([("cones", f"{len(program.conic):,}")] if len(program.conic) else []),
        ("nonzeros", f"{program.n_nonzeros:,}"),
        ("convexity", document["convexity"]),
    ]
    lines += [
        (f"|{name}|", f"{low:.3g} to {high:.3g}" if low != high else f"{low:.3g}")
        for name, (low, high) in document["ranges"].items()
    ]
    console.print(key_value_table(lines))
    table = Table(box=None, pad_edge=False, title_justify="left", padding=(0, 2, 0, 0))
    for heading in ("classes by", "variables", "rows", "seconds"):
        table.add_column(heading, justify="left" if heading == "classes by" else "right", header_style="cyan")
    for name, found in document["classes"].items():
        if "message" in found:
            table.add_row(name, Text(found["message"]), "", "")
        else:
            table.add_row(name, f"{found['variables']:,}", f"{found['rows']:,}", seconds_text(found["seconds"]))
    console.print()
    console.print(table)
    for thing in ("variables", "rows"):
        largest = document["largest_classes"][thing]
        if largest:
            console.print(f"\nlargest classes of {thing} (equitable):")
        for large in largest:
            more = ", ..." if large["size"] > len(large["members"]) else ""
            console.print(f"  {large['size']:,}: {', '.join(large['members'])}{more}", soft_wrap=False)
    if "nearest" in document:
        console.print(f"\n{document['nearest']['verdict']}", soft_wrap=True)
        for miss in document["nearest"]["misses"]:
            size = f"{miss['variables']:,} variables, {miss['rows']:,} rows"
            console.print(f"  if {miss['cause']} were equal: {size}. {miss['advice']}", soft_wrap=True)
            if miss["example"]:
                console.print(f"    {miss['example']}", soft_wrap=True)
