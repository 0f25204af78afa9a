"""Pooling against its definition, the places of maxima, NaN, and gradients."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import rushlight as rl
from rushlight.autograd import gradcheck, gradgradcheck
from rushlight.nn import functional as F

WINDOWS = [
    # size, kernel, stride, padding, dilation, ceil_mode
    ((6, 6), (2, 2), (2, 2), (0, 0), (1, 1), False),
    ((7, 5), (3, 2), (2, 1), (1, 1), (1, 1), False),
    ((7, 5), (3, 2), (2, 2), (1, 0), (1, 1), True),
    ((8, 7), (2, 3), (1, 2), (1, 1), (2, 2), True),
    ((4, 5, 6), (2, 1, 3), (2, 1, 3), (1, 0, 1), (1, 1, 1), False),
]


def listed_windows(size: Any, k: Any, s: Any, p: Any, d: Any, ceil_mode: bool) -> Any:
    """For each output place: the input places of its window that exist."""
    out = []
    for n, m, t, q, e in zip(size, k, s, p, d):
        room = n + 2 * q - e * (m - 1) - 1
        count = (-(-room // t) if ceil_mode else room // t) + 1
        out.append(count - 1 if ceil_mode and (count - 1) * t >= n + q else count)
    for at in product(*[range(n) for n in out]):
        lines = [
            [i * t - q + j * e for j in range(m) if 0 <= i * t - q + j * e < n]
            for i, n, m, t, q, e in zip(at, size, k, s, p, d)
        ]
        yield at, list(product(*lines)), tuple(out)


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_a_maximum_is_the_first_largest_element_of_its_window(window: Any) -> None:
    size = window[0]
    dims = len(size)
    x = np.random.default_rng(0).integers(0, 9, (2, 3, *size)).astype(np.float32)
    pool = getattr(F, f"max_pool{dims}d")
    values, places = pool(rl.tensor(x), *window[1:5], ceil_mode=window[5], return_indices=True)
    for at, inside, out in listed_windows(*window):
        assert values.shape[2:] == out
        for n, c in product(range(2), range(3)):
            plane = x[n, c]
            best = max(inside, key=lambda where: plane[where])
            assert values[(n, c, *at)].item() == plane[best]
            assert places[(n, c, *at)].item() == np.ravel_multi_index(best, size)
    alone = pool(rl.tensor(x), *window[1:5], ceil_mode=window[5])
    assert rl.equal(alone, values)


@pytest.mark.parametrize("window", [w for w in WINDOWS if set(w[4]) == {1}], ids=str)
@pytest.mark.parametrize("include", [True, False])
def test_a_mean_divides_by_the_elements_that_count(window: Any, include: bool) -> None:
    size, k, s, p, _, ceil_mode = window
    dims = len(size)
    x = np.random.default_rng(0).standard_normal((2, 3, *size))
    y = getattr(F, f"avg_pool{dims}d")(rl.tensor(x), k, s, p, ceil_mode, include)
    for at, inside, out in listed_windows(*window):
        assert y.shape[2:] == out
        count = 1
        for i, n, m, t, q in zip(at, size, k, s, p):
            start = i * t - q
            count *= min(start + m, n + q) - start
        total = sum(x[(slice(None), slice(None), *where)] for where in inside)
        wanted = total / (count if include else len(inside))
        assert np.allclose(y.numpy()[(slice(None), slice(None), *at)], wanted)


def test_nan_is_larger_than_everything_and_the_last_one_counts() -> None:
    x = rl.tensor([[[1.0, float("nan"), float("nan"), 2.0, 5.0, 3.0]]])
    values, places = F.max_pool1d(x, 3, return_indices=True)
    assert np.isnan(values.numpy()[0, 0, 0])
    assert values[0, 0, 1].item() == 5.0
    assert places.tolist() == [[[2, 4]]]


def test_a_padded_window_of_minus_infinity_has_its_first_real_place() -> None:
    x = rl.full((1, 1, 4), -float("inf"))
    values, places = F.max_pool1d(x, 3, 2, 1, return_indices=True)
    assert places.tolist() == [[[0, 1]]]
    assert values.tolist() == [[[-float("inf")] * 2]]


@pytest.mark.parametrize("size", [(3, 4), (6, 2), (1, 1), (8, 9)])
def test_adaptive_windows_begin_and_end_at_the_rounded_shares(size: Any) -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, 6, 5))
    mean = F.adaptive_avg_pool2d(rl.tensor(x), size).numpy()
    largest, places = F.adaptive_max_pool2d(rl.tensor(x), size, return_indices=True)
    for i, j in product(range(size[0]), range(size[1])):
        rows = slice(i * 6 // size[0], -(-(i + 1) * 6 // size[0]))
        columns = slice(j * 5 // size[1], -(-(j + 1) * 5 // size[1]))
        part = x[:, :, rows, columns].reshape(2, 3, -1)
        assert np.allclose(mean[:, :, i, j], part.mean(2))
        assert np.array_equal(largest.numpy()[:, :, i, j], part.max(2))
    flat = rl.tensor(x).flatten(2)
    assert rl.equal(flat.gather(2, places.flatten(2)), largest.flatten(2))


def test_unpooling_puts_the_maxima_where_they_were() -> None:
    x = rl.randn(2, 3, 6, 4)
    values, places = F.max_pool2d(x, 2, return_indices=True)
    back = F.max_unpool2d(values, places, 2)
    assert back.shape == x.shape
    assert rl.equal(back[back != 0], x[back != 0])
    assert int((back != 0).sum()) == values.numel()


def test_fractional_pooling_covers_the_input_and_names_its_places() -> None:
    x = rl.randn(2, 3, 9, 8)
    rl.manual_seed(3)
    values, places = F.fractional_max_pool2d(x, 2, output_size=(5, 4), return_indices=True)
    assert values.shape == (2, 3, 5, 4)
    assert rl.equal(x.flatten(2).gather(2, places.flatten(2)), values.flatten(2))
    rl.manual_seed(3)
    assert rl.equal(F.fractional_max_pool2d(x, 2, output_size=(5, 4)), values)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: F.max_pool2d(x, 3, 2, 1),
        lambda x: F.max_pool2d(x, 2, 1, dilation=2),
        lambda x: F.avg_pool2d(x, 3, 2, 1, True, False),
        lambda x: F.avg_pool2d(x, 2, 3, divisor_override=3),
        lambda x: F.adaptive_avg_pool2d(x, (3, 7)),
        lambda x: F.adaptive_max_pool2d(x, (3, 2)),
        lambda x: F.lp_pool2d(x, 3, 2),
        lambda x: F.avg_pool1d(x[0], 3, 2, 1),
        lambda x: F.max_pool3d(x, 2),
        lambda x: F.avg_pool3d(x, (1, 3, 2), 1, (0, 1, 1)),
    ],
)
def test_first_and_second_gradients_are_slopes(f: Any) -> None:
    rl.manual_seed(0)
    x = (rl.randperm(2 * 2 * 6 * 5).double() / 7 + 0.1).reshape(2, 2, 6, 5).requires_grad_()
    assert gradcheck(f, (x,), fast_mode=True)
    assert gradgradcheck(f, (x,), fast_mode=True)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda z: F.max_pool2d(z, 2, padding=2), "pad should be at most half of effective kernel"),
        (lambda z: F.avg_pool2d(z, 2, stride=0), "stride should not be zero"),
        (lambda z: F.avg_pool2d(z, 9), "Output size is too small"),
        (lambda z: F.avg_pool2d(z, 2, divisor_override=0), "divisor must be not zero"),
        (lambda z: F.max_pool2d(z, (2, 2, 2)), "kernel_size must either be a single int, or a"),
        (lambda z: F.max_pool1d(z[0], 2, padding=2), "max_pool1d() padding should be at most half"),
        (lambda z: F.adaptive_avg_pool2d(z, -1), "must be greater than or equal to 0"),
        (lambda z: F.fractional_max_pool2d(z, 2, output_size=4), "pool height 2 too large"),
    ],
)
def test_what_does_not_fit_is_refused_in_pytorchs_words(call: Any, words: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        call(rl.zeros(1, 2, 4, 4))
    assert words in str(caught.value)


def test_places_that_were_written_are_noticed():
    for f in (
        lambda x: F.max_pool2d(x, 2, return_indices=True),
        lambda x: x.max(3),
        lambda x: x.sort(1),
        lambda x: x.topk(2),
    ):
        y, places = f(rl.randn(2, 2, 4, 4, requires_grad=True))
        places.fill_(0)
        with pytest.raises(RuntimeError, match=r"\] is at version 1; expected version 0"):
            y.sum().backward()


def test_fractional_pooling_takes_one_number_or_one_for_each_dimension() -> None:
    x = rl.randn(1, 2, 4, 5)
    with pytest.raises(RuntimeError, match="kernel_size must either be a single Int or tuple of"):
        F.fractional_max_pool2d(x, [1], 2)
    with pytest.raises(RuntimeError, match="output_size must either be a single Int or tuple of"):
        F.fractional_max_pool2d(x, 1, [2])
    with pytest.raises(RuntimeError, match=r"negative dimension -1: \[1, 2, -1, -1\]"):
        F.fractional_max_pool2d(x, 1, -1)


def test_the_largest_of_nothing_is_minus_infinity() -> None:
    found = F.fractional_max_pool2d(rl.randn(1, 2, 4, 5), -1, 2)
    assert rl.equal(found, rl.full((1, 2, 2, 2), -float("inf")))


def test_unpooling_into_nothing_looks_at_no_element() -> None:
    x, places = rl.randn(2, 3, 4, 5) > 0, rl.ones(2, 3, 4, 5, dtype=rl.int64)
    assert F.max_unpool2d(x, places, [1, 0]).shape == (2, 3, 4, 0)
    with pytest.raises(RuntimeError, match="strides should be greater than zero"):
        F.max_unpool3d(x, places, [1, 1, 0])
    with pytest.raises(RuntimeError, match="non-zero size for non-batch dimensions"):
        F.max_unpool2d(x[..., :0], places[..., :0], [1, 1])
    with pytest.raises(ValueError, match=r"non-negative spatial .* output_size\[0\]=-8"):
        F.max_unpool2d(x, places, [1, 1], [-3, 1])


@pytest.mark.parametrize("dtype", [rl.complex64, rl.int64])
def test_means_of_no_elements_have_any_type(dtype: rl.dtype) -> None:
    found = F.adaptive_avg_pool1d(rl.ones(0, 2, 3, dtype=dtype), 2)
    assert found.dtype is dtype and found.shape == (0, 2, 2)
    assert F.adaptive_avg_pool2d(rl.ones(2, 3, 3, dtype=dtype), (0, 2)).shape == (2, 0, 2)
    with pytest.raises(NotImplementedError, match="adaptive_avg_pool2d"):
        F.adaptive_avg_pool1d(rl.ones(1, 2, 3, dtype=dtype), 2)
