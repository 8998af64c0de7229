"""Files by pattern when that is asked for, and by nothing but their name otherwise."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from relift.errors import DataError


@final
@dataclass(frozen=True)
class Files:
    """Files that hold one table together; made by :func:`files`."""

    pattern: str

    def paths(self, label: str, folder: Path | None = None) -> tuple[Path, ...]:
        """The files, in the order of their names.

        Parameters
        ----------
        label
            The table, for messages.
        folder
            Where relative patterns begin.

        Raises
        ------
        DataError
            If there is none.
        """
        found = glob.glob(self.pattern, root_dir=folder, recursive=True)
        paths = sorted(path for name in found if (path := Path(folder or "") / name).is_file())
        if not paths:
            raise DataError(f"{label}: no file matches {self.pattern!r}.", "Look at the pattern and where it begins.")
        return tuple(paths)


def files(pattern: str | os.PathLike[str]) -> Files:
    """Many files as one table: their rows one after the other.

    All files must be of one kind and have the same columns.

    Parameters
    ----------
    pattern
        ``*`` for anything in a name, ``?`` for one character, ``[ab]`` for one of some, ``**`` for folders of any
        depth.

    Examples
    --------
    >>> import relift
    >>> relift.files("sales/2026-*.csv")
    Files(pattern='sales/2026-*.csv')
    """
    return Files(os.fspath(pattern))


def literal_pattern(path: Path) -> str:
    """A pattern of DuckDB that stands for one file: each sign with a meaning becomes a class of its own.

    Examples
    --------
    >>> literal_pattern(Path("/data/run[1]/a*.csv"))
    '/data/run[[]1]/a[*].csv'
    """
    return re.sub(r"[*?\[]", r"[\g<0>]", str(path))


def literal_in_spark(path: str) -> str:
    r"""A path for Spark's readers, which take every path as a pattern of Hadoop.

    Examples
    --------
    >>> print(literal_in_spark("hdfs://shop/run[1]"))
    hdfs://shop/run\[1\]
    """
    return re.sub(r"[\[\]{}*?\\]", r"\\\g<0>", path)


def other_columns(label: str, first: Path, names: Sequence[str], path: Path, found: Sequence[str]) -> DataError:
    """The error of files that do not fit together."""
    return DataError(
        f"{label}: {path.name!r} has the columns {', '.join(map(repr, found))}, "
        f"and {first.name!r} has {', '.join(map(repr, names))}.",
        "Files of one table have the same columns in the same order.",
    )
