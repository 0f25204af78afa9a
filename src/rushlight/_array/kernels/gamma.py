"""Gamma draws by emitted code: see `_native.emitted.gamma`."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._native.emitted import gamma as gamma_draws
from .launch import _REFUSALS, address, refused

if TYPE_CHECKING:
    from ..annotations import Array
    from ..random.mt19937 import Stream

_PTR, _INT = ctypes.c_void_p, ctypes.c_int64


@cache
def _code() -> tuple[Any, Any] | None:
    """The function, and the table of the C library's functions; None where there is none."""
    try:
        library = ctypes.CDLL(None)
        table = [ctypes.cast(getattr(library, name), _PTR).value for name in gamma_draws.LIBM]
    except (AttributeError, OSError, TypeError):
        return None
    try:
        kinds = (_PTR, _PTR, _INT, *[_PTR] * 5, _INT, _INT)
        run = ctypes.CFUNCTYPE(_INT, *kinds)(gamma_draws.load())
    except _REFUSALS as error:
        refused(error)
        return None
    return run, np.array(table, np.uint64)


def fill(
    stream: Stream, exponents: Array, d: Array, c: Array, one: Callable[[int], float]
) -> Any | None:
    """Fresh gamma numbers in float64; `one(i)` draws the element for which a block is too short.

    Shapes: all flat. Hold the stream's lock.
    """
    code = _code()
    if code is None:
        return None
    run, table = code
    out = np.empty(exponents.size)
    state = np.zeros(3, np.int64)
    normal: Final = state.view(np.float64)
    where = [address(x) for x in (exponents, d, c, out)]
    place = 0
    while True:
        words = stream.left()
        kept = stream.next_normal
        normal[0], state[1], state[2] = 0.0 if kept is None else kept, kept is not None, 0
        place = run(
            address(table), address(words), words.size, address(state), *where, place, out.size
        )
        stream.words(int(state[2]))
        stream.next_normal = float(normal[0]) if state[1] else None
        if place == out.size:
            return out
        out[place] = one(place)
        place += 1
