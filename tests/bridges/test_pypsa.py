"""PyPSA networks through ``n.optimize(solver_name="relift")``: the objective and the nodal prices of HiGHS.

The networks are built here, in the manner of PyPSA's examples, since its package ships none: a dispatch in a meshed
network, capacity expansion with storage, unit commitment without integers, quadratic costs, a limit on emissions. Each
has a unit that is a little dearer or a line that is a little tighter than the next, so that its prices are unique.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pypsa = pytest.importorskip("pypsa")
pd = pytest.importorskip("pandas")
bridge = pytest.importorskip("relift.linopy")

pytestmark = [pytest.mark.filterwarnings("ignore::FutureWarning"), pytest.mark.filterwarnings("ignore::UserWarning")]

QUIET = {"log_to_console": False, "include_objective_constant": False}


def dispatch() -> Any:
    """Three buses in a triangle, two snapshots: lines congest, and prices differ by bus."""
    n = pypsa.Network()
    n.set_snapshots(range(2))
    for bus, load in (("north", [60.0, 90.0]), ("south", [140.0, 170.0]), ("west", [40.0, 55.0])):
        n.add("Bus", bus)
        n.add("Load", f"load {bus}", bus=bus, p_set=load)
    for j, (bus, cost) in enumerate((("north", 10.0), ("south", 47.5), ("west", 21.3))):
        n.add("Generator", f"unit {j}", bus=bus, p_nom=200, marginal_cost=cost)
    n.add("Generator", "peak", bus="south", p_nom=150, marginal_cost=90)
    for start, end, size in (("north", "south", 70.0), ("south", "west", 45.0), ("west", "north", 60.0)):
        n.add("Line", f"{start}-{end}", bus0=start, bus1=end, x=0.1, r=0.01, s_nom=size)
    return n


def expansion() -> Any:
    """A day of 24 hours with wind, sun, gas and a battery, all of them to be sized."""
    n = pypsa.Network()
    n.set_snapshots(pd.date_range("2024-01-01", periods=24, freq="h"))
    hours = np.arange(24)
    n.add("Bus", "bus")
    n.add("Load", "load", bus="bus", p_set=80 + 30 * np.sin((hours - 7) / 24 * 2 * np.pi).round(4))
    sun = np.maximum(np.sin((hours - 6) / 12 * np.pi), 0).round(4)
    wind = (0.4 + 0.3 * np.cos(hours * 0.9)).round(4)
    for name, profile, capital in (("sun", sun, 310.0), ("wind", wind, 620.0)):
        n.add("Generator", name, bus="bus", p_nom_extendable=True, p_max_pu=profile, capital_cost=capital)
    n.add("Generator", "gas", bus="bus", p_nom_extendable=True, capital_cost=150, marginal_cost=60)
    n.add(
        "StorageUnit", "battery", bus="bus", p_nom_extendable=True, capital_cost=90, max_hours=4, marginal_cost=0.01,
        efficiency_store=0.95, efficiency_dispatch=0.95, cyclic_state_of_charge=True,
    )  # fmt: skip
    return n


def emissions() -> Any:
    """Coal and gas under a limit of carbon dioxide, whose price is the dual value of that limit."""
    n = pypsa.Network()
    n.set_snapshots(range(4))
    n.add("Carrier", "coal", co2_emissions=0.34)
    n.add("Carrier", "gas", co2_emissions=0.2)
    n.add("Bus", "bus")
    n.add("Load", "load", bus="bus", p_set=[50.0, 70.0, 95.0, 60.0])
    n.add("Generator", "coal", bus="bus", carrier="coal", p_nom=80, marginal_cost=20, efficiency=0.4)
    n.add("Generator", "gas", bus="bus", carrier="gas", p_nom=80, marginal_cost=55, efficiency=0.55)
    n.add("GlobalConstraint", "co2", type="primary_energy", carrier_attribute="co2_emissions", sense="<=", constant=170)
    return n


def quadratic() -> Any:
    """Two units with quadratic costs on two buses."""
    n = pypsa.Network()
    n.set_snapshots(range(3))
    for bus, load in (("a", [30.0, 50.0, 80.0]), ("b", [20.0, 25.0, 20.0])):
        n.add("Bus", bus)
        n.add("Load", f"load {bus}", bus=bus, p_set=load)
    n.add("Generator", "one", bus="a", p_nom=100, marginal_cost=10, marginal_cost_quadratic=0.2)
    n.add("Generator", "two", bus="b", p_nom=100, marginal_cost=12, marginal_cost_quadratic=0.1)
    n.add("Link", "cable", bus0="b", bus1="a", p_nom=25, p_min_pu=-1, efficiency=0.98)
    return n


def commitment() -> Any:
    """Unit commitment, made continuous by PyPSA."""
    n = pypsa.Network()
    n.set_snapshots(range(4))
    n.add("Bus", "bus")
    n.add("Load", "load", bus="bus", p_set=[40.0, 60.0, 50.0, 8.0])
    for name, cost, least, start in (("coal", 20.0, 0.3, 500.0), ("gas", 70.0, 0.1, 111.0)):
        n.add(
            "Generator", name, bus="bus", committable=True, p_nom=100 if name == "coal" else 40, marginal_cost=cost,
            p_min_pu=least, start_up_cost=start, ramp_limit_up=0.35,
        )  # fmt: skip
    return n


def fleet(copies: int = 30) -> Any:
    """A bus with many equal batteries and equal gas units: what relift is for."""
    n = pypsa.Network()
    n.set_snapshots(range(12))
    n.add("Bus", "bus")
    n.add("Load", "load", bus="bus", p_set=[90, 80, 70, 70, 90, 120, 160, 190, 210, 180, 150, 100])
    for k in range(copies):
        n.add("Generator", f"gas {k}", bus="bus", p_nom=5, marginal_cost=40)
        n.add(
            "StorageUnit", f"battery {k}", bus="bus", p_nom=1, max_hours=3, efficiency_store=0.9,
            marginal_cost=0.5, cyclic_state_of_charge=True,
        )  # fmt: skip
    n.add("Generator", "imports", bus="bus", p_nom=500, marginal_cost=95)
    return n


def optimised(network: Any, name: str, **words: Any) -> Any:
    assert network.optimize(solver_name=name, **QUIET, **words) == ("ok", "optimal")
    return network


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (dispatch, {}),
        (expansion, {}),
        (emissions, {}),
        (quadratic, {}),
        (commitment, {"linearized_unit_commitment": True}),
    ],
    ids=["dispatch", "expansion", "emissions", "quadratic", "commitment"],
)
def test_objective_dispatch_and_nodal_prices_are_those_of_highs(make: Any, words: Any) -> None:
    theirs, ours = optimised(make(), "highs", **words), optimised(make(), "relift", **words)
    assert ours.model.solver.outcome.is_lifted
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-6)
    prices, own = (network.buses_t.marginal_price.to_numpy() for network in (theirs, ours))
    assert prices.size
    assert np.allclose(own, prices, rtol=1e-6, atol=1e-6 * np.abs(prices).max())
    size = np.abs(theirs.generators_t.p.to_numpy()).max()
    assert np.allclose(ours.generators_t.p, theirs.generators_t.p, rtol=1e-5, atol=1e-5 * size)
    assert np.allclose(ours.generators.p_nom_opt, theirs.generators.p_nom_opt, rtol=1e-5, atol=1e-5 * size)
    if len(theirs.global_constraints):
        assert np.allclose(ours.global_constraints.mu, theirs.global_constraints.mu, rtol=1e-6)
        assert (ours.global_constraints.mu < 0).all()  # a tighter limit of a minimisation raises the costs


def test_prices_are_what_one_more_unit_of_load_costs() -> None:
    network = optimised(dispatch(), "relift")
    price = network.buses_t.marginal_price.at[1, "south"]
    dearer = dispatch()
    dearer.loads_t.p_set.loc[1, "load south"] += 0.01
    optimised(dearer, "relift")
    assert price > 0
    assert (dearer.objective - network.objective) / 0.01 == pytest.approx(price, rel=1e-4)


def test_a_fleet_of_equal_units_shrinks_and_costs_the_same() -> None:
    theirs, ours = optimised(fleet(), "highs"), optimised(fleet(), "relift")
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-8)
    result = ours.model.solver.outcome.result
    assert result.program.n_variables == 12 * (30 * 4 + 1)
    assert result.lifting.small.n_variables <= 12 * 5
    alike = ours.storage_units_t.p.to_numpy()
    assert np.allclose(alike, alike[:, :1], atol=1e-9)


def test_more_load_than_all_units_can_give_is_infeasible() -> None:
    network = dispatch()
    network.loads_t.p_set.loc[0, "load south"] = 5000.0
    assert network.optimize(solver_name="relift", **QUIET) == ("warning", "infeasible")


def test_options_of_relift_and_of_highs_reach_it_as_solver_options() -> None:
    network = dispatch()
    network.optimize(solver_name="relift", solver_options={"lift": "none", "presolve": "off"}, **QUIET)
    assert network.model.solver.outcome.result.lifting.settings.lift == "none"
