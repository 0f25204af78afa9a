"""The dimension that `size` and `stride` are asked for, which are methods of Python here."""

from __future__ import annotations

from .argument_parser import complaint


def dimension(name: str, value: object) -> int:
    """The only argument of a method, which isn't an int, as one.

    Raises:
        TypeError: where it can't stand for one.
    """
    problem = complaint("method", name, (value,), {})
    if problem is not None:
        raise problem
    return int(value)  # type: ignore[call-overload]


def read_axis(name: str, dim: int | None, axis: object) -> int:
    """The dimension that is given by NumPy's name for it.

    Raises:
        TypeError: where it is given by both names, or can't stand for one.
    """
    if dim is not None:
        raise TypeError(f"{name}() got an unexpected keyword argument 'axis'")
    if type(axis) is int:
        return axis
    problem = complaint("method", name, (), {"dim": axis})
    if problem is not None:
        raise problem
    return int(axis)  # type: ignore[call-overload]
