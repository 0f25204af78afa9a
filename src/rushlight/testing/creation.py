"""`make_tensor`: a tensor of random numbers of any dtype, PyTorch's from the same seed."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

from .._base import dtypes
from .._base.numeric_limits import finfo, iinfo
from .._tensor.tensor import Tensor
from ..autograd.grad_mode import no_grad
from ..nn._ground import f

if TYPE_CHECKING:
    from .._base.annotations import DeviceLike
    from .._base.dtypes import dtype
    from .._base.memory_format import memory_format


_INTEGERS = (
    dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint16, dtypes.uint32,
    dtypes.uint64,
)  # fmt: skip


def _defaults(dtype: dtype) -> tuple[float, float, float, float] | None:
    """The usual bounds of a dtype, then the smallest and the largest that it can have."""
    if dtype is dtypes.bool_:
        return 0, 2, 0, 2
    if dtype is dtypes.uint8:
        return 0, 10, 0, 256
    if dtype in _INTEGERS:
        limits = iinfo(dtype)
        low = 0 if limits.min == 0 else -9
        # 2**63 is no int64, so the largest int64 itself can't be drawn.
        return low, 10, limits.min, limits.max + (0 if dtype is dtypes.int64 else 1)
    if isinstance(dtype, dtypes.dtype) and (dtype.is_floating_point or dtype.is_complex):
        largest = finfo(dtype.to_real() if dtype.is_complex else dtype).max
        return -9, 9, -largest, largest
    return None


def _bounds(dtype: dtype, low: float | None, high: float | None) -> tuple[float, float]:
    found = _defaults(dtype)
    if found is None:
        raise TypeError(
            f"The requested dtype '{dtype}' is not supported by torch.testing.make_tensor(). To "
            "request support, file an issue at: https://github.com/pytorch/pytorch/issues"
        )
    usual_low, usual_high, least, most = found
    low = usual_low if low is None else low
    high = usual_high if high is None else high
    if any(isinstance(v, float) and math.isnan(v) for v in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low!r} and high={high!r}")
    floating = dtype.is_floating_point or dtype.is_complex
    if low == high and floating:
        warnings.warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is "
            "deprecated since 2.1 and will be removed in 2.3. Use `torch.full(...)` instead.",
            FutureWarning,
            stacklevel=4,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    if high < least or low >= most:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} only"
            f" supports [{least}, {most})"
        )
    low, high = max(low, least), min(high, most)
    return (low, high) if floating else (math.ceil(low), math.ceil(high))


def _fill(flat: Tensor, low: float, high: float) -> None:
    if high - low > finfo(flat.dtype).max:
        # The width has no number in this dtype: half of it has.
        flat.uniform_(low / 2, high / 2).mul_(2)
    else:
        flat.uniform_(low, high)


def make_tensor(
    *shape: Any,
    dtype: dtype,
    device: DeviceLike,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor:
    """A tensor of numbers drawn uniformly from [low, high).

    Parameters:
        shape: the lengths of the dimensions, one by one or as a sequence.
        dtype: the type of the elements.
        device: where the tensor lies: "cpu".
        low: the least number; -9 for floats and signed integers, else 0 by default.
        high: what all numbers stay below; 9 for floats, 10 for integers, 2 for booleans by default.
        requires_grad: whether gradients are computed for it.
        noncontiguous: whether it is every other element of a larger one.
        exclude_zero: whether zeros are replaced: by the least positive float, or by 1.
        memory_format: the order of its dimensions in memory; None means the usual one.
    Shapes: the result has `shape`.
    Returns: a new tensor.
    Raises:
        ValueError: for bounds out of order or of range, and for options that exclude each other.
        TypeError: for a dtype without numbers to draw.
    Example:
        >>> made = torch.testing.make_tensor(2, 3, dtype=torch.int64, device="cpu", low=0, high=3)
        >>> made.shape, bool(((made >= 0) & (made < 3)).all())
        (torch.Size([2, 3]), True)
    """
    size = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    lowest, highest = _bounds(dtype, low, high)
    floating = dtype.is_floating_point or dtype.is_complex
    if requires_grad and not floating:
        raise ValueError(
            "`requires_grad=True` is not supported for boolean and integral dtypes, but got "
            f"dtype={dtype}"
        )
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"noncontiguous={noncontiguous} and memory_format={memory_format}"
        )
    strided = noncontiguous and math.prod(size) > 1
    if strided:
        size = (*size[:-1], 2 * size[-1])
    with no_grad():
        made: Tensor
        if floating:
            made = f.empty(size, dtype=dtype, device=device)
            _fill(f.view_as_real(made) if dtype.is_complex else made, lowest, highest)
        else:
            made = f.randint(int(lowest), int(highest), size, dtype=dtype, device=device)
        if strided:
            made = made[..., 1::2]
        elif memory_format is not None:
            made = made.clone(memory_format=memory_format)
        if exclude_zero:
            made[made == 0] = finfo(dtype).tiny if floating else 1
    return made.requires_grad_(requires_grad)
