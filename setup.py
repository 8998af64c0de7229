"""Build of the compiled core: C++17 against CPython's limited API, optional at install.

Without a compiler the install succeeds, the wheel is tagged as pure Python, and the NumPy reference runs instead
(``relift info`` says which).
"""

import re
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

FLAGS = {
    "msvc": ["/std:c++17", "/O2", "/EHsc"],
    "unix": ["-std=c++17", "-O3", "-g0", "-fvisibility=hidden", "-Wall", "-Wextra", "-pthread"],
}
NEEDS_VECTORS = "relift._ml_core"
"""Written with the vector extension of GCC and Clang, which Microsoft's compiler does not have."""


class OptionalCore(build_ext):
    """Choose flags by compiler; say once what a failed build means."""

    def build_extensions(self) -> None:
        """Build what this compiler can build."""
        kind = self.compiler.compiler_type
        for extension in self.extensions:
            extension.extra_compile_args = FLAGS["msvc" if kind == "msvc" else "unix"]
            extension.extra_link_args = [] if kind == "msvc" else ["-pthread"]
        if kind == "msvc":
            self.extensions = [each for each in self.extensions if each.name != NEEDS_VECTORS]
        elif self.parallel is None:
            self.parallel = True  # as many compilers at once as there are cores
        super().build_extensions()

    def run(self) -> None:
        """Build the extensions; none of them is needed."""
        super().run()
        missing = [each.name for each in self.extensions if not Path(self.get_ext_fullpath(each.name)).exists()]
        if missing:
            print(
                f"relift: {', '.join(missing)} could not be compiled; the NumPy reference runs instead, many times "
                "slower. It needs a C++17 compiler and the headers of Python.",
                file=sys.stderr,
            )


class LimitedApiWheel(bdist_wheel):
    """Tag the wheel ``cp311-abi3``: one file serves every Python from 3.11 on; pure Python if nothing was compiled."""

    def run(self) -> None:
        """Build first, since the tag depends on whether there was a compiler."""
        self.run_command("build")
        build = self.get_finalized_command("build_ext")
        if not any(Path(build.get_ext_fullpath(each.name)).exists() for each in build.extensions):
            self.distribution.ext_modules = []
            self.root_is_pure = True
        super().run()

    def get_tag(self) -> tuple[str, str, str]:
        """Tag of the wheel."""
        if self.root_is_pure:
            return "py3", "none", "any"
        return "cp311", "abi3", super().get_tag()[2]


def core(name: str, source: str, *parts: str) -> Extension:
    """One module of the core; `parts` are the folders of headers that it reads."""
    folders = (
        Path("core/bindings", source.removesuffix("_module")),
        *(Path("core/include/relift", part) for part in parts),
    )
    headers = (path.as_posix() for folder in folders for path in folder.glob("*.hpp"))
    return Extension(
        name,
        sources=[f"core/bindings/{source}.cpp"],
        include_dirs=["core/include"],
        depends=sorted(headers),
        language="c++",
        define_macros=[("Py_LIMITED_API", "0x030B0000")],
        py_limited_api=True,
        optional=True,
    )


def readme() -> str:
    """The README as an index shows it: links into the repository, which lead nowhere there, become plain text."""
    text = Path("README.md").read_text(encoding="utf-8")
    return re.sub(r"(?<!!)\[([^\]]+)\]\((?!https?:|#)[^)]*\)", r"\1", text)


setup(
    long_description=readme(),
    long_description_content_type="text/markdown",
    cmdclass={"bdist_wheel": LimitedApiWheel, "build_ext": OptionalCore},
    ext_modules=[
        core("relift._core", "module", ".", "factor", "passes"),
        core("relift._passes_core", "passes_module", ".", "passes", "python"),
        core("relift._tables_core", "tables_module", ".", "tables", "python"),
        core(NEEDS_VECTORS, "ml_module", "ml", "python"),
        core("relift._linear_core", "linear_module", "linear", "python"),
    ],
)
