"""Arrays from Python values and from nothing: the raw side of tensor creation."""

from __future__ import annotations

import math
import warnings
from itertools import chain
from typing import Any, Final

import numpy as np

from .. import dtypes as D
from .. import errors
from .allocation import allocating, refusal
from .fixed import fix
from .number import number_like
from .types import from_raw, is_dense, to_raw

#: Sequences within sequences that PyTorch follows, and with them lists that hold themselves.
_DEEPEST: Final = 128


def refuse_depth(value: Any) -> None:
    """Refuses more dimensions than there can be, as of a list that is its own item, and texts.

    Raises:
        ValueError: also where the first item is a text, which is a sequence itself.
    """
    depth = 0
    while isinstance(value, (list, tuple)) and value:
        if depth > _DEEPEST:
            raise ValueError(f"too many dimensions '{type(value).__name__}'")
        value = value[0]
        depth += 1
    if depth and isinstance(value, str):
        raise ValueError("too many dimensions 'str'")


def infer(value: Any) -> D.dtype:
    """The dtype that `tensor(value)` has: bool, int64, the default float or its complex.

    Raises:
        TypeError: for values that aren't numbers or sequences of them, in PyTorch's words.
    """
    refuse_depth(value)
    found = _infer(value)
    return D.get_default_dtype() if found is None else found


#: Python's own numbers, whose type says all about the elements' type.
_NUMBERS: Final = frozenset({bool, int, float})
_SEQUENCES: Final = frozenset({list, tuple})


def _infer(value: Any) -> D.dtype | None:
    if isinstance(value, (bool, np.bool_)):
        return D.bool_
    if isinstance(value, np.generic):
        return from_raw(value.dtype)
    if isinstance(value, int):
        return D.int64
    if isinstance(value, float):
        return D.get_default_dtype()
    if isinstance(value, complex):
        return D.number_dtype(value)
    if hasattr(value, "_raw"):
        return from_raw(value._raw.dtype)
    if isinstance(value, np.ndarray):
        return from_raw(value.dtype)
    if isinstance(value, str):
        raise TypeError("new(): invalid data type 'str'")
    if hasattr(value, "__len__") and hasattr(value, "__getitem__") and not isinstance(value, dict):
        result: D.dtype | None = None
        for item in value:
            if item is value:
                raise TypeError("new(): self-referential lists are incompatible")
            inner = _infer(item)
            if inner is not None:
                result = inner if result is None else D.promote_types(result, inner)
            if result is D.complex128:
                break
        return result
    raise RuntimeError(f"Could not infer dtype of {type(value).__name__}")


def _regular(value: Any) -> tuple[Any, tuple[int, ...], set[type]] | None:
    """The numbers of a nested list, its shape and the numbers' types, where all is as it should be.

    None for what is short, ragged, empty or of something else: that is looked at one by one.
    """
    shape: list[int] = []
    flat = value
    if isinstance(value, (list, tuple)) and len(value) > 2 and type(value[0]) in _SEQUENCES:
        refuse_depth(value)
    while isinstance(flat, (list, tuple)) and len(flat) > 2:
        kinds = set(map(type, flat))
        if kinds <= _NUMBERS or all(k in _NUMBERS or issubclass(k, np.number) for k in kinds):
            shape.append(len(flat))
            for inner in range(len(shape) - 1, 0, -1):
                shape[inner] //= shape[inner - 1]
            return flat, tuple(shape), kinds
        if not kinds <= _SEQUENCES or len(set(map(len, flat))) != 1:
            return None
        shape.append(len(flat))
        flat = list(chain.from_iterable(flat))
    return None


def _refuse_no_numbers(value: Any, dtype: D.dtype) -> None:
    """Refuses None and text among the items, which NumPy would take for numbers.

    Raises:
        TypeError, ValueError: in PyTorch's words.
    """
    if isinstance(value, (list, tuple)):
        for place, item in enumerate(value):
            kind = type(item)
            if item is value:
                raise TypeError(f"must be real number, not {kind.__name__}")
            if kind in _NUMBERS:
                continue
            if kind in _SEQUENCES:
                _refuse_no_numbers(item, dtype)
            elif item is None or isinstance(item, str):
                if place == 0 and item is not None:
                    raise ValueError("too many dimensions 'str'")
                if dtype.is_floating_point or dtype.is_complex:
                    raise TypeError(f"must be real number, not {kind.__name__}")
                raise TypeError(f"'{kind.__name__}' object cannot be interpreted as an integer")


def refuse_array(array: Any) -> None:
    """Refuses an array that no tensor can be made of.

    Raises:
        TypeError: for elements of a type that tensors don't have.
        ValueError: for negative strides.
    """
    from_raw(array.dtype)
    if any(s < 0 for s in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative "
            "strides are not currently supported. (You can probably work around this by "
            "making a copy of your array  with array.copy().) "
        )


def array_of(value: Any, dtype: D.dtype | None) -> Any:
    """A fresh array with the elements of a number, a (nested) sequence, an array or a tensor.

    Raises:
        ValueError: for ragged sequences, in PyTorch's words.
        TypeError, RuntimeError: for elements that aren't numbers.
    """
    if isinstance(value, np.ndarray) or hasattr(value, "_raw"):
        if isinstance(value, np.ndarray):
            refuse_array(value)
        array = value if isinstance(value, np.ndarray) else value._raw
        target = to_raw(dtype or from_raw(array.dtype))
        if array.dtype.kind == "c" and target.kind not in "cb":
            if array.size:
                warnings.warn(errors.COMPLEX_TO_REAL, UserWarning, stacklevel=4)
            array = array.real
        return np.array(array, target, order="K" if is_dense(array) else "C")
    regular = _regular(value)
    if regular is None:
        if dtype is not None:
            refuse_depth(value)
            _refuse_no_numbers(value, dtype)
        found = dtype or infer(value)
        shape = shape_of_nested(value)
    else:
        value, shape, kinds = regular
        found = dtype or infer([kind() for kind in kinds])
    target = to_raw(found)
    try:
        if _has_arrays(value):
            result = np.empty(shape, target)
            _fill(result, value)
            return result
        if found.category == D.INT and dtype is not None:
            return _integers(value, target, shape)
        return np.array(value, target).reshape(shape)
    except OverflowError:
        raise ValueError("Overflow when unpacking long long") from None
    except TypeError as error:
        if "cannot be interpreted" in str(error):
            raise
        raise TypeError(f"must be real number, not {_first_odd(value)}") from None


def _integers(value: Any, target: Any, shape: tuple[int, ...]) -> Any:
    """Integers of a given type: floats are cut off, numbers out of range wrap or are refused."""
    whole = np.array(value)
    if whole.dtype.kind == "c":
        raise TypeError("'complex' object cannot be interpreted as an integer")
    if whole.dtype.kind == "b":
        return whole.astype(target).reshape(shape)
    if whole.dtype.kind == "f":
        _refuse_fractions(value)
    if whole.size and whole.dtype.kind in "iuf":
        info = np.iinfo(target)
        # Negative integers wrap into unsigned types; negative fractions don't.
        low = -info.max if target.kind == "u" and whole.dtype.kind != "f" else info.min
        # Written so that nan is out of range; beyond 2**63 floats are compared as floats.
        high = float(info.max) if whole.dtype.kind == "f" else info.max
        if not (whole.min() >= low and whole.max() <= high):
            raise RuntimeError(f"value cannot be converted to type {target.name} without overflow")
    return whole.astype(target).reshape(shape)


def _refuse_fractions(value: Any) -> None:
    """Refuses NumPy's floats, which aren't Python's, where integers are wanted.

    Raises:
        TypeError: in Python's words.
    """
    if isinstance(value, (list, tuple)):
        for item in value:
            _refuse_fractions(item)
    elif isinstance(value, np.floating) and not isinstance(value, float):
        raise TypeError(f"'{errors.type_name(value)}' object cannot be interpreted as an integer")


def _first_odd(value: Any) -> str:
    while isinstance(value, (list, tuple)) and value:
        value = next((v for v in value if not isinstance(v, (int, float))), value[0])
    return type(value).__name__


def _has_arrays(value: Any) -> bool:
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return isinstance(value, np.ndarray) or hasattr(value, "_raw")


def _fill(result: Any, value: Any) -> None:
    if isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            _fill(
                result[i : i + 1].reshape(result.shape[1:])
                if result.ndim > 1
                else result[i : i + 1],
                item,
            )
        return
    result[...] = value._raw.reshape(()) if hasattr(value, "_raw") else value


def shape_of_nested(value: Any) -> tuple[int, ...]:
    """The shape of a nested sequence.

    Raises:
        ValueError: where inner lengths differ.
    """
    if isinstance(value, np.ndarray):
        return tuple(value.shape)
    if hasattr(value, "_raw"):
        return tuple(value._raw.shape)
    if isinstance(value, (str, bytes, dict)) or not (
        hasattr(value, "__len__") and hasattr(value, "__getitem__")
    ):
        return ()
    n = len(value)
    if n == 0:
        return (0,)
    first = _inner_shape(value[0])
    for i in range(1, n):
        other = value[i]
        shape = () if type(other) in (int, float, bool) else _inner_shape(other)
        if shape != first:
            if len(first) and len(shape) and shape[0] != first[0]:
                raise ValueError(
                    f"expected sequence of length {first[0]} at dim 1 (got {shape[0]})"
                )
            if not len(shape) and len(first):
                raise TypeError("not a sequence")
            if len(shape) and not len(first):
                raise TypeError("only tensors of one element can be converted to Python scalars")
            raise ValueError(
                f"expected sequence of length {first[-1]} at dim {len(first)} (got {shape[-1]})"
            )
    return (n, *first)


def _inner_shape(value: Any) -> tuple[int, ...]:
    """The shape of an item of a sequence, where a tensor stands for its only element."""
    if not hasattr(value, "_raw"):
        return shape_of_nested(value)
    if value._raw.size != 1:
        if value._raw.dtype.kind in "biu":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        raise ValueError(errors.ONE_ELEMENT)
    return ()


def python_kind(value: Any) -> Any:
    """A number as PyTorch takes one of NumPy's where it wants a Python number.

    Whole numbers become `int`, what is a Python complex number stays one, all else becomes `float`.
    """
    if not isinstance(value, np.generic):
        return value
    if isinstance(value, np.integer):
        return int(value)
    return complex(value) if isinstance(value, complex) else float(value)


def _empty(shape: tuple[int, ...], raw: Any) -> Any:
    try:
        return np.empty(shape, raw)
    except (MemoryError, ValueError) as error:
        raise refusal(error, shape) from None


def full(shape: tuple[int, ...], value: Any, dtype: D.dtype) -> Any:
    """An array filled with one value.

    Raises:
        RuntimeError: where the type can't hold the value.
    """
    raw = to_raw(dtype)
    made = _empty(shape, raw)
    made.fill(number_like(value, raw))
    return made


def zeros(shape: tuple[int, ...], dtype: D.dtype) -> Any:
    """Zeros."""
    try:
        return np.zeros(shape, to_raw(dtype))
    except (MemoryError, ValueError) as error:
        raise refusal(error, shape) from None


def ones(shape: tuple[int, ...], dtype: D.dtype) -> Any:
    """Ones."""
    made = _empty(shape, to_raw(dtype))
    made.fill(1)
    return made


def empty(shape: tuple[int, ...], dtype: D.dtype) -> Any:
    """Elements that are not set."""
    return _empty(shape, to_raw(dtype))


def like(array: Any, dtype: D.dtype, fill: Any, contiguous: bool) -> Any:
    """An array shaped (and, unless `contiguous`, laid out) like another; `fill` None: not set."""
    order: Any = "C" if contiguous else "K"
    try:
        made = np.empty_like(array, dtype=to_raw(dtype), order=order, subok=False)
    except (MemoryError, ValueError) as error:
        raise refusal(error, array.shape) from None
    if fill is not None:
        made.fill(number_like(fill, made.dtype))
    return made


@allocating
def eye(n: int, m: int, dtype: D.dtype) -> Any:
    """Ones on the diagonal."""
    return np.eye(n, m, dtype=to_raw(dtype))


@allocating
def arange(start: Any, end: Any, step: Any, dtype: D.dtype) -> Any:
    """start, start + step, … up to `end`, computed as PyTorch does: start + i·step."""
    raw = to_raw(dtype)
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
def linspace(start: float, end: float, steps: int, dtype: D.dtype) -> Any:
    """`steps` values from `start` to `end`, from both ends towards the middle as PyTorch does."""
    raw = to_raw(dtype)
    if steps == 0:
        return np.empty(0, raw)
    if steps == 1:
        return np.full(1, start, raw)
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
        result[:half] = _multiplied_and_added(float(start), gap, i[:half])
        result[half:] = _multiplied_and_added(float(end), -gap, i[half:])
        return result
    # In the type itself: PyTorch rounds after every step.
    first, last = raw.type(start), raw.type(end)
    step = (last - first) / raw.type(steps - 1)
    result = np.empty(steps, raw)
    low, high = result[:half], result[half:]
    np.add(np.multiply(i[:half].astype(raw), step, low), first, low)
    high[...] = i[half:].astype(raw)
    np.subtract(last, np.multiply(high, step, high), high)
    return result


def _multiplied_and_added(start: float, step: float, count: Any) -> Any:
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
def logspace(start: Any, end: Any, steps: int, base: float, dtype: D.dtype) -> Any:
    """`base` to the powers evenly spaced from `start` to `end`."""
    raw = to_raw(dtype)
    if dtype.category == D.INT:
        start, end = int(start), int(end)
    work = D.complex128 if dtype.category == D.COMPLEX else D.float64
    with np.errstate(all="ignore"):
        return (base ** linspace(start, end, steps, work)).astype(raw)


@allocating
def empty_strided(shape: tuple[int, ...], strides: tuple[int, ...], dtype: D.dtype) -> Any:
    """Elements that are not set, with strides in elements."""
    target = to_raw(dtype)
    count = (
        1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) if 0 not in shape else 0
    )
    if count * target.itemsize >= 2**63:
        raise RuntimeError(errors.storage_overflow(shape, strides))
    steps = [s * target.itemsize for s in strides]
    return np.ndarray(shape, target, _empty((max(count, 1),), target), 0, steps)


def from_buffer(view: memoryview, dtype: D.dtype, count: int, offset: int) -> Any:
    """The elements that lie in some memory, shared with it."""
    return fix(np.frombuffer(view, to_raw(dtype), count, offset))


def from_dlpack(value: Any, copy: bool | None) -> Any:
    """The array of another library's array, shared with it unless `copy`."""
    if isinstance(value, np.ndarray):
        return value.copy() if copy else fix(value.view(np.ndarray))
    if copy is None:
        return np.from_dlpack(value)  # NumPy 2.0 has no `copy`
    return np.from_dlpack(value, copy=copy)
