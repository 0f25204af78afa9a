"""Layers of convolution, pooling and resampling: parameters, settings, printed form, errors."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as rl
from rushlight import nn
from rushlight.nn import functional as F


def test_weights_start_uniform_within_the_bound_of_their_fan_in() -> None:
    rl.manual_seed(0)
    layer = nn.Conv2d(8, 16, 3, groups=2)
    assert layer.weight.shape == (16, 4, 3, 3)
    bound = (4 * 9) ** -0.5
    assert 0.9 * bound < layer.weight.abs().max().item() <= bound
    assert layer.bias.abs().max().item() <= bound
    rl.manual_seed(0)
    again = nn.Conv2d(8, 16, 3, groups=2)
    assert rl.equal(again.weight, layer.weight)
    assert nn.ConvTranspose2d(8, 6, 3, groups=2).weight.shape == (8, 3, 3, 3)


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_a_padding_mode_pads_the_input_before_the_convolution(mode: str) -> None:
    layer = nn.Conv2d(2, 3, 3, padding=(1, 2), padding_mode=mode)
    x = rl.randn(1, 2, 5, 6)
    wanted = F.conv2d(F.pad(x, (2, 2, 1, 1), mode), layer.weight, layer.bias)
    assert rl.equal(layer(x), wanted)


def test_layers_print_their_settings() -> None:
    assert repr(nn.Conv2d(2, 4, 3, padding="same", groups=2, bias=False)) == (
        "Conv2d(2, 4, kernel_size=(3, 3), stride=(1, 1), padding=same, groups=2, bias=False)"
    )
    assert repr(nn.ConvTranspose1d(2, 4, 3, 2, 1, 1)) == (
        "ConvTranspose1d(2, 4, kernel_size=(3,), stride=(2,), padding=(1,), output_padding=(1,))"
    )
    assert repr(nn.MaxPool2d(2)) == (
        "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)"
    )
    assert repr(nn.AvgPool1d(2)) == "AvgPool1d(kernel_size=(2,), stride=(2,), padding=(0,))"
    assert repr(nn.Upsample(scale_factor=2)) == "Upsample(scale_factor=2.0, mode='nearest')"
    assert repr(nn.AdaptiveAvgPool2d((None, 3))) == "AdaptiveAvgPool2d(output_size=(None, 3))"


def test_a_transposed_convolution_reaches_the_output_size_asked_for() -> None:
    down = nn.Conv2d(1, 2, 3, stride=2, padding=1)
    up = nn.ConvTranspose2d(2, 1, 3, stride=2, padding=1)
    x = rl.randn(3, 1, 12, 11)
    assert up(down(x), output_size=x.size()).shape == x.shape
    with pytest.raises(ValueError, match="valid sizes range from"):
        up(down(x), output_size=(40, 40))


def test_pooling_and_unpooling_layers_fit_together() -> None:
    pool, unpool = nn.MaxPool2d(2, return_indices=True), nn.MaxUnpool2d(2)
    x = rl.randn(1, 2, 5, 6)
    values, places = pool(x)
    assert unpool(values, places, output_size=x.size()).shape == x.shape


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: nn.Conv2d(3, 4, 3, groups=2), "in_channels must be divisible by groups"),
        (lambda: nn.Conv2d(4, 3, 3, groups=2), "out_channels must be divisible by groups"),
        (lambda: nn.Conv2d(4, 3, 3, groups=0), "groups must be a positive integer"),
        (lambda: nn.Conv2d(4, 3, 3, padding="foo"), "Invalid padding string 'foo'"),
        (lambda: nn.Conv2d(4, 3, 3, 2, "same"), "padding='same' is not supported for strided"),
        (lambda: nn.Conv2d(4, 3, 3, padding_mode="foo"), "padding_mode must be one of"),
        (lambda: nn.ConvTranspose1d(4, 3, 3, padding_mode="circular"), 'Only "zeros" padding mode'),
        (lambda: nn.FractionalMaxPool2d(2), "requires specifying either an output size, or a"),
        (lambda: nn.FractionalMaxPool3d(2, output_ratio=1.5), "output_ratio must be between 0"),
    ],
)
def test_impossible_settings_are_refused(make: Any, words: str) -> None:
    with pytest.raises(ValueError) as caught:
        make()
    assert words in str(caught.value)


def test_a_small_network_learns_to_tell_stripes_apart() -> None:
    rl.manual_seed(0)
    count = 32
    labels = rl.arange(count) % 2
    lines = (rl.arange(8) % 2).float()
    x = rl.where(
        labels.reshape(-1, 1, 1, 1) == 0, lines.reshape(1, 1, 1, 8), lines.reshape(1, 1, 8, 1)
    )
    x = x + 0.3 * rl.randn(count, 1, 8, 8)
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 4, 3), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2),
    )  # fmt: skip
    optimizer = rl.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(60):
        optimizer.zero_grad()
        F.cross_entropy(net(x), labels).backward()
        optimizer.step()
    assert (net(x).argmax(1) == labels).float().mean().item() > 0.95


@pytest.mark.parametrize(
    "layer, shape",
    [
        (lambda: nn.ConvTranspose2d(1, 1, 1, padding=1), (2, 1, 2, 2)),
        (lambda: nn.ConvTranspose2d(1, 1, 2, padding=1), (0, 1, 1, 3)),
        (lambda: nn.ConvTranspose2d(2, 4, 2, groups=2, padding=1), (1, 2, 1, 3)),
        (lambda: nn.ConvTranspose2d(1, 1, 1, padding=1).bfloat16(), (1, 1, 2, 2)),
        (lambda: nn.ConvTranspose2d(1, 1, 5, padding=3), (1, 1, 2, 2)),
        (lambda: nn.ConvTranspose1d(1, 1, 1, padding=1), (2, 1, 2)),
        (lambda: nn.ConvTranspose3d(1, 1, 1, padding=1), (2, 1, 2, 2, 2)),
    ],
)
def test_a_transposed_convolution_to_no_places_is_empty_and_has_zero_gradients(
    layer: Any, shape: tuple[int, ...]
) -> None:
    made = layer()
    x = rl.ones(shape, dtype=made.weight.dtype, requires_grad=True)
    y = made(x)
    assert y.shape[:2] == (shape[0], made.out_channels)
    assert y.numel() == 0
    assert 0 in y.shape[2:]
    y.sum().backward()
    assert rl.equal(x.grad, rl.zeros_like(x))
    assert rl.equal(made.weight.grad, rl.zeros_like(made.weight))


def test_pytorchs_own_kernel_refuses_no_places() -> None:
    text = r"Given input size per channel: \(2 x 2\). Calculated output size per channel: \(0 x 0\)"
    for dtype in (rl.float32, rl.float64, rl.float16):
        layer = nn.ConvTranspose2d(1, 1, 1, padding=1).to(dtype)
        with pytest.raises(RuntimeError, match=text):
            layer(rl.ones(1, 1, 2, 2, dtype=dtype))
    with pytest.raises(RuntimeError, match=r"\(1 x 2\).*\(1 x 0\). Output size is too small"):
        nn.ConvTranspose1d(1, 1, 1, padding=1)(rl.ones(1, 1, 2))
    with pytest.raises(RuntimeError, match=r"\(-1 x -1\). Output size is too small"):
        nn.ConvTranspose2d(1, 1, 1, padding=1)(rl.ones(2, 1, 1, 1))


def test_samples_without_places_are_refused() -> None:
    text = r"Only zero batch or zero channel inputs are supported, but got input shape: \[1, 1, "
    with pytest.raises(RuntimeError, match=text + r"0, 3\]"):
        nn.ConvTranspose2d(1, 1, 2)(rl.ones(1, 1, 0, 3))
    with pytest.raises(RuntimeError, match=text + r"1, 0\]"):
        nn.Conv1d(1, 1, 1, padding=1)(rl.ones(1, 1, 0))
    assert nn.ConvTranspose2d(1, 1, 2)(rl.ones(0, 1, 0, 3)).shape == (0, 1, 1, 4)
