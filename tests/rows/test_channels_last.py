"""Results and gradients keep their channels last in memory where their inputs have them there."""

from typing import Any

import pytest

import rushlight as torch
import rushlight.nn.functional as F

LAST = torch.channels_last


def planes(n=2, c=3, h=4, w=6, gaps=False):
    x = torch.randn(n, c, h + 2, w + 2).contiguous(memory_format=LAST)
    return x[:, :, 1:-1, 1:-1] if gaps else x[:, :, :h, :w].contiguous(memory_format=LAST)


RESULTS = {
    "bilinear": lambda x: F.interpolate(x, (3, 5), mode="bilinear"),
    "bicubic": lambda x: F.interpolate(x, (3, 5), mode="bicubic"),
    "nearest, the same size": lambda x: F.interpolate(x, tuple(x.shape[2:])),
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 2),
    "adaptive means": lambda x: F.adaptive_avg_pool2d(x, 2),
    "one mean": lambda x: F.adaptive_avg_pool2d(x, 1),
    "adaptive maxima": lambda x: F.adaptive_max_pool2d(x, 1),
    "conv2d": lambda x: F.conv2d(x, torch.randn(4, x.shape[1], 3, 3), padding=1),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "group_norm": lambda x: F.group_norm(x, 1),
    "reflect": lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"),
}
CONTIGUOUS_GRADIENTS = ("bicubic", "one mean", "nearest, the same size")


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize("gaps", [False, True])
def test_results_follow_strides_that_rise_from_the_channels(name, gaps):
    y = RESULTS[name](planes(gaps=gaps))
    _, c, h, w = y.shape
    assert y.stride() == (h * w * c, 1, w * c, c)


@pytest.mark.parametrize("name", [n for n in RESULTS if n not in CONTIGUOUS_GRADIENTS])
def test_gradients_lie_as_their_inputs_do(name):
    x = planes().requires_grad_()
    y = RESULTS[name](x)
    (g,) = torch.autograd.grad(y, x, torch.ones_like(y))
    assert g.stride() == x.stride()


def test_one_sample_selected_from_several_leaves_it_open():
    x = planes()[0][None]
    assert F.interpolate(x, (3, 5)).stride() == (45, 15, 5, 1)
    assert F.max_pool2d(x, 2).stride() == (18, 6, 3, 1)


def test_the_gradient_for_weights_lies_as_the_result_does():
    w = torch.randn(4, 3, 3, 3, requires_grad=True)
    F.conv2d(planes(), w, padding=1).sum().backward()
    (g,) = torch.autograd.grad(F.conv2d(planes(), w).sum(), w)
    assert g.shape == w.shape
    y = F.conv2d(planes(), w)
    (g,) = torch.autograd.grad(y, w, torch.ones_like(y))
    assert g.stride() == (27, 1, 9, 3)


def test_five_dimensions_follow_where_pytorch_does():
    x = torch.randn(2, 3, 4, 4, 4).contiguous(memory_format=torch.channels_last_3d)
    assert F.max_pool3d(x, 2).is_contiguous(memory_format=torch.channels_last_3d)
    assert F.avg_pool3d(x, 2).is_contiguous()
    assert F.adaptive_avg_pool3d(x, 2).is_contiguous()
    assert F.adaptive_avg_pool3d(x, 1).stride() == (3, 1, 3, 3, 3)
    x.requires_grad_()
    y = F.interpolate(x, 3)
    assert y.is_contiguous(memory_format=torch.channels_last_3d)
    assert torch.autograd.grad(y, x, torch.ones_like(y))[0].is_contiguous()


def test_one_sample_of_three_dimensions_follows_where_it_fills_its_memory():
    x = torch.randn(3, 4, 4, 4).permute(1, 2, 3, 0).contiguous().permute(3, 0, 1, 2)
    y, where = F.max_pool3d(x, 2, return_indices=True)
    assert y.stride() == where.stride() == (1, 12, 6, 3)


@pytest.mark.parametrize("shape", [(8, 1, 3, 3), (4, 5, 1, 1), (2, 3, 4, 5)])
def test_a_conversion_copies_what_does_not_suggest_the_format(shape):
    x = torch.randn(*shape)
    _, c, h, w = shape
    steps = (c * h * w, 1, w * c, c)
    y = x.to(memory_format=LAST)
    assert y is not x and y.stride() == steps
    assert x.to(torch.float64, memory_format=LAST).stride() == steps
    assert x.bfloat16(memory_format=LAST).stride() == steps
    assert y.to(memory_format=LAST) is y
    assert y.to(memory_format=torch.contiguous_format).stride() == x.stride()
    for like in (y.clone(), y.detach().double(), torch.zeros_like(y), torch.ones_like(y)):
        assert like.stride() == steps
    assert torch.rand_like(y.bfloat16()).stride() == steps


def test_what_lies_so_with_gaps_is_not_converted():
    x = planes(gaps=True)
    assert x.to(memory_format=LAST) is x
    assert x.contiguous(memory_format=LAST) is not x


def test_a_filter_of_one_channel_says_how_the_result_lies():
    w = torch.randn(8, 1, 3, 3).to(memory_format=LAST)
    assert F.conv2d(torch.randn(2, 8, 4, 4), w, groups=8).stride() == (32, 1, 16, 8)


@pytest.mark.parametrize("convert", [torch.Tensor.to, torch.Tensor.double])
def test_a_conversion_copies_into_the_format_that_is_asked(convert: Any) -> None:
    x = torch.arange(24.0).reshape(2, 3, 2, 2).permute(3, 2, 1, 0).requires_grad_()
    given = (torch.float64,) if convert is torch.Tensor.to else ()
    made = convert(x, *given, memory_format=torch.contiguous_format)
    assert made.is_contiguous()
    assert made.grad_fn.name() == "ToCopyBackward0"
    last = convert(x, *given, memory_format=torch.channels_last)
    assert last.is_contiguous(memory_format=torch.channels_last)
    assert last.equal(made)
    (made.sum() + last.sum()).backward()
    assert x.grad.dtype is torch.float32
    assert (x.grad == 2).all()
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        convert(x[0], *given, memory_format=torch.channels_last)
    assert x.to(memory_format=torch.contiguous_format) is x  # its strides suggest no other
