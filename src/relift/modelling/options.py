"""The options of models by name, for functions that pass them on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from relift.pipeline import SolveOptions
from relift.settings import ProgressCallback

if TYPE_CHECKING:
    from relift.in_database.verify import Verify
    from relift.tables.open_engine import EngineLike


class EngineSolveOptions(SolveOptions, total=False):
    """Options of lifting inside an engine, and of the solve of the small program."""

    verify: Verify
    seed: int
    resume: bool


class GroundOptions(TypedDict, total=False):
    """The options of :func:`ground_model` by name."""

    engine: EngineLike
    folder: str | Path | None
    limit: int | None
    progress: ProgressCallback | None


class ModelOptions(SolveOptions, GroundOptions, total=False):
    """The options of :func:`solve_model` by name."""


class EngineModelOptions(EngineSolveOptions, GroundOptions, total=False):
    """The options of :func:`solve_model_in_engine` by name."""

    memory_limit: str | None
    spill_limit: str | None
    database: str | Path | None
