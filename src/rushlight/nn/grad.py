"""The gradients of convolutions, as functions of their own."""

from __future__ import annotations

from typing import Any

from ..autograd import grad as _grad
from ..autograd.grad_mode import enable_grad, is_grad_enabled
from ._ground import Tensor, f

__all__ = [
    "conv1d_input",
    "conv1d_weight",
    "conv2d_input",
    "conv2d_weight",
    "conv3d_input",
    "conv3d_weight",
]


def _back(
    dims: int, input: Any, weight: Any, of: Tensor, grad_output: Tensor, *options: Any
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
    return found  # type: ignore[no-any-return]


def _of_input(
    dims: int, input_size: Any, weight: Tensor, grad_output: Tensor, *options: Any
) -> Any:
    # Only the shape of the input counts: the convolution is linear in it.
    input = f.zeros(1, dtype=weight.dtype, device=weight.device).expand(input_size)
    input = input.detach().requires_grad_()
    return _back(dims, input, weight, input, grad_output, *options)


def _of_weight(
    dims: int, input: Tensor, weight_size: Any, grad_output: Tensor, *options: Any
) -> Any:
    weight = f.zeros(1, dtype=input.dtype, device=input.device).expand(weight_size)
    weight = weight.detach().requires_grad_()
    return _back(dims, input, weight, weight, grad_output, *options)


def conv1d_input(
    input_size: Any,
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of a convolution over one dimension for its input, of shape `input_size`."""
    found: Tensor = _of_input(1, input_size, weight, grad_output, stride, padding, dilation, groups)
    return found


def conv1d_weight(
    input: Tensor,
    weight_size: Any,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of a convolution over one dimension for its weight, of shape `weight_size`."""
    found: Tensor = _of_weight(
        1, input, weight_size, grad_output, stride, padding, dilation, groups
    )
    return found


def conv2d_input(
    input_size: Any,
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of a convolution over two dimensions for its input, of shape `input_size`."""
    found: Tensor = _of_input(2, input_size, weight, grad_output, stride, padding, dilation, groups)
    return found


def conv2d_weight(
    input: Tensor,
    weight_size: Any,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of a convolution over two dimensions for its weight, of shape `weight_size`."""
    found: Tensor = _of_weight(
        2, input, weight_size, grad_output, stride, padding, dilation, groups
    )
    return found


def conv3d_input(
    input_size: Any,
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of a convolution over three dimensions for its input, of shape `input_size`."""
    found: Tensor = _of_input(3, input_size, weight, grad_output, stride, padding, dilation, groups)
    return found


def conv3d_weight(
    input: Tensor,
    weight_size: Any,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of a convolution over three dimensions for its weight (`weight_size`)."""
    found: Tensor = _of_weight(
        3, input, weight_size, grad_output, stride, padding, dilation, groups
    )
    return found
