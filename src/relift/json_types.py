"""What JSON can hold, as far as relift writes and reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""Anything that JSON can hold."""

JsonObject: TypeAlias = dict[str, Json]
"""An object of JSON that is being put together."""
