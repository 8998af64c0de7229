"""Field images and arithmetic, compiled and in NumPy, against Python's fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from relift.errors import NotANumberError
from relift.program import passes
from relift.settings import Reading
from relift.symmetry import finite_field as field
from relift.symmetry.finite_field import MINUS_INFINITY, MODULUS, PLUS_INFINITY

ENGINES = ["compiled", "numpy"] if field.CORE_IS_COMPILED else ["numpy"]
elements = st.integers(0, MODULUS - 1) | st.sampled_from([0, 1, MODULUS - 1, MODULUS - 2, 1 << 32, (1 << 32) - 1])
short_decimals = st.builds(lambda m, k: float(f"{m}e{k}"), st.integers(-(10**15), 10**15), st.integers(-30, 30))
floats = st.floats(allow_nan=False, allow_infinity=False) | short_decimals | st.integers(-(2**60), 2**60).map(float)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "numpy":
        monkeypatch.setattr(field, "CORE_IS_COMPILED", False)
    return str(request.param)


@pytest.fixture(params=ENGINES, scope="module")
def module_engine(request: pytest.FixtureRequest) -> object:
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "numpy":
            patch.setattr(field, "CORE_IS_COMPILED", False)
        yield request.param


def image(value: float, reading: Reading) -> int:
    exact = Fraction(repr(value)) if reading == "decimal" else Fraction(value)
    return exact.numerator * pow(exact.denominator, -1, MODULUS) % MODULUS


@given(values=st.lists(floats, max_size=20))
@pytest.mark.parametrize("reading", ["decimal", "bits"])
def test_images_are_those_of_fractions(module_engine: object, reading: Reading, values: list[float]) -> None:
    assert field.images(values, reading).tolist() == [image(value, reading) for value in values]


@given(pairs=st.lists(st.tuples(elements, elements), max_size=10))
def test_arithmetic_is_that_of_integers_mod_p(module_engine: object, pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs, dtype=np.uint64).reshape(-1, 2).T
    assert field.add(a, b).tolist() == [(x + y) % MODULUS for x, y in pairs]
    assert field.subtract(a, b).tolist() == [(x - y) % MODULUS for x, y in pairs]
    assert field.multiply(a, b).tolist() == [x * y % MODULUS for x, y in pairs]
    assert field.negate(a).tolist() == [-x % MODULUS for x, _ in pairs]
    assert field.inverse(a).tolist() == [pow(x, -1, MODULUS) if x else 0 for x, _ in pairs]


@given(a=st.decimals(-1000, 1000, places=6), b=st.decimals(-1000, 1000, places=6))
@settings(max_examples=50)
def test_decimals_add_up(module_engine: object, a: object, b: object) -> None:
    total = float(a + b)  # type: ignore[operator]
    assert field.add(field.images(float(a)), field.images(float(b))) == field.images(total)  # type: ignore[arg-type]


def test_tenths_add_up_in_decimal_but_not_in_bits(engine: str) -> None:
    a, b, c = field.images([0.1, 0.2, 0.3])
    assert field.add(a, b) == c
    a, b, c = field.images([0.1, 0.2, 0.3], "bits")
    assert field.add(a, b) != c


@pytest.mark.parametrize("reading", ["decimal", "bits"])
def test_infinities_have_words_of_their_own_and_zero_has_no_sign(engine: str, reading: Reading) -> None:
    words = field.images([np.inf, -np.inf, 0.0, -0.0], reading)
    assert words.tolist() == [PLUS_INFINITY, MINUS_INFINITY, 0, 0]
    assert field.negate(words).tolist() == [MINUS_INFINITY, PLUS_INFINITY, 0, 0]


def test_nan_is_refused(engine: str) -> None:
    with pytest.raises(NotANumberError, match=r"a value to be compared exactly is NaN\."):
        field.images([1.0, np.nan])


def test_shapes_are_kept_and_broadcast(engine: str) -> None:
    square = field.images([[1.0, 2.0], [3.0, 4.0]])
    assert square.shape == (2, 2)
    assert field.multiply(square, 2).tolist() == [[2, 4], [6, 8]]
    assert field.images(0.5).shape == ()
    assert field.images([]).shape == (0,)
    assert int(field.add(MODULUS - 1, 2)) == 1


@given(st.integers(0, 10**9))
def test_sums_by_target_are_those_of_whole_numbers(seed: int) -> None:
    random = np.random.default_rng(seed)
    size, count = int(random.integers(1, 6)), int(random.integers(0, 40))
    target = random.integers(0, size, count)
    terms = random.integers(0, field.MODULUS, count, dtype=np.uint64)
    expected = [sum(int(term) for term in terms[target == k]) % field.MODULUS for k in range(size)]
    assert field.grouped_sums(target, terms, size).tolist() == expected
    assert field.grouped_sums_in_numpy(target, terms, size).tolist() == expected


def test_a_target_that_does_not_exist_is_refused() -> None:
    if passes.core is None:
        pytest.skip("relift._passes_core is not compiled")
    with pytest.raises(ValueError, match="a target lies outside"):
        field.grouped_sums(np.array([3]), np.ones(1, np.uint64), 3)


@pytest.mark.parametrize("reading", ["decimal", "bits"])
@pytest.mark.parametrize("by_rows", [False, True])
def test_products_with_a_matrix_are_those_entry_by_entry(by_rows: bool, reading: Reading) -> None:
    random = np.random.default_rng(7)
    for _ in range(40):
        m, n = random.integers(0, 9, 2)
        dense = random.choice([0.0, 0.1, -2.5, 1 / 3], (m, n))
        matrix = (sparse.csr_array if by_rows else sparse.csc_array)(dense)
        words = field.images(random.choice([0.0, 1.0, -0.3, 7.0], n))
        expected = field.product_in_numpy(matrix, words, reading)
        np.testing.assert_array_equal(field.product(matrix, words, reading), expected)
