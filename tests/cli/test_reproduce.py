"""``relift reproduce`` as users run it: the list, errors in one sentence, files, Ctrl-C and going on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sklearn", reason="experiments need scikit-learn")
pytest.importorskip("matplotlib", reason="experiments need matplotlib")

from tests.cli.test_commands import environment, error_of
from tests.waiting import wait_until

from relift.cli.run import run
from relift.paper.registry import NAMES


def test_without_a_name_the_experiments_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce"]) == 0
    shown = capsys.readouterr().out
    for name in (*NAMES, "all"):
        assert f" {name} " in shown
    assert "--quick" in shown


def test_an_unknown_name_is_told_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "gausians"]) == 2
    assert error_of(capsys) == "there is no experiment 'gausians'. Did you mean 'gaussians'?"
    assert run(["reproduce", "xyz"]) == 2
    assert error_of(capsys).startswith("there is no experiment 'xyz'. There are example, gaussians")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["example", "--data", "."], "the experiment 'example' takes no data. Remove --data."),
        (["shapes", "--data", "nowhere.ply"], "nowhere.ply: no such file or folder."),
        (["all", "--data", "nowhere.ply"], "nowhere.ply: no such file or folder."),
        (["example", "--out", "file"], "file: it is a file, not a folder."),
        (["shapes", "--data", "file"], "shapes cannot use file. It takes point sets"),
        (["all", "--data", "file"], "no experiment can use file. What they take: "),
    ],
)
def test_wrong_usage_is_one_sentence(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    assert run(["reproduce", *words]) == 2
    assert error_of(capsys).startswith(message)


def test_a_damaged_scan_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.ply").write_text("ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nend_header\n1\n2\n")
    assert run(["reproduce", "shapes", "--quick", "--data", f"{tmp_path}/bad.ply", "--out", str(tmp_path), "-q"]) == 2
    assert error_of(capsys) == f"{tmp_path}/bad.ply: vertices have no property y. They have x."


@pytest.mark.parametrize("missing", ["sklearn", "matplotlib"])
def test_a_missing_package_is_told_before_any_work(missing: str) -> None:
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "from relift.cli.run import run\nsys.exit(run(['reproduce', 'example']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=False)
    package = {"sklearn": "scikit-learn", "matplotlib": "matplotlib"}[missing]
    wanted = f'relift: reproducing the paper needs {package}. Install with: pip install "relift[ml,plot]"\n'
    assert (done.returncode, done.stdout, done.stderr) == (2, "", wanted)


def test_the_example_prints_its_table_and_writes_its_files(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "example", "--out", str(tmp_path / "deep" / "out"), "--seed", "4"]) == 0
    output, errors = capfd.readouterr()
    for shown in ("paper", "ours", "ratio", "value of x'Qx at (2,1,1,2)", "{1,3} {2,4}", "example.html"):
        assert shown in output
    assert "expect about" in errors
    assert "part 1 of 4" in errors
    folder = tmp_path / "deep" / "out" / "example"
    assert {"example.json", "example.csv", "rows.csv", "example.html", "geometry.png", "geometry.svg"} <= {
        path.name for path in folder.iterdir()
    }
    assert json.loads((folder / "example.json").read_text())["seed"] == 4
    assert run(["reproduce", "example", "--out", str(tmp_path / "deep" / "out"), "--seed", "4"]) == 0
    assert "4 parts, 4 of them finished before." in capfd.readouterr().err
    assert f"Page: {folder / 'example.html'}\n" in output  # however long the path is
    victim = next((folder / "parts").glob("geometry*"))
    victim.write_text("{")
    assert run(["reproduce", "example", "--out", str(tmp_path / "deep" / "out"), "--seed", "4"]) == 0
    errors = capfd.readouterr().err
    assert f"{victim} is damaged (it is not JSON) and is done anew." in errors
    assert "3 of them finished before" in errors


def test_quiet_says_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "example", "--out", str(tmp_path), "-q"]) == 0
    assert capfd.readouterr() == ("", "")


def test_ctrl_c_keeps_finished_parts_and_the_same_command_goes_on(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "relift", "reproduce", "theorems", "--out", str(tmp_path)]
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(), start_new_session=True
    )
    folder = tmp_path / "theorems" / "parts"
    assert wait_until(lambda: process.poll() is not None or len(list(folder.glob("*.json"))) >= 2)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 130
    assert output == ""
    assert f"finished parts are kept in {folder}; the same command goes on from there." in errors
    assert "Traceback" not in errors
    kept = {path.name: path.read_bytes() for path in folder.glob("*.json")}
    assert 2 <= len(kept) < 12
    again = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment())
    assert again.stderr is not None
    first = again.stderr.readline()
    again.kill()
    again.communicate()
    assert f"12 parts, {len(kept)} of them finished before" in first
    assert all((folder / name).read_bytes() == content for name, content in kept.items())


def test_all_goes_on_after_a_failure_tells_it_and_writes_one_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("relift.paper.registry.NAMES", ("shapes", "example"))
    bad = tmp_path / "bad.obj"
    bad.write_text("v 1 2\n")
    assert run(["reproduce", "all", "--quick", "--data", str(bad), "--out", str(tmp_path / "out")]) == 6
    output, errors = capfd.readouterr()
    assert f"relift: shapes: {bad}:1: 'v 1 2' has no three coordinates." in errors
    assert errors.endswith("relift: not done: shapes.\n")
    assert "The running example" in output
    page = (tmp_path / "out" / "all.html").read_text()
    assert page.count("<section") == 1
    assert 'id="example"' in page
