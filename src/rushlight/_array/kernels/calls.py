"""Calls of kernels one after the other, as the steps of a sequence need them, made in one go.

    product = calls.repeated(function, frame, {0: along}, starts, chunks, False)
    cell = calls.of_kernel(kernel, dtype, rows, columns, [along, address, ...], starts)
    calls.run([product, cell])    # product, cell, product, cell, ...: once for each of `starts`

The frames of a kind of call differ in a few words, which go along an array by the row that a call
starts at. What they point to must live until `run` is done. The digits are those of the same calls
made from Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ..._native.threads import thread_pool as pool
from ..memory.parallel import get_num_threads
from .launch import Kernel, address, grain_of

if TYPE_CHECKING:
    from ..annotations import Array, RawType

#: A table of calls, and their frames.
Calls = tuple["Array", "Array"]


class Along(NamedTuple):
    """The address of row 0, the bytes of a row, and the address for the first call if another."""

    base: int
    step: int
    first: int | None = None


_WORD: Final = np.dtype(np.int64)
# Threads that have just worked needn't be woken: so much less work pays for them.
_AWAKE: Final = 64
_FIRST: Final = 4  # a kernel's frame begins with numbers, then come addresses


def repeat_call(
    function: int, frame: bytes, moving: Mapping[int, Along], starts: Array, chunks: int,
    shared: bool,
) -> Calls:  # fmt: skip
    """Calls of a native function with copies of a frame, of which some words differ.

    `shared` says whether a call is worth several threads.
    """
    words = np.frombuffer(frame, _WORD).copy()
    steps = np.zeros(len(words), _WORD)
    for place, along in moving.items():
        words[place], steps[place] = along.base, along.step
    frames = np.multiply.outer(starts, steps)
    np.add(frames, words, frames)
    for place, along in moving.items():
        if along.first is not None:
            frames[0, place] = along.first
    table = np.empty((len(starts), 4), _WORD)
    table[:] = function, 0, chunks, shared
    here = address(frames)
    table[:, 1] = np.arange(here, here + frames.nbytes, frames.strides[0])
    return table, frames


def of_kernel(
    kernel: Kernel, dtype: RawType, rows: int, columns: int, words: Sequence[int | Along],
    starts: Array,
) -> Calls:  # fmt: skip
    """Calls of a kernel that is prepared; words are those of `Kernel.at`, or go along."""
    found = kernel.general[dtype, None]
    grain, elements = grain_of(rows, columns, False), rows * columns
    fixed = [word if isinstance(word, int) else 0 for word in words]
    frame = found.pack(rows, columns, elements, grain, *fixed)
    moving = {_FIRST + k: word for k, word in enumerate(words) if isinstance(word, Along)}
    return repeat_call(
        found.body, frame, moving, starts, -(-rows // grain), _AWAKE * elements >= found.least
    )


def run(kinds: Sequence[Calls]) -> None:
    """Makes the first call of each kind, then the second of each, and so on."""
    table = np.stack([table for table, _ in kinds], 1)
    threads = get_num_threads() if table[..., 3].any() else 1
    pool.run_listed(address(table), table.size // 4, threads)
