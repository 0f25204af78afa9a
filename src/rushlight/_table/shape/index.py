"""Indexing with brackets: reading, writing, and the two operations behind advanced indices.

Note [What an index becomes]
Integers, slices, None and `...` are views, taken one after the other; tensors, masks, lists and
bools are collected and make one `index` (or `index_put_`) of the view that the others have left.
Where nothing is recorded, a chain of views is taken in one step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..._array import types as T
from ..._array.axes import END
from ..._array.memory.example import Example
from ..._array.number import lone
from ..._base import errors
from ..._base.lazy import later
from ..._core.apply import apply_n, apply_view
from ..._core.inplace import apply_inplace, check_writable
from ..._core.interposers import NOT_HANDLED, call_whole
from ..._core.mode import ALERTED, current, is_interposed
from ..._core.slow import live_mask, read_by_python, record
from ..._core.storage import TensorBase, bump, new_tensor
from ..._native.ufunc_loops import basic_key
from ..calls.dtype_checks import is_mask
from ..rows.composite import METHODS, asks, composite
from ..rows.expanded_writes import warn_as
from ..rows.row import linear
from ..rows.tensor_namespace import table
from .copy import copy_into, fill_tensor_row, records
from .index_items import _MOST, _OVERFLOW, _bounds, _items, _plain, refuse_place
from .scatter import index_select, masked_select
from .shape import alias, expand, unsqueeze, view
from .slices import select, slice_

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from ..._array.annotations import Array, RawType
    from ..._base.annotations import Arguments, Positional, Scalar, TensorLike
    from ..._tensor.tensor import Tensor

W = later("_array.shape.writing")
views = later("_array.shape.views")
raw = later("_array.shape.indexing")

index = linear(
    "index.Tensor(Tensor self, Indices indices) -> Tensor",
    raw.index,
    self=lambda xp, g, self_shape, indices: xp.index_backward(g, self_shape, indices),
    holomorphic=False,
    namespace="private",
    out=False,
    shaped_by_values=lambda args: any(map(is_mask, args[1])),
    refuses_values="any",
    lowering="index",
    samples=lambda mk: [(mk(5, 3), (i,)) for i in (mk(4, high=5, integer=True), mk(5, dtype=bool))],
    doc="The elements at index tensors, one per dimension (None: all), as a copy.",
    narrow="all",
    beside_data="any",
)
index_backward = linear(
    "index_backward(Tensor grad, int[] shape, Indices indices) -> Tensor",
    raw.index_backward,
    grad=lambda xp, g, indices: xp.index(g, indices),
    node="IndexPutImplBackward0",
    holomorphic=False,
    namespace="private",
    out=False,
    refuses_values="any",
    lowering="index_backward",
    samples=lambda mk: [(mk(4, 3), (5, 3), (mk(4, low=0, high=5, integer=True),))],
    doc="A gradient added at index tensors into zeros.",
    narrow="all",
    beside_data="any",
)


def _zero_at(
    xp: ModuleType, g: TensorLike, indices: tuple[TensorLike, ...], accumulate: bool
) -> TensorLike:
    """The gradient of what `index_put` wrote into: nothing comes back from overwritten places."""
    if accumulate:
        return g
    return xp.index_put(g, indices, xp.zeros((), g.dtype), False)


def _fit(
    xp: ModuleType, g: TensorLike, indices: tuple[TensorLike, ...], values_shape: tuple[int, ...]
) -> TensorLike:
    """The gradient of the values that `index_put` wrote: summed to their shape."""
    return xp.sum_to(xp.index(g, indices), values_shape)


_of_places = warn_as("index_put", 976, "tensor[indices] = tensor")
_of_mask = warn_as("masked_fill", 2450)


def _list_warnings(args: Arguments) -> list[str]:
    """The warnings of a write to an expanded tensor; one number at a mask is a fill, too."""
    _, indices, values, *_ = args
    filled = len(indices) == 1 and not values._raw.ndim and is_mask(indices[0])
    return _of_places(args) + (_of_mask(args) if filled else [])


index_put_row = linear(
    "_index_put(Tensor self, Indices indices, Tensor values, bool accumulate=False) -> Tensor",
    raw.index_put,
    self=lambda xp, g, indices, accumulate: _zero_at(xp, g, indices, accumulate),
    values=lambda xp, g, indices, values_shape: _fit(xp, g, indices, values_shape),
    holomorphic=False,
    public=False,
    out=False,
    refuses_values="any",
    samples=lambda mk: [(mk(5, 3), (mk(2, low=0, high=5, integer=True),), mk(3), True)],
    expanded=_list_warnings,
    vmap_write="index_put_",
    doc="A copy with values written (or added) at index tensors.",
    beside_data="any",
)


def _check(indices: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    found = tuple(indices)
    for place, i in enumerate(found):
        if not isinstance(i, TensorBase):
            raise TypeError(
                f"expected Tensor as element {place} in argument 0, but got {errors.type_name(i)}"
            )
    return found


@composite("", method=True)
def index_put(
    input: Tensor, indices: tuple[Tensor, ...], values: Tensor, accumulate: bool = False
) -> Tensor:
    """A copy with `values` written (or added) at index tensors, one per dimension."""
    if isinstance(indices, tuple) and None in [i if i is None else 0 for i in indices]:
        return apply_n(index_put_row.op, [input, indices, values, accumulate])
    checked = _check_count(input, _check(indices))
    return apply_n(index_put_row.op, [input, checked, values, accumulate])


@composite("", method=True)
def index_put_(
    input: Tensor, indices: tuple[Tensor, ...], values: Tensor, accumulate: bool = False
) -> Tensor:
    """Writes (or adds) `values` at index tensors, in place."""
    checked = _check(indices)
    if len(checked) > input._raw.ndim and current().grad and not T.is_discrete(input._raw.dtype):
        check_writable(input)
    return _put_at(input, _check_count(input, checked), values, accumulate)


def _check_count(t: Tensor, indices: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """The indices, unless there are more than dimensions.

    Raises:
        IndexError: in PyTorch's words.
    """
    ndim = t._raw.ndim
    if len(indices) > ndim:
        raise IndexError(f"too many indices for tensor of dimension {ndim} (got {len(indices)})")
    return indices


def _put_at(t: Tensor, indices: tuple[Tensor, ...], values: Tensor, accumulate: bool) -> Tensor:
    return apply_inplace(index_put_row.op, [t, indices, values, accumulate], raw.index_put_into)


def _take_basic(t: Tensor, given: Any, read: bool = False) -> tuple[Any, list[Any]]:
    """The view that the basic items leave, and the index tensors (None: all) of its dimensions.

    `read`: a slice alone is a view, also where it is everything.
    """
    specified = 0
    items = _items(given)
    for item in items:
        if isinstance(item, TensorBase):
            d = item._raw.dtype
            specified += (
                item._raw.ndim if d.kind == "b" or (d.kind == "u" and d.itemsize == 1) else 1
            )
        elif item is not None and item is not Ellipsis and item is not True and item is not False:
            specified += 1
    ndim = t._raw.ndim
    if specified > ndim:
        if type(given) is slice:
            _bounds(given)
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
        if ndim == 0 and (isinstance(given, int) or T.is_integer_scalar(given)):
            refuse_place(int(given), 0, 0, True)
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    found: list[Any] = []
    seen = t
    dim = 0
    for place, given_item in enumerate(items):
        item = _plain(given_item)
        kind = type(item)
        if kind is int:
            n = seen._raw.shape[dim] if dim < seen._raw.ndim else 0
            if not -n <= item < n:
                refuse_place(item, place, n)
            seen = apply_view(select.op, seen, (dim, item))
        elif kind is slice:
            start, end, step = _bounds(item)
            n = seen._raw.shape[dim] if dim < seen._raw.ndim else 0
            if (read and type(given) is slice) or not (start == 0 and end >= n and step == 1):
                seen = apply_view(slice_.op, seen, (dim, start, end, step))
            dim += 1
        elif item is Ellipsis:
            dim += ndim - specified
        elif item is None:
            seen = apply_view(unsqueeze.op, seen, (dim,))
            dim += 1
        else:
            if kind is bool or (item._raw.ndim == 0 and item._raw.dtype.kind in "bu"):
                seen = apply_view(unsqueeze.op, seen, (dim,))
                width = 0
                if kind is bool or type(item._raw) is not Example:  # whose operation refuses it
                    true = item if kind is bool else bool(read_by_python(item, "an index"))
                    item = new_tensor(W.bool_places(true))
                    width = 1
            elif item._raw.dtype.kind == "b" or item._raw.dtype.itemsize == 1:
                width = item._raw.ndim
            else:
                width = 1
            while len(found) < dim:
                found.append(None)
            found.append(item)
            # A mask takes several dimensions, but only one place in the list.
            dim += width
            found.extend([_SKIP] * (width - 1))
    return seen, [i for i in found if i is not _SKIP]


_SKIP: Final = object()
_FEW: Final = 4096  # elements of an index, from which on other ways are faster


# ---- reading ----------------------------------------------------------------------------------
@asks
def getitem(self: Tensor, given: Any) -> Tensor:
    """The part of the tensor that an index names: a view for basic indices, else a copy.

    Raises:
        IndexError: for places that aren't there, or an index of another type.
    """
    if ALERTED and is_interposed():
        handled = call_whole(getitem, (self, given), {})
        if handled is not NOT_HANDLED:
            return handled
    kind = type(given)
    if kind is int:
        shape = self._raw.shape
        if not shape or not -shape[0] <= given < shape[0]:
            refuse_place(given, 0, shape[0] if shape else 0, not shape)
        return apply_view(select.op, self, (0, given))
    if given is None:
        return apply_view(unsqueeze.op, self, (0,))
    if kind is tuple:
        if self._plain and not (current().grad and records(self)):
            key = basic_key(given)
            if key is not None:
                try:
                    return apply_view(basic.op, self, (key,))
                except (IndexError, OverflowError):
                    pass
        else:
            quick = _take_simple(self, given)
            if quick is not None:
                return quick
        taken = _take_tensors(self, given)
        if taken is not None:
            return _look_up(*taken)
        seen, found = _take_basic(self, given)
    elif kind is slice:
        if self._raw.ndim:
            start, end = given.start, given.stop
            if given.step is None and type(start) in _ENDS and type(end) in _ENDS:
                return apply_view(slice_.op, self, (0, start or 0, END if end is None else end, 1))
            return apply_view(slice_.op, self, (0, *_bounds(given)))
        seen, found = _take_basic(self, given, True)
    elif isinstance(given, TensorBase) and _is_lone(given._raw, self._raw.ndim):
        if given._raw.shape == self._raw.shape and _is_looked_up(self, given, T.BOOL):
            return apply_n(masked_select.op, [self, given])
        if given._raw.ndim == 1 and _is_looked_up(self, given, T.INT64):
            try:
                return apply_n(index_select.op, [self, 0, given])
            except (IndexError, RuntimeError):
                pass  # places from the end, or beyond it
        return _look_up(self, [given])
    else:
        seen, found = _take_basic(self, given)
    if not found:
        return apply_view(alias.op, self, ()) if seen is self else seen
    return _look_up(seen, found)


def _take_tensors(t: Tensor, items: Positional) -> tuple[Tensor, list[TensorBase | None]] | None:
    """The view that integers leave, and the index tensors (None: all) of its dimensions; None where
    the index has other items than these, `:` and `...`, has none, or doesn't fit.
    """
    shape = t._raw.shape
    for place, item in enumerate(items):
        if item is Ellipsis:
            rest = len(shape) + 1 - len(items)
            items = (*items[:place], *[_WHOLE] * rest, *items[place + 1 :])
            break
    if len(items) > len(shape):
        return None
    taken = False
    for item, n in zip(items, shape):
        if isinstance(item, TensorBase) and item._raw.ndim and item._raw.dtype is T.INT64:
            taken = True
        elif not (-n <= item < n if type(item) is int else type(item) is slice and item == _WHOLE):
            return None
    if not taken:
        return None
    seen = t
    found: list[TensorBase | None] = []
    for item in items:
        if type(item) is int:
            seen = apply_view(select.op, seen, (len(found), item))
        else:
            found.append(item if isinstance(item, TensorBase) else None)
    return seen, found


def _look_up(t: Tensor, indices: Sequence[TensorBase | None]) -> Tensor:
    """The elements at index tensors (None: all): `apply_n`, shorter where nothing is unusual."""
    mode = current()
    args = [t, tuple(indices)]
    if mode.slow or not t._plain or t._raw.dtype not in _USUAL:
        return apply_n(index.op, args)
    keys: list[Array | None] = []
    for one in indices:
        if one is not None and not (one._plain and one._raw.dtype is T.INT64):
            return apply_n(index.op, args)
        keys.append(one if one is None else one._raw)
    raws = [t._raw, tuple(keys)]
    try:
        out: Any = new_tensor(index.op.small(*raws))
    except errors.REFUSALS:
        return apply_n(index.op, args)  # explains
    live = live_mask(index.op, args) if mode.grad else 0
    if live:
        record(index.op, args, raws, [out], live, mode, None)
    return out


_WHOLE: Final = slice(None)
_USUAL: Final = (T.FLOAT32, T.FLOAT64, T.INT64, T.BOOL)


def _is_looked_up(t: Tensor, given: TensorBase, kind: RawType) -> bool:
    """Whether rows by their numbers, or elements by a mask, are all that is asked for, and nobody
    watches or records."""
    mode = current()
    return (
        t._plain
        and given._plain
        and given._raw.dtype is kind
        and t._raw.flags.c_contiguous
        and not mode.slow
        and not (mode.grad and records(t))
    )


def _is_lone(given: Array, ndim: int) -> bool:
    """Whether an index array alone takes dimensions, and not more than there are."""
    if given.ndim <= ndim:
        return bool(given.ndim)
    return ndim > 0 and given.dtype.kind == "i"


def _take_simple(t: Tensor, items: tuple[Any, ...]) -> Tensor | None:
    """The view that integers, slices, None and one `...` leave; None where the index has other
    items, or doesn't fit.
    """
    skipped = len(t._raw.shape)  # dimensions that `...` stands for
    dots = False
    for item in items:
        kind = type(item)
        if kind is slice:
            step = item.step
            if (
                (step is not None and (type(step) is not int or not 1 <= step < _MOST))
                or type(item.start) not in _ENDS
                or type(item.stop) not in _ENDS
            ):
                return None
            skipped -= 1
        elif kind is int:
            skipped -= 1
        elif item is Ellipsis:
            if dots:
                return None
            dots = True
        elif item is not None:
            return None
    if skipped < 0:
        return None
    seen = t
    dim = 0
    for item in items:
        kind = type(item)
        if kind is int:
            n = seen._raw.shape[dim]
            if not -n <= item < n:
                return None
            seen = apply_view(select.op, seen, (dim, item))
        elif kind is slice:
            start = item.start or 0
            end = END if item.stop is None else item.stop
            step = item.step or 1
            if start or step > 1 or end < seen._raw.shape[dim]:
                seen = apply_view(slice_.op, seen, (dim, start, end, step))
            dim += 1
        elif item is None:
            seen = apply_view(unsqueeze.op, seen, (dim,))
            dim += 1
        else:
            dim += skipped
    return apply_view(alias.op, t, ()) if seen is t else seen


_ENDS: Final = (type(None), int)

basic = linear(
    "_basic_index(Tensor(a) self, Key key) -> Tensor(a)",
    views.part,
    holomorphic=False,
    public=False,
    samples=lambda mk: [(mk(3, 4), (slice(0, 2), 1)), (mk(3, 4), (..., None, 0))],
    doc="Several basic indices in one step, where nothing is recorded.",
    beside_data="any",
)


# ---- writing ----------------------------------------------------------------------------------
def setitem(self: Tensor, given: object, value: Any) -> None:
    """Writes a number or a tensor into the part that an index names.

    Raises:
        IndexError: for places that aren't there.
        TypeError: for other values.
        RuntimeError: where the value doesn't fit, or may not be written.
    """
    kind = type(value)
    if kind is float or kind is int:
        if _write_number(self, given, value):
            return
    elif isinstance(value, TensorBase):
        if _write_tensor(self, given, value):
            return
    elif kind is not bool and kind is not complex:
        if isinstance(value, (float, int, complex)) or T.is_integer_scalar(value):
            value = (
                T.python_number(value) if T.is_number(value) and hasattr(value, "item") else value
            )
        else:
            name = errors.type_name(value)
            raise TypeError(f"can't assign a {name} to a {T.type_name(self._raw.dtype)}")
    if type(value) is int and not -_MOST <= value < _MOST:
        raise ValueError(_OVERFLOW)
    if not isinstance(value, TensorBase):
        value = _number(value, self)
    if given is False:
        return
    found: list[Any] = []
    if given is Ellipsis:
        seen = self
    elif given is True:
        seen = apply_view(unsqueeze.op, self, (0,))
    else:
        seen, found = _take_basic(self, given)
    if found:
        _write_at(seen, tuple(found), value)
    else:
        _write(seen, value)


def _write_number(t: Tensor, given: Any, value: Any) -> bool:
    """Whether a number could be written at once, unrecorded, at the indices of `_find_key`."""
    mode = current()
    if mode.slow or not t._plain or (mode.grad and records(t)):
        return False
    key = _find_key(t, given)
    if key is None:
        return False
    array = t._raw
    small = -6e4 < value < 6e4  # also for halves
    if not small and type(value) is int and not -_MOST <= value < _MOST:
        return False
    if array.dtype.kind != "f" or (array.dtype.itemsize == 2 and not small):
        value = lone(value, array.dtype)
    elif not (small or -3e38 < value < 3e38):
        return False
    try:
        array[key] = value
    except (IndexError, OverflowError):
        return False
    bump(t)
    return True


def _find_key(t: Tensor, given: Any) -> Any:
    """What an index is for NumPy: basic items, or few places or a small mask alone; None for other
    indices, and for a tensor whose elements share memory."""
    array, kind = t._raw, type(given)
    if 0 in array.strides:
        return None
    if kind is int:
        return given if array.ndim else None
    if kind is tuple or kind is slice:
        return basic_key(given if kind is tuple else (given,))
    if isinstance(given, TensorBase) and given._plain and 0 < given._raw.size <= _FEW:
        places = given._raw
        known = places.ndim and (places.dtype is T.BOOL or places.dtype is T.INT64)
        return places if known and T.owner(places) is not T.owner(array) else None
    return None


def _write_tensor(t: Tensor, given: Any, value: Any) -> bool:
    """Whether a tensor of the same type could be written at once; as `_write_number`."""
    mode = current()
    if mode.slow or not t._plain or not value._plain:
        return False
    if mode.grad and (records(t) or records(value)):
        return False
    array, source = t._raw, value._raw
    if array.dtype is not source.dtype or source is array:
        return False
    key = _find_key(t, given)
    if key is None or (type(key) is T.ndarray and T.owner(source) is T.owner(array)):
        return False
    try:
        if source.base is None or type(key) is T.ndarray:
            array[key] = source
        elif not W.write_part(array, key, source):
            return False
    except (IndexError, ValueError, OverflowError, TypeError):
        return False
    bump(t)
    return True


def _number(value: Scalar, t: Tensor) -> Any:
    """A number as a tensor of the type of `t`."""
    dtype = t._raw.dtype
    if T.is_half(dtype) and isinstance(value, complex) and value.imag:
        raise RuntimeError(errors.no_conversion("double"))
    array = lone(value, dtype)
    recorder = current().recorder
    if recorder is not None:
        recorder.constant(array)
    return new_tensor(array)


def _write(t: Tensor, value: Tensor) -> None:
    shape, have = t._raw.shape, value._raw.shape
    if value._raw.ndim == 0 and shape:
        apply_inplace(fill_tensor_row.op, [t, value], W.fill_tensor_into)
        return
    if have != shape:
        value = _without_ones(value)
        if value._raw.shape != shape:
            value = apply_view(expand.op, value, (shape, False))
    copy_into(t, value)


def _without_ones(value: Tensor) -> Tensor:
    """`value` without leading dimensions of size one."""
    shape = value._raw.shape
    lead = 0
    while lead < len(shape) and shape[lead] == 1:
        lead += 1
    if not lead and not value._requires_grad:  # else PyTorch's view is part of the graph
        return value
    if lead and not value._raw.flags.c_contiguous:
        return table("view")(value, shape[lead:])
    return apply_view(view.op, value, (shape[lead:],))


def _write_at(t: Tensor, found: tuple[Tensor, ...], value: Tensor) -> None:
    if value._raw.ndim and value._raw.shape[0] == 1:
        value = _without_ones(value)
    _put_at(t, found, value, False)


def delitem(self: Tensor, given: object) -> None:
    """Raises TypeError: tensors have a fixed size."""
    raise TypeError("Tensor does not support deleting items")


getitem.__name__ = getitem.__qualname__ = "__getitem__"
METHODS.update({"__getitem__": getitem, "__setitem__": setitem, "__delitem__": delitem})
