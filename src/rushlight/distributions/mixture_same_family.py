"""A mixture of components of one family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from . import constraints
from ._ground import f, log_softmax, no_grad
from .categorical import Categorical
from .distribution import Distribution, value_checked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor
    from .constraints import Constraint


class MixtureSameFamily(Distribution):
    """One of the components, along the last batch axis, drawn by a categorical distribution."""

    arg_constraints: Any = {}
    has_rsample = False
    _parameters: dict[str, int] = {}

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an  instance of "
                "torch.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution needs to be an instance of "
                "torch.distributions.Distribution"
            )
        own = mixture_distribution.batch_shape
        batch = component_distribution.batch_shape[:-1]
        for size1, size2 in zip(reversed(own), reversed(batch)):
            if size1 != 1 and size2 != 1 and size1 != size2:
                self._mismatch(own, batch)
        if len(own) > len(batch):
            self._mismatch(own, batch)
        n, m = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if n is not None and m is not None and n != m:
            raise ValueError(
                f"`mixture_distribution component` ({n}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({m})"
            )
        self._num_component = n
        event = component_distribution.event_shape
        self._event_ndims = len(event)
        super().__init__(batch, event, validate_args=validate_args)

    @staticmethod
    def _mismatch(own: Sequence[int], batch: Sequence[int]) -> None:
        raise ValueError(
            f"`mixture_distribution.batch_shape` ({own}) is not compatible with "
            f"`component_distribution.batch_shape`({batch})"
        )

    def _expand_rest(self, new: Self, batch: Sequence[int]) -> None:
        new._component_distribution = self._component_distribution.expand(
            (*batch, self._num_component)
        )
        new._mixture_distribution = self._mixture_distribution.expand(batch)
        new._num_component = self._num_component
        new._event_ndims = self._event_ndims

    @constraints.dependent_property()
    def support(self) -> Constraint:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        """Which component is drawn."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The components."""
        return self._component_distribution

    def _weights(self) -> Tensor:
        probs = self.mixture_distribution.probs
        return probs.reshape((*probs.shape, *(1,) * self._event_ndims))

    @property
    def mean(self) -> Tensor:
        return f.sum(self._weights() * self.component_distribution.mean, -1 - self._event_ndims)

    @property
    def variance(self) -> Tensor:
        weights, axis = self._weights(), -1 - self._event_ndims
        within = f.sum(weights * self.component_distribution.variance, axis)
        shift = self.component_distribution.mean - self.mean.unsqueeze(axis)
        return within + f.sum(weights * shift.pow(2.0), axis)

    def cdf(self, x: Tensor) -> Tensor:
        found = self.component_distribution.cdf(x.unsqueeze(-1 - self._event_ndims))
        return f.sum(found * self.mixture_distribution.probs, -1)

    def log_prob(self, x: Tensor) -> Tensor:
        value_checked(self, x)
        own = self.component_distribution.log_prob(x.unsqueeze(-1 - self._event_ndims))
        weights = log_softmax(self.mixture_distribution.logits, dim=-1)
        return f.logsumexp(own + weights, dim=-1)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            axis = len(sample_shape) + len(self.batch_shape)
            chosen = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            event = drawn.shape[axis + 1 :]
            at = chosen.reshape((*chosen.shape, 1, *(1,) * len(event)))
            at = at.expand((*drawn.shape[:axis], 1, *event))
            return f.gather(drawn, axis, at).squeeze(axis)

    def __repr__(self) -> str:
        return (
            f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
        )


__all__ = ["MixtureSameFamily"]
