"""What LLVM refuses is computed by NumPy, after one warning; everything stays correct."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rushlight._array import kernels
from rushlight._array.nn import convolution as convolve, grid_sample as grid, pooling as pool
from rushlight._array.reduce import scan
from rushlight._array.types import in_order_copy
from rushlight._native.emitted import (
    bias_gradients as plane_sums,
    convolution as convolution_code,
    depthwise as depthwise_code,
    gemm,
    grid_sample as sampling,
    max_pool as max_pool_code,
    scan as scan_code,
    small_convolution as small_planes,
    transpose,
    winograd as winograd_code,
)
from rushlight._native.llvm import loader as engine, target
from tests.array.kernels.test_kernels import normal

pytest.importorskip("llvmlite")
pytestmark = pytest.mark.skipif(not target.available(), reason="native code is turned off")

ONE, NONE = (1, 1), (0, 0)
F32 = np.float32


def _convolved(groups: int) -> Callable[[], Any]:
    x, w = normal(1, F32, 2, 32, 14, 14), normal(2, F32, 32, 32 // groups, 3, 3)
    return lambda: convolve.correlate(x, w, None, ONE, ONE, ONE, groups)


def _deep() -> Any:
    x, w = normal(1, F32, 2, 4, 6, 8, 8), normal(2, F32, 8, 4, 3, 3, 3)
    return convolve.correlate(x, w, None, (1,) * 3, (1,) * 3, (1,) * 3, 1)


def _sampled() -> Any:
    x, at = normal(1, F32, 2, 3, 9, 9), normal(2, F32, 2, 80, 80, 2)
    return grid.grid_sample(x, at, 0, 0, False)


WAYS: dict[str, Callable[[], Any]] = {
    "lines": _convolved(1), "groups": _convolved(4), "depthwise": _convolved(32), "volumes": _deep,
    "max_pool": lambda: pool.max_pool(
        normal(1, F32, 2, 8, 40, 40), (2, 2), (2, 2), NONE, ONE, (20, 20)
    )[0],
    "samples": _sampled, "scan": lambda: scan.cumsum(normal(1, F32, 300, 100), 1),
    "copy": lambda: in_order_copy(normal(1, F32, 200, 300).T),
    "plane sums": lambda: convolve.channel_sums(normal(1, F32, 4, 8, 40, 40)),
}  # fmt: skip
LOADERS: list[Any] = [
    convolution_code.load, small_planes.load, depthwise_code.load, max_pool_code.load,
    winograd_code.load, sampling.load, scan_code.load, transpose.addresses, plane_sums.load,
    gemm.load, gemm.load_chunks,
]  # fmt: skip


def _forget() -> None:
    for load in LOADERS:
        load.cache_clear()
    for module in (
        kernels.convolution,
        kernels.small_convolution,
        kernels.winograd,
        kernels.max_pool,
        kernels.transpose,
    ):
        module._code.cache_clear()
    kernels.bias_gradients._code.cache_clear()
    kernels.gemm.code_of.cache_clear()


@pytest.mark.parametrize("error", [RuntimeError("no such register"), OSError("no memory for code")])
@pytest.mark.parametrize("name", WAYS)
def test_numpy_goes_on_after_one_warning(
    monkeypatch: pytest.MonkeyPatch, name: str, error: Exception
) -> None:
    assert kernels.launch.ready()
    for limit in ("LEAST", "PRODUCT", "CONVOLUTION"):
        monkeypatch.setattr(kernels, limit, 1 << 60)
    exact = WAYS[name]()
    for limit in ("LEAST", "PRODUCT", "CONVOLUTION"):
        monkeypatch.setattr(kernels, limit, 1)

    def refuse(*asked: object) -> Any:
        raise error

    _forget()
    try:
        for way in ("load", "load_made"):
            monkeypatch.setattr(engine, way, refuse)
        with pytest.warns(RuntimeWarning, match=str(error)) as seen:
            found = WAYS[name]()
            again = WAYS[name]()
        assert len(seen) == 1
        assert kernels.LEAST == kernels.CONVOLUTION == kernels.PRODUCT > 1 << 60
    finally:
        _forget()
    for value in (found, again):
        np.testing.assert_allclose(value, exact, rtol=1e-4, atol=1e-4)
