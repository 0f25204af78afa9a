"""Arrays from numbers and from nothing: the raw side of tensor creation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base import dtypes as D, errors
from ..._base.determinism import DETERMINISM
from ..._native import ufunc_loops
from ..memory import dense_layout as dense
from ..memory.dense_layout import span
from ..memory.exported import fix
from ..memory.out_of_memory import allocating, refusal
from ..number import fill_with, number_like
from ..types import from_raw, to_raw

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Scalar
    from ..annotations import Array, RawType


def python_kind(value: Scalar) -> Scalar:
    """A number as PyTorch takes one of NumPy's where it wants a Python number.

    Whole numbers become `int`, what is a Python complex number stays one, all else becomes `float`.
    """
    if not isinstance(value, np.generic):
        return value
    if isinstance(value, np.integer):
        return int(value)
    return complex(value) if isinstance(value, complex) else float(value)


def _empty(shape: tuple[int, ...], raw: RawType) -> Array:
    try:
        return np.empty(shape, raw)
    except (MemoryError, ValueError) as error:
        raise refusal(error, shape) from None


def full(shape: tuple[int, ...], value: Scalar, dtype: D.dtype) -> Array:
    """An array filled with one value.

    Raises:
        RuntimeError: where the type can't hold the value.
    """
    raw = to_raw(dtype)
    made = _empty(shape, raw)
    fill_with(made, value)
    return made


def zeros(shape: tuple[int, ...], dtype: D.dtype) -> Array:
    """Zeros."""
    try:
        return np.zeros(shape, to_raw(dtype))
    except (MemoryError, ValueError) as error:
        raise refusal(error, shape) from None


def ones(shape: tuple[int, ...], dtype: D.dtype) -> Array:
    """Ones."""
    made = _empty(shape, to_raw(dtype))
    fill_with(made, 1)
    return made


def empty(shape: tuple[int, ...], dtype: D.dtype) -> Any:
    """Elements that are not set."""
    made = _empty(shape, to_raw(dtype))
    return mark_unset(made) if DETERMINISM.filling else made


def mark_unset(array: Array) -> Array:
    """The array, whose elements nobody has set, filled with nan or with the largest number."""
    kind = array.dtype.kind
    array.fill(True if kind == "b" else np.iinfo(array.dtype).max if kind in "iu" else math.nan)
    return array


def like(array: Array, dtype: D.dtype, fill: Scalar | None, contiguous: bool) -> Array:
    """An array shaped (and, unless `contiguous`, laid out) like another; `fill` None: not set."""
    if type(fill) is int and fill == 0 and (contiguous or array.flags.c_contiguous):
        made = zeros(array.shape, dtype)
        return made if contiguous else dense.keep_open_steps(made, array)
    raw = to_raw(dtype)
    made = _empty(array.shape, raw) if contiguous else dense.empty_like(array, raw)
    if fill is not None:
        fill_with(made, fill)
    elif DETERMINISM.filling:
        mark_unset(made)
    return made


def _alike(fill: Scalar | None) -> AnyCallable:
    def make(array: Array) -> Array:
        return like(array, from_raw(array.dtype), fill, False)

    return make


#: The same in the type of the other array, by what fills it.
ALIKE: Final[dict[Scalar | None, AnyCallable]] = {
    fill: ufunc_loops.copy(_alike(fill), letter)
    for fill, letter in ((0, "0"), (1, "1"), (None, "N"))
}


def unset_alike(array: Array) -> Array:
    """An array like another whose elements are not set."""
    return like(array, from_raw(array.dtype), None, False) if DETERMINISM.filling else (
        ALIKE[None](array)
    )  # fmt: skip


def count_up(end: int) -> Array | None:
    """The whole numbers from 0 on, so many; none where there is no memory for them."""
    try:
        return np.arange(end)
    except (MemoryError, ValueError):
        return None


def in_memory_order(array: Array) -> Array:
    """The elements of a dense array, one after the other as they lie in memory."""
    order = sorted(range(array.ndim), key=lambda d: -array.strides[d])
    return array.transpose(order).reshape(-1)


#: Types that few kernels know: those that count from 0 in more than 8 bits, complex halves.
RARE = frozenset({D.uint16, D.uint32, D.uint64, D.complex32})


def refuse_rare(kernel: str, dtype: D.dtype) -> None:
    """Refuses types that a kernel which makes numbers has no code for.

    Raises:
        NotImplementedError: in PyTorch's words.
    """
    if dtype in RARE or dtype in D.FLOATS_OF_8_BITS:
        raise NotImplementedError(errors.not_implemented(kernel, D.scalar_name(dtype)))


@allocating
def eye(n: int, m: int, dtype: D.dtype) -> Array:
    """Ones on the diagonal."""
    if dtype in RARE:
        refuse_rare("eye", dtype)
    made = np.zeros((n, m), to_raw(dtype))
    made.reshape(-1)[: m * min(n, m) : m + 1] = 1
    return made


@allocating
def arange(
    start: float, end: float, step: float, dtype: D.dtype, kernel: str = "arange_cpu"
) -> Array:
    """start, start + step, … up to `end`, computed as PyTorch does: start + i·step."""
    raw = to_raw(dtype)
    refuse_rare(kernel, dtype)
    if dtype.category != D.INT:
        n = max(0, math.ceil((end - start) / step))
        # The kernel works in double from each vector's first element on.
        return (np.arange(n, dtype=np.float64) * step + start).astype(raw)
    first, last, gap = int(start), int(end), int(step)
    if gap == 0:
        n = max(0, math.ceil((end - start) / step))
    elif dtype is D.int64 or all(isinstance(v, int) for v in (start, end, step)):
        n = max(0, -(-(last - first) // gap))
    else:
        n = max(0, math.ceil((end - start) / step))
    # Only the count is found among fractions: PyTorch truncates the bounds and the step.
    numbers = np.arange(n, dtype=np.int64)
    if gap != 1:
        np.multiply(numbers, gap, numbers)
    if first:
        np.add(numbers, first, numbers)
    return numbers.astype(raw, copy=False)


@allocating
def linspace(start: Any, end: Any, steps: int, dtype: D.dtype) -> Array:
    """`steps` values from `start` to `end`, from both ends towards the middle as PyTorch does.

    Raises:
        RuntimeError: for an end that an element can't be.
        NotImplementedError: for bools.
    """
    raw = to_raw(dtype)
    if steps == 0:
        return np.empty(0, raw)
    if steps == 1:
        return np.full(1, number_like(start, raw), raw)
    if dtype is D.bool_:
        raise NotImplementedError(errors.not_implemented("linspace_cpu", "Bool"))
    refuse_rare("linspace_cpu", dtype)
    number_like(start, raw), number_like(end, raw)
    if dtype.category == D.INT:
        start, end = int(start), int(end)
        gap = (float(end) - float(start)) / (steps - 1)
        i = np.arange(steps)
        low = start + gap * i
        high = end - gap * (steps - 1 - i)
        return np.where(i < steps // 2, low, high).astype(raw)
    half = steps // 2
    i = np.arange(steps)
    i[half:] = i[steps - half - 1 :: -1]  # as many steps from the end
    if raw == np.float32:
        # In double precision nothing is rounded but the last digit, as with a fused multiply-add.
        one, other = float(raw.type(start)), float(raw.type(end))
        gap = float((raw.type(end) - raw.type(start)) / raw.type(steps - 1))
        moves = i * gap
        return np.concatenate((one + moves[:half], other - moves[half:])).astype(raw)
    if raw == np.float64:
        gap = (float(end) - float(start)) / (steps - 1)
        result = np.empty(steps)
        result[:half] = _multiply_and_add(float(start), gap, i[:half])
        result[half:] = _multiply_and_add(float(end), -gap, i[half:])
        return result
    # In the type itself: PyTorch rounds after every step.
    if raw.kind == "V":  # bfloat16, whose type takes whole numbers of 63 bits
        start, end = float(start), float(end)
    first, last = raw.type(start), raw.type(end)
    step = (last - first) / raw.type(steps - 1)
    result = np.empty(steps, raw)
    low, high = result[:half], result[half:]
    np.add(np.multiply(i[:half].astype(raw), step, low), first, low)
    high[...] = i[half:].astype(raw)
    np.subtract(last, np.multiply(high, step, high), high)
    return result


def _multiply_and_add(start: float, step: float, count: Array) -> Array:
    """start + count · step, rounded once: products of the halves of `step` are exact (Dekker)."""
    split = 134217729.0 * step  # 2 ** 27 + 1
    upper = split - (split - step)
    if upper != upper:  # an infinite step
        return start + step * count
    moves = count * upper
    total = start + moves
    seen = total - start
    return total + ((start - (total - seen)) + (moves - seen) + count * (step - upper))


@allocating
def logspace(start: float, end: Any, steps: int, base: float, dtype: D.dtype) -> Array:
    """`base` to the powers evenly spaced from `start` to `end`."""
    raw = to_raw(dtype)
    if steps > 1:
        if dtype is D.bool_:
            raise NotImplementedError(errors.not_implemented("logspace_cpu", "Bool"))
        refuse_rare("logspace_cpu", dtype)
        number_like(start, raw), number_like(end, raw)
    if dtype.category == D.INT and steps > 1:
        start, end = int(start), int(end)
    work = D.complex128 if dtype.category == D.COMPLEX else D.float64
    with np.errstate(all="ignore"):
        return (base ** linspace(start, end, steps, work)).astype(raw)


@allocating
def empty_strided(shape: tuple[int, ...], strides: tuple[int, ...], dtype: D.dtype) -> Array:
    """Elements that are not set, with strides in elements."""
    target = to_raw(dtype)
    count = span(shape, strides, target.itemsize)
    steps = [s * target.itemsize for s in strides]
    made = np.ndarray(shape, target, _empty((max(count, 1),), target), 0, steps)
    return mark_unset(made) if DETERMINISM.filling else made


def from_buffer(view: memoryview, dtype: D.dtype, count: int, offset: int) -> Array:
    """The elements that lie in some memory, shared with it.

    Raises:
        ValueError: for counts and offsets beyond the end.
    """
    length = view.nbytes
    if length == 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({length} bytes) minus 1"
        )
    if count < 0 and (length - offset) % dtype.itemsize:
        raise ValueError(
            f"buffer length ({length} bytes) after offset ({offset} bytes) must be a multiple of "
            f"element size ({dtype.itemsize})"
        )
    if count > 0 and offset + count * dtype.itemsize > length:
        raise ValueError(
            f"requested buffer length ({count} * {dtype.itemsize} bytes) after offset "
            f"({offset} bytes) must not be greater than actual buffer length ({length} bytes)"
        )
    return fix(np.frombuffer(view, to_raw(dtype), count, offset))
