"""The gradients of convolutions, as functions of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..autograd import grad as _grad
from ..autograd.grad_mode import enable_grad, is_grad_enabled
from ._ground import Tensor, f

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._base.annotations import Shape

__all__ = [
    "conv1d_input",
    "conv1d_weight",
    "conv2d_input",
    "conv2d_weight",
    "conv3d_input",
    "conv3d_weight",
]


def _back(
    dims: int, input: Tensor, weight: Tensor, of: Tensor, grad_output: Tensor, *options: int
) -> Tensor:
    """The gradient of a convolution for `of`, one of its two operands."""
    recorded = is_grad_enabled() and any(
        t.requires_grad for t in (input, weight, grad_output) if t is not of
    )
    with enable_grad():
        output = getattr(f, f"conv{dims}d")(input, weight, None, *options)
    if output.shape != grad_output.shape:
        raise RuntimeError(
            f"Expected grad_output of the convolution's shape {list(output.shape)}, but got "
            f"{list(grad_output.shape)}"
        )
    (found,) = _grad((output,), (of,), (grad_output,), create_graph=recorded)
    return found


def _like(shape: Shape, other: Tensor) -> Tensor:
    """A leaf of this shape: a convolution is linear in each operand, so only the shape counts."""
    zero = f.zeros(1, dtype=other.dtype, device=other.device).expand(shape)
    return zero.detach().requires_grad_()


def _input_gradient(dims: int, over: str) -> Callable[..., object]:
    def gradient(
        input_size: Shape,
        weight: Tensor,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        input = _like(input_size, weight)
        options = stride, padding, dilation, groups
        return _back(dims, input, weight, input, grad_output, *options)

    return _name(
        gradient, f"conv{dims}d_input",
        f"The gradient of a convolution over {over} for its input, of shape `input_size`.",
    )  # fmt: skip


def _weight_gradient(dims: int, over: str) -> Callable[..., object]:
    def gradient(
        input: Tensor,
        weight_size: Shape,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        weight = _like(weight_size, input)
        options = stride, padding, dilation, groups
        return _back(dims, input, weight, weight, grad_output, *options)

    return _name(
        gradient, f"conv{dims}d_weight",
        f"The gradient of a convolution over {over} for its weight, of shape `weight_size`.",
    )  # fmt: skip


def _name(function: Callable[..., object], name: str, doc: str) -> Callable[..., object]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


conv1d_input = _input_gradient(1, "one dimension")
conv1d_weight = _weight_gradient(1, "one dimension")
conv2d_input = _input_gradient(2, "two dimensions")
conv2d_weight = _weight_gradient(2, "two dimensions")
conv3d_input = _input_gradient(3, "three dimensions")
conv3d_weight = _weight_gradient(3, "three dimensions")
