"""Arrays from Python's numbers and nested sequences of them, mixed, ragged or of arrays.

The first items say the shape; then all items are read one after the other, each as C reads a Python
number for an element of that type. What is regular is left to NumPy as a whole.
"""

from __future__ import annotations

import math
import operator
import sys
import warnings
from collections.abc import Callable
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base import dtypes as D, errors
from ..._native.ufunc_loops import FRESH
from ..types import from_raw, is_dense, to_raw

if TYPE_CHECKING:
    from ..annotations import Array, RawType

#: Sequences within sequences that PyTorch follows, and with them lists that hold themselves.
_DEEPEST: Final = 128
#: Python's own numbers, whose type says all about the elements' type.
_NUMBERS: Final = frozenset({bool, int, float})
_SEQUENCES: Final = frozenset({list, tuple})
#: The kinds of arrays whose elements all are numbers for an element of that category.
_READABLE: Final = {D.BOOL: "biu", D.INT: "iu", D.FLOAT: "biuf", D.COMPLEX: "biufc"}


def infer(value: Any) -> D.dtype:
    """The dtype that `tensor(value)` has: bool, int64, the default float or its complex.

    Raises:
        TypeError, RuntimeError: for values that aren't numbers or sequences of them.
    """
    if isinstance(value, (bool, np.bool_)):
        return D.bool_
    if isinstance(value, np.generic) and not isinstance(value, (str, bytes)):
        return from_raw(value.dtype)
    if isinstance(value, int):
        return D.int64
    if isinstance(value, float):
        return D.get_default_dtype()
    if isinstance(value, complex):
        if D.get_default_dtype() is D.bfloat16:
            raise RuntimeError("invalid default scalar type for complex")
        return D.number_dtype(value)
    if hasattr(value, "_raw"):
        return from_raw(value._raw.dtype)
    if isinstance(value, np.ndarray):
        return from_raw(value.dtype)
    if isinstance(value, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(value).__name__}'")
    if is_sequence(value):
        result: D.dtype | None = None
        for item in value:
            if item is value:
                raise TypeError("new(): self-referential lists are incompatible")
            inner = infer(item)
            result = inner if result is None else D.promote_types(result, inner)
            if result is D.complex128:
                break
        return result or D.get_default_dtype()
    raise RuntimeError(f"Could not infer dtype of {errors.type_name(value)}")


def is_sequence(value: object) -> bool:
    """Whether C takes a value for a sequence: not tensors, NumPy's numbers and dictionaries."""
    kind = type(value)
    if kind in _SEQUENCES:
        return True
    return (
        hasattr(kind, "__getitem__")
        and not issubclass(kind, dict)
        and not hasattr(value, "_raw")
        and (not issubclass(kind, np.generic) or issubclass(kind, (str, bytes)))
    )


def _shape_of(value: Any) -> tuple[int, ...]:
    """The shape that the first items of a nested sequence have.

    Raises:
        ValueError: for more dimensions than there can be, as of texts, whose items are texts.
        TypeError: for sequences without a length.
    """
    shape: list[int] = []
    while is_sequence(value):
        shape.append(len(value))
        if len(shape) > _DEEPEST:
            raise ValueError(f"too many dimensions '{type(value).__name__}'")
        if not shape[-1]:
            break
        try:
            value = value[0]
        except Exception:
            raise TypeError(
                f"could not determine the shape of object type '{errors.type_name(value)}'"
            ) from None
    return tuple(shape)


def _regular(value: object) -> tuple[Any, tuple[int, ...], set[type]] | None:
    """The numbers of a nested list, its shape and the numbers' types, where all is as it should be.

    None for what is ragged, empty or of something else: that is looked at one by one.
    """
    shape: list[int] = []
    flat = value
    while isinstance(flat, (list, tuple)) and flat:
        kinds = set(map(type, flat))
        if kinds <= _NUMBERS or all(k in _NUMBERS or issubclass(k, np.number) for k in kinds):
            shape.append(len(flat))
            for inner in range(len(shape) - 1, 0, -1):
                shape[inner] //= shape[inner - 1]
            return flat, tuple(shape), kinds
        if not kinds <= _SEQUENCES or len(set(map(len, flat))) != 1:
            return None
        if len(shape) == 1:
            _shape_of(value)  # refuses a list that holds itself, which would grow on
        shape.append(len(flat))
        flat = list(chain.from_iterable(flat))
    return None


def array_of(
    value: Any, dtype: D.dtype | None, warn_of_array: Callable[[], None] | None = None
) -> Array:
    """A fresh array with the elements of a number, a (nested) sequence, an array or a tensor.

    `warn_of_array` is called for each array within a sequence.

    Raises:
        ValueError: for ragged sequences, in PyTorch's words.
        TypeError, RuntimeError: for elements that aren't numbers.
    """
    kind = type(value)
    if kind in _NUMBERS:
        return _array_of_numbers([value], {kind}, (), dtype or infer(value))
    if kind not in _SEQUENCES and (isinstance(value, np.ndarray) or hasattr(value, "_raw")):
        return _convert(value, dtype)
    usual = dtype is not None or D.get_default_dtype() is D.float32
    if kind in _SEQUENCES and usual and FRESH is not None:
        few: Array | None = FRESH.numbers(value, None if dtype is None else to_raw(dtype))
        if few is not None:
            return few
    if isinstance(value, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(value).__name__}'")
    if kind not in _SEQUENCES and errors.is_pytorchs(kind):
        return _convert(_array_of_pytorchs(value), dtype)
    if (kind is list or kind is tuple) and (kinds := set(map(type, value))) <= _NUMBERS:
        found = dtype or infer(value[0] if len(kinds) == 1 else value)
        return _array_of_numbers(value, kinds, (len(value),), found)
    regular = _regular(value)
    if regular is not None:
        flat, shape, kinds = regular
        found = dtype or infer(flat[0] if len(kinds) == 1 else [kind() for kind in kinds])
        if kinds <= _NUMBERS or found.category in (D.FLOAT, D.COMPLEX):
            return _array_of_numbers(flat, kinds, shape, found)
    shape = _shape_of(value)
    found = dtype or infer(value)
    flat = []
    if 0 not in shape:  # then nobody looks at the items
        _read(flat, value, shape, 0, found, warn_of_array)
    return _array_of_numbers(flat, set(map(type, flat)), shape, found)


def element_of(value: Any, dtype: D.dtype) -> Array:
    """An array of no dimensions: what is stored where `value` is one element.

    Raises:
        TypeError, ValueError, RuntimeError: for what isn't a number of that type.
    """
    number = _number_of(value, dtype)
    return _array_of_numbers([number], {type(number)}, (), dtype)


def _convert(value: Array, dtype: D.dtype | None) -> Array:
    """A fresh array with the elements of an array or a tensor."""
    if isinstance(value, np.ndarray):
        refuse_array(value)
    array = value if isinstance(value, np.ndarray) else value._raw
    target = to_raw(dtype or from_raw(array.dtype))
    if array.dtype.kind == "c" and target.kind not in "cb":
        if array.size:
            warnings.warn(errors.COMPLEX_TO_REAL, UserWarning, stacklevel=5)
        array = array.real
    return np.array(array, target, order="K" if is_dense(array) else "C")


def _array_of_pytorchs(tensor: Any) -> Array:
    """The array of a tensor of PyTorch itself, where that is imported beside."""
    pytorch = sys.modules["torch"]
    plain = tensor.detach().cpu().resolve_conj().resolve_neg()
    if plain.dtype is pytorch.bfloat16:
        return np.asarray(plain.view(pytorch.int16).numpy().view(to_raw(D.bfloat16)))
    return np.asarray(plain.numpy())


def refuse_array(array: Array) -> None:
    """Refuses an array that no tensor can be made of.

    Raises:
        TypeError: for elements of a type that tensors don't have.
        ValueError: for negative strides.
    """
    from_raw(array.dtype)
    refuse_backwards(array.strides)


def refuse_backwards(strides: tuple[int, ...]) -> None:
    """Refuses negative strides.

    Raises:
        ValueError: where there are some.
    """
    if any(s < 0 for s in strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative "
            "strides are not currently supported. (You can probably work around this by "
            "making a copy of your array  with array.copy().) "
        )


def _read(
    flat: list[object],
    value: Any,
    shape: tuple[int, ...],
    dim: int,
    dtype: D.dtype,
    warn_of_array: Callable[[], None] | None,
) -> None:
    """Appends the numbers of a nested sequence, from a dimension on, to `flat`.

    Raises:
        ValueError: where a sequence is longer or shorter than the first.
        TypeError: for items that aren't sequences or numbers of that type.
    """
    if type(value) in _NUMBERS:
        if dim == len(shape):
            flat.append(value)
            return
    elif isinstance(value, np.ndarray):
        if dim and warn_of_array is not None:
            warn_of_array()
        if value.shape == shape[dim:] and value.dtype.kind in _READABLE[dtype.category]:
            flat.extend(value.ravel().tolist())
            return
    if dim == len(shape):
        flat.append(_number_of(value, dtype))
        return
    try:
        items = value if isinstance(value, (list, tuple)) else list(value)
    except TypeError:
        raise TypeError("not a sequence") from None
    if len(items) != shape[dim]:
        raise ValueError(
            f"expected sequence of length {shape[dim]} at dim {dim} (got {len(items)})"
        )
    for item in items:
        _read(flat, item, shape, dim + 1, dtype, warn_of_array)


def _integer(value: Any) -> Any:
    """A number for an integer: Python's floats stay, to be cut off."""
    if isinstance(value, float):
        return float(value)
    if not hasattr(type(value), "__index__") or isinstance(value, np.bool_):
        raise TypeError(f"'{errors.type_name(value)}' object cannot be interpreted as an integer")
    return operator.index(value)


def _truth(value: object) -> bool:
    """A number for a bool."""
    if isinstance(value, (float, complex, np.bool_)):
        return bool(value)
    return bool(_integer(value))


def _real(value: Any) -> float:
    """A number for a float."""
    kind = type(value)
    if isinstance(value, complex) and not isinstance(value, np.generic):
        raise TypeError(f"must be real number, not {errors.type_name(value)}")
    if not (hasattr(kind, "__float__") or hasattr(kind, "__index__")):
        raise TypeError(f"must be real number, not {errors.type_name(value)}")
    return math.ldexp(value, 0)  # unlike `float` it reads no text


def _complex(value: Any) -> complex:
    """A number for a complex one."""
    if isinstance(value, complex):
        return complex(value)
    if hasattr(type(value), "__complex__"):
        return complex(value)
    return _real(value)


_NUMBER: Final[dict[int, Callable[[Any], Any]]] = {
    D.BOOL: _truth,
    D.INT: _integer,
    D.FLOAT: _real,
    D.COMPLEX: _complex,
}


def _number_of(value: Any, dtype: D.dtype) -> Any:
    """The number that an object stands for as an element of a type."""
    if dtype is D.uint64 and not isinstance(value, int):
        raise TypeError("an integer is required")
    return _NUMBER[dtype.category](value)


def _array_of_numbers(flat: Any, kinds: set[type], shape: tuple[int, ...], dtype: D.dtype) -> Array:
    """An array of numbers of these types, which fit the category of the type.

    Raises:
        ValueError, RuntimeError: for integers out of range.
    """
    target = to_raw(dtype)
    if dtype.category == D.INT:
        whole = _make_unsigned(flat, kinds) if dtype is D.uint64 else _integers(flat, kinds, target)
        return whole.reshape(shape)
    if target.kind == "V":  # a type that NumPy doesn't know takes no large integers
        flat = [float(number) for number in flat]
    if dtype is D.float64 or dtype is D.bool_ or not flat or _is_small(flat, kinds):
        array = np.array(flat, target)
    else:
        with np.errstate(over="ignore"):
            array = np.array(flat, target)
    return array if len(shape) == 1 else array.reshape(shape)


def _is_small(flat: Any, kinds: set[type]) -> bool:
    """Whether no type overflows for some numbers, where that is seen at once."""
    if kinds <= _NUMBERS:
        return min(flat) > -6e4 and max(flat) < 6e4
    return len(flat) == 1 and abs(flat[0]) < 6e4


def _integers(flat: Any, kinds: set[type], target: RawType) -> Array:
    """Integers of a type: floats are cut off; numbers out of range are refused.

    Negative integers wrap into unsigned types; negative fractions don't.
    """
    if float in kinds:
        if len(kinds) > 1:
            cut = iter(_integers([n for n in flat if type(n) is float], {float}, target).tolist())
            flat = [next(cut) if type(n) is float else n for n in flat]
            return _integers(flat, {int}, target)
        whole = np.array(flat, np.float64)
    else:
        try:
            whole = np.array(flat, np.int64)
        except OverflowError:
            raise ValueError(errors.LONG) from None
        if target == np.int64:
            return whole
    info = np.iinfo(target)
    fractional = whole.dtype.kind == "f"
    low = -info.max if target.kind == "u" and not fractional else info.min
    high = float(info.max) if fractional else info.max
    # Written so that nan is out of range.
    if whole.size and not (whole.min() >= low and whole.max() <= high):
        raise RuntimeError(f"value cannot be converted to type {target.name} without overflow")
    return whole.astype(target)


def _make_unsigned(flat: Any, kinds: set[type]) -> Array:
    """Integers of 64 bits without a sign, of which nothing is cut off or wraps.

    Raises:
        TypeError, OverflowError: for fractions, and for what is out of range.
    """
    if float in kinds:
        raise TypeError("an integer is required")
    for number in flat:
        if number < 0:
            raise OverflowError("can't convert negative int to unsigned")
        if number >= 2**64:
            raise OverflowError("int too big to convert")
    return np.array(flat, np.uint64)
