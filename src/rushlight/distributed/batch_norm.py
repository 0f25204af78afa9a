"""Batch norm over several ranks: their counts, means and squares make one mean and variance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base import dtypes
from .._base.ranks import RANKS
from .._tensor.tensor import Tensor
from ..autograd.function import Function
from ..autograd.grad_mode import no_grad
from ._ground import f
from .collectives import all_gather_into_tensor, all_reduce
from .process_group import choose, is_initialized

if TYPE_CHECKING:
    from .annotations import Ctx, Gradients
    from .process_group import ProcessGroup

__all__ = ["normalize_over_ranks"]


def normalize_over_ranks(
    input: Tensor,
    weights: tuple[Tensor | None, Tensor | None],
    running: tuple[Tensor | None, Tensor | None],
    average: float,
    eps: float,
    of: ProcessGroup | None,
) -> Tensor | None:
    """The input less the mean of all ranks' inputs, in units of their deviation, by channel.

    None where this process is the only one.

    Args:
        input: (N, C, *).
        weights: scale and shift.
        running: mean and variance so far, which move by `average`.
        of: the group; the default one where it is None.
    """
    if not is_initialized() or (group := choose(of)).size() == 1:
        return None
    held = _over_channels(input)
    wide = dtypes.float32 if input.dtype in (dtypes.float16, dtypes.bfloat16) else input.dtype
    with no_grad():
        mean, var, count = _statistics(input.detach().to(wide), held, group)
        _move(running, mean, var * (count / max(count - 1, 1)), average)
        scale = (var + eps).rsqrt()
    out: Tensor = _Normalize.apply(input, weights[0], weights[1], mean, scale, count, group)
    return out


def _over_channels(input: Tensor) -> list[int]:
    return [dim for dim in range(input.dim()) if dim != 1]


def _statistics(values: Tensor, dims: list[int], group: ProcessGroup) -> tuple[Tensor, Tensor, int]:
    channels = values.size(1)
    count = values.numel() // channels
    own = f.zeros(2 * channels + 1, dtype=values.dtype)
    if count:
        mean = values.mean(dims)
        squares = (values - _beside(mean, values)).square().sum(dims)
        own = f.cat([mean, squares, f.full((1,), float(count), dtype=values.dtype)])
    gathered = own.new_empty(group.size(), 2 * channels + 1)
    all_gather_into_tensor(gathered, own, group)
    means, all_squares, counts = gathered[:, :channels], gathered[:, channels:-1], gathered[:, -1:]
    total = int(counts.sum().item())
    mean = (means * counts).sum(0) / total
    squares = (all_squares + counts * (means - mean).square()).sum(0)
    return mean, squares / total, total


def _move(
    running: tuple[Tensor | None, Tensor | None], mean: Tensor, var: Tensor, average: float
) -> None:
    for old, new in zip(running, (mean, var)):
        if old is not None:
            old.mul_(1 - average).add_(new.to(old.dtype), alpha=average)


def _beside(by_channel: Tensor, input: Tensor) -> Tensor:
    """Values of channels in the shape in which they meet an input."""
    return by_channel.reshape(1, -1, *(1,) * (input.dim() - 2))


class _Normalize(Function):
    @staticmethod
    def forward(
        ctx: Ctx, input: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor,
        scale: Tensor, count: int, group: ProcessGroup,
    ) -> Tensor:  # fmt: skip
        ctx.save_for_backward(input, weight, mean, scale)
        ctx.count, ctx.group = count, group
        out = (input.to(mean.dtype) - _beside(mean, input)) * _beside(scale, input)
        if weight is not None:
            out = out * _beside(weight, input)
        if bias is not None:
            out = out + _beside(bias, input)
        return out.to(input.dtype)

    @staticmethod
    def backward(ctx: Ctx, grad: Tensor) -> Gradients:
        input, weight, mean, scale = ctx.saved_tensors
        dims = _over_channels(input)
        wide = grad.to(mean.dtype)
        centered = input.to(mean.dtype) - _beside(mean, input)
        sums = wide.sum(dims)
        products = (wide * centered).sum(dims)
        to_weight = to_bias = to_input = None
        if weight is not None and ctx.needs_input_grad[1]:
            to_weight = (products * scale).to(weight.dtype)
        if ctx.needs_input_grad[2]:
            to_bias = sums.to(weight.dtype if weight is not None else mean.dtype)
        if ctx.needs_input_grad[0]:
            both = f.cat([sums, products])
            all_reduce(both, group=ctx.group)
            sums, products = (both / ctx.count).chunk(2)
            along = _beside(products * scale.square(), input) * centered
            to_input = (wide - _beside(sums, input) - along) * _beside(scale, input)
            if weight is not None:
                to_input = to_input * _beside(weight, input)
            to_input = to_input.to(input.dtype)
        return to_input, to_weight, to_bias, None, None, None, None


RANKS.normalize = normalize_over_ranks
