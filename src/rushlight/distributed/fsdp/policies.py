"""In which types the parameters of `fully_shard` are computed with, and where they wait."""

from __future__ import annotations

from dataclasses import dataclass

from ..._base.dtypes import dtype

__all__ = ["CPUOffloadPolicy", "MixedPrecisionPolicy", "OffloadPolicy"]


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """In which types parameters, gradients and outputs are held."""

    param_dtype: dtype | None = None
    reduce_dtype: dtype | None = None
    output_dtype: dtype | None = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """Parameters stay where they are."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """Parameters wait in main memory."""

    pin_memory: bool = True
