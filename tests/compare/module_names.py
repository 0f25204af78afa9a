"""Which modules PyTorch has, which names are public in each, and which of them Rushlight lacks.

python -m tests.compare.module_names      writes missing_names.txt anew
"""

from __future__ import annotations

import importlib
import pkgutil
import types
import warnings
from pathlib import Path

LISTED = Path(__file__).with_name("missing_names.txt")

#: Trees that belong to PyTorch's compilers, tests and other devices, which programs don't import.
LEFT_OUT = (
    "torch.ao.", "torch.backends.xeon.", "torch.bin", "torch.contrib.", "torch.cuda.",
    "torch.export.",
    "torch.fx.experimental", "torch.fx.passes", "torch.include", "torch.lib",
    "torch.nativert", "torch.numa", "torch.nn.intrinsic", "torch.nn.qat", "torch.nn.quantizable",
    "torch.nn.quantized", "torch.onnx.", "torch.package.", "torch.quantization.", "torch.testing.",
    "torch.utils.benchmark.examples", "torch.utils.benchmark.op_fuzzers",
    "torch.utils.bottleneck.__main__", "torch.utils.data.datapipes", "torch.utils.hipify",
    "torch.utils.serialization", "torch.utils.jit", "torch.utils.viz", "torch.xpu.", "torch.mtia.",
    "torch.mps.",
)  # fmt: skip
#: Of `torch.distributed` the modules that programs of one process import.
DISTRIBUTED = (
    "torch.distributed.algorithms.join", "torch.distributed.device_mesh",
    "torch.distributed.distributed_c10d", "torch.distributed.nn.functional",
)  # fmt: skip
#: Private names that packages import all the same.
PRIVATE: dict[str, str] = {
    "torch._C": "_get_tracing_state _log_api_usage_once Generator Size _nn _VariableFunctions",
    "torch._VF": "",
    "torch._dynamo": "config reset disable allow_in_graph OptimizedModule mark_dynamic graph_break",
    "torch._dynamo.eval_frame": "OptimizedModule",
    "torch._jit_internal": "boolean_dispatch _overload _copy_to_script_wrapper Final List Optional "
        "BroadcastingList2 ignore is_scripting",
    "torch._linalg_utils": "bform qform matmul",
    "torch._lobpcg": "lobpcg",
    "torch._logging": "warning_once set_logs",
    "torch._lowrank": "svd_lowrank pca_lowrank",
    "torch._ops": "OpOverload OpOverloadPacket HigherOrderOperator",
    "torch._tensor": "Tensor _rebuild_from_type_v2",
    "torch._utils": "_flatten_dense_tensors _unflatten_dense_tensors _take_tensors "
        "_get_device_index "
        "ExceptionWrapper _rebuild_tensor_v2 _get_all_device_indices classproperty "
        "_element_size _rebuild_parameter is_compiling",
    "torch._vmap_internals": "_vmap vmap",
    "torch.__future__": "set_swap_module_params_on_conversion",
    "torch.fx._symbolic_trace": "Tracer _wrapped_fns_to_patch",
    "torch.fx.graph_module": "_copy_attr _assign_attr",
    "torch.jit._script": "RecursiveScriptModule ScriptModule",
    "torch.jit._trace": "trace TracedModule",
    "torch.nn._reduction": "get_enum legacy_get_string",
    "torch.nn.modules.batchnorm": "_BatchNorm _NormBase",
    "torch.nn.modules.conv": "_ConvNd _ConvTransposeNd",
    "torch.nn.modules.dropout": "_DropoutNd",
    "torch.nn.modules.instancenorm": "_InstanceNorm",
    "torch.nn.modules.loss": "_Loss _WeightedLoss",
    "torch.nn.modules.module": "_addindent _IncompatibleKeys _global_forward_hooks",
    "torch.nn.modules.pooling": "_MaxPoolNd _AvgPoolNd _AdaptiveAvgPoolNd",
    "torch.nn.modules.utils": "_ntuple _single _pair _triple _quadruple _reverse_repeat_tuple",
    "torch.optim.lr_scheduler": "_LRScheduler LRScheduler _enable_get_lr_call",
    "torch.optim.optimizer": "_use_grad_for_differentiable _get_value _stack_if_compiling "
        "_default_to_fused_or_foreach _view_as_real",
    "torch.utils._contextlib": "_DecoratorContextManager context_decorator",
    "torch.utils._pytree": "tree_map tree_flatten tree_unflatten register_pytree_node "
        "_register_pytree_node "
        "tree_map_only tree_leaves PyTree TreeSpec",
    "torch.utils._python_dispatch": "TorchDispatchMode _disable_current_modes "
        "_get_current_dispatch_mode",
    "torch.utils._device": "DeviceContext",
    "torch.utils.data._utils": "collate fetch worker",
    "torch.utils.data._utils.collate": "default_collate default_convert",
    "torch.utils.data.dataloader": "default_collate _BaseDataLoaderIter "
        "_SingleProcessDataLoaderIter "
        "_MultiProcessingDataLoaderIter",
}  # fmt: skip


def walked() -> dict[str, list[str]]:
    """The public modules of PyTorch that are compared, and the public names of each."""
    import torch

    found: dict[str, list[str]] = {}

    def visit(name: str) -> None:
        try:
            module = importlib.import_module(name)
        except (ImportError, RuntimeError, AttributeError, OSError, SystemExit):
            return  # it needs what isn't installed
        found[name] = public(module)
        for entry in pkgutil.iter_modules(getattr(module, "__path__", ())):
            inner = f"{name}.{entry.name}"
            if entry.name.startswith("_") or inner.startswith(LEFT_OUT):
                continue
            if not inner.startswith("torch.distributed."):
                visit(inner)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        visit(torch.__name__)
        for name in DISTRIBUTED:
            visit(name)
    return found


def public(module: types.ModuleType) -> list[str]:
    """The names of a module's `__all__`, or those that it defines itself."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return sorted(str(name) for name in listed)
    return sorted(
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and not isinstance(value, types.ModuleType)
        and getattr(value, "__module__", None) == module.__name__
    )


def missing() -> list[str]:
    """What Rushlight lacks: `torch.x` for a module, `torch.x: name` for a name."""
    lacking = []
    names = walked()
    for module, private in PRIVATE.items():
        names[module] = sorted({*names.get(module, ()), *private.split()})
    for torch_name, wanted in sorted(names.items()):
        try:
            ours = importlib.import_module("rushlight" + torch_name.removeprefix("torch"))
        except ModuleNotFoundError:
            lacking.append(torch_name)
            continue
        lacking += [f"{torch_name}: {name}" for name in wanted if not hasattr(ours, name)]
    return lacking


def main() -> None:
    """Writes the list of what is missing."""
    found = missing()
    LISTED.write_text("\n".join(found) + "\n")
    modules = sum(":" not in line for line in found)
    print(f"{modules} modules and {len(found) - modules} names are missing")


if __name__ == "__main__":
    main()
