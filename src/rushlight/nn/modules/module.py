"""`Module`, the base class of everything in `nn`."""

from __future__ import annotations

import sys
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, Self, TypeVar

from ..._table.calls.argument_parser import complaint
from .._ground import Tensor, device as as_device, dtypes, f, no_grad
from ..parameter import Parameter, is_lazy
from ._hooks import (
    COMPILED,
    Hooked,
    _global_backward_hooks as _global_backward_hooks,
    _global_backward_pre_hooks as _global_backward_pre_hooks,
    _global_forward_hooks as _global_forward_hooks,
    _global_forward_hooks_always_called as _global_forward_hooks_always_called,
    _global_forward_hooks_with_kwargs as _global_forward_hooks_with_kwargs,
    _global_forward_pre_hooks as _global_forward_pre_hooks,
    register_module_backward_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
)
from ._notebook import in_notebook
from ._registry import (
    Registry,
    _global_buffer_registration_hooks,
    _global_module_registration_hooks,
    _global_parameter_registration_hooks,
    register_module_buffer_registration_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from ._state import _EXTRA_STATE_KEY_SUFFIX, Stateful, _IncompatibleKeys

if TYPE_CHECKING:
    from ..._base.annotations import DeviceLike, DTypeLike
    from ..._base.dtypes import dtype


__all__ = [
    "_EXTRA_STATE_KEY_SUFFIX",
    "Module",
    "_IncompatibleKeys",
    "_addindent",
    "_global_buffer_registration_hooks",
    "_global_module_registration_hooks",
    "_global_parameter_registration_hooks",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]


#: How `Module.to` and its like put converted parameters in place, as `torch.__future__` says.
CONVERSION = {"overwrite": False, "swap": False}

P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class _Forwards(Protocol[P, R]):
    """Whatever has a `forward`; in its terms the call of a module is typed."""

    def forward(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Computes the module's results."""
        ...


def _forward_unimplemented(self: Tensor, *input: object) -> None:
    """What `forward` is until a subclass defines it."""
    raise NotImplementedError(
        f'Module [{type(self).__name__}] is missing the required "forward" function'
    )


_NO_DATA = (
    "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead of "
    "torch.nn.Module.to() when moving module from meta to a different device."
)


class Module(Registry, Hooked, Stateful):
    """A callable with parameters, buffers and submodules: subclass it and define `forward`.

    Tensors of class `Parameter` and modules that are assigned as attributes are registered by
    themselves; `super().__init__()` comes before the first such assignment. Call the module, not
    its `forward`: only the call runs hooks.
    """

    dump_patches: bool = False
    call_super_init: bool = False
    training: bool
    T_destination = dict
    _compiled_call_impl: Callable[..., Any] | None = None

    # Assigned, not defined: subclasses may give `forward` any signature.
    forward: Callable[..., Any] = _forward_unimplemented

    def __init__(self, *args: Any, **kwargs: object) -> None:
        if not self.call_super_init and kwargs:
            raise TypeError(
                f"{type(self).__name__}.__init__() got an unexpected keyword argument "
                f"'{next(iter(kwargs))}'"
            )
        if not self.call_super_init and args:
            raise TypeError(
                f"{type(self).__name__}.__init__() takes 1 positional argument but "
                f"{len(args) + 1} were given"
            )
        # Straight into `__dict__`: `__setattr__` would ask the tables that don't exist yet.
        self.__dict__.update(
            training=True,
            _parameters={},
            _buffers={},
            _non_persistent_buffers_set=set(),
            _backward_pre_hooks=OrderedDict(),
            _backward_hooks=OrderedDict(),
            _is_full_backward_hook=None,
            _forward_hooks=OrderedDict(),
            _forward_hooks_with_kwargs=OrderedDict(),
            _forward_hooks_always_called=OrderedDict(),
            _forward_pre_hooks=OrderedDict(),
            _forward_pre_hooks_with_kwargs=OrderedDict(),
            _state_dict_hooks=OrderedDict(),
            _state_dict_pre_hooks=OrderedDict(),
            _load_state_dict_pre_hooks=OrderedDict(),
            _load_state_dict_post_hooks=OrderedDict(),
            _modules={},
        )
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        # Pickles of older versions lack the tables that came later.
        for name in (
            "_forward_pre_hooks",
            "_forward_pre_hooks_with_kwargs",
            "_forward_hooks_with_kwargs",
            "_forward_hooks_always_called",
            "_state_dict_hooks",
            "_state_dict_pre_hooks",
            "_load_state_dict_pre_hooks",
            "_load_state_dict_post_hooks",
            "_backward_pre_hooks",
        ):
            self.__dict__.setdefault(name, OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        self.__dict__.setdefault("_is_full_backward_hook", None)

    if TYPE_CHECKING:
        # A call is typed as the `forward` is.
        def __call__(self: _Forwards[P, R], *args: P.args, **kwargs: P.kwargs) -> R: ...

        def get_submodule(self, target: str) -> Module: ...
        def children(self) -> Iterator[Module]: ...
        def named_children(self) -> Iterator[tuple[str, Module]]: ...
        def modules(self) -> Iterator[Module]: ...
        def named_modules(
            self, memo: set[object] | None = None, prefix: str = "", remove_duplicate: bool = True
        ) -> Iterator[tuple[str, Module]]: ...

    # -- whole-tree changes ---------------------------------------------------------------------

    def apply(self, fn: Callable[[Module], None]) -> Self:
        """Calls `fn` on every module, children before parents; returns the module."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replaces every parameter's data, gradient and every buffer by `fn` of it, in place."""
        if recurse:
            for child in self.children():
                child._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is None:
                continue
            with no_grad():
                kept, applied, grad = parameter, fn(parameter), parameter.grad
                if not is_lazy(parameter) and (
                    CONVERSION["overwrite"] or applied.layout is not parameter.layout
                ):
                    kept = self._parameters[name] = Parameter(applied, parameter.requires_grad)
                else:
                    # The parameter object stays: optimizers and other modules keep pointing at it.
                    parameter.data = applied
                if grad is not None:
                    kept.grad = fn(grad).requires_grad_(grad.requires_grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                if is_lazy(buffer):
                    self._buffers[name] = buffer._converted(fn)  # type: ignore[attr-defined]
                else:
                    self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: object, **kwargs: object) -> Self:
        """Moves and casts in place: `to(device)`, `to(dtype)`, `to(device, dtype)`, `to(tensor)`.

        Only floating-point and complex tensors are cast; `memory_format=` lays out tensors of four
        and five dimensions. Returns the module.

        Raises: TypeError, for a dtype that is neither.
        """
        layout: Any = kwargs.pop("memory_format", None)
        device, dtype, non_blocking = _destination(*args, **kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                "nn.Module.to only accepts floating point or complex "
                f"dtypes, but got desired dtype={dtype}"
            )
        if dtype is not None and dtype.is_complex:
            warnings.warn(
                "Complex modules are a new feature under active development whose design may "
                "change, and some modules might not work as expected when using complex tensors "
                "as parameters or buffers. Please file an issue at "
                "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml if a "
                "complex module does not work as expected.",
                stacklevel=2,
            )

        def convert(tensor: Tensor) -> Tensor:
            castable = tensor.is_floating_point() or tensor.is_complex()
            if tensor.is_meta and device is not None and device.type != "meta":
                raise NotImplementedError(_NO_DATA)
            moved: Tensor = tensor.to(device, dtype if castable else None, non_blocking)
            if layout is not None and tensor.ndim in (4, 5):
                moved = moved.to(memory_format=layout)
            return moved

        return self._apply(convert)

    def to_empty(self, *, device: DeviceLike, recurse: bool = True) -> Self:
        """Moves to `device` without copying: the values are whatever the memory holds."""
        return self._apply(lambda tensor: f.empty_like(tensor, device=device), recurse=recurse)

    def type(self, dst_type: DTypeLike | str) -> Self:
        """Casts every parameter and buffer, integer ones too."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def _cast_floats(self, dtype: dtype) -> Self:
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self) -> Self:
        """Casts floating-point parameters and buffers to float32."""
        return self._cast_floats(dtypes.float32)

    def double(self) -> Self:
        """Casts floating-point parameters and buffers to float64."""
        return self._cast_floats(dtypes.float64)

    def half(self) -> Self:
        """Casts floating-point parameters and buffers to float16."""
        return self._cast_floats(dtypes.float16)

    def bfloat16(self) -> Self:
        """Casts floating-point parameters and buffers to bfloat16."""
        return self._cast_floats(dtypes.bfloat16)

    def cpu(self) -> Self:
        """Moves to the CPU."""
        return self._apply(lambda tensor: tensor.cpu())

    def cuda(self, device: DeviceLike | None = None) -> Self:
        """Moves to a GPU, where there is one."""
        return self._apply(lambda tensor: tensor.cuda(device))

    def xpu(self, device: DeviceLike | None = None) -> Self:
        """Raises AssertionError: there is no such device here."""
        raise AssertionError("Torch not compiled with XPU enabled")

    def ipu(self, device: DeviceLike | None = None) -> Self:
        """Raises RuntimeError: there is no such device here."""
        raise RuntimeError("PyTorch is not linked with support for ipu devices")

    def mtia(self, device: DeviceLike | None = None) -> Self:
        """Raises AssertionError: there is no such device here."""
        raise AssertionError("Torch not compiled with MTIA enabled.")

    def share_memory(self) -> Self:
        """Moves the tensors to memory that other processes can map."""
        return self._apply(lambda tensor: tensor.share_memory_())

    def train(self, mode: bool = True) -> Self:
        """Switches to training mode (or with `False` to evaluation), submodules too."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Self:
        """Switches to evaluation mode: dropout passes through, batch norm uses what it learned."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Sets `requires_grad` of every parameter: freezes a model, or thaws it."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clears the gradients of every parameter, by dropping them or by filling with zeros."""
        for parameter in self.parameters():
            grad = parameter.grad
            if grad is None:
                continue
            if set_to_none:
                parameter.grad = None
            else:
                if grad.grad_fn is not None:
                    grad.detach_()
                else:
                    grad.requires_grad_(False)
                grad.zero_()

    def compile(self, *args: object, **kwargs: object) -> None:
        """Has calls of the module compiled, hooks included, as `rushlight.compile` does.

        Takes the arguments of `rushlight.compile` beside the function. The module stays what it is:
        its parameters keep their names. Copies and pickles of it aren't compiled.
        """
        package: Any = sys.modules[__name__.partition(".")[0]]
        self.__dict__["_compiled_call_impl"] = package.compile(self._call_impl, *args, **kwargs)
        COMPILED[:] = [True]

    def __getstate__(self) -> dict[str, object]:
        state = self.__dict__.copy()
        state.pop("_compiled_call_impl", None)
        return state

    def _replicate_for_data_parallel(self) -> Self:
        """A shallow copy with tables of its own, for a worker that will put other tensors in."""
        replica = type(self).__new__(type(self))
        replica.__dict__ = self.__dict__.copy()
        replica.__dict__.update(
            _is_replica=True,
            _parameters={},
            _buffers=self._buffers.copy(),
            _modules=self._modules.copy(),
        )
        return replica

    # -- text -----------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """What the module's line of `repr` says between the brackets; subclasses override it."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        extra_lines = extra.split("\n") if extra else []
        child_lines = [
            f"({name}): {_addindent(repr(child), 2)}" for name, child in self._modules.items()
        ]
        if not child_lines and len(extra_lines) <= 1:
            return f"{self._get_name()}({extra})"
        lines = extra_lines + child_lines
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"

    def _repr_html_(self) -> str:
        return in_notebook(self, plain=type(self).__repr__ is Module.__repr__)


def _addindent(s_: str, numSpaces: int) -> str:
    """`s_` with every line but the first moved right."""
    first, *rest = s_.split("\n")
    return "\n".join([first, *(" " * numSpaces + line for line in rest)])


def _destination(*args: object, **kwargs: Any) -> tuple[Any, Any, bool]:
    """Device, dtype and non_blocking from the four ways to call `to`.

    Raises: TypeError for what none of them takes, RuntimeError where a copy is asked for.
    """
    bound: list[tuple[Any, Any]] = []
    problem = complaint("method", "to", args, kwargs, bound)
    if problem is not None:
        raise problem
    named = {p.name: value for p, value in bound}
    if named.get("copy"):
        raise RuntimeError(".to() does not accept copy argument")
    blocking = named.get("non_blocking", False)
    like = named.get("tensor", named.get("other"))
    if like is not None:
        return like.device, like.dtype, bool(blocking)
    device, dtype = named.get("device"), named.get("dtype")
    if isinstance(dtype, type) and dtype in dtypes.OF_PYTHON:
        dtype = dtypes.OF_PYTHON[dtype]
    return (None if device is None else as_device(device)), dtype, bool(blocking)
