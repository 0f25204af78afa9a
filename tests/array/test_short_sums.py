"""Sums of few along a dimension behind which short lines lie."""

from math import prod

import numpy as np
import pytest

import rushlight as torch
from rushlight._array.reduce import reduce
from rushlight._array.shape import rearrange

_SHAPES = ((4096, 2, 8), (3000, 7, 3), (300, 3, 32), (2000, 2, 2), (40, 7, 33), (1, 2, 8),
           (50, 1, 5),
           (0, 3, 4), (3, 0, 4), (2, 3, 4, 5))  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.float16, np.complex64])
@pytest.mark.parametrize("shape", _SHAPES)
def test_each_is_added_in_its_order(shape: tuple[int, ...], dtype: type) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape).astype(dtype) if dtype is not np.int64 else rng.integers(
        -9, 9, shape
    )  # fmt: skip
    if x.size > 5 and dtype is not np.int64:
        x.flat[:5] = np.nan, np.inf, -np.inf, -0.0, -0.0
    turned = np.swapaxes(np.swapaxes(x, 0, -1).copy(), 0, -1)
    for given in (x, turned, np.repeat(x, 2, 0)[::2], x[::-1]):
        for keep in (False, True):
            found = reduce.sum(given, (1,), keep, None)
            wanted = np.add.reduce(given, 1, keepdims=keep)
            assert found.dtype == wanted.dtype and found.shape == wanted.shape
            np.testing.assert_allclose(found, wanted, rtol=1e-5 if dtype != np.float16 else 1e-2,
                                       atol=1e-5 if dtype != np.float16 else 1e-2)  # fmt: skip
            if given is x and dtype in (np.float32, np.float64) and shape[1] < 8:
                zero = wanted == 0
                np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(wanted[zero]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    ("shape", "repeats"),
    [((400, 8), (1, 3)), ((400, 8), (2, 3)), ((5, 6), (2, 1, 3)), ((7,), (4,)), ((3, 1), (1, 5)),
     ((2, 3, 4), (3, 1, 2)), ((40, 100), (2, 2)), ((3, 4), (0, 2)), ((0, 4), (2, 2)), ((), (3,))],
)  # fmt: skip
def test_gradients_of_repetitions(
    shape: tuple[int, ...], repeats: tuple[int, ...], dtype: torch.dtype
) -> None:
    x = torch.zeros(shape, dtype=dtype, requires_grad=True)
    y = x.repeat(*repeats)
    g = torch.from_numpy(np.random.default_rng(0).integers(-9, 9, y.shape)).to(dtype)
    y.backward(g)
    full = (1,) * (len(repeats) - len(shape)) + shape
    mixed = [n for pair in zip(repeats, full, strict=True) for n in pair]
    wanted = g.double().numpy().reshape(mixed).sum(tuple(range(0, len(mixed), 2))).reshape(shape)
    assert x.grad is not None and x.grad.dtype is dtype
    np.testing.assert_array_equal(x.grad.double().numpy(), wanted)
    turned = np.asfortranarray(g.float().numpy())
    found = rearrange.repeat_backward(turned, shape, repeats)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_gradients_of_places_repeated_and_expanded(dim: int) -> None:
    x = torch.zeros(60, 9, 4, requires_grad=True)
    y = x.repeat_interleave(3, dim)
    g = torch.from_numpy(np.arange(prod(y.shape)).reshape(y.shape) % 97).float()
    y.backward(g)
    split = [*x.shape[: dim + 1], 3, *x.shape[dim + 1 :]]
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.numpy(), g.numpy().reshape(split).sum(dim + 1))
    small = torch.zeros(60, 1, 4, requires_grad=True)
    z = small.expand(60, 7, 4)
    h = torch.ones(60, 7, 4)
    z.backward(h)
    assert small.grad is not None and bool((small.grad == 7).all())
