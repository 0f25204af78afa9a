"""`torch.mtia` where there is none."""

from __future__ import annotations

from . import missing_devices as absent

_space = globals()
_MISSING = (
    "Torch not compiled with MTIA enabled. Ensure you have "
    "`import mtia.host_runtime.torch_mtia.dynamic_library` in your python src file and include "
    "`//mtia/host_runtime/torch_mtia:torch_mtia` as your target dependency!"
)
absent.refusing(_space, AssertionError, _MISSING, "_lazy_init get_rng_state init initial_seed")
for _asked, _names in {
    "getCurrentDevice": "current_device current_stream default_stream get_device_capability "
    "get_device_properties set_rng_state stream synchronize StreamContext",
    "emptyCache": "empty_cache", "setCurrentDevice": "set_device", "memorySnapshot": "snapshot",
    "graphPoolHandle": "graph_pool_handle", "mtiagraphCreate": "MTIAGraph",
}.items():  # fmt: skip
    absent.refusing(
        _space, RuntimeError, f"Cannot execute {_asked}() without MTIA backend.", _names
    )
absent.giving(_space, lambda: False, "_is_compiled _is_in_bad_fork is_available is_initialized")
absent.giving(_space, lambda: True, "is_bf16_supported")
absent.giving(_space, lambda: 0, "device_count max_memory_allocated memory_allocated")
absent.giving(_space, list, "get_rng_state_all")
absent.giving(_space, dict, "memory_stats")
absent.giving(_space, absent.no_effect, "device")
absent.nothing(
    _space,
    "manual_seed manual_seed_all record_memory_history reset_peak_memory_stats seed seed_all "
    "set_rng_state_all set_stream",
)

__all__ = absent.names(_space)  # noqa: PLE0605
