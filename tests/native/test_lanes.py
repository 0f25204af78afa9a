"""Reductions and scans along one dimension in C: the elements of NumPy's, which go lane by lane."""

from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from rushlight._array.reduce import extreme, folds, reduce, scan, sort
from tests.native.loops import module

SHAPES = [
    (1,), (7,), (1, 1), (8, 3), (9, 300), (300, 9), (3, 5, 7), (2, 300, 2), (2, 3, 600), (17, 1),
    (1, 17), (40, 2, 40),
]  # fmt: skip
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 3.0, 1e-40]
TYPES = (np.float32, np.float64, np.int64)


@pytest.fixture(scope="module")
def lanes(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The extension module."""
    return module("lanes", tmp_path_factory.mktemp("lanes"))


@pytest.fixture(scope="module")
def along(lanes: Any) -> Any:
    """What the extension module gives."""
    return lanes.along


@pytest.fixture(scope="module")
def rank_along(lanes: Any) -> Any:
    """What the extension module gives for ranks."""
    return lanes.rank_along


def arrays() -> list[Any]:
    rng = np.random.default_rng(3)
    made = []
    for shape in SHAPES:
        for dtype in TYPES:
            made.append((rng.standard_normal(shape) * 3).astype(dtype))
            if dtype is np.int64:
                made.append(rng.choice([2**63 - 1, -(2**63), 3, -1], shape))
            else:
                made.append(rng.choice(SPECIAL, shape).astype(dtype))
    return made


def same(found: Any, expected: Any) -> None:
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert found.flags.c_contiguous and found.flags.writeable
    np.testing.assert_array_equal(found, expected)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_reductions_and_scans_are_numpys(along: Any) -> None:
    for x in arrays():
        wide = x if x.dtype == np.int64 else x.astype(np.float64)
        for dim in range(-x.ndim, x.ndim):
            for ufunc in (np.add, np.multiply, np.maximum, np.minimum):
                found = along(ufunc.__name__, x, dim)
                if found is None:
                    assert ufunc is np.add and x.dtype != np.int64  # these add up in pairs
                    continue
                expected = ufunc.reduce(x, dim)
                if ufunc is np.multiply and x.dtype != np.int64:  # several factors at once
                    np.testing.assert_allclose(found, expected, 1e-5)
                    expected = found
                same(found, expected)
            same(along("sums", x, dim), np.add.accumulate(wide, dim).astype(x.dtype))
            same(along("products", x, dim), np.multiply.accumulate(wide, dim).astype(x.dtype))


def test_extremes_come_with_the_first_of_their_places(along: Any) -> None:
    short = [x[:, :n].copy() for x in arrays() if x.shape == (300, 9) for n in (1, 2, 8)]
    rng = np.random.default_rng(4)
    longer = [rng.choice(SPECIAL[2:], (70, n)).astype(t) for n in (63, 64, 65) for t in TYPES[:2]]
    for x in [*arrays(), *short, *longer]:
        for dim in range(x.ndim):
            for kind, find in (("top", np.argmax), ("low", np.argmin)):
                values, places = along(kind, x, dim)
                same(places, find(x, dim))
                at = np.expand_dims(places, dim)
                taken = np.take_along_axis(x, at, dim).squeeze(dim)
                assert values.tobytes() == taken.tobytes()


@pytest.mark.parametrize("name", ["cummax", "cummin", "cumsum", "cumprod", "exclusive_products"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_scans_are_those_without_c(name: str, along: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    function: Callable[..., Any] = getattr(scan, name)
    for x in [*arrays(), *(x.astype(np.int32) for x in arrays() if x.dtype == np.int64)]:
        for dim in range(x.ndim):
            for given in (x, x[::-1], x.T.copy().T):
                monkeypatch.setattr(scan, "along", along)
                found = function(given, dim)
                monkeypatch.setattr(scan, "along", lambda *given: None)
                expected = function(given, dim)
                for a, b in zip(*((p if type(p) is tuple else (p,)) for p in (found, expected)),
                                strict=True):  # fmt: skip
                    same(a, b)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_recurrences_go_step_by_step(along: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    for x in arrays():
        factor = rng.standard_normal(x.shape).astype(x.dtype)
        for dim in range(x.ndim):
            for back in (False, True):
                monkeypatch.setattr(scan, "along", along)
                found = scan.recurrence(x, factor, dim, back)
                monkeypatch.setattr(scan, "along", lambda *given: None)
                monkeypatch.setattr(scan, "_STEPS", 1 << 40)
                same(found, scan.recurrence(x, factor, dim, back))
    assert along("steps", np.ones(3), 0, np.ones(4)) is None
    assert along("steps", np.ones(3), 0, np.ones(3, np.float32)) is None
    assert along("steps", np.ones((3, 2)), 0, np.ones((3, 2), order="F")) is None
    assert along("steps", np.ones(3), 0) is None


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_reductions_are_those_without_c(along: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Callable[..., Any]] = [
        reduce.prod, extreme.amax, extreme.amin, extreme.aminmax, extreme.max_along,
        extreme.min_along, extreme.argmax, extreme.argmin,
    ]  # fmt: skip
    for x in arrays():
        for call in [*calls, reduce.sum] if x.dtype == np.int64 else calls:
            for dim in range(x.ndim):
                for keepdim in (False, True):
                    monkeypatch.setattr(folds, "along", along)
                    found = call(x, dim, keepdim)
                    monkeypatch.setattr(folds, "along", lambda *given: None)
                    expected = call(x, dim, keepdim)
                    for a, b in zip(*((p if type(p) is tuple else (p,)) for p in (found, expected)),
                                    strict=True):  # fmt: skip
                        assert a.shape == b.shape and a.dtype == b.dtype and a.strides == b.strides
                        if call is reduce.prod and x.dtype != np.int64:
                            np.testing.assert_allclose(a, b, 1e-5)
                        else:
                            np.testing.assert_array_equal(a, b)


def many_arrays() -> list[Any]:
    rng = np.random.default_rng(5)
    few = [rng.integers(0, 3, shape).astype(t) for shape in ((9, 70), (3, 1000)) for t in TYPES]
    nan = rng.standard_normal((50, 33))
    nan[rng.random(nan.shape) < 0.5] = np.nan
    nan[3] = np.nan
    odd = [np.sort(rng.standard_normal((2, 999))), np.zeros((3, 2000)), -np.arange(900)[None]]
    return [*arrays(), *few, nan, nan.astype(np.float32), *odd]


def test_ranks_are_those_of_a_stable_sort(rank_along: Any) -> None:
    for x in many_arrays():
        for dim in range(x.ndim):
            ordered, n = np.argsort(x, dim, kind="stable"), x.shape[dim]
            numbers = np.count_nonzero(x == x, dim)
            first = np.argmax(x != x, dim)
            for rank in {0, n // 3, (n - 1) // 2, n - 1}:
                for way in "lfi":
                    wanted = ordered.take(rank, dim)
                    if way == "f":
                        wanted = np.where(numbers < n, first, wanted)
                    elif way == "i":
                        middle = np.expand_dims(np.maximum(numbers - 1, 0) // 2, dim)
                        wanted = np.take_along_axis(ordered, middle, dim).squeeze(dim)
                    values, places = rank_along(x, dim, rank, way)
                    same(places, wanted)
                    taken = np.take_along_axis(x, np.expand_dims(places, dim), dim).squeeze(dim)
                    assert values.tobytes() == taken.tobytes() and values.shape == taken.shape


@pytest.mark.parametrize("name", ["median_along", "nanmedian_along", "mode", "kthvalue"])
def test_ranks_and_modes_are_those_without_c(
    name: str, lanes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    function: Callable[..., Any] = getattr(sort, name)
    for x in [*many_arrays(), np.array(3.0), np.array(np.nan), np.array(2)]:
        rank = (1,) if name == "kthvalue" else ()
        for given in (x, x[::-1], x.T) if x.ndim else (x,):
            for dim in range(-1, x.ndim):
                for keepdim in (False, True):
                    pairs = []
                    for inside in (True, False):
                        for way in ("along", "rank_along"):
                            no = lambda *given: None  # noqa: E731
                            monkeypatch.setattr(sort, way, getattr(lanes, way) if inside else no)
                        pairs.append(function(given, *rank, dim, keepdim))
                    for a, b in zip(*pairs, strict=True):
                        assert a.shape == b.shape and a.dtype == b.dtype
                        assert a.tobytes() == b.tobytes()


def test_ranks_refuse_what_is_odd(rank_along: Any) -> None:
    x = np.ones((3, 4))
    for other in (x.T, x[:, ::2], x > 0, x.astype("f2"), x[:0], np.ones(()), [1.0], None):
        assert rank_along(other, 0, 0, "l") is None
    for dim, rank in ((2, 0), (-3, 0), (0, 3), (0, -1), (1 << 70, 0), (0, 1 << 70)):
        assert rank_along(x, dim, rank, "l") is None
    for wrong in ((x, 0, 0), (x, 0, 0, 1), (x, 0.0, 0, "l"), (x, 0, None, "l")):
        with pytest.raises(TypeError):
            rank_along(*wrong)


def test_what_is_not_dense_or_of_other_types_is_left(along: Any) -> None:
    x = np.ones((4, 6))
    for other in (x.T, x[:, ::2], x[::-1], np.broadcast_to(x[:1], x.shape), x.astype("f2"), x > 0,
                  x.astype(">f8"), x.astype(complex), x.astype(np.int32), x[:0], x[:, :0],
                  np.ones(()), x.view(np.recarray), np.ma.array(x), [1.0], 1.0, None):  # fmt: skip
        assert along("maximum", other, 0) is None
        assert along("sums", other, 0) is None
    unaligned = np.zeros(8 * 3 + 1, np.uint8)[1:].view(np.float64)
    assert along("multiply", unaligned, 0) is None
    for dim in (2, -3, 1 << 70, 0.0, None, (0,)):
        assert along("multiply", x, dim) is None
    assert along("median", x, 0) is None
    with pytest.raises(TypeError):
        along("maximum", x)
    with pytest.raises(TypeError):
        along(3, x, 0)


def test_several_threads_find_the_same(along: Any) -> None:
    x = np.random.default_rng(0).standard_normal((300, 300))
    expected = along("products", x, 1).tobytes(), along("rising", x, 0)[1].tobytes()
    wrong: list[int] = []

    def work() -> None:
        for _ in range(20):
            found = along("products", x, 1).tobytes(), along("rising", x, 0)[1].tobytes()
            if found != expected:
                wrong.append(1)

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("inside", [True, False])
def test_places_are_added_in_their_order(
    inside: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    way = module("places", tmp_path).add_along if inside else lambda *given: None
    monkeypatch.setattr(scan, "add_along", way)
    rng = np.random.default_rng(1)
    for dtype in TYPES[:2]:
        g = (rng.standard_normal((5, 40, 3)) * 1e6).astype(dtype)
        places = rng.integers(0, 40, g.shape)
        for dim in range(3):
            at = places % g.shape[dim]
            expected = np.zeros(g.shape)
            index = list(np.indices(g.shape))
            index[dim] = at
            lanes = np.moveaxis(np.arange(g.size).reshape(g.shape), dim, -1).reshape(-1)
            where = tuple(i.reshape(-1)[lanes] for i in index)
            np.add.at(expected, where, g.reshape(-1)[lanes])
            same(scan.accumulate_along(g, at, dim), expected.astype(dtype))


def test_first_elements_are_those_of_a_stable_sort(lanes: Any) -> None:
    rng = np.random.default_rng(5)
    long = [rng.standard_normal((3, 200)), rng.integers(0, 9, (200, 3)), np.arange(300.0)]
    long.append(np.where(rng.random((2, 100, 2)) < 0.3, np.nan, rng.integers(-2, 2, (2, 100, 2))))
    for x in [*many_arrays(), *long, long[0].astype(np.float32), long[2][::-1].copy()]:
        for dim in range(-1, x.ndim):
            for largest in (False, True):
                for count in {1, min(x.shape[dim], 64), max(1, x.shape[dim] // 5)} - {65}:
                    if count > 64:
                        continue
                    values, places = lanes.first_along(x, dim, count, largest)
                    wanted = sort._first(sort.order(x, dim % x.ndim, largest), count, dim)
                    same(places, np.ascontiguousarray(wanted))
                    taken = np.take_along_axis(x, places, dim)
                    assert values.tobytes() == taken.tobytes() and values.shape == taken.shape


def test_first_elements_refuse_what_is_odd(lanes: Any) -> None:
    x = np.ones((3, 100))
    for other in (x.T, x[:, ::2], x > 0, x.astype("f2"), x[:0], np.ones(()), [1.0], None):
        assert lanes.first_along(other, 0, 1, True) is None
    for dim, count in (
        (2, 1),
        (-3, 1),
        (0, 4),
        (0, 0),
        (1, 65),
        (1, -1),
        (1 << 70, 1),
        (1, 1 << 70),
    ):
        assert lanes.first_along(x, dim, count, True) is None
    for wrong in ((x, 1, 1), (x, 1, 1.0, True), (x, 1, 1, 1), (x, 1.0, 1, True), ()):
        assert lanes.first_along(*wrong) is None
