"""`out=`: writing a result into a tensor that the caller gives."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._array.axes import axes_of
from ..._array.memory.meta import MetaArray, meta_array, with_strides
from ..._array.memory.places import element_strides
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core import slow
from ..._core.apply import apply_n
from ..._core.inplace import announce_write, count_write, loses_imaginary_part
from ..._core.interposers import NOT_HANDLED, WRITE_OUT
from ..._core.mode import CURRENT, Mode, derive, ready
from ..._core.storage import TensorBase
from .out_rules import AS_MOST, OutRules, Typed
from .resizing import resize_array
from .return_type_classes import name_outputs
from .tensor_namespace import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._array.annotations import Array
    from ..._base.annotations import Arguments
    from ..._tensor.tensor import Tensor
    from .row import Row

dtypes = later("_table.rows.out_dtypes")


def _show(name: str, rules: OutRules) -> str:
    """What an operation is called where it refuses an `out` for its gradient."""
    return rules.named or (f"aten::{name}" if name.endswith("_copy") else name)


def as_given(run: Callable[[], Any], mode: Mode) -> Any:
    """What `run` does without autocast, which has no policy for what writes into `out`."""
    try:
        CURRENT.set(derive(mode, autocast=None))
        return run()
    finally:
        CURRENT.set(mode)


def apply_out(
    row: Row,
    args: Arguments,
    out: Tensor | Sequence[Tensor],
    name: str = "",
    rules: OutRules | None = None,
) -> Any:
    """Runs a row and writes its result into `out` (a tuple where it has several).

    A function whose part the row is gives its `name` and its `rules`.

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
    if mode.autocast is not None:
        return as_given(lambda: apply_out(row, args, out, name, rules), mode)
    found = row.out_rules if rules is None else rules
    shown = name or row.schema.name
    if found.typed is not None and isinstance(out, TensorBase):
        _refuse_gradients(shown, args, [out], mode, found)
        args = _convert_arguments(row, args, T.from_raw(out._raw.dtype), found.typed)
    written = run_into(
        shown,
        lambda: apply_n(row.op, args),
        args,
        out,
        bool(row.op.records),
        row.schema.name if name else row.schema.overload,
        row.op.broadcasts,
        found,
        row.op.constants,
    )
    if (
        row.op.broadcasts
        and len(args) == 2
        and isinstance(out, TensorBase)
        and loses_imaginary_part(map(slow.to_raw, args), out._raw)
    ):
        warnings.warn(errors.COMPLEX_TO_REAL, UserWarning, stacklevel=4)
    return written


def _convert_arguments(row: Row, args: Arguments, have: D.dtype, typed: Typed) -> list[Any]:
    """The arguments with the type to compute in.

    Raises:
        IndexError: for dimensions that aren't there.
        RuntimeError, NotImplementedError: for a type that doesn't fit that of `out`.
    """
    place = next((i for i, p in enumerate(row.schema.params) if p.name == "dtype"), None)
    if place is None:
        return args
    dims = next((a for p, a in zip(row.schema.params, args) if p.name == "dim"), None)
    if dims is not None:
        axes_of(dims if isinstance(dims, (list, tuple)) else (dims,), args[0]._raw.ndim)
    wanted = typed(args[place], have, T.dtype_of(args[0]))
    return [*args[:place], wanted, *args[place + 1 :]]


def _flat(args: Any) -> list[Any]:
    """The arguments, with the items of those that are lists."""
    return [x for a in args for x in (a if isinstance(a, (list, tuple)) else (a,))]


def _refuse_gradients(
    name: str, operands: Sequence[object], targets: list[Any], mode: Mode, rules: OutRules
) -> None:
    """Refuses an `out` and operands that require grad, while that is recorded.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if mode.grad and any(
        isinstance(x, TensorBase) and x.requires_grad  # type: ignore[attr-defined]
        for x in (*targets, *operands)
    ):
        raise RuntimeError(errors.out_requires_grad(_show(name, rules)))


def run_into(
    name: str,
    run: Callable[[], Any],
    args: Any,
    out: Any,
    records: bool = True,
    overload: str = "",
    broadcasts: bool = False,
    rules: OutRules = AS_MOST,
    constants: Sequence[int] = (),
) -> Any:
    """What `run` gives, written into `out`; `args` are looked at for memory they share with it.

    An operation that `records` nothing takes arguments that require grad, as any does at the
    places of `constants`; one that `broadcasts` doesn't resize an `out` that is an operand, too.
    """
    name = name.removeprefix("_")
    targets = list(out) if isinstance(out, (tuple, list)) else [out]
    mode = ready()
    operands = _flat(args)
    for t in targets:
        refuse_other(name, t)
        if (records or rules.named) and not rules.types_before_gradients:
            _refuse_gradients(name, [t], [], mode, rules)
        T.refuse_overlap(t._raw)
        for a in operands:
            if isinstance(a, TensorBase) and (a is not t or rules.apart):
                T.refuse_shared(t._raw, a._raw, whole=rules.apart)
    recorded = [a for i, a in enumerate(args) if records and i not in constants]
    if not rules.types_before_gradients:
        _refuse_gradients(name, _flat(recorded), [], mode, rules)
    if mode.dual:
        _refuse_tangents(name, [*args, *targets])
    before = CURRENT.get()
    try:
        CURRENT.set(derive(mode, grad=False))
        results = run()
    except (IndexError, NotImplementedError, RuntimeError) as error:
        if rules.grows and out is operands[0] and not out._raw.size:
            _refuse_grown("out of range" in str(error))
        found = earlier(name, overload, operands, targets[0], error, broadcasts, rules)
        if found is None:
            raise
        raise found from None
    finally:
        CURRENT.set(before)
    values = list(results) if isinstance(results, (tuple, list)) else [results]
    if values[0] is results and targets[0] is not out:
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {errors.type_name(out)}")
    if rules.grows and not out._raw.size and any(a is out for a in operands):
        _refuse_grown(values[0]._raw.size)
    if rules.silent and len(values) != len(targets):
        raise RuntimeError(
            f"{rules.silent} expected an out= argument of size {len(values)}, got size "
            f"{len(targets)}"
        )
    for i, (t, value) in enumerate(zip(targets, values)):
        _refuse_other_device(t, value)
        problem = dtypes.refusal(
            name,
            overload,
            T.from_raw(value._raw.dtype),
            T.from_raw(t._raw.dtype),
            i,
            T.from_raw(operands[0]._raw.dtype) if rules.of_operand else None,
        )
        if problem is not None:
            if rules.in_python and type(t._raw) is MetaArray:
                have, want = T.from_raw(value._raw.dtype), T.from_raw(t._raw.dtype)
                raise RuntimeError(
                    f"Expected out tensor to have dtype {have} but got {want} instead"
                )
            raise problem
        if broadcasts and t._raw.shape != value._raw.shape and any(a is t for a in operands):
            raise RuntimeError(errors.output_shape(t._raw.shape, value._raw.shape))
    if rules.types_before_gradients:
        _refuse_gradients(name, _flat(recorded), targets, mode, rules)
    for t, value in zip(targets, values):
        laid_out = broadcasts or rules.laid_out or name.startswith("linalg_")
        place(t, value._raw, laid_out, rules.quiet)
    if rules.silent:
        return None
    answers = [_of_class(t, type(value)) for t, value in zip(targets, values)]
    return answers[0] if isinstance(out, TensorBase) else name_outputs(name, answers)


def refuse_other(name: str, out: object) -> None:
    """Refuses an `out` that is no tensor.

    Raises:
        TypeError: in PyTorch's words.
    """
    if out is not None and not isinstance(out, TensorBase):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {errors.type_name(out)}")


def _of_class(t: Tensor, kind: type[Tensor]) -> Tensor:
    """A tensor that was given for a result, or a view of it in the class that the result has."""
    if isinstance(t, kind) or not kind._overrides:
        return t
    return t.as_subclass(kind)


def _refuse_other_device(t: TensorBase, value: TensorBase) -> None:
    """Refuses an `out` with data for a result without, and the other way round.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    wanted, found = (type(x._raw) is MetaArray for x in (t, value))
    if wanted is not found:
        source, target = ("meta", "cpu") if found else ("cpu", "meta")
        raise RuntimeError(
            f"Attempting to copy from device {source} to device {target}, but cross-device copies "
            "are not allowed!"
        )


def _refuse_grown(size: int) -> None:
    """Refuses an operand as an empty `out` that gets elements: these are where it is read.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if size:
        raise RuntimeError(errors.SHARED_WITH_WRITTEN)


def earlier(
    name: str,
    overload: str,
    operands: Arguments,
    out: TensorBase,
    error: Exception,
    broadcasts: bool = False,
    rules: OutRules = AS_MOST,
) -> Exception | None:
    """What PyTorch says of the type of `out` before it comes to `error`; None where it's later."""
    said = str(error)
    late = rules.types_first is not None and rules.types_first(error)
    if not late and '" not implemented for' not in said:
        return None
    found = [a for a in operands[rules.operands_from :] if isinstance(a, TensorBase)]
    if rules.result is not None:
        have = rules.result
    elif not found:
        return None
    elif rules.operands_from and len(found) == 2:
        have = table("result_type")(*found)
    else:
        have = T.from_raw(found[said.startswith("expected scalar type")]._raw.dtype)
        if not late and broadcasts:
            for a in found[1:]:
                have = D.promote_types(have, T.from_raw(a._raw.dtype))
            if any(isinstance(a, complex) for a in operands):
                have = D.promote_types(have, D.complex64)
    return dtypes.refusal(name, overload, have, T.from_raw(out._raw.dtype), 0)


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


def give(name: str, result: TensorBase, out: Tensor | None, laid_out: bool = False,
         named: str = "",
    types_first: bool = False) -> Any:  # fmt: skip
    """A result that has been made, or `out` with it written there (see `place`).

    Gradients are refused by what the operation is `named` then, and `types_first` before them.

    Raises:
        RuntimeError: where it or `out` requires grad, or can't be cast.
    """
    if out is None:
        return result
    if types_first:
        _refuse_type(name, result, out)
    if ready().grad and (result._requires_grad or out.requires_grad):
        raise RuntimeError(errors.out_requires_grad(named or name))
    _refuse_other_device(out, result)
    _refuse_type(name, result, out)
    place(out, result._raw, laid_out)
    return out


def give_copied(name: str, result: Tensor, out: Tensor | None) -> Any:
    """A result that has been made, or `out` with a copy of it, which has its history.

    Raises:
        RuntimeError: where it can't be cast, or `out` can't be written.
    """
    if out is None:
        return result
    _refuse_other_device(out, result)
    _refuse_type(name, result, out)
    fit(out, result._raw)
    return out.copy_(result)


def _refuse_type(name: str, result: TensorBase, out: TensorBase) -> None:
    problem = dtypes.refusal(name, "", T.from_raw(result._raw.dtype), T.from_raw(out._raw.dtype), 0)
    if problem is not None:
        raise problem


def place(t: TensorBase, array: Array, laid_out: bool = False, quiet: bool = False) -> None:
    """Writes `array` into `t`, which is made to `fit` it."""
    fit(t, array, laid_out, quiet)
    mode = ready()
    if mode.saved_hooks:
        announce_write(t, mode)
    T.write_into(t._raw, array)
    count_write(t, mode)


def fit(t: TensorBase, array: Array, laid_out: bool = False, quiet: bool = False) -> None:
    """Resizes `t` where its shape differs from that of `array`, with a warning unless `quiet`.

    `laid_out`: it is laid out like the array then, where that is dense, and not in C order.
    """
    if t._raw.shape != array.shape:
        if t._raw.size and not quiet:
            warnings.warn(errors.resized_out(t._raw.shape, array.shape), UserWarning, stacklevel=4)
        if type(t._raw) is MetaArray:
            like = array if laid_out else meta_array(array.shape, array.dtype)
            t._raw = with_strides(array.shape, element_strides(like), t._raw.dtype)
        elif type(t._raw) is not T.ndarray or not t._plain:
            t._raw = T.empty(array.shape, t._raw.dtype)
        else:
            steps = T.contiguous_strides(array.shape)
            if laid_out and T.is_dense(array):
                steps = element_strides(array)
            t._raw = resize_array(t, array.shape, steps)
