"""`torch.ao.pruning`, which isn't here; `torch.nn.utils.prune` is.

Nothing here computes with integers of few bits: what is asked for refuses when it is used.
"""

from __future__ import annotations

from ... import missing_devices as absent

_INSTEAD = "{name}: Rushlight doesn't quantise. Prune with torch.nn.utils.prune."
absent.refusing(
    globals(), NotImplementedError, _INSTEAD,
    "BaseScheduler BaseSparsifier CubicSL FakeSparsity LambdaSL NearlyDiagonalSparsifier "
    "WeightNormSparsifier fqn_to_module get_arg_info_from_tensor_fqn "
    "get_dynamic_sparse_quantized_mapping get_static_sparse_quantized_mapping module_to_fqn ",
)  # fmt: skip

__all__ = absent.names(globals())  # noqa: PLE0605
