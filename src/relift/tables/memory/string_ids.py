"""A dictionary of texts: the engine in memory keeps a number for each text and compares numbers.

>>> texts = Texts()
>>> texts.numbers(["b", "a", "b", None]).tolist(), texts.find("a"), texts.find("c")
([0, 1, 0, -1], 1, -1)
>>> texts.ranks().tolist()
[1, 0]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from relift.arrays import Cells, Codes
from relift.tables.compiled import CORE_IS_COMPILED

if TYPE_CHECKING:
    import pyarrow as pa

if CORE_IS_COMPILED:
    from relift import _tables_core as core


@final
class Texts:
    """Numbers for texts, in the order in which they come."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._capsule = core.new_texts() if CORE_IS_COMPILED else None
        self._known = np.empty(0, object)
        self._ranks: Codes = np.empty(0, np.int32)

    def numbers(self, given: list[str | None]) -> Codes:
        """The numbers of texts; -1 for None."""
        if self._capsule is not None:
            found = np.empty(len(given), np.int32)
            core.number_objects(self._capsule, given, found)
            return found
        known = self._numbers
        for text in set(given).difference(known, [None]):
            assert text is not None
            text.encode()  # raises as the compiled dictionary does if it is no valid Unicode
        return np.fromiter(
            (-1 if text is None else known.setdefault(text, len(known)) for text in given), np.int32, len(given)
        )

    def numbers_of_arrow(self, array: pa.Array) -> Codes:
        """The numbers of the texts of a PyArrow array of type string or large string."""
        if self._capsule is None:
            return self.numbers(array.to_pylist())
        kind = np.int64 if "large" in str(array.type) else np.int32
        _, starts, content = array.buffers()
        found = np.empty(len(array), np.int32)
        if not len(array):
            return found
        places = np.frombuffer(starts, kind)[array.offset : array.offset + len(array) + 1]
        is_there = None
        if array.null_count:
            is_there = np.asarray(array.is_valid()).view(np.uint8)
        core.number_arrow(self._capsule, places, b"" if content is None else content, is_there, found)
        return found

    def find(self, text: str) -> int:
        """The number of a text; -1 if it is not known."""
        if self._capsule is not None:
            return core.find_text(self._capsule, text)
        return self._numbers.get(text, -1)

    def array(self) -> Cells:
        """All texts by their numbers, as an array of objects."""
        if self._capsule is not None:
            new = core.texts_from(self._capsule, self._known.size)
        else:
            new = list(self._numbers)[self._known.size :]
        if new:
            longer = np.empty(self._known.size + len(new), object)
            longer[: self._known.size] = self._known
            longer[self._known.size :] = new
            self._known = longer
        return self._known

    def __len__(self) -> int:
        return len(self._numbers) if self._capsule is None else core.n_texts(self._capsule)

    def ranks(self) -> Codes:
        """The place of each text in the order of code points."""
        size = len(self)
        if self._ranks.size != size:
            self._ranks = np.empty(size, np.int32)
            if self._capsule is not None:
                core.ranks(self._capsule, self._ranks)
            else:
                self._ranks[sorted(range(size), key=self.array().__getitem__)] = np.arange(size, dtype=np.int32)
        return self._ranks
