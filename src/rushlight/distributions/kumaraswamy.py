"""The Kumaraswamy distribution over [0, 1]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from . import constraints
from ._ground import f, nan
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor


def _moment(a: Tensor, b: Tensor, n: int) -> Tensor:
    """E[X^n] = b B(1 + n/a, b)."""
    first = 1 + n / a
    return f.exp(b.log() + f.lgamma(first) + f.lgamma(b) - f.lgamma(first + b))


class Kumaraswamy(TransformedDistribution):
    """(1 - U^(1/b))^(1/a), U uniform; a = concentration1, b = concentration0."""

    arg_constraints = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        concentration1: Tensor | float,
        concentration0: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(
            f.full_like(self.concentration0, 0),
            f.full_like(self.concentration0, 1),
            validate_args=validate_args,
        )
        chain = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(base, chain, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Self | None = None) -> Self:
        new = self._get_checked_instance(Kumaraswamy, _instance)
        new.concentration1 = self.concentration1.expand(batch_shape)
        new.concentration0 = self.concentration0.expand(batch_shape)
        return super().expand(batch_shape, _instance=new)

    @property
    def mean(self) -> Tensor:
        return _moment(self.concentration1, self.concentration0, 1)

    @property
    def mode(self) -> Tensor:
        """The peak; nan where there is none. (PyTorch 2.13 gives nan wherever b > 1.)"""
        a, b = self.concentration1, self.concentration0
        # The peak of a x^(a-1) (1-x^a)^(b-1) is where x^a = (a-1)/(ab-1).
        logs = a.reciprocal() * (f.log(a - 1) - f.log(a * b - 1))
        found = logs.exp()
        found[(a < 1) | (b < 1)] = nan
        return found

    @property
    def variance(self) -> Tensor:
        return _moment(self.concentration1, self.concentration0, 2) - self.mean.pow(2)

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        t1 = 1 - a.reciprocal()
        t0 = 1 - b.reciprocal()
        return t0 + t1 * (f.digamma(b + 1) + euler_constant) - f.log(a) - f.log(b)


__all__ = ["Kumaraswamy"]
