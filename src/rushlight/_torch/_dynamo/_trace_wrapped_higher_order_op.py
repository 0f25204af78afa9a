"""`torch._dynamo._trace_wrapped_higher_order_op`: where masks are indexed by tensors."""

from __future__ import annotations

from types import TracebackType


class TransformGetItemToIndex:
    """A block in which `x[tensor]` is an operation of its own: it always is."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None
