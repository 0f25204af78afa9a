"""The half-Cauchy distribution: the absolute value of a Cauchy number."""

from __future__ import annotations

import math
from typing import Any

from . import constraints
from ._ground import f, inf
from .cauchy import Cauchy
from .distribution import value_checked
from .transformed_distribution import TransformedDistribution
from .transforms import AbsTransform


class HalfCauchy(TransformedDistribution):
    """|X|, X from Cauchy(0, scale)."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(
            Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args
        )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, self._get_checked_instance(HalfCauchy, _instance))

    @property
    def scale(self) -> Any:
        """The scale of the Cauchy distribution."""
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        return f.full(self._extended_shape(), inf, dtype=self.scale.dtype, device=self.scale.device)

    @property
    def mode(self) -> Any:
        return f.zeros_like(self.scale)

    @property
    def variance(self) -> Any:
        return self.base_dist.variance

    def log_prob(self, value: Any) -> Any:
        value_checked(self, value)
        value = f.as_tensor(value, dtype=self.scale.dtype, device=self.scale.device)
        return f.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -inf)

    def cdf(self, value: Any) -> Any:
        value_checked(self, value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Any) -> Any:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Any:
        return self.base_dist.entropy() - math.log(2)


__all__ = ["HalfCauchy"]
