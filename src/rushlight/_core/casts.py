"""Which results a tensor that is written can hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._array import types as T
from .._base import dtypes as D, errors

if TYPE_CHECKING:
    from .._array.annotations import Array


def check_cast(found: D.dtype, array: Array, op: Any = None) -> None:
    """Refuses a result whose category the tensor's type can't hold.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    wanted = T.from_raw(array.dtype)
    if not D.can_cast(found, wanted):
        name = D.scalar_name(wanted)
        if op is not None and op.names_c_type:
            name = D.c_name(wanted)
        raise RuntimeError(errors.cannot_cast(D.scalar_name(found), name))
