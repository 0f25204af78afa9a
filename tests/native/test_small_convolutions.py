"""Convolutions of few windows in C: the digits, layout and errors of the plain function."""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import rushlight as torch
import rushlight.nn.functional as F
from rushlight._native import ufunc_loops
from rushlight._table.nn import conv
from tests.native.loops import Plain, placed, same

Function = Callable[..., Any]


@pytest.fixture(scope="module", autouse=True)
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The extension module, in its place."""
    with placed("windows", tmp_path_factory):
        yield


def _outcome(function: Function, args: Any) -> Any:
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error)


def _check(ours: Any, theirs: Any, args: Any) -> None:
    if isinstance(theirs, tuple):
        assert ours == theirs, args
    else:
        assert same(ours, theirs) and ours.flags.writeable, args


def _weights(rng: Any, way: int, shape: tuple[int, ...], kind: str) -> Any:
    """Weights that lie in one piece, in parts of larger ones, turned, or that repeat."""
    rows, channels, high, wide = shape
    large = rng.standard_normal([2 * n for n in shape]).astype(kind)
    part = large[:rows, :channels, :high, :wide]
    if way == 0:
        return part
    if way == 1:
        return large[::2, ::2, :high, :wide]
    if way == 2:
        return large[::2, ::-2, ::2, ::2]
    if way == 3:
        return np.ascontiguousarray(part.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    if way == 4:
        return np.broadcast_to(part[:1], shape)
    return np.ascontiguousarray(part)


def test_convolutions_are_those_of_the_plain_function() -> None:
    plain = Plain(conv._convolution)
    run = ufunc_loops.pool(plain, "Cwbspdteg")
    rng = np.random.default_rng(0)
    done = 0
    for turn in range(4000):
        kind = ("f4", "f8")[turn % 2]
        count, channels, rows = (int(n) for n in rng.integers(1, 4, 3))
        x = rng.standard_normal((count, channels, *rng.integers(1, 9, 2))).astype(kind)
        shape = (rows, channels, *(int(n) for n in rng.integers(1, 4, 2)))
        w = _weights(rng, int(rng.integers(0, 9)), shape, kind)
        bias = rng.standard_normal(2 * rows).astype(kind)[:: int(rng.integers(1, 3))][:rows]
        if turn % 5 == 0:
            x = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
        pairs = [tuple(int(n) for n in rng.integers(low, low + 2, 2)) for low in (1, 0, 1)]
        args = (x, w, None if turn % 3 else bias, *pairs, False, (0, 0), 1)
        calls = plain.calls
        _check(_outcome(run, args), _outcome(conv._convolution, args), args[3:])
        done += plain.calls == calls
    assert done > 400


def test_unusual_convolutions_go_to_the_plain_function() -> None:
    plain = Plain(conv._convolution)
    run = ufunc_loops.pool(plain, "Cwbspdteg")
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(s).astype("f4") for s in ((1, 2, 6, 6), (2, 2, 3, 3)))
    usual = (x, w, None, (1, 1), (0, 0), (1, 1), False, (0, 0), 1)
    run(*usual)
    assert plain.calls == 0

    class Alike(np.ndarray):
        pass

    memory = np.zeros(x.nbytes + 1, np.uint8)
    askew = memory[1:].view("f4").reshape(x.shape)
    askew[...] = x
    locked = x.copy()
    locked.setflags(write=False)
    _check(run(locked, *usual[1:]), conv._convolution(*usual), "locked")
    assert plain.calls == 0
    changes: list[tuple[int, Any]] = [
        (0, x.astype("f8")), (0, x.astype("f2")), (0, x.view(Alike)), (0, askew), (0, x[:0]),
        (0, x[:, :1]), (0, x[0]), (0, x[..., ::2]), (0, x.astype("i8")), (0, x.astype(">f4")),
        (1, w[:, :1]), (1, w[:0]), (1, w[:, :, :1, :1]), (1, w.astype("f8")), (1, w[0]),
        (1, np.ones((2, 2, 7, 1), "f4")), (2, np.ones(3, "f4")), (2, np.ones(2)),
        (2, np.ones((2, 1), "f4")), (3, (0, 1)), (3, (1,)), (3, (1, -1)), (3, (1 << 70, 1)),
        (3, 1), (4, (-1, 0)), (4, (1 << 62, 1)), (5, (0, 1)), (5, (9, 1)), (6, True),
        (7, (1, 0)), (8, 2), (8, 0), (4, (40, 40)),
    ]  # fmt: skip
    for place, value in changes:
        args = (*usual[:place], value, *usual[place + 1 :])
        calls = plain.calls
        _check(_outcome(run, args), _outcome(conv._convolution, args), args[3:])
        assert plain.calls == calls + 1, (place, value)


def test_special_values_and_references() -> None:
    run = ufunc_loops.pool(conv._convolution, "Cwbspdteg")
    x = np.arange(32, dtype="f4").reshape(1, 2, 4, 4)
    x[0, 0, 1, 1], x[0, 1, 2, 2] = np.nan, np.inf
    w = np.ones((2, 2, 2, 2), "f4")
    args = (x, w, np.array([-0.0, np.inf], "f4"), (1, 1), (1, 1), (1, 1), False, (0, 0), 1)
    with np.errstate(all="ignore"):
        _check(run(*args), conv._convolution(*args), "special")
    before = [sys.getrefcount(a) for a in args]
    for _ in range(100):
        run(*args)
    assert all(abs(sys.getrefcount(a) - n) < 5 for a, n in zip(args[:3], before[:3]))


def test_small_convolutions_record_and_map_as_large_ones() -> None:
    x, w, b = torch.randn(2, 2, 5, 5), torch.randn(3, 2, 3, 3), torch.randn(3)
    wanted = F.conv2d(x.double(), w.double(), b.double(), padding=1)
    for _ in range(2):
        assert torch.allclose(F.conv2d(x, w, b, padding=1).double(), wanted, atol=1e-5)
    mapped = torch.func.vmap(lambda t: F.conv2d(t, w, b, padding=1))(x[:, None])
    assert torch.allclose(mapped[:, 0].double(), wanted, atol=1e-5)
    assert torch.autograd.gradcheck(
        F.conv2d, (x.double().requires_grad_(), w.double().requires_grad_(), b.double())
    )
    last = F.conv2d(x.contiguous(memory_format=torch.channels_last), w)
    assert last.is_contiguous(memory_format=torch.channels_last)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert F.conv2d(x, w).dtype is torch.bfloat16
    with torch.inference_mode():
        assert F.conv2d(x, w).is_inference()
