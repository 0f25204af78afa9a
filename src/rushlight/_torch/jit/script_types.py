"""TorchScript's types: what annotations mean to it, with their names and what they contain.

Nothing is compiled here; packages name these classes in annotations and compare their instances.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Sequence
from typing import Any, ClassVar, Final

from ..._base.device import device
from ..._base.dtypes import dtype
from ..._tensor.tensor import Tensor

__all__ = [
    "AnyType", "AwaitType", "BoolType", "ComplexType", "DeviceObjType", "DictType", "FloatType",
    "FutureType", "IntType", "ListType", "NoneType", "NumberType", "OptionalType", "PyObjectType",
    "RRefType", "StreamObjType", "StringType", "SymBoolType", "SymIntType", "TensorType",
    "TupleType", "Type", "UnionType", "of_annotation",
]  # fmt: skip


class Type:
    """A type as TorchScript writes it; two that are written the same are equal.

    Parameters:
        given: nothing: the classes made from it have instances.
    Raises: TypeError: always.
    Example:
        >>> isinstance(torch.IntType.get(), torch.Type)
        True
    """

    #: How the type is written in an annotation, and in a schema where that differs.
    written: ClassVar[str] = ""
    in_schema: ClassVar[str] = ""
    __hash__ = None  # type: ignore[assignment]  # as in PyTorch: these are compared, never keys

    def __init__(self, *given: Any) -> None:
        raise TypeError(f"{_name(self)}: No constructor defined!")

    @property
    def annotation_str(self) -> str:
        """How the type is written in an annotation."""
        return self.written

    def str(self) -> str:
        """How the type is written in a schema."""
        return self.in_schema or self.written

    def kind(self) -> typing.Any:
        """The name of the class of the type."""
        return type(self).__name__

    def containedTypes(self) -> list[Type]:
        """The types that this one is made of."""
        return []

    def isSubtypeOf(self, other: Type) -> bool:
        """Whether a value of this type is one of `other`."""
        if isinstance(other, AnyType) or self == other:
            return True
        if isinstance(other, UnionType | OptionalType):
            return any(self.isSubtypeOf(each) for each in [*other.containedTypes(), *_none(other)])
        if isinstance(self, TupleType) and isinstance(other, TupleType):
            pairs = list(zip(self.elements(), other.elements(), strict=False))
            same = len(self.elements()) == len(other.elements())
            return same and all(mine.isSubtypeOf(theirs) for mine, theirs in pairs)
        numbers = IntType | FloatType | ComplexType
        return isinstance(other, NumberType) and isinstance(self, numbers)

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Type) and type(self) is type(other)
        return same and self.annotation_str == typing.cast(Type, other).annotation_str

    def __repr__(self) -> typing.Any:
        return self.annotation_str


def _name(value: Type) -> str:
    return f"torch._C.{type(value).__name__}"


def _none(of: Type) -> list[Type]:
    return [NoneType.get()] if isinstance(of, OptionalType) else []


class _Plain(Type):
    """A type of which there is one."""

    @classmethod
    def get(cls) -> Any:
        """The type."""
        return cls.__new__(cls)


_TEXT: Final = """TorchScript's `{written}`.

Parameters:
    given: nothing: there is one, which `get` gives.
Raises: TypeError: always.
Example:
    >>> torch.{name}.get().annotation_str
    '{written}'
"""


def _plain(name: str, written: str, in_schema: str = "") -> type[Any]:
    doc = _TEXT.format(name=name, written=written)
    space = {"written": written, "in_schema": in_schema, "__doc__": doc, "__hash__": None}
    return type(name, (_Plain,), space)


AnyType = _plain("AnyType", "Any")
BoolType = _plain("BoolType", "bool")
ComplexType = _plain("ComplexType", "complex")
DeviceObjType = _plain("DeviceObjType", "Device")
FloatType = _plain("FloatType", "float")
IntType = _plain("IntType", "int")
NoneType = _plain("NoneType", "NoneType")
NumberType = _plain("NumberType", "number", "Scalar")
PyObjectType = _plain("PyObjectType", "PyObject")
StreamObjType = _plain("StreamObjType", "Stream")
StringType = _plain("StringType", "str")
SymBoolType = _plain("SymBoolType", "bool", "SymBool")
SymIntType = _plain("SymIntType", "int", "SymInt")
TensorType = _plain("TensorType", "Tensor")


class _Of(Type):
    """A type made of one other."""

    outside: ClassVar[str] = ""
    end: ClassVar[str] = ""

    def __init__(self, element: Type) -> None:
        self._element = element

    @property
    def annotation_str(self) -> str:
        return f"{self.outside}[{self._element.annotation_str}]"

    def str(self) -> typing.Any:
        inner = self._element.str()
        return inner + self.end if self.end else f"{self.outside}[{inner}]"

    def containedTypes(self) -> list[Type]:
        return [self._element]

    def getElementType(self) -> Type:
        """The type of the elements."""
        return self._element


class ListType(_Of):
    """A list of values of one type.

    Parameters:
        element: the type of the values.
    Raises: AttributeError: when it is written, for what is no type.
    Example:
        >>> torch.ListType(torch.IntType.get()).annotation_str
        'List[int]'
    """

    outside, end = "List", "[]"

    @classmethod
    def ofInts(cls) -> ListType:
        """A list of whole numbers."""
        return cls(IntType.get())

    @classmethod
    def ofTensors(cls) -> ListType:
        """A list of tensors."""
        return cls(TensorType.get())

    @classmethod
    def ofFloats(cls) -> ListType:
        """A list of numbers."""
        return cls(FloatType.get())

    @classmethod
    def ofBools(cls) -> ListType:
        """A list of truth values."""
        return cls(BoolType.get())

    @classmethod
    def ofStrings(cls) -> ListType:
        """A list of texts."""
        return cls(StringType.get())


class OptionalType(_Of):
    """A value of one type, or None.

    Parameters:
        element: the type of the value.
    Raises: AttributeError: when it is written, for what is no type.
    Example:
        >>> torch.OptionalType(torch.IntType.get()).annotation_str
        'Optional[int]'
    """

    outside, end = "Optional", "?"

    @classmethod
    def ofTensor(cls) -> OptionalType:
        """A tensor, or None."""
        return cls(TensorType.get())


class FutureType(_Of):
    """A value that will be there.

    Parameters:
        element: the type of the value.
    Raises: AttributeError: when it is written, for what is no type.
    Example:
        >>> torch.FutureType(torch.IntType.get()).annotation_str
        'Future[int]'
    """

    outside = "Future"


class AwaitType(_Of):
    """A value that is computed when it is asked for.

    Parameters:
        element: the type of the value.
    Raises: AttributeError: when it is written, for what is no type.
    Example:
        >>> torch.AwaitType(torch.IntType.get()).annotation_str
        'Await[int]'
    """

    outside = "Await"

    def str(self) -> typing.Any:
        return f"Await({self._element.str()})"


class RRefType(_Of):
    """A value of another process.

    Parameters:
        element: the type of the value.
    Raises: AttributeError: when it is written, for what is no type.
    Example:
        >>> torch.RRefType(torch.IntType.get()).annotation_str
        'RRef[int]'
    """

    outside = "RRef"


class _OfSeveral(Type):
    """A type made of several others."""

    outside: ClassVar[str] = ""

    def __init__(self, elements: Sequence[Type]) -> None:
        self._elements = list(elements)

    @property
    def annotation_str(self) -> str:
        return f"{self.outside}[{', '.join(each.annotation_str for each in self._elements)}]"

    def str(self) -> typing.Any:
        return f"({', '.join(each.str() for each in self._elements)})"

    def containedTypes(self) -> list[Type]:
        return list(self._elements)

    def elements(self) -> list[Type]:
        """The types of the elements."""
        return list(self._elements)


class TupleType(_OfSeveral):
    """So many values, each of its own type.

    Parameters:
        elements: their types.
    Raises: AttributeError: when it is written, for what is no type.
    Example:
        >>> torch.TupleType([torch.StringType.get(), torch.IntType.get()]).annotation_str
        'Tuple[str, int]'
    """

    outside = "Tuple"


class UnionType(_OfSeveral):
    """A value of one of several types.

    Parameters:
        elements: the types.
    Raises: AttributeError: when it is written, for what is no type.
    Example:
        >>> torch.UnionType([torch.StringType.get(), torch.IntType.get()]).annotation_str
        'Union[int, str]'
    """

    outside = "Union"

    def str(self) -> typing.Any:
        return f"Union({', '.join(each.str() for each in self._elements)})"

    def __init__(self, elements: Sequence[Type]) -> None:
        super().__init__(sorted(elements, key=lambda each: each.annotation_str.lower()))


class DictType(Type):
    """A dictionary with keys of one type and values of one.

    Parameters:
        key: the type of the keys.
        value: the type of the values.
    Raises: AttributeError: when it is written, for what is no type.
    Example:
        >>> torch.DictType(torch.StringType.get(), torch.IntType.get()).annotation_str
        'Dict[str, int]'
    """

    def __init__(self, key: Type, value: Type) -> None:
        self._key, self._value = key, value

    @property
    def annotation_str(self) -> str:
        return f"Dict[{self._key.annotation_str}, {self._value.annotation_str}]"

    def str(self) -> typing.Any:
        return f"Dict({self._key.str()}, {self._value.str()})"

    def containedTypes(self) -> list[Type]:
        return [self._key, self._value]

    def getKeyType(self) -> Type:
        """The type of the keys."""
        return self._key

    def getValueType(self) -> Type:
        """The type of the values."""
        return self._value


for _each in [value for value in globals().values() if isinstance(value, type)]:
    if issubclass(_each, Type):
        _each.__module__ = "torch"

_PLAIN: dict[Any, Any] = {
    Tensor: TensorType, int: IntType, float: FloatType, complex: ComplexType, bool: BoolType,
    str: StringType, type(None): NoneType, None: NoneType, Any: AnyType, device: DeviceObjType,
    dtype: IntType,
}  # fmt: skip
_MANY: dict[Any, Any] = {list: ListType, dict: DictType}


def of_annotation(annotation: Any) -> Type | None:
    """The type that a Python annotation stands for; None where TorchScript knows none."""
    if annotation is inspect.Signature.empty:
        return typing.cast(Type, TensorType.get())
    try:
        if annotation in _PLAIN:
            return typing.cast(Type, _PLAIN[annotation].get())
    except TypeError:  # not hashable
        return None
    origin, given = typing.get_origin(annotation), typing.get_args(annotation)
    inner = [of_annotation(each) for each in given if each != ()]
    if origin is None or any(each is None for each in inner):
        return None
    parts = typing.cast("list[Type]", inner)
    if origin is tuple:
        return TupleType(parts)
    if origin in (typing.Union, types.UnionType):
        rest = [each for each in parts if not isinstance(each, NoneType)]
        if len(rest) == 1 and len(parts) == 2:
            return OptionalType(rest[0])
        return UnionType(parts)
    if origin in _MANY:
        return typing.cast(Type, _MANY[origin](*parts))
    return None
