"""Several threads give the digits of one, and one thread starts no others."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rushlight._array import kernels
from rushlight._array.memory import parallel
from rushlight._array.nn import convolution as convolve, grid_sample as grid
from rushlight._array.reduce import reduce, scan
from rushlight._array.types import in_order_copy
from rushlight._native.llvm import target
from rushlight._native.threads import thread_pool as pool
from rushlight._table import ROWS
from tests.array.kernels.test_kernels import normal

pytest.importorskip("llvmlite")
pytestmark = pytest.mark.skipif(not target.available(), reason="native code is turned off")

F32 = np.float32
ONE = (1, 1)


def _sampled() -> Any:
    x = normal(1, F32, 4, 8, 30, 30)
    at = np.random.default_rng(2).uniform(-1, 1, (4, 60, 60, 2)).astype(F32)
    g = normal(3, F32, 4, 8, 60, 60)
    return [grid.grid_sample(x, at, 0, 0, False),
            *grid.grid_sample_backward(g, x, at, 0, 0, False, (True, True))]  # fmt: skip


def _depthwise() -> Any:
    x, w = normal(1, F32, 4, 64, 40, 40), normal(2, F32, 64, 1, 3, 3)
    y = convolve.correlate(x, w, None, ONE, ONE, ONE, 64)
    back = convolve.correlate_transposed(y, w, (40, 40), ONE, ONE, ONE, 64)
    return [y, back, convolve.weigh(x, y, (3, 3), ONE, ONE, ONE, 64)]


def _volumes() -> Any:
    x, w = normal(1, F32, 3, 8, 8, 16, 16), normal(2, F32, 16, 8, 3, 3, 3)
    return convolve.correlate(x, w, None, (1,) * 3, (1,) * 3, (1,) * 3, 1)


WAYS: dict[str, Callable[[], Any]] = {
    "samples": _sampled, "depthwise": _depthwise, "volumes": _volumes,
    "scan": lambda: scan.cumsum(normal(1, F32, 1000, 700), 1),
    "copy": lambda: in_order_copy(normal(1, F32, 1100, 1300).T),
    "softmax": lambda: ROWS["softmax"][0].op.raw(normal(1, F32, 8, 20, 50, 60), 1),
    "mish": lambda: ROWS["mish"][0].op.raw(normal(1, F32, 3_000_000)),
    "sum": lambda: reduce.sum(normal(1, F32, 5_000_000)),
}  # fmt: skip


@pytest.mark.parametrize("name", WAYS)
def test_the_digits_are_those_of_one_thread(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    assert kernels.launch.ready()
    monkeypatch.setattr(parallel, "_threads", 1)

    def none(threads: int) -> int:
        raise AssertionError(f"{threads} threads were asked for")

    with monkeypatch.context() as patch:
        patch.setattr(pool, "state", none)
        alone = WAYS[name]()
    asked: list[int] = []
    state = pool.state

    def counted(threads: int) -> int:
        asked.append(threads)
        return state(threads)

    monkeypatch.setattr(pool, "state", counted)
    monkeypatch.setattr(parallel, "_threads", 3)
    together = WAYS[name]()
    assert asked and set(asked) == {3}
    for a, b in zip(*(v if type(v) is list else [v] for v in (alone, together)), strict=True):
        np.testing.assert_array_equal(a, b)
