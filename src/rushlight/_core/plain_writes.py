"""Writes in place to plain tensors beside plain operands that nobody records: the short ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._array.memory.out_of_memory import refusal
from .._array.types import (
    FLOAT32 as _FLOAT32,
    FLOAT64 as _FLOAT64,
    INT64 as _INT64,
    ndarray as _ndarray,
    overlap,
    put,
    ufunc as _ufunc,
)
from .._base import errors
from .mode import Mode, current
from .op import PROMOTE_FLOAT, PROMOTE_NONE, Op, run_small
from .storage import TensorBase, bump
from .views import follows

if TYPE_CHECKING:
    from .._array.annotations import Array
    from .._base.annotations import AnyCallable, Arguments

ndarray: Final = _ndarray
ufunc: Final = _ufunc
FLOAT32: Final[Any] = _FLOAT32
FLOAT64: Final[Any] = _FLOAT64
INT64: Final[Any] = _INT64
# What a number beside 64-bit integers may be without wrapping around.
BOUND: Final = 1 << 62


def may_record(t: TensorBase) -> bool:
    """Whether an operation on a plain tensor may be recorded; views aren't brought up to date."""
    view = t._view
    return t._requires_grad or (view is not None and view.tracked and view.base._requires_grad)


def _shares(array: Array, other: Array) -> bool:
    """Whether another array has elements of one to write, which is allowed or an error."""
    if other is array or (other.base is None and array.base is None):
        return False
    return overlap(array, other) != 0


def write_at_once(op: Op, me: TensorBase, args: Arguments) -> bool:
    """Whether one ufunc has written the result of two operands into `me`; nothing is recorded.

    False, with nothing written, for whatever needs a closer look.
    """
    mode: Mode = current()
    other = args[1]
    if mode.slow or not me._plain:
        return False
    array = me._raw
    dtype = array.dtype
    if (dtype is not FLOAT32 and dtype is not FLOAT64) or 0 in array.strides:
        return False
    if mode.grad and may_record(me):
        return False
    if isinstance(other, TensorBase):
        if not other._plain:
            return False
        value = other._raw
        if value.dtype is not dtype:
            return False
        if _shares(array, value):
            return False
        if mode.grad and (other._requires_grad or (other._view is not None and follows(other))):
            return False
    else:
        value = other
        kind = type(value)
        if kind is not float and kind is not int:
            return False
    try:
        op.raw(array, value, array)
    except errors.REFUSALS:
        return False  # shapes that don't fit: nothing has been written
    bump(me)
    return True


def copy_plainly(me: TensorBase, source: TensorBase, writer: AnyCallable) -> bool:
    """Whether `writer` has copied a tensor's elements into `me`; nothing is recorded.

    False, with nothing written, for whatever needs a closer look.
    """
    mode: Mode = current()
    if mode.slow or not me._plain or not source._plain:
        return False
    if mode.grad and (may_record(me) or may_record(source)):
        return False
    writer(me._raw, source._raw)
    bump(me)
    return True


def writes_at_once(op: Op, raws: Arguments) -> bool:
    """Whether a step that is being recorded has written as eager ones do: in one go.

    Between a read and a write another thread might write, too.
    """
    if type(op.raw) is not ufunc or len(raws) != 2:
        return False
    array, other = raws
    dtype = array.dtype
    if (dtype is not FLOAT32 and dtype is not FLOAT64) or 0 in array.strides:
        return False
    if type(other) is ndarray:
        if other.dtype is not dtype:
            return False
        if other is not array and (other.base is not None or array.base is not None):
            return False
    elif type(other) is not float and type(other) is not int:
        return False
    try:
        op.raw(array, other, array)
    except errors.REFUSALS:
        return False  # nothing has been written; it is explained by the plain way
    return True


def write_plainly(op: Op, me: TensorBase, args: Arguments) -> bool:
    """Whether an elementwise operation on plain operands has been written into `me`, unrecorded.

    False, with nothing written, for whatever needs a closer look.
    """
    mode: Mode = current()
    if mode.slow or not me._plain:
        return False
    array = me._raw
    dtype = array.dtype
    whole = dtype is INT64 and op.promote != PROMOTE_FLOAT
    known = whole or dtype is FLOAT32 or dtype is FLOAT64
    if not known or (array.base is not None and 0 in array.strides):
        return False
    if mode.grad and (me._requires_grad or (me._view is not None and may_record(me))):
        return False
    raws: list[Any] = [array]
    for k in range(1, len(args)):
        other = args[k]
        if isinstance(other, TensorBase):
            if not other._plain:
                return False
            value = other._raw
            if value.dtype is not dtype and op.promote != PROMOTE_NONE:
                return False
            if _shares(array, value):
                return False
            if mode.grad and may_record(other):
                return False
            raws.append(value)
        else:
            kind = type(other)
            if whole:
                if kind is not int or not -BOUND <= other < BOUND:
                    return False
                raws.append(other)
            elif kind is int and k in op.promote_at:
                raws.append(float(other))
            elif kind is float or kind is int or other is None:
                raws.append(other)
            else:
                return False
    try:
        if op.check is not None:
            op.check(args, raws)
        # NumPy's `negative` reads wrongly where elements lie 4 apart and are written apart, too.
        if len(raws) == 1 and type(op.raw) is ufunc and array.flags.c_contiguous:
            try:
                op.raw(array, array)
            except (MemoryError, ValueError) as error:
                raise refusal(error, (array, array)) from None
            bump(me)
            return True
        try:
            result = run_small(op, raws)
        except (MemoryError, ValueError) as error:
            raise refusal(error, raws) from None
    except errors.REFUSALS:
        return False  # explained there
    if type(result) is not ndarray and not array.shape and isinstance(result, dtype.type):
        array[...] = result  # NumPy gives numbers for arrays without dimensions
    elif not put(array, result):
        return False
    bump(me)
    return True


def write_at_places(op: Op, me: TensorBase, args: Arguments) -> bool:
    """Whether an operation has itself written into `me`, a plain tensor beside plain operands.

    False, with nothing written, for whatever needs a closer look.
    """
    mode: Mode = current()
    if mode.slow or not me._plain or op.promote != PROMOTE_NONE or (mode.grad and may_record(me)):
        return False
    array = me._raw
    if not (array.flags.forc and array.flags.writeable):
        return False
    raws: list[Any] = [array]
    for k in range(1, len(args)):
        other = args[k]
        if isinstance(other, TensorBase):
            if not other._plain or (mode.grad and may_record(other)):
                return False
            value = other._raw
            if value is array or _shares(array, value):
                return False
            raws.append(value)
        elif type(other) is int or type(other) is float:
            raws.append(other)
        else:
            return False
    try:
        into = op.into(*raws)
        if into is None:
            return False
        into(*raws)
    except errors.REFUSALS:
        return False  # explained there, before anything is written
    bump(me)
    return True
