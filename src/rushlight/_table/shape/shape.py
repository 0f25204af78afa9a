"""Shapes: views of a tensor in other shapes and orders, windows and parts, and the copies they
fall back on.
"""

from __future__ import annotations

from math import prod
from operator import index
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._array.axes import axis_of
from ..._array.memory.example import is_example
from ..._array.shape import views as raw
from ..._base import dtypes as D
from ..._base.memory_format import (
    channels_last_3d,
    contiguous_format,
    memory_format as MemoryFormat,
    preserve_format,
)
from ..._core.apply import apply1, apply_n, apply_view
from ..._core.interposers import NOT_HANDLED, call_whole, misfit
from ..._core.mode import ALERTED, current, is_interposed
from ..._core.storage import TensorBase, new_tensor, version_cell
from ..._native.ufunc_loops import FIELDS, has_shape, in_order, sizes_of
from ..calls.argument_parser import complaint_of_c, is_integer, misuse
from ..calls.call_errors import combination
from ..calls.composite_checks import check
from ..calls.conversions import integers
from ..calls.dispatch import Dispatcher
from ..calls.long_integers import refuse_misuse
from ..rows.composite import ENTRIES, asks, composite, make_asking
from ..rows.row import linear

if TYPE_CHECKING:
    from ..._base.annotations import Keywords
    from ..._base.memory_format import memory_format
    from ..._tensor.tensor import Tensor

# ---- shapes -----------------------------------------------------------------------------------
view = linear(
    "view(Tensor(a) self, int[] size) -> Tensor(a)",
    raw.view,
    self=lambda xp, g, self_shape: xp.reshape(g, self_shape),
    holomorphic=False,
    public=False,
    samples=lambda mk: [(mk(3, 4), (2, 6)), (mk(3, 4), (-1,)), (mk(1), ()), (mk(0, 2), (2, 0))],
    doc="The same elements in another shape, over the same memory; one size may be -1.",
)
reshape_alias = linear(
    "_reshape_alias(Tensor(a) self, int[] size) -> Tensor(a)",
    raw.view,
    self=lambda xp, g, self_shape: xp.reshape(g, self_shape),
    holomorphic=False,
    public=False,
    samples=lambda mk: [(mk(3, 4), (2, 6))],
    doc="The view that `reshape` takes of a tensor that isn't contiguous.",
)
unsafe_view = linear(
    "_unsafe_view(Tensor self, int[] size) -> Tensor",
    raw.unsafe_view,
    self=lambda xp, g, self_shape: xp.reshape(g, self_shape),
    holomorphic=False,
    out=False,
    samples=lambda mk: [(mk(3, 4), (2, 6))],
    doc="A contiguous tensor that nobody else has, in another shape.",
)
clone_ = linear(
    "clone(Tensor self) -> Tensor",
    raw.clone,
    self=lambda g: g,
    holomorphic=False,
    public=False,
    out=False,
    copies=True,
    lowering="clone",
    doc="A copy, laid out like the tensor where that is dense.",
    narrow="all",
    without_data="one",
)
clone_contiguous = linear(
    "_clone_contiguous(Tensor self) -> Tensor",
    raw.contiguous_copy,
    self=lambda g: g,
    node="CloneBackward0",
    holomorphic=False,
    public=False,
    out=False,
    copies=True,
    lowering="copy",
    doc="A C-contiguous copy.",
    without_data="one, in order",
)
clone_channels_last = linear(
    "_clone_channels_last(Tensor self) -> Tensor",
    raw.channels_last_copy,
    self=lambda g: g,
    node="CloneBackward0",
    holomorphic=False,
    public=False,
    out=False,
    samples=lambda mk: [(mk(2, 3, 4, 5),)],
    doc="A copy whose channels lie last in memory.",
)
alias = linear(
    "alias(Tensor(a) self) -> Tensor(a)",
    raw.alias,
    self=lambda g: g,
    holomorphic=False,
    public=False,
    doc="All of the tensor, as a view.",
)
expand = linear(
    "expand(Tensor(a) self, int[] size, *, bool implicit=False) -> Tensor(a)",
    raw.expand,
    self=lambda xp, g, self_shape: xp.sum_to(g, self_shape),
    holomorphic=False,
    public=False,
    method=True,
    samples=lambda mk: [(mk(3, 1), (2, 3, 4)), (mk(3, 1), (-1, 5)), (mk(), (2,))],
    doc="Dimensions of size one repeated without copying; -1 leaves a dimension as it is.",
)
_view_words = Dispatcher("view", [view], kind="method")


@composite("private", method=True, name="view")
@asks
def _view(self: Tensor, /, *size: object, **kwargs: object) -> Tensor:
    """The same elements in another shape (one size may be -1), or their bits as another type.

    Raises:
        RuntimeError: where the elements don't fit the shape, or the memory's layout doesn't.
    """
    if ALERTED and is_interposed():
        handled = call_whole(_view, (self, *size), kwargs)
        if handled is not NOT_HANDLED:
            return handled
    found: Any
    if not kwargs and size:
        found = sizes_of(size)
        if found is not None:
            try:
                return apply_view(view.op, self, (found,))
            except RuntimeError:
                refuse_misuse("method", "view", (found,))
                raise
        if type(size[0]) is D.dtype and len(size) == 1:
            return _as_type(self, size[0])
    handled = check("method", "view", _view, (self, *size), kwargs, {}, None)
    if handled is not NOT_HANDLED:
        return handled
    found = kwargs.get("dtype", size[0] if size else None)
    if isinstance(found, type):
        if found not in D.OF_PYTHON:
            raise combination("view", (found,), {}, "method")
        found = D.OF_PYTHON[found]
    if isinstance(found, D.dtype):
        return _as_type(self, found)
    return _view_words(self, *size, **kwargs)


_view.__name__ = _view.__qualname__ = "view"


def _as_type(self: Tensor, dtype: D.dtype) -> Any:
    out = new_tensor(raw.view_dtype(self._raw, dtype))
    if self._inference or current().inference:
        out._inference = True
        out._plain = False
    else:
        out._cell = version_cell(self)
    return out


@composite("", method=True)
def clone(input: Tensor, *, memory_format: memory_format | None = preserve_format) -> Tensor:
    """A copy, laid out like the tensor where that is dense, or as `memory_format` says."""
    if memory_format is preserve_format or memory_format is None:
        return apply1(clone_.op, input)
    if memory_format is contiguous_format:
        return apply1(clone_contiguous.op, input)
    return apply1(clone_channels_last.op, _rank(input, memory_format))


def _rank(t: Tensor, memory_format: memory_format) -> Tensor:
    rank = 5 if memory_format is channels_last_3d else 4
    if t._raw.ndim != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {memory_format.name} format")
    return t


@composite("private", method=True)
@asks
def contiguous(self: Tensor, *, memory_format: Any = contiguous_format) -> Any:
    """The tensor itself where it lies in memory as asked, else a copy that does."""
    if ALERTED and is_interposed():
        named = {} if memory_format is contiguous_format else {"memory_format": memory_format}
        handled = call_whole(contiguous, (self,), named)
        if handled is not NOT_HANDLED:
            return handled
    if memory_format is contiguous_format:
        return self if in_order(self) else apply1(clone_contiguous.op, self)
    if type(memory_format) is not MemoryFormat:
        raise misuse("method", "contiguous", (), {"memory_format": memory_format})
    if memory_format is preserve_format:
        if self._raw.flags.c_contiguous:
            return self
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    if T.is_channels_last(_rank(self, memory_format)._raw):
        return self
    return apply1(clone_channels_last.op, self)


if FIELDS is not None:
    ENTRIES[contiguous] = FIELDS.Field(contiguous, "T")


def is_laid_out(t: Tensor, memory_format: memory_format | None) -> bool:
    """Whether a tensor lies in memory as the format says."""
    if type(memory_format) is not MemoryFormat:
        raise misuse("method", "is_contiguous", (), {"memory_format": memory_format})
    if memory_format is preserve_format:
        return bool(t._raw.flags.c_contiguous)
    rank = 5 if memory_format is channels_last_3d else 4
    return t._raw.ndim == rank and T.is_channels_last(t._raw)


@composite("private", method=True)
@asks
def reshape(input: Tensor, /, *shape: Any, **kwargs: Any) -> Any:
    """The same elements in another shape: a view where the layout allows it, else a copy.

    Raises:
        RuntimeError: where the elements don't fit the shape.
    """
    if ALERTED and is_interposed():
        handled = call_whole(reshape, (input, *shape), kwargs)
        if handled is not NOT_HANDLED:
            return handled
    size = None if kwargs else sizes_of(shape)
    if size is not None:
        try:
            if in_order(input):
                return apply_view(view.op, input, (size,))
            return _lay_anew(input, size)
        except RuntimeError:
            refuse_misuse("method", "reshape", (size,))
            raise
    handled = check("method", "reshape", reshape, (input, *shape), kwargs, {}, None)
    if handled is not NOT_HANDLED:
        return handled
    return _lay_anew(input, _resolve(input, shape, kwargs))


@composite("", name="reshape")
@make_asking
def _reshape(asking: bool) -> Any:
    def reshape_to(*args: Any, **kwargs: Any) -> Any:
        """The same elements in another shape: a view where the layout allows it, else a copy."""
        if asking and ALERTED and is_interposed():
            handled = call_whole(reshape_to, args, kwargs)
            if handled is not NOT_HANDLED:
                return handled
        given = bool(args) and isinstance(args[0], TensorBase)
        if given and not kwargs and len(args) == 2 and type(args[1]) in (tuple, list):
            input: Any = args[0]
            size = tuple(args[1])
            for n in size:
                if type(n) is not int:
                    break
            else:
                return reshape(input, size)
        handled = check("torch", "reshape", reshape_to, args, kwargs, {}, None)
        if handled is NOT_HANDLED and not given:
            handled = misfit(reshape_to, args, kwargs)
        if handled is not NOT_HANDLED:
            return handled
        if not args:
            args = (kwargs.pop("input"),)
        return reshape(*args, **kwargs)

    return reshape_to


def _lay_anew(input: Tensor, size: tuple[int, ...]) -> Any:
    """`reshape` of a tensor that may not be contiguous."""
    array = input._raw
    if array.flags.c_contiguous:
        return apply_view(view.op, input, (size,))
    if is_example(array):  # under vmap the batch decides
        return apply_n(unsafe_view.op, [input, size])
    if has_shape(array, size):
        return apply_view(reshape_alias.op, input, (size,))
    shape, shared = raw.reshape_array(array, size)
    if shared:
        return apply_view(reshape_alias.op, input, (size,))
    return apply_n(unsafe_view.op, [apply1(clone_contiguous.op, input), shape])


def _resolve(input: Tensor, shape: tuple[Any, ...], kwargs: Keywords) -> tuple[int, ...]:
    words = Dispatcher("reshape", [_RESHAPE], kind="method")
    plan = words.resolve((input, *shape), kwargs)
    return words.gather(plan, (input, *shape), kwargs)[1]


_RESHAPE = linear(
    "_reshape_words(Tensor self, int[] shape) -> Tensor",
    lambda x, shape: x.reshape(shape).copy(),
    self=lambda xp, g, self_shape: xp.reshape(g, self_shape),
    holomorphic=False,
    public=False,
    out=False,
    samples=lambda mk: [(mk(3, 4), (2, 6))],
    doc="A copy in another shape.",
)


@composite("private", method=True)
def view_as(self: Tensor, other: Any) -> Tensor:
    """A view in the shape of `other`."""
    return apply_view(view.op, self, (other._raw.shape,))


@composite("private", method=True)
def reshape_as(self: Tensor, other: Any) -> Tensor:
    """The same elements in the shape of `other`."""
    return reshape(self, other._raw.shape)


@composite("private", method=True)
def expand_as(self: Tensor, other: Any) -> Tensor:
    """The tensor expanded to the shape of `other`."""
    return apply_view(expand.op, self, (other._raw.shape, False))


@composite("", method=True)
def broadcast_to(input: Tensor, *size: object) -> Tensor:
    """The tensor expanded to a shape, without copying."""
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = tuple(size[0])
    return apply_view(expand.op, input, (tuple(size), False))


squeeze = linear(
    "squeeze(Tensor(a) self) -> Tensor(a)",
    raw.squeeze,
    self=lambda xp, g, self_shape: xp.reshape(g, self_shape),
    holomorphic=False,
    samples=lambda mk: [(mk(3, 1, 4),), (mk(1),)],
    doc="The tensor without its dimensions of size one.",
)
squeeze_dim = linear(
    "squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
    raw.squeeze,
    self=lambda xp, g, self_shape, dim: xp.reshape(g, self_shape),
    holomorphic=False,
    samples=lambda mk: [(mk(3, 1, 4), 1), (mk(3, 1, 4), 0)],
    doc="The tensor without dimension `dim`, where that has size one.",
)
squeeze_dims = linear(
    "squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)",
    raw.squeeze,
    self=lambda xp, g, self_shape, dim: xp.reshape(g, self_shape),
    holomorphic=False,
    samples=lambda mk: [(mk(3, 1, 4, 1), (1, -1)), (mk(3, 1, 4), (0, 1))],
    doc="The tensor without those of the dimensions `dim` that have size one.",
)
unsqueeze = linear(
    "unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
    raw.unsqueeze,
    self=lambda xp, g, dim: xp.squeeze(g, dim),
    holomorphic=False,
    samples=lambda mk: [(mk(3, 4), 1), (mk(3, 4), -1), (mk(), 0)],
    doc="The tensor with a dimension of size one at `dim`.",
)


def _whole(dim: Any) -> int:
    if not is_integer(dim):
        raise TypeError  # the signatures say why
    return index(dim)


@composite("", method=True)
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The tensor with its dimensions from `start_dim` to `end_dim` made one."""
    if type(start_dim) is not int or type(end_dim) is not int:
        start_dim, end_dim = _whole(start_dim), _whole(end_dim)
    array = input._raw
    shape = array.shape
    ndim = len(shape)
    if start_dim == 0 and end_dim == -1 and ndim > 1 and array.flags.c_contiguous:
        return apply_view(view.op, input, ((array.size,),))
    first, last = axis_of(start_dim, ndim), axis_of(end_dim, ndim)
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return reshape(input, (1,))
    if first == last:
        return input
    return reshape(input, shape[:first] + (prod(shape[first : last + 1]),) + shape[last + 1 :])


@composite("private", method=True, name="unflatten")
def unflatten_method(self: Tensor, dim: int, sizes: Any) -> Any:
    """The tensor with one dimension split into several (one of them may be -1)."""
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    plain = isinstance(sizes, (list, tuple)) and all(type(n) is int for n in sizes)
    if type(dim) is not int or not plain:
        problem = complaint_of_c("method", "unflatten", (dim, sizes), {})
        if problem is not None:
            raise problem
        dim = int(dim)
    return unflatten(self, dim, sizes)


@composite("")
def unflatten(input: Tensor, dim: int, sizes: Any) -> Any:
    """The tensor with one dimension split into several (one of them may be -1)."""
    shape = input._raw.shape
    axis = axis_of(dim, len(shape))
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    sizes = integers(sizes)
    if not shape:
        raise RuntimeError(
            "unflatten got an unexpected error:\n"
            "Dimension specified as 0 but tensor has no dimensions"
        )
    try:
        found = raw.resolve_shape(shape[axis], sizes)
    except RuntimeError as error:
        if "inferred" in str(error):
            raise RuntimeError(f"unflatten got an unexpected error:\n{error}") from None
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {axis} "
            f"({shape[axis]}) in the input tensor"
        ) from None
    return apply_view(view.op, input, (shape[:axis] + found + shape[axis + 1 :],))


@composite("", method=True)
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension: a view where the layout allows it."""
    if not in_order(input):
        input = apply1(clone_contiguous.op, input)
    return apply_view(view.op, input, ((-1,) if input._raw.size else (0,),))
