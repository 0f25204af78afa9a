"""`torch._C.PyTorchFileReader` and `PyTorchFileWriter`: names in annotations of packages."""

from __future__ import annotations

from typing import Any

from ..._base.error_notes import advise


class PyTorchFileReader:
    """Raises NotImplementedError: `torch.load` reads files.

    Raises:
        NotImplementedError: always.

    Parameters:
        args: what PyTorch's takes: a path or a file.
    Example:
        >>> torch.serialization.peek  # instead
        <function peek at 0x...>
    """

    __module__ = "torch._C"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise advise(
            NotImplementedError(f"{type(self).__name__} is a part of PyTorch's compiled code"),
            "use torch.load, torch.save or rushlight.peek",
        )


class PyTorchFileWriter(PyTorchFileReader):
    """Raises NotImplementedError: `torch.save` writes files.

    Parameters:
        args: what PyTorch's takes: a path or a file.
    Raises: NotImplementedError: always.
    Example:
        >>> torch.serialization.save_safetensors  # instead
        <function save_safetensors at 0x...>
    """

    __module__ = "torch._C"
