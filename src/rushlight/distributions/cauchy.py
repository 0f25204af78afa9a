"""The Cauchy distribution, whose mean doesn't exist."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from . import constraints
from ._ground import f, inf, nan
from .distribution import Distribution, value_checked
from .utils import _attribute, broadcast_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor


class Cauchy(Distribution):
    """The density 1 / (π scale (1 + ((x - loc) / scale)²))."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _parameters = {"loc": 0, "scale": 0}

    def __init__(
        self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def _full(self, value: float) -> Tensor:
        return f.full(self._extended_shape(), value, dtype=self.loc.dtype, device=self.loc.device)

    @property
    def mean(self) -> Tensor:
        return self._full(nan)

    mode = _attribute("loc")

    @property
    def variance(self) -> Tensor:
        return self._full(inf)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        eps = self.loc.new(self._extended_shape(sample_shape)).cauchy_()
        return self.loc + eps * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        distance = ((value - self.loc) / self.scale) ** 2
        return -math.log(math.pi) - self.scale.log() - distance.log1p()

    def cdf(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        return f.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return f.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()


__all__ = ["Cauchy"]
