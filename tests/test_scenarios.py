"""Many scenarios of one program: each is answered as by ``relift.solve``, with one search for classes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relift
import relift.scenarios as module
from relift import ConicRows, Program, SecondOrder, Status, solve_many
from relift.errors import (
    BoundsError,
    NotANumberError,
    NotAProgramError,
    OptionError,
    ShapeError,
)
from relift.lifting.lifting import Lifting, lift
from relift.lifting.quotient import quotient
from relift.testing.random_programs import random_program, symmetric_program

RING = Program(q=np.ones(12), A=np.eye(12) + np.roll(np.eye(12), 1, axis=1), l=np.ones(12), lb=0, ub=5)


def random_changes(program: Program, seed: int, count: int, blocks: Any = None) -> list[dict[str, Any]]:
    """Scenarios that keep to the blocks of variables and rows, if these are given."""
    random = np.random.default_rng(seed)
    of_variables, of_rows = blocks or (np.arange(program.n_variables), np.arange(program.n_rows))
    changes = []
    for _ in range(count):
        change: dict[str, Any] = {}
        if random.random() < 0.7:
            change["q"] = program.q + random.standard_normal(of_variables.max() + 1).round(2)[of_variables]
        if random.random() < 0.5:
            change["ub"] = program.ub + random.random(of_variables.max() + 1).round(2)[of_variables]
        if random.random() < 0.5 and program.n_rows:
            shift = random.standard_normal(of_rows.max() + 1).round(2)[of_rows]
            change |= {"l": program.l + shift, "u": program.u + shift}
        changes.append(change)
    return changes


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), quadratic=st.booleans(), has_symmetry=st.booleans())
def test_each_scenario_has_the_answer_that_it_has_alone(seed: int, quadratic: bool, has_symmetry: bool) -> None:
    if has_symmetry:
        symmetric = symmetric_program(seed, quadratic=quadratic, scaled_rows=bool(seed % 2))
        program, blocks = symmetric.program, (symmetric.variable_labels, symmetric.row_labels)
    else:
        program, blocks = random_program(seed, quadratic=quadratic), None
    changes = random_changes(program, seed, 4, blocks)
    for change, result in zip(changes, solve_many(program, changes), strict=True):
        here = program.replace(**change)
        alone = relift.solve(here)
        assert result.status == alone.status
        assert result.program == here
        if result.status == Status.OPTIMAL:
            assert result.objective == pytest.approx(alone.objective, rel=1e-5, abs=1e-5)
            assert relift.certify(here, result.solution).is_optimal


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), quadratic=st.booleans())
def test_the_small_program_of_an_update_is_the_one_made_from_its_classes(seed: int, quadratic: bool) -> None:
    symmetric = symmetric_program(seed, quadratic=quadratic, scaled_rows=bool(seed % 2))
    lifting = relift.lift(symmetric.program)
    for change in random_changes(symmetric.program, seed, 3, (symmetric.variable_labels, symmetric.row_labels)):
        updated = lifting.update(**change)
        assert updated.small == quotient(updated.reduction.program, updated.symmetry).program
    matrix = updated.program.A * 2.0
    doubled = lifting.with_values_of(lifting.program.replace(A=matrix))
    if doubled is not None:
        assert doubled.small == quotient(doubled.reduction.program, doubled.symmetry).program


def test_classes_are_found_once_and_hold_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    searches: list[int] = []

    def counted(*given: Any) -> Lifting:
        searches.append(1)
        return lift(*given)

    monkeypatch.setattr(module, "lift_with_settings", counted)
    odd = np.where(np.arange(12) % 2, 2.0, 1.0)
    results = solve_many(RING, [{"q": np.full(12, 3.0)}, {"q": odd}, {"l": np.full(12, 2.0)}])
    assert searches == [1]
    # The second scenario tells odd and even variables apart: so do the classes of all.
    assert [result.lifting.small.n_variables for result in results] == [2, 2, 2]
    assert [round(result.objective, 6) for result in results] == [18.0, 6.0, 12.0]


def test_rows_that_are_equal_up_to_a_factor_still_merge() -> None:
    factors = np.where(np.arange(12) % 2, 3.0, 1.0)
    scaled = RING.replace(A=RING.A.toarray() * factors[:, None], l=RING.l * factors)
    results = solve_many(scaled, [{"l": demand * factors} for demand in (1.0, 2.0)])
    assert [(result.lifting.small.n_variables, round(result.objective, 6)) for result in results] == [
        (1, 6.0),
        (1, 12.0),
    ]


def test_infeasible_and_unbounded_scenarios_stand_among_others_with_their_proofs() -> None:
    free = RING.replace(ub=np.full(12, np.inf))
    results = solve_many(free, [{}, {"ub": np.full(12, 0.1)}, {"q": -np.ones(12)}, {"l": np.full(12, 3.0)}])
    assert [str(result.status) for result in results] == ["optimal", "infeasible", "unbounded", "optimal"]
    assert all(result.certificate.is_proved for result in results[1:3])
    assert results[3].objective == pytest.approx(18.0)


def test_scenarios_of_a_maximisation_and_their_constants_count_in_its_sense() -> None:
    program = Program(q=np.ones(6), A=np.ones((1, 6)), u=[3], lb=0, ub=1, sense="max", r=1.0)
    results = solve_many(program, [{"u": [2]}, {"r": 5.0}, {"q": np.full(6, 2.0)}])
    assert [round(result.objective, 6) for result in results] == [3.0, 8.0, 7.0]


def test_right_hand_sides_of_cones_can_change() -> None:
    tails = np.vstack([np.zeros(4), -np.eye(4)])
    disc = Program(q=np.ones(4), conic=ConicRows(tails, [1.0, 0, 0, 0, 0], [SecondOrder(5)]))
    results = solve_many(disc, [{"b": [radius, 0, 0, 0, 0]} for radius in (1.0, 3.0)])
    assert [round(result.objective, 4) for result in results] == [-2.0, -6.0]


def test_other_processes_give_the_same_answers_in_order() -> None:
    changes = [{"l": np.full(12, float(demand))} for demand in range(1, 8)]
    apart, together = solve_many(RING, changes, jobs=2), solve_many(RING, changes)
    assert [result.objective for result in apart] == pytest.approx([result.objective for result in together])
    assert [result.objective for result in apart] == pytest.approx([6.0 * demand for demand in range(1, 8)])


def test_a_script_without_a_guard_can_use_other_processes(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import relift\n"
        "program = relift.Program(q=[1, 1], A=[[1, 1]], l=[1], lb=0)\n"
        "print([r.objective for r in relift.solve_many(program, [{'l': [k]} for k in (1, 2, 3, 4)], jobs=2)])\n"
    )
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[1.0, 2.0, 3.0, 4.0]\n", "")


def test_an_error_in_another_process_is_raised_here() -> None:
    many = [{"l": np.full(12, float(demand))} for demand in range(1, 5)]
    with pytest.raises(OptionError, match="no option 'presolv'"):
        solve_many(RING, many, jobs=2, backend="highs", backend_options={"presolv": "off"})


def test_spawned_processes_give_the_same_answers() -> None:
    shares = [[{"l": np.full(12, float(demand))}] for demand in (1, 2)]
    lifting = module._joint_lifting(RING, shares[0] + shares[1], module._lift_settings({}))
    found = module._solve_in_spawned(lifting, shares, {})
    assert [result.objective for results in found for result in results] == pytest.approx([6.0, 12.0])


def test_options_are_those_of_solve() -> None:
    results = solve_many(RING, [{}, {"l": np.full(12, 2.0)}], lift="none", backend="clarabel", tolerance=1e-5)
    assert {result.backend for result in results} == {"clarabel"}
    assert {result.lifting.small.n_variables for result in results} == {12}
    assert all(isinstance(result.lifting, Lifting) for result in results)
    vertex = solve_many(RING, [{}], vertex=True)[0]
    assert vertex.objective == pytest.approx(6.0)


def test_a_warm_start_needs_fewer_iterations_than_a_cold_one() -> None:
    program = random_program(5, n=60, m=40)
    costs = [program.q * (1 + 0.001 * step) for step in range(6)]
    results = solve_many(program, [{"q": cost} for cost in costs])
    alone = [relift.solve(program.replace(q=cost)).iterations or 0 for cost in costs]
    assert sum(result.iterations or 0 for result in results[1:]) <= sum(alone[1:])


def test_nothing_to_solve_is_nothing() -> None:
    assert solve_many(RING, []) == []


def test_a_scenario_that_highs_refuses_goes_another_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise relift.errors.BackendError("HiGHS refuses the program.")

    wanted = solve_many(RING, [{"u": 3.0}])[0].objective
    monkeypatch.setattr("relift.scenarios.load", refuse)
    assert solve_many(RING, [{"u": 3.0}])[0].objective == pytest.approx(wanted)


def test_the_largest_float_is_no_bound_in_a_scenario() -> None:
    most = np.finfo(float).max
    given, plain = (solve_many(RING, [{"ub": np.r_[3.0, np.full(11, end)]}, {"u": end}]) for end in (most, np.inf))
    assert [result.objective for result in given] == pytest.approx([result.objective for result in plain])


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ({"scenarios": {"l": 3}}, OptionError, "scenarios is one mapping. Give a list of them: [{'l': ...}, "),
        ({"scenarios": [{"A": 3}]}, OptionError, "scenario 0 changes 'A'. Expected any of: q, l, u, lb, ub, r, b;"),
        ({"scenarios": [{}, [1, 2]]}, OptionError, "scenario 1 is a list. Give a mapping such as {'l': ...}."),
        ({"scenarios": [{}], "jobs": 0}, OptionError, "jobs=0 is out of range. Give a positive whole number."),
        ({"scenarios": [{}], "approximate": 0.1}, OptionError, "approximate and warm_start do not go with many"),
        ({"scenarios": [{}], "tolerence": 1e-9}, OptionError, "unknown option 'tolerence'. Did you mean 'tolerance'?"),
        ({"scenarios": [{}], "backend_options": ["a"]}, OptionError, "backend_options is a list."),
        ({"scenarios": [{"r": "x"}]}, NotANumberError, "scenario 0: r is not made of real numbers"),
        ({"scenarios": [{}, {"r": [1, 2]}]}, NotANumberError, "scenario 1: r is [1, 2]. The constant of the objective"),
        ({"scenarios": [{"q": [1, 2]}]}, ShapeError, "scenario 0: q has 2 entries, but 12 are needed"),
        ({"scenarios": [{"lb": np.full(12, 9.0)}]}, BoundsError, "scenario 0: lb[0] = 9 and ub[0] = 5"),
        ({"scenarios": [{}, {"q": "cheap"}]}, NotANumberError, "scenario 1: q is not made of real numbers"),
        ({"scenarios": [{"q": np.full(12, np.nan)}]}, NotANumberError, "scenario 0: q[0] is"),
    ],
)
def test_wrong_scenarios_are_refused_by_their_number_or_vector(
    words: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        solve_many(RING, **words)
    assert message in str(caught.value)


def test_another_model_is_answered_with_what_to_write() -> None:
    with pytest.raises(NotAProgramError, match=r"relift\.solve_many takes a relift\.Program; got the str 'model\.mps'"):
        solve_many("model.mps", [{}])  # type: ignore[arg-type]
