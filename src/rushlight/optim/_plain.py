"""Which parameters of a group the raw sweep may take, and which go the generic way."""

from collections.abc import Iterable
from typing import Any

from .._array.types import FLOAT32, FLOAT64
from ._ground import Tensor, bump


class Plain:
    """The parameters with gradients of one group, sorted by the way their update runs.

    `params`, `raws` and `grads` go together: plain float32 (or float64) tensors of one dtype,
    with their arrays and their gradients' arrays. `others` holds the remaining parameters.
    """

    __slots__ = ("grads", "others", "params", "raws")

    def __init__(
        self, params: Iterable[Tensor], owner: Any = None, group: dict[str, object] | None = None
    ) -> None:
        chosen: list[Tensor] = []
        raws: list[Any] = []
        grads: list[Any] = []
        others: list[Tensor] = []
        dtype: Any = None
        for p in params:
            grad = p._grad
            if grad is None:
                continue
            raw, raw_grad = p._raw, grad._raw
            kind = raw.dtype
            if kind is not dtype and dtype is None and (kind is FLOAT32 or kind is FLOAT64):
                dtype = kind
            if kind is dtype and raw_grad.dtype is dtype and p._plain and grad._plain:
                chosen.append(p)
                raws.append(raw)
                grads.append(raw_grad)
            else:
                others.append(p)
        self.params = chosen
        self.raws = raws
        self.grads = grads
        self.others = others
        if others and owner is not None:
            owner._check_others(others, group)

    def written(self) -> None:
        """Notes the write for saved-tensor checks: one version more for each parameter."""
        for p in self.params:
            bump(p)


def with_gradient(params: Iterable[Tensor]) -> list[Tensor]:
    """The parameters that have a gradient."""
    return [p for p in params if p.grad is not None]


def gradient_of(p: Tensor) -> Tensor:
    """The gradient of a parameter that has one."""
    return p.grad  # type: ignore[return-value]


def next_step(count: Tensor) -> float:
    """A step counter after counting one more, as a number."""
    raw = count._raw
    value = float(raw.item()) + 1.0
    raw.fill(value)
    return value
