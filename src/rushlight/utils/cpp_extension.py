"""`torch.utils.cpp_extension`: names that packages import. Nothing is compiled against it."""

from __future__ import annotations

import os
from typing import Any, NoReturn

from .._base.error_notes import advise

__all__ = [
    "BuildExtension", "CUDAExtension", "CUDA_HOME", "CppExtension", "IS_HIP_EXTENSION", "ROCM_HOME",
    "get_default_build_root", "include_paths", "is_ninja_available", "library_paths", "load",
    "load_inline", "verify_ninja_availability",
]  # fmt: skip

#: There is no CUDA and no ROCm here.
CUDA_HOME: str | None = None
ROCM_HOME: str | None = None
CUDNN_HOME: str | None = None
IS_HIP_EXTENSION = False
TORCH_LIB_PATH = ""


def _refuse(what: str) -> NoReturn:
    raise advise(
        RuntimeError(
            f"{what}: a C++ extension needs PyTorch's C++ library; Rushlight is Python and NumPy"
        ),
        "use the package's Python fallback if it has one; torch.autograd.Function and "
        "torch.library.custom_op take Python",
    )


class BuildExtension:
    """Raises RuntimeError: nothing is compiled against Rushlight."""

    def __init__(self, *args: Any, **kwargs: object) -> None:
        _refuse("BuildExtension")

    @classmethod
    def with_options(cls, **options: object) -> object:
        """The class itself."""
        return cls


def CppExtension(name: str, sources: object, *args: object, **kwargs: object) -> object:
    """Raises RuntimeError: nothing is compiled against Rushlight."""
    _refuse(f"CppExtension({name!r})")


def CUDAExtension(name: str, sources: object, *args: object, **kwargs: object) -> object:
    """Raises RuntimeError: nothing is compiled against Rushlight."""
    _refuse(f"CUDAExtension({name!r})")


def load(name: str, sources: object, *args: object, **kwargs: object) -> object:
    """Raises RuntimeError: nothing is compiled against Rushlight."""
    _refuse(f"cpp_extension.load({name!r})")


def load_inline(name: str, cpp_sources: object, *args: object, **kwargs: object) -> object:
    """Raises RuntimeError: nothing is compiled against Rushlight."""
    _refuse(f"cpp_extension.load_inline({name!r})")


def include_paths(device_type: str = "cpu") -> list[str]:
    """No folders: there are no headers."""
    return []


def library_paths(device_type: str = "cpu") -> list[str]:
    """No folders: there is no library."""
    return []


def get_default_build_root() -> str:
    """The folder where PyTorch builds extensions."""
    import tempfile

    return os.path.realpath(os.path.join(tempfile.gettempdir(), "torch_extensions"))


def is_ninja_available() -> bool:
    """Whether ninja can be started."""
    import shutil

    return shutil.which("ninja") is not None


def verify_ninja_availability() -> None:
    """Does nothing where ninja is there.

    Raises:
        RuntimeError: where it isn't.
    """
    if not is_ninja_available():
        raise RuntimeError("Ninja is required to load C++ extensions (pip install ninja to get it)")
