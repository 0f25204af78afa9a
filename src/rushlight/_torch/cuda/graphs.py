"""`torch.cuda.graphs`: graphs of kernels that isn't here."""

from __future__ import annotations

from .. import cuda

_NAMES = (
    "CUDAGraph", "graph", "graph_pool_handle", "is_current_stream_capturing",
    "make_graphed_callables",
)  # fmt: skip
globals().update({name: getattr(cuda, name) for name in _NAMES})

__all__ = sorted(_NAMES)  # noqa: PLE0605
