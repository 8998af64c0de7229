"""``relift-highs`` is called as the executable of HiGHS is, also by the tools that start one."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import highspy
import numpy as np
import pytest
from tests.bridges.highs.models import random_model

import relift
from relift.cli.highs_command import run, words_of
from relift.errors import FileFormatError, OptionError, UnsupportedError
from relift.formats.solutions import read_solution

RING = relift.Program(
    q=np.ones(8), A=np.eye(8) + np.roll(np.eye(8), 1, axis=1), l=np.ones(8), lb=0, ub=1,
    variable_names=[f"shop{j}" for j in range(8)], row_names=[f"street{i}" for i in range(8)],
)  # fmt: skip

MAIN = [sys.executable, "-c", "from relift.cli.highs_command import main; main()"]


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    relift.write_program(RING, tmp_path / "ring.mps")
    return tmp_path / "ring.mps"


def test_the_solution_file_is_that_of_highs(ring: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = ring.with_suffix(".sol")
    assert run([str(ring), "--solution_file", str(path)]) == 0
    assert certify_file(path)
    lines = capfd.readouterr().out.splitlines()
    assert "Model status        : Optimal" in lines
    assert "Objective value     :  4.0000000000e+00" in lines
    assert "relift: Result(optimal, objective=4, 8 -> 1 variables, 8 -> 1 rows, backend=highs)" in lines


def certify_file(path: Path) -> bool:
    return relift.certify(RING, read_solution(path, RING)).is_optimal


def test_options_come_from_the_command_line_and_from_a_file_and_the_line_comes_first(ring: Path) -> None:
    path, options = ring.with_suffix(".sol"), ring.with_suffix(".opt")
    options.write_text(f"# comment\nsolution_file = {path}\nwrite_solution_style=1\ntime_limit = 3  # seconds\n")
    words = words_of(["--options_file", str(options), str(ring), "--time_limit=5", "--lift", "counting"])
    assert words.options["time_limit"] == "5"
    assert words.own == {"lift": "counting"}
    assert run(["--options_file", str(options), str(ring), "--log_to_console=false"]) == 0
    assert path.read_text().startswith("Columns\n    Index Status        Lower")


def test_the_log_file_ends_with_what_tools_look_for(ring: Path, capfd: pytest.CaptureFixture[str]) -> None:
    log = ring.with_suffix(".log")
    run([str(ring), "--log_file", str(log), "--log_to_console", "false"])
    assert "Model status        : Optimal\nObjective value     :  4.0" in log.read_text()
    assert "Model status" not in capfd.readouterr().out


@pytest.mark.parametrize(
    ("program", "status"),
    [
        (relift.Program(q=[1, 1], A=[[1, 1]], l=[3], lb=0, ub=1), "Infeasible"),
        (relift.Program(q=[-1, -1], A=[[1, -1]], u=[3], lb=0), "Unbounded"),
        (relift.Program(P=np.eye(2), q=[-1, -1], A=[[1, 1]], u=[1], lb=0), "Optimal"),
    ],
    ids=["infeasible", "unbounded", "QP"],
)
def test_every_verdict_is_written_and_ends_well(program: relift.Program, status: str, tmp_path: Path) -> None:
    relift.write_program(program, tmp_path / "m.mps")
    assert run([str(tmp_path / "m.mps"), "--solution_file", str(tmp_path / "m.sol"), "--output_flag=false"]) == 0
    assert (tmp_path / "m.sol").read_text().splitlines()[:2] == ["Model status", status]


@pytest.mark.parametrize("seed", [4, 7, 11, 30])
def test_files_of_random_models_hold_what_highs_writes_into_them(seed: int, tmp_path: Path) -> None:
    program = random_model(seed).replace(P=None)
    relift.write_program(program, tmp_path / "m.mps")
    h = highspy.Highs()
    h.silent()
    h.readModel(str(tmp_path / "m.mps"))
    h.run()
    h.writeSolution(str(tmp_path / "theirs.sol"), 0)
    run([str(tmp_path / "m.mps"), "--solution_file", str(tmp_path / "ours.sol"), "--output_flag=false"])
    theirs, ours = (Path(tmp_path / name).read_text().splitlines() for name in ("theirs.sol", "ours.sol"))
    assert ours[1] == theirs[1]
    if theirs[1] == "Optimal":
        point = [float(line.split()[1]) for line in ours[7 : 7 + program.n_variables]]
        assert point == pytest.approx(
            [float(line.split()[1]) for line in theirs[7 : 7 + program.n_variables]], abs=1e-5
        )


def test_a_basis_file_is_that_of_a_vertex(ring: Path) -> None:
    path = ring.with_suffix(".bas")
    assert run([str(ring), "--write_basis_file", str(path), "--output_flag=false"]) == 0
    assert path.read_text().startswith("HiGHS_basis_file v2\nValid\n")


def test_the_model_is_written_where_the_options_say_so(ring: Path) -> None:
    path = ring.with_name("again.mps")
    assert run([str(ring), "--write_model_file", str(path), "--output_flag=false"]) == 0
    assert relift.read_program(path) == relift.read_program(ring)


def test_integer_models_are_refused_or_passed_whole(tmp_path: Path) -> None:
    (tmp_path / "m.lp").write_text("max\n 3 x + 2 y + 2 z\nst\n 2 x + 1.5 y + 1.5 z <= 3.2\nbinary\n x y z\nend\n")
    with pytest.raises(UnsupportedError, match="3 integer or semi-continuous variables, the first is 'x'"):
        run([str(tmp_path / "m.lp"), "--output_flag=false"])
    path = tmp_path / "m.sol"
    assert run([str(tmp_path / "m.lp"), "--integers=pass", "--solution_file", str(path), "--output_flag=false"]) == 0
    assert "Objective 4\n" in path.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--time_limit", "5"], "the model is missing. Write: relift-highs MODEL [--solution_file FILE]."),
        (["a.mps", "b.mps"], "two models are given, 'a.mps' and 'b.mps'. Give one."),
        (["a.mps", "--time_limit"], "--time_limit has no value. Write --time_limit VALUE or --time_limit=VALUE."),
        (["a.mps", "-s", "ipm"], "'-s' is not an option. Options are written --name VALUE or --name=VALUE."),
        (["a.mps", "--digits", "few"], "--digits 'few' is not a number."),
        (["a.mps", "--vertex", "maybe"], "--vertex 'maybe' is neither true nor false."),
    ],
)
def test_wrong_words_are_refused(words: list[str], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        words_of(words)
    assert str(caught.value) == message


def test_wrong_options_are_refused_before_the_model_is_read() -> None:
    with pytest.raises(OptionError, match="neither relift nor HiGHS has an option 'presolv'"):
        run(["none.mps", "--presolv", "off", "--output_flag=false"])
    with pytest.raises(OptionError, match="HiGHS does not take presolve = 'maybe'"):
        run(["none.mps", "--presolve", "maybe", "--output_flag=false"])
    with pytest.raises(OptionError, match=r"write_solution_style 2 is not written\. Choose 0"):
        run(["none.mps", "--solution_file=x.sol", "--write_solution_style=2", "--output_flag=false"])


def test_the_process_says_one_sentence_and_ends_as_highs_does(tmp_path: Path) -> None:
    (tmp_path / "broken.mps").write_text("ROWS\n what is this\n")
    (tmp_path / "ranges.lp").write_text("min\n x + y\nst\n c: 1 <= x + y <= 2\nend\n")
    (tmp_path / "whole.lp").write_text("max\n x\nst\n 2 x <= 3\ngeneral\n x\nend\n")
    for words, said in (
        ([str(tmp_path / "none.mps")], "none.mps: No such file or directory."),
        ([str(tmp_path / "broken.mps")], "as a model. relift's reader says: "),
        ([str(tmp_path / "ranges.lp")], "as a model. relift's reader takes it: relift solve "),
        ([str(tmp_path / "whole.lp")], "--integers pass passes the whole model to HiGHS, without lifting."),
        ([str(tmp_path / "ranges.lp"), "--solution_file", "none/x.sol"], "none/x.sol: No such file or directory."),
        ([str(tmp_path / "broken.mps"), "--lifd", "x"], "neither relift nor HiGHS has an option 'lifd'."),
    ):
        command = [*MAIN, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 255
        assert said in done.stderr
        assert done.stderr.startswith("relift-highs: ")
        assert "getOptionIndex" not in done.stdout
        assert "Traceback" not in done.stderr


def test_the_model_is_not_written_over(ring: Path) -> None:
    before = ring.read_bytes()
    for name in ("solution_file", "write_basis_file", "write_model_file", "log_file"):
        with pytest.raises(OptionError, match=rf"--{name} would overwrite .*ring\.mps, which this command reads"):
            run([str(ring), f"--{name}", str(ring)])
    with pytest.raises(OptionError, match=r"--write_model_file would overwrite .*x\.mps, which --solution_file writes"):
        run([str(ring), "--solution_file", str(ring.with_name("x.mps")), "--write_model_file", f"{ring.parent}/x.mps"])
    assert ring.read_bytes() == before


def test_an_options_file_in_another_encoding_is_told(ring: Path) -> None:
    options = ring.with_suffix(".opt")
    options.write_bytes(b"presolve = off # caf\xe9\n")
    with pytest.raises(FileFormatError, match=r"ring\.opt is not UTF-8 text\. Save it as UTF-8\."):
        words_of([str(ring), "--options_file", str(options)])


@pytest.mark.parametrize(
    ("to", "code", "said"), [(">&-", 0, ""), ("| head -c 1", 0, ""), ("> /dev/full", 255, "No space left")]
)
def test_output_that_nobody_takes_is_told_or_dropped(to: str, code: int, said: str, ring: Path) -> None:
    if "/dev/full" in to and not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    solution = ring.with_suffix(".sol")
    words = shlex.join([*MAIN, str(ring), "--solution_file", str(solution)])
    ended = ring.with_suffix(".code")
    command = f"{{ {words}; echo $? > {shlex.quote(str(ended))}; }} {to}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=600)
    assert int(ended.read_text()) == code
    assert "Traceback" not in done.stderr
    assert said in done.stderr
    if code == 0:
        assert done.stderr == ""
        assert certify_file(solution)


@pytest.mark.parametrize("to", ["| cat", "> all.txt; cat all.txt"])
@pytest.mark.parametrize("stream", ["/dev/stdout", "/dev/fd/1"])
def test_the_solution_may_go_to_stdout(to: str, stream: str, ring: Path) -> None:
    if not Path("/dev/fd").exists():
        pytest.skip("no /dev/fd here")
    words = shlex.join([*MAIN, str(ring), "--solution_file", stream])
    done = subprocess.run(
        ["sh", "-c", f"{words} {to}"], capture_output=True, text=True, check=False, timeout=600, cwd=ring.parent
    )
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    places = [lines.index(line) for line in ("# Columns 8", "# Rows 8", "Objective value     :  4.0000000000e+00")]
    assert places == sorted(places)
    assert lines[0].startswith("Running HiGHS")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--help"], "usage: relift-highs"),
        (["model.mps", "-h"], "usage: relift-highs"),
        (["--version"], "with HiGHS 1."),
    ],
)
def test_help_and_version_are_printed(words: list[str], said: str) -> None:
    done = subprocess.run([*MAIN, *words], capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
    assert said in done.stdout


def test_pulp_starts_it_as_it_starts_highs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pulp = pytest.importorskip("pulp")
    monkeypatch.chdir(tmp_path)
    command = tmp_path / "relift-highs"
    words = [sys.executable, "-c", "from relift.cli.highs_command import main; main()"]
    command.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')  # whatever is in the path of Python
    command.chmod(0o755)
    for need, status in ((3, "Optimal"), (90, "Infeasible")):
        problem = pulp.LpProblem("staff", pulp.LpMinimize)
        x = [problem.add_variable(f"x{i}", 0, 4) for i in range(10)]
        problem += pulp.lpSum(x)
        for i in range(10):
            problem += x[i] + x[i - 1] >= need
        problem.solve(pulp.HiGHS_CMD(path=str(command), msg=False, options=["--lift=equitable"]))
        assert pulp.LpStatus[problem.status] == status
        if status == "Optimal":
            assert pulp.value(problem.objective) == pytest.approx(15.0)
