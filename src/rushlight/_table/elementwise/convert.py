"""Conversions: between element types, to Python and NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..._array import types as T
from ..._array.memory.dense_layout import suggests_channels_last
from ..._array.memory.meta import meta_like
from ..._array.shape import views
from ..._base import dtypes as D, errors
from ..._base.device import CPU, cuda_asked, find_device, on_meta, warn_of_pinning
from ..._base.memory_format import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    memory_format as MemoryFormat,
    preserve_format,
)
from ..._core.apply import apply_n
from ..._core.interposers import NOT_HANDLED, call_whole
from ..._core.mode import ALERTED, current, is_interposed
from ..._core.slow import record
from ..._core.storage import TensorBase
from ..calls.argument_parser import complaint, misuse
from ..rows import meta as _meta
from ..rows.composite import asks, composite
from ..rows.row import linear

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._base.annotations import DeviceLike, Scalar
    from ..._base.memory_format import memory_format
    from ..._base.schema import Parameter
    from ..._tensor.tensor import Tensor

_type = type  # the name is taken below by the method


cast = linear(
    "_to_copy(Tensor self, ScalarType dtype) -> Tensor",
    T.convert_array,
    self=lambda xp, g, self_dtype: xp.astype(g, self_dtype),
    differentiable_out=(True,),  # where it has floats; without this integers would be refused
    public=False,
    out=False,
    lowering="astype",
    narrow="converts",
    samples=lambda mk: [(mk(3, 4), D.float64), (mk(3, 4), D.complex128)],
    copies=True,
    doc="A copy with elements of another type.",
    without_data="one",
)


def _convert_in_format(array: Array, dtype: D.dtype, memory_format: MemoryFormat) -> Array:
    made = T.convert_array(array, dtype)
    last = suggests_channels_last(made)  # sizes of 1 leave strides open
    if memory_format is contiguous_format:
        return views.contiguous_copy(made) if last or not made.flags.c_contiguous else made
    return made if last and T.is_channels_last(made) else views.channels_last_copy(made)


cast_in_format = linear(
    "_to_copy.format(Tensor self, ScalarType dtype, MemoryFormat memory_format) -> Tensor",
    _convert_in_format,
    self=lambda xp, g, self_dtype: xp.astype(g, self_dtype),
    node="ToCopyBackward0",
    differentiable_out=(True,),
    public=False,
    out=False,
    samples=lambda mk: [(mk(3, 4), D.float64, contiguous_format),
                        (mk(2, 3, 2, 2), D.float64, channels_last)],
    copies=True,
    doc="A copy with elements of another type, in memory as a format says.",
)  # fmt: skip


def convert_tensor(t: Tensor, dtype: D.dtype) -> Tensor:
    """`t` with elements of `dtype`: itself where it has them already."""
    if T.from_raw(t._raw.dtype) is dtype:
        return t
    return apply_n(cast.op, [t, dtype])


@composite("private", method=True)
def to(self: Tensor, *args: object, dtype: Any = None, device: DeviceLike | None = None,
       non_blocking: bool = False,
       copy: bool = False, memory_format: memory_format | None = None,
       other: Any = None) -> Any:  # fmt: skip
    """This tensor with another type, on a device, or like another tensor.

    Raises:
        TypeError: for arguments that mean none of these.
    """
    if args:
        first = args[0]
        if len(args) == 1 and isinstance(first, D.dtype):
            dtype = first
        elif len(args) == 1 and (first is CPU or isinstance(first, str)):
            device = first
        elif len(args) == 1 and isinstance(first, TensorBase):
            other = first
        elif (
            1 < len(args) < 5 and (first is CPU or first is None)
            and (args[1] is None or isinstance(args[1], D.dtype))
            and all(flag is True or flag is False for flag in args[2:])
        ):  # fmt: skip
            device, dtype = first, args[1]
            copy = args[3] is True if len(args) == 4 else copy
        else:
            named = _name_arguments(args)
            dtype, device = named.get("dtype", dtype), named.get("device", device)
            copy, other = named.get("copy", copy), named.get("tensor", other)
    if isinstance(other, TensorBase):
        dtype, device = T.from_raw(other._raw.dtype), other.device  # type: ignore[attr-defined]
    elif other is not None:  # a number counts as a tensor of its own type
        dtype = _type_of_number(other)
    away = device is not None and on_meta(device)
    found = dtype if dtype is None or isinstance(dtype, D.dtype) else _find_dtype(dtype)
    if (device is not None or not self._plain) and away is not _meta.is_meta(self):
        if away:
            made = _drop_data(self, found)
            if memory_format is None or memory_format is preserve_format:
                return made
            return made.contiguous(memory_format=memory_format)
        if device is not None:
            raise NotImplementedError(_meta.NO_DATA)
    if memory_format is not None and memory_format is not preserve_format:
        return _convert_laid_out(self, found, memory_format, copy)
    result = self if found is None else convert_tensor(self, found)
    if result is self and copy:
        result = apply_n(cast.op, [self, T.from_raw(self._raw.dtype)])
    return result


def _name_arguments(args: tuple[object, ...]) -> dict[str, Any]:
    """What the positional arguments of `to` mean, by their names.

    Raises:
        TypeError, ValueError: where they mean nothing.
    """
    bound: list[tuple[Parameter, Any]] = []
    problem = complaint("method", "to", args, {}, bound)
    if problem is not None:
        raise problem
    return {p.name: value for p, value in bound}


def _type_of_number(value: object) -> D.dtype:
    """The type of the tensor that a number stands for; NumPy's count as integers or floats."""
    if T.is_integer_scalar(value):
        return D.int64
    return D.OF_PYTHON.get(_type(value), D.float64)


def _drop_data(t: Tensor, dtype: D.dtype | None) -> Any:
    """A tensor with data as one without: what `t.to("meta")` gives, recorded like any copy."""
    found = T.from_raw(t._raw.dtype) if dtype is None else dtype
    made: Any = _meta.without_data(meta_like(T.empty_like(t._raw, T.to_raw(found))))
    mode = current()
    if mode.grad and t.requires_grad and not T.is_discrete(made._raw.dtype):
        record(cast.op, [t, found], [t._raw], [made], 1, mode, None)
    return made


def _no_such_call(args: tuple[object, ...], named: str = "") -> str:
    given = ", ".join(errors.type_name(arg) for arg in args) + named
    rest = (
        "bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None)"
    )
    return (
        f"to() received an invalid combination of arguments - got ({given}), but expected "
        "one of:\n * "
        f"(torch.device device = None, torch.dtype dtype = None, {rest}\n * (torch.dtype dtype, "
        f"{rest}\n * (Tensor tensor, {rest}\n"
    )


def _find_dtype(dtype: D.dtype) -> D.dtype:
    """The dtype that a Python number type stands for.

    Raises:
        TypeError: for anything else.
    """
    if isinstance(dtype, D.dtype):
        return dtype
    if isinstance(dtype, _type) and dtype in D.OF_PYTHON:
        return D.OF_PYTHON[dtype]
    raise TypeError(_no_such_call((), f"dtype={errors.type_name(dtype)}, "))


def _convert_laid_out(
    t: Tensor, dtype: D.dtype | None, memory_format: MemoryFormat, copy: bool = False
) -> Tensor:
    """The tensor itself where its type and strides suggest what is asked, else a copy.

    Raises:
        RuntimeError: for a format of tensors of more or fewer dimensions.
    """
    own = T.from_raw(t._raw.dtype)
    given = contiguous_format
    if suggests_channels_last(t._raw):
        given = channels_last if t._raw.ndim == 4 else channels_last_3d
    if not copy and given is memory_format and (dtype is None or dtype is own):
        return t
    rank = _RANKS.get(memory_format)
    if rank is not None and t._raw.ndim != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {memory_format.name} format")
    return apply_n(cast_in_format.op, [t, dtype or own, memory_format])


_RANKS: Final = {channels_last: 4, channels_last_3d: 5}


def _caster(name: str, dtype: D.dtype) -> None:
    @asks
    def cast_to(self: Tensor, *, memory_format: memory_format | None = None) -> Tensor:
        if ALERTED and is_interposed():
            named = {} if memory_format is None else {"memory_format": memory_format}
            handled = call_whole(cast_to, (self,), named)
            if handled is not NOT_HANDLED:
                return handled
        if memory_format is None or memory_format is preserve_format:
            return convert_tensor(self, dtype)
        if _type(memory_format) is not MemoryFormat:
            raise misuse("method", name, (), {"memory_format": memory_format})
        return _convert_laid_out(self, dtype, memory_format)

    cast_to.__name__ = cast_to.__qualname__ = name
    cast_to.__doc__ = f"This tensor with elements of type {dtype.name}."
    composite("private", method=True, name=name)(cast_to)


for _name, _dtype in {
    "bool": D.bool_, "byte": D.uint8, "char": D.int8, "short": D.int16, "int": D.int32,
    "long": D.int64, "half": D.float16, "bfloat16": D.bfloat16, "float": D.float32,
    "double": D.float64, "cfloat": D.complex64, "cdouble": D.complex128, "chalf": D.complex32,
}.items():  # fmt: skip
    _caster(_name, _dtype)


@composite("private", method=True)
def cpu(self: Tensor, *, memory_format: memory_format | None = None) -> Tensor:
    """This tensor, which is on the CPU, in memory as asked.

    Raises:
        NotImplementedError: where it has no data.
    """
    if memory_format is None or memory_format is preserve_format:
        if not self._plain and _meta.is_meta(self):
            raise NotImplementedError(_meta.NO_DATA)
        return self
    if _type(memory_format) is not MemoryFormat:
        raise misuse("method", "cpu", (), {"memory_format": memory_format})
    return _convert_laid_out(self, None, memory_format)


@composite("private", method=True)
def cuda(self: Tensor, device: str | None = None, non_blocking: bool = False, *,
         memory_format: memory_format | None = None) -> Tensor:  # fmt: skip
    """Raises AssertionError: there is no CUDA here.

    Returns: nothing.
    Example:
        >>> torch.ones(1).cuda()
        Traceback (most recent call last):
        ...
        AssertionError: Torch not compiled with CUDA enabled
        ...
    """
    raise cuda_asked(device)


@composite("private", method=True)
def is_pinned(self: Tensor, device: str | None = None) -> bool:
    """False: there is no device to pin memory for.

    Parameters:
        device: deprecated; a kind of device.
    Shapes: any.
    Returns: bool: False.
    Raises: RuntimeError: for a device that isn't there.
    Example:
        >>> torch.ones(1).is_pinned()
        False
    """
    if device is not None:
        find_device(device)
        warn_of_pinning(4, "is_pinned")
    return False


@composite("private", method=True)
def type_as(self: Tensor, other: Any) -> Tensor:
    """This tensor with the element type of `other`."""
    return convert_tensor(self, T.from_raw(other._raw.dtype))


@composite("private", method=True)
def type(
    self: Tensor, dtype: Any = None, non_blocking: bool = False, *, memory_format: Any = None
) -> Any:
    """The name of this tensor's type; with an argument, the tensor converted to it.

    Raises:
        ValueError: for a name that is no tensor type.
    """
    if dtype is None:
        return T.type_name(self._raw.dtype)
    found = _of_type(self, dtype)
    if memory_format is None or memory_format is preserve_format:
        return found
    return found.contiguous(memory_format=memory_format)


def _of_type(self: Tensor, dtype: Any) -> Any:
    """The tensor converted to a dtype, or to the type of a class or name."""
    if isinstance(dtype, D.dtype):
        return convert_tensor(self, dtype)
    if TensorBase in getattr(dtype, "__mro__", ()) and not hasattr(dtype, "_type_text"):
        return convert_tensor(self, D.get_default_dtype())  # `x.type(torch.Tensor)`
    name = dtype if isinstance(dtype, str) else getattr(dtype, "_type_text", "")
    found = T.dtype_of_type_name(name)
    if found is None:
        if isinstance(dtype, _type):
            own = "" if dtype.__module__ == "builtins" else f"{dtype.__module__}."
            raise ValueError(f"invalid type: '{own}{dtype.__name__}'")
        if not isinstance(dtype, str):
            raise TypeError("dtype must be a type, str, or dtype object")
        if dtype.startswith("torch.cuda."):
            raise RuntimeError("Cannot initialize CUDA without ATen_cuda library.")
        raise ValueError(f"invalid type: '{dtype}'")
    return convert_tensor(self, found)


@composite("private", method=True)
def item(self: Tensor) -> Scalar:
    """The only element as a Python number.

    Raises:
        RuntimeError: where there are several elements, or none.
    """
    array = self._raw
    if array.size != 1:
        raise RuntimeError(errors.item_size(array.size))
    return T.number_of(_meta.elements(self))


@composite("private", method=True)
def tolist(self: Tensor) -> Any:
    """The elements as (nested lists of) Python numbers."""
    if not self._plain and _meta.is_meta(self):
        raise NotImplementedError(_meta.NO_DATA)
    if not self._plain and self.__class__._dispatches:
        kind = self.__class__.__name__
        raise RuntimeError(f".tolist() is not supported for tensor subclasses, got {kind}")
    return T.nested_list(self._raw)


@composite("private", method=True)
def numpy(self: Tensor, *, force: bool = False) -> Any:
    """The elements as an array that shares this tensor's memory.

    Raises:
        RuntimeError: for a tensor that requires grad, unless `force`.
        TypeError: for types that NumPy has not.
    """
    if self.requires_grad and not force and current().grad:
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    if not self._plain and self.__class__._dispatches:
        raise RuntimeError(".numpy() is not supported for tensor subclasses.")
    if not self._plain and _meta.is_meta(self):
        if force:
            raise NotImplementedError(_meta.NO_DATA)
        raise TypeError(
            "can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor "
            "to host memory first."
        )
    kind = T.from_raw(self._raw.dtype)
    if kind not in T.OF_NUMPY:
        raise TypeError(f"Got unsupported ScalarType {D.scalar_name(kind)}")
    return T.outside_view(self._raw)


@composite()
def result_type(tensor1: object, tensor2: object) -> D.dtype:
    """The dtype of the result of arithmetic on two operands (tensors or numbers)."""
    dims: D.dtype | None = None
    zero: D.dtype | None = None
    number: D.dtype | None = None
    for x in (tensor1, tensor2):
        if not isinstance(x, TensorBase):
            found = D.number_dtype(
                x if isinstance(x, (int, float, complex)) else T.python_number(x)
            )
            number = found if number is None else D.promote_types(number, found)
            continue
        found = T.from_raw(x._raw.dtype)
        if x._raw.ndim:
            dims = found if dims is None else D.promote_types(dims, found)
        else:
            zero = found if zero is None else D.promote_types(zero, found)
    return D.combine_levels(dims, zero, number)


@composite()
def promote_types(type1: D.dtype, type2: D.dtype) -> D.dtype:
    """The smallest dtype that holds both."""
    return D.promote_types(_find_dtype(type1), _find_dtype(type2))


@composite()
def can_cast(from_: D.dtype, to: D.dtype) -> bool:
    """Whether a result of one dtype may be written into a tensor of another."""
    return D.can_cast(_find_dtype(from_), _find_dtype(to))
