"""The Cora citation data: 2708 papers on machine learning, which of 1433 words they contain, and whom they cite.

Read from a folder with ``cora.content`` (or ``cora.content.gz``) and ``cora.cites``; or downloaded from the LINQS group
(Sen, Namata, Bilgic, Getoor, Gallagher, Eliassi-Rad: Collective Classification in Network Data, 2008). The archive is
not pinned, but what is in it is: a download is used only if both files have the checksums below.
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
import urllib.error
import urllib.request
from collections.abc import Container, Mapping
from pathlib import Path

from relift.atomic import write_atomically
from relift.errors import DataError
from relift.paper.network_data import NetworkFiles, read_network
from relift.paper.svm_learners import Network

ADDRESS = "https://linqs-data.soe.ucsc.edu/public/lbc/cora.tgz"
CHECKSUMS = {
    "cora.content": "b8ebed0fd45e53995abafd1b70cf6a9fcc8f86abc5826d69b97fe6ca46e9c8ee",
    "cora.cites": "ec1a372391b7f0f60a6aff0084e8abd8f19f0faa7e1f2441a41c492042d5945e",
}
"""SHA-256 of both files, unpacked."""

DATA_HELP = "a folder with cora.content (or cora.content.gz) and cora.cites"
LARGEST_DOWNLOAD = 50_000_000


def is_cora_folder(path: Path) -> bool:
    """Whether both files are in a folder."""
    content = any((path / name).is_file() for name in ("cora.content", "cora.content.gz"))
    return content and (path / "cora.cites").is_file()


def cache_folder() -> Path:
    """Where a download is kept."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "relift" / "cora"


def find_cora(given: tuple[Path, ...]) -> Path:
    """Find the folder with the data: the one given, the one downloaded before, or a fresh download.

    Parameters
    ----------
    given
        Folders that the caller names; the first is taken.

    Raises
    ------
    DataError
        If there is none and it cannot be downloaded.
    """
    if given:
        return given[0]
    folder = cache_folder()
    return folder if is_cora_folder(folder) else download_cora(folder)


def download_cora(
    folder: Path, address: str = ADDRESS, checksums: Mapping[str, str] = CHECKSUMS, timeout: float = 30.0
) -> Path:
    """Download the data and keep it in a folder.

    Parameters
    ----------
    folder
        Where to keep it.
    address
        Of the archive.
    checksums
        SHA-256 of the files that it must hold.
    timeout
        Seconds to wait for the server.

    Raises
    ------
    DataError
        If the server cannot be reached, or does not send the files with the right checksums.
    """
    hint = f"Give the data by --data: {DATA_HELP}."
    try:
        with urllib.request.urlopen(address, timeout=timeout) as answer:
            archive = answer.read(LARGEST_DOWNLOAD + 1)
    except (OSError, urllib.error.URLError) as error:
        reason = error if isinstance(error, urllib.error.HTTPError) else getattr(error, "reason", error)
        raise DataError(f"the Cora data could not be downloaded from {address} ({reason}).", hint) from error
    if len(archive) > LARGEST_DOWNLOAD:
        raise DataError(f"{address} sends more than {LARGEST_DOWNLOAD:,} bytes.", hint)
    found = _members(archive, address, checksums, hint)
    for name, checksum in checksums.items():
        if name not in found:
            raise DataError(f"the archive from {address} holds no {name}.", hint)
        if hashlib.sha256(found[name]).hexdigest() != checksum:
            raise DataError(f"{name} from {address} has another checksum than expected.", hint)
    folder.mkdir(parents=True, exist_ok=True)
    for name in checksums:
        with write_atomically(folder / name) as file:
            file.write(found[name])
    return folder


def _members(archive: bytes, address: str, wanted: Container[str], hint: str) -> dict[str, bytes]:
    """The files of the archive that are wanted, by name."""
    found = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as members:
            for member in members:
                name = Path(member.name).name
                file = members.extractfile(member) if member.isfile() and name in wanted else None
                if file is not None:
                    found[name] = file.read()
    except (tarfile.TarError, EOFError, OSError) as error:
        raise DataError(f"{address} sends no archive that can be read ({error}).", hint) from error
    return found


def cora_checksums(folder: Path) -> dict[str, str]:
    """SHA-256 of both files, unpacked, in the order of CHECKSUMS."""
    return NetworkFiles(folder, "cora").checksums()


def read_cora(folder: Path) -> tuple[Network, str]:
    """Read the data; the largest subject is label 1, the others are -1.

    Parameters
    ----------
    folder
        With both files.

    Returns
    -------
    tuple
        The network, and the name of the largest subject.

    Raises
    ------
    DataError
        If a line is not what it should be; the file and the line are named.
    """
    found = read_network(NetworkFiles(folder, "cora"), drops=False)
    return found.network, found.subject
