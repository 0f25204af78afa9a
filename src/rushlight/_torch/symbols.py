"""`torch.SymInt` and its kin: sizes that are not known yet. Programs ask for them; none is made."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from .._array.number import NUMBER_KINDS
from .._base.errors import class_text

__all__ = [
    "SymBool", "SymFloat", "SymInt", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min",
    "sym_not", "sym_sqrt", "sym_sum",
]  # fmt: skip


class SymInt:
    """A whole number that is not known yet. There is none: every size is a plain `int`.

    Example:
        >>> isinstance(3, torch.SymInt)
        False
    """

    __module__ = "torch"


class SymFloat:
    """A number that is not known yet. There is none.

    Example:
        >>> isinstance(3.0, torch.SymFloat)
        False
    """

    __module__ = "torch"


class SymBool:
    """A truth that is not known yet. There is none.

    Example:
        >>> isinstance(True, torch.SymBool)
        False
    """

    __module__ = "torch"


def sym_not(a: bool) -> bool:
    """`not a`.

    Parameters:
        a: a truth.
    Returns: bool.
    Raises: nothing.
    Example:
        >>> torch.sym_not(True)
        False
    """
    return not a


def sym_float(a: Any) -> float:
    """`a` as a float.

    Parameters:
        a: a number.
    Returns: float.
    Raises: ValueError: for text that is no number.
    Example:
        >>> torch.sym_float(3)
        3.0
    """
    return float(a)


def sym_int(a: Any) -> int:
    """`a` as an int: what is behind the point goes.

    Parameters:
        a: a number.
    Returns: int.
    Raises: ValueError: for text that is no number.
    Example:
        >>> torch.sym_int(-2.7)
        -2
    """
    return int(a)


def _check_number(value: object) -> None:
    if not isinstance(value, NUMBER_KINDS):
        kinds = ", ".join(repr(kind) for kind in NUMBER_KINDS)
        raise AssertionError(f"expected ({kinds}), got {class_text(value)}")


def sym_max(a: Any, b: Any) -> float:
    """The larger of the two; a float where one of them is.

    Parameters:
        a, b: numbers.
    Returns: int or float.
    Raises: AssertionError: for anything but numbers.
    Example:
        >>> torch.sym_max(3, 2.0)
        3.0
    """
    _check_number(a)
    _check_number(b)
    found = max(a, b)
    return float(found) if isinstance(a, float) or isinstance(b, float) else found


def sym_min(a: Any, b: Any) -> float:
    """The smaller of the two; a float where one of them is.

    Parameters:
        a, b: numbers.
    Returns: int or float.
    Raises: AssertionError: for anything but numbers.
    Example:
        >>> torch.sym_min(3, 2)
        2
    """
    _check_number(a)
    _check_number(b)
    found = min(a, b)
    return float(found) if isinstance(a, float) or isinstance(b, float) else found


def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """`t` where `b` is true, else `f`.

    Raises:
        AssertionError: where `b` is no bool, or the others have different types.

    Parameters:
        b: the truth.
        t: the value where it is true.
        f: the other one, of the same type.
    Returns: one of the two.
    Example:
        >>> torch.sym_ite(True, 1, 2)
        1
    """
    if not isinstance(b, bool) or type(t) is not type(f):
        raise AssertionError("sym_ite takes a bool and two values of one type")
    return t if b else f


def sym_sqrt(a: Any) -> Any:
    """The square root.

    Parameters:
        a: a number that isn't negative.
    Returns: float.
    Raises: ValueError: for a negative number.
    Example:
        >>> torch.sym_sqrt(9)
        3.0
    """
    return math.sqrt(a)


def sym_sum(args: Iterable[Any]) -> int:
    """The sum.

    Parameters:
        args: the numbers.
    Returns: int or float.
    Raises: TypeError: for anything but numbers.
    Example:
        >>> torch.sym_sum([1, 2, 3])
        6
    """
    # PyTorch adds the numbers of a list or tuple; all else counts as one number.
    return sum(args) if isinstance(args, list | tuple) else 0 + args  # type: ignore[operator]
