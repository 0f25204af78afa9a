"""The Wishart distribution of positive definite matrices."""

from __future__ import annotations

import math
import warnings
from numbers import Number
from typing import TYPE_CHECKING, Any, Self

from . import constraints
from ._ground import Size, f, linalg, nan
from .chi2 import Chi2
from .distribution import value_checked
from .exp_family import ExponentialFamily
from .multivariate_normal import GivenCovariance, half_log_det, precision_to_scale_tril

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor
    from .constraints import Constraint


class Wishart(GivenCovariance, ExponentialFamily):
    """The sum of `df` outer products of normal vectors with the covariance given."""

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    _parameters = {"df": 0, "covariance_matrix": 2, "scale_tril": 2, "precision_matrix": 2}

    def __init__(
        self,
        df: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        given = {
            "scale_tril": scale_tril,
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
        }
        if sum(matrix is not None for matrix in given.values()) != 1:
            raise AssertionError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                "specified."
            )
        name, matrix = next((k, m) for k, m in given.items() if m is not None)
        if matrix.dim() < 2:
            raise ValueError(
                "scale_tril must be at least two-dimensional, with optional leading batch "
                "dimensions"
            )
        if isinstance(df, Number):
            batch = Size(matrix.shape[:-2])
            self.df = f.tensor(df, dtype=matrix.dtype, device=matrix.device)
        else:
            batch = f.broadcast_shapes(matrix.shape[:-2], df.shape)
            self.df = df.expand(batch)
        event = matrix.shape[-2:]
        if self.df.le(event[-1] - 1).any():
            raise ValueError(
                f"Value of df={df} expected to be greater than ndim - 1 = {event[-1] - 1}."
            )
        self.__dict__[name] = matrix.expand((*batch, -1, -1))
        if self.df.lt(event[-1]).any():
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for ndim - 1 "
                "< df < ndim.",
                stacklevel=2,
            )
        super().__init__(batch, event, validate_args=validate_args)
        self._batch_dims = [-(x + 1) for x in range(len(self._batch_shape))]
        if scale_tril is not None:
            self._unbroadcasted_scale_tril = scale_tril
        elif covariance_matrix is not None:
            self._unbroadcasted_scale_tril = linalg.cholesky(covariance_matrix)
        else:
            self._unbroadcasted_scale_tril = precision_to_scale_tril(precision_matrix)
        self._dist_chi2 = self._chi2(self._batch_shape)

    def _chi2(self, batch: Sequence[int]) -> Chi2:
        n = self._event_shape[-1]
        steps = f.arange(n, dtype=self.df.dtype, device=self.df.device)
        return Chi2(df=self.df.unsqueeze(-1) - steps.expand((*batch, -1)))

    def _expand_rest(self, new: Self, batch: Sequence[int]) -> None:
        super()._expand_rest(new, batch)
        new._event_shape = self._event_shape
        new._batch_dims = [-(x + 1) for x in range(len(batch))]
        new._dist_chi2 = new._chi2(batch)

    @property
    def arg_constraints(self) -> dict[str, Constraint]:
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def _df(self) -> Tensor:
        return self.df.view((*self._batch_shape, 1, 1))

    @property
    def mean(self) -> Tensor:
        return self._df() * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor[factor <= 0] = nan
        return factor.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        outer = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self._df() * (v.pow(2) + outer)

    def _bartlett(self, sample_shape: Sequence[int]) -> Tensor:
        """Bartlett's decomposition: chi on the diagonal, normals below."""
        n = self._event_shape[-1]
        noise = self._dist_chi2.rsample(sample_shape).sqrt().diag_embed(dim1=-2, dim2=-1)
        i, j = f.tril_indices(n, n, offset=-1)
        noise[..., i, j] = f.randn(
            (*sample_shape, *self._batch_shape, n * (n - 1) // 2), dtype=noise.dtype
        )
        root = self._unbroadcasted_scale_tril @ noise
        return root @ root.transpose(-2, -1)

    def rsample(
        self, sample_shape: Sequence[int] = (), max_try_correction: int | None = None
    ) -> Tensor:
        """Draws; what was drawn is drawn again, and what is singular then a few times more.

        PyTorch's first question for singular matrices is the wrong way round: it draws again what
        was fine, and warns. The numbers of a seed depend on it, so it is asked that way here too.
        """
        if max_try_correction is None:
            max_try_correction = 3 if self._event_shape[-1] < 10 else 10
        shape = Size(sample_shape)
        sample = self._bartlett(shape)
        singular = self.support.check(sample)
        if self._batch_shape:
            singular = singular.amax(self._batch_dims)
        if singular.any():
            warnings.warn("Singular sample detected.", stacklevel=2)
            for _ in range(max_try_correction):
                again = self._bartlett(Size(singular[singular].shape))
                sample[singular] = again
                bad = self.support.check(again).logical_not()
                if self._batch_shape:
                    bad = bad.amax(self._batch_dims)
                singular[singular.clone()] = bad
                if not singular.any():
                    break
        return sample

    def log_prob(self, value: Tensor) -> Tensor:
        value_checked(self, value)
        nu, n = self.df, self._event_shape[-1]
        factor = self._unbroadcasted_scale_tril
        trace = f.cholesky_solve(value, factor).diagonal(dim1=-2, dim2=-1).sum(dim=-1)
        return (
            -nu * (n * math.log(2.0) / 2.0 + half_log_det(factor))
            - f.mvlgamma(nu / 2.0, p=n)
            + (nu - n - 1) / 2.0 * linalg.slogdet(value).logabsdet
            - trace / 2.0
        )

    def entropy(self) -> Tensor:
        nu, n = self.df, self._event_shape[-1]
        steps = f.arange(n, dtype=nu.dtype, device=nu.device)
        digammas = f.digamma((nu.unsqueeze(-1) - steps) / 2.0).sum(-1)
        return (
            (n + 1) * (n * math.log(2.0) / 2.0 + half_log_det(self._unbroadcasted_scale_tril))
            + f.mvlgamma(nu / 2.0, p=n)
            - (nu - n - 1) / 2.0 * digammas
            + nu * n / 2.0
        )

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        n = self._event_shape[-1]
        return (y + (n + 1) / 2) * (
            -linalg.slogdet(-2 * x).logabsdet + math.log(2.0) * n
        ) + f.mvlgamma(y + (n + 1) / 2, p=n)


__all__ = ["Wishart"]
