"""Counting floating-point operations: by operator, by module, forward and backward."""

import pytest

import rushlight as torch
from rushlight.nn import functional as F
from rushlight.utils.flop_counter import FlopCounterMode


def _counted(function: object, *args: torch.Tensor) -> dict[str, int]:
    with FlopCounterMode(display=False) as mode:
        function(*args).sum().backward()  # type: ignore[operator]
    return {str(packet): n for packet, n in mode.get_flop_counts()["Global"].items()}


def test_each_gradient_of_a_convolution_counts_as_much_as_forward() -> None:
    x, w = torch.randn(2, 3, 9, 9), torch.randn(8, 3, 3, 3, requires_grad=True)
    forward = 2 * 2 * 7 * 7 * 8 * 3 * 9
    assert _counted(F.conv2d, x, w)["aten.convolution_backward"] == forward
    x.requires_grad_()
    assert _counted(F.conv2d, x, w) == {
        "aten.convolution": forward,
        "aten.convolution_backward": 2 * forward,
    }


@pytest.mark.parametrize("stride", [1, 2])
def test_a_transposed_convolution_counts_by_its_input(stride: int) -> None:
    x = torch.randn(2, 3, 5, 5, requires_grad=True)
    w = torch.randn(3, 8, 3, 3, requires_grad=True)
    forward = 2 * 2 * 25 * 3 * 8 * 9
    counted = _counted(lambda a, b: F.conv_transpose2d(a, b, stride=stride), x, w)
    assert counted == {"aten.convolution": forward, "aten.convolution_backward": 2 * forward}


def test_modules_are_charged_with_their_backward() -> None:
    net = torch.nn.Sequential(torch.nn.Conv1d(2, 4, 3), torch.nn.Flatten(), torch.nn.Linear(12, 2))
    with FlopCounterMode(display=False) as mode:
        net(torch.randn(1, 2, 5)).sum().backward()
    counts = mode.get_flop_counts()
    assert sum(counts["Sequential.0"].values()) == 2 * (2 * 3 * 4 * 2 * 3)
    assert sum(counts["Sequential"].values()) == mode.get_total_flops()


def test_the_backward_of_a_convolution_is_an_operator_of_its_own() -> None:
    x = torch.randn(2, 4, 6, 6, requires_grad=True)
    w = torch.randn(6, 2, 3, 3, requires_grad=True)
    b = torch.randn(6, requires_grad=True)
    y = F.conv2d(x, w, b, stride=2, padding=1, groups=2)
    g = torch.randn_like(y)
    wanted = torch.autograd.grad(y, (x, w, b), g)
    backward = torch.ops.aten.convolution_backward
    common = (g, x.detach(), w.detach(), [6], [2, 2], [1, 1], [1, 1], False, [0, 0], 2)
    for one, other in zip(backward(*common, [True, True, True]), wanted):
        torch.testing.assert_close(one, other)
    assert [part is None for part in backward(*common, [False, True, False])] == [True, False, True]
