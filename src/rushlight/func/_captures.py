"""The tensors that a function knows by name from outside of itself.

Note [Captured tensors]
PyTorch wraps what is made inside of a derivative, and refuses to write into what isn't wrapped.
Without wrappers nothing says when a tensor was made. But what a function names was there before it:
a write of something that is tracked would leave the graph behind in it.
"""

from __future__ import annotations

import functools
from types import FunctionType, MethodType
from typing import Any

from .._core.storage import TensorBase


def find_captured(function: object, given: tuple[object, ...]) -> list[TensorBase]:
    """Tensors among the arguments and behind the names of a function and of those that it names."""
    found = [x for x in given if isinstance(x, TensorBase)]
    stack, seen = [function], set()
    while stack:
        now: Any = stack.pop()
        if isinstance(now, functools.partial):
            values = [now.func, *now.args, *now.keywords.values()]
        elif type(now) is MethodType:
            values = [now.__func__, now.__self__]
        elif type(now) is FunctionType and now not in seen:
            seen.add(now)
            values = list(now.__defaults__ or ())
            for cell in now.__closure__ or ():
                try:
                    values.append(cell.cell_contents)
                except ValueError:  # not set yet
                    continue
            names = now.__globals__
            found += [x for n in now.__code__.co_names if isinstance(x := names.get(n), TensorBase)]
        else:
            continue
        for value in values:
            if isinstance(value, TensorBase):
                found.append(value)
            elif callable(value):
                stack.append(value)
    return found
