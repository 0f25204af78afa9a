"""Old-style constructors: `Tensor(3, 5)`, `FloatTensor([1, 2])`, and type checks against them."""

from __future__ import annotations

from typing import Any, Final

from . import dtypes as D
from ._array import create as raw
from ._array import types as T
from ._core.storage import TensorBase, init_tensor
from .ops.create import size_of
from .tensor import Tensor


def legacy_array(dtype: D.dtype, args: tuple[Any, ...]) -> Any:
    """The array that an old-style constructor makes: of a size, or of a sequence's elements.

    Raises:
        TypeError: for arguments that are neither.
    """
    if not args:
        return raw.empty((0,), dtype)
    first = args[0]
    if len(args) == 1:
        if isinstance(first, TensorBase):
            if T.from_raw(first._raw.dtype) is not dtype:
                raise TypeError(
                    f"expected {D.scalar_name(dtype)} (got {D.scalar_name(T.from_raw(first._raw.dtype))})"
                )
            return first._raw
        if type(first).__name__ == "Size":
            return raw.empty(tuple(first), dtype)
        if isinstance(first, (list, tuple)) or isinstance(first, T.ndarray):
            return raw.array_of(first, dtype)
    if all(isinstance(a, int) or T.is_integer_scalar(a) for a in args):
        return raw.empty(size_of("new", args), dtype)
    if isinstance(first, str):
        raise TypeError("new(): invalid data type 'str'")
    raise TypeError(f"new(): data must be a sequence (got {type(first).__name__})")


def _new(cls: Any, *args: Any, dtype: Any = None, device: Any = None, **kwargs: Any) -> Any:
    made = TensorBase.__new__(cls)
    init_tensor(made, legacy_array(dtype or D.get_default_dtype(), args))
    made._plain = not getattr(cls, "_overrides", False)
    made._layered = not made._plain
    return made


def _init(self: Any, *args: Any, **kwargs: Any) -> None:
    """Nothing: `__new__` has made the tensor."""


def _make_subclass(cls: Any, data: Any, require_grad: bool = False, **kwargs: Any) -> Any:
    """A tensor of class `cls` over the memory of `data`, detached."""
    made = TensorBase.__new__(cls)
    init_tensor(made, data._raw)
    made._requires_grad = require_grad
    made._plain = not getattr(cls, "_overrides", False)
    made._layered = not made._plain
    return made


def as_subclass(self: Any, cls: Any) -> Any:
    """This tensor as an instance of a subclass, in the same place of the graph."""
    made = _make_subclass(cls, self)
    made._node, made._nr, made._requires_grad = self._node, self._nr, self._requires_grad
    return made


Tensor.__new__ = _new  # type: ignore[assignment]
Tensor.__init__ = _init  # type: ignore[method-assign]
Tensor._make_subclass = staticmethod(_make_subclass)  # type: ignore[attr-defined]
Tensor.as_subclass = as_subclass  # type: ignore[attr-defined]


class _TypedMeta(type):
    """Makes `isinstance(t, FloatTensor)` ask for the element type."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, TensorBase) and T.from_raw(instance._raw.dtype) is cls.dtype  # type: ignore[attr-defined]

    def __repr__(cls) -> str:
        return f"<class '{cls._type_text}'>"  # type: ignore[attr-defined]

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = TensorBase.__new__(Tensor)
        init_tensor(made, legacy_array(cls.dtype, args))  # type: ignore[attr-defined]
        return made


def _typed(dtype: D.dtype) -> Any:
    name = D.scalar_name(dtype) + "Tensor"
    return _TypedMeta(name, (), {"dtype": dtype, "_type_text": f"torch.{name}", "__module__": "torch"})


TYPES: Final[dict[str, Any]] = {
    D.scalar_name(d) + "Tensor": _typed(d)
    for d in (D.bool_, D.uint8, D.int8, D.int16, D.int32, D.int64, D.float16, D.bfloat16, D.float32,
              D.float64)
}  # fmt: skip
