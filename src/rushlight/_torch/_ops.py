"""`torch._ops`: the classes of what `torch.ops` holds."""

from __future__ import annotations

from .._table.names.aten import OpOverload, OpOverloadPacket

__all__ = ["HigherOrderOperator", "OpOverload", "OpOverloadPacket"]


class HigherOrderOperator:
    """An operation on functions in a graph: here for `isinstance`; there are none."""
