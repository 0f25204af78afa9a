"""Names that programs take from `torch._C`, PyTorch's compiled part: what autograd programs ask.

Everything here stands elsewhere under a name of its own; this is where `torch._C.x` finds it.
"""

from __future__ import annotations

import weakref
from threading import local
from typing import TYPE_CHECKING, Any

from ... import autograd
from ..._base.caller import warn_the_caller
from ..._base.device import default_device, device
from ..._base.dtypes import dtype
from ..._base.lazy import lazy
from ..._base.size import Size
from ..._core.mode import (
    CURRENT,
    current,
    derive,
    ready,
    set_grad as _set_grad_enabled,
)
from ..._core.run import RUNNING, execution_order, will_run
from ..._core.storage import TensorBase
from ..._tensor.public_functions import namespace
from ..._tensor.settings import is_warn_always_enabled, set_warn_always
from ..._tensor.torch_function import (
    DisableTorchFunctionSubclass,
    disabled as _disabled_torch_function_impl,
)
from ...autograd.edges import core_of, public_form
from ...autograd.function import Function as _FunctionBase
from ...autograd.grad_mode import is_grad_enabled, is_grad_enabled as _is_grad_enabled
from ...autograd.variable import ExecutionEngine as _ImperativeEngine
from ...random import Generator
from . import _autograd, _functions, _script

if TYPE_CHECKING:
    from collections.abc import Callable

#: The class of the class of tensors, as packages ask for it.
_TensorMeta = type(TensorBase)


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """Device, dtype, `non_blocking` and memory format that the arguments of `to` name."""
    from ...nn.modules.module import _destination

    layout = kwargs.pop("memory_format", None)
    return (*_destination(*args, **kwargs), layout)


def _are_functorch_transforms_active() -> bool:
    """Whether a function is being batched, or differentiated in forward mode, right now."""
    mode = current()
    return bool(mode.layers) or mode.dual


def _get_mkldnn_enabled() -> bool:
    """What `torch.backends.mkldnn.enabled` is."""
    from ..backends import mkldnn

    return bool(mkldnn.enabled)


def _set_mkldnn_enabled(enabled: bool) -> None:
    """Sets `torch.backends.mkldnn.enabled`, which is only remembered."""
    from ..backends import mkldnn

    mkldnn.set_flags(enabled)


class _Stashed(local):
    """Objects of this thread, by name."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}


_STASHED = _Stashed()


def _stash_obj_in_tls(key: str, arg: object) -> None:
    """Keeps an object under a name, for this thread."""
    _STASHED.objects[key] = arg


def _get_obj_in_tls(key: str) -> Any:
    """The object of a name.

    Raises:
        RuntimeError: where there is none.
    """
    if key not in _STASHED.objects:
        raise RuntimeError(
            "Expected py_objects.obj_dict_.count(key) to be true, but got false.  (Could this "
            "error message be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    return _STASHED.objects[key]


def _is_key_in_tls(key: str) -> bool:
    """Whether an object is kept under a name."""
    return key in _STASHED.objects


def _remove_obj_from_tls(key: str) -> None:
    """Forgets the object of a name."""
    _STASHED.objects.pop(key, None)


def _current_graph_task_id() -> int:
    """The number of the backward in progress; -1 outside of one."""
    run = RUNNING.get()
    return -1 if run is None else int(run.number)


def _current_autograd_node() -> Any:
    """The node whose hooks or whose own code runs now; None outside of a backward."""
    run = RUNNING.get()
    return None if run is None or run.node is None else public_form(run.node)


def _will_engine_execute_node(node: Any) -> bool:
    """Whether the backward in progress sends a gradient through `node`.

    Raises:
        RuntimeError: outside of a backward, and for a leaf whose gradient `autograd.grad` gives.
    """
    if isinstance(node, TensorBase) or not hasattr(type(node), "next_functions"):
        raise RuntimeError(
            f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}"
        )
    return will_run(core_of(node))


def _current_graph_task_execution_order() -> list[Any]:
    """The nodes of the backward in progress in the order in which it runs them.

    Raises:
        RuntimeError: outside of a backward.
    """
    return [public_form(vertex) for vertex in execution_order()]


def _set_multithreading_enabled(enabled: bool) -> None:
    """Notes whether backward may use several threads."""
    autograd.set_multithreading_enabled(enabled)


def _is_multithreading_enabled() -> bool:
    """What `_set_multithreading_enabled` has noted."""
    return autograd.is_multithreading_enabled()


def _is_view_replay_enabled() -> bool:
    """Whether views remember the operations that made them."""
    return ready().view_replay


def _set_view_replay_enabled(enabled: bool) -> None:
    """Has views remember the operations that made them, or not."""
    autograd.grad_mode._force_original_view_tracking(enabled)


def _get_warnAlways() -> bool:
    """Whether warnings that are given once in a process are given each time."""
    return is_warn_always_enabled()


def _set_warnAlways(enabled: bool) -> None:
    """Has warnings that are given once in a process given each time, or not."""
    set_warn_always(enabled)


def _warn() -> None:
    """Warns, as a program's test asks for it."""
    warn_the_caller("Test message for TORCH_WARN")


def _warn_deprecation() -> None:
    """Warns of something deprecated, as a program's test asks for it."""
    warn_the_caller("Test message for TORCH_WARN_DEPRECATION", DeprecationWarning)


def _is_fwd_grad_enabled() -> bool:
    """Whether tangents go through operations."""
    return autograd.forward_ad._is_fwd_grad_enabled()


def _set_fwd_grad_enabled(enabled: bool) -> None:
    """Has tangents go through operations, or not, for the context that runs now."""
    CURRENT.set(derive(ready(), forward_grad=enabled))


def _is_alias_of(tensor: TensorBase, other: TensorBase) -> bool:
    """Whether two tensors look at one piece of memory."""
    mine, theirs = tensor.untyped_storage(), other.untyped_storage()  # type: ignore[attr-defined]
    return bool(mine.data_ptr() == theirs.data_ptr() and mine.nbytes() == theirs.nbytes())


def _is_torch_function_mode_enabled() -> bool:
    """Whether a mode sees the calls of functions right now."""
    return bool(current().functions)


def _get_default_device() -> str:
    """The kind of device that new tensors are on."""
    return str(default_device().type)


class _WeakTensorRef:
    """A weak reference to a tensor: `expired()` says whether it has gone."""

    def __init__(self, tensor: TensorBase) -> None:
        self._ref = weakref.ref(tensor)

    def expired(self) -> bool:
        """Whether the tensor has gone."""
        return self._ref() is None


# Tensors that somebody has marked as cached, by identity; counted while this is switched on only.
_cached: dict[int, weakref.ref[TensorBase]] = {}
_caching = [False]


def _set_cached_tensors_enabled(enabled: bool) -> None:
    """Has marks of cached tensors kept, or not."""
    _caching[0] = enabled


def _add_cached_tensor(tensor: TensorBase) -> None:
    """Marks a tensor as one that a cache holds; marking it again changes nothing."""
    if _caching[0]:
        key = id(tensor)
        _cached[key] = weakref.ref(tensor, lambda _: _cached.pop(key, None))


def _remove_cached_tensor(tensor: TensorBase) -> None:
    """Takes the mark away."""
    _cached.pop(id(tensor), None)


def _is_cached_tensor(tensor: TensorBase) -> bool:
    """Whether a tensor is marked."""
    return _caching[0] and id(tensor) in _cached


def _set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Does nothing: there are no streams on the CPU."""


def _get_privateuse1_backend_name() -> str:
    """The name of the device type that extensions may claim."""
    return "privateuseone"


def _find_in(space: str) -> Callable[[str], Any]:
    """What finds the functions of a namespace by PyTorch's names, `fft_ifft`, and by ours."""
    table = namespace(space)
    return lambda name: table[name.removeprefix(f"{space}_")]


def _find(name: str) -> Any:
    if name in ("_VariableFunctions", "_VariableFunctionsClass"):
        return namespace("").module("torch._C._VariableFunctions")
    if name == "_storage_address":
        return lambda tensor: tensor.untyped_storage()._cdata
    return _script.find(name)


# What is seldom asked for: the switches of TorchScript, and tables of functions.
__getattr__ = lazy(
    __name__,
    {
        **{name: f".{name}" for name in ("_fft", "_functorch", "_linalg", "_nn", "_special")},
        **{name: f"._dispatch:{name}" for name in (
            "DispatchKey", "DispatchKeySet", "_AutoDispatchBelowAutograd",
            "_ExcludeDispatchKeyGuard",
        )},
        **{name: f"._files:{name}" for name in ("PyTorchFileReader", "PyTorchFileWriter")},
        "StorageBase": "_tensor.untyped_storage:StorageBase",
    },
    _find,
)  # fmt: skip


__all__ = [
    "DisableTorchFunctionSubclass",
    "Generator", "Size", "TensorBase", "_FunctionBase", "_ImperativeEngine", "_WeakTensorRef",
    "_add_cached_tensor", "_autograd", "_current_autograd_node",
    "_current_graph_task_execution_order", "_current_graph_task_id",
    "_disabled_torch_function_impl", "_functions",
    "_get_privateuse1_backend_name", "_get_warnAlways", "_is_cached_tensor",
    "_is_fwd_grad_enabled", "_is_grad_enabled", "_is_multithreading_enabled",
    "_is_view_replay_enabled", "_remove_cached_tensor", "_set_cached_tensors_enabled",
    "_set_fwd_grad_enabled", "_set_grad_enabled", "_set_multithreading_enabled",
    "_set_view_replay_enabled", "_set_warnAlways",
    "_set_warn_on_accumulate_grad_stream_mismatch", "_will_engine_execute_node", "device", "dtype",
    "is_grad_enabled",
]  # fmt: skip
