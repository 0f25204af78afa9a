"""`TorchDispatchMode`: seeing, and replacing, every operation below autograd."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

from .._core.mode import CURRENT, current, derive, ready
from .._tensor import dispatch_modes as _watching

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class TorchDispatchMode:
    """A context whose `__torch_dispatch__(func, types, args, kwargs)` is called for each operation.

    `func` is an operator such as `torch.ops.aten.mul.Tensor`; calling it inside the method runs it
    (through the modes further out). What the method returns is the operation's result, and is
    recorded like it. Inside the method the mode itself is off.
    """

    def __init__(self, _dispatch_key: object = None) -> None:
        self._before: deque[tuple[Any, ...]] = deque()

    def __torch_dispatch__(
        self,
        func: Callable[..., object],
        types: Sequence[type],
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        raise NotImplementedError

    def __enter__(self) -> Self:
        if "_before" not in self.__dict__:  # a subclass that didn't call __init__
            self._before = deque()
        mode = ready()
        try:  # see Note [A context that is interrupted] in `autograd.grad_mode`
            self._before.append(mode.dispatch)
            CURRENT.set(derive(mode, dispatch=(*mode.dispatch, self)))
        except BaseException:
            CURRENT.set(mode)
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        try:
            CURRENT.set(derive(ready(), dispatch=self._before[-1]))
        except BaseException:
            CURRENT.set(derive(ready(), dispatch=self._before.pop()))
            raise
        self._before.pop()

    @classmethod
    def push(cls, *args: object, **kwargs: object) -> object:
        """A mode of this class."""
        return cls(*args, **kwargs)


class BaseTorchDispatchMode(TorchDispatchMode):
    """A mode that changes nothing."""

    def __torch_dispatch__(
        self,
        func: Callable[..., object],
        types: Sequence[type],
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        return func(*args, **({} if kwargs is None else kwargs))


def _get_current_dispatch_mode() -> object:
    """The innermost mode, or None."""
    stack = current().dispatch
    return stack[-1] if stack else None


def _get_current_dispatch_mode_stack() -> list[object]:
    """The modes that are on, outermost first."""
    return list(current().dispatch)


@contextlib.contextmanager
def _disable_current_modes() -> Iterator[list[object]]:
    """A context in which no dispatch mode is on; gives those that were."""
    mode = ready()
    try:
        CURRENT.set(derive(mode, dispatch=()))
        yield list(mode.dispatch)
    finally:
        CURRENT.set(mode)


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Whether a dispatch mode is on."""
    return bool(current().dispatch)


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Whether `t` is a tensor made of inner tensors, which can be taken apart and put together."""
    return hasattr(t, "__tensor_flatten__") and hasattr(type(t), "__tensor_unflatten__")


_ = _watching

__all__ = [
    "BaseTorchDispatchMode",
    "TorchDispatchMode",
    "is_in_torch_dispatch_mode",
    "is_traceable_wrapper_subclass",
]
