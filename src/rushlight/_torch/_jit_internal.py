"""Marks that TorchScript programs put on functions. Nothing is scripted: it runs as Python."""

from __future__ import annotations

import collections
import inspect
import threading
import types
import typing
from collections.abc import Callable
from typing import Any, Dict, Final, List, NamedTuple, Optional, Tuple, Union  # noqa: UP035

from ..utils._futures import Future

__all__ = [
    "Any", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Dict", "Final",
    "FunctionModifiers", "Future", "List", "Optional", "Tuple", "Union", "boolean_dispatch",
    "can_compile_class", "export", "ignore", "is_scripting", "unused",
]  # fmt: skip


class FunctionModifiers:
    """How a method is marked, in PyTorch's words."""

    UNUSED = "unused (ignored and replaced with raising of an exception)"
    IGNORE = "ignore (leave as a call to Python, cannot be torch.jit.save'd)"
    EXPORT = "export (compile this function even if nothing calls it)"
    DEFAULT = "default (compile if called from a exported function / forward)"
    COPY_TO_SCRIPT_WRAPPER = (
        "if this method is not scripted, copy the python method onto the scripted model"
    )
    _DROP = "_drop (function is fully ignored, declaration can be unscriptable)"


class Attribute(NamedTuple):
    """A value with the type that TorchScript would give it.

    Parameters:
        value: the value.
        type: its type.
    Raises: TypeError: for other parameters.
    Example:
        >>> torch.jit.Attribute(0.5, float)
        Attribute(value=0.5, type=<class 'float'>)
    """

    value: Any
    type: Any


def _mark(fn: Callable[..., Any], mark: str) -> Callable[..., Any]:
    target: Any = fn.fget if isinstance(fn, property) else fn
    target._torchscript_modifier = mark
    return fn


def export(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a method, which stays callable on the scripted module.

    Parameters:
        fn: the method.
    Returns: the method itself.
    Raises: AttributeError: for what can't be marked.
    Example:
        >>> class Scale(nn.Module):
        ...     @torch.jit.export
        ...     def twice(self, x):
        ...         return 2 * x
        >>> torch.jit.script(Scale()).twice(torch.ones(1))
        tensor([2.])
    """
    return _mark(fn, FunctionModifiers.EXPORT)


def unused(fn: Any) -> Any:
    """Marks a method as one that scripted code won't call.

    Parameters:
        fn: the method, or a property.
    Returns: the method itself, which stays callable here.
    Raises: AttributeError: for what can't be marked.
    Example:
        >>> @torch.jit.unused
        ... def report(x):
        ...     return f"seen {x}"
        >>> report(1)
        'seen 1'
    """
    return _mark(fn, FunctionModifiers.UNUSED)


def ignore(drop: Any = False, **kwargs: Any) -> Callable[..., Any]:
    """Marks a function as Python's; `@ignore` and `@ignore(drop=True)` both work.

    Parameters:
        drop: the function; or whether scripted code won't call it.
    Returns: the function itself, or what marks one.
    Raises: RuntimeError: for an argument that is neither a function nor a bool.
    Example:
        >>> @torch.jit.ignore
        ... def report(x):
        ...     return f"seen {x}"
        >>> report(1)
        'seen 1'
    """
    if callable(drop):
        return _mark(drop, FunctionModifiers.IGNORE)
    if not isinstance(drop, bool):
        raise RuntimeError(
            f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}"
        )
    mark = FunctionModifiers.UNUSED if drop else FunctionModifiers.IGNORE
    return lambda fn: _mark(fn, mark)


def _drop(fn: Any) -> Any:
    return _mark(fn, FunctionModifiers._DROP)


def _copy_to_script_wrapper(fn: Any) -> Any:
    return _mark(fn, FunctionModifiers.COPY_TO_SCRIPT_WRAPPER)


def module_has_exports(mod: Any) -> bool:
    """Whether one of a module's methods is marked by `export`."""
    return any(
        getattr(getattr(type(mod), name, None), "_torchscript_modifier", None)
        == FunctionModifiers.EXPORT
        for name in dir(type(mod))
    )


def should_drop(fn: Any) -> bool:
    """Whether scripted code won't call the function."""
    return get_torchscript_modifier(fn) in (FunctionModifiers.UNUSED, FunctionModifiers._DROP)


def is_ignored_fn(fn: Any) -> bool:
    """Whether the function is marked as Python's."""
    mark = get_torchscript_modifier(fn)
    return mark in (FunctionModifiers.UNUSED, FunctionModifiers.IGNORE, FunctionModifiers._DROP)


def get_torchscript_modifier(fn: Any) -> str | None:
    """The mark of a function; the default for one without; None for what can't be called."""
    if not callable(fn):
        return None
    fn = getattr(fn, "__func__", fn)
    return getattr(fn, "_torchscript_modifier", FunctionModifiers.DEFAULT)


def copy_torchscript_modifier(orig: Any, new: Any) -> None:
    """Gives a function the mark of another."""
    mark = get_torchscript_modifier(orig)
    if mark is not None:
        new._torchscript_modifier = mark


class _Tracing(threading.local):
    """Whether this thread is inside of `torch.jit.trace`."""

    on = False


TRACING = _Tracing()


def is_scripting() -> bool:
    """Whether a scripted program runs.

    Returns: False: all code runs as Python.
    Example:
        >>> torch.jit.script(lambda: torch.jit.is_scripting())()
        False
    """
    return False


def boolean_dispatch(
    arg_name: str, arg_index: int, default: bool, if_true: Any, if_false: Any,
    module_name: str | None, func_name: str | None,
) -> Any:  # fmt: skip
    """A function that calls one of two others, by the value of an argument."""

    def fn(*args: Any, **kwargs: Any) -> Any:
        chosen = default
        if arg_name in kwargs:
            chosen = kwargs[arg_name]
        elif arg_index < len(args):
            chosen = args[arg_index]
        return (if_true if chosen else if_false)(*args, **kwargs)

    fn.__doc__ = if_true.__doc__ or if_false.__doc__
    if module_name is not None:
        fn.__module__ = module_name
    if func_name is not None:
        fn.__name__ = func_name
    return fn


# ---- overloads that only TorchScript tells apart -------------------------------------------------
_overloaded: dict[str, list[Any]] = collections.defaultdict(list)


def _qualified_name(obj: Any, mangle_name: bool = True) -> str:
    name = getattr(obj, "__qualname__", type(obj).__qualname__)
    module = getattr(obj, "__module__", "")
    return f"__torch__.{module}.{name}" if module != "__main__" else f"__torch__.{name}"


def _overload(func: Any) -> Any:
    _overloaded[_qualified_name(func)].append(func)
    return func


def _overload_method(func: Any) -> Any:
    _overloaded[_qualified_name(func)].append(func)
    return func


def can_compile_class(cls: type) -> bool:
    """Whether a class has nothing but Python functions for methods."""
    if getattr(cls, "__module__", "") == "builtins":
        return False
    return all(
        hasattr(fn, "__code__") for fn in vars(cls).values() if inspect.isroutine(fn)
    )  # fmt: skip


def get_callable_argument_names(fn: Any) -> list[str]:
    """The names of a function's arguments, or none where one of them is variadic."""
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (ValueError, TypeError):
        return []
    if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters):
        return []
    return [p.name for p in parameters]


def get_annotation_str(annotation: Any) -> str:
    """How an annotation is written."""
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _names_seen_from(frames_up: int) -> Callable[[str], Any]:
    frame = inspect.currentframe()
    for _ in range(frames_up + 2):
        frame = frame.f_back if frame is not None else None
    names = {**frame.f_globals, **frame.f_locals} if frame is not None else {}
    return lambda key: names.get(key, getattr(typing, key, None))


def createResolutionCallbackFromFrame(frames_up: int = 0) -> Callable[[str], Any]:
    """What finds a value by its name in the frame of the caller."""
    return _names_seen_from(frames_up)


def createResolutionCallbackFromClosure(fn: Any) -> Callable[[str], Any]:
    """What finds a value by its name where a function was defined."""
    seen = inspect.getclosurevars(fn)
    names = {**seen.builtins, **seen.globals, **seen.nonlocals}
    return lambda key: names.get(key, getattr(typing, key, None))


# ---- types -------------------------------------------------------------------------------------
class BroadcastingListCls:
    """`BroadcastingList2[int]`: a list of a fixed length, for which one number may stand."""

    def __getitem__(self, types: Any) -> None:
        return None


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = BroadcastingListCls()
BroadcastingList4 = BroadcastingList5 = BroadcastingList6 = BroadcastingListCls()


def is_tuple(ann: Any) -> bool:
    """Whether an annotation is that of a tuple."""
    return typing.get_origin(ann) is tuple


def is_list(ann: Any) -> bool:
    """Whether an annotation is that of a list."""
    return typing.get_origin(ann) is list


def is_dict(ann: Any) -> bool:
    """Whether an annotation is that of a dict."""
    return typing.get_origin(ann) is dict


def is_union(ann: Any) -> bool:
    """Whether an annotation is that of a union."""
    return typing.get_origin(ann) in (Union, types.UnionType)


def is_optional(ann: Any) -> bool:
    """Whether an annotation is that of one type or None."""
    return is_union(ann) and type(None) in typing.get_args(ann) and len(typing.get_args(ann)) == 2


def is_future(ann: Any) -> bool:
    """Whether an annotation is that of a future."""
    return typing.get_origin(ann) is Future


def is_final(ann: Any) -> bool:
    """Whether an annotation is that of a constant."""
    return ann is Final or typing.get_origin(ann) is Final


def fits(obj: Any, kind: Any) -> bool:
    """Whether a value has a type, its elements included."""
    if kind is Any:
        return True
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        return any(fits(obj, one) for one in args)
    if origin is None:
        return obj is None if kind is None else isinstance(obj, kind)
    if not isinstance(obj, origin):
        return False
    if origin is list:
        return all(fits(one, args[0]) for one in obj)
    if origin is dict:
        return all(fits(k, args[0]) and fits(v, args[1]) for k, v in obj.items())
    if origin is tuple:
        if len(args) == 2 and args[1] is Ellipsis:
            return all(fits(one, args[0]) for one in obj)
        return len(obj) == len(args) and all(fits(one, a) for one, a in zip(obj, args))
    return True


def _isinstance(obj: Any, target_type: Any) -> bool:
    """Whether a value has a type, or one of several; elements of containers are looked at.

    Parameters:
        obj: the value.
        target_type: a type, as `list[int]` too, or a tuple of types.
    Returns: True or False.
    Raises: TypeError: for what is no type.
    Example:
        >>> torch.jit.isinstance([1, 2], list[int]), torch.jit.isinstance([1, "a"], list[int])
        (True, False)
    """
    kinds = target_type if isinstance(target_type, tuple) else (target_type,)
    return any(fits(obj, kind) for kind in kinds)
