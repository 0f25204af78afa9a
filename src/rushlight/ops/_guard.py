"""Argument checks for the functions of the table that are no rows.

A composite function says `Any` of its arguments and finds misuse late, or not at all. So its public
form asks PyTorch's signatures first. What types alone decide is asked once for each combination of
types, see Note [Plans].
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

from .._core.slow import HANDLERS, NOT_HANDLED
from .._core.storage import TensorBase

#: Called so often that the look at the types would be felt; these check by themselves.
UNCHECKED: Final = frozenset((
    "__getitem__", "__setitem__", "__delitem__", "T", "mT", "H", "mH", "matmul", "item", "tolist",
    "reshape", "contiguous", "detach", "detach_", "tensor", "as_tensor", "from_numpy",
))  # fmt: skip


# The key isn't known, so that the signatures are to be asked.
_ASK: Final = object()


def guard(kind: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which refuses what PyTorch's signatures of that kind and name don't take."""
    if name in UNCHECKED or name.startswith("_"):
        return function
    # By types: None where these decide, else where the lists are of which each item is asked.
    fine: dict[Any, Any] = {}

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            key: Any = tuple(map(type, args)), tuple(kwargs), tuple(map(type, kwargs.values()))
        else:
            key = tuple(map(type, args))
        lists = fine.get(key, _ASK)
        if lists is not None and (lists is _ASK or not plain_lists(lists, args, kwargs)):
            handled = check(kind, name, run, args, kwargs, fine, key)
            if handled is not NOT_HANDLED:
                return handled
        return function(*args, **kwargs)

    run._guarded = function  # type: ignore[attr-defined]
    return run


def plain_lists(lists: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the lists at these places hold nothing but ints, or nothing but tensors."""
    for place in lists:
        items = args[place] if type(place) is int else kwargs[place]
        for item in items:
            if type(item) is not int and not isinstance(item, TensorBase):
                return False
        if len(items) > 1 and len({isinstance(item, TensorBase) for item in items}) > 1:
            return False
    return True


def check(
    kind: str, name: str, run: Any, args: tuple[Any, ...], kwargs: Any, fine: Any, key: Any
) -> Any:
    """Refuses what doesn't fit; what another class makes of it, or NOT_HANDLED.

    Raises:
        TypeError: where no signature takes the arguments.
        ValueError: for an integer of more than 64 bits.
    """
    from ._parse import complaint

    values = (*args, *kwargs.values())
    if any(not isinstance(v, TensorBase) and hasattr(v, "__torch_function__") for v in values):
        return NOT_HANDLED
    bound: list[tuple[Any, Any]] = []
    own = 1 if kind == "method" else 0
    problem = complaint(kind, name, args[own:], kwargs, bound)
    if problem is None:
        if bound and all(_settled(p, v) for p, v in bound):
            lists = [i for i, v in enumerate(args) if isinstance(v, (list, tuple))]
            lists += [k for k, v in kwargs.items() if isinstance(v, (list, tuple))]
            fine[key] = tuple(lists) or None
        return NOT_HANDLED
    handled = HANDLERS.misfits(run, args, kwargs) if HANDLERS.misfits else NOT_HANDLED
    if handled is NOT_HANDLED:
        raise problem
    return handled


def _settled(p: Any, value: Any) -> bool:
    """Whether another value of this type fits the parameter just as well."""
    if isinstance(value, TensorBase):
        return bool(p.type == "Tensor" and not p.is_list)
    if isinstance(value, (list, tuple)):
        return bool(p.is_list and p.type in ("int", "Tensor"))
    return True
