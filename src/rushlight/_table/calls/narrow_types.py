"""Operations on the types that are only stored: complex numbers of half precision, 8-bit floats.

See Note [Stored narrow]. PyTorch's CPU computes some operations with them; the others it refuses,
naming the kernel that lacks the type. The first row of each name says both: `narrow` is "all" for
what moves elements without computing, else the types that are taken ("float8": all of these but
the powers of two); "as it is" for what has rules of its own for operands of several types;
"converts" for what makes the types. `kernel` is the name of PyTorch's kernel, where that isn't the
operation's with `_cpu`. Both may be functions of the arguments. Nothing of this module runs before
a program has an array of such a type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._array import types as T
from ..._array.narrow import round_to, wide_of
from ..._base import dtypes as D, errors
from ..._core import slow
from ..._core.mode import current

if TYPE_CHECKING:
    from ..._array.annotations import Array, RawType
    from ..._base.annotations import Arguments
    from ..._core.op import Op


def forward(op: Op, raws: Arguments) -> object:
    """The raw results of an operation; computed wide and rounded where an operand is narrow.

    Raises:
        NotImplementedError: for what PyTorch's CPU doesn't compute with the type.
    """
    narrow = _narrow_in(raws)
    if narrow is None or op.is_view or op.row is None:
        return op.raw(*raws)
    row = op.row.overloads[0]
    types = row.narrow if isinstance(row.narrow, str) else row.narrow(raws)
    if types == "converts":
        return op.raw(*raws)
    recorder = current().recorder
    if recorder is not None:
        recorder.refuse("elements of a type that is only stored")
    if types == "as it is":
        return op.raw(*raws)
    dtype = T.from_raw(narrow)
    wide_dtype = any(isinstance(raw, D.dtype) and raw is not dtype for raw in raws)
    of_others = row.name.startswith("_") and not row.kernel  # who refused in their own names
    if not (wide_dtype or of_others or types == "all" or _is_among(dtype, types.split())):
        if dtype is D.complex32:
            _refuse_as_complex(op, raws)
        kernel = row.kernel if isinstance(row.kernel, str) else row.kernel(raws)
        raise NotImplementedError(
            errors.not_implemented(kernel or f"{row.name}_cpu", D.scalar_name(dtype))
        )
    results = op.raw(*[_widen(raw) for raw in raws])
    if wide_dtype:
        return results
    if op.n_out == 1:
        return _round(results, dtype)
    return [_round(result, dtype) for result in results]


def _narrow_in(raws: Arguments) -> RawType | None:
    for raw in raws:
        if type(raw) is T.ndarray:
            if wide_of(raw.dtype) is not None:
                return raw.dtype
        elif type(raw) is list:
            found = _narrow_in(raw)
            if found is not None:
                return found
    return None


def _is_among(dtype: D.dtype, types: list[str]) -> bool:
    if dtype is D.complex32 or dtype is D.float8_e8m0fnu or "float8" not in types:
        return str(dtype).removeprefix("torch.") in types
    return True


def _refuse_as_complex(op: Op, raws: Arguments) -> None:
    """Refuses what is refused for all complex numbers, in the words for these."""
    try:
        op.raw(*[_widen(raw) for raw in raws])
    except (NotImplementedError, RuntimeError) as error:
        text = str(error)
        if "complex" in text.lower():
            raise type(error)(text.replace("ComplexFloat", "ComplexHalf")) from None


def _widen(raw: object) -> object:
    if type(raw) is T.ndarray:
        wide = wide_of(raw.dtype)
        return raw if wide is None else raw.astype(wide)
    if type(raw) is list:
        return [_widen(item) for item in raw]
    return raw


def _round(value: object, dtype: D.dtype) -> Array:
    result: Array = T.as_array(value)
    if dtype is not D.complex32:
        return round_to(result, T.to_raw(dtype)) if result.dtype is T.FLOAT32 else result
    if result.dtype == T.COMPLEX64:
        return result.astype(T.to_raw(dtype))
    return result.astype(T.to_raw(D.float16)) if result.dtype == T.FLOAT32 else result


slow.NARROW.forward = forward
