"""Calling a module with other tensors in place of its own."""

import warnings
from typing import Any

from ...func.functional_call import functional_call as _call, reparametrized

__all__ = ["functional_call"]

#: Packages take the context by this name.
_reparametrize_module = reparametrized


def functional_call(
    module: Any,
    parameters_and_buffers: dict[str, Any],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """`func.functional_call` under its old name, which warns."""
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be "
        "removed in a future version of PyTorch. Please use `torch.func.functional_call` instead "
        "which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return _call(
        module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict
    )
