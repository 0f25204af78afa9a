"""The inverse gamma distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from . import constraints
from ._ground import f, inf
from .gamma import Gamma
from .transformed_distribution import TransformedDistribution
from .transforms import PowerTransform
from .utils import _attribute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor


class InverseGamma(TransformedDistribution):
    """1 / X, X from Gamma(concentration, rate)."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    base_dist: Gamma

    def __init__(
        self, concentration: Tensor | float, rate: Tensor | float, validate_args: bool | None = None
    ) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Self | None = None) -> Self:
        return super().expand(batch_shape, self._get_checked_instance(InverseGamma, _instance))

    concentration = _attribute(
        "base_dist.concentration", "The concentration of the gamma distribution."
    )
    rate = _attribute("base_dist.rate", "The rate of the gamma distribution.")

    @property
    def mean(self) -> Tensor:
        result = self.rate / (self.concentration - 1)
        return f.where(self.concentration > 1, result, inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        a = self.concentration
        result = self.rate.square() / ((a - 1).square() * (a - 2))
        return f.where(a > 2, result, inf)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


__all__ = ["InverseGamma"]
