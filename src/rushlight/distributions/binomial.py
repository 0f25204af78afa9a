"""The binomial distribution: how many of n throws succeed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import constraints
from ._ground import f, no_grad
from .bernoulli import BinaryOutcome, either
from .distribution import value_checked
from .utils import broadcast_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor
    from .constraints import Constraint


def softplus_of(x: Tensor) -> Tensor:
    """log(1 + e^x), written so that nothing overflows."""
    return x.clamp(min=0) + (-x.abs()).exp().log1p()


class Binomial(BinaryOutcome):
    """P(k) = C(n, k) p^k (1 - p)^(n - k), for k = 0 … n."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True
    _parameters = {"total_count": 0, "probs": 0, "logits": 0}

    def __init__(
        self,
        total_count: Tensor | float = 1,
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

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return f.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        n = self.total_count
        ways = f.lgamma(n + 1) - f.lgamma(value + 1) - f.lgamma(n - value + 1)
        return ways + value * self.logits - n * softplus_of(self.logits)

    def _all_counts(self, what: str) -> int:
        total = int(self.total_count.max())
        if not self.total_count.min() == total:
            raise NotImplementedError(what)
        return total

    def entropy(self) -> Tensor:
        self._all_counts("Inhomogeneous total count not supported by `entropy`.")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(f.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        total = self._all_counts("Inhomogeneous total count not supported by `enumerate_support`.")
        values = f.arange(1 + total, dtype=self._param.dtype, device=self._param.device)
        return self._enumerate(values, expand)


__all__ = ["Binomial"]
