"""`RUSHLIGHT_AS_TORCH=1`: `import torch` gives Rushlight, in a process and in all that it starts.

A line in `rushlight.pth` loads this file when Python starts with the variable set. It lies outside
of the package so that nothing else is loaded until a program asks for torch.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

VARIABLE = "RUSHLIGHT_AS_TORCH"


class _WhenAskedFor(Loader):
    """Imports Rushlight and gives it the name torch."""

    def __init__(self, package: ModuleSpec) -> None:
        self.package = package

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        import rushlight

        # This name is being imported; it stands for nothing yet.
        sys.modules.pop("torch", None)
        rushlight.install_as_torch()
        return rushlight

    def exec_module(self, module: ModuleType) -> None:
        # The import system has labelled the module with the alias's spec; it has its own.
        module.__spec__ = self.package


class TorchName(MetaPathFinder):
    """Finds `torch` where Rushlight is installed, and tells `importlib.metadata` of it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """How `import torch` gets Rushlight."""
        if fullname == "functorch":
            return _functorch()
        if fullname != "torch":
            return None
        package = PathFinder.find_spec("rushlight")
        if package is None:
            return None
        spec = ModuleSpec("torch", _WhenAskedFor(package), origin=package.origin, is_package=True)
        spec.submodule_search_locations = package.submodule_search_locations
        return spec

    def find_distributions(self, context: Any = None) -> Iterable[Any]:
        """The distribution of the name torch, for packages that ask before they import it."""
        name = getattr(context, "name", None)
        if name is not None and name.lower() != "torch":
            return ()
        from rushlight._torch.alias import TorchDistribution

        return (TorchDistribution(),)


def _functorch() -> ModuleSpec | None:
    """How `import functorch` gets Rushlight's, which comes with torch."""
    import_module("torch")
    for finder in sys.meta_path:
        spec = finder.find_spec("functorch", None)
        if spec is not None:
            return spec
    return None


def install() -> None:
    """Puts the name torch before all that is installed, if the variable is set."""
    if os.environ.get(VARIABLE, "0") in ("", "0"):
        return
    if not any(isinstance(finder, TorchName) for finder in sys.meta_path):
        sys.meta_path.insert(0, TorchName())
