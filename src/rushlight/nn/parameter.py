"""Parameters and buffers: tensors that a module registers when they are assigned to it."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Self, SupportsIndex

from .._base import errors
from .._tensor.torch_function import without_rules
from ._ground import Tensor, f, preserve_format

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._base.annotations import AnyCallable, DeviceLike, Shape
    from .._base.dtypes import dtype
    from .._base.size import Size


__all__ = [
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "UninitializedTensorMixin",
    "is_lazy",
]


class _ParameterMeta(type(Tensor)):  # type: ignore[misc]
    """Lets a tensor of another class count as a parameter once it carries `_is_param`."""

    def __instancecheck__(cls, instance: object) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        return (
            cls is Parameter
            and isinstance(instance, Tensor)
            and bool(getattr(instance, "_is_param", False))
        )


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that a module lists among its parameters when it becomes the module's attribute.

    `data` is shared, not copied. Parameters require gradients unless `requires_grad=False`, in
    `no_grad` blocks too.

    Raises: AttributeError, if `data` isn't a tensor; RuntimeError, if an integer tensor should
    require gradients.
    """

    _printed_as_tensor = True
    __torch_function__ = classmethod(without_rules)

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        made: Any
        if data is None:
            data = f.empty(0)
        if type(data) is Tensor or type(data) is Parameter:
            made = Tensor._make_subclass(cls, data, requires_grad)
            return made
        if errors.is_pytorchs(type(data)):
            raise TypeError(errors.no_tensor("Parameter", "data", data))
        # A tensor class of the user's own keeps its class and is only marked as a parameter.
        own: Any = data.detach().requires_grad_(requires_grad)
        if type(own) is not type(data):
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {type(data).__name__} "
                "requires that detach() returns an instance of the same type, but return "
                f"type {type(own).__name__} was found instead. To use the type as a "
                "Parameter, please correct the detach() semantics defined by "
                "its __torch_dispatch__() implementation."
            )
        made = own
        made._is_param = True
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) in memo:
            return memo[id(self)]
        twin = type(self)(self.data.clone(memory_format=preserve_format), self.requires_grad)
        memo[id(self)] = twin
        return twin

    # mypy forgets the parameter names of special methods, and then takes the two to differ.
    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]
        return "Parameter containing:\n" + super().__repr__()

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        state = dict(vars(self))
        # Hooks are live objects of this process: files hold the slot, and it is empty.
        if not state:
            return (_rebuild_parameter, (self.data, self.requires_grad, OrderedDict()))
        return (
            _rebuild_parameter_with_state,
            (self.data, self.requires_grad, OrderedDict(), state),
        )


def _rebuild_parameter(
    data: Tensor, requires_grad: bool, backward_hooks: OrderedDict[int, object]
) -> Parameter:
    """What a pickled parameter comes back through."""
    parameter = Parameter(data, requires_grad)
    if backward_hooks:
        parameter._backward_hooks = backward_hooks
    return parameter


def _rebuild_parameter_with_state(
    data: Tensor,
    requires_grad: bool,
    backward_hooks: OrderedDict[int, object],
    state: dict[str, object],
) -> Parameter:
    """What a pickled parameter with attributes of its own comes back through."""
    parameter = _rebuild_parameter(data, requires_grad, backward_hooks)
    vars(parameter).update(state)
    return parameter


class _BufferMeta(type(Tensor)):  # type: ignore[misc]
    """Makes `isinstance(tensor, Buffer)` ask for the mark that `Buffer(…)` leaves."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and bool(getattr(instance, "_is_buffer", False))


class Buffer(Tensor, metaclass=_BufferMeta):
    """A plain tensor, marked so that assigning it to a module registers it as a buffer.

    `persistent=False` keeps it out of the module's `state_dict()`.
    """

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        if data is None:
            data = f.empty(0)
        marked: Any = data.detach().requires_grad_(data.requires_grad)
        marked.persistent = persistent
        marked._is_buffer = True
        return marked


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

    def materialize(
        self, shape: Shape, device: DeviceLike | None = None, dtype: dtype | None = None
    ) -> None:
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
    def shape(self) -> Size:
        """Raises RuntimeError: there is no shape yet."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. "
            "This error usually happens in `load_state_dict` when trying to load "
            "an uninitialized parameter into an initialized one. "
            "Call `forward` to initialize the parameters before accessing their attributes."
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        me: Any = self
        if id(me) in memo:
            return memo[id(me)]
        twin = type(me)(me.requires_grad, me.data.device, me.data.dtype)
        memo[id(me)] = twin
        return twin

    def _converted(self, fn: AnyCallable) -> Tensor:
        """One of the same kind, with the dtype that `fn` gives it: what `Module.to` puts in."""
        me: Any = self
        return type(me)(me.requires_grad, None, fn(me.data).dtype)

    def share_memory_(self) -> Self:
        """Raises RuntimeError: there is nothing to share yet."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. "
            "Call `forward` to initialize the parameters before calling "
            "`module.share_memory()`."
        )

    def numel(self) -> int:
        """Raises ValueError: nobody knows yet."""
        return self.__torch_function__(Tensor.numel, ())

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Raises ValueError: there is no tensor yet."""
        return self.__torch_function__(Tensor.requires_grad_, ())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        me: Any = self
        return type(self), (me.requires_grad, None, me.data.dtype)

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., object],
        types: Sequence[type],
        args: Sequence[object] = (),
        kwargs: dict[str, object] | None = None,
    ) -> Any:
        if getattr(func, "__name__", "") in _ALLOWED:
            return without_rules(cls, func, types, args, kwargs)
        name = getattr(func, "__name__", func)
        raise ValueError(
            "Attempted to use an uninitialized parameter in "
            f"<method '{name}' of 'torch._C.TensorBase' objects>. "
            "This error happens when you are using a `LazyModule` or "
            f"explicitly manipulating `torch.nn.parameter.{cls.__name__}` "
            "objects. When using LazyModules Call `forward` with a dummy batch "
            "to initialize the parameters before calling torch functions"
        )


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[misc]
    """A parameter that gets its shape later, by `materialize`."""

    cls_to_become = Parameter

    def __new__(
        cls,
        requires_grad: bool = True,
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
    ) -> UninitializedParameter:
        empty = f.empty(0, device=device, dtype=dtype)
        return Tensor._make_subclass(cls, empty, requires_grad)


class UninitializedBuffer(UninitializedTensorMixin, Tensor):  # type: ignore[misc]
    """A buffer that gets its shape later, by `materialize`."""

    cls_to_become = Tensor

    def __new__(
        cls,
        requires_grad: bool = False,
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
        persistent: bool = True,
    ) -> UninitializedBuffer:
        empty = f.empty(0, device=device, dtype=dtype)
        made: Any = Tensor._make_subclass(cls, empty, requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made


def is_lazy(param: object) -> bool:
    """Whether a tensor has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)
