"""The gamma distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import constraints
from ._ground import f, finfo, special
from .distribution import value_checked
from .exp_family import ExponentialFamily
from .utils import broadcast_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor


class Gamma(ExponentialFamily):
    """The density rate^a x^(a - 1) exp(-rate · x) / Γ(a), a the concentration."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    _parameters = {"concentration": 0, "rate": 0}

    def __init__(
        self, concentration: Tensor | float, rate: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        value = f._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        # Zero has no logarithm; the gradient isn't to see the bound.
        value.detach().clamp_(min=finfo(value.dtype).tiny)
        return value

    def log_prob(self, value: Tensor) -> Tensor:
        value = f.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        value_checked(self, value)
        a, rate = self.concentration, self.rate
        return f.xlogy(a, rate) + f.xlogy(a - 1, value) - rate * value - f.lgamma(a)

    def cdf(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        return special.gammainc(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - f.log(self.rate) + f.lgamma(a) + (1.0 - a) * f.digamma(a)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration - 1, -self.rate)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        return f.lgamma(x + 1) + (x + 1) * f.log(-y.reciprocal())


__all__ = ["Gamma"]
