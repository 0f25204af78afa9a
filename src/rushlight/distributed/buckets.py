"""Buckets: gradients that are sent together, and what becomes of them.

A gradient of an embedding's table may be sparse: it holds the rows that were read, on each rank
others, and is sent alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._array import types as T
from .._array.memory import messages as M
from .._tensor.tensor import Tensor
from ..autograd.grad_mode import no_grad
from ..nn._ground import f

if TYPE_CHECKING:
    from .._array.annotations import Array

__all__ = ["GradBucket", "RowsBucket"]


class GradBucket:
    """Gradients that are sent together, in a row."""

    def __init__(self, index: int, parameters: list[Tensor]) -> None:
        self._index = index
        self._parameters = parameters
        self._last = False
        starts = [0]
        for parameter in parameters:
            starts.append(starts[-1] + parameter.numel())
        self._starts = starts
        self._buffer = self._make_buffer()
        self._parts: list[Tensor] = []  # made when they are asked for
        self.missing: set[int] = set()

    def _make_buffer(self) -> Tensor:
        return f.zeros(self._starts[-1], dtype=self._parameters[0].dtype)

    def index(self) -> int:
        """The place of the bucket among all, in the order of sending."""
        return self._index

    def is_last(self) -> bool:
        """Whether no bucket is sent after it."""
        return self._last

    def bytes(self) -> int:
        """How much is sent."""
        return self._buffer.numel() * self._buffer.element_size()

    def buffer(self) -> Tensor:
        """All gradients in a row."""
        return self._buffer

    def set_buffer(self, buffer: Tensor) -> None:
        """Puts another tensor in the row's place."""
        self._buffer = buffer
        self._parts = []

    def parameters(self) -> list[Tensor]:
        """The parameters whose gradients these are."""
        return list(self._parameters)

    def gradients(self) -> list[Tensor]:
        """The gradients, as views of the row."""
        return [
            self._buffer[start:end].view(parameter.shape)
            for parameter, start, end in zip(self._parameters, self._starts, self._starts[1:])
        ]

    def part(self, place: int) -> Tensor:
        """The gradient of the parameter at a place, as a view of the row, always the same one."""
        if not self._parts:
            self._parts = self.gradients()
        return self._parts[place]

    def take(self, place: int, grad: Tensor | None, divisor: int) -> None:
        """Puts a gradient, divided, into its parameter's place; zeros where there is none."""
        if type(grad) is Tensor and grad._raw.base is None:  # memory of its own
            self.fill(place, grad._raw, 1.0 / divisor)
            return
        part = self.part(place)
        with no_grad():
            if grad is None:
                part.zero_()
            elif grad.is_sparse:
                part.copy_(grad.to_dense()).mul_(1.0 / divisor)
            elif grad.data_ptr() != part.data_ptr():
                part.copy_(grad).mul_(1.0 / divisor)
            elif divisor != 1:  # it lies there already
                part.div_(divisor)

    def receive(self, row: Tensor) -> None:
        """Takes the means that a hook has computed."""
        if row is not self._buffer:
            with no_grad():
                self._buffer.copy_(row.reshape(-1))

    def give(self, place: int, parameter: Tensor, as_view: bool) -> None:
        """Makes a parameter's mean its gradient."""
        mean, grad = self.part(place), parameter.grad
        if as_view:
            if grad is None or grad.data_ptr() != mean.data_ptr():
                parameter.grad = mean.detach()
        elif grad is None or grad.is_sparse:
            parameter.grad = mean.clone()
        else:
            grad.copy_(mean)

    def fill(self, place: int, grad: Array, factor: float) -> None:
        """Puts a gradient, times a number, into the place of its parameter."""
        part = self.part(place)
        if factor != 1.0 and part._raw.dtype == grad.dtype and M.scales(grad):
            M.put_scaled(part._raw, grad, factor)
            return
        T.write_into(part._raw, grad)
        if factor != 1.0:
            with no_grad():
                part.mul_(factor)


class RowsBucket(GradBucket):
    """The sparse gradient of one parameter."""

    def _make_buffer(self) -> Tensor:
        from ..sparse.parts import no_rows

        return no_rows(self._parameters[0])

    def gradients(self) -> list[Tensor]:
        """The gradient."""
        return [self._buffer]

    def take(self, place: int, grad: Tensor | None, divisor: int) -> None:
        """Takes a gradient, divided; one without rows where there is none.

        A dense one comes from a backward on Tensors, which runs while DTensors live.
        """
        if grad is None:
            grad = self._make_buffer()
        elif not grad.is_sparse:
            grad = grad.detach().to_sparse(1)
        self.set_buffer(grad)
        if divisor != 1:
            with no_grad():
                grad.div_(divisor)

    def receive(self, row: Tensor) -> None:
        """Takes the mean that a hook has computed."""
        self.set_buffer(row)

    def give(self, place: int, parameter: Tensor, as_view: bool) -> None:
        """Makes the mean the parameter's gradient."""
        parameter.grad = self._buffer
