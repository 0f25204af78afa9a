"""The relaxed Bernoulli distribution: a differentiable stand-in for throws of a coin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from . import constraints
from ._ground import f
from .bernoulli import BinaryOutcome
from .distribution import value_checked
from .transformed_distribution import TransformedDistribution
from .transforms import SigmoidTransform
from .utils import _attribute, broadcast_all, clamp_probs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor


class LogitRelaxedBernoulli(BinaryOutcome):
    """The log odds of a relaxed Bernoulli number: (logits + logistic noise) / temperature."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True
    _parameters = {"probs": 0, "logits": 0}

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        super().__init__(self._take(probs, logits), validate_args=validate_args)

    def _expand_rest(self, new: Self, batch: Sequence[int]) -> None:
        new.temperature = self.temperature
        super()._expand_rest(new, batch)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        p = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(f.rand(shape, dtype=p.dtype, device=p.device))
        return (u.log() - (-u).log1p() + p.log() - (-p).log1p()) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        logits, value = broadcast_all(self.logits, value)
        difference = logits - value.mul(self.temperature)
        return self.temperature.log() + difference - 2 * difference.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """Numbers in (0, 1) that approach a Bernoulli distribution as the temperature falls."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    base_dist: LogitRelaxedBernoulli

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Self | None = None) -> Self:
        return super().expand(batch_shape, self._get_checked_instance(RelaxedBernoulli, _instance))

    temperature = _attribute("base_dist.temperature", "The temperature.")
    logits = _attribute("base_dist.logits", "The log odds.")
    probs = _attribute("base_dist.probs", "The probability of 1.")


__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]
