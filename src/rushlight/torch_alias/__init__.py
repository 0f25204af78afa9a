"""`torch` means Rushlight: `import torch` and `import torch.nn` give it after `install_as_torch()`.

The modules are the same objects under a second name, so `torch.nn.Linear is rushlight.nn.Linear`
and nothing is loaded twice. What Rushlight lacks is an error that says so; it is never taken from a
real torch that happens to be installed.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Sequence
from importlib.abc import InspectLoader, Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

from .._version import __version__
from ..advice import place
from ..torch_version import TorchVersion
from .missing import (
    MissingImports,
    asked_by_import,
    explain_missing_names,
    lacking,
    refuse_from_import,
)

if TYPE_CHECKING:
    from importlib.metadata import Distribution

__all__ = ["TORCH_VERSION", "TorchDistribution", "install_as_torch"]

#: What `torch.__version__` says: the PyTorch whose behaviour is followed, then who follows it.
TORCH_VERSION = TorchVersion(f"2.13.0+rushlight.{__version__}")

_OURS = __name__.partition(".")[0]


def __getattr__(name: str) -> Any:
    """Loads what needs `importlib.metadata` when it is first asked for."""
    if name == "TorchDistribution":
        from .distribution import TorchDistribution

        return TorchDistribution
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


class _Alias(InspectLoader, Loader):
    """Loads a Rushlight module under its torch name: the import of it has been done."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has just labelled the module with the alias's spec; it has its own.
        module.__spec__ = self.spec

    def _own(self) -> InspectLoader:
        loader = self.spec.loader if self.spec is not None else None
        if not isinstance(loader, InspectLoader):
            raise ImportError(f"there is no source of {self.module.__name__}")
        return loader

    def get_source(self, fullname: str) -> str | None:
        """The source of the module (what `python -m torch.x` and `inspect` read)."""
        return self._own().get_source(self.module.__name__)

    def get_code(self, fullname: str) -> CodeType | None:
        """The code of the module."""
        return self._own().get_code(self.module.__name__)

    def is_package(self, fullname: str) -> bool:
        """Whether the module has submodules."""
        return hasattr(self.module, "__path__")


class _TorchFinder(MetaPathFinder):
    """Finds `torch.x.y` where Rushlight has `rushlight.x.y`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module of Rushlight under its torch name.

        Raises:
            ModuleNotFoundError: where Rushlight has no such module and an import asks for it.
        """
        if fullname == "functorch":
            own_name = _OURS + "._functorch.package"  # PyTorch installs this module beside its own
        elif fullname.startswith("torch."):
            own_name = _OURS + fullname.removeprefix("torch")
        else:
            return None
        try:
            module = importlib.import_module(own_name)
        except ModuleNotFoundError as error:
            if error.name is None or not (own_name + ".").startswith(error.name + "."):
                raise  # something that the module itself needs is missing
            if not asked_by_import():
                return None
            refuse_from_import(fullname)
            raise ModuleNotFoundError(
                lacking(f"No module named '{fullname}'", place()), name=fullname
            ) from None
        explain_missing_names(module, fullname)
        alias = _Alias(module)
        spec = ModuleSpec(fullname, alias, is_package=alias.is_package(fullname))
        if alias.spec is not None:
            spec.origin, spec.has_location = alias.spec.origin, alias.spec.has_location
            if spec.submodule_search_locations is not None:
                spec.submodule_search_locations = alias.spec.submodule_search_locations
        return spec

    def find_distributions(self, context: Any = None) -> Iterable[Distribution]:
        """The distribution of the name torch."""
        name = getattr(context, "name", None)
        if name is not None and name.lower() != "torch":
            return ()
        from .distribution import TorchDistribution

        return (TorchDistribution(),)


def install_as_torch() -> None:
    """Makes `torch` and `torch.*` mean Rushlight in this process; calling it again changes nothing.

    `torch.__version__` (and so `rushlight.__version__`, the same module's) becomes `TORCH_VERSION`;
    `importlib.metadata` answers for torch, too.

    Raises:
        RuntimeError: if the real torch, or anything else of that name, has been imported already.
    """
    package = sys.modules[_OURS]
    present = sys.modules.get("torch")
    if present is package:
        return
    if present is not None or any(name.startswith("torch.") for name in sys.modules):
        where = getattr(present, "__file__", None)
        raise RuntimeError(
            "install_as_torch: torch has already been imported"
            + (f" from {where}" if where else "")
            + ". Call rushlight.install_as_torch() before the first `import torch`, or run the"
            " program with `python -m rushlight`."
        )
    explain_missing_names(package, "torch")
    package.__dict__["__version__"] = TORCH_VERSION
    # What waited for `import torch` (RUSHLIGHT_AS_TORCH=1) has done its work.
    sys.meta_path[:] = [f for f in sys.meta_path if type(f).__module__ != "_rushlight_site"]
    sys.meta_path.insert(0, _TorchFinder())
    sys.meta_path.append(MissingImports())
    sys.modules["torch"] = package
    # Packages tell by the class's module whose array this is, and call that module's functions.
    package.__dict__["Tensor"].__module__ = "torch"
    package.__name__ = "torch"
    package.__dict__["torch"] = package  # `torch.torch` is there, and annotations say it
