"""Affine maps of the last dimension."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import functional as F, init
from .._ground import Tensor, f
from ..parameter import Parameter
from ._lookups import FOUND, ReadsParameters
from .module import Module

if TYPE_CHECKING:
    from ..._base.annotations import DeviceLike
    from ..._base.dtypes import dtype


__all__ = ["Bilinear", "Identity", "Linear"]


class Identity(Module):
    """Returns its input; accepts and ignores any constructor arguments."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(ReadsParameters, Module):
    """`input @ weight.T + bias`, along the last dimension.

    Weight and bias start uniform in ±1/√in_features.

    Shapes: input (*, in_features), output (*, out_features); weight (out_features, in_features),
    bias (out_features).
    """

    __constants__ = ["in_features", "out_features"]
    in_features: int
    out_features: int
    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(f.empty((out_features, in_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(f.empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws weight and bias afresh."""
        # Kaiming's bound with this slope is 1/sqrt(fan_in): the historic default.
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        # Straight from the table: `self.weight` would first look in three other places. Where a
        # parametrization or pruning took the parameter out of the table, the attribute decides.
        table: dict[str, Any] = self._parameters
        try:
            weight, bias = table["weight"], table["bias"]
            if FOUND and self._finds_attributes:
                weight, bias = self.weight, self.bias
        except KeyError:
            weight, bias = self.weight, self.bias
        return F.linear(input, weight, bias)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class NonDynamicallyQuantizableLinear(Linear):
    """`Linear` under another name: the projection of what comes out of attention."""


class Bilinear(Module):
    """`x1 · weight[k] · x2 + bias[k]` for each output feature k.

    Shapes: inputs (*, in1_features) and (*, in2_features), output (*, out_features).
    """

    __constants__ = ["in1_features", "in2_features", "out_features"]
    in1_features: int
    in2_features: int
    out_features: int
    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        shape = (out_features, in1_features, in2_features)
        self.weight = Parameter(f.empty(shape, device=device, dtype=dtype))
        if in1_features == 0:
            raise ValueError(f"in1_features must be > 0, but got ({in1_features=})")
        if bias:
            self.bias = Parameter(f.empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws weight and bias afresh, uniform in ±1/√in1_features."""
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )
