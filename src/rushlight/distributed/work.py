"""`Work`: a message that is under way, or has arrived."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, cast

from ..utils._futures import Future

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor

__all__ = ["Work"]


class Work:
    """A message that has arrived; those that are still under way override how it is waited for.

    Parameters:
        tensors: what the message's result is in.
        source: the rank that a received message came from; -1 for others.
    Raises: TypeError: for tensors that can't be listed.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> work = dist.all_reduce(torch.ones(2), async_op=True)
        >>> work.wait(), work.is_completed()
        (True, True)
        >>> work.result()
        [tensor([1., 1.])]
    """

    def __init__(self, tensors: Sequence[Tensor] = (), source: int = -1) -> None:
        self.tensors: list[Tensor] = list(tensors)
        self.source = source
        self.error: BaseException | None = None
        self._future: Future[list[Tensor]] | None = None

    def is_completed(self) -> bool:
        """Whether it has arrived, or failed."""
        return True

    def is_success(self) -> bool:
        """Whether it has arrived."""
        return self.is_completed() and self.error is None

    def exception(self) -> BaseException | None:
        """Why it has failed; None where it hasn't."""
        return self.error

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Waits until it has arrived; raises why it has failed."""
        if self.error is not None:
            raise self.error
        return True

    def synchronize(self) -> None:
        """Waits until it has arrived."""
        self.wait()

    def source_rank(self) -> int:
        """The rank that a received message came from."""
        return self.source

    def result(self) -> list[Tensor]:
        """The tensors that hold what has arrived."""
        self.wait()
        return list(self.tensors)

    def get_future(self) -> Future[list[Tensor]]:
        """A future whose value will be the tensors."""
        if self._future is None:
            self._future = Future()
            if self.is_completed():
                self._tell_future()
        return self._future

    def _tell_future(self) -> None:
        future = self._future
        if future is not None and not future.done():
            if isinstance(self.error, Exception):
                future.set_exception(self.error)
            else:
                future.set_result(list(self.tensors))


class WorkTogether(Work):
    """Several messages as one: it has arrived when all have."""

    def __init__(self, parts: list[Work], tensors: Sequence[Tensor] = ()) -> None:
        super().__init__(tensors)
        self.parts = parts

    def is_completed(self) -> bool:
        """Whether all have arrived."""
        return all(part.is_completed() for part in self.parts)

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Waits until all have arrived; raises why one has failed."""
        for part in self.parts:
            part.wait(timeout)
        return True

    def get_future(self) -> Future[list[Tensor]]:
        """A future that is done when all have arrived."""
        if self._future is None:
            from ..utils._futures import collect_all

            everything = collect_all(
                [cast("Future[object]", part.get_future()) for part in self.parts]
            )
            self._future = everything.then(lambda _: list(self.tensors))
        return self._future
