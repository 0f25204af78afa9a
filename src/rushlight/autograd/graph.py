"""The graph as users reach it: edges, hooks on groups of tensors, what becomes of saved tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .._base.errors import type_name
from .._base.fork_locks import lock as make_lock
from .._base.lazy import list_names as _listed
from .._core.run import RUNNING, will_run
from .._core.storage import TensorBase, bump
from .edges import GradientEdge, Node, get_gradient_edge, refuse_leaf_in_inference
from .engine_calls import _engine_run_backward, _get_grad_fn_or_grad_acc
from .hooks import register_hook, vertex_of_tensor
from .saved_tensor_hooks import (
    _AllowMutationOnSavedContext,
    _Handle,
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    save_on_cpu,
    save_on_disk,
    saved_tensors_hooks,
)

if TYPE_CHECKING:
    from .._base.handles import RemovableHandle
    from .._tensor.tensor import Tensor


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Notes that a tensor (or each of several) has been written by means autograd doesn't see.

    Inference tensors don't count writes.

    Raises:
        RuntimeError: for something that is neither a tensor nor several.

    Parameters:
        tensor: what has been written.
    Shapes: any.
    Example:
        >>> x = torch.ones(2)
        >>> torch.autograd.graph.increment_version(x)
        >>> x._version
        1
    """
    if isinstance(tensor, TensorBase):
        tensor = (tensor,)
    elif not isinstance(tensor, Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for t in tensor:
        if not isinstance(t, TensorBase):
            raise RuntimeError(
                "increment_version expects each element of the iterable to be a tensor"
            )
        if not t._inference:
            bump(t)


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Does nothing: it is about streams, which the CPU has none of.

    Parameters:
        enabled: whether a warning is wanted.
    Raises: RuntimeError: for anything but True and False.
    Example:
        >>> torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(True)
    """
    if not isinstance(enabled, bool):
        raise RuntimeError(f"enabled must be a bool, but got {type_name(enabled)}")


class _MultiHandle:
    """The handles of a group of hooks."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Takes all hooks of the group away."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> _MultiHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register_multi_grad_hook(
    tensors: Iterable[Tensor], fn: Callable[[object], None], *, mode: str = "all"
) -> _MultiHandle:
    """Has `fn` called once in each backward that reaches the tensors.

    Mode "all": when all gradients that this backward will compute are there, with a list of them
    (None where it computes none). Mode "any": with the first of them.

    Raises:
        ValueError: for another mode.
        AssertionError: for a tensor that doesn't require grad (mode "any" leaves it out).

    Parameters:
        tensors: those whose gradients are waited for.
        fn: what is called; its result isn't used.
        mode: "all" or "any".
    Shapes: any.
    Returns: a handle: `remove()` takes the hooks away, so does the end of a `with` block.
    Example:
        >>> x, y = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
        >>> _ = torch.autograd.graph.register_multi_grad_hook([x, y], print)
        >>> (2 * x + 3 * y).backward()
        [tensor([2.]), tensor([3.])]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    group = list(tensors)
    lock = make_lock()
    if mode == "any":
        seen: set[int] = set()

        def first(grad: Tensor) -> None:
            number = RUNNING.get().number
            with lock:
                if number in seen:
                    return
                seen.clear()
                seen.add(number)
            fn(grad)

        return _MultiHandle([register_hook(t, first) for t in group if t.requires_grad])
    places = []
    for t in group:
        if not t.requires_grad:
            raise AssertionError("Expected gradient function to be set")
        places.append(vertex_of_tensor(t)[0])
        if places[-1] is t:
            refuse_leaf_in_inference()
            if t._view is not None and t._view.tracked:  # made while nothing was recorded
                raise AssertionError("Expected gradient function to be set")
    waiting: dict[int, tuple[list[Any], list[int]]] = {}  # by run: gradients, how many are missing

    def hook_of(position: int) -> Callable[[Tensor], None]:
        def arrive(grad: Tensor) -> None:
            number = RUNNING.get().number
            with lock:
                if number not in waiting:
                    expected = sum(will_run(vertex) for vertex in places)
                    waiting[number] = ([None] * len(group), [expected])
                grads, missing = waiting[number]
                grads[position] = grad
                missing[0] -= 1
                done = missing[0] == 0
                if done:
                    del waiting[number]
            if done:
                fn(grads)

        return arrive

    return _MultiHandle([register_hook(t, hook_of(i)) for i, t in enumerate(group)])


__all__ = ["_AllowMutationOnSavedContext", "_Handle", "_engine_run_backward",
           "_get_grad_fn_or_grad_acc", "GradientEdge", "Node", "allow_mutation_on_saved_tensors",
           "disable_saved_tensors_hooks", "get_gradient_edge", "increment_version",
           "register_multi_grad_hook", "save_on_cpu", "save_on_disk", "saved_tensors_hooks",
           "set_warn_on_accumulate_grad_stream_mismatch"]  # fmt: skip

__dir__ = _listed(globals())
