"""`torch.ops.profiler`: named spans that are entered and left by calls rather than a `with`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._table.shape.create import empty
from ..autograd.profiler import record_function

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor

__all__ = ["_record_function_enter", "_record_function_enter_new", "_record_function_exit"]


class _Span:
    """A span that `_record_function_exit` closes."""

    def __init__(self, name: str, args: str | None) -> None:
        self.entered = record_function(name, args).__enter__()


def _record_function_enter_new(name: str, args: str | None = None) -> _Span:
    """Opens a span; what it returns closes it."""
    return _Span(name, args)


def _record_function_enter(name: str, args: str | None = None) -> Tensor:
    """The older form: the span is an attribute of a tensor."""
    handle: Any = empty(0)
    handle.span = _Span(name, args)
    return handle


def _record_function_exit(handle: Any) -> None:
    """Closes the span of a handle."""
    span = handle if isinstance(handle, _Span) else handle.span
    span.entered.__exit__(None, None, None)
