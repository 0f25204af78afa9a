"""A convolution or linear layer and the batch norm after it, as one layer."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, TypeVar

from .._ground import Tensor, f
from ..parameter import Parameter

if TYPE_CHECKING:
    from ..modules.module import Module

Layer = TypeVar("Layer", bound="Module")

__all__ = [
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
]


def _weights(
    weight: Tensor,
    bias: Tensor | None,
    mean: Tensor,
    var: Tensor,
    eps: float,
    scale: Tensor | None,
    shift: Tensor | None,
    place: int,
) -> tuple[Parameter, Parameter]:
    """Weight and bias with the norm's factor taken in, along dimension `place`."""
    if bias is None:
        bias = f.zeros_like(mean)
    scale = f.ones_like(mean) if scale is None else scale
    shift = f.zeros_like(mean) if shift is None else shift
    factor = scale * f.rsqrt(var + eps)
    shape = [1] * weight.dim()
    shape[place] = -1
    new_weight = (weight * factor.reshape(shape)).to(dtype=weight.dtype)
    new_bias = ((bias - mean) * factor + shift).to(dtype=bias.dtype)
    return (
        Parameter(new_weight.detach(), weight.requires_grad),
        Parameter(new_bias.detach(), bias.requires_grad),
    )


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the convolution that does the norm's work too.

    Parameters:
        conv_w, conv_b: weight and bias of the convolution; the bias may be None.
        bn_rm, bn_rv: the running mean and variance of the norm.
        bn_eps: what is added to the variance.
        bn_w, bn_b: weight and bias of the norm; None: ones and zeros.
        transpose: whether the convolution is a transposed one.
    Shapes: those of the weight and the bias.
    Returns: (weight, bias) of the convolution that does both.
    Raises: TypeError: for anything but tensors.
    Example:
        >>> zero, one = torch.zeros(1), torch.ones(1)
        >>> weight = torch.ones(1, 1, 1, 1)
        >>> w, b = nn.utils.fuse_conv_bn_weights(weight, None, one, one, 0.0, 2 * one, zero)
        >>> w.detach().flatten(), b.detach()
        (tensor([2.]), tensor([-2.]))
    """
    return _weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 1 if transpose else 0)


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor,
    bn_b: Tensor,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the linear layer that does the norm's work too.

    Parameters:
        linear_w, linear_b: weight and bias of the layer; the bias may be None.
        bn_rm, bn_rv: the running mean and variance of the norm.
        bn_eps: what is added to the variance.
        bn_w, bn_b: weight and bias of the norm.
    Shapes: those of the weight and the bias.
    Returns: (weight, bias) of the layer that does both.
    Raises: TypeError: for anything but tensors.
    Example:
        >>> zero, one = torch.zeros(1), torch.ones(1)
        >>> w, b = nn.utils.fuse_linear_bn_weights(
        ...     torch.ones(1, 1), None, one, one, 0.0, 2 * one, zero
        ... )
        >>> w.detach(), b.detach()
        (tensor([[2.]]), tensor([-2.]))
    """
    return _weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 0)


def _check(layer: Module, bn: Module) -> None:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")


def fuse_conv_bn_eval(conv: Layer, bn: Any, transpose: bool = False) -> Layer:
    """A copy of the convolution that gives what the norm after it would give, in evaluation.

    Raises: AssertionError in training.

    Parameters:
        conv: the convolution.
        bn: the norm.
        transpose: whether the convolution is a transposed one.
    Returns: a module like `conv`.
    Example:
        >>> conv, bn = nn.Conv2d(1, 2, 3).eval(), nn.BatchNorm2d(2).eval()
        >>> x = torch.ones(1, 1, 3, 3)
        >>> torch.allclose(nn.utils.fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)))
        True
    """
    _check(conv, bn)
    copied = copy.deepcopy(conv)
    fused: Any = copied
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias,
        transpose,
    )  # fmt: skip
    return copied


def fuse_linear_bn_eval(linear: Layer, bn: Any) -> Layer:
    """A copy of the linear layer that gives what the norm after it would give, in evaluation.

    Raises: AssertionError in training, and for features that can't be the norm's.

    Parameters:
        linear: the layer.
        bn: the norm.
    Returns: a module like `linear`.
    Example:
        >>> linear, bn = nn.Linear(2, 3).eval(), nn.BatchNorm1d(3).eval()
        >>> x = torch.ones(1, 2)
        >>> torch.allclose(nn.utils.fuse_linear_bn_eval(linear, bn)(x), bn(linear(x)))
        True
    """
    _check(linear, bn)
    copied = copy.deepcopy(linear)
    fused: Any = copied
    if not (fused.out_features == bn.num_features or bn.num_features == 1):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, "
            f"got linear.out_features={fused.out_features} and bn.num_features={bn.num_features}"
        )
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return copied
