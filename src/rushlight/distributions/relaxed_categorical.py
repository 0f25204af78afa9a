"""The relaxed categorical distribution (Concrete, Gumbel-softmax)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from . import constraints
from ._ground import f
from .categorical import Categorical
from .distribution import Distribution, value_checked
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform
from .utils import _attribute, broadcast_all, clamp_probs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._base.annotations import Shape
    from .._tensor.tensor import Tensor


class ExpRelaxedCategorical(Distribution):
    """The logarithm of a relaxed one-hot vector."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True
    _parameters: dict[str, int] = {}

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        super().__init__(
            self._categorical.batch_shape,
            self._categorical.param_shape[-1:],
            validate_args=validate_args,
        )

    def _expand_rest(self, new: Self, batch: Sequence[int]) -> None:
        new.temperature = self.temperature
        new._categorical = self._categorical.expand(batch)

    def _new(self, *args: object, **kwargs: object) -> Tensor:
        return self._categorical._new(*args, **kwargs)

    @property
    def param_shape(self) -> Shape:
        """The shape of the parameter."""
        return self._categorical.param_shape

    logits = _attribute("_categorical.logits", "The log probabilities.")
    probs = _attribute("_categorical.probs", "The probabilities.")

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        u = clamp_probs(f.rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        scores = (self.logits - (-(u.log())).log()) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        n = self._categorical._num_events
        value_checked(self, value)
        logits, value = broadcast_all(self.logits, value)
        scale = f.full_like(self.temperature, float(n)).lgamma() - self.temperature.log().mul(
            -(n - 1)
        )
        score = logits - value.mul(self.temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + scale


class RelaxedOneHotCategorical(TransformedDistribution):
    """Points of the simplex that approach its corners as the temperature falls."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True
    base_dist: ExpRelaxedCategorical

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Self | None = None) -> Self:
        return super().expand(
            batch_shape, self._get_checked_instance(RelaxedOneHotCategorical, _instance)
        )

    temperature = _attribute("base_dist.temperature", "The temperature.")
    logits = _attribute("base_dist.logits", "The log probabilities.")
    probs = _attribute("base_dist.probs", "The probabilities.")


__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]
