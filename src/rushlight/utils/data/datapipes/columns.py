"""What steps with functions share."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import warnings
from collections.abc import Callable

from .annotations import Item, Source

__all__ = ["apply_to", "check_function", "length_of", "validate_input_col"]


def check_function(fn: Callable[..., object]) -> None:
    """Warns of a function that workers can't be sent, as neither pickle nor `dill` takes it.

    Raises:
        TypeError: for what can't be called.
    """
    if not callable(fn):
        raise TypeError(f"A callable function is expected, but {type(fn)} is provided.")
    inner = fn.func if isinstance(fn, functools.partial) else fn
    kind = (
        "Local"
        if _is_local(inner)
        else "Lambda"
        if getattr(inner, "__name__", "") == "<lambda>"
        else None
    )
    if kind is None or importlib.util.find_spec("dill") is not None:
        return
    warnings.warn(
        f"{kind} function is not supported by pickle, please use regular python function or "
        "functools.partial instead.",
        stacklevel=2,
    )


def _is_local(fn: Item) -> bool:
    # A function says so in its code; an object that is called, by the name of its class.
    code = getattr(fn, "__code__", None)
    if code is not None:
        return bool(code.co_flags & inspect.CO_NESTED)
    named = fn if hasattr(fn, "__qualname__") else type(fn)
    return "<locals>" in named.__qualname__


def validate_input_col(fn: Callable[..., object], input_col: Item) -> None:
    """Checks that a function takes as many arguments as there are columns.

    Raises:
        ValueError: where it doesn't, or has arguments that only a name can give.
    """
    try:
        parameters = list(inspect.signature(fn).parameters.values())
    except ValueError:
        return  # of C, without a signature
    wanted = len(input_col) if isinstance(input_col, (list, tuple)) else 1
    inner = fn.func if isinstance(fn, functools.partial) else fn
    name = getattr(inner, "__name__", repr(inner))
    by_name = sum(p.kind is p.KEYWORD_ONLY and p.default is p.empty for p in parameters)
    if by_name:
        raise ValueError(
            f"The function {name} takes {by_name} non-default keyword-only parameters, "
            "which is not allowed."
        )
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if wanted > len(places):
        fits = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    else:
        fits = all(p.default is not p.empty for p in places[wanted:])
    if fits:
        return
    few = wanted > len(parameters)
    taken = f"{len(parameters)} parameters" if few else f"{len(places)} positional parameters"
    raise ValueError(f"The function {name} takes {taken}, but {wanted} are required.")


def apply_to(fn: Callable[..., Item], item: Item, columns: Item) -> Item:
    """The function of an item, or of some of its columns."""
    if columns is None:
        return fn(item)
    if isinstance(columns, (list, tuple)):
        return fn(*(item[column] for column in columns))
    return fn(item[columns])


def length_of(pipe: object, source: Source) -> int:
    """The length that a pipe has from its source.

    Raises:
        TypeError: where that has none.
    """
    return require_length(pipe, len(source) if hasattr(type(source), "__len__") else -1)


def require_length(pipe: object, length: int) -> int:
    """A length that isn't -1, which stands for none.

    Raises:
        TypeError: where it is, in the name of the pipe.
    """
    if length == -1:
        raise TypeError(f"{type(pipe).__name__} instance doesn't have valid length")
    return length
