"""Draws by emitted code: the digits of NumPy's way, and the state that it leaves."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from rushlight._array.random import discrete, distributions, mt19937, rejection
from rushlight._array.random.mt19937 import NATIVE, Stream

pytest.importorskip("llvmlite")
from rushlight._array.kernels import random_draws
from rushlight._native.llvm import target

pytestmark = pytest.mark.skipif(not target.available(), reason="native code is turned off")

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
SIZES = (1, 15, 16, 17, 31, 48, 100, 320, 321, 623, 624, 625, 1000, 19968, 19985, 60001)
Draw = Callable[[Stream, int], Any]

KINDS: dict[str, Draw] = {
    "randn": lambda s, n: distributions.randn(s, (n,), F32),
    "randn of doubles": lambda s, n: distributions.randn(s, (n,), F64),
    "rand": lambda s, n: distributions.rand(s, (n,), F32),
    "rand of doubles": lambda s, n: distributions.rand(s, (n,), F64),
    "normal_": lambda s, n: distributions.normal_(s, np.empty(n, F32), 0.0, 0.02),
    "uniform_": lambda s, n: distributions.uniform_(s, np.empty(n, F32), -0.3, 0.7),
    "uniform_ of a narrow range": lambda s, n: distributions.uniform_(
        s, np.empty(n, F32), 1.0, 1.0000005
    ),
    "uniform_ in turned memory": lambda s, n: distributions.uniform_(
        s, np.empty((n, 3), F32).T, -1.0, 1.0
    ),
    "exponential_": lambda s, n: distributions.exponential_(s, np.empty(n, F32)),
    "bernoulli_": lambda s, n: discrete.bernoulli_(s, np.empty(n, F32), 0.3),
    "bernoulli_ of booleans": lambda s, n: discrete.bernoulli_(s, np.empty(n, np.bool_), 1.0),
    "randint": lambda s, n: discrete.randint(s, 0, 10, (n,), np.dtype(np.int64)),
    "randperm": lambda s, n: discrete.randperm(s, n, np.int64),
}


@pytest.fixture
def native() -> Iterator[None]:
    before = NATIVE.code
    NATIVE.code = random_draws.code()
    assert NATIVE.code is not None
    yield
    NATIVE.code = before


def by_numpy(draw: Draw, sizes: tuple[int, ...]) -> tuple[list[Any], bytes]:
    """What a draw gives without emitted code, and the state afterwards."""
    code, spent = NATIVE.code, NATIVE.spent
    NATIVE.code, NATIVE.spent = None, -(10**9)
    try:
        stream = Stream(11)
        return [draw(stream, n) for n in sizes], stream.get_state().tobytes()
    finally:
        NATIVE.code, NATIVE.spent = code, spent


@pytest.mark.parametrize("kind", KINDS)
def test_each_draw_has_the_digits_and_leaves_the_state_of_numpys_way(
    kind: str, native: None
) -> None:
    stream = Stream(11)
    found = [KINDS[kind](stream, n) for n in SIZES]
    wanted, state = by_numpy(KINDS[kind], SIZES)
    for n, a, b in zip(SIZES, found, wanted, strict=True):
        assert a.dtype == b.dtype, n
        assert a.tobytes() == b.tobytes(), n
    assert stream.get_state().tobytes() == state


def test_a_mean_is_added_with_one_rounding(native: None) -> None:
    found = distributions.normal_(Stream(3), np.empty(4096, F32), 5.0, 0.1)
    z = distributions.randn(Stream(3), (4096,), F32).astype(np.longdouble)
    assert (found == (z * np.float32(0.1) + 5).astype(F32)).all()


def test_a_state_that_is_set_goes_on_the_same(native: None) -> None:
    stream = Stream(5)
    distributions.rand(stream, (700,), F32)
    state = stream.get_state()
    first = distributions.rand(stream, (5000,), F32)
    stream.set_state(state)
    assert (distributions.rand(stream, (5000,), F32) == first).all()


def test_a_program_that_draws_little_loads_no_code(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = mt19937._Native()
    assert all(fresh.ask(1000) is None for _ in range(50))
    monkeypatch.setattr(mt19937.kernels, "LEAST", mt19937.sys.maxsize)
    assert fresh.ask(10**9) is None  # nor one without llvmlite


def test_a_program_that_draws_much_loads_it_once() -> None:
    fresh = mt19937._Native()
    assert fresh.ask(fresh.LATE) is fresh.code is not None


def test_a_generator_whose_state_lies_elsewhere_is_left_to_numpy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = random_draws.Draws()
    right = made.words
    assert random_draws._agrees(made)

    class Shifted(random_draws.Draws):
        def words(self, bits: Any, blocks: int) -> Any:
            return np.roll(right(bits, blocks), 1)

    assert not random_draws._agrees(Shifted())


@pytest.mark.parametrize("dtype", [F32, F64])
def test_gamma_numbers_are_those_of_numpys_way(dtype: Any, native: None) -> None:
    shapes = np.random.default_rng(1).uniform(0.0, 4.0, 1500).astype(dtype)
    shapes[::97] = 0.0

    def gammas(stream: Stream, n: int) -> Any:
        return rejection.standard_gamma(stream, shapes[:n])

    stream, sizes = Stream(11), (1, 7, 300, 1500)
    found = [gammas(stream, n) for n in sizes]
    wanted, state = by_numpy(gammas, sizes)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(found, wanted, strict=True))
    assert stream.get_state().tobytes() == state


def test_points_of_the_simplex_are_those_of_numpys_way(native: None) -> None:
    alpha = np.full((40, 5), 0.7, F32)
    (wanted,), _ = by_numpy(lambda s, _: rejection.dirichlet(s, alpha), (1,))
    assert rejection.dirichlet(Stream(11), alpha).tobytes() == wanted.tobytes()
