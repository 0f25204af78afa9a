"""`call_for_per_sample_grads`: a module whose parameters get a gradient for each sample."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..._core.storage import TensorBase
from ...func import functional_call
from ...func._tree import flatten
from ..modules.module import Module
from ._expanded_weights import ExpandedWeight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._base.annotations import AnyCallable

__all__ = ["call_for_per_sample_grads"]


def call_for_per_sample_grads(
    module: Module, *, batch_size: int | None = None, loss_reduction: str = "sum",
    batch_first: bool = True,
) -> AnyCallable:  # fmt: skip
    """`module` as a function of a batch; backward puts `grad_sample` on its parameters.

    The layers that it is made of must know the samples apart; see `_expanded_weights`. With
    `loss_reduction="mean"` the gradients are multiplied by the size of the batch.

    Raises:
        RuntimeError: where `module` is none, or the arguments don't say how large the batch is.
    """
    if loss_reduction not in ("sum", "mean"):
        raise RuntimeError(
            f"Expected loss_reduction argument to be sum or mean, got {loss_reduction}"
        )
    if not isinstance(module, Module):
        raise RuntimeError(f"Module passed must be nn.Module, got {type(module).__name__}")
    if not (batch_size is None or isinstance(batch_size, int)):
        raise RuntimeError(
            f"Batch size passed must be None or an integer, got {type(batch_size).__name__}"
        )
    if batch_size is not None and batch_size < 1:
        raise RuntimeError(f"Batch size must be positive, got {batch_size}")
    for parameter in module.parameters():
        if getattr(parameter, "grad_sample", None) is not None:
            raise RuntimeError(
                "Current Expanded Weights accumulates the gradients, which will be incorrect for "
                f"multiple calls without clearing gradients. Please clear out the grad_sample "
                f"parameter of {parameter} or post an issue to pytorch/pytorch to prioritize "
                "correct behavior"
            )

    @functools.wraps(module.forward)
    def call(*args: object, **kwargs: object) -> object:
        size = batch_size
        if size is None:
            size = _size(0 if batch_first else 1, flatten((args, kwargs))[0])
        state: dict[str, Any] = {
            name: ExpandedWeight(own, size, loss_reduction) if own.requires_grad else own
            for name, own in module.named_parameters()
        }
        return functional_call(module, state, args, kwargs)

    return call


def _size(axis: int, values: Sequence[object]) -> int:
    size = None
    for value in values:
        if not isinstance(value, TensorBase):
            continue
        own = int(value._raw.shape[axis])
        if size is not None and size != own:
            raise RuntimeError(
                f"When computing batch size, found at least one input with batch size {size} and "
                f"one with batch size {own}. Please specify it explicitly using the batch size "
                "kwarg in call_for_per_sample_grads"
            )
        size = own
    if size is None:
        raise RuntimeError(
            "Unable to find a tensor in the passed args and kwargs. They may not be pytree-able "
            "and so ExpandedWeights cannot compute the batch size from the inputs. Please specify "
            "it explicitly"
        )
    return size
