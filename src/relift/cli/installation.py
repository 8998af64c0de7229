"""``relift backends`` and ``relift info``: what is installed, and in which version."""

from __future__ import annotations

from relift import __version__
from relift.cli.options import JsonOption
from relift.cli.work import console, print_json


def backends_command(as_json: JsonOption = False) -> None:
    """List the solvers, their versions, and how to install those that are missing."""
    from relift.solvers.registry import backend_table

    lines = backend_table()
    if as_json:
        print_json(
            {
                "format": "relift-backends",
                "version": 1,
                "backends": [
                    {
                        "name": line.name,
                        "installed": line.is_installed,
                        "solver_version": line.version,
                        "description": line.description,
                        "install": line.install,
                    }
                    for line in lines
                ],
            }
        )
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("backend", "version", "what it is"):
        table.add_column(heading, header_style="cyan", no_wrap=heading != "what it is", overflow="fold")
    for line in lines:
        what = line.description if line.is_installed else f"{line.description}; to install: {line.install}"
        table.add_row(Text(line.name), line.version or "-", Text(what))
    console().print(table)


def info_command(as_json: JsonOption = False) -> None:
    """Show versions, whether the compiled core is in use, and which optional packages are there."""
    import platform
    from importlib import metadata, util

    def version(package: str) -> str:
        try:
            return metadata.version(package)
        except metadata.PackageNotFoundError:
            return ""

    needed = ("numpy", "scipy", "highspy", "clarabel", "lark", "duckdb", "sqlglot")
    optional = (
        "osqp",
        "piqp",
        "scs",
        "qpsolvers",
        "cvxpy",
        "networkx",
        "igraph",
        "pandas",
        "polars",
        "pyarrow",
        "adbc-driver-postgresql",
        "pyspark",
    )
    parts = {
        "_core": "symmetry",
        "_passes_core": "certificates",
        "_tables_core": "grounding",
        "_ml_core": "machine learning",
        "_linear_core": "linear machines",
    }
    is_built = {part: util.find_spec(f"relift.{part}") is not None for part in parts}
    document = {
        "format": "relift-info",
        "version": 1,
        "relift": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "compiled_core": all(is_built.values()),
        "compiled_parts": is_built,
        "packages": {name: version(name) or None for name in needed + optional},
    }
    if as_json:
        print_json(document)
        return
    from relift.report.summary import key_value_table

    lines = [("relift", __version__)]
    for part, purpose in parts.items():
        state = "in use" if is_built[part] else "not built; the slower NumPy reference is used"
        lines.append((f"compiled: {purpose}", state))
    lines += [("Python", platform.python_version()), ("platform", platform.platform())]
    lines += [(name, version(name) or "not installed") for name in needed + optional]
    console().print(key_value_table(lines))
