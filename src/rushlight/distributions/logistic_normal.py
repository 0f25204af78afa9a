"""The logistic-normal distribution over the simplex."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from . import constraints
from .normal import Normal
from .transformed_distribution import TransformedDistribution
from .transforms import StickBreakingTransform

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor
    from .independent import Independent


class LogisticNormal(TransformedDistribution):
    """Independent normals, taken to the simplex by breaking a stick."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True
    base_dist: Independent

    def __init__(
        self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None
    ) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Self | None = None) -> Self:
        return super().expand(batch_shape, self._get_checked_instance(LogisticNormal, _instance))

    @property
    def loc(self) -> Tensor:
        """The means of the normals."""
        normal = self.base_dist.base_dist
        assert isinstance(normal, Normal)
        return normal.loc

    @property
    def scale(self) -> Tensor:
        """The standard deviations of the normals."""
        normal = self.base_dist.base_dist
        assert isinstance(normal, Normal)
        return normal.scale


__all__ = ["LogisticNormal"]
