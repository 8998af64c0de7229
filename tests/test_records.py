"""A record is what dataclass(frozen=True, slots=True) makes of the same class."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, is_dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relift.records import cached_property, quick, record


@record
class Fast:
    """A record."""

    x: Any
    y: Any = 1
    hidden: int = field(default=0, compare=False, repr=False)
    many: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Slow:
    """The same by the standard library."""

    x: Any
    y: Any = 1
    hidden: int = field(default=0, compare=False, repr=False)
    many: list[int] = field(default_factory=list)


@record
class Empty:
    """Nothing in it."""


@record
class One:
    """A single field, and a check."""

    x: int

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("below zero")


VALUES = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2), st.lists(st.integers(0, 1), max_size=1))


@given(VALUES, VALUES)
def test_records_are_equal_and_shown_as_dataclasses_are(some: Any, other: Any) -> None:
    assert (Fast(*some) == Fast(*other)) is (Slow(*some) == Slow(*other))
    assert repr(Fast(*some)) == repr(Slow(*some)).replace("Slow", "Fast")
    others: list[Any] = [Slow(*some)]
    assert Fast(*some) != others[0]


@given(st.integers(), st.integers())
def test_equal_records_have_equal_hashes(x: int, hidden: int) -> None:
    one, other = Fast(x, hidden=hidden, many=()), Fast(x, many=())  # type: ignore[arg-type]
    assert one == other
    assert hash(one) == hash(other)
    assert hash(One(abs(x))) == hash(One(abs(x)))
    assert Empty() == Empty()
    assert {Empty(): 1}[Empty()] == 1


def test_defaults_are_made_anew_and_given_by_name() -> None:
    assert Fast(3).many is not Fast(3).many
    assert Fast(x=3, many=[1]) == Fast(3, 1, 7, [1])
    with pytest.raises(TypeError, match=r"Fast\.__init__\(\) missing 1 required positional argument: 'x'"):
        Fast()  # type: ignore[call-arg]


def test_records_cannot_be_changed() -> None:
    point = Fast(1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del point.x
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'z'"):
        point.z = 2  # type: ignore[attr-defined]
    assert not hasattr(point, "__dict__")


def test_records_are_dataclasses_to_everything_else() -> None:
    point = Fast(1, 2, 3, [4])
    assert [part.name for part in fields(Fast)] == ["x", "y", "hidden", "many"]
    assert replace(point, y=5) == Fast(1, 5, 3, [4])
    for again in (copy.copy(point), copy.deepcopy(point), pickle.loads(pickle.dumps(point))):
        assert (again, again.hidden) == (point, 3)
    match point:
        case Fast(x, y=2):
            assert x == 1
        case _:
            pytest.fail("no match")
    assert is_dataclass(point)


def test_the_check_of_a_record_is_made() -> None:
    assert One(0).x == 0
    with pytest.raises(ValueError, match="below zero"):
        One(-1)


def test_a_record_that_holds_itself_is_shown() -> None:
    many: list[Any] = []
    point = Fast(many)
    many.append(point)
    assert repr(point) == "Fast(x=[...], y=1, many=[])"


@quick
@dataclass(frozen=True)
class Quick:
    """The same with a quick constructor."""

    x: Any
    y: Any = 1
    hidden: int = field(default=0, compare=False, repr=False)
    many: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        vars(self)["seen"] = self.x


def test_a_quick_constructor_does_what_that_of_the_dataclass_did() -> None:
    one, other = Quick(3), Quick(x=3, hidden=5, many=[])
    assert one == other
    assert hash(Quick(3, many=())) == hash(Quick(3, many=()))  # type: ignore[arg-type]
    assert (one.y, one.hidden, one.many, vars(one)["seen"]) == (1, 0, [], 3)
    assert one.many is not Quick(3).many
    assert repr(replace(one, y=2)) == "Quick(x=3, y=2, many=[])"
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one
    with pytest.raises(FrozenInstanceError):
        one.x = 4  # type: ignore[misc]
    with pytest.raises(TypeError, match="x"):
        Quick()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="other"):
        Quick(1, other=2)  # type: ignore[call-arg]
    assert list(Quick.__init__.__annotations__) == ["x", "y", "hidden", "many", "return"]


class Counted:
    """Counts how often its property is computed."""

    calls = 0

    @cached_property
    def squares(self) -> list[int]:
        """Squares."""
        self.calls += 1
        return [0, 1, 4]


def test_a_cached_property_is_computed_once() -> None:
    one = Counted()
    assert one.squares is one.squares
    assert one.calls == 1
    assert vars(one)["squares"] == [0, 1, 4]
    del one.squares
    assert (one.squares, one.calls) == ([0, 1, 4], 2)
    assert Counted.squares.__doc__ == "Squares."
