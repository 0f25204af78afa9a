"""Writing whole tensors: copies, fills, zeros, and the in-place changes of shape and memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn

from ..._array import types as T
from ..._array.memory.meta import meta_array
from ..._array.memory.out_of_memory import refusal
from ..._array.shape import as_strided as windows, views as shapes
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._base.memory_format import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    preserve_format,
)
from ..._core.former_data import note_former
from ..._core.hooks import carry_retained
from ..._core.inplace import apply_inplace, check_writable, count_write
from ..._core.mode import current, ready
from ..._core.plain_writes import copy_plainly
from ..._core.slow import TANGENTS, live_mask, make_node, only_inference, to_raw
from ..._core.storage import TensorBase, bump, version_of
from ..._core.views import Step
from ..calls.argument_parser import complaint, misuse
from ..calls.dimension_argument import dimension
from ..rows.composite import composite
from ..rows.node_classes import all_edges
from ..rows.resizing import make_room, over_storage, resize_array
from ..rows.result_strides import steps_of
from ..rows.row import Row, general, linear

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._base.annotations import AnyCallable, Namespace, Scalar, Shape, TensorLike
    from ..._base.memory_format import memory_format
    from ..._tensor.tensor import Tensor

W = later("_array.shape.writing")

_LONGEST: Final = 2**63


# ---- copies -----------------------------------------------------------------------------------
copy_row = linear(
    "_copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor",
    W.copy_like,
    self=lambda xp, g: xp.zeros_like(g),
    src=lambda xp, g, src_shape: xp.sum_to(g, src_shape),
    node="CopyBackwards",
    holomorphic=False,
    public=False,
    out=False,
    lowering="store",
    samples=lambda mk: [(mk(3, 4), mk(4)), (mk(3), mk(3))],
    by_element=True,
    vmap_write="inplace arithmetic",
    doc="The elements of `src` in the shape and type of the first tensor.",
    beside_data="source",
)


@composite("private", method=True)
def copy_(self: Tensor, other: Any, non_blocking: bool = False) -> Any:
    """Writes the elements of `other`, broadcast and converted, into this tensor.

    Raises:
        RuntimeError: where the shapes don't fit, or the tensor may not be written.
    """
    if not isinstance(other, TensorBase):
        if not T.is_number(other) or not isinstance(non_blocking, bool):
            raise misuse("method", "copy_", (other, non_blocking), {})
        from ..rows.tensor_namespace import table

        if isinstance(other, int) and not -_LONGEST <= other < _LONGEST:
            D.refuse_beyond(other)
            other = table("tensor")(other, dtype=D.uint64)
        else:
            other = table("tensor")(other)
    if type(non_blocking) is not bool:
        raise misuse("method", "copy_", (other, non_blocking), {})
    return copy_into(self, other, non_blocking)


def copy_into(t: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Writes one tensor into another."""
    if copy_plainly(t, src, W.copy_into):
        return t
    mode = current()
    if T.is_discrete(t._raw.dtype) and mode.grad and src._requires_grad:
        src = src.detach()  # elements without gradients get no history
    return apply_inplace(copy_row.op, [t, src, non_blocking], W.copy_into)


def is_free(t: Tensor) -> bool:
    """Whether a write to `t` needs no check and no record."""
    mode = current()
    return bool(t._plain and not mode.slow and not (mode.grad and records(t)))


def records(t: Tensor) -> bool:
    """Whether an operation on `t` may be recorded: it has history, or its base has."""
    view = t._view
    return bool(t._requires_grad or (view is not None and view.base._requires_grad))


# ---- fills ------------------------------------------------------------------------------------
fill_tensor = linear(
    "fill.Tensor(Tensor self, Tensor value) -> Tensor",
    W.fill_from,
    self=lambda xp, g: xp.zeros_like(g),
    value=lambda xp, g: xp.sum(g),
    node="FillBackward1",
    holomorphic=False,
    method=False,
    out=False,
    samples=lambda mk: [(mk(3, 4), mk())],
    doc="A tensor of the same shape and type with one value everywhere.",
    narrow="all",
)
fill_scalar = general(
    "fill.Scalar(Tensor self, Scalar value) -> Tensor",
    W.fill_like,
    self=lambda xp, g: xp.zeros_like(g),
    method=False,
    out=False,
    samples=lambda mk: [(mk(3, 4), 2.5)],
    doc="A tensor of the same shape and type with one value everywhere.",
)
fill_row = general(
    "_fill_.Scalar(Tensor self, Scalar value) -> Tensor",
    W.fill_like,
    self=lambda xp, g: xp.zeros_like(g),
    node="FillBackward2",
    public=False,
    out=False,
    lowering="store",
    samples=lambda mk: [(mk(3, 4), 2.5)],
    by_element=True,
    vmap_write="fill_",
    doc="One value everywhere, in place.",
)
fill_tensor_row = linear(
    "_fill_.Tensor(Tensor self, Tensor value) -> Tensor",
    W.fill_from,
    self=lambda xp, g: xp.zeros_like(g),
    value=lambda xp, g: xp.sum(g),
    node="FillBackward3",
    holomorphic=False,
    public=False,
    out=False,
    lowering="store",
    samples=lambda mk: [(mk(3, 4), mk())],
    vmap_write="fill_",
    doc="One value everywhere, in place.",
)
zero_row = general(
    "_zero(Tensor self) -> Tensor",
    T.zeros_like,
    self=lambda xp, g: xp.zeros_like(g),
    public=False,
    out=False,
    by_element=True,
    lowering="store",
    doc="Zeros everywhere, in place.",
)


@composite("", method=True)
def fill_(self: Tensor, value: Scalar) -> Tensor:
    """Writes one value everywhere.

    Raises:
        RuntimeError: where the value doesn't fit the type, or the tensor may not be written.
    """
    if isinstance(value, TensorBase):
        return apply_inplace(fill_tensor_row.op, [self, value], W.fill_tensor_into)
    if not T.is_number(value):
        raise misuse("method", "fill_", (value,), {})
    if is_free(self):
        W.fill_into(self._raw, value)
        bump(self)
        return self
    return apply_inplace(fill_row.op, [self, value], W.fill_into)


@composite("", method=True)
def zero_(self: Tensor) -> Tensor:
    """Writes zeros everywhere."""
    if is_free(self):
        W.zero_into(self._raw)
        bump(self)
        return self
    return apply_inplace(zero_row.op, [self], W.zero_into)


@composite("private", method=True)
def fill_diagonal_(self: Tensor, fill_value: int, wrap: bool = False) -> Tensor:
    """Writes one value on the main diagonal.

    Raises:
        RuntimeError: for less than two dimensions, or for more of unequal sizes.
    """
    shape = self._raw.shape
    if len(shape) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    from .slices import as_strided

    strides = windows.element_strides(self._raw)
    step = sum(strides)
    count = min(shape)
    offset = windows.storage_offset(self._raw)
    fill_(as_strided(self, (count,), (step,), offset), fill_value)
    if wrap and len(shape) == 2 and shape[0] > shape[1] + 1:
        more = -(-shape[0] * shape[1] // (shape[1] + 1)) - count
        start = offset + strides[0] * (shape[1] + 1)
        fill_(as_strided(self, (more,), (step,), start), fill_value)
    return self


# ---- other memory, other shape ------------------------------------------------------------------
def _refuse_grad(t: Tensor) -> None:
    if t.requires_grad and not current().inference:
        raise RuntimeError("cannot resize variables that require grad")


@composite("private", method=True)
def resize_(self: Tensor, *size: Any, memory_format: Any = None) -> Tensor:
    """Gives the tensor another shape; elements keep their place in memory, new ones aren't set.

    The memory grows where it must, and whoever looks at it sees the larger one; see Note [Memory
    that moves].

    Raises:
        RuntimeError: for a tensor that requires grad, or where NumPy looks at memory that is short.
    """
    _refuse_grad(self)
    if current().dual and TANGENTS.find(self) is not None:
        raise RuntimeError("cannot resize variables that has a forward grad")
    if not size:
        raise TypeError('resize_() missing 1 required positional arguments: "size"')
    wanted = tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else size
    for k, n in enumerate(wanted):
        if not isinstance(n, int) and not hasattr(n, "__index__"):
            raise TypeError(
                f"resize_(): argument 'size' failed to unpack the object at pos {k + 1} with error "
                f'"type must be tuple of ints,but got {errors.type_name(n)}"'
            )
    shape = tuple([int(n) for n in wanted])
    if any(n < 0 for n in shape):
        raise RuntimeError(errors.NUMEL_OVERFLOW)
    last = memory_format is not None and memory_format is not contiguous_format
    # No variable has the array: what nobody else looks at grows alone.
    if type(self._raw) is not T.ndarray:  # without data
        self._raw = meta_array(shape, self._raw.dtype)
    elif last or self._raw.shape != shape:
        strides = T.contiguous_strides(shape)
        if last:
            strides = steps_of("empty", shape, memory_format, None)
        self._raw = resize_array(self, shape, strides)
    else:
        return self  # nothing has been written
    count_write(self, ready())
    return self


@composite("", method=True)
def resize_as_(
    self: Tensor, the_template: Tensor, memory_format: memory_format | None = None
) -> Tensor:
    """Gives the tensor the shape of another one."""
    if memory_format is preserve_format:
        last = T.is_channels_last(the_template._raw) and not the_template._raw.flags.c_contiguous
        five = channels_last_3d if the_template._raw.ndim == 5 else channels_last
        memory_format = five if last else contiguous_format
    return resize_(self, the_template._raw.shape, memory_format=memory_format)


@composite("private", method=True)
def set_(
    self: Tensor,
    source: Any = None,
    storage_offset: int | None = None,
    size: Shape | None = None,
    stride: Shape | None = None,
) -> Tensor:
    """Makes the tensor show the memory of another one, or of a storage, which grows where it must.

    Raises:
        RuntimeError: where the types or devices differ, a place is negative, or a tensor requires
            grad.
    """
    if source is None:
        return _change(self, _set_empty, ())
    kind, storage = T.from_raw(self._raw.dtype), None
    if hasattr(type(source), "_tensor_over"):
        storage, source = source, over_storage(source, kind, self.device.type)
    if not isinstance(source, TensorBase) or (storage_offset is None) != (size is None):
        given = source if storage is None else storage
        named = (("storage_offset", storage_offset), ("size", size), ("stride", stride))
        extra = [value for _, value in named if value is not None]
        raise misuse("method", "set_", (given, *extra), {})
    if source._raw.dtype != self._raw.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {D.c_name(T.from_raw(source._raw.dtype))} to a tensor "
            f"of type {D.c_name(kind)}"
        )
    if size is not None:
        size = tuple(size)
        make_room(self, source, storage_offset or 0, size, stride)
        stride = tuple(stride) if stride is not None else T.contiguous_strides(size)
    changed = _change(self, _set, (source, storage_offset or 0, size, stride))
    return changed if storage is None else storage._taken_by(changed)


def _inplace_view(
    name: str,
    schema: str,
    forward: AnyCallable,
    formula: AnyCallable,
    node: str,
    *rest: int | Shape | None,
) -> Row:
    return linear(schema, forward, self=formula, node=node, holomorphic=False, public=False,
                  method=False, out=False, samples=lambda mk: [(mk(3, 1), *rest)],
                  doc=f"{name}, in place.")  # fmt: skip


_unsqueeze = _inplace_view(
    "unsqueeze", "_unsqueeze_(Tensor(a) self, int dim) -> Tensor(a)", shapes.unsqueeze,
    lambda xp, g, dim: xp.squeeze(g, dim), "UnsqueezeBackward1", 1,
)  # fmt: skip
_squeeze = _inplace_view(
    "squeeze", "_squeeze_(Tensor(a) self) -> Tensor(a)", shapes.squeeze,
    lambda xp, g, self_shape: xp.reshape(g, self_shape), "SqueezeBackward3",
)  # fmt: skip
_squeeze_dim = _inplace_view(
    "squeeze", "_squeeze_.dim(Tensor(a) self, int dim) -> Tensor(a)", shapes.squeeze,
    lambda xp, g, self_shape, dim: xp.reshape(g, self_shape), "SqueezeBackward4", 1,
)  # fmt: skip
_squeeze_dims = _inplace_view(
    "squeeze", "_squeeze_.dims(Tensor(a) self, int[] dim) -> Tensor(a)", shapes.squeeze,
    lambda xp, g, self_shape, dim: xp.reshape(g, self_shape), "SqueezeBackward5", (0, 1),
)  # fmt: skip


def _transposed(x: Array) -> Array:
    if x.ndim > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {x.ndim}D")
    return shapes.t(x)


_t = _inplace_view(
    "t", "_t_(Tensor(a) self) -> Tensor(a)", _transposed, lambda xp, g: xp.t(g), "TBackward1"
)
_transpose = _inplace_view(
    "transpose", "_transpose_(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", shapes.transpose,
    lambda xp, g, dim0, dim1: xp.transpose(g, dim0, dim1), "TransposeBackward1", 0, 1,
)  # fmt: skip


_as_strided = _inplace_view(
    "as_strided",
    "_as_strided_(Tensor(a) self, int[] size, int[] stride, int? storage_offset, int[] "
    "self_stride, int self_offset) -> Tensor(a)",
    windows.as_strided,
    lambda xp, g, self_shape, size, stride, storage_offset, self_stride, self_offset: (
        xp.as_strided_backward(
            g, self_shape, self_stride, self_offset, size, stride, storage_offset
        )
    ),
    "AsStridedBackward1",
    (2, 3),
    (1, 0),
    None,
    (1, 1),
    0,
)


def _no_gradient(xp: Namespace, g: TensorLike) -> NoReturn:
    raise RuntimeError("derivative for set_ is not implemented")


_set_empty = general(
    "_set_(Tensor self) -> Tensor", lambda x: T.empty((0,), x.dtype), self=_no_gradient,
    node="NotImplemented", node_shows=all_edges, public=False, out=False,
    dtypes="none",
    doc="Memory without elements.",
)  # fmt: skip
_set = general(
    "_set_.source(Tensor self, Tensor source, int offset=0, int[]? size=None, int[]? stride=None)"
    " -> Tensor",
    lambda x, source, offset, size, stride: (
        source if size is None else windows.as_strided(source, size, stride, offset)
    ),
    self=_no_gradient,
    source=_no_gradient,
    node="NotImplemented", node_shows=all_edges, public=False, out=False,
    dtypes="none",
    doc="The memory of another tensor.",
)  # fmt: skip


def _change_tangent(t: Any, row: Row, args: tuple[object, ...]) -> None:
    """Turns the tangent of a tensor that is about to be turned in place.

    Raises:
        NotImplementedError: where the tensor would show other memory.
    """
    tangent = TANGENTS.find(t)
    if row is _set or row is _set_empty:
        others = [TANGENTS.find(a) for a in args if isinstance(a, TensorBase)]
        if tangent is not None or any(other is not None for other in others):
            raise NotImplementedError(
                "Trying to use forward AD with set_ that does not support it because it has not "
                "been implemented yet.\nPlease file an issue to PyTorch at "
                "https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml so "
                "that we can prioritize its implementation."
            )
    elif tangent is not None:
        _change(tangent, row, args)
        if type(t._view.forward if t._view is not None else None) is tuple:
            source, before = t._view.forward
            t._view.forward = (source, Step(row.op, args, -1, before))


def _change(t: Tensor, row: Row, args: tuple[object, ...]) -> Tensor:
    """Makes `t` its own view: other metadata over the same memory, and one more node.

    It counts as a write. Nothing in memory has changed, so a base keeps its history where one of
    its views is turned.
    """
    op = row.op
    mode = ready()
    if mode.dual:
        _change_tangent(t, row, args)
    live = 0
    if mode.grad and not mode.inference and not (t._inference and only_inference(op, [t, *args])):
        if records(t):
            check_writable(t)
        live = live_mask(op, [t, *args])
        if live:
            check_writable(t)
    array = t._raw
    try:
        changed = op.raw(array, *[to_raw(arg) for arg in args])
    except (MemoryError, ValueError) as error:
        raise refusal(
            error,
            (
                array,
                *[to_raw(arg) for arg in args],
            ),
        ) from None
    node = None
    view = t._view
    if not live and t._requires_grad and t._node is None and row in (_set, _set_empty):
        note_former(t, memory=True)
    if not live and t._node is not None and op.is_view and changed.shape != array.shape:
        # Unrecorded, but its node must go on to see gradients of the shape that it knows.
        live = 0 if view is not None and view.tracked else 1
    if live:
        node = make_node(op, [t, *args], [array, *args], [t], live, mode, None)
    t._raw = changed
    count_write(t, mode)
    if view is not None:
        view.replay = Step(op, args, -1, view.replay)
    if node is not None:
        old, old_nr = t._node, t._nr - 1 if t._nr else 0
        t._node = node
        t._nr = 0
        t._requires_grad = True
        if old is not None:
            carry_retained(t, old, old_nr, node, 0)
        if view is not None:
            view.stamp = version_of(t)
    return t


@composite("private", method=True)
def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """Gives the tensor a dimension of size one, in place."""
    if type(dim) is not int:
        dim = dimension("unsqueeze_", dim)
    return _change(self, _unsqueeze, (dim,))


_EVERY: Final = object()  # None is refused


@composite("private", method=True)
def squeeze_(self: Tensor, dim: object = _EVERY) -> Tensor:
    """Takes away the tensor's dimensions of size one (or those of `dim`), in place."""
    if dim is _EVERY:
        return _change(self, _squeeze, ())
    if isinstance(dim, (tuple, list)):
        return _change(self, _squeeze_dims, (tuple(dim),))
    if type(dim) is not int:
        dim = dimension("squeeze_", dim)
    return _change(self, _squeeze_dim, (dim,))


@composite("private", method=True)
def t_(self: Tensor) -> Tensor:
    """Transposes a matrix, in place: the memory stays as it is."""
    return _change(self, _t, ())


@composite("private", method=True)
def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Exchanges two dimensions, in place: the memory stays as it is."""
    if type(dim0) is not int or type(dim1) is not int:
        problem = complaint("method", "transpose_", (dim0, dim1), {})
        if problem is not None:
            raise problem
        dim0, dim1 = int(dim0), int(dim1)
    return _change(self, _transpose, (dim0, dim1))


for _name in ("swapdims_", "swapaxes_"):
    composite("private", method=True, name=_name)(transpose_)


@composite("", method=True)
def as_strided_(self: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """Makes the tensor a window of any strides over its memory, in place."""
    from .slices import strided_arguments

    return _change(self, _as_strided, strided_arguments(self, size, stride, storage_offset))
