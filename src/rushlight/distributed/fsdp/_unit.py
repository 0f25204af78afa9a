"""Parameters that are gathered together: each rank keeps a part of them, and of their gradients.

Before the module runs the parts of all ranks are gathered into whole parameters, and afterwards the
whole ones are given up. Backward gathers them again where it needs them, and leaves on each rank
the mean of all ranks' gradients for its own part.

What backward needs of the parameters is saved as a note of where it lies in them, not as memory:
that is what lets them be given up between forward and backward.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Protocol

from ..._tensor.tensor import Tensor
from ...autograd.function import Function
from ...autograd.grad_mode import no_grad
from ...autograd.graph import saved_tensors_hooks
from ..collectives import all_gather_into_tensor, all_reduce
from ..exchanges import reduce_scatter_tensor
from ..reduce_op import ReduceOp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..._base.dtypes import dtype
    from ...nn.modules.module import Module
    from ..annotations import Ctx, Given, Gradients
    from ..process_group import ProcessGroup

__all__ = ["Layout", "Place", "Unit"]

#: Where a parameter lies: a module, and its name there.
Place = tuple["Module", str]


class Layout(Protocol):
    """How parameters become a row that is cut, and the rows of all ranks parameters."""

    def row(self) -> Tensor:
        """This rank's part of all parameters, with a history that leads to them."""

    def wholes(self, rows: Tensor) -> list[Tensor]:
        """The whole parameters from the rows of all ranks, one behind the other."""


class Unit:
    """Some parameters, by the modules that use them."""

    def __init__(
        self,
        places: list[list[Place]],
        layout: Layout,
        group: ProcessGroup,
        keeps: bool,
        param_dtype: dtype | None = None,
        reduce_dtype: dtype | None = None,
        replicas: ProcessGroup | None = None,
        cut: bool = True,
    ) -> None:
        self.places = places
        self.layout = layout
        self.group = group
        self.keeps = keeps
        self.param_dtype = param_dtype
        self.reduce_dtype = reduce_dtype
        self.replicas = replicas
        self.cut = cut
        self.sends = True
        self.waiting: Tensor | None = None  # gradients of steps that didn't send them
        self._again: list[Tensor] | None = None
        self._shown: list[Given] | None = None
        self._left: list[Tensor] = []

    def empty(self, wholes: list[Tensor]) -> None:
        """Takes whole parameters out of their places, where tensors without data tell shapes."""
        self._left = [whole.detach().to("meta") for whole in wholes]
        for places, left in zip(self.places, self._left):
            for module, name in places:
                del module._parameters[name]
                module.__dict__[name] = left

    # ---- whole parameters ---------------------------------------------------------------------
    def gather(self) -> list[Tensor]:
        """The whole parameters, with a history that leads to this rank's parts."""
        row = self.layout.row()
        if self.param_dtype is not None:
            row = row.to(self.param_dtype)
        return self.layout.wholes(_Gather.apply(self, row))

    def _whole_again(self, index: int) -> Tensor:
        if self._again is None:
            with no_grad():
                self._again = [t.detach() for t in self.gather()]
        return self._again[index]

    def show(self) -> list[Tensor]:
        """Puts whole parameters in the place of this rank's parts."""
        wholes = self.gather()
        self._again = None
        self._shown = []
        for places, whole in zip(self.places, wholes):
            for module, name in places:
                self._shown.append(module._parameters.get(name))
                if self._left:
                    module.__dict__.pop(name, None)
                module._parameters[name] = whole  # type: ignore[assignment]
        return wholes

    def hide(self) -> None:
        """Puts this rank's parts back."""
        if self._shown is None:
            return
        held = iter(self._shown)
        for index, places in enumerate(self.places):
            for module, name in places:
                before = next(held)
                if before is None:
                    module._parameters.pop(name, None)
                    if self._left:
                        module.__dict__[name] = self._left[index]
                else:
                    module._parameters[name] = before
        self._shown = None

    @contextlib.contextmanager
    def whole(self) -> Iterator[list[Tensor]]:
        """A context in which the modules have whole parameters."""
        if self._shown is not None:
            yield []
            return
        wholes = self.show()
        try:
            with contextlib.nullcontext() if self.keeps else self._notes(wholes):
                yield wholes
        finally:
            self.hide()

    def _notes(self, wholes: list[Tensor]) -> saved_tensors_hooks:
        """Has backward remember where in the parameters what it needs lies, not the memory."""
        index = {t.untyped_storage().data_ptr(): i for i, t in reversed(list(enumerate(wholes)))}
        starts = [t.storage_offset() for t in wholes]

        def pack(tensor: Tensor) -> Given:
            found = index.get(tensor.untyped_storage().data_ptr()) if tensor.numel() else None
            if found is None or tensor.dtype != wholes[found].dtype:
                return tensor
            start = tensor.storage_offset() - starts[found]
            return found, tuple(tensor.shape), tuple(tensor.stride()), start

        def unpack(note: Given) -> Tensor:
            if not isinstance(note, tuple):
                kept: Tensor = note
                return kept
            found, shape, steps, start = note
            whole = self._whole_again(found)
            return whole.as_strided(shape, steps, whole.storage_offset() + start)

        return saved_tensors_hooks(pack, unpack)

    # ---- gradients ----------------------------------------------------------------------------
    def mean(self, grad: Tensor) -> Tensor | None:
        """This rank's part of the mean of all ranks' gradients; None where they aren't sent yet."""
        self._again = None
        given = grad
        if self.reduce_dtype is not None:
            grad = grad.to(self.reduce_dtype)
        if not self.sends:
            self.waiting = grad if self.waiting is None else self.waiting + grad
            return None
        if self.waiting is not None:
            grad, self.waiting = grad + self.waiting, None
        size = self.group.size()
        if not self.cut:
            out = grad.clone()
            all_reduce(out, ReduceOp.AVG, self.group)
        else:
            out = grad.new_empty(grad.numel() // size)
            reduce_scatter_tensor(out, grad.contiguous(), ReduceOp.AVG, self.group)
        if self.replicas is not None:
            all_reduce(out, ReduceOp.AVG, self.replicas)
        return out.to(given.dtype) if self.param_dtype is None else out


class _Gather(Function):
    @staticmethod
    def forward(ctx: Ctx, unit: Unit, row: Tensor) -> Tensor:
        ctx.unit, ctx.dtype = unit, row.dtype
        own = row.detach().contiguous()
        if not unit.cut:
            return own.clone()
        out = own.new_empty(own.numel() * unit.group.size())
        all_gather_into_tensor(out, own, unit.group)
        return out

    @staticmethod
    def backward(ctx: Ctx, grad: Tensor) -> Gradients:
        mean = ctx.unit.mean(grad)
        return None, None if mean is None else mean.to(ctx.dtype)


def cast_floats(value: Given, dtype: Given) -> Given:
    """A value with its floating-point tensors in a type, inside of containers too."""
    if isinstance(value, Tensor):
        return value.to(dtype) if value.is_floating_point() else value
    if isinstance(value, dict):
        return {key: cast_floats(item, dtype) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(cast_floats(item, dtype) for item in value)
    return value
