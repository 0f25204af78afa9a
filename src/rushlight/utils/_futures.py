"""`torch.futures`: results that come later, with what shall be done with them then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from .._base.device import device
from .._base.fork_locks import condition, lock as make_lock

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")
S = TypeVar("S")


def _check_devices(devices: list[device]) -> None:
    for found in devices:
        if found.type != devices[0].type:
            raise ValueError(
                "Expected all devices to be of the same type, but got a mismatch between "
                f"{devices[0]} and {found}"
            )
    if devices and devices[0].type not in ("cpu", "meta"):
        raise RuntimeError(f"PyTorch is not linked with support for {devices[0].type} devices")
    for found in devices:
        if found.index is None:
            raise ValueError(f"Expected devices to have indices, got {found}")


class Future(Generic[T]):
    """A result that another thread, or a later line, provides.

    Parameters:
        devices: all of one kind, with their numbers; the only one here is "cpu:0".
    Raises: ValueError: for devices of several kinds, or without a number. RuntimeError: for those
        of other hardware.
    Example:
        >>> future = torch.futures.Future()
        >>> future.set_result(3)
        >>> future.then(lambda f: f.value() + 1).wait()
        4
    """

    def __init__(self, *, devices: Sequence[Any] | None = None) -> None:
        _check_devices([device(found) for found in devices or ()])
        self._changed = condition()
        self._done = False
        self._value: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Any], Any]] = []

    def done(self) -> bool:
        """Whether there is a result or an error."""
        return self._done

    def wait(self) -> T:
        """The result, as soon as it is there; raises the error where there is one."""
        with self._changed:
            self._changed.wait_for(lambda: self._done)
        return self.value()

    def value(self) -> T:
        """The result; raises the error where there is one.

        Raises:
            RuntimeError: while there is neither.
        """
        if not self._done:
            raise RuntimeError("value() called on a Future that is not completed: call wait()")
        if self._error is not None:
            raise self._error
        return self._value

    def _complete(self, value: T | None, error: BaseException | None) -> None:
        with self._changed:
            if self._done:
                raise RuntimeError(
                    "Attempting to mark a completed Future as complete again. Note that a Future "
                    "can only be marked completed once."
                )
            self._value, self._error, self._done = value, error, True
            callbacks, self._callbacks = self._callbacks, []
            self._changed.notify_all()
        for callback in callbacks:
            callback(self)

    def set_result(self, result: T) -> None:
        """Provides the result; callbacks run here."""
        self._complete(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Provides an error in place of a result.

        Raises:
            AssertionError: for anything but an exception.
        """
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._complete(None, result)

    def add_done_callback(self, callback: Callable[[object], object]) -> None:
        """Has `callback(self)` called when the future is done, or now if it is."""
        with self._changed:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback(self)

    def then(self, callback: Callable[[object], S]) -> Future[S]:
        """The future of what `callback(self)` will return; its error is that future's."""
        following: Future[S] = Future()

        def follow(done: object) -> None:
            try:
                result = callback(done)
            except Exception as error:
                following.set_exception(error)
            else:
                following.set_result(result)

        self.add_done_callback(follow)
        return following


def collect_all(futures: list[Future[object]]) -> Future[list[Future[Any]]]:
    """A future that is done with the list itself when all of them are done."""
    together: Future[list[Future[Any]]] = Future()
    left = [len(futures)]
    lock = make_lock()

    def one_less(_: object) -> None:
        with lock:
            left[0] -= 1
            last = left[0] == 0
        if last:
            together.set_result(futures)

    if not futures:
        together.set_result(futures)
    for future in futures:
        future.add_done_callback(one_less)
    return together


def wait_all(futures: list[Future[object]]) -> list[Any]:
    """The results of all futures, in order; raises the first error."""
    return [future.wait() for future in collect_all(futures).wait()]
