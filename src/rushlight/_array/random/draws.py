"""What all distributions share: uniform doubles, parts of a draw, the order of memory, errors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import errors
from ..._base.dtypes import by_name, scalar_name
from .mt19937 import NATIVE, Stream

if TYPE_CHECKING:
    from ..._base.annotations import TensorLike
    from ..annotations import Array, RawType

PART = 19968
"""Words worked on at a time: 32 blocks of the generator, so that the arrays between stay in cache.

A multiple of 16, as the normals need.
"""

C_NAMES = {
    "bool": "bool", "uint8": "unsigned char", "int8": "signed char", "int16": "short int",
    "int32": "int", "int64": "long int", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
    "float32": "float", "float64": "double", "uint16": "short unsigned int",
    "uint32": "unsigned int", "uint64": "long unsigned int", "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}  # fmt: skip
"""The C++ type of each dtype, as PyTorch spells it where a bound is wrong."""

FLOATS = frozenset({"float16", "bfloat16", "float32", "float64"})
COMPLEX = frozenset({"complex32", "complex64", "complex128"})

_HIGH_BITS = np.array(0x1FFFFF, np.uint32)
_WORD = np.array(32, np.uint64)
_STEP53 = np.array(2.0**-53)


_names: dict[Any, str] = {}


def name_of(dtype: RawType) -> str:
    """The name of a NumPy dtype, remembered: NumPy makes it anew for a microsecond and more."""
    name = _names.get(dtype)
    if name is None:
        name = _names[dtype] = str(dtype.name)
    return name


def refuse(kernel: str, dtype: RawType) -> NotImplementedError:
    """The error of a kernel that doesn't know `dtype`."""
    return NotImplementedError(errors.not_implemented(kernel, kernel_name(dtype)))


def kernel_name(dtype: RawType) -> str:
    """What PyTorch's CPU kernels call `dtype`."""
    return scalar_name(by_name(name_of(dtype)))


def parts(n: int, size: int = PART) -> Iterable[slice]:
    """Slices that cover `range(n)` in order, each of at most `size`."""
    if n <= size:
        return (slice(0, n),) if n else ()
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def words64(stream: Stream, n: int) -> Array:
    """`n` fresh uint64 values, each from two words, the high one first."""
    words = stream.words(2 * n)
    high = words[0::2].astype(np.uint64)
    np.left_shift(high, _WORD, high)
    return np.bitwise_or(high, words[1::2], high)


def words53(stream: Stream, n: int) -> Array:
    """`n` fresh int64 values in [0, 2**53): the numerators of uniform doubles."""
    words = stream.words(2 * n)
    high = np.bitwise_and(words[0::2], _HIGH_BITS).astype(np.uint64)
    np.left_shift(high, _WORD, high)
    return np.bitwise_or(high, words[1::2], high).view(np.int64)


def doubles(stream: Stream, n: int) -> Any:
    """`n` fresh float64 uniforms in [0, 1)."""
    few = np.empty(n)
    if stream.draw("u", few) is not None:
        return few
    code = NATIVE.code or NATIVE.ask(n)
    if code is not None:
        return code.doubles(stream.words(2 * n))
    uniforms = words53(stream, n).astype(np.float64)
    return np.multiply(uniforms, _STEP53, uniforms)


def in_memory_order(raw: Array, *others: Array) -> tuple[Array, ...]:
    """The arrays with their axes turned so that C order walks through the memory of the first.

    PyTorch fills a transposed matrix in the order of its memory, not of its indices. Where strides
    of the first array leave a choice (0, or equal ones), the others decide.

    Shapes: all of one shape.
    """
    arrays = (raw, *others)
    order = list(range(raw.ndim))[::-1]  # innermost first

    def swaps(inner: int, outer: int) -> int:
        for array in arrays:
            a, b = array.strides[inner], array.strides[outer]
            if a == 0 or b == 0:
                continue
            if a != b:
                return 1 if a > b else -1
            if array.shape[inner] > array.shape[outer]:
                return 1
        return 0

    # Insertion, not a sort: an undecided pair is passed over, so the relation isn't transitive.
    for i in range(1, len(order)):
        at = i
        for k in range(i - 1, -1, -1):
            verdict = swaps(order[k], order[at])
            if verdict > 0:
                order[k], order[at] = order[at], order[k]
                at = k
            elif verdict < 0:
                break
    return tuple(array.transpose(order[::-1]) for array in arrays)


def multiply_add(x: TensorLike, scale: float, shift: float) -> Array:
    """`x * scale + shift` with one rounding, for float64 arrays and Python floats.

    Dekker's exact product and Knuth's exact sum; the rounding of their two small remainders is
    2**-53 of the last digit, which no draw has shown. Where the exact product overflows, the
    ordinary expression stands.

    Source: T. J. Dekker, A floating-point technique for extending the available precision (1971).
    """
    if shift == 0.0:
        return x * scale
    if scale == 1.0:
        return x + shift
    if not 1e-150 < abs(scale) < 1e150 or not abs(shift) < 1e150:
        return x * scale + shift
    splitter = 134217729.0
    product = x * scale
    part = x * splitter
    x_high = part - (part - x)
    x_low = x - x_high
    part = scale * splitter
    s_high = part - (part - scale)
    s_low = scale - s_high
    error = ((x_high * s_high - product) + x_high * s_low + x_low * s_high) + x_low * s_low
    total = product + shift
    back = total - product
    error += (product - (total - back)) + (shift - back)
    return total + error
