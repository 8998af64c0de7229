"""A few cases of each kind, always the same; ``make fuzz`` runs more, and ``docs/reliability.md`` says how many."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.fuzz.calls import Call, Verdict
from tests.fuzz.draft import Draft
from tests.fuzz.draw_programs import drawn_program
from tests.fuzz.exact_simplex import exact_optimum
from tests.fuzz.judge import wrong_verdict
from tests.fuzz.kind_programs import judged
from tests.fuzz.known import is_known
from tests.fuzz.outcome import Failure, Outcome
from tests.fuzz.routes import highs_simplex
from tests.fuzz.runner import Runner, run_case
from tests.fuzz.shrink import shrunk
from tests.fuzz.totals import Totals

SEED = 20
"""Of the cases here; other seeds are for ``make fuzz``."""


@pytest.mark.parametrize(("kind", "n_cases"), [("programs", 40), ("files", 60), ("models", 1), ("solutions", 10)])
def test_a_few_cases_of_each_kind_pass(kind: str, n_cases: int, tmp_path: Path) -> None:
    failures = [f for index in range(n_cases) for f in run_case(SEED, kind, index, tmp_path).failures]
    assert [failure.sentence for failure in failures if not is_known(failure.signature)] == []


def _draft(q: list[float], A: list[list[float]], l: list[float], u: list[float], lb: float, ub: float) -> Draft:
    n = len(q)
    return Draft(np.array(q), np.array(A), np.array(l), np.array(u), np.full(n, lb), np.full(n, ub))


COVER = _draft([1.0, 1.5], [[1e-8, 2e-8], [2e-8, 1e-8]], [1e-8, 1e-8], [np.inf, np.inf], 0.0, np.inf)


def test_the_judge_calls_another_optimum_wrong_and_the_right_one_right() -> None:
    truth = 5 / 6
    assert wrong_verdict(COVER, Verdict("optimal", truth)) == ("", "agreed")
    for lie in (Verdict("optimal", 0.0), Verdict("infeasible", np.inf), Verdict("unbounded", -np.inf)):
        sentence, word = wrong_verdict(COVER, lie)
        assert (word, "exact: optimal 0.8333" in sentence) == ("wrong", True)
    assert wrong_verdict(COVER, Verdict("optimal_within_gap", lower=0.9, upper=1.0))[1] == "wrong"
    assert wrong_verdict(COVER, Verdict("optimal_within_gap", lower=0.8, upper=1.0))[1] == "agreed"
    assert wrong_verdict(COVER, Verdict("failure"))[1] == "no answer"


def test_exact_arithmetic_and_a_solver_say_the_same_of_random_linear_programs() -> None:
    compared = 0
    for index in range(120):
        draft = drawn_program(np.random.default_rng([SEED, index]))
        if not draft.is_linear or draft.words["style"] != "whole" or draft.n + draft.m > 16:
            continue
        exact, found = exact_optimum(draft), highs_simplex(draft)
        if found.is_decided:
            compared += 1
            assert exact.status == found.status
            assert exact.objective == pytest.approx(found.objective, 1e-6, nan_ok=True)
    assert compared >= 3


def test_a_failure_is_shrunk_to_the_row_and_the_variable_that_it_needs() -> None:
    draft = drawn_program(np.random.default_rng(1))
    draft = Draft(np.append(draft.q, 7.0), np.hstack([draft.A, np.zeros((draft.m, 1))]), draft.l, draft.u,
                  np.append(draft.lb, 0.0), np.append(draft.ub, 1.0), words=draft.words)  # fmt: skip
    small = shrunk(draft, lambda smaller: 7.0 in smaller.q)
    assert (small.q.tolist(), small.m) == ([7.0], 0)


def test_a_reproduction_runs_and_makes_the_program_again() -> None:
    for index in range(30):
        draft = drawn_program(np.random.default_rng([SEED, index]))
        names: dict[str, object] = {}
        exec(draft.code(), names)
        assert names["program"] == draft.program()


def test_an_error_of_any_type_is_a_failure_of_the_case() -> None:
    signature, sentence, _ = judged(COVER, Call("solve", {"backend": "no such solver"}))
    assert signature == "OptionError: LP by solve with no such solver"
    assert "no such solver" in sentence


def test_counts_are_kept_and_a_later_run_goes_on_where_the_last_one_ended(tmp_path: Path) -> None:
    path = tmp_path / "fuzz.json"
    for cases, jobs in ((3, 2), (5, 1)):
        Runner(Totals(path, SEED), ["programs"], jobs, float("inf"), cases).run()
        assert Totals(path, SEED).kinds["programs"]["done"] == [[0, cases]]
    at_once = Totals(tmp_path / "other.json", SEED)
    Runner(at_once, ["programs"], 1, float("inf"), 5).run()
    assert Totals(path, SEED).kinds == at_once.kinds


def test_a_process_that_dies_costs_one_case_and_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os
    import signal

    from tests.fuzz import runner

    def die_in_case_two(seed: int, kind: str, index: int, folder: Path) -> Outcome:
        if index == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return Outcome({"fine": 1})

    monkeypatch.setattr(runner, "run_case", die_in_case_two)
    totals = Totals(tmp_path / "fuzz.json", SEED)
    Runner(totals, ["files"], 1, float("inf"), 5).run()
    mine = totals.kinds["files"]
    assert (mine["cases"], mine["counts"]) == (5, {"fine": 4})
    assert [known["count"] for known in mine["failures"].values()] == [1]
    assert "SIGKILL" in next(iter(mine["failures"]))


def test_only_the_first_examples_of_a_failure_are_kept(tmp_path: Path) -> None:
    totals = Totals(None, SEED)
    for index in (9, 3, 5, 1):
        totals.add("files", index, Outcome({}, [Failure("s", f"case {index}", "")]))
    known = totals.kinds["files"]["failures"]["s"]
    assert (known["count"], [e["index"] for e in known["examples"]]) == (4, [1, 3, 5])
    assert totals.kinds["files"]["done"] == [[1, 2], [3, 4], [5, 6], [9, 10]]
