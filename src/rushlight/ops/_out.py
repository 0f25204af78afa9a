"""`out=`: writing a result into a tensor that the caller gives."""

from __future__ import annotations

import warnings
from typing import Any

from .. import dtypes as D
from .. import errors
from .._array import types as T
from .._core.apply import apply_n
from .._core.mode import CURRENT, ready, replaced
from .._core.storage import TensorBase, bump
from ._return_types import given_back


def apply_out(row: Any, args: list[Any], out: Any) -> Any:
    """Runs a row and writes its result into `out` (a tuple where it has several).

    Raises:
        RuntimeError: where an argument or `out` requires grad, or the result's type can't be cast.
        TypeError: where `out` isn't a tensor.
    """
    targets = list(out) if isinstance(out, (tuple, list)) else [out]
    mode = ready()
    for t in targets:
        if not isinstance(t, TensorBase):
            raise TypeError(
                f"{row.schema.name}(): argument 'out' must be Tensor, not {type(t).__name__}"
            )
        if mode.grad and t._requires_grad:
            raise RuntimeError(errors.out_requires_grad(row.schema.name))
        for a in args:
            if isinstance(a, TensorBase) and a is not t:
                T.refuse_shared(t._raw, a._raw)
    if mode.grad:
        for a in args:
            if isinstance(a, TensorBase) and a._requires_grad:
                raise RuntimeError(errors.out_requires_grad(row.schema.name))
    token = CURRENT.set(replaced(mode, grad=False))
    try:
        results = apply_n(row.op, args)
    finally:
        CURRENT.reset(token)
    values = list(results) if isinstance(results, (tuple, list)) else [results]
    for t, value in zip(targets, values):
        have, want = T.from_raw(value._raw.dtype), T.from_raw(t._raw.dtype)
        if not D.can_cast(have, want):
            raise RuntimeError(errors.cannot_cast(D.scalar_name(have), D.scalar_name(want)))
    for t, value in zip(targets, values):
        place(t, value._raw)
    return out if isinstance(out, TensorBase) else given_back(row.schema.name, targets)


def place(t: TensorBase, array: Any) -> None:
    """Writes `array` into `t`, resized where its shape differs (with PyTorch's warning)."""
    if t._raw.shape != array.shape:
        if t._raw.size:
            warnings.warn(errors.resized_out(t._raw.shape, array.shape), UserWarning, stacklevel=4)
        t._raw = T.empty(array.shape, t._raw.dtype)
    T.write_into(t._raw, array)
    bump(t)
