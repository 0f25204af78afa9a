"""Filling a tensor with random numbers in place: checks, the version, the history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..._array import types as T
from ..._core.copyslices import custom_op
from ..._core.inplace import check_writable, count_write, set_history
from ..._core.mode import current, ready
from ..._core.node import Node, new_node
from ..._core.plain_writes import may_record
from ..._core.slow import TANGENTS
from ..._core.storage import bump
from ..._core.views import view_target
from ..rows import meta as _meta
from .generator import Generator, default_generator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._tensor.tensor import Tensor


#: Up to here floats count without gaps, in single precision too.
_EXACT: Final = 1 << 24


class _Refilled(Node):
    """The node of a tensor that was overwritten with random numbers: nothing of it remains."""

    def call(self, grads: Sequence[object], need: list[bool], traced: bool) -> Any:
        """Zeros for the former value."""
        from ..._core.engine import WORLDS

        world = WORLDS.traced if traced else WORLDS.raw
        return [world.zeros_like(grads[0]), *[None] * (len(need) - 1)]


_node_classes: dict[str, Any] = {}


def refuse_leaf(self: Tensor) -> bool:
    """Whether a fill is recorded; a tensor that may not be written is refused first of all."""
    mode = ready()
    recorded: bool = mode.grad and not mode.inference and self.requires_grad
    if recorded:
        check_writable(self)
    return recorded


def refill_at_once(self: Tensor, generator: Any, kind: str, a: float, b: float) -> bool:
    """Whether a tensor has been filled in C, as `Stream.draw` says it; nothing is recorded.

    False, with nothing drawn, for whatever needs a closer look.
    """
    mode = current()
    if mode.slow or not self._plain:
        return False
    if mode.grad and (self._requires_grad or (self._view is not None and may_record(self))):
        return False
    if generator is None:
        generator = default_generator
    elif type(generator) is not Generator:
        return False
    stream = generator._stream or generator.stream
    if stream.draw(kind, self._raw, a, b) is None:
        return False
    bump(self)
    return True


def refill_between(self: Tensor, generator: Any, low: object, high: object) -> bool:
    """The same for whole numbers from one to below another, which all types can hold."""
    if type(low) is not int or type(high) is not int or not -_EXACT <= low < high <= _EXACT:
        return False
    return refill_at_once(self, generator, "i", low, high - low)


def refill(self: Tensor, name: str, fill: Any, *operands: Any, edges: int = 1) -> Tensor:
    """Fills a tensor in place: checks, the draw, the version, the history.

    `fill` gets the tensor's array and those of the operands.
    """
    mode = ready()
    recorded = refuse_leaf(self)
    if recorded:
        target = view_target(self)
    if self._plain or not _meta.is_meta(self):
        T.refuse_overlap(self._raw)
        T.require_writable(self._raw)
        if self._raw.size:
            fill(self._raw, *[x._raw for x in operands])
    if mode.recorder is not None:
        mode.recorder.note_refill(self, fill, operands)
    count_write(self, mode)
    if mode.dual:
        tangent = TANGENTS.find(self)
        if tangent is not None:
            tangent.zero_()
    if recorded:
        op = _node_classes.get(name)
        if op is None:
            op = custom_op(name, type(name, (_Refilled,), {"__module__": "rushlight.autograd"}))
            _node_classes[name] = op
        node = new_node(op, (target, *(None,) * (edges - 1)), ())
        if self._nr:
            node.nrs = (self._nr, *(0,) * (edges - 1))
        set_history(self, node)
    return self
