"""Batching rules of losses, of normalisation and of rounding to grids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._array.axes import axis_of
from ..._core.op import Op
from ..rows.reduction_argument import MEAN, NONE
from ..rows.tensor_namespace import table
from .batching_rules import align, call, front, is_tensor, one_by_one, rank_of, repeat_batch, rule

if TYPE_CHECKING:
    from ..._base.annotations import Arguments, MappedDims, TensorLike
    from ..._tensor.tensor import Tensor


def _reduce(losses: Tensor, reduction: int) -> Tensor:
    """Losses of examples (the batch first), each reduced to one number."""
    if reduction == NONE or losses._raw.ndim == 1:
        return losses
    flat = table("reshape")(losses, (losses._raw.shape[0], -1 if losses._raw.size else 0))
    return table("mean" if reduction == MEAN else "sum")(flat, 1)


@rule("mse_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss", "binary_cross_entropy",
      "binary_cross_entropy_with_logits")  # fmt: skip
def elementwise_loss(
    op: Op, args: Arguments, dims: list[int | None], size: int
) -> tuple[TensorLike, int]:
    """The losses of elements, then one reduction for each example."""
    names = [p.name for p in op.row.schema.params]
    at = names.index("reduction")
    rank = max(rank_of(a, d) for a, d in zip(args, dims) if is_tensor(a))
    ready = [align(a, d, rank) if is_tensor(a) else a for a, d in zip(args, dims)]
    for k in (0, 1):
        if dims[k] is None:
            ready[k] = repeat_batch(args[k], None, size)
            ready[k] = align(ready[k], 0, rank)
    reduction = ready[at]
    ready[at] = NONE
    return _reduce(call(op, ready), reduction), 0


@rule("nll_loss", "nll_loss2d")
def nll(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[Any, Any]:
    """Batch and rows counted as one; a mean is weighted by what each target weighs."""
    x, target, weight, reduction, ignore = args
    if dims[2] is not None:
        return one_by_one(op, args, dims, size)
    x, target = repeat_batch(x, dims[0], size), repeat_batch(target, dims[1], size)
    reshape = table("reshape")
    lone = x._raw.ndim == 2
    sizes = x._raw.shape
    flat = x if lone else reshape(x, (sizes[0] * sizes[1], *sizes[2:]))
    shape = target._raw.shape
    flat_target = target if lone else reshape(target, (shape[0] * shape[1], *shape[2:]))
    losses = reshape(call(op, [flat, flat_target, weight, NONE, ignore]), shape)
    if reduction == NONE:
        return losses, 0
    if reduction != MEAN:
        return _reduce(losses, reduction), 0
    if lone and weight is None:
        counted = table("ne")(target, ignore)
        return losses / counted, 0
    counted = table("ne")(target, ignore).to(losses.dtype)
    if weight is not None:
        safe = table("where")(table("ne")(target, ignore), target, 0)
        counted = counted * table("reshape")(
            table("index_select")(weight, 0, reshape(safe, (-1,))), shape
        )
    rows = (size, -1 if target._raw.size else 0)
    return table("sum")(reshape(losses, rows), 1) / table("sum")(reshape(counted, rows), 1), 0


@rule("_cross_entropy")
def cross_entropy(op: Op, args: Arguments, dims: list[int | None], size: int) -> tuple[Any, Any]:
    """The logarithm of softmax over the classes, then the loss of the targets."""
    from ..nn.class_loss import nll_loss

    x, target, reduction, ignore = args
    rank = rank_of(x, dims[0])
    if rank > 2:
        return one_by_one(op, args, dims, size)
    x = repeat_batch(x, dims[0], size)
    logs = table("log_softmax")(x, 1 if rank == 1 else 2)
    found: Any = nll_loss
    row_op = found.op if hasattr(found, "op") else _row_op("nll_loss")
    return nll(row_op, [logs, target, None, reduction, ignore], [0, dims[1], None, None, None],
               size)  # fmt: skip


def _row_op(name: str) -> Op:
    from ..rows.row import ROWS

    return ROWS[name][0].op


@rule("multi_margin_loss", single=True)
@rule("multilabel_margin_loss", single=False)
def margin(
    op: Op, args: Arguments, dims: list[int | None], size: int, *, single: bool
) -> tuple[Any, Any]:
    """Batch and rows counted as one; a row has a `single` target, or several."""
    names = [p.name for p in op.row.schema.params]
    at = names.index("reduction")
    if any(d is not None for d in dims[2:]) or not rank_of(args[0], dims[0]):
        return one_by_one(op, args, dims, size)
    x, target = repeat_batch(args[0], dims[0], size), repeat_batch(args[1], dims[1], size)
    reshape = table("reshape")
    lone = x._raw.ndim == 2
    shape = x._raw.shape
    ready = list(args)
    reduction, ready[at] = ready[at], NONE
    ready[0] = x if lone else reshape(x, (shape[0] * shape[1], shape[2]))
    if lone:
        ready[1] = reshape(target, (size, *target._raw.shape[1:]))
    else:
        ready[1] = reshape(target, (shape[0] * shape[1], *target._raw.shape[2:]))
    if lone and target._raw.ndim == 2 and single:
        ready[1] = reshape(target, (size,))
    losses = call(op, ready)
    if lone:
        return losses, 0
    return _reduce(reshape(losses, (shape[0], shape[1])), reduction), 0


# ---- normalisation ----------------------------------------------------------------------------
@rule("native_layer_norm")
def layer_norm(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[object, int]:
    """The last dimensions of each example; weights that are batches are applied afterwards."""
    x, shape, weight, bias, eps = args
    x = repeat_batch(x, dims[0], size)
    if dims[2] is None and dims[3] is None:
        return call(op, [x, shape, weight, bias, eps]), 0
    out, mean, rstd = call(op, [x, shape, None, None, eps])
    rank = x._raw.ndim - 1
    if weight is not None:
        out = out * align(weight, dims[2], rank)
    if bias is not None:
        out = out + align(bias, dims[3], rank)
    return [out, mean, rstd], 0


@rule("_rms_norm")
def rms_norm(op: Op, args: Arguments, dims: list[int | None], size: int) -> tuple[object, int]:
    """The last dimensions of each example; weights that are a batch are applied afterwards."""
    x, shape, weight, eps = args
    x = repeat_batch(x, dims[0], size)
    if dims[2] is None:
        return call(op, [x, shape, weight, eps]), 0
    out, inverse = call(op, [x, shape, None, eps])
    return [out * align(weight, dims[2], x._raw.ndim - 1), inverse], 0


@rule("native_group_norm")
def group_norm(op: Op, args: Arguments, dims: MappedDims, size: int) -> tuple[Any, Any]:
    """Batch and samples counted as one."""
    x, weight, bias, group, eps = args
    x = repeat_batch(x, dims[0], size)
    shape = x._raw.shape
    reshape = table("reshape")
    flat = reshape(x, (shape[0] * shape[1], *shape[2:]))
    joint = dims[1] is None and dims[2] is None
    out, mean, rstd = call(
        op, [flat, weight if joint else None, bias if joint else None, group, eps]
    )
    out = reshape(out, shape)
    if not joint:
        spatial = (1,) * (len(shape) - 3)
        for p, d, times in ((weight, dims[1], True), (bias, dims[2], False)):
            if p is not None:
                lead = (size, 1) if d is not None else (1, 1)
                p = p if d is None else front(p, d)
                p = reshape(p, (*lead, -1, *spatial))
                out = out * p if times else out + p
    rows = (shape[0], shape[1], group)
    return [out, reshape(mean, rows), reshape(rstd, rows)], 0


@rule("native_batch_norm")
def batch_norm(op: Op, args: Arguments, dims: list[int | None], size: int) -> tuple[Any, Any]:
    """Batch and channels counted as one: each example has its own statistics."""
    x, weight, bias, mean, var, training, momentum, eps = args
    dx, dw, db, dm, dv = dims[:5]
    if training and mean is not None and (dm is None or dv is None):
        raise RuntimeError(
            "Batch norm got a batched tensor as input while the running_mean or running_var, "
            "which will be updated in place, were not batched.\nIf you are using a module and do "
            "not need eval mode, please set `track_running_stats` to be False.If you are using a "
            "prebuilt module and do not need eval mode, please see the functorch website for "
            "resources on how to patch your module to work with vmap"
        )
    if dm is not None or dv is not None:
        return one_by_one(op, args, dims, size)  # buffers are written, one view of them at a time
    x = repeat_batch(x, dx, size)
    shape = x._raw.shape
    channels = shape[2]
    reshape, expand = table("reshape"), table("expand")
    flat = reshape(table("movedim")(x, 0, 1), (shape[1], size * channels, *shape[3:]))

    def tile(p: Tensor | None, d: int | None) -> Tensor | None:
        if p is None:
            return None
        p = expand(p, (size, channels)) if d is None else front(p, d)
        return reshape(p, (size * channels,))

    out, saved, inverse = call(op, [
        flat, tile(weight, dw), tile(bias, db), tile(mean, None), tile(var, None), training,
        momentum, eps,
    ])  # fmt: skip
    out = table("movedim")(reshape(out, (shape[1], size, *shape[2:])), 1, 0)
    parts = [
        reshape(p, (size, -1)) if p._raw.size else repeat_batch(p, None, size)
        for p in (saved, inverse)
    ]
    return [out, *parts], 0


@rule(
    "fake_quantize_per_tensor_affine_cachemask",
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
    "fake_quantize_per_channel_affine_cachemask",
)
def fake_quantize(op: Op, args: Arguments, dims: list[int | None], size: int) -> tuple[Any, Any]:
    """Elements on the grid that all examples share; a channel's axis comes after the batch."""
    if dims[0] is None or any(d is not None for d in dims[1:]):
        return one_by_one(op, args, dims, size)
    x = front(args[0], dims[0])
    rest = args[1:]
    if len(rest) == 5 and not is_tensor(rest[2]):
        rest = [*rest[:2], axis_of(rest[2], x._raw.ndim - 1) + 1, *rest[3:]]
    return call(op, [x, *rest]), [0, 0]
