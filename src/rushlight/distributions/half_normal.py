"""The half-normal distribution: the absolute value of a normal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ._half import Half
from .normal import Normal

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor


class HalfNormal(Half):
    """|X|, X normal with mean 0 and standard deviation `scale`."""

    def __init__(self, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)


__all__ = ["HalfNormal"]
