"""Instance normalisation: mean 0 and variance 1 by sample and channel, over the places."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from .. import functional as F
from .._ground import Tensor
from .batchnorm import _NormBase

if TYPE_CHECKING:
    from ..._base.annotations import DeviceLike
    from ..._base.dtypes import dtype


__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]


class _InstanceNorm(_NormBase):
    """Instance norm over any number of places; a missing batch dimension is added and removed."""

    # How many dimensions an input without a batch dimension has.
    _unbatched_dim: int

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def _check_input_dim(self, input: Tensor) -> None:
        fewer, more = self._unbatched_dim, self._unbatched_dim + 1
        if input.dim() not in (fewer, more):
            raise ValueError(f"expected {fewer}D or {more}D input (got {input.dim()}D input)")

    def _normalise(self, input: Tensor) -> Tensor:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum if self.momentum is not None else 0.0,
            self.eps,
        )

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        channel_dim = input.dim() - self._unbatched_dim
        channels = input.size(channel_dim)
        if channels != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={channel_dim} to match num_features "
                    f"({self.num_features}), but got: {channels}."
                )
            warnings.warn(
                f"input's size at dim={channel_dim} does not match num_features. "
                "You can silence this warning by not passing in num_features, "
                "which is not used because affine=False",
                stacklevel=2,
            )
        if channel_dim == 0:
            return self._normalise(input.unsqueeze(0)).squeeze(0)
        return self._normalise(input)


class InstanceNorm1d(_InstanceNorm):
    """Instance norm of (N, C, L) or (C, L)."""

    _unbatched_dim = 2


class InstanceNorm2d(_InstanceNorm):
    """Instance norm of (N, C, H, W) or (C, H, W)."""

    _unbatched_dim = 3


class InstanceNorm3d(_InstanceNorm):
    """Instance norm of (N, C, D, H, W) or (C, D, H, W)."""

    _unbatched_dim = 4
