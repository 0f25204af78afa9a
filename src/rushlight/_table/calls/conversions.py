"""Whether an argument fits a parameter of a schema, and what converts it.

Note [Converters check what types don't say]
Plans of calls are remembered by the types of the arguments (see Note [Plans] in `_dispatch`). Where
more than the type decides whether a value fits (a tensor stands for a number if it has no
dimensions, a list for sizes if it holds integers), the converter looks at each value again and
raises `Unfit`: the call is then resolved anew. Where a row was passed over for such a reason, the
plan isn't remembered at all: see `by_value`.
"""

from __future__ import annotations

from functools import cache
from operator import index
from typing import TYPE_CHECKING, Any, Final

from ..._array import types as T
from ..._array.shape.nested_sequences import array_of
from ..._base import dtypes as D, errors
from ..._base.schema import Parameter
from ..._core.mode import current
from ..._core.slow import read_by_python
from ..._core.storage import TensorBase, new_tensor
from ..rows.row import Row
from .argument_parser import is_index, is_integer, is_number_tensor, is_one_for_all
from .overload_texts import signatures

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable
    from ..._tensor.tensor import Tensor

_PYTHON_TYPES: Final[dict[Any, D.dtype]] = {float: D.float64, int: D.int64, bool: D.bool_,
                                            complex: D.complex128}  # fmt: skip


class Unfit(Exception):
    """A value that doesn't fit, in a call whose like did."""


def by_value(p: Parameter, value: object) -> bool:
    """Whether more than the type of a value decides if it fits."""
    if isinstance(value, TensorBase):
        return p.is_list or p.type != "Tensor"
    return (p.is_list and isinstance(value, (list, tuple))) or p.type == "ScalarType"


def accepts(p: Parameter, value: object, row: Row, position: int) -> tuple[bool, Any]:
    """Whether a value fits a parameter, and what converts it (None: nothing to do)."""
    if value is None:
        if p.is_list and p.default == ():
            return True, tuple_of_none
        return p.optional or p.default is None, None
    kind = p.type
    if p.is_list:
        return _accepts_list(p, value)
    if kind == "Tensor":
        if isinstance(value, TensorBase):
            return True, None
        if (
            (position or row.numbers == "first")
            and row.numbers
            and row.op.broadcasts
            and row.schema.params[0].type == "Tensor"  # one number is enough
            and T.is_number(value)
        ):
            return True, _plain_number(value)
        return False, None
    if kind == "Scalar":
        if T.is_number(value):
            return True, _plain_number(value)
        return (True, _item) if is_number_tensor(value) else (False, None)
    if kind == "int":
        if isinstance(value, int) and not isinstance(value, bool):
            # A dimension of more than 64 bits isn't there: that is seen without a look before.
            return True, None if p.name.startswith("dim") else _integer
        if not is_index(value):
            return False, None
        if _is_counted(row.schema.name, p.name):
            return is_integer(value), _count
        return True, _integer
    if kind == "float":
        if isinstance(value, (int, float)):
            return True, float
        if is_number_tensor(value):
            return True, _float
        return T.is_number(value) and not isinstance(value, (bool, complex)), float
    if kind == "bool":
        return isinstance(value, bool), None
    if kind == "str":
        return isinstance(value, (str, bytes)), None if isinstance(value, str) else bytes.decode
    if kind == "ScalarType":
        if isinstance(value, D.dtype):
            return True, None
        return isinstance(value, type) and value in _PYTHON_TYPES, _dtype_of_class
    return True, None


@cache
def _is_counted(name: str, parameter: str) -> bool:
    """Whether an argument is a number to PyTorch and no size, which a truth value may be, too."""
    return any(
        p.name == parameter and p.type == "int"
        for kind in ("torch", "method", "nn")
        for signature in signatures(kind, name)
        for p in signature.params
    )


def _plain_number(value: object) -> AnyCallable | None:
    """What makes Python's number of one; None for those that are: others would decide types."""
    if isinstance(value, T.generic):
        return T.python_number
    return None if is_bare(value) or not issubclass(type(value), _DERIVED) else _bare


def is_bare(value: object) -> bool:
    """Whether a value is a number of Python's own classes."""
    return type(value) in _BARE


_BARE: Final = frozenset((bool, int, float, complex))


def _bare(value: object) -> object:
    """The number itself of one of a derived class, whatever that says.

    Numbers that are recorded stay what they are: they know where they come from.
    """
    if current().recorder is not None:
        return value
    kind = next(kind for kind in _DERIVED if isinstance(value, kind))
    return kind.__pos__(value)


_DERIVED: Final[tuple[Any, ...]] = (int, float, complex)


def tuple_of_none(value: object) -> tuple[()]:
    """The empty list that None stands for."""
    return ()


def _accepts_list(p: Parameter, value: object) -> tuple[bool, Any]:
    if p.type == "Tensor":
        if isinstance(value, (list, tuple)):
            fits = all(isinstance(v, TensorBase) or (v is None and p.optional) for v in value)
            return fits, _optional_tensors if p.optional else _tensors
        return False, None
    if p.type == "int":
        if p.list_size is not None and is_one_for_all(value):
            return True, _in_tuple if p.list_size == 1 else _repeating(p.list_size)
        if isinstance(value, (list, tuple)):
            # PyTorch looks at the first item: a bool is an integer behind one.
            return all(
                is_index(v) or (i and type(v) is bool) for i, v in enumerate(value)
            ), integers
        return False, None
    if isinstance(value, (list, tuple)):
        return True, tuple
    if p.list_size is not None and T.is_number(value):
        size = p.list_size
        return True, lambda v: (v,) * size
    return False, None


def _tensors(value: Any) -> list[Tensor]:
    for v in value:
        if not isinstance(v, TensorBase):
            raise Unfit
    return list(value)


def _optional_tensors(value: Any) -> list[Any]:
    for v in value:
        if v is not None and not isinstance(v, TensorBase):
            raise Unfit
    return list(value)


def _dtype_of_class(value: type) -> D.dtype:
    try:
        return _PYTHON_TYPES[value]
    except KeyError:
        raise Unfit from None


def _in_tuple(value: Tensor | int) -> tuple[int]:
    if type(value) is int and -(1 << 63) <= value < 1 << 63:  # as nearly always
        return (value,)
    return (_one_for_all(value),)


def _repeating(size: int) -> AnyCallable:
    def repeat(value: Tensor | int) -> tuple[int, ...]:
        if type(value) is int and -(1 << 63) <= value < 1 << 63:
            return (value,) * size
        return (_one_for_all(value),) * size

    return repeat


def _one_for_all(value: object) -> int:
    if not is_one_for_all(value):
        raise Unfit
    return _integer(value)


def _integer(value: Any) -> int:
    if type(value) is int:
        if -(1 << 63) <= value < 1 << 63:
            return value
        raise ValueError(errors.LONG)
    if not is_index(value):
        raise Unfit
    if isinstance(value, TensorBase):
        value = read_by_python(value, "a number").item()
    return index(value)


def _count(value: object) -> int:
    if type(value) is not int and not is_integer(value):
        raise Unfit
    return _integer(value)


def integers(value: Any) -> tuple[int, ...]:
    """Sizes as Python integers; raises `Unfit` for what is none."""
    return tuple(
        [v if type(v) is int and -(1 << 63) <= v < 1 << 63
         else int(v) if type(v) is bool and i else _integer(v)
         for i, v in enumerate(value)]
    )  # fmt: skip


def _item(value: object) -> Any:
    if not isinstance(value, TensorBase):
        plain = _plain_number(value)
        return value if plain is None else plain(value)
    if not is_number_tensor(value):
        raise Unfit
    return read_by_python(value, "a number").item()


def as_lone_tensor(value: Any) -> TensorBase:
    """A number as a tensor without dimensions, of the type that numbers have by themselves."""
    number = T.python_number(value) if hasattr(value, "item") else value
    if type(number) is int and not -(1 << 63) <= number < 1 << 63:
        negative = "can't convert negative int to unsigned"
        raise OverflowError(negative if number < 0 else "int too big to convert")
    return new_tensor(array_of(number, None))


def _float(value: object) -> float:
    number = _item(value)
    if isinstance(number, complex):
        raise RuntimeError(errors.no_conversion("double"))
    return float(number)


def numbers_for(row: Row, rest: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments after a row's first, with numbers for tensors.

    Raises:
        TypeError: for a tensor with dimensions, or with a gradient to lose.
    """
    found = []
    for position, value in enumerate(rest, 1):
        if isinstance(value, TensorBase) and not is_number_tensor(value):
            raise TypeError(
                f"{row.schema.name}(): argument '{row.schema.params[position].name}' "
                f"(position {position + 1}) must be Number, not Tensor"
            )
        found.append(_item(value))
    return tuple(found)
