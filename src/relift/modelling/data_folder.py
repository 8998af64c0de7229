"""A folder of tables: one CSV or Parquet file for each relation and param, by name."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import final

from relift.errors import DataError
from relift.grounding.load_data import known_names
from relift.language.checked_model import CheckedModel
from relift.tables.sources.table import FILE_KINDS, Table

SCALARS = "params.csv"
"""The file with the values of params without arguments: columns ``name`` and ``value``."""


@final
@dataclass(frozen=True)
class DataFolder:
    """A folder of tables, with words about its files; to be given as ``data=``.

    Parameters
    ----------
    folder
        Where it is.
    headers
        Whether text files begin with a line of column names, by name; under ``""`` for all others.
    """

    folder: str | Path
    headers: Mapping[str, bool] = field(default_factory=dict)


def tables_from_folder(
    model: CheckedModel, folder: str | Path, headers: Mapping[str, bool] | None = None
) -> dict[str, object]:
    """The tables that a folder holds for a model.

    ``cite.csv`` (or ``.tsv``, ``.parquet``) is the table of ``cite``; ``params.csv`` gives the values of params without
    arguments, one in each line. Other files are left alone.

    Parameters
    ----------
    model
        The model.
    folder
        Where to look.
    headers
        Whether text files begin with a line of column names, by name (``"cite"``, ``"params"``); under ``""`` for all
        others. Without it the files tell, or are refused.

    Raises
    ------
    DataError
        If there is no such folder, two files claim the same name, or a file is missing for a name that has no data in
        the model.
    """
    folder = Path(folder)
    headers = dict(headers or {})
    if not folder.is_dir():
        raise DataError(f"there is no folder {str(folder)!r}.")
    files: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in FILE_KINDS and path.is_file():
            files.setdefault(path.stem, []).append(path)
    names = known_names(model)
    for name in headers:
        if name not in {"", SCALARS[:-4], *names}:
            raise DataError(f"a header is declared for {name!r}, which the model does not declare.")
    found: dict[str, object] = {}
    if SCALARS[:-4] not in names:
        found |= _scalars(folder / SCALARS, names, headers.get(SCALARS[:-4], headers.get("")))
    for name, arity in names.items():
        claims = files.get(name, [])
        if len(claims) > 1:
            raise DataError(
                f"{' and '.join(path.name for path in claims)} in {str(folder)!r} both give the table of {name!r}.",
                "Keep one of them.",
            )
        if claims and arity == 0:
            raise DataError(f"{claims[0]} cannot be the value of {name!r}.", f"Write it into {SCALARS}.", table=name)
        if claims:
            header = headers.get(name, headers.get("")) if FILE_KINDS[claims[0].suffix.lower()] == "csv" else None
            found[name] = claims[0] if header is None else Table(claims[0], header=header)
        elif name not in found and needs_table(model, name, arity):
            raise _no_file(model, name, folder, list(files))
    return found


def needs_table(model: CheckedModel, name: str, arity: int) -> bool:
    """Whether a name has no data in the model, and cannot do without."""
    if name in model.facts or arity == 0 or any(name in stratum.predicates for stratum in model.strata):
        return False
    parameter = model.parameters.get(name)
    declared = parameter or model.relations[name]
    return declared.source is None and (parameter is None or parameter.default is None)


def _no_file(model: CheckedModel, name: str, folder: Path, stems: list[str]) -> DataError:
    kind = "param" if name in model.parameters else "relation"
    span = (model.parameters.get(name) or model.relations[name]).span
    close = get_close_matches(name, stems, 1)
    hint = f"Did you mean it by {close[0]!r}? " if close else ""
    return DataError(
        f"there is no table for the {kind} {name!r} in {str(folder)!r}.",
        f"{hint}It would be called {name}.csv or {name}.parquet.",
        model.source.excerpt(span) if model.source.text else "",
        name,
    )


def _scalars(path: Path, names: dict[str, int], header: bool | None) -> dict[str, float]:
    if not path.is_file():
        return {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text.", "Save it as UTF-8.") from error
    except csv.Error as error:
        raise DataError(f"{path} cannot be read: {error}.") from error
    values: dict[str, float] = {}
    if rows and header is None and len(rows[0]) == 2 and _is_number(rows[0][1]):
        raise DataError(
            f"{path}: its first line ({', '.join(rows[0])}) may hold names of columns, or data.",
            "Write name,value as its first line, or say --header params=no.",
        )
    skipped = 0 if header is False else 1
    for number, row in enumerate(rows[skipped:], skipped + 1):
        if len(row) != 2:
            raise DataError(f"{path}, line {number}: {len(row)} entries.", "Each line is a name and a value.")
        name, text = (entry.strip() for entry in row)
        if name in values:
            raise DataError(f"{path}, line {number}: {name!r} has a value already.", "Keep one of them.")
        if names.get(name) == 0:
            values[name] = number_from_text(text, f"{path}, line {number}: {name}")
    return values


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def number_from_text(text: str, where: str) -> float:
    """A finite number written as text; whole numbers stay whole.

    Raises
    ------
    DataError
        If it is not one.
    """
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if value - value == 0:
            return value
    raise DataError(f"{where} is {text!r}, which is not a number.")
