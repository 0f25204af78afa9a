"""Normalisation: layers, batches, groups, instances, root mean squares, neighbouring channels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._array.nn.channels_last import follow_layout
from ..._base import errors
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.slow import may_have_tangent
from ..._core.storage import bump
from ..._formula.words import column_sum, row_sum, sqrt
from ..calls.argument_parser import complaint_of_c, in_words_of, real_number
from ..calls.python_argument_errors import take_as_c
from ..rows import reduction_argument as _reduction, tensor_namespace as _traced
from ..rows.composite import composite
from ..rows.gradient_kernels import record_gradient
from ..rows.row import general
from ..rows.row_formula import norm_formula

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._base.annotations import AnyCallable, Shape, TensorLike
    from ..._tensor.tensor import Tensor

sums = later("_array.reduce.reduce")
losses = later("_array.nn.element_losses")
raw = later("_array.nn.batch_norm")


def centre(x: Tensor, eps: float, dim: Shape, part: float) -> tuple[Tensor, Tensor, Tensor]:
    """x - mean along `dim`, the means and 1 / deviations."""
    mean = row_sum(x, dim) * part
    moved = x - mean
    inverse = 1 / sqrt(row_sum(moved * moved, dim) * part + eps)
    return moved, mean, inverse


def input_gradient(
    g: Tensor, along: Tensor, moved: Tensor, inverse: Tensor, dim: Shape, part: float
) -> Tensor:
    """r (g - mean(g) - d r² mean(g d)): the gradient of d r, d = x - mean; `along` is g d."""
    level = row_sum(g, dim) * part
    slope = row_sum(along, dim) * part * (inverse * inverse)
    return inverse * (g - level - moved * slope)


def normalise(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float, dim: Shape, part: float
) -> tuple[Tensor, ...]:
    """x with mean 0 and variance 1 along `dim`, scaled and shifted; the means; 1 / deviations."""
    moved, mean, inverse = centre(input, eps, dim, part)
    hat = moved * inverse
    out = hat if weight is None else hat * weight
    return out if bias is None else out + bias, mean, inverse


def _pick_needed(g: Any, need: list[bool]) -> Any:
    return tuple(r if wanted else None for r, wanted in zip(g, need, strict=True))


def _check_parameter_dtypes(x: Array, *parameters: Any) -> None:
    """Refuses parameters of other types than the first, and that of another than the input.

    Beside numbers of half precision all parameters may be float32.
    """
    given = [p.dtype for p in parameters if p is not None]
    if all(dtype == x.dtype for dtype in given):
        return
    if given[0] == x.dtype:
        other = next(dtype for dtype in given if dtype != x.dtype)
        raise RuntimeError(
            f"expected scalar type {sums.name_of(x.dtype)} but found {sums.name_of(other)}"
        )
    if any(dtype != T.FLOAT32 for dtype in given):
        raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
    if x.dtype.itemsize != 2:
        raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")


# ---- layer norm -------------------------------------------------------------------------------


def _check_layer(x: Any, normalized_shape: Shape, weight: Array | None, bias: Array | None,
                 eps: float) -> None:  # fmt: skip
    count = len(normalized_shape)
    shape = tuple(normalized_shape)
    fits = count and x.shape[-count:] == shape
    if (weight is not None and weight.shape != shape) or (bias is not None and bias.shape != shape):
        fits = False
    if not fits:
        _refuse_layer(x, shape, weight, bias)
    dtype = x.dtype
    if (weight is not None and weight.dtype is not dtype) or (
        bias is not None and bias.dtype is not dtype
    ):
        _check_parameter_dtypes(x, weight, bias)
    if dtype.kind not in "fV":
        losses.require_floats(x, "LayerNormKernelImpl")


def _refuse_layer(x: Any, shape: tuple[int, ...], weight: Any, bias: TensorLike | None) -> None:
    first = weight if weight is not None else bias
    if first is not None and first.dtype != x.dtype:
        _check_parameter_dtypes(x, weight, bias)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            "element, but got normalized_shape = []"
        )
    _refuse_parameters(shape, weight, bias)
    wanted = ", ".join(map(str, shape))
    raise RuntimeError(
        f"Given normalized_shape={list(shape)}, expected input with shape [*, {wanted}], but got "
        f"input of size{list(x.shape)}"
    )


def _refuse_parameters(shape: tuple[int, ...], weight: Any, bias: TensorLike | None) -> None:
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and parameter.shape != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(parameter.shape)} and normalized_shape = {list(shape)}"
            )


def _layer_gradients(
    g0: Tensor, input: Tensor, mean: Tensor, rstd: Tensor, weight: Tensor | None, dim: Shape,
    part: float,
) -> tuple[Tensor, ...]:  # fmt: skip
    """r (g w - mean(g w) - d r² mean(g w d)) with d = x - mean; the sums of g d r and of g."""
    moved = input - mean
    along = g0 * moved
    scaled, weighted = (g0, along) if weight is None else (g0 * weight, along * weight)
    d_input = input_gradient(scaled, weighted, moved, rstd, dim, part)
    return d_input, column_sum(along * rstd, dim), column_sum(g0, dim)


LAYER_NORM = general(
    "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float "
    "eps)"
    " -> (Tensor output, Tensor mean, Tensor rstd)",
    norm_formula(normalise, prepare=_check_layer),
    joint=norm_formula(_layer_gradients, again=normalise, by_row=("mean", "rstd")),
    saved_as={"mean": "result1", "rstd": "result2"},
    differentiable_out=(True, False, False),
    samples=lambda mk: [(mk(3, 4), (4,), mk(4), mk(4), 1e-5)],
    doc="The input normalised over its last dimensions, the means, and 1 / deviations.",
    kernel="LayerNormKernelImpl",
)


@composite("nn.functional")
def layer_norm(input: Tensor, normalized_shape: Any, weight: object = None, bias: object = None,
               eps: float = 1e-5) -> Tensor:  # fmt: skip
    """The input with mean 0 and variance 1 over its last dimensions, scaled and shifted.

    Shapes: normalized_shape the last dimensions, as weight and bias.
    Raises: RuntimeError for shapes that don't fit.
    """
    if type(eps) is not float:
        eps = real_number(eps)
    try:
        return apply_n(LAYER_NORM.op, [input, tuple(normalized_shape), weight, bias, eps])[0]
    except Exception as error:
        values = input, normalized_shape, weight, bias, eps
        raise in_words_of("layer_norm", values, error) from None


@composite("", name="layer_norm")
def layer_norm_operator(input: Tensor, normalized_shape: Shape, weight: Tensor | None = None,
                        bias: Tensor | None = None, eps: float = 1e-5,
                        cudnn_enable: bool = True) -> Tensor:  # fmt: skip
    """The input normalised over its last dimensions: see `nn.functional.layer_norm`."""
    return layer_norm(input, normalized_shape, weight, bias, eps)


# ---- batch norm -------------------------------------------------------------------------------


def _batch_norm(x: Array, weight: Array | None, bias: Array | None, mean: Array | None,
                var: Array | None, training: bool, momentum: float,
                eps: float) -> tuple[Array, ...]:  # fmt: skip
    channels = x.shape[1] if x.ndim > 1 else 0
    if not x.size and x.ndim < 2:
        return x.copy(), x[:0].copy(), x[:0].copy()
    _check_channels(x.shape, training, mean, var, weight, bias)
    if (mean is None) != (var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    losses.require_floats(x, "batch_norm")
    _check_parameter_dtypes(x, weight, bias, mean, var)
    _check_running(mean, var)
    out, centre, inverse = raw.batch_norm(x, weight, bias, mean, var, training, eps)
    if training and x.size:
        raw.move_towards(mean, centre, momentum)
        if var is not None:
            count = x.size // channels
            raw.move_towards(var, unbiased_variance(inverse, eps, count), momentum)
    return follow_layout(out, x, filled=True), centre, inverse


def _check_channels(shape: Shape, training: bool, *given: Any) -> None:
    channels = shape[1] if len(shape) > 1 else 0
    for name, value in zip(("running_mean", "running_var", "weight", "bias"), given):
        if value is not None and math.prod(value.shape) != channels:
            raise RuntimeError(
                f"{name} should contain {channels} elements not {math.prod(value.shape)}"
            )
        if value is None and not training and name.startswith("running"):
            raise RuntimeError(f"{name} must be defined in evaluation mode")


def _check_running(*given: Array | None) -> None:
    """Refuses running statistics that are no vectors, where they are read."""
    for value in given:
        if value is not None and value.ndim != 1:
            raise RuntimeError(f"TensorAccessor expected 1 dims but tensor has {value.ndim}")


def _in_layout(x: Array, d_x: Array | None, *rest: Array | None) -> tuple[Array | None, ...]:
    return None if d_x is None else follow_layout(d_x, x), *rest


def batch_norm_backward(g: Array, x: Array, *rest: object) -> tuple[Array | None, ...]:
    """The gradients of a batch norm, that of the input laid out like it."""
    return _in_layout(x, *raw.batch_norm_backward(g, x, *rest))


def unbiased_variance(inverse: Tensor, eps: float, count: int) -> Tensor:
    """The variance of which 1 / deviation is known, times n / (n - 1)."""
    return (1 / (inverse * inverse) - eps) * (count / (count - 1) if count > 1 else math.inf)


def channel_gradients(g: Tensor, moved: Tensor, inverse: Tensor, weight: Tensor | None,
                      dims: Shape, part: float) -> tuple[Tensor, ...]:  # fmt: skip
    """The gradients of d r w + b, d = x - mean, with one r, w and b for each channel.

    For x: r w (g - mean(g) - d r² mean(g d)).
    """
    along, total = row_sum(g * moved, dims), row_sum(g, dims)
    scale = inverse if weight is None else inverse * weight
    level, slope = total * part, along * part * (inverse * inverse)
    return scale * (g - level - moved * slope), along * inverse, total


def _batch_gradients(g0: Tensor, input: Tensor, weight: Tensor, running_mean: Tensor,
                     running_var: Tensor, save_mean: Tensor, save_invstd: Tensor, training: bool,
                     eps: float, need: list[bool]) -> Any:  # fmt: skip
    g, x = g0, input
    shape = (1, -1) + (1,) * (x.dim() - 2)
    dims = (0, *range(2, x.dim()))
    part = x.shape[1] / x.numel()
    scale = None if weight is None else weight.view(shape)
    if training:
        moved, _, inverse = centre(x, eps, dims, part)
    else:
        inverse = ((running_var + eps) ** -0.5).view(shape)
        moved, part = x - running_mean.view(shape), 0.0
    d_x, d_weight, d_bias = channel_gradients(g, moved, inverse, scale, dims, part)
    if not training:
        d_x = g * inverse if scale is None else g * (inverse * scale)
    return _pick_needed((d_x, d_weight.reshape(-1), d_bias.reshape(-1)), need)


BATCH_NORM = general(
    "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Buffer(a!)? running_mean, "
    "Buffer(b!)? running_var, bool training, float momentum, float eps)"
    " -> (Tensor output, Tensor save_mean, Tensor save_invstd)",
    _batch_norm,
    joint=record_gradient(_batch_gradients, override=batch_norm_backward),
    saved_as={"save_mean": "result1", "save_invstd": "result2"},
    differentiable_out=(True, False, False),
    public=False,
    lowering="batch_norm",
    samples=lambda mk: [(mk(3, 4), mk(4), mk(4), None, None, True, 0.1, 1e-5)],
    doc="The input normalised by channel, the batch's means, and 1 / deviations.",
    kernel="batch_norm",
)


@composite("nn.functional")
def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None,
               weight: Tensor | None = None, bias: Tensor | None = None, training: bool = False,
               momentum: float = 0.1, eps: float = 1e-5) -> Tensor:  # fmt: skip
    """The input with mean 0 and variance 1 in each channel, scaled and shifted.

    In training the statistics are the batch's, and the running ones move towards them by
    `momentum`; else the running ones are used. Shapes: input (N, C, …), the others (C,).
    Raises: ValueError for a single value per channel in training, RuntimeError for wrong shapes.
    """
    if training:
        _require_several(input.shape)
    if (eps <= 0.0) if training else (eps < 0.0):
        wanted = "positive during training" if training else "non-negative"
        raise ValueError(f"batch_norm eps must be {wanted}, but got {eps}")
    try:
        return batch_norm_operator(
            input, weight, bias, running_mean, running_var, training, momentum, eps, True
        )
    except Exception as error:
        values = input, weight, bias, running_mean, running_var, training, momentum, eps, True
        raise in_words_of("batch_norm", values, error) from None


@composite("", name="batch_norm")
def batch_norm_operator(input: Tensor, weight: Tensor | None, bias: Tensor | None,
                        running_mean: Tensor | None, running_var: Tensor | None, training: bool,
                        momentum: float, eps: float, cudnn_enabled: bool) -> Tensor:  # fmt: skip
    """The input normalised by channel: see `nn.functional.batch_norm`."""
    if not input._raw.size:
        out = input.clone()
        out = out if weight is None else out * weight.select(0, 0)
        return out if bias is None else out + bias.select(0, 0)
    if running_mean is not None or running_var is not None:
        try:
            _reduction.refuse_gradient(
                "native_batch_norm", running_mean=running_mean, running_var=running_var
            )
        except RuntimeError:  # sizes come first
            _check_channels(input.shape, training, running_mean, running_var, weight, bias)
            raise
        if not training and input._tangent is not None:
            for running in (running_mean, running_var):
                if running is not None and may_have_tangent(running):
                    raise RuntimeError(
                        "batch_norm is not differentiable wrt running_mean and running_var, they "
                        "cannot have forward grad defined"
                    )
    elif training and input._raw.ndim == 1:
        raise IndexError(errors.dimension(1, 1))
    args = [input, weight, bias, running_mean, running_var, training, momentum, eps]
    return apply_n(BATCH_NORM.op, args)[0]


def _require_several(shape: Shape) -> None:
    if math.prod((shape[0], *shape[2:])) == 1:
        raise ValueError(
            "Expected more than 1 value per channel when training, got input size "
            f"{errors.size_text(shape)}"
        )


# ---- instance norm ----------------------------------------------------------------------------


@composite("nn.functional")
def instance_norm(input: Tensor, running_mean: Tensor | None = None,
                  running_var: Tensor | None = None, weight: Tensor | None = None,
                  bias: Tensor | None = None, use_input_stats: bool = True, momentum: float = 0.1,
                  eps: float = 1e-5) -> Tensor:  # fmt: skip
    """The input with mean 0 and variance 1 in each channel of each sample, scaled and shifted.

    Raises: ValueError for a single place per channel, or one running statistic without the other.
    """
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise ValueError(
            "Expected more than 1 spatial element when training, got input size "
            f"{errors.size_text(input.shape)}"
        )
    if type(eps) is not float or type(momentum) is not float or type(use_input_stats) is not bool:
        values = input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps
        problem = complaint_of_c("torch", "instance_norm", (*values, True), {})
        if problem is not None:
            raise problem
    return instance_norm_operator(
        input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True
    )


@composite("", name="instance_norm")
def instance_norm_operator(input: Tensor, weight: Tensor | None, bias: Tensor | None,
                           running_mean: Tensor | None, running_var: Tensor | None,
                           use_input_stats: bool, momentum: float, eps: float,
                           cudnn_enabled: bool) -> Tensor:  # fmt: skip
    """The input normalised by sample and channel: batch norm of one sample of N·C channels."""
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    shape = tuple(input.shape)
    if len(shape) < 2:
        raise IndexError(errors.no_dimension(len(shape), len(shape)))
    samples, channels = shape[0], shape[1]
    repeated = [
        None if x is None else x.repeat(samples) for x in (weight, bias, running_mean, running_var)
    ]
    merged = input.contiguous().view((1, samples * channels, *shape[2:]))
    out = batch_norm_operator(
        merged,
        repeated[0],
        repeated[1],
        repeated[2],
        repeated[3],
        use_input_stats,
        momentum,
        eps,
        cudnn_enabled,
    )
    for kept, many in ((running_mean, repeated[2]), (running_var, repeated[3])):
        if kept is not None and many is not None and use_input_stats:
            T.write_into(kept._raw, many._raw.reshape(samples, channels).mean(0))
            bump(kept)
    return out.view(shape)


# ---- group norm -------------------------------------------------------------------------------


def _group_norm(x: Array, weight: Array | None, bias: Array | None, num_groups: int,
                eps: float) -> tuple[Array, ...]:  # fmt: skip
    _check_parameter_dtypes(x, weight, bias)
    losses.require_floats(x, "GroupNormKernelImpl")
    out, mean, rstd = raw.group_norm(LAYER_NORM.op.raw, x, num_groups, weight, bias, eps)
    return follow_layout(out, x), mean, rstd


def group_norm_backward(g: Array, x: Array, groups: int, mean: Array, rstd: Array, weight: Array,
                        eps: float, need: list[bool]) -> tuple[Array | None, ...]:  # fmt: skip
    """The gradients of a group norm."""
    layer: AnyCallable = LAYER_NORM.op.joint
    found = raw.group_norm_backward(layer, g, x, groups, mean, rstd, weight, eps, need)
    return _in_layout(x, *found)


def _group_gradients(g0: Tensor, input: TensorLike, group: int, mean: Tensor, rstd: Tensor,
                     weight: Tensor, eps: float, need: list[bool]) -> tuple[Tensor,
                     ...]:  # fmt: skip
    g, x, groups = g0, input, group
    n, channels = x.shape[0], x.shape[1]
    inner = math.prod(x.shape[2:])
    wide, grouped = (n, channels, inner), (n, groups, channels // groups * inner)
    part = 1 / grouped[2]
    moved, _, inverse = centre(x.reshape(grouped), eps, (2,), part)
    g_wide = g.reshape(wide)
    scaled = g_wide if weight is None else g_wide * weight.view(1, -1, 1)
    scaled = scaled.reshape(grouped)
    d_x = input_gradient(scaled, scaled * moved, moved, inverse, (2,), part)
    d_weight = (g_wide * (moved * inverse).reshape(wide)).sum((0, 2))
    return _pick_needed((d_x.reshape(x.shape), d_weight, g_wide.sum((0, 2))), need)


GROUP_NORM = general(
    "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int group, float eps)"
    " -> (Tensor output, Tensor mean, Tensor rstd)",
    _group_norm,
    joint=record_gradient(_group_gradients, override=group_norm_backward),
    saved_as={"mean": "result1", "rstd": "result2"},
    differentiable_out=(True, False, False),
    public=False,
    samples=lambda mk: [(mk(2, 4, 3), mk(4), mk(4), 2, 1e-5)],
    lowering="group_norm",
    doc="The input normalised by groups of channels, the means, and 1 / deviations.",
    kernel="GroupNormKernelImpl",
)


def check_groups(shape: Shape, channels: int, num_groups: int, weight: Any, bias: Any) -> None:
    """Refuses channels that don't make so many groups, and parameters of another size.

    Raises: RuntimeError.
    """
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    if channels % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {list(shape)} and num_groups={num_groups}"
        )
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and tuple(parameter.shape) != (channels,):
            shown = [0] if weight is None else list(weight.shape)  # as PyTorch has it
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in "
                "input, but "
                f"got {name} of shape {shown} and input of shape {list(shape)}"
            )


@composite("nn.functional")
def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None,
               bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:  # fmt: skip
    """The input with mean 0 and variance 1 in each group of channels, scaled and shifted.

    Shapes: input (N, C, …) with C a multiple of num_groups; weight and bias (C,).
    Raises: RuntimeError for shapes that don't fit, ValueError for a single value per group.
    """
    if input.dim() < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {input.dim()}"
        )
    shape = tuple(input.shape)
    if shape[0] * (shape[1] // num_groups) * math.prod(shape[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {list(shape)}"
        )
    if type(num_groups) is not int or not -(1 << 63) <= num_groups < 1 << 63:
        given = input, num_groups, weight, bias, eps
        num_groups = take_as_c("torch", "group_norm", given)[1]
    return group_norm_operator(input, num_groups, weight, bias, eps)


@composite("", name="group_norm")
def group_norm_operator(input: Tensor, num_groups: int, weight: Tensor | None = None,
                        bias: Tensor | None = None, eps: float = 1e-5,
                        cudnn_enabled: bool = True) -> Tensor:  # fmt: skip
    """The input normalised by groups of channels: see `nn.functional.group_norm`."""
    if type(eps) is not float:
        eps = real_number(eps)
    shape = tuple(input.shape)
    if len(shape) < 2:
        raise IndexError(errors.no_dimension(len(shape), len(shape)))
    check_groups(shape, shape[1], num_groups, weight, bias)
    return apply_n(GROUP_NORM.op, [input, weight, bias, num_groups, eps])[0]


# ---- neighbouring channels --------------------------------------------------------------------


@composite("nn.functional")
def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75,
                        k: float = 1.0) -> Tensor:  # fmt: skip
    """input / (k + alpha · mean of squares over `size` neighbouring channels)^beta.

    Shapes: (N, C, …). Raises: ValueError for fewer than three dimensions.
    """
    ndim = input.dim()
    if ndim < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality {' ' * 25}input (got {ndim} dimensions)"
        )
    if not input.numel():
        return input
    # The channels lie along a plane or a space of one channel, and the mean is that of a pool.
    squares = input * input
    sizes = input.shape
    if ndim == 3:
        squares, rest = squares.unsqueeze(1), 1
    else:
        squares, rest = squares.view(sizes[0], 1, sizes[1], sizes[2], -1), 2
    padded = _traced.table("constant_pad_nd")(
        squares, (0, 0) * rest + (size // 2, (size - 1) // 2), 0.0
    )
    pool = _traced.table(f"avg_pool{rest + 1}d")
    means = pool(padded, (size,) + (1,) * rest, 1).squeeze(1)
    if ndim > 3:
        means = means.view(sizes)
    return input / (means * alpha + k) ** beta
