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
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
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
legacy_contiguous_format = contiguous_format

_LAZY: Final = frozenset(
    {
        "_C",
        "_VF",
        "_compile",
        "_custom_ops",
        "_functorch",
        "_higher_order_ops",
        "_guards",
        "classes",
        "_dynamo",
        "_inductor",
        "_jit_internal",
        "_linalg_utils",
        "_lobpcg",
        "_logging",
        "_lowrank",
        "_ops",
        "_subclasses",
        "_tensor",
        "_tensor_str",
        "_utils",
        "_vmap_internals",
        "accelerator",
        "advice",
        "amp",
        "ao",
        "backends",
        "compiler",
        "cpu",
        "cuda",
        "distributed",
        "distributions",
        "export",
        "fft",
        "func",
        "functional",
        "futures",
        "fx",
        "hub",
        "jit",
        "library",
        "linalg",
        "masked",
        "mps",
        "mtia",
        "multiprocessing",
        "nested",
        "nn",
        "onnx",
        "optim",
        "optimize",
        "overrides",
        "package",
        "profiler",
        "quantization",
        "quasirandom",
        "random",
        "return_types",
        "serialization",
        "signal",
        "sparse",
        "special",
        "storage",
        "testing",
        "torch_alias",
        "torch_version",
        "types",
        "utils",
        "version",
        "viz",
        "xpu",
        "__config__",
        "__future__",
    }
)
_CHECKS: Final = (
    "_check", "_check_index", "_check_is_size", "_check_not_implemented", "_check_tensor_all",
    "_check_tensor_all_with", "_check_type", "_check_value", "_check_with",
)  # fmt: skip
_SYMBOLIC: Final = (
    "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt", "sym_sum",
)  # fmt: skip
_SCRIPT_TYPES: Final = (
    "AnyType", "AwaitType", "BoolType", "ComplexType", "DeviceObjType", "DictType", "FloatType",
    "FutureType", "IntType", "ListType", "NoneType", "NumberType", "OptionalType", "PyObjectType",
    "RRefType", "StreamObjType", "StringType", "SymBoolType", "SymIntType", "TensorType",
    "TupleType", "Type", "UnionType",
)  # fmt: skip
_ELSEWHERE: Final = {
    "install_as_torch": "torch_alias",
    "wait": "jit",
    "fork": "jit",
    "CompilationUnit": "jit",
    "ScriptFunction": "jit",
    "save": "serialization",
    "GradScaler": "amp",
    "smm": "sparse",
    "sparse_coo_tensor": "sparse",
    "sparse_csr_tensor": "sparse",
    "spmm": "sparse",
    "load": "serialization",
    "peek": "serialization",
    "coverage": "_coverage",
    "compile": "_compile",
    "cond": "_higher_order_ops",
    "while_loop": "_higher_order_ops",
    "vmap": "func",
    "autocast": "amp",
    "AcceleratorError": "absent",
    "OutOfMemoryError": "absent",
    "get_device_module": "absent",
    "Tag": "library",
    "UntypedStorage": "storage",
    "TypedStorage": "storage",
    "is_storage": "storage",
    "Future": "futures",
    **dict.fromkeys(("qint8", "quint8", "qint32", "quint4x2", "quint2x4"), "dtypes"),
    **dict.fromkeys(_CHECKS, "checks"),
    **dict.fromkeys(_SYMBOLIC, "symbols"),
    "_convert_indices_from_coo_to_csr": "sparse.rows",
    "_convert_indices_from_csr_to_coo": "sparse.rows",
    "dsmm": "sparse.products",
    "jagged": "memory_format",
    "StorageBase": "storage",
    "float8_e4m3fn": "dtypes",
    "float8_e4m3fnuz": "dtypes",
    "float8_e5m2": "dtypes",
    "float8_e5m2fnuz": "dtypes",
    "float8_e8m0fnu": "dtypes",
    "PyTorchFileReader": "_C._files",
    "PyTorchFileWriter": "_C._files",
    "_assert_async": "ops._aten_seldom",
    "ScriptModule": "jit",
    "SymBool": "symbols",
    "SymFloat": "symbols",
    "SymInt": "symbols",
    "_disable_dynamo": "_dynamo",
    "DispatchKey": "_C",
    **dict.fromkeys(_SCRIPT_TYPES, "jit.script_types"),
    "Event": "streams",
    "Stream": "streams",
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
    elif name.endswith("Storage"):
        return getattr(importlib.import_module(f"{__name__}.storage"), name)
    elif name.startswith("_foreach_"):
        return getattr(importlib.import_module(f"{__name__}.foreach"), name)
    elif "autocast" in name and name != "autocast":
        return getattr(importlib.import_module(f"{__name__}.amp.switches"), name)
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
    "sparse_bsc",
    "sparse_bsr",
    "sparse_coo",
    "sparse_csc",
    "sparse_csr",
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
