"""`_view_func` and its kin: a view taken once more, of another base, or the base of another view.

As in PyTorch a view is told by its strides, unless its type isn't its base's or views are asked to
remember how they were made (`autograd._force_original_view_tracking`): then what made it is done
again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base import errors
from .._core import slow
from .._core.storage import TensorBase
from .._core.views import Step
from .._table import PUBLIC

if TYPE_CHECKING:
    from .._base.annotations import AnyCallable
    from .tensor import Tensor

    Visit = AnyCallable | None

#: Parameters that say which dimension, and don't count elements.
_DIMENSIONS = ("dim", "dims", "dim0", "dim1", "dim2", "dimension", "offset", "implicit")


def view_func(
    self: Tensor,
    new_base: Tensor,
    *,
    symint_visitor_fn: Visit = None,
    tensor_visitor_fn: Visit = None,
) -> Tensor | None:
    """The same view of another base; None of one that is laid out otherwise, or where this is none.

    `symint_visitor_fn` is asked about each size, index and stride that the view has remembered,
    and `tensor_visitor_fn` about each tensor.

    Raises:
        TypeError: where the base isn't a tensor.
    """
    return _again(self, new_base, symint_visitor_fn, tensor_visitor_fn, alike=True)


def view_func_unsafe(
    self: Tensor,
    new_base: Tensor,
    *,
    symint_visitor_fn: Visit = None,
    tensor_visitor_fn: Visit = None,
) -> Tensor | None:
    """The same view of another base, however that is laid out; None where this is no view.

    Raises:
        TypeError: where the base isn't a tensor.
    """
    return _again(self, new_base, symint_visitor_fn, tensor_visitor_fn, alike=False)


def rev_view_func_unsafe(self: Tensor, new_view: Tensor) -> Tensor | None:
    """The base that another view has, which lies in memory as this one; None where this is none.

    Raises:
        RuntimeError: for a view that hasn't remembered how it was made, or has another type.
    """
    base: Any = self._base
    if base is None:
        return None
    assert self._view is not None
    if self._view.exact and base.dtype == self.dtype:
        return _show_strided(new_view, base)
    if self._view.exact and base.is_complex() and base.real.dtype == self.dtype:
        return PUBLIC[("", "view_as_complex")](
            _show_strided(new_view, PUBLIC[("", "view_as_real")](base))
        )
    raise RuntimeError("No _rev_view_func() found")


def _again(
    view: Tensor, new_base: Tensor, visit: Visit, visit_tensor: Visit, alike: bool
) -> Tensor | None:
    base: Any = view._base
    if not isinstance(new_base, TensorBase):
        raise TypeError(
            f"_view_func(): argument 'new_base' (position 1) must be Tensor, not "
            f"{errors.type_name(new_base)}"
        )
    if base is None or (alike and not _are_laid_out_alike(base, new_base)):
        return None
    known = view._view
    assert known is not None
    if known.exact:
        return _replay(_visit(known.replay, visit, visit_tensor), new_base)
    return _show_strided(new_base, view)


def _replay(step: Step | None, whole: Tensor) -> Tensor:
    if step is None:
        return whole
    found: Any = slow.apply(step.op, [_replay(step.before, whole), *step.args])
    return found if step.index < 0 else found[step.index]


def _show_strided(memory: Tensor, like: Tensor) -> Tensor:
    shape: Any = like.shape
    strided = PUBLIC[("", "as_strided")]
    return strided(memory, tuple(shape), like.stride(), like.storage_offset())


def _are_laid_out_alike(a: Tensor, b: Tensor) -> bool:
    if a.shape != b.shape or a.storage_offset() != b.storage_offset():
        return False
    mine: Any = a.stride()
    theirs: Any = b.stride()
    return all(n == 1 or s == t for n, s, t in zip(a.shape, mine, theirs))


def _visit(step: Step | None, visit: Visit, visit_tensor: Visit) -> Step | None:
    """The steps to a view with other numbers and tensors."""
    if step is None or (visit is None and visit_tensor is None):
        return step
    names = [p.name for p in step.op.row.schema.params[1:]]
    args = tuple(
        value if name in _DIMENSIONS else _each(value, visit, visit_tensor)
        for name, value in zip(names, step.args)
    )
    return Step(step.op, args, step.index, _visit(step.before, visit, visit_tensor))


def _each(value: object, visit: Visit, visit_tensor: Visit) -> object:
    if isinstance(value, (tuple, list)):
        return type(value)(_each(v, visit, visit_tensor) for v in value)
    if isinstance(value, slice):
        first = _each(value.start, visit, visit_tensor)
        return slice(first, _each(value.stop, visit, visit_tensor), value.step)
    if isinstance(value, TensorBase):
        return value if visit_tensor is None else visit_tensor(value)
    return visit(value) if visit is not None and type(value) is int else value
