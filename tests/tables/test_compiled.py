from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relift.tables import compiled as kernels
from relift.tables import compiled_reference as reference
from relift.tables.memory.string_ids import Texts

pytestmark = pytest.mark.skipif(not kernels.CORE_IS_COMPILED, reason="the compiled kernels are not built")

# Close keys address a table, far ones are hashed, and some of them share the low bits of their hash.
close = st.integers(-5, 5)
far = st.sampled_from([-(2**63), 2**63 - 1, 0, 2**32, 2**33, -(2**40), 10**18])
key_lists = st.lists(close, max_size=40) | st.lists(close | far, max_size=40)


def _keys(values: list[int]) -> Any:
    return np.array(values, np.int64)


@given(values=key_lists)
def test_groups_and_order(values: list[int]) -> None:
    keys = _keys(values)
    for found, expected in zip(kernels.group(keys), reference.group(keys), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert kernels.all_distinct(keys) == (len(set(values)) == len(values))
    np.testing.assert_array_equal(kernels.sorted_rows(keys), np.argsort(keys, kind="stable"))


@given(left=key_lists, right=key_lists, keep_all=st.booleans(), most=st.sampled_from([0, 3, 10**6]))
def test_joins(left: list[int], right: list[int], keep_all: bool, most: int) -> None:
    found = kernels.join(_keys(left), _keys(right), keep_all, most)
    expected = reference.join(_keys(left), _keys(right), keep_all, 10**9)
    assert not isinstance(expected, int)
    if isinstance(found, int):
        assert found == expected[1].size > most
        return
    rows = [np.arange(len(left)) if first is None else first for first, _ in (found, expected)]
    np.testing.assert_array_equal(rows[0], rows[1])
    np.testing.assert_array_equal(found[1], expected[1])
    np.testing.assert_array_equal(kernels.contains(_keys(left), _keys(right)), np.isin(_keys(left), _keys(right)))


@given(rows=st.lists(st.integers(-1, 3), max_size=20), kind=st.sampled_from([np.bool_, np.int32, np.int64, np.float64]))
def test_values_are_gathered(rows: list[int], kind: Any) -> None:
    values = np.array([1, 0, 3, 4]).astype(kind)
    found = kernels.gather(values, np.array(rows, np.int32))
    assert found.dtype == values.dtype
    assert found.tolist() == [values[r].item() if r >= 0 else kind(0).item() for r in rows]
    assert kernels.gather(np.empty(0, kind), np.full(2, -1, np.int32)).tolist() == [0, 0]


def test_many_keys_are_parted_and_hashed() -> None:
    random = np.random.default_rng(0)
    keys = random.integers(-(2**62), 2**62, 300_000)
    assert kernels.all_distinct(keys)
    keys[-1] = keys[7]
    assert not kernels.all_distinct(keys)
    numbers, first = kernels.group(keys)
    assert first.size == keys.size - 1
    assert numbers[-1] == 7


@given(
    entries=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40), st.sampled_from([0.0, 1.0, -2.5])), max_size=80),
    has_values=st.booleans(),
)
def test_compressed_rows(entries: list[tuple[int, int, float]], has_values: bool) -> None:
    rows, columns = (np.array([e[k] for e in entries], np.int32) for k in (0, 1))
    values = np.array([e[2] for e in entries]) if has_values else None
    found = kernels.rows_from_triplets(rows, columns, values, (4, 41))
    expected = reference.rows_from_triplets(rows, columns, values, (4, 41))
    assert found[3:] == expected[3:]
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])
    if values is not None:
        np.testing.assert_array_equal(found[2], expected[2])


@given(of_row=st.lists(st.integers(0, 2), max_size=6), has_scale=st.booleans(), has_data=st.booleans())
def test_rows_are_placed(of_row: list[int], has_scale: bool, has_data: bool) -> None:
    starts, indices = np.array([0, 2, 2, 3], np.int32), np.array([0, 4, 1], np.int32)
    data = np.array([1.0, 2.0, -3.0]) if has_data else None
    rows = np.array(of_row, np.int32)
    scale = np.arange(1.0, rows.size + 1) if has_scale else None
    lengths = np.diff(starts)[rows]
    into = []
    for place in (kernels.place_rows, reference.place_rows):
        following = np.concatenate([[0], np.cumsum(lengths + 1)])[: rows.size].astype(np.int64)
        total = int((lengths + 1).sum())
        target = following, np.full(total, -1, np.int32), np.zeros(total)
        place((starts, indices, data), rows, scale, 10, target)
        into.append(target)
    for found, expected in zip(*into, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_entries_outside_are_refused() -> None:
    rows, ones = np.array([0, 5], np.int32), np.ones(2)
    with pytest.raises(ValueError, match="outside"):
        kernels.rows_from_triplets(rows, np.zeros(2, np.int32), ones, (3, 3))
    block = np.array([0, 1], np.int32), np.array([0], np.int32), None
    with pytest.raises(ValueError, match="outside"):
        kernels.place_rows(block, np.array([1], np.int32), None, 0, (np.zeros(1, np.int64), rows, ones))
    with pytest.raises(ValueError, match="fit"):
        kernels.place_rows(block, None, None, 0, (np.full(1, 2), rows, ones))
    with pytest.raises(ValueError, match="type"):
        kernels.group(np.zeros(3))  # type: ignore[arg-type]


@settings(deadline=None)
@given(texts=st.lists(st.none() | st.text(max_size=20), max_size=60))
def test_texts_are_numbered_alike_from_objects_and_from_arrow(texts: list[str | None]) -> None:
    pa = pytest.importorskip("pyarrow")
    dictionary = Texts()
    numbers = dictionary.numbers(texts)
    for kind in (pa.string(), pa.large_string()):
        column = pa.array([*texts[:1], *texts], kind)[1:] if texts else pa.array([], kind)
        np.testing.assert_array_equal(dictionary.numbers_of_arrow(column), numbers)
    known = dictionary.array()
    assert [None if n < 0 else known[n] for n in numbers] == texts
    assert len(dictionary) == len(set(texts) - {None})
    assert known[np.argsort(dictionary.ranks())].tolist() == sorted(set(texts) - {None})


# --- recursion ---

small = st.integers(-1, 3)


@st.composite
def recursions(draw: Any) -> tuple[list[Any], list[kernels.Step]]:
    """Two predicates of one and two columns, and steps between them."""
    widths = (1, 2)
    sets = [np.array(draw(st.lists(st.tuples(*[small] * w), max_size=4)), np.int64).reshape(-1, w) for w in widths]
    steps = []
    for _ in range(draw(st.integers(1, 3))):
        source, target, width = draw(st.sampled_from([0, 1])), draw(st.sampled_from([0, 1])), draw(st.integers(1, 3))
        rest = np.array(draw(st.lists(st.tuples(*[small] * width), max_size=5)), np.int64).reshape(-1, width)
        places = st.integers(-width, widths[source] - 1)
        on = draw(st.lists(st.tuples(st.integers(0, widths[source] - 1), st.integers(0, width - 1)), max_size=2))
        tests = draw(st.lists(st.tuples(st.integers(0, 3), places, places), max_size=2))
        outputs = [draw(places) for _ in range(widths[target])]
        arrays = (np.array(part, np.int32).reshape(-1) for part in (on, outputs, tests))
        steps.append(kernels.Step(source, target, rest, *arrays))
    return sets, steps


@given(drawn=recursions(), most=st.sampled_from([1, 5, 1000]))
def test_closures(drawn: Any, most: int) -> None:
    sets, steps = drawn
    found, expected = kernels.closure(sets, steps, most), reference.closure(sets, steps, most)
    if found is None or expected is None:
        whole = reference.closure(sets, steps, 10**6)
        assert whole is not None
        assert max(part.shape[0] for part in whole[0]) > most
        return
    for one, other in zip(found[0], expected[0], strict=True):
        assert sorted(one.tolist()) == sorted(other.tolist())
    assert found[1] == expected[1]


@given(batches=st.lists(st.lists(st.tuples(small, far), max_size=8), max_size=4))
def test_sets_of_tuples_tell_what_is_new(batches: list[list[tuple[int, int]]]) -> None:
    known, seen = kernels.TupleSet(2), set[tuple[int, int]]()
    for batch in batches:
        expected = []
        for row in batch:
            expected.append(row not in seen)
            seen.add(row)
        assert known.add(np.array(batch, np.int64).reshape(-1, 2)).tolist() == expected


def test_steps_that_do_not_fit_are_refused() -> None:
    none, edges = np.empty(0, np.int32), np.array([[1, 2]])
    for step in (
        kernels.Step(0, 0, edges, np.array([2, 0], np.int32), np.array([0, 1], np.int32), none),
        kernels.Step(0, 0, edges, np.array([0, 2], np.int32), np.array([0, 1], np.int32), none),
        kernels.Step(0, 0, edges, none, np.array([0, -3], np.int32), none),
        kernels.Step(0, 0, edges, none, np.array([0], np.int32), none),
        kernels.Step(0, 0, edges, none, np.array([0, 1], np.int32), np.array([7, 0, 0], np.int32)),
        kernels.Step(0, 3, edges, none, np.array([0, 1], np.int32), none),
    ):
        with pytest.raises(ValueError, match=r"outside of|wrong length|no such"):
            kernels.closure([edges], [step], 10)
