"""Special functions and mixtures of few floats: the digits of what they stand in for."""

import threading
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from rushlight._array.elementwise import chains, comparison, division, erf, masks, special
from rushlight._native import ufunc_loops
from tests.native.loops import Plain, module, same

SPECIAL = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, -3.7, 1e-40, -1e-40, 3e38, -3e38, np.inf, -np.inf,
    np.nan, 0.999999, -0.9999999, 1.0000001, 20.5, -20.5, 171.6, 1e6, -1e6, 1e-8, 0.3, -170.5,
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        found = module("chains", tmp_path_factory.mktemp("special")).Function
        patch.setattr(ufunc_loops, "FUNCTION", found)
        yield


@pytest.fixture(autouse=True)
def silent() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def chained(function: Any, kinds: str) -> tuple[Any, Plain]:
    plain = Plain(function)
    maker = lambda: chains.chains_of(function, lambda: None, kinds)  # noqa: E731
    made = ufunc_loops.FUNCTION(plain, maker, kinds, 0, ufunc_loops.MOST)  # type: ignore[misc]
    made(*[{"s": 0.5, "b": np.ones(2, bool)}.get(kind, np.ones(2, np.float32)) for kind in kinds])
    plain.calls = 0
    return made, plain


def functions() -> list[Any]:
    return [getattr(special, name) for name in chains._OF_LIBRARY]


def values(size: int, dtype: str) -> Any:
    rng = np.random.default_rng(size)
    many = np.concatenate([np.array(SPECIAL, dtype), 3 * rng.standard_normal(90).astype(dtype)])
    return np.resize(rng.permutation(many), size)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_the_librarys_functions_have_its_digits(dtype: str) -> None:
    by_ufuncs = hasattr(special.library(), "seterr")  # SciPy
    for function in functions():
        made, plain = chained(function, "f")
        assert made.known == by_ufuncs, function
        for size in (1, 3, 16, 255, 256, 257, 2048, 2049):
            x = values(size, dtype)
            for one in (x, x.reshape(1, size, 1), x[:1].reshape(())):
                before = plain.calls
                assert same(made(one), function(one)), (function, one.shape)
                assert (plain.calls == before) == (by_ufuncs and one.size <= 2048)
        x = values(24, dtype).reshape(4, 6)
        for odd in (x.T, x[:, ::2], x[::-1], x[:0], x.astype("f2")):
            before = plain.calls
            assert same(made(odd), function(odd)), function
            assert plain.calls == before + 1


def test_what_the_library_raises_is_raised() -> None:
    errors = pytest.importorskip("scipy.special")
    made, plain = chained(special.digamma, "f")
    pole = np.array([-1.0, 2.0])
    with errors.errstate(all="raise"), pytest.raises(errors.SpecialFunctionError):
        special.digamma(pole)
    with errors.errstate(all="raise"), pytest.raises(errors.SpecialFunctionError):
        made(pole)
    with warnings.catch_warnings(), errors.errstate(all="warn"):
        warnings.simplefilter("error")
        with pytest.raises(errors.SpecialFunctionWarning):
            made(pole)
    assert same(made(pole), special.digamma(pole)) and not plain.calls


def test_the_inverse_error_function_computes_with_float64() -> None:
    made, plain = chained(erf.erfinv, "f")
    assert made.known
    for size in (1, 3, 16, 64, 65, 256, 257, 512, 513, 2048):
        x = values(size, "f4")
        x[: size // 2] = np.random.default_rng(size).uniform(-1, 1, size // 2)
        for one in (x, x.reshape(1, size, 1), x[:1].reshape(()), x.astype("f8")):
            before = plain.calls
            assert same(made(one), erf.erfinv(one)), (size, one.dtype)
            taken = one.dtype == np.float32 and one.size <= 512
            assert (plain.calls == before) == taken
    near = np.nextafter(np.float32(1), np.float32(0), dtype="f4")
    for one in (np.full(5, near), np.full(5, -near), np.float32([1, -1, 0, 1.5, -7])):
        assert same(made(one), erf.erfinv(one))
    x = np.linspace(-1, 1, 24, dtype="f4").reshape(4, 6)
    for odd in (x.T, x[::-1], x[:, ::2], x[:0], x.astype("f2")):
        before = plain.calls
        assert same(made(odd), erf.erfinv(odd))
        assert plain.calls == before + 1


def attempt(function: Any, args: Any) -> Any:
    try:
        return function(*args)
    except RuntimeError as error:
        return error


def agree(made: Any, function: Any, args: Any) -> bool:
    found, wanted = attempt(made, args), attempt(function, args)
    if isinstance(wanted, Exception):
        return repr(found) == repr(wanted)
    return not isinstance(found, Exception) and same(found, wanted)


def fit(*arrays: Any) -> bool:
    try:
        np.broadcast(*arrays)
    except ValueError:
        return False
    return True


WEIGHTS = [
    0, 1, 0.3, 0.5, -0.5, 0.49999999999999994, -0.49999999999999994, 0.4999999999, 0.5000000001,
    -3, 1e300, -1e300, 5e-324, np.inf, -np.inf, np.nan, 1 << 40, 0.7, 3.4028235e38, 3.4028236e38,
    True, 1 << 70,
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_mixtures_by_numbers_of_all_sizes(dtype: str) -> None:
    made, _ = chained(division.lerp, "ffs")
    assert made.known
    for size in (1, 16, 257, 2048):
        x, y = values(size, dtype), values(size + 1, dtype)[1:]
        for weight in WEIGHTS:
            assert agree(made, division.lerp, (x, y, weight)), (size, weight)
        assert same(made(x, x, 0.3), division.lerp(x, x, 0.3))
    x, y = values(16, dtype).reshape(4, 4), values(4, dtype)
    for a, b in ((x, y), (y, x), (x.T, x), (x[:, ::2], x[:, :2]), (x[:0], x[:0]), (x, x[0, 0])):
        for weight in WEIGHTS:
            assert agree(made, division.lerp, (np.asarray(a), np.asarray(b), weight)), weight


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_what_is_masked_is_filled_with_numbers_that_the_type_holds(dtype: str) -> None:
    made, plain = chained(masks.masked_fill, "fbs")
    assert made.known
    x = values(24, dtype).reshape(4, 6)
    for mask in (x > 0, x[0] > 0, x[:, :1] > 0, x > x, np.array(True), (x > 0).T.copy().T):
        for value in WEIGHTS:
            for given in (x, x[::2, ::2], x[:, 1], np.array(x[1, 1])):
                if fit(given, mask):
                    assert agree(made, masks.masked_fill, (given, mask, value)), value
    plain.calls = 0
    made(x, x > 0, 0.0)
    assert not plain.calls
    for odd in ((x, x, 0.0), (x, x > 0, np.array(1.0)), (x, x > 0, np.ones(2)), (x, x > 0, 1j)):
        assert agree(made, masks.masked_fill, odd)
    assert plain.calls == 4


def test_all_floats_are_real() -> None:
    made, plain = chained(comparison.isreal, "f")
    for dtype in ("f4", "f8"):
        x = values(100, dtype)
        assert same(made(x), comparison.isreal(x)) and made(x).all() and not plain.calls
    for other in (x.astype("i8"), x.astype("c16") + 1j, x.astype("f2")):
        assert same(made(other), comparison.isreal(other))


def test_threads_share_a_chain() -> None:
    made, _ = chained(erf.erfinv, "f")
    wrong = []

    def go(seed: int) -> None:
        x = np.random.default_rng(seed).uniform(-1, 1, 300).astype("f4")
        wanted = erf.erfinv(x)
        wrong.extend(1 for _ in range(300) if not same(made(x), wanted))

    threads = [threading.Thread(target=go, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
