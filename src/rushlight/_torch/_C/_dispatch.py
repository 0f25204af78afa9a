"""`torch._C.DispatchKey` and sets of them: names that packages pass on, and that decide nothing."""

from __future__ import annotations

import enum
from contextvars import ContextVar
from types import TracebackType
from typing import Final

#: The keys that packages name, in PyTorch's order.
_NAMES = [
    "Undefined",
    "Dense",
    "CPU",
    "CUDA",
    "Meta",
    "XLA",
    "MPS",
    "XPU",
    "HPU",
    "Sparse",
    "SparseCPU",
    "SparseCUDA",
    "QuantizedCPU",
    "NestedTensor",
    "BackendSelect",
    "Python",
    "Fake",
    "FuncTorchDynamicLayerBackMode",
    "Functionalize",
    "Named",
    "Conjugate",
    "Negative",
    "ZeroTensor",
    "ADInplaceOrView",
    "AutogradOther",
    "AutogradFunctionality",
    "AutogradCPU",
    "AutogradCUDA",
    "AutogradXLA",
    "AutogradMPS",
    "AutogradXPU",
    "AutogradMeta",
    "AutogradNestedTensor",
    "Tracer",
    "AutocastCPU",
    "AutocastXPU",
    "AutocastMPS",
    "AutocastCUDA",
    "FuncTorchBatched",
    "BatchedNestedTensor",
    "FuncTorchVmapMode",
    "Batched",
    "VmapMode",
    "FuncTorchGradWrapper",
    "DeferredInit",
    "PythonTLSSnapshot",
    "FuncTorchDynamicLayerFrontMode",
    "TESTING_ONLY_GenericWrapper",
    "TESTING_ONLY_GenericMode",
    "PreDispatch",
    "PythonDispatcher",
    "Autograd",
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
]

DispatchKey = enum.Enum("DispatchKey", _NAMES, module="torch._C")  # type: ignore[misc]
DispatchKey.__doc__ = """The names of PyTorch's dispatch keys; they decide nothing here.

Example:
    >>> torch.DispatchKey.CPU.name
    'CPU'
"""


class DispatchKeySet:
    """A set of dispatch keys."""

    __module__ = "torch._C"

    def __init__(self, *keys: DispatchKey) -> None:
        self._keys = frozenset(keys)

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*(self._keys | other._keys))

    def __and__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*(self._keys & other._keys))

    def __sub__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*(self._keys - other._keys))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DispatchKeySet) and self._keys == other._keys

    def __hash__(self) -> int:
        return hash(self._keys)

    def add(self, key: DispatchKey) -> DispatchKeySet:
        """The set with one key more."""
        return DispatchKeySet(*self._keys, key)

    def remove(self, key: DispatchKey) -> DispatchKeySet:
        """The set without a key."""
        return DispatchKeySet(*(self._keys - {key}))

    def has(self, key: DispatchKey) -> bool:
        """Whether the set holds a key."""
        return key in self._keys

    def __repr__(self) -> str:
        return f"DispatchKeySet({', '.join(sorted(key.name for key in self._keys))})"


#: Whether kernels for autograd are passed by: see `_AutoDispatchBelowAutograd`.
BELOW_AUTOGRAD: Final[ContextVar[bool]] = ContextVar("rushlight_below_autograd", default=False)


class _AutoDispatchBelowAutograd:
    """A block in which operators on functions run the kernels behind those for autograd."""

    def __enter__(self) -> None:
        self._before = BELOW_AUTOGRAD.get()
        BELOW_AUTOGRAD.set(True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        BELOW_AUTOGRAD.set(self._before)


class _ExcludeDispatchKeyGuard:
    """A block in which some keys don't count: none of them ever does."""

    def __init__(self, keys: DispatchKeySet) -> None:
        self.keys = keys

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None
