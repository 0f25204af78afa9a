"""Convolution against its definition, and what follows from it: adjoints, gradients, layouts."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import rushlight as rl
from rushlight.autograd import gradcheck, gradgradcheck
from rushlight.nn import functional as F

SETTINGS = [
    # input, weight, stride, padding, dilation, groups
    ((2, 3, 7), (4, 3, 3), 1, 1, 1, 1),
    ((2, 4, 9), (6, 2, 2), 2, 0, 2, 2),
    ((2, 3, 6, 5), (4, 3, 3, 2), (1, 1), (2, 1), (1, 1), 1),
    ((3, 4, 6, 5), (4, 1, 3, 3), (1, 1), (1, 1), (1, 1), 4),
    ((3, 4, 6, 5), (8, 1, 3, 3), (2, 1), (1, 1), (1, 2), 4),
    ((2, 4, 5, 5), (6, 2, 2, 2), (1, 1), (0, 1), (2, 1), 2),
    ((2, 5, 4, 4), (3, 5, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    ((2, 5, 4, 4), (3, 5, 1, 1), (2, 2), (1, 0), (1, 1), 1),
    ((1, 2, 4, 3, 4), (2, 2, 2, 2, 3), (1, 2, 1), (1, 0, 1), (1, 1, 1), 1),
    ((40, 2, 12, 12), (3, 2, 3, 3), (1, 1), (1, 1), (1, 1), 1),  # wide: a product per sample
]


def _each(value: Any, dims: int) -> tuple[int, ...]:
    return (value,) * dims if isinstance(value, int) else value


def by_definition(x: Any, w: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """The convolution, output place by output place."""
    dims = w.ndim - 2
    stride, padding, dilation = (_each(v, dims) for v in (stride, padding, dilation))
    x = np.pad(x, [(0, 0), (0, 0), *[(p, p) for p in padding]])
    out = [
        (n - d * (k - 1) - 1) // s + 1
        for n, k, s, d in zip(x.shape[2:], w.shape[2:], stride, dilation)
    ]
    y = np.zeros((x.shape[0], w.shape[0], *out), x.dtype)
    rows, columns = w.shape[0] // groups, x.shape[1] // groups
    for at in product(*[range(n) for n in out]):
        window = x[
            (slice(None), slice(None))
            + tuple(
                slice(i * s, i * s + d * (k - 1) + 1, d)
                for i, s, d, k in zip(at, stride, dilation, w.shape[2:])
            )
        ]
        for o in range(w.shape[0]):
            g = o // rows
            part = window[:, g * columns : (g + 1) * columns] * w[o]
            y[(slice(None), o, *at)] = part.reshape(len(x), -1).sum(1)
    return y


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_a_convolution_is_the_sum_over_windows(setting: Any, dtype: str) -> None:
    x_shape, w_shape, *rest = setting
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(s).astype(dtype) for s in (x_shape, w_shape))
    if dtype == "complex128":
        x, w = x + 1j * x[::-1], w - 0.5j * w
    b = rng.standard_normal(w_shape[0]).astype(dtype)
    function = getattr(F, f"conv{len(w_shape) - 2}d")
    y = function(rl.tensor(x), rl.tensor(w), rl.tensor(b), *rest)
    wanted = by_definition(x, w, *rest) + b.reshape(-1, *(1,) * (len(w_shape) - 2))
    assert np.allclose(y.numpy(), wanted)
    assert y.is_contiguous()


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_transposed_convolution_is_the_adjoint(setting: Any) -> None:
    x_shape, w_shape, stride, padding, dilation, groups = setting
    dims = len(w_shape) - 2
    rl.manual_seed(0)
    x = rl.randn(x_shape, dtype=rl.float64)
    w = rl.randn(w_shape, dtype=rl.float64)
    y = getattr(F, f"conv{dims}d")(x, w, None, stride, padding, dilation, groups)
    u = rl.randn_like(y)
    smallest = [
        (n - 1) * s - 2 * p + d * (k - 1) + 1
        for n, s, p, d, k in zip(
            y.shape[2:], *(_each(v, dims) for v in (stride, padding, dilation)), w_shape[2:]
        )
    ]
    extra = tuple(n - low for n, low in zip(x_shape[2:], smallest))
    back = getattr(F, f"conv_transpose{dims}d")(
        u, w, None, stride, padding, extra, groups, dilation
    )
    assert back.shape == x.shape
    assert rl.allclose((y * u).sum(), (x * back).sum())


@pytest.mark.parametrize("setting", SETTINGS[:-1], ids=str)
def test_first_and_second_gradients_are_slopes(setting: Any) -> None:
    x_shape, w_shape, *rest = setting
    dims = len(w_shape) - 2
    rl.manual_seed(1)
    inputs = [
        rl.randn(s, dtype=rl.float64, requires_grad=True) for s in (x_shape, w_shape, w_shape[:1])
    ]
    function = getattr(F, f"conv{dims}d")
    assert gradcheck(lambda x, w, b: function(x, w, b, *rest), inputs, fast_mode=True)
    assert gradgradcheck(lambda x, w, b: function(x, w, b, *rest), inputs, fast_mode=True)


def test_gradients_of_a_transposed_convolution_with_output_padding_are_slopes() -> None:
    rl.manual_seed(2)
    x = rl.randn(2, 4, 3, 2, dtype=rl.float64, requires_grad=True)
    w = rl.randn(4, 3, 2, 3, dtype=rl.float64, requires_grad=True)
    b = rl.randn(6, dtype=rl.float64, requires_grad=True)

    def f(x: Any, w: Any, b: Any) -> Any:
        # An output padding may reach the dilation: the last places get nothing but the bias.
        return F.conv_transpose2d(x, w, b, (2, 1), (1, 0), (1, 2), 2, (1, 3))

    assert gradcheck(f, (x, w, b), fast_mode=True)
    assert gradgradcheck(f, (x, w, b), fast_mode=True)


@pytest.mark.filterwarnings("ignore:Using padding='same'")
def test_same_padding_keeps_the_size_and_puts_the_odd_element_at_the_end() -> None:
    x = rl.arange(5.0).reshape(1, 1, 5)
    y = F.conv1d(x, rl.tensor([[[1.0, 10.0]]]), padding="same")
    assert y.tolist() == [[[10.0, 21.0, 32.0, 43.0, 4.0]]]
    for k, d in ((1, 1), (3, 2), (4, 1), (2, 3)):
        assert F.conv1d(x, rl.ones(1, 1, k), padding="same", dilation=d).shape == x.shape


def test_an_input_without_a_batch_gives_an_output_without_one() -> None:
    x, w = rl.randn(3, 6, 6), rl.randn(4, 3, 3, 3)
    assert rl.equal(F.conv2d(x, w), F.conv2d(x[None], w)[0])


def test_channels_last_inputs_give_channels_last_outputs() -> None:
    x = rl.randn(2, 3, 5, 4).permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)
    w = rl.randn(4, 3, 3, 3)
    y = F.conv2d(x, w, padding=1)
    assert y.stride() == (80, 1, 16, 4)
    assert rl.allclose(y, F.conv2d(x.contiguous(), w, padding=1), atol=1e-5)


def test_half_precision_is_summed_in_single_precision() -> None:
    x = rl.full((1, 1, 5000), 1.0, dtype=rl.float16)
    y = F.conv1d(x, rl.ones(1, 1, 5000, dtype=rl.float16))
    assert y.dtype is rl.float16
    assert y.item() == 5000.0  # sums in half precision stop at 2048


def test_empty_batches_and_empty_channels_give_empty_and_zero_results() -> None:
    w = rl.ones(2, 3, 3, 3, requires_grad=True)
    y = F.conv2d(rl.zeros(0, 3, 4, 4), w, rl.ones(2))
    assert y.shape == (0, 2, 2, 2)
    y.sum().backward()
    assert w.grad.abs().sum().item() == 0


def test_the_graph_names_the_operation_and_what_it_has_saved() -> None:
    x, w = rl.randn(1, 2, 4), rl.randn(3, 2, 2, requires_grad=True)
    node = F.conv1d(x, w, rl.zeros(3), stride=2).grad_fn
    assert type(node).__name__ == "ConvolutionBackward0"
    assert node._saved_stride == (2,)
    assert node._saved_transposed is False
    assert node._saved_bias_sym_sizes_opt == (3,)
    assert rl.equal(node._saved_input, x)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda z: F.conv2d(z(1, 3, 4, 4), z(2, 2, 3, 3)), "to have 2 channels, but got 3"),
        (lambda z: F.conv2d(z(1, 2, 4, 4), z(2, 2, 5, 5)), "Kernel size: (5 x 5). Kernel size"),
        (lambda z: F.conv2d(z(2, 4), z(2, 2, 3, 3)), "input to conv2d, but got input of size: [2,"),
        (lambda z: F.conv2d(z(1, 2, 4, 4), z(2, 2, 3, 3), stride=0), "non-positive stride"),
        (lambda z: F.conv2d(z(1, 2, 4, 4), z(2, 2, 3, 3), padding=-1), "negative padding"),
        (lambda z: F.conv2d(z(1, 2, 4, 4), z(3, 1, 3, 3), groups=2), "to be divisible by 2"),
        (lambda z: F.conv2d(z(1, 2, 4, 4), z(2, 2, 3, 3), z(3)), "1-dimensional with 2 elements"),
        (lambda z: F.conv2d(z(1, 2, 4, 4), z(2, 2, 3, 3).double()), "expected scalar type Float"),
        (lambda z: F.conv_transpose1d(z(1, 2, 2), z(2, 2, 3), padding=5), "Output size is too"),
        (
            lambda z: F.conv_transpose2d(z(1, 2, 4, 4), z(2, 2, 3, 3), output_padding=1),
            "output padding must be smaller than either stride or dilation",
        ),
    ],
)
def test_what_does_not_fit_is_refused_in_pytorchs_words(call: Any, words: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        call(rl.zeros)
    assert words in str(caught.value)


def test_arguments_of_a_wrong_kind_are_listed_with_the_signatures() -> None:
    with pytest.raises(TypeError) as caught:
        F.conv2d(rl.zeros(1, 2, 4, 4), rl.zeros(2, 2, 3, 3), stride="a")
    assert 'str padding = "valid"' in str(caught.value)
    assert "got (Tensor, Tensor, stride=str)" in str(caught.value)


def test_no_channels_give_no_channels() -> None:
    with pytest.warns(UserWarning, match="zero-element"):
        layer = rl.nn.Conv1d(0, 8, 2, stride=2)
    x = rl.randn(2, 0, 15, requires_grad=True)
    y = layer(x)
    assert y.shape == (2, 0, 7)
    y.sum().backward()
    assert layer.bias.grad.tolist() == [0] * 8
    assert layer.weight.grad.shape == (8, 0, 2)
    assert x.grad.shape == x.shape


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_whole_numbers_of_less_than_64_bits_have_no_dilated_convolution(dims):
    run = getattr(F, f"conv{dims}d")
    x, w = rl.ones(1, 1, *[4] * dims), rl.ones(1, 1, *[2] * dims)
    assert run(x.long(), w.long(), dilation=2).unique().tolist() == [2**dims]
    assert run(x.int(), w.int()).unique().tolist() == [2**dims]
    for weight in (w.int(), w):  # which isn't looked at before
        with pytest.raises(NotImplementedError, match=r'"slow_conv_dilated<>" not .* for .Int.$'):
            run(x.int(), weight, dilation=2)
    assert run(x[:0].int(), w.int(), dilation=2).shape[0] == 0


@pytest.mark.parametrize(
    ("options", "kernel"),
    [({}, "slow_conv3d_cpu"), ({"padding": "same"}, "slow_conv3d_cpu"),
     ({"stride": 2}, "compute_columns3d"), ({"padding": 1}, "compute_columns3d")],
)  # fmt: skip
def test_a_convolution_of_bools_names_the_kernel_that_it_lacks(options: Any, kernel: str) -> None:
    x, w = rl.ones(1, 1, 4, 4, 4).bool(), rl.ones(1, 1, 1, 1, 1).bool()
    with pytest.raises(NotImplementedError, match=f'"{kernel}" not implemented'):
        rl.conv3d(x, w, **options)
