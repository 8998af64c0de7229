"""Answers survive the way into a file and back, and are matched with their model by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relift
from relift import Program, Status, certify
from relift.errors import FileFormatError
from relift.formats.lifting_map import named_small_program, write_lifting_map
from relift.formats.solutions import json_from_result, read_solution, write_solution

TRIANGLE = Program(
    q=[1, 1, 1], A=[[1, 1, 0], [0, 1, 1], [1, 0, 1]], l=[1, 1, 1], lb=0,
    variable_names=["a", "two words", "#hash"], row_names=['"quoted', "é", "c"],
)  # fmt: skip
INFEASIBLE = Program(q=[1, 1], A=[[1, 1]], l=[3], lb=0, ub=1)
UNBOUNDED = Program(q=[-1, -1], A=[[1, -1]], u=[3], lb=0)


@pytest.mark.parametrize("suffix", [".json", ".txt", ".sol"])
@pytest.mark.parametrize("program", [TRIANGLE, INFEASIBLE, UNBOUNDED], ids=["optimal", "infeasible", "unbounded"])
def test_a_written_answer_passes_its_check_when_read_back(program: Program, suffix: str, tmp_path: Path) -> None:
    result = relift.solve(program)
    write_solution(result, tmp_path / f"s{suffix}")
    back = read_solution(tmp_path / f"s{suffix}", program)
    assert back.status == result.status
    certificate = certify(program, back)
    assert certificate.is_optimal if result.status == Status.OPTIMAL else certificate.is_proved
    for name in ("x", "y", "w") if result.status == Status.OPTIMAL else ():
        assert np.array_equal(getattr(back, name), getattr(result, name))


def test_the_json_of_an_answer_has_the_documented_keys() -> None:
    document: dict[str, Any] = json_from_result(relift.solve(TRIANGLE))
    assert list(document) == [
        "format", "version", "relift", "status", "objective", "sense", "message", "backend", "iterations", "sizes",
        "certificate", "timings", "versions", "attempts", "variable_names", "row_names", "x", "y", "w", "ray_x",
        "ray_y", "ray_w",
    ]  # fmt: skip
    assert (document["format"], document["version"], document["status"]) == ("relift-solution", 1, "optimal")
    assert document["sizes"]["ground"] == {"variables": 3, "rows": 3, "nonzeros": 6}
    assert document["sizes"]["lifted"] == {"variables": 1, "rows": 1, "nonzeros": 1}
    assert set(document["certificate"]) == {
        "tolerance", "primal_residual", "dual_residual", "duality_gap", "ray_residual", "is_optimal", "is_proved",
    }  # fmt: skip


def test_infinities_and_missing_numbers_are_valid_json() -> None:
    document = json_from_result(relift.solve(INFEASIBLE))
    text = json.dumps(document, allow_nan=False)
    assert json.loads(text)["objective"] == "inf"
    assert json.loads(text)["certificate"]["duality_gap"] is None


def test_values_are_matched_by_name(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"x": {"#hash": 3, "two words": 2, "a": 1}}))
    assert read_solution(path, TRIANGLE).x.tolist() == [1, 2, 3]
    path = tmp_path / "s.txt"
    path.write_text('"#hash" 3\n"two words" 2\na 1\n')
    assert read_solution(path, TRIANGLE).x.tolist() == [1, 2, 3]


def test_values_are_matched_by_order_when_the_model_has_no_names(tmp_path: Path) -> None:
    write_solution(relift.solve(TRIANGLE), tmp_path / "s.json")
    plain = TRIANGLE.replace(variable_names=None, row_names=None)
    assert certify(plain, read_solution(tmp_path / "s.json", plain)).is_optimal


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty."),
        ("{", "is not valid JSON"),
        ("[1]", "holds no JSON object."),
        ("{}", "holds neither a point nor a ray."),
        ('{"x": [1, 2]}', "x has 2 entries, but the model has 3 variables."),
        ('{"x": [1, 2, "three"]}', "x holds 'three', which is not a number."),
        ('{"x": [1, 2, true]}', "x holds 'True', which is not a number."),
        ('{"x": 7}', "x is not a list of numbers."),
        ('{"x": {"a": 1, "b": 2, "c": 3}}', "has no value for the variable 'two words'."),
        ('{"x": [1, 2, 3], "status": "great"}', "the status 'great' is not known."),
        ('{"version": 2, "x": [1, 2, 3]}', "has version 2, but 1 is read. Update relift."),
        ('{"format": "relift-map"}', "is a 'relift-map' file, not a solution."),
        ("a 1\nb", "line 2: a line reads 'name value' or 'name value dual'."),
        ("a one\n", "line 1: 'one' is not a number."),
        ("a 1\n", "has 1 variables, but the model has 3."),
        ("# status optimal\n", "holds neither a point nor a ray."),
    ],
)
def test_what_is_wrong_with_a_solution_is_said(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(FileFormatError, match=r"s\.json") as error:
        read_solution(tmp_path / "s.json", TRIANGLE)
    assert message in str(error.value)


def test_an_unknown_end_of_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="file extension is unknown"):
        write_solution(relift.solve(TRIANGLE), tmp_path / "s.xml")


def test_the_map_is_enough_to_expand_a_point_by_hand(tmp_path: Path) -> None:
    # x[0] is fixed and gets substituted; x[3] is -x[2] in another unit, x[4] rests; the second row is twice the first.
    program = Program(
        q=[1, 1, 1, -2, 0], A=[[1, 1, 0, 0, 0], [0, 0, 2, -4, 0]], l=[1, 2],
        lb=[0.25, 0, 0, -4.5, -1], ub=[0.25, 9, 9, 0, 1],
    )  # fmt: skip
    lifting = relift.lift(program)
    write_lifting_map(lifting, tmp_path / "map.json")
    document = json.loads((tmp_path / "map.json").read_text())
    assert (document["format"], document["version"]) == ("relift-map", 2)
    small = relift.solve(lifting.small, lift="none")
    result = relift.solve(program)
    variables = document["variables"]
    x = [
        value if c < 0 else offset + scale * small.x[c]
        for c, value, offset, scale in zip(
            *(variables[name] for name in ("class", "value", "offset", "scale")), strict=True
        )
    ]
    assert np.allclose(x, result.x)
    assert (variables["value"][0], variables["value"][4]) == (0.25, 0.0)
    assert variables["scale"] == [0, 1, 1, -0.5, 0]
    assert variables["class"][2] == variables["class"][3]


def test_the_small_model_carries_the_names_of_representatives() -> None:
    small = named_small_program(relift.lift(TRIANGLE))
    assert (small.variable_names, small.row_names) == (["a"], ['"quoted'])
