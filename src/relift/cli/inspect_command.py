"""``relift inspect``: what a model is made of, and how much lifting would merge."""

from __future__ import annotations

from typing import Annotated

from relift.cli.options import (
    DigitsOption,
    JsonOption,
    MaxBytesOption,
    ModelArgument,
    NoApproximateOption,
    NoReduceOption,
    NoScaleRowsOption,
    NoSignsOption,
    NoSizesOption,
    RelaxOption,
    ValuesChoice,
    ValuesOption,
    refuse_approximate,
)
from relift.cli.words import Option
from relift.cli.work import console, print_json, read_model


def inspect_command(
    model: ModelArgument,
    values: ValuesOption = ValuesChoice.decimal,
    digits: DigitsOption = None,
    no_reduce: NoReduceOption = False,
    no_scale_rows: NoScaleRowsOption = False,
    no_sizes: NoSizesOption = False,
    no_signs: NoSignsOption = False,
    relax: RelaxOption = False,
    max_bytes: MaxBytesOption = None,
    approximate: NoApproximateOption = None,
    nearest: Annotated[
        bool, Option("--nearest", help="Also say which numbers keep variables apart, and what would merge them.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show sizes, ranges of numbers, classes by each method, and the largest classes of a model."""
    from relift.cli.inspection import inspection, show_inspection

    refuse_approximate("inspect", approximate)
    program, read_seconds = read_model(model, relax, as_json, max_bytes)
    document = inspection(program, values, digits, no_reduce, no_scale_rows, no_sizes, no_signs, as_json, nearest)
    document["timings"]["read"] = read_seconds
    if as_json:
        print_json(document)
    else:
        show_inspection(console(), program, document)
