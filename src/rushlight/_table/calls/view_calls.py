"""Public functions of view operations: the usual calls go straight to the core.

A view costs little more than making a tensor, so looking a call up in the plans of `_dispatch.py`
would be half of its time. Here the arguments of the usual positional forms are checked by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._core.apply import apply_view
from ..._core.op import Op
from ..._core.storage import TensorBase
from ..._native.ufunc_loops import sizes_of
from ..rows.row import Row
from .entries import enter_view
from .long_integers import refuse_misuse

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable


def view_function(row: Row, others: list[Row], general: AnyCallable, packs: bool) -> AnyCallable:
    """The function for a view row: `general` takes all but the usual calls, also of `others`.

    It is `general` itself where there are no usual ones. Methods take sizes one by one (`packs`),
    functions as one sequence.
    """
    params = [p for p in row.schema.params[1:] if not p.kw_only]
    rest = tuple(p.default for p in row.schema.params[1:] if p.kw_only)
    kinds = [(p.type, p.is_list) for p in params]
    if not kinds and not rest:
        for other in others:
            if [(p.type, p.is_list) for p in other.schema.params[1:]] == [("int", False)]:
                return _bare_or_one(row.op, other.op, general)
        return _bare(row.op, general)
    if kinds == [("int", True)]:
        return _take_sizes(row.op, general, rest, packs)
    if kinds == [("int", False)] and not rest:
        return _one(row.op, general)
    if kinds == [("int", False), ("int", False)] and not rest:
        return _two(row.op, general)
    return general


def _bare(op: Op, general: AnyCallable) -> AnyCallable:
    def function(*args: object, **kwargs: object) -> Any:
        if len(args) == 1 and not kwargs and isinstance(args[0], TensorBase):
            return apply_view(op, args[0], ())
        return general(*args, **kwargs)

    return enter_view(function, op)


def _bare_or_one(op: Op, one: Op, general: AnyCallable) -> AnyCallable:
    def function(*args: object, **kwargs: object) -> Any:
        if not kwargs and args and isinstance(args[0], TensorBase):
            if len(args) == 1:
                return apply_view(op, args[0], ())
            if len(args) == 2 and type(args[1]) is int:
                return apply_view(one, args[0], args[1:])
        return general(*args, **kwargs)

    return enter_view(function, op, one)


def _one(op: Op, general: AnyCallable) -> AnyCallable:
    def function(*args: object, **kwargs: object) -> Any:
        if (
            len(args) == 2
            and not kwargs
            and type(args[1]) is int
            and isinstance(args[0], TensorBase)
        ):
            return apply_view(op, args[0], args[1:])
        return general(*args, **kwargs)

    return enter_view(function, None, op)


def _two(op: Op, general: AnyCallable) -> AnyCallable:
    def function(*args: object, **kwargs: object) -> Any:
        if len(args) == 3 and not kwargs:
            a, i, j = args
            if type(i) is int and type(j) is int and isinstance(a, TensorBase):
                try:
                    return apply_view(op, a, (i, j))
                except IndexError:
                    return general(*args)  # says why
        return general(*args, **kwargs)

    return enter_view(function, None, None, op)


def _take_sizes(op: Op, general: AnyCallable, rest: tuple[object, ...], packs: bool) -> AnyCallable:
    def function(*args: object, **kwargs: object) -> Any:
        if kwargs or len(args) < 2 or not isinstance(args[0], TensorBase):
            return general(*args, **kwargs)
        if not packs and type(args[1]) is int:
            return general(*args, **kwargs)
        size = sizes_of(args[1:])
        if size is None:
            return general(*args, **kwargs)
        try:
            return apply_view(op, args[0], (size, *rest) if rest else (size,))
        except (RuntimeError, IndexError, ValueError):
            if packs:
                refuse_misuse("method", op.name, args[1:])
            else:
                refuse_misuse("torch", op.name, args)
            raise

    return function
