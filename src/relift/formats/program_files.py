"""Programs in files: which format is meant is told by the end of the name."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from relift.atomic import write_atomically
from relift.errors import FileFormatError, FileWarning, ProgramError
from relift.program.program import Program
from relift.read_bytes import decompressed, read_bytes

SUFFIXES = (".mps", ".qps", ".lp", ".npz", ".mps.gz", ".qps.gz", ".lp.gz")
"""The ends of file names that are known; capital letters make no difference."""

_GZIP_MAGIC = b"\x1f\x8b"
_ZIP_MAGIC = b"PK"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def read_program(path: str | Path, relax_integers: bool = False, max_bytes: int | None = None) -> Program:
    """Read a program from an MPS, QPS, LP or NumPy file; MPS, QPS and LP may be compressed by gzip.

    docs/files.md says which dialects are read. What a file holds and is not used (a second set of right-hand sides,
    text after the end) is told by a warning, :class:`relift.errors.FileWarning`.

    Parameters
    ----------
    path
        The file; its name must end in one of :data:`SUFFIXES`.
    relax_integers
        Read integer variables as continuous ones instead of refusing them.
    max_bytes
        How large the file may be, and how large what it decompresses to; None for 2 GiB, and for not more than 250
        times the size of a compressed file.

    Returns
    -------
    Program
        With the names of its variables and rows, where the file has them.

    Raises
    ------
    FileFormatError
        If the content is not what the name says, is too large, or the path is not a regular file; the message names the
        file, and the line where one can be named.
    OSError
        If there is no such file, or it may not be read.
    ProgramError
        If the numbers make no convex program.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name, "tiny.mps.gz")
    >>> write_program(Program(q=[1, 2], A=[[1, 1]], l=[1], lb=0, variable_names=["apples", "pears"]), path)
    ()
    >>> read_program(path).variable_names
    ['apples', 'pears']
    >>> folder.cleanup()
    """
    program, notes = read_program_with_notes(path, relax_integers, max_bytes)
    for note in notes:
        warnings.warn(f"{path}: {note}", FileWarning, stacklevel=2)
    return program


def read_program_with_notes(
    path: str | Path, relax_integers: bool = False, max_bytes: int | None = None
) -> tuple[Program, tuple[str, ...]]:
    """The same, with the notes on what was not used instead of warnings."""
    path = Path(path)
    if not path.exists() or path.is_dir():
        read_bytes(path, max_bytes)  # raises the error that says which
    suffix = _suffix(path)
    data = read_bytes(path, max_bytes)
    source = str(path)
    if not data:
        raise FileFormatError(f"{source} is empty.")
    if suffix == ".npz":
        from relift.formats.npz import program_from_npz

        return program_from_npz(io.BytesIO(data), source, max_bytes), ()
    if suffix.endswith(".gz"):
        data = decompressed(data, source, max_bytes)
    try:
        return _reader_of_text(suffix)(_text(data, source), source, relax_integers)
    except ProgramError as error:
        error.message = f"{source}: {error.message}"
        raise


def import_reader(path: str | Path) -> None:
    """Import what reading a file of this name needs, for those who take the time of reading alone."""
    suffix = _suffix(Path(path))
    if suffix == ".npz":
        from relift.formats import npz

        del npz
    else:
        _reader_of_text(suffix)


def _reader_of_text(suffix: str) -> Callable[[str, str, bool], tuple[Program, tuple[str, ...]]]:
    # Imported when first used: who reads LP files needs none of the others.
    if suffix.startswith(".lp"):
        from relift.formats.lp_reader import program_from_lp_with_notes

        return program_from_lp_with_notes
    from relift.formats.mps_reader import program_from_mps_with_notes

    return program_from_mps_with_notes


def write_program(program: Program, path: str | Path) -> tuple[str, ...]:
    """Write a program as MPS, LP or NumPy file, as the end of the name says.

    The file appears all at once: if writing fails, an older file of that name is still there. Numbers are
    written so that they read back as the same floats; a note tells where MPS, which writes the second side of a row
    as its distance from the first, cannot do that.

    Parameters
    ----------
    program
        What to write.
    path
        Where to; its name must end in one of :data:`SUFFIXES`.

    Returns
    -------
    tuple of str
        What a reader of the file should know: names that had to be replaced, rows that had to be split.
        Often empty.

    Raises
    ------
    FileFormatError
        If the end of the name is not known, or the format cannot hold the program: bounds from 1e20 on, which mean
        infinity in MPS and LP, quadratic constraints in LP and NumPy files, cones anywhere but in NumPy files.
    """
    from relift.formats.lp_writer import lp_lines
    from relift.formats.mps_writer import count_rounded_ranges, mps_lines
    from relift.formats.names import names_for_lp, names_for_mps
    from relift.formats.npz import write_npz

    path = Path(path)
    suffix = _suffix(path)
    if len(program.quadratic) and not suffix.startswith((".mps", ".qps")):
        raise FileFormatError(
            f"{path}: quadratic constraints cannot be written as {suffix}.", "Write .mps, which holds them."
        )
    if len(program.conic) and suffix != ".npz":
        raise FileFormatError(f"{path}: cones cannot be written as {suffix}.", "Write .npz, which holds them.")
    notes: list[str] = []
    if suffix == ".npz":
        with write_atomically(path) as file:
            write_npz(program, file)
        return ()
    is_lp = suffix.startswith(".lp")
    if program.n_variables == 0:
        raise FileFormatError(f"{path}: a program without variables cannot be written as {suffix}.", "Write .npz.")
    _check_bounds_are_finite_in_files(program, path, suffix)
    names = names_for_lp(program) if is_lp else names_for_mps(program)
    if names.replaced:
        old, new = names.replaced[0]
        notes.append(
            f"{len(names.replaced)} names that {'LP' if is_lp else 'MPS'} cannot hold were replaced, such as"
            f" {old!r} by {new!r}; the comments at the head of the file list them."
        )
    two_sided = int(((program.l > -float("inf")) & (program.u < float("inf")) & (program.l != program.u)).sum())
    if is_lp and two_sided:
        notes.append(f"{two_sided} rows with two sides were each written as two rows, .lower and .upper.")
    if not is_lp and (n_rounded := count_rounded_ranges(program)):
        notes.append(
            f"{n_rounded} rows with two sides have an end that no range gives exactly: it moves in its last digit."
        )
    lines: Iterable[str] = lp_lines(program, names) if is_lp else mps_lines(program, names)
    with write_atomically(path) as file:
        if suffix.endswith(".gz"):
            import gzip

            # No name and no time inside: equal programs make equal files.
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=6) as packed:
                packed.writelines(_chunks(lines))
        else:
            file.writelines(_chunks(lines))
    return tuple(notes)


def _check_bounds_are_finite_in_files(program: Program, path: Path, suffix: str) -> None:
    """Refuse what would read back as another program."""
    from relift.formats.mps_program import INFINITE_BOUND

    rows, variables = ("row", program.row_names), ("variable", program.variable_names)
    sides = (("l", program.l, *rows), ("u", program.u, *rows), ("lb", program.lb, *variables),
             ("ub", program.ub, *variables), ("r", program.quadratic.r, "", None))  # fmt: skip
    for name, values, kind, names in sides:
        large = np.flatnonzero(np.isfinite(values) & (np.abs(values) >= INFINITE_BOUND))
        if not large.size:
            continue
        k = int(large[0])
        what = f"{name}[{k}] = {values[k]:g}"
        if name == "r":
            what = f"r of quadratic constraint {k}, {values[k]:g},"
        elif names is not None:
            what += f" ({kind} {names[k]!r})"
        raise FileFormatError(
            f"{path}: {what} cannot be written as {suffix}: numbers from 1e20 on mean no bound there.",
            "Make the bound infinite." if len(program.quadratic) else "Write .npz, or make the bound infinite.",
        )


def _chunks(lines: Iterable[str]) -> Iterator[bytes]:
    rest = iter(lines)
    while chunk := "".join(islice(rest, 4096)):
        yield chunk.encode("utf-8")


def _suffix(path: Path) -> str:
    name = path.name.lower()
    for suffix in sorted(SUFFIXES, key=len, reverse=True):
        if name.endswith(suffix):
            return suffix
    raise FileFormatError(f"{path}: the file extension is unknown.", f"Expected one of: {', '.join(SUFFIXES)}.")


def _text(data: bytes, source: str) -> str:
    if data.startswith(_GZIP_MAGIC):
        raise FileFormatError(f"{source} is compressed by gzip.", "Add .gz to its name.")
    if data.startswith(_UTF_16):
        raise FileFormatError(f"{source} is written in UTF-16.", "Save it as UTF-8 or as plain text.")
    if b"\0" in data or data.startswith(_ZIP_MAGIC):
        raise FileFormatError(f"{source} is not a text file.", "Is this the right file?")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Old files: every byte is a character in Latin-1, and only names and comments can be touched.
        return data.decode("latin-1")
