"""A fleet of cars of many sizes has one class for each slot, however its model is written and its numbers computed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

import relift

N_CARS, N_SLOTS = 40, 4
PRICES = np.array([0.237, 0.301, 0.112, 0.415])

Numbers = NDArray[np.float64]


def _sizes(kind: str, seed: int) -> Numbers:
    random = np.random.default_rng(seed)
    if kind == "whole":
        return random.choice(np.arange(10.0, 900.0), N_CARS, replace=False)
    sizes = random.uniform(5, 80, N_CARS)
    return np.round(sizes, 2) if kind == "measured" else sizes


def _in_kilowatts(sizes: Numbers, **changes: object) -> relift.Program:
    """Charge x of each car in each slot, at most a quarter of its size, 0.6 of it in all, on one feeder."""
    needs = sparse.kron(sparse.eye_array(N_CARS), np.ones((1, N_SLOTS)))
    feeder = sparse.kron(np.ones((1, N_CARS)), sparse.eye_array(N_SLOTS))
    given: dict[str, object] = {
        "q": np.tile(PRICES, N_CARS),
        "A": sparse.vstack([needs, feeder]),
        "lb": 0,
        "ub": 0.25 * np.repeat(sizes, N_SLOTS),
        "l": np.append(0.6 * sizes, np.full(N_SLOTS, -np.inf)),
        "u": np.append(np.full(N_CARS, np.inf), np.full(N_SLOTS, 0.35 * sizes.sum())),
    }
    return relift.Program(**{**given, **changes})  # type: ignore[arg-type]


def _in_parts(sizes: Numbers, **changes: object) -> relift.Program:
    """The same with x as a part of the size: equal bounds and needs, costs and terms of the feeder in proportion."""
    needs = sparse.kron(sparse.eye_array(N_CARS), np.ones((1, N_SLOTS)))
    feeder = sparse.kron(sizes[None, :], sparse.eye_array(N_SLOTS))
    given: dict[str, object] = {
        "q": np.tile(PRICES, N_CARS) * np.repeat(sizes, N_SLOTS),
        "A": sparse.vstack([needs, feeder]),
        "lb": 0,
        "ub": 0.25,
        "l": np.append(np.full(N_CARS, 0.6), np.full(N_SLOTS, -np.inf)),
        "u": np.append(np.full(N_CARS, np.inf), np.full(N_SLOTS, 0.35 * sizes.sum())),
    }
    return relift.Program(**{**given, **changes})  # type: ignore[arg-type]


def _diagonal(values: Numbers) -> sparse.csc_array:
    return sparse.diags_array(np.repeat(values, N_SLOTS), format="csc")


FORMS: dict[str, Callable[[Numbers], relift.Program]] = {
    "bounds and needs": _in_kilowatts,
    "needs alone": lambda sizes: _in_kilowatts(sizes, ub=np.inf),
    "bounds away from 0": lambda sizes: _in_kilowatts(sizes, lb=0.01 * np.repeat(sizes, N_SLOTS)),
    "losses": lambda sizes: _in_kilowatts(sizes, P=_diagonal(0.3 / sizes)),
    "losses without prices": lambda sizes: _in_kilowatts(sizes, P=_diagonal(0.3 / sizes), q=0),
    "losses, needs alone": lambda sizes: _in_kilowatts(sizes, P=_diagonal(0.3 / sizes), ub=np.inf),
    "losses, bounds alone": lambda sizes: _in_kilowatts(
        sizes, P=_diagonal(0.3 / sizes), l=-np.inf, q=-np.tile(PRICES, N_CARS)
    ),
    "parts": _in_parts,
    "parts with losses": lambda sizes: _in_parts(sizes, P=_diagonal(0.3 * sizes)),
}


@pytest.mark.parametrize("kind", ["whole", "measured", "computed"])
@pytest.mark.parametrize("form", FORMS)
def test_a_fleet_of_many_sizes_has_one_class_for_each_slot(form: str, kind: str) -> None:
    program = FORMS[form](_sizes(kind, 7))
    result = relift.solve(program)
    assert result.certificate.is_optimal
    assert result.lifting.small.n_variables <= N_SLOTS
    plain = relift.solve(program, lift="none")
    assert result.objective == pytest.approx(plain.objective, rel=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_cars_with_a_number_of_their_own_stay_apart(form: str) -> None:
    """One part in a million is no rounding."""
    program = FORMS[form](_sizes("measured", 7))
    n_classes = relift.lift(program).small.n_variables
    if program.P is None:
        q = program.q.copy()
        q[:N_SLOTS] *= 1.000001
        program = program.replace(q=q)
    else:
        P = program.P.copy()
        P.data[:N_SLOTS] *= 1.000001
        program = program.replace(P=P)
    assert relift.lift(program).small.n_variables == 2 * n_classes
