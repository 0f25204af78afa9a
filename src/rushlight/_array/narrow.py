"""Types that are only stored: what they are computed in, and how numbers are rounded to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from .annotations import Array, RawType

_FLOAT32: Final = np.dtype(np.float32)
_COMPLEX64: Final = np.dtype(np.complex64)


class Narrow:
    """Whether a program has had arrays of a type that is only stored: see Note [Stored narrow]."""

    loaded = False


# Note [Stored narrow]
# Complex numbers of half precision and 8-bit floats are stored as ml_dtypes stores them. Where
# PyTorch computes with them, the operation's raw forward is called with complex64 or float32, and
# the results are rounded once (`_table/calls/narrow_types.py`). Until a program has such an array,
# nothing asks for them.


def find_type(name: str) -> type:
    """The type of scalars of a NumPy type that NumPy lacks.

    Raises:
        ImportError, AttributeError: where nothing that is installed has it.
    """
    if name == "bfloat16":
        from .bfloat16 import bfloat16

        return bfloat16
    import ml_dtypes

    found: type = getattr(ml_dtypes, name)
    return found


def wide_of(raw: RawType) -> RawType | None:
    """The NumPy type in which one that is only stored is computed with; None for others."""
    if raw.itemsize == 1:
        return _FLOAT32 if raw.kind in "fV" else None
    return _COMPLEX64 if is_complex32(raw) else None


def is_complex32(raw: RawType) -> bool:
    """Whether a NumPy type is that of complex numbers of half precision, of a kind of its own."""
    return raw.kind in "W"


def is_narrow(raw: RawType) -> bool:
    """Whether a NumPy type is one that is only stored."""
    return Narrow.loaded and wide_of(raw) is not None


def fit(array: Array, raw: RawType) -> Array:
    """An array as NumPy's conversion to an 8-bit type must be given it, to do what PyTorch's does.

    PyTorch's float8_e4m3fn takes what is too large, infinities too, for its largest number; its
    float8_e8m0fnu drops the sign and has the least number for what is smaller.
    """
    name = raw.name
    if name == "float8_e4m3fn":
        return np.clip(array.astype(_FLOAT32), -448.0, 448.0)
    if name == "float8_e8m0fnu":
        return np.maximum(np.abs(array.astype(_FLOAT32)), 2.0**-127)
    return array


def round_to(array: Array, raw: RawType) -> Array:
    """A copy with elements of a type that may be one that is only stored."""
    if raw.itemsize == 1 and raw.kind == "V":
        array = fit(array, raw)
    return array.astype(raw)
