"""Which parameters of a group the raw sweep may take, and which go the generic way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .._array.types import FLOAT32, FLOAT64
from ._ground import Tensor, bump

if TYPE_CHECKING:
    from .._array.annotations import Array


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

    def note_write(self) -> None:
        """Notes the write for saved-tensor checks: one version more for each parameter."""
        for p in self.params:
            bump(p)


class Pieces:
    """As `Plain`, the parameters that are cut over ranks, with what this rank has of them.

    A rule says of each element what becomes of it, whatever the others are: where a parameter, its
    gradient and its states are cut alike, it runs on the pieces. Those whose state is yet to be
    made are left to `others`.
    """

    __slots__ = ("grads", "others", "params", "raws")

    def __init__(
        self, params: Iterable[Tensor], states: Mapping[Tensor, Any], names: tuple[str, ...]
    ) -> None:
        self.params: list[Tensor] = []
        self.raws: list[Any] = []
        self.grads: list[Any] = []
        self.others: list[Tensor] = []
        for p in params:
            found = _pieces(p, states.get(p) or {}, names) if hasattr(p, "_piece_like") else None
            if found is None or (self.raws and found[0].dtype is not self.raws[0].dtype):
                self.others.append(p)
            else:
                self.params.append(p)
                self.raws.append(found[0])
                self.grads.append(found[1])

    def note_writes(self) -> None:
        """Notes the write for saved-tensor checks."""
        for p in self.params:
            bump(p)
            bump(_piece(p))


def _pieces(p: Tensor, state: Mapping[str, object], names: tuple[str, ...]) -> list[Array] | None:
    """The arrays of this rank's pieces of a parameter, its gradient and states, if all are plain
    and cut alike.
    """
    if any(isinstance(x, Tensor) and not x._plain for k, x in state.items() if k not in names):
        return None
    held = [state.get(name) for name in names]
    if names and not state:
        return None
    raws: list[Any] = []
    for t in (p, p.grad, *(t for t in held if t is not None)):
        piece = t._piece_like(p) if hasattr(t, "_piece_like") else None
        if piece is None or not piece._plain or not piece._raw.size:
            return None
        raws.append(piece._raw)
    first = raws[0]
    if first.dtype is not FLOAT32 and first.dtype is not FLOAT64:
        return None
    if any(raw.dtype is not first.dtype or raw.shape != first.shape for raw in raws):
        return None
    return raws


def raw_of(t: Tensor) -> Any:
    """A tensor's array."""
    return t._raw


def _piece(t: Any) -> Tensor:
    piece: Tensor = t._piece_like(t)
    return piece


def raw_of_piece(t: Tensor) -> Any:
    """The array of what this rank has of a tensor."""
    return _piece(t)._raw


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
