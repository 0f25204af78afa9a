"""The one table of names: where in the package each module and name lies that programs ask for.

    MODULES["fft"]          "_torch.fft"     the module `rushlight.fft`, which is `torch.fft`
    HOMES["save"]           "serialization"  the module that has the name `rushlight.save`

From it come the modules that `import rushlight.x` and `import torch.x` find, the names that are
loaded when they are first asked for, and the stub of the package. What is no key here and in no
package of `PACKAGES` is nobody's to import: `import torch._array` fails as in PyTorch.
"""

from __future__ import annotations

from typing import Final

__all__ = ["HOMES", "MODULES", "home_of", "public_name"]

#: Packages and modules that programs import by the name of their place.
PACKAGES: Final = (
    "amp", "autograd", "distributed", "distributions", "func", "multiprocessing", "nn",
    "optim", "profiler", "random", "serialization", "sparse", "testing", "utils", "viz",
)  # fmt: skip

#: Of these packages PyTorch has a module of the same name; what lies inside is ours.
FACES: Final = ("_compile", "_tensor")

#: Modules that are there because PyTorch has the name; all lie in `_torch`.
_IN_TORCH: Final = (
    "_C", "_VF", "__config__", "__future__", "_custom_ops", "_dynamo", "_functorch", "_guards",
    "_higher_order_ops", "_inductor", "_jit_internal", "_linalg_utils", "_lobpcg", "_logging",
    "_lowrank", "_ops", "_subclasses", "_tensor_str", "_utils", "_vmap_internals", "accelerator",
    "ao", "backends", "classes", "compiler", "cpu", "cuda", "export", "fft", "functional", "fx",
    "hub", "jit", "library", "linalg", "masked", "mps", "mtia", "nested", "onnx", "ops",
    "overrides", "package", "quantization", "quasirandom", "signal", "special", "torch_version",
    "types", "version", "xpu",
)  # fmt: skip

#: Every module that a program may import from `rushlight` or `torch`, and where it lies.
MODULES: Final[dict[str, str]] = {
    **{name: name for name in PACKAGES},
    **{name: name for name in FACES},
    **{name: f"_torch.{name}" for name in _IN_TORCH},
    "futures": "utils._futures",
    "nn.modules.linear_cross_entropy_options": "nn.modules.loss_options",
    "nn.parallel.distributed": "distributed.data_parallel",
    "nn.quantized": "_torch.ao.nn.quantized",
    "optimize": "optim.scipy_bridge",
    "return_types": "_tensor.return_types",
    "storage": "_torch.storage",
    "utils.model_zoo": "_torch.model_zoo",
}

_CHECKS: Final = (
    "_check", "_check_index", "_check_is_size", "_check_not_implemented", "_check_tensor_all",
    "_check_tensor_all_with", "_check_type", "_check_value", "_check_with",
)  # fmt: skip
_SYMBOLIC: Final = (
    "SymBool", "SymFloat", "SymInt", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min",
    "sym_not", "sym_sqrt", "sym_sum",
)  # fmt: skip
_SCRIPT_TYPES: Final = (
    "AnyType", "AwaitType", "BoolType", "ComplexType", "DeviceObjType", "DictType", "FloatType",
    "FutureType", "IntType", "ListType", "NoneType", "NumberType", "OptionalType", "PyObjectType",
    "RRefType", "StreamObjType", "StringType", "SymBoolType", "SymIntType", "TensorType",
    "TupleType", "Type", "UnionType",
)  # fmt: skip
_DTYPES: Final = (
    "float4_e2m1fn_x2", "qint32", "qint8", "quint2x4", "quint4x2", "quint8",
)  # fmt: skip

_STORAGES: Final = tuple(
    f"{kind}Storage" for kind in (
        "", "BFloat16", "Bool", "Byte", "Char", "ComplexDouble", "ComplexFloat", "Double", "Float",
        "Half", "Int", "Long", "QInt32", "QInt8", "QUInt2x4", "QUInt4x2", "QUInt8", "Short",
        "Typed", "Untyped",
    )
)  # fmt: skip
_SWITCHES: Final = (
    "autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache",
    "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype",
    "get_autocast_ipu_dtype", "get_autocast_xla_dtype", "is_autocast_available",
    "is_autocast_cache_enabled", "is_autocast_cpu_enabled", "is_autocast_enabled",
    "is_autocast_ipu_enabled", "is_autocast_xla_enabled", "set_autocast_cache_enabled",
    "set_autocast_cpu_dtype", "set_autocast_cpu_enabled", "set_autocast_dtype",
    "set_autocast_enabled", "set_autocast_gpu_dtype", "set_autocast_ipu_dtype",
    "set_autocast_ipu_enabled", "set_autocast_xla_dtype", "set_autocast_xla_enabled",
)  # fmt: skip

#: Names of `rushlight` whose module is loaded when they are first asked for, and that module.
HOMES: Final[dict[str, str]] = {
    **dict.fromkeys(_CHECKS, "_torch.checks"),
    **dict.fromkeys(_SYMBOLIC, "_torch.symbols"),
    **dict.fromkeys(_SCRIPT_TYPES, "_torch.jit.script_types"),
    **dict.fromkeys(_DTYPES, "_base.dtypes"),
    **dict.fromkeys(("AcceleratorError", "OutOfMemoryError", "get_device_module"),
                    "_torch.missing_devices"),
    **dict.fromkeys(("CompilationUnit", "ScriptFunction", "ScriptModule", "fork", "wait"),
                    "_torch.jit"),
    **dict.fromkeys(("Event", "Stream"), "_torch.streams"),
    **dict.fromkeys(("GradScaler", "autocast"), "amp"),
    **dict.fromkeys(("PyTorchFileReader", "PyTorchFileWriter"), "_torch._C._files"),
    **dict.fromkeys(_STORAGES, "_tensor.storage"),
    **dict.fromkeys(("StorageBase", "is_storage", "_storage_classes"), "_tensor.storage"),
    **dict.fromkeys(_SWITCHES, "amp.switches"),
    **dict.fromkeys(("_convert_indices_from_coo_to_csr", "_convert_indices_from_csr_to_coo"),
                    "sparse.rows"),
    **dict.fromkeys(("cond", "while_loop"), "_torch._higher_order_ops"),
    **dict.fromkeys(("get_printoptions", "printoptions", "set_printoptions"), "_array.printing"),
    **dict.fromkeys(("load", "peek", "save"), "serialization"),
    **dict.fromkeys(("smm", "sparse_bsc_tensor", "sparse_bsr_tensor", "sparse_compressed_tensor",
                     "sparse_coo_tensor", "sparse_csc_tensor", "sparse_csr_tensor", "spmm"),
                    "sparse"),
    "DispatchKey": "_torch._C",
    "Future": "utils._futures",
    "Tag": "_torch.library",
    "_tensor_classes": "_tensor.legacy_constructors",
    "_debug_has_internal_overlap": "_torch.checks",
    "_efficientzerotensor": "_torch.checks",
    "_assert_async": "_table.names.aten_rare",
    "_disable_dynamo": "_torch._dynamo",
    "compile": "_compile",
    "coverage": "_table.coverage",
    "dsmm": "sparse.products",
    "install_as_torch": "_torch.alias",
    "jagged": "_base.memory_format",
    "vmap": "func",
}  # fmt: skip


def home_of(name: str) -> str | None:
    """The place below the package of a public module `name`; None where it has no such name."""
    known, rest = name, ""
    while known not in MODULES:
        known, dot, last = known.rpartition(".")
        if not dot:
            return None
        rest = f".{last}{rest}"
    return None if rest and known in FACES else MODULES[known] + rest


_NAMES: Final = {place: name for name, place in MODULES.items() if "." in place}


def public_name(place: str) -> str | None:
    """The name by which programs import the module at `place`, where that is another one."""
    parts = place.split(".")
    for count in (2, 1):
        name = _NAMES.get(".".join(parts[:count]))
        if name is not None:
            return ".".join([name, *parts[count:]])
    return None
