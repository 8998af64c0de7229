"""What an experiment is: settings, parts that can be run one by one, and a report made from their rows.

An experiment is an :class:`Experiment` of four functions::

    settings(request) -> {name: value}         everything that decides the rows, JSON-able, with checksums of data
    parts(setup)      -> [Part, ...]           independent pieces of work; none knows of another
    run(setup, part)  -> [{name: value}, ...]  the rows of one part, JSON-able
    report(setup, rows) -> Report              lines "paper | ours", tables, figures and text

The runner keeps the rows of each finished part in a file, so that an experiment that was stopped goes on where it was.
Rows are therefore all that a report may use, besides the data itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, final

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

Row: TypeAlias = dict[str, Any]
"""What JSON can hold, by name; each experiment knows of which types."""


@final
@dataclass(frozen=True)
class Request:
    """What a caller asks for.

    Parameters
    ----------
    quick
        A small version that ends within two minutes on two cores.
    seed
        Every random choice follows from it.
    data
        Files and folders that the caller names.
    overrides
        Settings that take the place of the usual ones, by name: for other sizes than full and quick, and for tests.
    """

    quick: bool = False
    seed: int = 0
    data: tuple[Path, ...] = ()
    overrides: Mapping[str, Any] = field(default_factory=dict)


@final
@dataclass(frozen=True)
class Setup:
    """What parts and reports are made from.

    Parameters
    ----------
    values
        The settings, JSON-able; parts made with others are not used again.
    request
        What was asked for.
    """

    values: Mapping[str, Any]
    request: Request

    @property
    def seed(self) -> int:
        """The seed that was asked for."""
        return self.request.seed

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


@final
@dataclass(frozen=True)
class Part:
    """One piece of work.

    Parameters
    ----------
    key
        Its name among the parts, of letters, digits, ``-``, ``_`` and ``.``; also the name of its file.
    label
        What the progress line says of it.
    values
        What tells it from the other parts, JSON-able; passed to ``run``.
    seconds
        About how long it takes on one core: the first guess at the time left, and the weight of the part in it.
    """

    key: str
    label: str
    values: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 1.0

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


@final
@dataclass(frozen=True)
class Comparison:
    """One line of the table "paper | ours | ratio"; the ratio is ours / paper.

    Parameters
    ----------
    what
        What was measured.
    paper
        What the paper prints: a number, a text, or None. For a text or 0 the last column says whether ours is the same.
    ours
        What was found here.
    unit
        Behind numbers, such as ``"s"``.
    digits
        Significant digits of the numbers.
    note
        A remark in a few words.
    """

    what: str
    paper: float | str | None
    ours: float | str | None
    unit: str = ""
    digits: int = 3
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours / paper, where both are numbers and the paper's is not zero."""
        if isinstance(self.paper, str) or isinstance(self.ours, str) or self.ours is None or not self.paper:
            return None
        return self.ours / self.paper

    def cells(self) -> tuple[str, str, str, str]:
        """The line as text: what, paper, ours, ratio.

        Examples
        --------
        >>> Comparison("SVM, 4 apart", 20.0, 5.0, "s").cells()
        ('SVM, 4 apart', '20 s', '5 s', '0.25')
        >>> Comparison("classes", "{1,3},{2,4}", "{1,3},{2,4}").cells()[3], Comparison("x", None, 1.0).cells()[1]
        ('same', '–')
        """
        if self.ratio is not None:
            ratio = f"{self.ratio:.3g}"
        elif self.ours is not None and (isinstance(self.paper, str) or self.paper == 0):
            ratio = "same" if self._text(self.paper) == self._text(self.ours) else "differs"
        else:
            ratio = "–"
        return self.what, self._text(self.paper), self._text(self.ours), ratio

    def _text(self, value: float | str | None) -> str:
        if value is None:
            return "–"
        if isinstance(value, str):
            return value
        return (
            f"{value:,.0f} {self.unit}".strip() if abs(value) >= 1e4 else f"{value:.{self.digits}g} {self.unit}".strip()
        )


@final
@dataclass(frozen=True)
class Table:
    """A table of a report, with cells ready to print.

    Parameters
    ----------
    title
        Above it.
    columns
        Headings.
    rows
        Cells as text. ``code`` and **strong** words may be marked as in Markdown.
    note
        Below it.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


@final
@dataclass(frozen=True)
class Figure:
    """A figure of a report.

    Parameters
    ----------
    name
        Of its files, without the ending.
    caption
        Below it; what one sees in it, so that it can be read without the figure.
    draw
        Makes the matplotlib figure; see :mod:`relift.paper.figures` for the common style.
    """

    name: str
    caption: str
    draw: Callable[[], Picture]


@final
@dataclass(frozen=True)
class Report:
    """What came out of an experiment.

    Parameters
    ----------
    comparisons
        The table "paper | ours | ratio".
    text
        Paragraphs that explain it; ``code`` and **strong** words may be marked as in Markdown.
    tables, figures
        Further ones.
    title, shows
        Take the place of the experiment's own where they depend on the data; empty to keep those.
    """

    comparisons: Sequence[Comparison]
    text: Sequence[str] = ()
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()
    title: str = ""
    shows: str = ""


@final
@dataclass(frozen=True)
class Experiment:
    """An experiment; see the head of this module for the four functions.

    Parameters
    ----------
    name
        What one types.
    title
        A short heading.
    shows
        What it shows, in one sentence.
    full_seconds, quick_seconds
        About how long the whole takes on one core.
    settings, parts, run, report
        The four functions.
    takes
        Whether it can use a file or folder given by ``--data``; None if it uses no data.
    data_help
        What ``--data`` may be, for messages; empty if it uses no data.
    revision
        Raised when the same settings give other rows than before: parts of an older one are not used again.
    """

    name: str
    title: str
    shows: str
    full_seconds: float
    quick_seconds: float
    settings: Callable[[Request], Row]
    parts: Callable[[Setup], Sequence[Part]]
    run: Callable[[Setup, Part], list[Row]]
    report: Callable[[Setup, list[Row]], Report]
    takes: Callable[[Path], bool] | None = None
    data_help: str = ""
    revision: int = 1
