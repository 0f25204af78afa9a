"""`out=`: writing a result into a tensor that the caller gives."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ..._array import types as T
from ..._array.axes import axes_of
from ..._array.shape.as_strided import element_strides
from ..._array.shape.writing import contiguous_strides
from ..._base import dtypes as D, errors
from ..._core import slow
from ..._core.apply import apply_n
from ..._core.inplace import announce_write, count_write
from ..._core.interposers import NOT_HANDLED, WRITE_OUT
from ..._core.mode import CURRENT, ready, replaced
from ..._core.storage import TensorBase
from ..calls.out_dtypes import refusal
from ..shape.resizing import resized
from .return_type_classes import name_outputs
from .tensor_namespace import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._array.annotations import Array
    from ..._base.annotations import Arguments
    from ..._tensor.tensor import Tensor
    from .row import Row

# Operations that read elements in another order than they write: `out` may not be an operand.
_NEVER_IN_PLACE: Final = {"gather", "kthvalue", "masked_select", "take", "cat", "index_select",
                          "stack"}  # fmt: skip

#: Those of them that make `out` as large as the result before they look at what it shares.
_GROWS: Final = frozenset({"cat", "index_select"})

# Operations with a list of results, which return nothing where that is given.
_GIVE_NOTHING: Final = {"unbind_copy", "split_copy", "split_with_sizes_copy"}

#: What some operations are called where they refuse an `out` for its gradient.
_NAMED: Final = {
    **{f"bitwise_{word}": f"aten::bitwise_{word}" for word in ("and", "or", "xor", "not")},
    **{
        name: f"special_{name}"
        for name in ("entr", "erfcx", "i0e", "i1", "i1e", "log_ndtr", "ndtri", "xlog1py", "zeta")
    },
}


def _shown(name: str) -> str:
    """What an operation is called where it refuses an `out` for its gradient."""
    return f"aten::{name}" if name.endswith("_copy") else _NAMED.get(name, name)


#: Functions made of several operations whose results have no gradient.
_ANSWERS: Final = frozenset({"all", "any"})


def apply_out(row: Row, args: Arguments, out: Tensor | Sequence[Tensor], name: str = "") -> Any:
    """Runs a row and writes its result into `out` (a tuple where it has several).

    A function whose part the row is gives its `name`.

    Raises:
        RuntimeError: where an argument or `out` requires grad, or the result's type can't be cast.
        TypeError: where `out` isn't a tensor.
    """
    mode = ready()
    if mode.interposed:
        for interposer in WRITE_OUT:
            handled = interposer.write_out(row, args, out, mode)
            if handled is not NOT_HANDLED:
                return handled
    if (name or row.schema.name) in _TYPED_BY_OUT and isinstance(out, TensorBase):
        if mode.grad and (out.requires_grad or args[0].requires_grad):
            raise RuntimeError(errors.out_requires_grad(_shown(name or row.schema.name)))
        args = _typed(row, args, T.from_raw(out._raw.dtype))
    return run_into(
        name or row.schema.name,
        lambda: apply_n(row.op, args),
        args,
        out,
        bool(row.op.records),
        row.schema.name if name else row.schema.overload,
        row.op.broadcasts,
    )


#: Sums, which are taken in the type of `out`.
_TYPED_BY_OUT: Final = {"sum", "prod", "nansum", "cumsum", "cumprod", "mean"}


def _typed(row: Row, args: list[Any], have: D.dtype) -> list[Any]:
    """The arguments with the type of `out` for a type that isn't given.

    Raises:
        RuntimeError: for another type than that of `out`.
        NotImplementedError: for a sum that leaves nan out, in a type that has none.
    """
    place = next((i for i, p in enumerate(row.schema.params) if p.name == "dtype"), None)
    if place is None:
        return args
    asked = args[place]
    if asked is not None and asked is not have:
        if row.schema.name == "nansum":
            raise RuntimeError(
                "nansum: provided dtype must match dtype of result. Got "
                f"{D.scalar_name(have)} and {D.scalar_name(asked)}."
            )
        raise RuntimeError(
            f"Expected out tensor to have dtype {D.c_name(asked)}, but got {D.c_name(have)} instead"
        )
    if row.schema.name == "mean":
        return args
    if (
        row.schema.name == "nansum"
        and have.category != D.FLOAT
        and T.dtype_of(args[0]).category == D.FLOAT
    ):
        raise NotImplementedError(errors.not_implemented("nansum_cpu", D.scalar_name(have)))
    dims = next((a for p, a in zip(row.schema.params, args) if p.name == "dim"), None)
    if dims is not None:
        axes_of(dims if isinstance(dims, (list, tuple)) else (dims,), args[0]._raw.ndim)
    return [*args[:place], have, *args[place + 1 :]]


def run_into(
    name: str,
    run: Callable[[], Any],
    args: Any,
    out: Any,
    records: bool = True,
    overload: str = "",
    broadcasts: bool = False,
) -> Any:
    """What `run` gives, written into `out`; `args` are looked at for memory they share with it.

    An operation that `records` nothing takes arguments that require grad; one that `broadcasts`
    doesn't resize an `out` that is an operand, too.
    """
    name = name.removeprefix("_")
    targets = list(out) if isinstance(out, (tuple, list)) else [out]
    mode = ready()
    operands = [x for a in args for x in (a if isinstance(a, (list, tuple)) else (a,))]
    for t in targets:
        if not isinstance(t, TensorBase):
            raise TypeError(f"{name}(): argument 'out' must be Tensor, not {errors.type_name(t)}")
        if mode.grad and records and name not in _ANSWERS and t.requires_grad:  # type: ignore[attr-defined]
            raise RuntimeError(errors.out_requires_grad(_shown(name)))
        T.refuse_overlap(t._raw)
        for a in operands:
            if isinstance(a, TensorBase) and (a is not t or name in _NEVER_IN_PLACE):
                T.refuse_shared(t._raw, a._raw, whole=name in _NEVER_IN_PLACE)
    if name in _ANSWERS:
        problem = refusal(name, overload, D.bool_, T.from_raw(targets[0]._raw.dtype), 0)
        if problem is not None:
            raise problem
    elif mode.grad and records:
        for a in operands:
            if isinstance(a, TensorBase) and a.requires_grad:  # type: ignore[attr-defined]
                raise RuntimeError(errors.out_requires_grad(_shown(name)))
    if mode.dual:
        _refuse_tangents(name, [*args, *targets])
    before = CURRENT.get()
    try:
        CURRENT.set(replaced(mode, grad=False))
        results = run()
    except (IndexError, NotImplementedError, RuntimeError) as error:
        if name == "index_select" and out is operands[0] and not out._raw.size:
            _refuse_grown("out of range" in str(error))
        found = earlier(name, overload, operands, targets[0], error, broadcasts)
        if found is None:
            raise
        raise found from None
    finally:
        CURRENT.set(before)
    values = list(results) if isinstance(results, (tuple, list)) else [results]
    if name in _GROWS and not out._raw.size and any(a is out for a in operands):
        _refuse_grown(values[0]._raw.size)
    for i, (t, value) in enumerate(zip(targets, values)):
        problem = refusal(
            name,
            overload,
            T.from_raw(value._raw.dtype),
            T.from_raw(t._raw.dtype),
            i,
            T.from_raw(operands[0]._raw.dtype) if name == "abs" else None,
        )
        if problem is not None:
            raise problem
        if broadcasts and t._raw.shape != value._raw.shape and any(a is t for a in operands):
            raise RuntimeError(errors.output_shape(t._raw.shape, value._raw.shape))
    for t, value in zip(targets, values):
        place(t, value._raw, broadcasts or name == "cat" or name.startswith("linalg_"))
    if name in _GIVE_NOTHING:
        return None
    return out if isinstance(out, TensorBase) else name_outputs(name, targets)


def _refuse_grown(size: int) -> None:
    """Refuses an operand as an empty `out` that gets elements: these are where it is read.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if size:
        raise RuntimeError(errors.SHARED_WITH_WRITTEN)


# Operations that look at the type of `out` before anything else, and where their operands begin.
_TYPES_FIRST: Final = {
    "gather": 0,
    "masked_select": 0,
    "where": 1,
    "dot": 0,
    "vdot": 0,
    "matmul": 0,
}


#: Those whose result has a type of its own.
_COMPARISONS: Final = {"ge", "gt", "le", "lt"}


def earlier(
    name: str,
    overload: str,
    operands: list[Any],
    out: TensorBase,
    error: Exception,
    broadcasts: bool = False,
) -> Exception | None:
    """What PyTorch says of the type of `out` before it comes to `error`; None where it's later."""
    said = str(error)
    if name in ("take", "index_select"):
        late = not said.startswith("Dimension")
    elif name in ("matmul", "mm") and overload != "dot":
        late = said.startswith(("expected m1 and m2", "expected scalar type"))
    else:
        late = isinstance(error, RuntimeError) and name in _TYPES_FIRST
    if not late and ('" not implemented for' not in said or name in _COMPARISONS):
        return None
    found = [a for a in operands[_TYPES_FIRST.get(name, 0) :] if isinstance(a, TensorBase)]
    if not found:
        return None
    have = T.from_raw(found[said.startswith("expected scalar type")]._raw.dtype)
    if name == "where" and len(found) == 2:
        have = table("result_type")(*found)
    elif not late and broadcasts:
        for a in found[1:]:
            have = D.promote_types(have, T.from_raw(a._raw.dtype))
    return refusal(name, overload, have, T.from_raw(out._raw.dtype), 0)


def _refuse_tangents(name: str, values: Sequence[object]) -> None:
    """Refuses `out=` in forward mode.

    Raises:
        NotImplementedError: where an argument or a target has a tangent.
    """
    for a in values:
        items = a if isinstance(a, (list, tuple)) else (a,)
        for t in items:
            if isinstance(t, TensorBase) and slow.TANGENTS.find(t) is not None:
                raise NotImplementedError(
                    f"Trying to use forward AD with {name}_out that does not support it because it "
                    "is an out= function"
                )


def give(name: str, result: TensorBase, out: Tensor | None, laid_out: bool = False) -> Any:
    """A result that has been made, or `out` with it written there (see `place`).

    Raises:
        RuntimeError: where it or `out` requires grad, or can't be cast.
    """
    if out is None:
        return result
    if ready().grad and (result._requires_grad or out.requires_grad):
        raise RuntimeError(errors.out_requires_grad(name))
    problem = refusal(name, "", T.from_raw(result._raw.dtype), T.from_raw(out._raw.dtype), 0)
    if problem is not None:
        raise problem
    place(out, result._raw, laid_out)
    return out


def place(t: TensorBase, array: Array, laid_out: bool = False) -> None:
    """Writes `array` into `t`, resized where its shape differs (with PyTorch's warning).

    `laid_out`: it is laid out like the array then, where that is dense, and not in C order.
    """
    if t._raw.shape != array.shape:
        if t._raw.size:
            warnings.warn(errors.resized_out(t._raw.shape, array.shape), UserWarning, stacklevel=4)
        if type(t._raw) is not T.ndarray or not t._plain:
            t._raw = T.empty(array.shape, t._raw.dtype)
        else:
            steps = contiguous_strides(array.shape)
            if laid_out and T.is_dense(array):
                steps = element_strides(array)
            t._raw = resized(t, array.shape, steps)
    mode = ready()
    if mode.saved_hooks:
        announce_write(t, mode)
    T.write_into(t._raw, array)
    count_write(t, mode)
