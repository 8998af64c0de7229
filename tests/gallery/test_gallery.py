"""Every model of the gallery is solved to its known answer."""

from __future__ import annotations

import csv
import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import maximum_flow
from tests.data import ROOT, data_folder

import relift
from relift.language.syntax.printer import format_text

MODELS = ROOT / "examples" / "models"
EXPECTED = json.loads((MODELS / "expected.json").read_text())
COMPLETE = [name for name, known in EXPECTED.items() if "tables" not in known]


def script(name: str) -> ModuleType:
    spec = spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def solved(name: str, **tables: object) -> relift.ModelResult:
    answer = relift.Model.from_file(MODELS / f"{name}.rlp").solve(data=tables)
    assert answer.status == "optimal"
    assert answer.result.certificate.is_optimal
    return answer


def test_every_model_has_an_expected_answer() -> None:
    assert {path.stem for path in MODELS.glob("*.rlp")} == set(EXPECTED)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_models_are_in_the_style_of_the_formatter(name: str) -> None:
    text = (MODELS / f"{name}.rlp").read_text()
    assert format_text(text) + "\n" == text


@pytest.mark.parametrize("name", COMPLETE)
def test_model(name: str) -> None:
    known, answer = EXPECTED[name], solved(name)
    program = answer.result.program
    assert answer.objective == pytest.approx(known["objective"], rel=1e-6)
    assert [program.n_variables, program.n_rows + len(program.quadratic)] == known["sizes"]
    for variable, values in known.get("values", {}).items():
        found = answer[variable].to_dict()
        wanted = values if isinstance(values, dict) else dict.fromkeys(found, values)
        assert found == pytest.approx(wanted, abs=1e-4)


def test_the_sudoku_is_solved() -> None:
    answer = np.zeros((9, 9), int)
    for (i, j, digit), value in solved("sudoku")["fill"].to_dict().items():
        assert min(abs(value), abs(1 - value)) < 1e-6
        answer[i - 1, j - 1] += digit * round(value)
    rows = "534678912,672195348,198342567,859761423,426853791,713924856,961537284,287419635,345286179"
    assert ",".join("".join(map(str, row)) for row in answer) == rows


def ties() -> list[list[int]]:
    with (MODELS / "data" / "karate" / "ties.csv").open() as file:
        return [[int(entry) for entry in row] for row in list(csv.reader(file))[1:]]


def test_the_flow_through_the_karate_club_is_the_one_that_scipy_finds() -> None:
    first, second, strength = np.array(ties()).T
    both = np.concatenate([first, second]) - 1, np.concatenate([second, first]) - 1
    graph = sparse.csr_array((np.tile(strength, 2).astype(np.int32), both), shape=(34, 34))
    assert maximum_flow(graph, 0, 33).flow_value == EXPECTED["karate_split"]["objective"]


def test_the_minimum_cut_is_where_the_club_split() -> None:
    potentials = solved("karate_split").duals("balance").to_dict()
    side = {1} | {member for member, dual in potentials.items() if abs(dual) > 0.5}
    assert side == {
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        8,
        11,
        12,
        13,
        14,
        17,
        18,
        20,
        22,
    }  # as Zachary found; 9 went with him after all


def test_hinge_losses_classify_the_club_in_the_same_way() -> None:
    value = solved("karate_collective")["faction"].to_dict()
    found = {member for member in range(1, 35) if value[member, "hi"] > value[member, "officer"]}
    assert found == {1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 17, 18, 20, 22}


@pytest.mark.parametrize("case", ["case24_ieee_rts", "case118", "case300", "case_ACTIVSg2000"])
def test_dc_optimal_power_flow(case: str) -> None:
    folder = data_folder("power")
    with (folder / "index.csv").open() as file:
        optimum = {row["case"]: float(row["dc_opf_opt"]) for row in csv.DictReader(file)}[case]
    answer = solved("dc_opf", **script("power_tables").power_tables(folder / case))
    assert answer.objective == pytest.approx(optimum, rel=1e-6)
    assert max(np.abs(answer.slacks("balance")["slack"])) < 1e-4


def test_tc_qp_svm_on_cora(tmp_path: Path) -> None:
    module = script("cora_tables")
    tables = module.cora_tables(data_folder("cora"))
    module.write_tables(tables, tmp_path)
    answer = relift.solve_model(MODELS / "tc_qp_svm_cora.rlp", tmp_path)
    known = EXPECTED["tc_qp_svm_cora"]
    assert answer.objective == pytest.approx(known["objective"], rel=1e-6)
    assert answer.objective == pytest.approx(relift.solve(by_hand(tables), lift="none").objective, rel=1e-6)
    program = answer.result.program
    assert [program.n_variables, program.n_rows] == known["sizes"]
    assert answer.explain()["collective"].classes < 941


def by_hand(tables: dict[str, list[Any]]) -> relift.Program:
    """The same program, put together without the language."""
    label, query = dict(tables["label"]), {q for (q,) in tables["query"]}
    words = {word: j for j, word in enumerate(dict.fromkeys(w for _, w in tables["word"]))}
    of_paper: dict[int, list[int]] = {}
    for paper, word in tables["word"]:
        of_paper.setdefault(paper, []).append(words[word])
    links = {(a, b) for one in tables["cite"] for a, b in (one, one[::-1]) if a in label and b in query}
    pairs = [*((i, i) for i in label), *sorted(links)]
    n = len(words)
    A = sparse.lil_array((len(pairs), n + 1 + len(pairs)))
    for row, (labelled, paper) in enumerate(pairs):
        for j in of_paper.get(paper, []):
            A[row, j] = label[labelled]
        A[row, n], A[row, n + 1 + row] = label[labelled], 1
    P = sparse.diags_array(np.r_[np.full(n, 2.0), np.zeros(1 + len(pairs))])
    q = np.r_[np.zeros(n + 1), np.full(len(label), 0.02), np.full(len(links), 0.01)]
    lb = np.r_[np.full(n + 1, -np.inf), np.zeros(len(pairs))]
    return relift.Program(P, q, A.tocsr(), l=np.ones(len(pairs)), lb=lb)
