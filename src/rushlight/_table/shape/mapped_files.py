"""Tensors over the bytes of files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._base.device import check_cpu
from ..._base.lazy import later
from ..rows.composite import composite
from .create import dtype_or_default, finish

if TYPE_CHECKING:
    from ..._base.annotations import DeviceLike

stored = later("_array.memory.raw_bytes")


@composite("")
def from_file(filename: str, shared: bool | None = None, size: int | None = 0, *, dtype: Any = None,
              layout: object = None, device: DeviceLike | None = None, pin_memory: Any = None,
              requires_grad: bool = False) -> Any:  # fmt: skip
    """A flat tensor of the first `size` elements of a file, read when they are first looked at.

    Where `shared`, what is written to the tensor goes to the file, which grows if it is too short.

    Raises:
        RuntimeError: where the file can't be opened, or is too short.
    """
    check_cpu(device)
    found = T.to_raw(dtype_or_default(dtype))
    data = stored.map_file(os.fspath(filename), bool(shared), (size or 0) * found.itemsize)
    return finish(data.view(found), requires_grad)
