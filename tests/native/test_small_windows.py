"""Pooling over windows of small planes: the values, places and errors of the plain functions."""

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import rushlight as torch
import rushlight.nn.functional as F
from rushlight._native import ufunc_loops
from rushlight._table.nn import pool
from tests.native.loops import Plain, placed

Function = Callable[..., Any]
MEANS, LARGEST = pool._avg_pool(2), pool._max_pool(2)


@pytest.fixture(scope="module", autouse=True)
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The extension module, in its place."""
    with placed("windows", tmp_path_factory):
        yield


def told(function: Function, args: Any) -> Any:
    """All that a program sees of results, or the error."""
    try:
        with np.errstate(all="ignore"):
            found = function(*args)
    except Exception as error:
        return type(error), str(error)
    parts = found if isinstance(found, tuple) else (found,)
    return [
        (type(one), one.dtype, one.shape, one.strides, np.where(one == one, one, 7).tobytes(),
         (one == one).tobytes(), one.flags.writeable)
        for one in parts
    ]  # fmt: skip


def planes(rng: Any) -> Any:
    """Planes of any size and layout, with ties and odd numbers now and then."""
    shape = tuple(int(n) for n in rng.integers(1, (4, 4, 9, 9)))
    x = rng.standard_normal(shape).astype(rng.choice(["f4", "f8"]))
    kind = rng.integers(6)
    if kind == 0:
        x = rng.integers(-1, 2, shape).astype(x.dtype)
    elif kind == 1:
        x[rng.random(shape) < 0.2] = rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0])
    elif kind == 2:
        x = np.where(rng.random(shape) < 0.5, -np.inf, x).astype(x.dtype)
    if rng.random() < 0.2:
        x = (x.T, x[..., ::-1], x.transpose(0, 2, 3, 1).copy().transpose(0, 3, 1, 2), x[:, :, :0],
             x.astype("f2"), x.astype("i8", casting="unsafe") if np.isfinite(x).all() else x,
             x.reshape(-1))[rng.integers(7)]  # fmt: skip
    return x[0] if rng.random() < 0.3 else x


def numbers(rng: Any, low: int, high: int) -> Any:
    a, b = (int(n) for n in rng.integers(low, high, 2))
    return [a, (a,), (a, b), [a, b], (a, b), (a, b, a), True, (), 1 << 40][
        rng.choice(9, p=[0.25, 0.1, 0.25, 0.2, 0.15, 0.02, 0.01, 0.01, 0.01])
    ]


@pytest.mark.parametrize(("function", "letters"), [(MEANS, "Akspcid"), (LARGEST, "Xkspdc")])
def test_windows_of_all_kinds(function: Function, letters: str) -> None:
    rng = np.random.default_rng(4)
    plain = Plain(function)
    made = ufunc_loops.pool(plain, letters)
    taken = 0
    for _ in range(4000):
        x, k = planes(rng), numbers(rng, 0 if rng.random() < 0.05 else 1, 4)
        stride = [(), None, numbers(rng, 0 if rng.random() < 0.05 else 1, 4)][rng.integers(3)]
        pad = numbers(rng, 0, 2) if rng.random() < 0.5 else 0
        ceils = bool(rng.integers(2))
        if letters[0] == "A":
            divisor = int(rng.integers(-1, 4)) if rng.random() < 0.2 else None
            args: Any = (x, k, stride, pad, ceils, bool(rng.integers(2)), divisor)
        else:
            args = (x, k, stride, pad, numbers(rng, 1, 3), ceils)
        before, kept = plain.calls, x.tobytes()
        assert told(made, args) == told(function, args), args
        assert x.tobytes() == kept
        taken += plain.calls == before
    assert taken > 1000


def test_what_is_large_or_odd_goes_to_the_function() -> None:
    for function, letters in ((MEANS, "Akspcid"), (LARGEST, "Xkspdc")):
        plain = Plain(function)
        made = ufunc_loops.pool(plain, letters)
        rest = (False, True, None) if letters[0] == "A" else (1, False)
        x = np.ones((1, 1, 40, 52), np.float32)
        for odd, k in (
            (x, 2),
            (x[..., :50], True),
            (x[0, 0], 2),
            (x[..., :8], 9),
            (x[..., :8], 1 << 70),
        ):
            assert told(made, (odd, k, (), 0, *rest)) == told(function, (odd, k, (), 0, *rest))
        assert plain.calls == 5
        assert told(made, ()) == told(function, ()) or plain.calls == 6
        edge = np.ones((2, 1, 32, 32), np.float32)
        assert told(made, (edge, 2, (), 0, *rest)) == told(function, (edge, 2, (), 0, *rest))
        assert plain.calls == 6
        rest = (False, 1, None) if letters[0] == "A" else (1, 0)
        assert told(made, (edge, 2, (), 0, *rest)) == told(function, (edge, 2, (), 0, *rest))
        assert plain.calls == 7


def test_nothing_is_left_behind_and_threads_agree() -> None:
    x = np.random.default_rng(4).standard_normal((2, 2, 8, 8)).astype(np.float32)
    x.flags.writeable = False
    ways = [
        (ufunc_loops.pool(MEANS, "Akspcid"), (x, 2, (), 1, True, False, None)),
        (ufunc_loops.pool(LARGEST, "Xkspdc"), (x, 3, 2, 1, 1, False)),
    ]
    wanted = [told(made, args) for made, args in ways]
    wrong: list[Any] = []

    def run() -> None:
        for _ in range(300):
            wrong.extend(
                args for (made, args), want in zip(ways, wanted) if told(made, args) != want
            )

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    kept = [x, x.dtype, np.dtype(np.int64)]
    before = [sys.getrefcount(one) for one in kept]
    for _ in range(5000):
        for made, args in ways:
            made(*args)
    assert all(abs(sys.getrefcount(one) - n) < 50 for one, n in zip(kept, before))


def test_tensors_pool_and_their_gradients_find_the_winners() -> None:
    x = torch.arange(16.0).reshape(1, 1, 4, 4).requires_grad_()
    y, places = F.max_pool2d(x, 2, return_indices=True)
    assert places.flatten().tolist() == [5, 7, 13, 15] and y.sum() == 40
    (g,) = torch.autograd.grad(y.sum() + F.avg_pool2d(x, 2).sum(), x)
    assert g.sum() == 8 and g[0, 0, 1, 1] == 1.25
    with torch.inference_mode():
        assert F.avg_pool2d(x, 2).is_inference()
    batched = torch.func.vmap(lambda one: F.max_pool2d(one, 2))(x.detach()[None])
    assert torch.equal(batched[0], y.detach())
