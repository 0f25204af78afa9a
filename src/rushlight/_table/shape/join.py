"""Joining: tensors one after the other, stacked, on a common shape."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.apply import apply_list, apply_n, apply_view
from ..._core.interposers import NOT_HANDLED, call_whole, misfit
from ..._core.mode import ALERTED, is_interposed
from ..._core.storage import TensorBase
from ..calls.call_errors import combination
from ..calls.deprecated_orders import say_better
from ..calls.dispatch import Dispatcher
from ..rows.composite import composite, make_asking
from ..rows.out_rules import OutRules, before_others
from ..rows.row import Row, linear
from ..rows.tensor_namespace import table
from .shape import expand, flatten, reshape, unsqueeze, view

if TYPE_CHECKING:
    from types import ModuleType

    from ..._base.annotations import AnyCallable, Shape, TensorLike
    from ..._tensor.tensor import Tensor

raw = later("_array.shape.concatenate")


# ---- one after the other ----------------------------------------------------------------------
def _cat_backward(
    xp: ModuleType, g: TensorLike, tensors_shape: Any, dim: int, need: list[bool]
) -> list[Any]:
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


def _cat_tangents(tensors_t: list[Tensor], dim: int) -> Tensor:
    return apply_list(cat.op, tensors_t, (dim,))


cat = linear(
    "cat(Tensor[] tensors, int dim=0) -> Tensor",
    raw.cat,
    joint=_cat_backward,
    jvp=_cat_tangents,
    holomorphic=False,
    lowering="cat",
    narrow="as it is",
    samples=lambda mk: [([mk(2, 3), mk(4, 3)], 0), ([mk(2, 3), mk(2, 1)], -1), ([mk(0), mk(2)], 0)],
    out_rules=OutRules(types_first=before_others, apart=True, grows=True, laid_out=True),
    doc="The tensors one after the other along a dimension.",
)


def _stack_backward(xp: ModuleType, g: TensorLike, dim: int, need: list[bool]) -> list[Any]:
    """The gradient of each tensor of `stack`: its part of the whole."""
    return [xp.select(g, dim, k) if wanted else None for k, wanted in enumerate(need)]


def _stack_tangents(tensors_t: list[Tensor], dim: int) -> Tensor:
    return apply_list(stack.op, tensors_t, (dim,))


stack = linear(
    "stack(Tensor[] tensors, int dim=0) -> Tensor",
    raw.stack,
    joint=_stack_backward,
    jvp=_stack_tangents,
    holomorphic=False,
    lowering="stack",
    narrow="as it is",
    samples=lambda mk: [([mk(2, 3), mk(2, 3)], 0), ([mk(2, 3), mk(2, 3)], -1), ([mk(), mk()], 0)],
    out_rules=OutRules(apart=True),
    doc="The tensors along a new dimension.",
)


def _check(tensors: Any) -> list[Tensor]:
    """The tensors as a list; the words of the call can't tell what a list holds."""
    found = list(tensors)
    for x in found:
        if not isinstance(x, TensorBase):
            place = next(k for k, y in enumerate(found) if y is x)
            raise TypeError(
                f"expected Tensor as element {place} in argument 0, but got {errors.type_name(x)}"
            )
    return found


def _make_joining(name: str, row: Row, doc: str) -> AnyCallable:
    """The public function of a row on a list; its usual calls go straight to the core."""
    words = Dispatcher(name, [row])

    def make(asking: bool) -> AnyCallable:
        def function(*args: Any, **kwargs: Any) -> Any:
            if asking and ALERTED and is_interposed():
                handled = call_whole(function, args, kwargs)
                if handled is not NOT_HANDLED:
                    return handled
            try:
                if args and isinstance(args[0], (list, tuple)):
                    if not kwargs and len(args) == 1:
                        return apply_list(row.op, _check(args[0]), (0,))
                    dim: Any = None
                    if not kwargs:
                        dim = args[1] if len(args) == 2 else None
                    elif len(args) == 1 and len(kwargs) == 1:
                        dim = kwargs.get("dim")
                    if type(dim) is int:
                        return apply_list(row.op, _check(args[0]), (dim,))
                    _check(args[0])
                return words(*args, **kwargs)
            except TypeError:
                # What classes that are no tensors make of it.
                handled = misfit(function, args, kwargs)
                if handled is NOT_HANDLED:
                    raise
                return handled

        function.__name__, function.__qualname__ = name, f"_{name}"  # where a pickle finds it
        function.__doc__ = doc
        return function

    return composite("", name=name)(make_asking(make))


_cat = _make_joining("cat", cat, "The tensors one after the other along a dimension.")
_concat = _make_joining("concat", cat, "Another name of `cat`.")
_concatenate = _make_joining("concatenate", cat, "Another name of `cat`.")
_stack = _make_joining("stack", stack, "The tensors along a new dimension.")


def _list(tensors: Any, name: str) -> list[Any]:
    found = list(tensors)
    if not found:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return found


def _join(tensors: Any, dim: int, out: Tensor | None) -> Any:
    """The tensors one after the other along a dimension, in `out` where there is one."""
    if out is None:
        return apply_list(cat.op, tensors, (dim,))
    from ..rows.out_argument import apply_out

    return apply_out(cat, [tensors, dim], out)


@composite("")
def hstack(tensors: object, *, out: Tensor | None = None) -> Tensor:
    """The tensors joined along their second dimension; vectors along their only one."""
    found = [_one_dimension(x) for x in _list(tensors, "hstack")]
    return _join(found, 0 if found[0]._raw.ndim == 1 else 1, out)


@composite("")
def vstack(tensors: object, *, out: Tensor | None = None) -> Tensor:
    """The tensors joined along their first dimension; vectors as rows."""
    return _join([_two_dimensions(x) for x in _list(tensors, "vstack")], 0, out)


composite("", name="row_stack")(vstack)


@composite("")
def dstack(tensors: object, *, out: Tensor | None = None) -> Tensor:
    """The tensors joined along their third dimension."""
    return _join([_three_dimensions(x) for x in _list(tensors, "dstack")], 2, out)


@composite("")
def column_stack(tensors: object, *, out: Tensor | None = None) -> Tensor:
    """The tensors joined along their second dimension; vectors as columns."""
    found = [
        reshape(x, (x._raw.size, 1)) if x._raw.ndim <= 1 else x
        for x in _list(tensors, "column_stack")
    ]
    return _join(found, 1, out)


def _block_backward(
    xp: ModuleType, g: TensorLike, tensors_shape: Any, need: list[bool]
) -> list[Any]:
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


def _block_tangents(tensors_t: list[Tensor]) -> Tensor:
    return apply_n(block_diag_.op, [tensors_t])


block_diag_ = linear(
    "_block_diag(Tensor[] tensors) -> Tensor",
    raw.block_diag,
    joint=_block_backward,
    jvp=_block_tangents,
    holomorphic=False,
    public=False,
    samples=lambda mk: [([mk(2, 3), mk(3), mk()],)],
    doc="A matrix with the given ones along its diagonal.",
)


@composite("")
def block_diag(*tensors: object) -> Tensor:
    """A matrix with the given ones along its diagonal, zeros elsewhere."""
    return apply_n(block_diag_.op, [_check(tensors)])


# ---- common shapes ----------------------------------------------------------------------------
def _each(name: str, function: AnyCallable, tensors: tuple[Any, ...]) -> Any:
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


def _one_dimension(x: Any) -> Tensor:
    return reshape(x, (1,)) if x._raw.ndim == 0 else x


def _two_dimensions(x: Tensor) -> TensorLike:
    if x._raw.ndim == 0:
        return reshape(x, (1, 1))
    return apply_view(unsqueeze.op, x, (0,)) if x._raw.ndim == 1 else x


def _three_dimensions(x: Any) -> Tensor:
    ndim = x._raw.ndim
    if ndim == 0:
        return reshape(x, (1, 1, 1))
    if ndim == 1:
        x = apply_view(unsqueeze.op, x, (0,))
    return apply_view(unsqueeze.op, x, (-1,)) if ndim < 3 else x


@composite("")
def atleast_1d(*tensors: object) -> Any:
    """The tensor with at least one dimension; a tuple for several tensors."""
    return _each("atleast_1d", _one_dimension, tensors)


@composite("")
def atleast_2d(*tensors: Tensor) -> Tensor:
    """The tensor with at least two dimensions; a tuple for several tensors."""
    return _each("atleast_2d", _two_dimensions, tensors)


@composite("")
def atleast_3d(*tensors: object) -> Tensor | tuple[Tensor, ...]:
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
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """The tensors expanded to their common shape, without copying."""
    _check(tensors)
    shape = _shape_together([x._raw.shape for x in tensors])
    return tuple(
        [x if x._raw.shape == shape else apply_view(expand.op, x, (shape, True)) for x in tensors]
    )


@composite("")
def broadcast_shapes(*shapes: Any) -> Shape:
    """The common shape that tensors of the given shapes broadcast to.

    Raises:
        RuntimeError, ValueError: where they have none.
    """
    from ..._base.size import Size

    known: list[Any] = [(s,) if isinstance(s, int) else s for s in shapes if s is not None]
    for s in known:
        if not isinstance(s, Sequence):
            shown = s._raw.item() if isinstance(s, TensorBase) and not s._raw.ndim else s
            raise RuntimeError(
                "Input shapes should be of type ints, a tuple of ints, or a list of ints, got "
                f"{shown}"
            )
    lead = max((len(s) for s in known), default=0)
    found = [1] * lead
    for place, shape in enumerate(known):
        for back in range(1, len(shape) + 1):
            n = shape[-back]
            if isinstance(n, TensorBase):
                raise AssertionError("Expected bool, got <class 'torch.Tensor'>")
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
def meshgrid(*tensors: Tensor, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Every vector expanded along its own dimension of a common grid."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    _check(tensors)
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
        if x.device != tensors[0].device:
            raise RuntimeError("meshgrid expects all tensors to have the same device")
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
        seen = apply_view(view.op, x, (tuple(row),))
        grids.append(apply_view(expand.op, seen, (tuple(shape), False)))
    return tuple(grids)


@composite("")
def cartesian_prod(*tensors: Any) -> Tensor:
    """All tuples with one element of each vector, as rows."""
    for x in _check(tensors):
        if x._raw.ndim != 1:
            raise RuntimeError(
                f"Expect a 1D vector, but got shape {errors.shape_text(x._raw.shape)}"
            )
    if len(tensors) == 1:
        return tensors[0]
    grids = meshgrid(*tensors, indexing="ij")
    return apply_n(stack.op, [[flatten(grid) for grid in grids], 1])


@composite("")
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
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
