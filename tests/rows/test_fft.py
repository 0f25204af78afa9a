"""Fourier transforms: their own inverses, sums by definition, sizes, refusals."""

from __future__ import annotations

import cmath
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._array.linalg import fft as raw


def by_definition(values: list[complex]) -> list[complex]:
    n = len(values)
    return [
        sum(v * cmath.exp(-2j * cmath.pi * j * k / n) for j, v in enumerate(values))
        for k in range(n)
    ]


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_a_transform_is_the_sum_that_defines_it(n: int) -> None:
    values = [complex(j * j - 3, 2 - j) for j in range(n)]
    found = torch.fft.fft(torch.tensor(values, dtype=torch.complex128)).tolist()
    assert found == pytest.approx(by_definition(values))


@pytest.mark.parametrize("norm", [None, "forward", "backward", "ortho"])
@pytest.mark.parametrize("n", [7, 8])
def test_a_real_signal_comes_back(norm: str | None, n: int) -> None:
    x = torch.randn(3, n, dtype=torch.float64)
    there: Any = torch.fft
    assert torch.allclose(there.irfft(there.rfft(x, norm=norm), n, norm=norm), x)
    assert torch.allclose(there.hfft(there.ihfft(x, norm=norm), n, norm=norm), x)
    assert torch.allclose(there.ifftn(there.fftn(x, norm=norm), norm=norm).real, x)


def test_a_large_transform_is_that_of_its_rows() -> None:
    x = torch.randn(40, 128, dtype=torch.float64)  # enough for another library, where there is one
    rows = torch.stack([torch.fft.fft(row) for row in x])
    assert torch.allclose(torch.fft.fft(x), rows)


@pytest.mark.parametrize("scipy", [True, False])
@pytest.mark.parametrize("n", [1023, 1024])
def test_a_large_transform_is_the_same_for_every_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, n: int, scipy: bool
) -> None:
    if not scipy:
        monkeypatch.setattr(raw, "_scipy", lambda: None)
    x = torch.randn(67, n)  # enough for NumPy, too
    there: Any = torch.fft
    before = torch.get_num_threads()
    try:
        results = []
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            half = there.rfft(x)
            full = there.fftn(x + 1j * x.flip(0), dim=(0, 1))
            results.append([half, full, there.irfft(half, n), there.rfftn(x)])
    finally:
        torch.set_num_threads(before)
    rows = torch.stack([torch.stack([there.rfft(row).real, there.rfft(row).imag]) for row in x])
    both = torch.stack([results[0][0].real, results[0][0].imag], 1)
    assert torch.allclose(both, rows, rtol=1e-4, atol=1e-3)
    assert torch.allclose(results[0][2], x, atol=1e-4)
    double = there.fftn((x + 1j * x.flip(0)).to(torch.complex128), dim=(0, 1))
    assert (results[0][1] - double).abs().max() < 1e-2
    for others in results[1:]:
        assert all(torch.equal(one, other) for one, other in zip(results[0], others))


@pytest.mark.parametrize("dim", [(0,), (1,), (1, 0)])
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_the_gradient_of_half_a_transform_is_that_of_the_whole_with_zeros(
    n: int, dim: tuple[int, ...]
) -> None:
    x = torch.randn(n, n, dtype=torch.float64, requires_grad=True)
    half = torch.fft.rfftn(x, dim=dim, norm="ortho")
    g = torch.randn_like(half)
    whole = torch.zeros(n, n, dtype=torch.complex128)
    whole[: half.shape[0], : half.shape[1]] = g
    (found,) = torch.autograd.grad(half, x, g)
    assert found.dtype == torch.float64
    full = torch.fft.fftn(x, dim=dim, norm="ortho")
    assert torch.allclose(found, torch.autograd.grad(full, x, whole)[0])


def test_the_gradient_of_a_round_trip_is_what_came_in() -> None:
    x = torch.randn(6, dtype=torch.float64, requires_grad=True)
    y = torch.fft.irfft(torch.fft.rfft(x, norm="ortho"), 6, norm="ortho")
    g = torch.randn(6, dtype=torch.float64)
    assert torch.allclose(torch.autograd.grad(y, x, g)[0], g)


def test_a_signal_is_cut_off_or_padded() -> None:
    x = torch.tensor([1.0, 2, 3])
    assert torch.fft.fft(x, 2).tolist() == [3, -1]
    assert torch.fft.rfft(x, 4).tolist() == [6, -2 - 2j, 2]


def test_frequencies_are_shifted_to_the_middle_and_back() -> None:
    f = torch.fft.fftfreq(5)
    assert torch.fft.fftshift(f).tolist() == sorted(f.tolist())
    assert torch.equal(torch.fft.ifftshift(torch.fft.fftshift(f)), f)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: torch.fft.fft(torch.ones(3), norm="half"), RuntimeError,
         'Invalid normalization mode: "half"'),
        (lambda: torch.fft.fft(torch.ones(3), 0), RuntimeError,
         "Invalid number of data points (0) specified"),
        (lambda: torch.fft.rfft(torch.ones(3) + 1j), RuntimeError,
         "rfft expects a real input tensor, but got ComplexFloat"),
        (lambda: torch.fft.fft(torch.ones(3).half()), RuntimeError, "Unsupported dtype Half"),
        (lambda: torch.fft.fftn(torch.ones(3, 3), dim=(0, 0)), RuntimeError,
         "FFT dims must be unique"),
    ],
)  # fmt: skip
def test_what_cannot_be_transformed_is_refused(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == text


def test_a_signal_comes_back_from_its_windows() -> None:
    x = torch.randn(2, 400, dtype=torch.float64)
    window = torch.hann_window(64, dtype=torch.float64)
    there = torch.stft(x, 64, 16, 64, window, return_complex=True)
    assert there.shape == (2, 33, 26)
    assert torch.allclose(torch.istft(there, 64, 16, 64, window, length=400), x)


def test_windows_are_symmetric_unless_they_are_periodic() -> None:
    for name in ("hann", "hamming", "blackman", "bartlett", "kaiser", "nuttall", "cosine",
                 "gaussian", "exponential"):  # fmt: skip
        made = getattr(torch.signal.windows, name)(9, dtype=torch.float64)
        assert torch.allclose(made, made.flip(0)), name
        longer = getattr(torch.signal.windows, name)(8, sym=False, dtype=torch.float64)
        assert torch.allclose(longer, made[:8]), name


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies_without_memory_for_their_steps_are_refused_like_all_others(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> Any:
        return np.empty(2**45)

    monkeypatch.setattr(np, "arange", refuse)
    with pytest.raises(RuntimeError, match="DefaultCPUAllocator: can't allocate memory"):
        getattr(torch.fft, name)(8)
