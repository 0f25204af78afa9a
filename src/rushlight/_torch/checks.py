"""Conditions that programs state, and the errors where they don't hold: `torch._check` and kin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._array import types as T
from .._tensor.public_functions import namespace

__all__ = [
    "_debug_has_internal_overlap", "_efficientzerotensor",
    "_check", "_check_index", "_check_is_size", "_check_not_implemented", "_check_tensor_all",
    "_check_tensor_all_with", "_check_type", "_check_value", "_check_with",
]  # fmt: skip

_f: Any = namespace("").module("the functions of torch")

Message = Callable[[], object] | None


def _check_with(error_type: type[Exception], cond: bool, message: Message = None) -> None:
    """Raises `error_type` unless `cond` is true; `message` makes the text.

    Raises:
        TypeError: where `cond` is no bool, or `message` can't be called.
    """
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is None:
        raise error_type(
            "Expected cond to be True, but got False. (Could this error message be improved? If "
            "so, please report an enhancement request to PyTorch.)"
        )
    if not callable(message):
        raise TypeError("message must be a callable")
    raise error_type(str(message()))


def _check(cond: Any, message: Message = None) -> None:
    """Raises RuntimeError unless `cond` is true."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond: bool, message: Message = None) -> None:
    """Raises IndexError unless `cond` is true."""
    _check_with(IndexError, cond, message)


def _check_value(cond: Any, message: Message = None) -> None:
    """Raises ValueError unless `cond` is true."""
    _check_with(ValueError, cond, message)


def _check_type(cond: bool, message: Message = None) -> None:
    """Raises TypeError unless `cond` is true."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: bool, message: Message = None) -> None:
    """Raises NotImplementedError unless `cond` is true."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: int, message: Message = None, *, max: int | None = None) -> None:
    """Raises RuntimeError unless `i` is a size: not negative, and at most `max`."""
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_tensor_all_with(error_type: type[Exception], cond: Any, message: Message = None) -> None:
    """Raises `error_type` unless all elements of a bool tensor are true.

    Raises:
        TypeError: where `cond` is no tensor of bools.
    """
    if not hasattr(cond, "_raw"):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if str(cond.dtype) != "torch.bool":
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error_type, bool(cond.all().item()), message)


def _check_tensor_all(cond: Any, message: Message = None) -> None:
    """Raises RuntimeError unless all elements of a bool tensor are true."""
    _check_tensor_all_with(RuntimeError, cond, message)


def _debug_has_internal_overlap(input: Any) -> int:
    """Whether elements share memory: 0 no, 1 yes, 2 where that would take a long look."""
    if not input.numel() or T.is_dense(input._raw):
        return 0
    steps = zip(input.shape, input.stride(), strict=True)
    return 1 if any(step == 0 and count > 1 for count, step in steps) else 2


def _efficientzerotensor(*size: Any, **options: Any) -> Any:
    """Zeros. PyTorch keeps none in memory before one is written."""
    return _f.zeros(*size, **options)
