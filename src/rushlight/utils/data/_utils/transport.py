"""How batches come from the workers: small ones as messages, large ones through shared memory.

A large batch's arrays are written to a file that has no name (it exists in memory only, and ends
with the last process that has it open), and the file is sent beside the message. Nothing is left
behind by a process that dies.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import weakref
from collections.abc import Sequence
from multiprocessing import reduction
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...._array.memory import collation as batches
from ...._core.storage import TensorBase

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from ...._base.annotations import Shape
    from ...._tensor.tensor import Tensor


__all__ = ["SHARES", "Letter", "receive", "seal"]

#: Whether files without a name can be made and sent here.
SHARES: Final = hasattr(os, "memfd_create") and reduction.HAVE_SEND_HANDLE
# Arrays from this size on are kept out of the message, where a message's copies cost more than a
# file's system calls: measured, a file breaks even at about 500 KB and is three times as fast at
# 10 MB.
_APART: Final = 64 << 10
_LARGE: Final = 512 << 10
# Each file in use takes one of the process's places for open files, so there is a limit; the
# batches that come when it is reached are copied.
_MOST: Final = 256
_ALIGNMENT: Final = 64

_mapped: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()


class Letter(NamedTuple):
    """A message, and the file that goes with it."""

    text: bytes
    file: int | None

    def send(self, pipe: Any) -> None:
        """Sends both, and closes the file here."""
        try:
            pipe.send_bytes(self.text)
            if self.file is not None:
                reduction.send_handle(pipe, self.file, None)
        finally:
            if self.file is not None:
                os.close(self.file)


class _Pickler(pickle.Pickler):
    """Pickles with the memory of large tensors kept apart, as NumPy's arrays have it already."""

    def reducer_override(self, obj: object) -> Any:
        """How plain tensors are pickled; other objects as always."""
        if not isinstance(obj, TensorBase) or obj._node is not None or obj.hooks is not None:
            return NotImplemented
        kept = batches.for_pickle(obj._raw)
        if kept is None:
            return NotImplemented
        tensor: Any = obj
        return _rebuild, (type(obj), *kept, tensor.requires_grad, tensor.__dict__ or None)


def _rebuild(
    cls: type, name: str, shape: Shape, strides: Shape, buffer: object, *rest: Any
) -> Tensor:
    from ...._tensor.copies import rebuilt_over

    return rebuilt_over(cls, batches.array_over(name, shape, strides, buffer), *rest)


def seal(value: object) -> Letter:
    """What `receive` makes the value of; its memory may be changed afterwards."""
    apart: list[Any] = []

    def inside(buffer: pickle.PickleBuffer) -> bool:
        view = buffer.raw()
        if view.nbytes < _APART:
            return True
        apart.append(view)
        return False

    body = io.BytesIO()
    _Pickler(body, 5, buffer_callback=inside if SHARES else None).dump(value)
    if not apart:
        return Letter(pickle.dumps([]) + body.getvalue(), None)
    lengths = [view.nbytes for view in apart]
    head = pickle.dumps(lengths)
    if sum(lengths) < _LARGE:
        return Letter(b"".join((head, body.getvalue(), *apart)), None)
    file = os.memfd_create("batch")
    for view, start in zip(apart, _starts(lengths), strict=False):
        done = 0
        while done < view.nbytes:
            done += os.pwrite(file, view[done:], start + done)
    return Letter(head + body.getvalue(), file)


def _starts(lengths: Sequence[int]) -> list[int]:
    """Where each array begins in the file, and at last its end."""
    starts = [0]
    for length in lengths:
        starts.append(-(-(starts[-1] + length) // _ALIGNMENT) * _ALIGNMENT)
    return starts


def receive(pipe: Connection) -> Any:
    """The value of the next letter.

    Raises:
        EOFError, OSError, RuntimeError: where the sender has gone.
    """
    text = pipe.recv_bytes()
    body = io.BytesIO(text)
    lengths: list[int] = pickle.load(body)
    if not lengths:
        return pickle.load(body)
    total = sum(lengths)
    message = body.tell()
    if total < _LARGE:
        start = len(text) - total
        views = []
        for length in lengths:
            # A copy of its own, so that the batch can be written to.
            views.append(memoryview(bytearray(text[start : start + length])))
            start += length
        return pickle.loads(memoryview(text)[message:], buffers=views)
    starts = _starts(lengths)
    file = reduction.recv_handle(pipe)
    try:
        memory = mmap.mmap(file, starts[-2] + lengths[-1])
    finally:
        os.close(file)
    whole: Any = memory
    if len(_mapped) >= _MOST:
        whole = bytearray(memory)
        memory.close()
    else:
        _mapped.add(memory)
    view = memoryview(whole)
    parts = [view[start : start + n] for start, n in zip(starts, lengths, strict=False)]
    return pickle.loads(memoryview(text)[message:], buffers=parts)
