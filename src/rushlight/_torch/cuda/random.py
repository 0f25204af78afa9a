"""`torch.cuda.random`: random numbers on a device that isn't here."""

from __future__ import annotations

from .. import cuda

_NAMES = (
    "get_rng_state", "get_rng_state_all", "initial_seed", "manual_seed", "manual_seed_all",
    "seed", "seed_all", "set_rng_state", "set_rng_state_all", "current_device", "device_count",
)  # fmt: skip
globals().update({name: getattr(cuda, name) for name in _NAMES})

__all__ = sorted(_NAMES)  # noqa: PLE0605
