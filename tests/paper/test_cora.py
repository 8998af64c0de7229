"""Cora: reading, downloading, and the experiment on a small network and on the real one."""

from __future__ import annotations

import hashlib
import io
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="experiments need scikit-learn")
pytest.importorskip("matplotlib", reason="experiments need matplotlib")

from tests.data import data_folder
from tests.paper.networks import write_cora_like

from relift.errors import DataError
from relift.paper.cora_data import CHECKSUMS, cora_checksums, download_cora, find_cora, is_cora_folder, read_cora
from relift.paper.framework import Request
from relift.paper.registry import get_experiment
from relift.paper.results import write_results
from relift.paper.runner import make_plan, run_plan
from relift.paper.svm_learners import TC_QP_SVM
from relift.paper.svm_protocol import compare_fits, make_split

SMALL = {
    "shares": [0.4, 0.8], "splits": 2, "c1": [0.1, 1.0], "ratio": [0.5, 1.0], "nu": [0.3], "tc_nu": [0.3],
    "tc_ratio": [1.0],
    "formulations": True,
}  # fmt: skip


@pytest.mark.parametrize("packed", [False, True])
def test_files_are_read_and_the_largest_subject_is_label_1(tmp_path: Path, packed: bool) -> None:
    write_cora_like(tmp_path, packed=packed)
    assert is_cora_folder(tmp_path)
    network, largest = read_cora(tmp_path)
    assert largest == "Nets"
    assert len(network) == 60
    assert network.attributes.shape == (60, 25)
    assert set(network.labels) == {-1, 1}
    cited, citing = (tmp_path / "cora.cites").read_text().splitlines()[0].split()
    assert [f"p{k}" for k in network.links[0]] == [citing, cited]


@pytest.mark.parametrize(
    ("file", "line", "text", "message"),
    [
        ("cora.content", 3, "p2\t1\t0", "cora.content, line 3: 1 attributes, not 25"),
        ("cora.content", 1, "p0\tx\t0\tNets", "cora.content, line 1: attributes that are not numbers"),
        ("cora.content", 2, "alone", "cora.content, line 2: no example, attributes and subject"),
        (
            "cora.content",
            2,
            "p0" + "\t1" * 25 + "\tNets",
            "line 2: no example, attributes and subject, or an example a second time",
        ),
        ("cora.cites", 5, "p1\tnobody", "cora.cites, line 5: not the names of two examples"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, file: str, line: int, text: str, message: str) -> None:
    write_cora_like(tmp_path)
    lines = (tmp_path / file).read_text().splitlines()
    lines[line - 1] = text
    (tmp_path / file).write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match=message):
        read_cora(tmp_path)


def test_damaged_files_are_named(tmp_path: Path) -> None:
    write_cora_like(tmp_path, packed=True)
    packed = tmp_path / "cora.content.gz"
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"cora.content.gz cannot be unpacked"):
        read_cora(tmp_path)
    (tmp_path / "cora.content").write_bytes(b"\xff\xfe\t1\tNets\n")
    with pytest.raises(DataError, match=r"cora.content is not UTF-8 text"):
        read_cora(tmp_path)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """A server for the files under tmp_path/site."""
    (tmp_path / "site").mkdir()
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "site"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{found.server_address[1]}"
        found.shutdown()


def put_archive(tmp_path: Path, names: tuple[str, ...] = ("cora.content", "cora.cites")) -> dict[str, str]:
    """An archive as the real one is packed, and the checksums of its files."""
    write_cora_like(tmp_path / "files")
    with tarfile.open(tmp_path / "site" / "cora.tgz", "w:gz") as archive:
        for name in ("README", *names):
            content = b"read me" if name == "README" else (tmp_path / "files" / name).read_bytes()
            member = tarfile.TarInfo(f"cora/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return {name: hashlib.sha256((tmp_path / "files" / name).read_bytes()).hexdigest() for name in CHECKSUMS}


def test_a_download_is_checked_and_kept(tmp_path: Path, server: str) -> None:
    checksums = put_archive(tmp_path)
    folder = download_cora(tmp_path / "kept", f"{server}/cora.tgz", checksums)
    assert sorted(path.name for path in folder.iterdir()) == ["cora.cites", "cora.content"]
    assert cora_checksums(folder) == checksums


def test_a_download_with_another_checksum_is_refused(tmp_path: Path, server: str) -> None:
    put_archive(tmp_path)
    with pytest.raises(DataError, match=r"cora.content from .* has another checksum .* by --data"):
        download_cora(tmp_path / "kept", f"{server}/cora.tgz")
    assert not (tmp_path / "kept").exists()


def test_what_is_no_such_archive_is_refused(tmp_path: Path, server: str) -> None:
    checksums = put_archive(tmp_path, ("cora.content",))
    with pytest.raises(DataError, match=r"holds no cora.cites"):
        download_cora(tmp_path / "kept", f"{server}/cora.tgz", checksums)
    (tmp_path / "site" / "page.html").write_text("<html>moved</html>")
    with pytest.raises(DataError, match=r"sends no archive that can be read"):
        download_cora(tmp_path / "kept", f"{server}/page.html", checksums)
    with pytest.raises(DataError, match=r"could not be downloaded .*404.* by --data"):
        download_cora(tmp_path / "kept", f"{server}/nothing.tgz", checksums)


def test_without_a_network_the_message_names_data(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"could not be downloaded from .* Give the data by --data: a folder with"):
        download_cora(tmp_path, "http://127.0.0.1:1/cora.tgz", timeout=5)


def test_an_earlier_download_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    write_cora_like(tmp_path / "relift" / "cora")
    assert find_cora(()) == tmp_path / "relift" / "cora"
    assert find_cora((Path("mine"),)) == Path("mine")


def test_the_experiment_on_a_small_network(tmp_path: Path) -> None:
    write_cora_like(tmp_path / "data")
    experiment = get_experiment("cora")
    request = Request(False, 0, (tmp_path / "data",), SMALL)
    outcome = run_plan(make_plan(experiment, request, tmp_path))
    fits = [row for row in outcome.rows if row["kind"] == "learner"]
    assert len(fits) == 2 * 2 * 4
    assert sum(row["label_changes"] for row in fits) == 0
    assert all(row["search_label_changes"] == 0 for row in fits if row["search_label_changes"] is not None)
    tried = [row for row in outcome.rows if row["kind"] == "formulation"]
    values = [row[f"{side}_objective"] for row in tried for side in ("ground", "lifted")]
    assert values == pytest.approx([values[0]] * 6, rel=1e-3)
    report = experiment.report(outcome.setup, outcome.rows)
    assert any("checksums differ" in paragraph for paragraph in report.text)
    assert report.comparisons[2].cells()[1:] == ("0", "0", "same")
    written = write_results(experiment, outcome, report, tmp_path)
    assert {path.name for path in written.folder.glob("*.svg")} == {"compression.svg", "accuracy.svg", "seconds.svg"}
    again = make_plan(experiment, request, tmp_path)
    assert len(again.finished) == len(again.parts)


def test_tc_qp_svm_on_the_real_network_keeps_all_labels() -> None:
    folder = data_folder("cora")
    assert cora_checksums(folder) == CHECKSUMS
    network, largest = read_cora(folder)
    assert (largest, len(network), int((network.labels == 1).sum()), len(network.links)) == (
        "Neural_Networks", 2708, 818, 5429,
    )  # fmt: skip
    row = compare_fits(network, TC_QP_SVM, make_split(len(network), 0.2, [0]), (1.0, 0.1))
    assert row["label_changes"] == 0
    assert np.max([row["ground_residual"], row["lifted_residual"]]) < 1e-6
    assert row["lifted_objective"] == pytest.approx(row["ground_objective"], rel=1e-6)
    assert 0.78 < row["lifted_variables"] / row["ground_variables"] < 0.88
    assert 0.68 < row["lifted_rows"] / row["ground_rows"] < 0.80
    assert row["lifted_accuracy"] > 0.84
