"""What keeps variables apart is named: the family of numbers, what would merge them, and the size it would give."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import relift
from relift import ConicRows, Program, SecondOrder
from relift.report.families import family_of, row_families, variable_families
from relift.report.nearest_misses import nearest_misses
from relift.testing.random_programs import symmetric_program


def planted(seed: int, size: float = 1e-4) -> tuple[Program, str]:
    """A program with symmetry, but for noise in one family of columns; and the name of that family."""
    random = np.random.default_rng(seed)
    symmetric = symmetric_program(seed, copies=12, n_classes=5, m_classes=4)
    program, family = symmetric.program, int(random.integers(5))
    columns = np.flatnonzero(symmetric.variable_labels == family)
    q, ub, A = program.q.copy(), program.ub.copy(), sparse.csc_array(program.A).copy()
    match random.integers(3):
        case 0:
            q[columns] *= 1 + size * random.standard_normal(columns.size)
        case 1:
            ub[columns] += size * random.random(columns.size)
        case _:
            A.data = np.array(A.data)
            for j in columns:
                A.data[A.indptr[j] : A.indptr[j + 1]] *= 1 + size * random.standard_normal()
    names = [f"v{label}[{j}]" for j, label in enumerate(symmetric.variable_labels)]
    rows = [f"r{label}[{i}]" for i, label in enumerate(symmetric.row_labels)]
    return (
        Program(None, q, A, program.l, program.u, program.lb, ub, variable_names=names, row_names=rows),
        f"v{family}",
    )


def test_noise_that_was_planted_in_one_family_is_named_in_18_of_20_programs() -> None:
    named = 0
    for seed in range(20):
        program, family = planted(seed)
        found = nearest_misses(program)
        named += bool(found.misses) and {group.family for group in found.misses[0].groups} == {family}
    assert named >= 18


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6))
def test_the_size_that_rounding_is_said_to_give_is_the_size_it_gives(seed: int) -> None:
    program, _ = planted(seed)
    found = nearest_misses(program)
    small = relift.lift(program).small
    assert (found.variables, found.rows) == (small.n_variables, small.n_rows)
    for digits, size in found.rounded.items():
        rounded = relift.lift(program, digits=digits).small
        assert (rounded.n_variables, rounded.n_rows) == size
    for miss in found.misses:
        if miss.digits is not None:
            assert relift.lift(program, digits=miss.digits).small.n_variables <= miss.variables / 0.95


def machines(costs: Any, **words: Any) -> Program:
    names = [f"machine[{j}]" for j in range(50)]
    return Program(q=costs, A=np.ones((1, 50)), l=[30], lb=0, variable_names=names, row_names=["total"], **words)


def test_numbers_that_agree_to_some_digits_come_with_the_option_to_type() -> None:
    costs = 5 + 1e-6 * np.random.default_rng(0).standard_normal(50)
    miss = nearest_misses(machines(costs, ub=1)).misses[0]
    assert (miss.cause, miss.variables, miss.digits) == ("costs of machine", 1, 6)
    assert miss.advice == "They agree to 6 digits: digits=6 (--digits 6) merges them."
    assert miss.example.count("machine[") == 2


def test_numbers_that_differ_by_some_per_cent_can_be_merged_approximately() -> None:
    costs = 5 + 0.1 * np.random.default_rng(0).random(50)
    advice = nearest_misses(machines(costs, ub=1)).misses[0].advice
    assert advice.endswith("approximate=1e-3 (--approximate 1e-3) can merge them.")


def test_data_that_differ_by_much_are_left_to_the_reader() -> None:
    miss = nearest_misses(machines(np.arange(1.0, 51.0), ub=1)).misses[0]
    assert (miss.digits, miss.advice) == (
        None, "They differ by much: merge them only if they are meant to be equal.",
    )  # fmt: skip


def test_two_causes_are_only_named_together() -> None:
    random = np.random.default_rng(1)
    program = machines(5 + random.random(50), P=np.diag(1 + random.random(50)), ub=1)
    found = nearest_misses(program)
    assert found.misses[0].cause == "costs of machine and quadratic costs of machine with machine"
    assert found.misses[0].variables == 1


def test_bounds_are_no_cause_where_members_are_equal_up_to_size() -> None:
    random = np.random.default_rng(1)
    program = machines(5 + random.random(50), ub=1 + random.random(50))
    assert nearest_misses(program).misses[0].cause == "costs of machine"


def test_a_pattern_that_does_not_repeat_is_said_to_be_the_cause() -> None:
    random = np.random.default_rng(2)
    A = np.triu(np.ones((12, 12)))
    found = nearest_misses(Program(q=random.random(12), A=A, l=np.ones(12), lb=0))
    assert found.verdict == "The pattern itself does not repeat: equal numbers would merge nothing."
    assert found.misses == ()


def test_a_program_that_is_as_small_as_its_pattern_allows_says_so() -> None:
    found = nearest_misses(Program(q=np.ones(9), A=np.ones((1, 9)), l=[3], lb=0))
    assert found.verdict == "All that the pattern allows is merged: equal numbers would merge nothing more."


def test_quadratic_and_conic_numbers_are_looked_at_too() -> None:
    random = np.random.default_rng(3)
    names = [f"x[{j}]" for j in range(10)]
    curved = Program(P=np.diag(1 + random.random(10)), q=np.ones(10), lb=0, variable_names=names)
    assert nearest_misses(curved).misses[0].cause == "quadratic costs of x with x"
    tails = np.vstack([np.zeros(10), -np.diag(1 + random.random(10))])
    cone = ConicRows(tails, np.append(4.0, np.zeros(10)), [SecondOrder(11)])
    assert nearest_misses(Program(q=np.ones(10), conic=cone, variable_names=names)).misses[0].cause == (
        "coefficients of x in cones"
    )


def test_right_hand_sides_and_rows_are_named_by_their_family() -> None:
    random = np.random.default_rng(4)
    ring = np.eye(8) + np.roll(np.eye(8), 1, axis=1)
    names = [f"x{j}" for j in range(8)], [f"demand_{i}" for i in range(8)]
    program = Program(q=np.ones(8), A=ring, l=5 + random.random(8), lb=0, variable_names=names[0], row_names=names[1])
    miss = nearest_misses(program).misses[0]
    assert miss.cause == "right-hand sides of demand"
    assert "demand_" in miss.example


def test_a_maximisation_is_looked_at_as_its_minimisation() -> None:
    costs = 5 + 1e-6 * np.random.default_rng(0).standard_normal(50)
    program = Program(q=costs, A=np.ones((1, 50)), u=[30], lb=0, ub=1, sense="max")
    miss = nearest_misses(program).misses[0]
    assert miss.digits == 6
    assert "x[47]: 5.0000019" in miss.example


def test_without_time_only_the_pattern_is_looked_at_and_that_is_said() -> None:
    found = nearest_misses(planted(0)[0], seconds=0.0)
    assert (found.misses, found.n_tried, found.rounded) == ((), 0, {})
    assert found.n_groups > 0
    assert "no time" not in found.verdict


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("flow[1,2]", "flow"), ("p_12", "p"), ("x3", "x"), ("Generator-p(gas 1)", "Generator-p"), ("total", "total"),
        ("c1_2_7", "c"), ("7", "7"), ("", ""), ("ünï{a}", "ünï"), ("[odd]", "[odd]"),
    ],
)  # fmt: skip
def test_a_name_without_its_indices_is_its_family(name: str, family: str) -> None:
    assert family_of(name) == family


def test_families_without_names_are_told_apart_by_the_kind_of_row() -> None:
    program = Program(q=[1, 1], A=[[1, 1]] * 4, l=[1, -np.inf, 1, 0], u=[1, 2, np.inf, 3])
    assert set(row_families(program).names) == {"equalities", "upper limits", "lower limits", "ranges"}
    assert variable_families(program).names == ("x",)
    many = Program(q=np.ones(200), variable_names=[f"{chr(97 + j % 26)}{chr(97 + j // 26)}z" for j in range(200)])
    families = variable_families(many)
    assert (len(families.names), families.names[-1]) == (60, "(others)")
    assert math.isclose(sum(families.size(k) for k in range(60)), 200)


def test_what_an_option_can_merge_comes_before_what_is_meant_to_differ() -> None:
    random, n, hours = np.random.default_rng(0), 6, 8
    demand = (20 + 5 * np.sin(np.arange(hours))).round(2)  # each hour has its own: equal ones would merge most
    program = Program(
        q=20 * (1 + 1e-4 * random.standard_normal(n * hours)), lb=0, ub=9, l=demand,
        A=np.kron(np.ones((1, n)), np.eye(hours)), row_names=[f"demand[{t}]" for t in range(hours)],
        variable_names=[f"p[{g},{t}]" for g in range(n) for t in range(hours)],
    )  # fmt: skip
    found = nearest_misses(program)
    assert found.misses[0].cause == "costs of p"
    assert "--digits 3" in found.misses[0].advice
    assert found.verdict == "Costs of p keep variables apart: 48 would be 8."
    assert any("demand" in miss.cause and not miss.is_near for miss in found.misses)


def test_noise_in_quadratic_costs_has_a_size_and_an_option() -> None:
    noise = 1 + 1e-4 * np.random.default_rng(0).standard_normal(30)
    names = [f"w[{j}]" for j in range(30)]
    program = Program(P=np.diag(2 * noise), q=-np.ones(30), A=np.ones((1, 30)), u=[5], lb=0, variable_names=names)
    (miss,) = nearest_misses(program).misses
    assert (miss.cause, miss.digits) == ("quadratic costs of w with w", 3)
    assert 1e-4 < miss.spread < 1e-3
    assert " with " in miss.example
