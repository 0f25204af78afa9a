"""Whether an argument fits a parameter of a schema, and what converts it."""

from __future__ import annotations

from typing import Any, Final

from .. import dtypes as D
from .._array import types as T
from .._core.slow import read_by_python
from .._core.storage import TensorBase
from ..schema import Parameter
from ._row import Row

_PYTHON_TYPES: Final[dict[Any, D.dtype]] = {float: D.float64, int: D.int64, bool: D.bool_,
                                            complex: D.complex128}  # fmt: skip


def is_int(value: Any) -> bool:
    """Whether a value may stand for an integer: a tensor of one may, a bool may not."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int) or T.is_integer_scalar(value):
        return True
    return isinstance(value, TensorBase) and value._raw.ndim == 0 and value._raw.dtype.kind in "iu"


#: The operations that take a number in the first place, too: `torch.div(1.0, x)`.
NUMBER_FIRST = frozenset(("add", "sub", "mul", "div"))


def accepts(p: Parameter, value: Any, row: Row, position: int) -> tuple[bool, Any]:
    """Whether a value fits a parameter, and what converts it (None: nothing to do)."""
    if value is None:
        return p.optional or p.default is None, None
    kind = p.type
    if p.is_list:
        return _accepts_list(p, value)
    if kind == "Tensor":
        if isinstance(value, TensorBase):
            return True, None
        if (
            (position or row.schema.name in NUMBER_FIRST)
            and row.numbers
            and row.op.broadcasts
            and T.is_number(value)
        ):
            return True, None if isinstance(value, (int, float, complex)) else T.python_number
        return False, None
    if kind == "Scalar":
        if isinstance(value, (int, float, complex)):
            return True, None
        if T.is_number(value):
            return True, T.python_number
        if isinstance(value, TensorBase) and value._raw.ndim == 0:
            return True, _item
        return False, None
    if kind == "int":
        if isinstance(value, int) and not isinstance(value, bool):
            return True, None
        return (True, _integer) if is_int(value) else (False, None)
    if kind == "float":
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return True, float
        if isinstance(value, TensorBase) and value._raw.ndim == 0:
            return True, _item
        return T.is_number(value) and not isinstance(value, (bool, complex)), float
    if kind == "bool":
        return isinstance(value, bool) or T.is_bool_scalar(value), bool
    if kind == "str":
        return isinstance(value, str), None
    if kind == "ScalarType":
        if isinstance(value, D.dtype):
            return True, None
        return value in _PYTHON_TYPES if isinstance(value, type) else False, _PYTHON_TYPES.get
    return True, None


def _accepts_list(p: Parameter, value: Any) -> tuple[bool, Any]:
    if p.type == "Tensor":
        if isinstance(value, (list, tuple)):
            fits = all(isinstance(v, TensorBase) or (v is None and p.optional) for v in value)
            return fits, list
        return False, None
    if p.type == "int":
        if is_int(value):
            if p.list_size is None:
                return False, None
            size = p.list_size
            return True, _in_tuple if size == 1 else lambda v: (_integer(v),) * size
        if isinstance(value, (list, tuple)):
            return all(is_int(v) or (i and type(v) is bool) for i, v in enumerate(value)), _integers
        return False, None
    if isinstance(value, (list, tuple)):
        return True, tuple
    if p.list_size is not None and T.is_number(value):
        size = p.list_size
        return True, lambda v: (v,) * size
    return False, None


def _in_tuple(value: Any) -> tuple[int]:
    return (value,) if type(value) is int else (_integer(value),)


def _integer(value: Any) -> int:
    if type(value) is int:
        return value
    if not is_int(value):  # it is of a type that others of which fit
        raise TypeError
    return int(_item(value))


def _integers(value: Any) -> tuple[int, ...]:
    return tuple(
        [v if type(v) is int else int(v) if type(v) is bool and i else _integer(v)
         for i, v in enumerate(value)]
    )  # fmt: skip


def _item(value: Any) -> Any:
    if isinstance(value, TensorBase) and value._raw.ndim:
        raise TypeError  # others of its type fit
    return read_by_python(value, "a number").item() if isinstance(value, TensorBase) else value
