"""Draws by rejection by emitted code: see `_native.emitted.rejection`."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._native.emitted import rejection as emitted
from ..._native.emitted.mt19937 import BLOCK
from .launch import _REFUSALS, address, refuse_launch

if TYPE_CHECKING:
    from ..annotations import Array
    from ..random.mt19937 import Stream

_PTR, _INT = ctypes.c_void_p, ctypes.c_int64
_AHEAD: Final = 19968  # words asked for at once, at most


@cache
def _libm() -> Any:
    """The addresses of the C library's functions. Raises: AttributeError, OSError, TypeError."""
    library = ctypes.CDLL(None)
    table = [ctypes.cast(getattr(library, name), _PTR).value for name in emitted.LIBM]
    return np.array(table, np.uint64)


@cache
def _code(name: str) -> tuple[Any, Any] | None:
    """The function, and the table of the C library's functions; None where there is none."""
    try:
        table = _libm()
    except (AttributeError, OSError, TypeError):
        return None
    try:
        kinds = (_PTR, _PTR, _INT, _PTR, _PTR, _PTR, _INT, _INT)
        return ctypes.CFUNCTYPE(_INT, *kinds)(emitted.load(name)), table
    except _REFUSALS as error:
        refuse_launch(error)
        return None


def fill(stream: Stream, name: str, columns: Array, least: int) -> Any | None:
    """Fresh numbers of a distribution in float64, of which each takes `least` words at least.

    Shapes: (what the code wants, n) -> (n). Hold the stream's lock.
    """
    code = _code(name)
    if code is None:
        return None
    run, table = code
    n = columns.shape[1]
    out = np.empty(n)
    state = np.zeros(3, np.int64)
    normal: Final = state.view(np.float64)
    kept = stream.next_normal
    normal[0], state[1] = 0.0 if kept is None else kept, kept is not None
    words = stream.words(stream.list_left().size)
    place = 0
    while True:
        state[2] = 0
        place = run(
            address(table), address(words), words.size, address(state), address(columns),
            address(out), place, n,
        )  # fmt: skip
        rest = words[int(state[2]) :]
        if place == n:
            break
        # Whole blocks, and none but the last that may stay in part: it can be put back.
        sure = min(least * (n - place), _AHEAD) - rest.size
        words = np.concatenate((rest, stream.words(BLOCK * max(sure // BLOCK, 1))))
    stream.put_back(rest.size)
    stream.next_normal = float(normal[0]) if state[1] else None
    return out
