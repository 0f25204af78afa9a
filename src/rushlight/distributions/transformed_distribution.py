"""`TransformedDistribution`: what becomes of a distribution under transforms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from . import constraints
from ._ground import Size, no_grad
from .distribution import Distribution, value_checked
from .independent import Independent
from .transforms import ComposeTransform, Transform
from .utils import _sum_rightmost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor
    from .constraints import Constraint


class TransformedDistribution(Distribution):
    """The distribution of f(X), X from the base distribution and f a chain of transforms."""

    arg_constraints: Any = {}
    _parameters: dict[str, int] = {}

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | list[Transform],
        validate_args: bool | None = None,
    ) -> None:
        if isinstance(transforms, Transform):
            transforms = [transforms]
        elif not isinstance(transforms, list):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        elif not all(isinstance(t, Transform) for t in transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        self.transforms = transforms
        base = base_distribution.batch_shape + base_distribution.event_shape
        event = len(base_distribution.event_shape)
        whole = ComposeTransform(self.transforms)
        if len(base) < whole.domain.event_dim:
            raise ValueError(
                f"base_distribution needs to have shape with size at least "
                f"{whole.domain.event_dim}, but got {base}."
            )
        forward = whole.forward_shape(base)
        self.base_dist = base_distribution.expand(
            whole.inverse_shape(forward)[: len(base_distribution.batch_shape)]
        )
        more = whole.domain.event_dim - event
        if more > 0:
            self.base_dist = Independent(self.base_dist, more)
        dims = whole.codomain.event_dim + max(event - whole.domain.event_dim, 0)
        cut = len(forward) - dims
        super().__init__(Size(forward[:cut]), Size(forward[cut:]), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Self | None = None) -> Self:
        new = self._get_checked_instance(TransformedDistribution, _instance)
        shape: Sequence[int] = Size((*batch_shape, *self.event_shape))
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        new.transforms = self.transforms
        Distribution.__init__(new, Size(batch_shape), self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Constraint:
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        more = len(self.event_shape) - support.event_dim
        return constraints.independent(support, more) if more > 0 else support

    @property
    def has_rsample(self) -> bool:
        return self.base_dist.has_rsample

    def _through(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return self._through(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._through(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        dims = len(self.event_shape)
        total: Any = 0.0
        y = value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            dims += transform.domain.event_dim - transform.codomain.event_dim
            own = transform.log_abs_det_jacobian(x, y)
            total = total - _sum_rightmost(own, dims - transform.domain.event_dim)
            y = x
        base = self.base_dist.log_prob(y)
        return total + _sum_rightmost(base, dims - len(self.base_dist.event_shape))

    def _monotone(self, value: Tensor) -> Tensor:
        """The value, mirrored in (0, 1) where the transforms turn the order round."""
        sign: Tensor | int = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        if isinstance(sign, int) and sign == 1:
            return value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        value_checked(self.base_dist, value)
        return self._monotone(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._through(self.base_dist.icdf(self._monotone(value)))


__all__ = ["TransformedDistribution"]
