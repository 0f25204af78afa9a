"""`torch.__future__`: how `Module.to` and its like put converted parameters in place."""

from __future__ import annotations

from ..nn.modules.module import CONVERSION as _chosen


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Notes whether converted parameters become new ones."""
    _chosen["overwrite"] = value


def get_overwrite_module_params_on_conversion() -> bool:
    """What was noted."""
    return _chosen["overwrite"]


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Notes whether converted parameters are swapped with the old ones."""
    _chosen["swap"] = value


def get_swap_module_params_on_conversion() -> bool:
    """What was noted."""
    return _chosen["swap"]


__all__ = [
    "get_overwrite_module_params_on_conversion", "get_swap_module_params_on_conversion",
    "set_overwrite_module_params_on_conversion", "set_swap_module_params_on_conversion",
]  # fmt: skip
