"""What sums with products check before they are written in place: the shape that is written to.

They raise RuntimeError in PyTorch's words; what is wrong with the product itself is said later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._array import types as T
from ..._base import dtypes as D, errors

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._base.annotations import Arguments


def _same_size(c: Array, shape: tuple[int, ...]) -> None:
    if c.shape != shape:
        raise RuntimeError(
            f"Bad in-place call: input tensor size {errors.shape_text(c.shape)} and output tensor "
            f"size {errors.shape_text(shape)} should match"
        )


def check_addmm(raws: Arguments) -> None:
    """A matrix has the shape of the product that is added to it."""
    c, a, b = raws[:3]
    if a.ndim == b.ndim == 2 and a.shape[1] == b.shape[0] and c.dtype == a.dtype == b.dtype:
        _same_size(c, (a.shape[0], b.shape[1]))


def check_addmv(raws: Arguments) -> None:
    """A vector has the length of the product that is added to it."""
    c, a, v = raws[:3]
    if a.ndim == 2 and v.ndim == 1 and a.shape[1] == v.shape[0] and c.size in (1, a.shape[0]):
        _same_size(c, (a.shape[0],))


def check_baddbmm(raws: Arguments) -> None:
    """A stack has the shape and type of the product that is added to it."""
    c, a, b = raws[:3]
    if a.ndim == b.ndim == 3 and a.shape[::2] == (b.shape[0], b.shape[1]):
        shape = (a.shape[0], a.shape[1], b.shape[2])
        broadcasts = errors.broadcast(shape, c.shape) is None
        if broadcasts and T.broadcast_shape(shape, c.shape) == shape and c.dtype == a.dtype:
            if b.dtype != a.dtype:
                have, want = (D.c_name(T.from_raw(x.dtype)) for x in (a, b))
                raise RuntimeError(
                    f"Bad in-place call: input tensor dtype {have} and output tensor dtype "
                    f"{want} should match"
                )
            _same_size(c, shape)


def check_addr(raws: Arguments) -> None:
    """A matrix has the shape of the outer product that is added to it."""
    c, v1, v2 = raws[:3]
    if v1.ndim == v2.ndim == 1:
        if c.ndim != 2:
            raise RuntimeError(f"2D tensor expected, got {c.ndim}D tensor for input")
        if c.shape != v1.shape + v2.shape:
            raise RuntimeError(
                f"size mismatch, input: {errors.shape_text(c.shape)}, v1: "
                f"{errors.shape_text(v1.shape)}, v2: {errors.shape_text(v2.shape)}"
            )
