"""`torch._utils`: small tools that packages take from there."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any, Generic, TypeVar

from .. import _table as ops
from .._array.printing import printoptions
from .._base import dtypes as D
from .._base.device import device as Device
from .._base.lazy import lazy
from .._core.mode import current
from ..nn.parameter import _rebuild_parameter, _rebuild_parameter_with_state
from ..serialization.names import (
    rebuild_meta_tensor as _rebuild_meta_tensor_no_storage,
    rebuild_tensor as _rebuild_tensor,
    rebuild_tensor as _rebuild_tensor_v2,
    rebuild_untyped_tensor as _rebuild_tensor_v3,
)
from .overrides import resolve_name

__all__ = [
    "ExceptionWrapper", "KeyErrorMessage", "_element_size", "_flatten_dense_tensors",
    "_get_all_device_indices", "_get_available_device_type", "_get_device_index",
    "_import_dotted_name", "_rebuild_meta_tensor_no_storage", "_rebuild_parameter",
    "_rebuild_parameter_with_state", "_rebuild_tensor",
    "_rebuild_tensor_v2", "_rebuild_tensor_v3", "_reorder_tensors_as",
    "_take_tensors", "_unflatten_dense_tensors", "classproperty", "cpu_count", "is_compiling",
    "render_call", "try_import",
]  # fmt: skip

_T = TypeVar("_T")


# What pickles of sparse tensors name; sparse tensors are loaded where there are some.
__getattr__ = lazy(__name__, {"_rebuild_sparse_tensor": "sparse.pickles:_rebuild_sparse_tensor"})
_f: Any = ops.namespace("").module("the functions of torch")


# ---- several tensors as one ----------------------------------------------------------------------
def _flatten_dense_tensors(tensors: Sequence[Any]) -> Any:
    """One flat tensor with the elements of all, in order."""
    return _f.cat([tensor.contiguous().view(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat: Any, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """The parts of a flat tensor as views of the shapes of `tensors`."""
    parts, start = [], 0
    for tensor in tensors:
        count = tensor.numel()
        parts.append(flat.narrow(0, start, count).view_as(tensor))
        start += count
    return tuple(parts)


def _take_tensors(tensors: Iterable[Any], size_limit: int) -> Iterator[list[Any]]:
    """The tensors in groups of one type, each closed as soon as it passes `size_limit` bytes."""
    open_groups: dict[str, tuple[list[Any], int]] = {}
    for tensor in tensors:
        kind = tensor.type()
        group, size = open_groups.get(kind, ([], 0))
        more = tensor.numel() * tensor.element_size()
        if group and size + more > size_limit:
            yield group
            group, size = [], 0
        group.append(tensor)
        open_groups[kind] = group, size + more
    for group, _ in open_groups.values():
        if group:
            yield group


def _reorder_tensors_as(tensors: Sequence[Any], ordered_tensors: Sequence[Any]) -> tuple[Any, ...]:
    """The tensors in the order in which those of the same type stand in another list."""
    by_type: dict[str, list[Any]] = {}
    for tensor in tensors:
        by_type.setdefault(tensor.type(), []).append(tensor)
    turn = {kind: iter(group) for kind, group in by_type.items()}
    return tuple(next(turn[tensor.type()]) for tensor in ordered_tensors)


def _element_size(dtype: Any) -> int:
    """The bytes of one element.

    Raises:
        RuntimeError: for anything but a dtype.
    """
    if not isinstance(dtype, D.dtype):
        raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
    return int(dtype.itemsize)


# ---- errors from elsewhere -----------------------------------------------------------------------
class KeyErrorMessage(str):
    """The text of a KeyError, which would otherwise be shown with its line breaks escaped."""

    def __repr__(self) -> str:
        return self


class ExceptionWrapper:
    """An error with its traceback as text, to be raised in another thread or process."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        kind, error, tb = sys.exc_info() if exc_info is None else exc_info
        self.exc_type = kind
        self.exc_msg = "".join(traceback.format_exception(kind, error, tb))
        self.where = where

    def reraise(self) -> None:
        """Raises an error of the same class, whose text holds the traceback."""
        kind: Any = self.exc_type
        message = f"Caught {kind.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if kind is KeyError:
            message = KeyErrorMessage(message)
        elif getattr(kind, "message", None):
            raise kind(message=message)
        try:
            error = kind(message)
        except Exception:
            # A class that takes something else: its text is what can be kept.
            raise RuntimeError(message) from None
        raise error


# ---- devices -------------------------------------------------------------------------------------
def _get_available_device_type() -> str | None:
    """None: there is nothing beside the CPU."""
    return None


def _get_all_device_indices() -> None:
    """None: there is nothing beside the CPU."""


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """The number of a device; -1 for the CPU where that is allowed.

    Raises:
        ValueError: where it has none.
    """
    found = Device(device) if isinstance(device, str) else device
    if isinstance(found, int):
        return found
    if isinstance(found, Device):
        if found.type == "cpu" and allow_cpu:
            return -1 if found.index is None else found.index
        if found.type != "cpu" and found.index is not None:
            return found.index
    if found is None and optional:
        return -1
    raise ValueError(
        f"Expected a torch.device with a specified index or an integer, but got:{device}"
    )


# ---- the rest ------------------------------------------------------------------------------------
def _get_device_module(device_type: str) -> Any:
    """`torch.cpu`, `torch.cuda`, …: the module of a kind of device."""
    from .missing_devices import get_device_module

    return get_device_module(device_type)


def cpu_count() -> int | None:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def is_compiling() -> bool:
    """Whether a step is being recorded for `torch.compile`."""
    return current().recorder is not None


def try_import(module_name: str) -> ModuleType | None:
    """The module of this name, or None where there is none."""
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError:
        return None


def _import_dotted_name(name: str) -> Any:
    """What a dotted name of a module and its attributes stands for."""
    first, *rest = name.split(".")
    found: Any = importlib.import_module(first)
    for part in rest:
        found = getattr(found, part)
    return found


def render_call(fn: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> str:
    """A call as it would be written, with tensors by their sizes."""
    with printoptions(threshold=0, edgeitems=0):
        parts = [repr(arg) for arg in args] + [f"{key}={v!r}" for key, v in kwargs.items()]
    return f"{resolve_name(fn) or str(fn)}({', '.join(parts)})"


class _ClassPropertyDescriptor(Generic[_T]):
    def __init__(self, fget: Any) -> None:
        self.fget = fget

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self.fget.__get__(instance, type(instance) if owner is None else owner)()


def classproperty(func: Callable[..., Any]) -> Any:
    """A property of a class itself."""
    return _ClassPropertyDescriptor(
        func if isinstance(func, classmethod | staticmethod) else classmethod(func)
    )
