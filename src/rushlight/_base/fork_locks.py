"""Locks that no child process finds held by a thread that it hasn't got.

Note [Locks and forks]
A fork copies the memory and only the thread that forks. A lock that another thread held then stays
held in the child for good, and what it guards may be half changed. So every lock of the package
comes from here. Those that are held for moments (`lock`, `condition`) are waited for: whoever forks
holds all of them meanwhile, so that what they guard is whole in the child. Those under which code
of users runs (`long_lock`) aren't waited for; in the child they are free again, unless the thread
that forked holds them itself, and `in_child` registers what puts right the things they guard.

Waiting ends after `PATIENCE`: two threads may wait for each other through a lock that isn't ours.
What couldn't be had is freed in the child all the same. LLVM's lock is waited for much longer: who
has it is inside of LLVM, waits for nobody and comes out, on a busy machine after seconds; but what
LLVM itself holds there nobody could free in a child.

Imports are waited for likewise: a module that another thread is about to load would stay locked in
the child, half loaded. One that couldn't be waited for is loaded anew there.

Note [Interrupts and locks]
Since Python 3.14 an interrupt may come between a lock's `__enter__` and the block of its `with`.
The lock stays held then, and other threads wait for it for ever. So there the lock gives back by
itself what it has just taken: the interpreter looks for interrupts when a function of C returns,
not when one of Python does.
"""

from __future__ import annotations

import os
import sys
import time
import weakref
from _thread import RLock, get_ident
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import threading

PATIENCE: Final = 5.0
LLVM_PATIENCE: Final = 60.0
LOADING: Final = 0.5  # seconds of it for modules
_PAUSE: Final = 0.0005
_TURN: Final = 0.05  # seconds to wait for one lock while others are held
#: Packages that functions load when they are first called.
_OURS: Final = frozenset({"rushlight", "numpy", "scipy", "llvmlite", "ml_dtypes", "torch"})

_brief: dict[int, weakref.ref[Any]] = {}
_long: dict[int, weakref.ref[Any]] = {}
_repairs: list[Callable[[], object]] = []
#: What the thread that forks holds meanwhile.
_held: dict[int, list[Any]] = {}


def _register(made: object, where: dict[int, weakref.ref[Any]]) -> Any:
    number = id(made)
    where[number] = weakref.ref(made, lambda _: where.pop(number, None))
    return made


if sys.version_info >= (3, 14):

    class RecursiveLock(RLock):
        """A lock that an interrupt doesn't leave held. See Note [Interrupts and locks]."""

        def __enter__(self) -> bool:
            held = self._recursion_count()
            try:
                self.acquire()
            except BaseException:
                if self._recursion_count() > held:
                    self.release()
                raise
            return True

else:
    RecursiveLock = RLock


def lock() -> Any:
    """A lock for moments; the thread that has it may take it again."""
    return _register(RecursiveLock(), _brief)


def long_lock() -> Any:
    """A lock that may be held while other code runs; its holder may take it again."""
    return _register(RecursiveLock(), _long)


def condition() -> threading.Condition:
    """A condition, which is held for moments."""
    import threading

    return threading.Condition(lock())


def in_child(repair: Callable[[], object]) -> None:
    """Has a function called in each forked child, once the locks are free."""
    _repairs.append(repair)


def _foreign() -> list[Any]:
    # The one of llvmlite, which guards each call into LLVM.
    ffi = sys.modules.get("llvmlite.binding.ffi")
    inner = getattr(getattr(getattr(ffi, "lib", None), "_lock", None), "_lock", None)
    return [] if inner is None or not hasattr(inner, "_at_fork_reinit") else [inner]


def _list_loading() -> list[tuple[str, Any]]:
    """The modules of ours that other threads are about to load, with their locks."""
    me = get_ident()
    found = []
    locks: dict[str, Any] = getattr(sys.modules.get("_frozen_importlib"), "_module_locks", {})
    for name, reference in list(locks.items()):
        if name.partition(".")[0] in _OURS:
            module_lock = reference()
            owner = getattr(module_lock, "owner", None)
            if owner is not None and owner != me:
                found.append((name, module_lock))
    return found


def _list_living(where: dict[int, weakref.ref[Any]]) -> list[Any]:
    return [made for reference in list(where.values()) if (made := reference()) is not None]


def _before() -> None:
    began = time.monotonic()
    until, loaded = began + PATIENCE, began + LOADING
    held = _held[get_ident()] = []
    foreign = _foreign()
    wanted = [*_list_living(_brief), *foreign]
    first: Any = None
    while True:
        left = until - time.monotonic()
        if left > 0.0 and first is not None:
            if first.acquire(timeout=left):
                held.append(first)
            left = until - time.monotonic()
        missing: Any = None
        for each in wanted:
            if each in held:
                continue
            last = LLVM_PATIENCE if each in foreign else 0.0
            if each.acquire(timeout=_TURN if left > 0.0 else last):
                held.append(each)
            elif left > 0.0:
                missing = each
                break
        if left <= 0.0 or (missing is None and not (_list_loading() and time.monotonic() < loaded)):
            return
        # Who has the missing one, or loads a module, may be waiting for one that we have: let go,
        # and wait for that one first.
        while held:
            held.pop().release()
        first = missing
        while first is None and _list_loading() and time.monotonic() < loaded:
            time.sleep(_PAUSE)


def _release() -> None:
    for each in reversed(_held.pop(get_ident(), [])):
        each.release()


def _after_in_child() -> None:
    _release()
    _held.clear()
    for each in [*_list_living(_brief), *_list_living(_long), *_foreign()]:
        if not each._is_owned():
            each._at_fork_reinit()
    _load_anew()
    for repair in _repairs:
        repair()


def _load_anew() -> None:
    # Python's own lock for a module is known by its owner, who is gone: the table of locks forgets
    # it, and the half-loaded module goes too.
    locks: dict[str, Any] = getattr(sys.modules.get("_frozen_importlib"), "_module_locks", {})
    for name, _ in _list_loading():
        locks.pop(name, None)
        module = sys.modules.get(name)
        if getattr(getattr(module, "__spec__", None), "_initializing", False):
            del sys.modules[name]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_release, after_in_child=_after_in_child)
