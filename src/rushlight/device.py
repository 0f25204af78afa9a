"""Devices: where a tensor lives. This build computes on the CPU; "meta" tensors have no data."""

from __future__ import annotations

import re
from typing import Final

from .advice import advised

_KNOWN: Final = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, "
    "mps, meta, hpu, mtia, privateuseone"
)
_TYPES: Final = frozenset(_KNOWN.split(", "))


class device:
    """A device such as `device("cpu")` or `device("cuda", 0)`; compares and hashes by value.

    Raises:
        RuntimeError: for a string that names no device.
    """

    __slots__ = ("type", "index")

    type: str
    index: int | None

    def __init__(self, type: str | device | int, index: int | None = None) -> None:
        if isinstance(type, device):
            self.type, self.index = type.type, type.index if index is None else index
            return
        if isinstance(type, int):
            self.type, self.index = "cuda", type
            return
        match = re.fullmatch(r"([a-z_]+)(?::(\d+))?", type)
        if match is None:
            raise RuntimeError(f"Invalid device string: '{type}'")
        if match[1] not in _TYPES:
            raise RuntimeError(
                f"Expected one of {_KNOWN} device type at start of device string: {type}"
            )
        if match[2] is not None and index is not None:
            raise RuntimeError(
                f"type (string) must not include an index because index was passed "
                f"explicitly: {type}"
            )
        self.type = match[1]
        self.index = int(match[2]) if match[2] is not None else index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        if self.index is None:
            return f"device(type='{self.type}')"
        return f"device(type='{self.type}', index={self.index})"

    def __reduce__(self) -> tuple[object, tuple[str, int | None]]:
        return device, (self.type, self.index)


CPU: Final = device("cpu")
_ADVICE: Final = (
    "tensors live on the CPU here: choose the device by "
    '`"cuda" if torch.cuda.is_available() else "cpu"`, and pass map_location="cpu" to torch.load'
)


def check_cpu(where: str | device | int | None) -> device:
    """The CPU device, if `where` names it.

    Raises:
        AssertionError: for CUDA, in PyTorch's words for a build without it.
        RuntimeError: for any other device.
    """
    if where is None:
        return CPU
    found = device(where)
    if found.type == "cpu":
        return CPU
    if found.type == "cuda":
        raise advised(AssertionError("Torch not compiled with CUDA enabled"), _ADVICE)
    raise advised(
        RuntimeError(f"Rushlight computes on the CPU; there is no device {found} here"), _ADVICE
    )
