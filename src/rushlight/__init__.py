"""Rushlight, a lighter torch: PyTorch's define-by-run autograd, as typed Python over NumPy.

    import rushlight as torch

gives the functions, classes and modules of PyTorch under their own names. Modules that a program
may not need (`nn`, `optim`, …) are loaded when first asked for.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

from . import _methods, autograd
from . import dtypes as _dtypes
from . import ops as _ops
from ._array import memory as _memory
from ._array.text import get_printoptions, printoptions, set_printoptions
from ._version import __version__
from .autograd.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled
from .autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .device import device
from .dtypes import dtype, get_default_dtype, set_default_dtype
from .legacy import TYPES as _TYPES
from .memory_format import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    layout,
    memory_format,
    preserve_format,
    sparse_coo,
    strided,
)
from .random import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from .size import Size
from .tensor import Tensor

for _name, _dtype in {**_dtypes.BY_NAME, **_dtypes.ALIASES}.items():
    globals()[_name] = _dtype
for (_namespace, _name), _function in _ops.PUBLIC.items():
    if _namespace == "":
        globals()[_name] = _function

globals().update(_TYPES)

_LAZY: Final = frozenset({
    "amp", "backends", "compile", "cuda", "distributed", "distributions", "fft", "func", "jit",
    "linalg", "multiprocessing", "nn", "onnx", "optim", "overrides", "profiler", "random", "return_types",
    "serialization", "signal", "special", "testing", "torch_alias", "types", "utils", "viz",
    "__config__",
})  # fmt: skip
_ELSEWHERE: Final = {"install_as_torch": "torch_alias", "save": "serialization", "load": "serialization",
                     "coverage": "_coverage"}  # fmt: skip


def is_tensor(obj: object) -> bool:
    """Whether `obj` is a tensor."""
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are real floating-point numbers."""
    return input.is_floating_point()


def is_complex(input: Tensor) -> bool:
    """Whether the elements are complex."""
    return input.is_complex()


def numel(input: Tensor) -> int:
    """The number of elements."""
    return input.numel()


def __getattr__(name: str) -> Any:
    """Loads a submodule when it is first asked for."""
    if name in _LAZY:
        try:
            return importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    elif name in _ELSEWHERE:
        return getattr(importlib.import_module(f"{__name__}.{_ELSEWHERE[name]}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


__all__ = [
    "Size", "Tensor", "__version__", "autograd", "device", "dtype", "enable_grad",
    "get_default_dtype", "get_printoptions", "printoptions", "set_printoptions", "inference_mode", "is_grad_enabled", "is_inference_mode_enabled",
    "is_anomaly_check_nan_enabled", "is_anomaly_enabled",
    "no_grad", "set_default_dtype", "set_grad_enabled",
]  # fmt: skip
_ = _methods
_memory.apply_environment()
