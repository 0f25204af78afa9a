"""Interpolation, grids, patches and shuffles: what must hold whatever the numbers are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as rl
from rushlight.autograd import gradcheck, gradgradcheck
from rushlight.nn import functional as F

MODES = [
    ("nearest", None, False),
    ("nearest-exact", None, False),
    ("bilinear", False, False),
    ("bilinear", True, False),
    ("bicubic", False, False),
    ("bicubic", True, False),
    ("bilinear", False, True),
    ("bicubic", False, True),
    ("lanczos", False, True),
    ("area", None, False),
]


def _resize(x: Any, size: Any, mode: Any) -> Any:
    return F.interpolate(x, size=size, mode=mode[0], align_corners=mode[1], antialias=mode[2])


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("size", [(3, 4), (11, 13), (6, 20), (1, 1)])
def test_a_constant_stays_the_same_constant(mode: Any, size: Any) -> None:
    y = _resize(rl.full((1, 2, 6, 7), 2.5, dtype=rl.float64), size, mode)
    assert y.shape == (1, 2, *size)
    assert np.allclose(y.numpy(), 2.5)


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_the_same_size_changes_nothing(mode: Any) -> None:
    x = rl.randn(1, 2, 5, 6, dtype=rl.float64)
    if mode[2]:
        assert rl.allclose(_resize(x, (5, 6), mode), x, atol=1e-12)
    else:
        assert rl.equal(_resize(x, (5, 6), mode), x)


def test_bilinear_with_aligned_corners_reproduces_a_plane() -> None:
    i, j = np.mgrid[0:5, 0:4].astype(np.float64)
    y = F.interpolate(rl.tensor((2 * i - 3 * j)[None, None]), size=(9, 10), mode="bilinear",
                      align_corners=True)  # fmt: skip
    i, j = np.meshgrid(np.linspace(0, 4, 9), np.linspace(0, 3, 10), indexing="ij")
    assert np.allclose(y.numpy()[0, 0], 2 * i - 3 * j)


def test_an_infinity_reaches_its_neighbours_only() -> None:
    x = rl.zeros(1, 1, 1, 8)
    x[0, 0, 0, 3] = float("inf")
    y = F.interpolate(x, size=(1, 16), mode="bilinear", align_corners=False).numpy().ravel()
    assert np.flatnonzero(~np.isfinite(y)).tolist() == [5, 6, 7, 8]


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_gradients_of_interpolation_are_slopes(mode: Any) -> None:
    rl.manual_seed(0)
    x = rl.randn(1, 2, 5, 4, dtype=rl.float64, requires_grad=True)
    for size in ((3, 7), (8, 2)):
        assert gradcheck(lambda x, size=size: _resize(x, size, mode), (x,), fast_mode=True)
        assert gradgradcheck(lambda x, size=size: _resize(x, size, mode), (x,), fast_mode=True)


@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_the_grid_of_the_identity_samples_the_input_itself(mode: str, align: bool) -> None:
    x = rl.randn(2, 3, 5, 4, dtype=rl.float64)
    theta = rl.eye(2, 3, dtype=rl.float64).expand(2, 2, 3)
    grid = F.affine_grid(theta, (2, 3, 5, 4), align_corners=align)
    assert rl.allclose(F.grid_sample(x, grid, mode, align_corners=align), x)


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("align", [True, False])
def test_gradients_of_sampling_are_slopes_to_second_order(
    padding: str, mode: str, align: bool
) -> None:
    rl.manual_seed(0)
    x = rl.randn(2, 2, 4, 5, dtype=rl.float64, requires_grad=True)
    grid = (rl.rand(2, 3, 2, 2, dtype=rl.float64) * 2.4 - 1.2).requires_grad_()

    def f(x: Any, grid: Any) -> Any:
        return F.grid_sample(x, grid, mode, padding, align)

    assert gradcheck(f, (x, grid), fast_mode=True)
    assert gradgradcheck(f, (x, grid), fast_mode=True)


def test_points_outside_give_zero_the_border_or_the_reflection() -> None:
    x = rl.tensor([[[[1.0, 2.0, 4.0]]]])
    grid = rl.tensor([[[[-2.0, 0.0], [2.0, 0.0]]]])
    sampled = {
        padding: F.grid_sample(x, grid, "nearest", padding, True).flatten().tolist()
        for padding in ("zeros", "border", "reflection")
    }
    assert sampled == {"zeros": [0.0, 0.0], "border": [1.0, 4.0],
                       "reflection": [2.0, 2.0]}  # fmt: skip


def test_folding_unfolded_patches_counts_each_place_by_its_patches() -> None:
    x = rl.randn(2, 3, 6, 5)
    patches = F.unfold(x, (3, 2), padding=1, stride=(2, 1))
    count = F.fold(
        F.unfold(rl.ones_like(x), (3, 2), padding=1, stride=(2, 1)), (6, 5), (3, 2), padding=1,
        stride=(2, 1),
    )  # fmt: skip
    folded = F.fold(patches, (6, 5), (3, 2), padding=1, stride=(2, 1))
    assert rl.allclose(folded, x * count, atol=1e-5)


def test_a_convolution_is_a_product_with_unfolded_patches() -> None:
    x, w = rl.randn(2, 3, 6, 5), rl.randn(4, 3, 3, 2)
    y = w.flatten(1) @ F.unfold(x, (3, 2))
    assert rl.allclose(y.reshape(2, 4, 4, 4), F.conv2d(x, w), atol=1e-5)


def test_pixel_shuffles_undo_each_other() -> None:
    x = rl.randn(2, 12, 3, 2)
    y = F.pixel_shuffle(x, 2)
    assert y.shape == (2, 3, 6, 4)
    assert y[0, 0, :2, :2].flatten().tolist() == x[0, :4, 0, 0].tolist()
    assert rl.equal(F.pixel_unshuffle(y, 2), x)
    assert rl.equal(F.channel_shuffle(F.channel_shuffle(x, 3), 4), x)


def test_a_shuffle_by_one_is_a_copy() -> None:
    x = rl.randn(1, 2, 2, 2)
    for f in (F.pixel_shuffle, F.pixel_unshuffle):
        y = f(x, 1)
        y += 1
        assert not rl.equal(x, y)


@pytest.mark.parametrize(
    ("kind", "call", "words"),
    [
        (ValueError, lambda x: F.interpolate(x), "either size or scale_factor should be defined"),
        (ValueError, lambda x: F.interpolate(x, 2, 2), "only one of size or scale_factor"),
        (ValueError, lambda x: F.interpolate(x, 2, align_corners=True), "can only be set with the"),
        (NotImplementedError, lambda x: F.interpolate(x, 2, mode="linear"), "mode needs 3D input"),
        (RuntimeError, lambda x: F.interpolate(x, 0), "Input and output sizes should be greater"),
        (RuntimeError, lambda x: F.pixel_shuffle(x, 3), "is not divisible by 9"),
        (RuntimeError, lambda x: F.unfold(x, 9), "its components must be at least one"),
        (RuntimeError, lambda x: F.fold(x[0], (4, 4), 3), "divisible by the product of kernel"),
        (ValueError, lambda x: F.grid_sample(x, x, "foo"), "expected mode to be 'bilinear'"),
    ],
)
def test_what_does_not_fit_is_refused_in_pytorchs_words(kind: Any, call: Any, words: str) -> None:
    with pytest.raises(kind) as caught:
        call(rl.zeros(1, 4, 4, 4))
    assert words in str(caught.value)


def test_sizes_factors_and_types_that_were_met_before_are_not_mistaken_for_each_other() -> None:
    interpolate = F.interpolate
    x = rl.arange(16.0).reshape(1, 1, 4, 4)
    for _ in range(2):
        by_factor = interpolate(x, scale_factor=(1.5, 0.6))
        by_size = interpolate(x, size=(6, 2))
        assert by_factor.tolist() == [[[[4.0 * i, 4.0 * i + 1] for i in (0, 0, 1, 2, 2, 3)]]]
        assert by_size.tolist() == [[[[4.0 * i, 4.0 * i + 2] for i in (0, 0, 1, 2, 2, 3)]]]
        assert interpolate(x, scale_factor=2).tolist() == interpolate(x, size=8).tolist()
        assert interpolate(x, size=4).tolist() == x.tolist()
        assert interpolate(x, size=4).data_ptr() != x.data_ptr()
        for word in ("bilinear", "bicubic"):
            for corners in (False, True):
                single = interpolate(x, size=(7, 3), mode=word, align_corners=corners)
                double = interpolate(x.double(), size=(7, 3), mode=word, align_corners=corners)
                assert (single.dtype, double.dtype) == (rl.float32, rl.float64)
                assert rl.allclose(single.double(), double, atol=1e-4)
    y = x.clone().requires_grad_()
    interpolate(y, scale_factor=2).sum().backward()
    assert y.grad.tolist() == [[[[4.0] * 4] * 4]]


def test_sizes_that_are_no_numbers_are_refused_with_the_tensor_named() -> None:
    for options in ({"size": "a"}, {"scale_factor": "2"}, {"size": 3.5}):
        with pytest.raises(TypeError, match=r"upsample_nearest2d\(\) .* got \(Tensor, "):
            F.interpolate(rl.zeros(1, 1, 2, 2), **options)
