"""`call_for_per_sample_grads`: a module whose parameters get a gradient for each sample."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..._core.storage import TensorBase
from ..._tensor.tensor import Tensor
from ...autograd.function import Function
from ...func import functional_call, vmap
from ..modules.module import Module

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Keywords, Positional

__all__ = ["call_for_per_sample_grads"]


def call_for_per_sample_grads(
    module: Module, *, batch_size: int | None = None, loss_reduction: str = "sum",
    batch_first: bool = True,
) -> AnyCallable:  # fmt: skip
    """`module` as a function of a batch; backward puts `grad_sample` on its parameters.

    Each sample goes through the module by itself, as a batch of one, all at once under `vmap`. With
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
    def called(*args: Any, **kwargs: object) -> Any:
        axis = 0 if batch_first else 1
        size = batch_size or _size(axis, (*args, *kwargs.values()))
        names = [name for name, p in module.named_parameters() if p.requires_grad]
        own = dict(module.named_parameters())
        state = {name: _Kept.apply(own[name], size, loss_reduction == "mean") for name in names}
        return _run(module, state, args, kwargs, axis)

    return called


class _Kept(Function):
    """A parameter as many times as there are samples; backward keeps its gradients apart."""

    @staticmethod
    def forward(ctx: Any, parameter: Tensor, size: int, mean: bool) -> Tensor:
        ctx.parameter, ctx.scale = parameter, size if mean else 1
        return parameter.detach().expand(size, *parameter.shape).clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> object:
        kept = gradient * ctx.scale if ctx.scale != 1 else gradient
        before = getattr(ctx.parameter, "grad_sample", None)
        ctx.parameter.grad_sample = kept if before is None else before + kept
        return None, None, None


def _size(axis: int, values: Positional) -> int:
    sizes = {int(v._raw.shape[axis]) for v in values if isinstance(v, TensorBase)}
    if len(sizes) != 1:
        raise RuntimeError(
            "Unable to find a tensor in the passed args and kwargs. They may not be pytree-able "
            "and so ExpandedWeights cannot compute the batch size from the inputs. Please specify "
            "it explicitly"
            if not sizes
            else "When computing batch size, found at least one input with batch size "
            f"{min(sizes)} and one with batch size {max(sizes)}. Please specify it explicitly "
            "using the batch size kwarg in call_for_per_sample_grads"
        )
    return sizes.pop()


def _run(
    module: Module, state: dict[str, object], args: tuple[Tensor, ...], kwargs: Keywords, axis: int
) -> Any:
    """The module on every sample with parameters of its own, whose gradients are kept apart."""

    def one(parameters: dict[str, Any], inputs: tuple[object, ...], named: Any) -> Any:
        def whole(x: object) -> object:
            return x.unsqueeze(axis) if isinstance(x, Tensor) else x

        given = [whole(x) for x in inputs]
        out = functional_call(
            module, parameters, tuple(given), {k: whole(v) for k, v in named.items()}
        )
        return out.squeeze(axis) if isinstance(out, Tensor) else tuple(o.squeeze(axis) for o in out)

    places = tuple(axis if isinstance(x, TensorBase) else None for x in args)
    named = {k: axis if isinstance(v, TensorBase) else None for k, v in kwargs.items()}
    return vmap(one, in_dims=(0, places, named), out_dims=axis, randomness="different")(
        state, args, kwargs
    )
