"""The multivariate normal distribution with covariance W W^T + D."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Self

from . import constraints
from ._ground import f, linalg
from .distribution import Distribution, value_checked
from .multivariate_normal import half_log_det, mahalanobis
from .utils import _attribute, _standard_normal, lazy_property

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._base.annotations import Shape
    from .._tensor.tensor import Tensor


def capacitance_tril(factor: Tensor, diagonal: Tensor) -> Tensor:
    """The Cholesky factor of 1 + W^T D^-1 W."""
    m = factor.size(-1)
    inner = f.matmul(factor.mT / diagonal.unsqueeze(-2), factor).contiguous()
    return linalg.cholesky(inner + f.eye(m, dtype=inner.dtype, device=inner.device))


def lowrank_log_det(factor: Tensor, diagonal: Tensor, capacitance: Tensor) -> Tensor:
    """log det (W W^T + D), by the matrix determinant lemma."""
    return 2 * half_log_det(capacitance) + diagonal.log().sum(-1)


def lowrank_mahalanobis(factor: Tensor, diagonal: Tensor, x: Tensor, capacitance: Tensor) -> Tensor:
    """x^T (W W^T + D)^-1 x, by Woodbury's identity."""
    scaled = factor.mT / diagonal.unsqueeze(-2)
    inner = f.matmul(scaled, x.unsqueeze(-1)).squeeze(-1)
    return (x.pow(2) / diagonal).sum(-1) - mahalanobis(capacitance, inner)


class LowRankMultivariateNormal(Distribution):
    """A normal vector whose covariance is `cov_factor` times itself plus a diagonal."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True
    _parameters = {"loc": 1, "cov_diag": 1, "cov_factor": 2}

    def __init__(
        self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError(
                "cov_factor must be at least two-dimensional, with optional leading batch "
                "dimensions"
            )
        if cov_factor.shape[-2:-1] != event:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event[0]} x m")
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}")
        try:
            batch = f.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, "
                f"cov_diag {cov_diag.shape}"
            ) from error
        self.loc = loc.expand((*batch, *event))
        self.cov_diag = cov_diag.expand((*batch, *event))
        self.cov_factor = cov_factor.expand((*batch, *cov_factor.shape[-2:]))
        self._unbroadcasted_cov_factor = cov_factor
        self._unbroadcasted_cov_diag = cov_diag
        self._capacitance_tril = capacitance_tril(cov_factor, cov_diag)
        super().__init__(batch, event, validate_args=validate_args)

    def _expand_rest(self, new: Self, batch: Sequence[int]) -> None:
        new._unbroadcasted_cov_factor = self._unbroadcasted_cov_factor
        new._unbroadcasted_cov_diag = self._unbroadcasted_cov_diag
        new._capacitance_tril = self._capacitance_tril

    mean = mode = _attribute("loc")

    @lazy_property
    def variance(self) -> Tensor:
        """The variances of the components."""
        squares = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return squares.expand(self._batch_shape + self._event_shape)

    def _matrix_shape(self) -> Shape:
        return self._batch_shape + self._event_shape + self._event_shape

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance."""
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        inner = f.matmul(scaled, scaled.mT).contiguous()
        inner = inner + f.eye(self._event_shape[0], dtype=inner.dtype, device=inner.device)
        return (root * linalg.cholesky(inner)).expand(self._matrix_shape())

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix."""
        factor = self._unbroadcasted_cov_factor
        matrix = f.matmul(factor, factor.mT) + f.diag_embed(self._unbroadcasted_cov_diag)
        return matrix.expand(self._matrix_shape())

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        scaled = self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)
        a = linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        matrix = f.diag_embed(self._unbroadcasted_cov_diag.reciprocal()) - a.mT @ a
        return matrix.expand(self._matrix_shape())

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        rank = (*shape[:-1], self.cov_factor.shape[-1])
        eps_w = _standard_normal(rank, dtype=self.loc.dtype, device=self.loc.device)
        eps_d = _standard_normal(shape, dtype=self.loc.dtype, device=self.loc.device)
        low_rank = f.matmul(self._unbroadcasted_cov_factor, eps_w.unsqueeze(-1)).squeeze(-1)
        return self.loc + low_rank + self._unbroadcasted_cov_diag.sqrt() * eps_d

    def _log_det(self) -> Tensor:
        return lowrank_log_det(
            self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag, self._capacitance_tril
        )

    def log_prob(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        distance = lowrank_mahalanobis(
            self._unbroadcasted_cov_factor,
            self._unbroadcasted_cov_diag,
            value - self.loc,
            self._capacitance_tril,
        )
        n = self._event_shape[0]
        return -0.5 * (n * math.log(2 * math.pi) + self._log_det() + distance)

    def entropy(self) -> Tensor:
        n = self._event_shape[0]
        entropy = 0.5 * (n * (1.0 + math.log(2 * math.pi)) + self._log_det())
        return entropy if len(self._batch_shape) == 0 else entropy.expand(self._batch_shape)


__all__ = ["LowRankMultivariateNormal"]
