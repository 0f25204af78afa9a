"""`python -m torch.utils.collect_env`: what a bug report should say of the machine."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from typing import NamedTuple

from .._base.version import __version__

__all__ = ["SystemEnv", "get_env_info", "get_pretty_env_info", "main", "pretty_str"]


class SystemEnv(NamedTuple):
    """What there is, under PyTorch's names."""

    torch_version: str
    is_debug_build: str
    cuda_compiled_version: str
    is_cuda_available: str
    os: str
    libc_version: str
    python_version: str
    python_platform: str
    cpu_info: str
    pip_packages: str


_PACKAGES = ("numpy", "scipy", "ml_dtypes", "llvmlite", "einops", "torchmetrics")


def _versions() -> str:
    lines = []
    for name in _PACKAGES:
        try:
            lines.append(f"{name}=={metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return "\n".join(lines)


def get_env_info() -> SystemEnv:
    """What there is on this machine."""
    return SystemEnv(
        torch_version=f"2.13.0 (Rushlight {__version__})",
        is_debug_build="False",
        cuda_compiled_version="None",
        is_cuda_available="False",
        os=platform.platform(terse=True),
        libc_version="-".join(platform.libc_ver()) or "N/A",
        python_version=f"{sys.version} ({sys.maxsize.bit_length() + 1}-bit runtime)",
        python_platform=platform.platform(),
        cpu_info=f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores",
        pip_packages=_versions(),
    )


def pretty_str(envinfo: SystemEnv) -> str:
    """The same as lines."""
    titles = {
        "torch_version": "PyTorch version", "is_debug_build": "Is debug build",
        "cuda_compiled_version": "CUDA used to build PyTorch",
        "is_cuda_available": "Is CUDA available", "os": "OS", "libc_version": "Libc version",
        "python_version": "Python version", "python_platform": "Python platform",
        "cpu_info": "CPU", "pip_packages": "Versions of relevant libraries",
    }  # fmt: skip
    lines = [f"{title}: {getattr(envinfo, key)}" for key, title in titles.items()]
    return "\n".join(lines)


def get_pretty_env_info() -> str:
    """What there is on this machine, as lines."""
    return pretty_str(get_env_info())


def main(*_: object) -> None:
    """Prints what there is on this machine."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
