"""DLPack capsules: memory handed from one array library to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..nn._ground import f

if TYPE_CHECKING:
    from .._base.annotations import DeviceLike
    from .._tensor.tensor import Tensor

__all__ = ["from_dlpack", "to_dlpack"]


class _Held:
    """A capsule as the object that array libraries expect."""

    def __init__(self, capsule: object) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: object) -> object:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def from_dlpack(
    ext_tensor: object, *, device: DeviceLike | None = None, copy: bool | None = None
) -> Tensor:
    """A tensor over the memory of another library's array, or of a capsule."""
    if not hasattr(ext_tensor, "__dlpack__"):
        ext_tensor = _Held(ext_tensor)
    out: Tensor = f.from_dlpack(ext_tensor, device=device, copy=copy)
    return out


def to_dlpack(tensor: Tensor) -> object:
    """The capsule of a tensor's memory; what takes it should rather ask the tensor itself."""
    return tensor.__dlpack__()
