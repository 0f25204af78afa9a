"""The element types of arrays: which NumPy type stores each `dtype`, and conversions."""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .._base import dtypes as D, errors
from .._base.caller import say_once
from .._native import ufunc_loops
from . import kernels
from .memory import dense_layout as dense
from .memory.dense_layout import bits_of, empty_like as empty_like, is_dense as is_dense
from .memory.exported import FIXED, fix
from .memory.out_of_memory import refusal
from .memory.places import (
    address as address,
    element_strides,
    overlap as overlap,
    owner as owner,
    put as put,
)
from .narrow import Narrow as Narrow, find_type, fit, is_complex32, is_narrow as is_narrow, wide_of

if TYPE_CHECKING:
    from .._base.annotations import AnyCallable
    from .annotations import Array, RawType

ndarray: Final = np.ndarray
generic: Final = np.generic
number: Final = np.number
boolean: Final = np.bool_
ufunc: Final = np.ufunc

_TO_RAW: dict[D.dtype, Any] = {
    D.bool_: np.dtype(np.bool_),
    D.uint8: np.dtype(np.uint8),
    D.uint16: np.dtype(np.uint16),
    D.uint32: np.dtype(np.uint32),
    D.uint64: np.dtype(np.uint64),
    D.int8: np.dtype(np.int8),
    D.int16: np.dtype(np.int16),
    D.int32: np.dtype(np.int32),
    D.int64: np.dtype(np.int64),
    D.float16: np.dtype(np.float16),
    D.float32: np.dtype(np.float32),
    D.float64: np.dtype(np.float64),
    D.complex64: np.dtype(np.complex64),
    D.complex128: np.dtype(np.complex128),
}
#: The types whose arrays NumPy has by itself.
OF_NUMPY: Final = frozenset(_TO_RAW)
_FROM_RAW: dict[Any, D.dtype] = {raw: d for d, raw in _TO_RAW.items()}

FLOAT32: Final = np.dtype(np.float32)
FLOAT64: Final = np.dtype(np.float64)
COMPLEX64: Final = np.dtype(np.complex64)
INT64: Final = np.dtype(np.int64)
BOOL: Final = np.dtype(np.bool_)


def to_raw(d: D.dtype) -> Any:
    """The NumPy dtype that stores `d`.

    Raises:
        ImportError: for a type of ml_dtypes where that isn't installed (extra `bfloat16`), and the
            core, which has a bfloat16 of its own, isn't compiled.
        NotImplementedError: for pairs of 4-bit floats.
        RuntimeError: for types that no array library here can store.
    """
    found = _TO_RAW.get(d)
    if found is not None:
        return found
    if d in _OF_ML_DTYPES:
        return _load(d)
    if d is D.float4_e2m1fn_x2:
        raise NotImplementedError(errors.not_implemented("copy_kernel", D.scalar_name(d)))
    raise RuntimeError(f"Rushlight can't store elements of type {d!r}")


def from_raw(raw: Any) -> D.dtype:
    """The `dtype` whose elements the NumPy dtype `raw` stores.

    Raises:
        TypeError: for NumPy types that PyTorch doesn't have, in PyTorch's words.
    """
    found = _FROM_RAW.get(raw)
    if found is not None:
        return found
    if raw.type.__module__ in ("ml_dtypes", f"{__package__}.bfloat16"):
        named = D.BY_NAME.get(raw.name)
        # Where ml_dtypes was installed too late, its bfloat16 isn't the one in use.
        if named in _OF_ML_DTYPES and _load(named) == raw:
            return named
    if not raw.isnative:
        found = _FROM_RAW.get(raw.newbyteorder("="))
        if found is not None:
            return found
    raise TypeError(
        f"can't convert np.ndarray of type {raw.type.__module__}.{raw.type.__name__}. The only "
        "supported types are: float64, float32, float16, complex64, complex128, int64, int32, "
        "int16, int8, uint64, uint32, uint16, uint8, and bool."
    )


_OF_ML_DTYPES: Final = (D.bfloat16, D.complex32, *D.FLOATS_OF_8_BITS)


def _load(d: D.dtype) -> RawType:
    try:
        raw = np.dtype(find_type(d.name))
    except (ImportError, AttributeError):
        least = ">=0.6" if d is D.complex32 else ""
        raise ImportError(
            f"{d.name} tensors need the ml_dtypes{least} package: pip install 'rushlight[bfloat16]'"
        ) from None
    _FROM_RAW[raw] = d
    if d is not D.bfloat16:
        Narrow.loaded = True
    if d is not D.complex32:
        _TO_RAW[d] = raw
        return raw
    say_once(  # each time that one is made, where warnings are always given
        "complex halves",
        "ComplexHalf support is experimental and many operators don't support it yet.",
    )
    return raw


# `value` as an ndarray; NumPy gives scalars where a result has no dimensions.
as_array: Final[Any] = np.asarray


def is_discrete(raw: Any) -> bool:
    """Whether a NumPy dtype is one of the types that have no gradients: bool and integers."""
    return raw.kind in "biu"


def number_for(value: Any, common: D.dtype) -> Any:
    """A Python number as an operand of arrays of type `common`: integers wrap as PyTorch's do."""
    if common.category == D.INT:
        number = int(value)
        bits = common.itemsize * 8
        low = -(1 << (bits - 1)) if common.is_signed else 0
        if low <= number < low + (1 << bits):
            return number
        return (number - low) % (1 << bits) + low
    if common.category == D.BOOL:
        return bool(value)
    if common.category == D.FLOAT:
        return to_raw(common).type(float(value)) if common.itemsize == 2 else float(value)
    return complex(to_raw(common).type(value)) if common is D.complex32 else complex(value)


def widen(value: Any) -> Any:
    """An array or a number in float32."""
    return value.astype(FLOAT32) if isinstance(value, np.ndarray) else np.float32(value)


def narrow_result(value: Any, dtype: D.dtype) -> Any:
    """A result in float32 as an array of `dtype`."""
    return np.asarray(value, to_raw(dtype)) if value.dtype == FLOAT32 else value


def is_half(dtype: Any) -> bool:
    """Whether a NumPy dtype is one of the 16-bit floating types."""
    return bool(dtype.itemsize == 2 and dtype.kind in "fV")


def single(body: AnyCallable, x: Array, *rest: Any) -> Any:
    """`body` on 16-bit floats, computed in float32 and rounded once."""
    lifted = [v.astype(FLOAT32) if isinstance(v, np.ndarray) else v for v in rest]
    return np.asarray(body(x.astype(FLOAT32), *lifted), x.dtype)


def in_single(body: AnyCallable) -> AnyCallable:
    """`body`, whose 16-bit floats are computed with in float32 and rounded once."""

    @functools.wraps(body)
    def function(a: Array, *rest: Any) -> Any:
        dtype = a.dtype
        if dtype is FLOAT32 or dtype is FLOAT64 or not is_half(dtype):
            return body(a, *rest)
        return single(body, a, *rest)

    return function


def ignore_float_errors() -> None:
    """Lets inf and nan arise silently in this context, as in PyTorch."""
    np.seterr(all="ignore")


def type_name(raw: Any) -> str:
    """The tensor type that old-style names give: torch.FloatTensor."""
    return f"torch.{_TYPE_NAMES[from_raw(raw).name]}Tensor"


def internal_type_name(raw: Any) -> str:
    """The tensor type as PyTorch's messages from C++ call it: the newer ones have no old name."""
    name = _TYPE_NAMES[from_raw(raw).name]
    newer = name in ("Bool", "BFloat16") or name.startswith(("Complex", "Float8"))
    return f"CPU{name}Type" if newer else f"torch.{name}Tensor"


_TYPE_NAMES: Final = {
    "bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int",
    "int64": "Long", "float16": "Half", "bfloat16": "BFloat16", "float32": "Float",
    "float64": "Double", "complex64": "ComplexFloat", "complex128": "ComplexDouble",
    "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64", "complex32": "ComplexHalf",
    **{d.name: D.scalar_name(d) for d in D.FLOATS_OF_8_BITS},
}  # fmt: skip


def copy(array: Array) -> Any:
    """A contiguous copy."""
    return np.array(array, order="C")


def owns(array: Array, like: Array) -> bool:
    """Whether `array` has memory of its own, laid out like `like`."""
    return type(array) is ndarray and array.base is None and array.strides == like.strides


class Layout:
    """A shape, and that its elements lie in C order: all that is kept of most arrays."""

    __slots__ = ("shape",)

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape


def _in_order_copy(array: Array) -> Any:
    """A copy in C order."""
    if array.size >= kernels.LEAST and not array.flags.c_contiguous:
        found = kernels.transpose.copy_in_order(array)
        if found is not None:
            return found
    return np.array(array, order="C")


in_order_copy: Final = ufunc_loops.copy(_in_order_copy, "O")


def copy_like(array: Array, like: Any) -> Any:
    """A copy laid out like `like` (an array, or what `layout` made) where that is dense."""
    if type(like) is Layout or like.flags.c_contiguous or array.ndim < 2 or not is_dense(like):
        return in_order_copy(array)
    fresh = np.empty_like(like, dtype=array.dtype)
    np.copyto(fresh, array)
    return fresh


def broadcast_like(array: Array, like: Array, owned: bool) -> Any:
    """An array that is to be copied to the place of another, whose shape it hasn't.

    One that is `owned` and lies as the other does keeps its own shape.

    Raises:
        RuntimeError: where it can't be broadcast.
    """
    if owned and type(array) is ndarray and array.base is None:
        pairs = zip(array.shape, array.strides, like.strides)
        if all(n == 1 or here == there for n, here, there in pairs):
            return array
    try:
        return np.broadcast_to(array, like.shape)
    except ValueError:
        raise RuntimeError(errors.unfit(like.shape, array.shape)) from None


def add_into(old: Array, g: Any) -> None:
    """Adds `g` to `old` in place.

    Raises:
        RuntimeError: where elements of `old` share memory, or `g` doesn't fit into its shape.
    """
    if 0 in old.strides and old.strides != g.strides:
        refuse_overlap(old)
    try:
        if old.dtype is g.dtype:
            np.add(old, g, old)
        else:
            np.add(old, g, out=old, casting="unsafe")
    except ValueError:
        if not old.flags.writeable:
            raise
        raise RuntimeError(errors.unfit(old.shape, g.shape)) from None


def layout(array: Array) -> Any:
    """The shape and layout of `array`, without its memory: for `copy_like` and `.shape`."""
    if array.flags.c_contiguous:
        return Layout(array.shape)
    if not array.size:
        return array
    seed = array[tuple(slice(0, 1) for _ in array.shape)].copy()
    return np.lib.stride_tricks.as_strided(seed, array.shape, array.strides)


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of an array or of a NumPy scalar."""
    return value.shape


def require_writable(array: Array) -> None:
    """Refuses memory that may only be read, before code that doesn't ask writes it.

    Raises: ValueError, in NumPy's words.
    """
    if not array.flags.writeable:
        raise ValueError("assignment destination is read-only")


def write_into(array: Array, value: Any) -> None:
    """Writes `value` into `array`, converting as PyTorch's `copy_` does."""
    if array.itemsize == 1 and array.dtype.kind == "V" and value.dtype is not array.dtype:
        value = fit(value, array.dtype)
    np.copyto(array, value, casting="unsafe")


def write_changed(array: Array, value: Any) -> None:
    """Writes those elements of `value` that differ from what is in `array`."""
    np.copyto(array, value, casting="unsafe", where=value != array)


def refuse_overlap(array: Array) -> None:
    """Refuses an array to write whose elements share memory with each other.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    steps = array.strides
    if 0 in steps and array.size and any(s == 0 and n > 1 for s, n in zip(steps, array.shape)):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to "
            "a single memory location. Please clone() the tensor before performing the operation."
        )


def refuse_shared(array: Array, other: Array, whole: bool = False) -> None:
    """Refuses an array to write that shares part of its memory with an operand.

    As in PyTorch only arrays without gaps are looked at, and the same part of memory is no problem
    unless `whole` says so.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if whole and other is array and array.size:
        raise RuntimeError(errors.SHARED_WITH_WRITTEN)
    found = overlap(array, other)
    if found == 1 or (found and whole):
        raise RuntimeError(errors.SHARED_WITH_WRITTEN)


def dtype_of(tensor: Any) -> D.dtype:
    """The dtype of a tensor's array."""
    return from_raw(tensor._raw.dtype)


def number_array(value: Any) -> Any:
    """A Python number as an array without dimensions, of the type at which it is saved."""
    if isinstance(value, bool):
        return np.asarray(value)
    if isinstance(value, int):
        return np.asarray(value, np.int64)
    return np.asarray(value, np.complex128 if isinstance(value, complex) else np.float64)


def empty(shape: tuple[int, ...], raw: Any) -> Any:
    """An array whose elements are not set."""
    try:
        return np.empty(shape, raw)
    except (MemoryError, ValueError) as error:
        raise refusal(error, shape) from None


def zero_bytes(count: int) -> Any:
    """So many bytes, all zero."""
    try:
        return np.zeros(count, np.uint8)
    except (MemoryError, ValueError) as error:
        raise refusal(error, (count,)) from None


def array_over(shape: Any, raw: Any, memory: Any, start: int, strides: Any) -> Any:
    """An array over bytes that belong to another, from a byte on."""
    bits = bits_of(raw)
    made = np.ndarray(shape, bits, memory, start, strides)
    return made if bits is raw else made.view(raw)


def is_number(value: Any) -> bool:
    """Whether a value is a Python or NumPy number."""
    return isinstance(value, (int, float, complex, np.number, np.bool_))


def is_integer_scalar(value: Any) -> bool:
    """Whether a value is a NumPy integer."""
    return isinstance(value, np.integer)


def python_number(value: Any) -> Any:
    """A NumPy number as the Python number of its kind; a bool is a float to PyTorch."""
    return float(value) if isinstance(value, np.bool_) else value.item()


def ones_like(array: Array) -> Any:
    """Ones shaped like `array`; `numpy.ones` takes three times as long for one."""
    out = np.empty(array.shape, array.dtype)
    out.fill(1)
    return out


def zeros_like(array: Array) -> Any:
    """Zeros shaped and laid out like `array`."""
    return np.zeros_like(array)


def same_layout(array: Array, other: Array) -> bool:
    """Whether two arrays of one shape have their elements at the same distances in memory."""
    return all(
        n == 1 or a * other.itemsize == b * array.itemsize
        for n, a, b in zip(array.shape, array.strides, other.strides)
    )


def may_share(array: Array, other: Array) -> bool:
    """Whether two arrays may have memory in common."""
    plain = type(array) is ndarray and type(other) is ndarray  # an `Example` can't be asked
    return plain and bool(np.may_share_memory(array, other))


def zeros_laid_out(like: Array, raw: Any) -> Any:
    """Zeros of an element type at the distances in memory that `like` has, gaps included."""
    if like.flags.c_contiguous or not like.size or min(like.strides) < 0:
        return np.zeros(like.shape, raw)
    size = np.dtype(raw).itemsize
    steps = [s // like.itemsize for s in like.strides]
    memory = np.zeros(1 + sum((n - 1) * s for n, s in zip(like.shape, steps)), raw)
    strides = tuple([s * size for s in steps])
    if bits_of(memory.dtype) is not memory.dtype:  # doesn't lend its buffer
        return np.lib.stride_tricks.as_strided(memory, like.shape, strides)
    return np.ndarray(like.shape, memory.dtype, memory, 0, strides)


def plain_array(array: Array) -> Any:
    """The array itself, as exactly an ndarray (subclasses lose their class, not their memory)."""
    return fix(array) if type(array) is ndarray else fix(array.view(np.ndarray))


def convert_array(array: Array, dtype: D.dtype) -> Any:
    """A copy with elements of `dtype`, laid out alike; it loses imaginary parts with a warning."""
    raw = to_raw(dtype)
    if raw.char in "fdilq?" and array.dtype.char in "fdilq?" and array.flags.c_contiguous:
        return array.astype(raw) if array.ndim < 4 else dense.copy(array, raw)  # as nearly always
    if Narrow.loaded:
        wide = wide_of(array.dtype)
        if wide is not None:
            array = array.astype(wide)
        if raw.itemsize == 1 and raw.kind == "V":
            array = fit(array.real if array.dtype.kind == "c" else array, raw)
    if array.dtype.kind == "c" and raw.kind != "W" and raw.kind != "c" and raw.kind != "b":
        if array.size:
            warnings.warn(errors.COMPLEX_TO_REAL, UserWarning, stacklevel=6)
        array = array.real
    if array.dtype.kind == "f" and raw.kind in "iu":
        return _to_integers(array, raw)
    return (
        array.astype(raw) if array.ndim < 4 and array.flags.c_contiguous else dense.copy(array, raw)
    )


def _to_integers(array: Array, raw: Any) -> Any:
    """Floats cut off to integers as PyTorch's C casts do: through int64 where narrower."""
    if raw.itemsize < 4:
        array = dense.copy(array, np.int64 if raw.kind == "i" or raw.itemsize < 8 else raw)
    return dense.copy(array, raw)


def dtype_of_type_name(name: str) -> D.dtype | None:
    """The dtype of an old-style type name such as "torch.FloatTensor"; None for other texts."""
    for short, old in _TYPE_NAMES.items():
        if name == f"torch.{old}Tensor":
            return D.BY_NAME[short]
    return None


def number_of(array: Array) -> Any:
    """The Python number of an array of one element."""
    value = array.item()
    if isinstance(value, (bool, int, float, complex)):
        return value
    return complex(value) if is_complex32(array.dtype) else float(value)


def nested_list(array: Array) -> Any:
    """The elements as nested lists of Python numbers."""
    wide = wide_of(array.dtype)
    if wide is not None or array.dtype.kind == "V":
        array = array.astype(wide or FLOAT32)
    return array.tolist()


def outside_view(array: Array) -> Any:
    """An array for users: the same memory, but an object of its own."""
    whole = array.base
    if id(array if whole is None else whole) not in FIXED:
        fix(array)
    return array[...]


def byte_strides(array: Array) -> tuple[int, ...]:
    """The strides in elements, as tensors count them."""
    if array.size == 0 and not any(array.strides):
        # NumPy may give arrays without elements strides of zero.
        return contiguous_strides(array.shape)
    return element_strides(array)


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides, in elements, of a C-contiguous tensor of a shape."""
    found: list[int] = []
    step = 1
    for n in reversed(shape):
        found.append(step)
        step *= max(n, 1)
    return tuple(reversed(found))


def is_part(array: Array) -> bool:
    """Whether a plain array is a view of more memory than its elements fill."""
    if type(array) is not ndarray or array.base is None:
        return False
    return bool(0 < array.nbytes < owner(array).nbytes)


def is_channels_last(array: Array) -> bool:
    """Whether a 4-d (or 5-d) array lies in memory with its channels last."""
    if array.ndim not in (4, 5):
        return False
    order = (0, *range(2, array.ndim), 1)
    return bool(array.transpose(order).flags.c_contiguous)


def as_requested(array: Array, dtype: Any, copy: Any) -> Any:
    """An array for NumPy's `__array__` protocol."""
    if dtype is not None and array.dtype != dtype:
        return array.astype(dtype)
    return array.copy() if copy else array


def has_nan(array: Array) -> bool:
    """Whether a floating-point or complex array has an element that isn't a number."""
    dtype = array.dtype
    if dtype is FLOAT32 or dtype is FLOAT64:
        # The sum of squares is nan exactly where an element is: one pass, nothing in between.
        if array.flags.c_contiguous:
            total = np.vdot(array, array)
            return bool(total != total)
        if array.flags.f_contiguous:
            total = np.vdot(array.T, array.T)
            return bool(total != total)
    return dtype.kind in "fcVW" and bool(np.isnan(array).any())


def broadcast_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which two shapes broadcast."""
    return tuple(np.broadcast_shapes(a, b))


def system_random_seed() -> int:
    """A 64-bit number from the system's source of randomness."""
    import secrets

    return secrets.randbits(63)


def unravel(position: int, shape: tuple[int, ...]) -> Any:
    """The index of the element at a place of the flattened array."""
    return np.unravel_index(position, shape)


def stack_rows(rows: Any, raw: Any) -> Any:
    """Arrays of one dimension as the rows of one matrix of NumPy type `raw`."""
    return np.array(rows, dtype=raw) if len(rows) else np.empty((0, 0), raw)
