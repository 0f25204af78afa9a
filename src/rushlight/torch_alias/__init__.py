"""`torch` means Rushlight: `import torch` and `import torch.nn` give it after `install_as_torch()`.

The modules are the same objects under a second name, so `torch.nn.Linear is rushlight.nn.Linear`
and nothing is loaded twice. What Rushlight lacks is an error that says so; it is never taken from a
real torch that happens to be installed.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from .._version import __version__

__all__ = ["TORCH_VERSION", "install_as_torch"]

#: What `torch.__version__` says: the PyTorch whose behaviour is followed, then who follows it.
TORCH_VERSION = f"2.13.0+rushlight.{__version__}"

_OURS = __name__.partition(".")[0]


def _lacking(what: str) -> str:
    return f"{what} (Rushlight {__version__} does not have it)"


class _Alias(Loader):
    """Loads a Rushlight module under its torch name: the import of it has been done."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has just labelled the module with the alias's spec; it has its own.
        module.__spec__ = self.spec


class _TorchFinder(MetaPathFinder):
    """Finds `torch.x.y` where Rushlight has `rushlight.x.y`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith("torch."):
            return None
        own_name = _OURS + fullname.removeprefix("torch")
        try:
            module = importlib.import_module(own_name)
        except ModuleNotFoundError as error:
            if error.name is None or not own_name.startswith(error.name):
                raise  # something that the module itself needs is missing
            raise ModuleNotFoundError(
                _lacking(f"No module named '{fullname}'"), name=fullname
            ) from None
        _explain_missing_names(module, fullname)
        return ModuleSpec(fullname, _Alias(module), is_package=hasattr(module, "__path__"))


def _explain_missing_names(module: ModuleType, torch_name: str) -> None:
    """Makes the AttributeError for a name that the module lacks speak of torch and of Rushlight."""
    own = module.__dict__.get("__getattr__")

    def __getattr__(name: str) -> object:
        if own is not None:
            try:
                return own(name)
            except AttributeError as error:
                # Only the plain "there is no such name" is reworded.
                if error.__cause__ is not None or getattr(error, "name", None) not in (None, name):
                    raise
        raise AttributeError(
            _lacking(f"module '{torch_name}' has no attribute '{name}'"), name=name, obj=module
        )

    module.__dict__["__getattr__"] = __getattr__


def install_as_torch() -> None:
    """Makes `torch` and `torch.*` mean Rushlight in this process; calling it again changes nothing.

    `torch.__version__` (and so `rushlight.__version__`, the same module's) becomes `TORCH_VERSION`.

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
    _explain_missing_names(package, "torch")
    package.__dict__["__version__"] = TORCH_VERSION
    sys.meta_path.insert(0, _TorchFinder())
    sys.modules["torch"] = package
