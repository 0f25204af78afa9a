"""Batch normalisation: mean 0 and variance 1 by channel, over the batch and the places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._base.ranks import RANKS
from .. import functional as F, init
from .._ground import Tensor, dtypes, f
from ..parameter import Parameter
from ._own_names import own
from .module import Module

if TYPE_CHECKING:
    from ..._base.annotations import DeviceLike
    from ..._base.dtypes import dtype
    from ...distributed.process_group import ProcessGroup


__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"]


class _NormBase(Module):
    """What batch and instance norm share: a scale and shift by channel, and running statistics."""

    # Version 2 added `num_batches_tracked`.
    _version = 2
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]
    num_features: int
    eps: float
    momentum: float | None
    affine: bool
    track_running_stats: bool
    weight: Tensor | None
    bias: Tensor | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = Parameter(f.empty(num_features, device=device, dtype=dtype))
        else:
            self.register_parameter("weight", None)
        if affine and bias:
            self.bias = Parameter(f.empty(num_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        if track_running_stats:
            self.register_buffer("running_mean", f.zeros(num_features, device=device, dtype=dtype))
            self.register_buffer("running_var", f.ones(num_features, device=device, dtype=dtype))
            count = f.tensor(0, dtype=dtypes.int64, device=device)
            self.register_buffer("num_batches_tracked", count)
        else:
            self.register_buffer("running_mean", None)
            self.register_buffer("running_var", None)
            self.register_buffer("num_batches_tracked", None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forgets what was seen: mean 0, variance 1, no batches."""
        if self.track_running_stats:
            assert self.running_mean is not None and self.running_var is not None
            assert self.num_batches_tracked is not None
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Sets the scale to one, the shift to zero, and forgets the statistics."""
        self.reset_running_stats()
        if self.affine:
            if self.weight is not None:
                init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        version = local_metadata.get("version", None)
        key = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            count = self.num_batches_tracked
            state_dict[key] = f.tensor(0, dtype=dtypes.int64) if count is None else count
        super()._load_from_state_dict(
            state_dict,
            prefix,
            local_metadata,
            strict,
            missing_keys,
            unexpected_keys,
            error_msgs,
        )


@own("__init__")
class _BatchNorm(_NormBase):
    """Batch norm over any number of places; the subclasses check how many."""

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        average = 0.0 if self.momentum is None else self.momentum
        count = self.num_batches_tracked
        if self.training and self.track_running_stats and count is not None:
            count.add_(1)
            if self.momentum is None:
                # No momentum: a plain average over all batches so far.
                average = 1.0 / float(count)
        from_batch = self.training or (self.running_mean is None and self.running_var is None)
        # In evaluation statistics that aren't tracked are ignored, present or not.
        keep = not self.training or self.track_running_stats
        mean, var = (self.running_mean, self.running_var) if keep else (None, None)
        return self._normalize(input, mean, var, from_batch, average)

    def _normalize(
        self, input: Tensor, mean: Tensor | None, var: Tensor | None, from_batch: bool,
        average: float,
    ) -> Tensor:  # fmt: skip
        return F.batch_norm(input, mean, var, self.weight, self.bias, from_batch, average, self.eps)


class BatchNorm1d(_BatchNorm):
    """Batch norm of (N, C) or (N, C, L)."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class BatchNorm2d(_BatchNorm):
    """Batch norm of (N, C, H, W)."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 4:
            raise ValueError(f"expected 4D input (got {input.dim()}D input)")


class BatchNorm3d(_BatchNorm):
    """Batch norm of (N, C, D, H, W)."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 5:
            raise ValueError(f"expected 5D input (got {input.dim()}D input)")


class SyncBatchNorm(_BatchNorm):
    """Batch norm whose statistics are those of all ranks of a group.

    Shapes: input (N, C, *).
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: ProcessGroup | None = None,
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    def _check_non_zero_input_channels(self, input: Tensor) -> None:
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        self._check_non_zero_input_channels(input)
        return super().forward(input)

    def _normalize(
        self, input: Tensor, mean: Tensor | None, var: Tensor | None, from_batch: bool,
        average: float,
    ) -> Tensor:  # fmt: skip
        out = None
        if self.training:
            weights = (self.weight, self.bias)
            group = self.process_group
            out = RANKS.normalize(input, weights, (mean, var), average, self.eps, group)
        return super()._normalize(input, mean, var, from_batch, average) if out is None else out

    @classmethod
    def convert_sync_batchnorm(
        cls, module: Module, process_group: ProcessGroup | None = None
    ) -> Module:
        """The module with every batch norm in it replaced by one over a group of processes."""
        result = module
        if isinstance(module, _BatchNorm):
            made: Any = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
                bias=module.bias is not None,
            )
            if module.affine:
                made.weight, made.bias = module.weight, module.bias
            made.running_mean, made.running_var = module.running_mean, module.running_var
            made.num_batches_tracked = module.num_batches_tracked
            made.training = module.training
            if hasattr(module, "qconfig"):
                made.qconfig = module.qconfig
            result = made
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result
