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
    """What is spread over the processes."""

    FULL_SHARD = auto()
    SHARD_GRAD_OP = auto()
    NO_SHARD = auto()
    HYBRID_SHARD = auto()
    _HYBRID_SHARD_ZERO2 = auto()


class BackwardPrefetch(Enum):
    """When the next parameters are fetched in backward."""

    BACKWARD_PRE = auto()
    BACKWARD_POST = auto()


class StateDictType(Enum):
    """Which parts a process puts into a state dictionary."""

    FULL_STATE_DICT = auto()
    LOCAL_STATE_DICT = auto()
    SHARDED_STATE_DICT = auto()


class OptimStateKeyType(Enum):
    """What optimizer states are filed under."""

    PARAM_NAME = auto()
    PARAM_ID = auto()


@dataclass
class MixedPrecision:
    """In which types parameters, gradients and buffers are held."""

    param_dtype: dtype | None = None
    reduce_dtype: dtype | None = None
    buffer_dtype: dtype | None = None
    keep_low_precision_grads: bool = False
    cast_forward_inputs: bool = False
    cast_root_forward_inputs: bool = True
    _module_classes_to_ignore: Sequence[type[Any]] = (_BatchNorm,)


@dataclass
class CPUOffload:
    """Whether parameters wait in main memory."""

    offload_params: bool = False


@dataclass
class StateDictConfig:
    """Whether state dictionaries go to main memory."""

    offload_to_cpu: bool = False


@dataclass
class FullStateDictConfig(StateDictConfig):
    """For whole state dictionaries."""

    rank0_only: bool = False


@dataclass
class LocalStateDictConfig(StateDictConfig):
    """For a process's own part."""


@dataclass
class ShardedStateDictConfig(StateDictConfig):
    """For parts that know where they belong."""

    _use_dtensor: bool = False


@dataclass
class OptimStateDictConfig:
    """Whether optimizer states go to main memory."""

    offload_to_cpu: bool = True


@dataclass
class FullOptimStateDictConfig(OptimStateDictConfig):
    """For whole optimizer states."""

    rank0_only: bool = False


@dataclass
class LocalOptimStateDictConfig(OptimStateDictConfig):
    """For a process's own part."""

    offload_to_cpu: bool = False


@dataclass
class ShardedOptimStateDictConfig(OptimStateDictConfig):
    """For parts that know where they belong."""

    _use_dtensor: bool = False


@dataclass
class StateDictSettings:
    """The kind of state dictionary, with what was chosen for it."""

    state_dict_type: StateDictType
    state_dict_config: StateDictConfig
    optim_state_dict_config: OptimStateDictConfig
