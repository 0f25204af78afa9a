"""The multivariate normal distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

from . import constraints
from ._ground import f, linalg
from .distribution import Distribution, value_checked
from .utils import _attribute, _standard_normal, lazy_property

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._base.annotations import Shape
    from .._tensor.tensor import Tensor


def mahalanobis(factor: Tensor, x: Tensor) -> Tensor:
    """x^T (L L^T)^-1 x for each vector; `factor` is L, broadcast over the batch."""
    return linalg.solve_triangular(factor, x.unsqueeze(-1), upper=False).squeeze(-1).pow(2).sum(-1)


def half_log_det(factor: Tensor) -> Tensor:
    """log det L of triangular matrices."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def precision_to_scale_tril(precision: Any) -> Tensor:
    """The Cholesky factor of the inverse of a precision matrix."""
    flipped = linalg.cholesky(f.flip(precision, (-2, -1)))
    inverse_factor = f.transpose(f.flip(flipped, (-2, -1)), -2, -1)
    identity = f.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return linalg.solve_triangular(inverse_factor, identity, upper=False)


def _batch_mv(matrices: Tensor, vectors: Tensor) -> Tensor:
    """The products of matrices and vectors, one of each in a batch."""
    return f.matmul(matrices, vectors.unsqueeze(-1)).squeeze(-1)


# PyTorch's own names of these, which packages import.
_batch_mahalanobis, _precision_to_scale_tril = mahalanobis, precision_to_scale_tril


class GivenCovariance(Distribution):
    """What distributions share that are given one of a covariance, its inverse, its factor."""

    _unbroadcasted_scale_tril: Tensor

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance."""
        return self._unbroadcasted_scale_tril.expand(self._matrix_shape())

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix."""
        factor = self._unbroadcasted_scale_tril
        return f.matmul(factor, factor.mT).expand(self._matrix_shape())

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        return f.cholesky_inverse(self._unbroadcasted_scale_tril).expand(self._matrix_shape())

    def _matrix_shape(self) -> Shape:
        n = self._event_shape[-1:]
        return self._batch_shape + n + n

    def _expand_rest(self, new: Self, batch: Sequence[int]) -> None:
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril


class MultivariateNormal(GivenCovariance):
    """A normal vector of mean `loc`, with a covariance, a precision matrix or a Cholesky factor."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True
    _parameters = {"loc": 1, "covariance_matrix": 2, "scale_tril": 2, "precision_matrix": 2}

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {
            "scale_tril": scale_tril,
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
        }
        if sum(matrix is not None for matrix in given.values()) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                "specified."
            )
        name, matrix = next((k, m) for k, m in given.items() if m is not None)
        if matrix.dim() < 2:
            word = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(
                f"{word} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch = f.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.__dict__[name] = matrix.expand((*batch, -1, -1))
        self.loc = loc.expand((*batch, -1))
        super().__init__(batch, self.loc.shape[-1:], validate_args=validate_args)
        if scale_tril is not None:
            self._unbroadcasted_scale_tril = scale_tril
        elif covariance_matrix is not None:
            self._unbroadcasted_scale_tril = linalg.cholesky(covariance_matrix)
        else:
            self._unbroadcasted_scale_tril = precision_to_scale_tril(precision_matrix)

    mean = mode = _attribute("loc")

    @property
    def variance(self) -> Tensor:
        squares = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return squares.expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        eps = _standard_normal(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + f.matmul(self._unbroadcasted_scale_tril, eps.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        factor = self._unbroadcasted_scale_tril
        distance = mahalanobis(factor, value - self.loc)
        n = self._event_shape[0]
        return -0.5 * (n * math.log(2 * math.pi) + distance) - half_log_det(factor)

    def entropy(self) -> Tensor:
        n = self._event_shape[0]
        entropy = 0.5 * n * (1.0 + math.log(2 * math.pi)) + half_log_det(
            self._unbroadcasted_scale_tril
        )
        return entropy if len(self._batch_shape) == 0 else entropy.expand(self._batch_shape)


__all__ = ["MultivariateNormal"]
