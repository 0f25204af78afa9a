"""Tensors and storages as PyTorch's own plain pickles hold them, which both read."""

from __future__ import annotations

import io
from collections import OrderedDict
from typing import Any

from ..._array import types as T
from ..._array.memory import storage_views as M
from ..._array.memory.meta import MetaArray
from ..._base import dtypes as D
from ..._base.dtypes import dtype
from ..._tensor.copies import attributes_of, warn_if_has_hooks
from ..._tensor.storage import TypedStorage, UntypedStorage
from ..._tensor.tensor import Tensor
from ...serialization.names import (
    STORAGE_NAMES,
    rebuild_from_type,
    rebuild_meta_tensor,
    rebuild_tensor,
    rebuild_untyped_tensor,
)
from ...serialization.pickler import Storage
from ...serialization.save import save

__all__ = ["reduce_tensor", "reduce_storage"]


class _Held:
    """The memory below a tensor, which a pickle holds as a file of its own."""

    def __init__(self, flat: Any, kind: dtype) -> None:
        self.stored = Storage(flat, kind, "0")

    def __reduce__(self) -> Any:
        from ..storage import _load_from_bytes

        written = io.BytesIO()
        save(self.stored, written, _use_new_zipfile_serialization=False)
        return _load_from_bytes, (written.getvalue(),)


def reduce_tensor(t: Tensor) -> Any:
    """What a pickle keeps of a tensor: its storage, and how it views that."""
    if t.hooks is not None:
        warn_if_has_hooks(t)
    function, body = _body(t)
    attributes = attributes_of(t)
    if type(t) is Tensor and not attributes:
        return function, body
    own: Any = t
    state = own.__getstate__() if "__getstate__" in type(t).__dict__ else dict(attributes)
    return rebuild_from_type, (function, type(t), body, state)


def _body(t: Tensor) -> tuple[Any, tuple[Any, ...]]:
    raw, requires_grad = t._raw, bool(t.requires_grad)
    shape = tuple(raw.shape)
    if type(raw) is MetaArray:
        return rebuild_meta_tensor, (t.dtype, shape, T.byte_strides(raw), requires_grad)
    flat, offset = M.storage_of(raw)
    # What isn't a view of its storage was copied into one, in C order.
    apart = flat.size and not M.same_memory(flat, raw)
    strides = T.contiguous_strides(shape) if apart else M.strides_of(raw)
    kind = T.from_raw(raw.dtype)
    hooks: OrderedDict[int, object] = OrderedDict()  # they are live objects of this process
    body = (_Held(flat, kind), offset, shape, strides, requires_grad, hooks)
    if kind in STORAGE_NAMES:
        return rebuild_tensor, body
    return rebuild_untyped_tensor, (*body, kind)


def reduce_storage(storage: TypedStorage | UntypedStorage) -> Any:
    """What a pickle keeps of a storage."""
    if isinstance(storage, TypedStorage):
        kind = storage.dtype
        return _Held(M.retype(storage._untyped_storage._data, kind), kind).__reduce__()
    return _Held(storage._data, D.uint8).__reduce__()
