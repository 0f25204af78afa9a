"""Parameters and buffers whose shape isn't known yet: lazy modules materialise them."""

from typing import Any

from ..subclasses import without_rules
from ._ground import Tensor, dtypes, f
from .parameter import Parameter

__all__ = ["UninitializedBuffer", "UninitializedParameter", "UninitializedTensorMixin", "is_lazy"]

_ALLOWED = frozenset(
    {
        "__hash__", "__repr__", "__reduce_ex__", "to", "half", "float", "double", "char", "short",
        "int", "long", "bfloat16", "cuda", "cpu", "type", "copy_", "is_complex",
        "_to_copy", "alias", "is_floating_point", "size", "dim", "__get__", "__set__", "get_device",
    }
)  # fmt: skip


class UninitializedTensorMixin:
    """What a tensor without a shape can do: change dtype and device, and become a tensor."""

    _is_lazy = True
    cls_to_become: Any = None

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Gives the tensor a shape, and memory whose values are undefined; its class changes."""
        me: Any = self
        fresh = f.empty(
            shape,
            device=me.data.device if device is None else device,
            dtype=me.data.dtype if dtype is None else dtype,
        )
        me.__class__ = self.cls_to_become
        me._plain, me._layered = True, False
        me.data = fresh

    @property
    def shape(self) -> Any:
        """Raises RuntimeError: there is no shape yet."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. "
            "This error usually happens in `load_state_dict` when trying to load "
            "an uninitialized parameter into an initialized one. "
            "Call `forward` to initialize the parameters before accessing their attributes."
        )

    def share_memory_(self) -> Any:
        """Raises RuntimeError: there is nothing to share yet."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. "
            "Call `forward` to initialize the parameters before calling "
            "`module.share_memory()`."
        )

    def numel(self) -> Any:
        """Raises ValueError: nobody knows yet."""
        return self.__torch_function__(Tensor.numel, ())

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Raises ValueError: there is no tensor yet."""
        return self.__torch_function__(Tensor.requires_grad_, ())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        me: Any = self
        return (_rebuilt, (type(self), me.requires_grad, me.data.dtype))

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if getattr(func, "__name__", "") in _ALLOWED:
            return without_rules(cls, func, types, args, kwargs)
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {func}. "
            "This error happens when you are using a `LazyModule` or "
            f"explicitly manipulating `torch.nn.parameter.{cls.__name__}` "
            "objects. When using LazyModules Call `forward` with a dummy batch "
            "to initialize the parameters before calling torch functions"
        )


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter that gets its shape later, by `materialize`."""

    cls_to_become = Parameter

    def __new__(
        cls, requires_grad: bool = True, device: Any = None, dtype: Any = None
    ) -> "UninitializedParameter":
        made: Any = Tensor._make_subclass(cls, f.empty(0, device=device, dtype=dtype), requires_grad)
        return made  # type: ignore[no-any-return]

    def __deepcopy__(self, memo: dict[int, Any]) -> "UninitializedParameter":
        if id(self) in memo:
            return memo[id(self)]  # type: ignore[no-any-return]
        twin = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        memo[id(self)] = twin
        return twin


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer that gets its shape later, by `materialize`."""

    cls_to_become = Tensor

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Any = None,
        dtype: Any = None,
        persistent: bool = True,
    ) -> "UninitializedBuffer":
        made: Any = Tensor._make_subclass(cls, f.empty(0, device=device, dtype=dtype), requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made  # type: ignore[no-any-return]

    def __deepcopy__(self, memo: dict[int, Any]) -> "UninitializedBuffer":
        if id(self) in memo:
            return memo[id(self)]  # type: ignore[no-any-return]
        twin = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        memo[id(self)] = twin
        return twin


def is_lazy(param: Any) -> bool:
    """Whether a tensor has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)


def _rebuilt(kind: Any, requires_grad: bool, dtype: dtypes.dtype) -> Any:
    """What a pickled one comes back through."""
    return kind(requires_grad, None, dtype)
