"""relift is silent unless it is asked, and then says what it did by the logger ``relift``."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import relift
from relift.formats.solutions import json_from_result

SPREAD = relift.Program(q=[1, 1, 1], A=[[1, 1, 1]], l=[3], lb=0)


def test_nothing_is_printed_and_no_handler_is_set_by_default() -> None:
    code = (
        "import logging, relift; relift.solve(relift.Program(q=[1], lb=0));"
        "assert [type(h).__name__ for h in logging.getLogger('relift').handlers] == ['NullHandler']"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_info_tells_attempts_and_the_answer_and_debug_every_stage(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="relift"):
        relift.solve(SPREAD)
    said = [(record.levelname, record.getMessage()) for record in caplog.records if record.name == "relift"]
    infos = [message for level, message in said if level == "INFO"]
    assert infos[0].startswith("highs said optimal, residual ")
    assert infos[-1].startswith("Result(optimal, objective=3, 3 -> 1 variables, 1 -> 1 rows, backend=highs) in ")
    stages = [message.split(" ")[0].rstrip(":") for level, message in said if level == "DEBUG"]
    assert set(stages) >= {"presolve", "find", "verify", "quotient", "solve", "expand", "certify"}


def test_versions_come_with_every_result_and_its_json() -> None:
    result = relift.solve(SPREAD)
    assert result.versions["relift"] == relift.__version__ == metadata.version("relift")
    assert result.versions["highspy"] == metadata.version("highspy")
    assert json_from_result(result)["versions"] == result.versions
    assert relift.solve(SPREAD, backend="clarabel").versions["clarabel"] == metadata.version("clarabel")


def test_the_version_is_said_in_one_place_of_the_code_and_in_the_citation() -> None:
    root = Path(__file__).resolve().parents[1]
    assert "version = " not in (root / "pyproject.toml").read_text().partition("[project.optional")[0]
    assert f"\nversion: {relift.__version__}\n" in (root / "CITATION.cff").read_text()
    assert json.dumps(relift.__version__) in (root / "src" / "relift" / "__init__.py").read_text()
