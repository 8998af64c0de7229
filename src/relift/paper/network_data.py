"""Citation networks as the LINQS group distributes them: ``NAME.content`` and ``NAME.cites``, plain or packed.

A line of the content file is the name of an example, its attributes (0, 1 or other numbers), and its subject, separated
by tabs; a line of the cites file names the cited and the citing example. Links that name an example without content,
links of an example to itself and links that occur twice are counted and dropped.
"""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np
from scipy import sparse

from relift.errors import DataError
from relift.paper.svm_learners import Network

DATA_HELP = "a folder with one pair of files NAME.content and NAME.cites (also packed, .gz), or one of the two files"


@final
@dataclass(frozen=True)
class NetworkFiles:
    """The two files of a network.

    Parameters
    ----------
    folder
        Where they lie.
    name
        Of the network, the beginning of both names.
    """

    folder: Path
    name: str

    def checksums(self) -> dict[str, str]:
        """SHA-256 of both files, unpacked."""
        names = (f"{self.name}.content", f"{self.name}.cites")
        return {name: hashlib.sha256(unpacked(self.folder, name)).hexdigest() for name in names}


@final
@dataclass(frozen=True, eq=False)
class ReadNetwork:
    """A network and what was found in its files.

    Parameters
    ----------
    network
        Examples, labels (1 for the largest subject, -1 for the others) and links.
    subject
        The largest subject.
    n_subjects
        How many subjects there are.
    is_binary
        Whether all attributes are 0 or 1: words that occur or not.
    n_lines
        Lines of the cites file.
    n_dangling, n_loops, n_doubles
        Links that were dropped: to or from an example without content, of an example to itself, a second time.
    """

    network: Network
    subject: str
    n_subjects: int
    is_binary: bool
    n_lines: int
    n_dangling: int
    n_loops: int
    n_doubles: int

    @property
    def note(self) -> str:
        """What was dropped, in words; empty if nothing was."""
        found = [
            (self.n_dangling, "name an example that has no content"),
            (self.n_loops, "lead from an example to itself"),
            (self.n_doubles, "occur a second time"),
        ]
        told = [f"{count:,} {what}" for count, what in found if count]
        return f"Of {self.n_lines:,} links {', '.join(told)}: these were dropped." if told else ""


def _stems(folder: Path, kind: str) -> set[str]:
    return {
        path.name.removesuffix(".gz").removesuffix(kind)
        for path in folder.iterdir()
        if path.is_file() and path.name.removesuffix(".gz").endswith(kind)
    }


def find_network(path: Path) -> NetworkFiles:
    """Find the pair of files that a path names.

    Parameters
    ----------
    path
        A folder with one pair, or one file of a pair.

    Raises
    ------
    DataError
        If there is no pair, or several.
    """
    folder = path if path.is_dir() else path.parent
    pairs = sorted(_stems(folder, ".content") & _stems(folder, ".cites"))
    if not path.is_dir():
        name = path.name.removesuffix(".gz").removesuffix(".content").removesuffix(".cites")
        if name not in pairs:
            raise DataError(f"{path} is not one of a pair of files NAME.content and NAME.cites.")
        return NetworkFiles(folder, name)
    if not pairs:
        raise DataError(f"{path} holds no pair of files NAME.content and NAME.cites.")
    if len(pairs) > 1:
        raise DataError(
            f"{path} holds several networks: {', '.join(pairs)}.", f"Name one of them: --data {path / pairs[0]}.content"
        )
    return NetworkFiles(folder, pairs[0])


def is_network(path: Path) -> bool:
    """Whether a path is a folder with such files, or one of them."""
    if path.is_dir():
        return bool(_stems(path, ".content") & _stems(path, ".cites"))
    return path.is_file() and path.name.removesuffix(".gz").endswith((".content", ".cites"))


def read_network(files: NetworkFiles, *, drops: bool = True) -> ReadNetwork:
    """Read a network; the largest subject is label 1, the others are -1.

    Parameters
    ----------
    files
        Both files.
    drops
        Whether links of examples without content are dropped; otherwise they are an error.

    Raises
    ------
    DataError
        If a line is not what it should be; the file and the line are named.
    """
    content, _cites = f"{files.name}.content", f"{files.name}.cites"
    number: dict[str, int] = {}
    subjects: list[str] = []
    rows: list[np.ndarray] = []
    for line, text in enumerate(_text(files.folder, content).splitlines(), 1):
        name, *entries, subject = text.split("\t") if text.count("\t") > 1 else ("", "", "")
        if not name or not subject or name in number:
            raise DataError(f"{content}, line {line}: no example, attributes and subject, or an example a second time.")
        try:
            values = np.array(entries, dtype=np.float64)
        except ValueError as error:
            raise DataError(f"{content}, line {line}: attributes that are not numbers.") from error
        if not np.isfinite(values).all():
            raise DataError(f"{content}, line {line}: attributes that are not finite.")
        if rows and len(values) != len(rows[0]):
            raise DataError(f"{content}, line {line}: {len(values)} attributes, not {len(rows[0])}.")
        number[name] = len(number)
        subjects.append(subject)
        rows.append(values)
    if not rows:
        raise DataError(f"{content} is empty.")
    names, sizes = np.unique(subjects, return_counts=True)
    if len(names) < 2:
        raise DataError(f"{content} has one subject only, {names[0]}: there is nothing to tell apart.")
    largest = str(names[np.argmax(sizes)])
    links, counts = _links(files, number, drops)
    table = np.stack(rows)
    labels = np.where(np.array(subjects) == largest, 1, -1).astype(np.int64)
    network = Network(sparse.csr_array(table), labels, links)
    is_binary = bool(((table == 0) | (table == 1)).all())
    return ReadNetwork(network, largest, len(names), is_binary, *counts)


def _links(files: NetworkFiles, number: dict[str, int], drops: bool) -> tuple[np.ndarray, tuple[int, int, int, int]]:
    name = f"{files.name}.cites"
    links: dict[tuple[int, int], None] = {}
    lines = dangling = loops = doubles = 0
    for line, text in enumerate(_text(files.folder, name).splitlines(), 1):
        ends = text.split()
        if len(ends) != 2:
            raise DataError(f"{name}, line {line}: not the names of two examples.")
        lines += 1
        if ends[0] not in number or ends[1] not in number:
            if not drops:
                raise DataError(f"{name}, line {line}: not the names of two examples of {files.name}.content.")
            dangling += 1
            continue
        link = (number[ends[1]], number[ends[0]])  # a line is "cited citing"
        loops += link[0] == link[1]
        doubles += link in links
        if link[0] != link[1]:
            links[link] = None
    return np.array(list(links), dtype=np.int64).reshape(-1, 2), (lines, dangling, loops, doubles)


def unpacked(folder: Path, name: str) -> bytes:
    """The content of a file, or of the packed file beside it.

    Raises
    ------
    DataError
        If it cannot be unpacked.
    """
    plain, packed = folder / name, folder / f"{name}.gz"
    if plain.is_file() or not packed.is_file():
        return plain.read_bytes()
    try:
        return gzip.decompress(packed.read_bytes())
    except (OSError, EOFError) as error:
        raise DataError(f"{packed} cannot be unpacked ({error}).") from error


def _text(folder: Path, name: str) -> str:
    try:
        return unpacked(folder, name).decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{name} is not UTF-8 text ({error}).") from error
