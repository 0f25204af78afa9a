"""Sums of products by their indices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._base import errors
from ..._core.apply import apply2
from ..._core.storage import TensorBase
from ..rows.composite import composite
from .matmul import bmm, mm, paths, through_views

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._array.linalg.einsum import Pair
    from ..._base.annotations import TensorLike
    from ..._tensor.tensor import Tensor


@composite()
def einsum(*args: Any) -> Tensor:
    """The sum of products that an equation describes: `einsum("ij,jk->ik", a, b)`.

    A letter names a dimension: the same one wherever it stands, of one size (or 1). What isn't
    behind the arrow is summed over; a letter twice in one operand takes its diagonal ("ii->i").
    Without an arrow the result has the letters that stand once, in the alphabet's order. "..."
    stands for any dimensions more, which broadcast; blanks don't count. Two operands at a time are
    multiplied, as products of matrices.

    Parameters:
        args: the equation, then its operands, or one list of them; or operands and lists of the
            numbers of their dimensions, by turns, and at the end the result's.
    Raises:
        RuntimeError: for an equation that doesn't parse or doesn't fit the operands.
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one "
            "operand and its subscripts list"
        )
    equation = args[0]
    operands = (
        list(args[1][:])
        if len(args) == 2 and isinstance(args[1], (list, tuple))
        else list(args[1:])
    )
    if not isinstance(equation, str):
        equation, operands = paths.from_sublists(args)
    for k, t in enumerate(operands):
        if not isinstance(t, TensorBase):
            raise TypeError(
                f"expected Tensor as element {k} in argument 1, but got {errors.type_name(t)}"
            )
    plan = paths.plan_of(equation, tuple([t._raw.shape for t in operands]))
    work = through_views(operands)
    for k in plan.repeats:
        work[k] = _diagonal(work[k], plan.terms[k])
    for pair in plan.pairs:
        right, left = work.pop(pair.second), work.pop(pair.first)
        work.append(_contract(pair, *(right, left) if pair.swapped else (left, right)))
    result = work[0]
    if plan.order is not None:
        result = result.permute(plan.order)
    return result.sum(tuple(range(-plan.extra, 0))) if plan.extra else result


def _diagonal(t: TensorLike, term: Sequence[object]) -> Any:
    """Takes the diagonal wherever a letter appears twice in an operand."""
    k = 0
    term = list(term)
    while k < len(term):
        c = term[k]
        if c in term[:k]:
            first = term.index(c)
            t = t.diagonal(0, first, k).movedim(-1, first)
            del term[k]
        else:
            k += 1
    return t


def _contract(pair: Pair, a: Tensor, b: Any) -> Tensor:
    """One pairwise contraction, as a (batched) product of matrices wherever letters are summed."""
    if pair.sum_a is not None:
        a = a.sum(pair.sum_a)
    if pair.sum_b is not None:
        b = b.sum(pair.sum_b)
    if pair.product:
        product = _permute_and_unsqueeze(a, pair.order_a, pair.new_a) * _permute_and_unsqueeze(
            b, pair.order_b, pair.new_b
        )
        return product if pair.gone is None else product.sum(pair.gone)
    if pair.order_a is not None:
        a = a.permute(pair.order_a)
    if pair.order_b is not None:
        b = b.permute(pair.order_b)
    if pair.shape_a is not None:
        a = a.reshape(pair.shape_a)
    if pair.shape_b is not None:
        b = b.reshape(pair.shape_b)
    if len(a._raw.shape) == 3:
        out = apply2(bmm.op, a, b)
    elif a._raw.dtype != b._raw.dtype or a._raw.dtype.kind == "b":  # refused as PyTorch's one stack
        out = apply2(bmm.op, a.unsqueeze(0), b.unsqueeze(0)).squeeze(0)
    else:
        out = apply2(mm.op, a, b)
    return out if pair.shape is None else out.reshape(pair.shape)


def _permute_and_unsqueeze(t: Tensor, order: list[int] | None, new: list[int]) -> Tensor:
    """`t` in another order of dimensions, with new ones of size one."""
    if order is not None:
        t = t.permute(order)
    for k in new:
        t = t.unsqueeze(k)
    return t
