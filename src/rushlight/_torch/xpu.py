"""`torch.xpu` where there is none."""

from __future__ import annotations

from collections import OrderedDict

from . import missing_devices as absent

_space = globals()
absent.dummy(_space, "Event MemPool Stream XPUGraph")
absent.giving(
    _space, lambda: False,
    "_is_compiled _is_in_bad_fork is_available is_bf16_supported is_initialized is_tf32_supported",
)  # fmt: skip
absent.refusing(
    _space, AssertionError, "Torch not compiled with XPU enabled",
    "_lazy_init can_device_access_peer current_device current_stream get_device_capability "
    "get_device_name get_device_properties get_per_process_memory_fraction get_rng_state "
    "get_stream_from_external init initial_seed mem_get_info set_device "
    "set_per_process_memory_fraction synchronize",
)  # fmt: skip
absent.refusing(
    _space, ImportError, "pyzes is required; install it with 'pip install pyzes'.",
    "clock_rate device_memory_used memory_usage power_draw temperature utilization",
)  # fmt: skip
absent.giving(
    _space, lambda: 0,
    "device_count max_memory_allocated max_memory_reserved memory_allocated memory_reserved",
)  # fmt: skip
absent.nothing(
    _space,
    "empty_cache manual_seed manual_seed_all seed seed_all set_rng_state set_rng_state_all "
    "set_stream",
)
absent.giving(_space, list, "get_arch_list get_rng_state_all memory_snapshot")
absent.giving(_space, str, "get_gencode_flags")
absent.giving(_space, OrderedDict, "memory_stats")
absent.giving(_space, dict, "memory_stats_as_nested_dict")
absent.giving(_space, absent.no_effect, "use_mem_pool device stream StreamContext")
for _name, _asked in {
    "reset_accumulated_memory_stats": "_xpu_resetAccumulatedMemoryStats",
    "reset_peak_memory_stats": "_xpu_resetPeakMemoryStats",
    "change_current_allocator": "_xpu_changeCurrentAllocator",
}.items():
    absent.refusing(_space, AttributeError, f"module 'torch._C' has no attribute '{_asked}'", _name)

__all__ = absent.names(_space)  # noqa: PLE0605
