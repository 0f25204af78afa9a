"""Tensors that are made like others: of their shape, type and memory format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..._array import types as T
from ..._array.shape import create as raw
from ..._array.shape.nested_sequences import array_of
from ..._base import dtypes as D, errors
from ..._core.interposers import CALL_KIND, NOT_HANDLED
from ..._core.storage import TensorBase
from ..rows import meta as _meta
from ..rows.composite import composite
from ..rows.result_strides import array_like, empty_on_meta_like
from ..rows.size_arguments import size_of
from ..rows.warn_once import warn_of_array
from .create import _look_at, _number, dtype_or_default, finish, finish_filled, over_storage

if TYPE_CHECKING:
    from ..._base.annotations import Scalar
    from ..._base.memory_format import memory_format
    from ..._tensor.tensor import Tensor

#: Which function makes such elements, of which PyTorch's formulas ask the one with fewer arguments.
_BY_FILL: Final[dict[object, str]] = {None: "empty_like", 0: "zeros_like", 1: "ones_like"}


def _of_batch(kind: str, name: str, t: TensorBase, args: tuple[object, ...],
              dtype: D.dtype) -> object:  # fmt: skip
    """What is like a batch; NOT_HANDLED for what is none.

    The function of the name hears of a vmap that is open. Here the engine has left it, as it does
    for the gradients of batches.
    """
    if t._layered:
        for interposer in CALL_KIND:
            handled = interposer.call_kind(kind, name, _of_batch, (t, *args), {"dtype": dtype})
            if handled is not NOT_HANDLED:
                return handled
    return NOT_HANDLED


def _of_special(t: Any, fill: object, dtype: D.dtype, device: Any, wanted: object,
                requires_grad: bool) -> Any:  # fmt: skip
    """What is like a tensor where that, or the result, has no data or isn't dense; else None."""
    if t.is_sparse:
        if wanted is not None:
            raise RuntimeError("memory format option is only supported by strided tensors")
        return t._blank(dtype, fill)
    if _meta.beside(t, device):
        return empty_on_meta_like(t, dtype, wanted, requires_grad)
    name = _BY_FILL.get(fill, "full_like")
    made = _of_batch("like", name, t, () if fill in _BY_FILL else (fill,), dtype)
    return None if made is NOT_HANDLED else made


def _filled_like(input: TensorBase, fill: Scalar | None, dtype: object, device: object,
                 wanted: memory_format | None, requires_grad: bool) -> Any:  # fmt: skip
    """`fill` (None: nothing) in every element of a tensor like `input`."""
    found = T.from_raw(input._raw.dtype) if dtype is None else dtype_or_default(dtype)
    if device is not None or not input._plain:
        like = _of_special(input, fill, found, device, wanted, requires_grad)
        if like is not None:
            return like
    return finish_filled(array_like(input, found, fill, wanted), requires_grad)


def _like(name: str, fill: Scalar | None) -> Any:
    def make(
        input: Any,
        *,
        dtype: Any = None,
        layout: object = None,
        device: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
        memory_format: Any = None,
    ) -> Any:
        if not isinstance(input, TensorBase):
            raise TypeError(
                f"{name}(): argument 'input' (position 1) must be Tensor, not "
                f"{errors.type_name(input)}"
            )
        if dtype is None and device is None and memory_format is None and input._plain:
            return finish_filled(alike(input._raw), requires_grad)
        return _filled_like(input, fill, dtype, device, memory_format, requires_grad)

    alike = raw.unset_alike if fill is None else raw.ALIKE[fill]
    make.__name__ = make.__qualname__ = name
    return make


zeros_like = composite(name="zeros_like")(_like("zeros_like", 0))
ones_like = composite(name="ones_like")(_like("ones_like", 1))
empty_like = composite(name="empty_like")(_like("empty_like", None))
zeros_like.__doc__ = "Zeros shaped, typed and laid out like `input`."
ones_like.__doc__ = "Ones shaped, typed and laid out like `input`."
empty_like.__doc__ = "Unset elements shaped, typed and laid out like `input`."


@composite()
def full_like(
    input: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: object = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
    pin_memory: bool = False,
) -> Any:
    """One value in the shape, type and layout of `input`."""
    fill_value = _number("full_like", "fill_value", 2, fill_value)
    return _filled_like(input, fill_value, dtype, device, memory_format, requires_grad)


def _new(name: str, fill: Any) -> Any:
    def make(
        self: Any,
        *size: Any,
        dtype: Any = None,
        device: Any = None,
        layout: object = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
        **kwargs: Any,
    ) -> Any:
        if "size" in kwargs:
            size = (kwargs.pop("size"),)
        found = T.from_raw(self._raw.dtype) if dtype is None else dtype_or_default(dtype)
        nowhere = _meta.beside(self, device)
        shape = size_of(name, size)
        answer = _meta.ask_classes(name, self, list(shape))
        if answer is NOT_HANDLED:
            answer = _of_batch("new", name, self, (shape,), found)
        if answer is not NOT_HANDLED:
            return answer
        if nowhere:
            return _meta.empty_meta(shape, found, requires_grad)
        return finish_filled(fill(shape, found), requires_grad)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"`{name.removeprefix('new_')}` of a size, with this tensor's type by default."
    return composite("private", method=True, name=name)(make)


new_zeros = _new("new_zeros", raw.zeros)
new_ones = _new("new_ones", raw.ones)
new_empty = _new("new_empty", raw.empty)


@composite("private", method=True)
def new_full(
    self: Any,
    size: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    layout: object = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """A tensor of a size filled with one value, with this tensor's type by default."""
    found = T.from_raw(self._raw.dtype) if dtype is None else dtype_or_default(dtype)
    value = _number("new_full", "fill_value", 2, fill_value)
    shape = size_of("new_full", (size,))
    if _meta.beside(self, device):
        return _meta.empty_meta(shape, found, requires_grad)
    made = _of_batch("new", "new_full", self, (shape, value), found)
    if made is not NOT_HANDLED:
        return made
    return finish_filled(raw.full(shape, value, found), requires_grad)


@composite("private", method=True, name="new_tensor")
def new_tensor_(self: Tensor, data: object, *, dtype: Any = None, device: Any = None,
                requires_grad: bool = False, pin_memory: bool = False) -> Tensor:  # fmt: skip
    """A tensor with the elements of `data`, with this tensor's type by default."""
    if isinstance(data, TensorBase):
        import warnings

        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach()"
            ".clone() or sourceTensor.detach().clone().requires_grad_(True), rather than "
            "tensor.new_tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
    found = T.from_raw(self._raw.dtype) if dtype is None else dtype_or_default(dtype)
    if hasattr(type(data), "_tensor_over"):
        return over_storage(data, found).requires_grad_(requires_grad)
    _look_at(device, lambda: array_of(data, found, warn_of_array))
    nowhere = _meta.beside(self, device)
    made = finish(array_of(data, found, warn_of_array), requires_grad)
    return _meta.strip_data(made) if nowhere else made
