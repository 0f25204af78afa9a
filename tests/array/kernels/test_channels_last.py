"""Layers over arrays whose channels lie last, by kernels."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import rushlight as torch
from rushlight._array import kernels
from rushlight._array.kernels import norms, transpose
from rushlight._array.nn import batch_norm, channels_last
from rushlight._native.llvm import target

if not target.available():
    pytest.skip("this machine can't run emitted code", allow_module_level=True)

SHAPES = [(2, 16, 5, 7), (1, 17, 4, 9), (3, 8, 1, 6), (2, 16, 3, 4, 5), (4, 3, 6, 6), (2, 1, 8, 8)]


def _turn(x: Any) -> Any:
    moved = np.ascontiguousarray(np.moveaxis(x, 1, -1))
    return np.moveaxis(moved, -1, 1)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("turned_slopes", [True, False])
@pytest.mark.parametrize("affine", [True, False])
def test_batch_norm_of_channels_last_is_that_of_rows_of_channels(
    monkeypatch: pytest.MonkeyPatch,
    shape: tuple[int, ...],
    dtype: str,
    training: bool,
    turned_slopes: bool,
    affine: bool,
) -> None:
    rng = np.random.default_rng(0)
    x, g = (rng.standard_normal(shape).astype(dtype) + 3 for _ in range(2))
    weight, bias, mean = (
        rng.standard_normal(shape[1]).astype(dtype) if affine else None for _ in range(3)
    )
    mean = rng.standard_normal(shape[1]).astype(dtype)
    var = rng.random(shape[1]).astype(dtype) + 1
    given = (weight, bias, mean, var, training, 1e-5)
    exact = batch_norm.batch_norm(x, *given)
    back = (weight, mean, var, *exact[1:], training, 1e-5, [True, True, True])
    exact_back = batch_norm.batch_norm_backward(g, x, *back)
    monkeypatch.setattr(kernels, "LEAST", 1)
    turned = _turn(x)
    found = batch_norm.batch_norm(turned, *given)
    found_back = batch_norm.batch_norm_backward(_turn(g) if turned_slopes else g, turned, *back)
    bound = 2e-4 if dtype == "f4" else 1e-11
    for a, b in zip([*found, *found_back], [*exact, *exact_back], strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=bound, atol=bound)
    if norms._lies_by_channels(turned) and shape[1] >= 16 and np.prod(shape) > shape[1]:
        direct = norms.batch_norm(turned, *given)
        assert direct is not None and direct[0].strides == turned.strides


@pytest.mark.parametrize("shape", [(4, 16, 24, 30), (2, 9, 50, 40), (2, 8, 18, 10, 12)])
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i8"])
def test_a_result_that_follows_its_input_is_turned_by_the_kernel(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], dtype: str
) -> None:
    y = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    like = _turn(y)
    monkeypatch.setattr(kernels, "LEAST", 1)
    calls: list[tuple[int, ...]] = []
    plain = transpose.copy_in_order

    def note(x: Any) -> Any:
        calls.append(x.shape)
        return plain(x)

    monkeypatch.setattr(transpose, "copy_in_order", note)
    found = channels_last.follow_layout(y, like)
    assert calls and found.strides == like.strides and (found == y).all()
    assert not np.may_share_memory(found, y)


@pytest.mark.parametrize("shape", [(2, 1, 5, 5), (2, 7, 1, 1), (0, 3, 4, 4), (2, 3, 4, 0)])
def test_sizes_of_one_and_none_have_the_strides_of_channels_last(shape: tuple[int, ...]) -> None:
    x = torch.zeros(shape).to(memory_format=torch.channels_last)
    y = torch.nn.functional.interpolate(x, scale_factor=1) if 0 not in shape else x.relu()
    assert y.stride() == x.stride()


@pytest.mark.parametrize("groups", [1, 4])
@pytest.mark.parametrize("k", [1, 3])
def test_convolutions_of_lines_that_lie_apart_equal_those_in_order(groups: int, k: int) -> None:
    torch.manual_seed(0)
    x = torch.randn(4, 200, 16, requires_grad=True)
    w = torch.randn(12, 16 // groups, k, requires_grad=True)
    g = torch.randn(4, 200, 12)

    def run(lines: Any) -> list[Any]:
        y = torch.nn.functional.conv1d(lines, w, padding=k // 2, groups=groups)
        return [y, *torch.autograd.grad(y, [x, w], g.transpose(1, 2))]

    for a, b in zip(run(x.transpose(1, 2)), run(x.transpose(1, 2).contiguous()), strict=True):
        assert torch.allclose(a, b, atol=1e-4)
