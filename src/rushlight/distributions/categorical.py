"""The categorical distribution: one of several outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from . import constraints
from ._ground import Size, dtypes, f, finfo, nan, no_grad
from .bernoulli import either
from .distribution import Distribution, value_checked
from .utils import lazy_property, logits_to_probs, probs_to_logits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._base.annotations import Shape
    from .._tensor.tensor import Tensor
    from .constraints import Constraint


class Categorical(Distribution):
    """The index of an outcome, from probabilities or log weights along the last axis."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _parameters = {"probs": 1, "logits": 1}

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        given, name = either(probs, logits), "probs" if logits is None else "logits"
        if given.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if logits is None:
            value = given / given.sum(-1, keepdim=True)
        else:
            value = given - given.logsumexp(dim=-1, keepdim=True)
        self.__dict__[name] = self._param = value
        self._num_events = self._param.size(-1)
        super().__init__(self._param.size()[:-1], validate_args=validate_args)

    def _expand_rest(self, new: Self, batch: Sequence[int]) -> None:
        new._param = new.__dict__["probs" if "probs" in new.__dict__ else "logits"]
        new._num_events = self._num_events

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self) -> Tensor:
        """The log probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities."""
        return logits_to_probs(self.logits)

    @property
    def param_shape(self) -> Shape:
        """The shape of the parameter."""
        return self._param.size()

    def _nothing(self) -> Tensor:
        return f.full(self._extended_shape(), nan, dtype=self.probs.dtype, device=self.probs.device)

    @property
    def mean(self) -> Tensor:
        return self._nothing()

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Tensor:
        return self._nothing()

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        size = Size(sample_shape)
        with no_grad():
            rows = self.probs.reshape(-1, self._num_events)
            drawn = f.multinomial(rows, size.numel(), True).T
            return drawn.reshape(self._extended_shape(size))

    def log_prob(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        value, weights = f.broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return weights.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        # A log of zero times its probability, zero, is zero.
        logits = f.clamp(self.logits, min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = f.arange(self._num_events, dtype=dtypes.int64, device=self._param.device)
        return self._enumerate(values, expand)


__all__ = ["Categorical"]
