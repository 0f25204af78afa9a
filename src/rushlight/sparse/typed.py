"""Old-style constructors: `torch.sparse.FloatTensor(indices, values, size)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._base import dtypes as D
from .._table.rows.warn_once import say_once
from .._table.shape.create import empty
from .._tensor.tensor import Tensor
from .coordinates import SparseTensor
from .make import sparse_coo_tensor

if TYPE_CHECKING:
    from .._base.annotations import DeviceLike


__all__ = ["TYPES"]


class _TypedMeta(type):
    """Makes `isinstance(t, FloatTensor)` ask for the element type of a sparse tensor."""

    dtype: D.dtype

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, SparseTensor) and instance.dtype is cls.dtype

    def __repr__(cls) -> str:
        return f"<class 'torch.sparse.{cls.__name__}'>"

    def __call__(cls, *args: object, device: DeviceLike | None = None) -> object:
        say_once(
            "old sparse constructor",
            "torch.sparse.SparseTensor(indices, values, shape, *, device=) is deprecated.  Please "
            "use torch.sparse_coo_tensor(indices, values, shape, dtype=, device=).",
        )
        if args and isinstance(args[0], Tensor):
            return sparse_coo_tensor(*args, device=device)
        if not args:
            return sparse_coo_tensor(
                empty((1, 0), dtype=D.int64), empty(0, dtype=cls.dtype), (0,), device=device
            )
        size = args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
        return sparse_coo_tensor(tuple(size), dtype=cls.dtype, device=device)


TYPES: Final[dict[str, Any]] = {
    D.scalar_name(d) + "Tensor": _TypedMeta(
        D.scalar_name(d) + "Tensor", (), {"dtype": d, "__module__": "torch.sparse"}
    )
    for d in (D.uint8, D.int8, D.int16, D.int32, D.int64, D.float16, D.bfloat16, D.float32,
              D.float64)
}  # fmt: skip
globals().update(TYPES)
