"""The log-normal distribution: the exponential of a normal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from . import constraints
from .normal import Normal
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform
from .utils import _attribute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor


class LogNormal(TransformedDistribution):
    """e^X, X normal."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True
    base_dist: Normal

    def __init__(
        self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None
    ) -> None:
        super().__init__(
            Normal(loc, scale, validate_args=validate_args),
            ExpTransform(),
            validate_args=validate_args,
        )

    def expand(self, batch_shape: Sequence[int], _instance: Self | None = None) -> Self:
        return super().expand(batch_shape, self._get_checked_instance(LogNormal, _instance))

    loc = _attribute("base_dist.loc", "The mean of the logarithm.")
    scale = _attribute("base_dist.scale", "The standard deviation of the logarithm.")

    @property
    def mean(self) -> Tensor:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Tensor:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Tensor:
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc


__all__ = ["LogNormal"]
