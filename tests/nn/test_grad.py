"""`nn.grad`: the gradients of convolutions as functions."""

import pytest

import rushlight
from rushlight import nn
from rushlight.nn import functional as F

SIZES = {1: (7,), 2: (7, 6), 3: (5, 4, 6)}


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("options", [(1, 0, 1, 1), (2, 1, 1, 2), (1, 2, 2, 1)])
def test_they_are_what_backward_gives(dims: int, options: tuple[int, ...]) -> None:
    groups = options[3]
    x = rushlight.randn(2, 4, *SIZES[dims]).requires_grad_()
    w = rushlight.randn(6, 4 // groups, *([3] * dims)).requires_grad_()
    y = getattr(F, f"conv{dims}d")(x, w, None, *options)
    g = rushlight.randn(*y.shape)
    y.backward(g)
    of_input = getattr(nn.grad, f"conv{dims}d_input")(x.shape, w.detach(), g, *options)
    of_weight = getattr(nn.grad, f"conv{dims}d_weight")(x.detach(), w.shape, g, *options)
    assert rushlight.allclose(of_input, x.grad, atol=1e-5)
    assert rushlight.allclose(of_weight, w.grad, atol=1e-4)
    assert not of_input.requires_grad


def test_they_can_be_differentiated_again() -> None:
    w = rushlight.randn(3, 2, 3).requires_grad_()
    g = rushlight.randn(1, 3, 5)
    nn.grad.conv1d_input((1, 2, 7), w, g).sum().backward()
    assert w.grad is not None
    assert rushlight.allclose(w.grad, g.sum(2).reshape(3, 1, 1).expand(3, 2, 3), atol=1e-5)


def test_a_gradient_of_another_shape_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"of the convolution's shape \[1, 3, 5\]"):
        nn.grad.conv1d_input((1, 2, 7), rushlight.ones(3, 2, 3), rushlight.ones(1, 3, 4))
