"""Rows added to a table by a kernel: the gradient of an embedding."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base.lazy import Function
from ..._native.llvm.emit import F32, F64
from ..types import FLOAT32
from .launch import Code, address, plain, ready

if TYPE_CHECKING:
    from ..annotations import Array

# Columns of a chunk, a cache line's multiple, and a width below which most lanes are empty.
_GRAIN: Final = 64
_SHORT: Final = 8
# Rows at a place, on average, of which one sum is made: longer ones would lose digits. Narrow rows
# are added one after the other all the same, as everywhere.
_MEETING: Final = 64
_NARROW: Final = 16
_pack: Final = struct.Struct("6q").pack
_known: Final[dict[Any, Code]] = {}


def add_rows(table: Array, index: Array, rows: Array) -> bool:
    """Whether row i of `rows` was added to row index[i] of `table`, for all i.

    Shapes: table (V, width), index (n,), int64, rows (n, width), all C-ordered.
    """
    width = table.shape[1]
    if width < _SHORT or not plain(table, rows) or not table.flags.writeable or not ready():
        return False
    # Seen as unsigned, negative indices are huge: one comparison for both bounds.
    if int(np.maximum.reduce(index.view(np.uint64))) >= table.shape[0]:
        return False
    dtype = table.dtype
    code = _known.get(dtype)
    if code is None:
        type = F32 if dtype is FLOAT32 else F64
        make = Function("_native.emitted.embedding_gradient:emit_added_rows")
        made = Code.of(f"add_rows_{type.suffix}", 0.15, make, type)
        if made is None:
            return False
        code = _known[dtype] = made
    _add(code, table, index, rows)
    return True


def _add(code: Code, table: Array, index: Array, rows: Array) -> None:
    (places, width), count = table.shape, index.size
    few = _MEETING * places
    if count > few and width > _NARROW:
        # Sums of as many rows as may meet, one after the other in memory, and then the sums.
        parts = -(-count // few)
        sums = np.zeros((parts * places, width), table.dtype)
        _run(code, sums, index + np.arange(count) // few * places, rows)
        _add(code, table, np.tile(np.arange(places), parts), sums)
    else:
        _run(code, table, index, rows)


def _run(code: Code, table: Array, index: Array, rows: Array) -> None:
    width = table.shape[1]
    frame = _pack(index.size, width, _GRAIN, address(table), address(index), address(rows))
    code.run(frame, -(-width // _GRAIN), rows.size)
