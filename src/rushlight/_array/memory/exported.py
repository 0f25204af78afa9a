"""Memory that others look at too: NumPy, or the owner of a buffer. It can't move, so not grow."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from ..annotations import Array

FIXED: Final[dict[int, weakref.ref[Any]]] = {}


def fix(array: Array) -> Array:
    """The array, whose memory others look at from now on."""
    whole = array
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    number = id(whole)
    if number not in FIXED:
        FIXED[number] = weakref.ref(whole, lambda _: FIXED.pop(number, None))
    return array


def is_fixed(whole: Array) -> bool:
    """Whether others look at the memory that an array owns."""
    return id(whole) in FIXED
