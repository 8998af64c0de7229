"""Programs with planted symmetry through every way of relift, against independent routes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
from tests.fuzz.calls import Call, drawn_call
from tests.fuzz.draft import Draft
from tests.fuzz.draw_programs import drawn_program
from tests.fuzz.judge import wrong_verdict
from tests.fuzz.outcome import Failure, Outcome
from tests.fuzz.shrink import shrunk

from relift.errors import ProgramError

UNIT = "programs"
SHRUNK_EACH = 2
"""How many failures of one signature a process shrinks: the first are read, all are counted."""
_shrunk: Counter[str] = Counter()


def run(random: np.random.Generator, folder: Path) -> Outcome:
    """Draw a program and a way, solve it, judge the answer; a failure is shrunk."""
    outcome = Outcome()
    draft = drawn_program(random)
    call = drawn_call(random, draft)
    ask_exactly = bool(random.random() < 0.03)
    try:
        draft.program()
    except ProgramError as error:
        outcome.count(f"refused: {type(error).__name__}")
        return outcome
    signature, sentence, words = judged(draft, call, ask_exactly)
    outcome.count(f"{draft.kind}")
    for word in words:
        outcome.count(word)
    if signature:
        _shrunk[signature] += 1
        small = draft
        if _shrunk[signature] <= SHRUNK_EACH:
            small = shrunk(draft, lambda smaller: _still_fails(smaller, call, signature))
        _, last, _ = judged(small, call, ask_exactly)
        outcome.failures.append(Failure(signature, last or sentence, f"{small.code()}{call.code()}"))
    return outcome


def judged(draft: Draft, call: Call, ask_exactly: bool = False) -> tuple[str, str, list[str]]:
    """The signature and the sentence of a failure, or empty; and the words to count."""
    way = f"{draft.kind} by {call.name} with {call.words.get('backend', 'auto')}"
    try:
        verdict = call.run(draft)
    except Exception as error:  # noqa: BLE001 - no program that was accepted may raise
        return f"{type(error).__name__}: {way}", f"{call} raises {type(error).__name__}: {error}", ["raised"]
    sentence, word = wrong_verdict(draft, verdict, ask_exactly)
    words = [f"status {verdict.status}", f"judged {word}", f"way {call.name}"]
    if sentence:
        return f"wrong {verdict.status}: {way}", f"{call}: {sentence}", words
    return "", "", words


def _still_fails(draft: Draft, call: Call, signature: str) -> bool:
    try:
        draft.program()
    except ProgramError:
        return False
    return judged(draft, call)[0].split(":")[0] == signature.split(":")[0]


def describe(random: np.random.Generator) -> tuple[str, str]:
    """What a case would do, for those that end their process."""
    draft = drawn_program(random)
    call = drawn_call(random, draft)
    return f"{draft.kind} by {call.name} with {call.words.get('backend', 'auto')}", f"{draft.code()}{call.code()}"
