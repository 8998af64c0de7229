"""The command line, run as users run it: exit codes, one sentence for each error, nothing but the answer on stdout."""

from __future__ import annotations

import gzip
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import relift
from relift import Program, read_program, write_program
from relift.cli.run import run

TRIANGLE = Program(q=[1, 1, 1], A=[[1, 1, 0], [0, 1, 1], [1, 0, 1]], l=[1, 1, 1], lb=0, variable_names=["a", "b", "c"])
INFEASIBLE = Program(q=[1, 1], A=[[1, 1]], l=[3], lb=0, ub=1)
UNBOUNDED = Program(q=[-1, -1], A=[[1, -1]], u=[3], lb=0)


def relift_process(*words: object, cwd: Path | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run ``python -m relift`` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "relift", *map(str, words)],
        capture_output=True, text=True, timeout=600, cwd=cwd, env=environment(), check=False, **options,
    )  # fmt: skip


def environment() -> dict[str, str]:
    source = str(Path(relift.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")]), "COLUMNS": "80"}


@pytest.fixture
def triangle(tmp_path: Path) -> Path:
    write_program(TRIANGLE, tmp_path / "triangle.mps")
    return tmp_path / "triangle.mps"


def error_of(capsys: pytest.CaptureFixture[str]) -> str:
    """What was said on stderr: one line that begins with the name of the program, and nothing on stdout."""
    output, errors = capsys.readouterr()
    assert output == ""
    assert errors.startswith("relift: ")
    assert errors.count("\n") == 1
    return errors.removeprefix("relift: ").rstrip("\n")


# --- in processes of their own --------------------------------------------------------------------------------------


def test_a_model_alone_is_solved(triangle: Path) -> None:
    done = relift_process(triangle)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("optimal  objective 1.5  by highs")
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize(("program", "code"), [(INFEASIBLE, 3), (UNBOUNDED, 4)], ids=["infeasible", "unbounded"])
def test_the_exit_code_tells_how_it_ended(program: Program, code: int, tmp_path: Path) -> None:
    write_program(program, tmp_path / "m.mps")
    done = relift_process("solve", tmp_path / "m.mps")
    assert (done.returncode, done.stderr) == (code, "")
    assert "passed" in done.stdout


def test_help_imports_nothing_heavy() -> None:
    heavy = "{'numpy', 'scipy', 'highspy', 'clarabel', 'duckdb', 'lark', 'sqlglot'} & set(sys.modules)"
    code = f"import sys; from relift.cli.run import run; run(['--help']); print(sorted({heavy}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=True)
    assert "inspect" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def long_model() -> Program:
    """The bound of a binary code of length 11 and distance 5: without lifting, HiGHS needs much longer than we wait."""
    words = np.arange(2**11)
    ones = np.array([word.bit_count() for word in words.tolist()])
    near = ones[words[:, None] ^ words[None, :]] <= 2
    return Program(q=-np.ones(2**11), A=sparse.csc_array(near.astype(float)), u=1.0, lb=0)


def test_ctrl_c_during_a_solve_ends_with_one_line_and_code_130(tmp_path: Path) -> None:
    model = tmp_path / "long.mps"
    write_program(long_model(), model)
    process = subprocess.Popen(
        [sys.executable, "-m", "relift", str(model), "--verbose", "--lift", "none", "-o", str(tmp_path / "s.json")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(), start_new_session=True,
    )  # fmt: skip
    assert process.stderr is not None
    assert any("HiGHS" in line for line in process.stderr), "no solver began"
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=300)
    assert (process.returncode, output) == (130, "")
    # The log of the solver may go on for a moment, and have begun a line.
    assert sum(line.endswith("relift: interrupted.") for line in errors.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["long.mps"]


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    n = 20_000
    write_program(Program(q=np.arange(1.0, n + 1), lb=1.0), tmp_path / "m.npz")
    words = f"{shlex.join([sys.executable, '-m', 'relift', str(tmp_path / 'm.npz'), '--json'])} | head -c 10"
    done = subprocess.run(
        ["bash", "-c", words], capture_output=True, text=True, env=environment(), timeout=600, check=True
    )
    assert (done.stdout, done.stderr) == ('{"format":', "")


def test_json_on_stdout_is_the_only_thing_even_when_the_solver_talks(triangle: Path) -> None:
    done = relift_process(triangle, "--json", "--verbose")
    assert json.loads(done.stdout)["objective"] == pytest.approx(1.5)
    assert "HiGHS" in done.stderr


def test_a_folder_without_permission_is_found_out_before_the_work(triangle: Path, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    assert relift_process(triangle, "-o", tmp_path / "s.json").returncode == 2


# --- in this process -----------------------------------------------------------------------------------------------


def test_solve_lift_expand_and_check_fit_together(
    triangle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small, answer, expanded = tmp_path / "small.mps", tmp_path / "small.json", tmp_path / "full.txt"
    assert run(["lift", str(triangle), "-o", str(small), "--map", str(tmp_path / "map.json")]) == 0
    assert read_program(small).variable_names == ["a"]
    assert run(["solve", str(small), "-o", str(answer), "--quiet"]) == 0
    assert run(["expand", str(triangle), str(answer), "-o", str(expanded)]) == 0
    assert run(["check", str(triangle), str(expanded)]) == 0
    output, errors = capsys.readouterr()
    assert errors == ""
    assert output.splitlines()[-1] == "optimal within the tolerance, objective 1.5"
    assert json.loads((tmp_path / "map.json").read_text())["variables"]["class"] == [0, 0, 0]
    expanded.unlink()
    assert run(["expand", str(tmp_path / "map.json"), str(answer), "-o", str(expanded), "-q"]) == 0
    assert run(["check", str(triangle), str(expanded), "-q"]) == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["lift", "a.mps", "-o", "a.mps"], "--output would overwrite a.mps, which this command reads."),
        (["lift", "a.mps", "-o", "./link.mps"], "--output would overwrite a.mps, which this command reads."),
        (["lift", "link.mps", "-o", "a.mps"], "--output would overwrite link.mps, which this command reads."),
        (["lift", "a.mps", "-o", "a.mps", "--map", "m.json"], "--output would overwrite a.mps, which this command"),
        (["lift", "a.mps", "--map", "a.mps"], "a.mps: the file extension is unknown. Expected one of: .json."),
        (["expand", "a.mps", "s.json", "-o", "s.json"], "--output would overwrite s.json, which this command reads."),
        (["p.json", "-o", "p.json"], "--output would overwrite p.json, which this command reads."),
    ],
)
def test_no_command_writes_over_what_it_reads(
    words: list[str], sentence: str, triangle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(triangle.parent)
    Path("a.mps").write_bytes(triangle.read_bytes())
    Path("link.mps").symlink_to("a.mps")
    Path("s.json").write_text("{}")
    Path("p.json").write_text("{}")
    assert run(words) == 2
    assert error_of(capsys).startswith(sentence)
    assert Path("a.mps").read_bytes() == triangle.read_bytes()
    assert Path("s.json").read_text() == Path("p.json").read_text() == "{}"


def test_a_map_that_does_not_fit_is_refused(triangle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    map_file, answer = tmp_path / "map.json", tmp_path / "s.json"
    assert run(["lift", str(triangle), "--map", str(map_file), "--lift", "none", "-q"]) == 0
    assert run(["solve", str(triangle), "-o", str(answer), "-q"]) == 0
    assert run(["expand", str(map_file), str(answer), "-q"]) == 0
    write_program(Program(q=[1, 2], lb=0), triangle)
    assert run(["expand", str(map_file), str(answer)]) == 2
    assert error_of(capsys) == f"{map_file} was made from another model, or by another version. Run relift lift again."
    assert run(["expand", str(answer), str(answer)]) == 2
    assert error_of(capsys).startswith(f"{answer} is not a map of a small model")
    triangle.unlink()
    assert run(["expand", str(map_file), str(answer)]) == 2
    assert error_of(capsys) == f"{triangle.resolve()}: no such file or folder."


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"format": "relift-solution"}, "another format or version"),
        ({"version": "1"}, "'version' is '1'"),
        ({"settings": {"method ": "orbits"}}, "'settings' has an unknown entry 'method '"),
        ({"settings": {"method": "orbit"}}, "lift='orbit' is not valid. Expected one of"),
        ({"settings": {"reduce": "no"}}, "'reduce' is 'no'"),
        ({"settings": None}, "'settings' is None"),
        ({"relax_integers": 1}, "'relax_integers' is 1"),
        ({"model": 5}, "'model' is 5"),
        ({"variables": {}}, "there is no entry 'class'"),
        ({"rows": {"class": [0, "1"]}}, "a class of 'rows' is '1'"),
    ],
)
def test_a_damaged_map_says_what_is_wrong(
    change: dict[str, Any], why: str, triangle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    map_file = tmp_path / "map.json"
    assert run(["lift", str(triangle), "--map", str(map_file), "-q"]) == 0
    document = json.loads(map_file.read_text(encoding="utf-8")) | change
    map_file.write_text(json.dumps(document), encoding="utf-8")
    assert run(["expand", str(map_file), str(map_file)]) == 2
    assert error_of(capsys).startswith(f"{map_file} is not a map of a small model ({why}")


@pytest.mark.parametrize("suffix", [".mps", ".lp", ".npz", ".mps.gz"])
def test_the_small_model_of_a_maximisation_with_odd_names_comes_back(suffix: str, tmp_path: Path) -> None:
    names = ["a", "two words", "free", "x[1]", "fixed"]
    program = Program(
        P=-np.eye(5), q=[2, 2, 3, 3, 1], A=[[1, 1, 0, 0, 1], [0, 0, 1, 1, 0]], u=[2, 5], lb=[0, 0, 0, 0, 0.5],
        ub=[9, 9, 9, 9, 0.5], r=7, sense="max", variable_names=names, row_names=["first row", "2"],
    )  # fmt: skip
    model, small = tmp_path / "m.npz", tmp_path / f"small{suffix}"
    write_program(program, model)
    assert run(["lift", str(model), "-o", str(small), "-q"]) == 0
    assert read_program(small).n_variables == 2
    for answer in (tmp_path / "small.json", tmp_path / "small.txt"):
        assert run(["solve", str(small), "-o", str(answer), "-q"]) == 0
        assert run(["expand", str(model), str(answer), "-o", str(tmp_path / "full.json"), "-q"]) == 0
        assert run(["check", str(model), str(tmp_path / "full.json"), "-q"]) == 0
        objective = json.loads((tmp_path / "full.json").read_text())["objective"]
        assert objective == pytest.approx(relift.solve(program, lift="none").objective, abs=1e-5)


def test_a_wrong_solution_fails_its_check(triangle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.json"
    for solution, message in (
        ({"x": [0, 0, 0], "y": [0, 0, 0], "w": [0, 0, 0]}, "the point breaks rows or bounds"),
        (
            {"x": [1, 1, 1], "y": [0, 0, 0], "w": [0, 0, 0]},
            "the point is feasible, but the dual values do not prove it optimal",
        ),
        ({"x": [0.5, 0.5, 0.5]}, "the point is feasible; optimality needs dual values, and the file has none"),
        ({"x": [1, 1, 1], "ray_y": [1, 1, 1], "status": "infeasible"}, "the ray does not prove infeasibility"),
        ({"x": [1, 1, 1], "ray_x": [1, 1, 1], "status": "unbounded"}, "point and ray do not prove unboundedness"),
    ):
        path.write_text(json.dumps(solution))
        assert run(["check", str(triangle), str(path)]) == 6
        assert capsys.readouterr().out.splitlines()[-1] == message
        assert run(["check", str(triangle), str(path), "--json"]) == 6
        document = json.loads(capsys.readouterr().out)
        assert (document["format"], document["passed"], document["message"]) == ("relift-check", False, message)


def test_dual_values_of_bounds_may_be_left_out(triangle: Path, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(json.dumps({"x": [0.5, 0.5, 0.5], "y": [-0.5, -0.5, -0.5]}))
    assert run(["check", str(triangle), str(tmp_path / "s.json")]) == 0


@pytest.mark.parametrize("program", [INFEASIBLE, UNBOUNDED], ids=["infeasible", "unbounded"])
@pytest.mark.parametrize("suffix", [".json", ".txt"])
def test_proofs_pass_their_check(program: Program, suffix: str, tmp_path: Path) -> None:
    model, solution = tmp_path / "m.mps", tmp_path / f"s{suffix}"
    write_program(program, model)
    assert run(["solve", str(model), "-q", "-o", str(solution)]) in {3, 4}
    assert run(["check", str(model), str(solution), "-q"]) == 0


def test_json_of_solve_has_the_schema_of_solutions(
    triangle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([str(triangle), "--json", "--compare", "-o", str(tmp_path / "s.json")]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["format"], document["version"]) == ("relift-solution", 1)
    assert document["variable_names"] == ["a", "b", "c"]
    assert document["comparison"]["status"] == "optimal"
    assert document["comparison"]["speed_up"] > 0
    assert "read" in document["timings"]
    written = json.loads((tmp_path / "s.json").read_text())
    assert written == {key: value for key, value in document.items() if key != "comparison"}


def test_quiet_says_nothing(triangle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", str(triangle), "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "words",
    [
        ["--lift", "counting"], ["--lift", "none", "--no-reduce"], ["--values", "bits"], ["--digits", "8"],
        ["--approximate", "1e-3"],
        ["--no-scale-rows"],
        ["--backend", "clarabel"], ["--threads", "1"], ["--vertex"], ["--time-limit", "100"], ["--tol", "1e-5"],
        ["--backend", "highs", "--backend-option", "presolve=off", "--backend-option", "random_seed=3"],
    ],
)  # fmt: skip
def test_options_of_solve_are_taken(words: list[str], triangle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", str(triangle), *words]) == 0
    assert "objective 1.5" in capsys.readouterr().out


def test_limits_have_their_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    write_program(Program(q=-rng.random(30), A=rng.random((20, 30)), u=np.ones(20), lb=0), tmp_path / "m.npz")
    words = ["solve", str(tmp_path / "m.npz"), "--backend", "highs", "--backend-option", "presolve=off"]
    assert run([*words, "--iteration-limit", "1"]) == 5
    assert run([*words, "--time-limit", "1e-9"]) == 5
    assert "time limit" in capsys.readouterr().out


def test_an_answer_that_fails_its_check_is_a_failure(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    write_program(Program(q=-rng.random(30), A=rng.random((20, 30)), u=np.ones(20), lb=0), tmp_path / "m.npz")
    pytest.importorskip("scs")
    assert run(["solve", str(tmp_path / "m.npz"), "--backend", "scs", "--tol", "1e-15", "--time-limit", "5", "-q"]) in {
        5,
        6,
    }


def test_inspect_shows_classes_with_names(triangle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", str(triangle)]) == 0
    output = capsys.readouterr().out
    assert "LP, minimise" in output
    assert "3 (3 one sided)" in output
    assert "  3: a, b, c\n" in output
    assert run(["inspect", str(triangle), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["format"], document["version"], document["kind"]) == ("relift-inspect", 1, "LP")
    assert document["classes"]["equitable"]["variables"] == 1
    assert document["largest_classes"]["variables"] == [{"size": 3, "members": ["a", "b", "c"]}]


def test_backends_and_info_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["backends"]) == 0
    assert "highs" in capsys.readouterr().out
    assert run(["backends", "--json"]) == 0
    names = [line["name"] for line in json.loads(capsys.readouterr().out)["backends"]]
    assert {"highs", "clarabel"} <= set(names)
    assert run(["info"]) == 0
    assert "compiled: grounding" in capsys.readouterr().out
    assert run(["info", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["relift"] == relift.__version__
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"relift {relift.__version__}\n"


def test_without_words_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 2
    assert "Usage: relift" in capsys.readouterr().out


# --- errors: code 2 and one sentence ---------------------------------------------------------------------------------


def test_files_that_cannot_be_read_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.mps").touch()
    (tmp_path / "folder.mps").mkdir()
    write_program(TRIANGLE, tmp_path / "cut.mps.gz")
    (tmp_path / "cut.mps.gz").write_bytes((tmp_path / "cut.mps.gz").read_bytes()[:-20])
    (tmp_path / "nan.mps").write_text("ROWS\n N o\n L c\nCOLUMNS\n x c nan\nENDATA\n")
    (tmp_path / "concave.lp").write_text("min\n o: x + [ - 2 x ^ 2 ] / 2\nst\n c: x <= 1\nend\n")
    (tmp_path / "model.txt").write_text("hello")
    for name, message in (
        ("missing.mps", "no such file or folder."),
        ("folder.mps", "it is a folder, not a file."),
        (".", "it is a folder, not a file."),
        (
            "model.txt",
            "the file extension is unknown. Expected one of: .mps, .qps, .lp, .npz, .mps.gz, .qps.gz, .lp.gz.",
        ),
        ("concave.lp", "P is not positive semidefinite: along x = 1 the curvature is -2."),
    ):
        assert run(["solve", str(tmp_path / name)]) == 2
        assert error_of(capsys).startswith(f"{tmp_path / name}: {message}")
    for name, message in (
        ("empty.mps", " is empty."),
        (
            "cut.mps.gz",
            " is cut off or damaged (it ends before its end-of-stream marker). Copy or write the file again.",
        ),
        ("nan.mps", ", line 5: the coefficient in row 'c' is nan. It must be a finite number."),
    ):
        assert run(["solve", str(tmp_path / name)]) == 2
        assert error_of(capsys) == f"{tmp_path / name}{message}"


def test_what_a_command_does_not_take_is_told_with_what_to_do(
    triangle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["solve", "-"]) == 2
    assert error_of(capsys).startswith("a model is read from a file, not from standard input. Write it to a file")
    assert run(["solve", str(triangle), "other.mps"]) == 2
    told = "there is an argument too many: other.mps. One model is taken at a time. Try 'relift solve --help'."
    assert error_of(capsys) == told
    assert run(["inspect", str(triangle), "--nope"]) == 2
    assert error_of(capsys).endswith("Try 'relift inspect --help'.")


@pytest.mark.parametrize("is_plain", [True, False], ids=["read here", "read by Typer"])
def test_a_file_without_permission_is_named(
    is_plain: bool, triangle: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    triangle.chmod(0)
    if os.geteuid() == 0:  # root may read everything, so the refusal is played
        opened = os.open

        def refuse(path: Any, *words: Any, **more: Any) -> int:
            if str(path) == str(triangle):
                raise PermissionError(13, "Permission denied", str(path))
            return opened(path, *words, **more)

        monkeypatch.setattr(os, "open", refuse)
    answer = ["-o", f"{triangle}.json"] if is_plain else [f"-o{triangle}.json"]
    assert run(["solve", str(triangle), *answer]) == 2
    assert error_of(capsys) == f"{triangle}: permission denied."


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["sovle", "m.mps"], "there is neither a command nor a file 'sovle'. Did you mean 'solve'?"),
        (
            ["gibberish"],
            "there is neither a command nor a file 'gibberish'. Commands are solve, lift, expand, check, inspect,"
            " report, ground, fmt, show, reproduce, backends, info.",
        ),
        (["MODEL", "--backend", "clarable"], "there is no backend 'clarable'. Did you mean 'clarabel'?"),
        (["MODEL", "--tol", "2"], "tolerance=2.0 is out of range. Give a number between 0 and 1, such as 1e-6."),
        (
            ["MODEL", "--time-limit", "-1"],
            "time_limit=-1.0 is out of range. Give a positive number of seconds, or None.",
        ),
        (["MODEL", "--digits", "99"], "digits=99 is out of range. Give a whole number from 1 to 15."),
        (["MODEL", "--backend-option", "foo"], "--backend-option 'foo' is not of the form KEY=VALUE."),
        (["MODEL", "-o", "x.pdf"], "x.pdf: the file extension is unknown. Expected one of: .json, .txt, .sol."),
        (["MODEL", "-o", "/nowhere/x.json"], "/nowhere: no such file or folder."),
        (["lift", "MODEL", "-o", "x.pdf"], "x.pdf: the file extension is unknown. Expected one of: .mps, .qps"),
        (["check", "MODEL", "/nowhere/x.json"], "/nowhere/x.json: no such file or folder."),
        (["MODEL", "--lift", "magic"], ""),
        (["MODEL", "--tol", "small"], ""),
        (["MODEL", "--bogus"], ""),
        (["solve"], ""),
        (["solve", "MODEL", "MODEL"], ""),
    ],
)
def test_wrong_usage_is_told_in_one_sentence(
    words: list[str], message: str, triangle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([str(triangle) if word == "MODEL" else word for word in words]) == 2
    assert error_of(capsys).startswith(message)


def test_integer_variables_need_relax(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "ROWS\n N o\n G c\nCOLUMNS\n M 'MARKER' 'INTORG'\n x o 1 c 2\n M 'MARKER' 'INTEND'\nRHS\n R c 1\nENDATA\n"
    (tmp_path / "m.mps.gz").write_bytes(gzip.compress(text.encode()))
    assert run(["solve", str(tmp_path / "m.mps.gz")]) == 2
    assert "1 integer variables, the first is 'x'" in error_of(capsys)
    assert run(["solve", str(tmp_path / "m.mps.gz"), "--relax"]) == 0
    assert "objective 0.5" in capsys.readouterr().out


def test_an_unexpected_error_is_one_sentence_and_a_traceback_on_demand(
    triangle: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr("relift.pipeline.solve", broken)
    assert run(["solve", str(triangle)]) == 6
    assert error_of(capsys) == (
        "something unexpected went wrong (ZeroDivisionError: a fault)."
        " This is a bug in relift: please report it, with what --debug shows."
    )
    assert run(["solve", str(triangle), "--debug"]) == 6
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_names_with_spaces_and_other_alphabets_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["two words", "größe", "[bold]x[/bold]"]
    write_program(TRIANGLE.replace(variable_names=names), tmp_path / "m.npz")
    assert run(["inspect", str(tmp_path / "m.npz")]) == 0
    assert f"  3: {', '.join(names)}\n" in capsys.readouterr().out
    assert run(["solve", str(tmp_path / "m.npz"), "-o", str(tmp_path / "s.txt")]) == 0
    assert run(["check", str(tmp_path / "m.npz"), str(tmp_path / "s.txt")]) == 0
    assert run(["lift", str(tmp_path / "m.npz"), "-o", str(tmp_path / "small.mps")]) == 0
    assert "1 names that MPS cannot hold were replaced" in " ".join(capsys.readouterr().out.split())
