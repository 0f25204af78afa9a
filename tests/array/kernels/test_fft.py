"""Fourier transforms by emitted code, against NumPy's in double precision."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._array import kernels
from rushlight._array.kernels import fft
from rushlight._array.memory import parallel
from rushlight._native.llvm import target

if not target.available():
    pytest.skip("this machine can't run emitted code", allow_module_level=True)

TYPES = [("float32", "complex64", 3e-6), ("float64", "complex128", 1e-14)]
# Each rest of the twos, and threes and fives.
SIZES = [
    16,
    64,
    80,
    100,
    128,
    144,
    200,
    250,
    256,
    224,
    272,
    448,
    343 * 16,
    320,
    400,
    480,
    512,
    768,
    1024,
    2048,
    2560,
    3840,
    4096,
    8192,
    6000,
    30000,
    65536,
]


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "LEAST", 1)


def draw(shape: Any, dtype: str) -> Any:
    rng = np.random.default_rng(sum(shape))
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if dtype[0] == "c" else x).astype(dtype)


def has_kernel(n: int, real: str) -> bool:
    least = min(4, target.machine().width // np.dtype(real).itemsize)
    left = n
    for prime in (2, 3, 5, 7):
        while left % prime == 0:
            left //= prime
    return n % least == 0 and n >= least**2 and left == 1


def check(found: Any, exact: Any, bound: float) -> None:
    assert found.shape == exact.shape and found.flags.c_contiguous
    assert abs(found - exact).max() <= bound * abs(exact).max()


@pytest.mark.parametrize(("real", "whole", "bound"), TYPES)
@pytest.mark.parametrize("n", SIZES)
def test_lines_have_numpys_transforms(n: int, real: str, whole: str, bound: float) -> None:
    x, r = draw((3, n), whole), draw((3, 2 * n), real)
    for forward, numpys in ((True, np.fft.fft), (False, np.fft.ifft)):
        found = fft.c2c(x, forward, 1.0 if forward else 1 / n)
        assert (found is not None) is has_kernel(n, real)
        if found is not None:
            assert found.dtype == whole
            check(found, numpys(x.astype("complex128")), bound)
    half = fft.r2c(r, 0.5)
    assert (half is not None) is has_kernel(n, real)
    if half is None:
        return
    assert half.dtype == whole
    check(half, np.fft.rfft(r.astype("float64")) / 2, bound)
    assert not half[:, 0].imag.any() and not half[:, -1].imag.any()
    half[:, 0] += 3j  # means nothing
    half[:, -1] -= 5j
    wide = np.concatenate([half, half], 1)
    for given in (half, wide):
        back = fft.c2r(given, 2 * n, 1 / n)
        assert back is not None and back.dtype == real
        check(back, r.astype("float64"), 3 * bound)


@pytest.mark.parametrize("n", [250, 254, 255, 257, 1001, 11 * 512, 1 << 22])
def test_other_lengths_are_numpys(n: int) -> None:
    assert fft.c2c(np.ones((1, n), "complex64"), True, 1.0) is None
    x = torch.ones(2, min(n, 4000))
    assert torch.allclose(torch.fft.irfft(torch.fft.rfft(x), x.shape[1]), x, atol=1e-5)


@pytest.mark.parametrize(("real", "whole", "bound"), TYPES)
@pytest.mark.parametrize("n", [2, 3, 5, 7, 8, 12, 30, 49, 64, 128, 224, 210, 1000])
@pytest.mark.parametrize("rest", [(4,), (5,), (16,), (17,), (3, 7), (33,), (2, 64)])
def test_columns_have_numpys_transforms(
    n: int, rest: tuple[int, ...], real: str, whole: str, bound: float
) -> None:
    x = draw((2, 3, n, *rest), whole)
    for forward, numpys in ((True, np.fft.fft), (False, np.fft.ifft)):
        found = fft.along_columns(x, 2, forward, 1.0 if forward else 1 / n)
        assert found is not None and found.dtype == whole
        check(found, numpys(x.astype("complex128"), axis=2), 3 * bound)


def test_other_columns_are_left_alone() -> None:
    x = draw((2, 12, 64), "complex64")
    assert fft.along_columns(x, 1, True, 1.0) is not None
    for other in (
        x[:, :11].copy(), x[:, :, ::2], x.swapaxes(0, 1), x[:, :, :1].copy(), x[:0], x.real.copy(),
        x[:, :1].copy(),
    ):  # fmt: skip
        assert fft.along_columns(other, 1, True, 1.0) is None


def both(monkeypatch: pytest.MonkeyPatch, function: Any) -> None:
    """Compares what the kernel gives with what NumPy does."""
    found = function()
    with monkeypatch.context() as patch:
        patch.setattr(kernels, "LEAST", sys.maxsize)
        exact = function()
    for a, b in zip(found, exact, strict=True):
        assert a.dtype is b.dtype and a.shape == b.shape and a.stride() == b.stride()
        assert torch.allclose(a, b, rtol=1e-8, atol=1e-8)


LAYOUTS: list[Any] = [
    lambda x: x,
    lambda x: x.transpose(0, 1).contiguous().transpose(0, 1),
    lambda x: x.transpose(1, 2).contiguous().transpose(1, 2),
    lambda x: torch.stack([x, x], -1)[..., 1],
    lambda x: torch.cat([x, x], 1)[:, : x.shape[1]],
    lambda x: x[:1].expand(3, -1, -1),
    lambda x: x.flip(0),
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_any_layout_norm_and_dimension(
    layout: Any, norm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    x = layout(torch.randn(3, 64, 128, dtype=torch.float64))
    z = layout(torch.randn(3, 64, 128, dtype=torch.complex128))
    f = torch.fft

    def run() -> list[Any]:
        return [
            *(f.fft(z, dim=d, norm=norm) for d in (0, 1, 2)),
            *(f.ifft(z, dim=d, norm=norm) for d in (1, 2)),
            *(f.rfft(x, dim=d, norm=norm) for d in (1, 2)),
            *(f.irfft(z, n=128, dim=d, norm=norm) for d in (1, 2)),
            f.irfft(z, n=300, norm=norm),
            f.irfft(z, n=64, norm=norm),
            f.hfft(z, n=128, norm=norm), f.ihfft(x, norm=norm), f.fft(x, norm=norm),
            f.fft2(z, norm=norm), f.ifft2(z, norm=norm), f.rfft2(x, norm=norm),
            f.irfft2(z, s=(64, 128), norm=norm), f.fftn(z, dim=(2, 0), norm=norm),
            f.rfftn(x, dim=(2, 1), norm=norm),
        ]  # fmt: skip

    both(monkeypatch, run)


def test_gradients_are_those_of_numpys_way(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    given, weights = (
        torch.randn(2, 512, dtype=torch.float64),
        torch.randn(1024, dtype=torch.float64),
    )

    def run() -> list[Any]:
        x, w = given.clone().requires_grad_(), weights.clone().requires_grad_()
        spectrum = torch.fft.rfft(x, 1024) * torch.fft.rfft(w)
        y = torch.fft.irfft(spectrum, 1024)
        back = torch.fft.ifft(torch.fft.fft(y.to(torch.complex128)))
        (back.abs().square().sum() + y[:, 3].sum()).backward()
        return [y, x.grad, w.grad]

    both(monkeypatch, run)


def test_a_line_with_a_nan_leaves_the_others_alone() -> None:
    x = draw((4, 512), "complex64")
    clean = fft.c2c(x, True, 1.0)
    x[1, 7] = np.nan
    found = fft.c2c(x, True, 1.0)
    assert found is not None and clean is not None
    assert np.isnan(found[1]).all()
    assert found[[0, 2, 3]].tobytes() == clean[[0, 2, 3]].tobytes()


def test_a_transform_is_the_same_for_every_number_of_threads() -> None:
    x = draw((7, 4096), "complex64")
    before, found = parallel.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            parallel.set_num_threads(threads)
            columns = fft.along_columns(x.reshape(7, 64, 64), 1, True, 1.0)
            found.append([fft.c2c(x, True, 1.0), fft.r2c(x.real.copy(), 1.0), columns])
    finally:
        parallel.set_num_threads(before)
    for one in found[1:]:
        assert all(a.tobytes() == b.tobytes() for a, b in zip(one, found[0], strict=True))


def test_nothing_is_transformed_of_no_lines() -> None:
    assert fft.c2c(np.ones((0, 512), "complex64"), True, 1.0) is None
    assert torch.fft.rfft(torch.ones(0, 512)).shape == (0, 257)
