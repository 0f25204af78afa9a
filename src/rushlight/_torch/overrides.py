"""`__torch_function__`: asking other classes, and modes, what a function shall do.

Operations ask the classes of their arguments and the function modes on the slow path. Functions
that are made of operations (`torch.cat`, `nn.functional.linear`, `torch.zeros`) ask too once this
module has been loaded; a program that doesn't load it doesn't pay for that.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types as _types
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any, Final

from .. import _table as _ops
from .._core.mode import CURRENT, current, ready, replaced
from .._core.slow import NOT_HANDLED
from .._table.rows.composite import COMPOSITES, METHODS
from .._tensor import dispatch_modes as _watching  # noqa: F401 - it wraps what is wrapped again here
from .._tensor.methods import settle
from .._tensor.tensor import Tensor
from .._tensor.torch_function import (
    STANDINS,
    DisableTorchFunctionSubclass,
    all_refused,
    asks,
    by_mode,
    foreign,
)
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
            CURRENT.set(replaced(mode, functions=(*mode.functions, self)))
        except BaseException:
            CURRENT.set(mode)
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        try:
            CURRENT.set(replaced(ready(), functions=self.__dict__["_before"][-1]))
        except BaseException:
            CURRENT.set(replaced(ready(), functions=self.__dict__["_before"].pop()))
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
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

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
    return {vars(Tensor)[name].fget for name in ("_base", "grad", "shape", "dtype", "device")
            if isinstance(vars(Tensor).get(name), property)}  # fmt: skip


def resolve_name(f: Any) -> str | None:
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


def _among(args: Any, kwargs: Any) -> bool:
    """Whether one of the arguments, or of a list among them, is of a class in `STANDINS`."""
    for a in args if not kwargs else (*args, *kwargs.values()):
        kind = type(a)
        if kind in STANDINS:
            return True
        if (kind is list or kind is tuple) and not STANDINS.isdisjoint(map(type, a)):
            return True
    return False


# Functions that are handed on as they were called; PyTorch has them in its compiled part.
_AS_CALLED: Final = frozenset({
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "bilinear", "celu_", "channel_shuffle", "conv1d",
    "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
    "cosine_similarity", "elu_", "gelu", "hardshrink", "hardtanh_", "leaky_relu_", "linear",
    "logsigmoid", "native_channel_shuffle", "one_hot", "pairwise_distance", "pdist",
    "pixel_shuffle", "pixel_unshuffle", "prelu", "relu_", "rrelu_",
    "scaled_dot_product_attention", "selu_", "softplus", "threshold_",
})  # fmt: skip


def _spelled(function: Any, module: str, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The arguments of a call as PyTorch's functions in Python hand them on: defaults written out.

    What has no default comes first, by position; the rest by name.
    """
    name = function.__name__
    if name == "einsum":
        operands = args[1] if len(args) == 2 and isinstance(args[1], (list, tuple)) else args[1:]
        return (args[0], *operands), kwargs
    in_python = module.endswith("nn.functional") and name not in _AS_CALLED
    if not in_python and name not in ("norm", "tensordot", "cdist", "split", "stft"):
        return args, kwargs
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    first: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in bound.signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            return args, kwargs
        if parameter.default is parameter.empty:
            first.append(bound.arguments[parameter.name])
        else:
            named[parameter.name] = bound.arguments[parameter.name]
    return tuple(first), named


# ---- functions made of operations ----------------------------------------------------------------
def _asking(function: Any, name: str) -> Any:
    """A function that asks modes and the classes of its arguments before it runs."""

    # What asks modes only is passed by where there is none.
    plain = getattr(function, "_in_no_mode", function)

    @functools.wraps(function)
    def asking(*args: Any, **kwargs: Any) -> Any:
        mode = current()
        run = plain
        standing_in = STANDINS and _among(args, kwargs)
        if mode.slow or standing_in:
            run = function
            if mode.functions:
                answer = by_mode(asking, tuple(type(a) for a in foreign(args)), args, kwargs)
                if answer is NotImplemented:
                    raise all_refused(asking, current().functions[-1:], ())
                return answer
            if standing_in:
                # Run here, the function would have its parts noted one by one.
                handled = _of_others(asking, *_spelled(function, asking.__module__, args, kwargs))
                if handled is not NOT_HANDLED:
                    return handled
        try:
            return run(*args, **kwargs)
        except (AttributeError, TypeError):
            handled = _of_others(asking, args, kwargs)
            if handled is NOT_HANDLED:
                raise
            return handled

    asking.__name__ = asking.__qualname__ = name
    asking._asks = True  # type: ignore[attr-defined]
    return asking


# Modules that were loaded before this one know functions under their first names.
_EARLIER: Final = frozenset(sys.modules)


def _made_before(cls: type) -> bool:
    """Whether a class of somebody else stems from before functions were made to ask classes."""
    return cls.__module__ in _EARLIER and not cls.__module__.startswith(f"{_PACKAGE}.")


def _of_others(function: Any, args: Any, kwargs: Any) -> Any:
    """What classes that are no tensors make of a call that no tensor function understands."""
    values = [*args, *kwargs.values()]
    inside = [v for a in values if isinstance(a, (list, tuple)) for v in a]
    found = [x for x in foreign([*values, *inside]) if not isinstance(x, Tensor)
             or type(x) in STANDINS]  # fmt: skip
    if not found:
        return NOT_HANDLED
    types = tuple(type(item) for item in found)
    if any(isinstance(item, Tensor) for item in found):
        names = [function]
    else:
        names = [function, function.__wrapped__]
        if all(_made_before(type(item)) for item in found):
            names.reverse()
    for name in names:
        for item in found:
            try:
                answer = item.__torch_function__(name, types, args, kwargs or None)
            except (NotImplementedError, TypeError, KeyError):
                if name is names[-1]:
                    raise
                break  # under its other name the class may know the function
            if answer is not NotImplemented:
                return answer
    raise all_refused(function, (), types)


# Functions that the rules of programs tell from the method of the same name.
_APART: Final = ("unbind",)


def _install() -> None:
    package = sys.modules[_PACKAGE].__dict__
    places = {"": package, "nn.functional": _functional.__dict__}
    for space, name in COMPOSITES:
        place = places.get(space)
        function = None if place is None else place.get(name)
        if isinstance(function, _types.FunctionType) and not hasattr(function, "_asks"):
            asking = _asking(function, name)
            # Under this name a pickle finds it.
            asking.__module__ = f"{_PACKAGE}.{space}" if space else _PACKAGE
            place[name] = asking  # type: ignore[index]
    for name in METHODS:
        method = vars(Tensor).get(name)
        if isinstance(method, _types.FunctionType) and not hasattr(method, "_asks"):
            public = package.get(name)
            same = hasattr(public, "_asks") and getattr(public, "__wrapped__", None) is method
            setattr(Tensor, name, public if same else _asking(method, name))
    for name in _APART:
        function = getattr(sys.modules[_PACKAGE], name)
        if not hasattr(function, "_asks"):
            package[name] = _asking(function, name)
            package[name].__module__ = _PACKAGE
    for name in ("detach", "backward"):
        method = vars(Tensor).get(name)
        if method is not None and not hasattr(method, "_asks"):
            setattr(Tensor, name, _asking(method, name))


_install()

__all__ = [
    "get_ignored_functions", "get_overridable_functions", "get_testing_overrides",
    "handle_torch_function", "has_torch_function", "resolve_name", "is_tensor_like",
    "is_tensor_method_or_property", "wrap_torch_function", "enable_reentrant_dispatch",
    "redispatch_function",
]  # fmt: skip
