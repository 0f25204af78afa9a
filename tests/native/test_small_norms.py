"""Norms of small arrays: digits, layouts, errors and running statistics of the plain functions."""

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import rushlight as torch
import rushlight.nn.functional as F
from rushlight._array.linalg import vector_products
from rushlight._native import ufunc_loops
from rushlight._table.nn import normalization as N
from tests.native.loops import Plain, placed, same

Function = Callable[..., Any]
SPECIAL = [0.0, -0.0, 1e-40, 3e38, -3e38, np.inf, -np.inf, np.nan, 1e-8]
ODD_NUMBERS = [1, True, 0.0, -1.0, np.float64(1e-5), 1e300, float("nan")]


@pytest.fixture(scope="module", autouse=True)
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The extension module, in its place."""
    with placed("norms", tmp_path_factory):
        yield


@pytest.fixture(autouse=True)
def silent() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def attempt(function: Function, args: Any) -> Any:
    try:
        return function(*args)
    except Exception as error:
        return error


def agree(made: Function, function: Function, args: Any) -> bool:
    """Whether results, errors and what is written agree."""
    ours, theirs = [[a.copy() if isinstance(a, np.ndarray) else a for a in args] for _ in "ab"]
    for given in (ours, theirs):  # layouts that a copy loses
        given[0] = args[0]
    found, wanted = attempt(made, ours), attempt(function, theirs)
    if isinstance(wanted, Exception):
        return repr(found) == repr(wanted)
    arrays = [(a, b) for a, b in zip(ours, theirs) if isinstance(a, np.ndarray)]
    if isinstance(found, Exception) or len(found) != len(wanted):
        return False
    return all(are_one(a, b) for a, b in [*zip(found, wanted), *arrays])


def are_one(a: Any, b: Any) -> bool:
    """Whether arrays are the same but for the strides of sizes of one."""
    strides = [[t for n, t in zip(x.shape, x.strides) if n > 1] for x in (a, b)]
    return (
        a.dtype is b.dtype
        and a.shape == b.shape
        and strides[0] == strides[1]
        and same(np.array(a, order="C"), np.array(b, order="C"))
    )


def values(rng: Any, shape: Any, dtype: str) -> Any:
    x = (rng.standard_normal(shape) * rng.choice([1, 1, 100]) + rng.choice([0, 0, 50])).astype(
        dtype
    )
    if rng.random() < 0.1:
        x[rng.random(shape) < 0.1] = rng.choice(SPECIAL)
    return x


def turn(rng: Any, x: Any) -> Any:
    """Another layout, type or class of an array, now and then."""
    if rng.random() < 0.85:
        return x
    strange = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(x.dtype).reshape(x.shape)
    return [x.T, x[::-1], x[..., ::2], x.astype("f2"), x.astype("i4"), x[:0], strange,
            np.asfortranarray(x)][rng.integers(8)]  # fmt: skip


def parameter(rng: Any, size: int, dtype: str) -> Any:
    if rng.random() < 0.3:
        return None
    x = rng.random(size + (rng.random() < 0.02)).astype(dtype)
    return (
        x if rng.random() < 0.95 else [x[::-1], x.astype("f8"), x.reshape(1, -1)][rng.integers(3)]
    )


def calls(letter: str, rng: Any) -> tuple[Any, ...]:
    dtype = str(rng.choice(["f4", "f8"]))
    rank = int(rng.integers(1 if rng.random() < 0.05 else 2, 5))
    shape = tuple(int(n) for n in rng.integers(1, 18 if rank == 2 else 7, rank))
    x = values(rng, shape, dtype)
    eps: Any = 1e-5 if rng.random() < 0.9 else ODD_NUMBERS[rng.integers(len(ODD_NUMBERS))]
    if letter == "L":
        last = shape[-1:] if rng.random() < 0.8 else shape[-2:]
        size = last if rng.random() < 0.95 else (*last, 1)
        weight, bias = (parameter(rng, shape[-1], dtype) for _ in "wb")
        if len(last) > 1:
            weight, bias = (None if w is None else np.ones(last, dtype) for w in (weight, bias))
        return turn(rng, x), size, weight, bias, eps
    channels = shape[1] if rank > 1 else 1
    weight, bias = (parameter(rng, channels, dtype) for _ in "wb")
    if letter == "G":
        groups = [n for n in range(1, channels + 1) if channels % n == 0]
        return turn(rng, x), weight, bias, int(rng.choice(groups)), eps
    mean, var = (parameter(rng, channels, dtype) for _ in "mv")
    if rng.random() < 0.9 and (mean is None) != (var is None):
        mean, var = np.zeros(channels, dtype), np.ones(channels, dtype)
    momentum = [0.1, 0.1, 0.0, 1.0, 0.3, 1, 1e300][rng.integers(7)]
    return turn(rng, x), weight, bias, mean, var, bool(rng.integers(2)), momentum, eps


def ways() -> list[tuple[Function, str]]:
    layer: Function = N.LAYER_NORM.op.raw
    return [(layer, "Lswbe"), (N._group_norm, "Gwbge"), (N._batch_norm, "Bwbmvtme")]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("function", "letters"), ways(), ids="LGB")
def test_norms_of_any_arrays(function: Function, letters: str) -> None:
    rng = np.random.default_rng(1)
    plain = Plain(function)
    made = ufunc_loops.norm(plain, letters)
    taken = 0
    for _ in range(3000):
        args, before = calls(letters[0], rng), plain.calls
        assert agree(made, function, args), args
        taken += plain.calls == before
    assert taken > 500


#: Shapes, of which the last has more elements than are taken.
LIMITS = {
    "L": ((2, 1024), (1024, 2), (4, 8, 64), (63, 65), (2, 2048)),
    "G": ((2, 1024), (1024, 2), (63, 65), (3, 5, 273), (2, 2048)),
    "B": ((2, 1024), (64, 32), (64, 128), (7, 5, 9, 50), (127, 129), (1, 3, 5461), (2, 8192)),
}


def test_the_most_that_is_taken() -> None:
    for function, letters in ways():
        plain = Plain(function)
        made = ufunc_loops.norm(plain, letters)
        rng = np.random.default_rng(2)
        for shape in LIMITS[letters[0]]:
            for dtype in ("f4", "f8"):
                x, n = values(rng, shape, dtype), shape[-1 if letters[0] == "L" else 1]
                weight = rng.random(n).astype(dtype)
                rest: tuple[Any, ...] = {
                    "L": ((n,), weight, weight, 1e-5), "G": (weight, weight, 1, 1e-5),
                    "B": (weight, weight, None, None, True, 0.1, 1e-5),
                }[letters[0]]  # fmt: skip
                before, large = plain.calls, shape == LIMITS[letters[0]][-1]
                if large:
                    made(x, *rest)
                else:
                    assert agree(made, function, (x, *rest)), (letters, shape)
                assert (plain.calls > before) == large


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(64, 128), (3, 16, 17, 19), (1, 64, 48, 48), (5000, 7)])
def test_large_batches_that_are_not_learnt_from(dtype: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(4)
    x = rng.standard_normal(shape).astype(dtype)
    w, b, mean, var = (rng.random(shape[1]).astype(dtype) for _ in range(4))
    plain = Plain(N._batch_norm)
    made = ufunc_loops.norm(plain, "Bwbmvtme")
    for weight, bias in ((w, b), (None, None), (w, None)):
        found = made(x, weight, bias, mean, var, False, 0.1, 1e-5)[0]
        wanted = N._batch_norm(x, weight, bias, mean, var, False, 0.1, 1e-5)[0]
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    assert not plain.calls
    many = np.zeros((2, 2049), dtype)
    one = np.ones(2049, dtype)
    made(many, None, None, one, one, False, 0.1, 1e-5)
    made(np.zeros((2, 131072), dtype), None, None, *[np.ones(131072, dtype)] * 2, False, 0.1, 1e-5)
    assert plain.calls == 2


def test_running_statistics_that_cant_be_written_are_refused() -> None:
    made = ufunc_loops.norm(N._batch_norm, "Bwbmvtme")
    x, fixed = np.ones((4, 3), np.float32), np.zeros(3, np.float32)
    fixed.flags.writeable = False
    for mean, var in ((fixed, fixed.copy()), (fixed.copy(), fixed)):
        with pytest.raises(ValueError, match="read-only"):
            made(x, None, None, mean, var, True, 0.1, 1e-5)
    shared = np.ones(3, np.float32)
    twice = np.ones(3, np.float32)
    made(x + shared, shared, shared, shared, shared, True, 0.1, 1e-5)
    N._batch_norm(x + twice, twice, twice, twice, twice, True, 0.1, 1e-5)
    assert same(shared, twice)


def test_nothing_is_left_behind_and_threads_agree() -> None:
    x = np.random.default_rng(3).standard_normal((4, 8)).astype(np.float32)
    w = np.ones(8, np.float32)
    made = {letters[0]: ufunc_loops.norm(f, letters) for f, letters in ways()}
    args: dict[str, Any] = {
        "L": (x, (8,), w, w, 1e-5), "G": (x, w, w, 2, 1e-5),
        "B": (x, w, w, w * 0, w.copy(), False, 0.1, 1e-5),
    }  # fmt: skip
    wanted = {k: [a.tobytes() for a in made[k](*args[k])] for k in made}
    wrong: list[str] = []

    def run() -> None:
        for _ in range(500):
            wrong.extend(k for k in made if [a.tobytes() for a in made[k](*args[k])] != wanted[k])

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    before = [sys.getrefcount(one) for one in (x, w, x.dtype)]
    for _ in range(5000):
        for k, function in made.items():
            function(*args[k])
    assert all(abs(sys.getrefcount(one) - n) < 50 for one, n in zip((x, w, x.dtype), before))


def test_layers_norm_and_train() -> None:
    torch.manual_seed(0)
    x = torch.randn(6, 4, requires_grad=True)
    w = torch.rand(4, requires_grad=True)
    for how in (
        lambda x, w: F.layer_norm(x, (4,), w, w), lambda x, w: F.group_norm(x, 2, w, w),
        lambda x, w: F.batch_norm(x, None, None, w, w, True),
    ):  # fmt: skip
        assert torch.autograd.gradcheck(how, (x.double(), w.double()))
        assert torch.equal(how(x, w).detach(), how(x.detach(), w.detach()))
    layer = torch.nn.BatchNorm1d(4)
    layer(x)
    assert torch.allclose(layer.running_mean, 0.1 * x.detach().mean(0))  # type: ignore[arg-type]
    assert torch.allclose(layer.running_var, 0.9 + 0.1 * x.detach().var(0))  # type: ignore[arg-type]


def test_distances_are_those_of_the_plain_function() -> None:
    plain = Plain(vector_products.cdist)
    measure = ufunc_loops.norm(plain, "Dyp")
    rng = np.random.default_rng(0)
    for turn in range(500):
        rows, others, columns = (int(n) for n in rng.integers(1, (8, 8, 30)))
        kind = ("f4", "f8")[turn % 2]
        x = rng.standard_normal((rows, columns)).astype(kind)
        y = rng.standard_normal((others, columns)).astype(kind)
        if turn % 7 == 0:
            x[0, 0], y[-1, -1] = np.nan, np.inf
        with np.errstate(all="ignore"):
            ours, theirs = measure(x, y, 2.0), vector_products.cdist(x, y, 2.0)
        assert ours.strides == theirs.strides and ours.tobytes() == theirs.tobytes()
    assert plain.calls == 0
    x = rng.standard_normal((4, 3))
    for args in (
        (x, x, 1.0), (x, x, 2), (x, x, float("inf")), (x.T.copy().T, x, 2.0), (x, x[:0], 2.0),
        (np.ones((26, 2)), np.ones((3, 2)), 2.0), (x[None], x, 2.0), (x, x[:, :0], 2.0),
        (x, x.astype("f4"), 2.0), (x.astype("f2"), x.astype("f2"), 2.0), (x, x, -1.0),
    ):  # fmt: skip
        calls = plain.calls
        said: list[tuple[object, ...]] = []
        for function in (measure, vector_products.cdist):
            try:
                found = function(*args)
                said.append((found.shape, found.strides, found.tobytes()))
            except Exception as error:
                said.append((type(error), str(error)))
        assert said[0] == said[1] and plain.calls == calls + 1


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_squares_are_added_to_products(dtype: str) -> None:
    add = ufunc_loops.NORMS.add_squares  # type: ignore[union-attr]
    rng = np.random.default_rng(6)
    for shape in ((1, 1), (30, 7), (3, 2, 5, 40), (300, 300)):
        x, first, second = (rng.standard_normal(s).astype(dtype)
                            for s in (shape, shape[:-1], (*shape[:-2], shape[-1])))  # fmt: skip
        x.reshape(-1)[0] = np.nan
        wanted = x + first[..., :, None]
        wanted = np.maximum(wanted + second[..., None, :], 0)
        assert add(x, first, second)
        np.testing.assert_array_equal(x, wanted)
    x, first, second = np.ones((4, 3)), np.ones(4), np.ones(3)
    fixed = x.copy()
    fixed.flags.writeable = False
    for given in ((x.T, first, second), (x, second, first), (x, first, second.astype("f4")),
                  (x, first), (fixed, first, second), (x[:0], first, second),
                  (x, first, [1.0, 1, 1]),
                  (np.ones((2, 4, 3)), first, second), (first, first, second)):  # fmt: skip
        assert not add(*given)
    assert (x == 1).all() and (fixed == 1).all()
