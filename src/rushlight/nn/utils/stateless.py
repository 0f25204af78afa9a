"""Calling a module with other tensors in place of its own."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ...func.functional_call import functional_call as _call, reparametrize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._tensor.tensor import Tensor
    from ..modules.module import Module


__all__ = ["functional_call"]

#: Packages take the context by this name.
_reparametrize_module = reparametrize


def functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args: Sequence[object] | None = None,
    kwargs: dict[str, object] | None = None,
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
