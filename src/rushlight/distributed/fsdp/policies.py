"""In which types the parameters of `fully_shard` are computed with, and where they wait."""

from __future__ import annotations

from dataclasses import dataclass

from ..._base.dtypes import dtype

__all__ = ["CPUOffloadPolicy", "MixedPrecisionPolicy", "OffloadPolicy"]


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """In which types parameters, gradients and outputs are held.

    Parameters:
        param_dtype: the type that forward and backward compute in; None means the parameters' own.
        reduce_dtype: the type in which gradients are sent; None means `param_dtype`.
        output_dtype: the type that outputs of floats are given; None means their own.
        cast_forward_inputs: whether inputs are given `param_dtype`.
    Raises: TypeError: for other parameters.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> policy = dist.fsdp.MixedPrecisionPolicy(torch.bfloat16, output_dtype=torch.float32)
        >>> model = dist.fsdp.fully_shard(nn.Linear(2, 1), mp_policy=policy)
        >>> model(torch.ones(1, 2)).dtype
        torch.float32
    """

    param_dtype: dtype | None = None
    reduce_dtype: dtype | None = None
    output_dtype: dtype | None = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """Parameters stay where they are.

    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> policy = dist.fsdp.OffloadPolicy()
        >>> dist.fsdp.fully_shard(nn.Linear(2, 1), offload_policy=policy)
        FSDPLinear(in_features=2, out_features=1, bias=True)
    """


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """Parameters wait in the memory of the CPU, where they are here in any case.

    Parameters:
        pin_memory: nothing here: no device copies from that memory.
    Raises: TypeError: for other parameters.
    Example:
        >>> dist.fsdp.CPUOffloadPolicy(pin_memory=False)
        CPUOffloadPolicy(pin_memory=False)
    """

    pin_memory: bool = True
