"""The experiment on Cora with any other network of the same form: ``relift reproduce network --data DIR``.

CiteSeer, the universities of WebKB and others come as a pair of files (:mod:`relift.paper.network_data`).
Learners, protocol and grid are those of :mod:`relift.paper.cora`; the page takes its words from the data.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from relift.errors import DataError
from relift.paper import cora
from relift.paper.framework import Comparison, Experiment, Part, Report, Request, Row, Setup
from relift.paper.network_data import DATA_HELP, ReadNetwork, find_network, is_network, read_network
from relift.paper.svm_learners import TC_QP_SVM
from relift.paper.svm_protocol import Grid, learner_row, make_split
from relift.paper.svm_report import (
    accuracy_table,
    check_table,
    fold_table,
    learner_figures,
    order_comparisons,
    rows_left,
    size_table,
    time_comparisons,
    time_table,
    values_of,
    variables_left,
)


@lru_cache(maxsize=1)
def _read(path: Path, checksums: tuple[str, ...]) -> ReadNetwork:
    return read_network(find_network(path))


def network_of(setup: Setup) -> ReadNetwork:
    """The data of a setup; read once."""
    return _read(setup.request.data[0], tuple(setup["data"].values()))


def settings(request: Request) -> Row:
    """Those of Cora, for the files that are given."""
    if not request.data:
        raise DataError("this experiment needs data of yours.", f"Give it by --data: {DATA_HELP}.")
    files = find_network(request.data[0])
    grid = cora.grid_settings(quick=request.quick)
    return {"name": files.name, "data": files.checksums(), **grid, "formulations": False}


def parts(setup: Setup) -> list[Part]:
    """One for each share, split and family of programs."""
    return cora.parts(setup)


def run(setup: Setup, part: Part) -> list[Row]:
    """Choose prices and fit, for both learners of a family."""
    network = network_of(setup).network
    split = make_split(len(network), part["share"], [setup.seed, part["split"], round(1000 * part["share"])])
    where = {"share": part["share"], "split": part["split"]}
    grid = Grid.from_settings(setup.values)
    return [
        {"kind": "learner", **where, **learner_row(network, learner, split, grid, compare=True)}
        for learner in cora.FAMILIES[part["family"]]
    ]


def report(setup: Setup, rows: list[Row]) -> Report:
    """What the paper measures on Cora, for these data."""
    found, share = network_of(setup), max(setup["shares"])
    left = [float(np.mean(values_of(rows, TC_QP_SVM.name, share, value))) for value in (variables_left, rows_left)]
    where = f"TC-QP-SVM, {share:.0%} labelled"
    lines = [
        Comparison(f"{where}: variables left", None, 100 * left[0], "%"),
        Comparison(f"{where}: constraints left", None, 100 * left[1], "%"),
        *order_comparisons(rows, is_papers=False),
        *time_comparisons(rows, share),
    ]
    changes = sum(row["label_changes"] for row in rows)
    kept = "changes no label" if not changes else f"changes {changes:,} labels"
    name = setup["name"]
    return Report(
        lines,
        _text(found, name, setup),
        [accuracy_table(rows), fold_table(rows), size_table(rows), time_table(rows), check_table(rows)],
        learner_figures(rows),
        title=f"Relational classification on {name}",
        shows=f"Four support vector machines over {_things(found)}: lifting leaves {left[1]:.0%} of the constraints of "
        f"TC-QP-SVM with {share:.0%} of the labels given, and {kept}.",
    )


def _things(found: ReadNetwork) -> str:
    words = "words" if found.is_binary else "attributes"
    return f"{len(found.network):,} examples, {found.network.attributes.shape[1]:,} {words} and " + (
        f"{len(found.network.links):,} links"
    )


def _text(found: ReadNetwork, name: str, setup: Setup) -> list[str]:
    positive = int((found.network.labels == 1).sum())
    grid = Grid.from_settings(setup.values)
    sizes = ", ".join(
        f"{len(grid.points(learner))} for {learner.name}" for pair in cora.FAMILIES.values() for learner in pair
    )
    return [
        f"{name} has {_things(found)}, of {found.n_subjects} subjects; the task is the largest, {found.subject} "
        f"({positive:,} examples), against the rest. {found.note}".strip(),
        f"Learners and protocol are those of the experiment `cora`: L, a share of the examples, is labelled and split "
        f"in half into A and C, C into five parts; prices are chosen by the mean error on the parts of C, and the "
        f"final fit is given all of L. {setup['splits']} random "
        f"{'split' if setup['splits'] == 1 else 'splits'}; points of the grid: {sizes}. The grid was chosen for Cora.",
    ]


EXPERIMENT = Experiment(
    name="network",
    title="Relational classification on a network of yours",
    shows="The experiment on Cora with any pair of LINQS files, such as CiteSeer or WebKB.",
    full_seconds=800,
    quick_seconds=60,
    settings=settings,
    parts=parts,
    run=run,
    report=report,
    takes=is_network,
    data_help=DATA_HELP,
)
