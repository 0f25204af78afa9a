"""The generalized Pareto distribution of exceedances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import constraints
from ._ground import f, inf
from .distribution import Distribution, value_checked
from .utils import _attribute, broadcast_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor
    from .constraints import Constraint


class GeneralizedPareto(Distribution):
    """The density (1 + c z)^(-1 - 1/c) / scale, z = (x - loc) / scale; exponential where c = 0."""

    arg_constraints = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True
    _parameters = {"loc": 0, "scale": 0, "concentration": 0}

    def __init__(
        self,
        loc: Tensor | float,
        scale: Tensor | float,
        concentration: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def _near_zero(self) -> tuple[Tensor, Tensor]:
        """Where c counts as zero, and a c that is safe to divide by."""
        c = self.concentration
        zero = f.isclose(c, f.zeros_like(c))
        return zero, f.where(zero, f.ones_like(c), c)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        u = f.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.icdf(u)

    def log_prob(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        z = (value - self.loc) / self.scale
        zero, c = self._near_zero()
        return -self.scale.log() + f.where(zero, -z, -(1 + 1 / c) * f.log1p(c * z))

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of exceeding `value`."""
        value_checked(self, value)
        z = (value - self.loc) / self.scale
        zero, c = self._near_zero()
        return f.where(zero, -z, -f.log1p(c * z) / c)

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of `cdf`."""
        return f.log1p(-f.exp(self.log_survival_function(value)))

    def cdf(self, value: Tensor) -> Tensor:
        return f.exp(self.log_cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        zero, c = self._near_zero()
        log_left = f.log1p(-value)
        heavy = self.loc + self.scale * f.expm1(-c * log_left) / c
        return f.where(zero, self.loc - self.scale * log_left, heavy)

    @property
    def mean(self) -> Tensor:
        c = self.concentration
        low = c < 1
        safe = f.where(low, c, 0.5)
        return f.where(low, self.loc + self.scale / (1 - safe), inf)

    @property
    def variance(self) -> Tensor:
        c = self.concentration
        low = c < 0.5
        safe = f.where(low, c, 0.25)
        return f.where(low, self.scale**2 / ((1 - safe) ** 2 * (1 - 2 * safe)), inf)

    def entropy(self) -> Tensor:
        return (f.log(self.scale) + self.concentration + 1).expand(self._batch_shape)

    mode = _attribute("loc")

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
        low = self.loc
        c = self.concentration
        high = f.where(c < 0, low - self.scale / c, inf)
        return constraints.interval(low, high)


__all__ = ["GeneralizedPareto"]
