"""`torch._C._functorch`: what packages ask of the wrappers that functions see under `vmap`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._core.mode import current
from ..._core.storage import TensorBase
from ..._tensor.batching import BatchedTensor, Batching, Layer, unwrap, wrap
from ..._tensor.printed_levels import derivative_level
from ...func.interpreters import (
    Interpreter as CInterpreter,
    TransformType as TransformType,
    innermost,
)

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor

# The vmaps that were entered by number rather than by a `with`, the innermost last.
_entered: list[Batching] = []


def is_batchedtensor(tensor: Tensor) -> bool:
    """Whether a tensor stands for one example of a batch."""
    return isinstance(tensor, BatchedTensor)


def is_functorch_wrapped_tensor(tensor: Any) -> bool:
    """Whether a transform has wrapped a tensor: only `vmap` does here."""
    return isinstance(tensor, BatchedTensor)


def is_gradtrackingtensor(tensor: Any) -> bool:
    """Whether a derivative that runs tracks a tensor, and no vmap inside of it has wrapped it."""
    return not isinstance(tensor, BatchedTensor) and derivative_level(tensor) > 0


def dlevel(tensor: TensorBase) -> int:
    """The number of the innermost transform, if that is a derivative which tracks a tensor.

    0 where nothing does, -1 where the tensor was made in a derivative that is over.
    """
    return 0 if isinstance(tensor, BatchedTensor) else derivative_level(tensor)


def is_functionaltensor(tensor: Any) -> bool:
    """False: there is no such wrapper here."""
    return False


def is_legacy_batchedtensor(tensor: Any) -> bool:
    """False: there is one `vmap`."""
    return False


def _wrap_for_grad(tensor: Tensor, level: int) -> Tensor:
    """A result of what ran outside of a derivative, as that sees it: without a graph."""
    return tensor.detach()


def _unwrap_for_grad(tensor: Tensor, level: int) -> Tensor:
    """An argument as what lies outside of a derivative sees it: itself."""
    return tensor


def get_unwrapped(tensor: Tensor) -> Tensor:
    """The batch behind a tensor that `vmap` has wrapped; any other tensor itself."""
    return tensor._value if isinstance(tensor, BatchedTensor) else tensor


def maybe_get_bdim(tensor: Tensor) -> int:
    """The dimension of the batch; -1 where there is none."""
    return tensor._dim if isinstance(tensor, BatchedTensor) else -1


def maybe_get_level(tensor: Any) -> int:
    """How deep the vmap lies that has wrapped a tensor; -1 where none has."""
    return tensor._layer.level if isinstance(tensor, BatchedTensor) else -1


def maybe_current_level() -> int | None:
    """How deep the innermost vmap lies; None outside of any."""
    layers = current().layers
    return layers[-1].level if layers else None


def current_level() -> int:
    """How deep the innermost vmap lies; 0 outside of any."""
    return maybe_current_level() or 0


def peek_interpreter_stack() -> CInterpreter | None:
    """The innermost transform that is running."""
    return innermost()


def _at(level: int) -> Layer:
    for layer in current().layers:
        if layer.level == level:
            return layer
    raise RuntimeError(f"There is no vmap of level {level} running")


def _add_batch_dim(tensor: TensorBase, batch_dim: int, level: int) -> Tensor:
    """What a function under the vmap of `level` sees of the batch `tensor`."""
    return wrap(tensor, batch_dim % tensor._raw.ndim, _at(level))


def _remove_batch_dim(tensor: TensorBase, level: int, batch_size: int, out_dim: int) -> Any:
    """The batch behind a result, at `out_dim`; one that doesn't depend on it is repeated."""
    return unwrap(tensor, _at(level), out_dim)


def _vmap_increment_nesting(batch_size: int, randomness: str) -> int:
    """Enters a vmap; tells its level."""
    vmap = Batching(batch_size, randomness)
    layer = vmap.__enter__()
    _entered.append(vmap)
    return layer.level


def _vmap_decrement_nesting() -> int:
    """Leaves the vmap that was entered last; tells its level."""
    vmap = _entered.pop()
    vmap.__exit__()
    return vmap.layer.level
