"""The uniform distribution over an interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import constraints
from ._ground import f, nan
from .distribution import Distribution, value_checked
from .utils import broadcast_all

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor


class Uniform(Distribution):
    """Equally likely everywhere in [low, high)."""

    has_rsample = True
    _parameters = {"low": 0, "high": 0}

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.size(), validate_args=validate_args)

    @property
    def arg_constraints(self) -> Any:
        return {
            "low": constraints.less_than(self.high),
            "high": constraints.greater_than(self.low),
        }

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Any:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Any:
        return nan * self.high

    @property
    def stddev(self) -> Any:
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Any:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        u = f.rand(shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + u * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Any:
        value_checked(self, value)
        inside = self.low.le(value).type_as(self.low) * self.high.gt(value).type_as(self.low)
        return f.log(inside) - f.log(self.high - self.low)

    def cdf(self, value: Tensor) -> Any:
        value_checked(self, value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Any:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Any:
        return f.log(self.high - self.low)


__all__ = ["Uniform"]
