"""What a case of the fuzzer comes to: counts, and failures with all that is needed to see them again."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Failure:
    """Something that must not happen."""

    signature: str
    """The same for failures that are likely to have one cause; only a few of each are kept."""
    sentence: str
    reproduction: str
    """Code, or a file with how to read it."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class Outcome:
    """Counts by word, and failures."""

    counts: dict[str, int] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    def count(self, word: str, number: int = 1) -> None:
        self.counts[word] = self.counts.get(word, 0) + number
