"""Build the source distribution, and from it one wheel for each target; audit them.

``python -m release.wheels [TARGET ...]`` writes to ``dist``. The compiler is Zig's Clang, which brings the headers of
old C libraries and links its own C++ library statically: no container and no old system is needed. Wheels are built
from the unpacked source distribution, so what is released is also what builds.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGETS = {
    "manylinux_2_17_x86_64": "x86_64-linux-gnu.2.17",
    "musllinux_1_2_x86_64": "x86_64-linux-musl",
    "manylinux_2_17_aarch64": "aarch64-linux-gnu.2.17",
    "musllinux_1_2_aarch64": "aarch64-linux-musl",
}
"""Tag of the wheel and what Zig calls the target."""
USUAL = ("manylinux_2_17_x86_64", "musllinux_1_2_x86_64")
MODULES = ("_core", "_passes_core", "_tables_core", "_ml_core", "_linear_core")


def build_sdist(out: Path) -> Path:
    """Write the source distribution; the path of it."""
    _run([sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(out), str(ROOT)])
    return max(out.glob("relift-*.tar.gz"), key=lambda path: path.stat().st_mtime)


def build_wheel(sdist: Path, out: Path, tag: str) -> Path:
    """Build the wheel of one target from the source distribution.

    Parameters
    ----------
    sdist
        The source distribution.
    out
        Where to.
    tag
        One of :data:`TARGETS`, or ``"pure"`` for a build without a compiler.
    """
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        (source,) = Path(folder).iterdir()
        words = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(Path(folder) / "wheel")]
        if tag != "pure":
            words.append(f"-C--build-option=--plat-name={tag}")
        _run([*words, str(source)], {**os.environ, **compilers(tag)})
        (built,) = (Path(folder) / "wheel").glob("*.whl")
        out.mkdir(parents=True, exist_ok=True)
        target = out / built.name
        shutil.copyfile(built, target)
    return target


def compilers(tag: str) -> dict[str, str]:
    """Environment variables by which setuptools finds the compiler of a target."""
    if tag == "pure":
        return dict.fromkeys(("CC", "CXX", "LDSHARED", "LDCXXSHARED"), "false")
    zig = f"{sys.executable} -m ziglang"
    target = f"-target {TARGETS[tag]}"
    return {
        "CC": f"{zig} cc {target}",
        "CXX": f"{zig} c++ {target}",
        "LDSHARED": f"{zig} cc {target} -shared -s",
        "LDCXXSHARED": f"{zig} c++ {target} -shared -s",
    }


def audit(wheel: Path, tag: str) -> None:
    """Stop if a wheel lacks a module, is tagged wrongly, or needs more than its tag says."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (archive.read(name).decode() for name in names if name.endswith(".dist-info/METADATA"))
    broken = re.findall(r"\]\((?!https?:|#)[^)]*\)", metadata)
    if broken:
        raise SystemExit(f"{wheel.name}: the description links into the repository: {broken[0]}")
    if tag == "pure":
        if not wheel.name.endswith("-py3-none-any.whl") or any(name.endswith(".so") for name in names):
            raise SystemExit(f"{wheel.name} was built without a compiler and is not tagged as pure Python.")
        return
    missing = [module for module in MODULES if f"relift/{module}.abi3.so" not in names]
    if missing:
        raise SystemExit(f"{wheel.name} lacks {', '.join(missing)}.")
    _run([sys.executable, "-m", "abi3audit", "--strict", str(wheel)])
    if "musl" in tag:
        _audit_musl(wheel)
    else:
        _audit_glibc(wheel, tag)


def _audit_glibc(wheel: Path, tag: str) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", str(wheel)], capture_output=True, text=True, check=False
    )
    if shown.returncode or f'"{tag}"' not in shown.stdout.replace("\n", " "):
        raise SystemExit(f"auditwheel does not find {wheel.name} consistent with {tag}:\n{shown.stdout}{shown.stderr}")


def _audit_musl(wheel: Path) -> None:
    """Nothing but musl itself is needed; auditwheel can only ask that on a system that runs on musl."""
    from elftools.elf.elffile import ELFFile

    with zipfile.ZipFile(wheel) as archive:
        for module in MODULES:
            elf = ELFFile(BytesIO(archive.read(f"relift/{module}.abi3.so")))
            needed = {tag.needed for tag in elf.get_section_by_name(".dynamic").iter_tags("DT_NEEDED")}
            if needed - {"libc.so"}:
                raise SystemExit(f"{wheel.name}: {module} needs {', '.join(sorted(needed))}; expected libc.so alone.")


def main(given: Sequence[str]) -> None:
    """Build and audit.

    Parameters
    ----------
    given
        Arguments of the command.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"any of: {', '.join(TARGETS)}, pure")
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    options = parser.parse_args(given)
    targets = options.targets or [*USUAL, "pure"]
    unknown = [tag for tag in targets if tag not in TARGETS and tag != "pure"]
    if unknown:
        parser.error(f"unknown target {unknown[0]!r}; expected any of: {', '.join(TARGETS)}, pure")
    out = options.out.resolve()
    sdist = build_sdist(out)
    print(f"{sdist.name}: {sdist.stat().st_size / 1e6:.1f} MB")
    for tag in targets:
        wheel = build_wheel(sdist, out, tag)
        audit(wheel, tag)
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, audited")


def _run(command: Sequence[str], environment: dict[str, str] | None = None) -> None:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr)[-4000:]}")


if __name__ == "__main__":
    main(sys.argv[1:])
