"""`relift.Model`: the model of the language, with the calls that ground and solve it."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack, final, overload

from relift.grounding.ground import GroundProgram
from relift.language.build_in_python import Model as LanguageModel
from relift.modelling.model_result import ModelResult
from relift.modelling.options import EngineModelOptions, GroundOptions, ModelOptions
from relift.modelling.solve_model import DataLike, ground_model, solve_model, solve_model_in_engine

if TYPE_CHECKING:
    from relift.modelling.engine_model_result import EngineModelResult


@final
class Model(LanguageModel):
    """A relational model, built in Python, read from text, or both; see :class:`relift.language.build_in_python.Model`.

    Attributes
    ----------
    folder
        Where file names of the model begin, if it was read from a file.

    Examples
    --------
    >>> from relift import Model, sum_
    >>> m = Model()
    >>> (I,) = m.indices("I")
    >>> need, x = m.param("need", 1), None
    >>> x = m.var("x", I, where=need(I), lower=0)
    >>> m.minimise(sum_(x(I) ** 2, over=I, where=need(I)))
    >>> m.subject_to(x(I) >= need(I), forall=I, where=need(I), name="enough")
    >>> m.solve(data={"need": {"a": 1, "b": 2}})["x"].to_dict()["b"].__round__(6)
    2.0
    """

    folder: Path | None = None

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """A model from a file of UTF-8 text; names of data files in it begin in its folder."""
        model = super().from_file(path)
        model.folder = Path(path).parent
        return model

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def ground(
        self,
        data: DataLike = None,
        params: Mapping[str, float] | None = None,
        **options: Unpack[GroundOptions],
    ) -> GroundProgram:
        """The original program, and what its numbers stand for; options are those of :func:`relift.solve_model`."""
        return ground_model(self, data, params, **options)

    @overload
    def solve(
        self,
        data: DataLike = None,
        params: Mapping[str, float] | None = None,
        *,
        lift_in_engine: Literal[False] = False,
        **options: Unpack[ModelOptions],
    ) -> ModelResult: ...
    @overload
    def solve(
        self,
        data: DataLike = None,
        params: Mapping[str, float] | None = None,
        *,
        lift_in_engine: Literal[True],
        **options: Unpack[EngineModelOptions],
    ) -> EngineModelResult: ...
    def solve(
        self,
        data: DataLike = None,
        params: Mapping[str, float] | None = None,
        *,
        lift_in_engine: bool = False,
        **options: Any,
    ) -> ModelResult | EngineModelResult:
        """Ground and solve; see :func:`relift.solve_model`, or with ``lift_in_engine`` :func:`solve_model_in_engine`.

        Parameters
        ----------
        data, params
            The data.
        lift_in_engine
            Leave the original program in the engine: lift and certify it there, and fetch its quotient alone.
        options
            Options of these functions.
        """
        if lift_in_engine:
            return solve_model_in_engine(self, data, params, **options)
        return solve_model(self, data, params, **options)
