"""Equal partitions have equal labels, and what is derived from them fits together."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relift.errors import PartitionError
from relift.symmetry.partition import Partition

LABELS = st.lists(st.integers(-3, 3), max_size=20)


@given(labels=LABELS, seed=st.integers(0, 10**6))
def test_renaming_the_labels_changes_nothing(labels: list[int], seed: int) -> None:
    names = np.random.default_rng(seed).permutation(100)
    partition = Partition.from_labels(np.array(labels, dtype=np.int64))
    renamed = Partition.from_labels(names[np.array(labels, dtype=np.int64) + 3])
    assert partition == renamed
    assert hash(partition) == hash(renamed)
    assert partition.labels.tolist() == renamed.labels.tolist()


@given(labels=LABELS)
def test_classes_are_numbered_by_smallest_member(labels: list[int]) -> None:
    partition = Partition.from_labels(np.array(labels, dtype=np.int64))
    assert np.array_equal(partition.representatives, np.sort(partition.representatives))
    for label in range(partition.n_classes):
        members = partition.members(label)
        assert members[0] == partition.representatives[label]
        assert members.size == partition.class_sizes[label]
        assert len({labels[i] for i in members}) == 1
    assert partition.class_sizes.sum() == partition.size == len(labels)
    assert partition.n_classes == len(set(labels))
    assert partition.is_discrete == (len(set(labels)) == len(labels))


@given(labels=LABELS)
def test_the_indicator_has_one_1_in_each_row(labels: list[int]) -> None:
    partition = Partition.from_labels(np.array(labels, dtype=np.int64))
    S = partition.indicator.toarray()
    assert S.shape == (partition.size, partition.n_classes)
    assert np.array_equal(S.sum(axis=1), np.ones(partition.size))
    assert np.array_equal(S.T @ S, np.diag(partition.class_sizes.astype(float)))
    assert np.array_equal(S @ np.arange(partition.n_classes), partition.labels)


@given(pairs=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=15))
def test_a_partition_refines_what_it_was_split_from(pairs: list[tuple[int, int]]) -> None:
    coarse = Partition.from_labels([a for a, _ in pairs])
    fine = Partition.from_labels([3 * a + b for a, b in pairs])
    assert fine.refines(coarse)
    assert coarse.refines(fine) == (coarse == fine)
    assert Partition.discrete(len(pairs)).refines(fine)
    assert fine.refines(Partition.one_class(len(pairs)))


def test_a_partition_of_nothing_has_no_classes() -> None:
    empty = Partition.from_labels([])
    assert (empty.size, empty.n_classes, empty.is_discrete) == (0, 0, True)
    assert empty == Partition.discrete(0) == Partition.one_class(0)
    assert empty.indicator.shape == (0, 0)
    assert empty.class_sizes.size == empty.representatives.size == 0


def test_any_values_that_can_be_compared_serve_as_labels() -> None:
    assert Partition.from_labels(["b", "a", "b"]).labels.tolist() == [0, 1, 0]
    assert Partition.from_labels([2**63, 1, 2**63]).labels.tolist() == [0, 1, 0]
    assert Partition.from_labels(np.array([-1, -2, -1])).n_classes == 2  # hash(-1) == hash(-2), and yet


def test_partitions_that_do_not_fit_are_refused() -> None:
    with pytest.raises(PartitionError, match=r"labels have 2 dimensions. Give one label for each element."):
        Partition.from_labels([[0, 1], [1, 0]])
    with pytest.raises(PartitionError, match=r"partitions of 2 and 3 elements cannot be compared."):
        Partition.discrete(2).refines(Partition.discrete(3))
    assert Partition.one_class(2) != Partition.one_class(3)
    assert Partition.one_class(2) != [0, 0]


def test_a_partition_does_not_change() -> None:
    given_ = np.array([5, 5, 7])
    partition = Partition.from_labels(given_)
    with pytest.raises(ValueError, match="read-only"):
        partition.labels[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        partition.class_sizes[0] = 1
    with pytest.raises(FrozenInstanceError):
        partition.labels = given_  # type: ignore[misc]
    given_[0] = 9
    assert partition.labels.tolist() == [0, 0, 1]


def test_a_partition_survives_pickling() -> None:
    partition = Partition.from_labels([1, 0, 1])
    assert partition.n_classes == 2
    assert pickle.loads(pickle.dumps(partition)) == partition


def test_it_prints_its_sizes() -> None:
    assert repr(Partition.from_labels([0, 1, 0])) == "Partition(3 elements in 2 classes)"
