"""Batching rules of convolution and pooling.

Where only the input is a batch, its examples are more samples. Where the weights are a batch too,
its examples become groups: as many convolutions side by side, each with its own channels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._core.op import Op
from ..rows.tensor_namespace import table
from .batching_rules import call, front, is_tensor, one_by_one, rank_of, repeat_batch, rule

if TYPE_CHECKING:
    from ..._base.annotations import Arguments, MappedDims, TensorLike
    from ..._tensor.tensor import Tensor


def _samples(x: Tensor) -> TensorLike:
    """(B, N, C, …) as (B·N, C, …)."""
    shape = x._raw.shape
    return table("reshape")(x, (shape[0] * shape[1], *shape[2:]))


def _beside(x: Tensor) -> Tensor:
    """(B, N, C, …) as (N, B·C, …)."""
    shape = x._raw.shape
    moved = table("transpose")(x, 0, 1)
    return table("reshape")(moved, (shape[1], shape[0] * shape[2], *shape[3:]))


def _apart(x: Tensor, size: int) -> Any:
    """(N, B·C, …) as (B, N, C, …)."""
    shape = x._raw.shape
    parts = table("reshape")(x, (shape[0], size, shape[1] // size, *shape[2:]))
    return table("transpose")(parts, 0, 1)


@rule("convolution")
def convolution(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[Tensor, int]:
    """More samples, or more groups."""
    x, weight, bias, stride, padding, dilation, transposed, extra, groups = args
    dx, dw, db = dims[:3]
    steps = [stride, padding, dilation, transposed, extra]
    if dw is None and db is None:
        x = front(x, dx)
        out = call(op, [_samples(x), weight, bias, *steps, groups])
        return table("reshape")(out, (size, -1, *out._raw.shape[1:])), 0
    if dw is None:
        x = repeat_batch(x, dx, size)
        out = call(op, [_samples(x), weight, None, *steps, groups])
        out = table("reshape")(out, (size, -1, *out._raw.shape[1:]))
    else:
        out = call(op, [
            _beside(repeat_batch(x, dx, size)), _samples(front(weight, dw)), None, *steps,
            groups * size,
        ])  # fmt: skip
        out = _apart(out, size)
    if bias is not None:
        lead = (size, 1) if db is not None else (1, 1)
        bias = bias if db is None else front(bias, db)
        out = out + table("reshape")(bias, (*lead, -1, *(1,) * (out._raw.ndim - 3)))
    return out, 0


@rule("conv_output", "conv_input")
def products(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[TensorLike, int]:
    """As `convolution`: the first operand has samples, the second is a weight."""
    x, weight, *rest, groups = args
    if dims[1] is None:
        out = call(op, [_samples(front(x, dims[0])), weight, *rest, groups])
        return table("reshape")(out, (size, -1, *out._raw.shape[1:])), 0
    out = call(op, [
        _beside(repeat_batch(x, dims[0], size)), _samples(front(weight, dims[1])), *rest,
        groups * size,
    ])  # fmt: skip
    return _apart(out, size), 0


@rule("conv_weight")
def weights(op: Op, args: Arguments, dims: list[int | None], size: int) -> tuple[TensorLike, int]:
    """The gradients of weights: each example's own, as groups."""
    x, g, *rest, groups = args
    out = call(op, [
        _beside(repeat_batch(x, dims[0], size)), _beside(repeat_batch(g, dims[1], size)), *rest,
        groups * size,
    ])  # fmt: skip
    return table("reshape")(out, (size, -1, *out._raw.shape[1:])), 0


@rule("channel_sums")
def channel_sums(op: Op, args: Arguments, dims: list[int], size: int) -> tuple[Tensor, int]:
    """The sums over all but the channels of each example."""
    x = front(args[0], dims[0])
    over = tuple(i for i in range(1, x._raw.ndim) if i != 2)
    return table("sum")(x, over), 0


@rule(
    "avg_pool2d", "avg_pool3d", "avg_pool2d_backward", "avg_pool3d_backward",
    "max_pool2d_with_indices", "max_pool3d_with_indices", "max_pool2d_with_indices_backward",
    "max_pool3d_with_indices_backward", "max_unpool2d", "max_unpool3d",
    "fractional_max_pool2d_backward", "fractional_max_pool3d_backward", "_adaptive_avg_pool2d",
    "_adaptive_avg_pool3d", "_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d_backward",
    "adaptive_max_pool2d", "adaptive_max_pool3d", "adaptive_max_pool2d_backward",
    "adaptive_max_pool3d_backward",
)  # fmt: skip
def windows(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[object, int]:
    """Planes: batch, samples and channels are all alike."""
    spatial = 3 if "3d" in op.name else 2
    ready = [repeat_batch(a, d, size) if is_tensor(a) else a for a, d in zip(args, dims)]
    rank = rank_of(args[0], dims[0])
    if rank <= spatial + 1:
        return call(op, ready), 0
    shape = next(a for a in ready if is_tensor(a))._raw.shape
    out = call(op, [_samples(a) if is_tensor(a) else a for a in ready])
    reshape = table("reshape")
    if isinstance(out, (tuple, list)):
        return [reshape(o, (*shape[:2], *o._raw.shape[1:])) for o in out], 0
    return reshape(out, (*shape[:2], *out._raw.shape[1:])), 0


@rule("pick_from_planes", "place_in_planes")
def planes(op: Op, args: Arguments, dims: list[int | None], size: int) -> tuple[Tensor, int]:
    """Any leading dimensions."""
    return call(
        op, [repeat_batch(a, d, size) if is_tensor(a) else a for a, d in zip(args, dims)]
    ), 0


_UPSAMPLES = [
    f"{stem}{back}"
    for stem in (
        *(f"upsample_nearest{n}d" for n in (1, 2, 3)),
        *(f"_upsample_nearest_exact{n}d" for n in (1, 2, 3)),
        "upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d",
        "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa",
        "_upsample_lanczos2d_aa",
    )
    for back in ("", "_backward")
]  # fmt: skip


@rule(*_UPSAMPLES)
def upsampled(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[Tensor, int]:
    """Batch and samples counted as one."""
    x = front(args[0], dims[0])
    shape = x._raw.shape
    ready = [_samples(x), *args[1:]]
    for i, p in enumerate(op.row.schema.params):
        if p.name == "input_size":
            ready[i] = (size * ready[i][0], *ready[i][1:])
    out = call(op, ready)
    return table("reshape")(out, (*shape[:2], *out._raw.shape[1:])), 0


@rule("channel_shuffle", "native_channel_shuffle", "grid_sampler_2d", "grid_sampler_3d")
@rule("im2col", alone=3)
@rule("col2im", alone=2)
@rule("affine_grid_generator", sizes=1)
def sampled(
    op: Op, args: Arguments, dims: list[int | None], size: int, *, alone: int | None = None,
    sizes: int | None = None,
) -> tuple[Tensor, int]:  # fmt: skip
    """Batch and samples counted as one, where the example has samples.

    An example of rank `alone` has none. `sizes` is the argument that says how many samples.
    """
    ready = [repeat_batch(a, d, size) if is_tensor(a) else a for a, d in zip(args, dims)]
    if alone is not None and rank_of(args[0], dims[0]) == alone:
        return call(op, ready), 0
    count = ready[0]._raw.shape[1]
    ready = [_samples(a) if is_tensor(a) else a for a in ready]
    if sizes is not None:
        ready[sizes] = (size * count, *args[sizes][1:])
    out = call(op, ready)
    return table("reshape")(out, (size, count, *out._raw.shape[1:])), 0


@rule("_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_fused_attention")
def attention(op: Op, args: Arguments, dims: list[int | None], size: int) -> tuple[Any, Any]:
    """Batch and samples counted as one; a mask of its own for each example goes one by one."""
    names = [p.name for p in op.row.schema.params]
    mask = args[names.index("attn_mask")]
    if mask is not None and (dims[names.index("attn_mask")] is not None or mask._raw.ndim > 2):
        return one_by_one(op, args, dims, size)
    ready = [_samples(repeat_batch(a, d, size)) for a, d in zip(args[:3], dims[:3])]
    outs = call(op, [*ready, *args[3:]])
    return [table("reshape")(o, (size, -1, *o._raw.shape[1:])) for o in outs], 0
