"""`torch.nn.grad`: the two gradients of a convolution, asked for one at a time."""

from typing import Any

from ..autograd import enable_grad, grad
from ._ground import f

__all__ = [
    "conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input",
    "conv3d_weight",
]  # fmt: skip


def _gradient(
    dims: int, input: Any, weight: Any, of: int, grad_output: Any, options: tuple[Any, ...]
) -> Any:
    """The gradient of the convolution for its input (0) or its weight (1)."""
    given = [input.detach(), weight.detach()]
    with enable_grad():
        given[of].requires_grad_()
        stride, padding, dilation, groups = options
        conv = getattr(f, f"conv{dims}d")
        out = conv(given[0], given[1], None, stride, padding, dilation, groups)
        return grad(out, given[of], grad_output)[0]


def _for_input(dims: int, size: Any, weight: Any, grad_output: Any, *options: Any) -> Any:
    if size is None:
        raise ValueError(f"grad.conv{dims}d_input requires specifying an input_size")
    return _gradient(dims, grad_output.new_zeros(size), weight, 0, grad_output, options)


def _for_weight(dims: int, input: Any, size: Any, grad_output: Any, *options: Any) -> Any:
    return _gradient(dims, input, grad_output.new_zeros(size), 1, grad_output, options)


def conv1d_input(
    input_size: Any, weight: Any, grad_output: Any, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """The gradient of `conv1d` for its input."""
    return _for_input(1, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv1d_weight(
    input: Any, weight_size: Any, grad_output: Any, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """The gradient of `conv1d` for its weight."""
    return _for_weight(1, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv2d_input(
    input_size: Any, weight: Any, grad_output: Any, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """The gradient of `conv2d` for its input."""
    return _for_input(2, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv2d_weight(
    input: Any, weight_size: Any, grad_output: Any, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """The gradient of `conv2d` for its weight."""
    return _for_weight(2, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv3d_input(
    input_size: Any, weight: Any, grad_output: Any, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """The gradient of `conv3d` for its input."""
    return _for_input(3, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv3d_weight(
    input: Any, weight_size: Any, grad_output: Any, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """The gradient of `conv3d` for its weight."""
    return _for_weight(3, input, weight_size, grad_output, stride, padding, dilation, groups)
