"""The demo: charging a fleet of electric cars overnight, solved directly and lifted.

A depot charges its cars over a night of quarter-hour slots. Cars of one type share battery, charger, arrival and
departure; the depot pays for energy by the slot, for its peak, and, quadratically, for wear of the batteries. Nobody
tells the solver that there are only a few types: relift finds it in the numbers.

    minimise   sum price[t] load[t] + peak_price * peak + sum wear_c x[c,t]^2
    subject to sum_t x[c,t] = demand_c,   load[t] = base[t] + sum_c x[c,t],   load[t] <= peak,
               0 <= x[c,t] <= charger_c
"""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np
from rich.console import Console
from scipy import sparse

import relift
from relift.report.summary import Comparison, summary


def charging_fleet(n_cars: int, n_types: int = 40, n_slots: int = 32, seed: int = 1) -> relift.Program:
    """The charging program of a fleet of cars of a few types."""
    random = np.random.default_rng(seed)
    price = (0.10 + 0.08 * np.cos(np.linspace(0, 2 * np.pi, n_slots))).round(3)
    base = (n_cars * (2.0 + np.sin(np.linspace(0, np.pi, n_slots)))).round(0)
    charger = random.choice([3.7, 7.4, 11.0, 22.0], n_types)
    demand = np.minimum(random.integers(8, 60, n_types).astype(float), 0.5 * charger * n_slots / 4)
    wear = random.choice([0.002, 0.003, 0.005], n_types)
    arrival = random.integers(0, n_slots // 4, n_types)
    departure = random.integers(3 * n_slots // 4, n_slots, n_types)
    kind = random.integers(0, n_types, n_cars)

    # Variables: x[c,t] in kWh for each car and slot, then load[t], then the peak.
    n_x = n_cars * n_slots
    slot = np.tile(np.arange(n_slots), n_cars)
    car = np.repeat(np.arange(n_cars), n_slots)
    present = (slot >= arrival[kind[car]]) & (slot <= departure[kind[car]])
    ub_x = np.where(present, charger[kind[car]] / 4, 0.0)
    energy = sparse.coo_array((np.ones(n_x), (car, np.arange(n_x))), shape=(n_cars, n_x + n_slots + 1))
    slots = np.arange(n_slots)
    balance = sparse.coo_array(
        (
            np.concatenate([np.ones(n_x), -np.ones(n_slots)]),
            (np.concatenate([slot, slots]), np.concatenate([np.arange(n_x), n_x + slots])),
        ),
        shape=(n_slots, n_x + n_slots + 1),
    )
    below_peak = sparse.coo_array(
        (
            np.concatenate([np.ones(n_slots), -np.ones(n_slots)]),
            (np.concatenate([slots, slots]), np.concatenate([n_x + slots, np.full(n_slots, n_x + n_slots)])),
        ),
        shape=(n_slots, n_x + n_slots + 1),
    )
    free, none = np.full(n_slots + 1, np.inf), np.full(n_slots, -np.inf)
    return relift.Program(
        P=sparse.diags_array(np.concatenate([2 * wear[kind[car]], np.zeros(n_slots + 1)])),
        q=np.concatenate([np.zeros(n_x), price, [0.5]]),
        A=sparse.vstack([energy, balance, below_peak]).tocsc(),
        l=np.concatenate([demand[kind], -base, none]),
        u=np.concatenate([demand[kind], -base, np.zeros(n_slots)]),
        lb=np.concatenate([np.zeros(n_x), -free]),
        ub=np.concatenate([ub_x, free]),
    )


def main() -> None:
    """Solve the fleet lifted, then directly, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cars", type=int, default=3000)
    parser.add_argument("--types", type=int, default=40)
    parser.add_argument("--no-ground", action="store_true", help="do not also solve the program directly")
    arguments = parser.parse_args()
    console = Console()
    program = charging_fleet(arguments.cars, arguments.types)
    console.print(
        f"Charging [bold]{arguments.cars}[/] cars overnight: {program.n_variables:,} variables, "
        f"{program.n_rows:,} rows, {program.n_nonzeros:,} nonzeros."
    )
    start = perf_counter()
    lifted = relift.solve(program)
    lifted_seconds = perf_counter() - start
    comparison = None
    if not arguments.no_ground:
        console.print(f"Lifted in {lifted_seconds:.2f} s. Now the same program directly, for comparison ...\n")
        start = perf_counter()
        ground = relift.solve(program, lift="none", reduce=False)
        seconds = perf_counter() - start
        comparison = Comparison(ground.status, ground.objective, ground.backend, seconds, lifted_seconds)
    console.print(summary(lifted, comparison=comparison))


if __name__ == "__main__":
    main()
