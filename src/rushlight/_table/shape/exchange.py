"""Memory that goes to other array libraries and comes from them: DLPack. No gradients pass here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..._array import types as T
from ..._base.device import device as device_of, on_meta
from ..._base.errors import type_name
from ..._base.lazy import later
from ..._base.memory_format import strided
from ..._core.storage import CLASSES, TensorBase, new_tensor
from ..rows.composite import composite

if TYPE_CHECKING:
    from ..._base.annotations import DeviceLike
    from ..._tensor.tensor import Tensor

raw = later("_array.memory.dlpack")

_NO_DATA: Final = "Cannot pack tensors on meta"


@composite()
def from_dlpack(ext_tensor: Any, *, device: DeviceLike | None = None,
                copy: bool | None = None) -> Tensor:  # fmt: skip
    """A tensor that shares the memory of another library's array, or of a DLPack capsule.

    Raises:
        BufferError: for a tensor that requires grad, and for elements that tensors don't have.
        RuntimeError: for what is no array, and for a capsule that has been read.
        AssertionError: for a device that is none, and for memory of CUDA's.
    """
    if not (device is None or isinstance(device, (str, device_of))):
        raise AssertionError(f"from_dlpack: unsupported device type: {type(device)}")
    if device is not None and on_meta(device):
        raise BufferError(_NO_DATA)
    if not isinstance(ext_tensor, TensorBase):
        made: Any = new_tensor(raw.array_from(ext_tensor, device is not None, copy))
        return made
    source: Any = ext_tensor
    source.__dlpack_device__()
    refuse_export(source, grad=True)
    made = source.clone() if copy else source.detach()
    return made if type(made) is CLASSES.tensor else made.as_subclass(CLASSES.tensor)


@composite()
def to_dlpack(data: Any) -> object:
    """The capsule of a tensor's memory; what takes it should rather ask the tensor itself."""
    if not isinstance(data, TensorBase):
        raise TypeError(
            f"_to_dlpack(): argument 'data' (position 1) must be Tensor, not {type_name(data)}"
        )
    refuse_export(data, grad=False)
    return raw.capsule_of(T.outside_view(data._raw), {})


def capsule(
    t: Tensor, stream: object, max_version: object, dl_device: object, copy: object
) -> object:
    """The capsule that a tensor gives when it is asked for one.

    Raises:
        BufferError: for a tensor that requires grad, has no data, or lies in another layout.
        TypeError, AssertionError: for a stream, which memory of the CPU has none of.
    """
    refuse_export(t, grad=True)
    if stream is not None and type(stream) is not int:
        raise TypeError("stream must be ``int`` or ``none``")
    if stream is not None and stream != -1:
        raise AssertionError("stream should be None on cpu.")
    if max_version is not None:
        max_version[0]  # type: ignore[index]
    if dl_device is not None and not isinstance(dl_device, (tuple, list)):
        raise TypeError(
            f"_to_dlpack(): argument 'dl_device' must be tuple of ints, not {type_name(dl_device)}"
        )
    if copy is not None and not isinstance(copy, bool):
        raise TypeError(f"_to_dlpack(): argument 'copy' must be bool, not {type_name(copy)}")
    wishes = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
    wishes = {name: wish for name, wish in wishes.items() if wish is not None}
    return raw.capsule_of(T.outside_view(t._raw), wishes)


def refuse_export(t: Any, grad: bool) -> None:
    """Refuses a tensor whose memory alone doesn't say what it is.

    Raises:
        BufferError: in PyTorch's words; only with `grad` for a tensor that requires it.
    """
    if grad and t.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if t.layout is not strided:
        raise BufferError("Can't export tensors with layout other than torch.strided")
    if t.device.type == "meta":
        raise BufferError(_NO_DATA)
