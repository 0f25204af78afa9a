"""One iterator at a time: what is done around the iterators that pipes make."""

from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable, Iterator

from .annotations import Item

__all__ = ["begin_unless_restored", "watch"]

_CONSTRAINT = (
    "\nFor feedback regarding this single iterator per IterDataPipe constraint, feel free to "
    "comment on this issue: https://github.com/pytorch/data/issues/45."
)
_FEEDBACK = (
    "\nThis may be caused by multiple references to the same IterDataPipe. We recommend using "
    f"`.fork()` if that is necessary.{_CONSTRAINT}"
)


class _SnapshotState(enum.Enum):
    """Whether a pipe has been begun, wound forward to where a run was left, or read."""

    NotStarted = 0
    Restored = 1
    Iterating = 2


def begin_unless_restored(reset: Callable[[Item], None]) -> Callable[[Item], None]:
    """A `reset` that does nothing, once, for a pipe that has just been wound forward."""

    @functools.wraps(reset)
    def begin(self: Item) -> None:
        if self._snapshot_state is not _SnapshotState.Restored:
            self._number_of_samples_yielded = 0
            reset(self)
        self._snapshot_state = _SnapshotState.Iterating

    return begin


class _Watched:
    """An iterator of a pipe, which counts its items and ends when the pipe makes another."""

    def __init__(self, pipe: Item, make: Callable[[Item], Iterator[Item]], later: bool) -> None:
        self._pipe = pipe
        self._make = make
        self._items: Iterator[Item] | None = None
        self._number = -1
        if not later:
            self._begin()

    def _begin(self) -> Iterator[Item]:
        pipe = self._pipe
        items, forward = self._make(pipe), pipe._fast_forward_iterator
        if forward is not None:
            # It is watched itself: this one only hands on what it gives.
            items, pipe._fast_forward_iterator = forward, None
            pipe._snapshot_state = _SnapshotState.Iterating
        else:
            pipe._valid_iterator_id += 1
            self._number = pipe._valid_iterator_id
            pipe.reset()
        self._items = items
        return items

    def __iter__(self) -> _Watched:
        return self

    def __next__(self) -> Item:
        pipe, items = self._pipe, self._items
        if items is None:
            items = self._begin()
        if self._number < 0:
            return next(items)
        if self._number != pipe._valid_iterator_id:
            raise RuntimeError(
                "This iterator has been invalidated because another iterator has been created from "
                f"the same IterDataPipe: {_with_arguments(pipe)}{_FEEDBACK}"
            )
        try:
            item = next(items)
        except StopIteration:
            raise
        except Exception as error:
            _tell_where(error, pipe)
            raise
        pipe._number_of_samples_yielded += 1
        return item

    def __getattr__(self, name: str) -> Item:
        return getattr(self._items, name)


def watch(own: Callable[[Item], Iterator[Item]]) -> Callable[[Item], Item]:
    """The `__iter__` of a class of pipes, watched; a generator begins with its first item."""
    later = inspect.isgeneratorfunction(own)

    @functools.wraps(own)
    def iterate(self: Item) -> Item:
        return _Watched(self, own, later)

    return iterate


def _tell_where(error: Exception, pipe: object) -> None:
    args, where = error.args, "thrown by __iter__ of"
    note = f"\nThis exception is {where} {_with_arguments(pipe)}"
    if not args or not isinstance(args[0], str):
        error.args = (note,)
    elif where not in args[0] and _CONSTRAINT[-60:] not in args[0]:
        error.args = (args[0] + note, *args[1:])


def _with_arguments(pipe: object) -> str:
    names = sorted(inspect.signature(type(pipe).__init__).parameters)
    own = vars(pipe)
    given = [f"{n}={getattr(own[n], '__name__', own[n])}" for n in names if n in own]
    return f"{type(pipe).__name__}({', '.join(given)})"
