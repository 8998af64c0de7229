"""Models in the relational language: random ones against nested loops, and damaged or respelled texts.

A case is a batch of models drawn by Hypothesis from one seed, which also shrinks what fails, and of texts.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from tests.data import ROOT
from tests.fuzz.mutate import damaged_text
from tests.fuzz.outcome import Failure, Outcome
from tests.grounding.random_models import data, models
from tests.grounding.slow_evaluator import NoValue, SlowEvaluator
from tests.grounding.test_against_nested_loops import assert_same

from relift.errors import DataError, LanguageError, ReliftError
from relift.grounding.fill_quadratic import is_quadratic
from relift.grounding.ground import ground
from relift.language.checks.check_model import check_text
from relift.language.syntax.printer import format_text
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.memory.engine import MemoryEngine

UNIT = "batches of models"
MODELS, TEXTS = 12, 40
"""Random models and changed texts of one batch."""
_GALLERY = sorted([*(ROOT / "examples" / "models").glob("*.rlp"), *(ROOT / "tests" / "golden").glob("*.rlp")])


def run(random: np.random.Generator, folder: Path) -> Outcome:
    """A batch: models against nested loops, then texts that nobody would write."""
    outcome = Outcome()
    _against_nested_loops(int(random.integers(2**32)), outcome)
    for _ in range(TEXTS):
        text = _GALLERY[int(random.integers(len(_GALLERY)))].read_text(encoding="utf-8")
        if random.random() < 0.3:
            _respelled(text, random, outcome)
        else:
            _damaged(text, random, outcome)
    return outcome


def _against_nested_loops(number: int, outcome: Outcome) -> None:
    last: list[tuple[str, Any]] = []

    @seed(number)
    @settings(
        max_examples=MODELS, deadline=None, database=None, suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )  # fmt: skip
    @given(text=models(), tables=data())
    def same(text: str, tables: dict[str, Any]) -> None:
        last[:] = [(text, tables)]
        outcome.count(_compared(text, tables, number))

    try:
        same()
    except Exception as error:  # noqa: BLE001 - any difference, and any error that is not one of relift
        text, tables = last[0]
        code = (
            f"import relift\ntext = {text!r}\ntables = {tables!r}\nprint(relift.ground_model(text, tables).program)\n"
        )
        signature = f"{type(error).__name__}: a random model"
        outcome.failures.append(Failure(signature, f"{type(error).__name__}: {error}", code))


def _compared(text: str, tables: dict[str, Any], number: int) -> str:
    try:
        model = check_text(text)
    except LanguageError as error:
        return f"model refused: {type(error).__name__}"
    try:
        slow = SlowEvaluator(model, tables)
        for constraint in model.constraints:
            (slow.quadratic_constraint if is_quadratic(constraint) else slow.constraint)(constraint)
        slow.objective()
    except NoValue:
        try:
            ground(model, tables).close()
        except DataError:
            return "model without a value"
        raise AssertionError("a value is missing, and the model was grounded") from None
    engine = (MemoryEngine(), MemoryEngine(most_rows=3), DuckDBEngine(threads=1))[number % 3]
    with ground(model, tables, engine=engine) as grounded:
        assert_same(grounded, slow)
    return "model as nested loops say"


def _damaged(text: str, random: np.random.Generator, outcome: Outcome) -> None:
    changed = damaged_text(text, random)
    try:
        model = check_text(changed)
    except LanguageError:
        outcome.count("text refused")
        return
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        outcome.failures.append(_failure(f"{type(error).__name__}: a damaged text", str(error), changed))
        return
    outcome.count("text accepted")
    try:
        printed = format_text(changed)
        if format_text(printed) != printed:
            outcome.failures.append(_failure("fmt: not settled after one pass", "", changed))
        ground(model, {}, limit=100_000).close()
    except (ReliftError, OSError):
        outcome.count("accepted text not grounded")
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        outcome.failures.append(_failure(f"{type(error).__name__}: an accepted text", str(error), changed))


def _respelled(text: str, random: np.random.Generator, outcome: Outcome) -> None:
    """Comments and line breaks between statements, other line ends: the formatted statements stay."""
    lines = text.split("\n")
    for _ in range(int(random.integers(1, 5))):
        lines.insert(int(random.integers(len(lines) + 1)), str(random.choice(["", "  ", "\t"])))
    changed = "\n".join(lines)
    if random.random() < 0.3:
        changed = changed.replace("\n", "\r\n")
    outcome.count("text respelled")
    try:
        before, after = (_bare(format_text(each)) for each in (text, changed))
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        outcome.failures.append(_failure(f"{type(error).__name__}: a respelled text", str(error), changed))
        return
    if before != after:
        outcome.failures.append(_failure("respelled: another model", "", changed))


def _bare(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def _failure(signature: str, sentence: str, text: str) -> Failure:
    return Failure(
        signature, sentence, f"from relift.language.checks.check_model import check_text\ncheck_text({text!r})\n"
    )
