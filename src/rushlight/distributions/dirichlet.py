"""The Dirichlet distribution over the simplex."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import constraints
from ._ground import Function, Size, f, one_hot
from .distribution import value_checked
from .exp_family import ExponentialFamily

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor


class _Draw(Function):
    """A draw with the gradient that follows from the implicit derivative of each coordinate."""

    @staticmethod
    def forward(ctx: Any, concentration: Tensor) -> Tensor:
        x = f._sample_dirichlet(concentration)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        x, concentration = ctx.saved_tensors
        total = concentration.sum(-1, True).expand_as(concentration)
        slope = f._dirichlet_grad(x, concentration, total)
        return slope * (grad_output - (x * grad_output).sum(-1, True))


class Dirichlet(ExponentialFamily):
    """The density proportional to Π x_i^(c_i - 1)."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    _parameters = {"concentration": 1}

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(Size(sample_shape))
        return _Draw.apply(self.concentration.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        c = self.concentration
        return f.xlogy(c - 1.0, value).sum(-1) + f.lgamma(c.sum(-1)) - f.lgamma(c).sum(-1)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        # All below one: the density is unbounded in the corners; the largest is taken.
        corner = (self.concentration < 1).all(dim=-1)
        mode[corner] = one_hot(mode[corner].argmax(dim=-1), above.shape[-1]).to(mode)
        return mode

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self) -> Tensor:
        c = self.concentration
        k, total = c.size(-1), c.sum(-1)
        beta = f.lgamma(c).sum(-1) - f.lgamma(total)
        return beta - (k - total) * f.digamma(total) - ((c - 1.0) * f.digamma(c)).sum(-1)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        (x,) = natural_params
        return x.lgamma().sum(-1) - f.lgamma(x.sum(-1))


__all__ = ["Dirichlet"]
