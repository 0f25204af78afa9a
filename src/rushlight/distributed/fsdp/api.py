"""The choices that programs make for parameters spread over processes; here they choose nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from ..._base.dtypes import dtype
from ...nn.modules.batchnorm import _BatchNorm

__all__ = [
    "BackwardPrefetch", "CPUOffload", "FullOptimStateDictConfig", "FullStateDictConfig",
    "LocalOptimStateDictConfig", "LocalStateDictConfig", "MixedPrecision", "OptimStateDictConfig",
    "OptimStateKeyType", "ShardedOptimStateDictConfig", "ShardedStateDictConfig",
    "ShardingStrategy", "StateDictConfig", "StateDictSettings", "StateDictType",
]  # fmt: skip


class ShardingStrategy(Enum):
    """What is spread over the processes.

    FULL_SHARD: parameters, gradients and optimizer states; whole parameters are given up after
    forward. SHARD_GRAD_OP: they stay whole until backward is done. NO_SHARD: nothing is spread.
    HYBRID_SHARD: as FULL_SHARD within each host, the same on all hosts.

    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> model = dist.fsdp.FullyShardedDataParallel(
        ...     nn.Linear(2, 1), sharding_strategy=dist.fsdp.ShardingStrategy.SHARD_GRAD_OP
        ... )
    """

    FULL_SHARD = auto()
    SHARD_GRAD_OP = auto()
    NO_SHARD = auto()
    HYBRID_SHARD = auto()
    _HYBRID_SHARD_ZERO2 = auto()


class BackwardPrefetch(Enum):
    """When the next parameters are fetched in backward; here they are when they are needed.

    Example:
        >>> dist.fsdp.BackwardPrefetch.BACKWARD_PRE.name
        'BACKWARD_PRE'
    """

    BACKWARD_PRE = auto()
    BACKWARD_POST = auto()


class StateDictType(Enum):
    """Which parts a process puts into a state dictionary: all, its own, or pieces with places.

    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> model = dist.fsdp.FullyShardedDataParallel(nn.Linear(2, 1))
        >>> kind = dist.fsdp.StateDictType.FULL_STATE_DICT
        >>> with dist.fsdp.FullyShardedDataParallel.state_dict_type(model, kind):
        ...     list(model.state_dict())
        ['weight', 'bias']
    """

    FULL_STATE_DICT = auto()
    LOCAL_STATE_DICT = auto()
    SHARDED_STATE_DICT = auto()


class OptimStateKeyType(Enum):
    """What optimizer states are filed under: the names of parameters, or their numbers.

    Example:
        >>> dist.fsdp.OptimStateKeyType.PARAM_NAME.name
        'PARAM_NAME'
    """

    PARAM_NAME = auto()
    PARAM_ID = auto()


@dataclass
class MixedPrecision:
    """In which types parameters, gradients and buffers are held.

    Parameters:
        param_dtype: the type that forward and backward compute in; None means the parameters' own.
        reduce_dtype: the type in which gradients are sent; None means `param_dtype`.
        buffer_dtype: the type of buffers of floats; None means their own.
        keep_low_precision_grads: nothing here: gradients get the parameters' type.
        cast_forward_inputs: whether inner parts' inputs are given `param_dtype`.
        cast_root_forward_inputs: whether the outermost part's inputs are.
    Raises: TypeError: for other parameters.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> half = dist.fsdp.MixedPrecision(param_dtype=torch.bfloat16)
        >>> model = dist.fsdp.FullyShardedDataParallel(nn.Linear(2, 1), mixed_precision=half)
        >>> model(torch.ones(1, 2)).dtype
        torch.bfloat16
    """

    param_dtype: dtype | None = None
    reduce_dtype: dtype | None = None
    buffer_dtype: dtype | None = None
    keep_low_precision_grads: bool = False
    cast_forward_inputs: bool = False
    cast_root_forward_inputs: bool = True
    _module_classes_to_ignore: Sequence[type[Any]] = (_BatchNorm,)


@dataclass
class CPUOffload:
    """Whether parameters wait in the memory of the CPU, where they are here in any case.

    Parameters:
        offload_params: whether they do.
    Raises: TypeError: for other parameters.
    Example:
        >>> dist.fsdp.CPUOffload(offload_params=True)
        CPUOffload(offload_params=True)
    """

    offload_params: bool = False


@dataclass
class StateDictConfig:
    """Whether state dictionaries go to the memory of the CPU, where they are here in any case.

    Parameters:
        offload_to_cpu: whether they do.
    Raises: TypeError: for other parameters.
    Example:
        >>> dist.fsdp.StateDictConfig(offload_to_cpu=True)
        StateDictConfig(offload_to_cpu=True)
    """

    offload_to_cpu: bool = False


@dataclass
class FullStateDictConfig(StateDictConfig):
    """For whole state dictionaries.

    Parameters:
        offload_to_cpu: nothing here: they are in the memory of the CPU.
        rank0_only: whether rank 0 alone is given one; the others are given an empty one.
    Raises: TypeError: for other parameters.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> FSDP = dist.fsdp.FullyShardedDataParallel
        >>> model, kind = FSDP(nn.Linear(2, 1)), dist.fsdp.StateDictType.FULL_STATE_DICT
        >>> with FSDP.state_dict_type(model, kind, dist.fsdp.FullStateDictConfig(rank0_only=True)):
        ...     list(model.state_dict())
        ['weight', 'bias']
    """

    rank0_only: bool = False


@dataclass
class LocalStateDictConfig(StateDictConfig):
    """For a process's own part.

    Parameters:
        offload_to_cpu: nothing here: it is in the memory of the CPU.
    Raises: TypeError: for other parameters.
    Example:
        >>> dist.fsdp.LocalStateDictConfig()
        LocalStateDictConfig(offload_to_cpu=False)
    """


@dataclass
class ShardedStateDictConfig(StateDictConfig):
    """For pieces that know where they belong.

    Parameters:
        offload_to_cpu: nothing here: they are in the memory of the CPU.
    Raises: TypeError: for other parameters.
    Example:
        >>> dist.fsdp.ShardedStateDictConfig(offload_to_cpu=True).offload_to_cpu
        True
    """

    _use_dtensor: bool = False


@dataclass
class OptimStateDictConfig:
    """Whether optimizer states go to the memory of the CPU, where they are here in any case.

    Parameters:
        offload_to_cpu: whether they do.
    Raises: TypeError: for other parameters.
    Example:
        >>> dist.fsdp.OptimStateDictConfig()
        OptimStateDictConfig(offload_to_cpu=True)
    """

    offload_to_cpu: bool = True


@dataclass
class FullOptimStateDictConfig(OptimStateDictConfig):
    """For whole optimizer states.

    Parameters:
        offload_to_cpu: nothing here: they are in the memory of the CPU.
        rank0_only: whether rank 0 alone is given them; the others are given an empty dictionary.
    Raises: TypeError: for other parameters.
    Example:
        >>> dist.fsdp.FullOptimStateDictConfig(rank0_only=True)
        FullOptimStateDictConfig(offload_to_cpu=True, rank0_only=True)
    """

    rank0_only: bool = False


@dataclass
class LocalOptimStateDictConfig(OptimStateDictConfig):
    """For a process's own part of optimizer states.

    Parameters:
        offload_to_cpu: nothing here: it is in the memory of the CPU.
    Raises: TypeError: for other parameters.
    Example:
        >>> dist.fsdp.LocalOptimStateDictConfig()
        LocalOptimStateDictConfig(offload_to_cpu=False)
    """

    offload_to_cpu: bool = False


@dataclass
class ShardedOptimStateDictConfig(OptimStateDictConfig):
    """For pieces of optimizer states that know where they belong.

    Parameters:
        offload_to_cpu: nothing here: they are in the memory of the CPU.
    Raises: TypeError: for other parameters.
    Example:
        >>> dist.fsdp.ShardedOptimStateDictConfig().offload_to_cpu
        True
    """

    _use_dtensor: bool = False


@dataclass
class StateDictSettings:
    """The kind of state dictionary, with what was chosen for it.

    Parameters:
        state_dict_type: the kind, of `StateDictType`.
        state_dict_config: what was chosen for the model's dictionary.
        optim_state_dict_config: what was chosen for the optimizer's.
    Raises: TypeError: for other parameters.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> FSDP = dist.fsdp.FullyShardedDataParallel
        >>> FSDP.get_state_dict_type(FSDP(nn.Linear(2, 1))).state_dict_type.name
        'FULL_STATE_DICT'
    """

    state_dict_type: StateDictType
    state_dict_config: StateDictConfig
    optim_state_dict_config: OptimStateDictConfig
