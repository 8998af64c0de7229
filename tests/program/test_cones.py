"""Cones: what is refused, and how far a vector is from them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relift.errors import ConeError, NotANumberError, ProgramError, ShapeError
from relift.program import ConicRows, Exponential, Power, PowerND, Program, SecondOrder, Semidefinite
from relift.program.cone_distance import matrix_of, pushed_into
from relift.program.cones import Cone

KINDS = (
    SecondOrder(1),
    SecondOrder(3),
    Exponential(),
    Power(0.3),
    Power(0.5),
    PowerND((0.2, 0.5, 0.3)),
    Semidefinite(1),
    Semidefinite(3),
)


def rows_of(*cones: Cone) -> ConicRows:
    size = sum(cone.n_rows for cone in cones)
    return ConicRows(np.zeros((size, 1)), np.zeros(size), cones)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SecondOrder(0), "a second-order cone has 0 rows."),
        (lambda: SecondOrder(2.5), "size of a cone is 2.5. It must be a whole number."),  # type: ignore[arg-type]
        (lambda: SecondOrder(True), "size of a cone is True."),
        (lambda: Semidefinite(0), "a semidefinite cone has the side 0."),
        (lambda: Power(0.0), "the exponent of a power cone is 0.0. It must lie strictly between 0 and 1."),
        (lambda: Power(float("nan")), "the exponent of a power cone is nan."),
        (lambda: Power("half"), "the exponent of a power cone is 'half'."),  # type: ignore[arg-type]
        (lambda: PowerND([1.0]), "the exponent of a power cone is 1.0."),  # type: ignore[arg-type]
        (lambda: PowerND([0.5, 0.6]), "the exponents of a power cone add up to 1.1. They must add up to 1."),  # type: ignore[arg-type]
        (lambda: ConicRows([[1.0]], [0.0], ["soc"]), "cones[0] is 'soc'."),  # type: ignore[list-item]
        (lambda: ConicRows(np.ones((2, 1)), [0.0, 0.0], [Exponential()]), "the cones take 3 rows, but A of the conic"),
        (lambda: ConicRows(np.ones((3, 1)), [0.0], [Exponential()]), "b of the conic rows has 1 entries, but 3"),
        (lambda: ConicRows(np.ones((3, 1)), [0, np.inf, 0], [Exponential()]), "b of the conic rows[1] is inf."),
        (lambda: ConicRows([[1], [np.nan], [1]], 0, [Exponential()]), "A of the conic rows[1, 0] is nan."),
        (lambda: Program(q=[1.0], conic=ConicRows(np.ones((1, 2)), [0], [SecondOrder(1)])), "the conic rows are of 2"),
        (lambda: Program(q=[1.0], conic=[SecondOrder(1)]), "conic is a list. Give relift.ConicRows(A, b, cones)."),  # type: ignore[arg-type]
    ],
)
def test_wrong_cones_are_refused_with_a_sentence(make: object, message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        make()  # type: ignore[operator]
    assert str(caught.value).startswith(message)
    assert isinstance(caught.value, (ConeError, ShapeError, NotANumberError))


def test_what_is_no_list_is_refused_with_a_sentence() -> None:
    for cones in (SecondOrder(1), None, 3):
        with pytest.raises(ConeError, match=r"cones is .* Give a list of cones"):
            ConicRows([[1.0]], [0.0], cones)  # type: ignore[arg-type]
    for alphas in (0.5, None, np.array(0.5)):
        with pytest.raises(ConeError, match=r"the exponents of a power cone are .* Give a list"):
            PowerND(alphas)  # type: ignore[arg-type]


def test_a_program_with_cones_is_not_linear_and_survives_pickling_and_replacement() -> None:
    rows = ConicRows([[0, 0], [-1, 0], [0, -1]], [1, 0, 0], [SecondOrder(3)])
    program = Program(q=[1, 2], conic=rows)
    assert not program.is_linear
    assert program.kind == "conic"
    assert repr(program) == "Program(conic, min, 2 variables, 0 rows, 1 cones, 2 nonzeros)"
    assert pickle.loads(pickle.dumps(program)) == program
    assert program.replace(q=[1, 2]) == program
    assert program.replace(conic=None) != program
    assert program.replace(sense="max").minimisation().conic == rows
    assert Program(conic=rows).n_variables == 2
    assert not rows.b.flags.writeable


def test_cones_with_equal_numbers_in_another_order_are_not_equal() -> None:
    first = ConicRows(np.eye(4), np.zeros(4), [SecondOrder(1), SecondOrder(3)])
    second = ConicRows(np.eye(4), np.zeros(4), [SecondOrder(3), SecondOrder(1)])
    assert first == ConicRows(np.eye(4), np.zeros(4), [SecondOrder(1), SecondOrder(3)])
    assert first != second


def is_inside(cone: Cone, s: np.ndarray, slack: float = 0.0) -> bool:
    """Membership by the definition, as a reader would write it."""
    match cone:
        case SecondOrder():
            return bool(np.linalg.norm(s[1:]) <= s[0] + slack)
        case Semidefinite(n=n):
            return bool(np.linalg.eigvalsh(matrix_of(s, n))[0] >= -slack)
        case Exponential():
            x, y, z = s
            if y > 0:
                return bool(y * np.exp(min(x / y, 700.0)) <= z + slack)
            return bool(abs(y) <= slack and x <= slack and z >= -slack)
        case Power(alpha=alpha):
            return bool(min(s[:2]) >= -slack and abs(s[2]) <= s[0] ** alpha * s[1] ** (1 - alpha) + slack)
        case PowerND(alphas=alphas):
            if min(s[:-1]) < 0:
                return bool(min(s[:-1]) >= -slack and abs(s[-1]) <= slack)
            return bool(abs(s[-1]) <= np.prod(s[:-1] ** np.array(alphas)) + slack)
    raise AssertionError(cone)


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_pushed_vector_lies_in_the_cone_and_members_are_not_pushed(seed: int) -> None:
    random = np.random.default_rng(seed)
    cone = KINDS[seed % len(KINDS)]
    rows = rows_of(cone)
    s = random.choice([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0], rows.n_rows) * random.choice([1e-3, 1.0, 10.0])
    push, moved = pushed_into(rows, s, np.ones(rows.n_rows))
    assert is_inside(cone, moved, 1e-12 * (1 + np.abs(moved).max()))
    assert np.abs(moved - s).max() <= push[0] * (1 + 1e-12) + 1e-15
    if push[0] == 0:
        np.testing.assert_array_equal(moved, s)
        assert is_inside(cone, s, 1e-12)
    elif push[0] > 1e-6:
        assert not is_inside(cone, s)
        half = s + 0.5 * (moved - s)
        assert pushed_into(rows, half, np.ones(rows.n_rows))[0][0] > 0
    again, _ = pushed_into(rows, moved, np.ones(rows.n_rows))
    assert again[0] <= 1e-12 * (1 + np.abs(moved).max())


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_members_of_a_cone_and_of_its_dual_have_no_negative_product(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = rows_of(*KINDS)
    s, v = (random.normal(size=rows.n_rows) * random.choice([1e-4, 1.0, 1e3], rows.n_rows) for _ in range(2))
    _, inside = pushed_into(rows, s, 1.0 + np.abs(s))
    _, dual = pushed_into(rows, v, 1.0 + np.abs(v), dual=True)
    products = np.bincount(rows.cone_of_row, inside * dual)
    sizes = np.bincount(rows.cone_of_row, np.abs(inside * dual))
    assert np.all(products >= -1e-10 * (1 + sizes))


@pytest.mark.parametrize("cone", KINDS)
def test_the_dual_cone_is_not_too_small(cone: Cone) -> None:
    # A vector outside the dual has a negative product with some member: found among many.
    random = np.random.default_rng(1)
    many, rows = rows_of(*[cone] * 4000), rows_of(cone)
    s = random.normal(size=many.n_rows) * np.exp(random.normal(size=many.n_rows))
    members = pushed_into(many, s, np.ones(many.n_rows))[1].reshape(4000, -1)
    found = 0
    for _ in range(100):
        v = random.normal(size=rows.n_rows)
        push, _ = pushed_into(rows, v, np.ones(rows.n_rows), dual=True)
        if push[0] > 0.3:
            found += 1
            assert (members @ v).min() < 0, v
    assert found > 5 or rows.n_rows == 1


@pytest.mark.parametrize(
    ("s", "expected"),
    [
        ((1e-9, 1e-12, 1.0), 1e-9 - 1e-12 * np.log(1e12)),  # e^1000 would overflow
        ((1.0, 0.0, 1e300), 1.0),
        ((0.0, 1e-300, 0.0), 1e-300),
        ((-1e300, 1.0, 0.0), 0.0),
        ((1.0, -2.0, 1.0), 2.0),
    ],
)
def test_the_boundary_of_the_exponential_cone_is_met_without_overflow(s: tuple, expected: float) -> None:
    push, moved = pushed_into(rows_of(Exponential()), np.array(s), np.ones(3))
    assert np.isfinite(moved).all()
    assert push[0] == pytest.approx(expected, rel=1e-3, abs=1e-15)


def test_power_cones_with_a_zero_argument_ask_for_little() -> None:
    # sqrt(d (1 + d)) >= 1e-6 for d = 1e-12: the value is far off, the cone is near.
    push, _ = pushed_into(rows_of(Power(0.5)), np.array([0.0, 1.0, 1e-6]), np.ones(3))
    assert push[0] == pytest.approx(1e-12, rel=1e-3, abs=0)


@given(seed=st.integers(0, 10**6), orders=st.lists(st.integers(1, 4), min_size=1, max_size=5))
@settings(deadline=None, max_examples=100)
def test_semidefinite_cones_are_pushed_as_each_alone(seed: int, orders: list[int]) -> None:
    random = np.random.default_rng(seed)
    rows = rows_of(SecondOrder(2), *map(Semidefinite, orders))
    s, room = random.normal(size=rows.n_rows), random.uniform(0.5, 2.0, rows.n_rows)
    push, moved = pushed_into(rows, s, room)
    for k, order in enumerate(orders, start=1):
        span = slice(rows.starts[k], rows.starts[k] + rows.sizes[k])
        own_push, own_moved = pushed_into(rows_of(Semidefinite(order)), s[span], room[span])
        assert push[k] == own_push[0]
        np.testing.assert_array_equal(moved[span], own_moved)
