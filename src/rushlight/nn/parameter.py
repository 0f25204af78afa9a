"""Parameters and buffers: tensors that a module registers when they are assigned to it."""

from collections import OrderedDict
from typing import Any

from ..subclasses import without_rules
from ._ground import Tensor, f, preserve_format

__all__ = ["Buffer", "Parameter"]


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

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> "Parameter":
        made: Any
        if data is None:
            data = f.empty(0)
        if type(data) is Tensor or type(data) is Parameter:
            made = Tensor._make_subclass(cls, data, requires_grad)
            return made  # type: ignore[no-any-return]
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
        return made  # type: ignore[no-any-return]

    def __deepcopy__(self, memo: dict[int, Any]) -> "Parameter":
        if id(self) in memo:
            return memo[id(self)]  # type: ignore[no-any-return]
        twin = type(self)(self.data.clone(memory_format=preserve_format), self.requires_grad)
        memo[id(self)] = twin
        return twin

    # mypy forgets the parameter names of special methods, and then takes the two to differ.
    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return "Parameter containing:\n" + super().__repr__()

    def __reduce_ex__(self, protocol: Any) -> Any:
        state = dict(vars(self))
        # Hooks are live objects of this process: files hold the slot, and it is empty.
        if not state:
            return (_rebuild_parameter, (self.data, self.requires_grad, OrderedDict()))
        return (
            _rebuild_parameter_with_state,
            (self.data, self.requires_grad, OrderedDict(), state),
        )


def _rebuild_parameter(
    data: Tensor, requires_grad: bool, backward_hooks: "OrderedDict[int, Any]"
) -> Parameter:
    """What a pickled parameter comes back through."""
    parameter = Parameter(data, requires_grad)
    if backward_hooks:
        parameter._backward_hooks = backward_hooks
    return parameter


def _rebuild_parameter_with_state(
    data: Tensor,
    requires_grad: bool,
    backward_hooks: "OrderedDict[int, Any]",
    state: dict[str, Any],
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

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> "Buffer":
        if data is None:
            data = f.empty(0)
        marked: Any = data.detach().requires_grad_(data.requires_grad)
        marked.persistent = persistent
        marked._is_buffer = True
        return marked  # type: ignore[no-any-return]


def __getattr__(name: str) -> Any:
    """The tensors without a shape, which PyTorch keeps in this module too."""
    if name in ("UninitializedBuffer", "UninitializedParameter", "UninitializedTensorMixin", "is_lazy"):
        from . import uninitialized

        return getattr(uninitialized, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
