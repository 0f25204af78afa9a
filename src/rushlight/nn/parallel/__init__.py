"""One module on several parts of a batch at a time."""

from typing import TYPE_CHECKING

from ..._base.lazy import lazy, list_names
from .data_parallel import DataParallel, data_parallel, gather, parallel_apply, replicate, scatter

if TYPE_CHECKING:
    from ...distributed.data_parallel import DistributedDataParallel
else:  # what needs groups of processes lies with these, above
    __getattr__ = lazy(
        __name__,
        {
            "DistributedDataParallel": ".distributed:DistributedDataParallel",
            "distributed": ".distributed",
        },
    )

__all__ = [
    "DataParallel",
    "DistributedDataParallel",
    "data_parallel",
    "gather",
    "parallel_apply",
    "replicate",
    "scatter",
]

__dir__ = list_names(globals())
