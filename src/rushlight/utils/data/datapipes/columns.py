"""What steps with functions share."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable

from .annotations import Item, Source

__all__ = ["apply_to", "check_function", "length_of", "validate_input_col"]


def check_function(fn: Callable[..., object]) -> None:
    """Warns of a function that can't be pickled, as workers ask for.

    Raises:
        TypeError: for what can't be called.
    """
    if not callable(fn):
        raise TypeError(f"A callable function is expected, but {type(fn)} is provided.")
    inner = fn.func if isinstance(fn, functools.partial) else fn
    if "<locals>" in getattr(inner, "__qualname__", "") or (
        getattr(inner, "__name__", "") == "<lambda>"
    ):
        warnings.warn(
            "Local function is not supported by pickle, please use regular python function or "
            "functools.partial instead.",
            stacklevel=3,
        )


def validate_input_col(fn: Callable[..., object], input_col: Item) -> None:
    """Checks that a function takes as many arguments as there are columns.

    Raises:
        ValueError: where it doesn't.
    """
    try:
        signature = inspect.signature(fn)
    except (ValueError, TypeError):
        return
    parameters = list(signature.parameters.values())
    wanted = len(input_col) if isinstance(input_col, (list, tuple)) else 1
    name = getattr(fn, "__name__", type(fn).__name__)
    if any(p.kind is p.KEYWORD_ONLY and p.default is p.empty for p in parameters):
        raise ValueError(
            f"The function {name} takes keyword-only parameters, which is not allowed."
        )
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    least = sum(p.default is p.empty for p in places)
    if wanted < least:
        raise ValueError(
            f"The function {name} takes {least} parameters, but {wanted} are required."
        )
    if wanted > len(places):
        raise ValueError(
            f"The function {name} takes {len(places)} parameters, but {wanted} are required."
        )


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
    if hasattr(type(source), "__len__"):
        return len(source)
    raise TypeError(f"{type(pipe).__name__} instance doesn't have valid length")
