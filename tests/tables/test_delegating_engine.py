"""An engine that wraps another one hides none of its members: limits, advice and names are those of the inner one."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from relift.grounding.ground import ground
from relift.grounding.workspace import WORK_FACTOR
from relift.language.checks.check_model import check_text
from relift.modelling.recording_engine import RecordingEngine
from relift.modelling.show import shown_queries
from relift.tables.algebra import Scan, Type
from relift.tables.delegating_engine import DelegatingEngine
from relift.tables.engine import Engine
from relift.tables.memory.engine import MemoryEngine
from relift.tables.recursion import RecursiveRules
from relift.tables.sources.table import Stored, source_from_data

KINDS = (DelegatingEngine, RecordingEngine)
ATTRIBUTES = ("is_persistent", "knows_tables", "most_work", "name", "numbers", "progress")
METHODS = sorted(name for name, each in vars(Engine).items() if inspect.isfunction(each) and not name.startswith("_"))
ARGUMENTS: dict[str, Any] = {
    "name": "t",
    "plan": Scan("t", {"A": ("c0", Type.INTEGER)}),
    "source": source_from_data("t", [(1,), (2,)]),
    "number": ("i", ("A",)),
    "budget": 11,
    "cap": 12,
    "schema": "s",
    "by": ("A",),
    "stage": "ground",
    "message": "the constraint c",
    "known": Scan("t", {"A": ("c0", Type.INTEGER)}),
    "rules": RecursiveRules({}, {}, ()),
    "names": {"p": "t"},
    "most": 13,
}
"""A value for each parameter of a method of an engine."""


def spy() -> tuple[Any, list[tuple[str, dict[str, Any]]]]:
    """An engine that notes which methods are called with what, and that differs from the base in every attribute."""
    calls: list[tuple[str, dict[str, Any]]] = []

    def noting(name: str) -> Any:
        signature = inspect.signature(getattr(Engine, name))

        def call(self: Engine, *given: Any, **named: Any) -> Any:
            bound = signature.bind(self, *given, **named)
            bound.apply_defaults()
            calls.append((name, {key: value for key, value in bound.arguments.items() if key != "self"}))
            return name

        return call

    members = {name: noting(name) for name in METHODS} | {"name": "spy", "knows_tables": True, "is_persistent": True}
    inner = type("Spy", (Engine,), members)(progress=lambda event: None)
    inner.most_work = 7
    return inner, calls


def test_every_member_of_an_engine_is_written_out_in_the_delegating_one() -> None:
    of_class = {name for name in (*vars(Engine), *inspect.get_annotations(Engine)) if not name.startswith("_")}
    assert of_class | set(vars(spy()[0])) == {*ATTRIBUTES, *METHODS}
    assert {*ATTRIBUTES, *METHODS} - set(vars(DelegatingEngine)) == set()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes_are_those_of_the_inner_engine(kind: type[DelegatingEngine], name: str) -> None:
    inner, _ = spy()
    assert getattr(kind(inner), name) is getattr(inner, name)
    assert inspect.getattr_static(inner, name) is not vars(Engine).get(name)


@pytest.mark.parametrize("kind", KINDS)
def test_limit_and_progress_callback_are_set_on_the_inner_engine(kind: type[DelegatingEngine]) -> None:
    inner, _ = spy()
    outer = kind(inner)
    outer.most_work = 3
    outer.progress = print
    assert (inner.most_work, inner.progress) == (3, print)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", METHODS)
def test_methods_are_called_on_the_inner_engine_with_the_same_arguments(
    kind: type[DelegatingEngine], name: str
) -> None:
    inner, calls = spy()
    parameters = [each for each in inspect.signature(getattr(Engine, name)).parameters if each != "self"]
    arguments = {each: ARGUMENTS[each] for each in parameters}
    found = getattr(kind(inner), name)(**arguments)
    assert calls[-1] == (name, arguments)
    returns_nothing = inspect.signature(getattr(Engine, name)).return_annotation in {None, "None"}
    assert found == (None if returns_nothing else name)


def test_a_table_on_the_server_of_the_outer_engine_is_attached_as_one_of_the_inner_engine() -> None:
    inner, calls = spy()
    outer = DelegatingEngine(inner)
    outer.attach("t", source_from_data("t", "schema.table", engine=outer))
    content = calls[-1][1]["source"].content
    assert isinstance(content, Stored)
    assert content.connection is inner


MODEL = check_text("param c/1; var x(I) in c(I) >= 0; minimize total: sum{I in c(I)} c(I)*x(I);")


def test_the_limit_of_a_model_holds_when_its_queries_are_recorded() -> None:
    inner = MemoryEngine()
    with RecordingEngine(inner) as engine:
        ground(MODEL, {"c": {"i": np.arange(3), "v": np.ones(3)}}, engine=engine, limit=4000)
        assert inner.most_work == 4000 * WORK_FACTOR
        assert "-- the objective" in shown_queries(engine)


def test_the_users_arrays_are_let_go_when_queries_are_recorded() -> None:
    keys, values = np.arange(3), np.array([1.0, 2.0, 3.0])
    inner = MemoryEngine()
    with RecordingEngine(inner) as engine:
        ground(MODEL, {"c": {"i": keys, "v": values}}, engine=engine)
        kept = [vector.data for table in inner._known().values() for vector in table.columns.values()]
        assert kept
        assert not any(np.may_share_memory(array, given) for array in kept for given in (keys, values))


def test_two_recorded_models_on_one_engine_do_not_share_names_of_tables() -> None:
    data = {"c": {"i": np.arange(3), "v": np.ones(3)}}
    with MemoryEngine() as inner:
        first = ground(MODEL, data, engine=RecordingEngine(inner))
        second = ground(MODEL, data, engine=RecordingEngine(inner))
        assert first.program.q.tolist() == second.program.q.tolist() == [1.0, 1.0, 1.0]
