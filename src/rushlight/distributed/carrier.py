"""What carries the messages of a group: the protocol, and how it is done in a group of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, NoReturn, Protocol

from ..autograd.grad_mode import no_grad
from .work import Work

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor
    from .reduce_op import RedOpType

__all__ = ["Carrier", "LocalCarrier"]


class Carrier(Protocol):
    """Moves tensors between the ranks of a group. `waits`: who asks waits for it at once."""

    rank: int
    size: int
    timeout: timedelta

    def broadcast(self, tensor: Tensor, root: int, waits: bool) -> Work:
        """Gives every rank what `root` has."""

    def reduce(self, tensor: Tensor, root: int | None, op: RedOpType, waits: bool) -> Work:
        """Makes one of all ranks' tensors, on one rank or (None) on all."""

    def reduce_scatter(
        self, output: Tensor, parts: Sequence[Tensor], op: RedOpType, waits: bool
    ) -> Work:
        """Makes one of all ranks' tensors of number `rank`."""

    def exchange(
        self, what: str, sends: Mapping[int, Tensor], receives: Mapping[int, Tensor],
        tensors: Sequence[Tensor], waits: bool,
    ) -> Work:  # fmt: skip
        """Sends a tensor to each of some ranks, and receives one from each of some."""

    def all_gather(self, output: Tensor, tensor: Tensor, waits: bool) -> Work:
        """Puts the tensors of all ranks one after the other."""

    def barrier(self, waits: bool) -> Work:
        """Arrives when all ranks have asked for it."""

    def send(self, tensor: Tensor, to: int, tag: int, waits: bool) -> Work:
        """Sends a tensor to a rank."""

    def receive(self, tensor: Tensor, source: int | None, tag: int, waits: bool) -> Work:
        """Receives a tensor from a rank, or (None) from whichever sends one."""

    def close(self) -> None:
        """Gives back what the group holds."""


class LocalCarrier:
    """A group of one rank, which hears what it says itself."""

    rank = 0
    size = 1

    def __init__(self, timeout: timedelta) -> None:
        self.timeout = timeout

    def broadcast(self, tensor: Tensor, root: int, waits: bool) -> Work:
        """Leaves the tensor, which is the only rank's."""
        return Work([tensor])

    def reduce(self, tensor: Tensor, root: int | None, op: RedOpType, waits: bool) -> Work:
        """Leaves the tensor, which is the sum (or mean, …) of the only rank's."""
        if root is None and tensor.is_sparse:
            from ..sparse.parts import parts_of, put_parts

            put_parts(tensor, *parts_of(tensor))
        return Work([tensor])

    def reduce_scatter(
        self, output: Tensor, parts: Sequence[Tensor], op: RedOpType, waits: bool
    ) -> Work:
        """Copies the only part."""
        return self.exchange("reduce_scatter", {0: parts[0]}, {0: output}, [output], waits)

    def exchange(
        self, what: str, sends: Mapping[int, Tensor], receives: Mapping[int, Tensor],
        tensors: Sequence[Tensor], waits: bool,
    ) -> Work:  # fmt: skip
        """Copies what the rank sends to itself."""
        with no_grad():
            for rank, tensor in receives.items():
                tensor.copy_(sends[rank].reshape(tensor.shape))
        return Work(tensors)

    def all_gather(self, output: Tensor, tensor: Tensor, waits: bool) -> Work:
        """Copies the tensor."""
        return self.exchange("all_gather", {0: tensor}, {0: output}, [output], waits)

    def barrier(self, waits: bool) -> Work:
        """Waits for none."""
        return Work()

    def _nobody(self, rank: int | None) -> NoReturn:
        raise RuntimeError(f"there is no rank {rank}: the group has one process")

    def send(self, tensor: Tensor, to: int, tag: int, waits: bool) -> Work:
        """Raises: there is no other rank.

        Raises:
            RuntimeError: always.
        """
        self._nobody(to)

    def receive(self, tensor: Tensor, source: int | None, tag: int, waits: bool) -> Work:
        """Raises: there is no other rank.

        Raises:
            RuntimeError: always.
        """
        self._nobody(source)

    def close(self) -> None:
        """Does nothing: the group holds nothing."""
