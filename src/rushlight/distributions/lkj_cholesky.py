"""The LKJ distribution of correlation matrices, as Cholesky factors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Self

from . import constraints
from ._ground import Size, f, finfo, no_grad, special
from .beta import Beta
from .distribution import Distribution, value_checked
from .utils import broadcast_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices M, with density proportional to det(M)^(c - 1).

    Source: Lewandowski, Kurowicka, Joe, "Generating random correlation matrices based on vines and
    extended onion method" (2009), section 3.2: the onion method.
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    _parameters = {"concentration": 0}

    def __init__(
        self, dim: int, concentration: Tensor | float = 1.0, validate_args: bool | None = None
    ) -> None:
        if dim < 2:
            raise ValueError(
                f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}."
            )
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        # The squared length of row k below the diagonal is Beta(k / 2, c + (dim - 1 - k) / 2).
        marginal = self.concentration + 0.5 * (dim - 2)
        offset = f.arange(dim - 1, dtype=self.concentration.dtype, device=self.concentration.device)
        offset = f.cat([offset.new_zeros((1,)), offset])
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(self.concentration.size(), Size((dim, dim)), validate_args=validate_args)

    def _expand_rest(self, new: Self, batch: Sequence[int]) -> None:
        new.dim = self.dim
        new._beta = self._beta.expand((*batch, self.dim))

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            y = self._beta.sample(sample_shape).unsqueeze(-1)
            normal = f.randn(
                self._extended_shape(sample_shape), dtype=y.dtype, device=y.device
            ).tril(-1)
            sphere = normal / normal.norm(dim=-1, keepdim=True)
            # The first row has no direction.
            sphere[..., 0, :].fill_(0.0)
            w = f.sqrt(y) * sphere
            left = f.clamp(1 - f.sum(w**2, dim=-1), min=finfo(w.dtype).tiny)
            return w + f.diag_embed(left.sqrt())

    def log_prob(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = f.arange(2, self.dim + 1, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        weight = f.sum(order * diagonal.log(), dim=-1)
        n = self.dim - 1
        alpha = self.concentration + 0.5 * n
        norm = (
            0.5 * n * math.log(math.pi)
            + special.multigammaln(alpha - 0.5, n)
            - (f.lgamma(alpha) * n)
        )
        return weight - norm


__all__ = ["LKJCholesky"]
