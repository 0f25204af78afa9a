"""Transforms of vectors and matrices, and of the parts of a tensor."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from . import constraints
from ._chains import Transform, _Plain
from ._ground import f, finfo, linalg, pad, softmax, softplus
from .utils import _sum_rightmost, tril_matrix_to_vec, vec_to_tril_matrix

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .._tensor.tensor import Tensor
    from .constraints import Constraint
    from .distribution import Distribution


class CorrCholeskyTransform(Transform):
    """Real vectors of length D(D-1)/2 to Cholesky factors of D×D correlation matrices.

    The vector's tanh are partial correlations, which fill the rows from the left; what is left of
    a row's unit length is its diagonal element.
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        x = f.tanh(x)
        eps = finfo(x.dtype).eps
        x = x.clamp(min=-1 + eps, max=1 - eps)
        r = vec_to_tril_matrix(x, diag=-1)
        left = (1 - r**2).sqrt().cumprod(-1)
        r = r + f.eye(r.shape[-1], dtype=r.dtype, device=r.device)
        return r * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        left = pad((1 - f.cumsum(y * y, dim=-1))[..., :-1], [1, 0], value=1)
        t = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        left = tril_matrix_to_vec(1 - (y * y).cumsum(dim=-1), diag=-2)
        stretched = 0.5 * left.log().sum(-1)
        return stretched - 2 * (x + softplus(-2 * x) - math.log(2.0)).sum(dim=-1)

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        n = shape[-1]
        size = round((0.25 + 2 * n) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != n:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return (*shape[:-1], size, size)

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return (*shape[:-2], shape[-1] * (shape[-1] - 1) // 2)


class SoftmaxTransform(_Plain):
    """y = softmax(x); the inverse, log y, is one of many."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = False

    def _call(self, x: Tensor) -> Tensor:
        return softmax(x, dim=-1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return shape

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self.forward_shape(shape)


class StickBreakingTransform(_Plain):
    """Real vectors to the simplex with one coordinate more, by breaking off pieces of a stick."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _offset(self, x: Tensor) -> Tensor:
        return x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)

    def _call(self, x: Tensor) -> Tensor:
        z = f.sigmoid(x - self._offset(x).log())
        left = (1 - z).cumprod(-1)
        return pad(z, [0, 1], value=1) * pad(left, [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        kept = y[..., :-1]
        left = f.clamp(1 - kept.cumsum(-1), min=finfo(y.dtype).tiny)
        return kept.log() - left.log() + self._offset(kept).log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        x = x - self._offset(x).log()
        return (-x - softplus(-x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return (*shape[:-1], shape[-1] - 1)


class LowerCholeskyTransform(_Plain):
    """Square matrices to Cholesky factors: the lower triangle, with e to the diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky
    bijective = False

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(_Plain):
    """Square matrices to positive definite ones."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite
    bijective = False

    def _call(self, x: Tensor) -> Tensor:
        x = LowerCholeskyTransform()(x)
        return x @ x.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(linalg.cholesky(y))


class CatTransform(Transform):
    """Transforms of the parts of a tensor, side by side along `dim`."""

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        self.dim = dim

    @property
    def event_dim(self) -> int:
        return max(t.event_dim for t in self.transforms)

    @property
    def length(self) -> int:
        """The length of all parts together."""
        return sum(self.lengths)

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _parts(self, *values: Tensor) -> Iterator[tuple[Transform, list[Tensor]]]:
        start = 0
        for transform, length in zip(self.transforms, self.lengths):
            yield transform, [v.narrow(self.dim, start, length) for v in values]
            start += length

    def _call(self, x: Tensor) -> Tensor:
        return f.cat([t(part) for t, (part,) in self._parts(x)], dim=self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return f.cat([t.inv(part) for t, (part,) in self._parts(y)], dim=self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        found: Any = []
        for transform, (a, b) in self._parts(x, y):
            own = transform.log_abs_det_jacobian(a, b)
            found.append(_sum_rightmost(own, self.event_dim - transform.event_dim))
        dim = self.dim if self.dim < 0 else self.dim - x.dim()
        dim += self.event_dim
        return f.cat(found, dim=dim) if dim < 0 else sum(found)

    @property
    def bijective(self) -> bool:
        return all(t.bijective for t in self.transforms)

    @property
    def domain(self) -> Constraint:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self) -> Constraint:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(Transform):
    """Transforms of the slices of a tensor along `dim`."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return StackTransform(self.transforms, self.dim, cache_size)

    def _slices(self, value: Tensor) -> list[Tensor]:
        return [value.select(self.dim, i) for i in range(value.size(self.dim))]

    def _call(self, x: Tensor) -> Tensor:
        return f.stack([t(part) for t, part in zip(self.transforms, self._slices(x))], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return f.stack([t.inv(part) for t, part in zip(self.transforms, self._slices(y))], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        triples = zip(self.transforms, self._slices(x), self._slices(y))
        return f.stack([t.log_abs_det_jacobian(a, b) for t, a, b in triples], dim=self.dim)

    @property
    def bijective(self) -> bool:
        return all(t.bijective for t in self.transforms)

    @property
    def domain(self) -> Constraint:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @property
    def codomain(self) -> Constraint:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)


class CumulativeDistributionTransform(Transform):
    """y = F(x), the cumulative distribution function of a distribution."""

    bijective = True
    codomain = constraints.unit_interval
    sign: Tensor | int = +1

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Constraint:
        return self.distribution.support

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return CumulativeDistributionTransform(self.distribution, cache_size=cache_size)
