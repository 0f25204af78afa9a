"""The multinomial distribution: how often each outcome comes up in n throws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from . import constraints
from ._ground import Size, f, inf, no_grad
from .binomial import Binomial
from .categorical import Categorical
from .distribution import Distribution, value_checked
from .utils import _attribute, broadcast_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._base.annotations import Shape
    from .._tensor.tensor import Tensor
    from .constraints import Constraint


class Multinomial(Distribution):
    """The counts of the outcomes in `total_count` throws."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    total_count: int
    _parameters: dict[str, int] = {}

    def __init__(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        super().__init__(
            self._categorical.batch_shape,
            self._categorical.param_shape[-1:],
            validate_args=validate_args,
        )

    def _expand_rest(self, new: Self, batch: Sequence[int]) -> None:
        new.total_count = self.total_count
        new._categorical = self._categorical.expand(batch)
        new._binomial = self._binomial.expand((*batch, *self.event_shape))

    def _new(self, *args: object, **kwargs: object) -> Tensor:
        return self._categorical._new(*args, **kwargs)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Constraint:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    logits = _attribute("_categorical.logits", "The log probabilities.")
    probs = _attribute("_categorical.probs", "The probabilities.")

    @property
    def param_shape(self) -> Shape:
        """The shape of the parameter."""
        return self._categorical.param_shape

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            shape = self._extended_shape(sample_shape)
            throws = self._categorical.sample(Size((self.total_count, *sample_shape)))
            at = throws.permute(*range(1, throws.dim()), 0)
            counts = at.new_zeros(shape)
            counts.scatter_add_(-1, at, f.ones_like(at))
            return counts.type_as(self.probs)

    def entropy(self) -> Tensor:
        n = f.tensor(self.total_count)
        single = self._categorical.entropy()
        counts = self._binomial.enumerate_support(expand=False)[1:]
        weights = f.exp(self._binomial.log_prob(counts))
        return n * single - f.lgamma(n + 1) + (weights * f.lgamma(counts + 1)).sum((0, -1))

    def log_prob(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.clone()
        ways = f.lgamma(value.sum(-1) + 1) - f.lgamma(value + 1).sum(-1)
        logits[(value == 0) & (logits == -inf)] = 0
        return ways + (logits * value).sum(-1)


__all__ = ["Multinomial"]
