"""`out=`: writing a result into a tensor that the caller gives."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Final

from .. import errors
from .._array import types as T
from .._array.writing import contiguous_strides
from .._core import slow
from .._core.apply import apply_n
from .._core.inplace import announce_write, count_write
from .._core.mode import CURRENT, ready, replaced
from .._core.storage import TensorBase
from ._out_types import refusal
from ._resizing import resized
from ._return_types import given_back

# Operations that read elements in another order than they write: `out` may not be an operand.
_NEVER_IN_PLACE: Final = {"gather", "kthvalue", "masked_select", "take", "cat", "index_select"}

# Operations with a list of results, which return nothing where that is given.
_GIVE_NOTHING: Final = {"unbind_copy", "split_copy", "split_with_sizes_copy"}

#: Functions made of several operations whose results have no gradient.
_ANSWERS: Final = frozenset({"all", "any"})


def apply_out(row: Any, args: list[Any], out: Any) -> Any:
    """Runs a row and writes its result into `out` (a tuple where it has several).

    Raises:
        RuntimeError: where an argument or `out` requires grad, or the result's type can't be cast.
        TypeError: where `out` isn't a tensor.
    """
    mode = ready()
    if mode.dispatch:
        return slow.HANDLERS.watch_out(row, args, out, mode)
    if mode.layers and any(isinstance(a, TensorBase) and a._layered for a in (*args, out)):
        raise RuntimeError(
            f"Batching rule not implemented for aten::{row.schema.name.lstrip('_')}.out; the "
            "fallback path doesn't work on out= or view ops."
        )
    return run_into(
        row.schema.name,
        lambda: apply_n(row.op, args),
        args,
        out,
        bool(row.op.records),
        row.schema.overload,
    )


def run_into(
    name: str,
    run: Callable[[], Any],
    args: Any,
    out: Any,
    records: bool = True,
    overload: str = "",
) -> Any:
    """What `run` gives, written into `out`; `args` are looked at for memory they share with it.

    An operation that `records` nothing takes arguments that require grad.
    """
    name = name.removeprefix("_")
    targets = list(out) if isinstance(out, (tuple, list)) else [out]
    mode = ready()
    operands = [x for a in args for x in (a if isinstance(a, (list, tuple)) else (a,))]
    for t in targets:
        if not isinstance(t, TensorBase):
            raise TypeError(f"{name}(): argument 'out' must be Tensor, not {errors.type_name(t)}")
        if mode.grad and t.requires_grad:  # type: ignore[attr-defined]
            raise RuntimeError(errors.out_requires_grad(name))
        T.refuse_overlap(t._raw)
        for a in operands:
            if isinstance(a, TensorBase) and (a is not t or name in _NEVER_IN_PLACE):
                T.refuse_shared(t._raw, a._raw, whole=name in _NEVER_IN_PLACE)
    if mode.grad and records and name not in _ANSWERS:
        for a in operands:
            if isinstance(a, TensorBase) and a.requires_grad:  # type: ignore[attr-defined]
                raise RuntimeError(errors.out_requires_grad(name))
    if mode.dual:
        _refuse_tangents(name, [*args, *targets])
    before = CURRENT.get()
    try:
        CURRENT.set(replaced(mode, grad=False))
        results = run()
    finally:
        CURRENT.set(before)
    values = list(results) if isinstance(results, (tuple, list)) else [results]
    for i, (t, value) in enumerate(zip(targets, values)):
        problem = refusal(name, overload, T.from_raw(value._raw.dtype), T.from_raw(t._raw.dtype), i)
        if problem is not None:
            raise problem
    for t, value in zip(targets, values):
        place(t, value._raw)
    if name in _GIVE_NOTHING:
        return None
    return out if isinstance(out, TensorBase) else given_back(name, targets)


def _refuse_tangents(name: str, values: list[Any]) -> None:
    """Refuses `out=` in forward mode.

    Raises:
        NotImplementedError: where an argument or a target has a tangent.
    """
    for a in values:
        items = a if isinstance(a, (list, tuple)) else (a,)
        for t in items:
            if isinstance(t, TensorBase) and slow.HANDLERS.tangent_of(t) is not None:
                raise NotImplementedError(
                    f"Trying to use forward AD with {name}_out that does not support it because it "
                    "is an out= function"
                )


def given(name: str, result: Any, out: Any) -> Any:
    """A result that has been made, or `out` with it written there.

    Raises:
        RuntimeError: where it or `out` requires grad, or can't be cast.
    """
    if out is None:
        return result
    if ready().grad and (result.requires_grad or out.requires_grad):
        raise RuntimeError(errors.out_requires_grad(name))
    problem = refusal(name, "", T.from_raw(result._raw.dtype), T.from_raw(out._raw.dtype), 0)
    if problem is not None:
        raise problem
    place(out, result._raw)
    return out


def place(t: TensorBase, array: Any) -> None:
    """Writes `array` into `t`, resized where its shape differs (with PyTorch's warning)."""
    if t._raw.shape != array.shape:
        if t._raw.size:
            warnings.warn(errors.resized_out(t._raw.shape, array.shape), UserWarning, stacklevel=4)
        if type(t._raw) is not T.ndarray or not t._plain:
            t._raw = T.empty(array.shape, t._raw.dtype)
        else:
            t._raw = resized(t, array.shape, contiguous_strides(array.shape))
    mode = ready()
    if mode.saved_hooks:
        announce_write(t, mode)
    T.write_into(t._raw, array)
    count_write(t, mode)
