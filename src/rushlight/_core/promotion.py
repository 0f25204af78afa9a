"""Bringing operands to their common type, and what is said of shapes that don't fit."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from .._array import types as T
from .._array.memory import dense_layout as dense
from .._array.types import ndarray as _ndarray
from .._base import dtypes as D, errors
from .casts import check_cast
from .op import PROMOTE_FLOAT, Op
from .storage import TensorBase

if TYPE_CHECKING:
    from .._base.annotations import Arguments

ndarray: Final = _ndarray


def promote(op: Op, args: Arguments, raws: Arguments, written: bool = False) -> D.dtype | None:
    """Brings the operands in `raws` to their common type, in place; None if they had it already.

    Where the first is `written` it must be able to hold that type.
    """
    dims: D.dtype | None = None
    zero: D.dtype | None = None
    number: D.dtype | None = None
    for pos in op.promote_at:
        arg = args[pos]
        if isinstance(arg, TensorBase):
            found = T.from_raw(raws[pos].dtype)
            if raws[pos].ndim:
                dims = found if dims is None else D.promote_types(dims, found)
            else:
                zero = found if zero is None else D.promote_types(zero, found)
        elif type(arg) is list or type(arg) is tuple:
            for item in raws[pos]:
                found = T.from_raw(item.dtype)
                if item.ndim:
                    dims = found if dims is None else D.promote_types(dims, found)
                else:
                    zero = found if zero is None else D.promote_types(zero, found)
        elif arg is not None:
            found = D.number_dtype(arg)
            if found is D.uint64 and dims is not None and dims.category >= D.FLOAT:
                found = D.int64  # the bounds of a clamp aren't promoted with each other then
            number = found if number is None else D.promote_types(number, found)
    try:
        common = D.combine_levels(dims, zero, number)
    except RuntimeError:
        if op.check is not None:
            with suppress(NotImplementedError):
                op.check(args, raws)  # what else it refuses comes first
        raise
    if op.promote == PROMOTE_FLOAT and common.category < D.FLOAT:
        common = D.get_default_dtype()
    changed = False
    if written and common is D.complex32 and not op.gives_bool:
        check_cast(common, raws[0])  # before its package is loaded, which may be missing
    raw_type = T.to_raw(common)
    for pos in op.promote_at:
        value = raws[pos]
        if isinstance(args[pos], TensorBase):
            if value.dtype is not raw_type and value.dtype != raw_type:
                plain = value.flags.c_contiguous
                raws[pos] = value.astype(raw_type) if plain else dense.copy(value, raw_type)
                changed = True
        elif type(value) is list:
            raws[pos] = [v if v.dtype == raw_type else v.astype(raw_type) for v in value]
            changed = True
        elif value is not None:
            raws[pos] = T.number_for(value, common)
    if (number is not None or zero is not None) and op.wide and T.is_half(raw_type):
        last = args[op.promote_at[-1]]
        if not isinstance(last, TensorBase) or not last._raw.ndim:
            widen(op, args, raws)
            return common
    return common if changed else None


# Note [Halves and numbers]
# A product of 16-bit floats with a number (or a tensor without dimensions) as its second operand,
# and a quotient by one, is computed in float32 with the number as it is, and rounded once. Sums,
# and numbers as first operands, are rounded before. As in PyTorch.


def widen(op: Op, args: Arguments, raws: Arguments) -> None:
    """Makes the operands float32; see Note [Halves and numbers]."""
    last = op.promote_at[-1]
    arg = args[last]
    raws[last] = arg._raw if isinstance(arg, TensorBase) else arg
    for pos in op.promote_at:
        raws[pos] = T.widen(raws[pos])


def refuse_shapes(raws: Arguments) -> None:
    """Refuses operands whose shapes don't broadcast.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    whole: Any = ()
    for raw in raws:
        if type(raw) is ndarray:
            problem = errors.broadcast(whole, raw.shape)
            if problem is not None:
                raise RuntimeError(problem)
            whole = T.broadcast_shape(whole, raw.shape)
