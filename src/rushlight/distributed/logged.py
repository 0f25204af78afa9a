"""What `DistributedDataParallel` tells of itself to programs that write it down."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..nn.modules.batchnorm import SyncBatchNorm

if TYPE_CHECKING:
    from .data_parallel import DistributedDataParallel

__all__ = ["facts_of"]

_VARIABLES = (
    "CUDA_VISIBLE_DEVICES", "GLOO_DEVICE_TRANSPORT", "GLOO_SOCKET_IFNAME", "MASTER_ADDR",
    "MASTER_PORT", "TORCH_DISTRIBUTED_DEBUG",
)  # fmt: skip
#: PyTorch names a few dtypes as C++ does.
_NAMES = {
    "float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
}  # fmt: skip


def facts_of(module: DistributedDataParallel) -> dict[str, str | int]:
    """Settings, sizes and counts, by PyTorch's names; times aren't measured."""
    trained = [p for p in module.module.parameters() if p.requires_grad]
    dtypes = dict.fromkeys(str(p.dtype).removeprefix("torch.") for p in trained)
    bytes_of = [p.numel() * p.element_size() for p in trained]
    reducer = module.reducer
    buckets = [sum(bytes_of)] if reducer is None else [b.bytes() for b in reducer.buckets]
    return {
        "backend_name": module.process_group.name(),
        "bucket_sizes": ", ".join(map(str, buckets)),
        "device_ids": "",
        "dtypes": ", ".join(_NAMES.get(name, name) for name in dtypes),
        "module_name": type(module.module).__name__,
        **{name.lower(): os.environ.get(name, "N/A") for name in _VARIABLES},
        "broadcast_buffers": int(module.broadcast_buffers),
        "bucket_cap_bytes": module.bucket_bytes_cap,
        "find_unused_parameters": int(module.find_unused_parameters),
        "gradient_as_bucket_view": int(module.gradient_as_bucket_view),
        "has_sync_bn": int(any(isinstance(m, SyncBatchNorm) for m in module.modules())),
        "is_multi_device_module": int(module.is_multi_device_module),
        "iteration": 0 if reducer is None else reducer.iterations,
        "num_parameter_tensors": len(trained),
        "output_device": -1,
        "rank": module.process_group.rank(),
        "total_parameter_size_bytes": sum(bytes_of),
        "world_size": module.process_group.size(),
    }
