"""What stands between the brackets of an index: integers, slices, tensors and sequences."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Final, NoReturn

from ..._array import types as T
from ..._array.axes import END
from ..._base import errors
from ..._base.lazy import later
from ..._core.slow import read_by_python
from ..._core.storage import TensorBase, new_tensor
from ..rows.tensor_namespace import table

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor

W = later("_array.shape.writing")

_ONLY_INTEGERS: Final = {int}

_SEQUENCE_WARNING: Final = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed "
    "in pytorch "
    "2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor "
    "index, "
    "x[torch.tensor(seq)], which will result either in an error or a different result (Triggered "
    "internally at /__w/pytorch/pytorch/torch/csrc/autograd/python_variable_indexing.cpp:349.)"
)
_ZERO_DIM: Final = (
    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ "
    "to convert "
    "a 0-dim tensor to a number"
)
_ONE_INTEGER: Final = "only integer tensors of a single element can be converted to an index"
_SLICE_TYPES: Final = "slice indices must be integers or None or have an __index__ method"


_MOST: Final = 1 << 63
_OVERFLOW: Final = "Overflow when unpacking long long"


def refuse_place(place: int, item: int, n: int, zero_dim: bool = False) -> NoReturn:
    """Raises for a place outside of the `n` that there are, which item number `item` names.

    Raises:
        ValueError: for a place that C cannot hold.
        IndexError: for any other.
    """
    if not -_MOST <= place < _MOST:
        raise ValueError(_OVERFLOW)
    if zero_dim and not place:
        raise IndexError(_ZERO_DIM)
    raise IndexError(f"index {place} is out of bounds for dimension {item} with size {n}")


def _refuse(item: float) -> IndexError:
    return IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
        "valid indices "
        f"(got {errors.type_name(item)})"
    )


def _is_sequence(item: object) -> bool:
    """Whether C counts a value as a sequence."""
    if isinstance(item, (dict, TensorBase)) or T.is_number(item):
        return False
    return hasattr(type(item), "__getitem__") and not errors.is_pytorchs(type(item))


def _items(given: Any) -> tuple[Any, ...]:
    """The index as a tuple; a sequence with tensors, slices or sequences in it counts as one, with
    a warning.
    """
    if isinstance(given, tuple):
        return given
    plain = (TensorBase, T.ndarray, int, slice)
    if not isinstance(given, plain) and _is_sequence(given) and len(given) < 32:
        for item in given:
            if (
                item is None
                or item is Ellipsis
                or isinstance(item, (TensorBase, slice))
                or _is_sequence(item)
            ):
                warnings.warn(_SEQUENCE_WARNING, UserWarning, stacklevel=4)
                return tuple(given)
    return (given,)


def _plain(item: Any) -> Any:
    """One item as an int, a slice, None, `...`, a bool, or a Tensor.

    Raises:
        IndexError, TypeError: for anything else.
    """
    kind = type(item)
    if kind is int or kind is slice or kind is bool or item is None or item is Ellipsis:
        return item
    if isinstance(item, TensorBase):
        array = item._raw
        if item._layered:
            return item
        if array.ndim == 0 and array.dtype.kind in "iu" and array.dtype.itemsize != 1:
            return int(read_by_python(item, "an index").item())
        if array.ndim == 0 and array.dtype.kind == "i":
            return int(read_by_python(item, "an index").item())
        return item
    if isinstance(item, int) or T.is_integer_scalar(item):
        return int(item)
    if isinstance(item, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(item).__name__}'")
    if errors.is_pytorchs(kind):
        raise TypeError(str(_refuse(item)))
    if T.is_number(item) or isinstance(item, dict) or not hasattr(item, "__len__"):
        raise _refuse(item)
    if W.is_array(item):
        return _plain(table("tensor")(item) if item.dtype.kind in "biu" else _cut(item))
    return _plain(_from_sequence(item))


def _cut(array: object) -> Tensor:
    return table("tensor")(array).long()


def _from_sequence(items: Any) -> Any:
    if {type(item) for item in items} == _ONLY_INTEGERS:
        places = W.integers(items)
        if places is not None:
            return new_tensor(places)
    for item in items:
        if isinstance(item, (str, bytes)):
            raise TypeError(f"new(): invalid data type '{type(item).__name__}'")
    try:
        made = table("tensor")(list(items))
    except ValueError as error:
        if str(error).startswith("only one element tensors"):
            raise TypeError(_ONE_INTEGER) from None
        raise
    if made._raw.dtype.kind not in "biu":
        for item in items:
            if isinstance(item, TensorBase) and item._raw.dtype.kind not in "biu":
                raise TypeError(_ONE_INTEGER)
        made = made.long()
    return made


def _slice_bound(value: Any, default: int | None) -> int | None:
    if value is None:
        return default
    if type(value) is int:
        return value
    if isinstance(value, TensorBase):
        if value._raw.dtype.kind in "iub" and value._raw.size == 1:
            return int(read_by_python(value, "an index").item())
        raise TypeError(_ONE_INTEGER)
    try:
        return int(value.__index__())
    except AttributeError:
        raise TypeError(_SLICE_TYPES) from None


def _bounds(item: slice) -> tuple[int, int, int]:
    """The start, end and step of a slice.

    Raises:
        ValueError: for a step that isn't positive.
    """
    step = _slice_bound(item.step, 1)
    start = _slice_bound(item.start, 0)
    refused = step == 0
    # Where a number of C's is -1 PyTorch asks whether there is an error: that of the step.
    if not (refused and start == -1 and not isinstance(item.start, TensorBase)):
        end = _slice_bound(item.stop, END)
    if refused:
        raise ValueError("slice step cannot be zero")
    assert start is not None and end is not None
    if step is None or step < 0:
        raise ValueError("step must be greater than zero")
    return start, end, step
