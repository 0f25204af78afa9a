"""What programs take from `torch._C._autograd`: saved tensors and their hooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from ..._base import errors
from ..._core.copyslices import custom_op
from ..._core.mode import CURRENT, derive, ready
from ..._core.node import Node, new_node
from ..._core.run import RUNNING
from ..._core.saved import Packed, _pack, _unpack_packed
from ..._core.storage import TensorBase, version_cell
from ..._table.rows.node_classes import SavedTensor
from ...autograd.output_metadata import _InputMetadata


def _push_saved_tensors_default_hooks(
    pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]
) -> None:
    """Has saved tensors go through two hooks until `_pop_saved_tensors_default_hooks()`.

    Raises:
        RuntimeError: where such hooks have been disabled.
        TypeError: where they can't be called.
    """
    mode = ready()
    if mode.saved_hooks_off:
        raise RuntimeError(mode.saved_hooks_off)
    if not callable(pack_hook) or not callable(unpack_hook):
        raise TypeError(f"{errors.PUSH_HOOKS}{pack_hook!r}, {unpack_hook!r}")
    CURRENT.set(derive(mode, saved_hooks=(*mode.saved_hooks, (pack_hook, unpack_hook))))


def _pop_saved_tensors_default_hooks() -> None:
    """Takes the innermost pair of hooks away."""
    mode = ready()
    CURRENT.set(derive(mode, saved_hooks=mode.saved_hooks[:-1]))


def _top_saved_tensors_default_hooks(ignore_is_tracing: bool = False) -> Any:
    """The innermost pair of hooks; None without."""
    hooks = ready().saved_hooks
    return hooks[-1][:2] if hooks else None


def _saved_tensors_hooks_disable(error_message: str, fail_if_non_empty: bool = True) -> None:
    """Has hooks on saved tensors refused from now on, with this message.

    Raises:
        RuntimeError: where some are in force.
    """
    mode = ready()
    if mode.saved_hooks and fail_if_non_empty:
        raise RuntimeError(error_message)
    CURRENT.set(derive(mode, saved_hooks_off=error_message))


def _saved_tensors_hooks_enable() -> None:
    """Undoes `_saved_tensors_hooks_disable`."""
    CURRENT.set(derive(ready(), saved_hooks_off=""))


def _saved_tensors_hooks_is_enabled() -> bool:
    """Whether hooks on saved tensors may be used."""
    return not ready().saved_hooks_off


def _saved_tensors_hooks_get_disabled_error_message() -> str | None:
    """The message with which hooks are refused; None where they aren't."""
    return ready().saved_hooks_off or None


def _get_current_graph_task_keep_graph() -> bool:
    """Whether the backward in progress keeps what was saved; True outside of one."""
    run = RUNNING.get()
    return True if run is None else bool(run.keep)


_NONE: Final = custom_op("saved", Node)


class _OwnSavedTensor(SavedTensor):
    """A tensor saved for no node."""

    __slots__ = ("_held",)

    def __init__(self, held: Any) -> None:
        self._held = held

    def _value(self) -> Any:
        return self._held

    def _pack(self, hooks: tuple[Any, ...]) -> None:
        self._held = _pack(self._held, hooks, -1, self._held)

    def unpack(self) -> Any:
        """The tensor, through the unpack hook where there is one."""
        held = self._held
        if type(held) is not Packed:
            return held
        assert held.is_output < 0, "an output would need the node that it belongs to"
        return _unpack_packed(new_node(_NONE, (), ()), held, True)


def _make_saved_tensor(tensor: TensorBase, is_output: bool) -> SavedTensor:
    """A tensor saved as an operation saves it: through the hooks that are in force."""
    held: Any = tensor
    hooks = ready().saved_hooks
    if hooks:
        held = _pack(tensor, hooks[-1], -1, tensor)
    return _OwnSavedTensor(held)


def _unsafe_set_version_counter(
    tensors: TensorBase | Iterable[TensorBase], versions: int | Iterable[int]
) -> None:
    """Sets how many writes tensors have seen, whatever has been saved of them.

    Raises:
        RuntimeError: for a negative number.
    """
    if isinstance(tensors, TensorBase):
        tensors = (tensors,)
    if isinstance(versions, int):
        versions = (versions,)
    for t, n in zip(tensors, versions):
        if n < 0:
            raise RuntimeError(f"Cannot set a version_counter to a value below 0: {n}")
        version_cell(t).n = n


__all__ = [
    "SavedTensor", "_InputMetadata", "_get_current_graph_task_keep_graph", "_make_saved_tensor",
    "_pop_saved_tensors_default_hooks",
    "_push_saved_tensors_default_hooks", "_saved_tensors_hooks_disable",
    "_saved_tensors_hooks_enable", "_saved_tensors_hooks_get_disabled_error_message",
    "_saved_tensors_hooks_is_enabled", "_top_saved_tensors_default_hooks",
    "_unsafe_set_version_counter",
]  # fmt: skip
