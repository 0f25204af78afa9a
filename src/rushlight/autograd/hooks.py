"""Hooks on tensors: `register_hook`, `register_post_accumulate_grad_hook`, `retain_grad`.

A hook belongs to the vertex that a tensor's gradient goes to: its node, or the tensor itself if it
is a leaf. So a hook registered before an in-place operation stays with the value before it, while
`retain_grad` follows the tensor (`_core.hooks.carry_retained`).
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from .._base.handles import RemovableHandle, register
from .._core.hooks import hooks_of
from .._core.node import Vertex
from .._core.run import inside_transform
from .._core.storage import TensorBase
from .._core.views import current_node
from .._tensor.tensor import Tensor


def vertex_of_tensor(t: TensorBase) -> tuple[Vertex, int]:
    """Where a tensor's gradient goes: a vertex and the number of its output."""
    node = current_node(t)
    if node is None:
        return t, 0
    return node, t._nr - 1 if t._nr else 0


def register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
    """Has `hook(grad)` called with each gradient of this tensor; what it returns replaces it.

    Raises:
        RuntimeError: where the tensor doesn't require grad.

    Parameters:
        hook: a function of the gradient; it gives another one, or None. It mustn't write to it.
    Shapes: a gradient has this tensor's.
    Returns: a handle: `remove()` takes the hook away.
    Example:
        >>> x = torch.ones(1, requires_grad=True)
        >>> handle = x.register_hook(lambda g: 10 * g)
        >>> (2 * x).backward()
        >>> x.grad
        tensor([20.])
        >>> handle.remove()
    """
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    vertex, nr = vertex_of_tensor(self)
    tables = hooks_of(vertex).tensor
    if nr not in tables:
        tables[nr] = OrderedDict()
    return register(tables[nr], hook)


def register_post_accumulate_grad_hook(
    self: Tensor, hook: Callable[[Tensor], None]
) -> RemovableHandle:
    """Has `hook(tensor)` called whenever a gradient has been accumulated into this leaf.

    Raises:
        RuntimeError: where the tensor doesn't require grad or isn't a leaf.

    Parameters:
        hook: a function of this tensor, whose `.grad` is complete for this backward; gives None.
    Shapes: any.
    Returns: a handle: `remove()` takes the hook away.
    Example:
        >>> x = torch.ones(1, requires_grad=True)
        >>> _ = x.register_post_accumulate_grad_hook(lambda x: print(x.grad))
        >>> (2 * x).backward()
        tensor([2.])
    """
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if self._node is not None:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    return register(hooks_of(self).accumulated, hook)


def retain_grad(self: Any) -> None:
    """Lets a tensor that isn't a leaf keep its gradient in `.grad`; nothing to do for a leaf.

    Raises:
        RuntimeError: where the tensor doesn't require grad, and in a function that is transformed.

    Example:
        >>> x = torch.ones(1, requires_grad=True)
        >>> y = 2 * x
        >>> y.retain_grad()
        >>> (y * y).backward()
        >>> y.grad
        tensor([4.])
    """
    if not self.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if inside_transform():
        raise RuntimeError(
            "You are attempting to call Tensor.retain_grad() inside of a function being "
            "transformed by a functorch transform. This is unsupported, please attempt to use the "
            "functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call "
            "retain_grad() outside of a function being transformed instead."
        )
    if self._node is None:  # as PyTorch: a view that has only just got a history keeps nothing
        return
    vertex, nr = vertex_of_tensor(self)
    if vertex is not self:
        hooks_of(vertex).retain[nr] = weakref.ref(self)


def _backward_hooks(self: Tensor) -> object:
    """The table of this tensor's hooks; None before the first."""
    vertex, nr = vertex_of_tensor(self)
    return None if vertex.hooks is None else vertex.hooks.tensor.get(nr)


def _set_backward_hooks(self: Tensor, table: dict[int, Callable[..., object]] | None) -> None:
    """Replaces the table of this tensor's hooks; None: it has none any more."""
    vertex, nr = vertex_of_tensor(self)
    if table is not None:
        hooks_of(vertex).tensor[nr] = table
    elif vertex.hooks is not None:
        vertex.hooks.tensor.pop(nr, None)


def _keep_backward_hooks(self: Tensor) -> None:
    """Never returns.

    Raises:
        RuntimeError: always: the table can't be deleted.
    """
    raise RuntimeError("Deletion of _backwards_hooks not allowed!")


def _post_accumulate_grad_hooks(self: Tensor) -> object:
    """The table of this leaf's post-accumulate hooks; None before the first."""
    return None if self.hooks is None else (self.hooks.accumulated or None)


Tensor.register_hook = register_hook  # type: ignore[method-assign, assignment]
Tensor.register_post_accumulate_grad_hook = register_post_accumulate_grad_hook  # type: ignore[method-assign, assignment]
Tensor.retain_grad = retain_grad  # type: ignore[method-assign]
Tensor._backward_hooks = property(_backward_hooks, _set_backward_hooks, _keep_backward_hooks)
Tensor._post_accumulate_grad_hooks = property(_post_accumulate_grad_hooks)

__all__ = ["register_hook", "register_post_accumulate_grad_hook", "retain_grad"]
