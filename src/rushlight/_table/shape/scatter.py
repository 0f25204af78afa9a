"""Reading and writing at computed places: gather, scatter, index_add, take, put, and masks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._array.axes import axis_of
from ..._base import errors
from ..._base.lazy import later
from ..._core.apply import apply_n, apply_view
from ..._core.slow import holds
from ..calls import dtype_checks as _checks
from ..calls.deprecated_orders import warn_of_better
from ..calls.operand_fit import explain_masked_scatter
from ..rows.composite import composite
from ..rows.expanded_writes import warn_as
from ..rows.out_argument import apply_out, give
from ..rows.out_rules import OutRules, before_others, before_places
from ..rows.row import general, linear
from ..rows.tensor_namespace import table
from ..rows.warn_once import say_once
from .shape import expand, reshape

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from ..._base.annotations import Arguments, Namespace, TensorLike
    from ..._tensor.tensor import Tensor

raw = later("_array.shape.indexing")
placing = later("_array.shape.scatter")

# ---- along a dimension ------------------------------------------------------------------------
index_select = linear(
    "index_select(Tensor self, int dim, Tensor index) -> Tensor",
    placing.index_select,
    self=lambda xp, g, self_shape, dim, index: xp.index_select_backward(g, self_shape, dim, index),
    holomorphic=False,
    refuses_values="any",
    lowering="index_select",
    samples=lambda mk: [(mk(5, 3), 0, mk(4, low=0, high=5, integer=True)),
                        (mk(5, 3), -1, mk(2, low=0, high=3, integer=True))],
    out_rules=OutRules(types_first=before_places, apart=True, grows=True),
    doc="The parts at the places `index` of a dimension.",
    narrow="all", beside_data="any",
)  # fmt: skip
index_select_backward = linear(
    "index_select_backward(Tensor grad, int[] shape, int dim, Tensor index) -> Tensor",
    placing.index_select_backward,
    grad=lambda xp, g, dim, index: xp.index_select(g, dim, index),
    node="IndexAddBackward0",
    holomorphic=False,
    namespace="private",
    refuses_values="any",
    lowering="index_select_backward",
    samples=lambda mk: [(mk(4, 3), (5, 3), 0, mk(4, low=0, high=5, integer=True))],
    doc="A gradient added at its places in zeros.",
    beside_data="any",
)


def _read_back(
    xp: ModuleType, g: TensorLike, dim: int, index: TensorLike, source_shape: tuple[int, ...]
) -> TensorLike:
    """The gradient of what was written at `index`: the gradient read there, reshaped."""
    return xp.reshape(xp.index_select(g, dim, index), source_shape)


index_add = linear(
    "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
    placing.index_add,
    self=lambda g: g,
    source=lambda xp, g, dim, index, source_shape, alpha: (
        _read_back(xp, g, dim, index, source_shape) * alpha
    ),
    holomorphic=False,
    inplace=True,
    into=placing.index_add_into,
    refuses_values="any",
    lowering="index_add",
    samples=lambda mk: [(mk(5, 3), 0, mk(4, low=0, high=5, integer=True), mk(4, 3))],
    shared="last",
    vmap_write="index_add_",
    doc="A copy with `alpha` times the parts of `source` added at places of a dimension.",
    narrow="complex32",
    kernel="index_add_",
    beside_data="any",
)
index_copy = linear(
    "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
    placing.index_copy,
    self=lambda xp, g, dim, index: xp.index_fill(g, dim, index, 0),
    source=lambda xp, g, dim, index, source_shape: _read_back(xp, g, dim, index, source_shape),
    holomorphic=False,
    inplace=True,
    into=placing.index_copy_into,
    refuses_values="any",
    samples=lambda mk: [(mk(2, 3), 0, mk(1, low=0, high=2, integer=True), mk(1, 3))],
    shared="first",
    out_rules=OutRules(named="index_copy"),
    doc="A copy with the parts of `source` written at the places `index` of a dimension.",
    narrow="complex32",
    beside_data="any",
)
index_fill_tensor = linear(
    "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
    placing.index_fill,
    self=lambda xp, g, dim, index: xp.index_fill(g, dim, index, 0),
    value=lambda xp, g, dim, index: xp.sum(g - xp.index_fill(g, dim, index, 0)),
    node="IndexFillBackward1",
    holomorphic=False,
    inplace=True,
    into=placing.index_fill_into,
    refuses_values="any",
    samples=lambda mk: [(mk(5, 3), 0, mk(1, low=0, high=5, integer=True), mk())],
    shared="never",
    expanded=warn_as("index_fill", 1913),
    vmap_write="index_fill_",
    doc="A copy with one value at the places `index` of a dimension.",
    narrow="complex32",
    beside_data="any",
)
index_fill_scalar = general(
    "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    placing.index_fill,
    self=lambda xp, g, dim, index: xp.index_fill(g, dim, index, 0),
    holomorphic=False,
    inplace=True,
    into=placing.index_fill_into,
    refuses_values="any",
    samples=lambda mk: [(mk(5, 3), 0, mk(2, low=0, high=5, integer=True), 2.5)],
    shared="last",
    expanded=warn_as("index_fill", 1913),
    vmap_write="index_fill_",
    doc="A copy with one value at the places `index` of a dimension.",
    beside_data="any",
)

# ---- gather and scatter -----------------------------------------------------------------------
gather = linear(
    "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
    placing.gather,
    self=lambda xp, g, self_shape, dim, index: xp.scatter_add(
        xp.zeros(self_shape, g.dtype), dim, index, g
    ),
    holomorphic=False,
    refuses_values="any",
    lowering="gather",
    samples=lambda mk: [(mk(5, 3), 0, mk(4, 3, low=0, high=5, integer=True))],
    out_rules=OutRules(types_first=before_others, apart=True),
    doc="The elements that `index` names along a dimension.",
    kernel="scatter_gather_tensor_cpu",
)
scatter_src = linear(
    "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    placing.scatter,
    self=lambda xp, g, dim, index: xp.scatter(g, dim, index, 0),
    src=lambda xp, g, dim, index, src_shape: _gather_gradient(xp, g, dim, index, src_shape),
    holomorphic=False,
    inplace=True,
    into=placing.scatter_into,
    saved_as={"src_shape": None},
    refuses_values="any",
    lowering="scatter",
    samples=lambda mk: [(mk(4, 3), 0, mk(1, 3, low=0, high=4, integer=True), mk(1, 3))],
    shared="last",
    doc="A copy with the elements of `src` written where `index` names along a dimension.",
    kernel="scatter_gather_tensor_cpu",
)
scatter_value = general(
    "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    placing.scatter,
    self=lambda xp, g, dim, index: xp.scatter(g, dim, index, 0),
    node="ScatterBackward1",
    holomorphic=False,
    inplace=True,
    into=placing.scatter_into,
    refuses_values="any",
    lowering="scatter",
    samples=lambda mk: [(mk(4, 3), 0, mk(2, 3, low=0, high=4, integer=True), 2.5)],
    shared="last",
    doc="A copy with one value written where `index` names along a dimension.",
)


def _warn_of_reduce(args: Arguments, raws: Arguments) -> None:
    say_once(
        "scatter reduce",
        "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed "
        "in a future PyTorch release. Use torch.scatter_reduce instead for more reduction options.",
    )


scatter_with = general(
    "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
    placing.scatter,
    self=_checks.no_derivative("scatter"),
    src=_checks.no_derivative("scatter"),
    node="NotImplemented",
    inplace=True,
    check=_warn_of_reduce,
    refuses_values="any",
    lowering="scatter",
    samples=lambda mk: [(mk(4, 3), 0, mk(2, 3, low=0, high=4, integer=True), mk(2, 3), "add")],
    shared="last",
    doc="A copy with the elements of `src` added to (or multiplied into) the places of `index`.",
)
scatter_value_with = general(
    "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> "
    "Tensor",
    placing.scatter,
    self=_checks.no_derivative("scatter"),
    node="NotImplemented",
    inplace=True,
    refuses_values="any",
    lowering="scatter",
    samples=lambda mk: [(mk(4, 3), 0, mk(2, 3, low=0, high=4, integer=True), 2.5, "multiply")],
    shared="last",
    doc="A copy with one value added to (or multiplied into) the places of `index`.",
)


def _gather_gradient(
    xp: ModuleType, g: TensorLike, dim: int, index: TensorLike, src_shape: tuple[int, ...]
) -> TensorLike:
    """The gradient of `scatter`'s source: that of the elements which were read, zeros elsewhere."""
    found = xp.gather(g, dim, index)
    for d, n in enumerate(found.shape):
        if n != src_shape[d]:
            found = xp.slice_backward(
                found, (*found.shape[:d], src_shape[d], *found.shape[d + 1 :]), d, 0, n, 1
            )
    return found


scatter_add = linear(
    "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    placing.scatter_add,
    self=lambda g: g,
    src=lambda xp, g, dim, index, src_shape: _gather_gradient(xp, g, dim, index, src_shape),
    holomorphic=False,
    inplace=True,
    saved_as={"src_shape": None},
    refuses_values="any",
    lowering="scatter_add",
    samples=lambda mk: [(mk(4, 3), 0, mk(5, 3, low=0, high=4, integer=True), mk(5, 3))],
    shared="last",
    vmap_write="scatter_add_",
    doc="A copy with the elements of `src` added where `index` names along a dimension.",
    kernel="scatter_gather_tensor_cpu",
)


def _reduce_backward(
    xp: ModuleType,
    g: TensorLike,
    self: Any,
    dim: int,
    index: TensorLike,
    src: Any,
    reduce: str,
    include_self: bool,
    result: Any,
    need: list[bool],
) -> list[Any]:
    """The gradients of `scatter_reduce`.

    A sum passes `g` on; a mean divides it by the number of elements reduced; an extreme shares it
    among the elements equal to the result; a product multiplies it by the product of the others,
    computed without division where there is a zero.
    """
    to_self: Any = None
    to_src: Any = None
    if reduce == "sum":
        to_self, to_src = g, xp.gather(g, dim, index)
    elif reduce == "mean":
        ones = xp.zeros(src.shape, g.dtype) + 1
        start = xp.zeros(self.shape, g.dtype) + (1 if include_self else 0)
        count = xp.scatter_add(start, dim, index, ones)
        share = g / xp.where(count == 0, 1, count)
        to_self, to_src = share, xp.gather(share, dim, index)
    elif reduce in ("amax", "amin"):
        zeros = xp.zeros(self.shape, g.dtype)
        mine = xp.where(self == result, zeros + 1, zeros)
        theirs = xp.where(src == xp.gather(result, dim, index), 1.0, 0.0)
        theirs = theirs + xp.gather(zeros, dim, index)
        share = g / _at_least_one(xp, xp.scatter_add(zeros, dim, index, theirs) + mine)
        to_self, to_src = mine * share, theirs * xp.gather(share, dim, index)
    else:
        to_self, to_src = _product_backward(xp, g, self, dim, index, src, include_self, result)
    if not include_self:
        to_self = xp.scatter(to_self, dim, index, 0)
    if to_src is not None and src.shape != to_src.shape:
        to_src = _fill_out(xp, to_src, src.shape)
    return [to_self if need[0] else None, to_src if need[1] else None]


def _at_least_one(xp: Namespace, count: object) -> TensorLike:
    return xp.where(count == 0, 1, count)


def _fill_out(xp: Namespace, part: Any, shape: tuple[int, ...]) -> Any:
    for d, n in enumerate(part.shape):
        if n != shape[d]:
            part = xp.slice_backward(
                part, (*part.shape[:d], shape[d], *part.shape[d + 1 :]), d, 0, n, 1
            )
    return part


def _product_backward(
    xp: Namespace,
    g: TensorLike,
    self: Any,
    dim: int,
    index: TensorLike,
    src: Any,
    include_self: bool,
    result: TensorLike,
) -> tuple[TensorLike, TensorLike]:
    zeros = xp.zeros(self.shape, g.dtype)
    safe_self = xp.where(self == 0, 1, self)
    others = xp.scatter_reduce(safe_self, dim, index, src, "prod", include_self=include_self)
    to_self = g * others / safe_self
    zero = src == 0
    count = xp.scatter_add(zeros, dim, index, xp.where(zero, 1.0, 0.0) + 0 * src)
    lone = xp.logical_and(zero, xp.gather(count, dim, index) == 1)
    without = xp.scatter_reduce(
        self, dim, index, xp.where(lone, 1, src), "prod", include_self=include_self
    )
    divided = xp.gather(g * result, dim, index) / xp.where(zero, 1, src)
    if not isinstance(g, T.ndarray):  # of two zeros each is the other's gradient
        pair = xp.logical_and(zero, xp.gather(count, dim, index) == 2)
        both = xp.scatter_add(zeros, dim, index, xp.where(zero, src, 0))
        rest = xp.scatter_reduce(
            self, dim, index, xp.where(zero, 1, src), "prod", include_self=include_self
        )
        other = xp.gather(both, dim, index) - src
        divided = xp.where(pair, xp.gather(g * rest, dim, index) * other, divided)
    return to_self, xp.where(lone, xp.gather(g * without, dim, index), divided)


def _scatter_reduce_backward(xp: Any, g: Any, *rest: Any) -> list[Any]:
    """The gradients of (self, src): the index has none."""
    self, dim, index, src, reduce, include_self, result, need = rest
    return _reduce_backward(xp, g, self, dim, index, src, reduce, include_self, result, need)


scatter_reduce = general(
    "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, "
    "bool include_self=True) -> Tensor",
    placing.scatter_reduce,
    joint=lambda xp, g, self, dim, index, src, reduce, include_self, out, need: (
        _scatter_reduce_backward(xp, g, self, dim, index, src, reduce, include_self, out, need)
    ),
    index=None,
    inplace=True,
    refuses_values="any",
    samples=lambda mk: [(mk(4, 3), 0, mk(5, 3, low=0, high=4, integer=True), mk(5, 3), r)
                        for r in ("sum", "mean", "prod", "amax", "amin")],
    shared="last",
    real_only=True,
    doc="A copy in which the elements of `src` that have one place are reduced.",
    kernel="scatter_reduce_exclude_input_init",
)  # fmt: skip


def _index_reduce_backward(
    xp: ModuleType,
    g: TensorLike,
    self: TensorLike,
    dim: int,
    index: TensorLike,
    source: TensorLike,
    reduce: str,
    include_self: bool,
    result: TensorLike,
    need: list[bool],
) -> Sequence[TensorLike]:
    """The gradients of `index_reduce`: those of `scatter_reduce` with the index expanded over the
    source.
    """
    axis = dim % max(self.ndim, 1)
    ndim = source.ndim
    shape = (1,) * axis + (-1,) + (1,) * (ndim - 1 - axis) if ndim else ()
    row = xp.reshape(index, shape)
    wide = xp.broadcast_to(row, source.shape)
    return _reduce_backward(xp, g, self, axis, wide, source, reduce, include_self, result, need)


index_reduce = general(
    "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, "
    "bool include_self=True) -> Tensor",
    warn_of_better("index_reduce", placing.index_reduce),
    joint=lambda xp, g, self, dim, index, source, reduce, include_self, out, need: (
        _index_reduce_backward(
            xp, g, self, dim, index, source, reduce, include_self, out, need
        )
    ),
    index=None,
    inplace=True,
    refuses_values="any",
    samples=lambda mk: [(mk(4, 3), 0, mk(5, low=0, high=4, integer=True), mk(5, 3), r)
                        for r in ("mean", "prod", "amax", "amin")],
    shared="last",
    real_only=True,
    doc="A copy in which the parts of `source` that have one place are reduced.",
    kernel="index_func_", beside_data="any",
)  # fmt: skip

# ---- flat places ------------------------------------------------------------------------------
take = linear(
    "take(Tensor self, Tensor index) -> Tensor",
    placing.take,
    # PyTorch keeps the tensor itself, too, and refuses a backward after a write to it.
    self=lambda xp, g, self, index: xp.put(xp.zeros(self.shape, g.dtype), index, g, True),
    holomorphic=False,
    refuses_values="any",
    samples=lambda mk: [(mk(3, 4), mk(2, 3, low=0, high=12, integer=True))],
    out_rules=OutRules(types_first=before_places, apart=True),
    doc="The elements of the flattened tensor at `index`.",
)


def _put_backward(xp: ModuleType, g: TensorLike, index: TensorLike, accumulate: bool) -> TensorLike:
    """The gradient of what `put` wrote into: nothing comes back from overwritten places."""
    return g if accumulate else xp.put(g, index, xp.zeros(index.shape, g.dtype), False)


put = linear(
    "put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
    placing.put,
    self=lambda xp, g, index, accumulate: _put_backward(xp, g, index, accumulate),
    source=lambda xp, g, index, source_shape: xp.reshape(xp.take(g, index), source_shape),
    holomorphic=False,
    inplace=True,
    refuses_values="any",
    samples=lambda mk: [(mk(3, 4), mk(1, low=0, high=12, integer=True), mk(1)),
                        (mk(3, 4), mk(3, low=0, high=12, integer=True), mk(3), True)],
    shared="last",
    doc="A copy with the elements of `source` written (or added) at flat places.",
    kernel="take_put_cpu",
)  # fmt: skip


@composite("", method=True, numpy_words=True)
def take_along_dim(
    input: Tensor, indices: Tensor, dim: int | None = None, *, out: Tensor | None = None
) -> Tensor:
    """The elements that `indices` name along a dimension, the others broadcast.

    Without a dimension, of the flattened tensor.
    """
    if dim is None:
        arguments = [reshape(input, (-1,)), 0, reshape(indices, (-1,))]
        if out is not None:
            return apply_out(gather, [*arguments, False], out)
        return table("gather")(*arguments)
    ndim = input._raw.ndim
    if ndim != indices._raw.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of "
            "dimensions, but got "
            f"{ndim} dimensions for input, and {indices._raw.ndim} dimensions for indices"
        )
    dtype = indices._raw.dtype
    if dtype.kind != "i" or dtype.itemsize != 8:
        raise RuntimeError(
            "torch.take_along_dim(): dtype of indices should be Long but got "
            f"{T.type_name(dtype)[6:-6]}"
        )
    axis = axis_of(dim, ndim)
    if not ndim:
        raise IndexError(errors.no_dimension(axis, 0))
    sizes, places = list(input._raw.shape), list(indices._raw.shape)
    for d in range(ndim):
        if d != axis:
            n, m = sizes[d], places[d]
            wide = m if n == 1 else n
            if m not in (1, wide):
                raise RuntimeError(
                    f"The size of tensor a ({n}) must match the size of tensor b ({m}) at "
                    "non-singleton "
                    f"dimension {d}"
                )
            sizes[d] = places[d] = wide
    n = sizes[axis]
    if n and indices._raw.size and not holds(lambda x: raw.are_places(x, n), indices):
        indices = table("remainder")(indices, n)
    expanded = apply_view(expand.op, input, (tuple(sizes), False))
    where = apply_view(expand.op, indices, (tuple(places), False))
    if out is not None:
        return apply_out(gather, [expanded, axis, where, False], out)
    return apply_n(gather.op, [expanded, axis, where, False])


# ---- masks ------------------------------------------------------------------------------------
def _select_backward(
    xp: ModuleType, g: TensorLike, self_shape: tuple[int, ...], mask: TensorLike
) -> TensorLike:
    shape = T.broadcast_shape(self_shape, tuple(mask.shape))
    return xp.sum_to(xp.masked_place(g, mask, shape), self_shape)


masked_select = linear(
    "masked_select(Tensor self, Tensor mask) -> Tensor",
    placing.masked_select,
    shaped_by_values=True,
    self=lambda xp, g, self_shape, mask: _select_backward(xp, g, self_shape, mask),
    holomorphic=False,
    samples=lambda mk: [(mk(3, 4), mk(3, 4) > 0), (mk(3, 4), mk(4) > 0)],
    out_rules=OutRules(types_first=before_others, apart=True),
    doc="The elements where `mask` is true, flat; the two broadcast.",
    narrow="all",
)
masked_place = linear(
    "masked_place(Tensor grad, Tensor mask, int[] shape) -> Tensor",
    placing.place_masked,
    grad=lambda xp, g, mask: xp.masked_select(g, mask),
    node="MaskedScatterBackward0",
    holomorphic=False,
    namespace="private",
    saved_as={"self_shape": None},
    samples=lambda mk: [(mk(6), mk(3, 4, dtype=bool), (3, 4))],
    doc="Elements at the places of a mask in zeros, in order.",
)


def _unmasked_gradient(
    xp: ModuleType, g: TensorLike, mask: TensorLike, self_shape: tuple[int, ...]
) -> TensorLike:
    return xp.sum_to(xp.where(mask, 0, g), self_shape)


masked_scatter = linear(
    "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
    placing.masked_scatter,
    self=lambda xp, g, mask, self_shape: _unmasked_gradient(xp, g, mask, self_shape),
    source=lambda xp, g, mask, source_shape: xp.masked_scatter_source(g, mask, source_shape),
    holomorphic=False,
    inplace=True,
    saved_as={"self_shape": None},
    refuses_values="any",
    samples=lambda mk: [(mk(3, 4), mk(3, 4) > 0, mk(12))],
    shared="never",
    explain=explain_masked_scatter,
    doc="A copy whose elements where `mask` is true come from `source`, in order.",
    kernel="masked_scatter",
)
masked_scatter_source = linear(
    "masked_scatter_source(Tensor grad, Tensor mask, int[] shape) -> Tensor",
    placing.masked_scatter_source,
    grad=lambda xp, g, grad_shape, mask: xp.masked_scatter(xp.zeros(grad_shape, g.dtype), mask, g),
    holomorphic=False,
    namespace="private",
    samples=lambda mk: [(mk(3, 4), mk(3, 4, dtype=bool), (9,))],
    doc="The elements where a mask is true, filled up with zeros.",
)

# ---- places of nonzero elements -----------------------------------------------------------------
nonzero_ = general(
    "_nonzero(Tensor self) -> Tensor",
    raw.nonzero,
    shaped_by_values=True,
    public=False,
    out=False,
    doc="The places of all nonzero elements, a row each.",
    narrow="complex32",
    kernel="nonzero_count_cpu",
)
nonzero_static = general(
    "nonzero_static(Tensor self, *, int size, int fill_value=-1) -> Tensor",
    raw.nonzero_static,
    samples=lambda mk: [(mk(3, 4), 5)],
    doc="The places of the first `size` nonzero elements, filled up with `fill_value`.",
    narrow="all",
)


@composite("", method=True)
def nonzero(
    input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False
) -> Tensor | tuple[Tensor, ...]:
    """The places of all nonzero elements, a row each; with `as_tuple` a vector per dimension."""
    if not as_tuple:
        found = apply_n(nonzero_.op, [input])
        return give("nonzero", found, out, True)
    if out is not None:
        raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
    if input._raw.ndim == 0:
        input = reshape(input, (1,))
    return table("unbind")(apply_n(nonzero_.op, [input]), 1)


@composite("", method=True)
def argwhere(input: Tensor) -> Tensor:
    """The places of all nonzero elements, a row each."""
    return apply_n(nonzero_.op, [input])
