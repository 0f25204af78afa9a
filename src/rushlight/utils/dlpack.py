"""DLPack capsules: memory handed from one array library to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..nn._ground import f

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor

__all__ = ["from_dlpack", "to_dlpack"]


class _Held:
    """A capsule as the object that array libraries expect."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Any:
    """A tensor over the memory of another library's array, or of a capsule."""
    if not hasattr(ext_tensor, "__dlpack__"):
        ext_tensor = _Held(ext_tensor)
    return f.from_dlpack(ext_tensor, device=device, copy=copy)


def to_dlpack(tensor: Tensor) -> Any:
    """The capsule of a tensor's memory; what takes it should rather ask the tensor itself."""
    return tensor.__dlpack__()
