"""The exponential distribution: the time to the next event."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import constraints
from ._ground import f
from .distribution import value_checked
from .exp_family import ExponentialFamily
from .utils import broadcast_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor


class Exponential(ExponentialFamily):
    """The density rate · exp(-rate · x) for x >= 0."""

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    _parameters = {"rate": 0}

    def __init__(self, rate: Tensor | float, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        return f.zeros_like(self.rate)

    @property
    def stddev(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.rate.new(self._extended_shape(sample_shape)).exponential_() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        return 1 - f.exp(-self.rate * value)

    def icdf(self, value: Tensor) -> Tensor:
        return -f.log1p(-value) / self.rate

    def entropy(self) -> Tensor:
        return 1.0 - f.log(self.rate)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (-self.rate,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        return -f.log(-natural_params[0])


__all__ = ["Exponential"]
