"""`torch.distributed`: several processes, whose messages MPI carries.

A group of one process needs nothing: it hears what it says itself. For more mpi4py is imported,
which the extra `mpi` installs, when the group is made.
"""

from __future__ import annotations

import importlib.util
import os
from typing import TYPE_CHECKING, Any

from .._base.lazy import lazy, list_names as _listed
from . import batch_norm as batch_norm, distributed_c10d
from .coalescing import _coalescing_manager as _coalescing_manager
from .collectives import (
    all_gather,
    all_gather_coalesced,
    all_gather_into_tensor,
    all_gather_single,
    all_reduce,
    all_reduce_coalesced,
    barrier,
    broadcast,
    gather,
    monitored_barrier,
    reduce,
    scatter,
)
from .debug_levels import (
    DebugLevel,
    get_debug_level,
    set_debug_level,
    set_debug_level_from_env,
)
from .device_mesh import DeviceMesh, init_device_mesh
from .distributed_c10d import _rank_not_in_group as _rank_not_in_group
from .errors import (
    DistBackendError,
    DistError,
    DistNetworkError,
    DistStoreError,
    QueueEmptyError,
)
from .exchanges import (
    all_to_all,
    all_to_all_single,
    reduce_scatter,
    reduce_scatter_single,
    reduce_scatter_tensor,
)
from .file_store import FileStore
from .object_collectives import (
    all_gather_object,
    broadcast_object_list,
    gather_object,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)
from .point_to_point import P2POp, batch_isend_irecv, irecv, isend, recv, send
from .process_group import (
    Backend,
    GroupMember,
    ProcessGroup,
    Work,
    destroy_process_group,
    get_backend,
    get_backend_config,
    get_global_rank,
    get_group_rank,
    get_pg_count,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    init_process_group,
    is_initialized,
    new_group,
)
from .reduce_op import ReduceOp, reduce_op
from .rendezvous import register_rendezvous_handler, rendezvous
from .stores import HashStore, PrefixStore, Store
from .subgroups import (
    new_subgroups,
    new_subgroups_by_enumeration,
    split_group,
)
from .tcp_store import TCPStore


def is_available() -> bool:
    """Whether groups can be made.

    Returns: True.
    Example:
        >>> dist.is_available()
        True
    """
    return True


def is_gloo_available() -> bool:
    """Whether its name is taken for groups on the CPU; MPI carries their messages.

    Returns: True.
    Example:
        >>> dist.is_gloo_available()
        True
    """
    return True


def is_nccl_available() -> bool:
    """Whether there is NCCL, which sends between GPUs.

    Returns: False: there are no GPUs here.
    Example:
        >>> dist.is_nccl_available()
        False
    """
    return False


def is_mpi_available() -> bool:
    """Whether mpi4py is installed, which groups of several processes need.

    Returns: True where it can be imported; nothing is said of the MPI that it needs.
    Example:
        >>> dist.is_mpi_available() == dist.is_backend_available("mpi")
        True
    """
    return importlib.util.find_spec("mpi4py") is not None


def is_ucc_available() -> bool:
    """Whether there is UCC, which sends between GPUs.

    Returns: False: there is no UCC here.
    Example:
        >>> dist.is_ucc_available()
        False
    """
    return False


def is_xccl_available() -> bool:
    """Whether there is XCCL, which sends between Intel's GPUs.

    Returns: False: there are no GPUs here.
    Example:
        >>> dist.is_xccl_available()
        False
    """
    return False


def is_backend_available(backend: str) -> bool:
    """Whether a backend of this name can be used.

    Parameters:
        backend: the name, in any case.
    Returns: True for "gloo" and "fake", and for "mpi" where mpi4py is installed.
    Raises: AttributeError: for what isn't text.
    Example:
        >>> dist.is_backend_available("gloo"), dist.is_backend_available("nccl")
        (True, False)
    """
    name = backend.lower()
    return name in ("gloo", "fake") or (name == "mpi" and is_mpi_available())


def is_torchelastic_launched() -> bool:
    """Whether the program was started by torchrun.

    Returns: True where `TORCHELASTIC_RUN_ID` is in the environment.
    Example:
        >>> dist.is_torchelastic_launched()
        False
    """
    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


def get_default_backend_for_device(device: Any) -> str:
    """The backend for tensors of a device.

    Parameters:
        device: a device, or its name.
    Returns: "gloo".
    Raises: ValueError: for any but the CPU.
    Example:
        >>> dist.get_default_backend_for_device("cpu")
        'gloo'
    """
    name = device if isinstance(device, str) else device.type
    if name.partition(":")[0] != "cpu":
        raise ValueError(f"Default backend not registered for device : {device}")
    return "gloo"


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """The rank among the processes of this machine, from the environment.

    Parameters:
        fallback_rank: what is given where `LOCAL_RANK` isn't set.
    Returns: the rank that torchrun has told.
    Raises: RuntimeError: where nothing tells it. ValueError: for a `LOCAL_RANK` that is no number.
    Example:
        >>> dist.get_node_local_rank(fallback_rank=0)
        0
    """
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow "
        "`get_node_local_rank` to work, assuming you are not running in a multi-device context and "
        "want the code to run locally instead."
    )


if TYPE_CHECKING:
    from . import (
        algorithms as algorithms,
        autograd as autograd,
        checkpoint as checkpoint,
        elastic as elastic,
        fsdp as fsdp,
        nn as nn,
        optim as optim,
        rpc as rpc,
        tensor as tensor,
    )
    from .buckets import GradBucket as GradBucket
else:  # checkers take a module with this function for one that has every name
    __getattr__ = lazy(
        __name__,
        {
            "GradBucket": ".buckets:GradBucket",
            **{name: f".{name}" for name in (
                "algorithms", "autograd", "checkpoint", "elastic", "fsdp", "nn", "optim", "rpc",
                "tensor",
            )},
        },
    )  # fmt: skip


__all__ = [
    "Backend", "DebugLevel", "DeviceMesh", "DistBackendError", "DistError",
    "DistNetworkError", "DistStoreError",
    "FileStore", "GroupMember", "HashStore", "P2POp", "PrefixStore", "ProcessGroup",
    "QueueEmptyError", "ReduceOp", "Store", "TCPStore", "Work", "all_gather",
    "all_gather_coalesced", "all_gather_into_tensor", "all_gather_object", "all_gather_single",
    "all_reduce", "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier",
    "batch_isend_irecv", "broadcast", "broadcast_object_list", "destroy_process_group",
    "distributed_c10d", "gather", "gather_object", "get_backend", "get_backend_config",
    "get_debug_level", "get_default_backend_for_device", "get_global_rank", "get_group_rank",
    "get_node_local_rank",
    "get_pg_count", "get_process_group_ranks", "get_rank", "get_world_size", "group",
    "init_device_mesh", "init_process_group", "irecv", "is_available", "is_backend_available",
    "is_gloo_available", "is_initialized", "is_mpi_available", "is_nccl_available",
    "is_torchelastic_launched", "is_ucc_available", "is_xccl_available", "isend",
    "monitored_barrier", "new_group", "new_subgroups", "new_subgroups_by_enumeration", "recv",
    "recv_object_list", "reduce", "reduce_op", "reduce_scatter", "reduce_scatter_single",
    "reduce_scatter_tensor", "register_rendezvous_handler", "rendezvous", "scatter",
    "scatter_object_list", "send", "send_object_list", "set_debug_level",
    "set_debug_level_from_env", "split_group",
]  # fmt: skip

__dir__ = _listed(globals())
