"""Old-style constructors: `Tensor(3, 5)`, `FloatTensor([1, 2])`, and type checks against them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._array import types as T
from .._array.memory.meta import meta_like
from .._array.shape import create as raw
from .._array.shape.nested_sequences import array_of, is_sequence
from .._base import dtypes as D, errors
from .._base.device import on_meta
from .._base.lazy import load
from .._base.memory_format import strided
from .._base.size import Size
from .._core.mode import current
from .._core.storage import TensorBase, Version, init_tensor, new_tensor
from .._table.calls.argument_parser import is_index
from .._table.rows import meta as _meta
from .._table.rows.warn_once import warn_of_array
from .._table.shape.create import size_of
from . import torch_function as subclasses
from .tensor import Tensor
from .torch_function import torch_dispatch

if TYPE_CHECKING:
    from .._array.annotations import Array
    from .._base.annotations import DeviceLike, Positional, Shape


def legacy_array(dtype: D.dtype, args: Positional) -> Array:
    """The array that an old-style constructor makes: of a size, or of a sequence's elements.

    Raises:
        TypeError: for arguments that are neither.
    """
    if not args:
        return raw.empty((0,), dtype)
    first = args[0]
    if len(args) == 1:
        if isinstance(first, TensorBase):
            found = T.from_raw(first._raw.dtype)
            if found is not dtype:
                raise TypeError(f"expected {_options(dtype)} (got {_options(found)})")
            return first._raw
        if type(first).__name__ == "Size":
            return raw.empty(tuple(first), dtype)
        if isinstance(first, bool):
            raise TypeError("new(): data must be a sequence (got bool)")
    if is_index(first):
        return raw.empty(size_of("new", args), dtype)
    if len(args) == 1 and hasattr(type(first), "_tensor_over"):
        kind = getattr(first, "dtype", dtype)
        if kind is not dtype:
            raise RuntimeError(
                f"Expected a Storage of type {D.scalar_name(dtype)} or an UntypedStorage, but got "
                f"type {D.scalar_name(kind)} for argument 1 'storage'"
            )
        return first._tensor_over(dtype)._raw
    if len(args) > 1:
        raise _no_such_call(args, {})
    if is_sequence(first):
        return array_of(first, dtype, warn_of_array)
    raise TypeError(f"new(): data must be a sequence (got {errors.type_name(first)})")


def _options(dtype: D.dtype) -> str:
    return (
        f"TensorOptions(dtype={D.c_name(dtype)}, device=cpu, layout=Strided, "
        "requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))"
    )


_CALLS: Final = (
    " * (*, torch.device device = None)\n",
    " * (torch.Storage storage)\n * (Tensor other)\n"
    " * (tuple of ints size, *, torch.device device = None)\n"
    " * (object data, *, torch.device device = None)\n",
)


def _no_such_call(args: tuple[object, ...], kwargs: dict[str, object]) -> TypeError:
    given = [errors.type_name(a) for a in args]
    given += [f"{name}={errors.type_name(value)}" for name, value in kwargs.items()]
    why = "      didn't match because some of the "
    why += f"keywords were incorrect: {', '.join(kwargs)}\n"
    return TypeError(
        f"new() received an invalid combination of arguments - got ({', '.join(given)}), but "
        f"expected one of:\n{_CALLS[0]}{why if kwargs else ''}{_CALLS[1]}"
    )


def _new(cls: type[Any], *args: object, device: DeviceLike | None = None, **kwargs: Any) -> Any:
    if kwargs:
        raise _no_such_call(args, kwargs)
    nowhere = device is not None and on_meta(device)
    if len(args) == 1 and isinstance(args[0], TensorBase):
        return subclasses.in_place_of(args[0], cls)
    made = TensorBase.__new__(cls)
    array = legacy_array(D.get_default_dtype(), args)
    init_tensor(made, meta_like(array) if nowhere else array)
    if cls._overrides or cls._dispatches or nowhere:
        made._plain = False
        made._layered = True
    return made


def _init(self: Any, *args: Any, **kwargs: Any) -> None:
    """Nothing: `__new__` has made the tensor."""


def _make_subclass(
    cls: type[Any], data: Tensor, require_grad: bool = False, **kwargs: object
) -> Tensor:
    """A tensor of class `cls` over the memory of `data`, detached."""
    if require_grad and T.is_discrete(data._raw.dtype):
        raise RuntimeError(errors.REQUIRES_GRAD_DTYPE.replace("only", "Only", 1))
    made = TensorBase.__new__(cls)
    init_tensor(made, data._raw)
    if not data._plain and _meta.is_meta(data):
        _meta.mark_without_data(made)
    if data._inference:
        if require_grad and not current().inference:
            raise RuntimeError(errors.INFERENCE_REQUIRES_GRAD)
        made._inference = True
        made._plain = False
        made._cell = Version()
    made._requires_grad = require_grad
    if cls._overrides or cls._dispatches:
        made._plain = False
        made._layered = True
        if cls._dispatches:
            torch_dispatch().note(made)
    return made


def as_subclass(self: Tensor, cls: type) -> Tensor:
    """This tensor as an instance of a subclass, in the same place of the graph.

    Parameters:
        cls: the subclass.
    Shapes: any.
    Returns: an instance of `cls`, with the same memory.
    Raises: TypeError: for what is no subclass of `Tensor`.
    Example:
        >>> class Mine(torch.Tensor):
        ...     pass
        >>> type(torch.ones(1).as_subclass(Mine)).__name__
        'Mine'
    """
    if not isinstance(cls, type):
        raise TypeError(f"cls must be a type (got {errors.type_name(cls)})")
    if not issubclass(cls, Tensor):
        raise TypeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not "
            "possible. Make sure your class inherits from Tensor."
        )
    return subclasses.in_place_of(self, cls)


Tensor.__new__ = _new  # type: ignore[method-assign]
Tensor.__init__ = _init  # type: ignore[method-assign]


def _make_wrapper_subclass(
    cls: type[object], size: Shape, *args: object, **kwargs: object
) -> Tensor:
    """A tensor of class `cls` of that size, without memory: its class keeps the data."""
    return load("_tensor.torch_dispatch:make_wrapper_subclass")(cls, size, *args, **kwargs)


Tensor._make_subclass = staticmethod(_make_subclass)
Tensor._make_wrapper_subclass = staticmethod(_make_wrapper_subclass)  # type: ignore[method-assign, assignment]
Tensor.as_subclass = as_subclass


def _new_like(self: Any, *args: Any, device: DeviceLike | None = None, **kwargs: Any) -> Any:
    """A tensor of this tensor's type: of a size, or with the elements of a sequence.

    Parameters:
        args: numbers, which are a size; or a sequence of elements; nothing: an empty tensor.
        device: the CPU, or "meta".
    Shapes: the size, or that of the sequence.
    Returns: Tensor: not filled, where a size is given.
    Raises: TypeError: for other arguments. ValueError: for sequences of unequal lengths.
    Example:
        >>> torch.ones(1).new([1, 2])
        tensor([1., 2.])
    """
    if "size" in kwargs and not args:
        args = (Size(kwargs.pop("size")),)
    if kwargs:
        raise _no_such_call(args, kwargs)
    made = new_tensor(legacy_array(T.from_raw(self._raw.dtype), args))
    return _meta.strip_data(made) if _meta.beside(self, device) else made


Tensor.new = _new_like  # type: ignore[method-assign]


class _TypedMeta(type):
    """Makes `isinstance(t, FloatTensor)` ask for the element type."""

    def __new__(cls, name: str, bases: tuple[Any, ...], names: dict[str, Any]) -> _TypedMeta:
        if bases:
            raise TypeError(f"type '{bases[0]._type_text}' is not an acceptable base type")
        return type.__new__(cls, name, bases, names)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, TensorBase) and T.from_raw(instance._raw.dtype) is cls.dtype  # type: ignore[attr-defined]

    def __repr__(cls) -> str:
        return f"<class '{cls._type_text}'>"  # type: ignore[attr-defined]

    def __call__(cls, *args: object, **kwargs: object) -> Tensor:
        made = TensorBase.__new__(Tensor)
        init_tensor(made, legacy_array(cls.dtype, args))  # type: ignore[attr-defined]
        return made


_TEXT: Final = """The legacy type of tensors of {dtype}: of a size, or of a sequence of elements.

Parameters:
    args: numbers, which are a size; or a sequence of elements; nothing: an empty tensor.
Shapes: the size, or that of the sequence.
Raises: TypeError: for other arguments. ValueError: for sequences of unequal lengths.
Example:
    >>> torch.{name}([1, 2]).tolist()
    {shown}
    >>> isinstance(torch.ones(1, dtype={dtype}), torch.{name})
    True
"""
_FLOATS: Final = (D.float16, D.bfloat16, D.float32, D.float64)
_SHOWN: Final = {D.bool_: "[True, True]", **dict.fromkeys(_FLOATS, "[1.0, 2.0]")}


def _make_typed(dtype: D.dtype) -> type[object]:
    name = D.scalar_name(dtype) + "Tensor"
    return _TypedMeta(
        name,
        (),
        {
            "dtype": dtype,
            "_type_text": f"torch.{name}",
            "__doc__": _TEXT.format(name=name, dtype=dtype, shown=_SHOWN.get(dtype, "[1, 2]")),
            "__module__": "torch",
            "layout": strided,
            "is_cuda": False,
            "is_xpu": False,
            "is_sparse": False,
        },
    )


TYPES: Final[dict[str, Any]] = {
    D.scalar_name(d) + "Tensor": _make_typed(d)
    for d in (D.bool_, D.uint8, D.int8, D.int16, D.int32, D.int64, D.float16, D.bfloat16, D.float32,
              D.float64)
}  # fmt: skip
_tensor_classes: Final = set(TYPES.values())
