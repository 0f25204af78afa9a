"""Distributions of absolute values: one that is symmetric around 0, folded over."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Self

from . import constraints
from ._ground import f, inf
from .distribution import value_checked
from .transformed_distribution import TransformedDistribution
from .transforms import AbsTransform
from .utils import _attribute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor
    from .cauchy import Cauchy
    from .normal import Normal


class Half(TransformedDistribution):
    """|X|, X from a distribution with a scale that is symmetric around 0."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    base_dist: Normal | Cauchy

    def __init__(self, whole: Normal | Cauchy, validate_args: bool | None) -> None:
        super().__init__(whole, AbsTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Self | None = None) -> Self:
        owner = next(c for c in type(self).__mro__ if Half in c.__bases__)
        return super().expand(batch_shape, self._get_checked_instance(owner, _instance))

    scale = _attribute("base_dist.scale", "The scale of the whole distribution.")

    @property
    def mode(self) -> Tensor:
        return f.zeros_like(self.scale)

    def log_prob(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        value = f.as_tensor(value, dtype=self.scale.dtype, device=self.scale.device)
        return f.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -inf)

    def cdf(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Tensor) -> Tensor:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)


__all__ = ["Half"]
