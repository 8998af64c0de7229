"""Approximate lifting: the bounds always enclose the optimum, and no number is called optimal without a proof."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from tests.data import data_folder

import relift
from relift.approximate.repair import repaired_point, violation
from relift.approximate.report import relative_gap
from relift.approximate.restriction import Restriction, averaged, restrict, separable_bounds
from relift.errors import OptionError, PartitionError
from relift.formats.program_files import read_program
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.settings import Progress
from relift.symmetry.find import Symmetry
from relift.symmetry.partition import Partition
from relift.testing.noise import with_noise
from relift.testing.random_programs import symmetric_program

ENDED = {Status.TIME_LIMIT, Status.ITERATION_LIMIT, Status.OPTIMAL_INACCURATE}


def unhurried(**options: Any) -> relift.Approximation:
    """Rounds as many as they take: small programs would be solved without them before the first one ends."""
    return relift.Approximation(budget=math.inf, **options)


def any_program(seed: int) -> tuple[Program, np.random.Generator]:
    """A small program of any kind: equalities, free variables, half boxes; some infeasible, some unbounded."""
    random = np.random.default_rng(seed)
    n, m = int(random.integers(1, 9)), int(random.integers(0, 6))
    A = np.where(random.random((m, n)) < 0.6, random.choice([1.0, -1.0, 2.0, 0.5], (m, n)), 0.0)
    A *= 1 + random.choice([0.0, 1e-2]) * random.uniform(-1, 1, A.shape)
    x0 = random.integers(-2, 3, n) * 0.5
    value, kind = A @ x0, random.integers(0, 4, m)
    l = np.select([kind == 0, kind == 1, kind == 3], [value, value - random.random(m), value - 0.5], -np.inf)
    u = np.select([kind == 0, kind == 2, kind == 3], [value, value + random.random(m), value + 0.5], np.inf)
    if m and random.random() < 0.15:
        i = int(random.integers(m))
        l[i] += 5
        u[i] = max(u[i], l[i])
    lb = np.where(random.random(n) < 0.6, x0 - random.random(n), -np.inf)
    ub = np.where(random.random(n) < 0.5, x0 + random.random(n), np.inf)
    P = None
    if random.random() < 0.5:
        factor = random.integers(-1, 2, (int(random.integers(1, n + 1)), n)).astype(float)
        P = factor.T @ factor
        if random.random() < 0.3:
            P = P + np.diag(random.random(n))
    q = random.choice([-1.0, 0.0, 1.0, 2.0], n) * (1 + 1e-2 * random.uniform(-1, 1, n))
    sign = -1.0 if random.random() < 0.3 else 1.0
    P = None if P is None or not P.any() else sign * P
    constant = float(random.choice([0.0, 2.5]))
    return Program(P, sign * q, A, l, u, lb, ub, constant, sense="max" if sign < 0 else "min"), random


def assert_encloses(result: relift.Result, ground: relift.Result, asked: float) -> None:
    """The bounds enclose the optimum of a certified ground solve; each status says no more than is proved."""
    if ground.status not in {Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED}:
        return
    slack = 2e-6 * max(1.0, abs(ground.objective)) if math.isfinite(ground.objective) else 0.0
    assert result.lower_bound <= ground.objective + slack
    assert result.upper_bound >= ground.objective - slack
    if result.status == Status.OPTIMAL_WITHIN_GAP:
        assert ground.status == Status.OPTIMAL
        assert result.gap <= asked
        assert result.certificate.is_feasible
        assert abs(result.objective - ground.objective) <= asked * max(1.0, abs(result.objective)) + slack
    elif result.status not in ENDED:
        assert result.status == ground.status
    if result.status == Status.OPTIMAL:
        assert result.certificate.is_optimal


@pytest.mark.parametrize("part", range(4))
def test_bounds_enclose_the_optimum_of_any_program_for_any_classes(part: int) -> None:
    for seed in range(part * 75, (part + 1) * 75):
        program, random = any_program(seed)
        ground = relift.solve(program, lift="none", reduce=False)
        labels = random.integers(0, int(random.integers(1, program.n_variables + 1)), program.n_variables)
        options = unhurried(
            gap=float(random.choice([1e-1, 1e-2, 1e-4])),
            partition=Partition.from_labels(labels),
            rows=str(random.choice(["auto", "keep", "average"])),
            max_rounds=int(random.choice([1, 2, 50])),
            finish=str(random.choice(["gap", "gap", "ground"])),
            max_classes=program.n_variables if random.random() < 0.2 else None,
        )
        result = relift.solve(program, approximate=options)
        assert_encloses(result, ground, options.gap)
        if options.max_rounds == 50 and ground.status == Status.OPTIMAL:
            assert result.status in {Status.OPTIMAL, Status.OPTIMAL_WITHIN_GAP, Status.OPTIMAL_INACCURATE}


@pytest.mark.parametrize("quadratic", [False, True])
@pytest.mark.parametrize("level", [1e-3, 1e-5])
def test_noisy_symmetric_programs_are_solved_within_the_gap(quadratic: bool, level: float) -> None:
    n_within = 0
    for seed in range(40):
        case = symmetric_program(seed, quadratic=quadratic, copies=6, disguised=bool(seed % 2))
        program = with_noise(case.program, level, seed)
        ground = relift.solve(program, lift="none", reduce=False)
        result = relift.solve(program, approximate=unhurried(gap=1e-2))
        assert_encloses(result, ground, 1e-2)
        n_within += result.status == Status.OPTIMAL_WITHIN_GAP
    assert n_within > 5


@pytest.mark.parametrize("level", [1e-3, 1e-4, 1e-6])
@pytest.mark.parametrize("name", ["cod83", "codbt06", "cov1054", "cov1075_miplib2010", "sts81", "cvs16r128-89"])
def test_noisy_linear_programs_of_the_collection(name: str, level: float) -> None:
    program = with_noise(read_program(data_folder("lp_symmetric") / f"{name}.npz"), level)
    exact = relift.lift(program)
    assert exact.small.n_variables > 0.95 * program.n_variables  # exact lifting finds nothing
    gap = 10 * level
    result = relift.solve(program, approximate=unhurried(gap=gap))
    assert result.status in {Status.OPTIMAL_WITHIN_GAP, Status.OPTIMAL}
    assert result.gap <= gap
    assert result.rounds[0].classes < 0.1 * program.n_variables
    ground = relift.solve(program, lift="none", reduce=False)
    assert_encloses(result, ground, gap)


@pytest.mark.parametrize("level", [1e-3, 1e-6])
@pytest.mark.parametrize("name", ["AUG3D", "AUG3DCQP"])
def test_noisy_equalities_are_averaged_and_repaired(name: str, level: float) -> None:
    program = with_noise(read_program(data_folder("maros_meszaros") / f"{name}.npz"), level)
    assert relift.lift(program, sizes=False, signs=False).small.n_variables == program.n_variables
    result = relift.solve(program, approximate=unhurried(gap=1e-3))
    assert result.status == Status.OPTIMAL_WITHIN_GAP
    assert result.rounds[0].kind == "averages"
    assert result.rounds[-1].classes < 0.2 * program.n_variables
    ground = relift.solve(program, lift="none", reduce=False)
    assert_encloses(result, ground, 1e-3)


def test_a_program_without_any_symmetry_ends_exact() -> None:
    program = read_program(data_folder("maros_meszaros") / "CVXQP2_S.npz")
    result = relift.solve(program, approximate=unhurried(gap=1e-4))
    assert result.status in {Status.OPTIMAL, Status.OPTIMAL_WITHIN_GAP}
    assert result.objective == pytest.approx(8120.94, rel=2e-4)


def noisy_cover(n: int = 40, level: float = 1e-3) -> Program:
    random = np.random.default_rng(1)
    return Program(
        q=1 + level * random.uniform(-1, 1, n),
        A=1 + level * random.uniform(-1, 1, (3, n)),
        l=np.full(3, float(n)),
        lb=0,
    )


def test_a_number_is_a_gap_and_a_partition_a_start() -> None:
    program = noisy_cover()
    by_gap = relift.solve(program, approximate=unhurried(gap=1e-2))
    assert by_gap.status == Status.OPTIMAL_WITHIN_GAP
    assert by_gap.gap <= 1e-2
    assert by_gap.rounds[0].classes == 1
    by_partition = relift.solve(program, approximate=unhurried(partition=np.arange(40) % 2))
    assert by_partition.rounds[0].classes == 2
    assert by_partition.status in {Status.OPTIMAL_WITHIN_GAP, Status.OPTIMAL}


def test_lift_gives_a_restriction_that_solve_goes_on_with() -> None:
    program = noisy_cover()
    lifting = relift.lift(program, approximate=unhurried(gap=1e-2))
    assert isinstance(lifting.quotient, Restriction)
    assert lifting.quotient.keeps_rows
    assert lifting.small.n_variables == 1
    assert "all distinct rows are kept" in lifting.notes[0]
    assert set(lifting.class_of_variable) == {0}
    expanded = lifting.expand(Solution(Status.OPTIMAL, x=np.full(1, 1.01), y=np.zeros(lifting.small.n_rows)))
    assert expanded.x is not None
    assert expanded.x.tolist() == [1.01] * 40
    result = relift.solve(lifting)
    assert result.status == Status.OPTIMAL_WITHIN_GAP
    tighter = relift.solve(lifting.update(l=np.full(3, 80.0)))
    assert tighter.objective == pytest.approx(2 * result.objective, rel=1e-2)
    with pytest.raises(PartitionError, match="approximate classes have no isometric form"):
        lifting.isometric()


def test_exact_classes_are_certified_as_optimal() -> None:
    result = relift.solve(Program(q=[1, 1, 1], A=[[1, 1, 1]], l=[3], lb=0, ub=9), approximate=unhurried(gap=0.1))
    assert result.status == Status.OPTIMAL
    assert result.certificate.is_optimal
    assert result.objective == pytest.approx(3.0)


def test_without_approximate_there_are_no_bounds() -> None:
    result = relift.solve(Program(q=[1.0], lb=0))
    assert result.approximation is None
    assert math.isnan(result.gap)
    assert math.isnan(result.lower_bound)
    assert math.isnan(result.upper_bound)
    assert result.rounds == ()


def test_a_budget_that_ends_is_told_and_nothing_is_called_optimal() -> None:
    program = with_noise(symmetric_program(3, copies=8).program, 1e-2)
    result = relift.solve(program, approximate=unhurried(gap=1e-9, partition=np.zeros(32), max_rounds=1))
    assert result.status == Status.ITERATION_LIMIT
    assert "max_rounds=1 ended before the gap was reached" in result.message
    assert len(result.rounds) == 1
    limited = relift.solve(program, approximate=unhurried(gap=1e-9, partition=np.zeros(32), max_classes=6))
    assert limited.status == Status.ITERATION_LIMIT
    assert "max_classes=6 was reached before the gap" in limited.message
    assert max(line.classes for line in limited.rounds) <= 6
    late = relift.solve(program, approximate=unhurried(gap=1e-9), time_limit=1e-9)
    assert late.status == Status.TIME_LIMIT
    assert late.upper_bound == math.inf


def test_an_infeasible_restriction_is_not_an_infeasible_program() -> None:
    # x = y contradicts x - y = 1; alone they are feasible.
    program = Program(q=[1.0, 1.0], A=[[1.0, -1.0]], l=[1.0], u=[1.0], lb=0, ub=5)
    told: list[Progress] = []
    options = unhurried(partition=[0, 0], rows="keep")
    result = relift.solve(program, approximate=options, progress=told.append)
    assert result.rounds[0].status == Status.INFEASIBLE
    assert result.status == Status.OPTIMAL
    assert result.objective == pytest.approx(1.0)
    words = [event.message for event in told if event.stage == "approximate"]
    assert "says nothing of the program" in words[0]


def test_infeasible_and_unbounded_programs_are_proved() -> None:
    infeasible = Program(q=np.ones(6), A=np.vstack([np.ones(6), -np.ones(6) * 1.001]), l=[7.0, -3.0], lb=0)
    result = relift.solve(infeasible, approximate=unhurried(gap=1e-2))
    assert result.status == Status.INFEASIBLE
    assert result.certificate.is_proved
    assert result.objective == math.inf
    assert (result.lower_bound, result.upper_bound) == (math.inf, math.inf)
    unbounded = Program(q=-np.ones(6) - 1e-3 * np.arange(6), A=np.ones((1, 6)), l=[0.0], lb=0)
    result = relift.solve(unbounded, approximate=unhurried(gap=1e-2))
    assert result.status == Status.UNBOUNDED
    assert result.certificate.is_proved
    assert result.lower_bound == -math.inf


def test_progress_tells_round_classes_and_bounds() -> None:
    told: list[Progress] = []
    program = with_noise(symmetric_program(5, copies=8).program, 1e-2)
    result = relift.solve(program, approximate=unhurried(gap=1e-6, partition=np.zeros(32)), progress=told.append)
    events = [event for event in told if event.stage == "approximate"]
    assert [event.round for event in events] == list(range(1, len(events) + 1))
    assert len(events) == len(result.rounds)
    classes = [event.classes for event in events]
    assert classes == sorted(classes)
    for event, line in zip(events, result.rounds, strict=True):
        assert (event.lower, event.upper, event.gap) == (line.lower, line.upper, line.gap)
        assert event.lower <= event.upper
    uppers = [line.upper for line in result.rounds]
    assert uppers == sorted(uppers, reverse=True)
    lowers = [line.lower for line in result.rounds]
    assert lowers == sorted(lowers)


def test_finish_on_the_ground_starts_from_the_point_and_is_certified() -> None:
    pytest.importorskip("osqp", reason="warm starts are counted in iterations of OSQP")
    random = np.random.default_rng(0)
    n = 60
    program = Program(
        P=np.eye(n) + 1e-3 * np.diag(random.uniform(-1, 1, n)),
        q=-1 + 1e-3 * random.uniform(-1, 1, n),
        A=1 + 1e-3 * random.uniform(-1, 1, (2, n)),
        u=np.array([20.0, 20.01]),
        lb=0,
        ub=1,
    )
    options = unhurried(gap=1e-2, finish="ground")
    result = relift.solve(program, approximate=options, backend="osqp", tolerance=1e-5)
    assert result.status == Status.OPTIMAL
    assert result.rounds[-1].kind == "ground"
    assert result.gap <= 1e-2
    assert result.lower_bound <= result.objective + 1e-4
    cold = relift.solve(program, lift="none", reduce=False, backend="osqp", tolerance=1e-5)
    assert cold.iterations is not None
    assert result.iterations is not None
    assert result.iterations <= cold.iterations


def test_maximisation_keeps_its_sense() -> None:
    program = with_noise(Program(q=np.ones(20), A=np.ones((1, 20)), u=[7.0], lb=0, ub=1, sense="max"), 1e-3)
    ground = relift.solve(program, lift="none")
    result = relift.solve(program, approximate=unhurried(gap=1e-2))
    assert result.status == Status.OPTIMAL_WITHIN_GAP
    assert result.lower_bound <= ground.objective <= result.upper_bound
    assert result.objective == pytest.approx(result.lower_bound)


def test_classes_may_come_from_a_clusterer_or_a_budget() -> None:
    program = noisy_cover(60)
    result = relift.solve(program, approximate=unhurried(gap=1e-2, classes=4))
    assert result.status == Status.OPTIMAL_WITHIN_GAP
    assert result.rounds[0].classes <= 4
    cluster = pytest.importorskip("sklearn.cluster", reason="a clusterer of scikit-learn")
    clusterer = cluster.KMeans(3, n_init=1, random_state=0)
    result = relift.solve(program, approximate=unhurried(gap=1e-2, clusterer=clusterer))
    assert result.status == Status.OPTIMAL_WITHIN_GAP
    assert result.rounds[0].classes <= 3
    assert result.approximation is not None
    assert "clustering" in result.approximation.method


def test_a_radius_that_is_known_makes_a_bound_where_there_was_none() -> None:
    # Free variables, gradients that averaging leaves at the size of the noise.
    random = np.random.default_rng(2)
    n = 30
    A = np.eye(n) * 2 - np.ones((n, n)) / n + 1e-5 * random.uniform(-1, 1, (n, n))
    program = Program(q=np.ones(n), A=A, l=np.ones(n))
    options = {"gap": 1e-2, "partition": np.zeros(n), "max_rounds": 1}
    known = relift.solve(program, approximate=unhurried(radius=50.0, **options))
    assert known.status == Status.OPTIMAL_WITHIN_GAP
    ground = relift.solve(program, lift="none")
    assert_encloses(known, ground, 1e-2)


def test_the_result_of_a_round_survives_pickling() -> None:
    result = relift.solve(noisy_cover(), approximate=unhurried(gap=1e-2))
    copy = pickle.loads(pickle.dumps(result.approximation))
    assert copy == result.approximation
    assert "gap" in str(copy)


def test_restricted_points_are_feasible_and_dual_values_balance_over_classes() -> None:
    for seed in range(30):
        program = with_noise(symmetric_program(seed, quadratic=bool(seed % 2), copies=3).program, 1e-3, seed)
        labels = separable_bounds(program, Partition.from_labels(np.arange(12) % 5))
        classes = Symmetry(labels, Partition.discrete(program.n_rows), np.ones(program.n_rows), "by hand")
        restriction = restrict(program, classes)
        solution = relift.solve(restriction.program, lift="none").solution
        if solution.status != Status.OPTIMAL:
            continue
        expanded = restriction.expand(solution)
        assert expanded.x is not None
        assert expanded.y is not None
        assert violation(program, expanded.x) <= 1e-6
        gradient = program.q + program.A.T @ expanded.y
        if program.P is not None:
            gradient = gradient + program.P @ expanded.x
        over_classes = np.bincount(labels.labels, gradient)
        interior = (expanded.x > program.lb + 1e-5) & (expanded.x < program.ub - 1e-5)
        free = np.bincount(labels.labels, ~interior) == 0
        np.testing.assert_allclose(over_classes[free], 0, atol=1e-4)


def test_averages_say_that_they_do_not_keep_rows() -> None:
    program = Program(q=[1, 1], A=[[1, 2], [2, 1.01]], l=[3, 3], u=[3, 3], lb=0)
    small = averaged(program, Symmetry(Partition.one_class(2), Partition.one_class(2), np.ones(2), "by hand"))
    assert not small.keeps_rows
    assert small.class_of_variable.tolist() == [-1, -1]  # its only value is known
    with pytest.raises(PartitionError, match="classes of 1 rows do not fit a program with 2 rows"):
        averaged(program, Symmetry(Partition.one_class(2), Partition.one_class(1), np.ones(1), "by hand"))


def test_a_repaired_point_keeps_rows_and_bounds() -> None:
    random = np.random.default_rng(3)
    A = random.standard_normal((4, 12))
    x0 = random.uniform(0.2, 0.8, 12)
    program = Program(q=np.ones(12), A=A, l=A @ x0, u=A @ x0 + np.array([0, 0, 1, 1]), lb=0, ub=1)
    x = repaired_point(program, x0 + 1e-2 * random.standard_normal(12), 1e-8)
    assert x is not None
    assert violation(program, x) <= 1e-8
    hopeless = Program(q=[1.0], A=[[1.0], [1.0]], l=[1.0, 2.0], u=[1.0, 2.0])
    assert repaired_point(hopeless, np.ones(1), 1e-8) is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gap": -1.0}, "gap=-1.0 is out of range. Give a positive number, such as 1e-3."),
        ({"gap": math.nan}, "gap=nan is out of range. Give a positive number, such as 1e-3."),
        ({"tolerance": 2.0}, "tolerance=2.0 is out of range. Give a number between 0 and 1, such as 1e-2."),
        ({"classes": 0}, "classes=0 is out of range. Give a positive whole number."),
        ({"max_classes": 0}, "max_classes=0 is out of range. Give a positive whole number."),
        ({"max_rounds": 0}, "max_rounds=0 is out of range. Give a positive whole number."),
        ({"gap": "small"}, "gap='small' is out of range. Give a number."),
        ({"max_rounds": None}, "max_rounds=None is out of range. Give a number."),
        ({"budget": True}, "budget=True is out of range. Give a number."),
        ({"budget": math.nan}, "budget=nan is out of range. Give a positive number, such as 0.35, or math.inf."),
        ({"budget": 0.0}, "budget=0.0 is out of range. Give a positive number, such as 0.35, or math.inf."),
        ({"radius": 0.0}, "radius=0.0 is out of range. Give a positive number, or math.inf."),
        ({"rows": "drop"}, "rows='drop' is not valid. Expected one of: auto, keep, average."),
        ({"finish": "now"}, "finish='now' is not valid. Expected one of: gap, ground."),
        (
            {"tolerance": 0.1, "classes": 3},
            "tolerance and classes are given together. Each is a way to find the first classes.",
        ),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        relift.Approximation(**options)  # type: ignore[arg-type]
    assert str(caught.value) == message


def test_wrong_calls_are_refused() -> None:
    program = noisy_cover(10)
    with pytest.raises(OptionError, match=r"approximate must be a positive number.*got 'much'"):
        relift.solve(program, approximate="much")  # type: ignore[arg-type]
    with pytest.raises(PartitionError, match="the partition has 3 elements, but the program has 10 variables"):
        relift.solve(program, approximate=Partition.one_class(3))
    with pytest.raises(OptionError, match="vertex=True cannot be combined with approximate lifting"):
        relift.solve(program, approximate=unhurried(gap=1e-2), vertex=True)

    class Wrong:
        def fit_predict(self, X: np.ndarray) -> np.ndarray:
            return np.zeros(2)

    with pytest.raises(OptionError, match="the clusterer gave 2 labels for 10 signatures"):
        relift.solve(program, approximate=unhurried(clusterer=Wrong()))


def test_programs_without_variables_or_rows() -> None:
    result = relift.solve(Program(q=np.zeros(0), lb=np.zeros(0)), approximate=unhurried(gap=1e-2))
    assert result.status == Status.OPTIMAL
    result = relift.solve(Program(q=[1.0, 1.001], lb=0, ub=1), approximate=unhurried(gap=1e-2))
    assert result.status in {Status.OPTIMAL, Status.OPTIMAL_WITHIN_GAP}
    assert result.objective == pytest.approx(0.0)


def test_the_gap_is_relative_with_floor_one() -> None:
    assert relative_gap(990.0, 1000.0) == pytest.approx(0.01)
    assert relative_gap(0.0, 0.01) == pytest.approx(0.01)
    assert relative_gap(1.0 + 1e-12, 1.0) == 0.0


def test_the_summary_tells_what_was_proved(capsys: pytest.CaptureFixture[str]) -> None:
    from relift.report.summary import print_plain, summary

    print_plain(summary(relift.solve(noisy_cover(), approximate=unhurried(gap=1e-2))))
    printed = capsys.readouterr().out
    assert "optimal within gap" in printed
    assert "proved: [" in printed
    assert "(asked 1e-02)" in printed
