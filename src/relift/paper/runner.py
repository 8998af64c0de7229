"""Run the parts of an experiment one after the other, keep each, and tell how far it is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import final

from threadpoolctl import threadpool_limits

from relift.errors import OptionError
from relift.paper.framework import Experiment, Part, Request, Row, Setup
from relift.paper.stored_parts import (
    DamagedPartError,
    StoredPart,
    canonical,
    fingerprint,
    part_path,
    read_part,
    write_part,
)


@final
@dataclass(frozen=True)
class Told:
    """What the runner tells while it runs.

    Parameters
    ----------
    done, total
        Parts.
    label
        The part that runs now; empty at the end.
    share
        Share of the work that is done, by expected time.
    seconds_left
        What is still to be expected.
    """

    done: int
    total: int
    label: str
    share: float
    seconds_left: float


@final
@dataclass(frozen=True)
class Plan:
    """An experiment with its settings, its parts and what is already done.

    Parameters
    ----------
    experiment, setup, parts
        What is to be run.
    marks
        Fingerprint of each part.
    finished
        Parts that are kept from before, by key.
    folder
        Where parts are kept.
    remarks
        Damaged files that were found.
    """

    experiment: Experiment
    setup: Setup
    parts: tuple[Part, ...]
    marks: tuple[str, ...]
    finished: dict[str, StoredPart]
    folder: Path
    remarks: tuple[str, ...] = ()

    @property
    def seconds_to_go(self) -> float:
        """What the parts that are not finished should take."""
        return sum(part.seconds for part in self.parts if part.key not in self.finished)


@final
@dataclass(frozen=True)
class Outcome:
    """All rows of an experiment.

    Parameters
    ----------
    setup
        What they were made from.
    rows
        In the order of the parts.
    seconds
        Wall-clock time of all parts, also of those kept from before.
    n_parts
        How many parts there are.
    """

    setup: Setup
    rows: list[Row]
    seconds: float
    n_parts: int


def make_setup(experiment: Experiment, request: Request) -> Setup:
    """Settle all settings of an experiment.

    Parameters
    ----------
    experiment
        The experiment.
    request
        What is asked for.

    Raises
    ------
    OptionError
        If data is of no use to the experiment, or a setting is overridden that it does not have.
    """
    check_data(experiment, request.data)
    values = experiment.settings(request)
    unknown = [name for name in request.overrides if name not in values]
    if unknown:
        raise OptionError(
            f"the experiment {experiment.name!r} has no setting {unknown[0]!r}.", f"It has {', '.join(values)}."
        )
    return Setup({**values, **request.overrides}, request)


def check_data(experiment: Experiment, data: Sequence[Path]) -> None:
    """Refuse files and folders that an experiment cannot use.

    Parameters
    ----------
    experiment
        The experiment.
    data
        What was given.

    Raises
    ------
    OptionError
        For data given to an experiment that takes none, or of another kind.
    FileNotFoundError
        If one is not there.
    """
    if data and experiment.takes is None:
        raise OptionError(f"the experiment {experiment.name!r} takes no data.", "Remove --data.")
    for path in data:
        if not path.exists():
            raise FileNotFoundError(2, "No such file or directory", str(path))
        if experiment.takes is not None and not experiment.takes(path):
            raise OptionError(f"{experiment.name} cannot use {path}.", f"It takes {experiment.data_help}.")


def make_plan(experiment: Experiment, request: Request, out: Path, *, fresh: bool = False) -> Plan:
    """Settle what is to be run, and find what is already done.

    Parameters
    ----------
    experiment
        The experiment.
    request
        What is asked for.
    out
        Results are kept in ``out/NAME``.
    fresh
        Do everything anew.
    """
    setup = make_setup(experiment, request)
    parts = tuple(experiment.parts(setup))
    keys = [part.key for part in parts]
    if len(set(keys)) != len(keys) or not all(re.fullmatch(r"[\w.-]+", key) for key in keys):
        raise ValueError(f"keys of parts of {experiment.name} are doubled or no file names: {keys}")
    folder = out / experiment.name / "parts"
    folder.mkdir(parents=True, exist_ok=True)
    marks = tuple(fingerprint(experiment, setup, part) for part in parts)
    finished: dict[str, StoredPart] = {}
    remarks = []
    for part, mark in zip(parts, marks, strict=True):
        path = part_path(folder, part, mark)
        try:
            stored = None if fresh else read_part(path, mark)
        except DamagedPartError as error:
            remarks.append(f"{path} is damaged ({error}) and is done anew.")
            continue
        if stored is not None:
            finished[part.key] = stored
    return Plan(experiment, setup, parts, marks, finished, folder, tuple(remarks))


def run_plan(plan: Plan, tell: Callable[[Told], None] | None = None) -> Outcome:
    """Run what is not finished; numerical libraries work in one thread, so that seconds can be compared.

    Parameters
    ----------
    plan
        From :func:`make_plan`.
    tell
        Told before each part and at the end.
    """
    finished = dict(plan.finished)
    expected = sum(part.seconds for part in plan.parts) or 1.0
    done_expected = sum(part.seconds for part in plan.parts if part.key in finished)
    spent = spent_expected = 0.0

    def say(label: str) -> None:
        if tell is not None:
            # The first guess counts as much as one part of what was measured: a lone first part does not swing it.
            guess = plan.seconds_to_go / max(1, len(plan.parts) - len(plan.finished))
            pace = (spent + guess) / (spent_expected + guess) if guess else 1.0
            left = (expected - done_expected - spent_expected) * pace
            share = (done_expected + spent_expected) / expected
            tell(Told(len(finished), len(plan.parts), label, share, max(0.0, left)))

    with threadpool_limits(1):
        for part, mark in zip(plan.parts, plan.marks, strict=True):
            if part.key in finished:
                continue
            say(part.label)
            start = perf_counter()
            rows = plan.experiment.run(plan.setup, part)
            seconds = perf_counter() - start
            stored = StoredPart(json.loads(canonical(rows)), seconds)  # as they will be read when resumed
            write_part(part_path(plan.folder, part, mark), mark, part, stored)
            finished[part.key] = stored
            spent += seconds
            spent_expected += part.seconds
    say("")
    in_order = [finished[part.key] for part in plan.parts]
    rows = [row for stored in in_order for row in stored.rows]
    total = sum(stored.seconds for stored in in_order)
    return Outcome(plan.setup, rows, total, len(plan.parts))
