"""Tensors among other libraries' arrays: NumPy's functions, DLPack, the array API's namespace."""

from __future__ import annotations

import math
import sys
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from .._array import types as T
from .._array.memory import collation as batches
from .._base import dtypes as D
from .._core.storage import TensorBase, new_tensor
from .._table import PUBLIC

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._array.annotations import Array
    from .._base.annotations import DeviceLike, Keywords, Positional, Shape
    from .._base.dtypes import dtype
    from .tensor import Tensor

#: NumPy's universal functions whose names differ here.
_RENAMED: Final = {
    "power": "pow", "conjugate": "conj_physical", "conj": "conj_physical", "rint": "round",
    "invert": "bitwise_not", "bitwise_invert": "bitwise_not", "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift", "fabs": "abs", "degrees": "rad2deg",
    "radians": "deg2rad", "equal": "eq",
}  # fmt: skip
#: Those whose functions here take plain numbers.
_WITH_NUMBERS: Final = frozenset({
    "add", "subtract", "multiply", "divide", "true_divide", "floor_divide", "remainder", "fmod",
    "power", "float_power", "less", "less_equal", "greater", "greater_equal", "equal", "not_equal",
})  # fmt: skip
#: The universal functions of operators: what a tensor on the right is asked.
_REFLECTED: Final = {
    "add": "__radd__", "subtract": "__rsub__", "multiply": "__rmul__", "divide": "__rtruediv__",
    "floor_divide": "__rfloordiv__", "remainder": "__rmod__", "power": "__rpow__",
    "left_shift": "__rlshift__", "right_shift": "__rrshift__", "bitwise_and": "__rand__",
    "bitwise_or": "__ror__", "bitwise_xor": "__rxor__", "equal": "__eq__", "not_equal": "__ne__",
    "less": "__gt__", "less_equal": "__ge__", "greater": "__lt__", "greater_equal": "__le__",
}  # fmt: skip
#: Those that a tensor computes for whole arrays on the left, too.
_OF_ARRAYS: Final = frozenset({"__eq__", "__rtruediv__"})
_COMPARISONS: Final = frozenset({
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"
})  # fmt: skip
#: Those that are called the same and do something else, or give more than one result.
_OTHERS: Final = frozenset({"divmod", "modf", "frexp", "spacing", "cbrt", "isnat", "vecmat"})


def _function(name: str) -> Any:
    if name in _OTHERS:
        return None
    return PUBLIC.get(("", _RENAMED.get(name, name)))


def _operand(value: Any) -> Tensor | float:
    """A tensor from an array; a number from NumPy's scalar."""
    if isinstance(value, TensorBase) or not batches.is_array(value):
        return value
    return PUBLIC["", "as_tensor"](value) if batches.is_whole(value) else value.item()


def universal(
    ufunc: Callable[..., object], method: str, inputs: Positional, options: Keywords
) -> object:
    """What NumPy's universal function gives for tensors: the tensor function, with its gradient.

    A number of NumPy's counts as Python's; an operator with one on its left is the tensor's. NumPy
    computes on the arrays where no tensor requires grad, as in PyTorch. It also does so where there
    is no function of the name, and for options (`out=`, `where=`, a method such as `reduce`); there
    a tensor that requires grad is refused.
    """
    if method == "__call__" and len(inputs) == 2 and not options:
        number, tensor = inputs
        if isinstance(tensor, TensorBase) and batches.is_array(number):
            reflected = _REFLECTED.get(ufunc.__name__)
            if ufunc.__name__ in _COMPARISONS and not number.ndim:
                number = number[()]  # NumPy made an array of it
            if reflected is not None and (
                not batches.is_whole(number)
                or (reflected in _OF_ARRAYS and not batches.is_text(number))
            ):
                return getattr(tensor, reflected)(number)
    records = any(
        value.requires_grad  # type: ignore[attr-defined]
        if isinstance(value, TensorBase)
        else batches.is_array(value) and not batches.is_whole(value)
        for value in inputs
    )
    function = None
    if records and method == "__call__" and not options:
        function = _function(ufunc.__name__)
    if function is not None:
        operands = [_operand(value) for value in inputs]
        for place, value in enumerate(operands):
            number = not isinstance(value, TensorBase)
            if number and (place == 0 or ufunc.__name__ not in _WITH_NUMBERS):
                operands[place] = PUBLIC["", "as_tensor"](value)
        return function(*operands)
    outs = options.get("out", ())
    if any(isinstance(out, TensorBase) for out in outs):
        options = {**options, "out": tuple(_array(out) for out in outs)}
    found = getattr(ufunc, method)(*(_array(value) for value in inputs), **options)
    if outs:
        return outs[0] if len(outs) == 1 else outs
    if isinstance(found, tuple):
        return tuple(new_tensor(T.as_array(part)) for part in found)
    return None if found is None else new_tensor(T.as_array(found))


def _array(value: Any) -> Array | float:
    if isinstance(value, TensorBase):
        array: Any = value.numpy()  # type: ignore[attr-defined]
        return array
    # NumPy's single numbers don't widen tensors: `np.float64(2) * t` is as `2.0 * t`.
    return value.item() if batches.is_array(value) and not batches.is_whole(value) else value


# -- the array API's namespace ------------------------------------------------------------------

_REDUCTIONS: Final = ("sum", "prod", "mean", "amax", "amin", "all", "any", "argmax", "argmin")


def _reduction(name: str) -> Callable[..., object]:
    function = PUBLIC["", name]

    def reduce(
        x: Tensor, /, *, axis: int | None = None, keepdims: bool = False, **options: object
    ) -> Tensor:
        axes = tuple(range(x.ndim)) if axis is None else axis
        if name.startswith("arg"):
            return function(x, dim=axis, keepdim=keepdims)
        if name in ("prod", "all", "any") and isinstance(axes, tuple):
            # One axis at a time, from the last: these take no tuple.
            for place in sorted((a % x.ndim for a in axes), reverse=True):
                x = function(x, dim=place, keepdim=keepdims, **options)
            return x if axes else function(x, **options)
        return function(x, dim=axes, keepdim=keepdims, **options)

    return reduce


def _deviation_function(name: str) -> Callable[..., object]:
    def measure(
        x: Tensor, /, *, axis: Shape | None = None, correction: float = 0.0, keepdims: bool = False
    ) -> Tensor:
        axes = tuple(range(x.ndim)) if axis is None else axis
        return PUBLIC["", name](x, dim=axes, correction=correction, keepdim=keepdims)

    return measure


def _astype(
    x: Tensor, dtype: D.dtype, /, *, copy: bool = True, device: DeviceLike | None = None
) -> Tensor:
    return x.to(dtype=dtype, copy=copy)


def _asarray(
    obj: object,
    /,
    *,
    dtype: dtype | None = None,
    device: DeviceLike | None = None,
    copy: object = None,
) -> object:
    return PUBLIC["", "asarray"](obj, dtype=dtype, copy=copy)


def _take(x: Tensor, indices: object, /, *, axis: int = 0) -> Tensor:
    return PUBLIC["", "index_select"](x, axis, indices)


def _concat(arrays: list[Tensor], /, *, axis: int | None = 0) -> Tensor:
    if axis is None:
        arrays, axis = [x.reshape(-1) for x in arrays], 0
    return PUBLIC["", "cat"](list(arrays), dim=axis)


def _stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> object:
    return PUBLIC["", "stack"](list(arrays), dim=axis)


def _expand_dims(x: Tensor, /, *, axis: int = 0) -> object:
    return x.unsqueeze(axis)


def _squeeze(x: Tensor, /, axis: int) -> object:
    return x.squeeze(axis)


def _matrix_transpose(x: Tensor, /) -> object:
    return x.mT


def _permute_dims(x: Tensor, /, axes: Shape) -> Tensor:
    return x.permute(*axes)


def _flip(x: Tensor, /, *, axis: object = None) -> object:
    axes = tuple(range(x.ndim)) if axis is None else axis
    return x.flip(axes if isinstance(axes, tuple) else (axes,))


def _roll(x: Tensor, /, shift: object, *, axis: object = None) -> object:
    return PUBLIC["", "roll"](x, shift, axis)


def _sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    return PUBLIC["", "sort"](x, dim=axis, descending=descending, stable=stable).values


def _argsort(
    x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> object:
    return PUBLIC["", "sort"](x, dim=axis, descending=descending, stable=stable).indices


def _nonzero(x: Tensor, /) -> object:
    return PUBLIC["", "nonzero"](x, as_tuple=True)


def _unique_values(x: Tensor, /) -> object:
    return PUBLIC["", "unique"](x)


def _isdtype(dtype: D.dtype, kind: object) -> bool:
    if isinstance(kind, tuple):
        return any(_isdtype(dtype, one) for one in kind)
    if isinstance(kind, D.dtype):
        return dtype is kind
    inexact = "complex floating" if dtype.is_complex else "real floating"
    if dtype.is_complex or dtype.is_floating_point:
        return kind in (inexact, "numeric")
    if dtype is D.bool_:
        return bool(kind == "bool")
    sign = "signed integer" if dtype.is_signed else "unsigned integer"
    return kind in (sign, "integral", "numeric")


@cache
def namespace() -> ModuleType:
    """The functions on tensors under the names of the Python array API."""
    made = ModuleType("rushlight.array_api", namespace.__doc__)
    names = vars(made)
    names.update({name: function for (space, name), function in PUBLIC.items() if space == ""})
    names.update(D.BY_NAME)
    names.update(bool=D.bool_, pi=math.pi, e=math.e, inf=math.inf, nan=math.nan, newaxis=None)
    for ours in _REDUCTIONS:
        names[{"amax": "max", "amin": "min"}.get(ours, ours)] = _reduction(ours)
    names.update(
        var=_deviation_function("var"),
        std=_deviation_function("std"),
        astype=_astype,
        asarray=_asarray,
    )
    names.update(take=_take, concat=_concat, stack=_stack, expand_dims=_expand_dims)
    names.update(squeeze=_squeeze, matrix_transpose=_matrix_transpose, permute_dims=_permute_dims)
    names.update(flip=_flip, roll=_roll, sort=_sort, argsort=_argsort, nonzero=_nonzero)
    names.update(unique_values=_unique_values, isdtype=_isdtype)
    names.update(bitwise_invert=names["bitwise_not"])
    package = sys.modules[__name__.partition(".")[0]]
    for name in ("finfo", "iinfo", "linalg", "fft"):
        names[name] = getattr(package, name)
    return made


def namespace_for(api_version: str | None) -> ModuleType:
    """The namespace of one version of the array API.

    Raises:
        ValueError: for a version that isn't followed.
    """
    if api_version not in (None, "2022.12", "2023.12", "2024.12"):
        raise ValueError(f"there is no version {api_version} of the array API here")
    return namespace()
