"""What `importlib.metadata` says of torch while the name means Rushlight."""

from __future__ import annotations

from importlib.metadata import Distribution
from os import PathLike
from pathlib import Path
from typing import Final

from ..._base.version import __version__

__all__ = ["FOLLOWED", "TorchDistribution"]

#: The PyTorch whose behaviour is followed.
FOLLOWED: Final = "2.13.0"

_FILES: Final = {
    "METADATA": f"""\
Metadata-Version: 2.1
Name: torch
Version: {FOLLOWED}
Summary: Rushlight {__version__} under the name torch
Requires-Dist: rushlight (=={__version__})
""",
    "top_level.txt": "torch\n",
    "INSTALLER": "rushlight\n",
}


class TorchDistribution(Distribution):
    """The distribution torch, which is Rushlight: its version is the PyTorch that is followed."""

    def read_text(self, filename: str) -> str | None:
        """One of its files."""
        return _FILES.get(filename)

    def locate_file(self, path: str | PathLike[str]) -> Path:
        """Where a file of the distribution would lie: beside the package."""
        return Path(__file__).resolve().parents[3] / path
