"""An answer says how it was reached, and carries what it has."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest

import relift
from relift.program.program import Program
from relift.program.solution import Solution, Status


@pytest.mark.parametrize("status", list(Status))
def test_a_status_is_its_own_name(status: Status) -> None:
    assert status == status.value == str(status)
    assert Status(status.value) is status
    assert status.has_point == status.value.startswith("optimal")


def test_an_answer_without_a_point_has_none_of_its_parts() -> None:
    answer = Solution(Status.FAILURE)
    for name in ("x", "y", "w", "ray_x", "ray_y", "ray_w", "iterations"):
        assert getattr(answer, name) is None
    assert np.isnan(answer.objective)
    assert (answer.backend, answer.message, answer.statistics) == ("", "", {})


def test_an_answer_does_not_change_but_can_be_replaced() -> None:
    answer = Solution(Status.OPTIMAL, x=np.ones(2), objective=3.0)
    with pytest.raises(FrozenInstanceError):
        answer.objective = 4.0  # type: ignore[misc]
    assert replace(answer, objective=4.0).objective == 4.0
    assert answer.statistics is not Solution(Status.OPTIMAL).statistics


def test_an_answer_survives_pickling() -> None:
    answer = Solution(Status.OPTIMAL, x=np.arange(3.0), y=np.zeros(0), w=np.ones(3), backend="highs", iterations=4)
    again = pickle.loads(pickle.dumps(answer))
    assert again.status is Status.OPTIMAL
    assert again.x.tolist() == [0.0, 1.0, 2.0]
    assert (again.backend, again.iterations) == ("highs", 4)


def test_dual_values_belong_to_the_bound_of_their_sign() -> None:
    # min -x + y: x is held from above by its row, y from below by its bound.
    result = relift.solve(Program(q=[-1, 1], A=[[1, 0]], l=[0], u=[2], lb=[-5, 1], ub=[5, 9]), reduce=False)
    assert result.y is not None
    assert result.w is not None
    assert result.y[0] == pytest.approx(1.0)
    assert result.w == pytest.approx([0.0, -1.0])


def test_an_answer_with_parts_changed_is_what_replacing_them_gives() -> None:
    answer = Solution(Status.OPTIMAL, x=np.ones(2), y=np.zeros(1), message="Solved", statistics={"rounds": 3})
    changed, expected = answer.but(x=np.array([1.0, 2.0]), y=None), replace(answer, x=np.array([1.0, 2.0]), y=None)
    for part in fields(Solution):
        one, other = getattr(changed, part.name), getattr(expected, part.name)
        assert type(one) is type(other), part.name
        np.testing.assert_array_equal(one, other)
    assert answer.y is not None


def test_changed_vectors_are_copied_and_read_only() -> None:
    point = np.ones(2)
    answer = Solution(Status.OPTIMAL).but(x=point)
    point[0] = 5.0
    assert answer.x is not None
    assert answer.x.tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="read-only"):
        answer.x[0] = 2.0


def test_a_part_that_an_answer_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError, match="a Solution has no colour"):
        Solution(Status.OPTIMAL).but(colour="blue")  # type: ignore[call-arg]
