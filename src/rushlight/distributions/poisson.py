"""The Poisson distribution: how many events fall into an interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import constraints
from ._ground import f, no_grad
from .distribution import value_checked
from .exp_family import ExponentialFamily
from .utils import _attribute, broadcast_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor


class Poisson(ExponentialFamily):
    """P(k) = λ^k e^-λ / k!"""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer
    _parameters = {"rate": 0}

    def __init__(self, rate: Tensor | float, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        shape = () if isinstance(rate, (int, float, bool)) else self.rate.size()
        super().__init__(shape, validate_args=validate_args)

    mean = _attribute("rate")

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    variance = _attribute("rate")

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return f.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (f.log(self.rate),)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        return f.exp(natural_params[0])


__all__ = ["Poisson"]
