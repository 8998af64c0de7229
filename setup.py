"""Build of the compiled core: one C++17 file against CPython's limited API, optional at install.

Without a compiler the install succeeds and the NumPy reference runs instead (``relift info`` says which).
"""

from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel


class LimitedApiWheel(bdist_wheel):
    """Tag the wheel ``cp311-abi3``: one file serves every Python from 3.11 on."""

    def get_tag(self) -> tuple[str, str, str]:
        """Tag of the wheel; a build without the extension keeps its own."""
        python, abi, platform = super().get_tag()
        return ("cp311", "abi3", platform) if python.startswith("cp") else (python, abi, platform)


setup(
    cmdclass={"bdist_wheel": LimitedApiWheel},
    ext_modules=[
        Extension(
            "relift._core",
            sources=["core/bindings/module.cpp"],
            include_dirs=["core/include"],
            depends=sorted(
                path.as_posix() for part in (".", "factor") for path in Path("core/include/relift", part).glob("*.hpp")
            ),
            language="c++",
            extra_compile_args=["-std=c++17", "-O3", "-g0", "-fvisibility=hidden", "-Wall", "-Wextra"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            py_limited_api=True,
            optional=True,
        ),
        Extension(
            "relift._tables_core",
            sources=["core/bindings/tables_module.cpp"],
            include_dirs=["core/include"],
            depends=sorted(
                path.as_posix()
                for part in ("tables", "python")
                for path in Path("core/include/relift", part).glob("*.hpp")
            ),
            language="c++",
            extra_compile_args=["-std=c++17", "-O3", "-g0", "-fvisibility=hidden", "-Wall", "-Wextra"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            py_limited_api=True,
            optional=True,
        ),
        Extension(
            "relift._ml_core",
            sources=["core/bindings/ml_module.cpp"],
            include_dirs=["core/include"],
            depends=sorted(
                path.as_posix() for part in ("ml", "python") for path in Path("core/include/relift", part).glob("*.hpp")
            ),
            language="c++",
            extra_compile_args=["-std=c++17", "-O3", "-g0", "-fvisibility=hidden", "-Wall", "-Wextra"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            py_limited_api=True,
            optional=True,
        ),
        Extension(
            "relift._linear_core",
            sources=["core/bindings/linear_module.cpp"],
            include_dirs=["core/include"],
            depends=sorted(
                path.as_posix()
                for part in ("linear", "python")
                for path in Path("core/include/relift", part).glob("*.hpp")
            ),
            language="c++",
            extra_compile_args=["-std=c++17", "-O3", "-g0", "-fvisibility=hidden", "-Wall", "-Wextra"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            py_limited_api=True,
            optional=True,
        ),
    ],
)
