"""One of several outcomes as a vector with a single one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from . import constraints
from ._ground import Size, f, no_grad, one_hot
from .categorical import Categorical
from .distribution import Distribution, value_checked
from .utils import _attribute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._base.annotations import Shape
    from .._tensor.tensor import Tensor


class OneHotCategorical(Distribution):
    """A vector of zeros with a one at the outcome."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True
    _parameters: dict[str, int] = {}

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._categorical = Categorical(probs, logits)
        super().__init__(
            self._categorical.batch_shape,
            self._categorical.param_shape[-1:],
            validate_args=validate_args,
        )

    def _expand_rest(self, new: Self, batch: Sequence[int]) -> None:
        new._categorical = self._categorical.expand(batch)

    def _new(self, *args: object, **kwargs: object) -> Tensor:
        return self._categorical._new(*args, **kwargs)

    _param = _attribute("_categorical._param")
    probs = _attribute("_categorical.probs", "The probabilities.")
    logits = _attribute("_categorical.logits", "The log probabilities.")
    mean = _attribute("_categorical.probs")

    @property
    def mode(self) -> Tensor:
        chosen = self._categorical.probs.argmax(dim=-1)
        return one_hot(chosen, num_classes=self._categorical.probs.size(-1)).to(self.probs)

    @property
    def variance(self) -> Tensor:
        return self._categorical.probs * (1 - self._categorical.probs)

    @property
    def param_shape(self) -> Shape:
        """The shape of the parameter."""
        return self._categorical.param_shape

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            chosen = self._categorical.sample(Size(sample_shape))
            return one_hot(chosen, self._categorical._num_events).to(self._categorical.probs)

    def log_prob(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self.event_shape[0]
        return self._enumerate(f.eye(n, dtype=self._param.dtype, device=self._param.device), expand)


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """`OneHotCategorical` whose draws pass their gradient straight to the probabilities."""

    has_rsample = True

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        drawn = self.sample(sample_shape)
        return drawn + (self._categorical.probs - self._categorical.probs.detach())


__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]
