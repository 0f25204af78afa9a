"""What optimisers of other packages take from `torch.optim.optimizer` under private names."""

import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from ._ground import Tensor, f, set_grad_enabled

__all__ = [
    "ParamsT", "_default_to_fused_or_foreach", "_get_value", "_stack_if_compiling", "_to_scalar",
    "_use_grad_for_differentiable", "_view_as_real",
]  # fmt: skip

#: What an optimiser is given: parameters, groups of them, or parameters with their names.
ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]


def _use_grad_for_differentiable(
    func: Callable[..., Tensor | float | None],
) -> Callable[..., object]:
    """A `step` that runs with gradients on only where the optimiser is differentiable."""

    @functools.wraps(func)
    def step(self: Any, *args: object, **kwargs: object) -> Tensor | float | None:
        with set_grad_enabled(bool(self.defaults.get("differentiable", False))):
            return func(self, *args, **kwargs)

    return step


def _get_value(x: Tensor | float) -> Tensor | float:
    """A Python number from a number or a one-element tensor."""
    return x.item() if isinstance(x, Tensor) else x


def _to_scalar(x: Tensor | float) -> Tensor | float:
    """A tensor without dimensions from one with one element; a number as it is."""
    return x.squeeze() if isinstance(x, Tensor) and x.dim() != 0 else x


def _stack_if_compiling(x: Tensor) -> Tensor:
    """The values themselves: steps aren't compiled as PyTorch compiles them."""
    return x


def _default_to_fused_or_foreach(
    params: list[object], differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Whether to choose a fused or a many-tensor step, where the program chooses none: no."""
    return False, False


def _view_as_real(params: list[Any], *state_and_grads: list[Any]) -> None:
    """Puts views as pairs of real numbers in the place of complex tensors, in the lists."""
    for i, p in enumerate(params):
        if p.is_complex():
            params[i] = f.view_as_real(p)
            for other in state_and_grads:
                other[i] = f.view_as_real(other[i])
