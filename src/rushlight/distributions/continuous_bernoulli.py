"""The continuous Bernoulli distribution: density proportional to p^x (1 - p)^(1 - x) on [0, 1]."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Self

from . import constraints
from ._ground import binary_cross_entropy_with_logits, f, no_grad
from .bernoulli import BinaryOutcome, either
from .distribution import value_checked
from .utils import broadcast_all, clamp_probs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor


class ContinuousBernoulli(BinaryOutcome):
    """The density C(p) p^x (1 - p)^(1 - x).

    Between `lims`, next to p = 1/2, expansions take the place of formulas that cancel there.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0
    _parameters = {"probs": 0, "logits": 0}

    def __init__(
        self,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        either(probs, logits)
        shape = self._take(probs, logits)
        if logits is None:
            checks = self._validate_args if validate_args is None else validate_args
            if checks and not self.arg_constraints["probs"].check(self.probs).all():
                raise ValueError("The parameter probs has invalid values")
            self.probs = self._param = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(shape, validate_args=validate_args)

    def _expand_rest(self, new: Self, batch: Sequence[int]) -> None:
        new._lims = self._lims
        super()._expand_rest(new, batch)

    def _away(self) -> Tensor:
        return f.max(f.le(self.probs, self._lims[0]), f.gt(self.probs, self._lims[1]))

    def _cut(self) -> Tensor:
        """The probabilities, with those next to 1/2 moved to the lower limit."""
        return f.where(self._away(), self.probs, self._lims[0] * f.ones_like(self.probs))

    def _cont_bern_log_norm(self) -> Tensor:
        p = self._cut()
        below = f.where(f.le(p, 0.5), p, f.zeros_like(p))
        above = f.where(f.ge(p, 0.5), p, f.ones_like(p))
        log_norm = f.log(f.abs(f.log1p(-p) - f.log(p))) - f.where(
            f.le(p, 0.5), f.log1p(-2.0 * below), f.log(2.0 * above - 1.0)
        )
        x = f.pow(self.probs - 0.5, 2)
        return f.where(self._away(), log_norm, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self) -> Tensor:
        p = self._cut()
        mean = p / (2.0 * p - 1.0) + 1.0 / (f.log1p(-p) - f.log(p))
        x = self.probs - 0.5
        return f.where(self._away(), mean, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * f.pow(x, 2)) * x)

    @property
    def stddev(self) -> Tensor:
        return f.sqrt(self.variance)

    @property
    def variance(self) -> Tensor:
        p = self._cut()
        variance = p * (p - 1.0) / f.pow(1.0 - 2.0 * p, 2) + 1.0 / f.pow(f.log1p(-p) - f.log(p), 2)
        x = f.pow(self.probs - 0.5, 2)
        near = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        return f.where(self._away(), variance, near)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        u = f.rand(
            self._extended_shape(sample_shape), dtype=self.probs.dtype, device=self.probs.device
        )
        return self.icdf(u)

    def log_prob(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        logits, value = broadcast_all(self.logits, value)
        weight = -binary_cross_entropy_with_logits(logits, value, reduction="none")
        return weight + self._cont_bern_log_norm()

    def cdf(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        p = self._cut()
        cdf = (f.pow(p, value) * f.pow(1.0 - p, 1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        inside = f.where(self._away(), cdf, value)
        low, high = f.le(value, 0.0), f.ge(value, 1.0)
        return f.where(low, f.zeros_like(value), f.where(high, f.ones_like(value), inside))

    def icdf(self, value: Tensor) -> Tensor:
        p = self._cut()
        found = (f.log1p(-p + value * (2.0 * p - 1.0)) - f.log1p(-p)) / (f.log(p) - f.log1p(-p))
        return f.where(self._away(), found, value)

    def entropy(self) -> Tensor:
        zero = f.log1p(-self.probs)
        return self.mean * (zero - f.log(self.probs)) - self._cont_bern_log_norm() - zero

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x = natural_params[0]
        outside = f.max(f.le(x, self._lims[0] - 0.5), f.gt(x, self._lims[1] - 0.5))
        cut = f.where(outside, x, (self._lims[0] - 0.5) * f.ones_like(x))
        norm = f.log(f.abs(f.expm1(cut))) - f.log(f.abs(cut))
        return f.where(outside, norm, 0.5 * x + f.pow(x, 2) / 24.0 - f.pow(x, 4) / 2880.0)


__all__ = ["ContinuousBernoulli"]
