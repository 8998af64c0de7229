"""Any pair of LINQS files: found, read with what does not fit counted, and run with words from the data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="experiments need scikit-learn")
pytest.importorskip("matplotlib", reason="experiments need matplotlib")

from tests.data import data_folder
from tests.paper.networks import write_cora_like

from relift.cli.run import run
from relift.errors import DataError
from relift.paper.framework import Request
from relift.paper.network_data import find_network, is_network, read_network
from relift.paper.registry import get_experiment
from relift.paper.results import write_results
from relift.paper.runner import make_plan, run_plan

SMALL = {"shares": [0.4, 0.8], "splits": 1, "c1": [0.1], "ratio": [1.0], "nu": [0.3], "tc_nu": [0.3], "tc_ratio": [1.0]}


def write_university(folder: Path, name: str, n_pages: int = 60) -> None:
    """Pages known by address, as WebKB has them, with links that lead nowhere, to themselves, and twice."""
    random = np.random.default_rng(len(name))
    folder.mkdir(parents=True, exist_ok=True)
    kinds = random.choice(["course", "faculty", "student"], n_pages, p=[0.2, 0.2, 0.6])
    words = random.random((n_pages, 12)) < np.where(kinds == "student", 0.5, 0.2)[:, None]
    pages = [f"http://www.{name}.edu/~p{k}/index.html" for k in range(n_pages)]
    lines = [
        "\t".join([page, *map(str, row.astype(int)), kind]) for page, row, kind in zip(pages, words, kinds, strict=True)
    ]
    (folder / f"{name}.content").write_text("\n".join(lines) + "\n")
    links = [f"{pages[i]} {pages[(i * 7 + 1) % n_pages]}" for i in range(n_pages) if (i * 7 + 1) % n_pages != i]
    links += [f"{pages[0]} http://elsewhere.edu/", f"{pages[3]} {pages[3]}", links[0]]
    (folder / f"{name}.cites").write_text("\n".join(links) + "\n")


def test_links_that_do_not_fit_are_counted_and_dropped(tmp_path: Path) -> None:
    write_university(tmp_path, "cornell")
    found = read_network(find_network(tmp_path))
    assert (found.n_dangling, found.n_loops, found.n_doubles) == (1, 1, 1)
    assert len(found.network.links) == found.n_lines - 3
    assert found.subject == "student"
    assert found.note.endswith(
        "1 name an example that has no content, 1 lead from an example to itself, 1 occur a second time: "
        "these were dropped."
    )


def test_one_of_several_networks_is_named_by_its_file(tmp_path: Path) -> None:
    for name in ("cornell", "texas"):
        write_university(tmp_path, name)
    assert is_network(tmp_path)
    with pytest.raises(DataError, match=r"holds several networks: cornell, texas. Name one of them: --data .*cornell"):
        find_network(tmp_path)
    assert find_network(tmp_path / "texas.content").name == "texas"
    (tmp_path / "alone.content").write_text("")
    with pytest.raises(DataError, match="is not one of a pair of files"):
        find_network(tmp_path / "alone.content")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a\tinf\tx", "mine.content, line 2: attributes that are not finite"),
        ("a\tb\tx", "mine.content, line 2: attributes that are not numbers"),
        ("a\t1\t2\tx", "mine.content, line 2: 2 attributes, not 1"),
        ("p\t1\tx", "mine.content, line 2: no example, attributes and subject, or an example a second time"),
        ("a\t1\tu", "mine.content has one subject only, u"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "mine.content").write_text(f"p\t0.5\tu\n{line}\n")
    (tmp_path / "mine.cites").write_text("")
    with pytest.raises(DataError, match=message):
        read_network(find_network(tmp_path))


def test_real_numbers_are_attributes_not_words(tmp_path: Path) -> None:
    (tmp_path / "mine.content").write_text("p\t0.5\tu\nq\t2\tv\n")
    (tmp_path / "mine.cites").write_text("p\tq\n")
    found = read_network(find_network(tmp_path))
    assert not found.is_binary
    assert found.network.attributes.toarray().tolist() == [[0.5], [2.0]]


def test_citeseer_is_read_as_it_is() -> None:
    found = read_network(find_network(data_folder("citeseer")))
    assert (len(found.network), found.network.attributes.shape[1], found.n_subjects, found.n_lines) == (
        3312, 3703, 6, 4732,
    )  # fmt: skip
    assert (found.n_dangling, found.n_loops) == (17, 124)


def test_the_page_takes_its_words_from_the_data(tmp_path: Path) -> None:
    write_university(tmp_path / "data", "cornell")
    experiment = get_experiment("network")
    outcome = run_plan(make_plan(experiment, Request(False, 0, (tmp_path / "data",), SMALL), tmp_path))
    report = experiment.report(outcome.setup, outcome.rows)
    assert report.title == "Relational classification on cornell"
    assert report.text[0].startswith("cornell has 60 examples, 12 words and")
    changes = sum(row["label_changes"] for row in outcome.rows)
    assert ("changes no label" in report.shows) == (changes == 0)
    least = min(r["lifted_rows"] / r["ground_rows"] for r in outcome.rows if r["learner"].startswith("TC-"))
    assert f"with them {least:.0%} to" in report.figures[0].caption
    page = write_results(experiment, outcome, report, tmp_path).page.read_text()
    assert "<title>Relational classification on cornell" in page
    assert "Cora has" not in page


def test_wrong_usage_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "network", "--out", str(tmp_path)]) != 0
    assert "this experiment needs data of yours. Give it by --data: a folder with one pair" in capsys.readouterr().err
    write_cora_like(tmp_path / "data")
    assert is_network(tmp_path / "data")
    assert run(["reproduce", "network", "--data", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert "network cannot use" in capsys.readouterr().err
