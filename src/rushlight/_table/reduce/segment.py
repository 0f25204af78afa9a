"""Reductions over consecutive segments, and hashes of elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._array.axes import axes_of, axis_of
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..calls import dtype_checks as _checks
from ..rows.composite import composite
from ..rows.gradient_kernels import call_row
from ..rows.row import general

if TYPE_CHECKING:
    from types import ModuleType

    from ..._array.annotations import Array
    from ..._base.annotations import Shape, TensorLike
    from ..._tensor.tensor import Tensor

raw = later("_array.reduce.segments")

_WORDS = {"amax": "max", "amin": "min"}
_EXPECTED = (
    "Expected {} to be true, but got false.  (Could this error message be improved?  If so, "
    "please report an enhancement request to PyTorch.)"
)


def _check(
    data: Array,
    reduce: str,
    lengths: Array,
    indices: object,
    offsets: object,
    axis: int,
    unsafe: bool,
) -> str:
    """The name of the reduction.

    Raises: RuntimeError in PyTorch's words.
    """
    name = _WORDS.get(reduce, reduce)
    if name not in ("sum", "prod", "mean", "max", "min"):
        raise RuntimeError(
            "reduce argument must be either sum, prod, mean, amax or amin, got " + reduce
        )
    if data.ndim < 1 and lengths is None and offsets is None:
        raise RuntimeError(_EXPECTED.format("data.numel() >= 0"))
    if lengths is None and offsets is None:
        if indices is not None:
            raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    places, word = (offsets, "offsets") if lengths is None else (lengths, "lengths")
    if data.ndim < places.ndim:
        raise RuntimeError(_EXPECTED.format(f"data.dim() >= {word}_value.dim()"))
    if axis != places.ndim - 1:
        raise RuntimeError(
            f"segment_reduce(): Expected axis to be the last dimension of {word} but got {axis}."
        )
    if lengths is not None:
        if not lengths.size:
            raise RuntimeError(
                "min(): Expected reduction dim to be specified for input.numel() == 0. Specify "
                "the reduction dim with the 'dim' argument."
            )
        if not unsafe:
            if lengths.min() < 0:
                raise RuntimeError("lengths contains negative value!")
            if (lengths.sum(-1) != data.shape[axis]).any():
                raise RuntimeError(
                    "segment_reduce(): Expected all rows of lengths along axis to sum to "
                    "data.size(lengths.dim()-1) when !unsafe."
                )
    kind = D.scalar_name(T.from_raw(places.dtype))
    if places.dtype.kind not in "iu":
        raise NotImplementedError(
            errors.not_implemented(f"_segment_reduce_{word}_cpu_kernel1", kind)
        )
    if data.dtype.kind not in "fV":
        raise NotImplementedError(
            errors.not_implemented("_segment_reduce_cpu", D.scalar_name(T.from_raw(data.dtype)))
        )
    return name


def _forward(
    data: Array, reduce: str, lengths: Array, indices: Any, offsets: Any, axis: int, unsafe: bool,
    initial: float | None,
) -> Array:  # fmt: skip
    axis = axis_of(axis, data.ndim)
    name = _check(data, reduce, lengths, indices, offsets, axis, unsafe)
    return raw.segment_reduce(data, name, lengths, offsets, axis, initial)


def _backward(
    g: Array,
    out: Array,
    data: Array,
    reduce: str,
    lengths: Array,
    offsets: object,
    axis: int,
    initial: float | None,
) -> TensorLike:
    name = _WORDS.get(reduce, reduce)
    return raw.segment_reduce_backward(
        g, out, data, name, lengths, offsets, axis % data.ndim, initial
    )


_no_derivative = _checks.no_derivative("_segment_reduce_backward")
_segment_backward = general(
    "_segment_reduce_backward(Tensor grad, Tensor output, Tensor data, str reduce, "
    "Tensor? lengths, Tensor? offsets, int axis, Scalar? initial) -> Tensor",
    _backward,
    grad=_no_derivative,
    data=_no_derivative,
    node="NotImplemented",
    namespace="private",
    out=False,
    dtypes="float",
    refuses_values="any",
    samples=lambda mk: [
        (mk(2, 3), mk(2, 3), mk(4, 3), "sum", mk(2, low=2, high=3, integer=True), None, 0, None),
    ],
    doc="The gradient of `segment_reduce` for its data; it can't be differentiated again.",
)


def _formula(
    xp: ModuleType,
    g: TensorLike,
    out: TensorLike,
    data: TensorLike,
    reduce: str,
    lengths: TensorLike,
    offsets: object,
    axis: int,
    initial: Any,
) -> Any:
    return call_row(xp, _segment_backward, g, out, data, reduce, lengths, offsets, axis, initial)


segment_reduce = general(
    "segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, "
    "Tensor? offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor",
    _forward,
    data=_formula,
    out=False,
    dtypes="float",
    samples=lambda mk: [
        (mk(6, 2), reduce, mk(3, low=2, high=3, integer=True))
        for reduce in ("sum", "mean", "max", "min", "prod")
    ],
    refuses_values="any",
    doc="The sum, mean, maximum, minimum or product of each segment of a dimension.",
)


@composite("")
def _segment_reduce(
    data: object, reduce: str, *, lengths: object = None, indices: object = None,
    offsets: object = None,
    axis: int = 0, unsafe: bool = False, initial: object = None,
) -> Tensor:  # fmt: skip
    """`segment_reduce` under the operator's name."""
    return apply_n(
        segment_reduce.op, [data, reduce, lengths, indices, offsets, axis, unsafe, initial]
    )


# ---- hashes -------------------------------------------------------------------------------------
def _hash(x: Array, dim: Shape, keepdim: bool, mode: int) -> Array:
    every = dim is None or not dim
    dims = tuple(range(x.ndim)) if every else tuple(axes_of(dim, x.ndim))
    if not x.size:
        if every:
            raise RuntimeError(
                "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. "
                "Specify the reduction dim with the 'dim' argument."
            )
        for d in dims:
            if x.shape[d] == 0:
                raise IndexError(f"hash_tensor: Expected reduction dim {d} to have non-zero size.")
    if mode != 0:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    if x.dtype.kind == "c":
        raise NotImplementedError(
            errors.not_implemented("xor_sum_cpu", D.scalar_name(T.from_raw(x.dtype)))
        )
    return raw.hash_bits(x, dims if x.ndim else (), keepdim)


hash_tensor = general(
    "hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor",
    _hash,
    dtypes="int",
    samples=lambda mk: [(mk(3, 4, integer=True),), (mk(3, 4, integer=True), 1)],
    doc="The exclusive or of the elements as 64-bit words: one number that says what they are.",
)
