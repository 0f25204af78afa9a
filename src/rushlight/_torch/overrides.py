"""`__torch_function__`: asking other classes, and modes, what a function shall do.

Operations ask the classes of their arguments and the function modes on the slow path. Functions
that are made of operations (`torch.cat`, `nn.functional.linear`, `torch.zeros`) ask too, see
`_tensor/public_functions.py`.
"""

from __future__ import annotations

import functools
import sys
import types as _types
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any, Final

from .. import _table as _ops
from .._core.mode import CURRENT, current, derive, ready
from .._tensor.methods import settle
from .._tensor.tensor import Tensor
from .._tensor.torch_function import DisableTorchFunctionSubclass, asks, by_mode, foreign
from ..nn import functional as _functional

_PACKAGE: Final = __name__.rpartition(".")[0]


class TorchFunctionMode:
    """A context whose `__torch_function__(func, types, args, kwargs)` is called for each function.

    Inside the method the mode itself is off, so it may call `func`.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        before: deque[tuple[Any, ...]] = self.__dict__.setdefault("_before", deque())
        mode = ready()
        try:  # see Note [A context that is interrupted] in `autograd.grad_mode`
            before.append(mode.functions)
            CURRENT.set(derive(mode, functions=(*mode.functions, self)))
        except BaseException:
            CURRENT.set(mode)
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        try:
            CURRENT.set(derive(ready(), functions=self.__dict__["_before"][-1]))
        except BaseException:
            CURRENT.set(derive(ready(), functions=self.__dict__["_before"].pop()))
            raise
        self.__dict__["_before"].pop()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """A mode of this class."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        return func(*args, **({} if kwargs is None else kwargs))


def _get_current_function_mode() -> Any:
    stack = current().functions
    return stack[-1] if stack else None


def _get_current_function_mode_stack() -> list[Any]:
    return list(current().functions)


# ---- asking ------------------------------------------------------------------------------------
def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether one of the arguments, or a mode, has something to say on a call with them."""
    return bool(current().functions) or any(asks(arg) for arg in relevant_args)


def has_torch_function_unary(relevant_arg: Any) -> bool:
    """The same for one argument."""
    return bool(current().functions) or asks(relevant_arg)


def has_torch_function_variadic(*relevant_args: Any) -> bool:
    """The same for arguments given one by one."""
    return has_torch_function(relevant_args)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """What the modes, and then the classes of the arguments, make of a call of `public_api`.

    Raises:
        TypeError: where all of them give NotImplemented.
    """
    found = foreign(relevant_args)
    types = tuple(type(item) for item in found)
    if current().functions:
        answer = by_mode(public_api, types, args, kwargs)
        if answer is not NotImplemented:
            return answer
    for item in found:
        answer = item.__torch_function__(public_api, types, args, kwargs)
        if answer is not NotImplemented:
            return answer
    name = f"{public_api.__module__}.{public_api.__name__}"
    name = name.replace(_PACKAGE, "torch", 1) if name.startswith(_PACKAGE) else name
    message = (
        f"no implementation found for '{name}' on types that implement __torch_function__: "
        f"{[type(item) for item in found]}"
    )
    if current().functions:
        message += f" nor in mode {_get_current_function_mode()}"
    raise TypeError(message)


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[..., Any]:
    """A decorator that lets a function ask; `dispatcher` gives the arguments that are asked."""

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def ask_first(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(ask_first, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return ask_first

    return wrap


def is_tensor_like(inp: Any) -> bool:
    """Whether it is a tensor, or its class has `__torch_function__`."""
    return isinstance(inp, Tensor) or hasattr(type(inp), "__torch_function__")


# ---- which functions there are -------------------------------------------------------------------
_IGNORED: Final = (
    "tensor", "as_tensor", "from_numpy", "frombuffer", "arange", "empty", "eye", "full", "linspace",
    "logspace", "ones", "rand", "randint", "randn", "randperm", "range", "zeros", "manual_seed",
    "seed", "save", "load", "set_printoptions", "is_grad_enabled", "set_grad_enabled", "no_grad",
    "enable_grad", "get_default_dtype", "set_default_dtype", "promote_types", "can_cast",
    "result_type", "tril_indices", "triu_indices", "scalar_tensor", "asarray",
)  # fmt: skip


@functools.cache
def get_ignored_functions() -> set[Any]:
    """The functions that don't ask: those that make tensors of nothing, and settings."""
    package = sys.modules[_PACKAGE]
    return {getattr(package, name) for name in _IGNORED if hasattr(package, name)}


@functools.cache
def _overridable() -> tuple[dict[Any, list[Any]], dict[Any, str]]:
    functions: dict[Any, list[Any]] = defaultdict(list)
    names: dict[Any, str] = {}
    ignored = get_ignored_functions()
    for place, name in ((sys.modules[_PACKAGE], "torch"), (_functional, "torch.nn.functional")):
        space = "" if name == "torch" else "nn.functional"
        for own, short in _ops.PUBLIC:
            function = getattr(place, short, None) if own == space else None
            if own == space and callable(function) and function not in ignored:
                functions[place].append(function)
                names.setdefault(function, f"{name}.{short}")
    settle()
    for short, attribute in vars(Tensor).items():
        attribute = getattr(attribute, "function", attribute)  # of an entry, see Note [Entries]
        if isinstance(attribute, (_types.FunctionType, property)) and not short.startswith("_"):
            method: Any = attribute
            if isinstance(attribute, property):
                method = attribute.fget
                names.setdefault(method, f"torch.Tensor.{short}.__get__")
            functions[Tensor].append(method)
            names.setdefault(method, f"torch.Tensor.{short}")
    return functions, names


def get_overridable_functions() -> dict[Any, list[Any]]:
    """The functions that ask, by the module or class that has them."""
    return _overridable()[0]


def get_testing_overrides() -> dict[Any, Callable[..., Any]]:
    """For each function that asks a function that takes any arguments and gives -1."""
    return {f: lambda *args, **kwargs: -1 for group in _overridable()[0].values() for f in group}


def get_default_nowrap_functions() -> set[Any]:
    """The attributes whose results don't get the class of a subclass."""
    found = (getattr(Tensor, name) for name in ("_base", "grad", "shape", "dtype", "device"))
    return {member.fget for member in found if isinstance(member, property)}


def resolve_name(f: Callable[..., Any]) -> str | None:
    """The public name of a function that asks: `torch.add`; None for any other object."""
    return _overridable()[1].get(f) if callable(f) else None


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether it is a method or attribute of `Tensor`, and no function of a module."""
    name = resolve_name(func)
    methods = _overridable()[0][Tensor]
    return (func in methods and not (name or "").startswith("torch.nn")) or (
        getattr(func, "__name__", "") == "__get__"
    )


def enable_reentrant_dispatch() -> Any:
    """A context for calls back into operations from a dispatch mode; nothing is needed here."""
    import contextlib

    return contextlib.nullcontext()


def redispatch_function(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """The call without asking subclasses."""
    with DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


__all__ = [
    "get_ignored_functions", "get_overridable_functions", "get_testing_overrides",
    "handle_torch_function", "has_torch_function", "resolve_name", "is_tensor_like",
    "is_tensor_method_or_property", "wrap_torch_function", "enable_reentrant_dispatch",
    "redispatch_function",
]  # fmt: skip
