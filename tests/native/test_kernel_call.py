"""Kernels as builtins: what they let through, what they refuse, and that nothing leaks."""

import sys
from typing import Any

import numpy as np
import pytest

from rushlight._array.kernels import launch
from rushlight._array.kernels.launch import Kernel
from rushlight._native.cpython import builtin_call, interpreter
from rushlight._native.llvm import loader
from rushlight._native.llvm.emit import I64, PTR, Module

if not launch._direct():
    pytest.skip("this Python's objects have a layout that is not known", allow_module_level=True)


def scaled(x: Any, k: Any) -> Any:
    return x * k


def call() -> Any:
    """`out[:] = x * k` over float32: (elements, columns, pool, x, k, out)."""
    return Kernel(scaled, "f", "s").compile(np.dtype("f4"), None, False).launch


class Derived(np.ndarray):
    """Not an ndarray itself."""


X, OUT = np.ones(20, np.float32), np.zeros(20, np.float32)
LOCKED = np.zeros(20, np.float32)
LOCKED.flags.writeable = False
BYTES = np.zeros(81, np.uint8)
REFUSED: dict[str, tuple[Any, ...]] = {
    "a dtype": (20, 10, 0, X.astype("f8"), 2.0, OUT),
    "a byte order": (20, 10, 0, X.astype(">f4"), 2.0, OUT),
    "an int for a float": (20, 10, 0, X, 2, OUT),
    "a NumPy scalar": (20, 10, 0, X, np.float64(2), OUT),
    "a number for an array": (20, 10, 0, 5, 2.0, OUT),
    "none": (20, 10, 0, None, 2.0, OUT),
    "strides": (20, 10, 0, np.ones(40, np.float32)[::2], 2.0, OUT),
    "a subclass": (20, 10, 0, X.view(Derived), 2.0, OUT),
    "a read-only target": (20, 10, 0, X, 2.0, LOCKED),
    "misaligned": (20, 10, 0, BYTES[1:].view(np.float32), 2.0, OUT),
    "no elements": (0, 10, 0, X, 2.0, OUT),
    "no columns": (20, 0, 0, X, 2.0, OUT),
    "too few": (20, 10, 0, X, 2.0),
    "too many": (20, 10, 0, X, 2.0, OUT, OUT),
}


def test_the_right_arguments_come_through() -> None:
    out = np.zeros(20, np.float32)
    assert call()(20, 10, 0, np.arange(20, dtype=np.float32), 2.0, out) is None
    assert out.tolist() == list(range(0, 40, 2))


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused_and_nothing_is_changed(case: str) -> None:
    before = OUT.tobytes(), LOCKED.tobytes()
    assert call()(*REFUSED[case]) is NotImplemented
    assert (OUT.tobytes(), LOCKED.tobytes()) == before


def test_the_results_are_counted_as_references_must_be() -> None:
    run, x, out = call(), X.copy(), OUT.copy()
    counts = sys.getrefcount(None), sys.getrefcount(NotImplemented)
    seen = sys.getrefcount(x)
    for _ in range(1000):
        run(20, 10, 0, x, 1.0, out)
        run(20, 10, 0, x, 1, out)
    after = sys.getrefcount(None), sys.getrefcount(NotImplemented)
    assert all(abs(a - b) < 100 for a, b in zip(counts, after, strict=True))
    assert sys.getrefcount(x) == seen


@pytest.mark.parametrize("known", [True, False])
def test_a_starter_says_whether_the_function_refused(
    known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not known:
        monkeypatch.setattr(interpreter, "unknown", lambda: "another one")
    module = Module("told")
    f = module.function("told", [("state", PTR)], I64)
    f.ret(f.load(f.params[0], I64))
    state = np.zeros(1, np.int64)
    run = builtin_call.starter("told", loader.load(module)["told"], state.ctypes.data)
    assert run() is None
    state[0] = 1
    assert run() is NotImplemented
