"""Evenly spaced numbers: ranges by a step, and by a count."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from ..._array import types as T
from ..._array.number import number_like
from ..._array.shape import create as raw
from ..._base import dtypes as D, errors
from ..._base.device import DEFAULTS, on_meta
from ..._base.lazy import later
from ..._core.slow import read_by_python
from ..._core.storage import TensorBase
from ..._native.ufunc_loops import FRESH
from ..calls.argument_parser import complaint_of_c, is_number_tensor
from ..calls.call_errors import combination
from ..rows import meta as _meta
from ..rows.composite import POSITIONAL, composite
from ..rows.warn_once import warn_the_caller
from .create import deliver, dtype_or_default, finish, is_usual, type_for

checks = later("_table.calls.composite_checks")

if TYPE_CHECKING:
    from ..._base.annotations import DeviceLike
    from ..._tensor.tensor import Tensor


def _number(value: Tensor | float) -> float:
    return read_by_python(value, "a bound").item() if isinstance(value, TensorBase) else value


def _real(value: Any, kind: str = "double") -> Any:
    """A number that isn't complex.

    Raises:
        RuntimeError: for one with an imaginary part.
    """
    if not isinstance(value, complex):
        return value
    if value.imag:
        raise RuntimeError(f"value cannot be converted to type {kind} without overflow")
    return value.real


def _end(value: Tensor | float) -> float:
    """An end of evenly spaced numbers.

    Raises:
        OverflowError: for a whole number of more than 64 bits.
    """
    number = _number(value)
    if isinstance(number, int) and not -(1 << 63) <= number < 1 << 64:
        negative = "can't convert negative int to unsigned"
        raise OverflowError(negative if number < 0 else "int too big to convert")
    return number


_ABSENT: Final = object()
_PLACES = (("start", 1), ("end", 2), ("step", 3))
_ALONE = (("start", 1), ("end", 1), ("step", 2))  # of the end, given alone


@composite()
def arange(start: Any = 0, end: Any = _ABSENT, step: Any = 1, *, out: Any = None, dtype: Any = None,
           layout: object = None, device: DeviceLike | None = None, requires_grad: bool = False,
           pin_memory: bool = False) -> Any:  # fmt: skip
    """start, start + step, … below `end`; int64 where all are integers, else the default float.

    Raises:
        RuntimeError: for a step of zero or one that leads away from `end`.
    """
    nowhere = on_meta(device, out)
    places = _PLACES
    if end is _ABSENT:
        start, end = 0, start
        places = _ALONE
    elif end is None:
        raise complaint_of_c("torch", "arange", (start, None, step), {}) or TypeError("arange()")
    plain = type(start) is int and type(end) is int and type(step) is int
    if not plain:
        for (name, place), bound in zip(places, (start, end, step)):
            if isinstance(bound, TensorBase) and not is_number_tensor(bound):
                raise TypeError(
                    f"arange(): argument '{name}' (position {place}) must be Number, not Tensor"
                )
        start, end, step = _number(start), _number(end), _number(step)
    dtype = type_for(out, dtype)
    if dtype is None:
        given = (start, end, step)
        whole = plain or all(isinstance(v, int) or T.is_integer_scalar(v) for v in given)
        found = D.int64 if whole else D.get_default_dtype()
    else:
        found = dtype_or_default(dtype)
    if found is D.bool_ or found.category == D.COMPLEX:
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{D.scalar_name(found)}'")
    if not plain:
        start, end, step = _real(start), _real(end), _real(step)
    wide = False
    for bound in (start, end, step):
        if isinstance(bound, int) and not -(1 << 63) <= bound < 1 << 63:
            D.refuse_beyond(bound)
            wide = found.category == D.INT
    _check_range(start, end, step)
    if wide:
        raise RuntimeError(errors.no_conversion("int64_t"))
    if found is D.int64 and int(step) == 0:
        raise ValueError("step must be nonzero")
    if nowhere and out is None:
        count = max(0, math.ceil((end - start) / step))
        return _meta.empty_meta((count,), found, requires_grad)
    return deliver(raw.arange(start, end, step, found), out, requires_grad, True, warns=True)


def _count(*args: Any) -> object:
    """`arange` for a number of elements."""
    if len(args) == 1 and type(args[0]) is int and 0 <= args[0] < 1 << 62 and not DEFAULTS.changed:
        made = raw.count_up(args[0])
        if made is not None:
            return finish(made, False)
    return arange(*args)


POSITIONAL[arange] = _count


def _format(value: float) -> str:
    return f"{value:g}" if math.isfinite(value) else str(value)


@composite(name="range")
def range_(
    start: float = 0,
    end: float | None = None,
    step: float = 1,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: object = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Any:
    """start, start + step, … up to and including `end` (deprecated in favour of `arange`).

    Raises:
        RuntimeError: for a step of zero or one that leads away from `end`.
    """
    warn_the_caller(
        "torch.range is deprecated and will be removed in a future release because its behavior is "
        "inconsistent with Python's range builtin. Instead, use torch.arange, which "
        "produces values in [start, end)."
    )
    if isinstance(out, TensorBase):
        checks.check_out("range", {"out": out, "dtype": dtype, "device": device})
    nowhere = on_meta(device, out)
    if end is None:
        start, end = 0, start
    found = dtype_or_default(type_for(out, dtype))
    if found is D.bool_ or found.category == D.COMPLEX:
        raise NotImplementedError(errors.not_implemented("range_cpu", D.scalar_name(found)))
    whole = found.category == D.INT
    wide = T.to_raw(D.int64 if whole else D.float32 if found.itemsize == 2 else D.float64)
    given = [_number(v) for v in (start, end, step)]
    start, end, step = (number_like(v, wide) for v in given)
    if not step:  # which it may be as a whole number only
        _check_range(*given)
    _check_range(start, end, step)
    count = math.floor((end - start) / step) + 1
    if nowhere and out is None:
        return _meta.empty_meta((count,), found, requires_grad)
    # Half a step beyond the last one: rounding doesn't change how many there are.
    last = start + count * step if whole else start + (count - 0.5) * step
    made = raw.arange(start, last, step, found, "range_cpu")
    return deliver(made, out, requires_grad, by_count=True)


def _check_range(start: float, end: float, step: float) -> None:
    """Refuses ranges that lead nowhere.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if not (step > 0 or step < 0):  # neither is nan
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {_format(start)} -> {_format(end)}")
    if (step > 0 and end < start) or (step < 0 and end > start):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")


@composite()
def linspace(
    start: Tensor | float,
    end: Tensor | float,
    steps: int,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: object = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Any:
    """`steps` values evenly spaced from `start` to `end`.

    Raises:
        RuntimeError: for a negative number of steps.
    """
    nowhere = on_meta(device, out)
    _check_steps("linspace", start, end, steps)
    start, end = _end(start), _end(end)
    found = _type_between("linspace", start, end, dtype, out)
    if found.category != D.COMPLEX:
        kind = D.c_name(found)
        start, end = _real(start, kind), _real(end, kind)
    if nowhere and out is None:
        return _meta.empty_meta((steps,), found, requires_grad)
    made = FRESH.spaced(start, end, steps, True) if FRESH and found is D.float64 else None
    made = raw.linspace(start, end, steps, found) if made is None else made
    return deliver(made, out, requires_grad, by_count=True)


def _space_plainly(*args: Any) -> object:
    """`linspace` for two numbers and a count."""
    if len(args) == 3 and is_usual():
        made = FRESH.spaced(*args)  # type: ignore[union-attr]
        if made is not None:
            return finish(made, False)
    return linspace(*args)


if FRESH is not None:
    POSITIONAL[linspace] = _space_plainly


def _type_between(name: str, start: object, end: object, dtype: Any, out: Tensor | None) -> D.dtype:
    """The type of numbers between two, which is complex where one of them is.

    Raises:
        RuntimeError: for another one that is asked for.
    """
    if not isinstance(start, complex) and not isinstance(end, complex):
        return dtype_or_default(type_for(out, dtype))
    own = D.number_dtype(1j)
    if dtype is not None and dtype_or_default(dtype).category != D.COMPLEX:
        raise RuntimeError(
            f"torch.{name}(): inferred dtype {D.c_name(own)} can't be safely cast to passed dtype "
            f"{D.scalar_name(dtype_or_default(dtype))}"
        )
    return own if dtype is None and out is None else dtype_or_default(type_for(out, dtype))


def _check_steps(
    name: str, start: Tensor | float, end: Tensor | float, steps: int, *base: object
) -> None:
    """Refuses ends that aren't numbers and steps that aren't a count.

    Raises:
        RuntimeError, TypeError: in PyTorch's words.
    """
    bounds = [v for v in (start, end) if isinstance(v, TensorBase)]
    if any(v._raw.ndim for v in bounds):
        dims = {
            what: f"{what} with {v._raw.ndim} dimension(s)"
            for what, v in (("start", start), ("end", end))
            if isinstance(v, TensorBase)
        }
        raise RuntimeError(
            f"{name} only supports 0-dimensional start and end tensors, but got "
            f"{' and '.join(dims.values())}."
        )
    if isinstance(steps, TensorBase):
        steps = read_by_python(steps, "a number of steps").item()
    if isinstance(steps, bool) or not (isinstance(steps, int) or T.is_integer_scalar(steps)):
        raise combination(name, (start, end, steps, *base), {})
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")


@composite()
def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: object = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Any:
    """`base` to the powers evenly spaced from `start` to `end`."""
    nowhere = on_meta(device, out)
    _check_steps("logspace", start, end, steps)
    start, end = _end(start), _end(end)
    found = _type_between("logspace", start, end, dtype, out)
    if found.category != D.COMPLEX:
        start, end = _real(start), _real(end)
    if nowhere and out is None:
        return _meta.empty_meta((steps,), found, requires_grad)
    array = raw.logspace(start, end, steps, float(base), found)
    return deliver(array, out, requires_grad, by_count=True)
