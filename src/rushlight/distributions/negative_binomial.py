"""The negative binomial distribution: successes before a number of failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import constraints
from ._ground import f, no_grad
from .bernoulli import BinaryOutcome, either
from .distribution import value_checked
from .gamma import Gamma
from .utils import broadcast_all, lazy_property

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor


class NegativeBinomial(BinaryOutcome):
    """P(k) = Γ(k + n) / (k! Γ(n)) p^k (1 - p)^n, for k = 0, 1, …"""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer
    _parameters = {"total_count": 0, "probs": 0, "logits": 0}

    def __init__(
        self,
        total_count: Tensor | float,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        given = either(probs, logits)
        self.total_count, value = broadcast_all(total_count, given)
        self.total_count = self.total_count.type_as(value)
        self.__dict__["probs" if logits is None else "logits"] = value
        self._param = value
        super().__init__(value.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * f.exp(self.logits)

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / f.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Gamma:
        return Gamma(concentration=self.total_count, rate=f.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return f.poisson(self._gamma.sample(sample_shape=sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        n = self.total_count
        weight = n * (-self.logits).sigmoid().log() + value * self.logits.sigmoid().log()
        ways = -f.lgamma(n + value) + f.lgamma(1.0 + value) + f.lgamma(n)
        # Zero failures asked for: nothing can be drawn but 0, where both sides are infinite.
        ways = ways.masked_fill(n + value == 0.0, 0.0)
        return weight - ways


__all__ = ["NegativeBinomial"]
