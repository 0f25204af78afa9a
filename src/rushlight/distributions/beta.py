"""The beta distribution over [0, 1]."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Self

from . import constraints
from ._ground import Size, f
from .dirichlet import Dirichlet
from .distribution import value_checked
from .exp_family import ExponentialFamily
from .utils import broadcast_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor


class Beta(ExponentialFamily):
    """The density proportional to x^(c1 - 1) (1 - x)^(c0 - 1)."""

    arg_constraints = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True
    _parameters: dict[str, int] = {}

    def __init__(
        self,
        concentration1: Tensor | float,
        concentration0: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        if isinstance(concentration1, Real) and isinstance(concentration0, Real):
            both = f.tensor([float(concentration1), float(concentration0)])
        else:
            both = f.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(both, validate_args=validate_args)
        super().__init__(self._dirichlet._batch_shape, validate_args=validate_args)

    def _expand_rest(self, new: Self, batch: Sequence[int]) -> None:
        new._dirichlet = self._dirichlet.expand(batch)

    def _part(self, index: int) -> Tensor:
        found = self._dirichlet.concentration[..., index]
        return f.tensor([found]) if isinstance(found, Real) else found

    @property
    def concentration1(self) -> Tensor:
        """The exponent of x, plus one."""
        return self._part(0)

    @property
    def concentration0(self) -> Tensor:
        """The exponent of 1 - x, plus one."""
        return self._part(1)

    @property
    def mean(self) -> Tensor:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Tensor:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._dirichlet.rsample(Size(sample_shape)).select(-1, 0)

    def log_prob(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        return self._dirichlet.log_prob(f.stack([value, 1.0 - value], -1))

    def entropy(self) -> Tensor:
        return self._dirichlet.entropy()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration1, self.concentration0)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        return f.lgamma(x) + f.lgamma(y) - f.lgamma(x + y)


__all__ = ["Beta"]
