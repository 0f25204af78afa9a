"""Which layouts an operator can work on: for each side of a mesh the cheapest choice is taken.

A choice is the placement of the results and of each tensor that goes in. That all have the whole is
always one, so that an operator without a rule of its own is computed by every rank.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from .placement_types import Partial, Placement, Replicate, Shard, _NormPartial

if TYPE_CHECKING:
    from ..annotations import Given

__all__ = ["Call", "Choice", "choices_of", "cost", "takes_any_number", "takes_shape"]

R, P = Replicate(), Partial()
Shape = tuple[int, ...]


class Choice(NamedTuple):
    """The placement of the results, and of each tensor that goes in."""

    out: Placement
    inputs: tuple[Placement, ...]


class Call(NamedTuple):
    """An operator's call, with its tensors' shapes, its first result's, and a side's ranks."""

    name: str
    args: Sequence[Given]
    kwargs: dict[str, Given]
    shapes: list[Shape]
    out: Shape
    ranks: int
    #: How the tensors lie along the side.
    now: Sequence[Placement] = ()


Rule = Callable[[Call], Iterable[Choice]]


def _pointwise(call: Call) -> Iterable[Choice]:
    for dim in range(len(call.out)):
        inputs: list[Placement] = []
        for shape in call.shapes:
            own = dim - (len(call.out) - len(shape))
            cut = own >= 0 and shape[own] == call.out[dim] and call.out[dim] != 1
            inputs.append(Shard(own) if cut else R)
        if any(isinstance(placement, Shard) for placement in inputs):
            yield Choice(Shard(dim), tuple(inputs))


def _linear(call: Call) -> Iterable[Choice]:
    """Each element alone, and of the parts of a sum the parts of the result."""
    yield from _pointwise(call)
    yield Choice(P, (P,) * len(call.shapes))


def _move(call: Call) -> Iterable[Choice]:
    """Elements that only change their places: of parts, of whatever kind, the parts."""
    count = len(call.shapes)
    yield Choice(P, (P,) * count)
    for kind in dict.fromkeys(call.now):
        if isinstance(kind, Partial) and kind != P:
            yield Choice(kind, (kind,) * count)


def _alike(call: Call) -> Iterable[Choice]:
    """The same elements."""
    yield from _pointwise(call)
    yield from _move(call)


def _sum_of_two(call: Call) -> Iterable[Choice]:
    return _linear(call) if len(call.shapes) == 2 else _pointwise(call)


def _times(call: Call) -> Iterable[Choice]:
    yield from _over(call)
    if len(call.shapes) == 2:
        yield Choice(P, (R, P))


def _over(call: Call) -> Iterable[Choice]:
    yield from _pointwise(call)
    yield Choice(P, (P, *(R,) * (len(call.shapes) - 1)))


def _mm(call: Call) -> Iterable[Choice]:
    yield Choice(Shard(0), (Shard(0), R))
    yield Choice(Shard(1), (R, Shard(1)))
    yield Choice(P, (Shard(1), Shard(0)))
    yield Choice(P, (P, R))
    yield Choice(P, (R, P))


def _addmm(call: Call) -> Iterable[Choice]:
    bias = call.shapes[0]
    cut = [
        Shard(d - 2 + len(bias)) if d - 2 + len(bias) >= 0 and bias[d - 2 + len(bias)] > 1 else R
        for d in (0, 1)
    ]
    yield Choice(Shard(0), (cut[0], Shard(0), R))
    yield Choice(Shard(1), (cut[1], R, Shard(1)))
    yield Choice(P, (P, Shard(1), Shard(0)))


def _bmm(call: Call) -> Iterable[Choice]:
    yield Choice(Shard(0), (Shard(0), Shard(0)))
    yield Choice(Shard(1), (Shard(1), R))
    yield Choice(Shard(2), (R, Shard(2)))
    yield Choice(P, (Shard(2), Shard(1)))


def _dims(given: Given, count: int) -> set[int]:
    if given is None or given in ([], ()):
        return set(range(count))
    return {d % count for d in ([given] if isinstance(given, int) else given)} if count else set()


def _argument(call: Call, place: int, name: str, default: Given = None) -> Given:
    if name in call.kwargs:
        return call.kwargs[name]
    return call.args[place] if len(call.args) > place else default


def _reduction(partial: str | None) -> Rule:
    part = None if partial is None else Partial(partial)

    def rule(call: Call) -> Iterable[Choice]:
        yield from _reduce(call, part, 1)
        if partial == "sum":
            yield Choice(P, (P,))

    return rule


def _reduce(call: Call, part: Partial | None, place: int) -> Iterable[Choice]:
    """Some dimensions, told by the argument at a place, become one; `part`: what of a piece is."""
    shape = call.shapes[0]
    reduced = _dims(_argument(call, place, "dim"), len(shape))
    kept = bool(_argument(call, place + 1, "keepdim", False))
    for dim in range(len(shape)):
        if dim not in reduced:
            after = dim if kept else dim - sum(d < dim for d in reduced)
            yield Choice(Shard(after), (Shard(dim),))
        elif part is not None and _gives_part(part, shape[dim], call.ranks):
            yield Choice(part, (Shard(dim),))


def _gives_part(part: Partial, length: int, ranks: int) -> bool:
    """Whether each rank's piece of a dimension has such a part: nothing has no largest element."""
    if part.reduce_op == "avg":
        return not length % ranks
    return part.reduce_op == "sum" or length > -(-length // ranks) * (ranks - 1)


def _norm(call: Call) -> Iterable[Choice]:
    order = _argument(call, 1, "ord", 2)
    if isinstance(call.now[0], Partial):  # of few elements, as a rule: norms of other tensors
        return ()
    if order in (math.inf, -math.inf):
        return _reduce(call, Partial("max" if order > 0 else "min"), 2)
    return _reduce(call, _NormPartial("sum", order) if order else P, 2)


def _extreme(partial: str) -> Rule:
    def rule(call: Call) -> Iterable[Choice]:
        if len(call.args) > 1 or call.kwargs:
            yield from _along(1)(call)
        else:
            part = Partial(partial)
            for dim, length in enumerate(call.shapes[0]):
                if _gives_part(part, length, call.ranks):
                    yield Choice(part, (Shard(dim),))

    return rule


def _along(place: int) -> Rule:
    """What is computed along one dimension, and keeps the others or all."""

    def rule(call: Call) -> Iterable[Choice]:
        shape = call.shapes[0]
        (along,) = _dims(_argument(call, place, "dim", -1), len(shape)) or {0}
        for dim in range(len(shape)):
            if dim != along:
                after = dim if len(call.out) == len(shape) or dim < along else dim - 1
                yield Choice(Shard(after), (Shard(dim), *(R,) * (len(call.shapes) - 1)))

    return rule


def _layer_norm(call: Call) -> Iterable[Choice]:
    for dim in range(len(call.shapes[0]) - len(call.args[1])):
        yield Choice(Shard(dim), (Shard(dim), *(R,) * (len(call.shapes) - 1)))


def _embedding(call: Call) -> Iterable[Choice]:
    for dim in range(len(call.shapes[1])):
        yield Choice(Shard(dim), (R, Shard(dim)))
    yield Choice(Shard(len(call.out) - 1), (Shard(1), R))


def _attention(call: Call) -> Iterable[Choice]:
    if len(call.shapes) == 3:
        for dim in range(len(call.out) - 2):
            yield Choice(Shard(dim), (Shard(dim),) * 3)


def _choose_permuted(call: Call, order: Sequence[int]) -> Iterable[Choice]:
    for after, before in enumerate(order):
        yield Choice(Shard(after), (Shard(before),))
    yield from _move(call)


def _permute(call: Call) -> Iterable[Choice]:
    count = len(call.shapes[0])
    return _choose_permuted(call, [d % count for d in call.args[1]])


def _transpose(call: Call) -> Iterable[Choice]:
    order = list(range(len(call.shapes[0])))
    a, b = (call.args[1:3] if len(call.args) > 2 else (-2, -1)) if len(order) > 1 else (0, 0)
    order[a], order[b] = order[b], order[a]
    return _choose_permuted(call, order)


def _view(call: Call) -> Iterable[Choice]:
    """A dimension stays cut where it is the first of those that it shares its elements with."""
    before, after = call.shapes[0], call.out
    yield from _move(call)
    if 0 in before:
        return
    starts = {n: d for d, n in reversed(list(enumerate(_outer(after)))) if after[d] != 1}
    for dim, outer in enumerate(_outer(before)):
        other = starts.get(outer)
        if before[dim] == 1 or other is None:
            continue
        lengths = before[dim], after[other]
        if lengths[0] == lengths[1] or not any(length % call.ranks for length in lengths):
            yield Choice(Shard(other), (Shard(dim),))


def _reshape(call: Call) -> Iterable[Choice]:
    return _view(call)


def _outer(shape: Shape) -> list[int]:
    """How many elements the dimensions before each have together."""
    return list(accumulate(shape[:-1], lambda a, b: a * b, initial=1)) if shape else []


def _expand(call: Call) -> Iterable[Choice]:
    shape = call.shapes[0]
    yield from _move(call)
    for dim, length in enumerate(shape):
        if length != 1 or call.out[dim + len(call.out) - len(shape)] == 1:
            yield Choice(Shard(dim + len(call.out) - len(shape)), (Shard(dim),))


def _cat(call: Call) -> Iterable[Choice]:
    (along,) = _dims(_argument(call, 1, "dim", 0), len(call.out))
    for dim in range(len(call.out)):
        if dim != along:
            yield Choice(Shard(dim), (Shard(dim),) * len(call.shapes))
    yield from _move(call)


def _stack(call: Call) -> Iterable[Choice]:
    (along,) = _dims(_argument(call, 1, "dim", 0), len(call.out))
    for dim in range(len(call.out) - 1):
        yield Choice(Shard(dim + (dim >= along)), (Shard(dim),) * len(call.shapes))
    yield from _move(call)


def _like(call: Call) -> Iterable[Choice]:
    for dim in range(len(call.out)):
        yield Choice(Shard(dim), (Shard(dim),))


def _none(call: Call) -> Iterable[Choice]:
    return ()


_RULES: dict[str, Rule] = {
    "add": _sum_of_two, "sub": _sum_of_two, "mul": _times, "div": _over, "neg": _linear,
    "clone": _alike, "detach": _alike, "alias": _alike, "_to_copy": _alike, "to": _alike,
    "positive": _alike, "contiguous": _alike, "copy": _alike, "real": _linear,
    "mm": _mm, "addmm": _addmm, "bmm": _bmm, "sum": _reduction("sum"), "mean": _reduction("avg"),
    "amax": _reduction("max"), "amin": _reduction("min"), "max": _extreme("max"),
    "min": _extreme("min"), "var": _reduction(None), "std": _reduction(None),
    "any": _reduction(None), "all": _reduction(None), "prod": _none,
    "_softmax": _along(1), "_log_softmax": _along(1), "softmax": _along(1), "cumsum": _along(1),
    "log_softmax": _along(1), "argmax": _along(1), "argmin": _along(1), "sort": _along(1),
    "split": _along(2), "split_with_sizes": _along(2), "chunk": _along(2), "slice": _along(1),
    "select": _along(1), "gather": _none, "scatter": _none, "native_layer_norm": _layer_norm,
    "linalg_vector_norm": _norm,
    "embedding": _embedding, "scaled_dot_product_attention": _attention, "permute": _permute,
    "transpose": _transpose, "t": _transpose, "view": _reshape, "reshape": _reshape,
    "_unsafe_view": _reshape, "squeeze": _view, "unsqueeze": _view, "flatten": _view,
    "expand": _expand, "cat": _cat, "stack": _stack, "ones_like": _like, "zeros_like": _like,
    "empty_like": _like, "full_like": _like, "rand_like": _like, "randn_like": _like,
}  # fmt: skip

#: Operators on each element alone, by name where no rule is found: their results are of the shape
#: that broadcasting gives. Those that aren't of this kind though they look so are named here.
_NOT_POINTWISE = frozenset({
    "index", "index_put", "index_add", "index_select", "nonzero", "masked_select", "roll", "flip",
    "scatter_add", "nll_loss_forward", "native_batch_norm", "convolution", "topk", "unique",
    "cumprod", "logsumexp", "tril", "triu", "norm", "matmul", "dot", "mv",
    "linear", "einsum", "diagonal", "new_zeros", "new_empty", "new_ones", "new_full",
    "masked_scatter", "histc", "bincount", "inverse", "linalg_qr", "linalg_svd", "fft_fft",
    "embedding_dense_backward", "batch_norm", "layer_norm", "group_norm", "instance_norm",
    "cross_entropy_loss", "logcumsumexp", "renorm", "bernoulli", "fill_diagonal", "take",
    "native_group_norm", "rms_norm", "put", "searchsorted", "cdist", "trace", "addr", "addmv",
    "linalg_inv", "cholesky", "linalg_cholesky", "matrix_exp", "rot90", "repeat", "tile", "msort",
})  # fmt: skip


#: Operators on each element whose numbers, such as a rate that changes with each step, are of no
#: weight for shapes and layouts.
_ANY_NUMBER = frozenset({
    "add", "sub", "mul", "div", "addcmul", "addcdiv", "lerp", "pow", "clamp", "fill",
})  # fmt: skip


def takes_any_number(name: str) -> bool:
    """Whether an operator's numbers decide nothing but elements."""
    base = name.rstrip("_")
    return base in _ANY_NUMBER


def takes_shape(call: Call) -> bool:
    """Whether the operator's argument is the shape of the whole."""
    return _rule_of(call) in (_reshape, _expand)


def _rule_of(call: Call) -> Rule | None:
    """The rule, which an operator shares with its form that writes in place."""
    base = call.name.rstrip("_") if not call.name.startswith("_") else call.name
    return _none if base in _NOT_POINTWISE else _RULES.get(base)


def choices_of(call: Call) -> list[Choice]:
    """The choices for one side; the first, where all have the whole, is always there."""
    rule = _rule_of(call)
    if rule is None:
        rule = _pointwise if _broadcast(call.shapes) == call.out else _none
    return [Choice(R, (R,) * len(call.shapes)), *rule(call)]


def _broadcast(shapes: list[Shape]) -> Shape | None:
    count = max(map(len, shapes))
    out = []
    for dim in range(-count, 0):
        lengths = {s[dim] for s in shapes if len(s) >= -dim} - {1}
        if len(lengths) > 1:
            return None
        out.append(lengths.pop() if lengths else 1)
    return tuple(out)


def cost(current: Placement, target: Placement, shape: Shape, ranks: int) -> float:
    """How many elements a change sends; infinite for one that isn't made."""
    if current == target:
        return 0.0
    count = math.prod(shape)
    if isinstance(target, Partial):
        return 0.5 if isinstance(current, Replicate) and target == P else math.inf
    if isinstance(current, Replicate):
        return 0.1
    if isinstance(current, Partial):
        return float(count) if isinstance(target, Shard) else 2.0 * count
    return count / ranks if isinstance(target, Shard) else float(count)
