"""`torch.storage`: storages, and how pickles of PyTorch's hold them."""

from __future__ import annotations

import io
from typing import Any

from .._array import types as T
from .._array.memory import storage_views as M
from .._base import dtypes as D
from .._base.lazy import lazy
from .._tensor import storage as _storages
from .._tensor.storage import TypedStorage, UntypedStorage
from ..serialization.load import load


def _load_from_bytes(b: bytes) -> TypedStorage | UntypedStorage:
    """The storage that `torch.save` has written into these bytes."""
    found: Any = load(io.BytesIO(b), weights_only=False)
    if not M.is_array(found):
        return found
    memory = UntypedStorage._over(M.retype(found, D.uint8))
    kind = T.from_raw(found.dtype)
    return TypedStorage(wrap_storage=memory, dtype=kind, _internal=True)


# Everything else of storages.
__getattr__ = lazy(__name__, find=lambda name: getattr(_storages, name))


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_storages)})
