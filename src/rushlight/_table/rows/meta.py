"""Tensors without data ("meta" tensors), and what operations make of them.

Note [Tensors without data]
A tensor on the device "meta" is an ordinary tensor over an array without data (see
`_array/memory/meta.py`), marked `_layered`, so that operations take the slow path and come here.
Views are taken of that array itself. For all else the operation runs on zeros to learn the
shape, and its result loses its data: on zeros of the full size where these are few, else on the
first elements along each dimension, for the kinds of operations whose result's shape can be told
from that. A row says so by `without_data`: "one" element of each tensor is enough ("one, in order":
and the result is contiguous), or "fewer" of them, each size replaced by a small one, or one example
and few "channels". By `beside_data` it says where tensors with data may stand beside, which its
kind says else: in "any" place, "never", "unless biased", or as the "source" of a copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..._array import types as T
from ..._array.memory.meta import MetaArray, corner, meta_array, meta_like, with_strides
from ..._base import dtypes as D, errors
from ..._base.device import on_meta
from ..._core import slow
from ..._core.casts import check_cast
from ..._core.inplace import check_writable, write
from ..._core.interposers import NOT_HANDLED, Interposer, elements_of, interpose, look
from ..._core.mode import Mode, current, ready
from ..._core.op import PROMOTE_NONE, Op
from ..._core.run import LIVE as LIVE
from ..._core.slow import ERRORS
from ..._core.storage import TensorBase, bump, new_tensor

if TYPE_CHECKING:
    from ..._array.annotations import Array, RawType
    from ..._base.annotations import AnyCallable, Arguments, DeviceLike, Shape, TensorLike
    from ..._tensor.tensor import Tensor
    from .row import Row

_FEW: Final = 4096  # elements up to which an operation is just run
_MANY: Final = 1 << 28  # elements from which on it isn't, where nothing less will do
NO_DATA: Final = "Cannot copy out of meta tensor; no data!"
NO_ITEM: Final = "Tensor.item() cannot be called on meta tensors"


def is_meta(t: object) -> bool:
    """Whether a tensor has no data."""
    return isinstance(t, TensorBase) and type(t._raw) is MetaArray


def beside(t: Tensor, device: DeviceLike | None) -> bool:
    """Whether what is made after the model of a tensor gets no data."""
    if device is not None:
        return on_meta(device)
    return not t._plain and type(t._raw) is MetaArray


def without_data(array: Array, requires_grad: bool = False) -> Tensor:
    """A tensor over an array without data.

    Raises:
        RuntimeError: where gradients are asked of a type that has none.
    """
    t = mark_without_data(new_tensor(array))
    if current().inference:
        t._inference = True
    if requires_grad:
        if T.is_discrete(array.dtype):
            raise RuntimeError(errors.REQUIRES_GRAD_DTYPE.replace("only", "Only", 1))
        t._requires_grad = True
    return t


def mark_without_data(t: Any) -> Any:
    """The tensor, which operations now know for one without data."""
    t._plain = False
    t._layered = True
    return t


def empty_meta(shape: tuple[int, ...], dtype: D.dtype, requires_grad: bool = False) -> TensorLike:
    """A new tensor without data."""
    return without_data(meta_array(shape, T.to_raw(dtype)), requires_grad)


def empty_strided_meta(
    shape: Shape, steps: Any, dtype: D.dtype, requires_grad: bool = False
) -> Tensor:
    """A new tensor without data, with strides of one's own."""
    return without_data(with_strides(tuple(shape), tuple(steps), T.to_raw(dtype)), requires_grad)


def empty_meta_like(
    t: Tensor, dtype: D.dtype | None, contiguous: bool, requires_grad: bool = False
) -> TensorLike:
    """A new tensor without data, shaped and laid out like another."""
    array = t._raw
    raw = array.dtype if dtype is None else T.to_raw(dtype)
    if contiguous or array.flags.c_contiguous:
        return without_data(meta_array(array.shape, raw), requires_grad)
    found = meta_like(T.plain_array(array))
    if raw != array.dtype:
        steps = T.byte_strides(found)
        return without_data(with_strides(array.shape, steps, raw), requires_grad)
    return without_data(found, requires_grad)


def adopt(t: Tensor, other: Tensor) -> None:
    """Prepares a tensor for the memory of another: one of the two may have no data."""
    if type(other._raw) is MetaArray:
        mark_without_data(t)
    elif type(t._raw) is MetaArray and not type(t)._overrides:
        t._layered = False
        t._plain = not t._inference


def strip_data(t: Any) -> Any:
    """A tensor like another that has data, but without."""
    return empty_meta_like(t, None, False, bool(t._requires_grad) and t._node is None)


def elements(t: Any) -> Array:
    """The array whose elements become Python numbers.

    Raises:
        RuntimeError: where there is no data.
    """
    return t._raw if t._plain else elements_of(t)


def ask_classes(name: str, *args: object) -> Any:
    """What the class of a tensor among the arguments answers to a call, or NOT_HANDLED."""
    return look(name, args)


def refuse_item(t: Any) -> None:
    """Refuses to read a tensor without data.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if not t._plain and type(t._raw) is MetaArray:
        raise RuntimeError(NO_ITEM)


# ---- operations ----------------------------------------------------------------------------------
def _tensors(args: Arguments) -> list[TensorBase]:
    found: list[TensorBase] = []
    for arg in args:
        if isinstance(arg, TensorBase):
            found.append(arg)
        elif type(arg) is list or type(arg) is tuple:
            found.extend([item for item in arg if isinstance(item, TensorBase)])
    return found


def _of_row(op: Op) -> Row:
    """What the row of an operation says; the short form of one has the same."""
    row: Row = op.row
    return row


def _meets_others(op: Op, tensors: list[TensorBase]) -> None:
    """Refuses tensors with data beside those without, but for single numbers.

    Raises:
        RuntimeError: in PyTorch's words; products of matrices let it pass there, and here.
    """
    beside = _of_row(op).beside_data
    if beside == "any" or (op.kind == "multilinear" and not beside):
        return
    if beside == "unless biased" and (len(tensors) < 3 or type(tensors[0]._raw) is not MetaArray):
        return
    if current().carrying:  # formulas make what they need of numbers and arrays
        return
    first = next(t for t in tensors if t._raw.ndim or type(t._raw) is MetaArray)
    here = type(first._raw) is MetaArray
    for t in tensors:
        if (type(t._raw) is MetaArray) is not here and t._raw.ndim:
            names = ("cpu", "meta") if here else ("meta", "cpu")
            raise RuntimeError(
                f"Tensor on device {names[0]} is not on the expected device {names[1]}!"
            )


def call(op: Op, args: Arguments) -> Any:
    """The result of an operation on tensors some of which have no data."""
    tensors = _tensors(args)
    if not any(type(t._raw) is MetaArray for t in tensors):
        return NOT_HANDLED
    mode = ready()
    outs, raws, promoted = _outcome(op, args, tensors)
    if mode.grad and not mode.inference:
        live = slow.live_mask(op, args)
        if live:
            slow.record(op, args, raws, outs, live, mode, promoted)
    if op.n_out == 1:
        return outs[0]
    return tuple(outs) if op.returns is None else op.returns(outs)


def _outcome(op: Op, args: Arguments, tensors: list[TensorBase]) -> Any:
    """The results without data, the arrays they were learnt from, and the common type."""
    if _of_row(op).shaped_by_values(args):
        raise NotImplementedError(
            f"aten::{op.name.lstrip('_')}: attempted to run this operator with Meta tensors, but "
            "its result depends on their data"
        )
    if not op.is_view:
        _meets_others(op, tensors)
    raws = [slow.to_raw(arg) for arg in args]
    if op.is_view:
        results = _run(op, args, raws)
        outs = slow.wrap(op, args, results, ready())
        arrays = [results] if op.n_out == 1 else list(results)
        for out, array in zip(outs, arrays, strict=True):
            out._raw = array if type(array) is MetaArray else T.as_array(array).view(MetaArray)
            mark_without_data(out)
        return outs, raws, None
    sizes = _true_sizes(op, args, raws)
    plain = [_plain(raw, sizes) for raw in raws]
    promoted = slow.promote(op, args, plain) if op.promote != PROMOTE_NONE else None
    if op.check is not None:
        op.check(args, plain)
    results = _run(op, args, plain)
    outs = slow.wrap(op, args, results, ready())
    for out in outs:
        shape = None if sizes is None else sizes.shape_of(out._raw.shape)
        if shape is None:
            out._raw = meta_like(out._raw)
        else:
            out._raw = _follow_layout(op, raws, shape, out._raw.dtype)
        mark_without_data(out)
    return outs, raws, promoted


def _follow_layout(op: Op, raws: Arguments, shape: tuple[int, ...], dtype: RawType) -> Array:
    """An array without data laid out like the first operand of its shape."""
    if _of_row(op).without_data == "one, in order":
        return meta_array(shape, dtype)
    for raw in raws:
        if isinstance(raw, T.ndarray) and raw.shape == shape:
            if raw.flags.c_contiguous or op.kind == "multilinear":
                break
            steps = T.byte_strides(meta_like(T.plain_array(raw)))
            return with_strides(shape, steps, dtype)
    return meta_array(shape, dtype)


def _run(op: Op, args: Arguments, raws: Arguments) -> Array | tuple[Array, ...]:
    try:
        return op.raw(*raws)
    except Exception as error:
        better = None if ERRORS.explain is None else ERRORS.explain(op, args, error, False)
        if better is None:
            raise
        raise better from None


def _plain(raw: object, sizes: _Aligned | _Renamed | None) -> Any:
    """An array, or a list of arrays, as the operation is run on it."""
    if isinstance(raw, T.ndarray):
        return T.plain_array(raw) if sizes is None else sizes.reduce(raw)
    if type(raw) is list:
        return [_plain(item, sizes) for item in raw]
    return raw


class _Aligned:
    """Sizes of operands that are broadcast: the operation is run on one element of each."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    def reduce(self, array: Array) -> Array:
        return corner(array, (1,) * array.ndim)

    def shape_of(self, found: tuple[int, ...]) -> tuple[int, ...]:
        return self.shape


class _Renamed:
    """Sizes that only meet or vanish: each is replaced by a small one that no other has."""

    def __init__(self, arrays: list[Array]) -> None:
        large = sorted({size for array in arrays for size in array.shape if size > 1})
        self.small = {size: 2 + k for k, size in enumerate(large)}
        self.large = {small: size for size, small in self.small.items()}

    def reduce(self, array: Array) -> Array:
        return corner(array, tuple(self.small.get(size, size) for size in array.shape))

    def shape_of(self, found: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(self.large.get(size, size) for size in found)


class _Channels:
    """Sizes of a convolution: one example, and a channel for each group, tell those in space."""

    def __init__(self, count: int, channels: int, groups: int) -> None:
        self.count, self.channels, self.groups = count, channels, groups
        self.turn = 0

    def reduce(self, array: Any) -> Array:
        self.turn += 1
        if self.turn == 1:  # the input
            return corner(array, (1, self.groups, *array.shape[2:]))
        if array.ndim == 1:  # the bias
            return corner(array, (self.groups,))
        return corner(array, (self.groups, 1, *array.shape[2:]))

    def shape_of(self, found: tuple[int, ...]) -> tuple[int, ...]:
        return (self.count, self.channels, *found[2:])


def _true_sizes(op: Op, args: Arguments, raws: Arguments) -> _Aligned | _Renamed | None:
    """How the operation is run on fewer elements; None: on all."""
    arrays = [raw for raw in raws if isinstance(raw, T.ndarray)]
    rule = _of_row(op).without_data
    if rule == "channels":
        return _convolution(*raws)
    if op.lists >= 0 or not arrays:
        return None
    if (op.kind == "elementwise" and op.n_out == 1) or rule.startswith("one"):
        apart = any(raw.ndim and not raw.flags.c_contiguous for raw in arrays)
        if apart and sum(raw.size for raw in arrays) <= _FEW:
            return None
        try:
            shape: tuple[int, ...] = ()
            for raw in arrays:
                shape = T.broadcast_shape(shape, raw.shape)
        except ValueError:
            return None  # the operation itself says why
        count = 1
        for size in shape:
            count *= size
        return None if count <= _FEW else _Aligned(shape)
    count = sum(raw.size for raw in arrays)
    if rule == "fewer" and count > _FEW:
        return _Renamed(arrays)
    if count > _MANY:
        raise NotImplementedError(
            f"{op.name} of meta tensors of {count} elements: Rushlight learns its result's shape "
            f"by running it on zeros, which it does for at most {_MANY}"
        )
    return None


def _convolution(
    x: Array,
    weight: Array,
    bias: Array | None,
    stride: Shape,
    padding: Shape,
    dilation: Shape,
    transposed: bool,
    output_padding: Shape,
    groups: int,
) -> Any:
    inputs, outputs = (0, 1) if transposed else (1, 0)
    channels = weight.shape[outputs] * (groups if transposed else 1)
    taken = weight.shape[inputs] * (1 if transposed else groups)
    if x.ndim != weight.ndim or x.shape[1] != taken or channels % groups or x.ndim < 3:
        return None  # the operation itself says why
    if bias is not None and bias.shape != (channels,):
        return None
    if x.size + weight.size <= _FEW or not x.shape[0]:
        return None
    return _Channels(x.shape[0], channels, groups)


def call_inplace(op: Op, args: Arguments, writer: AnyCallable | None) -> Any:
    """An operation that writes into its first argument, where an argument has no data.

    Raises:
        NotImplementedError: where what has no data is copied into what has.
        RuntimeError: as operations in place do.
    """
    tensors = _tensors(args)
    if not any(type(t._raw) is MetaArray for t in tensors):
        return NOT_HANDLED
    me: Any = args[0]
    mode = ready()
    beside = _of_row(op).beside_data
    if type(me._raw) is not MetaArray:
        if beside == "source":
            raise NotImplementedError(NO_DATA)
        _meets_others(op, tensors)
    elif beside != "source":
        _meets_others(op, tensors)
    live = 0
    if mode.grad and not mode.inference:
        view = me._view
        live = slow.live_mask(op, args)
        if live or me._requires_grad or (view is not None and view.tracked
                                         and view.base._requires_grad):  # fmt: skip
            check_writable(me)
    raws = [slow.to_raw(arg) for arg in args]
    promoted = None
    if writer is None:
        outs, _, promoted = _outcome(op, args, tensors)
        result = outs[0]._raw
        if promoted is T.from_raw(me._raw.dtype):
            promoted = None
        if op.promote != PROMOTE_NONE:
            check_cast(T.from_raw(result.dtype), me._raw)
        if result.shape != me._raw.shape:
            raise RuntimeError(errors.output_shape(me._raw.shape, result.shape))
    write(me, args, raws, None, op, live, mode, promoted, _nothing)
    return me


def _nothing(*raws: Array | float) -> None:
    """Writes nothing."""


def receive_gradient(leaf: Any, g: Tensor) -> bool:
    """Gives a leaf a gradient without data; False where the gradient has data.

    Hooks that wait for a finished gradient are not run: there is nothing that they could read.
    """
    if type(g._raw) is not MetaArray:
        return False
    if leaf._grad is None:
        leaf._grad = without_data(meta_like(T.plain_array(g._raw)))
    else:
        bump(leaf._grad)
    return True


class _Dataless(Interposer):
    """Tensors without data."""

    def call(self, op: Op, args: Arguments, mode: Mode, layered: bool) -> Any:
        """An operation that computes shapes and types."""
        return call(op, args) if layered else NOT_HANDLED

    def write(
        self, op: Op, args: Arguments, writer: AnyCallable | None, mode: Mode, layered: bool
    ) -> Any:
        """A write that changes nothing but the version."""
        return call_inplace(op, args, writer) if layered else NOT_HANDLED

    def read(self, t: TensorBase) -> Any:
        """Refuses to read what isn't there."""
        refuse_item(t)
        return NOT_HANDLED

    def receive(self, leaf: TensorBase, g: Any) -> Any:
        """A gradient without data."""
        return leaf if receive_gradient(leaf, g) else NOT_HANDLED


interpose("dataless", _Dataless())
