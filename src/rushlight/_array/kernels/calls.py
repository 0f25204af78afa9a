"""Calls of kernels one after the other, as the steps of a sequence need them, made in one go.

    product = calls.repeat_call(function, [along, 1, 2], chunks, False)
    cell = calls.of_kernel(kernel, dtype, rows, columns, [along, address, ...])
    calls.run([product, cell], times)   # product, cell, product, cell, ...: for each of `times`

The frames of a kind of call differ in a few words, which go along an array by the row that a call
starts at. What they point to must live until `run` is done. The digits are those of the same calls
made from Python.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..._native.threads import thread_pool as pool
from ..memory.parallel import get_num_threads
from .launch import Kernel, grain_of

if TYPE_CHECKING:
    from ..annotations import RawType


class Calls(NamedTuple):
    """A kind of calls as `thread_pool.run_repeatedly` takes it; whether it has several threads."""

    words: bytes
    shared: bool


class Along(NamedTuple):
    """The address of row 0, the bytes of a row, and the address for the first call if another."""

    base: int
    step: int
    first: int | None = None


# Threads that go from call to call wait for nobody: so much less work pays for them.
_AWAKE: Final = 9


@cache
def _words(count: int) -> struct.Struct:
    return struct.Struct(f"{count}q")


def repeat_call(function: int, frame: Sequence[int | Along], chunks: int, shared: bool) -> Calls:
    """Calls of a native function with copies of a frame, of which some words go along.

    `shared` says whether a call is worth several threads.
    """
    count = len(frame)
    assert count <= pool.MOST_WORDS
    base: list[Any] = list(frame)
    growth, first = [0] * count, [0] * count
    for place, word in enumerate(frame):
        if type(word) is Along:
            base[place], growth[place], first[place] = word.base, word.step, word.first or 0
    words = _words(4 + 3 * count).pack(function, chunks, shared, count, *base, *growth, *first)
    return Calls(words, shared)


def of_kernel(
    kernel: Kernel, dtype: RawType, rows: int, columns: int, words: Sequence[int | Along]
) -> Calls:
    """Calls of a kernel that is prepared, all of whose operands are arrays; words are those of
    `Kernel.at`, or go along."""
    found = kernel.general[dtype, None]
    grain, elements = grain_of(rows, columns, False), rows * columns
    frame = (rows, columns, elements, grain, *words)
    return repeat_call(found.body, frame, -(-rows // grain), _AWAKE * elements >= found.least)


def run(kinds: Sequence[Calls], times: range) -> None:
    """Makes a call of each kind for the first of `times`, then for the second, and so on."""
    threads = get_num_threads() if any(kind.shared for kind in kinds) else 1
    pool.run_repeatedly(b"".join([kind.words for kind in kinds]), len(kinds), times, threads)
