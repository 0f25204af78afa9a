"""The half-Cauchy distribution: the absolute value of a Cauchy number."""

from __future__ import annotations

from typing import Any

from ._ground import f, inf
from ._half import Half
from .cauchy import Cauchy


class HalfCauchy(Half):
    """|X|, X from Cauchy(0, scale)."""

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), validate_args)

    @property
    def mean(self) -> Any:
        return f.full(self._extended_shape(), inf, dtype=self.scale.dtype, device=self.scale.device)

    @property
    def variance(self) -> Any:
        return self.base_dist.variance


__all__ = ["HalfCauchy"]
