"""Student's t distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Self

from . import constraints
from ._ground import f, inf, nan
from .chi2 import Chi2
from .distribution import Distribution, value_checked
from .utils import _attribute, _standard_normal, broadcast_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor


class StudentT(Distribution):
    """loc + scale · X / sqrt(Z / df), X normal and Z chi-squared."""

    arg_constraints = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True
    _parameters = {"df": 0, "loc": 0, "scale": 0}

    def __init__(
        self,
        df: Tensor | float,
        loc: Tensor | float = 0.0,
        scale: Tensor | float = 1.0,
        validate_args: bool | None = None,
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    def _expand_rest(self, new: Self, batch: Sequence[int]) -> None:
        new._chi2 = self._chi2.expand(batch)

    @property
    def mean(self) -> Tensor:
        found = self.loc.clone()
        found[self.df <= 1] = nan
        return found

    mode = _attribute("loc")

    @property
    def variance(self) -> Tensor:
        found = self.df.clone()
        wide = self.df > 2
        found[wide] = self.scale[wide].pow(2) * self.df[wide] / (self.df[wide] - 2)
        found[(self.df <= 2) & (self.df > 1)] = inf
        found[self.df <= 1] = nan
        return found

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        x = _standard_normal(shape, dtype=self.df.dtype, device=self.df.device)
        z = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (x * f.rsqrt(z / self.df))

    def log_prob(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        y = (value - self.loc) / self.scale
        norm = (
            self.scale.log()
            + 0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + f.lgamma(0.5 * self.df)
            - f.lgamma(0.5 * (self.df + 1.0))
        )
        return -0.5 * (self.df + 1.0) * f.log1p(y**2.0 / self.df) - norm

    def entropy(self) -> Tensor:
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        beta = f.lgamma(half) + math.lgamma(0.5) - f.lgamma(more)
        digammas = more * (f.digamma(more) - f.digamma(half))
        return self.scale.log() + digammas + 0.5 * self.df.log() + beta


__all__ = ["StudentT"]
