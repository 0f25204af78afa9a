"""Convolution and its transpose, over one to three dimensions.

Every public function ends in the one row `convolution`. Its gradients, and theirs, are the three
rows before it: see Note [One form, three convolutions] in `_array/nn/convolution.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from ..._array.nn.channels_last import follow_layout
from ..._base import errors
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.storage import TensorBase
from ..calls.convolution_checks import Sizes, check_shapes, check_some_output, check_types, each
from ..calls.signed_functions import give_signatures
from ..rows.composite import composite
from ..rows.row import linear, multilinear
from ..rows.tensor_namespace import table

if TYPE_CHECKING:
    from types import ModuleType

    from ..._array.annotations import Array
    from ..._base.annotations import AnyCallable, Shape, TensorLike
    from ..._tensor.tensor import Tensor

raw = later("_array.nn.convolution")

_NODE: Final = "ConvolutionBackwardBackward0"

# ---- the three products -----------------------------------------------------------------------
channel_sums = linear(
    "channel_sums(Tensor self) -> Tensor",
    raw.channel_sums,
    self=lambda xp, g, self_shape: xp.broadcast_to(
        xp.reshape(g, (1, self_shape[1]) + (1,) * (len(self_shape) - 2)), self_shape
    ),
    node="SumBackward1",
    namespace="private",
    lowering="channel_sums",
    samples=lambda mk: [(mk(2, 3, 4),), (mk(2, 3, 2, 2),)],
    doc="The sums over all but the second dimension: the gradient of a bias.",
)
conv_output = multilinear(
    "conv_output(Tensor input, Tensor weight, int[] size, int[] stride, int[] padding, int[] "
    "dilation, int groups) -> Tensor",
    raw.conv_output,
    input=lambda xp, g, weight, input_shape, stride, padding, dilation, groups: xp.conv_input(
        g, weight, input_shape[2:], stride, padding, dilation, groups
    ),
    weight=lambda xp, g, input, weight_shape, stride, padding, dilation, groups: xp.conv_weight(
        input, g, weight_shape[2:], stride, padding, dilation, groups
    ),
    node=_NODE,
    lowering="conv_output",
    namespace="private",
    samples=lambda mk: [
        (mk(2, 2, 5), mk(4, 1, 3), (3,), (2,), (1,), (1,), 2),
        (mk(1, 2, 4, 3), mk(2, 2, 2, 2), (3, 2), (1, 1), (0, 0), (1, 1), 1),
    ],
    doc="The convolution of an input with weights: `size` windows in each dimension.",
    narrow="complex32",
    kernel="slow_conv2d_cpu",
)
conv_input = multilinear(
    "conv_input(Tensor grad, Tensor weight, int[] size, int[] stride, int[] padding, int[] "
    "dilation, int groups) -> Tensor",
    raw.conv_input,
    grad=lambda xp, g, weight, grad_shape, stride, padding, dilation, groups: xp.conv_output(
        g, weight, grad_shape[2:], stride, padding, dilation, groups
    ),
    weight=lambda xp, g, grad, weight_shape, stride, padding, dilation, groups: xp.conv_weight(
        g, grad, weight_shape[2:], stride, padding, dilation, groups
    ),
    node=_NODE,
    lowering="conv_input",
    namespace="private",
    samples=lambda mk: [
        (mk(2, 4, 3), mk(4, 1, 3), (5,), (2,), (1,), (1,), 2),
        (mk(1, 2, 3, 2), mk(2, 2, 2, 2), (4, 3), (1, 1), (0, 0), (1, 1), 1),
    ],
    doc="The gradient of a convolution for its input of `size`.",
    narrow="complex32",
)
conv_weight = multilinear(
    "conv_weight(Tensor input, Tensor grad, int[] size, int[] stride, int[] padding, int[] "
    "dilation, int groups) -> Tensor",
    raw.conv_weight,
    input=lambda xp, g, grad, input_shape, stride, padding, dilation, groups: xp.conv_input(
        grad, g, input_shape[2:], stride, padding, dilation, groups
    ),
    grad=lambda xp, g, input, grad_shape, stride, padding, dilation, groups: xp.conv_output(
        input, g, grad_shape[2:], stride, padding, dilation, groups
    ),
    node=_NODE,
    lowering="conv_weight",
    namespace="private",
    samples=lambda mk: [
        (mk(2, 2, 5), mk(2, 4, 3), (3,), (2,), (1,), (1,), 2),
        (mk(1, 2, 4, 3), mk(1, 2, 3, 2), (2, 2), (1, 1), (0, 0), (1, 1), 1),
    ],
    doc="The gradient of a convolution for its weights, whose kernel has `size`.",
    narrow="complex32",
)


# ---- the one row ------------------------------------------------------------------------------
@lru_cache(maxsize=1024)
def _geometry(
    x: Sizes, w: Sizes, bias: Sizes | None, stride: Shape, padding: Shape, dilation: Shape,
    transposed: bool, output_padding: Shape, groups: int,
) -> tuple[Sizes, Sizes, Sizes, Sizes]:  # fmt: skip
    """Stride, padding, dilation by dimension, and the sizes of a transposed convolution's output.

    Remembered by shapes: a training loop asks for the same few.
    Raises: RuntimeError, see `check_shapes`.
    """
    dims = len(w) - 2
    if dims <= 0:
        raise RuntimeError("weight should have at least three dimensions")
    stride = each("stride", stride, dims, "convolution")
    padding = each("padding", padding, dims, "convolution")
    dilation = each("dilation", dilation, dims, "convolution")
    extra = each("output_padding", output_padding, dims, "convolution")
    check_shapes(x, w, bias, stride, padding, dilation, transposed, extra, groups)
    if not transposed:
        return stride, padding, dilation, ()
    size = tuple(
        (n - 1) * s - 2 * p + d * (k - 1) + 1 + e
        for n, s, p, d, k, e in zip(x[2:], stride, padding, dilation, w[2:], extra)
    )
    return stride, padding, dilation, size


def _convolution(
    x: Array,
    w: Array,
    bias: Array | None,
    stride: Shape,
    padding: Shape,
    dilation: Shape,
    transposed: bool,
    output_padding: Shape,
    groups: int,
) -> Array:
    stride, padding, dilation, size = _geometry(
        x.shape, w.shape, None if bias is None else bias.shape, stride, padding, dilation,
        transposed, output_padding, groups,
    )  # fmt: skip
    dims = w.ndim - 2
    if x.dtype != w.dtype or x.dtype.kind in "biu" or (bias is not None and bias.dtype != x.dtype):
        moved = max(stride) > 1 or max(padding) > 0
        check_types(x, w, bias, dims, transposed, max(dilation) > 1, moved)
    if not transposed and not x.shape[1]:  # no channels give none, whatever the weights say
        y = raw.correlate(x, w, None, stride, padding, dilation, groups)[:, :0]
    elif not transposed:
        y = raw.correlate(x, w, bias, stride, padding, dilation, groups)
    else:
        if 0 in size:
            check_some_output(x, w, size, groups)
        y = raw.correlate_transposed(x, w, size, stride, padding, dilation, groups)
        if bias is not None:
            y += bias.reshape(-1, *(1,) * dims)
    return follow_layout(y, x, w)


def _gradients(
    xp: ModuleType,
    g: TensorLike,
    input: TensorLike,
    weight: TensorLike,
    bias_shape: Shape | None,
    stride: Shape,
    padding: Shape,
    dilation: Shape,
    transposed: bool,
    output_padding: Shape,
    groups: int,
    need: list[bool],
) -> tuple[TensorLike | None, TensorLike | None, TensorLike | None]:
    """The derivatives of the trilinear form; a transposed convolution exchanges x and y in it."""
    dims = len(input.shape) - 2
    steps = [v if len(v) == dims else v * dims for v in (stride, padding, dilation)]
    size, k = tuple(input.shape[2:]), tuple(weight.shape[2:])
    d_input = d_weight = d_bias = None
    if not transposed and not input.shape[1]:
        shapes = (tuple(input.shape), tuple(weight.shape), bias_shape)
        zeros = [xp.zeros(s, g.dtype) if n else None for s, n in zip(shapes, need)]
        return zeros[0], zeros[1], zeros[2]
    if transposed:
        if need[0]:
            d_input = xp.conv_output(g, weight, size, *steps, groups)
        if need[1]:
            d_weight = xp.conv_weight(g, input, k, *steps, groups)
    else:
        if need[0]:
            d_input = xp.conv_input(g, weight, size, *steps, groups)
        if need[1]:
            d_weight = xp.conv_weight(input, g, k, *steps, groups)
    if need[2]:
        d_bias = xp.channel_sums(g)
    return d_input, d_weight, d_bias


convolution = multilinear(
    "convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] "
    "dilation, bool transposed, int[] output_padding, int groups) -> Tensor",
    _convolution,
    joint=_gradients,
    saved_as={"bias_shape": "bias_sym_sizes_opt"},
    samples=lambda mk: [
        (mk(2, 2, 5), mk(4, 1, 3), mk(4), (2,), (1,), (1,), False, (0,), 2),
        (mk(1, 2, 4, 3), mk(3, 2, 2, 2), None, (1, 1), (0, 1), (2, 1), False, (0, 0), 1),
        (mk(2, 2, 3), mk(2, 3, 3), mk(3), (2,), (1,), (1,), True, (1,), 1),
        (mk(1, 2, 2, 2, 2), mk(2, 1, 2, 1, 2), None, (1,), (0,), (1,), True, (0,), 2),
    ],
    lowering="convolution",
    doc="A convolution, or a transposed one, over the dimensions after batch and channels.",
    narrow="complex32",
    kernel="slow_conv2d_cpu",
    without_data="channels",
    beside_data="never",
)


@composite("", name="_convolution")
def _convolution_with_switches(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    stride: int | Sequence[int] | None,
    padding: int | Sequence[int] | str,
    dilation: int | Sequence[int],
    transposed: bool,
    output_padding: object,
    groups: int,
    *switches: bool,
    **named: bool,
) -> Tensor:
    """`convolution`; the further switches choose between libraries that aren't here."""
    args = [input, weight, bias, *map(_tuple, (stride, padding, dilation)), transposed]
    return apply_n(convolution.op, [*args, _tuple(output_padding), groups])


def _tuple(value: Any) -> tuple[int, ...]:
    return (value,) if isinstance(value, int) else tuple(value)


def _slow(dims: int, name: str, transposed: bool, dilated: bool) -> None:
    def function(
        self: Tensor, weight: Tensor, kernel_size: object, bias: Tensor | None = None,
        stride: int | Shape = 1, padding: int | Shape = 0, *rest: object, **named: object,
    ) -> Tensor:  # fmt: skip
        """`convolution`, under the name of one of PyTorch's kernels."""
        if weight.dim() not in (2, dims + 2) or 0 in weight.shape[1:]:
            raise RuntimeError(
                f"non-empty 2D or {dims + 2}D weight tensor expected, but got: {list(weight.shape)}"
            )
        extra = rest[0] if transposed and rest else named.get("output_padding", 0)
        dilation = rest[-1] if rest and (dilated or len(rest) > 1) else named.get("dilation", 1)
        args = [self, weight, bias, _tuple(stride), _tuple(padding), _tuple(dilation)]
        return apply_n(convolution.op, [*args, transposed, _tuple(extra), 1])

    composite("private", name=name)(function)


_slow(2, "thnn_conv2d", False, False)
_slow(3, "slow_conv3d", False, False)
for _dims in (2, 3):
    _slow(_dims, f"slow_conv_dilated{_dims}d", False, True)
    _slow(_dims, f"slow_conv_transpose{_dims}d", True, True)


# ---- the public functions ---------------------------------------------------------------------
def _add_batch(input: Tensor, dims: int, name: str) -> tuple[Any, bool]:
    """The input with a batch dimension, and whether it came without."""
    ndim = input._raw.ndim
    if ndim == dims + 2:
        return input, False
    if ndim != dims + 1:
        raise RuntimeError(
            f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {name}, but got "
            f"input of size: {list(input._raw.shape)}"
        )
    return input.unsqueeze(0), True


def _run(
    dims: int,
    name: str,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: int | Shape,
    padding: int | Shape,
    dilation: int | Shape,
    groups: int,
    transposed: bool,
    output_padding: int | Shape,
) -> Tensor:
    input, alone = _add_batch(input, dims, name)
    if bias is not None and bias._raw.dtype != input._raw.dtype:
        check_types(input._raw, weight._raw, bias._raw, dims, transposed)
    out = apply_n(
        convolution.op,
        [
            input,
            weight,
            bias,
            _wide(stride, dims),
            _wide(padding, dims),
            _wide(dilation, dims),
            transposed,
            _wide(output_padding, dims),
            groups,
        ],
    )
    return out.squeeze(0) if alone else out


def _wide(value: int | Shape, dims: int) -> tuple[int, ...]:
    if isinstance(value, int):
        return (value,) * dims
    values: Sizes = tuple(value)
    return values * dims if len(values) == 1 else values


def _same_or_valid(
    dims: int,
    input: Tensor,
    weight: Tensor,
    bias: Any,
    stride: int,
    padding: str,
    dilation: int | Shape,
    groups: int,
) -> Tensor:
    """A convolution with the padding that a word asks for."""
    name = f"conv{dims}d"
    if padding == "valid":
        return _run(dims, name, input, weight, bias, stride, 0, dilation, groups, False, 0)
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    input, alone = _add_batch(input, dims, name)
    shape, kernel = list(input._raw.shape), list(weight._raw.shape)
    if len(kernel) < 3:
        raise RuntimeError("weight should have at least three dimensions")
    if len(shape) != len(kernel):
        raise RuntimeError(
            f"Expected {len(kernel)}-dimensional input for {len(kernel)}-dimensional weight{kernel}"
            f", but got {len(shape)}-dimensional input of size {shape} instead"
        )
    steps, dilations = _wide(stride, dims), _wide(dilation, dims)
    for word, values in (("stride", steps), ("dilation", dilations)):
        if len(values) != dims:
            raise RuntimeError(f"{word} cannot broadcast to {dims} dimensions")
    if any(s != 1 for s in steps):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    around = [d * (k - 1) for d, k in zip(dilations, weight._raw.shape[2:])]
    if any(total % 2 for total in around):
        # Only one side can be padded by the row; the odd element goes after the input first.
        _warn_uneven()
        pad: list[int] = []
        for total in reversed(around):
            pad += [0, total % 2]
        input = table("constant_pad_nd")(input, pad, 0)
    half = tuple(total // 2 for total in around)
    out = _run(dims, name, input, weight, bias, stride, half, dilation, groups, False, 0)
    return out.squeeze(0) if alone else out


_warned = False


def _warn_uneven() -> None:
    """Warns, once, that 'same' padding of an even kernel copies the input."""
    global _warned
    if _warned:
        return
    _warned = True
    import warnings

    warnings.warn(
        "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded "
        "copy of the input be created",
        UserWarning,
        stacklevel=6,
    )


def _forward(dims: int) -> AnyCallable:
    name = f"conv{dims}d"
    tail = f"int[{dims}] dilation=1, int groups=1) -> Tensor"
    head = f"(Tensor input, Tensor weight, Tensor? bias=None, int[{dims}] stride=1, "

    def by_word(*args: Any) -> Any:
        return _same_or_valid(dims, *args)

    @give_signatures(
        f"{name}{head}int[{dims}] padding=0, {tail}",
        f'{name}.padding{head}str padding="valid", {tail}',
        then=(by_word,),
    )
    def function(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        stride: int | Shape,
        padding: int | Shape,
        dilation: int | Shape,
        groups: int,
    ) -> Any:
        return _run(
            dims, name, input, weight, bias, stride, padding, dilation, groups, False, 0
        )  # fmt: skip

    function.__doc__ = (
        f"The convolution of an input with weights over {_COUNTS[dims]}, plus a bias.\n\n"
        f"Shapes: input ([N,] C, {_PLACES[dims]}), weight (O, C / groups, k…), bias (O,).\n"
        "Raises: RuntimeError for shapes, types and parameters that don't fit."
    )
    return function


def _make_transposed(dims: int) -> AnyCallable:
    name = f"conv_transpose{dims}d"

    @give_signatures(
        f"{name}{'.input' if dims > 1 else ''}(Tensor input, Tensor weight, Tensor? bias=None, "
        f"int[{dims}] stride=1, "
        f"int[{dims}] padding=0, int[{dims}] output_padding=0, int groups=1, int[{dims}] "
        "dilation=1) -> Tensor"
    )
    def function(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        stride: int | Shape,
        padding: int | Shape,
        output_padding: int | Shape,
        groups: int,
        dilation: int | Shape,
    ) -> Any:
        return _run(
            dims, name, input, weight, bias, stride, padding, dilation, groups, True, output_padding
        )  # fmt: skip

    function.__doc__ = (
        f"The transposed convolution over {_COUNTS[dims]}: the gradient of a convolution for its "
        f"input.\n\nShapes: input ([N,] C, {_PLACES[dims]}), weight (C, O / groups, k…), bias "
        "(O,).\nRaises: RuntimeError for shapes, types and parameters that don't fit."
    )
    return function


_COUNTS: Final = {1: "one dimension", 2: "two dimensions", 3: "three dimensions"}
_PLACES: Final = {1: "L", 2: "H, W", 3: "D, H, W"}

conv1d: Final = composite("", "nn.functional")(_forward(1))
conv2d: Final = composite("", "nn.functional")(_forward(2))
conv3d: Final = composite("", "nn.functional")(_forward(3))
conv_transpose1d: Final = composite("", "nn.functional")(_make_transposed(1))
conv_transpose2d: Final = composite("", "nn.functional")(_make_transposed(2))
conv_transpose3d: Final = composite("", "nn.functional")(_make_transposed(3))


@composite("")
def _convolution_mode(
    input: Tensor,
    weight: Any,
    bias: Tensor | None,
    stride: Any,
    padding: str,
    dilation: Any,
    groups: int,
) -> Tensor:
    """A convolution with the padding called "same" or "valid"."""
    dims = weight.dim() - 2
    return _same_or_valid(dims, input, weight, bias, stride, padding, dilation, groups)


@composite("", "nn.functional")
def conv_tbc(input: Tensor, weight: Any, bias: Any, pad: int = 0) -> Tensor:
    """The convolution over time of an input (T, N, C) with weights (k, C, O), plus a bias.

    Raises: RuntimeError for shapes that don't fit.
    """
    for name, t, k in (("input", input, 0), ("weight", weight, 1), ("bias", bias, 2)):
        if not isinstance(t, TensorBase):
            raise TypeError(
                f"conv_tbc(): argument '{name}' (position {k + 1}) must be Tensor, not "
                f"{errors.type_name(t)}"
            )
    if input.dim() != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if weight.dim() != 3:
        raise RuntimeError(
            "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels."
        )
    if bias.dim() != 1:
        raise RuntimeError("Bias must be 1-D")
    if input.size(2) != weight.size(1):
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if weight.size(2) != bias.size(0):
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")
    out = conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, 1, pad)
    return out.permute(2, 0, 1).contiguous()
