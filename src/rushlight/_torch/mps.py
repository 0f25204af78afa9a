"""`torch.mps` where there is none."""

from __future__ import annotations

from . import missing_devices as absent

_space = globals()
for _name, _asked in {
    "Event": "acquireEvent", "current_allocated_memory": "getCurrentAllocatedMemory",
    "driver_allocated_memory": "getDriverAllocatedMemory", "empty_cache": "emptyCache",
    "get_rng_state": "getDefaultGenerator", "seed": "getDefaultGenerator",
    "set_rng_state": "getDefaultGenerator",
    "recommended_max_memory": "getRecommendedMaxMemory", "synchronize": "deviceSynchronize",
    "set_per_process_memory_fraction": "setMemoryFraction",
}.items():  # fmt: skip
    absent.refusing(_space, RuntimeError, f"Cannot execute {_asked}() without MPS backend.", _name)
absent.refusing(_space, RuntimeError, "MPS is not available", "compile_shader load_metallib")
absent.giving(_space, lambda: 0, "device_count")
absent.giving(_space, lambda: False, "is_available _is_in_bad_fork")
absent.nothing(_space, "manual_seed")

__all__ = absent.names(_space)  # noqa: PLE0605
