"""The parts of `autograd.functional` that packages take from PyTorch by their private names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core.storage import TensorBase
from .._table import PUBLIC
from .backward import grad

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor


def standard_basis(tensors: tuple[Tensor, ...], numels: tuple[int, ...]) -> tuple[object, ...]:
    """One block of rows of the identity for each tensor, in its type, for all elements together."""
    total, start, blocks = sum(numels), 0, []
    for t, count in zip(tensors, numels):
        block = t.new_zeros(total, count)
        block.diagonal(-start)[:count].fill_(1)
        blocks.append(block)
        start += count
    return tuple(blocks)


def detach_results(inputs: Any, create_graph: bool) -> object:
    """The tensors as they are returned: without history unless it is asked for."""
    if isinstance(inputs, TensorBase):
        return inputs if create_graph else PUBLIC[("", "detach")](inputs)
    return tuple(detach_results(x, create_graph) for x in inputs)


def unpack(res: Any, to_unpack: object) -> object:
    """Results without the tuples that the caller did not give."""
    if isinstance(to_unpack, tuple):
        outer, inner = to_unpack
        if not inner:
            res = tuple(r[0] for r in res)
        return res if outer else res[0]
    return res if to_unpack else res[0]


def gradient(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    create_graph: bool = False,
    retain_graph: bool | None = None,
    is_grads_batched: bool = False,
) -> tuple[Any, ...]:
    """`grad` of the outputs that have a history; None for each input where none has."""
    seeds = (None,) * len(outputs) if grad_outputs is None else grad_outputs
    live = [(o, g) for o, g in zip(outputs, seeds) if o is not None and o.requires_grad]
    if not live:
        return (None,) * len(inputs)
    return grad(
        tuple(o for o, _ in live), inputs, tuple(g for _, g in live), allow_unused=True,
        create_graph=create_graph, retain_graph=retain_graph, is_grads_batched=is_grads_batched,
    )  # fmt: skip
