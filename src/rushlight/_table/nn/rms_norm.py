"""The root-mean-square norm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._array import kernels, types as T
from ..._base import dtypes as D
from ..._base.lazy import later
from ..._core.apply import apply1, apply2, apply_n
from ..._core.mode import current
from ..._formula.words import column_sum, row_sum, sqrt
from ..calls.argument_parser import in_words_of, real_number
from ..calls.conversions import integers
from ..elementwise.arithmetic import mul, rsqrt, square
from ..elementwise.number import plus
from ..reduce.reduce import mean_dim
from ..rows.composite import composite
from ..rows.row import general
from ..rows.row_formula import norm_formula
from .normalization import _refuse_layer, _refuse_parameters

if TYPE_CHECKING:
    from ..._base.annotations import Shape
    from ..._tensor.tensor import Tensor

losses = later("_array.nn.element_losses")
raw = later("_array.nn.batch_norm")


def _rms(
    input: Tensor, weight: Tensor | None, eps: float, dim: Shape, part: float
) -> tuple[Tensor, Tensor]:
    inverse = 1 / sqrt(row_sum(input * input, dim) * part + eps)
    hat = input * inverse
    return hat if weight is None else hat * weight, inverse


def _rms_gradients(
    g0: Tensor, input: Tensor, inverse: Tensor, weight: Tensor | None, dim: Shape, part: float
) -> tuple[Tensor, Tensor]:
    along = g0 * input
    scaled, weighted = (g0, along) if weight is None else (g0 * weight, along * weight)
    slope = row_sum(weighted, dim) * part * (inverse * inverse)
    return inverse * (scaled - input * slope), column_sum(along * inverse, dim)


# Note [One node for a root mean square]
# PyTorch records a product for each step. From the size on at which kernels work they are one
# operation here, whose node has the name of PyTorch's last one. A step that is being recorded keeps
# its steps: they are fused with what surrounds them.
_RMS_NORM = general(
    "_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float eps)"
    " -> (Tensor output, Tensor inverse)",
    norm_formula(_rms),
    joint=norm_formula(_rms_gradients, again=_rms, by_row=("inverse",)),
    node="MulBackward0",
    differentiable_out=(True, False),
    public=False,
    dtypes="float",
    samples=lambda mk: [(mk(3, 4), (4,), mk(4), 1e-5), (mk(2, 3, 4), (3, 4), None, 1e-3)],
    doc="The input over the root mean square of its last dimensions, and one over that.",
)


def _one_norm(x: Tensor, weight: Tensor | None) -> bool:
    """Whether a kernel normalises. See Note [One node for a root mean square]."""
    raw_x = x._raw
    if raw_x.size < kernels.LEAST or raw_x.dtype not in (T.FLOAT32, T.FLOAT64):
        return False
    if not x._plain or (weight is not None and not (weight._plain and weight.dtype is x.dtype)):
        return False
    return current().recorder is None


@composite("", "nn.functional")
def rms_norm(
    input: Tensor, normalized_shape: object, weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """The input divided by its root mean square over the last dimensions, scaled.

    `eps` is added to the mean square; None takes the dtype's machine epsilon.
    Source: B. Zhang, R. Sennrich, Root mean square layer normalization (2019).
    """
    try:
        shape = integers(normalized_shape)
    except Exception as error:
        raise in_words_of("rms_norm", (input, normalized_shape, weight, eps), error) from None
    eps = real_number(eps)
    if shape and weight is not None and tuple(weight.shape) != shape:
        _refuse_parameters(shape, weight._raw, None)
    if input.dim() < len(shape):
        raise ValueError(
            f"Input tensor must have at least {len(shape)} dimensions, but got {input.dim()}"
        )
    input = input.contiguous()
    array = input._raw
    if not shape or array.shape[-len(shape) :] != shape:
        if not shape:
            _refuse_layer(input._raw, shape, None, None)
        wanted = "".join(map(str, shape[:1])) + "".join(f", {n}" for n in shape[1:])
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*{wanted}], but got "
            f"input of size{list(input.shape)}"
        )
    if not input.is_floating_point() and not input.is_complex():
        losses.require_floats(array, "rms_norm")
    dtype = input.dtype
    if eps is None:
        eps = raw.smallest_step(array.dtype)
    wide = input if dtype.itemsize > 2 else input.to(D.float32)
    if _one_norm(input, weight):
        return apply_n(_RMS_NORM.op, [input, shape, weight, eps])[0]
    dims = tuple(range(array.ndim - len(shape), array.ndim))
    mean = apply_n(mean_dim.op, [apply1(square.op, wide), dims, True, None])
    out = apply2(mul.op, wide, apply1(rsqrt.op, apply_n(plus.op, [mean, eps])))
    out = out if weight is None else out * weight
    return out if out.dtype is dtype else out.to(dtype)
