"""Classes of indistinguishable things, numbered so that equal partitions have equal labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from relift.arrays import Indices, Labels, SparseMatrix
from relift.errors import PartitionError
from relift.program.arrays import kept
from relift.program.index_sets import all_of, constant
from relift.program.passes import class_sizes, first_members, numbered
from relift.records import cached_property

_WORDS = (np.dtype(np.int64), np.dtype(np.uint64))

KEPT_SIZE = 256
"""Partitions of up to so many elements into single ones are made once."""


@final
@dataclass(frozen=True, eq=False)
class Partition:
    """Classes ``0 .. n_classes-1`` of ``0 .. size-1``, by smallest member, so that equal partitions have equal labels.

    Parameters
    ----------
    labels
        The class of each element; any hashable-by-value integers, renumbered on the way in by
        :meth:`from_labels`. The constructor itself takes labels that already are in this form, and copies them unless
        they are read-only and own their data.

    Examples
    --------
    >>> Partition.from_labels([7, 3, 7]).labels.tolist()
    [0, 1, 0]
    >>> Partition.from_labels([1, 0, 1]) == Partition.from_labels([5, 9, 5])
    True
    """

    labels: Labels

    def __post_init__(self) -> None:
        labels = np.asarray(self.labels)
        if labels.ndim != 1 or labels.dtype.kind not in "iu" or isinstance(self.labels, np.ma.MaskedArray):
            raise PartitionError("labels are not a list of whole numbers.", "Partition.from_labels takes other labels.")
        labels = labels.astype(np.int64, copy=False)
        new = np.ones(labels.size, dtype=bool)  # a label is at most one above all before it
        if labels.size:
            highest = np.maximum.accumulate(labels)
            new[0] = labels[0] == 0
            new[1:] = labels[1:] <= highest[:-1] + 1
        if not new.all() or (labels < 0).any():
            raise PartitionError(
                "labels are not numbered by smallest member.", "Partition.from_labels numbers any labels so."
            )
        object.__setattr__(self, "labels", kept(labels, is_ours=labels is not self.labels))

    def __reduce__(self) -> tuple[object, ...]:
        return Partition, (self.labels,)  # through the constructor: a restored array could be written

    @classmethod
    def from_labels(cls, labels: ArrayLike) -> Partition:
        """Renumber any integer labels by smallest member."""
        if type(labels) is np.ndarray and labels.ndim == 1 and labels.dtype in _WORDS:
            return cls.trusted(*numbered(labels.view(np.int64)))  # words: other numbers, equal where these are
        given = np.asarray(labels)
        if given.ndim != 1:
            raise PartitionError(f"labels have {given.ndim} dimensions.", "Give one label for each element.")
        if np.ma.is_masked(labels):
            raise PartitionError("some labels are masked.", "Give one label for each element.")
        try:
            whole = given if given.dtype.kind in "iu" else np.unique(given, return_inverse=True)[1]
        except TypeError:
            raise PartitionError("labels of several types cannot be compared.", "Give whole numbers.") from None
        return cls.trusted(*numbered(whole.astype(np.int64, copy=False)))

    @classmethod
    def trusted(cls, labels: Labels, n_classes: int | None = None) -> Partition:
        """A partition from labels known to be numbered by smallest member, which nobody else keeps: not checked.

        Parameters
        ----------
        labels
            The class of each element, as 64-bit integers; those of single elements are shared and given up.
        n_classes
            How many classes there are, if that is known.
        """
        size = labels.size
        if size > KEPT_SIZE and labels[-1] == size - 1:  # numbered by smallest member: each is alone
            labels, n_classes = all_of(size), size
        partition = object.__new__(cls)
        object.__setattr__(partition, "labels", _read_only(labels))
        if n_classes is not None:
            partition.__dict__["n_classes"] = n_classes
        return partition

    @classmethod
    def discrete(cls, size: int) -> Partition:
        """Every element alone; small ones are the same object each time, since a partition never changes."""
        return _discrete(size) if size <= KEPT_SIZE else cls.trusted(all_of(size), size)

    @classmethod
    def one_class(cls, size: int) -> Partition:
        """All elements together."""
        return cls.trusted(np.zeros(size, dtype=np.int64))

    @property
    def size(self) -> int:
        """How many elements are partitioned."""
        return int(self.labels.size)

    @cached_property
    def n_classes(self) -> int:
        """How many classes there are."""
        return int(self.labels.max()) + 1 if self.labels.size else 0

    @cached_property
    def is_discrete(self) -> bool:
        """Whether every class has one member."""
        return self.n_classes == self.size

    @cached_property
    def class_sizes(self) -> Indices:
        """How many members each class has."""
        if self.is_discrete:
            return constant(1, self.size)
        return _read_only(class_sizes(self.labels, self.n_classes))

    @cached_property
    def representatives(self) -> Indices:
        """The smallest member of each class."""
        if self.is_discrete:
            return self.labels
        return _read_only(first_members(self.labels, self.n_classes))

    @cached_property
    def indicator(self) -> SparseMatrix:
        """The 0/1 matrix (size x n_classes) of the classes, as ``scipy.sparse.csr_array``."""
        matrix: SparseMatrix = sparse.csr_array(
            (np.ones(self.size), self.labels, np.arange(self.size + 1)), shape=(self.size, self.n_classes)
        )
        return matrix

    def members(self, label: int) -> Indices:
        """The elements of one class, in order."""
        return np.flatnonzero(self.labels == label)

    def refines(self, other: Partition) -> bool:
        """Whether every class of this partition lies inside one class of the other."""
        if self.size != other.size:
            raise PartitionError(f"partitions of {self.size} and {other.size} elements cannot be compared.")
        return bool(np.array_equal(other.labels, other.labels[self.representatives][self.labels]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Partition) and bool(np.array_equal(self.labels, other.labels))

    def __hash__(self) -> int:
        return hash(self.labels.tobytes())

    def __repr__(self) -> str:
        return f"Partition({self.size} elements in {self.n_classes} classes)"


@lru_cache(maxsize=64)
def _discrete(size: int) -> Partition:
    return Partition.trusted(np.arange(size, dtype=np.int64), size)


def _read_only(array: NDArray[np.int64]) -> Indices:
    array.flags.writeable = False
    return array
