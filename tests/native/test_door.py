"""Doors: what they let through, what they refuse, and that both kinds do the same."""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from rushlight._native.cpython import builtin_call as door
from rushlight._native.cpython.builtin_call import Array, Number
from rushlight._native.llvm import loader as engine
from rushlight._native.llvm.emit import F32, F64, I64, PTR, Module
from rushlight._native.threads import thread_pool as pool

SIGNATURE = [
    Array("f32", ("n",), writes=True),
    Number(),
    Number("i64"),
    Array("f32", ("n", 2)),
    Array("f32", ("n",), optional=True),
]


@pytest.fixture(params=["builtin", "ctypes"], autouse=True)
def _kind(request: pytest.FixtureRequest) -> Iterator[None]:
    before = door._arrays
    door._arrays = door._Arrays()
    dtypes = {"f32": np.dtype("f4"), "f64": np.dtype("f8")}
    door.register(np.ndarray, dtypes, np.zeros((2, 3)))
    if request.param == "ctypes":
        door._arrays.direct = False
    elif not door.direct():
        pytest.skip("this Python's objects have a layout that is not known")
    yield
    door._arrays = before


def scale() -> Any:
    """x[:] = x * k + b."""
    module = Module("scale")
    f = module.function("scale", [("frame", PTR)])
    (frame,) = f.params
    x, k = f.load(frame, PTR), f.load(f.at(frame, 1, I64), F64)
    b, n = f.load(f.at(frame, 2, I64), I64), f.load(f.at(frame, 5, I64), I64)
    with f.loop(0, n) as loop:
        there = f.at(x, loop.index, F32)
        value = f.cast(f.load(there, F32), F64) * k + f.cast(b, F64)
        f.store(there, f.cast(value, F32))
    f.ret()
    return door.door("scale", engine.load(module)["scale"], SIGNATURE)


def test_a_door_lets_the_right_arguments_through() -> None:
    call = scale()
    x, y = np.arange(5, dtype=np.float32), np.zeros((5, 2), np.float32)
    assert call(x, 2.0, 1, y, None) is None
    assert x.tolist() == [1, 3, 5, 7, 9]
    assert call(x, 3, -3, y, x) is None
    assert x.tolist() == [0, 6, 12, 18, 24]
    assert call(x[:0], 3, -3, y[:0], None) is None
    assert call(x[1:3], 0.5, 0, y[2:4], None) is None
    assert x.tolist() == [0, 3, 6, 18, 24]


class Derived(np.ndarray):
    """Not an ndarray itself."""


X, Y = np.ones(5, np.float32), np.zeros((5, 2), np.float32)
LOCKED = np.ones(5, np.float32)
LOCKED.flags.writeable = False
REFUSED: dict[str, tuple[Any, ...]] = {
    "a dtype": (X.astype("f8"), 2.0, 1, Y, None),
    "a byte order": (X.astype(">f4"), 2.0, 1, Y, None),
    "a float for an int": (X, 2.0, 1.0, Y, None),
    "a bool for an int": (X, 2.0, True, Y, None),
    "a NumPy scalar": (X, np.float64(2), 1, Y, None),
    "a string": (X, "2", 1, Y, None),
    "a size": (X, 2.0, 1, Y[:4], None),
    "a fixed size": (X, 2.0, 1, np.zeros((5, 3), np.float32), None),
    "dimensions": (X, 2.0, 1, Y.ravel(), None),
    "strides": (np.ones(10, np.float32)[::2], 2.0, 1, Y, None),
    "an order": (X, 2.0, 1, np.asfortranarray(Y), None),
    "a large int": (X, 2.0, 2**63, Y, None),
    "a large int for a float": (X, 2**70, 1, Y, None),
    "too few": (X, 2.0, 1, Y),
    "too many": (X, 2.0, 1, Y, None, None),
    "none": (None, 2.0, 1, Y, None),
    "a number for an array": (5, 2.0, 1, Y, None),
    "a subclass": (X.view(Derived), 2.0, 1, Y, None),
    "a read-only target": (LOCKED, 2.0, 1, Y, None),
    "an optional one of another size": (X, 2.0, 1, Y, X[:3]),
    "misaligned": (np.zeros(21, np.uint8)[1:].view(np.float32), 2.0, 1, Y, None),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_door_refuses_what_does_not_fit_and_changes_nothing(case: str) -> None:
    args = REFUSED[case]
    before = np.array(args[0]).tobytes() if isinstance(args[0], np.ndarray) else b""
    assert scale()(*args) is NotImplemented
    assert not before or np.array(args[0]).tobytes() == before


def test_the_results_are_counted_as_references_must_be() -> None:
    call = scale()
    counts = sys.getrefcount(None), sys.getrefcount(NotImplemented)
    x = X.copy()
    seen = sys.getrefcount(x)
    for _ in range(1000):
        call(x, 1.0, 0, Y, None)
        call(x, 1.0, 0, Y)
    after = sys.getrefcount(None), sys.getrefcount(NotImplemented)
    assert all(abs(a - b) < 100 for a, b in zip(counts, after, strict=True))
    assert sys.getrefcount(x) == seen


def test_a_split_door_covers_every_chunk_on_every_number_of_threads() -> None:
    module = Module("fill")
    f = module.function("fill", [("frame", PTR), ("chunk", I64)])
    frame, chunk = f.params
    x, n = f.load(frame, PTR), f.load(f.at(frame, 1, I64), I64)
    start = chunk * 1000
    with f.loop(start, f.minimum(start + 1000, n)) as loop:
        there = f.at(x, loop.index, F64)
        f.store(there, f.load(there, F64) + 1.0)
    f.ret()
    signature = [Array("f64", ("n",), writes=True)]
    call = door.door("fill", engine.load(module)["fill"], signature, ("n", 1000))
    for threads in (1, 2, 3):
        pool.state(threads)
        for size in (0, 1, 999, 1000, 1001, 65_536):
            x = np.zeros(size)
            for _ in range(3):
                assert call(x) is None
            assert (x == 3).all()


def test_an_array_that_may_be_missing_cannot_name_a_size() -> None:
    if door.direct():
        with pytest.raises(ValueError, match="may be None"):
            door.door("wrong", 0, [Array("f32", ("n",), optional=True)])


def test_a_split_needs_a_size_that_an_argument_has() -> None:
    with pytest.raises(ValueError, match="no argument has a size named m"):
        door.door("wrong", 0, [Array("f32", ("n",))], ("m", 10))
