"""`torch._ops`: the classes of what `torch.ops` holds, and operators on functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._core.mode import CURRENT, current, derive
from .._table.names.aten import OpOverload, OpOverloadPacket
from ._C._dispatch import BELOW_AUTOGRAD

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["HigherOrderOperator", "OpOverload", "OpOverloadPacket"]

#: Kernels by dispatch key: the first that is there runs.
_KEYS: Final = ("AutogradCPU", "Autograd", "CompositeImplicitAutograd", "CPU",
                "CompositeExplicitAutograd")  # fmt: skip


class HigherOrderOperator:
    """An operator that takes functions: a program gives it a kernel for each transform and mode.

    `py_impl(key)` registers one: for a transform (`TransformType`), called with its interpreter
    first; for a class of dispatch modes, called with the mode first; or for a dispatch key.
    """

    def __init__(self, name: str, *, cacheable: bool = False) -> None:
        self._name = self.__name__ = name
        self._ns = self.namespace = "higher_order"
        self._cacheable = cacheable
        self.functorch_table: dict[Any, Callable[..., Any]] = {}
        self.python_key_table: dict[Any, Callable[..., Any]] = {}
        self.py_kernels: dict[str, Callable[..., Any]] = {}

    def name(self) -> str:
        """What it is called."""
        return self._name

    def cacheable(self) -> bool:
        """Whether what is compiled with it may be kept."""
        return self._cacheable

    def has_kernel_for_dispatch_key(self, k: Any) -> bool:
        """Whether a kernel is registered for a dispatch key."""
        return getattr(k, "name", k) in self.py_kernels

    def py_impl(self, k: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Registers the function it decorates as the kernel of a transform, a mode or a key."""
        from ..func.interpreters import TransformType

        def register(fn: Callable[..., Any]) -> Callable[..., Any]:
            if isinstance(k, TransformType):
                self.functorch_table[k] = fn
            elif isinstance(k, type):
                self.python_key_table[k] = fn
            else:
                self.py_kernels[k.name] = fn
            return fn

        return register

    def fallthrough(self, dispatch_key: Any) -> None:
        """Nothing: a key without a kernel is passed by."""

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        from ..func.interpreters import innermost

        interpreter = innermost()
        if interpreter is not None:
            return self.functorch_table[interpreter.key()](interpreter, *args, **kwargs)
        mode = current()
        if mode.dispatch:
            top = mode.dispatch[-1]
            kernel = self.python_key_table.get(type(top))
            token = CURRENT.set(derive(mode, dispatch=mode.dispatch[:-1]))
            try:
                if kernel is not None:
                    return kernel(top, *args, **kwargs)
                return top.__torch_dispatch__(self, (), args, kwargs)
            finally:
                CURRENT.reset(token)
        return self._run(args, kwargs)

    def _run(self, args: Any, kwargs: Any) -> Any:
        for key in _KEYS[2:] if BELOW_AUTOGRAD.get() else _KEYS:
            if key in self.py_kernels:
                return self.py_kernels[key](*args, **kwargs)
        raise NotImplementedError(
            f"could not find kernel for HigherOrderOperator {self._name} at dispatch key "
            "DispatchKey.AutogradCPU (resolved from DispatchKey.AutogradCPU)"
        )

    def __str__(self) -> str:
        return self._name

    def __deepcopy__(self, memo: object = None) -> HigherOrderOperator:
        return self
