"""Rounding to the grid that integers of few bits have, with gradients that pass through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._array.axes import axis_of
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.slow import read_by_python
from ..._core.storage import TensorBase
from ..rows.composite import composite
from ..rows.reduction_argument import refuse_gradient
from ..rows.row import general
from ..rows.tensor_namespace import some

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._tensor.tensor import Tensor

raw = later("_array.elementwise.quantize")

_FLOATS = {D.float16, D.bfloat16, D.float32, D.float64}


def _check_type(x: Any, kernel: str) -> None:
    kind = T.from_raw(x._raw.dtype)
    if kind not in _FLOATS:
        raise NotImplementedError(
            errors.not_implemented(f"fake_quantize_{kernel}_type_handling", D.scalar_name(kind))
        )


def _check_ends(low: int, high: int) -> None:
    if low > high:
        raise RuntimeError("`quant_min` should be less than or         equal to `quant_max`.")


def _number(t: Any) -> float:
    """The only element of a tensor.

    Raises: RuntimeError where it has another number of them.
    """
    if t._raw.size != 1:
        raise RuntimeError(errors.item_size(t._raw.size))
    return read_by_python(t, "a number").item()


def _of_numbers(
    x: Array, scale: Array, zero_point: Array, low: int, high: int
) -> tuple[Array, ...]:
    return raw.fake_quantize(x, scale.real.item(), int(zero_point.item()), low, high)


def _zeros(mk: Any, count: int) -> Tensor:
    return mk(count, low=-3, high=3, dtype=D.int32, integer=True)


_per_tensor = general(
    "fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, "
    "int quant_min, int quant_max) -> (Tensor output, Tensor mask)",
    raw.fake_quantize,
    self=lambda xp, g0, mask: xp.keep(g0, mask),
    differentiable_out=(True, False),
    public=False,
    # Beyond the grid: elsewhere the gradient is not that of the steps, on purpose.
    refuses_values="any",
    samples=lambda mk: [(mk(3, 4, low=4, high=9), 0.5, 1, -8, 7)],
    doc="Elements on a grid of levels, and where they lay inside it.",
)
_per_tensor_of_tensors = general(
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(Tensor self, Tensor scale, "
    "Tensor zero_point, Tensor fake_quant_enabled, int quant_min, int quant_max) "
    "-> (Tensor output, Tensor mask)",
    lambda x, scale, zero_point, enabled, low, high: _of_numbers(x, scale, zero_point, low, high),
    self=lambda xp, g0, mask: xp.keep(g0, mask),
    differentiable_out=(True, False),
    public=False,
    samples=lambda mk: [
        (mk(3, 4, low=4, high=9), mk(1, low=0.1, high=0.5), _zeros(mk, 1), _zeros(mk, 1), -8, 7)
    ],
    doc="Elements on a grid whose step and zero are tensors, and where they lay inside it.",
)
_per_channel = general(
    "fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor zero_point, "
    "int axis, int quant_min, int quant_max) -> (Tensor output, Tensor mask)",
    raw.fake_quantize_channels,
    self=lambda xp, g0, mask: xp.keep(g0, mask),
    differentiable_out=(True, False),
    public=False,
    refuses_values="any",
    samples=lambda mk: [
        (mk(3, 4, low=4, high=9), mk(4, low=0.1, high=0.5), _zeros(mk, 4), 1, -8, 7)
    ],
    doc="Elements on a grid for each index of an axis, and where they lay inside it.",
)


@composite()
def fake_quantize_per_tensor_affine(
    input: Tensor, scale: Tensor | float, zero_point: Tensor | int, quant_min: int, quant_max: int
) -> Tensor:
    """Each element at the nearest of the levels that integers of few bits would have.

    Gradients pass where the element lay between the ends of the grid. Half-way elements go to the
    even level.

    Dtypes: floating-point.
    Raises: NotImplementedError for other types; RuntimeError for a zero outside the range.
    """
    if isinstance(scale, TensorBase):
        refuse_gradient(_per_tensor_of_tensors.name, scale=scale, zero_point=zero_point)
        _check_ends(quant_min, quant_max)
        _number(scale)
        _number(zero_point)
        _check_type(input, "tensor_cachemask_kernel")
        return _per_tensor_of_tensors(input, scale, zero_point, scale, quant_min, quant_max)[0]
    _check_ends(quant_min, quant_max)
    if not quant_min <= zero_point <= quant_max:
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")
    _check_type(input, "tensor_cachemask_kernel")
    return _per_tensor(input, scale, zero_point, quant_min, quant_max)[0]


@composite()
def fake_quantize_per_channel_affine(
    input: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> Tensor:
    """`fake_quantize_per_tensor_affine` with a step and a zero for each index of `axis`.

    Shapes: scale and zero_point (input.shape[axis],).
    Raises: RuntimeError for other shapes and types of the zeros, or zeros outside the range.
    """
    refuse_gradient(_per_channel.name, scale=scale, zero_point=zero_point)
    for name, t, takes, words in (
        ("Scale", scale, (D.float32, D.bfloat16), "Float or BFloat16"),
        ("Zero-point", zero_point, (D.int32, D.float32, D.float16), "Int32, Float or Half"),
    ):
        kind = T.from_raw(t._raw.dtype)
        if kind not in takes:
            raise RuntimeError(f"{name} must be {words}, found {D.scalar_name(kind)}")
    for name, t in (("scale", scale), ("zero point", zero_point)):
        if t._raw.ndim != 1:
            raise RuntimeError(f"{name} should be a 1-D tensor")
    if scale._raw.shape != zero_point._raw.shape:
        raise RuntimeError("scale and zero-point need to have the same dimensions")
    if not input._raw.ndim:
        raise IndexError(errors.no_dimension(axis, 0))
    place = axis_of(axis, input._raw.ndim)
    if scale._raw.shape != (input._raw.shape[place],):
        raise RuntimeError(
            "dimensions of scale and zero-point are not consistent with input tensor"
        )
    _check_ends(quant_min, quant_max)
    whole = zero_point._raw.dtype.kind == "i"
    if whole and not zero_point._raw.size:
        raise RuntimeError(
            "min(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument."
        )
    if whole and some(lambda z: (z < quant_min) | (z > quant_max), zero_point):
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")
    if axis < 0:
        raise RuntimeError("`axis` must be between 0 and number of dimensions of input")
    _check_type(input, "channel_cachemask_cpu")
    return _per_channel(input, scale, zero_point, place, quant_min, quant_max)[0]
