"""Batch normalisation without running statistics, which vmap could not write."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..nn.modules.module import Module


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """The module, whose batch norms forget their running statistics: they use each batch's own.

    Parameters:
        root: the module that is looked through.
    Returns: the module, whose batch norms keep no running statistics any more.
    Raises:
        AttributeError: where `root` is no module.
    Example:
        >>> torch.func.replace_all_batch_norm_modules_(nn.BatchNorm1d(3)).running_mean is None
        True
    """
    for module in root.modules():
        if hasattr(module, "track_running_stats") and hasattr(module, "running_mean"):
            if not type(module).__name__.startswith(("BatchNorm", "SyncBatchNorm", "LazyBatch")):
                continue
            module.running_mean = None
            module.running_var = None
            module.num_batches_tracked = None
            module.track_running_stats = False
    return root
