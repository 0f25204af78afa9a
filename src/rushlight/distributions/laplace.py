"""The Laplace distribution: two exponential sides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import constraints
from ._ground import f, finfo
from .distribution import Distribution, value_checked
from .utils import _attribute, broadcast_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor


class Laplace(Distribution):
    """The density exp(-|x - loc| / scale) / (2 scale)."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _parameters = {"loc": 0, "scale": 0}

    def __init__(
        self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    mean = mode = _attribute("loc")

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Tensor:
        return (2**0.5) * self.scale

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        u = self.loc.new(shape).uniform_(finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * u.sign() * f.log1p(-u.abs())

    def log_prob(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        return -f.log(2 * self.scale) - f.abs(value - self.loc) / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        side = (value - self.loc).sign()
        return 0.5 - 0.5 * side * f.expm1(-(value - self.loc).abs() / self.scale)

    def icdf(self, value: Tensor) -> Tensor:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * f.log1p(-2 * term.abs())

    def entropy(self) -> Tensor:
        return 1 + f.log(2 * self.scale)


__all__ = ["Laplace"]
