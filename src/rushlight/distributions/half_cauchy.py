"""The half-Cauchy distribution: the absolute value of a Cauchy number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._ground import f, inf
from ._half import Half
from .cauchy import Cauchy
from .utils import _attribute

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor


class HalfCauchy(Half):
    """|X|, X from Cauchy(0, scale)."""

    def __init__(self, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), validate_args)

    @property
    def mean(self) -> Tensor:
        return f.full(self._extended_shape(), inf, dtype=self.scale.dtype, device=self.scale.device)

    variance = _attribute("base_dist.variance")


__all__ = ["HalfCauchy"]
