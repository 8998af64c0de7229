"""``relift reproduce NAME``: run an experiment of the paper, print its table beside the paper's, write its files."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from relift.cli.exit_codes import EXIT_FAILURE, CommandExit
from relift.cli.options import QuietOption
from relift.cli.words import Argument, Option
from relift.cli.work import console, prints_on_stderr, run_in_thread
from relift.errors import OptionError, ReliftError

if TYPE_CHECKING:
    from rich.table import Table

    from relift.paper.framework import Experiment, Report, Request
    from relift.paper.results import Written
    from relift.paper.runner import Outcome, Plan, Told

T = TypeVar("T")


def reproduce_command(
    name: Annotated[str | None, Argument(metavar="NAME", help="The experiment, or all; none lists them.")] = None,
    quick: Annotated[bool, Option("--quick", help="A smaller version that ends within two minutes.")] = False,
    out: Annotated[Path, Option("--out", "-o", help="Folder for all files.", metavar="DIR")] = Path("results"),
    data: Annotated[
        list[Path] | None,
        Option("--data", "-d", help="File or folder that the experiment reads; repeatable.", metavar="PATH"),
    ] = None,
    seed: Annotated[int, Option("--seed", help="Every random choice follows from it.", min=0)] = 0,
    fresh: Annotated[bool, Option("--fresh", help="Repeat finished parts.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Run an experiment of the paper again and compare; stopped and started again, it goes on where it was."""
    from relift.paper.framework import Request
    from relift.paper.registry import FURTHER, NAMES, check_packages, get_experiment

    if name is not None and name != "all" and name not in (*NAMES, *FURTHER):
        get_experiment(name)  # says what there is
    check_packages()
    if name is None:
        _list()
        return
    if out.exists() and not out.is_dir():
        raise NotADirectoryError(20, "it is a file, not a folder", str(out))
    given = tuple(data or ())
    if name != "all":
        _reproduce(get_experiment(name), Request(quick, seed, given), out, fresh, quiet)
        return
    experiments = [get_experiment(each) for each in NAMES]
    requests = [
        Request(quick, seed, tuple(path for path in given if each.takes is not None and each.takes(path)))
        for each in experiments
    ]
    _refuse_unused(given, experiments, requests)
    _reproduce_all(experiments, requests, out, fresh, quiet)


def _refuse_unused(given: tuple[Path, ...], experiments: list[Experiment], requests: list[Request]) -> None:
    for path in given:
        if not path.exists():
            raise FileNotFoundError(2, "No such file or directory", str(path))
        if not any(path in request.data for request in requests):
            wanted = "; ".join(f"{each.name}: {each.data_help}" for each in experiments if each.takes is not None)
            raise OptionError(f"no experiment can use {path}.", f"What they take: {wanted}.")


def _reproduce_all(experiments: list[Experiment], requests: list[Request], out: Path, fresh: bool, quiet: bool) -> None:
    from relift.paper.results import write_common_page

    written, failed = [], []
    for experiment, request in zip(experiments, requests, strict=True):
        try:
            written.append(_reproduce(experiment, request, out, fresh, quiet))
        except (ReliftError, OSError) as error:  # the others do not depend on it
            failed.append(experiment.name)
            _say(f"{experiment.name}: {error}")
    if written:
        page = write_common_page(written, out)
        if not quiet:
            console().print(f"all on one page: {page}", soft_wrap=True)
    if failed:
        _say(f"not done: {', '.join(failed)}.")
        raise CommandExit(EXIT_FAILURE)


def _reproduce(experiment: Experiment, request: Request, out: Path, fresh: bool, quiet: bool) -> Written:
    from relift.paper.results import write_results
    from relift.paper.runner import make_plan, run_plan

    def job(tell: Callable[[Told], None]) -> tuple[Outcome, Report, Written]:
        outcome = run_plan(plan, tell)
        report = experiment.report(outcome.setup, outcome.rows)
        return outcome, report, write_results(experiment, outcome, report, out)

    plan = make_plan(experiment, request, out, fresh=fresh)
    if not quiet:
        _announce(plan)
    try:
        with prints_on_stderr():
            outcome, report, written = _run_shown(job, experiment.name, quiet)
    except KeyboardInterrupt:
        _say(f"finished parts are kept in {plan.folder}; the same command goes on from there.")
        raise
    if not quiet:
        _print(experiment, outcome, report, written)
    return written


def _announce(plan: Plan) -> None:
    for remark in plan.remarks:
        _say(remark)
    kept = f", {len(plan.finished)} of them finished before" if plan.finished else ""
    unfinished = len(plan.parts) - len(plan.finished)
    expected = f"; expect about {duration(plan.seconds_to_go)} on one core" if unfinished else ""
    quick = " (quick)" if plan.setup.request.quick else ""
    _say(f"{plan.experiment.name}{quick}: {len(plan.parts)} parts{kept}{expected}.")


def _print(experiment: Experiment, outcome: Outcome, report: Report, written: Written) -> None:
    screen = console()
    title = report.title or experiment.title
    title = f"{title} (quick)" if outcome.setup.request.quick else title
    if report.comparisons:
        notes = any(line.note for line in report.comparisons)
        columns = ["", "paper", "ours", "ratio", *(["remark"] if notes else [])]
        rows = [[*line.cells(), *([line.note] if notes else [])] for line in report.comparisons]
        screen.print(_rich_table(title, columns, rows, right=("paper", "ours", "ratio")))
    for table in report.tables:
        screen.print()
        screen.print(_rich_table(table.title, list(table.columns), table.rows))
        if table.note:
            screen.print(_plain(table.note))
    screen.print()
    for paragraph in report.text:
        screen.print(_plain(paragraph))
    screen.print(f"\n{outcome.n_parts} parts in {duration(outcome.seconds)}. Page: {written.page}", soft_wrap=True)


def _rich_table(title: str, columns: list[str], rows: Iterable[Sequence[str]], right: tuple[str, ...] = ()) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title), box=SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(_plain(cell)) for cell in row))
    return table


def _plain(text: str) -> str:
    return text.replace("**", "").replace("`", "")


def _list() -> None:
    from relift.paper.registry import FURTHER, NAMES, get_experiment

    experiments = [get_experiment(name) for name in NAMES]
    rows = [[each.name, each.shows, duration(each.full_seconds), duration(each.quick_seconds)] for each in experiments]
    full, quick = (sum(getattr(each, f"{kind}_seconds") for each in experiments) for kind in ("full", "quick"))
    rows.append(["all", "All of them, and one page with everything.", duration(full), duration(quick)])
    further = [get_experiment(name) for name in FURTHER]
    rows += [[each.name, each.shows, duration(each.full_seconds), duration(each.quick_seconds)] for each in further]
    screen = console()
    screen.print(_rich_table("relift reproduce NAME", ["NAME", "what it shows", "takes about", "--quick"], rows))
    for each in [*experiments, *further]:
        if each.data_help:
            screen.print(f"--data for {each.name}: {each.data_help}.")


def duration(seconds: float) -> str:
    """Say how long, for people.

    Examples
    --------
    >>> [duration(seconds) for seconds in (0.2, 42, 100, 1500, 9000)]
    ['1 second', '42 seconds', '2 minutes', '25 minutes', '2.5 hours']
    """
    if seconds < 90:
        whole = max(1, round(seconds))
        return f"{whole} second{'s' if whole > 1 else ''}"
    if seconds < 5400:
        return f"{round(seconds / 60)} minutes"
    return f"{seconds / 3600:.1f} hours"


def _say(message: str) -> None:
    with contextlib.suppress(OSError):
        print(f"relift: {message}", file=sys.stderr, flush=True)


def _run_shown(job: Callable[[Callable[[Told], None]], T], name: str, quiet: bool) -> T:
    """Run a job beside the main thread, which stays free for Ctrl-C, and show how far it is."""
    told: list[Told] = []
    return run_in_thread(lambda: job(told.append), _display(told, name, quiet), seconds=0.2)


@contextlib.contextmanager
def _display(told: list[Told], name: str, quiet: bool) -> Iterator[Callable[[], None]]:
    """Show all that was told, and once more when the work is over."""
    with _progress(name, quiet) as show:
        yield lambda: show(told)
        show(told)


@contextlib.contextmanager
def _progress(name: str, quiet: bool) -> Iterator[Callable[[list[Told]], None]]:
    """A bar on a terminal; elsewhere one line for each part, with the time left."""
    if quiet:
        yield lambda told: None
    elif sys.stderr.isatty():
        with _bar(name) as show:
            yield show
    else:
        shown = [0]

        def lines(told: list[Told]) -> None:
            for event in told[shown[0] :]:
                shown[0] += 1
                if event.label:
                    left = duration(event.seconds_left)
                    _say(f"{name}: part {event.done + 1} of {event.total}, {event.label}; about {left} left.")

        yield lines


@contextlib.contextmanager
def _bar(name: str) -> Iterator[Callable[[list[Told]], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.fields[name]}", markup=False),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[done]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}", markup=False),
    )
    screen = Console(stderr=True, highlight=False, markup=False)
    with Progress(*columns, console=screen, transient=True, refresh_per_second=4) as progress:
        task = progress.add_task("", total=1.0, name=name, done="", left="")
        since = [time.perf_counter(), 0.0]

        def show(told: list[Told]) -> None:
            if not told:
                return
            event = told[-1]
            if since[1] != len(told):
                since[:] = [time.perf_counter(), len(told)]
            if not event.label:
                progress.update(task, completed=1.0, done="drawing", left="")
                return
            # Between two events the time left runs down with the clock, but not below what other parts will take.
            left = max(event.seconds_left - (time.perf_counter() - since[0]), 1.0)
            done = f"part {event.done + 1} of {event.total}: {event.label}"
            progress.update(task, completed=event.share, done=done, left=f"about {duration(left)} left")

        yield show
