"""`torch.utils.mobile_optimizer`: changes to graphs for telephones; there is no graph to change."""

from __future__ import annotations

from enum import Enum

from .._base.error_notes import advise

__all__ = ["LintCode", "MobileOptimizerType", "optimize_for_mobile"]


class LintCode(Enum):
    """What may be wrong with a module for a telephone."""

    BUNDLED_INPUT = 1
    REQUIRES_GRAD = 2
    DROPOUT = 3
    BATCHNORM = 4


class MobileOptimizerType(Enum):
    """The changes that PyTorch makes."""

    CONV_BN_FUSION = 1
    INSERT_FOLD_PREPACK_OPS = 2
    REMOVE_DROPOUT = 3
    FUSE_ADD_RELU = 4
    HOIST_CONV_PACKED_PARAMS = 5
    CONV_1D_TO_2D = 6
    VULKAN_AUTOMATIC_GPU_TRANSFER = 7


def optimize_for_mobile(script_module: object, *args: object, **kwargs: object) -> object:
    """Raises RuntimeError: there is no graph."""
    raise advise(
        RuntimeError("optimize_for_mobile needs a TorchScript graph, and Rushlight makes none"),
        "export the model from PyTorch",
    )
