"""`Independent`: axes of the batch taken as axes of the event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from . import constraints
from ._ground import Size
from .distribution import Distribution
from .utils import _attribute, _sum_rightmost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor
    from .constraints import Constraint


class Independent(Distribution):
    """The base distribution, whose last batch axes belong to one event."""

    arg_constraints: Any = {}
    _parameters: dict[str, int] = {}
    base_dist: Distribution

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        if reinterpreted_batch_ndims > len(base_distribution.batch_shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {len(base_distribution.batch_shape)}"
            )
        shape = base_distribution.batch_shape + base_distribution.event_shape
        dims = reinterpreted_batch_ndims + len(base_distribution.event_shape)
        cut = len(shape) - dims
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__(Size(shape[:cut]), Size(shape[cut:]), validate_args=validate_args)

    def _expand_rest(self, new: Self, batch: Sequence[int]) -> None:
        new.base_dist = self.base_dist.expand(
            (*batch, *self.event_shape[: self.reinterpreted_batch_ndims])
        )
        new.reinterpreted_batch_ndims = self.reinterpreted_batch_ndims

    @property
    def has_rsample(self) -> bool:
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:
        return False if self.reinterpreted_batch_ndims > 0 else self.base_dist.has_enumerate_support

    @constraints.dependent_property()
    def support(self) -> Constraint:
        result = self.base_dist.support
        n = self.reinterpreted_batch_ndims
        return constraints.independent(result, n) if n else result

    mean = _attribute("base_dist.mean")
    mode = _attribute("base_dist.mode")
    variance = _attribute("base_dist.variance")

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return _sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return _sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"


__all__ = ["Independent"]
