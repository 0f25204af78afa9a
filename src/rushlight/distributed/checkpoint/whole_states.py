"""State dictionaries of several ranks: whole, and back into what each rank has of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..._tensor.tensor import Tensor
from ...autograd.grad_mode import no_grad
from ...nn._ground import f
from ..collectives import broadcast
from ..object_collectives import broadcast_object_list
from ..process_group import get_rank, get_world_size, is_initialized
from ..tensor._api import DTensor, distribute_tensor

if TYPE_CHECKING:
    from ..annotations import Given

__all__ = ["cut_like", "gather", "of_the_first"]


@dataclass
class _Sent:
    """What stands for a tensor that is sent by itself."""

    shape: tuple[int, ...]
    dtype: Any


def _each(state: Given, of: Callable[[Given], Given]) -> Given:
    """The same dictionaries and lists, of what a function makes of that which lies in them."""
    if isinstance(state, dict):
        return {key: _each(inner, of) for key, inner in state.items()}
    if type(state) in (list, tuple):
        return type(state)([_each(inner, of) for inner in state])
    return of(state)


def gather(state: dict[str, Any], full: bool, offload: bool) -> dict[str, Any]:
    """A dictionary with whole tensors in the place of pieces, or all of it on the CPU.

    Both together are rank 0's alone: the others, which have sent their pieces, get {}.
    """

    def of(value: Given) -> Given:
        if full and isinstance(value, DTensor):
            value = value.full_tensor()
        return value.detach().cpu() if offload and isinstance(value, Tensor) else value

    with no_grad():
        out: dict[str, Any] = _each(state, of)
    return {} if full and offload and is_initialized() and get_rank() != 0 else out


def of_the_first(given: dict[str, Any]) -> dict[str, Any]:
    """Rank 0's dictionary, on every rank; its tensors are sent one at a time."""
    if not is_initialized() or get_world_size() == 1:
        return given
    sent: list[Tensor] = []

    def mark(value: Given) -> Given:
        if not isinstance(value, Tensor) or value.dim() == 0:  # a number goes with the names
            return value
        sent.append(value.detach().contiguous())
        return _Sent(tuple(value.shape), value.dtype)

    def receive(value: Given) -> Given:
        if not isinstance(value, _Sent):
            return value
        tensor = sent.pop(0) if first else f.empty(value.shape, dtype=value.dtype)
        broadcast(tensor, src=0)
        return tensor

    first = get_rank() == 0
    form: list[Any] = [_each(given, mark) if first else None]
    broadcast_object_list(form, src=0)
    out: dict[str, Any] = _each(form[0], receive)
    return out


def cut_like(own: Given, whole: Given) -> Given:
    """This rank's piece of a whole tensor, cut as its own is; anything else as it comes."""
    if not isinstance(own, DTensor) or not isinstance(whole, Tensor) or isinstance(whole, DTensor):
        return whole
    if whole.shape != own.shape:  # loading says so
        return whole
    with no_grad():
        return distribute_tensor(whole, own.device_mesh, own.placements, src_data_rank=None)
