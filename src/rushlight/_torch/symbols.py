"""`torch.SymInt` and its kin: sizes that are not known yet. Programs ask for them; none is made."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

__all__ = [
    "SymBool", "SymFloat", "SymInt", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min",
    "sym_not", "sym_sqrt", "sym_sum",
]  # fmt: skip


class SymInt:
    """A whole number that is not known yet. There is none: every size is a plain `int`."""

    __module__ = "torch"


class SymFloat:
    """A number that is not known yet. There is none."""

    __module__ = "torch"


class SymBool:
    """A truth that is not known yet. There is none."""

    __module__ = "torch"


def sym_not(a: bool) -> bool:
    """`not a`."""
    return not a


def sym_float(a: Any) -> float:
    """`a` as a float."""
    return float(a)


def sym_int(a: Any) -> int:
    """`a` as an int: what is behind the point goes."""
    return int(a)


def sym_max(a: Any, b: Any) -> float:
    """The larger of the two; a float where one of them is."""
    found = max(a, b)
    return float(found) if isinstance(a, float) or isinstance(b, float) else found


def sym_min(a: Any, b: Any) -> float:
    """The smaller of the two; a float where one of them is."""
    found = min(a, b)
    return float(found) if isinstance(a, float) or isinstance(b, float) else found


def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """`t` where `b` is true, else `f`.

    Raises:
        AssertionError: where `b` is no bool, or the others have different types.
    """
    if not isinstance(b, bool) or type(t) is not type(f):
        raise AssertionError("sym_ite takes a bool and two values of one type")
    return t if b else f


def sym_sqrt(a: Any) -> Any:
    """The square root."""
    return math.sqrt(a)


def sym_sum(args: Iterable[Any]) -> int:
    """The sum."""
    return sum(args)
