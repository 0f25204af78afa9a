"""Rushlight, a lighter torch: PyTorch's define-by-run autograd, as typed Python over NumPy.

    import rushlight as torch

gives the functions, classes and modules of PyTorch under their own names. Modules that a program
may not need (`nn`, `optim`, …) are loaded when first asked for.
"""

from __future__ import annotations

import importlib
import math as _math
from typing import Any, Final

from . import _loaded, autograd
from . import dtypes as _dtypes
from . import ops as _ops
from . import settings as _settings
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
from .limits import finfo, iinfo
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
_TABLE: Final = _ops.namespace("")
_TABLE.fill(globals())
globals().update(_TYPES)
for _name in _settings.__all__:
    globals()[_name] = getattr(_settings, _name)
pi, e, inf, nan, newaxis = _math.pi, _math.e, _math.inf, _math.nan, None

_LAZY: Final = frozenset(
    {
        "_C",
        "amp",
        "backends",
        "compiler",
        "cuda",
        "distributed",
        "distributions",
        "fft",
        "func",
        "jit",
        "linalg",
        "masked",
        "multiprocessing",
        "nn",
        "onnx",
        "optim",
        "optimize",
        "overrides",
        "profiler",
        "random",
        "return_types",
        "serialization",
        "signal",
        "special",
        "testing",
        "torch_alias",
        "types",
        "version",
        "utils",
        "viz",
        "__config__",
    }
)
_ELSEWHERE: Final = {
    "install_as_torch": "torch_alias",
    "save": "serialization",
    "load": "serialization",
    "peek": "serialization",
    "coverage": "_coverage",
    "vmap": "func",
}


def __getattr__(name: str) -> Any:
    """Makes a function, or loads a submodule, when it is first asked for."""
    try:
        return _TABLE.find(name, globals())
    except KeyError:
        pass
    if name in _LAZY:
        try:
            return importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    elif name in _ELSEWHERE:
        return getattr(importlib.import_module(f"{__name__}.{_ELSEWHERE[name]}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *_TABLE.names})


__all__ = [
    "Size",
    "Tensor",
    "__version__",
    "autograd",
    "device",
    "dtype",
    "enable_grad",
    "finfo",
    "iinfo",
    "get_default_dtype",
    "get_printoptions",
    "printoptions",
    "set_printoptions",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "no_grad",
    "set_default_dtype",
    "set_grad_enabled",
    "channels_last",
    "channels_last_3d",
    "contiguous_format",
    "layout",
    "memory_format",
    "preserve_format",
    "sparse_coo",
    "strided",
    "Generator",
    "default_generator",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]
_ = _loaded
_memory.apply_environment()
