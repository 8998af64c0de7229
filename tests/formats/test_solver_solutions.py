"""Solutions in the files of HiGHS and Gurobi: HiGHS reads what is written, and what HiGHS writes is read."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import highspy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bridges.highs.models import highs_of, random_model

import relift
from relift import Program, Status, certify
from relift.cli.run import run
from relift.errors import FileFormatError, OptionError
from relift.formats.solutions import read_solution, write_solution

SHOP = Program(
    q=[1.0, 2.0, 2.0], A=[[1, 1, 0], [1, 0, 1]], l=[2, 2], lb=0, ub=[1.5, 9, 9], variable_names=["a", "b", "c c"],
    row_names=["first", "second"],
)  # fmt: skip
INFEASIBLE = Program(q=[1, 1], A=[[1, 1]], l=[3], lb=0, ub=1)

RAW = """\
Model status
Optimal

# Primal solution values
Feasible
Objective 3.5
# Columns 3
a 1.5
b 0.5
c_c 0.5
# Rows 2
first 2
second 2

# Dual solution values
Feasible
# Columns 3
a -3
b 0
c_c 0
# Rows 2
first 2
second 2

# Basis
HiGHS_basis_file v2
None
"""

TABLE = """\
Columns
    Index Status        Lower        Upper       Primal         Dual  Type        Name
        0                   0          1.5          1.5           -3  Continuous  a
        1                   0            9          0.5            0  Continuous  b
        2                   0            9          0.5            0  Continuous  c_c
Rows
    Index Status        Lower        Upper       Primal         Dual  Name
        0                   2          inf            2            2  first
        1                   2          inf            2            2  second

Model status: Optimal

Objective value: 3.5
"""


def test_the_three_layouts_are_those_of_the_solvers(tmp_path: Path) -> None:
    result = relift.solve(SHOP)
    path = tmp_path / "x.sol"
    write_solution(result, path, style="highs")
    assert path.read_text() == RAW
    write_solution(result, path, style="highs-table")
    assert path.read_text() == TABLE
    write_solution(result, path, style="gurobi")
    assert path.read_text() == "# Objective value = 3.5\na 1.5\nb 0.5\nc_c 0.5\n"


@settings(max_examples=60)
@given(seed=st.integers(0, 10**9))
def test_highs_reads_what_is_written_and_what_highs_writes_is_read(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    program = random_model(seed).replace(P=None)
    names = [f"x{j}" for j in range(program.n_variables)], [f"c{i}" for i in range(program.n_rows)]
    program = program.replace(variable_names=names[0], row_names=names[1])
    result = relift.solve(program)
    path = tmp_path_factory.mktemp("solutions") / "x.sol"
    write_solution(result, path, style="highs")
    if result.status != Status.OPTIMAL:
        assert path.read_text().splitlines()[1] == {"infeasible": "Infeasible", "unbounded": "Unbounded"}[result.status]
        return
    h = highs_of(program)
    for j, name in enumerate(names[0]):
        h.passColName(j, name)
    for i, name in enumerate(names[1]):
        h.passRowName(i, name)
    assert h.readSolution(str(path), 0) != highspy.HighsStatus.kError
    assert np.array_equal(h.getSolution().col_value, result.x)
    back = read_solution(path, program)
    assert np.array_equal(back.x, result.x)
    assert np.array_equal(back.y, result.y)
    assert np.array_equal(back.w, result.w)
    h.run()
    h.writeSolution(str(path), 0)
    assert certify(program, read_solution(path, program), 1e-6).is_optimal


def test_gurobis_layout_is_read_back_by_name(tmp_path: Path) -> None:
    program = SHOP.replace(variable_names=["a", "b", "c"])
    result = relift.solve(program)
    write_solution(result, tmp_path / "x.sol", style="gurobi")
    assert np.array_equal(read_solution(tmp_path / "x.sol", program).x, result.x)


def test_values_are_matched_by_name_in_any_order(tmp_path: Path) -> None:
    lines = RAW.replace("c_c", "c").splitlines()
    lines[7], lines[9] = lines[9], lines[7]
    (tmp_path / "x.sol").write_text("\n".join(lines))
    back = read_solution(tmp_path / "x.sol", SHOP.replace(variable_names=["a", "b", "c"]))
    assert back.x.tolist() == [1.5, 0.5, 0.5]
    assert certify(SHOP, back).is_optimal


def test_an_infeasible_model_has_no_point_in_any_layout(tmp_path: Path) -> None:
    result = relift.solve(INFEASIBLE)
    for style in ("highs", "highs-table"):
        write_solution(result, tmp_path / "x.sol", style=style)
        assert "Infeasible" in (tmp_path / "x.sol").read_text()
    with pytest.raises(FileFormatError, match="a solution file of Gurobi holds a point, and the status is infeasible"):
        write_solution(result, tmp_path / "y.sol", style="gurobi")
    assert not (tmp_path / "y.sol").exists()
    write_solution(result, tmp_path / "x.sol", style="highs")
    with pytest.raises(FileFormatError, match=r"holds no point\. Its model status is Infeasible\."):
        read_solution(tmp_path / "x.sol", INFEASIBLE)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("Optimal", "Fine"), "line 2: the model status 'Fine' is not known"),
        (("# Columns 3", "# Columns many"), "'# Columns' is not followed by a number"),
        (("# Columns 3", "# Columns 300"), "ends before its 300 columns do"),
        (("b 0.5", "b half"), "line 9: 'b half' is not a name and a number"),
        (("b 0.5", "d 0.5"), "has no value for 'b'"),
        (("b 0.5", "a 0.5"), "has no value for 'b'"),
        (("# Columns 3\na 1.5\nb 0.5\nc_c 0.5", "# Columns 1\na 1.5"), "has 1 columns, but the model has 3"),
        (("Feasible\nObjective 3.5\n# Columns 3\na 1.5\nb 0.5\nc_c 0.5", "None"), "holds no point"),
    ],
)
def test_broken_files_are_refused_with_the_line(change: tuple[str, str], message: str, tmp_path: Path) -> None:
    (tmp_path / "x.sol").write_text(RAW.replace(*change, 1))
    with pytest.raises(FileFormatError) as caught:
        read_solution(tmp_path / "x.sol", SHOP)
    assert message in str(caught.value)


def test_a_style_is_one_of_text_files_and_must_be_known(tmp_path: Path) -> None:
    result = relift.solve(SHOP)
    with pytest.raises(FileFormatError, match="the style 'highs' is one of text files"):
        write_solution(result, tmp_path / "x.json", style="highs")
    with pytest.raises(OptionError, match="style='glpk' is not valid"):
        write_solution(result, tmp_path / "x.sol", style="glpk")  # type: ignore[arg-type]


@pytest.mark.parametrize("sense", ["min", "max"])
def test_a_small_model_that_highs_has_solved_is_expanded_and_passes_its_check(
    sense: Literal["min", "max"], tmp_path: Path
) -> None:
    sign = 1.0 if sense == "min" else -1.0
    ring = Program(q=np.full(6, sign), A=np.eye(6) + np.roll(np.eye(6), 1, axis=1), l=np.ones(6), lb=0, sense=sense)
    model, small, chart = (str(tmp_path / name) for name in ("ring.mps", "small.mps", "map.json"))
    relift.write_program(ring, model)
    assert run(["lift", model, "-o", small, "--map", chart, "-q"]) == 0
    h = highspy.Highs()
    h.silent()
    h.readModel(small)
    h.run()
    h.writeSolution(str(tmp_path / "small.sol"), 0)
    full = tmp_path / "full.sol"
    words = ["-o", str(full), "--solution-style", "highs", "-q"]
    assert run(["expand", chart, str(tmp_path / "small.sol"), *words]) == 0
    assert run(["check", model, str(full), "-q"]) == 0
    assert read_solution(full, ring).x.tolist() == [0.5] * 6


def test_the_command_line_writes_the_styles_and_refuses_them_where_there_is_no_text_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(tmp_path / "shop.mps")
    relift.write_program(SHOP, model)
    assert run(["solve", model, "-o", str(tmp_path / "x.sol"), "--solution-style", "gurobi", "-q"]) == 0
    assert (tmp_path / "x.sol").read_text().startswith("# Objective value = 3.5\na 1.5\n")
    assert run(["solve", model, "-o", str(tmp_path / "x.json"), "--solution-style", "highs"]) == 2
    assert "the style 'highs' is one of text files. Write .sol or .txt." in capsys.readouterr().err
    assert run(["solve", model, "--solution-style", "highs"]) == 2
    assert "--solution-style highs needs a file. Add --output FILE.sol." in capsys.readouterr().err
