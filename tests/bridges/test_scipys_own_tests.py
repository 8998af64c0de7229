"""SciPy's own tests of ``linprog``, where its wheel brings them, with relift.linprog in its place.

Tests that ask for what relift says it does differently are skipped, each with the reason.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import relift

theirs = pytest.importorskip("scipy.optimize.tests.test_linprog", reason="this SciPy comes without its tests")

DIFFERENT = {
    "test_integrality_without_highs": "integers are refused, not relaxed with a warning",
    "test_maxiter": "the point at the limit of the iterations is optimal and passes its check, so it is called optimal",
    "test_singleton_row_eq_1": "a proof of infeasibility is looked for, which takes iterations",
    "test_singleton_row_ub_1": "a proof of infeasibility is looked for, which takes iterations",
    "test_zero_row_3": "a proof of infeasibility is looked for, which takes an iteration before HiGHS 1.15",
}


@pytest.fixture(autouse=True)
def _relift_in_place_of_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theirs, "linprog", relift.linprog)


def with_reasons(tests: type, *passing: str) -> type:
    """SciPy's class of tests, less those of `DIFFERENT` that do not pass there."""

    def skipped(reason: str) -> Callable[[object], None]:
        def test(self: object) -> None:
            pytest.skip(reason)

        return test

    return type(
        tests.__name__, (tests,), {name: skipped(why) for name, why in DIFFERENT.items() if name not in passing}
    )


TestSimplex = with_reasons(theirs.TestLinprogHiGHSSimplexDual)
TestInteriorPoint = with_reasons(theirs.TestLinprogHiGHSIPM, "test_maxiter")
