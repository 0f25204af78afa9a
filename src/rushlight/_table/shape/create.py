"""Creation: tensors from Python values, from NumPy, and from nothing. No gradients pass here."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Final

from ..._array import types as T
from ..._array.memory.aliasing import number_types
from ..._array.memory.meta import MetaArray, meta_array
from ..._array.number import lone
from ..._array.shape import create as raw
from ..._array.shape.nested_sequences import array_of, infer, refuse_array
from ..._base import dtypes as D, errors
from ..._base.device import DEFAULTS, on_meta
from ..._base.lazy import later
from ..._core.mode import current
from ..._core.slow import read_by_python
from ..._core.storage import TensorBase, new_tensor
from ..._native.ufunc_loops import FRESH, sizes_of
from ..calls.argument_parser import is_number_tensor
from ..rows import meta as _meta
from ..rows.composite import POSITIONAL, composite
from ..rows.result_strides import steps_of
from ..rows.size_arguments import size_of as size_of
from ..rows.warn_once import say_once, warn_of_array

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..._array.annotations import Array
    from ..._base.annotations import AnyCallable, DeviceLike, Shape, TensorLike
    from ..._base.memory_format import layout, memory_format
    from ..._tensor.tensor import Tensor

batches = later("_array.memory.collation")


def finish(array: Array, requires_grad: bool) -> Any:
    """A tensor over a fresh array.

    Raises:
        RuntimeError: where gradients are asked of a type that has none.
    """
    t = new_tensor(array)
    if requires_grad or current().slow:
        _mark(t, requires_grad)
    return t


def is_usual() -> bool:
    """Whether tensors of floats are of float32, and on the CPU, if nobody says otherwise."""
    return not DEFAULTS.changed and D.get_default_dtype() is D.float32


def _mark(t: TensorBase, requires_grad: bool) -> None:
    if current().inference:
        t._inference = True
        t._plain = False
    if requires_grad:
        if T.is_discrete(t._raw.dtype):
            raise RuntimeError(errors.REQUIRES_GRAD_DTYPE.replace("only", "Only", 1))
        t._requires_grad = True


def finish_filled(array: Array, requires_grad: bool) -> TensorBase:
    """A tensor over a fresh array whose elements depend on numbers only."""
    t = new_tensor(array)
    mode = current()
    if requires_grad or mode.slow:
        _mark(t, requires_grad)
        if mode.recorder is not None:
            mode.recorder.note_fill(t)
    return t


def deliver(
    array: Any, out: Any, requires_grad: bool | None, by_count: bool = False, warns: bool = False
) -> Any:
    """A fresh array in `out` where that is given (resized where it must be), else in a tensor.

    A leaf that is given requires grad afterwards where `requires_grad` says so; None: as before.
    With `by_count` an `out` of as many elements keeps its shape; `warns`: of any other.
    """
    if out is None:
        return finish(array, bool(requires_grad))
    from ..rows.out_argument import place

    T.refuse_overlap(out._raw)
    if by_count and out._raw.size == array.size:
        array = array.reshape(out._raw.shape)
    elif warns and out._raw.size:
        warnings.warn(errors.another_count(out._raw.shape, out._raw.size, array.size), stacklevel=4)
    if out._raw.shape != array.shape:
        made = meta_array if type(out._raw) is MetaArray else T.empty
        out._raw = made(array.shape, out._raw.dtype)
    place(out, array)
    if requires_grad and T.is_discrete(out._raw.dtype):
        raise RuntimeError(errors.REQUIRES_GRAD_DTYPE.replace("only", "Only", 1))
    if requires_grad is not None and out._node is None and out._requires_grad != requires_grad:
        out.requires_grad_(requires_grad)
    return out


def type_for(out: Tensor | None, dtype: D.dtype | type | None) -> Any:
    """The dtype to compute in: that of `out`, which an explicit one must equal."""
    if out is None:
        return dtype
    have = T.from_raw(out._raw.dtype)
    if dtype is not None and dtype_or_default(dtype) is not have:
        names = [D.scalar_name(d) for d in (dtype_or_default(dtype), have)]
        raise RuntimeError(f"dtype {names[0]} does not match dtype of out parameter ({names[1]})")
    return have


def dtype_or_default(dtype: object, name: str = "") -> D.dtype:
    """The dtype asked for, or the default floating type.

    Raises:
        TypeError: for anything that is neither a dtype nor a Python number type.
    """
    if dtype is None:
        return D.get_default_dtype()
    if isinstance(dtype, D.dtype):
        return dtype
    if isinstance(dtype, type) and dtype in D.OF_PYTHON:
        return D.OF_PYTHON[dtype]
    argument = f"{name}(): argument 'dtype'" if name else "dtype"
    raise TypeError(f"{argument} must be torch.dtype, not {errors.type_name(dtype)}")


def _look_at(device: Any, convert: Callable[[], object]) -> bool:
    """`on_meta` for data: what is wrong with these is told before that there is no CUDA."""
    try:
        return on_meta(device)
    except AssertionError:
        convert()
        raise


_USUAL: Final = frozenset({list, tuple, int, float, bool, T.ndarray})


@composite()
def tensor(data: object, *, dtype: D.dtype | None = None, device: DeviceLike | None = None,
           requires_grad: bool = False, pin_memory: bool = False) -> Tensor:  # fmt: skip
    """A new tensor with the elements of `data`: a number, nested sequence, array or tensor."""
    if isinstance(data, TensorBase):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach()"
            ".clone() or sourceTensor.detach().clone().requires_grad_(True), rather than "
            "torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
        nowhere = on_meta(device)
        if _meta.is_meta(data):
            return copy_meta(data, dtype, device, requires_grad)
    else:
        nowhere = _look_at(device, lambda: tensor(data, dtype=dtype))
    found = None if dtype is None else dtype_or_default(dtype, "tensor")
    if type(data) not in _USUAL and hasattr(type(data), "_tensor_over"):
        made = over_storage(data, found).requires_grad_(requires_grad)
        return _meta.strip_data(made) if nowhere else made
    made = finish(array_of(data, found, warn_of_array), requires_grad)
    return _meta.strip_data(made) if nowhere else made


def _tensor_plainly(*args: Any) -> object:
    """`tensor` for numbers in sequences."""
    if len(args) == 1 and (type(args[0]) is list or type(args[0]) is tuple) and is_usual():
        made = FRESH.numbers(args[0], None)  # type: ignore[union-attr]
        if made is not None:
            return finish(made, False)
    return tensor(*args)


if FRESH is not None:
    POSITIONAL[tensor] = _tensor_plainly


def copy_meta(data: Any, dtype: object, device: DeviceLike | None, requires_grad: bool) -> Any:
    """What `tensor` makes of one without data: another.

    Raises:
        NotImplementedError: where that should have data.
    """
    if device is not None and not on_meta(device):
        raise NotImplementedError(_meta.NO_DATA)
    found = None if dtype is None else dtype_or_default(dtype)
    return _meta.empty_meta_like(data, found, True, requires_grad)


@composite()
def as_tensor(data: object, dtype: D.dtype | None = None, device: DeviceLike | None = None) -> Any:
    """`data` as a tensor: itself where it is one, sharing memory where it is an array."""
    nowhere = _look_at(device, lambda: as_tensor(data, dtype))
    if nowhere or _meta.is_meta(data):
        if not isinstance(data, TensorBase):
            return tensor(data, dtype=dtype, device="meta")
        return data.to("meta" if device is None else device, dtype)  # type: ignore[attr-defined]
    if isinstance(data, TensorBase):
        if dtype is None or T.from_raw(data._raw.dtype) is dtype:
            return data
        return data.to(dtype)  # type: ignore[attr-defined]
    if isinstance(data, T.ndarray):
        t = from_numpy(data)
        return t if dtype is None else t.to(dtype_or_default(dtype, "as_tensor"))
    return tensor(data, dtype=dtype, device="cpu" if device is None else device)


@composite()
def asarray(obj: Any, *, dtype: Any = None, device: DeviceLike | None = None,
            copy: bool | None = None,
            requires_grad: bool | None = None) -> Tensor:  # fmt: skip
    """`obj` as a tensor, sharing memory unless `copy` or a conversion prevents it.

    Bytes (a storage, what has the buffer protocol) are read as elements of the type. A tensor that
    requires gradients is recorded on, unless `requires_grad` is False.
    """
    dtype = D.OF_PYTHON.get(dtype, dtype)
    if batches.is_array(obj) and not batches.is_whole(obj):
        if copy is False:
            raise RuntimeError(
                "can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray. "
            )
        obj = T.as_array(obj)
    elif not isinstance(obj, (TensorBase, T.ndarray, list, tuple, int, float, complex)):
        obj = _over_memory(obj, dtype)
    if copy is False:
        _refuse_copy(obj, dtype, device)
    elif copy and isinstance(obj, T.ndarray) and not obj.ndim:
        _refuse_cast(T.from_raw(obj.dtype), dtype)
    if not isinstance(obj, TensorBase):
        # An array without dimensions is a number to PyTorch, which it copies.
        alone = isinstance(obj, T.ndarray) and not obj.ndim
        make: Any = tensor if copy or alone else as_tensor
        made = make(obj, dtype=dtype, device=device)
    else:
        source: Any = obj
        if requires_grad is None and source.requires_grad:
            _warn_of_history()
            requires_grad = True  # also of a view that was taken where nothing is recorded
        made = as_tensor(source.clone() if copy else source, dtype, device)
        if made._requires_grad and requires_grad is False:
            return made.requires_grad_(False) if made is source and made.is_leaf else made.detach()
    if requires_grad and not made._requires_grad:
        if T.is_discrete(made._raw.dtype):
            raise RuntimeError(errors.REQUIRES_GRAD_DTYPE.replace("only", "Only", 1))
        made.requires_grad_()
    return made


def _warn_of_history() -> None:
    import warnings

    warnings.warn(
        "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of "
        "False. Pass requires_grad=False explicitly to get the old behavior and silence this "
        "warning.",
        UserWarning,
        stacklevel=3,
    )


def _refuse_copy(obj: Any, dtype: D.dtype | None, device: DeviceLike | None) -> None:
    """Refuses what can only be copied.

    Raises:
        ValueError: in PyTorch's words.
    """
    if not isinstance(obj, (TensorBase, T.ndarray)):
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    have = obj.device if isinstance(obj, TensorBase) else "cpu"  # type: ignore[attr-defined]
    if device is not None and on_meta(device) != (str(have) == "meta"):
        raise ValueError(f"can't alias tensor from device '{have}' to '{device}'.")
    _refuse_cast(T.from_raw(obj._raw.dtype if isinstance(obj, TensorBase) else obj.dtype), dtype)


def _refuse_cast(own: D.dtype, dtype: D.dtype | None) -> None:
    if dtype is not None and dtype is not own:
        raise ValueError(
            f"can't alias tensor with dtype '{D.scalar_name(own)}' into dtype "
            f"'{D.scalar_name(dtype)}'."
        )


def over_storage(storage: Any, dtype: D.dtype | None) -> Any:
    """A flat tensor over a storage, whose type is the one that is asked for, else the default.

    Raises:
        RuntimeError: for another type.
    """
    kind = getattr(storage, "dtype", None)
    if kind is not None:
        dtype = dtype_or_default(dtype)
        if dtype is not kind:
            raise RuntimeError(
                f"Expected a Storage of type {D.scalar_name(dtype)} or an UntypedStorage, but got "
                f"{D.scalar_name(kind)}"
            )
    return storage._tensor_over(dtype or D.int64)


def _over_memory(obj: Any, dtype: D.dtype | None) -> Any:
    """A tensor over the memory of an object; the object itself where it doesn't give any."""
    if hasattr(type(obj), "_tensor_over"):
        return over_storage(obj, dtype)
    if isinstance(obj, number_types):  # NumPy's have a buffer too
        return obj
    try:
        memoryview(obj)
    except TypeError:
        from ..._array.memory import dlpack

        return finish(dlpack.array_from(obj, False, None), False) if dlpack.is_given(obj) else obj
    return frombuffer(obj, dtype=dtype_or_default(dtype))


@composite()
def from_numpy(*ndarray: object, **none: object) -> Tensor:
    """A tensor that shares an array's memory.

    Raises:
        TypeError: for anything but an array of a type that tensors have.
        ValueError: for an array with negative strides.
    """
    if none or len(ndarray) != 1:
        given = "no keyword arguments" if none else f"exactly one argument ({len(ndarray)} given)"
        raise TypeError(f"torch._VariableFunctionsClass.from_numpy() takes {given}")
    (array,) = ndarray
    if not isinstance(array, T.ndarray):
        raise TypeError(f"expected np.ndarray (got {errors.type_name(array)})")
    refuse_array(array)
    return finish(T.plain_array(array), False)


def _make_filled(name: str, fill: AnyCallable) -> AnyCallable:
    def make(*size: object, out: Tensor | None = None, dtype: D.dtype | type | None = None,
             layout: layout | None = None, device: DeviceLike | None = None,
             requires_grad: bool = False, pin_memory: bool = False,
             memory_format: memory_format | None = None,
             **kwargs: object) -> TensorLike | None:  # fmt: skip
        nowhere = on_meta(device, out)
        if "size" in kwargs and not size:
            size = (kwargs.pop("size"),)
        if kwargs:
            raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(kwargs))}'")
        if not size:
            raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
        found = dtype_or_default(dtype if out is None else type_for(out, dtype), name)
        shape = size_of(name, size, None if name == "empty" else out)
        steps = steps_of(name, shape, memory_format, out) if memory_format is not None else None
        if nowhere and out is None:
            if steps is not None:
                return _meta.empty_strided_meta(shape, steps, found, requires_grad)
            return _meta.empty_meta(shape, found, requires_grad)
        if steps is not None:
            return finish(raw.empty_strided(shape, steps, found), requires_grad)
        return deliver(fill(shape, found), out, requires_grad)

    def make_plainly(*size: object) -> TensorLike | None:
        shape = sizes_of(size)
        if shape is None or DEFAULTS.changed:
            return make(*size)
        try:
            made = fill(shape, D.get_default_dtype())
        except Exception:
            return make(*size)  # says what is wrong
        return finish(made, False)

    make.__name__ = make.__qualname__ = name
    POSITIONAL[make] = make_plainly
    return make


zeros = composite(name="zeros")(_make_filled("zeros", raw.zeros))
ones = composite(name="ones")(_make_filled("ones", raw.ones))
empty = composite(name="empty")(_make_filled("empty", raw.empty))
zeros.__doc__ = "A tensor of zeros of the given size."
ones.__doc__ = "A tensor of ones of the given size."
empty.__doc__ = "A tensor of the given size whose elements are not set."


@composite()
def empty_strided(
    size: Any,
    stride: Shape,
    *,
    dtype: D.dtype | None = None,
    layout: object = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of a size with strides of one's own, whose elements are not set."""
    shape, steps = size_of("empty_strided", (size,)), tuple(stride)
    if on_meta(device):
        return _meta.empty_strided_meta(shape, steps, dtype_or_default(dtype), requires_grad)
    return finish(raw.empty_strided(shape, steps, dtype_or_default(dtype)), requires_grad)


@composite("private", method=True)
def new_empty_strided(self: Tensor, size: int | Sequence[int] | None,
                      stride: Shape, *, dtype: D.dtype | None = None,
                      layout: layout | None = None, device: DeviceLike | None = None,
                      requires_grad: bool = False, pin_memory: bool = False) -> Tensor:  # fmt: skip
    """A tensor of a size with strides of one's own, of this tensor's type unless told."""
    found = T.from_raw(self._raw.dtype) if dtype is None else dtype
    place = "meta" if _meta.beside(self, device) else device
    return empty_strided(size, stride, dtype=found, device=place, requires_grad=requires_grad)


@composite()
def empty_permuted(size: Any, physical_layout: Shape, *, dtype: D.dtype | None = None,
                   layout: object = None, device: DeviceLike | None = None,
                   requires_grad: bool = False, pin_memory: bool = False) -> Tensor:  # fmt: skip
    """A tensor of a size whose dimensions lie in memory in the order `physical_layout`.

    Raises:
        RuntimeError: where the order isn't a permutation of the dimensions.
    """
    nowhere = on_meta(device)
    shape, order = size_of("empty_permuted", (size,)), tuple(physical_layout)
    if len(order) != len(shape):
        raise RuntimeError(
            f"Number of dimensions in size does not match the length of the physical_layout; "
            f"i.e. len(size) = {len(shape)} is not equal to len(physical_layout) = {len(order)}"
        )
    for d in order:
        if not 0 <= d < len(shape):
            raise RuntimeError(
                f"Dimension out of range (expected to be between 0 and {len(shape) - 1}, but got "
                f"{d} at index {order.index(d)}).  NB: negative dims not currently supported; file "
                "an issue if you want it."
            )
        if order.count(d) > 1:
            raise RuntimeError("Duplicate dim not allowed")
    steps, n = [0] * len(shape), 1
    for d in reversed(order):
        steps[d] = n
        n *= max(shape[d], 1)
    if nowhere:
        return _meta.empty_strided_meta(shape, steps, dtype_or_default(dtype), requires_grad)
    return finish(raw.empty_strided(shape, tuple(steps), dtype_or_default(dtype)), requires_grad)


@composite()
def frombuffer(buffer: Any, *, dtype: D.dtype, count: int = -1, offset: int = 0,
               requires_grad: bool = False) -> Tensor:  # fmt: skip
    """A flat tensor that shares the memory of an object with the buffer protocol.

    Raises:
        ValueError: for an object without it, and for counts and offsets beyond its end.
    """
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    if view.readonly:
        say_once(
            "read-only buffer",
            "The given buffer is not writable, and PyTorch does not support non-writable "
            "tensors. This means you can write to the underlying (supposedly non-writable) buffer "
            "using the tensor. You may want to copy the buffer to protect its data or make it "
            "writable before converting it to a tensor. This type of warning will be suppressed "
            "for the rest of this program.",
        )
    array = raw.from_buffer(view, dtype_or_default(dtype), count, offset)
    return finish(array, requires_grad)


_NUMBERS: Final = frozenset({bool, int, float})


def _number(name: str, argument: str, place: int, value: Any) -> Any:
    """A Python number of what may stand for one.

    Raises:
        TypeError: for anything else.
    """
    if type(value) in _NUMBERS:
        return value
    if is_number_tensor(value):
        value = read_by_python(value, f"{name}()").item()
    if not T.is_number(value):
        raise TypeError(
            f"{name}(): argument '{argument}' (position {place}) must be Number, not "
            f"{errors.type_name(value)}"
        )
    return raw.python_kind(value)


@composite()
def full(
    size: Any,
    fill_value: Any,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: object = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """A tensor of the given size filled with one value, whose kind gives the default dtype."""
    nowhere = on_meta(device, out)
    value = _number("full", "fill_value", 2, fill_value)
    dtype = type_for(out, dtype)
    if dtype is not None:
        found = dtype_or_default(dtype)
    elif isinstance(value, complex):  # of single precision where the default type is half
        found = D.complex128 if D.get_default_dtype() is D.float64 else D.complex64
    else:
        found = infer(value)
    if nowhere and out is None:
        return _meta.empty_meta(size_of("full", (size,)), found, requires_grad)
    array = raw.full(size_of("full", (size,), out), value, found)
    return deliver(array, out, requires_grad)


def _full_plainly(*args: Any) -> object:
    """`full` for a size and a number."""
    if len(args) == 2 and type(args[1]) in _NUMBERS and not DEFAULTS.changed:
        shape = sizes_of(args[:1]) if isinstance(args[0], (tuple, list)) else None
        if shape is not None:
            made = FRESH.filled(shape, args[1]) if FRESH is not None and is_usual() else None
            if made is not None:
                return finish(made, False)
            try:
                return finish(raw.full(shape, args[1], infer(args[1])), False)
            except Exception:
                return full(*args)  # says what is wrong
    return full(*args)


POSITIONAL[full] = _full_plainly


@composite()
def eye(
    n: int,
    m: int | None = None,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: object = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """Ones on the diagonal of an n × m matrix of zeros."""
    nowhere = on_meta(device, out)
    if n < 0:
        raise RuntimeError(f"n must be greater or equal to 0, got {n}")
    if m is not None and m < 0:
        raise RuntimeError(f"m must be greater or equal to 0, got {m}")
    found, width = dtype_or_default(type_for(out, dtype)), n if m is None else m
    if nowhere and out is None:
        return _meta.empty_meta((n, width), found, requires_grad)
    array = raw.eye(n, width, found)
    return deliver(array, out, requires_grad)


def _eye_plainly(*args: Any) -> object:
    """`eye` for a size."""
    if len(args) == 1 and is_usual():
        made = FRESH.eye(args[0])  # type: ignore[union-attr]
        if made is not None:
            return finish(made, False)
    return eye(*args)


if FRESH is not None:
    POSITIONAL[eye] = _eye_plainly


@composite()
def scalar_tensor(s: Any, *, dtype: Any = None, layout: object = None, device: Any = None,
                  requires_grad: bool = False) -> Any:  # fmt: skip
    """A tensor without dimensions holding one number, of the default float type."""
    s = _number("scalar_tensor", "s", 1, s)
    if on_meta(device):
        return _meta.empty_meta((), dtype_or_default(dtype), requires_grad)
    return finish(lone(s, T.to_raw(dtype_or_default(dtype))), requires_grad)
