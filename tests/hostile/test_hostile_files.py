"""What a file cannot do: fill the memory, make a reader wait, crash it, or write to the terminal."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import random
import socket
import struct
import subprocess
import sys
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import relift
from relift import Program, Solution, Status, read_program, write_program
from relift.errors import BoundsError, FileFormatError, OptionError, ReliftError, printable
from relift.formats.lifting_map import read_lifting_map, write_lifting_map
from relift.formats.points import read_points
from relift.formats.solutions import read_solution, write_solution
from relift.modelling.model import Model
from relift.read_bytes import FREE_GROWTH, MOST_BYTES, MOST_GROWTH, decompressed, read_bytes

TINY = Program([[2, 1], [1, 2]], [1, 2], [[1, 1]], [1], [2], variable_names=["a", "b"], row_names=["c"])
READERS: dict[str, Callable[[Path], Any]] = {
    ".mps": read_program,
    ".lp": read_program,
    ".npz": read_program,
    ".mps.gz": read_program,
    ".json": lambda path: read_solution(path, TINY),
    ".txt": lambda path: read_solution(path, TINY),
    ".map": read_lifting_map,
    ".ply": read_points,
    ".npy": read_points,
    ".rlp": Model.from_file,
}


def relift_process(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "relift", *words], capture_output=True, text=True, timeout=300, check=False
    )


# --- what is no file -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", READERS)
def test_no_reader_waits_for_a_pipe_or_reads_a_device(suffix: str, tmp_path: Path) -> None:
    pipe, link = tmp_path / f"pipe{suffix}", tmp_path / f"zero{suffix}"
    os.mkfifo(pipe)
    link.symlink_to("/dev/zero")
    for path in (pipe, link):
        with pytest.raises(FileFormatError) as error:
            READERS[suffix](path)
        assert str(error.value) == f"{path} is a device, a pipe or a socket, not a file. Copy its content to a file."
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    with pytest.raises(IsADirectoryError):
        READERS[suffix](folder)
    with pytest.raises(FileNotFoundError):
        READERS[suffix](tmp_path / f"nothing{suffix}")


def test_a_socket_and_a_name_with_a_zero_byte_are_refused(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        with pytest.raises(FileFormatError, match="a device, a pipe or a socket"):
            read_bytes(tmp_path / "socket")
    with pytest.raises(FileNotFoundError):
        read_bytes("a\0b")


def test_the_command_line_refuses_a_pipe_with_exit_code_2(tmp_path: Path) -> None:
    for name in ("m.mps", "m.rlp"):
        os.mkfifo(tmp_path / name)
        done = relift_process("solve", str(tmp_path / name))
        assert done.returncode == 2
        assert done.stderr == (
            f"relift: {tmp_path / name} is a device, a pipe or a socket, not a file. Copy its content to a file.\n"
        )


# --- what is too much ----------------------------------------------------------------------------------------------


def test_a_file_larger_than_asked_for_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.mps"
    write_program(TINY, path)
    size = path.stat().st_size
    assert read_program(path, max_bytes=size) == TINY
    with pytest.raises(FileFormatError) as error:
        read_program(path, max_bytes=size - 1)
    assert str(error.value) == (
        f"{path} is too large. The file has more than {size - 1:,} bytes. If that is meant, raise the limit with"
        " max_bytes (on the command line: --max-bytes)."
    )
    for wrong in (0, -1, 1.5, True, "8"):
        with pytest.raises(OptionError, match="max_bytes is"):
            read_program(path, max_bytes=wrong)  # type: ignore[arg-type]
    done = relift_process("inspect", str(path), "--max-bytes", "20")
    assert (done.returncode, "too large" in done.stderr) == (2, True)


def test_a_huge_empty_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "m.mps"
    with path.open("wb") as file:
        file.truncate(2**40)  # takes no room on the disk
    with pytest.raises(FileFormatError, match=f"more than {MOST_BYTES:,} bytes"):
        read_program(path)


@pytest.mark.parametrize("suffix", [".mps.gz", ".lp.gz", ".ply.gz"])
def test_what_gzip_makes_large_is_refused(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = FREE_GROWTH // 16  # the file is read as text in the end, which takes long where it is large
    monkeypatch.setattr("relift.read_bytes.FREE_GROWTH", free)
    path = tmp_path / f"bomb{suffix}"
    path.write_bytes(gzip.compress(b"\n" * (2 * free)))
    read = read_points if suffix.startswith(".ply") else read_program
    with pytest.raises(FileFormatError) as error:
        read(path)
    assert str(error.value) == (
        f"{path} decompresses to more than {MOST_GROWTH} times its size. Files of numbers do not; if you trust it, say"
        " how large it may become with max_bytes (on the command line: --max-bytes)."
    )
    with pytest.raises(FileFormatError, match=r"What it decompresses to has more than 1,000,000 bytes"):
        read(path, max_bytes=1_000_000)
    with pytest.raises(FileFormatError) as error:
        read(path, max_bytes=3 * free)  # then it is read, and is no model
    assert "times its size" not in str(error.value)


def test_gzip_in_several_members_and_with_padding_is_read() -> None:
    packed = gzip.compress(b"one ") + gzip.compress(b"two") + b"\0" * 100
    assert decompressed(packed, "m") == b"one two"
    rng = random.Random(1)
    for size in (0, 1, 2**16 - 1, 2**16, 2**16 + 1, 3 * 2**20):
        data = rng.randbytes(size)
        assert decompressed(gzip.compress(data, 1), "m") == data
    for wrong in (packed[:-105], packed + b"x", gzip.compress(b"one ")[:-1], b"\x1f\x8b"):
        with pytest.raises(FileFormatError, match="m is cut off or damaged"):
            decompressed(wrong, "m")


def write_archive(path: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def own_archive(**changes: Any) -> dict[str, bytes]:
    arrays = {
        "relift_format": 1, "shape": [1, 2], "q": [1.0, 2.0], "l": [1.0], "u": [2.0], "lb": [0.0, 0.0],
        "ub": [9.0, 9.0], "r": 0.0, "sense": "min", "A_data": [1.0, 1.0], "A_indices": [0, 0], "A_indptr": [0, 1, 2],
    }  # fmt: skip
    return {f"{name}.npy": npy(np.asarray(value)) for name, value in (arrays | changes).items()}


NO_CONES: dict[str, Any] = {
    "C_shape": [1, 2], "b": [0.0], "exponents": [], "C_data": [], "C_indices": [], "C_indptr": [0, 0, 0],
}  # fmt: skip


def test_what_a_zip_makes_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    write_archive(path, own_archive() | {f"big{k}.npy": npy(np.zeros(FREE_GROWTH // 16)) for k in range(4)})
    with pytest.raises(FileFormatError, match=f"more than {MOST_GROWTH} times its size"):
        read_program(path)
    with pytest.raises(FileFormatError, match="What it decompresses to has more than 1,000,000 bytes"):
        read_program(path, max_bytes=1_000_000)
    assert read_program(path, max_bytes=10 * FREE_GROWTH).n_variables == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"shape": [10**12, 2]}, {"shape": [1, 10**12]}, {"shape": [2**62, 2**62]}, {"shape": "ab"},
        {"l": 0.0, "u": 0.0, "shape": [10**11, 2]}, {"q": 0.0}, {"A_indptr": [0, 1, 10**12]}, {"A_indptr": [0, 5, 2]},
        {"A_indices": [0, 10**9]}, {"A_indices": [0, -1]}, {"A_indices": [0.0, 0.0]},
        {"A_indices": np.array([0, 2**64 - 1], np.uint64)}, {"A_data": [1.0]}, {"A_data": ["a", "b"]},
        {"A_data": [[1.0, 1.0]]}, {"A_data": [1j, 1]}, {"r": "x"}, {"r": [1.0, 2.0]}, {"sense": ["min", "max"]},
        {"sense": 5}, {"variable_names": ["a"]}, {"relift_format": [1, 1]}, {"relift_format": "x"},
        NO_CONES | {"cones": [[0, 3]], "C_shape": [10**12, 2], "b": 0.0},
        NO_CONES | {"cones": [[0, 10**15]]}, NO_CONES | {"cones": [[3, -5]], "exponents": ["a"]},
        NO_CONES | {"cones": [[9, 1]]}, NO_CONES | {"cones": [[2, 3]]}, NO_CONES | {"cones": "ab"},
        {"P_data": [1.0], "P_indices": [7], "P_indptr": [0, 1, 1]},
        {"P_data": [1.0], "P_indices": [0], "P_indptr": [0, 10**6, 1]},
    ],
    ids=str,
)  # fmt: skip
def test_a_crafted_archive_gets_a_sentence_and_no_memory(changes: dict[str, Any], tmp_path: Path) -> None:
    write_archive(tmp_path / "m.npz", own_archive(**changes))
    with pytest.raises(ReliftError) as error:
        read_program(tmp_path / "m.npz")
    assert 20 < len(str(error.value)) < 400


def test_the_words_for_crafted_archives(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    for changes, message in (
        ({"A_indices": [0, 9]}, "A is not a sparse matrix of 1 x 2 (A has an entry in row 9, but only 1 rows)."),
        (
            {"A_indptr": [0, 2, 1]},
            "A is not a sparse matrix of 1 x 2 (indptr of A does not begin with 0, or decreases).",
        ),
        ({"l": 0.0}, "l has one entries, but 1 are needed."),
        ({"shape": [5, 2]}, "l has 1 entries, but 5 are needed."),
    ):
        write_archive(path, own_archive(**changes))
        with pytest.raises(FileFormatError) as error:
            read_program(path)
        assert str(error.value) == f"{path}: {message} Copy or write the file again."


def test_headers_that_claim_more_than_there_is_make_nothing(tmp_path: Path) -> None:
    for old, new in (
        ("(2,)", "(99999999999,)"),
        ("(2,)", "(2, 99999999)"),
        ("<f8", "<f2"),
        ("<f8", "|O"),
        ("(2,)", "(-2,)"),
        ("(2,)", "["),
    ):
        data = npy(np.array([1.0, 2.0]))
        header = data[10:128].decode().rstrip("\n ")
        changed = header.replace(old, new).ljust(117) + "\n"
        write_archive(tmp_path / "m.npz", own_archive() | {"q.npy": data[:10] + changed.encode() + data[128:]})
        with pytest.raises(FileFormatError, match=r"q\.npy is damaged|q\.npy holds a pickled"):
            read_program(tmp_path / "m.npz")


def test_pickled_matrices_are_checked_before_they_are_used(tmp_path: Path) -> None:
    def archive(matrix: Any) -> dict[str, bytes]:
        held = np.empty((), dtype=object)
        held[()] = matrix
        none = np.empty((), dtype=object)
        values = {
            "P": np.eye(2),
            "q": np.ones(2),
            "G": held,
            "h": np.ones(2),
            "A": none,
            "b": none,
            "lb": none,
            "ub": none,
        }
        return {f"{name}.npy": npy(value) for name, value in values.items()}

    path = tmp_path / "m.npz"
    for make in (sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.csc_array):
        write_archive(path, archive(make(np.eye(2))))
        assert read_program(path).n_rows == 2
        for part, value in (
            ("indices", np.array([0, 10**8])), ("indptr", np.array([0, 10**8, 2])), ("data", None), ("indices", "ab"),
            ("_shape", (10**9, 2)), ("_shape", None), ("data", np.array([1j, 2])), ("indices", np.array([0.5, 1])),
        ):  # fmt: skip
            damaged = make(np.eye(2))
            damaged.__dict__[part] = value
            write_archive(path, archive(damaged))
            with pytest.raises(ReliftError):
                read_program(path)
    for other in ([1, 2], {"a": 1}, "text", np.array(["x"]), 1 + 2j):
        write_archive(path, archive(other))
        with pytest.raises(ReliftError):
            read_program(path)


def test_a_damaged_zip_is_a_file_error_with_exit_code_2(tmp_path: Path) -> None:
    whole = tmp_path / "whole.npz"
    write_program(TINY, whole)
    data = whole.read_bytes()
    encrypted = bytearray(data)
    for start in (i for i in range(len(data) - 4) if data[i : i + 4] in (b"PK\x03\x04", b"PK\x01\x02")):
        encrypted[start + (6 if data[start + 2] == 3 else 8)] |= 1
    method = bytearray(data)
    method[data.index(b"PK\x01\x02") + 10] = 99
    far = bytearray(data)
    struct.pack_into("<I", far, data.rindex(b"PK\x05\x06") + 16, 2**31)
    for case in (
        data[:-1],
        data[:100],
        b"PK\x03\x04",
        data[50:],
        bytes(encrypted),
        bytes(method),
        bytes(far),
        b"PK" * 50,
    ):
        path = tmp_path / "m.npz"
        path.write_bytes(case)
        with pytest.raises(FileFormatError, match="is not a NumPy archive, or it is cut off or damaged"):
            read_program(path)
    done = relift_process("solve", str(path))
    assert done.returncode == 2
    assert done.stderr.startswith(f"relift: {path} is not a NumPy archive, or it is cut off or damaged")
    assert len(done.stderr.splitlines()) == 1


# --- the terminal --------------------------------------------------------------------------------------------------

EVIL = "\x1b]0;owned\x07\x1b[31mx\x9b2J\u202ey\x7f"


def test_control_characters_are_escaped_in_every_error() -> None:
    for error in (
        FileFormatError(f"a {EVIL}", EVIL),
        BoundsError(EVIL, "", "q"),
        relift.errors.LanguageError(EVIL, EVIL, excerpt=EVIL),
    ):
        text = str(error)
        assert "\\x1b]0;owned\\x07" in text
        assert all(letter == "\n" or letter.isprintable() for letter in text)
        assert str(pickle.loads(pickle.dumps(error))) == text
    assert printable("tab\tand\nline é 漢 🙂") == "tab\tand\nline é 漢 🙂"
    assert printable("\ud800\r") == "\\ud800\\r"


@pytest.mark.parametrize(
    "words", [("solve",), ("solve", "--json"), ("inspect",), ("inspect", "--json"), ("solve", "-o", "OUT")]
)
def test_names_with_control_characters_never_reach_the_terminal(words: tuple[str, ...], tmp_path: Path) -> None:
    names = [f"{EVIL}{k}" for k in range(4)]
    program = Program(q=np.ones(4), A=np.ones((2, 4)), l=[1, 1], lb=0, variable_names=names, row_names=names[:2])
    path = tmp_path / "m\x1b[31m.npz"
    write_program(program, path)
    done = relift_process(
        words[0], str(path), *(word.replace("OUT", str(tmp_path / "o\x1b[2J.json")) for word in words[1:])
    )
    assert done.returncode == 0
    assert done.stdout
    assert all(letter == "\n" or letter.isprintable() for letter in done.stdout + done.stderr)


def test_errors_and_notes_about_files_are_escaped_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / f"m{EVIL}.mps"
    texts = {
        f"ROWS\n N COST\nCOLUMNS\n X{EVIL} R{EVIL} 1\nENDATA\n": 2,
        f"{EVIL}\n": 2,
        f"ROWS\n N C\n L R\nCOLUMNS\n X C 1 R 1\nBOUNDS\n UP B X 4\n UP B{EVIL} X 5\nENDATA\n": 0,
    }
    for text, code in texts.items():
        path.write_text(text)
        done = relift_process("solve", str(path))
        assert done.returncode == code
        assert done.stderr.startswith("relift: ")
        assert all(letter == "\n" or letter.isprintable() for letter in done.stdout + done.stderr)
    assert "note: " in done.stderr
    assert "is used, and 1 lines of" in done.stderr
    assert relift_process("solve", str(path), "--quiet").stderr == ""
    done = relift_process("solve", str(tmp_path / f"nothing{EVIL}.mps"))
    assert done.returncode == 2
    assert all(letter == "\n" or letter.isprintable() for letter in done.stderr)
    odd = os.fsencode(str(tmp_path)) + b"/\xff\xfe.mps"
    found = subprocess.run([sys.executable, "-m", "relift", odd], capture_output=True, check=False, timeout=600)
    assert found.returncode == 2
    assert b"no such file" in found.stderr


# --- mutated files -------------------------------------------------------------------------------------------------


def mutated(rng: random.Random, data: bytes) -> bytes:
    content = bytearray(data)
    for _ in range(rng.choice([1, 2, 8])):
        at = rng.randrange(len(content) + 1)
        match rng.randrange(5):
            case 0 if at < len(content):
                content[at] = rng.randrange(256)
            case 1:
                content[at:at] = rng.choice(
                    [b"1e400", b"nan", b"-1", b"\0", b"\x1b[31m", b"*", b"$", b"\n", b"[", b"9" * 30]
                )
            case 2:
                del content[at : at + rng.choice([1, 3, 40])]
            case 3:
                del content[at:]
            case _:
                content[at:at] = content[rng.randrange(len(content) + 1) :][:100]
    return bytes(content)


def samples(folder: Path) -> dict[str, bytes]:
    for suffix in (".mps", ".lp", ".npz", ".mps.gz"):
        write_program(TINY, folder / f"m{suffix}")
    write_solution(relift.solve(TINY), folder / "m.json")
    write_solution(relift.solve(TINY), folder / "m.txt")
    write_lifting_map(relift.lift(TINY), folder / "m.map", folder / "m.mps")
    np.save(folder / "m.npy", np.ones((2, 3)))
    header = (
        "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n"
    )
    (folder / "m.ply").write_text(f"{header}1 2 3\n")
    (folder / "m.rlp").write_text("var x in {1} >= 0; minimize: x(1);")
    return {suffix: (folder / f"m{suffix}").read_bytes() for suffix in READERS}


def refusal_of(read: Callable[[Path], Any], path: Path) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(path)
    except ReliftError as error:
        return str(error)
    return None


@pytest.mark.parametrize("suffix", [suffix for suffix in READERS if suffix != ".rlp"])
def test_a_mutated_file_is_read_or_refused_with_a_sentence(suffix: str, tmp_path: Path) -> None:
    whole = samples(tmp_path)[suffix]
    rng = random.Random(suffix)
    n_refused = 0
    path = tmp_path / f"f{suffix}"
    for _ in range(300):
        data = mutated(rng, whole)
        if suffix == ".mps.gz" and rng.random() < 0.5:
            data = gzip.compress(mutated(rng, zlib.decompress(whole, 31)))
        path.write_bytes(data)
        text = refusal_of(READERS[suffix], path)
        n_refused += text is not None
        if text is not None:
            assert 10 < len(text) < 1000
            assert all(letter in "\n\t\xa0" or letter.isprintable() for letter in text)
    assert n_refused > 50


def test_solutions_with_numbers_beyond_all_floats_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    for text in (
        '{"x": [1' + "0" * 400 + ", 0]}",
        '{"x": [1' + "0" * 5000 + ", 0]}",
        "[" * 100_000,
        '{"x": [1, 2], "status": [5]}',
    ):
        path.write_text(text)
        with pytest.raises(FileFormatError):
            read_solution(path, TINY)
    path.write_text(json.dumps({"x": [0.0, 1.0]}))
    assert isinstance(read_solution(path, TINY), Solution)
    assert read_solution(path, TINY).status is Status.OPTIMAL
