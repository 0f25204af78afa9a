"""The Bernoulli distribution: 1 with probability p, else 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, overload

from . import constraints
from ._ground import binary_cross_entropy_with_logits, f, nan, no_grad
from .distribution import value_checked
from .exp_family import ExponentialFamily
from .utils import _attribute, broadcast_all, lazy_property, logits_to_probs, probs_to_logits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._base.annotations import Shape
    from .._tensor.tensor import Tensor


@overload
def either(probs: Tensor | None, logits: Tensor | None) -> Tensor: ...
@overload
def either(probs: Tensor | float | None, logits: Tensor | float | None) -> Tensor | float: ...
def either(probs: Tensor | float | None, logits: Tensor | float | None) -> Tensor | float:
    """The one of the two that is given.

    Raises: ValueError unless exactly one is.
    """
    if logits is None and probs is not None:
        return probs
    if probs is None and logits is not None:
        return logits
    raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class BinaryOutcome(ExponentialFamily):
    """What distributions with a probability or its log odds as parameter share."""

    _parameters = {"probs": 0, "logits": 0}
    _param: Tensor

    def _take(self, probs: Tensor | float | None, logits: Tensor | float | None) -> Shape:
        given = either(probs, logits)
        (value,) = broadcast_all(given)
        self.__dict__["probs" if logits is None else "logits"] = value
        self._param = value
        return () if isinstance(given, (int, float, bool)) else value.size()

    def _expand_rest(self, new: Self, batch: Sequence[int]) -> None:
        new._param = new.__dict__["probs" if "probs" in new.__dict__ else "logits"]

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)

    @lazy_property
    def logits(self) -> Tensor:
        """The log odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """The probability of 1."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> Shape:
        """The shape of the parameter."""
        return self._param.size()


class Bernoulli(BinaryOutcome):
    """1 with probability `probs` (or log odds `logits`), else 0."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0
    _parameters = {"probs": 0, "logits": 0}

    def __init__(
        self,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        super().__init__(self._take(probs, logits), validate_args=validate_args)

    mean = _attribute("probs")

    @property
    def mode(self) -> Tensor:
        mode = (self.probs >= 0.5).to(self.probs)
        mode[self.probs == 0.5] = nan
        return mode

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return f.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = f.arange(2, dtype=self._param.dtype, device=self._param.device)
        return self._enumerate(values, expand)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (f.logit(self.probs),)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        return f.log1p(f.exp(natural_params[0]))


__all__ = ["Bernoulli"]
