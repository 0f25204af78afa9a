"""`torch.cuda` where there is none: what programs ask before they stay on the CPU."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NoReturn

from ..._base.device import no_cuda
from ..._base.lazy import lazy
from ..._tensor.legacy_constructors import TYPES
from .. import missing_devices as absent
from ..missing_devices import AcceleratorError, OutOfMemoryError
from ..types import Device as _Device

_initialized = False
_NO_CUDA = "Torch not compiled with CUDA enabled"
_space = globals()


def is_available() -> bool:
    """False: there is no CUDA here."""
    return False


def device_count() -> int:
    """0: there is no CUDA here."""
    return 0


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False: there is no CUDA here."""
    return False


def manual_seed(seed: int) -> None:
    """Does nothing: there is no generator to seed."""


def manual_seed_all(seed: int) -> None:
    """Does nothing: there is no generator to seed."""


def empty_cache() -> None:
    """Does nothing: there is no cache."""


def _lazy_init() -> NoReturn:
    raise no_cuda()


def _lazy_call(callable: Any, **kwargs: Any) -> None:
    """Does nothing: CUDA never starts."""


class device:
    """A context that selects a device; there is none to select."""

    def __init__(self, device: Any) -> None:
        self.idx = device
        self.prev_idx = -1

    def __enter__(self) -> None:
        if isinstance(self.idx, int) and self.idx >= 0:
            raise RuntimeError("PyTorch was compiled without CUDA support")

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:
        return None


class device_of(device):
    """A context that selects the device of a tensor, which is the CPU."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else -1)


class StreamContext:
    """A context that selects a stream; there is none to select."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        return None

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:
        return None


def stream(stream: Any) -> StreamContext:
    """A context that selects a stream; there is none to select."""
    return StreamContext(stream)


class Stream:
    """A stream of work on a device; none can be made."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("torch.cuda.Stream requires CUDA support")


class ExternalStream(Stream):
    """A stream made elsewhere; none can be made."""


class graph:
    """A context that records a graph of kernels; none can be recorded."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError("torch.cuda.Stream requires CUDA support")


class DeferredCudaCallError(Exception):
    """Raised for calls that waited for CUDA and failed."""


class CudaError(RuntimeError):
    """An error of CUDA itself."""

    def __init__(self, code: int) -> None:
        super().__init__(f"CUDA error {code}")


absent.dummy(_space, "Event CUDAGraph MemPool")
absent.giving(
    _space, lambda: False,
    "_is_compiled _is_in_bad_fork is_initialized is_tf32_supported",
)  # fmt: skip
absent.giving(
    _space, lambda: 0,
    "max_memory_allocated max_memory_cached max_memory_reserved memory_allocated memory_cached "
    "memory_reserved",
)  # fmt: skip
absent.giving(_space, list, "get_arch_list get_rng_state_all")
absent.giving(_space, str, "get_gencode_flags")
absent.giving(_space, OrderedDict, "host_memory_stats memory_stats")
absent.giving(_space, dict, "host_memory_stats_as_nested_dict memory_stats_as_nested_dict")
absent.giving(
    _space, lambda: "pynvml module not found, please install nvidia-ml-py", "list_gpu_processes"
)
absent.giving(_space, absent.no_effect, "caching_allocator_disabled use_mem_pool")
absent.nothing(
    _space,
    "caching_allocator_enable seed seed_all set_rng_state set_rng_state_all set_stream",
)
absent.refusing(
    _space, AssertionError, _NO_CUDA,
    "BFloat16Storage BoolStorage ByteStorage CharStorage ComplexDoubleStorage ComplexFloatStorage "
    "DoubleStorage FloatStorage HalfStorage IntStorage LongStorage ShortStorage "
    "caching_allocator_alloc can_device_access_peer cudart current_blas_handle current_device "
    "current_solver_handle current_stream default_stream get_device_capability get_device_name "
    "get_device_properties get_per_process_memory_fraction get_rng_state "
    "get_stream_from_external get_sync_debug_mode init initial_seed ipc_collect mem_get_info "
    "set_per_process_memory_fraction set_sync_debug_mode synchronize make_graphed_callables",
)  # fmt: skip
absent.refusing(
    _space, ModuleNotFoundError,
    "nvidia-ml-py does not seem to be installed or it can't be imported.",
    "clock_rate device_memory_used memory_usage power_draw temperature utilization",
)  # fmt: skip
absent.refusing(
    _space, RuntimeError, "Tried to instantiate dummy base class _graph_pool_handle",
    "graph_pool_handle",
)  # fmt: skip
absent.refusing(
    _space, RuntimeError, "Tried to instantiate dummy base class _cuda_isCurrentStreamCapturing",
    "is_current_stream_capturing",
)  # fmt: skip
for _name, _asked in {
    "caching_allocator_delete": "_cuda_cudaCachingAllocator_raw_delete",
    "change_current_allocator": "_cuda_changeCurrentAllocator",
    "get_allocator_backend": "_cuda_getAllocatorBackend",
    "memory_snapshot": "_cuda_memorySnapshot",
    "reset_accumulated_host_memory_stats": "_cuda_resetAccumulatedHostMemoryStats",
    "reset_accumulated_memory_stats": "_cuda_resetAccumulatedMemoryStats",
    "reset_max_memory_allocated": "_cuda_resetPeakMemoryStats",
    "reset_max_memory_cached": "_cuda_resetPeakMemoryStats",
    "reset_peak_memory_stats": "_cuda_resetPeakMemoryStats",
    "reset_peak_host_memory_stats": "_cuda_resetPeakHostMemoryStats",
    "set_device": "_cuda_setDevice",
}.items():
    absent.refusing(_space, AttributeError, f"module 'torch._C' has no attribute '{_asked}'", _name)
absent.refusing(_space, KeyError, "allocated_bytes.all.current", "memory_summary")


def _refusing_type(name: str) -> type[Any]:
    """A legacy type such as `torch.cuda.FloatTensor`, of which nothing can be made."""

    def new(cls: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(f"type torch.cuda.{name} not available. {_NO_CUDA}.")

    return type(name, (), {"__new__": new, "__module__": "torch.cuda",
                           "__doc__": "A tensor on a CUDA device: none can be made."})  # fmt: skip


for _name in TYPES:
    if _name.endswith("Tensor") and _name != "Tensor":
        _space[_name] = _refusing_type(_name)

default_generators: tuple[Any, ...] = ()
has_half = True
has_magma = False
Device = _Device


__getattr__ = lazy(
    __name__,
    {name: f".{name}" for name in ("amp", "graphs", "memory", "nvtx", "random", "streams")},
)
__all__ = [*absent.names(_space), "AcceleratorError", "OutOfMemoryError"]  # noqa: PLE0604
