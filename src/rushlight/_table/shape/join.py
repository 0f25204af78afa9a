"""Joining and splitting: tensors one after the other, stacked, in pieces."""

from __future__ import annotations

from itertools import pairwise
from operator import index
from typing import Any

from ..._array import types as T
from ..._array.axes import axis_of
from ..._array.shape import concatenate as raw
from ..._base import dtypes as D, errors
from ..._core.apply import apply_list, apply_n, apply_view
from ..._core.interposers import NOT_HANDLED, misfit
from ..._core.slow import read_by_python
from ..._core.storage import TensorBase
from ..calls.argument_parser import complaint_of_c, is_index
from ..calls.call_errors import combination
from ..calls.deprecated_orders import say_better
from ..calls.dispatch import Dispatcher
from ..rows.composite import METHODS, composite
from ..rows.row import Row, linear
from ..rows.tensor_namespace import table
from .shape import expand, flatten, reshape, unsqueeze, view
from .slices import slice_


# ---- one after the other ----------------------------------------------------------------------
def _cat_backward(xp: Any, g: Any, tensors_shape: Any, dim: int, need: Any) -> list[Any]:
    """The gradient of each tensor of `cat`: its part of the whole; empty vectors got no place."""
    start = 0
    ndim = g.ndim
    dim = dim % ndim
    grads: list[Any] = []
    for wanted, shape in zip(need, tensors_shape):
        if shape == (0,) and ndim != 1:
            grads.append(xp.zeros(shape, g.dtype) if wanted else None)
            continue
        n = shape[dim]
        grads.append(xp.slice(g, dim, start, start + n, 1) if wanted else None)
        start += n
    return grads


cat = linear(
    "cat(Tensor[] tensors, int dim=0) -> Tensor",
    raw.cat,
    joint=_cat_backward,
    holomorphic=False,
    method=False,
    lowering="cat",
    samples=lambda mk: [([mk(2, 3), mk(4, 3)], 0), ([mk(2, 3), mk(2, 1)], -1), ([mk(0), mk(2)], 0)],
    doc="The tensors one after the other along a dimension.",
)


def _stack_backward(xp: Any, g: Any, dim: int, need: Any) -> list[Any]:
    """The gradient of each tensor of `stack`: its part of the whole."""
    return [xp.select(g, dim, k) if wanted else None for k, wanted in enumerate(need)]


stack = linear(
    "stack(Tensor[] tensors, int dim=0) -> Tensor",
    raw.stack,
    joint=_stack_backward,
    holomorphic=False,
    method=False,
    lowering="stack",
    samples=lambda mk: [([mk(2, 3), mk(2, 3)], 0), ([mk(2, 3), mk(2, 3)], -1), ([mk(), mk()], 0)],
    doc="The tensors along a new dimension.",
)


def _checked(tensors: Any) -> list[Any]:
    """The tensors as a list; the words of the call can't tell what a list holds."""
    found = list(tensors)
    for place, x in enumerate(found):
        if not isinstance(x, TensorBase):
            raise TypeError(
                f"expected Tensor as element {place} in argument 0, but got {errors.type_name(x)}"
            )
    return found


def _joining(name: str, row: Row, doc: str) -> Any:
    """The public function of a row on a list; its usual calls go straight to the core."""
    words = Dispatcher(name, [row])

    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            if args and isinstance(args[0], (list, tuple)):
                dim: Any = None
                if not kwargs:
                    dim = 0 if len(args) == 1 else args[1] if len(args) == 2 else None
                elif len(args) == 1 and len(kwargs) == 1:
                    dim = kwargs.get("dim")
                if type(dim) is int:
                    return apply_list(row.op, _checked(args[0]), (dim,))
                _checked(args[0])
            return words(*args, **kwargs)
        except TypeError:
            # What classes that are no tensors make of it.
            handled = misfit(function, args, kwargs)
            if handled is NOT_HANDLED:
                raise
            return handled

    function.__name__, function.__qualname__ = name, f"_{name}"  # where a pickle finds it
    function.__doc__ = doc
    return composite("", name=name)(function)


_cat = _joining("cat", cat, "The tensors one after the other along a dimension.")
_concat = _joining("concat", cat, "Another name of `cat`.")
_concatenate = _joining("concatenate", cat, "Another name of `cat`.")
_stack = _joining("stack", stack, "The tensors along a new dimension.")


def _list(tensors: Any, name: str) -> list[Any]:
    found = list(tensors)
    if not found:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return found


def _finished(result: Any, out: Any) -> Any:
    if out is None:
        return result
    from ..rows.out_argument import place

    place(out, result._raw)
    return out


@composite("")
def hstack(tensors: Any, *, out: Any = None) -> Any:
    """The tensors joined along their second dimension; vectors along their only one."""
    found = [atleast_1d(x) for x in _list(tensors, "hstack")]
    return _finished(apply_list(cat.op, found, (0 if found[0]._raw.ndim == 1 else 1,)), out)


@composite("")
def vstack(tensors: Any, *, out: Any = None) -> Any:
    """The tensors joined along their first dimension; vectors as rows."""
    return _finished(apply_n(cat.op, [[atleast_2d(x) for x in _list(tensors, "vstack")], 0]), out)


composite("", name="row_stack")(vstack)


@composite("")
def dstack(tensors: Any, *, out: Any = None) -> Any:
    """The tensors joined along their third dimension."""
    return _finished(apply_n(cat.op, [[atleast_3d(x) for x in _list(tensors, "dstack")], 2]), out)


@composite("")
def column_stack(tensors: Any, *, out: Any = None) -> Any:
    """The tensors joined along their second dimension; vectors as columns."""
    found = [
        reshape(x, (x._raw.size, 1)) if x._raw.ndim <= 1 else x
        for x in _list(tensors, "column_stack")
    ]
    return _finished(apply_list(cat.op, found, (1,)), out)


def _block_backward(xp: Any, g: Any, tensors_shape: Any, need: Any) -> list[Any]:
    """The gradient of each block of `block_diag`: its part of the matrix, in its own shape."""
    row = column = 0
    grads: list[Any] = []
    for wanted, shape in zip(need, tensors_shape):
        rows, columns = ((1, 1) + tuple(shape))[-2:]
        part: Any = None
        if wanted:
            part = xp.slice(xp.slice(g, 0, row, row + rows, 1), 1, column, column + columns, 1)
            part = xp.reshape(part, tuple(shape))
        grads.append(part)
        row += rows
        column += columns
    return grads


block_diag_ = linear(
    "_block_diag(Tensor[] tensors) -> Tensor",
    raw.block_diag,
    joint=_block_backward,
    node="BlockDiagBackward0",
    holomorphic=False,
    method=False,
    public=False,
    samples=lambda mk: [([mk(2, 3), mk(3), mk()],)],
    doc="A matrix with the given ones along its diagonal.",
)


@composite("")
def block_diag(*tensors: Any) -> Any:
    """A matrix with the given ones along its diagonal, zeros elsewhere."""
    return apply_n(block_diag_.op, [_checked(tensors)])


# ---- pieces -----------------------------------------------------------------------------------
def _zeros(xp: Any, shape: Any, dim: int, size: int, dtype: Any) -> Any:
    whole = list(shape)
    whole[dim % len(whole)] = size
    return xp.zeros(tuple(whole), dtype)


def _pieces(xp: Any, gs: Any, sizes: Any, shape: Any, dtype: Any, dim: int) -> Any:
    """The gradients of the pieces joined again; zeros where a piece got none."""
    return xp.cat(
        [_zeros(xp, shape, dim, n, dtype) if g is None else g for g, n in zip(gs, sizes)], dim
    )


def _equal_sizes(n: int, size: int) -> list[int]:
    if not size or not n:
        return [n]
    return [min(size, n - k) for k in range(0, n, size)]


def _split_backward(
    xp: Any, gs: Any, self_shape: Any, self_dtype: Any, split_size: int, dim: int
) -> Any:
    sizes = _equal_sizes(self_shape[dim % len(self_shape)], split_size)
    return _pieces(xp, gs, sizes, self_shape, self_dtype, dim)


def _sizes_backward(
    xp: Any, gs: Any, self_shape: Any, self_dtype: Any, split_sizes: Any, dim: int
) -> Any:
    return _pieces(xp, gs, split_sizes, self_shape, self_dtype, dim)


def _unbind_backward(xp: Any, gs: Any, self_shape: Any, self_dtype: Any, dim: int) -> Any:
    axis = dim % len(self_shape)
    part = tuple(self_shape[:axis]) + tuple(self_shape[axis + 1 :])
    return xp.stack([xp.zeros(part, self_dtype) if g is None else g for g in gs], axis)


split_ = linear(
    "split.Tensor(Tensor(a) self, int split_size, int dim=0) -> Tensor(a)[]",
    raw.split,
    self=_split_backward,
    node="SplitBackward0",
    holomorphic=False,
    public=False,
    method=False,
    samples=lambda mk: [(mk(5, 2), 2), (mk(2, 3), 3, -1)],
    doc="The pieces of a size along a dimension; the last one may be smaller.",
)
split_with_sizes = linear(
    "split_with_sizes(Tensor(a) self, int[] split_sizes, int dim=0) -> Tensor(a)[]",
    raw.split_with_sizes,
    self=_sizes_backward,
    holomorphic=False,
    samples=lambda mk: [(mk(5, 2), (2, 0, 3)), (mk(2, 3), (3,), -1)],
    doc="The pieces of the given sizes along a dimension.",
)
unsafe_split = linear(
    "unsafe_split.Tensor(Tensor self, int split_size, int dim=0) -> Tensor[]",
    raw.split,
    self=_split_backward,
    node="UnsafeSplitBackward0",
    holomorphic=False,
    samples=lambda mk: [(mk(5, 2), 2)],
    doc="The pieces of a size along a dimension: the same memory, without the records of a view.",
)
unsafe_split_with_sizes = linear(
    "unsafe_split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]",
    raw.split_with_sizes,
    self=_sizes_backward,
    holomorphic=False,
    samples=lambda mk: [(mk(5, 2), (2, 3))],
    doc="The pieces of the given sizes along a dimension: the same memory, no views.",
)
unbind = linear(
    "unbind.int(Tensor(a) self, int dim=0) -> Tensor(a)[]",
    raw.unbind,
    self=_unbind_backward,
    node="UnbindBackward0",
    holomorphic=False,
    saved_as={"self_shape": None},
    samples=lambda mk: [(mk(3, 2),), (mk(2, 3), -1)],
    doc="The parts at all places of a dimension.",
)


@composite("")
def split(tensor: Any, split_size_or_sections: Any, dim: int = 0) -> Any:
    """The pieces of a size, or of several sizes, along a dimension."""
    size = split_size_or_sections
    if type(dim) is int:
        if type(size) is int:
            return apply_n(split_.op, [tensor, size, dim])
        if type(size) in (tuple, list) and all(type(n) is int for n in size):
            return apply_n(split_with_sizes.op, [tensor, tuple(size), dim])
    if isinstance(size, TensorBase) and size._raw.size == 1:
        size = int(size)  # type: ignore[call-overload]
    called = "split" if isinstance(size, int) else "split_with_sizes"
    problem = complaint_of_c("torch", called, (tensor, size, dim), {})
    if problem is not None:
        raise problem
    dim = index(dim)
    if isinstance(size, int):
        return apply_n(split_.op, [tensor, index(size), dim])
    return apply_n(split_with_sizes.op, [tensor, tuple([int(n) for n in size]), dim])


def _split_method(self: Any, split_size: Any, dim: int = 0) -> Any:
    """The pieces of a size, or of several sizes, along a dimension."""
    return split(self, split_size, dim)


METHODS["split"] = _split_method
_split_method.__name__ = _split_method.__qualname__ = "split"


def _chunk_size(array: Any, chunks: int, dim: int) -> int:
    if array.ndim == 0:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    return int(-(-array.shape[axis_of(dim, array.ndim)] // chunks))


@composite("", method=True, numpy_words=True)
def chunk(input: Any, chunks: int, dim: int = 0) -> Any:
    """At most `chunks` pieces along a dimension, all of one size but the last."""
    size = _chunk_size(input._raw, chunks, dim)
    if not size:
        return apply_n(split_with_sizes.op, [input, (0,) * chunks, dim])
    return apply_n(split_.op, [input, size, dim])


@composite("", method=True)
def unsafe_chunk(input: Any, chunks: int, dim: int = 0) -> Any:
    """At most `chunks` pieces along a dimension: the same memory, without the records of views."""
    size = _chunk_size(input._raw, chunks, dim)
    if not size:
        return apply_n(unsafe_split_with_sizes.op, [input, (0,) * chunks, dim])
    return apply_n(unsafe_split.op, [input, size, dim])


@composite("", method=True, numpy_words=True)
def tensor_split(
    input: Any,
    indices_or_sections: Any = None,
    dim: int = 0,
    *,
    sections: Any = None,
    indices: Any = None,
) -> Any:
    """The pieces along a dimension: a number of nearly equal ones, or those between places."""
    where = next(v for v in (indices_or_sections, indices, sections) if v is not None)
    array = input._raw
    if array.ndim == 0:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    if isinstance(where, TensorBase):
        where = _places_in(where)
    axis = axis_of(dim, array.ndim)
    n = array.shape[axis]
    if isinstance(where, int):
        if where <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {where}")
        size, more = divmod(n, where)
        ends = [(k + 1) * size + min(k + 1, more) for k in range(where)]
    else:
        ends = [*where, n]
    pieces: list[Any] = []
    start = 0
    for end in ends:
        pieces.append(apply_view(slice_.op, input, (axis, start, end, 1)))
        start = end
    return tuple(pieces)


def _places_in(where: Any) -> Any:
    array = read_by_python(where, "tensor_split()")
    if array.dtype.kind != "i" or array.itemsize != 8:
        name = T.type_name(array.dtype)[6:-6]
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
            f"{name}"
        )
    if array.ndim > 1:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
            "one-dimensional "
            f"tensor, but got a tensor with {array.ndim} dims"
        )
    return array.tolist()


def _along(name: str, least: int, axis: Any) -> None:
    def pieces(
        input: Any, indices_or_sections: Any = None, *, sections: Any = None, indices: Any = None
    ) -> Any:
        where = next(v for v in (indices_or_sections, indices, sections) if v is not None)
        shape = input._raw.shape
        if len(shape) < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a "
                "tensor with "
                f"{len(shape)} dimensions!"
            )
        if not isinstance(where, list | tuple):
            if not is_index(where):
                raise combination(name, (input, where), {})
            where = int(where)
            if not -(1 << 63) <= where < 1 << 63:
                raise ValueError("Overflow when unpacking long long")
        dim = axis(len(shape))
        if isinstance(where, int) and (not where or shape[dim] % where):
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {dim}, but the size of the "
                "dimension "
                f"{shape[dim]} is not divisible by the split_size {where}!"
            )
        return tensor_split(input, where, dim)

    pieces.__name__ = pieces.__qualname__ = name
    pieces.__doc__ = (
        "The pieces along a dimension: a number of equal ones, or those between given places."
    )
    composite("", method=True, name=name)(pieces)


_along("hsplit", 1, lambda ndim: 0 if ndim == 1 else 1)
_along("vsplit", 2, lambda ndim: 0)
_along("dsplit", 3, lambda ndim: 2)


# ---- common shapes ----------------------------------------------------------------------------
def _each(name: str, function: Any, tensors: tuple[Any, ...]) -> Any:
    if len(tensors) == 1:
        if isinstance(tensors[0], TensorBase):
            return function(tensors[0])
        if not isinstance(tensors[0], (tuple, list)):
            raise combination(name, tensors, {})
        tensors = tuple(tensors[0])
    for place, x in enumerate(tensors):
        if not isinstance(x, TensorBase):
            kind = errors.type_name(x)
            raise TypeError(f"expected Tensor as element {place} in argument 0, but got {kind}")
    return tuple([function(x) for x in tensors])


def _one_dimension(x: Any) -> Any:
    return reshape(x, (1,)) if x._raw.ndim == 0 else x


def _two_dimensions(x: Any) -> Any:
    if x._raw.ndim == 0:
        return reshape(x, (1, 1))
    return apply_view(unsqueeze.op, x, (0,)) if x._raw.ndim == 1 else x


def _three_dimensions(x: Any) -> Any:
    ndim = x._raw.ndim
    if ndim == 0:
        return reshape(x, (1, 1, 1))
    if ndim == 1:
        x = apply_view(unsqueeze.op, x, (0,))
    return apply_view(unsqueeze.op, x, (-1,)) if ndim < 3 else x


@composite("")
def atleast_1d(*tensors: Any) -> Any:
    """The tensor with at least one dimension; a tuple for several tensors."""
    return _each("atleast_1d", _one_dimension, tensors)


@composite("")
def atleast_2d(*tensors: Any) -> Any:
    """The tensor with at least two dimensions; a tuple for several tensors."""
    return _each("atleast_2d", _two_dimensions, tensors)


@composite("")
def atleast_3d(*tensors: Any) -> Any:
    """The tensor with at least three dimensions; a tuple for several tensors."""
    return _each("atleast_3d", _three_dimensions, tensors)


def _shape_together(shapes: Any) -> tuple[int, ...]:
    found: tuple[int, ...] = ()
    for shape in shapes:
        wrong = errors.broadcast(found, shape)
        if wrong is not None:
            raise RuntimeError(wrong)
        lead = max(len(found), len(shape))
        a = (1,) * (lead - len(found)) + tuple(found)
        b = (1,) * (lead - len(shape)) + tuple(shape)
        found = tuple([n if m == 1 else m for m, n in zip(a, b)])
    return found


@composite("")
def broadcast_tensors(*tensors: Any) -> Any:
    """The tensors expanded to their common shape, without copying."""
    _checked(tensors)
    shape = _shape_together([x._raw.shape for x in tensors])
    return tuple(
        [x if x._raw.shape == shape else apply_view(expand.op, x, (shape, True)) for x in tensors]
    )


@composite("")
def broadcast_shapes(*shapes: Any) -> Any:
    """The common shape that tensors of the given shapes broadcast to.

    Raises:
        RuntimeError, ValueError: where they have none.
    """
    from ..._base.size import Size

    known = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    lead = max((len(s) for s in known), default=0)
    found = [1] * lead
    for place, shape in enumerate(known):
        for back in range(1, len(shape) + 1):
            n = shape[-back]
            if n < 0:
                raise ValueError("Attempting to broadcast a dimension with negative length!")
            if n in (1, found[-back]):
                continue
            if found[-back] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {n} at {-back}! Mismatching "
                    "argument "
                    f"at index {place} had {shape}; but expected shape should be broadcastable "
                    f"to {found}"
                )
            found[-back] = n
    return Size(found)


@composite("")
def meshgrid(*tensors: Any, indexing: str | None = None) -> Any:
    """Every vector expanded along its own dimension of a common grid."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    _checked(tensors)
    if indexing is None:
        say_better("meshgrid")
    elif not isinstance(indexing, str):
        kind = errors.type_name(indexing)
        raise TypeError(f"meshgrid(): argument 'indexing' must be str, not {kind}")
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing is None:
        pass
    elif indexing not in ("ij", "xy"):
        raise RuntimeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    for x in tensors:
        if x._raw.dtype != tensors[0]._raw.dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    for x in tensors:
        if x._raw.ndim > 1:
            raise RuntimeError(
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {x}"
            )
    places = list(range(len(tensors)))  # the dimension along which each vector lies
    if indexing == "xy" and len(tensors) >= 2:
        places[0], places[1] = 1, 0
    shape = [0] * len(tensors)
    for place, x in zip(places, tensors):
        shape[place] = x._raw.size
    grids: list[Any] = []
    for place, x in zip(places, tensors):
        row = [1] * len(tensors)
        row[place] = x._raw.size
        seen = (
            apply_view(view.op, x, (tuple(row),)) if x._raw.flags.c_contiguous else reshape(x, row)
        )
        grids.append(apply_view(expand.op, seen, (tuple(shape), False)))
    return tuple(grids)


@composite("")
def cartesian_prod(*tensors: Any) -> Any:
    """All tuples with one element of each vector, as rows."""
    for x in _checked(tensors):
        if x._raw.ndim != 1:
            raise RuntimeError(
                f"Expect a 1D vector, but got shape {errors.shape_text(x._raw.shape)}"
            )
    if len(tensors) == 1:
        return tensors[0]
    grids = meshgrid(*tensors, indexing="ij")
    return apply_n(stack.op, [[flatten(grid) for grid in grids], 1])


@composite("")
def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """All combinations of `r` elements of a vector, as rows."""
    if input._raw.ndim != 1:
        raise RuntimeError(
            f"Expect a 1D vector, but got shape {errors.shape_text(input._raw.shape)}"
        )
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return table("empty")((0,), dtype=T.from_raw(input._raw.dtype))
    n = input._raw.size
    places = meshgrid(*[table("arange")(n)] * r, indexing="ij")
    mask: Any = None
    for a, b in pairwise(places):
        rising = table("le" if with_replacement else "lt")(a, b)
        mask = rising if mask is None else table("logical_and")(mask, rising)
    if mask is None:
        mask = table("ones")((n,), dtype=D.bool_)
    grids = meshgrid(*[input] * r, indexing="ij")
    return apply_n(stack.op, [[table("masked_select")(grid, mask) for grid in grids], 1])
